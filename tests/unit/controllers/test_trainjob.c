/* SPDX-License-Identifier: Apache-2.0
 * SPDX-FileCopyrightText: The Sluice authors */

/* A job that is described by several objects: a TrainJob and its runtime, by the adapter file that is shipped. The counts
 * are those that Kubeflow Trainer gives the JobSet that it makes. */
#include "shipped.h"
#include <stdio.h>

/* The framework with a runtime at the end of the reference; NULL: there is none. */
static struct sl_framework with(const char *runtime)
{
    struct sl_framework out = *framework("trainer.kubeflow.org/trainjob");
    assert_non_null(out.refers);
    struct sl_json *found = sl_json_new_map();
    if (runtime != NULL) {
        sl_json_set(found, "runtime", yaml(runtime));
    }
    out.with = found;
    return out;
}

static void end(struct sl_framework *f, struct sl_json *job)
{
    sl_json_free((struct sl_json *)(uintptr_t)f->with);
    sl_json_free(job);
}

/* "name=count/cpu name=count/cpu" */
static void assert_sets(const struct sl_framework *f, const struct sl_json *job,
                        const char *expected)
{
    char text[512] = "";
    struct sl_pod_sets sets;
    struct sl_error e = {0};
    if (f->pod_sets(f, job, &sets, &e) != SL_CODE_OK) {
        fail_msg("%s: %s", e.text, e.causes[0].text);
    }
    for (size_t i = 0; i < sets.count; i++) {
        size_t len = strlen(text);
        snprintf(text + len, sizeof text - len, "%s%s=%lld/%lld", i > 0 ? " " : "", sets.at[i].name,
                 (long long)sets.at[i].count,
                 (long long)sl_json_path_int(sets.at[i].template,
                                             "spec.containers.0.resources.requests.cpu", 0));
    }
    assert_string_equal(text, expected);
    sl_pod_sets_fini(&sets);
}

#define STEP(name) "metadata: {labels: {trainer.kubeflow.org/trainjob-ancestor-step: " name "}}, "
#define PODS(name, cpu)                                                                            \
    "template: {spec: {containers: [{name: " name ", image: i, resources: {requests: {cpu: " cpu   \
    ", memory: 1Gi}}}]}}"
#define INITIALIZER STEP("dataset-initializer") "spec: {" PODS("dataset-initializer", "1") "}"
#define TRAINER STEP("trainer") "spec: {" PODS("node", "4") "}"
#define TORCHTUNE                                                                                  \
    "{metadata: {name: tune}, spec: {mlPolicy: {numNodes: 3, torch: {}}, template: {spec: {"       \
    "replicatedJobs: [{name: dataset-initializer, replicas: 5, template: {" INITIALIZER "}},"      \
    "{name: node, template: {" TRAINER "}},"                                                       \
    "{name: extra, replicas: 2, template: {spec: {parallelism: 3, " PODS("x", "1") "}}}]}}}}"
#define MPI(as_node)                                                                               \
    "{metadata: {name: mpi}, spec: {mlPolicy: {numNodes: 1, mpi: {runLauncherAsNode: " as_node     \
    "}}, template: {spec: {replicatedJobs: ["                                                      \
    "{name: node, template: {spec: {" PODS(                                                        \
        "node", "2") "}}},"                                                                        \
                     "{name: launcher, template: {" STEP("trainer") "spec: {" PODS("node",         \
                                                                                   "1") "}}}]}}}}"

static const char by_runtime[] =
    "{metadata: {name: t, namespace: ns}, spec: {runtimeRef: {name: tune}}}";

static void test_trainjob_is_counted_as_its_runtime_says(void **state)
{
    (void)state;
    struct sl_framework f = with(TORCHTUNE);
    struct sl_json *job = yaml(by_runtime);
    assert_sets(&f, job, "dataset-initializer=1/1 node=3/4 extra=6/1");
    sl_json_set(sl_json_get(job, "spec"), "trainer",
                yaml("{numNodes: 7, resourcesPerNode: {requests: {cpu: 8}}}"));
    assert_sets(&f, job, "dataset-initializer=1/1 node=7/8 extra=6/1");
    struct sl_pod_sets sets;
    struct sl_error e = {0};
    assert_int_equal(f.pod_sets(&f, job, &sets, &e), SL_CODE_OK);
    assert_json(sl_json_path(sets.at[1].template, "spec.containers"),
                "[{\"name\":\"node\",\"image\":\"i\",\"resources\":{\"requests\":{\"cpu\":8,"
                "\"memory\":\"1Gi\"}}}]");
    assert_string_equal(sets.at[1].index_label, "batch.kubernetes.io/job-completion-index");
    assert_string_equal(sets.at[2].sub_group_label, "jobset.sigs.k8s.io/job-index");
    assert_int_equal(sets.at[0].sub_group_count, 1);
    assert_int_equal(sets.at[2].sub_group_count, 2);
    sl_pod_sets_fini(&sets);
    end(&f, job);
}

static void test_trainjob_without_policy_has_the_pods_of_its_jobs(void **state)
{
    (void)state;
    struct sl_framework f =
        with("{spec: {template: {spec: {replicatedJobs: [{name: node, template: {" STEP(
            "trainer") "spec: {parallelism: 2, " PODS("node", "4") "}}}]}}}}");
    struct sl_json *job = yaml("{metadata: {name: t}, spec: {runtimeRef: {name: r}, trainer: {"
                               "resourcesPerNode: {requests: {cpu: 9}}}}}");
    assert_sets(&f, job, "node=2/4"); /* the trainer merges resources only with a policy */
    sl_json_set_int(sl_json_path(job, "spec.trainer"), "numNodes", 5);
    assert_sets(&f, job, "node=5/4");
    end(&f, job);
}

static void test_trainjob_by_mpi_has_its_nodes_and_a_launcher(void **state)
{
    (void)state;
    struct sl_framework f = with(MPI("false"));
    struct sl_json *job = yaml("{metadata: {name: t}, spec: {runtimeRef: {name: r}, trainer: {"
                               "numNodes: 4, resourcesPerNode: {requests: {cpu: 9}}}}}");
    assert_sets(&f, job, "node=4/2 launcher=1/9");
    end(&f, job);
    f = with(MPI("true"));
    job = yaml("{metadata: {name: t}, spec: {runtimeRef: {name: r}, trainer: {numNodes: 4,"
               " resourcesPerNode: {requests: {cpu: 9}}}}}");
    assert_sets(&f, job, "node=3/9 launcher=1/9");
    sl_json_set_int(sl_json_path(job, "spec.trainer"), "numNodes", 1);
    assert_sets(&f, job, "node=1/9 launcher=1/9");
    end(&f, job);
}

static void test_trainjob_has_what_other_patches_say_and_not_ours(void **state)
{
    (void)state;
    struct sl_framework f = with(TORCHTUNE);
    struct sl_pod_sets sets;
    struct sl_error e = {0};
    struct sl_json *job = yaml(by_runtime);
    static const char patch[] =
        "{manager: %s, trainingRuntimeSpec: {template: {spec: {replicatedJobs: [{name: node,"
        " template: {spec: {template: {metadata: {annotations: {a: %s}},"
        " spec: {nodeSelector: {zone: %s}}}}}}]}}}}";
    struct sl_json *patches = sl_json_new_list();
    char text[512];
    snprintf(text, sizeof text, patch, "a.b/user", "b", "z");
    sl_json_append(patches, yaml(text));
    snprintf(text, sizeof text, patch, "kueue.x-k8s.io/manager", "c", "y");
    sl_json_append(patches, yaml(text));
    sl_json_set(sl_json_get(job, "spec"), "runtimePatches", patches);
    assert_int_equal(f.pod_sets(&f, job, &sets, &e), SL_CODE_OK);
    assert_json(sl_json_path(sets.at[1].template, "spec.nodeSelector"), "{\"zone\":\"z\"}");
    assert_json(sl_json_path(sets.at[1].template, "metadata.annotations"), "{\"a\":\"b\"}");
    assert_null(sl_json_path(sets.at[0].template, "spec.nodeSelector"));
    sl_pod_sets_fini(&sets);

    while (sl_json_len(patches) <= 64) {
        sl_json_append(patches, sl_json_clone(sl_json_at(patches, 0)));
    }
    assert_int_equal(f.pod_sets(&f, job, &sets, &e), SL_CODE_INVALID);
    assert_string_equal(e.causes[0].field, "spec.runtimePatches");
    sl_pod_sets_fini(&sets);
    end(&f, job);
}

static void test_trainjob_whose_patch_does_not_fit_is_refused(void **state)
{
    (void)state;
    struct sl_framework f = with(TORCHTUNE);
    struct sl_pod_sets sets;
    struct sl_error e = {0};
    struct sl_json *job =
        yaml("{metadata: {name: t}, spec: {runtimeRef: {name: r}, runtimePatches: [{manager: m,"
             " trainingRuntimeSpec: {template: {spec: {replicatedJobs: [{name: node, template:"
             " {spec: {template: {spec: {containers: [{name: a}, {image: b}]}}}}}]}}}}]}}");
    assert_int_equal(f.pod_sets(&f, job, &sets, &e), SL_CODE_INVALID);
    assert_int_equal(e.cause_count, 1);
    sl_pod_sets_fini(&sets);
    end(&f, job);
}

static void inject(const struct sl_framework *f, struct sl_json *job, size_t index)
{
    struct sl_error e = {0};
    struct sl_json *injection =
        parse("{\"nodeSelector\":{\"pool\":\"a\"},\"labels\":{\"x\":\"y\"}}");
    assert_int_equal(f->inject(f, job, index, injection, &e), SL_CODE_OK);
    sl_json_free(injection);
}

static void test_trainjob_gets_one_runtime_patch_for_all_of_its_jobs(void **state)
{
    (void)state;
    struct sl_framework f = with(TORCHTUNE);
    struct sl_json *job =
        yaml("{metadata: {name: t}, spec: {runtimeRef: {name: r}, runtimePatches: ["
             "{manager: somebody}, {manager: kueue.x-k8s.io/manager, time: now}]}}");
    for (size_t turn = 0; turn < 2; turn++) { /* again: as if the first write had been lost */
        for (size_t i = 0; i < 3; i++) {
            inject(&f, job, i);
        }
    }
    assert_int_equal(sl_json_len(sl_json_path(job, "spec.runtimePatches")), 2);
    struct sl_json *parts =
        sl_json_path(job, "spec.runtimePatches.1.trainingRuntimeSpec.template.spec.replicatedJobs");
    assert_int_equal(sl_json_len(parts), 3);
    assert_json(sl_json_at(parts, 1),
                "{\"name\":\"node\",\"template\":{\"spec\":{\"template\":{\"metadata\":{\"labels\":"
                "{\"x\":\"y\"}},\"spec\":{\"nodeSelector\":{\"pool\":\"a\"}}}}}}");
    assert_true(f.restored_later);
    struct sl_framework gone = with(NULL); /* the runtime is not needed to stop it */
    f.restore(&gone, job, 0, NULL);
    assert_json(
        sl_json_path(job, "spec.runtimePatches"),
        "[{\"manager\":\"somebody\"},{\"manager\":\"kueue.x-k8s.io/manager\",\"time\":\"now\","
        "\"trainingRuntimeSpec\":{\"template\":{\"spec\":{}}}}]");
    end(&gone, NULL);
    end(&f, job);
}

static void test_trainjob_says_how_it_goes(void **state)
{
    (void)state;
    struct sl_framework f = with(TORCHTUNE);
    struct sl_json *job = yaml(by_runtime);
    sl_json_set(job, "status", yaml("{jobsStatus: [{name: node, ready: 1, active: 1}]}"));
    assert_true(f.active(&f, job));
    assert_false(f.pods_ready(&f, job));
    sl_json_set(job, "status",
                yaml("{jobsStatus: [{name: dataset-initializer, succeeded: 1},"
                     " {name: node, ready: 6}, {name: extra, succeeded: 1, ready: 1}]}"));
    assert_true(f.pods_ready(&f, job));
    assert_int_equal(f.reclaimable(&f, job, 0), 1);
    assert_int_equal(f.reclaimable(&f, job, 1), 0);
    assert_int_equal(f.reclaimable(&f, job, 2), 3);
    struct sl_framework gone = with(NULL);
    assert_false(f.pods_ready(&gone, job));
    assert_int_equal(f.reclaimable(&gone, job, 0), 0);
    assert_string_equal(f.priority_class(&gone, job), "");
    end(&gone, NULL);
    end(&f, job);
}

static void assert_lack(struct sl_framework *f, const char *spec, enum sl_code code,
                        const char *field, const char *text)
{
    struct sl_pod_sets sets;
    struct sl_error e = {0};
    struct sl_json *job = yaml("{metadata: {name: t, namespace: ns}}");
    sl_json_set(job, "spec", yaml(spec));
    assert_int_equal(f->pod_sets(f, job, &sets, &e), code);
    assert_string_equal(e.causes[0].field, field);
    assert_string_equal(e.causes[0].text, text);
    sl_pod_sets_fini(&sets);
    sl_json_free(job);
}

static void test_trainjob_without_its_runtime_is_not_counted(void **state)
{
    (void)state;
    struct sl_framework f = with(NULL);
    struct sl_json *lacks = yaml("{runtime: false}");
    f.lacks = lacks;
    assert_lack(&f, "{runtimeRef: {name: r}}", SL_CODE_NOT_FOUND, "spec.runtimeRef.name",
                "ClusterTrainingRuntime \"r\" is not there");
    assert_lack(&f, "{runtimeRef: {name: r, kind: TrainingRuntime}}", SL_CODE_NOT_FOUND,
                "spec.runtimeRef.name", "TrainingRuntime \"ns/r\" is not there");
    sl_json_set_bool(lacks, "runtime", true);
    assert_lack(&f, "{runtimeRef: {name: r}}", SL_CODE_UNAVAILABLE, "spec.runtimeRef.name",
                "ClusterTrainingRuntime \"r\" cannot be read");
    assert_lack(&f, "{}", SL_CODE_INVALID, "spec.runtimeRef.name",
                "is required: the pods are described by what it names");
    assert_lack(&f, "{runtimeRef: {name: r, kind: Flux}}", SL_CODE_INVALID, "spec.runtimeRef.name",
                "no kind that the adapter file knows is named Flux");
    assert_lack(&f, "{runtimeRef: {name: r, apiGroup: a.b}}", SL_CODE_INVALID,
                "spec.runtimeRef.name",
                "no kind that the adapter file knows is named ClusterTrainingRuntime");
    sl_json_free(lacks);
    end(&f, NULL);
}

static void test_trainjob_refers_to_kinds_that_are_no_jobs(void **state)
{
    (void)state;
    const enum sl_kind *kinds;
    assert_int_equal(sl_adapters_referred(&kinds), 3);
    assert_true(kinds[0] == sl_kind_find_name("RayCluster") && sl_kind_is_job(kinds[0]));
    assert_string_equal(sl_kind_info(kinds[1])->plural, "clustertrainingruntimes");
    assert_false(sl_kind_info(kinds[1])->namespaced || sl_kind_is_job(kinds[1]));
    assert_true(sl_kind_info(kinds[2])->namespaced && !sl_kind_is_job(kinds[2]));
    assert_true(sl_kind_is_job(sl_kind_find_name("TrainJob")));
    assert_false(sl_kind_is_job(SL_KIND_COUNT));
}

#define CASE(name) cmocka_unit_test_setup_teardown(name, shipped_setup, shipped_teardown)

int main(void)
{
    const struct CMUnitTest tests[] = {
        CASE(test_trainjob_is_counted_as_its_runtime_says),
        CASE(test_trainjob_without_policy_has_the_pods_of_its_jobs),
        CASE(test_trainjob_by_mpi_has_its_nodes_and_a_launcher),
        CASE(test_trainjob_has_what_other_patches_say_and_not_ours),
        CASE(test_trainjob_whose_patch_does_not_fit_is_refused),
        CASE(test_trainjob_gets_one_runtime_patch_for_all_of_its_jobs),
        CASE(test_trainjob_says_how_it_goes),
        CASE(test_trainjob_without_its_runtime_is_not_counted),
        CASE(test_trainjob_refers_to_kinds_that_are_no_jobs),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
