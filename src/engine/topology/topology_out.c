/* SPDX-License-Identifier: Apache-2.0
 * SPDX-FileCopyrightText: The Sluice authors */

/* Assignments of the core, domains by number, become assignments, domains by name. */
#include "engine/topology/topology_out.h"
#include "api/objects/topology_assignment.h"
#include "base/check.h"
#include "base/mem.h"
#include "engine/records/names.h"
#include "kernel/topology/topology.h"
#include <stdio.h>
#include <string.h>

/* --- an assignment in words ------------------------------------------------------------------- */

struct words {
    uint32_t level_count;
    const char *levels[SL_ASSIGNMENT_LEVELS_MAX];
    uint32_t first_depth; /* of the first of these levels */
    uint32_t row_count;
    const char **values;
    uint32_t *counts;
};

/* Where a tree ends at nodes a node's name says it all. */
static void name_levels(const struct sl_engine *g, sl_tree_id tree, struct words *w)
{
    uint32_t depth = sl_names_level_count(g, tree);
    bool of_nodes =
        depth > 0 && strcmp(sl_names_level(g, tree, depth - 1), SL_ASSIGNMENT_HOSTNAME) == 0;
    w->first_depth = of_nodes ? depth - 1 : 0;
    w->level_count = depth - w->first_depth;
    for (uint32_t k = 0; k < w->level_count; k++) {
        w->levels[k] = sl_names_level(g, tree, w->first_depth + k);
    }
}

static void name_row(const struct sl_engine *g, struct words *w,
                     struct sl_domain_assignment assignment)
{
    for (uint32_t k = 0; k < w->level_count; k++) {
        sl_domain_id domain = sl_domain_above(assignment.domain, w->first_depth + k);
        w->values[(size_t)w->row_count * w->level_count + k] = sl_names_value(g, domain);
    }
    w->counts[w->row_count++] = assignment.count;
}

/* Rows first .. last - 1 of the workload, all of one pod set; NULL when its tree has no levels. */
static char *assignment_text(const struct sl_engine *g, sl_workload_id id, uint32_t first,
                             uint32_t last)
{
    struct words w = {0};
    name_levels(g, sl_domain_tree(sl_topology_assignment_at(id, first).domain), &w);
    if (w.level_count == 0) {
        return NULL;
    }
    w.values = sl_mem_new((size_t)(last - first) * w.level_count, sizeof *w.values);
    w.counts = sl_mem_new(last - first, sizeof *w.counts);
    for (uint32_t i = first; i < last; i++) {
        name_row(g, &w, sl_topology_assignment_at(id, i));
    }
    struct sl_assignment_rows rows = {w.level_count, w.levels, w.row_count, w.values, w.counts};
    struct sl_json *assignment = sl_topology_assignment_new(&rows);
    struct sl_buf text = {0};
    sl_json_print(assignment, &text);
    sl_json_free(assignment);
    sl_mem_free(w.values);
    sl_mem_free(w.counts);
    return sl_buf_take(&text);
}

void sl_topology_out_note(struct sl_engine *g, sl_workload_id id)
{
    struct sl_admission *admission = g->workloads[id].admission;
    SL_PRE(admission != NULL);
    uint32_t count = sl_topology_assignment_count(id);
    for (uint32_t i = 0; i < admission->pod_set_count; i++) {
        sl_mem_free(admission->topology[i]);
        admission->topology[i] = NULL;
    }
    for (uint32_t first = 0; first < count;) {
        uint32_t pod_set = sl_topology_assignment_at(id, first).pod_set;
        uint32_t last = first + 1;
        while (last < count && sl_topology_assignment_at(id, last).pod_set == pod_set) {
            last++;
        }
        SL_ASSERT(pod_set < admission->pod_set_count);
        admission->topology[pod_set] = assignment_text(g, id, first, last);
        first = last;
    }
}

/* --- into the object -------------------------------------------------------------------------- */

void sl_topology_out_write(const struct sl_engine *g, sl_workload_id id, uint32_t pod_set,
                           struct sl_json *assignment)
{
    SL_PRE(g != NULL);
    const struct sl_admission *admission = g->workloads[id].admission;
    const char *text = admission->topology[pod_set];
    if (text != NULL) {
        struct sl_error e = {0};
        struct sl_json *topology = sl_json_parse(text, strlen(text), &e);
        SL_ASSERT(topology != NULL);
        sl_json_set(assignment, "topologyAssignment", topology);
    }
    if (admission->delayed[pod_set]) {
        sl_json_set_text(assignment, "delayedTopologyRequest", text == NULL ? "Pending" : "Ready");
    }
}

void sl_topology_out_write_failed(const struct sl_engine *g, const struct sl_workload *record,
                                  struct sl_json *status)
{
    SL_PRE(record != NULL);
    if (record->unhealthy_count == 0) {
        sl_json_remove(status, "unhealthyNodes");
        return;
    }
    struct sl_json *list = sl_json_new_list();
    for (uint32_t i = 0; i < record->unhealthy_count; i++) {
        const char *host = sl_names_host(g, record->unhealthy[i]);
        if (sl_json_find_by(list, "name", host) == NULL) { /* it may be a site of several trees */
            struct sl_json *item = sl_json_new_map();
            sl_json_set_text(item, "name", host);
            sl_json_append(list, item);
        }
    }
    sl_json_set(status, "unhealthyNodes", list);
}

void sl_topology_out_list_failed(const struct sl_engine *g, sl_workload_id id, size_t size,
                                 char *out)
{
    const struct sl_workload *record = &sl_workloads[id];
    size_t len = 0;
    out[0] = '\0';
    for (uint32_t i = 0; i < record->unhealthy_count && len + 1 < size; i++) {
        int n = snprintf(out + len, size - len, "%s%s", i == 0 ? "" : ", ",
                         sl_names_host(g, record->unhealthy[i]));
        len += n > 0 ? (size_t)n : 0;
    }
}
