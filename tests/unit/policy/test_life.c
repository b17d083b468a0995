/* SPDX-License-Identifier: Apache-2.0
 * SPDX-FileCopyrightText: The Sluice authors */

/* Random life of a cohort tree: after every step all checkers hold, and whenever the policy has
 * come to rest nobody waits who could be served: when everybody is tried afresh nobody finds a
 * place. */
#include "fixture.h"

#include "kernel/preempt/preempt.h"

#define QUEUES 6
#define LIVES 120

static uint32_t random_state;
static bool preempting; /* queues have policies, and settings are drawn */
static sl_qnode_id queues[QUEUES];
static sl_workload_id ids[LIVES];

static uint32_t draw(uint32_t below)
{
    random_state = random_state * 1664525u + 1013904223u;
    return (random_state >> 8) % below;
}

/* Gates and fair sharing as they come. */
static void draw_settings(void)
{
    sl_settings.fair_sharing = draw(2) != 0;
    sl_settings.equivalence_hashing = draw(3) != 0;
    sl_settings.recompute_on_overlap = draw(3) != 0;
    sl_settings.preserve_scan_progress = draw(3) != 0;
    sl_settings.flavor_fungibility = draw(4) != 0;
    sl_settings.prioritize_preemptors = draw(2) != 0;
    sl_settings.priority_sorting_within_cohort = draw(3) != 0;
}

static void draw_policy(sl_qnode_id queue)
{
    struct sl_preempt_policy policy = {(enum sl_preempt_within)draw(3),
                                       (enum sl_preempt_reclaim)draw(3), draw(3) == 0, false, 0};
    if (policy.reclaim == SL_RECLAIM_NEVER) {
        policy.borrow_within = false;
    }
    assert_int_equal(sl_preempt_set_policy(queue, policy), SL_OK);
}

static void build(void)
{
    if (preempting) {
        draw_settings();
    }
    sl_qnode_id root = fx_node(SL_NO_ID);
    sl_qnode_id left = fx_node(root);
    (void)fx_quota(root, SPOT, CPU, 4, SL_AMOUNT_UNLIMITED);
    for (int i = 0; i < QUEUES; i++) {
        sl_qnode_id parent = i < 2 ? left : i < 4 ? root : SL_NO_ID;
        queues[i] = fx_queue(parent, i % 2 ? SL_STRICT_FIFO : SL_BEST_EFFORT_FIFO, 5 + i);
        (void)fx_offer(queues[i], ON_DEMAND, CPU, 2);
        if (preempting) {
            draw_policy(queues[i]);
        }
    }
    for (int i = 0; i < LIVES; i++) {
        ids[i] = SL_NO_ID;
    }
}

static void request(sl_workload_id id)
{
    sl_requests_clear(id);
    fx_pod_set(id, 1 + draw(2), CPU, draw(5));
    if (draw(4) == 0) {
        assert_int_equal(sl_requests_add_exclusion(id, SPOT, SL_EXCLUDED_TAINT), SL_OK);
    }
}

static void live(int i)
{
    sl_workload_id id = ids[i];
    if (id == SL_NO_ID || sl_place_of(id) == SL_PLACE_NONE) {
        ids[i] = fx_create();
        request(ids[i]);
        fx_attach(ids[i], queues[draw(QUEUES)], (int32_t)draw(3), (int64_t)draw(5));
        return;
    }
    switch (draw(9)) {
    case 0:
        (void)fx_event(id, SL_EV_FINISH, 0, 1, 0);
        break;
    case 1:
    case 2:
        (void)fx_event(id, SL_EV_DELETE, 0, 0, 0);
        break;
    case 3:
        (void)fx_event(id, draw(2) ? SL_EV_GATE : SL_EV_UNGATE, 0, 0, 0);
        break;
    case 4:
        (void)fx_event(id, draw(2) ? SL_EV_DEACTIVATE : SL_EV_REACTIVATE, 0, 0, 0);
        break;
    case 5:
        (void)fx_event(id, SL_EV_PREEMPT, 0, 1, 0);
        (void)fx_event(id, SL_EV_JOB_STOPPED, 0, 0, 0);
        break;
    case 6:
        sl_queues_set_key(id, fx_key((int32_t)draw(3), (int64_t)draw(5), draw(3)));
        break;
    case 7:
        if (sl_workloads[id].phase == SL_PHASE_PENDING) {
            request(id);
            sl_queues_retry(id, fx_now);
        }
        break;
    default:
        if (sl_workloads[id].phase == SL_PHASE_PENDING) {
            fx_attach(id, queues[draw(QUEUES)], (int32_t)draw(3), (int64_t)draw(5));
        }
        break;
    }
}

/* At rest nobody waits who would be served: with everybody tried afresh nobody is. */
static void assert_nobody_waits_in_vain(void)
{
    for (int q = 0; q < QUEUES; q++) {
        sl_queues_wake_tree(queues[q]);
    }
    assert_int_equal(fx_rest(), 0);
}

static void assert_nobody_lost(void)
{
    uint32_t in_line = 0;
    for (int q = 0; q < QUEUES; q++) {
        in_line += sl_queues_heap_count(queues[q]) + sl_queues_parked_count(queues[q]);
    }
    for (int i = 0; i < LIVES; i++) {
        enum sl_place place = ids[i] == SL_NO_ID ? SL_PLACE_NONE : sl_place_of(ids[i]);
        in_line -= place == SL_PLACE_HEAP || place == SL_PLACE_INADMISSIBLE ? 1u : 0u;
        assert_true(place != SL_PLACE_IN_FLIGHT);
    }
    assert_int_equal(in_line, 0);
    assert_true(sl_queues_valid());
}

/* The administrator changes a queue's strategy, or stops and starts it. */
static void administrate(void)
{
    struct sl_rules rules = {.strategy = draw(2) ? SL_STRICT_FIFO : SL_BEST_EFFORT_FIFO};
    assert_int_equal(sl_queues_configure(queues[draw(QUEUES)], rules, draw(8) != 0), SL_OK);
}

/* Everybody who is being evicted stops; how many. */
static uint32_t stop_evicted(void)
{
    uint32_t stopped = 0;
    for (int i = 0; i < LIVES; i++) {
        if (ids[i] != SL_NO_ID && sl_workloads[ids[i]].phase == SL_PHASE_EVICTED) {
            assert_int_equal(fx_event(ids[i], SL_EV_JOB_STOPPED, 0, 0, 0), SL_OK);
            stopped++;
        }
    }
    return stopped;
}

/* Where preemptors go first, and nobody's share counts, evictions come to an end. (Otherwise two
 * may evict each other for ever, as in Kueue: one gets back what the other waits for.) */
static uint32_t preempt_to_the_end(void)
{
    uint32_t served = fx_rest();
    for (int round = 0; stop_evicted() != 0; round++) {
        served += fx_rest();
        if (!sl_settings.prioritize_preemptors || sl_settings.fair_sharing) {
            return served;
        }
        assert_true(round < 1000);
    }
    return served;
}

static uint32_t run(uint32_t seed)
{
    uint32_t served = 0;
    random_state = seed;
    build();
    for (int step = 0; step < 4000; step++) {
        live((int)draw(LIVES));
        if (draw(3) == 0) {
            served += fx_cycle();
        }
        if (draw(40) == 0) {
            administrate();
        }
        assert_nobody_lost();
        if (draw(10) == 0) {
            served += preempting ? preempt_to_the_end() : fx_rest();
            if (!preempting) {
                assert_nobody_waits_in_vain();
            }
        }
    }
    return served;
}

static void test_policy_random_life_loses_nobody_and_lets_nobody_wait_in_vain(void **state)
{
    for (uint32_t seed = 1; seed <= 8; seed++) {
        assert_true(run(seed) > 100);
        assert_int_equal(fx_teardown(state), 0);
    }
}

static void test_policy_random_preemption_does_not_spin_and_loses_nobody(void **state)
{
    preempting = true;
    for (uint32_t seed = 101; seed <= 112; seed++) {
        assert_true(run(seed) > 100);
        assert_int_equal(fx_teardown(state), 0);
    }
    preempting = false;
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        FX_TEST(test_policy_random_life_loses_nobody_and_lets_nobody_wait_in_vain),
        FX_TEST(test_policy_random_preemption_does_not_spin_and_loses_nobody),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
