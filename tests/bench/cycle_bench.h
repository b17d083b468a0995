/* SPDX-License-Identifier: Apache-2.0
 * SPDX-FileCopyrightText: The Sluice authors */

/* `sluice-bench cycle`: what one decision of the core costs, by the size of the world around it.
 * Prints one line of JSON per measurement. */
#ifndef SL_TESTS_BENCH_CYCLE_H
#define SL_TESTS_BENCH_CYCLE_H
/* 0, or 1 when a measurement could not be made. */
int sl_bench_cycle(void);
#endif
