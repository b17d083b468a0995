/* SPDX-License-Identifier: Apache-2.0
 * SPDX-FileCopyrightText: The Sluice authors */

/* Do the pod sets of an adapter file make sense? */
#include "controllers/files/file_complain.h"
#include "controllers/work/framework.h"

static void check_each(struct sl_complaint *c, const struct sl_json *set)
{
    const struct sl_json *each = sl_json_get(set, "each");
    if (sl_json_type(each) == SL_JSON_LIST) {
        if (sl_json_len(each) != 2 || !sl_check_is_path(sl_json_at(each, 0)) ||
            !sl_check_is_path(sl_json_at(each, 1))) {
            sl_complain(c, "each",
                        "must be a path, or two: of a list, and of one inside its items");
        }
    } else {
        sl_check_path(c, set, "each", false);
    }
}

static void check_template(struct sl_complaint *c, const struct sl_json *set)
{
    const struct sl_json *template = sl_json_get(set, "template");
    sl_check_type_of(c, set, "default", SL_JSON_MAP, "a pod template");
    sl_check_pattern(c, set, "default");
    if (sl_json_type(template) == SL_JSON_MAP) {
        size_t len = sl_complaint_down(c, "template", SIZE_MAX);
        sl_check_keys(c, template, " in at ");
        sl_check_path(c, template, "in", false);
        sl_check_path(c, template, "at", true);
        sl_complaint_up(c, len);
    } else {
        sl_check_place(c, set, "template", !sl_json_has(set, "default"));
    }
}

/* For each part a path, or {path, shared}: where all pod sets may say it at once, which a map can. */
static void check_fields(struct sl_complaint *c, const struct sl_json *inject)
{
    static const char *const maps = " labels annotations nodeSelector ";
    const struct sl_json *fields = sl_json_get(inject, "fields");
    size_t len = sl_complaint_down(c, "fields", SIZE_MAX);
    sl_check_keys(c, fields, " labels annotations nodeSelector tolerations schedulingGates ");
    for (struct sl_json_member m = {0};
         sl_json_type(fields) == SL_JSON_MAP && sl_json_each(fields, &m);) {
        if (sl_json_type(m.value) == SL_JSON_MAP && sl_check_is_word(maps, m.key)) {
            size_t up = sl_complaint_down(c, m.key, SIZE_MAX);
            sl_check_keys(c, m.value, " path shared ");
            sl_check_place(c, m.value, "path", true);
            sl_check_place(c, m.value, "shared", true);
            sl_complaint_up(c, up);
        } else {
            sl_check_place(c, fields, m.key, true);
        }
    }
    sl_complaint_up(c, len);
}

static void check_inject(struct sl_complaint *c, const struct sl_json *set)
{
    const struct sl_json *inject = sl_json_get(set, "inject");
    if (inject == NULL) {
        if (!sl_json_has(set, "template")) {
            sl_complain(c, "inject", "is required where there is no template to inject into");
        }
        return;
    }
    size_t len = sl_complaint_down(c, "inject", SIZE_MAX);
    if (sl_json_has(inject, "fields")) {
        sl_check_keys(c, inject, " fields ");
        check_fields(c, inject);
        sl_complaint_up(c, len);
        return;
    }
    sl_check_keys(c, inject, " list key item parts part ");
    sl_check_place(c, inject, "list", true);
    sl_check_text_of(c, inject, "key", false);
    sl_check_type_of(c, inject, "item", SL_JSON_MAP, "a map");
    sl_check_pattern(c, inject, "item");
    if (!sl_json_has(inject, "item")) {
        sl_complain(c, "item", "is required");
    }
    sl_check_path(c, inject, "parts", false);
    sl_check_type_of(c, inject, "part", SL_JSON_MAP, "a map");
    sl_check_pattern(c, inject, "part");
    if (sl_json_has(inject, "parts") != sl_json_has(inject, "part")) {
        sl_complain(c, "part", "is required with parts, and only with it");
    }
    if (sl_json_has(inject, "parts") && !sl_json_has(inject, "key")) {
        sl_complain(c, "key", "is required with parts: it says which item has them");
    }
    sl_complaint_up(c, len);
}

static void check_parts(struct sl_complaint *c, const struct sl_json *set)
{
    const struct sl_json *sub = sl_json_get(set, "subGroups");
    const struct sl_json *reclaim = sl_json_get(set, "reclaimable");
    if (sub != NULL) {
        size_t len = sl_complaint_down(c, "subGroups", SIZE_MAX);
        sl_check_keys(c, sub, " label count ");
        sl_check_text_of(c, sub, "label", true);
        sl_check_number(c, sl_json_get(sub, "count"), "count");
        sl_complaint_up(c, len);
    }
    if (reclaim != NULL) {
        size_t len = sl_complaint_down(c, "reclaimable", SIZE_MAX);
        sl_check_keys(c, reclaim, " list key of times ");
        sl_check_path(c, reclaim, "list", true);
        sl_check_path(c, reclaim, "of", true);
        sl_check_text_of(c, reclaim, "key", false);
        if (sl_json_has(reclaim, "times") || sl_json_len(sl_json_get(set, "count")) < 2) {
            sl_check_number(c, sl_json_get(reclaim, "times"), "times");
        }
        sl_complaint_up(c, len);
    }
}

static void check_adds(struct sl_complaint *c, const struct sl_json *set)
{
    const struct sl_json *adds = sl_json_get(set, "adds");
    sl_check_type_of(c, set, "adds", SL_JSON_LIST, "a list");
    for (size_t i = 0; i < sl_json_len(adds); i++) {
        size_t len = sl_complaint_down(c, "adds", i);
        const struct sl_json *add = sl_json_at(adds, i);
        sl_check_keys(c, add, " when container requests ");
        sl_check_rules(c, add, "when", false);
        sl_check_type_of(c, add, "container", SL_JSON_MAP, "a container");
        sl_check_pattern(c, add, "container");
        sl_check_type_of(c, add, "requests", SL_JSON_MAP, "a map of resources");
        if (sl_json_has(add, "container") == sl_json_has(add, "requests")) {
            sl_complain(c, "", "needs either container or requests");
        }
        sl_complaint_up(c, len);
    }
}

static void check_count_in(struct sl_complaint *c, const struct sl_json *set)
{
    const struct sl_json *in = sl_json_get(set, "countIn");
    if (in == NULL) {
        return;
    }
    size_t len = sl_complaint_down(c, "countIn", SIZE_MAX);
    sl_check_keys(c, in, " list key ");
    sl_check_path(c, in, "list", true);
    sl_check_text_of(c, in, "key", true);
    sl_complaint_up(c, len);
    if (!sl_json_has(set, "count")) {
        sl_complain(c, "countIn", "needs count, which says where in its items the number is");
    }
}

static void check_sets(struct sl_complaint *c, const struct sl_json *map, bool nested);

static void check_pod_set(struct sl_complaint *c, const struct sl_json *set, bool nested)
{
    if (!nested && sl_json_has(set, "podSets")) {
        sl_check_keys(c, set, " each podSets ");
        sl_check_path(c, set, "each", true);
        check_sets(c, set, true);
        return;
    }
    sl_check_keys(
        c, set,
        " name nameFrom each when optional template default count indexLabel subGroups inject "
        "reclaimable patches indexOffset adds podAnnotation countIn ");
    check_count_in(c, set);
    sl_check_patches(c, set);
    sl_check_text_of(c, set, "podAnnotation", false);
    sl_check_text_of(c, set, "name", !sl_json_has(set, "nameFrom"));
    sl_check_path(c, set, "nameFrom", false);
    if (nested) {
        sl_check_path(c, set, "each", false);
    } else {
        check_each(c, set);
    }
    sl_check_rules(c, set, "when", false);
    sl_check_type_of(c, set, "optional", SL_JSON_BOOL, "true or false");
    check_template(c, set);
    check_inject(c, set);
    sl_check_text_of(c, set, "indexLabel", false);
    check_parts(c, set);
    if (sl_json_has(set, "indexOffset")) {
        sl_check_number(c, sl_json_get(set, "indexOffset"), "indexOffset");
    }
    check_adds(c, set);
    if (sl_json_has(set, "count")) {
        sl_check_number(c, sl_json_get(set, "count"), "count");
    }
}

static void check_sets(struct sl_complaint *c, const struct sl_json *map, bool nested)
{
    const struct sl_json *sets = sl_json_get(map, "podSets");
    if (sl_json_type(sets) != SL_JSON_LIST || sl_json_len(sets) == 0 ||
        sl_json_len(sets) > SL_POD_SETS_MAX) {
        sl_complain(c, "podSets",
                    sets == NULL ? "is required" : "must be a list of 1 to %u pod sets",
                    SL_POD_SETS_MAX);
        return;
    }
    for (size_t i = 0; i < sl_json_len(sets); i++) {
        size_t len = sl_complaint_down(c, "podSets", i);
        check_pod_set(c, sl_json_at(sets, i), nested);
        sl_complaint_up(c, len);
    }
}

void sl_check_pod_sets(struct sl_complaint *c, const struct sl_json *doc)
{
    check_sets(c, doc, false);
}
