/* SPDX-License-Identifier: Apache-2.0
 * SPDX-FileCopyrightText: The Sluice authors */

/* Elastic jobs of Ray's kinds by their shipped files, step by step, over a fake client; the test does what the engine and KubeRay
 * would. */
#include "t.h"
#include "base/clock.h"
#include "engine/parents.h"
#include "controllers/jobs/job_slices.h"
#include "controllers/jobs/jobs.h"
#include "fake_client.h"
#include "shipped.h"

#define T0 1700000000000

struct fixture {
    struct fake fake;
    struct sl_recorder *recorder;
    struct sl_jobs jobs;
    enum sl_kind kind; /* of the job */
    unsigned made;     /* Workloads that have got their uid */
    int64_t now_ms;
};

bool sl_engine_reclaims(const struct sl_engine *g)
{
    (void)g;
    return true;
}

bool sl_engine_waits_for_pods(const struct sl_engine *g)
{
    (void)g;
    return true;
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

static enum sl_kind cluster_kind(void)
{
    return framework("ray.io/raycluster")->kind;
}

static int setup(void **state)
{
    struct fixture *f = sl_mem_new(1, sizeof *f);
    static const struct sl_job_rules rules = {.elastic = true};
    shipped_setup(state);
    sl_clock_set_virtual(T0);
    f->now_ms = T0;
    fake_init(&f->fake);
    f->recorder = sl_recorder_new(&f->fake.client);
    sl_jobs_init(&f->jobs, &f->fake.client, f->recorder, NULL, &rules);
    fake_put(&f->fake, SL_KIND_RESOURCE_FLAVOR,
             yaml("{metadata: {name: spot}, spec: {nodeLabels: {m: s}}}"));
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
    return shipped_teardown(state);
}

/* --- the objects --------------------------------------------------------------------------------------- */

#define CLUSTER                                                                                    \
    "{headGroupSpec: {template: {spec: {containers: [{name: h}]}}}, workerGroupSpecs: ["           \
    "{groupName: small, replicas: 2, template: {spec: {containers: [{name: w}]}}},"                \
    "{groupName: Big, replicas: 1, numOfHosts: 2, template: {spec: {containers: [{name: w}]}}}]}"
#define META(name, uid) "metadata: {name: " name ", namespace: a, uid: " uid ", generation: 1"
#define MARKS                                                                                      \
    "labels: {kueue.x-k8s.io/queue-name: q}, annotations: {kueue.x-k8s.io/elastic-job: 'true'}"

static struct sl_json *job(struct fixture *f)
{
    return fake_find(&f->fake, f->kind, "a", "j");
}

static void put_cluster(struct fixture *f)
{
    f->kind = cluster_kind();
    struct sl_json *o = yaml("{apiVersion: ray.io/v1, kind: RayCluster, " META(
        "j", "u") ", " MARKS "}, spec: " CLUSTER "}");
    sl_json_set_bool(sl_json_get(o, "spec"), "suspend", true);
    fake_put(&f->fake, f->kind, o);
}

static void put_job(struct fixture *f)
{
    f->kind = framework("ray.io/rayjob")->kind;
    fake_put(
        &f->fake, f->kind,
        yaml("{apiVersion: ray.io/v1, kind: RayJob, " META(
            "j", "u") ", " MARKS
                      "}, spec: {suspend: true, submissionMode: HTTPMode, rayClusterSpec: " CLUSTER
                      "}}"));
}

static struct sl_json *child(struct fixture *f)
{
    return fake_find(&f->fake, cluster_kind(), "a", "c");
}

/* As KubeRay makes it, by a job whose uid is that. */
static void put_child(struct fixture *f, const char *uid)
{
    struct sl_json *o = yaml("{apiVersion: ray.io/v1, kind: RayCluster, " META(
        "c", "uc") ", " MARKS ", ownerReferences: [{apiVersion: ray.io/v1, kind: RayJob, name: j, "
                   "controller: true}]}, spec: " CLUSTER "}");
    sl_json_set_text(sl_json_at(sl_json_path(o, "metadata.ownerReferences"), 0), "uid", uid);
    fake_put(&f->fake, cluster_kind(), o);
    sl_json_set_text(sl_json_path_make(job(f), "status"), "rayClusterName", "c");
    sl_json_set_text(sl_json_path_make(job(f), "status"), "jobDeploymentStatus", "Running");
}

static void scale(struct sl_json *cluster, size_t group, int64_t replicas)
{
    struct sl_json *groups = sl_json_path(cluster, "spec.workerGroupSpecs");
    sl_json_set_int(sl_json_at(groups, group), "replicas", replicas);
    sl_json_set_int(sl_json_get(cluster, "metadata"), "generation",
                    sl_object_generation(cluster) + 1);
}

/* The Workload with that number, in the order in which they were made; NULL: there is none. */
static struct sl_json *workload(struct fixture *f, unsigned number)
{
    char uid[16], prefix[16];
    struct sl_json *found = NULL;
    snprintf(uid, sizeof uid, "w%u", number);
    snprintf(prefix, sizeof prefix, "%d/", (int)SL_KIND_WORKLOAD);
    for (struct sl_map_item e = {0}; sl_map_each(f->fake.objects, &e);) {
        if (strncmp(e.key, prefix, strlen(prefix)) == 0 &&
            strcmp(sl_object_uid(e.value.pointer), uid) == 0) {
            found = e.value.pointer;
        }
    }
    return found;
}

/* What the API server gives a new object. */
static void complete(struct fixture *f)
{
    char prefix[16];
    snprintf(prefix, sizeof prefix, "%d/", (int)SL_KIND_WORKLOAD);
    for (struct sl_map_item e = {0}; sl_map_each(f->fake.objects, &e);) {
        struct sl_json *o = e.value.pointer;
        if (strncmp(e.key, prefix, strlen(prefix)) == 0 && sl_object_uid(o)[0] == '\0') {
            char text[32];
            snprintf(text, sizeof text, "w%u", ++f->made);
            sl_json_set_text(sl_json_get(o, "metadata"), "uid", text);
            sl_clock_format(T0 + 1000 * (int64_t)f->made, text);
            sl_json_set_text(sl_json_get(o, "metadata"), "creationTimestamp", text);
        }
    }
}

static void see(struct fixture *f, enum sl_kind kind, struct sl_json *o)
{
    struct sl_json *seen = o == NULL ? NULL : sl_json_clone(o);
    if (seen != NULL) {
        sl_jobs_observe(&f->jobs, kind, seen, false, f->now_ms);
    }
    sl_json_free(seen);
}

/* What was changed is seen, or the child alone; and the controller looks until it has nothing more to write. */
static void settle_after(struct fixture *f, bool child_alone)
{
    unsigned before, rounds = 0;
    sl_clock_set_virtual(f->now_ms += 1000);
    do {
        before = f->fake.change_count;
        complete(f);
        see(f, f->kind, child_alone ? NULL : job(f));
        see(f, cluster_kind(), child(f));
        for (unsigned i = 1; i <= f->made; i++) {
            see(f, SL_KIND_WORKLOAD, workload(f, i));
        }
        (void)sl_jobs_step(&f->jobs, f->now_ms, 16);
        fake_flush(&f->fake);
        assert_true(++rounds < 40);
    } while (f->fake.change_count != before);
    complete(f);
}

static void settle(struct fixture *f)
{
    settle_after(f, false);
}

static void set(struct sl_json *wl, const char *condition, bool value)
{
    sl_condition_set(sl_json_path_make(wl, "status"), condition, value, "Test", "by the test", 0,
                     T0);
}

/* What the engine decides. */
static void reserve(struct sl_json *wl)
{
    struct sl_json *list = sl_json_new_list();
    for (size_t i = 0; sl_workload_pod_set(wl, i) != NULL; i++) {
        struct sl_json *one = yaml("{flavors: {cpu: spot}}");
        const struct sl_json *pod_set = sl_workload_pod_set(wl, i);
        sl_json_set_text(one, "name", sl_json_path_text(pod_set, "name", ""));
        sl_json_set_int(one, "count", sl_json_path_int(pod_set, "count", 1));
        sl_json_append(list, one);
    }
    struct sl_json *admission = yaml("{clusterQueue: cq}");
    sl_json_set(admission, "podSetAssignments", list);
    sl_json_set(sl_json_path_make(wl, "status"), "admission", admission);
    set(wl, "QuotaReserved", true);
}

static void admit(struct sl_json *wl)
{
    reserve(wl);
    set(wl, "Admitted", true);
}

static void start(struct fixture *f)
{
    settle(f);
    admit(workload(f, 1));
    settle(f);
    assert_false(sl_json_path_bool(job(f), "spec.suspend", true));
}

static void assert_counts(const struct sl_json *wl, int64_t small, int64_t big)
{
    assert_non_null(wl);
    const char *const names[] = {"head", "small", "big"};
    const int64_t counts[] = {1, small, big};
    for (size_t i = 0; i < 3; i++) {
        const struct sl_json *pod_set = sl_workload_pod_set(wl, i);
        assert_string_equal(sl_json_path_text(pod_set, "name", ""), names[i]);
        assert_int_equal(sl_json_path_int(pod_set, "count", -1), counts[i]);
    }
    assert_null(sl_workload_pod_set(wl, 3));
}

static const char *note(const struct sl_json *o, const char *key)
{
    const char *text = sl_object_annotation(o, key);
    return text == NULL ? "" : text;
}

/* --- RayCluster ---------------------------------------------------------------------------------------- */

static void test_ray_slices_pods_of_every_group_are_gated_when_it_starts(void **state)
{
    static const char *const templates[] = {"spec.headGroupSpec.template",
                                            "spec.workerGroupSpecs.0.template",
                                            "spec.workerGroupSpecs.1.template"};
    struct fixture *f = *state;
    put_cluster(f);
    start(f);
    assert_counts(workload(f, 1), 2, 2);
    for (size_t i = 0; i < 3; i++) {
        const struct sl_json *template = sl_json_path(job(f), templates[i]);
        assert_true(sl_template_has_gate(template, SL_GATE_ELASTIC));
        assert_string_equal(note(template, SL_ANNOTATION_SLICE), sl_object_name(workload(f, 1)));
        assert_string_equal(sl_json_path_text(template, "spec.nodeSelector.m", ""), "s");
    }
}

static void test_ray_slices_of_a_cluster_that_grows_are_two_and_it_runs_on(void **state)
{
    struct fixture *f = *state;
    put_cluster(f);
    start(f);
    scale(job(f), 0, 5);
    scale(job(f), 1,
          0); /* fewer of another group: they are given back when the slice is replaced */
    settle(f);
    assert_int_equal(f->made, 2);
    assert_counts(workload(f, 1), 2, 2);
    assert_counts(workload(f, 2), 5, 0);
    assert_true(sl_slice_replaces(workload(f, 2), workload(f, 1)));
    assert_string_equal(note(workload(f, 2), SL_ANNOTATION_SLICE), sl_object_name(workload(f, 1)));
    assert_null(sl_json_path(sl_workload_pod_set(workload(f, 2), 2), "template.spec.nodeSelector"));
    assert_false(sl_json_path_bool(job(f), "spec.suspend", true));
}

static void test_ray_slices_are_not_ready_while_a_group_waits_for_pods(void **state)
{
    struct fixture *f = *state;
    put_cluster(f);
    start(f);
    scale(job(f), 0, 4);
    scale(job(f), 1, 0); /* as many fewer */
    sl_json_set_text(sl_json_path_make(job(f), "status"), "state", "ready");
    settle(f);
    assert_false(sl_condition_true(workload(f, 1), "PodsReady"));
    scale(job(f), 0, 2);
    settle(f);
    assert_true(sl_condition_true(workload(f, 2), "Finished")); /* what it has is enough */
    assert_counts(workload(f, 1), 2, 0);
    assert_true(sl_condition_true(workload(f, 1), "PodsReady"));
}

/* What it asked for was decided before it was changed, and written after. */
static void test_ray_slices_that_got_fewer_than_they_say_by_now_are_replaced(void **state)
{
    struct fixture *f = *state;
    put_cluster(f);
    settle(f);
    admit(workload(f, 1));
    sl_json_set_int(sl_workload_pod_set(workload(f, 1), 1), "count", 4);
    scale(job(f), 0, 4);
    settle(f);
    assert_false(sl_json_path_bool(job(f), "spec.suspend", true));
    assert_int_equal(f->made, 2);
    assert_counts(workload(f, 2), 4, 2);
    assert_true(sl_slice_replaces(workload(f, 2), workload(f, 1)));
    settle(f);
    assert_int_equal(f->made, 2);
    assert_false(sl_json_path_bool(job(f), "spec.suspend", true));
}

static void test_ray_slices_of_a_cluster_that_shrinks_change_in_place(void **state)
{
    struct fixture *f = *state;
    put_cluster(f);
    start(f);
    scale(job(f), 0, 0);
    settle(f);
    assert_int_equal(f->made, 1);
    assert_counts(workload(f, 1), 0, 2);
    assert_false(sl_json_path_bool(job(f), "spec.suspend", true));
}

static void test_ray_slices_without_the_gate_are_none(void **state)
{
    struct fixture *f = *state;
    char name[254];
    f->jobs.rules.elastic = false;
    put_cluster(f);
    start(f);
    sl_framework_workload_name(framework("ray.io/raycluster"), "j", "u", name);
    assert_string_equal(sl_object_name(workload(f, 1)), name);
    scale(job(f), 0, 5);
    settle(f);
    assert_true(sl_json_path_bool(job(f), "spec.suspend", false));
}

/* --- jobs that have made a cluster --------------------------------------------------------------------- */

static void test_ray_slices_of_a_job_follow_its_cluster(void **state)
{
    struct fixture *f = *state;
    put_job(f);
    start(f);
    assert_counts(workload(f, 1), 2, 2);
    put_child(f, "u");
    settle(f);
    assert_int_equal(f->made, 1);
    scale(child(f), 1, 3);
    settle_after(f, true); /* nothing of the job itself has changed */
    assert_int_equal(f->made, 2);
    assert_counts(workload(f, 2), 2, 6);
    assert_true(sl_slice_replaces(workload(f, 2), workload(f, 1)));
    admit(workload(f, 2));
    set(workload(f, 1), "Finished", true);
    settle(f);
    scale(child(f), 0, 4);
    settle_after(f, true);
    assert_int_equal(f->made, 3);
    assert_counts(workload(f, 3), 4, 6);
    assert_false(sl_json_path_bool(child(f), "spec.suspend", false));
    scale(child(f), 0, 1);
    settle_after(f, true);
    assert_true(sl_condition_true(workload(f, 3), "Finished"));
    assert_counts(workload(f, 2), 1, 6);
}

static void test_ray_slices_clusters_of_a_job_run_while_one_is_admitted(void **state)
{
    struct fixture *f = *state;
    put_job(f);
    start(f);
    put_child(f, "u");
    settle(f);
    scale(child(f), 0, 4);
    settle(f);
    reserve(workload(f, 2)); /* its checks are still to come */
    set(workload(f, 1), "Finished", true);
    settle(f);
    assert_false(sl_json_path_bool(child(f), "spec.suspend", false));
    assert_false(sl_json_path_bool(job(f), "spec.suspend", true));
    set(workload(f, 2), "Evicted", true);
    settle(f);
    assert_true(sl_json_path_bool(job(f), "spec.suspend", false));
    assert_true(sl_json_path_bool(child(f), "spec.suspend", false));
}

static void test_ray_slices_do_not_follow_the_cluster_of_another_job(void **state)
{
    struct fixture *f = *state;
    put_job(f);
    start(f);
    put_child(f, "another");
    sl_json_remove(sl_json_path(child(f), "metadata.labels"), SL_LABEL_QUEUE);
    scale(child(f), 1, 3);
    settle(f);
    assert_int_equal(f->made, 1);
    assert_counts(workload(f, 1), 2, 2);
    assert_false(sl_json_path_bool(job(f), "spec.suspend", true));
}

static void test_ray_slices_wait_while_the_cluster_cannot_be_read(void **state)
{
    struct fixture *f = *state;
    put_job(f);
    start(f);
    put_child(f, "u");
    settle(f);
    scale(child(f), 0, 1);
    f->fake.read_code = SL_CODE_UNAVAILABLE;
    f->fake.unread_one = true;
    f->fake.unread = cluster_kind();
    settle(f);
    assert_counts(workload(f, 1), 2, 2);
    assert_false(sl_json_path_bool(job(f), "spec.suspend", true));
    f->fake.read_code = SL_CODE_OK;
    f->now_ms += SL_RETRY_MS;
    (void)sl_jobs_step(&f->jobs, f->now_ms, 16); /* without anything having changed */
    assert_counts(workload(f, 1), 1, 2);
}

static void test_ray_slices_of_jobs_that_are_not_elastic_do_not_follow(void **state)
{
    struct fixture *f = *state;
    put_job(f);
    sl_json_remove(sl_json_path(job(f), "metadata.annotations"), SL_ANNOTATION_ELASTIC);
    start(f);
    put_child(f, "u");
    scale(child(f), 1, 3);
    settle(f);
    assert_int_equal(f->made, 1);
    assert_counts(workload(f, 1), 2, 2);
    assert_false(sl_json_path_bool(job(f), "spec.suspend", true));
}

static void test_ray_slices_are_named_by_the_cluster_too(void **state)
{
    struct fixture *f = *state;
    char name[4][254];
    put_job(f);
    put_child(f, "u");
    struct sl_framework bound = *framework("ray.io/rayjob");
    sl_slice_print_name(&bound, job(f), name[0]);
    struct sl_json *with = sl_json_new_map();
    sl_json_set(with, "cluster", sl_json_clone(child(f)));
    bound.with = with;
    sl_slice_print_name(&bound, job(f), name[1]);
    sl_json_set_int(sl_json_path(with, "cluster.metadata"), "generation", 2);
    sl_slice_print_name(&bound, job(f), name[2]);
    sl_json_set_text(sl_json_path(with, "cluster.metadata"), "uid", "next");
    sl_slice_print_name(&bound, job(f), name[3]);
    for (size_t i = 0; i < 4; i++) {
        for (size_t k = 0; k < i; k++) {
            assert_string_not_equal(name[i], name[k]);
        }
    }
    sl_json_free(with);
}

#define TEST(name) cmocka_unit_test_setup_teardown(name, setup, teardown)

int main(void)
{
    static const struct CMUnitTest tests[] = {
        TEST(test_ray_slices_pods_of_every_group_are_gated_when_it_starts),
        TEST(test_ray_slices_of_a_cluster_that_grows_are_two_and_it_runs_on),
        TEST(test_ray_slices_are_not_ready_while_a_group_waits_for_pods),
        TEST(test_ray_slices_that_got_fewer_than_they_say_by_now_are_replaced),
        TEST(test_ray_slices_of_a_cluster_that_shrinks_change_in_place),
        TEST(test_ray_slices_without_the_gate_are_none),
        TEST(test_ray_slices_of_a_job_follow_its_cluster),
        TEST(test_ray_slices_clusters_of_a_job_run_while_one_is_admitted),
        TEST(test_ray_slices_do_not_follow_the_cluster_of_another_job),
        TEST(test_ray_slices_wait_while_the_cluster_cannot_be_read),
        TEST(test_ray_slices_of_jobs_that_are_not_elastic_do_not_follow),
        TEST(test_ray_slices_are_named_by_the_cluster_too),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
