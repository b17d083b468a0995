/* SPDX-License-Identifier: Apache-2.0
 * SPDX-FileCopyrightText: The Sluice authors */

/* What the checks of one object share: where they are, and where complaints go. Inside src/api
 * only. */
#ifndef SL_API_VALIDATE_H
#define SL_API_VALIDATE_H
#include "api/objects/schema.h"

struct sl_check {
    struct sl_error *e;
    const struct sl_json *object;
    const struct sl_json *old; /* NULL on create */
    char path[512];
    size_t len;
};

/* Go down one or more steps of the path; returns the length to give to sl_check_up. */
size_t sl_check_down(struct sl_check *c, const char *format, ...)
    __attribute__((format(printf, 2, 3)));
void sl_check_up(struct sl_check *c, size_t len);
/* OK, or INVALID with a text that sums the complaints up. */
enum sl_code sl_check_end(struct sl_check *c, enum sl_kind kind);

/* Complaints about the place where the check is. */
void sl_check_required(struct sl_check *c, const char *why); /* why may be "" */
void sl_check_invalid(struct sl_check *c, const struct sl_json *value, const char *format, ...)
    __attribute__((format(printf, 3, 4)));
void sl_check_forbidden(struct sl_check *c, const char *why);
void sl_check_duplicate(struct sl_check *c, const char *value);
void sl_check_not_supported(struct sl_check *c, const char *values, const char *text); /* "A|B|C" */
void sl_check_not_found(struct sl_check *c, const struct sl_json *value);
void sl_check_immutable(struct sl_check *c, const struct sl_json *value, const struct sl_json *old);

/* The rules of a kind that its table cannot say. */
void sl_check_cluster_queue(struct sl_check *c);
void sl_check_cohort(struct sl_check *c);
void sl_check_resource_flavor(struct sl_check *c);
void sl_check_workload(struct sl_check *c);
void sl_check_job(struct sl_check *c);
void sl_check_topology(struct sl_check *c);
void sl_check_admission_check(struct sl_check *c);
void sl_check_node(struct sl_check *c);
void sl_check_pod(struct sl_check *c);
void sl_check_config_map(struct sl_check *c);
void sl_check_secret(struct sl_check *c);
/* Which conditions on labels there are, at the place where the check is. */
void sl_check_selector(struct sl_check *c, const struct sl_json *selector);
/* Quotas and flavors of a ClusterQueue that concurrent admission would need. */
void sl_check_concurrent_admission(struct sl_check *c);
/* What was decided about a Workload, and what may not change. */
void sl_check_workload_status(struct sl_check *c, const struct sl_json *pod_sets);
/* What is asked of jobs of a custom kind, with the rule that sl_object_rule_set has given it. */
void sl_check_custom(struct sl_check *c, enum sl_kind kind);
void sl_check_rule(struct sl_check *c, enum sl_kind kind); /* that rule alone, where there is one */
/* kueue.x-k8s.io/admission-gated-by: named at creation, and only taken away afterwards. */
void sl_check_gates(struct sl_check *c);
/* What a kind of jobs may ask for, and of some the fields that decide whether it can be counted. */
void sl_check_job_kind(struct sl_check *c, const struct sl_kind_info *kind);
bool sl_job_kind_suspends(
    const struct sl_kind_info *kind); /* by a flag of its own, as Kueue knows */
/* Labels and annotations about queues: of jobs of any kind, of batch/v1 Jobs besides, of a custom kind, of plain Pods. */
void sl_check_job_marks(struct sl_check *c);
void sl_check_class_mark(struct sl_check *c, bool runs);
void sl_check_batch_job_marks(struct sl_check *c);
void sl_check_custom_marks(struct sl_check *c, const struct sl_kind_info *kind);
void sl_check_pod_marks(struct sl_check *c);
/* Tolerations at the place where the check is. */
void sl_check_tolerations(struct sl_check *c, const struct sl_json *tolerations);
/* No two taints at `path` with the same key and effect. */
void sl_check_unique_taints(struct sl_check *c, const char *path, const struct sl_json *taints);
#endif
