/* SPDX-License-Identifier: Apache-2.0
 * SPDX-FileCopyrightText: The Sluice authors */

/* Backoff arithmetic: pure functions of their arguments. Carries G7. Source: FEATURES 2.4 (Kueue). */
#ifndef SL_KERNEL_REQUEUE_H
#define SL_KERNEL_REQUEUE_H
#include <stdbool.h>
#include <stdint.h>

/* PodsReady: min(base * 2^(n-1), max) ms plus jitter_ppm millionths of it (0 .. 100, drawn outside); if
 * base > max the first delay is base. n >= 1. */
int64_t sl_requeue_delay_ms(int64_t base_ms, int64_t max_ms, uint32_t n, uint32_t jitter_ppm);

/* Admission checks: the same doubling without jitter, truncated to whole seconds. */
int64_t sl_requeue_check_delay_s(int64_t base_s, int64_t max_s, uint32_t retry_count);

/* Would one more requeue exceed the limit? limit < 0 = no limit. */
bool sl_requeue_limit_reached(uint32_t count, int64_t limit);
#endif
