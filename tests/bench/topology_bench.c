/* SPDX-License-Identifier: Apache-2.0
 * SPDX-FileCopyrightText: The Sluice authors */

/* Every measurement builds its own cluster in a child process, since the core's state is file-scope:
 * nodes in racks of 50, racks in blocks of 20, and each node takes eight pods when it is empty. */
#include "tests/bench/topology_bench.h"

#include <stdio.h>
#include <stdlib.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#include "policy/requests/requests.h"
#include "policy/placement/placement.h"
#include "policy/common/settings.h"

enum { TREE = 1, WORKLOAD = 1, RACK_NODES = 50, BLOCK_RACKS = 20, NODE_PODS = 8 };
enum { BLOCK, RACK, HOST, LEVELS };
#define RUNS 101

enum how { PREFERRED, REQUIRED, UNCONSTRAINED, SLICES, BALANCED };
static const char *const how_names[] = {"preferred", "required", "unconstrained", "slices",
                                        "balanced"};

struct scene {
    uint32_t nodes;
    uint32_t measures; /* that a pod asks for, besides itself */
    uint32_t pods;
    uint32_t full_percent; /* of the nodes have no room */
    enum how how;
};

/* A refusal here would make the figures meaningless. */
static void must(enum sl_status status)
{
    if (status != SL_OK) {
        fprintf(stderr, "sluice-bench: the core refused to build the cluster: %d\n", (int)status);
        exit(1);
    }
}

static double now_us(void)
{
    struct timespec t;
    clock_gettime(CLOCK_MONOTONIC, &t);
    return (double)t.tv_sec * 1e6 + (double)t.tv_nsec * 1e-3;
}

/* --- the cluster ------------------------------------------------------------------------------ */

/* Spread without any order, and the same each time. */
static bool is_full(const struct scene *s, uint32_t node)
{
    return (node * 2654435761u >> 16) % 100u < s->full_percent;
}

static void open_qnode(const struct scene *s, uint32_t node, sl_domain_id domain, sl_domain_id rack,
                       sl_domain_id after)
{
    must(sl_trees_open(domain, TREE, rack, after, node));
    for (uint32_t m = 0; m <= s->measures; m++) {
        must(sl_site_set_capacity(node, m, is_full(s, node) ? 0 : NODE_PODS * (m == 0 ? 1 : 10)));
    }
}

static void open_cluster(const struct scene *s)
{
    const struct sl_tree_levels levels = {LEVELS, {BLOCK, RACK, HOST}};
    sl_domain_id next = 0;
    sl_domain_id block = SL_NO_ID;
    sl_domain_id rack = SL_NO_ID;
    sl_domain_id host = SL_NO_ID;
    must(sl_trees_configure(TREE, levels, true));
    for (uint32_t node = 0; node < s->nodes; node++) {
        if (node % (RACK_NODES * BLOCK_RACKS) == 0) {
            must(sl_trees_open(next, TREE, SL_NO_ID, block, SL_NO_ID));
            block = next++;
            rack = SL_NO_ID;
        }
        if (node % RACK_NODES == 0) {
            must(sl_trees_open(next, TREE, block, rack, SL_NO_ID));
            rack = next++;
            host = SL_NO_ID;
        }
        open_qnode(s, node, next, rack, host);
        host = next++;
    }
}

/* --- the question ----------------------------------------------------------------------------- */

static void ask(const struct scene *s)
{
    struct sl_topology_request d = {
        .level = SL_NO_ID, .mask = SL_NO_ID, .rank_group = SL_NO_ID, .asked = true};
    d.together = s->how == REQUIRED        ? SL_TOGETHER_REQUIRED
                 : s->how == UNCONSTRAINED ? SL_TOGETHER_UNCONSTRAINED
                                           : SL_TOGETHER_PREFERRED;
    if (s->how != UNCONSTRAINED) {
        d.level = s->how == REQUIRED || s->how == SLICES ? BLOCK : RACK;
    }
    if (s->how == SLICES) {
        d.layers[0].level = RACK;
        d.layers[0].size = s->pods % 10 == 0 ? 10 : 1;
        d.layer_count = 1;
    }
    for (uint32_t m = 1; m <= s->measures; m++) {
        d.requests[d.request_count].measure = m;
        d.requests[d.request_count].per_pod = 10;
        d.request_count++;
    }
    must(sl_requests_add_pod_set(WORKLOAD, s->pods));
    must(sl_topology_request_set(WORKLOAD, d));
    sl_placement_question.workload = WORKLOAD;
    sl_placement_question.set_count = 1;
    sl_placement_question.sets[0] = (struct sl_placement_set){
        .record = sl_requests_first_pod_set(WORKLOAD), .count = s->pods, .tree = TREE};
}

static int by_time(const void *a, const void *b)
{
    double x = *(const double *)a;
    double y = *(const double *)b;
    return x < y ? -1 : x > y;
}

static void measure(const struct scene *s)
{
    static double times[RUNS];
    bool found = false;
    sl_settings = sl_settings_default();
    sl_settings.balanced_placement = s->how == BALANCED;
    open_cluster(s);
    ask(s);
    (void)sl_placement_find(); /* lays the tree out */
    for (uint32_t i = 0; i < RUNS; i++) {
        double start = now_us();
        found = sl_placement_find();
        times[i] = now_us() - start;
    }
    if (found) {
        must(sl_topology_check());
    }
    qsort(times, RUNS, sizeof times[0], by_time);
    printf("{\"bench\":\"topology\",\"nodes\":%u,\"resources\":%u,\"pods\":%u,\"full_percent\":%u,"
           "\"how\":\"%s\",\"placed\":%s,\"domains\":%u,\"median_us\":%.1f,\"p99_us\":%.1f}\n",
           s->nodes, s->measures, s->pods, s->full_percent, how_names[s->how],
           found ? "true" : "false", sl_topology_plan.row_count, times[RUNS / 2], times[RUNS - 2]);
}

/* --- all of them ------------------------------------------------------------------------------ */

static int run_apart(const struct scene *s)
{
    (void)fflush(stdout);
    pid_t child = fork();
    if (child == 0) {
        measure(s);
        (void)fflush(stdout);
        _exit(0);
    }
    int status = 1;
    if (child < 0 || waitpid(child, &status, 0) < 0 || !WIFEXITED(status) ||
        WEXITSTATUS(status) != 0) {
        fprintf(stderr, "sluice-bench: a measurement of %u nodes failed\n", s->nodes);
        return 1;
    }
    return 0;
}

int sl_bench_topology(void)
{
    static const struct scene scenes[] = {
        /* by nodes */
        {100, 2, 200, 0, PREFERRED},
        {1000, 2, 200, 0, PREFERRED},
        {10000, 2, 200, 0, PREFERRED},
        {100000, 2, 200, 0, PREFERRED},
        {1000, 2, 200, 95, PREFERRED},
        {100000, 2, 200, 95, PREFERRED},
        /* by how */
        {1000, 2, 200, 50, REQUIRED},
        {1000, 2, 200, 50, UNCONSTRAINED},
        {1000, 2, 200, 50, SLICES},
        {100000, 2, 200, 50, REQUIRED},
        {100000, 2, 200, 50, UNCONSTRAINED},
        {100000, 2, 200, 50, SLICES},
        {2500, 2, 200, 0, BALANCED},
        {2500, 2, 200, 50, BALANCED},
        /* by resources */
        {10000, 1, 200, 50, PREFERRED},
        {10000, 8, 200, 50, PREFERRED},
        {10000, 30, 200, 50, PREFERRED},
        /* by pods */
        {10000, 2, 1, 50, PREFERRED},
        {10000, 2, 10, 50, PREFERRED},
        {10000, 2, 1000, 50, PREFERRED},
        {10000, 2, 10000, 50, PREFERRED},
        {10000, 2, 10000, 50, UNCONSTRAINED},
        /* no place: the figures of failure, too */
        {1000, 2, 200, 99, REQUIRED},
        {100000, 2, 10000, 99, REQUIRED},
    };
    for (size_t i = 0; i < sizeof scenes / sizeof scenes[0]; i++) {
        if (run_apart(&scenes[i]) != 0) {
            return 1;
        }
    }
    return 0;
}
