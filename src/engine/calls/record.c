/* SPDX-License-Identifier: Apache-2.0
 * SPDX-FileCopyrightText: The Sluice authors */

/* Calls as bytes of the journal: the kind (u8), the answer (u16), the fields in the order of
 * calls.def, and a list to the end. */
#include "engine/calls/call.h"
#include "base/check.h"
#include <inttypes.h>
#include <string.h>

static const char *const call_names[] = {
#define SL_CALL(name, fields, does) #name,
#include "engine/calls/calls.def"
};

const char *sl_call_name(enum sl_call_kind kind)
{
    return kind < SL_CALL_KIND_COUNT ? call_names[kind] : "?";
}

/* --- to bytes --------------------------------------------------------------------------------- */

#define FIELD PACK_FIELD
#define ARRAY PACK_ARRAY
#define VALUE(type, name, how) pack_##how(out, &v->name);
#define LIST(name)                                                                                 \
    if (v->name != NULL && v->name->len > 0) {                                                     \
        sl_buf_add(out, v->name->data, v->name->len);                                              \
    }
#define SL_VALUE(type, how, fields)                                                                \
    static void pack_##how(struct sl_buf *out, const type *v)                                      \
    {                                                                                              \
        fields                                                                                     \
    }
#include "engine/calls/values.def"
#undef SL_VALUE

void sl_call_pack(struct sl_buf *out, const struct sl_call *c, enum sl_status answer)
{
    SL_PRE(c != NULL);
    pack_u8(out, (uint8_t)c->kind);
    pack_u16(out, (uint16_t)answer);
    switch (c->kind) {
#define SL_CALL(name, fields, does)                                                                \
    case SL_CALL_##name: {                                                                         \
        const struct sl_call_##name *v = &c->name;                                                 \
        fields break;                                                                              \
    }
#include "engine/calls/calls.def"
    case SL_CALL_KIND_COUNT:
        break;
    }
}
#undef FIELD
#undef ARRAY
#undef VALUE
#undef LIST

/* --- from bytes ------------------------------------------------------------------------------- */

static const struct sl_buf *take_rest(struct unpack *u, struct sl_buf *list)
{
    sl_buf_reset(list);
    if (u->at < u->end) {
        sl_buf_add(list, (const char *)u->at, (size_t)(u->end - u->at));
    }
    u->at = u->end;
    return list;
}

#define FIELD UNPACK_FIELD
#define ARRAY UNPACK_ARRAY
#define VALUE(type, name, how) unpack_##how(u, &v->name);
#define LIST(name) v->name = take_rest(u, list);
#define SL_VALUE(type, how, fields)                                                                \
    static void unpack_##how(struct unpack *u, type *v)                                            \
    {                                                                                              \
        fields                                                                                     \
    }
#include "engine/calls/values.def"
#undef SL_VALUE

bool sl_call_unpack(const unsigned char *payload, size_t len, struct sl_call *out,
                    struct sl_buf *list, enum sl_status *answer)
{
    struct unpack whole = {payload, payload + len, false}, *u = &whole;
    struct sl_call c = {.kind = (enum sl_call_kind)unpack_u8(u)};
    *answer = (enum sl_status)unpack_u16(u);
    switch (c.kind) {
#define SL_CALL(name, fields, does)                                                                \
    case SL_CALL_##name: {                                                                         \
        struct sl_call_##name *v = &c.name;                                                        \
        fields break;                                                                              \
    }
#include "engine/calls/calls.def"
    default:
        return false;
    }
    *out = c;
    return !u->failed && u->at == u->end;
}
#undef FIELD
#undef ARRAY
#undef VALUE
#undef LIST

/* --- in words --------------------------------------------------------------------------------- */

static const char *name_of(const char *type, uint64_t value, const struct sl_journal_names *names)
{
    static const struct {
        const char *type;
        enum sl_intern_class of;
    } classes[] = {{"sl_workload_id", SL_INTERN_WORKLOAD}, {"sl_qnode_id", SL_INTERN_QNODE},
                   {"sl_flavor_id", SL_INTERN_FLAVOR},     {"sl_resource_id", SL_INTERN_RESOURCE},
                   {"sl_account_id", SL_INTERN_ACCOUNT},   {"sl_level_id", SL_INTERN_LEVEL},
                   {"sl_tree_id", SL_INTERN_FLAVOR}};
    for (size_t i = 0; i < sizeof classes / sizeof classes[0]; i++) {
        if (strcmp(type, classes[i].type) == 0) {
            return sl_journal_name(names, classes[i].of, (uint32_t)value);
        }
    }
    return NULL;
}

static void print_number(struct sl_buf *out, const char *type, const char *field, uint64_t value,
                         const struct sl_journal_names *names)
{
    const char *name = value == SL_NO_ID ? "none" : name_of(type, value, names);
    sl_buf_print(out, " %s=", field);
    if (name != NULL) {
        sl_buf_text(out, name);
    } else if (strcmp(type, "bool") == 0) {
        sl_buf_text(out, value != 0 ? "true" : "false");
    } else {
        sl_buf_print(out, "%" PRId64, (int64_t)value);
    }
}

#define FIELD(type, name) print_number(out, #type, #name, (uint64_t)v->name, names);
#define ARRAY(type, name, length)                                                                  \
    for (uint32_t i = 0; i < (length); i++) {                                                      \
        print_number(out, #type, #name, (uint64_t)v->name[i], names);                              \
    }
#define VALUE(type, name, how) print_##how(out, &v->name, names);
#define LIST(name)                                                                                 \
    if (v->name != NULL && v->name->len > 0) {                                                     \
        sl_buf_print(out, " " #name "=%zu bytes", v->name->len);                                   \
    }
#define SL_VALUE(type, how, fields)                                                                \
    static void print_##how(struct sl_buf *out, const type *v,                                     \
                            const struct sl_journal_names *names)                                  \
    {                                                                                              \
        fields                                                                                     \
    }
#include "engine/calls/values.def"
#undef SL_VALUE

void sl_call_print(struct sl_buf *out, const struct sl_call *c,
                   const struct sl_journal_names *names)
{
    SL_PRE(c != NULL);
    sl_buf_text(out, sl_call_name(c->kind));
    switch (c->kind) {
#define SL_CALL(name, fields, does)                                                                \
    case SL_CALL_##name: {                                                                         \
        const struct sl_call_##name *v = &c->name;                                                 \
        fields break;                                                                              \
    }
#include "engine/calls/calls.def"
    case SL_CALL_KIND_COUNT:
        break;
    }
}
