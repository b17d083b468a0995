/* SPDX-License-Identifier: Apache-2.0
 * SPDX-FileCopyrightText: The Sluice authors */

/* The dump as a page that is written in slices. */
#include "cli/support/dump.h"
#include "base/check.h"
#include "base/clock.h"
#include "base/effort.h"
#include "base/mem.h"
#include "cli/common/version.h"
#include "cli/support/redact.h"
#include <string.h>

#define EXPECTED ((size_t)64 << 20) /* of 20,000 objects, and more */

struct key {
    char *ns;
    const char *name; /* in the same piece of memory */
};
struct dump {
    struct sl_server_rest rest;
    struct sl_pages *pages;
    size_t part;
    enum sl_kind kind;
    struct key *keys; /* of the kind's objects; of ClusterQueues while `pending` is written */
    uint32_t count, cap, at;
    struct sl_server_page inner; /* a page of others that becomes a part of this one */
    bool reads, any;             /* reads: a kind has been begun */
    bool lists;                  /* there are keys still to be read, and */
    char *from;                  /* where they begin */
};

/* --- keys ------------------------------------------------------------------------------------ */

static void forget_keys(struct dump *d)
{
    for (uint32_t i = 0; i < d->count; i++) {
        sl_mem_free(d->keys[i].ns);
    }
    d->count = d->at = 0;
}

static void note_key(void *context, const char *ns, const char *name)
{
    struct dump *d = context;
    size_t ns_size = strlen(ns) + 1, name_size = strlen(name) + 1;
    char *text = sl_mem_new(1, ns_size + name_size);
    memcpy(text, ns, ns_size);
    memcpy(text + ns_size, name, name_size);
    d->keys = sl_mem_reach(d->keys, &d->cap, 64, d->count, sizeof *d->keys);
    d->keys[d->count++] = (struct key){text, text + ns_size};
}

/* Some of them; d->lists says whether there are more. False: there is no such list, and why is in *e. */
static bool list_more_keys(struct dump *d, enum sl_kind kind, struct sl_error *e)
{
    const struct sl_client *client = &d->pages->client;
    char *next = NULL;
    enum sl_code code = client->keys(client->self, kind, d->from, note_key, d, &next, e);
    sl_mem_free(d->from);
    d->from = next;
    d->lists = code == SL_CODE_OK && next != NULL;
    return code == SL_CODE_OK;
}

static bool list_keys(struct dump *d, enum sl_kind kind, struct sl_error *e)
{
    forget_keys(d);
    bool ok = list_more_keys(d, kind, e);
    while (ok && d->lists) {
        ok = list_more_keys(d, kind, e);
    }
    return ok;
}

/* --- parts: each writes something; false: that was all of it ----------------------------------- */

static void print_text(struct sl_buf *out, const char *key, const char *text)
{
    struct sl_json *value = sl_json_new_text(text);
    sl_buf_print(out, "\"%s\":", key);
    sl_json_print(value, out);
    sl_json_free(value);
}

static bool write_head(struct dump *d, struct sl_buf *out)
{
    char time[32];
    const struct sl_pages *p = d->pages;
    sl_clock_format(sl_clock_now_ms(), time);
    sl_buf_text(out, "{\"kind\":\"Dump\",\"apiVersion\":\"sluice.dev/v1\",\n");
    print_text(out, "version", SL_VERSION);
    sl_buf_print(out, ",\"time\":\"%s\",\"role\":\"%s\",\n", time,
                 p->role != NULL ? p->role : "standalone");
    print_text(out, "configuration", p->facts != NULL ? p->facts : "");
    sl_buf_text(out, ",\n\"objects\":{");
    return false;
}

static void begin_kind(struct dump *d, struct sl_buf *out)
{
    struct sl_error e = {0};
    sl_buf_print(out, "%s\n\"%s\":", d->any ? "," : "", sl_kind_info(d->kind)->kind);
    d->any = d->reads = true;
    forget_keys(d);
    if (list_more_keys(d, d->kind, &e)) {
        sl_buf_text(out, "[");
    } else {
        forget_keys(d);
        sl_buf_text(out, "[{");
        print_text(out, "unknown", e.text);
        sl_buf_text(out, "}");
    }
}

static void write_object(struct dump *d, struct sl_buf *out)
{
    const struct sl_client *client = &d->pages->client;
    const struct key *key = &d->keys[d->at];
    struct sl_json *object = NULL;
    sl_buf_text(out, d->at == 0 ? "\n" : ",\n");
    if (client->get(client->self, d->kind, key->ns, key->name, &object, NULL) == SL_CODE_OK) {
        struct sl_json *shown = sl_redact_new(d->kind, object);
        sl_json_print(shown, out);
        sl_json_free(shown);
    } else {
        sl_buf_text(out, "null"); /* it was deleted meanwhile */
    }
    sl_json_free(object);
    d->at++;
}

static bool write_objects(struct dump *d, struct sl_buf *out)
{
    if (d->kind == sl_kind_end()) {
        sl_buf_text(out, "},\n\"pending\":{");
        d->any = false;
        return false;
    }
    if (!d->reads) {
        begin_kind(d, out);
    } else if (d->at < d->count) {
        write_object(d, out);
    } else if (d->lists && list_more_keys(d, d->kind, &(struct sl_error){0})) {
        return true;
    } else {
        sl_buf_text(out, "]");
        d->reads = false;
        d->kind++;
    }
    return true;
}

/* A slice of another page, whose text is in d->inner.body; false: that was the last one. */
static bool go_on_inner(struct dump *d)
{
    struct sl_server_page *page = &d->inner;
    bool more = page->rest != NULL && page->rest->go_on(page->rest, page);
    if (!more && page->rest != NULL) {
        page->rest->free(page->rest);
        page->rest = NULL;
    }
    return more;
}

static void begin_inner(struct dump *d)
{
    sl_buf_fini(&d->inner.body);
    d->inner = (struct sl_server_page){.accept = "", .status = 200};
    d->reads = true;
}

static void begin_pending(struct dump *d, struct sl_buf *out)
{
    struct sl_buf path = {0};
    begin_inner(d);
    sl_buf_print(&path, SL_VISIBILITY_GROUP_PATH "/v1beta2/clusterqueues/%s/pendingworkloads",
                 d->keys[d->at].name);
    sl_visibility_serve(d->pages, path.data, "limit=10000", &d->inner);
    sl_buf_print(out, "%s\n", d->any ? "," : "");
    print_text(out, d->keys[d->at].name, "");
    out->data[out->len -= 2] = '\0'; /* the name, and its colon */
    d->any = true;
    sl_buf_fini(&path);
}

static bool write_pending(struct dump *d, struct sl_buf *out)
{
    struct sl_error e = {0};
    if (!d->reads && !d->any &&
        (d->pages->engine == NULL || !list_keys(d, SL_KIND_CLUSTER_QUEUE, &e))) {
        forget_keys(d); /* a standby decides nothing */
    }
    if (d->reads) {
        d->reads = go_on_inner(d);
        sl_buf_add(out, d->inner.body.data, d->inner.body.len);
        sl_buf_reset(&d->inner.body);
        d->at += !d->reads;
        return true;
    }
    if (d->at < d->count) {
        begin_pending(d, out);
        return true;
    }
    sl_buf_text(out, "},\n");
    return false;
}

static bool write_metrics(struct dump *d, struct sl_buf *out)
{
    if (!d->reads) {
        begin_inner(d);
        sl_pages_metrics(d->pages, "", "", &d->inner);
    }
    if (go_on_inner(d)) {
        return true;
    }
    print_text(out, "metrics", d->inner.body.data);
    sl_buf_text(out, "}\n");
    return false;
}

/* --- the page -------------------------------------------------------------------------------- */

static bool (*const parts[])(struct dump *d, struct sl_buf *out) = {write_head, write_objects,
                                                                    write_pending, write_metrics};
#define PART_COUNT (sizeof parts / sizeof parts[0])

static bool write_slice(struct sl_server_rest *rest, struct sl_server_page *page)
{
    struct dump *d = (struct dump *)rest;
    uint64_t begin = sl_effort_steps;
    while (d->part < PART_COUNT && sl_effort_steps - begin < SL_PAGE_SLICE_STEPS) {
        if (!parts[d->part](d, &page->body)) {
            d->part++;
        }
    }
    return d->part < PART_COUNT;
}

static void free_dump(struct sl_server_rest *rest)
{
    struct dump *d = (struct dump *)rest;
    forget_keys(d);
    sl_mem_free(d->from);
    if (d->inner.rest != NULL) {
        d->inner.rest->free(d->inner.rest);
    }
    sl_buf_fini(&d->inner.body);
    sl_mem_free(d->keys);
    sl_mem_free(d);
}

void sl_dump_serve(void *context, const char *path, const char *query, struct sl_server_page *page)
{
    SL_PRE(context != NULL && page != NULL);
    (void)path;
    (void)query;
    struct dump *d = sl_mem_new(1, sizeof *d);
    *d = (struct dump){.rest = {write_slice, free_dump}, .pages = context};
    page->rest = &d->rest;
    sl_buf_expect(&page->body, EXPECTED);
}
