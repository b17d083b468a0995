/* SPDX-License-Identifier: Apache-2.0
 * SPDX-FileCopyrightText: The Sluice authors */

/* The audit log: its lines, its files, and a disk that takes nothing. */
#include "t.h"
#include "base/clock.h"
#include "base/log.h"
#include "cli/daemon/daemon_audit.h"
#include <fcntl.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <unistd.h>

static char dir[64];

static int setup(void **state)
{
    (void)state;
    (void)snprintf(dir, sizeof dir, "/tmp/sluice-test-XXXXXX");
    sl_clock_set_virtual(1787392800000); /* 2026-08-22T10:00:00Z */
    return mkdtemp(dir) == NULL;
}

static const char *file(const char *suffix)
{
    static char path[128];
    (void)snprintf(path, sizeof path, "%s/audit.log%s", dir, suffix);
    return path;
}

static int teardown(void **state)
{
    static const char *const all[] = {"", ".1", ".2", ".3", ".4", ".5"};
    (void)state;
    for (size_t i = 0; i < sizeof all / sizeof all[0]; i++) {
        (void)unlink(file(all[i]));
    }
    return rmdir(dir);
}

static const char *text_of(const char *suffix)
{
    static char text[4096];
    FILE *in = fopen(file(suffix), "r");
    size_t len = in == NULL ? 0 : fread(text, 1, sizeof text - 1, in);
    text[len] = '\0';
    if (in != NULL) {
        (void)fclose(in);
    }
    return text;
}

static void note(struct sl_daemon_audit *a, const char *path, bool dry_run)
{
    const struct sl_server_act act = {"ann", "create", path, dry_run, 201};
    sl_daemon_audit_note(a, &act);
}

static void test_audit_a_line_for_each_act(void **state)
{
    (void)state;
    struct sl_daemon_audit a;
    sl_daemon_audit_open(&a, dir);
    note(&a, "/a\"b\n", false);
    note(&a, "/c", true);
    sl_daemon_audit_close(&a);
    assert_string_equal(text_of(""),
                        "{\"time\":\"2026-08-22T10:00:00Z\",\"user\":\"ann\",\"verb\":\"create\","
                        "\"path\":\"/a\\\"b\\n\",\"code\":201}\n"
                        "{\"time\":\"2026-08-22T10:00:00Z\",\"user\":\"ann\",\"verb\":\"create\","
                        "\"path\":\"/c\",\"code\":201,\"dryRun\":true}\n");
    struct stat s;
    assert_int_equal(stat(file(""), &s), 0);
    assert_int_equal(s.st_mode & 0777, 0600);
}

static void test_audit_full_files_move_on_and_the_oldest_goes(void **state)
{
    (void)state;
    struct sl_daemon_audit a;
    sl_daemon_audit_open(&a, dir);
    a.bytes_max = 150; /* a line is of about 80 bytes */
    for (int i = 0; i < 7; i++) {
        char path[8];
        (void)snprintf(path, sizeof path, "/%d", i);
        note(&a, path, false);
    }
    sl_daemon_audit_close(&a);
    assert_non_null(strstr(text_of(""), "\"/6\""));
    assert_non_null(strstr(text_of(".1"), "\"/5\""));
    assert_non_null(strstr(text_of(".4"), "\"/2\""));
    assert_string_equal(text_of(".5"), "");
    sl_daemon_audit_open(&a, dir); /* what is there is gone on with */
    a.bytes_max = 4000;
    note(&a, "/7", false);
    sl_daemon_audit_close(&a);
    assert_non_null(strstr(text_of(""), "\"/6\""));
    assert_non_null(strstr(text_of(""), "\"/7\""));
}

static void test_audit_a_disk_that_takes_nothing_costs_lines_only(void **state)
{
    (void)state;
    struct sl_daemon_audit a;
    struct rlimit before, small;
    (void)signal(SIGXFSZ, SIG_IGN);
    assert_int_equal(getrlimit(RLIMIT_FSIZE, &before), 0);
    sl_daemon_audit_open(&a, dir);
    note(&a, "/0", false);
    small = (struct rlimit){.rlim_cur = 120, .rlim_max = before.rlim_max};
    assert_int_equal(setrlimit(RLIMIT_FSIZE, &small), 0);
    note(&a, "/1", false); /* half a line has room */
    assert_int_equal(setrlimit(RLIMIT_FSIZE, &before), 0);
    note(&a, "/2", false);
    sl_daemon_audit_close(&a);
    assert_null(strstr(text_of(""), "/1"));
    assert_non_null(strstr(text_of(""), "\"/0\",\"code\":201}\n{"));
    assert_non_null(strstr(text_of(""), "/2"));
}

static void test_audit_a_directory_that_is_not_there_is_tried_again(void **state)
{
    (void)state;
    struct sl_daemon_audit a;
    assert_int_equal(rmdir(dir), 0);
    sl_daemon_audit_open(&a, dir);
    note(&a, "/0", false);
    assert_int_equal(mkdir(dir, 0700), 0);
    note(&a, "/1", false);
    sl_daemon_audit_close(&a);
    assert_non_null(strstr(text_of(""), "/1"));
}

#define CASE(test) cmocka_unit_test_setup_teardown(test, setup, teardown)
int main(void)
{
    const struct CMUnitTest tests[] = {
        CASE(test_audit_a_line_for_each_act),
        CASE(test_audit_full_files_move_on_and_the_oldest_goes),
        CASE(test_audit_a_disk_that_takes_nothing_costs_lines_only),
        CASE(test_audit_a_directory_that_is_not_there_is_tried_again),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
