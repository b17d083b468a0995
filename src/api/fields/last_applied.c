/* SPDX-License-Identifier: Apache-2.0
 * SPDX-FileCopyrightText: The Sluice authors */

#include "api/fields/last_applied.h"

#include <string.h>

#include "api/fields/fields.h"
#include "base/check.h"

/* NULL: there is none that speaks of this kind. */
static struct sl_json *read_new(const struct sl_apply *a)
{
    const char *text = sl_object_annotation(a->live, SL_LAST_APPLIED);
    bool counts = text != NULL && strcmp(a->by.name, "kubectl") == 0 && !a->by.status;
    struct sl_json *applied = counts ? sl_json_parse(text, strlen(text), NULL) : NULL;
    const char *version = sl_json_text(sl_json_get(applied, "apiVersion"), "");
    if (applied != NULL && strcmp(version, sl_kind_info(a->kind)->api_version) != 0) {
        sl_json_free(applied);
        applied = NULL;
    }
    return applied;
}

struct sl_json *sl_last_applied_new(const struct sl_apply *a)
{
    SL_PRE(a != NULL);
    struct sl_json *applied = read_new(a);
    if (applied == NULL) {
        return NULL;
    }
    struct sl_fields_change change;
    struct sl_json *set = sl_fields_of_new(a->kind, applied);
    sl_fields_compare(a->kind, applied, a->live, &change);
    const struct sl_json *const differ[] = {change.modified, change.added, change.removed};
    for (size_t i = 0; i < sizeof differ / sizeof differ[0]; i++) {
        struct sl_json *rest = sl_set_without_new(set, differ[i]);
        sl_json_free(set);
        set = rest;
    }
    sl_fields_fini(&change);
    sl_json_free(applied);
    return set;
}

void sl_last_applied_renew(const struct sl_apply *a, struct sl_json *object)
{
    SL_PRE(object != NULL);
    struct sl_json *before = read_new(a);
    if (before != NULL) {
        struct sl_buf text = {0};
        struct sl_json *applied = sl_json_clone(a->applied);
        sl_json_remove(sl_json_get(sl_json_get(applied, "metadata"), "annotations"),
                       SL_LAST_APPLIED);
        sl_json_print(applied, &text);
        sl_buf_text(&text, "\n");
        sl_json_set_text(sl_json_get(sl_json_get(object, "metadata"), "annotations"),
                         SL_LAST_APPLIED, text.data);
        sl_buf_fini(&text);
        sl_json_free(applied);
        sl_json_free(before);
    }
}
