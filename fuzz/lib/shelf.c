/* SPDX-License-Identifier: Apache-2.0
 * SPDX-FileCopyrightText: The Sluice authors */

/* Objects in an array; a deleted one keeps its place until its deletion was told. */
#include "fuzz/lib/shelf.h"
#include "base/clock.h"
#include "fuzz/lib/check.h"
#include <stdio.h>
#include <string.h>

enum { ROOM = 192, NEWS = 1024, ANSWERS = 512 };

struct thing {
    enum sl_kind kind;
    struct sl_json *live, *known; /* NULL: there is none; `known`: what was told last */
};
struct news {
    enum sl_kind kind;
    enum sl_watch_type type;
    struct sl_json *object;
};
struct answer {
    sl_reply_fn *fn;
    void *context;
    enum sl_kind kind;
    enum sl_code code;
    struct sl_json *result;
};

static struct thing things[ROOM];
static struct news news[NEWS];
static struct answer answers[ANSWERS];
static size_t thing_count, news_count, answer_count;
static struct {
    bool cached, ending;
    shelf_seen_fn *seen;
    sl_watch_fn *tell;
    void *context;
    enum sl_code fail_code;
    unsigned fail_count;
    bool fail_made;
    long long version;
} shelf;

/* --- places ------------------------------------------------------------------------------------ */

static const struct sl_json *either(const struct thing *t)
{
    return t->live != NULL ? t->live : t->known;
}

static struct thing *find(enum sl_kind kind, const char *ns, const char *name)
{
    for (size_t i = 0; i < thing_count; i++) {
        const struct sl_json *o = either(&things[i]);
        if (things[i].kind == kind && o != NULL && strcmp(sl_object_name(o), name) == 0 &&
            strcmp(sl_object_namespace(o), ns) == 0) {
            return &things[i];
        }
    }
    return NULL;
}

static struct thing *place(enum sl_kind kind, const char *ns, const char *name)
{
    struct thing *t = find(kind, ns, name);
    for (size_t i = 0; t == NULL && i < thing_count; i++) {
        t = either(&things[i]) == NULL ? &things[i] : NULL;
    }
    if (t == NULL) {
        CHECK(thing_count < ROOM);
        t = &things[thing_count++];
        *t = (struct thing){0};
    }
    t->kind = kind;
    return t;
}

const struct sl_json *shelf_find(enum sl_kind kind, const char *ns, const char *name)
{
    const struct thing *t = find(kind, ns, name);
    return t == NULL ? NULL : t->live;
}

const struct sl_json *shelf_next(enum sl_kind kind, size_t *cursor)
{
    while (*cursor < thing_count) {
        const struct thing *t = &things[(*cursor)++];
        if (t->kind == kind && t->live != NULL) {
            return t->live;
        }
    }
    return NULL;
}

const struct sl_json *shelf_known(enum sl_kind kind, const char *ns, const char *name)
{
    const struct thing *t = find(kind, ns, name);
    return t == NULL ? NULL : shelf.cached ? t->known : t->live;
}

const struct sl_json *shelf_next_known(enum sl_kind kind, size_t *cursor)
{
    while (*cursor < thing_count) {
        const struct thing *t = &things[(*cursor)++];
        const struct sl_json *o = shelf.cached ? t->known : t->live;
        if (t->kind == kind && t->known != NULL && o != NULL) {
            return o;
        }
    }
    return NULL;
}

/* --- versions ---------------------------------------------------------------------------------- */

static void note(enum sl_kind kind, enum sl_watch_type type, const struct sl_json *object)
{
    CHECK(news_count < NEWS);
    news[news_count++] = (struct news){kind, type, sl_json_clone(object)};
}

static void stamp(struct sl_json *object)
{
    char text[32];
    (void)snprintf(text, sizeof text, "%lld", ++shelf.version);
    sl_json_set_text(sl_json_path_make(object, "metadata"), "resourceVersion", text);
}

/* Takes the object. */
static void store(struct thing *t, struct sl_json *object)
{
    bool made = t->live == NULL;
    stamp(object);
    sl_json_free(t->live);
    t->live = object;
    note(t->kind, made ? SL_WATCH_ADDED : SL_WATCH_MODIFIED, object);
}

static void drop(struct thing *t)
{
    struct sl_json *object = t->live;
    t->live = NULL;
    stamp(object);
    note(t->kind, SL_WATCH_DELETED, object);
    sl_json_free(object);
}

static void name_it(enum sl_kind kind, struct sl_json *o)
{
    char text[64];
    struct sl_json *meta = sl_json_path_make(o, "metadata");
    sl_json_set_text(o, "apiVersion", sl_kind_info(kind)->api_version);
    sl_json_set_text(o, "kind", sl_kind_info(kind)->kind);
    (void)snprintf(text, sizeof text, "00000000-0000-4000-8000-%012lld", shelf.version + 1);
    sl_json_set_text(meta, "uid", text);
    sl_json_set_int(meta, "generation", 1);
    sl_clock_format(sl_clock_now_ms(), text);
    sl_json_set_text(meta, "creationTimestamp", text);
    if (kind == SL_KIND_POD) {
        sl_json_set_text(sl_json_path_make(o, "status"), "phase", "Pending");
    }
}

static enum sl_code make(enum sl_kind kind, struct sl_json *o, struct sl_error *e)
{
    struct thing *t = find(kind, sl_object_namespace(o), sl_object_name(o));
    if (t != NULL && t->live != NULL) {
        sl_json_free(o);
        return sl_error_set(e, SL_CODE_ALREADY_EXISTS, "there is one of that name");
    }
    name_it(kind, o);
    sl_object_default_new(kind, o);
    enum sl_code code = sl_object_validate(kind, o, NULL, e);
    if (code != SL_CODE_OK) {
        sl_json_free(o);
        return code;
    }
    store(place(kind, sl_object_namespace(o), sl_object_name(o)), o);
    return SL_CODE_OK;
}

static void keep(struct sl_json *o, const struct sl_json *from, const char *member)
{
    struct sl_json *value = sl_json_get(from, member);
    if (value == NULL) {
        sl_json_remove(o, member);
    } else {
        sl_json_set(o, member, sl_json_clone(value));
    }
}

static void keep_identity(struct sl_json *o, const struct sl_json *old)
{
    static const char *const members[] = {"uid",      "generation",        "creationTimestamp",
                                          "name",     "deletionTimestamp", "resourceVersion",
                                          "namespace"};
    struct sl_json *meta = sl_json_path_make(o, "metadata");
    for (size_t i = 0; i < sizeof members / sizeof members[0]; i++) {
        keep(meta, sl_json_get(old, "metadata"), members[i]);
    }
    keep(o, old, "apiVersion");
    keep(o, old, "kind");
}

/* Where a kubelet has it, that one ends it first. */
static bool is_held(const struct thing *t)
{
    const char *phase = sl_json_path_text(t->live, "status.phase", "");
    bool runs = t->kind == SL_KIND_POD && strcmp(phase, "Running") == 0;
    return runs || sl_json_len(sl_json_path(t->live, "metadata.finalizers")) > 0;
}

/* Takes the object, whose identity is that of the live one. */
static enum sl_code change(struct thing *t, struct sl_json *o, struct sl_error *e)
{
    sl_object_default(t->kind, o);
    enum sl_code code = sl_object_validate(t->kind, o, t->live, e);
    if (code != SL_CODE_OK || sl_json_equal(o, t->live)) {
        sl_json_free(o);
        return code;
    }
    if (!sl_json_equal(sl_json_get(o, "spec"), sl_json_get(t->live, "spec"))) {
        sl_json_set_int(sl_json_get(o, "metadata"), "generation", sl_object_generation(o) + 1);
    }
    store(t, o);
    if (sl_object_deleting(t->live) && !is_held(t)) {
        drop(t);
    }
    return SL_CODE_OK;
}

static void leave(struct thing *t)
{
    char text[32];
    if (sl_object_deleting(t->live)) {
        return;
    }
    if (!is_held(t)) {
        drop(t);
        return;
    }
    struct sl_json *o = sl_json_clone(t->live);
    sl_clock_format(sl_clock_now_ms(), text);
    sl_json_set_text(sl_json_get(o, "metadata"), "deletionTimestamp", text);
    store(t, o);
}

/* --- others ------------------------------------------------------------------------------------ */

enum sl_code shelf_put(enum sl_kind kind, struct sl_json *object)
{
    struct sl_error e = {0};
    struct thing *t = find(kind, sl_object_namespace(object), sl_object_name(object));
    if (t == NULL || t->live == NULL) {
        return make(kind, object, &e);
    }
    keep_identity(object, t->live);
    return change(t, object, &e);
}

void shelf_delete(enum sl_kind kind, const char *ns, const char *name)
{
    struct thing *t = find(kind, ns, name);
    if (t != NULL && t->live != NULL) {
        leave(t);
    }
}

static bool has_uid(const char *uid)
{
    for (size_t i = 0; i < thing_count; i++) {
        if (things[i].live != NULL && strcmp(sl_object_uid(things[i].live), uid) == 0) {
            return true;
        }
    }
    return false;
}

static bool is_left_behind(const struct sl_json *o)
{
    const struct sl_json *owners = sl_json_path(o, "metadata.ownerReferences");
    for (size_t i = 0; i < sl_json_len(owners); i++) {
        if (has_uid(sl_json_path_text(sl_json_at(owners, i), "uid", ""))) {
            return false;
        }
    }
    return sl_json_len(owners) > 0 && !sl_object_deleting(o);
}

bool shelf_collect(void)
{
    bool some = false;
    for (size_t i = 0; i < thing_count; i++) {
        if (things[i].live != NULL && is_left_behind(things[i].live)) {
            leave(&things[i]);
            some = true;
        }
    }
    return some;
}

/* --- the client's writes ----------------------------------------------------------------------- */

static bool is_status(enum sl_verb verb)
{
    return verb == SL_VERB_UPDATE_STATUS || verb == SL_VERB_PATCH_STATUS_MERGE;
}

/* What the object becomes, before the rules of the API; NULL: the patch is none. */
static struct sl_json *wanted(const struct sl_write *w, const struct sl_json *live)
{
    struct sl_json *o = sl_json_clone(
        w->verb == SL_VERB_UPDATE || w->verb == SL_VERB_UPDATE_STATUS ? w->body : live);
    bool patch = w->verb == SL_VERB_PATCH_MERGE || w->verb == SL_VERB_PATCH_STATUS_MERGE;
    if (patch && sl_patch_merge(&o, w->body, NULL) != SL_CODE_OK) {
        sl_json_free(o);
        return NULL;
    }
    if (is_status(w->verb)) {
        struct sl_json *whole = sl_json_clone(live);
        keep(whole, o, "status");
        sl_json_free(o);
        return whole;
    }
    if (sl_kind_info(w->kind)->has_status) {
        keep(o, live, "status");
    }
    keep_identity(o, live);
    return o;
}

static enum sl_code precondition(const struct sl_write *w, const struct thing *t,
                                 struct sl_error *e)
{
    const char *version = w->body == NULL ? "" : sl_object_resource_version(w->body);
    if (t == NULL || t->live == NULL) {
        return sl_error_set(e, SL_CODE_NOT_FOUND, "there is none");
    }
    bool other = (w->uid != NULL && strcmp(w->uid, sl_object_uid(t->live)) != 0) ||
                 (version[0] != '\0' && strcmp(version, sl_object_resource_version(t->live)) != 0);
    return other ? sl_error_set(e, SL_CODE_CONFLICT, "it is another one, or has changed")
                 : SL_CODE_OK;
}

static enum sl_code perform(const struct sl_write *w, struct sl_error *e)
{
    struct thing *t = find(w->kind, w->ns, w->name);
    if (w->verb == SL_VERB_CREATE) {
        return make(w->kind, sl_json_clone(w->body), e);
    }
    enum sl_code code = precondition(w, t, e);
    if (code != SL_CODE_OK || w->verb == SL_VERB_READ) {
        return code;
    }
    if (w->verb == SL_VERB_DELETE) {
        leave(t);
        return SL_CODE_OK;
    }
    struct sl_json *o = wanted(w, t->live);
    return o == NULL ? sl_error_set(e, SL_CODE_BAD_REQUEST, "the patch is none") : change(t, o, e);
}

static enum sl_code trouble(const struct sl_write *w)
{
    bool fails = shelf.fail_count > 0 && w->kind != SL_KIND_EVENT;
    if (shelf.ending) {
        return SL_CODE_UNAVAILABLE;
    }
    shelf.fail_count -= fails;
    return fails ? shelf.fail_code : SL_CODE_OK;
}

/* To be made, and told to who watches over the client. */
static enum sl_code attempt(const struct sl_write *w, struct sl_error *e)
{
    const struct sl_json *live = shelf_find(w->kind, w->ns, w->name);
    struct sl_json *before = live == NULL ? NULL : sl_json_clone(live);
    enum sl_code code = perform(w, e);
    shelf.seen(w, before, shelf_find(w->kind, w->ns, w->name), code);
    sl_json_free(before);
    return code;
}

static void write_it(void *self, const struct sl_write *w, sl_reply_fn *reply, void *context)
{
    struct sl_error e = {0};
    (void)self;
    enum sl_code code = trouble(w);
    if (w->kind != SL_KIND_EVENT && (code == SL_CODE_OK || (shelf.fail_made && !shelf.ending))) {
        enum sl_code made = attempt(w, &e);
        code = code == SL_CODE_OK ? made : code;
    }
    if (reply == NULL) {
        return;
    }
    const struct sl_json *live = shelf_find(w->kind, w->ns, w->name);
    struct sl_json *result = w->kind == SL_KIND_EVENT ? w->body : NULL;
    result = code != SL_CODE_OK ? NULL
             : live != NULL     ? sl_json_clone(live)
             : result == NULL   ? NULL
                                : sl_json_clone(result);
    CHECK(answer_count < ANSWERS);
    answers[answer_count++] = (struct answer){reply, context, w->kind, code, result};
}

void shelf_fail(enum sl_code code, unsigned writes, bool made)
{
    shelf.fail_code = code;
    shelf.fail_count = code == SL_CODE_OK ? 0 : writes;
    shelf.fail_made = made;
}

/* --- its reads and watches --------------------------------------------------------------------- */

static enum sl_code get_it(void *self, enum sl_kind kind, const char *ns, const char *name,
                           struct sl_json **out, struct sl_error *e)
{
    const struct sl_json *o = shelf_known(kind, ns, name);
    (void)self;
    if (o == NULL) {
        return sl_error_set(e, SL_CODE_NOT_FOUND, "there is none");
    }
    *out = sl_json_clone(o);
    return SL_CODE_OK;
}

static enum sl_code list_them(void *self, enum sl_kind kind, const char *ns, sl_visit_fn *visit,
                              void *context, struct sl_error *e)
{
    (void)self;
    (void)e;
    for (size_t i = 0; i < thing_count; i++) {
        struct sl_json *o = shelf.cached ? things[i].known : things[i].live;
        if (things[i].kind == kind && o != NULL &&
            (ns[0] == '\0' || strcmp(ns, sl_object_namespace(o)) == 0)) {
            struct sl_json *lent = sl_json_clone(o);
            visit(context, lent);
            sl_json_free(lent);
        }
    }
    return SL_CODE_OK;
}

static void remember(struct thing *t, struct sl_json *object)
{
    sl_json_free(t->known);
    t->known = object;
}

static void watch_them(void *self, enum sl_kind kind, sl_watch_fn *fn, void *context)
{
    (void)self;
    shelf.tell = fn;
    shelf.context = context;
    for (size_t i = 0; i < thing_count; i++) {
        if (things[i].kind == kind && things[i].live != NULL) {
            struct sl_json *lent = sl_json_clone(things[i].live);
            fn(context, SL_WATCH_ADDED, kind, lent);
            sl_json_free(lent);
        }
    }
    fn(context, SL_WATCH_SYNCED, kind, NULL);
}

static void tell_one(struct news n)
{
    struct thing *t = find(n.kind, sl_object_namespace(n.object), sl_object_name(n.object));
    if (t != NULL) {
        remember(t, n.type == SL_WATCH_DELETED ? NULL : sl_json_clone(n.object));
    }
    shelf.tell(shelf.context, n.type, n.kind, n.object);
    sl_json_free(n.object);
}

/* Both clients tell what they have written before they answer. */
static void tell_about(enum sl_kind kind, const struct sl_json *object)
{
    for (size_t i = 0; shelf.tell != NULL && i < news_count;) {
        struct news n = news[i];
        if (n.kind != kind || strcmp(sl_object_uid(n.object), sl_object_uid(object)) != 0) {
            i++;
            continue;
        }
        memmove(&news[i], &news[i + 1], (--news_count - i) * sizeof *news);
        tell_one(n);
    }
}

bool shelf_answer(unsigned most)
{
    unsigned count = 0;
    for (; count < most && answer_count > 0; count++) {
        struct answer a = answers[0];
        struct sl_error e = {0};
        memmove(answers, answers + 1, --answer_count * sizeof *answers);
        (void)sl_error_set(&e, a.code, "refused by the target");
        if (a.code == SL_CODE_OK && a.result != NULL && a.kind != SL_KIND_EVENT) {
            tell_about(a.kind, a.result);
        }
        a.fn(a.context, a.code, a.code == SL_CODE_OK ? NULL : &e, a.result);
        sl_json_free(a.result);
    }
    return count > 0;
}

bool shelf_tell(uint32_t kinds, unsigned most)
{
    unsigned count = 0;
    for (size_t i = 0; shelf.tell != NULL && i < news_count && count < most;) {
        struct news n = news[i];
        if ((kinds >> (unsigned)n.kind & 1u) == 0) {
            i++;
            continue;
        }
        memmove(&news[i], &news[i + 1], (--news_count - i) * sizeof *news);
        tell_one(n);
        count++;
    }
    return count > 0;
}

/* --- daemons ----------------------------------------------------------------------------------- */

static void forget_news(void)
{
    for (size_t i = 0; i < news_count; i++) {
        sl_json_free(news[i].object);
    }
    news_count = 0;
}

struct sl_client shelf_client(void)
{
    shelf.ending = false;
    forget_news();
    for (size_t i = 0; i < thing_count; i++) { /* it reads all of them */
        remember(&things[i], things[i].live == NULL ? NULL : sl_json_clone(things[i].live));
    }
    return (struct sl_client){.self = &shelf,
                              .get = get_it,
                              .list = list_them,
                              .watch = watch_them,
                              .write = write_it,
                              .cached = shelf.cached};
}

void shelf_end_client(void)
{
    shelf.ending = true;
    while (shelf_answer(ANSWERS)) {
    }
    shelf.tell = NULL;
}

void shelf_open(bool cached, shelf_seen_fn *seen)
{
    memset(&shelf, 0, sizeof shelf);
    shelf.cached = cached;
    shelf.seen = seen;
}

void shelf_close(void)
{
    for (size_t i = 0; i < thing_count; i++) {
        sl_json_free(things[i].live);
        sl_json_free(things[i].known);
        things[i] = (struct thing){0};
    }
    thing_count = 0;
    forget_news();
}

bool shelf_busy(void)
{
    return news_count > 0 || answer_count > 0;
}
