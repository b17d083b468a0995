/* SPDX-License-Identifier: Apache-2.0
 * SPDX-FileCopyrightText: The Sluice authors */

/* Pods that are started, watched and stopped here: what is ordered and what is said of them, by what their directory has. The
 * test is the launcher, and starts nothing. */
#include "t.h"
#include "../controllers/fake_client.h"
#include "base/clock.h"
#include "base/log.h"
#include "base/mem.h"
#include "runner/files.h"
#include "runner/processes.h"
#include <sys/socket.h>
#include <unistd.h>

#define T0 1700000000000
#define NODE "here"
#define UID "0a-1"
#define POD_SPEC                                                                                   \
    "\"restartPolicy\":\"Never\",\"containers\":[{\"name\":\"c\",\"command\":[\"true\"]}]"

struct fixture {
    struct fake fake;
    struct sl_recorder *recorder;
    struct sl_podbook *book;
    struct sl_devices devices;
    struct sl_launcher launcher;
    struct sl_processes processes;
    int orders; /* read here */
    char home[64];
};
static bool durable;

static bool is_durable(void *self, const struct sl_json *object)
{
    (void)self;
    (void)object;
    return durable;
}

static int setup(void **state)
{
    struct fixture *f = sl_mem_new(1, sizeof *f);
    struct sl_error e;
    int ends[2];
    sl_clock_set_virtual(T0);
    sl_log_setup(SL_LOG_ERROR, false);
    make_home(f->home);
    durable = true;
    fake_init(&f->fake);
    f->fake.client.durable = is_durable;
    f->recorder = sl_recorder_new(&f->fake.client);
    f->book = sl_podbook_new();
    assert_int_equal(sl_devices_init(&f->devices, "example.com/x=1", &e), SL_CODE_OK);
    assert_int_equal(socketpair(AF_UNIX, SOCK_SEQPACKET, 0, ends), 0);
    f->orders = ends[1];
    f->launcher = (struct sl_launcher){.orders = ends[0], .news = -1};
    f->processes = (struct sl_processes){.book = f->book,
                                         .launcher = &f->launcher,
                                         .data = f->home,
                                         .node = NODE,
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
    sl_podbook_free(f->book);
    fake_fini(&f->fake);
    sl_recorder_free(f->recorder);
    (void)close(f->orders);
    (void)close(f->launcher.orders);
    remove_home(f->home);
    sl_mem_free(f);
    return 0;
}

/* --- what a test says ----------------------------------------------------------------------------------- */

static struct sl_json *pod_of(struct fixture *f)
{
    return fake_find(&f->fake, SL_KIND_POD, "default", "p");
}

static void tell(struct fixture *f)
{
    (void)sl_podbook_observe(f->book, pod_of(f));
    sl_processes_observe(&f->processes, pod_of(f), false);
}

static void put_pod(struct fixture *f, const char *metadata, const char *spec)
{
    char text[1024];
    snprintf(text, sizeof text,
             "{\"metadata\":{\"name\":\"p\",\"namespace\":\"default\",\"uid\":\"" UID
             "\"%s},\"spec\":{%s}}",
             metadata, spec);
    fake_put(&f->fake, SL_KIND_POD, json_of(text));
    tell(f);
}

static void put_bound(struct fixture *f)
{
    put_pod(f, ",\"finalizers\":[\"sluice.dev/processes\"]", "\"nodeName\":\"" NODE "\"," POD_SPEC);
}

static void look(struct fixture *f, int64_t now_ms)
{
    sl_clock_set_virtual(now_ms);
    (void)sl_reconciler_step(&f->processes.pods, now_ms, 8);
    (void)sl_reconciler_step(&f->processes.leftovers, now_ms, 8);
    fake_flush(&f->fake);
}

/* The next order, or "". */
static void assert_order(const struct fixture *f, const char *wanted)
{
    char text[128] = "";
    ssize_t n = recv(f->orders, text, sizeof text - 1, MSG_DONTWAIT);
    text[n < 0 ? 0 : n] = '\0';
    assert_string_equal(text, wanted);
}

static void write_file(const struct fixture *f, const char *name, const char *text)
{
    char *path = sl_pod_path_new(f->home, UID, name);
    struct sl_json *value = json_of(text);
    assert_true(sl_pod_dir_make(f->home, UID, false));
    assert_true(sl_file_write(path, value));
    sl_json_free(value);
    sl_mem_free(path);
}

static struct sl_json *read_file(const struct fixture *f, const char *name)
{
    char *path = sl_pod_path_new(f->home, UID, name);
    struct sl_json *value = sl_file_read_new(path);
    sl_mem_free(path);
    return value;
}

/* As a supervisor holds it; close it. */
static int lock(const struct fixture *f)
{
    char *path = sl_pod_path_new(f->home, UID, SL_LOCK_FILE);
    int fd = sl_file_lock(path);
    assert_true(fd >= 0);
    sl_mem_free(path);
    return fd;
}

static const char *phase(struct fixture *f)
{
    return sl_json_path_text(pod_of(f), "status.phase", "");
}

#define RUNS "{\"phase\":\"running\",\"containers\":[{\"name\":\"c\",\"state\":\"running\"}]}"
#define ENDED                                                                                      \
    "{\"phase\":\"ended\",\"containers\":[{\"name\":\"c\",\"state\":\"terminated\",\"exitCode\":"  \
    "0,"                                                                                           \
    "\"reason\":\"Completed\"}]}"

/* --- tests ---------------------------------------------------------------------------------------------- */

static void test_processes_bind_and_start_a_pod(void **state)
{
    struct fixture *f = *state;
    put_pod(f, "", POD_SPEC);
    look(f, T0);
    assert_string_equal(sl_json_path_text(pod_of(f), "spec.nodeName", ""), NODE);
    assert_true(sl_object_has_finalizer(pod_of(f), SL_FINALIZER_PROCESSES));
    assert_order(f, "");
    tell(f);
    look(f, T0);
    assert_order(f, "start " UID);
    struct sl_json *plan = read_file(f, SL_PLAN_FILE);
    assert_string_equal(sl_json_path_text(plan, "containers.0.argv.0", ""), "true");
    sl_json_free(plan);
    look(f, T0 + SL_LOOK_MS); /* nothing is heard of it */
    assert_order(f, "start " UID);
}

static void test_processes_leave_alone_what_is_not_to_run_here(void **state)
{
    struct fixture *f = *state;
    put_pod(f, "", "\"schedulingGates\":[{\"name\":\"g\"}]," POD_SPEC);
    look(f, T0);
    assert_string_equal(sl_json_path_text(pod_of(f), "spec.nodeName", ""), "");
    put_pod(f, "", "\"nodeSelector\":{\"kubernetes.io/hostname\":\"elsewhere\"}," POD_SPEC);
    look(f, T0);
    assert_string_equal(sl_json_path_text(pod_of(f), "spec.nodeName", ""), "");
    put_pod(f, "", "\"nodeName\":\"elsewhere\"," POD_SPEC);
    look(f, T0);
    assert_order(f, "");
    assert_string_equal(phase(f), "");
}

static void test_processes_start_what_is_durable(void **state)
{
    struct fixture *f = *state;
    durable = false;
    put_bound(f);
    look(f, T0);
    assert_order(f, "");
    durable = true;
    assert_true(sl_processes_committed(&f->processes));
    look(f, T0);
    assert_order(f, "start " UID);
    assert_false(sl_processes_committed(&f->processes));
}

static void test_processes_refuse_what_cannot_be_run(void **state)
{
    struct fixture *f = *state;
    put_pod(f, "", "\"nodeName\":\"" NODE "\",\"containers\":[{\"name\":\"c\"}]");
    look(f, T0);
    assert_string_equal(phase(f), "Failed");
    assert_string_equal(sl_json_path_text(pod_of(f), "status.reason", ""), "UnsupportedSpec");
    assert_order(f, "");
    tell(f);
    look(f, T0 + 1);
    assert_order(f, "");
}

static void test_processes_of_a_runtime_plan_its_command(void **state)
{
    struct fixture *f = *state;
    char path[] = "/usr/bin/docker";
    const struct sl_runtime runtime = {.path = path};
    f->processes.runtime = &runtime;
    put_pod(f, "", "\"nodeName\":\"" NODE "\",\"containers\":[{\"name\":\"c\",\"image\":\"i:1\"}]");
    look(f, T0);
    assert_order(f, "start " UID);
    struct sl_json *plan = read_file(f, SL_PLAN_FILE);
    assert_string_equal(sl_json_path_text(plan, "containers.0.argv.0", ""), path);
    assert_string_equal(sl_json_path_text(plan, "containers.0.end.1", ""), "rm");
    sl_json_free(plan);
}

static void test_processes_let_a_pod_wait_for_devices(void **state)
{
    struct fixture *f = *state;
    struct sl_json *numbers = json_of("{\"example.com/x\":[0]}");
    sl_devices_keep(&f->devices, "another", numbers);
    sl_json_free(numbers);
    put_pod(f, "",
            "\"nodeName\":\"" NODE "\",\"containers\":[{\"name\":\"c\",\"command\":[\"true\"],"
            "\"resources\":{\"limits\":{\"example.com/x\":1}}}]");
    look(f, T0);
    assert_order(f, "");
    assert_non_null(
        strstr(sl_json_path_text(sl_condition_find(pod_of(f), "PodScheduled"), "message", ""),
               "example.com/x"));
    sl_devices_give_back(&f->devices, "another");
    look(f, T0 + SL_LOOK_MS);
    assert_order(f, "start " UID);
}

static void test_processes_say_that_a_pod_has_no_directory(void **state)
{
    struct fixture *f = *state;
    char path[96];
    snprintf(path, sizeof path, "%s/file", f->home);
    FILE *file = fopen(path, "w");
    assert_non_null(file);
    (void)fclose(file);
    f->processes.data = path;
    put_bound(f);
    look(f, T0);
    assert_order(f, "");
    assert_string_equal(phase(f), "");
    bool said = false;
    for (struct sl_map_item i = {0}; sl_map_each(f->fake.objects, &i);) {
        said = said || strcmp(sl_json_path_text(i.value.pointer, "reason", ""), "FailedStart") == 0;
    }
    assert_true(said);
    f->processes.data = f->home;
}

static void test_processes_follow_a_pod_to_its_end(void **state)
{
    struct fixture *f = *state;
    put_bound(f);
    look(f, T0);
    assert_order(f, "start " UID);
    int held = lock(f);
    write_file(f, SL_STATE_FILE, RUNS);
    sl_processes_look(&f->processes, UID);
    look(f, T0);
    assert_string_equal(phase(f), "Running");
    tell(f);
    write_file(f, SL_STATE_FILE, ENDED);
    (void)close(held);
    sl_processes_look(&f->processes, UID);
    look(f, T0 + 5);
    assert_string_equal(phase(f), "Succeeded");
    assert_order(f, "");
}

static void test_processes_end_a_lost_pod_when_it_is_clean(void **state)
{
    struct fixture *f = *state;
    put_bound(f);
    write_file(f, SL_PLAN_FILE, "{\"namespace\":\"default\",\"name\":\"p\"}");
    write_file(f, SL_STATE_FILE, RUNS); /* and nobody has the lock */
    sl_processes_adopt(&f->processes);
    look(f, T0);
    assert_order(f, "clean " UID);
    assert_string_equal(phase(f), "");
    write_file(f, SL_CLEANED_FILE, "{}");
    look(f, T0 + SL_LOOK_MS);
    assert_string_equal(phase(f), "Failed");
    assert_string_equal(sl_json_path_text(pod_of(f), "status.reason", ""), "Lost");
}

static void test_processes_stop_what_runs_for_too_long(void **state)
{
    struct fixture *f = *state;
    put_pod(f, "",
            "\"nodeName\":\"" NODE "\",\"activeDeadlineSeconds\":5,"
            "\"terminationGracePeriodSeconds\":7," POD_SPEC);
    look(f, T0);
    assert_order(f, "start " UID);
    int held = lock(f);
    write_file(f, SL_STATE_FILE, RUNS);
    sl_processes_look(&f->processes, UID);
    look(f, T0);
    assert_order(f, "");
    tell(f);
    look(f, T0 + 6000);
    assert_order(f, "stop " UID);
    struct sl_json *stop = read_file(f, SL_STOP_FILE);
    assert_int_equal(sl_json_path_int(stop, "graceSeconds", 0), 7);
    sl_json_free(stop);
    (void)close(held);
}

static void test_processes_let_a_deleted_pod_go_when_it_has_ended(void **state)
{
    struct fixture *f = *state;
    put_bound(f);
    look(f, T0);
    assert_order(f, "start " UID);
    sl_json_set_text(sl_json_path_make(pod_of(f), "metadata"), "deletionTimestamp",
                     "2023-11-14T22:13:20Z");
    tell(f);
    look(f, T0); /* its supervisor has not begun: it sees that it is stopped */
    assert_order(f, "stop " UID);
    assert_order(f, "start " UID);
    int held = lock(f);
    write_file(f, SL_STATE_FILE, RUNS);
    look(f, T0 + SL_LOOK_MS);
    assert_order(f, "stop " UID);
    assert_order(f, "");
    assert_true(sl_object_has_finalizer(pod_of(f), SL_FINALIZER_PROCESSES));
    write_file(f, SL_STATE_FILE, ENDED);
    (void)close(held);
    look(f, T0 + 2 * SL_LOOK_MS);
    assert_false(sl_object_has_finalizer(pod_of(f), SL_FINALIZER_PROCESSES));
}

static void test_processes_remove_what_no_pod_has_any_more(void **state)
{
    struct fixture *f = *state;
    write_file(f, SL_PLAN_FILE, "{\"graceSeconds\":3}");
    write_file(f, SL_STATE_FILE, RUNS);
    int held = lock(f);
    sl_processes_adopt(&f->processes);
    look(f, T0);
    assert_order(f, "stop " UID);
    (void)close(held);
    look(f, T0 + SL_LOOK_MS);
    assert_order(f, "clean " UID);
    write_file(f, SL_CLEANED_FILE, "{}");
    look(f, T0 + 2 * SL_LOOK_MS);
    assert_order(f, "remove " UID);
    remove_home(f->home);
    look(f, T0 + 3 * SL_LOOK_MS);
    assert_order(f, "");
    sl_processes_look(&f->processes, "../../etc");
    look(f, T0 + 4 * SL_LOOK_MS);
    assert_order(f, "");
}

static void test_processes_forget_a_deleted_pod_when_that_is_durable(void **state)
{
    struct fixture *f = *state;
    put_bound(f);
    look(f, T0);
    assert_order(f, "start " UID);
    write_file(f, SL_STATE_FILE, ENDED);
    struct sl_json *pod = sl_json_clone(pod_of(f));
    sl_podbook_forget(f->book, pod);
    fake_remove(&f->fake, SL_KIND_POD, "default", "p");
    durable = false;
    sl_processes_observe(&f->processes, pod, true);
    look(f, T0);
    assert_order(f, "");
    assert_true(sl_processes_committed(&f->processes));
    look(f, T0);
    assert_order(f, "remove " UID);
    sl_json_free(pod);
}

#define CASE(test) cmocka_unit_test_setup_teardown(test, setup, teardown)
int main(void)
{
    const struct CMUnitTest tests[] = {
        CASE(test_processes_bind_and_start_a_pod),
        CASE(test_processes_leave_alone_what_is_not_to_run_here),
        CASE(test_processes_start_what_is_durable),
        CASE(test_processes_refuse_what_cannot_be_run),
        CASE(test_processes_of_a_runtime_plan_its_command),
        CASE(test_processes_let_a_pod_wait_for_devices),
        CASE(test_processes_say_that_a_pod_has_no_directory),
        CASE(test_processes_follow_a_pod_to_its_end),
        CASE(test_processes_end_a_lost_pod_when_it_is_clean),
        CASE(test_processes_stop_what_runs_for_too_long),
        CASE(test_processes_let_a_deleted_pod_go_when_it_has_ended),
        CASE(test_processes_remove_what_no_pod_has_any_more),
        CASE(test_processes_forget_a_deleted_pod_when_that_is_durable),
    };
    return RUN(tests);
}
