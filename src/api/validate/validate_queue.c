/* SPDX-License-Identifier: Apache-2.0
 * SPDX-FileCopyrightText: The Sluice authors */

/* Rules of ClusterQueue, Cohort and ResourceFlavor that tables cannot say. */
#include <string.h>

#include "api/objects/quantity.h"
#include "base/check.h"
#include "api/validate/validate.h"
#include "base/map.h"

#define FLAVORS_TOTAL_MAX 256u
#define RESOURCES_TOTAL_MAX 256u
#define PAIRS_MAX 512u /* flavors times resources of a group */

/* What the checks of all groups of one object share. */
struct groups {
    struct sl_map *resources; /* name seen so far */
    struct sl_map *flavors;   /* name -> index of the group that has it */
    size_t flavor_count, resource_count;
    const char *parent_word; /* "cohort" or "parent" when there is none, else NULL */
    bool lending_within_quota;
};

static void check_covered(struct sl_check *c, struct groups *g, const struct sl_json *covered)
{
    for (size_t i = 0; i < sl_json_len(covered); i++) {
        const char *name = sl_json_text(sl_json_at(covered, i), "");
        if (name[0] != '\0' && sl_map_get(g->resources, name, NULL)) {
            size_t up = sl_check_down(c, ".coveredResources[%zu]", i);
            sl_check_duplicate(c, name);
            sl_check_up(c, up);
        }
        sl_map_put(g->resources, name, (union sl_map_value){.number = 0});
        g->resource_count++;
    }
}

static void check_limit(struct sl_check *c, const struct groups *g, const struct sl_json *resource,
                        const char *key)
{
    const struct sl_json *limit = sl_json_get(resource, key);
    if (limit == NULL) {
        return;
    }
    size_t up = sl_check_down(c, ".%s", key);
    struct sl_quantity quota, most;
    if (g->parent_word != NULL) {
        sl_check_invalid(c, limit, "must be absent when %s is empty", g->parent_word);
    } else if (g->lending_within_quota && strcmp(key, "lendingLimit") == 0 &&
               sl_quantity_read(limit, &quota, NULL) == SL_CODE_OK &&
               sl_quantity_read(sl_json_get(resource, "nominalQuota"), &most, NULL) == SL_CODE_OK &&
               quota.nano > most.nano) {
        sl_check_invalid(c, limit, "must be less than or equal to nominalQuota");
    }
    sl_check_up(c, up);
}

static void check_flavor(struct sl_check *c, const struct groups *g, const struct sl_json *flavor,
                         const struct sl_json *covered)
{
    const struct sl_json *resources = sl_json_get(flavor, "resources");
    if (sl_json_len(resources) != sl_json_len(covered)) {
        size_t up = sl_check_down(c, ".resources");
        sl_check_invalid(c, resources, "must list the same resources as coveredResources");
        sl_check_up(c, up);
    }
    for (size_t i = 0; i < sl_json_len(resources); i++) {
        const struct sl_json *resource = sl_json_at(resources, i);
        const struct sl_json *name = sl_json_get(resource, "name");
        size_t up = sl_check_down(c, ".resources[%zu]", i);
        if (i < sl_json_len(covered) && name != NULL &&
            !sl_json_equal(name, sl_json_at(covered, i))) {
            size_t at = sl_check_down(c, ".name");
            sl_check_invalid(c, name, "must match the name in coveredResources at the same place");
            sl_check_up(c, at);
        }
        check_limit(c, g, resource, "borrowingLimit");
        check_limit(c, g, resource, "lendingLimit");
        sl_check_up(c, up);
    }
}

/* Within a group the list itself has unique names; here the groups are compared with each other. */
static void check_flavor_name(struct sl_check *c, struct groups *g, const struct sl_json *flavor,
                              size_t group)
{
    const char *name = sl_json_text(sl_json_get(flavor, "name"), "");
    union sl_map_value seen;
    if (name[0] != '\0' && sl_map_get(g->flavors, name, &seen) && seen.number != group) {
        size_t up = sl_check_down(c, ".name");
        sl_check_duplicate(c, name);
        sl_check_up(c, up);
    } else {
        sl_map_put(g->flavors, name, (union sl_map_value){.number = group});
    }
}

static void check_group(struct sl_check *c, struct groups *g, const struct sl_json *group,
                        size_t index)
{
    const struct sl_json *covered = sl_json_get(group, "coveredResources");
    const struct sl_json *flavors = sl_json_get(group, "flavors");
    check_covered(c, g, covered);
    size_t pairs = 0;
    for (size_t i = 0; i < sl_json_len(flavors); i++) {
        const struct sl_json *flavor = sl_json_at(flavors, i);
        size_t up = sl_check_down(c, ".flavors[%zu]", i);
        check_flavor(c, g, flavor, covered);
        check_flavor_name(c, g, flavor, index);
        sl_check_up(c, up);
        pairs += sl_json_len(sl_json_get(flavor, "resources"));
    }
    g->flavor_count += sl_json_len(flavors);
    if (pairs > PAIRS_MAX) {
        sl_check_invalid(c, group, "has %zu pairs of flavor and resource, at most %u are allowed",
                         pairs, PAIRS_MAX);
    }
}

static void check_groups(struct sl_check *c, struct groups *g)
{
    const struct sl_json *groups = sl_json_path(c->object, "spec.resourceGroups");
    g->resources = sl_map_new();
    g->flavors = sl_map_new();
    size_t up = sl_check_down(c, "spec.resourceGroups");
    for (size_t i = 0; i < sl_json_len(groups); i++) {
        size_t at = sl_check_down(c, "[%zu]", i);
        check_group(c, g, sl_json_at(groups, i), i);
        sl_check_up(c, at);
    }
    if (g->flavor_count > FLAVORS_TOTAL_MAX) {
        sl_check_invalid(c, groups, "all groups together have %zu flavors, at most %u are allowed",
                         g->flavor_count, FLAVORS_TOTAL_MAX);
    }
    if (g->resource_count > RESOURCES_TOTAL_MAX) {
        sl_check_invalid(c, groups,
                         "all groups together cover %zu resources, at most %u are allowed",
                         g->resource_count, RESOURCES_TOTAL_MAX);
    }
    sl_check_up(c, up);
}

static void free_groups(struct groups *g)
{
    sl_map_free(g->resources);
    sl_map_free(g->flavors);
}

/* The flavors of the queue as "A|B|C". */
static void list_flavors(const struct sl_json *groups, struct sl_buf *out)
{
    for (size_t i = 0; i < sl_json_len(groups); i++) {
        const struct sl_json *flavors = sl_json_get(sl_json_at(groups, i), "flavors");
        for (size_t k = 0; k < sl_json_len(flavors); k++) {
            sl_buf_print(out, "%s%s", out->len > 0 ? "|" : "",
                         sl_json_path_text(sl_json_at(flavors, k), "name", ""));
        }
    }
}

static void check_on_flavors(struct sl_check *c, const struct groups *g)
{
    const struct sl_json *checks =
        sl_json_path(c->object, "spec.admissionChecksStrategy.admissionChecks");
    for (size_t i = 0; i < sl_json_len(checks); i++) {
        const struct sl_json *on = sl_json_get(sl_json_at(checks, i), "onFlavors");
        for (size_t k = 0; k < sl_json_len(on); k++) {
            const char *flavor = sl_json_text(sl_json_at(on, k), "");
            if (sl_map_get(g->flavors, flavor, NULL)) {
                continue;
            }
            size_t up = sl_check_down(
                c, "spec.admissionChecksStrategy.admissionChecks[%zu].onFlavors[%zu]", i, k);
            struct sl_buf known = {0};
            list_flavors(sl_json_path(c->object, "spec.resourceGroups"), &known);
            sl_check_not_supported(c, known.data == NULL ? "" : known.data, flavor);
            sl_buf_fini(&known);
            sl_check_up(c, up);
        }
    }
}

static bool is(const struct sl_json *o, const char *path, const char *text)
{
    return strcmp(sl_json_path_text(o, path, ""), text) == 0;
}

/* What is not 0 and yet not above 10^-9 would count as 0 where shares are compared. */
static void check_weight(struct sl_check *c)
{
    const struct sl_json *weight = sl_json_path(c->object, "spec.fairSharing.weight");
    struct sl_quantity q;
    size_t up = sl_check_down(c, "spec.fairSharing");
    if (weight != NULL && sl_quantity_read(weight, &q, NULL) == SL_CODE_OK) {
        if (q.nano < 0) {
            sl_check_invalid(c, weight, "must be greater than or equal to 0");
        } else if (q.nano == 1) {
            sl_check_invalid(c, weight, "When not 0, weight must be > 10e-9");
        }
    }
    sl_check_up(c, up);
}

void sl_check_cluster_queue(struct sl_check *c)
{
    SL_PRE(c != NULL);
    const struct sl_json *spec = sl_json_get(c->object, "spec");
    struct groups g = {.lending_within_quota = true};
    g.parent_word = is(spec, "cohortName", "") ? "cohortName" : NULL;
    check_groups(c, &g);
    check_weight(c);
    check_on_flavors(c, &g);
    sl_check_concurrent_admission(c);
    free_groups(&g);
    if (is(spec, "preemption.reclaimWithinCohort", "Never") &&
        sl_json_path(spec, "preemption.borrowWithinCohort") != NULL &&
        !is(spec, "preemption.borrowWithinCohort.policy", "Never")) {
        size_t up = sl_check_down(c, "spec.preemption");
        sl_check_invalid(
            c, sl_json_get(spec, "preemption"),
            "borrowWithinCohort.policy must be Never when reclaimWithinCohort is Never");
        sl_check_up(c, up);
    }
    const struct sl_json *preference = sl_json_path(spec, "flavorFungibility.preference");
    if (preference != NULL && (!is(spec, "flavorFungibility.whenCanBorrow", "TryNextFlavor") ||
                               !is(spec, "flavorFungibility.whenCanPreempt", "TryNextFlavor"))) {
        size_t up = sl_check_down(c, "spec.flavorFungibility.preference");
        sl_check_invalid(c, preference,
                         "requires both whenCanBorrow and whenCanPreempt to be TryNextFlavor");
        sl_check_up(c, up);
    }
}

void sl_check_cohort(struct sl_check *c)
{
    SL_PRE(c != NULL);
    const struct sl_json *parent = sl_json_path(c->object, "spec.parentName");
    struct groups g = {.parent_word = NULL};
    g.parent_word = sl_json_text(parent, "")[0] == '\0' ? "parentName" : NULL;
    check_groups(c, &g);
    check_weight(c);
    free_groups(&g);
    if (parent != NULL && strcmp(sl_json_text(parent, ""), sl_object_name(c->object)) == 0) {
        size_t up = sl_check_down(c, "spec.parentName");
        sl_check_invalid(c, parent, "a cohort cannot be its own parent");
        sl_check_up(c, up);
    }
}

void sl_check_tolerations(struct sl_check *c, const struct sl_json *tolerations)
{
    for (size_t i = 0; i < sl_json_len(tolerations); i++) {
        const struct sl_json *t = sl_json_at(tolerations, i);
        bool exists = is(t, "operator", "Exists");
        size_t up = sl_check_down(c, "[%zu]", i);
        if (is(t, "key", "") && !exists) {
            size_t at = sl_check_down(c, ".operator");
            sl_check_invalid(c, sl_json_get(t, "operator"), "must be Exists when key is empty");
            sl_check_up(c, at);
        }
        if (exists && !is(t, "value", "")) {
            size_t at = sl_check_down(c, ".value");
            sl_check_invalid(c, sl_json_get(t, "value"), "must be empty when operator is Exists");
            sl_check_up(c, at);
        }
        if (sl_json_get(t, "tolerationSeconds") != NULL && !is(t, "effect", "NoExecute")) {
            size_t at = sl_check_down(c, ".effect");
            sl_check_invalid(c, sl_json_get(t, "effect"),
                             "must be NoExecute when tolerationSeconds is set");
            sl_check_up(c, at);
        }
        sl_check_up(c, up);
    }
}

void sl_check_unique_taints(struct sl_check *c, const char *path, const struct sl_json *taints)
{
    struct sl_map *seen = sl_map_new();
    struct sl_buf identity = {0};
    for (size_t i = 0; i < sl_json_len(taints); i++) {
        const struct sl_json *taint = sl_json_at(taints, i);
        sl_buf_reset(&identity);
        sl_buf_print(&identity, "%s:%s", sl_json_path_text(taint, "key", ""),
                     sl_json_path_text(taint, "effect", ""));
        if (sl_map_get(seen, identity.data, NULL)) {
            size_t up = sl_check_down(c, "%s[%zu]", path, i);
            sl_check_duplicate(c, identity.data);
            sl_check_up(c, up);
        }
        sl_map_put(seen, identity.data, (union sl_map_value){.number = 0});
    }
    sl_buf_fini(&identity);
    sl_map_free(seen);
}

void sl_check_resource_flavor(struct sl_check *c)
{
    SL_PRE(c != NULL);
    const struct sl_json *spec = sl_json_get(c->object, "spec");
    const struct sl_json *topology = sl_json_get(spec, "topologyName");
    const struct sl_json *old = sl_json_path(c->old, "spec.topologyName");
    sl_check_unique_taints(c, "spec.nodeTaints", sl_json_get(spec, "nodeTaints"));
    size_t up = sl_check_down(c, "spec.tolerations");
    sl_check_tolerations(c, sl_json_get(spec, "tolerations"));
    sl_check_up(c, up);
    up = sl_check_down(c, "spec.nodeLabels");
    if (topology != NULL && sl_json_len(sl_json_get(spec, "nodeLabels")) == 0) {
        sl_check_required(c, "at least one label is required when topologyName is set");
    }
    sl_check_up(c, up);
    up = sl_check_down(c, "spec.topologyName");
    if (old != NULL) {
        sl_check_immutable(c, topology, old);
    }
    sl_check_up(c, up);
}
