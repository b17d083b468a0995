/* SPDX-License-Identifier: Apache-2.0
 * SPDX-FileCopyrightText: The Sluice authors */

/* Families of variants in the little cluster, one of each queue, since all variants of a workload are in one: who is in
 * which, with what rank, as it was said; and what a cycle may do to them, said by a plain walk over all workloads. */
#include "fuzz/lib/check.h"
#include "fuzz/lib/world.h"
#include "kernel/commit/variants.h"
#include "policy/cycle/cycle.h"
#include "policy/queues/queues.h"
#include "policy/requests/migration_limit.h"

enum { RANKS = 6 };

static uint32_t family_of[SLOTS]; /* plus one */
static uint32_t rank_of[SLOTS];
static uint32_t limit_of[NODES];

/* As it was before the cycle's next step. */
static struct {
    bool holds;
    enum sl_phase phase;
} before[SLOTS];

void world_open_variants(void)
{
    for (sl_workload_id id = 0; id < SLOTS; id++) {
        family_of[id] = 0;
    }
    for (sl_qnode_id n = 0; n < NODES; n++) {
        limit_of[n] = SL_NO_ID;
    }
}

void world_leave_family(sl_workload_id id)
{
    CHECK(sl_variants_set(id, SL_NO_ID, 0) == SL_OK);
    CHECK(sl_variants_family(id) == SL_NO_ID && sl_variants_rank(id) == SL_NO_ID);
    if (id < SLOTS) {
        family_of[id] = 0;
    }
}

/* Everybody of the family looks again. */
static void wake_family(uint32_t family)
{
    for (sl_workload_id id = 0; id < SLOTS; id++) {
        if (family_of[id] == family + 1) {
            sl_queues_retry(id, world_now_ms);
        }
    }
}

static void change_limit(struct producer *p)
{
    sl_qnode_id queue = COHORTS + producer_below(p, NODES - COHORTS);
    uint32_t limit = producer_below(p, RANKS + 1);
    limit_of[queue] = limit == RANKS ? SL_NO_ID : limit;
    sl_migration_limit_set(queue, limit_of[queue]);
    CHECK(sl_migration_limit(queue) == limit_of[queue]);
    sl_queues_wake_queue(queue);
}

/* Few of these bytes say anything, so that seeds from before them say what they said. Who holds quota stays in its
 * family. */
void world_join_family(struct producer *p, sl_workload_id id)
{
    uint32_t kin = producer_byte(p), rank = producer_below(p, RANKS);
    uint32_t family = sl_queues_queue_of(id);
    if (kin >= 248) {
        change_limit(p);
    }
    if (kin >= 240 && family != SL_NO_ID && sl_workloads[id].phase == SL_PHASE_PENDING) {
        CHECK(sl_variants_set(id, family, rank) == SL_OK);
        CHECK(sl_variants_family(id) == family && sl_variants_rank(id) == rank);
        family_of[id] = family + 1;
        rank_of[id] = rank;
        wake_family(family);
    }
}

/* --- what a cycle may do ------------------------------------------------------------------------ */

static bool is_other(sl_workload_id id, sl_workload_id other)
{
    return id != other && family_of[id] != 0 && family_of[id] == family_of[other];
}

/* The lowest rank of the others that held quota before the step; RANKS: none did. */
static uint32_t held_rank(sl_workload_id id)
{
    uint32_t lowest = RANKS;
    for (sl_workload_id other = 0; other < SLOTS; other++) {
        if (is_other(id, other) && before[other].holds && rank_of[other] < lowest) {
            lowest = rank_of[other];
        }
    }
    return lowest;
}

void world_note_variants(void)
{
    for (sl_workload_id id = 0; id < SLOTS; id++) {
        before[id].holds = sl_lifecycle_holds_quota(id);
        before[id].phase = sl_workloads[id].phase;
    }
}

/* One of them that has this rank and held quota: is it there, for which `admitted` is so? */
static bool any_held(sl_workload_id id, uint32_t rank, bool admitted)
{
    bool any = false;
    for (sl_workload_id other = 0; other < SLOTS; other++) {
        any = any || (is_other(id, other) && before[other].holds && rank_of[other] == rank &&
                      (before[other].phase == SL_PHASE_ADMITTED) == admitted);
    }
    return any;
}

/* Was one of them evicted for it, or is it still? Its quota stays its own until its job has stopped. */
static bool any_makes_way(sl_workload_id id, uint32_t rank)
{
    bool any = false;
    for (sl_workload_id other = 0; other < SLOTS; other++) {
        bool still = before[other].phase == SL_PHASE_EVICTED;
        any = any ||
              (is_other(id, other) && before[other].holds && rank_of[other] == rank &&
               sl_workloads[other].phase == SL_PHASE_EVICTED && sl_lifecycle_holds_quota(other) &&
               (still || sl_workloads[other].evicted == SL_EVICT_FLAVOR_MIGRATION));
    }
    return any;
}

void world_judge_variant(const struct sl_cycle_outcome *o)
{
    sl_workload_id id = o->workload;
    uint32_t rank = held_rank(id), limit = limit_of[o->cluster_queue % NODES];
    for (sl_workload_id other = 0; other < SLOTS; other++) {
        CHECK(o->result != SL_CYCLE_RESERVED || !is_other(id, other) ||
              !sl_lifecycle_holds_quota(other));
    }
    if (o->variant == SL_VARIANT_FREE) {
        return;
    }
    CHECK(rank < RANKS && o->result == SL_CYCLE_PENDING);
    CHECK((o->variant == SL_VARIANT_COMES_LATER) == (rank_of[id] >= rank));
    CHECK(o->variant == SL_VARIANT_MIGRATES || sl_cycle_evicted.count == 0);
    if (o->variant == SL_VARIANT_BELOW_LIMIT) {
        CHECK(rank_of[id] >= limit && any_held(id, rank, true));
    } else if (o->variant == SL_VARIANT_MIGRATES && o->status == SL_OK) {
        CHECK(any_makes_way(id, rank) && o->victim_count == 1);
        CHECK(rank_of[id] < limit || any_held(id, rank, false));
    }
}

/* One at most of a family holds quota, where nothing was restored. */
void world_check_families(void)
{
    for (sl_workload_id id = 0; id < SLOTS; id++) {
        CHECK(sl_variants_family(id) == (family_of[id] == 0 ? SL_NO_ID : family_of[id] - 1));
        for (sl_workload_id other = 0; world_probes && other < id; other++) {
            CHECK(!is_other(id, other) || !sl_lifecycle_holds_quota(id) ||
                  !sl_lifecycle_holds_quota(other));
        }
    }
}
