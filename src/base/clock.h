/* SPDX-License-Identifier: Apache-2.0
 * SPDX-FileCopyrightText: The Sluice authors */

/* Time comes from one place, so that tests and the simulator can put a virtual clock there. */
#ifndef SL_BASE_CLOCK_H
#define SL_BASE_CLOCK_H
#include <stdint.h>

int64_t sl_clock_now_ms(void);             /* wall clock, ms since the epoch */
int64_t sl_clock_monotonic_us(void);       /* real time from some point on, to measure with */
void sl_clock_set_virtual(int64_t now_ms); /* from now on: this */
void sl_clock_format(int64_t ms, char out[static 32]); /* RFC 3339, seconds: 2026-08-22T10:00:00Z */
void sl_clock_format_micro(int64_t ms,
                           char out[static 40]); /* 2026-08-22T10:00:00.000000Z (MicroTime) */
int64_t sl_clock_parse(const char *rfc3339);     /* INT64_MIN when malformed; fractions are read */
#endif
