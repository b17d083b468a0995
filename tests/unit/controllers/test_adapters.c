/* SPDX-License-Identifier: Apache-2.0
 * SPDX-FileCopyrightText: The Sluice authors */

/* Adapter files: those that are shipped, over objects of their kinds, and those that are refused. */
#include "shipped.h"
#include <stdio.h>
#include <stdlib.h>
#include <unistd.h>

/* "name=count name=count" */
static void assert_sets(const struct sl_framework *f, const struct sl_json *job,
                        const char *expected)
{
    char text[512] = "";
    struct sl_pod_sets sets;
    struct sl_error e = {0};
    if (f->pod_sets(f, job, &sets, &e) != SL_CODE_OK) {
        fail_msg("%s", e.text);
    }
    for (size_t i = 0; i < sets.count; i++) {
        size_t len = strlen(text);
        snprintf(text + len, sizeof text - len, "%s%s=%lld", i > 0 ? " " : "", sets.at[i].name,
                 (long long)sets.at[i].count);
    }
    assert_string_equal(text, expected);
    sl_pod_sets_fini(&sets);
}

static struct sl_json *workload_new(const struct sl_framework *f, const struct sl_json *job)
{
    struct sl_pod_sets sets;
    struct sl_error e = {0};
    assert_int_equal(f->pod_sets(f, job, &sets, &e), SL_CODE_OK);
    const struct sl_workload_plan plan = {.queue = "q", .priority = {.name = ""}, .sets = &sets};
    struct sl_json *wl = sl_framework_workload_new(f, job, &plan);
    assert_true(sl_pod_sets_match(&sets, wl, true));
    sl_pod_sets_fini(&sets);
    return wl;
}

static void inject(const struct sl_framework *f, struct sl_json *job, size_t index)
{
    struct sl_error e = {0};
    struct sl_json *injection =
        parse("{\"nodeSelector\":{\"pool\":\"a\"},\"labels\":{\"x\":\"y\"}}");
    assert_int_equal(f->inject(f, job, index, injection, &e), SL_CODE_OK);
    sl_json_free(injection);
}

static bool ended(const struct sl_framework *f, const struct sl_json *job, bool *success)
{
    const char *message;
    return f->finished(f, job, success, &message);
}

static const char jobset[] =
    "{metadata: {name: a, namespace: n, uid: u},"
    " spec: {suspend: true, replicatedJobs: ["
    "  {name: Lead, replicas: 1, template: {spec: {template: {spec: {containers: [{name: l}]}}}}},"
    "  {name: w, replicas: 3, template: {spec: {parallelism: 4, completions: 2,"
    "   template: {spec: {priorityClassName: high, containers: [{name: w}]}}}}}]}}";

static void test_adapters_jobset_has_a_pod_set_for_each_replicated_job(void **state)
{
    (void)state;
    const struct sl_framework *f = framework("jobset.x-k8s.io/jobset");
    struct sl_json *job = yaml(jobset);
    assert_true(f->suspended(f, job));
    assert_sets(f, job, "lead=1 w=6");
    assert_string_equal(f->priority_class(f, job), "high");
    struct sl_json *wl = workload_new(f, job);
    assert_json(sl_json_path(wl, "spec.podSets.1.topologyRequest"),
                "{\"podIndexLabel\":\"batch.kubernetes.io/job-completion-index\","
                "\"subGroupIndexLabel\":\"jobset.sigs.k8s.io/job-index\",\"subGroupCount\":3}");
    assert_string_equal(sl_json_path_text(wl, "metadata.ownerReferences.0.kind", ""), "JobSet");
    assert_int_equal(strncmp(sl_object_name(wl), "jobset-a-", 9), 0);
    sl_json_free(wl);
    sl_json_free(job);
}

static void test_adapters_jobset_is_injected_and_restored(void **state)
{
    (void)state;
    const struct sl_framework *f = framework("jobset.x-k8s.io/jobset");
    struct sl_json *job = yaml(jobset);
    struct sl_json *before = sl_json_clone(job);
    struct sl_json *wl = workload_new(f, job);
    inject(f, job, 1);
    f->suspend(f, job, false);
    assert_false(f->suspended(f, job));
    assert_string_equal(sl_json_path_text(job,
                                          "spec.replicatedJobs.1.template.spec.template.spec."
                                          "nodeSelector.pool",
                                          ""),
                        "a");
    assert_null(
        sl_json_path(job, "spec.replicatedJobs.0.template.spec.template.spec.nodeSelector"));
    f->suspend(f, job, true);
    f->restore(f, job, 1, sl_workload_pod_set(wl, 1));
    assert_json(sl_json_path(job, "spec.replicatedJobs.1.template.spec.template.spec"),
                "{\"priorityClassName\":\"high\",\"containers\":[{\"name\":\"w\"}]}");
    sl_json_free(before);
    sl_json_free(wl);
    sl_json_free(job);
}

static void test_adapters_jobset_says_how_it_goes(void **state)
{
    (void)state;
    bool success;
    const struct sl_framework *f = framework("jobset.x-k8s.io/jobset");
    struct sl_json *job = yaml(jobset);
    assert_false(f->active(f, job) || f->pods_ready(f, job) || ended(f, job, &success));
    sl_json_set(job, "status",
                yaml("{replicatedJobsStatus: [{name: Lead, active: 1, ready: 1},"
                     " {name: w, active: 1, ready: 1, succeeded: 2}]}"));
    assert_true(f->active(f, job) && f->pods_ready(f, job));
    assert_int_equal(f->reclaimable(f, job, 0), 0);
    assert_int_equal(f->reclaimable(f, job, 1), 4);
    sl_condition_set(sl_json_get(job, "status"), "Failed", true, "R", "it broke", 0, 0);
    const char *message;
    assert_true(f->finished(f, job, &success, &message));
    assert_false(success);
    assert_string_equal(message, "it broke");
    sl_json_free(job);
}

/* They stay at the largest number, which is as many as anybody wants. */
static void test_adapters_sums_too_large_to_count_are_large(void **state)
{
    (void)state;
    const struct sl_framework *f = framework("jobset.x-k8s.io/jobset");
    struct sl_json *job = yaml(jobset);
    sl_json_set(job, "status",
                yaml("{replicatedJobsStatus: [{name: Lead, active: 9223372036854775807,"
                     " ready: 9223372036854775807, succeeded: 9223372036854775807},"
                     " {name: w, active: 9223372036854775807, ready: 9223372036854775807,"
                     " succeeded: 9223372036854775807}]}"));
    assert_true(f->active(f, job));
    assert_true(f->pods_ready(f, job));
    assert_true(f->reclaimable(f, job, 1) > 4);
    sl_json_set(job, "status",
                yaml("{replicatedJobsStatus: [{name: w, active: -9223372036854775808,"
                     " succeeded: -9223372036854775808}, {name: Lead, active: -1}]}"));
    assert_false(f->active(f, job));
    assert_true(f->reclaimable(f, job, 1) < 0);
    sl_json_free(job);
}

static const char rayjob[] =
    "{metadata: {name: r, namespace: n, uid: u}, spec: {suspend: true, rayClusterSpec: {"
    " headGroupSpec: {template: {spec: {containers: [{name: h, image: ray}]}}},"
    " workerGroupSpecs: ["
    "  {groupName: small, replicas: 2, numOfHosts: 3, template: {spec: {containers: [{name: w}]}}},"
    "  {groupName: big, template: {spec: {containers: [{name: w}]}}}]}}}";

static void test_adapters_rayjob_has_head_groups_and_submitter(void **state)
{
    (void)state;
    const struct sl_framework *f = framework("ray.io/rayjob");
    struct sl_json *job = yaml(rayjob);
    assert_sets(f, job, "head=1 small=6 big=1 submitter=1");
    struct sl_json *wl = workload_new(f, job);
    assert_string_equal(
        sl_json_path_text(wl, "spec.podSets.3.template.spec.containers.0.image", ""), "ray");
    inject(f, job, 3); /* the default now stands in the job */
    assert_string_equal(
        sl_json_path_text(job, "spec.submitterPodTemplate.spec.nodeSelector.pool", ""), "a");
    f->restore(f, job, 3, sl_workload_pod_set(wl, 3));
    assert_null(sl_json_path(job, "spec.submitterPodTemplate.spec.nodeSelector"));
    sl_json_set_text(sl_json_get(job, "spec"), "submissionMode", "HTTPMode");
    assert_sets(f, job, "head=1 small=6 big=1");
    assert_false(f->skips(f, job));
    sl_json_set(sl_json_get(job, "spec"), "clusterSelector", yaml("{}"));
    assert_false(f->skips(f, job)); /* it selects none, and KubeRay makes one */
    sl_json_set(sl_json_get(job, "spec"), "clusterSelector", yaml("{a: b}"));
    assert_true(f->skips(f, job));
    sl_json_free(wl);
    sl_json_free(job);
}

static void test_adapters_rayjob_ends_with_its_deployment(void **state)
{
    (void)state;
    bool success = false;
    const struct sl_framework *f = framework("ray.io/rayjob");
    struct sl_json *job = yaml(rayjob);
    assert_false(f->active(f, job));
    sl_json_set(job, "status",
                yaml("{jobDeploymentStatus: Running, rayClusterStatus: {state: ready}}"));
    assert_true(f->active(f, job) && f->pods_ready(f, job) && !ended(f, job, &success));
    sl_json_set(job, "status", yaml("{jobDeploymentStatus: Complete, jobStatus: SUCCEEDED}"));
    assert_true(ended(f, job, &success) && success);
    sl_json_set(job, "status",
                yaml("{jobDeploymentStatus: Failed, jobStatus: SUCCEEDED, message: m}"));
    assert_true(ended(f, job, &success));
    sl_json_set(job, "status",
                yaml("{jobDeploymentStatus: Failed, jobStatus: FAILED, message: m}"));
    assert_true(ended(f, job, &success) && !success);
    sl_json_free(job);
}

static void test_adapters_pytorchjob_has_the_replicas_that_are_there(void **state)
{
    (void)state;
    bool success;
    const struct sl_framework *f = framework("kubeflow.org/pytorchjob");
    struct sl_json *job =
        yaml("{metadata: {name: p}, spec: {runPolicy: {schedulingPolicy: {priorityClass: pc}},"
             " pytorchReplicaSpecs: {Worker: {replicas: 3, template: {spec: {containers: []}}}}}}");
    assert_false(f->suspended(f, job));
    assert_sets(f, job, "worker=3");
    assert_string_equal(f->priority_class(f, job), "pc");
    f->suspend(f, job, true);
    assert_true(sl_json_path_bool(job, "spec.runPolicy.suspend", false));
    sl_json_set(job, "status", yaml("{replicaStatuses: {Worker: {active: 1}}}"));
    assert_true(f->active(f, job));
    sl_condition_set(sl_json_get(job, "status"), "Succeeded", true, "R", "", 0, 0);
    assert_true(ended(f, job, &success) && success);
    sl_json_free(job);
}

static void test_adapters_kubeflow_jobs_have_the_replicas_of_their_kind(void **state)
{
    (void)state;
#define REPLICA(name) " " name ": {replicas: 2, template: {spec: {containers: []}}}"
    static const struct {
        const char *framework, *spec, *sets;
    } rows[] = {
        {"kubeflow.org/tfjob",
         "tfReplicaSpecs: {" REPLICA("Evaluator") "," REPLICA("Worker") "," REPLICA(
             "PS") "," REPLICA("Master") "," REPLICA("Chief") "}",
         "chief=2 master=2 ps=2 worker=2 evaluator=2"},
        {"kubeflow.org/xgboostjob",
         "xgbReplicaSpecs: {" REPLICA("Worker") "," REPLICA("Master") "}", "master=2 worker=2"},
        {"kubeflow.org/paddlejob", "paddleReplicaSpecs: {" REPLICA("Worker") "}", "worker=2"},
        {"kubeflow.org/jaxjob", "jaxReplicaSpecs: {" REPLICA("Worker") "}", "worker=2"}};
    for (size_t i = 0; i < sizeof rows / sizeof rows[0]; i++) {
        char text[1024];
        bool success = true;
        const struct sl_framework *f = framework(rows[i].framework);
        (void)snprintf(text, sizeof text, "{metadata: {name: p}, spec: {%s}}", rows[i].spec);
        struct sl_json *job = yaml(text);
        assert_sets(f, job, rows[i].sets);
        f->suspend(f, job, true);
        assert_true(sl_json_path_bool(job, "spec.runPolicy.suspend", false) &&
                    f->suspended(f, job));
        sl_json_set(job, "status", yaml("{replicaStatuses: {Worker: {active: 1}}}"));
        assert_true(f->active(f, job));
        sl_condition_set(sl_json_get(job, "status"), "Failed", true, "R", "", 0, 0);
        assert_true(ended(f, job, &success) && !success);
        sl_json_free(job);
    }
}

static void test_adapters_mpijob_has_launcher_and_workers(void **state)
{
    (void)state;
    const struct sl_framework *f = framework("kubeflow.org/mpijob");
    struct sl_json *job = yaml("{metadata: {name: p}, spec: {mpiReplicaSpecs: {"
                               " Launcher: {template: {spec: {containers: []}}},"
                               " Worker: {replicas: 2, template: {spec: {containers: []}}}}}}");
    assert_sets(f, job, "launcher=1 worker=2");
    sl_json_free(job);
}

static const char appwrapper[] =
    "{metadata: {name: Aw}, spec: {suspend: true, components: ["
    " {podSets: [{replicas: 2, path: template.spec.template}, {path: template.spec.other}],"
    "  template: {kind: X, spec: {template: {spec: {containers: [{name: c}]}},"
    "                             other: {spec: {containers: [{name: d}]}}}}},"
    " {podSets: [{path: template}], template: {spec: {containers: [{name: e}]}}}]}}";

/* "template.spec.jobs[0].template", as the AppWrapper controller has it. */
static void test_adapters_appwrapper_takes_paths_with_brackets(void **state)
{
    (void)state;
    const struct sl_framework *f = framework("workload.codeflare.dev/appwrapper");
    struct sl_json *job =
        yaml("{metadata: {name: aw}, spec: {components: [{podSets: ["
             " {path: 'template.spec.jobs[1].template'}, {path: 'template.spec.jobs.0.template'}],"
             " template: {spec: {jobs: [{template: {spec: {containers: [{name: a}]}}},"
             " {template: {spec: {containers: [{name: b}]}}}]}}}]}}");
    struct sl_json *wl = workload_new(f, job);
    assert_string_equal(sl_json_path_text(wl, "spec.podSets.0.template.spec.containers.0.name", ""),
                        "b");
    assert_string_equal(sl_json_path_text(wl, "spec.podSets.1.template.spec.containers.0.name", ""),
                        "a");
    sl_json_free(wl);
    sl_json_free(job);
}

static void test_adapters_appwrapper_gets_pod_set_infos(void **state)
{
    (void)state;
    const struct sl_framework *f = framework("workload.codeflare.dev/appwrapper");
    struct sl_json *job = yaml(appwrapper);
    assert_sets(f, job, "Aw-0=2 Aw-1=1 Aw-2=1");
    struct sl_json *wl = workload_new(f, job);
    assert_string_equal(sl_json_path_text(wl, "spec.podSets.2.template.spec.containers.0.name", ""),
                        "e");
    for (int again = 0; again < 2; again++) {
        for (size_t i = 0; i < 3; i++) {
            inject(f, job, i);
        }
    }
    assert_json(sl_json_path(job, "spec.components.0.podSetInfos"),
                "[{\"labels\":{\"x\":\"y\"},\"nodeSelector\":{\"pool\":\"a\"}},"
                "{\"labels\":{\"x\":\"y\"},\"nodeSelector\":{\"pool\":\"a\"}}]");
    assert_int_equal(sl_json_len(sl_json_path(job, "spec.components.1.podSetInfos")), 1);
    for (size_t i = 0; i < 3; i++) {
        f->restore(f, job, i, sl_workload_pod_set(wl, i));
    }
    assert_null(sl_json_path(job, "spec.components.0.podSetInfos"));
    assert_null(sl_json_path(job, "spec.components.1.podSetInfos"));
    sl_json_free(wl);
    sl_json_free(job);
}

/* Of a kind that has no flag: suspended by a count of zero. */
static const char counted[] =
    "{apiVersion: example.com/v1, kind: Counted, plural: counteds, framework: example.com/counted, "
    "suspend: {zero: spec.replicas, keep: example.com/wanted}, podSets: ["
    "{name: leader, optional: true, template: spec.leader, count: {path: spec.replicas, default: "
    "1}}, "
    "{name: worker, template: spec.worker, count: [{path: spec.replicas, default: 1}, "
    "{path: spec.size, default: 1}]}], ready: [{condition: Available}], "
    "active: [{path: status.replicas, in: [0], default: 0, not: true}]}";

static void test_adapters_kind_without_a_flag_is_suspended_by_its_count(void **state)
{
    (void)state;
    struct sl_pod_sets sets;
    struct sl_error e = {0};
    assert_int_equal(sl_adapters_add("counted.yaml", counted, sizeof counted - 1, &e), SL_CODE_OK);
    const struct sl_framework *f = framework("example.com/counted");
    struct sl_json *job = yaml("{metadata: {name: l}, spec: {replicas: 3, size: 4, worker:"
                               " {spec: {containers: [{name: w}]}}}}");
    assert_false(f->suspended(f, job));
    assert_sets(f, job, "worker=12");
    f->suspend(f, job, true);
    assert_true(f->suspended(f, job));
    assert_int_equal(sl_json_path_int(job, "spec.replicas", -1), 0);
    assert_sets(f, job, "worker=12");
    sl_json_set(sl_json_get(job, "spec"), "leader", yaml("{spec: {containers: [{name: l}]}}"));
    assert_sets(f, job, "leader=3 worker=12");
    f->suspend(f, job, false);
    assert_int_equal(sl_json_path_int(job, "spec.replicas", -1), 3);
    assert_int_equal(sl_json_len(sl_json_path(job, "metadata.annotations")), 0);
    sl_json_set_int(sl_json_get(job, "spec"), "replicas", 0); /* by the user */
    assert_int_equal(f->pod_sets(f, job, &sets, &e), SL_CODE_GONE);
    sl_pod_sets_fini(&sets);
    sl_json_free(job);
}

static void test_adapters_object_without_its_template_is_refused(void **state)
{
    (void)state;
    struct sl_pod_sets sets;
    struct sl_error e = {0};
    const struct sl_framework *f = framework("ray.io/raycluster");
    struct sl_json *job = yaml("{metadata: {name: r}, spec: {}}");
    assert_int_equal(f->pod_sets(f, job, &sets, &e), SL_CODE_INVALID);
    assert_string_equal(e.causes[0].field, "spec.headGroupSpec.template");
    sl_pod_sets_fini(&sets);
    sl_json_free(job);
}

static void test_adapters_make_the_kinds_that_their_files_name(void **state)
{
    (void)state;
    enum sl_kind of_jobsets = sl_kind_find_object("jobset.x-k8s.io/v1alpha2", "JobSet");
    const struct sl_framework *f = framework("jobset.x-k8s.io/jobset");
    assert_true(f->makes(f, SL_KIND_JOB));
    assert_false(f->makes(f, of_jobsets));
    f = framework("trainer.kubeflow.org/trainjob");
    assert_true(f->makes(f, of_jobsets));
    assert_false(f->makes(f, SL_KIND_JOB));
    f = framework("workload.codeflare.dev/appwrapper");
    assert_true(f->makes(f, of_jobsets) && f->makes(f, SL_KIND_JOB));
    f = framework("kubeflow.org/pytorchjob");
    assert_false(f->makes(f, SL_KIND_JOB));
}

static void test_adapters_object_with_too_many_pod_sets_is_refused(void **state)
{
    (void)state;
    struct sl_pod_sets sets;
    struct sl_error e = {0};
    const struct sl_framework *f = framework("jobset.x-k8s.io/jobset");
    struct sl_json *job = yaml(jobset);
    struct sl_json *list = sl_json_path(job, "spec.replicatedJobs");
    while (sl_json_len(list) < 40) {
        sl_json_append(list, sl_json_clone(sl_json_at(list, 0)));
    }
    assert_int_equal(f->pod_sets(f, job, &sets, &e), SL_CODE_INVALID);
    assert_non_null(strstr(e.causes[0].text, "must be from 1 to 18"));
    sl_pod_sets_fini(&sets);
    sl_json_free(job);
}

/* --- files that are refused ---------------------------------------------------------------------------- */

#define HEAD "apiVersion: example.com/v1\nkind: Thing\nplural: things\n"
#define SETS "podSets: [{name: main, template: spec.template}]\n"
#define TAIL "ready: [{condition: Ready}]\nactive: [{condition: Ready}]\n"

static void test_adapters_bad_files_are_refused_with_file_and_field(void **state)
{
    (void)state;
    static const struct {
        const char *text, *says;
    } rows[] = {
        {"a: [", "f.yaml: "},
        {"- 1", "f.yaml: : must be a map"},
        {"kind: Thing\n", "f.yaml: apiVersion: is required"},
        {HEAD SETS TAIL, "f.yaml: suspend: is required"},
        {HEAD SETS TAIL "suspend: s\ngroups: {size: 1}\n", "groups: cannot be had with suspend"},
        {HEAD SETS TAIL "groups: {}\n", "f.yaml: groups.size: must be a whole number"},
        {HEAD SETS TAIL "groups: {size: 1, sort: 2}\n", "f.yaml: groups.sort: unknown field"},
        {HEAD SETS TAIL "groups: {size: 1, count: 2}\n", "groups.indexLabel: is needed with count"},
        {HEAD SETS TAIL "groups: {size: 1, indexLabel: a}\n",
         "groups.indexLabel: is needed with count"},
        {HEAD SETS TAIL "groups: {size: 1, count: 2, indexLabel: a, surge: {count: 1}}\n",
         "groups.surge.when: is required"},
        {HEAD SETS TAIL "groups: {size: 1, fast: 1}\n", "groups.fast: must be true or false"},
        {HEAD TAIL "groups: {size: 1}\npodSets: [{name: a, template: t, podAnnotation: 1}]\n",
         "podSets[0].podAnnotation: must be a text"},
        {HEAD SETS TAIL "suspend: spec..x\n", "f.yaml: suspend: must be a path"},
        {HEAD SETS TAIL "suspend: {zero: a}\n", "f.yaml: suspend.keep: is required"},
        {HEAD SETS TAIL "suspend: s\ncolour: red\n",
         "f.yaml: colour: unknown field; may be one of"},
        {HEAD TAIL "suspend: s\n", "f.yaml: podSets: is required"},
        {HEAD TAIL "suspend: s\npodSets: []\n", "f.yaml: podSets: must be a list of 1 to 18"},
        {HEAD TAIL "suspend: s\npodSets: [{template: t}]\n", "podSets[0].name: is required"},
        {HEAD TAIL "suspend: s\npodSets: [{name: a}]\n", "podSets[0].template: is required"},
        {HEAD TAIL "suspend: s\npodSets: [{name: a, default: {}}]\n",
         "podSets[0].inject: is required"},
        {HEAD TAIL "suspend: s\npodSets: [{name: a, template: t, inject: {list: l}}]\n",
         "podSets[0].inject.item: is required"},
        {HEAD TAIL "suspend: s\npodSets: [{name: a, template: t, count: [{min: [true]}]}]\n",
         "podSets[0].count[0].min[0]: must be a whole number, a path"},
        {HEAD TAIL "suspend: s\npodSets: [{name: a, template: t, count: {path: p, default: x}}]\n",
         "podSets[0].count.default: must be a whole number"},
        {HEAD TAIL "suspend: s\npodSets: [{name: a, template: t, each: [b]}]\n",
         "podSets[0].each: must be a path, or two"},
        {HEAD TAIL "suspend: s\npodSets: [{name: a, template: t, optional: 1}]\n",
         "podSets[0].optional: must be true or false"},
        {HEAD TAIL "suspend: s\npodSets: [{name: a, template: t, subGroups: {label: l}}]\n",
         "podSets[0].subGroups.count: must be"},
        {HEAD TAIL "suspend: s\npodSets: [{name: a, template: t, reclaimable: {list: l}}]\n",
         "podSets[0].reclaimable.of: is required"},
        {HEAD SETS "suspend: s\nactive: [{condition: A}]\n", "f.yaml: ready: is required"},
        {HEAD SETS "suspend: s\nready: [{condition: A}]\nactive: [{path: p}]\n",
         "f.yaml: active[0]: needs one of in, present and filled"},
        {HEAD SETS "suspend: s\nready: [{sum: s, of: [a]}]\nactive: [{condition: A}]\n",
         "f.yaml: ready[0]: needs either above or atLeast"},
        {HEAD SETS "suspend: s\nready: [{sum: s, above: 1}]\nactive: [{condition: A}]\n",
         "f.yaml: ready[0].of: must be a list of paths"},
        {HEAD SETS "suspend: s\nready: [{}]\n", "f.yaml: ready[0]: must be a map with condition"},
        {HEAD SETS TAIL "suspend: s\nhold: [{path: p, in: [1], filled: true}]\n",
         "f.yaml: hold[0]: needs one of in, present and filled"},
        {HEAD SETS TAIL "suspend: s[a.b]\n", "f.yaml: suspend: must end with a name"},
        {HEAD TAIL "suspend: s\npodSets: [{name: a, template: t, adds: 1}]\n",
         "podSets[0].adds: must be a list"},
        {HEAD TAIL "suspend: s\npodSets: [{name: a, template: t, adds: [{}]}]\n",
         "podSets[0].adds[0]: needs either container or requests"},
        {HEAD TAIL "suspend: s\npodSets: [{name: a, template: t, adds: [{container: 1}]}]\n",
         "podSets[0].adds[0].container: must be a container"},
        {HEAD TAIL
         "suspend: s\npodSets: [{name: a, template: t, adds: [{requests: {}, when: 1}]}]\n",
         "podSets[0].adds[0].when: must be a list of rules"},
        {HEAD SETS TAIL "suspend: s\nfinished: [{success: true}]\n",
         "f.yaml: finished[0].when: is required"},
        {HEAD SETS TAIL "suspend: s\nfinished: yes\n", "f.yaml: finished: must be a list"},
        {HEAD SETS TAIL "suspend: s\nmakes: batch/Job\n", "f.yaml: makes: must be a list of kinds"},
        {HEAD SETS TAIL "suspend: s\nmakes: [Job]\n",
         "f.yaml: makes: must be kinds like batch/Job"},
        {HEAD SETS TAIL "suspend: s\nmakes: [batch/]\n", "f.yaml: makes: must be kinds like"},
        {HEAD SETS TAIL "suspend: s\nmakes: [batch/v1/Job]\n", "f.yaml: makes: must be kinds like"},
        {HEAD SETS TAIL "suspend: s\nrefuse: yes\n", "f.yaml: refuse: must be a list"},
        {HEAD SETS TAIL "suspend: s\nrefuse: [{field: f, text: t}]\n",
         "f.yaml: refuse[0].when: is required"},
        {HEAD SETS TAIL "suspend: s\nrefuse: [{when: [{condition: C}], text: t}]\n",
         "f.yaml: refuse[0].field: is required"},
        {HEAD SETS TAIL "suspend: s\nrefuse: [{when: [{condition: C}], field: f, type: Odd}]\n",
         "f.yaml: refuse[0].type: must be Invalid, Required or Forbidden"},
        {HEAD SETS TAIL "suspend: s\nrefuse: [{when: [{condition: C}], field: f, type: 1}]\n",
         "f.yaml: refuse[0].type: must be Invalid, Required or Forbidden"},
        {HEAD SETS TAIL "suspend: s\nrefuse: [{when: [{condition: C}], field: f}]\n",
         "f.yaml: refuse[0].text: is required"},
        {HEAD SETS TAIL "suspend: s\npriorityClass: [1]\n",
         "f.yaml: priorityClass: must be a list"},
        {HEAD SETS TAIL "suspend: s\nwith: yes\n", "f.yaml: with: must be a list"},
        {HEAD SETS TAIL "suspend: s\nwith: [{}, {}, {}, {}, {}]\n",
         "f.yaml: with: must be no more than 4"},
        {HEAD SETS TAIL "suspend: s\nwith: [{as: spec, name: b}]\n",
         "f.yaml: with[0].as: must be a word without dots, and not a field"},
        {HEAD SETS TAIL "suspend: s\nwith: [{as: a}]\n", "f.yaml: with[0].name: is required"},
        {HEAD SETS TAIL "suspend: s\nwith: [{as: a, name: b, kind: {default: K}}]\n",
         "f.yaml: with[0].kind.path: is required"},
        {HEAD SETS TAIL "suspend: s\nwith: [{as: a, name: b}]\n",
         "f.yaml: with[0].kinds: must be a list of 1 to 4 kinds"},
        {HEAD SETS TAIL "suspend: s\nwith: [{as: a, name: b, kinds: [{}, {}]}]\n",
         "f.yaml: with[0].kind: is required where there are several kinds"},
        {HEAD SETS TAIL "suspend: s\nwith: [{as: a, name: b, kinds: [{kind: K}]}]\n",
         "f.yaml: with[0].kinds[0].apiVersion: is required"},
        {HEAD SETS TAIL
         "suspend: s\nwith: [{as: a, name: b, kinds: [{apiVersion: e.com/v1, kind: K,"
         " plural: K!}]}]\n",
         "f.yaml: with[0].kinds[0]: plural"},
        {HEAD SETS TAIL
         "suspend: s\nwith: [{as: a, name: b, kinds: [{apiVersion: e.com/v1, kind: K,"
         " plural: ks}]}, {as: a, name: b, kinds: [{apiVersion: e.com/v1, kind: K,"
         " plural: ks}]}]\n",
         "f.yaml: with[1].as: a is the name of another"},
        {HEAD SETS TAIL "suspend: s\nelastic: 1\n", "f.yaml: elastic: must be true or false"},
        {HEAD SETS TAIL "suspend: {zero: a, keep: b}\nelastic: true\n",
         "f.yaml: elastic: cannot be had with suspend.zero"},
        {HEAD SETS TAIL "groups: {size: 1}\nelastic: true\n",
         "f.yaml: elastic: cannot be had with groups"},
        {HEAD SETS TAIL "suspend: s\nwith: [{as: a, name: b, elastic: 1}]\n",
         "f.yaml: with[0].elastic: must be true or false"},
        {HEAD SETS TAIL "suspend: s\nwith: [{as: a, name: b, elastic: true}]\n",
         "f.yaml: with[0].elastic: must be true where the kind is elastic, and only there"},
        {HEAD SETS TAIL "suspend: s\nelastic: true\nwith: [{as: a, name: b}]\n",
         "f.yaml: with[0].elastic: must be true where the kind is elastic, and only there"},
        {HEAD SETS TAIL "suspend: s\nelastic: true\nmakes: [e.com/L]\nwith: [{as: a, name: b,"
                        " elastic: true, kinds: [{apiVersion: e.com/v1, kind: K, plural: ks}]}]\n",
         "f.yaml: with[0].kinds: must be kinds that makes names, too"},
        {HEAD TAIL "suspend: s\npodSets: [{name: a, template: t, countIn: {list: l}}]\n",
         "f.yaml: podSets[0].countIn.key: is required"},
        {HEAD TAIL "suspend: s\npodSets: [{name: a, template: t, countIn: {key: l}}]\n",
         "f.yaml: podSets[0].countIn.list: is required"},
        {HEAD TAIL "suspend: s\npodSets: [{name: a, template: t, countIn: {list: l, key: k}}]\n",
         "f.yaml: podSets[0].countIn: needs count"},
        {HEAD SETS TAIL "suspend: s\nrestoreWhen: later\n",
         "f.yaml: restoreWhen: must be inactive"},
        {HEAD TAIL "suspend: s\npodSets: [{name: a, template: t, patches: [{}]}]\n",
         "f.yaml: podSets[0].patches[0].patch: is required"},
        {HEAD TAIL "suspend: s\npodSets: [{name: a, template: t, patches: [{from: [a], at: b}]}]\n",
         "f.yaml: podSets[0].patches[0].from: must be two paths"},
        {HEAD TAIL "suspend: s\npodSets: [{name: a, template: t, inject: {list: l, item: {}, parts:"
                   " p}}]\n",
         "f.yaml: podSets[0].inject.part: is required with parts"},
        {HEAD TAIL
         "suspend: s\npodSets: [{name: a, template: t, inject: {list: l, item: {}, parts: p,"
         " part: {}}}]\n",
         "f.yaml: podSets[0].inject.key: is required with parts"},
        {HEAD TAIL "suspend: s\npodSets: [{name: a, template: t, inject: {fields: {label: p}}}]\n",
         "f.yaml: podSets[0].inject.fields.label: unknown field; may be one of labels"},
        {HEAD TAIL
         "suspend: s\npodSets: [{name: a, template: t, inject: {fields: {labels: {path: p}}}}"
         "]\n",
         "f.yaml: podSets[0].inject.fields.labels.shared: is required"},
        {HEAD TAIL
         "suspend: s\npodSets: [{name: a, template: t, inject: {fields: {tolerations: {path: "
         "p, shared: q}}}}]\n",
         "f.yaml: podSets[0].inject.fields.tolerations: must be a path"},
        {HEAD TAIL
         "suspend: s\npodSets: [{name: a, template: t, inject: {fields: {labels: p}, list: "
         "l}}]\n",
         "f.yaml: podSets[0].inject.list: unknown field"},
        {HEAD TAIL
         "suspend: s\npodSets: [{name: a, template: t, default: {a: [{$path: p, $as: miles}]}}]\n",
         "f.yaml: podSets[0].default.a[0].$as: must be javaMemory"},
        {HEAD TAIL
         "suspend: s\npodSets: [{name: a, template: t, patches: [{patch: {a: {$key: p}}}]}]"
         "\n",
         "f.yaml: podSets[0].patches[0].patch.a.$value: is required"},
        {HEAD TAIL
         "suspend: s\npodSets: [{name: a, template: t, default: {a: {$path: p, b: 1}}}]\n",
         "f.yaml: podSets[0].default.a.b: unknown field"},
        {HEAD TAIL "suspend: s\npodSets: [{each: l, podSets: []}]\n",
         "f.yaml: podSets[0].podSets: must be a list of 1 to 18 pod sets"},
        {HEAD TAIL "suspend: s\npodSets: [{podSets: [{name: a, template: t}]}]\n",
         "f.yaml: podSets[0].each: is required"},
        {HEAD TAIL "suspend: s\npodSets: [{each: l, podSets: [{each: m, podSets: []}]}]\n",
         "f.yaml: podSets[0].podSets[0].podSets: unknown field"},
        {HEAD SETS "suspend: s\nready: [{count: l, in: [a]}]\nactive: [{condition: A}]\n",
         "f.yaml: ready[0].atLeast: must be a whole number"},
        {HEAD SETS "suspend: s\nready: [{count: l, atLeast: 1}]\nactive: [{condition: A}]\n",
         "f.yaml: ready[0].in: is required"},
        {HEAD TAIL "suspend: s\npodSets: [{name: a, template: t, count: {choose: []}}]\n",
         "f.yaml: podSets[0].count.choose: must be a list of choices"},
        {HEAD TAIL
         "suspend: s\npodSets: [{name: a, template: t, count: {choose: [{use: true}]}}]\n",
         "f.yaml: podSets[0].count.choose[0].use: must be a whole number"},
        {HEAD TAIL "suspend: s\npodSets: [{name: a, template: t, count: {max: 1}}]\n",
         "f.yaml: podSets[0].count.max: must be a list of numbers"},
        {HEAD SETS "suspend: s\nready: [{some: l}]\nactive: [{condition: A}]\n",
         "f.yaml: ready[0].where: is required"},
        {"apiVersion: v1\nkind: Thing\nplural: things\nsuspend: s\n" SETS TAIL,
         "f.yaml: apiVersion \"v1\""},
        {"apiVersion: batch/v1\nkind: Job\nplural: jobs\nsuspend: s\n" SETS TAIL,
         "f.yaml: kind: batch/v1 Job is built in already"},
        {"apiVersion: ray.io/v1\nkind: RayJob\nplural: rayjobs\nsuspend: s\n" SETS TAIL,
         "f.yaml: kind: ray.io/v1 RayJob is described by another file already"},
    };
    size_t before = sl_adapters_count();
    for (size_t i = 0; i < sizeof rows / sizeof rows[0]; i++) {
        struct sl_error e = {0};
        assert_int_equal(sl_adapters_add("f.yaml", rows[i].text, strlen(rows[i].text), &e),
                         SL_CODE_INVALID);
        if (strstr(e.text, rows[i].says) == NULL) {
            fail_msg("\"%s\" does not say \"%s\"", e.text, rows[i].says);
        }
    }
    assert_int_equal(sl_adapters_count(), before);
}

static void test_adapters_own_kind_needs_no_more_than_a_file(void **state)
{
    (void)state;
    struct sl_error e = {0};
    static const char text[] = HEAD SETS TAIL "suspend: spec.paused\n";
    assert_int_equal(sl_adapters_add("f.yaml", text, strlen(text), &e), SL_CODE_OK);
    const struct sl_framework *f = framework("Thing");
    assert_string_equal(sl_kind_info(f->kind)->plural, "things");
    struct sl_json *job = yaml("{metadata: {name: t}, spec: {paused: true, template: {spec: {}}}}");
    assert_true(f->suspended(f, job));
    assert_sets(f, job, "main=1");
    bool success;
    assert_false(ended(f, job, &success));
    sl_json_free(job);
}

static void test_adapters_refuse_what_their_files_say_cannot_be_counted(void **state)
{
    (void)state;
    struct sl_pod_sets sets;
    struct sl_error e = {0};
    static const char text[] = HEAD SETS TAIL
        "suspend: spec.paused\nrefuse: [{when: [{condition: A}], field: spec.a, text: not so},"
        " {when: [{path: spec.n, present: true, not: true}], field: spec.n, text: must be set}]\n";
    assert_int_equal(sl_adapters_add("f.yaml", text, strlen(text), &e), SL_CODE_OK);
    const struct sl_framework *f = framework("Thing");
    struct sl_json *job = yaml("{metadata: {name: t}, spec: {template: {spec: {}}}}");
    assert_int_equal(f->pod_sets(f, job, &sets, &e), SL_CODE_INVALID);
    assert_string_equal(e.causes[0].field, "spec.n");
    assert_string_equal(e.causes[0].text, "must be set");
    sl_pod_sets_fini(&sets);
    sl_json_set_int(sl_json_get(job, "spec"), "n", 1);
    assert_sets(f, job, "main=1");
    sl_json_free(job);
}

#define QUEUED "metadata: {name: t, namespace: ns, labels: {kueue.x-k8s.io/queue-name: q}}"
#define PLAIN "metadata: {name: t, namespace: ns}"
#define PODS "template: {spec: {containers: [{name: c}]}}"

/* What a file refuses is refused where it is written, as Kubernetes words it. */
static void test_adapters_refusals_are_said_where_objects_are_written(void **state)
{
    (void)state;
    static const char text[] =
        HEAD SETS TAIL "suspend: spec.suspend\nskip: [{path: spec.leave, in: [true]}]\nrefuse:\n"
                       "- {when: [{path: spec.mode, in: [Cluster], not: true}], field: spec.mode, "
                       "text: only Cluster}\n"
                       "- {when: [{path: spec.limit, present: false}], field: spec.limit, type: "
                       "Required, text: say how long}\n"
                       "- {when: [{path: 'metadata.annotations[a.b/c]', in: [x]}], field: "
                       "'metadata.annotations[a.b/c]', type: Forbidden, text: not here}\n";
    static const struct {
        const char *now, *old, *field, *says; /* field NULL: accepted */
    } rows[] = {
        {"{" QUEUED ", spec: {mode: Cluster, limit: 1, " PODS "}}", NULL, NULL, NULL},
        {"{" QUEUED ", spec: {mode: Client, limit: 1, " PODS "}}", NULL, "spec.mode",
         "Invalid value: \"Client\": only Cluster"},
        {"{" QUEUED ", spec: {limit: 1, " PODS "}}", NULL, "spec.mode", "only Cluster"},
        {"{" QUEUED ", spec: {mode: Cluster, " PODS "}}", NULL, "spec.limit",
         "Required value: say how long"},
        {"{metadata: {name: t, namespace: ns, labels: {kueue.x-k8s.io/queue-name: q}, annotations: "
         "{a.b/c: x}}, spec: {mode: Cluster, limit: 1, " PODS "}}",
         NULL, "metadata.annotations[a.b/c]", "Forbidden: not here"},
        {"{" PLAIN ", spec: {mode: Client, " PODS "}}", NULL, NULL, NULL},
        {"{" QUEUED ", spec: {mode: Client, leave: true, " PODS "}}", NULL, NULL, NULL},
        /* what is so already can still be changed; what becomes so is refused, without its queue, too */
        {"{" QUEUED ", spec: {mode: Client, limit: 1, " PODS "}}",
         "{" QUEUED ", spec: {mode: Other, limit: 1, " PODS "}}", NULL, NULL},
        {"{" QUEUED ", spec: {mode: Client, limit: 1, " PODS "}}",
         "{" PLAIN ", spec: {mode: Client, limit: 1, " PODS "}}", "spec.mode", "only Cluster"},
        {"{" PLAIN ", spec: {mode: Client, limit: 1, " PODS "}}",
         "{" QUEUED ", spec: {mode: Cluster, limit: 1, " PODS "}}", "spec.mode", "only Cluster"},
    };
    struct sl_error e = {0};
    assert_int_equal(sl_adapters_add("f.yaml", text, strlen(text), &e), SL_CODE_OK);
    const struct sl_framework *f = framework("Thing");
    for (size_t i = 0; i < sizeof rows / sizeof rows[0]; i++) {
        struct sl_json *now = yaml(rows[i].now);
        struct sl_json *old = rows[i].old == NULL ? NULL : yaml(rows[i].old);
        enum sl_code code = sl_object_validate(f->kind, now, old, &e);
        bool said = rows[i].field == NULL ? code == SL_CODE_OK
                                          : code == SL_CODE_INVALID && e.cause_count == 1 &&
                                                strcmp(e.causes[0].field, rows[i].field) == 0 &&
                                                strstr(e.causes[0].text, rows[i].says) != NULL;
        if (!said) {
            fail_msg("row %zu: %s", i, code == SL_CODE_OK ? "accepted" : e.text);
        }
        sl_json_free(now);
        sl_json_free(old);
    }
}

static void write_file(const char *path, const char *text)
{
    FILE *file = fopen(path, "w");
    assert_non_null(file);
    fputs(text, file);
    fclose(file);
}

static void test_adapters_directory_with_one_bad_file_loads_none(void **state)
{
    (void)state;
    char dir[] = "/tmp/sluice-adapters-XXXXXX", good[64], bad[64], other[64];
    struct sl_error e = {0};
    assert_non_null(mkdtemp(dir));
    snprintf(good, sizeof good, "%s/a.yaml", dir);
    snprintf(bad, sizeof bad, "%s/b.yaml", dir);
    snprintf(other, sizeof other, "%s/c.txt", dir);
    write_file(good, HEAD SETS TAIL "suspend: s\n");
    write_file(other, "not looked at");
    sl_adapters_forget();
    assert_int_equal(sl_adapters_load(dir, &e), SL_CODE_OK);
    assert_int_equal(sl_adapters_count(), 1);
    sl_adapters_forget();
    write_file(bad, "");
    assert_int_equal(sl_adapters_load(dir, &e), SL_CODE_INVALID);
    assert_non_null(strstr(e.text, "b.yaml: is empty"));
    assert_int_equal(sl_adapters_count(), 0);
    unlink(good);
    unlink(bad);
    unlink(other);
    rmdir(dir);
    assert_int_equal(sl_adapters_load(dir, &e), SL_CODE_NOT_FOUND);
}

#define CASE(name) cmocka_unit_test_setup_teardown(name, shipped_setup, shipped_teardown)

int main(void)
{
    const struct CMUnitTest tests[] = {
        CASE(test_adapters_jobset_has_a_pod_set_for_each_replicated_job),
        CASE(test_adapters_jobset_is_injected_and_restored),
        CASE(test_adapters_jobset_says_how_it_goes),
        CASE(test_adapters_sums_too_large_to_count_are_large),
        CASE(test_adapters_rayjob_has_head_groups_and_submitter),
        CASE(test_adapters_rayjob_ends_with_its_deployment),
        CASE(test_adapters_pytorchjob_has_the_replicas_that_are_there),
        CASE(test_adapters_kubeflow_jobs_have_the_replicas_of_their_kind),
        CASE(test_adapters_mpijob_has_launcher_and_workers),
        CASE(test_adapters_appwrapper_takes_paths_with_brackets),
        CASE(test_adapters_appwrapper_gets_pod_set_infos),
        CASE(test_adapters_kind_without_a_flag_is_suspended_by_its_count),
        CASE(test_adapters_object_without_its_template_is_refused),
        CASE(test_adapters_object_with_too_many_pod_sets_is_refused),
        CASE(test_adapters_make_the_kinds_that_their_files_name),
        CASE(test_adapters_refuse_what_their_files_say_cannot_be_counted),
        CASE(test_adapters_bad_files_are_refused_with_file_and_field),
        CASE(test_adapters_own_kind_needs_no_more_than_a_file),
        CASE(test_adapters_refusals_are_said_where_objects_are_written),
        CASE(test_adapters_directory_with_one_bad_file_loads_none),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
