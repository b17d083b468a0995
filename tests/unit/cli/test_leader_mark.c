/* SPDX-License-Identifier: Apache-2.0
 * SPDX-FileCopyrightText: The Sluice authors */

/* src/cli/pages/leader_mark.c: the label says who leads, whatever becomes of a write. */
#include "t.h"
#include "cli/pages/leader_mark.h"
#include "fake_transport.h"

#define OFF "{\"metadata\":{\"labels\":{\"sluice.dev/leader\":null}}}"
#define ON "{\"metadata\":{\"labels\":{\"sluice.dev/leader\":\"true\"}}}"

struct world {
    uv_loop_t loop;
    struct sl_leader_mark *mark;
};

static int setup(void **state)
{
    struct world *w = sl_mem_new(1, sizeof *w);
    assert_int_equal(uv_loop_init(&w->loop), 0);
    w->mark = sl_leader_mark_new(&w->loop, NULL, "ns", "pod-1");
    *state = w;
    return 0;
}

static int teardown(void **state)
{
    struct world *w = *state;
    sl_leader_mark_free(w->mark);
    uv_run(&w->loop, UV_RUN_DEFAULT);
    assert_int_equal(uv_loop_close(&w->loop), 0);
    assert_int_equal(fake_open_count(), 0);
    sl_mem_free(w);
    fake_forget();
    return 0;
}

static void test_leader_mark_of_a_former_life_is_taken_away_first(void **state)
{
    struct world *w = *state;
    assert_int_equal(fake_count, 1);
    assert_string_equal(fake_last()->method, "PATCH");
    assert_string_equal(fake_last()->path, "/api/v1/namespaces/ns/pods/pod-1");
    assert_string_equal(fake_last()->body, OFF);
    fake_answer(fake_last(), 200, "{}");
    assert_int_equal(fake_count, 1);
    sl_leader_mark_set(w->mark);
    assert_string_equal(fake_last()->body, ON);
    fake_answer(fake_last(), 200, "{}");
    assert_int_equal(fake_count, 2);
}

static void test_leader_mark_set_while_a_write_is_under_way_follows_it(void **state)
{
    struct world *w = *state;
    sl_leader_mark_set(w->mark);
    assert_int_equal(fake_count, 1); /* never two at a time: their order would be anybody's guess */
    fake_answer(fake_last(), 200, "{}");
    assert_int_equal(fake_count, 2);
    assert_string_equal(fake_last()->body, ON);
}

static void test_leader_mark_that_failed_is_written_again(void **state)
{
    struct world *w = *state;
    sl_leader_mark_set(w->mark);
    fake_answer(fake_last(), 0, "connection refused");
    while (fake_count < 2) {
        uv_run(&w->loop, UV_RUN_ONCE);
    }
    assert_string_equal(fake_last()->body, ON);
    fake_answer(fake_last(), 200, "{}");
    uv_run(&w->loop, UV_RUN_DEFAULT); /* nothing more is planned */
    assert_int_equal(fake_count, 2);
}

static void test_leader_mark_outside_of_a_pod_is_nothing(void **state)
{
    struct world *w = *state;
    assert_null(sl_leader_mark_new(&w->loop, NULL, NULL, "pod"));
    assert_null(sl_leader_mark_new(&w->loop, NULL, "ns", NULL));
    sl_leader_mark_set(NULL);
    sl_leader_mark_free(NULL);
    assert_int_equal(fake_count, 1);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
#define TEST(name) cmocka_unit_test_setup_teardown(name, setup, teardown)
        TEST(test_leader_mark_of_a_former_life_is_taken_away_first),
        TEST(test_leader_mark_set_while_a_write_is_under_way_follows_it),
        TEST(test_leader_mark_that_failed_is_written_again),
        TEST(test_leader_mark_outside_of_a_pod_is_nothing),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
