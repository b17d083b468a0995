/* SPDX-License-Identifier: Apache-2.0
 * SPDX-FileCopyrightText: The Sluice authors */

/* Slices: a link to the old one, and a list of the flavors that are kept, whose rows come from a
 * pool. A link is an index plus one; 0 says "none". */
#include "policy/requests/slices.h"

#include "kernel/ledger/ledger.h"

static bool is_slice[SL_WORKLOADS_MAX];
static uint32_t old_link[SL_WORKLOADS_MAX];
static uint32_t old_generation[SL_WORKLOADS_MAX];
static uint32_t first_row[SL_WORKLOADS_MAX];

static uint32_t row_next[SL_SLICE_ROWS];
static uint32_t row_pod_set[SL_SLICE_ROWS];
static sl_flavor_id row_flavor[SL_SLICE_ROWS];
static uint32_t row_free;
static uint32_t row_limit; /* none from here on was ever used */

/* clang-format off */
#define POOL row_next[0 .. SL_SLICE_ROWS - 1], row_free, row_limit
#define ROWS row_pod_set[0 .. SL_SLICE_ROWS - 1], row_flavor[0 .. SL_SLICE_ROWS - 1]
#define LINKS is_slice[id], old_link[id], old_generation[id], first_row[id]
/* clang-format on */

/*@
  // Every link is none or names a row.
  predicate RowLinks{L} = row_free <= SL_SLICE_ROWS && row_limit <= SL_SLICE_ROWS &&
    (\forall integer i; 0 <= i < SL_SLICE_ROWS ==> row_next[i] <= SL_SLICE_ROWS) &&
    \forall integer w; 0 <= w < SL_WORKLOADS_MAX ==> first_row[w] <= SL_SLICE_ROWS;
*/

/* --- the rows --------------------------------------------------------------------------------- */

/* A link to a row, 0 when the pool is used up. */
/*@ requires links: RowLinks; terminates \true; exits \false; assigns row_free, row_limit;
    ensures links: RowLinks && \result <= SL_SLICE_ROWS; */
static uint32_t take_row(void)
{
    uint32_t link = row_free;
    if (link != 0) {
        row_free = row_next[link - 1];
    } else if (row_limit < SL_SLICE_ROWS) {
        row_limit++;
        link = row_limit;
    }
    return link;
}

/*@ requires links: RowLinks && id < SL_WORKLOADS_MAX; terminates \true; exits \false;
    assigns POOL, first_row[id]; ensures links: RowLinks; */
static void give_rows(sl_workload_id id)
{
    uint32_t link = first_row[id];
    /*@
      loop invariant links: RowLinks && link <= SL_SLICE_ROWS;
      loop assigns steps, link, POOL;
      loop variant SL_SLICE_ROWS_MAX - steps;
    */
    for (uint32_t steps = 0; link != 0 && steps < SL_SLICE_ROWS_MAX; steps++) {
        uint32_t next = row_next[link - 1];
        row_next[link - 1] = row_free;
        row_free = link;
        link = next;
    }
    first_row[id] = 0;
}

/* How many flavors are kept for it. */
/*@ requires links: RowLinks && id < SL_WORKLOADS_MAX; terminates \true; exits \false;
    assigns \nothing; ensures count: \result <= SL_SLICE_ROWS_MAX; */
static uint32_t count_rows(sl_workload_id id)
{
    uint32_t link = first_row[id];
    uint32_t count = 0;
    /*@
      loop invariant links: link <= SL_SLICE_ROWS && count <= SL_SLICE_ROWS_MAX;
      loop assigns link, count;
      loop variant SL_SLICE_ROWS_MAX - count;
    */
    while (link != 0 && count < SL_SLICE_ROWS_MAX) {
        link = row_next[link - 1];
        count++;
    }
    return count;
}

/* --- what is kept ----------------------------------------------------------------------------- */

/*@ requires links: RowLinks; terminates \true; exits \false; assigns LINKS, POOL;
    ensures links: RowLinks; */
void sl_slices_set(sl_workload_id id, sl_workload_id old, uint32_t generation)
{
    if (id >= SL_WORKLOADS_MAX) {
        return;
    }
    give_rows(id);
    is_slice[id] = true;
    old_link[id] = old < SL_WORKLOADS_MAX ? old + 1 : 0;
    old_generation[id] = generation;
}

/*@ requires links: RowLinks; terminates \true; exits \false; assigns first_row[id], POOL, ROWS;
    ensures links: RowLinks; */
enum sl_status sl_slices_keep(sl_workload_id id, uint32_t pod_set, sl_flavor_id flavor)
{
    if (id >= SL_WORKLOADS_MAX) {
        return SL_REFUSED_UNKNOWN_WORKLOAD;
    }
    if (old_link[id] == 0 || count_rows(id) >= SL_SLICE_ROWS_MAX) {
        return SL_REFUSED_BAD_ARGUMENT;
    }
    uint32_t link = take_row();
    if (link == 0) {
        return SL_FULL_WORKLOADS;
    }
    row_pod_set[link - 1] = pod_set;
    row_flavor[link - 1] = flavor;
    row_next[link - 1] = first_row[id];
    first_row[id] = link;
    return SL_OK;
}

/*@ requires links: RowLinks; terminates \true; exits \false; assigns LINKS, POOL;
    ensures links: RowLinks; */
void sl_slices_forget(sl_workload_id id)
{
    if (id < SL_WORKLOADS_MAX && is_slice[id]) {
        give_rows(id);
        is_slice[id] = false;
        old_link[id] = 0;
        old_generation[id] = 0;
    }
}

/* --- questions -------------------------------------------------------------------------------- */

bool sl_slices_is(sl_workload_id id)
{
    return id < SL_WORKLOADS_MAX && is_slice[id];
}

/* It is there, holds its quota, and may keep it. */
/*@ requires known: id < SL_WORKLOADS_MAX; terminates \true; exits \false; assigns \nothing; */
static bool stays(sl_workload_id id, uint32_t generation)
{
    return sl_workloads[id].generation == generation &&
           (sl_workloads[id].phase == SL_PHASE_QUOTA_RESERVED ||
            sl_workloads[id].phase == SL_PHASE_ADMITTED);
}

/* Is all that it holds of this queue? */
/*@ requires usage: UsageCountsValid; terminates \true; exits \false; assigns \nothing; */
static bool holds_only_of(sl_workload_id id, sl_qnode_id queue)
{
    uint32_t count = sl_commit_usage_count(id);
    /*@ loop assigns i; loop variant count - i; */
    for (uint32_t i = 0; i < count; i++) {
        if (sl_ledger_qnode_of(sl_commit_usage(id, i).cell) != queue) {
            return false;
        }
    }
    return true;
}

sl_workload_id sl_slices_old(sl_workload_id id, sl_qnode_id queue)
{
    if (id >= SL_WORKLOADS_MAX || old_link[id] == 0 || old_link[id] > SL_WORKLOADS_MAX) {
        return SL_NO_ID;
    }
    sl_workload_id old = old_link[id] - 1;
    return old != id && stays(old, old_generation[id]) && holds_only_of(old, queue) ? old
                                                                                    : SL_NO_ID;
}

/* A pod set that had none has asked for nothing. */
/*@ requires links: RowLinks; terminates \true; exits \false; assigns \nothing; */
bool sl_slices_may_have(sl_workload_id id, uint32_t pod_set, sl_flavor_id flavor)
{
    uint32_t link = id < SL_WORKLOADS_MAX ? first_row[id] : 0;
    bool had_any = false;
    /*@
      loop invariant link: link <= SL_SLICE_ROWS;
      loop assigns steps, link, had_any;
      loop variant SL_SLICE_ROWS_MAX - steps;
    */
    for (uint32_t steps = 0; link != 0 && steps < SL_SLICE_ROWS_MAX; steps++) {
        if (row_pod_set[link - 1] == pod_set && row_flavor[link - 1] == flavor) {
            return true;
        }
        had_any = had_any || row_pod_set[link - 1] == pod_set;
        link = row_next[link - 1];
    }
    return !had_any;
}

int64_t sl_slices_held(sl_workload_id old, sl_cell_id cell)
{
    int64_t held = 0;
    uint32_t count = old < SL_WORKLOADS_MAX ? sl_commit_usage_count(old) : 0;
    /*@
      loop invariant held: 0 <= held <= SL_AMOUNT_MAX;
      loop assigns i, held;
      loop variant count - i;
    */
    for (uint32_t i = 0; i < count; i++) {
        struct sl_cell_amount usage = sl_commit_usage(old, i);
        if (usage.cell == cell && usage.amount > 0) {
            held = usage.amount < SL_AMOUNT_MAX - held ? held + usage.amount : SL_AMOUNT_MAX;
        }
    }
    return held;
}
