/* SPDX-License-Identifier: Apache-2.0
 * SPDX-FileCopyrightText: The Sluice authors */

/* YAML texts to values, over libyaml's events. What could hide something from a reader is
 * refused with its line: anchors and aliases, but in texts of our own, tags, merge keys, duplicate keys, keys that are no
 * scalars. */
#include "api/json/json.h"

#include <json-c/json.h>
#include <math.h>
#include <stdio.h>
#include <string.h>
#include <yaml.h>

#include "api/json/yaml_scalar.h"
#include "base/check.h"
#include "base/mem.h"
#include "base/effort.h"

#define DEPTH_MAX 64u

struct level {
    struct sl_json
        *value; /* lent: owned by the level above, at the bottom by the list of documents */
    char *key;  /* a map's key that waits for its value */
};

struct reader {
    yaml_parser_t parser;
    struct sl_json *documents;
    struct level levels[DEPTH_MAX + 1]; /* [0] is the list of documents */
    unsigned depth;
    size_t weight, weight_max;
    struct sl_json *anchors; /* the containers that have one; NULL: they are refused */
    struct sl_error *e;
};

static bool refuse(const struct reader *r, const yaml_mark_t *mark, const char *problem,
                   const char *what)
{
    sl_error_set(r->e, SL_CODE_BAD_REQUEST, "malformed YAML at line %zu, column %zu: %s%s%s",
                 mark->line + 1, mark->column + 1, problem, what[0] != '\0' ? ": " : "", what);
    return false;
}

/* The shortest decimal that reads back as the same double. */
static struct sl_json *new_double(double real)
{
    char text[40];
    for (int precision = 1; precision <= 17; precision++) {
        snprintf(text, sizeof text, "%.*g", precision, real);
        double back;
        if (sscanf(text, "%lf", &back) == 1 && !(back < real) && !(back > real)) {
            break;
        }
    }
    return sl_mem_got(json_object_new_double_s(real, text));
}

static bool scalar_value(const struct reader *r, const yaml_event_t *event, struct sl_json **out)
{
    const char *text = (const char *)event->data.scalar.value;
    if (memchr(text, '\0', event->data.scalar.length) != NULL) {
        return refuse(r, &event->start_mark, "a string must not contain a NUL character", "");
    }
    if (event->data.scalar.style != YAML_PLAIN_SCALAR_STYLE) {
        *out = sl_json_new_text(text);
        return true;
    }
    struct sl_yaml_scalar scalar = sl_yaml_resolve(text);
    switch (scalar.kind) {
    case SL_YAML_NULL:
        *out = NULL;
        return true;
    case SL_YAML_BOOL:
        *out = sl_json_new_bool(scalar.boolean);
        return true;
    case SL_YAML_INT:
        *out = sl_json_new_int(scalar.number);
        return true;
    case SL_YAML_FLOAT:
        if (!isfinite(scalar.real)) {
            return refuse(r, &event->start_mark, "JSON has no such number", text);
        }
        *out = new_double(scalar.real);
        return true;
    case SL_YAML_TEXT:
    case SL_YAML_TIME:
        break;
    }
    *out = sl_json_new_text(text);
    return true;
}

/* Keys are texts in JSON: a number or a bool becomes the text that JSON prints for it. */
static bool take_key(struct reader *r, const yaml_event_t *event)
{
    struct level *top = &r->levels[r->depth];
    const char *text = (const char *)event->data.scalar.value;
    bool plain = event->data.scalar.style == YAML_PLAIN_SCALAR_STYLE;
    if (plain && strcmp(text, "<<") == 0) {
        return refuse(r, &event->start_mark, "merge keys are not supported", "");
    }
    struct sl_json *key = NULL;
    if (!scalar_value(r, event, &key)) {
        return false;
    }
    struct sl_buf printed = {0};
    if (sl_json_type(key) == SL_JSON_TEXT) {
        sl_buf_text(&printed, sl_json_text(key, ""));
    } else {
        sl_json_print(key, &printed);
    }
    sl_json_free(key);
    top->key = sl_buf_take(&printed);
    if (sl_json_has(top->value, top->key)) {
        return refuse(r, &event->start_mark, "duplicate key", top->key);
    }
    return true;
}

/* Puts a finished or just opened value into the container on top. */
static void place(struct reader *r, struct sl_json *value)
{
    struct level *top = &r->levels[r->depth];
    if (sl_json_type(top->value) == SL_JSON_LIST) {
        sl_json_append(top->value, value);
        return;
    }
    SL_ASSERT(top->key != NULL);
    sl_json_set(top->value, top->key, value);
    sl_mem_free(top->key);
    top->key = NULL;
}

static bool wants_key(const struct reader *r)
{
    const struct level *top = &r->levels[r->depth];
    return sl_json_type(top->value) == SL_JSON_MAP && top->key == NULL;
}

static bool take_scalar(struct reader *r, const yaml_event_t *event)
{
    if (event->data.scalar.anchor != NULL) {
        return refuse(r, &event->start_mark, "anchors are not supported",
                      (const char *)event->data.scalar.anchor);
    }
    if (event->data.scalar.tag != NULL) {
        return refuse(r, &event->start_mark, "tags are not supported",
                      (const char *)event->data.scalar.tag);
    }
    if (wants_key(r)) {
        return take_key(r, event);
    }
    struct sl_json *value = NULL;
    if (!scalar_value(r, event, &value)) {
        return false;
    }
    if (r->depth > 0 || value != NULL) { /* a document with nothing in it is none */
        place(r, value);
    }
    return true;
}

/* Sequences and mappings carry anchor and tag at the same place of their event. */
static bool open_container(struct reader *r, const yaml_event_t *event, const yaml_char_t *anchor,
                           const yaml_char_t *tag)
{
    const yaml_mark_t *mark = &event->start_mark;
    if (anchor != NULL && r->anchors == NULL) {
        return refuse(r, mark, "anchors are not supported", (const char *)anchor);
    }
    if (tag != NULL) {
        return refuse(r, mark, "tags are not supported", (const char *)tag);
    }
    if (wants_key(r)) {
        return refuse(r, mark, "a key must be a scalar", "");
    }
    if (r->depth == DEPTH_MAX) {
        return refuse(r, mark, "nested deeper than 64 levels", "");
    }
    bool map = event->type == YAML_MAPPING_START_EVENT;
    struct sl_json *value = map ? sl_json_new_map() : sl_json_new_list();
    place(r, value);
    if (anchor != NULL) {
        sl_json_set(r->anchors, (const char *)anchor, sl_json_ref(value));
    }
    r->levels[++r->depth] = (struct level){.value = value};
    return true;
}

static bool take_alias(struct reader *r, const yaml_event_t *event)
{
    const char *anchor = (const char *)event->data.alias.anchor;
    if (r->anchors == NULL) {
        return refuse(r, &event->start_mark, "aliases are not supported", anchor);
    }
    if (!sl_json_has(r->anchors, anchor) || wants_key(r)) {
        return refuse(r, &event->start_mark, "no list or map has this anchor", anchor);
    }
    place(r, sl_json_clone(sl_json_get(r->anchors, anchor)));
    return true;
}

static bool weighs_too_much(struct reader *r, const yaml_event_t *event)
{
    bool value = event->type == YAML_SCALAR_EVENT || event->type == YAML_SEQUENCE_START_EVENT;
    r->weight += event->type == YAML_MAPPING_START_EVENT ? SL_JSON_WEIGHT_MAP : value;
    if (r->weight <= r->weight_max) {
        return false;
    }
    sl_error_set(r->e, SL_CODE_TOO_LARGE, "the YAML text has too many values, at line %zu",
                 event->start_mark.line + 1);
    return true;
}

static bool take_event(struct reader *r, const yaml_event_t *event)
{
    sl_effort_add(1);
    if (weighs_too_much(r, event)) {
        return false;
    }
    switch (event->type) {
    case YAML_ALIAS_EVENT:
        return take_alias(r, event);
    case YAML_SCALAR_EVENT:
        return take_scalar(r, event);
    case YAML_SEQUENCE_START_EVENT:
        return open_container(r, event, event->data.sequence_start.anchor,
                              event->data.sequence_start.tag);
    case YAML_MAPPING_START_EVENT:
        return open_container(r, event, event->data.mapping_start.anchor,
                              event->data.mapping_start.tag);
    case YAML_SEQUENCE_END_EVENT:
    case YAML_MAPPING_END_EVENT:
        SL_ASSERT(r->depth > 0);
        r->depth--;
        return true;
    default:
        return true;
    }
}

static bool next_event(struct reader *r, bool *more)
{
    yaml_event_t event;
    if (yaml_parser_parse(&r->parser, &event) == 0) {
        sl_mem_done(r->parser.error != YAML_MEMORY_ERROR);
        const char *problem = r->parser.problem != NULL ? r->parser.problem : "unreadable";
        yaml_mark_t mark =
            r->parser.error == YAML_READER_ERROR ? r->parser.mark : r->parser.problem_mark;
        return refuse(r, &mark, problem, "");
    }
    *more = event.type != YAML_STREAM_END_EVENT;
    bool taken = take_event(r, &event);
    yaml_event_delete(&event);
    return taken;
}

/* libyaml refuses the surrogate pairs of JSON's escapes, so that what starts like JSON is tried
 * as such. */
static struct sl_json *as_json(const char *text, size_t len, size_t weight_max)
{
    size_t blank = 0;
    while (blank < len && strchr(" \t\r\n", text[blank]) != NULL && text[blank] != '\0') {
        blank++;
    }
    if (blank == len || (text[blank] != '{' && text[blank] != '[')) {
        return NULL;
    }
    return sl_json_weigh(text, len) <= weight_max ? sl_json_parse(text, len, NULL) : NULL;
}

static struct sl_json *parse(struct reader r, const char *text, size_t len)
{
    size_t weight_max = r.weight_max;
    struct sl_json *json = as_json(text, len, weight_max);
    r.documents = sl_json_new_list();
    if (json != NULL) {
        sl_json_append(r.documents, json);
        return r.documents;
    }
    r.levels[0].value = r.documents;
    sl_effort_text(len);
    sl_mem_done(yaml_parser_initialize(&r.parser) == 1);
    yaml_parser_set_encoding(&r.parser, YAML_UTF8_ENCODING);
    yaml_parser_set_input_string(&r.parser, (const unsigned char *)text, len);
    bool fine = true, more = true;
    while (fine && more) {
        fine = next_event(&r, &more);
    }
    yaml_parser_delete(&r.parser);
    for (unsigned i = 0; i <= r.depth; i++) {
        sl_mem_free(r.levels[i].key);
    }
    if (!fine) {
        sl_json_free(r.documents);
        return NULL;
    }
    return r.documents;
}

struct sl_json *sl_json_parse_yaml(const char *text, size_t len, struct sl_error *e)
{
    return sl_json_parse_yaml_within(text, len, SIZE_MAX, e);
}

struct sl_json *sl_json_parse_yaml_within(const char *text, size_t len, size_t weight_max,
                                          struct sl_error *e)
{
    return parse((struct reader){.weight_max = weight_max, .e = e}, text, len);
}

struct sl_json *sl_json_parse_yaml_own(const char *text, size_t len, struct sl_error *e)
{
    struct sl_json *anchors = sl_json_new_map();
    struct sl_json *documents =
        parse((struct reader){.weight_max = SIZE_MAX, .anchors = anchors, .e = e}, text, len);
    sl_json_free(anchors);
    return documents;
}
