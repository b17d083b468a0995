/* SPDX-License-Identifier: Apache-2.0
 * SPDX-FileCopyrightText: The Sluice authors */

/* Time comes from one place, so that tests and the simulator can put a virtual clock there. */
#ifndef SL_BASE_CLOCK_H
#define SL_BASE_CLOCK_H
#include <stdint.h>

/* What everything is decided by and objects are stamped with: ms since the epoch, from 0 to the year 9000 at the process's
 * start. It goes as the system's wall clock, but never jumps: when that one is set it runs on by the steady clock and
 * draws nearer by at most one part in 128, so that no duration is another for it. */
int64_t sl_clock_now_ms(void);
int64_t
sl_clock_wall_ms(void);    /* what the system says: for what others compare with their clocks */
void sl_clock_begin(void); /* as at the process's start; sl_clock_now_ms does it by itself */
int64_t sl_clock_monotonic_us(void);       /* real time from some point on, to measure with */
void sl_clock_set_virtual(int64_t now_ms); /* from now on: this */
void sl_clock_format(int64_t ms, char out[static 32]); /* RFC 3339, seconds: 2026-08-22T10:00:00Z */
void sl_clock_format_micro(int64_t ms,
                           char out[static 40]); /* 2026-08-22T10:00:00.000000Z (MicroTime) */
int64_t sl_clock_parse(const char *rfc3339);     /* INT64_MIN when malformed; fractions are read */
#endif
