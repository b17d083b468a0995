/* SPDX-License-Identifier: Apache-2.0
 * SPDX-FileCopyrightText: The Sluice authors */

/* Names of local users: how often the machine is asked for them. */
#include "t.h"
#include "cli/daemon/daemon_names.h"
#include <errno.h>
#include <pwd.h>
#include <stdio.h>

#define T0 1700000000000

static int outcome;    /* of every look-up */
static unsigned asked; /* so often */

/* Users below 1000 have a name. */
int getpwuid_r(uid_t uid, struct passwd *row, char *text, size_t size, struct passwd **found)
{
    asked++;
    *found = NULL;
    if (outcome == 0 && uid < 1000) {
        (void)snprintf(text, size, "user-%u", (unsigned)uid);
        *row = (struct passwd){.pw_name = text, .pw_uid = uid};
        *found = row;
    }
    return outcome;
}

static int setup(void **state)
{
    outcome = 0;
    asked = 0;
    *state = sl_mem_new(1, sizeof(struct sl_daemon_names));
    return 0;
}

static int teardown(void **state)
{
    sl_daemon_names_fini(*state);
    sl_mem_free(*state);
    return 0;
}

static void test_daemon_names_are_asked_for_once_in_some_seconds(void **state)
{
    for (int i = 0; i < 100; i++) {
        assert_string_equal(sl_daemon_names_find(*state, 7, T0 + i), "user-7");
        assert_null(sl_daemon_names_find(*state, 1000, T0 + i));
    }
    assert_int_equal(asked, 2);
    assert_string_equal(sl_daemon_names_find(*state, 7, T0 + SL_DAEMON_NAMES_MS - 1), "user-7");
    assert_int_equal(asked, 2);
    assert_string_equal(sl_daemon_names_find(*state, 7, T0 + SL_DAEMON_NAMES_MS), "user-7");
    assert_int_equal(asked, 3);
    assert_string_equal(sl_daemon_names_find(*state, 7, T0), "user-7"); /* the clock was set back */
    assert_int_equal(asked, 4);
}

static void test_daemon_names_that_cannot_be_told_are_asked_for_soon(void **state)
{
    outcome = EIO;
    assert_null(sl_daemon_names_find(*state, 7, T0));
    assert_null(sl_daemon_names_find(*state, 7, T0 + SL_DAEMON_NAMES_RETRY_MS - 1));
    assert_int_equal(asked, 1);
    outcome = 0;
    assert_string_equal(sl_daemon_names_find(*state, 7, T0 + SL_DAEMON_NAMES_RETRY_MS), "user-7");
    assert_int_equal(asked, 2);
}

static void test_daemon_names_have_a_bound_and_are_never_mixed_up(void **state)
{
    char name[32];
    for (int round = 0; round < 3; round++) {
        for (unsigned uid = 0; uid < 2 * SL_DAEMON_NAMES_MAX; uid++) {
            (void)snprintf(name, sizeof name, "user-%u", uid);
            assert_string_equal(sl_daemon_names_find(*state, uid, T0), name);
            assert_string_equal(sl_daemon_names_find(*state, uid, T0), name);
        }
    }
    assert_int_equal(asked, 6 * SL_DAEMON_NAMES_MAX);
}

#define CASE(test) cmocka_unit_test_setup_teardown(test, setup, teardown)
int main(void)
{
    const struct CMUnitTest tests[] = {
        CASE(test_daemon_names_are_asked_for_once_in_some_seconds),
        CASE(test_daemon_names_that_cannot_be_told_are_asked_for_soon),
        CASE(test_daemon_names_have_a_bound_and_are_never_mixed_up),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
