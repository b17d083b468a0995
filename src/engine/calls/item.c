/* SPDX-License-Identifier: Apache-2.0
 * SPDX-FileCopyrightText: The Sluice authors */

#include "engine/calls/item.h"
#include "base/check.h"
#include "engine/calls/fields.h"

#define FIELD PACK_FIELD
#define SL_ITEM(name, fields)                                                                      \
    static void pack_##name(struct sl_buf *out, const struct sl_item_##name *v)                    \
    {                                                                                              \
        fields                                                                                     \
    }
#include "engine/calls/items.def"
#undef FIELD
#undef SL_ITEM
#define FIELD UNPACK_FIELD
#define SL_ITEM(name, fields)                                                                      \
    static void unpack_##name(struct unpack *u, struct sl_item_##name *v)                          \
    {                                                                                              \
        fields                                                                                     \
    }
#include "engine/calls/items.def"
#undef FIELD
#undef SL_ITEM

void sl_item_pack(struct sl_buf *list, const struct sl_item *item)
{
    SL_PRE(item != NULL);
    pack_u8(list, (uint8_t)item->kind);
    switch (item->kind) {
#define SL_ITEM(name, fields)                                                                      \
    case SL_ITEM_##name:                                                                           \
        pack_##name(list, &item->name);                                                            \
        break;
#include "engine/calls/items.def"
#undef SL_ITEM
    default:
        break;
    }
}

struct unpack sl_item_first(const struct sl_buf *list)
{
    const unsigned char *data = list == NULL ? NULL : (const unsigned char *)list->data;
    return (struct unpack){data, data == NULL ? NULL : data + list->len, false};
}

bool sl_item_next(struct unpack *u, struct sl_item *out)
{
    if (u->failed || u->at == u->end) {
        return false;
    }
    *out = (struct sl_item){.kind = (enum sl_item_kind)unpack_u8(u)};
    switch (out->kind) {
#define SL_ITEM(name, fields)                                                                      \
    case SL_ITEM_##name:                                                                           \
        unpack_##name(u, &out->name);                                                              \
        break;
#include "engine/calls/items.def"
#undef SL_ITEM
    default:
        u->failed = true;
    }
    return !u->failed;
}
