/* SPDX-License-Identifier: Apache-2.0
 * SPDX-FileCopyrightText: The Sluice authors */

/* Protobuf to JSON by a table of fields. */
#include "server/protobuf.h"

#include <string.h>

#include "base/base64.h"
#include "base/check.h"
#include "base/mem.h"
#include "base/utf8.h"

#define DEPTH_MAX 8u

enum message {
    MESSAGE_NONE,
    MESSAGE_NAMESPACE,
    MESSAGE_JOB,
    MESSAGE_PRIORITY_CLASS,
    MESSAGE_CONFIG_MAP,
    MESSAGE_SECRET,
    MESSAGE_SERVICE_ACCOUNT,
    MESSAGE_DELETE_OPTIONS,
    MESSAGE_PRECONDITIONS,
    MESSAGE_METADATA,
    MESSAGE_OWNER,
    MESSAGE_JOB_SPEC,
    MESSAGE_POD_TEMPLATE,
    MESSAGE_POD_SPEC,
    MESSAGE_CONTAINER,
    MESSAGE_ENV,
    MESSAGE_RESOURCES,
    MESSAGE_TOLERATION,
    MESSAGE_REVIEW,
    MESSAGE_REVIEW_SPEC,
    MESSAGE_REVIEW_RESOURCE,
    MESSAGE_REVIEW_PATH,
    MESSAGE_RULES_REVIEW,
    MESSAGE_RULES_SPEC
};
enum type {
    TYPE_SKIP,
    TYPE_INT,
    TYPE_BOOL,
    TYPE_TEXT,
    TYPE_TEXT_LIST,
    TYPE_TEXT_MAP,
    TYPE_BYTES_MAP, /* base64 in JSON */
    TYPE_QUANTITY_MAP,
    TYPE_MESSAGE,
    TYPE_MESSAGE_LIST
};
struct field {
    enum message message;
    uint64_t number;
    const char *name;
    enum type type;
    enum message of;
};
static const struct field fields[] = {
#define SL_FIELD(message, number, name, type, of)                                                  \
    {MESSAGE_##message, number, name, TYPE_##type, MESSAGE_##of},
#include "server/protobuf.def"
#undef SL_FIELD
};

struct reader {
    const unsigned char *at, *end;
    struct sl_error *e;
    size_t *weight; /* that is left, of the whole body */
};
/* One field as it is on the wire: a number, or bytes. */
struct wire {
    uint64_t number, value;
    const unsigned char *bytes;
    size_t size;
    bool is_bytes;
};

static bool truncated(struct reader *r)
{
    if (*r->weight == SIZE_MAX) {
        return false; /* it is too large: that is why */
    }
    (void)sl_error_set(r->e, SL_CODE_BAD_REQUEST, "the protobuf body is malformed");
    return false;
}

static bool read_varint(struct reader *r, uint64_t *out)
{
    uint64_t value = 0;
    for (unsigned shift = 0; shift < 64 && r->at < r->end; shift += 7) {
        unsigned char byte = *r->at++;
        value |= (uint64_t)(byte & 0x7f) << shift;
        if ((byte & 0x80) == 0) {
            *out = value;
            return true;
        }
    }
    return truncated(r);
}

static bool read_wire(struct reader *r, struct wire *w)
{
    uint64_t tag = 0;
    *w = (struct wire){.number = 0};
    if (!read_varint(r, &tag)) {
        return false;
    }
    w->number = tag >> 3;
    w->is_bytes = (tag & 7) == 2;
    size_t weight = w->is_bytes ? SL_JSON_WEIGHT_MAP : 1; /* as if it was a message */
    if (weight > *r->weight) {
        (void)sl_error_set(r->e, SL_CODE_TOO_LARGE, "the protobuf body has too many values");
        *r->weight = SIZE_MAX;
        return false;
    }
    *r->weight -= weight;
    if (((tag & 7) != 0 && !w->is_bytes) || !read_varint(r, &w->value)) {
        return truncated(r); /* Kubernetes' types have no fixed-width fields */
    }
    if (w->is_bytes) {
        if (w->value > (uint64_t)(r->end - r->at)) {
            return truncated(r);
        }
        w->bytes = r->at;
        w->size = (size_t)w->value;
        r->at += w->size;
    }
    return true;
}

static const struct field *find_field(enum message message, uint64_t number)
{
    for (size_t i = 0; i < sizeof fields / sizeof fields[0]; i++) {
        if (fields[i].message == message && fields[i].number == number) {
            return &fields[i];
        }
    }
    return NULL;
}

/* A NUL would cut the text, and other bytes than UTF-8 could not be answered in JSON. */
static char *read_text(struct reader *r, const char *field, const struct wire *w)
{
    const char *bytes = w->size > 0 ? (const char *)w->bytes : "";
    bool whole = memchr(bytes, '\0', w->size) == NULL;
    if (!whole || !sl_utf8_valid(bytes, w->size)) {
        (void)sl_error_set(r->e, SL_CODE_BAD_REQUEST, "the protobuf body's field \"%s\" %s", field,
                           whole ? "is not valid UTF-8" : "must not contain a NUL character");
        return NULL;
    }
    return sl_mem_text_n(bytes, w->size);
}

/* NULL when it is refused. */
static struct sl_json *text_new(struct reader *r, const char *field, const struct wire *w)
{
    char *text = read_text(r, field, w);
    struct sl_json *value = text != NULL ? sl_json_new_text(text) : NULL;
    sl_mem_free(text);
    return value;
}

static struct sl_json *bytes_new(const struct wire *w)
{
    struct sl_buf text = {0};
    sl_buf_text(&text, "");
    sl_base64_print(w->size > 0 ? (const char *)w->bytes : "", w->size, &text);
    struct sl_json *value = sl_json_new_text(text.data);
    sl_buf_fini(&text);
    return value;
}

/* The list or map at `name`, made on its first element. */
static struct sl_json *container(struct sl_json *map, const char *name, bool list)
{
    if (sl_json_get(map, name) == NULL) {
        sl_json_set(map, name, list ? sl_json_new_list() : sl_json_new_map());
    }
    return sl_json_get(map, name);
}

/* A map's entry is a message {1: key, 2: value}; a quantity is a message {1: text}. */
static bool read_entry(struct reader *outer, const struct field *f, const struct wire *entry,
                       struct sl_json *map)
{
    struct reader r = {entry->bytes, entry->bytes + entry->size, outer->e, outer->weight};
    struct wire key = {.number = 0}, value = {.number = 0}, w;
    while (r.at < r.end) {
        if (!read_wire(&r, &w) || !w.is_bytes) {
            return truncated(outer);
        }
        *(w.number == 1 ? &key : &value) = w;
    }
    if (f->type == TYPE_QUANTITY_MAP && value.size > 0) {
        r = (struct reader){value.bytes, value.bytes + value.size, outer->e, outer->weight};
        if (!read_wire(&r, &value) || !value.is_bytes) {
            return truncated(outer);
        }
    }
    if (key.bytes == NULL) {
        return truncated(outer);
    }
    char *name = read_text(outer, f->name, &key);
    struct sl_json *text = name == NULL                ? NULL
                           : f->type == TYPE_BYTES_MAP ? bytes_new(&value)
                                                       : text_new(outer, f->name, &value);
    if (text != NULL) {
        sl_json_set(map, name, text);
    }
    sl_mem_free(name);
    return text != NULL;
}

static bool read_message(struct reader *r, enum message message, unsigned depth,
                         struct sl_json *out);

static bool read_nested(struct reader *outer, const struct field *f, const struct wire *w,
                        unsigned depth, struct sl_json *out)
{
    struct reader r = {w->bytes, w->bytes + w->size, outer->e, outer->weight};
    struct sl_json *nested = sl_json_new_map();
    if (depth == DEPTH_MAX || !read_message(&r, f->of, depth + 1, nested)) {
        sl_json_free(nested);
        return false;
    }
    if (f->type == TYPE_MESSAGE_LIST) {
        sl_json_append(container(out, f->name, true), nested);
    } else {
        sl_json_set(out, f->name, nested);
    }
    return true;
}

static bool read_bytes(struct reader *r, const struct field *f, const struct wire *w,
                       unsigned depth, struct sl_json *out)
{
    struct sl_json *text;
    switch (f->type) {
    case TYPE_TEXT:
        if (w->size == 0) { /* absent and empty are the same here */
            return true;
        }
        text = text_new(r, f->name, w);
        if (text != NULL) {
            sl_json_set(out, f->name, text);
        }
        return text != NULL;
    case TYPE_TEXT_LIST:
        text = text_new(r, f->name, w);
        if (text != NULL) {
            sl_json_append(container(out, f->name, true), text);
        }
        return text != NULL;
    case TYPE_TEXT_MAP:
    case TYPE_BYTES_MAP:
    case TYPE_QUANTITY_MAP:
        return read_entry(r, f, w, container(out, f->name, false));
    case TYPE_MESSAGE:
    case TYPE_MESSAGE_LIST:
        return read_nested(r, f, w, depth, out);
    default:
        return truncated(r);
    }
}

static bool read_message(struct reader *r, enum message message, unsigned depth,
                         struct sl_json *out)
{
    struct wire w;
    while (r->at < r->end) {
        if (!read_wire(r, &w)) {
            return false;
        }
        const struct field *f = find_field(message, w.number);
        if (f == NULL && w.value != 0) { /* zero and empty say nothing */
            (void)sl_error_set(
                r->e, SL_CODE_UNSUPPORTED_MEDIA,
                "the protobuf body has a field that this server only reads as JSON; send "
                "application/json");
            return false;
        }
        if (f == NULL || f->type == TYPE_SKIP) {
            continue;
        }
        if (w.is_bytes && !read_bytes(r, f, &w, depth, out)) {
            return false;
        }
        if (!w.is_bytes && f->type == TYPE_INT) {
            sl_json_set_int(out, f->name, (int64_t)w.value);
        } else if (!w.is_bytes && f->type == TYPE_BOOL) {
            sl_json_set_bool(out, f->name, w.value != 0);
        } else if (!w.is_bytes) {
            return truncated(r);
        }
    }
    return true;
}

static enum message root_message(const char *api_version, const char *kind)
{
    static const struct {
        const char *api_version, *kind;
        enum message message;
    } roots[] = {{"v1", "Namespace", MESSAGE_NAMESPACE},
                 {"batch/v1", "Job", MESSAGE_JOB},
                 {"scheduling.k8s.io/v1", "PriorityClass", MESSAGE_PRIORITY_CLASS},
                 {"v1", "ConfigMap", MESSAGE_CONFIG_MAP},
                 {"v1", "Secret", MESSAGE_SECRET},
                 {"v1", "ServiceAccount", MESSAGE_SERVICE_ACCOUNT},
                 {"v1", "DeleteOptions", MESSAGE_DELETE_OPTIONS},
                 {"authorization.k8s.io/v1", "SelfSubjectAccessReview", MESSAGE_REVIEW},
                 {"authorization.k8s.io/v1", "SelfSubjectRulesReview", MESSAGE_RULES_REVIEW}};
    for (size_t i = 0; i < sizeof roots / sizeof roots[0]; i++) {
        if (strcmp(roots[i].api_version, api_version) == 0 && strcmp(roots[i].kind, kind) == 0) {
            return roots[i].message;
        }
    }
    return MESSAGE_NONE;
}

/* The type is {1: apiVersion, 2: kind}. */
static bool read_type(struct reader *outer, const struct wire *type, struct sl_json *out)
{
    struct reader r = {type->bytes, type->bytes + type->size, outer->e, outer->weight};
    struct wire w;
    while (r.at < r.end) {
        if (!read_wire(&r, &w) || !w.is_bytes) {
            return truncated(outer);
        }
        const char *name = w.number == 1 ? "apiVersion" : "kind";
        struct sl_json *text = text_new(outer, name, &w);
        if (text == NULL) {
            return false;
        }
        sl_json_set(out, name, text);
    }
    return true;
}

/* The envelope is "k8s\0" and {1: type, 2: the object, ...}. */
static bool read_envelope(struct reader *r, struct sl_json *out)
{
    struct wire w, raw = {.number = 0};
    while (r->at < r->end) {
        if (!read_wire(r, &w) || (w.number == 1 && !w.is_bytes)) {
            return truncated(r);
        }
        if (w.number == 1 && !read_type(r, &w, out)) {
            return false;
        }
        if (w.number == 2 && w.is_bytes) {
            raw = w;
        }
    }
    enum message root = root_message(sl_json_text(sl_json_get(out, "apiVersion"), ""),
                                     sl_json_text(sl_json_get(out, "kind"), ""));
    if (root == MESSAGE_NONE || raw.bytes == NULL) {
        (void)sl_error_set(
            r->e, SL_CODE_UNSUPPORTED_MEDIA,
            "the body of the request was in an unknown format - this kind is accepted as: "
            "application/json, application/yaml");
        return false;
    }
    struct reader object = {raw.bytes, raw.bytes + raw.size, r->e, r->weight};
    return read_message(&object, root, 0, out);
}

struct sl_json *sl_protobuf_parse(const char *data, size_t len, size_t weight_max,
                                  struct sl_error *e)
{
    static const char magic[4] = {'k', '8', 's', '\0'};
    SL_PRE(data != NULL || len == 0);
    if (len < sizeof magic || memcmp(data, magic, sizeof magic) != 0) {
        (void)sl_error_set(e, SL_CODE_BAD_REQUEST, "the protobuf body does not begin with \"k8s\"");
        return NULL;
    }
    struct reader r = {(const unsigned char *)data + sizeof magic,
                       (const unsigned char *)data + len, e, &weight_max};
    struct sl_json *out = sl_json_new_map();
    if (!read_envelope(&r, out)) {
        sl_json_free(out);
        return NULL;
    }
    return out;
}
