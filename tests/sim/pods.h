/* SPDX-License-Identifier: Apache-2.0
 * SPDX-FileCopyrightText: The Sluice authors */

/* Plain Pods and groups of them, in the worlds that have any. What a group is follows from a seed that its pods carry,
 * so that whoever replaces one makes it as it was. */
#ifndef SL_TESTS_SIM_PODS_H
#define SL_TESTS_SIM_PODS_H
#include "sim.h"

#define SIM_POD_SEED "sim.sluice.dev/seed" /* of the group, or of the pod that stands alone */
#define SIM_POD_ROLE "sim.sluice.dev/role" /* 0 or 1: which of its group's */
#define SIM_ROLES 2u

/* Nodes beside those of the topology, where pods go that ask for no place; those that are missing. */
void sim_pods_nodes(struct sim *s);
/* What users of Pods do in place of users of Jobs; false: nothing, it is the others' turn. */
bool sim_pods_act(struct sim *s, enum sim_event_kind kind, struct sim_chance *c);

/* A group, as it is in the store. */
struct sim_group {
    const char *ns, *name, *queue; /* of its first pod's */
    uint64_t seed;
    unsigned want[SIM_ROLES], have[SIM_ROLES]; /* by role: pods that have not failed */
    bool serves;                               /* it never ends by itself */
};
unsigned sim_pod_role(const struct sl_json *pod);
bool sim_group_has(const struct sim_group *g, const struct sl_json *pod);
/* That of the pod, which is of a group. */
void sim_group_read(const struct sim *s, const struct sl_json *pods, const struct sl_json *pod,
                    struct sim_group *out);
/* Make the missing ones; with `soundly` they will not fail. True when some were. */
bool sim_group_mend(struct sim *s, const struct sim_group *g, bool soundly);
void sim_group_delete(struct sim *s, const struct sl_json *pods, const struct sim_group *g,
                      struct sim_chance *c, uint32_t percent);
void sim_group_give_up(struct sim *s, const struct sl_json *pods, const struct sim_group *g);

/* A Workload changed, or is gone: whose pods come from now on come late, if it had finished. */
void sim_pods_told(struct sim *s, const struct sl_json *w);
/* For rest: users mend their groups or give them up; true when they did something. */
bool sim_pods_calm(struct sim *s);
/* At rest: no pod runs, is on its way out, or has no Workload to wait for. */
void sim_pods_check(struct sim *s);
#endif
