/* SPDX-License-Identifier: Apache-2.0
 * SPDX-FileCopyrightText: The Sluice authors */

/* The kinds of topology and of capacity: what Kueue's CRDs refuse is refused, with the field named. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>
#include <cmocka.h>

#include "fixture.h"

struct bad {
    const char *patch, *field, *reason, *text;
};

static void refuse_all(enum sl_kind kind, const char *good, const struct bad *cases, size_t count)
{
    struct sl_json *base = yaml(good);
    sl_object_default(kind, base);
    assert_fine(kind, base, NULL);
    assert_fine(kind, base, base);
    for (size_t i = 0; i < count; i++) {
        struct sl_json *o = with(base, cases[i].patch);
        assert_complaint(kind, o, NULL, cases[i].field, cases[i].reason, cases[i].text);
        sl_json_free(o);
    }
    sl_json_free(base);
}
#define REFUSE(kind, good, cases) refuse_all(kind, good, cases, sizeof(cases) / sizeof(cases)[0])

static const char topology[] =
    "{metadata: {name: t}, spec: {levels: [{nodeLabel: cloud/block}, {nodeLabel: cloud/rack},"
    " {nodeLabel: kubernetes.io/hostname}]}}";

static void test_validate_topology_refusals(void **state)
{
    (void)state;
    static const struct bad cases[] = {
        {"{spec: null}", "spec", "FieldValueRequired", ""},
        {"{spec: {levels: null}}", "spec.levels", "FieldValueRequired", ""},
        {"{spec: {levels: []}}", "spec.levels", "FieldValueRequired", "at least 1"},
        {"{spec: {levels: [{nodeLabel: a}, {nodeLabel: b}, {nodeLabel: c}, {nodeLabel: d},"
         " {nodeLabel: e}, {nodeLabel: f}, {nodeLabel: g}, {nodeLabel: h}, {nodeLabel: i},"
         " {nodeLabel: j}, {nodeLabel: k}, {nodeLabel: l}, {nodeLabel: m}, {nodeLabel: r},"
         " {nodeLabel: o}, {nodeLabel: p}, {nodeLabel: q}]}}",
         "spec.levels", "FieldValueTooMany", "16"},
        {"{spec: {levels: [{}]}}", "spec.levels[0].nodeLabel", "FieldValueRequired", ""},
        {"{spec: {levels: [{nodeLabel: a/b/c}]}}", "spec.levels[0].nodeLabel", "FieldValueInvalid",
         ""},
        {"{spec: {levels: [{nodeLabel: a}, {nodeLabel: b}, {nodeLabel: a}]}}",
         "spec.levels[2].nodeLabel", "FieldValueDuplicate", "a"},
        {"{spec: {levels: [{nodeLabel: kubernetes.io/hostname}, {nodeLabel: a}]}}",
         "spec.levels[0].nodeLabel", "FieldValueInvalid", "lowest level"},
    };
    REFUSE(SL_KIND_TOPOLOGY, topology, cases);
}

static void test_validate_topology_changes_only_above_hosts(void **state)
{
    (void)state;
    static const char no_hosts[] = "{spec: {levels: [{nodeLabel: cloud/block}]}}";
    struct sl_json *old = yaml(topology);
    struct sl_json *o =
        with(old, "{spec: {levels: [{nodeLabel: row}, {nodeLabel: kubernetes.io/hostname}]}}");
    assert_fine(SL_KIND_TOPOLOGY, o, old);
    struct sl_json *without = with(old, no_hosts);
    assert_complaint(SL_KIND_TOPOLOGY, without, old, "spec.levels", "FieldValueInvalid",
                     "mutable only when kubernetes.io/hostname");
    assert_complaint(SL_KIND_TOPOLOGY, old, without, "spec.levels", "FieldValueInvalid",
                     "mutable only when kubernetes.io/hostname");
    assert_fine(SL_KIND_TOPOLOGY, without, without);
    sl_json_free(without);
    sl_json_free(o);
    sl_json_free(old);
}

static const char check[] =
    "{metadata: {name: c}, spec: {controllerName: kueue.x-k8s.io/provisioning-request, parameters:"
    " {apiGroup: kueue.x-k8s.io, kind: ProvisioningRequestConfig, name: conf}}}";

static void test_validate_admission_check_refusals(void **state)
{
    (void)state;
    static const struct bad cases[] = {
        {"{spec: {controllerName: null}}", "spec.controllerName", "FieldValueRequired", ""},
        {"{spec: {parameters: {apiGroup: null}}}", "spec.parameters.apiGroup", "FieldValueRequired",
         ""},
        {"{spec: {parameters: {apiGroup: Up}}}", "spec.parameters.apiGroup", "FieldValueInvalid",
         "subdomain"},
        {"{spec: {parameters: {kind: a_b}}}", "spec.parameters.kind", "FieldValueInvalid",
         "letters, digits"},
        {"{spec: {parameters: {kind: 1a}}}", "spec.parameters.kind", "FieldValueInvalid",
         "beginning with a letter"},
        {"{spec: {parameters: {name: a.b}}}", "spec.parameters.name", "FieldValueInvalid", "label"},
    };
    REFUSE(SL_KIND_ADMISSION_CHECK, check, cases);
    struct sl_json *old = yaml(check);
    struct sl_json *o = with(old, "{spec: {controllerName: other}}");
    assert_complaint(SL_KIND_ADMISSION_CHECK, o, old, "spec.controllerName", "FieldValueInvalid",
                     "immutable");
    sl_json_free(o);
    sl_json_free(old);
}

static const char config[] = "{metadata: {name: c}, spec: {provisioningClassName: class.example}}";

static void test_default_provisioning_config_as_kueue(void **state)
{
    (void)state;
    struct sl_json *o = yaml(config);
    sl_object_default(SL_KIND_PROVISIONING_REQUEST_CONFIG, o);
    assert_json(sl_json_path(o, "spec.retryStrategy"),
                "{\"backoffLimitCount\":3,\"backoffBaseSeconds\":60,\"backoffMaxSeconds\":1800}");
    sl_json_free(o);
}

static void test_validate_provisioning_config_refusals(void **state)
{
    (void)state;
    static const struct bad cases[] = {
        {"{spec: {provisioningClassName: null}}", "spec.provisioningClassName",
         "FieldValueRequired", ""},
        {"{spec: {provisioningClassName: a/b}}", "spec.provisioningClassName", "FieldValueInvalid",
         "subdomain"},
        {"{spec: {managedResources: [cpu, cpu]}}", "spec.managedResources[1]",
         "FieldValueDuplicate", "cpu"},
        {"{spec: {podSetMergePolicy: Always}}", "spec.podSetMergePolicy", "FieldValueNotSupported",
         "IdenticalPodTemplates"},
        {"{spec: {podSetUpdates: {nodeSelector: [{key: a}]}}}",
         "spec.podSetUpdates.nodeSelector[0].valueFromProvisioningClassDetail",
         "FieldValueRequired", ""},
        {"{spec: {retryStrategy: {backoffLimitCount: -1}}}", "spec.retryStrategy.backoffLimitCount",
         "FieldValueInvalid", ""},
    };
    REFUSE(SL_KIND_PROVISIONING_REQUEST_CONFIG, config, cases);
}

static const char request[] =
    "{metadata: {name: r, namespace: ns}, spec: {provisioningClassName: c, parameters: {a: b},"
    " podSets: [{podTemplateRef: {name: t}, count: 2}]}}";

static void test_validate_provisioning_request_refusals(void **state)
{
    (void)state;
    static const struct bad cases[] = {
        {"{spec: {podSets: []}}", "spec.podSets", "FieldValueRequired", "at least 1"},
        {"{spec: {podSets: [{podTemplateRef: {name: t}, count: 0}]}}", "spec.podSets[0].count",
         "FieldValueInvalid", ""},
        {"{spec: {podSets: [{podTemplateRef: {}, count: 1}]}}",
         "spec.podSets[0].podTemplateRef.name", "FieldValueRequired", ""},
        {"{spec: {parameters: {a: 5}}}", "spec.parameters[a]", "FieldValueTypeInvalid", "string"},
        {"{metadata: {namespace: null}}", "metadata.namespace", "FieldValueRequired", ""},
    };
    REFUSE(SL_KIND_PROVISIONING_REQUEST, request, cases);
    struct sl_json *old = yaml(request);
    struct sl_json *o = with(old, "{spec: {provisioningClassName: d}}");
    assert_complaint(SL_KIND_PROVISIONING_REQUEST, o, old, "spec.provisioningClassName",
                     "FieldValueInvalid", "immutable");
    sl_json_free(o);
    sl_json_free(old);
}

static void test_validate_pod_template_needs_containers(void **state)
{
    (void)state;
    static const struct bad cases[] = {
        {"{template: null}", "template", "FieldValueRequired", ""},
        {"{template: {spec: {containers: null}}}", "template.spec.containers", "FieldValueRequired",
         ""},
    };
    REFUSE(SL_KIND_POD_TEMPLATE,
           "{metadata: {name: p, namespace: ns}, template: {spec: {containers: [{name: c}]}}}",
           cases);
}

static void test_validate_node_taints_are_unique(void **state)
{
    (void)state;
    static const struct bad cases[] = {
        {"{spec: {taints: [{key: a, effect: NoSchedule}, {key: a, value: x, effect: NoSchedule}]}}",
         "spec.taints[1]", "FieldValueDuplicate", "a:NoSchedule"},
        {"{spec: {taints: [{key: a, effect: Never}]}}", "spec.taints[0].effect",
         "FieldValueNotSupported", "NoSchedule"},
    };
    REFUSE(SL_KIND_NODE,
           "{metadata: {name: host}, spec: {taints: [{key: a, effect: NoSchedule},"
           " {key: a, effect: NoExecute}]}, status: {allocatable: {cpu: 4}}}",
           cases);
}

static const char pod[] = "{metadata: {name: p, namespace: ns}, spec: {containers: [{name: c}],"
                          " schedulingGates: [{name: a}, {name: b}]}}";

static void test_validate_pod_gates_only_open_and_nodes_stay(void **state)
{
    (void)state;
    static const struct bad cases[] = {
        {"{spec: {nodeName: host}}", "spec.nodeName", "FieldValueForbidden", "schedulingGates"},
    };
    REFUSE(SL_KIND_POD, pod, cases);
    struct sl_json *gated = yaml(pod);
    struct sl_json *half = with(gated, "{spec: {schedulingGates: [{name: b}]}}");
    struct sl_json *open = with(gated, "{spec: {schedulingGates: null}}");
    struct sl_json *bound = with(open, "{spec: {nodeName: host}}");
    struct sl_json *moved = with(open, "{spec: {nodeName: other}}");
    assert_fine(SL_KIND_POD, half, gated);
    assert_fine(SL_KIND_POD, open, half);
    assert_fine(SL_KIND_POD, bound, open);
    assert_complaint(SL_KIND_POD, gated, half, "spec.schedulingGates[0]", "FieldValueForbidden",
                     "only deletion");
    assert_complaint(SL_KIND_POD, moved, bound, "spec.nodeName", "FieldValueInvalid", "immutable");
    assert_complaint(SL_KIND_POD, open, bound, "spec.nodeName", "FieldValueInvalid", "immutable");
    sl_json_free(moved);
    sl_json_free(bound);
    sl_json_free(open);
    sl_json_free(half);
    sl_json_free(gated);
}

static void prints(enum sl_kind kind, const char *object, const char *expected)
{
    struct sl_json *list = sl_json_new_list();
    struct sl_buf out = {0};
    sl_json_append(list, yaml(object));
    sl_table_print(kind, list, false, false, 1767225600000, &out);
    for (char *from = out.data, *to = out.data;;) { /* no blanks before the end of a line */
        size_t blanks = strspn(from, " ");
        from += from[blanks] == '\n' ? blanks : 0;
        *to++ = *from;
        if (*from++ == '\0') {
            break;
        }
    }
    assert_string_equal(out.data, expected);
    sl_buf_fini(&out);
    sl_json_free(list);
}

static void test_table_of_topology_and_capacity(void **state)
{
    (void)state;
    prints(SL_KIND_TOPOLOGY, topology,
           "NAME   LEVELS                                          AGE\n"
           "t      cloud/block,cloud/rack,kubernetes.io/hostname\n");
    prints(SL_KIND_ADMISSION_CHECK, check,
           "NAME   CONTROLLER                            ACTIVE   AGE\n"
           "c      kueue.x-k8s.io/provisioning-request\n");
    prints(SL_KIND_PROVISIONING_REQUEST,
           "{metadata: {name: r}, status: {conditions: [{type: Accepted, status: 'True'},"
           " {type: Provisioned, status: 'False'}]}}",
           "NAME   ACCEPTED   PROVISIONED   FAILED   AGE\n"
           "r      True       False\n");
    prints(SL_KIND_POD_TEMPLATE,
           "{metadata: {name: p}, template: {spec: {containers: [{name: a, image: i}, {name: b,"
           " image: j}]}}}",
           "NAME   CONTAINERS   IMAGES   AGE\n"
           "p      a,b          i,j\n");
}

static void test_kinds_of_topology_and_capacity_are_found_by_name(void **state)
{
    (void)state;
    assert_int_equal(sl_kind_find_name("topo"), SL_KIND_TOPOLOGY);
    assert_int_equal(sl_kind_find_name("ac"), SL_KIND_ADMISSION_CHECK);
    assert_int_equal(sl_kind_find_name("prc"), SL_KIND_PROVISIONING_REQUEST_CONFIG);
    assert_int_equal(sl_kind_find_name("provreq"), SL_KIND_PROVISIONING_REQUEST);
    assert_int_equal(sl_kind_find("autoscaling.x-k8s.io", "v1", "provisioningrequests"),
                     SL_KIND_PROVISIONING_REQUEST);
    assert_int_equal(sl_kind_find_object("v1", "PodTemplate"), SL_KIND_POD_TEMPLATE);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_validate_topology_refusals),
        cmocka_unit_test(test_validate_topology_changes_only_above_hosts),
        cmocka_unit_test(test_validate_admission_check_refusals),
        cmocka_unit_test(test_default_provisioning_config_as_kueue),
        cmocka_unit_test(test_validate_provisioning_config_refusals),
        cmocka_unit_test(test_validate_provisioning_request_refusals),
        cmocka_unit_test(test_validate_pod_template_needs_containers),
        cmocka_unit_test(test_validate_node_taints_are_unique),
        cmocka_unit_test(test_validate_pod_gates_only_open_and_nodes_stay),
        cmocka_unit_test(test_table_of_topology_and_capacity),
        cmocka_unit_test(test_kinds_of_topology_and_capacity_are_found_by_name),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
