/* SPDX-License-Identifier: Apache-2.0
 * SPDX-FileCopyrightText: The Sluice authors */

/* What sl_assignment says is in the way of a workload: quota that is short, with the limit behind it and what holds it,
 * and flavors that will not do. As values for the answer and as sentences. */
#ifndef SL_ENGINE_WHY_SHORTAGE_H
#define SL_ENGINE_WHY_SHORTAGE_H
#include "engine/state.h"
#include "engine/why/holding.h"
#include "engine/why/limit.h"
#include "policy/flavors/flavors.h"

#define SL_WHY_SHORTAGES_MAX 8u

struct sl_why_shortage {
    const struct sl_detail *detail;
    sl_cell_id cell;   /* of the ClusterQueue; SL_NO_ID: the flavor has no quota of the resource */
    bool never;        /* more is asked for than there could ever be */
    int64_t requested; /* of the flavor by all pod sets together */
    int64_t available; /* now, or, of `never`, at the most */
    struct sl_why_limit limit;
};
/* Distinct by flavor and resource; those beyond SL_WHY_SHORTAGES_MAX are left out. Returns how many. */
uint32_t sl_why_shortages(const struct sl_engine *g, sl_qnode_id queue,
                          struct sl_why_shortage out[static SL_WHY_SHORTAGES_MAX]);
/* "ClusterQueue research has a nominal quota of 20 cpu in flavor default, and uses 20: 4 more needed" */
void sl_why_say_shortage(const struct sl_engine *g, const struct sl_why_shortage *s,
                         struct sl_buf *out);
/* "4 cpu" */
void sl_why_print_amount(const struct sl_engine *g, int64_t amount, sl_resource_id resource,
                         struct sl_buf *out);
/* {podSets, flavor, resource, requested, short, available, never, limit, of, quota, inUse, message} */
struct sl_json *sl_why_shortage_new(const struct sl_engine *g, const struct sl_why_shortage *s);
/* {kind, name} of a ClusterQueue or Cohort */
struct sl_json *sl_why_qnode_new(const struct sl_engine *g, sl_qnode_id qnode);
void sl_why_set_amount(const struct sl_engine *g, struct sl_json *map, const char *key,
                       int64_t amount, sl_resource_id resource);
/* {podSet, flavor, message} of each flavor that will not do, whatever its quota is. */
struct sl_json *sl_why_mismatches_new(const struct sl_engine *g);
/* Its name; "?" when it is not known. */
const char *sl_why_flavor(const struct sl_engine *g, sl_flavor_id flavor);
const char *sl_why_resource(const struct sl_engine *g, sl_resource_id resource);
#endif
