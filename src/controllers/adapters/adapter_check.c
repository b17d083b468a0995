/* SPDX-License-Identifier: Apache-2.0
 * SPDX-FileCopyrightText: The Sluice authors */

/* Does an adapter file make sense? One complaint, about the first thing that does not, with file and field. */
#include "controllers/adapters/adapter_doc.h"
#include <stdarg.h>
#include <stdio.h>
#include <string.h>

#define WHERE_SIZE 192
#define DEPTH_MAX 8u

struct check {
    const char *file;
    struct sl_error *e;
    char where[WHERE_SIZE];
    bool bad;
};

static void complain(struct check *c, const char *field, const char *format, ...)
    __attribute__((format(printf, 3, 4)));
static void complain(struct check *c, const char *field, const char *format, ...)
{
    char text[256];
    va_list args;
    if (c->bad) {
        return;
    }
    c->bad = true;
    va_start(args, format);
    vsnprintf(text, sizeof text, format, args);
    va_end(args);
    sl_error_set(c->e, SL_CODE_INVALID, "%s: %s%s%s: %s", c->file, c->where,
                 c->where[0] != '\0' && field[0] != '\0' ? "." : "", field, text);
}

/* Go down to a member or an item; the length is for up(). */
static size_t down(struct check *c, const char *field, size_t index)
{
    size_t len = strlen(c->where);
    size_t room = sizeof c->where - len;
    const char *dot = len > 0 && field[0] != '\0' ? "." : "";
    if (index != SIZE_MAX) {
        snprintf(c->where + len, room, "%s%s[%zu]", dot, field, index);
    } else {
        snprintf(c->where + len, room, "%s%s", dot, field);
    }
    return len;
}

static void up(struct check *c, size_t len)
{
    c->where[len] = '\0';
}

/* Is the key one of the words of `allowed`, which has a space on both sides of each? */
static bool is_word(const char *allowed, const char *key)
{
    char word[80];
    return snprintf(word, sizeof word, " %s ", key) < (int)sizeof word &&
           strstr(allowed, word) != NULL;
}

static void check_keys(struct check *c, const struct sl_json *map, const char *allowed)
{
    if (sl_json_type(map) != SL_JSON_MAP) {
        complain(c, "", "must be a map");
        return;
    }
    for (struct sl_json_member m = {0}; sl_json_each(map, &m);) {
        if (!is_word(allowed, m.key)) {
            complain(c, m.key, "unknown field; may be one of%.*s", (int)strlen(allowed) - 1,
                     allowed);
        }
    }
}

/* A path: words with dots between them. */
static bool is_path(const struct sl_json *v)
{
    const char *text = sl_json_text(v, "");
    bool good = text[0] != '\0' && text[0] != '.' && strlen(text) < 200;
    for (size_t i = 0; good && text[i] != '\0'; i++) {
        good = text[i] != ' ' && !(text[i] == '.' && (text[i + 1] == '.' || text[i + 1] == '\0'));
    }
    return good;
}

static void check_path(struct check *c, const struct sl_json *map, const char *key, bool required)
{
    const struct sl_json *v = sl_json_get(map, key);
    if (v == NULL && required) {
        complain(c, key, "is required");
    } else if (v != NULL && !is_path(v)) {
        complain(c, key, "must be a path like spec.template");
    }
}

static void check_text(struct check *c, const struct sl_json *map, const char *key, bool required)
{
    const struct sl_json *v = sl_json_get(map, key);
    if (v == NULL && required) {
        complain(c, key, "is required");
    } else if (v != NULL && sl_json_text(v, "")[0] == '\0') {
        complain(c, key, "must be a text");
    }
}

static void check_type(struct check *c, const struct sl_json *map, const char *key,
                       enum sl_json_type type, const char *name)
{
    const struct sl_json *v = sl_json_get(map, key);
    if (v != NULL && sl_json_type(v) != type) {
        complain(c, key, "must be %s", name);
    }
}

/* --- numbers and rules --------------------------------------------------------------------------------- */

static void check_number(struct check *c, const struct sl_json *v, const char *key, unsigned depth);

static void check_numbers(struct check *c, const struct sl_json *list, const char *key,
                          unsigned depth)
{
    if (sl_json_type(list) != SL_JSON_LIST || sl_json_len(list) == 0) {
        complain(c, key, "must be a list of numbers");
        return;
    }
    for (size_t i = 0; i < sl_json_len(list) && depth > 0; i++) {
        size_t len = down(c, key, i);
        check_number(c, sl_json_at(list, i), "", depth - 1);
        up(c, len);
    }
}

static void check_number(struct check *c, const struct sl_json *v, const char *key, unsigned depth)
{
    if (depth == 0) {
        complain(c, key, "is nested too deeply");
    } else if (sl_json_type(v) == SL_JSON_LIST) {
        check_numbers(c, v, key, depth);
    } else if (sl_json_has(v, "min")) {
        size_t len = down(c, key, SIZE_MAX);
        check_keys(c, v, " min ");
        check_numbers(c, sl_json_get(v, "min"), "min", depth);
        up(c, len);
    } else if (sl_json_type(v) == SL_JSON_MAP) {
        size_t len = down(c, key, SIZE_MAX);
        check_keys(c, v, " path default minus ");
        check_path(c, v, "path", true);
        check_type(c, v, "default", SL_JSON_INT, "a whole number");
        check_type(c, v, "minus", SL_JSON_INT, "a whole number");
        up(c, len);
    } else if (sl_json_type(v) != SL_JSON_INT && !is_path(v)) {
        complain(c, key, "must be a whole number, a path, a map with path or min, or a list");
    }
}

static void check_sum(struct check *c, const struct sl_json *rule, const char *allowed)
{
    const struct sl_json *names = sl_json_get(rule, "of");
    check_keys(c, rule, allowed);
    check_path(c, rule, "sum", true);
    if (sl_json_type(names) != SL_JSON_LIST || sl_json_len(names) == 0) {
        complain(c, "of", "must be a list of paths");
    }
    for (size_t i = 0; i < sl_json_len(names); i++) {
        if (!is_path(sl_json_at(names, i))) {
            complain(c, "of", "must be a list of paths");
        }
    }
}

static void check_sum_rule(struct check *c, const struct sl_json *rule)
{
    const struct sl_json *least = sl_json_get(rule, "atLeast");
    check_sum(c, rule, " sum of above atLeast not ");
    check_type(c, rule, "above", SL_JSON_INT, "a whole number");
    if ((least == NULL) == !sl_json_has(rule, "above")) {
        complain(c, "", "needs either above or atLeast");
    } else if (sl_json_has(least, "sum")) {
        size_t len = down(c, "atLeast", SIZE_MAX);
        check_sum(c, least, " sum of ");
        up(c, len);
    } else if (least != NULL) {
        check_number(c, least, "atLeast", DEPTH_MAX);
    }
}

static void check_rule(struct check *c, const struct sl_json *rule)
{
    if (sl_json_has(rule, "condition")) {
        check_keys(c, rule, " condition not ");
        check_text(c, rule, "condition", true);
    } else if (sl_json_has(rule, "sum")) {
        check_sum_rule(c, rule);
    } else if (sl_json_has(rule, "path")) {
        check_keys(c, rule, " path in default present not ");
        check_path(c, rule, "path", true);
        check_type(c, rule, "in", SL_JSON_LIST, "a list of values");
        check_type(c, rule, "present", SL_JSON_BOOL, "true or false");
        if (sl_json_has(rule, "in") == sl_json_has(rule, "present")) {
            complain(c, "", "needs either in or present");
        }
    } else {
        complain(c, "", "must be a map with condition, path or sum");
    }
    check_type(c, rule, "not", SL_JSON_BOOL, "true or false");
}

static void check_rules(struct check *c, const struct sl_json *map, const char *key, bool required)
{
    const struct sl_json *rules = sl_json_get(map, key);
    if (rules == NULL && !required) {
        return;
    }
    if (sl_json_type(rules) != SL_JSON_LIST || sl_json_len(rules) == 0) {
        complain(c, key, rules == NULL ? "is required" : "must be a list of rules");
        return;
    }
    for (size_t i = 0; i < sl_json_len(rules); i++) {
        size_t len = down(c, key, i);
        check_rule(c, sl_json_at(rules, i));
        up(c, len);
    }
}

static void check_endings(struct check *c, const struct sl_json *doc)
{
    const struct sl_json *endings = sl_json_get(doc, "finished");
    if (endings != NULL && sl_json_type(endings) != SL_JSON_LIST) {
        complain(c, "finished", "must be a list");
    }
    for (size_t i = 0; i < sl_json_len(endings); i++) {
        size_t len = down(c, "finished", i);
        const struct sl_json *ending = sl_json_at(endings, i);
        check_keys(c, ending, " when success message text ");
        check_rules(c, ending, "when", true);
        check_type(c, ending, "success", SL_JSON_BOOL, "true or false");
        check_path(c, ending, "message", false);
        check_text(c, ending, "text", false);
        up(c, len);
    }
}

/* --- pod sets ------------------------------------------------------------------------------------------ */

static void check_each(struct check *c, const struct sl_json *set)
{
    const struct sl_json *each = sl_json_get(set, "each");
    if (sl_json_type(each) == SL_JSON_LIST) {
        if (sl_json_len(each) != 2 || !is_path(sl_json_at(each, 0)) ||
            !is_path(sl_json_at(each, 1))) {
            complain(c, "each", "must be a path, or two: of a list, and of one inside its items");
        }
    } else {
        check_path(c, set, "each", false);
    }
}

static void check_template(struct check *c, const struct sl_json *set)
{
    const struct sl_json *template = sl_json_get(set, "template");
    check_type(c, set, "default", SL_JSON_MAP, "a pod template");
    if (sl_json_type(template) == SL_JSON_MAP) {
        size_t len = down(c, "template", SIZE_MAX);
        check_keys(c, template, " in at ");
        check_path(c, template, "in", false);
        check_path(c, template, "at", true);
        up(c, len);
    } else {
        check_path(c, set, "template", !sl_json_has(set, "default"));
    }
}

static void check_inject(struct check *c, const struct sl_json *set)
{
    const struct sl_json *inject = sl_json_get(set, "inject");
    if (inject == NULL) {
        if (!sl_json_has(set, "template")) {
            complain(c, "inject", "is required where there is no template to inject into");
        }
        return;
    }
    size_t len = down(c, "inject", SIZE_MAX);
    check_keys(c, inject, " list key item ");
    check_path(c, inject, "list", true);
    check_text(c, inject, "key", false);
    check_type(c, inject, "item", SL_JSON_MAP, "a map");
    if (!sl_json_has(inject, "item")) {
        complain(c, "item", "is required");
    }
    up(c, len);
}

static void check_parts(struct check *c, const struct sl_json *set)
{
    const struct sl_json *sub = sl_json_get(set, "subGroups");
    const struct sl_json *reclaim = sl_json_get(set, "reclaimable");
    if (sub != NULL) {
        size_t len = down(c, "subGroups", SIZE_MAX);
        check_keys(c, sub, " label count ");
        check_text(c, sub, "label", true);
        check_number(c, sl_json_get(sub, "count"), "count", DEPTH_MAX);
        up(c, len);
    }
    if (reclaim != NULL) {
        size_t len = down(c, "reclaimable", SIZE_MAX);
        check_keys(c, reclaim, " list key of times ");
        check_path(c, reclaim, "list", true);
        check_path(c, reclaim, "of", true);
        check_text(c, reclaim, "key", false);
        check_number(c, sl_json_get(reclaim, "times"), "times", DEPTH_MAX);
        up(c, len);
    }
}

static void check_pod_set(struct check *c, const struct sl_json *set)
{
    check_keys(
        c, set,
        " name nameFrom each when optional template default count indexLabel subGroups inject "
        "reclaimable ");
    check_text(c, set, "name", !sl_json_has(set, "nameFrom"));
    check_path(c, set, "nameFrom", false);
    check_each(c, set);
    check_rules(c, set, "when", false);
    check_type(c, set, "optional", SL_JSON_BOOL, "true or false");
    check_template(c, set);
    check_inject(c, set);
    check_text(c, set, "indexLabel", false);
    check_parts(c, set);
    if (sl_json_has(set, "count")) {
        check_number(c, sl_json_get(set, "count"), "count", DEPTH_MAX);
    }
}

static void check_pod_sets(struct check *c, const struct sl_json *doc)
{
    const struct sl_json *sets = sl_json_get(doc, "podSets");
    if (sl_json_type(sets) != SL_JSON_LIST || sl_json_len(sets) == 0 ||
        sl_json_len(sets) > SL_POD_SETS_MAX) {
        complain(c, "podSets", sets == NULL ? "is required" : "must be a list of 1 to %u pod sets",
                 SL_POD_SETS_MAX);
        return;
    }
    for (size_t i = 0; i < sl_json_len(sets); i++) {
        size_t len = down(c, "podSets", i);
        check_pod_set(c, sl_json_at(sets, i));
        up(c, len);
    }
}

/* --- the whole ----------------------------------------------------------------------------------------- */

static void check_suspend(struct check *c, const struct sl_json *doc)
{
    const struct sl_json *suspend = sl_json_get(doc, "suspend");
    if (sl_json_type(suspend) != SL_JSON_MAP) {
        check_path(c, doc, "suspend", true);
        return;
    }
    size_t len = down(c, "suspend", SIZE_MAX);
    check_keys(c, suspend, " zero keep ");
    check_path(c, suspend, "zero", true);
    check_text(c, suspend, "keep", true);
    up(c, len);
}

static void check_classes(struct check *c, const struct sl_json *doc)
{
    const struct sl_json *paths = sl_json_get(doc, "priorityClass");
    check_type(c, doc, "priorityClass", SL_JSON_LIST, "a list of paths");
    for (size_t i = 0; i < sl_json_len(paths); i++) {
        if (!is_path(sl_json_at(paths, i))) {
            complain(c, "priorityClass", "must be a list of paths");
        }
    }
}

static void check_makes(struct check *c, const struct sl_json *doc)
{
    const struct sl_json *kinds = sl_json_get(doc, "makes");
    check_type(c, doc, "makes", SL_JSON_LIST, "a list of kinds");
    for (size_t i = 0; i < sl_json_len(kinds); i++) {
        const char *kind = sl_json_text(sl_json_at(kinds, i), "");
        const char *slash = strchr(kind, '/');
        bool good = strcmp(kind, "*") == 0 || (slash != NULL && slash != kind && slash[1] != '\0' &&
                                               strchr(slash + 1, '/') == NULL);
        if (!good) {
            complain(c, "makes",
                     "must be kinds like batch/Job (their group, not their version), "
                     "or \"*\" for all");
        }
    }
}

static void check_refusals(struct check *c, const struct sl_json *doc)
{
    const struct sl_json *refusals = sl_json_get(doc, "refuse");
    check_type(c, doc, "refuse", SL_JSON_LIST, "a list");
    for (size_t i = 0; i < sl_json_len(refusals); i++) {
        size_t len = down(c, "refuse", i);
        const struct sl_json *refusal = sl_json_at(refusals, i);
        check_keys(c, refusal, " when field text ");
        check_rules(c, refusal, "when", true);
        check_path(c, refusal, "field", true);
        check_text(c, refusal, "text", true);
        up(c, len);
    }
}

enum sl_code sl_adapter_check(const char *file, const struct sl_json *doc, struct sl_error *e)
{
    struct check c = {.file = file, .e = e};
    check_keys(&c, doc,
               " apiVersion kind plural shortName framework makes skip refuse suspend podSets "
               "priorityClass "
               "ready active finished ");
    check_text(&c, doc, "apiVersion", true);
    check_text(&c, doc, "kind", true);
    check_text(&c, doc, "plural", true);
    check_text(&c, doc, "shortName", false);
    check_text(&c, doc, "framework", false);
    check_makes(&c, doc);
    check_rules(&c, doc, "skip", false);
    check_refusals(&c, doc);
    check_suspend(&c, doc);
    check_pod_sets(&c, doc);
    check_classes(&c, doc);
    check_rules(&c, doc, "ready", true);
    check_rules(&c, doc, "active", true);
    check_endings(&c, doc);
    return c.bad ? SL_CODE_INVALID : SL_CODE_OK;
}
