/* SPDX-License-Identifier: Apache-2.0
 * SPDX-FileCopyrightText: The Sluice authors */

/* The steps of a cycle, for its own files: cycle.c takes the heads, nominates them and calls the
 * others. */
#ifndef SL_POLICY_CYCLE_STEPS_H
#define SL_POLICY_CYCLE_STEPS_H
#include "policy/cycle.h"

/* The running cycle. */
extern int64_t sl_cycle_now_ms;
extern uint64_t sl_cycle_number;

/* It is about to be nominated: note whether its scan of flavors goes on from an earlier cycle. */
void sl_cycle_note_scan(sl_workload_id id);

/* Does the queue's head take part because others of its tree are tried? */
bool sl_cycle_is_along(sl_node_id queue);

/* Does an admission check stand against it? */
bool sl_cycle_checks_failed(sl_workload_id id);

/* Begin the outcome of this workload: pending, WAITING_FOR_QUOTA. */
void sl_cycle_begin_outcome(sl_workload_id id);
/* End it: note its reason in the record and put it back. */
void sl_cycle_put_back(enum sl_back why);

/* The entries in order; SL_NO_ID = no more. */
void sl_cycle_sort(void);
uint32_t sl_cycle_next_entry(void);

/* Decide about one entry; its outcome is complete. */
void sl_cycle_process(uint32_t entry);

/* --- cycle_recheck.c: does what the entry was nominated with still hold? It may be nominated anew.
 * Afterwards sl_assignment and sl_topology_plan are those of the entry. FULL: the
 * pools have no room for a new nomination. */
enum sl_recheck { SL_RECHECK_FITS, SL_RECHECK_NO_QUOTA, SL_RECHECK_NO_ROOM, SL_RECHECK_FULL };
enum sl_recheck sl_cycle_recheck(uint32_t entry);
/* Are some of its victims those of others too? */
bool sl_cycle_overlaps(uint32_t entry);

/* --- cycle_rooms.c: rooms on nodes, of sl_topology_plan as recalled for the entry. */
/* In a trial (assumed.h): all that was evicted in this cycle is gone. False = that cannot be
 * tried. */
bool sl_cycle_free_rooms(void);
/* Would the places still do, with what was promised taken, and all victims gone, its own too? */
bool sl_cycle_rooms_fit(uint32_t entry);
/* Keep them for somebody who waits, until the cycle ends. False = there is no room for the promise,
 * and others may be served first. */
bool sl_cycle_promise_rooms(void);
/* This one is evicted; to be said before tentative.h is told. */
void sl_cycle_evict_rooms(sl_workload_id id);
void sl_cycle_clear_rooms(void);
/* The entry was dealt with: if it is held and rooms were promised to it, it counts on them. */
void sl_cycle_settle_waiter(uint32_t entry);
/* Of those who counted on rooms and do so no more: others who wait for rooms are told. */
void sl_cycle_check_waiters(void);
uint32_t sl_cycle_waiter_count(void);
sl_node_id sl_cycle_waiter_at(uint32_t index); /* its queue */
/* The rooms of sl_topology_plan were taken; or they were kept for this cycle only. */
void sl_cycle_note_taken(void);
void sl_cycle_note_given_up(void);
/* Begin an entry. */
void sl_cycle_begin_rooms(void);
/* It had a place, and has none as long as others in the cycle count on it: it is owed another try.
 * Late: it is held for that, and its tree is roused at the end when rooms have moved. */
void sl_cycle_note_outdone(sl_workload_id id);
void sl_cycle_note_late(uint32_t entry);
void sl_cycle_rouse_late(void);

/* --- cycle_pass.c: second passes. True when that was the end of it for this cycle. */
bool sl_cycle_nominate_pass(sl_workload_id id);
void sl_cycle_process_pass(uint32_t entry);

/* Somebody in this tree was served or evicted, or gave up what it had reserved for the cycle:
 * whoever was held back there is worth another try when the cycle ends. */
void sl_cycle_progress(sl_node_id root);
void sl_cycle_give_up(sl_node_id root);
#endif
