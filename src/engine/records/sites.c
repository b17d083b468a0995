/* SPDX-License-Identifier: Apache-2.0
 * SPDX-FileCopyrightText: The Sluice authors */

/* Numbers of sites, and how much of each measure is free on them. A number that is given back waits
 * in a queue before it is given out again. Flavors share a host, unless the settings say that each
 * tree counts for itself: then the tree is part of the host's key. */
#include "base/check.h"
#include "base/mem.h"
#include "engine/calls/call.h"
#include "engine/records/masks_in.h"
#include "engine/records/world.h"
#include "policy/requests/topology_request.h"
#include <stdio.h>
#include <string.h>

#define FREE_SITES_KEPT 1024u

static void print_key(const struct sl_engine *g, sl_tree_id tree, const char *host,
                      struct sl_buf *out)
{
    if (!g->settings.policy.overlapping_flavors) {
        sl_buf_print(out, "%u/", tree);
    }
    sl_buf_text(out, host);
}

sl_site_id sl_sites_find(const struct sl_engine *g, sl_tree_id tree, const char *host)
{
    SL_PRE(g != NULL);
    struct sl_buf key = {0};
    union sl_map_value value;
    print_key(g, tree, host, &key);
    bool known = sl_map_get(g->world->hosts, key.data, &value);
    sl_buf_fini(&key);
    return known ? (sl_site_id)value.number : SL_NO_ID;
}

static sl_site_id take_number(struct sl_world *w)
{
    if (w->free_site_count > FREE_SITES_KEPT ||
        (w->free_site_count > 0 && w->site_count == SL_SITES_MAX)) {
        sl_site_id site = w->first_free_site;
        w->first_free_site = w->sites[site].next_free;
        w->free_site_count--;
        return site;
    }
    if (w->site_count == SL_SITES_MAX) {
        return SL_NO_ID;
    }
    w->sites = sl_mem_reach(w->sites, &w->site_cap, 64, w->site_count, sizeof *w->sites);
    return w->site_count++;
}

sl_site_id sl_sites_take(struct sl_engine *g, sl_tree_id tree, const char *host)
{
    SL_PRE(g != NULL);
    struct sl_world *w = g->world;
    sl_site_id site = host == NULL ? SL_NO_ID : sl_sites_find(g, tree, host);
    if (site != SL_NO_ID) {
        return site;
    }
    site = take_number(w);
    if (site == SL_NO_ID) {
        return SL_NO_ID;
    }
    w->sites[site] = (struct sl_site_entry){0};
    if (host != NULL) {
        struct sl_buf key = {0};
        print_key(g, tree, host, &key);
        w->sites[site].host_at = (uint32_t)(key.len - strlen(host));
        sl_map_put(w->hosts, key.data, (union sl_map_value){.number = site});
        w->sites[site].key = sl_buf_take(&key);
    }
    return site;
}

void sl_sites_drop(struct sl_engine *g, sl_site_id site)
{
    struct sl_world *w = g->world;
    struct sl_site_entry *s = &w->sites[site];
    SL_ASSERT(s->area_count == 0 && s->node == NULL);
    sl_masks_in_judge(g, site, g->now_ms); /* who gets the number next starts without verdicts */
    if (s->key != NULL) {
        (void)sl_map_remove(w->hosts, s->key, NULL);
        sl_mem_free(s->key);
    }
    sl_amounts_fini(&s->free);
    *s = (struct sl_site_entry){0};
    if (w->free_site_count == 0) {
        w->first_free_site = site;
    } else {
        w->sites[w->last_free_site].next_free = site;
    }
    w->last_free_site = site;
    w->free_site_count++;
}

/* --- capacities ------------------------------------------------------------------------------------ */

static sl_measure_id find_measure(const struct sl_world *w, sl_resource_id resource)
{
    for (uint32_t m = 0; m < w->measure_count; m++) {
        if (w->measures[m] == resource) {
            return m;
        }
    }
    return SL_NO_ID;
}

/* The core's room follows; true when there is more of it now. */
static bool publish(struct sl_engine *g, sl_site_id site, sl_measure_id measure, int64_t now_ms)
{
    int64_t have = sl_amounts_get(&g->world->sites[site].free, g->world->measures[measure]);
    int64_t bounded = have < 0 ? 0 : have > SL_AMOUNT_MAX ? SL_AMOUNT_MAX : have;
    int64_t old = sl_site_capacity_of(site, measure);
    if (bounded == old) {
        return false;
    }
    sl_expect(g, now_ms, capacity, .site = site, .measure = measure, .amount = bounded);
    return bounded > old;
}

void sl_sites_shift(struct sl_engine *g, sl_site_id site, const struct sl_amounts *amounts,
                    int sign, int64_t now_ms)
{
    SL_PRE(g != NULL && amounts != NULL);
    struct sl_world *w = g->world;
    sl_amounts_add_all(&w->sites[site].free, amounts, sign);
    for (uint32_t i = 0; i < amounts->count; i++) {
        sl_measure_id measure = find_measure(w, amounts->items[i].resource);
        if (measure != SL_NO_ID) {
            (void)publish(g, site, measure, now_ms);
        }
    }
}

static const char *measure_name(const struct sl_engine *g, sl_measure_id measure)
{
    return sl_intern_name(g->names, SL_INTERN_RESOURCE, g->world->measures[measure]);
}

/* Of several that are scarce the first by name is told: the new one has its place, those behind it
 * move on, and those behind the one whose number it has move up. */
static void rank_measures(struct sl_engine *g, int64_t now_ms)
{
    for (sl_measure_id m = 0; m < g->world->measure_count; m++) {
        const char *text = measure_name(g, m);
        uint32_t rank = 0;
        for (sl_measure_id other = 0; other < g->world->measure_count; other++) {
            rank += strcmp(measure_name(g, other), text) < 0;
        }
        sl_tell(g, now_ms, measure_rank, .measure = m, .rank = rank);
    }
}

/* Those that somebody asks for, or has booked, or that the event under way has asked for. */
static void mark_used(const struct sl_engine *g, bool used[static SL_MEASURES_MAX])
{
    for (sl_workload_id id = 0; id < g->workload_cap; id++) {
        if (g->workloads[id].uid == NULL) {
            continue;
        }
        for (uint32_t r = sl_requests_first_pod_set(id); r != SL_NO_ID;
             r = sl_requests_next_pod_set(r)) {
            struct sl_topology_request d = sl_topology_request_of(r);
            for (uint32_t i = 0; i < d.request_count; i++) {
                used[d.requests[i].measure] = true;
            }
        }
        for (uint32_t i = 0; i < sl_booking_count(id); i++) {
            used[sl_booking_at(id, i).measure] = true;
        }
    }
    for (sl_measure_id m = 0; m < SL_MEASURES_MAX; m++) {
        used[m] = used[m] || m == SL_MEASURE_PODS || g->world->measured_at[m] == g->world->round;
    }
}

/* A number for another measure; when all are given out, of one that nobody needs any more. Linear
 * in workloads then. */
static sl_measure_id take_measure(struct sl_engine *g, int64_t now_ms)
{
    struct sl_world *w = g->world;
    bool used[SL_MEASURES_MAX] = {false};
    if (w->measure_count < SL_MEASURES_MAX) {
        return w->measure_count++;
    }
    mark_used(g, used);
    for (sl_measure_id m = 0; m < SL_MEASURES_MAX; m++) {
        if (!used[m]) {
            sl_tell(g, now_ms, measure, .resource = w->measures[m], .measure = SL_NO_ID);
            return m;
        }
    }
    return SL_NO_ID;
}

sl_measure_id sl_sites_measure(struct sl_engine *g, sl_resource_id resource, int64_t now_ms)
{
    SL_PRE(g != NULL);
    struct sl_world *w = g->world;
    sl_measure_id measure = find_measure(w, resource);
    bool known = measure != SL_NO_ID;
    measure = known ? measure : take_measure(g, now_ms);
    if (measure != SL_NO_ID) {
        w->measured_at[measure] = w->round;
    }
    if (known || measure == SL_NO_ID) {
        return measure;
    }
    w->measures[measure] = resource;
    sl_tell(g, now_ms, measure, .resource = resource, .measure = measure);
    rank_measures(g, now_ms);
    for (sl_site_id site = 0; site < w->site_count; site++) {
        (void)publish(g, site, measure, now_ms);
    }
    return measure;
}
