/* SPDX-License-Identifier: Apache-2.0
 * SPDX-FileCopyrightText: The Sluice authors */

/* Selectors of labels: each complaint is about the key, the operator or the values of one condition. */
#include <string.h>

#include "api/objects/format.h"
#include "api/validate/validate.h"
#include "base/check.h"

static void check_format(struct sl_check *c, enum sl_pattern pattern, const struct sl_json *value)
{
    const char *problem = sl_format_check(pattern, sl_json_text(value, ""));
    if (problem != NULL) {
        sl_check_invalid(c, value, "%s", problem);
    }
}

static void check_labels(struct sl_check *c, const struct sl_json *labels)
{
    for (struct sl_json_member m = {0}; sl_json_each(labels, &m);) {
        size_t up = sl_check_down(c, ".matchLabels[%s]", m.key);
        struct sl_json *key = sl_json_new_text(m.key);
        check_format(c, SL_PATTERN_LABEL_KEY, key);
        check_format(c, SL_PATTERN_LABEL_VALUE, m.value);
        sl_json_free(key);
        sl_check_up(c, up);
    }
}

/* In and NotIn compare with values, the others ask whether the label is there. */
static void check_operator(struct sl_check *c, const struct sl_json *term)
{
    const struct sl_json *operator= sl_json_get(term, "operator");
    const char *text = sl_json_text(operator, "");
    const struct sl_json *values = sl_json_get(term, "values");
    bool compares = strcmp(text, "In") == 0 || strcmp(text, "NotIn") == 0;
    bool asks = strcmp(text, "Exists") == 0 || strcmp(text, "DoesNotExist") == 0;
    size_t up = sl_check_down(c, compares || asks ? ".values" : ".operator");
    if (!compares && !asks) {
        sl_check_invalid(c, operator, "not a valid selector operator");
    } else if (compares && sl_json_len(values) == 0) {
        sl_check_required(c, "must be specified when `operator` is 'In' or 'NotIn'");
    } else if (asks && sl_json_len(values) > 0) {
        sl_check_forbidden(c, "may not be specified when `operator` is 'Exists' or 'DoesNotExist'");
    }
    sl_check_up(c, up);
}

static void check_term(struct sl_check *c, const struct sl_json *term)
{
    const struct sl_json *values = sl_json_get(term, "values");
    check_operator(c, term);
    size_t up = sl_check_down(c, ".key");
    check_format(c, SL_PATTERN_LABEL_KEY, sl_json_get(term, "key"));
    sl_check_up(c, up);
    for (size_t i = 0; i < sl_json_len(values); i++) {
        up = sl_check_down(c, ".values[%zu]", i);
        check_format(c, SL_PATTERN_LABEL_VALUE, sl_json_at(values, i));
        sl_check_up(c, up);
    }
}

void sl_check_selector(struct sl_check *c, const struct sl_json *selector)
{
    SL_PRE(c != NULL);
    struct sl_error e = {0};
    const struct sl_json *terms = sl_json_get(selector, "matchExpressions");
    unsigned before = c->e->cause_count;
    check_labels(c, sl_json_get(selector, "matchLabels"));
    for (size_t i = 0; i < sl_json_len(terms); i++) {
        size_t up = sl_check_down(c, ".matchExpressions[%zu]", i);
        check_term(c, sl_json_at(terms, i));
        sl_check_up(c, up);
    }
    struct sl_selector *parsed = sl_selector_from_json(selector, &e);
    if (parsed == NULL && c->e->cause_count == before) { /* of another shape altogether */
        sl_check_invalid(c, selector, "%.200s", e.text);
    }
    sl_selector_free(parsed);
}
