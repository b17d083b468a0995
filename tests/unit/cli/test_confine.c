/* SPDX-License-Identifier: Apache-2.0
 * SPDX-FileCopyrightText: The Sluice authors */

/* What a confined process can still do, each tried in a child: it cannot be undone. Where the kernel has no
 * Landlock or no seccomp the daemon runs without, and so these tests have nothing to look at: they fail. */
#include "t.h"
#include "base/log.h"
#include "cli/daemon/confine.h"
#include "kube/credentials.h"
#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/ptrace.h>
#include <sys/resource.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

static char dir[64];
typedef bool probe(void);

/* Like the daemon: privileges first, then a runner of plugins where there are any, then the rest. */
static enum sl_code confine(struct sl_credentials *plugin, struct sl_error *e)
{
    const struct sl_confine_options o = {
        .writable = dir, .readable = plugin == NULL ? NULL : "/", .unprivileged = true};
    enum sl_code code = sl_confine_privileges(e);
    code = code == SL_CODE_OK && plugin != NULL ? sl_credentials_start_runner(plugin, e) : code;
    return code == SL_CODE_OK ? sl_confine(&o, e) : code;
}

/* The probe's answer after confinement, or with only the privileges gone. */
static bool confined(probe *p, bool privileges_only)
{
    int status = 0;
    pid_t child = fork();
    assert_true(child >= 0);
    if (child == 0) {
        struct sl_error e = {0};
        enum sl_code code = privileges_only ? sl_confine_privileges(&e) : confine(NULL, &e);
        _exit(code != SL_CODE_OK ? 2 : p() ? 1 : 0);
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

/* What is in memory, tokens among it, is written to no file. */
static bool core_dumped(void)
{
    struct rlimit limit;
    return getrlimit(RLIMIT_CORE, &limit) != 0 || limit.rlim_max > 0;
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

/* A kubeconfig with a plugin that is this script. */
static struct sl_credentials *with_plugin(const char *script)
{
    static const char config[] =
        "apiVersion: v1\nkind: Config\ncurrent-context: c\n"
        "clusters: [{name: k, cluster: {server: 'http://127.0.0.1:1'}}]\n"
        "contexts: [{name: c, context: {cluster: k, user: u}}]\n"
        "users: [{name: u, user: {exec: {apiVersion: client.authentication.k8s.io/v1, command: "
        "/bin/sh, args: [-c, %s], interactiveMode: Never}}}]\n";
    char path[96], text[1024];
    struct sl_credentials *c = NULL;
    struct sl_error e = {0};
    (void)snprintf(path, sizeof path, "%s/kubeconfig", dir);
    (void)snprintf(text, sizeof text, config, script);
    FILE *f = fopen(path, "w");
    assert_non_null(f);
    assert_true(fputs(text, f) >= 0);
    assert_int_equal(fclose(f), 0);
    if (sl_credentials_from_file(path, NULL, &c, &e) != SL_CODE_OK) {
        fail_msg("%s", e.text);
    }
    (void)unlink(path);
    return c;
}

static bool says(const char *file, const char *line)
{
    char text[4096];
    FILE *f = fopen(file, "r");
    size_t got = f == NULL ? 0 : fread(text, 1, sizeof text - 1, f);
    text[got] = '\0';
    return f != NULL && fclose(f) == 0 && strstr(text, line) != NULL;
}

/* What the child finds, as an exit code: 0 is well. */
static int try_plugin(struct sl_credentials *c, const char *token)
{
    struct sl_error e = {0};
    struct sl_identity who = {0};
    if (confine(c, &e) != SL_CODE_OK) {
        return 2;
    }
    if (!says("/proc/self/status", "Seccomp:\t2") || !says("/proc/self/status", "NoNewPrivs:\t1")) {
        return 3;
    }
    if (foreign_file_written() || program_run()) {
        return 4;
    }
    enum sl_code code = sl_credentials_identity(c, 1000000, false, &who, &e);
    if (token == NULL) {
        return code == SL_CODE_UNAVAILABLE ? 0 : 5;
    }
    bool well = code == SL_CODE_OK && who.token != NULL && strcmp(who.token, token) == 0;
    sl_credentials_free(c);
    return well ? 0 : 6;
}

static int tried_plugin(const char *script, const char *token)
{
    int status = 0;
    struct sl_credentials *c = with_plugin(script);
    pid_t child = fork();
    assert_true(child >= 0);
    if (child == 0) {
        _exit(try_plugin(c, token));
    }
    assert_int_equal(waitpid(child, &status, 0), child);
    assert_true(WIFEXITED(status));
    sl_credentials_free(c);
    return WEXITSTATUS(status);
}

#define ANSWER                                                                                     \
    "'echo \"{\\\"apiVersion\\\": \\\"client.authentication.k8s.io/v1\\\", \\\"kind\\\": "         \
    "\\\"ExecCredential\\\", \\\"status\\\": {\\\"token\\\": \\\"$(grep -c Seccomp:.2 "            \
    "/proc/self/status)\\\"}}\"'"

/* Its plugin is run by somebody who is not confined, and it stays so itself. */
static void test_confine_a_plugin_is_run_by_a_process_of_its_own(void **state)
{
    (void)state;
    assert_int_equal(tried_plugin(ANSWER, "0"), 0);
    assert_int_equal(tried_plugin("'exit 3'", NULL), 0);
    assert_int_equal(tried_plugin("'kill -9 $PPID; sleep 1'", NULL), 0); /* the runner itself */
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

static void test_confine_dumps_no_core(void **state)
{
    (void)state;
    assert_false(confined(core_dumped, false));
    assert_false(confined(core_dumped, true));
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_confine_own_directory_stays_writable),
        cmocka_unit_test(test_confine_other_files_are_closed),
        cmocka_unit_test(test_confine_system_files_stay_readable),
        cmocka_unit_test(test_confine_no_program_is_run),
        cmocka_unit_test(test_confine_a_plugin_is_run_by_a_process_of_its_own),
        cmocka_unit_test(test_confine_unused_calls_are_refused),
        cmocka_unit_test(test_confine_capabilities_are_gone),
        cmocka_unit_test(test_confine_dumps_no_core),
    };
    return cmocka_run_group_tests(tests, make_dir, remove_dir);
}
