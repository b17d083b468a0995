/* SPDX-License-Identifier: Apache-2.0
 * SPDX-FileCopyrightText: The Sluice authors */

/* Whole scheduling cycles. Between them: the clock goes on, evicted jobs stop where the case says
 * so, and what was written comes back to the engine as the watch would bring it. */
#include "base/clock.h"
#include "api/objects/quantity.h"
#include "conformance.h"
#include "engine/quota/quotas.h"
#include "engine/decisions/standing.h"
#include "kernel/lifecycle/second_pass.h"
#include "policy/cycle/cycle.h"
#include "policy/flavors/flavors.h"
#include "policy/queues/line.h"
#include "policy/queues/queues.h"
#include "policy/queues/turns.h"
#include <stdio.h>
#include <string.h>

/* --- where everything is ---------------------------------------------------------------------- */

enum line { LINE_LEFT, LINE_INADMISSIBLE };

static bool goes_back_to_heap(const struct conf_world *w, sl_workload_id id, sl_qnode_id node)
{
    return sl_standing_queue_to_blame(w->g, id) || sl_offers_rules(node).strategy == SL_STRICT_FIFO;
}

/* Kueue keeps the Workloads of a queue that is inactive in its heap, and Sluice out of line: both
 * try them when the queue is active again. The same of those that cannot be used, which Kueue's
 * cycle puts back as any other. */
static bool in_line(const struct conf_world *w, sl_workload_id id, enum line line,
                    sl_qnode_id *node)
{
    enum sl_place place = id == SL_NO_ID ? SL_PLACE_NONE : sl_place_of(id);
    *node = id == SL_NO_ID ? SL_NO_ID : sl_queues_queue_of(id);
    if (place == SL_PLACE_HEAP || place == SL_PLACE_INADMISSIBLE) {
        return *node != SL_NO_ID && sl_queues_awaits_turn(id) == (line == LINE_LEFT);
    }
    if (place == SL_PLACE_ORPHANED) {
        *node = w->g->workloads[id].queue->cluster_queue;
        bool known = *node != SL_NO_ID && w->g->qnodes[*node]->exists;
        return known && goes_back_to_heap(w, id, *node) == (line == LINE_LEFT);
    }
    return false;
}

/* ClusterQueue -> keys of those in line there, to be tried or not. */
static struct sl_json *new_line(const struct conf_world *w, enum line line)
{
    struct sl_json *out = sl_json_new_map();
    for (size_t i = 0; i < sl_json_len(w->store.workloads); i++) {
        char key[512];
        conf_key(sl_json_at(w->store.workloads, i), key);
        sl_qnode_id node;
        if (!in_line(w, conf_workload_id(w, key), line, &node)) {
            continue;
        }
        const char *queue = w->g->qnodes[node]->name;
        if (sl_json_get(out, queue) == NULL) {
            sl_json_set(out, queue, sl_json_new_list());
        }
        sl_json_append(sl_json_get(out, queue), sl_json_new_text(key));
    }
    return out;
}

/* Of queues that are inactive Kueue's snapshot says nothing, and so nothing was recorded. */
static bool is_recorded(const struct conf_world *w, sl_qnode_id node)
{
    return w->g->qnodes[node]->is_cluster_queue && w->g->qnodes[node]->active;
}

static struct sl_json *new_usage(const struct conf_world *w)
{
    struct sl_json *out = sl_json_new_map();
    for (sl_cell_id cell = 0; cell < sl_cell_limit; cell++) {
        sl_qnode_id node = sl_ledger_qnode_of(cell);
        if (node == SL_NO_ID || sl_ledger_own(cell) == 0 || !is_recorded(w, node)) {
            continue;
        }
        const char *queue = w->g->qnodes[node]->name;
        const char *flavor = conf_flavor_name(w, sl_ledger_flavor_of(cell));
        if (sl_json_get(out, queue) == NULL) {
            sl_json_set(out, queue, sl_json_new_map());
        }
        struct sl_json *flavors = sl_json_get(out, queue);
        if (sl_json_get(flavors, flavor) == NULL) {
            sl_json_set(flavors, flavor, sl_json_new_map());
        }
        sl_json_set_int(sl_json_get(flavors, flavor),
                        conf_resource_name(w, sl_ledger_resource_of(cell)), sl_ledger_own(cell));
    }
    return out;
}

static struct sl_json *new_assignments(const struct conf_world *w)
{
    struct sl_json *out = sl_json_new_map();
    for (size_t i = 0; i < sl_json_len(w->store.workloads); i++) {
        char key[512];
        const struct sl_json *o = sl_json_at(w->store.workloads, i);
        conf_key(o, key);
        sl_workload_id id = conf_workload_id(w, key);
        enum sl_place place = sl_place_of(id);
        if ((place == SL_PLACE_HOLDING || place == SL_PLACE_SECOND_PASS) &&
            is_recorded(w, w->g->workloads[id].held_at)) {
            sl_json_set(out, key, sl_json_clone(sl_json_path(o, "status.admission")));
        }
    }
    return out;
}

/* --- what metrics count ----------------------------------------------------------------------- */

static const struct conf_world *counted; /* NULL: nobody counts */
static struct sl_json *skipped;          /* ClusterQueue -> preemptions skipped */
static struct sl_json *recomputed;       /* ClusterQueue -> result -> how many */

/* The linker sends the engine's calls of sl_cycle_next here, to look at each outcome. */
bool __real_sl_cycle_next(void);
bool __wrap_sl_cycle_next(void);

static void count(struct sl_json *map, const char *key)
{
    sl_json_set_int(map, key, sl_json_int(sl_json_get(map, key), 0) + 1);
}

/* Kueue gives what victims of the same cycle still hold to somebody else, and the kernel does not.
 * Whoever looks for the cause of a difference wants to know. */
static void note_refusal(void)
{
    enum sl_status status = sl_cycle_outcome.status;
    if (counted != NULL && (status == SL_REFUSED_QUOTA || status == SL_REFUSED_CAPACITY)) {
        puts("# note: the kernel refused somebody what is not free yet");
    }
}

bool __wrap_sl_cycle_next(void)
{
    static const char *const results[] = {[SL_RECOMPUTED_NOT] = "",
                                          [SL_RECOMPUTED_SKIPPED] = "skipped",
                                          [SL_RECOMPUTED_NEW_VICTIMS] = "new_targets",
                                          [SL_RECOMPUTED_DEFERRED] = "deferred_fit"};
    if (!__real_sl_cycle_next()) {
        return false;
    }
    note_refusal();
    if (counted != NULL && sl_cycle_outcome.cluster_queue != SL_NO_ID) {
        const char *queue = counted->g->qnodes[sl_cycle_outcome.cluster_queue]->name;
        if (sl_cycle_outcome.skipped_preemption) {
            count(skipped, queue);
        }
        if (sl_cycle_outcome.recomputed != SL_RECOMPUTED_NOT) {
            if (sl_json_get(recomputed, queue) == NULL) {
                sl_json_set(recomputed, queue, sl_json_new_map());
            }
            count(sl_json_get(recomputed, queue), results[sl_cycle_outcome.recomputed]);
        }
    }
    return true;
}

/* --- nobody watches nodes --------------------------------------------------------------------- */

/* The controller that marks failed nodes did not run when the cases were recorded: marks are those that
 * the objects have. The linker sends the engine's calls here. */
void __wrap_sl_node_health_node(struct sl_engine *g, const struct sl_json *node, bool gone,
                                int64_t now_ms);
void __wrap_sl_node_health_pod(struct sl_engine *g, const struct sl_json *pod, bool gone,
                               int64_t now_ms);
void __wrap_sl_node_health_settle(struct sl_engine *g, int64_t now_ms);

void __wrap_sl_node_health_node(struct sl_engine *g, const struct sl_json *node, bool gone,
                                int64_t now_ms)
{
    (void)g, (void)node, (void)gone, (void)now_ms;
}

void __wrap_sl_node_health_pod(struct sl_engine *g, const struct sl_json *pod, bool gone,
                               int64_t now_ms)
{
    (void)g, (void)pod, (void)gone, (void)now_ms;
}

void __wrap_sl_node_health_settle(struct sl_engine *g, int64_t now_ms)
{
    (void)g, (void)now_ms;
}

/* --- nobody sums up what LocalQueues use ------------------------------------------------------ */

/* That is another controller's, too: usage is what the case begins with and what penalties add to it. */
void __wrap_sl_accounts_sample(struct sl_engine *g, int64_t now_ms);

void __wrap_sl_accounts_sample(struct sl_engine *g, int64_t now_ms)
{
    (void)g, (void)now_ms;
}

/* --- comparing -------------------------------------------------------------------------------- */

static void expect_lines(const char *path, const struct sl_json *expected,
                         const struct sl_json *got)
{
    const struct sl_json *sides[] = {expected, got};
    for (size_t s = 0; s < 2; s++) {
        void *it = NULL;
        const char *queue;
        struct sl_json *keys;
        while (sl_json_next(sides[s], &it, &queue, &keys)) {
            char below[600];
            (void)snprintf(below, sizeof below, "%s[%s]", path, queue);
            if (s == 0 || !sl_json_has(expected, queue)) {
                conf_expect_set(below, sl_json_get(expected, queue), sl_json_get(got, queue));
            }
        }
    }
}

static void expect_left(const char *prefix, const struct sl_json *expect,
                        const struct conf_world *w)
{
    char path[64];
    struct sl_json *left = new_line(w, LINE_LEFT);
    struct sl_json *parked = new_line(w, LINE_INADMISSIBLE);
    (void)snprintf(path, sizeof path, "%sleft", prefix);
    expect_lines(path, sl_json_get(expect, "left"), left);
    (void)snprintf(path, sizeof path, "%sinadmissibleLeft", prefix);
    expect_lines(path, sl_json_get(expect, "inadmissibleLeft"), parked);
    sl_json_free(left);
    sl_json_free(parked);
}

static void expect_assignments(const struct sl_json *expected, const struct sl_json *got)
{
    const struct sl_json *sides[] = {expected, got};
    for (size_t s = 0; s < 2; s++) {
        void *it = NULL;
        const char *key;
        struct sl_json *value;
        while (sl_json_next(sides[s], &it, &key, &value)) {
            char path[600];
            (void)snprintf(path, sizeof path, "assignments[%s]", key);
            if (s == 0 || !sl_json_has(expected, key)) {
                conf_expect_admission(path, sl_json_get(expected, key), sl_json_get(got, key));
            }
        }
    }
}

static void subtract_held(const struct sl_json *admission, struct sl_json *usage)
{
    const struct sl_json *sets = sl_json_get(admission, "podSetAssignments");
    struct sl_json *queue = sl_json_get(usage, sl_json_path_text(admission, "clusterQueue", ""));
    for (size_t i = 0; i < sl_json_len(sets); i++) {
        const struct sl_json *set = sl_json_at(sets, i);
        void *it = NULL;
        const char *resource;
        struct sl_json *flavor;
        while (sl_json_next(sl_json_get(set, "flavors"), &it, &resource, &flavor)) {
            struct sl_json *of = sl_json_get(queue, sl_json_text(flavor, ""));
            struct sl_quantity q = {0};
            struct sl_error e = {0};
            if (sl_quantity_read(sl_json_get(sl_json_get(set, "resourceUsage"), resource), &q,
                                 &e) == SL_CODE_OK) {
                sl_json_set_int(of, resource,
                                sl_json_int(sl_json_get(of, resource), 0) -
                                    sl_quantity_amount(q, resource));
            }
        }
    }
}

/* Slices whose place was taken count in what was recorded, since only the scheduler ran: their end was written, and
 * nobody observed it. They are taken out of copies of it. */
static void leave_out_replaced(const struct sl_json *expect, struct sl_json *assignments,
                               struct sl_json *usage)
{
    const struct sl_json *workloads = sl_json_get(expect, "workloads");
    for (size_t i = 0; i < sl_json_len(workloads); i++) {
        char key[512];
        const struct sl_json *o = sl_json_at(workloads, i);
        const struct sl_json *c = sl_condition_find(o, "Finished");
        if (strcmp(sl_json_path_text(c, "reason", ""), "WorkloadSliceReplaced") == 0) {
            conf_key(o, key);
            subtract_held(sl_json_get(assignments, key), usage);
            sl_json_remove(assignments, key);
        }
    }
}

static void expect_end(const struct conf_case *c, const struct conf_world *w)
{
    const struct sl_json *expect = c->expect;
    struct sl_json *expected_usage = sl_json_clone(sl_json_get(expect, "usage"));
    struct sl_json *expected = sl_json_clone(sl_json_get(expect, "assignments"));
    leave_out_replaced(expect, expected, expected_usage);
    struct sl_json *usage = new_usage(w);
    struct sl_json *assignments = new_assignments(w);
    const char *broken = NULL;
    conf_expect_workloads(sl_json_get(expect, "workloads"), w->store.workloads);
    expect_assignments(expected, assignments);
    conf_expect_amounts("usage", expected_usage, usage);
    expect_left("", expect, w);
    if (sl_json_get(expect, "cycles") == NULL) {
        conf_expect_notes(expect, &w->store);
    }
    if (sl_json_has(expect, "skippedPreemptions")) {
        conf_expect_amounts("skippedPreemptions", sl_json_get(expect, "skippedPreemptions"),
                            skipped);
    }
    if (sl_json_has(expect, "preemptionTargetRecomputations")) {
        conf_expect_amounts("preemptionTargetRecomputations",
                            sl_json_get(expect, "preemptionTargetRecomputations"), recomputed);
    }
    if (!sl_engine_valid(w->g, &broken)) {
        conf_differ("guarantees", "all hold", broken);
    }
    sl_json_free(usage);
    sl_json_free(assignments);
    sl_json_free(expected_usage);
    sl_json_free(expected);
}

/* --- between cycles --------------------------------------------------------------------------- */

static void deliver(struct conf_world *w, const char *key)
{
    struct sl_error e = {0};
    const struct sl_json *o = conf_store_find(&w->store, key);
    if (sl_json_has(w->store.changed, key)) {
        sl_json_remove(w->store.changed, key);
        (void)sl_engine_observe(w->g, SL_KIND_WORKLOAD, o, w->now_ms, &e);
    }
}

static bool delivers_updates(const struct conf_case *c)
{
    return sl_json_path_bool(sl_json_get(c->root, "run"), "deliverUpdates", true);
}

static void pass_time(const struct conf_case *c, struct conf_world *w)
{
    const struct sl_json *run = sl_json_get(c->root, "run");
    bool finish = sl_json_path_bool(run, "finishEvictions", false);
    w->now_ms += sl_json_path_int(run, "stepSeconds", 1) * 1000;
    sl_clock_set_virtual(w->now_ms);
    if (!delivers_updates(c)) {
        return;
    }
    for (size_t i = 0; i < sl_json_len(w->store.workloads); i++) {
        char key[512];
        const struct sl_json *o = sl_json_at(w->store.workloads, i);
        conf_key(o, key);
        if (finish && sl_condition_true(o, "Evicted") && sl_condition_true(o, "QuotaReserved")) {
            sl_engine_job_stopped(w->g, o, w->now_ms);
            conf_store_carry_out(&w->store);
        }
        deliver(w, key);
    }
    conf_store_carry_out(&w->store);
}

/* --- cycles ----------------------------------------------------------------------------------- */

/* Whose write was refused is seen again, as it is: the watch brings what made it so. */
static void run_cycle(struct conf_world *w)
{
    sl_engine_force_cycle(w->g, w->now_ms);
    conf_store_carry_out(&w->store);
    for (size_t i = 0; w->store.status_error != SL_CODE_OK && i < sl_json_len(w->store.workloads);
         i++) {
        char key[512];
        conf_key(sl_json_at(w->store.workloads, i), key);
        deliver(w, key);
    }
}

static void show(const struct conf_case *c, const struct conf_world *w, size_t cycle)
{
    char what[32];
    if (!c->verbose) {
        return;
    }
    struct sl_json *left = new_line(w, LINE_LEFT);
    struct sl_json *parked = new_line(w, LINE_INADMISSIBLE);
    struct sl_json *usage = new_usage(w);
    (void)snprintf(what, sizeof what, "after cycle %zu", cycle + 1);
    conf_show(what, w->store.events);
    conf_show("workloads", w->store.workloads);
    conf_show("left", left);
    conf_show("inadmissibleLeft", parked);
    conf_show("usage", usage);
    sl_json_free(left);
    sl_json_free(parked);
    sl_json_free(usage);
}

/* When objects are loaded Kueue notes that what is parked may be tried again, and comes to that only
 * after the first cycle. Nothing has changed by then, so nobody is told that there was a wake-up. */
static void unpark_all(const struct conf_world *w)
{
    for (sl_qnode_id node = 0; node < w->g->qnode_cap; node++) {
        if (w->g->qnodes[node] != NULL && w->g->qnodes[node]->is_cluster_queue) {
            sl_line_wake(node);
            sl_turns_unblock(node);
        }
    }
}

static bool lists(const struct sl_json *keys, const char *key)
{
    for (size_t i = 0; i < sl_json_len(keys); i++) {
        if (strcmp(sl_json_text(sl_json_at(keys, i), ""), key) == 0) {
            return true;
        }
    }
    return false;
}

/* Second passes of those listed are due at once. One that is evicted, since its queue is drained, has
 * none; the controller that would have evicted it did not run when the cases were recorded. Those of others, which Kueue would have queued when
 * it saw their Workloads, were not in its queue. */
static void set_second_passes(const struct conf_case *c, struct conf_world *w)
{
    const struct sl_json *keys = sl_json_path(c->root, "run.secondPass");
    for (size_t i = 0; i < sl_json_len(w->store.workloads); i++) {
        char key[512];
        conf_key(sl_json_at(w->store.workloads, i), key);
        sl_workload_id id = conf_workload_id(w, key);
        sl_second_pass_cancel(id);
        if (lists(keys, key)) {
            enum sl_status status = sl_second_pass_arm(id, 0, w->now_ms - 1000);
            conf_expect_bool("second pass armed", sl_second_pass_needed(id), status == SL_OK);
            if (sl_workloads[id].phase == SL_PHASE_EVICTED) {
                sl_json_set_bool(w->store.drained, key, true);
            }
        }
    }
}

static void run_plain(const struct conf_case *c, struct conf_world *w)
{
    const struct sl_json *cycles = sl_json_get(c->expect, "cycles");
    int64_t count = sl_json_path_int(c->root, "run.cycles", 1);
    for (int64_t i = 0; i < count; i++) {
        char prefix[32];
        if (i > 0) {
            pass_time(c, w);
        }
        if (i == 1 && cycles != NULL && delivers_updates(c)) {
            unpark_all(w);
        }
        run_cycle(w);
        show(c, w, (size_t)i);
        if (cycles != NULL) {
            (void)snprintf(prefix, sizeof prefix, "cycle %d ", (int)i + 1);
            conf_expect_cycle_notes(prefix, sl_json_at(cycles, (size_t)i), &w->store);
            expect_left(prefix, sl_json_at(cycles, (size_t)i), w);
        }
    }
}

/* Quotas alone, so that nobody is told: what waits goes on waiting. */
static void replace_quotas(struct conf_world *w, const struct sl_json *object)
{
    struct sl_quotas fresh = {0};
    struct sl_error e = {0};
    sl_qnode_id node = conf_queue_node(w, sl_object_name(object));
    struct sl_qnode_entry *n = w->g->qnodes[node];
    if (sl_quotas_read(w->g, object, &fresh, w->now_ms, &e) != SL_CODE_OK ||
        sl_quotas_apply(w->g, node, &n->quotas, &fresh, w->now_ms) != SL_OK) {
        conf_differ("quotas", "replaced", e.text);
    }
    sl_quotas_free(&n->quotas);
    n->quotas = fresh;
    sl_flavors_touch_tree(node);
}

static void run_steps(const struct conf_case *c, struct conf_world *w, const struct sl_json *steps)
{
    for (size_t i = 0; i < sl_json_len(steps); i++) {
        const struct sl_json *step = sl_json_at(steps, i);
        const char *op = sl_json_path_text(step, "op", "");
        if (strcmp(op, "schedule") == 0) {
            run_cycle(w);
        } else if (strcmp(op, "updateClusterQueueInCache") == 0) {
            replace_quotas(w, sl_json_get(step, "object"));
        } else {
            sl_queues_flush();
        }
        show(c, w, i);
    }
}

static enum sl_code status_error(const struct sl_json *run)
{
    if (!sl_json_has(run, "statusPatchError")) {
        return SL_CODE_OK;
    }
    return strcmp(sl_json_path_text(run, "statusPatchErrorReason", ""), "NotFound") == 0
               ? SL_CODE_NOT_FOUND
               : SL_CODE_CONFLICT;
}

void conf_run_cycles(const struct conf_case *c)
{
    static struct conf_world w; /* the controller and the recorder point into it */
    const struct sl_json *run = sl_json_get(c->root, "run");
    const struct sl_json *steps = sl_json_get(run, "steps");
    conf_world_open(&w, c, NULL);
    counted = &w;
    skipped = sl_json_new_map();
    recomputed = sl_json_new_map();
    w.store.status_error = status_error(run);
    set_second_passes(c, &w);
    if (steps != NULL) {
        run_steps(c, &w, steps);
    } else {
        run_plain(c, &w);
    }
    expect_end(c, &w);
}
