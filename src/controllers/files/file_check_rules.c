/* SPDX-License-Identifier: Apache-2.0
 * SPDX-FileCopyrightText: The Sluice authors */

/* Do the numbers and rules of an adapter file make sense? */
#include "controllers/files/file_complain.h"

#define DEPTH_MAX 8u

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
        sl_check_keys(c, rule, " path in default present filled not ");
        sl_check_path(c, rule, "path", true);
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
    } else if (sl_json_has(rule, "count")) {
        sl_check_keys(c, rule, " count in atLeast not ");
        sl_check_path(c, rule, "count", true);
        sl_check_type_of(c, rule, "in", SL_JSON_LIST, "a list of values");
        if (!sl_json_has(rule, "in")) {
            sl_complain(c, "in", "is required");
        }
        check_number(c, sl_json_get(rule, "atLeast"), "atLeast", DEPTH_MAX);
    } else {
        sl_complain(c, "", "must be a map with condition, path, sum, count or some");
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

void sl_check_number(struct sl_complaint *c, const struct sl_json *number, const char *key)
{
    check_number(c, number, key, DEPTH_MAX);
}
