/* SPDX-License-Identifier: Apache-2.0
 * SPDX-FileCopyrightText: The Sluice authors */

/* Blocks of the pool of bookings, of sizes that are powers of two: a free block whose buddy is free
 * becomes one with it. The caller that takes a block checks that its rows are free: a mistake here
 * could cost memory, not soundness. Owns the lists of free blocks; for topology_bookings.c only. */
#ifndef SL_KERNEL_TOPOLOGY_POOL_H
#define SL_KERNEL_TOPOLOGY_POOL_H
#include "kernel/base/topology_plan.h"

#define SL_BLOCK_ORDERS 23u /* block sizes 2^0 .. 2^22, the whole pool */

/* Lists of free blocks by order. Links are one more than the row; all zero is a pool that was never used. */
extern uint32_t sl_block_heads[SL_BLOCK_ORDERS];
extern uint32_t sl_block_next[SL_BOOKINGS_MAX];
extern uint32_t sl_block_before[SL_BOOKINGS_MAX];
extern uint8_t sl_block_orders[SL_BOOKINGS_MAX]; /* order + 1 where a free block starts, else 0 */
extern bool sl_blocks_begun;

#include "specs/topology_pool.acsl"

/* Take a block of at least `count` rows, 1 .. SL_BOOKINGS_MAX: its first row; SL_NO_ID = there is none. */
/*@
  requires links:      BlockLinks;
  terminates           \true;
  exits                \false;
  assigns              SL_POOL;
  ensures  links:      BlockLinks;
  ensures  row:        \result < SL_BOOKINGS_MAX || \result == SL_NO_ID;
  ensures  begun:      sl_blocks_begun;
  ensures  taken:      \result != SL_NO_ID ==> \exists integer order, from;
                         BlockOrder(order, count) && BlockTaken{Pre,Post}(\result, order, from);
  ensures  none:       \result == SL_NO_ID ==> \exists integer order;
                         BlockOrder(order, count) && NoBlock{Pre}(order);
*/
uint32_t sl_topology_pool_take(uint32_t count);

/* Give the block back that was taken for that many rows. */
/*@
  requires links:      BlockLinks;
  requires row:        first < SL_BOOKINGS_MAX;
  terminates           \true;
  exits                \false;
  assigns              SL_POOL;
  ensures  links:      BlockLinks;
  ensures  given:      BlockGiven(first, count);
  ensures  begun:      sl_blocks_begun == \old(sl_blocks_begun);
*/
void sl_topology_pool_give(uint32_t first, uint32_t count);
#endif
