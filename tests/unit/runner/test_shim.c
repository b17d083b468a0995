/* SPDX-License-Identifier: Apache-2.0
 * SPDX-FileCopyrightText: The Sluice authors */

/* Supervisors of pods, with real programs, and the launcher that starts them. */
#include "t.h"
#include "base/clock.h"
#include "base/mem.h"
#include "runner/files.h"
#include "runner/launcher.h"
#include "runner/output.h"
#include "runner/shim.h"
#include "runner/tree.h"
#include <fcntl.h>
#include <poll.h>
#include <signal.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

#define UID "0a-1"

static void write_plan(const char *home, const char *policy, const char *containers)
{
    char text[2048];
    snprintf(text, sizeof text,
             "{\"uid\":\"" UID "\",\"restartPolicy\":\"%s\",\"graceSeconds\":1,\"containers\":%s}",
             policy, containers);
    struct sl_json *plan = json_of(text);
    char *path = sl_pod_path_new(home, UID, SL_PLAN_FILE);
    assert_true(sl_pod_dir_make(home, UID, false));
    assert_true(sl_file_write(path, plan));
    sl_mem_free(path);
    sl_json_free(plan);
}

#define ONE(script)                                                                                \
    "[{\"name\":\"c\",\"argv\":[\"sh\",\"-c\",\"" script                                           \
    "\"],\"env\":[\"PATH=/usr/bin:/bin\",\"SLUICE_POD_UID=" UID "\"],\"dir\":\"\"}]"

static pid_t start(const char *home)
{
    const struct sl_shim s = {.data = home, .uid = UID, .news = -1};
    pid_t pid = fork();
    if (pid == 0) {
        _exit(sl_shim_run(&s));
    }
    assert_true(pid > 0);
    return pid;
}

static struct sl_json *state_of(const char *home)
{
    char *path = sl_pod_path_new(home, UID, SL_STATE_FILE);
    struct sl_json *state = sl_file_read_new(path);
    sl_mem_free(path);
    return state;
}

static struct sl_json *finish(const char *home, pid_t pid)
{
    int status = -1;
    assert_int_equal(waitpid(pid, &status, 0), pid);
    assert_int_equal(status, 0);
    struct sl_json *state = state_of(home);
    assert_string_equal(sl_json_path_text(state, "phase", ""), "ended");
    return state;
}

static void wait_for(const char *home, const char *file)
{
    char *path = sl_pod_path_new(home, UID, file);
    for (int i = 0; i < 1000 && !sl_file_there(path); i++) {
        (void)usleep(10000);
    }
    assert_true(sl_file_there(path));
    sl_mem_free(path);
}

static void assert_log(const char *home, const char *file, const char *wanted)
{
    char text[256] = "";
    char *path = sl_pod_path_new(home, UID, file);
    int fd = open(path, O_RDONLY);
    assert_true(fd >= 0);
    assert_true(read(fd, text, sizeof text - 1) >= 0);
    assert_string_equal(text, wanted);
    (void)close(fd);
    sl_mem_free(path);
}

static void test_program_runs_and_its_end_is_written_down(void **state)
{
    (void)state;
    char home[64];
    make_home(home);
    write_plan(home, "Never", ONE("echo out; echo err >&2; exit 3"));
    struct sl_json *said = finish(home, start(home));
    assert_int_equal(sl_json_path_int(said, "containers.0.exitCode", 0), 3);
    assert_string_equal(sl_json_path_text(said, "containers.0.reason", ""), "Error");
    assert_log(home, "c.log", "out\nerr\n");
    sl_json_free(said);
    said = finish(home, start(home)); /* it has run: that is not done again */
    assert_log(home, "c.log", "out\nerr\n");
    sl_json_free(said);
    remove_home(home);
}

static void test_only_one_supervises(void **state)
{
    (void)state;
    char home[64];
    int status;
    make_home(home);
    write_plan(home, "Never", ONE("touch here; while ! test -e go; do sleep 0.02; done"));
    pid_t first = start(home);
    wait_for(home, "work/here");
    char *lock = sl_pod_path_new(home, UID, SL_LOCK_FILE);
    assert_true(sl_file_locked(lock));
    assert_int_equal(sl_file_lock(lock), -1);
    pid_t second = start(home);
    assert_int_equal(waitpid(second, &status, 0), second);
    assert_int_equal(status, 0);
    assert_true(sl_file_locked(lock));
    char *go = sl_pod_path_new(home, UID, "work/go");
    (void)close(open(go, O_CREAT | O_WRONLY, 0600));
    sl_json_free(finish(home, first));
    assert_false(sl_file_locked(lock));
    sl_mem_free(go);
    sl_mem_free(lock);
    remove_home(home);
}

static void test_whole_tree_ends_after_its_grace(void **state)
{
    (void)state;
    char home[64];
    make_home(home);
    write_plan(home, "Never",
               ONE("trap '' TERM; setsid sh -c 'trap \\\"\\\" TERM; touch here; while :; do sleep "
                   "1; done' & "
                   "while :; do sleep 1; done"));
    pid_t pid = start(home);
    wait_for(home, "work/here");
    int64_t from_us = sl_clock_monotonic_us();
    assert_int_equal(kill(pid, SIGTERM), 0);
    struct sl_json *said = finish(home, pid);
    assert_true(sl_clock_monotonic_us() - from_us >= 900000);
    assert_int_equal(sl_json_path_int(said, "containers.0.signal", 0), SIGKILL);
    assert_true(sl_json_path_bool(said, "stopped", false));
    assert_int_equal(sl_marked_kill(UID), 0);
    sl_json_free(said);
    remove_home(home);
}

static void test_failed_program_is_started_again(void **state)
{
    (void)state;
    char home[64];
    make_home(home);
    write_plan(home, "OnFailure", ONE("echo x; test -e flag && exit 0; touch flag; exit 5"));
    struct sl_json *said = finish(home, start(home));
    assert_int_equal(sl_json_path_int(said, "containers.0.restarts", 0), 1);
    assert_int_equal(sl_json_path_int(said, "containers.0.exitCode", -1), 0);
    assert_int_equal(sl_json_path_int(said, "containers.0.last.exitCode", 0), 5);
    assert_log(home, "c.old.log", "x\n");
    sl_json_free(said);
    remove_home(home);
}

static void test_program_that_cannot_start_is_told_of(void **state)
{
    (void)state;
    char home[64];
    make_home(home);
    write_plan(home, "Never",
               "[{\"name\":\"c\",\"argv\":[\"/no/program\"],\"env\":[],\"dir\":\"\"},"
               "{\"name\":\"d\",\"argv\":[\"/bin/true\"],\"env\":[],\"dir\":\"/no/dir\"}]");
    struct sl_json *said = finish(home, start(home));
    assert_int_equal(sl_json_path_int(said, "containers.0.exitCode", 0), 128);
    assert_string_equal(sl_json_path_text(said, "containers.0.message", ""),
                        "command /no/program: No such file or directory");
    assert_string_equal(sl_json_path_text(said, "containers.1.message", ""),
                        "workingDir /no/dir: No such file or directory");
    sl_json_free(said);
    remove_home(home);
}

static void test_failed_init_container_keeps_the_others_from_starting(void **state)
{
    (void)state;
    char home[64];
    make_home(home);
    write_plan(home, "Never",
               "[{\"name\":\"i\",\"init\":true,\"argv\":[\"/bin/false\"],\"env\":[],\"dir\":\"\"},"
               "{\"name\":\"c\",\"argv\":[\"/bin/true\"],\"env\":[],\"dir\":\"\"}]");
    struct sl_json *said = finish(home, start(home));
    assert_int_equal(sl_json_path_int(said, "containers.0.exitCode", 0), 1);
    assert_string_equal(sl_json_path_text(said, "containers.1.state", ""), "waiting");
    sl_json_free(said);
    remove_home(home);
}

static void test_output_begins_anew_at_its_size(void **state)
{
    (void)state;
    char home[64], path[128];
    struct sl_output o;
    struct stat what;
    make_home(home);
    assert_true(sl_output_open(&o, home, "c", 10));
    sl_output_add(&o, "12345678", 8);
    sl_output_add(&o, "abcdefgh", 8);
    sl_output_add(&o, "ABCDEFGH", 8);
    sl_output_close(&o);
    snprintf(path, sizeof path, "%s/c.log.1", home);
    assert_int_equal(stat(path, &what), 0);
    assert_int_equal(what.st_size, 8);
    assert_false(sl_output_open(&o, "/no/such/directory", "c", 10));
    sl_output_add(&o, "x", 1);
    remove_home(home);
}

/* --- the launcher --------------------------------------------------------------------------------------- */

static void hear(const struct sl_launcher *l)
{
    char text[128];
    struct pollfd news = {.fd = l->news, .events = POLLIN};
    assert_int_equal(poll(&news, 1, 20000), 1);
    assert_true(read(l->news, text, sizeof text) > 0);
}

static void wait_for_phase(const char *home, const struct sl_launcher *l, const char *phase)
{
    for (int i = 0; i < 100; i++) {
        struct sl_json *said = state_of(home);
        bool is = strcmp(sl_json_path_text(said, "phase", ""), phase) == 0;
        sl_json_free(said);
        if (is) {
            return;
        }
        hear(l);
    }
    fail_msg("never %s", phase);
}

static void test_launcher_starts_stops_and_removes(void **state)
{
    (void)state;
    char home[64];
    struct sl_launcher l;
    struct sl_error e = {0};
    make_home(home);
    assert_int_equal(sl_launcher_begin(home, &l, &e), SL_CODE_OK);
    write_plan(home, "Never", ONE("mkdir -m 0 closed; exec sleep 1000"));
    assert_true(sl_launcher_order(&l, SL_ORDER_START, UID));
    assert_true(sl_launcher_order(&l, SL_ORDER_START, "../../etc"));
    wait_for_phase(home, &l, "running");
    wait_for(home, "work/closed");
    assert_true(sl_launcher_order(&l, SL_ORDER_STOP, UID));
    wait_for_phase(home, &l, "ended");
    assert_true(sl_launcher_order(&l, SL_ORDER_REMOVE, UID));
    char *dir = sl_pod_path_new(home, UID, "");
    for (int i = 0; i < 1000 && sl_file_there(dir); i++) {
        (void)usleep(10000);
    }
    assert_false(sl_file_there(dir));
    sl_mem_free(dir);
    sl_launcher_end(&l);
    remove_home(home);
}

static void test_launcher_ends_what_a_killed_supervisor_leaves(void **state)
{
    (void)state;
    char home[64];
    int pid = 0;
    struct sl_launcher l;
    struct sl_error e = {0};
    make_home(home);
    assert_int_equal(sl_launcher_begin(home, &l, &e), SL_CODE_OK);
    write_plan(home, "Never",
               ONE("setsid sleep 1000 & setsid env -i sleep 1000 & touch here; sleep 1000"));
    assert_true(sl_launcher_order(&l, SL_ORDER_START, UID));
    wait_for(home, "work/here");
    wait_for_phase(home, &l, "running");
    char *lock = sl_pod_path_new(home, UID, SL_LOCK_FILE);
    FILE *f = fopen(lock, "r");
    assert_true(f != NULL && fscanf(f, "%d", &pid) == 1 && pid > 1);
    (void)fclose(f);
    assert_int_equal(kill(pid, SIGKILL), 0);
    assert_true(sl_launcher_order(&l, SL_ORDER_CLEAN, UID));
    wait_for(home, SL_CLEANED_FILE);
    assert_int_equal(sl_marked_kill(UID), 0);
    assert_int_equal(sl_process_start(pid), 0);
    sl_mem_free(lock);
    sl_launcher_end(&l);
    remove_home(home);
}

static void test_uids_that_are_no_names_are_refused(void **state)
{
    (void)state;
    static const char *const bad[] = {
        "",
        ".",
        "..",
        "a/b",
        "x",
        "a b",
        "0123456789012345678901234567890123456789012345678901234567890123"};
    for (size_t i = 0; i < sizeof bad / sizeof bad[0]; i++) {
        assert_false(sl_pod_uid_good(bad[i]));
    }
    assert_true(sl_pod_uid_good("00000000-0012-80b4-b696-31ef29a7e841"));
    assert_null(sl_file_read_new("/no/such/file"));
    assert_false(sl_file_locked("/no/such/file"));
    struct sl_json *nothing = json_of("{}");
    assert_false(sl_file_write("/no/such/file", nothing));
    sl_json_free(nothing);
    assert_false(sl_pod_dir_make("/proc/none", "a", false));
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_program_runs_and_its_end_is_written_down),
        cmocka_unit_test(test_only_one_supervises),
        cmocka_unit_test(test_whole_tree_ends_after_its_grace),
        cmocka_unit_test(test_failed_program_is_started_again),
        cmocka_unit_test(test_program_that_cannot_start_is_told_of),
        cmocka_unit_test(test_failed_init_container_keeps_the_others_from_starting),
        cmocka_unit_test(test_output_begins_anew_at_its_size),
        cmocka_unit_test(test_launcher_starts_stops_and_removes),
        cmocka_unit_test(test_launcher_ends_what_a_killed_supervisor_leaves),
        cmocka_unit_test(test_uids_that_are_no_names_are_refused)};
    return RUN(tests);
}
