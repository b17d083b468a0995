/* SPDX-License-Identifier: Apache-2.0
 * SPDX-FileCopyrightText: The Sluice authors */

/* Tables for kubectl and for people, and the ages in them. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>
#include <cmocka.h>

#include "api/kinds/cells.h"
#include "base/clock.h"
#include "fixture.h"

#define NOW 1767225600000 /* 2026-01-01T00:00:00Z */

static void test_table_ages_read_like_those_of_kubectl(void **state)
{
    (void)state;
    static const struct {
        int64_t seconds;
        const char *text;
    } golden[] = {
        {-2, "<invalid>"},    {0, "0s"},          {5, "5s"},
        {119, "119s"},        {120, "2m"},        {123, "2m3s"},
        {599, "9m59s"},       {600, "10m"},       {10799, "179m"},
        {10800, "3h"},        {11100, "3h5m"},    {28800, "8h"},
        {172799, "47h"},      {172800, "2d"},     {180000, "2d2h"},
        {691199, "7d23h"},    {691200, "8d"},     {62985600, "729d"},
        {63072000, "2y"},     {63200000, "2y1d"}, {252288000, "8y"},
        {9999999999, "317y"},
    };
    for (size_t i = 0; i < sizeof golden / sizeof golden[0]; i++) {
        char out[32];
        sl_cell_age(golden[i].seconds * 1000, out);
        assert_string_equal(out, golden[i].text);
    }
}

static struct sl_json *list_of(const char *text)
{
    struct sl_json *list = sl_json_parse_yaml(text, strlen(text), NULL);
    assert_non_null(list);
    return list;
}

static void prints(enum sl_kind kind, const char *objects, bool wide, bool with_namespace,
                   const char *expected)
{
    struct sl_json *list = list_of(objects);
    struct sl_buf out = {0};
    sl_table_print(kind, list, wide, with_namespace, NOW, &out);
    assert_string_equal(out.data, expected);
    sl_buf_fini(&out);
    sl_json_free(list);
}

static void test_table_workloads_have_the_columns_of_kueue(void **state)
{
    (void)state;
    prints(SL_KIND_WORKLOAD,
           "metadata: {name: job-a, namespace: ns, creationTimestamp: '2025-12-31T23:50:00Z'}\n"
           "spec: {queueName: lq}\n"
           "status:\n  admission: {clusterQueue: cq}\n  conditions:\n  - {type: Admitted, status: "
           "'True'}\n"
           "---\nmetadata: {name: job-longer, namespace: other, creationTimestamp: "
           "'2025-12-31T23:59:57Z'}\n"
           "spec: {queueName: lq}\nstatus: {conditions: [{type: QuotaReserved, status: 'False', "
           "reason: WaitingForQuota, message: 4 more}]}\n",
           false, true,
           "NAMESPACE   NAME         QUEUE   RESERVED IN   ADMITTED   FINISHED   AGE   REASON\n"
           "ns          job-a        lq      cq            True                  10m   \n"
           "other       job-longer   lq                                          3s    "
           "WaitingForQuota\n");
}

/* Of equal workloads only the first is tried, and has a condition: for the others it is said where their reason is. */
static void test_table_says_where_the_reason_of_an_equal_workload_is(void **state)
{
    (void)state;
    prints(
        SL_KIND_WORKLOAD,
        "metadata: {name: w, namespace: ns, creationTimestamp: '2025-12-31T23:50:00Z'}\n"
        "spec: {queueName: lq}\n"
        "---\nmetadata: {name: x, namespace: ns, creationTimestamp: '2025-12-31T23:50:00Z'}\n"
        "spec: {queueName: lq}\nstatus: {conditions: [{type: Finished, status: 'True'}]}\n",
        true, false,
        "NAME   QUEUE   RESERVED IN   ADMITTED   FINISHED   AGE   REASON    MESSAGE\n"
        "w      lq                                          10m   Pending   not tried itself yet: "
        "sluicectl why workload/w -n ns\n"
        "x      lq                               True       10m             \n");
}

static void test_table_wide_shows_more_columns(void **state)
{
    (void)state;
    static const char queue[] =
        "metadata: {name: cq}\nspec: {cohortName: all, queueingStrategy: StrictFIFO}\n"
        "status: {pendingWorkloads: 3, admittedWorkloads: 0, fairSharing: {weightedShare: 70},\n"
        "  conditions: [{type: Active, status: 'False', reason: Stopped}]}\n";
    prints(SL_KIND_CLUSTER_QUEUE, queue, false, false,
           "NAME   COHORT   PENDING WORKLOADS   ACTIVE   USED/QUOTA\n"
           "cq     all      3                   False    \n");
    prints(SL_KIND_CLUSTER_QUEUE, queue, true, false,
           "NAME   COHORT   STRATEGY     PENDING WORKLOADS   ADMITTED WORKLOADS   ACTIVE   "
           "USED/QUOTA   REASON    SHARE\n"
           "cq     all      StrictFIFO   3                   0                    False            "
           "     Stopped   70\n");
}

/* Of all flavors together; what a flavor does not have counts nothing, and neither does what is no quantity. */
static void test_table_queues_show_their_use(void **state)
{
    (void)state;
    prints(
        SL_KIND_CLUSTER_QUEUE,
        "metadata: {name: cq}\nspec: {resourceGroups: [{coveredResources: [cpu, memory], flavors: "
        "[{name: a, resources: [{name: cpu, nominalQuota: 4}, {name: memory, nominalQuota: 0}]}, "
        "{name: b, resources: [{name: cpu, nominalQuota: 2}, {name: memory, nominalQuota: 1Gi}]}]},"
        " {coveredResources: [gpu], flavors: [{name: c, resources: [{name: gpu, nominalQuota: "
        "many}]}]}]}\n"
        "status: {flavorsReservation: [{name: a, resources: [{name: cpu, total: 500m}, {name: "
        "memory, total: '0'}]}, {name: b, resources: [{name: cpu, total: '1'}]}]}\n",
        false, false,
        "NAME   COHORT   PENDING WORKLOADS   ACTIVE   USED/QUOTA\n"
        "cq                                           cpu 1500m/6, memory 0/1Gi, gpu 0/0\n");
    prints(SL_KIND_LOCAL_QUEUE,
           "metadata: {name: lq}\nspec: {clusterQueue: cq}\nstatus: {conditions: [{type: Active, "
           "status: 'False', reason: ClusterQueueIsInactive}]}\n",
           true, false,
           "NAME   CLUSTERQUEUE   PENDING WORKLOADS   ADMITTED WORKLOADS   ACTIVE   USED   REASON\n"
           "lq     cq                                                      False           "
           "ClusterQueueIsInactive\n");
    prints(
        SL_KIND_LOCAL_QUEUE,
        "metadata: {name: lq}\nspec: {clusterQueue: cq}\nstatus: {pendingWorkloads: 1, "
        "admittedWorkloads: 2, flavorsReservation: [{name: a, resources: [{name: cpu, total: "
        "500m}, {name: memory, total: 1Gi}]}, {name: b, resources: [{name: cpu, total: '1'}]}]}\n",
        false, false,
        "NAME   CLUSTERQUEUE   PENDING WORKLOADS   ADMITTED WORKLOADS   ACTIVE   USED\n"
        "lq     cq             1                   2                             cpu 1500m, memory "
        "1Gi\n");
}

static void test_table_without_objects_is_a_header(void **state)
{
    (void)state;
    prints(SL_KIND_NAMESPACE, "", false, false, "NAME   STATUS   AGE\n");
}

static void test_table_jobs_show_status_completions_and_duration(void **state)
{
    (void)state;
    prints(SL_KIND_JOB,
           "metadata: {name: a, creationTimestamp: '2025-12-31T23:59:00Z'}\nspec: {completions: 3, "
           "suspend: true}\n"
           "status: {conditions: [{type: Suspended, status: 'True'}]}\n"
           "---\nmetadata: {name: b, creationTimestamp: '2025-12-31T23:59:00Z'}\nspec: "
           "{parallelism: 2}\n"
           "status: {succeeded: 1, startTime: '2025-12-31T23:59:30Z'}\n"
           "---\nmetadata: {name: c, creationTimestamp: '2025-12-31T22:00:00Z'}\nspec: "
           "{parallelism: 1, template: {spec:"
           " {containers: [{name: x, image: i}, {name: z}]}}}\n"
           "status: {succeeded: 1, startTime: '2025-12-31T22:00:00Z', completionTime: "
           "'2025-12-31T22:03:05Z',"
           " conditions: [{type: Complete, status: 'True'}]}\n"
           "---\nmetadata: {name: d, deletionTimestamp: '2025-12-31T22:00:00Z'}\n"
           "---\nmetadata: {name: e}\nspec: {suspend: true}\n"
           "---\nmetadata: {name: f}\nspec: {suspend: true}\n"
           "status: {startTime: '2025-12-31T23:59:55Z'}\n",
           true, false,
           "NAME   STATUS        COMPLETIONS   DURATION   AGE    CONTAINERS   IMAGES\n"
           "a      Suspended     0/3                      60s    <none>       <none>\n"
           "b      Running       1/1 of 2      30s        60s    <none>       <none>\n"
           "c      Complete      1/1           3m5s       120m   x,z          i,<none>\n"
           "d      Terminating   0/1                             <none>       <none>\n"
           "e      Suspended     0/1                             <none>       <none>\n"
           "f      Running       0/1           5s                <none>       <none>\n");
}

static void test_table_pods_and_nodes_are_summed_up(void **state)
{
    (void)state;
    prints(
        SL_KIND_POD,
        "metadata: {name: a, creationTimestamp: '2025-12-31T23:59:59Z'}\nspec: {containers: "
        "[{name: x}, {name: z}],"
        " nodeName: n1}\nstatus: {phase: Running, containerStatuses: [{ready: true, restartCount: "
        "2}, {ready: false}]}\n"
        "---\nmetadata: {name: b}\nspec: {containers: [{name: x}], schedulingGates: [{name: g}]}\n"
        "---\nmetadata: {name: c}\nstatus: {phase: Succeeded}\n---\nmetadata: {name: d}\nstatus: "
        "{phase: Failed}\n"
        "---\nmetadata: {name: e}\nstatus: {phase: Failed, reason: Evicted}\n"
        "---\nmetadata: {name: f, deletionTimestamp: x}\n",
        true, false,
        "NAME   READY   STATUS            RESTARTS   AGE   IP   NODE\n"
        "a      1/2     Running           2          1s         n1\n"
        "b      0/1     SchedulingGated   0                     \n"
        "c      0/0     Completed         0                     \n"
        "d      0/0     Error             0                     \n"
        "e      0/0     Evicted           0                     \n"
        "f      0/0     Terminating       0                     \n");
    prints(SL_KIND_NODE,
           "metadata: {name: a, labels: {node-role.kubernetes.io/control-plane: '', "
           "node-role.kubernetes.io/etcd: ''}}\n"
           "spec: {unschedulable: true}\nstatus: {conditions: [{type: Ready, status: 'True'}], "
           "nodeInfo: {kubeletVersion: v1}}\n"
           "---\nmetadata: {name: b}\nstatus: {conditions: [{type: Ready, status: "
           "'False'}]}\n---\nmetadata: {name: c}\n",
           false, false,
           "NAME   STATUS                     ROLES                AGE   VERSION\n"
           "a      Ready,SchedulingDisabled   control-plane,etcd         v1\n"
           "b      NotReady                   <none>                     \n"
           "c      Unknown                    <none>                     \n");
}

static void test_table_events_and_classes_are_shown(void **state)
{
    (void)state;
    prints(
        SL_KIND_EVENT,
        "metadata: {name: e}\ninvolvedObject: {kind: Workload, name: w}\ntype: Normal\nreason: "
        "Admitted\n"
        "message: \"one\\ntwo\"\nlastTimestamp: '2025-12-31T23:59:50Z'\n---\nmetadata: {name: f}\n",
        false, false,
        "LAST SEEN   TYPE     REASON     OBJECT       MESSAGE\n"
        "10s         Normal   Admitted   workload/w   one\n"
        "<unknown>                       /            \n");
    prints(SL_KIND_PRIORITY_CLASS, "metadata: {name: p, creationTimestamp: nonsense}\nvalue: 5\n",
           false, false,
           "NAME   VALUE   GLOBAL-DEFAULT   AGE\np      5       false            <invalid>\n");
}

static void test_table_for_kubectl_has_definitions_cells_and_metadata(void **state)
{
    (void)state;
    struct sl_json *list =
        list_of("metadata: {name: lq, namespace: ns}\nspec: {clusterQueue: cq}\n");
    struct sl_json *table = sl_table_new(SL_KIND_LOCAL_QUEUE, list, NOW);
    assert_string_equal(sl_json_path_text(table, "kind", ""), "Table");
    assert_string_equal(sl_json_path_text(table, "apiVersion", ""), "meta.k8s.io/v1");
    assert_int_equal(sl_json_len(sl_json_get(table, "columnDefinitions")), 7);
    assert_json(sl_json_path(table, "columnDefinitions.0"),
                "{\"name\":\"Name\",\"type\":\"string\",\"format\":\"name\",\"description\":\"Name "
                "of the queue\",\"priority\":0}");
    assert_json(sl_json_path(table, "rows.0"),
                "{\"cells\":[\"lq\",\"cq\",null,null,null,\"\",null],\"object\":{\"kind\":"
                "\"PartialObjectMetadata\",\"apiVersion\":"
                "\"meta.k8s.io/v1\",\"metadata\":{\"name\":\"lq\",\"namespace\":\"ns\"}}}");
    sl_json_free(table);
    sl_json_free(list);
}

static void test_table_every_kind_can_be_printed(void **state)
{
    (void)state;
    enum sl_kind custom;
    struct sl_json *list = list_of("{}");
    assert_int_equal(sl_kind_register("ray.io/v1", "RayJob", "rayjobs", &custom, NULL), SL_CODE_OK);
    for (size_t i = 0; i <= custom; i++) {
        struct sl_buf out = {0};
        sl_table_print((enum sl_kind)i, list, true, true, NOW, &out);
        assert_non_null(strstr(out.data, "NAME"));
        sl_buf_fini(&out);
    }
    sl_json_free(list);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_table_ages_read_like_those_of_kubectl),
        cmocka_unit_test(test_table_workloads_have_the_columns_of_kueue),
        cmocka_unit_test(test_table_says_where_the_reason_of_an_equal_workload_is),
        cmocka_unit_test(test_table_wide_shows_more_columns),
        cmocka_unit_test(test_table_queues_show_their_use),
        cmocka_unit_test(test_table_without_objects_is_a_header),
        cmocka_unit_test(test_table_jobs_show_status_completions_and_duration),
        cmocka_unit_test(test_table_pods_and_nodes_are_summed_up),
        cmocka_unit_test(test_table_events_and_classes_are_shown),
        cmocka_unit_test(test_table_for_kubectl_has_definitions_cells_and_metadata),
        cmocka_unit_test(test_table_every_kind_can_be_printed),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
