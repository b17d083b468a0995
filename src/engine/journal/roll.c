/* SPDX-License-Identifier: Apache-2.0
 * SPDX-FileCopyrightText: The Sluice authors */

/* A table of texts for each class, by id. */
#include "engine/journal/roll.h"
#include "base/check.h"
#include "base/mem.h"
#include "engine/journal/pack.h"

static void put(struct sl_roll *r, enum sl_intern_class c, uint32_t id, const char *text,
                size_t len)
{
    struct sl_buf name = {0};
    if (id >= r->of[c].count) {
        size_t count = (size_t)id + 1;
        r->of[c].items = sl_mem_grow(r->of[c].items, count, sizeof *r->of[c].items);
        while (r->of[c].count < count) {
            r->of[c].items[r->of[c].count++] = NULL;
        }
    }
    sl_buf_text(&name, "");
    sl_buf_add(&name, text, len);
    sl_mem_free(r->of[c].items[id]);
    r->of[c].items[id] = sl_buf_take(&name);
}

void sl_roll_pack(struct sl_buf *out, enum sl_intern_class c, uint32_t id, const char *name)
{
    pack_u8(out, (uint8_t)c);
    pack_u32(out, id);
    pack_text(out, name);
}

bool sl_roll_add(struct sl_roll *r, const unsigned char *payload, size_t len)
{
    struct unpack u = {payload, payload + len, false};
    uint8_t c = unpack_u8(&u);
    uint32_t id = unpack_u32(&u);
    size_t text_len;
    const char *text = unpack_text(&u, &text_len);
    if (u.failed || u.at != u.end || c >= SL_INTERN_CLASS_COUNT ||
        id >= sl_intern_capacity((enum sl_intern_class)c) || memchr(text, '\0', text_len) != NULL) {
        return false;
    }
    put(r, (enum sl_intern_class)c, id, text, text_len);
    return true;
}

const char *sl_roll_name(const struct sl_roll *r, enum sl_intern_class c, uint32_t id)
{
    SL_PRE(r != NULL);
    if (id >= r->of[c].count || r->of[c].items[id] == NULL) {
        return "?";
    }
    const char *name = r->of[c].items[id];
    const char *slash = c == SL_INTERN_QNODE ? strchr(name, '/') : NULL;
    return slash == NULL ? name : slash + 1;
}

void sl_roll_fini(struct sl_roll *r)
{
    for (unsigned c = 0; c < SL_INTERN_CLASS_COUNT; c++) {
        for (size_t i = 0; i < r->of[c].count; i++) {
            sl_mem_free(r->of[c].items[i]);
        }
        sl_mem_free(r->of[c].items);
    }
    *r = (struct sl_roll){0};
}
