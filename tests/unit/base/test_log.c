/* SPDX-License-Identifier: Apache-2.0
 * SPDX-FileCopyrightText: The Sluice authors */

/* Log lines as they arrive on stderr. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>
#include <cmocka.h>

#include <fcntl.h>
#include <stdlib.h>
#include <unistd.h>

#include "base/clock.h"
#include "base/log.h"

static char line[4096];
static int pipe_ends[2];
static int saved_stderr;

static void capture(void)
{
    assert_int_equal(pipe(pipe_ends), 0);
    saved_stderr = dup(STDERR_FILENO);
    dup2(pipe_ends[1], STDERR_FILENO);
    close(pipe_ends[1]);
    sl_clock_set_virtual(0);
}

static void release(void)
{
    dup2(saved_stderr, STDERR_FILENO);
    close(saved_stderr);
    ssize_t n = read(pipe_ends[0], line, sizeof line - 1);
    line[n > 0 ? n : 0] = '\0';
    close(pipe_ends[0]);
}

static void test_log_text_quotes_only_where_needed(void **state)
{
    (void)state;
    sl_log_setup(SL_LOG_INFO, false);
    capture();
    sl_log(SL_LOG_INFO, "admitted", "workload", "ns/a", "why", "fits \"now\"", "none", "", NULL);
    release();
    assert_string_equal(line, "1970-01-01T00:00:00.000000Z info  admitted workload=ns/a "
                              "why=\"fits \\\"now\\\"\" none=\"\"\n");
}

static void test_log_control_characters_do_not_reach_the_terminal(void **state)
{
    (void)state;
    sl_log_setup(SL_LOG_INFO, false);
    capture();
    sl_log(SL_LOG_INFO, "seen", "name", "a\x1b[2Jb", "last", "\x7f", NULL);
    release();
    assert_string_equal(line, "1970-01-01T00:00:00.000000Z info  seen name=\"a\\u001b[2Jb\" "
                              "last=\"\\u007f\"\n");
}

static void test_log_json_is_one_object_a_line(void **state)
{
    (void)state;
    sl_log_setup(SL_LOG_DEBUG, true);
    capture();
    sl_log(SL_LOG_WARN, "a\nb", "key", "tab\t\\", "number", sl_log_number(-7), "message", "none",
           NULL);
    release();
    /* no key twice, though decisions have a "message" */
    assert_string_equal(line, "{\"time\":\"1970-01-01T00:00:00.000000Z\",\"level\":\"warn\","
                              "\"msg\":\"a\\nb\",\"key\":\"tab\\u0009\\\\\",\"number\":\"-7\","
                              "\"message\":\"none\"}\n");
}

static void test_log_below_the_level_is_silent(void **state)
{
    (void)state;
    sl_log_setup(SL_LOG_WARN, false);
    assert_false(sl_log_on(SL_LOG_INFO));
    assert_true(sl_log_on(SL_LOG_ERROR));
    capture();
    sl_log(SL_LOG_INFO, "unseen", NULL);
    sl_log(SL_LOG_ERROR, "seen", "k", (const char *)NULL, NULL);
    release();
    assert_non_null(strstr(line, "seen k=\"\""));
    assert_null(strstr(line, "unseen"));
}

static void test_log_numbers_stay_good_for_eight_calls(void **state)
{
    (void)state;
    const char *texts[8];
    for (int i = 0; i < 8; i++) {
        texts[i] = sl_log_number(i);
    }
    for (int i = 0; i < 8; i++) {
        assert_int_equal(atoll(texts[i]), i);
    }
}

/* Reads what there is; how many lines, and how many were lost by what they say. */
static unsigned drain(unsigned *lost)
{
    static char text[1 << 20];
    size_t len = 0;
    unsigned lines = 0;
    for (ssize_t n = 1; n > 0 && len < sizeof text - 1;) {
        n = read(pipe_ends[0], text + len, sizeof text - 1 - len);
        len += n > 0 ? (size_t)n : 0;
    }
    text[len] = '\0';
    for (const char *at = text; (at = strchr(at, '\n')) != NULL; at++) {
        lines++;
    }
    const char *told = strstr(text, "lines were lost: stderr was not read lines=");
    *lost = told == NULL ? 0 : (unsigned)atoi(strrchr(told, '=') + 1);
    return lines;
}

static void test_log_waits_for_no_reader(void **state)
{
    const unsigned count = 10000;
    unsigned lost = 0, later = 0, still = 0;
    (void)state;
    (void)alarm(60); /* a line that waits would wait for ever */
    sl_log_setup(SL_LOG_INFO, false);
    capture();
    assert_int_equal(fcntl(pipe_ends[0], F_SETFL, O_NONBLOCK), 0);
    for (unsigned i = 0; i < count; i++) {
        sl_log(SL_LOG_INFO, "a line that is not read, and that is not very short", NULL);
    }
    unsigned lines = drain(&lost);
    assert_in_range(lines, 1, count - 1);
    assert_int_equal(lost, 0);
    while (sl_log_catch_up()) { /* there is a reader again */
        lines += drain(&still);
        later += still;
    }
    lines += drain(&lost) - 1;
    lost += later;
    dup2(saved_stderr, STDERR_FILENO);
    (void)close(saved_stderr);
    (void)close(pipe_ends[0]);
    (void)alarm(0);
    assert_true(lost > 0);
    assert_int_equal(lines + lost, count);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_log_text_quotes_only_where_needed),
        cmocka_unit_test(test_log_control_characters_do_not_reach_the_terminal),
        cmocka_unit_test(test_log_json_is_one_object_a_line),
        cmocka_unit_test(test_log_below_the_level_is_silent),
        cmocka_unit_test(test_log_numbers_stay_good_for_eight_calls),
        cmocka_unit_test(test_log_waits_for_no_reader),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
