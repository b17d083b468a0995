/* SPDX-License-Identifier: Apache-2.0
 * SPDX-FileCopyrightText: The Sluice authors */

/* Structured logs: one line an event, text or JSON, to stderr. */
#ifndef SL_BASE_LOG_H
#define SL_BASE_LOG_H
#include <stdbool.h>

enum sl_log_level { SL_LOG_DEBUG, SL_LOG_INFO, SL_LOG_WARN, SL_LOG_ERROR };
void sl_log_setup(enum sl_log_level lowest, bool json);
bool sl_log_on(enum sl_log_level level);
/* Pairs of key and text value, ended by NULL: sl_log(SL_LOG_INFO, "admitted", "workload", key,
 * NULL). */
void sl_log(enum sl_log_level level, const char *message, ...) __attribute__((sentinel));
/* Writes lines that stderr did not take before, as far as it takes them now, and reports how many
 * were lost. True: there is more, so call it again. */
bool sl_log_catch_up(void);
const char *sl_log_number(long long n); /* text of n, good for the next 8 calls on this thread */
#endif
