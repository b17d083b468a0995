/* SPDX-License-Identifier: Apache-2.0
 * SPDX-FileCopyrightText: The Sluice authors */

#include "cli/policies/policies_live.h"

#include <string.h>

static bool list_covers(const struct sl_json *live, const struct sl_json *wanted)
{
    bool yes = sl_json_len(live) == sl_json_len(wanted);
    for (size_t i = 0; i < sl_json_len(wanted) && yes; i++) {
        yes = sl_policies_cover(sl_json_at(live, i), sl_json_at(wanted, i));
    }
    return yes;
}

bool sl_policies_cover(const struct sl_json *live, const struct sl_json *wanted)
{
    if (sl_json_type(live) != sl_json_type(wanted)) {
        return false;
    }
    if (sl_json_type(wanted) == SL_JSON_LIST) {
        return list_covers(live, wanted);
    }
    if (sl_json_type(wanted) != SL_JSON_MAP) {
        return sl_json_equal(live, wanted);
    }
    struct sl_json_member m = {0};
    while (sl_json_each(wanted, &m)) {
        if (!sl_policies_cover(sl_json_get(live, m.key), m.value)) {
            return false;
        }
    }
    return true;
}

static const char *name_of(const struct sl_json *object)
{
    return sl_json_path_text(object, "metadata.name", "");
}

static bool is_policy(const struct sl_json *object)
{
    return sl_json_path(object, "spec.matchConstraints") != NULL;
}

/* A policy that refuses and one that changes may have the same name. */
static const struct sl_json *same(const struct sl_json *all, const struct sl_json *as)
{
    const char *kind = sl_json_path_text(as, "kind", "");
    for (size_t i = 0; i < sl_json_len(all); i++) {
        const struct sl_json *o = sl_json_at(all, i);
        if (strcmp(name_of(o), name_of(as)) == 0 &&
            strcmp(sl_json_path_text(o, "kind", ""), kind) == 0) {
            return o;
        }
    }
    return NULL;
}

static void add_name(struct sl_json *names, const char *name)
{
    if (!sl_json_has_text(names, name)) {
        sl_json_append(names, sl_json_new_text(name));
    }
}

bool sl_policies_is_ours(const struct sl_json *policy)
{
    static const char prefix[] = "sluice-";
    return strncmp(name_of(policy), prefix, sizeof prefix - 1) == 0;
}

struct sl_json *sl_policies_differing(const struct sl_json *wanted, const struct sl_json *live)
{
    struct sl_json *names = sl_json_new_list();
    for (size_t i = 0; i < sl_json_len(wanted); i++) {
        const struct sl_json *o = sl_json_at(wanted, i);
        if (is_policy(o) &&
            !sl_policies_cover(sl_json_get(same(live, o), "spec"), sl_json_get(o, "spec"))) {
            add_name(names, name_of(o));
        }
    }
    for (size_t i = 0; i < sl_json_len(live); i++) {
        const struct sl_json *o = sl_json_at(live, i);
        if (sl_policies_is_ours(o) && same(wanted, o) == NULL) {
            add_name(names, name_of(o));
        }
    }
    return names;
}
