/* SPDX-License-Identifier: Apache-2.0
 * SPDX-FileCopyrightText: The Sluice authors */

#include "engine/calls/item.h"
#include "base/check.h"
#include "engine/calls/fields.h"

#define FIELD PACK_FIELD
void sl_item_pack(struct sl_buf *out, const struct sl_item *item)
{
    SL_PRE(item != NULL);
    pack_u8(out, (uint8_t)item->kind);
    switch (item->kind) {
#define SL_ITEM(name, fields)                                                                      \
    case SL_ITEM_##name: {                                                                         \
        const struct sl_item_##name *v = &item->name;                                              \
        fields break;                                                                              \
    }
#include "engine/calls/items.def"
#undef SL_ITEM
    default:
        break;
    }
}

#undef FIELD
#define FIELD UNPACK_FIELD

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
    case SL_ITEM_##name: {                                                                         \
        struct sl_item_##name *v = &out->name;                                                     \
        fields break;                                                                              \
    }
#include "engine/calls/items.def"
#undef SL_ITEM
    default:
        u->failed = true;
    }
    return !u->failed;
}
