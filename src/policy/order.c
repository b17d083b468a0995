/* SPDX-License-Identifier: Apache-2.0
 * SPDX-FileCopyrightText: The Sluice authors */

#include "policy/order.h"

static struct sl_order_key keys[SL_WORKLOADS_MAX];

/*@
  terminates          \true;
  exits               \false;
  assigns             keys[0 .. SL_WORKLOADS_MAX - 1];
  ensures  others:    \forall integer i; 0 <= i < SL_WORKLOADS_MAX && i != id ==>
                        keys[i] == \old(keys[i]);
*/
void sl_order_set(sl_workload_id id, struct sl_order_key key)
{
    if (id < SL_WORKLOADS_MAX) {
        keys[id] = key;
    }
}

/*@
  terminates          \true;
  exits               \false;
  assigns             \nothing;
*/
struct sl_order_key sl_order_of(sl_workload_id id)
{
    struct sl_order_key none = {0, 0, 0, 0};
    return id < SL_WORKLOADS_MAX ? keys[id] : none;
}

/* Of equal priority and queue time: the smaller UID, then the smaller id. */
/*@
  requires known:     a < SL_WORKLOADS_MAX && b < SL_WORKLOADS_MAX;
  terminates          \true;
  exits               \false;
  assigns             \nothing;
*/
static bool smaller_name(sl_workload_id a, sl_workload_id b)
{
    if (keys[a].uid_high != keys[b].uid_high) {
        return keys[a].uid_high < keys[b].uid_high;
    }
    if (keys[a].uid_low != keys[b].uid_low) {
        return keys[a].uid_low < keys[b].uid_low;
    }
    return a < b;
}

bool sl_order_before(sl_workload_id a, sl_workload_id b)
{
    if (a >= SL_WORKLOADS_MAX || b >= SL_WORKLOADS_MAX) {
        return a < b;
    }
    if (keys[a].priority != keys[b].priority) {
        return keys[a].priority > keys[b].priority;
    }
    if (keys[a].queued_at_ms != keys[b].queued_at_ms) {
        return keys[a].queued_at_ms < keys[b].queued_at_ms;
    }
    return smaller_name(a, b);
}
