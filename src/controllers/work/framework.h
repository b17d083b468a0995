/* SPDX-License-Identifier: Apache-2.0
 * SPDX-FileCopyrightText: The Sluice authors */

/* What the job controller asks of a kind of jobs. batch/v1 Job is one (job.c), Pods are two (podjob.h); the others are
 * read from adapter files (adapter.h). Pure functions over objects; no I/O. */
#ifndef SL_CONTROLLERS_FRAMEWORK_H
#define SL_CONTROLLERS_FRAMEWORK_H
#include "api/objects/object.h"

#define SL_LABEL_QUEUE "kueue.x-k8s.io/queue-name"
#define SL_LABEL_PRIORITY_CLASS "kueue.x-k8s.io/priority-class"
#define SL_LABEL_MAX_EXEC_S "kueue.x-k8s.io/max-exec-time-seconds"
#define SL_LABEL_PREBUILT "kueue.x-k8s.io/prebuilt-workload-name"
#define SL_ANNOTATION_GATED_BY "kueue.x-k8s.io/admission-gated-by"
#define SL_LABEL_JOB_UID "kueue.x-k8s.io/job-uid"
#define SL_FINALIZER "kueue.x-k8s.io/resource-in-use"
#define SL_TERMINATION_TARGET "TerminationTarget" /* a condition: the gated object has to stop */
#define SL_POD_SETS_MAX 18u

/* A pod set as the job describes it; texts and templates are lent. */
struct sl_pod_set {
    char name[64];
    int64_t count;
    int64_t min_count; /* how few would do; 0 = all are needed */
    const struct sl_json *template;
    char where[128];         /* the path of the template, for complaints */
    const char *notes_where; /* of its annotations, where they are not the template's own */
    const char *index_label; /* of the pods, with their index; NULL = none */
    int64_t index_offset;    /* what that counts from */
    const char *
        sub_group_label; /* of the pods, with the index of their part of the set; NULL = no parts */
    int64_t sub_group_count;
};
struct sl_pod_sets {
    size_t count;
    struct sl_pod_set at[SL_POD_SETS_MAX];
    struct sl_json *made; /* a list of templates that the job leaves to a default */
};
void sl_pod_sets_fini(struct sl_pod_sets *sets);

/* Objects that cannot be suspended and restored. A gate holds each back until its job is admitted: `suspended` says so,
 * and `inject` opens it. It is deleted to stop it, and kept by a finalizer until it has been counted. Those that are
 * managed were marked when they were made (`skips`), whatever owns them. */
struct sl_gated {
    const char *finalizer;
    bool (*counts)(
        const struct sl_json *object); /* does it run, may it still, or has it succeeded? */
};

/* The objects that a job consists of. The first speaks for all. */
enum sl_fate {
    SL_FATE_KEPT,
    SL_FATE_LET_GO, /* it is over, and counted or replaced: its finalizer goes */
    SL_FATE_EXCESS, /* there are enough without it: it is deleted */
    SL_FATE_UNKNOWN /* the Workload has no pod set for it: it stays as it is */
};
struct sl_member {
    struct sl_json *object;
    enum sl_fate fate;
};
struct sl_members {
    const char *group; /* the name of the job, and of its Workload; NULL: it is one object */
    size_t count;      /* at least one */
    struct sl_member *at;
    int64_t missing; /* objects that have to be replaced */
};

/* A job that is composed of several objects of one kind, all of which own its Workload and none of which controls it.
 * Such objects are gated. */
struct sl_composition {
    const char *mark; /* the annotation, "true", of Workloads that are made for such jobs */
    /* The name of the job that the object is a part of; NULL: of none. */
    const char *(*group)(const struct sl_json *object);
    void (*prepare)(struct sl_json *object); /* before a look, in place: what is asked for often */
    /* Without a Workload: which members it is to be made for. INVALID: it cannot be made now, and *e says why; GONE: not
     * yet. The fates hold in any case, but that none is deleted for one that cannot be made. */
    enum sl_code (*gather)(struct sl_members *m, struct sl_error *e);
    /* Which members the Workload is for, and how many are missing. False: none, and the fates mean nothing. */
    bool (*match)(struct sl_members *m, const struct sl_json *wl);
    enum sl_code (*pod_sets)(const struct sl_members *m, struct sl_pod_sets *out,
                             struct sl_error *e);
    void (*pod_set)(const struct sl_json *object, char out[static 64]); /* whose pod it is */
    bool (*serves)(const struct sl_members *m); /* does it never end, and stay in its queue? */
    bool (*finished)(const struct sl_members *m, bool *success, struct sl_buf *message);
    bool (*pods_ready)(const struct sl_members *m);
    int64_t (*reclaimable)(const struct sl_members *m, const char *pod_set);
};

/* An object that a job refers to, which says more about its pods. Texts are lent. */
struct sl_reference {
    const char *as;    /* under this name it is in `with` */
    const char *field; /* of the job: where the name is */
    enum sl_kind kind; /* SL_KIND_COUNT: none that is known */
    const char *named; /* the kind as the job has it */
    const char *ns;    /* "": it belongs to no namespace */
    const char *name;  /* "": the job names none */
    bool
        scales; /* what elastic jobs have made, which says how many pods they have now; it need not be there */
};

struct sl_framework;
/* Where a pod belongs that an object of a grouping kind has made; texts are lent. */
struct sl_group_place {
    int64_t index; /* of its group */
    const char *pod_set;
};

#define SL_GROUPS_MAX 1000000 /* of one object: Kueue's bound, against slips of the pen */

/* An object whose pods come in groups: each group has a Workload of its own, which is admitted, stopped and replaced by itself
 * and which the object owns without controlling it. It is not suspended; its pods are gated (podjob.h), and become a group's
 * members when they are seen. */
struct sl_grouping {
    bool indexed; /* there are several, whose Workloads are named by their number, too */
    bool fast;    /* the first of its pods is enough to go by */
    int64_t (*count)(const struct sl_framework *f, const struct sl_json *object);
    /* Pods of a group; 0: it is scaled to nothing, and its Workload waits. */
    int64_t (*size)(const struct sl_framework *f, const struct sl_json *object);
    /* Which object made the pod? NULL: none of that kind. */
    const char *(*maker)(const struct sl_framework *f, const struct sl_json *pod);
    /* False: that cannot be said yet. */
    bool (*place)(const struct sl_framework *f, const struct sl_json *object,
                  const struct sl_json *pod, struct sl_group_place *out);
};

struct sl_framework {
    enum sl_kind kind;
    const char *name; /* as integrations.frameworks has it, e.g. "batch/job" */
    const char *noun; /* in messages; NULL: "job" */
    const void *self;
    /* batch/v1: its template can be changed only while it is suspended and has no start time, so that stopping takes
     * more than one write. */
    bool forgets_start;
    bool
        restored_later; /* what admission has added can be taken out only when no pod runs any more */
    bool elastic;       /* such jobs may change their numbers of pods while they run: slices.h */
    /* The objects that the job refers to: the one with that number; false: there are no more. NULL: it refers to none.
     * What they are now is lent for one look: `with`, by their names; and `lacks`, true for one that cannot be read,
     * false for one that is not there. pod_sets answers NOT_FOUND or UNAVAILABLE while one is lacking. */
    bool (*refers)(const struct sl_framework *f, const struct sl_json *job, size_t index,
                   struct sl_reference *out);
    const struct sl_json *with, *lacks;
    const struct sl_gated *gated;             /* NULL: suspended, and restored, when it stops */
    const struct sl_composition *composition; /* NULL: one object is the job */
    const struct sl_grouping *grouping;       /* NULL: it has one Workload; else see serving */
    /* Without a composition: is the object one for this framework, of those of its kind? NULL: each is. */
    bool (*claims)(const struct sl_json *object);
    /* Does its controller make jobs of that kind, which then run with theirs? NULL: it makes pods and no jobs. */
    bool (*makes)(const struct sl_framework *f, enum sl_kind kind);
    bool (*skips)(const struct sl_framework *f,
                  const struct sl_json *job); /* NULL: none is left alone */
    bool (*suspended)(const struct sl_framework *f, const struct sl_json *job);
    void (*suspend)(const struct sl_framework *f, struct sl_json *job, bool on);
    /* Has it no pods and will it have none, although it has not ended? It needs no quota then. NULL: never. */
    bool (*on_hold)(const struct sl_framework *f, const struct sl_json *job);
    bool (*active)(const struct sl_framework *f,
                   const struct sl_json *job); /* may pods still run? */
    bool (*pods_ready)(const struct sl_framework *f, const struct sl_json *job);
    /* Has it ended? Then *success and *message (lent) say how. */
    bool (*finished)(const struct sl_framework *f, const struct sl_json *job, bool *success,
                     const char **message);
    /* INVALID with a cause that names the field; GONE: it wants no pods at all, and so no Workload. `out` is to be
     * ended in every case. */
    enum sl_code (*pod_sets)(const struct sl_framework *f, const struct sl_json *job,
                             struct sl_pod_sets *out, struct sl_error *e);
    /* What admission adds to the pods of the set with that number (template.h). */
    enum sl_code (*inject)(const struct sl_framework *f, struct sl_json *job, size_t index,
                           const struct sl_json *injection, struct sl_error *e);
    /* Put back what inject and set_count have changed, from the Workload's pod set. */
    void (*restore)(const struct sl_framework *f, struct sl_json *job, size_t index,
                    const struct sl_json *pod_set);
    void (*set_count)(const struct sl_framework *f, struct sl_json *job,
                      int64_t pods); /* or NULL */
    /* How many pods of the set have ended for good; NULL: not known. */
    int64_t (*reclaimable)(const struct sl_framework *f, const struct sl_json *job, size_t index);
    const char *(*priority_class)(const struct sl_framework *f,
                                  const struct sl_json *job); /* "" = none */
};

/* <kind>-<name>-<5 hex>: Kueue's name, so that both address the same Workload. */
void sl_framework_workload_name(const struct sl_framework *f, const char *job_name,
                                const char *job_uid, char out[static 254]);
/* Where the priority of a Workload comes from. name "" = no class. */
struct sl_priority {
    const char *group, *kind, *name;
    int64_t value;
};
void sl_workload_set_priority(struct sl_json *spec, const struct sl_priority *priority);
/* Labels and annotations of a job that its Workload has too. */
struct sl_copied_keys {
    size_t label_count, annotation_count;
    const char *const *labels, *const *annotations;
};
struct sl_workload_plan {
    const char *queue; /* may be "" */
    struct sl_priority priority;
    const struct sl_pod_sets *sets;
    struct sl_copied_keys copied;
    const struct sl_members *members; /* of a composed job: they agree about what is copied */
};
/* Have no two of them different values of one of these, and which are they: "label", "annotation"? NULL: they agree. */
const char *sl_members_disagree(const struct sl_members *m, const struct sl_copied_keys *keys);
/* The Workload that the job should have: metadata and spec (a new object). `job` is the first of the members, where there
 * are several. */
struct sl_json *sl_framework_workload_new(const struct sl_framework *f, const struct sl_json *job,
                                          const struct sl_workload_plan *plan);
/* Make the job the controller of the object: its only owner. */
void sl_framework_own(const struct sl_framework *f, struct sl_json *object,
                      const struct sl_json *job);

/* Do the Workload's pod sets have the same names, numbers (what was admitted, for one that runs) and containers?
 * For a suspended job also the same node selectors and tolerations. */
bool sl_pod_sets_match(const struct sl_pod_sets *sets, const struct sl_json *wl, bool suspended);
/* Do its pod sets ask the same of topologies, and would as few pods do? */
bool sl_pod_sets_wish_the_same(const struct sl_pod_sets *sets, const struct sl_json *wl);
/* Is it bounded by the time that the job's label says (or by none)? */
bool sl_workload_limit_matches(const struct sl_json *wl, const struct sl_json *job);
/* A copy that asks for what `wanted` does: queue, pod sets, priority, limit. */
struct sl_json *sl_workload_respecified_new(const struct sl_json *wl, const struct sl_json *wanted);
/* Do the topology annotations make sense? INVALID with causes otherwise. */
enum sl_code sl_pod_sets_check(const struct sl_pod_sets *sets, struct sl_error *e);
/* Fewer pods than it asked for, where the Workload allows that and was admitted so; else -1. */
int64_t sl_workload_reduced_pods(const struct sl_json *wl, size_t index);

/* The label's value when it is a whole positive number of seconds, else 0 (no limit). */
int64_t sl_job_execution_s_max(const struct sl_json *job);
int64_t sl_number_in(const char *text);              /* above zero; else, and of NULL, 0 */
const char *sl_job_queue(const struct sl_json *job); /* NULL: no label, or an empty one */
/* The name of the prebuilt Workload: from the annotation, or else from the label; NULL: none. */
const char *sl_job_prebuilt(const struct sl_json *job);
/* A copy of the Workload with the admission gates of its job; NULL when they are the same already. */
struct sl_json *sl_workload_with_gates_new(const struct sl_json *wl, const struct sl_json *job);
/* Is `wl` controlled by that job (same uid)? */
bool sl_job_owns(const struct sl_json *job, const struct sl_json *wl);
/* Is it that job's: the one that it controls, or, of a composed one, the one that is marked as such? */
bool sl_framework_has(const struct sl_framework *f, const struct sl_json *job,
                      const struct sl_json *wl);
/* Is it a Workload of a composed job of that kind: marked as such, or one that such objects own without controlling it? */
bool sl_framework_composes(const struct sl_framework *f, const struct sl_json *wl);
/* Let every member own the Workload, and none control it; how many owners are new. */
size_t sl_framework_own_all(const struct sl_framework *f, struct sl_json *wl,
                            const struct sl_members *m);

struct sl_json *sl_workload_pod_set(const struct sl_json *wl, size_t index); /* NULL: no such one */
bool sl_workload_has_finalizer(const struct sl_json *wl);
void sl_workload_drop_finalizer(struct sl_json *wl);
#endif
