/* SPDX-License-Identifier: Apache-2.0
 * SPDX-FileCopyrightText: The Sluice authors */

/* By an annotation, and by a condition of the controller of groups of pods. */
#include "engine/events/gates.h"
#include "base/check.h"
#include "base/utf8.h"
#include "engine/conditions/words.h"
#include <string.h>

#define ANNOTATION "kueue.x-k8s.io/admission-gated-by"

const char *sl_gate_of(const struct sl_engine *g, const struct sl_json *workload)
{
    SL_PRE(g != NULL);
    const char *gate = g->settings.heed_gates ? sl_object_annotation(workload, ANNOTATION) : NULL;
    bool lacks = sl_condition_true(workload, "WaitingForReplacementPods");
    return gate != NULL && gate[0] != '\0' ? gate : lacks ? "missing pods of its group" : NULL;
}

bool sl_gate_is_shown(const struct sl_json *workload)
{
    const struct sl_json *c = sl_condition_find(workload, "QuotaReserved");
    return strcmp(sl_json_path_text(c, "reason", ""), "AdmissionGated") == 0 &&
           !sl_condition_true(workload,
                              "BlockedOnPreemptionGates"); /* which is said of other gates */
}

void sl_gate_say(struct sl_engine *g, sl_workload_id id, const char *gate)
{
    SL_PRE(g != NULL && gate != NULL);
    char text[512];
    sl_utf8_print(text, sizeof text, "Admission is gated by: %s", gate);
    sl_words_say_waiting(&g->workloads[id].words, SL_PENDING_GATED, text);
}
