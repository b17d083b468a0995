/* SPDX-License-Identifier: Apache-2.0
 * SPDX-FileCopyrightText: The Sluice authors */

/* Get, list, create, update, patch and delete over REST, with the statuses and messages of
 * Kubernetes. */
#include "api/objects/schema.h"
#include "fixture.h"

#include <sqlite3.h>

/* --- paths and discovery --------------------------------------------------------------------- */

static void test_rest_unknown_paths_are_status_404(void **state)
{
    struct fixture *f = *state;
    static const char *const uris[] = {
        "/nothing",
        "/api/v2/pods",
        "/api/v1/nosuch",
        "/apis/kueue.x-k8s.io/v1beta2/localqueues/no-namespace",
        "/apis/kueue.x-k8s.io/v1beta2/namespaces/default/clusterqueues",
        "/api/v1/namespaces/default/pods/p/logs",
        "/api/v1/namespaces/default/nodes/p/log",
        "/apis/nosuch.io",
        "/apis/nosuch.io/v1",
        "/openapi/v3/apis/nosuch.io/v1",
        "/api/v1/namespaces/default/events/e/status"};
    for (size_t i = 0; i < sizeof uris / sizeof uris[0]; i++) {
        assert_int_equal(get(f, uris[i]), 404);
        assert_string_equal(text(f, "kind"), "Status");
        assert_string_equal(text(f, "reason"), "NotFound");
        assert_string_equal(text(f, "message"), "the server could not find the requested resource");
    }
}

static void test_rest_containers_are_said_not_to_exist(void **state)
{
    struct fixture *f = *state;
    assert_int_equal(get(f, "/api/v1/namespaces/default/pods/p/log"), 404);
    assert_string_equal(
        text(f, "message"),
        "no log of pod \"p\": without --run processes standalone mode starts no containers");
    assert_int_equal(get(f, "/api/v1/namespaces/default/pods/p/exec?command=ls"), 404);
    assert_non_null(strstr(text(f, "message"), "no exec of pod"));
}

struct heard {
    struct sl_log_wish wish;
    unsigned asked;
};

static enum sl_code open_log(void *context, const struct sl_log_wish *wish,
                             struct sl_stream **stream, struct sl_error *e)
{
    struct heard *heard = context;
    heard->wish = *wish;
    heard->asked++;
    *stream = NULL;
    return strcmp(wish->pod, "none") == 0
               ? sl_error_set(e, SL_CODE_NOT_FOUND, "pods \"none\" not found")
               : SL_CODE_OK;
}

static void test_rest_logs_are_asked_for_as_the_client_wants_them(void **state)
{
    struct fixture *f = *state;
    struct heard heard = {.asked = 0};
    f->rest.logs = (struct sl_server_logs){open_log, &heard};
    assert_int_equal(get(f, "/api/v1/namespaces/n/pods/p/log?container=c&follow=true&tailLines=7&"
                            "limitBytes=100&previous=1"),
                     200);
    assert_true(heard.wish.follow && heard.wish.previous);
    assert_int_equal(heard.wish.tail_lines, 7);
    assert_int_equal(heard.wish.limit_bytes, 100);
    assert_int_equal(get(f, "/api/v1/namespaces/n/pods/p/log?timestamps=false"), 200);
    assert_int_equal(heard.wish.tail_lines, -1);
    assert_int_equal(heard.asked, 2);
    assert_int_equal(get(f, "/api/v1/namespaces/n/pods/none/log"), 404);
    assert_string_equal(text(f, "message"), "pods \"none\" not found");
    assert_int_equal(get(f, "/api/v1/namespaces/n/pods/p/log?tailLines=x"), 400);
    assert_string_equal(text(f, "message"), "tailLines: \"x\" is not a number from 0 on");
    assert_int_equal(get(f, "/api/v1/namespaces/n/pods/p/log?sinceSeconds=5"), 400);
    assert_string_equal(text(f, "message"), "sinceSeconds: the times of lines are not kept");
    assert_int_equal(get(f, "/api/v1/namespaces/n/pods/p/exec"), 404);
    assert_non_null(
        strstr(text(f, "message"), "no exec of pod \"p\": its containers are processes"));
    assert_int_equal(heard.asked, 3);
}

static void test_rest_malformed_escape_is_400(void **state)
{
    struct fixture *f = *state;
    assert_int_equal(get(f, "/api/v1/namespaces/%zz"), 400);
    assert_int_equal(get(f, "/api/v1/namespaces/a%00b"), 400);
    assert_int_equal(get(f, "/api/v1/namespaces?limit=%1"), 400);
    static const char *const names[] = {"%ff%fe", "a%c0%80", "%ed%a0%80", "%e2%82", "%f4%90%80%80"};
    for (size_t i = 0; i < sizeof names / sizeof names[0]; i++) {
        char uri[100];
        (void)snprintf(uri, sizeof uri, "/api/v1/namespaces/%s", names[i]);
        assert_int_equal(get(f, uri), 400);
        assert_string_equal(text(f, "reason"), "BadRequest"); /* and the answer is JSON */
        (void)snprintf(uri, sizeof uri, "/api/v1/namespaces?fieldSelector=%s", names[i]);
        assert_int_equal(get(f, uri), 400);
    }
    assert_int_equal(get(f, "/api/v1/namespaces/%c3%a4%e2%82%ac%f0%9f%98%80"), 404);
}

static void test_rest_discovery_lists_every_kind(void **state)
{
    struct fixture *f = *state;
    assert_int_equal(get(f, "/api"), 200);
    assert_string_equal(text(f, "versions.0"), "v1");
    assert_int_equal(get(f, "/apis"), 200);
    assert_string_equal(text(f, "kind"), "APIGroupList");
    assert_int_equal(sl_json_len(sl_json_get(f->reply, "groups")), 7);
    assert_int_equal(get(f, "/apis/kueue.x-k8s.io"), 200);
    assert_string_equal(text(f, "preferredVersion.groupVersion"), "kueue.x-k8s.io/v1beta2");
    size_t found = 0;
    static const char *const lists[] = {"/api/v1",
                                        "/apis/batch/v1",
                                        "/apis/scheduling.k8s.io/v1",
                                        "/apis/node.k8s.io/v1",
                                        "/apis/autoscaling.x-k8s.io/v1",
                                        "/apis/resource.k8s.io/v1",
                                        "/apis/apiextensions.k8s.io/v1",
                                        "/apis/kueue.x-k8s.io/v1beta2"};
    for (size_t i = 0; i < sizeof lists / sizeof lists[0]; i++) {
        assert_int_equal(get(f, lists[i]), 200);
        const struct sl_json *resources = sl_json_get(f->reply, "resources");
        for (size_t j = 0; j < sl_json_len(resources); j++) {
            found += strchr(sl_json_path_text(sl_json_at(resources, j), "name", ""), '/') == NULL;
        }
    }
    assert_int_equal(found, SL_KIND_CUSTOM);
}

#define RAY_JOBS "/apis/ray.io/v1/namespaces/default/rayjobs"

static int setup_with_custom_kind(void **state)
{
    enum sl_kind kind;
    if (sl_kind_register("ray.io/v1", "RayJob", "rayjobs", &kind, NULL) != SL_CODE_OK) {
        return -1;
    }
    return setup(state);
}

static int teardown_with_custom_kind(void **state)
{
    sl_kind_forget_custom();
    return teardown(state);
}

static void test_rest_custom_kind_is_served(void **state)
{
    struct fixture *f = *state;
    assert_int_equal(get(f, "/apis/ray.io/v1"), 200);
    assert_string_equal(text(f, "resources.0.name"), "rayjobs");
    assert_string_equal(text(f, "resources.1.name"), "rayjobs/status");
    assert_int_equal(get(f, "/openapi/v3/apis/ray.io/v1"), 200);
    assert_int_equal(post(f, RAY_JOBS, "{\"metadata\":{\"name\":\"a\"},\"spec\":{\"x\":[1]}}"),
                     201);
    assert_string_equal(text(f, "kind"), "RayJob");
    assert_int_equal(sl_json_path_int(f->reply, "metadata.generation", 0), 1);
    assert_int_equal(patch(f, RAY_JOBS "/a/status", "application/merge-patch+json",
                           "{\"status\":{\"jobStatus\":\"RUNNING\"},\"spec\":null}"),
                     200);
    assert_int_equal(get(f, RAY_JOBS "/a"), 200);
    assert_string_equal(text(f, "status.jobStatus"), "RUNNING");
    assert_int_equal(sl_json_path_int(f->reply, "spec.x.0", 0), 1);
    assert_int_equal(get(f, RAY_JOBS), 200);
    assert_string_equal(text(f, "kind"), "RayJobList");
}

static void test_rest_aggregated_discovery_when_asked(void **state)
{
    struct fixture *f = *state;
    const char *accept =
        "application/json;g=apidiscovery.k8s.io;v=v2;as=APIGroupDiscoveryList,application/json";
    assert_int_equal(call(f, (struct call){.method = "GET", .uri = "/apis", .accept = accept}),
                     200);
    assert_string_equal(text(f, "kind"), "APIGroupDiscoveryList");
    assert_non_null(strstr(f->r.answer.content_type, "as=APIGroupDiscoveryList"));
    assert_int_equal(sl_json_len(sl_json_get(f->reply, "items")), 7);
}

static void test_rest_health_version_and_openapi(void **state)
{
    struct fixture *f = *state;
    static const char *const uris[] = {"/healthz", "/livez", "/readyz", "/readyz/ping"};
    for (size_t i = 0; i < 4; i++) {
        assert_int_equal(get(f, uris[i]), 200);
        assert_string_equal(f->r.answer.body.data, "ok");
    }
    assert_int_equal(get(f, "/version"), 200);
    assert_non_null(strstr(text(f, "gitVersion"), "sluice-test"));
    assert_int_equal(get(f, "/openapi/v2"), 200);
    assert_int_equal(get(f, "/openapi/v3"), 200);
    assert_int_equal(get(f, "/openapi/v3/apis/kueue.x-k8s.io/v1beta2"), 200);
    assert_int_equal(get(f, "/openapi/v3/api/v1"), 200);
    assert_non_null(strstr(f->r.answer.body.data, "fieldValidation"));
}

static void test_rest_openapi_explains_the_fields_of_kinds(void **state)
{
    struct fixture *f = *state;
    assert_int_equal(get(f, "/openapi/v3/apis/kueue.x-k8s.io/v1beta2"), 200);
    const struct sl_json *queue = sl_json_get(sl_json_path(f->reply, "components.schemas"),
                                              "kueue.x-k8s.io.v1beta2.ClusterQueue");
    assert_non_null(sl_json_path(queue, "properties.spec.properties.stopPolicy.enum"));
    assert_string_equal(sl_json_path_text(queue, "x-kubernetes-group-version-kind.0.kind", ""),
                        "ClusterQueue");
}

static void test_rest_fields_named_twice_are_refused_or_warned_of(void **state)
{
    struct fixture *f = *state;
    static const char jobs[] = "/apis/batch/v1/namespaces/default/jobs";
    const char *body =
        "{\"metadata\":{\"name\":\"twice\",\"labels\":{\"a\":\"1\",\"a\":\"2\"}},\"spec\":{"
        "\"suspend\":true,"
        "\"suspen\\u0064\":true,\"template\":{\"spec\":{\"containers\":[{\"name\":\"x\",\"image\":"
        "\"a:{,\"},"
        "{\"name\":\"c\",\"image\":\"i\",\"image\":\"k\"}],\"restartPolicy\":\"Never\"}}}}";
    char uri[120];
    (void)snprintf(uri, sizeof uri, "%s?fieldValidation=Strict", jobs);
    assert_int_equal(post(f, uri, body), 400);
    assert_string_equal(text(f, "message"),
                        "Job in version \"v1\" cannot be handled as a Job: strict decoding error: "
                        "duplicate field \"metadata.labels.a\", duplicate field \"spec.suspend\", "
                        "duplicate field \"spec.template.spec.containers[1].image\"");
    (void)snprintf(uri, sizeof uri, "%s?fieldValidation=Ignore&dryRun=All", jobs);
    assert_int_equal(post(f, uri, body), 201);
    assert_null(f->r.answer.warnings);
    assert_int_equal(post(f, jobs, body), 201);
    const struct sl_json *warnings = f->r.answer.warnings;
    assert_int_equal(sl_json_len(warnings), 3);
    assert_string_equal(sl_json_text(sl_json_at(warnings, 1), ""),
                        "299 - \"duplicate field spec.suspend: the last one counts\"");
    assert_string_equal(text(f, "metadata.labels.a"), "2");
    (void)snprintf(uri, sizeof uri, "%s/twice?fieldValidation=Strict", jobs);
    assert_int_equal(
        call(f, (struct call){"PATCH", uri, "{\"spec\":{\"parallelism\":1,\"parallelism\":2}}",
                              "application/merge-patch+json", NULL}),
        400);
    assert_non_null(strstr(text(f, "message"), "duplicate field \"spec.parallelism\""));
}

static void test_rest_misspelt_fields_are_warned_of(void **state)
{
    struct fixture *f = *state;
    const char *uri = "/apis/kueue.x-k8s.io/v1beta2/clusterqueues";
    const char *body =
        "{\"apiVersion\":\"kueue.x-k8s.io/v1beta2\",\"kind\":\"ClusterQueue\","
        "\"metadata\":{\"name\":\"q\",\"strange\":1},\"spec\":{\"namespaceSelector\":"
        "{},\"cohort\\\"\":\"c\",\"resourceGroups\":[{\"coveredResources\":[\"cpu\"],"
        "\"flavors\":[{\"name\":\"f\",\"flavour\":1,\"resources\":[{\"name\":\"cpu\","
        "\"nominalQuota\":\"1\"}]}]}]}}";
    assert_int_equal(post(f, uri, body), 201);
    struct sl_json *warnings = f->r.answer.warnings;
    assert_int_equal(sl_json_len(warnings), 2);
    assert_string_equal(sl_json_text(sl_json_at(warnings, 0), ""),
                        "299 - \"unknown field spec.cohort?: it has no effect\"");
    assert_non_null(strstr(sl_json_text(sl_json_at(warnings, 1), ""),
                           "spec.resourceGroups[0].flavors[0].flavour"));
    assert_int_equal(post(f, "/apis/kueue.x-k8s.io/v1beta2/clusterqueues?fieldValidation=Ignore",
                          "{\"metadata\":{\"name\":\"r\"},\"spec\":{\"queue\":1}}"),
                     201);
    assert_null(f->r.answer.warnings);
    assert_int_equal(post(f, uri, "{\"metadata\":{\"name\":\"s\"},\"spec\":{}}"), 201);
    assert_null(f->r.answer.warnings);
    const char *refused =
        "{\"metadata\":{\"name\":\"t\"},\"spec\":{\"cohort\":\"c\",\"stopPolicy\":\"No\"}}";
    assert_int_equal(post(f, uri, refused), 422);
    assert_non_null(strstr(sl_json_text(sl_json_at(f->r.answer.warnings, 0), ""), "spec.cohort"));
}

static void test_rest_cohort_below_itself_is_warned_of(void **state)
{
    struct fixture *f = *state;
    const char *uri = "/apis/kueue.x-k8s.io/v1beta2/cohorts";
    const char *a = "{\"metadata\":{\"name\":\"a\"},\"spec\":{\"parentName\":\"b\"}}";
    const char *b = "{\"metadata\":{\"name\":\"b\"},\"spec\":{\"parentName\":\"c\"}}";
    const char *c = "{\"metadata\":{\"name\":\"c\"},\"spec\":{\"parentName\":\"a\"}}";
    assert_int_equal(post(f, uri, a), 201);
    assert_null(f->r.answer.warnings);
    assert_int_equal(post(f, uri, b), 201);
    assert_null(f->r.answer.warnings);
    assert_int_equal(post(f, uri, c), 201);
    assert_non_null(strstr(sl_json_text(sl_json_at(f->r.answer.warnings, 0), ""),
                           "spec.parentName: Cohort c is its own ancestor"));
    /* One that hangs below a circle is not in it. */
    assert_int_equal(
        post(f, uri, "{\"metadata\":{\"name\":\"d\"},\"spec\":{\"parentName\":\"a\"}}"), 201);
    assert_null(f->r.answer.warnings);
}

static void test_rest_fields_without_effect_are_warned_of(void **state)
{
    struct fixture *f = *state;
    const char *queue = "{\"metadata\":{\"name\":\"q\"},\"spec\":{\"concurrentAdmissionPolicy\":"
                        "{\"migration\":{\"mode\":\"RetainFirstAdmission\"}},\"resourceGroups\":["
                        "{\"coveredResources\":[\"cpu\"],\"flavors\":[{\"name\":\"f\","
                        "\"resources\":[{\"name\":\"cpu\",\"nominalQuota\":1}]}]}]}}";
    assert_int_equal(post(f, "/apis/kueue.x-k8s.io/v1beta2/clusterqueues", queue), 201);
    assert_int_equal(sl_json_len(f->r.answer.warnings), 1);
    assert_string_equal(
        sl_json_text(sl_json_at(f->r.answer.warnings, 0), ""),
        "299 - \"spec.concurrentAdmissionPolicy has no effect: only the feature gate "
        "ConcurrentAdmission lets it count\"");
    const char *job =
        "{\"metadata\":{\"name\":\"j\",\"annotations\":{\"kueue.x-k8s.io/elastic-job\":"
        "\"true\"}},\"spec\":{\"template\":{\"spec\":{\"restartPolicy\":\"Never\","
        "\"containers\":[{\"name\":\"c\",\"image\":\"i\"}]}}}}";
    assert_int_equal(post(f, "/apis/batch/v1/namespaces/default/jobs", job), 201);
    assert_non_null(
        strstr(sl_json_text(sl_json_at(f->r.answer.warnings, 0), ""), "elastic-job has no effect"));
    f->rest.heeded.elastic = true;
    const char *heeded =
        "{\"metadata\":{\"name\":\"heeded\",\"annotations\":{\"kueue.x-k8s.io/elastic-job\":"
        "\"true\"}},\"spec\":{\"template\":{\"spec\":{\"restartPolicy\":\"Never\","
        "\"containers\":[{\"name\":\"c\",\"image\":\"i\"}]}}}}";
    assert_int_equal(post(f, "/apis/batch/v1/namespaces/default/jobs", heeded), 201);
    assert_int_equal(sl_json_len(f->r.answer.warnings), 0);
    f->rest.heeded.elastic = false;
    const char *limited =
        "{\"metadata\":{\"name\":\"k\"},\"spec\":{\"activeDeadlineSeconds\":5,\"template\":{"
        "\"spec\":"
        "{\"restartPolicy\":\"Never\",\"containers\":[{\"name\":\"c\",\"image\":\"i\"}]}}}}";
    assert_int_equal(post(f, "/apis/batch/v1/namespaces/default/jobs", limited), 201);
    assert_string_equal(
        sl_json_text(sl_json_at(f->r.answer.warnings, 0), ""),
        "299 - \"spec.activeDeadlineSeconds has no effect: jobs are simulated, and end as "
        "sluice.dev/run-for and sluice.dev/fail say\"");
}

#define WORKLOAD(annotation)                                                                       \
    "{\"metadata\":{\"name\":\"w%zu\",\"annotations\":{" annotation "}},\"spec\":{\"queueName\":"  \
    "\"q\",\"podSets\":[{\"name\":\"main\",\"count\":1,\"template\":{\"spec\":{\"restartPolicy\":" \
    "\"Never\",\"containers\":[{\"name\":\"c\",\"image\":\"i\"}]}}}]}}"

/* The first warning about what is posted there; "" without one. */
static const char *warned(struct fixture *f, const char *uri, const char *body)
{
    assert_int_equal(post(f, uri, body), 201);
    return sl_json_text(sl_json_at(f->r.answer.warnings, 0), "");
}

/* Each of them by its own gate, and by no other. */
static void test_rest_fields_that_a_gate_lets_count_are_not_warned_of(void **state)
{
    struct fixture *f = *state;
    static const struct {
        const char *uri, *body, *member;
        struct sl_idle_modes gate;
    } rows[] = {
        {"/apis/kueue.x-k8s.io/v1beta2/clusterqueues",
         "{\"metadata\":{\"name\":\"q%zu\"},\"spec\":{\"concurrentAdmissionPolicy\":{\"migration\":"
         "{\"mode\":\"RetainFirstAdmission\"}},\"resourceGroups\":[{\"coveredResources\":[\"cpu\"],"
         "\"flavors\":[{\"name\":\"f\",\"resources\":[{\"name\":\"cpu\",\"nominalQuota\":1}]}]}]}}",
         "spec.concurrentAdmissionPolicy",
         {.concurrent_admission = true}},
        {"/apis/kueue.x-k8s.io/v1beta2/namespaces/default/workloads",
         WORKLOAD("\"kueue.x-k8s.io/workload-allowed-resource-flavors\":\"f\""),
         "workload-allowed-resource-flavors",
         {.concurrent_admission = true}},
        {"/apis/kueue.x-k8s.io/v1beta2/namespaces/default/workloads",
         WORKLOAD("\"kueue.x-k8s.io/priority-boost\":\"1\""),
         "priority-boost",
         {.priority_boost = true}},
        {"/apis/batch/v1/namespaces/default/jobs",
         "{\"metadata\":{\"name\":\"j%zu\"},\"spec\":{\"template\":{\"metadata\":{\"annotations\":{"
         "\"kueue.x-k8s.io/safe-to-forcefully-delete\":\"true\"}},\"spec\":{\"restartPolicy\":"
         "\"Never\",\"containers\":[{\"name\":\"c\",\"image\":\"i\"}]}}}}",
         "safe-to-forcefully-delete",
         {.failure_recovery = true}},
    };
    const struct sl_idle_modes other = {.preemption_gates = true, .elastic = true};
    char body[1024];
    for (size_t i = 0; i < sizeof rows / sizeof rows[0]; i++) {
        f->rest.heeded = other;
        (void)snprintf(body, sizeof body, rows[i].body, 2 * i);
        assert_non_null(strstr(warned(f, rows[i].uri, body), rows[i].member));
        f->rest.heeded = rows[i].gate;
        (void)snprintf(body, sizeof body, rows[i].body, 2 * i + 1);
        assert_string_equal(warned(f, rows[i].uri, body), "");
    }
}

#define CLAIMING(name, by, marks)                                                                  \
    "{\"metadata\":{\"name\":\"" name "\"" marks "},\"spec\":{\"suspend\":true,\"template\":{"     \
    "\"spec\":{\"restartPolicy\":\"Never\",\"containers\":[{\"name\":\"c\"}],"                     \
    "\"resourceClaims\":[{\"name\":\"gpu\"," by "}]}}}}"
#define BY_CLAIM "\"resourceClaimName\":\"c\""
#define BY_TEMPLATE "\"resourceClaimTemplateName\":\"t\""
#define QUEUED ",\"labels\":{\"kueue.x-k8s.io/queue-name\":\"q\"}"
#define POD(name, more)                                                                            \
    "{\"metadata\":{\"name\":\"" name "\"" more "},\"spec\":{\"containers\":[{\"name\":\"c\"}]}}"
#define OWNED                                                                                      \
    ",\"ownerReferences\":[{\"apiVersion\":\"batch/"                                               \
    "v1\",\"kind\":\"Job\",\"name\":\"j\",\"uid\":\"1\","                                          \
    "\"controller\":true}]"
#define MANAGED ",\"labels\":{\"kueue.x-k8s.io/managed\":\"true\"}"

static void test_rest_jobs_that_will_wait_for_ever_are_warned_of(void **state)
{
    struct fixture *f = *state;
    const char *jobs = "/apis/batch/v1/namespaces/default/jobs";
    const char *pods = "/api/v1/namespaces/default/pods";
    assert_non_null(strstr(warned(f, jobs, CLAIMING("a", BY_CLAIM, QUEUED)),
                           "the devices of a ResourceClaim are not counted, only those of a "
                           "ResourceClaimTemplate: this will not be admitted"));
    assert_null(strstr(warned(f, jobs, CLAIMING("b", BY_CLAIM, "")), "devices"));
    assert_null(strstr(warned(f, jobs, CLAIMING("b2", BY_TEMPLATE, QUEUED)), "devices"));
    assert_non_null(strstr(warned(f, pods, POD("c", MANAGED OWNED)),
                           "pod owner is managed by kueue, label 'kueue.x-k8s.io/managed=true'"));
    assert_string_equal(warned(f, pods, POD("d", OWNED)), "");
    assert_string_equal(warned(f, pods, POD("e", MANAGED)), "");
}

#define CLUSTER_QUEUES "/apis/kueue.x-k8s.io/v1beta2/clusterqueues"
#define STRICT "fieldValidation=Strict"

static void assert_strict(struct fixture *f, int status, const char *fields)
{
    assert_int_equal(status, 400);
    assert_string_equal(text(f, "reason"), "BadRequest");
    assert_non_null(strstr(text(f, "message"), fields));
    assert_null(f->r.answer.warnings);
}

static void test_rest_strict_writes_name_no_unknown_fields(void **state)
{
    struct fixture *f = *state;
    static const char good[] = "{\"metadata\":{\"name\":\"q\"},\"spec\":{\"cohortName\":\"c\"}}";
    static const char bad[] =
        "{\"metadata\":{\"name\":\"q\"},\"spec\":{\"cohort\":\"c\",\"more\":{}}}";
    assert_strict(f, post(f, CLUSTER_QUEUES "?" STRICT, bad),
                  "ClusterQueue in version \"v1beta2\" cannot be handled as a ClusterQueue: strict "
                  "decoding error: unknown field \"spec.cohort\", unknown field \"spec.more\"");
    assert_int_equal(get(f, CLUSTER_QUEUES "/q"), 404);
    assert_int_equal(post(f, CLUSTER_QUEUES "?" STRICT, good), 201);
    struct call put = {.method = "PUT", .uri = CLUSTER_QUEUES "/q?" STRICT};
    put.body =
        "{\"metadata\":{\"name\":\"q\",\"resourceVersion\":\"1\"},\"spec\":{\"cohort\":\"c\"}}";
    assert_strict(f, call(f, put), "unknown field \"spec.cohort\"");
    assert_strict(f,
                  patch(f, CLUSTER_QUEUES "/q?fieldManager=x&" STRICT,
                        "application/apply-patch+yaml", "{spec: {cohort: c}}"),
                  "unknown field \"spec.cohort\"");
    assert_int_equal(post(f, CLUSTER_QUEUES "?fieldValidation=Loose", good), 422);
    assert_string_equal(text(f, "details.causes.0.field"), "fieldValidation");
}

static void test_rest_strict_patches_add_no_unknown_fields(void **state)
{
    struct fixture *f = *state;
    const char *merge = "application/merge-patch+json", *json = "application/json-patch+json";
    const char *uri = CLUSTER_QUEUES "/q?" STRICT;
    assert_int_equal(
        post(f, CLUSTER_QUEUES, "{\"metadata\":{\"name\":\"q\"},\"spec\":{\"old\":1,\"older\":1}}"),
        201);
    assert_strict(f, patch(f, uri, merge, "{\"spec\":{\"cohort\":\"c\"}}"),
                  "unknown field \"spec.cohort\"");
    assert_strict(
        f, patch(f, uri, json, "[{\"op\":\"add\",\"path\":\"/spec/cohort\",\"value\":\"c\"}]"),
        "unknown field \"spec.cohort\"");
    /* What was kept may stay, and go. */
    assert_int_equal(patch(f, uri, merge, "{\"spec\":{\"cohortName\":\"c\",\"old\":null}}"), 200);
    assert_int_equal(
        patch(f, uri, json, "[{\"op\":\"add\",\"path\":\"/spec/stopPolicy\",\"value\":\"Hold\"}]"),
        200);
    assert_int_equal(patch(f, uri, json, "[{\"op\":\"remove\",\"path\":\"/spec/older\"}]"), 200);
    assert_int_equal(patch(f, CLUSTER_QUEUES "/q", json,
                           "[{\"op\":\"add\",\"path\":\"/spec/cohort\",\"value\":\"c\"}]"),
                     200);
    assert_int_equal(sl_json_len(f->r.answer.warnings), 1);
    assert_int_equal(patch(f, uri, json, "[{\"op\":\"test\",\"path\":\"/no\",\"value\":1}]"), 422);
    assert_int_equal(patch(f, CLUSTER_QUEUES "/none?" STRICT, json, "[]"), 404);
}

static void expect_strict(struct fixture *f, const char *uri, const char *spec, const char *refused)
{
    struct sl_buf body = {0};
    sl_buf_print(&body, "{\"metadata\":{\"name\":\"a\"},\"spec\":{%s}}", spec);
    int status = post(f, uri, body.data);
    sl_buf_fini(&body);
    if (refused != NULL) {
        assert_strict(f, status, refused);
    } else {
        assert_int_equal(status, 201);
    }
}

#define STRICT_IN(path) "/apis/" path "?dryRun=All&" STRICT
#define TEMPLATE(container)                                                                        \
    "\"template\":{\"spec\":{\"restartPolicy\":\"Never\",\"volumes\":[{\"name\":\"v\","            \
    "\"emptyDir\":{}}],"                                                                           \
    "\"containers\":[{\"name\":\"c\",\"image\":\"i\",\"stdin\":true," container "}]}}"

static void test_rest_strict_knows_jobs_above_their_pods_and_what_pods_ask_for(void **state)
{
    struct fixture *f = *state;
    const char *jobs = STRICT_IN("batch/v1/namespaces/default/jobs");
    const char *workloads = STRICT_IN("kueue.x-k8s.io/v1beta2/namespaces/default/workloads");
    const char *pods = "/api/v1/namespaces/default/pods?dryRun=All&" STRICT;
    const char *request = "unknown field \"spec.template.spec.containers[0].resources.request\"";
    expect_strict(f, jobs, "\"paralelism\":1," TEMPLATE("\"tty\":true"),
                  "unknown field \"spec.paralelism\"");
    expect_strict(f, jobs, TEMPLATE("\"resources\":{\"request\":{\"cpu\":1}}"), request);
    expect_strict(
        f, jobs,
        "\"parallelism\":1,\"completions\":1,\"activeDeadlineSeconds\":9,"
        "\"podFailurePolicy\":{\"rules\":[]},\"successPolicy\":{\"rules\":[]},"
        "\"backoffLimit\":1,\"backoffLimitPerIndex\":1,\"maxFailedIndexes\":1,"
        "\"selector\":{},\"manualSelector\":true,\"ttlSecondsAfterFinished\":1,"
        "\"completionMode\":\"Indexed\",\"suspend\":false,\"managedBy\":\"a/b\","
        "\"podReplacementPolicy\":\"Failed\"," TEMPLATE(
            "\"resources\":{\"requests\":{\"cpu\":1},\"limits\":{\"cpu\":1},\"claims\":[]}"),
        NULL);
    expect_strict(f, workloads,
                  "\"podSets\":[{\"name\":\"m\",\"counts\":2," TEMPLATE("\"tty\":true") "}]",
                  "unknown field \"spec.podSets[0].counts\"");
    expect_strict(f, workloads,
                  "\"podSets\":[{\"name\":\"m\",\"count\":2," TEMPLATE("\"tty\":true") "}]", NULL);
    expect_strict(f, pods,
                  "\"hostname\":\"h\",\"containers\":[{\"name\":\"c\",\"image\":\"i\","
                  "\"resources\":{\"limit\":{}}}]",
                  "unknown field \"spec.containers[0].resources.limit\"");
    expect_strict(f, pods, "\"hostname\":\"h\",\"containers\":[{\"name\":\"c\",\"image\":\"i\"}]",
                  NULL);
}

static void test_rest_strict_leaves_the_words_of_strategic_patches(void **state)
{
    struct fixture *f = *state;
    const char *type = "application/strategic-merge-patch+json";
    const char *jobs = "/apis/batch/v1/namespaces/default/jobs";
    const char *uri = "/apis/batch/v1/namespaces/default/jobs/a?" STRICT;
    expect_strict(f, jobs, TEMPLATE("\"tty\":true"), NULL);
    assert_int_equal(patch(f, uri, type,
                           "{\"spec\":{\"$retainKeys\":[\"parallelism\",\"completions\","
                           "\"template\",\"backoffLimit\"],"
                           "\"parallelism\":2}}"),
                     200);
    assert_strict(f, patch(f, uri, type, "{\"spec\":{\"paralelism\":2}}"),
                  "unknown field \"spec.paralelism\"");
}

static void test_rest_long_unknown_fields_are_cut_between_characters(void **state)
{
    struct fixture *f = *state;
    struct sl_buf body = {0};
    sl_buf_text(&body, "{\"metadata\":{\"name\":\"q\"},\"spec\":{\"a");
    for (int i = 0; i < 80; i++) {
        sl_buf_text(&body, "\xc3\xa4");
    }
    sl_buf_text(&body, "\":1}}");
    assert_int_equal(post(f, CLUSTER_QUEUES "?" STRICT, body.data), 400);
    assert_non_null(strstr(text(f, "message"), "\xc3\xa4\""));
    sl_buf_fini(&body);
}

static void test_rest_openapi_v2_as_protobuf_knows_no_kind(void **state)
{
    struct fixture *f = *state;
    const char *only = "application/com.github.proto-openapi.spec.v2@v1.0+protobuf";
    assert_int_equal(call(f, (struct call){.method = "GET", .uri = "/openapi/v2", .accept = only}),
                     200);
    assert_int_equal(f->r.answer.body.len, 0);
    assert_non_null(strstr(f->r.answer.content_type, "protobuf"));
    assert_null(strchr(f->r.answer.content_type, '@')); /* which Go's mime package refuses */
}

static void test_rest_access_reviews_allow_everything(void **state)
{
    struct fixture *f = *state;
    static const char reviews[] = "/apis/authorization.k8s.io/v1/selfsubjectaccessreviews";
    static const char rules[] = "/apis/authorization.k8s.io/v1/selfsubjectrulesreviews";
    assert_int_equal(post(f, reviews, "{\"spec\":{\"resourceAttributes\":{\"verb\":\"get\"}}}"),
                     201);
    assert_true(sl_json_path_bool(f->reply, "status.allowed", false));
    assert_string_equal(text(f, "kind"), "SelfSubjectAccessReview");
    assert_string_equal(text(f, "spec.resourceAttributes.verb"), "get");
    assert_int_equal(post(f, rules, "{\"spec\":{\"namespace\":\"default\"}}"), 201);
    assert_string_equal(text(f, "status.resourceRules.0.verbs.0"), "*");
    assert_int_equal(get(f, reviews), 405);
    assert_int_equal(post(f, reviews, "[]"), 400);
    assert_int_equal(post(f, reviews, "{"), 400);
    assert_int_equal(post(f, "/apis/authorization.k8s.io/v1/nosuch", "{}"), 404);
}

static void serve_page(void *context, const char *path, const char *query,
                       struct sl_server_page *page)
{
    assert_null(context);
    page->status = 203;
    page->content_type = "text/plain";
    sl_buf_print(&page->body, "%s|%s", path, query);
}

static void test_rest_hooks_come_first(void **state)
{
    struct fixture *f = *state;
    struct sl_server_hook hooks[] = {{"/readyz", serve_page, NULL},
                                     {"/apis/visibility/", serve_page, NULL}};
    f->rest.hooks = hooks;
    f->rest.hook_count = 2;
    assert_int_equal(get(f, "/readyz"), 203);
    assert_string_equal(f->r.answer.body.data, "/readyz|");
    assert_int_equal(get(f, "/apis/visibility/v1/x?limit=3"), 203);
    assert_string_equal(f->r.answer.body.data, "/apis/visibility/v1/x|limit=3");
    assert_int_equal(post(f, "/readyz", "{}"), 405);
    assert_int_equal(get(f, "/healthz"), 200);
}

static void serve_text_lovers(void *context, const char *path, const char *query,
                              struct sl_server_page *page)
{
    static const struct sl_server_header headers[] = {{"X-More", "here"}, {NULL, NULL}};
    (void)context;
    (void)path;
    (void)query;
    page->status = strcmp(page->accept, "text/html") == 0 ? 200 : 0;
    page->etag = "\"1\"";
    page->headers = headers;
}

static void test_rest_hook_leaves_a_request_to_what_follows(void **state)
{
    struct fixture *f = *state;
    struct sl_server_hook hooks[] = {{"/", serve_text_lovers, NULL},
                                     {"/readyz", serve_text_lovers, NULL},
                                     {"/readyz", serve_page, NULL}};
    f->rest.hooks = hooks;
    f->rest.hook_count = 3;
    assert_int_equal(get(f, "/readyz"), 203);
    assert_null(f->r.answer.etag);
    assert_null(f->r.answer.headers);
    assert_int_equal(get(f, "/"), 200);
    assert_non_null(sl_json_path(f->reply, "paths"));
    assert_int_equal(call(f, (struct call){.method = "GET", .uri = "/", .accept = "text/html"}),
                     200);
    assert_null(f->reply);
    assert_string_equal(f->r.answer.etag, "\"1\"");
    assert_string_equal(f->r.answer.headers[0].value, "here");
    assert_int_equal(
        call(f, (struct call){.method = "GET", .uri = "/version", .accept = "text/html"}), 200);
    assert_non_null(f->reply);
}

struct long_page {
    struct sl_server_rest rest;
    unsigned slices, done;
    bool freed;
};

static bool go_on(struct sl_server_rest *rest, struct sl_server_page *page)
{
    struct long_page *l = (struct long_page *)rest;
    sl_buf_print(&page->body, "%u,", ++l->done);
    return l->done < l->slices;
}

static void free_rest(struct sl_server_rest *rest)
{
    ((struct long_page *)rest)->freed = true;
}

static void serve_long_page(void *context, const char *path, const char *query,
                            struct sl_server_page *page)
{
    struct long_page *l = context;
    (void)path;
    sl_buf_print(&page->body, "%s:", query);
    page->rest = &l->rest;
}

/* One slice a turn, and no answer before the last. */
static void test_rest_long_page_of_a_hook_takes_turns(void **state)
{
    struct fixture *f = *state;
    struct long_page l = {.rest = {go_on, free_rest}, .slices = 3};
    struct sl_server_hook hook = {"/long", serve_long_page, &l};
    f->rest.hooks = &hook;
    f->rest.hook_count = 1;
    (void)serve(f, (struct call){"GET", "/long?a", NULL, NULL, NULL});
    for (unsigned done = 1; done < 3; done++) {
        assert_true(f->r.again);
        assert_false(f->r.wait);
        assert_int_equal(l.done, done);
        assert_int_equal(f->r.answer.body.len, 0);
        sl_rest_serve(&f->r);
    }
    assert_false(f->r.again);
    assert_int_equal(f->r.answer.status, 200);
    assert_string_equal(f->r.answer.body.data, "a:1,2,3,");
    assert_true(l.freed);
    l = (struct long_page){.rest = {go_on, free_rest}, .slices = 3};
    (void)serve(f, (struct call){"GET", "/long", NULL, NULL, NULL});
    forget(f); /* the client has left */
    assert_true(l.freed);
}

static void test_rest_wrong_method_is_405(void **state)
{
    struct fixture *f = *state;
    static const struct call calls[] = {
        {.method = "PUT", .uri = QUEUES},
        {.method = "POST", .uri = QUEUES "/q"},
        {.method = "DELETE", .uri = QUEUES "/q/status"},
        {.method = "POST", .uri = "/apis"},
        {.method = "POST", .uri = "/apis/kueue.x-k8s.io/v1beta2/localqueues"},
        {.method = "OPTIONS", .uri = QUEUES},
        {.method = "HEAD", .uri = QUEUES "?watch=1"},
        {.method = "HEAD", .uri = QUEUES "/q?watch=1"}};
    for (size_t i = 0; i < sizeof calls / sizeof calls[0]; i++) {
        assert_int_equal(call(f, calls[i]), 405);
        assert_string_equal(text(f, "reason"), "MethodNotAllowed");
        assert_non_null(f->r.answer.allow);
    }
}

/* --- create and get -------------------------------------------------------------------------- */

static void test_rest_create_waits_for_the_commit(void **state)
{
    struct fixture *f = *state;
    (void)serve(f,
                (struct call){
                    .method = "POST",
                    .uri = QUEUES,
                    .type = "application/json",
                    .body = "{\"metadata\":{\"name\":\"q\"},\"spec\":{\"clusterQueue\":\"cq\"}}"});
    assert_true(f->r.wait && f->r.wrote);
    assert_int_equal(sl_store_commit(f->rest.store, &f->e), SL_CODE_OK);
    sl_rest_committed(&f->r, SL_CODE_OK, NULL);
    assert_false(f->r.wait);
    assert_int_equal(f->r.answer.status, 201);
}

static void test_rest_failed_commit_fails_the_writer_not_the_reader(void **state)
{
    struct fixture *f = *state;
    make_queue(f, "q", "");
    struct sl_error full;
    sl_error_clear(&full);
    (void)sl_error_set(&full, SL_CODE_INTERNAL, "cannot write to the database: the disk is full");
    (void)serve(f, (struct call){.method = "DELETE", .uri = QUEUES "/q"});
    assert_true(f->r.wrote);
    sl_rest_committed(&f->r, full.code, &full);
    assert_int_equal(f->r.answer.status, 500);
    assert_non_null(strstr(f->r.answer.body.data, "the disk is full"));
    (void)serve(f, (struct call){.method = "GET", .uri = QUEUES "/q"});
    assert_true(f->r.wait && !f->r.wrote);
    commit(f);
    sl_rest_committed(&f->r, full.code, &full);
    assert_false(f->r.wait);
    assert_int_equal(f->r.answer.status, 404);
}

/* By somebody else: the request stays as it is. */
static void stage(struct fixture *f, enum sl_verb verb, struct sl_json *body)
{
    struct sl_json *result = NULL;
    struct sl_write w = {
        .verb = verb, .kind = SL_KIND_LOCAL_QUEUE, .ns = "default", .name = "q", .body = body};
    assert_int_equal(sl_store_apply(f->rest.store, &w, &result, &f->e), SL_CODE_OK);
    sl_json_free(result);
    sl_json_free(body);
}

/* A refusal may rest on what is staged: it is none before that is there. */
static void test_rest_refused_write_is_tried_again_when_the_commit_fails(void **state)
{
    struct fixture *f = *state;
    static const struct call calls[] = {{.method = "DELETE", .uri = QUEUES "/q"},
                                        {.method = "PATCH",
                                         .uri = QUEUES "/q",
                                         .type = "application/merge-patch+json",
                                         .body = "{\"metadata\":{\"labels\":{\"a\":\"b\"}}}"}};
    struct sl_error full;
    sl_error_clear(&full);
    (void)sl_error_set(&full, SL_CODE_INTERNAL, "the disk is full");
    for (size_t i = 0; i < sizeof calls / sizeof calls[0]; i++) {
        make_queue(f, "q", "");
        struct sl_json *q = NULL;
        assert_int_equal(
            sl_store_get(f->rest.store, SL_KIND_LOCAL_QUEUE, "default", "q", &q, &f->e),
            SL_CODE_OK);
        stage(f, SL_VERB_DELETE, NULL);
        assert_int_equal(serve(f, calls[i]), 404);
        assert_true(f->r.wait && !f->r.wrote);
        sl_json_remove(sl_json_get(q, "metadata"), "resourceVersion");
        stage(f, SL_VERB_CREATE, q); /* as if the deletion had been lost */
        sl_rest_committed(&f->r, full.code, &full);
        assert_int_equal(f->r.answer.status, 200);
        assert_true(f->r.wait && f->r.wrote);
        commit(f);
        sl_rest_committed(&f->r, SL_CODE_OK, NULL);
        assert_false(f->r.wait);
        (void)call(f, calls[0]);
    }
}

static void test_rest_refused_write_does_not_wait_for_nothing(void **state)
{
    struct fixture *f = *state;
    commit(f);
    assert_int_equal(serve(f, (struct call){.method = "DELETE", .uri = QUEUES "/q"}), 404);
    assert_false(f->r.wait);
}

/* Whether it keeps what it had of the first time, only a build with sanitizers sees. */
static void test_rest_dry_run_is_served_again_when_the_commit_fails(void **state)
{
    struct fixture *f = *state;
    struct sl_error full;
    struct sl_json *result = NULL, *ns = sl_object_new(SL_KIND_NAMESPACE, "", "staged");
    struct sl_write w = {
        .verb = SL_VERB_CREATE, .kind = SL_KIND_NAMESPACE, .ns = "", .name = "staged", .body = ns};
    assert_int_equal(sl_store_apply(f->rest.store, &w, &result, &f->e), SL_CODE_OK);
    sl_json_free(result);
    sl_json_free(ns);
    (void)serve(f,
                (struct call){
                    .method = "POST",
                    .uri = QUEUES "?dryRun=All",
                    .type = "application/json",
                    .body = "{\"metadata\":{\"name\":\"q\"},\"spec\":{\"clusterQueue\":\"cq\"}}"});
    assert_true(f->r.wait && !f->r.wrote);
    commit(f);
    sl_error_clear(&full);
    (void)sl_error_set(&full, SL_CODE_INTERNAL, "the disk is full");
    sl_rest_committed(&f->r, full.code, &full);
    assert_false(f->r.wait);
    assert_int_equal(f->r.answer.status, 201);
    assert_string_equal(f->r.subject, "q");
}

static void test_rest_get_gives_the_object(void **state)
{
    struct fixture *f = *state;
    make_queue(f, "q", "");
    assert_int_equal(get(f, QUEUES "/q"), 200);
    assert_string_equal(text(f, "kind"), "LocalQueue");
    assert_string_equal(text(f, "spec.clusterQueue"), "cq");
    assert_int_equal(get(f, QUEUES "/none"), 404);
    assert_string_equal(text(f, "message"), "localqueues.kueue.x-k8s.io \"none\" not found");
    assert_string_equal(text(f, "details.name"), "none");
    assert_string_equal(text(f, "details.kind"), "localqueues");
}

static void test_rest_get_as_yaml_and_pretty(void **state)
{
    struct fixture *f = *state;
    make_queue(f, "q", "");
    assert_int_equal(
        call(f, (struct call){.method = "GET", .uri = QUEUES "/q", .accept = "application/yaml"}),
        200);
    assert_string_equal(f->r.answer.content_type, "application/yaml");
    assert_non_null(strstr(f->r.answer.body.data, "clusterQueue: cq"));
    assert_int_equal(get(f, QUEUES "?pretty=true"), 200);
    assert_non_null(strstr(f->r.answer.body.data, "\n    "));
    assert_int_equal(
        call(f, (struct call){.method = "GET", .uri = QUEUES, .accept = "application/yaml"}), 200);
    assert_non_null(strstr(f->r.answer.body.data, "kind: LocalQueueList"));
}

/* A LocalQueue that is nested so deep, itself among the levels. */
static void print_deep_queue(char *out, size_t cap, int levels)
{
    char open[65] = {0}, close[65] = {0};
    memset(open, '[', (size_t)levels - 2);
    memset(close, ']', (size_t)levels - 2);
    (void)snprintf(
        out, cap,
        "{\"metadata\":{\"name\":\"deep\"},\"spec\":{\"clusterQueue\":\"cq\",\"x\":%s%s}}", open,
        close);
}

static void test_rest_deepest_object_is_read_in_every_shape(void **state)
{
    struct fixture *f = *state;
    char body[256];
    print_deep_queue(body, sizeof body, 61);
    assert_int_equal(post(f, QUEUES, body), 422);
    assert_string_equal(text(f, "details.causes.0.field"), "spec");
    assert_non_null(strstr(text(f, "message"), "deeper than 60 levels"));
    print_deep_queue(body, sizeof body, 60);
    assert_int_equal(post(f, QUEUES, body), 201);
    assert_int_equal(get(f, QUEUES "?pretty=true"), 200);
    assert_int_equal(call(f, (struct call){.method = "GET",
                                           .uri = QUEUES "?pretty=true&includeObject=Object",
                                           .accept = TABLE_TYPE}),
                     200);
    assert_int_equal(
        call(f, (struct call){.method = "GET", .uri = QUEUES, .accept = "application/yaml"}), 200);
    assert_non_null(strstr(f->r.answer.body.data, "x:"));
}

/* As by a disk that gives back something else. */
static void test_rest_list_with_a_damaged_object_is_not_told(void **state)
{
    struct fixture *f = *state;
    char path[128];
    sqlite3 *db = NULL;
    make_queue(f, "q", "");
    (void)snprintf(path, sizeof path, "%s/sluice.db", f->dir);
    assert_int_equal(sqlite3_open(path, &db), SQLITE_OK);
    assert_int_equal(
        sqlite3_exec(db,
                     "DROP TRIGGER objects_on; UPDATE objects SET body = replace(body, 'spec', "
                     "'Spec') WHERE name = 'q'",
                     NULL, NULL, NULL),
        SQLITE_OK);
    assert_int_equal(sqlite3_close(db), SQLITE_OK);
    assert_int_equal(get(f, QUEUES "?pretty=true"), 500);
    assert_non_null(strstr(text(f, "message"), "row of localqueues.kueue.x-k8s.io default/q: not "
                                               "what was written"));
}

static void test_rest_protobuf_alone_is_406(void **state)
{
    struct fixture *f = *state;
    const char *only = "application/vnd.kubernetes.protobuf";
    assert_int_equal(call(f, (struct call){.method = "GET", .uri = QUEUES, .accept = only}), 406);
    assert_int_equal(sl_json_path_int(f->reply, "code", 0), 406);
    assert_string_equal(text(f, "reason"), "NotAcceptable");
    const char *both = "application/vnd.kubernetes.protobuf,application/json";
    assert_int_equal(call(f, (struct call){.method = "GET", .uri = QUEUES, .accept = both}), 200);
}

static void test_rest_bad_bodies_are_refused(void **state)
{
    struct fixture *f = *state;
    static const struct {
        int status;
        const char *type, *body, *says;
    } bad[] = {
        {400, "application/json", "{\n\"metadata\": ]", "line 2"},
        {400, "application/json", "", "no body"},
        {400, "application/json", "[]", "has to be an object"},
        {400, "application/json", "{\"kind\":\"Job\"}", "does not match the expected kind"},
        {400, "application/json", "{\"apiVersion\":\"v1\"}",
         "does not match the expected API version"},
        {400, "application/yaml", "a: b\n\tc: d\n", "line"},
        {400, "application/yaml", "a: b\n---\nc: d\n", "exactly one YAML document"},
        {415, "application/x-www-form-urlencoded", "a=b", "unknown format"},
        {400, "application/vnd.kubernetes.protobuf", "nonsense", "does not begin with"},
        {422, "application/json", "{}", "name or generateName is required"},
        {400, "application/json", "{\"metadata\":{\"name\":\"q\",\"namespace\":\"other\"}}",
         "does not match"},
    };
    for (size_t i = 0; i < sizeof bad / sizeof bad[0]; i++) {
        int status =
            call(f, (struct call){
                        .method = "POST", .uri = QUEUES, .type = bad[i].type, .body = bad[i].body});
        if (status != bad[i].status || strstr(text(f, "message"), bad[i].says) == NULL) {
            fail_msg("%s: %d %s", bad[i].body, status, text(f, "message"));
        }
        assert_string_equal(text(f, "status"), "Failure");
        assert_int_equal(sl_json_path_int(f->reply, "code", 0), status);
    }
}

static void test_rest_body_too_large_is_413(void **state)
{
    struct fixture *f = *state;
    assert_true(sl_request_init(&f->r, &f->rest, "POST", QUEUES));
    f->used = true;
    f->r.too_large = true;
    sl_rest_serve(&f->r);
    assert_int_equal(f->r.answer.status, 413);
}

static void test_rest_yaml_body_is_accepted(void **state)
{
    struct fixture *f = *state;
    assert_int_equal(
        call(f, (struct call){.method = "POST",
                              .uri = QUEUES,
                              .type = "application/yaml",
                              .body = "metadata:\n  name: q\nspec:\n  clusterQueue: cq\n"}),
        201);
    assert_string_equal(text(f, "metadata.name"), "q");
}

static void test_rest_dry_run_changes_nothing(void **state)
{
    struct fixture *f = *state;
    const char *body = "{\"metadata\":{\"name\":\"q\"},\"spec\":{\"clusterQueue\":\"cq\"}}";
    assert_int_equal(post(f, QUEUES "?dryRun=All", body), 201);
    assert_int_equal(get(f, QUEUES "/q"), 404);
    assert_int_equal(post(f, QUEUES "?dryRun=Some", body), 422);
    make_queue(f, "q", "");
    assert_int_equal(call(f, (struct call){.method = "DELETE",
                                           .uri = QUEUES "/q",
                                           .body = "{\"dryRun\":[\"All\"]}"}),
                     200);
    assert_int_equal(get(f, QUEUES "/q"), 200);
}

/* --- update and patch ------------------------------------------------------------------------ */

static void test_rest_put_replaces_with_version(void **state)
{
    struct fixture *f = *state;
    char body[256];
    make_queue(f, "q", "");
    (void)snprintf(body, sizeof body,
                   "{\"metadata\":{\"name\":\"q\",\"resourceVersion\":\"%s\"},\"spec\":{"
                   "\"clusterQueue\":\"cq\","
                   "\"stopPolicy\":\"Hold\"}}",
                   text(f, "metadata.resourceVersion"));
    struct call put = {
        .method = "PUT", .uri = QUEUES "/q", .body = body, .type = "application/json"};
    assert_int_equal(call(f, put), 200);
    assert_int_equal(sl_json_path_int(f->reply, "metadata.generation", 0), 2);
    assert_int_equal(call(f, put), 409);
    assert_string_equal(text(f, "reason"), "Conflict");
    put.body = "{\"metadata\":{\"name\":\"q\"},\"spec\":{\"clusterQueue\":\"cq\"}}";
    assert_int_equal(call(f, put), 422);
    assert_string_equal(text(f, "details.causes.0.field"), "metadata.resourceVersion");
    put.body = "{\"metadata\":{\"name\":\"other\",\"resourceVersion\":\"1\"}}";
    assert_int_equal(call(f, put), 400);
}

static void test_rest_patches_by_type(void **state)
{
    struct fixture *f = *state;
    make_queue(f, "q", "");
    assert_int_equal(patch(f, QUEUES "/q", "application/merge-patch+json",
                           "{\"metadata\":{\"labels\":{\"a\":\"1\"}}}"),
                     200);
    assert_int_equal(
        patch(f, QUEUES "/q", "application/json-patch+json",
              "[{\"op\":\"replace\",\"path\":\"/metadata/labels/a\",\"value\":\"2\"}]"),
        200);
    assert_string_equal(text(f, "metadata.labels.a"), "2");
    assert_int_equal(patch(f, QUEUES "/q", "application/strategic-merge-patch+json", "{}"), 415);
    assert_int_equal(patch(f, QUEUES "/q", "application/json", "{}"), 415);
    assert_int_equal(patch(f, QUEUES "/q", "application/merge-patch+json", "[]"), 400);
    assert_int_equal(patch(f, QUEUES "/none", "application/merge-patch+json", "{}"), 404);
    assert_int_equal(patch(f, "/api/v1/namespaces/default",
                           "application/strategic-merge-patch+json",
                           "{\"metadata\":{\"labels\":{\"a\":\"1\"}}}"),
                     200);
}

static void test_rest_status_subresource_is_its_own(void **state)
{
    struct fixture *f = *state;
    make_queue(f, "q", "");
    assert_int_equal(
        patch(f, QUEUES "/q/status", "application/merge-patch+json",
              "{\"status\":{\"pendingWorkloads\":4},\"metadata\":{\"labels\":{\"a\":\"1\"}}}"),
        200);
    assert_int_equal(get(f, QUEUES "/q/status"), 200);
    assert_int_equal(sl_json_path_int(f->reply, "status.pendingWorkloads", 0), 4);
    assert_string_equal(text(f, "metadata.labels.a"), "(absent)");
    assert_int_equal(patch(f, QUEUES "/q", "application/merge-patch+json",
                           "{\"status\":{\"pendingWorkloads\":5}}"),
                     200);
    assert_int_equal(sl_json_path_int(f->reply, "status.pendingWorkloads", 0), 4);
}

/* --- delete ---------------------------------------------------------------------------------- */

static void test_rest_delete_says_success(void **state)
{
    struct fixture *f = *state;
    make_queue(f, "q", "");
    assert_int_equal(
        call(f, (struct call){.method = "DELETE",
                              .uri = QUEUES "/q",
                              .type = "application/json",
                              .body = "{\"kind\":\"DeleteOptions\",\"apiVersion\":\"v1\","
                                      "\"propagationPolicy\":\"Background\"}"}),
        200);
    assert_string_equal(text(f, "status"), "Success");
    assert_string_equal(text(f, "details.name"), "q");
    assert_int_equal(get(f, QUEUES "/q"), 404);
}

static void test_rest_delete_with_finalizer_gives_the_object(void **state)
{
    struct fixture *f = *state;
    make_queue(f, "q", ",\"finalizers\":[\"example.com/x\"]");
    assert_int_equal(call(f, (struct call){.method = "DELETE", .uri = QUEUES "/q"}), 200);
    assert_string_equal(text(f, "kind"), "LocalQueue");
    assert_string_equal(text(f, "metadata.deletionTimestamp"), "2026-08-22T10:00:00Z");
}

static void test_rest_delete_preconditions_conflict(void **state)
{
    struct fixture *f = *state;
    make_queue(f, "q", "");
    struct call c = {
        .method = "DELETE", .uri = QUEUES "/q", .body = "{\"preconditions\":{\"uid\":\"other\"}}"};
    assert_int_equal(call(f, c), 409);
    c.body = "{\"preconditions\":{\"resourceVersion\":\"1\"}}";
    assert_int_equal(call(f, c), 409);
    c.body = "{\"propagationPolicy\":\"Sideways\"}";
    assert_int_equal(call(f, c), 422);
    c.body = "{\"kind\":\"LocalQueue\"}";
    assert_int_equal(call(f, c), 400);
}

static void test_rest_delete_options_of_another_type_delete_nothing(void **state)
{
    static const char *const bodies[] = {"{\"dryRun\":\"All\"}",
                                         "{\"dryRun\":[true]}",
                                         "{\"preconditions\":[\"u\"]}",
                                         "{\"preconditions\":{\"uid\":1}}",
                                         "{\"preconditions\":{\"resourceVersion\":1}}",
                                         "{\"propagationPolicy\":1}",
                                         "{\"orphanDependents\":\"true\"}",
                                         "{\"gracePeriodSeconds\":\"0\"}",
                                         "[]"};
    struct fixture *f = *state;
    make_queue(f, "q", "");
    for (size_t i = 0; i < sizeof bodies / sizeof bodies[0]; i++) {
        struct call c = {.method = "DELETE", .uri = QUEUES "/q", .body = bodies[i]};
        assert_int_equal(call(f, c), 400);
        c.uri = QUEUES;
        assert_int_equal(call(f, c), 400);
    }
    assert_int_equal(call(f, (struct call){.method = "DELETE",
                                           .uri = QUEUES "/q",
                                           .body = "{\"dryRun\":null,\"preconditions\":"
                                                   "{\"uid\":null}}"}),
                     200);
    assert_int_equal(get(f, QUEUES "/q"), 404);
}

static void test_rest_delete_may_ask_for_orphans_by_their_older_name(void **state)
{
    struct fixture *f = *state;
    char owner[256];
    make_queue(f, "q", "");
    (void)snprintf(owner, sizeof owner,
                   ",\"ownerReferences\":[{\"apiVersion\":\"kueue.x-k8s.io/v1beta2\",\"kind\":"
                   "\"LocalQueue\",\"name\":\"q\",\"uid\":\"%s\"}]",
                   text(f, "metadata.uid"));
    make_queue(f, "child", owner);
    assert_int_equal(call(f, (struct call){.method = "DELETE",
                                           .uri = QUEUES "/q",
                                           .body = "{\"orphanDependents\":true}"}),
                     200);
    assert_int_equal(get(f, QUEUES "/child"), 200);
    assert_null(sl_json_path(f->reply, "metadata.ownerReferences"));
}

static void test_rest_delete_collection_goes_on_over_commits(void **state)
{
    struct fixture *f = *state;
    char name[16];
    for (int i = 0; i < 600; i++) {
        (void)snprintf(name, sizeof name, "q%d", i);
        make_queue(f, name, i == 77 ? ",\"labels\":{\"keep\":\"yes\"}" : "");
    }
    assert_int_equal(
        call(f, (struct call){.method = "DELETE", .uri = QUEUES "?labelSelector=keep%21%3Dyes"}),
        200);
    assert_int_equal(get(f, QUEUES), 200);
    assert_int_equal(sl_json_len(sl_json_get(f->reply, "items")), 1);
    assert_string_equal(text(f, "items.0.metadata.name"), "q77");
}

static void test_rest_delete_collection_goes_on_over_pages_that_change_nothing(void **state)
{
    struct fixture *f = *state;
    char name[16];
    for (int i = 0; i < 300; i++) {
        (void)snprintf(name, sizeof name, "a%d", i);
        make_queue(f, name, ",\"finalizers\":[\"x/y\"]");
    }
    assert_int_equal(call(f, (struct call){.method = "DELETE", .uri = QUEUES}), 200);
    make_queue(f, "z", "");
    assert_int_equal(serve(f, (struct call){.method = "DELETE", .uri = QUEUES}), 200);
    assert_false(f->r.wait);
    assert_true(f->r.again); /* one page a turn */
    assert_int_equal(call(f, (struct call){.method = "DELETE", .uri = QUEUES}), 200);
    assert_int_equal(get(f, QUEUES "/z"), 404);
    assert_int_equal(get(f, QUEUES "/a0"), 200);
}

/* --- lists ----------------------------------------------------------------------------------- */

static void test_rest_list_limit_and_continue(void **state)
{
    struct fixture *f = *state;
    char uri[256];
    make_queue(f, "a", "");
    make_queue(f, "b", "");
    make_queue(f, "c", "");
    assert_int_equal(get(f, QUEUES "?limit=2"), 200);
    assert_string_equal(text(f, "kind"), "LocalQueueList");
    assert_int_equal(sl_json_len(sl_json_get(f->reply, "items")), 2);
    (void)snprintf(uri, sizeof uri, "%s?limit=2&continue=%s", QUEUES, text(f, "metadata.continue"));
    assert_int_equal(get(f, uri), 200);
    assert_int_equal(sl_json_len(sl_json_get(f->reply, "items")), 1);
    assert_string_equal(text(f, "metadata.continue"), "(absent)");
    assert_int_equal(get(f, QUEUES "?continue=rubbish"), 400);
}

static void test_rest_pages_are_of_one_revision(void **state)
{
    struct fixture *f = *state;
    char uri[256], revision[32];
    make_queue(f, "a", "");
    make_queue(f, "b", "");
    make_queue(f, "c", "");
    assert_int_equal(get(f, QUEUES "?limit=1"), 200);
    assert_int_equal(sl_json_int(sl_json_path(f->reply, "metadata.remainingItemCount"), -1), 2);
    (void)snprintf(revision, sizeof revision, "%s", text(f, "metadata.resourceVersion"));
    (void)snprintf(uri, sizeof uri, "%s?limit=5&continue=%s", QUEUES, text(f, "metadata.continue"));
    make_queue(f, "aa", "");
    assert_int_equal(call(f, (struct call){.method = "DELETE", .uri = QUEUES "/b"}), 200);
    assert_int_equal(get(f, uri), 200);
    assert_string_equal(text(f, "metadata.resourceVersion"), revision);
    assert_string_equal(text(f, "metadata.remainingItemCount"), "(absent)");
    assert_int_equal(sl_json_len(sl_json_get(f->reply, "items")), 2);
    assert_string_equal(text(f, "items.0.metadata.name"), "b");
    (void)snprintf(uri, sizeof uri, "%s?resourceVersion=%s&resourceVersionMatch=Exact", QUEUES,
                   revision);
    assert_int_equal(get(f, uri), 200);
    assert_int_equal(sl_json_len(sl_json_get(f->reply, "items")), 3);
    assert_int_equal(get(f, QUEUES "?limit=1&labelSelector=!x"), 200);
    assert_string_equal(text(f, "metadata.remainingItemCount"), "(absent)");
    (void)snprintf(uri, sizeof uri, "%s?resourceVersion=%s&continue=%s", QUEUES, revision,
                   text(f, "metadata.continue"));
    assert_int_equal(get(f, uri), 400);
    assert_string_equal(text(f, "message"),
                        "specifying resource version is not allowed when using continue");
}

static void test_rest_a_list_that_is_too_old_offers_its_rest(void **state)
{
    struct fixture *f = *state;
    char uri[256];
    make_queue(f, "a", "");
    make_queue(f, "b", "");
    assert_int_equal(get(f, QUEUES "?limit=1"), 200);
    (void)snprintf(uri, sizeof uri, "%s?limit=1&continue=%s", QUEUES, text(f, "metadata.continue"));
    make_queue(f, "c", "");
    sl_clock_set_virtual(sl_clock_now_ms() + 300000);
    assert_int_equal(get(f, uri), 410);
    assert_string_equal(text(f, "reason"), "Expired");
    assert_non_null(strstr(text(f, "message"), "use the continue token in this response"));
    assert_non_null(strstr(text(f, "message"), "may show up in the list."));
    (void)snprintf(uri, sizeof uri, "%s?continue=%s", QUEUES, text(f, "metadata.continue"));
    assert_int_equal(get(f, uri), 200);
    assert_int_equal(sl_json_len(sl_json_get(f->reply, "items")), 2);
}

static void test_rest_head_of_a_long_list_has_no_stream(void **state)
{
    struct fixture *f = *state;
    char name[16];
    for (int i = 0; i < 150; i++) {
        (void)snprintf(name, sizeof name, "q%d", i);
        make_queue(f, name, "");
    }
    assert_int_equal(call(f, (struct call){.method = "HEAD", .uri = QUEUES}), 200);
    assert_null(f->r.answer.stream);
    assert_int_equal(get(f, QUEUES), 200);
    assert_non_null(f->r.answer.stream);
}

static void expect_found(struct fixture *f, const char *uri, const char *names)
{
    struct sl_buf found = {0};
    sl_buf_text(&found, "");
    assert_int_equal(get(f, uri), 200);
    const struct sl_json *items = sl_json_get(f->reply, "items");
    for (size_t i = 0; i < sl_json_len(items); i++) {
        sl_buf_print(&found, "%s ", sl_object_name(sl_json_at(items, i)));
    }
    if (strcmp(found.data, names) != 0) {
        fail_msg("%s finds \"%s\"", uri, found.data);
    }
    sl_buf_fini(&found);
}

#define SELECT_JOBS "/apis/batch/v1/jobs?fieldSelector="
#define SELECT_EVENTS "/api/v1/events?fieldSelector="
#define SELECT_NODES "/api/v1/nodes?fieldSelector="

static void test_rest_fields_of_other_names_and_types_are_selected(void **state)
{
    struct fixture *f = *state;
    static const char *const jobs = "/apis/batch/v1/namespaces/default/jobs";
    static const char *const events = "/api/v1/namespaces/default/events";
    static const char job[] =
        "{\"metadata\":{\"name\":\"%s\"},\"spec\":{\"template\":{\"spec\":{"
        "\"restartPolicy\":\"Never\",\"containers\":[{\"name\":\"c\",\"image\":\"i\"}]}}}}";
    char body[512];
    (void)snprintf(body, sizeof body, job, "none");
    assert_int_equal(post(f, jobs, body), 201);
    (void)snprintf(body, sizeof body, job, "two");
    assert_int_equal(post(f, jobs, body), 201);
    assert_int_equal(patch(f, "/apis/batch/v1/namespaces/default/jobs/two/status",
                           "application/merge-patch+json", "{\"status\":{\"succeeded\":2}}"),
                     200);
    expect_found(f, SELECT_JOBS "status.successful%3D2", "two ");
    expect_found(f, SELECT_JOBS "status.successful%3D0", "none ");

    assert_int_equal(post(f, events,
                          "{\"metadata\":{\"name\":\"e\"},\"involvedObject\":{},"
                          "\"source\":{\"component\":\"a\"},\"reportingComponent\":\"c\"}"),
                     201);
    assert_int_equal(post(f, events,
                          "{\"metadata\":{\"name\":\"f\"},\"involvedObject\":{},"
                          "\"reportingComponent\":\"b\"}"),
                     201);
    expect_found(f, SELECT_EVENTS "source%3Da", "e ");
    expect_found(f, SELECT_EVENTS "source%3Db", "f ");
    expect_found(f, SELECT_EVENTS "reportingComponent%3Dc", "e ");

    assert_int_equal(post(f, "/api/v1/nodes", "{\"metadata\":{\"name\":\"m\"}}"), 201);
    assert_int_equal(post(f, "/api/v1/nodes",
                          "{\"metadata\":{\"name\":\"n\"},\"spec\":{\"unschedulable\":true}}"),
                     201);
    expect_found(f, SELECT_NODES "spec.unschedulable%3Dfalse", "m ");
    expect_found(f, SELECT_NODES "spec.unschedulable%3Dtrue", "n ");
    expect_found(f, SELECT_NODES "metadata.name%3Dm", "m ");
}

/* As the CRD says it. */
static void test_rest_workloads_of_a_cluster_queue_are_selected(void **state)
{
    struct fixture *f = *state;
    static const char *const workloads =
        "/apis/kueue.x-k8s.io/v1beta2/namespaces/default/workloads";
    static const char select[] =
        "/apis/kueue.x-k8s.io/v1beta2/workloads?fieldSelector=status.admission.clusterQueue";
    char uri[256];
    assert_int_equal(post(f, workloads, "{\"metadata\":{\"name\":\"a\"},\"spec\":{}}"), 201);
    assert_int_equal(post(f, workloads, "{\"metadata\":{\"name\":\"b\"},\"spec\":{}}"), 201);
    assert_int_equal(
        patch(f, "/apis/kueue.x-k8s.io/v1beta2/namespaces/default/workloads/b/status",
              "application/merge-patch+json",
              "{\"status\":{\"admission\":{\"clusterQueue\":\"cq\",\"podSetAssignments\":[]}}}"),
        200);
    (void)snprintf(uri, sizeof uri, "%s%%3Dcq", select);
    expect_found(f, uri, "b ");
    (void)snprintf(uri, sizeof uri, "%s%%3D", select);
    expect_found(f, uri, "a ");
}

static void test_rest_list_across_namespaces(void **state)
{
    struct fixture *f = *state;
    assert_int_equal(post(f, "/api/v1/namespaces", "{\"metadata\":{\"name\":\"team\"}}"), 201);
    make_queue(f, "a", "");
    assert_int_equal(post(f, "/apis/kueue.x-k8s.io/v1beta2/namespaces/team/localqueues",
                          "{\"metadata\":{\"name\":\"b\"},\"spec\":{\"clusterQueue\":\"cq\"}}"),
                     201);
    assert_int_equal(get(f, "/apis/kueue.x-k8s.io/v1beta2/localqueues"), 200);
    assert_int_equal(sl_json_len(sl_json_get(f->reply, "items")), 2);
    assert_int_equal(get(f, QUEUES), 200);
    assert_int_equal(sl_json_len(sl_json_get(f->reply, "items")), 1);
}

static void test_rest_list_selectors(void **state)
{
    struct fixture *f = *state;
    make_queue(f, "a", ",\"labels\":{\"x\":\"1\"}");
    make_queue(f, "b", "");
    assert_int_equal(get(f, QUEUES "?labelSelector=x%3D1"), 200);
    assert_int_equal(sl_json_len(sl_json_get(f->reply, "items")), 1);
    assert_int_equal(get(f, QUEUES "?fieldSelector=metadata.name%3Db"), 200);
    assert_string_equal(text(f, "items.0.metadata.name"), "b");
    assert_int_equal(sl_json_len(sl_json_get(f->reply, "items")), 1);
    assert_int_equal(get(f, QUEUES "?fieldSelector=spec.clusterQueue%3Dcq"), 400);
    assert_non_null(strstr(text(f, "message"), "field label not supported: spec.clusterQueue"));
    assert_int_equal(get(f, QUEUES "?labelSelector=%21%21"), 400);
}

static void test_rest_events_by_involved_object(void **state)
{
    struct fixture *f = *state;
    const char *uri = "/api/v1/namespaces/default/events";
    assert_int_equal(
        post(
            f, uri,
            "{\"metadata\":{\"name\":\"e1\"},\"reason\":\"R\",\"involvedObject\":{\"kind\":\"Job\","
            "\"name\":\"j\",\"namespace\":\"default\",\"uid\":\"u1\"}}"),
        201);
    assert_int_equal(
        post(
            f, uri,
            "{\"metadata\":{\"name\":\"e2\"},\"reason\":\"R\",\"involvedObject\":{\"kind\":\"Job\","
            "\"name\":\"k\",\"namespace\":\"default\",\"uid\":\"u2\"}}"),
        201);
    assert_int_equal(
        get(f, "/api/v1/namespaces/default/events?fieldSelector=involvedObject.uid%3Du2%2C"
               "involvedObject.name%3Dk"),
        200);
    assert_int_equal(sl_json_len(sl_json_get(f->reply, "items")), 1);
    assert_string_equal(text(f, "items.0.metadata.name"), "e2");
}

static void test_rest_list_as_table(void **state)
{
    struct fixture *f = *state;
    make_queue(f, "a", "");
    assert_int_equal(call(f, (struct call){.method = "GET", .uri = QUEUES, .accept = TABLE_TYPE}),
                     200);
    assert_string_equal(text(f, "kind"), "Table");
    assert_string_equal(text(f, "columnDefinitions.0.name"), "Name");
    assert_string_equal(text(f, "rows.0.cells.0"), "a");
    assert_string_equal(text(f, "rows.0.object.kind"), "PartialObjectMetadata");
    struct call c = {.method = "GET", .uri = QUEUES "?includeObject=Object", .accept = TABLE_TYPE};
    assert_int_equal(call(f, c), 200);
    assert_string_equal(text(f, "rows.0.object.kind"), "LocalQueue");
    c.uri = QUEUES "/a";
    assert_int_equal(call(f, c), 200);
    assert_string_equal(text(f, "rows.0.cells.0"), "a");
    c.accept = "application/json;as=PartialObjectMetadataList;g=meta.k8s.io;v=v1";
    c.uri = QUEUES;
    assert_int_equal(call(f, c), 200);
    assert_string_equal(text(f, "kind"), "PartialObjectMetadataList");
    assert_string_equal(text(f, "items.0.metadata.name"), "a");
}

static void test_rest_long_list_is_streamed(void **state)
{
    struct fixture *f = *state;
    char name[16];
    struct sl_buf whole = {0};
    for (int i = 0; i < 1203; i++) {
        (void)snprintf(name, sizeof name, "q%d", i);
        make_queue(f, name, "");
    }
    static const char *const accepts[] = {NULL, TABLE_TYPE};
    for (int i = 0; i < 2; i++) {
        (void)call(f, (struct call){.method = "GET", .uri = QUEUES, .accept = accepts[i]});
        assert_int_equal(drain(f, &whole), SL_STREAM_END);
        struct sl_json *list = sl_json_parse(whole.data, whole.len, &f->e);
        assert_non_null(list);
        assert_int_equal(sl_json_len(sl_json_get(list, i == 0 ? "items" : "rows")), 1203);
        assert_true(sl_json_path_text(list, "metadata.resourceVersion", "")[0] != '\0');
        sl_json_free(list);
        sl_buf_reset(&whole);
    }
    (void)call(f, (struct call){.method = "GET", .uri = QUEUES "?limit=700"});
    assert_int_equal(drain(f, &whole), SL_STREAM_END);
    struct sl_json *list = sl_json_parse(whole.data, whole.len, &f->e);
    assert_int_equal(sl_json_len(sl_json_get(list, "items")), 700);
    assert_true(sl_json_path_text(list, "metadata.continue", "")[0] != '\0');
    sl_json_free(list);
    sl_buf_fini(&whole);
}

static void test_rest_list_resource_versions(void **state)
{
    struct fixture *f = *state;
    assert_int_equal(get(f, QUEUES "?resourceVersion=0"), 200);
    assert_int_equal(get(f, QUEUES "?resourceVersion=abc"), 400);
    assert_int_equal(get(f, QUEUES "?limit=many"), 400);
    assert_int_equal(get(f, QUEUES "?resourceVersion=999999"), 504);
    make_queue(f, "a", "");
    assert_int_equal(get(f, QUEUES "?resourceVersion=1&resourceVersionMatch=Exact"), 410);
}

static void test_rest_invalid_object_is_named_with_its_causes(void **state)
{
    struct fixture *f = *state;
    assert_int_equal(
        post(f, QUEUES,
             "{\"metadata\":{\"name\":\"Bad_Name\"},\"spec\":{\"clusterQueue\":\"cq\"}}"),
        422);
    assert_string_equal(text(f, "reason"), "Invalid");
    assert_string_equal(text(f, "details.name"), "Bad_Name");
    assert_string_equal(text(f, "details.kind"), "LocalQueue");
    assert_string_equal(text(f, "details.causes.0.field"), "metadata.name");
    assert_int_equal(get(f, QUEUES "/Bad_Name"), 404);
}

static void test_rest_large_objects_are_listed_in_small_pages(void **state)
{
    struct fixture *f = *state;
    struct sl_buf body = {0}, whole = {0};
    for (int i = 0; i < 130; i++) {
        sl_buf_reset(&body);
        sl_buf_print(&body,
                     "{\"metadata\":{\"name\":\"q%d\",\"annotations\":{\"a\":\"%0100000d\"}},"
                     "\"spec\":{\"clusterQueue\":\"cq\"}}",
                     i, i);
        assert_int_equal(post(f, QUEUES, body.data), 201);
    }
    (void)serve(f, (struct call){.method = "GET", .uri = QUEUES});
    size_t first = f->r.answer.body.len;
    assert_int_equal(f->r.answer.stream->fill(f->r.answer.stream, &whole), SL_STREAM_MORE);
    assert_true(first > 1000000 && first < 2000000 && whole.len < 2000000);
    sl_buf_fini(&body);
    sl_buf_fini(&whole);
}

static void test_rest_without_a_store_serves_health_only(void **state)
{
    struct fixture *f = *state;
    struct sl_store *store = f->rest.store;
    f->rest.store = NULL;
    int health = serve(f, (struct call){.method = "GET", .uri = "/healthz"});
    int queues = serve(f, (struct call){.method = "GET", .uri = QUEUES});
    f->rest.store = store;
    assert_int_equal(health, 200);
    assert_int_equal(queues, 404);
}

static void test_rest_body_of_too_many_values_is_413(void **state)
{
    struct fixture *f = *state;
    struct sl_buf body = {0};
    sl_buf_text(&body, "{\"metadata\":{\"name\":\"q\",\"x\":[");
    for (int i = 0; i < 40000; i++) {
        sl_buf_text(&body, "{},");
    }
    sl_buf_text(&body, "0]}}");
    assert_int_equal(post(f, QUEUES, body.data), 413);
    assert_non_null(strstr(f->r.answer.body.data, "too many values"));
    sl_buf_fini(&body);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        CASE(test_rest_unknown_paths_are_status_404),
        CASE(test_rest_containers_are_said_not_to_exist),
        CASE(test_rest_logs_are_asked_for_as_the_client_wants_them),
        CASE(test_rest_malformed_escape_is_400),
        CASE(test_rest_discovery_lists_every_kind),
        cmocka_unit_test_setup_teardown(test_rest_custom_kind_is_served, setup_with_custom_kind,
                                        teardown_with_custom_kind),
        CASE(test_rest_aggregated_discovery_when_asked),
        CASE(test_rest_health_version_and_openapi),
        CASE(test_rest_openapi_explains_the_fields_of_kinds),
        CASE(test_rest_fields_named_twice_are_refused_or_warned_of),
        CASE(test_rest_misspelt_fields_are_warned_of),
        CASE(test_rest_cohort_below_itself_is_warned_of),
        CASE(test_rest_fields_without_effect_are_warned_of),
        CASE(test_rest_fields_that_a_gate_lets_count_are_not_warned_of),
        CASE(test_rest_jobs_that_will_wait_for_ever_are_warned_of),
        CASE(test_rest_strict_writes_name_no_unknown_fields),
        CASE(test_rest_strict_patches_add_no_unknown_fields),
        CASE(test_rest_strict_knows_jobs_above_their_pods_and_what_pods_ask_for),
        CASE(test_rest_strict_leaves_the_words_of_strategic_patches),
        CASE(test_rest_long_unknown_fields_are_cut_between_characters),
        CASE(test_rest_openapi_v2_as_protobuf_knows_no_kind),
        CASE(test_rest_access_reviews_allow_everything),
        CASE(test_rest_hooks_come_first),
        CASE(test_rest_hook_leaves_a_request_to_what_follows),
        CASE(test_rest_long_page_of_a_hook_takes_turns),
        CASE(test_rest_wrong_method_is_405),
        CASE(test_rest_create_waits_for_the_commit),
        CASE(test_rest_refused_write_is_tried_again_when_the_commit_fails),
        CASE(test_rest_refused_write_does_not_wait_for_nothing),
        CASE(test_rest_failed_commit_fails_the_writer_not_the_reader),
        CASE(test_rest_dry_run_is_served_again_when_the_commit_fails),
        CASE(test_rest_get_gives_the_object),
        CASE(test_rest_get_as_yaml_and_pretty),
        CASE(test_rest_deepest_object_is_read_in_every_shape),
        CASE(test_rest_list_with_a_damaged_object_is_not_told),
        CASE(test_rest_protobuf_alone_is_406),
        CASE(test_rest_bad_bodies_are_refused),
        CASE(test_rest_body_too_large_is_413),
        CASE(test_rest_yaml_body_is_accepted),
        CASE(test_rest_dry_run_changes_nothing),
        CASE(test_rest_put_replaces_with_version),
        CASE(test_rest_patches_by_type),
        CASE(test_rest_status_subresource_is_its_own),
        CASE(test_rest_workloads_of_a_cluster_queue_are_selected),
        CASE(test_rest_delete_says_success),
        CASE(test_rest_delete_with_finalizer_gives_the_object),
        CASE(test_rest_delete_preconditions_conflict),
        CASE(test_rest_delete_options_of_another_type_delete_nothing),
        CASE(test_rest_delete_may_ask_for_orphans_by_their_older_name),
        CASE(test_rest_delete_collection_goes_on_over_commits),
        CASE(test_rest_delete_collection_goes_on_over_pages_that_change_nothing),
        CASE(test_rest_list_limit_and_continue),
        CASE(test_rest_pages_are_of_one_revision),
        CASE(test_rest_a_list_that_is_too_old_offers_its_rest),
        CASE(test_rest_head_of_a_long_list_has_no_stream),
        CASE(test_rest_fields_of_other_names_and_types_are_selected),
        CASE(test_rest_list_across_namespaces),
        CASE(test_rest_list_selectors),
        CASE(test_rest_events_by_involved_object),
        CASE(test_rest_list_as_table),
        CASE(test_rest_long_list_is_streamed),
        CASE(test_rest_list_resource_versions),
        CASE(test_rest_invalid_object_is_named_with_its_causes),
        CASE(test_rest_large_objects_are_listed_in_small_pages),
        CASE(test_rest_without_a_store_serves_health_only),
        CASE(test_rest_body_of_too_many_values_is_413),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
