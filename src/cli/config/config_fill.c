/* SPDX-License-Identifier: Apache-2.0
 * SPDX-FileCopyrightText: The Sluice authors */

/* Values become settings: those of rows that say where to, one by one as they are read; the rest once there is no
 * complaint. What is absent keeps its default. */
#include "api/objects/quantity.h"
#include "base/check.h"
#include "base/mem.h"
#include "cli/config/config_table.h"
#include "controllers/work/duration.h"
#include <stdio.h>
#include <string.h>

#define MS_PER_S 1000

/* --- what a row can say ----------------------------------------------------------------------- */

static __int128 nano_of(const struct sl_json *v)
{
    struct sl_quantity q;
    SL_ASSERT(sl_quantity_read(v, &q, NULL) == SL_CODE_OK);
    return q.nano;
}

/* Zeroed, for so many and one more; it ends with the configuration. */
static void *keep(struct sl_config *c, size_t count, size_t size)
{
    c->kept = sl_mem_grow(c->kept, c->kept_count + 1, sizeof *c->kept);
    c->kept[c->kept_count] = sl_mem_new(count + 1, size);
    return c->kept[c->kept_count++];
}

static void put_ms(int64_t *to, const struct sl_config_field *row, const struct sl_json *v)
{
    int64_t ms = MS_PER_S * sl_json_int(v, 0);
    if (row->type == SL_CONFIG_DURATION) {
        SL_ASSERT(sl_duration_parse(sl_json_text(v, ""), &ms, NULL) == SL_CODE_OK);
    }
    *to = row->positive && ms <= 0 ? *to : ms;
}

static void put_texts(struct sl_config *c, const struct sl_config_field *row,
                      const struct sl_json *list)
{
    const char **texts = keep(c, sl_json_len(list), sizeof *texts);
    size_t count = 0;
    for (size_t i = 0; i < sl_json_len(list); i++) {
        const char *text = sl_json_text(sl_json_at(list, i), NULL);
        if (text != NULL) {
            texts[count++] = text;
        }
    }
    memcpy((char *)c + row->at, &texts, sizeof texts);
    memcpy((char *)c + row->count_at, &count, sizeof count);
}

void sl_config_put(struct sl_config *c, const struct sl_config_field *row, const struct sl_json *v)
{
    SL_PRE(c != NULL && row != NULL);
    void *to = (char *)c + row->at;
    switch (row->into) {
    case SL_CONFIG_NOWHERE:
        break;
    case SL_CONFIG_INTO_BOOL:
        *(bool *)to = sl_json_bool(v, false);
        break;
    case SL_CONFIG_INTO_UNSIGNED:
        *(unsigned *)to = sl_json_int(v, 0) > 0 ? (unsigned)sl_json_int(v, 0) : 0;
        break;
    case SL_CONFIG_INTO_MS:
        put_ms(to, row, v);
        break;
    case SL_CONFIG_INTO_DOUBLE:
        *(double *)to = nano_of(v) > 0 ? (double)nano_of(v) / 1e9 : 0;
        break;
    case SL_CONFIG_INTO_TEXT:
        *(const char **)to = sl_json_text(v, NULL);
        break;
    case SL_CONFIG_INTO_TEXTS:
        put_texts(c, row, v);
        break;
    }
}

/* --- the rest --------------------------------------------------------------------------------- */

/* A recovery timeout of zero means none. */
static void fill_readiness(struct sl_config *c)
{
    struct sl_engine_settings *s = &c->settings;
    const struct sl_json *v = sl_json_get(c->document, "waitForPodsReady");
    const struct sl_json *again = sl_json_get(v, "requeuingStrategy");
    s->wait_for_pods_ready = s->wait_for_pods_ready && !c->wait_for_pods_ready_off;
    s->policy.block_until_ready = s->policy.block_until_ready && s->wait_for_pods_ready;
    s->recovery_ms_max =
        sl_json_get(v, "recoveryTimeout") == NULL ? s->ready_ms_max : s->recovery_ms_max;
    s->policy.requeue_at_eviction =
        strcmp(sl_json_path_text(again, "timestamp", "Eviction"), "Creation") != 0;
    s->limit_requeues = sl_json_get(again, "backoffLimitCount") != NULL;
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
    const char **resources = keep(c, sl_json_len(weights), sizeof *resources);
    int64_t *nano = keep(c, sl_json_len(weights), sizeof *nano);
    s->policy.admission_fair_sharing = v != NULL && c->admission_fair_sharing;
    for (struct sl_json_member m = {0}; sl_json_each(weights, &m);) {
        if (m.value != NULL) {
            resources[s->usage_weight_count] = m.key;
            nano[s->usage_weight_count++] = (int64_t)nano_of(m.value);
        }
    }
    s->usage_weight_resources = resources;
    s->usage_weights_nano = nano;
}

/* Outputs of all transformations are stored one after the other; returns their number. */
static size_t fill_outputs(struct sl_transformation_output *at, const struct sl_json *outputs)
{
    size_t count = 0;
    for (struct sl_json_member m = {0}; sl_json_each(outputs, &m);) {
        struct sl_quantity q;
        if (m.value != NULL && sl_quantity_read(m.value, &q, NULL) == SL_CODE_OK) {
            at[count++] = (struct sl_transformation_output){.resource = m.key,
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
    struct sl_transformation *all = keep(c, sl_json_len(list), sizeof *all);
    struct sl_transformation_output *outputs = keep(c, outputs_max, sizeof *outputs);
    for (size_t i = 0; i < sl_json_len(list); i++) {
        const struct sl_json *v = sl_json_at(list, i);
        const char *multiply_by = sl_json_path_text(v, "multiplyBy", "");
        if (v == NULL) {
            continue;
        }
        struct sl_transformation *t = &all[c->settings.transformation_count++];
        *t = (struct sl_transformation){
            .input = sl_json_path_text(v, "input", ""),
            .retain = strcmp(sl_json_path_text(v, "strategy", "Retain"), "Replace") != 0,
            .multiply_by = *multiply_by == '\0' ? NULL : multiply_by,
            .output_count = fill_outputs(outputs, sl_json_get(v, "outputs")),
            .outputs = outputs};
        outputs += t->output_count;
    }
    c->settings.transformations = all;
}

static size_t fill_sources(struct sl_device_source *at, const struct sl_json *mapping)
{
    const struct sl_json *list = sl_json_get(mapping, "sources");
    size_t count = 0;
    for (size_t i = 0; i < sl_json_len(list); i++) {
        const struct sl_json *capacity = sl_json_get(sl_json_at(list, i), "capacity");
        const struct sl_json *v =
            capacity != NULL ? capacity : sl_json_get(sl_json_at(list, i), "counter");
        at[count++] = (struct sl_device_source){
            .resource = sl_json_path_text(mapping, "name", ""),
            .driver = sl_json_path_text(v, "driver", ""),
            .name = sl_json_path_text(v, "name", ""),
            .selector = sl_json_path_text(v, "deviceSelector.cel.expression", ""),
            .capacity = capacity != NULL};
    }
    return count;
}

/* One for each class of each mapping. */
static void fill_devices(struct sl_config *c)
{
    const struct sl_json *list = sl_json_path(c->document, "resources.deviceClassMappings");
    size_t classes_max = 0;
    size_t sources_max = 0;
    for (size_t i = 0; i < sl_json_len(list); i++) {
        sources_max += sl_json_len(sl_json_get(sl_json_at(list, i), "sources"));
        classes_max += sl_json_len(sl_json_get(sl_json_at(list, i), "deviceClassNames"));
    }
    struct sl_device_mapping *all = keep(c, classes_max, sizeof *all);
    struct sl_device_source *sources = keep(c, sources_max, sizeof *sources);
    for (size_t i = 0; i < sl_json_len(list); i++) {
        const struct sl_json *v = sl_json_at(list, i);
        const struct sl_json *classes = sl_json_get(v, "deviceClassNames");
        size_t source_count = fill_sources(sources, v);
        if (source_count > 0) {
            sl_quantity_count_bytes(sl_json_path_text(v, "name", ""));
        }
        for (size_t k = 0; k < sl_json_len(classes); k++) {
            all[c->settings.device_mapping_count++] =
                (struct sl_device_mapping){.device_class = sl_json_text(sl_json_at(classes, k), ""),
                                           .resource = sl_json_path_text(v, "name", ""),
                                           .source_count = source_count,
                                           .sources = sources};
        }
        sources += source_count;
    }
    c->settings.device_mappings = all;
}

/* All have metrics if it does not say; where it says something, it has to say so. */
static void fill_metered(struct sl_config *c)
{
    const struct sl_json *v = sl_json_path(c->document, "metrics.localQueueMetrics");
    c->metered.on = c->metered.on && (v == NULL || sl_json_path_bool(v, "enable", false));
    c->metered.selector = c->metered_queues;
    c->metered.unadmitted = c->settings.granular_reasons;
}

static const char *text_or_null(const struct sl_json *v, const char *key)
{
    const char *text = sl_json_path_text(v, key, "");
    return text[0] == '\0' ? NULL : text;
}

static enum sl_kind source_of(const struct sl_json *label)
{
    static const struct {
        const char *name;
        enum sl_kind kind;
    } sources[] = {{"Cohort", SL_KIND_COHORT},
                   {"LocalQueue", SL_KIND_LOCAL_QUEUE},
                   {"Workload", SL_KIND_WORKLOAD}};
    for (size_t i = 0; i < sizeof sources / sizeof sources[0]; i++) {
        if (strcmp(sl_json_path_text(label, "sourceKind", ""), sources[i].name) == 0) {
            return sources[i].kind;
        }
    }
    return SL_KIND_CLUSTER_QUEUE;
}

/* A label's name is the key that it is read from, unless it says another. */
static void fill_custom_labels(struct sl_config *c)
{
    const struct sl_json *list = sl_json_path(c->document, "metrics.customLabels");
    struct sl_custom_label *all = keep(c, sl_json_len(list), sizeof *all);
    for (size_t i = 0; c->custom_labels && i < sl_json_len(list); i++) {
        const struct sl_json *v = sl_json_at(list, i);
        const char *name = sl_json_path_text(v, "name", "");
        const char *label = text_or_null(v, "sourceLabelKey");
        const char *annotation = text_or_null(v, "sourceAnnotationKey");
        all[i] =
            (struct sl_custom_label){.source = source_of(v),
                                     .name = name,
                                     .label = annotation == NULL && label == NULL ? name : label,
                                     .annotation = annotation,
                                     .tracked = sl_json_get(v, "trackedValues")};
    }
    c->custom = (struct sl_custom_labels){c->custom_labels ? sl_json_len(list) : 0, all};
    c->metered.custom = &c->custom;
}

/* What Workloads are counted by has to be on them: it is copied from their jobs, as Kueue does. */
static void fill_copied(struct sl_config *c)
{
    struct sl_copied_keys *to = &c->jobs.copied;
    const char **labels = keep(c, to->label_count + c->custom.count, sizeof *labels);
    const char **annotations = keep(c, c->custom.count, sizeof *annotations);
    for (size_t i = 0; i < to->label_count; i++) {
        labels[i] = to->labels[i];
    }
    for (size_t i = 0; i < c->custom.count; i++) {
        const struct sl_custom_label *l = &c->custom.all[i];
        if (l->source == SL_KIND_WORKLOAD && l->annotation != NULL) {
            annotations[to->annotation_count++] = l->annotation;
        } else if (l->source == SL_KIND_WORKLOAD) {
            labels[to->label_count++] = l->label;
        }
    }
    to->labels = labels;
    to->annotations = annotations;
}

/* Kueue's own: everywhere but where the cluster and the queueing itself run. */
static struct sl_json *default_namespaces(const struct sl_config *c)
{
    struct sl_json *selector = sl_json_new_map(), *list = sl_json_new_list();
    struct sl_json *all_but = sl_json_new_map(), *names = sl_json_new_list();
    sl_json_append(names, sl_json_new_text("kube-system"));
    sl_json_append(names,
                   sl_json_new_text(sl_json_path_text(c->document, "namespace", "kueue-system")));
    sl_json_set_text(all_but, "key", "kubernetes.io/metadata.name");
    sl_json_set_text(all_but, "operator", "NotIn");
    sl_json_set(all_but, "values", names);
    sl_json_append(list, all_but);
    sl_json_set(selector, "matchExpressions", list);
    return selector;
}

static void fill_namespaces(struct sl_config *c)
{
    struct sl_json *selector = sl_json_get(c->document, "managedJobsNamespaceSelector");
    if (selector != NULL) {
        c->managed = sl_json_ref(selector);
    } else if (c->cluster.on) {
        c->managed = default_namespaces(c);
    }
    c->managed_namespaces = c->managed == NULL ? NULL : sl_selector_from_json(c->managed, NULL);
    c->jobs.namespaces = c->managed_namespaces;
}

static void fill_curves(struct sl_config *c)
{
    const struct sl_json *list = sl_json_path(c->document, "tls.curvePreferences");
    size_t count = sl_json_len(list);
    uint16_t *curves = keep(c, count, sizeof *curves);
    for (size_t i = 0; i < count; i++) {
        curves[i] = (uint16_t)sl_json_int(sl_json_at(list, i), 0);
    }
    c->cluster.tls.curves = curves;
    c->cluster.tls.curve_count = count;
}

void sl_config_fill(struct sl_config *c)
{
    const struct sl_json *v = c->document;
    struct sl_config_cluster *k = &c->cluster;
    SL_PRE(c != NULL);
    k->tls.only_13 = strcmp(sl_json_path_text(v, "tls.minVersion", ""), "VersionTLS13") == 0;
    fill_curves(c);
    k->elect_given = sl_json_path(v, "leaderElection.leaderElect") != NULL;
    if (k->lease_namespace == NULL) {
        k->lease_namespace = sl_json_path_text(v, "namespace", NULL);
    }
    k->webhook_files = !sl_json_path_bool(v, "internalCertManagement.enable", true);
    c->jobs.elastic = c->settings.elastic_jobs;
    c->jobs.heeded = (struct sl_idle_modes){
        .elastic = c->settings.elastic_jobs,
        .concurrent_admission = c->settings.concurrent_admission,
        .preemption_gates = c->settings.preemption_gates || c->settings.concurrent_admission,
        .priority_boost = c->settings.priority_boost,
        .failure_recovery = c->force_lost_pods};
    fill_metered(c);
    fill_custom_labels(c);
    fill_copied(c);
    fill_readiness(c);
    fill_fair_sharing(c);
    fill_usage(c);
    fill_transformations(c);
    fill_devices(c);
    fill_namespaces(c);
    c->settings.policy.ignore_undeclared =
        c->quota_check_strategy &&
        strcmp(sl_json_path_text(v, "resources.quotaCheckStrategy", ""), "IgnoreUndeclared") == 0;
}
