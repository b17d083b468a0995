/* SPDX-License-Identifier: Apache-2.0
 * SPDX-FileCopyrightText: The Sluice authors */

/* What was observed of nodes and pods (node_watch.h), held against who stands where (tenants.h); what
 * it means is for policy to say (policy/verdicts/node_failure.h). An event costs the workloads that
 * stand on that node. */
#include "engine/decisions/node_health.h"
#include "base/check.h"
#include "base/mem.h"
#include "engine/calls/call.h"
#include "engine/topology/constraints.h"
#include "engine/decisions/follow.h"
#include "engine/records/names.h"
#include "engine/topology/node_watch.h"
#include "engine/records/pod.h"
#include "engine/records/tenants.h"
#include "engine/requests/families.h"
#include "engine/topology/topology_out.h"
#include "policy/requests/requests.h"
#include "policy/verdicts/node_failure.h"
#include <stdio.h>
#include <string.h>

struct sl_node_health {
    struct sl_node_watch *watch;
    sl_workload_id *moved; /* stand elsewhere, or run, since the last settle */
    uint32_t moved_count;
    uint32_t moved_cap;
};

struct sl_node_health *sl_node_health_new(void)
{
    struct sl_node_health *h = sl_mem_new(1, sizeof *h);
    h->watch = sl_node_watch_new();
    return h;
}

void sl_node_health_free(struct sl_node_health *h)
{
    if (h != NULL) {
        sl_node_watch_free(h->watch);
        sl_mem_free(h->moved);
        sl_mem_free(h);
    }
}

/* --- what is so of one workload on one node --------------------------------------------------- */

/* Of the tolerations those that hold for ever. */
static struct sl_json *lasting_new(const struct sl_json *tolerations)
{
    struct sl_json *list = sl_json_new_list();
    for (size_t i = 0; i < sl_json_len(tolerations); i++) {
        struct sl_json *item = sl_json_at(tolerations, i);
        if (sl_json_get(item, "tolerationSeconds") == NULL) {
            sl_json_append(list, sl_json_ref(item));
        }
    }
    return list;
}

static enum sl_toleration tolerates(const struct sl_json *own, const struct sl_json *flavors,
                                    const struct sl_json *taints)
{
    enum sl_toleration worst = SL_TOLERATED;
    struct sl_json *lasting = lasting_new(own);
    struct sl_json *flavors_lasting = lasting_new(flavors);
    for (size_t i = 0; i < sl_json_len(taints); i++) {
        const struct sl_json *taint = sl_json_at(taints, i);
        if (!sl_pod_tolerates(own, taint) && !sl_pod_tolerates(flavors, taint)) {
            worst = SL_TOLERATED_NOT;
        } else if (worst == SL_TOLERATED && !sl_pod_tolerates(lasting, taint) &&
                   !sl_pod_tolerates(flavors_lasting, taint)) {
            worst = SL_TOLERATED_FOR_A_TIME;
        }
    }
    sl_json_free(lasting);
    sl_json_free(flavors_lasting);
    return worst;
}

/* By those of its pod sets that stand there, each with the flavor that it stands there for. */
static enum sl_toleration workload_tolerates(const struct sl_engine *g, sl_workload_id id,
                                             sl_site_id site, const struct sl_json *taints)
{
    const struct sl_workload_entry *e = &g->workloads[id];
    enum sl_toleration worst = SL_TOLERATED;
    uint32_t count = sl_json_len(taints) == 0 ? 0 : sl_topology_assignment_count(id);
    for (uint32_t i = 0; i < count; i++) {
        struct sl_domain_assignment s = sl_topology_assignment_at(id, i);
        sl_tree_id tree = sl_domain_tree(s.domain);
        if (sl_domain_site(s.domain) != site || s.pod_set >= e->pod_set_count) {
            continue;
        }
        const struct sl_json *spec = tree < g->flavor_cap ? g->flavors[tree].spec : NULL;
        const struct sl_pod_set *set = &e->pod_sets[s.pod_set];
        const struct sl_json *constraint =
            sl_constraints_value(g, set->refined != 0 ? set->refined : set->constraint);
        enum sl_toleration t = tolerates(sl_json_get(constraint, "tolerations"),
                                         sl_json_get(spec, "tolerations"), taints);
        worst = t > worst ? t : worst;
    }
    return worst;
}

static enum sl_node_verdict judge(const struct sl_engine *g, sl_workload_id id, uint32_t row)
{
    sl_site_id site = sl_tenants_site(g->tenants, row);
    const char *name = sl_names_host(g, site);
    const struct sl_host *host = sl_node_watch_find(g->health->watch, name);
    struct sl_node_sight sight = {.one = name[0] != '\0',
                                  .lost = sl_tenants_has_lost(g->tenants, row)};
    if (sight.one && host != NULL) {
        sight.exists = host->node_count > 0;
        sight.ready = host->ready;
        sight.toleration = workload_tolerates(g, id, site, host->taints);
        sight.under_way = sl_node_watch_has_pod(host, sl_family_name_in_pods(g, id));
    }
    return sl_node_failure_judge(sight);
}

/* --- what follows ----------------------------------------------------------------------------- */

static bool is_marked(sl_workload_id id, sl_site_id site)
{
    const struct sl_workload *w = &sl_workloads[id];
    for (uint32_t i = 0; i < w->unhealthy_count; i++) {
        if (w->unhealthy[i] == site) {
            return true;
        }
    }
    return false;
}

static void send(struct sl_engine *g, sl_workload_id id, enum sl_event_kind kind, sl_site_id site,
                 int64_t now_ms)
{
    sl_send(g, id, now_ms, .kind = kind, .index = site,
            .value = g->settings.policy.replace_several ? 0 : 1);
}

/* The core evicts when there are too many: then this is why. */
static void mark(struct sl_engine *g, sl_workload_id id, sl_site_id site, int64_t now_ms)
{
    char failed[400];
    char text[500];
    sl_topology_out_list_failed(g, id, sizeof failed, failed);
    (void)snprintf(text, sizeof text, "too many nodes have failed: %s%s%s", failed,
                   failed[0] == '\0' ? "" : ", ", sl_names_host(g, site));
    sl_words_say_stopping(&g->workloads[id].words, SL_EVICT_NODE_FAILURES, text);
    send(g, id, SL_EV_NODE_FAILED, site, now_ms);
}

static void act(struct sl_engine *g, uint32_t row, int64_t now_ms)
{
    sl_workload_id id = sl_tenants_workload(g->tenants, row);
    sl_site_id site = sl_tenants_site(g->tenants, row);
    const struct sl_settings *settings = &g->settings.policy;
    switch (sl_node_failure_step(
        (struct sl_node_case){.verdict = judge(g, id, row),
                              .admitted = sl_workloads[id].phase == SL_PHASE_ADMITTED,
                              .marked = is_marked(id, site),
                              .replaces = settings->replace_failed,
                              .single = sl_requests_is_single_pod(id),
                              .skip_single = settings->skip_single_pod})) {
    case SL_NODE_STEP_MARK:
        mark(g, id, site, now_ms);
        break;
    case SL_NODE_STEP_UNMARK:
        send(g, id, SL_EV_NODE_RECOVERED, site, now_ms);
        break;
    case SL_NODE_STEP_NONE:
        break;
    }
}

/* Sites of a host, one after the other: one for all trees, or one in each. Start with *tree = 0. */
static sl_site_id next_site(const struct sl_engine *g, const char *host, sl_tree_id *tree)
{
    while (*tree < g->flavor_cap) {
        sl_site_id site = sl_names_find_host_in(g, (*tree)++, host);
        if (site != SL_NO_ID) {
            *tree = g->settings.policy.overlapping_flavors ? g->flavor_cap : *tree;
            return site;
        }
    }
    return SL_NO_ID;
}

/* An event moves nobody from where he stands before the next cycle: the rows stay. */
static void look_at_site(struct sl_engine *g, sl_site_id site, int64_t now_ms)
{
    for (uint32_t row = sl_tenants_first(g->tenants, site); row != SL_NO_ID;) {
        uint32_t next = sl_tenants_next(g->tenants, row);
        act(g, row, now_ms);
        row = next;
    }
}

static void look_at_host(struct sl_engine *g, const char *host, int64_t now_ms)
{
    sl_tree_id tree = 0;
    sl_site_id site = g->synced ? next_site(g, host, &tree) : SL_NO_ID;
    while (site != SL_NO_ID) {
        look_at_site(g, site, now_ms);
        site = next_site(g, host, &tree);
    }
}

static void look_at_workload(struct sl_engine *g, sl_workload_id id, int64_t now_ms)
{
    for (uint32_t row = sl_tenants_first_of(g->tenants, id); row != SL_NO_ID;) {
        uint32_t next = sl_tenants_next_of(g->tenants, row);
        act(g, row, now_ms);
        row = next;
    }
}

void sl_node_health_moved(struct sl_engine *g, sl_workload_id id)
{
    SL_PRE(g != NULL);
    struct sl_node_health *h = g->health;
    bool listed = sl_tenants_listed(g->tenants, id);
    if (!listed && sl_topology_assignment_count(id) == 0) {
        return;
    }
    sl_tenants_list(g->tenants, id);
    h->moved = sl_mem_reach(h->moved, &h->moved_cap, 64, h->moved_count, sizeof *h->moved);
    h->moved[h->moved_count++] = id;
}

bool sl_node_health_waits(const struct sl_engine *g)
{
    SL_PRE(g != NULL);
    return g->synced && g->health->moved_count > 0;
}

void sl_node_health_settle(struct sl_engine *g, int64_t now_ms)
{
    SL_PRE(g != NULL);
    struct sl_node_health *h = g->health;
    for (uint32_t i = 0; g->synced && i < h->moved_count; i++) {
        look_at_workload(g, h->moved[i], now_ms); /* may append */
    }
    h->moved_count = g->synced ? 0 : h->moved_count;
}

/* --- what was observed ------------------------------------------------------------------------ */

void sl_node_health_node(struct sl_engine *g, const struct sl_json *node, bool gone, int64_t now_ms)
{
    SL_PRE(g != NULL);
    struct sl_node_watch *w = g->health->watch;
    const char *host = sl_node_watch_name(node);
    char *left = sl_node_watch_leave(w, node, gone);
    if (left != NULL) {
        look_at_host(g, left, now_ms);
        sl_mem_free(left);
    }
    if (!gone && sl_node_watch_enter(w, node)) {
        look_at_host(g, host, now_ms);
    }
}

static void note_loss_at(struct sl_engine *g, const char *workload, sl_site_id site, int64_t now_ms)
{
    for (uint32_t row = sl_tenants_first(g->tenants, site); row != SL_NO_ID;) {
        uint32_t next = sl_tenants_next(g->tenants, row);
        sl_workload_id id = sl_tenants_workload(g->tenants, row);
        if (strcmp(sl_family_name_in_pods(g, id), workload) == 0) {
            sl_tenants_note_loss(g->tenants, row);
            if (g->synced) {
                act(g, row, now_ms);
            }
        }
        row = next;
    }
}

/* A pod has ended there, or leaves, which names this workload: for its variants as well. */
static void note_loss(struct sl_engine *g, const char *workload, const char *host, int64_t now_ms)
{
    sl_tree_id tree = 0;
    sl_site_id site = next_site(g, host, &tree);
    while (site != SL_NO_ID) {
        note_loss_at(g, workload, site, now_ms);
        site = next_site(g, host, &tree);
    }
}

void sl_node_health_pod(struct sl_engine *g, const struct sl_json *pod, bool gone, int64_t now_ms)
{
    SL_PRE(g != NULL);
    struct sl_pod_loss loss;
    if (sl_node_watch_pod(g->health->watch, pod, gone, &loss)) {
        note_loss(g, loss.workload, loss.host, now_ms);
        sl_mem_free(loss.workload);
        sl_mem_free(loss.host);
    }
}

/* --- marks of others -------------------------------------------------------------------------- */

/* A mark that somebody has taken away comes back if the node has failed. */
static void read_removed(struct sl_engine *g, sl_workload_id id, const struct sl_json *list,
                         int64_t now_ms)
{
    struct sl_workload seen = sl_workloads[id];
    for (uint32_t i = 0; i < seen.unhealthy_count; i++) {
        sl_site_id site = seen.unhealthy[i];
        uint32_t row = sl_tenants_find(g->tenants, id, site);
        if (sl_json_find_by(list, "name", sl_names_host(g, site)) != NULL) {
            continue;
        }
        if (row != SL_NO_ID && judge(g, id, row) == SL_NODE_FAILED) {
            sl_decide(g, id, SL_DECIDE_PLACE, now_ms);
        } else {
            send(g, id, SL_EV_NODE_RECOVERED, site, now_ms);
        }
    }
}

void sl_node_health_read(struct sl_engine *g, sl_workload_id id, const struct sl_json *workload,
                         int64_t now_ms)
{
    const struct sl_json *list = sl_json_path(workload, "status.unhealthyNodes");
    if (sl_workloads[id].phase != SL_PHASE_ADMITTED) {
        return;
    }
    if (!g->restoring) {
        read_removed(g, id, list, now_ms);
    }
    for (size_t i = 0; i < sl_json_len(list); i++) {
        sl_tree_id tree = 0;
        const char *host = sl_json_path_text(sl_json_at(list, i), "name", "");
        sl_site_id site = next_site(g, host, &tree);
        while (site != SL_NO_ID) {
            if (!is_marked(id, site) && sl_tenants_find(g->tenants, id, site) != SL_NO_ID) {
                mark(g, id, site, now_ms);
            }
            site = next_site(g, host, &tree);
        }
    }
}
