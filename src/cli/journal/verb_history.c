/* SPDX-License-Identifier: Apache-2.0
 * SPDX-FileCopyrightText: The Sluice authors */

/* sluicectl history: what happened to workloads, a row each, from a journal. */
#include "api/objects/quantity.h"
#include "base/check.h"
#include "base/clock.h"
#include "base/grid.h"
#include "cli/journal/history_view.h"
#include <inttypes.h>
#include <string.h>

struct history {
    struct sl_history_view view;
    const char *name;     /* of a workload or a job; NULL: all are wanted */
    size_t namespace_len; /* of `name`, where it is NAMESPACE/NAME */
    char kind[64];        /* of the job, as names of workloads have it; "": of any */
    bool exact;           /* it is the Workload's name */
    bool found;
    struct sl_grid *rows; /* one of the three */
    struct sl_json *events;
    struct sl_buf csv;
};

static const char *const titles[] = {"Time", "Workload", "What", "Queue", "Reason", "Record"};
#define COLUMN_COUNT (sizeof titles / sizeof titles[0])
static const char *const fields[] = {"time",         "record", "namespace", "workload", "event",
                                     "clusterQueue", "reason", "rule",      "by",       "holds"};

/* --- whose ------------------------------------------------------------------------------------------------------------- */

static bool is_of_job(const struct history *h, const char *workload, const char *wanted)
{
    size_t len, kind_len;
    const char *job = sl_history_view_job(workload, &len, &kind_len);
    return len > 0 && strlen(wanted) == len && strncmp(job, wanted, len) == 0 &&
           (h->kind[0] == '\0' ||
            (strlen(h->kind) == kind_len && strncmp(workload, h->kind, kind_len) == 0));
}

static bool is_meant(const struct history *h, const char *workload)
{
    const char *name = sl_history_view_name(workload);
    if (h->namespace_len > 0 && (sl_history_view_namespace_len(workload) != h->namespace_len ||
                                 strncmp(workload, h->name, h->namespace_len) != 0)) {
        return false;
    }
    const char *wanted = h->namespace_len > 0 ? h->name + h->namespace_len + 1 : h->name;
    return (h->kind[0] == '\0' && strcmp(name, wanted) == 0) ||
           (!h->exact && is_of_job(h, name, wanted));
}

/* NAME, NAMESPACE/NAME, or KIND/NAME where there is such a kind. */
static void take_target(struct history *h, const char *target)
{
    const char *slash = strchr(target, '/');
    char word[sizeof h->kind];
    h->name = target;
    if (slash == NULL || (size_t)(slash - target) >= sizeof word) {
        return;
    }
    (void)snprintf(word, sizeof word, "%.*s", (int)(slash - target), target);
    enum sl_kind kind = sl_kind_find_name(word);
    if (kind == SL_KIND_COUNT) {
        h->namespace_len = (size_t)(slash - target);
        return;
    }
    h->name = slash + 1;
    h->exact = kind == SL_KIND_WORKLOAD;
    if (!h->exact) {
        (void)snprintf(h->kind, sizeof h->kind, "%s", sl_kind_info(kind)->singular);
    }
}

/* --- rows -------------------------------------------------------------------------------------------------------------- */

/* "spot: cpu=2 memory=8Gi; large: nvidia.com/gpu=1" */
static void print_holds(const struct sl_history_move *m, struct sl_buf *out)
{
    for (uint32_t i = 0; i < m->row_count; i++) {
        const struct sl_history_row *row = &m->rows[i];
        char amount[64];
        bool first = true; /* of its flavor */
        for (uint32_t k = 0; k < i; k++) {
            first = first && strcmp(m->rows[k].flavor, row->flavor) != 0;
        }
        for (uint32_t k = i; k < m->row_count && first; k++) {
            if (strcmp(m->rows[k].flavor, row->flavor) == 0) {
                sl_quantity_print_amount(m->rows[k].amount, m->rows[k].resource, amount);
                sl_buf_print(out, "%s%s%s %s=%s", k == i && out->len > 0 ? "; " : "",
                             k == i ? row->flavor : "", k == i ? ":" : "", m->rows[k].resource,
                             amount);
            }
        }
    }
}

/* What it holds belongs to what changed that. */
static bool shows_holds(enum sl_history_kind kind)
{
    return kind == SL_HISTORY_RESERVED || kind == SL_HISTORY_RESIZED || kind == SL_HISTORY_FOUND;
}

static void print_reason(const struct sl_history_move *m, const struct sl_history_news *n,
                         struct sl_buf *out)
{
    struct sl_buf holds = {0};
    sl_buf_text(out, n->reason);
    if (n->by[0] != '\0') {
        sl_buf_print(out, " by %s (%s)", n->by, n->rule);
    }
    if (shows_holds(n->kind) && m->row_count > 0) {
        print_holds(m, &holds);
        sl_buf_print(out, "%s%s", out->len > 0 ? ", " : "", holds.data);
    }
    sl_buf_fini(&holds);
}

static void add_row(struct history *h, const struct sl_history_move *m,
                    const struct sl_history_news *n)
{
    struct sl_buf reason = {0};
    char time[32];
    sl_clock_format(m->time_ms, time);
    print_reason(m, n, &reason);
    sl_grid_add(h->rows, time);
    sl_grid_add(h->rows, m->workload);
    sl_grid_add(h->rows, sl_history_name(n->kind));
    sl_grid_add(h->rows, m->queue[0] == '\0' ? "-" : m->queue);
    sl_grid_add(h->rows, reason.len == 0 ? "-" : reason.data);
    if (h->view.c->output == SL_OUTPUT_WIDE) {
        sl_grid_add_number(h->rows, (int64_t)m->record);
    }
    sl_buf_fini(&reason);
}

static void add_csv(struct history *h, const struct sl_history_move *m,
                    const struct sl_history_news *n)
{
    struct sl_buf holds = {0}, ns = {0};
    char time[40], record[24];
    sl_clock_format_micro(m->time_ms, time);
    (void)snprintf(record, sizeof record, "%" PRIu64, m->record);
    sl_buf_print(&ns, "%.*s", (int)sl_history_view_namespace_len(m->workload), m->workload);
    if (shows_holds(n->kind)) {
        print_holds(m, &holds);
    }
    const char *const values[] = {time,
                                  record,
                                  ns.data,
                                  sl_history_view_name(m->workload),
                                  sl_history_name(n->kind),
                                  m->queue,
                                  n->reason,
                                  n->rule,
                                  n->by,
                                  holds.len > 0 ? holds.data : ""};
    for (size_t i = 0; i < sizeof values / sizeof values[0]; i++) {
        sl_history_view_csv(&h->csv, values[i]);
    }
    sl_buf_text(&h->csv, "\n");
    sl_buf_fini(&holds);
    sl_buf_fini(&ns);
}

/* --- data -------------------------------------------------------------------------------------------------------------- */

static struct sl_json *workload_json_new(const char *workload)
{
    struct sl_json *out = sl_json_new_map();
    struct sl_buf ns = {0};
    sl_buf_print(&ns, "%.*s", (int)sl_history_view_namespace_len(workload), workload);
    sl_json_set_text(out, "namespace", ns.data);
    sl_json_set_text(out, "name", sl_history_view_name(workload));
    sl_buf_fini(&ns);
    return out;
}

static struct sl_json *holds_json_new(const struct sl_history_move *m)
{
    struct sl_json *list = sl_json_new_list();
    for (uint32_t i = 0; i < m->row_count; i++) {
        char amount[64];
        struct sl_json *row = sl_json_new_map();
        sl_quantity_print_amount(m->rows[i].amount, m->rows[i].resource, amount);
        sl_json_set_text(row, "flavor", m->rows[i].flavor);
        sl_json_set_text(row, "resource", m->rows[i].resource);
        sl_json_set_text(row, "amount", amount);
        sl_json_append(list, row);
    }
    return list;
}

static void set_filled(struct sl_json *to, const char *member, const char *text)
{
    if (text[0] != '\0') {
        sl_json_set_text(to, member, text);
    }
}

static void add_event(struct history *h, const struct sl_history_move *m,
                      const struct sl_history_news *n)
{
    struct sl_json *event = sl_json_new_map();
    sl_history_view_set_time(event, "time", m->time_ms);
    sl_json_set_int(event, "record", (int64_t)m->record);
    sl_json_set(event, "workload", workload_json_new(m->workload));
    sl_json_set_text(event, "event", sl_history_name(n->kind));
    set_filled(event, "clusterQueue", m->queue);
    set_filled(event, "reason", n->reason);
    set_filled(event, "rule", n->rule);
    if (n->by[0] != '\0') {
        sl_json_set(event, "by", workload_json_new(n->by));
    }
    if (shows_holds(n->kind)) {
        sl_json_set_filled(event, "holds", holds_json_new(m));
    }
    sl_json_append(h->events, event);
}

/* --- the command ------------------------------------------------------------------------------------------------------- */

/* Why it waits changes often: that is for those who look at one workload. */
static bool is_wanted(struct history *h, const struct sl_history_move *m,
                      const struct sl_history_news *n)
{
    const struct sl_history_view *v = &h->view;
    bool mine = h->name == NULL ? n->kind != SL_HISTORY_PENDING : is_meant(h, m->workload);
    bool by_mine = h->name != NULL && n->by[0] != '\0' && is_meant(h, n->by);
    bool in_view = sl_history_view_wants(v, m->workload, m->queue) ||
                   (by_mine && sl_history_view_wants(v, n->by, m->queue));
    h->found =
        h->found || (h->name != NULL && mine && sl_history_view_wants(v, m->workload, m->queue));
    return (mine || by_mine) && in_view && m->time_ms >= v->since_ms && m->time_ms < v->until_ms;
}

static void take_move(void *context, const struct sl_history_move *m)
{
    struct history *h = context;
    for (uint32_t i = 0; i < m->news_count; i++) {
        if (!is_wanted(h, m, &m->news[i])) {
            continue;
        }
        if (h->events != NULL) {
            add_event(h, m, &m->news[i]);
        } else if (h->rows != NULL) {
            add_row(h, m, &m->news[i]);
        } else {
            add_csv(h, m, &m->news[i]);
        }
    }
}

static void begin(struct history *h)
{
    const struct sl_ctl *c = h->view.c;
    if (sl_ctl_is_data(c)) {
        h->events = sl_json_new_list();
    } else if (c->output == SL_OUTPUT_CSV) {
        for (size_t i = 0; i < sizeof fields / sizeof fields[0]; i++) {
            sl_history_view_csv(&h->csv, fields[i]);
        }
        sl_buf_text(&h->csv, "\n");
    } else {
        size_t count = c->output == SL_OUTPUT_WIDE ? COLUMN_COUNT : COLUMN_COUNT - 1;
        h->rows = sl_grid_new(count);
        for (size_t i = 0; i < count; i++) {
            sl_grid_add_title(h->rows, titles[i]);
        }
    }
}

static void print(struct history *h)
{
    struct sl_buf text = {0};
    if (h->events != NULL) {
        struct sl_json *all = sl_json_new_map();
        sl_json_set_text(all, "kind", "History");
        sl_json_set(all, "journal", sl_history_view_json_new(&h->view));
        sl_json_set(all, "events", sl_json_ref(h->events));
        sl_ctl_print_value(h->view.c, all);
        sl_json_free(all);
    } else if (h->rows != NULL) {
        sl_grid_print(h->rows, &text);
        sl_ctl_print(&text);
    } else {
        sl_ctl_print(&h->csv);
    }
    sl_buf_fini(&text);
}

static int run(struct history *h)
{
    const struct sl_history_taker taker = {.context = h, .move = take_move};
    begin(h);
    if (!sl_history_view_read(&h->view, &taker)) {
        return 1;
    }
    if (h->name != NULL && !h->found) {
        (void)sl_history_view_unknown(&h->view, h->view.workloads, "job or workload",
                                      sl_history_view_name(h->view.c->arguments.items[0]));
        return 1;
    }
    print(h);
    return sl_history_view_conclude(&h->view);
}

int sl_ctl_history(struct sl_ctl *c)
{
    SL_PRE(c != NULL);
    struct history h = {0};
    if (c->arguments.count > 1) {
        return sl_ctl_misused("history takes one workload or job");
    }
    if (c->arguments.count == 1) {
        take_target(&h, c->arguments.items[0]);
    }
    int status = sl_history_view_init(&h.view, c) ? run(&h) : 2;
    sl_history_view_fini(&h.view);
    sl_grid_free(h.rows);
    sl_json_free(h.events);
    sl_buf_fini(&h.csv);
    return status;
}
