/* SPDX-License-Identifier: Apache-2.0
 * SPDX-FileCopyrightText: The Sluice authors */

/* The entries of the running cycle, for the cycle's own files: which workloads were nominated, with
 * which assignment and which victims. What an entry consists of is copied to pools, since the next
 * question overwrites sl_assignment and sl_victims. Owns the entries. */
#ifndef SL_POLICY_ENTRIES_H
#define SL_POLICY_ENTRIES_H
#include "kernel/base/types.h"
#include "policy/flavors/flavors.h"
#include "policy/preemption/preemption.h"
#include "specs/hidden.acsl"

#define SL_ENTRIES_MAX SL_QNODES_MAX
#define SL_POD_SETS_POOL 524288u
#define SL_CHOICES_POOL 1048576u
#define SL_NEEDS_POOL 1048576u
#define SL_DETAILS_POOL 1048576u
#define SL_ATTEMPTS_POOL 1048576u
#define SL_VICTIMS_POOL 1048576u

/* Rows of a pool. */
struct sl_rows {
    uint32_t first;
    uint32_t count;
};

struct sl_entry {
    sl_workload_id workload;
    sl_qnode_id queue;
    sl_qnode_id root;        /* of its cohort tree */
    sl_workload_id replaces; /* as in sl_assignment */
    bool holds;              /* it has quota already: a second pass */
    bool goes_first;         /* it has been waiting for its victims, and that counts (heads.h) */
    bool after_promises;     /* computed with what the cycle promised taken */
    bool after_others;       /* and without the victims of others in the cycle */
    bool may_borrow;         /* as in sl_victims */
    enum sl_mode mode;
    enum sl_pending_reason reason; /* with NO_FIT */
    uint32_t borrow_height;
    uint32_t next; /* link to the next entry of the same tree, for the tournament */
    uint32_t details_left_out;
    struct sl_rows pod_sets;
    struct sl_rows choices;
    struct sl_rows needs;
    struct sl_rows details;
    struct sl_rows attempts;
    struct sl_rows victims;
};
extern struct sl_entry sl_entries[SL_ENTRIES_MAX];
/*@
  predicate RowsWithin(struct sl_rows r, integer most, integer pool) =
    r.count <= most && r.first + r.count <= pool;
  // What an entry keeps is in the pools, and no more than an assignment can hold.
  predicate EntriesSound{L} = \forall integer e; 0 <= e < SL_ENTRIES_MAX ==>
    RowsWithin(sl_entries[e].pod_sets, SL_POD_SETS_MAX, SL_POD_SETS_POOL) &&
    RowsWithin(sl_entries[e].choices, SL_CHOICES_MAX, SL_CHOICES_POOL) &&
    RowsWithin(sl_entries[e].needs, SL_USAGE_CELLS_MAX, SL_NEEDS_POOL) &&
    RowsWithin(sl_entries[e].details, SL_DETAILS_MAX, SL_DETAILS_POOL) &&
    RowsWithin(sl_entries[e].attempts, SL_ATTEMPTS_MAX, SL_ATTEMPTS_POOL) &&
    RowsWithin(sl_entries[e].victims, SL_VICTIMS_MAX, SL_VICTIMS_POOL);
*/

/*@ terminates \true; exits \false; assigns sl_hidden; */
void sl_entries_clear(void);
/*@ terminates \true; exits \false; assigns \nothing; ensures bound: \result <= SL_ENTRIES_MAX; */
uint32_t sl_entries_count(void);
/* One more, of sl_assignment and, when `with_victims`, sl_victims; the other fields are zero.
 * SL_NO_ID = a pool is full. */
/*@ requires sound: EntriesSound && AssignmentSound && VictimsSound; terminates \true;
    exits \false; assigns sl_hidden, sl_entries[0 .. SL_ENTRIES_MAX - 1];
    ensures sound: EntriesSound; ensures known: \result < SL_ENTRIES_MAX || \result == SL_NO_ID; */
uint32_t sl_entries_add(bool with_victims);
/* Replace what an entry keeps of its assignment; false = a pool is full, and it is as before. */
/*@ requires sound: EntriesSound && AssignmentSound && VictimsSound; terminates \true;
    exits \false; assigns sl_hidden, sl_entries[entry]; ensures sound: EntriesSound; */
bool sl_entries_renew(uint32_t entry, bool with_victims);
/* Make sl_assignment what it was for this entry. */
/*@ requires sound: EntriesSound && AssignmentSound; terminates \true; exits \false;
    assigns sl_assignment; ensures sound: AssignmentSound; */
void sl_entries_recall(uint32_t entry);

/*@ requires sound: EntriesSound; terminates \true; exits \false; assigns \nothing; */
struct sl_need sl_entries_need(uint32_t entry, uint32_t index);
/*@ requires sound: EntriesSound; terminates \true; exits \false; assigns \nothing; */
sl_workload_id sl_entries_victim(uint32_t entry, uint32_t index);
/*@ requires sound: EntriesSound; terminates \true; exits \false; assigns \nothing; */
enum sl_preempt_reason sl_entries_victim_reason(uint32_t entry, uint32_t index);
#endif
