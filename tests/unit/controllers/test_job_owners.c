/* SPDX-License-Identifier: Apache-2.0
 * SPDX-FileCopyrightText: The Sluice authors */

/* Jobs whose owner is of a kind that a controller elsewhere manages: Flow, of which only the name is known, and whose
 * Workloads have names that nothing here would give. The engine is a stub. */
#include "shipped.h"
#include "base/clock.h"
#include "engine/parents.h"
#include "controllers/jobs/job.h"
#include "controllers/jobs/job_owners.h"
#include "fake_client.h"

#define T0 1700000000000
#define QUEUE "kueue.x-k8s.io/queue-name: q"
#define FLOW "Flow.v1.example.com"

struct fixture {
    struct fake fake;
    struct sl_recorder *recorder;
    struct sl_jobs jobs;
    enum sl_kind flow;
};

bool sl_engine_reclaims(const struct sl_engine *g)
{
    (void)g;
    return true;
}

bool sl_engine_waits_for_pods(const struct sl_engine *g)
{
    (void)g;
    return false;
}

bool sl_engine_is_parent(const struct sl_engine *g, const struct sl_json *workload)
{
    (void)g;
    (void)workload;
    return false;
}

void sl_engine_job_stopped(struct sl_engine *g, const struct sl_json *workload, int64_t now_ms)
{
    (void)g;
    (void)workload;
    (void)now_ms;
}

static const char *const externals[] = {FLOW, "Task.v1.example.com"};
static const struct sl_job_rules rules = {.external_count = 2, .externals = externals};

static int setup(void **state)
{
    struct fixture *f = sl_mem_new(1, sizeof *f);
    struct sl_error e = {0};
    sl_clock_set_virtual(T0);
    fake_init(&f->fake);
    f->recorder = sl_recorder_new(&f->fake.client);
    assert_int_equal(sl_externals_register(&rules, &e), SL_CODE_OK);
    f->flow = sl_kind_find_object("example.com/v1", "Flow");
    assert_true(f->flow >= SL_KIND_CUSTOM && f->flow < SL_KIND_COUNT);
    assert_true(sl_kind_found(f->flow, "flows", true));
    sl_jobs_init(&f->jobs, &f->fake.client, f->recorder, NULL, &rules);
    *state = f;
    return 0;
}

static int teardown(void **state)
{
    struct fixture *f = *state;
    fake_flush(&f->fake);
    sl_jobs_fini(&f->jobs);
    fake_fini(&f->fake);
    sl_recorder_free(f->recorder);
    sl_mem_free(f);
    sl_adapters_forget();
    sl_kind_forget_custom();
    return 0;
}

static void show(struct fixture *f, enum sl_kind kind, const char *name)
{
    struct sl_json *o = fake_find(&f->fake, kind, "ns", name);
    if (o != NULL) {
        struct sl_json *seen = sl_json_clone(o);
        sl_jobs_observe(&f->jobs, kind, seen, false, T0);
        sl_json_free(seen);
    }
}

static void put(struct fixture *f, enum sl_kind kind, const char *text)
{
    struct sl_json *o = yaml(text);
    sl_json_set_text(o, "apiVersion", sl_kind_info(kind)->api_version);
    sl_json_set_text(o, "kind", sl_kind_info(kind)->kind);
    fake_put(&f->fake, kind, o);
    show(f, kind, sl_object_name(o));
}

static void step(struct fixture *f)
{
    for (int i = 0; i < 4; i++) {
        sl_jobs_step(&f->jobs, T0 + 60000 * i, 16);
        fake_flush(&f->fake);
    }
}

/* The same, and what is written of the child is seen. */
static void settle(struct fixture *f)
{
    step(f);
    show(f, SL_KIND_JOB, "child");
    step(f);
}

static void put_flow(struct fixture *f, const char *labels)
{
    char text[200];
    (void)snprintf(text, sizeof text, "{metadata: {name: a, namespace: ns, uid: u, labels: {%s}}}",
                   labels);
    put(f, f->flow, text);
}

static void put_child(struct fixture *f, const char *labels, const char *uid)
{
    char text[600];
    (void)snprintf(
        text, sizeof text,
        "{metadata: {name: child, namespace: ns, uid: c, labels: {%s}, ownerReferences:"
        " [{apiVersion: example.com/v1, kind: Flow, name: a, uid: %s, controller: true}]}"
        ", spec: {suspend: false, template: {spec: {containers: [{name: c}]}}}}",
        labels, uid);
    put(f, SL_KIND_JOB, text);
}

static void put_workload(struct fixture *f, const char *name, bool admitted)
{
    char text[600];
    (void)snprintf(text, sizeof text,
                   "{metadata: {name: %s, namespace: ns, uid: w-%s, ownerReferences:"
                   " [{apiVersion: example.com/v1, kind: Flow, name: a, uid: u, controller: true}]}"
                   ", spec: {queueName: q, podSets: []}, status: {conditions: [{type: Admitted,"
                   " status: '%s', reason: R}]}}",
                   name, name, admitted ? "True" : "False");
    put(f, SL_KIND_WORKLOAD, text);
}

static bool suspended(struct fixture *f)
{
    return sl_job_suspended(fake_find(&f->fake, SL_KIND_JOB, "ns", "child"));
}

static bool has_workload(struct fixture *f)
{
    char name[254];
    sl_framework_workload_name(&sl_job_framework, "child", "c", name);
    return fake_find(&f->fake, SL_KIND_WORKLOAD, "ns", name) != NULL;
}

static void test_job_owners_child_of_an_external_owner_runs_with_that_ones_workload(void **state)
{
    struct fixture *f = *state;
    put_flow(f, QUEUE);
    put_child(f, QUEUE, "u");
    step(f);
    assert_false(has_workload(f));
    assert_true(suspended(f)); /* there is no Workload yet */
    put_workload(f, "whatever", true);
    put_child(f, QUEUE, "u"); /* resumed by its own controller */
    step(f);
    assert_false(has_workload(f));
    assert_false(suspended(f));
    put_workload(f, "whatever", false); /* nothing is seen of the child */
    step(f);
    assert_true(suspended(f));
}

/* One that has ended says nothing, and one of several is enough, as while a slice replaces another. */
static void test_job_owners_any_workload_of_the_owner_may_be_admitted(void **state)
{
    struct fixture *f = *state;
    put_flow(f, QUEUE);
    put_workload(f, "waits", false);
    put_workload(f, "runs", true);
    put_child(f, "", "u");
    step(f);
    assert_false(suspended(f));
    sl_condition_set(
        sl_json_path_make(fake_find(&f->fake, SL_KIND_WORKLOAD, "ns", "runs"), "status"),
        "Finished", true, "R", "", 0, T0);
    show(f, SL_KIND_WORKLOAD, "runs");
    step(f);
    assert_true(suspended(f));
}

static void test_job_owners_child_of_an_external_owner_without_a_queue_is_a_job(void **state)
{
    struct fixture *f = *state;
    put_flow(f, "");
    put_child(f, "", "u");
    settle(f);
    assert_false(has_workload(f) || suspended(f));
    put_child(f, QUEUE, "u");
    settle(f);
    assert_true(has_workload(f) && suspended(f));
}

/* The child is looked at again although nothing has happened to it. */
static void test_job_owners_external_owner_that_gets_a_queue(void **state)
{
    struct fixture *f = *state;
    put_flow(f, "");
    put_child(f, "", "u");
    step(f);
    assert_false(suspended(f));
    put_flow(f, QUEUE);
    step(f);
    assert_true(suspended(f));
    assert_false(has_workload(f));
}

static void test_job_owners_another_object_of_that_name_is_no_owner(void **state)
{
    struct fixture *f = *state;
    put_flow(f, QUEUE);
    put_child(f, QUEUE, "other");
    settle(f);
    assert_true(has_workload(f));
}

/* The watch of its kind is behind: it is read at the source, and then found. */
static void test_job_owners_owner_that_the_cache_lacks_is_asked_for(void **state)
{
    struct fixture *f = *state;
    f->fake.client.cached = true;
    f->fake.hides = true;
    f->fake.hidden = f->flow;
    put_flow(f, QUEUE);
    put_child(f, QUEUE, "u");
    sl_jobs_step(&f->jobs, T0, 16);
    assert_int_equal(f->fake.last_verb, SL_VERB_READ);
    fake_flush(&f->fake);
    assert_false(has_workload(f) || suspended(f)); /* it stays as it is until it is known */
    f->fake.hides = false;
    step(f);
    assert_true(suspended(f));
    assert_false(has_workload(f));
}

static void test_job_owners_owner_that_is_gone_is_none(void **state)
{
    struct fixture *f = *state;
    f->fake.client.cached = true;
    put_child(f, QUEUE, "u");
    settle(f);
    assert_true(has_workload(f));
}

/* What is called how is not known until discovery lists the kind: nothing can be asked for. */
static void test_job_owners_kind_that_nobody_serves_owns_nothing(void **state)
{
    struct fixture *f = *state;
    f->fake.client.cached = true;
    put(f, SL_KIND_JOB,
        "{metadata: {name: child, namespace: ns, uid: c, labels: {" QUEUE "}, ownerReferences:"
        " [{apiVersion: example.com/v1, kind: Task, name: a, uid: u, controller: true}]},"
        " spec: {suspend: true, template: {spec: {containers: [{name: c}]}}}}");
    unsigned reads = f->fake.write_count;
    sl_jobs_step(&f->jobs, T0, 16);
    assert_true(f->fake.write_count > reads);
    assert_int_not_equal(f->fake.last_verb, SL_VERB_READ);
    fake_flush(&f->fake);
    assert_true(has_workload(f));
}

static void test_job_owners_owner_outside_of_namespaces_is_found(void **state)
{
    struct fixture *f = *state;
    assert_true(sl_kind_found(f->flow, "flows", false));
    put(f, f->flow, "{metadata: {name: a, uid: u, labels: {" QUEUE "}}}");
    put_child(f, QUEUE, "u");
    step(f);
    assert_false(has_workload(f));
    assert_true(suspended(f));
}

static void test_job_owners_names_of_kinds_are_read(void **state)
{
    (void)state;
    struct sl_external x;
    char text[SL_EXTERNAL_NAME_SIZE + 200];
    assert_true(sl_external_read("Flow.v1alpha1.batch.example.com", &x));
    assert_string_equal(x.kind, "Flow");
    assert_string_equal(x.version, "v1alpha1");
    assert_string_equal(x.group, "batch.example.com");
    static const char *const bad[] = {
        "", "Flow", "Flow.v1", "Flow.v1.", ".v1.example.com", "Flow..example.com"};
    for (size_t i = 0; i < sizeof bad / sizeof bad[0]; i++) {
        assert_false(sl_external_read(bad[i], &x));
    }
    (void)snprintf(text, sizeof text, "%0*d.v1.a", 64, 1);
    assert_false(sl_external_read(text, &x));
    (void)snprintf(text, sizeof text, "A.%0*d.a", 21, 1);
    assert_false(sl_external_read(text, &x));
    (void)snprintf(text, sizeof text, "A.v1.%0*d", 61, 1);
    assert_false(sl_external_read(text, &x));
}

static void assert_refused(const char *name, enum sl_code expected, const char *why)
{
    struct sl_error e = {0};
    const struct sl_job_rules one = {.external_count = 1, .externals = &name};
    assert_int_equal(sl_externals_register(&one, &e), expected);
    assert_non_null(strstr(e.text, "integrations.externalFrameworks[0]: \""));
    assert_non_null(strstr(e.text, why));
}

static void test_job_owners_names_that_cannot_be_kinds_are_refused(void **state)
{
    (void)state;
    char name[40];
    struct sl_error e = {0};
    const char *one = name;
    const struct sl_job_rules more = {.external_count = 1, .externals = &one};
    assert_refused("Flow.v1", SL_CODE_INVALID, "is not Kind.version.group");
    assert_refused("Flow.v1.Example_com", SL_CODE_INVALID, "group \"Example_com\"");
    assert_refused("F!.v1.example.com", SL_CODE_INVALID, "kind \"f!\"");
    for (int i = 2; i < SL_KIND_CUSTOM_MAX; i++) { /* two are there */
        (void)snprintf(name, sizeof name, "K%d.v1.example.com", i);
        assert_int_equal(sl_externals_register(&more, &e), SL_CODE_OK);
    }
    assert_refused("Last.v1.example.com", SL_CODE_INTERNAL, "no more than 32 custom kinds");
    assert_int_equal(sl_externals_register(&rules, &e), SL_CODE_OK); /* they have their slots */
}

#define CASE(name) cmocka_unit_test_setup_teardown(name, setup, teardown)

int main(void)
{
    const struct CMUnitTest tests[] = {
        CASE(test_job_owners_child_of_an_external_owner_runs_with_that_ones_workload),
        CASE(test_job_owners_any_workload_of_the_owner_may_be_admitted),
        CASE(test_job_owners_child_of_an_external_owner_without_a_queue_is_a_job),
        CASE(test_job_owners_external_owner_that_gets_a_queue),
        CASE(test_job_owners_another_object_of_that_name_is_no_owner),
        CASE(test_job_owners_owner_that_the_cache_lacks_is_asked_for),
        CASE(test_job_owners_owner_that_is_gone_is_none),
        CASE(test_job_owners_kind_that_nobody_serves_owns_nothing),
        CASE(test_job_owners_owner_outside_of_namespaces_is_found),
        CASE(test_job_owners_names_of_kinds_are_read),
        CASE(test_job_owners_names_that_cannot_be_kinds_are_refused),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
