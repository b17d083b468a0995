/* SPDX-License-Identifier: Apache-2.0
 * SPDX-FileCopyrightText: The Sluice authors */

/* Random lives with topology: whatever comes, cycles come to rest, rooms are what workloads booked,
 * and nobody waits who would fit. */
#include "places_world.h"

#include "kernel/preempt/preempt.h"

enum { QUEUES = 5, LIVING_MAX = 40, STEPS = 400, HOSTS = 4 };

static uint64_t seed;
static sl_qnode_id queues[QUEUES];
static struct pw_tree trees[2];
static sl_workload_id living[LIVING_MAX];
static uint32_t living_count;

static uint32_t roll(uint32_t below)
{
    seed = seed * 6364136223846793005u + 1442695040888963407u;
    return (uint32_t)(seed >> 33) % below;
}

/* Two trees of two racks of two hosts; two cohorts and a queue by itself. */
static void make_world(uint64_t start)
{
    sl_qnode_id cohorts[2] = {fx_node(SL_NO_ID), fx_node(SL_NO_ID)};
    seed = start;
    living_count = 0;
    trees[0] = pw_tree(2, 2, 4);
    trees[1] = pw_tree(2, 2, 4);
    sl_settings.fair_sharing = roll(2) == 0;
    sl_settings.recompute_placement = roll(4) != 0;
    sl_settings.fail_fast = roll(2) == 0;
    for (uint32_t i = 0; i < QUEUES; i++) {
        enum sl_strategy strategy = roll(3) == 0 ? SL_STRICT_FIFO : SL_BEST_EFFORT_FIFO;
        queues[i] = fx_queue(i < 4 ? cohorts[i % 2] : SL_NO_ID, strategy, -1);
        struct sl_rules rules = {strategy, (enum sl_fungibility)roll(2),
                                 (enum sl_fungibility)roll(2), SL_BORROWING_OVER_PREEMPTION, false};
        assert_int_equal(sl_queues_configure(queues[i], rules, true), SL_OK);
        (void)fx_offer(queues[i], trees[0].tree, CPU, 4 + roll(12));
        (void)fx_offer(queues[i], trees[1].tree, CPU, 4 + roll(12));
        struct sl_preempt_policy policy = {(enum sl_preempt_within)roll(3),
                                           (enum sl_preempt_reclaim)roll(3), false, false, 0};
        assert_int_equal(sl_preempt_set_policy(queues[i], policy), SL_OK);
    }
}

static void come(void)
{
    sl_workload_id id = fx_create();
    int64_t cpu = 1 + roll(4);
    fx_pod_set(id, 1 + roll(4), CPU, cpu);
    pw_ask(id, (enum sl_together)(SL_TOGETHER_REQUIRED + (int)roll(2)),
           roll(2) == 0 ? LEVEL_RACK : LEVEL_HOST, cpu);
    fx_attach(id, queues[roll(QUEUES)], (int32_t)roll(3), id);
    living[living_count] = id;
    living_count++;
}

static void go(uint32_t i)
{
    if (sl_workloads[living[i]].phase == SL_PHASE_EVICTED) {
        assert_int_equal(fx_event(living[i], SL_EV_JOB_STOPPED, 0, 0, 0), SL_OK);
        return;
    }
    assert_int_equal(fx_event(living[i], SL_EV_DELETE, 0, 0, 0), SL_OK);
    living_count--;
    living[i] = living[living_count];
}

/* A host goes down for somebody on it, or all are up again. */
static void disturb(void)
{
    struct pw_tree t = trees[roll(2)];
    sl_site_id site = t.first_site + roll(HOSTS);
    int64_t cpu = sl_site_capacity_of(site, MEASURE_CPU) == 0 ? 4 : 0;
    assert_int_equal(sl_site_set_capacity(site, MEASURE_CPU, cpu), SL_OK);
    for (uint32_t i = 0; i < living_count && cpu == 0; i++) {
        if (pw_pods_on(living[i], t, site - t.first_site) != 0) {
            (void)fx_event(living[i], SL_EV_NODE_FAILED, site, 0, 0); /* while it is admitted */
        }
    }
    pw_wake_users(t);
}

/* Cycles until nothing is left to try, second passes that are due included. */
static void settle(void)
{
    uint32_t cycles = 0;
    while (sl_queues_ready() || sl_passes_ready(fx_now)) {
        (void)fx_cycle();
        assert_true(cycles++ < 1000);
    }
    assert_true(sl_topology_valid() && sl_commit_valid() && sl_queues_valid());
    assert_int_equal(sl_assumed_mark(), 0);
}

/* While victims stop and heads hold their queues up, others have to wait. */
static bool all_quiet(void)
{
    for (uint32_t i = 0; i < living_count; i++) {
        if (sl_workloads[living[i]].phase == SL_PHASE_EVICTED ||
            sl_place_of(living[i]) == SL_PLACE_HEAP) {
            return false;
        }
    }
    return true;
}

static void assert_nobody_waits_who_would_fit(void)
{
    for (uint32_t i = 0; i < living_count && all_quiet(); i++) {
        if (sl_place_of(living[i]) == SL_PLACE_INADMISSIBLE &&
            !sl_queues_in_backoff(living[i], fx_now)) {
            sl_flavors_forget(living[i]);
            sl_flavors_assign(living[i], sl_queues_queue_of(living[i]), fx_now);
            assert_int_not_equal(sl_assignment.mode, SL_MODE_FIT);
        }
    }
}

static void live(uint64_t start)
{
    make_world(start);
    for (uint32_t step = 0; step < STEPS; step++) {
        uint32_t what = roll(10);
        if (what < 5 && living_count < LIVING_MAX) {
            come();
        } else if (what < 9 && living_count != 0) {
            go(roll(living_count));
        } else {
            disturb();
        }
        fx_now += 500;
        settle();
        assert_nobody_waits_who_would_fit();
    }
}

/* Every room is free again once all have gone. */
static void leave(void)
{
    while (living_count != 0) {
        go(living_count - 1);
        settle();
    }
    for (uint32_t i = 0; i < 2 * HOSTS; i++) {
        sl_site_id site = trees[i / HOSTS].first_site + i % HOSTS;
        assert_int_equal(sl_site_used_of(site, MEASURE_CPU), 0);
        assert_int_equal(sl_site_promised_of(site, MEASURE_CPU), 0);
    }
}

static void test_life_topology_comes_to_rest_and_nobody_waits_who_would_fit(void **state)
{
    (void)state;
    for (uint64_t start = 1; start <= 20; start++) {
        live(start);
        leave();
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        PW_TEST(test_life_topology_comes_to_rest_and_nobody_waits_who_would_fit),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
