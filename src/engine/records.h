/* SPDX-License-Identifier: Apache-2.0
 * SPDX-FileCopyrightText: The Sluice authors */

/* The parts that the records of state.h are made of. */
#ifndef SL_ENGINE_RECORDS_H
#define SL_ENGINE_RECORDS_H
#include "api/json.h"
#include "kernel/types.h"
#include "policy/flavors.h"

enum sl_stop { SL_STOP_NONE, SL_STOP_HOLD, SL_STOP_DRAIN };

/* Usage of one flavor and resource: reservation is what is held, usage what of it is admitted. */
struct sl_usage {
    sl_flavor_id flavor;
    sl_resource_id resource;
    int64_t reservation;
    int64_t usage;
};
struct sl_tally {
    uint32_t pending;
    uint32_t reserving; /* including the admitted */
    uint32_t admitted;
    uint32_t usage_count;
    struct sl_usage *usages;
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
    uint32_t quota_count;
    uint32_t group_count;
    struct sl_quota *quotas;
    struct sl_group *groups;
};

/* An admission check that a ClusterQueue asks for; without flavors, of everybody. */
struct sl_check_rule {
    sl_check_id check;
    uint32_t flavor_count;
    sl_flavor_id *flavors;
};

/* What a holder was given: the choices of its plan, how many pods each pod set was counted with,
 * and how many of those have ended for good since, so that they hold nothing any more. */
struct sl_grant {
    uint32_t pod_set_count;
    uint32_t choice_count;
    int64_t *counts;
    int64_t *reclaimed;
    struct sl_choice *choices;
};

enum sl_standing {
    SL_STANDING_NONE,
    SL_STANDING_PENDING,
    SL_STANDING_RESERVING,
    SL_STANDING_ADMITTED
};

struct sl_pod_set {
    char *name;
    uint32_t constraint; /* see constraints.h */
};
#endif
