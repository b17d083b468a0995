/* SPDX-License-Identifier: Apache-2.0
 * SPDX-FileCopyrightText: The Sluice authors */

/* The job controller: a job with a queue name gets a Workload, stays suspended until that is admitted, is
 * started with the flavors' node selectors and tolerations, stopped and restored when evicted, and finishes
 * its Workload when it ends. Jobs without a queue name are left alone, unless they are to be managed too; so is a
 * job that belongs to another managed job, but that it is suspended while its owner is not admitted. Pods that admission
 * has marked and gated are jobs too, alone or in groups: they lose their gate when they are admitted and are deleted
 * when they are evicted; those that failed wait to be replaced. One work queue for each kind of jobs. Level-triggered:
 * each look compares the live job with its live Workload and makes at most one write for each object. No scheduling
 * decisions are made here. */
#ifndef SL_CONTROLLERS_JOBS_H
#define SL_CONTROLLERS_JOBS_H
#include "controllers/work/framework.h"
#include "controllers/work/job_children.h"
#include "controllers/work/reconciler.h"
#include "engine/engine.h"

#define SL_FRAMEWORK_DEPLOYMENT "deployment" /* its pods are jobs by themselves */
#define SL_FRAMEWORKS_MAX (3 + SL_KIND_CUSTOM_MAX)

/* From the Configuration; what is pointed to is lent. */
struct sl_job_rules {
    bool manage_all;                      /* manageJobsWithoutQueueName */
    const struct sl_selector *namespaces; /* managedJobsNamespaceSelector; NULL = all namespaces */
    size_t framework_count;               /* integrations.frameworks; 0 = all that there are */
    const char *const *frameworks;
    size_t external_count;        /* integrations.externalFrameworks ... */
    const char *const *externals; /* ... as "Kind.version.group" */
    struct sl_copied_keys
        copied; /* integrations.labelKeysToCopy, and what custom labels come from */
    bool
        no_queue_labels; /* AssignQueueLabelsForPods=false: pods do not say whose quota they have */
    bool
        elastic; /* ElasticJobsViaWorkloadSlices: jobs that say so change their pods while they run */
    struct sl_idle_modes
        heeded; /* what has its effect by a gate: no warning says that it has none */
};

struct sl_jobs;
/* The jobs of one kind. */
struct sl_jobs_of {
    struct sl_jobs *all;
    const struct sl_framework *f;
    struct sl_reconciler work;       /* keys are jobs */
    struct sl_map *blocked;          /* jobs that wait for a priority class that does not exist */
    struct sl_job_children *members; /* of composed jobs, by name; their owner is the job's key */
};
struct sl_jobs {
    struct sl_jobs_of kinds[SL_FRAMEWORKS_MAX];
    size_t kind_count;
    struct sl_reconciler leftovers; /* keys are Workloads whose job may be deleted */
    struct sl_engine *engine;
    struct sl_workload_meters *meters; /* lent; NULL: nothing is measured */
    struct sl_job_rules rules;
    struct sl_job_children *children;
    struct sl_job_children *referrers; /* of objects that jobs refer to: job_refs.h */
    struct sl_job_children *slices;    /* of elastic jobs, by their uid: keys of Workloads */
    struct sl_job_children *elsewhere; /* the same of objects of external kinds: job_owners.h */
    struct sl_map *default_classes;    /* PriorityClasses with globalDefault */
    struct sl_map *holders;            /* Workloads that were seen with quota */
    struct sl_map *changed;            /* those that were just changed after their job */
    struct sl_map *made;   /* jobs: how often their Workload was made in the second that ends ... */
    int64_t made_until_ms; /* ... then */
};

/* Jobs of batch/v1, Pods alone and in groups, then all adapters that are loaded; NULL: there are no more. */
const struct sl_framework *sl_jobs_framework(size_t index);
/* Do the rules want such jobs to be managed? integrations.frameworks names them, or nothing at all. */
bool sl_jobs_enabled(const struct sl_job_rules *rules, const struct sl_framework *f);
/* All frameworks, as far as the rules (NULL: the defaults) enable them. */
void sl_jobs_init(struct sl_jobs *j, const struct sl_client *client, struct sl_recorder *events,
                  struct sl_engine *engine, const struct sl_job_rules *rules);
void sl_jobs_fini(struct sl_jobs *j);
/* The kind of jobs of one object each that an owner reference (or any object) speaks of; NULL: of none that are enabled. */
struct sl_jobs_of *sl_jobs_of_object(struct sl_jobs *j, const struct sl_json *o);
/* The jobs that the Workload is for one of, with the name of that one; NULL: of none that are enabled. */
struct sl_jobs_of *sl_jobs_of_workload(struct sl_jobs *j, const struct sl_json *wl,
                                       const char **job);
/* Are jobs of that namespace managed? */
#define SL_NAMESPACE_LEFT_OUT "managedJobsNamespaceSelector leaves out the namespace %s"
bool sl_jobs_namespace_managed(const struct sl_job_rules *rules, struct sl_reconciler *r,
                               const char *ns);
/* A job, Workload, PriorityClass or WorkloadPriorityClass was added, changed or deleted. */
void sl_jobs_observe(struct sl_jobs *j, enum sl_kind kind, const struct sl_json *object,
                     bool deleted, int64_t now_ms);
/* Look at up to `limit` keys of each sort; true when more are due. */
bool sl_jobs_step(struct sl_jobs *j, int64_t now_ms, unsigned limit);
int64_t sl_jobs_due_ms(const struct sl_jobs *j);
size_t sl_jobs_waiting(const struct sl_jobs *j); /* keys of jobs that are still to be looked at */
#endif
