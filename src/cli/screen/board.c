/* SPDX-License-Identifier: Apache-2.0
 * SPDX-FileCopyrightText: The Sluice authors */

/* Counting. */
#include "cli/screen/board.h"
#include "api/objects/quantity.h"
#include "cli/screen/view.h"
#include "controllers/control/queues.h"
#include <stdio.h>
#include <string.h>

static int64_t amount_of(const struct sl_json *value, const char *resource)
{
    struct sl_quantity q;
    return sl_quantity_read(value, &q, NULL) == SL_CODE_OK ? sl_quantity_amount(q, resource) : 0;
}

static struct sl_board_row *find_row(struct sl_board *b, const char *queue, const char *flavor,
                                     const char *resource)
{
    for (unsigned i = 0; i < b->row_count; i++) {
        struct sl_board_row *row = &b->rows[i];
        if (strcmp(row->queue, queue) == 0 && strcmp(row->flavor, flavor) == 0 &&
            strcmp(row->resource, resource) == 0) {
            return row;
        }
    }
    return NULL;
}

static bool matches(const struct sl_board_row *row, const char *filter)
{
    return sl_view_matches(filter, row->queue) || sl_view_matches(filter, row->cohort) ||
           sl_view_matches(filter, row->flavor) || sl_view_matches(filter, row->resource);
}

static void add_rows(struct sl_board *b, const struct sl_json *cq, const struct sl_json *flavor,
                     const char *filter)
{
    const struct sl_json *resources = sl_json_get(flavor, "resources");
    for (size_t r = 0; r < sl_json_len(resources); r++) {
        const struct sl_json *resource = sl_json_at(resources, r);
        const char *name = sl_json_path_text(resource, "name", "");
        struct sl_board_row row = {.nominal =
                                       amount_of(sl_json_get(resource, "nominalQuota"), name)};
        row.exceeded = sl_condition_true(cq, SL_QUEUE_EXCEEDED);
        snprintf(row.queue, sizeof row.queue, "%s", sl_object_name(cq));
        snprintf(row.cohort, sizeof row.cohort, "%s", sl_json_path_text(cq, "spec.cohortName", ""));
        snprintf(row.flavor, sizeof row.flavor, "%s", sl_json_path_text(flavor, "name", ""));
        snprintf(row.resource, sizeof row.resource, "%s", name);
        if (!matches(&row, filter)) {
            continue;
        }
        if (b->row_count == SL_BOARD_ROWS_MAX) {
            b->left_out++;
        } else {
            b->rows[b->row_count++] = row;
        }
    }
}

static void fill_rows(struct sl_board *b, const struct sl_json *cluster_queues, const char *filter)
{
    for (size_t i = 0; i < sl_json_len(cluster_queues); i++) {
        const struct sl_json *cq = sl_json_at(cluster_queues, i);
        const struct sl_json *groups = sl_json_path(cq, "spec.resourceGroups");
        for (size_t g = 0; g < sl_json_len(groups); g++) {
            const struct sl_json *flavors = sl_json_get(sl_json_at(groups, g), "flavors");
            for (size_t f = 0; f < sl_json_len(flavors); f++) {
                add_rows(b, cq, sl_json_at(flavors, f), filter);
            }
        }
    }
}

static enum sl_board_phase phase_of(const struct sl_json *wl)
{
    if (sl_condition_true(wl, "Finished")) {
        return SL_BOARD_FINISHED;
    }
    if (sl_condition_true(wl, "Admitted")) {
        return SL_BOARD_ADMITTED;
    }
    return sl_condition_true(wl, "QuotaReserved") ? SL_BOARD_RESERVED : SL_BOARD_PENDING;
}

static void add_usage(struct sl_board *b, const struct sl_json *wl)
{
    const char *queue = sl_json_path_text(wl, "status.admission.clusterQueue", "");
    const struct sl_json *assignments = sl_json_path(wl, "status.admission.podSetAssignments");
    for (size_t i = 0; i < sl_json_len(assignments); i++) {
        const struct sl_json *assignment = sl_json_at(assignments, i);
        for (struct sl_json_member m = {0}; sl_json_each(sl_json_get(assignment, "flavors"), &m);) {
            struct sl_board_row *row = find_row(b, queue, sl_json_text(m.value, ""), m.key);
            const struct sl_json *used =
                sl_json_get(sl_json_get(assignment, "resourceUsage"), m.key);
            if (row != NULL && used != NULL) {
                row->used += amount_of(used, m.key);
            }
        }
    }
}

/* What is missing, without the sentence's beginning that names the pod set: lines are short. */
static const char *essence(const char *message)
{
    const char *start = strncmp(message, "couldn't assign", 15) == 0 ? strstr(message, ": ") : NULL;
    return start == NULL ? message : start + 2;
}

static void add_waiting(struct sl_board *b, const struct sl_json *wl, const char *filter)
{
    if (b->waiting_count == SL_BOARD_WAITING_MAX) {
        return;
    }
    const struct sl_json *condition = sl_condition_find(wl, "QuotaReserved");
    char *line = b->waiting[b->waiting_count];
    snprintf(line, sizeof b->waiting[0], "%s/%s  %s%s%s", sl_object_namespace(wl),
             sl_object_name(wl), sl_json_path_text(condition, "reason", "not tried yet"),
             condition == NULL ? "" : ": ", essence(sl_json_path_text(condition, "message", "")));
    b->waiting_count += sl_view_matches(filter, line);
}

void sl_board_fill(struct sl_board *b, const struct sl_json *workloads,
                   const struct sl_json *cluster_queues, const char *filter)
{
    *b = (struct sl_board){0};
    fill_rows(b, cluster_queues, filter);
    for (size_t i = 0; i < sl_json_len(workloads); i++) {
        const struct sl_json *wl = sl_json_at(workloads, i);
        enum sl_board_phase phase = phase_of(wl);
        b->count[phase]++;
        b->total++;
        if (phase == SL_BOARD_PENDING) {
            add_waiting(b, wl, filter);
        } else if (phase != SL_BOARD_FINISHED) {
            add_usage(b, wl);
        }
    }
}
