/* SPDX-License-Identifier: Apache-2.0
 * SPDX-FileCopyrightText: The Sluice authors */

/* Writing the compressed form of a topology assignment. Node names come in runs that begin alike
 * ("pool-a-", "pool-b-"); a slice for each run takes their beginnings out of the names, one slice
 * for all says less beside them. The shorter text is taken. */
#include "api/objects/topology_assignment.h"
#include "base/check.h"
#include "base/mem.h"
#include <stdlib.h>
#include <string.h>

/* --- one slice -------------------------------------------------------------------------------- */

struct span { /* rows first .. last - 1 */
    const struct sl_assignment_rows *rows;
    uint32_t first;
    uint32_t last;
};

static const char *value_at(const struct sl_assignment_rows *rows, uint32_t row, uint32_t level)
{
    return rows->values[(size_t)row * rows->level_count + level];
}

static size_t common_start(const char *a, const char *b, size_t most)
{
    size_t n = 0;
    while (n < most && a[n] == b[n]) {
        n++;
    }
    return n;
}

static size_t common_end(const char *a, size_t a_len, const char *b, size_t b_len, size_t most)
{
    size_t n = 0;
    while (n < most && n < b_len && a[a_len - 1 - n] == b[b_len - 1 - n]) {
        n++;
    }
    return n;
}

static void set_part(struct sl_json *v, const char *key, const char *text, size_t len)
{
    if (len > 0) {
        char *part = sl_mem_text_n(text, len);
        sl_json_set_text(v, key, part);
        sl_mem_free(part);
    }
}

static struct sl_json *values_new(const struct span *s, uint32_t level)
{
    const char *one = value_at(s->rows, s->first, level);
    size_t one_len = strlen(one);
    size_t prefix = one_len;
    size_t suffix = one_len;
    size_t shortest = one_len;
    bool same = true;
    for (uint32_t i = s->first + 1; i < s->last; i++) {
        const char *value = value_at(s->rows, i, level);
        size_t len = strlen(value);
        prefix = common_start(one, value, prefix);
        suffix = common_end(one, one_len, value, len, suffix);
        shortest = len < shortest ? len : shortest;
        same = same && prefix == one_len && len == one_len;
    }
    struct sl_json *v = sl_json_new_map();
    if (same) {
        sl_json_set_text(v, "universal", one);
        return v;
    }
    if (prefix + suffix > shortest) {
        prefix = shortest - suffix; /* "aba" and "ababa": the two must not overlap */
    }
    struct sl_json *each = sl_json_new_map();
    struct sl_json *roots = sl_json_new_list();
    set_part(each, "prefix", one, prefix);
    set_part(each, "suffix", one + one_len - suffix, suffix);
    for (uint32_t i = s->first; i < s->last; i++) {
        const char *value = value_at(s->rows, i, level);
        char *root = sl_mem_text_n(value + prefix, strlen(value) - prefix - suffix);
        sl_json_append(roots, sl_json_new_text(root));
        sl_mem_free(root);
    }
    sl_json_set(each, "roots", roots);
    sl_json_set(v, "individual", each);
    return v;
}

static struct sl_json *counts_new(const struct span *s)
{
    struct sl_json *v = sl_json_new_map();
    bool same = true;
    for (uint32_t i = s->first + 1; i < s->last; i++) {
        same = same && s->rows->counts[i] == s->rows->counts[s->first];
    }
    if (same) {
        sl_json_set_int(v, "universal", s->rows->counts[s->first]);
        return v;
    }
    struct sl_json *each = sl_json_new_list();
    for (uint32_t i = s->first; i < s->last; i++) {
        sl_json_append(each, sl_json_new_int(s->rows->counts[i]));
    }
    sl_json_set(v, "individual", each);
    return v;
}

/* Slices for the rows of a run: as many as the API's limit on domains of a slice asks for. */
static void append_run(struct sl_json *slices, struct span run)
{
    for (uint32_t first = run.first; first < run.last; first += SL_ASSIGNMENT_DOMAINS_MAX) {
        uint32_t left = run.last - first;
        struct span s = {run.rows, first,
                         first +
                             (left < SL_ASSIGNMENT_DOMAINS_MAX ? left : SL_ASSIGNMENT_DOMAINS_MAX)};
        struct sl_json *slice = sl_json_new_map();
        struct sl_json *values = sl_json_new_list();
        for (uint32_t k = 0; k < s.rows->level_count; k++) {
            sl_json_append(values, values_new(&s, k));
        }
        sl_json_set_int(slice, "domainCount", s.last - s.first);
        sl_json_set(slice, "valuesPerLevel", values);
        sl_json_set(slice, "podCounts", counts_new(&s));
        sl_json_append(slices, slice);
    }
}

/* --- runs of names that begin alike ----------------------------------------------------------- */

/* How often a name says '-' within its first `len` bytes, a last byte of the name aside: so many
 * beginnings could be shared. */
static uint32_t dashes(const char *name, size_t len)
{
    uint32_t n = 0;
    for (size_t i = 0; i < len && name[i] != '\0' && name[i + 1] != '\0'; i++) {
        n += name[i] == '-';
    }
    return n;
}

struct named {
    const char *name;
    uint32_t row;
};

static int by_name(const void *a, const void *b)
{
    return strcmp(((const struct named *)a)->name, ((const struct named *)b)->name);
}

/* Of every row, how many dashes of its name lie in a prefix that some other row has as well. In
 * sorted order that row is next to it. */
static void find_shared(const struct sl_assignment_rows *rows, uint32_t *shared)
{
    struct named *sorted = sl_mem_new(rows->row_count, sizeof *sorted);
    for (uint32_t i = 0; i < rows->row_count; i++) {
        sorted[i] = (struct named){value_at(rows, i, rows->level_count - 1), i};
    }
    qsort(sorted, rows->row_count, sizeof *sorted, by_name);
    for (uint32_t i = 1; i < rows->row_count; i++) {
        const char *name = sorted[i].name;
        size_t len = common_start(sorted[i - 1].name, name, strlen(sorted[i - 1].name));
        uint32_t before = dashes(sorted[i - 1].name, len);
        uint32_t here = dashes(name, len);
        uint32_t *last = &shared[sorted[i - 1].row];
        *last = before > *last ? before : *last;
        shared[sorted[i].row] = here;
    }
    sl_mem_free(sorted);
}

struct runs {
    uint32_t *shared; /* per row, see above */
    uint32_t *alike;  /* per row: dashes in the beginning that it shares with the row before it */
    uint32_t depth;   /* no more dashes than this in what a run shares */
};

static bool joins(const struct runs *r, uint32_t row)
{
    uint32_t before = r->shared[row - 1] < r->depth ? r->shared[row - 1] : r->depth;
    uint32_t here = r->shared[row] < r->depth ? r->shared[row] : r->depth;
    return before == here && r->alike[row] >= here;
}

/* The end of the run that begins at `first`. */
static uint32_t run_end(const struct runs *r, uint32_t first, uint32_t row_count)
{
    uint32_t end = first + 1;
    while (end < row_count && joins(r, end)) {
        end++;
    }
    return end;
}

static uint32_t count_slices(const struct runs *r, uint32_t row_count)
{
    uint32_t count = 0;
    for (uint32_t first = 0; first < row_count;) {
        uint32_t end = run_end(r, first, row_count);
        count += (end - first + SL_ASSIGNMENT_DOMAINS_MAX - 1) / SL_ASSIGNMENT_DOMAINS_MAX;
        first = end;
    }
    return count;
}

/* The longest beginnings with which the slices are not too many; depth 0 makes one run of all. */
static void find_runs(const struct sl_assignment_rows *rows, struct runs *r)
{
    r->shared = sl_mem_new(rows->row_count, sizeof *r->shared);
    r->alike = sl_mem_new(rows->row_count, sizeof *r->alike);
    find_shared(rows, r->shared);
    for (uint32_t i = 0; i < rows->row_count; i++) {
        const char *name = value_at(rows, i, rows->level_count - 1);
        r->depth = r->shared[i] > r->depth ? r->shared[i] : r->depth;
        if (i > 0) {
            const char *before = value_at(rows, i - 1, rows->level_count - 1);
            r->alike[i] = dashes(name, common_start(before, name, strlen(before)));
        }
    }
    while (r->depth > 0 && count_slices(r, rows->row_count) > SL_ASSIGNMENT_SLICES_MAX) {
        r->depth--;
    }
}

/* --- the whole -------------------------------------------------------------------------------- */

static struct sl_json *form_new(const struct sl_assignment_rows *rows, const struct runs *r)
{
    struct sl_json *a = sl_json_new_map();
    struct sl_json *levels = sl_json_new_list();
    struct sl_json *slices = sl_json_new_list();
    for (uint32_t k = 0; k < rows->level_count; k++) {
        sl_json_append(levels, sl_json_new_text(rows->levels[k]));
    }
    for (uint32_t first = 0; first < rows->row_count;) {
        uint32_t end = r == NULL ? rows->row_count : run_end(r, first, rows->row_count);
        append_run(slices, (struct span){rows, first, end});
        first = end;
    }
    sl_json_set(a, "levels", levels);
    sl_json_set(a, "slices", slices);
    return a;
}

static size_t printed_len(const struct sl_json *v)
{
    struct sl_buf text = {0};
    sl_json_print(v, &text);
    size_t len = text.len;
    sl_buf_fini(&text);
    return len;
}

struct sl_json *sl_topology_assignment_new(const struct sl_assignment_rows *rows)
{
    SL_PRE(rows->level_count >= 1 && rows->level_count <= SL_ASSIGNMENT_LEVELS_MAX);
    bool of_nodes = strcmp(rows->levels[rows->level_count - 1], SL_ASSIGNMENT_HOSTNAME) == 0;
    if (!of_nodes || rows->row_count < 2) {
        return form_new(rows, NULL);
    }
    struct runs r = {0};
    find_runs(rows, &r);
    struct sl_json *best = form_new(rows, &r);
    if (sl_json_len(sl_json_get(best, "slices")) > 1 &&
        rows->row_count <= SL_ASSIGNMENT_DOMAINS_MAX) {
        struct sl_json *single = form_new(rows, NULL);
        bool shorter = printed_len(single) < printed_len(best);
        sl_json_free(shorter ? best : single);
        best = shorter ? single : best;
    }
    sl_mem_free(r.shared);
    sl_mem_free(r.alike);
    return best;
}
