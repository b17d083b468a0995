/* SPDX-License-Identifier: Apache-2.0
 * SPDX-FileCopyrightText: The Sluice authors */

/* A machine that cannot say for a while who its users are: what would run as one of them waits, and does not fail. */
#include "t.h"
#include "../controllers/fake_client.h"
#include "base/clock.h"
#include "base/log.h"
#include "base/mem.h"
#include "runner/account.h"
#include "runner/batch.h"
#include "runner/files.h"
#include "runner/processes.h"
#include "runner/shim.h"
#include <errno.h>
#include <pwd.h>
#include <sys/wait.h>
#include <unistd.h>

#define T0 1700000000000
#define NODE "here"
#define OWN "\"annotations\":{\"sluice.dev/submitted-by\":\"ann\"}"

static int outcome; /* of every look-up; 0: ann is found, and nobody else */
static int fails;   /* so many look-ups fail before that */

int getpwnam_r(const char *name, struct passwd *row, char *text, size_t size, struct passwd **found)
{
    *found = NULL;
    if (fails > 0) {
        fails--;
        return EIO;
    }
    if (outcome == 0 && strcmp(name, "ann") == 0) {
        (void)snprintf(text, size, "ann");
        *row = (struct passwd){
            .pw_name = text, .pw_dir = text, .pw_shell = text, .pw_uid = 1234, .pw_gid = 1234};
        *found = row;
    }
    return outcome;
}

struct fixture {
    struct fake fake;
    struct sl_recorder *recorder;
    struct sl_podbook *book;
    struct sl_batch batch;
    struct sl_devices devices;
    struct sl_launcher launcher; /* starts nothing */
    struct sl_processes processes;
};

static int setup(void **state)
{
    struct fixture *f = sl_mem_new(1, sizeof *f);
    struct sl_error e;
    sl_clock_set_virtual(T0);
    sl_log_setup(SL_LOG_ERROR, false);
    fake_init(&f->fake);
    outcome = 0;
    f->recorder = sl_recorder_new(&f->fake.client);
    f->book = sl_podbook_new();
    f->batch = (struct sl_batch){.book = f->book, .node = NODE, .as_submitter = true};
    sl_batch_init(&f->batch, &f->fake.client, f->recorder);
    assert_int_equal(sl_devices_init(&f->devices, NULL, &e), SL_CODE_OK);
    f->launcher = (struct sl_launcher){.orders = -1, .news = -1};
    f->processes = (struct sl_processes){.book = f->book,
                                         .launcher = &f->launcher,
                                         .data = "/nonexistent",
                                         .node = NODE,
                                         .as_submitter = true,
                                         .devices = &f->devices};
    sl_processes_init(&f->processes, &f->fake.client, f->recorder);
    *state = f;
    return 0;
}

static int teardown(void **state)
{
    struct fixture *f = *state;
    fake_flush(&f->fake);
    sl_processes_fini(&f->processes);
    sl_devices_fini(&f->devices);
    sl_batch_fini(&f->batch);
    sl_podbook_free(f->book);
    fake_fini(&f->fake);
    sl_recorder_free(f->recorder);
    sl_mem_free(f);
    return 0;
}

static enum sl_code look_up(const char *name, int how, char text[static 256])
{
    struct sl_json *job = sl_object_new(SL_KIND_JOB, "default", "j");
    struct sl_account a = {.name = NULL};
    struct sl_error e = {0};
    sl_json_set_text(sl_json_path_make(job, "metadata.annotations"), SL_ANNOTATION_SUBMITTER, name);
    outcome = how;
    enum sl_code code = sl_account_of(job, &a, &e);
    (void)snprintf(text, 256, "%.255s", e.text);
    sl_account_fini(&a);
    sl_json_free(job);
    return code;
}

static void test_account_lookup_tells_no_user_from_no_answer(void **state)
{
    char why[256];
    (void)state;
    assert_int_equal(look_up("ann", 0, why), SL_CODE_OK);
    assert_int_equal(look_up("ben", 0, why), SL_CODE_INVALID);
    assert_int_equal(look_up("ben", ENOENT, why), SL_CODE_INVALID);
    assert_int_equal(look_up("ben", ESRCH, why), SL_CODE_INVALID);
    assert_string_equal(why, "there is no local user \"ben\" to run it as");
    assert_int_equal(look_up("ann", EIO, why), SL_CODE_UNAVAILABLE);
    assert_string_equal(why, "the user \"ann\" cannot be looked up: Input/output error");
    assert_int_equal(look_up("ann", EMFILE, why), SL_CODE_UNAVAILABLE);
}

static void step(struct fixture *f, struct sl_reconciler *r, int64_t now_ms)
{
    sl_clock_set_virtual(now_ms);
    (void)sl_reconciler_step(r, now_ms, 8);
    fake_flush(&f->fake);
}

static void test_account_lookup_that_fails_lets_a_job_wait(void **state)
{
    struct fixture *f = *state;
    struct sl_json *job = json_of(
        "{\"metadata\":{\"name\":\"j\",\"namespace\":\"default\",\"uid\":\"u\"," OWN "},"
        "\"spec\":{\"template\":{\"spec\":{\"restartPolicy\":\"Never\",\"containers\":[{\"name\":"
        "\"c\",\"command\":[\"true\"]}]}}}}");
    fake_put(&f->fake, SL_KIND_JOB, job);
    outcome = EIO;
    sl_batch_observe_job(&f->batch, job);
    for (int i = 0; i < 3; i++) {
        step(f, &f->batch.jobs, T0 + i * 5000);
        job = fake_find(&f->fake, SL_KIND_JOB, "default", "j");
        assert_null(sl_json_path(job, "status"));
    }
    outcome = 0;
    step(f, &f->batch.jobs, T0 + 15000);
    job = fake_find(&f->fake, SL_KIND_JOB, "default", "j");
    assert_false(sl_condition_true(job, "Failed"));
    assert_non_null(sl_json_path(job, "status.startTime"));
}

static void test_account_lookup_that_fails_lets_a_pod_wait(void **state)
{
    struct fixture *f = *state;
    struct sl_json *pod = json_of(
        "{\"metadata\":{\"name\":\"p\",\"namespace\":\"default\",\"uid\":\"u\",\"finalizers\":"
        "[\"batch.kubernetes.io/job-tracking\"]," OWN "},\"spec\":{\"nodeName\":\"" NODE "\","
        "\"restartPolicy\":\"Never\",\"containers\":[{\"name\":\"c\",\"command\":[\"true\"]}]}}");
    fake_put(&f->fake, SL_KIND_POD, pod);
    (void)sl_podbook_observe(f->book, pod);
    outcome = EIO;
    sl_processes_observe(&f->processes, pod, false);
    sl_processes_adopt(&f->processes);
    for (int i = 0; i < 3; i++) {
        step(f, &f->processes.pods, T0 + i * 1000);
        pod = fake_find(&f->fake, SL_KIND_POD, "default", "p");
        assert_string_not_equal(sl_json_path_text(pod, "status.phase", ""), "Failed");
        assert_string_equal(
            sl_json_path_text(sl_condition_find(pod, "PodScheduled"), "message", ""),
            "the user \"ann\" cannot be looked up: Input/output error");
    }
    outcome = ENOENT;
    step(f, &f->processes.pods, T0 + 3000);
    pod = fake_find(&f->fake, SL_KIND_POD, "default", "p");
    assert_string_equal(sl_json_path_text(pod, "status.phase", ""), "Failed");
    assert_string_equal(sl_json_path_text(pod, "status.reason", ""), "UnknownUser");
}

/* Why its container was not started, by a supervisor of its own. */
static struct sl_json *supervised(const char *home)
{
    const struct sl_shim shim = {.data = home, .uid = "0a", .news = -1};
    struct sl_json *plan = json_of(
        "{\"user\":{\"name\":\"ann\",\"root\":false},\"restartPolicy\":\"Never\",\"containers\":[{"
        "\"name\":\"c\",\"argv\":[\"/bin/true\"],\"env\":[],\"dir\":\"/\"}]}");
    char *path = sl_pod_path_new(home, "0a", SL_PLAN_FILE);
    int status = 0;
    assert_true(sl_pod_dir_make(home, "0a", true) && sl_file_write(path, plan));
    sl_mem_free(path);
    sl_json_free(plan);
    pid_t pid = fork();
    if (pid == 0) {
        _exit(sl_shim_run(&shim));
    }
    assert_int_equal(waitpid(pid, &status, 0), pid);
    path = sl_pod_path_new(home, "0a", SL_STATE_FILE);
    struct sl_json *state = sl_file_read_new(path);
    assert_non_null(state);
    assert_int_equal(unlink(path), 0);
    sl_mem_free(path);
    return state;
}

/* Whether this process may become another user does not matter here: it is not the look-up that fails. */
static void test_account_lookup_is_repeated_by_a_supervisor(void **state)
{
    static const char said[] = "containers.0.message";
    char home[64];
    (void)state;
    make_home(home);
    outcome = 0;
    fails = 2;
    struct sl_json *end = supervised(home);
    assert_null(strstr(sl_json_path_text(end, said, ""), "Input/output error"));
    sl_json_free(end);
    outcome = ENOENT; /* an answer */
    end = supervised(home);
    assert_non_null(strstr(sl_json_path_text(end, said, ""), "No such file or directory"));
    sl_json_free(end);
    remove_home(home);
}

#define CASE(test) cmocka_unit_test_setup_teardown(test, setup, teardown)
int main(void)
{
    const struct CMUnitTest tests[] = {
        CASE(test_account_lookup_tells_no_user_from_no_answer),
        CASE(test_account_lookup_that_fails_lets_a_job_wait),
        CASE(test_account_lookup_that_fails_lets_a_pod_wait),
        cmocka_unit_test(test_account_lookup_is_repeated_by_a_supervisor),
    };
    return RUN(tests);
}
