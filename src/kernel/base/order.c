/* SPDX-License-Identifier: Apache-2.0
 * SPDX-FileCopyrightText: The Sluice authors */

#include "kernel/base/order.h"

struct sl_order_key sl_order_keys[SL_WORKLOADS_MAX];

void sl_order_set(sl_workload_id id, struct sl_order_key key)
{
    if (id < SL_WORKLOADS_MAX) {
        sl_order_keys[id] = key;
    }
}

struct sl_order_key sl_order_of(sl_workload_id id)
{
    struct sl_order_key none = {0, 0, 0, 0};
    return id < SL_WORKLOADS_MAX ? sl_order_keys[id] : none;
}

/* Of equal priority and queue time: the smaller UID, then the smaller id. */
/*@
  requires known:     a < SL_WORKLOADS_MAX && b < SL_WORKLOADS_MAX;
  terminates          \true;
  exits               \false;
  assigns             \nothing;
  ensures  result:    \result <==> SmallerName(a, b);
*/
static bool smaller_name(sl_workload_id a, sl_workload_id b)
{
    if (sl_order_keys[a].uid_high != sl_order_keys[b].uid_high) {
        return sl_order_keys[a].uid_high < sl_order_keys[b].uid_high;
    }
    if (sl_order_keys[a].uid_low != sl_order_keys[b].uid_low) {
        return sl_order_keys[a].uid_low < sl_order_keys[b].uid_low;
    }
    return a < b;
}

bool sl_order_before(sl_workload_id a, sl_workload_id b)
{
    if (a >= SL_WORKLOADS_MAX || b >= SL_WORKLOADS_MAX) {
        return a < b;
    }
    if (sl_order_keys[a].priority != sl_order_keys[b].priority) {
        return sl_order_keys[a].priority > sl_order_keys[b].priority;
    }
    if (sl_order_keys[a].queued_at_ms != sl_order_keys[b].queued_at_ms) {
        return sl_order_keys[a].queued_at_ms < sl_order_keys[b].queued_at_ms;
    }
    return smaller_name(a, b);
}

bool sl_order_lower(sl_workload_id a, sl_workload_id b)
{
    return a < SL_WORKLOADS_MAX && b < SL_WORKLOADS_MAX &&
           sl_order_keys[a].priority < sl_order_keys[b].priority;
}

bool sl_order_newer_equal(sl_workload_id a, sl_workload_id b)
{
    return a < SL_WORKLOADS_MAX && b < SL_WORKLOADS_MAX &&
           sl_order_keys[a].priority == sl_order_keys[b].priority &&
           sl_order_keys[a].queued_at_ms > sl_order_keys[b].queued_at_ms;
}
