/* SPDX-License-Identifier: Apache-2.0
 * SPDX-FileCopyrightText: The Sluice authors */

/* The dashboard's numbers and lines. */
#include "t.h"
#include <limits.h>
#include "cli/screen/board.h"

static const char queues_text[] =
    "[{\"metadata\":{\"name\":\"team\"},\"spec\":{\"resourceGroups\":[{\"flavors\":["
    "{\"name\":\"f\",\"resources\":[{\"name\":\"cpu\",\"nominalQuota\":\"4\"},"
    "{\"name\":\"memory\",\"nominalQuota\":\"8Gi\"}]}]}]}}]";
#define HOLDING(conditions, cpu)                                                                   \
    "{\"metadata\":{\"name\":\"w\",\"namespace\":\"n\"},\"status\":{\"conditions\":[" conditions   \
    "],\"admission\":{\"clusterQueue\":\"team\",\"podSetAssignments\":[{\"flavors\":{\"cpu\":"     \
    "\"f\"},"                                                                                      \
    "\"resourceUsage\":{\"cpu\":\"" cpu "\"}}]}}}"
#define TRUE(type) "{\"type\":\"" type "\",\"status\":\"True\"}"
static const char workloads_text[] = "[" HOLDING(TRUE("QuotaReserved"), "1500m") "," HOLDING(
    TRUE("QuotaReserved") "," TRUE("Admitted"),
    "4") "," HOLDING(TRUE("QuotaReserved") "," TRUE("Admitted") "," TRUE("Finished"),
                     "2") ",{\"metadata\":{\"name\":\"late\",\"namespace\":\"n\"},\"status\":{"
                          "\"conditions\":["
                          "{\"type\":\"QuotaReserved\",\"status\":\"False\",\"reason\":"
                          "\"WaitingForQuota\",\"message\":\"couldn't assign flavors to pod set "
                          "main: 2 more\"}]}}]";

static void fill(struct sl_board *b)
{
    struct sl_json *workloads = parse(workloads_text);
    struct sl_json *queues = parse(queues_text);
    sl_board_fill(b, workloads, queues, "");
    sl_json_free(workloads);
    sl_json_free(queues);
}

static void test_board_counts_phases_and_usage_of_what_holds_quota(void **state)
{
    (void)state;
    struct sl_board b;
    fill(&b);
    assert_int_equal(b.total, 4);
    assert_int_equal(b.count[SL_BOARD_PENDING], 1);
    assert_int_equal(b.count[SL_BOARD_RESERVED], 1);
    assert_int_equal(b.count[SL_BOARD_ADMITTED], 1);
    assert_int_equal(b.count[SL_BOARD_FINISHED], 1);
    assert_int_equal(b.row_count, 2);
    assert_true(b.rows[0].used == 5500);
    assert_true(b.rows[0].nominal == 4000);
    assert_true(b.rows[1].used == 0);
}

/* Only where it holds more than its quota, and its ClusterQueue says that this is too much. */
static void test_board_marks_what_holds_more_than_it_may(void **state)
{
    (void)state;
    static const char mark[] = "5500m / 4  over its quota\n";
    struct sl_board b;
    struct sl_buf out = {0};
    fill(&b);
    sl_board_draw(&b, false, 80, 0, &out);
    assert_null(strstr(out.data, "over its quota"));
    sl_buf_reset(&out);
    struct sl_json *workloads = parse(workloads_text);
    struct sl_json *queues = parse(queues_text);
    sl_json_set(sl_json_at(queues, 0), "status",
                parse("{\"conditions\":[" TRUE("QuotaExceeded") "]}"));
    sl_board_fill(&b, workloads, queues, "");
    sl_board_draw(&b, false, 80, 0, &out);
    assert_non_null(strstr(out.data, mark));
    assert_null(strstr(strstr(out.data, mark) + sizeof mark - 1, "over its quota"));
    sl_buf_fini(&out);
    sl_json_free(workloads);
    sl_json_free(queues);
}

static void test_board_quotas_are_texts_or_numbers(void **state)
{
    (void)state;
    struct sl_board b;
    struct sl_json *queues =
        parse("[{\"metadata\":{\"name\":\"team\"},\"spec\":{\"resourceGroups\":[{\"flavors\":[{"
              "\"name\":\"f\",\"resources\":[{\"name\":\"cpu\",\"nominalQuota\":1.5},"
              "{\"name\":\"memory\",\"nominalQuota\":7}]}]}]}}]");
    sl_board_fill(&b, NULL, queues, "");
    assert_int_equal(b.rows[0].nominal, 1500);
    assert_int_equal(b.rows[1].nominal, 7);
    sl_json_free(queues);
}

static void test_board_line_has_counts_and_first_resource(void **state)
{
    (void)state;
    struct sl_board b;
    struct sl_buf line = {0};
    fill(&b);
    sl_board_line(&b, &line);
    assert_has(line.data, "pending  1");
    assert_has(line.data, "team f 5500m/4");
    assert_null(strstr(line.data, "8Gi"));
    assert_null(strchr(line.data, '\n'));
    sl_buf_fini(&line);
}

static void test_board_drawing_shows_borrowing_and_who_waits_why(void **state)
{
    (void)state;
    struct sl_board b;
    struct sl_buf text = {0};
    fill(&b);
    sl_board_draw(&b, false, 80, 0, &text);
    assert_has(text.data, "[####################]+++++++ ");
    assert_has(text.data, "n/late  WaitingForQuota: 2 more");
    assert_null(strchr(text.data, '\033'));
    sl_buf_fini(&text);
}

/* Quotas of many ClusterQueues with names of such a length. */
static void fill_many(struct sl_board *b, unsigned queues, int name_len)
{
    struct sl_buf text = {0};
    sl_buf_text(&text, "[");
    for (unsigned i = 0; i < queues; i++) {
        sl_buf_print(&text,
                     "%s{\"metadata\":{\"name\":\"%0*u\"},\"status\":{\"conditions\":[" TRUE(
                         "QuotaExceeded") "]},\"spec\":{\"resourceGroups\":[{\"flavors\":[{"
                                          "\"name\":\"%0*u\",\"resources\":[{\"name\":\"cpu\","
                                          "\"nominalQuota\":\"4\"}]}]}]}}",
                     i == 0 ? "" : ",", name_len, i, name_len, i);
    }
    sl_buf_text(&text, "]");
    struct sl_json *all = parse(text.data);
    struct sl_json *workloads = parse(workloads_text);
    sl_board_fill(b, workloads, all, "");
    sl_json_free(workloads);
    sl_json_free(all);
    sl_buf_fini(&text);
}

static unsigned count_lines(const char *text, unsigned width)
{
    unsigned lines = 0;
    for (; *text != '\0'; text += strcspn(text, "\n") + 1) {
        if (strcspn(text, "\n") > width) {
            fail_msg("wider than %u: %.*s", width, (int)strcspn(text, "\n"), text);
        }
        lines++;
    }
    return lines;
}

static void test_board_fits_into_the_terminal(void **state)
{
    (void)state;
    static struct sl_board b;
    static const unsigned queues[] = {0, 1, 3, 20, 64, 300};
    for (size_t q = 0; q < sizeof queues / sizeof queues[0]; q++) {
        for (int name_len = 3; name_len < 64; name_len += 15) {
            fill_many(&b, queues[q], name_len);
            for (unsigned height = SL_BOARD_HEIGHT_MIN; height < 40; height++) {
                struct sl_buf out = {0};
                sl_board_draw(&b, false, 80 + height, height, &out);
                assert_true(count_lines(out.data, 80 + height) <= height);
                sl_buf_fini(&out);
            }
        }
    }
}

static void test_board_columns_are_as_wide_as_their_names(void **state)
{
    (void)state;
    static struct sl_board b;
    struct sl_buf out = {0};
    fill_many(&b, 2, 22);
    sl_board_draw(&b, false, 120, 0, &out);
    assert_has(out.data, "QUEUE                  FLAVOR                 RESOURCE # used");
    assert_has(out.data, "0000000000000000000001 0000000000000000000001 cpu      [....");
    sl_buf_reset(&out);
    sl_board_draw(&b, false, 80, 0, &out); /* shorter bars first, then names */
    assert_has(out.data, "000000000000000000~ 0000000000000000000~ cpu      [..........] ");
    sl_buf_fini(&out);
}

static void test_board_says_how_many_quotas_are_left_out(void **state)
{
    (void)state;
    static struct sl_board b;
    struct sl_buf out = {0};
    fill_many(&b, 300, 3);
    assert_int_equal(b.row_count, SL_BOARD_ROWS_MAX);
    assert_int_equal(b.left_out, 300 - SL_BOARD_ROWS_MAX);
    sl_board_draw(&b, false, 80, 20, &out);
    assert_has(out.data, "and 288 more quotas\n");
    assert_has(out.data, "\nWaiting, for example:\n  n/late");
    sl_buf_fini(&out);
}

static void test_board_can_be_seen_from_a_line_on(void **state)
{
    (void)state;
    struct sl_board b;
    struct sl_buf text = {0}, start = {0};
    unsigned top = 0;
    fill_many(&b, 30, 3);
    sl_board_draw_from(&b, &top, false, 100, 10, &start);
    sl_board_draw(&b, false, 100, 10, &text);
    assert_string_equal(start.data, text.data);
    top = 5;
    sl_buf_reset(&text);
    sl_board_draw_from(&b, &top, false, 100, 10, &text);
    assert_int_equal(top, 5);
    assert_int_equal(count_lines(text.data, 100), 10);
    assert_has(text.data, "\n004 ");
    assert_has(text.data, "lines 6 to 11 of 34\n");
    top = UINT_MAX;
    sl_buf_reset(&text);
    sl_board_draw_from(&b, &top, false, 100, 10, &text);
    assert_int_equal(top, 28);
    assert_has(text.data, "n/late");
    assert_has(text.data, "lines 29 to 34 of 34\n");
    top = UINT_MAX;
    sl_buf_reset(&text);
    sl_board_draw_from(&b, &top, false, 100, 0, &text);
    assert_int_equal(top, 0);
    top = 9;
    sl_buf_reset(&text);
    sl_board_draw_from(&b, &top, false, 100, 60, &text);
    assert_int_equal(top, 0);
    assert_has(text.data, "lines 1 to 34 of 34\n");
    sl_buf_fini(&text);
    sl_buf_fini(&start);
}

static void test_board_of_what_has_a_text(void **state)
{
    (void)state;
    static const struct {
        const char *filter;
        unsigned rows, waiting;
    } cases[] = {{"", 2, 1},     {"TEAM", 2, 0}, {"memory", 1, 0},
                 {"late", 0, 1}, {"f", 2, 1},    {"nothing", 0, 0}};
    for (size_t i = 0; i < sizeof cases / sizeof cases[0]; i++) {
        struct sl_board b;
        struct sl_json *workloads = parse(workloads_text), *queues = parse(queues_text);
        sl_board_fill(&b, workloads, queues, cases[i].filter);
        assert_int_equal(b.row_count, cases[i].rows);
        assert_int_equal(b.waiting_count, cases[i].waiting);
        assert_int_equal(b.total, 4);
        sl_json_free(workloads);
        sl_json_free(queues);
    }
}

static void test_board_as_data(void **state)
{
    (void)state;
    struct sl_board b;
    fill(&b);
    struct sl_json *o = sl_board_json_new(&b);
    assert_int_equal(sl_json_path_int(o, "workloads.pending", 0), 1);
    assert_int_equal(sl_json_path_int(o, "workloads.total", 0), 4);
    assert_int_equal(sl_json_len(sl_json_get(o, "quotas")), 2);
    assert_string_equal(sl_json_path_text(o, "quotas.0.clusterQueue", ""), "team");
    assert_string_equal(sl_json_path_text(o, "quotas.0.used", ""), "5500m");
    assert_string_equal(sl_json_path_text(o, "quotas.1.nominalQuota", ""), "8Gi");
    assert_false(sl_json_path_bool(o, "quotas.0.exceeded", true));
    sl_json_free(o);
}

static void test_board_of_nothing_is_drawn(void **state)
{
    (void)state;
    struct sl_board b;
    struct sl_buf text = {0};
    sl_board_fill(&b, NULL, NULL, "");
    sl_board_draw(&b, true, 10, 0, &text);
    assert_has(text.data, "of 0");
    sl_buf_fini(&text);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_board_counts_phases_and_usage_of_what_holds_quota),
        cmocka_unit_test(test_board_marks_what_holds_more_than_it_may),
        cmocka_unit_test(test_board_quotas_are_texts_or_numbers),
        cmocka_unit_test(test_board_line_has_counts_and_first_resource),
        cmocka_unit_test(test_board_drawing_shows_borrowing_and_who_waits_why),
        cmocka_unit_test(test_board_fits_into_the_terminal),
        cmocka_unit_test(test_board_columns_are_as_wide_as_their_names),
        cmocka_unit_test(test_board_says_how_many_quotas_are_left_out),
        cmocka_unit_test(test_board_can_be_seen_from_a_line_on),
        cmocka_unit_test(test_board_of_what_has_a_text),
        cmocka_unit_test(test_board_as_data),
        cmocka_unit_test(test_board_of_nothing_is_drawn),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
