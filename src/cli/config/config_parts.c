/* SPDX-License-Identifier: Apache-2.0
 * SPDX-FileCopyrightText: The Sluice authors */

/* Rules of the configuration's parts that Sluice does not know in full: MultiKueue, labels of metrics, and devices. */
#include "api/cel/cel.h"
#include "cli/config/config_table.h"
#include <ctype.h>
#include <stdio.h>
#include <string.h>

#define FIELD_MAX 160
#define LABELS_OF_WORKLOAD_MAX 2
#define LABELS_OF_KIND_MAX 6
#define TRACKED_OF_WORKLOAD_MAX 12
#define DOMAIN_MAX 63
#define CAPACITY_MAX 32
#define INCREMENTAL "kueue.x-k8s.io/multikueue-dispatcher-incremental"

static void check_multikueue(struct sl_config *c)
{
    const struct sl_json *m = sl_json_get(c->document, "multiKueue");
    const struct sl_json *profile = sl_json_get(m, "clusterProfile");
    if (sl_json_len(sl_json_get(profile, "accessProviders")) > 0 &&
        sl_json_len(sl_json_get(profile, "credentialsProviders")) > 0) {
        sl_config_refuse(c, "multiKueue.clusterProfile.credentialsProviders",
                         "must not be given together with accessProviders");
    }
    if (sl_json_get(m, "incrementalDispatcherConfig") != NULL &&
        strcmp(sl_json_path_text(m, "dispatcherName", ""), INCREMENTAL) != 0) {
        sl_config_refuse(c, "multiKueue.incrementalDispatcherConfig",
                         "is only for dispatcherName " INCREMENTAL);
    }
}

/* A Prometheus label's name: a letter, then letters, digits and underscores. */
static bool is_label_name(const char *text)
{
    bool fits = isalpha((unsigned char)*text) != 0;
    for (; fits && *text != '\0'; text++) {
        fits = isalnum((unsigned char)*text) != 0 || *text == '_';
    }
    return fits;
}

static void check_label(struct sl_config *c, const struct sl_json *label, size_t index)
{
    char field[FIELD_MAX];
    (void)snprintf(field, sizeof field, "metrics.customLabels[%zu].name", index);
    const char *name = sl_json_path_text(label, "name", "");
    bool from_label = *sl_json_path_text(label, "sourceLabelKey", "") != '\0';
    bool from_annotation = *sl_json_path_text(label, "sourceAnnotationKey", "") != '\0';
    if (*name != '\0' && !is_label_name(name)) {
        sl_config_refuse(c, field,
                         "\"%.64s\" must be a letter, then letters, digits and underscores", name);
    } else if (*name != '\0' && !from_label && !from_annotation) {
        const char *why = sl_format_check(SL_PATTERN_LABEL_KEY, name);
        if (why != NULL) {
            sl_config_refuse(c, field, "%s", why);
        }
    }
    if (from_label && from_annotation) {
        (void)snprintf(field, sizeof field, "metrics.customLabels[%zu]", index);
        sl_config_refuse(c, field, "sourceLabelKey and sourceAnnotationKey exclude each other");
    }
    size_t tracked = sl_json_len(sl_json_get(label, "trackedValues"));
    if (strcmp(sl_json_path_text(label, "sourceKind", ""), "Workload") == 0 &&
        (tracked == 0 || tracked > TRACKED_OF_WORKLOAD_MAX)) {
        (void)snprintf(field, sizeof field, "metrics.customLabels[%zu].trackedValues", index);
        sl_config_refuse(c, field, "must be 1 to %d when sourceKind is Workload",
                         TRACKED_OF_WORKLOAD_MAX);
    }
}

static void check_labels(struct sl_config *c)
{
    static const char *const kinds[] = {"ClusterQueue", "Cohort", "LocalQueue", "Workload"};
    const struct sl_json *list = sl_json_path(c->document, "metrics.customLabels");
    size_t counts[sizeof kinds / sizeof kinds[0]] = {0};
    for (size_t i = 0; i < sl_json_len(list); i++) {
        const struct sl_json *label = sl_json_at(list, i);
        check_label(c, label, i);
        for (size_t k = 0; k < sizeof kinds / sizeof kinds[0]; k++) {
            counts[k] += strcmp(sl_json_path_text(label, "sourceKind", kinds[0]), kinds[k]) == 0;
        }
    }
    if (sl_json_len(list) > 0 && !c->custom_labels) {
        sl_config_warn(c, "metrics.customLabels", "needs the feature gate CustomMetricLabels");
    }
    for (size_t k = 0; k < sizeof kinds / sizeof kinds[0]; k++) {
        bool workload = strcmp(kinds[k], "Workload") == 0;
        size_t max = workload ? LABELS_OF_WORKLOAD_MAX : LABELS_OF_KIND_MAX;
        if (counts[k] > max) {
            sl_config_refuse(c, "metrics.customLabels", "%zu with sourceKind %s, at most %zu",
                             counts[k], kinds[k], max);
        }
    }
}

/* [domain/]name, the name a C identifier, as devices name their capacities. */
static bool is_capacity_name(const char *text)
{
    const char *slash = strchr(text, '/');
    const char *name = slash == NULL ? text : slash + 1;
    char domain[DOMAIN_MAX + 1] = "a";
    if (slash != NULL) {
        if (slash - text > DOMAIN_MAX) {
            return false;
        }
        (void)snprintf(domain, sizeof domain, "%.*s", (int)(slash - text), text);
    }
    bool fits = strlen(name) <= CAPACITY_MAX && !isdigit((unsigned char)*name) && *name != '\0';
    for (; fits && *name != '\0'; name++) {
        fits = isalnum((unsigned char)*name) != 0 || *name == '_';
    }
    return fits && sl_format_check(SL_PATTERN_DNS_SUBDOMAIN, domain) == NULL;
}

/* Kueue refuses what is no CEL; what is, and cannot be evaluated here, matters only where it is asked for. */
static void check_selector(struct sl_config *c, const char *field, const struct sl_json *of)
{
    struct sl_error e = {0};
    const char *text = sl_json_path_text(of, "deviceSelector.cel.expression", "");
    struct sl_cel *cel = text[0] == '\0' ? NULL : sl_cel_parse_new(text, &e);
    if (cel == NULL && text[0] != '\0') {
        sl_config_refuse(c, field, "deviceSelector: %s", e.text);
    } else if (cel != NULL && sl_cel_foreign(cel) != NULL) {
        sl_config_warn(c, field,
                       "deviceSelector: %s is not supported: jobs whose devices depend on it are "
                       "not admitted",
                       sl_cel_foreign(cel));
    }
    sl_cel_free(cel);
}

/* What one source is for; its gate has to be on. */
static void check_source(struct sl_config *c, const char *field, const struct sl_json *source)
{
    bool counter = sl_json_get(source, "counter") != NULL;
    bool capacity = sl_json_get(source, "capacity") != NULL;
    const char *gate = counter ? "KueueDRAIntegrationPartitionableDevices"
                               : "KueueDRAIntegrationConsumableCapacity";
    if (counter == capacity) {
        sl_config_refuse(c, field, "must have either counter or capacity");
    } else if (!sl_config_gate(c, gate)) {
        sl_config_refuse(c, field, "needs the feature gate %s", gate);
    }
    check_selector(c, field, sl_json_get(source, counter ? "counter" : "capacity"));
    const char *name = sl_json_path_text(source, "capacity.name", "");
    if (*name != '\0' && !is_capacity_name(name)) {
        sl_config_refuse(c, field, "capacity.name \"%.64s\" is not [domain/]C_IDENTIFIER", name);
    }
}

static void check_sources(struct sl_config *c, const struct sl_json *mapping, size_t index)
{
    const struct sl_json *sources = sl_json_get(mapping, "sources");
    bool counters = false;
    bool capacities = false;
    char field[FIELD_MAX];
    for (size_t i = 0; i < sl_json_len(sources); i++) {
        const struct sl_json *source = sl_json_at(sources, i);
        (void)snprintf(field, sizeof field, "resources.deviceClassMappings[%zu].sources[%zu]",
                       index, i);
        check_source(c, field, source);
        counters = counters || sl_json_get(source, "counter") != NULL;
        capacities = capacities || sl_json_get(source, "capacity") != NULL;
    }
    if (counters && capacities && sl_json_len(sources) > 1) {
        (void)snprintf(field, sizeof field, "resources.deviceClassMappings[%zu].sources", index);
        sl_config_refuse(c, field, "must not mix counter and capacity");
    }
}

static const char *counter_of(const struct sl_json *mapping)
{
    return sl_json_path_text(mapping, "sources.0.counter.name", "");
}

static bool has_class(const struct sl_json *mapping, const char *name)
{
    return sl_json_has_text(sl_json_get(mapping, "deviceClassNames"), name);
}

/* A class may be mapped to two resources only when each counts another counter of it. */
static void check_class(struct sl_config *c, const struct sl_json *list, size_t index, size_t at)
{
    const struct sl_json *mapping = sl_json_at(list, index);
    const char *counter = counter_of(mapping);
    const char *name = sl_json_text(sl_json_at(sl_json_get(mapping, "deviceClassNames"), at), "");
    for (size_t i = 0; i < index; i++) {
        const struct sl_json *other = sl_json_at(list, i);
        const char *theirs = counter_of(other);
        if (has_class(other, name) &&
            (*counter == '\0' || *theirs == '\0' || strcmp(counter, theirs) == 0)) {
            char field[FIELD_MAX];
            (void)snprintf(field, sizeof field,
                           "resources.deviceClassMappings[%zu].deviceClassNames[%zu]", index, at);
            sl_config_refuse(c, field, "\"%.64s\" is mapped to %.64s already", name,
                             sl_json_path_text(other, "name", ""));
            return;
        }
    }
}

static void check_devices(struct sl_config *c)
{
    const struct sl_json *list = sl_json_path(c->document, "resources.deviceClassMappings");
    for (size_t i = 0; i < sl_json_len(list); i++) {
        const struct sl_json *mapping = sl_json_at(list, i);
        check_sources(c, mapping, i);
        for (size_t k = 0; k < sl_json_len(sl_json_get(mapping, "deviceClassNames")); k++) {
            check_class(c, list, i, k);
        }
    }
}

void sl_config_check_parts(struct sl_config *c)
{
    check_multikueue(c);
    check_labels(c);
    check_devices(c);
}
