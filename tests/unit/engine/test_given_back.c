/* SPDX-License-Identifier: Apache-2.0
 * SPDX-FileCopyrightText: The Sluice authors */

/* Objects say in the order of the core who has given back and who has taken: in each state that a restart may find, no
 * two have the same. */
#include "scene.h"

static void add(const char *name, int count, int priority)
{
    struct sl_json *o = world_new_workload("team", name, "lq", count, "1");
    sl_json_set_int(sl_json_get(o, "spec"), "priority", priority);
    (void)world_put(&w, SL_KIND_WORKLOAD, o, NULL);
}

static void run_cycles(void)
{
    for (int i = 0; i < 4; i++) {
        (void)sl_engine_cycle(w.engine, w.now_ms);
    }
}

static bool has_quota(const char *name)
{
    return sl_json_path(world_workload(&w, name), "status.admission") != NULL;
}

/* Of what is waiting to be carried out, the next that is this decision; what is before it is answered. */
static struct sl_decision next(const char *name, enum sl_decision_kind kind)
{
    struct sl_decision d;
    while (sl_engine_next_decision(w.engine, &d)) {
        if (strcmp(d.name, name) == 0 && d.kind == kind) {
            return d;
        }
        (void)world_answer(&w, &d, world_write(&w, &d, world_workload(&w, d.name)));
    }
    fail_msg("no decision of kind %d about %s", (int)kind, name);
    return d;
}

static void carry_out(const struct sl_decision *d, const char *name)
{
    (void)world_answer(&w, d, world_write(&w, d, world_workload(&w, name)));
}

/* `low` held everything and has stopped for `high`, which has the quota by now. Neither is written. */
static void hand_over(void)
{
    add("low", 10, 1);
    world_settle(&w);
    assert_true(has_quota("low"));
    add("high", 10, 5);
    world_settle(&w);
    world_expect(&w, "low", "Evicted", "True", "Preempted");
    sl_engine_job_stopped(w.engine, world_workload(&w, "low"), w.now_ms);
    run_cycles();
}

static void test_given_back_is_written_before_it_is_taken(void **state)
{
    (void)state;
    hand_over();
    struct sl_decision release = next("low", SL_DECIDE_RELEASE);
    struct sl_decision reserve = next("high", SL_DECIDE_RESERVE);
    struct sl_json *patch = NULL;
    assert_int_equal(sl_engine_write(w.engine, &reserve, world_workload(&w, "high"), &patch),
                     SL_TO_WRITE_AFTER);
    assert_null(patch);
    assert_true(sl_engine_waits(w.engine, &reserve));
    assert_false(sl_engine_waits(w.engine, &release));
    unsigned writes = w.writes;
    carry_out(&release, "low");
    assert_false(has_quota("low"));
    assert_false(sl_engine_waits(w.engine, &reserve));
    carry_out(&reserve, "high");
    assert_true(has_quota("high"));
    world_settle(&w);
    assert_int_equal(w.writes, writes + 2); /* no more than there always were */
}

/* The eviction was under way when the job had stopped: that it is answered says nothing of the release. */
static void test_given_back_is_not_what_was_written_before(void **state)
{
    (void)state;
    add("low", 10, 1);
    world_settle(&w);
    add("high", 10, 5);
    run_cycles();
    struct sl_decision evict = next("low", SL_DECIDE_EVICT);
    enum sl_code written = world_write(&w, &evict, world_workload(&w, "low"));
    sl_engine_job_stopped(w.engine, world_workload(&w, "low"), w.now_ms);
    run_cycles();
    (void)world_answer(&w, &evict, written);
    struct sl_decision release = next("low", SL_DECIDE_RELEASE);
    struct sl_decision reserve = next("high", SL_DECIDE_RESERVE);
    assert_true(has_quota("low"));
    carry_out(&reserve, "high");
    assert_false(has_quota("high"));
    carry_out(&release, "low");
    world_pass(&w, 2000);
    assert_false(has_quota("low"));
    assert_true(has_quota("high"));
}

/* Whatever the answer, or none: nobody knows that it is written. */
static void test_given_back_is_waited_for_until_it_is_written_once_more(void **state)
{
    (void)state;
    hand_over();
    struct sl_decision release = next("low", SL_DECIDE_RELEASE);
    struct sl_decision reserve = next("high", SL_DECIDE_RESERVE);
    w.fail_next = SL_CODE_TIMEOUT;
    carry_out(&release, "low");
    assert_true(has_quota("low"));
    carry_out(&reserve, "high");
    assert_false(has_quota("high"));
    world_pass(&w, 2000);
    assert_false(has_quota("low"));
    assert_true(has_quota("high"));
}

/* A policy of the API that refuses one Workload must not keep all others waiting. */
static void test_given_back_and_refused_is_not_waited_for(void **state)
{
    (void)state;
    hand_over();
    struct sl_decision release = next("low", SL_DECIDE_RELEASE);
    struct sl_decision reserve = next("high", SL_DECIDE_RESERVE);
    w.fail_next = SL_CODE_FORBIDDEN;
    carry_out(&release, "low");
    assert_false(sl_engine_waits(w.engine, &reserve));
    carry_out(&reserve, "high");
    assert_true(has_quota("high"));
}

static void test_given_back_is_waited_for_a_minute_at_most(void **state)
{
    (void)state;
    hand_over();
    struct sl_decision release = next("low", SL_DECIDE_RELEASE);
    struct sl_decision reserve = next("high", SL_DECIDE_RESERVE);
    w.now_ms += 60000;
    run_cycles();
    assert_true(sl_engine_waits(w.engine, &reserve));
    w.now_ms += 1;
    run_cycles();
    assert_false(sl_engine_waits(w.engine, &reserve));
    carry_out(&release, "low");
    carry_out(&reserve, "high");
    assert_true(has_quota("high"));
}

static void test_given_back_by_what_is_deleted_is_not_waited_for(void **state)
{
    (void)state;
    hand_over();
    (void)next("low", SL_DECIDE_RELEASE);
    struct sl_decision reserve = next("high", SL_DECIDE_RESERVE);
    assert_true(sl_engine_waits(w.engine, &reserve));
    world_delete(&w, SL_KIND_WORKLOAD, "team", "low");
    assert_false(sl_engine_waits(w.engine, &reserve));
    carry_out(&reserve, "high");
    assert_true(has_quota("high"));
}

/* It has nothing to do with it. */
static void test_given_back_later_is_not_waited_for(void **state)
{
    (void)state;
    add("low", 5, 1);
    world_settle(&w);
    add("other", 5, 1);
    run_cycles();
    struct sl_decision reserve = next("other", SL_DECIDE_RESERVE);
    (void)world_patch(&w, SL_KIND_CLUSTER_QUEUE, "", "cq",
                      "{\"spec\":{\"stopPolicy\":\"HoldAndDrain\"}}");
    struct sl_decision evict = next("low", SL_DECIDE_EVICT);
    carry_out(&evict, "low");
    sl_engine_job_stopped(w.engine, world_workload(&w, "low"), w.now_ms);
    (void)next("low", SL_DECIDE_RELEASE);
    assert_false(sl_engine_waits(w.engine, &reserve));
}

/* What waits gives back itself: others may wait for that, and it is written at once. */
static void test_given_back_unwritten_waits_for_nobody(void **state)
{
    (void)state;
    hand_over();
    struct sl_decision release = next("low", SL_DECIDE_RELEASE);
    struct sl_decision reserve = next("high", SL_DECIDE_RESERVE);
    assert_true(sl_engine_waits(w.engine, &reserve));
    sl_engine_job_stopped(w.engine, world_workload(&w, "high"), w.now_ms); /* it is not evicted */
    assert_true(sl_engine_waits(w.engine, &reserve));
    (void)world_patch(&w, SL_KIND_WORKLOAD, "team", "high", "{\"spec\":{\"active\":false}}");
    struct sl_decision evict = next("high", SL_DECIDE_EVICT);
    sl_engine_job_stopped(w.engine, world_workload(&w, "high"), w.now_ms);
    assert_false(sl_engine_waits(w.engine, &reserve));
    carry_out(&reserve, "high");
    carry_out(&evict, "high");
    assert_false(has_quota("high"));
    world_expect(&w, "high", "Evicted", "True", "Deactivated");
    carry_out(&release, "low");
    world_settle(&w);
    assert_false(has_quota("high"));
}

/* As many as the ring has to grow for, some of them written before others. */
static void test_given_back_by_many_is_waited_for_to_the_last(void **state)
{
    enum { MANY = 150 };
    struct sl_decision releases[MANY];
    char name[16];
    (void)state;
    (void)world_patch(
        &w, SL_KIND_CLUSTER_QUEUE, "", "cq",
        "{\"spec\":{\"resourceGroups\":[{\"coveredResources\":[\"cpu\"],\"flavors\":[{\"name\":"
        "\"spot\",\"resources\":[{\"name\":\"cpu\",\"nominalQuota\":\"150\"}]}]}]}}");
    for (int i = 0; i < MANY; i++) {
        (void)snprintf(name, sizeof name, "low%d", i);
        add(name, 1, 1);
    }
    world_pass(&w, 2000);
    add("high", MANY, 5);
    world_settle(&w);
    for (int i = 0; i < MANY; i++) {
        (void)snprintf(name, sizeof name, "low%d", i);
        sl_engine_job_stopped(w.engine, world_workload(&w, name), w.now_ms);
    }
    run_cycles();
    for (int i = 0; i < MANY; i++) {
        (void)snprintf(name, sizeof name, "low%d", i);
        releases[i] = next(name, SL_DECIDE_RELEASE);
    }
    struct sl_decision reserve = next("high", SL_DECIDE_RESERVE);
    for (int i = 0; i < MANY; i++) {
        int at = i * 7 % MANY;
        (void)snprintf(name, sizeof name, "low%d", at);
        assert_true(sl_engine_waits(w.engine, &reserve));
        carry_out(&releases[at], name);
    }
    assert_false(sl_engine_waits(w.engine, &reserve));
}

#define TEST(name) cmocka_unit_test_setup_teardown(name, setup_preempting, teardown)
int main(void)
{
    const struct CMUnitTest tests[] = {
        TEST(test_given_back_is_written_before_it_is_taken),
        TEST(test_given_back_is_not_what_was_written_before),
        TEST(test_given_back_is_waited_for_until_it_is_written_once_more),
        TEST(test_given_back_and_refused_is_not_waited_for),
        TEST(test_given_back_is_waited_for_a_minute_at_most),
        TEST(test_given_back_by_what_is_deleted_is_not_waited_for),
        TEST(test_given_back_later_is_not_waited_for),
        TEST(test_given_back_unwritten_waits_for_nobody),
        TEST(test_given_back_by_many_is_waited_for_to_the_last),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
