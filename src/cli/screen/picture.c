/* SPDX-License-Identifier: Apache-2.0
 * SPDX-FileCopyrightText: The Sluice authors */

/* Filling the picture of a topology from the objects. */
#include "cli/screen/picture.h"
#include "base/check.h"
#include "api/objects/topology_assignment.h"
#include "base/fnv1a.h"
#include "base/map.h"
#include "base/mem.h"
#include <stdlib.h>
#include <string.h>

static const char marks[] = "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789";
#define MARK_OTHERS '#'

/* --- cells --------------------------------------------------------------------------------------------- */

static bool has_labels(const struct sl_json *node, const struct sl_json *wanted)
{
    for (struct sl_json_member m = {0}; sl_json_each(wanted, &m);) {
        const char *label = sl_object_label(node, m.key);
        if (label == NULL || strcmp(label, sl_json_text(m.value, "")) != 0) {
            return false;
        }
    }
    return true;
}

/* No new pods, though it is ready: cordoned, or with a taint that keeps them away. */
static bool is_closed(const struct sl_json *node)
{
    const struct sl_json *taints = sl_json_path(node, "spec.taints");
    bool closed = sl_json_path_bool(node, "spec.unschedulable", false);
    for (size_t i = 0; i < sl_json_len(taints) && !closed; i++) {
        const char *effect = sl_json_path_text(sl_json_at(taints, i), "effect", "");
        closed = strcmp(effect, "PreferNoSchedule") != 0;
    }
    return closed;
}

/* False when the node lacks a level: then it is no part of the topology. */
static bool read_values(const struct sl_picture *p, const struct sl_json *node,
                        const char *values[])
{
    for (uint32_t k = 0; k < p->level_count; k++) {
        values[k] = sl_object_label(node, p->levels[k]);
        if (values[k] == NULL) {
            return false;
        }
    }
    return true;
}

/* In the order of people: rack-2 before rack-10. */
static int compare_cells(const void *a, const void *b)
{
    const struct sl_picture_cell *left = a;
    const struct sl_picture_cell *right = b;
    int order = 0;
    for (uint32_t k = 0; k < SL_PICTURE_LEVELS_MAX && order == 0 && left->values[k] != NULL; k++) {
        order = strverscmp(left->values[k], right->values[k]);
    }
    return order;
}

/* One cell for all nodes with the same values; they are in order. */
static void merge_equal(struct sl_picture *p)
{
    size_t n = 0;
    for (size_t i = 0; i < p->cell_count; i++) {
        if (n > 0 && compare_cells(&p->cells[n - 1], &p->cells[i]) == 0) {
            p->cells[n - 1].nodes += p->cells[i].nodes;
            p->cells[n - 1].failed += p->cells[i].failed;
            p->cells[n - 1].closed += p->cells[i].closed;
        } else {
            p->cells[n++] = p->cells[i];
        }
    }
    p->cell_count = n;
}

static void fill_cells(struct sl_picture *p, const struct sl_picture_source *source)
{
    const struct sl_json *wanted = sl_json_path(source->flavor, "spec.nodeLabels");
    p->cells = sl_mem_new(sl_json_len(source->nodes) + 1, sizeof *p->cells);
    for (size_t i = 0; i < sl_json_len(source->nodes); i++) {
        const struct sl_json *node = sl_json_at(source->nodes, i);
        struct sl_picture_cell *cell = &p->cells[p->cell_count];
        if (has_labels(node, wanted) && read_values(p, node, cell->values)) {
            bool ready = sl_condition_true(node, "Ready");
            cell->nodes = 1;
            cell->failed = ready ? 0 : 1;
            cell->closed = ready && is_closed(node) ? 1 : 0;
            p->cell_count++;
        }
    }
    qsort(p->cells, p->cell_count, sizeof *p->cells, compare_cells);
    merge_equal(p);
}

/* --- workloads ----------------------------------------------------------------------------------------- */

/* The values from `first` on in one text; no label value has a comma. */
static void put_id(struct sl_buf *id, const char *const *values, uint32_t first, uint32_t count)
{
    sl_buf_reset(id);
    for (uint32_t k = first; k < count; k++) {
        sl_buf_print(id, "%s,", values[k]);
    }
}

/* Cells by all their values, and by the lowest alone: an assignment to nodes names only these. */
static struct sl_map *index_cells(const struct sl_picture *p)
{
    struct sl_map *map = sl_map_new();
    struct sl_buf id = {0};
    for (size_t i = 0; i < p->cell_count; i++) {
        union sl_map_value value = {.number = i};
        put_id(&id, p->cells[i].values, p->level_count - 1, p->level_count);
        sl_map_put(map, id.data, value);
        put_id(&id, p->cells[i].values, 0, p->level_count);
        sl_map_put(map, id.data, value);
    }
    sl_buf_fini(&id);
    return map;
}

static void stand(struct sl_picture *p, struct sl_picture_cell *cell, uint32_t pods)
{
    struct sl_picture_workload *w = &p->workloads[p->workload_count];
    if (cell->last != p->workload_count + 1) {
        cell->last = (uint32_t)p->workload_count + 1;
        cell->workload_count++;
        w->cells++;
    }
    if (cell->workload == 0) {
        cell->workload = (uint32_t)p->workload_count + 1;
    }
    cell->pods += pods;
    w->pods += pods;
}

static void stand_all(struct sl_picture *p, const struct sl_map *cells,
                      const struct sl_json *assignment)
{
    struct sl_error e = {0};
    struct sl_assignment_reader r;
    struct sl_buf id = {0};
    if (sl_topology_assignment_check(assignment, "", &e) != SL_CODE_OK) {
        return;
    }
    sl_assignment_reader_start(&r, assignment);
    while (sl_assignment_reader_next(&r)) {
        const char *values[SL_ASSIGNMENT_LEVELS_MAX];
        union sl_map_value value;
        for (uint32_t k = 0; k < r.level_count; k++) {
            values[k] = r.values[k];
        }
        put_id(&id, values, 0, r.level_count);
        if (id.len > 0 && sl_map_get(cells, id.data, &value)) {
            stand(p, &p->cells[value.number], r.count);
        }
    }
    sl_buf_fini(&id);
}

/* Does the pod set use the flavor? */
static bool uses(const struct sl_json *pod_set, const char *flavor)
{
    for (struct sl_json_member m = {0}; sl_json_each(sl_json_get(pod_set, "flavors"), &m);) {
        if (strcmp(sl_json_text(m.value, ""), flavor) == 0) {
            return true;
        }
    }
    return false;
}

/* Is any pod set of it assigned to a topology, whichever that is? */
static bool is_placed(const struct sl_json *workload)
{
    const struct sl_json *sets = sl_json_path(workload, "status.admission.podSetAssignments");
    for (size_t i = 0; i < sl_json_len(sets); i++) {
        if (sl_json_has(sl_json_at(sets, i), "topologyAssignment")) {
            return true;
        }
    }
    return false;
}

/* --- marks --------------------------------------------------------------------------------------------- */

#define MARKS (sizeof marks - 1)

struct marked {
    const struct sl_json *workload;
    char mark;
};

static int by_creation(const void *a, const void *b)
{
    const struct sl_json *one = ((const struct marked *)a)->workload;
    const struct sl_json *other = ((const struct marked *)b)->workload;
    int64_t x = sl_object_created_ms(one), y = sl_object_created_ms(other);
    int order = strcmp(sl_object_namespace(one), sl_object_namespace(other));
    order = order != 0 ? order : strcmp(sl_object_name(one), sl_object_name(other));
    return x != y ? (x < y ? -1 : 1) : order;
}

static size_t first_choice(const struct sl_json *workload)
{
    const char *ns = sl_object_namespace(workload), *name = sl_object_name(workload);
    uint64_t hash = sl_fnv1a(SL_FNV1A_BASIS, ns, strlen(ns) + 1);
    return (size_t)(sl_fnv1a(hash, name, strlen(name)) % MARKS);
}

/* Each the mark that its name chooses, whatever else is there: so it keeps it from one picture to the next. Where an older one has
 * that, the next one that is free. */
static struct marked *choose_marks(const struct sl_json *workloads, size_t *count)
{
    struct marked *all = sl_mem_new(sl_json_len(workloads) + 1, sizeof *all);
    bool taken[MARKS] = {false};
    *count = 0;
    for (size_t i = 0; i < sl_json_len(workloads); i++) {
        const struct sl_json *workload = sl_json_at(workloads, i);
        if (!sl_condition_true(workload, "Finished") && is_placed(workload)) {
            all[(*count)++] = (struct marked){workload, MARK_OTHERS};
        }
    }
    qsort(all, *count, sizeof *all, by_creation);
    for (size_t i = 0; i < *count && i < MARKS; i++) {
        size_t at = first_choice(all[i].workload);
        while (taken[at]) {
            at = (at + 1) % MARKS;
        }
        taken[at] = true;
        all[i].mark = marks[at];
    }
    return all;
}

static char mark_of(const struct marked *all, size_t count, const struct sl_json *workload)
{
    for (size_t i = 0; i < count && i < MARKS; i++) { /* behind those none has one of its own */
        if (all[i].workload == workload) {
            return all[i].mark;
        }
    }
    return MARK_OTHERS;
}

static void fill_workload(struct sl_picture *p, const struct sl_map *cells,
                          const struct sl_json *workload, char mark)
{
    const struct sl_json *sets = sl_json_path(workload, "status.admission.podSetAssignments");
    struct sl_picture_workload *w = &p->workloads[p->workload_count];
    *w = (struct sl_picture_workload){.object = workload};
    for (size_t i = 0; i < sl_json_len(sets); i++) {
        const struct sl_json *set = sl_json_at(sets, i);
        const struct sl_json *assignment = sl_json_get(set, "topologyAssignment");
        if (assignment != NULL && uses(set, p->flavor)) {
            stand_all(p, cells, assignment);
        }
    }
    if (w->pods > 0) {
        w->mark = mark;
        p->workload_count++;
    }
}

void sl_picture_fill(struct sl_picture *p, const struct sl_picture_source *source)
{
    SL_PRE(source != NULL);
    const struct sl_json *levels = sl_json_path(source->topology, "spec.levels");
    *p = (struct sl_picture){.flavor = sl_object_name(source->flavor),
                             .topology = sl_object_name(source->topology)};
    for (size_t i = 0; i < sl_json_len(levels) && i < SL_PICTURE_LEVELS_MAX; i++) {
        p->levels[p->level_count++] = sl_json_path_text(sl_json_at(levels, i), "nodeLabel", "");
    }
    size_t count = sl_json_len(source->workloads);
    p->workloads = sl_mem_new(count + 1, sizeof *p->workloads);
    if (p->level_count == 0) {
        return;
    }
    fill_cells(p, source);
    struct sl_map *cells = index_cells(p);
    size_t marked; /* in all flavors, so that a workload has the same mark in each picture */
    struct marked *all = choose_marks(source->workloads, &marked);
    for (size_t i = 0; i < count; i++) {
        const struct sl_json *workload = sl_json_at(source->workloads, i);
        if (!sl_condition_true(workload, "Finished") && is_placed(workload)) {
            fill_workload(p, cells, workload, mark_of(all, marked, workload));
        }
    }
    sl_mem_free(all);
    sl_map_free(cells);
}

void sl_picture_fini(struct sl_picture *p)
{
    SL_PRE(p != NULL);
    sl_mem_free(p->cells);
    sl_mem_free(p->workloads);
    *p = (struct sl_picture){0};
}
