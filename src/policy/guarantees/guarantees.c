/* SPDX-License-Identifier: Apache-2.0
 * SPDX-FileCopyrightText: The Sluice authors */

/* Checkers of one state; those of a step are in guarantees_step.c. Where a module has a checker of
 * its own, it is called here. */
#include "policy/guarantees/guarantees.h"

#include "kernel/ledger/cells.h"
#include "kernel/ledger/ledger.h"
#include "kernel/lifecycle/lifecycle.h"
#include "kernel/commit/place.h"
#include "kernel/commit/promise.h"
#include "kernel/topology/topology.h"
#include "kernel/ledger/trail.h"
#include "policy/topology/assumed.h"
#include "policy/fair/branches.h"
#include "policy/queues/holders.h"
#include "policy/requests/offers.h"
#include "policy/queues/passes.h"
#include "policy/queues/queues.h"

/*@ requires known: id < SL_WORKLOADS_MAX; terminates \true; exits \false; assigns \nothing;
    ensures checked: \result == SL_RULE_NONE <==> RecordChecked(id);
    ensures named: \result != SL_RULE_NONE ==> KernelBroken(\result, id); */
static enum sl_rule record_rule(sl_workload_id id)
{
    bool holds = sl_lifecycle_holds_quota(id);
    if (!sl_lifecycle_valid(id)) {
        return SL_RULE_RECORD;
    }
    if (!sl_place_agrees(id)) {
        return SL_RULE_PLACE;
    }
    if (!holds && sl_commit_usage_count(id) != 0) {
        return SL_RULE_LEAK;
    }
    return sl_booking_count(id) != 0 && !sl_lifecycle_holds_capacity(id) ? SL_RULE_CAPACITY_LEAK
                                                                         : SL_RULE_NONE;
}

/*@ terminates \true; exits \false; assigns SL_CHECK_SCRATCH;
    ensures checked: \result == SL_RULE_NONE <==> KernelChecked{Old}(0);
    ensures named: \result != SL_RULE_NONE ==> KernelBroken{Old}(\result, 0); */
static enum sl_rule whole_rule(void)
{
    if (sl_trail_open()) {
        return SL_RULE_TRIAL;
    }
    if (!sl_ledger_valid()) {
        return SL_RULE_LEDGER;
    }
    if (!sl_commit_valid()) {
        return SL_RULE_USAGE;
    }
    if (!sl_second_pass_valid()) {
        return SL_RULE_PASSES;
    }
    return sl_topology_valid() ? SL_RULE_NONE : SL_RULE_TOPOLOGY;
}

struct sl_finding sl_guarantees_kernel(uint32_t limit)
{
    /*@ loop invariant index: 0 <= id <= SL_WORKLOADS_MAX;
        loop invariant checked: \forall integer w; 0 <= w < id ==> RecordChecked(w);
        loop assigns id; loop variant SL_WORKLOADS_MAX - id; */
    for (sl_workload_id id = 0; id < limit && id < SL_WORKLOADS_MAX; id++) {
        enum sl_rule rule = record_rule(id);
        if (rule != SL_RULE_NONE) {
            return (struct sl_finding){rule, id};
        }
    }
    return (struct sl_finding){whole_rule(), 0};
}

/* Is it listed as a holder if it is one, and of the queue whose quota it holds? Only one that holds no amount of anything,
 * since it asks for nothing that has quota, and that waits in no queue, is listed nowhere. */
/*@ requires known: id < SL_WORKLOADS_MAX && UsageCountsValid; terminates \true; exits \false;
    assigns \nothing; */
static bool holder_right(sl_workload_id id)
{
    bool holds = sl_lifecycle_holds_quota(id);
    sl_qnode_id listed = sl_holders_queue_of(id);
    uint32_t count = sl_commit_usage_count(id);
    if (listed == SL_NO_ID) {
        return !holds || (count == 0 && sl_queues_queue_of(id) == SL_NO_ID);
    }
    if (!holds) {
        return false;
    }
    /*@ loop assigns i; loop variant count - i; */
    for (uint32_t i = 0; i < count; i++) {
        if (sl_ledger_qnode_of(sl_commit_usage(id, i).cell) != listed) {
            return false;
        }
    }
    return true;
}

/* Of one pod set, the pods that have a domain; saturates. */
/*@ requires blocks: BlocksSound; terminates \true; exits \false; assigns \nothing; */
static uint32_t pods_standing(sl_workload_id id, uint32_t pod_set)
{
    uint32_t sum = 0;
    uint32_t count = sl_topology_assignment_count(id);
    /*@ loop assigns i, sum; loop variant count - i; */
    for (uint32_t i = 0; i < count; i++) {
        struct sl_domain_assignment assignment = sl_topology_assignment_at(id, i);
        uint32_t pods = assignment.pod_set == pod_set ? assignment.count : 0;
        sum = pods < UINT32_MAX - sum ? sum + pods : UINT32_MAX;
    }
    return sum;
}

/* Of a pod set with an assignment, do as many pods have a domain as were granted? */
/*@ requires blocks: BlocksSound; terminates \true; exits \false; assigns \nothing; */
static bool pods_right(sl_workload_id id)
{
    uint32_t sets = sl_topology_assignment_count(id) != 0 ? SL_POD_SETS_MAX : 0;
    /*@ loop assigns s; loop variant sets - s; */
    for (uint32_t s = 0; s < sets; s++) {
        uint32_t standing = pods_standing(id, s);
        if (standing != 0 && standing != sl_passes_pods(id, s)) {
            return false;
        }
    }
    return true;
}

/*@ requires kernel: id < SL_WORKLOADS_MAX && UsageCountsValid && EntriesInv && RecordsValid &&
      BlocksSound;
    terminates \true; exits \false; assigns \nothing;
    ensures checked: \result == SL_RULE_NONE ==> IndexChecked(id);
    ensures named: \result == SL_RULE_IN_FLIGHT || \result == SL_RULE_PASS_LOST ==> !IndexChecked(id); */
static enum sl_rule index_rule(sl_workload_id id)
{
    enum sl_place place = sl_place_of(id);
    if (place == SL_PLACE_IN_FLIGHT) {
        return SL_RULE_IN_FLIGHT;
    }
    if (place == SL_PLACE_NONE && sl_queues_queue_of(id) != SL_NO_ID) {
        return SL_RULE_ATTACHED;
    }
    if (!holder_right(id)) {
        return SL_RULE_HOLDER;
    }
    if (sl_second_pass_needed(id) && sl_second_pass_due_ms(id) == SL_NEVER) {
        return SL_RULE_PASS_LOST; /* one that is armed in vain does no harm: it is judged when taken */
    }
    return pods_right(id) ? SL_RULE_NONE : SL_RULE_PODS;
}

/* How many are in line; and no workload belongs to a queue beyond it. */
struct line {
    uint64_t count;
    sl_qnode_id queue_limit;
};

/*@ requires known: limit <= SL_WORKLOADS_MAX; terminates \true; exits \false; assigns \nothing;
    ensures queues: \result.queue_limit <= SL_QNODES_MAX; */
static struct line line_of(uint32_t limit)
{
    struct line line = {0, sl_qnode_limit < SL_QNODES_MAX ? sl_qnode_limit : SL_QNODES_MAX};
    /*@ loop invariant queues: line.queue_limit <= SL_QNODES_MAX;
        loop assigns id, line; loop variant limit - id; */
    for (sl_workload_id id = 0; id < limit; id++) {
        enum sl_place place = sl_place_of(id);
        sl_qnode_id queue = sl_queues_queue_of(id);
        line.count += place == SL_PLACE_HEAP || place == SL_PLACE_INADMISSIBLE ? 1 : 0;
        if (queue != SL_NO_ID && queue >= line.queue_limit) {
            line.queue_limit = queue + 1;
        }
    }
    return line;
}

/* Do the queues list as many as are in line? */
/*@ requires known: limit <= SL_WORKLOADS_MAX; terminates \true; exits \false; assigns \nothing; */
static bool line_right(uint32_t limit)
{
    struct line line = line_of(limit);
    uint64_t listed = 0;
    /*@ loop assigns qnode, listed; loop variant line.queue_limit - qnode; */
    for (sl_qnode_id qnode = 0; qnode < line.queue_limit; qnode++) {
        listed += sl_queues_heap_count(qnode);
        listed += sl_queues_parked_count(qnode);
    }
    return listed == line.count;
}

/*@ terminates \true; exits \false; assigns \nothing;
    ensures none: \result ==> NothingPromised; */
static bool nothing_promised(void)
{
    return sl_promise_count() == 0 && sl_site_promises == 0 && sl_assumed_mark() == 0;
}

/*@ requires qnodes: QnodesLinked && limit <= SL_WORKLOADS_MAX; terminates \true; exits \false;
    assigns \nothing;
    ensures none: \result == SL_RULE_NONE ==> NothingPromised;
    ensures other: \result != SL_RULE_IN_FLIGHT && \result != SL_RULE_PASS_LOST; */
static enum sl_rule lists_rule(uint32_t limit)
{
    if (!sl_holders_valid()) {
        return SL_RULE_HOLDERS;
    }
    if (!sl_branches_valid()) {
        return SL_RULE_BRANCHES;
    }
    if (!sl_offers_valid()) {
        return SL_RULE_OFFERS;
    }
    if (!nothing_promised()) {
        return SL_RULE_PROMISES;
    }
    if (!sl_queues_valid()) {
        return SL_RULE_QUEUES;
    }
    return line_right(limit) ? SL_RULE_NONE : SL_RULE_LINE;
}

struct sl_finding sl_guarantees_policy(uint32_t limit)
{
    uint32_t known = limit < SL_WORKLOADS_MAX ? limit : SL_WORKLOADS_MAX;
    /*@ loop invariant index: 0 <= id <= known;
        loop invariant checked: \forall integer w; 0 <= w < id ==> IndexChecked(w);
        loop assigns id; loop variant known - id; */
    for (sl_workload_id id = 0; id < known; id++) {
        enum sl_rule rule = index_rule(id);
        if (rule != SL_RULE_NONE) {
            return (struct sl_finding){rule, id};
        }
    }
    return (struct sl_finding){lists_rule(known), 0};
}
