/* SPDX-License-Identifier: Apache-2.0
 * SPDX-FileCopyrightText: The Sluice authors */

/* Lists, in (namespace, name) order, read a page of rows at a time: the visitor may use the store,
 * and memory does not grow with the number of objects. A continue token names the last object that
 * was visited. */
#include "store/internal.h"

#include <stdio.h>
#include <string.h>

#include "base/check.h"
#include "base/mem.h"
#include "base/effort.h"

#define PAGE_ROWS 64
#define PAGE_BYTES (1u << 20)
#define TOKEN_PREFIX "v1:"

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

static enum sl_code read_token(const char *token, struct cursor *at, struct sl_error *e)
{
    *at = (struct cursor){.ns = ""};
    if (token == NULL || token[0] == '\0') {
        return SL_CODE_OK;
    }
    const char *slash = strchr(token, '/');
    size_t prefix = strlen(TOKEN_PREFIX);
    if (strncmp(token, TOKEN_PREFIX, prefix) != 0 || slash == NULL ||
        (size_t)(slash - token) - prefix >= sizeof at->ns || strlen(slash + 1) >= sizeof at->name ||
        slash[1] == '\0') {
        return sl_error_set(e, SL_CODE_BAD_REQUEST, "continue key is not valid: %.100s", token);
    }
    memcpy(at->ns, token + prefix, (size_t)(slash - token) - prefix);
    (void)snprintf(at->name, sizeof at->name, "%s", slash + 1);
    return SL_CODE_OK;
}

static enum sl_sql bind_page(struct sl_store *s, const struct sl_store_list *q,
                             const struct cursor *at)
{
    enum sl_sql id = SL_SQL_LIST;
    bool one_ns = q->ns != NULL && q->ns[0] != '\0';
    if (q->name != NULL && q->name[0] != '\0') {
        id = SL_SQL_LIST_NAME; /* answered from the index but for the few rows of that name */
        sl_db_bind_text(s, id, 5, q->name);
    } else if (one_ns) {
        id = SL_SQL_LIST_NS;
    }
    sl_db_bind_int(s, id, 1, s->kind_ids[q->kind]);
    sl_db_bind_text(s, id, 2, id == SL_SQL_LIST_NS ? q->ns : at->ns);
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
        row->text = sl_mem_text_n(column(sql, 2), row->text_size);
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
    if (q->ns != NULL && q->ns[0] != '\0' && strcmp(q->ns, row->ns) != 0) {
        return false;
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

static char *make_token(const struct cursor *at)
{
    struct sl_buf token = {0};
    sl_buf_print(&token, TOKEN_PREFIX "%s/%s", at->ns, at->name);
    return sl_buf_take(&token);
}

static enum sl_code list(struct sl_store *s, const struct sl_store_list *q, const struct visitor *v,
                         char **next, struct sl_error *e)
{
    struct cursor at;
    struct page page = {.count = 0};
    struct tally tally = {.begin = sl_effort_steps};
    sl_error_clear(e);
    enum sl_code code = read_token(q->continue_token, &at, e);
    char *token = NULL;
    while (code == SL_CODE_OK && !page.last && token == NULL) {
        code = read_page(s, q, &at, &page, e);
        for (size_t i = 0; i < page.count && code == SL_CODE_OK && token == NULL; i++) {
            tally.visited += visit_row(q, &page.rows[i], v);
            (void)snprintf(at.ns, sizeof at.ns, "%s", page.rows[i].ns);
            (void)snprintf(at.name, sizeof at.name, "%s", page.rows[i].name);
            tally.scanned++;
            if (is_enough(q, &tally) && !(page.last && i + 1 == page.count)) {
                token = make_token(&at);
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
    uint64_t revision = s->revision; /* before the first row: a watch from here misses nothing */
    enum sl_code code = list(s, q, &(struct visitor){.object = visit, .context = context}, next, e);
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
    uint64_t revision = s->revision;
    enum sl_code code = list(s, q, &(struct visitor){.text = visit, .context = context}, next, e);
    if (code == SL_CODE_OK && resource_version != NULL) {
        *resource_version = revision;
    }
    return code;
}

enum sl_code sl_store_list_keys(struct sl_store *s, const struct sl_store_list *q, sl_key_fn *visit,
                                void *context, char **next, struct sl_error *e)
{
    SL_PRE(q->kind < SL_KIND_COUNT && visit != NULL);
    return list(s, q, &(struct visitor){.key = visit, .context = context}, next, e);
}
