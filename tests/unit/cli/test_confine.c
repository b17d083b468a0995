/* SPDX-License-Identifier: Apache-2.0
 * SPDX-FileCopyrightText: The Sluice authors */

/* What a confined process can still do, each tried in a child: it cannot be undone. Where the kernel has no
 * Landlock or no seccomp the daemon runs without, and so these tests have nothing to look at: they fail. */
#include "t.h"
#include "base/log.h"
#include "cli/confine.h"
#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/ptrace.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

static char dir[64];
typedef bool probe(void);

/* The probe's answer after confinement. */
static bool confined(probe *p, bool may_execute)
{
    int status = 0;
    pid_t child = fork();
    assert_true(child >= 0);
    if (child == 0) {
        struct sl_error e = {0};
        const struct sl_confine_options o = {.writable = dir, .may_execute = may_execute};
        _exit(sl_confine(&o, &e) != SL_CODE_OK ? 2 : p() ? 1 : 0);
    }
    assert_int_equal(waitpid(child, &status, 0), child);
    assert_true(WIFEXITED(status));
    assert_int_not_equal(WEXITSTATUS(status), 2);
    return WEXITSTATUS(status) == 1;
}

static bool can_open(const char *path, int flags)
{
    return open(path, flags | O_CLOEXEC, 0600) >= 0;
}

static bool own_file(void)
{
    char path[96];
    (void)snprintf(path, sizeof path, "%s/file", dir);
    return can_open(path, O_RDWR | O_CREAT) && unlink(path) == 0;
}

static bool foreign_file_written(void)
{
    return can_open("/tmp/sluice-confine-elsewhere", O_RDWR | O_CREAT) || errno != EACCES;
}

static bool foreign_file_read(void)
{
    return can_open("/tmp", O_RDONLY | O_DIRECTORY) || errno != EACCES;
}

static bool system_file_read(void)
{
    return can_open("/etc/passwd", O_RDONLY);
}

static bool program_run(void)
{
    char *const arguments[] = {(char[]){"true"}, NULL};
    execv("/bin/true", arguments);
    return errno != EPERM;
}

static bool program_run_by_child(void)
{
    return system("exit 0") == 0;
}

static bool process_traced(void)
{
    return ptrace(PTRACE_TRACEME, 0, NULL, NULL) == 0;
}

static bool socket_made(void)
{
    return socket(AF_INET, SOCK_STREAM, 0) >= 0;
}

static bool owner_changed(void)
{
    return chown(dir, 12345, 12345) == 0;
}

static void test_confine_own_directory_stays_writable(void **state)
{
    (void)state;
    assert_true(confined(own_file, false));
}

static void test_confine_other_files_are_closed(void **state)
{
    (void)state;
    assert_false(confined(foreign_file_written, false));
    assert_false(confined(foreign_file_read, false));
}

static void test_confine_system_files_stay_readable(void **state)
{
    (void)state;
    assert_true(confined(system_file_read, false));
}

static void test_confine_no_program_is_run(void **state)
{
    (void)state;
    assert_false(confined(program_run, false));
    assert_true(confined(program_run_by_child, true)); /* credentials' plugins */
}

static void test_confine_unused_calls_are_refused(void **state)
{
    (void)state;
    assert_false(confined(process_traced, false));
    assert_true(confined(socket_made, false));
}

static void test_confine_capabilities_are_gone(void **state)
{
    (void)state;
    assert_false(confined(owner_changed, true));
}

static int make_dir(void **state)
{
    (void)state;
    sl_log_setup(SL_LOG_ERROR, false);
    (void)snprintf(dir, sizeof dir, "/tmp/sluice-confine-XXXXXX");
    return mkdtemp(dir) == NULL;
}

static int remove_dir(void **state)
{
    (void)state;
    return rmdir(dir);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_confine_own_directory_stays_writable),
        cmocka_unit_test(test_confine_other_files_are_closed),
        cmocka_unit_test(test_confine_system_files_stay_readable),
        cmocka_unit_test(test_confine_no_program_is_run),
        cmocka_unit_test(test_confine_unused_calls_are_refused),
        cmocka_unit_test(test_confine_capabilities_are_gone),
    };
    return cmocka_run_group_tests(tests, make_dir, remove_dir);
}
