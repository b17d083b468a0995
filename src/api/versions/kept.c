/* SPDX-License-Identifier: Apache-2.0
 * SPDX-FileCopyrightText: The Sluice authors */

#include "api/versions/kept.h"

#include <stdio.h>
#include <string.h>

#include "api/versions/versions.h"

static struct sl_json *read_new(const struct sl_json *annotation)
{
    const char *text = sl_json_text(annotation, "");
    struct sl_json *kept = sl_json_parse_received(text, strlen(text), NULL);
    if (sl_json_type(kept) != SL_JSON_MAP) {
        sl_json_free(kept);
        return NULL;
    }
    return kept;
}

static void drop(struct sl_json *o, const char *name)
{
    struct sl_json *metadata = sl_json_get(o, "metadata");
    struct sl_json *annotations = sl_json_get(metadata, "annotations");
    if (sl_json_has(annotations, name)) {
        sl_json_remove(annotations, name);
        if (sl_json_len(annotations) == 0) {
            sl_json_remove(metadata, "annotations");
        }
    }
}

struct sl_json *sl_version_kept_take(struct sl_json *o, bool to_new, struct sl_error *e)
{
    const char *name = to_new ? SL_VERSION_KEPT_NEW : SL_VERSION_KEPT_OLD;
    const struct sl_json *annotations = sl_json_path(o, "metadata.annotations");
    struct sl_json *kept = NULL;
    if (sl_json_has(annotations, name)) {
        kept = read_new(sl_json_get(annotations, name));
        if (kept == NULL && to_new) {
            sl_error_cause(e, "FieldValueInvalid", "metadata.annotations[" SL_VERSION_KEPT_NEW "]",
                           "must be a JSON object of fields of v1beta2");
        }
    }
    drop(o, SL_VERSION_KEPT_NEW);
    drop(o, SL_VERSION_KEPT_OLD);
    return kept;
}

void sl_version_kept_put(struct sl_json *o, bool to_new, const struct sl_json *kept,
                         struct sl_error *e)
{
    struct sl_json *metadata = sl_json_get(o, "metadata");
    if (sl_json_len(kept) == 0) {
        return;
    }
    if (metadata != NULL && sl_json_type(metadata) != SL_JSON_MAP) {
        sl_error_cause(e, "FieldValueInvalid", "metadata", "must be an object");
        return;
    }
    struct sl_buf text = {0};
    sl_json_print(kept, &text);
    sl_json_set_text(sl_json_path_make(o, "metadata.annotations"),
                     to_new ? SL_VERSION_KEPT_OLD : SL_VERSION_KEPT_NEW, text.data);
    sl_buf_fini(&text);
}
