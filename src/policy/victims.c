/* SPDX-License-Identifier: Apache-2.0
 * SPDX-FileCopyrightText: The Sluice authors */

/* Victims: usage follows from what is charged, so that one who is put back leaves no trace,
 * whatever was taken in between. */
#include "policy/victims.h"

#include "kernel/commit.h"
#include "kernel/ledger.h"
#include "kernel/ledger_view.h"
#include "kernel/trail.h"
#include "policy/assumed.h"
#include "policy/placement.h"
#include "policy/tentative.h"

struct sl_victims sl_victims;

static uint32_t trial_mark;
static uint32_t room_mark;

static bool charge(sl_workload_id id)
{
    uint32_t count = sl_commit_claim_count(id);
    for (uint32_t i = 0; i < count; i++) {
        struct sl_claim claim = sl_commit_claim(id, i);
        if (claim.amount > 0 && sl_ledger_charge(claim.cell, claim.amount) != SL_OK) {
            return false;
        }
    }
    return true;
}

/* The rooms are looked at only where a place is asked for. */
static bool release_rooms(sl_workload_id id)
{
    return !sl_preemption_question.places || sl_assumed_free(id);
}

static bool occupy_rooms(sl_workload_id id)
{
    uint32_t count = sl_preemption_question.places ? sl_booking_count(id) : 0;
    for (uint32_t i = 0; i < count; i++) {
        struct sl_booking booking = sl_booking_at(id, i);
        if (!sl_assumed_add(booking.site, booking.measure, booking.amount)) {
            return false;
        }
    }
    return true;
}

void sl_victims_begin(void)
{
    sl_victims.count = 0;
    room_mark = sl_assumed_mark();
    trial_mark = sl_trail_begin();
}

void sl_victims_end(void)
{
    sl_trail_rollback(trial_mark);
    sl_assumed_back(room_mark);
}

bool sl_victims_take(sl_workload_id id, enum sl_preempt_reason reason)
{
    if (sl_victims.count == SL_VICTIMS_MAX || !sl_tentative_free(id) || !release_rooms(id)) {
        return false;
    }
    sl_victims.workloads[sl_victims.count] = id;
    sl_victims.reasons[sl_victims.count] = reason;
    sl_victims.count++;
    return true;
}

static bool need_met(struct sl_need need, bool may_borrow)
{
    int64_t available = sl_ledger_available(need.cell);
    if (!may_borrow && sl_ledger_usage(need.cell) + need.amount > sl_ledger_subtree(need.cell)) {
        return false;
    }
    return need.amount <= (available > 0 ? available : 0);
}

bool sl_victims_suffice(bool may_borrow)
{
    for (uint32_t i = 0; i < sl_preemption_question.need_count; i++) {
        if (!need_met(sl_preemption_question.needs[i], may_borrow)) {
            return false;
        }
    }
    return !sl_preemption_question.places || sl_placement_find();
}

/* Put one back, unless the preemptor would not fit any more. */
static bool put_back(sl_workload_id id, bool may_borrow)
{
    uint32_t mark = sl_trail_begin();
    uint32_t rooms = sl_assumed_mark();
    if (charge(id) && occupy_rooms(id) && sl_victims_suffice(may_borrow)) {
        sl_trail_keep(mark);
        return true;
    }
    sl_trail_rollback(mark);
    sl_assumed_back(rooms);
    return false;
}

void sl_victims_spare(bool may_borrow)
{
    uint32_t kept = sl_victims.count; /* from here to the end stand those who have to go */
    for (uint32_t i = sl_victims.count; i > 0; i--) {
        sl_workload_id id = sl_victims.workloads[i - 1];
        if (i < sl_victims.count && put_back(id, may_borrow)) {
            continue;
        }
        kept--;
        sl_victims.workloads[kept] = id;
        sl_victims.reasons[kept] = sl_victims.reasons[i - 1];
    }
    for (uint32_t i = kept; i < sl_victims.count; i++) {
        sl_victims.workloads[i - kept] = sl_victims.workloads[i];
        sl_victims.reasons[i - kept] = sl_victims.reasons[i];
    }
    sl_victims.count -= kept;
}
