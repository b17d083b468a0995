/* SPDX-License-Identifier: Apache-2.0
 * SPDX-FileCopyrightText: The Sluice authors */

/* Does it make sense what an adapter file says about objects that jobs refer to? */
#include "controllers/files/file_complain.h"
#include <string.h>

#define WITH_MAX 4u
#define KINDS_MAX 4u
#define PATCHES_MAX 16u
#define PATCH_DEPTH_MAX 32u

static void check_depth(struct sl_complaint *c, const struct sl_json *map, const char *key)
{
    if (map == NULL) {
        sl_complain(c, key, "is required");
    } else if (sl_json_deeper_than(map, PATCH_DEPTH_MAX)) {
        sl_complain(c, key, "is nested too deeply");
    }
}

/* {when, patch}, or {from: [list of the job, list in its items], when, key, at}. */
void sl_check_patches(struct sl_complaint *c, const struct sl_json *set)
{
    const struct sl_json *patches = sl_json_get(set, "patches");
    sl_check_type_of(c, set, "patches", SL_JSON_LIST, "a list");
    for (size_t i = 0; i < sl_json_len(patches); i++) {
        size_t len = sl_complaint_down(c, "patches", i);
        const struct sl_json *patch = sl_json_at(patches, i);
        const struct sl_json *from = sl_json_get(patch, "from");
        sl_check_rules(c, patch, "when", false);
        if (from == NULL) {
            sl_check_keys(c, patch, " when patch ");
            sl_check_type_of(c, patch, "patch", SL_JSON_MAP, "a map");
            check_depth(c, sl_json_get(patch, "patch"), "patch");
            sl_check_pattern(c, patch, "patch");
        } else {
            sl_check_keys(c, patch, " from when key at ");
            sl_check_path(c, patch, "at", true);
            sl_check_text_of(c, patch, "key", false);
            if (sl_json_type(from) != SL_JSON_LIST || sl_json_len(from) != 2 ||
                !sl_check_is_path(sl_json_at(from, 0)) || !sl_check_is_path(sl_json_at(from, 1))) {
                sl_complain(c, "from", "must be two paths: of a list, and of one inside its items");
            }
        }
        sl_complaint_up(c, len);
    }
    if (sl_json_len(patches) > PATCHES_MAX) {
        sl_complain(c, "patches", "must be no more than %u", PATCHES_MAX);
    }
}

/* A path, or {path, default}. */
static void check_text_at(struct sl_complaint *c, const struct sl_json *map, const char *key)
{
    const struct sl_json *v = sl_json_get(map, key);
    if (sl_json_type(v) != SL_JSON_MAP) {
        sl_check_path(c, map, key, false);
        return;
    }
    size_t len = sl_complaint_down(c, key, SIZE_MAX);
    sl_check_keys(c, v, " path default ");
    sl_check_path(c, v, "path", true);
    sl_check_text_of(c, v, "default", false);
    sl_complaint_up(c, len);
}

static void check_with_kinds(struct sl_complaint *c, const struct sl_json *with)
{
    const struct sl_json *kinds = sl_json_get(with, "kinds");
    size_t count = sl_json_type(kinds) == SL_JSON_LIST ? sl_json_len(kinds) : 0;
    if (count == 0 || count > KINDS_MAX) {
        sl_complain(c, "kinds", "must be a list of 1 to %u kinds", KINDS_MAX);
    } else if (count > 1 && !sl_json_has(with, "kind")) {
        sl_complain(c, "kind", "is required where there are several kinds");
    }
    for (size_t i = 0; i < count; i++) {
        size_t len = sl_complaint_down(c, "kinds", i);
        const struct sl_json *kind = sl_json_at(kinds, i);
        sl_check_keys(c, kind, " apiVersion kind plural namespaced ");
        sl_check_text_of(c, kind, "apiVersion", true);
        sl_check_text_of(c, kind, "kind", true);
        sl_check_text_of(c, kind, "plural", true);
        sl_check_type_of(c, kind, "namespaced", SL_JSON_BOOL, "true or false");
        sl_complaint_up(c, len);
    }
}

/* Beside the job's own fields: a name of one of those would hide it. */
static void check_with_name(struct sl_complaint *c, const struct sl_json *all, size_t index)
{
    const char *name = sl_json_path_text(sl_json_at(all, index), "as", "");
    if (name[0] == '$' || strchr(name, '.') != NULL ||
        sl_check_is_word(" apiVersion kind metadata spec status ", name)) {
        sl_complain(c, "as", "must be a word without dots, and not a field of the job");
    }
    for (size_t i = 0; i < index; i++) {
        if (strcmp(sl_json_path_text(sl_json_at(all, i), "as", ""), name) == 0) {
            sl_complain(c, "as", "%s is the name of another", name);
        }
    }
}

/* A change of what the job refers to is noticed because the job has made it. */
static bool makes_all(const struct sl_json *doc, const struct sl_json *with)
{
    const struct sl_json *makes = sl_json_get(doc, "makes"), *kinds = sl_json_get(with, "kinds");
    bool all = true;
    for (size_t i = 0; i < sl_json_len(kinds) && all; i++) {
        struct sl_buf name = {0};
        const char *version = sl_json_path_text(sl_json_at(kinds, i), "apiVersion", "");
        sl_buf_print(&name, "%.*s/%s", (int)strcspn(version, "/"), version,
                     sl_json_path_text(sl_json_at(kinds, i), "kind", ""));
        all = sl_json_has_text(makes, name.data) || sl_json_has_text(makes, "*");
        sl_buf_fini(&name);
    }
    return all;
}

/* Jobs of an elastic kind are described by themselves: what they refer to says how many pods there are now. */
static void check_with_elastic(struct sl_complaint *c, const struct sl_json *doc,
                               const struct sl_json *with)
{
    sl_check_type_of(c, with, "elastic", SL_JSON_BOOL, "true or false");
    if (sl_json_path_bool(with, "elastic", false) != sl_json_path_bool(doc, "elastic", false)) {
        sl_complain(c, "elastic", "must be true where the kind is elastic, and only there");
    } else if (sl_json_path_bool(with, "elastic", false) && !makes_all(doc, with)) {
        sl_complain(c, "kinds", "must be kinds that makes names, too");
    }
}

void sl_check_with(struct sl_complaint *c, const struct sl_json *doc)
{
    const struct sl_json *all = sl_json_get(doc, "with");
    sl_check_type_of(c, doc, "with", SL_JSON_LIST, "a list");
    if (sl_json_len(all) > WITH_MAX) {
        sl_complain(c, "with", "must be no more than %u", WITH_MAX);
    }
    for (size_t i = 0; i < sl_json_len(all); i++) {
        size_t len = sl_complaint_down(c, "with", i);
        const struct sl_json *with = sl_json_at(all, i);
        sl_check_keys(c, with, " as name kind group kinds elastic ");
        check_with_elastic(c, doc, with);
        sl_check_text_of(c, with, "as", true);
        check_with_name(c, all, i);
        sl_check_path(c, with, "name", true);
        check_text_at(c, with, "kind");
        check_text_at(c, with, "group");
        check_with_kinds(c, with);
        sl_complaint_up(c, len);
    }
}
