/* SPDX-License-Identifier: Apache-2.0
 * SPDX-FileCopyrightText: The Sluice authors */

/* Events in, decisions out. The engine owns the core: it interns names, turns API objects into core
 * events, journals them, runs scheduling cycles and hands out decisions as plain data. One instance
 * a process, since the core's state is file-scope. Single thread, no callbacks. Carries G10, G11,
 * G12 in the shell. */
#ifndef SL_ENGINE_ENGINE_H
#define SL_ENGINE_ENGINE_H
#include "api/objects/object.h"
#include "engine/quota/settings.h"
#include "kernel/base/types.h"

struct sl_engine;
struct sl_engine_options {
    const char *journal_dir;   /* NULL = no journal */
    size_t journal_file_bytes; /* the next file is begun after so many; 0 = SL_JOURNAL_FILE_MAX */
    const struct sl_engine_settings
        *settings; /* NULL = the defaults; copied, but not its strings */
};
enum sl_code sl_engine_open(const struct sl_engine_options *options, struct sl_engine **out,
                            struct sl_error *e);
void sl_engine_close(struct sl_engine *g);

/* An object was added or changed: level-triggered, the difference to what is known becomes core
 * events. Kinds: Namespace, LimitRange, RuntimeClass, ResourceFlavor, Cohort, ClusterQueue,
 * LocalQueue, Workload, WorkloadPriorityClass, PriorityClass, Topology, Node, Pod, AdmissionCheck, ResourceClaimTemplate,
 * DeviceClass, ResourceSlice. Workloads are read with the LimitRanges and RuntimeClasses known by then: when one of these
 * changes, observe those Workloads again. Initial lists: Topologies, Nodes and ResourceFlavors
 * before Workloads, whose assignments refer to them. INVALID with causes when something in it
 * cannot be used (e.g. a cyclic cohort); the object then is known as inactive with that reason,
 * nothing is lost. */
enum sl_code sl_engine_observe(struct sl_engine *g, enum sl_kind kind, const struct sl_json *object,
                               int64_t now_ms, struct sl_error *e);
/* Has an object that was observed just now changed the places under some Workloads? Then observe
 * all of them again before the next cycle. Asked once. */
bool sl_engine_wants_workloads(struct sl_engine *g);
/* They could not be shown: it goes on wanting them. */
void sl_engine_want_workloads(struct sl_engine *g);
/* Are ResourceClaimTemplates, DeviceClasses and ResourceSlices to be observed? */
bool sl_engine_counts_devices(const struct sl_engine *g);
/* May one of them have changed what Workloads ask for? Then settle that soon. Has it? Then observe all of these. Asked once. */
bool sl_engine_wants_requests(struct sl_engine *g);
bool sl_engine_settle_requests(struct sl_engine *g);
void sl_engine_forget(struct sl_engine *g, enum sl_kind kind, const struct sl_json *object,
                      int64_t now_ms);
/* What has happened in the last call of sl_engine_observe, sl_engine_show or sl_engine_cycle, for figures. */
#define SL_NEWS_FINISHED 1u /* the Workload has finished */
#define SL_NEWS_STARTED 2u  /* its pods are ready for the first time since it was admitted */
#define SL_NEWS_CYCLE 4u    /* heads were tried, and */
#define SL_NEWS_RESERVED 8u /* one has reserved quota */
unsigned sl_engine_news(const struct sl_engine *g);

/* Every kind's initial list has been observed: from now on decisions are made (G10). */
void sl_engine_synced(struct sl_engine *g, int64_t now_ms);

/* One scheduling cycle if anything waits for one; returns whether another one is due at once. */
bool sl_engine_cycle(struct sl_engine *g, int64_t now_ms);
/* One cycle at once that takes every queue's head, also one that was refused and for which nothing
 * has changed since: a cycle as Kueue runs it, at a cost linear in queues. For comparisons. */
void sl_engine_force_cycle(struct sl_engine *g, int64_t now_ms);
/* When to call sl_engine_cycle again for timers (wake-up batches, backoff, second pass); INT64_MAX
 * = never. */
int64_t sl_engine_due_ms(const struct sl_engine *g);

enum sl_decision_kind {
    SL_DECIDE_RESERVE,    /* quota reserved; also admitted when all checks are ready */
    SL_DECIDE_ADMIT,      /* checks are ready: Admitted */
    SL_DECIDE_PENDING,    /* QuotaReserved=False with a (new) reason */
    SL_DECIDE_EVICT,      /* Evicted=True: the job must stop */
    SL_DECIDE_RELEASE,    /* the reservation is taken back (job stopped, or queue unusable) */
    SL_DECIDE_DEACTIVATE, /* spec.active must become false */
    SL_DECIDE_REQUEUE,    /* Requeued=True: backoff over, reactivated, queue restarted */
    SL_DECIDE_DELETE,     /* kept long enough: the object is to be deleted; there is no patch */
    SL_DECIDE_PLACE,      /* where its pods stand, or are not to: written, not worth an Event */
    SL_DECIDE_UNPLACED, /* the second pass found no place and will try again: an Event, no patch */
    SL_DECIDE_LATE,     /* evicted long ago, and its job has not stopped: an Event, no patch */
    SL_DECIDE_FINISH    /* a slice took its place: Finished=True, after the reservation of that */
};
struct sl_decision {
    uint64_t sequence; /* of the journal */
    uint64_t cycle;
    enum sl_decision_kind kind;
    sl_workload_id workload;
    uint32_t generation;
    int64_t now_ms;
    const char *ns, *name, *uid;          /* lent until the next call into the engine */
    const char *reason;                   /* API reason string */
    const char *by_ns, *by_name, *by_uid; /* EVICT: the Workload that preempted it; NULL = none */
    int32_t priority, by_priority;        /* of both, with what their annotations add */
    uint32_t refusals;                    /* how often in a row it was refused before */
    bool put_off;       /* by who carries it out: it was answered with OK, and is written later */
    char message[1024]; /* for people: what was missing, per flavor */
};
/* The oldest decision not yet taken; false when there is none. */
bool sl_engine_next_decision(struct sl_engine *g, struct sl_decision *out);

/* --- carrying a decision out: what is to be written, and how it ended (docs/internals/writes.md) --- */
enum sl_to_write {
    SL_TO_WRITE_NOTHING, /* the object says it already, or nothing of it is written: it is done */
    SL_TO_WRITE_STATUS,  /* the patch, to the status subresource */
    SL_TO_WRITE_SPEC,    /* the patch, to the object itself */
    SL_TO_WRITE_DELETE,  /* the object is to be deleted: there is no patch */
    SL_TO_WRITE_AFTER, /* what it takes was given back before, which is not written yet: to be asked again when
                            sl_engine_waits is false, or to be answered with UNAVAILABLE */
    SL_TO_WRITE_LATER, /* the object says that it has finished, which no watch has shown and may yet be lost: it is to
                            be answered with UNAVAILABLE */
    SL_TO_WRITE_STALE /* the object asks for something else than was decided about: it is to be answered with CONFLICT */
};
/* Given the live Workload of that uid. *patch (caller frees): a merge patch with metadata.resourceVersion; NULL where none
 * is to be written. With settings.paranoid the process ends with SL_EXIT_BROKEN where the patch would not make of the
 * object what its record says (mirror.h). */
enum sl_to_write sl_engine_write(struct sl_engine *g, const struct sl_decision *d,
                                 const struct sl_json *live, struct sl_json **patch);

/* Does it still take what was given back by others before, and is the write of that still to come? At most for a minute:
 * then one of them is not waited for any longer. */
bool sl_engine_waits(struct sl_engine *g, const struct sl_decision *d);

enum sl_then {
    SL_THEN_NOTHING, /* it is answered; if it has failed it is decided once more in its time */
    SL_THEN_ASK, /* only what had to come first was written (a release, or why it is deactivated): look at the object
                        and ask once more what is to be written */
    SL_THEN_SHOW /* it is answered, and its object has said something meanwhile that was not read, since it might
                        have been what the decision was about to change: look at the object and show it */
};
/* `code`: of the write, or of the look before it; NOT_FOUND: there is no Workload of that uid any more. `written`: what the
 * write has made of it; NULL: nothing was written, or it is not known. What is refused for what it says is tried again
 * after 1, 2, 4 s and so on, at most every 30 s. */
enum sl_then sl_engine_written(struct sl_engine *g, const struct sl_decision *d, enum sl_code code,
                               const struct sl_json *written, int64_t now_ms);
/* The Workload as it was looked at is observed, unless that is a later version than a watch has shown: it may still be lost,
 * and is observed when it is shown. */
void sl_engine_show(struct sl_engine *g, const struct sl_json *workload, int64_t now_ms);

/* What a Workload is that a watch has shown, before it is observed. */
enum sl_sight {
    SL_SIGHT_NEWS,   /* to be observed */
    SL_SIGHT_UNSURE, /* a write of it is under way, and may have made this version: to be observed once the answer has come,
                        or none has come with it */
    SL_SIGHT_ECHO /* the engine's own write has made it, of a version that was read: nothing is to be observed */
};
enum sl_sight sl_engine_recognise(struct sl_engine *g, const struct sl_json *workload,
                                  int64_t now_ms);

/* Do pods that have ended for good give their quota back before the job ends? */
bool sl_engine_reclaims(const struct sl_engine *g);
/* Does it matter to it when all pods of a workload are ready? */
bool sl_engine_waits_for_pods(const struct sl_engine *g);

/* The job of an evicted workload has stopped: its quota may go (row 18). */
void sl_engine_job_stopped(struct sl_engine *g, const struct sl_json *workload, int64_t now_ms);

/* --- what is going on, for status, tables, metrics -------------------------------------------- */
/* status of a ClusterQueue / LocalQueue / Cohort as the engine sees it (a new map):
 * pendingWorkloads, reservingWorkloads, admittedWorkloads, flavorsReservation, flavorsUsage, of a ClusterQueue
 * quotaExcess (the same for what is held beyond all that quotas allow now, since one was lowered), and
 * the Active condition's {status, reason, message} under "active". NULL when unknown. */
struct sl_json *sl_engine_queue_status(struct sl_engine *g, enum sl_kind kind, const char *ns,
                                       const char *name);
/* How many workloads of a ClusterQueue or LocalQueue are in which state; false when it is unknown. */
struct sl_queue_figures {
    uint32_t active;       /* pending, and tried without anything changing */
    uint32_t inadmissible; /* pending, and waiting for a change or a backoff */
    uint32_t reserving;    /* including the admitted */
    uint32_t admitted, finished;
    bool open;     /* it is Active */
    bool deleting; /* a ClusterQueue: it is being deleted */
    /* Of a ClusterQueue, of its cycles: workloads that would have preempted but for others in the last cycle in which
     * there were any; and how often victims were looked for again since others had chosen them, by what came of it. */
    uint32_t preemption_skips;
    uint64_t deferred_fits, new_targets, skipped_targets;
};
bool sl_engine_queue_figures(const struct sl_engine *g, enum sl_kind kind, const char *ns,
                             const char *name, struct sl_queue_figures *out);
/* The share by which fair sharing orders the ClusterQueue or Cohort among its siblings, in thousandths of what can be lent,
 * not rounded; NAN where it borrows with a weight of zero. False when there is none. */
bool sl_engine_weighted_share(const struct sl_engine *g, enum sl_kind kind, const char *name,
                              double *out);
/* What a LocalQueue uses of each flavor and resource of its ClusterQueue, as amounts (api/objects/quantity.h). */
struct sl_queue_usage {
    const char *flavor, *resource;
    int64_t reservation, usage;
};
typedef void sl_usage_fn(void *context, const struct sl_queue_usage *usage);
void sl_engine_queue_usages(const struct sl_engine *g, const char *ns, const char *name,
                            sl_usage_fn *visit, void *context);
/* The tree as it is in force: ClusterQueues, and cohorts with or without objects. Names are lent. */
struct sl_tree_qnode {
    enum sl_kind kind;
    const char *name;
    const char *parent, *root; /* cohorts; "": none. A cohort without parent is its own root */
    uint32_t admitted;         /* workloads that have not finished, here and below */
};
typedef void sl_tree_fn(void *context, const struct sl_tree_qnode *qnode);
void sl_engine_tree(const struct sl_engine *g, sl_tree_fn *visit, void *context);
/* What a cohort and all below it have of a flavor and resource, and what of that workloads have reserved, as amounts.
 * What is not lent out of a part of the tree is not in `quota`; SL_AMOUNT_UNLIMITED: no limit. */
struct sl_cohort_quota {
    const char *cohort, *flavor, *resource;
    int64_t quota, reserved;
};
typedef void sl_cohort_quota_fn(void *context, const struct sl_cohort_quota *quota);
void sl_engine_cohort_quotas(const struct sl_engine *g, sl_cohort_quota_fn *visit, void *context);
/* What a LocalQueue has used lately, in units of its resources by their weights and over its own, as admission fair
 * sharing compares it; INFINITY where its weight is 0. False without admission fair sharing. */
bool sl_engine_queue_fair_usage(const struct sl_engine *g, const char *ns, const char *name,
                                const char **cluster_queue, double *usage);
/* How many workloads hold quota of the ClusterQueue. */
uint32_t sl_engine_holders(const struct sl_engine *g, const char *cluster_queue);
/* Names of queues and cohorts whose status may have changed since the last call; false when none is
 * left. */
bool sl_engine_next_touched(struct sl_engine *g, enum sl_kind *kind, const char **ns,
                            const char **name);
/* Of what waits in a ClusterQueue: only this is looked at closely. */
struct sl_pending_range {
    const char *ns, *local_queue; /* NULL: all LocalQueues */
    int64_t offset, limit;
};
/* Pending workloads of a ClusterQueue in the order they would be tried, without those that are deactivated or gated, as
 * they are now. They are described one by one, which takes longer: also in later turns. */
struct sl_pending;
struct sl_pending *sl_engine_pending_new(struct sl_engine *g, const char *cluster_queue,
                                         const struct sl_pending_range *range /* NULL: all */);
void sl_engine_pending_free(struct sl_pending *p);
/* The next of them that still waits: {namespace, name, priority, localQueueName, positionInClusterQueue,
 * positionInLocalQueue, place, reason, message}. The caller frees it. NULL: these were all. */
struct sl_json *sl_engine_pending_next(struct sl_engine *g, struct sl_pending *p);
/* All ClusterQueues and Cohorts that have an object. */
typedef void sl_qnode_fn(void *context, enum sl_kind kind, const char *name);
void sl_engine_each_qnode(const struct sl_engine *g, sl_qnode_fn *visit, void *context);

struct sl_engine_counters {
    uint64_t cycles, events, refused, reserved, admitted, started, evicted, finished, restrained;
    uint64_t workloads_read,
        echoes; /* Workloads observed; own writes that were recognised instead */
    uint64_t passes_placed,
        passes_failed;     /* second passes that found a place, and that found none */
    uint64_t replacements; /* moves of pods off nodes that failed */
    uint32_t passes_armed; /* second passes that are awaited */
    uint32_t workloads, pending, holding;
    uint64_t journal_lost; /* records that the disk refused */
    uint64_t core_bytes;   /* resident core state, estimated from what is in use */
};
void sl_engine_count(const struct sl_engine *g, struct sl_engine_counters *out);

/* All guarantee checkers over the whole core; false and the name of the first broken one. Linear
 * time. */
bool sl_engine_valid(const struct sl_engine *g, const char **broken);
#endif
