/* SPDX-License-Identifier: Apache-2.0
 * SPDX-FileCopyrightText: The Sluice authors */

/* Leadership: two replicas, the Lease, caches that are cold or behind, guarded writes, answers that get lost. Two
 * workloads want a quota that has room for one. docs/models.md says what is left out, and what each of the bad
 * variants is.
 *
 * Time goes in ticks that all clocks share: a holder stops RENEW ticks after it began its last renewal that
 * succeeded, a candidate takes over when the record has looked the same to it for DURATION. Unless ANY_DELAY is
 * defined, a request takes effect within the DURATION - RENEW between them, and a watch tells within them unless
 * LATE_WATCHES is. With ANY_DELAY nothing is assumed: then a reservation that a new leader did not know of may appear,
 * and it must become known. */
#define RENEW 2
#define DURATION 3
#ifndef TROUBLES
#define TROUBLES 2
#endif
#ifdef EQUAL_TIMES
#undef DURATION
#define DURATION 1
#endif

/* --- the API server --------------------------------------------------------------------------- */
#define NOBODY 2
#define DEAD 3 /* a process that has ended; the next one has another name */
byte l_holder = NOBODY; /* the Lease */
bool reserved[2];       /* what the two Workloads say */
bool finished[2];

/* --- the replicas ----------------------------------------------------------------------------- */
#define CANDIDATE 0
#define HOLDER 1
#define GONE 2    /* it has ended; another process may be started */
#define IDLE 0
#define ASKED 1   /* a request is under way */
#define UNSURE 2  /* there is no answer: it may have been carried out or not */
#define TAKEN 3   /* it has been carried out, and the answer takes its time */
byte phase[2];
byte since[2];    /* ticks since the renewal that counts was begun */
byte unchanged[2];/* ticks since the Lease last looked different */
bool l_seen[2];   /* the Lease as this replica knows it is the newest */
byte l_known[2] = NOBODY; /* its holder, as it knows it */
byte l_ask[2];    /* the request about the Lease */
byte l_age[2];
bool l_guard[2];  /* the Lease has not changed since it was read */

bool listed[2];   /* caches are complete */
bool fresh[2];    /* Workloads have been listed once more since it leads */
bool r_seen[4];   /* by replica and workload: the cache has the newest version */
bool r_cache[4];  /* reserved, as the cache has it */
bool begun[2];    /* it decides: the engine has been made from the caches */
bool m_holds[4];  /* the engine's records, by replica and workload */
byte w_ask[2];    /* the write under way */
byte w_on[2];
byte w_age[2];
bool w_guard[2];
bool w_again[2];  /* the answer is lost, the request may yet arrive */
byte troubles = TROUBLES;

#define at(r, w) (2 * (r) + (w))
#define other(r) (1 - (r))
#define may_go_on(r) (phase[r] == HOLDER && HELD(r))
#ifdef NO_DEADLINE
#define HELD(r) true
#else
#define HELD(r) (since[r] < RENEW)
#endif
#ifdef ANY_DELAY
#define LAPSED(r) true /* any time may have passed, for either of them */
#define NO_CLOCK true
#else
#define LAPSED(r) (unchanged[r] >= DURATION)
#define NO_CLOCK false
#endif
#ifdef COLD
#define READY(r) true
#elif defined(NO_REFRESH)
#define READY(r) listed[r]
#else
#define READY(r) (listed[r] && fresh[r])
#endif
#ifdef NO_GUARD
#define GUARDED(r) true
#else
#define GUARDED(r) w_guard[r]
#endif

inline object_changed(w)
{
    r_seen[at(0, w)] = false; r_seen[at(1, w)] = false;
    if
    :: w_on[0] == w -> w_guard[0] = false
    :: else -> skip
    fi;
    if
    :: w_on[1] == w -> w_guard[1] = false
    :: else -> skip
    fi
}

inline lease_changed() { l_seen[0] = false; l_seen[1] = false; l_guard[0] = false; l_guard[1] = false }

inline end_replica(r)
{
    l_holder = (l_holder == r -> DEAD : l_holder);
    phase[r] = GONE; begun[r] = false; listed[r] = false; fresh[r] = false; since[r] = 0; unchanged[r] = 0;
    l_known[r] = NOBODY; l_seen[r] = false; m_holds[at(r, 0)] = false; m_holds[at(r, 1)] = false;
    r_cache[at(r, 0)] = false; r_cache[at(r, 1)] = false; r_seen[at(r, 0)] = false; r_seen[at(r, 1)] = false
}

inline no_write(r) { w_ask[r] = IDLE; w_on[r] = 0; w_age[r] = 0; w_guard[r] = false; w_again[r] = false }

/* The live object tells: it is so, or the same request may be sent once more, or somebody was faster. */
inline read_live(r)
{
    if
    :: reserved[w_on[r]] || !w_guard[r] ->
       r_seen[at(r, w_on[r])] = true; r_cache[at(r, w_on[r])] = reserved[w_on[r]];
       m_holds[at(r, w_on[r])] = reserved[w_on[r]]; no_write(r)
    :: else -> w_ask[r] = ASKED; w_age[r] = 0
    fi
}

inline read_lease(r)
{
    l_ask[r] = IDLE; l_age[r] = 0; l_guard[r] = false; l_seen[r] = true; l_known[r] = l_holder; unchanged[r] = 0;
    if
    :: phase[r] == HOLDER && l_holder != r -> end_replica(r)
    :: else -> skip
    fi
}

inline renewed(r)
{
#ifdef COUNT_FROM_ANSWER
    since[r] = 0;
#else
    since[r] = l_age[r];
#endif
    l_ask[r] = IDLE; l_age[r] = 0; l_guard[r] = false; phase[r] = HOLDER; l_known[r] = r; unchanged[r] = 0
}

/* kube/lease.c */
proctype elector(byte r)
{
end:
    do
    /* a request goes out; a candidate reads first, and takes over when nothing has changed for long enough */
    :: atomic { phase[r] == CANDIDATE && l_ask[r] == IDLE && !l_seen[r] ->
           unchanged[r] = 0; l_seen[r] = true; l_known[r] = l_holder }
    :: atomic { phase[r] == CANDIDATE && l_ask[r] == IDLE && l_seen[r] &&
                (l_known[r] == NOBODY || l_known[r] == r || LAPSED(r)) ->
           l_ask[r] = ASKED; l_guard[r] = l_seen[r] }
    :: atomic { phase[r] == HOLDER && l_ask[r] == IDLE && (since[r] > 0 || NO_CLOCK) && HELD(r) ->
           l_ask[r] = ASKED; l_guard[r] = l_seen[r] }
    :: atomic { l_ask[r] == UNSURE && phase[r] != GONE -> read_lease(r) }
    :: atomic { l_ask[r] == TAKEN && phase[r] != GONE -> renewed(r) }
    /* the deadline: from here on another may be deciding */
    :: atomic { phase[r] == HOLDER && (!HELD(r) || NO_CLOCK) -> end_replica(r) }
    /* an end without notice; and another process */
    :: atomic { phase[r] != GONE && troubles > 0 -> troubles--; end_replica(r) }
    :: atomic { phase[r] == GONE && l_ask[r] != ASKED && w_ask[r] != ASKED && !w_again[r] ->
           l_ask[r] = IDLE; l_age[r] = 0; l_guard[r] = false; no_write(r); phase[r] = CANDIDATE }
    od
}

/* kube/reflector.c, kube/cache.c: lists, then what changes; and the engine, once it is there, is told. */
proctype watcher(byte r)
{
    byte w = 0;
end:
    do
    :: atomic { phase[r] != GONE && (!r_seen[at(r, 0)] || !r_seen[at(r, 1)]) ->
           w = (!r_seen[at(r, 0)] -> 0 : 1);
           r_seen[at(r, w)] = true; r_cache[at(r, w)] = reserved[w];
           if
           :: begun[r] && !(w_ask[r] != IDLE && w_on[r] == w) && !reserved[w] -> m_holds[at(r, w)] = false
#ifndef NO_ADOPTION
           :: begun[r] && !(w_ask[r] != IDLE && w_on[r] == w) && reserved[w] -> m_holds[at(r, w)] = true
#endif
           :: else -> skip
           fi;
           listed[r] = listed[r] || (r_seen[at(r, 0)] && r_seen[at(r, 1)]); w = 0 }
    od
}

/* cli/daemon/daemon_cluster.c, the engine, controllers/control/workloads.c, kube/writes.c */
proctype decider(byte r)
{
    byte w = 0;
end:
    do
#ifndef NO_REFRESH
    :: atomic { may_go_on(r) && listed[r] && !fresh[r] ->
           r_seen[at(r, 0)] = true; r_cache[at(r, 0)] = reserved[0];
           r_seen[at(r, 1)] = true; r_cache[at(r, 1)] = reserved[1]; fresh[r] = true }
#endif
    :: atomic { may_go_on(r) && READY(r) && !begun[r] ->
           assert(listed[r]); /* G10 */
           begun[r] = true; m_holds[at(r, 0)] = r_cache[at(r, 0)]; m_holds[at(r, 1)] = r_cache[at(r, 1)] }
    :: atomic { may_go_on(r) && begun[r] && w_ask[r] == IDLE && !m_holds[at(r, 0)] && !m_holds[at(r, 1)] &&
                (!finished[0] || !finished[1]) ->
#ifndef ANY_DELAY
           assert(!may_go_on(other(r))); /* one leader at a time */
#endif
           if
           :: !finished[0] -> w = 0
           :: !finished[1] -> w = 1
           fi;
           m_holds[at(r, w)] = true; w_ask[r] = ASKED; w_on[r] = w; w_age[r] = 0; w_guard[r] = r_seen[at(r, w)]; w = 0 }
    :: atomic { begun[r] && w_ask[r] == UNSURE ->
#ifdef NO_READING
           m_holds[at(r, w_on[r])] = false; w_ask[r] = IDLE; w_age[r] = 0 /* it failed, did it not? */
#else
           read_live(r)
#endif
       }
    od
}

inline land(r)
{
    if
    :: GUARDED(r) ->
       assert(!finished[w_on[r]]);           /* none of what has ended is admitted */
#ifndef NO_ADOPTION
       assert(!reserved[w_on[r]]);           /* no admission twice */
#endif
#ifndef ANY_DELAY
       assert(!reserved[other(w_on[r])]);    /* G3, as the API shows it */
#endif
       reserved[w_on[r]] = true; object_changed(w_on[r])
    :: else -> skip
    fi
}

/* Requests arrive; answers do not always. */
proctype network(byte r)
{
end:
    do
    :: atomic { l_ask[r] == ASKED ->
           if
           :: phase[r] == GONE && l_guard[r] -> l_holder = DEAD; lease_changed(); l_ask[r] = IDLE; l_age[r] = 0
           :: phase[r] == GONE && !l_guard[r] -> l_ask[r] = IDLE; l_age[r] = 0
           :: phase[r] != GONE && !l_guard[r] -> read_lease(r)
           :: phase[r] != GONE && l_guard[r] -> l_holder = r; lease_changed(); l_seen[r] = true;
              if
              :: renewed(r)
              :: troubles > 0 -> troubles--; l_ask[r] = UNSURE
              :: troubles > 0 -> troubles--; l_ask[r] = TAKEN
              fi
           :: phase[r] != GONE && troubles > 0 -> troubles--; l_ask[r] = UNSURE
           fi }
    :: atomic { w_ask[r] == ASKED ->
           if
           :: GUARDED(r) -> land(r);
              if
              :: begun[r] -> m_holds[at(r, w_on[r])] = true; no_write(r)
              :: begun[r] && troubles > 0 -> troubles--; w_ask[r] = UNSURE
              :: !begun[r] -> no_write(r)
              fi
           :: !GUARDED(r) && begun[r] -> read_live(r)
           :: !GUARDED(r) && !begun[r] -> no_write(r)
           :: begun[r] && troubles > 0 -> troubles--; w_ask[r] = UNSURE; w_again[r] = true
           fi }
    :: atomic { w_again[r] -> w_again[r] = false;
           if
           :: !reserved[w_on[r]] || !w_guard[r] -> land(r)
           :: else -> skip
           fi }
    od
}

#ifndef ANY_DELAY
#define slow(r) ((l_ask[r] == ASKED || l_ask[r] == UNSURE) && phase[r] != GONE) /* its answer has not come within a tick */
#define in_time(r) \
    (REQUEST_IN_TIME(r) && WATCH_IN_TIME(r) && (!slow(r) || (l_age[r] < 1 && troubles > 0)) && \
     !(l_ask[r] == TAKEN && l_age[r] == RENEW) && \
     !(phase[r] == HOLDER && l_ask[r] == IDLE && since[r] == 1) && !(phase[r] == GONE && l_ask[r] == ASKED))
#ifdef LATE_REQUESTS
#define REQUEST_IN_TIME(r) true
#else
#define REQUEST_IN_TIME(r) (!(w_ask[r] == ASKED || w_again[r]) || w_age[r] < 1)
#endif
#ifdef LATE_WATCHES
#define WATCH_IN_TIME(r) true
#else
#define WATCH_IN_TIME(r) (!listed[r] || (r_seen[at(r, 0)] && r_seen[at(r, 1)]))
#endif
#define older(ticks, most) ((ticks) < (most) -> (ticks) + 1 : (ticks))

inline tick(r)
{
    since[r] = (phase[r] == HOLDER -> older(since[r], RENEW) : 0);
    unchanged[r] = (phase[r] == CANDIDATE -> older(unchanged[r], DURATION) : 0);
    l_age[r] = (l_ask[r] != IDLE && phase[r] != GONE -> older(l_age[r], RENEW) : 0);
    w_age[r] = (w_ask[r] == ASKED || w_again[r] -> 1 : 0)
}

proctype clock()
{
end:
    do
    :: atomic { in_time(0) && in_time(1) ->
           troubles = (slow(0) || slow(1) -> troubles - 1 : troubles);
           tick(0); tick(1) }
    od
}

#endif

/* Jobs end, also before they begin. */
proctype jobs()
{
    byte w = 0;
    do
    :: atomic {
           if
           :: w = 0
           :: w = 1
           fi;
           if
           :: !finished[w] && reserved[w] -> reserved[w] = false; finished[w] = true; object_changed(w)
           :: !finished[w] && !reserved[w] && troubles > 0 -> troubles--; finished[w] = true; object_changed(w)
           :: else -> skip
           fi;
           w = 0 }
    :: break
    od
}

init
{
    d_step { /* replica 0 leads, replica 1 has just begun */
        phase[0] = HOLDER; l_holder = 0; l_known[0] = 0; l_seen[0] = true;
        listed[0] = true; fresh[0] = true; begun[0] = true;
        r_seen[at(0, 0)] = true; r_seen[at(0, 1)] = true
    };
    atomic {
        run elector(0); run elector(1); run watcher(0); run watcher(1); run decider(0); run decider(1);
#ifndef ANY_DELAY
        run clock();
#endif
        run network(0); run network(1); run jobs()
    }
}

/* What the API says is known to whoever decides: no ghosts. */
#define ghost(r) (begun[r] && ((reserved[0] && !m_holds[at(r, 0)]) || (reserved[1] && !m_holds[at(r, 1)])))
ltl no_ghost { [] <> (!ghost(0) && !ghost(1)) }
#ifndef ANY_DELAY
ltl progress { [] <> (reserved[0] || reserved[1] || (finished[0] && finished[1])) }
#endif
