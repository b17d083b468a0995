/* SPDX-License-Identifier: Apache-2.0
 * SPDX-FileCopyrightText: The Sluice authors */

/* Defaults and validation along the tables, with the rules of each kind. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>
#include <cmocka.h>

#include "fixture.h"

static const char queue_yaml[] =
    "apiVersion: kueue.x-k8s.io/v1beta2\nkind: ClusterQueue\nmetadata: {name: cq}\nspec:\n  "
    "cohortName: all\n"
    "  namespaceSelector: {}\n  resourceGroups:\n  - coveredResources: [cpu, memory]\n    "
    "flavors:\n"
    "    - name: spot\n      resources:\n      - {name: cpu, nominalQuota: 9, borrowingLimit: 2, "
    "lendingLimit: 4}\n"
    "      - {name: memory, nominalQuota: 36Gi}\n    - name: solid\n      resources:\n"
    "      - {name: cpu, nominalQuota: 1}\n      - {name: memory, nominalQuota: 1Gi}\n"
    "  - coveredResources: [gpu]\n    flavors:\n    - name: cards\n      resources:\n      - "
    "{name: gpu, nominalQuota: 5}\n";
static const char job_yaml[] = "apiVersion: batch/v1\nkind: Job\nmetadata: {name: j, namespace: "
                               "ns}\nspec:\n  suspend: true\n  template:\n"
                               "    spec:\n      restartPolicy: Never\n      containers:\n      - "
                               "name: c\n        image: busybox\n"
                               "        resources: {requests: {cpu: 0.5, memory: 1024Mi}}\n";
static const char workload_yaml[] =
    "apiVersion: kueue.x-k8s.io/v1beta2\nkind: Workload\nmetadata: {name: w, namespace: "
    "ns}\nspec:\n"
    "  queueName: lq\n  podSets:\n  - name: main\n    count: 3\n    template:\n      spec:\n       "
    " containers:\n"
    "        - name: c\n          resources: {requests: {cpu: 1}}\n";
static const char reserved_yaml[] =
    "status:\n  conditions:\n  - {type: QuotaReserved, status: 'True', reason: QuotaReserved, "
    "message: '',"
    " lastTransitionTime: '2026-01-01T00:00:00Z'}\n  admission:\n    clusterQueue: cq\n    "
    "podSetAssignments:\n"
    "    - {name: main, flavors: {cpu: spot}, resourceUsage: {cpu: 3}, count: 3}\n";

static struct sl_json *defaulted(enum sl_kind kind, const char *text)
{
    struct sl_json *o = yaml(text);
    sl_object_default(kind, o);
    return o;
}

static void test_default_cluster_queue_as_kueue(void **state)
{
    (void)state;
    struct sl_json *o =
        defaulted(SL_KIND_CLUSTER_QUEUE, "{metadata: {name: q}, spec: {fairSharing: {}}}");
    assert_json(
        sl_json_get(o, "spec"),
        "{\"fairSharing\":{\"weight\":1},\"queueingStrategy\":\"BestEffortFIFO\","
        "\"flavorFungibility\":"
        "{\"whenCanBorrow\":\"MayStopSearch\",\"whenCanPreempt\":\"TryNextFlavor\"},\"preemption\":"
        "{\"reclaimWithinCohort\":\"Never\",\"withinClusterQueue\":\"Never\","
        "\"borrowWithinCohort\":"
        "{\"policy\":\"Never\"}},\"stopPolicy\":\"None\"}");
    sl_json_free(o);
    o = defaulted(SL_KIND_CLUSTER_QUEUE, "{metadata: {name: q}, spec: {stopPolicy: Hold, "
                                         "preemption: {withinClusterQueue: LowerPriority}}}");
    assert_string_equal(sl_json_path_text(o, "spec.stopPolicy", ""), "Hold");
    assert_string_equal(sl_json_path_text(o, "spec.preemption.withinClusterQueue", ""),
                        "LowerPriority");
    assert_string_equal(sl_json_path_text(o, "spec.preemption.reclaimWithinCohort", ""), "Never");
    assert_false(sl_json_has(sl_json_get(o, "spec"), "fairSharing"));
    sl_json_free(o);
}

static void test_default_workload_fills_list_items(void **state)
{
    (void)state;
    struct sl_json *o =
        defaulted(SL_KIND_WORKLOAD,
                  "{metadata: {name: w, namespace: ns}, spec: {podSets: [{template: {}}]}}");
    assert_json(sl_json_get(o, "spec"),
                "{\"podSets\":[{\"template\":{},\"name\":\"main\",\"count\":1}],\"active\":true}");
    sl_json_free(o);
}

static void test_default_job_as_kubernetes(void **state)
{
    (void)state;
    struct sl_json *o = defaulted(SL_KIND_JOB, job_yaml);
    assert_int_equal(sl_json_path_int(o, "spec.parallelism", 0), 1);
    assert_int_equal(sl_json_path_int(o, "spec.completions", 0), 1);
    assert_int_equal(sl_json_path_int(o, "spec.backoffLimit", 0), 6);
    assert_true(sl_json_path_bool(o, "spec.suspend", false));
    assert_json(sl_json_path(o, "spec.template.spec.containers.0.resources.requests"),
                "{\"cpu\":\"500m\",\"memory\":\"1Gi\"}");
    sl_json_free(o);
    o = defaulted(SL_KIND_JOB, "{metadata: {name: j}, spec: {parallelism: 3}}");
    assert_null(sl_json_path(o, "spec.completions"));
    sl_json_free(o);
}

static void test_default_new_job_with_a_queue_starts_suspended(void **state)
{
    (void)state;
    struct sl_json *o = yaml(
        "{metadata: {name: j, labels: {kueue.x-k8s.io/queue-name: q}}, spec: {suspend: false}}");
    sl_object_default_new(SL_KIND_JOB, o);
    assert_true(sl_json_path_bool(o, "spec.suspend", false));
    sl_json_set_bool(sl_json_get(o, "spec"), "suspend", false);
    sl_object_default(SL_KIND_JOB, o);
    assert_false(sl_json_path_bool(o, "spec.suspend", true));
    sl_json_free(o);
    o = yaml("{metadata: {name: j}, spec: {}}");
    sl_object_default_new(SL_KIND_JOB, o);
    assert_false(sl_json_path_bool(o, "spec.suspend", true));
    sl_json_free(o);
}

static void test_default_pod_of_a_group_has_its_number_in_our_label(void **state)
{
    (void)state;
    static const char pod[] =
        "{metadata: {name: p, namespace: ns, labels: {kueue.x-k8s.io/queue-name: q, at: '3'}, "
        "annotations: {kueue.x-k8s.io/pod-group-pod-index-label: at}}, spec: {containers: [{name: "
        "c}]}}";
    static const char path[] = "kueue.x-k8s.io/pod-group-pod-index";
    struct sl_json *o = yaml(pod), *other = yaml(pod), *free = yaml(pod);
    sl_json_remove(sl_json_path(other, "metadata.labels"), "at");
    sl_json_remove(sl_json_path(free, "metadata.labels"), "kueue.x-k8s.io/queue-name");
    sl_object_default_new(SL_KIND_POD, o);
    sl_object_default_new(SL_KIND_POD, other);
    sl_object_default_new(SL_KIND_POD, free);
    assert_string_equal(sl_object_label(o, path), "3");
    assert_null(sl_object_label(other, path));
    assert_null(sl_object_label(free, path));
    sl_json_free(o);
    sl_json_free(other);
    sl_json_free(free);
}

static void test_default_keeps_unknown_fields_and_odd_types(void **state)
{
    (void)state;
    struct sl_json *o =
        defaulted(SL_KIND_CLUSTER_QUEUE, "{spec: [1], status: {future: {a: [1.50]}}, extra: 7}");
    assert_json(o, "{\"spec\":[1],\"status\":{\"future\":{\"a\":[1.5]}},\"extra\":7}");
    sl_json_free(o);
}

static void test_validate_good_objects_pass(void **state)
{
    (void)state;
    struct sl_json *o = defaulted(SL_KIND_CLUSTER_QUEUE, queue_yaml);
    assert_fine(SL_KIND_CLUSTER_QUEUE, o, NULL);
    assert_fine(SL_KIND_CLUSTER_QUEUE, o, o);
    sl_json_free(o);
    o = defaulted(SL_KIND_JOB, job_yaml);
    assert_fine(SL_KIND_JOB, o, NULL);
    sl_json_free(o);
    o = defaulted(SL_KIND_WORKLOAD, workload_yaml);
    assert_fine(SL_KIND_WORKLOAD, o, NULL);
    struct sl_json *reserved = with(o, reserved_yaml);
    assert_fine(SL_KIND_WORKLOAD, reserved, o);
    sl_json_free(reserved);
    sl_json_free(o);
}

static void test_validate_all_complaints_come_at_once(void **state)
{
    (void)state;
    struct sl_json *o =
        yaml("{metadata: {name: Bad_Name, labels: {-x: ok, z: 'no way'}}, spec: {cohortName: '',"
             " queueingStrategy: LIFO, resourceGroups: [{coveredResources: [cpu], flavors:"
             " [{name: f, resources: [{name: cpu, nominalQuota: lots}]}]}]}}");
    struct sl_error e = {0};
    assert_int_equal(sl_object_validate(SL_KIND_CLUSTER_QUEUE, o, NULL, &e), SL_CODE_INVALID);
    assert_int_equal(e.cause_count, 6);
    assert_non_null(cause_of(&e, "metadata.name"));
    assert_non_null(cause_of(&e, "metadata.labels[-x]"));
    assert_non_null(cause_of(&e, "metadata.labels[z]"));
    assert_non_null(cause_of(&e, "spec.cohortName"));
    assert_string_equal(
        cause_of(&e, "spec.queueingStrategy")->text,
        "Unsupported value: \"LIFO\": supported values: \"StrictFIFO\", \"BestEffortFIFO\"");
    assert_non_null(cause_of(&e, "spec.resourceGroups[0].flavors[0].resources[0].nominalQuota"));
    assert_non_null(
        strstr(e.text, "ClusterQueue.kueue.x-k8s.io \"Bad_Name\" is invalid: [metadata.name: "));
    sl_json_free(o);
}

/* A merge patch onto a good object, and the one complaint it must cause. */
struct bad {
    const char *patch, *field, *reason, *text;
};

static void check_bad(enum sl_kind kind, const char *base_yaml, const struct bad *cases,
                      size_t count)
{
    struct sl_json *base = defaulted(kind, base_yaml);
    for (size_t i = 0; i < count; i++) {
        struct sl_json *o =
            cases[i].patch[0] == '[' ? patched(base, cases[i].patch) : with(base, cases[i].patch);
        assert_complaint(kind, o, NULL, cases[i].field, cases[i].reason, cases[i].text);
        sl_json_free(o);
    }
    sl_json_free(base);
}
#define CHECK_BAD(kind, base, cases) check_bad(kind, base, cases, sizeof(cases) / sizeof(cases)[0])

static const char long_name[] =
    "{metadata: {name: "
    "aaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaa"
    "aaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaa"
    "aaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaa}}";

static void test_validate_metadata_refusals(void **state)
{
    (void)state;
    static const struct bad cases[] = {
        {"{metadata: {name: null}}", "metadata.name", "FieldValueRequired", "name or generateName"},
        {"{metadata: {name: null, generateName: Up-}}", "metadata.generateName",
         "FieldValueInvalid", "lower case"},
        {"{metadata: {name: 5}}", "metadata.name", "FieldValueTypeInvalid", "string"},
        {"{metadata: {namespace: true}}", "metadata.namespace", "FieldValueTypeInvalid", "string"},
        {"{metadata: {name: a..b}}", "metadata.name", "FieldValueInvalid", "subdomain"},
        {"{metadata: {name: -a}}", "metadata.name", "FieldValueInvalid", "subdomain"},
        {long_name, "metadata.name", "FieldValueInvalid", "253"},
        {"{metadata: {namespace: x}}", "metadata.namespace", "FieldValueForbidden",
         "not allowed on this type"},
        {"{metadata: {labels: {a/b/c: x}}}", "metadata.labels[a/b/c]", "FieldValueInvalid",
         "name part"},
        {"{metadata: {labels: {/a: x}}}", "metadata.labels[/a]", "FieldValueInvalid", "prefix"},
        {"{metadata: {labels: {a: 5}}}", "metadata.labels[a]", "FieldValueTypeInvalid",
         "must be a string"},
        {"{metadata: {labels: [a]}}", "metadata.labels", "FieldValueTypeInvalid",
         "must be an object"},
        {"{metadata: {annotations: {a: true}}}", "metadata.annotations[a]", "FieldValueTypeInvalid",
         "must be a string"},
        {"{metadata: {finalizers: [a, a]}}", "metadata.finalizers[1]", "FieldValueDuplicate",
         "\"a\""},
        {"{metadata: {ownerReferences: [{apiVersion: v1, kind: Pod, name: x}]}}",
         "metadata.ownerReferences[0].uid", "FieldValueRequired", "Required value"},
        {"{metadata: {creationTimestamp: yesterday}}", "metadata.creationTimestamp",
         "FieldValueInvalid", "must be a time"},
    };
    CHECK_BAD(SL_KIND_CLUSTER_QUEUE, queue_yaml, cases);
    struct sl_json *o = yaml("{metadata: {name: a.b}}");
    assert_complaint(SL_KIND_NAMESPACE, o, NULL, "metadata.name", "FieldValueInvalid", "label");
    sl_json_free(o);
    o = yaml("{metadata: {name: a}}");
    assert_complaint(SL_KIND_LOCAL_QUEUE, o, NULL, "metadata.namespace", "FieldValueRequired",
                     "Required");
    sl_json_free(o);
    o = yaml("{metadata: {generateName: ok-}}");
    assert_fine(SL_KIND_NODE, o, NULL);
    sl_json_free(o);
}

static void test_validate_annotations_are_bounded(void **state)
{
    (void)state;
    struct sl_json *o = sl_object_new(SL_KIND_NODE, "", "a");
    static char big[300000];
    memset(big, 'x', sizeof big - 1);
    sl_json_set_text(sl_json_path_make(o, "metadata.annotations"), "a", big);
    assert_complaint(SL_KIND_NODE, o, NULL, "metadata.annotations", "FieldValueTooLong", "262144");
    sl_json_free(o);
}

static void test_validate_cluster_queue_refusals(void **state)
{
    (void)state;
    static const struct bad cases[] = {
        {"[{op: replace, path: /spec/resourceGroups/0/flavors/1/name, value: spot}]",
         "spec.resourceGroups[0].flavors[1].name", "FieldValueDuplicate", "spot"},
        {"[{op: replace, path: /spec/resourceGroups/1/flavors/0/name, value: spot}]",
         "spec.resourceGroups[1].flavors[0].name", "FieldValueDuplicate", "spot"},
        {"[{op: replace, path: /spec/resourceGroups/0/flavors/1/name, value: Solid}]",
         "spec.resourceGroups[0].flavors[1].name", "FieldValueInvalid", "subdomain"},
        {"[{op: remove, path: /spec/resourceGroups/0/flavors/1/name}]",
         "spec.resourceGroups[0].flavors[1].name", "FieldValueRequired", "Required"},
        {"[{op: replace, path: /spec/resourceGroups/1/coveredResources, value: [cpu]}, {op: "
         "replace, path: "
         "/spec/resourceGroups/1/flavors/0/resources/0/name, value: cpu}]",
         "spec.resourceGroups[1].coveredResources[0]", "FieldValueDuplicate", "cpu"},
        {"[{op: remove, path: /spec/resourceGroups/0/flavors/1/resources/1}]",
         "spec.resourceGroups[0].flavors[1].resources", "FieldValueInvalid", "same resources"},
        {"[{op: replace, path: /spec/resourceGroups/1/flavors/0/resources/0/name, value: tpu}]",
         "spec.resourceGroups[1].flavors[0].resources[0].name", "FieldValueInvalid", "must match"},
        {"[{op: replace, path: /spec/resourceGroups/0/flavors/0/resources/0/lendingLimit, value: "
         "10}]",
         "spec.resourceGroups[0].flavors[0].resources[0].lendingLimit", "FieldValueInvalid",
         "nominalQuota"},
        {"[{op: replace, path: /spec/resourceGroups/0/flavors/0/resources/0/nominalQuota, value: "
         "-1}, {op: remove, "
         "path: /spec/resourceGroups/0/flavors/0/resources/0/lendingLimit}]",
         "spec.resourceGroups[0].flavors[0].resources[0].nominalQuota", "FieldValueInvalid",
         "greater than or equal to 0"},
        {"[{op: replace, path: /spec/resourceGroups/1/flavors/0/resources/0/nominalQuota, value: "
         "5Gib}]",
         "spec.resourceGroups[1].flavors[0].resources[0].nominalQuota", "FieldValueInvalid",
         "not a quantity"},
        {"[{op: replace, path: /spec/resourceGroups/1/flavors, value: []}]",
         "spec.resourceGroups[1].flavors", "FieldValueRequired", "at least 1"},
        {"[{op: add, path: /spec/resourceGroups/-, value: null}]", "spec.resourceGroups[2]",
         "FieldValueTypeInvalid", "null"},
        {"{spec: {preemption: {borrowWithinCohort: {policy: LowerPriority}}}}", "spec.preemption",
         "FieldValueInvalid", "reclaimWithinCohort is Never"},
        {"{spec: {flavorFungibility: {preference: PreemptionOverBorrowing}}}",
         "spec.flavorFungibility.preference", "FieldValueInvalid", "TryNextFlavor"},
        {"{spec: {admissionChecksStrategy: {admissionChecks: [{name: a, onFlavors: [gone]}]}}}",
         "spec.admissionChecksStrategy.admissionChecks[0].onFlavors[0]", "FieldValueNotSupported",
         "supported values: \"spot\", \"solid\", \"cards\""},
        {"{spec: {namespaceSelector: {matchExpressions: [{key: a, operator: Near}]}}}",
         "spec.namespaceSelector.matchExpressions[0].operator", "FieldValueInvalid", "operator"},
        {"{spec: {namespaceSelector: all}}", "spec.namespaceSelector", "FieldValueTypeInvalid",
         "object"},
        {"{spec: {namespaceSelector: {matchLabels: {a: 'b c'}}}}",
         "spec.namespaceSelector.matchLabels[a]", "FieldValueInvalid", "label value"},
        {"{spec: {stopPolicy: Never}}", "spec.stopPolicy", "FieldValueNotSupported",
         "HoldAndDrain"},
        {"{spec: {fairSharing: {weight: -1}}}", "spec.fairSharing", "FieldValueInvalid", "0"},
        {"{spec: {resourceGroups: {}}}", "spec.resourceGroups", "FieldValueTypeInvalid", "list"},
        {"{status: {pendingWorkloads: 1.5}}", "status.pendingWorkloads", "FieldValueTypeInvalid",
         "integer"},
        {"{status: {pendingWorkloads: 3000000000}}", "status.pendingWorkloads", "FieldValueInvalid",
         "32-bit"},
        {"{status: {conditions: [{type: A, status: Maybe, reason: R, message: m, "
         "lastTransitionTime: '2026-01-01T00:00:00Z'}]}}",
         "status.conditions[0].status", "FieldValueNotSupported", "Unknown"},
    };
    CHECK_BAD(SL_KIND_CLUSTER_QUEUE, queue_yaml, cases);
}

static void test_validate_limits_need_a_cohort(void **state)
{
    (void)state;
    struct sl_json *o = defaulted(SL_KIND_CLUSTER_QUEUE, queue_yaml);
    sl_json_remove(sl_json_get(o, "spec"), "cohortName");
    struct sl_error e = {0};
    assert_int_equal(sl_object_validate(SL_KIND_CLUSTER_QUEUE, o, NULL, &e), SL_CODE_INVALID);
    assert_int_equal(e.cause_count, 2);
    assert_non_null(
        strstr(cause_of(&e, "spec.resourceGroups[0].flavors[0].resources[0].borrowingLimit")->text,
               "cohortName"));
    assert_non_null(cause_of(&e, "spec.resourceGroups[0].flavors[0].resources[0].lendingLimit"));
    sl_json_free(o);
}

static void test_validate_too_many_flavors_and_pairs_are_refused(void **state)
{
    (void)state;
    struct sl_buf text = {0};
    sl_buf_text(&text, "{metadata: {name: q}, spec: {resourceGroups: [");
    for (int g = 0; g < 5; g++) {
        sl_buf_print(&text, "%s{coveredResources: [r%d], flavors: [", g > 0 ? "," : "", g);
        for (int f = 0; f < 60; f++) {
            sl_buf_print(&text, "%s{name: f%d-%d, resources: [{name: r%d, nominalQuota: 1}]}",
                         f > 0 ? "," : "", g, f, g);
        }
        sl_buf_text(&text, "]}");
    }
    sl_buf_text(&text, "]}}");
    struct sl_json *o = yaml(text.data);
    assert_complaint(SL_KIND_CLUSTER_QUEUE, o, NULL, "spec.resourceGroups", "FieldValueInvalid",
                     "300 flavors");
    sl_json_free(o);
    sl_buf_reset(&text);
    sl_buf_text(&text, "{metadata: {name: q}, spec: {resourceGroups: [");
    for (int g = 0; g < 17; g++) {
        sl_buf_print(&text,
                     "%s{coveredResources: [r%d], flavors: [{name: f%d, resources: [{name: r%d, "
                     "nominalQuota: 1}]}]}",
                     g > 0 ? "," : "", g, g, g);
    }
    sl_buf_text(&text, "]}}");
    o = yaml(text.data);
    assert_complaint(SL_KIND_CLUSTER_QUEUE, o, NULL, "spec.resourceGroups", "FieldValueTooMany",
                     "at most 16");
    sl_json_free(o);
    sl_buf_fini(&text);
}

static void test_validate_cohort_refusals(void **state)
{
    (void)state;
    struct sl_json *o = yaml("{metadata: {name: a}, spec: {parentName: a}}");
    assert_complaint(SL_KIND_COHORT, o, NULL, "spec.parentName", "FieldValueInvalid", "own parent");
    sl_json_free(o);
    o = yaml("{metadata: {name: a}, spec: {resourceGroups: [{coveredResources: [cpu], flavors: "
             "[{name: f, resources:"
             " [{name: cpu, nominalQuota: 1, borrowingLimit: 1}]}]}]}}");
    assert_complaint(SL_KIND_COHORT, o, NULL,
                     "spec.resourceGroups[0].flavors[0].resources[0].borrowingLimit",
                     "FieldValueInvalid", "parentName is empty");
    sl_json_set_text(sl_json_get(o, "spec"), "parentName", "root");
    assert_fine(SL_KIND_COHORT, o, NULL);
    sl_json_free(o);
}

static void test_validate_resource_flavor_refusals(void **state)
{
    (void)state;
    static const char base[] = "{metadata: {name: f}, spec: {nodeLabels: {a: b}}}";
    static const struct bad cases[] = {
        {"{spec: {nodeTaints: [{key: k, effect: Maybe}]}}", "spec.nodeTaints[0].effect",
         "FieldValueNotSupported", "NoExecute"},
        {"{spec: {nodeTaints: [{key: k, effect: NoSchedule}, {key: k, value: v, effect: "
         "NoSchedule}]}}",
         "spec.nodeTaints[1]", "FieldValueDuplicate", "k:NoSchedule"},
        {"{spec: {tolerations: [{operator: Equal, value: x}]}}", "spec.tolerations[0].operator",
         "FieldValueInvalid", "Exists"},
        {"{spec: {tolerations: [{key: k, operator: Exists, value: x}]}}",
         "spec.tolerations[0].value", "FieldValueInvalid", "empty"},
        {"{spec: {tolerations: [{key: k, tolerationSeconds: 3}]}}", "spec.tolerations[0].effect",
         "FieldValueInvalid", "NoExecute"},
        {"{spec: {topologyName: t, nodeLabels: null}}", "spec.nodeLabels", "FieldValueRequired",
         "topologyName"},
        {"{spec: {nodeLabels: {a: 'b c'}}}", "spec.nodeLabels[a]", "FieldValueInvalid",
         "label value"},
    };
    CHECK_BAD(SL_KIND_RESOURCE_FLAVOR, base, cases);
    struct sl_json *old =
        yaml("{metadata: {name: f}, spec: {nodeLabels: {a: b}, topologyName: t}}");
    struct sl_json *o = with(old, "{spec: {topologyName: u}}");
    assert_complaint(SL_KIND_RESOURCE_FLAVOR, o, old, "spec.topologyName", "FieldValueInvalid",
                     "immutable");
    sl_json_free(o);
    sl_json_free(old);
}

static void test_validate_local_queue_target_is_immutable(void **state)
{
    (void)state;
    struct sl_json *old = defaulted(
        SL_KIND_LOCAL_QUEUE, "{metadata: {name: q, namespace: ns}, spec: {clusterQueue: a}}");
    struct sl_json *o = with(old, "{spec: {clusterQueue: b}}");
    assert_fine(SL_KIND_LOCAL_QUEUE, o, NULL);
    assert_complaint(SL_KIND_LOCAL_QUEUE, o, old, "spec.clusterQueue", "FieldValueInvalid",
                     "immutable");
    sl_json_free(o);
    o = with(old, "{spec: {clusterQueue: null}}");
    assert_complaint(SL_KIND_LOCAL_QUEUE, o, old, "spec.clusterQueue", "FieldValueInvalid",
                     "immutable");
    sl_json_free(o);
    sl_json_free(old);
}

static void test_validate_job_refusals(void **state)
{
    (void)state;
    static const struct bad cases[] = {
        {"{spec: {template: null}}", "spec.template", "FieldValueRequired", "Required"},
        {"{spec: {template: {spec: {restartPolicy: null}}}}", "spec.template.spec.restartPolicy",
         "FieldValueRequired", "OnFailure"},
        {"{spec: {template: {spec: {restartPolicy: Always}}}}", "spec.template.spec.restartPolicy",
         "FieldValueNotSupported", "Never"},
        {"{spec: {template: {spec: {containers: []}}}}", "spec.template.spec.containers",
         "FieldValueRequired", "at least 1"},
        {"{spec: {template: {spec: {containers: [{name: A}]}}}}",
         "spec.template.spec.containers[0].name", "FieldValueInvalid", "label"},
        {"{spec: {template: {spec: {containers: [{name: a}, {name: a}]}}}}",
         "spec.template.spec.containers[1].name", "FieldValueDuplicate", "a"},
        {"{spec: {template: {spec: {containers: [{name: a, resources: {requests: {cpu: -1}}}]}}}}",
         "spec.template.spec.containers[0].resources.requests[cpu]", "FieldValueInvalid", "0"},
        {"{spec: {template: {spec: {containers: [{name: a, resources: {requests: {cpu: 2}, limits: "
         "{cpu: 1500m}}}]}}}}",
         "spec.template.spec.containers[0].resources.requests[cpu]", "FieldValueInvalid",
         "cpu limit of 1500m"},
        {"{spec: {template: {spec: {containers: [{name: a, resources: {requests: {'c p u': "
         "1}}}]}}}}",
         "spec.template.spec.containers[0].resources.requests[c p u]", "FieldValueInvalid",
         "name part"},
        {"{spec: {template: {spec: {tolerations: [{key: k, operator: Exists, value: v}]}}}}",
         "spec.template.spec.tolerations[0].value", "FieldValueInvalid", "empty"},
        {"{spec: {parallelism: -1}}", "spec.parallelism", "FieldValueInvalid",
         "greater than or equal to 0"},
        {"{spec: {parallelism: 99999999999}}", "spec.parallelism", "FieldValueInvalid", "32-bit"},
        {"{spec: {parallelism: many}}", "spec.parallelism", "FieldValueTypeInvalid", "integer"},
        {"{spec: {completions: -5}}", "spec.completions", "FieldValueInvalid", "0"},
        {"{spec: {backoffLimit: -1}}", "spec.backoffLimit", "FieldValueInvalid", "0"},
        {"{spec: {completionMode: Indexed, completions: null}}", "spec.completions",
         "FieldValueRequired", "Indexed"},
        {"{spec: {completionMode: Indexed, parallelism: 100001}}", "spec.parallelism",
         "FieldValueInvalid", "100000"},
        {"{spec: {suspend: 'yes'}}", "spec.suspend", "FieldValueTypeInvalid", "true or false"},
        {"{spec: null}", "spec", "FieldValueRequired", "Required"},
    };
    CHECK_BAD(SL_KIND_JOB, job_yaml, cases);
}

static void test_validate_job_selects_its_own_pods_and_no_others_later(void **state)
{
    (void)state;
    static const char labels[] = "FieldValueInvalid", text[] = "does not match";
    struct sl_json *plain = defaulted(SL_KIND_JOB, job_yaml);
    struct sl_json *lost = with(plain, "{spec: {selector: {matchLabels: {a: b}}}}");
    struct sl_json *fits = with(lost, "{spec: {template: {metadata: {labels: {a: b, c: d}}}}}");
    struct sl_json *other = with(fits, "{spec: {selector: {matchLabels: {a: null, c: d}}}}");
    struct sl_json *suspended = with(lost, "{spec: {parallelism: 2}}");
    assert_complaint(SL_KIND_JOB, lost, NULL, "spec.template.metadata.labels", labels, text);
    assert_fine(SL_KIND_JOB, fits, NULL);
    assert_complaint(SL_KIND_JOB, lost, fits, "spec.template.metadata.labels", labels, text);
    assert_complaint(SL_KIND_JOB, other, fits, "spec.selector", "FieldValueInvalid", "immutable");
    assert_fine(SL_KIND_JOB, suspended, lost); /* it was stored so */
    sl_json_free(suspended);
    sl_json_free(other);
    sl_json_free(fits);
    sl_json_free(lost);
    sl_json_free(plain);
}

static void test_validate_job_template_changes_only_before_the_start(void **state)
{
    (void)state;
    struct sl_json *suspended = defaulted(SL_KIND_JOB, job_yaml);
    struct sl_json *placed =
        with(suspended, "{spec: {suspend: false, template: {metadata: {labels: {a: b}}, spec: "
                        "{nodeSelector: {zone: z}, tolerations: [{key: k, operator: Exists}]}}}}");
    assert_fine(SL_KIND_JOB, placed, suspended);
    assert_complaint(SL_KIND_JOB, suspended, placed, "spec.template", "FieldValueInvalid",
                     "immutable");
    struct sl_json *other =
        with(suspended, "{spec: {template: {spec: {containers: [{name: other}]}}}}");
    assert_complaint(SL_KIND_JOB, other, suspended, "spec.template", "FieldValueInvalid",
                     "immutable");
    struct sl_json *started = with(suspended, "{status: {startTime: '2026-01-01T00:00:00Z'}}");
    assert_complaint(SL_KIND_JOB, placed, started, "spec.template", "FieldValueInvalid",
                     "immutable");
    struct sl_json *more = with(suspended, "{spec: {completions: 7}}");
    assert_complaint(SL_KIND_JOB, more, suspended, "spec.completions", "FieldValueInvalid",
                     "immutable");
    struct sl_json *wider = with(suspended, "{spec: {parallelism: 7}}");
    assert_fine(SL_KIND_JOB, wider, suspended);
    sl_json_free(wider);
    sl_json_free(more);
    sl_json_free(started);
    sl_json_free(other);
    sl_json_free(placed);
    sl_json_free(suspended);
}

static void test_validate_workload_refusals(void **state)
{
    (void)state;
    static const struct bad cases[] = {
        {"{spec: {podSets: []}}", "spec.podSets", "FieldValueRequired", "at least 1"},
        {"[{op: replace, path: /spec/podSets/0/count, value: -1}]", "spec.podSets[0].count",
         "FieldValueInvalid", "0"},
        {"[{op: add, path: /spec/podSets/0/minCount, value: 4}]", "spec.podSets[0].minCount",
         "FieldValueInvalid", "count"},
        {"[{op: copy, from: /spec/podSets/0, path: /spec/podSets/1}]", "spec.podSets[1].name",
         "FieldValueDuplicate", "main"},
        {"[{op: add, path: /spec/podSets/0/minCount, value: 1}, {op: copy, from: /spec/podSets/0, "
         "path: /spec/podSets/1},"
         " {op: replace, path: /spec/podSets/1/name, value: b}]",
         "spec.podSets", "FieldValueInvalid", "at most one"},
        {"[{op: replace, path: /spec/podSets/0/name, value: A_}]", "spec.podSets[0].name",
         "FieldValueInvalid", "label"},
        {"[{op: remove, path: /spec/podSets/0/template}]", "spec.podSets[0].template",
         "FieldValueRequired", ""},
        {"[{op: add, path: /spec/podSets/0/template/spec/containers/0/resources/requests/pods, "
         "value: 1}]",
         "spec.podSets[0].template.spec.containers[0].resources.requests[pods]",
         "FieldValueInvalid", "reserved for internal kueue use"},
        {"[{op: add, path: /spec/podSets/0/topologyRequest, value: {podSetSliceSize: 2}}]",
         "spec.podSets[0].topologyRequest.podSetSliceSize", "FieldValueForbidden",
         "podSetSliceRequiredTopology is not specified"},
        {"[{op: add, path: /spec/podSets/0/topologyRequest, value: {podSetSliceRequiredTopology: "
         "rack}}]",
         "spec.podSets[0].topologyRequest.podSetSliceSize", "FieldValueRequired",
         "podSetSliceRequiredTopology is specified"},
        {"{spec: {priorityClassRef: {group: scheduling.k8s.io, kind: WorkloadPriorityClass, name: "
         "x}, priority: 1}}",
         "spec.priorityClassRef.kind", "FieldValueInvalid", "PriorityClass"},
        {"{spec: {priorityClassRef: {group: kueue.x-k8s.io, kind: WorkloadPriorityClass, name: "
         "x}}}",
         "spec.priority", "FieldValueRequired", "priorityClassRef"},
        {"{spec: {maximumExecutionTimeSeconds: 0}}", "spec.maximumExecutionTimeSeconds",
         "FieldValueInvalid", "1"},
        {"{status: {reclaimablePods: [{name: gone, count: 1}]}}",
         "status.reclaimablePods[gone].name", "FieldValueNotSupported",
         "supported values: \"main\""},
        {"{status: {reclaimablePods: [{name: main, count: 4}]}}",
         "status.reclaimablePods[main].count", "FieldValueInvalid", "3"},
        {"{status: {clusterName: a, nominatedClusterNames: [a]}}", "status.clusterName",
         "FieldValueForbidden", "exclude"},
        {"{status: {admissionChecks: [{name: a, state: Ready, message: '', lastTransitionTime: "
         "now}]}}",
         "status.admissionChecks[0].lastTransitionTime", "FieldValueInvalid", "time"},
        {"{status: {schedulingStats: {evictions: [{reason: a, underlyingCause: b, count: 1}, "
         "{reason: a, underlyingCause: b, count: 1}]}}}",
         "status.schedulingStats.evictions[1].reason,underlyingCause", "FieldValueDuplicate",
         "a,b"},
    };
    CHECK_BAD(SL_KIND_WORKLOAD, workload_yaml, cases);
}

static void test_validate_workload_admission_must_fit_its_pod_sets(void **state)
{
    (void)state;
    struct sl_json *pending = defaulted(SL_KIND_WORKLOAD, workload_yaml);
    struct sl_json *base = with(pending, reserved_yaml);
    static const struct bad cases[] = {
        {"{status: {admission: null}}", "status.admission", "FieldValueRequired", "QuotaReserved"},
        {"{status: {admission: {podSetAssignments: []}}}", "status.admission", "FieldValueInvalid",
         "as many"},
        {"[{op: replace, path: /status/admission/podSetAssignments/0/name, value: x}]",
         "status.admission.podSetAssignments[0].name", "FieldValueNotFound", "Not found: \"x\""},
        {"[{op: replace, path: /status/admission/podSetAssignments/0/resourceUsage/cpu, value: 1}]",
         "status.admission.podSetAssignments[0].resourceUsage[cpu]", "FieldValueInvalid",
         "is not a multiple of 3"},
        {"[{op: add, path: /status/admission/podSetAssignments/0/topologyAssignment, value: "
         "{levels: [a, b], slices:"
         " [{domainCount: 1, podCounts: {universal: 1}, valuesPerLevel: [{universal: x}]}]}}]",
         "status.admission.podSetAssignments[0].topologyAssignment.slices[0]", "FieldValueInvalid",
         "same length as the number of levels"},
        {"[{op: add, path: /status/admission/podSetAssignments/0/topologyAssignment, value: "
         "{levels: [a], slices:"
         " [{domainCount: 2, podCounts: {individual: [1]}, valuesPerLevel: [{universal: x}]}]}}]",
         "status.admission.podSetAssignments[0].topologyAssignment.slices[0].podCounts.individual",
         "FieldValueInvalid", "domainCount"},
        {"[{op: add, path: /status/admission/podSetAssignments/0/topologyAssignment, value: "
         "{levels: [a], slices:"
         " [{domainCount: 2, podCounts: {universal: 1, individual: [1, 2]}, valuesPerLevel: "
         "[{universal: x}]}]}}]",
         "status.admission.podSetAssignments[0].topologyAssignment.slices[0].podCounts",
         "FieldValueInvalid", "exactly one"},
        {"[{op: add, path: /status/admission/podSetAssignments/0/topologyAssignment, value: "
         "{levels: [a], slices:"
         " [{domainCount: 2, podCounts: {universal: 1}, valuesPerLevel: [{}]}]}}]",
         "status.admission.podSetAssignments[0].topologyAssignment.slices[0].valuesPerLevel[0]",
         "FieldValueInvalid", "exactly one"},
        {"[{op: add, path: /status/admission/podSetAssignments/0/topologyAssignment, value: "
         "{levels: [a], slices:"
         " [{domainCount: 2, podCounts: {universal: 1}, valuesPerLevel: [{individual: {roots: "
         "[x]}}]}]}}]",
         "status.admission.podSetAssignments[0].topologyAssignment.slices[0].valuesPerLevel[0]."
         "individual.roots",
         "FieldValueInvalid", "domainCount"},
    };
    for (size_t i = 0; i < sizeof cases / sizeof cases[0]; i++) {
        struct sl_json *o =
            cases[i].patch[0] == '[' ? patched(base, cases[i].patch) : with(base, cases[i].patch);
        assert_complaint(SL_KIND_WORKLOAD, o, NULL, cases[i].field, cases[i].reason, cases[i].text);
        sl_json_free(o);
    }
    sl_json_free(base);
    sl_json_free(pending);
}

static void test_validate_workload_is_settled_while_it_holds_quota(void **state)
{
    (void)state;
    struct sl_json *pending = defaulted(SL_KIND_WORKLOAD, workload_yaml);
    struct sl_json *base = with(pending, reserved_yaml);
    static const struct bad cases[] = {
        {"[{op: replace, path: /spec/podSets/0/count, value: 4}]", "spec.podSets",
         "FieldValueInvalid", "immutable"},
        {"{spec: {queueName: other}}", "spec.queueName", "FieldValueInvalid", "immutable"},
        {"{metadata: {labels: {kueue.x-k8s.io/concurrent-admission-parent: 'true'}}}",
         "metadata.labels[kueue.x-k8s.io/concurrent-admission-parent]", "FieldValueForbidden",
         "while quota is reserved"},
        {"[{op: replace, path: /status/admission/clusterQueue, value: other}]", "status.admission",
         "FieldValueInvalid", "immutable"},
        {"[{op: replace, path: /status/admission/podSetAssignments/0/flavors/cpu, value: other}]",
         "status.admission", "FieldValueInvalid", "immutable"},
    };
    for (size_t i = 0; i < sizeof cases / sizeof cases[0]; i++) {
        struct sl_json *o =
            cases[i].patch[0] == '[' ? patched(base, cases[i].patch) : with(base, cases[i].patch);
        assert_complaint(SL_KIND_WORKLOAD, o, base, cases[i].field, cases[i].reason, cases[i].text);
        sl_json_free(o);
    }
    struct sl_json *placed = patched(
        base, "[{op: add, path: /status/admission/podSetAssignments/0/topologyAssignment, value:"
              " {levels: [a], slices: [{domainCount: 1, podCounts: {universal: 3}, valuesPerLevel: "
              "[{universal: x}]}]}}]");
    assert_fine(SL_KIND_WORKLOAD, placed, base);
    struct sl_json *moved = with(pending, "{spec: {queueName: other}}");
    assert_fine(SL_KIND_WORKLOAD, moved, pending);
    struct sl_json *less = with(base, "{status: {reclaimablePods: [{name: main, count: 1}]}}");
    struct sl_json *more = with(base, "{status: {reclaimablePods: [{name: main, count: 2}]}}");
    assert_fine(SL_KIND_WORKLOAD, more, less);
    assert_complaint(SL_KIND_WORKLOAD, less, more, "status.reclaimablePods[main].count",
                     "FieldValueInvalid", "cannot be less than 2");
    assert_complaint(SL_KIND_WORKLOAD, base, less, "status.reclaimablePods[main]",
                     "FieldValueRequired", "cannot be removed");
    static const char mark[] = "{metadata: {annotations: {kueue.x-k8s.io/elastic-job: 'true'}}}";
    struct sl_json *elastic_less = with(less, mark); /* of fewer pods than before */
    struct sl_json *elastic_more = with(more, mark);
    assert_fine(SL_KIND_WORKLOAD, elastic_less, elastic_more);
    sl_json_free(elastic_less);
    sl_json_free(elastic_more);
    sl_json_free(more);
    sl_json_free(less);
    sl_json_free(moved);
    sl_json_free(placed);
    sl_json_free(base);
    sl_json_free(pending);
}

static void test_validate_classes_need_a_value(void **state)
{
    (void)state;
    struct sl_json *o = yaml("{metadata: {name: a}}");
    assert_complaint(SL_KIND_WORKLOAD_PRIORITY_CLASS, o, NULL, "value", "FieldValueRequired",
                     "Required");
    assert_complaint(SL_KIND_PRIORITY_CLASS, o, NULL, "value", "FieldValueRequired", "Required");
    sl_json_set_int(o, "value", 5);
    assert_fine(SL_KIND_WORKLOAD_PRIORITY_CLASS, o, NULL);
    struct sl_json *other = with(o, "{value: 6}");
    assert_complaint(SL_KIND_PRIORITY_CLASS, other, o, "value", "FieldValueInvalid", "immutable");
    assert_fine(SL_KIND_WORKLOAD_PRIORITY_CLASS, other, o);
    sl_json_free(other);
    sl_json_free(o);
}

static void test_validate_limits_and_runtime_classes(void **state)
{
    (void)state;
    struct sl_json *o =
        yaml("{metadata: {name: a, namespace: ns}, spec: {limits: [{type: Container,"
             " max: {cpu: 1}, defaultRequest: {cpu: 500m}}]}}");
    assert_fine(SL_KIND_LIMIT_RANGE, o, NULL);
    struct sl_json *bad = with(o, "{spec: {limits: [{max: {cpu: 1}}]}}");
    assert_complaint(SL_KIND_LIMIT_RANGE, bad, NULL, "spec.limits[0].type", "FieldValueRequired",
                     "Required");
    sl_json_free(bad);
    bad = with(o, "{spec: {limits: [{type: Pod, max: {cpu: a lot}}]}}");
    assert_complaint(SL_KIND_LIMIT_RANGE, bad, NULL, "spec.limits[0].max[cpu]", "FieldValueInvalid",
                     "a lot");
    sl_json_free(bad);
    sl_json_free(o);
    o = yaml("{metadata: {name: vm}, handler: vm, overhead: {podFixed: {cpu: -1}}}");
    assert_complaint(SL_KIND_RUNTIME_CLASS, o, NULL, "overhead.podFixed[cpu]", "FieldValueInvalid",
                     "greater than or equal to 0");
    sl_json_free(o);
}

static void test_validate_config_maps(void **state)
{
    (void)state;
    struct sl_json *o = yaml("{metadata: {name: a, namespace: ns}, immutable: true, data: {a.b: c},"
                             " binaryData: {d: AA==}}");
    assert_fine(SL_KIND_CONFIG_MAP, o, NULL);
    assert_fine(SL_KIND_CONFIG_MAP, o, o);
    struct sl_json *bad = with(o, "{data: {a.b: other}}");
    assert_complaint(SL_KIND_CONFIG_MAP, bad, o, "data", "FieldValueForbidden", "immutable");
    sl_json_free(bad);
    bad = with(o, "{immutable: false}");
    assert_complaint(SL_KIND_CONFIG_MAP, bad, o, "immutable", "FieldValueForbidden", "immutable");
    assert_fine(SL_KIND_CONFIG_MAP, o, bad);
    sl_json_free(bad);
    bad = with(o, "{data: {d: e}}");
    assert_complaint(SL_KIND_CONFIG_MAP, bad, NULL, "data[d]", "FieldValueInvalid", "binaryData");
    sl_json_free(bad);
    bad = with(o, "{binaryData: {d: not base64}}");
    assert_complaint(SL_KIND_CONFIG_MAP, bad, NULL, "binaryData[d]", "FieldValueInvalid", "base64");
    sl_json_free(bad);
    bad = with(o, "{data: {../up: e}}");
    assert_complaint(SL_KIND_CONFIG_MAP, bad, NULL, "data[../up]", "FieldValueInvalid", "key");
    sl_json_free(bad);
    sl_json_free(o);
}

static void test_default_secret_as_kubernetes(void **state)
{
    (void)state;
    struct sl_json *o = yaml("{metadata: {name: a}, data: {a: eA==}, stringData: {b: 'y'}}");
    struct sl_json *stored = sl_json_ref(sl_json_get(o, "data"));
    sl_object_default(SL_KIND_SECRET, o);
    assert_json(sl_json_get(o, "data"), "{\"a\":\"eA==\",\"b\":\"eQ==\"}");
    assert_json(stored, "{\"a\":\"eA==\"}"); /* others may hold it: it is not written to */
    assert_null(sl_json_get(o, "stringData"));
    assert_string_equal(sl_json_path_text(o, "type", ""), "Opaque");
    sl_json_free(stored);
    sl_json_free(o);
}

/* null is empty, and base64 may come in lines. */
static void test_default_values_as_kubernetes(void **state)
{
    (void)state;
    struct sl_json *o =
        yaml("{metadata: {name: a}, type: '', data: {a: \"eH\\nh4\\r\\n\", none: null},"
             " stringData: {b: 'y', c: null}}");
    sl_object_default(SL_KIND_SECRET, o);
    assert_json(sl_json_get(o, "data"), "{\"a\":\"eHh4\",\"none\":\"\",\"b\":\"eQ==\",\"c\":\"\"}");
    assert_false(sl_json_has(o, "stringData"));
    assert_string_equal(sl_json_path_text(o, "type", ""), "Opaque");
    sl_json_free(o);
    o = yaml("{metadata: {name: a}, data: {a: null, b: \"x\\n\"}, binaryData: {c: \"AA\\n==\"}}");
    sl_object_default(SL_KIND_CONFIG_MAP, o);
    assert_json(sl_json_get(o, "data"), "{\"a\":\"\",\"b\":\"x\\n\"}");
    assert_json(sl_json_get(o, "binaryData"), "{\"c\":\"AA==\"}");
    sl_json_free(o);
}

static void test_validate_secrets_of_a_type(void **state)
{
    (void)state;
    struct sl_json *o = yaml("{metadata: {name: a, namespace: ns}, type: kubernetes.io/basic-auth,"
                             " data: {password: AA==}}");
    assert_fine(SL_KIND_SECRET, o, NULL);
    struct sl_json *bad = with(o, "{type: kubernetes.io/tls, data: {tls.crt: AA==}}");
    assert_complaint(SL_KIND_SECRET, bad, NULL, "data[tls.key]", "FieldValueRequired", "Required");
    sl_json_free(bad);
    bad = with(o, "{type: of-our-own}");
    assert_complaint(SL_KIND_SECRET, bad, o, "type", "FieldValueInvalid", "immutable");
    sl_json_free(bad);
    sl_json_free(o);
}

static void test_validate_least_parallelism_of_a_job(void **state)
{
    (void)state;
    static const char field[] = "metadata.annotations[kueue.x-k8s.io/job-min-parallelism]";
    struct sl_json *o = defaulted(
        SL_KIND_JOB, "{metadata: {name: j, namespace: ns, annotations: "
                     "{kueue.x-k8s.io/job-min-parallelism: \"2\"}}, spec: {parallelism: 3, "
                     "template: {spec: {restartPolicy: Never, containers: [{name: c}]}}}}");
    assert_fine(SL_KIND_JOB, o, NULL);
    static const char *const bad[] = {"3", "0", "two", ""};
    for (size_t i = 0; i < sizeof bad / sizeof bad[0]; i++) {
        sl_json_set_text(sl_json_path(o, "metadata.annotations"),
                         "kueue.x-k8s.io/job-min-parallelism", bad[i]);
        assert_complaint(SL_KIND_JOB, o, NULL, field, "FieldValueInvalid", "less than");
    }
    assert_fine(SL_KIND_JOB, o, o); /* later its parallelism may be what it was admitted with */
    sl_json_free(o);
}

static void test_validate_many_complaints_are_counted(void **state)
{
    (void)state;
    struct sl_buf text = {0};
    sl_buf_text(&text, "{metadata: {name: a, labels: {");
    for (int i = 0; i < 40; i++) {
        sl_buf_print(&text, "-k%d: x, ", i);
    }
    sl_buf_text(&text, "}}}");
    struct sl_json *o = yaml(text.data);
    struct sl_error e = {0};
    assert_int_equal(sl_object_validate(SL_KIND_NODE, o, NULL, &e), SL_CODE_INVALID);
    assert_int_equal(e.cause_count, 40);
    assert_int_equal(sl_object_validate(SL_KIND_NODE, o, NULL, NULL), SL_CODE_INVALID);
    sl_json_free(o);
    sl_buf_fini(&text);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_default_pod_of_a_group_has_its_number_in_our_label),
        cmocka_unit_test(test_default_cluster_queue_as_kueue),
        cmocka_unit_test(test_default_workload_fills_list_items),
        cmocka_unit_test(test_default_job_as_kubernetes),
        cmocka_unit_test(test_default_new_job_with_a_queue_starts_suspended),
        cmocka_unit_test(test_default_keeps_unknown_fields_and_odd_types),
        cmocka_unit_test(test_validate_good_objects_pass),
        cmocka_unit_test(test_validate_all_complaints_come_at_once),
        cmocka_unit_test(test_validate_metadata_refusals),
        cmocka_unit_test(test_validate_annotations_are_bounded),
        cmocka_unit_test(test_validate_cluster_queue_refusals),
        cmocka_unit_test(test_validate_limits_need_a_cohort),
        cmocka_unit_test(test_validate_too_many_flavors_and_pairs_are_refused),
        cmocka_unit_test(test_validate_cohort_refusals),
        cmocka_unit_test(test_validate_resource_flavor_refusals),
        cmocka_unit_test(test_validate_local_queue_target_is_immutable),
        cmocka_unit_test(test_validate_job_refusals),
        cmocka_unit_test(test_validate_job_selects_its_own_pods_and_no_others_later),
        cmocka_unit_test(test_validate_job_template_changes_only_before_the_start),
        cmocka_unit_test(test_validate_workload_refusals),
        cmocka_unit_test(test_validate_workload_admission_must_fit_its_pod_sets),
        cmocka_unit_test(test_validate_workload_is_settled_while_it_holds_quota),
        cmocka_unit_test(test_validate_classes_need_a_value),
        cmocka_unit_test(test_validate_limits_and_runtime_classes),
        cmocka_unit_test(test_validate_config_maps),
        cmocka_unit_test(test_default_secret_as_kubernetes),
        cmocka_unit_test(test_default_values_as_kubernetes),
        cmocka_unit_test(test_validate_secrets_of_a_type),
        cmocka_unit_test(test_validate_least_parallelism_of_a_job),
        cmocka_unit_test(test_validate_many_complaints_are_counted),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
