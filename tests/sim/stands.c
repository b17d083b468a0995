/* SPDX-License-Identifier: Apache-2.0
 * SPDX-FileCopyrightText: The Sluice authors */

/* Where pods stand, from outside: what the Workloads in the store say, whose jobs have not been told to have stopped.
 * Nobody is put on a node beyond what that node ever had. Not asked any more once a Topology or a flavor was deleted:
 * what stands in a topology that is missing is in nobody's way until it is back. */
#include "api/objects/quantity.h"
#include "api/objects/topology_assignment.h"
#include "base/mem.h"
#include "sim.h"
#include <stdio.h>
#include <string.h>

static struct sl_map *assignments; /* workload -> { node: { "pods", "milli" } } */
static struct sl_map *nodes;       /* name -> { "pods", "milli" }: the most that it ever had */
static bool is_blind;
static bool
    has_replicas; /* then writes go side by side, and replica_check.c judges how long an excess lasts */

static void free_json(void *value)
{
    sl_json_free(value);
}

/* In thousandths. */
static int64_t amount_of(const struct sl_json *quantities, const char *resource)
{
    struct sl_quantity q;
    const struct sl_json *v = sl_json_get(quantities, resource);
    return v != NULL && sl_quantity_read(v, &q, NULL) == SL_CODE_OK ? sl_quantity_milli(q) : 0;
}

static void add(struct sl_json *map, const char *node, int64_t pods, int64_t milli)
{
    struct sl_json *sum = sl_json_get(map, node);
    if (sum == NULL) {
        sum = sl_json_new_map();
        sl_json_set(map, node, sum);
    }
    sl_json_set_int(sum, "pods", sl_json_path_int(sum, "pods", 0) + pods);
    sl_json_set_int(sum, "milli", sl_json_path_int(sum, "milli", 0) + milli);
}

static int64_t milli_of_pod(const struct sl_json *w, const char *pod_set)
{
    const struct sl_json *sets = sl_json_path(w, "spec.podSets");
    for (size_t i = 0; i < sl_json_len(sets); i++) {
        const struct sl_json *set = sl_json_at(sets, i);
        if (strcmp(sl_json_path_text(set, "name", ""), pod_set) == 0) {
            return amount_of(sl_json_path(set, "template.spec.containers.0.resources.requests"),
                             "cpu");
        }
    }
    return 0;
}

/* By node; empty when its job has stopped. */
static struct sl_json *stands_of(const struct sl_json *w)
{
    struct sl_json *out = sl_json_new_map();
    const struct sl_json *sets = sl_json_path(w, "status.admission.podSetAssignments");
    if (sl_condition_true(w, "Finished") || !sl_condition_true(w, "QuotaReserved")) {
        return out;
    }
    for (size_t i = 0; i < sl_json_len(sets); i++) {
        const struct sl_json *set = sl_json_at(sets, i);
        const struct sl_json *assignment = sl_json_get(set, "topologyAssignment");
        int64_t milli = milli_of_pod(w, sl_json_path_text(set, "name", ""));
        struct sl_assignment_reader r;
        sl_assignment_reader_start(&r, assignment);
        while (assignment != NULL && sl_assignment_reader_next(&r)) {
            add(out, r.values[r.level_count - 1], r.count, milli * r.count);
        }
    }
    return out;
}

static int64_t in_all(const char *node, const char *what)
{
    int64_t sum = 0;
    size_t cursor = 0;
    const char *key;
    union sl_map_value value;
    while (sl_map_next(assignments, &cursor, &key, &value)) {
        sum += sl_json_path_int(sl_json_get(value.pointer, node), what, 0);
    }
    return sum;
}

static void say_who(const char *node, const char *what)
{
    size_t cursor = 0;
    const char *key;
    union sl_map_value value;
    while (sl_map_next(assignments, &cursor, &key, &value)) {
        int64_t amount = sl_json_path_int(sl_json_get(value.pointer, node), what, 0);
        if (amount > 0) {
            sim_story_tell("stands", "%s on node %s: %s %lld", key, node, what, (long long)amount);
        }
    }
}

static void check(const char *w, const char *node, const char *what, int64_t more)
{
    union sl_map_value most;
    int64_t sum = in_all(node, what);
    if (!is_blind && !has_replicas && more > 0 && sl_map_get(nodes, node, &most) &&
        sum > sl_json_path_int(most.pointer, what, 0)) {
        say_who(node, what);
        sim_story_violation(
            "%s was put on node %s: %s there now %lld, and it never had more than %lld", w, node,
            what, (long long)sum, (long long)sl_json_path_int(most.pointer, what, 0));
    }
}

void sim_placed_see(const struct sl_json *w, bool gone)
{
    char key[600];
    union sl_map_value before = {.pointer = NULL};
    struct sl_json *now = gone ? sl_json_new_map() : stands_of(w);
    (void)snprintf(key, sizeof key, "%s/%s", sl_object_namespace(w), sl_object_name(w));
    (void)sl_map_remove(assignments, key, &before);
    sl_map_put(assignments, key, (union sl_map_value){.pointer = now});
    void *it = NULL;
    const char *node;
    struct sl_json *sum;
    while (sl_json_next(now, &it, &node, &sum)) {
        const struct sl_json *had = sl_json_get(before.pointer, node);
        check(key, node, "pods",
              sl_json_path_int(sum, "pods", 0) - sl_json_path_int(had, "pods", 0));
        check(key, node, "milli",
              sl_json_path_int(sum, "milli", 0) - sl_json_path_int(had, "milli", 0));
    }
    sl_json_free(before.pointer);
}

bool sim_placed_exceeded(struct sl_buf *where)
{
    static const char *const measures[] = {"pods", "milli"};
    size_t cursor = 0;
    const char *node;
    union sl_map_value most;
    while (!is_blind && sl_map_next(nodes, &cursor, &node, &most)) {
        for (size_t i = 0; i < 2; i++) {
            int64_t sum = in_all(node, measures[i]);
            int64_t bound = sl_json_path_int(most.pointer, measures[i], 0);
            if (sum > bound) {
                sl_buf_print(where, "node %s has %s %lld, and never had more than %lld", node,
                             measures[i], (long long)sum, (long long)bound);
                return true;
            }
        }
    }
    return false;
}

static void see_node(const struct sl_json *node)
{
    union sl_map_value most;
    const struct sl_json *has = sl_json_path(node, "status.allocatable");
    if (!sl_map_get(nodes, sl_object_name(node), &most)) {
        most.pointer = sl_json_new_map();
        sl_map_put(nodes, sl_object_name(node), most);
    }
    int64_t milli = amount_of(has, "cpu");
    int64_t pods = amount_of(has, "pods") / 1000;
    if (milli > sl_json_path_int(most.pointer, "milli", 0)) {
        sl_json_set_int(most.pointer, "milli", milli);
    }
    if (pods > sl_json_path_int(most.pointer, "pods", 0)) {
        sl_json_set_int(most.pointer, "pods", pods);
    }
}

static void on_place(void *context, enum sl_watch_type type, enum sl_kind kind,
                     struct sl_json *object)
{
    (void)context;
    if (type == SL_WATCH_SYNCED) {
        return;
    }
    if (kind == SL_KIND_NODE) {
        see_node(object);
    } else {
        is_blind = is_blind || type == SL_WATCH_DELETED;
    }
}

/* What there was before. A commit whose end nobody has heard of may have been one: no watch tells of that. */
static void see_those_there(struct sim *s)
{
    struct sl_json *there = sim_list(s, SL_KIND_NODE);
    struct sl_json *list = sim_list(s, SL_KIND_WORKLOAD);
    bool was_blind = is_blind;
    for (size_t i = 0; i < sl_json_len(there); i++) {
        see_node(sl_json_at(there, i));
    }
    is_blind = true;
    for (size_t i = 0; i < sl_json_len(list); i++) {
        sim_placed_see(sl_json_at(list, i), false);
    }
    is_blind = was_blind;
    sl_json_free(list);
    sl_json_free(there);
}

void sim_placed_begin(struct sim *s)
{
    static const enum sl_kind kinds[] = {SL_KIND_NODE, SL_KIND_TOPOLOGY, SL_KIND_RESOURCE_FLAVOR};
    static uint64_t watches[sizeof kinds / sizeof kinds[0]];
    nodes = nodes == NULL ? sl_map_new() : nodes;
    has_replicas = s->replicas != NULL;
    if (assignments != NULL) {
        sl_map_free_with(assignments, free_json);
    }
    assignments = sl_map_new();
    for (size_t i = 0; i < sizeof kinds / sizeof kinds[0]; i++) {
        (void)sl_store_watch(s->store, kinds[i], sl_store_durable(s->store), on_place, s,
                             &watches[i], NULL);
    }
    see_those_there(s);
}

void sim_placed_end(void)
{
    sl_map_free_with(assignments, free_json);
    sl_map_free_with(nodes, free_json);
    assignments = NULL;
    nodes = NULL;
}
