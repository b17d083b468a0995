/* SPDX-License-Identifier: Apache-2.0
 * SPDX-FileCopyrightText: The Sluice authors */

#include "base/aside.h"
#include <fcntl.h>
#include <pthread.h>
#include <setjmp.h>
#include <signal.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>
#include <sys/wait.h>
#include <unistd.h>
#include <cmocka.h>

static int shared = 1;
static struct sl_error e;

static void change(void *context, struct sl_buf *result)
{
    shared = *(const int *)context;
    sl_buf_print(result, "%d", shared);
}

static void test_aside_changes_its_copy_alone(void **state)
{
    (void)state;
    int wanted = 7;
    struct sl_buf result = {0};
    const struct sl_aside_work work = {.run = change, .context = &wanted, .seconds_max = 5};
    assert_int_equal(sl_aside_run(&work, &result, &e), SL_CODE_OK);
    assert_string_equal(result.data, "7");
    assert_int_equal(shared, 1);
    assert_int_equal(waitpid(-1, NULL, WNOHANG), -1); /* nothing is left of it */
    sl_buf_fini(&result);
}

static void print_much(void *context, struct sl_buf *result)
{
    for (size_t i = 0; i < *(const size_t *)context; i++) {
        sl_buf_text(result, "0123456789abcdef");
    }
}

static void test_aside_result_may_be_longer_than_a_pipe_is(void **state)
{
    (void)state;
    size_t count = 200000;
    struct sl_buf result = {0};
    const struct sl_aside_work work = {.run = print_much, .context = &count, .seconds_max = 5};
    assert_int_equal(sl_aside_run(&work, &result, &e), SL_CODE_OK);
    assert_int_equal(result.len, count * 16);
    sl_buf_fini(&result);
}

static void test_aside_result_is_bounded(void **state)
{
    (void)state;
    size_t count = 5u << 20;
    struct sl_buf result = {0};
    const struct sl_aside_work work = {.run = print_much, .context = &count, .seconds_max = 5};
    assert_int_equal(sl_aside_run(&work, &result, &e), SL_CODE_TOO_LARGE);
    assert_int_equal(waitpid(-1, NULL, WNOHANG), -1);
    sl_buf_fini(&result);
}

static void test_aside_can_be_read_without_waiting(void **state)
{
    (void)state;
    int wanted = 3;
    struct sl_buf result = {0};
    struct sl_aside a;
    enum sl_aside_step step = SL_ASIDE_MORE;
    const struct sl_aside_work work = {.run = change, .context = &wanted, .seconds_max = 5};
    assert_int_equal(sl_aside_begin(&work, &a, &e), SL_CODE_OK);
    while (step == SL_ASIDE_MORE) {
        step = sl_aside_read(&a, false, &result, &e);
    }
    assert_int_equal(step, SL_ASIDE_DONE);
    assert_string_equal(result.data, "3");
    sl_aside_end(&a); /* it has ended */
    sl_buf_fini(&result);
}

static void spin(void *context, struct sl_buf *result)
{
    (void)result;
    for (volatile int *go_on = context; *go_on != 0;) {
    }
}

static void test_aside_ends_when_it_takes_too_long(void **state)
{
    (void)state;
    int go_on = 1;
    struct sl_buf result = {0};
    const struct sl_aside_work work = {.run = spin, .context = &go_on, .seconds_max = 1};
    assert_int_equal(sl_aside_run(&work, &result, &e), SL_CODE_TIMEOUT);
    assert_string_equal(e.text, "it took too long");
}

static void sleep_long(void *context, struct sl_buf *result)
{
    (void)context;
    (void)result;
    for (;;) {
        (void)pause();
    }
}

static void test_aside_ends_when_it_does_nothing(void **state)
{
    (void)state;
    struct sl_buf result = {0};
    const struct sl_aside_work work = {.run = sleep_long, .seconds_max = 1};
    assert_int_equal(sl_aside_run(&work, &result, &e), SL_CODE_TIMEOUT);
}

static void test_aside_can_be_ended(void **state)
{
    (void)state;
    struct sl_aside a;
    const struct sl_aside_work work = {.run = sleep_long, .seconds_max = 60};
    assert_int_equal(sl_aside_begin(&work, &a, &e), SL_CODE_OK);
    sl_aside_end(&a);
    assert_int_equal(a.fd, -1);
    assert_int_equal(waitpid(-1, NULL, WNOHANG), -1);
    sl_aside_end(&a);
}

static void end_early(void *context, struct sl_buf *result)
{
    (void)context;
    (void)result;
    _exit(70);
}

static void test_aside_that_fails_says_so(void **state)
{
    (void)state;
    struct sl_buf result = {0};
    const struct sl_aside_work work = {.run = end_early, .seconds_max = 5};
    assert_int_equal(sl_aside_run(&work, &result, &e), SL_CODE_INTERNAL);
    assert_string_equal(e.text, "it ended without a result (status 70)");
}

/* What it could do harm with is closed; signals do what they do by default. */
static void look_around(void *context, struct sl_buf *result)
{
    struct sigaction on_term;
    sigset_t blocked;
    (void)sigaction(SIGTERM, NULL, &on_term);
    (void)sigprocmask(SIG_SETMASK, NULL, &blocked);
    sl_buf_print(result, "%s %s %s", fcntl(*(const int *)context, F_GETFD) < 0 ? "closed" : "open",
                 on_term.sa_handler == SIG_DFL ? "default" : "handled",
                 sigismember(&blocked, SIGTERM) ? "blocked" : "free");
}

static void on_term(int number)
{
    (void)number;
}

static void test_aside_has_none_of_our_files_and_handlers(void **state)
{
    (void)state;
    struct sl_buf result = {0};
    int fd = open("/dev/null", O_RDONLY);
    void (*before)(int) = signal(SIGTERM, on_term);
    const struct sl_aside_work work = {.run = look_around, .context = &fd, .seconds_max = 5};
    assert_int_equal(sl_aside_run(&work, &result, &e), SL_CODE_OK);
    assert_string_equal(result.data, "closed default free");
    assert_int_equal(fcntl(fd, F_GETFD), FD_CLOEXEC & fcntl(fd, F_GETFD));
    (void)signal(SIGTERM, before);
    (void)close(fd);
    sl_buf_fini(&result);
}

static void say_limit(void *context, struct sl_buf *result)
{
    struct rlimit data;
    (void)context;
    (void)getrlimit(RLIMIT_DATA, &data);
    sl_buf_text(result, data.rlim_cur == RLIM_INFINITY ? "unlimited" : "limited");
}

static void test_aside_memory_is_bounded(void **state)
{
    (void)state;
    struct sl_buf result = {0};
    struct sl_aside_work work = {.run = say_limit, .seconds_max = 5, .bytes_max = 1u << 30};
    assert_int_equal(sl_aside_run(&work, &result, &e), SL_CODE_OK);
    assert_string_equal(result.data, "limited");
    sl_buf_fini(&result);
}

static void test_aside_without_files_left(void **state)
{
    (void)state;
    struct rlimit before, none;
    struct sl_buf result = {0};
    (void)getrlimit(RLIMIT_NOFILE, &before);
    none = before;
    none.rlim_cur = 0;
    (void)setrlimit(RLIMIT_NOFILE, &none);
    const struct sl_aside_work work = {.run = say_limit, .seconds_max = 5};
    enum sl_code code = sl_aside_run(&work, &result, &e);
    (void)setrlimit(RLIMIT_NOFILE, &before);
    assert_int_equal(code, SL_CODE_UNAVAILABLE);
}

/* As libuv does: after a fork it makes anew what it has, by the descriptors that it knows. */
static int others_fd = -1;
static void others_handler(void)
{
    (void)close(others_fd);
}

static void change_in_copy(void *context, struct sl_buf *result)
{
    const struct sl_aside_work work = {.run = change, .context = context, .seconds_max = 5};
    if (sl_aside_run(&work, result, &e) != SL_CODE_OK) {
        sl_buf_print(result, "%s", e.text);
    }
}

static void test_aside_may_have_one_of_its_own(void **state)
{
    (void)state;
    int wanted = 7;
    struct sl_buf result = {0};
    int ends[2];
    assert_int_equal(pipe(ends), 0);
    others_fd = ends[1]; /* in the copy it is closed, and its number is that of the next pipe */
    assert_int_equal(pthread_atfork(NULL, NULL, others_handler), 0);
    const struct sl_aside_work work = {.run = change_in_copy, .context = &wanted, .seconds_max = 5};
    assert_int_equal(sl_aside_run(&work, &result, &e), SL_CODE_OK);
    assert_string_equal(result.data, "7");
    others_fd = -1;
    (void)close(ends[0]);
    (void)close(ends[1]);
    sl_buf_fini(&result);
}

static int setup(void **state)
{
    (void)state;
    sl_error_clear(&e);
    return 0;
}

int main(void)
{
#define TEST(name) cmocka_unit_test_setup(name, setup)
    const struct CMUnitTest tests[] = {TEST(test_aside_changes_its_copy_alone),
                                       TEST(test_aside_result_may_be_longer_than_a_pipe_is),
                                       TEST(test_aside_result_is_bounded),
                                       TEST(test_aside_can_be_read_without_waiting),
                                       TEST(test_aside_ends_when_it_takes_too_long),
                                       TEST(test_aside_ends_when_it_does_nothing),
                                       TEST(test_aside_can_be_ended),
                                       TEST(test_aside_that_fails_says_so),
                                       TEST(test_aside_has_none_of_our_files_and_handlers),
                                       TEST(test_aside_memory_is_bounded),
                                       TEST(test_aside_may_have_one_of_its_own),
                                       TEST(test_aside_without_files_left)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
