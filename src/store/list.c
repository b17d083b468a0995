/* SPDX-License-Identifier: Apache-2.0
 * SPDX-FileCopyrightText: The Sluice authors */

/* Lists, in (namespace, name) order, read a page of rows at a time: the visitor may use the store,
 * and memory does not grow with the number of objects. A continue token names the last object that
 * was visited: v1:NAMESPACE/NAME of a list of what there is, v2:REVISION:REMAINING:NAMESPACE/NAME of one that stays
 * at its revision; REMAINING is - where it is not known. */
#include "store/internal.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/check.h"
#include "base/mem.h"
#include "base/effort.h"

#define PAGE_ROWS 64
#define PAGE_BYTES (1u << 20)
#define TOKEN_PREFIX "v1:"
#define TOKEN_THEN_PREFIX "v2:"
#define TOO_OLD                                                                                    \
    "The provided continue parameter is too old to display a consistent list result. You can "     \
    "start "                                                                                       \
    "a new list without the continue parameter, or use the continue token in this response to "    \
    "retrieve the remainder of the results. Continuing with the provided token results in an "     \
    "inconsistent list - objects that were created, modified, or deleted between the time the "    \
    "first chunk was returned and now may show up in the list."

struct row {
    char *ns, *name, *text;
    size_t text_size;
};
struct page {
    struct row rows[PAGE_ROWS];
    size_t count;
    bool last; /* no row follows */
};
struct cursor {
    char ns[256], name[256];
    uint64_t revision; /* that rows are read of; 0: as they are now */
    int64_t remaining; /* objects behind it; -1: not known */
};
struct tally {
    uint32_t visited, scanned;
    uint64_t begin; /* of the work */
};
struct visitor {
    sl_visit_fn *object; /* one of the three */
    sl_store_text_fn *text;
    sl_key_fn *key;
    void *context;
};

/* "REVISION:REMAINING:" of a token; NULL: that is not what it says. */
static const char *read_then(const char *token, struct cursor *at)
{
    char *end = NULL;
    if (token[0] < '1' || token[0] > '9') {
        return NULL;
    }
    at->revision = strtoull(token, &end, 10);
    if (*end != ':' || at->revision > INT64_MAX) {
        return NULL;
    }
    const char *count = end + 1;
    if (count[0] == '-' && count[1] == ':') {
        return count + 2;
    }
    at->remaining = count[0] >= '0' && count[0] <= '9' ? strtoll(count, &end, 10) : -1;
    return at->remaining >= 0 && *end == ':' ? end + 1 : NULL;
}

/* False: it is none. */
static bool parse_token(const char *token, struct cursor *at)
{
    *at = (struct cursor){.ns = "", .remaining = -1};
    const char *key = NULL;
    if (strncmp(token, TOKEN_PREFIX, strlen(TOKEN_PREFIX)) == 0) {
        key = token + strlen(TOKEN_PREFIX);
    } else if (strncmp(token, TOKEN_THEN_PREFIX, strlen(TOKEN_THEN_PREFIX)) == 0) {
        key = read_then(token + strlen(TOKEN_THEN_PREFIX), at);
    }
    const char *slash = key == NULL ? NULL : strchr(key, '/');
    if (slash == NULL || (size_t)(slash - key) >= sizeof at->ns ||
        strlen(slash + 1) >= sizeof at->name || slash[1] == '\0') {
        return false;
    }
    memcpy(at->ns, key, (size_t)(slash - key));
    (void)snprintf(at->name, sizeof at->name, "%s", slash + 1);
    return true;
}

/* Where the list goes on, or begins. */
static enum sl_code find_begin(struct sl_store *s, const struct sl_store_list *q, struct cursor *at,
                               struct sl_error *e)
{
    bool goes_on = q->continue_token != NULL && q->continue_token[0] != '\0';
    *at = (struct cursor){.ns = "", .remaining = -1, .revision = q->revision};
    if (goes_on && !parse_token(q->continue_token, at)) {
        return sl_error_set(e, SL_CODE_BAD_REQUEST,
                            "invalid continue token: continue key is not valid: %.80s",
                            q->continue_token);
    }
    if (at->revision == 0 || at->revision == s->revision) {
        at->revision = 0; /* that is now */
        return SL_CODE_OK;
    }
    if (sl_snapshot_has(s, at->revision)) {
        return SL_CODE_OK;
    }
    char why[sizeof e->text];
    (void)snprintf(why, sizeof why, "The provided resource version %llu is no longer kept",
                   (unsigned long long)at->revision);
    return sl_error_set(e, SL_CODE_GONE, "%s", goes_on ? TOO_OLD : why);
}

static enum sl_sql bind_page(struct sl_store *s, const struct sl_store_list *q,
                             const struct cursor *at)
{
    bool one_ns = q->ns != NULL && q->ns[0] != '\0';
    bool one_name = q->name != NULL && q->name[0] != '\0';
    enum sl_sql id = one_name ? SL_SQL_LIST_NAME /* from the index but for the rows of that name */
                     : one_ns ? SL_SQL_LIST_NS
                              : SL_SQL_LIST;
    if (at->revision != 0) {
        id = one_name ? SL_SQL_LIST_NAME_THEN : one_ns ? SL_SQL_LIST_NS_THEN : SL_SQL_LIST_THEN;
        sl_db_bind_int(s, id, 6, (int64_t)at->revision);
    }
    if (one_name) {
        sl_db_bind_text(s, id, 5, q->name);
    }
    sl_db_bind_int(s, id, 1, s->kind_ids[q->kind]);
    sl_db_bind_text(s, id, 2, one_ns && !one_name ? q->ns : at->ns);
    sl_db_bind_text(s, id, 3, at->name);
    sl_db_bind_int(s, id, 4, PAGE_ROWS);
    return id;
}

static const char *column(sqlite3_stmt *q, int at)
{
    return (const char *)sqlite3_column_text(q, at);
}

static enum sl_code read_page(struct sl_store *s, const struct sl_store_list *q,
                              const struct cursor *at, struct page *page, struct sl_error *e)
{
    size_t bytes = 0;
    enum sl_sql id = bind_page(s, q, at);
    sqlite3_stmt *sql = s->sql[id];
    int rc = sqlite3_step(sql);
    page->count = 0;
    while (rc == SQLITE_ROW && sqlite3_column_int(sql, 3) != 0) {
        struct row *row = &page->rows[page->count++];
        row->text_size = (size_t)sqlite3_column_bytes(sql, 2);
        row->ns = sl_mem_text(column(sql, 0));
        row->name = sl_mem_text(column(sql, 1));
        row->text = column(sql, 2) == NULL ? NULL : sl_mem_text_n(column(sql, 2), row->text_size);
        bytes += row->text_size;
        if (page->count == PAGE_ROWS || bytes >= PAGE_BYTES) {
            break;
        }
        rc = sqlite3_step(sql);
    }
    page->last = rc == SQLITE_DONE;
    enum sl_code code = SL_CODE_OK;
    if (rc == SQLITE_ROW && sqlite3_column_int(sql, 3) == 0) {
        code = sl_whole_fail(s, q->kind, column(sql, 0), column(sql, 1), e);
    } else if (rc != SQLITE_DONE && rc != SQLITE_ROW) {
        code = sl_db_fail(s, "read the database", e);
    }
    sqlite3_reset(sql);
    sqlite3_clear_bindings(sql);
    return code;
}

static void free_page(struct page *page)
{
    for (size_t i = 0; i < page->count; i++) {
        sl_mem_free(page->rows[i].ns);
        sl_mem_free(page->rows[i].name);
        sl_mem_free(page->rows[i].text);
    }
    page->count = 0;
}

/* Is it time to stop, with more to come? */
static bool is_enough(const struct sl_store_list *q, const struct tally *t)
{
    return (q->limit > 0 && t->visited == q->limit) ||
           (q->scan_max > 0 && t->scanned == q->scan_max) ||
           (q->work_max > 0 && sl_effort_steps - t->begin >= q->work_max);
}

/* Whether the row was for the visitor. */
static bool visit_row(const struct sl_store_list *q, const struct row *row, const struct visitor *v)
{
    if ((q->ns != NULL && q->ns[0] != '\0' && strcmp(q->ns, row->ns) != 0) || row->text == NULL) {
        return false; /* of another namespace, or it came later */
    }
    struct sl_json *object = NULL;
    bool wanted = true;
    sl_effort_text(row->text_size);
    if (v->object != NULL || q->labels != NULL || q->fields != NULL) {
        object = sl_json_parse(row->text, row->text_size, NULL);
        wanted = object != NULL && (q->labels == NULL || sl_selector_matches(q->labels, object)) &&
                 (q->fields == NULL || sl_selector_matches(q->fields, object));
    }
    if (wanted && v->object != NULL) {
        v->object(v->context, object);
    } else if (wanted && v->key != NULL) {
        v->key(v->context, row->ns, row->name);
    } else if (wanted) {
        v->text(v->context, row->text, row->text_size);
    }
    sl_json_free(object);
    return wanted;
}

/* How many there are, when the first page ends; those of later pages know it by their tokens. */
static int64_t count_all(struct sl_store *s, const struct sl_store_list *q, const struct cursor *at)
{
    bool first = q->continue_token == NULL || q->continue_token[0] == '\0';
    bool selects =
        q->labels != NULL || q->fields != NULL || (q->name != NULL && q->name[0] != '\0');
    return !first              ? at->remaining
           : selects           ? -1
           : at->revision != 0 ? -1
                               : sl_snapshot_count(s, q->kind, q->ns != NULL ? q->ns : "");
}

static char *print_token(const struct cursor *at)
{
    struct sl_buf token = {0};
    if (at->revision == 0) {
        sl_buf_print(&token, TOKEN_PREFIX);
    } else if (at->remaining < 0) {
        sl_buf_print(&token, TOKEN_THEN_PREFIX "%llu:-:", (unsigned long long)at->revision);
    } else {
        sl_buf_print(&token, TOKEN_THEN_PREFIX "%llu:%lld:", (unsigned long long)at->revision,
                     (long long)at->remaining);
    }
    sl_buf_print(&token, "%s/%s", at->ns, at->name);
    return sl_buf_take(&token);
}

/* `at`: the last object of a page. */
static enum sl_code make_token(struct sl_store *s, const struct sl_store_list *q,
                               const struct cursor *at, const struct tally *t, char **out,
                               struct sl_error *e)
{
    struct cursor next = *at;
    enum sl_code code = SL_CODE_OK;
    next.revision = 0;
    if (q->consistent) {
        int64_t all = count_all(s, q, at);
        next.remaining = all < (int64_t)t->visited ? -1 : all - (int64_t)t->visited;
        next.revision = at->revision != 0 ? at->revision : s->revision;
        code = sl_snapshot_pin(s, next.revision, e);
    }
    *out = code == SL_CODE_OK ? print_token(&next) : NULL;
    return code;
}

int64_t sl_store_list_remaining(const char *token)
{
    struct cursor at;
    return parse_token(token, &at) ? at.remaining : -1;
}

char *sl_store_list_token_now_new(const char *token)
{
    struct cursor at;
    bool valid = parse_token(token, &at);
    SL_PRE(valid);
    at.revision = 0;
    return print_token(&at);
}

static enum sl_code list(struct sl_store *s, const struct sl_store_list *q, const struct visitor *v,
                         uint64_t *revision, char **next, struct sl_error *e)
{
    struct cursor at;
    struct page page = {.count = 0};
    struct tally tally = {.begin = sl_effort_steps};
    sl_error_clear(e);
    enum sl_code code = find_begin(s, q, &at, e);
    *revision = at.revision != 0 ? at.revision : s->revision; /* before the first row */
    char *token = NULL;
    while (code == SL_CODE_OK && !page.last && token == NULL) {
        code = read_page(s, q, &at, &page, e);
        for (size_t i = 0; i < page.count && code == SL_CODE_OK && token == NULL; i++) {
            tally.visited += visit_row(q, &page.rows[i], v);
            (void)snprintf(at.ns, sizeof at.ns, "%s", page.rows[i].ns);
            (void)snprintf(at.name, sizeof at.name, "%s", page.rows[i].name);
            tally.scanned++;
            if (is_enough(q, &tally) && !(page.last && i + 1 == page.count)) {
                code = make_token(s, q, &at, &tally, &token, e);
            }
        }
        free_page(&page);
    }
    if (code == SL_CODE_OK && next != NULL) {
        *next = token;
    } else {
        sl_mem_free(token);
    }
    return code;
}

enum sl_code sl_store_list(struct sl_store *s, const struct sl_store_list *q, sl_visit_fn *visit,
                           void *context, uint64_t *resource_version, char **next,
                           struct sl_error *e)
{
    SL_PRE(q->kind < SL_KIND_COUNT && visit != NULL);
    uint64_t revision; /* a watch from here misses nothing */
    enum sl_code code =
        list(s, q, &(struct visitor){.object = visit, .context = context}, &revision, next, e);
    if (code == SL_CODE_OK && resource_version != NULL) {
        *resource_version = revision;
    }
    return code;
}

enum sl_code sl_store_list_text(struct sl_store *s, const struct sl_store_list *q,
                                sl_store_text_fn *visit, void *context, uint64_t *resource_version,
                                char **next, struct sl_error *e)
{
    SL_PRE(q->kind < SL_KIND_COUNT && visit != NULL);
    uint64_t revision;
    enum sl_code code =
        list(s, q, &(struct visitor){.text = visit, .context = context}, &revision, next, e);
    if (code == SL_CODE_OK && resource_version != NULL) {
        *resource_version = revision;
    }
    return code;
}

enum sl_code sl_store_list_keys(struct sl_store *s, const struct sl_store_list *q, sl_key_fn *visit,
                                void *context, char **next, struct sl_error *e)
{
    SL_PRE(q->kind < SL_KIND_COUNT && visit != NULL);
    uint64_t revision;
    return list(s, q, &(struct visitor){.key = visit, .context = context}, &revision, next, e);
}
