/* SPDX-License-Identifier: Apache-2.0
 * SPDX-FileCopyrightText: The Sluice authors */

#include "fuzz/lib/refusals.h"
#include "policy/common/settings.h"
#include "policy/requests/requests.h"
#include "policy/requests/topology_request.h"
#include <stdio.h>
#include <stdlib.h>

/* Has a head or a second pass of this cycle got something, or victims, or the promise of it once all pods are ready? */
static bool others_had;

static bool others_came_first(sl_workload_id id)
{
    (void)id;
    return others_had;
}

static bool sets_ignore_each_other(sl_workload_id id)
{
    (void)id;
    return !sl_settings.overlapping_flavors && sl_topology_plan.set_count > 1;
}

static bool slices_do_not_divide(sl_workload_id id)
{
    for (uint32_t s = sl_requests_first_pod_set(id); s != SL_NO_ID;
         s = sl_requests_next_pod_set(s)) {
        struct sl_topology_request r = sl_topology_request_of(s);
        for (uint32_t i = 0; i < r.layer_count; i++) {
            if (r.layers[i].size != 0 && sl_requests_pod_count(s) % r.layers[i].size != 0) {
                return true;
            }
        }
    }
    return false;
}

static bool group_has_no_leader(sl_workload_id id)
{
    uint32_t sets = 0, leaders = 0;
    for (uint32_t s = sl_requests_first_pod_set(id); s != SL_NO_ID;
         s = sl_requests_next_pod_set(s)) {
        if (sl_topology_request_of(s).rank_group != SL_NO_ID) {
            sets++;
            leaders += sl_requests_pod_count(s) == 1 ? 1 : 0;
        }
    }
    return sets != 0 && (sets != 2 || leaders == 0);
}

static const struct {
    enum sl_cycle_result result;
    enum sl_status status;
    bool (*holds)(sl_workload_id id);
    const char *result_text, *status_text, *why;
} explained[] = {
#define REFUSAL(result, status, holds, why) {result, status, holds, #result, #status, why},
#include "fuzz/lib/refusals.def"
#undef REFUSAL
};
enum { EXPLAINED = sizeof explained / sizeof explained[0] };
static unsigned long counts[EXPLAINED], outcomes;

static void say(void)
{
    unsigned long all = 0;
    for (unsigned i = 0; i < EXPLAINED; i++) {
        all += counts[i];
        if (counts[i] != 0) {
            fprintf(stderr, "refused: %lu %s %s: %s\n", counts[i], explained[i].result_text,
                    explained[i].status_text, explained[i].why);
        }
    }
    fprintf(stderr, "refused: %lu of %lu outcomes\n", all, outcomes);
}

static void find(const struct sl_cycle_outcome *o)
{
    for (unsigned i = 0; i < EXPLAINED; i++) {
        if (explained[i].result == o->result && explained[i].status == o->status &&
            explained[i].holds(o->workload)) {
            counts[i]++;
            return;
        }
    }
    fprintf(stderr, "no reason is known why the kernel refuses this plan: result %d, status %d\n",
            (int)o->result, (int)o->status);
    abort();
}

void refusals_begin(void)
{
    others_had = false;
}

void refusals_note(const struct sl_cycle_outcome *o)
{
    if (outcomes++ == 0) {
        (void)atexit(say);
    }
    if (o->status != SL_OK) {
        find(o);
    }
    others_had = others_had || o->result == SL_CYCLE_RESERVED || o->result == SL_CYCLE_PLACED ||
                 o->victim_count != 0 || o->reason == SL_PENDING_PODS_READY;
}
