/* SPDX-License-Identifier: Apache-2.0
 * SPDX-FileCopyrightText: The Sluice authors */

/* Fields that a write names and its kind does not have, or names twice, and what fieldValidation wants done about them: Ignore, Warn
 * (which is meant when nothing is said), Strict. What is not refused is kept. */
#include <string.h>

#include "api/defined/defined.h"
#include "server/rest.h"
#include "base/check.h"
#include "base/utf8.h"

/* Does its table name all fields, or say where it leaves them open? */
static bool is_known(enum sl_kind kind)
{
    return kind >= SL_KIND_DEFINED || strcmp(sl_kind_info(kind)->group, "kueue.x-k8s.io") == 0 ||
           kind == SL_KIND_JOB || kind == SL_KIND_POD;
}

static void find_unknown(enum sl_kind kind, const struct sl_json *object, struct sl_json *list)
{
    if (kind >= SL_KIND_DEFINED) {
        sl_defined_unknown(kind, object, list);
    } else {
        sl_object_unknown(kind, object, list);
    }
}

/* A patch by paths says only together with what is stored which fields it adds. False, and an answer: it is more work than
 * one may be, which need not be found once more. */
static bool find_patched(struct sl_request *r, const struct sl_json *body, struct sl_json *unknown)
{
    struct sl_error e;
    struct sl_json *object = NULL;
    enum sl_code code = SL_CODE_OK;
    struct sl_json *before = sl_json_new_list(), *now = sl_json_new_list();
    if (sl_store_get(r->rest->store, r->route.kind, r->route.ns, r->route.name, &object, &e) ==
        SL_CODE_OK) {
        struct sl_json *stored = object; /* others may read it, too */
        object = sl_json_clone(stored);
        sl_json_free(stored);
        find_unknown(r->route.kind, object, before);
        code = sl_patch_json(&object, body, &e);
        if (code == SL_CODE_OK) {
            find_unknown(r->route.kind, object, now);
        } else if (code == SL_CODE_TOO_LARGE) {
            sl_answer_error(r, &e);
        }
    }
    for (size_t i = 0; i < sl_json_len(now); i++) {
        struct sl_json *path = sl_json_at(now, i);
        if (!sl_json_has_text(before, sl_json_text(path, ""))) {
            sl_json_append(unknown, sl_json_ref(path));
        }
    }
    sl_json_free(now);
    sl_json_free(before);
    sl_json_free(object);
    return code != SL_CODE_TOO_LARGE;
}

static void refuse_directive(struct sl_request *r, const char *directive)
{
    char why[160];
    sl_utf8_print(why, sizeof why,
                  "Unsupported value: \"%.40s\": supported values: \"\", \"Ignore\", \"Strict\", "
                  "\"Warn\"",
                  directive);
    (void)sl_options_refuse(r, "FieldValueNotSupported", "fieldValidation", why);
}

static void list_fields(struct sl_buf *text, const char *what, const struct sl_json *paths)
{
    for (size_t i = 0; i < sl_json_len(paths); i++) {
        sl_buf_print(text, "%s%s field \"%s\"", text->len > 0 ? ", " : "", what,
                     sl_json_text(sl_json_at(paths, i), ""));
    }
}

static void refuse_fields(struct sl_request *r, const struct sl_json *unknown)
{
    const struct sl_kind_info *info = sl_kind_info(r->route.kind);
    struct sl_buf text = {0};
    struct sl_error e;
    list_fields(&text, "unknown", unknown);
    list_fields(&text, "duplicate", r->twice);
    sl_error_clear(&e);
    (void)sl_error_set(&e, SL_CODE_BAD_REQUEST,
                       "%s in version \"%s\" cannot be handled as a %s: strict decoding error: %s",
                       info->kind, r->route.version, info->kind, text.data);
    sl_answer_error(r, &e);
    sl_buf_fini(&text);
}

bool sl_fields_check(struct sl_request *r, const struct sl_write *w, struct sl_json *unknown)
{
    const char *directive = sl_request_arg(r, "fieldValidation", "");
    bool strict = strcmp(directive, "Strict") == 0;
    bool ignore = strcmp(directive, "Ignore") == 0;
    if (!strict && !ignore && directive[0] != '\0' && strcmp(directive, "Warn") != 0) {
        refuse_directive(r, directive);
        return false;
    }
    if (ignore) {
        sl_json_free(r->twice);
        r->twice = NULL;
        return true;
    }
    if (r->route.old) {
        sl_object_unknown_old(w->kind, r->named, unknown);
    }
    bool known = is_known(w->kind) && !r->route.old;
    bool by_path = w->verb == SL_VERB_PATCH_MERGE && w->patch_type == SL_PATCH_IS_JSON;
    if (known && by_path && !find_patched(r, w->body, unknown)) {
        return false;
    }
    if (known && !by_path) {
        find_unknown(w->kind, w->body, unknown);
    }
    if (strict && sl_json_len(unknown) + sl_json_len(r->twice) > 0) {
        refuse_fields(r, unknown);
        return false;
    }
    return true;
}

void sl_fields_warn(struct sl_request *r, const struct sl_write *w, const struct sl_json *unknown)
{
    SL_PRE(w != NULL);
    struct sl_json *idle = sl_json_new_list();
    struct sl_idle_modes modes = r->rest->heeded;
    modes.simulated = r->rest->logs.open == NULL;
    sl_object_idle(w->kind, w->body, modes, idle);
    for (size_t i = 0; i < sl_json_len(unknown); i++) {
        sl_answer_warn(r, "unknown field %s: it has no effect",
                       sl_json_text(sl_json_at(unknown, i), ""));
    }
    for (size_t i = 0; i < sl_json_len(r->twice); i++) {
        sl_answer_warn(r, "duplicate field %s: the last one counts",
                       sl_json_text(sl_json_at(r->twice, i), ""));
    }
    for (size_t i = 0; i < sl_json_len(idle); i++) {
        sl_answer_warn(r, "%s", sl_json_text(sl_json_at(idle, i), ""));
    }
    sl_json_free(idle);
}
