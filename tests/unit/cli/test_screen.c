/* SPDX-License-Identifier: Apache-2.0
 * SPDX-FileCopyrightText: The Sluice authors */

/* Nothing that others wrote steers the terminal. */
#include "t.h"
#include "cli/screen/screen.h"
#include <stdio.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

static void shows(const char *text, const char *wanted)
{
    struct sl_buf out = {0};
    sl_screen_show(text, strlen(text), &out);
    assert_string_equal(out.data, wanted);
    sl_buf_fini(&out);
}

static void test_screen_shows_what_a_terminal_would_obey(void **state)
{
    (void)state;
    shows("plain, with a\ttab\n", "plain, with a\ttab\n");
    shows("a\033]0;title\007b", "a^[]0;title^Gb");
    shows("a\r\177", "a^M^?");
    shows("\xc2\x9b"
          "31m \xc3\xa9 \xc2\xa0",
          "^?31m \xc3\xa9 \xc2\xa0");
}

/* What a child prints to stdout and stderr, guarded. */
static void print_in_child(void (*print)(void), char *out, size_t cap)
{
    int ends[2];
    assert_int_equal(pipe(ends), 0);
    pid_t child = fork();
    assert_true(child >= 0);
    if (child == 0) {
        (void)dup2(ends[1], STDOUT_FILENO);
        (void)dup2(ends[1], STDERR_FILENO);
        sl_screen_guard();
        print();
        (void)fflush(stdout);
        (void)fflush(stderr);
        _exit(0);
    }
    (void)close(ends[1]);
    size_t len = 0;
    for (ssize_t n = 1; n > 0 && len<cap - 1; len += n> 0 ? (size_t)n : 0) {
        n = read(ends[0], out + len, cap - 1 - len);
    }
    out[len] = '\0';
    (void)close(ends[0]);
    assert_int_equal(waitpid(child, NULL, 0), child);
}

static void print_plain(void)
{
    printf("name %s\n", "\033[2Jx");
    (void)fflush(stdout);
    fprintf(stderr, "error %s\n", "\033]0;x\007");
}

static void paint(void)
{
    struct sl_buf text = {0};
    sl_buf_text(&text, "\033[H\033[J\033[1;31mred\033[0m \033]0;x\007 \033[2J end");
    sl_screen_paint(&text);
    sl_buf_fini(&text);
}

static void test_screen_guards_all_that_is_printed(void **state)
{
    char out[256];
    (void)state;
    print_in_child(print_plain, out, sizeof out);
    assert_string_equal(out, "name ^[[2Jx\nerror ^[]0;x^G\n");
}

static void test_screen_lets_its_own_colors_pass(void **state)
{
    char out[256];
    (void)state;
    print_in_child(paint, out, sizeof out);
    assert_string_equal(out, "\033[H\033[J\033[1;31mred\033[0m ^[]0;x^G ^[[2J end");
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_screen_shows_what_a_terminal_would_obey),
        cmocka_unit_test(test_screen_guards_all_that_is_printed),
        cmocka_unit_test(test_screen_lets_its_own_colors_pass),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
