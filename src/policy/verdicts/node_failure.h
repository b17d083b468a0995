/* SPDX-License-Identifier: Apache-2.0
 * SPDX-FileCopyrightText: The Sluice authors */

/* Node failures: whether a node counts as failed for a workload that has pods placed on it, and what
 * is to be done about it. Pure functions of what the caller has seen; owns nothing. */
#ifndef SL_POLICY_NODE_FAILURE_H
#define SL_POLICY_NODE_FAILURE_H
#include "kernel/base/types.h"

enum sl_ready { SL_READY_UNSAID, SL_READY_NOT, SL_READY_YES }; /* the node's Ready condition */

/* Do the pods tolerate the taints of the node that keep pods away? The worst of all taints counts. */
enum sl_toleration { SL_TOLERATED, SL_TOLERATED_FOR_A_TIME, SL_TOLERATED_NOT };

/* What is known of one node, and of one workload's pods on it. */
struct sl_node_sight {
    bool one;    /* the place is one node; several together do not fail */
    bool exists; /* there is such a Node */
    enum sl_ready ready;
    enum sl_toleration toleration;
    bool under_way; /* a pod of the workload is there, has not ended and is not being deleted */
    bool lost;      /* one has ended there, or is being deleted */
};

enum sl_node_verdict {
    SL_NODE_GOOD,
    SL_NODE_OPEN, /* not good, but its pods may still end by themselves: wait */
    SL_NODE_FAILED
};

/*@
  predicate NodeFailed(struct sl_node_sight s) =
    s.one && (!s.exists || s.ready == SL_READY_UNSAID ||
              (!s.under_way && (s.ready == SL_READY_NOT || s.toleration == SL_TOLERATED_NOT ||
                                (s.toleration == SL_TOLERATED_FOR_A_TIME && s.lost))));
  predicate NodeGood(struct sl_node_sight s) =
    !s.one || (s.exists && s.ready == SL_READY_YES && s.toleration == SL_TOLERATED);
*/

/*@
  terminates          \true;
  exits               \false;
  assigns             \nothing;
  ensures  failed:    \result == SL_NODE_FAILED <==> NodeFailed(s);
  ensures  good:      \result == SL_NODE_GOOD <==> NodeGood(s);
  ensures  known:     SL_NODE_GOOD <= \result <= SL_NODE_FAILED;
*/
enum sl_node_verdict sl_node_failure_judge(struct sl_node_sight s);

enum sl_node_step {
    SL_NODE_STEP_NONE,
    SL_NODE_STEP_MARK,  /* note the node as failed for the workload */
    SL_NODE_STEP_UNMARK /* it is failed no more */
};

struct sl_node_case {
    enum sl_node_verdict verdict;
    bool admitted;    /* the workload is */
    bool marked;      /* the node is noted as failed for it */
    bool replaces;    /* failed nodes are replaced: TASFailedNodeReplacement */
    bool single;      /* the workload is a single Pod, which ends with its node */
    bool skip_single; /* such are left alone: SkipReassignmentForPodOwnedWorkloads */
};
/*@
  predicate Watched(struct sl_node_case c) = c.admitted && c.replaces;
*/
/*@
  terminates          \true;
  exits               \false;
  assigns             \nothing;
  ensures  mark:      \result == SL_NODE_STEP_MARK <==> Watched(c) && c.verdict == SL_NODE_FAILED &&
                      !c.marked && !(c.single && c.skip_single);
  ensures  unmark:    \result == SL_NODE_STEP_UNMARK <==>
                      Watched(c) && c.verdict == SL_NODE_GOOD && c.marked;
  ensures  known:     SL_NODE_STEP_NONE <= \result <= SL_NODE_STEP_UNMARK;
*/
enum sl_node_step sl_node_failure_step(struct sl_node_case c);
#endif
