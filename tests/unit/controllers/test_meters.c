/* SPDX-License-Identifier: Apache-2.0
 * SPDX-FileCopyrightText: The Sluice authors */

/* src/controllers/work/meters.c. */
#include "t.h"
#include "controllers/work/meters.h"

static char *print(const struct sl_meters *m, const char *name)
{
    struct sl_buf out = {0};
    sl_meters_print(m, name, "leader", &out);
    return sl_buf_take(&out);
}

static void count(struct sl_meters *m, const char *name, const char *labels)
{
    sl_meters_count(m, &(struct sl_series){name, "", labels});
}

static void time_it(struct sl_meters *m, const char *name, enum sl_meter_scale scale,
                    int64_t took_us)
{
    sl_meters_time(m, &(struct sl_series){name, "", "x=\"1\""}, scale, took_us);
}

static void test_meters_count_by_series_and_name(void **state)
{
    (void)state;
    struct sl_meters m;
    sl_meters_init(&m);
    count(&m, "a_total", "x=\"1\",y=\"2\"");
    count(&m, "a_total", "x=\"1\",y=\"2\"");
    count(&m, "a_total", "x=\"3\"");
    count(&m, "a_total_more", "x=\"3\"");
    char *text = print(&m, "a_total");
    assert_string_equal(text, "a_total{x=\"1\",y=\"2\",replica_role=\"leader\"} 2\n"
                              "a_total{x=\"3\",replica_role=\"leader\"} 1\n");
    sl_mem_free(text);
    sl_meters_fini(&m);
}

static void test_meters_times_are_within_their_bounds(void **state)
{
    (void)state;
    static const char *const lines[] = {
        "t_seconds_bucket{x=\"1\",replica_role=\"leader\",le=\"1\"} 2\n",
        "t_seconds_bucket{x=\"1\",replica_role=\"leader\",le=\"2.5\"} 3\n",
        "t_seconds_bucket{x=\"1\",replica_role=\"leader\",le=\"10240\"} 3\n",
        "t_seconds_bucket{x=\"1\",replica_role=\"leader\",le=\"+Inf\"} 4\n",
        "t_seconds_sum{x=\"1\",replica_role=\"leader\"} 10243.000001\n",
        "t_seconds_count{x=\"1\",replica_role=\"leader\"} 4\n"};
    struct sl_meters m;
    sl_meters_init(&m);
    time_it(&m, "t_seconds", SL_METER_WAITS, -5);
    time_it(&m, "t_seconds", SL_METER_WAITS, 1000000);
    time_it(&m, "t_seconds", SL_METER_WAITS, 2000000);
    time_it(&m, "t_seconds", SL_METER_WAITS, INT64_C(10240000001));
    char *text = print(&m, "t_seconds");
    for (size_t i = 0; i < sizeof lines / sizeof lines[0]; i++) {
        assert_non_null(strstr(text, lines[i]));
    }
    sl_mem_free(text);
    sl_meters_fini(&m);
}

static void test_meters_scales_differ_in_their_bounds(void **state)
{
    (void)state;
    struct sl_meters m;
    sl_meters_init(&m);
    time_it(&m, "call", SL_METER_CALLS, 6000);
    time_it(&m, "run", SL_METER_RUNS, INT64_C(20480000000));
    time_it(&m, "run", SL_METER_RUNS, INT64_C(40960000000));
    char *text = print(&m, "call");
    assert_non_null(strstr(text, "le=\"0.005\"} 0\n"));
    assert_non_null(strstr(text, "le=\"0.01\"} 1\n"));
    assert_non_null(strstr(text, "le=\"10\"} 1\n"));
    sl_mem_free(text);
    text = print(&m, "run");
    assert_non_null(strstr(text, "le=\"20480\"} 1\n"));
    assert_non_null(strstr(text, "le=\"40960\"} 2\n"));
    sl_mem_free(text);
    time_it(&m, "birth", SL_METER_BIRTHS, 15000);
    text = print(&m, "birth");
    assert_non_null(strstr(text, "le=\"0.01\"} 0\n"));
    assert_non_null(strstr(text, "le=\"0.02\"} 1\n"));
    assert_non_null(strstr(text, "le=\"10.24\"} 1\n"));
    sl_mem_free(text);
    sl_meters_fini(&m);
}

static void test_meters_of_an_owner_that_is_gone_end(void **state)
{
    (void)state;
    struct sl_meters m;
    sl_meters_init(&m);
    for (unsigned i = 0; i < 3; i++) {
        sl_meters_count(&m, &(struct sl_series){"a_total", "n/one", "x=\"1\""});
        sl_meters_count(&m, &(struct sl_series){"a_total", "n/two", "x=\"2\""});
        sl_meters_time(&m, &(struct sl_series){"b_seconds", "n/one", "x=\"1\""}, SL_METER_WAITS, 1);
        sl_meters_count(&m, &(struct sl_series){"a_total", "n/one", "x=\"1\",y=\"3\""});
    }
    assert_int_equal(m.series, 4);
    sl_meters_forget(&m, "n/one");
    sl_meters_forget(&m, "n/none");
    assert_int_equal(m.series, 1);
    char *text = print(&m, "a_total");
    assert_string_equal(text, "a_total{x=\"2\",replica_role=\"leader\"} 3\n");
    sl_mem_free(text);
    text = print(&m, "b_seconds");
    assert_string_equal(text, "");
    sl_mem_free(text);
    sl_meters_count(&m, &(struct sl_series){"a_total", "n/one", "x=\"1\""}); /* made again */
    text = print(&m, "a_total");
    assert_non_null(strstr(text, "a_total{x=\"1\",replica_role=\"leader\"} 1\n"));
    sl_mem_free(text);
    sl_meters_fini(&m);
}

static void test_meters_without_room_for_more_count_what_they_have(void **state)
{
    (void)state;
    struct sl_meters m;
    sl_meters_init(&m);
    m.series_max = 2;
    count(&m, "a_total", "x=\"1\"");
    count(&m, "a_total", "x=\"2\"");
    count(&m, "a_total", "x=\"3\"");
    time_it(&m, "b_seconds", SL_METER_WAITS, 1);
    count(&m, "a_total", "x=\"1\"");
    assert_int_equal(m.dropped, 2);
    char *text = print(&m, "a_total");
    assert_string_equal(text, "a_total{x=\"1\",replica_role=\"leader\"} 2\n"
                              "a_total{x=\"2\",replica_role=\"leader\"} 1\n");
    sl_mem_free(text);
    text = print(&m, "b_seconds");
    assert_string_equal(text, "");
    sl_mem_free(text);
    sl_meters_fini(&m);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_meters_count_by_series_and_name),
        cmocka_unit_test(test_meters_times_are_within_their_bounds),
        cmocka_unit_test(test_meters_scales_differ_in_their_bounds),
        cmocka_unit_test(test_meters_of_an_owner_that_is_gone_end),
        cmocka_unit_test(test_meters_without_room_for_more_count_what_they_have),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
