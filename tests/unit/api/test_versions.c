/* SPDX-License-Identifier: Apache-2.0
 * SPDX-FileCopyrightText: The Sluice authors */

/* v1beta1 and v1beta2: each field that differs, what is kept where the other version has no field, and what is refused. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>
#include <stdio.h>
#include <string.h>

#include "api/versions/versions.h"
#include "tests/unit/api/fixture.h"

#define KEPT_NEW "metadata: {name: x, annotations: {" SL_VERSION_KEPT_NEW ": '"
#define KEPT_OLD "metadata: {name: x, annotations: {" SL_VERSION_KEPT_OLD ": '"
#define PLAIN "metadata: {name: x}\n"

/* Kind, and the object in the two versions, each without apiVersion and kind. */
struct pair {
    const char *kind, *old, *new;
};

static struct sl_json *object(const char *version, const char *kind, const char *text)
{
    struct sl_json *o = yaml(text);
    sl_json_set_text(o, "apiVersion", version);
    sl_json_set_text(o, "kind", kind);
    return o;
}

static struct sl_json *convert(const struct sl_json *o, const char *to)
{
    struct sl_error e = {0};
    struct sl_json *got = sl_version_convert_new(o, to, &e);
    if (got == NULL) {
        fail_msg("%s %s %s", e.text, e.cause_count > 0 ? e.causes[0].field : "",
                 e.cause_count > 0 ? e.causes[0].text : "");
    }
    return got;
}

static void assert_same(const struct sl_json *got, const struct sl_json *expected)
{
    if (!sl_json_equal(got, expected)) {
        struct sl_buf text = {0};
        sl_json_print(got, &text);
        sl_buf_text(&text, "\n   and expected\n");
        sl_json_print(expected, &text);
        fail_msg("%s", text.data);
    }
}

static void assert_becomes(const struct pair *p, bool up)
{
    const char *to = up ? SL_VERSION_NEW : SL_VERSION_OLD;
    struct sl_json *from =
        object(up ? SL_VERSION_OLD : SL_VERSION_NEW, p->kind, up ? p->old : p->new);
    struct sl_json *expected = object(to, p->kind, up ? p->new : p->old);
    struct sl_json *got = convert(from, to);
    assert_same(got, expected);
    sl_json_free(got);
    sl_json_free(expected);
    sl_json_free(from);
}

static const struct pair both_ways[] = {
    {"ClusterQueue", PLAIN "spec: {cohort: all}", PLAIN "spec: {cohortName: all}"},
    {"ClusterQueue",
     KEPT_NEW "{\"spec\":{\"concurrentAdmissionPolicy\":{\"migration\":{\"mode\":"
              "\"RetainFirstAdmission\"}}}}'}}\nspec: {cohort: c}",
     PLAIN
     "spec: {cohortName: c, concurrentAdmissionPolicy: {migration: {mode: RetainFirstAdmission}}}"},
    {"ClusterQueue", PLAIN "spec: {admissionChecks: [a, b]}",
     KEPT_OLD "{\"spec\":{\"admissionChecks\":[\"a\",\"b\"]}}'}}\n"
              "spec: {admissionChecksStrategy: {admissionChecks: [{name: a}, {name: b}]}}"},
    {"ClusterQueue",
     PLAIN "spec: {admissionChecksStrategy: {admissionChecks: [{name: a, onFlavors: [f]}]}}",
     PLAIN "spec: {admissionChecksStrategy: {admissionChecks: [{name: a, onFlavors: [f]}]}}"},
    {"ClusterQueue",
     PLAIN "spec: {flavorFungibility: {whenCanBorrow: Borrow, whenCanPreempt: Preempt}}",
     KEPT_OLD
     "{\"spec.flavorFungibility\":{\"whenCanBorrow\":\"Borrow\",\"whenCanPreempt\":\"Preempt\"}}'}}"
     "\n"
     "spec: {flavorFungibility: {whenCanBorrow: MayStopSearch, whenCanPreempt: MayStopSearch}}"},
    {"ClusterQueue",
     PLAIN
     "spec: {flavorFungibility: {whenCanBorrow: TryNextFlavor, whenCanPreempt: MayStopSearch}}",
     PLAIN
     "spec: {flavorFungibility: {whenCanBorrow: TryNextFlavor, whenCanPreempt: MayStopSearch}}"},
    {"ClusterQueue",
     PLAIN "status: {pendingWorkloadsStatus: {lastChangeTime: t}, pendingWorkloads: 3}",
     KEPT_OLD "{\"status\":{\"pendingWorkloadsStatus\":{\"lastChangeTime\":\"t\"}}}'}}\nstatus: "
              "{pendingWorkloads: 3}"},
    {"ClusterQueue",
     PLAIN "status: {fairSharing: {weightedShare: 1, admissionFairSharingStatus: {lastUpdate: t}}}",
     KEPT_OLD
     "{\"status.fairSharing\":{\"admissionFairSharingStatus\":{\"lastUpdate\":\"t\"}}}'}}\n"
     "status: {fairSharing: {weightedShare: 1}}"},
    {"Cohort",
     PLAIN "status: {fairSharing: {weightedShare: 1, admissionFairSharingStatus: {lastUpdate: t}}}",
     KEPT_OLD
     "{\"status.fairSharing\":{\"admissionFairSharingStatus\":{\"lastUpdate\":\"t\"}}}'}}\n"
     "status: {fairSharing: {weightedShare: 1}}"},
    {"LocalQueue", PLAIN "status: {flavorUsage: [{name: f}], flavorsReservation: [{name: f}]}",
     PLAIN "status: {flavorsUsage: [{name: f}], flavorsReservation: [{name: f}]}"},
    {"LocalQueue", PLAIN "status: {flavors: [{name: f}]}",
     KEPT_OLD "{\"status\":{\"flavors\":[{\"name\":\"f\"}]}}'}}\nstatus: {}"},
    {"LocalQueue",
     PLAIN "status: {fairSharing: {weightedShare: 1, admissionFairSharingStatus: {lastUpdate: t}}}",
     PLAIN
     "status: {fairSharing: {weightedShare: 1, admissionFairSharingStatus: {lastUpdate: t}}}"},
    {"Workload",
     PLAIN "spec: {priority: 5, priorityClassName: p, priorityClassSource: "
           "kueue.x-k8s.io/workloadpriorityclass}",
     PLAIN "spec: {priority: 5, priorityClassRef: {group: kueue.x-k8s.io, kind: "
           "WorkloadPriorityClass, name: p}}"},
    {"Workload",
     PLAIN "spec: {priorityClassName: p, priorityClassSource: scheduling.k8s.io/priorityclass}",
     PLAIN "spec: {priorityClassRef: {group: scheduling.k8s.io, kind: PriorityClass, name: p}}"},
    {"Workload", PLAIN "spec: {priorityClassName: p}",
     KEPT_OLD "{\"spec\":{\"priorityClassName\":\"p\"}}'}}\nspec: {}"},
    {"Workload",
     KEPT_NEW "{\"spec\":{\"preemptionGates\":[{\"name\":\"g\"}]},"
              "\"status\":{\"preemptionGates\":[{\"name\":\"g\",\"position\":\"Open\","
              "\"lastTransitionTime\":\"2026-01-02T03:04:05Z\"}]}}'}}\n"
              "spec: {queueName: q}\nstatus: {clusterName: c}",
     PLAIN "spec: {queueName: q, preemptionGates: [{name: g}]}\n"
           "status: {clusterName: c, preemptionGates: [{name: g, position: Open, "
           "lastTransitionTime: '2026-01-02T03:04:05Z'}]}"},
    {"Workload", PLAIN "status: {accumulatedPastExexcutionTimeSeconds: 7}",
     PLAIN "status: {accumulatedPastExecutionTimeSeconds: 7}"},
    {"Workload",
     KEPT_NEW "{\"spec.podSets[b].topologyRequest\":{\"podsetSliceRequiredTopologyConstraints\":[{"
              "\"topology\":"
              "\"rack\",\"size\":2}]}}'}}\nspec: {podSets: [{name: a}, {name: b, topologyRequest: "
              "{required: z}}]}",
     PLAIN "spec: {podSets: [{name: a}, {name: b, topologyRequest: {required: z, "
           "podsetSliceRequiredTopologyConstraints: [{topology: rack, size: 2}]}}]}"},
    {"Workload",
     PLAIN "status: {admission: {podSetAssignments: [{name: a, topologyAssignment: {levels: [z, "
           "h], domains: "
           "[{values: [z1, n-1], count: 2}, {values: [z1, n-2], count: 1}]}}]}}",
     PLAIN "status: {admission: {podSetAssignments: [{name: a, topologyAssignment: {levels: [z, "
           "h], slices: [{domainCount: "
           "2, podCounts: {individual: [2, 1]}, valuesPerLevel: [{universal: z1}, {individual: "
           "{prefix: n-, roots: "
           "['1', '2']}}]}]}}]}}"},
    {"AdmissionCheck", PLAIN "spec: {controllerName: c, retryDelayMinutes: 15}",
     KEPT_OLD "{\"spec\":{\"retryDelayMinutes\":15}}'}}\nspec: {controllerName: c}"},
    {"ResourceFlavor", PLAIN "spec: {nodeLabels: {a: b}}", PLAIN "spec: {nodeLabels: {a: b}}"},
    {"Topology", PLAIN "spec: {levels: [{nodeLabel: a}]}",
     PLAIN "spec: {levels: [{nodeLabel: a}]}"},
    {"WorkloadPriorityClass", PLAIN "value: 3", PLAIN "value: 3"},
    {"ProvisioningRequestConfig", PLAIN "spec: {provisioningClassName: c}",
     PLAIN "spec: {provisioningClassName: c}"},
};

/* A class of neither kind is refused when it is written; what has got there nevertheless can be read. */
static const struct pair unknown_class = {
    "Workload",
    KEPT_NEW "{\"spec\":{\"priorityClassRef\":{\"group\":\"g\",\"kind\":\"k\",\"name\":\"p\"}}}'}}"
             "\nspec: {}",
    PLAIN "spec: {priorityClassRef: {group: g, kind: k, name: p}}"};

static void test_each_field_that_differs(void **state)
{
    (void)state;
    for (size_t i = 0; i < sizeof both_ways / sizeof both_ways[0]; i++) {
        assert_becomes(&both_ways[i], true);
        assert_becomes(&both_ways[i], false);
    }
    assert_becomes(&unknown_class, false);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_each_field_that_differs),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
