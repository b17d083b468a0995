/* SPDX-License-Identifier: Apache-2.0
 * SPDX-FileCopyrightText: The Sluice authors */

/* src/engine/history/bill.c: what one is told, move by move. Whole histories: test_history.c. */
#include "engine/history/bill.h"
#include "kernel/base/types.h"
#include <setjmp.h>
#include <stdarg.h>
#include <stdint.h>
#include <string.h>
#include <cmocka.h>

static struct sl_bill *bill;
static struct sl_history_taker taker;

static void begin(int64_t since_ms, int64_t until_ms)
{
    bill = sl_bill_new(since_ms, until_ms);
    taker = sl_bill_taker(bill);
    taker.begin(taker.context, 1000);
}

static void tell(struct sl_history_move move)
{
    move.queue = move.queue == NULL ? "q" : move.queue;
    taker.move(taker.context, &move);
}

/* So much of flavor f's cpu from then on. */
static struct sl_history_move holds(const char *workload, int64_t time_ms, int64_t amount)
{
    return (struct sl_history_move){.time_ms = time_ms,
                                    .workload = workload,
                                    .row_count = amount > 0 ? 1 : 0,
                                    .rows = {{"f", "cpu", amount}}};
}

static __int128 held(const char *workload)
{
    __int128 sum = 0;
    size_t lines, count;
    const struct sl_bill_line *line = sl_bill_lines(bill, &lines);
    const struct sl_bill_amount *amount = sl_bill_amounts(bill, &count);
    for (size_t i = 0; i < count; i++) {
        sum += strcmp(line[amount[i].line].workload, workload) == 0 ? amount[i].held : 0;
    }
    return sum;
}

static size_t line_count(void)
{
    size_t count;
    (void)sl_bill_lines(bill, &count);
    return count;
}

static void end(void)
{
    sl_bill_free(bill);
}

static void test_bill_counts_from_reservation_to_release(void **state)
{
    (void)state;
    begin(INT64_MIN, INT64_MAX);
    tell(holds("a/x", 2000, 1500));
    tell(holds("a/x", 2500, 1000)); /* some pods ended */
    tell(holds("a/x", 4000, 0));
    tell(holds("a/y", 4000, 7));
    taker.end(taker.context, 5000);
    sl_bill_close(bill);
    assert_true(held("a/x") == 1500 * 500 + 1000 * 1500);
    assert_true(held("a/y") == 7 * 1000);
    end();
}

static void test_bill_counts_only_the_time_that_is_asked_for(void **state)
{
    (void)state;
    begin(2100, 2200);
    struct sl_history_move move = holds("a/x", 2000, 3);
    move.news_count = 1;
    move.news[0] = (struct sl_history_news){SL_HISTORY_RESERVED, "", "", ""};
    tell(move);
    tell(holds("a/y", 2150, 5));
    tell(holds("a/z", 2200, 5));
    taker.end(taker.context, 9000);
    sl_bill_close(bill);
    assert_true(held("a/x") == 3 * 100);
    assert_true(held("a/y") == 5 * 50);
    assert_int_equal(line_count(), 2);
    assert_int_equal(sl_bill_lines(bill, &(size_t){0})[0].reservations, 0);
    end();
}

static void test_bill_of_a_workload_made_anew_is_of_another_one(void **state)
{
    (void)state;
    begin(INT64_MIN, INT64_MAX);
    tell(holds("a/x", 2000, 1));
    tell((struct sl_history_move){.time_ms = 3000, .workload = "a/x", .over = true});
    tell(holds("a/x", 4000, 1));
    taker.end(taker.context, 5000);
    sl_bill_close(bill);
    assert_true(held("a/x") == 2000);
    assert_int_equal(line_count(), 2);
    assert_int_equal(sl_bill_lines(bill, &(size_t){0})[1].number, 1);
    end();
}

static void test_bill_goes_on_where_the_next_run_finds_the_same(void **state)
{
    (void)state;
    begin(INT64_MIN, INT64_MAX);
    tell(holds("a/stays", 2000, 1));
    tell(holds("a/changes", 2000, 1));
    tell(holds("a/goes", 2000, 1));
    tell(holds("a/again", 2000, 1));
    tell((struct sl_history_move){.time_ms = 2000, .workload = "a/waits", .waits = true});
    taker.end(taker.context, 3000);
    taker.begin(taker.context, 10000);
    struct sl_history_move found = holds("a/stays", 10000, 1);
    found.found = true;
    tell(found);
    found = holds("a/changes", 10000, 2);
    found.found = true;
    tell(found);
    tell((struct sl_history_move){
        .time_ms = 10000, .workload = "a/waits", .waits = true, .found = true});
    tell(holds("a/again", 10500, 1)); /* reserved anew: it had been released */
    taker.end(taker.context, 11000);
    taker.begin(taker.context, 12000);
    taker.end(taker.context, 12000);
    sl_bill_close(bill);
    assert_true(held("a/stays") == 1000 + 8000);
    assert_true(held("a/changes") == 1000 + 2 * 1000);
    assert_true(held("a/goes") == 1000);
    assert_true(held("a/again") == 1000 + 500);
    assert_int_equal(sl_bill_lost(bill),
                     6); /* three after the first run, and three after the second */
    size_t count;
    const struct sl_bill_line *lines = sl_bill_lines(bill, &count);
    int64_t wait_ms = 0;
    for (size_t i = 0; i < count; i++) {
        wait_ms += lines[i].wait_ms;
    }
    assert_int_equal(wait_ms, 9000);
    end();
}

static void expect_text(__int128 held, const char *resource, const char *text)
{
    char out[SL_BILL_TEXT];
    sl_bill_print(held, resource, out);
    assert_string_equal(out, text);
}

static void test_bill_amounts_are_printed_exactly(void **state)
{
    (void)state;
    expect_text(0, "cpu", "0");
    expect_text(1, "cpu", "0.000001");
    expect_text(1500LL * 2000, "cpu", "3");
    expect_text(1500LL * 2001, "cpu", "3.0015");
    expect_text(1, "memory", "0.001");
    expect_text(1000, "nvidia.com/gpu", "1");
    expect_text(120, "nvidia.com/gpu", "0.12");
    expect_text((__int128)SL_AMOUNT_MAX * SL_TIME_MAX, "memory",
                "5316911983139663491615228241121378.304");
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_bill_counts_from_reservation_to_release),
        cmocka_unit_test(test_bill_counts_only_the_time_that_is_asked_for),
        cmocka_unit_test(test_bill_of_a_workload_made_anew_is_of_another_one),
        cmocka_unit_test(test_bill_goes_on_where_the_next_run_finds_the_same),
        cmocka_unit_test(test_bill_amounts_are_printed_exactly),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
