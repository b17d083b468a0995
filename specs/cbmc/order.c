/* SPDX-License-Identifier: Apache-2.0
 * SPDX-FileCopyrightText: The Sluice authors */

/* Three workloads with any keys: who is tried before whom is one strict order of all of them, as the fields say one
 * after the other; and who may preempt for being older or more important goes before (G4, G8). */
#include "kernel/base/order.h"
#include "specs/cbmc/look.h"

#define ALL SL_WORKLOADS_MAX

static int compare(uint64_t a, uint64_t b)
{
    return a < b ? -1 : a > b ? 1 : 0;
}

/* The first difference counts; negative: a goes first. */
static int expected(sl_workload_id a, sl_workload_id b)
{
    struct sl_order_key x = sl_order_of(a), y = sl_order_of(b);
    int by[] = {(x.priority < y.priority) - (x.priority > y.priority),
                (x.queued_at_ms > y.queued_at_ms) - (x.queued_at_ms < y.queued_at_ms),
                compare(x.uid_high, y.uid_high), compare(x.uid_low, y.uid_low), compare(a, b)};
    int first = 0;
    for (uint32_t i = 0; i < 5 && first == 0; i++) {
        first = by[i];
    }
    return first;
}

void look_order(void)
{
    for (sl_workload_id id = 0; id < ALL; id++) {
        struct sl_order_key key = {nondet_int32(), nondet_int64(), nondet_uint64(),
                                   nondet_uint64()};
        sl_order_set(id, key);
    }
    bool ab = sl_order_before(0, 1), bc = sl_order_before(1, 2), ca = sl_order_before(2, 0);
    USAGE(ab == (expected(0, 1) < 0) && !sl_order_before(0, 0), "the first difference counts");
    USAGE(ab != sl_order_before(1, 0), "one of two goes first");
    USAGE(ab != bc || bc != ca, "nobody goes before himself by way of others");
    USAGE(!sl_order_lower(0, 1) || !ab, "the more important one goes first");
    USAGE(!sl_order_newer_equal(0, 1) || (!ab && !sl_order_lower(0, 1)),
          "the older one of equals goes first");
}
