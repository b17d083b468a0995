/* SPDX-License-Identifier: Apache-2.0
 * SPDX-FileCopyrightText: The Sluice authors */

/* A document without complaints becomes the engine's settings. What is absent keeps its default. */
#include "api/objects/quantity.h"
#include "base/check.h"
#include "base/mem.h"
#include "cli/config/config_table.h"
#include "controllers/work/duration.h"
#include <string.h>

#define MS_PER_S 1000
#define LEASE_NAME "c1f6bfd2.kueue.x-k8s.io"
#define LEASE_MS 15000
#define RENEW_MS 10000
#define RETRY_MS 2000

static int64_t duration_at(const struct sl_json *v, const char *path, int64_t preset_ms)
{
    const char *text = sl_json_path_text(v, path, NULL);
    int64_t ms = preset_ms;
    if (text != NULL) {
        SL_ASSERT(sl_duration_parse(text, &ms, NULL) == SL_CODE_OK);
    }
    return ms;
}

static __int128 nano_of(const struct sl_json *v)
{
    struct sl_quantity q;
    SL_ASSERT(sl_quantity_read(v, &q, NULL) == SL_CODE_OK);
    return q.nano;
}

/* A timeout of zero means the default, as in Kueue; a recovery timeout of zero means none. */
static void fill_readiness(struct sl_config *c)
{
    struct sl_engine_settings *s = &c->settings;
    const struct sl_json *v = sl_json_get(c->document, "waitForPodsReady");
    const struct sl_json *again = sl_json_get(v, "requeuingStrategy");
    int64_t timeout_ms = duration_at(v, "timeout", 0);
    s->ready_ms_max = timeout_ms > 0 ? timeout_ms : s->ready_ms_max;
    s->recovery_ms_max = duration_at(v, "recoveryTimeout", s->ready_ms_max);
    s->policy.block_until_ready =
        s->wait_for_pods_ready && sl_json_path_bool(v, "blockAdmission", false);
    s->policy.requeue_at_eviction =
        strcmp(sl_json_path_text(again, "timestamp", "Eviction"), "Creation") != 0;
    s->limit_requeues = sl_json_get(again, "backoffLimitCount") != NULL;
    s->requeues_max = (uint32_t)sl_json_path_int(again, "backoffLimitCount", 0);
    s->backoff_base_ms =
        sl_json_path_int(again, "backoffBaseSeconds", s->backoff_base_ms / MS_PER_S) * MS_PER_S;
    s->backoff_ms_max =
        sl_json_path_int(again, "backoffMaxSeconds", s->backoff_ms_max / MS_PER_S) * MS_PER_S;
}

static void fill_fair_sharing(struct sl_config *c)
{
    struct sl_settings *s = &c->settings.policy;
    const struct sl_json *v = sl_json_get(c->document, "fairSharing");
    const struct sl_json *rules = sl_json_get(v, "preemptionStrategies");
    s->fair_sharing = v != NULL;
    for (size_t i = 0; i < sl_json_len(rules) && i < 2; i++) {
        bool initial = strcmp(sl_json_text(sl_json_at(rules, i), ""), "LessThanInitialShare") == 0;
        s->share_rules[i] = initial ? SL_SHARE_INITIAL : SL_SHARE_FINAL;
        s->share_rule_count = (uint32_t)i + 1;
    }
}

static void fill_usage(struct sl_config *c)
{
    struct sl_engine_settings *s = &c->settings;
    const struct sl_json *v = sl_json_get(c->document, "admissionFairSharing");
    const struct sl_json *weights = sl_json_get(v, "resourceWeights");
    int64_t sampling_ms = duration_at(v, "usageSamplingInterval", 0);
    s->policy.admission_fair_sharing = v != NULL && c->admission_fair_sharing;
    s->usage_half_life_ms = duration_at(v, "usageHalfLifeTime", 0);
    s->usage_sampling_ms = sampling_ms > 0 ? sampling_ms : s->usage_sampling_ms;
    c->weight_resources = sl_mem_new(sl_json_len(weights) + 1, sizeof *c->weight_resources);
    c->weights_nano = sl_mem_new(sl_json_len(weights) + 1, sizeof *c->weights_nano);
    void *it = NULL;
    const char *resource;
    struct sl_json *weight;
    while (sl_json_next(weights, &it, &resource, &weight)) {
        if (weight != NULL) {
            c->weight_resources[s->usage_weight_count] = resource;
            c->weights_nano[s->usage_weight_count++] = (int64_t)nano_of(weight);
        }
    }
    s->usage_weight_resources = c->weight_resources;
    s->usage_weights_nano = c->weights_nano;
}

static void fill_prefixes(struct sl_config *c)
{
    const struct sl_json *list = sl_json_path(c->document, "resources.excludeResourcePrefixes");
    c->prefixes = sl_mem_new(sl_json_len(list) + 1, sizeof *c->prefixes);
    for (size_t i = 0; i < sl_json_len(list); i++) {
        const char *prefix = sl_json_text(sl_json_at(list, i), NULL);
        if (prefix != NULL) {
            c->prefixes[c->settings.excluded_prefix_count++] = prefix;
        }
    }
    c->settings.excluded_prefixes = c->prefixes;
}

/* Outputs of all transformations are stored one after the other; returns their number. */
static size_t fill_outputs(struct sl_transformation_output *at, const struct sl_json *outputs)
{
    void *it = NULL;
    const char *resource;
    struct sl_json *amount;
    size_t count = 0;
    while (sl_json_next(outputs, &it, &resource, &amount)) {
        struct sl_quantity q;
        if (amount != NULL && sl_quantity_read(amount, &q, NULL) == SL_CODE_OK) {
            at[count++] = (struct sl_transformation_output){.resource = resource,
                                                            .value_milli = sl_quantity_milli(q)};
        }
    }
    return count;
}

static void fill_transformations(struct sl_config *c)
{
    const struct sl_json *list = sl_json_path(c->document, "resources.transformations");
    size_t outputs_max = 0;
    for (size_t i = 0; i < sl_json_len(list); i++) {
        outputs_max += sl_json_len(sl_json_get(sl_json_at(list, i), "outputs"));
    }
    c->transformations = sl_mem_new(sl_json_len(list) + 1, sizeof *c->transformations);
    c->outputs = sl_mem_new(outputs_max + 1, sizeof *c->outputs);
    struct sl_transformation_output *outputs = c->outputs;
    for (size_t i = 0; i < sl_json_len(list); i++) {
        const struct sl_json *v = sl_json_at(list, i);
        const char *multiply_by = sl_json_path_text(v, "multiplyBy", "");
        if (v == NULL) {
            continue;
        }
        struct sl_transformation *t = &c->transformations[c->settings.transformation_count++];
        *t = (struct sl_transformation){
            .input = sl_json_path_text(v, "input", ""),
            .retain = strcmp(sl_json_path_text(v, "strategy", "Retain"), "Replace") != 0,
            .multiply_by = *multiply_by == '\0' ? NULL : multiply_by,
            .output_count = fill_outputs(outputs, sl_json_get(v, "outputs")),
            .outputs = outputs};
        outputs += t->output_count;
    }
    c->settings.transformations = c->transformations;
}

/* A duration of zero means the default, as in Kueue. */
static int64_t duration_or(const struct sl_json *v, const char *path, int64_t preset_ms)
{
    int64_t ms = duration_at(v, path, 0);
    return ms > 0 ? ms : preset_ms;
}

static void fill_cluster(struct sl_config *c)
{
    struct sl_config_cluster *k = &c->cluster;
    const struct sl_json *v = c->document;
    const struct sl_json *elect = sl_json_path(v, "leaderElection.leaderElect");
    const struct sl_json *qps = sl_json_path(v, "clientConnection.qps");
    int64_t burst = sl_json_path_int(v, "clientConnection.burst", 0);
    k->elect_given = elect != NULL;
    k->elect = sl_json_bool(elect, false);
    k->lease_ms = duration_or(v, "leaderElection.leaseDuration", LEASE_MS);
    k->renew_ms = duration_or(v, "leaderElection.renewDeadline", RENEW_MS);
    k->retry_ms = duration_or(v, "leaderElection.retryPeriod", RETRY_MS);
    k->lease_name = sl_json_path_text(v, "leaderElection.resourceName", LEASE_NAME);
    k->lease_namespace = sl_json_path_text(v, "leaderElection.resourceNamespace",
                                           sl_json_path_text(v, "namespace", NULL));
    k->qps = qps == NULL ? 0 : (double)nano_of(qps) / 1e9;
    k->qps = k->qps > 0 ? k->qps : 0;
    k->burst = burst > 0 ? (unsigned)burst : 0;
    k->metrics_address = sl_json_path_text(v, "metrics.bindAddress", NULL);
    k->visibility_address = sl_json_path_text(v, "visibilityServer.bindAddress", NULL);
    k->visibility_port = (unsigned)sl_json_path_int(v, "visibilityServer.bindPort", 0);
    k->health_address = sl_json_path_text(v, "health.healthProbeBindAddress", NULL);
    k->readiness_name = sl_json_path_text(v, "health.readinessEndpointName", "readyz");
    k->liveness_name = sl_json_path_text(v, "health.livenessEndpointName", "healthz");
}

/* All have metrics if it does not say; where it says something, it has to say so. */
static void fill_metered(struct sl_config *c)
{
    const struct sl_json *v = sl_json_path(c->document, "metrics.localQueueMetrics");
    c->metered.on = c->metered.on && (v == NULL || sl_json_path_bool(v, "enable", false));
    c->metered.selector = c->metered_queues;
}

void sl_config_fill(struct sl_config *c)
{
    struct sl_engine_settings *s = &c->settings;
    s->wait_for_pods_ready = s->wait_for_pods_ready && !c->wait_for_pods_ready_off;
    fill_cluster(c);
    fill_metered(c);
    fill_readiness(c);
    fill_fair_sharing(c);
    fill_usage(c);
    fill_prefixes(c);
    fill_transformations(c);
    s->policy.ignore_undeclared =
        c->quota_check_strategy &&
        strcmp(sl_json_path_text(c->document, "resources.quotaCheckStrategy", ""),
               "IgnoreUndeclared") == 0;
    const struct sl_json *kept = sl_json_path(c->document, "objectRetentionPolicies.workloads");
    s->retain_finished_ms = duration_at(kept, "afterFinished", -1);
    s->retain_deactivated_ms = duration_at(kept, "afterDeactivatedByKueue", -1);
}
