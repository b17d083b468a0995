/* SPDX-License-Identifier: Apache-2.0
 * SPDX-FileCopyrightText: The Sluice authors */

/* A case's gates and config as the engine's settings. */
#include "api/objects/quantity.h"
#include "base/mem.h"
#include "conformance.h"
#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define GATE(name, member)                                                                         \
    {                                                                                              \
        name, offsetof(struct sl_engine_settings, member)                                          \
    }
/* Gates that change what Sluice decides. */
static const struct {
    const char *name;
    size_t offset;
} gates[] = {
    GATE("PartialAdmission", policy.partial_admission),
    GATE("FlavorFungibility", policy.flavor_fungibility),
    GATE("PrioritySortingWithinCohort", policy.priority_sorting_within_cohort),
    GATE("FairSharingPreemptWithinNominal", policy.preempt_within_nominal),
    GATE("FairSharingPrioritizeNonBorrowing", policy.prioritize_non_borrowing),
    GATE("SchedulingEquivalenceHashing", policy.equivalence_hashing),
    GATE("FlavorFungibilityPreserveScanProgress", policy.preserve_scan_progress),
    GATE("RecomputeAssignmentUponPreemptionTargetsOverlap", policy.recompute_on_overlap),
    GATE("PrioritizePreemptorWorkloads", policy.prioritize_preemptors),
    GATE("ReclaimablePods", policy.reclaimable_pods),
    GATE("TopologyAwareScheduling", policy.topology),
    GATE("TASBalancedPlacement", policy.balanced_placement),
    GATE("TASMultiLayerTopology", policy.multi_layer),
    GATE("TASProfileMixed", policy.profile_mixed),
    GATE("TASRespectNodeAffinityPreferred", policy.prefer_affinity),
    GATE("TASHandleOverlappingFlavors", policy.overlapping_flavors),
    GATE("TASRecomputeAssignmentWithinSchedulingCycle", policy.recompute_placement),
    GATE("TASFailedNodeReplacement", policy.replace_failed),
    GATE("TASFailedNodeReplacementFailFast", policy.fail_fast),
    GATE("SkipReassignmentForPodOwnedWorkloads", policy.skip_single_pod),
    GATE("ElasticJobsViaWorkloadSlicesWithTAS", policy.place_slices),
    GATE("UnadmittedWorkloadsObservability", granular_reasons),
    GATE("ElasticJobsViaWorkloadSlices", elastic_jobs),
    GATE("MultiKueueOrchestratedPreemption", preemption_gates),
    GATE("ConcurrentAdmission", concurrent_admission),
};

static bool *member(struct sl_engine_settings *s, size_t offset)
{
    return (bool *)(void *)((char *)s + offset);
}

static void read_gates(struct sl_engine_settings *s, const struct sl_json *values)
{
    for (size_t i = 0; i < sizeof gates / sizeof gates[0]; i++) {
        bool *field = member(s, gates[i].offset);
        *field = sl_json_bool(sl_json_get(values, gates[i].name), *field);
    }
}

static void read_fair_sharing(struct sl_settings *s, const struct sl_json *config)
{
    const struct sl_json *rules = sl_json_path(config, "fairSharing.preemptionStrategies");
    size_t count = sl_json_len(rules);
    s->fair_sharing = sl_json_path_bool(config, "fairSharing.enable", false);
    if (count == 1 || count == 2) {
        s->share_rule_count = (uint32_t)count;
        for (size_t i = 0; i < count; i++) {
            bool first =
                strcmp(sl_json_text(sl_json_at(rules, i), ""), "LessThanInitialShare") == 0;
            s->share_rules[i] = first ? SL_SHARE_INITIAL : SL_SHARE_FINAL;
        }
    }
}

/* Go durations as the corpus has them: "5m", "10m0s", "1h", "0s". */
static int64_t duration_ms(const char *text)
{
    int64_t total = 0;
    while (*text != '\0') {
        char *end = NULL;
        long long n = strtoll(text, &end, 10);
        bool milli = strncmp(end, "ms", 2) == 0;
        int64_t unit = milli ? 1 : *end == 'h' ? 3600000 : *end == 'm' ? 60000 : 1000;
        if (end == text || *end == '\0') {
            return total;
        }
        total += n * unit;
        text = end + (milli ? 2 : 1);
    }
    return total;
}

static int64_t nano_of(const struct sl_json *v)
{
    struct sl_quantity q = {0};
    struct sl_error e = {0};
    if (sl_quantity_read(v, &q, &e) != SL_CODE_OK) {
        return 0;
    }
    return (int64_t)q.nano;
}

static void read_usage_based(struct sl_engine_settings *s, const struct sl_json *config,
                             const struct sl_json *values)
{
    const struct sl_json *afs = sl_json_get(config, "admissionFairSharing");
    const struct sl_json *weights = sl_json_get(afs, "resourceWeights");
    s->policy.admission_fair_sharing =
        afs != NULL && sl_json_bool(sl_json_get(values, "AdmissionFairSharing"), true);
    s->usage_half_life_ms = duration_ms(sl_json_path_text(afs, "usageHalfLifeTime", ""));
    s->usage_sampling_ms = duration_ms(sl_json_path_text(afs, "usageSamplingInterval", ""));
    size_t count = sl_json_len(weights);
    if (count == 0) {
        return;
    }
    const char **names = sl_mem_new(count, sizeof *names);
    int64_t *nanos = sl_mem_new(count, sizeof *nanos);
    void *it = NULL;
    struct sl_json *value;
    for (size_t i = 0; i < count && sl_json_next(weights, &it, &names[i], &value); i++) {
        nanos[i] = nano_of(value);
    }
    s->usage_weight_count = count;
    s->usage_weight_resources = names;
    s->usage_weights_nano = nanos;
}

static void read_outputs(struct sl_transformation *t, const struct sl_json *outputs)
{
    t->output_count = sl_json_len(outputs);
    struct sl_transformation_output *list = sl_mem_new(t->output_count + 1, sizeof *list);
    void *it = NULL;
    const char *name;
    struct sl_json *value;
    for (size_t i = 0; sl_json_next(outputs, &it, &name, &value); i++) {
        list[i] = (struct sl_transformation_output){name, nano_of(value) / 1000000};
    }
    t->outputs = list;
}

static void read_transformations(struct sl_engine_settings *s, const struct sl_json *config)
{
    const struct sl_json *list = sl_json_get(config, "resourceTransformations");
    s->transformation_count = sl_json_len(list);
    struct sl_transformation *all = sl_mem_new(s->transformation_count + 1, sizeof *all);
    for (size_t i = 0; i < s->transformation_count; i++) {
        const struct sl_json *item = sl_json_at(list, i);
        all[i].input = sl_json_path_text(item, "input", "");
        all[i].retain = strcmp(sl_json_path_text(item, "strategy", "Retain"), "Replace") != 0;
        all[i].multiply_by = sl_json_path_text(item, "multiplyBy", NULL);
        read_outputs(&all[i], sl_json_get(item, "outputs"));
    }
    s->transformations = all;
}

struct sl_engine_settings conf_settings(const struct conf_case *c)
{
    struct sl_engine_settings s = sl_engine_settings_default();
    const struct sl_json *config = sl_json_get(c->root, "config");
    s.wait_for_pods_ready = false; /* not configured in any case */
    read_gates(&s, c->gates);
    read_fair_sharing(&s.policy, config);
    read_usage_based(&s, config, c->gates);
    read_transformations(&s, config);
    s.policy.requeue_at_eviction =
        strcmp(sl_json_path_text(c->input, "podsReadyRequeuingTimestamp", "Eviction"),
               "Eviction") == 0;
    return s;
}

void conf_check_defaults(const struct sl_json *recorded)
{
    struct sl_engine_settings s = sl_engine_settings_default();
    for (size_t i = 0; i < sizeof gates / sizeof gates[0]; i++) {
        if (!sl_json_has(recorded, gates[i].name)) {
            conf_differ(gates[i].name, "a known gate", "one that is not recorded");
        }
        conf_expect_bool(gates[i].name, sl_json_bool(sl_json_get(recorded, gates[i].name), false),
                         *member(&s, gates[i].offset));
    }
}
