/* SPDX-License-Identifier: Apache-2.0
 * SPDX-FileCopyrightText: The Sluice authors */

/* The controllers together: nothing is decided before everything has been read, unusable objects are reported, and
 * the clock is kept. The engine is a stub. */
#include "t.h"
#include "base/clock.h"
#include "base/log.h"
#include "controllers/control/controllers.h"
#include "engine/why/why.h"
#include "fake_client.h"

#define T0 1700000000000

static struct {
    unsigned observed, forgotten, synced, cycles;
    int64_t due_ms;
    bool unusable;
    bool wants_workloads, counts_devices, wants_requests, requests_stay;
    enum sl_sight sight;
} stub;

enum sl_code sl_engine_observe(struct sl_engine *g, enum sl_kind kind, const struct sl_json *object,
                               int64_t now_ms, struct sl_error *e)
{
    (void)g;
    (void)object;
    (void)now_ms;
    assert_int_not_equal(kind, SL_KIND_JOB);
    stub.observed++;
    if (stub.unusable) {
        sl_error_cause(e, "FieldValueInvalid", "spec.parentName", "it is its own ancestor");
        return SL_CODE_INVALID;
    }
    return SL_CODE_OK;
}

void sl_engine_forget(struct sl_engine *g, enum sl_kind kind, const struct sl_json *object,
                      int64_t now_ms)
{
    (void)g;
    (void)kind;
    (void)object;
    (void)now_ms;
    stub.forgotten++;
}

void sl_engine_say_run_time(struct sl_engine *g, const char *uid, enum sl_run_basis basis,
                            int64_t ms)
{
    (void)g;
    (void)uid;
    (void)basis;
    (void)ms;
}

void sl_engine_synced(struct sl_engine *g, int64_t now_ms)
{
    (void)g;
    (void)now_ms;
    stub.synced++;
}

bool sl_engine_cycle(struct sl_engine *g, int64_t now_ms)
{
    (void)g;
    (void)now_ms;
    assert_int_equal(stub.synced, 1);
    stub.cycles++;
    return false;
}

int64_t sl_engine_due_ms(const struct sl_engine *g)
{
    (void)g;
    return stub.due_ms;
}

bool sl_engine_next_decision(struct sl_engine *g, struct sl_decision *out)
{
    (void)g;
    (void)out;
    return false;
}

struct sl_json *sl_why_workload_new(struct sl_engine *g, const struct sl_why_ask *ask)
{
    (void)g;
    (void)ask;
    return NULL;
}

bool sl_engine_next_touched(struct sl_engine *g, enum sl_kind *kind, const char **ns,
                            const char **name)
{
    (void)g;
    (void)kind;
    (void)ns;
    (void)name;
    return false;
}

void sl_engine_want_workloads(struct sl_engine *g)
{
    (void)g;
    stub.wants_workloads = true;
}

bool sl_engine_counts_devices(const struct sl_engine *g)
{
    (void)g;
    return stub.counts_devices;
}

bool sl_engine_settle_requests(struct sl_engine *g)
{
    (void)g;
    return !stub.requests_stay;
}

bool sl_engine_wants_requests(struct sl_engine *g)
{
    (void)g;
    bool wants = stub.wants_requests;
    stub.wants_requests = false;
    return wants;
}

bool sl_engine_wants_workloads(struct sl_engine *g)
{
    (void)g;
    bool wants = stub.wants_workloads;
    stub.wants_workloads = false;
    return wants;
}

uint32_t sl_engine_holders(const struct sl_engine *g, const char *cluster_queue)
{
    (void)g;
    (void)cluster_queue;
    return 0;
}

struct sl_json *sl_engine_queue_status(struct sl_engine *g, enum sl_kind kind, const char *ns,
                                       const char *name)
{
    (void)g;
    (void)kind;
    (void)ns;
    (void)name;
    return NULL;
}

enum sl_to_write sl_engine_write(struct sl_engine *g, const struct sl_decision *d,
                                 const struct sl_json *live, struct sl_json **patch)
{
    (void)g;
    (void)d;
    (void)live;
    *patch = NULL;
    return SL_TO_WRITE_NOTHING;
}

bool sl_engine_waits(struct sl_engine *g, const struct sl_decision *d)
{
    (void)g;
    (void)d;
    return false;
}

enum sl_then sl_engine_written(struct sl_engine *g, const struct sl_decision *d, enum sl_code code,
                               const struct sl_json *written, int64_t now_ms)
{
    (void)g;
    (void)d;
    (void)code;
    (void)written;
    (void)now_ms;
    return SL_THEN_NOTHING;
}

void sl_engine_show(struct sl_engine *g, const struct sl_json *workload, int64_t now_ms)
{
    (void)g;
    (void)workload;
    (void)now_ms;
}

unsigned sl_engine_news(const struct sl_engine *g)
{
    (void)g;
    return 0;
}

enum sl_sight sl_engine_recognise(struct sl_engine *g, const struct sl_json *workload,
                                  int64_t now_ms)
{
    (void)g;
    (void)workload;
    (void)now_ms;
    return stub.sight;
}

void sl_engine_count(const struct sl_engine *g, struct sl_engine_counters *out)
{
    (void)g;
    *out = (struct sl_engine_counters){0};
}

void sl_engine_job_stopped(struct sl_engine *g, const struct sl_json *workload, int64_t now_ms)
{
    (void)g;
    (void)workload;
    (void)now_ms;
}

bool sl_engine_waits_for_pods(const struct sl_engine *g)
{
    (void)g;
    return false;
}

bool sl_engine_reclaims(const struct sl_engine *g)
{
    (void)g;
    return true;
}

bool sl_engine_queue_figures(const struct sl_engine *g, enum sl_kind kind, const char *ns,
                             const char *name, struct sl_queue_figures *out)
{
    (void)g;
    (void)kind;
    (void)ns;
    (void)name;
    (void)out;
    return false;
}

/* A client whose lists are delivered when the test says so. */
static struct {
    sl_watch_fn *fn;
    void *context;
} watches[SL_KIND_COUNT];
static unsigned kicks;

static void watch_later(void *self, enum sl_kind kind, sl_watch_fn *fn, void *context)
{
    (void)self;
    watches[kind].fn = fn;
    watches[kind].context = context;
}

static void kick(void *context)
{
    (void)context;
    kicks++;
}

struct fixture {
    struct fake fake;
    struct sl_controllers *controllers;
};

static int setup_with(void **state, bool devices)
{
    struct fixture *f = sl_mem_new(1, sizeof *f);
    memset(&stub, 0, sizeof stub);
    stub.counts_devices = devices;
    memset(watches, 0, sizeof watches);
    stub.due_ms = INT64_MAX;
    kicks = 0;
    sl_clock_set_virtual(T0);
    sl_log_setup(SL_LOG_ERROR, false);
    fake_init(&f->fake);
    f->fake.client.watch = watch_later;
    struct sl_controllers_options options = {
        .client = f->fake.client, .engine = (struct sl_engine *)f, .run_jobs = true, .kick = kick};
    f->controllers = sl_controllers_new(&options);
    sl_controllers_start(f->controllers);
    *state = f;
    return 0;
}

static int setup(void **state)
{
    return setup_with(state, false);
}

static int setup_devices(void **state)
{
    return setup_with(state, true);
}

static int teardown(void **state)
{
    struct fixture *f = *state;
    fake_flush(&f->fake);
    sl_controllers_free(f->controllers);
    fake_fini(&f->fake);
    sl_mem_free(f);
    return 0;
}

static void deliver(enum sl_kind kind, enum sl_watch_type type, struct sl_json *object)
{
    watches[kind].fn(watches[kind].context, type, kind, object);
}

static void sync_all_but(enum sl_kind left_out)
{
    for (int kind = 0; kind < SL_KIND_COUNT; kind++) {
        if (watches[kind].fn != NULL && (enum sl_kind)kind != left_out) {
            deliver((enum sl_kind)kind, SL_WATCH_SYNCED, NULL);
        }
    }
}

static void test_controllers_decide_nothing_before_every_kind_is_read(void **state)
{
    struct fixture *f = *state;
    sync_all_but(SL_KIND_WORKLOAD);
    assert_false(sl_controllers_ready(f->controllers));
    assert_false(sl_controllers_step(f->controllers, T0));
    assert_int_equal(stub.cycles, 0);
    assert_true(sl_controllers_due_ms(f->controllers) == INT64_MAX);

    deliver(SL_KIND_WORKLOAD, SL_WATCH_SYNCED, NULL);
    assert_true(sl_controllers_ready(f->controllers));
    sl_controllers_step(f->controllers, T0);
    assert_int_equal(stub.cycles, 1);
}

static void test_controllers_synced_twice_counts_once(void **state)
{
    struct fixture *f = *state;
    sync_all_but(SL_KIND_WORKLOAD);
    sync_all_but(SL_KIND_WORKLOAD);
    assert_false(sl_controllers_ready(f->controllers));
}

static void test_controllers_feed_the_engine_and_kick(void **state)
{
    (void)state;
    struct sl_json *wl = parse("{\"metadata\":{\"name\":\"w\",\"namespace\":\"n\"}}");
    deliver(SL_KIND_WORKLOAD, SL_WATCH_ADDED, wl);
    deliver(SL_KIND_WORKLOAD, SL_WATCH_MODIFIED, wl);
    deliver(SL_KIND_WORKLOAD, SL_WATCH_DELETED, wl);
    deliver(SL_KIND_JOB, SL_WATCH_ADDED, wl);
    assert_int_equal(stub.observed, 2);
    assert_int_equal(stub.forgotten, 1);
    assert_int_equal(kicks, 4);
    sl_json_free(wl);
}

/* It is told just before the answer to the write that may have made it. */
static void test_controllers_what_may_be_an_echo_is_fed_when_the_answers_are_in(void **state)
{
    struct fixture *f = *state;
    struct sl_json *wl = parse("{\"metadata\":{\"name\":\"w\",\"namespace\":\"n\"}}");
    sync_all_but(SL_KIND_COUNT);
    stub.sight = SL_SIGHT_UNSURE;
    deliver(SL_KIND_WORKLOAD, SL_WATCH_MODIFIED, wl);
    assert_int_equal(stub.observed, 0);
    assert_true(sl_controllers_due_ms(f->controllers) == INT64_MIN);
    sl_controllers_step(f->controllers, T0); /* no answer came: it is news */
    assert_int_equal(stub.observed, 1);

    deliver(SL_KIND_WORKLOAD, SL_WATCH_MODIFIED, wl);
    stub.sight = SL_SIGHT_ECHO;
    sl_controllers_step(f->controllers, T0);
    sl_controllers_step(f->controllers, T0);
    assert_int_equal(stub.observed, 1);

    stub.sight = SL_SIGHT_UNSURE; /* one after the other, and before it is gone */
    deliver(SL_KIND_WORKLOAD, SL_WATCH_MODIFIED, wl);
    deliver(SL_KIND_WORKLOAD, SL_WATCH_MODIFIED, wl);
    assert_int_equal(stub.observed, 2);
    deliver(SL_KIND_WORKLOAD, SL_WATCH_DELETED, wl);
    assert_int_equal(stub.observed, 3);
    assert_int_equal(stub.forgotten, 1);
    sl_json_free(wl);
}

/* No watch event need come: the read itself is tried again. */
static void test_controllers_workloads_that_could_not_be_read_again_are_read_later(void **state)
{
    struct fixture *f = *state;
    fake_put(&f->fake, SL_KIND_WORKLOAD,
             parse("{\"metadata\":{\"name\":\"w\",\"namespace\":\"n\"}}"));
    sync_all_but(SL_KIND_COUNT);
    sl_controllers_step(f->controllers, T0);
    unsigned before = stub.observed;
    stub.due_ms = INT64_MAX;
    stub.wants_workloads = true;
    f->fake.list_code = SL_CODE_UNAVAILABLE;
    struct sl_json *namespace = parse("{\"metadata\":{\"name\":\"n\"}}");
    deliver(SL_KIND_NAMESPACE, SL_WATCH_MODIFIED, namespace);
    sl_json_free(namespace);
    assert_int_equal(stub.observed, before + 1);
    sl_controllers_step(f->controllers, T0);
    int64_t due_ms = sl_controllers_due_ms(f->controllers);
    assert_true(due_ms > T0 && due_ms < INT64_MAX);

    sl_controllers_step(f->controllers, due_ms); /* it fails once more */
    f->fake.list_code = SL_CODE_OK;
    due_ms = sl_controllers_due_ms(f->controllers);
    assert_true(due_ms < INT64_MAX);
    sl_controllers_step(f->controllers, due_ms);
    assert_int_equal(stub.observed, before + 2);
    assert_true(sl_controllers_due_ms(f->controllers) == INT64_MAX);
}

static void test_controllers_look_at_devices_only_where_they_count(void **state)
{
    (void)state;
    assert_null(watches[SL_KIND_DEVICE_CLASS].fn);
    assert_null(watches[SL_KIND_RESOURCE_CLAIM_TEMPLATE].fn);
    assert_null(watches[SL_KIND_RESOURCE_SLICE].fn);
    assert_null(watches[SL_KIND_RESOURCE_CLAIM].fn);
}

/* They often come several at a time. */
static void test_controllers_templates_have_all_workloads_read_again_once(void **state)
{
    struct fixture *f = *state;
    struct sl_json *t = parse("{\"metadata\":{\"name\":\"t\",\"namespace\":\"n\"}}");
    fake_put(&f->fake, SL_KIND_WORKLOAD,
             parse("{\"metadata\":{\"name\":\"w\",\"namespace\":\"n\"}}"));
    sync_all_but(SL_KIND_RESOURCE_CLAIM_TEMPLATE);
    assert_false(sl_controllers_ready(f->controllers));
    deliver(SL_KIND_RESOURCE_CLAIM_TEMPLATE, SL_WATCH_SYNCED, NULL);
    sl_controllers_step(f->controllers, T0);
    unsigned before = stub.observed;
    for (int i = 0; i < 3; i++) {
        stub.wants_requests = true;
        deliver(SL_KIND_RESOURCE_CLAIM_TEMPLATE, SL_WATCH_ADDED, t);
    }
    sl_json_free(t);
    assert_int_equal(stub.observed, before + 3);
    sl_controllers_step(f->controllers, T0);
    assert_int_equal(stub.observed, before + 3);
    assert_true(sl_controllers_due_ms(f->controllers) == T0 + 1000);
    sl_controllers_step(f->controllers, T0 + 1000);
    assert_int_equal(stub.observed, before + 4);
    assert_true(sl_controllers_due_ms(f->controllers) == INT64_MAX);
}

/* Most news of devices makes no difference to any claim. */
static void test_controllers_devices_that_change_no_count_have_nothing_read_again(void **state)
{
    struct fixture *f = *state;
    struct sl_json *s = parse("{\"metadata\":{\"name\":\"s\"}}");
    fake_put(&f->fake, SL_KIND_WORKLOAD,
             parse("{\"metadata\":{\"name\":\"w\",\"namespace\":\"n\"}}"));
    sync_all_but(SL_KIND_COUNT);
    sl_controllers_step(f->controllers, T0);
    stub.wants_requests = stub.requests_stay = true;
    deliver(SL_KIND_RESOURCE_SLICE, SL_WATCH_ADDED, s);
    sl_json_free(s);
    unsigned before = stub.observed;
    sl_controllers_step(f->controllers, T0);
    assert_true(sl_controllers_due_ms(f->controllers) == T0 + 1000);
    sl_controllers_step(f->controllers, T0 + 1000);
    assert_int_equal(stub.observed, before);
    assert_true(sl_controllers_due_ms(f->controllers) == INT64_MAX);
}

static void test_controllers_unusable_object_gets_an_event(void **state)
{
    struct fixture *f = *state;
    struct sl_json *cohort = parse("{\"metadata\":{\"name\":\"loop\"}}");
    stub.unusable = true;
    deliver(SL_KIND_COHORT, SL_WATCH_ADDED, cohort);
    assert_int_equal(fake_count(&f->fake, SL_KIND_EVENT), 1);
    sl_json_free(cohort);
}

static void test_controllers_due_is_the_engines_when_nothing_else_waits(void **state)
{
    struct fixture *f = *state;
    sync_all_but(SL_KIND_COUNT);
    sl_controllers_step(f->controllers, T0);
    stub.due_ms = T0 + 77;
    assert_true(sl_controllers_due_ms(f->controllers) == T0 + 77);
}

/* By hand, while many others are to be looked at: it is suspended again before anything stands in for its pods. */
static void test_controllers_start_by_hand_runs_nothing_however_many_jobs_wait(void **state)
{
    struct fixture *f = *state;
    sync_all_but(SL_KIND_COUNT);
    sl_controllers_step(f->controllers, T0);
    for (int i = 0; i <= 40; i++) {
        char text[400];
        (void)snprintf(
            text, sizeof text,
            "{\"metadata\":{\"name\":\"j%d\",\"namespace\":\"n\",\"uid\":\"u%d\",\"labels\":{"
            "\"kueue.x-k8s.io/queue-name\":\"q\"}},\"spec\":{\"suspend\":%s,\"template\":{"
            "\"spec\":{\"containers\":[]}}}}",
            i, i, i < 40 ? "true" : "false");
        fake_put(&f->fake, SL_KIND_JOB, parse(text));
        char name[8];
        (void)snprintf(name, sizeof name, "j%d", i);
        deliver(SL_KIND_JOB, SL_WATCH_ADDED, fake_find(&f->fake, SL_KIND_JOB, "n", name));
    }
    for (int i = 0; i < 8; i++) {
        (void)sl_controllers_step(f->controllers, T0);
        fake_flush(&f->fake);
        assert_null(sl_json_path(fake_find(&f->fake, SL_KIND_JOB, "n", "j40"), "status.startTime"));
    }
    assert_true(
        sl_json_path_bool(fake_find(&f->fake, SL_KIND_JOB, "n", "j40"), "spec.suspend", false));
}

#define TEST(name) cmocka_unit_test_setup_teardown(name, setup, teardown)
int main(void)
{
    const struct CMUnitTest tests[] = {
        TEST(test_controllers_decide_nothing_before_every_kind_is_read),
        TEST(test_controllers_synced_twice_counts_once),
        TEST(test_controllers_feed_the_engine_and_kick),
        TEST(test_controllers_what_may_be_an_echo_is_fed_when_the_answers_are_in),
        TEST(test_controllers_look_at_devices_only_where_they_count),
        cmocka_unit_test_setup_teardown(
            test_controllers_templates_have_all_workloads_read_again_once, setup_devices, teardown),
        cmocka_unit_test_setup_teardown(
            test_controllers_devices_that_change_no_count_have_nothing_read_again, setup_devices,
            teardown),
        TEST(test_controllers_unusable_object_gets_an_event),
        TEST(test_controllers_workloads_that_could_not_be_read_again_are_read_later),
        TEST(test_controllers_due_is_the_engines_when_nothing_else_waits),
        TEST(test_controllers_start_by_hand_runs_nothing_however_many_jobs_wait),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
