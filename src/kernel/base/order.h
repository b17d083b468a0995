/* SPDX-License-Identifier: Apache-2.0
 * SPDX-FileCopyrightText: The Sluice authors */

/* The order in which workloads of one queue are tried: higher priority, earlier queue time,
 * smaller UID, and (so that the order is total even without UIDs) smaller id. Owns the keys. */
#ifndef SL_KERNEL_ORDER_H
#define SL_KERNEL_ORDER_H
#include "kernel/base/types.h"

struct sl_order_key {
    int32_t priority;     /* effective priority */
    int64_t queued_at_ms; /* creation, or the eviction that sends it to the back */
    uint64_t uid_high;    /* the UID's 16 bytes, big-endian */
    uint64_t uid_low;
};

extern struct sl_order_key sl_order_keys[SL_WORKLOADS_MAX];

#include "specs/order.acsl"

/* For queues only: a key may not change while its workload is in a heap. */
/*@
  terminates          \true;
  exits               \false;
  assigns             sl_order_keys[id];
  ensures  set:       id < SL_WORKLOADS_MAX ==> sl_order_keys[id] == key;
*/
void sl_order_set(sl_workload_id id, struct sl_order_key key);
/*@
  terminates          \true;
  exits               \false;
  assigns             \nothing;
  ensures  key:       id < SL_WORKLOADS_MAX ==> \result == sl_order_keys[id];
  ensures  none:      id >= SL_WORKLOADS_MAX ==> \result.priority == 0 && \result.queued_at_ms == 0 &&
                      \result.uid_high == 0 && \result.uid_low == 0;
*/
struct sl_order_key sl_order_of(sl_workload_id id);

/* Is a to be tried before b? A strict total order. */
/*@
  terminates          \true;
  exits               \false;
  assigns             \nothing;
  ensures  result:    a < SL_WORKLOADS_MAX && b < SL_WORKLOADS_MAX ==> (\result <==> Before(a, b));
  ensures  unknown:   a >= SL_WORKLOADS_MAX || b >= SL_WORKLOADS_MAX ==> (\result <==> a < b);
*/
bool sl_order_before(sl_workload_id a, sl_workload_id b);

/* Has a a lower priority than b? */
/*@
  terminates          \true;
  exits               \false;
  assigns             \nothing;
  ensures  result:    \result <==> a < SL_WORKLOADS_MAX && b < SL_WORKLOADS_MAX && LowerPriority(a, b);
*/
bool sl_order_lower(sl_workload_id a, sl_workload_id b);

/* Are they of equal priority, and was a queued later than b? */
/*@
  terminates          \true;
  exits               \false;
  assigns             \nothing;
  ensures  result:    \result <==> a < SL_WORKLOADS_MAX && b < SL_WORKLOADS_MAX && NewerEqual(a, b);
*/
bool sl_order_newer_equal(sl_workload_id a, sl_workload_id b);
#endif
