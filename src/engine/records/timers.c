/* SPDX-License-Identifier: Apache-2.0
 * SPDX-FileCopyrightText: The Sluice authors */

/* A binary heap in an array. */
#include "engine/records/timers.h"
#include "base/check.h"
#include "base/mem.h"
#include <stddef.h>

static bool before(const struct sl_timer *a, const struct sl_timer *b)
{
    return a->due_ms != b->due_ms ? a->due_ms < b->due_ms : a->order < b->order;
}

static void swap(struct sl_timer *a, struct sl_timer *b)
{
    struct sl_timer t = *a;
    *a = *b;
    *b = t;
}

void sl_timers_arm(struct sl_timers *t, int64_t due_ms, enum sl_timer_kind kind, uint32_t id,
                   uint32_t generation)
{
    SL_PRE(t != NULL);
    t->items = sl_mem_reach(t->items, &t->cap, 64, t->count, sizeof *t->items);
    uint32_t at = t->count++;
    t->items[at] = (struct sl_timer){due_ms, t->order++, kind, id, generation};
    while (at > 0 && before(&t->items[at], &t->items[(at - 1) / 2])) {
        swap(&t->items[at], &t->items[(at - 1) / 2]);
        at = (at - 1) / 2;
    }
}

int64_t sl_timers_due_ms(const struct sl_timers *t)
{
    SL_PRE(t != NULL);
    return t->count == 0 ? INT64_MAX : t->items[0].due_ms;
}

static void sink(struct sl_timers *t)
{
    uint32_t at = 0;
    for (;;) {
        uint32_t least = at;
        for (uint32_t child = 2 * at + 1; child <= 2 * at + 2 && child < t->count; child++) {
            if (before(&t->items[child], &t->items[least])) {
                least = child;
            }
        }
        if (least == at) {
            return;
        }
        swap(&t->items[at], &t->items[least]);
        at = least;
    }
}

bool sl_timers_take(struct sl_timers *t, int64_t now_ms, struct sl_timer *out)
{
    SL_PRE(out != NULL);
    if (t->count == 0 || t->items[0].due_ms > now_ms) {
        return false;
    }
    *out = t->items[0];
    t->items[0] = t->items[--t->count];
    sink(t);
    return true;
}

void sl_timers_fini(struct sl_timers *t)
{
    SL_PRE(t != NULL);
    sl_mem_free(t->items);
    *t = (struct sl_timers){0};
}
