/* SPDX-License-Identifier: Apache-2.0
 * SPDX-FileCopyrightText: The Sluice authors */

/* A decision on its way into its Workload, and what people are told of it. Shared by the files that carry decisions
 * out only. */
#ifndef SL_CONTROLLERS_CONTROL_CARRIED_H
#define SL_CONTROLLERS_CONTROL_CARRIED_H
#include "controllers/control/workloads.h"
#include "controllers/control/write_steps.h"

struct sl_carried {
    struct sl_workloads *c;
    struct sl_decision d; /* ns, name, uid and reason point to the copies below */
    char *ns, *name, *uid, *reason, *by_ns, *by_name;
    struct sl_json *preemptor;     /* as much of it as an Event needs; NULL = none */
    struct sl_carried *next;       /* of the same Workload, to be carried out afterwards */
    struct sl_carried *next_aside; /* of those that are set aside */
    enum sl_write_state state;
    unsigned tries;
    bool answered;    /* the engine knows how it ended, and */
    bool shown;       /* wants to be shown the Workload */
    bool recovers;    /* its pods had been ready once when the decision was written */
    int64_t ready_ms; /* EVICT: since when its pods had been ready; INT64_MIN: they were not */
    char *held_at;    /* RELEASE: the ClusterQueue whose quota it held */
    bool first;       /* its object did not say yet that it waits, or that it has quota */
    bool gated;       /* its object said that gates hold it back */
};
struct sl_carried *sl_carried_new(struct sl_workloads *c, const struct sl_decision *d);
void sl_carried_free(void *carried);

/* Does it say that admission gates hold it back? Of preemption gates it is said with the same reason. */
bool sl_carried_gated(const struct sl_json *wl);
/* The Workload before it is written: what figures want to know of it. */
void sl_carried_look(struct sl_carried *k, const struct sl_json *live);
/* `wl` is the Workload as it is now; NULL: it is gone. */
void sl_carried_log(const struct sl_carried *k, const struct sl_json *wl, const char *outcome);
/* It was written: an Event where that is worth one, and the figures. */
void sl_carried_tell(const struct sl_carried *k, const struct sl_json *wl);
/* It was so already. A write says all that is known of a workload, so it may have carried this decision out along with
 * the one before: then it is told all the same. */
void sl_carried_tell_said(const struct sl_carried *k, const struct sl_json *live);
/* It is to be deleted, with its Job or without. */
void sl_carried_tell_deleted(const struct sl_carried *k, const struct sl_json *live,
                             bool whole_job);
/* It could not be written. What is refused again and again is no news. */
void sl_carried_complain(const struct sl_carried *k, const struct sl_error *e);
#endif
