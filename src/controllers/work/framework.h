/* SPDX-License-Identifier: Apache-2.0
 * SPDX-FileCopyrightText: The Sluice authors */

/* What the job controller asks of a kind of jobs. batch/v1 Job is one (job.c); the others are read from
 * adapter files (adapter.h). Pure functions over objects; no I/O. */
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
#define SL_POD_SETS_MAX 18u

/* A pod set as the job describes it; texts and templates are lent. */
struct sl_pod_set {
    char name[64];
    int64_t count;
    int64_t min_count; /* how few would do; 0 = all are needed */
    const struct sl_json *template;
    char where[128];         /* the path of the template, for complaints */
    const char *index_label; /* of the pods, with their index; NULL = none */
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

struct sl_framework {
    enum sl_kind kind;
    const char *name; /* as integrations.frameworks has it, e.g. "batch/job" */
    const void *self;
    /* batch/v1: its template can be changed only while it is suspended and has no start time, so that stopping takes
     * more than one write. */
    bool forgets_start;
    /* Does its controller make jobs of that kind, which then run with theirs? NULL: it makes pods and no jobs. */
    bool (*makes)(const struct sl_framework *f, enum sl_kind kind);
    bool (*skips)(const struct sl_framework *f,
                  const struct sl_json *job); /* NULL: none is left alone */
    bool (*suspended)(const struct sl_framework *f, const struct sl_json *job);
    void (*suspend)(const struct sl_framework *f, struct sl_json *job, bool on);
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
struct sl_workload_plan {
    const char *queue; /* may be "" */
    struct sl_priority priority;
    const struct sl_pod_sets *sets;
    size_t label_key_count; /* labels of the job that its Workload has too */
    const char *const *label_keys;
};
/* The Workload that the job should have: metadata and spec (a new object). */
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
const char *sl_job_queue(const struct sl_json *job); /* NULL: no label, or an empty one */
/* The name of the prebuilt Workload: from the annotation, or else from the label; NULL: none. */
const char *sl_job_prebuilt(const struct sl_json *job);
/* A copy of the Workload with the admission gates of its job; NULL when they are the same already. */
struct sl_json *sl_workload_with_gates_new(const struct sl_json *wl, const struct sl_json *job);
/* Is `wl` owned by that job (same uid)? */
bool sl_job_owns(const struct sl_json *job, const struct sl_json *wl);

struct sl_json *sl_workload_pod_set(const struct sl_json *wl, size_t index); /* NULL: no such one */
bool sl_workload_has_finalizer(const struct sl_json *wl);
void sl_workload_drop_finalizer(struct sl_json *wl);
#endif
