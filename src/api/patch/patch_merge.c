/* SPDX-License-Identifier: Apache-2.0
 * SPDX-FileCopyrightText: The Sluice authors */

/* JSON merge patch, RFC 7386: maps merge, null removes, everything else replaces. */
#include "api/objects/object.h"

static void merge(struct sl_json *target, const struct sl_json *patch)
{
    void *it = NULL;
    const char *key;
    struct sl_json *value;
    while (sl_json_next(patch, &it, &key, &value)) {
        if (value == NULL) {
            sl_json_remove(target, key);
        } else if (sl_json_type(value) != SL_JSON_MAP) {
            sl_json_set(target, key, sl_json_clone(value));
        } else {
            if (sl_json_type(sl_json_get(target, key)) != SL_JSON_MAP) {
                sl_json_set(target, key, sl_json_new_map());
            }
            merge(sl_json_get(target, key), value); /* also into a new map: nulls must not get in */
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
