/* SPDX-License-Identifier: Apache-2.0
 * SPDX-FileCopyrightText: The Sluice authors */

/* Rules of custom kinds. One is given at start, with the kind itself: where the pods of such a job are described, an adapter
 * knows. */
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

void sl_check_custom(struct sl_check *c, enum sl_kind kind)
{
    SL_PRE(c != NULL && kind >= SL_KIND_CUSTOM && kind < SL_KIND_COUNT);
    size_t i = kind - SL_KIND_CUSTOM;
    sl_check_gates(c);
    sl_check_custom_marks(c, sl_kind_info(kind));
    sl_check_job_kind(c, sl_kind_info(kind));
    if (rules[i].rule != NULL) {
        rules[i].rule(rules[i].self, c->object, c->old, c->e);
    }
}
