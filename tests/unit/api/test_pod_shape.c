/* SPDX-License-Identifier: Apache-2.0
 * SPDX-FileCopyrightText: The Sluice authors */

/* What admission looks at in a pod's spec. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>
#include <cmocka.h>

#include "api/objects/pod_shape.h"
#include "fixture.h"

static void assert_shape(const char *spec, const char *shape)
{
    struct sl_json *in = yaml(spec);
    struct sl_json *out = sl_pod_shape_new(in);
    assert_json(out, shape);
    sl_json_free(out);
    sl_json_free(in);
}

static void test_pod_shape_of_nothing_is_nulls(void **state)
{
    (void)state;
    static const char nulls[] = "{\"affinity\":null,\"containers\":null,\"initContainers\":null,"
                                "\"nodeSelector\":null,\"overhead\":null,\"priority\":null,"
                                "\"resourceClaims\":null,\"runtimeClassName\":null,\"tolerations\":"
                                "null,\"topologySpreadConstraints\":null}";
    struct sl_json *shape = sl_pod_shape_new(NULL);
    assert_json(shape, nulls);
    assert_shape("{nodeSelector: {}, tolerations: [], containers: [], overhead: null}", nulls);
    sl_json_free(shape);
}

static void test_pod_shape_has_requests_and_ports_of_containers_and_the_pod(void **state)
{
    (void)state;
    assert_shape(
        "{volumes: [{name: v}], resources: {requests: {cpu: '3'}, limits: {cpu: '4'}}, "
        "tolerations: "
        "[{key: k}], containers: [{name: a, image: i, ports: [{containerPort: 80}], resources: "
        "{requests: {cpu: '1'}, limits: {cpu: '2'}}}, {name: b}]}",
        "{\"affinity\":null,\"containers\":[{\"ports\":[{\"containerPort\":80}],\"resources\":{"
        "\"requests\":{\"cpu\":\"1\"}}},{\"ports\":null,\"resources\":{\"requests\":null}}],"
        "\"initContainers\":null,\"nodeSelector\":null,\"overhead\":null,\"priority\":null,"
        "\"resourceClaims\":null,\"resources\":{\"cpu\":\"3\"},\"runtimeClassName\":null,"
        "\"tolerations\":[{\"key\":\"k\"}],\"topologySpreadConstraints\":null}");
}

static void test_pod_shape_keeps_an_affinity_that_says_nothing(void **state)
{
    (void)state;
    struct sl_json *spec = yaml("{affinity: {}}");
    struct sl_json *shape = sl_pod_shape_new(spec);
    assert_json(sl_json_get(shape, "affinity"), "{}");
    sl_json_free(shape);
    sl_json_free(spec);
}

static void test_pod_shape_has_quantities_of_one_form(void **state)
{
    (void)state;
    struct sl_json *spec = yaml("{overhead: {cpu: 0.5}, containers: [{resources: {requests: {cpu: "
                                "1000m, memory: 1024Mi, odd: [1]}}}]}");
    struct sl_json *shape = sl_pod_shape_new(spec);
    assert_json(sl_json_path(shape, "containers.0.resources.requests"),
                "{\"cpu\":\"1\",\"memory\":\"1Gi\",\"odd\":[1]}");
    assert_json(sl_json_get(shape, "overhead"), "{\"cpu\":\"500m\"}");
    sl_json_free(shape);
    sl_json_free(spec);
}

static void test_pod_shape_takes_limits_for_missing_requests_where_told(void **state)
{
    (void)state;
    struct sl_json *spec = yaml(
        "{resources: {limits: {cpu: '3'}}, initContainers: [{resources: {limits: {cpu: '2'}}}], "
        "containers: [{resources: {requests: {cpu: '1'}, limits: {cpu: '4', memory: 1Gi}}}, "
        "{resources: {requests: {cpu: '1'}}}, {}]}");
    struct sl_json *shape = sl_pod_shape_with_limits_new(spec);
    assert_json(sl_json_path(shape, "containers.0.resources.requests"),
                "{\"cpu\":\"1\",\"memory\":\"1Gi\"}");
    assert_json(sl_json_path(shape, "containers.1.resources.requests"), "{\"cpu\":\"1\"}");
    assert_json(sl_json_path(shape, "containers.2.resources.requests"), "null");
    assert_json(sl_json_path(shape, "initContainers.0.resources.requests"), "{\"cpu\":\"2\"}");
    assert_json(sl_json_get(shape, "resources"), "{\"cpu\":\"3\"}");
    sl_json_free(shape);
    sl_json_free(spec);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_pod_shape_of_nothing_is_nulls),
        cmocka_unit_test(test_pod_shape_has_quantities_of_one_form),
        cmocka_unit_test(test_pod_shape_takes_limits_for_missing_requests_where_told),
        cmocka_unit_test(test_pod_shape_keeps_an_affinity_that_says_nothing),
        cmocka_unit_test(test_pod_shape_has_requests_and_ports_of_containers_and_the_pod)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
