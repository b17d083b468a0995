/* SPDX-License-Identifier: Apache-2.0
 * SPDX-FileCopyrightText: The Sluice authors */

/* Rules of Topology, AdmissionCheck, Node and Pod that tables cannot say. */
#include <string.h>

#include "api/validate/validate.h"
#include "base/check.h"

#define LEVELS_MAX 8u /* more are too many, as the table says */
#define HOSTNAME "kubernetes.io/hostname"

static const char *level_at(const struct sl_json *levels, size_t i)
{
    return sl_json_path_text(sl_json_at(levels, i), "nodeLabel", "");
}

/* Nodes have one host name each, so nothing can be below that level, and workloads placed on hosts
 * stay valid whatever the levels above are called. */
static bool ends_at_hosts(const struct sl_json *levels)
{
    size_t count = sl_json_len(levels);
    return count > 0 && strcmp(level_at(levels, count - 1), HOSTNAME) == 0;
}

static void check_level(struct sl_check *c, const struct sl_json *levels, size_t i)
{
    const char *label = level_at(levels, i);
    size_t before = 0;
    while (before < i && strcmp(level_at(levels, before), label) != 0) {
        before++;
    }
    size_t up = sl_check_down(c, "[%zu].nodeLabel", i);
    if (label[0] != '\0' && before < i) {
        sl_check_duplicate(c, label);
    }
    if (strcmp(label, HOSTNAME) == 0 && i + 1 < sl_json_len(levels)) {
        sl_check_invalid(c, sl_json_get(sl_json_at(levels, i), "nodeLabel"),
                         "the kubernetes.io/hostname label can only be used at the lowest level "
                         "of topology");
    }
    sl_check_up(c, up);
}

void sl_check_topology(struct sl_check *c)
{
    SL_PRE(c != NULL);
    const struct sl_json *levels = sl_json_path(c->object, "spec.levels");
    const struct sl_json *old = sl_json_path(c->old, "spec.levels");
    size_t up = sl_check_down(c, "spec.levels");
    for (size_t i = 0; i < sl_json_len(levels) && i < LEVELS_MAX; i++) {
        check_level(c, levels, i);
    }
    if (old != NULL && !sl_json_equal(levels, old) &&
        !(ends_at_hosts(levels) && ends_at_hosts(old))) {
        sl_check_invalid(c, levels,
                         "levels are mutable only when kubernetes.io/hostname is the lowest level "
                         "both before and after the change");
    }
    sl_check_up(c, up);
}

/* As Kueue's pattern of kinds: a DNS label in any case that begins with a letter. */
static bool is_kind(const char *text)
{
    static const char letters[] = "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ";
    size_t len = strlen(text);
    return len > 0 && strchr(letters, text[0]) != NULL && text[len - 1] != '-' &&
           strspn(text, "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789-") == len;
}

void sl_check_admission_check(struct sl_check *c)
{
    SL_PRE(c != NULL);
    const struct sl_json *kind = sl_json_path(c->object, "spec.parameters.kind");
    size_t up = sl_check_down(c, "spec.parameters.kind");
    if (sl_json_text(kind, "")[0] != '\0' && !is_kind(sl_json_text(kind, ""))) {
        sl_check_invalid(c, kind, "must be letters, digits and '-', beginning with a letter");
    }
    sl_check_up(c, up);
}

void sl_check_node(struct sl_check *c)
{
    SL_PRE(c != NULL);
    const struct sl_json *taints = sl_json_path(c->object, "spec.taints");
    sl_check_unique_taints(c, "spec.taints", taints);
}

/* Placement relies on it: gates only ever open, and a pod stays on the node that it was given. */
static void check_gates(struct sl_check *c)
{
    const struct sl_json *gates = sl_json_path(c->object, "spec.schedulingGates");
    const struct sl_json *old = sl_json_path(c->old, "spec.schedulingGates");
    for (size_t i = 0; c->old != NULL && i < sl_json_len(gates); i++) {
        const char *name = sl_json_path_text(sl_json_at(gates, i), "name", "");
        if (sl_json_find_by(old, "name", name) == NULL) {
            size_t up = sl_check_down(c, "spec.schedulingGates[%zu]", i);
            sl_check_forbidden(c, "only deletion is allowed");
            sl_check_up(c, up);
        }
    }
}

void sl_check_pod(struct sl_check *c)
{
    SL_PRE(c != NULL);
    const struct sl_json *node = sl_json_path(c->object, "spec.nodeName");
    const char *old = sl_json_path_text(c->old, "spec.nodeName", "");
    size_t up = sl_check_down(c, "spec.nodeName");
    if (old[0] != '\0') {
        sl_check_immutable(c, node, sl_json_path(c->old, "spec.nodeName"));
    } else if (sl_json_text(node, "")[0] != '\0' &&
               sl_json_len(sl_json_path(c->object, "spec.schedulingGates")) > 0) {
        sl_check_forbidden(c, "cannot be set until all schedulingGates have been cleared");
    }
    sl_check_up(c, up);
    check_gates(c);
    sl_check_pod_marks(c);
}
