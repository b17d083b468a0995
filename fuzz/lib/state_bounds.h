/* SPDX-License-Identifier: Apache-2.0
 * SPDX-FileCopyrightText: The Sluice authors */

/* For state*.c only. */
#ifndef SL_FUZZ_STATE_BOUNDS_H
#define SL_FUZZ_STATE_BOUNDS_H
#define FUZZ_PAGE 4096

extern char fuzz_zeroed_begin[FUZZ_PAGE];
extern char fuzz_zeroed_end[FUZZ_PAGE];
extern char fuzz_data_begin[16];
extern char fuzz_data_end[16];
#endif
