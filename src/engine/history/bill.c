/* SPDX-License-Identifier: Apache-2.0
 * SPDX-FileCopyrightText: The Sluice authors */

#include "engine/history/bill.h"
#include "base/buf.h"
#include "base/check.h"
#include "base/map.h"
#include "base/mem.h"
#include <inttypes.h>
#include <stdio.h>
#include <string.h>

/* An object as it was reported last. Rows are copies of what was lent. */
struct entry {
    uint32_t number;
    bool waits;
    bool unseen;      /* it is known from the run before, and this one has not found it yet */
    int64_t since_ms; /* it holds its rows, or waits */
    const char *workload, *queue;
    uint32_t row_count;
    struct sl_history_row rows[SL_HISTORY_ROWS_MAX];
};

struct sl_bill {
    int64_t since_ms, until_ms;
    int64_t now_ms;         /* of the last move */
    struct sl_map *entries; /* by workload: struct entry */
    struct sl_map *texts, *line_of, *amount_of;
    uint32_t objects;
    uint64_t lost;
    struct sl_bill_line *lines;
    uint32_t line_count, line_cap;
    struct sl_bill_amount *amounts;
    uint32_t amount_count, amount_cap;
};

struct sl_bill *sl_bill_new(int64_t since_ms, int64_t until_ms)
{
    struct sl_bill *b = sl_mem_new(1, sizeof *b);
    b->since_ms = since_ms;
    b->until_ms = until_ms;
    b->now_ms = INT64_MIN;
    b->entries = sl_map_new();
    b->texts = sl_map_new();
    b->line_of = sl_map_new();
    b->amount_of = sl_map_new();
    return b;
}

void sl_bill_free(struct sl_bill *b)
{
    if (b != NULL) {
        sl_map_free_with(b->entries, sl_mem_free);
        sl_map_free_with(b->texts, sl_mem_free);
        sl_map_free(b->line_of);
        sl_map_free(b->amount_of);
        sl_mem_free(b->lines);
        sl_mem_free(b->amounts);
        sl_mem_free(b);
    }
}

static const char *keep(struct sl_bill *b, const char *text)
{
    char *kept = sl_map_find(b->texts, text);
    if (kept == NULL) {
        kept = sl_mem_text(text);
        sl_map_put(b->texts, text, (union sl_map_value){.pointer = kept});
    }
    return kept;
}

/* --- sums -------------------------------------------------------------------------------------------------------------- */

static uint32_t line_of(struct sl_bill *b, const struct entry *e)
{
    struct sl_buf key = {0};
    union sl_map_value at;
    sl_buf_print(&key, "%" PRIu32 " %s", e->number, e->queue);
    if (!sl_map_get(b->line_of, key.data, &at)) {
        at.number = b->line_count;
        b->lines = sl_mem_reach(b->lines, &b->line_cap, 64, b->line_count, sizeof *b->lines);
        b->lines[b->line_count++] =
            (struct sl_bill_line){.workload = e->workload, .queue = e->queue, .number = e->number};
        sl_map_put(b->line_of, key.data, at);
    }
    sl_buf_fini(&key);
    return (uint32_t)at.number;
}

static void add_amount(struct sl_bill *b, uint32_t line, const struct sl_history_row *row,
                       __int128 held)
{
    struct sl_buf key = {0};
    union sl_map_value at;
    sl_buf_print(&key, "%" PRIu32 " %s %s", line, row->flavor, row->resource);
    if (!sl_map_get(b->amount_of, key.data, &at)) {
        at.number = b->amount_count;
        b->amounts =
            sl_mem_reach(b->amounts, &b->amount_cap, 64, b->amount_count, sizeof *b->amounts);
        b->amounts[b->amount_count++] =
            (struct sl_bill_amount){line, row->flavor, row->resource, 0};
        sl_map_put(b->amount_of, key.data, at);
    }
    b->amounts[at.number].held += held;
    sl_buf_fini(&key);
}

static int64_t clip(const struct sl_bill *b, int64_t time_ms)
{
    return time_ms < b->since_ms ? b->since_ms : time_ms > b->until_ms ? b->until_ms : time_ms;
}

/* What it held, or waited, until then. */
static void settle(struct sl_bill *b, struct entry *e, int64_t until_ms)
{
    int64_t ms = until_ms <= e->since_ms ? 0 : clip(b, until_ms) - clip(b, e->since_ms);
    if (ms > 0 && (e->waits || e->row_count > 0)) {
        uint32_t line = line_of(b, e);
        b->lines[line].wait_ms += e->waits ? ms : 0;
        for (uint32_t i = 0; i < e->row_count; i++) {
            if (e->rows[i].amount > 0) {
                add_amount(b, line, &e->rows[i], (__int128)e->rows[i].amount * ms);
            }
        }
    }
    e->since_ms = until_ms > e->since_ms ? until_ms : e->since_ms;
}

/* --- moves ------------------------------------------------------------------------------------------------------------- */

static struct entry *entry_of(struct sl_bill *b, const struct sl_history_move *m)
{
    struct entry *e = sl_map_find(b->entries, m->workload);
    if (e == NULL) {
        e = sl_mem_new(1, sizeof *e);
        e->number = b->objects++;
        e->workload = keep(b, m->workload);
        e->queue = keep(b, "");
        e->since_ms = m->time_ms;
        sl_map_put(b->entries, m->workload, (union sl_map_value){.pointer = e});
    }
    return e;
}

static bool holds_the_same(const struct entry *e, const struct sl_history_move *m)
{
    bool same = e->row_count == m->row_count && strcmp(e->queue, m->queue) == 0;
    for (uint32_t i = 0; same && i < e->row_count; i++) {
        same = e->rows[i].amount == m->rows[i].amount &&
               strcmp(e->rows[i].flavor, m->rows[i].flavor) == 0 &&
               strcmp(e->rows[i].resource, m->rows[i].resource) == 0;
    }
    return same && e->waits == m->waits;
}

/* A run goes on where the last one ended, if it finds what that one left: it was held all the while. Else it is not known
 * until when. */
static void see(struct sl_bill *b, struct entry *e, const struct sl_history_move *m)
{
    if (!e->unseen) {
        return;
    }
    e->unseen = false;
    if (!m->found || !holds_the_same(e, m)) {
        b->lost += e->row_count > 0;
        e->waits = false;
        e->row_count = 0;
        e->since_ms = m->time_ms;
    }
}

static void take_rows(struct sl_bill *b, struct entry *e, const struct sl_history_move *m)
{
    e->queue = keep(b, m->queue);
    e->waits = m->waits;
    e->row_count = m->row_count;
    for (uint32_t i = 0; i < m->row_count; i++) {
        e->rows[i] = (struct sl_history_row){keep(b, m->rows[i].flavor),
                                             keep(b, m->rows[i].resource), m->rows[i].amount};
    }
}

static void count_news(struct sl_bill *b, const struct entry *e, const struct sl_history_move *m)
{
    for (uint32_t i = 0; i < m->news_count; i++) {
        enum sl_history_kind kind = m->news[i].kind;
        bool counts = kind == SL_HISTORY_RESERVED || kind == SL_HISTORY_EVICTED;
        if (counts && !m->found && m->time_ms >= b->since_ms && m->time_ms < b->until_ms) {
            uint32_t line = line_of(b, e);
            b->lines[line].reservations += kind == SL_HISTORY_RESERVED;
            b->lines[line].evictions += kind == SL_HISTORY_EVICTED;
        }
    }
}

static void take_move(void *context, const struct sl_history_move *m)
{
    struct sl_bill *b = context;
    struct entry *e = entry_of(b, m);
    b->now_ms = m->time_ms;
    see(b, e, m);
    if (!holds_the_same(e, m)) {
        settle(b, e, m->time_ms);
        e->since_ms = m->time_ms;
        take_rows(b, e, m);
    }
    count_news(b, e, m);
    if (m->over) {
        (void)sl_map_remove(b->entries, m->workload, NULL);
        sl_mem_free(e);
    }
}

/* Up to here it is known. */
static void take_end(void *context, int64_t time_ms)
{
    struct sl_bill *b = context;
    b->now_ms = time_ms;
    for (struct sl_map_item i = {0}; sl_map_each(b->entries, &i);) {
        struct entry *e = i.value.pointer;
        if (!e->unseen) {
            settle(b, e, time_ms);
        }
    }
}

static bool lose(struct sl_bill *b, const struct entry *e)
{
    b->lost += e->unseen && e->row_count > 0;
    return e->unseen;
}

/* What the last run left unseen, too, was gone by its begin. */
static void take_begin(void *context, int64_t time_ms)
{
    struct sl_bill *b = context;
    (void)time_ms;
    for (struct sl_map_item i = {0}; sl_map_each(b->entries, &i);) {
        struct entry *e = i.value.pointer;
        if (lose(b, e)) {
            (void)sl_map_remove(b->entries, i.key, NULL);
            sl_mem_free(e);
        } else {
            e->unseen = true;
        }
    }
}

struct sl_history_taker sl_bill_taker(struct sl_bill *b)
{
    return (struct sl_history_taker){
        .context = b, .begin = take_begin, .move = take_move, .end = take_end};
}

void sl_bill_close(struct sl_bill *b)
{
    SL_PRE(b != NULL);
    take_end(b, b->now_ms);
    for (struct sl_map_item i = {0}; sl_map_each(b->entries, &i);) {
        (void)lose(b, i.value.pointer);
    }
}

uint64_t sl_bill_lost(const struct sl_bill *b)
{
    return b->lost;
}

const struct sl_bill_line *sl_bill_lines(const struct sl_bill *b, size_t *count)
{
    SL_PRE(b != NULL && count != NULL);
    *count = b->line_count;
    return b->lines;
}

const struct sl_bill_amount *sl_bill_amounts(const struct sl_bill *b, size_t *count)
{
    SL_PRE(b != NULL && count != NULL);
    *count = b->amount_count;
    return b->amounts;
}

/* --- in words ---------------------------------------------------------------------------------------------------------- */

void sl_bill_print(__int128 held, const char *resource, char out[static SL_BILL_TEXT])
{
    SL_PRE(held >= 0 && resource != NULL);
    unsigned places = strcmp(resource, "cpu") == 0 ? 6 : 3;
    char digits[SL_BILL_TEXT];
    size_t at = sizeof digits - 1;
    digits[at] = '\0';
    bool written = false; /* trailing zeros behind the point are not */
    for (unsigned i = 0; held > 0 || i <= places; i++, held /= 10) {
        char digit = (char)('0' + (int)(held % 10));
        if (i == places && written) {
            digits[--at] = '.';
        }
        written = written || i >= places || digit != '0';
        if (written) {
            digits[--at] = digit;
        }
    }
    (void)snprintf(out, SL_BILL_TEXT, "%s", digits + at);
}
