/* SPDX-License-Identifier: Apache-2.0
 * SPDX-FileCopyrightText: The Sluice authors */

/* Random life of a cohort tree: after every step all checkers hold, and whenever the policy has
 * come to rest nobody waits who could be served: whoever would be tried, tried afresh, finds no
 * place. */
#include "fixture.h"

#include "policy/turns.h"

#define QUEUES 6
#define LIVES 120

static uint32_t random_state;
static sl_node_id queues[QUEUES];
static sl_workload_id ids[LIVES];

static uint32_t draw(uint32_t below)
{
    random_state = random_state * 1664525u + 1013904223u;
    return (random_state >> 8) % below;
}

static void build(void)
{
    sl_node_id root = fx_node(SL_NO_ID);
    sl_node_id left = fx_node(root);
    (void)fx_quota(root, SPOT, CPU, 4, SL_AMOUNT_UNLIMITED);
    for (int i = 0; i < QUEUES; i++) {
        sl_node_id parent = i < 2 ? left : i < 4 ? root : SL_NO_ID;
        queues[i] = fx_queue(parent, i % 2 ? SL_STRICT_FIFO : SL_BEST_EFFORT_FIFO, 5 + i);
        (void)fx_offer(queues[i], ON_DEMAND, CPU, 2);
    }
    for (int i = 0; i < LIVES; i++) {
        ids[i] = SL_NO_ID;
    }
}

static void demand(sl_workload_id id)
{
    sl_demand_clear(id);
    fx_pod_set(id, 1 + draw(2), CPU, draw(5));
    if (draw(4) == 0) {
        assert_int_equal(sl_demand_add_exclusion(id, SPOT, SL_EXCLUDED_TAINT), SL_OK);
    }
}

static void live(int i)
{
    sl_workload_id id = ids[i];
    if (id == SL_NO_ID || sl_place_of(id) == SL_PLACE_NONE) {
        ids[i] = fx_create();
        demand(ids[i]);
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
            demand(id);
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

/* At rest nobody waits who would fit: of a strict queue its head, of the others everybody. */
static void assert_nobody_waits_in_vain(void)
{
    for (int q = 0; q < QUEUES; q++) {
        sl_node_id queue = queues[q];
        bool strict = sl_offers_rules(queue).strategy == SL_STRICT_FIFO;
        uint32_t count = sl_queues_list(queue);
        sl_workload_id head = sl_heap_first(SL_HEAP_OF_QUEUE(queue));
        if (!sl_turns_is_active(queue)) {
            continue;
        }
        for (uint32_t i = 0; i < count; i++) {
            sl_workload_id id = sl_queues_listed(i);
            if (sl_queues_in_backoff(id, fx_now) || (strict && id != head)) {
                continue;
            }
            sl_flavors_assign(id, queue);
            assert_false(sl_assignment.fits);
        }
    }
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
    struct sl_rules rules = {draw(2) ? SL_STRICT_FIFO : SL_BEST_EFFORT_FIFO, SL_MAY_STOP_SEARCH};
    assert_int_equal(sl_queues_configure(queues[draw(QUEUES)], rules, draw(8) != 0), SL_OK);
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
            served += fx_rest();
            assert_nobody_waits_in_vain();
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

int main(void)
{
    const struct CMUnitTest tests[] = {
        FX_TEST(test_policy_random_life_loses_nobody_and_lets_nobody_wait_in_vain),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
