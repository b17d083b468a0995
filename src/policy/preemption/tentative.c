/* SPDX-License-Identifier: Apache-2.0
 * SPDX-FileCopyrightText: The Sluice authors */

/* Lists by root, in the order in which things were decided. Links are ids plus one. */
#include "policy/preemption/tentative.h"

#include "kernel/commit/commit.h"
#include "kernel/ledger/ledger.h"
#include "kernel/commit/promise.h"

struct promise {
    int64_t amount;
    sl_cell_id cell;
    uint32_t next;
};

static struct promise promises[SL_PROMISES_MAX];
static uint32_t promise_count;
static uint32_t first_promise[SL_QNODES_MAX];
static uint32_t last_promise[SL_QNODES_MAX];

static uint32_t first_gone[SL_QNODES_MAX];
static uint32_t last_gone[SL_QNODES_MAX];
static uint32_t gone_count[SL_QNODES_MAX];
static uint32_t next_gone[SL_WORKLOADS_MAX];
static bool is_gone[SL_WORKLOADS_MAX];

static sl_qnode_id roots[SL_QNODES_MAX]; /* that have anything */
static uint32_t root_count;
static bool is_root[SL_QNODES_MAX];

/* clang-format off */
#define GONE                                                                                       \
    first_gone[0 .. SL_QNODES_MAX - 1], last_gone[0 .. SL_QNODES_MAX - 1],                           \
        gone_count[0 .. SL_QNODES_MAX - 1], next_gone[0 .. SL_WORKLOADS_MAX - 1],                   \
        is_gone[0 .. SL_WORKLOADS_MAX - 1]
#define PROMISES                                                                                   \
    promises[0 .. SL_PROMISES_MAX - 1], promise_count, first_promise[0 .. SL_QNODES_MAX - 1],       \
        last_promise[0 .. SL_QNODES_MAX - 1]
#define ROOTS roots[0 .. SL_QNODES_MAX - 1], root_count, is_root[0 .. SL_QNODES_MAX - 1]
/* clang-format on */

/*@
  // Every link is none or names what exists, so that following it is safe.
  predicate TentativeLinks{L} = promise_count <= SL_PROMISES_MAX && root_count <= SL_QNODES_MAX &&
    (\forall integer p; 0 <= p < SL_PROMISES_MAX ==> promises[p].next <= SL_PROMISES_MAX) &&
    (\forall integer n; 0 <= n < SL_QNODES_MAX ==> roots[n] < SL_QNODES_MAX &&
       first_promise[n] <= SL_PROMISES_MAX && last_promise[n] <= SL_PROMISES_MAX &&
       first_gone[n] <= SL_WORKLOADS_MAX && last_gone[n] <= SL_WORKLOADS_MAX) &&
    (\forall integer w; 0 <= w < SL_WORKLOADS_MAX ==> next_gone[w] <= SL_WORKLOADS_MAX);
*/

/*@ requires links: TentativeLinks && root < SL_QNODES_MAX; terminates \true; exits \false;
    assigns GONE, first_promise[root], last_promise[root], is_root[root];
    ensures links: TentativeLinks; */
static void clear_root(sl_qnode_id root)
{
    uint32_t link = first_gone[root];
    /*@
      loop invariant links: TentativeLinks && link <= SL_WORKLOADS_MAX;
      loop assigns steps, link, next_gone[0 .. SL_WORKLOADS_MAX - 1],
                   is_gone[0 .. SL_WORKLOADS_MAX - 1];
      loop variant SL_WORKLOADS_MAX - steps;
    */
    for (uint32_t steps = 0; link != 0 && steps < SL_WORKLOADS_MAX; steps++) {
        uint32_t next = next_gone[link - 1];
        next_gone[link - 1] = 0;
        is_gone[link - 1] = false;
        link = next;
    }
    first_gone[root] = 0;
    last_gone[root] = 0;
    gone_count[root] = 0;
    first_promise[root] = 0;
    last_promise[root] = 0;
    is_root[root] = false;
}

/*@ requires links: TentativeLinks; terminates \true; exits \false;
    assigns sl_promises, GONE, PROMISES, ROOTS; ensures links: TentativeLinks; */
void sl_tentative_clear(void)
{
    /*@
      loop invariant links: TentativeLinks;
      loop assigns root_count, GONE, PROMISES, ROOTS;
      loop variant root_count;
    */
    while (root_count != 0) {
        root_count--;
        clear_root(roots[root_count]);
    }
    promise_count = 0;
    sl_promise_clear();
}

/*@ requires links: TentativeLinks && root < SL_QNODES_MAX; terminates \true; exits \false;
    assigns ROOTS; ensures links: TentativeLinks; */
static void note_root(sl_qnode_id root)
{
    if (!is_root[root] && root_count < SL_QNODES_MAX) {
        is_root[root] = true;
        roots[root_count] = root;
        root_count++;
    }
}

/*@ requires links: TentativeLinks; requires valid: PromisesValid; terminates \true;
    exits \false; assigns SL_PROMISED, PROMISES, ROOTS; ensures links: TentativeLinks; */
bool sl_tentative_promise(sl_qnode_id root, sl_cell_id cell, int64_t amount, bool tell_kernel)
{
    if (root >= SL_QNODES_MAX || promise_count >= SL_PROMISES_MAX ||
        (tell_kernel && sl_promise_add(cell, amount) != SL_OK)) {
        return false;
    }
    note_root(root);
    promises[promise_count] = (struct promise){amount, cell, 0};
    promise_count++;
    if (last_promise[root] != 0) {
        promises[last_promise[root] - 1].next = promise_count;
    } else {
        first_promise[root] = promise_count;
    }
    last_promise[root] = promise_count;
    return true;
}

/*@ requires links: TentativeLinks; terminates \true; exits \false; assigns GONE, ROOTS;
    ensures links: TentativeLinks; */
void sl_tentative_evict(sl_qnode_id root, sl_workload_id id)
{
    if (root >= SL_QNODES_MAX || id >= SL_WORKLOADS_MAX || is_gone[id]) {
        return;
    }
    note_root(root);
    is_gone[id] = true;
    if (last_gone[root] != 0) {
        next_gone[last_gone[root] - 1] = id + 1;
    } else {
        first_gone[root] = id + 1;
    }
    last_gone[root] = id + 1;
    gone_count[root]++;
}

bool sl_tentative_is_gone(sl_workload_id id)
{
    return id < SL_WORKLOADS_MAX && is_gone[id];
}

uint32_t sl_tentative_gone_count(sl_qnode_id root)
{
    return root < SL_QNODES_MAX ? gone_count[root] : 0;
}

/*@ terminates \true; exits \false; assigns \nothing;
    ensures id: \result == (link != 0 ? (uint32_t)(link - 1) : SL_NO_ID); */
static sl_workload_id id_of(uint32_t link)
{
    return link != 0 ? link - 1 : SL_NO_ID;
}

/*@ requires links: TentativeLinks; terminates \true; exits \false; assigns \nothing; */
sl_workload_id sl_tentative_first_gone(sl_qnode_id root)
{
    return root < SL_QNODES_MAX ? id_of(first_gone[root]) : SL_NO_ID;
}

/*@ requires links: TentativeLinks; terminates \true; exits \false; assigns \nothing; */
sl_workload_id sl_tentative_next_gone(sl_workload_id id)
{
    return id < SL_WORKLOADS_MAX ? id_of(next_gone[id]) : SL_NO_ID;
}

/*@ requires links: TentativeLinks; requires ledger: LedgerReady; terminates \true; exits \false;
    assigns SL_TRIED; */
bool sl_tentative_take_promised(sl_qnode_id root)
{
    uint32_t link = root < SL_QNODES_MAX ? first_promise[root] : 0;
    bool done = true;
    /*@
      loop invariant links: link <= SL_PROMISES_MAX;
      loop invariant ledger: LedgerReady && PastKept{Pre, Here};
      loop assigns steps, link, done, SL_TRIED;
      loop variant SL_PROMISES_MAX - steps;
    */
    for (uint32_t steps = 0; link != 0 && done && steps < SL_PROMISES_MAX; steps++) {
        done = sl_ledger_charge(promises[link - 1].cell, promises[link - 1].amount) == SL_OK;
        link = promises[link - 1].next;
    }
    return done;
}

bool sl_tentative_free(sl_workload_id id)
{
    bool done = true;
    uint32_t count = sl_commit_usage_count(id);
    /*@
      loop invariant ledger: LedgerReady && PastKept{Pre, Here};
      loop assigns i, done, SL_TRIED;
      loop variant count - i;
    */
    for (uint32_t i = 0; i < count && done; i++) {
        struct sl_cell_amount usage = sl_commit_usage(id, i);
        done = usage.amount == 0 || sl_ledger_release(usage.cell, usage.amount) == SL_OK;
    }
    return done;
}

/*@ requires links: TentativeLinks; requires ledger: LedgerReady; terminates \true; exits \false;
    assigns SL_TRIED; */
bool sl_tentative_free_gone(sl_qnode_id root)
{
    bool done = true;
    sl_workload_id id = sl_tentative_first_gone(root);
    /*@
      loop invariant ledger: LedgerReady && PastKept{Pre, Here};
      loop assigns steps, id, done, SL_TRIED;
      loop variant SL_WORKLOADS_MAX - steps;
    */
    for (uint32_t steps = 0; id != SL_NO_ID && done && steps < SL_WORKLOADS_MAX; steps++) {
        done = sl_tentative_free(id);
        id = sl_tentative_next_gone(id);
    }
    return done;
}
