/* SPDX-License-Identifier: Apache-2.0
 * SPDX-FileCopyrightText: The Sluice authors */

/* All of it together: what a start refuses, the Node of this machine, and what the launcher says. */
#include "t.h"
#include "../controllers/fake_client.h"
#include "base/clock.h"
#include "base/log.h"
#include "base/mem.h"
#include "runner/files.h"
#include "runner/runner.h"
#include <fcntl.h>
#include <unistd.h>

#define T0 1700000000000

struct fixture {
    struct fake fake;
    struct sl_recorder *recorder;
    struct sl_running running;
    unsigned woken;
    int said; /* what is written there the launcher has said */
    char home[64];
};

static void wake(void *context)
{
    ++*(unsigned *)context;
}

static int setup(void **state)
{
    struct fixture *f = sl_mem_new(1, sizeof *f);
    struct sl_error e;
    int ends[2];
    sl_clock_set_virtual(T0);
    sl_log_setup(SL_LOG_ERROR, false);
    make_home(f->home);
    fake_init(&f->fake);
    f->recorder = sl_recorder_new(&f->fake.client);
    assert_int_equal(pipe2(ends, O_NONBLOCK), 0);
    f->said = ends[1];
    f->running = (struct sl_running){.data = f->home, .node = "here"};
    f->running.launcher = (struct sl_launcher){.orders = -1, .news = ends[0]};
    assert_int_equal(sl_devices_init(&f->running.devices, "example.com/x=2", &e), SL_CODE_OK);
    sl_running_open(&f->running, &f->fake.client, f->recorder, wake, &f->woken);
    *state = f;
    return 0;
}

static int teardown(void **state)
{
    struct fixture *f = *state;
    fake_flush(&f->fake);
    sl_running_end(&f->running);
    fake_fini(&f->fake);
    sl_recorder_free(f->recorder);
    (void)close(f->said);
    remove_home(f->home);
    sl_mem_free(f);
    return 0;
}

static void step(struct fixture *f)
{
    (void)sl_reconcilers_step(f->running.parts, SL_RUNNING_PARTS, T0, 8);
    fake_flush(&f->fake);
}

static void test_runner_makes_the_node_and_keeps_it_as_it_is(void **state)
{
    struct fixture *f = *state;
    step(f);
    struct sl_json *node = fake_find(&f->fake, SL_KIND_NODE, "", "here");
    assert_non_null(node);
    assert_non_null(sl_json_get(sl_json_path(node, "status.capacity"), "example.com/x"));
    assert_true(sl_condition_true(node, "Ready"));
    /* as an earlier start has left it, with other devices */
    sl_json_set(sl_json_path_make(node, "status"), "capacity", sl_json_new_map());
    sl_running_close(&f->running);
    sl_running_open(&f->running, &f->fake.client, f->recorder, wake, &f->woken);
    step(f);
    node = fake_find(&f->fake, SL_KIND_NODE, "", "here");
    assert_non_null(sl_json_get(sl_json_path(node, "status.capacity"), "example.com/x"));
    unsigned changes = f->fake.change_count;
    sl_running_close(&f->running);
    sl_running_close(&f->running); /* it is closed */
    sl_running_open(&f->running, &f->fake.client, f->recorder, wake, &f->woken);
    step(f);
    assert_int_equal(f->fake.change_count, changes);
}

static void say(struct fixture *f, const char *text)
{
    assert_int_equal(write(f->said, text, strlen(text)), strlen(text));
    sl_running_hear(&f->running);
}

/* A directory that no pod has is looked at when something is said of it: then there is a key for it. */
static void test_runner_hears_whole_lines(void **state)
{
    struct fixture *f = *state;
    const struct sl_reconciler *leftovers = &f->running.processes.leftovers;
    step(f);
    f->woken = 0;
    say(f, "0a-");
    assert_int_equal(f->woken, 1);
    assert_int_equal(sl_work_due_ms(leftovers->work), INT64_MAX);
    say(f, "1\n0b\n../x\n");
    assert_true(sl_work_due_ms(leftovers->work) <= T0);
    step(f); /* there are no such directories */
    assert_int_equal(sl_work_due_ms(leftovers->work), INT64_MAX);
    char line[2 * SL_POD_UID_SIZE + 1];
    memset(line, 'a',
           sizeof line - 1); /* longer than any uid: it is cut, and no memory is written to */
    line[sizeof line - 1] = '\0';
    say(f, line);
    say(f, "\n");
    say(f, "0c\n");
    assert_true(sl_work_due_ms(leftovers->work) <= T0);
}

static void test_runner_refuses_to_start_without_what_it_needs(void **state)
{
    (void)state;
    struct sl_running r;
    struct sl_error e = {0};
    struct sl_running_options o = {.data = "/nonexistent", .devices = "x"};
    assert_int_equal(sl_running_begin(&r, &o, &e), SL_CODE_BAD_REQUEST);
    assert_non_null(strstr(e.text, "--devices"));
    sl_devices_fini(&r.devices);
    o = (struct sl_running_options){
        .data = "/nonexistent", .containers = true, .runtime = "/nonexistent/podman"};
    assert_int_equal(sl_running_begin(&r, &o, &e), SL_CODE_BAD_REQUEST);
    assert_non_null(strstr(e.text, "--container-runtime"));
    sl_devices_fini(&r.devices);
}

#define CASE(test) cmocka_unit_test_setup_teardown(test, setup, teardown)
int main(void)
{
    const struct CMUnitTest tests[] = {
        CASE(test_runner_makes_the_node_and_keeps_it_as_it_is),
        CASE(test_runner_hears_whole_lines),
        cmocka_unit_test(test_runner_refuses_to_start_without_what_it_needs),
    };
    return RUN(tests);
}
