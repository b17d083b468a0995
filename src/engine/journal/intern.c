/* SPDX-License-Identifier: Apache-2.0
 * SPDX-FileCopyrightText: The Sluice authors */

/* One map and one array of names per class; the free ids of a class form a stack. */
#include "engine/journal/intern.h"
#include "base/check.h"
#include "base/map.h"
#include "base/mem.h"
#include "policy/fair/usage.h"

struct table {
    struct sl_map *ids;
    char **names; /* NULL where an id is free */
    uint32_t *free_ids;
    uint32_t free_count;
    uint32_t used; /* ids below this were given out at least once */
    uint32_t cap;
};

struct sl_intern {
    struct table tables[SL_INTERN_CLASS_COUNT];
};

static const uint32_t capacities[SL_INTERN_CLASS_COUNT] = {
    [SL_INTERN_QNODE] = SL_QNODES_MAX,
    [SL_INTERN_FLAVOR] = 65536,
    [SL_INTERN_RESOURCE] = 4096,
    [SL_INTERN_CHECK] = 4096,
    [SL_INTERN_WORKLOAD] = SL_WORKLOADS_MAX,
    [SL_INTERN_ACCOUNT] = SL_ACCOUNTS_MAX,
    [SL_INTERN_LEVEL] = 4096,
    [SL_INTERN_FAMILY] = SL_WORKLOADS_MAX,
};

struct sl_intern *sl_intern_new(void)
{
    struct sl_intern *t = sl_mem_new(1, sizeof *t);
    for (int c = 0; c < SL_INTERN_CLASS_COUNT; c++) {
        t->tables[c].ids = sl_map_new();
    }
    return t;
}

void sl_intern_free(struct sl_intern *t)
{
    if (t == NULL) {
        return;
    }
    for (int c = 0; c < SL_INTERN_CLASS_COUNT; c++) {
        struct table *table = &t->tables[c];
        for (uint32_t i = 0; i < table->used; i++) {
            sl_mem_free(table->names[i]);
        }
        sl_mem_free(table->names);
        sl_mem_free(table->free_ids);
        sl_map_free(table->ids);
    }
    sl_mem_free(t);
}

uint32_t sl_intern_find(const struct sl_intern *t, enum sl_intern_class c, const char *name)
{
    SL_PRE(t != NULL);
    union sl_map_value value;
    return sl_map_get(t->tables[c].ids, name, &value) ? (uint32_t)value.number : SL_NO_ID;
}

static uint32_t take_id(struct table *table, uint32_t capacity)
{
    if (table->free_count > 0) {
        return table->free_ids[--table->free_count];
    }
    if (table->used == capacity) {
        return SL_NO_ID;
    }
    if (table->used == table->cap) {
        table->cap = table->cap == 0 ? 64 : table->cap * 2;
        table->names = sl_mem_grow(table->names, table->cap, sizeof *table->names);
        table->free_ids = sl_mem_grow(table->free_ids, table->cap, sizeof *table->free_ids);
    }
    return table->used++;
}

uint32_t sl_intern_add(struct sl_intern *t, enum sl_intern_class c, const char *name, bool *is_new)
{
    SL_PRE(c < SL_INTERN_CLASS_COUNT && name != NULL);
    struct table *table = &t->tables[c];
    uint32_t id = sl_intern_find(t, c, name);
    *is_new = false;
    if (id != SL_NO_ID) {
        return id;
    }
    id = take_id(table, capacities[c]);
    if (id == SL_NO_ID) {
        return SL_NO_ID;
    }
    table->names[id] = sl_mem_text(name);
    sl_map_put(table->ids, name, (union sl_map_value){.number = id});
    *is_new = true;
    return id;
}

void sl_intern_drop(struct sl_intern *t, enum sl_intern_class c, uint32_t id)
{
    struct table *table = &t->tables[c];
    SL_PRE(id < table->used && table->names[id] != NULL);
    bool known = sl_map_remove(table->ids, table->names[id], NULL);
    SL_ASSERT(known);
    sl_mem_free(table->names[id]);
    table->names[id] = NULL;
    table->free_ids[table->free_count++] = id;
}

const char *sl_intern_name(const struct sl_intern *t, enum sl_intern_class c, uint32_t id)
{
    SL_PRE(t != NULL);
    const struct table *table = &t->tables[c];
    return id < table->used ? table->names[id] : NULL;
}

uint32_t sl_intern_count(const struct sl_intern *t, enum sl_intern_class c)
{
    SL_PRE(t != NULL);
    return t->tables[c].used - t->tables[c].free_count;
}

uint32_t sl_intern_capacity(enum sl_intern_class c)
{
    return capacities[c];
}
