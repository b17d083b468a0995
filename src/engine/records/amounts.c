/* SPDX-License-Identifier: Apache-2.0
 * SPDX-FileCopyrightText: The Sluice authors */

/* An unordered array: a node has about ten resources. */
#include "engine/records/amounts.h"
#include "base/check.h"
#include "base/mem.h"

static __int128 sum_of(const struct sl_amounts *a, sl_resource_id resource)
{
    for (uint32_t i = 0; i < a->count; i++) {
        if (a->items[i].resource == resource) {
            return a->items[i].amount;
        }
    }
    return 0;
}

int64_t sl_amounts_get(const struct sl_amounts *a, sl_resource_id resource)
{
    __int128 sum = sum_of(a, resource);
    return sum > INT64_MAX ? INT64_MAX : sum < INT64_MIN ? INT64_MIN : (int64_t)sum;
}

static void add(struct sl_amounts *a, sl_resource_id resource, __int128 amount)
{
    uint32_t at = 0;
    while (at < a->count && a->items[at].resource != resource) {
        at++;
    }
    if (at == a->count) {
        a->items = sl_mem_reach(a->items, &a->cap, 4, a->count, sizeof *a->items);
        a->items[a->count++] = (struct sl_amount){resource, 0};
    }
    a->items[at].amount += amount;
}

void sl_amounts_add(struct sl_amounts *a, sl_resource_id resource, int64_t amount)
{
    add(a, resource, amount);
}

void sl_amounts_add_all(struct sl_amounts *a, const struct sl_amounts *b, int sign)
{
    SL_PRE(b != NULL);
    for (uint32_t i = 0; i < b->count; i++) {
        add(a, b->items[i].resource, sign < 0 ? -b->items[i].amount : b->items[i].amount);
    }
}

static bool covers(const struct sl_amounts *a, const struct sl_amounts *b)
{
    for (uint32_t i = 0; i < b->count; i++) {
        if (sum_of(a, b->items[i].resource) != b->items[i].amount) {
            return false;
        }
    }
    return true;
}

bool sl_amounts_equal(const struct sl_amounts *a, const struct sl_amounts *b)
{
    return covers(a, b) && covers(b, a);
}

void sl_amounts_fini(struct sl_amounts *a)
{
    SL_PRE(a != NULL);
    sl_mem_free(a->items);
    *a = (struct sl_amounts){0};
}
