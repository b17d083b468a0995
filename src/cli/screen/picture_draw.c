/* SPDX-License-Identifier: Apache-2.0
 * SPDX-FileCopyrightText: The Sluice authors */

/* Drawing the picture of a topology. */
#include "cli/screen/picture.h"
#include <stdio.h>
#include <string.h>

#define WIDTH_MIN 40u
#define ROW_LABEL_MAX 40u
#define MARK_FREE '.'
#define MARK_FAILED '!'
#define MARK_CLOSED '-'
#define MARK_SEVERAL '*'
#define CLOSED_NAMED_MAX 8u

static const char *const palette[] = {"32", "36", "33", "35", "34", "92", "96", "93", "95", "94"};
#define PALETTE_COUNT (sizeof palette / sizeof palette[0])

static void paint(struct sl_buf *out, bool colors, const char *color, const char *text)
{
    if (colors && color != NULL) {
        sl_buf_print(out, "\033[%sm%s\033[0m", color, text);
    } else {
        sl_buf_text(out, text);
    }
}

static void draw_cell(const struct sl_picture *p, const struct sl_picture_cell *cell, bool colors,
                      struct sl_buf *out)
{
    char mark[2] = {MARK_FREE, '\0'};
    const char *color = "90";
    if (cell->failed == cell->nodes) {
        mark[0] = MARK_FAILED;
        color = "1;31";
    } else if (cell->workload_count > 1) {
        mark[0] = MARK_SEVERAL;
        color = "1";
    } else if (cell->workload_count == 1) {
        mark[0] = p->workloads[cell->workload - 1].mark;
        color = palette[(cell->workload - 1) % PALETTE_COUNT];
    } else if (cell->closed + cell->failed == cell->nodes) {
        mark[0] = MARK_CLOSED;
    }
    paint(out, colors, color, mark);
}

/* --- rows ---------------------------------------------------------------------------------------------- */

static bool same_row(const struct sl_picture *p, const struct sl_picture_cell *a,
                     const struct sl_picture_cell *b)
{
    for (uint32_t k = 0; k + 1 < p->level_count; k++) {
        if (strcmp(a->values[k], b->values[k]) != 0) {
            return false;
        }
    }
    return true;
}

/* block-1/rack-2; the end of it when that is too long. A topology of one level has one row. */
static void row_label(const struct sl_picture *p, const struct sl_picture_cell *cell,
                      char out[static ROW_LABEL_MAX + 1])
{
    char text[SL_PICTURE_LEVELS_MAX * 70] = "";
    size_t len = 0;
    for (uint32_t k = 0; k + 1 < p->level_count; k++) {
        int n =
            snprintf(text + len, sizeof text - len, "%s%.63s", k > 0 ? "/" : "", cell->values[k]);
        len += n > 0 ? (size_t)n : 0;
    }
    size_t skip = len > ROW_LABEL_MAX ? len - ROW_LABEL_MAX : 0;
    snprintf(out, ROW_LABEL_MAX + 1, "%s", p->level_count == 1 ? "all" : text + skip);
}

static size_t row_end(const struct sl_picture *p, size_t first)
{
    size_t end = first + 1;
    while (end < p->cell_count && same_row(p, &p->cells[first], &p->cells[end])) {
        end++;
    }
    return end;
}

static int label_width(const struct sl_picture *p)
{
    size_t width = 0;
    char label[ROW_LABEL_MAX + 1];
    for (size_t i = 0; i < p->cell_count; i = row_end(p, i)) {
        row_label(p, &p->cells[i], label);
        width = strlen(label) > width ? strlen(label) : width;
    }
    return (int)width;
}

static void draw_row(const struct sl_picture *p, size_t first, size_t end, bool colors,
                     unsigned width, int label_len, struct sl_buf *out)
{
    char label[ROW_LABEL_MAX + 1];
    size_t room = width > (unsigned)label_len + 14u ? width - (unsigned)label_len - 14u : 16u;
    size_t used = 0;
    row_label(p, &p->cells[first], label);
    for (size_t at = first; at < end; at += room) {
        size_t stop = at + room < end ? at + room : end;
        sl_buf_print(out, "  %-*s  ", label_len, at == first ? label : "");
        for (size_t i = at; i < stop; i++) {
            draw_cell(p, &p->cells[i], colors, out);
            used += p->cells[i].workload_count > 0;
        }
        if (stop == end) {
            sl_buf_print(out, "  %zu/%zu", used, end - first);
        }
        sl_buf_text(out, "\n");
    }
}

/* --- head and legend ----------------------------------------------------------------------------------- */

static void draw_head(const struct sl_picture *p, struct sl_buf *out)
{
    size_t nodes = 0;
    size_t failed = 0;
    size_t used = 0;
    size_t closed = 0;
    for (size_t i = 0; i < p->cell_count; i++) {
        closed += p->cells[i].closed;
        nodes += p->cells[i].nodes;
        failed += p->cells[i].failed;
        used += p->cells[i].workload_count > 0;
    }
    sl_buf_print(out, "%s (topology %s): %zu nodes, %zu of %zu domains in use", p->flavor,
                 p->topology, nodes, used, p->cell_count);
    if (failed > 0) {
        sl_buf_print(out, ", %zu not ready", failed);
    }
    if (closed > 0) {
        sl_buf_print(out, ", %zu closed", closed);
    }
    sl_buf_text(out, "\n");
}

/* They are drawn with the mark of the workload there. */
static void draw_closed_in_use(const struct sl_picture *p, struct sl_buf *out)
{
    size_t count = 0;
    for (size_t i = 0; i < p->cell_count; i++) {
        const struct sl_picture_cell *cell = &p->cells[i];
        if (cell->closed == 0 || cell->workload_count == 0) {
            continue;
        }
        if (count++ < CLOSED_NAMED_MAX) {
            sl_buf_print(out, "%s%s", count == 1 ? "  closed and in use: " : ", ",
                         cell->values[p->level_count - 1]);
        }
    }
    if (count > CLOSED_NAMED_MAX) {
        sl_buf_print(out, " and %zu more", count - CLOSED_NAMED_MAX);
    }
    sl_buf_text(out, count > 0 ? "\n" : "");
}

/* The last part of a label key: "rack" of "cloud.example.com/rack". */
static const char *short_level(const char *level)
{
    const char *slash = strrchr(level, '/');
    return slash == NULL ? level : slash + 1;
}

static void put_slices(const struct sl_json *request, struct sl_buf *out)
{
    const struct sl_json *layers = sl_json_get(request, "podsetSliceRequiredTopologyConstraints");
    const char *level = sl_json_path_text(request, "podSetSliceRequiredTopology", NULL);
    if (level != NULL) {
        sl_buf_print(out, ", slices of %lld in a %s",
                     (long long)sl_json_path_int(request, "podSetSliceSize", 0),
                     short_level(level));
    }
    for (size_t i = 0; i < sl_json_len(layers); i++) {
        const struct sl_json *layer = sl_json_at(layers, i);
        sl_buf_print(out, ", slices of %lld in a %s", (long long)sl_json_path_int(layer, "size", 0),
                     short_level(sl_json_path_text(layer, "topology", "")));
    }
}

static void put_request(const struct sl_json *workload, struct sl_buf *out)
{
    const struct sl_json *request = sl_json_path(workload, "spec.podSets.0.topologyRequest");
    const char *required = sl_json_path_text(request, "required", NULL);
    const char *preferred = sl_json_path_text(request, "preferred", NULL);
    if (required != NULL) {
        sl_buf_print(out, "required in one %s", short_level(required));
    } else if (preferred != NULL) {
        sl_buf_print(out, "preferred in one %s", short_level(preferred));
    } else {
        sl_buf_text(out, "unconstrained");
    }
    put_slices(request, out);
}

/* What people know it by: its Job, or its own name. */
static const char *job_name(const struct sl_json *workload)
{
    return sl_json_path_text(sl_object_controller_ref(workload), "name", sl_object_name(workload));
}

static void draw_workload(const struct sl_picture *p, const struct sl_picture_workload *w,
                          bool colors, struct sl_buf *out)
{
    char mark[2] = {w->mark, '\0'};
    size_t index = (size_t)(w - p->workloads);
    const struct sl_json *unhealthy = sl_json_path(w->object, "status.unhealthyNodes");
    sl_buf_text(out, "  ");
    paint(out, colors, palette[index % PALETTE_COUNT], mark);
    sl_buf_print(out, "  %s/%s: %u %s on %u, ", sl_object_namespace(w->object), job_name(w->object),
                 w->pods, w->pods == 1 ? "pod" : "pods", w->cells);
    put_request(w->object, out);
    for (size_t i = 0; i < sl_json_len(unhealthy); i++) {
        sl_buf_print(out, "%s%s", i == 0 ? "; leaves " : ", ",
                     sl_json_path_text(sl_json_at(unhealthy, i), "name", ""));
    }
    sl_buf_text(out, "\n");
}

void sl_picture_draw(const struct sl_picture *p, bool colors, unsigned width, struct sl_buf *out)
{
    width = width < WIDTH_MIN ? WIDTH_MIN : width;
    draw_head(p, out);
    int label_len = label_width(p);
    for (size_t i = 0; i < p->cell_count;) {
        size_t end = row_end(p, i);
        draw_row(p, i, end, colors, width, label_len, out);
        i = end;
    }
    sl_buf_print(out, "  %c free  %c several  %c closed  %c not ready\n", MARK_FREE, MARK_SEVERAL,
                 MARK_CLOSED, MARK_FAILED);
    draw_closed_in_use(p, out);
    for (size_t i = 0; i < p->workload_count; i++) {
        draw_workload(p, &p->workloads[i], colors, out);
    }
}

/* --- pending workloads --------------------------------------------------------------------------------- */

static bool asks_for_topology(const struct sl_json *workload)
{
    const struct sl_json *sets = sl_json_path(workload, "spec.podSets");
    for (size_t i = 0; i < sl_json_len(sets); i++) {
        const struct sl_json *request = sl_json_path(sl_json_at(sets, i), "topologyRequest");
        if (sl_json_len(request) > (sl_json_has(request, "podIndexLabel") ? 1u : 0u)) {
            return true;
        }
    }
    return false;
}

static bool has_place(const struct sl_json *workload)
{
    const struct sl_json *sets = sl_json_path(workload, "status.admission.podSetAssignments");
    for (size_t i = 0; i < sl_json_len(sets); i++) {
        if (sl_json_get(sl_json_at(sets, i), "topologyAssignment") != NULL) {
            return true;
        }
    }
    return false;
}

/* The first check that is not ready; NULL when all are. */
static const struct sl_json *open_check(const struct sl_json *workload)
{
    const struct sl_json *checks = sl_json_path(workload, "status.admissionChecks");
    for (size_t i = 0; i < sl_json_len(checks); i++) {
        const struct sl_json *check = sl_json_at(checks, i);
        if (strcmp(sl_json_path_text(check, "state", ""), "Ready") != 0) {
            return check;
        }
    }
    return NULL;
}

/* Broken at spaces where it is too long, and continued behind the same indentation. */
static void put_wrapped(const char *mark, const char *text, unsigned width, struct sl_buf *out)
{
    size_t room = width - strlen(mark);
    for (bool first = true; text[0] != '\0'; first = false) {
        size_t len = strlen(text);
        if (len > room) {
            for (len = room; len > 0 && text[len] != ' '; len--) {
            }
            len = len == 0 ? room : len;
        }
        sl_buf_print(out, "%*s%.*s\n", (int)strlen(mark), first ? mark : "", (int)len, text);
        text += len;
        text += strspn(text, " ");
    }
}

static void draw_waiting(const struct sl_json *workload, unsigned width, struct sl_buf *out)
{
    char line[700];
    const struct sl_json *check = open_check(workload);
    if (sl_json_path(workload, "status.admission") == NULL) {
        const struct sl_json *why = sl_condition_find(workload, "QuotaReserved");
        snprintf(line, sizeof line, "%s/%s waits: %s", sl_object_namespace(workload),
                 job_name(workload), sl_json_path_text(why, "message", "not tried yet"));
    } else if (check != NULL) {
        snprintf(line, sizeof line, "%s/%s has quota and waits for the check %s: %s",
                 sl_object_namespace(workload), job_name(workload),
                 sl_json_path_text(check, "name", ""), sl_json_path_text(check, "message", ""));
    } else {
        snprintf(line, sizeof line, "%s/%s has quota and waits for a topology assignment",
                 sl_object_namespace(workload), job_name(workload));
    }
    line[strcspn(line, "\n")] = '\0';
    put_wrapped("  ~  ", line, width, out);
}

void sl_picture_draw_waiting(const struct sl_json *workloads, unsigned width, struct sl_buf *out)
{
    size_t waiting = 0;
    for (size_t i = 0; i < sl_json_len(workloads); i++) {
        const struct sl_json *workload = sl_json_at(workloads, i);
        if (sl_condition_true(workload, "Finished") || !asks_for_topology(workload) ||
            has_place(workload)) {
            continue;
        }
        if (waiting++ < SL_PICTURE_WAITING_MAX) {
            draw_waiting(workload, width < WIDTH_MIN ? WIDTH_MIN : width, out);
        }
    }
    if (waiting > SL_PICTURE_WAITING_MAX) {
        sl_buf_print(out, "  ~  and %zu more\n", waiting - SL_PICTURE_WAITING_MAX);
    }
}
