/* SPDX-License-Identifier: Apache-2.0
 * SPDX-FileCopyrightText: The Sluice authors */

/* What admission writes into the pod templates of parents. tests/cluster/test_webhook.py compares it with the policies. */
#include "api/admit/admit.h"
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>
#include <string.h>

#define PARENT "kueue.x-k8s.io/pod-suspending-parent"
#define SERVING "kueue.x-k8s.io/pod-group-serving"
#define OFFSET "kueue.x-k8s.io/pod-index-offset"
#define QUEUE "kueue.x-k8s.io/queue-name"
#define LEADER "spec.leaderWorkerTemplate.leaderTemplate"
#define WORKER "spec.leaderWorkerTemplate.workerTemplate"

static bool has_none(void *context, const char *ns)
{
    (void)context;
    (void)ns;
    return false;
}

static bool has_no_class(void *context)
{
    (void)context;
    return false;
}

static struct sl_json *admitted_new(const char *text, bool unnamed)
{
    struct sl_json *documents = sl_json_parse_yaml(text, strlen(text), NULL);
    const struct sl_admit_world world = {has_none, has_no_class, NULL};
    assert_non_null(documents);
    struct sl_json *o = sl_json_ref(sl_json_at(documents, 0));
    sl_json_free(documents);
    sl_admit_new(&world, SL_ADMIT_PARENT, unnamed, "ns", o);
    return o;
}

static const char *note_at(const struct sl_json *o, const char *template, const char *key)
{
    const char *text = sl_object_annotation(sl_json_path(o, template), key);
    return text == NULL ? "" : text;
}

static const char *label_at(const struct sl_json *o, const char *template, const char *key)
{
    const char *text = sl_object_label(sl_json_path(o, template), key);
    return text == NULL ? "" : text;
}

static void test_admit_template_of_a_statefulset_names_its_parent(void **state)
{
    (void)state;
    struct sl_json *o =
        admitted_new("{apiVersion: apps/v1, kind: StatefulSet, metadata: {labels: {" QUEUE
                     ": lq}}, spec: {template: {spec: {}}}}",
                     false);
    assert_string_equal(note_at(o, "spec.template", PARENT), "statefulset");
    assert_string_equal(note_at(o, "spec.template", SERVING), ""); /* its pods get that later */
    assert_string_equal(label_at(o, "spec.template", QUEUE), "lq");
    sl_json_free(o);
}

#define SET "{apiVersion: leaderworkerset.x-k8s.io/v1, kind: LeaderWorkerSet, metadata: {labels: {"
#define QUEUED SET QUEUE ": lq, kueue.x-k8s.io/priority-class: p}}, spec: {leaderWorkerTemplate: "

static void test_admit_templates_of_a_leaderworkerset_name_their_parent(void **state)
{
    (void)state;
    static const char *const templates[] = {LEADER, WORKER};
    struct sl_json *o =
        admitted_new(QUEUED "{leaderTemplate: {spec: {}}, workerTemplate: {spec: {}}}}}", false);
    for (size_t i = 0; i < 2; i++) {
        assert_string_equal(note_at(o, templates[i], PARENT),
                            "leaderworkerset.x-k8s.io/leaderworkerset");
        assert_string_equal(note_at(o, templates[i], SERVING), "true");
        assert_string_equal(label_at(o, templates[i], QUEUE), "lq");
        assert_string_equal(label_at(o, templates[i], "kueue.x-k8s.io/priority-class"), "p");
        assert_string_equal(note_at(o, templates[i], OFFSET), i == 1 ? "1" : "");
    }
    sl_json_free(o);
}

static void test_admit_workers_without_a_leader_or_beside_it_have_no_offset(void **state)
{
    (void)state;
    struct sl_json *alone = admitted_new(QUEUED "{workerTemplate: {spec: {}}}}}", false);
    struct sl_json *together =
        admitted_new(QUEUED "{leaderTemplate: {}, workerTemplate: {metadata: {annotations: "
                            "{kueue.x-k8s.io/podset-group-name: g}}}}}}",
                     false);
    assert_string_equal(note_at(alone, WORKER, OFFSET), "");
    assert_string_equal(note_at(alone, WORKER, SERVING), "true");
    assert_null(sl_json_path(alone, LEADER));
    assert_string_equal(note_at(together, WORKER, OFFSET), "");
    sl_json_free(alone);
    sl_json_free(together);
}

static void test_admit_what_is_another_parents_or_not_queued_stays(void **state)
{
    (void)state;
    static const char *const texts[] = {
        SET "}}, spec: {leaderWorkerTemplate: {workerTemplate: {}}}}",
        QUEUED "{workerTemplate: {metadata: {annotations: {" PARENT ": x}}}}}}",
        QUEUED "{leaderTemplate: {metadata: {annotations: {" PARENT ": x}}}, workerTemplate: {}}}}",
        QUEUED "{workerTemplate: 7}}}",
        "{apiVersion: apps/v1, kind: Deployment, metadata: {labels: {" QUEUE
        ": lq}}, spec: {template: {}}}",
        "{apiVersion: apps.example.com/v1, kind: StatefulSet, metadata: {labels: {" QUEUE
        ": lq}}, spec: {template: {}}}"};
    for (size_t i = 0; i < sizeof texts / sizeof texts[0]; i++) {
        struct sl_json *documents = sl_json_parse_yaml(texts[i], strlen(texts[i]), NULL);
        struct sl_json *o = admitted_new(texts[i], false);
        assert_true(sl_json_equal(o, sl_json_at(documents, 0)));
        sl_json_free(o);
        sl_json_free(documents);
    }
    struct sl_json *all = admitted_new(texts[0], true);
    assert_string_equal(note_at(all, WORKER, SERVING), "true"); /* manageJobsWithoutQueueName */
    sl_json_free(all);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_admit_template_of_a_statefulset_names_its_parent),
        cmocka_unit_test(test_admit_templates_of_a_leaderworkerset_name_their_parent),
        cmocka_unit_test(test_admit_workers_without_a_leader_or_beside_it_have_no_offset),
        cmocka_unit_test(test_admit_what_is_another_parents_or_not_queued_stays),
    };
    return cmocka_run_group_tests_name("admit", tests, NULL, NULL);
}
