/* SPDX-License-Identifier: Apache-2.0
 * SPDX-FileCopyrightText: The Sluice authors */

/* Preemption: which algorithm answers, and the oracle, which asks the same question of one cell. */
#include "policy/preemption/preemption.h"

#include "kernel/ledger/ledger.h"
#include "policy/queues/holders.h"
#include "policy/preemption/preemption_classical.h"
#include "policy/preemption/preemption_fair.h"
#include "policy/preemption/restraint.h"
#include "policy/common/settings.h"
#include "policy/preemption/tentative.h"
#include "policy/preemption/victims.h"

struct sl_preemption_question sl_preemption_question;

/* The victims that were found, while it is tried which of them could stay. */
static uint32_t found_count;
static sl_workload_id found[SL_VICTIMS_MAX];
static enum sl_preempt_reason found_reasons[SL_VICTIMS_MAX];

/* clang-format off */
#define FOUND found_count, found[0 .. SL_VICTIMS_MAX - 1], found_reasons[0 .. SL_VICTIMS_MAX - 1]
/* clang-format on */

/* Does it request amounts of cells? Preemption could free nothing else. */
/*@ terminates \true; exits \false; assigns \nothing; ensures asked: \result ==> QuestionAsked; */
static bool asks_rightly(void)
{
    if (sl_preemption_question.preemptor >= SL_WORKLOADS_MAX ||
        sl_preemption_question.cluster_queue >= SL_QNODES_MAX ||
        sl_preemption_question.need_count > SL_USAGE_CELLS_MAX) {
        return false;
    }
    /*@
      loop invariant asked: \forall integer j; 0 <= j < i ==>
        sl_preemption_question.needs[j].cell < SL_CELLS_MAX &&
        0 <= sl_preemption_question.needs[j].amount <= SL_AMOUNT_MAX;
      loop assigns i;
      loop variant sl_preemption_question.need_count - i;
    */
    for (uint32_t i = 0; i < sl_preemption_question.need_count; i++) {
        struct sl_need need = sl_preemption_question.needs[i];
        if (need.cell >= SL_CELLS_MAX || need.amount < 0 || need.amount > SL_AMOUNT_MAX) {
            return false;
        }
    }
    return true;
}

uint32_t sl_preemption_find(int64_t now_ms)
{
    sl_victims.count = 0;
    if (!asks_rightly() || sl_restraint_holds(sl_preemption_question.preemptor)) {
        return 0;
    }
    return sl_settings.fair_sharing ? sl_preemption_find_fair(now_ms)
                                    : sl_preemption_find_classical(now_ms);
}

/* --- victims that the places do not need -------------------------------------------------------- */

/*@ requires victims: VictimsSound; terminates \true; exits \false; assigns FOUND;
    ensures found: found_count == sl_victims.count; */
static void keep_found(void)
{
    found_count = sl_victims.count;
    /*@ loop invariant count: found_count == sl_victims.count;
        loop assigns i, found[0 .. SL_VICTIMS_MAX - 1], found_reasons[0 .. SL_VICTIMS_MAX - 1];
        loop variant found_count - i; */
    for (uint32_t i = 0; i < found_count; i++) {
        found[i] = sl_victims.workloads[i];
        found_reasons[i] = sl_victims.reasons[i];
    }
}

/*@ requires found: found_count <= SL_VICTIMS_MAX; terminates \true; exits \false; assigns sl_victims;
    ensures victims: VictimsSound; */
static void recall_found(void)
{
    sl_victims.count = found_count;
    /*@ loop assigns i, sl_victims.workloads[0 .. SL_VICTIMS_MAX - 1],
                     sl_victims.reasons[0 .. SL_VICTIMS_MAX - 1];
        loop variant found_count - i; */
    for (uint32_t i = 0; i < found_count; i++) {
        sl_victims.workloads[i] = found[i];
        sl_victims.reasons[i] = found_reasons[i];
    }
}

/*@ requires tried: VictimsTried && found_count <= SL_VICTIMS_MAX; terminates \true; exits \false;
    assigns sl_hidden, sl_victims, SL_TRIED, SL_ASSUMED;
    ensures tried: VictimsTried && PastKept{Pre, Post}; */
static bool take_found(void)
{
    bool taken = true;
    /*@ loop invariant tried: VictimsTried && PastKept{Pre, Here};
        loop assigns i, taken, sl_hidden, sl_victims, SL_TRIED, SL_ASSUMED;
        loop variant found_count - i; */
    for (uint32_t i = 0; i < found_count && taken; i++) {
        taken = sl_victims_take(found[i], found_reasons[i]);
    }
    return taken;
}

/*@ requires tried: VictimsTried && found_count <= SL_VICTIMS_MAX; terminates \true; exits \false;
    assigns sl_hidden, sl_victims, SL_TRIED, sl_trail_depth, SL_ASSUMED, SL_PLACED;
    ensures tried: VictimsTried && PastKept{Pre, Post} && sl_trail_depth == \old(sl_trail_depth); */
static void spare_found(bool may_borrow)
{
    bool taken = take_found();
    //@ assert past: PastKept{Pre, Here};
    bool spared = taken && sl_victims_suffice(may_borrow) && sl_victims_spare(may_borrow);
    //@ assert past: PastKept{Pre, Here};
    if (!spared) {
        recall_found();
    }
}

/*@ requires ready: PreemptionReady && QuestionAsked; requires found: found_count <= SL_VICTIMS_MAX;
    terminates \true; exits \false; assigns sl_hidden, SL_SOUGHT;
    ensures ready: PreemptionReady && TakenBack{Pre, Post};
    ensures victims: VictimsSound; */
static void spare_in_trial(bool may_borrow)
{
    uint32_t mark = sl_victims_begin();
    spare_found(may_borrow);
    //@ assert past: SamePast{Pre, Here}(mark) && mark <= sl_trail_count;
    sl_victims_end(mark);
    //@ assert same: UsageSame{Pre, Here};
    //@ assert past: PastKept{Pre, Here};
}

/*@ assigns sl_hidden, SL_SOUGHT, sl_preemption_question.placed, FOUND; */
uint32_t sl_preemption_spare_beside_places(void)
{
    if (sl_preemption_question.places && asks_rightly()) {
        keep_found();
        sl_preemption_question.placed = true;
        spare_in_trial(sl_victims.may_borrow);
        sl_preemption_question.placed = false;
    }
    return sl_victims.count;
}

/* --- the oracle -------------------------------------------------------------------------------- */

/*@ requires victims: VictimsSound; terminates \true; exits \false; assigns \nothing; */
static bool any_victim_of(sl_qnode_id queue)
{
    /*@ loop assigns i; loop variant sl_victims.count - i; */
    for (uint32_t i = 0; i < sl_victims.count; i++) {
        if (sl_holders_queue_of(sl_victims.workloads[i]) == queue) {
            return true;
        }
    }
    return false;
}

/* How high the preemptor would borrow without all victims. */
/*@ requires ready: PreemptionReady && HeightsInv && VictimsSound; terminates \true; exits \false;
    assigns SL_TRIED, sl_trail_depth, SL_HEIGHTS;
    ensures ready: PreemptionReady && HeightsInv;
    ensures back: TakenBack{Pre, Post}; */
static uint32_t height_without_victims(sl_cell_id cell, int64_t amount)
{
    uint32_t mark = sl_trail_begin();
    /*@
      loop invariant ledger: LedgerReady && PastKept{Pre, Here} && SamePast{Pre, Here}(mark);
      loop assigns i, SL_TRIED;
      loop variant sl_victims.count - i;
    */
    for (uint32_t i = 0; i < sl_victims.count; i++) {
        (void)sl_tentative_free(sl_victims.workloads[i]);
    }
    uint32_t height = sl_ledger_borrow_height(cell, amount);
    sl_trail_rollback(mark);
    //@ assert same: UsageSame{Pre, Here};
    return height;
}

struct sl_prospect sl_preemption_prospect(sl_workload_id preemptor, sl_qnode_id cluster_queue,
                                          sl_cell_id cell, int64_t amount, int64_t now_ms)
{
    struct sl_prospect prospect = {SL_NO_CANDIDATES, 0};
    sl_preemption_question.preemptor = preemptor;
    sl_preemption_question.cluster_queue = cluster_queue;
    sl_preemption_question.places = false; /* quota alone is asked for */
    sl_preemption_question.need_count = 1;
    sl_preemption_question.needs[0] = (struct sl_need){cell, amount, true};
    if (sl_preemption_find(now_ms) != 0) {
        prospect.possibility = any_victim_of(cluster_queue) ? SL_PREEMPT : SL_RECLAIM;
    }
    prospect.borrow_height = height_without_victims(cell, amount);
    //@ assert same: UsageSame{Pre, Here};
    //@ assert past: PastKept{Pre, Here};
    return prospect;
}
