/* SPDX-License-Identifier: Apache-2.0
 * SPDX-FileCopyrightText: The Sluice authors */

/* Why a job waits, as a page: which Workload is asked about, for which names, and what objects add. The engine and the
 * client are stubs. */
#include "t.h"
#include "base/mem.h"
#include "cli/pages/visibility.h"
#include "cli/pages/why.h"
#include "engine/why/why.h"

static char asked[600];  /* "ns/name of=names_of" */
static const char *said; /* by the engine; NULL: it does not know it */

static struct sl_json *note(const struct sl_why_ask *ask)
{
    (void)snprintf(asked, sizeof asked, "%s/%s of=%s", ask->ns, ask->name,
                   ask->names_of == NULL ? "all" : ask->names_of);
    return said == NULL ? NULL : parse(said);
}

struct sl_json *sl_why_workload_new(struct sl_engine *g, const struct sl_why_ask *ask)
{
    (void)g;
    return note(ask);
}

struct sl_json *sl_why_queue_new(struct sl_engine *g, enum sl_kind kind,
                                 const struct sl_why_ask *ask)
{
    (void)g;
    return kind == SL_KIND_LOCAL_QUEUE && strcmp(ask->name, "nosuch") == 0 ? NULL : note(ask);
}

static const char *family; /* what the engine says of variants */

struct sl_json *sl_why_variants_new(struct sl_engine *g, const char *parent_uid,
                                    const char *names_of)
{
    (void)g;
    (void)snprintf(asked, sizeof asked, "variants of %s of=%s", parent_uid,
                   names_of == NULL ? "all" : names_of);
    return parse(family);
}

#define PARENT(name, status)                                                                       \
    "{\"metadata\":{\"namespace\":\"n\",\"name\":\"" name                                          \
    "\",\"uid\":\"u-p\",\"labels\":{\"kueue.x-k8s.io/concurrent-admission-parent\":\"true\"}},"    \
    "\"spec\":{\"queueName\":\"q\"},\"status\":{" status "}}"

static const struct {
    enum sl_kind kind;
    const char *name, *text;
} objects[] = {
    {SL_KIND_WORKLOAD, "parent", PARENT("parent", "")},
    {SL_KIND_WORKLOAD, "running",
     PARENT("running", "\"conditions\":[{\"type\":\"Admitted\",\"status\":\"True\",\"reason\":"
                       "\"Admitted\",\"message\":\"The variant v is admitted\","
                       "\"lastTransitionTime\":\"2026-01-03T00:00:00Z\"}]")},
    {SL_KIND_JOB, "j",
     "{\"metadata\":{\"namespace\":\"n\",\"name\":\"j\",\"uid\":\"u-j\",\"labels\":{\"kueue.x-k8s."
     "io/queue-name\":\"q\"}}}"},
    {SL_KIND_JOB, "prebuilt",
     "{\"metadata\":{\"namespace\":\"n\",\"name\":\"prebuilt\",\"uid\":\"u\",\"labels\":{\"kueue.x-"
     "k8s.io/queue-name\":\"q\",\"kueue.x-k8s.io/prebuilt-workload-name\":\"mine\"}}}"},
    {SL_KIND_JOB, "lost",
     "{\"metadata\":{\"namespace\":\"n\",\"name\":\"lost\",\"uid\":\"u\",\"labels\":{\"kueue.x-k8s."
     "io/queue-name\":\"q\",\"kueue.x-k8s.io/prebuilt-workload-name\":\"nowhere\"}}}"},
    {SL_KIND_JOB, "ghost",
     "{\"metadata\":{\"namespace\":\"n\",\"name\":\"ghost\",\"uid\":\"u\",\"labels\":{\"kueue.x-"
     "k8s.io/queue-name\":\"q\",\"kueue.x-k8s.io/priority-class\":\"nosuch\"}}}"},
    {SL_KIND_JOB, "classed",
     "{\"metadata\":{\"namespace\":\"n\",\"name\":\"classed\",\"uid\":\"u\",\"labels\":{\"kueue.x-"
     "k8s.io/queue-name\":\"q\",\"kueue.x-k8s.io/priority-class\":\"high\"}}}"},
    {SL_KIND_WORKLOAD_PRIORITY_CLASS, "high", "{\"metadata\":{\"name\":\"high\"},\"value\":1}"},
    {SL_KIND_JOB, "plain", "{\"metadata\":{\"namespace\":\"n\",\"name\":\"plain\",\"uid\":\"u\"}}"},
    {SL_KIND_JOB, "done",
     "{\"metadata\":{\"namespace\":\"n\",\"name\":\"done\",\"uid\":\"u\"},\"status\":{"
     "\"conditions\":"
     "[{\"type\":\"Complete\",\"status\":\"True\"}]}}"},
    {SL_KIND_POD, "p",
     "{\"metadata\":{\"namespace\":\"n\",\"name\":\"p\",\"uid\":\"u-p\",\"ownerReferences\":[{"
     "\"apiVersion\":\"batch/v1\",\"kind\":\"Job\",\"name\":\"j\",\"uid\":\"u-j\",\"controller\":"
     "true}]}}"},
    {SL_KIND_POD, "member",
     "{\"metadata\":{\"namespace\":\"n\",\"name\":\"member\",\"uid\":\"u\",\"labels\":{\"kueue.x-"
     "k8s.io/pod-group-name\":\"mine\"}}}"},
    {SL_KIND_POD, "ended",
     "{\"metadata\":{\"namespace\":\"n\",\"name\":\"ended\",\"uid\":\"u\"},\"status\":{\"phase\":"
     "\"Succeeded\"}}"},
    {SL_KIND_WORKLOAD, "job-j-",
     "{\"metadata\":{\"namespace\":\"n\",\"name\":\"job-j\"},\"spec\":{\"queueName\":\"q\"}}"},
    {SL_KIND_WORKLOAD, "mine",
     "{\"metadata\":{\"namespace\":\"n\",\"name\":\"mine\",\"ownerReferences\":[{\"kind\":\"Job\","
     "\"name\":\"prebuilt\"}]},\"spec\":{\"queueName\":\"q\"},\"status\":{\"admissionChecks\":[{"
     "\"name\":\"c\",\"message\":\"soon\"}],\"conditions\":[{\"type\":\"Evicted\",\"status\":"
     "\"False\",\"reason\":\"Preempted\",\"message\":\"Previously: so\",\"lastTransitionTime\":"
     "\"2026-01-01T00:00:00Z\"},{\"type\":\"Finished\",\"status\":\"True\",\"message\":\"all "
     "done\",\"lastTransitionTime\":\"2026-01-02T00:00:00Z\"}]}}"},
    {SL_KIND_JOB, "elastic",
     "{\"metadata\":{\"namespace\":\"n\",\"name\":\"elastic\",\"uid\":\"u-e\",\"annotations\":{"
     "\"kueue.x-"
     "k8s.io/elastic-job\":\"true\"}}}"},
    {SL_KIND_LOCAL_QUEUE, "q",
     "{\"metadata\":{\"namespace\":\"n\",\"name\":\"q\"},\"spec\":{\"clusterQueue\":\"team\"}}"},
    {SL_KIND_ADMISSION_CHECK, "c",
     "{\"metadata\":{\"name\":\"c\"},\"spec\":{\"controllerName\":\"example.com/c\"}}"},
};

/* Workloads of jobs are named with a digest at the end. */
static bool is_named(enum sl_kind kind, const char *name, const char *asked_for)
{
    size_t len = strlen(name);
    return strcmp(name, asked_for) == 0 ||
           (kind == SL_KIND_WORKLOAD && name[len - 1] == '-' && strncmp(name, asked_for, len) == 0);
}

static enum sl_code get(void *self, enum sl_kind kind, const char *ns, const char *name,
                        struct sl_json **out, struct sl_error *e)
{
    (void)self;
    for (size_t i = 0; i < sizeof objects / sizeof objects[0]; i++) {
        if (objects[i].kind == kind && is_named(kind, objects[i].name, name) &&
            (ns[0] == '\0' || strcmp(ns, "n") == 0)) {
            *out = parse(objects[i].text);
            return SL_CODE_OK;
        }
    }
    return sl_error_set(e, SL_CODE_NOT_FOUND, "no");
}

#define OF_ELASTIC                                                                                 \
    "\"namespace\":\"n\",\"ownerReferences\":[{\"controller\":true,\"kind\":\"Job\",\"uid\":\"u-"  \
    "e\"}],"                                                                                       \
    "\"annotations\":{\"kueue.x-k8s.io/elastic-job\":\"true\""
static const char *slices[4]; /* Workloads of the elastic job */

static enum sl_code list(void *self, enum sl_kind kind, const char *ns, sl_visit_fn *fn,
                         void *context, struct sl_error *e)
{
    (void)self;
    (void)e;
    assert_int_equal(kind, SL_KIND_WORKLOAD);
    assert_string_equal(ns, "n");
    for (size_t i = 0; slices[i] != NULL; i++) {
        struct sl_json *o = parse(slices[i]);
        fn(context, o);
        sl_json_free(o);
    }
    return SL_CODE_OK;
}

static char engine; /* the stubs never look at it */
static struct sl_pages pages = {.client = {.get = get, .list = list},
                                .engine = (struct sl_engine *)(void *)&engine};

static struct sl_json *visit(const char *path, const char *query, int status)
{
    struct sl_server_page page = {.status = 200};
    asked[0] = '\0';
    sl_why_serve(&pages, "v1beta2", path, query, &page);
    assert_int_equal(page.status, status);
    struct sl_json *value = parse(page.body.data);
    sl_buf_fini(&page.body);
    return value;
}

static void expect(const char *path, const char *query, const char *about)
{
    sl_json_free(visit(path, query, 200));
    assert_string_equal(asked, about);
}

static void test_why_page_finds_the_workload_of_a_job(void **state)
{
    (void)state;
    said = "{\"name\":\"job-j\",\"state\":\"Pending\"}";
    expect("namespaces/n/jobs/j/why", "", "n/job-j of=n");
    expect("namespaces/n/pods/p/why", "", "n/job-j of=n");
    expect("namespaces/n/jobs/prebuilt/why", "", "n/mine of=n");
    expect("namespaces/n/pods/member/why", "", "n/mine of=n");
    expect("namespaces/n/workloads/mine/why", "", "n/mine of=n");
    expect("namespaces/n/localqueues/q/why", "", "n/q of=n");
    struct sl_json *answer = visit("namespaces/n/jobs/j/why", "", 200);
    assert_string_equal(sl_json_path_text(answer, "kind", ""), "Explanation");
    assert_string_equal(sl_json_path_text(answer, "apiVersion", ""),
                        "visibility.kueue.x-k8s.io/v1beta2");
    assert_string_equal(sl_json_path_text(answer, "about.kind", ""), "Job");
    assert_string_equal(sl_json_path_text(answer, "about.name", ""), "j");
    assert_string_equal(sl_json_path_text(answer, "about.namespace", ""), "n");
    assert_string_equal(sl_json_path_text(answer, "workload", ""), "job-j");
    sl_json_free(answer);
}

static void test_why_page_of_an_elastic_job_is_about_the_slice_that_waits(void **state)
{
    (void)state;
    said = "{\"name\":\"x\",\"state\":\"Pending\"}";
    slices[0] =
        "{\"metadata\":{\"name\":\"one\",\"uid\":\"1\"," OF_ELASTIC
        "}},\"status\":{\"conditions\":[{\"type\":\"QuotaReserved\",\"status\":\"True\"}]}}";
    slices[1] = "{\"metadata\":{\"name\":\"other\",\"namespace\":\"n\",\"uid\":\"3\"}}";
    expect("namespaces/n/jobs/elastic/why", "", "n/one of=n");
    slices[1] = "{\"metadata\":{\"name\":\"two\",\"uid\":\"2\"," OF_ELASTIC
                ",\"kueue.x-k8s.io/workload-slice-replacement-for\":\"n/one\"}}}";
    expect("namespaces/n/jobs/elastic/why", "", "n/two of=n");
    slices[1] = NULL;
    slices[0] = "{\"metadata\":{\"name\":\"one\",\"uid\":\"1\"," OF_ELASTIC
                "}},\"status\":{\"conditions\":[{\"type\":\"Finished\",\"status\":\"True\"}]}}";
    expect("namespaces/n/jobs/elastic/why", "", "n/one of=n");
    slices[0] = NULL;
}

static void test_why_page_names_all_only_by_way_of_the_cluster_queue(void **state)
{
    (void)state;
    said = "{\"name\":\"x\",\"state\":\"Pending\"}";
    expect("clusterqueues/team/why", "", "/team of=all");
    expect("clusterqueues/team/why", "namespace=n&workload=mine", "n/mine of=all");
    expect("clusterqueues/team/why", "x&workload=%6dine&namespace=n", "n/mine of=all");
    sl_json_free(visit("clusterqueues/other/why", "namespace=n&workload=mine", 404));
    sl_json_free(visit("clusterqueues/team/why", "namespace=n&workload=nosuch", 404));
    sl_json_free(visit("clusterqueues/team/why", "workload=mine%2", 404));
    assert_string_equal(asked, "");
}

static void test_why_page_adds_what_objects_know(void **state)
{
    (void)state;
    said = "{\"name\":\"mine\",\"state\":\"Pending\",\"checks\":[{\"name\":\"c\"}],\"limits\":[{"
           "\"holders\":[{\"namespace\":\"n\",\"name\":\"mine\"},{\"amount\":\"1\"}]}],\"nodes\":{"
           "\"holders\":[{\"namespace\":\"n\",\"name\":\"mine\"}]}}";
    struct sl_json *answer = visit("namespaces/n/workloads/mine/why", "", 200);
    assert_string_equal(sl_json_path_text(answer, "limits.0.holders.0.job.kind", ""), "Job");
    assert_string_equal(sl_json_path_text(answer, "limits.0.holders.0.job.name", ""), "prebuilt");
    assert_null(sl_json_path(answer, "limits.0.holders.1.job"));
    assert_string_equal(sl_json_path_text(answer, "nodes.holders.0.job.name", ""), "prebuilt");
    assert_string_equal(sl_json_path_text(answer, "checks.0.controller", ""), "example.com/c");
    assert_string_equal(sl_json_path_text(answer, "checks.0.message", ""), "soon");
    assert_string_equal(sl_json_path_text(answer, "lastEviction.reason", ""), "Preempted");
    sl_json_free(answer);
    said = "{\"name\":\"mine\",\"state\":\"Finished\"}";
    answer = visit("namespaces/n/workloads/mine/why", "", 200);
    assert_string_equal(sl_json_path_text(answer, "since", ""), "2026-01-02T00:00:00Z");
    assert_string_equal(sl_json_path_text(answer, "summary", ""), "all done");
    sl_json_free(answer);
}

static void expect_without(const char *job, const char *kind, const char *state, const char *reason)
{
    char path[100];
    (void)snprintf(path, sizeof path, "namespaces/n/%s/%s/why", kind, job);
    struct sl_json *answer = visit(path, "", 200);
    assert_string_equal(sl_json_path_text(answer, "state", ""), state);
    assert_string_equal(sl_json_path_text(answer, "reason", ""), reason);
    assert_true(sl_json_path_text(answer, "summary", "")[0] != '\0');
    assert_string_equal(asked, "");
    sl_json_free(answer);
}

static void test_why_page_of_a_job_without_a_workload(void **state)
{
    (void)state;
    said = NULL;
    expect_without("plain", "jobs", "NotManaged", "NoQueueName");
    expect_without("ghost", "jobs", "NoWorkload", "WorkloadPriorityClassNotFound");
    expect_without("classed", "jobs", "NoWorkload", "NoWorkload");
    expect_without("lost", "jobs", "NoWorkload", "NoWorkload");
    expect_without("done", "jobs", "Finished", "Finished");
    expect_without("ended", "pods", "Finished", "Finished");
    struct sl_json *answer = visit("namespaces/n/jobs/ghost/why", "", 200);
    assert_has(sl_json_path_text(answer, "remedies.0", ""), "Create WorkloadPriorityClass nosuch");
    sl_json_free(answer);
}

static void test_why_page_of_what_the_engine_has_not_seen(void **state)
{
    (void)state;
    said = NULL;
    struct sl_json *answer = visit("namespaces/n/jobs/j/why", "", 200);
    assert_string_equal(sl_json_path_text(answer, "reason", ""), "NotSeen");
    assert_string_equal(sl_json_path_text(answer, "workload", ""), "job-j");
    sl_json_free(answer);
}

static void test_why_page_of_a_parent_has_its_variants(void **state)
{
    (void)state;
    said = NULL;
    family =
        "[{\"name\":\"mine\",\"flavor\":\"spot\",\"clusterQueue\":\"team\",\"state\":\"Pending\","
        "\"summary\":\"2 cpu short\",\"limits\":[{\"holders\":[{\"namespace\":\"n\","
        "\"name\":\"mine\"}]}]},{\"name\":\"other\",\"flavor\":\"reserved\",\"summary\":\"no\"}]";
    struct sl_json *answer = visit("namespaces/n/workloads/parent/why", "", 200);
    assert_string_equal(asked, "variants of u-p of=n");
    assert_string_equal(sl_json_path_text(answer, "workload", ""), "parent");
    assert_string_equal(sl_json_path_text(answer, "state", ""), "Pending");
    assert_string_equal(sl_json_path_text(answer, "reason", ""), "WaitingForVariants");
    assert_string_equal(sl_json_path_text(answer, "localQueue", ""), "q");
    assert_string_equal(sl_json_path_text(answer, "clusterQueue", ""), "team");
    assert_string_equal(sl_json_path_text(answer, "summary", ""),
                        "It waits until one of its 2 variants is admitted: spot: 2 cpu short; "
                        "reserved: no");
    assert_string_equal(sl_json_path_text(answer, "variants.0.limits.0.holders.0.job.name", ""),
                        "prebuilt");
    assert_string_equal(sl_json_path_text(answer, "variants.0.lastEviction.reason", ""),
                        "Preempted");
    sl_json_free(answer);
    sl_json_free(visit("clusterqueues/team/why", "namespace=n&workload=parent", 200));
    assert_string_equal(asked, "variants of u-p of=all");
}

static void test_why_page_of_a_parent_that_runs_or_has_no_variants(void **state)
{
    (void)state;
    said = NULL;
    family = "[]";
    struct sl_json *answer = visit("namespaces/n/workloads/parent/why", "", 200);
    assert_string_equal(sl_json_path_text(answer, "reason", ""), "NoVariants");
    assert_false(sl_json_has(answer, "variants"));
    sl_json_free(answer);
    answer = visit("namespaces/n/workloads/running/why", "", 200);
    assert_string_equal(sl_json_path_text(answer, "state", ""), "Admitted");
    assert_string_equal(sl_json_path_text(answer, "summary", ""), "The variant v is admitted");
    assert_string_equal(sl_json_path_text(answer, "since", ""), "2026-01-03T00:00:00Z");
    sl_json_free(answer);
}

static void test_why_page_of_what_does_not_exist_is_not_found(void **state)
{
    (void)state;
    said = "{\"state\":\"Pending\"}";
    static const char *const paths[] = {"namespaces/n/jobs/nosuch/why",
                                        "namespaces/n/workloads/nosuch/why",
                                        "namespaces/n/localqueues/nosuch/why",
                                        "namespaces/n/secrets/s/why",
                                        "namespaces/n/clusterqueues/team/why",
                                        "jobs/j/why",
                                        "namespaces/n/why",
                                        "namespaces//jobs/j/why",
                                        "namespaces/n/jobs/j/why/why",
                                        "/why"};
    for (size_t i = 0; i < sizeof paths / sizeof paths[0]; i++) {
        struct sl_json *status = visit(paths[i], "", 404);
        assert_string_equal(sl_json_path_text(status, "kind", ""), "Status");
        assert_string_equal(asked, "");
        sl_json_free(status);
    }
    assert_true(sl_why_is_path("clusterqueues/team/why"));
    assert_false(sl_why_is_path("clusterqueues/why/pendingworkloads"));
    assert_false(sl_why_is_path("why"));
}

static void test_why_page_of_a_standby_is_unavailable(void **state)
{
    (void)state;
    struct sl_engine *kept = pages.engine;
    pages.engine = NULL;
    struct sl_json *status = visit("namespaces/n/jobs/j/why", "", 503);
    assert_has(sl_json_path_text(status, "message", ""), "another instance makes the decisions");
    sl_json_free(status);
    pages.engine = kept;
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_why_page_finds_the_workload_of_a_job),
        cmocka_unit_test(test_why_page_of_an_elastic_job_is_about_the_slice_that_waits),
        cmocka_unit_test(test_why_page_names_all_only_by_way_of_the_cluster_queue),
        cmocka_unit_test(test_why_page_adds_what_objects_know),
        cmocka_unit_test(test_why_page_of_a_job_without_a_workload),
        cmocka_unit_test(test_why_page_of_what_the_engine_has_not_seen),
        cmocka_unit_test(test_why_page_of_a_parent_has_its_variants),
        cmocka_unit_test(test_why_page_of_a_parent_that_runs_or_has_no_variants),
        cmocka_unit_test(test_why_page_of_what_does_not_exist_is_not_found),
        cmocka_unit_test(test_why_page_of_a_standby_is_unavailable),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
