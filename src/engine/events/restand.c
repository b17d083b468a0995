/* SPDX-License-Identifier: Apache-2.0
 * SPDX-FileCopyrightText: The Sluice authors */

/* Reading again is what a restart does, for one workload: its record is made anew from what its
 * object says, with everything that was decided since and not written yet laid over it. */
#include "engine/events/restand.h"
#include "base/check.h"
#include "base/log.h"
#include "base/mem.h"
#include "engine/decisions/decision_out.h"
#include "engine/figures.h"
#include "engine/records/event_in.h"
#include "engine/records/names.h"
#include "engine/records/world.h"

void sl_restand_note(struct sl_engine *g, sl_workload_id id, const struct sl_json *object)
{
    SL_PRE(g != NULL);
    struct sl_admission *admission = g->workloads[id].admission;
    if (admission != NULL && (admission->unplaced || admission->displaced)) {
        sl_json_free(admission->object);
        admission->object = sl_json_clone(object);
    }
}

/* Is the topology there of every pod set that stands in one, or waits for its place there? */
static bool topologies_known(const struct sl_engine *g, const struct sl_admission *admission)
{
    for (uint32_t i = 0; i < admission->pod_set_count; i++) {
        bool known = admission->topology[i] == NULL && !admission->delayed[i];
        for (uint32_t c = 0; c < admission->choice_count; c++) {
            known = known || (admission->choices[c].pod_set == i &&
                              sl_names_level_count(g, admission->choices[c].flavor) > 0);
        }
        if (!known) {
            return false;
        }
    }
    return true;
}

/* Is more booked there than there is? A node that takes no pods now has no room at all: what stands
 * on it stays. */
static bool crowded(sl_workload_id id)
{
    for (uint32_t i = 0; i < sl_booking_count(id); i++) {
        struct sl_booking b = sl_booking_at(id, i);
        int64_t capacity = sl_site_capacity_of(b.site, b.measure);
        if (capacity > 0 && sl_site_used_of(b.site, b.measure) > capacity) {
            return true;
        }
    }
    return false;
}

const char *sl_restand_trouble(const struct sl_engine *g, sl_workload_id id)
{
    SL_PRE(g != NULL);
    const struct sl_admission *admission = g->workloads[id].admission;
    if (admission == NULL || sl_workloads[id].evicted != SL_EVICT_NONE) {
        return NULL;
    }
    if (admission->unplaced) {
        return topologies_known(g, admission) ? "the topology no longer has the domains of its pods"
                                              : NULL;
    }
    return g->restanding && crowded(id)
               ? "the domains of its pods were given to others while its topology was missing"
               : NULL;
}

/* What its object would say if everything had been written. */
static struct sl_json *object_with_decisions(struct sl_engine *g, sl_workload_id id,
                                             const struct sl_json *object, int64_t now_ms)
{
    bool evicted = sl_workloads[id].phase == SL_PHASE_EVICTED;
    struct sl_decision d = {.sequence = UINT64_MAX,
                            .kind = evicted ? SL_DECIDE_EVICT : SL_DECIDE_RESERVE,
                            .workload = id,
                            .generation = g->workloads[id].generation,
                            .now_ms = now_ms};
    bool status;
    struct sl_json *whole = sl_json_clone(object);
    struct sl_json *patch = sl_patch_from_decision(g, &d, object, &status);
    struct sl_error e = {0};
    if (patch != NULL && sl_patch_merge(&whole, patch, &e) != SL_CODE_OK) {
        sl_log(SL_LOG_WARN, "workload is read again as it was last written", "error", e.text, NULL);
    }
    sl_json_free(patch);
    return whole;
}

static void read_again(struct sl_engine *g, sl_workload_id id, int64_t now_ms)
{
    struct sl_workload_entry *e = &g->workloads[id];
    struct sl_json *object = e->admission->object;
    struct sl_json *known = object_with_decisions(g, id, object, now_ms);
    struct sl_words words = e->words;
    uint8_t mark = e->mark;
    e->admission->object = NULL;
    e->words = (struct sl_words){0};
    sl_log(SL_LOG_INFO, "its topology is there: read again", "workload",
           sl_intern_name(g->names, SL_INTERN_WORKLOAD, id), NULL);
    sl_event_workload_again(g, id, known, object, &words, now_ms);
    sl_engine_mark(g, object, mark);
    sl_words_fini(&words);
    sl_json_free(known);
    sl_json_free(object);
}

/* Does it stand on a domain that is not the tree's any more? A node is the same place in every
 * layout. */
static bool stands_apart(const struct sl_engine *g, sl_workload_id id)
{
    for (uint32_t i = 0; i < sl_topology_assignment_count(id); i++) {
        sl_domain_id domain = sl_topology_assignment_at(id, i).domain;
        const struct sl_tree_entry *t = sl_world_find_tree(g, sl_domain_tree(domain));
        sl_site_id site = sl_domain_site(domain);
        if (t != NULL && t->levels != NULL && !sl_trees_shows(domain) &&
            !(t->levels->ends_at_nodes && g->world->sites[site].key != NULL)) {
            return true;
        }
    }
    return false;
}

static void mark_displaced(struct sl_engine *g)
{
    for (sl_workload_id id = 0; id < g->workload_cap; id++) {
        const struct sl_workload_entry *e = &g->workloads[id];
        if (e->uid != NULL && e->admission != NULL && !e->admission->unplaced &&
            stands_apart(g, id)) {
            e->admission->displaced = true;
            g->wants_workloads = true;
        }
    }
}

bool sl_engine_wants_workloads(struct sl_engine *g)
{
    SL_PRE(g != NULL);
    bool wants = g->wants_workloads;
    g->wants_workloads = false;
    return wants;
}

void sl_engine_want_workloads(struct sl_engine *g)
{
    SL_PRE(g != NULL);
    g->wants_workloads = true;
}

void sl_restand_meet(struct sl_engine *g, sl_workload_id id, int64_t now_ms)
{
    SL_PRE(g != NULL);
    const struct sl_admission *admission = g->workloads[id].admission;
    if (admission != NULL && admission->displaced && admission->object != NULL &&
        topologies_known(g, admission)) {
        g->restanding = true;
        read_again(g, id, now_ms);
        g->restanding = false;
    }
}

/* A slot that was read again may be met again: it is not waiting any more then. */
void sl_restand_settle(struct sl_engine *g, int64_t now_ms)
{
    if (!g->world->relaid) {
        return;
    }
    g->world->relaid = false;
    mark_displaced(g);
    g->restanding = true;
    for (sl_workload_id id = 0; id < g->workload_cap; id++) {
        const struct sl_workload_entry *e = &g->workloads[id];
        if (e->uid != NULL && e->admission != NULL && e->admission->unplaced &&
            e->admission->object != NULL && topologies_known(g, e->admission)) {
            read_again(g, id, now_ms);
        }
    }
    g->restanding = false;
}
