/* SPDX-License-Identifier: Apache-2.0
 * SPDX-FileCopyrightText: The Sluice authors */

/* A counted table of constraints, keyed by their JSON text; number 0 is "none at all" and never
 * freed. */
#include "engine/constraints.h"
#include "base/check.h"
#include "base/mem.h"
#include "engine/change.h"
#include "engine/masks_in.h"
#include "engine/pod.h"
#include "engine/topology_in.h"
#include "policy/demand.h"
#include <string.h>

struct constraint {
    char *key; /* NULL: the number is free */
    struct sl_json *value;
    uint32_t user_count;
    uint32_t next_free;
};

struct sl_constraints {
    struct sl_map *numbers;
    struct constraint *items;
    uint32_t count;
    uint32_t cap;
    uint32_t first_free; /* SL_NO_ID = none */
};

struct sl_constraints *sl_constraints_new(void)
{
    struct sl_constraints *t = sl_mem_new(1, sizeof *t);
    t->numbers = sl_map_new();
    t->first_free = SL_NO_ID;
    return t;
}

void sl_constraints_free(struct sl_constraints *t)
{
    if (t == NULL) {
        return;
    }
    for (uint32_t i = 0; i < t->count; i++) {
        sl_json_free(t->items[i].value);
        sl_mem_free(t->items[i].key);
    }
    sl_map_free(t->numbers);
    sl_mem_free(t->items);
    sl_mem_free(t);
}

static uint32_t take_slot(struct sl_constraints *t)
{
    if (t->first_free != SL_NO_ID) {
        uint32_t slot = t->first_free;
        t->first_free = t->items[slot].next_free;
        return slot;
    }
    if (t->count == t->cap) {
        t->cap = t->cap == 0 ? 16 : t->cap * 2;
        t->items = sl_mem_grow(t->items, t->cap, sizeof *t->items);
    }
    return t->count++;
}

/* The number of the constraint, whose value becomes the table's; 0 for one that asks for nothing.
 */
static uint32_t take(struct sl_constraints *t, struct sl_json *value)
{
    union sl_map_value number;
    struct sl_buf key = {0};
    if (sl_json_len(value) == 0) {
        sl_json_free(value);
        return 0;
    }
    sl_json_print(value, &key);
    if (sl_map_get(t->numbers, key.data, &number)) {
        sl_json_free(value);
        sl_buf_fini(&key);
        t->items[number.number].user_count++;
        return (uint32_t)number.number + 1;
    }
    uint32_t slot = take_slot(t);
    sl_map_put(t->numbers, key.data, (union sl_map_value){.number = slot});
    t->items[slot] = (struct constraint){sl_buf_take(&key), value, 1, SL_NO_ID};
    return slot + 1;
}

static void give(struct sl_engine *g, uint32_t number)
{
    struct sl_constraints *t = g->constraints;
    if (number == 0) {
        return;
    }
    struct constraint *c = &t->items[number - 1];
    SL_ASSERT(c->user_count > 0);
    if (--c->user_count == 0) {
        sl_masks_in_drop(g, number, g->now_ms);
        (void)sl_map_remove(t->numbers, c->key, NULL);
        sl_mem_free(c->key);
        sl_json_free(c->value);
        *c = (struct constraint){.next_free = t->first_free};
        t->first_free = number - 1;
    }
}

const struct sl_json *sl_constraints_value(const struct sl_engine *g, uint32_t number)
{
    return number == 0 ? NULL : g->constraints->items[number - 1].value;
}

static void release(struct sl_engine *g, struct sl_pod_set *sets, uint32_t count)
{
    for (uint32_t i = 0; i < count; i++) {
        give(g, sets[i].constraint);
        give(g, sets[i].refined);
        sl_topology_in_release(&sets[i]);
        sl_mem_free(sets[i].name);
    }
    sl_mem_free(sets);
}

void sl_constraints_release(struct sl_engine *g, struct sl_workload_entry *e)
{
    release(g, e->pod_sets, e->pod_set_count);
    e->pod_sets = NULL;
    e->pod_set_count = 0;
}

static struct sl_json *constraint_new(const struct sl_engine *g, const struct sl_json *pod_spec)
{
    static const char path[] =
        "affinity.nodeAffinity.preferredDuringSchedulingIgnoredDuringExecution";
    struct sl_json *c = sl_pod_constraint_new(pod_spec);
    const struct sl_json *preferred = sl_json_path(pod_spec, path);
    if (g->settings.policy.prefer_affinity && sl_json_len(preferred) > 0) {
        sl_json_set(c, "preferred", sl_json_clone(preferred));
    }
    return c;
}

void sl_constraints_take(struct sl_engine *g, struct sl_workload_entry *e,
                         const struct sl_json *workload)
{
    const struct sl_json *list = sl_json_path(workload, "spec.podSets");
    struct sl_pod_set *old = e->pod_sets;
    uint32_t old_count = e->pod_set_count;
    e->pod_set_count = (uint32_t)sl_json_len(list);
    e->pod_sets = sl_mem_new(e->pod_set_count + 1u, sizeof *e->pod_sets);
    for (uint32_t i = 0; i < e->pod_set_count; i++) {
        const struct sl_json *item = sl_json_at(list, i);
        e->pod_sets[i].name = sl_mem_text(sl_json_path_text(item, "name", "main"));
        e->pod_sets[i].constraint =
            take(g->constraints, constraint_new(g, sl_json_path(item, "template.spec")));
        sl_topology_in_take(g, &e->pod_sets[i], item, g->now_ms);
    }
    release(g, old, old_count); /* last: what stays the same is not made anew */
}

/* --- what checks add -------------------------------------------------------------------------- */

/* One update: its node selector and its tolerations join those of the constraint. */
static void merge(struct sl_json *constraint, const struct sl_json *update)
{
    const struct sl_json *selector = sl_json_get(update, "nodeSelector");
    const struct sl_json *tolerations = sl_json_get(update, "tolerations");
    void *it = NULL;
    const char *key;
    struct sl_json *value;
    while (sl_json_next(selector, &it, &key, &value)) {
        sl_json_set_text(sl_json_path_make(constraint, "nodeSelector"), key,
                         sl_json_text(value, ""));
    }
    if (sl_json_len(tolerations) > 0 && sl_json_get(constraint, "tolerations") == NULL) {
        sl_json_set(constraint, "tolerations", sl_json_new_list());
    }
    for (size_t i = 0; i < sl_json_len(tolerations); i++) {
        sl_json_append(sl_json_get(constraint, "tolerations"),
                       sl_json_clone(sl_json_at(tolerations, i)));
    }
}

/* The pod set's constraint with all that ready checks have added; 0 = they have added nothing. */
static uint32_t refined(struct sl_engine *g, const struct sl_pod_set *set,
                        const struct sl_json *checks)
{
    const struct sl_json *own = sl_constraints_value(g, set->constraint);
    struct sl_json *c = own == NULL ? sl_json_new_map() : sl_json_clone(own);
    for (size_t i = 0; i < sl_json_len(checks); i++) {
        const struct sl_json *check = sl_json_at(checks, i);
        const struct sl_json *updates = sl_json_get(check, "podSetUpdates");
        bool ready = strcmp(sl_json_path_text(check, "state", ""), "Ready") == 0;
        for (size_t k = 0; ready && k < sl_json_len(updates); k++) {
            const struct sl_json *update = sl_json_at(updates, k);
            if (strcmp(sl_json_path_text(update, "name", ""), set->name) == 0) {
                merge(c, update);
            }
        }
    }
    uint32_t number = take(g->constraints, c);
    if (number == set->constraint) {
        give(g, number);
        return 0;
    }
    return number;
}

/* False = there are as many masks as can be held. */
static bool set_mask(struct sl_engine *g, sl_workload_id id, uint32_t index, uint32_t refined_as,
                     int64_t now_ms)
{
    uint32_t own = g->workloads[id].pod_sets[index].constraint;
    sl_mask_id mask = sl_masks_in_take(g, refined_as != 0 ? refined_as : own, now_ms);
    struct sl_change c = {.kind = SL_CHANGE_DEMAND_MASK, .word = {id, index, mask}};
    if (mask != SL_NO_ID) {
        (void)sl_change_apply(g, &c, now_ms);
    }
    return mask != SL_NO_ID;
}

void sl_constraints_refine(struct sl_engine *g, sl_workload_id id, const struct sl_json *workload,
                           int64_t now_ms)
{
    const struct sl_workload_entry *e = &g->workloads[id];
    const struct sl_json *checks = sl_json_path(workload, "status.admissionChecks");
    for (uint32_t i = 0; i < e->pod_set_count; i++) {
        struct sl_pod_set *set = &e->pod_sets[i];
        if (!set->placed || (checks == NULL && set->refined == 0)) {
            continue;
        }
        uint32_t fresh = refined(g, set, checks);
        uint32_t left = fresh; /* where it stays as it was, or there is no mask for more */
        if (fresh != set->refined && set_mask(g, id, i, fresh, now_ms)) {
            left = set->refined;
            set->refined = fresh;
        }
        give(g, left);
    }
}

/* --- the demand ------------------------------------------------------------------------------- */

static enum sl_exclusion exclusion_of(const struct sl_engine *g, uint32_t constraint,
                                      sl_flavor_id flavor)
{
    const struct sl_json *spec = flavor < g->flavor_cap ? g->flavors[flavor].spec : NULL;
    const struct sl_json *value = sl_constraints_value(g, constraint);
    const char *taint;
    if (spec == NULL) {
        return SL_EXCLUDED_MISSING;
    }
    switch (sl_pod_fits_flavor(value, spec, &taint)) {
    case SL_POD_TAINTED:
        return SL_EXCLUDED_TAINT;
    case SL_POD_AFFINITY:
        return SL_EXCLUDED_AFFINITY;
    case SL_POD_FITS:
        break;
    }
    return SL_EXCLUDED_NOT;
}

static void list_exclusions(const struct sl_engine *g, uint32_t constraint,
                            const struct sl_quotas *offered, struct sl_buf *list)
{
    for (uint32_t i = 0; i < offered->group_count; i++) {
        for (uint32_t f = 0; f < offered->groups[i].flavor_count; f++) {
            sl_flavor_id flavor = offered->groups[i].flavors[f];
            enum sl_exclusion why = exclusion_of(g, constraint, flavor);
            if (why != SL_EXCLUDED_NOT) {
                sl_change_list_exclusion(list, flavor, (uint32_t)why);
            }
        }
    }
}

static void list_pod_set(const struct sl_requests *r, struct sl_buf *list)
{
    sl_change_list_pod_set(list, r->pod_count);
    if (r->min_count != r->pod_count) {
        sl_change_list_min_count(list, r->min_count);
    }
    if (r->group != SL_NO_ID) {
        sl_change_list_group(list, r->group);
    }
    sl_change_list_fingerprint(list, r->fingerprint);
    for (uint32_t i = 0; i < r->count; i++) {
        sl_change_list_request(list, r->items[i].resource, r->items[i].per_pod);
    }
}

/* What the demand has already. */
static struct sl_requests known_requests(uint32_t pod_set)
{
    struct sl_requests r = {.pod_count = sl_demand_pod_count(pod_set),
                            .min_count = sl_demand_min_count(pod_set),
                            .group = sl_demand_group(pod_set),
                            .fingerprint = sl_demand_fingerprint(pod_set)};
    for (uint32_t i = sl_demand_first_request(pod_set); i != SL_NO_ID && r.count < SL_REQUESTS_MAX;
         i = sl_demand_next_request(i)) {
        r.items[r.count].resource = sl_demand_resource(i);
        r.items[r.count].per_pod = sl_demand_per_pod(i);
        r.count++;
    }
    return r;
}

/* All of one pod set; false = it cannot be held. */
static bool list_demand(struct sl_engine *g, struct sl_pod_set *set, const struct sl_requests *r,
                        const struct sl_quotas *offered, struct sl_buf *list)
{
    list_pod_set(r, list);
    list_exclusions(g, set->constraint, offered, list);
    return sl_topology_in_list(g, set, r, offered, list);
}

enum sl_status sl_constraints_demand(struct sl_engine *g, sl_workload_id id,
                                     const struct sl_requests *requests, sl_node_id node,
                                     int64_t now_ms)
{
    static const struct sl_quotas nothing = {0};
    const struct sl_workload_entry *e = &g->workloads[id];
    const struct sl_quotas *offered = node == SL_NO_ID ? &nothing : &g->nodes[node]->quotas;
    uint32_t known = sl_demand_first_pod_set(id);
    struct sl_buf list = {0};
    bool held = true;
    for (uint32_t i = 0; i < e->pod_set_count && (requests != NULL || known != SL_NO_ID); i++) {
        if (requests != NULL) {
            held = list_demand(g, &e->pod_sets[i], &requests[i], offered, &list) && held;
        } else {
            struct sl_requests r = known_requests(known);
            held = list_demand(g, &e->pod_sets[i], &r, offered, &list) && held;
            known = sl_demand_next_pod_set(known);
        }
    }
    struct sl_change c = {.kind = SL_CHANGE_DEMAND, .word = {id}, .list = held ? &list : NULL};
    enum sl_status status = SL_FULL_WORKLOADS;
    if (held || requests != NULL) { /* what it asked for before counts no longer */
        enum sl_status answer = sl_change_apply(g, &c, now_ms);
        status = held ? answer : status;
    }
    sl_buf_fini(&list);
    return status;
}
