/* SPDX-License-Identifier: Apache-2.0
 * SPDX-FileCopyrightText: The Sluice authors */

/* The way of a workload through the engine: JSON objects in, patches out. */
#include "scene.h"
#include "engine/state.h"

/* --- admission -------------------------------------------------------------------------------- */

static void test_engine_workload_that_fits_is_admitted(void **state)
{
    (void)state;
    world_add_basics(&w);
    world_add_workload(&w, "a", "lq", 2, "1500m");
    world_settle(&w);
    world_expect(&w, "a", "QuotaReserved", "True", "QuotaReserved");
    world_expect(&w, "a", "Admitted", "True", "Admitted");
    const struct sl_json *o = world_workload(&w, "a");
    assert_string_equal(sl_json_path_text(o, "status.admission.clusterQueue", ""), "cq");
    assert_string_equal(sl_json_path_text(o, "status.admission.podSetAssignments.0.name", ""),
                        "main");
    assert_string_equal(
        sl_json_path_text(o, "status.admission.podSetAssignments.0.flavors.cpu", ""), "spot");
    assert_string_equal(
        sl_json_path_text(o, "status.admission.podSetAssignments.0.resourceUsage.cpu", ""), "3");
    assert_int_equal(sl_json_path_int(o, "status.admission.podSetAssignments.0.count", 0), 2);
    assert_int_equal(sl_json_path_int(sl_condition_find(o, "Admitted"), "observedGeneration", 0),
                     1);
    assert_int_equal(w.writes, 1);
    assert_int_equal(world_count_cq(&w, "admittedWorkloads"), 1);
    assert_int_equal(world_count_cq(&w, "reservingWorkloads"), 1);
    assert_int_equal(world_count_cq(&w, "pendingWorkloads"), 0);
}

static void test_engine_usage_shows_in_the_statuses(void **state)
{
    (void)state;
    world_add_basics(&w);
    world_add_workload(&w, "a", "lq", 2, "1500m");
    world_settle(&w);
    struct sl_json *cq = sl_engine_queue_status(w.engine, SL_KIND_CLUSTER_QUEUE, "", "cq");
    struct sl_json *lq = sl_engine_queue_status(w.engine, SL_KIND_LOCAL_QUEUE, "team", "lq");
    assert_string_equal(sl_json_path_text(cq, "flavorsUsage.0.resources.0.total", ""), "3");
    assert_string_equal(sl_json_path_text(cq, "flavorsUsage.0.resources.0.borrowed", ""), "0");
    assert_string_equal(sl_json_path_text(lq, "flavorsReservation.0.resources.0.total", ""), "3");
    assert_null(sl_json_path(lq, "flavorsReservation.0.resources.0.borrowed"));
    assert_string_equal(sl_json_path_text(cq, "active.status", ""), "True");
    assert_string_equal(sl_json_path_text(cq, "active.reason", ""), "Ready");
    sl_json_free(cq);
    sl_json_free(lq);
}

static void test_engine_workload_too_large_now_waits_and_says_why(void **state)
{
    (void)state;
    world_add_basics(&w);
    world_add_workload(&w, "a", "lq", 1, "8");
    world_settle(&w);
    world_add_workload(&w, "b", "lq", 1, "4");
    world_settle(&w);
    world_expect(&w, "b", "QuotaReserved", "False", "WaitingForQuota");
    const struct sl_json *o = world_workload(&w, "b");
    assert_string_equal(
        sl_json_path_text(sl_condition_find(o, "QuotaReserved"), "message", ""),
        "couldn't assign flavors to pod set main: insufficient unused quota for cpu in flavor "
        "spot, 2 more needed");
    assert_string_equal(sl_json_path_text(o, "status.resourceRequests.0.name", ""), "main");
    assert_string_equal(sl_json_path_text(o, "status.resourceRequests.0.resources.cpu", ""), "4");
    assert_int_equal(world_count_cq(&w, "pendingWorkloads"), 1);
}

static void test_engine_workload_larger_than_all_quota_exceeds_it(void **state)
{
    (void)state;
    world_add_basics(&w);
    world_add_workload(&w, "a", "lq", 11, "1");
    world_settle(&w);
    world_expect(&w, "a", "QuotaReserved", "False", "ExceedsMaxQuota");
}

static void test_engine_finished_workload_lets_the_next_one_in(void **state)
{
    (void)state;
    world_add_basics(&w);
    world_add_workload(&w, "a", "lq", 1, "8");
    world_settle(&w);
    world_add_workload(&w, "b", "lq", 1, "4");
    world_settle(&w);
    (void)world_patch(
        &w, SL_KIND_WORKLOAD, "team", "a",
        "{\"status\":{\"conditions\":[{\"type\":\"Finished\",\"status\":\"True\",\"reason\":"
        "\"Succeeded\"}]}}");
    world_settle(&w);
    world_expect(&w, "b", "Admitted", "True", "Admitted");
    assert_null(sl_json_path(world_workload(&w, "b"), "status.resourceRequests"));
    assert_int_equal(world_count_cq(&w, "reservingWorkloads"), 1);
}

static void test_engine_deleted_workload_gives_its_quota_back(void **state)
{
    (void)state;
    world_add_basics(&w);
    world_add_workload(&w, "a", "lq", 1, "8");
    world_settle(&w);
    world_add_workload(&w, "b", "lq", 1, "4");
    world_settle(&w);
    world_delete(&w, SL_KIND_WORKLOAD, "team", "a");
    world_settle(&w);
    world_expect(&w, "b", "Admitted", "True", "Admitted");
}

static void test_engine_same_name_with_other_uid_is_another_workload(void **state)
{
    (void)state;
    world_add_basics(&w);
    world_add_workload(&w, "a", "lq", 1, "8");
    world_settle(&w);
    struct sl_json *again = world_new_workload("team", "a", "lq", 1, "9");
    (void)world_put(&w, SL_KIND_WORKLOAD, again, NULL);
    world_settle(&w);
    assert_string_equal(sl_json_path_text(again = world_workload(&w, "a"),
                                          "status.admission.podSetAssignments.0.resourceUsage.cpu",
                                          ""),
                        "9");
    assert_int_equal(world_count_cq(&w, "reservingWorkloads"), 1);
}

static void test_engine_higher_priority_goes_first_then_age(void **state)
{
    (void)state;
    world_add_basics(&w);
    world_add_workload(&w, "old", "lq", 1, "10");
    w.now_ms += 1000;
    world_add_workload(&w, "young", "lq", 1, "10");
    w.now_ms += 1000;
    struct sl_json *o = world_new_workload("team", "urgent", "lq", 1, "10");
    sl_json_set_int(sl_json_get(o, "spec"), "priority", 100);
    (void)world_put(&w, SL_KIND_WORKLOAD, o, NULL);
    world_settle(&w);
    world_expect(&w, "urgent", "Admitted", "True", "Admitted");
    struct sl_json *list = world_pending(&w, "cq", NULL);
    assert_int_equal(sl_json_len(list), 2);
    assert_string_equal(sl_json_path_text(list, "0.name", ""), "old");
    assert_string_equal(sl_json_path_text(list, "1.name", ""), "young");
    assert_int_equal(sl_json_path_int(list, "1.positionInClusterQueue", -1), 1);
    assert_int_equal(sl_json_path_int(list, "1.positionInLocalQueue", -1), 1);
    assert_string_equal(sl_json_path_text(list, "1.reason", ""), "WaitingForQuota");
    sl_json_free(list);
    (void)world_patch(&w, SL_KIND_WORKLOAD, "team", "young", "{\"spec\":{\"priority\":7}}");
    world_delete(&w, SL_KIND_WORKLOAD, "team", "urgent");
    world_settle(&w);
    world_expect(&w, "young", "Admitted", "True", "Admitted");
}

/* The list is made at once and told by and by: who has left it is not told, nor who came in its place. */
static void test_engine_pending_leaves_out_who_waits_no_more(void **state)
{
    (void)state;
    world_add_basics(&w);
    world_add_workload(&w, "runs", "lq", 1, "10");
    world_settle(&w);
    static const char *const names[] = {"a", "b", "c", "d"};
    for (size_t i = 0; i < 4; i++) {
        w.now_ms += 1000;
        world_add_workload(&w, names[i], "lq", 1, "10");
    }
    world_settle(&w);
    struct sl_pending *p = sl_engine_pending_new(w.engine, "cq", NULL);
    struct sl_json *item = sl_engine_pending_next(w.engine, p);
    assert_string_equal(sl_json_path_text(item, "name", ""), "a");
    sl_json_free(item);
    world_delete(&w, SL_KIND_WORKLOAD, "team", "c");
    world_add_workload(&w, "e", "lq", 1, "10"); /* may have the number of c */
    world_delete(&w, SL_KIND_WORKLOAD, "team", "a");
    world_delete(&w, SL_KIND_WORKLOAD, "team", "runs");
    world_settle(&w);
    world_expect(&w, "b", "Admitted", "True", "Admitted");
    item = sl_engine_pending_next(w.engine, p);
    assert_string_equal(sl_json_path_text(item, "name", ""), "d");
    assert_int_equal(sl_json_path_int(item, "positionInClusterQueue", -1), 3);
    sl_json_free(item);
    assert_null(sl_engine_pending_next(w.engine, p));
    sl_engine_pending_free(p);
    sl_engine_pending_free(NULL);
}

static void expect_pending(const struct sl_pending_range *range, const char *names)
{
    struct sl_json *list = world_pending(&w, "cq", range);
    struct sl_buf text = {0};
    sl_buf_text(&text, "");
    for (size_t i = 0; i < sl_json_len(list); i++) {
        const struct sl_json *item = sl_json_at(list, i);
        sl_buf_print(&text, "%s:%lld:%lld ", sl_json_path_text(item, "name", ""),
                     (long long)sl_json_path_int(item, "positionInClusterQueue", -1),
                     (long long)sl_json_path_int(item, "positionInLocalQueue", -1));
    }
    assert_string_equal(text.data, names);
    sl_buf_fini(&text);
    sl_json_free(list);
}

static void test_engine_pending_in_a_range_keeps_its_positions(void **state)
{
    (void)state;
    static const char *const names[] = {"a", "b", "c", "d", "e"};
    world_add_basics(&w);
    world_add_local_queue(&w, "team", "other", "cq");
    world_add_workload(&w, "first", "lq", 1, "10");
    world_settle(&w);
    for (size_t i = 0; i < sizeof names / sizeof names[0]; i++) {
        w.now_ms += 1000;
        world_add_workload(&w, names[i], i % 2 == 0 ? "lq" : "other", 1, "10");
    }
    world_settle(&w);
    expect_pending(NULL, "a:0:0 b:1:0 c:2:1 d:3:1 e:4:2 ");
    expect_pending(&(struct sl_pending_range){NULL, NULL, 1, 2}, "b:1:0 c:2:1 ");
    expect_pending(&(struct sl_pending_range){NULL, NULL, 4, 9}, "e:4:2 ");
    expect_pending(&(struct sl_pending_range){NULL, NULL, 9, 9}, "");
    expect_pending(&(struct sl_pending_range){NULL, NULL, 0, 0}, "");
    expect_pending(&(struct sl_pending_range){"team", "other", 0, 9}, "b:1:0 d:3:1 ");
    expect_pending(&(struct sl_pending_range){"team", "lq", 1, 1}, "c:2:1 ");
    expect_pending(&(struct sl_pending_range){"team", "none", 0, 9}, "");
}

static void test_engine_workload_that_is_not_to_be_queued_is_not_pending(void **state)
{
    (void)state;
    world_add_basics(&w);
    world_add_workload(&w, "first", "lq", 1, "10");
    world_settle(&w);
    world_add_workload(&w, "a", "lq", 1, "10");
    world_add_workload(&w, "b", "lq", 1, "10");
    world_settle(&w);
    expect_pending(NULL, "a:0:0 b:1:1 ");
    (void)world_patch(&w, SL_KIND_WORKLOAD, "team", "a", "{\"spec\":{\"active\":false}}");
    world_settle(&w);
    expect_pending(NULL, "b:0:0 ");
}

static void test_engine_nothing_is_decided_before_everything_was_seen(void **state)
{
    (void)state;
    world_add_flavor(&w, "spot", "{}");
    world_add_cluster_queue(&w, "cq", "spot", "10", "");
    world_add_local_queue(&w, "team", "lq", "cq");
    world_add_workload(&w, "a", "lq", 1, "1");
    world_settle(&w);
    assert_int_equal(w.writes, 0);
    assert_int_equal(sl_engine_due_ms(w.engine), INT64_MAX);
    sl_engine_synced(w.engine, w.now_ms);
    world_settle(&w);
    world_expect(&w, "a", "Admitted", "True", "Admitted");
}

static void test_engine_second_pending_reason_alike_is_not_written(void **state)
{
    (void)state;
    world_add_basics(&w);
    world_add_workload(&w, "a", "lq", 1, "8");
    world_add_workload(&w, "b", "lq", 1, "4");
    world_settle(&w);
    unsigned before = w.writes;
    (void)world_patch(&w, SL_KIND_CLUSTER_QUEUE, "", "cq",
                      "{\"spec\":{\"queueingStrategy\":\"StrictFIFO\"}}");
    world_pass(&w, 1000);
    assert_int_equal(w.writes, before); /* tried again, refused again: nothing new to say */
}

/* --- flavors ---------------------------------------------------------------------------------- */

static void test_engine_tainted_flavor_is_passed_over(void **state)
{
    (void)state;
    world_add_flavor(
        &w, "tainted",
        "{\"nodeTaints\":[{\"key\":\"gpu\",\"value\":\"yes\",\"effect\":\"NoSchedule\"}]}");
    world_add_flavor(&w, "plain", "{}");
    world_add(
        &w, SL_KIND_CLUSTER_QUEUE,
        "{\"metadata\":{\"name\":\"cq\"},\"spec\":{\"namespaceSelector\":{},\"resourceGroups\":[{"
        "\"coveredResources\":[\"cpu\"],\"flavors\":[{\"name\":\"tainted\",\"resources\":[{"
        "\"name\":\"cpu\","
        "\"nominalQuota\":5}]},{\"name\":\"plain\",\"resources\":[{\"name\":\"cpu\","
        "\"nominalQuota\":5}]}]}]}}");
    world_add_local_queue(&w, "team", "lq", "cq");
    sl_engine_synced(w.engine, w.now_ms);
    world_add_workload(&w, "a", "lq", 1, "1");
    struct sl_json *o = world_new_workload("team", "tolerant", "lq", 1, "1");
    struct sl_json *spec = sl_json_path(o, "spec.podSets.0.template.spec");
    sl_json_set(spec, "tolerations", world_parse("[{\"key\":\"gpu\",\"operator\":\"Exists\"}]"));
    (void)world_put(&w, SL_KIND_WORKLOAD, o, NULL);
    world_settle(&w);
    static const char path[] = "status.admission.podSetAssignments.0.flavors.cpu";
    assert_string_equal(sl_json_path_text(world_workload(&w, "a"), path, ""), "plain");
    assert_string_equal(sl_json_path_text(world_workload(&w, "tolerant"), path, ""), "tainted");
}

static void test_engine_flavor_that_loses_its_taint_is_tried_again(void **state)
{
    (void)state;
    world_add_basics(&w);
    (void)world_patch(&w, SL_KIND_RESOURCE_FLAVOR, "", "spot",
                      "{\"spec\":{\"nodeTaints\":[{\"key\":\"gpu\",\"effect\":\"NoSchedule\"}]}}");
    world_add_workload(&w, "a", "lq", 1, "1");
    world_settle(&w);
    world_expect(&w, "a", "QuotaReserved", "False", "NoMatchingFlavor");
    (void)world_patch(&w, SL_KIND_RESOURCE_FLAVOR, "", "spot", "{\"spec\":{\"nodeTaints\":null}}");
    world_settle(&w);
    world_expect(&w, "a", "Admitted", "True", "Admitted");
}

static void test_engine_missing_flavor_makes_the_queue_inactive(void **state)
{
    (void)state;
    world_add_cluster_queue(&w, "cq", "spot", "10", "");
    world_add_local_queue(&w, "team", "lq", "cq");
    sl_engine_synced(w.engine, w.now_ms);
    world_add_workload(&w, "a", "lq", 1, "1");
    world_settle(&w);
    world_expect(&w, "a", "QuotaReserved", "False", "Suspended");
    struct sl_json *cq = sl_engine_queue_status(w.engine, SL_KIND_CLUSTER_QUEUE, "", "cq");
    struct sl_json *lq = sl_engine_queue_status(w.engine, SL_KIND_LOCAL_QUEUE, "team", "lq");
    assert_string_equal(sl_json_path_text(cq, "active.reason", ""), "FlavorNotFound");
    assert_string_equal(sl_json_path_text(lq, "active.reason", ""), "ClusterQueueIsInactive");
    sl_json_free(cq);
    sl_json_free(lq);
    world_add_flavor(&w, "spot", "{}");
    world_settle(&w);
    world_expect(&w, "a", "Admitted", "True", "Admitted");
}

/* --- cohorts ---------------------------------------------------------------------------------- */

static void test_engine_queue_borrows_from_its_cohort(void **state)
{
    (void)state;
    world_add_flavor(&w, "spot", "{}");
    world_add_cluster_queue(&w, "cq", "spot", "2", ",\"cohortName\":\"all\"");
    world_add_cluster_queue(&w, "lender", "spot", "5", ",\"cohortName\":\"all\"");
    world_add_local_queue(&w, "team", "lq", "cq");
    sl_engine_synced(w.engine, w.now_ms);
    world_add_workload(&w, "a", "lq", 1, "6");
    world_settle(&w);
    world_expect(&w, "a", "Admitted", "True", "Admitted");
    struct sl_json *cq = sl_engine_queue_status(w.engine, SL_KIND_CLUSTER_QUEUE, "", "cq");
    assert_string_equal(sl_json_path_text(cq, "flavorsReservation.0.resources.0.borrowed", ""),
                        "4");
    sl_json_free(cq);
}

static void expect_active(enum sl_kind kind, const char *name, const char *reason)
{
    struct sl_json *status = sl_engine_queue_status(w.engine, kind, "", name);
    assert_string_equal(sl_json_path_text(status, "active.reason", ""), reason);
    sl_json_free(status);
}

static void test_engine_cyclic_cohorts_are_refused_and_heal(void **state)
{
    (void)state;
    struct sl_error e = {0};
    world_add_flavor(&w, "spot", "{}");
    world_add_cluster_queue(&w, "cq", "spot", "2", ",\"cohortName\":\"a\"");
    world_add_local_queue(&w, "team", "lq", "cq");
    world_add(&w, SL_KIND_COHORT,
              "{\"metadata\":{\"name\":\"a\"},\"spec\":{\"parentName\":\"b\"}}");
    sl_engine_synced(w.engine, w.now_ms);
    enum sl_code code = world_put(
        &w, SL_KIND_COHORT,
        world_parse("{\"metadata\":{\"name\":\"b\"},\"spec\":{\"parentName\":\"a\"}}"), &e);
    assert_int_equal(code, SL_CODE_INVALID);
    assert_string_equal(e.causes[0].field, "spec.parentName");
    world_add_workload(&w, "x", "lq", 1, "1");
    world_settle(&w);
    world_expect(&w, "x", "QuotaReserved", "False", "Suspended");
    expect_active(SL_KIND_CLUSTER_QUEUE, "cq", "CohortCycle");
    expect_active(SL_KIND_COHORT, "a", "CohortCycle");
    expect_active(SL_KIND_COHORT, "b", "CohortCycle");
    assert_int_equal(world_patch(&w, SL_KIND_COHORT, "", "a", "{\"spec\":{\"parentName\":null}}"),
                     SL_CODE_OK);
    world_settle(&w);
    expect_active(SL_KIND_COHORT, "a", "Ready");
    expect_active(SL_KIND_COHORT, "b", "Ready");
    world_expect(&w, "x", "Admitted", "True", "Admitted");
}

static void test_engine_cohort_object_adds_quota(void **state)
{
    (void)state;
    world_add_flavor(&w, "spot", "{}");
    world_add_cluster_queue(&w, "cq", "spot", "1", ",\"cohortName\":\"all\"");
    world_add_local_queue(&w, "team", "lq", "cq");
    sl_engine_synced(w.engine, w.now_ms);
    world_add_workload(&w, "a", "lq", 1, "4");
    world_settle(&w);
    world_expect(&w, "a", "QuotaReserved", "False", "ExceedsMaxQuota");
    world_add(&w, SL_KIND_COHORT,
              "{\"metadata\":{\"name\":\"all\"},\"spec\":{\"resourceGroups\":[{"
              "\"coveredResources\":[\"cpu\"],"
              "\"flavors\":[{\"name\":\"spot\",\"resources\":[{\"name\":\"cpu\",\"nominalQuota\":3}"
              "]}]}]}}");
    world_settle(&w);
    world_expect(&w, "a", "Admitted", "True", "Admitted");
    world_delete(&w, SL_KIND_COHORT, "",
                 "all"); /* over quota now: it runs on, nothing else comes in */
    world_add_workload(&w, "b", "lq", 1, "1");
    world_settle(&w);
    world_expect(&w, "a", "Admitted", "True", "Admitted");
    world_expect(&w, "b", "QuotaReserved", "False", "WaitingForQuota");
}

/* --- queues that stop, go and come ------------------------------------------------------------ */

static void test_engine_orphan_is_admitted_when_its_queue_appears(void **state)
{
    (void)state;
    world_add_flavor(&w, "spot", "{}");
    sl_engine_synced(w.engine, w.now_ms);
    world_add_workload(&w, "a", "lq", 1, "1");
    world_settle(&w);
    world_expect(&w, "a", "QuotaReserved", "False", "Misconfigured");
    world_add_local_queue(&w, "team", "lq", "cq");
    world_settle(&w);
    world_expect(&w, "a", "QuotaReserved", "False", "Misconfigured");
    assert_int_equal(sl_place_of(0), SL_PLACE_ORPHANED);
    world_add_cluster_queue(&w, "cq", "spot", "10", "");
    world_settle(&w);
    world_expect(&w, "a", "Admitted", "True", "Admitted");
}

static void test_engine_deleted_cluster_queue_orphans_what_waits_and_keeps_what_runs(void **state)
{
    (void)state;
    world_add_basics(&w);
    world_add_workload(&w, "runs", "lq", 1, "8");
    world_add_workload(&w, "waits", "lq", 1, "8");
    world_settle(&w);
    world_delete(&w, SL_KIND_CLUSTER_QUEUE, "", "cq");
    world_settle(&w);
    world_expect(&w, "runs", "Admitted", "True", "Admitted");
    world_expect(&w, "waits", "QuotaReserved", "False", "Misconfigured");
    world_add_cluster_queue(&w, "cq", "spot", "10", "");
    world_settle(&w);
    world_expect(&w, "waits", "QuotaReserved", "False",
                 "WaitingForQuota"); /* the usage is still known */
    world_delete(&w, SL_KIND_WORKLOAD, "team", "runs");
    world_settle(&w);
    world_expect(&w, "waits", "Admitted", "True", "Admitted");
}

static void test_engine_deleted_queues_leave_nothing_behind(void **state)
{
    (void)state;
    world_add_basics(&w);
    world_add_workload(&w, "a", "lq", 1, "8");
    world_settle(&w);
    world_delete(&w, SL_KIND_LOCAL_QUEUE, "team", "lq");
    world_delete(&w, SL_KIND_CLUSTER_QUEUE, "", "cq");
    world_settle(&w);
    world_delete(&w, SL_KIND_WORKLOAD, "team", "a");
    world_settle(&w);
    assert_null(sl_engine_queue_status(w.engine, SL_KIND_CLUSTER_QUEUE, "", "cq"));
    assert_int_equal(sl_ledger_qnode_of(0), SL_NO_ID);
    world_add_cluster_queue(&w, "cq", "spot", "10", "");
    world_add_local_queue(&w, "team", "lq", "cq");
    world_add_workload(&w, "b", "lq", 1, "10");
    world_settle(&w);
    world_expect(&w, "b", "Admitted", "True", "Admitted");
}

static void test_engine_held_queue_admits_nothing_and_keeps_what_runs(void **state)
{
    (void)state;
    world_add_basics(&w);
    world_add_workload(&w, "runs", "lq", 1, "1");
    world_settle(&w);
    (void)world_patch(&w, SL_KIND_CLUSTER_QUEUE, "", "cq", "{\"spec\":{\"stopPolicy\":\"Hold\"}}");
    world_add_workload(&w, "waits", "lq", 1, "1");
    world_settle(&w);
    world_expect(&w, "runs", "Admitted", "True", "Admitted");
    world_expect(&w, "waits", "QuotaReserved", "False", "Suspended");
    (void)world_patch(&w, SL_KIND_CLUSTER_QUEUE, "", "cq", "{\"spec\":{\"stopPolicy\":\"None\"}}");
    world_settle(&w);
    world_expect(&w, "waits", "Admitted", "True", "Admitted");
}

static void test_engine_drained_queue_evicts_and_takes_back_after_its_restart(void **state)
{
    (void)state;
    world_add_basics(&w);
    world_add_workload(&w, "a", "lq", 1, "1");
    world_settle(&w);
    w.now_ms += 5000;
    (void)world_patch(&w, SL_KIND_LOCAL_QUEUE, "team", "lq",
                      "{\"spec\":{\"stopPolicy\":\"HoldAndDrain\"}}");
    world_settle(&w);
    world_expect(&w, "a", "Evicted", "True", "LocalQueueStopped");
    world_expect(&w, "a", "QuotaReserved", "True", "QuotaReserved"); /* until the job has stopped */
    assert_int_equal(world_count_cq(&w, "reservingWorkloads"), 1);
    assert_int_equal(
        sl_json_path_int(world_workload(&w, "a"), "status.schedulingStats.evictions.0.count", 0),
        1);
    sl_engine_job_stopped(w.engine, world_workload(&w, "a"), w.now_ms);
    world_settle(&w);
    world_expect(&w, "a", "QuotaReserved", "False", "Suspended");
    world_expect(&w, "a", "Requeued", "False", "LocalQueueStopped");
    world_expect(&w, "a", "Admitted", "False", "NoReservation");
    assert_null(sl_json_path(world_workload(&w, "a"), "status.admission"));
    assert_int_equal(
        sl_json_path_int(world_workload(&w, "a"), "status.accumulatedPastExecutionTimeSeconds", 0),
        5);
    assert_int_equal(world_count_cq(&w, "reservingWorkloads"), 0);
    (void)world_patch(&w, SL_KIND_LOCAL_QUEUE, "team", "lq", "{\"spec\":{\"stopPolicy\":null}}");
    world_settle(&w);
    world_expect(&w, "a", "Requeued", "True", "LocalQueueRestarted");
    world_expect(&w, "a", "Admitted", "True", "Admitted");
    world_expect(&w, "a", "Evicted", "False", "QuotaReserved");
}

static void test_engine_namespace_selector_keeps_others_out(void **state)
{
    (void)state;
    world_add_flavor(&w, "spot", "{}");
    world_add(&w, SL_KIND_NAMESPACE, "{\"metadata\":{\"name\":\"team\"}}");
    world_add_cluster_queue(&w, "cq", "spot", "10", "");
    (void)world_patch(&w, SL_KIND_CLUSTER_QUEUE, "", "cq",
                      "{\"spec\":{\"namespaceSelector\":{\"matchLabels\":{\"dept\":\"x\"}}}}");
    world_add_local_queue(&w, "team", "lq", "cq");
    sl_engine_synced(w.engine, w.now_ms);
    world_add_workload(&w, "a", "lq", 1, "1");
    world_settle(&w);
    world_expect(&w, "a", "QuotaReserved", "False", "Misconfigured");
    (void)world_patch(&w, SL_KIND_NAMESPACE, "", "team", "{\"metadata\":{\"labels\":[\"dept\"]}}");
    world_settle(&w);
    world_expect(&w, "a", "QuotaReserved", "False", "Misconfigured");
    (void)world_patch(&w, SL_KIND_NAMESPACE, "", "team",
                      "{\"metadata\":{\"labels\":{\"dept\":\"x\"}}}");
    world_settle(&w);
    world_expect(&w, "a", "Admitted", "True", "Admitted");
}

static void test_engine_workload_moves_to_another_queue(void **state)
{
    (void)state;
    world_add_basics(&w);
    world_add_workload(&w, "a", "nowhere", 1, "1");
    world_settle(&w);
    world_expect(&w, "a", "QuotaReserved", "False", "Misconfigured");
    (void)world_patch(&w, SL_KIND_WORKLOAD, "team", "a", "{\"spec\":{\"queueName\":\"lq\"}}");
    world_settle(&w);
    world_expect(&w, "a", "Admitted", "True", "Admitted");
    assert_int_equal(world_count(&w, SL_KIND_LOCAL_QUEUE, "team", "lq", "admittedWorkloads"), 1);
}

/* --- flags ------------------------------------------------------------------------------------ */

static void test_engine_gated_workload_waits_for_its_gate(void **state)
{
    (void)state;
    world_add_basics(&w);
    struct sl_json *o = world_new_workload("team", "a", "lq", 1, "1");
    sl_json_set_text(sl_json_path_make(o, "metadata.annotations"),
                     "kueue.x-k8s.io/admission-gated-by", "me");
    (void)world_put(&w, SL_KIND_WORKLOAD, o, NULL);
    world_settle(&w);
    world_expect(&w, "a", "QuotaReserved", "False", "AdmissionGated");
    assert_string_equal(
        sl_json_path_text(sl_condition_find(world_workload(&w, "a"), "QuotaReserved"), "message",
                          ""),
        "Admission is gated by: me");
    (void)world_patch(
        &w, SL_KIND_WORKLOAD, "team", "a",
        "{\"metadata\":{\"annotations\":{\"kueue.x-k8s.io/admission-gated-by\":\"\"}}}");
    world_settle(&w);
    world_expect(&w, "a", "Admitted", "True", "Admitted");
}

static void lacks_pods(const char *name, bool lacks)
{
    struct sl_json *o = sl_json_clone(world_workload(&w, name));
    (void)sl_condition_set(sl_json_path_make(o, "status"), "WaitingForReplacementPods", lacks,
                           lacks ? "PodsFailed" : "PodsReady", "by the group's controller", 1,
                           w.now_ms);
    (void)world_put(&w, SL_KIND_WORKLOAD, o, NULL);
    world_settle(&w);
}

/* Quota would be held for pods that are not there. */
static void test_engine_group_that_lacks_pods_is_not_admitted_until_they_are_replaced(void **state)
{
    (void)state;
    world_add_basics(&w);
    world_add_workload(&w, "a", "lq", 1, "1");
    world_settle(&w);
    lacks_pods("a", true);
    world_expect(&w, "a", "Admitted", "True", "Admitted"); /* what runs goes on */
    (void)world_patch(&w, SL_KIND_CLUSTER_QUEUE, "", "cq",
                      "{\"spec\":{\"stopPolicy\":\"HoldAndDrain\"}}");
    world_settle(&w);
    sl_engine_job_stopped(w.engine, world_workload(&w, "a"), w.now_ms);
    (void)world_patch(&w, SL_KIND_CLUSTER_QUEUE, "", "cq", "{\"spec\":{\"stopPolicy\":\"None\"}}");
    world_settle(&w);
    world_expect(&w, "a", "QuotaReserved", "False", "AdmissionGated");
    assert_string_equal(
        sl_json_path_text(sl_condition_find(world_workload(&w, "a"), "QuotaReserved"), "message",
                          ""),
        "Admission is gated by: missing pods of its group");
    lacks_pods("a", false);
    world_expect(&w, "a", "Admitted", "True", "Admitted");
}

static void test_engine_group_that_lacks_pods_at_a_restart_waits_for_them(void **state)
{
    (void)state;
    static const enum sl_kind kinds[] = {SL_KIND_RESOURCE_FLAVOR, SL_KIND_CLUSTER_QUEUE,
                                         SL_KIND_LOCAL_QUEUE, SL_KIND_WORKLOAD};
    world_add_basics(&w);
    struct sl_json *o = world_new_workload("team", "a", "lq", 1, "1");
    (void)sl_condition_set(sl_json_path_make(o, "status"), "WaitingForReplacementPods", true,
                           "PodsFailed", "by the group's controller", 1, w.now_ms);
    world_restart(&w, kinds, 4);
    (void)world_put(&w, SL_KIND_WORKLOAD, o, NULL);
    sl_engine_synced(w.engine, w.now_ms);
    world_settle(&w);
    world_expect(&w, "a", "QuotaReserved", "False", "AdmissionGated");
    world_restart(&w, kinds, 4);
    world_settle(&w);
    world_expect(&w, "a", "QuotaReserved", "False", "AdmissionGated");
    lacks_pods("a", false);
    world_expect(&w, "a", "Admitted", "True", "Admitted");
}

static void test_engine_long_gate_is_told_in_whole_characters(void **state)
{
    (void)state;
    char gate[1002] = "x";
    for (size_t i = 1; i < 1000; i += 2) {
        memcpy(gate + i, "\xc3\xa9", 3);
    }
    world_add_basics(&w);
    struct sl_json *o = world_new_workload("team", "a", "lq", 1, "1");
    sl_json_set_text(sl_json_path_make(o, "metadata.annotations"),
                     "kueue.x-k8s.io/admission-gated-by", gate);
    (void)world_put(&w, SL_KIND_WORKLOAD, o, NULL);
    world_settle(&w);
    world_expect(&w, "a", "QuotaReserved", "False", "AdmissionGated");
    const char *message = sl_json_path_text(
        sl_condition_find(world_workload(&w, "a"), "QuotaReserved"), "message", "");
    assert_string_equal(message + strlen(message) - 5, "\xc3\xa9...");
}

static void test_engine_deactivated_workload_is_evicted_and_comes_back(void **state)
{
    (void)state;
    world_add_basics(&w);
    world_add_workload(&w, "a", "lq", 1, "1");
    world_settle(&w);
    (void)world_patch(&w, SL_KIND_WORKLOAD, "team", "a", "{\"spec\":{\"active\":false}}");
    world_settle(&w);
    world_expect(&w, "a", "Evicted", "True", "Deactivated");
    sl_engine_job_stopped(w.engine, world_workload(&w, "a"), w.now_ms);
    world_settle(&w);
    world_expect(&w, "a", "QuotaReserved", "False", "Deactivated");
    (void)world_patch(&w, SL_KIND_WORKLOAD, "team", "a", "{\"spec\":{\"active\":true}}");
    world_settle(&w);
    world_expect(&w, "a", "Requeued", "True", "Reactivated");
    world_expect(&w, "a", "Admitted", "True", "Admitted");
}

static void test_engine_reactivated_before_the_job_stopped_comes_back_after(void **state)
{
    (void)state;
    world_add_basics(&w);
    world_add_workload(&w, "a", "lq", 1, "1");
    world_settle(&w);
    (void)world_patch(&w, SL_KIND_WORKLOAD, "team", "a", "{\"spec\":{\"active\":false}}");
    world_settle(&w);
    (void)world_patch(&w, SL_KIND_WORKLOAD, "team", "a", "{\"spec\":{\"active\":true}}");
    world_settle(&w);
    sl_engine_job_stopped(w.engine, world_workload(&w, "a"), w.now_ms);
    world_settle(&w);
    world_expect(&w, "a", "Admitted", "True", "Admitted");
}

static void test_engine_execution_time_over_deactivates(void **state)
{
    (void)state;
    world_add_basics(&w);
    world_add_limited(&w, "a", 60);
    world_settle(&w);
    assert_int_equal(sl_engine_due_ms(w.engine), w.now_ms + 60000);
    world_pass(&w, 59000);
    assert_false(sl_condition_true(world_workload(&w, "a"), "Evicted"));
    world_pass(&w, 1000);
    assert_false(sl_json_path_bool(world_workload(&w, "a"), "spec.active", true));
    world_expect(&w, "a", "Evicted", "True", "DeactivatedDueToMaximumExecutionTimeExceeded");
    assert_string_equal(
        sl_json_path_text(sl_condition_find(world_workload(&w, "a"), "Evicted"), "message", ""),
        "The workload is deactivated due to exceeding the maximum execution time");
    assert_null(sl_condition_find(world_workload(&w, "a"), "DeactivationTarget"));
}

/* The label of a job that waits says how long it may run; its Workload follows until it is admitted. */
static void test_engine_execution_time_that_changed_counts(void **state)
{
    (void)state;
    world_add_basics(&w);
    (void)world_patch(&w, SL_KIND_LOCAL_QUEUE, "team", "lq",
                      "{\"spec\":{\"stopPolicy\":\"Hold\"}}");
    world_add_limited(&w, "a", 60);
    world_settle(&w);
    (void)world_patch(&w, SL_KIND_WORKLOAD, "team", "a",
                      "{\"spec\":{\"maximumExecutionTimeSeconds\":300}}");
    world_settle(&w);
    world_expect(&w, "a", "QuotaReserved", "False", "Suspended");
    (void)world_patch(&w, SL_KIND_LOCAL_QUEUE, "team", "lq", "{\"spec\":{\"stopPolicy\":null}}");
    world_settle(&w);
    world_expect(&w, "a", "Admitted", "True", "Admitted");
    assert_int_equal(sl_engine_due_ms(w.engine), w.now_ms + 300000);
    world_pass(&w, 299000);
    assert_false(sl_condition_true(world_workload(&w, "a"), "Evicted"));
    world_pass(&w, 1000);
    world_expect(&w, "a", "Evicted", "True", "DeactivatedDueToMaximumExecutionTimeExceeded");
}

/* A daemon that starts between the two writes goes on with the second one: the time does not run out once more. */
static void test_engine_execution_time_is_over_once(void **state)
{
    (void)state;
    static const enum sl_kind order[] = {SL_KIND_RESOURCE_FLAVOR, SL_KIND_CLUSTER_QUEUE,
                                         SL_KIND_LOCAL_QUEUE, SL_KIND_WORKLOAD};
    world_add_basics(&w);
    world_add_limited(&w, "a", 60);
    world_settle(&w);
    w.now_ms += 60000;
    struct sl_json *o = sl_json_clone(world_workload(&w, "a"));
    sl_condition_set(sl_json_path_make(o, "status"), "DeactivationTarget", true,
                     "MaximumExecutionTimeExceeded", "", 1, w.now_ms);
    (void)world_put(&w, SL_KIND_WORKLOAD, o, NULL);
    world_restart(&w, order, sizeof order / sizeof order[0]);
    struct sl_engine_counters before, after;
    sl_engine_count(w.engine, &before);
    w.now_ms += 1000;
    (void)sl_engine_cycle(w.engine, w.now_ms);
    sl_engine_count(w.engine, &after);
    assert_true(after.refused == before.refused);
    world_settle(&w);
    assert_false(sl_json_path_bool(world_workload(&w, "a"), "spec.active", true));
}

/* Two writes, and the first says why: a daemon that starts between them goes on from there. */
static void test_engine_deactivation_says_why_before_it_is_one(void **state)
{
    (void)state;
    world_add_basics(&w);
    world_add_limited(&w, "a", 60);
    world_settle(&w);
    w.now_ms += 60000;
    (void)sl_engine_cycle(w.engine, w.now_ms);
    struct sl_decision d;
    struct sl_json *first, *second;
    assert_true(sl_engine_next_decision(w.engine, &d) && d.kind == SL_DECIDE_DEACTIVATE);
    struct sl_json *live = sl_json_clone(world_workload(&w, "a"));
    assert_int_equal(sl_engine_write(w.engine, &d, live, &first), SL_TO_WRITE_STATUS);
    assert_int_equal(sl_patch_merge(&live, first, NULL), SL_CODE_OK);
    const struct sl_json *c = sl_condition_find(live, "DeactivationTarget");
    assert_string_equal(sl_json_path_text(c, "reason", ""), "MaximumExecutionTimeExceeded");
    assert_int_equal(sl_engine_written(w.engine, &d, SL_CODE_OK, live, w.now_ms), SL_THEN_ASK);
    assert_int_equal(sl_engine_write(w.engine, &d, live, &second), SL_TO_WRITE_SPEC);
    assert_int_equal(sl_patch_merge(&live, second, NULL), SL_CODE_OK);
    assert_false(sl_json_path_bool(live, "spec.active", true));
    assert_int_equal(sl_engine_written(w.engine, &d, SL_CODE_OK, live, w.now_ms), SL_THEN_NOTHING);
    sl_json_free(first);
    sl_json_free(second);
    sl_json_free(live);
}

/* --- admission checks ------------------------------------------------------------------------- */

static void add_checked_basics(void)
{
    world_add_flavor(&w, "spot", "{}");
    world_add_check(&w, "prov");
    world_add_cluster_queue(
        &w, "cq", "spot", "10",
        ",\"admissionChecksStrategy\":{\"admissionChecks\":[{\"name\":\"prov\"}]}");
    world_add_local_queue(&w, "team", "lq", "cq");
    sl_engine_synced(w.engine, w.now_ms);
    world_add_workload(&w, "a", "lq", 1, "1");
    world_settle(&w);
}

static void report_check(const char *state)
{
    char patch[256];
    (void)snprintf(patch, sizeof patch,
                   "{\"status\":{\"admissionChecks\":[{\"name\":\"prov\",\"state\":\"%s\","
                   "\"message\":\"because\"}]}}",
                   state);
    (void)world_patch(&w, SL_KIND_WORKLOAD, "team", "a", patch);
    world_settle(&w);
}

static void test_engine_admission_waits_for_its_check(void **state)
{
    (void)state;
    add_checked_basics();
    world_expect(&w, "a", "QuotaReserved", "True", "QuotaReserved");
    assert_false(sl_condition_true(world_workload(&w, "a"), "Admitted"));
    assert_string_equal(
        sl_json_path_text(world_workload(&w, "a"), "status.admissionChecks.0.name", ""), "prov");
    assert_string_equal(
        sl_json_path_text(world_workload(&w, "a"), "status.admissionChecks.0.state", ""),
        "Pending");
    report_check("Ready");
    world_expect(&w, "a", "Admitted", "True", "Admitted");
    assert_int_equal(world_count_cq(&w, "admittedWorkloads"), 1);
}

static void test_engine_check_that_asks_to_retry_evicts(void **state)
{
    (void)state;
    add_checked_basics();
    report_check("Retry");
    world_expect(&w, "a", "Evicted", "True", "AdmissionCheck");
    const struct sl_json *check = sl_json_path(world_workload(&w, "a"), "status.admissionChecks.0");
    assert_string_equal(sl_json_path_text(check, "state", ""), "Pending");
    assert_string_equal(sl_json_path_text(check, "message", ""),
                        "Reset to Pending after eviction. Previously: Retry");
    assert_int_equal(sl_json_path_int(check, "retryCount", 0), 1);
    sl_engine_job_stopped(w.engine, world_workload(&w, "a"), w.now_ms);
    world_settle(&w);
    world_expect(&w, "a", "Requeued", "True", "BackoffFinished");
    world_expect(&w, "a", "QuotaReserved", "True", "QuotaReserved"); /* no backoff was asked for */
}

static void test_engine_rejected_check_deactivates_and_is_named(void **state)
{
    (void)state;
    add_checked_basics();
    report_check("Rejected");
    assert_false(sl_json_path_bool(world_workload(&w, "a"), "spec.active", true));
    world_expect(&w, "a", "Evicted", "True", "DeactivatedDueToAdmissionCheck");
    assert_string_equal(
        sl_json_path_text(sl_condition_find(world_workload(&w, "a"), "Evicted"), "message", ""),
        "The workload is deactivated due to AdmissionCheck in Rejected state: \"prov\" (because)");
}

static void test_engine_deactivation_by_hand_blames_no_check(void **state)
{
    (void)state;
    add_checked_basics();
    (void)world_patch(&w, SL_KIND_WORKLOAD, "team", "a", "{\"spec\":{\"active\":false}}");
    world_settle(&w);
    assert_string_equal(
        sl_json_path_text(sl_condition_find(world_workload(&w, "a"), "Evicted"), "message", ""),
        "The workload is deactivated");
}

static void test_engine_check_dropped_by_the_queue_admits(void **state)
{
    (void)state;
    add_checked_basics();
    (void)world_patch(&w, SL_KIND_CLUSTER_QUEUE, "", "cq",
                      "{\"spec\":{\"admissionChecksStrategy\":null}}");
    world_settle(&w);
    world_expect(&w, "a", "Admitted", "True", "Admitted");
    assert_null(sl_json_path(world_workload(&w, "a"), "status.admissionChecks"));
}

static void test_engine_check_that_rejects_while_pending_keeps_out_only_its_workload(void **state)
{
    (void)state;
    add_checked_basics();
    world_add_workload(&w, "b", "lq", 1, "10"); /* waits for a */
    world_add_workload(&w, "c", "lq", 1, "10"); /* as b, and behind it */
    world_settle(&w);
    (void)world_patch(
        &w, SL_KIND_WORKLOAD, "team", "b",
        "{\"status\":{\"admissionChecks\":[{\"name\":\"prov\",\"state\":\"Rejected\"}]}}");
    world_delete(&w, SL_KIND_WORKLOAD, "team", "a");
    world_settle(&w);
    world_expect(&w, "c", "QuotaReserved", "True", "QuotaReserved");
    assert_false(sl_condition_true(world_workload(&w, "b"), "QuotaReserved"));
    world_delete(&w, SL_KIND_WORKLOAD, "team", "c");
    (void)world_patch(&w, SL_KIND_CLUSTER_QUEUE, "", "cq",
                      "{\"spec\":{\"admissionChecksStrategy\":null}}");
    world_settle(&w);
    world_expect(&w, "b", "Admitted", "True", "Admitted");
}

static void test_engine_end_that_it_was_not_told_is_no_end_yet(void **state)
{
    (void)state;
    struct sl_error e;
    world_add_basics(&w);
    world_add_workload(&w, "a", "lq", 1, "1");
    world_settle(&w);
    sl_workload_id id = sl_intern_find(w.engine->names, SL_INTERN_WORKLOAD, "team/a");
    struct sl_decision d = {.workload = id, .generation = w.engine->workloads[id].generation};
    struct sl_json *o = sl_json_clone(world_workload(&w, "a")), *patch;
    assert_int_equal(sl_engine_write(w.engine, &d, o, &patch), SL_TO_WRITE_NOTHING);
    sl_condition_set(sl_json_path_make(o, "status"), "Finished", true, "Succeeded", "", 0,
                     w.now_ms);
    assert_int_equal(sl_engine_write(w.engine, &d, o, &patch), SL_TO_WRITE_LATER);
    d.generation++; /* of one that is gone */
    assert_int_equal(sl_engine_write(w.engine, &d, o, &patch), SL_TO_WRITE_NOTHING);
    d.generation--;
    assert_int_equal(sl_engine_observe(w.engine, SL_KIND_WORKLOAD, o, w.now_ms, &e), SL_CODE_OK);
    assert_int_equal(sl_engine_write(w.engine, &d, o, &patch), SL_TO_WRITE_NOTHING);
    sl_json_free(o);
}

/* --- bad objects ------------------------------------------------------------------------------ */

static void test_engine_bad_quota_makes_the_queue_inactive(void **state)
{
    (void)state;
    world_add_basics(&w);
    struct sl_error e = {0};
    struct sl_json *o = sl_json_clone(world_get(&w, SL_KIND_CLUSTER_QUEUE, "", "cq"));
    sl_json_set_text(sl_json_path(o, "spec.resourceGroups.0.flavors.0.resources.0"), "nominalQuota",
                     "ten");
    assert_int_equal(world_put(&w, SL_KIND_CLUSTER_QUEUE, o, &e), SL_CODE_INVALID);
    assert_string_equal(e.causes[0].field,
                        "spec.resourceGroups[0].flavors[0].resources[0].nominalQuota");
    world_add_workload(&w, "a", "lq", 1, "1");
    world_settle(&w);
    world_expect(&w, "a", "QuotaReserved", "False", "Suspended");
    struct sl_json *status = sl_engine_queue_status(w.engine, SL_KIND_CLUSTER_QUEUE, "", "cq");
    assert_string_equal(sl_json_path_text(status, "active.reason", ""), "InvalidSpec");
    sl_json_free(status);
}

static void test_engine_negative_quota_is_refused(void **state)
{
    (void)state;
    world_add_basics(&w);
    struct sl_error e = {0};
    struct sl_json *o = sl_json_clone(world_get(&w, SL_KIND_CLUSTER_QUEUE, "", "cq"));
    sl_json_set_int(sl_json_path(o, "spec.resourceGroups.0.flavors.0.resources.0"), "nominalQuota",
                    -1);
    assert_int_equal(world_put(&w, SL_KIND_CLUSTER_QUEUE, o, &e), SL_CODE_INVALID);
    assert_string_equal(e.causes[0].text, "must not be negative");
}

static void expect_trouble(const char *reason, const char *words)
{
    struct sl_json *status = sl_engine_queue_status(w.engine, SL_KIND_CLUSTER_QUEUE, "", "cq");
    assert_string_equal(sl_json_path_text(status, "active.reason", ""), reason);
    assert_non_null(strstr(sl_json_path_text(status, "active.message", ""), words));
    sl_json_free(status);
}

static void test_engine_refused_quota_stays_refused_until_it_is_another(void **state)
{
    (void)state;
    world_add_basics(&w);
    struct sl_json *o = sl_json_clone(world_get(&w, SL_KIND_CLUSTER_QUEUE, "", "cq"));
    struct sl_json *flavors = sl_json_path(o, "spec.resourceGroups.0.flavors");
    sl_json_append(flavors, sl_json_clone(sl_json_at(flavors, 0)));
    assert_int_equal(world_put(&w, SL_KIND_CLUSTER_QUEUE, o, NULL), SL_CODE_INVALID);
    expect_trouble("InvalidSpec", "lists a flavor and resource twice");
    assert_int_equal(world_observe(&w, SL_KIND_CLUSTER_QUEUE, o, NULL), SL_CODE_INVALID);
    expect_trouble("InvalidSpec", "lists a flavor and resource twice");
    world_add_cluster_queue(&w, "cq", "spot", "10", "");
    expect_trouble("Ready", "");
    world_add_workload(&w, "a", "lq", 1, "10");
    world_settle(&w);
    world_expect(&w, "a", "Admitted", "True", "Admitted");
}

static void test_engine_bad_request_keeps_the_workload_known(void **state)
{
    (void)state;
    world_add_basics(&w);
    struct sl_error e = {0};
    enum sl_code code =
        world_put(&w, SL_KIND_WORKLOAD, world_new_workload("team", "a", "lq", 1, "-1"), &e);
    assert_int_equal(code, SL_CODE_INVALID);
    assert_string_equal(e.causes[0].field, "spec.podSets[0].template.spec");
    world_settle(&w);
    world_expect(&w, "a", "QuotaReserved", "False", "Misconfigured");
    struct sl_json *o = world_new_workload("team", "a", "lq", 1, "1");
    sl_json_set_text(sl_json_path_make(o, "metadata"), "uid",
                     sl_object_uid(world_workload(&w, "a")));
    sl_json_set_int(sl_json_path_make(o, "metadata"), "generation", 2);
    assert_int_equal(world_put(&w, SL_KIND_WORKLOAD, o, &e), SL_CODE_OK);
    world_settle(&w);
    world_expect(&w, "a", "Admitted", "True", "Admitted");
}

static void test_engine_absurd_request_is_refused_not_wrapped(void **state)
{
    (void)state;
    world_add_basics(&w);
    struct sl_error e = {0};
    enum sl_code code = world_put(
        &w, SL_KIND_WORKLOAD, world_new_workload("team", "a", "lq", 2147483647, "1000000000"), &e);
    assert_int_equal(code, SL_CODE_INVALID);
    assert_non_null(strstr(e.causes[0].text, "larger than 2^60"));
}

static void test_engine_object_without_name_is_refused(void **state)
{
    (void)state;
    struct sl_error e = {0};
    struct sl_json *o = world_parse("{\"metadata\":{}}");
    assert_int_equal(sl_engine_observe(w.engine, SL_KIND_WORKLOAD, o, 1, &e), SL_CODE_BAD_REQUEST);
    sl_json_free(o);
}

static void test_engine_resource_the_queue_lacks_has_no_flavor(void **state)
{
    (void)state;
    world_add_basics(&w);
    struct sl_json *o = world_new_workload("team", "a", "lq", 1, "1");
    sl_json_set_text(
        sl_json_path(o, "spec.podSets.0.template.spec.containers.0.resources.requests"), "gpu",
        "1");
    (void)world_put(&w, SL_KIND_WORKLOAD, o, NULL);
    world_settle(&w);
    world_expect(&w, "a", "QuotaReserved", "False", "NoMatchingFlavor");
    assert_non_null(strstr(w.last_message, "resource gpu unavailable in ClusterQueue"));
}

/* --- answers ---------------------------------------------------------------------------------- */

static void test_engine_refused_reservation_is_tried_again_later(void **state)
{
    (void)state;
    world_add_basics(&w);
    w.fail_next = SL_CODE_CONFLICT;
    world_add_workload(&w, "a", "lq", 1, "1");
    world_settle(&w);
    assert_false(sl_condition_true(world_workload(&w, "a"), "QuotaReserved"));
    assert_int_equal(world_count_cq(&w, "reservingWorkloads"), 0);
    world_pass(&w, 999);
    assert_false(sl_condition_true(world_workload(&w, "a"), "QuotaReserved"));
    world_pass(&w, 1);
    world_expect(&w, "a", "Admitted", "True", "Admitted");
}

/* What a policy refuses is not written twice a second for ever, whatever else happens to the object. */
static void test_engine_reservation_refused_by_a_policy_is_tried_later_and_later(void **state)
{
    (void)state;
    static const int64_t waits_ms[] = {1000, 2000, 4000, 8000, 16000, 30000, 30000};
    world_add_basics(&w);
    w.fail_next = SL_CODE_FORBIDDEN;
    world_add_workload(&w, "a", "lq", 1, "1");
    world_settle(&w);
    for (size_t i = 0; i < sizeof waits_ms / sizeof waits_ms[0]; i++) {
        w.fail_next = SL_CODE_INVALID;
        world_pass(&w, waits_ms[i] - 1);
        (void)world_patch(&w, SL_KIND_WORKLOAD, "team", "a",
                          "{\"metadata\":{\"labels\":{\"seen\":\"again\"}}}");
        world_settle(&w);
        assert_int_equal(w.fail_next, SL_CODE_INVALID); /* nothing was written */
        world_pass(&w, 1);
        assert_int_equal(w.fail_next, SL_CODE_OK);
        assert_false(sl_condition_true(world_workload(&w, "a"), "QuotaReserved"));
    }
    world_pass(&w, 30000);
    world_expect(&w, "a", "Admitted", "True", "Admitted");
}

static void test_engine_reservation_in_doubt_is_kept_and_written_again(void **state)
{
    (void)state;
    world_add_basics(&w);
    w.fail_next = SL_CODE_TIMEOUT;
    world_add_workload(&w, "a", "lq", 1, "8");
    world_settle(&w);
    assert_false(sl_condition_true(world_workload(&w, "a"), "QuotaReserved"));
    world_add_workload(&w, "b", "lq", 1, "8");
    world_settle(&w);
    world_expect(&w, "b", "QuotaReserved", "False", "WaitingForQuota"); /* a may be running */
    world_pass(&w, 1000);
    world_expect(&w, "a", "Admitted", "True", "Admitted");
}

static void test_engine_reservation_of_a_vanished_workload_is_dropped(void **state)
{
    (void)state;
    world_add_basics(&w);
    w.fail_next = SL_CODE_NOT_FOUND;
    world_add_workload(&w, "a", "lq", 1, "8");
    world_settle(&w);
    assert_int_equal(world_count_cq(&w, "reservingWorkloads"), 0);
    struct sl_engine_counters counters;
    sl_engine_count(w.engine, &counters);
    assert_int_equal(counters.workloads, 0);
}

static void test_engine_refused_eviction_is_written_again(void **state)
{
    (void)state;
    world_add_basics(&w);
    world_add_workload(&w, "a", "lq", 1, "1");
    world_settle(&w);
    w.fail_next = SL_CODE_CONFLICT;
    (void)world_patch(&w, SL_KIND_LOCAL_QUEUE, "team", "lq",
                      "{\"spec\":{\"stopPolicy\":\"HoldAndDrain\"}}");
    world_settle(&w);
    assert_false(sl_condition_true(world_workload(&w, "a"), "Evicted"));
    world_pass(&w, 1000);
    world_expect(&w, "a", "Evicted", "True", "LocalQueueStopped");
}

static void test_engine_number_of_a_deleted_head_carries_no_block_over(void **state)
{
    (void)state;
    world_add_basics(&w);
    (void)world_patch(&w, SL_KIND_CLUSTER_QUEUE, "", "cq",
                      "{\"spec\":{\"queueingStrategy\":\"StrictFIFO\"}}");
    world_add_workload(&w, "a", "lq", 1, "8");
    world_settle(&w);
    world_add_workload(&w, "b", "lq", 1, "8");
    world_settle(&w); /* b is the head and holds up the queue */
    world_delete(&w, SL_KIND_WORKLOAD, "team", "b");
    world_add_workload(&w, "c", "lq", 1, "2"); /* gets b's number */
    world_settle(&w);
    world_expect(&w, "c", "Admitted", "True", "Admitted");
}

static void test_engine_touched_queues_are_named_once(void **state)
{
    (void)state;
    world_add_basics(&w);
    enum sl_kind kind;
    const char *ns;
    const char *name;
    while (sl_engine_next_touched(w.engine, &kind, &ns, &name)) {
    }
    world_add_workload(&w, "a", "lq", 1, "1");
    world_settle(&w);
    unsigned queues = 0;
    unsigned cluster_queues = 0;
    while (sl_engine_next_touched(w.engine, &kind, &ns, &name)) {
        queues += kind == SL_KIND_LOCAL_QUEUE && strcmp(ns, "team") == 0 && strcmp(name, "lq") == 0;
        cluster_queues += kind == SL_KIND_CLUSTER_QUEUE && strcmp(name, "cq") == 0;
    }
    assert_int_equal(queues, 1);
    assert_int_equal(cluster_queues, 1);
}

#define TEST(name) cmocka_unit_test_setup_teardown(name, setup, teardown)

int main(void)
{
    const struct CMUnitTest tests[] = {
        TEST(test_engine_workload_that_fits_is_admitted),
        TEST(test_engine_usage_shows_in_the_statuses),
        TEST(test_engine_workload_too_large_now_waits_and_says_why),
        TEST(test_engine_workload_larger_than_all_quota_exceeds_it),
        TEST(test_engine_finished_workload_lets_the_next_one_in),
        TEST(test_engine_deleted_workload_gives_its_quota_back),
        TEST(test_engine_same_name_with_other_uid_is_another_workload),
        TEST(test_engine_higher_priority_goes_first_then_age),
        TEST(test_engine_pending_leaves_out_who_waits_no_more),
        TEST(test_engine_pending_in_a_range_keeps_its_positions),
        TEST(test_engine_workload_that_is_not_to_be_queued_is_not_pending),
        TEST(test_engine_nothing_is_decided_before_everything_was_seen),
        TEST(test_engine_second_pending_reason_alike_is_not_written),
        TEST(test_engine_tainted_flavor_is_passed_over),
        TEST(test_engine_flavor_that_loses_its_taint_is_tried_again),
        TEST(test_engine_missing_flavor_makes_the_queue_inactive),
        TEST(test_engine_queue_borrows_from_its_cohort),
        TEST(test_engine_cyclic_cohorts_are_refused_and_heal),
        TEST(test_engine_cohort_object_adds_quota),
        TEST(test_engine_orphan_is_admitted_when_its_queue_appears),
        TEST(test_engine_deleted_cluster_queue_orphans_what_waits_and_keeps_what_runs),
        TEST(test_engine_deleted_queues_leave_nothing_behind),
        TEST(test_engine_held_queue_admits_nothing_and_keeps_what_runs),
        TEST(test_engine_drained_queue_evicts_and_takes_back_after_its_restart),
        TEST(test_engine_namespace_selector_keeps_others_out),
        TEST(test_engine_workload_moves_to_another_queue),
        TEST(test_engine_gated_workload_waits_for_its_gate),
        TEST(test_engine_group_that_lacks_pods_is_not_admitted_until_they_are_replaced),
        TEST(test_engine_group_that_lacks_pods_at_a_restart_waits_for_them),
        TEST(test_engine_long_gate_is_told_in_whole_characters),
        TEST(test_engine_deactivated_workload_is_evicted_and_comes_back),
        TEST(test_engine_reactivated_before_the_job_stopped_comes_back_after),
        TEST(test_engine_execution_time_that_changed_counts),
        TEST(test_engine_execution_time_over_deactivates),
        TEST(test_engine_execution_time_is_over_once),
        TEST(test_engine_deactivation_says_why_before_it_is_one),
        TEST(test_engine_admission_waits_for_its_check),
        TEST(test_engine_check_that_asks_to_retry_evicts),
        TEST(test_engine_rejected_check_deactivates_and_is_named),
        TEST(test_engine_deactivation_by_hand_blames_no_check),
        TEST(test_engine_check_dropped_by_the_queue_admits),
        TEST(test_engine_end_that_it_was_not_told_is_no_end_yet),
        TEST(test_engine_check_that_rejects_while_pending_keeps_out_only_its_workload),
        TEST(test_engine_bad_quota_makes_the_queue_inactive),
        TEST(test_engine_negative_quota_is_refused),
        TEST(test_engine_refused_quota_stays_refused_until_it_is_another),
        TEST(test_engine_bad_request_keeps_the_workload_known),
        TEST(test_engine_absurd_request_is_refused_not_wrapped),
        TEST(test_engine_object_without_name_is_refused),
        TEST(test_engine_resource_the_queue_lacks_has_no_flavor),
        TEST(test_engine_refused_reservation_is_tried_again_later),
        TEST(test_engine_reservation_refused_by_a_policy_is_tried_later_and_later),
        TEST(test_engine_reservation_in_doubt_is_kept_and_written_again),
        TEST(test_engine_reservation_of_a_vanished_workload_is_dropped),
        TEST(test_engine_refused_eviction_is_written_again),
        TEST(test_engine_number_of_a_deleted_head_carries_no_block_over),
        TEST(test_engine_touched_queues_are_named_once),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
