/* SPDX-License-Identifier: Apache-2.0
 * SPDX-FileCopyrightText: The Sluice authors */

/* The subresource binding of pods, as schedulers write it. */
#include "fixture.h"

#define PODS "/api/v1/namespaces/default/pods"
#define BINDING PODS "/p/binding"
#define TO(node) "{\"target\":{\"kind\":\"Node\",\"name\":\"" node "\"}}"

static void make_pod(struct fixture *f, const char *spec)
{
    char body[512];
    (void)snprintf(body, sizeof body,
                   "{\"metadata\":{\"name\":\"p\"},\"spec\":{\"containers\":[{\"name\":\"c\","
                   "\"image\":\"i\"}]%s}}",
                   spec);
    assert_int_equal(post(f, PODS, body), 201);
}

static void test_binding_gives_a_pod_its_node(void **state)
{
    struct fixture *f = *state;
    make_pod(f, "");
    assert_int_equal(post(f, BINDING "?dryRun=All", TO("n")), 201);
    assert_int_equal(get(f, PODS "/p"), 200);
    assert_string_equal(text(f, "spec.nodeName"), "(absent)");
    assert_int_equal(post(f, BINDING,
                          "{\"kind\":\"Binding\",\"apiVersion\":\"v1\",\"metadata\":{\"name\":"
                          "\"p\",\"annotations\":{\"a\":\"b\"}},\"target\":{\"name\":\"n\"}}"),
                     201);
    assert_string_equal(text(f, "kind"), "Status");
    assert_string_equal(text(f, "status"), "Success");
    assert_int_equal(get(f, PODS "/p"), 200);
    assert_string_equal(text(f, "spec.nodeName"), "n");
    assert_string_equal(text(f, "metadata.annotations.a"), "b");
    assert_string_equal(text(f, "status.conditions.0.type"), "PodScheduled");
    assert_string_equal(text(f, "status.conditions.0.status"), "True");
}

static void test_binding_is_refused_where_it_makes_no_sense(void **state)
{
    struct fixture *f = *state;
    assert_int_equal(post(f, BINDING, TO("n")), 404);
    make_pod(f, "");
    static const struct {
        const char *body;
        int status;
        const char *field;
    } rows[] = {
        {"{", 400, NULL},
        {"[]", 400, NULL},
        {"{\"kind\":\"Pod\"}", 400, NULL},
        {"{\"apiVersion\":\"v2\"}", 400, NULL},
        {"{\"metadata\":{\"name\":\"q\"},\"target\":{\"name\":\"n\"}}", 400, NULL},
        {"{\"target\":{}}", 422, "target.name"},
        {"{\"target\":{\"kind\":\"Pod\",\"name\":\"n\"}}", 422, "target.kind"},
        {"{\"metadata\":{\"uid\":\"x\"},\"target\":{\"name\":\"n\"}}", 409, NULL},
    };
    for (size_t i = 0; i < sizeof rows / sizeof rows[0]; i++) {
        assert_int_equal(post(f, BINDING, rows[i].body), rows[i].status);
        if (rows[i].field != NULL) {
            assert_string_equal(text(f, "details.causes.0.field"), rows[i].field);
        }
    }
    assert_int_equal(post(f, BINDING "?dryRun=Some", TO("n")), 422);
    assert_int_equal(get(f, BINDING), 405);
    assert_string_equal(f->r.answer.allow, "POST");
    assert_int_equal(get(f, "/apis/batch/v1/namespaces/default/jobs/j/binding"), 404);
    assert_int_equal(get(f, PODS "/p"), 200);
    assert_string_equal(text(f, "spec.nodeName"), "(absent)");
}

static void test_binding_happens_once_and_to_pods_that_may_run(void **state)
{
    struct fixture *f = *state;
    make_pod(f, ",\"schedulingGates\":[{\"name\":\"g\"}]");
    assert_int_equal(post(f, BINDING, TO("n")), 409);
    assert_non_null(strstr(text(f, "message"), "pod p has non-empty .spec.schedulingGates"));
    assert_int_equal(patch(f, PODS "/p", "application/merge-patch+json",
                           "{\"metadata\":{\"finalizers\":[\"a/b\"]},\"spec\":{"
                           "\"schedulingGates\":null}}"),
                     200);
    assert_int_equal(post(f, BINDING, TO("n")), 201);
    assert_int_equal(post(f, BINDING, TO("m")), 409);
    assert_string_equal(text(f, "message"),
                        "Operation cannot be fulfilled on pods/binding \"p\": pod p is already "
                        "assigned to node \"n\"");
    assert_int_equal(call(f, (struct call){.method = "DELETE", .uri = PODS "/p"}), 200);
    assert_int_equal(post(f, BINDING, TO("m")), 409);
    assert_non_null(strstr(text(f, "message"), "pod p is being deleted"));
}

static void test_binding_is_discovered(void **state)
{
    struct fixture *f = *state;
    assert_int_equal(get(f, "/api/v1"), 200);
    assert_non_null(strstr(f->r.answer.body.data,
                           "{\"name\":\"pods/binding\",\"singularName\":\"\",\"namespaced\":true,"
                           "\"kind\":\"Binding\",\"verbs\":[\"create\"]}"));
    struct call c = {.method = "GET",
                     .uri = "/api",
                     .accept = "application/json;g=apidiscovery.k8s.io;v=v2;"
                               "as=APIGroupDiscoveryList"};
    assert_int_equal(call(f, c), 200);
    assert_non_null(strstr(f->r.answer.body.data,
                           "{\"subresource\":\"binding\",\"responseKind\":{\"group\":\"\","
                           "\"version\":\"v1\",\"kind\":\"Binding\"},\"verbs\":[\"create\"]}"));
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        CASE(test_binding_gives_a_pod_its_node),
        CASE(test_binding_is_refused_where_it_makes_no_sense),
        CASE(test_binding_happens_once_and_to_pods_that_may_run),
        CASE(test_binding_is_discovered),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
