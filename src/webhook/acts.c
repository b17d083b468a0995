/* SPDX-License-Identifier: Apache-2.0
 * SPDX-FileCopyrightText: The Sluice authors */

/* Which policies match a new object: as the API server would find out for policies of its own. */
#include "webhook/webhook.h"
#include "base/check.h"

#include <stdio.h>
#include <string.h>

static bool lists(const struct sl_json *rule, const char *member, const char *text)
{
    const struct sl_json *list = sl_json_get(rule, member);
    return sl_json_has_text(list, "*") || sl_json_has_text(list, text);
}

static bool matches(const struct sl_webhook_policy *p, const struct sl_webhook_question *q)
{
    for (size_t i = 0; i < sl_json_len(p->rules); i++) {
        const struct sl_json *rule = sl_json_at(p->rules, i);
        if (lists(rule, "apiGroups", q->group) && lists(rule, "apiVersions", q->version) &&
            lists(rule, "resources", q->resource) && lists(rule, "operations", q->operation)) {
            return true;
        }
    }
    return false;
}

/* By a job that is queued. A Job makes pods only. */
static bool owned(const struct sl_webhook_policy *p, const struct sl_webhook_question *q)
{
    const struct sl_json *owner = sl_object_controller_ref(q->object);
    const char *version = sl_json_path_text(owner, "apiVersion", "");
    const char *kind = sl_json_path_text(owner, "kind", "");
    char name[256];
    if (strcmp(version, "batch/v1") == 0 && strcmp(kind, "Job") == 0 &&
        strcmp(q->resource, "pods") != 0) {
        return false;
    }
    (void)snprintf(name, sizeof name, "%.*s/%s", (int)strcspn(version, "/"), version, kind);
    return owner != NULL && sl_json_has_text(p->owners, name);
}

unsigned sl_webhook_acts(const struct sl_webhook *w, const struct sl_webhook_question *q)
{
    SL_PRE(w != NULL && q != NULL);
    unsigned acts = 0;
    for (size_t i = 0; i < w->policy_count && q->subresource[0] == '\0'; i++) {
        const struct sl_webhook_policy *p = &w->policies[i];
        acts |= matches(p, q) && !owned(p, q) ? (unsigned)p->act : 0u;
    }
    return acts;
}
