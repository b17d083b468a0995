/* SPDX-License-Identifier: Apache-2.0
 * SPDX-FileCopyrightText: The Sluice authors */

/* AdmissionReviews: what is done to new objects, what is refused, and what is no review. That the policies do the same to the same
 * objects: tests/cluster/test_webhook.py. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <cmocka.h>

#include "base/base64.h"
#include "base/mem.h"
#include "webhook/webhook.h"

#define POD "\"resource\":{\"group\":\"\",\"version\":\"v1\",\"resource\":\"pods\"}"
#define JOB "\"resource\":{\"group\":\"batch\",\"version\":\"v1\",\"resource\":\"jobs\"}"
#define MPI "\"resource\":{\"group\":\"kubeflow.org\",\"version\":\"v2\",\"resource\":\"mpijobs\"}"
#define RAY_SERVICE                                                                                \
    "\"resource\":{\"group\":\"ray.io\",\"version\":\"v1\",\"resource\":\"rayservices\"}"
#define DEPLOYMENT                                                                                 \
    "\"resource\":{\"group\":\"apps\",\"version\":\"v1\",\"resource\":\"deployments\"}"
#define CQ                                                                                         \
    "\"resource\":{\"group\":\"kueue.x-k8s.io\",\"version\":\"v1beta2\",\"resource\":"             \
    "\"clusterqueues\"}"
#define QUEUED "\"labels\":{\"kueue.x-k8s.io/queue-name\":\"q\"}"

struct scene {
    struct sl_webhook w;
    struct sl_json *rules[5], *owners;
    bool queue, class;
};

static struct sl_json *parse(const char *text)
{
    struct sl_error e = {0};
    struct sl_json *value = sl_json_parse(text, strlen(text), &e);
    if (value == NULL) {
        fail_msg("%s: %s", text, e.text);
    }
    return value;
}

static bool has_queue(void *context, const char *ns)
{
    return ((struct scene *)context)->queue && strcmp(ns, "ns") == 0;
}

static bool has_class(void *context)
{
    return ((struct scene *)context)->class;
}

static struct sl_json *rule_new(const char *group, const char *resource)
{
    char text[256];
    (void)snprintf(text, sizeof text,
                   "[{\"apiGroups\":[\"%s\"],\"apiVersions\":[\"*\"],\"resources\":[\"%s\"],"
                   "\"operations\":[\"CREATE\"]}]",
                   group, resource);
    return parse(text);
}

static int setup(void **state)
{
    struct scene *s = sl_mem_new(1, sizeof *s);
    s->rules[0] = rule_new("batch", "jobs");
    s->rules[1] = rule_new("", "pods");
    s->rules[2] = rule_new("kubeflow.org", "mpijobs");
    s->rules[3] = rule_new("apps", "deployments");
    s->rules[4] = rule_new("ray.io", "rayservices");
    sl_json_append(sl_json_path(s->rules[3], "0.operations"), sl_json_new_text("UPDATE"));
    s->owners = parse("[\"batch/Job\",\"kubeflow.org/MPIJob\",\"batch.example.com/Job\"]");
    s->w.world = (struct sl_admit_world){has_queue, has_class, s};
    static const struct {
        enum sl_admit_act act;
        size_t rules;
    } policies[] = {{SL_ADMIT_QUEUE, 0},      {SL_ADMIT_CLASS, 0},      {SL_ADMIT_QUEUE, 1},
                    {SL_ADMIT_CLASS, 1},      {SL_ADMIT_SUSPEND, 0},    {SL_ADMIT_GATE, 1},
                    {SL_ADMIT_QUEUE, 2},      {SL_ADMIT_RUN_POLICY, 2}, {SL_ADMIT_TEMPLATE, 3},
                    {SL_ADMIT_RAY_SERVICE, 4}};
    for (size_t i = 0; i < sizeof policies / sizeof policies[0]; i++) {
        s->w.policies[s->w.policy_count++] =
            (struct sl_webhook_policy){policies[i].act, s->rules[policies[i].rules], s->owners};
    }
    *state = s;
    return 0;
}

static int teardown(void **state)
{
    struct scene *s = *state;
    for (size_t i = 0; i < 5; i++) {
        sl_json_free(s->rules[i]);
    }
    sl_json_free(s->owners);
    sl_mem_free(s);
    return 0;
}

/* A review of that request's members; the whole of it. */
static struct sl_json *review_new(const char *operation, const char *resource, const char *members)
{
    char text[4096];
    (void)snprintf(text, sizeof text,
                   "{\"kind\":\"AdmissionReview\",\"apiVersion\":\"admission.k8s.io/v1\","
                   "\"request\":{\"uid\":\"u1\",\"operation\":\"%s\",\"namespace\":\"ns\",%s,%s}}",
                   operation, resource, members);
    return parse(text);
}

static struct sl_json *asked(const struct scene *s, enum sl_webhook_way way, const char *operation,
                             const char *resource, const char *members)
{
    struct sl_error e = {0};
    struct sl_json *review = review_new(operation, resource, members);
    struct sl_json *answer = sl_webhook_answer_new(&s->w, way, review, &e);
    sl_json_free(review);
    if (answer == NULL) {
        fail_msg("%s", e.text);
    }
    assert_string_equal(sl_json_path_text(answer, "kind", ""), "AdmissionReview");
    assert_string_equal(sl_json_path_text(answer, "apiVersion", ""), "admission.k8s.io/v1");
    assert_string_equal(sl_json_path_text(answer, "response.uid", ""), "u1");
    return answer;
}

/* The patch of a new object, which is always allowed. */
static void mutates(const struct scene *s, const char *resource, const char *object,
                    const char *expected)
{
    char members[2048];
    (void)snprintf(members, sizeof members, "\"object\":%s", object);
    struct sl_json *answer = asked(s, SL_WEBHOOK_MUTATES, "CREATE", resource, members);
    struct sl_buf patch = {0};
    assert_true(sl_json_path_bool(answer, "response.allowed", false));
    assert_true(sl_base64_read(sl_json_path_text(answer, "response.patch", ""), &patch));
    assert_string_equal(patch.data == NULL ? "" : patch.data, expected);
    assert_string_equal(sl_json_path_text(answer, "response.patchType", ""),
                        expected[0] == '\0' ? "" : "JSONPatch");
    sl_buf_fini(&patch);
    sl_json_free(answer);
}

#define SUSPENDED "{\"op\":\"add\",\"path\":\"/spec/suspend\",\"value\":true}"

static void test_webhook_job_with_a_queue_is_suspended(void **state)
{
    struct scene *s = *state;
    mutates(s, JOB, "{\"metadata\":{" QUEUED "},\"spec\":{}}", "[" SUSPENDED "]");
    mutates(s, JOB, "{\"metadata\":{" QUEUED "},\"spec\":{\"suspend\":false}}",
            "[{\"op\":\"replace\",\"path\":\"/spec/suspend\",\"value\":true}]");
    mutates(s, JOB, "{\"metadata\":{" QUEUED "},\"spec\":{\"suspend\":true}}", "");
    mutates(s, JOB, "{\"metadata\":{\"name\":\"j\"},\"spec\":{}}", "");
    mutates(s, MPI, "{\"metadata\":{" QUEUED "},\"spec\":{}}",
            "[{\"op\":\"add\",\"path\":\"/spec/runPolicy\",\"value\":{\"suspend\":true}}]");
    mutates(s, RAY_SERVICE, "{\"metadata\":{" QUEUED "},\"spec\":{\"rayClusterConfig\":{}}}",
            "[{\"op\":\"add\",\"path\":\"/spec/rayClusterConfig/suspend\",\"value\":true}]");
    s->w.unnamed = true;
    mutates(s, JOB, "{\"metadata\":{\"name\":\"j\"},\"spec\":{}}", "[" SUSPENDED "]");
}

static void test_webhook_default_queue_and_class_come_before_suspension(void **state)
{
    struct scene *s = *state;
    s->queue = s->class = true;
    mutates(s, JOB, "{\"metadata\":{\"labels\":{\"a\":\"b\"}},\"spec\":{}}",
            "[{\"op\":\"add\",\"path\":\"/metadata/labels/kueue.x-k8s.io~1queue-name\",\"value\":"
            "\"default\"},{\"op\":\"add\",\"path\":\"/metadata/labels/"
            "kueue.x-k8s.io~1priority-class\",\"value\":\"default\"}," SUSPENDED "]");
    s->queue = false;
    mutates(s, JOB, "{\"metadata\":{},\"spec\":{}}", "");
}

#define GATES                                                                                      \
    "{\"op\":\"add\",\"path\":\"/spec/schedulingGates\",\"value\":[{\"name\":\"kueue.x-k8s.io/"    \
    "admission\"},{\"name\":\"kueue.x-k8s.io/topology\"}]}"
#define MARKED                                                                                     \
    "{\"op\":\"add\",\"path\":\"/metadata/labels/kueue.x-k8s.io~1managed\",\"value\":\"true\"}"
#define HELD                                                                                       \
    "{\"op\":\"add\",\"path\":\"/metadata/finalizers\",\"value\":[\"kueue.x-k8s.io/managed\"]}"

static void test_webhook_pod_with_a_queue_is_marked_and_gated(void **state)
{
    struct scene *s = *state;
    mutates(s, POD, "{\"metadata\":{" QUEUED "},\"spec\":{}}", "[" MARKED "," HELD "," GATES "]");
    mutates(s, POD, "{\"metadata\":{},\"spec\":{}}", "");
    mutates(s, POD,
            "{\"metadata\":{\"annotations\":{\"kueue.x-k8s.io/pod-suspending-parent\":\"x\"}},"
            "\"spec\":{}}",
            "[" GATES "]");
    mutates(s, POD,
            "{\"metadata\":{\"annotations\":{\"kueue.x-k8s.io/pod-group-pod-index-label\":\"i\"},"
            "\"labels\":{\"kueue.x-k8s.io/queue-name\":\"q\",\"kueue.x-k8s.io/managed\":\"true\","
            "\"i\":\"7\"},\"finalizers\":[\"kueue.x-k8s.io/managed\"]},\"spec\":{"
            "\"schedulingGates\":[{\"name\":\"kueue.x-k8s.io/admission\"},{\"name\":"
            "\"kueue.x-k8s.io/topology\"}]}}",
            "[{\"op\":\"add\",\"path\":\"/metadata/labels/kueue.x-k8s.io~1pod-group-pod-index\","
            "\"value\":\"7\"}]");
}

#define PLACE "/spec/template/metadata/labels"

static void test_webhook_pods_of_deployments_get_queue_and_class(void **state)
{
    struct scene *s = *state;
    mutates(s, DEPLOYMENT, "{\"metadata\":{" QUEUED "},\"spec\":{\"template\":{\"metadata\":{}}}}",
            "[{\"op\":\"add\",\"path\":\"" PLACE
            "\",\"value\":{\"kueue.x-k8s.io/queue-name\":\"q\"}}]");
    mutates(s, DEPLOYMENT,
            "{\"metadata\":{\"labels\":{\"kueue.x-k8s.io/queue-name\":\"q\","
            "\"kueue.x-k8s.io/priority-class\":\"high\"}},\"spec\":{\"template\":{\"metadata\":{"
            "\"labels\":{\"kueue.x-k8s.io/queue-name\":\"old\"}}}}}",
            "[{\"op\":\"replace\",\"path\":\"" PLACE
            "/kueue.x-k8s.io~1queue-name\",\"value\":\"q\"},{\"op\":\"add\",\"path\":\"" PLACE
            "/kueue.x-k8s.io~1priority-class\",\"value\":\"high\"}]");
    mutates(s, DEPLOYMENT, "{\"metadata\":{},\"spec\":{\"template\":{\"metadata\":{}}}}", "");
    mutates(s, DEPLOYMENT, "{\"metadata\":{" QUEUED "},\"spec\":{\"template\":7}}", "");
    struct sl_json *answer = asked(s, SL_WEBHOOK_MUTATES, "UPDATE", DEPLOYMENT,
                                   "\"object\":{\"metadata\":{" QUEUED
                                   "},\"spec\":{\"template\":{}}},\"oldObject\":{\"metadata\":{}}");
    assert_true(sl_json_has(sl_json_get(answer, "response"), "patch"));
    sl_json_free(answer);
}

#define OWNED(api, kind)                                                                           \
    "{\"metadata\":{" QUEUED ",\"ownerReferences\":[{\"apiVersion\":\"" api "\",\"kind\":\"" kind  \
    "\",\"name\":\"o\",\"uid\":\"1\",\"controller\":true}]},\"spec\":{}}"

static void test_webhook_what_a_job_controls_is_left_alone(void **state)
{
    struct scene *s = *state;
    mutates(s, POD, OWNED("batch/v1", "Job"), "");
    mutates(s, JOB, OWNED("kubeflow.org/v2beta1", "MPIJob"), "");
    mutates(s, JOB, OWNED("batch/v1", "Job"), "[" SUSPENDED "]"); /* which makes pods only */
    mutates(s, JOB, OWNED("batch.example.com/v1", "Job"), ""); /* and others of the name do not */
    mutates(s, JOB, OWNED("apps/v1", "ReplicaSet"), "[" SUSPENDED "]");
    mutates(s, POD, OWNED("other/v1", "Job"), "[" MARKED "," HELD "," GATES "]");
}

static void test_webhook_other_kinds_and_operations_are_allowed(void **state)
{
    struct scene *s = *state;
    static const char object[] = "\"object\":{\"metadata\":{" QUEUED "},\"spec\":{}}";
    static const char both[] = "\"object\":{\"metadata\":{" QUEUED "},\"spec\":{}},\"oldObject\":{"
                               "\"metadata\":{" QUEUED "},\"spec\":{}}";
    struct sl_json *answers[] = {
        asked(s, SL_WEBHOOK_MUTATES, "UPDATE", JOB, both),
        asked(s, SL_WEBHOOK_MUTATES, "CREATE", JOB ",\"subResource\":\"status\"", object),
        asked(s, SL_WEBHOOK_MUTATES, "DELETE", JOB, "\"object\":null"),
        asked(s, SL_WEBHOOK_MUTATES, "CREATE",
              "\"resource\":{\"group\":\"apps\",\"version\":\"v1\",\"resource\":\"x\"}", object),
        asked(s, SL_WEBHOOK_VALIDATES, "DELETE", JOB, "\"object\":null"),
        asked(s, SL_WEBHOOK_VALIDATES, "CREATE", MPI, object)};
    for (size_t i = 0; i < sizeof answers / sizeof answers[0]; i++) {
        assert_true(sl_json_path_bool(answers[i], "response.allowed", false));
        assert_null(sl_json_path(answers[i], "response.patch"));
        sl_json_free(answers[i]);
    }
}

/* --- validation -------------------------------------------------------------------------------- */

static void refuses(const struct scene *s, const char *operation, const char *resource,
                    const char *members, const char *field)
{
    struct sl_json *answer = asked(s, SL_WEBHOOK_VALIDATES, operation, resource, members);
    assert_false(sl_json_path_bool(answer, "response.allowed", true));
    assert_int_equal(sl_json_path_int(answer, "response.status.code", 0), 403);
    assert_string_equal(sl_json_path_text(answer, "response.status.reason", ""), "Forbidden");
    assert_string_equal(sl_json_path_text(answer, "response.status.details.causes.0.field", ""),
                        field);
    const char *message = sl_json_path_text(answer, "response.status.message", "");
    assert_non_null(strstr(message, field));
    assert_null(strstr(message, "is invalid"));
    sl_json_free(answer);
}

static void test_webhook_marks_are_judged(void **state)
{
    struct scene *s = *state;
    refuses(s, "CREATE", JOB,
            "\"object\":{\"metadata\":{\"name\":\"j\",\"labels\":{\"kueue.x-k8s.io/queue-name\":"
            "\"A_b\"}},\"spec\":{}}",
            "metadata.labels[kueue.x-k8s.io/queue-name]");
    refuses(s, "UPDATE", POD,
            "\"object\":{\"metadata\":{\"labels\":{\"kueue.x-k8s.io/queue-name\":\"r\"}},\"spec\":{"
            "}},\"oldObject\":{\"metadata\":{" QUEUED "},\"spec\":{}}",
            "metadata.labels[kueue.x-k8s.io/queue-name]");
    refuses(s, "CREATE", CQ,
            "\"object\":{\"apiVersion\":\"kueue.x-k8s.io/v1beta2\",\"kind\":\"ClusterQueue\","
            "\"metadata\":{\"name\":\"c\"},\"spec\":{\"queueingStrategy\":\"Random\"}}",
            "spec.queueingStrategy");
}

static void test_webhook_default_queue_is_not_left(void **state)
{
    struct scene *s = *state;
    static const char left[] =
        "\"object\":{\"metadata\":{},\"spec\":{\"suspend\":true}},\"oldObject\":{\"metadata\":"
        "{" QUEUED "},\"spec\":{\"suspend\":true}}";
    struct sl_json *answer = asked(s, SL_WEBHOOK_VALIDATES, "UPDATE", JOB, left);
    assert_true(sl_json_path_bool(answer, "response.allowed", false));
    sl_json_free(answer);
    s->queue = true;
    refuses(s, "UPDATE", JOB, left, "metadata.labels[kueue.x-k8s.io/queue-name]");
}

/* The policies sluice-idle-fields and sluice-claims warn: once is enough. */
static void test_webhook_fields_without_effect_are_left_to_policies(void **state)
{
    struct sl_json *answer = asked(
        *state, SL_WEBHOOK_VALIDATES, "CREATE", JOB,
        "\"object\":{\"metadata\":{\"annotations\":{\"kueue.x-k8s.io/elastic-job\":\"true\"}},"
        "\"spec\":{}}");
    assert_true(sl_json_path_bool(answer, "response.allowed", false));
    assert_null(sl_json_path(answer, "response.warnings"));
    sl_json_free(answer);
}

static void test_webhook_what_is_being_deleted_may_change(void **state)
{
    struct sl_json *answer = asked(
        *state, SL_WEBHOOK_VALIDATES, "CREATE", JOB,
        "\"object\":{\"metadata\":{\"deletionTimestamp\":\"2026-01-01T00:00:00Z\",\"labels\":{"
        "\"kueue.x-k8s.io/queue-name\":\"A_b\"}},\"spec\":{}}");
    assert_true(sl_json_path_bool(answer, "response.allowed", false));
    sl_json_free(answer);
}

/* --- what is no review ------------------------------------------------------------------------- */

static void test_webhook_what_is_no_review_is_told_what_is_wrong(void **state)
{
    const struct scene *s = *state;
#define HEAD "{\"kind\":\"AdmissionReview\",\"apiVersion\":\"admission.k8s.io/v1\",\"request\":"
    static const char *const rows[][2] = {
        {"[]", "the body has to be an AdmissionReview"},
        {"{}", "kind: has to be AdmissionReview"},
        {"{\"kind\":\"AdmissionReview\",\"apiVersion\":\"admission.k8s.io/v1beta1\"}",
         "apiVersion: has to be admission.k8s.io/v1"},
        {HEAD "null}", "request: has to be an object"},
        {HEAD "[]}", "request: has to be an object"},
        {HEAD "{}}", "request.uid: has to be a text"},
        {HEAD "{\"uid\":7}}", "request.uid: has to be a text"},
        {HEAD "{\"uid\":\"u\"}}", "request.operation: has to be a text"},
        {HEAD "{\"uid\":\"u\",\"operation\":\"CREATE\"}}",
         "request.resource.version: has to be a text"},
        {HEAD "{\"uid\":\"u\",\"operation\":\"CREATE\",\"namespace\":[]}}",
         "request.namespace: has to be a text"},
        {HEAD "{\"uid\":\"u\",\"operation\":\"CREATE\"," JOB "}}",
         "request.object: has to be an object"},
        {HEAD "{\"uid\":\"u\",\"operation\":\"CREATE\"," JOB ",\"object\":[]}}",
         "request.object: has to be an object"},
        {HEAD "{\"uid\":\"u\",\"operation\":\"CREATE\"," JOB ",\"object\":{\"metadata\":1}}}",
         "request.object.metadata: has to be an object"},
        {HEAD "{\"uid\":\"u\",\"operation\":\"UPDATE\"," JOB ",\"object\":{}}}",
         "request.oldObject: has to be an object"}};
    for (size_t i = 0; i < sizeof rows / sizeof rows[0]; i++) {
        struct sl_error e = {0};
        struct sl_json *review = parse(rows[i][0]);
        assert_null(sl_webhook_answer_new(&s->w, SL_WEBHOOK_MUTATES, review, &e));
        assert_int_equal(e.code, SL_CODE_BAD_REQUEST);
        assert_string_equal(e.text, rows[i][1]);
        sl_json_free(review);
    }
}

/* Bytes of a good review are exchanged by others of it: what is still JSON gets an answer or an error, and never ends the test. */
static void test_webhook_spoiled_reviews_are_answered_or_refused(void **state)
{
    struct scene *s = *state;
    static const char good[] = HEAD
        "{\"uid\":\"u\",\"operation\":\"UPDATE\",\"namespace\":\"ns\"," JOB
        ",\"object\":{\"metadata\":{\"labels\":{\"kueue.x-k8s.io/queue-name\":\"q\"},"
        "\"annotations\":{\"kueue.x-k8s.io/job-min-parallelism\":\"1\"},\"finalizers\":[\"f\"],"
        "\"ownerReferences\":[{\"apiVersion\":\"v1\",\"kind\":\"Job\",\"controller\":true}]},"
        "\"spec\":{\"suspend\":false,\"parallelism\":2,\"schedulingGates\":[{\"name\":\"g\"}]}},"
        "\"oldObject\":{\"metadata\":{},\"spec\":{}}}}";
    static const char signs[] = "{}[]\":,0n ";
    char text[sizeof good];
    size_t answered = 0, refused = 0;
    s->queue = s->class = s->w.unnamed = true;
    srand(42);
    for (unsigned round = 0; round < 60000; round++) {
        memcpy(text, good, sizeof good);
        for (unsigned k = 0; k < 1 + round % 3; k++) {
            size_t at = (size_t)rand() % (sizeof good - 1), from = (size_t)rand();
            text[at] = round % 2 == 0 ? good[from % (sizeof good - 1)] : signs[from % 10];
        }
        struct sl_error e = {0};
        struct sl_json *review = sl_json_parse(text, strlen(text), &e);
        for (int way = 0; way < 2 && review != NULL; way++) {
            struct sl_json *answer =
                sl_webhook_answer_new(&s->w, (enum sl_webhook_way)way, review, &e);
            answered += answer != NULL;
            refused += answer == NULL;
            assert_true(answer != NULL || (e.code == SL_CODE_BAD_REQUEST && e.text[0] != '\0'));
            sl_json_free(answer);
        }
        sl_json_free(review);
    }
    assert_true(answered > 1000 && refused > 1000);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
#define TEST(name) cmocka_unit_test_setup_teardown(name, setup, teardown)
        TEST(test_webhook_job_with_a_queue_is_suspended),
        TEST(test_webhook_default_queue_and_class_come_before_suspension),
        TEST(test_webhook_pods_of_deployments_get_queue_and_class),
        TEST(test_webhook_pod_with_a_queue_is_marked_and_gated),
        TEST(test_webhook_what_a_job_controls_is_left_alone),
        TEST(test_webhook_other_kinds_and_operations_are_allowed),
        TEST(test_webhook_marks_are_judged),
        TEST(test_webhook_default_queue_is_not_left),
        TEST(test_webhook_fields_without_effect_are_left_to_policies),
        TEST(test_webhook_what_is_being_deleted_may_change),
        TEST(test_webhook_what_is_no_review_is_told_what_is_wrong),
        TEST(test_webhook_spoiled_reviews_are_answered_or_refused),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
