/* SPDX-License-Identifier: Apache-2.0
 * SPDX-FileCopyrightText: The Sluice authors */

#ifndef SL_BASE_WRITE_ALL_H
#define SL_BASE_WRITE_ALL_H
#include <stdbool.h>
#include <stddef.h>

/* All of it, in as many writes as that takes. False, with errno: some of it is not written. For descriptors that block. */
bool sl_write_all(int fd, const char *data, size_t len);
#endif
