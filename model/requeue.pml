/* SPDX-License-Identifier: Apache-2.0
 * SPDX-FileCopyrightText: The Sluice authors */

/* Requeueing and wake-ups: two workloads of one shape, one ClusterQueue with room for one of them, and everything
 * that moves them: cycles, answers to writes, timers, jobs that stop, workloads and the queue deleted and made again.
 * Cycles are cut into steps between which anything may happen, which is more than the daemon's one thread allows.
 * docs/models.md says what is left out, and what each of the bad variants is. */
#include "model/lifecycle.pml"

#ifndef TROUBLES
#define TROUBLES 3
#endif

#define SL_PLACE_NONE 0
#define SL_PLACE_HEAP 1
#define SL_PLACE_INADMISSIBLE 2
#define SL_PLACE_IN_FLIGHT 3
#define SL_PLACE_HOLDING 4
#define SL_PLACE_SECOND_PASS 5
#define SL_PLACE_ORPHANED 6
#define SL_PLACE_DORMANT 7
#define SL_PLACE_DONE 8
#define SL_PLACES 9
#define SL_PLACE_STEP(from, to) place_steps[from * SL_PLACES + to] = 1;
hidden byte place_steps[81];

/* Which of the policy's indexes lists a workload. */
#define NOWHERE 0
#define FRONT 1  /* the heap of those that are tried: the scout of the lane */
#define LANE 2   /* behind the scout, or parked with it when the lane is shut */
#define ASIDE 3  /* it waits for its backoff */

/* Requeued, and why it was evicted last */
#define UNSET 0
#define REQUEUED 1
#define NOT_REQUEUED 2
#define NOT_EVICTED 0
#define PREEMPTED 1
#define LATE 2   /* pods not ready in time: with a backoff */
#define OFF 3    /* deactivated */

/* --- workloads: the record, its place, the engine's entry ------------------------------------- */
byte phase[2];
byte gen[2];      /* incarnation; 0 = the slot is free */
bool counts[2];
bool is_on[2];
bool wanted[2];   /* spec.active */
byte requeued[2];
byte evicted[2];
bool waits[2];    /* requeueAt is set */
byte place[2];
byte index[2];
bool attached[2]; /* queue_link */
bool held[2];     /* among the queue's holders */
bool paused[2];   /* its reservation was refused: out of the queue for a while */
byte writing[2];  /* the reservation under way, by incarnation */
byte backoff[2];  /* timers, by incarnation; nobody takes them back */
byte rewrite[2];
byte made;

/* --- the queue -------------------------------------------------------------------------------- */
bool exists = true;
bool shut;        /* the lane: its scout found no room */
bool marked;      /* something has changed since the last cycle began */

byte troubles = TROUBLES;
hidden short row;
hidden byte other;

#define admissible(w) (phase[w] == SL_PHASE_PENDING && is_on[w])
#define holds(w) (phase[w] >= SL_PHASE_QUOTA_RESERVED && phase[w] <= SL_PHASE_EVICTED && counts[w])
#define in_line(place) (place == SL_PLACE_HEAP || place == SL_PLACE_INADMISSIBLE || place == SL_PLACE_IN_FLIGHT)
#define used (counts[0] + counts[1])

#ifdef NO_REARM
#define REARMS(step) ((step) == SL_STEP_PODS_TIMEOUT)
#else
#define REARMS(step) true
#endif
#ifdef PUT_BACK_TWICE
#define still_in_flight(w) true
#else
#define still_in_flight(w) (attached[w] && place[w] == SL_PLACE_IN_FLIGHT)
#endif
#ifdef NO_GENERATION
#define of_the_past(timer, w) (gen[w] == 0)
#else
#define of_the_past(timer, w) (timer[w] != gen[w])
#endif

/* --- places and indexes ----------------------------------------------------------------------- */

inline bring_to(w, there)
{
    assert(place[w] == there || place_steps[place[w] * SL_PLACES + there] == 1); /* G8, G9: model/places.def */
    place[w] = there
}

/* sl_place_settle: where the record belongs */
inline settle_place(w)
{
    if
    :: phase[w] == SL_PHASE_ABSENT -> bring_to(w, SL_PLACE_NONE)
    :: phase[w] == SL_PHASE_FINISHED -> bring_to(w, SL_PLACE_DONE)
    :: phase[w] == SL_PHASE_PENDING && place[w] == SL_PLACE_NONE -> bring_to(w, SL_PLACE_ORPHANED)
    :: phase[w] == SL_PHASE_PENDING && place[w] != SL_PLACE_NONE && !is_on[w] -> bring_to(w, SL_PLACE_DORMANT)
    :: admissible(w) && (place[w] == SL_PLACE_HOLDING || place[w] == SL_PLACE_DORMANT) ->
       bring_to(w, SL_PLACE_INADMISSIBLE)
    :: admissible(w) && (in_line(place[w]) || place[w] == SL_PLACE_ORPHANED) -> skip
    :: holds(w) -> bring_to(w, SL_PLACE_HOLDING)
    :: phase[w] >= SL_PHASE_QUOTA_RESERVED && phase[w] <= SL_PHASE_EVICTED && !counts[w] ->
       bring_to(w, SL_PLACE_DORMANT)
    fi
}

#define scout_is_out (index[0] == FRONT || index[1] == FRONT || \
                      (place[0] == SL_PLACE_IN_FLIGHT && attached[0]) || (place[1] == SL_PLACE_IN_FLIGHT && attached[1]))

/* An open lane without a scout sends its best; an empty one is given back. */
inline send_scout()
{
    if
    :: index[0] != LANE && index[1] != LANE && !scout_is_out -> shut = false
    :: !shut && !scout_is_out && (index[0] == LANE || index[1] == LANE) ->
       other = (index[0] == LANE -> 0 : 1);
       bring_to(other, SL_PLACE_HEAP); index[other] = FRONT
    :: else -> skip
    fi
}

/* sl_queues_settle: indexes follow the record and its place, and who leaves room wakes the others */
inline settle(w)
{
    settle_place(w);
    if
    :: held[w] && place[w] != SL_PLACE_HOLDING ->
#if defined(EAGER_WAKE)
       shut = false;
#elif defined(NO_WAKE_WHEN_OFF)
       marked = marked || phase[w] != SL_PHASE_EVICTED;
#else
       marked = true;
#endif
       held[w] = false
    :: else -> held[w] = (place[w] == SL_PLACE_HOLDING)
    fi;
    attached[w] = attached[w] && place[w] != SL_PLACE_NONE;
    if
    :: in_line(place[w]) && !attached[w] -> index[w] = NOWHERE; bring_to(w, SL_PLACE_ORPHANED)
    :: attached[w] && (place[w] == SL_PLACE_ORPHANED || (in_line(place[w]) && place[w] != SL_PLACE_IN_FLIGHT &&
       (index[w] == NOWHERE || (index[w] == ASIDE) != (requeued[w] == NOT_REQUEUED || waits[w])))) ->
       bring_to(w, SL_PLACE_INADMISSIBLE);
       index[w] = (requeued[w] == NOT_REQUEUED || waits[w] -> ASIDE : LANE)
    :: !in_line(place[w]) && !(attached[w] && place[w] == SL_PLACE_ORPHANED) -> index[w] = NOWHERE
    :: else -> skip
    fi;
#ifdef NO_NEXT_SCOUT
    if
    :: index[w] == LANE -> send_scout()
    :: else -> skip
    fi
#else
    send_scout()
#endif
}

/* --- the engine ------------------------------------------------------------------------------- */

/* The row's part of sl_lifecycle_apply. */
inline change_record(w, sl_step_)
{
    row = sl_row(phase[w], sl_step_);
    if
    :: row == 0 -> skip
    :: else ->
       phase[w] = SL_ROW_PHASE(row);
       counts[w] = (SL_ROW_QUOTA(row) == SL_QUOTA_KEEP -> counts[w] : SL_ROW_QUOTA(row) == SL_QUOTA_TAKE);
       if
       :: SL_ROW_REQUEUING(row) == SL_REQUEUING_BY_REASON ->
          requeued[w] = (evicted[w] == PREEMPTED -> REQUEUED : NOT_REQUEUED)
       :: SL_ROW_REQUEUING(row) == SL_REQUEUING_BACKOFF -> requeued[w] = REQUEUED
#ifndef B6
       :: SL_ROW_REQUEUING(row) == SL_REQUEUING_REACTIVATED && requeued[w] == NOT_REQUEUED -> requeued[w] = REQUEUED
#endif
       :: else -> skip
       fi
    fi
}

/* An event: sl_lifecycle_apply, sl_follow arming the backoff's timer, sl_standing_update, which looks at everything
 * anew, and sl_queues_settle. */
inline event(w, sl_step_, standing)
{
    change_record(w, sl_step_);
    if
    :: waits[w] && REARMS(sl_step_) -> backoff[w] = gen[w]
    :: else -> skip
    fi;
    if
    :: standing && !paused[w] && gen[w] != 0 && phase[w] != SL_PHASE_FINISHED ->
       if
       :: phase[w] == SL_PHASE_PENDING && wanted[w] && !is_on[w] ->
          is_on[w] = true; change_record(w, SL_STEP_REACTIVATE)
       :: else -> skip
       fi;
       attached[w] = exists
    :: else -> skip
    fi;
    settle(w)
}

inline forget(w)
{
    requeued[w] = UNSET; evicted[w] = NOT_EVICTED; waits[w] = false; is_on[w] = false; wanted[w] = false;
    paused[w] = false
}

/* --- processes -------------------------------------------------------------------------------- */

/* A cycle: what was marked is woken, the head is taken, it is served or found to have no room, it is put back. */
proctype cycle()
{
    byte head = 0;
    bool refused = false;
end:
    do
    :: atomic { exists && (marked || index[0] == FRONT || index[1] == FRONT) ->
           if
           :: marked -> marked = false; shut = false; send_scout()
           :: else -> skip
           fi };
       if
       :: atomic { index[0] == FRONT || index[1] == FRONT ->
              head = (index[0] == FRONT -> 0 : 1);
              assert(gen[head] != 0 && attached[head] && admissible(head)); /* G9: nobody of the past is tried */
              bring_to(head, SL_PLACE_IN_FLIGHT); index[head] = NOWHERE };
          atomic {
              if
              :: attached[head] && place[head] == SL_PLACE_IN_FLIGHT && used == 0 ->
                 row = sl_row(phase[head], SL_STEP_RESERVE_ADMIT);
                 phase[head] = SL_ROW_PHASE(row); counts[head] = true; writing[head] = gen[head];
                 requeued[head] = UNSET; evicted[head] = NOT_EVICTED;
                 bring_to(head, SL_PLACE_HOLDING); settle(head)
              :: attached[head] && place[head] == SL_PLACE_IN_FLIGHT && used != 0 -> refused = true
              :: else -> skip /* it has left meanwhile */
              fi };
          atomic {
              if
              :: refused && still_in_flight(head) ->
                 shut = true; index[head] = LANE; bring_to(head, SL_PLACE_INADMISSIBLE); send_scout()
              :: else -> skip
              fi;
              refused = false; head = 0 }
       :: atomic { else -> skip }
       fi
    od
}

/* How reservations' writes end. */
proctype answers()
{
    byte w = 0;
end:
    do
    :: atomic { writing[0] != 0 || writing[1] != 0 ->
           w = (writing[0] != 0 -> 0 : 1);
           if
           :: skip
           :: troubles > 0 && writing[w] == gen[w] && phase[w] == SL_PHASE_ADMITTED -> /* it was refused */
              troubles--; rewrite[w] = gen[w]; paused[w] = true; attached[w] = false;
              event(w, SL_STEP_WRITE_FAILED, false)
           fi;
           writing[w] = 0; w = 0 }
    od
}

/* Timers are due sooner or later; one of an earlier incarnation does nothing. */
proctype timers()
{
    byte w = 0;
    byte step = SL_STEP_END;
end:
    do
    :: atomic { backoff[0] != 0 || backoff[1] != 0 || rewrite[0] != 0 || rewrite[1] != 0 ->
           w = (backoff[0] != 0 || rewrite[0] != 0 -> 0 : 1);
           step = SL_STEP_END;
           if
           :: backoff[w] != 0 && !of_the_past(backoff, w) && waits[w] && phase[w] == SL_PHASE_PENDING && is_on[w] ->
              assert(backoff[w] == gen[w]); /* G9 */
              waits[w] = false;
              step = (requeued[w] == NOT_REQUEUED && evicted[w] == LATE -> SL_STEP_BACKOFF_OVER : SL_STEP_BACKOFF_PASSED);
              backoff[w] = 0
           :: backoff[w] != 0 && (of_the_past(backoff, w) || !waits[w] || phase[w] != SL_PHASE_PENDING || !is_on[w]) ->
              backoff[w] = 0; goto done
           :: rewrite[w] != 0 && !of_the_past(rewrite, w) ->
              assert(rewrite[w] == gen[w]); /* G9 */
              paused[w] = false; rewrite[w] = 0;
#ifdef BLIND_RESUME
              attached[w] = true
#endif
           :: rewrite[w] != 0 && of_the_past(rewrite, w) -> rewrite[w] = 0; goto done
           fi;
#ifdef BLIND_RESUME
           event(w, step, false);
#else
           event(w, step, true);
#endif
       done:
           step = SL_STEP_END; w = 0 }
    od
}

/* The job of an evicted workload stops, sooner or later. */
proctype jobs()
{
    byte w = 0;
end:
    do
    :: atomic { phase[0] == SL_PHASE_EVICTED || phase[1] == SL_PHASE_EVICTED ->
           w = (phase[0] == SL_PHASE_EVICTED -> 0 : 1);
           event(w, SL_STEP_STOPPED, true); w = 0 }
    od
}

/* Everybody else; nobody has to do anything. */
proctype others()
{
    byte w = 0;
    byte step = SL_STEP_END;
    do
    :: atomic {
           if
           :: w = 0
           :: w = 1
           fi;
           step = SL_STEP_END;
           if
           :: gen[w] == 0 && made < 3 -> made++; gen[w] = made; is_on[w] = true; wanted[w] = true; step = SL_STEP_CREATE
           :: gen[w] != 0 && troubles > 0 -> troubles--; gen[w] = 0; forget(w); step = SL_STEP_DELETE
           :: phase[w] == SL_PHASE_ADMITTED -> step = SL_STEP_FINISH
           :: phase[w] == SL_PHASE_ADMITTED && troubles > 0 -> troubles--; evicted[w] = PREEMPTED; step = SL_STEP_PREEMPT
           :: phase[w] == SL_PHASE_ADMITTED && troubles > 0 ->
              troubles--; evicted[w] = LATE; waits[w] = true; step = SL_STEP_PODS_TIMEOUT
           :: is_on[w] && wanted[w] && phase[w] != SL_PHASE_FINISHED && troubles > 0 ->
              troubles--; is_on[w] = false; wanted[w] = false; waits[w] = false;
              step = (phase[w] == SL_PHASE_EVICTED -> SL_STEP_SWITCH_OFF : SL_STEP_DEACTIVATE);
              evicted[w] = (phase[w] == SL_PHASE_EVICTED -> evicted[w] : OFF)
           :: gen[w] != 0 && !wanted[w] && phase[w] != SL_PHASE_FINISHED -> wanted[w] = true
           :: else -> skip
           fi;
#ifdef B5
           if
           :: step == SL_STEP_DELETE && !exists -> phase[w] = SL_PHASE_ABSENT; counts[w] = false /* and back at once */
           :: else -> event(w, step, true)
           fi;
#else
           event(w, step, true);
#endif
           step = SL_STEP_END; w = 0 }
    :: atomic { !exists || troubles > 0 ->
           troubles = (exists -> troubles - 1 : troubles);
           exists = !exists; marked = marked || exists;
           w = 0;
           do
           :: w < 2 ->
#ifdef NO_ADOPTION
              event(w, SL_STEP_END, !exists);
#else
              event(w, SL_STEP_END, true);
#endif
              w++
           :: else -> break
           od;
           w = 0 }
    :: break
    od
}

#define sound(w) \
    ((index[w] == FRONT) == (place[w] == SL_PLACE_HEAP) && \
     (index[w] == LANE || index[w] == ASIDE) == (place[w] == SL_PLACE_INADMISSIBLE) && \
     (gen[w] == 0) == (place[w] == SL_PLACE_NONE) && (gen[w] == 0) == (phase[w] == SL_PHASE_ABSENT) && \
     (!in_line(place[w]) || (attached[w] && admissible(w) && exists)) && (place[w] != SL_PLACE_ORPHANED || admissible(w)) && \
     (place[w] == SL_PLACE_HOLDING) == holds(w))

/* G8: in exactly one place, and indexes say the same; G9: nobody is in line in a queue that is gone. */
proctype monitor()
{
end:
    atomic { !sound(0) || !sound(1) || used > 1 -> assert(false) }
}

init
{
    d_step {
        sl_fill_table();
#include "model/places.def"
    };
    atomic { run cycle(); run answers(); run timers(); run jobs(); run others(); run monitor() }
}

/* G13: room that somebody waits for is not left unused */
#define stuck \
    (exists && used == 0 && ((phase[0] == SL_PHASE_PENDING && wanted[0]) || (phase[1] == SL_PHASE_PENDING && wanted[1])))
ltl no_lost_wake { [] <> !stuck }
