/* SPDX-License-Identifier: Apache-2.0
 * SPDX-FileCopyrightText: The Sluice authors */

/* A job whose pods are described by fields of its own instead of templates: a SparkApplication, by the adapter file that is shipped. */
#include "shipped.h"
#include <stdio.h>

#define SPARK "sparkoperator.k8s.io/sparkapplication"

/* With these fields in its spec. */
static struct sl_json *app(const char *spec)
{
    char text[2048];
    (void)snprintf(text, sizeof text,
                   "{apiVersion: sparkoperator.k8s.io/v1beta2, kind: SparkApplication, metadata: "
                   "{name: pi, namespace: a}, spec: {suspend: true, mode: cluster, %s}}",
                   spec);
    return yaml(text);
}

static void assert_at(const struct sl_json *o, const char *path, const char *expected)
{
    struct sl_json *wanted = yaml(expected);
    const struct sl_json *found = sl_json_path(o, path);
    if (!sl_json_equal(found, wanted)) {
        struct sl_buf text = {0};
        sl_json_print(found, &text);
        fail_msg("%s: %s, not %s", path, text.data, expected);
    }
    sl_json_free(wanted);
}

/* The containers of a pod set, and how many pods it has. */
static void assert_set(const char *spec, size_t index, int64_t count, const char *containers)
{
    struct sl_pod_sets sets;
    struct sl_error e = {0};
    struct sl_json *o = app(spec);
    const struct sl_framework *f = framework(SPARK);
    if (f->pod_sets(f, o, &sets, &e) != SL_CODE_OK) {
        fail_msg("%s", e.text);
    }
    assert_int_equal(sets.count, 2);
    assert_int_equal(sets.at[index].count, count);
    assert_at(sets.at[index].template, "spec.containers", containers);
    sl_pod_sets_fini(&sets);
    sl_json_free(o);
}

static void test_spark_counts_what_driver_and_executors_ask_for(void **state)
{
    (void)state;
    static const char spec[] = "driver: {coreRequest: 500m, cores: 4, coreLimit: '1', memory: 2g, "
                               "memoryLimit: 3g}, executor: {instances: 3, cores: 2}";
    assert_set(spec, 0, 1,
               "[{name: spark-kubernetes-driver, resources: {requests: {cpu: 500m, memory: 2Gi}, "
               "limits: {cpu: '1', memory: 3Gi}}}]");
    assert_set(
        spec, 1, 3,
        "[{name: spark-kubernetes-executor, resources: {requests: {memory: 1Gi}}}]"); /* of Spark's 2 cores none */
}

static void test_spark_that_names_nothing_asks_for_the_memory_that_spark_takes(void **state)
{
    (void)state;
    assert_set("driver: {}, executor: {}", 0, 1,
               "[{name: spark-kubernetes-driver, resources: {requests: {memory: 1Gi}}}]");
    assert_set("type: Scala", 1, 2,
               "[{name: spark-kubernetes-executor, resources: {requests: {memory: 1Gi}}}]");
}

static void test_spark_memory_has_the_units_of_java(void **state)
{
    (void)state;
    static const struct {
        const char *java, *kubernetes;
    } rows[] = {{"512m", "512Mi"},      {"512M", "512Mi"},  {"512mb", "512Mi"}, {"1024", "1024Mi"},
                {"8k", "8Ki"},          {"3G", "3Gi"},      {"2tb", "2Ti"},     {"1p", "1Pi"},
                {"1000b", "1000"},      {"512Mi", "512Mi"}, {"1.5g", "1.5g"},   {"much", "much"},
                {"5gbytes", "5gbytes"}, {"7bb", "7bb"}};
    for (size_t i = 0; i < sizeof rows / sizeof rows[0]; i++) {
        char spec[256], containers[256];
        (void)snprintf(spec, sizeof spec, "driver: {memory: '%s'}", rows[i].java);
        (void)snprintf(containers, sizeof containers,
                       "[{name: spark-kubernetes-driver, resources: {requests: {memory: "
                       "'%s'}}}]",
                       rows[i].kubernetes);
        assert_set(spec, 0, 1, containers);
    }
}

static void test_spark_counts_gpus_sidecars_and_what_its_template_has(void **state)
{
    (void)state;
#define ASKS "requests: {memory: 1Gi}"
    assert_set("driver: {gpu: {name: nvidia.com/gpu, quantity: 2}}", 0, 1,
               "[{name: spark-kubernetes-driver, resources: {" ASKS
               ", limits: {nvidia.com/gpu: 2}}}]");
    assert_set("driver: {gpu: {name: nvidia.com/gpu, quantity: 0}}", 0, 1,
               "[{name: spark-kubernetes-driver, resources: {" ASKS "}}]");
    assert_set("driver: {gpu: {quantity: 2}}", 0, 1,
               "[{name: spark-kubernetes-driver, resources: {" ASKS "}}]");
    assert_set("executor: {sidecars: [{name: log, resources: {requests: {cpu: '3'}}}]}", 1, 2,
               "[{name: spark-kubernetes-executor, resources: {" ASKS "}}, "
               "{name: log, resources: {requests: {cpu: '3'}}}]");
    assert_set("driver: {template: {spec: {containers: [{name: mesh, resources: {requests: {cpu: "
               "'2'}}}]}}}",
               0, 1,
               "[{name: mesh, resources: {requests: {cpu: '2'}}}, {name: spark-kubernetes-driver, "
               "resources: {" ASKS "}}]");
}

static void test_spark_sidecar_without_a_name_is_complained_about(void **state)
{
    (void)state;
    struct sl_pod_sets sets;
    struct sl_error e = {0};
    struct sl_json *o = app("driver: {sidecars: [{image: i}]}");
    const struct sl_framework *f = framework(SPARK);
    assert_int_equal(f->pod_sets(f, o, &sets, &e), SL_CODE_INVALID);
    assert_non_null(strstr(e.causes[0].text, "merge key \"name\""));
    sl_pod_sets_fini(&sets);
    sl_json_free(o);
}

/* --- what admission adds ------------------------------------------------------------------------------- */

static enum sl_code inject(struct sl_json *o, size_t index, const char *text, struct sl_error *e)
{
    const struct sl_framework *f = framework(SPARK);
    struct sl_json *injection = yaml(text);
    enum sl_code code = f->inject(f, o, index, injection, e);
    sl_json_free(injection);
    return code;
}

/* As the Workload has it, of the object as it is now. */
static struct sl_json *pod_set_new(const struct sl_json *o, size_t index)
{
    const struct sl_framework *f = framework(SPARK);
    struct sl_pod_sets sets;
    struct sl_error e = {0};
    assert_int_equal(f->pod_sets(f, o, &sets, &e), SL_CODE_OK);
    struct sl_json *set = sl_json_new_map();
    sl_json_set(set, "template", sl_json_clone(sets.at[index].template));
    sl_pod_sets_fini(&sets);
    return set;
}

#define SPOT                                                                                       \
    "{nodeSelector: {pool: spot}, tolerations: [{key: spot, operator: Exists}], labels: {set: "    \
    "d}, "                                                                                         \
    "annotations: {wl: w}, schedulingGates: [{name: kueue.x-k8s.io/topology}]}"

static void test_spark_gets_what_admission_adds_in_its_fields_and_loses_it_again(void **state)
{
    (void)state;
    static const char spec[] =
        "driver: {labels: {a: b}, nodeSelector: {zone: z}, template: {metadata: {labels: {own: "
        "l}}, "
        "spec: {containers: [{name: spark-kubernetes-driver}], tolerations: [{key: t}]}}}, "
        "executor: {tolerations: [{key: mine}]}";
    struct sl_error e = {0};
    struct sl_json *o = app(spec), *before = sl_json_clone(o);
    struct sl_json *sets[] = {pod_set_new(o, 0), pod_set_new(o, 1)};
    const struct sl_framework *f = framework(SPARK);
    assert_int_equal(inject(o, 0, SPOT, &e), SL_CODE_OK);
    assert_int_equal(inject(o, 1, SPOT, &e), SL_CODE_OK);
    assert_int_equal(inject(o, 1, SPOT, &e), SL_CODE_OK); /* twice is as once */
    assert_at(o, "spec.driver.nodeSelector", "{zone: z, pool: spot}");
    assert_at(o, "spec.driver.labels", "{a: b, set: d}");
    assert_at(o, "spec.driver.annotations", "{wl: w}");
    assert_at(o, "spec.driver.template.spec.schedulingGates", "[{name: kueue.x-k8s.io/topology}]");
    assert_at(o, "spec.executor.tolerations", "[{key: mine}, {key: spot, operator: Exists}]");
    assert_at(o, "spec.executor.template.spec",
              "{containers: [{name: spark-kubernetes-executor}], schedulingGates: [{name: "
              "kueue.x-k8s.io/topology}]}");
    for (size_t i = 0; i < 2; i++) {
        f->restore(f, o, i, sets[i]);
        sl_json_free(sets[i]);
    }
    sl_json_remove(sl_json_path(o, "spec.executor"), "template"); /* an empty one stays */
    assert_true(sl_json_equal(o, before));
    sl_json_free(before);
    sl_json_free(o);
}

/* Flavors may differ for driver and executors: what both share becomes each one's own. */
static void test_spark_node_selector_of_both_is_divided(void **state)
{
    (void)state;
    struct sl_error e = {0};
    struct sl_json *o =
        app("nodeSelector: {zone: z, disk: ssd}, executor: {nodeSelector: {disk: hdd}}");
    struct sl_json *set = pod_set_new(o, 1);
    const struct sl_framework *f = framework(SPARK);
    assert_at(set, "template.spec.nodeSelector", "{zone: z, disk: hdd}");
    assert_int_equal(inject(o, 0, "{nodeSelector: {pool: spot}}", &e), SL_CODE_OK);
    assert_int_equal(inject(o, 1, "{nodeSelector: {pool: other}}", &e), SL_CODE_OK);
    assert_null(sl_json_path(o, "spec.nodeSelector"));
    assert_at(o, "spec.driver.nodeSelector", "{zone: z, disk: ssd, pool: spot}");
    assert_at(o, "spec.executor.nodeSelector", "{zone: z, disk: hdd, pool: other}");
    f->restore(f, o, 1, set);
    assert_at(o, "spec.executor.nodeSelector", "{zone: z, disk: hdd}");
    sl_json_free(set);
    sl_json_free(o);
}

static void test_spark_that_wants_another_node_is_not_started(void **state)
{
    (void)state;
    struct sl_error e = {0};
    struct sl_json *o = app("driver: {nodeSelector: {pool: mine}}"), *before = sl_json_clone(o);
    assert_int_equal(inject(o, 0, SPOT, &e), SL_CODE_INVALID);
    assert_non_null(strstr(e.text, "pool"));
    assert_true(sl_json_equal(o, before));
    sl_json_free(before);
    sl_json_free(o);
}

/* --- how it goes --------------------------------------------------------------------------------------- */

static struct sl_json *in_state(const char *name, const char *executors, const char *spec)
{
    char status[256];
    (void)snprintf(status, sizeof status, "{applicationState: {state: '%s'}, executorState: {%s}}",
                   name, executors);
    struct sl_json *o = app(spec);
    sl_json_set(o, "status", yaml(status));
    return o;
}

static void test_spark_is_ready_when_its_executors_are(void **state)
{
    (void)state;
    static const struct {
        const char *state, *executors;
        bool ready;
    } rows[] = {{"RUNNING", "a: RUNNING, b: COMPLETED", true},
                {"RUNNING", "a: RUNNING, b: PENDING", false},
                {"RUNNING", "", false},
                {"SUBMITTED", "a: RUNNING, b: RUNNING", false}};
    const struct sl_framework *f = framework(SPARK);
    for (size_t i = 0; i < sizeof rows / sizeof rows[0]; i++) {
        struct sl_json *o = in_state(rows[i].state, rows[i].executors, "executor: {instances: 2}");
        assert_int_equal(f->pods_ready(f, o), rows[i].ready);
        sl_json_free(o);
    }
}

static void test_spark_may_have_pods_in_any_state_between(void **state)
{
    (void)state;
    static const struct {
        const char *state, *spec;
        bool active, finished, success;
    } rows[] = {{"", "type: Scala", false, false, false},
                {"SUBMITTED", "type: Scala", true, false, false},
                {"RUNNING", "type: Scala", true, false, false},
                {"SUSPENDING", "type: Scala", true, false, false},
                {"SUSPENDED", "type: Scala", false, false, false},
                {"PENDING_RERUN", "type: Scala", true, false, false},
                {"COMPLETED", "type: Scala", false, true, true},
                {"FAILED", "type: Scala", false, true, false},
                {"SUBMISSION_FAILED", "type: Scala", true, true, false},
                {"SUBMISSION_FAILED", "restartPolicy: {type: OnFailure}", true, false, false}};
    const struct sl_framework *f = framework(SPARK);
    for (size_t i = 0; i < sizeof rows / sizeof rows[0]; i++) {
        bool success = false;
        const char *message = "";
        struct sl_json *o = in_state(rows[i].state, "", rows[i].spec);
        assert_int_equal(f->active(f, o), rows[i].active);
        assert_int_equal(f->finished(f, o, &success, &message), rows[i].finished);
        assert_int_equal(success, rows[i].success);
        sl_json_free(o);
    }
}

int main(void)
{
    static const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_spark_counts_what_driver_and_executors_ask_for),
        cmocka_unit_test(test_spark_that_names_nothing_asks_for_the_memory_that_spark_takes),
        cmocka_unit_test(test_spark_memory_has_the_units_of_java),
        cmocka_unit_test(test_spark_counts_gpus_sidecars_and_what_its_template_has),
        cmocka_unit_test(test_spark_sidecar_without_a_name_is_complained_about),
        cmocka_unit_test(test_spark_gets_what_admission_adds_in_its_fields_and_loses_it_again),
        cmocka_unit_test(test_spark_node_selector_of_both_is_divided),
        cmocka_unit_test(test_spark_that_wants_another_node_is_not_started),
        cmocka_unit_test(test_spark_is_ready_when_its_executors_are),
        cmocka_unit_test(test_spark_may_have_pods_in_any_state_between),
    };
    return cmocka_run_group_tests(tests, shipped_setup, shipped_teardown);
}
