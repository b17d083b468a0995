/* SPDX-License-Identifier: Apache-2.0
 * SPDX-FileCopyrightText: The Sluice authors */

#include "api/kinds/elastic.h"
#include "engine/topology/constraints.h"
#include "base/check.h"
#include "base/mem.h"
#include "engine/calls/call.h"
#include "engine/records/masks_in.h"
#include "engine/records/pod.h"
#include "engine/requests/allowed.h"
#include "engine/topology/topology_in.h"
#include "policy/requests/requests.h"
#include <string.h>

static void give(struct sl_engine *g, uint32_t number)
{
    if (sl_constraints_has_one_user(g->constraints, number)) {
        sl_masks_in_drop(g, number, g->now_ms);
    }
    sl_constraints_drop(g->constraints, number);
}

static void release(struct sl_engine *g, struct sl_pod_set *sets, uint32_t count)
{
    for (uint32_t i = 0; i < count; i++) {
        give(g, sets[i].constraint);
        give(g, sets[i].refined);
        sl_topology_in_release(&sets[i]);
        sl_mem_free(sets[i].name);
    }
    sl_mem_free(sets);
}

void sl_constraints_release(struct sl_engine *g, struct sl_workload_entry *e)
{
    SL_PRE(e != NULL);
    release(g, e->pod_sets, e->pod_set_count);
    e->pod_sets = NULL;
    e->pod_set_count = 0;
}

static struct sl_json *constraint_new(const struct sl_engine *g, const struct sl_json *workload,
                                      const struct sl_json *pod_spec)
{
    static const char path[] =
        "affinity.nodeAffinity.preferredDuringSchedulingIgnoredDuringExecution";
    struct sl_json *c = sl_pod_constraint_new(pod_spec);
    const struct sl_json *preferred = sl_json_path(pod_spec, path);
    if (g->settings.policy.prefer_affinity && sl_json_len(preferred) > 0) {
        sl_json_set(c, "preferred", sl_json_clone(preferred));
    }
    const char *allowed = sl_allowed_flavors(g, workload);
    if (allowed != NULL) {
        sl_json_set_text(c, "allowedFlavors", allowed);
    }
    return c;
}

/* What it holds was given to it with a topology, by its object or by what is not written yet. */
static bool granted_topology(const struct sl_admission *admission, const struct sl_json *workload,
                             uint32_t pod_set)
{
    const struct sl_json *list = sl_json_path(workload, "status.admission.podSetAssignments");
    const struct sl_json *item = sl_json_at(list, pod_set);
    bool live = admission != NULL && pod_set < admission->pod_set_count &&
                (admission->delayed[pod_set] || admission->topology[pod_set] != NULL);
    return live || sl_json_has(item, "topologyAssignment") ||
           sl_json_has(item, "delayedTopologyRequest");
}

void sl_constraints_take(struct sl_engine *g, struct sl_workload_entry *e,
                         const struct sl_json *workload)
{
    SL_PRE(e != NULL);
    const struct sl_json *list = sl_json_path(workload, "spec.podSets");
    struct sl_pod_set *old = e->pod_sets;
    uint32_t old_count = e->pod_set_count;
    bool elastic = g->settings.elastic_jobs && sl_is_elastic(workload);
    e->pod_set_count = (uint32_t)sl_json_len(list);
    e->pod_sets = sl_mem_new(e->pod_set_count + 1u, sizeof *e->pod_sets);
    for (uint32_t i = 0; i < e->pod_set_count; i++) {
        const struct sl_json *item = sl_json_at(list, i);
        e->pod_sets[i].name = sl_mem_text(sl_json_path_text(item, "name", "main"));
        e->pod_sets[i].constraint = sl_constraints_number(
            g->constraints, constraint_new(g, workload, sl_json_path(item, "template.spec")));
        sl_topology_in_take(g, &e->pod_sets[i], item, g->now_ms);
        e->pod_sets[i].placed = granted_topology(e->admission, workload, i);
        e->pod_sets[i].elastic = elastic;
    }
    release(g, old, old_count); /* last: what stays the same is not made anew */
}

bool sl_constraints_fresh(const struct sl_engine *g, const struct sl_workload_entry *e,
                          const struct sl_json *workload)
{
    SL_PRE(g != NULL && e != NULL);
    if (sl_object_generation(workload) != e->object_generation || e->pod_set_count == 0) {
        return sl_object_generation(workload) == e->object_generation;
    }
    const struct sl_json *c = sl_constraints_value(g, e->pod_sets[0].constraint);
    const char *was = sl_json_text(sl_json_get(c, "allowedFlavors"), NULL);
    const char *is = sl_allowed_flavors(g, workload);
    return was == NULL || is == NULL ? was == is : strcmp(was, is) == 0;
}

/* --- what checks add -------------------------------------------------------------------------- */

/* One update: its node selector and its tolerations join those of the constraint. */
static void merge(struct sl_json *constraint, const struct sl_json *update)
{
    const struct sl_json *selector = sl_json_get(update, "nodeSelector");
    const struct sl_json *tolerations = sl_json_get(update, "tolerations");
    void *it = NULL;
    const char *key;
    struct sl_json *value;
    while (sl_json_next(selector, &it, &key, &value)) {
        sl_json_set_text(sl_json_path_make(constraint, "nodeSelector"), key,
                         sl_json_text(value, ""));
    }
    if (sl_json_len(tolerations) > 0 && sl_json_get(constraint, "tolerations") == NULL) {
        sl_json_set(constraint, "tolerations", sl_json_new_list());
    }
    for (size_t i = 0; i < sl_json_len(tolerations); i++) {
        sl_json_append(sl_json_get(constraint, "tolerations"),
                       sl_json_clone(sl_json_at(tolerations, i)));
    }
}

/* The pod set's constraint with all that ready checks have added; 0 = they have added nothing. */
static uint32_t refined(struct sl_engine *g, const struct sl_pod_set *set,
                        const struct sl_json *checks)
{
    const struct sl_json *own = sl_constraints_value(g, set->constraint);
    struct sl_json *c = own == NULL ? sl_json_new_map() : sl_json_clone(own);
    for (size_t i = 0; i < sl_json_len(checks); i++) {
        const struct sl_json *check = sl_json_at(checks, i);
        const struct sl_json *updates = sl_json_get(check, "podSetUpdates");
        bool ready = strcmp(sl_json_path_text(check, "state", ""), "Ready") == 0;
        for (size_t k = 0; ready && k < sl_json_len(updates); k++) {
            const struct sl_json *update = sl_json_at(updates, k);
            if (strcmp(sl_json_path_text(update, "name", ""), set->name) == 0) {
                merge(c, update);
            }
        }
    }
    uint32_t number = sl_constraints_number(g->constraints, c);
    if (number == set->constraint) {
        give(g, number);
        return 0;
    }
    return number;
}

/* False = there are as many masks as can be held. */
static bool set_mask(struct sl_engine *g, sl_workload_id id, uint32_t index, uint32_t refined_as,
                     int64_t now_ms)
{
    uint32_t own = g->workloads[id].pod_sets[index].constraint;
    sl_mask_id mask = sl_masks_in_take(g, refined_as != 0 ? refined_as : own, now_ms);
    if (mask != SL_NO_ID) {
        sl_expect(g, now_ms, request_mask, .workload = id, .pod_set = index, .mask = mask);
    }
    return mask != SL_NO_ID;
}

void sl_constraints_refine(struct sl_engine *g, sl_workload_id id, const struct sl_json *workload,
                           int64_t now_ms)
{
    SL_PRE(g != NULL);
    const struct sl_workload_entry *e = &g->workloads[id];
    const struct sl_json *checks = sl_json_path(workload, "status.admissionChecks");
    for (uint32_t i = 0; i < e->pod_set_count; i++) {
        struct sl_pod_set *set = &e->pod_sets[i];
        if (!set->placed || (checks == NULL && set->refined == 0)) {
            continue;
        }
        uint32_t fresh = refined(g, set, checks);
        uint32_t left = fresh; /* where it stays as it was, or there is no mask for more */
        if (fresh != set->refined && set_mask(g, id, i, fresh, now_ms)) {
            left = set->refined;
            set->refined = fresh;
        }
        give(g, left);
    }
}

/* --- the requests ----------------------------------------------------------------------------- */

static enum sl_exclusion exclusion_of(const struct sl_engine *g, uint32_t constraint,
                                      sl_flavor_id flavor)
{
    const struct sl_json *spec = flavor < g->flavor_cap ? g->flavors[flavor].spec : NULL;
    const struct sl_json *value = sl_constraints_value(g, constraint);
    const char *allowed = sl_json_text(sl_json_get(value, "allowedFlavors"), NULL);
    if (!sl_allowed_has(allowed, sl_intern_name(g->names, SL_INTERN_FLAVOR, flavor))) {
        return SL_EXCLUDED_UNNAMED;
    }
    if (spec == NULL) {
        return SL_EXCLUDED_MISSING;
    }
    switch (sl_pod_fits_flavor(value, spec)) {
    case SL_POD_TAINTED:
        return SL_EXCLUDED_TAINT;
    case SL_POD_AFFINITY:
        return SL_EXCLUDED_AFFINITY;
    case SL_POD_FITS:
        break;
    }
    return SL_EXCLUDED_NOT;
}

static void list_exclusions(const struct sl_engine *g, uint32_t constraint,
                            const struct sl_quotas *offered, struct sl_buf *list)
{
    for (uint32_t i = 0; i < offered->group_count; i++) {
        for (uint32_t f = 0; f < offered->groups[i].flavor_count; f++) {
            sl_flavor_id flavor = offered->groups[i].flavors[f];
            enum sl_exclusion why = exclusion_of(g, constraint, flavor);
            if (why != SL_EXCLUDED_NOT) {
                sl_item_add(list, exclusion, .flavor = flavor, .why = why);
            }
        }
    }
}

static void list_pod_set(const struct sl_requests *r, struct sl_buf *list)
{
    sl_item_add(list, pod_set, .count = r->pod_count);
    if (r->min_count != r->pod_count) {
        sl_item_add(list, min_count, .count = r->min_count);
    }
    if (r->group != SL_NO_ID) {
        sl_item_add(list, group, .group = r->group);
    }
    sl_item_add(list, fingerprint, .of = r->fingerprint);
    for (uint32_t i = 0; i < r->count; i++) {
        sl_item_add(list, request, .resource = r->items[i].resource, .amount = r->items[i].per_pod);
    }
}

/* What the requests have already. */
static struct sl_requests known_requests(uint32_t pod_set)
{
    struct sl_requests r = {.pod_count = sl_requests_pod_count(pod_set),
                            .min_count = sl_requests_min_count(pod_set),
                            .group = sl_requests_group(pod_set),
                            .fingerprint = sl_requests_fingerprint(pod_set)};
    for (uint32_t i = sl_requests_first(pod_set); i != SL_NO_ID && r.count < SL_REQUESTS_MAX;
         i = sl_requests_next(i)) {
        r.items[r.count].resource = sl_requests_resource(i);
        r.items[r.count].per_pod = sl_requests_per_pod(i);
        r.count++;
    }
    return r;
}

/* All of one pod set; false = it cannot be held. */
static bool list_requests(struct sl_engine *g, struct sl_pod_set *set, const struct sl_requests *r,
                          const struct sl_quotas *offered, struct sl_buf *list)
{
    list_pod_set(r, list);
    list_exclusions(g, set->constraint, offered, list);
    return sl_topology_in_list(g, set, r, offered, list);
}

uint32_t sl_constraints_record(sl_workload_id id, uint32_t pod_set)
{
    uint32_t record = sl_requests_first_pod_set(id);
    for (uint32_t i = 0; i < pod_set && record != SL_NO_ID; i++) {
        record = sl_requests_next_pod_set(record);
    }
    return record;
}

enum sl_status sl_constraints_request(struct sl_engine *g, sl_workload_id id,
                                      const struct sl_requests *requests, sl_qnode_id qnode,
                                      int64_t now_ms)
{
    SL_PRE(g != NULL);
    static const struct sl_quotas nothing = {0};
    const struct sl_workload_entry *e = &g->workloads[id];
    const struct sl_quotas *offered = qnode == SL_NO_ID ? &nothing : &g->qnodes[qnode]->quotas;
    uint32_t known = sl_requests_first_pod_set(id);
    struct sl_buf list = {0};
    bool held = true;
    for (uint32_t i = 0; i < e->pod_set_count && (requests != NULL || known != SL_NO_ID); i++) {
        if (requests != NULL) {
            held = list_requests(g, &e->pod_sets[i], &requests[i], offered, &list) && held;
        } else {
            struct sl_requests r = known_requests(known);
            held = list_requests(g, &e->pod_sets[i], &r, offered, &list) && held;
            known = sl_requests_next_pod_set(known);
        }
    }
    enum sl_status status = SL_FULL_WORKLOADS;
    if (held || requests != NULL) { /* what it asked for before counts no longer */
        enum sl_status answer =
            sl_call(g, now_ms, request, .workload = id, .list = held ? &list : NULL);
        status = held ? answer : status;
    }
    sl_buf_fini(&list);
    return status;
}
