/* SPDX-License-Identifier: Apache-2.0
 * SPDX-FileCopyrightText: The Sluice authors */

/* Do all guarantees hold? The core's checkers (policy/guarantees/guarantees.h) in words and names, and those of the engine's
 * own records. */
#include "engine/turn/valid.h"
#include "base/check.h"
#include "base/log.h"
#include "engine/conditions/mirror.h"
#include "engine/records/tenants.h"
#include "engine/turn/valid_timers.h"
#include "kernel/ledger/cells.h"
#include "policy/guarantees/guarantees.h"
#include <stdio.h>
#include <stdlib.h>

enum found_kind { WORKLOAD, CELL, CAPACITY, CORE };

static const struct {
    unsigned guarantee;
    enum found_kind kind;
    const char *text;
} rules[SL_RULE_COUNT] = {
#define SL_RULE(constant, guarantee, kind, text) [constant] = {guarantee, kind, text},
#include "policy/guarantees/guarantee_rules.def"
#undef SL_RULE
};

static bool tallies_valid(const struct sl_engine *g)
{
    uint32_t holding = 0;
    uint32_t known = 0;
    for (sl_workload_id id = 0; id < g->workload_cap; id++) {
        if (g->workloads[id].uid == NULL) {
            continue;
        }
        known++;
        holding += sl_lifecycle_holds_quota(id);
        if (g->workloads[id].generation != sl_workloads[id].generation ||
            (sl_workloads[id].has_admission && g->workloads[id].admission == NULL)) {
            return false;
        }
    }
    return known == g->counters.workloads && holding == g->counters.holding;
}

/* Who stands on nodes is listed there; nobody stands anywhere once its job has stopped, or without it
 * being said. */
static bool places_valid(const struct sl_engine *g)
{
    for (sl_workload_id id = 0; id < g->workload_cap; id++) {
        uint32_t count = sl_topology_assignment_count(id);
        const struct sl_admission *admission = g->workloads[id].admission;
        if (sl_tenants_listed(g->tenants, id) != (count > 0) ||
            (count > 0 && (admission == NULL || !sl_lifecycle_holds_capacity(id)))) {
            return false;
        }
        for (uint32_t i = 0; i < count; i++) {
            struct sl_domain_assignment s = sl_topology_assignment_at(id, i);
            if (s.pod_set >= admission->pod_set_count || admission->topology[s.pod_set] == NULL ||
                sl_tenants_find(g->tenants, id, sl_domain_site(s.domain)) == SL_NO_ID) {
                return false;
            }
        }
    }
    return true;
}

static const char *qnode_name(const struct sl_engine *g, uint32_t qnode)
{
    return qnode < g->qnode_cap && g->qnodes[qnode] != NULL ? g->qnodes[qnode]->name : "unknown";
}

/* What the finding is about, in words. */
static void name_object(const struct sl_engine *g, struct sl_finding f, char *out, size_t size)
{
    bool known = f.object < g->workload_cap && g->workloads[f.object].uid != NULL;
    switch (rules[f.rule].kind) {
    case WORKLOAD:
        (void)snprintf(out, size, ": workload %u%s%s", f.object, known ? ", " : "",
                       known ? sl_intern_name(g->names, SL_INTERN_WORKLOAD, f.object) : "");
        break;
    case CELL:
        (void)snprintf(out, size, ": %s, flavor %s, resource %s",
                       qnode_name(g, sl_ledger_qnode_of(f.object)),
                       sl_intern_name(g->names, SL_INTERN_FLAVOR, sl_cell_flavor[f.object]),
                       sl_intern_name(g->names, SL_INTERN_RESOURCE, sl_cell_resource[f.object]));
        break;
    case CAPACITY:
        (void)snprintf(out, size, ": site %u, measure %u", f.object % SL_SITES_MAX,
                       f.object / SL_SITES_MAX);
        break;
    case CORE:
        out[0] = '\0';
        break;
    }
}

/* NULL when nothing was found. */
static const char *say(const struct sl_engine *g, struct sl_finding f)
{
    static char text[512]; /* until the next question */
    char object[256];
    if (f.rule == SL_RULE_NONE) {
        return NULL;
    }
    name_object(g, f, object, sizeof object);
    (void)snprintf(text, sizeof text, "G%u: %s%s", rules[f.rule].guarantee, rules[f.rule].text,
                   object);
    return text;
}

static const char *find_broken(const struct sl_engine *g)
{
    struct sl_finding f = sl_guarantees_kernel(g->workload_cap);
    if (f.rule == SL_RULE_NONE) {
        f = sl_guarantees_policy(g->workload_cap);
    }
    if (f.rule != SL_RULE_NONE) {
        return say(g, f);
    }
    if (!tallies_valid(g)) {
        return "G10: the engine's tallies are not what the core says";
    }
    if (!places_valid(g)) {
        return "G6: topology assignments and tenants of nodes differ";
    }
    return sl_valid_timers(g);
}

bool sl_engine_valid(const struct sl_engine *g, const char **broken)
{
    const char *found = find_broken(g);
    if (broken != NULL) {
        *broken = found;
    }
    return found == NULL;
}

/* There is no going on: what was decided may be wrong, and must not be written. */
static void stop_if(const char *broken)
{
    if (broken != NULL) {
        sl_log(SL_LOG_ERROR, "guarantee broken", "what", broken, NULL);
        exit(SL_EXIT_BROKEN);
    }
}

void sl_valid_step(const struct sl_engine *g, bool cycle)
{
    SL_PRE(g != NULL);
    if (g->settings.paranoid) {
        stop_if(say(g, sl_guarantees_step(g->workload_cap, cycle)));
        stop_if(find_broken(g));
    }
}

void sl_valid_patch(const struct sl_engine *g, const struct sl_decision *d,
                    const struct sl_json *workload, const struct sl_json *patch)
{
    struct sl_error ignored = {0};
    if (!g->settings.paranoid) {
        return;
    }
    struct sl_json *after = sl_json_clone(workload);
    if (sl_patch_merge(&after, patch, &ignored) == SL_CODE_OK) {
        stop_if(sl_mirror_written(g, d, workload, after));
    }
    sl_json_free(after);
}
