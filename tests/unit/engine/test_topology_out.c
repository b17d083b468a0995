/* SPDX-License-Identifier: Apache-2.0
 * SPDX-FileCopyrightText: The Sluice authors */

/* Where workloads stand: what their objects say of it, when it is decided, in two phases, and after a
 * restart. */
#include "cluster.h"
#include "scene.h"
#include "kernel/lifecycle/second_pass.h"

static const char FLAVOR[] = "{\"topologyName\":\"topo\"}";
/* `request` is the pod set's topologyRequest. */
static void add_workload(const char *name, int count, const char *cpu, const char *request)
{
    struct sl_json *o = world_new_workload("team", name, "lq", count, cpu);
    sl_json_set(sl_json_path(o, "spec.podSets.0"), "topologyRequest", world_parse(request));
    assert_int_equal(world_put(&w, SL_KIND_WORKLOAD, o, NULL), SL_CODE_OK);
}

static const struct sl_json *placed(const char *name, const char *member)
{
    const struct sl_json *list =
        sl_json_path(world_workload(&w, name), "status.admission.podSetAssignments");
    return sl_json_get(sl_json_at(list, 0), member);
}

static void assert_placed(const char *name, const char *expected)
{
    struct sl_buf out = {0};
    sl_json_print(placed(name, "topologyAssignment"), &out);
    assert_string_equal(out.data, expected);
    sl_buf_fini(&out);
}

static void two_racks(void)
{
    cluster_add_basics(&w, FLAVOR, "20");
    cluster_put_node(&w, "n1", "b1", "r1", "2", "");
    cluster_put_node(&w, "n2", "b1", "r1", "2", "");
    cluster_put_node(&w, "n3", "b1", "r2", "2", "");
    cluster_put_node(&w, "n4", "b1", "r2", "2", "");
}

static const enum sl_kind kinds[] = {
    SL_KIND_TOPOLOGY,      SL_KIND_RESOURCE_FLAVOR, SL_KIND_ADMISSION_CHECK,
    SL_KIND_CLUSTER_QUEUE, SL_KIND_LOCAL_QUEUE,     SL_KIND_NODE,
    SL_KIND_POD,           SL_KIND_WORKLOAD};

static void restart(void)
{
    world_restart(&w, kinds, sizeof kinds / sizeof kinds[0]);
    world_settle(&w);
}

/* --- decided at once -------------------------------------------------------------------------- */

static void test_topology_out_reservation_says_which_nodes(void **state)
{
    (void)state;
    two_racks();
    add_workload("a", 4, "1", "{\"required\":\"rack\"}");
    world_settle(&w);
    world_expect(&w, "a", "Admitted", "True", "Admitted");
    assert_placed("a", "{\"levels\":[\"kubernetes.io/hostname\"],\"slices\":[{\"domainCount\":2,"
                       "\"valuesPerLevel\":[{\"individual\":{\"prefix\":\"n\",\"roots\":[\"1\","
                       "\"2\"]}}],\"podCounts\":{\"universal\":2}}]}");
    assert_null(placed("a", "delayedTopologyRequest"));
}

static void test_topology_out_tree_above_nodes_says_all_its_levels(void **state)
{
    (void)state;
    world_add(&w, SL_KIND_TOPOLOGY,
              "{\"metadata\":{\"name\":\"topo\"},\"spec\":{\"levels\":[{\"nodeLabel\":\"block\"},"
              "{\"nodeLabel\":\"rack\"}]}}");
    world_add_flavor(&w, "tas", FLAVOR);
    world_add_cluster_queue(&w, "cq", "tas", "20", "");
    world_add_local_queue(&w, "team", "lq", "cq");
    sl_engine_synced(w.engine, w.now_ms);
    cluster_put_node(&w, "n1", "b1", "r1", "4", "");
    add_workload("a", 3, "1", "{\"preferred\":\"rack\"}");
    world_settle(&w);
    assert_placed("a", "{\"levels\":[\"block\",\"rack\"],\"slices\":[{\"domainCount\":1,"
                       "\"valuesPerLevel\":[{\"universal\":\"b1\"},{\"universal\":\"r1\"}],"
                       "\"podCounts\":{\"universal\":3}}]}");
}

static void test_topology_out_no_place_says_how_much_fits(void **state)
{
    (void)state;
    two_racks();
    add_workload("a", 5, "1", "{\"required\":\"rack\"}");
    world_settle(&w);
    const struct sl_json *c = sl_condition_find(world_workload(&w, "a"), "QuotaReserved");
    const char *text = sl_json_path_text(c, "message", "");
    world_expect(&w, "a", "QuotaReserved", "False", "TopologyPlacementFailed");
    if (strstr(text, "topology \"topo\" allows to fit only 4 out of 5 pod(s)") == NULL) {
        fail_msg("got: %s", text);
    }
}

static void test_topology_out_unknown_level_is_named(void **state)
{
    (void)state;
    two_racks();
    add_workload("a", 1, "1", "{\"required\":\"row\"}");
    world_settle(&w);
    const struct sl_json *c = sl_condition_find(world_workload(&w, "a"), "QuotaReserved");
    const char *text = sl_json_path_text(c, "message", "");
    if (strstr(text, "does not contain the requested level") == NULL) {
        fail_msg("got: %s", text);
    }
}

static void test_topology_out_rooms_are_given_back_with_the_quota(void **state)
{
    (void)state;
    two_racks();
    add_workload("a", 4, "1", "{\"required\":\"rack\"}");
    world_settle(&w);
    sl_site_id n1 = cluster_find_host(w.engine, "n1");
    assert_int_equal(sl_site_used_of(n1, SL_MEASURE_PODS), 2);
    world_patch(&w, SL_KIND_WORKLOAD, "team", "a",
                "{\"status\":{\"conditions\":[{\"type\":\"Finished\",\"status\":\"True\","
                "\"reason\":\"Succeeded\"}]}}");
    world_settle(&w);
    assert_int_equal(sl_site_used_of(n1, SL_MEASURE_PODS), 0);
}

/* --- two phases ------------------------------------------------------------------------------- */

static void with_check(void)
{
    world_add(&w, SL_KIND_ADMISSION_CHECK,
              "{\"metadata\":{\"name\":\"prov\"},\"spec\":{\"controllerName\":"
              "\"kueue.x-k8s.io/provisioning-request\"},\"status\":{\"conditions\":[{\"type\":"
              "\"Active\",\"status\":\"True\"}]}}");
    cluster_add_topology(&w, "topo");
    world_add_flavor(&w, "tas", FLAVOR);
    world_add_cluster_queue(&w, "cq", "tas", "20",
                            ",\"admissionChecksStrategy\":{\"admissionChecks\":[{\"name\":\"prov\"}"
                            "]}");
    world_add_local_queue(&w, "team", "lq", "cq");
    sl_engine_synced(w.engine, w.now_ms);
}

static void set_check(const char *name, const char *check_state)
{
    char text[256];
    (void)snprintf(text, sizeof text,
                   "{\"status\":{\"admissionChecks\":[{\"name\":\"prov\",\"state\":\"%s\","
                   "\"message\":\"\",\"lastTransitionTime\":\"2027-01-15T08:00:00Z\"}]}}",
                   check_state);
    world_patch(&w, SL_KIND_WORKLOAD, "team", name, text);
    world_settle(&w);
}

static void reserve_in_first_phase(void)
{
    with_check();
    add_workload("a", 2, "1", "{\"required\":\"rack\"}");
    world_settle(&w);
    world_expect(&w, "a", "QuotaReserved", "True", "QuotaReserved");
    assert_string_equal(sl_json_text(placed("a", "delayedTopologyRequest"), ""), "Pending");
    assert_null(placed("a", "topologyAssignment"));
    world_expect(&w, "a", "Admitted", "False", "UnsatisfiedAdmissionChecks");
}

static void test_topology_out_first_phase_reserves_without_a_place(void **state)
{
    (void)state;
    reserve_in_first_phase();
    assert_int_equal(world_count_cq(&w, "reservingWorkloads"), 1);
    assert_int_equal(sl_engine_due_ms(w.engine), INT64_MAX);
}

static void test_topology_out_second_phase_places_and_admits_in_one_write(void **state)
{
    (void)state;
    reserve_in_first_phase();
    cluster_put_node(&w, "n1", "b1", "r1", "2", "");
    set_check("a", "Ready");
    world_expect(&w, "a", "Admitted", "False", "PendingDelayedTopologyRequests");
    assert_int_equal(sl_engine_due_ms(w.engine), w.now_ms + 1000);
    unsigned writes = w.writes;
    world_pass(&w, 1000);
    assert_int_equal(w.writes, writes + 1);
    assert_int_equal(w.last_kind, SL_DECIDE_ADMIT);
    world_expect(&w, "a", "Admitted", "True", "Admitted");
    assert_string_equal(sl_json_text(placed("a", "delayedTopologyRequest"), ""), "Ready");
    assert_placed("a", "{\"levels\":[\"kubernetes.io/hostname\"],\"slices\":[{\"domainCount\":1,"
                       "\"valuesPerLevel\":[{\"universal\":\"n1\"}],\"podCounts\":{\"universal\":"
                       "2}}]}");
    assert_int_equal(world_count_cq(&w, "admittedWorkloads"), 1);
}

/* Who has written the admission may have left the count out: then it is that of the pod set. */
static void test_topology_out_second_phase_places_the_pod_set_where_no_count_is_said(void **state)
{
    (void)state;
    reserve_in_first_phase();
    struct sl_json *a = world_get(&w, SL_KIND_WORKLOAD, "team", "a");
    sl_json_remove(sl_json_at(sl_json_path(a, "status.admission.podSetAssignments"), 0), "count");
    restart();
    cluster_put_node(&w, "n1", "b1", "r1", "2", "");
    set_check("a", "Ready");
    world_pass(&w, 1000);
    world_expect(&w, "a", "Admitted", "True", "Admitted");
    assert_placed("a", "{\"levels\":[\"kubernetes.io/hostname\"],\"slices\":[{\"domainCount\":1,"
                       "\"valuesPerLevel\":[{\"universal\":\"n1\"}],\"podCounts\":{\"universal\":"
                       "2}}]}");
}

static void test_topology_out_second_phase_without_a_place_tells_and_writes_nothing(void **state)
{
    (void)state;
    reserve_in_first_phase();
    set_check("a", "Ready");
    unsigned writes = w.writes;
    const int64_t waits_ms[] = {1000, 2000, 4000, 8000, 16000, 30000, 30000};
    for (size_t i = 0; i < sizeof waits_ms / sizeof waits_ms[0]; i++) {
        assert_int_equal(sl_engine_due_ms(w.engine), w.now_ms + waits_ms[i]);
        w.last_kind = SL_DECIDE_DELETE;
        world_pass(&w, waits_ms[i]);
        assert_int_equal(w.last_kind, SL_DECIDE_UNPLACED);
        assert_string_equal(w.last_reason, "SecondPassFailed");
    }
    assert_int_equal(w.writes, writes);
    assert_non_null(strstr(w.last_message, "no topology domains at level: "));
    cluster_put_node(&w, "n1", "b1", "r1", "2", "");
    world_pass(&w, 30000);
    world_expect(&w, "a", "Admitted", "True", "Admitted");
}

static void test_topology_out_last_check_dropped_while_delayed_still_places(void **state)
{
    (void)state;
    reserve_in_first_phase();
    cluster_put_node(&w, "n1", "b1", "r1", "2", "");
    world_patch(&w, SL_KIND_CLUSTER_QUEUE, "", "cq",
                "{\"spec\":{\"admissionChecksStrategy\":null}}");
    world_settle(&w);
    assert_int_equal(sl_engine_due_ms(w.engine), w.now_ms + 1000);
    world_pass(&w, 1000);
    world_expect(&w, "a", "Admitted", "True", "Admitted");
    assert_non_null(placed("a", "topologyAssignment"));
}

static void test_topology_out_check_that_retries_ends_the_second_phase(void **state)
{
    (void)state;
    reserve_in_first_phase();
    set_check("a", "Ready");
    set_check("a", "Retry");
    world_expect(&w, "a", "Evicted", "True", "AdmissionCheck");
    assert_int_equal(sl_second_pass_count(), 0);
    sl_engine_job_stopped(w.engine, world_workload(&w, "a"), w.now_ms);
    assert_int_equal(world_count_cq(&w, "reservingWorkloads"), 0);
    assert_int_equal(sl_second_pass_count(), 0);
}

/* --- after a restart -------------------------------------------------------------------------- */

static void test_topology_out_restart_counts_rooms_and_writes_nothing(void **state)
{
    (void)state;
    two_racks();
    add_workload("a", 4, "1", "{\"required\":\"rack\"}");
    add_workload("b", 3, "1", "{\"preferred\":\"rack\"}");
    world_settle(&w);
    unsigned writes = w.writes;
    restart();
    assert_int_equal(w.writes, writes);
    sl_site_id n1 = cluster_find_host(w.engine, "n1");
    assert_int_equal(sl_site_used_of(n1, SL_MEASURE_PODS), 2);
    assert_int_equal(sl_site_used_of(n1, 1), 2000);
    add_workload("c", 2, "1", "{\"required\":\"rack\"}"); /* one place is left */
    world_settle(&w);
    world_expect(&w, "c", "QuotaReserved", "False", "WaitingForQuota");
    assert_non_null(
        strstr(w.last_message, "topology \"topo\" allows to fit only 1 out of 2 pod(s)"));
    world_patch(&w, SL_KIND_WORKLOAD, "team", "a",
                "{\"status\":{\"conditions\":[{\"type\":\"Finished\",\"status\":\"True\","
                "\"reason\":\"Succeeded\"}]}}");
    world_settle(&w);
    world_expect(&w, "c", "Admitted", "True", "Admitted");
}

static void test_topology_out_restart_between_the_phases_arms_the_second(void **state)
{
    (void)state;
    reserve_in_first_phase();
    cluster_put_node(&w, "n1", "b1", "r1", "2", "");
    set_check("a", "Ready");
    restart();
    assert_int_equal(sl_second_pass_count(), 1);
    assert_int_equal(world_count_cq(&w, "reservingWorkloads"), 1);
    world_pass(&w, 1000);
    world_expect(&w, "a", "Admitted", "True", "Admitted");
    assert_non_null(placed("a", "topologyAssignment"));
}

static void test_topology_out_restart_without_the_flavor_places_when_it_comes(void **state)
{
    (void)state;
    reserve_in_first_phase();
    cluster_put_node(&w, "n1", "b1", "r1", "2", "");
    set_check("a", "Ready");
    world_delete(&w, SL_KIND_RESOURCE_FLAVOR, "", "tas");
    restart();
    world_pass(&w, 1000);
    world_expect(&w, "a", "Admitted", "False", "PendingDelayedTopologyRequests");
    world_add_flavor(&w, "tas", FLAVOR);
    world_settle(&w);
    world_pass(&w, 30000);
    world_expect(&w, "a", "Admitted", "True", "Admitted");
    assert_non_null(placed("a", "topologyAssignment"));
}

static void
test_topology_out_restart_with_a_malformed_assignment_keeps_the_reservation(void **state)
{
    (void)state;
    two_racks();
    add_workload("a", 4, "1", "{\"required\":\"rack\"}");
    world_settle(&w);
    sl_json_set(sl_json_path(world_workload(&w, "a"), "status.admission.podSetAssignments.0"),
                "topologyAssignment", world_parse("{\"levels\":[\"kubernetes.io/hostname\"]}"));
    restart();
    assert_int_equal(world_count_cq(&w, "admittedWorkloads"), 1);
    assert_int_equal(sl_site_used_of(cluster_find_host(w.engine, "n1"), SL_MEASURE_PODS), 0);
}

static void test_topology_out_restart_without_the_topology_keeps_the_words(void **state)
{
    (void)state;
    two_racks();
    add_workload("a", 4, "1", "{\"required\":\"rack\"}");
    world_settle(&w);
    world_delete(&w, SL_KIND_TOPOLOGY, "", "topo");
    restart();
    assert_int_equal(world_count_cq(&w, "admittedWorkloads"), 1);
    assert_non_null(placed("a", "topologyAssignment"));
    world_check(&w);
}

/* --- read before the topology was there ------------------------------------------------------- */

static int64_t pods_on(const char *host)
{
    sl_site_id site = cluster_find_host(w.engine, host);
    return site == SL_NO_ID ? 0 : sl_site_used_of(site, SL_MEASURE_PODS);
}

static void restart_without_the_topology(void)
{
    two_racks();
    add_workload("a", 4, "1", "{\"required\":\"rack\"}");
    world_settle(&w);
    world_delete(&w, SL_KIND_TOPOLOGY, "", "topo");
    restart();
}

static void test_restand_topology_that_comes_back_finds_its_workloads_in_place(void **state)
{
    (void)state;
    restart_without_the_topology();
    unsigned writes = w.writes;
    assert_int_equal(pods_on("n1"), 0);
    cluster_add_topology(&w, "topo");
    assert_int_equal(pods_on("n1"), 2);
    assert_int_equal(pods_on("n2"), 2);
    add_workload("b", 4, "1", "{\"required\":\"rack\"}");
    world_settle(&w);
    assert_int_equal(pods_on("n1"), 2);
    assert_int_equal(pods_on("n3"), 2); /* and not where the first one stands */
    assert_int_equal(w.writes, writes + 1);
    assert_int_equal(world_count_cq(&w, "admittedWorkloads"), 2);
}

static void test_restand_failed_node_is_replaced_once_the_topology_is_back(void **state)
{
    (void)state;
    cluster_add_basics(&w, FLAVOR, "20");
    cluster_put_node(&w, "n1", "b1", "r1", "2", "");
    cluster_put_node(&w, "n2", "b1", "r1", "2", "");
    cluster_put_node(&w, "n3", "b1", "r1", "2", "");
    add_workload("a", 4, "1", "{\"required\":\"rack\"}");
    world_settle(&w);
    world_delete(&w, SL_KIND_TOPOLOGY, "", "topo");
    restart();
    world_delete(&w, SL_KIND_NODE, "", "n1");
    world_settle(&w);
    cluster_add_topology(&w, "topo");
    world_pass(&w, 1000);
    world_pass(&w, 1000); /* marked, then the second pass */
    assert_int_equal(pods_on("n3"), 2);
    assert_null(sl_json_path(world_workload(&w, "a"), "status.unhealthyNodes"));
    world_expect(&w, "a", "Admitted", "True", "Admitted");
}

static void test_restand_other_levels_evict_with_the_reason(void **state)
{
    (void)state;
    cluster_add_basics(&w, FLAVOR, "20");
    world_delete(&w, SL_KIND_TOPOLOGY, "", "topo");
    world_add(&w, SL_KIND_TOPOLOGY,
              "{\"metadata\":{\"name\":\"topo\"},\"spec\":{\"levels\":[{\"nodeLabel\":\"block\"},"
              "{\"nodeLabel\":\"rack\"}]}}");
    cluster_put_node(&w, "n1", "b1", "r1", "4", "");
    add_workload("a", 4, "1", "{\"required\":\"rack\"}");
    world_settle(&w);
    world_expect(&w, "a", "Admitted", "True", "Admitted");
    world_delete(&w, SL_KIND_TOPOLOGY, "", "topo");
    restart();
    cluster_add_topology(&w, "topo");
    world_settle(&w);
    world_expect(&w, "a", "Evicted", "True", "NodeFailures");
    assert_string_equal(
        sl_json_path_text(sl_condition_find(world_workload(&w, "a"), "Evicted"), "message", ""),
        "the topology no longer has the domains of its pods");
}

static const char racks_only[] = "{\"metadata\":{\"name\":\"topo\"},\"spec\":{\"levels\":[{"
                                 "\"nodeLabel\":\"block\"},{\"nodeLabel\":"
                                 "\"rack\"}]}}";

/* What the controllers do. */
static void feed_if_wanted(bool expected)
{
    assert_int_equal(sl_engine_wants_workloads(w.engine), expected);
    assert_int_equal(world_observe(&w, SL_KIND_WORKLOAD, world_workload(&w, "a"), NULL),
                     SL_CODE_OK);
}

static void test_restand_layout_that_comes_back_while_running_gives_no_rack_out_twice(void **state)
{
    (void)state;
    cluster_add_basics(&w, FLAVOR, "20");
    world_delete(&w, SL_KIND_TOPOLOGY, "", "topo");
    world_add(&w, SL_KIND_TOPOLOGY, racks_only);
    cluster_put_node(&w, "n1", "b1", "r1", "4", "");
    add_workload("a", 4, "1", "{\"required\":\"rack\"}");
    world_settle(&w);
    world_expect(&w, "a", "Admitted", "True", "Admitted");
    unsigned writes = w.writes;
    world_delete(&w, SL_KIND_TOPOLOGY, "", "topo");
    assert_false(sl_engine_wants_workloads(w.engine));
    world_add(&w, SL_KIND_TOPOLOGY, racks_only);
    feed_if_wanted(true);
    add_workload("b", 1, "1", "{\"required\":\"rack\"}");
    world_settle(&w);
    assert_false(sl_condition_true(world_workload(&w, "b"), "QuotaReserved"));
    world_expect(&w, "a", "Admitted", "True", "Admitted");
    assert_int_equal(w.writes, writes + 1); /* that b waits */
    assert_false(sl_engine_wants_workloads(w.engine));
}

static void test_restand_other_levels_while_running_evict_with_the_reason(void **state)
{
    (void)state;
    two_racks();
    add_workload("a", 4, "1", "{\"required\":\"rack\"}");
    world_settle(&w);
    world_add(&w, SL_KIND_TOPOLOGY, racks_only);
    feed_if_wanted(true);
    world_settle(&w);
    world_expect(&w, "a", "Evicted", "True", "NodeFailures");
    assert_string_equal(
        sl_json_path_text(sl_condition_find(world_workload(&w, "a"), "Evicted"), "message", ""),
        "the topology no longer has the domains of its pods");
}

static void test_restand_nodes_stay_the_same_places_in_another_layout(void **state)
{
    (void)state;
    two_racks();
    add_workload("a", 4, "1", "{\"required\":\"rack\"}");
    world_settle(&w);
    world_delete(&w, SL_KIND_TOPOLOGY, "", "topo");
    cluster_add_topology(&w, "topo");
    feed_if_wanted(false);
    world_settle(&w);
    world_expect(&w, "a", "Admitted", "True", "Admitted");
    assert_int_equal(pods_on("n1"), 2);
}

static void test_restand_place_given_to_others_evicts_with_the_reason(void **state)
{
    (void)state;
    two_racks();
    cluster_add_topology(&w, "other");
    world_add_flavor(&w, "also", "{\"topologyName\":\"other\"}");
    world_add_cluster_queue(&w, "cq2", "also", "20", "");
    world_add_local_queue(&w, "team", "lq2", "cq2");
    add_workload("a", 8, "1", "{\"required\":\"block\"}");
    world_settle(&w);
    world_delete(&w, SL_KIND_TOPOLOGY, "", "topo");
    restart();
    struct sl_json *o = world_new_workload("team", "thief", "lq2", 4, "1");
    sl_json_set(sl_json_path(o, "spec.podSets.0"), "topologyRequest",
                world_parse("{\"required\":\"rack\"}"));
    assert_int_equal(world_put(&w, SL_KIND_WORKLOAD, o, NULL), SL_CODE_OK);
    world_settle(&w);
    world_expect(&w, "thief", "Admitted", "True", "Admitted");
    cluster_add_topology(&w, "topo");
    world_settle(&w);
    world_expect(&w, "a", "Evicted", "True", "NodeFailures");
    assert_non_null(strstr(
        sl_json_path_text(sl_condition_find(world_workload(&w, "a"), "Evicted"), "message", ""),
        "given to others"));
    world_expect(&w, "thief", "Admitted", "True", "Admitted");
}

static void test_restand_eviction_that_is_not_written_yet_is_not_forgotten(void **state)
{
    (void)state;
    restart_without_the_topology();
    (void)world_patch(&w, SL_KIND_CLUSTER_QUEUE, "", "cq",
                      "{\"spec\":{\"stopPolicy\":\"HoldAndDrain\"}}");
    (void)sl_engine_cycle(w.engine, w.now_ms);
    cluster_add_topology(&w, "topo"); /* while the eviction is decided, and not written */
    assert_int_equal(pods_on("n1"), 2);
    world_settle(&w);
    world_expect(&w, "a", "Evicted", "True", "ClusterQueueStopped");
    sl_engine_job_stopped(w.engine, world_workload(&w, "a"), w.now_ms);
    world_settle(&w);
    assert_int_equal(pods_on("n1"), 0);
}

int main(void)
{
#define TEST(f) cmocka_unit_test_setup_teardown(f, setup, teardown)
    const struct CMUnitTest tests[] = {
        TEST(test_topology_out_reservation_says_which_nodes),
        TEST(test_topology_out_tree_above_nodes_says_all_its_levels),
        TEST(test_topology_out_no_place_says_how_much_fits),
        TEST(test_topology_out_unknown_level_is_named),
        TEST(test_topology_out_rooms_are_given_back_with_the_quota),
        TEST(test_topology_out_first_phase_reserves_without_a_place),
        TEST(test_topology_out_second_phase_places_and_admits_in_one_write),
        TEST(test_topology_out_second_phase_places_the_pod_set_where_no_count_is_said),
        TEST(test_topology_out_second_phase_without_a_place_tells_and_writes_nothing),
        TEST(test_topology_out_last_check_dropped_while_delayed_still_places),
        TEST(test_topology_out_check_that_retries_ends_the_second_phase),
        TEST(test_topology_out_restart_counts_rooms_and_writes_nothing),
        TEST(test_topology_out_restart_between_the_phases_arms_the_second),
        TEST(test_topology_out_restart_without_the_flavor_places_when_it_comes),
        TEST(test_topology_out_restart_with_a_malformed_assignment_keeps_the_reservation),
        TEST(test_topology_out_restart_without_the_topology_keeps_the_words),
        TEST(test_restand_topology_that_comes_back_finds_its_workloads_in_place),
        TEST(test_restand_failed_node_is_replaced_once_the_topology_is_back),
        TEST(test_restand_other_levels_evict_with_the_reason),
        TEST(test_restand_place_given_to_others_evicts_with_the_reason),
        TEST(test_restand_layout_that_comes_back_while_running_gives_no_rack_out_twice),
        TEST(test_restand_other_levels_while_running_evict_with_the_reason),
        TEST(test_restand_nodes_stay_the_same_places_in_another_layout),
        TEST(test_restand_eviction_that_is_not_written_yet_is_not_forgotten),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
