/* SPDX-License-Identifier: Apache-2.0
 * SPDX-FileCopyrightText: The Sluice authors */

/* Targets. Whatever is noted per qnode holds for one run only: it counts if it carries the number
 * of the run. Shares change on the path from a queue to the root alone, so they are remembered
 * until something on that path is released. */
#include "policy/preemption/targets.h"

#include "kernel/ledger/ledger.h"
#include "kernel/lifecycle/lifecycle.h"
#include "policy/fair/branches.h"
#include "policy/preemption/candidates.h"
#include "policy/preemption/preemption.h"
#include "policy/preemption/tentative.h"

struct note {
    uint64_t left_in;   /* run in which `next` and `end` hold */
    uint64_t pruned_in; /* nothing more is to be had from here */
    uint64_t path_in;   /* on the way from the preemptor to the root */
    uint64_t share_in;  /* `share` is up to date */
    uint64_t kept_in;
    uint32_t next; /* among sl_candidates */
    uint32_t end;
    sl_workload_id kept; /* the first that was kept for later */
    struct sl_share share;
};
static struct note notes[SL_QNODES_MAX];
static uint64_t run; /* grows with each beginning */
static uint64_t first_run;
static bool again;
static int64_t run_now_ms;

/* clang-format off */
#define NOTES notes[0 .. SL_QNODES_MAX - 1]
/* clang-format on */

/* --- what is left ---------------------------------------------------------------------------- */

/*@ terminates \true; exits \false; assigns NOTES; */
static void mark_path(void)
{
    sl_qnode_id qnode = sl_preemption_question.cluster_queue;
    /*@ loop assigns steps, qnode, NOTES; loop variant SL_LEVELS_MAX - steps; */
    for (uint32_t steps = 0; qnode < SL_QNODES_MAX && steps < SL_LEVELS_MAX; steps++) {
        notes[qnode].path_in = run;
        qnode = sl_ledger_parent_qnode(qnode);
    }
}

/*@ terminates \true; exits \false;
    assigns sl_hidden, NOTES, run, first_run, again, run_now_ms; */
void sl_targets_begin(int64_t now_ms)
{
    uint32_t count = sl_candidates_count();
    run++;
    first_run = run;
    again = false;
    run_now_ms = now_ms;
    mark_path();
    /*@ loop assigns i, sl_hidden, NOTES; loop variant count - i; */
    for (uint32_t i = 0; i < count; i++) {
        sl_qnode_id queue = sl_candidates_at(i).queue;
        if (queue >= SL_QNODES_MAX) {
            continue;
        }
        if (notes[queue].left_in != run) {
            notes[queue].left_in = run;
            notes[queue].next = i;
        }
        notes[queue].end = i + 1;
    }
}

/*@ terminates \true; exits \false; assigns NOTES, run, again; */
void sl_targets_begin_again(void)
{
    run++;
    again = true;
    mark_path();
}

/* The candidate at the front of the queue's line; SL_NO_ID = none. */
/*@ requires queue: queue < SL_QNODES_MAX; terminates \true; exits \false; assigns sl_hidden; */
static sl_workload_id front(sl_qnode_id queue)
{
    if (again) {
        return notes[queue].kept_in == first_run ? notes[queue].kept : SL_NO_ID;
    }
    if (notes[queue].left_in != run || notes[queue].next >= notes[queue].end) {
        return SL_NO_ID;
    }
    return sl_candidates_at(notes[queue].next).workload;
}

/*@ terminates \true; exits \false; assigns sl_hidden, NOTES; */
sl_workload_id sl_targets_pop(sl_qnode_id queue)
{
    if (queue >= SL_QNODES_MAX) {
        return SL_NO_ID;
    }
    sl_workload_id id = front(queue);
    if (again) {
        notes[queue].kept_in = 0;
    } else if (id != SL_NO_ID) {
        notes[queue].next++;
    }
    return id;
}

/*@ terminates \true; exits \false; assigns NOTES; */
void sl_targets_keep(sl_qnode_id queue, sl_workload_id id)
{
    if (queue < SL_QNODES_MAX && notes[queue].kept_in != first_run) {
        notes[queue].kept_in = first_run;
        notes[queue].kept = id;
    }
}

/*@ terminates \true; exits \false; assigns NOTES; */
void sl_targets_drop(sl_qnode_id queue)
{
    if (queue < SL_QNODES_MAX) {
        notes[queue].pruned_in = run;
    }
}

/* --- shares ---------------------------------------------------------------------------------- */

/*@ terminates \true; exits \false; assigns NOTES; */
void sl_targets_changed(sl_qnode_id queue)
{
    sl_qnode_id qnode = queue;
    /*@ loop assigns steps, qnode, NOTES; loop variant SL_LEVELS_MAX - steps; */
    for (uint32_t steps = 0; qnode < SL_QNODES_MAX && steps < SL_LEVELS_MAX; steps++) {
        notes[qnode].share_in = 0;
        qnode = sl_ledger_parent_qnode(qnode);
    }
}

/*@ requires ledger: SharesReady && qnode < SL_QNODES_MAX; terminates \true; exits \false;
    assigns sl_hidden, NOTES; */
static struct sl_share share_of(sl_qnode_id qnode)
{
    if (notes[qnode].share_in < first_run) {
        notes[qnode].share = sl_shares_of(qnode);
        notes[qnode].share_in = first_run;
    }
    return notes[qnode].share;
}

/*@ requires qnode: qnode < SL_QNODES_MAX; terminates \true; exits \false; assigns \nothing; */
static bool on_path(sl_qnode_id qnode)
{
    return notes[qnode].path_in == run;
}

/* Right under the lowest common cohort, above the queue. */
/*@ requires qnodes: QnodesLinked && queue < SL_QNODES_MAX; terminates \true; exits \false;
    assigns \nothing; ensures known: \result < SL_QNODES_MAX; */
static sl_qnode_id almost_common(sl_qnode_id queue)
{
    sl_qnode_id qnode = queue;
    sl_qnode_id parent = sl_ledger_parent_qnode(qnode);
    /*@
      loop invariant qnode: qnode < SL_QNODES_MAX && (parent < SL_QNODES_MAX || parent == SL_NO_ID);
      loop assigns steps, qnode, parent;
      loop variant SL_LEVELS_MAX - steps;
    */
    for (uint32_t steps = 0; parent != SL_NO_ID && !on_path(parent) && steps < SL_LEVELS_MAX;
         steps++) {
        qnode = parent;
        parent = sl_ledger_parent_qnode(qnode);
    }
    return qnode;
}

/* A qnode that is not a queue has no share here. */
static const struct sl_share no_share = {0, 0, 0, SL_NO_ID};

/*@ requires ledger: SharesReady; terminates \true; exits \false; assigns sl_hidden, NOTES; */
struct sl_share sl_targets_share(sl_qnode_id queue)
{
    return queue < SL_QNODES_MAX ? share_of(almost_common(queue)) : no_share;
}

/*@ requires ledger: SharesReady; terminates \true; exits \false; assigns sl_hidden, NOTES; */
struct sl_share sl_targets_preemptor_share(sl_qnode_id queue)
{
    sl_qnode_id qnode = sl_preemption_question.cluster_queue;
    if (queue >= SL_QNODES_MAX || qnode >= SL_QNODES_MAX) {
        return no_share;
    }
    sl_qnode_id common = sl_ledger_parent_qnode(almost_common(queue));
    sl_qnode_id parent = sl_ledger_parent_qnode(qnode);
    /*@
      loop invariant qnode: qnode < SL_QNODES_MAX && (parent < SL_QNODES_MAX || parent == SL_NO_ID);
      loop assigns steps, qnode, parent;
      loop variant SL_LEVELS_MAX - steps;
    */
    for (uint32_t steps = 0; parent != common && parent != SL_NO_ID && steps < SL_LEVELS_MAX;
         steps++) {
        qnode = parent;
        parent = sl_ledger_parent_qnode(qnode);
    }
    return share_of(qnode);
}

/*@ requires trial: TrialReady; terminates \true; exits \false;
    assigns sl_hidden, SL_TRIED, sl_trail_depth;
    ensures trial: TrialReady && PastKept{Pre, Post} && sl_trail_depth == \old(sl_trail_depth); */
struct sl_share sl_targets_share_without(sl_qnode_id queue, sl_workload_id id)
{
    if (queue >= SL_QNODES_MAX) {
        return no_share;
    }
    uint32_t mark = sl_trail_begin();
    (void)sl_tentative_free(id);
    struct sl_share share = sl_shares_of(almost_common(queue));
    sl_trail_rollback(mark);
    return share;
}

/* --- the next queue -------------------------------------------------------------------------- */

/* Is candidate a to be tried before b, each at the front of its queue's line? */
/*@ requires queues: queue_a < SL_QNODES_MAX && queue_b < SL_QNODES_MAX; terminates \true;
    exits \false; assigns sl_hidden; */
static bool front_before(sl_qnode_id queue_a, sl_qnode_id queue_b)
{
    sl_workload_id a = front(queue_a);
    sl_workload_id b = front(queue_b);
    if (a >= SL_WORKLOADS_MAX || b >= SL_WORKLOADS_MAX) {
        return a < b;
    }
    bool evicted_a = sl_workloads[a].phase == SL_PHASE_EVICTED;
    bool evicted_b = sl_workloads[b].phase == SL_PHASE_EVICTED;
    sl_qnode_id own = sl_preemption_question.cluster_queue;
    if (evicted_a != evicted_b) {
        return evicted_a;
    }
    if ((queue_a == own) != (queue_b == own)) {
        return queue_b == own;
    }
    return sl_candidates_before(a, b, run_now_ms);
}

/*@ terminates \true; exits \false; assigns \nothing; */
static bool is_cohort(sl_qnode_id qnode)
{
    return sl_branches_first(qnode) != SL_NO_ID;
}

/* A queue stays while it borrows and has candidates, a cohort while it borrows. What is on the
 * preemptor's path need not borrow: there may be something to be evened out below. */
/*@ requires ledger: SharesReady && qnode < SL_QNODES_MAX; terminates \true; exits \false;
    assigns sl_hidden; */
static bool stays(sl_qnode_id qnode)
{
    if (!is_cohort(qnode) && front(qnode) == SL_NO_ID) {
        return false;
    }
    return on_path(qnode) || sl_shares_borrows_any(qnode);
}

/* Does the child come before the best so far? Of equal ones a cohort comes before a queue: within
 * it the most unfair one can be chosen. */
/*@ requires ledger: SharesReady && child < SL_QNODES_MAX && best < SL_QNODES_MAX; terminates \true;
    exits \false; assigns sl_hidden, NOTES; */
static bool better(sl_qnode_id child, sl_qnode_id best)
{
    int order = sl_shares_compare(share_of(child), share_of(best));
    if (order != 0) {
        return order > 0;
    }
    if (is_cohort(child) || is_cohort(best)) {
        return is_cohort(child) && !is_cohort(best);
    }
    return front_before(child, best);
}

/*@ requires ledger: SharesReady; terminates \true; exits \false; assigns sl_hidden, NOTES;
    ensures known: \result < SL_QNODES_MAX || \result == SL_NO_ID; */
static sl_qnode_id best_child(sl_qnode_id cohort)
{
    sl_qnode_id best = SL_NO_ID;
    sl_qnode_id child = sl_branches_first(cohort);
    /*@
      loop invariant known: (best < SL_QNODES_MAX || best == SL_NO_ID) &&
        (child < SL_QNODES_MAX || child == SL_NO_ID);
      loop assigns steps, best, child, sl_hidden, NOTES;
      loop variant SL_QNODES_MAX - steps;
    */
    for (uint32_t steps = 0; child != SL_NO_ID && steps < SL_QNODES_MAX; steps++) {
        if (notes[child].pruned_in != run && !stays(child)) {
            notes[child].pruned_in = run;
        }
        if (notes[child].pruned_in != run && (best == SL_NO_ID || better(child, best))) {
            best = child;
        }
        child = sl_branches_next(child);
    }
    return best;
}

/* One way down from the root, to a queue with a candidate; SL_NO_ID = it ended where there is no
 * candidate, which is pruned: so every way down either yields a candidate or is removed. */
/*@ requires ledger: SharesReady && root < SL_QNODES_MAX; terminates \true; exits \false;
    assigns sl_hidden, NOTES; ensures known: \result < SL_QNODES_MAX || \result == SL_NO_ID; */
static sl_qnode_id descend(sl_qnode_id root)
{
    sl_qnode_id qnode = root;
    sl_qnode_id best = best_child(qnode);
    /*@
      loop invariant known: qnode < SL_QNODES_MAX && (best < SL_QNODES_MAX || best == SL_NO_ID);
      loop assigns steps, qnode, best, sl_hidden, NOTES;
      loop variant SL_LEVELS_MAX - steps;
    */
    for (uint32_t steps = 0; best != SL_NO_ID && steps < SL_LEVELS_MAX; steps++) {
        qnode = best;
        best = best_child(qnode);
    }
    if (!is_cohort(qnode) && front(qnode) != SL_NO_ID) {
        return qnode;
    }
    notes[qnode].pruned_in = run;
    return SL_NO_ID;
}

/*@ requires ledger: SharesReady; terminates \true; exits \false; assigns sl_hidden, NOTES; */
sl_qnode_id sl_targets_next(void)
{
    sl_qnode_id own = sl_preemption_question.cluster_queue;
    sl_qnode_id root = sl_ledger_root_qnode(own);
    if (own >= SL_QNODES_MAX || root >= SL_QNODES_MAX) {
        return SL_NO_ID;
    }
    if (root == own) {
        return notes[own].pruned_in != run && front(own) != SL_NO_ID ? own : SL_NO_ID;
    }
    sl_qnode_id queue = SL_NO_ID;
    /*@
      loop invariant known: queue < SL_QNODES_MAX || queue == SL_NO_ID;
      loop assigns steps, queue, sl_hidden, NOTES;
      loop variant SL_QNODES_MAX - steps;
    */
    for (uint32_t steps = 0;
         queue == SL_NO_ID && notes[root].pruned_in != run && steps < SL_QNODES_MAX; steps++) {
        queue = descend(root); /* each way down that ends with nothing prunes a qnode */
    }
    return queue;
}
