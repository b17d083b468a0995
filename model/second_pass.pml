/* SPDX-License-Identifier: Apache-2.0
 * SPDX-FileCopyrightText: The Sluice authors */

/* The second pass: one workload name, the API's object, the core's record of it, the pass's timer, the writer of
 * statuses, the failed nodes' mark, and everybody else: eviction, deactivation, the end, deletion and creation under
 * the same name, restarts. docs/models.md says what is left out, and what each of the bad variants is.
 *
 * Versions are not counted: whoever holds a copy of the object has a bit that says whether it is still the newest.
 * Two pods stand on two of three nodes, one a node; sets of nodes are bit masks. */
#include "model/lifecycle.pml"

#ifndef TROUBLES
#define TROUBLES 4
#endif
#define NODES 7 /* all of them */
#define SIZE(set) (((set) & 1) + (((set) >> 1) & 1) + ((set) >> 2))
#define LOWEST(set) (((set) & 1) != 0 -> 1 : (((set) & 2) != 0 -> 2 : (set)))
#define FIRST_PLACE 3
#define holds(phase) \
    (phase == SL_PHASE_QUOTA_RESERVED || phase == SL_PHASE_ADMITTED || phase == SL_PHASE_EVICTED)
#if defined(B5) || defined(NO_GENERATION)
#define LOOSE true /* judged by what was captured when the pass was armed */
#define OTHERWISE true
#else
#define LOOSE false
#define OTHERWISE (p_uid == m_uid && needs_pass)
#endif
#ifdef NO_GUARD
#define GUARDED false
#else
#define GUARDED true
#endif
#define runs(phase) (phase == SL_PHASE_QUOTA_RESERVED || phase == SL_PHASE_ADMITTED)

/* --- the API ---------------------------------------------------------------------------------- */
byte o_uid = 1; /* incarnation of the object; 0 = there is none */
byte o_made = 1;
byte o_phase = SL_PHASE_PENDING;
bool o_active = true;
bool o_ready;   /* the admission check has reported Ready */
byte o_stands;  /* where its pods stand; 0 = not placed yet */
byte o_mark;    /* status.unhealthyNodes */
byte down;      /* nodes that have failed, in truth */
bool asked = true; /* the ClusterQueue asks for the check */

/* --- the daemon ------------------------------------------------------------------------------- */
bool seen;      /* the cache, and so the engine, has the newest version */
byte k_down;    /* the nodes as the daemon knows them */
byte m_uid;     /* the record's incarnation; 0 = the slot is free */
byte m_phase;
bool m_counts;  /* its usage counts */
bool m_active;
bool m_ready, m_asked;
byte m_stands, m_mark;
bool m_release; /* a release that no object says yet */
byte e_uid;     /* the armed pass, by incarnation; 0 = none */
#if defined(B3) || defined(B4)
#define capture() e_stands = m_stands; e_mark = m_mark
#define uncapture() e_stands = 0; e_mark = 0
byte e_stands, e_mark; /* as they were when it was armed */
#else
#define capture() skip
#define uncapture() skip
#endif
byte d_uid;     /* a decision that waits for the writer, by incarnation; 0 = none */
byte w_uid;     /* the one under way */
byte w_phase, w_stands, w_mark;
bool w_newest;  /* nothing has changed since the object was looked at */
bool w_release;

/* How often anything may still go wrong: whatever combination that is. */
byte troubles = TROUBLES;
bool queue_gone;

hidden short row; /* scratch, within one step */
hidden byte room;
hidden byte fits;
byte p_uid;
bool again;     /* the patch under way was only the first half */

/* --- the core --------------------------------------------------------------------------------- */

/* sl_lifecycle_needs_pass; the parameters are the live record */
#ifdef B7
#define needs_topology (m_stands == 0 && m_asked && m_ready)
#else
#define needs_topology (m_stands == 0 && (!m_asked || m_ready))
#endif
#define needs_pass \
    (m_counts && m_active && ((m_phase == SL_PHASE_QUOTA_RESERVED && needs_topology) || \
     (m_phase == SL_PHASE_ADMITTED && m_mark != 0)))

inline decide() { d_uid = m_uid }

/* sl_passes_settle */
inline settle()
{
    if
    :: !needs_pass ->
#ifdef B5
       if
       :: queue_gone -> skip
       :: else -> e_uid = 0
       fi
#else
       e_uid = 0
#endif
    :: needs_pass && e_uid != m_uid -> e_uid = m_uid; capture()
    :: needs_pass && e_uid == m_uid ->
#ifdef B2
       m_counts = false; m_phase = SL_PHASE_PENDING; m_release = true; decide();
       assert(m_counts) /* G5: arming a pass costs no quota */
#else
       skip
#endif
    fi
}

/* sl_lifecycle_apply and what sl_follow makes of it. A step without a row is refused. */
inline apply(sl_step_)
{
    row = sl_row(m_phase, sl_step_);
    if
    :: row == 0 -> skip
    :: else ->
       m_counts = (SL_ROW_QUOTA(row) == SL_QUOTA_KEEP -> m_counts : SL_ROW_QUOTA(row) == SL_QUOTA_TAKE);
       m_mark = (SL_ROW_EVICTS(row) -> 0 : m_mark);
       m_ready = m_ready && !SL_ROW_EVICTS(row); /* row E: checks start again as pending */
       m_release = m_release || (holds(m_phase) && SL_ROW_PHASE(row) == SL_PHASE_PENDING);
       m_stands = (SL_ROW_PHASE(row) == SL_PHASE_PENDING -> 0 : m_stands);
       if
       :: m_phase != SL_ROW_PHASE(row) -> m_phase = SL_ROW_PHASE(row); decide()
       :: else -> skip
       fi;
       settle()
    fi
}

inline forget()
{
    m_phase = SL_PHASE_ABSENT; m_counts = false; m_active = false; m_ready = false; m_asked = false;
    m_stands = 0; m_mark = 0; m_release = false; m_uid = 0;
#if !defined(NO_GENERATION) && !defined(B5)
    e_uid = 0; uncapture()
#endif
}

/* sl_rebuild_workload: the object's past, by the table's own rows */
inline enter()
{
    m_uid = o_uid; m_active = true; m_asked = asked; m_ready = o_ready;
    row = sl_row(m_phase, SL_STEP_CREATE);
    m_phase = SL_ROW_PHASE(row);
    if
    :: o_phase == SL_PHASE_PENDING -> skip
    :: o_phase == SL_PHASE_FINISHED -> m_phase = SL_PHASE_FINISHED
    :: holds(o_phase) ->
       row = sl_row(m_phase, (o_phase == SL_PHASE_QUOTA_RESERVED -> SL_STEP_RESERVE : SL_STEP_RESERVE_ADMIT));
       m_phase = SL_ROW_PHASE(row); m_counts = true; m_stands = o_stands; m_mark = o_mark;
       if
       :: o_phase == SL_PHASE_EVICTED -> m_phase = SL_PHASE_EVICTED; m_mark = 0
       :: else -> skip
       fi
    fi;
#ifndef NO_ARM_AT_START
    settle()
#endif
}

/* the last open check is settled: admitted if it has its places, else a pass is due */
inline admit_or_settle()
{
    if
    :: m_phase == SL_PHASE_QUOTA_RESERVED && m_stands != 0 && (m_ready || !m_asked) -> apply(SL_STEP_ADMIT)
    :: else -> settle()
    fi
}

inline read_check()
{
    if
    :: m_ready != o_ready && holds(m_phase) -> m_ready = o_ready; admit_or_settle()
    :: else -> skip
    fi
}

/* sl_event_from_workload */
inline observe()
{
    seen = true;
    if
    :: m_uid != 0 && m_uid != o_uid -> forget()
    :: else -> skip
    fi;
    if
    :: m_uid == 0 && o_uid != 0 -> enter()
    :: else -> skip
    fi;
    if
    :: m_uid != 0 && o_phase == SL_PHASE_FINISHED && m_phase != SL_PHASE_FINISHED -> apply(SL_STEP_FINISH)
    :: m_uid != 0 && m_phase != SL_PHASE_FINISHED && o_phase != SL_PHASE_FINISHED ->
       if
       :: !o_active && m_active ->
          m_active = false;
          if
          :: m_phase == SL_PHASE_EVICTED -> apply(SL_STEP_SWITCH_OFF)
          :: else -> apply(SL_STEP_DEACTIVATE)
          fi
       :: else -> skip
       fi;
       if
       :: d_uid == 0 && w_uid == 0 -> read_check()
       :: else -> skip /* it may be what is just being reset: read when that is written */
       fi
    :: else -> skip
    fi
}

/* the pass itself: places from the live record, and the quota stays */
inline pass()
{
#ifdef B3
    room = e_stands & ~m_mark;
#else
    room = m_stands & ~m_mark;
#endif
    room = (m_stands == 0 -> (k_down == 0 -> FIRST_PLACE : NODES & ~k_down) : room | LOWEST(NODES & ~m_stands & ~k_down));
    fits = (m_stands == 0 -> true : SIZE(room) == SIZE(m_stands));
#ifdef B3
    fits = true;
#endif
    if
    :: troubles > 0 || !fits -> /* no room */
       troubles = (fits -> troubles - 1 : troubles);
       if
       :: m_phase == SL_PHASE_ADMITTED && troubles > 0 -> troubles--; apply(SL_STEP_PASS_EVICT)
       :: apply(SL_STEP_PASS_MISSED);
#ifdef NO_RETRY
          e_uid = 0
#endif
       fi
    :: fits ->
       assert((m_stands & ~m_mark & ~room) == 0); /* G5: whoever stands on a good node stays */
       assert(m_stands == 0 || SIZE(room) == SIZE(m_stands)); /* G5: and it is as many as they are */
       m_stands = room; m_mark = 0;
       if
       :: m_phase == SL_PHASE_ADMITTED -> decide(); apply(SL_STEP_PASS_REPLACED)
       :: else -> apply(SL_STEP_ADMIT)
       fi
    fi;
    assert(m_phase == SL_PHASE_EVICTED || m_counts); /* G5: it costs no quota */
    room = 0
}

/* sl_patch_from_decision: what the record says, but a release that no object says yet comes first */
inline compose()
{
    w_newest = seen;
    w_release = m_release && holds(m_phase) && holds(o_phase);
    w_phase = (w_release -> SL_PHASE_PENDING : m_phase);
    w_stands = (w_release -> 0 : m_stands);
    w_mark = (w_release -> 0 : m_mark);
#ifdef CLEAR_FIRST
    w_stands = (o_mark != 0 && w_mark == 0 && w_phase == o_phase -> o_stands : w_stands);
#endif
}

inline clear_patch() { w_phase = 0; w_stands = 0; w_mark = 0; w_newest = false; w_release = false }

/* sl_engine_answer: what was not read while the decision was unwritten is read now */
inline end_write()
{
    w_uid = 0;
#ifndef NO_REREAD
    if
    :: d_uid == 0 && seen && m_uid != 0 && m_uid == o_uid && m_phase != SL_PHASE_FINISHED -> read_check()
    :: else -> skip
    fi
#endif
}

/* The server has taken the patch, and the answer brings the newest version. */
inline land()
{
    assert(o_uid == w_uid);               /* G9: never on another object of that name */
    assert(o_phase != SL_PHASE_FINISHED); /* G1, G5 */
    assert(!(o_phase == SL_PHASE_EVICTED && runs(w_phase))); /* an eviction ends with a release */
    assert(w_stands == o_stands || o_stands == 0 || w_stands == 0 || o_phase == SL_PHASE_ADMITTED); /* G5 */
    again = w_release || w_stands != m_stands;
    o_phase = w_phase; o_stands = w_stands; o_mark = w_mark;
    o_ready = o_ready && w_phase != SL_PHASE_EVICTED;
    m_release = m_release && !w_release && holds(o_phase);
    seen = true;
    clear_patch()
}

/* Somebody else has written the object. */
inline change() { seen = false; w_newest = false }

inline lose_object()
{
    o_uid = 0; o_phase = SL_PHASE_ABSENT; o_active = false; o_ready = false; o_stands = 0; o_mark = 0
}

/* Memory is lost; what is under way is lost too (models/leadership.pml: or lands). */
inline restart()
{
    forget(); e_uid = 0; d_uid = 0; clear_patch(); w_uid = 0; again = false; seen = false;
    k_down = down
}

/* --- processes -------------------------------------------------------------------------------- */

/* What the caches tell the engine: the object, and the nodes. */
proctype watch()
{
end:
    do
    :: atomic { !seen -> observe() }
    :: atomic { k_down != down ->
#ifdef CLEAR_FIRST
           /* only a change is news */
           if
           :: m_phase == SL_PHASE_ADMITTED -> m_mark = (m_mark | (down & ~k_down)) & down & m_stands; decide(); settle()
           :: else -> skip
           fi;
#endif
           k_down = down }
#ifndef CLEAR_FIRST
    /* sl_node_health: whatever stands on a failed node is marked, whatever recovered is unmarked */
    :: atomic { m_phase == SL_PHASE_ADMITTED && m_mark != (m_stands & k_down) && k_down == down ->
           if
           :: m_mark != 0 && ((m_stands & k_down) & ~m_mark) != 0 && troubles > 0 -> /* one too many */
              troubles--; apply(SL_STEP_NODE_EVICT)
           :: else -> m_mark = m_stands & k_down; decide(); apply(SL_STEP_NODE)
           fi }
#endif
    :: atomic { m_uid != 0 && m_asked != asked -> m_asked = asked; decide(); admit_or_settle() }
    od
}

/* Cycles: the head of the queue, and the pass that is due. */
proctype cycle()
{
end:
    do
    :: atomic { m_phase == SL_PHASE_PENDING && m_active ->
           if
           :: m_asked && !m_ready -> apply(SL_STEP_RESERVE) /* its places are looked for later */
           :: else -> apply(SL_STEP_RESERVE_ADMIT); m_stands = (k_down == 0 -> FIRST_PLACE : NODES & ~k_down)
           fi }
    :: atomic { e_uid != 0 -> /* it is due */
           p_uid = e_uid; e_uid = 0;
           if
           :: p_uid != m_uid && !LOOSE -> skip /* stale */
           :: p_uid == m_uid && !needs_pass && !LOOSE -> skip
#ifdef B4
           :: m_phase == SL_PHASE_ADMITTED && (e_mark & m_mark) == 0 -> skip
#endif
#ifdef B1
           :: skip /* another entry of the ClusterQueue takes its place in the cycle */
#endif
           :: OTHERWISE ->
              assert(p_uid == m_uid);                        /* G9 */
              assert(runs(m_phase) && m_counts && m_active); /* G5 */
              pass()
           fi;
           p_uid = 0 }
    od
}

/* Carries decisions out: one at a time, made from the record as it is when its turn comes. */
proctype writer()
{
end:
    do
    :: atomic { w_uid == 0 && d_uid != 0 -> w_uid = d_uid; d_uid = 0 };
       do
       :: atomic { m_uid != w_uid -> w_uid = 0; break } /* gone: nobody is left to be told */
       :: atomic { m_uid == w_uid && (m_phase == SL_PHASE_FINISHED || o_uid != w_uid || o_phase == SL_PHASE_FINISHED) && seen ->
              end_write(); break }
       :: atomic { m_uid == w_uid && m_phase != SL_PHASE_FINISHED && o_uid == w_uid && o_phase != SL_PHASE_FINISHED ->
              compose() };
          atomic {
              if
              :: GUARDED && (!w_newest || o_uid != w_uid) -> /* conflict: the live object, then once more */
                 clear_patch();
                 if
                 :: !seen -> observe()
                 :: else -> skip
                 fi
              :: troubles > 0 && runs(w_phase) && !runs(o_phase) -> /* the server does not take it */
                 troubles--; clear_patch(); apply(SL_STEP_WRITE_FAILED); end_write(); break
              :: !GUARDED || (w_newest && o_uid == w_uid) -> land();
                 if
                 :: again -> again = false
                 :: else -> end_write(); break
                 fi
              fi }
       od
    od
}

/* The job of an evicted workload stops, sooner or later. */
proctype job()
{
end:
    do
    :: atomic { o_uid != 0 && m_uid == o_uid && o_phase == SL_PHASE_EVICTED && m_phase == SL_PHASE_EVICTED ->
           apply(SL_STEP_STOPPED) }
    od
}

/* Everybody else; nobody has to do anything. */
proctype others()
{
    do
    :: atomic { o_uid != 0 && !o_ready && o_phase == SL_PHASE_QUOTA_RESERVED -> o_ready = true; change() }
    :: atomic { troubles > 0 && asked -> troubles--; asked = false }
    :: atomic { troubles > 0 && runs(m_phase) -> troubles--; apply(SL_STEP_PREEMPT) }
    :: atomic { troubles > 0 && m_phase == SL_PHASE_ADMITTED && SIZE(m_stands) == 2 -> troubles--; /* a pod has ended */
           if
           :: m_stands = LOWEST(m_stands)
           :: m_stands = m_stands & ~LOWEST(m_stands)
           fi;
           m_mark = m_mark & m_stands; decide(); settle() }
    :: atomic { troubles > 0 && o_active -> troubles--; o_active = false; change() }
    :: atomic { troubles > 0 && o_phase == SL_PHASE_ADMITTED -> troubles--; o_phase = SL_PHASE_FINISHED; change() }
    :: atomic { troubles > 0 && o_uid != 0 -> troubles--; lose_object(); change() }
    :: atomic { o_uid == 0 -> o_made++; o_uid = o_made; o_phase = SL_PHASE_PENDING; o_active = true; change() }
    :: atomic { troubles > 0 && down == 0 -> troubles--;
           if
           :: down = 1
           :: down = 2
           :: down = 4
           fi }
    :: atomic { down != 0 -> down = 0 }
    :: atomic { troubles > 0 -> troubles--; restart() }
#ifdef B5
    :: atomic { troubles > 0 && !queue_gone -> troubles--; queue_gone = true }
#endif
    :: break
    od
}

init
{
    d_step { sl_fill_table() };
    atomic { run watch(); run cycle(); run writer(); run job(); run others() }
}

/* a second pass that is owed is made, or the workload is evicted, ends or goes */
#define owed \
    (o_uid != 0 && ((o_phase == SL_PHASE_ADMITTED && (o_stands & down) != 0) || \
                    (o_phase == SL_PHASE_QUOTA_RESERVED && o_stands == 0 && (o_ready || !asked))))
ltl never_lost { [] <> !owed }
