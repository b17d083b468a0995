/* SPDX-License-Identifier: Apache-2.0
 * SPDX-FileCopyrightText: The Sluice authors */

/* With which curves a listener agrees on keys, by their numbers in TLS (IANA's registry of supported groups), those that Go knows.
 * GnuTLS decides which of them it speaks: those of post-quantum keys only from version 3.8.9 on. */
#ifndef SL_SERVER_CURVES_H
#define SL_SERVER_CURVES_H
#include "base/buf.h"
#include <stdbool.h>
#include <stdint.h>

/* Its name in Go; NULL: Go does not know it, and Kueue refuses it. */
const char *sl_curves_name(int64_t number);
/* By the GnuTLS that is here. */
bool sl_curves_can_speak(int64_t number);
/* To a text of GnuTLS's priorities: these and no others. Those that cannot be spoken are left out. */
void sl_curves_print(struct sl_buf *priorities, const uint16_t *curves, size_t count);
#endif
