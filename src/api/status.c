/* SPDX-License-Identifier: Apache-2.0
 * SPDX-FileCopyrightText: The Sluice authors */

/* Errors on their way to a client: metav1.Status with details and causes. */
#include "api/object.h"
#include "base/check.h"

static struct sl_json *causes_of(const struct sl_error *e)
{
    struct sl_json *list = sl_json_new_list();
    for (unsigned i = 0; i < e->cause_count && i < SL_CAUSES_MAX; i++) {
        struct sl_json *cause = sl_json_new_map();
        sl_json_set_text(cause, "reason", e->causes[i].reason);
        sl_json_set_text(cause, "message", e->causes[i].text);
        sl_json_set_text(cause, "field", e->causes[i].field);
        sl_json_append(list, cause);
    }
    return list;
}

struct sl_json *sl_status_new(const struct sl_error *e, enum sl_kind kind, const char *name)
{
    SL_PRE(e != NULL && e->code != SL_CODE_OK);
    struct sl_json *status = sl_json_new_map();
    sl_json_set_text(status, "kind", "Status");
    sl_json_set_text(status, "apiVersion", "v1");
    sl_json_set(status, "metadata", sl_json_new_map());
    sl_json_set_text(status, "status", "Failure");
    sl_json_set_text(status, "message", e->text);
    sl_json_set_text(status, "reason", sl_code_reason(e->code));
    struct sl_json *details = sl_json_new_map();
    if (kind < SL_KIND_COUNT) {
        sl_json_set_text(details, "name", name);
        sl_json_set_text(details, "group", sl_kind_info(kind)->group);
        /* Kubernetes says the plural where the object is at fault by name, the kind where its content is. */
        sl_json_set_text(details, "kind",
                         e->code == SL_CODE_INVALID ? sl_kind_info(kind)->kind : sl_kind_info(kind)->plural);
    }
    if (e->cause_count > 0) {
        sl_json_set(details, "causes", causes_of(e));
    }
    sl_json_set(status, "details", details);
    sl_json_set_int(status, "code", sl_code_http(e->code));
    return status;
}
