/* SPDX-License-Identifier: Apache-2.0
 * SPDX-FileCopyrightText: The Sluice authors */

/* Buddy blocks. */
#include "kernel/topology/topology_pool.h"

uint32_t sl_block_heads[SL_BLOCK_ORDERS];
uint32_t sl_block_next[SL_BOOKINGS_MAX];
uint32_t sl_block_before[SL_BOOKINGS_MAX];
uint8_t sl_block_orders[SL_BOOKINGS_MAX];
bool sl_blocks_begun;

/* The order of the smallest block that holds so many rows. */
/*@
  terminates           \true;
  exits                \false;
  assigns              \nothing;
  ensures  least:      BlockOrder(\result, count);
*/
static uint32_t order_of(uint32_t count)
{
    uint32_t order = 0;
    /*@
      loop invariant range: 0 <= order < SL_BLOCK_ORDERS;
      loop invariant least: \forall integer k; 0 <= k < order ==> (uint32_t)(1 << k) < count;
      loop assigns          order;
      loop variant          SL_BLOCK_ORDERS - order;
    */
    while (order < SL_BLOCK_ORDERS - 1 && (1u << order) < count) {
        order++;
    }
    return order;
}

/* Put a free block at the head of its list. */
/*@
  requires links:      BlockLinks;
  requires ids:        row < SL_BOOKINGS_MAX && order < SL_BLOCK_ORDERS;
  terminates           \true;
  exits                \false;
  assigns              sl_block_heads[order], sl_block_next[row], sl_block_before[0 .. SL_BOOKINGS_MAX - 1],
                       sl_block_orders[row];
  ensures  links:      BlockLinks;
  ensures  free:       sl_block_orders[row] == order + 1;
  ensures  listed:     BlockFirst{Pre,Post}(row, order);
*/
static void push(uint32_t row, uint32_t order)
{
    uint32_t head = sl_block_heads[order];
    sl_block_next[row] = head;
    sl_block_before[row] = 0;
    if (head != 0) {
        sl_block_before[head - 1] = row + 1;
    }
    sl_block_heads[order] = row + 1;
    sl_block_orders[row] = (uint8_t)(order + 1);
}

/* Take a block out of its list. */
/*@
  requires links:      BlockLinks;
  requires ids:        row < SL_BOOKINGS_MAX && order < SL_BLOCK_ORDERS;
  terminates           \true;
  exits                \false;
  assigns              sl_block_heads[order], sl_block_next[0 .. SL_BOOKINGS_MAX - 1],
                       sl_block_before[0 .. SL_BOOKINGS_MAX - 1], sl_block_orders[row];
  ensures  links:      BlockLinks;
  ensures  taken:      sl_block_orders[row] == 0;
  ensures  unlisted:   BlockLeft{Pre,Post}(row, order);
*/
static void take_out(uint32_t row, uint32_t order)
{
    uint32_t next = sl_block_next[row];
    uint32_t before = sl_block_before[row];
    if (next != 0) {
        sl_block_before[next - 1] = before;
    }
    if (before != 0) {
        sl_block_next[before - 1] = next;
    } else {
        sl_block_heads[order] = next;
    }
    sl_block_orders[row] = 0;
}

/* Keep the lower part of a block of order `from`, and free the rest. */
/*@
  requires links:      BlockLinks;
  requires ids:        row < SL_BOOKINGS_MAX && from < SL_BLOCK_ORDERS;
  terminates           \true;
  exits                \false;
  assigns              SL_POOL;
  ensures  links:      BlockLinks;
  ensures  freed:      \forall integer k; order <= k < from ==> UpperListed(row, k);
  ensures  smaller:    \forall integer k; 0 <= k < order <= from ==> sl_block_heads[k] == \old(sl_block_heads[k]);
  ensures  larger:     \forall integer k; from <= k < SL_BLOCK_ORDERS ==>
                         sl_block_heads[k] == \old(sl_block_heads[k]);
  ensures  begun:      sl_blocks_begun == \old(sl_blocks_begun);
*/
static void split(uint32_t row, uint32_t from, uint32_t order)
{
    uint32_t k = from;
    /*@
      loop invariant range: 0 <= k <= from && (order <= k || k == from);
      loop invariant links: BlockLinks;
      loop invariant freed: \forall integer j; k <= j < from ==> UpperListed(row, j);
      loop invariant smaller: \forall integer j; 0 <= j < k ==>
                                sl_block_heads[j] == \at(sl_block_heads[j], Pre);
      loop invariant larger: \forall integer j; from <= j < SL_BLOCK_ORDERS ==>
                               sl_block_heads[j] == \at(sl_block_heads[j], Pre);
      loop assigns          k, sl_block_heads[0 .. SL_BLOCK_ORDERS - 1], sl_block_next[0 .. SL_BOOKINGS_MAX - 1],
                            sl_block_before[0 .. SL_BOOKINGS_MAX - 1], sl_block_orders[0 .. SL_BOOKINGS_MAX - 1];
      loop variant          k;
    */
    while (k > order) {
        k--;
        uint32_t upper = row + (1u << k);
        if (upper < SL_BOOKINGS_MAX) {
            push(upper, k);
        }
        //@ assert listed: UpperListed(row, k);
    }
}

/* The smallest order from this one on of which there is a free block; SL_BLOCK_ORDERS = none. */
/*@
  requires order:      order < SL_BLOCK_ORDERS;
  terminates           \true;
  exits                \false;
  assigns              \nothing;
  ensures  range:      order <= \result <= SL_BLOCK_ORDERS;
  ensures  first:      \forall integer k; order <= k < \result ==> sl_block_heads[k] == 0;
  ensures  some:       \result < SL_BLOCK_ORDERS ==> sl_block_heads[\result] != 0;
*/
static uint32_t first_order(uint32_t order)
{
    uint32_t k = order;
    /*@
      loop invariant range: order <= k <= SL_BLOCK_ORDERS;
      loop invariant first: \forall integer j; order <= j < k ==> sl_block_heads[j] == 0;
      loop assigns          k;
      loop variant          SL_BLOCK_ORDERS - k;
    */
    while (k < SL_BLOCK_ORDERS && sl_block_heads[k] == 0) {
        k++;
    }
    return k;
}

uint32_t sl_topology_pool_take(uint32_t count)
{
    uint32_t order = order_of(count);
    if (!sl_blocks_begun) {
        sl_blocks_begun = true;
        push(0, SL_BLOCK_ORDERS - 1);
    }
    uint32_t from = first_order(order);
    if (from >= SL_BLOCK_ORDERS) {
        //@ assert none: NoBlock{Pre}(order);
        return SL_NO_ID;
    }
    uint32_t row = sl_block_heads[from] - 1;
    take_out(row, from);
    split(row, from, order);
    //@ assert taken: BlockTaken{Pre,Here}(row, order, from);
    return row;
}

void sl_topology_pool_give(uint32_t first, uint32_t count)
{
    uint32_t row = first;
    uint32_t order = order_of(count);
    /*@
      loop invariant range: row <= first && \at(order, LoopEntry) <= order < SL_BLOCK_ORDERS;
      loop invariant links: BlockLinks;
      loop invariant begun: sl_blocks_begun == \at(sl_blocks_begun, Pre);
      loop assigns          row, order, SL_POOL;
      loop variant          SL_BLOCK_ORDERS - order;
    */
    while (order < SL_BLOCK_ORDERS - 1) {
        uint32_t buddy = row ^ (1u << order);
        if (buddy >= SL_BOOKINGS_MAX || sl_block_orders[buddy] != order + 1) {
            break;
        }
        //@ assert buddy: buddy == BuddyOf(row, order) && sl_block_orders[buddy] == order + 1;
        take_out(buddy, order);
        row = row < buddy ? row : buddy;
        //@ assert first_half: row <= buddy && sl_block_orders[buddy] == 0;
        order++;
    }
    /*@ assert whole: order == SL_BLOCK_ORDERS - 1 || BuddyOf(row, order) >= SL_BOOKINGS_MAX ||
          sl_block_orders[BuddyOf(row, order)] != order + 1; */
    push(row, order);
    //@ assert free: BlockListed(row, order);
}
