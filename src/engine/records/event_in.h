/* SPDX-License-Identifier: Apache-2.0
 * SPDX-FileCopyrightText: The Sluice authors */

/* Objects in: one pair of functions per kind, called by sl_engine_observe and sl_engine_forget.
 * Each compares what the object says with what is known and sends the difference. */
#ifndef SL_ENGINE_EVENT_IN_H
#define SL_ENGINE_EVENT_IN_H
#include "engine/state.h"

/* event_in_quota.c */
enum sl_code sl_event_from_flavor(struct sl_engine *g, const struct sl_json *object, bool gone,
                                  int64_t now_ms);
enum sl_code sl_event_from_cohort(struct sl_engine *g, const struct sl_json *object, int64_t now_ms,
                                  struct sl_error *e);
void sl_event_cohort_gone(struct sl_engine *g, const struct sl_json *object, int64_t now_ms);
/* Whoever is offered the flavor looks at it again. */
void sl_event_flavor_users(struct sl_engine *g, sl_flavor_id flavor, int64_t now_ms);
/* event_in_queue.c */
enum sl_code sl_event_from_cluster_queue(struct sl_engine *g, const struct sl_json *object,
                                         int64_t now_ms, struct sl_error *e);
void sl_event_cluster_queue_gone(struct sl_engine *g, const struct sl_json *object, int64_t now_ms);
enum sl_code sl_event_from_local_queue(struct sl_engine *g, const struct sl_json *object,
                                       int64_t now_ms, struct sl_error *e);
void sl_event_local_queue_gone(struct sl_engine *g, const struct sl_json *object, int64_t now_ms);
void sl_event_from_namespace(struct sl_engine *g, const struct sl_json *object, bool gone,
                             int64_t now_ms);
/* nodes.c, pods.c, trees_in.c, checks_in.c: what topology is made of. INVALID with a cause names
 * what cannot be used; the rest of the object counts. */
enum sl_code sl_event_from_node(struct sl_engine *g, const struct sl_json *object, bool gone,
                                int64_t now_ms, struct sl_error *e);
enum sl_code sl_event_from_pod(struct sl_engine *g, const struct sl_json *object, bool gone,
                               int64_t now_ms, struct sl_error *e);
enum sl_code sl_event_from_topology(struct sl_engine *g, const struct sl_json *object, bool gone,
                                    int64_t now_ms, struct sl_error *e);
void sl_event_from_check(struct sl_engine *g, const struct sl_json *object, bool gone,
                         int64_t now_ms);
/* name_take.c */
/* The one that a slice names (decisions/slices.h); SL_NO_ID = none, or one that is not there. */
sl_workload_id sl_slice_old(const struct sl_engine *g, sl_workload_id id);
/* event_in_workload.c */
enum sl_code sl_event_from_workload(struct sl_engine *g, const struct sl_json *object,
                                    int64_t now_ms, struct sl_error *e);
void sl_event_workload_gone(struct sl_engine *g, const struct sl_json *object, int64_t now_ms);
/* Its record is made again from `known`; what that says and `object` does not is written (again).
 * `words`: of its newest decisions. */
void sl_event_workload_again(struct sl_engine *g, sl_workload_id id, const struct sl_json *known,
                             const struct sl_json *object, const struct sl_words *words,
                             int64_t now_ms);
/* How long it may run; 0 = for ever. */
int64_t sl_event_limit_ms(const struct sl_json *workload);
/* revive.c */
void sl_event_drop_workload(struct sl_engine *g, sl_workload_id id, int64_t now_ms);
/* rebuild.c: bring a record that was just created to what its object says was decided before. */
void sl_rebuild_workload(struct sl_engine *g, sl_workload_id id, const struct sl_json *object,
                         int64_t now_ms);
/* Afterwards: decisions for what its object does not say yet. */
void sl_rebuild_amend(struct sl_engine *g, sl_workload_id id, const struct sl_json *object,
                      int64_t now_ms);
/* reclaim.c: pods of a holder that its object says to have ended for good give their quota back. */
void sl_reclaim_take(struct sl_engine *g, sl_workload_id id, const struct sl_json *object,
                     int64_t now_ms);

/* Shared: quotas and parent of a Cohort or ClusterQueue. */
enum sl_code sl_event_quotas(struct sl_engine *g, sl_qnode_id qnode, const struct sl_json *object,
                             int64_t now_ms, struct sl_error *e);
enum sl_code sl_event_parent(struct sl_engine *g, sl_qnode_id qnode, const char *cohort,
                             const char *field, int64_t now_ms, struct sl_error *e);
/* What its own quotas and rules have wrong, in the words of that cause: a cycle of cohorts is judged apart, since others
 * can mend it. */
void sl_event_trouble(struct sl_qnode_entry *n, enum sl_code code, const struct sl_error *e,
                      unsigned first_cause);
/* Judge a ClusterQueue's Active condition, and pass it on to policy and workloads when it
 * changed. */
void sl_event_judge(struct sl_engine *g, sl_qnode_id qnode, int64_t now_ms);
void sl_event_judge_all(struct sl_engine *g, int64_t now_ms);
enum sl_stop sl_event_read_stop(const struct sl_json *object);
#endif
