/* SPDX-License-Identifier: Apache-2.0
 * SPDX-FileCopyrightText: The Sluice authors */

/* An in-memory client for tests: objects by key, writes applied at once, replies kept until fake_flush. A write can
 * be told to fail. */
#ifndef SL_TESTS_UNIT_CONTROLLERS_FAKE_CLIENT_H
#define SL_TESTS_UNIT_CONTROLLERS_FAKE_CLIENT_H
#include <stdio.h>
#include "api/objects/client.h"
#include "base/map.h"

#define FAKE_REPLIES_MAX 64

struct fake_reply {
    sl_reply_fn *fn;
    void *context;
    enum sl_code code;
    struct sl_json *result;
};
struct fake {
    struct sl_client client;
    struct sl_map *objects; /* "kind/ns/name" -> struct sl_json * */
    struct fake_reply replies[FAKE_REPLIES_MAX];
    unsigned reply_count, write_count;
    unsigned change_count; /* writes of other things than Events */
    unsigned read_count;
    enum sl_code next_code; /* the outcome of the next write, then OK again */
    bool next_code_stays;   /* of all that follow as well */
    enum sl_code read_code; /* of every read while not OK */
    enum sl_code list_code; /* of every list */
    bool unread_one;        /* only reads of the kind `unread` have that outcome */
    enum sl_kind unread;
    bool hides; /* reads do not find objects of the kind `hidden`, and only SL_VERB_READ does */
    enum sl_kind hidden;
    enum sl_verb last_verb;
    enum sl_kind last_kind;
    bool last_at_once;
    char last_version[32]; /* that the last body was read at */
};

static inline void fake_key(enum sl_kind kind, const char *ns, const char *name,
                            char out[static 512])
{
    snprintf(out, 512, "%d/%s/%s", (int)kind, ns, name);
}

static inline struct sl_json *fake_find(struct fake *f, enum sl_kind kind, const char *ns,
                                        const char *name)
{
    char key[512];
    union sl_map_value value;
    fake_key(kind, ns, name, key);
    return sl_map_get(f->objects, key, &value) ? value.pointer : NULL;
}

/* Takes the object. */
static inline void fake_put(struct fake *f, enum sl_kind kind, struct sl_json *o)
{
    char key[512];
    fake_key(kind, sl_object_namespace(o), sl_object_name(o), key);
    sl_json_free(fake_find(f, kind, sl_object_namespace(o), sl_object_name(o)));
    sl_map_put(f->objects, key, (union sl_map_value){.pointer = o});
}

static inline enum sl_code fake_get(void *self, enum sl_kind kind, const char *ns, const char *name,
                                    struct sl_json **out, struct sl_error *e)
{
    struct fake *f = self;
    struct sl_json *o = fake_find(f, kind, ns, name);
    f->read_count++;
    if (f->hides && kind == f->hidden) {
        o = NULL;
    }
    if (f->read_code != SL_CODE_OK && (!f->unread_one || kind == f->unread)) {
        return sl_error_set(e, f->read_code, "read refused by the test");
    }
    if (o == NULL) {
        return sl_error_set(e, SL_CODE_NOT_FOUND, "%s \"%s\" not found", sl_kind_info(kind)->plural,
                            name);
    }
    *out = sl_json_clone(o);
    return SL_CODE_OK;
}

static inline enum sl_code fake_list(void *self, enum sl_kind kind, const char *ns,
                                     sl_visit_fn *visit, void *context, struct sl_error *e)
{
    struct fake *f = self;
    char prefix[16];
    size_t cursor = 0;
    const char *key;
    union sl_map_value value;
    (void)ns;
    if (f->list_code != SL_CODE_OK) {
        return sl_error_set(e, f->list_code, "list refused by the test");
    }
    snprintf(prefix, sizeof prefix, "%d/", (int)kind);
    while (sl_map_next(f->objects, &cursor, &key, &value)) {
        if (strncmp(key, prefix, strlen(prefix)) == 0) {
            visit(context, value.pointer);
        }
    }
    return SL_CODE_OK;
}

static inline void fake_remove(struct fake *f, enum sl_kind kind, const char *ns, const char *name)
{
    char key[512];
    union sl_map_value old = {.pointer = NULL};
    fake_key(kind, ns, name, key);
    sl_map_remove(f->objects, key, &old);
    sl_json_free(old.pointer);
}

static inline void fake_apply(struct fake *f, const struct sl_write *w)
{
    struct sl_json *live = fake_find(f, w->kind, w->ns, w->name);
    switch (w->verb) {
    case SL_VERB_CREATE:
    case SL_VERB_UPDATE:
    case SL_VERB_UPDATE_STATUS:
        fake_put(f, w->kind, sl_json_clone(w->body));
        break;
    case SL_VERB_DELETE:
        fake_remove(f, w->kind, w->ns, w->name);
        break;
    case SL_VERB_READ:
        break;
    case SL_VERB_PATCH_MERGE:
    case SL_VERB_PATCH_STATUS_MERGE:
        if (live != NULL) {
            struct sl_json *copy = sl_json_clone(live);
            sl_patch_merge(&copy, w->body, NULL);
            fake_put(f, w->kind, copy);
        }
        break;
    }
}

static inline void fake_write(void *self, const struct sl_write *w, sl_reply_fn *reply,
                              void *context)
{
    struct fake *f = self;
    enum sl_code code = f->next_code;
    f->next_code = f->next_code_stays ? code : SL_CODE_OK;
    f->write_count++;
    f->change_count += w->kind != SL_KIND_EVENT;
    f->last_verb = w->verb;
    f->last_kind = w->kind;
    f->last_at_once = w->at_once;
    snprintf(f->last_version, sizeof f->last_version, "%s",
             w->body == NULL ? "" : sl_object_resource_version(w->body));
    struct sl_json *live = fake_find(f, w->kind, w->ns, w->name);
    if (code == SL_CODE_OK && w->verb == SL_VERB_CREATE && live != NULL) {
        code = SL_CODE_ALREADY_EXISTS;
    } else if (code == SL_CODE_OK && w->verb != SL_VERB_CREATE && live == NULL) {
        code = SL_CODE_NOT_FOUND;
    }
    if (code == SL_CODE_OK) {
        fake_apply(f, w);
    }
    if (reply != NULL && f->reply_count < FAKE_REPLIES_MAX) {
        live = fake_find(f, w->kind, w->ns, w->name);
        struct sl_json *result = code == SL_CODE_OK && live != NULL ? sl_json_clone(live) : NULL;
        f->replies[f->reply_count++] = (struct fake_reply){reply, context, code, result};
    }
}

/* Deliver the answers of all writes so far, and of those that they lead to. */
static inline void fake_flush(struct fake *f)
{
    for (unsigned i = 0; i < f->reply_count; i++) {
        struct fake_reply r = f->replies[i];
        struct sl_error e = {0};
        sl_error_set(&e, r.code, "refused by the test");
        r.fn(r.context, r.code, r.code == SL_CODE_OK ? NULL : &e, r.result);
        sl_json_free(r.result);
    }
    f->reply_count = 0;
}

static inline void fake_watch(void *self, enum sl_kind kind, sl_watch_fn *fn, void *context)
{
    (void)self;
    fn(context, SL_WATCH_SYNCED, kind, NULL);
}

static inline void fake_init(struct fake *f)
{
    *f = (struct fake){.objects = sl_map_new()};
    f->client = (struct sl_client){
        .self = f, .get = fake_get, .list = fake_list, .watch = fake_watch, .write = fake_write};
}

static inline void fake_fini(struct fake *f)
{
    size_t cursor = 0;
    const char *key;
    union sl_map_value value;
    fake_flush(f);
    while (sl_map_next(f->objects, &cursor, &key, &value)) {
        sl_json_free(value.pointer);
    }
    sl_map_free(f->objects);
}

static inline unsigned fake_count(struct fake *f, enum sl_kind kind)
{
    char prefix[16];
    unsigned count = 0;
    size_t cursor = 0;
    const char *key;
    union sl_map_value value;
    snprintf(prefix, sizeof prefix, "%d/", (int)kind);
    while (sl_map_next(f->objects, &cursor, &key, &value)) {
        count += strncmp(key, prefix, strlen(prefix)) == 0;
    }
    return count;
}
#endif
