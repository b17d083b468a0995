/* SPDX-License-Identifier: Apache-2.0
 * SPDX-FileCopyrightText: The Sluice authors */

/* Entries: pools that are filled from the front and emptied at once. */
#include "policy/entries/entries.h"

struct sl_entry sl_entries[SL_ENTRIES_MAX];
static uint32_t entry_count;

struct pod_set {
    uint32_t count;
    enum sl_mode mode;
    sl_tree_id tree;
    bool examined;
    bool delayed;
};

static struct pod_set pod_sets[SL_POD_SETS_POOL];
static uint32_t pod_sets_used;
static struct sl_choice choices[SL_CHOICES_POOL];
static uint32_t choices_used;
static struct sl_need needs[SL_NEEDS_POOL];
static uint32_t needs_used;
static struct sl_detail details[SL_DETAILS_POOL];
static uint32_t details_used;
static struct sl_attempt attempts[SL_ATTEMPTS_POOL];
static uint32_t attempts_used;
static sl_workload_id victims[SL_VICTIMS_POOL];
static enum sl_preempt_reason victim_reasons[SL_VICTIMS_POOL];
static uint32_t victims_used;

/* clang-format off */
#define USED pod_sets_used, choices_used, needs_used, details_used, attempts_used, victims_used
#define POOLS                                                                                      \
    pod_sets[0 .. SL_POD_SETS_POOL - 1], choices[0 .. SL_CHOICES_POOL - 1],                        \
        needs[0 .. SL_NEEDS_POOL - 1], details[0 .. SL_DETAILS_POOL - 1],                          \
        attempts[0 .. SL_ATTEMPTS_POOL - 1], victims[0 .. SL_VICTIMS_POOL - 1],                    \
        victim_reasons[0 .. SL_VICTIMS_POOL - 1]
/* clang-format on */

/*@
  predicate PoolsSound{L} = entry_count <= SL_ENTRIES_MAX && pod_sets_used <= SL_POD_SETS_POOL &&
    choices_used <= SL_CHOICES_POOL && needs_used <= SL_NEEDS_POOL &&
    details_used <= SL_DETAILS_POOL && attempts_used <= SL_ATTEMPTS_POOL &&
    victims_used <= SL_VICTIMS_POOL;
*/

/*@ terminates \true; exits \false; assigns entry_count, USED; ensures pools: PoolsSound; */
void sl_entries_clear(void)
{
    entry_count = 0;
    pod_sets_used = 0;
    choices_used = 0;
    needs_used = 0;
    details_used = 0;
    attempts_used = 0;
    victims_used = 0;
}

/*@ requires pools: PoolsSound; terminates \true; exits \false; assigns \nothing; */
uint32_t sl_entries_count(void)
{
    return entry_count;
}

/*@ terminates \true; exits \false; assigns \nothing;
    ensures count: \result ==
      (sl_assignment.need_count <= SL_USAGE_CELLS_MAX ? sl_assignment.need_count : 0); */
static uint32_t needs_count(void)
{
    return sl_assignment.need_count <= SL_USAGE_CELLS_MAX ? sl_assignment.need_count : 0;
}

/*@ requires pools: PoolsSound; terminates \true; exits \false; assigns \nothing;
    ensures capacity: \result ==> sl_assignment.pod_set_count <= SL_POD_SETS_POOL - pod_sets_used &&
      sl_assignment.choice_count <= SL_CHOICES_POOL - choices_used &&
      (sl_assignment.need_count <= SL_USAGE_CELLS_MAX ==>
      sl_assignment.need_count <= SL_NEEDS_POOL - needs_used) &&
      sl_assignment.detail_count <= SL_DETAILS_POOL - details_used &&
      sl_assignment.attempt_count <= SL_ATTEMPTS_POOL - attempts_used &&
      victim_count <= SL_VICTIMS_POOL - victims_used; */
static bool has_room(uint32_t victim_count)
{
    return sl_assignment.pod_set_count <= SL_POD_SETS_POOL - pod_sets_used &&
           sl_assignment.choice_count <= SL_CHOICES_POOL - choices_used &&
           needs_count() <= SL_NEEDS_POOL - needs_used &&
           sl_assignment.detail_count <= SL_DETAILS_POOL - details_used &&
           sl_assignment.attempt_count <= SL_ATTEMPTS_POOL - attempts_used &&
           victim_count <= SL_VICTIMS_POOL - victims_used;
}

/*@ requires sound: EntriesSound && AssignmentSound && PoolsSound && entry < SL_ENTRIES_MAX &&
      sl_assignment.pod_set_count <= SL_POD_SETS_POOL - pod_sets_used;
    terminates \true; exits \false;
    assigns sl_entries[entry].pod_sets, pod_sets[0 .. SL_POD_SETS_POOL - 1], pod_sets_used;
    ensures sound: EntriesSound && PoolsSound; */
static void keep_pod_sets(uint32_t entry)
{
    sl_entries[entry].pod_sets = (struct sl_rows){pod_sets_used, sl_assignment.pod_set_count};
    /*@
      loop invariant used: i <= sl_assignment.pod_set_count &&
        pod_sets_used == \at(pod_sets_used, LoopEntry) + i;
      loop assigns i, pod_sets_used, pod_sets[0 .. SL_POD_SETS_POOL - 1];
      loop variant sl_assignment.pod_set_count - i;
    */
    for (uint32_t i = 0; i < sl_assignment.pod_set_count; i++) {
        pod_sets[pod_sets_used] =
            (struct pod_set){sl_assignment.counts[i], sl_assignment.modes[i], sl_assignment.tree[i],
                             sl_assignment.examined[i], sl_assignment.delayed[i]};
        pod_sets_used++;
    }
}

/*@ requires sound: EntriesSound && AssignmentSound && PoolsSound && entry < SL_ENTRIES_MAX &&
      sl_assignment.choice_count <= SL_CHOICES_POOL - choices_used &&
      (sl_assignment.need_count <= SL_USAGE_CELLS_MAX ==>
      sl_assignment.need_count <= SL_NEEDS_POOL - needs_used); terminates \true; exits \false;
    assigns sl_entries[entry].choices, sl_entries[entry].needs,
      choices[0 .. SL_CHOICES_POOL - 1], choices_used, needs[0 .. SL_NEEDS_POOL - 1], needs_used;
    ensures sound: EntriesSound && PoolsSound; */
static void keep_choices(uint32_t entry)
{
    sl_entries[entry].choices = (struct sl_rows){choices_used, sl_assignment.choice_count};
    /*@
      loop invariant used: i <= sl_assignment.choice_count && choices_used == \at(choices_used,
        LoopEntry) + i;
      loop assigns i, choices_used, choices[0 .. SL_CHOICES_POOL - 1];
      loop variant sl_assignment.choice_count - i;
    */
    for (uint32_t i = 0; i < sl_assignment.choice_count; i++) {
        choices[choices_used] = sl_assignment.choices[i];
        choices_used++;
    }
    sl_entries[entry].needs = (struct sl_rows){needs_used, needs_count()};
    /*@
      loop invariant used: i <= sl_entries[entry].needs.count && needs_used == \at(needs_used,
        LoopEntry) + i;
      loop assigns i, needs_used, needs[0 .. SL_NEEDS_POOL - 1];
      loop variant sl_entries[entry].needs.count - i;
    */
    for (uint32_t i = 0; i < sl_entries[entry].needs.count; i++) {
        needs[needs_used] = sl_assignment.needs[i];
        needs_used++;
    }
}

/*@ requires sound: EntriesSound && AssignmentSound && PoolsSound && entry < SL_ENTRIES_MAX &&
      sl_assignment.detail_count <= SL_DETAILS_POOL - details_used &&
      sl_assignment.attempt_count <= SL_ATTEMPTS_POOL - attempts_used; terminates \true;
    exits \false;
    assigns sl_entries[entry].details, sl_entries[entry].attempts,
      details[0 .. SL_DETAILS_POOL - 1], details_used, attempts[0 .. SL_ATTEMPTS_POOL - 1],
      attempts_used; ensures sound: EntriesSound && PoolsSound; */
static void keep_findings(uint32_t entry)
{
    sl_entries[entry].details = (struct sl_rows){details_used, sl_assignment.detail_count};
    /*@
      loop invariant used: i <= sl_assignment.detail_count && details_used == \at(details_used,
        LoopEntry) + i;
      loop assigns i, details_used, details[0 .. SL_DETAILS_POOL - 1];
      loop variant sl_assignment.detail_count - i;
    */
    for (uint32_t i = 0; i < sl_assignment.detail_count; i++) {
        details[details_used] = sl_assignment.details[i];
        details_used++;
    }
    sl_entries[entry].attempts = (struct sl_rows){attempts_used, sl_assignment.attempt_count};
    /*@
      loop invariant used: i <= sl_assignment.attempt_count &&
        attempts_used == \at(attempts_used, LoopEntry) + i;
      loop assigns i, attempts_used, attempts[0 .. SL_ATTEMPTS_POOL - 1];
      loop variant sl_assignment.attempt_count - i;
    */
    for (uint32_t i = 0; i < sl_assignment.attempt_count; i++) {
        attempts[attempts_used] = sl_assignment.attempts[i];
        attempts_used++;
    }
}

/*@ requires sound: EntriesSound && AssignmentSound && PoolsSound && entry < SL_ENTRIES_MAX &&
      count <= SL_VICTIMS_MAX && count <= SL_VICTIMS_POOL - victims_used;
    terminates \true; exits \false;
    assigns sl_entries[entry].victims, victims[0 .. SL_VICTIMS_POOL - 1],
      victim_reasons[0 .. SL_VICTIMS_POOL - 1], victims_used; ensures sound: EntriesSound &&
        PoolsSound; */
static void keep_victims(uint32_t entry, uint32_t count)
{
    sl_entries[entry].victims = (struct sl_rows){victims_used, count};
    /*@
      loop invariant used: i <= count && victims_used == \at(victims_used, LoopEntry) + i;
      loop assigns i, victims_used, victims[0 .. SL_VICTIMS_POOL - 1],
                   victim_reasons[0 .. SL_VICTIMS_POOL - 1];
      loop variant count - i;
    */
    for (uint32_t i = 0; i < count; i++) {
        victims[victims_used] = sl_victims.workloads[i];
        victim_reasons[victims_used] = sl_victims.reasons[i];
        victims_used++;
    }
}

/*@ requires pools: PoolsSound; terminates \true; exits \false; assigns POOLS, USED;
    ensures pools: PoolsSound; */
bool sl_entries_renew(uint32_t entry, bool with_victims)
{
    uint32_t victim_count = with_victims ? sl_victims.count : 0;
    if (entry >= entry_count || !has_room(victim_count)) {
        return false;
    }
    sl_entries[entry].may_borrow = with_victims && sl_victims.may_borrow;
    sl_entries[entry].replaces = sl_assignment.replaces;
    sl_entries[entry].mode = sl_assignment.mode;
    sl_entries[entry].reason = sl_assignment.reason;
    sl_entries[entry].borrow_height = sl_assignment.borrow_height;
    sl_entries[entry].details_left_out = sl_assignment.details_left_out;
    keep_pod_sets(entry);
    keep_choices(entry);
    keep_findings(entry);
    keep_victims(entry, victim_count);
    return true;
}

/*@ requires pools: PoolsSound; terminates \true; exits \false; assigns entry_count, POOLS, USED;
    ensures pools: PoolsSound; */
uint32_t sl_entries_add(bool with_victims)
{
    if (entry_count >= SL_ENTRIES_MAX) {
        return SL_NO_ID;
    }
    entry_count++;
    sl_entries[entry_count - 1] =
        (struct sl_entry){.workload = sl_assignment.workload, .queue = sl_assignment.cluster_queue};
    if (!sl_entries_renew(entry_count - 1, with_victims)) {
        entry_count--;
        return SL_NO_ID;
    }
    return entry_count - 1;
}

/*@ requires sound: EntriesSound && AssignmentSound && entry < SL_ENTRIES_MAX; terminates \true;
    exits \false; assigns sl_assignment; ensures sound: AssignmentSound; */
static void recall_pod_sets(uint32_t entry)
{
    sl_assignment.pod_set_count = sl_entries[entry].pod_sets.count;
    /*@ loop assigns i, sl_assignment.counts[0 .. SL_POD_SETS_MAX - 1],
          sl_assignment.examined[0 .. SL_POD_SETS_MAX - 1],
          sl_assignment.modes[0 .. SL_POD_SETS_MAX - 1],
          sl_assignment.delayed[0 .. SL_POD_SETS_MAX - 1],
          sl_assignment.tree[0 .. SL_POD_SETS_MAX - 1];
        loop variant sl_entries[entry].pod_sets.count - i; */
    for (uint32_t i = 0; i < sl_entries[entry].pod_sets.count; i++) {
        struct pod_set set = pod_sets[sl_entries[entry].pod_sets.first + i];
        sl_assignment.counts[i] = set.count;
        sl_assignment.examined[i] = set.examined;
        sl_assignment.modes[i] = set.mode;
        sl_assignment.delayed[i] = set.delayed;
        sl_assignment.tree[i] = set.tree;
    }
}

/*@ requires sound: EntriesSound && AssignmentSound && entry < SL_ENTRIES_MAX; terminates \true;
    exits \false; assigns sl_assignment; ensures sound: AssignmentSound; */
static void recall_choices(uint32_t entry)
{
    sl_assignment.choice_count = sl_entries[entry].choices.count;
    /*@ loop assigns i, sl_assignment.choices[0 .. SL_CHOICES_MAX - 1];
        loop variant sl_entries[entry].choices.count - i; */
    for (uint32_t i = 0; i < sl_entries[entry].choices.count; i++) {
        sl_assignment.choices[i] = choices[sl_entries[entry].choices.first + i];
    }
    sl_assignment.need_count = sl_entries[entry].needs.count;
    /*@ loop assigns i, sl_assignment.needs[0 .. SL_USAGE_CELLS_MAX - 1];
        loop variant sl_entries[entry].needs.count - i; */
    for (uint32_t i = 0; i < sl_entries[entry].needs.count; i++) {
        sl_assignment.needs[i] = needs[sl_entries[entry].needs.first + i];
    }
}

/*@ requires sound: EntriesSound && AssignmentSound && entry < SL_ENTRIES_MAX; terminates \true;
    exits \false; assigns sl_assignment; ensures sound: AssignmentSound; */
static void recall_findings(uint32_t entry)
{
    sl_assignment.detail_count = sl_entries[entry].details.count;
    /*@ loop assigns i, sl_assignment.details[0 .. SL_DETAILS_MAX - 1];
        loop variant sl_entries[entry].details.count - i; */
    for (uint32_t i = 0; i < sl_entries[entry].details.count; i++) {
        sl_assignment.details[i] = details[sl_entries[entry].details.first + i];
    }
    sl_assignment.details_left_out = sl_entries[entry].details_left_out;
    sl_assignment.attempt_count = sl_entries[entry].attempts.count;
    /*@ loop assigns i, sl_assignment.attempts[0 .. SL_ATTEMPTS_MAX - 1];
        loop variant sl_entries[entry].attempts.count - i; */
    for (uint32_t i = 0; i < sl_entries[entry].attempts.count; i++) {
        sl_assignment.attempts[i] = attempts[sl_entries[entry].attempts.first + i];
    }
}

/*@ requires pools: PoolsSound; terminates \true; exits \false; assigns \nothing; */
void sl_entries_recall(uint32_t entry)
{
    if (entry >= entry_count) {
        return;
    }
    sl_assignment.workload = sl_entries[entry].workload;
    sl_assignment.cluster_queue = sl_entries[entry].queue;
    sl_assignment.replaces = sl_entries[entry].replaces;
    sl_assignment.mode = sl_entries[entry].mode;
    sl_assignment.reason = sl_entries[entry].reason;
    sl_assignment.borrow_height = sl_entries[entry].borrow_height;
    recall_pod_sets(entry);
    recall_choices(entry);
    recall_findings(entry);
}

/*@ requires pools: PoolsSound; terminates \true; exits \false; assigns \nothing; */
struct sl_need sl_entries_need(uint32_t entry, uint32_t index)
{
    struct sl_need none = {SL_NO_ID, 0, false};
    return entry < entry_count && index < sl_entries[entry].needs.count
               ? needs[sl_entries[entry].needs.first + index]
               : none;
}

/*@ requires pools: PoolsSound; terminates \true; exits \false; assigns \nothing; */
sl_workload_id sl_entries_victim(uint32_t entry, uint32_t index)
{
    return entry < entry_count && index < sl_entries[entry].victims.count
               ? victims[sl_entries[entry].victims.first + index]
               : SL_NO_ID;
}

/*@ requires pools: PoolsSound; terminates \true; exits \false; assigns \nothing; */
enum sl_preempt_reason sl_entries_victim_reason(uint32_t entry, uint32_t index)
{
    return entry < entry_count && index < sl_entries[entry].victims.count
               ? victim_reasons[sl_entries[entry].victims.first + index]
               : SL_PREEMPT_NONE;
}
