/* SPDX-License-Identifier: Apache-2.0
 * SPDX-FileCopyrightText: The Sluice authors */

/* The line of one queue, for queues.c: in the heap to be tried; behind its lane's scout, which is
 * tried first; in a shut lane, or alone, until something changes; or aside while its backoff
 * lasts. Moves workloads between place, heaps and lanes together; the caller refreshes turns.
 * Lanes are used where bulk moves are: in BestEffortFIFO queues, with equivalence hashing. */
#ifndef SL_POLICY_LINE_H
#define SL_POLICY_LINE_H
#include "kernel/commit/commit.h"
#include "kernel/base/types.h"
#include "specs/hidden.acsl"

/* Is it at `place`, or can it be moved there? */
/*@ requires places: PlacesAgree; terminates \true; exits \false;
    assigns sl_places[0 .. SL_WORKLOADS_MAX - 1]; ensures places: PlacesAgree; */
bool sl_line_bring_to(sl_workload_id id, enum sl_place place);

/* It is in no index: to be tried, or (wait) not before its backoff is over. When all of its
 * shape are parked it joins them, once it was tried since its preemption gates were set. */
/*@ requires places: PlacesAgree; terminates \true; exits \false;
    assigns sl_hidden, sl_places[0 .. SL_WORKLOADS_MAX - 1]; ensures places: PlacesAgree; */
void sl_line_enter(sl_qnode_id queue, sl_workload_id id);
/*@ requires places: PlacesAgree; terminates \true; exits \false;
    assigns sl_hidden, sl_places[0 .. SL_WORKLOADS_MAX - 1]; ensures places: PlacesAgree; */
void sl_line_wait(sl_qnode_id queue, sl_workload_id id);
/* Out of every index; a lane that loses its scout sends the next one. */
/*@ requires places: PlacesAgree; terminates \true; exits \false;
    assigns sl_hidden, sl_places[0 .. SL_WORKLOADS_MAX - 1]; ensures places: PlacesAgree; */
void sl_line_leave(sl_workload_id id);

/* Back from the cycle, to the heap: the best of its lane if it is a scout. */
/*@ requires places: PlacesAgree; terminates \true; exits \false;
    assigns sl_hidden, sl_places[0 .. SL_WORKLOADS_MAX - 1]; ensures places: PlacesAgree; */
void sl_line_return(sl_qnode_id queue, sl_workload_id id);
/* Back from the cycle, to wait for a change: with all others of its shape, or alone. False = it
 * cannot be moved there. */
/*@ requires places: PlacesAgree; terminates \true; exits \false;
    assigns sl_hidden, sl_places[0 .. SL_WORKLOADS_MAX - 1]; ensures places: PlacesAgree; */
bool sl_line_park_shape(sl_qnode_id queue, sl_workload_id id);
/*@ requires places: PlacesAgree; terminates \true; exits \false;
    assigns sl_hidden, sl_places[0 .. SL_WORKLOADS_MAX - 1]; ensures places: PlacesAgree; */
bool sl_line_park_alone(sl_qnode_id queue, sl_workload_id id);
/* The same, and wake-ups pass it over: among those that wait for their backoff. */
/*@ requires places: PlacesAgree; terminates \true; exits \false;
    assigns sl_hidden, sl_places[0 .. SL_WORKLOADS_MAX - 1]; ensures places: PlacesAgree; */
bool sl_line_park_aside(sl_qnode_id queue, sl_workload_id id);

/* Whoever is parked may be tried again; or this one, with all others of its shape. */
/*@ requires places: PlacesAgree; terminates \true; exits \false;
    assigns sl_hidden, sl_places[0 .. SL_WORKLOADS_MAX - 1]; ensures places: PlacesAgree; */
void sl_line_wake(sl_qnode_id queue);
/*@ requires places: PlacesAgree; terminates \true; exits \false;
    assigns sl_hidden, sl_places[0 .. SL_WORKLOADS_MAX - 1]; ensures places: PlacesAgree; */
void sl_line_wake_one(sl_qnode_id queue, sl_workload_id id);
/* The queue's strategy changed: all its workloads enter again, none stays parked. */
/*@ requires places: PlacesAgree; terminates \true; exits \false;
    assigns sl_hidden, sl_places[0 .. SL_WORKLOADS_MAX - 1]; ensures places: PlacesAgree; */
void sl_line_rebuild(sl_qnode_id queue);
#endif
