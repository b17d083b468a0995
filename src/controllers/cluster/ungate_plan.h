/* SPDX-License-Identifier: Apache-2.0
 * SPDX-FileCopyrightText: The Sluice authors */

/* Which gated pod goes to which domain of its pod set's topology assignment: labels and node selectors as the numbers
 * that policy decides by (policy/verdicts/pod_places.h). Pure functions. */
#ifndef SL_CONTROLLERS_UNGATE_PLAN_H
#define SL_CONTROLLERS_UNGATE_PLAN_H
#include "api/objects/topology_assignment.h"
#include "controllers/cluster/podbook.h"

/* One domain of an assignment. */
struct sl_assignment_row {
    char *values[SL_ASSIGNMENT_LEVELS_MAX];
    uint32_t count;
};
struct sl_assignment_list {
    uint32_t level_count;
    const char *levels[SL_ASSIGNMENT_LEVELS_MAX]; /* lent from the assignment */
    struct sl_assignment_row *rows;
    uint32_t row_count;
    uint32_t pod_count; /* of all rows */
};
/* Decode; false when it is not well-formed, or has more pods than any cluster. End with fini either way. */
bool sl_assignment_list_read(struct sl_assignment_list *list, const struct sl_json *assignment);
void sl_assignment_list_fini(struct sl_assignment_list *list);
/* The node that a row names; NULL when the lowest level is not that of nodes. */
const char *sl_assignment_node(const struct sl_assignment_list *list, uint32_t row);

struct sl_ungate_question {
    const struct sl_assignment_list *assignments;
    const struct sl_json *request; /* topologyRequest of the pod set; may be NULL */
    int64_t pod_count;             /* of the pod set, as admitted */
    int64_t rank_first;            /* the index of its first pod: behind the leaders of its group */
    const struct sl_pod_row **pods; /* those of the pod set that have not ended */
    size_t pods_len;
};
/* For each pod the row that it is to be released to, or SL_UNGATE_NONE. */
#define SL_UNGATE_NONE UINT32_MAX
void sl_ungate_plan(const struct sl_ungate_question *q, uint32_t *rows);
#endif
