/* SPDX-License-Identifier: Apache-2.0
 * SPDX-FileCopyrightText: The Sluice authors */

/* Node affinity on a whole node, unlike pod.c, which looks at a flavor's labels only. */
#include "engine/records/node_fit.h"
#include "base/check.h"
#include "engine/records/pod.h"
#include <string.h>

const struct sl_json *sl_node_fit_taint(const struct sl_node_view *node,
                                        const struct sl_json *tolerations,
                                        const struct sl_json *more_tolerations)
{
    SL_PRE(node != NULL);
    for (size_t i = 0; i < sl_json_len(node->taints); i++) {
        const struct sl_json *taint = sl_json_at(node->taints, i);
        const char *effect = sl_json_path_text(taint, "effect", "");
        if ((strcmp(effect, "NoSchedule") == 0 || strcmp(effect, "NoExecute") == 0) &&
            !sl_pod_tolerates(tolerations, taint) && !sl_pod_tolerates(more_tolerations, taint)) {
            return taint;
        }
    }
    return NULL;
}

bool sl_node_fit_selector(const struct sl_node_view *node, const struct sl_json *selector)
{
    void *it = NULL;
    const char *key;
    struct sl_json *value;
    while (sl_json_next(selector, &it, &key, &value)) {
        const char *label = sl_json_text(sl_json_get(node->labels, key), NULL);
        if (label == NULL || strcmp(label, sl_json_text(value, "")) != 0) {
            return false;
        }
    }
    return true;
}

static bool compares(const char *op, const char *label, const struct sl_json *values)
{
    long long have = 0;
    long long bound = 0;
    if (sl_json_len(values) != 1 || !sl_pod_integer(label, &have) ||
        !sl_pod_integer(sl_json_text(sl_json_at(values, 0), ""), &bound)) {
        return false;
    }
    return strcmp(op, "Gt") == 0 ? have > bound : strcmp(op, "Lt") == 0 && have < bound;
}

/* `label` NULL: the node does not have it. */
static bool expression_holds(const struct sl_json *expression, const char *label)
{
    const char *op = sl_json_path_text(expression, "operator", "");
    const struct sl_json *values = sl_json_get(expression, "values");
    if (strcmp(op, "NotIn") == 0) {
        return label == NULL || !sl_json_has_text(values, label);
    }
    if (strcmp(op, "DoesNotExist") == 0) {
        return label == NULL;
    }
    if (label == NULL) {
        return false;
    }
    if (strcmp(op, "In") == 0) {
        return sl_json_has_text(values, label);
    }
    return strcmp(op, "Exists") == 0 || compares(op, label, values);
}

static bool term_holds(const struct sl_node_view *node, const struct sl_json *term)
{
    const struct sl_json *labels = sl_json_get(term, "matchExpressions");
    const struct sl_json *fields = sl_json_get(term, "matchFields");
    if (sl_json_len(labels) == 0 && sl_json_len(fields) == 0) {
        return false;
    }
    for (size_t i = 0; i < sl_json_len(labels); i++) {
        const struct sl_json *e = sl_json_at(labels, i);
        const struct sl_json *label = sl_json_get(node->labels, sl_json_path_text(e, "key", ""));
        if (!expression_holds(e, sl_json_text(label, NULL))) {
            return false;
        }
    }
    for (size_t i = 0; i < sl_json_len(fields); i++) { /* metadata.name is the only one */
        const struct sl_json *e = sl_json_at(fields, i);
        bool is_name = strcmp(sl_json_path_text(e, "key", ""), "metadata.name") == 0;
        if (!expression_holds(e, is_name ? node->name : NULL)) {
            return false;
        }
    }
    return true;
}

bool sl_node_fit_affinity(const struct sl_node_view *node, const struct sl_json *terms)
{
    for (size_t i = 0; i < sl_json_len(terms); i++) {
        if (term_holds(node, sl_json_at(terms, i))) {
            return true;
        }
    }
    return sl_json_len(terms) == 0;
}

int64_t sl_node_fit_score(const struct sl_node_view *node, const struct sl_json *preferred)
{
    int64_t score = 0;
    for (size_t i = 0; i < sl_json_len(preferred); i++) {
        const struct sl_json *term = sl_json_at(preferred, i);
        int64_t weight = sl_json_path_int(term, "weight", 0);
        if (weight > 0 && weight <= 100 && term_holds(node, sl_json_get(term, "preference"))) {
            score += weight;
        }
    }
    return score;
}
