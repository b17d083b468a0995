/* SPDX-License-Identifier: Apache-2.0
 * SPDX-FileCopyrightText: The Sluice authors */

/* A job that wraps others: an AppWrapper, by the adapter file that is shipped. Of components that declare no pod sets they are
 * those that the AppWrapper controller infers. */
#include "shipped.h"
#include <stdio.h>

#define PODS(cpu)                                                                                  \
    "template: {spec: {containers: [{name: c, resources: {requests: {cpu: " cpu "}}}]}}"
#define JOB                                                                                        \
    "{template: {apiVersion: batch/v1, kind: Job, spec: {parallelism: 4, completions: 3, " PODS(   \
        "1") "}}}"
#define RAY()                                                                                      \
    "headGroupSpec: {" PODS("2") "}, workerGroupSpecs: [{replicas: 3, numOfHosts: 2, " PODS(       \
        "3") "}, {" PODS("4") "}]"

static struct sl_json *wrapper(const char *components)
{
    char text[4096];
    (void)snprintf(
        text, sizeof text,
        "{apiVersion: workload.codeflare.dev/v1beta2, kind: AppWrapper, metadata: {name: w, "
        "namespace: a}, spec: {suspend: true, components: [%s]}}",
        components);
    return yaml(text);
}

/* "name=count/cpu/index label's first letter ..." */
static void assert_sets(const char *components, const char *expected)
{
    char text[512] = "";
    struct sl_pod_sets sets;
    struct sl_error e = {0};
    struct sl_json *o = wrapper(components);
    const struct sl_framework *f = framework("workload.codeflare.dev/appwrapper");
    if (f->pod_sets(f, o, &sets, &e) != SL_CODE_OK) {
        fail_msg("%s: %s", e.text, e.causes[0].text);
    }
    for (size_t i = 0; i < sets.count; i++) {
        size_t len = strlen(text);
        (void)snprintf(text + len, sizeof text - len, "%s%s=%lld/%lld%s%.1s", i > 0 ? " " : "",
                       sets.at[i].name, (long long)sets.at[i].count,
                       (long long)sl_json_path_int(sets.at[i].template,
                                                   "spec.containers.0.resources.requests.cpu", 0),
                       sets.at[i].index_label == NULL ? "" : "/",
                       sets.at[i].index_label == NULL ? "" : sets.at[i].index_label);
    }
    assert_string_equal(text, expected);
    sl_pod_sets_fini(&sets);
    sl_json_free(o);
}

static void test_appwrapper_infers_the_pods_of_known_kinds(void **state)
{
    (void)state;
    assert_sets(JOB, "w-0=3/1/b");
    assert_sets(
        "{template: {apiVersion: jobset.x-k8s.io/v1alpha2, kind: JobSet, spec: {replicatedJobs: "
        "[{template: {spec: {" PODS(
            "1") "}}}, {replicas: 2, template: {spec: {parallelism: 3, " PODS("2") "}}}]}}}",
        "w-0=1/1/b w-1=6/2/b");
    assert_sets(
        "{template: {apiVersion: kubeflow.org/v1, kind: PyTorchJob, spec: {pytorchReplicaSpecs: "
        "{Worker: {replicas: 5, " PODS("1") "}}}}}",
        "w-0=5/1/t");
    assert_sets("{template: {apiVersion: ray.io/v1, kind: RayCluster, spec: {" RAY() "}}}",
                "w-0=1/2 w-1=6/3 w-2=1/4");
    assert_sets(
        "{template: {apiVersion: ray.io/v1, kind: RayJob, spec: {rayClusterSpec: {" RAY() "}}}}",
        "w-0=1/2 w-1=6/3 w-2=1/4");
    assert_sets(
        "{template: {apiVersion: apps/v1, kind: StatefulSet, spec: {replicas: 2, " PODS("1") "}}}",
        "w-0=2/1");
    assert_sets(
        "{template: {apiVersion: v1, kind: Pod, metadata: {name: p}, spec: {containers: [{name: c, "
        "resources: {requests: {cpu: 7}}}]}}}",
        "w-0=1/7");
}

/* In the order of the components, whichever way each is known; what makes no pods has none. */
static void test_appwrapper_keeps_the_pod_sets_of_a_component_together(void **state)
{
    (void)state;
    assert_sets(
        "{template: {apiVersion: ray.io/v1, kind: RayCluster, spec: {" RAY() "}}}, "
                                                                             "{template: "
                                                                             "{apiVersion: v1, "
                                                                             "kind: Service}}, " JOB
                                                                             ", "
                                                                             "{podSets: [{path: "
                                                                             "template.x, "
                                                                             "replicas: 2}], "
                                                                             "template: "
                                                                             "{apiVersion: "
                                                                             "batch/v1, kind: Job, "
                                                                             "x: {spec: "
                                                                             "{containers: [{name: "
                                                                             "c, resources: "
                                                                             "{requests: {cpu: "
                                                                             "9}}}]}}}}, " JOB,
        "w-0=1/2 w-1=6/3 w-2=1/4 w-3=3/1/b w-4=2/9 w-5=3/1/b");
}

static void test_appwrapper_component_that_cannot_be_inferred_is_refused(void **state)
{
    (void)state;
    struct sl_pod_sets sets;
    struct sl_error e = {0};
    struct sl_json *o =
        wrapper(JOB ", {template: {apiVersion: kubeflow.org/v2beta1, kind: MPIJob}}");
    const struct sl_framework *f = framework("workload.codeflare.dev/appwrapper");
    assert_int_equal(f->pod_sets(f, o, &sets, &e), SL_CODE_INVALID);
    assert_string_equal(e.causes[0].field, "spec.components");
    sl_pod_sets_fini(&sets);
    sl_json_free(o);
}

/* Each component has what is added to its pods, one for each pod set in their order. */
static void test_appwrapper_gets_what_admission_adds_in_each_component(void **state)
{
    (void)state;
    struct sl_error e = {0};
    struct sl_json *o =
        wrapper("{template: {apiVersion: ray.io/v1, kind: RayCluster, spec: {" RAY() "}}}, " JOB);
    struct sl_json *before = sl_json_clone(o);
    const struct sl_framework *f = framework("workload.codeflare.dev/appwrapper");
    for (size_t round = 0; round < 2; round++) {
        for (size_t i = 0; i < 4; i++) {
            char text[64];
            (void)snprintf(text, sizeof text, "{nodeSelector: {set: s%zu}}", i);
            struct sl_json *injection = yaml(text);
            assert_int_equal(f->inject(f, o, i, injection, &e), SL_CODE_OK);
            sl_json_free(injection);
        }
    }
    assert_json(sl_json_path(o, "spec.components.0.podSetInfos"),
                "[{\"nodeSelector\": {\"set\": \"s0\"}}, {\"nodeSelector\": {\"set\": \"s1\"}}, "
                "{\"nodeSelector\": {\"set\": \"s2\"}}]");
    assert_json(sl_json_path(o, "spec.components.1.podSetInfos"),
                "[{\"nodeSelector\": {\"set\": \"s3\"}}]");
    for (size_t i = 0; i < 4; i++) {
        f->restore(f, o, i, NULL);
    }
    assert_true(sl_json_equal(o, before));
    sl_json_free(before);
    sl_json_free(o);
}

int main(void)
{
    static const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_appwrapper_infers_the_pods_of_known_kinds),
        cmocka_unit_test(test_appwrapper_keeps_the_pod_sets_of_a_component_together),
        cmocka_unit_test(test_appwrapper_component_that_cannot_be_inferred_is_refused),
        cmocka_unit_test(test_appwrapper_gets_what_admission_adds_in_each_component),
    };
    return cmocka_run_group_tests(tests, shipped_setup, shipped_teardown);
}
