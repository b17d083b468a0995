/* SPDX-License-Identifier: Apache-2.0
 * SPDX-FileCopyrightText: The Sluice authors */

/* So many of something in a second, and some more at once: for writes that others' requests must not wait for. Time
 * comes in. */
#ifndef SL_CONTROLLERS_BUDGET_H
#define SL_CONTROLLERS_BUDGET_H
#include <stdbool.h>
#include <stdint.h>

struct sl_budget {
    unsigned per_s, burst; /* per_s 0: no limit */
    int64_t tokens_milli, filled_ms;
};
struct sl_budget sl_budget_new(unsigned per_s, unsigned burst);
bool sl_budget_has(struct sl_budget *b, int64_t now_ms);
/* One more; it is taken even if there is none left. */
void sl_budget_spend(struct sl_budget *b, int64_t now_ms);
/* When there will be one (INT64_MIN: now). */
int64_t sl_budget_due_ms(const struct sl_budget *b);
#endif
