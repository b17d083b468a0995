/* SPDX-License-Identifier: Apache-2.0
 * SPDX-FileCopyrightText: The Sluice authors */

/* What an update comes to as a merge patch. Null members count as absent ones, as they do for the server. */
#include "kube/diff.h"

#include "api/objects/object.h"

#include <string.h>

static const char *const own_metadata[] = {"labels", "annotations", "finalizers",
                                           "ownerReferences"};

/* What of an object an UPDATE may mean; its values are those of `o`. */
static struct sl_json *writable_new(enum sl_kind kind, const struct sl_json *o)
{
    struct sl_json *all = sl_json_new_map();
    struct sl_json *metadata = sl_json_new_map();
    for (struct sl_json_member m = {0}; sl_json_each(o, &m);) {
        bool apart = strcmp(m.key, "status") == 0 && sl_kind_info(kind)->has_status;
        if (!apart && strcmp(m.key, "apiVersion") != 0 && strcmp(m.key, "kind") != 0) {
            sl_json_set(all, m.key, sl_json_ref(m.value));
        }
    }
    for (size_t i = 0; i < sizeof own_metadata / sizeof own_metadata[0]; i++) {
        struct sl_json *member = sl_json_get(sl_json_get(o, "metadata"), own_metadata[i]);
        if (member != NULL) {
            sl_json_set(metadata, own_metadata[i], sl_json_ref(member));
        }
    }
    sl_json_set(all, "metadata", metadata);
    return all;
}

static struct sl_json *status_new(const struct sl_json *o)
{
    struct sl_json *only = sl_json_new_map();
    if (sl_json_get(o, "status") != NULL) {
        sl_json_set(only, "status", sl_json_ref(sl_json_get(o, "status")));
    }
    return only;
}

struct sl_json *sl_diff_update(enum sl_verb verb, enum sl_kind kind, const struct sl_json *live,
                               const struct sl_json *body)
{
    bool status = verb == SL_VERB_UPDATE_STATUS;
    struct sl_json *before = status ? status_new(live) : writable_new(kind, live);
    struct sl_json *after = status ? status_new(body) : writable_new(kind, body);
    struct sl_json *patch = sl_patch_between_new(before, after);
    sl_json_free(before);
    sl_json_free(after);
    return patch;
}

static bool is_condition_of_write(const char *key)
{
    return strcmp(key, "resourceVersion") == 0 || strcmp(key, "uid") == 0 ||
           strcmp(key, "creationTimestamp") == 0;
}

static bool holds_map(const struct sl_json *live, const struct sl_json *patch, bool metadata);

static bool holds_member(const struct sl_json *live, const char *key, const struct sl_json *value,
                         bool metadata)
{
    const struct sl_json *have = sl_json_get(live, key);
    if (sl_json_type(value) != SL_JSON_MAP) {
        return (metadata && is_condition_of_write(key)) || sl_json_equal(have, value);
    }
    return holds_map(have, value, strcmp(key, "metadata") == 0);
}

static bool holds_map(const struct sl_json *live, const struct sl_json *patch, bool metadata)
{
    for (struct sl_json_member m = {0}; sl_json_each(patch, &m);) {
        if (!holds_member(live, m.key, m.value, metadata)) {
            return false;
        }
    }
    return true;
}

bool sl_diff_holds(const struct sl_json *live, const struct sl_json *patch)
{
    return sl_json_type(live) == SL_JSON_MAP && holds_map(live, patch, false);
}
