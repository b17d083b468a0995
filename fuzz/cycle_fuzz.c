/* SPDX-License-Identifier: Apache-2.0
 * SPDX-FileCopyrightText: The Sluice authors */

/* Drives: everything of the core together, through the policy's cycle: workloads that come, change and go, every
 * lifecycle event, quotas, parents, rules, policies and hosts that change, second passes, cycles (fuzz/lib/world.h).
 * Oracle: all guarantees after every step; each cycle's outcomes against the records; cycles come to an end, and then nobody
 * waits who would be served; with
 * everybody gone nothing is held, booked, asked for or armed.
 * Input: events; the first says the settings. */
#include "fuzz/lib/check.h"
#include "fuzz/lib/play.h"
#include "fuzz/lib/world.h"
#include "kernel/lifecycle/second_pass.h"
#include "policy/requests/requests.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    if (!world_play(data, size, world_step)) {
        return 0;
    }
    for (sl_workload_id id = 0; id < SLOTS; id++) {
        (void)!world_tell(id, SL_EV_DELETE, 0, 0, 0);
    }
    world_check(true);
    world_hold();
    for (uint32_t n = 0; n < NODES; n++) {
        for (uint32_t k = 0; k < NAMES; k++) {
            CHECK(world_forest.held[n][k] == 0);
        }
    }
    CHECK(sl_second_pass_count() == 0 && sl_requests_sets_used() == 0);
    CHECK(sl_requests_rows_used() == 0 && sl_requests_exclusions_used() == 0);
    return 0;
}
