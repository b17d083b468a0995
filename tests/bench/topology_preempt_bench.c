/* SPDX-License-Identifier: Apache-2.0
 * SPDX-FileCopyrightText: The Sluice authors */

/* Preemption with topology: a cluster that workloads of low priority fill to the last pod, and one of high
 * priority that must have its pods in one group of nodes. Measured: the whole cycle that finds the victims, checks
 * and evicts them, in a child process each time, since the core's state is file-scope. */
#include <stdio.h>
#include <stdlib.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#include "kernel/base/order.h"
#include "kernel/commit/placement.h"
#include "kernel/preempt/preempt.h"
#include "policy/fair/branches.h"
#include "policy/cycle/cycle.h"
#include "policy/requests/requests.h"
#include "policy/flavors/open_cell.h"
#include "policy/queues/queues.h"
#include "policy/common/settings.h"
#include "policy/requests/topology_request.h"
#include "tests/bench/topology_bench.h"

#define NOW_MS 1000
enum { TREE = 1, QUEUE = 1, NODE_PODS = 8, GROUP = 0, HOST = 1, LEVELS = 2, RUNS = 11 };

struct scene {
    uint32_t nodes;
    uint32_t groups;
    uint32_t candidates; /* that fill the cluster; each stands in one group as far as it can */
    uint32_t pods;       /* of the one that preempts */
    uint32_t measures;   /* that a pod asks for, besides itself */
};

static sl_workload_id next_workload;

/* A refusal here would make the figures meaningless. */
static void must(enum sl_status status)
{
    if (status != SL_OK) {
        fprintf(stderr, "sluice-bench: the core refused to build the cluster: %d\n", (int)status);
        exit(1);
    }
}

static double now_ms(void)
{
    struct timespec t;
    clock_gettime(CLOCK_MONOTONIC, &t);
    return (double)t.tv_sec * 1e3 + (double)t.tv_nsec * 1e-6;
}

static void open_queue(const struct scene *s)
{
    struct sl_rules rules = {.strategy = SL_BEST_EFFORT_FIFO};
    struct sl_preempt_policy policy = {.within = SL_WITHIN_LOWER_PRIORITY};
    must(sl_ledger_open_qnode(QUEUE));
    sl_branches_follow(QUEUE);
    must(sl_queues_configure(QUEUE, rules, true));
    must(sl_preempt_set_policy(QUEUE, policy));
    for (uint32_t m = 1; m <= s->measures; m++) {
        sl_cell_id cell = SL_NO_ID;
        must(sl_ledger_open_cell(QUEUE, TREE, m, &cell));
        must(sl_ledger_set_quota(cell, SL_AMOUNT_MAX / 4096, SL_AMOUNT_UNLIMITED,
                                 SL_AMOUNT_UNLIMITED));
        must(sl_offers_add(QUEUE, 0, cell));
        sl_offers_set_measure(m, m);
    }
}

static void open_cluster(const struct scene *s)
{
    const struct sl_tree_levels levels = {LEVELS, {GROUP, HOST}};
    sl_domain_id next = 0;
    sl_domain_id group = SL_NO_ID;
    sl_domain_id host = SL_NO_ID;
    must(sl_trees_configure(TREE, levels, true));
    for (uint32_t node = 0; node < s->nodes; node++) {
        if (node % (s->nodes / s->groups) == 0) {
            must(sl_trees_open(next, TREE, SL_NO_ID, group, SL_NO_ID));
            group = next++;
            host = SL_NO_ID;
        }
        must(sl_trees_open(next, TREE, group, host, node));
        host = next++;
        for (uint32_t m = 0; m <= s->measures; m++) {
            must(sl_site_set_capacity(node, m, m == 0 ? NODE_PODS : NODE_PODS * 10));
        }
    }
}

static sl_workload_id submit(const struct scene *s, int32_t priority, uint32_t pods)
{
    sl_workload_id id = next_workload++;
    struct sl_event ev = {.kind = SL_EV_CREATE, .workload = id, .now_ms = NOW_MS};
    struct sl_order_key key = {priority, NOW_MS + (int64_t)id, 0, id};
    struct sl_topology_request d = {
        .level = GROUP, .mask = SL_NO_ID, .rank_group = SL_NO_ID, .asked = true};
    d.together = priority > 0 ? SL_TOGETHER_REQUIRED : SL_TOGETHER_PREFERRED;
    ev.generation = sl_workloads[id].generation;
    must(sl_placement_event(ev));
    must(sl_requests_add_pod_set(id, pods));
    for (uint32_t m = 1; m <= s->measures; m++) {
        if (m <= SL_REQUESTS_MAX) { /* more are counted on nodes only */
            must(sl_requests_add(id, m, 10));
        }
        d.requests[d.request_count++] = (struct sl_measure_amount){m, 10};
    }
    must(sl_topology_request_set(id, d));
    must(sl_queues_attach(id, QUEUE, key));
    sl_queues_settle(id, NOW_MS);
    return id;
}

/* One cycle; how many victims were told to go. */
static uint32_t cycle(uint32_t *reserved)
{
    uint32_t victims = 0;
    (void)sl_cycle_begin(NOW_MS);
    while (sl_cycle_next()) {
        *reserved += sl_cycle_outcome.result == SL_CYCLE_RESERVED;
        victims += sl_cycle_evicted.count;
    }
    (void)sl_cycle_end();
    return victims;
}

/* Every candidate gets its share of the pods, so that nothing is left. */
static void fill(const struct scene *s)
{
    uint32_t left = s->nodes * NODE_PODS;
    uint32_t reserved = 0;
    for (uint32_t i = 0; i < s->candidates; i++) {
        uint32_t pods = left / (s->candidates - i);
        (void)submit(s, -1, pods);
        left -= pods;
        (void)cycle(&reserved);
    }
    if (reserved != s->candidates) {
        fprintf(stderr, "sluice-bench: only %u of %u candidates found a place\n", reserved,
                s->candidates);
        exit(1);
    }
}

/* In a child, which shares the cluster that stands: the time of one preempting cycle, and its victims. */
static void preempt(const struct scene *s, int out)
{
    double figures[2];
    uint32_t reserved = 0;
    (void)submit(s, 5, s->pods);
    double start = now_ms();
    uint32_t victims = cycle(&reserved);
    figures[0] = now_ms() - start;
    figures[1] = victims;
    _exit(write(out, figures, sizeof figures) == (ssize_t)sizeof figures ? 0 : 1);
}

static int by_time(const void *a, const void *b)
{
    double x = *(const double *)a;
    double y = *(const double *)b;
    return x < y ? -1 : x > y;
}

static void measure(const struct scene *s)
{
    double times[RUNS];
    double figures[2] = {0, 0};
    int ends[2];
    sl_settings = sl_settings_default();
    open_queue(s);
    open_cluster(s);
    fill(s);
    for (uint32_t i = 0; i < RUNS; i++) {
        if (pipe(ends) != 0) {
            exit(1);
        }
        pid_t child = fork();
        if (child == 0) {
            preempt(s, ends[1]);
        }
        (void)close(ends[1]);
        if (child < 0 || read(ends[0], figures, sizeof figures) != (ssize_t)sizeof figures) {
            exit(1);
        }
        (void)close(ends[0]);
        (void)waitpid(child, NULL, 0);
        times[i] = figures[0];
    }
    qsort(times, RUNS, sizeof times[0], by_time);
    printf("{\"bench\": \"topology-preempt\", \"nodes\": %u, \"groups\": %u, \"candidates\": %u, "
           "\"pods\": %u, "
           "\"resources\": %u, \"victims\": %.0f, \"millisecondsMedian\": %.2f, "
           "\"millisecondsWorst\": %.2f}\n",
           s->nodes, s->groups, s->candidates, s->pods, s->measures, figures[1], times[RUNS / 2],
           times[RUNS - 1]);
}

int sl_bench_topology_preempt(void)
{
    static const struct scene scenes[] = {
        {1000, 8, 100, 200, 30}, {1000, 8, 1000, 200, 30}, {1000, 8, 100, 200, 2},
        {2000, 8, 700, 200, 2},  {2000, 8, 700, 200, 30},  {2000, 40, 700, 200, 2},
    };
    for (size_t i = 0; i < sizeof scenes / sizeof scenes[0]; i++) {
        (void)fflush(stdout);
        pid_t child = fork();
        if (child == 0) {
            measure(&scenes[i]);
            (void)fflush(stdout);
            _exit(0);
        }
        int status = 1;
        if (child < 0 || waitpid(child, &status, 0) < 0 || !WIFEXITED(status) ||
            WEXITSTATUS(status) != 0) {
            fprintf(stderr, "sluice-bench: a measurement of %u nodes failed\n", scenes[i].nodes);
            return 1;
        }
    }
    return 0;
}
