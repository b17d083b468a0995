/* SPDX-License-Identifier: Apache-2.0
 * SPDX-FileCopyrightText: The Sluice authors */

/* A dense array of entries in insertion order and an open-addressing index of positions into it. */
#include "base/map.h"

#include <string.h>

#include "base/check.h"
#include "base/mem.h"
#include "base/siphash.h"

#define SLOT_FREE 0u /* otherwise position + 1; a removed entry keeps its slot with key NULL */
#define SLOTS_MIN 16u

struct entry {
    char *key; /* NULL: a hole */
    uint64_t hash;
    union sl_map_value value;
};

struct sl_map {
    struct entry *entries;
    uint32_t *slots;
    size_t entry_count; /* with holes */
    size_t live_count;
    size_t slot_count; /* a power of two, at most half full, holes included */
};

/* Keys are what others choose. Nothing depends on the hash but where a slot is: iteration knows no slots. */
static uint64_t hash_text(const char *key)
{
    return sl_siphash(sl_siphash_own_key(), key, strlen(key));
}

struct sl_map *sl_map_new(void)
{
    return sl_mem_new(1, sizeof(struct sl_map));
}

void sl_map_free(struct sl_map *m)
{
    if (m == NULL) {
        return;
    }
    for (size_t i = 0; i < m->entry_count; i++) {
        sl_mem_free(m->entries[i].key);
    }
    sl_mem_free(m->entries);
    sl_mem_free(m->slots);
    sl_mem_free(m);
}

void sl_map_free_with(struct sl_map *m, void (*free_value)(void *value))
{
    for (size_t i = 0; m != NULL && i < m->entry_count; i++) {
        if (m->entries[i].key != NULL) {
            free_value(m->entries[i].value.pointer);
        }
    }
    sl_map_free(m);
}

static size_t free_slot(const struct sl_map *m, uint64_t hash)
{
    size_t slot = hash & (m->slot_count - 1);
    while (m->slots[slot] != SLOT_FREE) {
        slot = (slot + 1) & (m->slot_count - 1);
    }
    return slot;
}

/* New room for twice the live entries, without the holes. */
static void rebuild(struct sl_map *m)
{
    size_t slot_count = SLOTS_MIN;
    while (slot_count < 4 * (m->live_count + 1)) {
        slot_count *= 2;
    }
    size_t count = 0;
    for (size_t i = 0; i < m->entry_count; i++) {
        if (m->entries[i].key != NULL) {
            m->entries[count++] = m->entries[i];
        }
    }
    m->entry_count = count;
    m->slot_count = slot_count;
    SL_ASSERT(slot_count / 2 < UINT32_MAX);
    m->entries = sl_mem_grow(m->entries, slot_count / 2, sizeof *m->entries);
    sl_mem_free(m->slots);
    m->slots = sl_mem_new(slot_count, sizeof *m->slots);
    for (size_t i = 0; i < count; i++) {
        m->slots[free_slot(m, m->entries[i].hash)] = (uint32_t)(i + 1);
    }
}

static struct entry *find(const struct sl_map *m, const char *key, uint64_t hash)
{
    if (m->live_count == 0) {
        return NULL;
    }
    size_t slot = hash & (m->slot_count - 1);
    for (; m->slots[slot] != SLOT_FREE; slot = (slot + 1) & (m->slot_count - 1)) {
        struct entry *e = &m->entries[m->slots[slot] - 1];
        if (e->hash == hash && e->key != NULL && strcmp(e->key, key) == 0) {
            return e;
        }
    }
    return NULL;
}

bool sl_map_get(const struct sl_map *m, const char *key, union sl_map_value *value)
{
    const struct entry *e = find(m, key, hash_text(key));
    if (e != NULL && value != NULL) {
        *value = e->value;
    }
    return e != NULL;
}

void *sl_map_find(const struct sl_map *m, const char *key)
{
    const struct entry *e = find(m, key, hash_text(key));
    return e == NULL ? NULL : e->value.pointer;
}

void sl_map_put(struct sl_map *m, const char *key, union sl_map_value value)
{
    uint64_t hash = hash_text(key);
    struct entry *e = find(m, key, hash);
    if (e != NULL) {
        e->value = value;
        return;
    }
    if (m->entry_count >= m->slot_count / 2) {
        rebuild(m);
    }
    size_t slot = free_slot(m, hash);
    m->entries[m->entry_count] = (struct entry){sl_mem_text(key), hash, value};
    m->slots[slot] = (uint32_t)++m->entry_count;
    m->live_count++;
}

bool sl_map_remove(struct sl_map *m, const char *key, union sl_map_value *old)
{
    struct entry *e = find(m, key, hash_text(key));
    if (e == NULL) {
        return false;
    }
    if (old != NULL) {
        *old = e->value;
    }
    sl_mem_free(e->key);
    e->key = NULL;
    m->live_count--;
    return true;
}

size_t sl_map_count(const struct sl_map *m)
{
    SL_PRE(m != NULL);
    return m->live_count;
}

bool sl_map_next(const struct sl_map *m, size_t *cursor, const char **key,
                 union sl_map_value *value)
{
    SL_PRE(m != NULL);
    while (*cursor < m->entry_count && m->entries[*cursor].key == NULL) {
        (*cursor)++;
    }
    if (*cursor >= m->entry_count) {
        return false;
    }
    const struct entry *e = &m->entries[(*cursor)++];
    *key = e->key;
    *value = e->value;
    return true;
}

bool sl_map_each(const struct sl_map *m, struct sl_map_item *e)
{
    SL_PRE(e != NULL);
    return sl_map_next(m, &e->at, &e->key, &e->value);
}

size_t sl_map_longest(const struct sl_map *m)
{
    SL_PRE(m != NULL);
    size_t longest = 0, run = 0;
    for (size_t i = 0; i < m->slot_count; i++) {
        run = m->slots[i] != SLOT_FREE ? run + 1 : 0;
        longest = run > longest ? run : longest;
    }
    return longest;
}
