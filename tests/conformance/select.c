/* SPDX-License-Identifier: Apache-2.0
 * SPDX-FileCopyrightText: The Sluice authors */

/* Which cases are run: what a case needs is read off its content; what is known to be otherwise
 * stands in a file, a line each: an id, then the reason. */
#include "base/mem.h"
#include "conformance.h"
#include <stdio.h>
#include <string.h>

static bool gate(const struct conf_case *c, const char *name)
{
    return sl_json_bool(sl_json_get(c->gates, name), false);
}

static bool is_kind(const struct sl_json *object, const char *kind)
{
    return strcmp(sl_json_path_text(object, "kind", ""), kind) == 0;
}

/* --- topology --------------------------------------------------------------------------------- */

/* A request that only groups pod sets is about flavors. */
static bool pod_sets_ask_topology(const struct sl_json *pod_sets)
{
    for (size_t i = 0; i < sl_json_len(pod_sets); i++) {
        const struct sl_json *request = sl_json_path(sl_json_at(pod_sets, i), "topologyRequest");
        if (sl_json_len(request) > (sl_json_has(request, "podSetGroupName") ? 1u : 0u)) {
            return true;
        }
    }
    return false;
}

static bool has_topology(const struct sl_json *objects, const char *flavor)
{
    for (size_t i = 0; i < sl_json_len(objects); i++) {
        const struct sl_json *o = sl_json_at(objects, i);
        if (is_kind(o, "ResourceFlavor") && strcmp(sl_object_name(o), flavor) == 0) {
            return sl_json_path(o, "spec.topologyName") != NULL;
        }
    }
    return false;
}

static bool offers_topology(const struct sl_json *objects, const struct sl_json *queue)
{
    const struct sl_json *groups = sl_json_path(queue, "spec.resourceGroups");
    for (size_t i = 0; i < sl_json_len(groups); i++) {
        const struct sl_json *flavors = sl_json_path(sl_json_at(groups, i), "flavors");
        for (size_t f = 0; f < sl_json_len(flavors); f++) {
            if (has_topology(objects, sl_json_path_text(sl_json_at(flavors, f), "name", ""))) {
                return true;
            }
        }
    }
    return false;
}

static bool needs_topology(const struct conf_case *c)
{
    const struct sl_json *objects = sl_json_get(c->root, "objects");
    if (strcmp(c->suite, "tas") == 0 || strcmp(c->suite, "topology") == 0) {
        return true;
    }
    if (!sl_json_bool(sl_json_get(c->gates, "TopologyAwareScheduling"), true)) {
        return false;
    }
    for (size_t i = 0; i < sl_json_len(objects); i++) {
        const struct sl_json *o = sl_json_at(objects, i);
        if ((is_kind(o, "ClusterQueue") && offers_topology(objects, o)) ||
            pod_sets_ask_topology(sl_json_path(o, "spec.podSets"))) {
            return true;
        }
    }
    return pod_sets_ask_topology(sl_json_get(c->input, "podSets"));
}

/* --- other features --------------------------------------------------------------------------- */

static bool replaces_slice(const struct conf_case *c)
{
    const struct sl_json *objects = sl_json_get(c->root, "objects");
    for (size_t i = 0; i < sl_json_len(objects); i++) {
        if (sl_object_annotation(sl_json_at(objects, i),
                                 "kueue.x-k8s.io/workload-slice-replacement-for") != NULL) {
            return true;
        }
    }
    return sl_json_get(c->input, "replacedWorkloadSlice") != NULL;
}

static bool admits_concurrently(const struct conf_case *c)
{
    const struct sl_json *objects = sl_json_get(c->root, "objects");
    for (size_t i = 0; i < sl_json_len(objects); i++) {
        if (sl_json_path(sl_json_at(objects, i), "spec.concurrentAdmissionPolicy") != NULL) {
            return true;
        }
    }
    return gate(c, "ConcurrentAdmission");
}

static bool claims_devices(const struct conf_case *c)
{
    const struct sl_json *objects = sl_json_get(c->root, "objects");
    for (size_t i = 0; i < sl_json_len(objects); i++) {
        const struct sl_json *sets = sl_json_path(sl_json_at(objects, i), "spec.podSets");
        for (size_t s = 0; s < sl_json_len(sets); s++) {
            if (sl_json_path(sl_json_at(sets, s), "template.spec.resourceClaims") != NULL) {
                return true;
            }
        }
    }
    return false;
}

static bool spans_clusters(const struct conf_case *c)
{
    const struct sl_json *objects = sl_json_get(c->root, "objects");
    for (size_t i = 0; i < sl_json_len(objects); i++) {
        const struct sl_json *o = sl_json_at(objects, i);
        if (strcmp(sl_json_path_text(o, "spec.controllerName", ""), "kueue.x-k8s.io/multikueue") ==
            0) {
            return true;
        }
    }
    return gate(c, "MultiKueueOrchestratedPreemption") ||
           strcmp(sl_json_path_text(c->input, "reason", ""), "PreemptionGated") == 0;
}

const char *conf_skip_reason(const struct conf_case *c)
{
    if (replaces_slice(c)) {
        return "elastic workload slices";
    }
    if (admits_concurrently(c)) {
        return "concurrent admission";
    }
    if (claims_devices(c)) {
        return "dynamic resource allocation";
    }
    if (spans_clusters(c)) {
        return "MultiKueue";
    }
    return needs_topology(c) ? "topology" : NULL;
}

/* --- deviations ------------------------------------------------------------------------------- */

struct sl_json *conf_deviations_new(const char *path)
{
    struct sl_json *out = sl_json_new_map();
    FILE *f = fopen(path, "r");
    char line[1024];
    while (f != NULL && fgets(line, sizeof line, f) != NULL) {
        line[strcspn(line, "\n")] = '\0';
        char *blank = strchr(line, ' ');
        if (line[0] != '#' && blank != NULL) {
            *blank = '\0';
            sl_json_set_text(out, line, blank + 1);
        }
    }
    if (f != NULL) {
        (void)fclose(f);
    }
    return out;
}

const char *conf_deviation(const struct sl_json *deviations, const char *id)
{
    return sl_json_text(sl_json_get(deviations, id), NULL);
}
