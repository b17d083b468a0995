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

/* The table of differences, to look whether the pairs above have all of it. */
#define N(...)                                                                                     \
    {                                                                                              \
        __VA_ARGS__, NULL                                                                          \
    }
#define SL_DIFFERENCE(kind_, where_, old_, new_, up_, down_) {kind_, old_, new_},
static const struct {
    enum sl_kind kind;
    const char *old_names[3], *new_names[3];
} differences[] = {
#include "api/schema/versions.def"
};

static bool has_pair(enum sl_kind kind, const char *old_name, const char *new_name)
{
    for (size_t i = 0; i < sizeof both_ways / sizeof both_ways[0]; i++) {
        if (strcmp(both_ways[i].kind, sl_kind_info(kind)->kind) == 0 &&
            (old_name == NULL || strstr(both_ways[i].old, old_name) != NULL) &&
            (new_name == NULL || strstr(both_ways[i].new, new_name) != NULL)) {
            return true;
        }
    }
    return false;
}

static void test_there_is_a_pair_for_each_difference(void **state)
{
    (void)state;
    for (size_t i = 0; i < sizeof differences / sizeof differences[0]; i++) {
        for (size_t k = 0; k < 2; k++) {
            const char *old_name = differences[i].old_names[k],
                       *new_name = differences[i].new_names[k];
            if (!has_pair(differences[i].kind, old_name, new_name)) {
                fail_msg("%s: no pair has %s and %s", sl_kind_info(differences[i].kind)->kind,
                         old_name != NULL ? old_name : "-", new_name != NULL ? new_name : "-");
            }
        }
    }
}

/* --- what was kept and does not count any more -------------------------------------------------- */

static const struct {
    const char *about;
    bool up;
    struct pair pair; /* only from the one to the other */
} changed[] = {
    {"checks that have flavors now are no list any more",
     false,
     {"ClusterQueue",
      PLAIN "spec: {admissionChecksStrategy: {admissionChecks: [{name: a, onFlavors: [f]}]}}",
      KEPT_OLD "{\"spec\":{\"admissionChecks\":[\"a\"]}}'}}\n"
               "spec: {admissionChecksStrategy: {admissionChecks: [{name: a, onFlavors: [f]}]}}"}},
    {"an older word for something else than is said now",
     false,
     {"ClusterQueue", PLAIN "spec: {flavorFungibility: {whenCanBorrow: TryNextFlavor}}",
      KEPT_OLD "{\"spec.flavorFungibility\":{\"whenCanBorrow\":\"Borrow\"}}'}}\n"
               "spec: {flavorFungibility: {whenCanBorrow: TryNextFlavor}}"}},
    {"a class that was given another source",
     false,
     {"Workload",
      PLAIN "spec: {priorityClassName: q, priorityClassSource: scheduling.k8s.io/priorityclass}",
      KEPT_OLD
      "{\"spec\":{\"priorityClassName\":\"p\"}}'}}\n"
      "spec: {priorityClassRef: {group: scheduling.k8s.io, kind: PriorityClass, name: q}}"}},
    {"a pod set that is not there any more",
     true,
     {"Workload",
      KEPT_NEW
      "{\"spec.podSets[b].topologyRequest\":{\"podsetSliceRequiredTopologyConstraints\":[{"
      "\"topology\":"
      "\"rack\",\"size\":2}]}}'}}\nspec: {podSets: [{name: a, topologyRequest: {required: z}}]}",
      PLAIN "spec: {podSets: [{name: a, topologyRequest: {required: z}}]}"}},
    {"pod sets in another order",
     true,
     {"Workload",
      KEPT_NEW
      "{\"spec.podSets[b].topologyRequest\":{\"podsetSliceRequiredTopologyConstraints\":[{"
      "\"topology\":"
      "\"rack\",\"size\":2}]}}'}}\nspec: {podSets: [{name: b, topologyRequest: {}}, {name: a, "
      "topologyRequest: {}}]}",
      PLAIN "spec: {podSets: [{name: b, topologyRequest: {podsetSliceRequiredTopologyConstraints: "
            "[{topology: rack, size: "
            "2}]}}, {name: a, topologyRequest: {}}]}"}},
    {"a broken annotation keeps nobody from reading",
     false,
     {"ClusterQueue", PLAIN "spec: {cohort: c}", KEPT_OLD "{\"spec\":'}}\nspec: {cohortName: c}"}},
    {"an annotation that is no map, neither",
     false,
     {"ClusterQueue", PLAIN "spec: {cohort: c}", KEPT_OLD "[]'}}\nspec: {cohortName: c}"}},
    {"nor one whose paths lead to something else",
     false,
     {"ClusterQueue", PLAIN "spec: {cohort: c}",
      KEPT_OLD "{\"spec\":[],\"status\":1}'}}\nspec: {cohortName: c}"}},
    {"members that this row does not keep",
     true,
     {"ClusterQueue",
      KEPT_NEW "{\"spec\":{\"stopPolicy\":\"Hold\",\"cohortName\":\"d\"}}'}}\nspec: {cohort: c}",
      PLAIN "spec: {cohortName: c}"}},
    {"the other version's own annotation is not passed on",
     true,
     {"ClusterQueue", KEPT_OLD "{\"spec\":{\"admissionChecks\":[\"a\"]}}'}}\nspec: {cohort: c}",
      PLAIN "spec: {cohortName: c}"}},
    {"a name that the version does not have",
     true,
     {"ClusterQueue", PLAIN "spec: {cohort: c, cohortName: d}", PLAIN "spec: {cohortName: c}"}},
    {"an assignment without slices has no domains",
     false,
     {"Workload",
      PLAIN "status: {admission: {podSetAssignments: [{topologyAssignment: {levels: [z], domains: "
            "[]}}]}}",
      PLAIN "status: {admission: {podSetAssignments: [{topologyAssignment: {levels: [z]}}]}}"}},
    {"slices in another form mean the same domains",
     false,
     {"Workload",
      PLAIN "status: {admission: {podSetAssignments: [{topologyAssignment: {levels: [z], domains: "
            "[{values: "
            "[a], count: 1}, {values: [b], count: 1}]}}]}}",
      PLAIN "status: {admission: {podSetAssignments: [{topologyAssignment: {levels: [z], slices: "
            "[{domainCount: 1, "
            "valuesPerLevel: [{universal: a}], podCounts: {universal: 1}}, {domainCount: 1, "
            "valuesPerLevel: [{individual: "
            "{roots: [b]}}], podCounts: {individual: [1]}}]}}]}}"}},
};

static void test_what_does_not_count_any_more_is_forgotten(void **state)
{
    (void)state;
    for (size_t i = 0; i < sizeof changed / sizeof changed[0]; i++) {
        print_message("%s\n", changed[i].about);
        assert_becomes(&changed[i].pair, changed[i].up);
    }
}

/* --- errors ------------------------------------------------------------------------------------- */

#define ASSIGNED "status: {admission: {podSetAssignments: [{name: a, topologyAssignment: "
#define ASSIGNMENT "status.admission.podSetAssignments[0].topologyAssignment"
static const struct {
    const char *kind;
    bool up;
    const char *text, *field, *why;
} refused[] = {
    {"ClusterQueue", true, "spec: {admissionChecks: a}", "spec.admissionChecks",
     "must be a list of names"},
    {"ClusterQueue", true, "spec: {admissionChecks: [a, 5]}", "spec.admissionChecks[1]",
     "must be the name of an AdmissionCheck"},
    {"ClusterQueue", true, KEPT_NEW "{\"spec\":'}}",
     "metadata.annotations[" SL_VERSION_KEPT_NEW "]", "must be a JSON object of fields of v1beta2"},
    {"ClusterQueue", true,
     KEPT_NEW
     "{\"spec\":{\"concurrentAdmissionPolicy\":{\"migration\":{\"mode\":\"No\"}}}}'}}\nspec: {}",
     "spec.concurrentAdmissionPolicy.migration.mode", "(from annotation " SL_VERSION_KEPT_NEW ")"},
    {"ClusterQueue", true, "metadata: 5\nspec: {admissionChecks: [a]}", "metadata",
     "must be an object"},
    {"ClusterQueue", false, "metadata: 5\nspec: {concurrentAdmissionPolicy: {}}", "metadata",
     "must be an object"},
    {"Workload", true, ASSIGNED "{levels: z, domains: []}}]}}", ASSIGNMENT ".levels",
     "must be a list of 1 to 16 labels"},
    {"Workload", true, ASSIGNED "{levels: [], domains: []}}]}}", ASSIGNMENT ".levels",
     "must be a list of 1 to 16 labels"},
    {"Workload", true, ASSIGNED "{levels: [5], domains: []}}]}}", ASSIGNMENT ".levels",
     "must be a list of 1 to 16 labels"},
    {"Workload", true, ASSIGNED "{levels: [z], domains: {}}}]}}", ASSIGNMENT ".domains",
     "must be a list"},
    {"Workload", true, ASSIGNED "{levels: [z], domains: [{values: [a, b], count: 1}]}}]}}",
     ASSIGNMENT ".domains[0].values", "must have a text of at most 63 bytes for each level"},
    {"Workload", true, ASSIGNED "{levels: [z], domains: [{values: [a], count: 0}]}}]}}",
     ASSIGNMENT ".domains[0].count", "must be a number of at least 1"},
    {"Workload", false, ASSIGNED "{levels: [z], slices: [{domainCount: 0}]}}]}}",
     ASSIGNMENT ".slices[0].domainCount", "must be a number from 1 to"},
    {"Workload", false,
     ASSIGNED
     "{levels: [z], slices: [{domainCount: 60000, valuesPerLevel: [{universal: a}], podCounts: "
     "{universal: 1}}, {domainCount: 60000, valuesPerLevel: [{universal: a}], podCounts: "
     "{universal: 1}}]}}]}}",
     ASSIGNMENT ".slices", "these are too many domains to be said in full"},
};

static void test_errors_name_the_field_and_why(void **state)
{
    (void)state;
    for (size_t i = 0; i < sizeof refused / sizeof refused[0]; i++) {
        struct sl_error e = {0};
        struct sl_json *o = object(refused[i].up ? SL_VERSION_OLD : SL_VERSION_NEW, refused[i].kind,
                                   refused[i].text);
        assert_null(sl_version_convert_new(o, refused[i].up ? SL_VERSION_NEW : SL_VERSION_OLD, &e));
        assert_int_equal(e.code, SL_CODE_INVALID);
        const struct sl_cause_entry *cause = cause_of(&e, refused[i].field);
        if (cause == NULL || strstr(cause->text, refused[i].why) == NULL) {
            fail_msg("%s: got %s: %s", refused[i].field, e.causes[0].field, e.causes[0].text);
        }
        sl_json_free(o);
    }
}

/* A name that fills the path leaves no room for what is below. */
static void test_names_may_not_be_longer_than_paths(void **state)
{
    (void)state;
    char name[600];
    struct sl_error e = {0};
    memset(name, 'a', sizeof name - 1);
    name[sizeof name - 1] = '\0';
    for (size_t len = 470; len < sizeof name; len += 20) {
        struct sl_json *o =
            object(SL_VERSION_OLD, "Workload", "spec: {podSets: [{topologyRequest: {}}]}");
        sl_json_set_text(sl_json_path(o, "spec.podSets.0"), "name", name + sizeof name - 1 - len);
        struct sl_json *got = sl_version_convert_new(o, SL_VERSION_NEW, &e);
        assert_true((got != NULL) == (len <= 480));
        assert_true(got != NULL || strstr(e.causes[0].text, "too long") != NULL);
        sl_json_free(got);
        sl_json_free(o);
    }
}

static void assert_not_converted(const char *text, const char *why)
{
    struct sl_error e = {0};
    struct sl_json *o = yaml(text);
    assert_null(sl_version_convert_new(o, SL_VERSION_NEW, &e));
    assert_int_equal(e.code, SL_CODE_BAD_REQUEST);
    assert_string_equal(e.text, why);
    sl_json_free(o);
}

static void test_what_is_no_object_of_the_nine_kinds(void **state)
{
    (void)state;
    assert_not_converted("[]", "this is no object");
    assert_not_converted("{kind: ClusterQueue}",
                         "apiVersion \"\" of kind \"ClusterQueue\" is not converted");
    assert_not_converted(
        "{apiVersion: kueue.x-k8s.io/v1alpha1, kind: Cohort}",
        "apiVersion \"kueue.x-k8s.io/v1alpha1\" of kind \"Cohort\" is not converted");
    assert_not_converted("{apiVersion: kueue.x-k8s.io/v1beta1, kind: MultiKueueConfig}",
                         "kind \"MultiKueueConfig\" of kueue.x-k8s.io/v1beta1 is not converted");
    assert_not_converted("{apiVersion: kueue.x-k8s.io/v1beta1, kind: ClusterQueueLists}",
                         "kind \"ClusterQueueLists\" of kueue.x-k8s.io/v1beta1 is not converted");
}

static void test_lists_and_their_items(void **state)
{
    (void)state;
    struct sl_error e = {0};
    struct sl_json *list =
        object(SL_VERSION_OLD, "ClusterQueueList",
               "items: [{metadata: {name: a}, spec: {cohort: c}}, {apiVersion: "
               "kueue.x-k8s.io/v1beta2, kind: ClusterQueue, spec: {cohortName: d}}]");
    struct sl_json *got = convert(list, SL_VERSION_NEW);
    assert_string_equal(sl_json_path_text(got, "apiVersion", ""), SL_VERSION_NEW);
    assert_string_equal(sl_json_path_text(got, "items.0.spec.cohortName", ""), "c");
    assert_string_equal(sl_json_path_text(got, "items.1.spec.cohortName", ""), "d");
    sl_json_free(got);
    sl_json_append(sl_json_get(list, "items"), yaml("{kind: ClusterQueueList, items: []}"));
    sl_json_append(sl_json_get(list, "items"), sl_json_new_int(5));
    assert_null(sl_version_convert_new(list, SL_VERSION_NEW, &e));
    assert_int_equal(e.cause_count, 2);
    assert_string_equal(e.causes[0].field, "items[2]");
    assert_string_equal(e.causes[1].text, "must be a ClusterQueue");
    sl_json_free(list);
}

static void test_an_object_in_that_version_already_is_copied(void **state)
{
    (void)state;
    struct sl_json *o =
        object(SL_VERSION_NEW, "ClusterQueue", KEPT_OLD "{}'}}\nspec: {cohortName: c}");
    struct sl_json *got = convert(o, SL_VERSION_NEW);
    assert_same(got, o);
    assert_ptr_not_equal(got, o);
    sl_json_free(got);
    sl_json_free(o);
}

/* --- reviews ------------------------------------------------------------------------------------ */

#define REVIEW "{apiVersion: apiextensions.k8s.io/v1, kind: ConversionReview, request: "
static const struct {
    const char *review, *answer;
} reviews[] = {
    {REVIEW
     "{uid: u, desiredAPIVersion: kueue.x-k8s.io/v1beta2, objects: [{apiVersion: "
     "kueue.x-k8s.io/v1beta1, kind: "
     "ClusterQueue, spec: {cohort: c}}, {apiVersion: kueue.x-k8s.io/v1beta2, kind: Topology}]}}",
     "{uid: u, result: {status: Success}, convertedObjects: [{apiVersion: kueue.x-k8s.io/v1beta2, "
     "kind: ClusterQueue, spec: "
     "{cohortName: c}}, {apiVersion: kueue.x-k8s.io/v1beta2, kind: Topology}]}"},
    {REVIEW "{uid: u, desiredAPIVersion: kueue.x-k8s.io/v1beta1, objects: []}}",
     "{uid: u, result: {status: Success}, convertedObjects: []}"},
    {REVIEW "{uid: u, desiredAPIVersion: kueue.x-k8s.io/v1beta2, objects: [{apiVersion: "
            "kueue.x-k8s.io/v1beta1, kind: "
            "Topology}, {apiVersion: kueue.x-k8s.io/v1beta1, kind: Pod, metadata: {namespace: ns, "
            "name: p}}]}}",
     "{uid: u, result: {status: Failure, reason: BadRequest, code: 400, message: 'object 1 (Pod "
     "ns/p): kind \"Pod\" of "
     "kueue.x-k8s.io/v1beta1 is not converted'}, convertedObjects: []}"},
    {REVIEW "{uid: u, desiredAPIVersion: kueue.x-k8s.io/v1beta2, objects: [{apiVersion: "
            "kueue.x-k8s.io/v1beta1, kind: "
            "ClusterQueue, metadata: {name: q}, spec: {admissionChecks: 5}}]}}",
     "{uid: u, result: {status: Failure, reason: Invalid, code: 422, message: 'object 0 "
     "(ClusterQueue q): "
     "spec.admissionChecks: must be a list of names'}, convertedObjects: []}"},
    {REVIEW "{uid: u, desiredAPIVersion: kueue.x-k8s.io/v1beta2, objects: [5]}}",
     "{uid: u, result: {status: Failure, reason: BadRequest, code: 400, message: 'object 0 (of no "
     "kind without a name): this "
     "is no object'}, convertedObjects: []}"},
    {REVIEW "{uid: u, desiredAPIVersion: kueue.x-k8s.io/v2, objects: []}}",
     "{uid: u, result: {status: Failure, reason: BadRequest, code: 400, message: "
     "'request.desiredAPIVersion: "
     "\"kueue.x-k8s.io/v2\" is neither kueue.x-k8s.io/v1beta1 nor kueue.x-k8s.io/v1beta2'}, "
     "convertedObjects: []}"},
    {REVIEW "{uid: u, desiredAPIVersion: kueue.x-k8s.io/v1beta2}}",
     "{uid: u, result: {status: Failure, reason: BadRequest, code: 400, message: 'request.objects: "
     "must be a list'}, "
     "convertedObjects: []}"},
    {REVIEW "5}", "{uid: '', result: {status: Failure, reason: BadRequest, code: 400, message: "
                  "'request: must be an object'}, "
                  "convertedObjects: []}"},
    {"{apiVersion: apiextensions.k8s.io/v1beta1, kind: ConversionReview}",
     "{uid: '', result: {status: Failure, reason: BadRequest, code: 400, message: 'this is no "
     "ConversionReview of "
     "apiextensions.k8s.io/v1'}, convertedObjects: []}"},
    {"[]", "{uid: '', result: {status: Failure, reason: BadRequest, code: 400, message: 'this is "
           "no ConversionReview of "
           "apiextensions.k8s.io/v1'}, convertedObjects: []}"},
};

static void test_reviews(void **state)
{
    (void)state;
    for (size_t i = 0; i < sizeof reviews / sizeof reviews[0]; i++) {
        struct sl_json *review = yaml(reviews[i].review);
        struct sl_json *answer = sl_convert_review(review);
        struct sl_json *expected = sl_json_new_map();
        sl_json_set_text(expected, "apiVersion", "apiextensions.k8s.io/v1");
        sl_json_set_text(expected, "kind", "ConversionReview");
        sl_json_set(expected, "response", yaml(reviews[i].answer));
        assert_same(answer, expected);
        sl_json_free(expected);
        sl_json_free(answer);
        sl_json_free(review);
    }
    struct sl_json *answer = sl_convert_review(NULL);
    assert_string_equal(sl_json_path_text(answer, "response.result.status", ""), "Failure");
    sl_json_free(answer);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_each_field_that_differs),
        cmocka_unit_test(test_there_is_a_pair_for_each_difference),
        cmocka_unit_test(test_what_does_not_count_any_more_is_forgotten),
        cmocka_unit_test(test_errors_name_the_field_and_why),
        cmocka_unit_test(test_names_may_not_be_longer_than_paths),
        cmocka_unit_test(test_what_is_no_object_of_the_nine_kinds),
        cmocka_unit_test(test_lists_and_their_items),
        cmocka_unit_test(test_an_object_in_that_version_already_is_copied),
        cmocka_unit_test(test_reviews),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
