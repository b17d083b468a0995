/* SPDX-License-Identifier: Apache-2.0
 * SPDX-FileCopyrightText: The Sluice authors */

/* Counting and drawing. */
#include "cli/screen/board.h"
#include "base/check.h"
#include "api/objects/quantity.h"
#include "controllers/control/queues.h"
#include <stdio.h>
#include <string.h>

#define BAR_WIDTH 20u
#define BORROWED_WIDTH_MAX 10u
#define OVERALL_WIDTH 60u

static const char *const phase_names[SL_BOARD_PHASES] = {"Pending", "QuotaReserved", "Admitted",
                                                         "Finished"};
static const char *const phase_colors[SL_BOARD_PHASES] = {"33", "36", "32", "90"};

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

static void add_rows(struct sl_board *b, const struct sl_json *cq, const struct sl_json *flavor)
{
    const struct sl_json *resources = sl_json_get(flavor, "resources");
    for (size_t r = 0; r < sl_json_len(resources) && b->row_count < SL_BOARD_ROWS_MAX; r++) {
        const struct sl_json *resource = sl_json_at(resources, r);
        const char *name = sl_json_path_text(resource, "name", "");
        struct sl_board_row *row = &b->rows[b->row_count++];
        *row = (struct sl_board_row){.nominal =
                                         amount_of(sl_json_get(resource, "nominalQuota"), name)};
        row->exceeded = sl_condition_true(cq, SL_QUEUE_EXCEEDED);
        snprintf(row->queue, sizeof row->queue, "%s", sl_object_name(cq));
        snprintf(row->cohort, sizeof row->cohort, "%s",
                 sl_json_path_text(cq, "spec.cohortName", ""));
        snprintf(row->flavor, sizeof row->flavor, "%s", sl_json_path_text(flavor, "name", ""));
        snprintf(row->resource, sizeof row->resource, "%s", name);
    }
}

static void fill_rows(struct sl_board *b, const struct sl_json *cluster_queues)
{
    for (size_t i = 0; i < sl_json_len(cluster_queues); i++) {
        const struct sl_json *cq = sl_json_at(cluster_queues, i);
        const struct sl_json *groups = sl_json_path(cq, "spec.resourceGroups");
        for (size_t g = 0; g < sl_json_len(groups); g++) {
            const struct sl_json *flavors = sl_json_get(sl_json_at(groups, g), "flavors");
            for (size_t f = 0; f < sl_json_len(flavors); f++) {
                add_rows(b, cq, sl_json_at(flavors, f));
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
        void *it = NULL;
        const char *resource;
        struct sl_json *flavor;
        while (sl_json_next(sl_json_get(assignment, "flavors"), &it, &resource, &flavor)) {
            struct sl_board_row *row = find_row(b, queue, sl_json_text(flavor, ""), resource);
            const struct sl_json *used =
                sl_json_get(sl_json_get(assignment, "resourceUsage"), resource);
            if (row != NULL && used != NULL) {
                row->used += amount_of(used, resource);
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

static void add_waiting(struct sl_board *b, const struct sl_json *wl)
{
    if (b->waiting_count == SL_BOARD_WAITING_MAX) {
        return;
    }
    const struct sl_json *condition = sl_condition_find(wl, "QuotaReserved");
    snprintf(b->waiting[b->waiting_count++], sizeof b->waiting[0], "%s/%s  %s%s%s",
             sl_object_namespace(wl), sl_object_name(wl),
             sl_json_path_text(condition, "reason", "not tried yet"), condition == NULL ? "" : ": ",
             essence(sl_json_path_text(condition, "message", "")));
}

void sl_board_fill(struct sl_board *b, const struct sl_json *workloads,
                   const struct sl_json *cluster_queues)
{
    *b = (struct sl_board){0};
    fill_rows(b, cluster_queues);
    for (size_t i = 0; i < sl_json_len(workloads); i++) {
        const struct sl_json *wl = sl_json_at(workloads, i);
        enum sl_board_phase phase = phase_of(wl);
        b->count[phase]++;
        b->total++;
        if (phase == SL_BOARD_PENDING) {
            add_waiting(b, wl);
        } else if (phase != SL_BOARD_FINISHED) {
            add_usage(b, wl);
        }
    }
}

/* --- drawing ------------------------------------------------------------------------------------------- */

static void repeat(struct sl_buf *out, char c, uint64_t count)
{
    for (uint64_t i = 0; i < count; i++) {
        sl_buf_add(out, &c, 1);
    }
}

static void color(struct sl_buf *out, bool colors, const char *code)
{
    if (colors) {
        sl_buf_print(out, "\033[%sm", code);
    }
}

static void draw_overall(const struct sl_board *b, bool colors, struct sl_buf *out)
{
    static const char signs[SL_BOARD_PHASES] = {'.', '-', '#', '='};
    for (int p = 0; p < SL_BOARD_PHASES; p++) {
        color(out, colors, phase_colors[p]);
        sl_buf_print(out, "%c %s %u", signs[p], phase_names[p], b->count[p]);
        color(out, colors, "0");
        sl_buf_text(out, "   ");
    }
    sl_buf_print(out, "of %u\n", b->total);
    unsigned drawn = 0;
    unsigned seen = 0;
    for (int p = SL_BOARD_PHASES - 1; p >= 0; p--) {
        seen += b->count[p];
        unsigned upto = b->total == 0 ? 0 : (unsigned)((uint64_t)seen * OVERALL_WIDTH / b->total);
        color(out, colors, phase_colors[p]);
        repeat(out, signs[p], upto - drawn);
        color(out, colors, "0");
        drawn = upto;
    }
    sl_buf_text(out, "\n\n");
}

/* [####......]  and, past the nominal quota, ++++ for what is borrowed. */
static void draw_bar(const struct sl_board_row *row, bool colors, struct sl_buf *out)
{
    int64_t own = row->used < row->nominal ? row->used : row->nominal;
    uint64_t filled = row->nominal == 0 ? 0 : (uint64_t)((__int128)own * BAR_WIDTH / row->nominal);
    int64_t over = row->used - own;
    uint64_t borrowed = 0;
    if (over > 0) {
        borrowed = row->nominal == 0 ? BORROWED_WIDTH_MAX
                                     : (uint64_t)((__int128)over * BAR_WIDTH / row->nominal);
        borrowed = borrowed == 0                   ? 1
                   : borrowed > BORROWED_WIDTH_MAX ? BORROWED_WIDTH_MAX
                                                   : borrowed;
    }
    sl_buf_text(out, "[");
    color(out, colors, "32");
    repeat(out, '#', filled);
    color(out, colors, "0");
    repeat(out, '.', BAR_WIDTH - filled);
    sl_buf_text(out, "]");
    color(out, colors, "33");
    repeat(out, '+', borrowed);
    color(out, colors, "0");
    repeat(out, ' ', BORROWED_WIDTH_MAX - borrowed);
}

static void draw_row(const struct sl_board_row *row, bool same_queue, bool colors,
                     struct sl_buf *out)
{
    char used[64];
    char nominal[64];
    sl_quantity_print_amount(row->used, row->resource, used);
    sl_quantity_print_amount(row->nominal, row->resource, nominal);
    sl_buf_print(out, "%-14s %-12s %-8s ", same_queue ? "" : row->queue, row->flavor,
                 row->resource);
    draw_bar(row, colors, out);
    bool exceeded = row->exceeded && row->used > row->nominal;
    sl_buf_print(out, " %7s / %s%s\n", used, nominal, exceeded ? "  over its quota" : "");
}

void sl_board_draw(const struct sl_board *b, bool colors, unsigned width, struct sl_buf *out)
{
    SL_PRE(b != NULL);
    draw_overall(b, colors, out);
    sl_buf_print(out, "%-14s %-12s %-8s %-32s   %7s / %s\n", "QUEUE", "FLAVOR", "RESOURCE",
                 "# used  + borrowed  . free", "USED", "QUOTA");
    for (unsigned i = 0; i < b->row_count; i++) {
        bool same = i > 0 && strcmp(b->rows[i].queue, b->rows[i - 1].queue) == 0;
        draw_row(&b->rows[i], same, colors, out);
    }
    if (b->waiting_count > 0) {
        sl_buf_text(out, "\nWaiting, for example:\n");
    }
    for (unsigned i = 0; i < b->waiting_count; i++) {
        int room = width > 4 ? (int)width - 3 : 1;
        sl_buf_print(out, "  %.*s\n", room, b->waiting[i]);
    }
}

void sl_board_line(const struct sl_board *b, struct sl_buf *out)
{
    SL_PRE(b != NULL);
    sl_buf_print(out, "pending %2u  reserved %2u  admitted %2u  finished %2u  |",
                 b->count[SL_BOARD_PENDING], b->count[SL_BOARD_RESERVED],
                 b->count[SL_BOARD_ADMITTED], b->count[SL_BOARD_FINISHED]);
    for (unsigned i = 0; i < b->row_count; i++) {
        const struct sl_board_row *row = &b->rows[i];
        if (strcmp(row->resource, b->rows[0].resource) != 0) {
            continue; /* one resource is enough for a line */
        }
        char used[64];
        char nominal[64];
        sl_quantity_print_amount(row->used, row->resource, used);
        sl_quantity_print_amount(row->nominal, row->resource, nominal);
        bool same = i > 0 && strcmp(row->queue, b->rows[i - 1].queue) == 0;
        sl_buf_print(out, "%s%s %s %s/%s", same ? ", " : "  ", same ? "" : row->queue, row->flavor,
                     used, nominal);
    }
}
