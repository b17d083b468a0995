/* SPDX-License-Identifier: Apache-2.0
 * SPDX-FileCopyrightText: The Sluice authors */

/* Drives: every door of kernel and policy with what it must refuse: ids beyond the last, amounts that are none, calls
 * within a trial, pools that are full (fuzz/lib/doors_*.c); plans with something wrong in them (fuzz/lib/plans.c); in the little cluster
 * of fuzz/lib/world.h, which lives on meanwhile.
 * Oracle: each is refused, or answered with nothing; nothing that can be seen of the core has changed; all
 * guarantees after every step.
 * Input: events; the first says the settings; of the others half the kinds are steps of the cluster. */
#include <string.h>
#include "fuzz/lib/check.h"
#include "fuzz/lib/doors.h"
#include "fuzz/lib/plans.h"
#include "fuzz/lib/play.h"
#include "fuzz/lib/world.h"
#include "kernel/ledger/ledger.h"
#include "kernel/commit/place.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

static struct sl_workload records[SLOTS];
static enum sl_place places[SLOTS];

static void knock(struct producer *p)
{
    static void (*const doors[])(const struct door *) = {
        door_ledger, door_trial, door_records, door_topology, door_demands, door_lists,
        door_queues, door_trees, door_usage,   door_search,   door_full};
    uint32_t which = producer_below(p, sizeof doors / sizeof doors[0]);
    struct door d = {producer_below(p, 8), producer_byte(p), producer_byte(p), producer_int64(p)};
    memcpy(records, sl_workloads, sizeof records);
    memcpy(places, sl_places, sizeof places);
    doors[which](&d);
    CHECK(memcmp(records, sl_workloads, sizeof records) == 0);
    CHECK(memcmp(places, sl_places, sizeof places) == 0);
}

static bool step(struct producer *p)
{
    switch (producer_byte(p) % 8) {
    case 0:
        knock(p);
        return false;
    case 1:
    case 2:
        plans_step(p);
        return false;
    case 3:
        door_full_cycle(p);
        return false;
    default:
        return world_step(p);
    }
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    world_probes =
        false; /* a workload that was refused for want of room in a pool is not woken when there is some */
    (void)world_play(data, size, step);
    return 0;
}
