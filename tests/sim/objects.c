/* SPDX-License-Identifier: Apache-2.0
 * SPDX-FileCopyrightText: The Sluice authors */

/* What administrators and users do goes to the store as requests do; everything is told. */
#include "sim.h"
#include "disk.h"
#include "base/mem.h"
#include <stdarg.h>
#include <stdio.h>
#include <string.h>

static enum sl_code apply(struct sim *s, const struct sl_write *w, const char *verb)
{
    struct sl_error e = {0};
    struct sl_json *result = NULL;
    enum sl_code code = sl_store_apply(s->store, w, &result, &e);
    sim_story_tell("admin", "%s %s %s%s%s%s%s", verb, sl_kind_info(w->kind)->kind, w->ns,
                   w->ns[0] == '\0' ? "" : "/", w->name, code == SL_CODE_OK ? "" : ": ",
                   code == SL_CODE_OK  ? ""
                   : e.cause_count > 0 ? e.causes[0].text
                                       : e.text);
    sl_json_free(result);
    s->kicked = true;
    return code;
}

enum sl_code sim_create_object(struct sim *s, enum sl_kind kind, struct sl_json *object)
{
    sl_json_set_text(object, "apiVersion", sl_kind_info(kind)->api_version);
    sl_json_set_text(object, "kind", sl_kind_info(kind)->kind);
    struct sl_write w = {.verb = SL_VERB_CREATE,
                         .kind = kind,
                         .ns = sl_object_namespace(object),
                         .name = sl_object_name(object),
                         .body = object};
    enum sl_code code = apply(s, &w, "create");
    sl_json_free(object);
    return code;
}

enum sl_code sim_create(struct sim *s, enum sl_kind kind, const char *format, ...)
{
    char text[4096];
    struct sl_error e = {0};
    va_list list;
    va_start(list, format);
    int len = vsnprintf(text, sizeof text, format, list);
    va_end(list);
    struct sl_json *object = sl_json_parse(text, (size_t)len, &e);
    if (object == NULL) {
        sim_story_violation("the simulator made no JSON: %s in %s", e.text, text);
    }
    return sim_create_object(s, kind, object);
}

enum sl_code sim_patch(struct sim *s, enum sl_kind kind, const struct sl_json *of, bool status,
                       struct sl_json *patch)
{
    struct sl_buf text = {0};
    sl_buf_text(&text, "patch ");
    sl_json_print(patch, &text);
    struct sl_write w = {.verb = status ? SL_VERB_PATCH_STATUS_MERGE : SL_VERB_PATCH_MERGE,
                         .kind = kind,
                         .ns = sl_object_namespace(of),
                         .name = sl_object_name(of),
                         .body = patch};
    enum sl_code code = apply(s, &w, text.data);
    sl_buf_fini(&text);
    sl_json_free(patch);
    return code;
}

enum sl_code sim_delete(struct sim *s, enum sl_kind kind, const struct sl_json *object,
                        const char *propagation)
{
    struct sl_write w = {.verb = SL_VERB_DELETE,
                         .kind = kind,
                         .ns = sl_object_namespace(object),
                         .name = sl_object_name(object),
                         .propagation = propagation};
    return apply(s, &w, "delete");
}

static void keep(void *context, struct sl_json *object)
{
    sl_json_append(context, sl_json_clone(object));
}

struct sl_json *sim_list(struct sim *s, enum sl_kind kind)
{
    struct sl_error e = {0};
    struct sl_json *list = sl_json_new_list();
    struct sl_store_list q = {.kind = kind, .ns = ""};
    bool spared = sim_disk_spare(true);
    if (sl_store_list(s->store, &q, keep, list, NULL, NULL, &e) != SL_CODE_OK) {
        sim_story_violation("objects cannot be listed: %s", e.text);
    }
    (void)sim_disk_spare(spared);
    return list;
}

struct sl_json *sim_pick(struct sim *s, enum sl_kind kind, struct sim_chance *c)
{
    struct sl_json *list = sim_list(s, kind);
    size_t count = sl_json_len(list);
    struct sl_json *one =
        count == 0 ? NULL : sl_json_clone(sl_json_at(list, sim_chance_below(c, (uint32_t)count)));
    sl_json_free(list);
    return one;
}
