/* SPDX-License-Identifier: Apache-2.0
 * SPDX-FileCopyrightText: The Sluice authors */

/* Figures that policy does not keep are made again from what it does: how much was asked for is what is too much and
 * what there could be at most. */
#include "engine/conditions/clauses.h"
#include "api/objects/quantity.h"
#include "base/buf.h"
#include "base/check.h"
#include "base/utf8.h"
#include "engine/records/constraint_table.h"
#include "engine/records/names.h"
#include "engine/records/pod.h"
#include "engine/topology/constraints.h"
#include "engine/state.h"
#include "kernel/commit/placement.h"
#include "kernel/ledger/ledger.h"
#include "policy/cycle/cycle.h"
#include "policy/requests/requests.h"
#include <stdlib.h>
#include <string.h>

#define AMOUNT_SIZE 64

static const char *name_of(const struct sl_engine *g, enum sl_intern_class c, uint32_t id)
{
    const char *name = sl_intern_name(g->names, c, id);
    return name == NULL ? "?" : name;
}

/* --- quota ------------------------------------------------------------------------------------ */

static int64_t asked_by(uint32_t record, sl_resource_id resource)
{
    for (uint32_t r = sl_requests_first(record); r != SL_NO_ID; r = sl_requests_next(r)) {
        if (sl_requests_resource(r) == resource) {
            return sl_requests_amount(r);
        }
    }
    return 0;
}

/* By the pod set and those that must get the same flavors. */
static int64_t asked_at_once(sl_workload_id id, const struct sl_detail *d)
{
    uint32_t own = sl_constraints_record(id, d->pod_set);
    uint32_t group = own == SL_NO_ID ? SL_NO_ID : sl_requests_group(own);
    int64_t sum = 0;
    for (uint32_t r = sl_requests_first_pod_set(id); r != SL_NO_ID;
         r = sl_requests_next_pod_set(r)) {
        if (r == own || (group != SL_NO_ID && sl_requests_group(r) == group)) {
            sum += asked_by(r, d->resource);
        }
    }
    return sum;
}

static void add_max_quota(const struct sl_engine *g, const struct sl_detail *d,
                          char out[static SL_CLAUSE_SIZE])
{
    const char *resource = name_of(g, SL_INTERN_RESOURCE, d->resource);
    char before[AMOUNT_SIZE], now[AMOUNT_SIZE], most[AMOUNT_SIZE];
    int64_t capacity = sl_ledger_potential(
        sl_ledger_find_cell(sl_assignment.cluster_queue, d->flavor, d->resource));
    int64_t all = capacity + d->amount;
    int64_t asked = asked_at_once(sl_assignment.workload, d);
    asked = asked > all ? all : asked;
    sl_quantity_print_amount(all - asked, resource, before);
    sl_quantity_print_amount(asked, resource, now);
    sl_quantity_print_amount(capacity, resource, most);
    sl_utf8_print(out, SL_CLAUSE_SIZE,
                  "insufficient quota for %s in flavor %s, previously considered podsets requests "
                  "(%s) + current podset request (%s) > maximum capacity (%s)",
                  resource, name_of(g, SL_INTERN_FLAVOR, d->flavor), before, now, most);
}

/* --- the flavor itself ------------------------------------------------------------------------ */

/* Of the pod set, or of one that must get the same flavors. */
static const struct sl_json *taint_of(const struct sl_engine *g, const struct sl_detail *d)
{
    const struct sl_workload_entry *e = &g->workloads[sl_assignment.workload];
    const struct sl_json *spec = d->flavor < g->flavor_cap ? g->flavors[d->flavor].spec : NULL;
    const struct sl_json *taint = NULL;
    for (uint32_t i = 0; i < e->pod_set_count && taint == NULL; i++) {
        const struct sl_json *pods =
            sl_constraints_value(g, e->pod_sets[(d->pod_set + i) % e->pod_set_count].constraint);
        taint =
            sl_pod_untolerated(sl_json_get(spec, "nodeTaints"), sl_json_get(pods, "tolerations"),
                               sl_json_get(spec, "tolerations"));
    }
    return taint;
}

static void add_taint(const struct sl_engine *g, const struct sl_detail *d,
                      char out[static SL_CLAUSE_SIZE])
{
    const struct sl_json *taint = taint_of(g, d);
    sl_utf8_print(out, SL_CLAUSE_SIZE, "untolerated taint {%s %s %s <nil>} in flavor %s",
                  sl_json_path_text(taint, "key", ""), sl_json_path_text(taint, "value", ""),
                  sl_json_path_text(taint, "effect", ""), name_of(g, SL_INTERN_FLAVOR, d->flavor));
}

/* The flavors that the pods of that pod set have now. */
static void add_slice(const struct sl_engine *g, const struct sl_detail *d,
                      char out[static SL_CLAUSE_SIZE])
{
    sl_workload_id old = sl_assignment.replaces;
    const struct sl_admission *a = old < g->workload_cap ? g->workloads[old].admission : NULL;
    struct sl_buf has = {0};
    for (uint32_t i = 0; a != NULL && i < a->choice_count; i++) {
        const char *flavor = name_of(g, SL_INTERN_FLAVOR, a->choices[i].flavor);
        if (a->choices[i].pod_set == d->pod_set &&
            (has.len == 0 || strcmp(has.data, flavor) != 0)) {
            sl_buf_print(&has, "%s%s", has.len == 0 ? "" : ", ", flavor);
        }
    }
    sl_utf8_print(out, SL_CLAUSE_SIZE,
                  "could not assign %s flavor since the original workload is assigned: %s",
                  name_of(g, SL_INTERN_FLAVOR, d->flavor), has.len == 0 ? "" : has.data);
    sl_buf_fini(&has);
}

void sl_clause_of_detail(const struct sl_engine *g, const struct sl_detail *d,
                         char out[static SL_CLAUSE_SIZE])
{
    SL_PRE(g != NULL && d != NULL);
    const char *flavor = name_of(g, SL_INTERN_FLAVOR, d->flavor);
    const char *resource = name_of(g, SL_INTERN_RESOURCE, d->resource);
    char amount[AMOUNT_SIZE];
    out[0] = '\0';
    switch (d->miss) {
    case SL_MISS_NOT_OFFERED:
        sl_utf8_print(out, SL_CLAUSE_SIZE, "resource %s unavailable in ClusterQueue", resource);
        break;
    case SL_MISS_TAINT:
        add_taint(g, d, out);
        break;
    case SL_MISS_AFFINITY:
        sl_utf8_print(out, SL_CLAUSE_SIZE, "flavor %s doesn't match node affinity", flavor);
        break;
    case SL_MISS_NO_FLAVOR:
        sl_utf8_print(out, SL_CLAUSE_SIZE, "flavor %s not found", flavor);
        break;
    case SL_MISS_MAX_QUOTA:
        add_max_quota(g, d, out);
        break;
    case SL_MISS_UNUSED_QUOTA:
        sl_quantity_print_amount(d->amount, resource, amount);
        sl_utf8_print(out, SL_CLAUSE_SIZE,
                      "insufficient unused quota for %s in flavor %s, %s more needed", resource,
                      flavor, amount);
        break;
    case SL_MISS_NO_TOPOLOGY:
        sl_utf8_print(out, SL_CLAUSE_SIZE, "Flavor \"%s\" does not support TopologyAwareScheduling",
                      flavor);
        break;
    case SL_MISS_ONLY_TOPOLOGY:
        sl_utf8_print(out, SL_CLAUSE_SIZE, "Flavor \"%s\" supports only TopologyAwareScheduling",
                      flavor);
        break;
    case SL_MISS_NO_LEVEL:
        sl_utf8_print(out, SL_CLAUSE_SIZE, "Flavor \"%s\" does not contain the requested level",
                      flavor);
        break;
    case SL_MISS_UNNAMED:
        sl_utf8_print(
            out, SL_CLAUSE_SIZE,
            "skipping flavor %s due to WorkloadAllowedResourceFlavorAnnotation annotation", flavor);
        break;
    case SL_MISS_NO_TREE:
        sl_utf8_print(out, SL_CLAUSE_SIZE, "Flavor \"%s\" information missing in TAS cache",
                      flavor);
        break;
    case SL_MISS_SLICE:
        add_slice(g, d, out);
        break;
    }
}
