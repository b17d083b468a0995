/* SPDX-License-Identifier: Apache-2.0
 * SPDX-FileCopyrightText: The Sluice authors */

/* Which decision follows from what the core says that it did: the rows of the table, and which goes first. */
#include "engine/decisions/decide.h"
#include "engine/state.h"
#include "scene.h"

enum { DECIDED_MAX = 4 };

static sl_workload_id id;
static enum sl_decision_kind decided[DECIDED_MAX];
static size_t decided_count;

static int setup_decide(void **state)
{
    (void)setup(state);
    world_add_basics(&w);
    world_add_workload(&w, "a", "lq", 1, "2");
    for (id = 0; id < w.engine->workload_cap && w.engine->workloads[id].uid == NULL; id++) {
    }
    assert_true(id < w.engine->workload_cap);
    struct sl_decision d;
    while (sl_engine_next_decision(w.engine, &d)) {
    }
    return 0;
}

/* What is decided after a transition with these news; a set of bits. */
static void after(enum sl_phase from, enum sl_phase to, uint32_t news)
{
    struct sl_transition did = {.from = from, .to = to};
    struct sl_decision d;
    for (uint32_t i = 0; i < SL_CHANGED_COUNT; i++) {
        did.news[i] = ((news >> i) & 1u) != 0;
    }
    decided_count = 0;
    sl_decide_after(w.engine, id, &did, w.now_ms);
    while (sl_engine_next_decision(w.engine, &d)) {
        assert_true(decided_count < DECIDED_MAX);
        decided[decided_count++] = d.kind;
    }
}

#define NEWS(name) (1u << (unsigned)SL_CHANGED_##name)
#define ALL ((1u << (unsigned)SL_CHANGED_COUNT) - 1u)

static void assert_one(enum sl_decision_kind kind)
{
    assert_int_equal(decided_count, 1);
    assert_int_equal(decided[0], kind);
}

static void test_decide_a_change_of_phase_is_one_decision(void **state)
{
    (void)state;
    uint32_t rest = ALL & ~NEWS(TARGET);
    after(SL_PHASE_PENDING, SL_PHASE_QUOTA_RESERVED, rest);
    assert_one(SL_DECIDE_RESERVE);
    after(SL_PHASE_PENDING, SL_PHASE_ADMITTED, rest);
    assert_one(SL_DECIDE_RESERVE);
    after(SL_PHASE_QUOTA_RESERVED, SL_PHASE_ADMITTED, rest);
    assert_one(SL_DECIDE_ADMIT);
    after(SL_PHASE_ADMITTED, SL_PHASE_EVICTED, rest);
    assert_one(SL_DECIDE_EVICT);
    after(SL_PHASE_QUOTA_RESERVED, SL_PHASE_EVICTED, rest);
    assert_one(SL_DECIDE_EVICT);
    after(SL_PHASE_EVICTED, SL_PHASE_PENDING, rest);
    assert_one(SL_DECIDE_RELEASE);
    after(SL_PHASE_ADMITTED, SL_PHASE_PENDING, rest);
    assert_one(SL_DECIDE_RELEASE);
    after(SL_PHASE_ABSENT, SL_PHASE_PENDING, rest);
    assert_int_equal(decided_count, 0);
}

static void test_decide_what_is_counted_of_a_change_of_phase(void **state)
{
    (void)state;
    const struct sl_engine_counters *c = &w.engine->counters;
    struct sl_engine_counters then = *c;
    after(SL_PHASE_PENDING, SL_PHASE_ADMITTED, 0);
    assert_int_equal(c->reserved, then.reserved + 1);
    assert_int_equal(c->admitted, then.admitted + 1);
    after(SL_PHASE_PENDING, SL_PHASE_QUOTA_RESERVED, 0);
    after(SL_PHASE_QUOTA_RESERVED, SL_PHASE_ADMITTED, 0);
    assert_int_equal(c->reserved, then.reserved + 2);
    assert_int_equal(c->admitted, then.admitted + 2);
    after(SL_PHASE_ADMITTED, SL_PHASE_ADMITTED, NEWS(CHECKS)); /* the same reservation */
    assert_int_equal(c->reserved, then.reserved + 2);
    assert_int_equal(c->admitted, then.admitted + 2);
    after(SL_PHASE_ADMITTED, SL_PHASE_EVICTED, 0);
    after(SL_PHASE_PENDING, SL_PHASE_PENDING, NEWS(EVICTION));
    assert_int_equal(c->evicted, then.evicted + 2);
}

static void test_decide_the_first_news_where_the_phase_stays(void **state)
{
    (void)state;
    uint32_t rest = ALL & ~NEWS(TARGET);
    after(SL_PHASE_PENDING, SL_PHASE_PENDING, rest);
    assert_one(SL_DECIDE_EVICT);
    rest &= ~NEWS(EVICTION);
    after(SL_PHASE_PENDING, SL_PHASE_PENDING, rest);
    assert_one(SL_DECIDE_REQUEUE);
    rest &= ~NEWS(REQUEUE);
    after(SL_PHASE_PENDING, SL_PHASE_PENDING, rest);
    assert_one(SL_DECIDE_PENDING);
    after(SL_PHASE_ADMITTED, SL_PHASE_ADMITTED, NEWS(REASON));
    assert_int_equal(decided_count, 0);
    after(SL_PHASE_PENDING, SL_PHASE_PENDING, NEWS(OBJECTION));
    assert_one(SL_DECIDE_PENDING);
    after(SL_PHASE_ADMITTED, SL_PHASE_ADMITTED, NEWS(CHECKS) | NEWS(NODES));
    assert_one(SL_DECIDE_RESERVE);
    after(SL_PHASE_PENDING, SL_PHASE_PENDING, NEWS(CHECKS) | NEWS(NODES));
    assert_int_equal(decided_count, 0);
    after(SL_PHASE_ADMITTED, SL_PHASE_ADMITTED, NEWS(NODES));
    assert_one(SL_DECIDE_PLACE);
    after(SL_PHASE_ADMITTED, SL_PHASE_ADMITTED, NEWS(START));
    assert_int_equal(decided_count, 0);
}

static void test_decide_to_say_what_is_waited_for_where_detail_is_asked_for(void **state)
{
    (void)state;
    w.engine->settings.granular_reasons = false;
    after(SL_PHASE_QUOTA_RESERVED, SL_PHASE_QUOTA_RESERVED, NEWS(WAIT));
    assert_int_equal(decided_count, 0);
    w.engine->settings.granular_reasons = true;
    after(SL_PHASE_QUOTA_RESERVED, SL_PHASE_QUOTA_RESERVED, NEWS(WAIT));
    assert_one(SL_DECIDE_PLACE);
}

static void test_decide_a_deactivation_beside_the_rest(void **state)
{
    (void)state;
    after(SL_PHASE_QUOTA_RESERVED, SL_PHASE_QUOTA_RESERVED, NEWS(TARGET));
    assert_one(SL_DECIDE_DEACTIVATE);
    after(SL_PHASE_PENDING, SL_PHASE_PENDING, NEWS(TARGET) | NEWS(REASON));
    assert_int_equal(decided_count, 2);
    assert_int_equal(decided[0], SL_DECIDE_PENDING);
    assert_int_equal(decided[1], SL_DECIDE_DEACTIVATE);
}

#define TEST(name) cmocka_unit_test_setup_teardown(test_decide_##name, setup_decide, teardown)

int main(void)
{
    const struct CMUnitTest tests[] = {
        TEST(a_change_of_phase_is_one_decision),
        TEST(what_is_counted_of_a_change_of_phase),
        TEST(the_first_news_where_the_phase_stays),
        TEST(to_say_what_is_waited_for_where_detail_is_asked_for),
        TEST(a_deactivation_beside_the_rest),
    };
    return cmocka_run_group_tests_name("decide", tests, NULL, NULL);
}
