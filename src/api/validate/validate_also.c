/* SPDX-License-Identifier: Apache-2.0
 * SPDX-FileCopyrightText: The Sluice authors */

/* Rules of custom kinds that are given at start, with the kinds themselves: where the pods of such a job are described, an
 * adapter knows. */
#include "api/validate/validate.h"
#include "base/check.h"

static struct {
    sl_object_rule *rule;
    const void *self;
} rules[SL_KIND_CUSTOM_MAX];

void sl_object_rule_set(enum sl_kind kind, sl_object_rule *rule, const void *self)
{
    SL_PRE(kind >= SL_KIND_CUSTOM && kind < SL_KIND_COUNT);
    rules[kind - SL_KIND_CUSTOM].rule = rule;
    rules[kind - SL_KIND_CUSTOM].self = self;
}

void sl_check_also(struct sl_check *c, enum sl_kind kind)
{
    SL_PRE(c != NULL && kind >= SL_KIND_CUSTOM && kind < SL_KIND_COUNT);
    size_t i = kind - SL_KIND_CUSTOM;
    if (rules[i].rule != NULL) {
        rules[i].rule(rules[i].self, c->object, c->old, c->e);
    }
}
