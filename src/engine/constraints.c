/* SPDX-License-Identifier: Apache-2.0
 * SPDX-FileCopyrightText: The Sluice authors */

/* A counted table of constraints, keyed by their JSON text; number 0 is "none at all" and never
 * freed. */
#include "engine/constraints.h"
#include "base/check.h"
#include "base/mem.h"
#include "engine/change.h"
#include "engine/pod.h"
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

static void give(struct sl_constraints *t, uint32_t number)
{
    if (number == 0) {
        return;
    }
    struct constraint *c = &t->items[number - 1];
    SL_ASSERT(c->user_count > 0);
    if (--c->user_count == 0) {
        (void)sl_map_remove(t->numbers, c->key, NULL);
        sl_mem_free(c->key);
        sl_json_free(c->value);
        *c = (struct constraint){.next_free = t->first_free};
        t->first_free = number - 1;
    }
}

void sl_constraints_release(struct sl_engine *g, struct sl_workload_entry *e)
{
    for (uint32_t i = 0; i < e->pod_set_count; i++) {
        give(g->constraints, e->pod_sets[i].constraint);
        sl_mem_free(e->pod_sets[i].name);
    }
    sl_mem_free(e->pod_sets);
    e->pod_sets = NULL;
    e->pod_set_count = 0;
}

void sl_constraints_take(struct sl_engine *g, struct sl_workload_entry *e,
                         const struct sl_json *workload)
{
    const struct sl_json *list = sl_json_path(workload, "spec.podSets");
    sl_constraints_release(g, e);
    e->pod_set_count = (uint32_t)sl_json_len(list);
    e->pod_sets = sl_mem_new(e->pod_set_count + 1u, sizeof *e->pod_sets);
    for (uint32_t i = 0; i < e->pod_set_count; i++) {
        const struct sl_json *item = sl_json_at(list, i);
        e->pod_sets[i].name = sl_mem_text(sl_json_path_text(item, "name", "main"));
        e->pod_sets[i].constraint =
            take(g->constraints, sl_pod_constraint_new(sl_json_path(item, "template.spec")));
    }
}

/* --- the demand ------------------------------------------------------------------------------- */

static enum sl_exclusion exclusion_of(const struct sl_engine *g, uint32_t constraint,
                                      sl_flavor_id flavor)
{
    const struct sl_json *spec = flavor < g->flavor_cap ? g->flavors[flavor].spec : NULL;
    const struct sl_json *value =
        constraint == 0 ? NULL : g->constraints->items[constraint - 1].value;
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
    for (uint32_t i = 0; i < r->count; i++) {
        sl_change_list_request(list, r->items[i].resource, r->items[i].per_pod);
    }
}

/* What the demand has already. */
static struct sl_requests known_requests(uint32_t pod_set)
{
    struct sl_requests r = {.pod_count = sl_demand_pod_count(pod_set),
                            .min_count = sl_demand_min_count(pod_set),
                            .group = sl_demand_group(pod_set)};
    for (uint32_t i = sl_demand_first_request(pod_set); i != SL_NO_ID && r.count < SL_REQUESTS_MAX;
         i = sl_demand_next_request(i)) {
        r.items[r.count].resource = sl_demand_resource(i);
        r.items[r.count].per_pod = sl_demand_per_pod(i);
        r.count++;
    }
    return r;
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
    for (uint32_t i = 0; i < e->pod_set_count && (requests != NULL || known != SL_NO_ID); i++) {
        if (requests != NULL) {
            list_pod_set(&requests[i], &list);
        } else {
            struct sl_requests r = known_requests(known);
            list_pod_set(&r, &list);
            known = sl_demand_next_pod_set(known);
        }
        list_exclusions(g, e->pod_sets[i].constraint, offered, &list);
    }
    struct sl_change c = {.kind = SL_CHANGE_DEMAND, .word = {id}, .list = &list};
    enum sl_status status = sl_change_apply(g, &c, now_ms);
    sl_buf_fini(&list);
    return status;
}
