/* SPDX-License-Identifier: Apache-2.0
 * SPDX-FileCopyrightText: The Sluice authors */

/* A check without an object is nobody's whose ways were known: it counts as one of another
 * controller, and keeps its ClusterQueue inactive. */
#include "engine/events/checks_in.h"
#include "base/check.h"
#include "engine/calls/call.h"
#include "engine/records/event_in.h"
#include "engine/records/world.h"
#include <stdlib.h>
#include <string.h>

/* What the map of checks holds, beside bit 8: nobody says that it is active. */
enum way { WAY_OTHER, WAY_PROVISIONING, WAY_ELSEWHERE };
#define INACTIVE 8u

static uint64_t known(const struct sl_engine *g, sl_check_id check)
{
    const char *name = sl_intern_name(g->names, SL_INTERN_CHECK, check);
    union sl_map_value value;
    return name != NULL && sl_map_get(g->world->checks, name, &value) ? value.number : WAY_OTHER;
}

static enum way way_of(const struct sl_engine *g, sl_check_id check)
{
    return (enum way)(known(g, check) & ~(uint64_t)INACTIVE);
}

bool sl_checks_in_elsewhere(const struct sl_engine *g, const struct sl_qnode_entry *n)
{
    SL_PRE(n != NULL);
    for (uint32_t i = 0; i < n->check_count; i++) {
        if (way_of(g, n->checks[i].check) == WAY_ELSEWHERE) {
            return true;
        }
    }
    return false;
}

static bool is_missing(const struct sl_engine *g, sl_check_id check)
{
    const char *name = sl_intern_name(g->names, SL_INTERN_CHECK, check);
    union sl_map_value value;
    return name == NULL || !sl_map_get(g->world->checks, name, &value);
}

static bool is_inactive(const struct sl_engine *g, sl_check_id check)
{
    return (known(g, check) & INACTIVE) != 0;
}

static bool names_flavor(const struct sl_check_rule *rule, sl_flavor_id flavor)
{
    for (uint32_t i = 0; i < rule->flavor_count; i++) {
        if (rule->flavors[i] == flavor) {
            return true;
        }
    }
    return rule->flavor_count == 0;
}

static bool is_for_all(const struct sl_qnode_entry *n, const struct sl_check_rule *rule)
{
    for (uint32_t i = 0; i < n->quotas.group_count; i++) {
        const struct sl_group *group = &n->quotas.groups[i];
        for (uint32_t f = 0; f < group->flavor_count; f++) {
            if (!names_flavor(rule, group->flavors[f])) {
                return false;
            }
        }
    }
    return true;
}

static bool is_of_sort(const struct sl_engine *g, const struct sl_qnode_entry *n,
                       const struct sl_check_rule *rule, enum sl_check_sort sort)
{
    switch (sort) {
    case SL_CHECK_MISSING:
        return is_missing(g, rule->check);
    case SL_CHECK_INACTIVE:
        return !is_missing(g, rule->check) && is_inactive(g, rule->check);
    case SL_CHECK_PROVISIONED:
        return way_of(g, rule->check) == WAY_PROVISIONING;
    case SL_CHECK_ELSEWHERE:
        return way_of(g, rule->check) == WAY_ELSEWHERE;
    case SL_CHECK_PER_FLAVOR:
        return way_of(g, rule->check) == WAY_ELSEWHERE && !is_for_all(n, rule);
    }
    return false;
}

static int by_name(const void *a, const void *b)
{
    return strcmp(*(const char *const *)a, *(const char *const *)b);
}

void sl_checks_in_list(const struct sl_engine *g, const struct sl_qnode_entry *n,
                       enum sl_check_sort sort, struct sl_buf *out)
{
    SL_PRE(n != NULL);
    const char *names[SL_CHECKS_MAX];
    size_t count = 0;
    for (uint32_t i = 0; i < n->check_count; i++) {
        if (is_of_sort(g, n, &n->checks[i], sort)) {
            names[count++] = sl_intern_name(g->names, SL_INTERN_CHECK, n->checks[i].check);
        }
    }
    qsort(names, count, sizeof *names, by_name);
    for (size_t i = 0; i < count; i++) {
        sl_buf_print(out, "%s%s", i == 0 ? "" : ",", names[i]);
    }
}

static bool waits(const struct sl_engine *g, const struct sl_qnode_entry *n, sl_flavor_id flavor)
{
    for (uint32_t i = 0; i < n->check_count; i++) {
        enum way way = way_of(g, n->checks[i].check);
        if (way == WAY_ELSEWHERE ||
            (way == WAY_PROVISIONING && names_flavor(&n->checks[i], flavor))) {
            return true;
        }
    }
    return false;
}

void sl_checks_in_delay(struct sl_engine *g, sl_qnode_id qnode, int64_t now_ms)
{
    SL_PRE(g != NULL);
    const struct sl_qnode_entry *n = g->qnodes[qnode];
    for (sl_cell_id cell = sl_offers_first(qnode); cell != SL_NO_ID; cell = sl_offers_next(cell)) {
        bool delayed = waits(g, n, sl_ledger_flavor_of(cell));
        if (delayed != sl_offers_is_delayed(cell)) {
            sl_tell(g, now_ms, delayed, .cell = cell, .is = delayed);
        }
    }
}

static bool names_check(const struct sl_qnode_entry *n, sl_check_id check)
{
    for (uint32_t i = 0; i < n->check_count; i++) {
        if (n->checks[i].check == check) {
            return true;
        }
    }
    return false;
}

static void tell_queues(struct sl_engine *g, const char *name, int64_t now_ms)
{
    sl_check_id check = sl_intern_find(g->names, SL_INTERN_CHECK, name);
    for (sl_qnode_id qnode = 0; check != SL_NO_ID && qnode < g->qnode_cap; qnode++) {
        const struct sl_qnode_entry *n = g->qnodes[qnode];
        if (n != NULL && n->is_cluster_queue && n->exists && names_check(n, check)) {
            sl_checks_in_delay(g, qnode, now_ms);
            sl_event_judge(g, qnode, now_ms);
            sl_tell(g, now_ms, wake_tree, .qnode = qnode);
        }
    }
}

static uint64_t read(const struct sl_json *object)
{
    const char *controller = sl_json_path_text(object, "spec.controllerName", "");
    const struct sl_json *active = sl_condition_find(object, "Active");
    uint64_t value =
        strcmp(controller, "kueue.x-k8s.io/provisioning-request") == 0
            ? WAY_PROVISIONING
            : (strcmp(controller, "kueue.x-k8s.io/multikueue") == 0 ? WAY_ELSEWHERE : WAY_OTHER);
    bool on = strcmp(sl_json_path_text(active, "status", ""), "True") == 0;
    return on ? value : value | INACTIVE;
}

void sl_event_from_check(struct sl_engine *g, const struct sl_json *object, bool gone,
                         int64_t now_ms)
{
    SL_PRE(g != NULL);
    const char *name = sl_object_name(object);
    union sl_map_value old = {.number = WAY_OTHER};
    bool was = sl_map_get(g->world->checks, name, &old);
    uint64_t value = gone ? WAY_OTHER : read(object);
    if (gone && was) {
        (void)sl_map_remove(g->world->checks, name, NULL);
    } else if (!gone) {
        sl_map_put(g->world->checks, name, (union sl_map_value){.number = value});
    }
    if (was == gone || value != (was ? old.number : WAY_OTHER)) { /* it came, went or changed */
        tell_queues(g, name, now_ms);
    }
}
