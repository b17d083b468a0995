/* SPDX-License-Identifier: Apache-2.0
 * SPDX-FileCopyrightText: The Sluice authors */

/* Lists that calls hand over: items of items.def, one after the other, as bytes. */
#ifndef SL_ENGINE_CALLS_ITEM_H
#define SL_ENGINE_CALLS_ITEM_H
#include "base/buf.h"
#include "engine/journal/pack.h"
#include "kernel/topology/topology.h"
#include "policy/requests/requests.h"
#include "policy/topology/masks.h"
#include "policy/requests/topology_request.h"

enum sl_item_kind {
    SL_ITEM_none, /* no list has it */
#define SL_ITEM(name, fields) SL_ITEM_##name,
#include "engine/calls/items.def"
#undef SL_ITEM
    SL_ITEM_KIND_COUNT
};

#define FIELD(type, name) type name;
#define SL_ITEM(name, fields)                                                                      \
    struct sl_item_##name {                                                                        \
        fields                                                                                     \
    };
#include "engine/calls/items.def"
#undef SL_ITEM
#undef FIELD

struct sl_item {
    enum sl_item_kind kind;
    union {
#define SL_ITEM(name, fields) struct sl_item_##name name;
#include "engine/calls/items.def"
#undef SL_ITEM
    };
};

/* sl_item_add(&list, usage, .cell = cell, .amount = amount) */
#define sl_item_add(list, name, ...)                                                               \
    sl_item_pack((list), &(struct sl_item){.kind = SL_ITEM_##name, .name = {__VA_ARGS__}})
void sl_item_pack(struct sl_buf *list, const struct sl_item *item);

struct unpack sl_item_first(const struct sl_buf *list); /* of NULL: there is none */
/* The next one; false at the end, and when what follows is no item: `u->failed` then. */
bool sl_item_next(struct unpack *u, struct sl_item *out);
#endif
