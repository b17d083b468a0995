/* SPDX-License-Identifier: Apache-2.0
 * SPDX-FileCopyrightText: The Sluice authors */

#include "engine/records/constraint_table.h"
#include "base/check.h"
#include "base/mem.h"
#include "engine/state.h"
#include <string.h>

struct constraint {
    char *key; /* NULL: the number is free */
    struct sl_json *value;
    uint32_t user_count;
    uint32_t next_free;
};

struct sl_constraints {
    struct sl_map *numbers;
    struct constraint *items;
    uint32_t count;
    uint32_t cap;
    uint32_t first_free; /* SL_NO_ID = none */
};

struct sl_constraints *sl_constraints_new(void)
{
    struct sl_constraints *t = sl_mem_new(1, sizeof *t);
    t->numbers = sl_map_new();
    t->first_free = SL_NO_ID;
    return t;
}

void sl_constraints_free(struct sl_constraints *t)
{
    if (t == NULL) {
        return;
    }
    for (uint32_t i = 0; i < t->count; i++) {
        sl_json_free(t->items[i].value);
        sl_mem_free(t->items[i].key);
    }
    sl_map_free(t->numbers);
    sl_mem_free(t->items);
    sl_mem_free(t);
}

static uint32_t take_slot(struct sl_constraints *t)
{
    if (t->first_free != SL_NO_ID) {
        uint32_t slot = t->first_free;
        t->first_free = t->items[slot].next_free;
        return slot;
    }
    t->items = sl_mem_reach(t->items, &t->cap, 16, t->count, sizeof *t->items);
    return t->count++;
}

uint32_t sl_constraints_number(struct sl_constraints *t, struct sl_json *value)
{
    union sl_map_value number;
    struct sl_buf key = {0};
    if (sl_json_len(value) == 0) {
        sl_json_free(value);
        return 0;
    }
    sl_json_print(value, &key);
    if (sl_map_get(t->numbers, key.data, &number)) {
        sl_json_free(value);
        sl_buf_fini(&key);
        t->items[number.number].user_count++;
        return (uint32_t)number.number + 1;
    }
    uint32_t slot = take_slot(t);
    sl_map_put(t->numbers, key.data, (union sl_map_value){.number = slot});
    t->items[slot] = (struct constraint){sl_buf_take(&key), value, 1, SL_NO_ID};
    return slot + 1;
}

bool sl_constraints_has_one_user(const struct sl_constraints *t, uint32_t number)
{
    return number != 0 && t->items[number - 1].user_count == 1;
}

void sl_constraints_drop(struct sl_constraints *t, uint32_t number)
{
    if (number == 0) {
        return;
    }
    struct constraint *c = &t->items[number - 1];
    SL_ASSERT(c->user_count > 0);
    if (--c->user_count == 0) {
        (void)sl_map_remove(t->numbers, c->key, NULL);
        sl_mem_free(c->key);
        sl_json_free(c->value);
        *c = (struct constraint){.next_free = t->first_free};
        t->first_free = number - 1;
    }
}

const struct sl_json *sl_constraints_value(const struct sl_engine *g, uint32_t number)
{
    return number == 0 ? NULL : g->constraints->items[number - 1].value;
}
