/* SPDX-License-Identifier: Apache-2.0
 * SPDX-FileCopyrightText: The Sluice authors */

/* JSON merge patch, RFC 7386: maps merge, null removes, everything else replaces. */
#include "api/objects/object.h"

static void merge(struct sl_json *target, const struct sl_json *patch)
{
    for (struct sl_json_member m = {0}; sl_json_each(patch, &m);) {
        if (m.value == NULL) {
            sl_json_remove(target, m.key);
        } else if (sl_json_type(m.value) != SL_JSON_MAP) {
            sl_json_set(target, m.key, sl_json_clone(m.value));
        } else {
            if (sl_json_type(sl_json_get(target, m.key)) != SL_JSON_MAP) {
                sl_json_set(target, m.key, sl_json_new_map());
            }
            merge(sl_json_get(target, m.key),
                  m.value); /* also into a new map: nulls must not get in */
        }
    }
}

enum sl_code sl_patch_merge(struct sl_json **o, const struct sl_json *patch, struct sl_error *e)
{
    if (sl_json_type(patch) != SL_JSON_MAP) {
        return sl_error_set(e, SL_CODE_BAD_REQUEST, "a merge patch must be a JSON object");
    }
    merge(*o, patch);
    return SL_CODE_OK;
}

static void put_changed(struct sl_json *patch, const char *key, const struct sl_json *before,
                        const struct sl_json *after)
{
    if (sl_json_type(before) == SL_JSON_MAP && sl_json_type(after) == SL_JSON_MAP) {
        struct sl_json *inner = sl_patch_between_new(before, after);
        if (inner != NULL) {
            sl_json_set(patch, key, inner);
        }
    } else if (!sl_json_equal(before, after)) {
        sl_json_set(patch, key, sl_json_clone(after)); /* null where it was removed */
    }
}

struct sl_json *sl_patch_between_new(const struct sl_json *before, const struct sl_json *after)
{
    struct sl_json *patch = sl_json_new_map();
    void *it = NULL;
    const char *key;
    struct sl_json *value;
    while (sl_json_next(after, &it, &key, &value)) {
        put_changed(patch, key, sl_json_get(before, key), value);
    }
    for (it = NULL; sl_json_next(before, &it, &key, &value);) {
        if (value != NULL && !sl_json_has(after, key)) {
            sl_json_set(patch, key, NULL);
        }
    }
    if (sl_json_len(patch) == 0) {
        sl_json_free(patch);
        return NULL;
    }
    return patch;
}
