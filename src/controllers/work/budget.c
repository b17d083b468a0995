/* SPDX-License-Identifier: Apache-2.0
 * SPDX-FileCopyrightText: The Sluice authors */

/* A bucket of tokens. */
#include "controllers/work/budget.h"
#include "base/check.h"
#include <stddef.h>

#define FILL_MS_MAX 60000 /* long enough to fill it; keeps the product small */

struct sl_budget sl_budget_new(unsigned per_s, unsigned burst)
{
    return (struct sl_budget){
        .per_s = per_s, .burst = burst, .tokens_milli = (int64_t)burst * 1000};
}

static void fill(struct sl_budget *b, int64_t now_ms)
{
    int64_t cap_milli = (int64_t)b->burst * 1000;
    int64_t passed_ms = now_ms > b->filled_ms ? now_ms - b->filled_ms : 0;
    b->filled_ms = now_ms;
    b->tokens_milli += (passed_ms > FILL_MS_MAX ? FILL_MS_MAX : passed_ms) * b->per_s;
    if (b->tokens_milli > cap_milli) {
        b->tokens_milli = cap_milli;
    }
}

bool sl_budget_has(struct sl_budget *b, int64_t now_ms)
{
    SL_PRE(b != NULL);
    fill(b, now_ms);
    return b->per_s == 0 || b->tokens_milli >= 1000;
}

void sl_budget_spend(struct sl_budget *b, int64_t now_ms)
{
    SL_PRE(b != NULL);
    fill(b, now_ms);
    b->tokens_milli -= b->per_s == 0 ? 0 : 1000;
}

int64_t sl_budget_due_ms(const struct sl_budget *b)
{
    SL_PRE(b != NULL);
    int64_t lacking_milli = 1000 - b->tokens_milli;
    if (b->per_s == 0 || lacking_milli <= 0) {
        return INT64_MIN;
    }
    return b->filled_ms + (lacking_milli + b->per_s - 1) / b->per_s;
}
