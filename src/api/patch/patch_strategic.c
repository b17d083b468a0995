/* SPDX-License-Identifier: Apache-2.0
 * SPDX-FileCopyrightText: The Sluice authors */

/* Strategic merge patch for built-in kinds: maps merge, null removes, lists named below merge by their key, all
 * other lists are replaced. Directives: $patch: replace | delete | merge, $deleteFromPrimitiveList/<field>,
 * $retainKeys (obeyed), $setElementOrder/<field> (read past: the merged order is kept). */
#include "api/objects/object.h"

#include <string.h>

#include "base/check.h"
#include "base/map.h"

#define DEPTH_MAX 64
#define STEPS_MAX 20000u   /* items of lists that are looked at */
#define BYTES_PER_STEP 64u /* of what an item is found by */

/* The work of one patch. An item may be named again and again, each time with the whole of a long list in it to look
 * through. */
struct merge {
    size_t steps;
    const char *field; /* where they were spent; NULL as long as there are some left */
};

/* False, and the outcome is void, when there has been enough. */
static bool spend(struct merge *m, const char *field, size_t steps)
{
    m->steps += steps;
    if (m->steps > STEPS_MAX && m->field == NULL) {
        m->field = field;
    }
    return m->field == NULL;
}

/* Lists of maps that merge, by the field that holds them, as Kubernetes' types say. */
static const struct {
    const char *field;
    const char *key;
} merge_keys[] = {
    {"containers", "name"},
    {"initContainers", "name"},
    {"ephemeralContainers", "name"},
    {"env", "name"},
    {"volumes", "name"},
    {"volumeMounts", "mountPath"},
    {"volumeDevices", "devicePath"},
    {"imagePullSecrets", "name"},
    {"hostAliases", "ip"},
    {"conditions", "type"},
    {"ownerReferences", "uid"},
    {"addresses", "type"},
    {"topologySpreadConstraints", "topologyKey"},
    {"resourceClaims", "name"},
    {"schedulingGates", "name"},
    {"podIPs", "ip"},
    {"taints", "key"},
    {"admissionChecks", "name"},
    {"ports", "containerPort"}, /* of a container */
    {"ports", "port"},          /* of a service inside a custom kind */
};

static bool has_member(const struct sl_json *list, const char *key)
{
    bool found = false;
    for (size_t i = 0; i < sl_json_len(list) && !found; i++) {
        found = sl_json_get(sl_json_at(list, i), key) != NULL;
    }
    return found;
}

/* The member by which the items of `patch` find theirs: where there are several, one that they have. NULL: the list does
 * not merge. */
static const char *merge_key(const char *field, const struct sl_json *patch)
{
    const char *first = NULL;
    for (size_t i = 0; i < sizeof merge_keys / sizeof merge_keys[0]; i++) {
        bool named = strcmp(merge_keys[i].field, field) == 0;
        if (named && has_member(patch, merge_keys[i].key)) {
            return merge_keys[i].key;
        }
        first = named && first == NULL ? merge_keys[i].key : first;
    }
    return first;
}

/* Lists of plain values that grow instead of being replaced. */
static bool merges_values(const char *field)
{
    return strcmp(field, "finalizers") == 0;
}

static const char *directive(const struct sl_json *patch)
{
    return sl_json_text(sl_json_get(patch, "$patch"), "");
}

static void merge_map(struct merge *m, struct sl_json *o, const struct sl_json *patch, int depth);

/* Where each item of a list is, by its member `key`, or by itself without one; of equal ones the
 * first. Lists may be as long as a request allows: to search them for every item of a patch would
 * delay all other requests. NULL when the limit is reached. */
static struct sl_map *places_new(struct merge *m, const char *field, const struct sl_json *list,
                                 const char *key)
{
    struct sl_map *places = sl_map_new();
    struct sl_buf text = {0};
    for (size_t i = sl_json_len(list); i-- > 0;) {
        if (!spend(m, field, 1 + text.len / BYTES_PER_STEP)) { /* the one before */
            sl_buf_fini(&text);
            sl_map_free(places);
            return NULL;
        }
        const struct sl_json *item = sl_json_at(list, i);
        sl_buf_reset(&text);
        sl_json_print(key == NULL ? item : sl_json_get(item, key), &text);
        sl_map_put(places, text.data, (union sl_map_value){.number = i});
    }
    sl_buf_fini(&text);
    return places;
}

static size_t place_of(const struct sl_map *places, const struct sl_json *wanted)
{
    union sl_map_value at = {0};
    struct sl_buf text = {0};
    sl_json_print(wanted, &text);
    bool found = sl_map_get(places, text.data, &at);
    sl_buf_fini(&text);
    return found ? (size_t)at.number : SIZE_MAX;
}

static void note_place(struct sl_map *places, const struct sl_json *value, size_t at)
{
    struct sl_buf text = {0};
    sl_json_print(value, &text);
    sl_map_put(places, text.data, (union sl_map_value){.number = at});
    sl_buf_fini(&text);
}

/* A copy of a patch as a value of its own: nulls and directives have no meaning there. */
static struct sl_json *value_of(struct merge *m, const struct sl_json *patch, int depth)
{
    if (sl_json_type(patch) != SL_JSON_MAP) {
        return sl_json_clone(patch);
    }
    struct sl_json *o = sl_json_new_map();
    merge_map(m, o, patch, depth + 1);
    return o;
}

/* What is deleted leaves null, so that the others stay at their places; true: there is one more of those. */
static bool merge_item(struct merge *m, struct sl_json *list, struct sl_map *places,
                       const char *key, const struct sl_json *item, int depth)
{
    const struct sl_json *wanted = sl_json_get(item, key);
    size_t at = place_of(places, wanted);
    bool there = at != SIZE_MAX && sl_json_type(sl_json_at(list, at)) != SL_JSON_NULL;
    if (strcmp(directive(item), "delete") == 0) {
        if (there) {
            sl_json_put_at(list, at, NULL);
        }
        return there;
    }
    if (!there) {
        note_place(places, wanted, sl_json_len(list));
        sl_json_append(list, value_of(m, item, depth));
    } else if (strcmp(directive(item), "replace") == 0) {
        sl_json_put_at(list, at, value_of(m, item, depth));
    } else {
        merge_map(m, sl_json_at(list, at), item, depth + 1);
    }
    return false;
}

static struct sl_json *without_nulls_new(const struct sl_json *list)
{
    struct sl_json *kept = sl_json_new_list();
    for (size_t i = 0; i < sl_json_len(list); i++) {
        if (sl_json_type(sl_json_at(list, i)) != SL_JSON_NULL) {
            sl_json_append(kept, sl_json_ref(sl_json_at(list, i)));
        }
    }
    return kept;
}

/* [{"$patch": "replace"}, ...] replaces the whole list by the rest. */
static bool replaces_list(const struct sl_json *patch)
{
    const struct sl_json *first = sl_json_at(patch, 0);
    return sl_json_len(first) == 1 && strcmp(directive(first), "replace") == 0;
}

static struct sl_json *list_for(struct sl_json *o, const char *field, bool empty)
{
    if (empty || sl_json_type(sl_json_get(o, field)) != SL_JSON_LIST) {
        sl_json_set(o, field, sl_json_new_list());
    }
    return sl_json_get(o, field);
}

/* Lists merge by the items' keys when maps are given for them. */
static bool merges_items(const char *field, const struct sl_json *patch)
{
    return sl_json_type(patch) == SL_JSON_LIST && merge_key(field, patch) != NULL &&
           (sl_json_len(patch) == 0 || sl_json_type(sl_json_at(patch, 0)) == SL_JSON_MAP);
}

static void merge_list(struct merge *m, struct sl_json *o, const char *field,
                       const struct sl_json *patch, int depth)
{
    const char *key = merge_key(field, patch);
    bool replace = replaces_list(patch);
    bool gaps = false;
    struct sl_json *list = list_for(o, field, replace);
    struct sl_map *places = places_new(m, field, list, key);
    if (places == NULL) {
        return;
    }
    for (size_t i = replace ? 1 : 0; i < sl_json_len(patch); i++) {
        gaps = merge_item(m, list, places, key, sl_json_at(patch, i), depth) || gaps;
    }
    if (gaps) {
        sl_json_set(o, field, without_nulls_new(list));
    }
    sl_map_free(places);
}

static void add_values(struct merge *m, struct sl_json *o, const char *field,
                       const struct sl_json *patch)
{
    struct sl_json *list = list_for(o, field, false);
    struct sl_map *places = places_new(m, field, list, NULL);
    if (places == NULL) {
        return;
    }
    struct sl_buf text = {0};
    for (size_t i = 0; i < sl_json_len(patch); i++) {
        const struct sl_json *value = sl_json_at(patch, i);
        sl_buf_reset(&text);
        sl_json_print(value, &text);
        if (!sl_map_get(places, text.data, NULL)) {
            sl_map_put(places, text.data, (union sl_map_value){.number = sl_json_len(list)});
            sl_json_append(list, sl_json_clone(value));
        }
    }
    sl_buf_fini(&text);
    sl_map_free(places);
}

static void remove_values(struct merge *m, struct sl_json *o, const char *field,
                          const struct sl_json *patch)
{
    const struct sl_json *list = sl_json_get(o, field);
    if (sl_json_type(list) != SL_JSON_LIST || !spend(m, field, sl_json_values(list, STEPS_MAX))) {
        return;
    }
    struct sl_map *places = places_new(m, field, patch, NULL);
    if (places == NULL) {
        return;
    }
    struct sl_json *kept = sl_json_new_list();
    for (size_t i = 0; i < sl_json_len(list); i++) {
        if (place_of(places, sl_json_at(list, i)) == SIZE_MAX) {
            sl_json_append(kept, sl_json_ref(sl_json_at(list, i)));
        }
    }
    sl_json_set(o, field, kept);
    sl_map_free(places);
}

/* $retainKeys: only the fields it lists stay. */
static void retain_keys(struct merge *m, struct sl_json *o, const struct sl_json *keys)
{
    struct sl_map *places =
        spend(m, "$retainKeys", sl_json_len(o)) ? places_new(m, "$retainKeys", keys, NULL) : NULL;
    if (places == NULL) {
        return;
    }
    struct sl_json *gone = sl_json_new_list();
    const char *key = NULL;
    struct sl_json *value = NULL;
    for (void *it = NULL; sl_json_next(o, &it, &key, &value);) {
        struct sl_json *name = sl_json_new_text(key);
        if (place_of(places, name) != SIZE_MAX) {
            sl_json_free(name);
        } else {
            sl_json_append(gone, name);
        }
    }
    for (size_t i = 0; i < sl_json_len(gone); i++) {
        sl_json_remove(o, sl_json_text(sl_json_at(gone, i), ""));
    }
    sl_json_free(gone);
    sl_map_free(places);
}

/* Fields that begin with $ steer the merge; true = dealt with. */
static bool obey(struct merge *m, struct sl_json *o, const char *key, const struct sl_json *value)
{
    static const char removal[] = "$deleteFromPrimitiveList/";
    if (key[0] != '$') {
        return false;
    }
    if (strncmp(key, removal, sizeof removal - 1) == 0) {
        remove_values(m, o, key + sizeof removal - 1, value);
    } else if (strcmp(key, "$retainKeys") == 0) {
        retain_keys(m, o, value);
    }
    return true;
}

static void merge_field(struct merge *m, struct sl_json *o, const char *key,
                        const struct sl_json *value, int depth)
{
    struct sl_json *old = sl_json_get(o, key);
    enum sl_json_type type = sl_json_type(value);
    if (type == SL_JSON_NULL) {
        sl_json_remove(o, key);
    } else if (type == SL_JSON_MAP && strcmp(directive(value), "delete") == 0) {
        sl_json_remove(o, key);
    } else if (type == SL_JSON_MAP && sl_json_type(old) == SL_JSON_MAP &&
               strcmp(directive(value), "replace") != 0) {
        merge_map(m, old, value, depth + 1);
    } else if (merges_items(key, value)) {
        merge_list(m, o, key, value, depth);
    } else if (type == SL_JSON_LIST && merges_values(key)) {
        add_values(m, o, key, value);
    } else {
        sl_json_set(o, key, value_of(m, value, depth));
    }
}

static void merge_map(struct merge *m, struct sl_json *o, const struct sl_json *patch, int depth)
{
    SL_ASSERT(depth <= DEPTH_MAX + 2); /* the parser refuses deeper texts */
    const char *key = NULL;
    struct sl_json *value = NULL;
    for (void *it = NULL; sl_json_next(patch, &it, &key, &value);) {
        if (!obey(m, o, key, value)) {
            merge_field(m, o, key, value, depth);
        }
    }
}

static bool all_keyed(const struct sl_json *patch, struct sl_buf *path, struct sl_error *e);

/* Does every item of a list that merges say which one it means? */
static bool items_keyed(const char *field, const struct sl_json *patch, struct sl_buf *path,
                        struct sl_error *e)
{
    const char *key = merge_key(field, patch);
    bool good = true;
    for (size_t i = replaces_list(patch) ? 1 : 0; good && i < sl_json_len(patch); i++) {
        const struct sl_json *item = sl_json_at(patch, i);
        size_t before = path->len;
        sl_buf_print(path, "[%zu]", i);
        if (sl_json_get(item, key) == NULL) {
            sl_error_set(e, SL_CODE_BAD_REQUEST,
                         "%.200s: an item of a list that merges has to be an object with its merge "
                         "key \"%s\"",
                         path->data, key);
            return false;
        }
        good = all_keyed(item, path, e);
        path->len = before;
    }
    return good;
}

/* Asked before anything is merged, so that a refusal needs no way back. */
static bool all_keyed(const struct sl_json *patch, struct sl_buf *path, struct sl_error *e)
{
    bool good = true;
    const char *key = NULL;
    struct sl_json *value = NULL;
    for (void *it = NULL; good && sl_json_next(patch, &it, &key, &value);) {
        size_t before = path->len;
        sl_buf_print(path, "%s%s", before > 0 ? "." : "", key);
        if (key[0] != '$') {
            good = merges_items(key, value) ? items_keyed(key, value, path, e)
                                            : all_keyed(value, path, e);
        }
        path->len = before;
    }
    return good;
}

enum sl_code sl_patch_strategic(struct sl_json **o, const struct sl_json *patch, struct sl_error *e)
{
    SL_PRE(o != NULL && sl_json_type(*o) == SL_JSON_MAP);
    if (sl_json_type(patch) != SL_JSON_MAP) {
        return sl_error_set(e, SL_CODE_BAD_REQUEST,
                            "a strategic merge patch must be a JSON object");
    }
    struct sl_buf path = {0};
    bool keyed = all_keyed(patch, &path, e);
    sl_buf_fini(&path);
    if (!keyed) {
        return SL_CODE_BAD_REQUEST;
    }
    struct merge m = {0};
    struct sl_json *result = sl_json_clone(*o);
    merge_map(&m, result, patch, 0);
    if (m.field != NULL) {
        sl_json_free(result);
        return sl_error_set(e, SL_CODE_TOO_LARGE,
                            "%.200s: the patch goes through more than %u items of lists", m.field,
                            STEPS_MAX);
    }
    sl_json_free(*o);
    *o = result;
    return SL_CODE_OK;
}
