/* SPDX-License-Identifier: Apache-2.0
 * SPDX-FileCopyrightText: The Sluice authors */

/* SHA-256 (FIPS 180-4), only to name the roles of pods as Kueue does; nothing here relies on it for security. */
#ifndef SL_CONTROLLERS_SHA256_H
#define SL_CONTROLLERS_SHA256_H
#include <stddef.h>

/* 64 hexadecimal digits and a NUL. */
void sl_sha256_hex(const char *data, size_t size, char out[static 65]);
#endif
