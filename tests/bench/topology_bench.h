/* SPDX-License-Identifier: Apache-2.0
 * SPDX-FileCopyrightText: The Sluice authors */

/* `sluice-bench topology`: what one placement costs, by nodes, resources and pods. Prints one line of
 * JSON per measurement. */
#ifndef SL_TESTS_BENCH_TOPOLOGY_H
#define SL_TESTS_BENCH_TOPOLOGY_H
/* 0, or 1 when a measurement could not be made. */
int sl_bench_topology(void);
/* The same for preempting cycles in full clusters. */
int sl_bench_topology_preempt(void);
#endif
