/* SPDX-License-Identifier: Apache-2.0
 * SPDX-FileCopyrightText: The Sluice authors */

/* The adapter files of Ray, over objects of their kinds: what is counted, and when a job is on hold. */
#include "shipped.h"
#include <stdio.h>

/* Each kind, and where its cluster is. */
static const struct {
    const char *name, *kind, *cluster;
} kinds[] = {{"ray.io/raycluster", "RayCluster", "spec"},
             {"ray.io/rayjob", "RayJob", "spec.rayClusterSpec"},
             {"ray.io/rayservice", "RayService", "spec.rayClusterConfig"}};
#define KINDS (sizeof kinds / sizeof kinds[0])

#define CLUSTER                                                                                    \
    "{headGroupSpec: {template: {spec: {containers: [{name: h, image: ray,"                        \
    " resources: {requests: {cpu: 100m, memory: 1Gi}}}]}}},"                                       \
    " workerGroupSpecs: ["                                                                         \
    "  {groupName: small, replicas: 2, numOfHosts: 3, template: {spec: {containers: [{name: "      \
    "w}]}}},"                                                                                      \
    "  {groupName: Big, template: {spec: {containers: [{name: w}]}}}]}"

static struct sl_json *ray_new(size_t kind, const char *more)
{
    struct sl_json *o = yaml("{metadata: {name: r, namespace: n, uid: u}, spec: {}}");
    struct sl_json *cluster = yaml(CLUSTER), *change = yaml(more);
    struct sl_json *at = sl_json_path_make(o, kinds[kind].cluster);
    struct sl_json_member m = {0};
    while (sl_json_each(cluster, &m)) {
        sl_json_set(at, m.key, sl_json_clone(m.value));
    }
    m = (struct sl_json_member){0};
    while (sl_json_each(change, &m)) {
        sl_json_set(at, m.key, sl_json_clone(m.value));
    }
    if (strcmp(kinds[kind].kind, "RayJob") == 0) {
        sl_json_set_text(sl_json_get(o, "spec"), "submissionMode", "HTTPMode");
    }
    sl_json_free(cluster);
    sl_json_free(change);
    return o;
}

/* The containers of the head as they are counted. */
static void assert_head(const char *name, const struct sl_json *o, const char *containers)
{
    struct sl_pod_sets sets;
    struct sl_error e = {0};
    const struct sl_framework *f = framework(name);
    if (f->pod_sets(f, o, &sets, &e) != SL_CODE_OK) {
        fail_msg("%s", e.text);
    }
    assert_string_equal(sets.at[0].name, "head");
    struct sl_json *wanted = yaml(containers);
    assert_true(sl_json_equal(sl_json_path(sets.at[0].template, "spec.containers"), wanted));
    sl_json_free(wanted);
    sl_pod_sets_fini(&sets);
}

#define HEAD_AS_IT_IS "{name: h, image: ray, resources: {requests: {cpu: 100m, memory: 1Gi}}}"

static void test_ray_head_is_counted_with_what_kuberay_adds(void **state)
{
    (void)state;
    static const struct {
        const char *change, *head;
    } rows[] = {
        {"{}", "[" HEAD_AS_IT_IS "]"},
        {"{enableInTreeAutoscaling: false}", "[" HEAD_AS_IT_IS "]"},
        {"{enableInTreeAutoscaling: true}",
         "[" HEAD_AS_IT_IS ", {name: autoscaler, resources: {requests: {cpu: 500m, memory: "
         "512Mi}, limits: {cpu: 500m, memory: 512Mi}}}]"},
        {"{enableInTreeAutoscaling: true, autoscalerOptions: {resources: {requests: {cpu: 2}}}}",
         "[" HEAD_AS_IT_IS ", {name: autoscaler, resources: {requests: {cpu: 2}}}]"},
        /* the larger of both */
        {"{gcsFaultToleranceOptions: {redisAddress: a}}",
         "[{name: h, image: ray, resources: {requests: {cpu: 200m, memory: 1Gi}}}]"},
    };
    for (size_t k = 0; k < KINDS; k++) {
        for (size_t i = 0; i < sizeof rows / sizeof rows[0]; i++) {
            struct sl_json *o = ray_new(k, rows[i].change);
            assert_head(kinds[k].name, o, rows[i].head);
            sl_json_free(o);
        }
        struct sl_json *o = ray_new(k, "{}");
        sl_json_set_text(sl_json_path_make(o, "metadata.annotations"), "ray.io/ft-enabled", "true");
        assert_head(kinds[k].name, o,
                    "[{name: h, image: ray, resources: {requests: {cpu: 200m, memory: 1Gi}}}]");
        sl_json_free(o);
    }
}

/* A head that asks for nothing, and what nothing can be added to. */
static void test_ray_head_of_any_shape_is_completed(void **state)
{
    (void)state;
    static const char fault[] = "gcsFaultToleranceOptions: {}, headGroupSpec: {template: ";
    static const struct {
        const char *template, *head;
    } rows[] = {
        {"{spec: {containers: [{name: h}]}}",
         "[{name: h, resources: {requests: {cpu: 200m, memory: 256Mi}}}]"},
        {"{spec: {containers: [{name: h, resources: {requests: {cpu: nonsense, memory: 1}}}]}}",
         "[{name: h, resources: {requests: {cpu: nonsense, memory: 256Mi}}}]"},
        {"{spec: {containers: []}}", "[]"},
        {"{spec: {containers: none}}", "[]"},
        {"{}", "[]"},
    };
    for (size_t i = 0; i < sizeof rows / sizeof rows[0]; i++) {
        char change[256];
        (void)snprintf(change, sizeof change, "{%s%s}}", fault, rows[i].template);
        struct sl_json *o = ray_new(0, change);
        assert_head(kinds[0].name, o, rows[i].head);
        sl_json_free(o);
    }
}

static void test_ray_job_counts_the_submitter_beside_the_head(void **state)
{
    (void)state;
    struct sl_json *o = ray_new(1, "{enableInTreeAutoscaling: true}");
    sl_json_set_text(sl_json_get(o, "spec"), "submissionMode", "SidecarMode");
    assert_head("ray.io/rayjob", o,
                "[" HEAD_AS_IT_IS ", {name: autoscaler, resources: {requests: {cpu: 500m, memory: "
                "512Mi}, limits: {cpu: 500m, memory: 512Mi}}}, {name: ray-job-submitter, "
                "resources: {limits: {cpu: '1', memory: 1Gi}, requests: {cpu: 500m, memory: "
                "200Mi}}}]");
    sl_json_free(o);
}

/* What was added for the count is not written into the job. */
static void test_ray_template_keeps_what_its_user_wrote(void **state)
{
    (void)state;
    struct sl_error e = {0};
    for (size_t k = 0; k < KINDS; k++) {
        const struct sl_framework *f = framework(kinds[k].name);
        struct sl_json *o = ray_new(k, "{enableInTreeAutoscaling: true}");
        struct sl_json *before = sl_json_clone(o);
        struct sl_pod_sets sets;
        assert_int_equal(f->pod_sets(f, o, &sets, &e), SL_CODE_OK);
        const struct sl_workload_plan plan = {
            .queue = "q", .priority = {.name = ""}, .sets = &sets};
        struct sl_json *wl = sl_framework_workload_new(f, o, &plan);
        assert_true(sl_pod_sets_match(&sets, wl, true));
        struct sl_json *injection = yaml("{nodeSelector: {pool: a}}");
        f->suspend(f, o, true);
        assert_true(f->suspended(f, o));
        assert_int_equal(f->inject(f, o, 0, injection, &e), SL_CODE_OK);
        f->suspend(f, o, false);
        assert_false(f->suspended(f, o));
        f->restore(f, o, 0, sl_workload_pod_set(wl, 0));
        sl_json_remove(sl_json_path(o, kinds[k].cluster), "suspend");
        sl_json_remove(sl_json_get(o, "spec"), "suspend");
        assert_true(sl_json_equal(o, before));
        sl_json_free(injection);
        sl_json_free(wl);
        sl_pod_sets_fini(&sets);
        sl_json_free(before);
        sl_json_free(o);
    }
}

static void test_ray_job_that_kuberay_refuses_is_on_hold(void **state)
{
    (void)state;
    static const struct {
        const char *status;
        bool hold;
    } rows[] = {{"{}", false},
                {"{jobDeploymentStatus: Running}", false},
                {"{jobDeploymentStatus: ValidationFailed}", true},
                {"{jobDeploymentStatus: ValidationFailed, rayClusterName: ''}", true},
                /* its cluster may still run */
                {"{jobDeploymentStatus: ValidationFailed, rayClusterName: c}", false}};
    const struct sl_framework *f = framework("ray.io/rayjob");
    for (size_t i = 0; i < sizeof rows / sizeof rows[0]; i++) {
        struct sl_json *o = ray_new(1, "{}");
        sl_json_set(o, "status", yaml(rows[i].status));
        assert_int_equal(f->on_hold(f, o), rows[i].hold);
        sl_json_free(o);
    }
    assert_null(framework("ray.io/raycluster")->on_hold);
}

static void test_ray_service_goes_by_its_condition(void **state)
{
    (void)state;
    bool success;
    const char *message;
    const struct sl_framework *f = framework("ray.io/rayservice");
    struct sl_json *o = ray_new(2, "{}");
    assert_false(f->active(f, o) || f->pods_ready(f, o) || f->suspended(f, o));
    sl_condition_set(sl_json_path_make(o, "status"), "Ready", true, "R", "", 0, 0);
    assert_true(f->active(f, o) && f->pods_ready(f, o));
    assert_false(f->finished(f, o, &success, &message));
    static const char *const clusters[] = {"activeServiceStatus", "pendingServiceStatus"};
    for (size_t i = 0; i < 2; i++) {
        struct sl_json *status = sl_json_new_map();
        sl_json_set(o, "status", status);
        sl_json_set_text(
            sl_json_path_make(sl_json_path_make(status, clusters[i]), "rayClusterStatus"), "state",
            "ready");
        assert_true(f->active(f, o) && !f->pods_ready(f, o)); /* pods run, and do not serve yet */
    }
    f->suspend(f, o, true);
    assert_true(sl_json_path_bool(o, "spec.rayClusterConfig.suspend", false));
    enum sl_kind cluster = sl_kind_find_object("ray.io/v1", "RayCluster");
    assert_true(f->makes(f, cluster) && !f->makes(f, SL_KIND_JOB));
    sl_json_free(o);
}

#define CASE(name) cmocka_unit_test_setup_teardown(name, shipped_setup, shipped_teardown)

int main(void)
{
    const struct CMUnitTest tests[] = {
        CASE(test_ray_head_is_counted_with_what_kuberay_adds),
        CASE(test_ray_head_of_any_shape_is_completed),
        CASE(test_ray_job_counts_the_submitter_beside_the_head),
        CASE(test_ray_template_keeps_what_its_user_wrote),
        CASE(test_ray_job_that_kuberay_refuses_is_on_hold),
        CASE(test_ray_service_goes_by_its_condition),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
