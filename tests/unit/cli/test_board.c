/* SPDX-License-Identifier: Apache-2.0
 * SPDX-FileCopyrightText: The Sluice authors */

/* The dashboard's numbers and lines. */
#include "t.h"
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
    sl_board_fill(b, workloads, queues);
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
    sl_board_draw(&b, false, 80, &out);
    assert_null(strstr(out.data, "over its quota"));
    sl_buf_reset(&out);
    struct sl_json *workloads = parse(workloads_text);
    struct sl_json *queues = parse(queues_text);
    sl_json_set(sl_json_at(queues, 0), "status",
                parse("{\"conditions\":[" TRUE("QuotaExceeded") "]}"));
    sl_board_fill(&b, workloads, queues);
    sl_board_draw(&b, false, 80, &out);
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
    sl_board_fill(&b, NULL, queues);
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
    sl_board_draw(&b, false, 80, &text);
    assert_has(text.data, "[####################]+++++++ ");
    assert_has(text.data, "n/late  WaitingForQuota: 2 more");
    assert_null(strchr(text.data, '\033'));
    sl_buf_fini(&text);
}

static void test_board_of_nothing_is_drawn(void **state)
{
    (void)state;
    struct sl_board b;
    struct sl_buf text = {0};
    sl_board_fill(&b, NULL, NULL);
    sl_board_draw(&b, true, 10, &text);
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
        cmocka_unit_test(test_board_of_nothing_is_drawn),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
