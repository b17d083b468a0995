/* SPDX-License-Identifier: Apache-2.0
 * SPDX-FileCopyrightText: The Sluice authors */

/* Assigning gated pods to domains. */
#include "controllers/cluster/ungate_plan.h"
#include "base/buf.h"
#include "base/map.h"
#include "base/mem.h"
#include <stdlib.h>
#include <string.h>

#define PODS_MAX 4194304u /* of one pod set: ranks have a table of so many */

bool sl_stand_list_read(struct sl_stand_list *list, const struct sl_json *assignment)
{
    struct sl_error e = {0};
    struct sl_assignment_reader r;
    uint32_t cap = 0;
    *list = (struct sl_stand_list){0};
    if (sl_topology_assignment_check(assignment, "", &e) != SL_CODE_OK) {
        return false;
    }
    list->level_count = sl_topology_assignment_levels(assignment, list->levels);
    sl_assignment_reader_start(&r, assignment);
    while (sl_assignment_reader_next(&r)) {
        if (list->row_count == cap) {
            cap = cap == 0 ? 16 : 2 * cap;
            list->rows = sl_mem_grow(list->rows, cap, sizeof *list->rows);
        }
        struct sl_stand_row *row = &list->rows[list->row_count++];
        for (uint32_t k = 0; k < list->level_count; k++) {
            row->values[k] = sl_mem_text(r.values[k]);
        }
        row->count = r.count;
        if (r.count > PODS_MAX - list->pod_count) {
            return false;
        }
        list->pod_count += r.count;
    }
    return true;
}

void sl_stand_list_fini(struct sl_stand_list *list)
{
    for (uint32_t i = 0; i < list->row_count; i++) {
        for (uint32_t k = 0; k < list->level_count; k++) {
            sl_mem_free(list->rows[i].values[k]);
        }
    }
    sl_mem_free(list->rows);
    *list = (struct sl_stand_list){0};
}

const char *sl_stand_node(const struct sl_stand_list *list, uint32_t row)
{
    uint32_t last = list->level_count - 1;
    bool is_node = list->level_count > 0 && strcmp(list->levels[last], SL_ASSIGNMENT_HOSTNAME) == 0;
    return is_node ? list->rows[row].values[last] : NULL;
}

/* --- domains of the ungated pods ----------------------------------------------------------------------- */

/* Values of all levels in one text; no label value has a comma. */
static void add_value(struct sl_buf *id, const char *value)
{
    sl_buf_text(id, value);
    sl_buf_text(id, ",");
}

/* Domain -> row number. */
static struct sl_map *rows_by_domain(const struct sl_stand_list *list)
{
    struct sl_map *map = sl_map_new();
    struct sl_buf id = {0};
    for (uint32_t i = 0; i < list->row_count; i++) {
        sl_buf_reset(&id);
        for (uint32_t k = 0; k < list->level_count; k++) {
            add_value(&id, list->rows[i].values[k]);
        }
        sl_map_put(map, id.data, (union sl_map_value){.number = i});
    }
    sl_buf_fini(&id);
    return map;
}

/* The row whose domain the pod's node selector names; NONE when there is no such row (any more). */
static uint32_t row_of(const struct sl_stand_list *list, const struct sl_map *rows,
                       const struct sl_pod_row *pod)
{
    struct sl_buf id = {0};
    union sl_map_value value;
    for (uint32_t k = 0; k < list->level_count; k++) {
        add_value(&id, sl_json_text(sl_json_get(pod->node_selector, list->levels[k]), ""));
    }
    bool found = id.len > 0 && sl_map_get(rows, id.data, &value);
    sl_buf_fini(&id);
    return found ? (uint32_t)value.number : SL_UNGATE_NONE;
}

/* --- ranks --------------------------------------------------------------------------------------------- */

/* A label's value as a number less than `bound`; -1 when it is not one. */
static int64_t label_number(const struct sl_pod_row *pod, const char *label, int64_t bound)
{
    const char *text = sl_json_text(sl_json_get(pod->labels, label), "");
    if (text[0] == '\0' || strlen(text) > 9 || text[strspn(text, "0123456789")] != '\0') {
        return -1;
    }
    long value = strtol(text, NULL, 10);
    return value < bound ? value : -1;
}

/* The rank of a pod within its pod set; -1 when it has none. */
static int64_t rank_of(const struct sl_ungate_question *q, const struct sl_pod_row *pod,
                       int64_t first)
{
    const char *index_label = sl_json_path_text(q->request, "podIndexLabel", "");
    const char *group_label = sl_json_path_text(q->request, "subGroupIndexLabel", "");
    int64_t index = label_number(pod, index_label, first + q->pod_count);
    if (index < 0) {
        return -1;
    }
    int64_t rank = index - first;
    if (group_label[0] != '\0') {
        int64_t groups = sl_json_path_int(q->request, "subGroupCount", 0);
        int64_t group = groups > 0 ? label_number(pod, group_label, groups) : -1;
        if (group < 0 || index >= q->pod_count / groups) {
            return -1;
        }
        rank = index + group * (q->pod_count / groups) - first;
    }
    return rank >= 0 && rank < q->pod_count ? rank : -1;
}

/* row_at[rank] for every rank that the assignment covers; the caller frees it. */
static uint32_t *rows_by_rank(const struct sl_stand_list *list)
{
    uint32_t *row_at = sl_mem_new((size_t)list->pod_count + 1, sizeof *row_at);
    uint32_t rank = 0;
    for (uint32_t i = 0; i < list->row_count; i++) {
        for (uint32_t k = 0; k < list->rows[i].count; k++) {
            row_at[rank++] = i;
        }
    }
    return row_at;
}

/* False when ranks cannot be used: a pod has none, two have the same, or one is elsewhere
 * already. */
static bool plan_by_rank(const struct sl_ungate_question *q, const struct sl_map *domains,
                         uint32_t *rows)
{
    const struct sl_stand_list *list = q->stands;
    if (sl_json_get(q->request, "podIndexLabel") == NULL) {
        return false;
    }
    uint32_t *row_at = rows_by_rank(list);
    bool *seen = sl_mem_new((size_t)list->pod_count + 1, sizeof *seen);
    /* All pods of a set count from the same offset. */
    int64_t first = q->rank_first + (q->pods_len > 0 ? q->pods[0]->index_offset : 0);
    bool usable = true;
    for (size_t i = 0; i < q->pods_len && usable; i++) {
        int64_t rank = rank_of(q, q->pods[i], first);
        usable = rank >= 0 && rank < list->pod_count && !seen[rank];
        if (usable) {
            seen[rank] = true;
            rows[i] = q->pods[i]->gated ? row_at[rank] : SL_UNGATE_NONE;
            usable = q->pods[i]->gated || row_of(list, domains, q->pods[i]) == row_at[rank];
        }
    }
    sl_mem_free(row_at);
    sl_mem_free(seen);
    return usable;
}

/* --- in order ------------------------------------------------------------------------------------------ */

static void plan_in_order(const struct sl_ungate_question *q, const struct sl_map *domains,
                          uint32_t *rows)
{
    const struct sl_stand_list *list = q->stands;
    uint32_t *taken = sl_mem_new((size_t)list->row_count + 1, sizeof *taken);
    for (size_t i = 0; i < q->pods_len; i++) {
        uint32_t row = q->pods[i]->gated ? SL_UNGATE_NONE : row_of(list, domains, q->pods[i]);
        if (row != SL_UNGATE_NONE) {
            taken[row]++;
        }
    }
    uint32_t at = 0;
    for (size_t i = 0; i < q->pods_len; i++) {
        while (at < list->row_count && taken[at] >= list->rows[at].count) {
            at++;
        }
        bool place = q->pods[i]->gated && at < list->row_count;
        rows[i] = place ? at : SL_UNGATE_NONE;
        if (place) {
            taken[at]++;
        }
    }
    sl_mem_free(taken);
}

void sl_ungate_plan(const struct sl_ungate_question *q, uint32_t *rows)
{
    struct sl_map *domains = rows_by_domain(q->stands);
    if (!plan_by_rank(q, domains, rows)) {
        plan_in_order(q, domains, rows);
    }
    sl_map_free(domains);
}
