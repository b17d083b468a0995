/* SPDX-License-Identifier: Apache-2.0
 * SPDX-FileCopyrightText: The Sluice authors */

/* Every measurement builds its own world in a child process, since the core's state is file-scope.
 * Only the cycles are timed, and what happens between them (victims stop, the next workload comes)
 * is not. */
#include "tests/bench/cycle_bench.h"

#include <stdio.h>
#include <stdlib.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#include "kernel/commit/commit.h"
#include "kernel/ledger/ledger.h"
#include "kernel/lifecycle/lifecycle.h"
#include "kernel/commit/place.h"
#include "kernel/preempt/preempt.h"
#include "policy/fair/branches.h"
#include "policy/cycle/cycle.h"
#include "policy/requests/requests.h"
#include "policy/flavors/open_cell.h"
#include "policy/queues/queues.h"
#include "policy/common/settings.h"

enum { CPU = 1, FLAVOR = 1 };
#define NOW_MS 1700000000000LL
#define CHEAP (-10) /* the priority of those that may be preempted */

struct world {
    const char *name;
    uint32_t cohorts;
    uint32_t queues; /* in all, spread over the cohorts */
    uint32_t pending;
    uint32_t candidates; /* holders per queue with a preemptor; 0 = nothing is preempted */
    bool fair;
};

static sl_workload_id next_workload;
static sl_qnode_id first_queue;

/* A refusal here would make the figures meaningless. */
static void must(enum sl_status status)
{
    if (status != SL_OK) {
        fprintf(stderr, "sluice-bench: the core refused to build the world: %d\n", (int)status);
        exit(1);
    }
}

static double now_s(void)
{
    struct timespec t;
    clock_gettime(CLOCK_MONOTONIC, &t);
    return (double)t.tv_sec + (double)t.tv_nsec * 1e-9;
}

static sl_qnode_id open_queue(sl_qnode_id node, sl_qnode_id cohort, int64_t quota, bool preempts)
{
    sl_cell_id cell = SL_NO_ID;
    struct sl_rules rules = {.strategy = SL_BEST_EFFORT_FIFO,
                             .when_can_preempt = SL_TRY_NEXT_FLAVOR};
    struct sl_preempt_policy policy = {.within = SL_WITHIN_LOWER_PRIORITY,
                                       .reclaim = SL_RECLAIM_ANY};
    must(sl_ledger_open_qnode(node));
    must(sl_ledger_move_qnode(node, cohort));
    sl_branches_follow(node);
    must(sl_queues_configure(node, rules, true));
    must(sl_ledger_open_cell(node, FLAVOR, CPU, &cell));
    must(sl_ledger_set_quota(cell, quota, SL_AMOUNT_UNLIMITED, SL_AMOUNT_UNLIMITED));
    must(sl_offers_add(node, 0, cell));
    if (preempts) {
        must(sl_preempt_set_policy(node, policy));
    }
    return node;
}

static sl_workload_id submit(sl_qnode_id queue, int32_t priority, int64_t cpu)
{
    sl_workload_id id = next_workload++;
    struct sl_event ev = {.kind = SL_EV_CREATE,
                          .workload = id,
                          .generation = sl_workloads[id].generation,
                          .now_ms = NOW_MS};
    struct sl_order_key key = {priority, NOW_MS + (int64_t)id, 0, id};
    must(sl_commit_event(ev));
    must(sl_requests_add_pod_set(id, 1));
    must(sl_requests_add(id, CPU, cpu));
    must(sl_queues_attach(id, queue, key));
    sl_queues_settle(id, NOW_MS);
    return id;
}

/* One cycle; how many workloads got quota or victims. */
static uint32_t cycle(void)
{
    uint32_t decided = 0;
    (void)sl_cycle_begin(NOW_MS);
    while (sl_cycle_next()) {
        decided += sl_cycle_outcome.result == SL_CYCLE_RESERVED || sl_cycle_evicted.count != 0;
    }
    (void)sl_cycle_end();
    return decided;
}

/* --- the world ------------------------------------------------------------------------------- */

static void build_queues(const struct world *w)
{
    int64_t quota = w->candidates != 0 ? (int64_t)w->candidates : SL_AMOUNT_MAX / 4096;
    for (uint32_t c = 0; c < w->cohorts; c++) {
        must(sl_ledger_open_qnode(c));
    }
    first_queue = w->cohorts;
    for (uint32_t q = 0; q < w->queues; q++) {
        (void)open_queue(first_queue + q, q % w->cohorts, quota, w->candidates != 0);
    }
}

/* Under fair sharing the first queue of each cohort is to be full of what it borrowed, so that the
 * others have somebody to take from; else each is full of its own. */
static void fill_with_candidates(const struct world *w)
{
    for (uint32_t q = 0; q < w->queues; q++) {
        uint32_t target = w->fair ? q % w->cohorts : q;
        for (uint32_t i = 0; i < w->candidates; i++) {
            (void)submit(first_queue + target, CHEAP, 1);
        }
    }
    while (cycle() != 0) {
    }
}

static void submit_pending(const struct world *w)
{
    for (uint32_t i = 0; i < w->pending; i++) {
        (void)submit(first_queue + i % w->queues, 0,
                     w->candidates != 0 ? (int64_t)w->candidates / 2 : 1);
    }
}

/* --- one measurement ------------------------------------------------------------------------- */

static void report(const struct world *w, uint32_t decided, double elapsed_s)
{
    printf("{\"bench\": \"%s\", \"cohorts\": %u, \"clusterQueues\": %u, \"pending\": %u, "
           "\"candidates\": %u, \"fairSharing\": %s, \"decisions\": %u, \"decisionsPerSecond\": "
           "%.0f, \"microsecondsPerDecision\": %.2f}\n",
           w->name, w->cohorts, w->queues, w->pending, w->candidates, w->fair ? "true" : "false",
           decided, decided / elapsed_s, elapsed_s * 1e6 / decided);
    fflush(stdout);
}

/* Admissions: cycles until the time is up or nobody is pending. */
static void measure_plain(const struct world *w)
{
    uint32_t decided = 0;
    double start_s = now_s();
    while (decided < w->pending && now_s() - start_s < 1.0) {
        uint32_t more = cycle();
        decided += more;
        if (more == 0) {
            break;
        }
    }
    report(w, decided, now_s() - start_s);
}

/* Plans: one cycle, in which each queue that can preempts. */
static void measure_preemption(const struct world *w)
{
    double start_s = now_s();
    uint32_t decided = cycle();
    report(w, decided, now_s() - start_s);
}

static int run(const struct world *w)
{
    sl_settings = sl_settings_default();
    sl_settings.fair_sharing = w->fair;
    build_queues(w);
    fill_with_candidates(w);
    submit_pending(w);
    if (w->candidates != 0) {
        measure_preemption(w);
    } else {
        measure_plain(w);
    }
    return 0;
}

static int run_in_child(const struct world *w)
{
    pid_t child = fork();
    int status = 1;
    if (child == 0) {
        exit(run(w));
    }
    if (child < 0 || waitpid(child, &status, 0) != child) {
        return 1;
    }
    return WIFEXITED(status) && WEXITSTATUS(status) == 0 ? 0 : 1;
}

int sl_bench_cycle(void)
{
    static const struct world worlds[] = {
        {"admit", 1, 10, 100, 0, false},        {"admit", 1, 10, 10000, 0, false},
        {"admit", 1, 10, 1000000, 0, false},    {"admit", 10, 100, 100000, 0, false},
        {"admit", 200, 2000, 100000, 0, false}, {"admit", 200, 2000, 1000000, 0, false},
        {"admit", 10, 100, 100000, 0, true},    {"admit", 200, 2000, 100000, 0, true},
        {"preempt", 1, 1, 1, 100, false},       {"preempt", 200, 200, 200, 10, false},
        {"preempt", 200, 200, 200, 100, false}, {"preempt", 200, 200, 200, 1000, false},
        {"preempt", 20, 200, 200, 100, false},  {"preempt", 200, 400, 400, 10, true},
        {"preempt", 200, 400, 400, 100, true},  {"preempt", 100, 200, 200, 1000, true},
    };
    int failed = 0;
    for (size_t i = 0; i < sizeof worlds / sizeof worlds[0]; i++) {
        failed |= run_in_child(&worlds[i]);
    }
    return failed;
}
