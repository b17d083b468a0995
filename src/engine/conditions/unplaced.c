/* SPDX-License-Identifier: Apache-2.0
 * SPDX-FileCopyrightText: The Sluice authors */

/* The figures are policy's. */
#include "engine/conditions/unplaced.h"
#include "base/check.h"
#include "base/utf8.h"
#include "engine/records/names.h"
#include "engine/topology/constraints.h"
#include "engine/state.h"
#include "policy/requests/requests.h"
#include "policy/requests/topology_request.h"
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define CAUSES_MAX (3 + SL_TAINTS_MAX + SL_MEASURES_MAX)
#define CAUSE_SIZE 160
#define FLAVORS_MAX 16

static void add(char *out, const char *format, ...) __attribute__((format(printf, 2, 3)));

static void add(char *out, const char *format, ...)
{
    size_t len = strlen(out);
    va_list args;
    va_start(args, format);
    if (SL_CLAUSE_SIZE - len >= 4) {
        sl_utf8_print_args(out + len, SL_CLAUSE_SIZE - len, format, args);
    }
    va_end(args);
}

/* --- which nodes are left out ----------------------------------------------------------------- */

static char causes[CAUSES_MAX][CAUSE_SIZE];
static uint32_t cause_count;

static void add_cause(uint32_t count, const char *what, const char *name)
{
    if (count > 0 && cause_count < CAUSES_MAX) {
        const char *quote = name[0] == '\0' ? "" : "\"";
        sl_utf8_print(causes[cause_count++], CAUSE_SIZE, "%s%s%s%s: %u", what, quote, name, quote,
                      count);
    }
}

static int by_text(const void *a, const void *b)
{
    return strcmp(a, b);
}

static void add_nodes_left_out(const struct sl_engine *g, const struct sl_placement_failure *f,
                               char *out)
{
    cause_count = 0;
    add_cause(f->by_selector, "nodeSelector", "");
    add_cause(f->by_affinity, "affinity", "");
    add_cause(f->by_domain, "topologyDomain", "");
    for (uint32_t i = 0; i < SL_TAINTS_MAX; i++) {
        add_cause(f->by_taint[i], "taint ", f->by_taint[i] > 0 ? sl_names_taint(g, i) : "");
    }
    for (uint32_t i = 0; i < SL_MEASURES_MAX; i++) {
        add_cause(f->by_measure[i], "resource ",
                  f->by_measure[i] > 0 ? sl_names_measure(g, (sl_measure_id)i) : "");
    }
    if (f->total_sites == 0 || cause_count == 0) {
        return;
    }
    qsort(causes, cause_count, CAUSE_SIZE, by_text);
    add(out, ". Total nodes: %u; excluded: ", f->total_sites);
    for (uint32_t i = 0; i < cause_count; i++) {
        add(out, "%s%s", i == 0 ? "" : ", ", causes[i]);
    }
}

/* --- what does not fit ------------------------------------------------------------------------ */

static void add_fit(const struct sl_engine *g, const struct sl_topology_request *asked, char *out)
{
    const struct sl_placement_failure *f = &sl_assignment.topology_failure;
    const char *topology = sl_names_topology(g, f->tree);
    const char *unit = f->slices ? "slice" : "pod";
    if (f->level_count > 0) {
        add(out, "topology \"%s\" doesn't allow to fit", topology);
    } else if (f->fit == 0) {
        add(out, "topology \"%s\" doesn't allow to fit any of %u %s(s)", topology, f->of, unit);
    } else {
        add(out, "topology \"%s\" allows to fit only %u out of %u %s(s)", topology, f->fit, f->of,
            unit);
    }
    for (uint32_t i = 0; i < f->level_count; i++) {
        const struct sl_placement_level *l = &f->levels[i];
        add(out, "; %u/%u slice(s) fit on level %s", l->fit, l->of,
            sl_names_level(g, f->tree, l->depth));
    }
    add_nodes_left_out(g, f, out);
    if (asked->together == SL_TOGETHER_REQUIRED) {
        add(out, "; all of them have to be within one %s", sl_names_level_key(g, asked->level));
    }
}

/* --- what is asked for in vain ---------------------------------------------------------------- */

static const char *key_of(const struct sl_engine *g, sl_level_id level)
{
    return level == SL_NO_ID ? "that the pods ask for" : sl_names_level_key(g, level);
}

/* The first level of its slices that the topology does not have. */
static const char *missing_slice_level(const struct sl_engine *g, sl_tree_id tree,
                                       const struct sl_topology_request *asked)
{
    for (uint32_t i = 0; i < asked->layer_count; i++) {
        const char *key = key_of(g, asked->layers[i].level);
        bool found = false;
        for (uint32_t d = 0; d < sl_names_level_count(g, tree) && !found; d++) {
            found = strcmp(sl_names_level(g, tree, d), key) == 0;
        }
        if (!found) {
            return key;
        }
    }
    return "that the pods ask for";
}

static void add_slice_size(const struct sl_topology_request *asked, char *out)
{
    for (uint32_t i = 1; i < asked->layer_count && asked->layers[0].size > 0; i++) {
        uint32_t outer = asked->layers[i - 1].size;
        uint32_t size = asked->layers[i].size;
        if (size == 0 || outer % size != 0) {
            add(out, "additional slice layer size %u must evenly divide parent layer size %u", size,
                outer);
            return;
        }
    }
    add(out, asked->layer_count == 0 || asked->layers[0].size == 0
                 ? "slice topology requested, but slice size not provided"
                 : "its slices have sizes that do not divide the number of its pods");
}

static int by_id(const void *a, const void *b)
{
    return strcmp(*(const char *const *)a, *(const char *const *)b);
}

/* A flavor with a topology was not among those that it would get, or there were several. */
static void add_flavors(const struct sl_engine *g, uint32_t pod_set, char *out)
{
    const char *names[FLAVORS_MAX];
    uint32_t count = 0;
    for (uint32_t i = 0; i < sl_assignment.choice_count && count < FLAVORS_MAX; i++) {
        const struct sl_choice *c = &sl_assignment.choices[i];
        const struct sl_json *spec = c->flavor < g->flavor_cap ? g->flavors[c->flavor].spec : NULL;
        bool known = c->pod_set != pod_set || !sl_json_has(spec, "topologyName");
        for (uint32_t k = 0; k < count && !known; k++) {
            known = strcmp(names[k], sl_intern_name(g->names, SL_INTERN_FLAVOR, c->flavor)) == 0;
        }
        if (!known) {
            names[count++] = sl_intern_name(g->names, SL_INTERN_FLAVOR, c->flavor);
        }
    }
    if (count < 2) {
        add(out, "no TAS flavor assigned");
        return;
    }
    qsort(names, count, sizeof names[0], by_id);
    add(out, "more than one TAS flavor assigned: ");
    for (uint32_t i = 0; i < count; i++) {
        add(out, "%s%s", i == 0 ? "" : ", ", names[i]);
    }
}

bool sl_clause_of_placement(const struct sl_engine *g, sl_workload_id id,
                            char out[static SL_CLAUSE_SIZE])
{
    SL_PRE(g != NULL);
    const struct sl_placement_failure *f = &sl_assignment.topology_failure;
    struct sl_topology_request asked =
        sl_topology_request_of(sl_constraints_record(id, f->pod_set));
    sl_level_id slices = asked.layer_count > 0 ? asked.layers[0].level : SL_NO_ID;
    out[0] = '\0';
    switch (f->miss) {
    case SL_PLACEMENT_OK:
        add(out, "other workloads were assigned there in this cycle; it will be tried again");
        break;
    case SL_PLACEMENT_NO_FIT:
        add_fit(g, &asked, out);
        break;
    case SL_PLACEMENT_NO_LEVEL:
        add(out, "no requested topology level: %s", key_of(g, asked.level));
        break;
    case SL_PLACEMENT_NO_SLICE_LEVEL:
        add(out, "no requested topology level for slices: %s",
            missing_slice_level(g, f->tree, &asked));
        break;
    case SL_PLACEMENT_SLICE_ABOVE:
        add(out, "podset slice topology %s is above the podset topology %s", key_of(g, slices),
            key_of(g, asked.level));
        break;
    case SL_PLACEMENT_SLICE_SIZE:
        add_slice_size(&asked, out);
        break;
    case SL_PLACEMENT_STALE:
        add(out,
            "Cannot replace the node, because the existing topologyAssignment is invalid, as it "
            "contains the stale domain %s",
            sl_names_value(g, f->domain));
        break;
    case SL_PLACEMENT_NO_TREE:
        add_flavors(g, f->pod_set, out);
        return true;
    case SL_PLACEMENT_ELASTIC:
        add(out, "%s topology is not supported with ElasticJobsViaWorkloadSlices",
            asked.together == SL_TOGETHER_REQUIRED ? "required" : "preferred");
        return true;
    case SL_PLACEMENT_NO_DOMAINS:
        add(out, "no topology domains at level: %s",
            asked.level == SL_NO_ID ? sl_names_level(g, f->tree, 0)
                                    : sl_names_level_key(g, asked.level));
        break;
    case SL_PLACEMENT_FULL:
        add(out, "it would use more domains than the daemon can hold");
        break;
    }
    return false;
}
