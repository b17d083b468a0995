/* SPDX-License-Identifier: Apache-2.0
 * SPDX-FileCopyrightText: The Sluice authors */

/* Answers: objects in the shape the client asked for, and errors as Status objects. */
#include <stdarg.h>
#include <stdio.h>
#include <string.h>

#include "api/versions/versions.h"
#include "base/check.h"
#include "base/clock.h"
#include "base/utf8.h"
#include "server/rest.h"

void sl_answer_reset(struct sl_answer *a)
{
    SL_PRE(a != NULL);
    sl_buf_fini(&a->body);
    sl_json_free(a->warnings);
    if (a->stream != NULL) {
        a->stream->free(a->stream);
    }
    *a = (struct sl_answer){.status = 0};
}

void sl_answer_json(struct sl_request *r, int status, const struct sl_json *value)
{
    SL_PRE(status >= 200 && value != NULL);
    sl_answer_reset(&r->answer);
    r->answer.status = status;
    if (r->accept.yaml) {
        r->answer.content_type = "application/yaml";
        sl_json_print_yaml(value, &r->answer.body);
        return;
    }
    r->answer.content_type = "application/json";
    if (sl_request_flag(r, "pretty")) {
        sl_json_print_pretty(value, &r->answer.body);
    } else {
        sl_json_print(value, &r->answer.body);
    }
    sl_buf_text(&r->answer.body, "\n");
}

void sl_answer_error(struct sl_request *r, const struct sl_error *e)
{
    SL_PRE(e->code != SL_CODE_OK);
    const char *name = r->subject != NULL ? r->subject : r->route.name != NULL ? r->route.name : "";
    struct sl_error said = *e;
    if (r->route.old && r->route.kind != SL_KIND_COUNT && e->cause_count > 0) {
        sl_version_error_old(r->route.kind, &said);
    }
    struct sl_json *status = sl_status_new(&said, r->route.kind, name);
    r->wait = r->wrote = r->again = false;
    sl_answer_json(r, sl_code_http(e->code), status);
    sl_json_free(status);
}

void sl_answer_refusal(struct sl_request *r, const struct sl_error *e, bool dirty)
{
    SL_PRE(r->rest != NULL);
    sl_answer_error(r, e);
    r->wait = dirty && sl_store_dirty(r->rest->store);
}

void sl_answer_fail(struct sl_request *r, enum sl_code code, const char *format, ...)
{
    SL_PRE(r != NULL);
    struct sl_error e;
    char text[sizeof e.text];
    va_list args;
    va_start(args, format);
    sl_utf8_print_args(text, sizeof text, format, args);
    va_end(args);
    sl_error_clear(&e);
    (void)sl_error_set(&e, code, "%s", text);
    if (r->route.target == SL_TARGET_UNKNOWN) {
        r->route.kind = SL_KIND_COUNT;
    }
    sl_answer_error(r, &e);
}

void sl_answer_warn(struct sl_request *r, const char *format, ...)
{
    char text[300], header[320];
    va_list args;
    va_start(args, format);
    (void)vsnprintf(text, sizeof text, format, args);
    va_end(args);
    for (char *c = text; *c != '\0'; c++) {
        *c = *c < ' ' || *c > '~' || *c == '"' || *c == '\\' ? '?' : *c;
    }
    (void)snprintf(header, sizeof header, "299 - \"%s\"", text);
    if (r->answer.warnings == NULL) {
        r->answer.warnings = sl_json_new_list();
    }
    sl_json_append(r->answer.warnings, sl_json_new_text(header));
}

void sl_answer_no_resource(struct sl_request *r)
{
    SL_PRE(r != NULL);
    r->route.kind = SL_KIND_COUNT;
    sl_answer_fail(r, SL_CODE_NOT_FOUND, "the server could not find the requested resource");
}

void sl_answer_success(struct sl_request *r, const struct sl_json *object)
{
    SL_PRE(r != NULL);
    const struct sl_kind_info *info = sl_kind_info(r->route.kind);
    struct sl_json *status = sl_json_new_map();
    sl_json_set_text(status, "kind", "Status");
    sl_json_set_text(status, "apiVersion", "v1");
    sl_json_set(status, "metadata", sl_json_new_map());
    sl_json_set_text(status, "status", "Success");
    struct sl_json *details = sl_json_path_make(status, "details");
    if (object != NULL) {
        sl_json_set_text(details, "name", sl_object_name(object));
        sl_json_set_text(details, "uid", sl_object_uid(object));
    }
    if (info->group[0] != '\0') {
        sl_json_set_text(details, "group", info->group);
    }
    sl_json_set_text(details, "kind", info->plural);
    sl_answer_json(r, 200, status);
    sl_json_free(status);
}

/* --- shapes ---------------------------------------------------------------------------------- */

struct sl_json *sl_shape_metadata_new(const struct sl_json *object)
{
    struct sl_json *metadata = sl_json_get(object, "metadata");
    struct sl_json *partial = sl_json_new_map();
    sl_json_set_text(partial, "kind", "PartialObjectMetadata");
    sl_json_set_text(partial, "apiVersion", "meta.k8s.io/v1");
    if (metadata != NULL) {
        sl_json_set(partial, "metadata", sl_json_ref(metadata));
    }
    return partial;
}

/* What a row carries besides its cells: "Metadata" (default), "Object" or "None". */
static struct sl_json *row_object(const struct sl_shown *shown, struct sl_json *object,
                                  const char *include)
{
    struct sl_error e = {0};
    if (strcmp(include, "None") == 0) {
        return NULL;
    }
    struct sl_json *seen = sl_shown_new(shown, object, &e);
    if (strcmp(include, "Object") == 0 && seen != NULL) {
        return seen;
    }
    struct sl_json *metadata = sl_shape_metadata_new(seen != NULL ? seen : object);
    sl_json_free(seen);
    return metadata;
}

struct sl_json *sl_shape_table_new(const struct sl_shown *shown, struct sl_json *objects,
                                   const char *include, bool headers)
{
    struct sl_json *table = sl_table_new(shown->kind, objects, sl_clock_now_ms());
    struct sl_json *rows = sl_json_get(table, "rows");
    SL_ASSERT(sl_json_len(rows) == sl_json_len(objects));
    for (size_t i = 0; i < sl_json_len(rows); i++) {
        struct sl_json *carried = row_object(shown, sl_json_at(objects, i), include);
        if (carried != NULL) {
            sl_json_set(sl_json_at(rows, i), "object", carried);
        } else {
            sl_json_remove(sl_json_at(rows, i), "object");
        }
    }
    if (!headers) {
        sl_json_set(table, "columnDefinitions", sl_json_new_list());
    }
    return table;
}

/* The object as the client wants it: itself, a Table of one row, or its metadata. Caller frees. */
static struct sl_json *shape_object(const struct sl_request *r, struct sl_json *object)
{
    SL_PRE(r != NULL);
    if (r->accept.shape == SL_SHAPE_METADATA) {
        return sl_shape_metadata_new(object);
    }
    if (r->accept.shape == SL_SHAPE_OBJECT) {
        return sl_json_ref(object);
    }
    struct sl_json *one = sl_json_new_list();
    sl_json_append(one, sl_json_ref(object));
    struct sl_shown shown = sl_shown_by(r);
    struct sl_json *table =
        sl_shape_table_new(&shown, one, sl_request_arg(r, "includeObject", "Metadata"), true);
    sl_json_set_text(sl_json_path_make(table, "metadata"), "resourceVersion",
                     sl_object_resource_version(object));
    sl_json_free(one);
    return table;
}

void sl_answer_object(struct sl_request *r, int status, struct sl_json *object)
{
    struct sl_error e = {0};
    struct sl_shown shown = sl_shown_by(r);
    bool table = r->accept.shape == SL_SHAPE_TABLE; /* made of the object as it is stored */
    struct sl_json *seen = table ? sl_json_ref(object) : sl_shown_new(&shown, object, &e);
    if (seen == NULL) {
        sl_answer_error(r, &e);
        return;
    }
    struct sl_json *shaped = shape_object(r, seen);
    sl_answer_json(r, status, shaped);
    sl_json_free(shaped);
    sl_json_free(seen);
}
