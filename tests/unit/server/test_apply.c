/* SPDX-License-Identifier: Apache-2.0
 * SPDX-FileCopyrightText: The Sluice authors */

/* Server-side apply and metadata.managedFields, by requests. */
#include "fixture.h"

#define APPLY "application/apply-patch+yaml"
#define MERGE "application/merge-patch+json"
#define CLUSTER_QUEUES "/apis/kueue.x-k8s.io/v1beta2/clusterqueues"
#define PODS "/api/v1/namespaces/default/pods"
#define JOBS "/apis/batch/v1/namespaces/default/jobs"
#define TIME "2026-08-22T10:00:00Z"

/* All entries, without their times. */
static const char *managers(struct fixture *f, struct sl_buf *out)
{
    const struct sl_json *list = sl_json_path(f->reply, "metadata.managedFields");
    sl_buf_reset(out);
    sl_buf_text(out, "");
    for (size_t i = 0; i < sl_json_len(list); i++) {
        const struct sl_json *entry = sl_json_at(list, i);
        assert_string_equal(sl_json_path_text(entry, "fieldsType", ""), "FieldsV1");
        sl_buf_print(
            out, "%s%s %s %s%s%s ", i > 0 ? "; " : "", sl_json_path_text(entry, "manager", ""),
            sl_json_path_text(entry, "operation", ""), sl_json_path_text(entry, "apiVersion", ""),
            sl_json_path_text(entry, "subresource", "")[0] != '\0' ? "/" : "",
            sl_json_path_text(entry, "subresource", ""));
        sl_json_print(sl_json_get(entry, "fieldsV1"), out);
    }
    return out->data;
}

static void assert_managers(struct fixture *f, const char *expected)
{
    struct sl_buf out = {0};
    assert_string_equal(managers(f, &out), expected);
    sl_buf_fini(&out);
}

static int apply(struct fixture *f, const char *uri, const char *body)
{
    return patch(f, uri, APPLY, body);
}

static void test_apply_creates_what_is_not_there(void **state)
{
    struct fixture *f = *state;
    static const char body[] =
        "apiVersion: kueue.x-k8s.io/v1beta2\nkind: LocalQueue\nmetadata:\n  name: q\n"
        "  labels: {a: b}\nspec:\n  clusterQueue: cq\n";
    assert_int_equal(apply(f, QUEUES "/q", body), 422); /* who applies? */
    assert_string_equal(text(f, "message"),
                        "PatchOptions.meta.k8s.io \"\" is invalid: fieldManager: Required value: "
                        "is required for apply patch");
    assert_int_equal(apply(f, QUEUES "/q?fieldManager=me", body), 201);
    assert_managers(f, "me Apply kueue.x-k8s.io/v1beta2 "
                       "{\"f:metadata\":{\"f:labels\":{\"f:a\":{}}},\"f:spec\":{\"f:clusterQueue\":"
                       "{}}}");
    assert_string_equal(sl_json_path_text(sl_json_at(sl_json_path(f->reply, "metadata."
                                                                            "managedFields"),
                                                     0),
                                          "time", ""),
                        TIME);
    assert_int_equal(apply(f, QUEUES "/none/status?fieldManager=me", "{status: {}}"), 404);
}

static void test_apply_again_changes_nothing(void **state)
{
    struct fixture *f = *state;
    static const char body[] = "{metadata: {name: q}, spec: {clusterQueue: cq}}";
    assert_int_equal(apply(f, QUEUES "/q?fieldManager=me", body), 201);
    char version[32];
    snprintf(version, sizeof version, "%s", text(f, "metadata.resourceVersion"));
    sl_clock_set_virtual(NOW_MS + 5000);
    assert_int_equal(apply(f, QUEUES "/q?fieldManager=me", body), 200);
    assert_string_equal(text(f, "metadata.resourceVersion"), version);
    assert_int_equal(apply(f, QUEUES "/q?fieldManager=you", body), 200);
    snprintf(version, sizeof version, "%s", text(f, "metadata.resourceVersion"));
    sl_clock_set_virtual(NOW_MS + 9000); /* the entries' order is by their times */
    assert_int_equal(apply(f, QUEUES "/q?fieldManager=me", body), 200);
    assert_string_equal(text(f, "metadata.resourceVersion"), version);
}

/* Who leaves a field out wants it gone: it is removed, or gets its default. */
static void test_apply_removes_what_is_no_longer_applied(void **state)
{
    struct fixture *f = *state;
    static const char path[] = CLUSTER_QUEUES "/q?fieldManager=me";
    assert_int_equal(
        apply(f, path,
              "{metadata: {labels: {a: b, c: d}}, spec: {cohortName: c, stopPolicy: Hold, "
              "preemption: {withinClusterQueue: LowerPriority}}}"),
        201);
    assert_int_equal(apply(f, path, "{metadata: {labels: {c: d}}, spec: {preemption: {}}}"), 200);
    assert_string_equal(text(f, "spec.cohortName"), "(absent)");
    assert_string_equal(text(f, "spec.stopPolicy"), "None");
    assert_string_equal(text(f, "spec.preemption.withinClusterQueue"), "Never");
    assert_string_equal(text(f, "metadata.labels.a"), "(absent)");
    assert_string_equal(text(f, "metadata.labels.c"), "d");
    assert_managers(f, "me Apply kueue.x-k8s.io/v1beta2 "
                       "{\"f:metadata\":{\"f:labels\":{\"f:c\":{}}},\"f:spec\":{\"f:preemption\":{}"
                       "}}");
    assert_int_equal(apply(f, path, "{metadata: {}}"), 200);
    assert_managers(f, "");
    assert_string_equal(text(f, "metadata.labels.c"), "(absent)");
}

/* What another one applies, too, stays when one of them leaves it out. */
static void test_apply_keeps_what_others_apply(void **state)
{
    struct fixture *f = *state;
    static const char body[] = "{spec: {clusterQueue: cq, stopPolicy: Hold}}";
    assert_int_equal(apply(f, QUEUES "/q?fieldManager=a", body), 201);
    assert_int_equal(apply(f, QUEUES "/q?fieldManager=b", body), 200);
    assert_managers(f, "a Apply kueue.x-k8s.io/v1beta2 "
                       "{\"f:spec\":{\"f:clusterQueue\":{},\"f:stopPolicy\":{}}}; "
                       "b Apply kueue.x-k8s.io/v1beta2 "
                       "{\"f:spec\":{\"f:clusterQueue\":{},\"f:stopPolicy\":{}}}");
    assert_int_equal(apply(f, QUEUES "/q?fieldManager=a", "{spec: {clusterQueue: cq}}"), 200);
    assert_string_equal(text(f, "spec.stopPolicy"), "Hold");
    assert_int_equal(apply(f, QUEUES "/q?fieldManager=b", "{spec: {clusterQueue: cq}}"), 200);
    assert_string_equal(text(f, "spec.stopPolicy"), "None");
}

static void test_apply_conflicts_name_managers_and_fields(void **state)
{
    struct fixture *f = *state;
    static const char a[] = CLUSTER_QUEUES "/q?fieldManager=a",
                      b[] = CLUSTER_QUEUES "/q?fieldManager=b";
    assert_int_equal(apply(f, a, "{spec: {cohortName: x, stopPolicy: Hold}}"), 201);
    assert_int_equal(apply(f, b, "{spec: {cohortName: z}}"), 409);
    assert_string_equal(text(f, "message"),
                        "Apply failed with 1 conflict: conflict with \"a\": .spec.cohortName");
    assert_string_equal(text(f, "reason"), "Conflict");
    assert_string_equal(text(f, "details.causes[0].reason"), "FieldManagerConflict");
    assert_string_equal(text(f, "details.causes[0].message"), "conflict with \"a\"");
    assert_string_equal(text(f, "details.causes[0].field"), ".spec.cohortName");
    assert_int_equal(patch(f, CLUSTER_QUEUES "/q?fieldManager=c", MERGE,
                           "{\"spec\":{\"stopPolicy\":\"HoldAndDrain\"}}"),
                     200);
    assert_int_equal(apply(f, b, "{spec: {cohortName: z, stopPolicy: None}}"), 409);
    assert_string_equal(text(f, "message"),
                        "Apply failed with 2 conflicts: conflicts with \"a\":\n- .spec.cohortName\n"
                        "conflicts with \"c\" using kueue.x-k8s.io/v1beta2:\n- .spec.stopPolicy");
    assert_int_equal(get(f, CLUSTER_QUEUES "/q"), 200);
    assert_string_equal(text(f, "spec.cohortName"), "x");
}

static void test_apply_with_force_takes_over(void **state)
{
    struct fixture *f = *state;
    assert_int_equal(
        apply(f, CLUSTER_QUEUES "/q?fieldManager=a", "{spec: {cohortName: x, stopPolicy: Hold}}"),
        201);
    assert_int_equal(
        apply(f, CLUSTER_QUEUES "/q?fieldManager=b&force=true", "{spec: {cohortName: z}}"), 200);
    assert_string_equal(text(f, "spec.cohortName"), "z");
    assert_managers(f, "a Apply kueue.x-k8s.io/v1beta2 {\"f:spec\":{\"f:stopPolicy\":{}}}; "
                       "b Apply kueue.x-k8s.io/v1beta2 {\"f:spec\":{\"f:cohortName\":{}}}");
    assert_int_equal(patch(f, CLUSTER_QUEUES "/q?force=true", MERGE, "{}"), 422);
    assert_string_equal(text(f, "details.causes[0].field"), "force");
}

/* Containers merge by their names, their ports by number and protocol. */
static void test_apply_merges_lists_by_keys(void **state)
{
    struct fixture *f = *state;
    assert_int_equal(apply(f, PODS "/p?fieldManager=a",
                           "{spec: {containers: [{name: x, image: i, env: [{name: A, value: '1'}], "
                           "ports: [{containerPort: 80}]}]}}"),
                     201);
    assert_managers(f, "a Apply v1 {\"f:spec\":{\"f:containers\":{\"k:{\\\"name\\\":\\\"x\\\"}\":{"
                       "\".\":{},\"f:env\":{\"k:{\\\"name\\\":\\\"A\\\"}\":{\".\":{},\"f:name\":{},"
                       "\"f:value\":{}}},\"f:image\":{},\"f:name\":{},\"f:ports\":{\"k:{"
                       "\\\"containerPort\\\":80,\\\"protocol\\\":\\\"TCP\\\"}\":{\".\":{},"
                       "\"f:containerPort\":{}}}}}}}");
    assert_int_equal(
        apply(f, PODS "/p?fieldManager=b", "{spec: {containers: [{name: x, image: j}]}}"), 409);
    assert_string_equal(
        text(f, "message"),
        "Apply failed with 1 conflict: conflict with \"a\": .spec.containers[name=\"x\"].image");
    assert_int_equal(apply(f, PODS "/p?fieldManager=b",
                           "{metadata: {labels: {a: b}}, spec: {containers: [{name: x}]}}"),
                     200);
    assert_int_equal(sl_json_len(sl_json_path(f->reply, "spec.containers[0].env")), 1);
}

/* Kubernetes' types have their members from the start, custom resources get them. */
static void test_create_and_update_record_who_did_it(void **state)
{
    struct fixture *f = *state;
    assert_int_equal(post(f, PODS "?fieldManager=kubectl-create",
                          "{\"metadata\":{\"name\":\"p\",\"labels\":{\"a\":\"b\"}},\"spec\":{"
                          "\"restartPolicy\":\"Never\",\"containers\":[{\"name\":\"x\"}]}}"),
                     201);
    assert_managers(f, "kubectl-create Update v1 {\"f:metadata\":{\"f:labels\":{\".\":{},\"f:a\":{}"
                       "}},\"f:spec\":{\"f:containers\":{\"k:{\\\"name\\\":\\\"x\\\"}\":{\".\":{},"
                       "\"f:name\":{}}},\"f:restartPolicy\":{},\"f:schedulerName\":{}}}");
    assert_int_equal(patch(f, PODS "/p?fieldManager=kubectl-label",
                           "application/strategic-merge-patch+json",
                           "{\"metadata\":{\"labels\":{\"a\":\"c\",\"d\":\"e\"}}}"),
                     200);
    assert_managers(f,
                    "kubectl-create Update v1 {\"f:metadata\":{\"f:labels\":{}},"
                    "\"f:spec\":{\"f:containers\":{\"k:{\\\"name\\\":\\\"x\\\"}\":{\".\":{},"
                    "\"f:name\":{}}},\"f:restartPolicy\":{},\"f:schedulerName\":{}}}; "
                    "kubectl-label Update v1 {\"f:metadata\":{\"f:labels\":{\"f:a\":{},\"f:d\":{}"
                    "}}}");
    make_queue(f, "q", "");
    assert_managers(f, "unknown Update kueue.x-k8s.io/v1beta2 {\"f:spec\":{\".\":{},"
                       "\"f:clusterQueue\":{},\"f:stopPolicy\":{}}}");
    assert_int_equal(
        patch(f, QUEUES "/q/status?fieldManager=s", MERGE, "{\"status\":{\"pendingWorkloads\":1}}"),
        200);
    assert_managers(f, "s Update kueue.x-k8s.io/v1beta2/status {\"f:status\":{\".\":{},"
                       "\"f:pendingWorkloads\":{}}}; "
                       "unknown Update kueue.x-k8s.io/v1beta2 {\"f:spec\":{\".\":{},"
                       "\"f:clusterQueue\":{},\"f:stopPolicy\":{}}}");
}

static int make_by_agent(struct fixture *f, const char *uri, const char *agent)
{
    forget(f);
    f->used = true;
    assert_true(sl_request_init(&f->r, &f->rest, "POST", uri));
    sl_buf_text(&f->r.body, "{\"metadata\":{\"generateName\":\"q-\"},\"spec\":{}}");
    f->r.user_agent = sl_mem_text(agent);
    sl_rest_serve(&f->r);
    while (f->r.wait) {
        sl_rest_committed(&f->r, sl_store_commit(f->rest.store, &f->e), &f->e);
    }
    f->reply = sl_json_parse(f->r.answer.body.data, f->r.answer.body.len, NULL);
    return f->r.answer.status;
}

static void test_manager_is_the_agent_by_default(void **state)
{
    struct fixture *f = *state;
    assert_int_equal(make_by_agent(f, CLUSTER_QUEUES, "my-tool/v1 (x/y) z"), 201);
    assert_string_equal(text(f, "metadata.managedFields[0].manager"), "my-tool");
    assert_int_equal(make_by_agent(f, CLUSTER_QUEUES, "a\tb"), 201);
    assert_string_equal(text(f, "metadata.managedFields[0].manager"), "ab");
    assert_int_equal(make_by_agent(f, CLUSTER_QUEUES, ""), 201);
    assert_string_equal(text(f, "metadata.managedFields[0].manager"), "unknown");
    assert_int_equal(make_by_agent(f, CLUSTER_QUEUES "?fieldManager=a%01", ""), 422);
    assert_string_equal(text(f, "details.causes[0].field"), "fieldManager");
    char uri[256] = CLUSTER_QUEUES "?fieldManager=";
    memset(uri + strlen(uri), 'x', SL_MANAGER_BYTES_MAX + 1);
    assert_int_equal(make_by_agent(f, uri, ""), 422);
    uri[strlen(uri) - 1] = '\0';
    assert_int_equal(make_by_agent(f, uri, ""), 201);
}

/* What the program itself makes is not tracked until something is applied to it, as what an older one has stored. */
static void test_apply_to_an_object_without_managers(void **state)
{
    struct fixture *f = *state;
    struct sl_json *q = sl_object_new(SL_KIND_LOCAL_QUEUE, "default", "q"), *result = NULL;
    sl_json_set_text(sl_json_path_make(q, "spec"), "clusterQueue", "cq");
    const struct sl_write w = {.verb = SL_VERB_CREATE,
                               .kind = SL_KIND_LOCAL_QUEUE,
                               .ns = "default",
                               .name = "",
                               .body = q};
    assert_int_equal(sl_store_apply(f->rest.store, &w, &result, &f->e), SL_CODE_OK);
    sl_json_free(result);
    sl_json_free(q);
    assert_int_equal(
        patch(f, QUEUES "/q?fieldManager=l", MERGE, "{\"metadata\":{\"labels\":{\"a\":\"b\"}}}"),
        200);
    assert_managers(f, "");
    assert_int_equal(apply(f, QUEUES "/q?fieldManager=me", "{spec: {clusterQueue: other}}"), 409);
    assert_string_equal(text(f, "message"),
                        "Apply failed with 1 conflict: conflict with \"before-first-apply\" using "
                        "kueue.x-k8s.io/v1beta2: .spec.clusterQueue");
    assert_int_equal(apply(f, QUEUES "/q?fieldManager=me", "{spec: {clusterQueue: cq}}"), 200);
    assert_managers(f,
                    "me Apply kueue.x-k8s.io/v1beta2 {\"f:spec\":{\"f:clusterQueue\":{}}}; "
                    "before-first-apply Update kueue.x-k8s.io/v1beta2 {\"f:metadata\":{"
                    "\"f:labels\":{\".\":{},\"f:a\":{}}},\"f:spec\":{\".\":{},\"f:clusterQueue\":"
                    "{},\"f:stopPolicy\":{}}}");
}

/* The program's own writes of tracked objects are said to be its own. */
static void test_own_writes_have_its_name(void **state)
{
    struct fixture *f = *state;
    make_queue(f, "q", "");
    struct sl_json *body = sl_json_new_map(), *result = NULL;
    sl_json_set_int(sl_json_path_make(body, "status"), "pendingWorkloads", 2);
    const struct sl_write w = {.verb = SL_VERB_PATCH_STATUS_MERGE,
                               .kind = SL_KIND_LOCAL_QUEUE,
                               .ns = "default",
                               .name = "q",
                               .body = body};
    assert_int_equal(sl_store_apply(f->rest.store, &w, &result, &f->e), SL_CODE_OK);
    sl_json_free(result);
    sl_json_free(body);
    assert_int_equal(get(f, QUEUES "/q"), 200);
    assert_managers(f, "sluice Update kueue.x-k8s.io/v1beta2/status {\"f:status\":{\".\":{},"
                       "\"f:pendingWorkloads\":{}}}; unknown Update kueue.x-k8s.io/v1beta2 "
                       "{\"f:spec\":{\".\":{},\"f:clusterQueue\":{},\"f:stopPolicy\":{}}}");
}

static void test_apply_to_a_status_merges_conditions_by_type(void **state)
{
    struct fixture *f = *state;
    make_queue(f, "q", "");
    const char *const set[][3] = {{"a", "A", "True"}, {"b", "B", "True"}, {"a", "A", "False"}};
    for (size_t i = 0; i < sizeof set / sizeof set[0]; i++) {
        char body[256], uri[128];
        snprintf(uri, sizeof uri, QUEUES "/q/status?fieldManager=%s", set[i][0]);
        snprintf(body, sizeof body,
                 "status: {conditions: [{type: %s, status: \"%s\", reason: R, message: m, "
                 "lastTransitionTime: \"2026-08-22T10:00:00Z\"}]}",
                 set[i][1], set[i][2]);
        assert_int_equal(apply(f, uri, body), 200);
    }
    assert_int_equal(sl_json_len(sl_json_path(f->reply, "status.conditions")), 2);
    assert_string_equal(text(f, "metadata.managedFields[0].subresource"), "status");
    assert_int_equal(apply(f, QUEUES "/q/status?fieldManager=b", "{status: {}}"), 200);
    assert_int_equal(sl_json_len(sl_json_path(f->reply, "status.conditions")), 1);
    assert_string_equal(text(f, "status.conditions[0].type"), "A");
}

static void test_apply_keeps_to_its_part(void **state)
{
    struct fixture *f = *state;
    assert_int_equal(apply(f, QUEUES "/q?fieldManager=me",
                           "{spec: {clusterQueue: cq}, status: {pendingWorkloads: 7}}"),
                     201);
    assert_managers(f, "me Apply kueue.x-k8s.io/v1beta2 {\"f:spec\":{\"f:clusterQueue\":{}}}");
    assert_int_equal(apply(f, QUEUES "/q/status?fieldManager=me",
                           "{metadata: {labels: {a: b}}, status: {pendingWorkloads: 7}}"),
                     200);
    assert_string_equal(text(f, "metadata.labels.a"), "(absent)");
    assert_int_equal(sl_json_path_int(f->reply, "status.pendingWorkloads", 0), 7);
}

static void test_apply_refuses_what_makes_no_sense(void **state)
{
    struct fixture *f = *state;
    make_queue(f, "q", "");
    assert_int_equal(
        apply(f, QUEUES "/q?fieldManager=me", "{metadata: {managedFields: []}, spec: {}}"), 400);
    assert_string_equal(text(f, "message"), "metadata.managedFields must be nil");
    assert_int_equal(apply(f, QUEUES "/q?fieldManager=me", "{kind: Job}"), 400);
    assert_int_equal(apply(f, QUEUES "/q?fieldManager=me", "{metadata: {name: other}}"), 400);
    assert_int_equal(
        apply(f, QUEUES "/q?fieldManager=me", "{metadata: {resourceVersion: '1'}, spec: {}}"), 409);
    assert_int_equal(
        apply(f, QUEUES "/q?fieldManager=me&fieldValidation=Strict", "{spec: {cluster: x}}"), 400);
    assert_int_equal(apply(f, QUEUES "/q?fieldManager=me", "{spec: {stopPolicy: Maybe}}"), 409);
    assert_int_equal(apply(f, QUEUES "/q?fieldManager=me&force=true", "{spec: {stopPolicy: X}}"),
                     422);
    assert_int_equal(get(f, QUEUES "/q"), 200);
    assert_string_equal(text(f, "spec.stopPolicy"), "None");
}

static void test_very_large_objects_are_not_tracked(void **state)
{
    struct fixture *f = *state;
    for (int count = 1500; count <= 1800; count += 300) {
        struct sl_buf body = {0};
        sl_buf_print(&body, "{\"metadata\":{\"name\":\"q%d\",\"labels\":{\"a\":\"b\"", count);
        for (int i = 0; i < count; i++) {
            sl_buf_print(&body, ",\"l%d\":\"x\"", i);
        }
        sl_buf_text(&body, "}},\"spec\":{}}");
        assert_int_equal(post(f, CLUSTER_QUEUES, body.data), 201);
        assert_int_equal(sl_json_len(sl_json_path(f->reply, "metadata.managedFields")),
                         count == 1500 ? 1 : 0);
        sl_buf_fini(&body);
    }
    assert_int_equal(apply(f, CLUSTER_QUEUES "/q1800?fieldManager=me&force=true",
                           "{metadata: {labels: {a: c}}}"),
                     200);
    assert_string_equal(text(f, "metadata.labels.a"), "c");
    assert_managers(f, "");
}

static void test_apply_of_an_empty_list_again(void **state)
{
    struct fixture *f = *state;
    static const char body[] = "{metadata: {labels: {a: b}, finalizers: []}, spec: {}}";
    static const char managed[] =
        "me Apply kueue.x-k8s.io/v1beta2 "
        "{\"f:metadata\":{\"f:finalizers\":{},\"f:labels\":{\"f:a\":{}}},\"f:spec\":{}}";
    for (int i = 0; i < 3; i++) {
        assert_int_equal(apply(f, CLUSTER_QUEUES "/q?fieldManager=me", body), i == 0 ? 201 : 200);
        assert_managers(f, managed);
    }
}

/* Dry runs say what would be, and nothing is. */
static void test_apply_dry_run_changes_nothing(void **state)
{
    struct fixture *f = *state;
    make_queue(f, "q", "");
    assert_int_equal(
        apply(f, QUEUES "/q?fieldManager=me&dryRun=All&force=true", "{spec: {stopPolicy: Hold}}"),
        200);
    assert_string_equal(text(f, "spec.stopPolicy"), "Hold");
    assert_int_equal(get(f, QUEUES "/q"), 200);
    assert_string_equal(text(f, "spec.stopPolicy"), "None");
    assert_managers(f, "unknown Update kueue.x-k8s.io/v1beta2 {\"f:spec\":{\".\":{},"
                       "\"f:clusterQueue\":{},\"f:stopPolicy\":{}}}");
}

/* kubectl hands over what it has applied on its own side; whoever writes nonsense there changes nothing. */
static void test_managers_can_be_written(void **state)
{
    struct fixture *f = *state;
    make_queue(f, "q", "");
    static const char own[] =
        "[{\"op\":\"replace\",\"path\":\"/metadata/managedFields\",\"value\":[{\"manager\":\"m\","
        "\"operation\":\"Apply\",\"apiVersion\":\"kueue.x-k8s.io/v1beta2\",\"time\":\"" TIME "\","
        "\"fieldsType\":\"FieldsV1\",\"fieldsV1\":{\"f:spec\":{\"f:clusterQueue\":{}}}}]}]";
    assert_int_equal(patch(f, QUEUES "/q", "application/json-patch+json", own), 200);
    assert_managers(f, "m Apply kueue.x-k8s.io/v1beta2 {\"f:spec\":{\"f:clusterQueue\":{}}}");
    static const char *const nonsense[] = {"[1]", "[]", "\"x\"", "[{\"manager\":\"x\"}]"};
    for (size_t i = 0; i < sizeof nonsense / sizeof nonsense[0]; i++) {
        char body[128];
        snprintf(body, sizeof body, "{\"metadata\":{\"managedFields\":%s}}", nonsense[i]);
        assert_int_equal(patch(f, QUEUES "/q", MERGE, body), 200);
        assert_managers(f, "m Apply kueue.x-k8s.io/v1beta2 {\"f:spec\":{\"f:clusterQueue\":{}}}");
    }
    assert_int_equal(patch(f, QUEUES "/q", MERGE, "{\"metadata\":{\"managedFields\":[{}]}}"), 200);
    assert_managers(f, "");
}

/* Many clients that update leave eleven entries at most: ten of theirs, and what is joined is still known. */
static void test_updating_managers_become_few(void **state)
{
    struct fixture *f = *state;
    make_queue(f, "q", "");
    for (int i = 0; i < 15; i++) {
        char uri[128], body[128];
        snprintf(uri, sizeof uri, QUEUES "/q?fieldManager=m%d", i);
        snprintf(body, sizeof body, "{\"metadata\":{\"labels\":{\"l%d\":\"x\"}}}", i);
        sl_clock_set_virtual(NOW_MS + 1000 * (i + 1));
        assert_int_equal(patch(f, uri, MERGE, body), 200);
    }
    const struct sl_json *list = sl_json_path(f->reply, "metadata.managedFields");
    assert_int_equal(sl_json_len(list), 10);
    assert_string_equal(text(f, "metadata.managedFields[0].manager"), "ancient-changes");
    const struct sl_json *labels =
        sl_json_path(sl_json_at(list, 0), "fieldsV1.f:metadata.f:labels");
    assert_int_equal(sl_json_len(labels), 1 + 6); /* with the map itself */
}

/* kubectl goes on from what it applied on its own side, as far as that is still so. */
static void test_apply_goes_on_from_the_annotation(void **state)
{
    struct fixture *f = *state;
    static const char annotation[] = "kubectl.kubernetes.io/last-applied-configuration";
    static const char *const said[] = {
        "{\\\"apiVersion\\\":\\\"kueue.x-k8s.io/v1beta2\\\",\\\"spec\\\":{\\\"cohortName\\\":"
        "\\\"x\\\",\\\"stopPolicy\\\":\\\"None\\\"}}",
        "{\\\"apiVersion\\\":\\\"v1\\\"}", "no JSON"};
    static const int expected[][2] = {{409, 200}, {409, 409}, {409, 409}};
    for (size_t i = 0; i < sizeof said / sizeof said[0]; i++) {
        char body[512], uri[128];
        snprintf(body, sizeof body,
                 "{\"metadata\":{\"name\":\"q%zu\",\"annotations\":{\"%s\":\"%s\"}},\"spec\":{"
                 "\"cohortName\":\"x\",\"stopPolicy\":\"Hold\"}}",
                 i, annotation, said[i]);
        assert_int_equal(post(f, CLUSTER_QUEUES "?fieldManager=kubectl-client-side-apply", body),
                         201);
        snprintf(uri, sizeof uri, CLUSTER_QUEUES "/q%zu?fieldManager=kubectl", i);
        assert_int_equal(apply(f, uri, "{spec: {cohortName: z, stopPolicy: HoldAndDrain}}"),
                         expected[i][0]);
        assert_non_null(strstr(text(f, "message"), ".spec.stopPolicy")); /* it was changed since */
        assert_int_equal(apply(f, uri, "{spec: {cohortName: z}}"), expected[i][1]);
    }
    assert_int_equal(get(f, CLUSTER_QUEUES "/q0"), 200);
    assert_string_equal(text(f, "spec.cohortName"), "z");
    assert_string_equal(
        text(f, "metadata.annotations[kubectl.kubernetes.io/last-applied-configuration]"),
        "{\"spec\":{\"cohortName\":\"z\"}}\n");
    assert_int_equal(apply(f, CLUSTER_QUEUES "/q1?fieldManager=other", "{spec: {cohortName: z}}"),
                     409);
}

/* What is sent in v1beta1 is recorded as it is stored. */
static void test_apply_in_v1beta1(void **state)
{
    struct fixture *f = *state;
    assert_int_equal(apply(f, "/apis/kueue.x-k8s.io/v1beta1/clusterqueues/q?fieldManager=me",
                           "{metadata: {name: q}, spec: {cohort: c}}"),
                     201);
    assert_string_equal(text(f, "spec.cohort"), "c");
    assert_int_equal(get(f, CLUSTER_QUEUES "/q"), 200);
    assert_managers(f, "me Apply kueue.x-k8s.io/v1beta2 {\"f:spec\":{\"f:cohortName\":{}}}");
    assert_int_equal(apply(f, "/apis/kueue.x-k8s.io/v1beta1/clusterqueues/q?fieldManager=me",
                           "{metadata: {name: q}, spec: {}}"),
                     200);
    assert_string_equal(text(f, "spec.cohort"), "(absent)");
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        CASE(test_apply_creates_what_is_not_there),
        CASE(test_apply_again_changes_nothing),
        CASE(test_apply_removes_what_is_no_longer_applied),
        CASE(test_apply_keeps_what_others_apply),
        CASE(test_apply_conflicts_name_managers_and_fields),
        CASE(test_apply_with_force_takes_over),
        CASE(test_apply_merges_lists_by_keys),
        CASE(test_create_and_update_record_who_did_it),
        CASE(test_manager_is_the_agent_by_default),
        CASE(test_apply_to_an_object_without_managers),
        CASE(test_own_writes_have_its_name),
        CASE(test_apply_to_a_status_merges_conditions_by_type),
        CASE(test_apply_keeps_to_its_part),
        CASE(test_apply_refuses_what_makes_no_sense),
        CASE(test_very_large_objects_are_not_tracked),
        CASE(test_apply_of_an_empty_list_again),
        CASE(test_apply_dry_run_changes_nothing),
        CASE(test_managers_can_be_written),
        CASE(test_updating_managers_become_few),
        CASE(test_apply_goes_on_from_the_annotation),
        CASE(test_apply_in_v1beta1),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
