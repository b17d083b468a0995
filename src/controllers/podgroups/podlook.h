/* SPDX-License-Identifier: Apache-2.0
 * SPDX-FileCopyrightText: The Sluice authors */

/* One look at a pod, or at the pods of a group, and their Workload. podgroups.c decides when to look; podlook.c what to
 * do; podmatch.c which pods of a group are kept; podclass.c with which priority. */
#ifndef SL_CONTROLLERS_PODLOOK_H
#define SL_CONTROLLERS_PODLOOK_H
#include "controllers/podgroups/podgroups.h"

struct sl_pod_look {
    struct sl_podgroups *p;
    struct sl_reconciler *r;
    const char *key;
    const char *group;    /* its name; NULL: a pod without a group */
    const char *prebuilt; /* their prebuilt Workload; NULL: none */
    struct sl_json **pods;
    size_t count;       /* at least one */
    struct sl_json *wl; /* NULL when there is none */
    int64_t absent;     /* pods that have no replacement yet */
    int64_t now_ms;
};
void sl_pod_look_act(struct sl_pod_look *l);

/* --- podmatch.c --------------------------------------------------------------------------------------- */
/* Before there is a Workload: pods that can run no more are let go, and those beyond the group's count deleted. False:
 * the group cannot get a Workload now. */
bool sl_pod_look_gather(struct sl_pod_look *l);
/* The list becomes the pods that the Workload is for: beyond its counts they are deleted, and those that were replaced
 * let go. False: it is not this group's Workload any more. */
bool sl_pod_look_match(struct sl_pod_look *l);

/* --- podtell.c ---------------------------------------------------------------------------------------- */
/* Is it a group that serves, and so never ends? */
bool sl_pod_look_serves(const struct sl_pod_look *l);
bool sl_pod_look_owned_by(const struct sl_json *wl, const struct sl_json *pod);
/* Let every pod own the Workload, and none control it; how many owners are new. */
size_t sl_pod_look_own_all(const struct sl_pod_look *l, struct sl_json *wl);
/* Each true when something had to be written. */
bool sl_pod_look_tell_spec(struct sl_pod_look *l); /* owners, queue and admission gates */
bool sl_pod_look_tell_pods(
    struct sl_pod_look *l); /* reclaimable pods, and whether some are missing */
void sl_pod_look_tell_ready(struct sl_pod_look *l);

/* --- podclass.c --------------------------------------------------------------------------------------- */
/* The priority of the first pod's class. False when it does not exist (yet): retried a little
 * later. */
bool sl_pod_look_priority(struct sl_pod_look *l, struct sl_priority *out);
/* The Workload follows its pods to another class; true when that had to be written. */
bool sl_pod_look_reprioritize(struct sl_pod_look *l);

/* --- for podmatch.c ----------------------------------------------------------------------------------- */
void sl_pod_look_let_go(struct sl_pod_look *l, struct sl_json *pod); /* its finalizer goes */
void sl_pod_look_delete(struct sl_pod_look *l, struct sl_json *pod, const char *reason,
                        const char *message);
void sl_pod_look_report(struct sl_pod_look *l, const char *reason, const char *message);
#endif
