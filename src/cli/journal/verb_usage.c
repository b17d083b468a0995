/* SPDX-License-Identifier: Apache-2.0
 * SPDX-FileCopyrightText: The Sluice authors */

/* sluicectl usage: who held how much quota for how long, from a journal. */
#include "api/objects/quantity.h"
#include "base/check.h"
#include "base/clock.h"
#include "base/grid.h"
#include "base/mem.h"
#include "base/near.h"
#include "cli/journal/history_view.h"
#include "engine/history/bill.h"
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#define GIB_BITS 30

enum by { BY_QUEUE, BY_NAMESPACE, BY_WORKLOAD, BY_FLAVOR, BY_COUNT };
static const char *const by_names[BY_COUNT] = {"queue", "namespace", "workload", "flavor"};

struct group {
    char *keys[BY_COUNT]; /* what makes it one, in the order asked for */
    uint64_t workloads, reservations, evictions;
    int64_t wait_ms;
    __int128 *held; /* by resource; as many as there are */
};

struct usage {
    struct sl_history_view view;
    enum by by[BY_COUNT];
    size_t by_count;
    bool by_flavor; /* waiting has no flavor */
    struct sl_bill *bill;
    const char **resources; /* that were held, cpu and memory first */
    uint32_t resource_count;
    struct group *groups;
    uint32_t group_count, group_cap;
    struct sl_map *group_of;  /* by its keys */
    struct sl_map *workloads; /* that were counted in a group */
    struct group total;
};

/* --- by what ----------------------------------------------------------------------------------------------------------- */

static bool no_such_by(const char *word)
{
    struct sl_near near;
    struct sl_buf hint = {0};
    if (strcmp(word, "user") == 0) {
        (void)sl_ctl_misused(
            "--by user: neither Kubernetes nor the journal knows who made a "
            "workload; give each team a namespace or a queue, and account by that");
        return false;
    }
    sl_near_start(&near, word);
    for (size_t i = 0; i < BY_COUNT; i++) {
        sl_near_try(&near, by_names[i]);
    }
    sl_near_print(&near, &hint);
    (void)sl_ctl_misused("--by: \"%.64s\" is not one of queue, namespace, workload, flavor%s", word,
                         hint.data == NULL ? "" : hint.data);
    sl_buf_fini(&hint);
    return false;
}

static bool add_by(struct usage *u, const char *word)
{
    for (size_t i = 0; i < BY_COUNT; i++) {
        if (strcmp(by_names[i], word) == 0) {
            for (size_t k = 0; k < u->by_count; k++) {
                if (u->by[k] == (enum by)i) {
                    return true;
                }
            }
            u->by[u->by_count++] = (enum by)i;
            u->by_flavor = u->by_flavor || i == BY_FLAVOR;
            return true;
        }
    }
    return no_such_by(word);
}

static bool parse_by(struct usage *u, const char *text)
{
    bool good = true;
    while (good && text != NULL) {
        size_t len = strcspn(text, ",");
        char *word = sl_mem_text_n(text, len);
        good = add_by(u, word);
        sl_mem_free(word);
        text = text[len] == ',' ? text + len + 1 : NULL;
    }
    return good;
}

/* --- sums -------------------------------------------------------------------------------------------------------------- */

static bool is_wanted(const struct usage *u, const struct sl_bill_line *line)
{
    return sl_history_view_wants(&u->view, line->workload, line->queue);
}

/* cpu, memory, and the others by name. */
static int compare_resources(const void *a, const void *b)
{
    static const char *const first[] = {"cpu", "memory"};
    const char *x = *(const char *const *)a;
    const char *y = *(const char *const *)b;
    for (size_t i = 0; i < sizeof first / sizeof first[0]; i++) {
        if (strcmp(x, first[i]) == 0 || strcmp(y, first[i]) == 0) {
            return (strcmp(y, first[i]) == 0) - (strcmp(x, first[i]) == 0);
        }
    }
    return strcmp(x, y);
}

static uint32_t resource_at(const struct usage *u, const char *name)
{
    uint32_t i = 0;
    while (i < u->resource_count && strcmp(u->resources[i], name) != 0) {
        i++;
    }
    return i;
}

static void list_resources(struct usage *u)
{
    size_t count, lines;
    const struct sl_bill_amount *amounts = sl_bill_amounts(u->bill, &count);
    const struct sl_bill_line *line = sl_bill_lines(u->bill, &lines);
    for (size_t i = 0; i < count; i++) {
        if (is_wanted(u, &line[amounts[i].line]) &&
            resource_at(u, amounts[i].resource) == u->resource_count) {
            u->resources = sl_mem_grow(u->resources, u->resource_count + 1, sizeof *u->resources);
            u->resources[u->resource_count++] = amounts[i].resource;
        }
    }
    if (u->resource_count > 0) {
        qsort(u->resources, u->resource_count, sizeof *u->resources, compare_resources);
    }
    u->total.held = sl_mem_new(u->resource_count + 1, sizeof *u->total.held);
}

static char *key_new(enum by by, const struct sl_bill_line *line, const char *flavor)
{
    switch (by) {
    case BY_QUEUE:
        return sl_mem_text(line->queue);
    case BY_NAMESPACE:
        return sl_mem_text_n(line->workload, sl_history_view_namespace_len(line->workload));
    case BY_WORKLOAD:
        return sl_mem_text(line->workload);
    case BY_FLAVOR:
        return sl_mem_text(flavor);
    case BY_COUNT:
        break;
    }
    return sl_mem_text("");
}

static uint32_t group_of(struct usage *u, const struct sl_bill_line *line, const char *flavor)
{
    struct group g = {0};
    struct sl_buf key = {0};
    union sl_map_value at;
    for (size_t i = 0; i < u->by_count; i++) {
        g.keys[i] = key_new(u->by[i], line, flavor);
        sl_buf_print(&key, "%s ", g.keys[i]);
    }
    bool known = sl_map_get(u->group_of, key.data, &at);
    if (!known) {
        at.number = u->group_count;
        g.held = sl_mem_new(u->resource_count + 1, sizeof *g.held);
        u->groups = sl_mem_reach(u->groups, &u->group_cap, 16, u->group_count, sizeof *u->groups);
        u->groups[u->group_count++] = g;
        sl_map_put(u->group_of, key.data, at);
    }
    for (size_t i = 0; known && i < u->by_count; i++) {
        sl_mem_free(g.keys[i]);
    }
    sl_buf_fini(&key);
    return (uint32_t)at.number;
}

/* Each once, though it may have been in several queues, or have held several flavors. */
static void count_workload(struct usage *u, struct group *g, long at, uint32_t number)
{
    struct sl_buf key = {0};
    union sl_map_value ignored = {0};
    sl_buf_print(&key, "%ld %" PRIu32, at, number);
    if (!sl_map_get(u->workloads, key.data, &ignored)) {
        g->workloads++;
        sl_map_put(u->workloads, key.data, ignored);
    }
    sl_buf_fini(&key);
}

static void add_line(struct usage *u, struct group *g, long at, const struct sl_bill_line *line)
{
    count_workload(u, g, at, line->number);
    g->reservations += line->reservations;
    g->evictions += line->evictions;
    g->wait_ms += line->wait_ms;
}

static void sum_up(struct usage *u)
{
    size_t line_count, amount_count;
    const struct sl_bill_line *lines = sl_bill_lines(u->bill, &line_count);
    const struct sl_bill_amount *amounts = sl_bill_amounts(u->bill, &amount_count);
    for (size_t i = 0; i < line_count; i++) {
        if (is_wanted(u, &lines[i])) {
            add_line(u, &u->total, -1, &lines[i]);
            if (!u->by_flavor) {
                uint32_t at = group_of(u, &lines[i], "");
                add_line(u, &u->groups[at], at, &lines[i]);
            }
        }
    }
    for (size_t i = 0; i < amount_count; i++) {
        const struct sl_bill_line *line = &lines[amounts[i].line];
        if (is_wanted(u, line)) {
            uint32_t at = group_of(u, line, amounts[i].flavor);
            uint32_t resource = resource_at(u, amounts[i].resource);
            count_workload(u, &u->groups[at], at, line->number);
            u->groups[at].held[resource] += amounts[i].held;
            u->total.held[resource] += amounts[i].held;
        }
    }
}

/* Who held most of the first resource first; else by name. */
static int compare_groups(const void *a, const void *b)
{
    const struct group *x = a;
    const struct group *y = b;
    if (x->held[0] != y->held[0]) {
        return x->held[0] > y->held[0] ? -1 : 1;
    }
    for (size_t i = 0; i < BY_COUNT && x->keys[i] != NULL; i++) {
        int order = strcmp(x->keys[i], y->keys[i]);
        if (order != 0) {
            return order;
        }
    }
    return 0;
}

/* --- as a table -------------------------------------------------------------------------------------------------------- */

/* Thousandths of GiB s, from bytes times milliseconds: for people, and so rounded. */
static void add_held(struct sl_grid *rows, __int128 held, const char *resource)
{
    char text[SL_BILL_TEXT];
    __int128 shown =
        sl_quantity_is_bytes(resource) ? (held + (1 << (GIB_BITS - 1))) >> GIB_BITS : held;
    sl_bill_print(shown, resource, text);
    sl_grid_add(rows, text);
}

static void add_counts(const struct usage *u, struct sl_grid *rows, const struct group *g)
{
    char wait[SL_BILL_TEXT];
    sl_grid_add_number(rows, (int64_t)g->workloads);
    if (!u->by_flavor) {
        sl_bill_print(g->wait_ms, "", wait);
        sl_grid_add_number(rows, (int64_t)g->reservations);
        sl_grid_add_number(rows, (int64_t)g->evictions);
        sl_grid_add(rows, wait);
    }
    for (uint32_t i = 0; i < u->resource_count; i++) {
        add_held(rows, g->held[i], u->resources[i]);
    }
}

static void add_titles(const struct usage *u, struct sl_grid *rows)
{
    static const char *const counts[] = {"Workloads", "Reservations", "Evictions", "Wait-s"};
    for (size_t i = 0; i < u->by_count; i++) {
        sl_grid_add_title(rows, by_names[u->by[i]]);
    }
    for (size_t i = 0; i < (u->by_flavor ? 1 : 4); i++) {
        sl_grid_add_title(rows, counts[i]);
    }
    for (uint32_t i = 0; i < u->resource_count; i++) {
        struct sl_buf title = {0};
        sl_buf_print(&title, "%s-%s", u->resources[i],
                     sl_quantity_is_bytes(u->resources[i]) ? "gib-s" : "s");
        sl_grid_add_title(rows, title.data);
        sl_buf_fini(&title);
    }
}

static void print_table(const struct usage *u)
{
    struct sl_buf text = {0};
    struct sl_grid *rows = sl_grid_new(u->by_count + (u->by_flavor ? 1 : 4) + u->resource_count);
    add_titles(u, rows);
    for (uint32_t i = 0; i < u->group_count; i++) {
        for (size_t k = 0; k < u->by_count; k++) {
            sl_grid_add(rows, u->groups[i].keys[k]);
        }
        add_counts(u, rows, &u->groups[i]);
    }
    for (size_t k = 0; k < u->by_count; k++) {
        sl_grid_add(rows, k == 0 ? "(all)" : "");
    }
    add_counts(u, rows, &u->total);
    sl_grid_print(rows, &text);
    sl_ctl_print(&text);
    sl_grid_free(rows);
    sl_buf_fini(&text);
}

/* --- as CSV, and as data ----------------------------------------------------------------------------------------------- */

static void add_csv_number(struct sl_buf *out, uint64_t number)
{
    char text[24];
    (void)snprintf(text, sizeof text, "%" PRIu64, number);
    sl_history_view_csv(out, text);
}

static void add_csv_row(const struct usage *u, const struct group *g, struct sl_buf *out)
{
    char text[SL_BILL_TEXT];
    for (size_t k = 0; k < u->by_count; k++) {
        sl_history_view_csv(out, g->keys[k]);
    }
    add_csv_number(out, g->workloads);
    if (!u->by_flavor) {
        add_csv_number(out, g->reservations);
        add_csv_number(out, g->evictions);
        sl_bill_print(g->wait_ms, "", text);
        sl_history_view_csv(out, text);
    }
    for (uint32_t i = 0; i < u->resource_count; i++) {
        sl_bill_print(g->held[i], u->resources[i], text);
        sl_history_view_csv(out, text);
    }
    sl_buf_text(out, "\n");
}

static void print_csv(const struct usage *u)
{
    struct sl_buf text = {0};
    static const char *const counts[] = {"workloads", "reservations", "evictions", "waitSeconds"};
    for (size_t i = 0; i < u->by_count; i++) {
        sl_history_view_csv(&text, by_names[u->by[i]]);
    }
    for (size_t i = 0; i < (u->by_flavor ? 1 : 4); i++) {
        sl_history_view_csv(&text, counts[i]);
    }
    for (uint32_t i = 0; i < u->resource_count; i++) {
        struct sl_buf title = {0};
        sl_buf_print(&title, "%s seconds", u->resources[i]);
        sl_history_view_csv(&text, title.data);
        sl_buf_fini(&title);
    }
    sl_buf_text(&text, "\n");
    for (uint32_t i = 0; i < u->group_count; i++) {
        add_csv_row(u, &u->groups[i], &text);
    }
    sl_ctl_print(&text);
    sl_buf_fini(&text);
}

static struct sl_json *group_json_new(const struct usage *u, const struct group *g)
{
    char text[SL_BILL_TEXT];
    struct sl_json *out = sl_json_new_map();
    struct sl_json *held = sl_json_new_map();
    for (size_t k = 0; k < u->by_count && g->keys[k] != NULL; k++) {
        sl_json_set_text(out, by_names[u->by[k]], g->keys[k]);
    }
    sl_json_set_int(out, "workloads", (int64_t)g->workloads);
    if (!u->by_flavor) {
        sl_json_set_int(out, "reservations", (int64_t)g->reservations);
        sl_json_set_int(out, "evictions", (int64_t)g->evictions);
        sl_bill_print(g->wait_ms, "", text);
        sl_json_set_text(out, "waitSeconds", text);
    }
    for (uint32_t i = 0; i < u->resource_count; i++) {
        sl_bill_print(g->held[i], u->resources[i], text);
        sl_json_set_text(held, u->resources[i], text);
    }
    sl_json_set(out, "resourceSeconds", held);
    return out;
}

static void print_data(const struct usage *u)
{
    struct sl_json *all = sl_json_new_map();
    struct sl_json *groups = sl_json_new_list();
    for (uint32_t i = 0; i < u->group_count; i++) {
        sl_json_append(groups, group_json_new(u, &u->groups[i]));
    }
    sl_json_set_text(all, "kind", "Usage");
    sl_json_set(all, "journal", sl_history_view_json_new(&u->view));
    if (u->view.since_ms != INT64_MIN) {
        sl_history_view_set_time(all, "since", u->view.since_ms);
    }
    if (u->view.until_ms != INT64_MAX) {
        sl_history_view_set_time(all, "until", u->view.until_ms);
    }
    sl_json_set(all, "groups", groups);
    sl_json_set(all, "total", group_json_new(u, &u->total));
    sl_ctl_print_value(u->view.c, all);
    sl_json_free(all);
}

/* --- the command ------------------------------------------------------------------------------------------------------- */

static void print(const struct usage *u)
{
    if (sl_ctl_is_data(u->view.c)) {
        print_data(u);
    } else if (u->view.c->output == SL_OUTPUT_CSV) {
        print_csv(u);
    } else {
        print_table(u);
    }
}

/* Which time that is, where the numbers alone do not say it. */
static void say_time(const struct usage *u)
{
    const struct sl_history_view *v = &u->view;
    char begin[32], end[32];
    if (v->c->output == SL_OUTPUT_TABLE && v->result.runs > 0) {
        int64_t begin_ms = v->since_ms > v->result.begin_ms ? v->since_ms : v->result.begin_ms;
        int64_t end_ms = v->until_ms < v->result.end_ms ? v->until_ms : v->result.end_ms;
        sl_clock_format(begin_ms, begin);
        sl_clock_format(end_ms, end);
        printf("\nfrom %s to %s, quota held times seconds\n", begin, end);
    }
    if (sl_bill_lost(u->bill) > 0) {
        (void)fflush(stdout);
        fprintf(stderr,
                "sluicectl: usage: %" PRIu64 " workloads held quota when the daemon ended and were "
                "not there when it began again: counted until it ended\n",
                sl_bill_lost(u->bill));
    }
}

static int run(struct usage *u)
{
    u->bill = sl_bill_new(u->view.since_ms, u->view.until_ms);
    const struct sl_history_taker taker = sl_bill_taker(u->bill);
    if (!sl_history_view_read(&u->view, &taker)) {
        return 1;
    }
    sl_bill_close(u->bill);
    list_resources(u);
    sum_up(u);
    if (u->group_count > 0) {
        qsort(u->groups, u->group_count, sizeof *u->groups, compare_groups);
    }
    print(u);
    say_time(u);
    return sl_history_view_conclude(&u->view);
}

static void fini(struct usage *u)
{
    sl_history_view_fini(&u->view);
    sl_bill_free(u->bill);
    for (uint32_t i = 0; i < u->group_count; i++) {
        for (size_t k = 0; k < u->by_count; k++) {
            sl_mem_free(u->groups[i].keys[k]);
        }
        sl_mem_free(u->groups[i].held);
    }
    sl_mem_free(u->groups);
    sl_mem_free(u->resources);
    sl_mem_free(u->total.held);
    sl_map_free(u->group_of);
    sl_map_free(u->workloads);
}

int sl_ctl_usage(struct sl_ctl *c)
{
    SL_PRE(c != NULL);
    struct usage u = {.group_of = sl_map_new(), .workloads = sl_map_new()};
    if (c->arguments.count > 0) {
        fini(&u);
        return sl_ctl_misused("usage takes no arguments");
    }
    bool good = sl_history_view_init(&u.view, c) &&
                parse_by(&u, c->past.by == NULL ? by_names[BY_QUEUE] : c->past.by);
    int status = good ? run(&u) : 2;
    fini(&u);
    return status;
}
