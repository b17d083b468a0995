/* SPDX-License-Identifier: Apache-2.0
 * SPDX-FileCopyrightText: The Sluice authors */

/* What the engine knows beside the core: names, texts, and which object belongs to which.
 * Everything that decides is in the core; this is needed to read and write objects. Shared by the
 * files of this room only. */
#ifndef SL_ENGINE_STATE_H
#define SL_ENGINE_STATE_H
#include "api/objects/object.h"
#include "base/map.h"
#include "engine/engine.h"
#include "engine/journal/intern.h"
#include "engine/journal/journal.h"
#include "engine/records/records.h"
#include "engine/records/timers.h"
#include "engine/conditions/givings.h"
#include "engine/conditions/words.h"
#include "kernel/ledger/ledger.h"
#include "kernel/lifecycle/lifecycle.h"
#include "kernel/commit/transition.h"
#include "kernel/preempt/preempt.h"
#include "policy/requests/offers.h"

struct sl_local_queue;
/* A Cohort or ClusterQueue, by node id; it is here as soon as an object names it. */
struct sl_qnode_entry {
    char *name;
    bool is_cluster_queue;
    bool exists;   /* its object was seen and was not deleted */
    bool deleting; /* the object carries a deletionTimestamp */
    bool open;     /* the ledger has the node */
    bool looped;   /* its parent was refused, as a cycle or too deep: the ledger has it as a root */
    bool active;   /* ClusterQueue: workloads may be admitted */
    bool restated; /* stop policy or deletion changed with the object just read */
    bool touched, has_variants; /* ClusterQueue: it has a concurrentAdmissionPolicy */
    bool exceeded; /* ClusterQueue: its status says that it holds more than quotas allow */
    enum sl_stop stop;
    sl_qnode_id parent;    /* as the object names it; SL_NO_ID = none */
    uint32_t child_count;  /* nodes that name this one as their parent */
    uint32_t holder_count; /* workloads whose admission names this ClusterQueue */
    char *trouble;         /* why the object cannot be used; NULL = it can */
    const char *reason;    /* of the Active condition; NULL until it was first judged */
    char *message;
    struct sl_quotas quotas;
    struct sl_json *namespace_selector;  /* as given, to see whether it changed */
    struct sl_selector *namespaces;      /* NULL: no namespace */
    struct sl_rules rules;               /* ClusterQueue */
    struct sl_preempt_policy preemption; /* ClusterQueue */
    int64_t weight_nano;
    uint32_t check_count;
    struct sl_check_rule checks[SL_CHECKS_MAX];
    struct sl_local_queue *first_queue; /* LocalQueues that name this ClusterQueue */
    struct sl_contests contests;
    struct sl_tally tally;
};

struct sl_local_queue {
    char *key; /* namespace/name */
    char *ns;
    const char *name; /* in key */
    bool exists;
    bool deleting;
    bool touched;
    enum sl_stop stop;
    sl_qnode_id cluster_queue;   /* SL_NO_ID: not known */
    struct sl_local_queue *next; /* of the same ClusterQueue */
    struct sl_local_queue *prev;
    sl_workload_id first; /* workloads that name this LocalQueue, oldest first */
    sl_workload_id last;
    uint32_t workload_count;
    uint32_t listed_count; /* while sl_engine_pending_new counts positions */
    uint32_t account;      /* of admission fair sharing; SL_NO_ID = none */
    int64_t weight_nano;   /* of the account */
    int64_t sampled_ms;    /* when its usage was last summed up */
    struct sl_tally tally;
};

struct sl_released;
struct sl_workload_entry {
    char *uid, *parent;             /* NULL: the slot is free; it is no variant (families.h) */
    char *job_uid, *variant_flavor; /* as its label and its annotation say; NULL = it has none */
    uint32_t generation, family;    /* of variants, plus one; 0: it is none (requests/families.h) */
    int32_t priority;
    uint64_t uid_high, uid_low;
    struct sl_local_queue *queue;
    sl_qnode_id request_at;    /* the ClusterQueue for whose flavors its requests were made */
    sl_workload_id next, prev; /* of the same LocalQueue */
    enum sl_standing standing; /* how it is counted, and where */
    sl_qnode_id counted_at, unadmitted_at, held_at; /* the last: whose quota it holds */
    bool wants_active;                              /* spec.active */
    bool gate_untold; /* its object does not say yet that its gates hold it back */
    bool has_preemption_gates, shut_preemption_gates; /* decisions/preemption_gates.h */
    bool paused;  /* its reservation could not be written: out of the queue for a while */
    bool rewrite; /* a write failed: decide again when its object was seen again */
    uint32_t unwritten_count; /* decisions that are not answered yet */
    uint64_t written_version; /* of its object, as the engine last made it; 0 = never yet */
    uint64_t base_version;    /* that the newest patch was made of */
    uint64_t asked;           /* the decision whose patch is under way, by its sequence; 0 = none */
    bool plain, echo, stale, reserved; /* of its newest write: turn/write.c */
    uint64_t answers_version;          /* up to which the answers of its checks have been read */
    uint64_t seen_version;             /* of its object, when it was last seen; 0 = never yet */
    uint64_t unread_first; /* versions of its object that were seen while some were not */
    uint64_t unread_last;  /* answered, and so not read in full; 0 = none */
    uint64_t news_version; /* of its object, when its checks' answers were last news; 0 = never */
    struct sl_released *released; /* its newest release, until it is written; NULL = none */
    struct sl_given given;
    enum sl_decision_kind rewrite_kind, refused_kind;
    uint32_t refusals;     /* in a row, of decisions of refused_kind: each is written again later */
    struct sl_words words; /* of its newest decisions */
    char *trouble;         /* why its object cannot be used; NULL = it can */
    bool device_claims;    /* it asks for devices that cannot be counted */
    uint8_t mark, unadmitted; /* sl_engine_mark; why it counts as not admitted (conditions.h) */
    bool oversized;           /* it asks for more than the core can count */
    bool reclaims;            /* its requests may leave out pods that ended; they may come back */
    struct sl_admission *admission; /* NULL unless it holds quota */
    int64_t created_ms;
    int64_t seen_ms;           /* first, by this daemon */
    int64_t backoff_ms;        /* what is armed for it, SL_NEVER = nothing */
    int64_t object_generation; /* of the pod sets in the requests; -1 = none */
    uint64_t limits_version;   /* with which limits and devices */
    int64_t ready_ms;          /* by when its pods must be ready, SL_NEVER = no matter */
    int64_t stop_ms;           /* by when its evicted job should stop, SL_NEVER = no matter */
    int64_t retain_ms;         /* when it is to be deleted, SL_NEVER = not */
    int64_t restrained_ms;     /* until when it may not preempt; SL_NEVER = it may */
    uint32_t vain_preemptions; /* cycles in which it did, since it last was served for a while */
    int64_t limited_ms;        /* when a timer ends its execution, SL_NEVER = none */
    uint32_t pod_set_count;
    struct sl_pod_set *pod_sets;
    struct sl_slice slice;
};

struct sl_queued_decision {
    uint64_t sequence;
    uint64_t cycle;
    int64_t now_ms;
    const char *reason;
    char *message; /* of the same look; owned */
    enum sl_decision_kind kind;
    sl_workload_id workload;
    uint32_t generation;
    sl_workload_id preemptor; /* SL_NO_ID = none */
    uint32_t preemptor_generation;
};

struct sl_constraints;
struct sl_world;
struct sl_tenants;
struct sl_node_health;
struct sl_touched {
    enum sl_kind kind;
    sl_qnode_id qnode;
    char *key; /* of a LocalQueue, owned */
};

struct sl_engine {
    struct sl_engine_settings settings;
    struct sl_intern *names;
    struct sl_journal *journal;
    int64_t now_ms;          /* of the last call that said what time it is */
    unsigned news;           /* SL_NEWS_ of the last call that has any */
    bool synced, runs_ahead; /* all was read; ahead of time: what ends is not observed */
    bool restanding;         /* a workload is read again whose topology was missing */
    bool wants_workloads;    /* see sl_engine_wants_workloads */
    sl_workload_id reading;  /* its object is at hand, and read when its domains are there */
    bool restoring; /* records are brought to what the API says: nothing is to be written of that */
    uint64_t cycle;
    struct sl_flavor_entry *flavors;     /* by id */
    struct sl_qnode_entry **qnodes;      /* by id */
    struct sl_workload_entry *workloads; /* by id */
    uint32_t flavor_cap, qnode_cap, workload_cap;
    struct sl_map *local_queues; /* "ns/name" -> struct sl_local_queue * */
    struct sl_map *namespaces;   /* name -> labels, a struct sl_json * */
    struct sl_slices slices;
    struct sl_map *run_times;          /* uid of a job or Workload -> what it says: run_times.c */
    struct sl_parent_figures *parents; /* quota/parent_figures.h */
    struct sl_timers timers;
    struct sl_queued_decision *decisions; /* a ring */
    uint32_t decision_first, decision_count, decision_cap;
    struct sl_givings givings;
    struct sl_constraints *constraints;
    struct sl_limits *limits;
    struct sl_devices *devices;
    struct sl_world *world;        /* nodes, pods and topologies: world.h */
    struct sl_tenants *tenants;    /* which workloads have pods on which node: tenants.h */
    struct sl_node_health *health; /* which nodes have failed: node_health.h */
    uint32_t exceeded_count;       /* ClusterQueues that were reported so */
    uint32_t looped_count;         /* nodes whose parent was refused */
    bool sweep;                    /* a node that only waited for its holders may be free now */
    struct sl_touched *touched;
    uint32_t touched_first, touched_count, touched_cap;
    sl_workload_id *granted;  /* in the running cycle, where checks depend on flavors */
    sl_workload_id *restless; /* workloads to be restrained once the running cycle is over */
    uint32_t granted_count, restless_count, family_cap, *family_sizes;
    sl_workload_id preemptor; /* of the victims that are being reported now; SL_NO_ID = none */
    void (*follow)(struct sl_engine *, sl_workload_id, const struct sl_transition *, int64_t);
    char *lent;                 /* the last name given out by sl_engine_next_touched */
    int64_t woken_ms, cycle_ms; /* when the last cycle that only woke ran, and the last one */
    uint64_t idle_cycles;       /* that decided nothing, since something was decided or changed */
    struct sl_engine_counters counters;
};

/* name_take.c: the id of a name, noted in the journal when it is new; SL_NO_ID = the class is full. */
uint32_t sl_name_take(struct sl_engine *g, enum sl_intern_class c, const char *name,
                      int64_t now_ms);
/* The workload of that name and UID; SL_NO_ID = it is not known. */
sl_workload_id sl_workload_find(const struct sl_engine *g, const struct sl_json *object);
/* --- entries.c: finding, making and dropping the entries above -------------------------------- */
sl_qnode_id sl_qnode_find(const struct sl_engine *g, bool is_cluster_queue, const char *name);
sl_qnode_id sl_qnode_take(struct sl_engine *g, bool is_cluster_queue, const char *name,
                          int64_t now_ms);
bool sl_qnode_open(struct sl_engine *g, sl_qnode_id qnode, int64_t now_ms); /* in the ledger */
/* Give the node back when no object, child, LocalQueue or holder needs it any more. */
void sl_qnode_drop_unused(struct sl_engine *g, sl_qnode_id qnode, int64_t now_ms);
void sl_qnode_sweep(struct sl_engine *g, int64_t now_ms); /* the same for all */

struct sl_local_queue *sl_local_queue_find(const struct sl_engine *g, const char *ns,
                                           const char *name);
struct sl_local_queue *sl_local_queue_take(struct sl_engine *g, const char *ns, const char *name);
void sl_local_queue_drop_unused(struct sl_engine *g, struct sl_local_queue *q, int64_t now_ms);
/* Name another ClusterQueue (SL_NO_ID = none). */
void sl_local_queue_point(struct sl_engine *g, struct sl_local_queue *q, sl_qnode_id cluster_queue,
                          int64_t now_ms);

struct sl_workload_entry *sl_workload_entry_take(struct sl_engine *g, sl_workload_id id,
                                                 const char *uid);
void sl_workload_entry_drop(struct sl_engine *g, sl_workload_id id, int64_t now_ms);
void sl_workload_enlist(struct sl_engine *g, sl_workload_id id, struct sl_local_queue *q);
void sl_workload_unlist(struct sl_engine *g, sl_workload_id id);
/* Which ClusterQueue's quota the workload holds: SL_NO_ID = none. A deleted queue that still has
 * holders is checked again when the last one releases its quota. */
void sl_workload_hold(struct sl_engine *g, struct sl_workload_entry *e, sl_qnode_id qnode);
struct sl_admission *sl_admission_new(uint32_t pod_set_count, uint32_t choice_count);
void sl_admission_free(struct sl_admission *admission); /* NULL is fine */
/* What is still held for a choice. */
int64_t sl_admission_amount(const struct sl_admission *admission, uint32_t choice);

/* --- world.c, world_life.c: nodes, pods and topologies ---------------------------------------- */
void sl_world_open(struct sl_engine *g);
/* Everything is taken back from the core. */
void sl_world_close(struct sl_engine *g);
/* Wake the queues for which something has changed in a tree that they offer; before a cycle. */
void sl_world_flush(struct sl_engine *g, int64_t now_ms);
bool sl_world_woken(const struct sl_engine *g); /* are there workloads to be woken? */

/* The ClusterQueue whose quota the workload holds, or that it waits for; "" = not known. */
const char *sl_engine_queue_of(const struct sl_engine *g, sl_workload_id id);
/* step.c: a write has failed. Decides it again after `wait_ms`, or when its object was seen again, unless that was refused before. */
void sl_step_rewrite(struct sl_engine *g, sl_workload_id id, enum sl_decision_kind kind,
                     int64_t wait_ms, int64_t now_ms);
#endif
