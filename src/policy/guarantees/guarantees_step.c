/* SPDX-License-Identifier: Apache-2.0
 * SPDX-FileCopyrightText: The Sluice authors */

/* Checkers of a step: what was is kept here, and what is is compared with it. */
#include "policy/guarantees/guarantees.h"

#include "kernel/ledger/cells.h"
#include "kernel/ledger/ledger.h"
#include "kernel/topology/topology.h"

static uint32_t seen_generation[SL_WORKLOADS_MAX];
static enum sl_phase seen_phase[SL_WORKLOADS_MAX];
static uint32_t seen_evictions[SL_WORKLOADS_MAX];
static int64_t seen_requeue_ms[SL_WORKLOADS_MAX];
static int64_t seen_own[SL_CELLS_MAX];
static int64_t seen_used[SL_CAPACITIES_MAX];

#include "specs/guarantees_step.acsl"

/* Whatever happened meanwhile, however much. */
/*@ requires known: id < SL_WORKLOADS_MAX; terminates \true; exits \false; assigns \nothing;
    ensures kept: \result == SL_RULE_NONE <==> LifeKept(id);
    ensures named: \result != SL_RULE_NONE ==> StepBroken(\result, id); */
static enum sl_rule life_rule(sl_workload_id id)
{
    const struct sl_workload *w = &sl_workloads[id];
    bool same = w->generation == seen_generation[id];
    bool gone = w->phase == SL_PHASE_ABSENT && seen_phase[id] != SL_PHASE_ABSENT;
    if (w->generation < seen_generation[id] || (same && gone)) {
        return SL_RULE_REVIVED;
    }
    bool left = w->phase != SL_PHASE_FINISHED && w->phase != SL_PHASE_ABSENT;
    return same && seen_phase[id] == SL_PHASE_FINISHED && left ? SL_RULE_FINISHED : SL_RULE_NONE;
}

/*@ requires known: id < SL_WORKLOADS_MAX; terminates \true; exits \false; assigns \nothing;
    ensures fair: \result == SL_RULE_NONE <==> EvictionFair(id);
    ensures named: \result != SL_RULE_NONE ==> StepBroken(\result, id); */
static enum sl_rule eviction_rule(sl_workload_id id)
{
    const struct sl_workload *w = &sl_workloads[id];
    if (w->phase != SL_PHASE_EVICTED || w->generation != seen_generation[id]) {
        return SL_RULE_NONE;
    }
    switch (seen_phase[id]) {
    case SL_PHASE_EVICTED:
        return w->eviction_count == seen_evictions[id] ? SL_RULE_NONE : SL_RULE_EVICTED_TWICE;
    case SL_PHASE_QUOTA_RESERVED:
    case SL_PHASE_ADMITTED:
        return SL_RULE_NONE;
    default:
        return SL_RULE_VICTIM;
    }
}

/*@ requires known: id < SL_WORKLOADS_MAX; terminates \true; exits \false; assigns \nothing;
    ensures fair: \result == SL_RULE_NONE <==> BackoffForward(id) && EvictionFair(id);
    ensures named: \result != SL_RULE_NONE ==> StepBroken(\result, id); */
static enum sl_rule step_rule(sl_workload_id id)
{
    const struct sl_workload *w = &sl_workloads[id];
    if (w->generation == seen_generation[id] && seen_phase[id] != SL_PHASE_ABSENT &&
        seen_requeue_ms[id] != SL_NEVER && w->requeue_at_ms != SL_NEVER &&
        w->requeue_at_ms < seen_requeue_ms[id]) {
        return SL_RULE_BACKOFF;
    }
    return eviction_rule(id);
}

/*@ terminates \true; exits \false; assigns SEEN_WORKLOADS;
    ensures kept: \result.rule == SL_RULE_NONE <==> WorkloadsKept{Old}(limit, decided);
    ensures named: \result.rule != SL_RULE_NONE ==> StepBroken{Old}(\result.rule, \result.object);
    ensures seen: \forall integer w; 0 <= w < limit && w < SL_WORKLOADS_MAX ==> WorkloadSeen(w); */
static struct sl_finding look_at_workloads(uint32_t limit, bool decided)
{
    struct sl_finding found = {SL_RULE_NONE, 0};
    /*@ loop invariant index: 0 <= id <= SL_WORKLOADS_MAX && id <= limit;
        loop invariant kept: found.rule == SL_RULE_NONE <==>
          \forall integer w; 0 <= w < id ==> WorkloadKept{Pre}(w, decided);
        loop invariant named: found.rule != SL_RULE_NONE ==>
          StepBroken{Pre}(found.rule, found.object);
        loop invariant seen: \forall integer w; 0 <= w < id ==> WorkloadSeen(w);
        loop invariant later: \forall integer w; id <= w < SL_WORKLOADS_MAX ==>
          SeenSame{Pre,Here}(w);
        loop assigns id, found, SEEN_WORKLOADS; loop variant SL_WORKLOADS_MAX - id; */
    for (sl_workload_id id = 0; id < limit && id < SL_WORKLOADS_MAX; id++) {
        enum sl_rule rule = life_rule(id);
        if (rule == SL_RULE_NONE && decided) {
            rule = step_rule(id);
        }
        if (rule != SL_RULE_NONE && found.rule == SL_RULE_NONE) {
            found = (struct sl_finding){rule, id};
        }
        seen_generation[id] = sl_workloads[id].generation;
        seen_phase[id] = sl_workloads[id].phase;
        seen_evictions[id] = sl_workloads[id].eviction_count;
        seen_requeue_ms[id] = sl_workloads[id].requeue_at_ms;
    }
    return found;
}

/* A cell that more is charged to than before has not less than nothing left. */
/*@ requires ledger: cell < SL_CELLS_MAX && CellsLinked && LimitsInRange && UsageInRange;
    terminates \true; exits \false; assigns \nothing;
    ensures within: \result <==> CellWithin(cell); */
static bool cell_within(sl_cell_id cell)
{
    return sl_cell_own[cell] <= seen_own[cell] || sl_ledger_available(cell) >= 0;
}

/*@ requires ledger: CellsLinked && LimitsInRange && UsageInRange; terminates \true; exits \false;
    assigns seen_own[0 .. SL_CELLS_MAX - 1];
    ensures within: \result.rule == SL_RULE_NONE <==> CellsWithin{Old}(decided);
    ensures named: \result.rule != SL_RULE_NONE ==> StepBroken{Old}(\result.rule, \result.object);
    ensures rule: \result.rule == SL_RULE_NONE || \result.rule == SL_RULE_OVER_QUOTA;
    ensures seen: \forall integer c; 0 <= c < sl_cell_limit && c < SL_CELLS_MAX ==>
      seen_own[c] == sl_cell_own[c]; */
static struct sl_finding look_at_cells(bool decided)
{
    struct sl_finding found = {SL_RULE_NONE, 0};
    /*@ loop invariant index: 0 <= cell <= SL_CELLS_MAX && cell <= sl_cell_limit;
        loop invariant within: found.rule == SL_RULE_NONE <==>
          (decided ==> \forall integer c; 0 <= c < cell ==> CellWithin{Pre}(c));
        loop invariant named: found.rule != SL_RULE_NONE ==>
          StepBroken{Pre}(found.rule, found.object);
        loop invariant rule: found.rule == SL_RULE_NONE || found.rule == SL_RULE_OVER_QUOTA;
        loop invariant seen: \forall integer c; 0 <= c < cell ==> seen_own[c] == sl_cell_own[c];
        loop invariant later: \forall integer c; cell <= c < SL_CELLS_MAX ==>
          seen_own[c] == \at(seen_own[c], Pre);
        loop assigns cell, found, seen_own[0 .. SL_CELLS_MAX - 1];
        loop variant SL_CELLS_MAX - cell; */
    for (sl_cell_id cell = 0; cell < sl_cell_limit && cell < SL_CELLS_MAX; cell++) {
        if (decided && found.rule == SL_RULE_NONE && !cell_within(cell)) {
            found = (struct sl_finding){SL_RULE_OVER_QUOTA, cell};
        }
        seen_own[cell] = sl_cell_own[cell];
    }
    return found;
}

/*@ requires measure: measure < SL_MEASURES_MAX; terminates \true; exits \false;
    assigns seen_used[measure * SL_SITES_MAX .. (measure + 1) * SL_SITES_MAX - 1];
    ensures within: \result.rule == SL_RULE_NONE <==> (decided ==> MeasureWithin{Old}(measure));
    ensures named: \result.rule != SL_RULE_NONE ==> StepBroken{Old}(\result.rule, \result.object);
    ensures rule: \result.rule == SL_RULE_NONE ||
      (\result.rule == SL_RULE_OVERFULL && CapacityOfMeasure(\result.object, measure));
    ensures seen: \forall integer r; CapacityOfMeasure(r, measure) ==>
      seen_used[r] == sl_site_used[r]; */
static struct sl_finding look_at_measure(sl_measure_id measure, bool decided)
{
    struct sl_finding found = {SL_RULE_NONE, 0};
    uint32_t first = measure * SL_SITES_MAX;
    /*@ loop invariant index: 0 <= s <= SL_SITES_MAX && s <= sl_domain_site_limit;
        loop invariant within: found.rule == SL_RULE_NONE <==>
          (decided ==> \forall integer r; first <= r < first + s ==> SiteWithin{Pre}(r));
        loop invariant named: found.rule != SL_RULE_NONE ==>
          StepBroken{Pre}(found.rule, found.object);
        loop invariant rule: found.rule == SL_RULE_NONE ||
          (found.rule == SL_RULE_OVERFULL && CapacityOfMeasure(found.object, measure));
        loop invariant seen: \forall integer r; first <= r < first + s ==>
          seen_used[r] == sl_site_used[r];
        loop invariant later: \forall integer r; first + s <= r < first + SL_SITES_MAX ==>
          seen_used[r] == \at(seen_used[r], Pre);
        loop assigns s, found, seen_used[first .. first + SL_SITES_MAX - 1];
        loop variant SL_SITES_MAX - s; */
    for (sl_site_id s = 0; s < sl_domain_site_limit && s < SL_SITES_MAX; s++) {
        uint32_t capacity = first + s;
        if (decided && found.rule == SL_RULE_NONE && sl_site_used[capacity] > seen_used[capacity] &&
            sl_site_used[capacity] > sl_site_capacity[capacity]) {
            found = (struct sl_finding){SL_RULE_OVERFULL, capacity};
        }
        seen_used[capacity] = sl_site_used[capacity];
    }
    return found;
}

/*@ terminates \true; exits \false; assigns seen_used[0 .. SL_CAPACITIES_MAX - 1];
    ensures within: \result.rule == SL_RULE_NONE <==> (decided ==>
      CapacityWithin{Old}(SL_MEASURES_MAX));
    ensures named: \result.rule != SL_RULE_NONE ==> StepBroken{Old}(\result.rule, \result.object);
    ensures rule: \result.rule == SL_RULE_NONE || \result.rule == SL_RULE_OVERFULL;
    ensures seen: CapacitySeen(SL_MEASURES_MAX); */
static struct sl_finding look_at_capacity(bool decided)
{
    struct sl_finding found = {SL_RULE_NONE, 0};
    /*@ loop invariant index: 0 <= m <= SL_MEASURES_MAX;
        loop invariant within: found.rule == SL_RULE_NONE <==> (decided ==> CapacityWithin{Pre}(m));
        loop invariant named: found.rule != SL_RULE_NONE ==>
          StepBroken{Pre}(found.rule, found.object);
        loop invariant rule: found.rule == SL_RULE_NONE || found.rule == SL_RULE_OVERFULL;
        loop invariant seen: CapacitySeen(m);
        loop invariant later: \forall integer r; m * SL_SITES_MAX <= r < SL_CAPACITIES_MAX ==>
          seen_used[r] == \at(seen_used[r], Pre);
        loop assigns m, found, seen_used[0 .. SL_CAPACITIES_MAX - 1]; loop variant SL_MEASURES_MAX - m;
        */
    for (sl_measure_id m = 0; m < SL_MEASURES_MAX; m++) {
        struct sl_finding here = look_at_measure(m, decided);
        if (found.rule == SL_RULE_NONE) {
            found = here;
        }
    }
    return found;
}

/*@ requires ledger: CellsLinked && LimitsInRange && UsageInRange; terminates \true; exits \false;
    assigns SEEN_WORKLOADS, seen_own[0 .. SL_CELLS_MAX - 1], seen_used[0 .. SL_CAPACITIES_MAX - 1];
    ensures kept: \result.rule == SL_RULE_NONE <==> StepKept{Old}(limit, decided);
    ensures named: \result.rule != SL_RULE_NONE ==> StepBroken{Old}(\result.rule, \result.object);
    ensures seen: StepSeen(limit); */
struct sl_finding sl_guarantees_step(uint32_t limit, bool decided)
{
    struct sl_finding workload = look_at_workloads(limit, decided);
    struct sl_finding cell = look_at_cells(decided);
    struct sl_finding capacity = look_at_capacity(decided);
    if (workload.rule != SL_RULE_NONE) {
        return workload;
    }
    return cell.rule != SL_RULE_NONE ? cell : capacity;
}
