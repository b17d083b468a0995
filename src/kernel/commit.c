/* SPDX-License-Identifier: Apache-2.0
 * SPDX-FileCopyrightText: The Sluice authors */

/* Commit: judge a plan, charge its claims under the trail, change the record, keep the claims. Whatever may
 * refuse comes before the trail is kept; what comes after cannot. */
#include "kernel/commit.h"

#include "kernel/ledger.h"
#include "kernel/lifecycle.h"
#include "kernel/place.h"
#include "kernel/trail.h"

struct sl_plan sl_plan;

/* What each workload holds: the first sl_claim_counts[id] of its row. */
uint32_t sl_claim_counts[SL_WORKLOADS_MAX];
sl_cell_id sl_claim_cells[SL_WORKLOADS_MAX][SL_CLAIMS_MAX];
int64_t sl_claim_amounts[SL_WORKLOADS_MAX][SL_CLAIMS_MAX];

/* No workload at or beyond the first, and no cell at or beyond the second, was ever in a claim. */
uint32_t sl_claim_workload_limit;
uint32_t sl_claim_cell_limit;

static int64_t sums[SL_CELLS_MAX]; /* scratch of sl_commit_valid */

uint32_t sl_commit_claim_count(sl_workload_id id)
{
    return id < SL_WORKLOADS_MAX ? sl_claim_counts[id] : 0;
}

struct sl_claim sl_commit_claim(sl_workload_id id, uint32_t index)
{
    struct sl_claim claim = {SL_NO_ID, 0};
    if (id < SL_WORKLOADS_MAX && index < sl_claim_counts[id]) {
        claim.cell = sl_claim_cells[id][index];
        claim.amount = sl_claim_amounts[id][index];
    }
    return claim;
}

static bool claimed_before(uint32_t index)
{
    for (uint32_t i = 0; i < index; i++) {
        if (sl_plan.claims[i].cell == sl_plan.claims[index].cell) {
            return true;
        }
    }
    return false;
}

static enum sl_status check_claim(uint32_t index, bool ask)
{
    if (sl_plan.claims[index].cell >= SL_CELLS_MAX ||
        sl_ledger_node_of(sl_plan.claims[index].cell) != sl_plan.cluster_queue || claimed_before(index)) {
        return SL_REFUSED_PLAN_CLAIM;
    }
    if (sl_plan.claims[index].amount < 0 || sl_plan.claims[index].amount > SL_AMOUNT_MAX) {
        return SL_REFUSED_AMOUNT;
    }
    if (ask && sl_plan.claims[index].amount > sl_ledger_available(sl_plan.claims[index].cell)) {
        return SL_REFUSED_QUOTA;
    }
    return SL_OK;
}

static enum sl_status check_claims(bool ask)
{
    enum sl_status status = SL_OK;
    if (sl_plan.claim_count > SL_CLAIMS_MAX) {
        return SL_FULL_CLAIMS;
    }
    if (sl_plan.cluster_queue >= SL_NODES_MAX) {
        return SL_REFUSED_NO_NODE_ID;
    }
    for (uint32_t i = 0; i < sl_plan.claim_count && status == SL_OK; i++) {
        status = check_claim(i, ask);
    }
    return status;
}

/* Does the plan name a live workload that stands at `from`? */
static enum sl_status check_workload(enum sl_place from)
{
    sl_workload_id id = sl_plan.workload;
    if (id >= SL_WORKLOADS_MAX || sl_workloads[id].phase == SL_PHASE_ABSENT) {
        return SL_REFUSED_UNKNOWN_WORKLOAD;
    }
    if (sl_workloads[id].generation != sl_plan.generation) {
        return SL_REFUSED_STALE;
    }
    if (sl_workloads[id].phase == SL_PHASE_FINISHED) {
        return SL_REFUSED_FINISHED;
    }
    if (sl_place_of(id) != from || sl_claim_counts[id] != 0) {
        return SL_REFUSED_PLACE;
    }
    return SL_OK;
}

enum sl_status sl_commit_check(void)
{
    enum sl_status status = check_workload(SL_PLACE_IN_FLIGHT);
    if (status != SL_OK) {
        return status;
    }
    if (!sl_lifecycle_admissible(sl_plan.workload)) {
        return SL_REFUSED_NOT_ADMISSIBLE;
    }
    if (sl_trail_open()) {
        return SL_REFUSED_TRIAL_OPEN;
    }
    return check_claims(true);
}

static enum sl_status check_restore(void)
{
    enum sl_status status = check_workload(SL_PLACE_ORPHANED);
    if (status != SL_OK) {
        return status;
    }
    if (sl_trail_open()) {
        return SL_REFUSED_TRIAL_OPEN;
    }
    return check_claims(false);
}

/* Charge every claim of the plan; the caller's trail takes back what a refusal leaves half done. */
static enum sl_status charge_claims(bool ask)
{
    enum sl_status status = SL_OK;
    for (uint32_t i = 0; i < sl_plan.claim_count && status == SL_OK; i++) {
        if (ask) {
            status = sl_ledger_reserve(sl_plan.claims[i].cell, sl_plan.claims[i].amount);
        } else {
            status = sl_ledger_charge(sl_plan.claims[i].cell, sl_plan.claims[i].amount);
        }
    }
    return status;
}

/* Tell the record that the plan was committed. */
static enum sl_status reserve_record(void)
{
    struct sl_event ev = {SL_EV_RESERVE,
                          sl_plan.workload,
                          sl_plan.generation,
                          sl_plan.topology_pending ? 1u : 0u,
                          0,
                          0,
                          sl_plan.now_ms};
    return sl_lifecycle_apply(ev);
}

static void push_claim(sl_workload_id id, sl_cell_id cell, int64_t amount)
{
    sl_claim_cells[id][sl_claim_counts[id]] = cell;
    sl_claim_amounts[id][sl_claim_counts[id]] = amount;
    sl_claim_counts[id]++;
    if (cell >= sl_claim_cell_limit) {
        sl_claim_cell_limit = cell + 1;
    }
    if (id >= sl_claim_workload_limit) {
        sl_claim_workload_limit = id + 1;
    }
}

static void store_claims(void)
{
    for (uint32_t i = 0; i < sl_plan.claim_count; i++) {
        push_claim(sl_plan.workload, sl_plan.claims[i].cell, sl_plan.claims[i].amount);
    }
}

/* All or nothing: charges and the record's change are tried under the trail. */
static enum sl_status apply(bool ask)
{
    uint32_t mark = sl_trail_begin();
    enum sl_status status = charge_claims(ask);
    if (status == SL_OK) {
        status = reserve_record();
    }
    if (status != SL_OK) {
        sl_trail_rollback(mark);
        return status;
    }
    sl_trail_keep(mark);
    store_claims();
    sl_place_hold(sl_plan.workload);
    return SL_OK;
}

enum sl_status sl_commit_apply(void)
{
    enum sl_status status = sl_commit_check();
    return status == SL_OK ? apply(true) : status;
}

enum sl_status sl_commit_restore(void)
{
    enum sl_status status = check_restore();
    return status == SL_OK ? apply(false) : status;
}

/* Give back everything `id` holds, last claim first. */
static enum sl_status release_claims(sl_workload_id id)
{
    enum sl_status status = SL_OK;
    while (sl_claim_counts[id] > 0 && status == SL_OK) {
        uint32_t last = sl_claim_counts[id] - 1;
        status = sl_ledger_release(sl_claim_cells[id][last], sl_claim_amounts[id][last]);
        if (status == SL_OK) {
            sl_claim_counts[id] = last;
        }
    }
    return status;
}

enum sl_status sl_commit_event(struct sl_event ev)
{
    if (ev.workload >= SL_WORKLOADS_MAX) {
        return SL_REFUSED_UNKNOWN_WORKLOAD;
    }
    if (ev.kind == SL_EV_RESERVE) {
        return SL_REFUSED_BAD_ARGUMENT; /* a reservation comes with a plan */
    }
    if (sl_trail_open()) {
        return SL_REFUSED_TRIAL_OPEN;
    }
    enum sl_status status = sl_lifecycle_apply(ev);
    if (status != SL_OK) {
        return status;
    }
    if (!sl_lifecycle_holds_quota(ev.workload)) {
        status = release_claims(ev.workload);
    }
    sl_place_settle(ev.workload);
    return status;
}

static bool sum_claims(void)
{
    for (uint32_t id = 0; id < sl_claim_workload_limit; id++) {
        for (uint32_t i = 0; i < sl_claim_counts[id]; i++) {
            sl_cell_id cell = sl_claim_cells[id][i];
            int64_t amount = sl_claim_amounts[id][i];
            if (cell >= sl_claim_cell_limit || amount < 0 || amount > SL_AMOUNT_MAX ||
                sums[cell] > SL_AMOUNT_MAX - amount) {
                return false;
            }
            sums[cell] += amount;
        }
    }
    return true;
}

bool sl_commit_valid(void)
{
    for (uint32_t cell = 0; cell < sl_claim_cell_limit; cell++) {
        sums[cell] = 0;
    }
    if (!sum_claims()) {
        return false;
    }
    for (uint32_t cell = 0; cell < sl_claim_cell_limit; cell++) {
        if (sums[cell] != sl_ledger_own(cell)) {
            return false;
        }
    }
    return true;
}
