/* SPDX-License-Identifier: Apache-2.0
 * SPDX-FileCopyrightText: The Sluice authors */

/* Does an adapter file make sense? One complaint, about the first thing that does not, with file and field. */
#include "controllers/adapters/adapter_complain.h"
#include <string.h>

#define DEPTH_MAX 8u

/* --- numbers and rules --------------------------------------------------------------------------------- */

static void check_number(struct sl_complaint *c, const struct sl_json *v, const char *key,
                         unsigned depth);

static void check_numbers(struct sl_complaint *c, const struct sl_json *list, const char *key,
                          unsigned depth)
{
    if (sl_json_type(list) != SL_JSON_LIST || sl_json_len(list) == 0) {
        sl_complain(c, key, "must be a list of numbers");
        return;
    }
    for (size_t i = 0; i < sl_json_len(list) && depth > 0; i++) {
        size_t len = sl_complaint_down(c, key, i);
        check_number(c, sl_json_at(list, i), "", depth - 1);
        sl_complaint_up(c, len);
    }
}

static void check_choices(struct sl_complaint *c, const struct sl_json *v, const char *key,
                          unsigned depth)
{
    const struct sl_json *list = sl_json_get(v, "choose");
    size_t outer = sl_complaint_down(c, key, SIZE_MAX);
    sl_check_keys(c, v, " choose ");
    if (sl_json_type(list) != SL_JSON_LIST || sl_json_len(list) == 0) {
        sl_complain(c, "choose", "must be a list of choices, each with use");
    }
    for (size_t i = 0; i < sl_json_len(list); i++) {
        size_t len = sl_complaint_down(c, "choose", i);
        const struct sl_json *choice = sl_json_at(list, i);
        sl_check_keys(c, choice, " when use ");
        sl_check_rules(c, choice, "when", false);
        check_number(c, sl_json_get(choice, "use"), "use", depth - 1);
        sl_complaint_up(c, len);
    }
    sl_complaint_up(c, outer);
}

static void check_number(struct sl_complaint *c, const struct sl_json *v, const char *key,
                         unsigned depth)
{
    if (depth == 0) {
        sl_complain(c, key, "is nested too deeply");
    } else if (sl_json_type(v) == SL_JSON_LIST) {
        check_numbers(c, v, key, depth);
    } else if (sl_json_has(v, "min") || sl_json_has(v, "max")) {
        const char *word = sl_json_has(v, "min") ? "min" : "max";
        size_t len = sl_complaint_down(c, key, SIZE_MAX);
        sl_check_keys(c, v, word[1] == 'i' ? " min " : " max ");
        check_numbers(c, sl_json_get(v, word), word, depth);
        sl_complaint_up(c, len);
    } else if (sl_json_has(v, "choose")) {
        check_choices(c, v, key, depth);
    } else if (sl_json_type(v) == SL_JSON_MAP) {
        size_t len = sl_complaint_down(c, key, SIZE_MAX);
        sl_check_keys(c, v, " path default minus ");
        sl_check_path(c, v, "path", true);
        sl_check_type_of(c, v, "default", SL_JSON_INT, "a whole number");
        sl_check_type_of(c, v, "minus", SL_JSON_INT, "a whole number");
        sl_complaint_up(c, len);
    } else if (sl_json_type(v) != SL_JSON_INT && !sl_check_is_path(v)) {
        sl_complain(
            c, key,
            "must be a whole number, a path, a map with path, min, max or choose, or a list");
    }
}

static void check_sum(struct sl_complaint *c, const struct sl_json *rule, const char *allowed)
{
    const struct sl_json *names = sl_json_get(rule, "of");
    sl_check_keys(c, rule, allowed);
    sl_check_path(c, rule, "sum", true);
    sl_check_type_of(c, rule, "default", SL_JSON_INT, "a whole number");
    if (sl_json_type(names) != SL_JSON_LIST || sl_json_len(names) == 0) {
        sl_complain(c, "of", "must be a list of paths");
    }
    for (size_t i = 0; i < sl_json_len(names); i++) {
        if (!sl_check_is_path(sl_json_at(names, i))) {
            sl_complain(c, "of", "must be a list of paths");
        }
    }
}

/* Of what is written, too: its last part is a key that can be set. */
static void check_place(struct sl_complaint *c, const struct sl_json *map, const char *key,
                        bool required)
{
    const char *text = sl_json_text(sl_json_get(map, key), "");
    sl_check_path(c, map, key, required);
    if (text[0] != '\0' && text[strlen(text) - 1] == ']') {
        sl_complain(c, key, "must end with a name, not with brackets");
    }
}

static void check_sum_rule(struct sl_complaint *c, const struct sl_json *rule)
{
    const struct sl_json *least = sl_json_get(rule, "atLeast");
    check_sum(c, rule, " sum of default above atLeast not ");
    sl_check_type_of(c, rule, "above", SL_JSON_INT, "a whole number");
    if ((least == NULL) == !sl_json_has(rule, "above")) {
        sl_complain(c, "", "needs either above or atLeast");
    } else if (sl_json_has(least, "sum")) {
        size_t len = sl_complaint_down(c, "atLeast", SIZE_MAX);
        check_sum(c, least, " sum of default ");
        sl_complaint_up(c, len);
    } else if (least != NULL) {
        check_number(c, least, "atLeast", DEPTH_MAX);
    }
}

static void check_rule(struct sl_complaint *c, const struct sl_json *rule)
{
    if (sl_json_has(rule, "condition")) {
        sl_check_keys(c, rule, " condition not ");
        sl_check_text_of(c, rule, "condition", true);
    } else if (sl_json_has(rule, "sum")) {
        check_sum_rule(c, rule);
    } else if (sl_json_has(rule, "path")) {
        sl_check_keys(c, rule, " path key in default present filled not ");
        sl_check_path(c, rule, "path", true);
        sl_check_text_of(c, rule, "key", false);
        sl_check_type_of(c, rule, "in", SL_JSON_LIST, "a list of values");
        sl_check_type_of(c, rule, "present", SL_JSON_BOOL, "true or false");
        sl_check_type_of(c, rule, "filled", SL_JSON_BOOL, "true or false");
        if (sl_json_has(rule, "in") + sl_json_has(rule, "present") + sl_json_has(rule, "filled") !=
            1) {
            sl_complain(c, "", "needs one of in, present and filled");
        }
    } else if (sl_json_has(rule, "some")) {
        sl_check_keys(c, rule, " some where not ");
        sl_check_path(c, rule, "some", true);
        sl_check_rules(c, rule, "where", true);
    } else {
        sl_complain(c, "", "must be a map with condition, path, sum or some");
    }
    sl_check_type_of(c, rule, "not", SL_JSON_BOOL, "true or false");
}

void sl_check_rules(struct sl_complaint *c, const struct sl_json *map, const char *key,
                    bool required)
{
    const struct sl_json *rules = sl_json_get(map, key);
    if (rules == NULL && !required) {
        return;
    }
    if (sl_json_type(rules) != SL_JSON_LIST || sl_json_len(rules) == 0) {
        sl_complain(c, key, rules == NULL ? "is required" : "must be a list of rules");
        return;
    }
    for (size_t i = 0; i < sl_json_len(rules); i++) {
        size_t len = sl_complaint_down(c, key, i);
        check_rule(c, sl_json_at(rules, i));
        sl_complaint_up(c, len);
    }
}

static void check_endings(struct sl_complaint *c, const struct sl_json *doc)
{
    const struct sl_json *endings = sl_json_get(doc, "finished");
    if (endings != NULL && sl_json_type(endings) != SL_JSON_LIST) {
        sl_complain(c, "finished", "must be a list");
    }
    for (size_t i = 0; i < sl_json_len(endings); i++) {
        size_t len = sl_complaint_down(c, "finished", i);
        const struct sl_json *ending = sl_json_at(endings, i);
        sl_check_keys(c, ending, " when success message text ");
        sl_check_rules(c, ending, "when", true);
        sl_check_type_of(c, ending, "success", SL_JSON_BOOL, "true or false");
        sl_check_path(c, ending, "message", false);
        sl_check_text_of(c, ending, "text", false);
        sl_complaint_up(c, len);
    }
}

/* --- pod sets ------------------------------------------------------------------------------------------ */

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
    if (sl_json_type(template) == SL_JSON_MAP) {
        size_t len = sl_complaint_down(c, "template", SIZE_MAX);
        sl_check_keys(c, template, " in at ");
        sl_check_path(c, template, "in", false);
        sl_check_path(c, template, "at", true);
        sl_complaint_up(c, len);
    } else {
        check_place(c, set, "template", !sl_json_has(set, "default"));
    }
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
    sl_check_keys(c, inject, " list key item parts part ");
    check_place(c, inject, "list", true);
    sl_check_text_of(c, inject, "key", false);
    sl_check_type_of(c, inject, "item", SL_JSON_MAP, "a map");
    if (!sl_json_has(inject, "item")) {
        sl_complain(c, "item", "is required");
    }
    sl_check_path(c, inject, "parts", false);
    sl_check_type_of(c, inject, "part", SL_JSON_MAP, "a map");
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
        check_number(c, sl_json_get(sub, "count"), "count", DEPTH_MAX);
        sl_complaint_up(c, len);
    }
    if (reclaim != NULL) {
        size_t len = sl_complaint_down(c, "reclaimable", SIZE_MAX);
        sl_check_keys(c, reclaim, " list key of times ");
        sl_check_path(c, reclaim, "list", true);
        sl_check_path(c, reclaim, "of", true);
        sl_check_text_of(c, reclaim, "key", false);
        if (sl_json_has(reclaim, "times") || sl_json_len(sl_json_get(set, "count")) < 2) {
            check_number(c, sl_json_get(reclaim, "times"), "times", DEPTH_MAX);
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
        sl_check_type_of(c, add, "requests", SL_JSON_MAP, "a map of resources");
        if (sl_json_has(add, "container") == sl_json_has(add, "requests")) {
            sl_complain(c, "", "needs either container or requests");
        }
        sl_complaint_up(c, len);
    }
}

static void check_pod_set(struct sl_complaint *c, const struct sl_json *set)
{
    sl_check_keys(
        c, set,
        " name nameFrom each when optional template default count indexLabel subGroups inject "
        "reclaimable patches indexOffset adds podAnnotation ");
    sl_check_patches(c, set);
    sl_check_text_of(c, set, "podAnnotation", false);
    sl_check_text_of(c, set, "name", !sl_json_has(set, "nameFrom"));
    sl_check_path(c, set, "nameFrom", false);
    check_each(c, set);
    sl_check_rules(c, set, "when", false);
    sl_check_type_of(c, set, "optional", SL_JSON_BOOL, "true or false");
    check_template(c, set);
    check_inject(c, set);
    sl_check_text_of(c, set, "indexLabel", false);
    check_parts(c, set);
    if (sl_json_has(set, "indexOffset")) {
        check_number(c, sl_json_get(set, "indexOffset"), "indexOffset", DEPTH_MAX);
    }
    check_adds(c, set);
    if (sl_json_has(set, "count")) {
        check_number(c, sl_json_get(set, "count"), "count", DEPTH_MAX);
    }
}

static void check_pod_sets(struct sl_complaint *c, const struct sl_json *doc)
{
    const struct sl_json *sets = sl_json_get(doc, "podSets");
    if (sl_json_type(sets) != SL_JSON_LIST || sl_json_len(sets) == 0 ||
        sl_json_len(sets) > SL_POD_SETS_MAX) {
        sl_complain(c, "podSets",
                    sets == NULL ? "is required" : "must be a list of 1 to %u pod sets",
                    SL_POD_SETS_MAX);
        return;
    }
    for (size_t i = 0; i < sl_json_len(sets); i++) {
        size_t len = sl_complaint_down(c, "podSets", i);
        check_pod_set(c, sl_json_at(sets, i));
        sl_complaint_up(c, len);
    }
}

/* --- the whole ----------------------------------------------------------------------------------------- */

static void check_restore(struct sl_complaint *c, const struct sl_json *doc)
{
    const struct sl_json *when = sl_json_get(doc, "restoreWhen");
    if (when != NULL && strcmp(sl_json_text(when, ""), "inactive") != 0) {
        sl_complain(c, "restoreWhen", "must be inactive, or left out: at once");
    }
}

static void check_surge(struct sl_complaint *c, const struct sl_json *groups)
{
    const struct sl_json *surge = sl_json_get(groups, "surge");
    if (surge == NULL) {
        return;
    }
    size_t len = sl_complaint_down(c, "surge", SIZE_MAX);
    sl_check_keys(c, surge, " count when ");
    check_number(c, sl_json_get(surge, "count"), "count", DEPTH_MAX);
    sl_check_rules(c, surge, "when", true);
    sl_complaint_up(c, len);
}

/* Pods that come in groups are gated: there is no flag beside that. */
static void check_groups(struct sl_complaint *c, const struct sl_json *doc)
{
    const struct sl_json *groups = sl_json_get(doc, "groups");
    if (sl_json_has(doc, "suspend")) {
        sl_complain(c, "groups", "cannot be had with suspend");
    }
    size_t len = sl_complaint_down(c, "groups", SIZE_MAX);
    sl_check_keys(c, groups, " count surge size parentLabel indexLabel fast ");
    check_number(c, sl_json_get(groups, "size"), "size", DEPTH_MAX);
    if (sl_json_has(groups, "count")) {
        check_number(c, sl_json_get(groups, "count"), "count", DEPTH_MAX);
    }
    if (sl_json_has(groups, "count") != sl_json_has(groups, "indexLabel")) {
        sl_complain(c, "indexLabel", "is needed with count, and only with it");
    }
    check_surge(c, groups);
    sl_check_text_of(c, groups, "parentLabel", false);
    sl_check_text_of(c, groups, "indexLabel", false);
    sl_check_type_of(c, groups, "fast", SL_JSON_BOOL, "true or false");
    sl_complaint_up(c, len);
}

static void check_suspend(struct sl_complaint *c, const struct sl_json *doc)
{
    const struct sl_json *suspend = sl_json_get(doc, "suspend");
    if (sl_json_has(doc, "groups")) {
        check_groups(c, doc);
        return;
    }
    if (sl_json_type(suspend) != SL_JSON_MAP) {
        check_place(c, doc, "suspend", true);
        return;
    }
    size_t len = sl_complaint_down(c, "suspend", SIZE_MAX);
    sl_check_keys(c, suspend, " zero keep ");
    check_place(c, suspend, "zero", true);
    sl_check_text_of(c, suspend, "keep", true);
    sl_complaint_up(c, len);
}

static void check_classes(struct sl_complaint *c, const struct sl_json *doc)
{
    const struct sl_json *paths = sl_json_get(doc, "priorityClass");
    sl_check_type_of(c, doc, "priorityClass", SL_JSON_LIST, "a list of paths");
    for (size_t i = 0; i < sl_json_len(paths); i++) {
        if (!sl_check_is_path(sl_json_at(paths, i))) {
            sl_complain(c, "priorityClass", "must be a list of paths");
        }
    }
}

static void check_makes(struct sl_complaint *c, const struct sl_json *doc)
{
    const struct sl_json *kinds = sl_json_get(doc, "makes");
    sl_check_type_of(c, doc, "makes", SL_JSON_LIST, "a list of kinds");
    for (size_t i = 0; i < sl_json_len(kinds); i++) {
        const char *kind = sl_json_text(sl_json_at(kinds, i), "");
        const char *slash = strchr(kind, '/');
        bool good = strcmp(kind, "*") == 0 || (slash != NULL && slash != kind && slash[1] != '\0' &&
                                               strchr(slash + 1, '/') == NULL);
        if (!good) {
            sl_complain(c, "makes",
                        "must be kinds like batch/Job (their group, not their version), "
                        "or \"*\" for all");
        }
    }
}

static void check_refusal_type(struct sl_complaint *c, const struct sl_json *refusal)
{
    const char *type = sl_json_path_text(refusal, "type", "Invalid");
    if ((sl_json_has(refusal, "type") &&
         sl_json_type(sl_json_get(refusal, "type")) != SL_JSON_TEXT) ||
        !sl_check_is_word(" Invalid Required Forbidden ", type)) {
        sl_complain(c, "type", "must be Invalid, Required or Forbidden");
    }
}

static void check_refusals(struct sl_complaint *c, const struct sl_json *doc)
{
    const struct sl_json *refusals = sl_json_get(doc, "refuse");
    sl_check_type_of(c, doc, "refuse", SL_JSON_LIST, "a list");
    for (size_t i = 0; i < sl_json_len(refusals); i++) {
        size_t len = sl_complaint_down(c, "refuse", i);
        const struct sl_json *refusal = sl_json_at(refusals, i);
        sl_check_keys(c, refusal, " when field type text ");
        sl_check_rules(c, refusal, "when", true);
        sl_check_path(c, refusal, "field", true);
        check_refusal_type(c, refusal);
        sl_check_text_of(c, refusal, "text", true);
        sl_complaint_up(c, len);
    }
}

enum sl_code sl_adapter_check(const char *file, const struct sl_json *doc, struct sl_error *e)
{
    struct sl_complaint c = {.file = file, .e = e};
    sl_check_keys(&c, doc,
                  " apiVersion kind plural shortName framework makes skip refuse suspend groups "
                  "podSets priorityClass "
                  "hold ready active finished with restoreWhen ");
    sl_check_text_of(&c, doc, "apiVersion", true);
    sl_check_text_of(&c, doc, "kind", true);
    sl_check_text_of(&c, doc, "plural", true);
    sl_check_text_of(&c, doc, "shortName", false);
    sl_check_text_of(&c, doc, "framework", false);
    check_makes(&c, doc);
    sl_check_rules(&c, doc, "skip", false);
    check_refusals(&c, doc);
    sl_check_with(&c, doc);
    check_suspend(&c, doc);
    check_restore(&c, doc);
    check_pod_sets(&c, doc);
    check_classes(&c, doc);
    sl_check_rules(&c, doc, "hold", false);
    sl_check_rules(&c, doc, "ready", true);
    sl_check_rules(&c, doc, "active", true);
    check_endings(&c, doc);
    return c.bad ? SL_CODE_INVALID : SL_CODE_OK;
}
