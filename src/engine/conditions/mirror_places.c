/* SPDX-License-Identifier: Apache-2.0
 * SPDX-FileCopyrightText: The Sluice authors */

/* Rows of the object against assignments of the core, by the name of the lowest domain. Pods that have ended for good hold
 * no room, and the object keeps its rows: it may say more, where such pods are known. */
#include "engine/conditions/mirror_places.h"
#include "base/check.h"
#include "api/objects/topology_assignment.h"
#include "engine/records/names.h"
#include <inttypes.h>
#include <stdio.h>
#include <string.h>

static char said[SL_MIRROR_TEXT / 4];

static uint32_t standing(const struct sl_engine *g, sl_workload_id id, uint32_t pod_set,
                         const char *domain)
{
    uint32_t count = 0;
    for (uint32_t i = 0; i < sl_topology_assignment_count(id); i++) {
        struct sl_domain_assignment s = sl_topology_assignment_at(id, i);
        bool here = domain == NULL || strcmp(sl_names_value(g, s.domain), domain) == 0;
        count += s.pod_set == pod_set && here ? s.count : 0;
    }
    return count;
}

static const char *look_at_rows(const struct sl_engine *g, sl_workload_id id, uint32_t pod_set,
                                const struct sl_json *assignment, bool fewer)
{
    struct sl_assignment_reader r;
    uint32_t total = 0;
    sl_assignment_reader_start(&r, assignment);
    while (sl_assignment_reader_next(&r)) {
        const char *domain = r.values[r.level_count - 1];
        uint32_t count = standing(g, id, pod_set, domain);
        total += r.count;
        if (count < r.count ? !fewer : count > r.count && r.level_count == 1) {
            (void)snprintf(said, sizeof said, "%" PRIu32 " pods on %.100s", r.count, domain);
            return said;
        }
    }
    if (standing(g, id, pod_set, NULL) > total) {
        (void)snprintf(said, sizeof said, "%" PRIu32 " pods in all", total);
        return said;
    }
    return NULL;
}

const char *sl_mirror_places(const struct sl_engine *g, sl_workload_id id,
                             const struct sl_json *sets)
{
    SL_PRE(g != NULL);
    const struct sl_admission *admission = g->workloads[id].admission;
    if (admission->unplaced || admission->displaced || !sl_lifecycle_holds_quota(id)) {
        return NULL; /* the core does not know all places, or has given them up */
    }
    for (uint32_t i = 0; i < admission->pod_set_count; i++) {
        const struct sl_json *assignment = sl_json_get(sl_json_at(sets, i), "topologyAssignment");
        const char *delayed = sl_json_path_text(sl_json_at(sets, i), "delayedTopologyRequest", "");
        if (strcmp(delayed, "Pending") == 0 && assignment != NULL) {
            return "there while the topology assignment is pending";
        }
        if (assignment == NULL && standing(g, id, i, NULL) > 0) {
            return "absent";
        }
        const char *trouble = assignment == NULL
                                  ? NULL
                                  : look_at_rows(g, id, i, assignment, admission->reclaimed[i] > 0);
        if (trouble != NULL) {
            return trouble;
        }
    }
    return NULL;
}
