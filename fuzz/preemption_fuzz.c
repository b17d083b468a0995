/* SPDX-License-Identifier: Apache-2.0
 * SPDX-FileCopyrightText: The Sluice authors */

/* Drives: sl_preempt_commit with plans out of thin air, and sl_preemption_find, in the little cluster of
 * fuzz/lib/world.h, which lives on between the questions.
 * Oracle: a plan is accepted exactly when it is right by a reference over the plain forest: victims hold quota that
 * the policy lets the preemptor take, with all of them gone it fits, with one of them back (who is not being
 * evicted anyway) it does not: quota, and the hosts where it is to stand, if it is. The former in the world of the cycle, where what was promised to others is taken and
 * the victims of earlier plans are gone, too; the latter in the world that the plan was made in. A refusal changes nothing. What policy proposes is accepted. Guarantees after every
 * step.
 * Input: events; the first says the settings; of the others every third kind is a question. */
#include <string.h>
#include "fuzz/lib/check.h"
#include "fuzz/lib/play.h"
#include "fuzz/lib/sites.h"
#include "fuzz/lib/world.h"
#include "kernel/base/order.h"
#include "kernel/preempt/preempt.h"
#include "policy/queues/passes.h"
#include "policy/preemption/preemption.h"
#include "policy/queues/queues.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

static uint32_t root_of(uint32_t node)
{
    while (world_forest.parent[node] != FOREST_NONE) {
        node = world_forest.parent[node];
    }
    return node;
}

static bool lower(sl_workload_id a, sl_workload_id b)
{
    return sl_order_keys[a].priority < sl_order_keys[b].priority;
}

/* What the cycle has promised to others, one row at most. */
static struct sl_cell_amount promise;

static uint32_t name_of(sl_cell_id cell)
{
    return world_name(sl_ledger_flavor_of(cell), sl_ledger_resource_of(cell));
}

/* Promised of that in the world that the plan was made in. */
static int64_t promised(uint32_t node, uint32_t name)
{
    bool counts = sl_preempt_plan.after_others && promise.amount != 0 &&
                  sl_ledger_qnode_of(promise.cell) == node && name_of(promise.cell) == name;
    return counts ? promise.amount : 0;
}

/* Does the queue use more than its quota of something that is asked for, before the plan is carried out? */
static bool borrows(uint32_t node)
{
    for (uint32_t i = 0; i < sl_plan.usage_count; i++) {
        uint32_t name = name_of(sl_plan.usage[i].cell);
        if (forest_usage(&world_forest, node, name) + promised(node, name) >
            forest_subtree(&world_forest, node, name)) {
            return true;
        }
    }
    return false;
}

/* May the preemptor's queue take what this one holds at that node? */
static bool may_take(sl_workload_id victim, uint32_t node)
{
    struct sl_preempt_policy policy = sl_preempt_policy_of(sl_plan.cluster_queue);
    bool newer = sl_order_keys[victim].priority == sl_order_keys[sl_plan.workload].priority &&
                 sl_order_keys[victim].queued_at_ms > sl_order_keys[sl_plan.workload].queued_at_ms;
    if (node == sl_plan.cluster_queue) {
        return policy.within != SL_WITHIN_NEVER &&
               (lower(victim, sl_plan.workload) ||
                (policy.within == SL_WITHIN_LOWER_OR_NEWER_EQUAL && newer));
    }
    return root_of(node) == root_of(sl_plan.cluster_queue) && borrows(node) &&
           (policy.reclaim == SL_RECLAIM_ANY ||
            (policy.reclaim == SL_RECLAIM_LOWER_PRIORITY && lower(victim, sl_plan.workload)));
}

/* ... while it borrows itself, if that is the reason that is given? */
static bool may_borrow(uint32_t index)
{
    sl_workload_id victim = sl_preempt_plan.victims[index];
    struct sl_preempt_policy policy = sl_preempt_policy_of(sl_plan.cluster_queue);
    bool low = !policy.has_threshold || sl_order_keys[victim].priority <= policy.threshold;
    return sl_preempt_plan.reasons[index] != SL_PREEMPT_RECLAIM_WHILE_BORROWING ||
           (policy.borrow_within && lower(victim, sl_plan.workload) && low);
}

static bool victim_allowed(sl_workload_id victim)
{
    bool something = false;
    if (!sl_lifecycle_holds_quota(victim)) {
        return false;
    }
    for (uint32_t i = 0; i < sl_commit_usage_count(victim); i++) {
        struct sl_cell_amount usage = sl_commit_usage(victim, i);
        if (usage.amount > 0 && !may_take(victim, sl_ledger_qnode_of(usage.cell))) {
            return false;
        }
        something = something || usage.amount > 0;
    }
    return something;
}

/* With sign -1 it is gone from the forest, with 1 it is back. */
static void shift(sl_workload_id id, int sign)
{
    sites_shift(id, sign);
    for (uint32_t i = 0; i < sl_commit_usage_count(id); i++) {
        struct sl_cell_amount usage = sl_commit_usage(id, i);
        uint32_t name = name_of(usage.cell);
        if (usage.amount != 0) {
            world_forest.held[sl_ledger_qnode_of(usage.cell)][name] += sign * usage.amount;
        }
    }
}

static bool is_available(void)
{
    for (uint32_t i = 0; i < sl_plan.usage_count; i++) {
        struct sl_cell_amount usage = sl_plan.usage[i];
        uint32_t name = name_of(usage.cell);
        if (usage.amount > forest_available(&world_forest, sl_plan.cluster_queue, name)) {
            return false;
        }
    }
    return sites_suffice();
}

/* Does it borrow no more than the plan says that it may? */
static bool borrows_as_said(void)
{
    uint32_t queue = sl_plan.cluster_queue;
    for (uint32_t i = 0; !sl_preempt_plan.may_borrow && i < sl_plan.usage_count; i++) {
        struct sl_cell_amount usage = sl_plan.usage[i];
        uint32_t name = name_of(usage.cell);
        int64_t after = forest_usage(&world_forest, queue, name) + usage.amount;
        if (after > forest_subtree(&world_forest, queue, name)) {
            return false;
        }
    }
    return true;
}

static bool none_spared(void)
{
    for (uint32_t i = 0; i < sl_preempt_plan.victim_count; i++) {
        sl_workload_id id = sl_preempt_plan.victims[i];
        shift(id, 1);
        bool spared =
            sl_workloads[id].phase != SL_PHASE_EVICTED && is_available() && borrows_as_said();
        shift(id, -1);
        if (spared) {
            return false;
        }
    }
    return true;
}

static void enter_cycle(void)
{
    sites_take_promises();
    if (promise.amount != 0) {
        uint32_t name = name_of(promise.cell);
        world_forest.held[sl_ledger_qnode_of(promise.cell)][name] += promise.amount;
    }
    for (uint32_t i = 0; i < sl_preempt_plan.gone_count; i++) {
        shift(sl_preempt_plan.gone[i], -1);
    }
}

static bool is_victim(sl_workload_id id)
{
    bool found = false;
    for (uint32_t i = 0; i < sl_preempt_plan.victim_count; i++) {
        found = found || sl_preempt_plan.victims[i] == id;
    }
    return found;
}

static bool gone_allowed(sl_workload_id id)
{
    return sl_lifecycle_holds_quota(id) && sl_workloads[id].phase == SL_PHASE_EVICTED &&
           !is_victim(id);
}

static bool reference_accepts(void)
{
    bool minimal = true;
    world_hold();
    sites_hold();
    for (uint32_t i = 0; i < sl_preempt_plan.gone_count; i++) {
        if (!gone_allowed(sl_preempt_plan.gone[i])) {
            return false;
        }
    }
    for (uint32_t i = 0; i < sl_preempt_plan.victim_count; i++) {
        if (!victim_allowed(sl_preempt_plan.victims[i]) || !may_borrow(i)) {
            return false;
        }
    }
    for (uint32_t i = 0; i < sl_preempt_plan.victim_count; i++) {
        shift(sl_preempt_plan.victims[i], -1);
    }
    if (!sl_preempt_plan.after_others) {
        minimal = borrows_as_said() && none_spared();
    }
    enter_cycle();
    bool fits = is_available();
    if (sl_preempt_plan.after_others) {
        minimal = borrows_as_said() && none_spared();
    }
    return sl_preempt_plan.victim_count > 0 && fits && minimal;
}

/* The claims that are asked for: up to four cells of the queue. */
static void ask(struct producer *p, sl_workload_id id, uint32_t queue)
{
    memset(&sl_plan, 0, sizeof sl_plan);
    sl_plan.workload = id;
    sl_plan.generation = sl_workloads[id].generation;
    sl_plan.cluster_queue = queue;
    sl_plan.now_ms = world_now_ms;
    uint32_t which = producer_byte(p);
    for (uint32_t name = 0; name < NAMES; name++) {
        if (which >> name & 1) {
            sl_cell_id cell = sl_ledger_find_cell(queue, PLAIN + name / 2, CPU + name % 2);
            sl_plan.usage[sl_plan.usage_count++] =
                (struct sl_cell_amount){cell, producer_below(p, 24)};
        }
    }
}

static void take_random_victims(struct producer *p)
{
    uint32_t chosen = producer_byte(p);
    chosen |= (uint32_t)producer_byte(p) << 8;
    sl_preempt_plan.may_borrow = producer_byte(p) % 2 != 0;
    sl_preempt_plan.victim_count = 0;
    for (sl_workload_id id = 0; id < SLOTS; id++) {
        if (chosen >> id & 1) {
            sl_preempt_plan.victims[sl_preempt_plan.victim_count] = id;
            sl_preempt_plan.reasons[sl_preempt_plan.victim_count++] =
                (enum sl_preempt_reason)(1 + id % (SL_PREEMPT_REASONS - 1));
        }
    }
}

/* Which world the plan was made in: victims of earlier plans, most of the time only such as may be, and a promise. */
static void take_random_others(struct producer *p)
{
    uint32_t chosen = producer_byte(p);
    chosen |= (uint32_t)producer_byte(p) << 8;
    uint32_t how = producer_byte(p);
    uint32_t queue = COHORTS + producer_below(p, NODES - COHORTS);
    uint32_t name = producer_below(p, NAMES);
    sl_preempt_plan.after_others = how % 2 != 0;
    for (sl_workload_id id = 0; id < SLOTS; id++) {
        if ((chosen >> id & 1) && (gone_allowed(id) || how % 32 == 31)) {
            sl_preempt_plan.gone[sl_preempt_plan.gone_count++] = id;
        }
    }
    promise.cell = sl_ledger_find_cell(queue, PLAIN + name / 2, CPU + name % 2);
    promise.amount = producer_below(p, 8);
    if (promise.amount != 0 && sl_promise_add(promise.cell, promise.amount) != SL_OK) {
        promise.amount = 0;
    }
}

/* Where its pods are to stand, and what of that is promised to others already. */
static void take_random_sites(struct producer *p, sl_workload_id id, uint32_t how)
{
    if (how / 4 % 4 == 3) {
        sites_ask(p, id, false);
        sites_promise();
    }
    if (how / 2 % 2 != 0) {
        sites_ask(p, id, false);
    } else {
        sites_ask_nothing(id);
    }
}

/* Whom policy proposes; false when nobody needs to go, or nobody would help. */
static bool take_proposed_victims(void)
{
    bool contested = false;
    sl_preemption_question = (struct sl_preemption_question){
        .preemptor = sl_plan.workload, .cluster_queue = sl_plan.cluster_queue};
    for (uint32_t i = 0; i < sl_plan.usage_count; i++) {
        struct sl_cell_amount usage = sl_plan.usage[i];
        if (usage.amount == 0) { /* nobody asks for nothing: flavors.c leaves it out */
            return false;
        }
        bool short_of = usage.amount > sl_ledger_available(usage.cell);
        contested = contested || short_of;
        sl_preemption_question.needs[sl_preemption_question.need_count++] =
            (struct sl_need){usage.cell, usage.amount, short_of};
    }
    if (!contested || sl_preemption_find(world_now_ms) == 0) {
        return false;
    }
    sl_preempt_plan.may_borrow = sl_victims.may_borrow;
    sl_preempt_plan.victim_count = sl_victims.count;
    memcpy(sl_preempt_plan.victims, sl_victims.workloads, sizeof sl_preempt_plan.victims);
    memcpy(sl_preempt_plan.reasons, sl_victims.reasons, sizeof sl_preempt_plan.reasons);
    return true;
}

/* As much as there is now, or a little less. */
static void ask_for_all(struct producer *p)
{
    for (uint32_t i = 0; i < sl_plan.usage_count; i++) {
        struct sl_cell_amount *usage = &sl_plan.usage[i];
        uint32_t name = name_of(usage->cell);
        int64_t available = forest_available(&world_forest, sl_plan.cluster_queue, name);
        int64_t left = producer_below(p, 3);
        usage->amount = available > left && available < 1000 ? available - left : 0;
    }
}

/* A plan that is right in the world it is made in: all who may be taken, without those that can be spared;
 * with `extra` the first of those stays in it. */
static void take_needed_victims(struct producer *p, bool placed, bool extra)
{
    uint32_t kept = 0;
    world_hold();
    sites_hold();
    for (sl_workload_id id = 0; id < SLOTS; id++) {
        if (sl_workloads[id].phase != SL_PHASE_EVICTED && victim_allowed(id)) {
            sl_preempt_plan.victims[sl_preempt_plan.victim_count++] = id;
            shift(id, -1);
        }
    }
    if (sl_preempt_plan.after_others) {
        enter_cycle();
    }
    ask_for_all(p);
    if (placed) {
        sites_ask(p, sl_plan.workload, true);
    }
    for (uint32_t i = 0; i < sl_preempt_plan.victim_count; i++) {
        sl_workload_id id = sl_preempt_plan.victims[i];
        shift(id, 1);
        bool needed = !is_available() || !borrows_as_said();
        if (needed || extra) {
            extra = extra && needed;
            shift(id, -1);
            sl_preempt_plan.reasons[kept] = SL_PREEMPT_IN_CLUSTER_QUEUE;
            sl_preempt_plan.victims[kept++] = id;
        }
    }
    sl_preempt_plan.victim_count = kept;
}

static void judge(bool proposed)
{
    struct sl_workload before[SLOTS];
    memcpy(before, sl_workloads, sizeof before);
    bool right = reference_accepts();
    enum sl_status status = sl_preempt_commit();
    CHECK((status == SL_OK) == right);
    CHECK(status == SL_OK || memcmp(before, sl_workloads, sizeof before) == 0);
    CHECK(status == SL_OK || !proposed);
    for (uint32_t i = 0; status == SL_OK && i < sl_preempt_plan.victim_count; i++) {
        sl_workload_id id = sl_preempt_plan.victims[i];
        CHECK(sl_workloads[id].phase == SL_PHASE_EVICTED);
        sl_queues_settle(id, world_now_ms);
        sl_passes_settle(id, world_now_ms);
    }
    sl_promise_clear();
    sl_topology_promise_clear();
}

static void question(struct producer *p)
{
    uint32_t queue = COHORTS + producer_below(p, NODES - COHORTS);
    uint32_t how = producer_byte(p);
    bool proposed = how % 2 != 0;
    bool needed = !proposed && how / 4 % 2 != 0;
    sl_queues_flush();
    sl_workload_id id = sl_queues_take(queue);
    if (id == SL_NO_ID) {
        return;
    }
    ask(p, id, queue);
    sites_begin(id);
    sl_preempt_plan.after_others = false;
    sl_preempt_plan.gone_count = 0;
    promise.amount = 0;
    if (!proposed) {
        take_random_victims(p);
        take_random_others(p);
        take_random_sites(p, id, how / 8);
    }
    if (needed) {
        sl_preempt_plan.victim_count = 0;
        take_needed_victims(p, how / 16 % 2 != 0, how / 32 % 4 == 3);
    }
    if (!proposed || take_proposed_victims()) {
        judge(proposed);
    }
    sl_queues_put_back(id, SL_PUT_HEAP);
}

static bool step(struct producer *p)
{
    if (producer_byte(p) % 3 == 0) {
        question(p);
        return true;
    }
    return world_step(p);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    (void)world_play(data, size, step);
    return 0;
}
