/* SPDX-License-Identifier: Apache-2.0
 * SPDX-FileCopyrightText: The Sluice authors */

/* Assigning gated pods to domains: texts to numbers, for policy to say which goes where. */
#include "controllers/cluster/ungate_plan.h"
#include "base/check.h"
#include "base/buf.h"
#include "base/map.h"
#include "base/mem.h"
#include "policy/verdicts/pod_places.h"
#include <stdlib.h>
#include <string.h>

#define PODS_MAX 4194304u /* of one pod set: ranks have a table of so many */

bool sl_assignment_list_read(struct sl_assignment_list *list, const struct sl_json *assignment)
{
    struct sl_error e = {0};
    struct sl_assignment_reader r;
    uint32_t cap = 0;
    *list = (struct sl_assignment_list){0};
    if (sl_topology_assignment_check(assignment, "", &e) != SL_CODE_OK) {
        return false;
    }
    list->level_count = sl_topology_assignment_levels(assignment, list->levels);
    sl_assignment_reader_start(&r, assignment);
    while (sl_assignment_reader_next(&r)) {
        list->rows = sl_mem_reach(list->rows, &cap, 16, list->row_count, sizeof *list->rows);
        struct sl_assignment_row *row = &list->rows[list->row_count++];
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

void sl_assignment_list_fini(struct sl_assignment_list *list)
{
    SL_PRE(list != NULL);
    for (uint32_t i = 0; i < list->row_count; i++) {
        for (uint32_t k = 0; k < list->level_count; k++) {
            sl_mem_free(list->rows[i].values[k]);
        }
    }
    sl_mem_free(list->rows);
    *list = (struct sl_assignment_list){0};
}

const char *sl_assignment_node(const struct sl_assignment_list *list, uint32_t row)
{
    SL_PRE(list != NULL);
    uint32_t last = list->level_count - 1;
    bool is_node = list->level_count > 0 && strcmp(list->levels[last], SL_ASSIGNMENT_HOSTNAME) == 0;
    return is_node ? list->rows[row].values[last] : NULL;
}

/* --- where the released pods stand --------------------------------------------------------------------- */

/* Values of all levels in one text; no label value has a comma. */
static void add_value(struct sl_buf *id, const char *value)
{
    sl_buf_text(id, value);
    sl_buf_text(id, ",");
}

/* Domain -> row number. */
static struct sl_map *rows_by_domain(const struct sl_assignment_list *list)
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
static uint32_t row_of(const struct sl_assignment_list *list, const struct sl_map *rows,
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

/* A label's value as a number; -1 when it is not one. */
static int64_t label_number(const struct sl_pod_row *pod, const char *label)
{
    const char *text = sl_json_text(sl_json_get(pod->labels, label), "");
    if (text[0] == '\0' || strlen(text) > 9 || text[strspn(text, "0123456789")] != '\0') {
        return -1;
    }
    return strtol(text, NULL, 10);
}

/* The rank of a pod within its pod set. */
static int64_t rank_of(const struct sl_ungate_question *q, const struct sl_pod_row *pod,
                       int64_t first)
{
    const char *group_label = sl_json_path_text(q->request, "subGroupIndexLabel", "");
    struct sl_pod_labels labels = {
        .index = label_number(pod, sl_json_path_text(q->request, "podIndexLabel", "")),
        .first = first,
        .count = q->pod_count,
        .grouped = group_label[0] != '\0',
        .groups = sl_json_path_int(q->request, "subGroupCount", 0),
        .group = label_number(pod, group_label)};
    return sl_pod_places_rank(labels);
}

/* --- the question to policy ---------------------------------------------------------------------------- */

/* Each pod as policy knows it; the caller frees it. */
static struct sl_pod_at *pods_new(const struct sl_ungate_question *q)
{
    struct sl_pod_at *pods = sl_mem_new(q->pods_len + 1, sizeof *pods);
    struct sl_map *domains = rows_by_domain(q->assignments);
    /* All pods of a set count from the same offset. */
    int64_t first = q->rank_first + (q->pods_len > 0 ? q->pods[0]->index_offset : 0);
    for (size_t i = 0; i < q->pods_len; i++) {
        const struct sl_pod_row *pod = q->pods[i];
        pods[i].rank = rank_of(q, pod, first);
        pods[i].gated = pod->gated;
        pods[i].row = pod->gated ? SL_NO_ID : row_of(q->assignments, domains, pod);
    }
    sl_map_free(domains);
    return pods;
}

void sl_ungate_plan(const struct sl_ungate_question *q, uint32_t *rows)
{
    SL_PRE(q != NULL);
    const struct sl_assignment_list *list = q->assignments;
    uint32_t size = list->pod_count > list->row_count ? list->pod_count : list->row_count;
    struct sl_pod_at *pods = pods_new(q);
    uint32_t *counts = sl_mem_new((size_t)list->row_count + 1, sizeof *counts);
    uint32_t *scratch = sl_mem_new((size_t)size + 1, sizeof *scratch);
    for (uint32_t r = 0; r < list->row_count; r++) {
        counts[r] = list->rows[r].count;
    }
    sl_pod_places_find(pods, (uint32_t)q->pods_len, counts, list->row_count, scratch, size, rows);
    sl_mem_free(pods);
    sl_mem_free(counts);
    sl_mem_free(scratch);
}
