/* SPDX-License-Identifier: Apache-2.0
 * SPDX-FileCopyrightText: The Sluice authors */

/* Which pod of a pod set goes to which domain of its topology assignment. By rank, when every pod has
 * one and those that are released already are where their rank says: rank i goes where the i-th pod of
 * the assignment, counted in its order, has its place. Otherwise the domains are filled up in order.
 * Pure functions on the caller's arrays; owns nothing. */
#ifndef SL_POLICY_POD_PLACES_H
#define SL_POLICY_POD_PLACES_H
#include "kernel/base/types.h"

#define SL_POD_NO_RANK (-1)

/* What the labels of a pod and its pod set say. */
struct sl_pod_labels {
    int64_t index;  /* of the pod; below 0 = none */
    int64_t first;  /* the index that the pod set begins with */
    int64_t count;  /* pods of the pod set */
    bool grouped;   /* the pod set has sub-groups: */
    int64_t groups; /* so many */
    int64_t group;  /* that of the pod, below 0 = none; its index counts within it */
};
#define SL_POD_INDEX_MAX 2147483647 /* larger ones count as none */

/* The rank of a pod within its pod set, 0 .. count - 1, or SL_POD_NO_RANK. */
/*@
  terminates          \true;
  exits               \false;
  assigns             \nothing;
  ensures  range:     \result == SL_POD_NO_RANK || 0 <= \result < l.count;
  ensures  plain:     \result != SL_POD_NO_RANK && !l.grouped ==> \result == l.index - l.first;
  ensures  grouped:   \result != SL_POD_NO_RANK && l.grouped ==>
                      0 <= l.group < l.groups &&
                      \result == l.index + l.group * (l.count / l.groups) - l.first;
*/
int64_t sl_pod_places_rank(struct sl_pod_labels l);

/* Do the ranks of a pod set with `count` pods begin behind those of another one of its group with
 * `other` pods? The smaller one leads; of two equal ones the first (`other_first`: that is the other). */
/*@
  terminates          \true;
  exits               \false;
  assigns             \nothing;
  ensures  result:    \result <==> other < count || (other == count && other_first);
*/
bool sl_pod_places_behind(int64_t count, int64_t other, bool other_first);

/* A pod that waits on a node that its node selector names. */
struct sl_pinned_sight {
    bool known;      /* its Workload is */
    bool placed;     /* the Workload is admitted, with places in a topology: */
    bool assigned;   /* the node is one of them */
    bool node_known; /* the node is: */
    bool closed;     /* its taints keep the pod away */
    bool asks;       /* its pod set asks for a topology: else its owner may have pinned it */
    bool gated;      /* a scheduling gate holds it back */
    bool decided;    /* the Workload has an admission, or is finished or evicted */
};
/* Is it to be failed, so that another one takes its place? It waits in vain where its Workload has no
 * place, or where the node takes no pods; or its Workload, which is to be admitted yet, has none. */
/*@
  terminates          \true;
  exits               \false;
  assigns             \nothing;
  ensures  result:    \result <==> s.known && (s.placed ? s.closed || !s.assigned
                                               : s.node_known && s.asks && !s.gated && !s.decided);
*/
bool sl_pod_places_is_lost(struct sl_pinned_sight s);

/* A pod that has not ended. */
struct sl_pod_at {
    int64_t rank;
    bool gated;
    uint32_t row; /* unless it is gated: where it is; SL_NO_ID = in no domain of the assignment */
};

/* rows[i]: the domain that pod i is to be released to; SL_NO_ID = it is released already, or stays
 * gated. counts[r]: pods that the assignment has in domain r. scratch: `size` numbers, as many as
 * there are domains, and as the counts come to; with fewer, ranks are not used. No domain gets more
 * than its count, together with the pods that are there. */
/*@
  requires pods:      \valid_read(pods + (0 .. pod_count - 1));
  requires counts:    \valid_read(counts + (0 .. row_count - 1));
  requires scratch:   \valid(scratch + (0 .. size - 1)) && row_count <= size;
  requires rows:      \valid(rows + (0 .. pod_count - 1));
  requires apart:     \separated(rows + (0 .. pod_count - 1), scratch + (0 .. size - 1),
                                 pods + (0 .. pod_count - 1), counts + (0 .. row_count - 1));
  terminates          \true;
  exits               \false;
  assigns             rows[0 .. pod_count - 1], scratch[0 .. size - 1];
  ensures  known:     \forall integer i; 0 <= i < pod_count ==> rows[i] < row_count || rows[i] == SL_NO_ID;
  ensures  gated:     \forall integer i; 0 <= i < pod_count && !pods[i].gated ==> rows[i] == SL_NO_ID;
*/
void sl_pod_places_find(const struct sl_pod_at *pods, uint32_t pod_count, const uint32_t *counts,
                        uint32_t row_count, uint32_t *scratch, uint32_t size, uint32_t *rows);
#endif
