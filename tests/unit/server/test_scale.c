/* SPDX-License-Identifier: Apache-2.0
 * SPDX-FileCopyrightText: The Sluice authors */

/* The subresource scale of kinds that have one. */
#include "fixture.h"

#define SETS "/apis/apps/v1/namespaces/default/statefulsets"
#define SCALE SETS "/web/scale"
#define MERGE "application/merge-patch+json"

static int setup_with_set(void **state)
{
    int rc = setup(state);
    if (rc == 0) {
        assert_int_equal(
            post(*state, SETS,
                 "{\"metadata\":{\"name\":\"web\"},\"spec\":{\"replicas\":3,\"selector\":{"
                 "\"matchLabels\":{\"app\":\"web\"},\"matchExpressions\":[{\"key\":\"tier\","
                 "\"operator\":\"In\",\"values\":[\"a\",\"b\"]},{\"key\":\"old\",\"operator\":"
                 "\"DoesNotExist\"},{\"key\":\"zone\",\"operator\":\"Exists\"}]}}}"),
            201);
        assert_int_equal(patch(*state, SETS "/web/status", MERGE, "{\"status\":{\"replicas\":2}}"),
                         200);
    }
    return rc;
}

static int put(struct fixture *f, const char *body)
{
    return call(f, (struct call){.method = "PUT", .uri = SCALE, .body = body});
}

static int64_t replicas(struct fixture *f)
{
    assert_int_equal(get(f, SETS "/web"), 200);
    return sl_json_path_int(f->reply, "spec.replicas", -1);
}

static void test_scale_is_read(void **state)
{
    struct fixture *f = *state;
    assert_int_equal(get(f, SCALE), 200);
    assert_string_equal(text(f, "kind"), "Scale");
    assert_string_equal(text(f, "apiVersion"), "autoscaling/v1");
    assert_string_equal(text(f, "metadata.name"), "web");
    assert_string_equal(text(f, "metadata.namespace"), "default");
    assert_int_equal(sl_json_path_int(f->reply, "spec.replicas", -1), 3);
    assert_int_equal(sl_json_path_int(f->reply, "status.replicas", -1), 2);
    assert_string_equal(text(f, "status.selector"), "app=web,tier in (a,b),!old,zone");
    assert_int_equal(get(f, SETS "/none/scale"), 404);
    assert_int_equal(get(f, "/apis/ray.io/v1/namespaces/default/rayjobs/a/scale"), 404);
}

static void test_scale_is_patched(void **state)
{
    struct fixture *f = *state;
    assert_int_equal(patch(f, SCALE, MERGE, "{\"spec\":{\"replicas\":5}}"), 200);
    assert_int_equal(sl_json_path_int(f->reply, "spec.replicas", -1), 5);
    assert_int_equal(replicas(f), 5);
    assert_int_equal(patch(f, SCALE, "application/json-patch+json",
                           "[{\"op\":\"replace\",\"path\":\"/spec/replicas\",\"value\":6}]"),
                     200);
    assert_int_equal(replicas(f), 6);
    assert_int_equal(patch(f, SCALE, MERGE, "{\"spec\":{\"replicas\":0}}"), 200);
    assert_int_equal(replicas(f), 0);
    assert_int_equal(get(f, SCALE), 200);
    assert_string_equal(text(f, "spec.replicas"), "(absent)"); /* as Go leaves a zero out */
    assert_int_equal(patch(f, SCALE "?dryRun=All", MERGE, "{\"spec\":{\"replicas\":9}}"), 200);
    assert_int_equal(sl_json_path_int(f->reply, "spec.replicas", -1), 9);
    assert_int_equal(replicas(f), 0);
    assert_int_equal(patch(f, SCALE, MERGE,
                           "{\"metadata\":{\"resourceVersion\":\"1\"},\"spec\":{\"replicas\":1}}"),
                     409);
    assert_int_equal(patch(f, SCALE, "application/json-patch+json", "[{\"op\":\"remove\"}]"), 400);
    assert_int_equal(patch(f, SCALE, "application/apply-patch+yaml", "{}"), 415);
    assert_int_equal(patch(f, SETS "/none/scale", MERGE, "{}"), 404);
}

static void test_scale_is_replaced(void **state)
{
    struct fixture *f = *state;
    assert_int_equal(put(f, "{\"kind\":\"Scale\",\"apiVersion\":\"autoscaling/v1\",\"metadata\":{"
                            "\"name\":\"web\"},\"spec\":{\"replicas\":4}}"),
                     200);
    assert_int_equal(replicas(f), 4);
    assert_int_equal(put(f, "{\"metadata\":{\"name\":\"web\"}}"), 200); /* a zero was left out */
    assert_int_equal(replicas(f), 0);
    assert_int_equal(put(f, "{\"metadata\":{\"name\":\"web\",\"uid\":\"x\"}}"), 409);
    assert_int_equal(put(f, "{\"metadata\":{\"name\":\"web\",\"resourceVersion\":\"1\"}}"), 409);
}

static void test_scale_refusals_say_what_is_wrong(void **state)
{
    struct fixture *f = *state;
    assert_int_equal(put(f, "{\"metadata\":{\"name\":\"web\"},\"spec\":{\"replicas\":-1}}"), 422);
    assert_string_equal(text(f, "message"),
                        "Scale.autoscaling \"web\" is invalid: spec.replicas: Invalid value: -1: "
                        "must be greater than or equal to 0");
    assert_string_equal(text(f, "details.causes.0.field"), "spec.replicas");
    assert_string_equal(text(f, "details.kind"), "Scale");
    static const char *const bodies[] = {
        "{\"spec\":{\"replicas\":\"many\"}}",
        "{\"spec\":{\"replicas\":2.5}}",
        "{\"spec\":{\"replicas\":3000000000}}",
        "{\"kind\":\"StatefulSet\"}",
        "{\"apiVersion\":\"apps/v1\"}",
        "{\"metadata\":{\"name\":\"other\"}}",
        "{\"metadata\":{\"namespace\":\"other\"}}",
        "[1]",
        "{",
    };
    for (size_t i = 0; i < sizeof bodies / sizeof bodies[0]; i++) {
        assert_int_equal(put(f, bodies[i]), 400);
    }
    assert_int_equal(patch(f, SCALE, MERGE, "{\"spec\":{\"replicas\":\"many\"}}"), 422);
    assert_string_equal(text(f, "details.causes.0.field"), "spec.replicas");
    assert_int_equal(patch(f, SCALE, MERGE, "{\"spec\":null}"), 200); /* a zero was left out */
    assert_int_equal(patch(f, SCALE, MERGE, "{\"spec\":{\"replicas\":3}}"), 200);
    assert_int_equal(patch(f, SCALE, MERGE, "[]"), 400);
    assert_int_equal(patch(f, SCALE "?force=true", MERGE, "{}"), 422);
    assert_int_equal(patch(f, SCALE "?dryRun=Some", MERGE, "{}"), 422);
    assert_int_equal(patch(f, SCALE "?fieldManager=%01", MERGE, "{}"), 422);
    assert_int_equal(call(f, (struct call){.method = "DELETE", .uri = SCALE}), 405);
    assert_string_equal(f->r.answer.allow, "GET, PUT, PATCH");
    assert_int_equal(replicas(f), 3);
}

static void test_scale_is_discovered(void **state)
{
    struct fixture *f = *state;
    assert_int_equal(get(f, "/apis/apps/v1"), 200);
    assert_string_equal(text(f, "resources.2.name"), "statefulsets/scale");
    assert_string_equal(text(f, "resources.2.kind"), "Scale");
    assert_string_equal(text(f, "resources.2.group"), "autoscaling");
    struct call c = {.method = "GET",
                     .uri = "/apis",
                     .accept = "application/json;g=apidiscovery.k8s.io;v=v2;"
                               "as=APIGroupDiscoveryList"};
    assert_int_equal(call(f, c), 200);
    assert_non_null(strstr(f->r.answer.body.data,
                           "{\"subresource\":\"scale\",\"responseKind\":{\"group\":\"autoscaling\","
                           "\"version\":\"v1\",\"kind\":\"Scale\"}"));
}

/* Whoever scales owns the number from then on, and says by what. */
static void test_scale_is_recorded(void **state)
{
    struct fixture *f = *state;
    assert_int_equal(patch(f, SCALE "?fieldManager=scaler", MERGE, "{\"spec\":{\"replicas\":5}}"),
                     200);
    assert_int_equal(get(f, SETS "/web"), 200);
    const struct sl_json *list = sl_json_path(f->reply, "metadata.managedFields");
    const struct sl_json *entry = NULL;
    for (size_t i = 0; i < sl_json_len(list); i++) {
        const struct sl_json *at = sl_json_at(list, i);
        bool by_scale = strcmp(sl_json_path_text(at, "subresource", ""), "scale") == 0;
        entry = by_scale ? at : entry;
        if (!by_scale) {
            assert_null(sl_json_path(at, "fieldsV1[f:spec][f:replicas]"));
        }
    }
    assert_string_equal(sl_json_path_text(entry, "manager", ""), "scaler");
    assert_string_equal(sl_json_path_text(entry, "operation", ""), "Update");
    assert_string_equal(sl_json_path_text(entry, "apiVersion", ""), "apps/v1");
    assert_non_null(sl_json_path(entry, "fieldsV1[f:spec][f:replicas]"));
    assert_int_equal(sl_json_path_int(f->reply, "metadata.generation", 0), 2);
    get(f, SCALE);
    assert_null(sl_json_path(f->reply, "metadata.managedFields"));
}

/* A job whose CRD says that its workers are scaled, and that has none by default. */
static void test_scale_of_workers(void **state)
{
    struct fixture *f = *state;
#define TORCH "/apis/kubeflow.org/v1/namespaces/default/pytorchjobs"
    assert_int_equal(
        post(f, TORCH,
             "{\"metadata\":{\"name\":\"a\"},\"spec\":{\"pytorchReplicaSpecs\":{\"Master\":{"
             "\"replicas\":1},\"Worker\":{}}}}"),
        201);
    assert_int_equal(post(f, TORCH,
                          "{\"metadata\":{\"name\":\"b\"},\"spec\":{\"pytorchReplicaSpecs\":{"
                          "\"Master\":{}}}}"),
                     201);
    assert_int_equal(get(f, TORCH "/a/scale"), 500);
    assert_string_equal(text(f, "message"),
                        "Internal error occurred: the spec replicas field "
                        "\".spec.pytorchReplicaSpecs.Worker.replicas\" does not exist");
    assert_int_equal(patch(f, TORCH "/a/scale", MERGE, "{\"spec\":{\"replicas\":4}}"), 200);
    assert_int_equal(patch(f, TORCH "/a/status", MERGE,
                           "{\"status\":{\"replicaStatuses\":{\"Worker\":{\"active\":2,"
                           "\"selector\":\"job=a\"}}}}"),
                     200);
    assert_int_equal(get(f, TORCH "/a/scale"), 200);
    assert_int_equal(sl_json_path_int(f->reply, "spec.replicas", -1), 4);
    assert_int_equal(sl_json_path_int(f->reply, "status.replicas", -1), 2);
    assert_string_equal(text(f, "status.selector"), "job=a");
    assert_int_equal(patch(f, TORCH "/a/scale", "application/strategic-merge-patch+json", "{}"),
                     415);
    assert_int_equal(patch(f, TORCH "/b/scale", MERGE, "{\"spec\":{\"replicas\":4}}"), 422);
    assert_string_equal(text(f, "details.causes.0.field"), "spec.pytorchReplicaSpecs.Worker");
}

#define WITH_SET(name) cmocka_unit_test_setup_teardown(name, setup_with_set, teardown)
int main(void)
{
    const struct CMUnitTest tests[] = {
        WITH_SET(test_scale_is_read),       WITH_SET(test_scale_is_patched),
        WITH_SET(test_scale_is_replaced),   WITH_SET(test_scale_refusals_say_what_is_wrong),
        WITH_SET(test_scale_is_discovered), WITH_SET(test_scale_is_recorded),
        WITH_SET(test_scale_of_workers),
    };
    enum sl_kind kind; /* named once, as at a daemon's start */
    return sl_kind_register("apps/v1", "StatefulSet", "statefulsets", &kind, NULL) == SL_CODE_OK &&
                   sl_kind_register("ray.io/v1", "RayJob", "rayjobs", &kind, NULL) == SL_CODE_OK &&
                   sl_kind_register("kubeflow.org/v1", "PyTorchJob", "pytorchjobs", &kind, NULL) ==
                       SL_CODE_OK
               ? cmocka_run_group_tests(tests, NULL, NULL)
               : 1;
}
