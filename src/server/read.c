/* SPDX-License-Identifier: Apache-2.0
 * SPDX-FileCopyrightText: The Sluice authors */

/* Get and list. A list is read from the store page by page; what does not fit the first page is
 * streamed, so that memory does not grow with its length. */
#include <stdlib.h>
#include <string.h>

#include "base/check.h"
#include "base/mem.h"
#include "server/rest.h"

#define FIRST_PAGE 100u
#define WHOLE_STEPS 2500u /* of a list that is made in one piece: what it takes to read its texts */
#define TABLE_PAGE 100u   /* rows need parsed objects, which are large */
#define PAGE_BYTES (1u << 20) /* what a page should come to, going by the ones before */

void sl_read_get(struct sl_request *r)
{
    SL_PRE(r != NULL);
    struct sl_error e;
    struct sl_json *object = NULL;
    const struct sl_route *route = &r->route;
    r->wait = sl_store_dirty(r->rest->store);
    if (sl_store_get(r->rest->store, route->kind, route->ns, route->name, &object, &e) !=
        SL_CODE_OK) {
        bool wait = r->wait;
        sl_answer_error(r, &e);
        r->wait = wait;
        return;
    }
    sl_answer_object(r, 200, object);
    sl_json_free(object);
}

/* --- lists ----------------------------------------------------------------------------------- */

struct list {
    struct sl_stream stream;
    struct sl_rest *rest;
    struct sl_shown shown;
    unsigned turn; /* of the kind's slot: a list does not go on with another kind */
    enum sl_shape shape;
    char *ns, *include;
    struct sl_choice choice;
    char *token;   /* where the next page starts; NULL: from the start, or nothing follows */
    uint32_t left; /* of the client's limit; 0 with `limited` = done */
    uint32_t page; /* items to read next */
    bool limited, done;
    bool whole;        /* it is printed from one value: as YAML, or with blanks */
    uint64_t revision; /* of all pages; 0: that of the first one */
    size_t items;
    struct sl_buf *out;    /* while a page is read */
    struct sl_json *rows;  /* parsed objects of a Table's page */
    struct sl_error error; /* why an object could not be shown */
};

static void list_free(struct sl_stream *stream)
{
    struct list *l = (struct list *)stream;
    sl_choice_fini(&l->choice);
    sl_mem_free(l->ns);
    sl_mem_free(l->include);
    sl_mem_free(l->token);
    sl_mem_free(l);
}

static void add_text(void *context, const char *text, size_t text_size)
{
    struct list *l = context;
    if (l->items++ > 0) {
        sl_buf_add(l->out, ",", 1);
    }
    sl_buf_add(l->out, text, text_size);
}

static void add_value(struct list *l, const struct sl_json *value)
{
    if (l->items++ > 0) {
        sl_buf_add(l->out, ",", 1);
    }
    sl_json_print(value, l->out);
}

/* One that cannot be shown ends the list: a list without it would say that there is none. */
static void add_shown(struct list *l, struct sl_json *object, bool whole)
{
    struct sl_json *seen =
        l->error.code == SL_CODE_OK ? sl_shown_new(&l->shown, object, &l->error) : NULL;
    if (seen != NULL) {
        struct sl_json *value = whole ? sl_json_ref(seen) : sl_shape_metadata_new(seen);
        add_value(l, value);
        sl_json_free(value);
    }
    sl_json_free(seen);
}

static void add_metadata(void *context, struct sl_json *object)
{
    add_shown(context, object, false);
}

static void add_old(void *context, struct sl_json *object)
{
    add_shown(context, object, true);
}

static void keep_object(void *context, struct sl_json *object)
{
    struct list *l = context;
    sl_json_append(l->rows, sl_json_ref(object));
}

static void add_rows(struct list *l)
{
    struct sl_json *table = sl_shape_table_new(&l->shown, l->rows, l->include, true);
    const struct sl_json *rows = sl_json_get(table, "rows");
    for (size_t i = 0; i < sl_json_len(rows); i++) {
        add_value(l, sl_json_at(rows, i));
    }
    sl_json_free(table);
}

static enum sl_code read_shape(struct list *l, const struct sl_store_list *q, uint64_t *revision,
                               char **next, struct sl_error *e)
{
    if (l->shape == SL_SHAPE_OBJECT && l->shown.old) {
        return sl_store_list(l->rest->store, q, add_old, l, revision, next, e);
    }
    if (l->shape == SL_SHAPE_OBJECT) {
        return sl_store_list_text(l->rest->store, q, add_text, l, revision, next, e);
    }
    if (l->shape == SL_SHAPE_METADATA) {
        return sl_store_list(l->rest->store, q, add_metadata, l, revision, next, e);
    }
    l->rows = sl_json_new_list();
    enum sl_code code = sl_store_list(l->rest->store, q, keep_object, l, revision, next, e);
    if (code == SL_CODE_OK) {
        add_rows(l);
    }
    sl_json_free(l->rows);
    return code;
}

/* As many items as should make up PAGE_BYTES, going by those just read: objects may be large. */
static uint32_t next_page(const struct list *l, size_t items, size_t bytes)
{
    uint32_t most = l->shape == SL_SHAPE_TABLE ? TABLE_PAGE : SL_LIST_PAGE;
    size_t fitting = bytes == 0 ? most : PAGE_BYTES * items / bytes;
    return fitting > most ? most : fitting < 1 ? 1 : (uint32_t)fitting;
}

/* Appends one page of items. */
static enum sl_code read_page(struct list *l, struct sl_buf *out, struct sl_error *e)
{
    uint64_t revision = 0;
    char *next = NULL;
    const size_t before = l->items, bytes_before = out->len;
    struct sl_store_list q = {.kind = l->shown.kind,
                              .ns = l->ns,
                              .labels = l->choice.labels,
                              .fields = l->choice.fields,
                              .limit = l->limited && l->left < l->page ? l->left : l->page,
                              .continue_token = l->token,
                              .name = l->choice.name,
                              .scan_max = SL_SCAN_MAX,
                              .work_max = l->whole ? WHOLE_STEPS : SL_SLICE_STEPS,
                              .consistent = true,
                              .revision = l->revision};
    l->out = out;
    enum sl_code code = read_shape(l, &q, &revision, &next, e);
    if (code == SL_CODE_OK && l->error.code != SL_CODE_OK) {
        *e = l->error;
        code = e->code;
        sl_mem_free(next);
    }
    if (code != SL_CODE_OK) {
        return code;
    }
    if (l->revision == 0) {
        l->revision = revision;
    }
    l->left -= l->limited ? (uint32_t)(l->items - before) : 0;
    l->page = next_page(l, l->items - before, out->len - bytes_before);
    sl_mem_free(l->token);
    l->token = next;
    l->done = next == NULL || (l->limited && l->left == 0);
    return SL_CODE_OK;
}

static void print_metadata(const struct list *l, struct sl_buf *out)
{
    sl_buf_print(out, "\"metadata\":{\"resourceVersion\":\"%llu\"",
                 (unsigned long long)l->revision);
    if (l->token != NULL) {
        sl_buf_print(out, ",\"continue\":\"%s\"", l->token);
        int64_t remaining = sl_store_list_remaining(l->token);
        if (remaining >= 0) {
            sl_buf_print(out, ",\"remainingItemCount\":%lld", (long long)remaining);
        }
    }
    sl_buf_text(out, "}");
}

static void print_head(const struct list *l, struct sl_buf *out)
{
    const struct sl_kind_info *info = sl_kind_info(l->shown.kind);
    if (l->shape == SL_SHAPE_OBJECT) {
        sl_buf_print(out, "{\"kind\":\"%sList\",\"apiVersion\":\"%s\",", info->kind,
                     sl_shown_version(&l->shown));
    } else if (l->shape == SL_SHAPE_METADATA) {
        sl_buf_text(out,
                    "{\"kind\":\"PartialObjectMetadataList\",\"apiVersion\":\"meta.k8s.io/v1\",");
    } else {
        struct sl_json *none = sl_json_new_list();
        struct sl_json *table = sl_shape_table_new(&l->shown, none, "None", true);
        sl_buf_text(out,
                    "{\"kind\":\"Table\",\"apiVersion\":\"meta.k8s.io/v1\",\"columnDefinitions\":");
        sl_json_print(sl_json_get(table, "columnDefinitions"), out);
        sl_buf_text(out, ",");
        sl_json_free(table);
        sl_json_free(none);
    }
}

static const char *items_key(const struct list *l)
{
    return l->shape == SL_SHAPE_TABLE ? "\"rows\":[" : "\"items\":[";
}

static enum sl_stream_step list_fill(struct sl_stream *stream, struct sl_buf *out)
{
    struct list *l = (struct list *)stream;
    struct sl_error e;
    if (sl_kind_turn(l->shown.kind) != l->turn) {
        return SL_STREAM_ABORT;
    }
    if (sl_store_dirty(l->rest->store)) {
        return SL_STREAM_WAIT; /* what is staged may still be lost */
    }
    if (read_page(l, out, &e) != SL_CODE_OK) {
        return SL_STREAM_ABORT; /* the client sees a cut body, never a short list */
    }
    if (!l->done) {
        return SL_STREAM_MORE;
    }
    sl_buf_text(out, "],");
    print_metadata(l, out);
    sl_buf_text(out, "}\n");
    return SL_STREAM_END;
}

static bool list_ready(struct sl_stream *stream, int64_t now_ms)
{
    (void)now_ms;
    return !sl_store_dirty(((struct list *)stream)->rest->store);
}

bool sl_read_revision(struct sl_request *r, uint64_t *out)
{
    const char *text = sl_request_arg(r, "resourceVersion", "");
    char *end = NULL;
    *out = strtoull(text, &end, 10);
    if (*end != '\0' || text[0] == '-') {
        sl_answer_fail(r, SL_CODE_BAD_REQUEST,
                       "Invalid value: \"%.40s\": resourceVersion is not a number", text);
        return false;
    }
    if (*out > sl_store_revision(r->rest->store)) {
        sl_answer_fail(r, SL_CODE_TIMEOUT, "Too large resource version: %llu, current: %llu",
                       (unsigned long long)*out,
                       (unsigned long long)sl_store_revision(r->rest->store));
        return false;
    }
    return true;
}

/* resourceVersion of a list: this server answers with now, which satisfies all but the future, unless exactly that one is
 * asked for. *exact is 0 then. */
static bool check_revision(struct sl_request *r, uint64_t *exact)
{
    uint64_t revision;
    if (!sl_read_revision(r, &revision)) {
        return false;
    }
    if (revision > 0 && sl_request_arg(r, "continue", "")[0] != '\0') {
        sl_answer_fail(r, SL_CODE_BAD_REQUEST,
                       "specifying resource version is not allowed when using continue");
        return false;
    }
    *exact = strcmp(sl_request_arg(r, "resourceVersionMatch", ""), "Exact") == 0 ? revision : 0;
    return true;
}

/* A list that is no longer kept: its rest can be had as it is now. */
static void answer_old(struct sl_request *r, const struct sl_error *e)
{
    const char *token = sl_request_arg(r, "continue", "");
    if (e->code != SL_CODE_GONE || token[0] == '\0') {
        sl_answer_error(r, e);
        return;
    }
    struct sl_json *status = sl_status_new(e, SL_KIND_COUNT, "");
    char *now = sl_store_list_token_now_new(token);
    sl_json_set_text(sl_json_path_make(status, "metadata"), "continue", now);
    sl_answer_json(r, sl_code_http(e->code), status);
    sl_mem_free(now);
    sl_json_free(status);
}

static bool check_limit(struct sl_request *r)
{
    const char *limit = sl_request_arg(r, "limit", "");
    if (limit[strspn(limit, "0123456789")] != '\0') {
        sl_answer_fail(r, SL_CODE_BAD_REQUEST, "Invalid value: \"%.40s\": limit is not a number",
                       limit);
        return false;
    }
    return true;
}

static bool is_head(const struct sl_request *r)
{
    return strcmp(r->method, "HEAD") == 0;
}

static struct list *list_new(struct sl_request *r)
{
    struct list *l = sl_mem_new(1, sizeof *l);
    unsigned long long n = strtoull(sl_request_arg(r, "limit", "0"), NULL, 10);
    bool whole = r->accept.yaml || sl_request_flag(r, "pretty");
    *l = (struct list){.stream = {list_fill, list_ready, list_free},
                       .rest = r->rest,
                       .shown = sl_shown_by(r),
                       .turn = sl_kind_turn(r->route.kind),
                       .shape = r->accept.shape,
                       .ns = sl_mem_text(r->route.ns),
                       .include = sl_mem_text(sl_request_arg(r, "includeObject", "Metadata")),
                       .token = sl_mem_text(sl_request_arg(r, "continue", "")),
                       .page = is_head(r) ? 1
                               : whole    ? SL_SCAN_MAX
                                          : FIRST_PAGE,
                       .whole = whole,
                       .limited = n > 0,
                       .left = n < UINT32_MAX ? (uint32_t)n : UINT32_MAX};
    return l;
}

static void answer_whole(struct sl_request *r, const struct list *l, const struct sl_buf *items)
{
    struct sl_buf whole = {0};
    print_head(l, &whole);
    print_metadata(l, &whole);
    sl_buf_print(&whole, ",%s", items_key(l));
    sl_buf_add(&whole, items->data != NULL ? items->data : "", items->len);
    sl_buf_text(&whole, "]}");
    if (r->accept.yaml || sl_request_flag(r, "pretty")) {
        struct sl_error e;
        struct sl_json *value = sl_json_parse(whole.data, whole.len, &e);
        if (value != NULL) {
            sl_answer_json(r, 200, value);
        } else {
            sl_answer_fail(r, SL_CODE_INTERNAL, "an object of the list is damaged: %.300s", e.text);
        }
        sl_json_free(value);
        sl_buf_fini(&whole);
        return;
    }
    sl_buf_text(&whole, "\n");
    r->answer =
        (struct sl_answer){.status = 200, .content_type = "application/json", .body = whole};
}

void sl_read_list(struct sl_request *r)
{
    struct sl_error e;
    struct sl_buf items = {0};
    uint64_t exact;
    if (!sl_options_check_list(r) || !check_revision(r, &exact) || !check_limit(r)) {
        return;
    }
    struct list *l = list_new(r);
    l->revision = exact;
    if (!sl_choice_init(r, &l->choice)) {
        list_free(&l->stream);
        return;
    }
    bool wait = sl_store_dirty(r->rest->store);
    if (read_page(l, &items, &e) != SL_CODE_OK) {
        answer_old(r, &e);
        list_free(&l->stream);
    } else if (l->done || is_head(r)) {
        answer_whole(r, l, &items); /* only headers go out of a HEAD: no stream's end may follow */
        list_free(&l->stream);
    } else if (r->accept.yaml) {
        sl_answer_fail(r, SL_CODE_TOO_LARGE,
                       "the list is too long to be given as YAML: ask for JSON, or by pieces with "
                       "limit=%zu",
                       l->items > 0 ? l->items : 1);
        list_free(&l->stream);
    } else { /* a long one is not pretty */
        l->whole = false;
        r->answer = (struct sl_answer){.status = 200, .content_type = "application/json"};
        print_head(l, &r->answer.body);
        sl_buf_text(&r->answer.body, items_key(l));
        sl_buf_add(&r->answer.body, items.data, items.len);
        r->answer.stream = &l->stream;
    }
    sl_buf_fini(&items);
    r->wait = wait;
}
