/* SPDX-License-Identifier: Apache-2.0
 * SPDX-FileCopyrightText: The Sluice authors */

/* What a failure changes in a Node. */
#include "cli/common/failure.h"
#include <string.h>

static bool is_not_ready_taint(const struct sl_json *taint)
{
    return strcmp(sl_json_path_text(taint, "key", ""), SL_TAINT_NOT_READY) == 0;
}

bool sl_failure_set_taints(struct sl_json *node, bool failed)
{
    static const char *const effects[] = {"NoSchedule", "NoExecute"};
    struct sl_json *taints = sl_json_new_list();
    struct sl_json *spec = sl_json_path_make(node, "spec");
    struct sl_json *before = sl_json_get(spec, "taints");
    for (size_t i = 0; i < sl_json_len(before); i++) {
        if (!is_not_ready_taint(sl_json_at(before, i))) {
            sl_json_append(taints, sl_json_clone(sl_json_at(before, i)));
        }
    }
    for (size_t i = 0; failed && i < 2; i++) {
        struct sl_json *taint = sl_json_new_map();
        sl_json_set_text(taint, "key", SL_TAINT_NOT_READY);
        sl_json_set_text(taint, "effect", effects[i]);
        sl_json_append(taints, taint);
    }
    bool changed = sl_json_len(before) != sl_json_len(taints);
    sl_json_set_filled(spec, "taints", taints);
    return changed;
}

bool sl_failure_set_ready(struct sl_json *node, bool failed, int64_t now_ms)
{
    if (sl_condition_find(node, "Ready") != NULL && sl_condition_true(node, "Ready") == !failed) {
        return false; /* whatever its reason is */
    }
    return sl_condition_set(sl_json_path_make(node, "status"), "Ready", !failed,
                            failed ? "KubeletNotReady" : "KubeletReady",
                            failed ? "sluicectl node fail" : "sluicectl node recover", 0, now_ms);
}

const char *sl_failure_word(const struct sl_json *node)
{
    bool cordoned = sl_json_path_bool(node, "spec.unschedulable", false);
    if (sl_condition_true(node, "Ready")) {
        return cordoned ? "Ready,SchedulingDisabled" : "Ready";
    }
    return cordoned ? "NotReady,SchedulingDisabled" : "NotReady";
}
