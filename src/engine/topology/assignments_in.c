/* SPDX-License-Identifier: Apache-2.0
 * SPDX-FileCopyrightText: The Sluice authors */

/* Domains are found by name, or opened hidden when they are gone: the pods stand there all the
 * same. */
#include "engine/topology/assignments_in.h"
#include "base/check.h"
#include "api/objects/topology_assignment.h"
#include "base/log.h"
#include "base/mem.h"
#include "engine/calls/call.h"
#include "engine/records/names.h"
#include "engine/records/world.h"
#include "engine/requests/requests.h"
#include "engine/topology/constraints.h"
#include "policy/requests/topology_request.h"
#include <stdio.h>
#include <string.h>

/* --- what one pod takes of a site, beside itself ---------------------------------------------- */

struct takes {
    uint32_t count;
    struct sl_measure_amount items[SL_TOPOLOGY_REQUESTS_MAX];
};

/* Ascending by measure, as the core wants them. */
static void insert(struct takes *t, sl_measure_id measure, int64_t per_pod)
{
    uint32_t at = t->count;
    if (at == SL_TOPOLOGY_REQUESTS_MAX || measure == SL_NO_ID) {
        return;
    }
    while (at > 0 && t->items[at - 1].measure > measure) {
        t->items[at] = t->items[at - 1];
        at--;
    }
    t->items[at] = (struct sl_measure_amount){measure, per_pod};
    t->count++;
}

/* By what its requests say of topology; where they say nothing, by what they say of quota. */
static struct takes takes_of(struct sl_engine *g, uint32_t record, int64_t now_ms)
{
    struct takes t = {0};
    if (record == SL_NO_ID) {
        return t;
    }
    struct sl_topology_request d = sl_topology_request_of(record);
    for (uint32_t i = 0; i < d.request_count; i++) {
        insert(&t, d.requests[i].measure, d.requests[i].per_pod);
    }
    for (uint32_t r = sl_requests_first(record); d.request_count == 0 && r != SL_NO_ID;
         r = sl_requests_next(r)) {
        sl_measure_id measure = sl_sites_measure(g, sl_requests_resource(r), now_ms);
        if (measure != SL_MEASURE_PODS && sl_requests_per_pod(r) > 0) {
            insert(&t, measure, sl_requests_per_pod(r));
        }
    }
    return t;
}

/* --- rows ------------------------------------------------------------------------------------- */

static void note_domain(struct sl_assignments_in *s, sl_domain_id domain)
{
    s->domains = sl_mem_reach(s->domains, &s->domain_cap, 16, s->domain_count, sizeof *s->domains);
    s->domains[s->domain_count++] = domain;
}

/* Rows of an assignment whose domains have a number, into `rows`; how many pods stand on them. */
static uint32_t list_rows(struct sl_engine *g, sl_tree_id tree, const struct sl_json *assignment,
                          struct sl_assignments_in *s, struct sl_buf *rows)
{
    struct sl_assignment_reader r;
    uint32_t pods = 0;
    sl_assignment_reader_start(&r, assignment);
    while (sl_assignment_reader_next(&r)) {
        const char *values[SL_ASSIGNMENT_LEVELS_MAX];
        for (uint32_t k = 0; k < r.level_count; k++) {
            values[k] = r.values[k];
        }
        sl_domain_id domain = sl_names_take_domain(g, tree, values, r.level_count, g->now_ms);
        s->lost = s->lost || domain == SL_NO_ID;
        if (domain != SL_NO_ID) {
            note_domain(s, domain);
            sl_item_add(rows, assigned_row, .domain = domain, .count = r.count);
            pods += r.count;
        }
    }
    return pods;
}

/* Are the assignment's levels those that the tree has now? Where both end at nodes a node's name is
 * enough. */
static bool levels_fit(const struct sl_engine *g, sl_tree_id tree, const struct sl_json *assignment)
{
    const char *levels[SL_ASSIGNMENT_LEVELS_MAX];
    uint32_t count = sl_topology_assignment_levels(assignment, levels);
    uint32_t depth = sl_names_level_count(g, tree);
    if (depth == 0 || count == 0) {
        return false;
    }
    const char *bottom = sl_names_level(g, tree, depth - 1);
    if (strcmp(bottom, SL_ASSIGNMENT_HOSTNAME) == 0) {
        return strcmp(levels[count - 1], bottom) == 0;
    }
    bool equal = count == depth;
    for (uint32_t k = 0; equal && k < count; k++) {
        equal = strcmp(levels[k], sl_names_level(g, tree, k)) == 0;
    }
    return equal;
}

/* The flavor with a topology among those that the pod set was given. */
static sl_tree_id tree_of(const struct sl_engine *g, const struct sl_json *assignment)
{
    void *it = NULL;
    const char *resource;
    struct sl_json *flavor;
    while (sl_json_next(sl_json_get(assignment, "flavors"), &it, &resource, &flavor)) {
        uint32_t id = sl_intern_find(g->names, SL_INTERN_FLAVOR, sl_json_text(flavor, ""));
        if (id != SL_NO_ID && sl_names_topology(g, id)[0] != '\0') {
            return id;
        }
    }
    return SL_NO_ID;
}

/* An assignment that names no count is for the pods of its pod set. */
static uint32_t pods_of(const struct sl_json *workload, const struct sl_json *assignment)
{
    int64_t count = sl_requests_pods_assigned(workload, assignment);
    return count < 0 || count > INT32_MAX ? 0 : (uint32_t)count;
}

static void list_set(struct sl_engine *g, sl_workload_id id, uint32_t pod_set,
                     const struct sl_json *workload, struct sl_assignments_in *s)
{
    const struct sl_json *assignment =
        sl_json_at(sl_json_path(workload, "status.admission.podSetAssignments"), pod_set);
    const struct sl_json *topology = sl_json_get(assignment, "topologyAssignment");
    sl_tree_id tree = tree_of(g, assignment);
    struct sl_buf rows = {0};
    if (tree == SL_NO_ID) {
        s->lost = true;
        return;
    }
    bool fits = topology != NULL && levels_fit(g, tree, topology);
    s->lost = s->lost || (topology != NULL && !fits);
    uint32_t pods = fits ? list_rows(g, tree, topology, s, &rows) : 0;
    sl_item_add(&s->list, assigned_set, .pod_set = pod_set, .tree = tree,
                .count = pods > 0 ? pods : pods_of(workload, assignment));
    if (pods > 0) {
        struct takes t = takes_of(g, sl_constraints_record(id, pod_set), g->now_ms);
        sl_buf_add(&s->list, rows.data, rows.len);
        for (uint32_t i = 0; i < t.count; i++) {
            sl_item_add(&s->list, assigned_need, .measure = t.items[i].measure,
                        .per_pod = t.items[i].per_pod);
        }
    }
    sl_buf_fini(&rows);
}

/* --- the whole -------------------------------------------------------------------------------- */

static bool well_formed(const struct sl_engine *g, sl_workload_id id,
                        const struct sl_json *topology)
{
    struct sl_error e = {0};
    if (sl_topology_assignment_check(topology, "topologyAssignment", &e) == SL_CODE_OK) {
        return true;
    }
    sl_log(SL_LOG_WARN, "topology assignment cannot be read and does not count", "workload",
           sl_intern_name(g->names, SL_INTERN_WORKLOAD, id), "field", e.causes[0].field, "error",
           e.causes[0].text, NULL);
    return false;
}

void sl_assignments_in_read(struct sl_engine *g, sl_workload_id id, const struct sl_json *workload,
                            struct sl_admission *admission, struct sl_assignments_in *out,
                            int64_t now_ms)
{
    SL_PRE(g != NULL && admission != NULL);
    const struct sl_json *list = sl_json_path(workload, "status.admission.podSetAssignments");
    *out = (struct sl_assignments_in){0};
    g->now_ms = now_ms;
    for (uint32_t i = 0; i < admission->pod_set_count; i++) {
        const struct sl_json *item = sl_json_at(list, i);
        const struct sl_json *topology = sl_json_get(item, "topologyAssignment");
        const char *delayed = sl_json_path_text(item, "delayedTopologyRequest", "");
        admission->delayed[i] = delayed[0] != '\0';
        if (topology != NULL && well_formed(g, id, topology)) {
            struct sl_buf text = {0};
            sl_json_print(topology, &text);
            admission->topology[i] = sl_buf_take(&text);
        } else if (topology != NULL || strcmp(delayed, "Pending") != 0) {
            continue;
        } else {
            out->pending = true;
        }
        list_set(g, id, i, workload, out);
    }
}

void sl_assignments_in_end(struct sl_engine *g, struct sl_assignments_in *s, int64_t now_ms)
{
    SL_PRE(s != NULL);
    sl_names_settle_domains(g, s->domains, s->domain_count, now_ms);
    sl_mem_free(s->domains);
    sl_buf_fini(&s->list);
    *s = (struct sl_assignments_in){0};
}
