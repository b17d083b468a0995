/* SPDX-License-Identifier: Apache-2.0
 * SPDX-FileCopyrightText: The Sluice authors */

/* Rules of custom kinds, and of the definitions of others. One is given with the kind itself: where the pods of a job are described,
 * an adapter knows, and which fields the objects of a user have, their definition. */
#include "api/validate/validate.h"
#include "base/check.h"

static struct {
    sl_object_rule *rule;
    const void *self;
} rules[SL_KIND_COUNT];

void sl_object_rule_set(enum sl_kind kind, sl_object_rule *rule, const void *self)
{
    SL_PRE(kind >= SL_KIND_DEFINITION && kind < SL_KIND_COUNT);
    rules[kind].rule = rule;
    rules[kind].self = self;
}

void sl_check_custom(struct sl_check *c, enum sl_kind kind)
{
    SL_PRE(c != NULL && kind >= SL_KIND_CUSTOM && kind < SL_KIND_COUNT);
    sl_check_gates(c);
    sl_check_custom_marks(c, sl_kind_info(kind));
    sl_check_job_kind(c, sl_kind_info(kind));
    sl_check_rule(c, kind);
}

void sl_check_rule(struct sl_check *c, enum sl_kind kind)
{
    SL_PRE(c != NULL && kind < SL_KIND_COUNT);
    if (rules[kind].rule != NULL) {
        rules[kind].rule(rules[kind].self, c->object, c->old, c->e);
    }
}
