/* SPDX-License-Identifier: Apache-2.0
 * SPDX-FileCopyrightText: The Sluice authors */

/* A table of texts for each class, by id. */
#include "engine/journal/journal_names.h"
#include "base/check.h"
#include "base/mem.h"
#include "engine/journal/pack.h"

void sl_journal_name_pack(struct sl_buf *out, enum sl_intern_class c, uint32_t id, const char *name)
{
    pack_u8(out, (uint8_t)c);
    pack_u32(out, id);
    pack_text(out, name);
}

bool sl_journal_name_add(struct sl_journal_names *n, const unsigned char *payload, size_t len)
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
    n->of[c].items = sl_mem_reach(n->of[c].items, &n->of[c].cap, 64, id, sizeof *n->of[c].items);
    sl_mem_free(n->of[c].items[id]);
    n->of[c].items[id] = sl_mem_text_n(text, text_len);
    return true;
}

const char *sl_journal_name(const struct sl_journal_names *n, enum sl_intern_class c, uint32_t id)
{
    SL_PRE(n != NULL);
    const char *name = id < n->of[c].cap ? n->of[c].items[id] : NULL;
    const char *slash = name != NULL && c == SL_INTERN_QNODE ? strchr(name, '/') : NULL;
    return name == NULL ? "?" : slash == NULL ? name : slash + 1;
}

void sl_journal_names_fini(struct sl_journal_names *n)
{
    for (unsigned c = 0; c < SL_INTERN_CLASS_COUNT; c++) {
        for (uint32_t i = 0; i < n->of[c].cap; i++) {
            sl_mem_free(n->of[c].items[i]);
        }
        sl_mem_free(n->of[c].items);
    }
    *n = (struct sl_journal_names){0};
}
