/* SPDX-License-Identifier: Apache-2.0
 * SPDX-FileCopyrightText: The Sluice authors */

/* Flavor assignment of one workload, with the recorded answers to what preemption could do: the
 * linker sends the calls of sl_preemption_prospect here, and those of other suites go on to it. */
#include "api/objects/quantity.h"
#include "conformance.h"
#include "engine/decisions/slices.h"
#include "engine/topology/constraints.h"
#include "kernel/commit/commit.h"
#include "policy/requests/requests.h"
#include "policy/flavors/flavors.h"
#include "policy/flavors/reducer.h"
#include <stdio.h>
#include <string.h>

static const char *const modes[] = {"NoFit", "Preempt", "DeferredFit", "Fit"};
static const char *const pending_reasons[] = {
#define SL_REASON(constant, text) [constant] = text,
#include "model/pending_reasons.def"
#undef SL_REASON
};

/* --- the oracle ------------------------------------------------------------------------------- */

static const struct conf_world *asked; /* NULL: no answers were recorded */
static const struct sl_json *answers;

struct sl_prospect __real_sl_preemption_prospect(sl_workload_id preemptor,
                                                 sl_qnode_id cluster_queue, sl_cell_id cell,
                                                 int64_t amount, int64_t now_ms);
struct sl_prospect __wrap_sl_preemption_prospect(sl_workload_id preemptor,
                                                 sl_qnode_id cluster_queue, sl_cell_id cell,
                                                 int64_t amount, int64_t now_ms);

static struct sl_prospect read_prospect(const struct sl_json *answer)
{
    const char *text = sl_json_path_text(answer, "possibility", "");
    return (struct sl_prospect){.possibility = strcmp(text, "Preempt") == 0   ? SL_PREEMPT
                                               : strcmp(text, "Reclaim") == 0 ? SL_RECLAIM
                                                                              : SL_NO_CANDIDATES,
                                .borrow_height =
                                    (uint32_t)sl_json_path_int(answer, "borrowingAfter", 0)};
}

struct sl_prospect __wrap_sl_preemption_prospect(sl_workload_id preemptor,
                                                 sl_qnode_id cluster_queue, sl_cell_id cell,
                                                 int64_t amount, int64_t now_ms)
{
    if (asked == NULL) {
        return __real_sl_preemption_prospect(preemptor, cluster_queue, cell, amount, now_ms);
    }
    const char *flavor = conf_flavor_name(asked, sl_ledger_flavor_of(cell));
    const char *resource = conf_resource_name(asked, sl_ledger_resource_of(cell));
    const struct sl_json *results = sl_json_get(answers, "results");
    for (size_t i = 0; i < sl_json_len(results); i++) {
        const struct sl_json *r = sl_json_at(results, i);
        if (strcmp(sl_json_path_text(r, "flavor", ""), flavor) == 0 &&
            strcmp(sl_json_path_text(r, "resource", ""), resource) == 0) {
            return read_prospect(r);
        }
    }
    return read_prospect(sl_json_get(answers, "default"));
}

/* --- what came out ---------------------------------------------------------------------------- */

static struct sl_json *new_flavors(const struct conf_world *w, uint32_t set)
{
    struct sl_json *out = sl_json_new_map();
    for (uint32_t i = 0; i < sl_assignment.choice_count; i++) {
        const struct sl_choice *choice = &sl_assignment.choices[i];
        if (choice->pod_set == set) {
            struct sl_json *item = sl_json_new_map();
            sl_json_set_int(item, "borrow", choice->borrow_height);
            sl_json_set_text(item, "mode", modes[choice->mode]);
            sl_json_set_text(item, "name", conf_flavor_name(w, choice->flavor));
            sl_json_set_int(item, "triedFlavorIdx", choice->tried_flavor);
            sl_json_set(out, conf_resource_name(w, choice->resource), item);
        }
    }
    return out;
}

static struct sl_json *new_tried(const struct conf_world *w, uint32_t set)
{
    struct sl_json *out = sl_json_new_map();
    for (uint32_t i = 0; i < sl_assignment.choice_count; i++) {
        const struct sl_choice *choice = &sl_assignment.choices[i];
        if (choice->pod_set == set) {
            sl_json_set_int(out, conf_resource_name(w, choice->resource), choice->tried_flavor);
        }
    }
    return out;
}

/* Of a slice Kueue notes what it uses beyond the one whose place it takes. */
static void subtract_held(const struct conf_world *w, struct sl_json *usage)
{
    uint32_t count = sl_commit_usage_count(sl_assignment.replaces);
    for (uint32_t i = 0; i < count; i++) {
        struct sl_cell_amount held = sl_commit_usage(sl_assignment.replaces, i);
        struct sl_json *resources =
            sl_json_get(usage, conf_flavor_name(w, sl_ledger_flavor_of(held.cell)));
        const char *resource = conf_resource_name(w, sl_ledger_resource_of(held.cell));
        if (sl_json_get(resources, resource) != NULL) {
            sl_json_set_int(resources, resource,
                            sl_json_int(sl_json_get(resources, resource), 0) - held.amount);
        }
    }
}

static struct sl_json *new_usage(const struct conf_world *w)
{
    struct sl_json *out = sl_json_new_map();
    for (uint32_t i = 0; i < sl_assignment.choice_count; i++) {
        const struct sl_choice *choice = &sl_assignment.choices[i];
        const char *flavor = conf_flavor_name(w, choice->flavor);
        const char *resource = conf_resource_name(w, choice->resource);
        struct sl_json *resources = sl_json_get(out, flavor);
        if (resources == NULL) {
            resources = sl_json_new_map();
            sl_json_set(out, flavor, resources);
        }
        sl_json_set_int(resources, resource,
                        sl_json_int(sl_json_get(resources, resource), 0) + choice->amount);
    }
    subtract_held(w, out);
    return out;
}

static struct sl_json *new_attempts(const struct conf_world *w, uint32_t set)
{
    struct sl_json *out = sl_json_new_list();
    for (uint32_t i = 0; i < sl_assignment.attempt_count; i++) {
        const struct sl_attempt *a = &sl_assignment.attempts[i];
        if (a->pod_set == set) {
            struct sl_json *item = sl_json_new_map();
            sl_json_set_text(item, "flavor", conf_flavor_name(w, a->flavor));
            sl_json_set_text(item, "mode", modes[a->mode]);
            sl_json_set_text(item, "noFitReason",
                             a->mode == SL_MODE_NO_FIT ? pending_reasons[a->reason] : "");
            sl_json_append(out, item);
        }
    }
    return out;
}

/* --- comparing -------------------------------------------------------------------------------- */

static void expect_mode(const char *path, const struct sl_json *expected, enum sl_mode got)
{
    conf_expect_text(path, sl_json_text(expected, ""), modes[got]);
}

static void expect_requests(const char *path, const struct sl_json *expected, uint32_t pod_set,
                            uint32_t count, const struct conf_world *w)
{
    struct sl_json *got = sl_json_new_map();
    bool counts_pods = sl_json_has(expected, "pods"); /* only where the queue offers them */
    for (uint32_t r = sl_requests_first(pod_set); r != SL_NO_ID; r = sl_requests_next(r)) {
        char amount[64];
        const char *resource = conf_resource_name(w, sl_requests_resource(r));
        sl_quantity_print_amount(sl_requests_per_pod(r) * count, resource, amount);
        sl_json_set_text(got, resource, amount);
    }
    if (counts_pods) {
        sl_json_set_int(got, "pods", count);
    }
    conf_expect_quantities(path, expected, got);
    sl_json_free(got);
}

/* The recorded attempts are the least that must have been looked at, unless the pod set fits. */
static void expect_attempts(const char *path, const struct sl_json *expected,
                            const struct sl_json *got, bool reasons)
{
    for (size_t i = 0; i < sl_json_len(expected); i++) {
        const struct sl_json *e = sl_json_at(expected, i);
        bool found = false;
        for (size_t k = 0; k < sl_json_len(got) && !found; k++) {
            const struct sl_json *a = sl_json_at(got, k);
            found = sl_json_equal(sl_json_get(e, "flavor"), sl_json_get(a, "flavor")) &&
                    sl_json_equal(sl_json_get(e, "mode"), sl_json_get(a, "mode")) &&
                    (!reasons ||
                     sl_json_equal(sl_json_get(e, "noFitReason"), sl_json_get(a, "noFitReason")));
        }
        if (!found) {
            conf_differ_json(path, e, got);
        }
    }
}

static void expect_flavors(const char *path, const struct sl_json *expected,
                           const struct sl_json *got)
{
    void *it = NULL;
    const char *resource;
    struct sl_json *value;
    while (sl_json_next(expected, &it, &resource, &value)) {
        if (!sl_json_equal(value, sl_json_get(got, resource))) {
            conf_differ_json(path, value, sl_json_get(got, resource));
        }
    }
    conf_expect_int(path, (int64_t)sl_json_len(expected), (int64_t)sl_json_len(got));
}

static void expect_pod_set(const struct conf_world *w, const struct sl_json *expected, uint32_t set,
                           uint32_t pod_set)
{
    char path[128];
    struct sl_json *flavors = new_flavors(w, set);
    struct sl_json *attempts = new_attempts(w, set);
    bool fits = strcmp(sl_json_path_text(expected, "mode", ""), "Fit") == 0;
    (void)snprintf(path, sizeof path, "podSets[%u].mode", set);
    expect_mode(path, sl_json_get(expected, "mode"), sl_assignment.modes[set]);
    (void)snprintf(path, sizeof path, "podSets[%u].count", set);
    conf_expect_int(path, sl_json_path_int(expected, "count", 0), sl_assignment.counts[set]);
    (void)snprintf(path, sizeof path, "podSets[%u].flavors", set);
    expect_flavors(path, sl_json_get(expected, "flavors"), flavors);
    (void)snprintf(path, sizeof path, "podSets[%u].requests", set);
    expect_requests(path, sl_json_get(expected, "requests"), pod_set, sl_assignment.counts[set], w);
    if (!fits) {
        (void)snprintf(path, sizeof path, "podSets[%u].attempts", set);
        expect_attempts(path, sl_json_get(expected, "attempts"), attempts,
                        w->settings.granular_reasons);
    }
    sl_json_free(flavors);
    sl_json_free(attempts);
}

static void expect_assignment(const struct conf_case *c, const struct conf_world *w,
                              sl_workload_id id)
{
    const struct sl_json *sets = sl_json_get(c->expect, "podSets");
    const struct sl_json *tried = sl_json_get(c->expect, "lastTriedFlavorIdx");
    struct sl_json *usage = new_usage(w);
    bool no_fit = sl_assignment.mode == SL_MODE_NO_FIT;
    uint32_t pod_set = sl_requests_first_pod_set(id);
    expect_mode("representativeMode", sl_json_get(c->expect, "representativeMode"),
                sl_assignment.mode);
    conf_expect_int("borrowing", sl_json_path_int(c->expect, "borrowing", 0),
                    sl_assignment.borrow_height);
    /* Where topology fails after the flavors were found Kueue may give no reason; Sluice has one. */
    const char *reason = sl_json_path_text(c->expect, "noFitReason", "");
    if (w->settings.granular_reasons && !(no_fit && reason[0] == '\0')) {
        conf_expect_text("noFitReason", reason,
                         no_fit ? pending_reasons[sl_assignment.reason] : "");
    }
    conf_expect_amounts("usage", sl_json_get(c->expect, "usage"), usage);
    for (uint32_t i = 0; i < sl_json_len(sets); i++) {
        char path[64];
        struct sl_json *got = new_tried(w, i);
        expect_pod_set(w, sl_json_at(sets, i), i, pod_set);
        (void)snprintf(path, sizeof path, "lastTriedFlavorIdx[%u]", i);
        expect_flavors(path, sl_json_at(tried, i), got);
        pod_set = sl_requests_next_pod_set(pod_set);
        sl_json_free(got);
    }
    sl_json_free(usage);
}

/* --- the case --------------------------------------------------------------------------------- */

static struct sl_json *new_workload(const struct conf_case *c)
{
    struct sl_json *o = sl_object_new(SL_KIND_WORKLOAD, "default", "asking");
    sl_json_set(sl_json_path_make(o, "spec"), "podSets",
                sl_json_clone(sl_json_get(c->input, "podSets")));
    if (sl_json_get(c->input, "annotations") != NULL) {
        sl_json_set(sl_json_path_make(o, "metadata"), "annotations",
                    sl_json_clone(sl_json_get(c->input, "annotations")));
    }
    if (sl_json_has(c->input, "replacedWorkloadSlice")) {
        sl_json_set_text(sl_json_path_make(o, "metadata.annotations"), SL_SLICE_ANNOTATION,
                         "default/replaced");
    }
    if (sl_json_has(c->input, "reclaimablePods")) {
        sl_json_set(sl_json_path_make(o, "status"), "reclaimablePods",
                    sl_json_clone(sl_json_get(c->input, "reclaimablePods")));
    }
    return o;
}

/* Partial admission: which counts are tried one after the other, when they fit up to a total. */
static void run_search(const struct conf_case *c, sl_workload_id id)
{
    struct sl_json *probed = sl_json_new_list();
    uint32_t sets = sl_requests_set_count(id);
    int64_t most = sl_json_path_int(c->input, "fitsWhenTotalCountAtMost", 0);
    int64_t total = 0;
    sl_reducer_begin(id);
    while (sl_reducer_next()) {
        struct sl_json *counts = sl_json_new_list();
        total = 0;
        for (uint32_t i = 0; i < sets; i++) {
            sl_json_append(counts, sl_json_new_int(sl_flavors_counts[i]));
            total += sl_flavors_counts[i];
        }
        sl_json_append(probed, counts);
        sl_reducer_report(total <= most);
    }
    bool found = sl_reducer_found();
    total = 0;
    for (uint32_t i = 0; i < sets && found; i++) {
        total += sl_flavors_counts[i];
    }
    conf_expect_bool("found", sl_json_path_bool(c->expect, "found", false), found);
    conf_expect_int("totalCount", sl_json_path_int(c->expect, "totalCount", 0), total);
    if (!sl_json_equal(sl_json_get(c->expect, "probedCounts"), probed)) {
        conf_differ_json("probedCounts", sl_json_get(c->expect, "probedCounts"), probed);
    }
    sl_json_free(probed);
}

/* The slice whose place it takes, with what it holds: amounts of cpu are in thousandths. */
static void restore_replaced(const struct conf_case *c, struct conf_world *w)
{
    const struct sl_json *sets =
        sl_json_path(sl_json_get(c->input, "replacedWorkloadSlice"), "totalRequests");
    struct sl_json *o = sl_object_new(SL_KIND_WORKLOAD, "default", "replaced");
    struct sl_json *list = sl_json_new_list();
    struct sl_error e = {0};
    sl_json_set_text(sl_json_path_make(o, "metadata"), "uid", "replaced");
    sl_json_set(sl_json_path_make(o, "spec"), "podSets",
                sl_json_clone(sl_json_get(c->input, "podSets")));
    for (size_t i = 0; i < sl_json_len(sets); i++) {
        const struct sl_json *set = sl_json_at(sets, i);
        struct sl_json *item = sl_json_new_map();
        struct sl_json *usage = sl_json_new_map();
        void *it = NULL;
        const char *resource;
        struct sl_json *amount;
        while (sl_json_next(sl_json_get(set, "requests"), &it, &resource, &amount)) {
            char text[64];
            sl_quantity_print_amount(sl_json_int(amount, 0), resource, text);
            sl_json_set_text(usage, resource, text);
        }
        sl_json_set_text(item, "name", sl_json_path_text(set, "name", ""));
        sl_json_set(item, "flavors", sl_json_clone(sl_json_get(set, "flavors")));
        sl_json_set(item, "resourceUsage", usage);
        sl_json_append(list, item);
    }
    struct sl_json *status = sl_json_path_make(o, "status");
    sl_json_set(sl_json_path_make(status, "admission"), "podSetAssignments", list);
    sl_json_set_text(sl_json_get(status, "admission"), "clusterQueue",
                     sl_json_path_text(c->input, "clusterQueue", ""));
    (void)sl_condition_set(status, "QuotaReserved", true, "QuotaReserved", "", 1, w->now_ms);
    (void)sl_condition_set(status, "Admitted", true, "Admitted", "", 1, w->now_ms);
    if (sl_engine_observe(w->g, SL_KIND_WORKLOAD, o, w->now_ms, &e) != SL_CODE_OK) {
        conf_differ("replacedWorkloadSlice", "observed", e.text);
    }
    sl_json_free(o);
}

static void run_assign(const struct conf_case *c, struct conf_world *w, sl_workload_id id)
{
    void *it = NULL;
    const char *queue;
    struct sl_json *usage;
    sl_qnode_id node = conf_queue_node(w, sl_json_path_text(c->input, "clusterQueue", ""));
    while (sl_json_next(sl_json_get(c->input, "usage"), &it, &queue, &usage)) {
        conf_charge(w, conf_queue_node(w, queue), usage);
    }
    if (sl_json_has(c->input, "replacedWorkloadSlice")) {
        restore_replaced(c, w);
    }
    /* The queue counts as active even where one of its flavors is gone. */
    if (sl_constraints_request(w->g, id, NULL, node, w->now_ms) != SL_OK) {
        conf_differ("demand", "taken", "refused");
    }
    asked = w;
    answers = sl_json_get(c->input, "preemptionOracle");
    sl_flavors_assign(id, node, w->now_ms);
    expect_assignment(c, w, id);
}

void conf_run_flavors(const struct conf_case *c)
{
    struct conf_world w;
    struct sl_json *workload = new_workload(c);
    conf_world_open(&w, c, workload);
    sl_workload_id id = conf_workload_id(&w, "default/asking");
    if (strcmp(sl_json_path_text(c->input, "op", ""), "podSetReducerSearch") == 0) {
        run_search(c, id);
    } else {
        run_assign(c, &w, id);
    }
    sl_json_free(workload);
}
