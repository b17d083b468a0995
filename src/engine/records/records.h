/* SPDX-License-Identifier: Apache-2.0
 * SPDX-FileCopyrightText: The Sluice authors */

/* The parts that the records of state.h are made of. */
#ifndef SL_ENGINE_RECORDS_H
#define SL_ENGINE_RECORDS_H
#include "api/json/json.h"
#include "engine/records/amounts.h"
#include "kernel/topology/topology.h"
#include "kernel/base/types.h"
#include "policy/flavors/flavors.h"
#include "policy/topology/trees.h"
#include "policy/verdicts/queue_state.h"

/* Usage of one flavor and resource: reservation is what is held, usage what of it is admitted. */
struct sl_usage {
    sl_flavor_id flavor;
    sl_resource_id resource;
    int64_t reservation;
    int64_t usage;
};
/* How long workloads ran: a mean in which older ones count less and less. */
struct sl_run_mean {
    uint32_t count;
    int64_t mean_ms;
};
struct sl_tally {
    struct sl_run_mean run_mean;
    uint32_t finished;
    uint32_t pending;
    uint32_t reserving; /* including the admitted */
    uint32_t admitted;
    uint32_t usage_count;
    struct sl_usage *usages; /* of no flavor: what waits asks for */
    uint32_t *unadmitted;    /* SL_UNADMITTED_COUNT; NULL = none ever was (conditions.h) */
};

/* Of a ClusterQueue: when workloads of it were in the way of others, or others in theirs. */
struct sl_contests {
    uint64_t cycle;         /* the last in which a preemption was skipped, and */
    uint32_t skips;         /* how many then */
    uint64_t recomputed[4]; /* by enum sl_recomputed */
};

struct sl_flavor_entry {
    struct sl_json *spec; /* NULL: there is no such ResourceFlavor */
};

struct sl_quota {
    sl_flavor_id flavor;
    sl_resource_id resource;
    int64_t nominal;
    int64_t lending;
    int64_t borrowing;
};
/* Group `group` of the quotas: flavors in order, each with the same resources. */
struct sl_group {
    uint32_t resource_count;
    uint32_t flavor_count;
    sl_resource_id *resources;
    sl_flavor_id *flavors;
};
struct sl_quotas {
    bool refused; /* the core has not all of it */
    uint32_t quota_count;
    uint32_t group_count;
    struct sl_quota *quotas;
    struct sl_group *groups;
};

/* An admission check that a ClusterQueue requires; without flavors, of all workloads. */
struct sl_check_rule {
    sl_check_id check;
    uint32_t flavor_count;
    sl_flavor_id *flavors;
};

/* The admission of a workload: the choices of its plan, how many pods each pod set was counted
 * with, how many of those have ended for good since and hold nothing any more, and the topology
 * assignment of each pod set. */
struct sl_admission {
    uint32_t pod_set_count;
    uint32_t choice_count;
    int64_t *counts;
    int64_t *reclaimed;
    char **topology; /* its topologyAssignment as JSON; NULL = none, or none yet */
    bool *delayed;   /* its topology waits, or has waited, for the second phase */
    bool unplaced;   /* restored, and the core does not know all places of its pods: restand.h */
    bool displaced;  /* its tree was changed: it has to be read again */
    struct sl_json *object; /* its Workload, where it is to be read again; else NULL */
    struct sl_choice *choices;
};

enum sl_standing {
    SL_STANDING_NONE,
    SL_STANDING_FINISHED,
    SL_STANDING_PENDING,
    SL_STANDING_RESERVING,
    SL_STANDING_ADMITTED
};

/* spec.podSets[].topologyRequest */
struct sl_topology_ask {
    uint32_t together; /* enum sl_together of policy/requests/topology_request.h */
    bool asked;
    sl_level_id level; /* SL_NO_ID = none */
    uint32_t layer_count;
    struct {
        sl_level_id level;
        uint32_t size;
    } layers[SL_LAYERS_MAX];
};

/* Of a workload that is a slice of its job, or that a slice names (engine/decisions/slices.h). */
struct sl_slice {
    char *of;                /* the key of the Workload whose place it takes; NULL = of none */
    sl_workload_id next;     /* that takes the same place */
    sl_workload_id replaces; /* whose place it has taken, until that is written */
    sl_workload_id by;       /* that has taken its place */
    uint32_t replaces_generation, by_generation;
};
struct sl_slices {
    struct sl_map *first; /* key of a Workload -> which takes its place; NULL = there is none */
    uint32_t count;       /* in the running cycle: */
    sl_workload_id *ids;  /* slices that reserved, and those that slices name */
};

struct sl_pod_set {
    char *name;
    uint32_t constraint; /* see constraints.h */
    uint32_t refined;    /* the same with what its checks have added; 0 = they added nothing */
    bool placed;         /* its requests speak of topology */
    bool elastic;        /* of an elastic job */
    struct sl_topology_ask *ask; /* NULL = it asks for nothing */
    struct sl_amounts amounts;   /* of one pod, by its spec, where its quota is counted otherwise */
};
#endif
