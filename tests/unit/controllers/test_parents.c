/* SPDX-License-Identifier: Apache-2.0
 * SPDX-FileCopyrightText: The Sluice authors */

/* Parents of groups of pods, over an in-memory client: their Workloads, and their pods as members. */
#include "shipped.h"
#include "base/clock.h"
#include "engine/parents.h"
#include "controllers/jobs/podjob.h"
#include "controllers/serving/parents.h"
#include "fake_client.h"

#define T0 1700000000000
#define QUEUE "kueue.x-k8s.io/queue-name: lq"
#define PARENT "kueue.x-k8s.io/pod-suspending-parent"

static unsigned stopped;

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
    stopped++;
}

bool sl_engine_reclaims(const struct sl_engine *g)
{
    (void)g;
    return false;
}

bool sl_engine_waits_for_pods(const struct sl_engine *g)
{
    (void)g;
    return false;
}

struct fixture {
    struct fake fake;
    struct sl_recorder *recorder;
    struct sl_job_rules rules;
    struct sl_jobs jobs;
    struct sl_parents parents;
    enum sl_kind set, group_set; /* StatefulSet, LeaderWorkerSet */
};

static void begin(struct fixture *f)
{
    sl_jobs_init(&f->jobs, &f->fake.client, f->recorder, NULL, &f->rules);
    sl_parents_init(&f->parents, &f->jobs, &f->fake.client, f->recorder);
}

static void end(struct fixture *f)
{
    sl_parents_fini(&f->parents);
    sl_jobs_fini(&f->jobs);
}

static int setup(void **state)
{
    struct fixture *f = sl_mem_new(1, sizeof *f);
    struct sl_error e = {0};
    sl_clock_set_virtual(T0);
    stopped = 0;
    if (sl_adapters_load("deploy/adapters", &e) != SL_CODE_OK) {
        fail_msg("%s", e.text);
    }
    f->set = sl_kind_find_name("statefulset");
    f->group_set = sl_kind_find_name("leaderworkerset");
    fake_init(&f->fake);
    f->recorder = sl_recorder_new(&f->fake.client);
    begin(f);
    *state = f;
    return 0;
}

static int teardown(void **state)
{
    struct fixture *f = *state;
    fake_flush(&f->fake);
    end(f);
    fake_fini(&f->fake);
    sl_recorder_free(f->recorder);
    sl_mem_free(f);
    sl_adapters_forget();
    return 0;
}

static void observe(struct fixture *f, enum sl_kind kind, const struct sl_json *o, bool deleted)
{
    sl_jobs_observe(&f->jobs, kind, o, deleted, T0);
    sl_parents_observe(&f->parents, kind, o, deleted);
}

static void show(struct fixture *f, enum sl_kind kind, const char *name)
{
    struct sl_json *o = fake_find(&f->fake, kind, "ns", name);
    if (o != NULL) {
        struct sl_json *seen = sl_json_clone(o);
        observe(f, kind, seen, false);
        sl_json_free(seen);
    }
}

static void forget(struct fixture *f, enum sl_kind kind, const char *name)
{
    char key[512];
    union sl_map_value old;
    fake_key(kind, "ns", name, key);
    assert_true(sl_map_remove(f->fake.objects, key, &old));
    observe(f, kind, old.pointer, true);
    sl_json_free(old.pointer);
}

static void settle(struct fixture *f)
{
    (void)sl_parents_step(&f->parents, T0, 16);
    fake_flush(&f->fake);
}

/* The parent is put in, or changed, and looked at. */
static void put(struct fixture *f, enum sl_kind kind, const char *text)
{
    fake_put(&f->fake, kind, yaml(text));
    show(f, kind, "a");
    settle(f);
}

static const char *name_of(enum sl_kind kind, const char *owner, const char *uid)
{
    static char name[254];
    for (size_t i = 0; i < sl_adapters_count(); i++) {
        if (sl_adapters_at(i)->kind == kind) {
            sl_framework_workload_name(sl_adapters_at(i), owner, uid, name);
        }
    }
    return name;
}

static struct sl_json *workload(struct fixture *f, enum sl_kind kind, const char *owner)
{
    return fake_find(&f->fake, SL_KIND_WORKLOAD, "ns", name_of(kind, owner, "u"));
}

static void show_workload(struct fixture *f, enum sl_kind kind, const char *owner)
{
    show(f, SL_KIND_WORKLOAD, name_of(kind, owner, "u"));
    settle(f);
}

/* As the engine would write it. */
static void say(struct fixture *f, enum sl_kind kind, const char *owner, const char *type)
{
    struct sl_json *wl = workload(f, kind, owner);
    sl_condition_set(sl_json_path_make(wl, "status"), type, true, "Because", "because", 1, T0);
    show_workload(f, kind, owner);
}

static bool has_event(struct fixture *f, const char *reason)
{
    size_t cursor = 0;
    const char *key;
    union sl_map_value value;
    bool found = false;
    while (sl_map_next(f->fake.objects, &cursor, &key, &value)) {
        found = found || strcmp(sl_json_path_text(value.pointer, "reason", ""), reason) == 0;
    }
    return found;
}

static void put_set(struct fixture *f, int replicas, const char *labels, const char *cpu)
{
    char text[600];
    (void)snprintf(text, sizeof text,
                   "{metadata: {name: a, namespace: ns, uid: u, labels: {%s}}, spec: {replicas: "
                   "%d, template: {metadata: {annotations: {" PARENT ": statefulset}}, spec: "
                   "{containers: [{name: c, resources: {requests: {cpu: '%s'}}}]}}}}",
                   labels, replicas, cpu);
    put(f, f->set, text);
}

#define OURS "metadata: {annotations: {" PARENT ": leaderworkerset.x-k8s.io/leaderworkerset}}"

static void put_group_set(struct fixture *f, int replicas, const char *more)
{
    char text[1000];
    (void)snprintf(text, sizeof text,
                   "{metadata: {name: a, namespace: ns, uid: u, labels: {" QUEUE
                   "}}, spec: {replicas: %d, leaderWorkerTemplate: {size: 2, "
                   "leaderTemplate: {" OURS ", spec: {containers: [{name: l}]}}, "
                   "workerTemplate: {" OURS ", spec: {containers: [{name: w}]}}}%s}",
                   replicas, more);
    put(f, f->group_set, text);
}

static struct sl_json *put_pod(struct fixture *f, const char *name, const char *metadata)
{
    char text[900];
    (void)snprintf(text, sizeof text,
                   "{metadata: {name: %s, namespace: ns, uid: uid-%s, %s}, spec: {schedulingGates: "
                   "[{name: kueue.x-k8s.io/admission}], containers: [{name: c}]}}",
                   name, name, metadata);
    fake_put(&f->fake, SL_KIND_POD, yaml(text));
    show(f, SL_KIND_POD, name);
    settle(f);
    return fake_find(&f->fake, SL_KIND_POD, "ns", name);
}

#define OF_SET                                                                                     \
    "annotations: {" PARENT ": statefulset}, ownerReferences: [{apiVersion: apps/v1, kind: "       \
    "StatefulSet, name: a, uid: u, controller: true}]"
#define LWS "leaderworkerset.sigs.k8s.io/"
#define OF_GROUP_SET(index, more)                                                                  \
    "labels: {" LWS "name: a" index "}, annotations: {" PARENT                                     \
    ": leaderworkerset.x-k8s.io/leaderworkerset" more "}"

/* --- one group -------------------------------------------------------------------------------- */

static void test_parents_group_has_its_workload_before_its_pods(void **state)
{
    struct fixture *f = *state;
    put_set(f, 2, QUEUE, "1");
    struct sl_json *wl = workload(f, f->set, "a");
    assert_non_null(wl);
    assert_int_equal(sl_json_path_int(wl, "spec.podSets.0.count", 0), 2);
    assert_string_equal(sl_json_path_text(wl, "spec.queueName", ""), "lq");
    assert_null(sl_object_controller_ref(wl));
    assert_string_equal(sl_json_path_text(wl, "metadata.ownerReferences.0.uid", ""), "u");
    assert_string_equal(sl_object_label(wl, SL_LABEL_JOB_UID), "u");
    assert_string_equal(sl_object_annotation(wl, SL_GROUP_WORKLOAD), "true");
    assert_string_equal(sl_object_annotation(wl, "kueue.x-k8s.io/job-owner-gvk"),
                        "apps/v1, Kind=StatefulSet");
    assert_true(has_event(f, "CreatedWorkload"));
}

static void test_parents_pod_becomes_a_member(void **state)
{
    struct fixture *f = *state;
    put_set(f, 2, QUEUE ", kueue.x-k8s.io/priority-class: p", "1");
    struct sl_json *pod = put_pod(f, "a-0", OF_SET);
    assert_string_equal(sl_podjob_group(pod), name_of(f->set, "a", "u"));
    assert_string_equal(sl_job_prebuilt(pod), name_of(f->set, "a", "u"));
    assert_string_equal(sl_object_label(pod, SL_POD_MANAGED), "true");
    assert_string_equal(sl_object_label(pod, SL_LABEL_QUEUE), "lq");
    assert_string_equal(sl_object_label(pod, SL_LABEL_PRIORITY_CLASS), "p");
    assert_true(sl_podjob_says(pod, SL_POD_GROUP_SERVING, "true"));
    assert_true(sl_podjob_says(pod, SL_POD_GROUP_FAST, "true"));
    assert_true(sl_podjob_says(pod, SL_POD_ROLE, "main"));
    assert_int_equal(sl_podjob_total(pod), 2);
}

static void test_parents_member_follows_the_queue_while_it_is_gated(void **state)
{
    struct fixture *f = *state;
    put_set(f, 1, QUEUE, "1");
    (void)put_pod(f, "a-0", OF_SET);
    put_set(f, 1, "kueue.x-k8s.io/queue-name: other", "1");
    struct sl_json *pod = fake_find(&f->fake, SL_KIND_POD, "ns", "a-0");
    assert_string_equal(sl_object_label(pod, SL_LABEL_QUEUE), "other");
    assert_string_equal(sl_json_path_text(workload(f, f->set, "a"), "spec.queueName", ""), "other");
    sl_json_remove(sl_json_get(pod, "spec"), "schedulingGates");
    put_set(f, 1, QUEUE, "1");
    pod = fake_find(&f->fake, SL_KIND_POD, "ns", "a-0");
    assert_string_equal(sl_object_label(pod, SL_LABEL_QUEUE), "other");
}

static void test_parents_pods_of_others_are_left_alone(void **state)
{
    struct fixture *f = *state;
    put_set(f, 1, QUEUE, "1");
    assert_null(sl_podjob_group(put_pod(f, "b-0", "annotations: {" PARENT ": statefulset}")));
    assert_null(sl_podjob_group(put_pod(f, "b-1", "annotations: {" PARENT ": other}")));
    struct sl_json *pod = put_pod(f, "a-0", "deletionTimestamp: '2023-11-14T22:13:20Z', " OF_SET);
    assert_null(sl_podjob_group(pod));
}

static void test_parents_without_a_queue_or_of_another_parent_have_no_workload(void **state)
{
    struct fixture *f = *state;
    put_set(f, 1, "x: y", "1");
    assert_null(workload(f, f->set, "a"));
    put(f, f->set,
        "{metadata: {name: a, namespace: ns, uid: u, labels: {" QUEUE
        "}}, spec: {template: {metadata: {annotations: {" PARENT
        ": other}}, spec: {containers: [{name: c}]}}}}");
    assert_null(workload(f, f->set, "a"));
    assert_false(has_event(f, "PodsNotGrouped"));
    put(f, f->set,
        "{metadata: {name: a, namespace: ns, uid: u, labels: {" QUEUE
        "}}, spec: {template: {spec: {containers: [{name: c}]}}}}");
    assert_null(workload(f, f->set, "a")); /* its pods are queued each by itself, or not at all */
    assert_true(has_event(f, "PodsNotGrouped"));
}

static void test_parents_that_are_not_enabled_are_left_alone(void **state)
{
    static const char *const only[] = {"batch/job"};
    struct fixture *f = *state;
    end(f);
    f->rules = (struct sl_job_rules){.framework_count = 1, .frameworks = only};
    begin(f);
    put_set(f, 1, QUEUE, "1");
    assert_null(workload(f, f->set, "a"));
    assert_false(sl_jobs_enabled(&f->rules, &sl_pod_framework));
    f->rules.frameworks = (const char *const[]){"statefulset"};
    assert_true(sl_jobs_enabled(&f->rules, &sl_pod_framework)); /* its pods are the jobs */
    f->rules.frameworks = (const char *const[]){SL_FRAMEWORK_DEPLOYMENT};
    assert_true(sl_jobs_enabled(&f->rules, &sl_pod_framework));
}

static void test_parents_without_a_template_are_reported(void **state)
{
    struct fixture *f = *state;
    put(f, f->set, "{metadata: {name: a, namespace: ns, uid: u, labels: {" QUEUE "}}, spec: {}}");
    assert_null(workload(f, f->set, "a"));
    assert_true(has_event(f, "ErrWorkloadCompose"));
}

static void test_parents_of_a_class_that_is_missing_wait_for_it(void **state)
{
    struct fixture *f = *state;
    put_set(f, 1, QUEUE ", kueue.x-k8s.io/priority-class: high", "1");
    assert_null(workload(f, f->set, "a"));
    fake_put(&f->fake, SL_KIND_WORKLOAD_PRIORITY_CLASS, yaml("{metadata: {name: high}, value: 7}"));
    struct sl_json *class = yaml("{metadata: {name: high}, value: 7}");
    observe(f, SL_KIND_WORKLOAD_PRIORITY_CLASS, class, false);
    sl_json_free(class);
    settle(f);
    assert_int_equal(sl_json_path_int(workload(f, f->set, "a"), "spec.priority", 0), 7);
}

static void test_parents_scaled_to_zero_are_on_hold_when_their_pods_are_gone(void **state)
{
    struct fixture *f = *state;
    put_set(f, 1, QUEUE, "1");
    (void)put_pod(f, "a-0", OF_SET);
    say(f, f->set, "a", "QuotaReserved");
    say(f, f->set, "a", "Admitted");
    put_set(f, 0, QUEUE, "1");
    assert_true(sl_condition_true(workload(f, f->set, "a"), "QuotaReserved"));
    forget(f, SL_KIND_POD, "a-0");
    settle(f);
    struct sl_json *wl = workload(f, f->set, "a");
    const struct sl_json *reserved = sl_condition_find(wl, "QuotaReserved");
    assert_string_equal(sl_json_path_text(reserved, "reason", ""), "OnHold");
    assert_string_equal(sl_json_path_text(reserved, "message", ""),
                        "StatefulSet scaled to zero; workload on hold");
    assert_false(sl_condition_true(wl, "Admitted"));
    unsigned writes = f->fake.change_count;
    show_workload(f, f->set, "a");
    assert_int_equal(f->fake.change_count, writes);

    put_set(f, 3, QUEUE, "1"); /* first it is counted anew, then let go */
    wl = workload(f, f->set, "a");
    assert_int_equal(sl_json_path_int(wl, "spec.podSets.0.count", 0), 3);
    show_workload(f, f->set, "a");
    reserved = sl_condition_find(workload(f, f->set, "a"), "QuotaReserved");
    assert_string_equal(sl_json_path_text(reserved, "reason", ""), "Pending");
}

static void test_parents_of_no_replicas_get_no_workload(void **state)
{
    struct fixture *f = *state;
    put_set(f, 0, QUEUE, "1");
    assert_null(workload(f, f->set, "a"));
}

static void test_parents_that_ask_for_other_pods_are_counted_anew(void **state)
{
    static const char path[] = "spec.podSets.0.template.spec.containers.0.resources.requests.cpu";
    struct fixture *f = *state;
    put_set(f, 1, QUEUE, "1");
    put_set(f, 1, QUEUE, "2");
    assert_string_equal(sl_json_path_text(workload(f, f->set, "a"), path, ""), "2");
    say(f, f->set, "a", "QuotaReserved");
    put_set(f, 1, QUEUE, "3");
    assert_null(workload(f, f->set, "a")); /* what was admitted goes, its pods with it */
}

static void test_parents_evicted_without_pods_are_stopped(void **state)
{
    struct fixture *f = *state;
    put_set(f, 1, QUEUE, "1");
    say(f, f->set, "a", "QuotaReserved");
    assert_int_equal(stopped, 0);
    say(f, f->set, "a", "Evicted");
    assert_true(stopped > 0);
}

static void test_parents_evicted_with_members_stop_with_them(void **state)
{
    struct fixture *f = *state;
    put_set(f, 1, QUEUE, "1");
    (void)put_pod(f, "a-0", OF_SET);
    show(f, SL_KIND_POD, "a-0");
    say(f, f->set, "a", "QuotaReserved");
    say(f, f->set, "a", "Evicted");
    assert_int_equal(stopped, 0); /* that is said when the members have been looked at */
}

/* Its pods may come late; it is left over when what would make them is deleted, too. */
static void test_parents_workload_without_members_is_not_left_over(void **state)
{
    struct fixture *f = *state;
    put_set(f, 1, QUEUE, "1");
    show_workload(f, f->set, "a");
    (void)sl_jobs_step(&f->jobs, T0, 16);
    fake_flush(&f->fake);
    assert_true(sl_workload_has_finalizer(workload(f, f->set, "a")));
    forget(f, f->set, "a");
    show_workload(f, f->set, "a");
    (void)sl_jobs_step(&f->jobs, T0, 16);
    fake_flush(&f->fake);
    assert_false(sl_workload_has_finalizer(workload(f, f->set, "a")));
}

/* --- names ------------------------------------------------------------------------------------ */

static void test_parents_workload_of_the_old_name_is_kept(void **state)
{
    struct fixture *f = *state;
    char old[254];
    char text[600];
    (void)snprintf(old, sizeof old, "%s", name_of(f->set, "a", ""));
    (void)snprintf(text, sizeof text,
                   "{metadata: {name: %s, namespace: ns, uid: w, annotations: {" SL_GROUP_WORKLOAD
                   ": 'true'}, ownerReferences: [{kind: Pod, name: p, uid: p}]}, spec: {}}",
                   old);
    fake_put(&f->fake, SL_KIND_WORKLOAD, yaml(text));
    put_set(f, 1, QUEUE, "1");
    assert_null(workload(f, f->set, "a"));
    const struct sl_json *owners =
        sl_json_path(fake_find(&f->fake, SL_KIND_WORKLOAD, "ns", old), "metadata.ownerReferences");
    assert_int_equal(sl_json_len(owners), 2);
    assert_non_null(sl_json_find_by(owners, "uid", "u"));
}

/* One of today's name comes first, as in Kueue: its pods run by it. */
static void test_parents_workload_of_the_old_name_comes_second(void **state)
{
    struct fixture *f = *state;
    char old[254];
    char text[600];
    (void)snprintf(old, sizeof old, "%s", name_of(f->set, "a", ""));
    put_set(f, 1, QUEUE, "1");
    assert_non_null(workload(f, f->set, "a"));
    (void)snprintf(text, sizeof text,
                   "{metadata: {name: %s, namespace: ns, uid: w, annotations: {" SL_GROUP_WORKLOAD
                   ": 'true'}}, spec: {}}",
                   old);
    fake_put(&f->fake, SL_KIND_WORKLOAD, yaml(text));
    put_set(f, 1, QUEUE, "1");
    assert_non_null(workload(f, f->set, "a"));
    assert_null(
        sl_json_path(fake_find(&f->fake, SL_KIND_WORKLOAD, "ns", old), "metadata.ownerReferences"));
}

static void test_parents_workload_of_something_else_is_a_conflict(void **state)
{
    struct fixture *f = *state;
    char text[600];
    (void)snprintf(text, sizeof text, "{metadata: {name: %s, namespace: ns, uid: w}, spec: {}}",
                   name_of(f->set, "a", "u"));
    fake_put(&f->fake, SL_KIND_WORKLOAD, yaml(text));
    put_set(f, 1, QUEUE, "1");
    assert_true(has_event(f, "WorkloadNameConflict"));
    assert_null(sl_json_path(workload(f, f->set, "a"), "metadata.ownerReferences"));
}

/* --- several groups --------------------------------------------------------------------------- */

static void test_parents_each_group_has_a_workload_and_others_go(void **state)
{
    struct fixture *f = *state;
    put_group_set(f, 2, "}");
    struct sl_json *wl = workload(f, f->group_set, "a-1");
    assert_non_null(workload(f, f->group_set, "a-0"));
    assert_string_equal(sl_object_annotation(wl, "kueue.x-k8s.io/component-workload-index"), "1");
    assert_string_equal(sl_json_path_text(wl, "spec.podSets.0.name", ""), "leader");
    assert_string_equal(sl_json_path_text(wl, "spec.podSets.1.name", ""), "worker");
    assert_int_equal(sl_json_path_int(wl, "spec.podSets.1.count", 0), 1);
    show_workload(f, f->group_set, "a-0");
    show_workload(f, f->group_set, "a-1");
    put_group_set(f, 1, "}");
    assert_non_null(workload(f, f->group_set, "a-0"));
    assert_null(workload(f, f->group_set, "a-1"));
}

static void test_parents_groups_of_a_surge_are_kept(void **state)
{
    struct fixture *f = *state;
    put_group_set(
        f, 1,
        ", rolloutStrategy: {rollingUpdateConfiguration: {maxSurge: 1}}}, status: {replicas: 2}");
    assert_non_null(workload(f, f->group_set, "a-1"));
    assert_null(workload(f, f->group_set, "a-2"));
}

static void test_parents_many_groups_are_made_in_turns(void **state)
{
    struct fixture *f = *state;
    f->fake.change_count = 0;
    put_group_set(f, 100, "}");
    assert_non_null(workload(f, f->group_set, "a-0"));
    assert_null(workload(f, f->group_set, "a-60"));
    for (int i = 0; i < 8; i++) {
        settle(f);
    }
    assert_non_null(workload(f, f->group_set, "a-99"));
}

/* Whoever asks for a million groups holds nobody up. */
static void test_parents_looks_at_very_many_groups_are_short(void **state)
{
    struct fixture *f = *state;
    put_group_set(f, 1000000, "}");
    assert_non_null(workload(f, f->group_set, "a-0"));
    assert_in_range(f->fake.read_count, 1, 4000);
}

/* What changes of the first groups while the last ones are looked at is not forgotten. */
static void test_parents_groups_that_change_during_a_round_are_looked_at_again(void **state)
{
    struct fixture *f = *state;
    put_group_set(f, 100, "}");
    forget(f, SL_KIND_WORKLOAD, name_of(f->group_set, "a-0", "u"));
    for (int i = 0; i < 20; i++) {
        settle(f);
    }
    assert_non_null(workload(f, f->group_set, "a-99"));
    assert_non_null(workload(f, f->group_set, "a-0"));
}

static void test_parents_pods_go_to_their_groups_and_pod_sets(void **state)
{
    struct fixture *f = *state;
    put_group_set(f, 2, "}");
    struct sl_json *leader = put_pod(f, "a-1", OF_GROUP_SET(", " LWS "group-index: '1'", ""));
    assert_string_equal(sl_podjob_group(leader), name_of(f->group_set, "a-1", "u"));
    assert_true(sl_podjob_says(leader, SL_POD_ROLE, "leader"));
    struct sl_json *worker =
        put_pod(f, "a-1-1", OF_GROUP_SET(", " LWS "group-index: '1'", ", " LWS "leader-name: a-1"));
    assert_string_equal(sl_podjob_group(worker), name_of(f->group_set, "a-1", "u"));
    assert_true(sl_podjob_says(worker, SL_POD_ROLE, "worker"));
    assert_null(sl_podjob_group(put_pod(f, "early", OF_GROUP_SET("", ""))));
    assert_null(sl_podjob_group(put_pod(f, "odd", OF_GROUP_SET(", " LWS "group-index: '-1'", ""))));
}

#define CASE(name) cmocka_unit_test_setup_teardown(name, setup, teardown)

int main(void)
{
    const struct CMUnitTest tests[] = {
        CASE(test_parents_group_has_its_workload_before_its_pods),
        CASE(test_parents_pod_becomes_a_member),
        CASE(test_parents_member_follows_the_queue_while_it_is_gated),
        CASE(test_parents_pods_of_others_are_left_alone),
        CASE(test_parents_without_a_queue_or_of_another_parent_have_no_workload),
        CASE(test_parents_that_are_not_enabled_are_left_alone),
        CASE(test_parents_without_a_template_are_reported),
        CASE(test_parents_of_a_class_that_is_missing_wait_for_it),
        CASE(test_parents_scaled_to_zero_are_on_hold_when_their_pods_are_gone),
        CASE(test_parents_of_no_replicas_get_no_workload),
        CASE(test_parents_that_ask_for_other_pods_are_counted_anew),
        CASE(test_parents_evicted_without_pods_are_stopped),
        CASE(test_parents_evicted_with_members_stop_with_them),
        CASE(test_parents_workload_without_members_is_not_left_over),
        CASE(test_parents_workload_of_the_old_name_is_kept),
        CASE(test_parents_workload_of_the_old_name_comes_second),
        CASE(test_parents_workload_of_something_else_is_a_conflict),
        CASE(test_parents_each_group_has_a_workload_and_others_go),
        CASE(test_parents_groups_of_a_surge_are_kept),
        CASE(test_parents_many_groups_are_made_in_turns),
        CASE(test_parents_looks_at_very_many_groups_are_short),
        CASE(test_parents_groups_that_change_during_a_round_are_looked_at_again),
        CASE(test_parents_pods_go_to_their_groups_and_pod_sets),
    };
    return cmocka_run_group_tests_name("parents", tests, NULL, NULL);
}
