/* SPDX-License-Identifier: Apache-2.0
 * SPDX-FileCopyrightText: The Sluice authors */

/* Server-side apply: who manages which fields is asked of what is stored, and the outcome is one write of the store. */
#include <stdio.h>
#include <string.h>

#include "api/defined/defined.h"
#include "base/check.h"
#include "base/clock.h"
#include "base/utf8.h"
#include "server/rest.h"

/* --- conflicts ------------------------------------------------------------------------------- */

/* In the order of the managers, each once, with all its fields. */
static void list_conflicts(const struct sl_json *conflicts, struct sl_buf *out)
{
    const char *last = "";
    for (;;) {
        const char *next = NULL;
        for (size_t i = 0; i < sl_json_len(conflicts); i++) {
            const char *m = sl_json_path_text(sl_json_at(conflicts, i), "manager", "");
            next = strcmp(m, last) > 0 && (next == NULL || strcmp(m, next) < 0) ? m : next;
        }
        if (next == NULL) {
            return;
        }
        sl_buf_print(out, "%sconflicts with %s:", last[0] != '\0' ? "\n" : "", next);
        for (size_t i = 0; i < sl_json_len(conflicts); i++) {
            const struct sl_json *c = sl_json_at(conflicts, i);
            if (strcmp(sl_json_path_text(c, "manager", ""), next) == 0) {
                sl_buf_print(out, "\n- %s", sl_json_path_text(c, "field", ""));
            }
        }
        last = next;
    }
}

static void print_conflicts(const struct sl_json *conflicts, struct sl_buf *out)
{
    size_t count = sl_json_len(conflicts);
    sl_buf_print(out, "Apply failed with %zu conflict%s: ", count, count == 1 ? "" : "s");
    if (count == 1) {
        const struct sl_json *only = sl_json_at(conflicts, 0);
        sl_buf_print(out, "conflict with %s: %s", sl_json_path_text(only, "manager", ""),
                     sl_json_path_text(only, "field", ""));
    } else {
        list_conflicts(conflicts, out);
    }
}

static struct sl_json *causes_new(const struct sl_json *conflicts)
{
    struct sl_json *causes = sl_json_new_list();
    for (size_t i = 0; i < sl_json_len(conflicts); i++) {
        char text[sizeof "conflict with  with subresource using " + 4 * SL_MANAGER_BYTES_MAX];
        struct sl_json *cause = sl_json_new_map();
        const struct sl_json *c = sl_json_at(conflicts, i);
        sl_utf8_print(text, sizeof text, "conflict with %s", sl_json_path_text(c, "manager", ""));
        sl_json_set_text(cause, "reason", "FieldManagerConflict");
        sl_json_set_text(cause, "message", text);
        sl_json_set_text(cause, "field", sl_json_path_text(c, "field", ""));
        sl_json_append(causes, cause);
    }
    return causes;
}

/* As long as it takes to name all of them: not an error of base/error.h. */
static void answer_conflicts(struct sl_request *r, const struct sl_json *conflicts, bool dirty)
{
    struct sl_buf message = {0};
    struct sl_error e;
    sl_error_clear(&e);
    (void)sl_error_set(&e, SL_CODE_CONFLICT, "conflicts");
    struct sl_json *status = sl_status_new(&e, SL_KIND_COUNT, "");
    print_conflicts(conflicts, &message);
    sl_json_set_text(status, "message", message.data);
    sl_json_set(sl_json_path_make(status, "details"), "causes", causes_new(conflicts));
    sl_answer_json(r, sl_code_http(e.code), status);
    r->wrote = r->again = false;
    r->wait = dirty && sl_store_dirty(r->rest->store);
    sl_json_free(status);
    sl_buf_fini(&message);
}

/* --- apply ----------------------------------------------------------------------------------- */

static bool check_applied(struct sl_request *r, const struct sl_json *body)
{
    if (!sl_write_check_type(r, body)) {
        return false;
    }
    if (sl_request_arg(r, "fieldManager", "")[0] == '\0') {
        return sl_options_refuse(r, "FieldValueRequired", "fieldManager",
                                 "Required value: is required for apply patch");
    }
    if (sl_json_get(sl_json_get(body, "metadata"), "managedFields") != NULL) {
        sl_answer_fail(r, SL_CODE_BAD_REQUEST, "metadata.managedFields must be nil");
        return false;
    }
    return true;
}

static struct sl_write write_of_result(const struct sl_request *r, const struct sl_apply *a)
{
    enum sl_verb verb = a->live == NULL   ? SL_VERB_CREATE
                        : r->route.status ? SL_VERB_UPDATE_STATUS
                                          : SL_VERB_UPDATE;
    struct sl_write w = sl_write_of(r, verb, a->result);
    w.applied = true;
    return w;
}

static void apply(struct sl_request *r, struct sl_json *live, struct sl_json *body, bool dry_run)
{
    bool dirty = sl_store_dirty(r->rest->store);
    struct sl_json *applied = sl_json_ref(body);
    if (r->route.kind >= SL_KIND_DEFINED) { /* of what is pruned there is no manager */
        sl_json_free(applied);
        applied = sl_json_clone(body);
        sl_defined_prune(r->route.kind, applied);
    }
    struct sl_apply a = {
        .kind = r->route.kind,
        .live = live,
        .applied = applied,
        .by = {.name = r->manager, .status = r->route.status, .now_ms = sl_clock_now_ms()},
        .force = sl_request_flag(r, "force")};
    sl_managed_apply(&a);
    if (a.result == NULL) {
        answer_conflicts(r, a.conflicts, dirty);
    } else {
        struct sl_write w = write_of_result(r, &a);
        w.dry_run = dry_run;
        sl_write_and_answer(r, &w, body, live == NULL ? 201 : 200);
    }
    sl_json_free(applied);
    sl_json_free(a.result);
    sl_json_free(a.conflicts);
}

void sl_apply_serve(struct sl_request *r, struct sl_json **body, bool dry_run)
{
    struct sl_error e;
    struct sl_json *live = NULL;
    SL_PRE(body != NULL);
    if (!check_applied(r, *body) || !sl_version_take(r, body)) {
        return;
    }
    bool dirty = sl_store_dirty(r->rest->store);
    enum sl_code code =
        sl_store_get(r->rest->store, r->route.kind, r->route.ns, r->route.name, &live, &e);
    if (code == SL_CODE_OK || (code == SL_CODE_NOT_FOUND && !r->route.status)) {
        apply(r, live, *body, dry_run);
    } else {
        sl_answer_refusal(r, &e, dirty);
    }
    sl_json_free(live);
}
