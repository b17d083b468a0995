/* SPDX-License-Identifier: Apache-2.0
 * SPDX-FileCopyrightText: The Sluice authors */

/* Nodes that fail under workloads: when they are marked, what replaces them, and what is left alone. */
#include "cluster.h"
#include "scene.h"
#include "kernel/lifecycle/second_pass.h"

static const char FLAVOR[] = "{\"topologyName\":\"topo\"}";
static struct sl_engine_settings settings;

static void open_world(void)
{
    world_open_with(&w, NULL, &settings);
    cluster_add_basics(&w, FLAVOR, "20");
    cluster_put_node(&w, "n1", "b1", "r1", "2", "");
    cluster_put_node(&w, "n2", "b1", "r1", "2", "");
    cluster_put_node(&w, "n3", "b1", "r1", "2", "");
}

static int setup_node_health(void **state)
{
    (void)state;
    settings = sl_engine_settings_default();
    open_world();
    return 0;
}

/* `pod_spec` is spliced into the pod template's spec. */
static void add_workload(const char *name, int count, const char *request, const char *tolerations)
{
    struct sl_json *o = world_new_workload("team", name, "lq", count, "1");
    sl_json_set(sl_json_path(o, "spec.podSets.0"), "topologyRequest", world_parse(request));
    sl_json_set(sl_json_path(o, "spec.podSets.0.template.spec"), "tolerations",
                world_parse(tolerations));
    assert_int_equal(world_put(&w, SL_KIND_WORKLOAD, o, NULL), SL_CODE_OK);
    world_settle(&w);
    world_expect(&w, name, "Admitted", "True", "Admitted");
}

static void put_pod(const char *name, const char *workload, const char *node, const char *phase,
                    bool deleting)
{
    char text[768];
    (void)snprintf(text, sizeof text,
                   "{\"metadata\":{\"namespace\":\"team\",\"name\":\"%s\",\"annotations\":{"
                   "\"kueue.x-k8s.io/workload\":\"%s\",\"kueue.x-k8s.io/podset-required-topology\":"
                   "\"rack\"}%s},\"spec\":{\"nodeName\":\"%s\",\"containers\":[]},\"status\":{"
                   "\"phase\":\"%s\"}}",
                   name, workload,
                   deleting ? ",\"deletionTimestamp\":\"2027-01-15T08:00:00Z\"" : "", node, phase);
    world_add(&w, SL_KIND_POD, text);
    world_settle(&w);
}

static void set_ready(const char *node, const char *value)
{
    char text[160];
    (void)snprintf(text, sizeof text,
                   "{\"status\":{\"conditions\":[{\"type\":\"Ready\",\"status\":\"%s\"}]}}", value);
    world_patch(&w, SL_KIND_NODE, "", node, text);
    world_settle(&w);
}

static void set_taint(const char *node, const char *effect)
{
    char text[160];
    (void)snprintf(text, sizeof text,
                   "{\"spec\":{\"taints\":[{\"key\":\"down\",\"effect\":\"%s\"}]}}", effect);
    world_patch(&w, SL_KIND_NODE, "", node, text);
    world_settle(&w);
}

static void lose_node(const char *node)
{
    world_delete(&w, SL_KIND_NODE, "", node);
    world_settle(&w);
}

/* The marked nodes, in text. */
static void assert_marks(const char *name, const char *expected)
{
    struct sl_buf out = {0};
    const struct sl_json *list = sl_json_path(world_workload(&w, name), "status.unhealthyNodes");
    sl_buf_text(&out, "");
    for (size_t i = 0; i < sl_json_len(list); i++) {
        sl_buf_print(&out, "%s%s", i == 0 ? "" : " ",
                     sl_json_path_text(sl_json_at(list, i), "name", "?"));
    }
    assert_string_equal(out.data == NULL ? "" : out.data, expected);
    assert_int_equal(
        sl_json_has(sl_json_path(world_workload(&w, name), "status"), "unhealthyNodes"),
        expected[0] != '\0');
    sl_buf_fini(&out);
}

/* Where it stands, by the core: "n1=2 n2=2". */
static void assert_assignments(const char *name, const char *expected)
{
    char key[64];
    struct sl_buf out = {0};
    (void)snprintf(key, sizeof key, "team/%s", name);
    sl_workload_id id = sl_intern_find(w.engine->names, SL_INTERN_WORKLOAD, key);
    sl_buf_text(&out, "");
    for (uint32_t i = 0; i < sl_topology_assignment_count(id); i++) {
        struct sl_domain_assignment s = sl_topology_assignment_at(id, i);
        sl_buf_print(&out, "%s%s=%u", i == 0 ? "" : " ", sl_names_value(w.engine, s.domain),
                     s.count);
    }
    assert_string_equal(out.data == NULL ? "" : out.data, expected);
    sl_buf_fini(&out);
}

static void assert_assigned(const char *name, const char *expected)
{
    struct sl_buf out = {0};
    const struct sl_json *list =
        sl_json_path(world_workload(&w, name), "status.admission.podSetAssignments");
    sl_json_print(sl_json_path(sl_json_at(list, 0), "topologyAssignment.slices"), &out);
    assert_string_equal(out.data, expected);
    sl_buf_fini(&out);
}

/* --- when a node has failed ------------------------------------------------------------------- */

static void test_node_health_node_gone_is_marked_at_once_and_replaced(void **state)
{
    (void)state;
    add_workload("a", 4, "{\"required\":\"rack\"}", "[]");
    assert_assignments("a", "n1=2 n2=2");
    put_pod("a-0", "a", "n1", "Running", false);
    const struct sl_json *before = sl_condition_find(world_workload(&w, "a"), "Admitted");
    char admitted[64];
    (void)snprintf(admitted, sizeof admitted, "%s",
                   sl_json_path_text(before, "lastTransitionTime", ""));
    w.now_ms += 60000;
    lose_node("n1");
    assert_int_equal(w.last_kind, SL_DECIDE_PLACE);
    assert_string_equal(w.last_message, "its pods leave failed node n1");
    assert_marks("a", "n1");
    assert_assignments("a", "n1=2 n2=2");
    unsigned writes = w.writes;
    world_pass(&w, 1000);
    assert_int_equal(w.writes, writes + 1); /* the place and the mark in one */
    assert_int_equal(w.last_kind, SL_DECIDE_PLACE);
    assert_string_equal(w.last_message, "the workload has its topology assignment");
    assert_marks("a", "");
    assert_assignments("a", "n2=2 n3=2");
    assert_assigned("a",
                    "[{\"domainCount\":2,\"valuesPerLevel\":[{\"individual\":{\"prefix\":\"n\","
                    "\"roots\":[\"2\",\"3\"]}}],\"podCounts\":{\"universal\":2}}]");
    world_expect(&w, "a", "Admitted", "True", "Admitted");
    assert_string_equal(sl_json_path_text(sl_condition_find(world_workload(&w, "a"), "Admitted"),
                                          "lastTransitionTime", ""),
                        admitted);
    assert_null(sl_condition_find(world_workload(&w, "a"), "Evicted"));
}

static void test_node_health_node_without_ready_condition_has_failed(void **state)
{
    (void)state;
    add_workload("a", 2, "{\"required\":\"rack\"}", "[]");
    put_pod("a-0", "a", "n1", "Running", false);
    world_patch(&w, SL_KIND_NODE, "", "n1", "{\"status\":{\"conditions\":[]}}");
    world_settle(&w);
    assert_marks("a", "n1");
}

static void test_node_health_not_ready_waits_for_pods_to_go(void **state)
{
    (void)state;
    add_workload("a", 2, "{\"required\":\"rack\"}", "[]");
    put_pod("a-0", "a", "n1", "Running", false);
    put_pod("a-1", "a", "n1", "Running", false);
    set_ready("n1", "Unknown");
    assert_marks("a", "");
    put_pod("a-0", "a", "n1", "Running", true);
    assert_marks("a", "");
    put_pod("a-1", "a", "n1", "Failed", false);
    assert_marks("a", "n1");
}

static void test_node_health_not_ready_marks_when_the_last_pod_is_deleted(void **state)
{
    (void)state;
    add_workload("a", 2, "{\"required\":\"rack\"}", "[]");
    put_pod("a-0", "a", "n1", "Running", false);
    set_ready("n1", "False");
    assert_marks("a", "");
    world_delete(&w, SL_KIND_POD, "team", "a-0");
    world_settle(&w);
    assert_marks("a", "n1");
}

static void
test_node_health_not_ready_without_pods_is_marked_and_others_pods_do_not_count(void **state)
{
    (void)state;
    add_workload("a", 1, "{\"required\":\"rack\"}", "[]");
    add_workload("b", 1, "{\"required\":\"rack\"}", "[]");
    assert_assignments("b", "n1=1");
    put_pod("b-0", "b", "n1", "Running", false);
    set_ready("n1", "False");
    assert_marks("a", "n1");
    assert_marks("b", "");
}

static void test_node_health_taint_that_is_not_tolerated_waits_for_pods_to_go(void **state)
{
    (void)state;
    add_workload("a", 2, "{\"required\":\"rack\"}", "[]");
    put_pod("a-0", "a", "n1", "Running", false);
    set_taint("n1", "NoSchedule");
    assert_marks("a", "");
    put_pod("a-0", "a", "n1", "Succeeded", false);
    assert_marks("a", "n1");
}

/* A Pod was replaced by one of its name while nobody looked: that it went is never told. */
static void test_node_health_pod_of_the_same_name_elsewhere_is_another(void **state)
{
    (void)state;
    add_workload("a", 2, "{\"required\":\"rack\"}", "[]");
    put_pod("a-0", "a", "n1", "Running", false);
    set_taint("n1", "NoSchedule");
    assert_marks("a", "");
    put_pod("a-0", "a", "n3", "Running", false);
    assert_marks("a", "n1");
}

static void test_node_health_pod_of_the_same_name_of_another_workload_is_another(void **state)
{
    (void)state;
    add_workload("a", 2, "{\"required\":\"rack\"}", "[]");
    put_pod("p", "a", "n1", "Running", false);
    set_taint("n1", "NoSchedule");
    put_pod("p", "b", "n1", "Running", false);
    assert_marks("a", "n1");
}

/* As when a node is registered anew under another name before its old Node goes. */
static void test_node_health_host_of_two_nodes_fails_with_the_last(void **state)
{
    (void)state;
    struct sl_json *twin = cluster_new_node("twin", "b1", "r1", "2", "");
    sl_json_set_text(sl_json_path(twin, "metadata.labels"), "kubernetes.io/hostname", "n1");
    assert_int_equal(world_put(&w, SL_KIND_NODE, twin, NULL), SL_CODE_OK);
    add_workload("a", 4, "{\"required\":\"rack\"}", "[]");
    assert_assignments("a", "n1=4");
    lose_node("n1");
    assert_marks("a", "");
    lose_node("twin");
    assert_marks("a", "n1");
}

static void test_node_health_cordon_counts_as_a_taint(void **state)
{
    (void)state;
    add_workload("a", 2, "{\"required\":\"rack\"}", "[]");
    put_pod("a-0", "a", "n1", "Running", false);
    world_patch(&w, SL_KIND_NODE, "", "n1", "{\"spec\":{\"unschedulable\":true}}");
    world_settle(&w);
    assert_marks("a", "");
    world_delete(&w, SL_KIND_POD, "team", "a-0");
    world_settle(&w);
    assert_marks("a", "n1");
}

static void test_node_health_soft_taint_is_none(void **state)
{
    (void)state;
    add_workload("a", 2, "{\"required\":\"rack\"}", "[]");
    set_taint("n1", "PreferNoSchedule");
    assert_marks("a", "");
}

static void test_node_health_tolerated_taint_is_none(void **state)
{
    (void)state;
    add_workload("a", 2, "{\"required\":\"rack\"}", "[{\"key\":\"down\",\"operator\":\"Exists\"}]");
    set_taint("n1", "NoExecute");
    assert_marks("a", "");
    world_pass(&w, 60000);
    assert_assignments("a", "n1=2");
}

static void test_node_health_taint_tolerated_for_a_time_marks_once_pods_went(void **state)
{
    (void)state;
    add_workload("a", 2, "{\"required\":\"rack\"}",
                 "[{\"key\":\"down\",\"operator\":\"Exists\",\"effect\":\"NoExecute\","
                 "\"tolerationSeconds\":300}]");
    set_taint("n1", "NoExecute");
    assert_marks("a", ""); /* its pods are still to come */
    put_pod("a-0", "a", "n1", "Running", false);
    assert_marks("a", "");
    put_pod("a-0", "a", "n1", "Running", true);
    assert_marks("a", "n1");
}

static void test_node_health_racks_do_not_fail(void **state)
{
    (void)state;
    world_add(&w, SL_KIND_TOPOLOGY,
              "{\"metadata\":{\"name\":\"racks\"},\"spec\":{\"levels\":[{\"nodeLabel\":\"rack\"}]}"
              "}");
    world_add_flavor(&w, "racks", "{\"topologyName\":\"racks\"}");
    world_add_cluster_queue(&w, "cq", "racks", "20", "");
    add_workload("a", 2, "{\"required\":\"rack\"}", "[]");
    lose_node("n1");
    lose_node("n2");
    assert_marks("a", "");
}

/* --- before it is replaced -------------------------------------------------------------------- */

static void test_node_health_node_that_recovers_in_time_is_unmarked(void **state)
{
    (void)state;
    add_workload("a", 4, "{\"required\":\"rack\"}", "[]");
    set_ready("n1", "False");
    assert_marks("a", "n1");
    set_ready("n1", "True");
    assert_marks("a", "");
    assert_int_equal(sl_second_pass_count(), 0);
    world_pass(&w, 60000);
    assert_assignments("a", "n1=2 n2=2");
}

static void test_node_health_another_failure_after_a_recovery_is_not_lost(void **state)
{
    (void)state;
    add_workload("a", 4, "{\"required\":\"rack\"}", "[]");
    set_ready("n1", "False");
    set_ready("n1", "True");
    lose_node("n2");
    assert_marks("a", "n2");
    world_pass(&w, 1000);
    assert_marks("a", "");
    assert_assignments("a", "n1=2 n3=2");
}

static void test_node_health_two_failed_nodes_are_replaced_together(void **state)
{
    (void)state;
    add_workload("a", 4, "{\"preferred\":\"rack\"}", "[]");
    cluster_put_node(&w, "n4", "b1", "r2", "2", "");
    assert_assignments("a", "n1=2 n2=2");
    lose_node("n1");
    lose_node("n2");
    assert_marks("a", "n1 n2");
    world_pass(&w, 1000);
    assert_marks("a", "");
    assert_assignments("a", "n3=2 n4=2");
    assert_null(sl_condition_find(world_workload(&w, "a"), "Evicted"));
}

static void test_node_health_no_replacement_with_fail_fast_evicts_and_names_the_node(void **state)
{
    (void)state;
    add_workload("a", 6, "{\"required\":\"rack\"}", "[]");
    lose_node("n2");
    world_pass(&w, 1000);
    world_expect(&w, "a", "Evicted", "True", "NodeFailures");
    const char *text =
        sl_json_path_text(sl_condition_find(world_workload(&w, "a"), "Evicted"), "message", "");
    if (strstr(text, "there was no replacement for unhealthy node(s): n2") == NULL) {
        fail_msg("got: %s", text);
    }
    assert_marks("a", "");
    sl_engine_job_stopped(w.engine, world_workload(&w, "a"), w.now_ms);
    world_settle(&w);
    world_expect(&w, "a", "Requeued", "True", "NodeFailures");
    assert_assignments("a", "");
}

static void test_node_health_no_replacement_without_fail_fast_waits(void **state)
{
    (void)state;
    world_close(&w);
    settings.policy.fail_fast = false;
    open_world();
    add_workload("a", 6, "{\"required\":\"rack\"}", "[]");
    lose_node("n2");
    world_pass(&w, 1000);
    assert_int_equal(w.last_kind, SL_DECIDE_UNPLACED);
    assert_marks("a", "n2");
    world_pass(&w, 2000);
    assert_marks("a", "n2");
    cluster_put_node(&w, "n9", "b1", "r1", "2", "");
    world_pass(&w, 4000);
    assert_marks("a", "");
    assert_assignments("a", "n1=2 n3=2 n9=2");
}

/* Pods name the Workload that stands for its variants. */
static void test_node_health_variant_has_the_pods_of_its_parent(void **state)
{
    (void)state;
    world_close(&w);
    settings.concurrent_admission = true;
    open_world();
    struct sl_json *o = world_new_workload("team", "p-variant", "lq", 2, "1");
    sl_json_set(sl_json_path_make(o, "metadata"), "ownerReferences",
                world_parse("[{\"apiVersion\":\"kueue.x-k8s.io/v1beta2\",\"kind\":\"Workload\","
                            "\"name\":\"p\",\"uid\":\"p\",\"controller\":true}]"));
    sl_json_set(sl_json_path(o, "spec.podSets.0"), "topologyRequest",
                world_parse("{\"required\":\"rack\"}"));
    sl_json_set(
        sl_json_path(o, "spec.podSets.0.template.spec"), "tolerations",
        world_parse("[{\"key\":\"down\",\"operator\":\"Exists\",\"tolerationSeconds\":300}]"));
    assert_int_equal(world_put(&w, SL_KIND_WORKLOAD, o, NULL), SL_CODE_OK);
    world_settle(&w);
    assert_assignments("p-variant", "n1=2");
    put_pod("p-0", "p", "n1", "Running", false);
    put_pod("q-0", "q", "n1", "Running", false);
    set_ready("n1", "False");
    assert_marks("p-variant", "");
    set_ready("n1", "True");
    set_taint("n1", "NoExecute");
    put_pod("q-0", "q", "n1", "Failed", false); /* of others */
    assert_marks("p-variant", "");
    world_delete(&w, SL_KIND_POD, "team", "p-0");
    world_settle(&w);
    assert_marks("p-variant", "n1");
}

static void test_node_health_replacement_that_is_switched_off_marks_nothing(void **state)
{
    (void)state;
    world_close(&w);
    settings.policy.replace_failed = false;
    open_world();
    add_workload("a", 4, "{\"required\":\"rack\"}", "[]");
    lose_node("n1");
    assert_marks("a", "");
}

static void test_node_health_too_many_failed_nodes_evict_and_are_named(void **state)
{
    (void)state;
    char name[16];
    for (int i = 10; i < 19; i++) {
        (void)snprintf(name, sizeof name, "m%d", i);
        cluster_put_node(&w, name, "b9", "r9", "1", "");
    }
    add_workload("a", 9, "{\"required\":\"rack\"}", "[]");
    for (int i = 10; i < 19; i++) {
        (void)snprintf(name, sizeof name, "m%d", i);
        lose_node(name);
        if (i == 17) {
            assert_marks("a", "m10 m11 m12 m13 m14 m15 m16 m17");
        }
    }
    world_expect(&w, "a", "Evicted", "True", "NodeFailures");
    const char *text =
        sl_json_path_text(sl_condition_find(world_workload(&w, "a"), "Evicted"), "message", "");
    assert_string_equal(text, "too many nodes have failed: m10, m11, m12, m13, m14, m15, m16, m17, "
                              "m18");
    assert_marks("a", "");
}

static void test_node_health_mark_that_is_not_written_is_written_later(void **state)
{
    (void)state;
    add_workload("a", 4, "{\"required\":\"rack\"}", "[]");
    w.fail_next = SL_CODE_CONFLICT;
    lose_node("n1");
    assert_marks("a", "");
    w.fail_next = SL_CODE_OK;
    world_pass(&w, 999);
    assert_marks("a", "");
    world_patch(&w, SL_KIND_WORKLOAD, "team", "a", "{\"metadata\":{\"labels\":{\"x\":\"y\"}}}");
    world_settle(&w);
    assert_marks("a", "n1");
    world_pass(&w, 1);
    assert_marks("a", "");
    assert_assignments("a", "n2=2 n3=2");
}

static void test_node_health_flavors_with_hosts_of_their_own_name_a_node_once(void **state)
{
    (void)state;
    world_close(&w);
    settings.policy.overlapping_flavors = false;
    open_world();
    world_add_flavor(&w, "other", FLAVOR);
    world_add_cluster_queue(&w, "cq2", "other", "20", "");
    world_add_local_queue(&w, "team", "lq2", "cq2");
    add_workload("a", 4, "{\"required\":\"rack\"}", "[]");
    struct sl_json *o = world_new_workload("team", "b", "lq2", 4, "1");
    sl_json_set(sl_json_path(o, "spec.podSets.0"), "topologyRequest",
                world_parse("{\"required\":\"rack\"}"));
    assert_int_equal(world_put(&w, SL_KIND_WORKLOAD, o, NULL), SL_CODE_OK);
    world_settle(&w);
    assert_assignments("b", "n1=2 n2=2");
    lose_node("n1");
    assert_marks("a", "n1");
    assert_marks("b", "n1");
    world_pass(&w, 1000);
    assert_assignments("a", "n2=2 n3=2");
    assert_assignments("b", "n2=2 n3=2");
}

/* --- others, restarts ------------------------------------------------------------------------- */

static void test_node_health_reserved_workload_is_looked_at_when_it_is_admitted(void **state)
{
    (void)state;
    world_add(
        &w, SL_KIND_ADMISSION_CHECK,
        "{\"metadata\":{\"name\":\"gate\"},\"spec\":{\"controllerName\":\"example.com/gate\"},"
        "\"status\":{\"conditions\":[{\"type\":\"Active\",\"status\":\"True\"}]}}");
    world_patch(&w, SL_KIND_CLUSTER_QUEUE, "", "cq",
                "{\"spec\":{\"admissionChecksStrategy\":{\"admissionChecks\":[{\"name\":\"gate\"}]}"
                "}}");
    struct sl_json *o = world_new_workload("team", "a", "lq", 4, "1");
    sl_json_set(sl_json_path(o, "spec.podSets.0"), "topologyRequest",
                world_parse("{\"required\":\"rack\"}"));
    assert_int_equal(world_put(&w, SL_KIND_WORKLOAD, o, NULL), SL_CODE_OK);
    world_settle(&w);
    assert_assignments("a", "n1=2 n2=2");
    lose_node("n1");
    assert_marks("a", "");
    world_patch(&w, SL_KIND_WORKLOAD, "team", "a",
                "{\"status\":{\"admissionChecks\":[{\"name\":\"gate\",\"state\":\"Ready\","
                "\"message\":\"\",\"lastTransitionTime\":\"2027-01-15T08:00:00Z\"}]}}");
    world_settle(&w);
    world_expect(&w, "a", "Admitted", "True", "Admitted");
    assert_marks("a", "n1");
}

static void test_node_health_mark_that_somebody_sets_is_replaced(void **state)
{
    (void)state;
    add_workload("a", 4, "{\"required\":\"rack\"}", "[]");
    world_patch(&w, SL_KIND_WORKLOAD, "team", "a",
                "{\"status\":{\"unhealthyNodes\":[{\"name\":\"n1\"}]}}");
    world_settle(&w);
    world_pass(&w, 1000);
    assert_marks("a", "");
    assert_assignments("a", "n2=2 n3=2");
}

static void test_node_health_mark_of_a_node_elsewhere_does_nothing(void **state)
{
    (void)state;
    add_workload("a", 4, "{\"required\":\"rack\"}", "[]");
    world_patch(&w, SL_KIND_WORKLOAD, "team", "a",
                "{\"status\":{\"unhealthyNodes\":[{\"name\":\"n9\"}]}}");
    world_settle(&w);
    assert_int_equal(sl_second_pass_count(), 0);
    assert_assignments("a", "n1=2 n2=2");
}

static void test_node_health_mark_that_somebody_removes_ends_the_pass(void **state)
{
    (void)state;
    add_workload("a", 4, "{\"required\":\"rack\"}", "[]");
    world_patch(&w, SL_KIND_WORKLOAD, "team", "a",
                "{\"status\":{\"unhealthyNodes\":[{\"name\":\"n1\"}]}}");
    world_settle(&w);
    assert_int_equal(sl_second_pass_count(), 1);
    unsigned writes = w.writes;
    world_patch(&w, SL_KIND_WORKLOAD, "team", "a", "{\"status\":{\"unhealthyNodes\":null}}");
    world_pass(&w, 1000);
    assert_int_equal(w.writes, writes);
    assert_assignments("a", "n1=2 n2=2");
}

static void test_node_health_removed_mark_of_a_failed_node_comes_back(void **state)
{
    (void)state;
    add_workload("a", 4, "{\"required\":\"rack\"}", "[]");
    lose_node("n1");
    assert_marks("a", "n1");
    world_patch(&w, SL_KIND_WORKLOAD, "team", "a", "{\"status\":{\"unhealthyNodes\":null}}");
    world_settle(&w);
    assert_marks("a", "n1");
}

static const enum sl_kind kinds[] = {
    SL_KIND_TOPOLOGY,      SL_KIND_RESOURCE_FLAVOR, SL_KIND_ADMISSION_CHECK,
    SL_KIND_CLUSTER_QUEUE, SL_KIND_LOCAL_QUEUE,     SL_KIND_NODE,
    SL_KIND_POD,           SL_KIND_WORKLOAD};

static void test_node_health_restart_keeps_marks_and_replaces(void **state)
{
    (void)state;
    add_workload("a", 4, "{\"required\":\"rack\"}", "[]");
    lose_node("n1");
    assert_marks("a", "n1");
    world_restart(&w, kinds, sizeof kinds / sizeof kinds[0]);
    world_settle(&w);
    assert_marks("a", "n1");
    assert_assignments("a", "n1=2 n2=2"); /* a node that is gone still counts for what it was */
    world_pass(&w, 1000);
    assert_marks("a", "");
    assert_assignments("a", "n2=2 n3=2");
}

static void test_node_health_node_lost_while_nobody_looked_is_marked_after_the_restart(void **state)
{
    (void)state;
    char key[300];
    union sl_map_value gone;
    add_workload("a", 4, "{\"required\":\"rack\"}", "[]");
    world_key(SL_KIND_NODE, "", "n2", key);
    assert_true(sl_map_remove(w.objects, key, &gone));
    sl_json_free(gone.pointer);
    world_restart(&w, kinds, sizeof kinds / sizeof kinds[0]);
    world_settle(&w);
    assert_marks("a", "n2");
    world_pass(&w, 1000);
    assert_assignments("a", "n1=2 n3=2");
}

static void test_node_health_finished_workload_is_left_alone(void **state)
{
    (void)state;
    add_workload("a", 4, "{\"required\":\"rack\"}", "[]");
    world_patch(&w, SL_KIND_WORKLOAD, "team", "a",
                "{\"status\":{\"conditions\":[{\"type\":\"Finished\",\"status\":\"True\","
                "\"reason\":\"Succeeded\"}]}}");
    world_settle(&w);
    unsigned writes = w.writes;
    lose_node("n1");
    assert_int_equal(w.writes, writes);
    assert_int_equal(sl_second_pass_count(), 0);
}

int main(void)
{
#define TEST(f) cmocka_unit_test_setup_teardown(f, setup_node_health, teardown)
    const struct CMUnitTest tests[] = {
        TEST(test_node_health_node_gone_is_marked_at_once_and_replaced),
        TEST(test_node_health_node_without_ready_condition_has_failed),
        TEST(test_node_health_not_ready_waits_for_pods_to_go),
        TEST(test_node_health_not_ready_marks_when_the_last_pod_is_deleted),
        TEST(test_node_health_not_ready_without_pods_is_marked_and_others_pods_do_not_count),
        TEST(test_node_health_taint_that_is_not_tolerated_waits_for_pods_to_go),
        TEST(test_node_health_pod_of_the_same_name_elsewhere_is_another),
        TEST(test_node_health_pod_of_the_same_name_of_another_workload_is_another),
        TEST(test_node_health_host_of_two_nodes_fails_with_the_last),
        TEST(test_node_health_cordon_counts_as_a_taint),
        TEST(test_node_health_soft_taint_is_none),
        TEST(test_node_health_tolerated_taint_is_none),
        TEST(test_node_health_taint_tolerated_for_a_time_marks_once_pods_went),
        TEST(test_node_health_racks_do_not_fail),
        TEST(test_node_health_node_that_recovers_in_time_is_unmarked),
        TEST(test_node_health_another_failure_after_a_recovery_is_not_lost),
        TEST(test_node_health_two_failed_nodes_are_replaced_together),
        TEST(test_node_health_no_replacement_with_fail_fast_evicts_and_names_the_node),
        TEST(test_node_health_no_replacement_without_fail_fast_waits),
        TEST(test_node_health_variant_has_the_pods_of_its_parent),
        TEST(test_node_health_replacement_that_is_switched_off_marks_nothing),
        TEST(test_node_health_too_many_failed_nodes_evict_and_are_named),
        TEST(test_node_health_mark_that_is_not_written_is_written_later),
        TEST(test_node_health_flavors_with_hosts_of_their_own_name_a_node_once),
        TEST(test_node_health_reserved_workload_is_looked_at_when_it_is_admitted),
        TEST(test_node_health_mark_that_somebody_sets_is_replaced),
        TEST(test_node_health_mark_of_a_node_elsewhere_does_nothing),
        TEST(test_node_health_mark_that_somebody_removes_ends_the_pass),
        TEST(test_node_health_removed_mark_of_a_failed_node_comes_back),
        TEST(test_node_health_restart_keeps_marks_and_replaces),
        TEST(test_node_health_node_lost_while_nobody_looked_is_marked_after_the_restart),
        TEST(test_node_health_finished_workload_is_left_alone),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
