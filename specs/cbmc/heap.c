/* SPDX-License-Identifier: Apache-2.0
 * SPDX-FileCopyrightText: The Sluice authors */

/* Six workloads of any order are put into a heap, and any one of them is taken out again: the heap holds who is in it
 * and nobody else, and its first is whom no other one goes before (G8; of heaps it is proved only that they end and
 * make no run-time error). Names mean nothing but in the order, which is any: so they may come in a row. */
#include "policy/queues/heap.h"
#include "kernel/base/order.h"
#include "specs/cbmc/look.h"

#define HEAP SL_HEAP_OF_QUEUE(0)
#define ALL SL_WORKLOADS_MAX

static uint8_t rank[SL_WORKLOADS_MAX];
static bool in[SL_WORKLOADS_MAX]; /* what the heap should say */

/* Instead of kernel/base/order.c, which the unit "order" looks at. */
bool sl_order_before(sl_workload_id a, sl_workload_id b)
{
    return rank[a] < rank[b];
}

static void any_order(void)
{
    for (sl_workload_id a = 0; a < ALL; a++) {
        rank[a] = nondet_uint8();
        ASSUME(rank[a] < ALL);
        for (sl_workload_id b = 0; b < a; b++) {
            ASSUME(rank[a] != rank[b]);
        }
    }
}

static void take_out(sl_workload_id id)
{
    ASSUME(id < ALL);
    sl_heap_remove(id);
    in[id] = false;
}

static void put_in(sl_workload_id id)
{
    ASSUME(id < ALL);
    sl_heap_push(HEAP, id);
    in[id] = true;
}

static void usage(void)
{
    uint32_t count = 0, found = 0;
    sl_workload_id first = sl_heap_first(HEAP);
    for (sl_workload_id id = 0; id < ALL; id++) {
        count += in[id];
        USAGE((sl_heap_of(id) == HEAP) == in[id], "it knows where it is");
        USAGE(sl_heap_agrees(id), "links agree");
        USAGE(!in[id] || (first < ALL && in[first] && rank[first] <= rank[id]),
              "the first goes first");
    }
    USAGE(sl_heap_count(HEAP) == count, "as many as were put in");
    for (uint32_t at = 1; at <= ALL; at++) {
        sl_workload_id id = sl_heap_at(HEAP, at);
        USAGE((id != SL_NO_ID) == (at <= count), "every position has one");
        USAGE(id == SL_NO_ID || (in[id] && (found & 1u << id) == 0), "each is there once");
        found |= id == SL_NO_ID ? 0 : 1u << id;
    }
}

void look_heap(void)
{
    any_order();
    for (sl_workload_id id = 0; id < ALL; id++) {
        put_in(id);
    }
    take_out(nondet_uint32());
    usage();
}
