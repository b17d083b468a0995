/* SPDX-License-Identifier: Apache-2.0
 * SPDX-FileCopyrightText: The Sluice authors */

/* Plain Pods that name a queue are marked and gated when they are created, where that is wanted. */
#include "fixture.h"

#define GATES "spec.schedulingGates"

static struct sl_json *create_pod(struct fixture *f, const char *ns, const char *metadata,
                                  const char *spec)
{
    static unsigned made;
    char body[1024];
    (void)snprintf(
        body, sizeof body,
        "{\"metadata\":{\"name\":\"p%u\"%s},\"spec\":{\"containers\":[{\"name\":\"c\",\"image\":"
        "\"i\"}]%s}}",
        made++, metadata, spec);
    struct sl_json *o = apply(f, create(SL_KIND_POD, ns), body);
    if (o == NULL) {
        fail_msg("%s", f->e.text);
    }
    return o;
}

#define QUEUED ",\"labels\":{\"kueue.x-k8s.io/queue-name\":\"lq\"}"

static void test_admit_queued_pod_is_marked_and_gated(void **state)
{
    struct fixture *f = *state;
    sl_store_gate_pods(f->store, true);
    struct sl_json *o = create_pod(f, "default", QUEUED, "");
    assert_string_equal(sl_object_label(o, "kueue.x-k8s.io/managed"), "true");
    assert_string_equal(sl_json_path_text(o, "metadata.finalizers.0", ""),
                        "kueue.x-k8s.io/managed");
    assert_string_equal(sl_json_path_text(o, GATES ".0.name", ""), "kueue.x-k8s.io/admission");
    assert_string_equal(sl_json_path_text(o, GATES ".1.name", ""), "kueue.x-k8s.io/topology");
    sl_json_free(o);
}

/* From the beginning, so that nothing can be deleted in between that others use already. */
static void test_admit_queues_and_flavors_are_guarded(void **state)
{
    struct fixture *f = *state;
    static const enum sl_kind kinds[] = {SL_KIND_RESOURCE_FLAVOR, SL_KIND_CLUSTER_QUEUE,
                                         SL_KIND_COHORT};
    for (size_t i = 0; i < 6; i++) {
        char body[64];
        (void)snprintf(body, sizeof body, "{\"metadata\":{\"name\":\"x%zu\"},\"spec\":{}}", i);
        sl_store_guard_queues(f->store, i >= 3);
        struct sl_json *o = apply(f, create(kinds[i % 3], ""), body);
        assert_non_null(o);
        assert_string_equal(sl_json_path_text(o, "metadata.finalizers.0", ""),
                            i == 3 || i == 4 ? "kueue.x-k8s.io/resource-in-use" : "");
        sl_json_free(o);
    }
}

static void test_admit_what_is_there_is_not_added_again(void **state)
{
    struct fixture *f = *state;
    sl_store_gate_pods(f->store, true);
    struct sl_json *o = create_pod(
        f, "default", QUEUED ",\"finalizers\":[\"x/y\",\"kueue.x-k8s.io/managed\"]",
        ",\"schedulingGates\":[{\"name\":\"kueue.x-k8s.io/admission\"},{\"name\":\"z\"}]");
    assert_int_equal(sl_json_len(sl_json_path(o, "metadata.finalizers")), 2);
    assert_int_equal(sl_json_len(sl_json_path(o, GATES)), 3);
    sl_json_free(o);
}

static void expect_free(struct fixture *f, const char *ns, const char *metadata, const char *spec)
{
    struct sl_json *o = create_pod(f, ns, metadata, spec);
    assert_null(sl_object_label(o, "kueue.x-k8s.io/managed"));
    assert_null(sl_json_path(o, GATES));
    assert_null(sl_json_path(o, "metadata.finalizers"));
    sl_json_free(o);
}

static void test_admit_pods_without_a_queue_stay_as_they_are(void **state)
{
    struct fixture *f = *state;
    sl_store_gate_pods(f->store, true);
    expect_free(f, "default", "", "");
}

/* Queued, and controlled by that. */
static void owned_by(char out[static 300], const char *api_version, const char *kind,
                     const char *uid)
{
    (void)snprintf(out, 300,
                   QUEUED ",\"ownerReferences\":[{\"apiVersion\":\"%s\",\"kind\":\"%s\","
                          "\"name\":\"j\",\"uid\":\"%s\",\"controller\":true}]",
                   api_version, kind, uid);
}

static void test_admit_pods_of_a_job_stay_as_they_are(void **state)
{
    struct fixture *f = *state;
    char metadata[300];
    struct sl_json *job = apply(f, create(SL_KIND_JOB, "default"),
                                "{\"metadata\":{\"name\":\"j\"},\"spec\":{\"template\":{\"spec\":{"
                                "\"restartPolicy\":\"Never\","
                                "\"containers\":[{\"name\":\"c\",\"image\":\"i\"}]}}}}");
    sl_store_gate_pods(f->store, true);
    owned_by(metadata, "batch/v1", "Job", sl_object_uid(job));
    expect_free(f, "default", metadata, "");
    sl_json_free(job);
}

static void test_admit_pods_that_only_say_that_they_are_of_a_job_are_gated(void **state)
{
    struct fixture *f = *state;
    static const char *const owners[][2] = {
        {"whatever.example/v1", "Job"}, {"apps/v1", "ReplicaSet"}, {"batch/v1", "Job"}};
    char metadata[300];
    sl_store_gate_pods(f->store, true);
    for (size_t i = 0; i < sizeof owners / sizeof owners[0]; i++) {
        owned_by(metadata, owners[i][0], owners[i][1], "no-such-uid");
        struct sl_json *pod = create_pod(f, "default", metadata, "");
        assert_string_equal(sl_object_label(pod, "kueue.x-k8s.io/managed"), "true");
        assert_int_equal(sl_json_len(sl_json_path(pod, GATES)), 2);
        sl_json_free(pod);
    }
}

static void test_admit_queued_pod_cannot_choose_its_node(void **state)
{
    struct fixture *f = *state;
    sl_store_gate_pods(f->store, true);
    assert_int_equal(code_of(f, create(SL_KIND_POD, "default"),
                             "{\"metadata\":{\"name\":\"p\"" QUEUED
                             "},\"spec\":{\"nodeName\":\"n\","
                             "\"containers\":[{\"name\":\"c\",\"image\":\"i\"}]}}"),
                     SL_CODE_INVALID);
    assert_string_equal(f->e.causes[0].field, "spec.nodeName");
}

static void test_admit_pods_of_the_system_stay_as_they_are(void **state)
{
    struct fixture *f = *state;
    sl_store_gate_pods(f->store, true);
    sl_json_free(
        apply(f, create(SL_KIND_NAMESPACE, ""), "{\"metadata\":{\"name\":\"kube-system\"}}"));
    expect_free(f, "kube-system", QUEUED, "");
}

static void test_admit_gates_that_are_no_list_are_invalid(void **state)
{
    struct fixture *f = *state;
    sl_store_gate_pods(f->store, true);
    assert_int_equal(code_of(f, create(SL_KIND_POD, "default"),
                             "{\"metadata\":{\"name\":\"p\"" QUEUED
                             "},\"spec\":{\"schedulingGates\":{},"
                             "\"containers\":[{\"name\":\"c\",\"image\":\"i\"}]}}"),
                     SL_CODE_INVALID);
    assert_string_equal(f->e.causes[0].field, GATES);
}

static void test_admit_is_off_at_first(void **state)
{
    struct fixture *f = *state;
    expect_free(f, "default", QUEUED, "");
}

#define TEST(name) cmocka_unit_test_setup_teardown(name, setup, teardown)
#define JOB_SPEC                                                                                   \
    ",\"spec\":{\"template\":{\"spec\":{\"restartPolicy\":\"Never\",\"containers\":[{\"name\":"    \
    "\"c\","                                                                                       \
    "\"image\":\"i\"}]}}}"

static void put_named_default(struct fixture *f, enum sl_kind kind, const char *ns,
                              const char *spec)
{
    char body[256];
    (void)snprintf(body, sizeof body, "{\"metadata\":{\"name\":\"default\"},%s}", spec);
    struct sl_json *o = apply(f, create(kind, ns), body);
    if (o == NULL) {
        fail_msg("%s", f->e.text);
    }
    sl_json_free(o);
}

/* The labels of a Job that is created so. */
static void expect_job(struct fixture *f, const char *name, const char *metadata, const char *queue,
                       const char *class)
{
    char body[1024];
    (void)snprintf(body, sizeof body, "{\"metadata\":{\"name\":\"%s\"%s}" JOB_SPEC "}", name,
                   metadata);
    struct sl_json *o = apply(f, create(SL_KIND_JOB, "default"), body);
    if (o == NULL) {
        fail_msg("%s", f->e.text);
    }
    const char *got = sl_object_label(o, "kueue.x-k8s.io/queue-name");
    assert_string_equal(got == NULL ? "" : got, queue);
    got = sl_object_label(o, "kueue.x-k8s.io/priority-class");
    assert_string_equal(got == NULL ? "" : got, class);
    sl_json_free(o);
}

static void test_admit_job_without_a_queue_gets_the_default_one(void **state)
{
    struct fixture *f = *state;
    expect_job(f, "before", "", "", "");
    put_named_default(f, SL_KIND_LOCAL_QUEUE, "default", "\"spec\":{\"clusterQueue\":\"cq\"}");
    expect_job(f, "after", "", "default", "");
    expect_job(f, "other", QUEUED, "lq", "");
    expect_job(f, "owned",
               ",\"ownerReferences\":[{\"apiVersion\":\"v1\",\"kind\":\"X\",\"name\":\"x\","
               "\"uid\":\"1\",\"controller\":true}]",
               "default", "");
    sl_store_gate_pods(f->store, true);
    struct sl_json *pod = create_pod(f, "default", "", "");
    assert_string_equal(sl_object_label(pod, "kueue.x-k8s.io/queue-name"), "default");
    assert_string_equal(sl_object_label(pod, "kueue.x-k8s.io/managed"), "true");
    sl_json_free(pod);
}

static void test_admit_queued_job_without_a_class_gets_the_default_one(void **state)
{
    struct fixture *f = *state;
    put_named_default(f, SL_KIND_WORKLOAD_PRIORITY_CLASS, NULL, "\"value\":7");
    expect_job(f, "free", "", "", "");
    expect_job(f, "queued", QUEUED, "lq", "default");
    expect_job(f, "high",
               ",\"labels\":{\"kueue.x-k8s.io/queue-name\":\"lq\","
               "\"kueue.x-k8s.io/priority-class\":\"high\"}",
               "lq", "high");
}

static void test_admit_job_keeps_a_queue_where_there_is_a_default_one(void **state)
{
    struct fixture *f = *state;
    static const char leave[] = "{\"metadata\":{\"labels\":{\"kueue.x-k8s.io/queue-name\":null}}}";
    static const char change[] =
        "{\"metadata\":{\"labels\":{\"kueue.x-k8s.io/queue-name\":\"other\"}}}";
    expect_job(f, "free", QUEUED, "lq", "");
    must(f, on(SL_VERB_PATCH_MERGE, SL_KIND_JOB, "default", "free"), leave);
    put_named_default(f, SL_KIND_LOCAL_QUEUE, "default", "\"spec\":{\"clusterQueue\":\"cq\"}");
    must(f, on(SL_VERB_PATCH_MERGE, SL_KIND_JOB, "default", "free"),
         "{\"metadata\":{\"labels\":{\"a\":\"b\"}}}"); /* it had none before */
    expect_job(f, "kept", QUEUED, "lq", "");
    must(f, on(SL_VERB_PATCH_MERGE, SL_KIND_JOB, "default", "kept"), change);
    assert_int_equal(code_of(f, on(SL_VERB_PATCH_MERGE, SL_KIND_JOB, "default", "kept"), leave),
                     SL_CODE_INVALID);
    assert_string_equal(f->e.causes[0].field, "metadata.labels[kueue.x-k8s.io/queue-name]");
    assert_non_null(strstr(f->e.causes[0].text, "in a namespace with a default queue"));
}

#define TEMPLATE                                                                                   \
    "\"template\":{\"metadata\":{\"labels\":{\"a\":\"b\"%s}},\"spec\":{\"restartPolicy\":"         \
    "\"Never\","                                                                                   \
    "\"containers\":[{\"name\":\"c\",\"image\":\"i\"}]}}"

static struct sl_json *create_job(struct fixture *f, const char *spec, const char *labels)
{
    char body[1024];
    (void)snprintf(body, sizeof body, "{\"metadata\":{\"name\":\"j\"},\"spec\":{%s" TEMPLATE "}}",
                   spec, labels);
    return apply(f, create(SL_KIND_JOB, "default"), body);
}

/* As by an API server: what makes pods finds them by their labels. */
static void test_admit_job_selects_the_pods_that_it_labels(void **state)
{
    struct fixture *f = *state;
    sl_store_select_pods(f->store, true);
    struct sl_json *o = create_job(f, "", "");
    assert_non_null(o);
    const struct sl_json *labels = sl_json_path(o, "spec.template.metadata.labels");
    const struct sl_json *by = sl_json_path(o, "spec.selector.matchLabels");
    assert_int_equal(sl_json_len(labels), 5);
    assert_string_equal(sl_json_text(sl_json_get(labels, "a"), ""), "b");
    static const char *const names[] = {"batch.kubernetes.io/job-name", "job-name"};
    static const char *const uids[] = {"batch.kubernetes.io/controller-uid", "controller-uid"};
    for (size_t i = 0; i < 2; i++) {
        assert_string_equal(sl_json_text(sl_json_get(labels, names[i]), ""), "j");
        assert_string_equal(sl_json_text(sl_json_get(labels, uids[i]), ""), sl_object_uid(o));
    }
    assert_int_equal(sl_json_len(by), 1);
    assert_string_equal(sl_json_text(sl_json_get(by, uids[0]), ""), sl_object_uid(o));
    sl_json_free(o);
}

static void test_admit_job_with_a_manual_selector_stays_as_it_is(void **state)
{
    struct fixture *f = *state;
    sl_store_select_pods(f->store, true);
    struct sl_json *o =
        create_job(f, "\"manualSelector\":true,\"selector\":{\"matchLabels\":{\"a\":\"b\"}},", "");
    assert_non_null(o);
    assert_int_equal(sl_json_len(sl_json_path(o, "spec.template.metadata.labels")), 1);
    assert_int_equal(sl_json_len(sl_json_path(o, "spec.selector.matchLabels")), 1);
    sl_json_free(o);
}

static void test_admit_job_with_another_ones_labels_is_refused(void **state)
{
    struct fixture *f = *state;
    sl_store_select_pods(f->store, true);
    assert_null(create_job(f, "", ",\"controller-uid\":\"x\",\"job-name\":\"other\""));
    assert_int_equal(f->e.code, SL_CODE_INVALID);
    assert_int_equal(f->e.cause_count, 2);
    assert_string_equal(f->e.causes[0].field, "spec.template.metadata.labels[controller-uid]");
    assert_non_null(strstr(f->e.causes[0].text, "Invalid value: \"x\": must be '"));
    assert_string_equal(f->e.causes[1].field, "spec.template.metadata.labels[job-name]");
    assert_string_equal(f->e.causes[1].text, "Invalid value: \"other\": must be 'j'");
    assert_null(create_job(f, "\"selector\":{\"matchLabels\":{\"c\":\"d\"}},", ""));
    assert_string_equal(f->e.causes[0].field, "spec.template.metadata.labels");
    sl_store_select_pods(f->store, false);
    struct sl_json *o = create_job(f, "", ",\"job-name\":\"other\"");
    assert_non_null(o);
    sl_json_free(o);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        TEST(test_admit_queued_pod_is_marked_and_gated),
        TEST(test_admit_what_is_there_is_not_added_again),
        TEST(test_admit_queues_and_flavors_are_guarded),
        TEST(test_admit_pods_without_a_queue_stay_as_they_are),
        TEST(test_admit_pods_of_a_job_stay_as_they_are),
        TEST(test_admit_pods_that_only_say_that_they_are_of_a_job_are_gated),
        TEST(test_admit_queued_pod_cannot_choose_its_node),
        TEST(test_admit_pods_of_the_system_stay_as_they_are),
        TEST(test_admit_gates_that_are_no_list_are_invalid),
        TEST(test_admit_is_off_at_first),
        TEST(test_admit_job_without_a_queue_gets_the_default_one),
        TEST(test_admit_queued_job_without_a_class_gets_the_default_one),
        TEST(test_admit_job_keeps_a_queue_where_there_is_a_default_one),
        TEST(test_admit_job_selects_the_pods_that_it_labels),
        TEST(test_admit_job_with_a_manual_selector_stays_as_it_is),
        TEST(test_admit_job_with_another_ones_labels_is_refused),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
