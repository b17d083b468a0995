/* SPDX-License-Identifier: Apache-2.0
 * SPDX-FileCopyrightText: The Sluice authors */

/* What labels and annotations of jobs and plain Pods may say of their queue, and what may change when. */
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <setjmp.h>
#include <cmocka.h>
#include <string.h>

#include "fixture.h"

#define K "kueue.x-k8s.io/"
#define LABEL(key) "metadata.labels[" K key "]"
#define NOTE(key) "metadata.annotations[" K key "]"

/* Merge patches for the object as it is and as it was (NULL: it is created); without a field it is accepted. */
struct rule {
    const char *now, *before;
    const char *field, *reason, *text;
};

static void expect(enum sl_kind kind, const char *base, const struct rule *rules, size_t count)
{
    struct sl_json *object = yaml(base);
    sl_object_default(kind, object);
    for (size_t i = 0; i < count; i++) {
        const struct rule *rule = &rules[i];
        struct sl_json *old = rule->before == NULL ? NULL : with(object, rule->before);
        struct sl_json *now = with(object, rule->now);
        if (rule->field == NULL) {
            assert_fine(kind, now, old);
        } else {
            assert_complaint(kind, now, old, rule->field, rule->reason, rule->text);
        }
        if (old != NULL) {
            assert_fine(kind, old, old); /* whatever it is, it can be updated as it is */
        }
        sl_json_free(now);
        sl_json_free(old);
    }
    sl_json_free(object);
}
#define EXPECT(kind, base, rules) expect(kind, base, rules, sizeof(rules) / sizeof(rules)[0])

static const char job[] =
    "{metadata: {name: j, namespace: ns}, spec: {suspend: true, parallelism: 3, completions: 3, "
    "template: {spec: {restartPolicy: Never, containers: [{name: c}]}}}}";
#define RUNS "spec: {suspend: false}"
#define QUEUED "metadata: {labels: {" K "queue-name: q}}"
#define IMMUTABLE "field is immutable while the job is not suspended"

static void test_marks_job_changes_its_queue_only_while_suspended(void **state)
{
    (void)state;
    static const struct rule rules[] = {
        {"{" QUEUED "}", NULL, NULL, NULL, NULL},
        {"{" QUEUED "}", "{metadata: {labels: {" K "queue-name: r}}}", NULL, NULL, NULL},
        {"{" QUEUED "}", "{" RUNS "}", NULL, NULL, NULL}, /* stopped and queued at once */
        {"{" QUEUED "," RUNS "}", "{" QUEUED "}", NULL, NULL, NULL},
        {"{metadata: {labels: {" K "queue-name: ''}}, " RUNS "}", "{" RUNS "}", NULL, NULL, NULL},
        {"{metadata: {labels: {" K "queue-name: r}}, " RUNS "}", "{" QUEUED "," RUNS "}",
         LABEL("queue-name"), "FieldValueInvalid", IMMUTABLE},
        {"{" RUNS "}", "{" QUEUED "," RUNS "}", LABEL("queue-name"), "FieldValueInvalid",
         IMMUTABLE},
        {"{" QUEUED "," RUNS "}", "{" RUNS "}", LABEL("queue-name"), "FieldValueInvalid",
         IMMUTABLE},
    };
    EXPECT(SL_KIND_JOB, job, rules);
}

static void test_marks_job_names_queues_and_workloads_that_can_be(void **state)
{
    (void)state;
    static const struct rule rules[] = {
        {"{metadata: {labels: {" K "queue-name: Bad_Q}}}", NULL, LABEL("queue-name"),
         "FieldValueInvalid", "\"Bad_Q\": must be the name of a LocalQueue"},
        {"{metadata: {labels: {" K "queue-name: Bad_Q, a: b}}}",
         "{metadata: {labels: {" K "queue-name: Bad_Q}}}", NULL, NULL, NULL},
        {"{metadata: {labels: {" K "prebuilt-workload-name: Bad_W}}}", NULL,
         LABEL("prebuilt-workload-name"), "FieldValueInvalid", "must be the name of a Workload"},
        {"{metadata: {labels: {" K "prebuilt-workload-name: Bad_W}, annotations: {" K
         "prebuilt-workload-name: w}}}",
         NULL, NULL, NULL, NULL}, /* the annotation goes before the label */
        {"{metadata: {annotations: {" K "prebuilt-workload-name: Bad_W}}}", NULL,
         NOTE("prebuilt-workload-name"), "FieldValueInvalid", "must be the name of a Workload"},
        {"{metadata: {labels: {" K "prebuilt-workload-name: w}}, " RUNS "}", "{" RUNS "}",
         LABEL("prebuilt-workload-name"), "FieldValueInvalid", IMMUTABLE},
        {"{metadata: {labels: {" K "prebuilt-workload-name: w}}}", "{}", NULL, NULL, NULL},
    };
    EXPECT(SL_KIND_JOB, job, rules);
}

static void test_marks_job_limit_is_a_number_that_stays(void **state)
{
    (void)state;
#define LIMIT(value) "metadata: {labels: {" K "max-exec-time-seconds: '" value "'}}"
    static const char why[] = "must be a whole number greater than 0";
    static const struct rule rules[] = {
        {"{" LIMIT("60") "}", NULL, NULL, NULL, NULL},
        {"{" LIMIT("007") "}", NULL, NULL, NULL, NULL},
        {"{" LIMIT("abc") "}", NULL, LABEL("max-exec-time-seconds"), "FieldValueInvalid", why},
        {"{" LIMIT("0") "}", NULL, LABEL("max-exec-time-seconds"), "FieldValueInvalid", why},
        {"{" LIMIT("1h") "}", "{}", LABEL("max-exec-time-seconds"), "FieldValueInvalid", why},
        {"{" LIMIT("1234567890") "}", NULL, LABEL("max-exec-time-seconds"), "FieldValueInvalid",
         why},
        {"{" LIMIT("61") "}", "{" LIMIT("60") "}", NULL, NULL, NULL},
        {"{" LIMIT("61") "}", "{" LIMIT("60") "," RUNS "}", LABEL("max-exec-time-seconds"),
         "FieldValueInvalid", IMMUTABLE},
        {"{" LIMIT("61") "," RUNS "}", "{" LIMIT("60") "}", LABEL("max-exec-time-seconds"),
         "FieldValueInvalid", IMMUTABLE},
        {"{" LIMIT("60") "," RUNS "}", "{" LIMIT("60") "}", NULL, NULL, NULL},
    };
    EXPECT(SL_KIND_JOB, job, rules);
}

static void test_marks_job_class_is_neither_removed_nor_added_late(void **state)
{
    (void)state;
#define CLASS(value) "metadata: {labels: {" K "priority-class: " value "}}"
    static const struct rule rules[] = {
        {"{" CLASS("low") "," RUNS "}", "{" CLASS("high") "," RUNS "}", NULL, NULL, NULL},
        {"{" CLASS("low") "}", "{}", NULL, NULL, NULL},
        {"{" CLASS("low") "," RUNS "}", "{" RUNS "}", LABEL("priority-class"), "FieldValueInvalid",
         "cannot be added to a non-suspended workload"},
        {"{}", "{" CLASS("high") "}", LABEL("priority-class"), "FieldValueInvalid",
         "cannot be removed"},
        {"{" RUNS "}", "{" CLASS("high") "," RUNS "}", LABEL("priority-class"), "FieldValueInvalid",
         "cannot be removed"},
    };
    EXPECT(SL_KIND_JOB, job, rules);
}

static void test_marks_job_completions_follow_parallelism_of_indexed_jobs(void **state)
{
    (void)state;
#define FOLLOW(value)                                                                              \
    "metadata: {labels: {" K "queue-name: q}, annotations: {" K                                    \
    "job-completions-equal-parallelism: '" value "'}}"
#define INDEXED "completionMode: Indexed"
    static const char field[] = NOTE("job-completions-equal-parallelism");
    static const struct rule rules[] = {
        {"{" FOLLOW("false") "}", NULL, NULL, NULL, NULL},
        {"{" FOLLOW("true") ", spec: {" INDEXED "}}", NULL, NULL, NULL, NULL},
        {"{" FOLLOW("maybe") "}", NULL, field, "FieldValueInvalid", "must be true or false"},
        {"{" FOLLOW("maybe") "}", "{" FOLLOW("maybe") "}", NULL, NULL, NULL},
        {"{" FOLLOW("true") "}", NULL, field, "FieldValueInvalid", "only for Indexed jobs"},
        {"{" FOLLOW("true") ", spec: {" INDEXED ", completions: 4}}", NULL, "spec.completions",
         "FieldValueInvalid", "must be equal to parallelism"},
        {"{metadata: {annotations: {" K "job-completions-equal-parallelism: maybe}}}", NULL, NULL,
         NULL, NULL}, /* without a queue nobody reads it */
        {"{" FOLLOW("true") ", spec: {" INDEXED ", suspend: false}}",
         "{" FOLLOW("false") ", spec: {" INDEXED ", suspend: false}}", field, "FieldValueForbidden",
         IMMUTABLE},
        {"{" FOLLOW("true") ", spec: {" INDEXED ", parallelism: 5, completions: 5}}",
         "{" FOLLOW("true") ", spec: {" INDEXED "}}", NULL, NULL, NULL},
    };
    EXPECT(SL_KIND_JOB, job, rules);
}

static void test_marks_job_admitted_in_part_keeps_its_parallelism(void **state)
{
    (void)state;
#define PART(notes) "metadata: {labels: {" K "queue-name: q}, annotations: {" notes "}}"
#define LEAST(value) PART(K "job-min-parallelism: '" value "'")
    static const struct rule rules[] = {
        {"{" LEAST("2") "}", "{}", NULL, NULL, NULL},
        {"{" LEAST("3") "}", "{}", NOTE("job-min-parallelism"), "FieldValueInvalid", "from 1 to 2"},
        {"{" LEAST("2") ", spec: {completions: 2}}", NULL, NOTE("job-min-parallelism"),
         "FieldValueInvalid", "from 1 to 1"},
        {"{" LEAST("2") ", spec: {suspend: false, parallelism: 2}}", "{" LEAST("2") "}", NULL, NULL,
         NULL}, /* as it is admitted */
        {"{" LEAST("2") ", spec: {suspend: false, parallelism: 4}}", "{" LEAST("2") "," RUNS "}",
         "spec.parallelism", "FieldValueForbidden", "partial admission"},
        {"{" LEAST("2") ", spec: {parallelism: 4}}", "{" LEAST("2") "," RUNS "}", NULL, NULL, NULL},
    };
    EXPECT(SL_KIND_JOB, job, rules);
}

static void test_marks_custom_jobs_have_the_same_rules(void **state)
{
    (void)state;
    enum sl_kind set, mpi, other;
    struct sl_error e = {0};
    assert_int_equal(sl_kind_register("jobset.x-k8s.io/v1alpha2", "JobSet", "jobsets", &set, &e),
                     SL_CODE_OK);
    assert_int_equal(sl_kind_register("kubeflow.org/v2beta1", "MPIJob", "mpijobs", &mpi, &e),
                     SL_CODE_OK);
    assert_int_equal(sl_kind_register("example.com/v1", "Thing", "things", &other, &e), SL_CODE_OK);
    static const char base[] = "{metadata: {name: j, namespace: ns}, spec: {}}";
    static const struct rule sets[] = {
        {"{metadata: {labels: {" K "queue-name: Bad_Q}}, spec: {suspend: true}}", NULL,
         LABEL("queue-name"), "FieldValueInvalid", "LocalQueue"},
        {"{" QUEUED "}", "{}", LABEL("queue-name"), "FieldValueInvalid", IMMUTABLE},
    };
    static const struct rule mpis[] = {
        {"{" QUEUED ", spec: {runPolicy: {suspend: true}}}", "{}", NULL, NULL, NULL},
        {"{" QUEUED ", spec: {runPolicy: {suspend: false}}}", "{}", LABEL("queue-name"),
         "FieldValueInvalid", IMMUTABLE},
    };
    static const struct rule others[] = {
        {"{" QUEUED "}", "{}", NULL, NULL, NULL}, /* who knows how it is suspended? */
        {"{metadata: {labels: {" K "queue-name: Bad_Q}}}", NULL, LABEL("queue-name"),
         "FieldValueInvalid", "LocalQueue"},
    };
    EXPECT(set, base, sets);
    EXPECT(mpi, base, mpis);
    EXPECT(other, base, others);
    sl_kind_forget_custom();
}

/* --- plain Pods -------------------------------------------------------------------------------- */

static const char pod[] =
    "{metadata: {name: p, namespace: ns, labels: {" K "queue-name: q}}, "
    "spec: {containers: [{name: c}], schedulingGates: [{name: " K "admission}]}}";
#define OPEN "spec: {schedulingGates: null}"

static void test_marks_pod_changes_its_queue_only_while_gated(void **state)
{
    (void)state;
    static const char why[] = "field is immutable once the pod is not gated";
    static const struct rule rules[] = {
        {"{}", NULL, NULL, NULL, NULL},
        {"{metadata: {labels: {" K "queue-name: Bad_Q}}}", NULL, LABEL("queue-name"),
         "FieldValueInvalid", "must be the name of a LocalQueue"},
        {"{metadata: {labels: {" K "queue-name: r}}}", "{}", NULL, NULL, NULL},
        {"{" OPEN "}", "{}", NULL, NULL, NULL},
        {"{metadata: {labels: {" K "queue-name: r}}, " OPEN "}", "{" OPEN "}", LABEL("queue-name"),
         "FieldValueInvalid", why},
        {"{metadata: {labels: {" K "queue-name: null}}, " OPEN "}", "{" OPEN "}",
         LABEL("queue-name"), "FieldValueInvalid", why},
        {"{" LIMIT("1h") "}", "{}", LABEL("max-exec-time-seconds"), "FieldValueInvalid",
         "whole number"},
        {"{" LIMIT("60") "}", "{}", NULL, NULL, NULL},
        {"{" LIMIT("60") "," OPEN "}", "{" OPEN "}", LABEL("max-exec-time-seconds"),
         "FieldValueInvalid", why},
    };
    EXPECT(SL_KIND_POD, pod, rules);
}

static void test_marks_pod_managed_can_only_be_true(void **state)
{
    (void)state;
    static const struct rule rules[] = {
        {"{metadata: {labels: {" K "managed: 'true'}}}", NULL, NULL, NULL, NULL},
        {"{metadata: {labels: {" K "managed: 'no'}}}", "{}", LABEL("managed"),
         "FieldValueForbidden", "can only be 'true'"},
        {"{}", "{metadata: {labels: {" K "managed: 'true'}}}", NULL, NULL, NULL}, /* as in Kueue */
    };
    EXPECT(SL_KIND_POD, pod, rules);
}

static void test_marks_pod_group_has_a_name_and_a_count(void **state)
{
    (void)state;
#define MEMBER(name, total)                                                                        \
    "metadata: {labels: {" K "pod-group-name: " name "}, annotations: {" K                         \
    "pod-group-total-count: '" total "'}}"
#define PREBUILT(name) "annotations: {" K "prebuilt-workload-name: " name
    static const struct rule rules[] = {
        {"{" MEMBER("g", "2") "}", NULL, NULL, NULL, NULL},
        {"{metadata: {annotations: {" K "pod-group-name: g, " K "pod-group-total-count: '2'}}}",
         NULL, NULL, NULL, NULL},
        {"{metadata: {annotations: {" K "pod-group-total-count: '2'}}}", NULL,
         LABEL("pod-group-name"), "FieldValueRequired",
         "must be set together with " K "pod-group-total-count"},
        {"{metadata: {labels: {" K "pod-group-name: g}}}", NULL, NOTE("pod-group-total-count"),
         "FieldValueRequired", "must be set together with " K "pod-group-name"},
        {"{metadata: {labels: {" K "pod-group-name: g, a: b}}}",
         "{metadata: {labels: {" K "pod-group-name: g}}}", NULL, NULL, NULL},
        {"{" MEMBER("g", "x") "}", NULL, NOTE("pod-group-total-count"), "FieldValueInvalid",
         "whole number greater than 0"},
        {"{" MEMBER("g", "0") "}", NULL, NOTE("pod-group-total-count"), "FieldValueInvalid",
         "whole number greater than 0"},
        {"{" MEMBER("G_1", "2") "}", NULL, LABEL("pod-group-name"), "FieldValueInvalid",
         "must be a DNS subdomain"},
        {"{" MEMBER("h", "2") "}", "{" MEMBER("g", "2") "}", LABEL("pod-group-name"),
         "FieldValueInvalid", "field is immutable"},
        {"{metadata: {labels: {" K
         "pod-group-name: g}, " PREBUILT("w") ", " K "pod-group-total-count: '1'}}}",
         NULL, NOTE("prebuilt-workload-name"), "FieldValueInvalid", "should be equal"},
        {"{metadata: {labels: {" K
         "pod-group-name: g}, " PREBUILT("g") ", " K "pod-group-total-count: '1'}}}",
         NULL, NULL, NULL, NULL},
    };
    EXPECT(SL_KIND_POD, pod, rules);
}

static void test_marks_pod_group_that_is_not_retriable_stays_so(void **state)
{
    (void)state;
#define RETRY(value)                                                                               \
    "metadata: {labels: {" K "pod-group-name: g}, annotations: {" K                                \
    "pod-group-total-count: '2', " K "retriable-in-group: '" value "'}}"
    static const struct rule rules[] = {
        {"{" RETRY("false") "}", "{" RETRY("true") "}", NULL, NULL, NULL},
        {"{" RETRY("true") "}", "{" RETRY("false") "}", NOTE("retriable-in-group"),
         "FieldValueForbidden", "stays so"},
        {"{metadata: {annotations: {" K "podset-required-topology: a, " K
         "podset-preferred-topology: a}}}",
         NULL, "metadata.annotations", "FieldValueInvalid", "more than one"},
        {"{metadata: {annotations: {" K "podset-required-topology: rack}}}", NULL, NULL, NULL,
         NULL},
        {"{metadata: {annotations: {a: b, " K "podset-required-topology: a b}}}",
         "{metadata: {annotations: {" K "podset-required-topology: a b}}}", NULL, NULL, NULL},
    };
    EXPECT(SL_KIND_POD, pod, rules);
}

static void test_marks_pods_that_are_not_queued_say_what_they_want(void **state)
{
    (void)state;
    static const struct rule rules[] = {
        {"{metadata: {labels: {" K "queue-name: null}, annotations: {" K
         "pod-group-total-count: x}}}",
         NULL, NULL, NULL, NULL},
        {"{metadata: {labels: {" K "queue-name: Bad_Q}, ownerReferences: [{apiVersion: batch/v1, "
         "kind: Job, name: j, uid: u, controller: true}]}}",
         NULL, NULL, NULL, NULL}, /* of a Job's template */
    };
    EXPECT(SL_KIND_POD, pod, rules);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_marks_job_changes_its_queue_only_while_suspended),
        cmocka_unit_test(test_marks_job_names_queues_and_workloads_that_can_be),
        cmocka_unit_test(test_marks_job_limit_is_a_number_that_stays),
        cmocka_unit_test(test_marks_job_class_is_neither_removed_nor_added_late),
        cmocka_unit_test(test_marks_job_completions_follow_parallelism_of_indexed_jobs),
        cmocka_unit_test(test_marks_job_admitted_in_part_keeps_its_parallelism),
        cmocka_unit_test(test_marks_custom_jobs_have_the_same_rules),
        cmocka_unit_test(test_marks_pod_changes_its_queue_only_while_gated),
        cmocka_unit_test(test_marks_pod_managed_can_only_be_true),
        cmocka_unit_test(test_marks_pod_group_has_a_name_and_a_count),
        cmocka_unit_test(test_marks_pod_group_that_is_not_retriable_stays_so),
        cmocka_unit_test(test_marks_pods_that_are_not_queued_say_what_they_want),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
