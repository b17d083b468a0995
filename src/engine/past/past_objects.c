/* SPDX-License-Identifier: Apache-2.0
 * SPDX-FileCopyrightText: The Sluice authors */

#include "engine/past/past_objects.h"
#include "api/objects/object.h"
#include "api/objects/quantity.h"
#include "base/check.h"
#include "base/clock.h"
#include "kernel/commit/commit.h"
#include "kernel/ledger/cells.h"
#include "kernel/preempt/preempt.h"
#include "policy/fair/shares.h"
#include "policy/queues/queues.h"
#include "policy/queues/turns.h"
#include "policy/requests/offers.h"
#include "policy/requests/requests.h"
#include <inttypes.h>
#include <stdio.h>
#include <string.h>

static const char *name(const struct sl_journal_names *names, enum sl_intern_class c, uint32_t id)
{
    return sl_journal_name(names, c, id);
}

struct sl_json *sl_past_named_new(const char *api_version, const char *kind, const char *ns,
                                  const char *called)
{
    struct sl_json *o = sl_json_new_map();
    sl_json_set_text(o, "apiVersion", api_version);
    sl_json_set_text(o, "kind", kind);
    struct sl_json *metadata = sl_json_path_make(o, "metadata");
    if (ns[0] != '\0') {
        sl_json_set_text(metadata, "namespace", ns);
    }
    sl_json_set_text(metadata, "name", called);
    return o;
}

static struct sl_json *of_kind_new(enum sl_kind kind, const char *ns, const char *called)
{
    const struct sl_kind_info *info = sl_kind_info(kind);
    return sl_past_named_new(info->api_version, info->kind, ns, called);
}

static void set_amount(struct sl_json *o, const char *key, int64_t amount, const char *resource)
{
    char text[64];
    sl_quantity_print_amount(amount, resource, text);
    sl_json_set_text(o, key, text);
}

/* --- quotas ------------------------------------------------------------------------------------- */

bool sl_past_is_cluster_queue(const struct sl_journal_names *names, sl_qnode_id qnode)
{
    SL_PRE(names != NULL);
    return qnode < names->of[SL_INTERN_QNODE].cap &&
           names->of[SL_INTERN_QNODE].items[qnode] != NULL &&
           strncmp(names->of[SL_INTERN_QNODE].items[qnode], "cq/", 3) == 0;
}

static struct sl_json *quota_new(const struct sl_journal_names *names, sl_cell_id cell)
{
    const char *resource = name(names, SL_INTERN_RESOURCE, sl_cell_resource[cell]);
    struct sl_json *quota = sl_json_new_map();
    sl_json_set_text(quota, "name", resource);
    set_amount(quota, "nominalQuota", sl_cell_nominal[cell], resource);
    if (sl_cell_borrowing[cell] != SL_AMOUNT_UNLIMITED) {
        set_amount(quota, "borrowingLimit", sl_cell_borrowing[cell], resource);
    }
    if (sl_cell_lending[cell] != SL_AMOUNT_UNLIMITED) {
        set_amount(quota, "lendingLimit", sl_cell_lending[cell], resource);
    }
    return quota;
}

static struct sl_json *add_to_list(struct sl_json *o, const char *list)
{
    struct sl_json *item = sl_json_new_map();
    if (sl_json_get(o, list) == NULL) {
        sl_json_set(o, list, sl_json_new_list());
    }
    sl_json_append(sl_json_get(o, list), item);
    return item;
}

/* The flavor's quotas are the newest of the group, or come to be that. */
static struct sl_json *flavor_in(struct sl_json *group, const char *flavor)
{
    struct sl_json *known = sl_json_find_by(sl_json_get(group, "flavors"), "name", flavor);
    if (known == NULL) {
        known = add_to_list(group, "flavors");
        sl_json_set_text(known, "name", flavor);
        sl_json_set(known, "resources", sl_json_new_list());
    }
    return known;
}

static void add_quota(const struct sl_journal_names *names, struct sl_json *group, sl_cell_id cell)
{
    const char *resource = name(names, SL_INTERN_RESOURCE, sl_cell_resource[cell]);
    struct sl_json *flavor = flavor_in(group, name(names, SL_INTERN_FLAVOR, sl_cell_flavor[cell]));
    sl_json_append(sl_json_get(flavor, "resources"), quota_new(names, cell));
    if (sl_json_get(group, "coveredResources") == NULL) {
        sl_json_set(group, "coveredResources", sl_json_new_list());
    }
    if (!sl_json_has_text(sl_json_get(group, "coveredResources"), resource)) {
        sl_json_append(sl_json_get(group, "coveredResources"), sl_json_new_text(resource));
    }
}

static void set_offers(const struct sl_journal_names *names, struct sl_json *spec,
                       sl_qnode_id qnode)
{
    struct sl_json *group = NULL;
    uint32_t number = SL_NO_ID;
    for (sl_cell_id cell = sl_offers_first(qnode); cell != SL_NO_ID; cell = sl_offers_next(cell)) {
        if (group == NULL || sl_offers_group_of(cell) != number) {
            group = add_to_list(spec, "resourceGroups");
            number = sl_offers_group_of(cell);
        }
        add_quota(names, group, cell);
    }
}

/* Of a cohort: its cells have no groups, and those that only pass on what others lend have no quota. */
static void set_quotas(const struct sl_journal_names *names, struct sl_json *spec,
                       sl_qnode_id qnode)
{
    for (sl_cell_id cell = 0; cell < sl_cell_limit; cell++) {
        bool own = sl_cell_home[cell] == qnode + 1 &&
                   (sl_cell_nominal[cell] != 0 || sl_cell_borrowing[cell] != SL_AMOUNT_UNLIMITED ||
                    sl_cell_lending[cell] != SL_AMOUNT_UNLIMITED);
        if (own) {
            add_quota(names, add_to_list(spec, "resourceGroups"), cell);
        }
    }
}

/* --- rules -------------------------------------------------------------------------------------- */

static void set_rules(struct sl_json *spec, struct sl_rules r)
{
    struct sl_json *fungibility = sl_json_path_make(spec, "flavorFungibility");
    sl_json_set_text(spec, "queueingStrategy",
                     r.strategy == SL_STRICT_FIFO ? "StrictFIFO" : "BestEffortFIFO");
    sl_json_set_text(fungibility, "whenCanBorrow",
                     r.when_can_borrow == SL_TRY_NEXT_FLAVOR ? "TryNextFlavor" : "MayStopSearch");
    sl_json_set_text(fungibility, "whenCanPreempt",
                     r.when_can_preempt == SL_TRY_NEXT_FLAVOR ? "TryNextFlavor" : "MayStopSearch");
    if (r.preference == SL_PREEMPTION_OVER_BORROWING) {
        sl_json_set_text(fungibility, "preference", "PreemptionOverBorrowing");
    }
    if (r.by_usage) {
        sl_json_set_text(sl_json_path_make(spec, "admissionScope"), "admissionMode",
                         "UsageBasedAdmissionFairSharing");
    }
}

static void set_preemption(struct sl_json *spec, struct sl_preempt_policy p)
{
    static const char *const within[] = {"Never", "LowerPriority", "LowerOrNewerEqualPriority"};
    static const char *const reclaim[] = {"Never", "LowerPriority", "Any"};
    struct sl_json *o = sl_json_path_make(spec, "preemption");
    sl_json_set_text(o, "withinClusterQueue", within[p.within]);
    sl_json_set_text(o, "reclaimWithinCohort", reclaim[p.reclaim]);
    if (p.borrow_within) {
        struct sl_json *borrow = sl_json_path_make(o, "borrowWithinCohort");
        sl_json_set_text(borrow, "policy", "LowerPriority");
        if (p.has_threshold) {
            sl_json_set_int(borrow, "maxPriorityThreshold", p.threshold);
        }
    }
}

static void set_weight(struct sl_json *spec, sl_qnode_id qnode)
{
    int64_t nano = sl_shares_weight(qnode);
    if (nano != SL_WEIGHT_ONE) {
        char text[64];
        sl_quantity_print((struct sl_quantity){nano, SL_QUANTITY_DECIMAL_SI}, text);
        sl_json_set_text(sl_json_path_make(spec, "fairSharing"), "weight", text);
    }
}

static void set_parent(const struct sl_journal_names *names, struct sl_json *spec, const char *key,
                       sl_qnode_id qnode)
{
    if (sl_qnode_up[qnode] != 0) {
        sl_json_set_text(spec, key, name(names, SL_INTERN_QNODE, sl_qnode_up[qnode] - 1));
    }
}

static struct sl_json *check_rules_new(const struct sl_json *checks)
{
    struct sl_json *list = sl_json_new_list();
    for (size_t i = 0; i < sl_json_len(checks); i++) {
        struct sl_json *rule = sl_json_new_map();
        sl_json_set_text(rule, "name", sl_json_text(sl_json_at(checks, i), ""));
        sl_json_append(list, rule);
    }
    return list;
}

struct sl_json *sl_past_cluster_queue_new(const struct sl_journal_names *names, sl_qnode_id qnode,
                                          const struct sl_json *checks)
{
    SL_PRE(names != NULL && qnode < SL_QNODES_MAX);
    struct sl_json *o = of_kind_new(SL_KIND_CLUSTER_QUEUE, "", name(names, SL_INTERN_QNODE, qnode));
    struct sl_json *spec = sl_json_path_make(o, "spec");
    sl_json_set(spec, "namespaceSelector", sl_json_new_map());
    set_parent(names, spec, "cohortName", qnode);
    set_rules(spec, sl_offers_rules(qnode));
    set_preemption(spec, sl_preempt_policy_of(qnode));
    set_weight(spec, qnode);
    set_offers(names, spec, qnode);
    if (!sl_turns_is_active(qnode)) {
        sl_json_set_text(spec, "stopPolicy", "Hold");
    }
    if (sl_json_len(checks) > 0) {
        sl_json_set(sl_json_path_make(spec, "admissionChecksStrategy"), "admissionChecks",
                    check_rules_new(checks));
    }
    return o;
}

struct sl_json *sl_past_cohort_new(const struct sl_journal_names *names, sl_qnode_id qnode)
{
    SL_PRE(names != NULL && qnode < SL_QNODES_MAX);
    struct sl_json *o = of_kind_new(SL_KIND_COHORT, "", name(names, SL_INTERN_QNODE, qnode));
    struct sl_json *spec = sl_json_path_make(o, "spec");
    set_parent(names, spec, "parentName", qnode);
    set_weight(spec, qnode);
    set_quotas(names, spec, qnode);
    return o;
}

/* --- workloads ---------------------------------------------------------------------------------- */

/* Flavors have a taint of their own name in such a past (past_read.c), and it is tolerated but where the flavor was
 * excluded. */
static struct sl_json *tolerations_new(const struct sl_journal_names *names, uint32_t set)
{
    struct sl_json *list = sl_json_new_list();
    bool any = false;
    for (sl_flavor_id f = 0; f < names->of[SL_INTERN_FLAVOR].cap; f++) {
        const char *flavor = names->of[SL_INTERN_FLAVOR].items[f];
        any = any || (flavor != NULL && sl_requests_excludes(set, f) != SL_EXCLUDED_NOT);
    }
    for (sl_flavor_id f = 0; any && f < names->of[SL_INTERN_FLAVOR].cap; f++) {
        const char *flavor = names->of[SL_INTERN_FLAVOR].items[f];
        if (flavor != NULL && sl_requests_excludes(set, f) == SL_EXCLUDED_NOT) {
            struct sl_json *one = sl_json_new_map();
            sl_json_set_text(one, "key", flavor);
            sl_json_set_text(one, "operator", "Exists");
            sl_json_append(list, one);
        }
    }
    if (!any) {
        struct sl_json *all = sl_json_new_map();
        sl_json_set_text(all, "operator", "Exists");
        sl_json_append(list, all);
    }
    return list;
}

static void set_requests(const struct sl_journal_names *names, struct sl_json *container,
                         uint32_t set)
{
    struct sl_json *requests = sl_json_path_make(container, "resources.requests");
    for (uint32_t r = sl_requests_first(set); r != SL_NO_ID; r = sl_requests_next(r)) {
        const char *resource = name(names, SL_INTERN_RESOURCE, sl_requests_resource(r));
        set_amount(requests, resource, sl_requests_per_pod(r), resource);
    }
}

static void set_name_of_set(struct sl_json *o, uint32_t index)
{
    char text[24];
    (void)snprintf(text, sizeof text, index == 0 ? "main" : "set-%u", index);
    sl_json_set_text(o, "name", text);
}

/* Workloads with the same fingerprint are of one shape: the image says which. */
static struct sl_json *pod_set_new(const struct sl_journal_names *names, uint32_t set,
                                   uint32_t index)
{
    char image[32];
    struct sl_json *o = sl_json_new_map();
    struct sl_json *container = sl_json_new_map();
    struct sl_json *containers = sl_json_new_list();
    struct sl_json *spec;
    set_name_of_set(o, index);
    sl_json_set_int(o, "count", sl_requests_pod_count(set));
    if (sl_requests_min_count(set) < sl_requests_pod_count(set)) {
        sl_json_set_int(o, "minCount", sl_requests_min_count(set));
    }
    if (sl_requests_group(set) != SL_NO_ID) {
        char group[24];
        (void)snprintf(group, sizeof group, "group-%u", sl_requests_group(set));
        sl_json_set_text(sl_json_path_make(o, "topologyRequest"), "podSetGroupName", group);
    }
    spec = sl_json_path_make(o, "template.spec");
    (void)snprintf(image, sizeof image, "%016" PRIx64, sl_requests_fingerprint(set));
    sl_json_set_text(container, "name", "main");
    sl_json_set_text(container, "image", image);
    set_requests(names, container, set);
    sl_json_append(containers, container);
    sl_json_set(spec, "containers", containers);
    sl_json_set(spec, "tolerations", tolerations_new(names, set));
    return o;
}

static struct sl_json *pod_sets_new(const struct sl_journal_names *names, sl_workload_id id)
{
    struct sl_json *list = sl_json_new_list();
    uint32_t index = 0;
    for (uint32_t set = sl_requests_first_pod_set(id); set != SL_NO_ID;
         set = sl_requests_next_pod_set(set)) {
        sl_json_append(list, pod_set_new(names, set, index++));
    }
    return list;
}

static void set_metadata(struct sl_json *o, sl_workload_id id)
{
    char text[40];
    struct sl_json *metadata = sl_json_get(o, "metadata");
    struct sl_order_key key = sl_order_of(id);
    (void)snprintf(text, sizeof text, "%016" PRIx64 "%016" PRIx64, key.uid_high, key.uid_low);
    sl_json_set_text(metadata, "uid", text);
    sl_clock_format_micro(key.queued_at_ms, text);
    sl_json_set_text(metadata, "creationTimestamp", text);
    if (sl_workloads[id].gated || sl_workloads[id].on_hold) {
        sl_json_set_text(sl_json_path_make(metadata, "annotations"),
                         "kueue.x-k8s.io/admission-gated-by", "past");
    }
}

/* --- what it holds ------------------------------------------------------------------------------ */

struct sl_json *sl_past_uses_new(const struct sl_journal_names *names, sl_workload_id id)
{
    SL_PRE(names != NULL && id < SL_WORKLOADS_MAX);
    struct sl_json *uses = sl_json_new_map();
    for (uint32_t i = 0; i < sl_commit_usage_count(id); i++) {
        struct sl_cell_amount held = sl_commit_usage(id, i);
        const char *flavor = name(names, SL_INTERN_FLAVOR, sl_cell_flavor[held.cell]);
        struct sl_json *of_flavor = sl_json_get(uses, flavor);
        if (of_flavor == NULL) {
            of_flavor = sl_json_new_map();
            sl_json_set(uses, flavor, of_flavor);
        }
        sl_json_set_int(of_flavor, name(names, SL_INTERN_RESOURCE, sl_cell_resource[held.cell]),
                        held.amount);
    }
    return uses;
}

/* Which pod set holds how much is not in the core: all of a resource is put down to the first set, and what of it is of
 * another flavor to the next. */
static void put_down(const struct sl_journal_names *names, struct sl_json *sets,
                     struct sl_cell_amount held)
{
    const char *resource = name(names, SL_INTERN_RESOURCE, sl_cell_resource[held.cell]);
    for (size_t i = 0; i < sl_json_len(sets); i++) {
        struct sl_json *flavors = sl_json_path_make(sl_json_at(sets, i), "flavors");
        if (!sl_json_has(flavors, resource)) {
            sl_json_set_text(flavors, resource,
                             name(names, SL_INTERN_FLAVOR, sl_cell_flavor[held.cell]));
            set_amount(sl_json_path_make(sl_json_at(sets, i), "resourceUsage"), resource,
                       held.amount, resource);
            return;
        }
    }
}

static struct sl_json *assignments_new(const struct sl_journal_names *names, sl_workload_id id)
{
    struct sl_json *list = sl_json_new_list();
    uint32_t index = 0;
    for (uint32_t set = sl_requests_first_pod_set(id); set != SL_NO_ID;
         set = sl_requests_next_pod_set(set)) {
        struct sl_json *o = sl_json_new_map();
        set_name_of_set(o, index++);
        sl_json_set_int(o, "count", sl_requests_pod_count(set));
        sl_json_append(list, o);
    }
    for (uint32_t i = 0; i < sl_commit_usage_count(id); i++) {
        put_down(names, list, sl_commit_usage(id, i));
    }
    return list;
}

static void add_condition(struct sl_json *status, const char *type, const char *reason,
                          int64_t at_ms)
{
    char text[40];
    struct sl_json *c = add_to_list(status, "conditions");
    sl_clock_format_micro(at_ms == SL_NEVER ? 0 : at_ms, text);
    sl_json_set_text(c, "type", type);
    sl_json_set_text(c, "status", "True");
    sl_json_set_text(c, "reason", reason);
    sl_json_set_text(c, "message", "");
    sl_json_set_text(c, "lastTransitionTime", text);
}

static void set_checks(const struct sl_journal_names *names, struct sl_json *status,
                       sl_workload_id id)
{
    static const char *const states[] = {"Pending", "Ready", "Retry", "Rejected"};
    const struct sl_workload *w = &sl_workloads[id];
    for (uint32_t i = 0; i < w->check_count; i++) {
        struct sl_json *check = add_to_list(status, "admissionChecks");
        sl_json_set_text(check, "name", name(names, SL_INTERN_CHECK, w->checks[i].check));
        sl_json_set_text(check, "state", states[w->checks[i].state]);
    }
}

static void set_admission(const struct sl_journal_names *names, struct sl_json *o,
                          sl_workload_id id)
{
    static const char *const evict_names[] = {
#define SL_REASON(constant, text) [constant] = text,
#include "model/evict_reasons.def"
#undef SL_REASON
    };
    const struct sl_workload *w = &sl_workloads[id];
    struct sl_json *status = sl_json_path_make(o, "status");
    struct sl_json *admission = sl_json_path_make(status, "admission");
    sl_cell_id cell = sl_commit_usage(id, 0).cell;
    sl_json_set_text(admission, "clusterQueue",
                     name(names, SL_INTERN_QNODE, sl_cell_home[cell] - 1));
    sl_json_set(admission, "podSetAssignments", assignments_new(names, id));
    add_condition(status, "QuotaReserved", "QuotaReserved", w->reserved_at_ms);
    if (w->was_admitted) {
        add_condition(status, "Admitted", "Admitted", w->admitted_at_ms);
    }
    if (w->pods_ready == SL_PODS_STARTED || w->pods_ready == SL_PODS_RECOVERED) {
        add_condition(status, "PodsReady", "PodsReady", w->pods_ready_at_ms);
    }
    if (w->phase == SL_PHASE_EVICTED) {
        add_condition(status, "Evicted", evict_names[w->evicted], w->evicted_at_ms);
    }
    set_checks(names, status, id);
}

struct sl_json *sl_past_workload_new(const struct sl_journal_names *names, sl_workload_id id,
                                     const char *local_queue)
{
    SL_PRE(names != NULL && id < SL_WORKLOADS_MAX && local_queue != NULL);
    const char *key = name(names, SL_INTERN_WORKLOAD, id);
    const char *slash = strchr(key, '/');
    char ns[256];
    (void)snprintf(ns, sizeof ns, "%.*s", slash == NULL ? 0 : (int)(slash - key), key);
    struct sl_json *o = of_kind_new(SL_KIND_WORKLOAD, ns, slash == NULL ? key : slash + 1);
    struct sl_json *spec = sl_json_path_make(o, "spec");
    set_metadata(o, id);
    sl_json_set_text(spec, "queueName", local_queue);
    sl_json_set_int(spec, "priority", sl_order_of(id).priority);
    sl_json_set_bool(spec, "active", sl_workloads[id].active);
    if (sl_workloads[id].execution_ms_max > 0) {
        sl_json_set_int(spec, "maximumExecutionTimeSeconds",
                        sl_workloads[id].execution_ms_max / 1000);
    }
    sl_json_set(spec, "podSets", pod_sets_new(names, id));
    if (sl_commit_usage_count(id) > 0) {
        set_admission(names, o, id);
    }
    return o;
}
