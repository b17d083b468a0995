/* SPDX-License-Identifier: Apache-2.0
 * SPDX-FileCopyrightText: The Sluice authors */

/* Objects whose pods come in groups (sl_grouping), as StatefulSets and LeaderWorkerSets do: each group of such a parent gets a
 * Workload as soon as the parent is seen, and its pods are made members of it. From then on they are a group of pods as any
 * other, whose Workload has been made for it (controllers/jobs). A parent with a size of zero keeps its Workloads, on hold. One
 * work queue for each kind of parents. */
#ifndef SL_CONTROLLERS_PARENTS_H
#define SL_CONTROLLERS_PARENTS_H
#include "controllers/jobs/job_run.h"

/* The parents of one kind: of `of` the work queue, the pods of each as its members, and the blocked ones are used. */
struct sl_parents_of {
    struct sl_jobs_of of;
    struct sl_job_children *workloads; /* of each parent, by name */
    struct sl_map *
        rounds; /* of parents with many groups, which are looked at some at a time: where to go on, and whether all
                            * are to be looked at again after that */
};
struct sl_parents {
    struct sl_jobs *jobs;
    size_t kind_count;
    struct sl_parents_of kinds[SL_KIND_CUSTOM_MAX];
};

/* Of the kinds that the rules of `jobs` enable. */
void sl_parents_init(struct sl_parents *p, struct sl_jobs *jobs, const struct sl_client *client,
                     struct sl_recorder *events);
void sl_parents_fini(struct sl_parents *p);
/* Where the look at a parent begins, and where the next one goes on; 0: that was all of its groups. */
int64_t sl_parents_round(const struct sl_parents_of *p, const char *key);
void sl_parents_go_on(struct sl_parents_of *p, const char *key, int64_t next);

/* A parent, pod, Workload or class of priorities was added, changed or deleted. */
void sl_parents_observe(struct sl_parents *p, enum sl_kind kind, const struct sl_json *object,
                        bool deleted);
bool sl_parents_step(struct sl_parents *p, int64_t now_ms, unsigned limit);
int64_t sl_parents_due_ms(const struct sl_parents *p);
#endif
