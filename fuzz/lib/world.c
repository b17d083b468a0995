/* SPDX-License-Identifier: Apache-2.0
 * SPDX-FileCopyrightText: The Sluice authors */

#include "fuzz/lib/world.h"
#include "fuzz/lib/check.h"
#include "fuzz/lib/refusals.h"
#include "kernel/preempt/preempt.h"
#include "policy/fair/branches.h"
#include "policy/cycle/cycle.h"
#include "policy/flavors/open_cell.h"
#include "policy/common/settings.h"
#include "policy/fair/shares.h"

int64_t world_now_ms;
struct forest world_forest;

static const uint32_t first_parents[NODES] = {SL_NO_ID, 0, SL_NO_ID, 1, 1, 0, 2, 2, SL_NO_ID};

/* --- the start ---------------------------------------------------------------------------------- */

static bool flag(struct producer *p)
{
    return producer_byte(p) % 2 != 0;
}

void world_read_settings(struct producer *p)
{
    struct sl_settings s = sl_settings_default();
    uint32_t bits = producer_byte(p);
    uint32_t more = producer_byte(p);
    uint32_t rest = producer_byte(p);
    s.fair_sharing = bits & 1;
    s.partial_admission = (bits & 2) == 0;
    s.flavor_fungibility = (bits & 4) == 0;
    s.priority_sorting_within_cohort = (bits & 8) == 0;
    s.equivalence_hashing = (bits & 16) == 0;
    s.preserve_scan_progress = (bits & 32) != 0;
    s.recompute_on_overlap = (bits & 64) != 0;
    s.prioritize_preemptors = (bits & 128) != 0;
    s.share_rule_count = 1 + (more & 1);
    s.share_rules[0] = more & 2 ? SL_SHARE_INITIAL : SL_SHARE_FINAL;
    s.share_rules[1] = more & 2 ? SL_SHARE_FINAL : SL_SHARE_INITIAL;
    s.block_until_ready = (more & 12) == 12;
    s.preempt_within_nominal = (more & 16) != 0;
    s.prioritize_non_borrowing = (more & 32) != 0;
    s.balanced_placement = (more & 64) != 0;
    s.profile_mixed = (more & 128) != 0;
    s.recompute_placement = (rest & 1) == 0;
    s.replace_failed = (rest & 2) == 0;
    s.fail_fast = (rest & 4) != 0;
    s.overlapping_flavors = (rest & 8) != 0;
    s.admission_fair_sharing = (rest & 16) != 0;
    s.multi_layer = (rest & 32) != 0;
    s.prefer_affinity = (rest & 64) != 0;
    s.skip_single_pod = (rest & 128) != 0;
    s.place_slices = (rest & 4) == 0;
    sl_settings = s;
}

uint32_t world_name(sl_flavor_id flavor, sl_resource_id resource)
{
    return (flavor - PLAIN) * 2 + (resource - CPU);
}

static sl_cell_id set_quota(sl_qnode_id node, uint32_t name, struct forest_quota q)
{
    sl_cell_id cell = SL_NO_ID;
    int64_t lending = q.lending == FOREST_UNLIMITED ? SL_AMOUNT_UNLIMITED : q.lending;
    int64_t borrowing = q.borrowing == FOREST_UNLIMITED ? SL_AMOUNT_UNLIMITED : q.borrowing;
    CHECK(sl_ledger_open_cell(node, PLAIN + name / 2, CPU + name % 2, &cell) == SL_OK);
    CHECK(sl_ledger_set_quota(cell, q.nominal, lending, borrowing) == SL_OK);
    world_forest.quota[node][name] = q;
    return cell;
}

void world_open_queue(sl_qnode_id node, bool placed_first)
{
    struct sl_rules rules = {SL_BEST_EFFORT_FIFO, SL_MAY_STOP_SEARCH, SL_TRY_NEXT_FLAVOR,
                             SL_BORROWING_OVER_PREEMPTION, false};
    CHECK(sl_queues_configure(node, rules, true) == SL_OK);
    for (uint32_t i = 0; i < NAMES; i++) {
        uint32_t name = placed_first ? (i + 2) % NAMES : i;
        struct forest_quota q = {6 + node, FOREST_UNLIMITED, FOREST_UNLIMITED};
        CHECK(sl_offers_add(node, 0, set_quota(node, name, q)) == SL_OK);
    }
}

void world_forget_node(sl_qnode_id node)
{
    world_forest.parent[node] = FOREST_NONE;
    for (uint32_t name = 0; name < NAMES; name++) {
        world_forest.quota[node][name] =
            (struct forest_quota){0, FOREST_UNLIMITED, FOREST_UNLIMITED};
    }
}

/* The later settings: what most clusters leave as it is. */
static void read_rest(struct producer *p)
{
    uint32_t bits = producer_byte(p);
    sl_settings.requeue_at_eviction = bits & 1;
    sl_settings.ignore_undeclared = bits & 2;
    sl_settings.reclaimable_pods = (bits & 12) != 12;
    sl_settings.topology = (bits & 112) != 112;
}

void world_open(struct producer *settings)
{
    bool placed_first[NODES] = {false};
    world_now_ms = 1000000;
    forest_clear(&world_forest);
    world_read_settings(settings);
    for (sl_qnode_id n = COHORTS; n < NODES; n++) {
        placed_first[n] = flag(settings);
    }
    world_open_trees(producer_byte(settings));
    read_rest(settings);
    world_open_more();
    world_open_variants();
    for (sl_qnode_id n = 0; n < NODES; n++) {
        CHECK(sl_ledger_open_qnode(n) == SL_OK);
        if (first_parents[n] != SL_NO_ID) {
            CHECK(sl_ledger_move_qnode(n, first_parents[n]) == SL_OK);
            world_forest.parent[n] = first_parents[n];
        }
        sl_branches_follow(n);
        if (n >= COHORTS) {
            world_open_queue(n, placed_first[n]);
        }
    }
    fuzz_guarantees_step(SLOTS, false);
}

/* --- workloads ---------------------------------------------------------------------------------- */

static void settle(sl_workload_id id)
{
    sl_queues_settle(id, world_now_ms);
    sl_passes_settle(id, world_now_ms);
    if (sl_queues_queue_of(id) == SL_NO_ID && sl_place_of(id) == SL_PLACE_INADMISSIBLE) {
        CHECK(sl_place_move(id, SL_PLACE_INADMISSIBLE, SL_PLACE_ORPHANED) == SL_OK);
    }
}

enum sl_status world_tell(sl_workload_id id, enum sl_event_kind kind, uint32_t index,
                          uint32_t reason, int64_t value)
{
    struct sl_event ev = {kind,  id,          sl_workloads[id].generation, index, reason,
                          value, world_now_ms};
    enum sl_status status = sl_placement_event(ev);
    if (status == SL_OK) {
        settle(id);
    }
    if (status == SL_OK && kind == SL_EV_DELETE) {
        world_leave_family(id);
    }
    return status;
}

static void request(struct producer *p, sl_workload_id id)
{
    sl_requests_clear(id);
    uint32_t how_many = producer_byte(p);
    for (uint32_t sets = how_many < 248 ? 1 + how_many % 2 : how_many - 245; sets > 0; sets--) {
        uint32_t count = producer_below(p, 5);
        int64_t cpu = producer_below(p, 8);
        uint32_t options = producer_byte(p);
        CHECK(sl_requests_add_pod_set(id, count) == SL_OK);
        if (cpu != 0 || (options & 128) == 0) { /* else it asks for nothing, as leaders may */
            CHECK(sl_requests_add(id, CPU, cpu) == SL_OK);
        }
        if (options & 1) {
            CHECK(sl_requests_add(id, MEMORY, producer_below(p, 8)) == SL_OK);
        }
        if (options & 2) {
            (void)!sl_requests_set_min_count(id, producer_below(p, 4));
        }
        if (options & 4) {
            enum sl_exclusion why =
                (enum sl_exclusion)(SL_EXCLUDED_TAINT + cpu % SL_EXCLUDED_MISSING);
            (void)!sl_requests_add_exclusion(id, options & 8 ? PLAIN : PLACED, why);
        }
        if (options & 16) {
            CHECK(sl_requests_set_group(id, 1) == SL_OK);
        }
        if (options & 32) {
            world_ask_topology(p, id, cpu);
        }
        if (options & 64) {
            (void)!sl_requests_add(id, UNDECLARED, options & 128 ? SL_AMOUNT_MAX / 2 : 1);
        }
    }
}

static struct sl_order_key key_of(struct producer *p, sl_workload_id id)
{
    int32_t priority = (int32_t)producer_below(p, 4);
    return (struct sl_order_key){priority, 1000 + producer_below(p, 8), id / 14, id};
}

static void attach(struct producer *p, sl_workload_id id)
{
    sl_qnode_id queue = COHORTS + producer_below(p, NODES - COHORTS);
    if (queue != sl_queues_queue_of(id)) {
        world_leave_family(id);
        sl_queues_detach(id);
        world_own(id, queue);
    }
    CHECK(sl_queues_attach(id, queue, key_of(p, id)) == SL_OK);
    sl_queues_settle(id, world_now_ms);
}

/* A new one in a free slot; else one that waits changes its spec, its key or its queue. */
static void come(struct producer *p, sl_workload_id id)
{
    if (sl_place_of(id) == SL_PLACE_NONE) {
        CHECK(world_tell(id, SL_EV_CREATE, 0, 0, 0) == SL_OK);
        request(p, id);
        attach(p, id);
        return;
    }
    if (sl_workloads[id].phase != SL_PHASE_PENDING) {
        return;
    }
    switch (producer_below(p, 4)) {
    case 0:
        request(p, id);
        sl_queues_retry(id, world_now_ms);
        break;
    case 1:
        sl_queues_set_key(id, key_of(p, id));
        break;
    case 2:
        sl_queues_detach(id);
        break;
    default:
        attach(p, id);
        break;
    }
}

static int64_t time_of(struct producer *p)
{
    uint32_t choice = producer_below(p, 8);
    return choice == 0 ? 0 : choice == 1 ? SL_TIME_MAX : world_now_ms + producer_below(p, 65536);
}

static void happen(struct producer *p, sl_workload_id id)
{
    enum sl_event_kind kind = (enum sl_event_kind)producer_below(p, SL_EVENT_COUNT);
    uint32_t index = producer_below(p, 6);
    uint32_t reason = producer_below(p, 14);
    if (kind != SL_EV_CREATE) {
        (void)!world_tell(id, kind, index, reason, time_of(p));
    }
}

/* What must come: jobs that were evicted stop, checks say yes. */
static void go_on(uint32_t what)
{
    for (sl_workload_id id = 0; id < SLOTS; id++) {
        if (what % 2 == 0 && sl_workloads[id].phase == SL_PHASE_EVICTED) {
            CHECK(world_tell(id, SL_EV_JOB_STOPPED, 0, 0, 0) == SL_OK);
        }
        for (uint32_t c = 0; what % 2 == 1 && c < sl_workloads[id].check_count; c++) {
            (void)!world_tell(id, SL_EV_CHECK_STATE, sl_workloads[id].checks[c].check,
                              SL_CHECK_READY, 0);
        }
    }
}

/* --- administrators and nodes ------------------------------------------------------------------- */

static int64_t limit_of(struct producer *p)
{
    uint32_t v = producer_byte(p);
    return v >= 128 ? FOREST_UNLIMITED : v % 24;
}

static void change_quota(struct producer *p)
{
    sl_qnode_id node = producer_below(p, NODES);
    uint32_t name = producer_below(p, NAMES);
    int64_t nominal = producer_below(p, 24);
    int64_t lending = limit_of(p);
    (void)set_quota(node, name, (struct forest_quota){nominal, lending, limit_of(p)});
    sl_queues_wake_tree(node);
}

static void change_parent(struct producer *p)
{
    sl_qnode_id node = producer_below(p, NODES);
    sl_qnode_id parent = producer_below(p, COHORTS + 1);
    parent = parent == COHORTS ? SL_NO_ID : parent;
    sl_queues_wake_tree(node);
    sl_queues_flush();
    if (sl_ledger_move_qnode(node, parent) == SL_OK) {
        world_forest.parent[node] = parent;
    }
    sl_branches_follow(node);
    sl_queues_wake_tree(node);
}

static void change_rules(struct producer *p)
{
    sl_qnode_id node = COHORTS + producer_below(p, NODES - COHORTS);
    uint32_t bits = producer_byte(p);
    struct sl_rules rules = {bits & 1 ? SL_STRICT_FIFO : SL_BEST_EFFORT_FIFO,
                             bits & 2 ? SL_TRY_NEXT_FLAVOR : SL_MAY_STOP_SEARCH,
                             bits & 4 ? SL_MAY_STOP_SEARCH : SL_TRY_NEXT_FLAVOR,
                             bits & 8 ? SL_PREEMPTION_OVER_BORROWING : SL_BORROWING_OVER_PREEMPTION,
                             sl_settings.admission_fair_sharing && (bits & 128) != 0};
    CHECK(sl_queues_configure(node, rules, (bits & 112) != 112) == SL_OK);
    struct sl_preempt_policy policy = {(enum sl_preempt_within)producer_below(p, 3),
                                       (enum sl_preempt_reclaim)producer_below(p, 3), flag(p),
                                       flag(p), (int32_t)producer_below(p, 4)};
    policy.borrow_within = policy.borrow_within && policy.reclaim != SL_RECLAIM_NEVER;
    CHECK(sl_preempt_set_policy(node, policy) == SL_OK);
    CHECK(sl_shares_set_weight(node, producer_below(p, 4) * 500000000LL) == SL_OK);
}

/* --- cycles ------------------------------------------------------------------------------------- */

/* When it was tried last, another head took what it was to get. */
static bool was_overtaken[SLOTS];

static void check_outcome(void)
{
    const struct sl_cycle_outcome *o = &sl_cycle_outcome;
    bool holds = sl_lifecycle_holds_quota(o->workload);
    CHECK(o->workload < SLOTS && o->generation == sl_workloads[o->workload].generation);
    if (world_probes) {
        refusals_note(o);
    }
    was_overtaken[o->workload] = o->overtaken;
    /* a second pass that found nothing is told after the heads, one of which may have taken its place */
    bool ended =
        o->result == SL_CYCLE_UNPLACED && sl_workloads[o->workload].phase == SL_PHASE_FINISHED;
    CHECK(ended || (o->result == SL_CYCLE_PENDING) != holds);
    CHECK(o->result != SL_CYCLE_RESERVED || o->status == SL_OK);
    world_judge_variant(o);
    /* a second pass that found nothing is told after the heads, one of which may have evicted it */
    CHECK(o->result == SL_CYCLE_EVICTED || o->result == SL_CYCLE_UNPLACED ||
          sl_workloads[o->workload].phase != SL_PHASE_EVICTED);
    for (uint32_t i = 0; o->victim_count != 0 && i < sl_cycle_evicted.count; i++) {
        CHECK(sl_workloads[sl_cycle_evicted.workloads[i]].phase == SL_PHASE_EVICTED);
        CHECK(sl_cycle_evicted.workloads[i] != o->workload);
    }
}

/* Cycles in which nothing was decided, one after the other. Heads may take each other's reservations and scans along
 * for ever, as in Kueue; the engine waits between such cycles (engine/turn/step.c). */
static uint32_t idle_cycles;

/* The next outcome of the cycle. */
static bool next_outcome(void)
{
    world_note_variants();
    return sl_cycle_next();
}

uint32_t world_cycle(bool all)
{
    uint32_t served = 0, met = 0;
    bool idle = true;
    refusals_begin();
    (void)(all ? sl_cycle_begin_all(world_now_ms) : sl_cycle_begin(world_now_ms));
    while (next_outcome()) {
        check_outcome();
        idle = idle && sl_cycle_outcome.result == SL_CYCLE_PENDING && sl_cycle_evicted.count == 0;
        if (sl_cycle_outcome.result == SL_CYCLE_RESERVED) {
            served++;
            met |= 1u << sl_cycle_outcome.workload;
        }
    }
    (void)sl_cycle_end();
    for (sl_workload_id id = 0; id < SLOTS; id++) {
        if (met >> id & 1) {
            world_met(id);
        }
    }
    idle_cycles = idle ? idle_cycles + 1 : 0;
    return served;
}

static bool anybody_evicted(void)
{
    bool found = false;
    for (sl_workload_id id = 0; id < SLOTS; id++) {
        found = found || sl_workloads[id].phase == SL_PHASE_EVICTED;
    }
    return found;
}

/* At rest a wake-up of everybody admits nobody (G13): who could be served was looked at before. Not asked while
 * somebody is evicted, for whose end others may wait, nor of those who are served because others are evicted now.
 * Nor, without FlavorFungibility, of heads that were overtaken: there a head has always flavors left to try, so one that
 * may preempt no workload stays in front and keeps for itself what there is, as in Kueue (docs/guarantees.md).
 * Without TASHandleOverlappingFlavors pod sets of one workload get in each other's way, and one more workload on their
 * nodes may move them apart. */
bool world_probes = true;

static void probe_quiescence(void)
{
    bool evicted = !world_probes || anybody_evicted() || !sl_settings.overlapping_flavors;
    for (sl_qnode_id n = 0; !evicted && n < NODES; n++) {
        sl_queues_wake_tree(n);
    }
    for (uint32_t cycles = 0; !evicted && cycles < 100 && sl_queues_ready(); cycles++) {
        refusals_begin();
        (void)sl_cycle_begin(world_now_ms);
        while (next_outcome()) {
            bool overtaken = was_overtaken[sl_cycle_outcome.workload];
            check_outcome();
            evicted = evicted || sl_cycle_evicted.count != 0 ||
                      sl_cycle_outcome.result == SL_CYCLE_EVICTED;
            CHECK(evicted || (overtaken && !sl_settings.flavor_fungibility) ||
                  sl_cycle_outcome.result != SL_CYCLE_RESERVED);
        }
        (void)sl_cycle_end();
    }
}

void world_rest(void)
{
    idle_cycles = 0;
    for (uint32_t cycles = 0; sl_queues_ready() || sl_passes_ready(world_now_ms); cycles++) {
        if (idle_cycles > 600) {
            return;
        }
        CHECK(cycles < 2000);
        (void)world_cycle(false);
    }
    probe_quiescence();
}

bool world_step(struct producer *p)
{
    uint32_t operation = producer_byte(p);
    sl_workload_id id = operation / 16;
    world_now_ms += producer_byte(p) * 100;
    switch (operation % 16) {
    case 0:
    case 1:
    case 2:
        come(p, id);
        return true;
    case 3:
    case 4:
        happen(p, id);
        return true;
    case 5:
        (void)!world_tell(id, SL_EV_DELETE, 0, 0, 0);
        return true;
    case 6:
        go_on(operation / 16);
        return false;
    case 7:
        change_quota(p);
        return false;
    case 8:
        change_parent(p);
        return false;
    case 9:
        change_rules(p);
        return false;
    case 10:
        world_change_host(p);
        return false;
    case 11:
        world_fail_host(p);
        return false;
    case 12:
        world_rest();
        return false;
    case 15:
        world_step_more(p);
        return false;
    default:
        (void)world_cycle(operation >= 224);
        return true;
    }
}

void world_check(bool decided)
{
    world_check_families();
    fuzz_guarantees_kernel(SLOTS);
    fuzz_guarantees_policy(SLOTS);
    fuzz_guarantees_step(SLOTS, decided);
}

void world_hold(void)
{
    for (uint32_t n = 0; n < NODES; n++) {
        for (uint32_t k = 0; k < NAMES; k++) {
            world_forest.held[n][k] = 0;
        }
    }
    for (sl_workload_id id = 0; id < SLOTS; id++) {
        for (uint32_t i = 0; i < sl_commit_usage_count(id); i++) {
            struct sl_cell_amount usage = sl_commit_usage(id, i);
            uint32_t name =
                world_name(sl_ledger_flavor_of(usage.cell), sl_ledger_resource_of(usage.cell));
            if (usage.amount != 0) { /* else its cell may be closed by now */
                world_forest.held[sl_ledger_qnode_of(usage.cell)][name] += usage.amount;
            }
        }
    }
}
