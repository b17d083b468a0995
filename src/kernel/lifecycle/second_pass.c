/* SPDX-License-Identifier: Apache-2.0
 * SPDX-FileCopyrightText: The Sluice authors */

/* A sparse set: the index of a workload is believed only if the entry there names the workload, so nothing
 * has to be initialised and everything costs constant time. */
#include "kernel/lifecycle/second_pass.h"

struct sl_second_pass sl_second_passes[SL_WORKLOADS_MAX];
uint32_t sl_second_pass_index[SL_WORKLOADS_MAX];
uint32_t sl_second_pass_total;

/*@
  requires id:        id < SL_WORKLOADS_MAX;
  requires entries:   EntriesInv;
  terminates          \true;
  exits               \false;
  assigns             \nothing;
  ensures  result:    \result == 1 <==> Armed(id);
*/
static bool armed(sl_workload_id id)
{
    return sl_second_pass_index[id] < sl_second_pass_total &&
           sl_second_passes[sl_second_pass_index[id]].workload == id;
}

/* Doubling, capped. */
/*@
  terminates          \true;
  exits               \false;
  assigns             \nothing;
  ensures  result:    \result == PassDelay(iteration);
*/
static int64_t pass_delay_ms(uint32_t iteration)
{
    switch (iteration) {
    case 0:
        return 1000;
    case 1:
        return 2000;
    case 2:
        return 4000;
    case 3:
        return 8000;
    case 4:
        return 16000;
    default:
        return 30000;
    }
}

/* The last entry takes the place of the one that goes. */
/*@
  requires id:        id < SL_WORKLOADS_MAX;
  requires entries:   EntriesInv;
  requires armed:     Armed(id);
  terminates          \true;
  exits               \false;
  assigns             sl_second_passes[sl_second_pass_index[id]],
                      sl_second_pass_index[0 .. SL_WORKLOADS_MAX - 1], sl_second_pass_total;
  ensures  entries:   EntriesInv;
  ensures  gone:      !Armed(id);
  ensures  others:    \forall integer w; 0 <= w < SL_WORKLOADS_MAX && w != id ==> PassSame{Pre,Post}(w);
  ensures  total:     sl_second_pass_total == \old(sl_second_pass_total) - 1;
*/
static void drop(sl_workload_id id)
{
    uint32_t hole = sl_second_pass_index[id];
    uint32_t last = sl_second_pass_total - 1;
    sl_workload_id moved = sl_second_passes[last].workload;
    sl_second_passes[hole].workload = moved;
    sl_second_passes[hole].generation = sl_second_passes[last].generation;
    sl_second_passes[hole].due_ms = sl_second_passes[last].due_ms;
    sl_second_pass_index[moved] = hole;
    sl_second_pass_total = last;
}

bool sl_second_pass_needed(sl_workload_id id)
{
    return sl_lifecycle_needs_pass(id);
}

/* The entry of `id`, an old one of an earlier incarnation or a new one at the end. */
/*@
  requires id:        id < SL_WORKLOADS_MAX;
  requires entries:   EntriesInv;
  requires capacity:      Armed(id) || sl_second_pass_total < SL_WORKLOADS_MAX;
  requires due:       TimeValid(due_ms);
  terminates          \true;
  exits               \false;
  assigns             sl_second_passes[0 .. SL_WORKLOADS_MAX - 1],
                      sl_second_pass_index[id], sl_second_pass_total;
  ensures  entries:   EntriesInv;
  ensures  armed:     ArmedLive(id);
  ensures  due:       sl_second_passes[sl_second_pass_index[id]].due_ms == due_ms;
  ensures  others:    \forall integer w; 0 <= w < SL_WORKLOADS_MAX && w != id ==> PassSame{Pre,Post}(w);
*/
static void put(sl_workload_id id, int64_t due_ms)
{
    if (!armed(id)) {
        sl_second_pass_index[id] = sl_second_pass_total;
        sl_second_pass_total++;
    }
    uint32_t i = sl_second_pass_index[id];
    sl_second_passes[i].workload = id;
    sl_second_passes[i].generation = sl_workloads[id].generation;
    sl_second_passes[i].due_ms = due_ms;
}

enum sl_status sl_second_pass_arm(sl_workload_id id, uint32_t iteration, int64_t now_ms)
{
    if (id >= SL_WORKLOADS_MAX) {
        return SL_REFUSED_UNKNOWN_WORKLOAD;
    }
    if (now_ms < 0 || now_ms > SL_TIME_MAX) {
        return SL_REFUSED_BAD_ARGUMENT;
    }
    if (!sl_second_pass_needed(id)) {
        return SL_REFUSED_NOT_NEEDED;
    }
    if (armed(id) &&
        sl_second_passes[sl_second_pass_index[id]].generation == sl_workloads[id].generation) {
        return SL_REFUSED_ARMED;
    }
    if (!armed(id) && sl_second_pass_total >= SL_WORKLOADS_MAX) {
        return SL_FULL_WORKLOADS;
    }
    int64_t delay_ms = pass_delay_ms(iteration);
    put(id, now_ms > SL_TIME_MAX - delay_ms ? SL_TIME_MAX : now_ms + delay_ms);
    return SL_OK;
}

void sl_second_pass_cancel(sl_workload_id id)
{
    if (id < SL_WORKLOADS_MAX && armed(id)) {
        drop(id);
    }
}

enum sl_status sl_second_pass_take(sl_workload_id id, int64_t now_ms)
{
    enum sl_status status = SL_OK;
    if (id >= SL_WORKLOADS_MAX) {
        return SL_REFUSED_UNKNOWN_WORKLOAD;
    }
    if (!armed(id)) {
        return SL_REFUSED_NOT_ARMED;
    }
    if (sl_second_passes[sl_second_pass_index[id]].generation != sl_workloads[id].generation) {
        status = SL_REFUSED_STALE;
    } else if (sl_second_passes[sl_second_pass_index[id]].due_ms > now_ms) {
        return SL_REFUSED_NOT_DUE;
    } else if (!sl_second_pass_needed(id)) {
        status = SL_REFUSED_NOT_NEEDED;
    }
    drop(id);
    return status;
}

uint32_t sl_second_pass_count(void)
{
    return sl_second_pass_total;
}

sl_workload_id sl_second_pass_at(uint32_t index)
{
    return index < sl_second_pass_total ? sl_second_passes[index].workload : SL_NO_ID;
}

int64_t sl_second_pass_due_ms(sl_workload_id id)
{
    if (id >= SL_WORKLOADS_MAX || !armed(id)) {
        return SL_NEVER;
    }
    return sl_second_passes[sl_second_pass_index[id]].due_ms;
}

/*@
  requires i:         i < SL_WORKLOADS_MAX;
  terminates          \true;
  exits               \false;
  assigns             \nothing;
  ensures  result:    \result == 1 <==> EntryInv(i);
*/
static bool entry_valid(uint32_t i)
{
    return sl_second_passes[i].workload < SL_WORKLOADS_MAX &&
           sl_second_pass_index[sl_second_passes[i].workload] == i &&
           sl_second_passes[i].due_ms >= 0 && sl_second_passes[i].due_ms <= SL_TIME_MAX;
}

bool sl_second_pass_valid(void)
{
    if (sl_second_pass_total > SL_WORKLOADS_MAX) {
        return false;
    }
    /*@
      loop invariant range: 0 <= i <= sl_second_pass_total;
      loop invariant valid: \forall integer j; 0 <= j < i ==> EntryInv(j);
      loop assigns   i;
      loop variant   sl_second_pass_total - i;
    */
    for (uint32_t i = 0; i < sl_second_pass_total; i++) {
        if (!entry_valid(i)) {
            return false;
        }
    }
    return true;
}
