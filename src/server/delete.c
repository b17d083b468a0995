/* SPDX-License-Identifier: Apache-2.0
 * SPDX-FileCopyrightText: The Sluice authors */

/* Delete one object, or all that a selector finds, a bounded number with each commit. */
#include <string.h>

#include "base/check.h"
#include "base/mem.h"
#include "server/rest.h"

#define DELETED_PER_COMMIT 250u

struct options {
    struct sl_json *body;         /* DeleteOptions */
    struct sl_json *precondition; /* metadata.resourceVersion, as the store reads it */
    const char *propagation;
    bool dry_run;
};

static void options_fini(struct options *o)
{
    sl_json_free(o->body);
    sl_json_free(o->precondition);
}

static bool check_kind(struct sl_request *r, const struct sl_json *body)
{
    bool map = sl_json_type(body) == SL_JSON_MAP;
    const char *kind = map ? sl_json_text(sl_json_get(body, "kind"), "DeleteOptions") : "a list";
    if (strcmp(kind, "DeleteOptions") == 0) {
        return true;
    }
    sl_answer_fail(r, SL_CODE_BAD_REQUEST,
                   "the body of a deletion has to be DeleteOptions, not %.100s", kind);
    return false;
}

/* Whoever sends a dry run or a precondition does not want the object deleted without it: what is of another type is
 * refused, not left out. */
static bool check_types(struct sl_request *r, const struct sl_json *body)
{
    static const struct {
        const char *path;
        enum sl_json_type type;
        const char *about;
    } members[] = {{"gracePeriodSeconds", SL_JSON_INT, "a whole number"},
                   {"preconditions", SL_JSON_MAP, "an object"},
                   {"preconditions.uid", SL_JSON_TEXT, "a string"},
                   {"preconditions.resourceVersion", SL_JSON_TEXT, "a string"},
                   {"orphanDependents", SL_JSON_BOOL, "a boolean"},
                   {"propagationPolicy", SL_JSON_TEXT, "a string"},
                   {"dryRun", SL_JSON_LIST, "a list of strings"},
                   {"dryRun.0", SL_JSON_TEXT, "a string"}};
    for (size_t i = 0; i < sizeof members / sizeof members[0]; i++) {
        enum sl_json_type type = sl_json_type(sl_json_path(body, members[i].path));
        if (type != SL_JSON_NULL && type != members[i].type) {
            sl_answer_fail(r, SL_CODE_BAD_REQUEST, "DeleteOptions: %s has to be %s",
                           members[i].path, members[i].about);
            return false;
        }
    }
    return true;
}

/* The policy of the query, else of the body; orphanDependents is its older name for one of them. */
static const char *propagation_of(const struct sl_request *r, const struct sl_json *body)
{
    bool orphan = sl_request_flag(r, "orphanDependents") ||
                  sl_json_bool(sl_json_get(body, "orphanDependents"), false);
    const char *policy = sl_request_arg(r, "propagationPolicy", "");
    return policy[0] != '\0' ? policy
                             : sl_json_text(sl_json_get(body, "propagationPolicy"),
                                            orphan ? "Orphan" : "Background");
}

static bool options_init(struct sl_request *r, struct options *o)
{
    *o = (struct options){.body = sl_body_parse(r, true)};
    if (o->body == NULL || !check_kind(r, o->body) || !check_types(r, o->body) ||
        !sl_request_dry_run(r, o->body, &o->dry_run)) {
        options_fini(o);
        return false;
    }
    o->propagation = propagation_of(r, o->body);
    const char *version = sl_json_path_text(o->body, "preconditions.resourceVersion", "");
    if (version[0] != '\0') {
        o->precondition = sl_json_new_map();
        sl_json_set_text(sl_json_path_make(o->precondition, "metadata"), "resourceVersion",
                         version);
    }
    return true;
}

static struct sl_write write_of(const struct sl_request *r, const struct options *o)
{
    return (struct sl_write){.verb = SL_VERB_DELETE,
                             .kind = r->route.kind,
                             .ns = r->route.ns,
                             .name = r->route.name,
                             .body = o->precondition,
                             .uid = sl_json_path_text(o->body, "preconditions.uid", NULL),
                             .dry_run = o->dry_run,
                             .propagation = o->propagation};
}

void sl_write_delete(struct sl_request *r)
{
    struct sl_error e;
    struct options o;
    struct sl_json *result = NULL;
    if (!options_init(r, &o)) {
        return;
    }
    struct sl_write w = write_of(r, &o);
    bool dirty = sl_store_dirty(r->rest->store);
    if (sl_store_apply(r->rest->store, &w, &result, &e) != SL_CODE_OK) {
        sl_answer_refusal(r, &e, dirty);
    } else {
        if (sl_object_deleting(result)) {
            sl_answer_object(r, 200, result); /* it stays until its finalizers are removed */
        } else {
            sl_answer_success(r, result);
        }
        r->wait = sl_store_dirty(r->rest->store);
        r->wrote = r->wait && !o.dry_run;
        sl_json_free(result);
    }
    options_fini(&o);
}

/* --- many ------------------------------------------------------------------------------------ */

struct found {
    char *ns[DELETED_PER_COMMIT], *name[DELETED_PER_COMMIT];
    size_t count;
};

static void note_object(void *context, struct sl_json *object)
{
    struct found *f = context;
    SL_PRE(f->count < DELETED_PER_COMMIT);
    f->ns[f->count] = sl_mem_text(sl_object_namespace(object));
    f->name[f->count++] = sl_mem_text(sl_object_name(object));
}

/* Stages the deletions; objects that went meanwhile are no error. */
static enum sl_code delete_found(struct sl_request *r, const struct options *o, struct found *f,
                                 struct sl_error *e)
{
    enum sl_code code = SL_CODE_OK;
    for (size_t i = 0; i < f->count; i++) {
        struct sl_json *result = NULL;
        struct sl_write w = write_of(r, o);
        w.ns = f->ns[i];
        w.name = f->name[i];
        if (code == SL_CODE_OK) {
            code = sl_store_apply(r->rest->store, &w, &result, e);
            code = code == SL_CODE_NOT_FOUND ? SL_CODE_OK : code;
        }
        sl_json_free(result);
        sl_mem_free(f->ns[i]);
        sl_mem_free(f->name[i]);
    }
    return code;
}

static enum sl_code delete_page(struct sl_request *r, const struct options *o,
                                const struct sl_choice *c, struct sl_error *e)
{
    char *next = NULL;
    struct found found = {.count = 0};
    struct sl_store_list q = {.kind = r->route.kind,
                              .ns = r->route.ns,
                              .labels = c->labels,
                              .fields = c->fields,
                              .limit = DELETED_PER_COMMIT,
                              .continue_token = r->token,
                              .name = c->name,
                              .scan_max = SL_SCAN_MAX,
                              .work_max = SL_SLICE_STEPS};
    enum sl_code code = sl_store_list(r->rest->store, &q, note_object, &found, NULL, &next, e);
    code = code == SL_CODE_OK ? delete_found(r, o, &found, e) : code;
    sl_mem_free(r->token);
    r->token = next;
    return code;
}

void sl_write_delete_many(struct sl_request *r)
{
    struct sl_error e;
    struct options o;
    struct sl_choice choice;
    if (!options_init(r, &o)) {
        return;
    }
    if (sl_choice_init(r, &choice)) {
        if (delete_page(r, &o, &choice, &e) != SL_CODE_OK) {
            sl_answer_error(r, &e);
        } else {
            sl_answer_success(r, NULL);
            r->wait = sl_store_dirty(r->rest->store);
            r->wrote = r->wait && !o.dry_run;
            r->again = r->token != NULL; /* also when all of a page wait for finalizers already */
        }
        sl_choice_fini(&choice);
    }
    options_fini(&o);
}
