/* SPDX-License-Identifier: Apache-2.0
 * SPDX-FileCopyrightText: The Sluice authors */

/* Errors as clients of Kubernetes expect them: metav1.Status. */
#include "api/objects/object.h"
#include "base/check.h"

#include "api/objects/status.h"

static void add_cause(const struct sl_cause_entry *cause, struct sl_buf *out)
{
    if (cause->field[0] != '\0') {
        sl_buf_print(out, "%s: ", cause->field);
    }
    sl_buf_text(out, cause->text);
}

void sl_status_sum_up(const struct sl_error *e, enum sl_kind kind, const char *name,
                      struct sl_buf *out)
{
    if (kind != SL_KIND_COUNT) {
        const struct sl_kind_info *info = sl_kind_info(kind);
        sl_buf_print(out, "%s%s%s \"%s\" is invalid: ", info->kind,
                     info->group[0] != '\0' ? "." : "", info->group, name);
    }
    unsigned kept = e->cause_count < SL_CAUSES_MAX ? e->cause_count : SL_CAUSES_MAX;
    sl_buf_text(out, e->cause_count > 1 ? "[" : "");
    for (unsigned i = 0; i < kept; i++) {
        sl_buf_text(out, i > 0 ? ", " : "");
        add_cause(&e->causes[i], out);
    }
    if (kept < e->cause_count) {
        sl_buf_print(out, ", and %u more", e->cause_count - kept);
    }
    sl_buf_text(out, e->cause_count > 1 ? "]" : "");
}

/* Errors that are about the request, and not about an object. */
static bool is_of_request(enum sl_code code)
{
    int http = sl_code_http(code);
    return http == 400 || http == 406 || http == 410 || http == 413 || http == 415;
}

/* Kubernetes names the kind where an object is invalid, and the resource everywhere else. What is invalid without a cause,
 * as a patch that cannot be applied, has no details: kubectl would show these in place of the message. */
static struct sl_json *new_details(const struct sl_error *e, enum sl_kind kind, const char *name)
{
    struct sl_json *details = sl_json_new_map();
    if ((e->code == SL_CODE_INVALID || is_of_request(e->code)) && e->cause_count == 0) {
        return details;
    }
    if (name[0] != '\0') {
        sl_json_set_text(details, "name", name);
    }
    if (kind != SL_KIND_COUNT) {
        const struct sl_kind_info *info = sl_kind_info(kind);
        if (info->group[0] != '\0') {
            sl_json_set_text(details, "group", info->group);
        }
        sl_json_set_text(details, "kind", e->code == SL_CODE_INVALID ? info->kind : info->plural);
    }
    if (e->cause_count == 0) {
        return details;
    }
    struct sl_json *causes = sl_json_new_list();
    sl_json_set(details, "causes", causes);
    for (unsigned i = 0; i < e->cause_count && i < SL_CAUSES_MAX; i++) {
        struct sl_json *cause = sl_json_new_map();
        sl_json_set_text(cause, "reason", e->causes[i].reason);
        sl_json_set_text(cause, "message", e->causes[i].text);
        sl_json_set_text(cause, "field", e->causes[i].field);
        sl_json_append(causes, cause);
    }
    return details;
}

struct sl_json *sl_status_new(const struct sl_error *e, enum sl_kind kind, const char *name)
{
    SL_PRE(e != NULL);
    struct sl_json *status = sl_json_new_map();
    sl_json_set_text(status, "kind", "Status");
    sl_json_set_text(status, "apiVersion", "v1");
    sl_json_set(status, "metadata", sl_json_new_map());
    if (e->code == SL_CODE_OK) {
        sl_json_set_text(status, "status", "Success");
    } else {
        sl_json_set_text(status, "status", "Failure");
        struct sl_buf message = {0};
        sl_buf_text(&message, e->text);
        if (e->text[0] == '\0' && e->cause_count > 0) {
            sl_status_sum_up(e, kind, name, &message);
        }
        sl_json_set_text(status, "message", message.data);
        sl_buf_fini(&message);
        sl_json_set_text(status, "reason", sl_code_reason(e->code));
    }
    struct sl_json *details = new_details(e, kind, name);
    sl_json_set_filled(status, "details", details);
    sl_json_set_int(status, "code", sl_code_http(e->code));
    return status;
}
