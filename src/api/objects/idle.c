/* SPDX-License-Identifier: Apache-2.0
 * SPDX-FileCopyrightText: The Sluice authors */

/* Fields and annotations that Kueue acts on and Sluice does not, and what keeps a job from being admitted. */
#include "api/objects/schema.h"

#include <string.h>

#define LABEL "kueue.x-k8s.io/"
#define ONLY "only the feature gate " /* what counts only with one */

static const struct sl_idle rows[] = {
#define SL_IDLE(kind, where, member, why) {SL_KIND_##kind, where, member, why, false},
#define SL_IDLE_ALONE(kind, where, member, why) {SL_KIND_##kind, where, member, why, true},
#include "api/objects/idle.def"
#undef SL_IDLE
#undef SL_IDLE_ALONE
};
#define ROW_COUNT (sizeof rows / sizeof rows[0])

bool sl_idle_heeded(const char *sentence, struct sl_idle_modes modes)
{
    const struct {
        const char *gate;
        bool on;
    } gates[] = {{"ElasticJobsViaWorkloadSlices ", modes.elastic},
                 {"ConcurrentAdmission ", modes.concurrent_admission},
                 {"MultiKueueOrchestratedPreemption ", modes.preemption_gates},
                 {"PriorityBoost ", modes.priority_boost},
                 {"FailureRecoveryPolicy ", modes.failure_recovery}};
    const char *name = strstr(sentence, ONLY);
    for (size_t i = 0; name != NULL && i < sizeof gates / sizeof gates[0]; i++) {
        if (strncmp(name + strlen(ONLY), gates[i].gate, strlen(gates[i].gate)) == 0) {
            return gates[i].on;
        }
    }
    return false;
}

/* Do the feature gates let it count? */
static bool is_heeded(enum sl_kind kind, const struct sl_idle *row, struct sl_idle_modes modes)
{
    bool concerns = strcmp(row->member, LABEL "elastic-job") != 0 || sl_kind_is_elastic(kind) ||
                    kind == SL_KIND_WORKLOAD;
    return concerns && sl_idle_heeded(row->why, modes);
}

const struct sl_idle *sl_schema_idle(size_t *count)
{
    *count = ROW_COUNT;
    return rows;
}

/* Does it name a ResourceClaim that is there already, wherever a job describes its pods? */
static bool shares(const struct sl_json *v)
{
    const struct sl_json *claims = sl_json_get(v, "resourceClaims");
    bool found = false;
    for (size_t i = 0; !found && i < sl_json_len(claims); i++) {
        found = sl_json_path_text(sl_json_at(claims, i), "resourceClaimName", "")[0] != '\0';
    }
    for (struct sl_json_member m = {0}; !found && sl_json_each(v, &m);) {
        found = shares(m.value);
    }
    for (size_t i = 0; !found && sl_json_type(v) == SL_JSON_LIST && i < sl_json_len(v); i++) {
        found = shares(sl_json_at(v, i));
    }
    return found;
}

static bool is_job(enum sl_kind kind)
{
    return kind == SL_KIND_JOB || (kind >= SL_KIND_CUSTOM && kind < SL_KIND_DEFINED);
}

static void warn_of_jobs(enum sl_kind kind, const struct sl_json *o, struct sl_json *list)
{
    const char *queue = sl_object_label(o, LABEL "queue-name");
    const char *marked = sl_object_label(o, LABEL "managed");
    const struct sl_json *owner = sl_object_controller_ref(o);
    if ((is_job(kind) || kind == SL_KIND_POD) && queue != NULL && queue[0] != '\0' &&
        shares(sl_json_get(o, "spec"))) {
        sl_json_append(list, sl_json_new_text("spec.resourceClaims: the devices of a ResourceClaim "
                                              "are not counted, only those of a "
                                              "ResourceClaimTemplate: this will not be admitted"));
    }
    if (kind == SL_KIND_POD && marked != NULL && strcmp(marked, "true") == 0 &&
        is_job(sl_kind_find_object(sl_json_path_text(owner, "apiVersion", ""),
                                   sl_json_path_text(owner, "kind", "")))) {
        sl_json_append(list, sl_json_new_text("pod owner is managed by kueue, label "
                                              "'kueue.x-k8s.io/managed=true' might lead to "
                                              "unexpected behaviour"));
    }
}

void sl_object_idle(enum sl_kind kind, const struct sl_json *o, struct sl_idle_modes modes,
                    struct sl_json *list)
{
    for (size_t i = 0; i < ROW_COUNT; i++) {
        const struct sl_idle *row = &rows[i];
        bool concerns = (row->kind == kind || row->kind == SL_KIND_COUNT) &&
                        (modes.simulated || !row->alone) && !is_heeded(kind, row, modes);
        if (concerns && sl_json_get(sl_json_path(o, row->where), row->member) != NULL) {
            struct sl_buf text = {0};
            sl_buf_print(&text, "%s.%s has no effect: %s", row->where, row->member, row->why);
            sl_json_append(list, sl_json_new_text(text.data));
            sl_buf_fini(&text);
        }
    }
    warn_of_jobs(kind, o, list);
}
