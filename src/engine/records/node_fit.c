/* SPDX-License-Identifier: Apache-2.0
 * SPDX-FileCopyrightText: The Sluice authors */

/* Node affinity on a whole node, unlike pod.c, which looks at a flavor's labels only. */
#include "engine/records/node_fit.h"
#include "base/check.h"
#include "engine/records/pod.h"
#include <string.h>

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
        if (!sl_pod_expression_holds(e, sl_json_text(label, NULL))) {
            return false;
        }
    }
    for (size_t i = 0; i < sl_json_len(fields); i++) { /* metadata.name is the only one */
        const struct sl_json *e = sl_json_at(fields, i);
        bool is_name = strcmp(sl_json_path_text(e, "key", ""), "metadata.name") == 0;
        if (!sl_pod_expression_holds(e, is_name ? node->name : NULL)) {
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
