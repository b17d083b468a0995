/* SPDX-License-Identifier: Apache-2.0
 * SPDX-FileCopyrightText: The Sluice authors */

/* Targets. Whatever is noted per node holds for one run only: it counts if it carries the number
 * of the run. Shares change on the path from a queue to the root alone, so they are remembered
 * until something on that path is released. */
#include "policy/targets.h"

#include "kernel/ledger.h"
#include "kernel/lifecycle.h"
#include "policy/branches.h"
#include "policy/candidates.h"
#include "policy/preemption.h"
#include "policy/victims.h"

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
static struct note notes[SL_NODES_MAX];
static uint64_t run; /* grows with each beginning */
static uint64_t first_run;
static bool again;
static int64_t run_now_ms;

/* --- what is left ---------------------------------------------------------------------------- */

static void mark_path(void)
{
    for (sl_node_id node = sl_preemption_question.cluster_queue; node != SL_NO_ID;
         node = sl_ledger_parent_node(node)) {
        notes[node].path_in = run;
    }
}

void sl_targets_begin(int64_t now_ms)
{
    uint32_t count = sl_candidates_count();
    run++;
    first_run = run;
    again = false;
    run_now_ms = now_ms;
    mark_path();
    for (uint32_t i = 0; i < count; i++) {
        struct note *note = &notes[sl_candidates_at(i).queue];
        if (note->left_in != run) {
            note->left_in = run;
            note->next = i;
        }
        note->end = i + 1;
    }
}

void sl_targets_begin_again(void)
{
    run++;
    again = true;
    mark_path();
}

/* The candidate at the front of the queue's line; SL_NO_ID = none. */
static sl_workload_id front(sl_node_id queue)
{
    const struct note *note = &notes[queue];
    if (again) {
        return note->kept_in == first_run ? note->kept : SL_NO_ID;
    }
    return note->left_in == run && note->next < note->end ? sl_candidates_at(note->next).workload
                                                          : SL_NO_ID;
}

sl_workload_id sl_targets_pop(sl_node_id queue)
{
    sl_workload_id id = front(queue);
    if (again) {
        notes[queue].kept_in = 0;
    } else if (id != SL_NO_ID) {
        notes[queue].next++;
    }
    return id;
}

void sl_targets_keep(sl_node_id queue, sl_workload_id id)
{
    if (notes[queue].kept_in != first_run) {
        notes[queue].kept_in = first_run;
        notes[queue].kept = id;
    }
}

void sl_targets_drop(sl_node_id queue)
{
    notes[queue].pruned_in = run;
}

/* --- shares ---------------------------------------------------------------------------------- */

void sl_targets_changed(sl_node_id queue)
{
    for (sl_node_id node = queue; node != SL_NO_ID; node = sl_ledger_parent_node(node)) {
        notes[node].share_in = 0;
    }
}

static struct sl_share share_of(sl_node_id node)
{
    if (notes[node].share_in < first_run) {
        notes[node].share = sl_shares_of(node);
        notes[node].share_in = first_run;
    }
    return notes[node].share;
}

static bool on_path(sl_node_id node)
{
    return notes[node].path_in == run;
}

/* Right under the lowest common cohort, above the queue. */
static sl_node_id almost_common(sl_node_id queue)
{
    sl_node_id node = queue;
    sl_node_id parent = sl_ledger_parent_node(node);
    while (parent != SL_NO_ID && !on_path(parent)) {
        node = parent;
        parent = sl_ledger_parent_node(node);
    }
    return node;
}

struct sl_share sl_targets_share(sl_node_id queue)
{
    return share_of(almost_common(queue));
}

struct sl_share sl_targets_preemptor_share(sl_node_id queue)
{
    sl_node_id common = sl_ledger_parent_node(almost_common(queue));
    sl_node_id node = sl_preemption_question.cluster_queue;
    sl_node_id parent = sl_ledger_parent_node(node);
    while (parent != common && parent != SL_NO_ID) {
        node = parent;
        parent = sl_ledger_parent_node(node);
    }
    return share_of(node);
}

struct sl_share sl_targets_share_without(sl_node_id queue, sl_workload_id id)
{
    uint32_t mark = sl_trail_begin();
    (void)sl_victims_release(id);
    struct sl_share share = sl_shares_of(almost_common(queue));
    sl_trail_rollback(mark);
    return share;
}

/* --- whose turn ------------------------------------------------------------------------------ */

/* Is candidate a to be tried before b, each at the front of its queue's line? */
static bool front_before(sl_node_id queue_a, sl_node_id queue_b)
{
    sl_workload_id a = front(queue_a);
    sl_workload_id b = front(queue_b);
    bool evicted_a = sl_workloads[a].phase == SL_PHASE_EVICTED;
    bool evicted_b = sl_workloads[b].phase == SL_PHASE_EVICTED;
    sl_node_id own = sl_preemption_question.cluster_queue;
    if (evicted_a != evicted_b) {
        return evicted_a;
    }
    if ((queue_a == own) != (queue_b == own)) {
        return queue_b == own;
    }
    return sl_candidates_before(a, b, run_now_ms);
}

static bool is_cohort(sl_node_id node)
{
    return sl_branches_first(node) != SL_NO_ID;
}

/* A queue stays while it borrows and has candidates, a cohort while it borrows. What is on the
 * preemptor's path need not borrow: there may be something to be evened out below. */
static bool stays(sl_node_id node)
{
    if (!is_cohort(node) && front(node) == SL_NO_ID) {
        return false;
    }
    return on_path(node) || sl_shares_borrows_any(node);
}

/* Does the child come before the best so far? Of equal ones a cohort comes before a queue: within
 * it the most unfair one can be chosen. */
static bool better(sl_node_id child, sl_node_id best)
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

static sl_node_id best_child(sl_node_id cohort)
{
    sl_node_id best = SL_NO_ID;
    for (sl_node_id child = sl_branches_first(cohort); child != SL_NO_ID;
         child = sl_branches_next(child)) {
        if (notes[child].pruned_in == run) {
            continue;
        }
        if (!stays(child)) {
            notes[child].pruned_in = run;
        } else if (best == SL_NO_ID || better(child, best)) {
            best = child;
        }
    }
    return best;
}

/* One way down from the root, to a queue with a candidate; SL_NO_ID = it ended where nothing is to
 * be had, which is pruned: so every way down either yields a candidate or is gone. */
static sl_node_id descend(sl_node_id root)
{
    sl_node_id node = root;
    sl_node_id best = best_child(node);
    while (best != SL_NO_ID) {
        node = best;
        best = best_child(node);
    }
    if (!is_cohort(node) && front(node) != SL_NO_ID) {
        return node;
    }
    notes[node].pruned_in = run;
    return SL_NO_ID;
}

sl_node_id sl_targets_next(void)
{
    sl_node_id own = sl_preemption_question.cluster_queue;
    sl_node_id root = sl_ledger_root_node(own);
    if (root == own) {
        return notes[own].pruned_in != run && front(own) != SL_NO_ID ? own : SL_NO_ID;
    }
    sl_node_id queue = SL_NO_ID;
    while (root != SL_NO_ID && queue == SL_NO_ID && notes[root].pruned_in != run) {
        queue = descend(root);
    }
    return queue;
}
