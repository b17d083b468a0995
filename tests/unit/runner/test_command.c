/* SPDX-License-Identifier: Apache-2.0
 * SPDX-FileCopyrightText: The Sluice authors */

/* Commands that end what a runtime has started. */
#include "t.h"
#include "runner/command.h"
#include <unistd.h>

static void count(void *context)
{
    ++*(unsigned *)context;
}

static bool run(const char *argv, unsigned *calls)
{
    struct sl_json *words = json_of(argv);
    bool ok = sl_command_run(words, calls == NULL ? NULL : count, calls);
    sl_json_free(words);
    return ok;
}

static void test_nothing_to_run_is_done(void **state)
{
    (void)state;
    assert_true(sl_command_run(NULL, NULL, NULL));
    assert_true(run("[]", NULL));
}

static void test_command_is_waited_for(void **state)
{
    (void)state;
    unsigned calls = 0;
    assert_true(run("[\"/bin/sh\",\"-c\",\"sleep 0.05\"]", &calls));
    assert_true(calls > 0);
}

static void test_command_that_fails_is_tried_again(void **state)
{
    (void)state;
    char home[64], argv[256];
    make_home(home);
    snprintf(argv, sizeof argv, "[\"/bin/sh\",\"-c\",\"echo x >> %s/n; test $(wc -l < %s/n) = 2\"]",
             home, home);
    assert_true(run(argv, NULL));
    remove_home(home);
    assert_false(run("[\"/bin/false\"]", NULL));
    assert_false(run("[\"/nonexistent/program\"]", NULL));
}

int main(void)
{
    const struct CMUnitTest tests[] = {cmocka_unit_test(test_nothing_to_run_is_done),
                                       cmocka_unit_test(test_command_is_waited_for),
                                       cmocka_unit_test(test_command_that_fails_is_tried_again)};
    return RUN(tests);
}
