/* SPDX-License-Identifier: Apache-2.0
 * SPDX-FileCopyrightText: The Sluice authors */

/* The objects that create makes. */
#include "t.h"
#include "cli/common/make.h"

static void assert_part(const struct sl_json *object, const char *path, const char *wanted)
{
    struct sl_json *value = parse(wanted);
    if (!sl_json_equal(sl_json_path(object, path), value)) {
        struct sl_buf text = {0};
        sl_json_print(sl_json_path(object, path), &text);
        fail_msg("%s: %s, wanted %s", path, text.data == NULL ? "absent" : text.data, wanted);
    }
    sl_json_free(value);
}

static struct sl_json *queue_of(const struct sl_make_cluster_queue *m)
{
    struct sl_json *queue = NULL;
    struct sl_error e = {0};
    if (sl_make_cluster_queue(m, "q", &queue, &e) != SL_CODE_OK) {
        fail_msg("%s", e.text);
    }
    return queue;
}

static void test_make_queue_without_options_is_kueuectls(void **state)
{
    (void)state;
    const struct sl_make_cluster_queue m = {0};
    struct sl_json *queue = queue_of(&m);
    assert_part(queue, "metadata", "{\"name\":\"q\"}");
    assert_part(queue, "spec",
                "{\"queueingStrategy\":\"BestEffortFIFO\",\"namespaceSelector\":{},\"preemption\":"
                "{\"reclaimWithinCohort\":\"Never\",\"withinClusterQueue\":\"Never\"}}");
    sl_json_free(queue);
}

static void test_make_queue_with_policies(void **state)
{
    (void)state;
    const struct sl_make_cluster_queue m = {.cohort = "c",
                                            .strategy = "StrictFIFO",
                                            .reclaim = "Any",
                                            .within = "LowerPriority",
                                            .selector = {.items = {"a=b,c=", "d=e"}, .count = 2}};
    struct sl_json *queue = queue_of(&m);
    assert_part(queue, "spec.cohortName", "\"c\"");
    assert_part(queue, "spec.queueingStrategy", "\"StrictFIFO\"");
    assert_part(queue, "spec.namespaceSelector",
                "{\"matchLabels\":{\"a\":\"b\",\"c\":\"\",\"d\":\"e\"}}");
    assert_part(queue, "spec.preemption",
                "{\"reclaimWithinCohort\":\"Any\",\"withinClusterQueue\":\"LowerPriority\"}");
    sl_json_free(queue);
}

/* Flavors with the same resources are of one group, in the order of its first flavor. */
static void test_make_queue_groups_flavors_by_resources(void **state)
{
    (void)state;
    const struct sl_make_cluster_queue m = {
        .nominal = {.items = {"a:cpu=9;memory=36Gi,b:memory=1Gi;cpu=18", "c:gpu=2"}, .count = 2},
        .borrowing = {.items = {"b:cpu=1;"}, .count = 1},
        .lending = {.items = {"a:cpu=2,c:gpu=0"}, .count = 1}};
    struct sl_json *queue = queue_of(&m);
    assert_part(queue, "spec.resourceGroups",
                "[{\"coveredResources\":[\"cpu\",\"memory\"],\"flavors\":["
                "{\"name\":\"a\",\"resources\":[{\"name\":\"cpu\",\"nominalQuota\":\"9\","
                "\"lendingLimit\":\"2\"},{\"name\":\"memory\",\"nominalQuota\":\"36Gi\"}]},"
                "{\"name\":\"b\",\"resources\":[{\"name\":\"cpu\",\"nominalQuota\":\"18\","
                "\"borrowingLimit\":\"1\"},{\"name\":\"memory\",\"nominalQuota\":\"1Gi\"}]}]},"
                "{\"coveredResources\":[\"gpu\"],\"flavors\":[{\"name\":\"c\",\"resources\":"
                "[{\"name\":\"gpu\",\"nominalQuota\":\"2\",\"lendingLimit\":\"0\"}]}]}]");
    sl_json_free(queue);
}

static void test_make_queue_refuses_what_is_malformed(void **state)
{
    (void)state;
    static const struct {
        const char *nominal, *lending, *selector, *says;
    } bad[] = {
        {"cpu=1", NULL, NULL, "--nominal-quota: \"cpu=1\" is not FLAVOR:RESOURCE=QUANTITY"},
        {"a:", NULL, NULL, "is not FLAVOR:RESOURCE=QUANTITY"},
        {":cpu=1", NULL, NULL, "is not FLAVOR:RESOURCE=QUANTITY"},
        {"a:cpu", NULL, NULL, "\"cpu\" is not RESOURCE=QUANTITY"},
        {"a:=1", NULL, NULL, "is not RESOURCE=QUANTITY"},
        {"a:cpu=many", NULL, NULL, "\"many\" is not a quantity"},
        {"a:cpu=1;cpu=2", NULL, NULL, "\"cpu\" is given twice for that flavor"},
        {"a:cpu=1", "b:cpu=1", NULL, "--lending-limit: \"b\" is a flavor without --nominal-quota"},
        {"a:cpu=1", "a:gpu=1", NULL, "\"gpu\" has no --nominal-quota in that flavor"},
        {NULL, NULL, "team", "--namespace-selector: \"team\" is not KEY=VALUE"},
        {NULL, NULL, "=a", "is not KEY=VALUE"}};
    for (size_t i = 0; i < sizeof bad / sizeof bad[0]; i++) {
        struct sl_make_cluster_queue m = {.nominal = {.items = {bad[i].nominal}},
                                          .lending = {.items = {bad[i].lending}},
                                          .selector = {.items = {bad[i].selector}}};
        struct sl_json *queue = NULL;
        struct sl_error e = {0};
        m.nominal.count = bad[i].nominal != NULL;
        m.lending.count = bad[i].lending != NULL;
        m.selector.count = bad[i].selector != NULL;
        assert_int_equal(sl_make_cluster_queue(&m, "q", &queue, &e), SL_CODE_BAD_REQUEST);
        assert_has(e.text, bad[i].says);
        assert_null(queue);
    }
}

static void test_make_flavor(void **state)
{
    (void)state;
    const struct sl_make_flavor m = {
        .labels = {.items = {"arch=arm64,os="}, .count = 1},
        .taints = {.items = {"a=b:NoSchedule,c:NoExecute"}, .count = 1},
        .tolerations = {.items = {"a=b:NoSchedule,c:NoExecute,d=e,f,:PreferNoSchedule"},
                        .count = 1},
        .topology = "racks"};
    struct sl_json *flavor = NULL;
    struct sl_error e = {0};
    assert_int_equal(sl_make_flavor(&m, "f", &flavor, &e), SL_CODE_OK);
    assert_part(
        flavor, "spec",
        "{\"nodeLabels\":{\"arch\":\"arm64\",\"os\":\"\"},\"nodeTaints\":[{\"key\":\"a\",\"value\":"
        "\"b\",\"effect\":\"NoSchedule\"},{\"key\":\"c\",\"effect\":\"NoExecute\"}],"
        "\"tolerations\":[{\"key\":\"a\",\"value\":\"b\",\"effect\":\"NoSchedule\",\"operator\":"
        "\"Equal\"},{\"key\":\"c\",\"effect\":\"NoExecute\",\"operator\":\"Exists\"},"
        "{\"key\":\"d\",\"value\":\"e\",\"operator\":\"Equal\"},{\"key\":\"f\",\"operator\":"
        "\"Exists\"},{\"effect\":\"PreferNoSchedule\",\"operator\":\"Exists\"}],"
        "\"topologyName\":\"racks\"}");
    sl_json_free(flavor);
    const struct sl_make_flavor nothing = {0};
    assert_int_equal(sl_make_flavor(&nothing, "f", &flavor, &e), SL_CODE_OK);
    assert_part(flavor, "spec", "{}");
    sl_json_free(flavor);
}

static void test_make_flavor_refuses_what_is_malformed(void **state)
{
    (void)state;
    static const struct {
        const char *labels, *taints, *tolerations, *says;
    } bad[] = {{"a", NULL, NULL, "--node-labels: \"a\" is not KEY=VALUE"},
               {NULL, "a=b", NULL, "--node-taints: \"a\" is not KEY[=VALUE]:EFFECT"},
               {NULL, ":NoSchedule", NULL, "is not KEY[=VALUE]:EFFECT"},
               {NULL, "a:Never", NULL, "\"Never\" is not an effect"},
               {NULL, NULL, "a:Never", "--tolerations: \"Never\" is not an effect"},
               {NULL, NULL, "=b", "\"b\" is a value without a key"}};
    for (size_t i = 0; i < sizeof bad / sizeof bad[0]; i++) {
        struct sl_make_flavor m = {.labels = {.items = {bad[i].labels}},
                                   .taints = {.items = {bad[i].taints}},
                                   .tolerations = {.items = {bad[i].tolerations}}};
        struct sl_json *flavor = NULL;
        struct sl_error e = {0};
        m.labels.count = bad[i].labels != NULL;
        m.taints.count = bad[i].taints != NULL;
        m.tolerations.count = bad[i].tolerations != NULL;
        assert_int_equal(sl_make_flavor(&m, "f", &flavor, &e), SL_CODE_BAD_REQUEST);
        assert_has(e.text, bad[i].says);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_make_queue_without_options_is_kueuectls),
        cmocka_unit_test(test_make_queue_with_policies),
        cmocka_unit_test(test_make_queue_groups_flavors_by_resources),
        cmocka_unit_test(test_make_queue_refuses_what_is_malformed),
        cmocka_unit_test(test_make_flavor),
        cmocka_unit_test(test_make_flavor_refuses_what_is_malformed),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
