/* SPDX-License-Identifier: Apache-2.0
 * SPDX-FileCopyrightText: The Sluice authors */

#include "fuzz/lib/check.h"
#include "policy/guarantees/guarantees.h"

static const struct {
    unsigned guarantee;
    const char *kind, *text;
} rules[SL_RULE_COUNT] = {
#define SL_RULE(constant, guarantee, kind, text) [constant] = {guarantee, #kind, text},
#include "policy/guarantees/guarantee_rules.def"
#undef SL_RULE
};

static void demand_none(struct sl_finding f)
{
    if (f.rule != SL_RULE_NONE) {
        fprintf(stderr, "guarantee broken: G%u: %s: %s %u\n", rules[f.rule].guarantee,
                rules[f.rule].text, rules[f.rule].kind, f.object);
        abort();
    }
}

void fuzz_guarantees_kernel(uint32_t limit)
{
    demand_none(sl_guarantees_kernel(limit));
}

void fuzz_guarantees_policy(uint32_t limit)
{
    demand_none(sl_guarantees_policy(limit));
}

void fuzz_guarantees_step(uint32_t limit, bool decided)
{
    demand_none(sl_guarantees_step(limit, decided));
}
