/* SPDX-License-Identifier: Apache-2.0
 * SPDX-FileCopyrightText: The Sluice authors */

#include "cli/remote/offline.h"
#include "base/log.h"
#include "base/check.h"
#include "base/clock.h"
#include "base/map.h"
#include "base/mem.h"
#include "cli/common/manifest.h"
#include "cli/pages/foresight.h"
#include "controllers/control/controllers.h"
#include "engine/past/past_teach.h"
#include <string.h>

#define HORIZON_MS_PRESET (30 * 24 * 3600 * 1000LL) /* as the daemon has it */
#define SECONDS_MAX 600u                            /* unknown else waits */

struct sl_offline {
    struct sl_map *objects; /* "KIND NS/NAME" -> an object */
    struct sl_engine *engine;
    struct sl_controllers *controllers;
    struct sl_past past; /* of a journal */
    int64_t now_ms;
    struct sl_error *e; /* while it is read */
};

/* --- objects --------------------------------------------------------------------------------------------- */

static void print_key(const char *kind, const char *ns, const char *name, struct sl_buf *out)
{
    sl_buf_print(out, "%s %s/%s", kind, ns, name);
}

/* Takes the object. */
static void put(struct sl_offline *o, enum sl_kind kind, struct sl_json *object)
{
    struct sl_buf key = {0};
    const struct sl_kind_info *info = sl_kind_info(kind);
    print_key(info->kind, info->namespaced ? sl_object_namespace(object) : "",
              sl_object_name(object), &key);
    sl_json_set_text(object, "apiVersion", info->api_version);
    sl_json_set_text(object, "kind", info->kind);
    sl_json_free(sl_map_find(o->objects, key.data));
    sl_map_put(o->objects, key.data, (union sl_map_value){.pointer = object});
    sl_buf_fini(&key);
}

/* {"objects": {KIND: [OBJECT...]}}. Of an object that was deleted meanwhile there is a null. */
static void take_dump(struct sl_offline *o, const struct sl_json *dump)
{
    int64_t now_ms = sl_clock_parse(sl_json_path_text(dump, "time", ""));
    o->now_ms = now_ms > o->now_ms ? now_ms : o->now_ms;
    for (struct sl_json_member m = {0}; sl_json_each(sl_json_get(dump, "objects"), &m);) {
        enum sl_kind kind = sl_kind_find_name(m.key);
        for (size_t i = 0; kind != SL_KIND_COUNT && i < sl_json_len(m.value); i++) {
            const struct sl_json *object = sl_json_at(m.value, i);
            if (sl_json_path(object, "metadata.name") != NULL) {
                put(o, kind, sl_json_clone(object));
            }
        }
    }
}

static bool take_document(void *context, const struct sl_document *d)
{
    struct sl_offline *o = context;
    if (d->object == NULL) {
        (void)sl_error_set(o->e, SL_CODE_BAD_REQUEST, "%s:%u: %s", d->file, d->line, d->error.text);
        return false;
    }
    if (strcmp(sl_json_path_text(d->object, "kind", ""), "Dump") == 0) {
        take_dump(o, d->object);
        return true;
    }
    enum sl_kind kind = sl_kind_find_object(sl_json_path_text(d->object, "apiVersion", ""),
                                            sl_json_path_text(d->object, "kind", ""));
    if (kind != SL_KIND_COUNT && sl_object_name(d->object)[0] != '\0') {
        put(o, kind, sl_json_clone(d->object)); /* what the daemon does not look at is left out */
    }
    return true;
}

/* --- as a client ----------------------------------------------------------------------------------------- */

enum sl_code sl_offline_get(const struct sl_offline *o, enum sl_kind kind, const char *ns,
                            const char *name, struct sl_json **out, struct sl_error *e)
{
    SL_PRE(o != NULL && out != NULL);
    struct sl_buf key = {0};
    const struct sl_kind_info *info = sl_kind_info(kind);
    print_key(info->kind, info->namespaced ? ns : "", name, &key);
    struct sl_json *found = sl_map_find(o->objects, key.data);
    sl_buf_fini(&key);
    *out = found == NULL ? NULL : sl_json_clone(found);
    return found != NULL
               ? SL_CODE_OK
               : sl_error_set(e, SL_CODE_NOT_FOUND, "%s \"%.100s\" not found", info->plural, name);
}

static enum sl_code get(void *self, enum sl_kind kind, const char *ns, const char *name,
                        struct sl_json **out, struct sl_error *e)
{
    return sl_offline_get(self, kind, ns, name, out, e);
}

static enum sl_code list(void *self, enum sl_kind kind, const char *ns, sl_visit_fn *visit,
                         void *context, struct sl_error *e)
{
    const struct sl_offline *o = self;
    const char *wanted = sl_kind_info(kind)->kind;
    (void)e;
    for (struct sl_map_item item = {0}; sl_map_each(o->objects, &item);) {
        struct sl_json *object = item.value.pointer;
        bool here = ns[0] == '\0' || strcmp(sl_object_namespace(object), ns) == 0;
        if (here && strncmp(item.key, wanted, strlen(wanted)) == 0 &&
            item.key[strlen(wanted)] == ' ') {
            visit(context, object);
        }
    }
    return SL_CODE_OK;
}

struct watch {
    sl_watch_fn *fn;
    void *context;
    enum sl_kind kind;
};

static void show(void *context, struct sl_json *object)
{
    const struct watch *w = context;
    w->fn(w->context, SL_WATCH_ADDED, w->kind, object);
}

static void watch(void *self, enum sl_kind kind, sl_watch_fn *fn, void *context)
{
    struct watch w = {fn, context, kind};
    (void)list(self, kind, "", show, &w, NULL);
    fn(context, SL_WATCH_SYNCED, kind, NULL);
}

/* It is only looked at: the controllers are given no turn. */
static void write_nothing(void *self, const struct sl_write *w, sl_reply_fn *reply, void *context)
{
    struct sl_error e = {0};
    (void)self;
    (void)w;
    (void)sl_error_set(&e, SL_CODE_UNAVAILABLE, "nothing is written here");
    if (reply != NULL) {
        reply(context, e.code, &e, NULL);
    }
}

/* --- opening --------------------------------------------------------------------------------------------- */

static struct sl_offline *new (struct sl_error *e)
{
    struct sl_offline *o = sl_mem_new(1, sizeof *o);
    o->objects = sl_map_new();
    o->e = e;
    return o;
}

static enum sl_code start(struct sl_offline *o, const struct sl_engine_settings *settings)
{
    struct sl_engine_options engine = {.settings = settings};
    if (o->e->code == SL_CODE_OK && sl_map_count(o->objects) == 0) {
        return sl_error_set(o->e, SL_CODE_BAD_REQUEST, "there are no objects in it");
    }
    sl_log_setup(SL_LOG_WARN, false); /* that objects have been read is for the log of a daemon */
    if (o->e->code != SL_CODE_OK || sl_engine_open(&engine, &o->engine, o->e) != SL_CODE_OK) {
        return o->e->code;
    }
    sl_clock_set_virtual(o->now_ms);
    struct sl_controllers_options options = {
        .client = {.self = o, .get = get, .list = list, .watch = watch, .write = write_nothing},
        .engine = o->engine,
        .run_jobs = true};
    o->controllers = sl_controllers_new(&options);
    sl_controllers_start(o->controllers);
    return SL_CODE_OK;
}

enum sl_code sl_offline_from_file(const char *path, const struct sl_engine_settings *settings,
                                  struct sl_offline **out, struct sl_error *e)
{
    SL_PRE(path != NULL && out != NULL && e != NULL);
    struct sl_offline *o = new (e);
    *out = o;
    (void)sl_manifest_read(path, take_document, o, e);
    o->now_ms = o->now_ms > 0 ? o->now_ms : sl_clock_wall_ms();
    return start(o, settings);
}

enum sl_code sl_offline_from_journal(const char *path, const struct sl_engine_settings *settings,
                                     struct sl_offline **out, struct sl_error *e)
{
    SL_PRE(path != NULL && out != NULL && e != NULL);
    struct sl_offline *o = new (e);
    *out = o;
    if (sl_past_read(path, &o->past, e) != SL_CODE_OK) {
        return e->code;
    }
    o->now_ms = o->past.end_ms;
    for (struct sl_json_member m = {0}; sl_json_each(o->past.last, &m);) {
        enum sl_kind kind = sl_kind_find_object(sl_json_path_text(m.value, "apiVersion", ""),
                                                sl_json_path_text(m.value, "kind", ""));
        if (kind != SL_KIND_COUNT) {
            put(o, kind, sl_json_clone(m.value));
        }
    }
    enum sl_code code = start(o, settings != NULL ? settings : &o->past.settings);
    if (code == SL_CODE_OK) {
        sl_past_teach(&o->past, o->engine);
    }
    return code;
}

void sl_offline_close(struct sl_offline *o)
{
    if (o == NULL) {
        return;
    }
    sl_controllers_free(o->controllers);
    sl_engine_close(o->engine);
    sl_map_free_with(o->objects, sl_json_free_value);
    sl_past_fini(&o->past);
    sl_mem_free(o);
}

/* --- the question ---------------------------------------------------------------------------------------- */

enum sl_code sl_offline_ask(struct sl_offline *o, const struct sl_json *changes, int64_t horizon_ms,
                            size_t rows_max, struct sl_json **out, struct sl_error *e)
{
    SL_PRE(o != NULL && out != NULL && e != NULL);
    struct sl_json *completed = NULL;
    struct sl_buf text = {0};
    if (sl_foresight_complete(o->controllers, changes, &completed, e) != SL_CODE_OK) {
        sl_json_free(completed);
        return e->code;
    }
    struct sl_question q = {.engine = o->engine,
                            .changes = completed,
                            .now_ms = o->now_ms,
                            .until_ms =
                                o->now_ms + (horizon_ms > 0 ? horizon_ms : HORIZON_MS_PRESET),
                            .seconds_max = SECONDS_MAX,
                            .rows_max = rows_max};
    const struct sl_aside_work work = sl_question_work(&q, sl_question_answer);
    if (sl_aside_run(&work, &text, e) == SL_CODE_OK) {
        size_t at = sl_question_body(&text);
        *out = sl_json_parse(text.data + at, text.len - at, e);
    }
    if (*out != NULL && strcmp(sl_json_path_text(*out, "kind", ""), "Status") == 0) {
        (void)sl_error_set(e, SL_CODE_BAD_REQUEST, "%s", sl_json_path_text(*out, "message", ""));
        sl_json_free(*out);
        *out = NULL;
    }
    sl_json_free(completed);
    sl_buf_fini(&text);
    return e->code;
}
