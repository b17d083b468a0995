/* SPDX-License-Identifier: Apache-2.0
 * SPDX-FileCopyrightText: The Sluice authors */

/* The job controller over several kinds of jobs: JobSets by their adapter, Jobs that belong to one, jobs without a
 * queue name, Workloads that somebody else has made. The engine is a stub. */
#include "shipped.h"
#include "base/clock.h"
#include "engine/parents.h"
#include "controllers/jobs/job.h"
#include "controllers/jobs/jobs.h"
#include "fake_client.h"

#define T0 1700000000000
#define QUEUE "kueue.x-k8s.io/queue-name: q"

struct fixture {
    struct fake fake;
    struct sl_recorder *recorder;
    struct sl_jobs jobs;
    struct sl_job_rules rules;
    struct sl_selector *namespaces;
    enum sl_kind jobset;
};

static unsigned stopped_calls;

bool sl_engine_reclaims(const struct sl_engine *g)
{
    (void)g;
    return true;
}

bool sl_engine_waits_for_pods(const struct sl_engine *g)
{
    (void)g;
    return false;
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
    stopped_calls++;
}

static void begin(struct fixture *f)
{
    sl_jobs_init(&f->jobs, &f->fake.client, f->recorder, NULL, &f->rules);
}

static int setup(void **state)
{
    struct fixture *f = sl_mem_new(1, sizeof *f);
    struct sl_error e = {0};
    sl_clock_set_virtual(T0);
    stopped_calls = 0;
    if (sl_adapters_load("deploy/adapters", &e) != SL_CODE_OK) {
        fail_msg("%s", e.text);
    }
    f->jobset = sl_kind_find_object("jobset.x-k8s.io/v1alpha2", "JobSet");
    fake_init(&f->fake);
    f->recorder = sl_recorder_new(&f->fake.client);
    fake_put(&f->fake, SL_KIND_RESOURCE_FLAVOR,
             yaml("{metadata: {name: spot}, spec: {nodeLabels: {machine: spot}}}"));
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
    sl_selector_free(f->namespaces);
    sl_mem_free(f);
    sl_adapters_forget();
    return 0;
}

static void show(struct fixture *f, enum sl_kind kind, const char *name)
{
    struct sl_json *o = fake_find(&f->fake, kind, "ns", name);
    if (o != NULL) {
        struct sl_json *seen = sl_json_clone(o);
        sl_jobs_observe(&f->jobs, kind, seen, false, T0);
        sl_json_free(seen);
    }
}

static const char *workload_name(const char *kind)
{
    static char name[254];
    for (size_t i = 0; i < sl_adapters_count(); i++) {
        if (strcmp(sl_kind_info(sl_adapters_at(i)->kind)->kind, kind) == 0) {
            sl_framework_workload_name(sl_adapters_at(i), "a", "u", name);
            return name;
        }
    }
    sl_framework_workload_name(&sl_job_framework, "a", "u", name);
    return name;
}

static struct sl_json *workload(struct fixture *f, const char *kind)
{
    return fake_find(&f->fake, SL_KIND_WORKLOAD, "ns", workload_name(kind));
}

/* Until nothing more is written. */
static void settle(struct fixture *f)
{
    unsigned before;
    do {
        before = f->fake.write_count;
        show(f, SL_KIND_JOB, "a");
        show(f, SL_KIND_JOB, "child");
        show(f, f->jobset, "a");
        show(f, SL_KIND_WORKLOAD, workload_name("Job"));
        show(f, SL_KIND_WORKLOAD, workload_name("JobSet"));
        show(f, SL_KIND_WORKLOAD, "made");
        sl_jobs_step(&f->jobs, T0, 16);
        fake_flush(&f->fake);
    } while (f->fake.write_count != before);
}

static struct sl_json *put(struct fixture *f, enum sl_kind kind, const char *text)
{
    struct sl_json *o = yaml(text);
    sl_json_set_text(o, "apiVersion", sl_kind_info(kind)->api_version);
    sl_json_set_text(o, "kind", sl_kind_info(kind)->kind);
    fake_put(&f->fake, kind, o);
    return o;
}

#define JOB(labels, suspend)                                                                       \
    "{metadata: {name: a, namespace: ns, uid: u, labels: {" labels "}}, spec: {suspend: " suspend  \
    ", parallelism: 2, completions: 2, template: {spec: {containers: [{name: c}]}}}}"

static void put_jobset(struct fixture *f)
{
    put(f, f->jobset,
        "{metadata: {name: a, namespace: ns, uid: u, labels: {" QUEUE "}}, spec: {suspend: true,"
        " replicatedJobs: ["
        "  {name: lead, replicas: 1, template: {spec: {template: {spec: {containers: [{name: "
        "l}]}}}}},"
        "  {name: work, replicas: 2, template: {spec: {template: {spec: {containers: [{name: "
        "w}]}}}}}]}}");
}

static void admit_jobset(struct fixture *f)
{
    struct sl_json *status = sl_json_path_make(workload(f, "JobSet"), "status");
    sl_json_set(status, "admission",
                yaml("{clusterQueue: cq, podSetAssignments: [{name: lead, flavors: {}},"
                     " {name: work, flavors: {cpu: spot}}]}"));
    sl_condition_set(status, "QuotaReserved", true, "R", "", 0, T0);
    sl_condition_set(status, "Admitted", true, "R", "", 0, T0);
}

static struct sl_json *jobset(struct fixture *f)
{
    return fake_find(&f->fake, f->jobset, "ns", "a");
}

static const char *machine(struct fixture *f, const char *index)
{
    char path[128];
    snprintf(path, sizeof path,
             "spec.replicatedJobs.%s.template.spec.template.spec.nodeSelector.machine", index);
    return sl_json_path_text(jobset(f), path, "");
}

static void test_jobs_kinds_jobset_runs_and_stops_by_one_write_each(void **state)
{
    struct fixture *f = *state;
    begin(f);
    put_jobset(f);
    settle(f);
    assert_int_equal(sl_json_len(sl_json_path(workload(f, "JobSet"), "spec.podSets")), 2);
    unsigned before = f->fake.change_count;
    admit_jobset(f);
    settle(f);
    assert_false(sl_json_path_bool(jobset(f), "spec.suspend", true));
    assert_string_equal(machine(f, "0"), "");
    assert_string_equal(machine(f, "1"), "spot");
    assert_int_equal(f->fake.change_count, before + 1);

    sl_condition_set(sl_json_get(workload(f, "JobSet"), "status"), "Evicted", true, "Preempted", "",
                     0, T0);
    settle(f);
    assert_true(sl_json_path_bool(jobset(f), "spec.suspend", false));
    assert_string_equal(machine(f, "1"), "");
    assert_true(stopped_calls > 0);
    assert_int_equal(f->fake.change_count, before + 2);
}

static struct sl_json *rayjob_settled(struct fixture *f, const char *status)
{
    enum sl_kind kind = sl_kind_find_object("ray.io/v1", "RayJob");
    struct sl_json *o = fake_find(&f->fake, kind, "ns", "a");
    if (o == NULL) {
        o = put(f, kind,
                "{metadata: {name: a, namespace: ns, uid: u, labels: {" QUEUE "}}, spec: {suspend: "
                "true, submissionMode: HTTPMode, rayClusterSpec: {headGroupSpec: {template: {spec: "
                "{containers: [{name: h}]}}}}}}");
    }
    sl_json_set(o, "status", yaml(status));
    for (unsigned before = f->fake.write_count - 1; before != f->fake.write_count;) {
        before = f->fake.write_count;
        show(f, kind, "a");
        show(f, SL_KIND_WORKLOAD, workload_name("RayJob"));
        sl_jobs_step(&f->jobs, T0, 16);
        fake_flush(&f->fake);
    }
    return workload(f, "RayJob");
}

static const char *reservation(const struct sl_json *wl)
{
    return sl_json_path_text(sl_condition_find(wl, "QuotaReserved"), "reason", "");
}

#define REFUSED "{jobDeploymentStatus: ValidationFailed}"

static void test_jobs_kinds_job_on_hold_gives_its_quota_back_and_waits_for_none(void **state)
{
    struct fixture *f = *state;
    begin(f);
    assert_null(rayjob_settled(f, REFUSED)); /* it gets no Workload */
    struct sl_json *wl = rayjob_settled(f, "{}");
    assert_non_null(wl);
    wl = rayjob_settled(f, REFUSED); /* while it waits */
    assert_string_equal(reservation(wl), "OnHold");
    wl = rayjob_settled(f, "{}");
    assert_string_equal(reservation(wl), "Pending");

    struct sl_json *reserved = sl_json_path_make(wl, "status");
    sl_json_set(reserved, "admission",
                yaml("{clusterQueue: cq, podSetAssignments: [{name: head, flavors: {}}]}"));
    sl_condition_set(reserved, "QuotaReserved", true, "R", "", 0, T0);
    sl_condition_set(reserved, "Admitted", true, "R", "", 0, T0);
    wl = rayjob_settled(f, "{jobDeploymentStatus: Running}");
    assert_true(sl_condition_true(wl, "Admitted"));
    wl = rayjob_settled(f, REFUSED);
    assert_string_equal(reservation(wl), "OnHold");
    assert_false(sl_condition_true(wl, "Admitted") || sl_json_path(wl, "status.admission") != NULL);

    sl_json_set(sl_json_path_make(wl, "status"), "admission", yaml("{clusterQueue: cq}"));
    sl_condition_set(sl_json_get(wl, "status"), "QuotaReserved", true, "R", "", 0, T0);
    sl_condition_set(sl_json_get(wl, "status"), "Evicted", true, "Preempted", "", 0, T0);
    wl = rayjob_settled(f, REFUSED); /* it is stopped first */
    assert_string_equal(reservation(wl), "R");
}

static void test_jobs_kinds_jobset_that_ends_finishes_its_workload(void **state)
{
    struct fixture *f = *state;
    begin(f);
    put_jobset(f);
    settle(f);
    admit_jobset(f);
    settle(f);
    sl_condition_set(sl_json_path_make(jobset(f), "status"), "Completed", true, "R", "all done", 0,
                     T0);
    settle(f);
    const struct sl_json *finished = sl_condition_find(workload(f, "JobSet"), "Finished");
    assert_string_equal(sl_json_path_text(finished, "reason", ""), "Succeeded");
    assert_string_equal(sl_json_path_text(finished, "message", ""), "all done");
    assert_false(sl_workload_has_finalizer(workload(f, "JobSet")));
}

/* Nobody has checked the status of a kind that Sluice does not know. */
static void test_jobs_kinds_fewer_than_no_pods_have_ended_is_none(void **state)
{
    struct fixture *f = *state;
    begin(f);
    put_jobset(f);
    settle(f);
    unsigned before = f->fake.write_count;
    sl_json_set(jobset(f), "status",
                yaml("{replicatedJobsStatus: [{name: lead, succeeded: -1},"
                     " {name: work, succeeded: -9223372036854775808}]}"));
    show(f, f->jobset, "a");
    sl_jobs_step(&f->jobs, T0, 16);
    fake_flush(&f->fake);
    assert_int_equal(f->fake.write_count, before);
    sl_json_set(jobset(f), "status",
                yaml("{replicatedJobsStatus: [{name: work, succeeded: 9223372036854775807}]}"));
    settle(f);
    const struct sl_json *list = sl_json_path(workload(f, "JobSet"), "status.reclaimablePods");
    assert_int_equal(sl_json_len(list), 1);
    assert_int_equal(sl_json_path_int(sl_json_at(list, 0), "count", 0), 2);
}

static void test_jobs_kinds_object_that_makes_no_sense_is_reported(void **state)
{
    struct fixture *f = *state;
    begin(f);
    put_jobset(f);
    sl_json_set(sl_json_get(jobset(f), "spec"), "replicatedJobs", sl_json_new_list());
    settle(f);
    assert_null(workload(f, "JobSet"));
    assert_int_equal(fake_count(&f->fake, SL_KIND_EVENT), 1);
}

static struct sl_json *put_child(struct fixture *f, const char *labels)
{
    char text[600];
    snprintf(text, sizeof text,
             "{metadata: {name: child, namespace: ns, uid: c, labels: {%s}, ownerReferences:"
             " [{apiVersion: jobset.x-k8s.io/v1alpha2, kind: JobSet, name: a, uid: u,"
             " controller: true}]}, spec: {suspend: false, template: {spec: {}}}}",
             labels);
    return put(f, SL_KIND_JOB, text);
}

static void test_jobs_kinds_child_has_no_workload_and_waits_for_its_owners(void **state)
{
    struct fixture *f = *state;
    char name[254];
    begin(f);
    put_jobset(f);
    settle(f);
    put_child(f, QUEUE);
    settle(f);
    sl_framework_workload_name(&sl_job_framework, "child", "c", name);
    assert_null(fake_find(&f->fake, SL_KIND_WORKLOAD, "ns", name));
    assert_true(sl_job_suspended(fake_find(&f->fake, SL_KIND_JOB, "ns", "child")));
    admit_jobset(f);
    put_child(f, "");
    settle(f);
    assert_false(sl_job_suspended(fake_find(&f->fake, SL_KIND_JOB, "ns", "child")));
}

static void test_jobs_kinds_child_of_an_unmanaged_owner_is_left_alone(void **state)
{
    struct fixture *f = *state;
    begin(f);
    put_jobset(f);
    sl_json_remove(sl_json_get(jobset(f), "metadata"), "labels");
    put_child(f, "");
    settle(f);
    assert_int_equal(f->fake.write_count, 0);
}

static void test_jobs_kinds_not_enabled_are_left_alone(void **state)
{
    struct fixture *f = *state;
    static const char *const only[] = {"batch/job"};
    f->rules = (struct sl_job_rules){.framework_count = 1, .frameworks = only};
    begin(f);
    put_jobset(f);
    settle(f);
    assert_int_equal(f->fake.write_count, 0);
}

static void test_jobs_kinds_all_are_managed_where_that_is_asked_for(void **state)
{
    struct fixture *f = *state;
    f->rules.manage_all = true;
    begin(f);
    put(f, SL_KIND_JOB, JOB("", "false"));
    settle(f);
    assert_true(sl_job_suspended(fake_find(&f->fake, SL_KIND_JOB, "ns", "a")));
    assert_false(sl_json_has(sl_json_get(workload(f, "Job"), "spec"), "queueName"));
    put(f, SL_KIND_LOCAL_QUEUE, "{metadata: {name: default, namespace: ns}}");
    settle(f);
    assert_string_equal(sl_json_path_text(workload(f, "Job"), "spec.queueName", ""), "default");
}

static void test_jobs_kinds_of_other_namespaces_are_left_alone(void **state)
{
    struct fixture *f = *state;
    f->namespaces = sl_selector_parse_labels("team=a", NULL);
    f->rules.namespaces = f->namespaces;
    begin(f);
    put(f, SL_KIND_JOB, JOB(QUEUE, "false"));
    settle(f);
    assert_int_equal(f->fake.write_count, 0); /* not even its namespace is there */
    fake_put(&f->fake, SL_KIND_NAMESPACE, yaml("{metadata: {name: ns, labels: {team: b}}}"));
    settle(f);
    assert_int_equal(f->fake.write_count, 0);
    fake_put(&f->fake, SL_KIND_NAMESPACE, yaml("{metadata: {name: ns, labels: {team: a}}}"));
    settle(f);
    assert_non_null(workload(f, "Job"));
}

#define PREBUILT "kueue.x-k8s.io/prebuilt-workload-name: made, " QUEUE

static struct sl_json *made(struct fixture *f)
{
    return fake_find(&f->fake, SL_KIND_WORKLOAD, "ns", "made");
}

static void put_made(struct fixture *f, const char *count)
{
    char text[400];
    snprintf(text, sizeof text,
             "{metadata: {name: made, namespace: ns, uid: w, finalizers: [" SL_FINALIZER "]},"
             " spec: {queueName: q, podSets:"
             " [{name: main, count: %s, template: {spec: {containers: [{name: c}]}}}]}}",
             count);
    put(f, SL_KIND_WORKLOAD, text);
}

static void test_jobs_kinds_prebuilt_workload_is_waited_for_and_adopted(void **state)
{
    struct fixture *f = *state;
    begin(f);
    put(f, SL_KIND_JOB, JOB(PREBUILT, "false"));
    settle(f);
    assert_true(sl_job_suspended(fake_find(&f->fake, SL_KIND_JOB, "ns", "a")));
    assert_null(workload(f, "Job"));
    assert_true(sl_jobs_due_ms(&f->jobs) < SL_WORK_NEVER); /* it will look again */
    put_made(f, "2");
    settle(f);
    assert_true(sl_job_owns(fake_find(&f->fake, SL_KIND_JOB, "ns", "a"), made(f)));
    assert_string_equal(sl_object_label(made(f), SL_LABEL_JOB_UID), "u");
    assert_false(sl_condition_true(made(f), "Finished"));
}

static void test_jobs_kinds_prebuilt_workload_of_other_pods_is_given_up(void **state)
{
    struct fixture *f = *state;
    begin(f);
    put(f, SL_KIND_JOB, JOB(PREBUILT, "true"));
    put_made(f, "5");
    settle(f);
    assert_string_equal(sl_json_path_text(sl_condition_find(made(f), "Finished"), "reason", ""),
                        "OutOfSync");
    assert_false(sl_workload_has_finalizer(made(f))); /* nothing holds it for a job that waits */
}

static void step_once(struct fixture *f)
{
    sl_jobs_step(&f->jobs, T0, 16);
    fake_flush(&f->fake);
}

/* The version that was not its job's yet tells nothing, and leaves the next one to be looked at. */
static void
test_jobs_kinds_prebuilt_workload_that_is_seen_after_its_adoption_is_looked_at(void **state)
{
    struct fixture *f = *state;
    begin(f);
    put_made(f, "5");
    put(f, SL_KIND_JOB, JOB(PREBUILT, "true"));
    struct sl_json *before = sl_json_clone(made(f));
    show(f, SL_KIND_JOB, "a");
    step_once(f);
    assert_true(sl_job_owns(fake_find(&f->fake, SL_KIND_JOB, "ns", "a"), made(f)));
    assert_false(sl_condition_true(made(f), "Finished"));
    sl_jobs_observe(&f->jobs, SL_KIND_WORKLOAD, before, false, T0);
    step_once(f);
    show(f, SL_KIND_WORKLOAD, "made");
    step_once(f);
    assert_true(sl_condition_true(made(f), "Finished"));
    sl_json_free(before);
}

/* It is another job's, which names it, too. */
static void make_anothers(struct fixture *f)
{
    sl_json_set(sl_json_get(made(f), "metadata"), "ownerReferences",
                yaml("[{apiVersion: batch/v1, kind: Job, name: b, uid: other, controller: true}]"));
    put(f, SL_KIND_JOB,
        "{metadata: {name: b, namespace: ns, uid: other, labels: {" PREBUILT "}}, spec: {suspend: "
        "true, parallelism: 2, completions: 2, template: {spec: {containers: [{name: c}]}}}}");
}

static void test_jobs_kinds_prebuilt_workload_of_another_job_is_not_touched(void **state)
{
    struct fixture *f = *state;
    begin(f);
    put(f, SL_KIND_JOB, JOB(PREBUILT, "true"));
    put_made(f, "2");
    make_anothers(f);
    settle(f);
    assert_int_equal(f->fake.write_count, 0);
}

/* What the job was told last with that reason; "" when nothing. */
static const char *told(struct fixture *f, const char *reason)
{
    size_t cursor = 0;
    const char *key;
    const char *message = "";
    union sl_map_value value;
    while (sl_map_next(f->fake.objects, &cursor, &key, &value)) {
        if (strcmp(sl_json_path_text(value.pointer, "reason", ""), reason) == 0) {
            message = sl_json_path_text(value.pointer, "message", "");
        }
    }
    return message;
}

/* Whatever suspends jobs of a queue knows nothing of this daemon's configuration. */
static void test_jobs_kinds_suspended_in_other_namespaces_are_told_so(void **state)
{
    struct fixture *f = *state;
    f->namespaces = sl_selector_parse_labels("team=a", NULL);
    f->rules.namespaces = f->namespaces;
    begin(f);
    fake_put(&f->fake, SL_KIND_NAMESPACE, yaml("{metadata: {name: ns, labels: {team: b}}}"));
    put(f, SL_KIND_JOB, JOB(QUEUE, "false"));
    settle(f);
    assert_string_equal(told(f, "NamespaceNotManaged"), ""); /* it runs */
    put(f, SL_KIND_JOB, JOB("", "true"));
    settle(f);
    assert_string_equal(told(f, "NamespaceNotManaged"), ""); /* somebody else's affair */
    put(f, SL_KIND_JOB, JOB(QUEUE, "true"));
    show(f, SL_KIND_JOB, "a");
    sl_jobs_step(&f->jobs, T0, 16);
    fake_flush(&f->fake);
    assert_string_equal(
        told(f, "NamespaceNotManaged"),
        "managedJobsNamespaceSelector leaves out the namespace ns: nothing will start this job");
    assert_int_equal(f->fake.write_count, 1); /* the Event */
}

static struct sl_json *the_job(struct fixture *f)
{
    return fake_find(&f->fake, SL_KIND_JOB, "ns", "a");
}

static void annotate(struct sl_json *o, const char *key, const char *value)
{
    sl_json_set_text(sl_json_path_make(o, "metadata.annotations"), key, value);
}

static void test_jobs_kinds_annotation_names_a_prebuilt_workload_before_the_label(void **state)
{
    struct fixture *f = *state;
    begin(f);
    put(f, SL_KIND_JOB, JOB("kueue.x-k8s.io/prebuilt-workload-name: another, " QUEUE, "true"));
    annotate(the_job(f), SL_LABEL_PREBUILT, "made");
    put_made(f, "2");
    settle(f);
    assert_true(sl_job_owns(the_job(f), made(f)));
}

static void test_jobs_kinds_running_job_whose_prebuilt_workload_is_anothers_is_stopped(void **state)
{
    struct fixture *f = *state;
    begin(f);
    put(f, SL_KIND_JOB, JOB(PREBUILT, "false"));
    put_made(f, "2");
    make_anothers(f);
    settle(f);
    assert_true(sl_job_suspended(the_job(f)));
    assert_string_equal(told(f, "Stopped"), "missing workload");
    assert_false(sl_condition_true(made(f), "Finished"));
    assert_false(sl_job_owns(the_job(f), made(f)));
}

static void test_jobs_kinds_job_that_runs_without_a_workload_is_stopped_as_kueue_says(void **state)
{
    struct fixture *f = *state;
    begin(f);
    put(f, SL_KIND_JOB, JOB(QUEUE, "false"));
    settle(f);
    assert_string_equal(told(f, "Stopped"), "Missing Workload; unable to restore pod templates");
}

static void test_jobs_kinds_admission_gates_of_the_job_are_its_workloads(void **state)
{
    struct fixture *f = *state;
    begin(f);
    put(f, SL_KIND_JOB, JOB(QUEUE, "true"));
    annotate(the_job(f), SL_ANNOTATION_GATED_BY, "a.com/x,b.com/y");
    settle(f);
    assert_string_equal(sl_object_annotation(workload(f, "Job"), SL_ANNOTATION_GATED_BY),
                        "a.com/x,b.com/y");
    annotate(the_job(f), SL_ANNOTATION_GATED_BY, "b.com/y");
    settle(f);
    assert_string_equal(sl_object_annotation(workload(f, "Job"), SL_ANNOTATION_GATED_BY),
                        "b.com/y");
    assert_string_equal(told(f, "UpdatedWorkload"),
                        "Updated workload AdmissionGatedBy to \"b.com/y\"");
    sl_json_remove(sl_json_path(the_job(f), "metadata.annotations"), SL_ANNOTATION_GATED_BY);
    settle(f);
    assert_null(sl_object_annotation(workload(f, "Job"), SL_ANNOTATION_GATED_BY));
    unsigned before = f->fake.write_count;
    settle(f);
    assert_int_equal(f->fake.write_count, before);
}

/* Only its Workload tells it: the job itself has not changed. */
static void test_jobs_kinds_job_is_told_what_its_pending_checks_say(void **state)
{
    struct fixture *f = *state;
    begin(f);
    put(f, SL_KIND_JOB, JOB(QUEUE, "true"));
    settle(f);
    struct sl_json *status = sl_json_path_make(workload(f, "Job"), "status");
    sl_condition_set(status, "QuotaReserved", true, "R", "", 0, T0);
    sl_json_set(status, "admissionChecks",
                yaml("[{name: one, state: Pending, message: looks for nodes},"
                     " {name: two, state: Ready, message: fine}, {name: three, state: Pending},"
                     " {name: four, state: Pending, message: asks a person}]"));
    show(f, SL_KIND_WORKLOAD, workload_name("Job"));
    sl_jobs_step(&f->jobs, T0, 16);
    fake_flush(&f->fake);
    assert_string_equal(told(f, "UpdatedAdmissionCheck"),
                        "one: looks for nodes; four: asks a person");
}

static void test_jobs_kinds_running_child_stops_when_its_owners_workload_is_evicted(void **state)
{
    struct fixture *f = *state;
    begin(f);
    put_jobset(f);
    settle(f);
    admit_jobset(f);
    settle(f);
    put_child(f, "");
    settle(f);
    assert_false(sl_job_suspended(fake_find(&f->fake, SL_KIND_JOB, "ns", "child")));
    sl_condition_set(sl_json_path_make(workload(f, "JobSet"), "status"), "Admitted", false, "R", "",
                     0, T0);
    show(f, SL_KIND_WORKLOAD, workload_name("JobSet")); /* and nothing of the child */
    sl_jobs_step(&f->jobs, T0, 16);
    fake_flush(&f->fake);
    assert_true(sl_job_suspended(fake_find(&f->fake, SL_KIND_JOB, "ns", "child")));
    assert_string_equal(told(f, "Suspended"), "Kueue managed child job suspended");
}

static void refuse_reads_of(struct fixture *f, enum sl_kind kind)
{
    f->fake.read_code = SL_CODE_UNAVAILABLE;
    f->fake.unread_one = true;
    f->fake.unread = kind;
}

/* Whether there is a queue "default" cannot be told: what the Workload says of its queue stays. */
static void test_jobs_kinds_default_queue_that_is_unread_is_not_absent(void **state)
{
    struct fixture *f = *state;
    f->rules.manage_all = true;
    begin(f);
    put(f, SL_KIND_LOCAL_QUEUE, "{metadata: {name: default, namespace: ns}}");
    put(f, SL_KIND_JOB, JOB("", "true"));
    settle(f);
    assert_string_equal(sl_json_path_text(workload(f, "Job"), "spec.queueName", ""), "default");
    refuse_reads_of(f, SL_KIND_LOCAL_QUEUE);
    show(f, SL_KIND_JOB, "a");
    sl_jobs_step(&f->jobs, T0, 16);
    fake_flush(&f->fake);
    assert_string_equal(sl_json_path_text(workload(f, "Job"), "spec.queueName", ""), "default");
}

/* Nobody knows whose child it is, or whether its owner may run: it stays as it is until that can be read. */
static void test_jobs_kinds_child_of_an_unreadable_owner_stays_as_it_is(void **state)
{
    struct fixture *f = *state;
    char name[254];
    begin(f);
    put_jobset(f);
    settle(f);
    admit_jobset(f);
    settle(f);
    put_child(f, QUEUE);
    refuse_reads_of(f, f->jobset);
    show(f, SL_KIND_JOB, "child");
    sl_jobs_step(&f->jobs, T0, 16);
    fake_flush(&f->fake);
    sl_framework_workload_name(&sl_job_framework, "child", "c", name);
    assert_null(fake_find(&f->fake, SL_KIND_WORKLOAD, "ns", name));
    assert_false(sl_job_suspended(fake_find(&f->fake, SL_KIND_JOB, "ns", "child")));
    refuse_reads_of(f, SL_KIND_WORKLOAD);
    sl_jobs_step(&f->jobs, T0 + 10000, 16);
    fake_flush(&f->fake);
    assert_false(sl_job_suspended(fake_find(&f->fake, SL_KIND_JOB, "ns", "child")));

    f->fake.read_code = SL_CODE_OK;
    sl_condition_set(sl_json_path_make(workload(f, "JobSet"), "status"), "Admitted", false, "R", "",
                     0, T0);
    sl_jobs_step(&f->jobs, T0 + 20000, 16); /* nothing has happened: it was to be read again */
    fake_flush(&f->fake);
    assert_true(sl_job_suspended(fake_find(&f->fake, SL_KIND_JOB, "ns", "child")));
    assert_null(fake_find(&f->fake, SL_KIND_WORKLOAD, "ns", name));
}

/* AppWrappers, which may hold whatever there is. */
static enum sl_kind link_kind(void)
{
    return sl_kind_find_object("workload.codeflare.dev/v1beta2", "AppWrapper");
}

static void put_link(struct fixture *f, unsigned i, unsigned last)
{
    char text[500];
    char owner[200] = "";
    if (i < last) {
        snprintf(owner, sizeof owner,
                 ", ownerReferences: [{apiVersion: workload.codeflare.dev/v1beta2, kind: "
                 "AppWrapper, name: j%u, uid: u%u, controller: true}]",
                 i + 1, i + 1);
    }
    snprintf(text, sizeof text,
             "{metadata: {name: j%u, namespace: ns, uid: u%u, labels: {" QUEUE "}%s}, spec:"
             " {suspend: false, components: []}}",
             i, i, owner);
    put(f, link_kind(), text);
}

static bool link_suspended(struct fixture *f, const char *name)
{
    return sl_json_path_bool(fake_find(&f->fake, link_kind(), "ns", name), "spec.suspend", false);
}

static void test_jobs_kinds_job_with_too_many_owners_is_reported(void **state)
{
    struct fixture *f = *state;
    begin(f);
    for (unsigned i = 0; i <= 11; i++) {
        put_link(f, i, 11);
    }
    show(f, link_kind(), "j1"); /* ten of them */
    sl_jobs_step(&f->jobs, T0, 16);
    fake_flush(&f->fake);
    assert_string_equal(told(f, "JobNestingTooDeep"), "");
    assert_true(link_suspended(f, "j1"));
    show(f, link_kind(), "j0"); /* eleven */
    sl_jobs_step(&f->jobs, T0, 16);
    fake_flush(&f->fake);
    assert_string_equal(told(f, "JobNestingTooDeep"),
                        "Terminated search for Kueue-managed Job because ancestor depth exceeded "
                        "limit of 10");
    assert_true(link_suspended(f, "j0"));
}

static void test_jobs_kinds_job_that_names_a_job_as_its_owner_is_queued_by_itself(void **state)
{
    struct fixture *f = *state;
    char name[254];
    begin(f);
    put(f, SL_KIND_JOB, JOB(QUEUE, "true"));
    settle(f);
    put(f, SL_KIND_JOB,
        "{metadata: {name: child, namespace: ns, uid: c, labels: {" QUEUE "}, ownerReferences:"
        " [{apiVersion: batch/v1, kind: Job, name: a, uid: u, controller: true}]}, spec:"
        " {suspend: false, template: {spec: {containers: [{name: c}]}}}}");
    settle(f);
    sl_framework_workload_name(&sl_job_framework, "child", "c", name);
    assert_non_null(fake_find(&f->fake, SL_KIND_WORKLOAD, "ns", name));
    assert_true(sl_job_suspended(fake_find(&f->fake, SL_KIND_JOB, "ns", "child")));
}

/* --- ranks --------------------------------------------------------------------------------------------- */

/* An MPIJob whose pods are placed by topology; what its workers' template has as annotations when it has started. */
static const struct sl_json *started_workers(struct fixture *f, const char *as_worker,
                                             const char *launcher, const char *worker)
{
    char text[1024];
    enum sl_kind kind = sl_kind_find_name("mpijob");
    snprintf(text, sizeof text,
             "{metadata: {name: a, namespace: ns, uid: u, labels: {" QUEUE "}}, spec: {"
             "runLauncherAsWorker: %s, runPolicy: {suspend: true}, mpiReplicaSpecs: {"
             "Launcher: {template: {metadata: {annotations: %s}, spec: {containers: [{name: c}]}}},"
             "Worker: {replicas: 2, template: {metadata: {annotations: %s}, spec: {containers: [{"
             "name: c}]}}}}}}",
             as_worker, launcher, worker);
    put(f, kind, text);
    for (int i = 0; i < 4; i++) {
        show(f, kind, "a");
        show(f, SL_KIND_WORKLOAD, workload_name("MPIJob"));
        sl_jobs_step(&f->jobs, T0, 16);
        fake_flush(&f->fake);
        struct sl_json *status = sl_json_path_make(workload(f, "MPIJob"), "status");
        sl_json_set(status, "admission",
                    yaml("{clusterQueue: cq, podSetAssignments: ["
                         "{name: launcher, flavors: {}, topologyAssignment: {levels: [h]}},"
                         "{name: worker, flavors: {}, topologyAssignment: {levels: [h]}}]}"));
        sl_condition_set(status, "QuotaReserved", true, "R", "", 0, T0);
        sl_condition_set(status, "Admitted", true, "R", "", 0, T0);
    }
    const struct sl_json *job = fake_find(&f->fake, kind, "ns", "a");
    assert_false(sl_json_path_bool(job, "spec.runPolicy.suspend", true));
    assert_null(sl_json_get(
        sl_json_path(job, "spec.mpiReplicaSpecs.Launcher.template.metadata.annotations"),
        "kueue.x-k8s.io/pod-index-offset"));
    return sl_json_path(job, "spec.mpiReplicaSpecs.Worker.template.metadata.annotations");
}

static const char *offset_of(const struct sl_json *annotations)
{
    return sl_json_text(sl_json_get(annotations, "kueue.x-k8s.io/pod-index-offset"), "none");
}

static void test_jobs_kinds_workers_of_mpi_are_ranked_after_a_launcher_that_is_one(void **state)
{
    struct fixture *f = *state;
    begin(f);
    assert_string_equal(offset_of(started_workers(f, "true", "{}", "{}")), "1");
}

static void test_jobs_kinds_workers_of_mpi_are_ranked_alone_beside_a_launcher(void **state)
{
    struct fixture *f = *state;
    begin(f);
    assert_string_equal(offset_of(started_workers(f, "false", "{}", "{}")), "none");
}

static void test_jobs_kinds_workers_of_mpi_are_ranked_with_a_launcher_of_their_group(void **state)
{
    struct fixture *f = *state;
    static const char group[] =
        "{kueue.x-k8s.io/podset-group-name: g, kueue.x-k8s.io/podset-required-topology: h}";
    begin(f);
    assert_string_equal(offset_of(started_workers(f, "true", group, group)), "none");
}

static void test_jobs_kinds_offset_that_a_template_says_itself_stays(void **state)
{
    struct fixture *f = *state;
    begin(f);
    assert_string_equal(
        offset_of(started_workers(f, "true", "{}", "{kueue.x-k8s.io/pod-index-offset: '7'}")), "7");
}

/* --- jobs that refer to other objects -------------------------------------------------------------------- */

#define RUNTIME(nodes)                                                                             \
    "{metadata: {name: r}, spec: {mlPolicy: {numNodes: " nodes "}, template: {spec: {"             \
    "replicatedJobs: [{name: node, template: {metadata: {labels: {"                                \
    "trainer.kubeflow.org/trainjob-ancestor-step: trainer}}, spec: {template: {spec: {"            \
    "containers: [{name: node}]}}}}}]}}}}"

static enum sl_kind trainjobs(void)
{
    return sl_kind_find_object("trainer.kubeflow.org/v1alpha1", "TrainJob");
}

static enum sl_kind runtimes(void)
{
    return sl_kind_find_object("trainer.kubeflow.org/v1alpha1", "ClusterTrainingRuntime");
}

static struct sl_json *trainjob(struct fixture *f)
{
    return fake_find(&f->fake, trainjobs(), "ns", "a");
}

static void look(struct fixture *f)
{
    unsigned before;
    do {
        before = f->fake.write_count;
        show(f, trainjobs(), "a");
        show(f, SL_KIND_WORKLOAD, workload_name("TrainJob"));
        sl_jobs_step(&f->jobs, T0, 16);
        fake_flush(&f->fake);
    } while (f->fake.write_count != before);
}

static void put_trainjob(struct fixture *f, const char *suspend)
{
    struct sl_json *o = put(f, trainjobs(),
                            "{metadata: {name: a, namespace: ns, uid: u, labels: {" QUEUE "}},"
                            " spec: {runtimeRef: {name: r}}}");
    sl_json_set_bool(sl_json_get(o, "spec"), "suspend", strcmp(suspend, "true") == 0);
    look(f);
}

/* As the watch tells it. */
static void put_runtime(struct fixture *f, const char *text)
{
    sl_jobs_observe(&f->jobs, runtimes(), put(f, runtimes(), text), false, T0);
    sl_jobs_step(&f->jobs, T0, 16);
    fake_flush(&f->fake);
}

static void lose_runtime(struct fixture *f)
{
    struct sl_json *gone = yaml("{metadata: {name: r}}");
    fake_remove(&f->fake, runtimes(), "", "r");
    sl_jobs_observe(&f->jobs, runtimes(), gone, true, T0);
    sl_json_free(gone);
    sl_jobs_step(&f->jobs, T0, 16);
    fake_flush(&f->fake);
}

static int64_t nodes_counted(struct fixture *f)
{
    return sl_json_path_int(workload(f, "TrainJob"), "spec.podSets.0.count", 0);
}

static void admit_trainjob(struct fixture *f)
{
    struct sl_json *status = sl_json_path_make(workload(f, "TrainJob"), "status");
    sl_json_set(
        status, "admission",
        yaml("{clusterQueue: cq, podSetAssignments: [{name: node, flavors: {cpu: spot}}]}"));
    sl_condition_set(status, "QuotaReserved", true, "R", "", 0, T0);
    sl_condition_set(status, "Admitted", true, "R", "", 0, T0);
    look(f);
}

#define ADDED                                                                                      \
    "spec.runtimePatches.0.trainingRuntimeSpec.template.spec.replicatedJobs.0.template.spec."      \
    "template.spec.nodeSelector.machine"

static void test_jobs_kinds_job_waits_for_what_it_refers_to(void **state)
{
    struct fixture *f = *state;
    begin(f);
    put_trainjob(f, "false");
    assert_true(sl_json_path_bool(trainjob(f), "spec.suspend", false));
    assert_string_equal(told(f, "ErrWorkloadCompose"),
                        "spec.runtimeRef.name: ClusterTrainingRuntime \"r\" is not there");
    assert_null(workload(f, "TrainJob"));
    put_runtime(f, RUNTIME("3"));
    look(f);
    assert_int_equal(nodes_counted(f), 3);
    put_runtime(f, RUNTIME("5"));
    assert_int_equal(nodes_counted(f), 5);
    lose_runtime(f);
    assert_null(workload(f, "TrainJob"));
}

/* Which passes: what was counted stays, and the job is looked at again. */
static void test_jobs_kinds_job_keeps_its_workload_while_its_runtime_is_unread(void **state)
{
    struct fixture *f = *state;
    begin(f);
    fake_put(&f->fake, runtimes(), yaml(RUNTIME("3")));
    put_trainjob(f, "true");
    f->fake.unread_one = true;
    f->fake.unread = runtimes();
    f->fake.read_code = SL_CODE_UNAVAILABLE;
    show(f, trainjobs(), "a");
    sl_jobs_step(&f->jobs, T0, 16);
    fake_flush(&f->fake);
    assert_string_equal(told(f, "ErrWorkloadCompose"),
                        "spec.runtimeRef.name: ClusterTrainingRuntime \"r\" cannot be read");
    assert_int_equal(nodes_counted(f), 3);
    f->fake.read_code = SL_CODE_OK;
    fake_put(&f->fake, runtimes(), yaml(RUNTIME("4")));
    sl_jobs_step(&f->jobs, sl_jobs_due_ms(&f->jobs), 16);
    fake_flush(&f->fake);
    assert_int_equal(nodes_counted(f), 4);
}

static void test_jobs_kinds_job_that_runs_keeps_what_it_was_counted_with(void **state)
{
    struct fixture *f = *state;
    begin(f);
    fake_put(&f->fake, runtimes(), yaml(RUNTIME("3")));
    put_trainjob(f, "true");
    admit_trainjob(f);
    assert_false(sl_json_path_bool(trainjob(f), "spec.suspend", true));
    assert_string_equal(sl_json_path_text(trainjob(f), ADDED, ""), "spot");
    put_runtime(f, RUNTIME("5"));
    look(f);
    lose_runtime(f);
    look(f);
    assert_false(sl_json_path_bool(trainjob(f), "spec.suspend", true));
    assert_int_equal(nodes_counted(f), 3);
}

static void test_jobs_kinds_job_is_restored_when_its_pods_have_gone(void **state)
{
    struct fixture *f = *state;
    begin(f);
    fake_put(&f->fake, runtimes(), yaml(RUNTIME("3")));
    put_trainjob(f, "true");
    admit_trainjob(f);
    sl_json_set(trainjob(f), "status", yaml("{jobsStatus: [{name: node, active: 1}]}"));
    lose_runtime(f); /* it is not needed for this */
    sl_condition_set(sl_json_get(workload(f, "TrainJob"), "status"), "Evicted", true, "Preempted",
                     "", 0, T0);
    look(f);
    assert_true(sl_json_path_bool(trainjob(f), "spec.suspend", false));
    assert_string_equal(sl_json_path_text(trainjob(f), ADDED, ""), "spot");
    assert_int_equal(stopped_calls, 0);
    sl_json_set(trainjob(f), "status", yaml("{jobsStatus: [{name: node, active: 0}]}"));
    look(f);
    assert_null(sl_json_path(trainjob(f), ADDED));
    assert_true(stopped_calls > 0);
}

static void
test_jobs_kinds_job_that_cannot_be_counted_any_more_lets_its_deleted_workload_go(void **state)
{
    struct fixture *f = *state;
    begin(f);
    fake_put(&f->fake, runtimes(), yaml(RUNTIME("2")));
    put_trainjob(f, "true");
    assert_true(sl_workload_has_finalizer(workload(f, "TrainJob")));
    sl_json_set_text(sl_json_get(workload(f, "TrainJob"), "metadata"), "deletionTimestamp",
                     "2023-11-14T22:13:20Z");
    lose_runtime(f);
    assert_false(sl_workload_has_finalizer(workload(f, "TrainJob")));
}

static void test_jobs_kinds_job_that_cannot_be_counted_does_not_run(void **state)
{
    struct fixture *f = *state;
    begin(f);
    fake_put(&f->fake, runtimes(), yaml("{metadata: {name: r}, spec: {}}"));
    put_trainjob(f, "false");
    assert_true(sl_json_path_bool(trainjob(f), "spec.suspend", false));
    assert_string_equal(told(f, "ErrWorkloadCompose"), "spec: 0 pod sets, must be from 1 to 18");
    assert_null(workload(f, "TrainJob"));
}

static void test_jobs_kinds_counted_one_without_pods_has_no_workload(void **state)
{
    struct fixture *f = *state;
    static const char counted[] =
        "{apiVersion: example.com/v1, kind: Counted, plural: counteds, framework: "
        "example.com/counted, suspend: {zero: spec.replicas, keep: example.com/wanted}, "
        "podSets: [{name: main, template: spec.template, count: {path: spec.replicas, default: "
        "1}}],"
        " ready: [{condition: Available}], active: [{condition: Active}]}";
    struct sl_error e = {0};
    assert_int_equal(sl_adapters_add("counted.yaml", counted, sizeof counted - 1, &e), SL_CODE_OK);
    enum sl_kind kind = sl_kind_find_name("counted");
    begin(f);
    struct sl_json *o =
        put(f, kind,
            "{metadata: {name: a, namespace: ns, uid: u, labels: {" QUEUE "}}, spec: {replicas: 2,"
            " template: {spec: {containers: [{name: c}]}}}}");
    for (int i = 0; i < 4; i++) {
        show(f, kind, "a");
        settle(f);
    }
    o = fake_find(&f->fake, kind, "ns", "a");
    assert_int_equal(sl_json_path_int(o, "spec.replicas", -1), 0);
    assert_int_equal(sl_json_path_int(workload(f, "Counted"), "spec.podSets.0.count", 0), 2);
    sl_json_remove(sl_json_get(o, "metadata"), "annotations"); /* scaled to zero by the user */
    show(f, kind, "a");
    settle(f);
    assert_null(workload(f, "Counted"));
}

#define CASE(name) cmocka_unit_test_setup_teardown(name, setup, teardown)

int main(void)
{
    const struct CMUnitTest tests[] = {
        CASE(test_jobs_kinds_jobset_runs_and_stops_by_one_write_each),
        CASE(test_jobs_kinds_job_on_hold_gives_its_quota_back_and_waits_for_none),
        CASE(test_jobs_kinds_jobset_that_ends_finishes_its_workload),
        CASE(test_jobs_kinds_fewer_than_no_pods_have_ended_is_none),
        CASE(test_jobs_kinds_object_that_makes_no_sense_is_reported),
        CASE(test_jobs_kinds_child_has_no_workload_and_waits_for_its_owners),
        CASE(test_jobs_kinds_child_of_an_unmanaged_owner_is_left_alone),
        CASE(test_jobs_kinds_not_enabled_are_left_alone),
        CASE(test_jobs_kinds_all_are_managed_where_that_is_asked_for),
        CASE(test_jobs_kinds_of_other_namespaces_are_left_alone),
        CASE(test_jobs_kinds_suspended_in_other_namespaces_are_told_so),
        CASE(test_jobs_kinds_prebuilt_workload_is_waited_for_and_adopted),
        CASE(test_jobs_kinds_prebuilt_workload_of_other_pods_is_given_up),
        CASE(test_jobs_kinds_prebuilt_workload_that_is_seen_after_its_adoption_is_looked_at),
        CASE(test_jobs_kinds_prebuilt_workload_of_another_job_is_not_touched),
        CASE(test_jobs_kinds_annotation_names_a_prebuilt_workload_before_the_label),
        CASE(test_jobs_kinds_running_job_whose_prebuilt_workload_is_anothers_is_stopped),
        CASE(test_jobs_kinds_job_that_runs_without_a_workload_is_stopped_as_kueue_says),
        CASE(test_jobs_kinds_admission_gates_of_the_job_are_its_workloads),
        CASE(test_jobs_kinds_job_is_told_what_its_pending_checks_say),
        CASE(test_jobs_kinds_running_child_stops_when_its_owners_workload_is_evicted),
        CASE(test_jobs_kinds_default_queue_that_is_unread_is_not_absent),
        CASE(test_jobs_kinds_child_of_an_unreadable_owner_stays_as_it_is),
        CASE(test_jobs_kinds_job_with_too_many_owners_is_reported),
        CASE(test_jobs_kinds_job_that_names_a_job_as_its_owner_is_queued_by_itself),
        CASE(test_jobs_kinds_job_that_cannot_be_counted_does_not_run),
        CASE(test_jobs_kinds_job_is_restored_when_its_pods_have_gone),
        CASE(test_jobs_kinds_job_that_runs_keeps_what_it_was_counted_with),
        CASE(test_jobs_kinds_workers_of_mpi_are_ranked_after_a_launcher_that_is_one),
        CASE(test_jobs_kinds_workers_of_mpi_are_ranked_alone_beside_a_launcher),
        CASE(test_jobs_kinds_workers_of_mpi_are_ranked_with_a_launcher_of_their_group),
        CASE(test_jobs_kinds_offset_that_a_template_says_itself_stays),
        CASE(test_jobs_kinds_job_waits_for_what_it_refers_to),
        CASE(test_jobs_kinds_job_keeps_its_workload_while_its_runtime_is_unread),
        CASE(test_jobs_kinds_job_that_cannot_be_counted_any_more_lets_its_deleted_workload_go),
        CASE(test_jobs_kinds_counted_one_without_pods_has_no_workload),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
