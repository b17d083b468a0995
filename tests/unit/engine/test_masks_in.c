/* SPDX-License-Identifier: Apache-2.0
 * SPDX-FileCopyrightText: The Sluice authors */

#include "cluster.h"
#include "scene.h"
#include "engine/records/world.h"
#include "policy/requests/requests.h"
#include "policy/topology/tolerances.h"
#include "policy/requests/topology_request.h"

static void add(const char *name, const char *spec)
{
    char text[2048];
    (void)snprintf(text, sizeof text,
                   "{\"metadata\":{\"namespace\":\"team\",\"name\":\"%s\"},\"spec\":{\"queueName\":"
                   "\"lq\",\"podSets\":[{\"name\":\"main\",\"count\":1,\"topologyRequest\":{"
                   "\"required\":\"rack\"},\"template\":{\"spec\":{%s\"containers\":[{\"name\":"
                   "\"c\",\"resources\":{\"requests\":{\"cpu\":\"100\"}}}]}}}]}}",
                   name, spec);
    world_add(&w, SL_KIND_WORKLOAD, text);
}

static sl_mask_id mask_of(const char *name)
{
    char key[64];
    (void)snprintf(key, sizeof key, "team/%s", name);
    sl_workload_id id = sl_intern_find(w.engine->names, SL_INTERN_WORKLOAD, key);
    return sl_topology_request_of(sl_requests_first_pod_set(id)).mask;
}

static sl_verdict verdict_in(const char *name, const char *flavor, const char *host)
{
    return sl_masks_verdict(sl_tolerances_mask(mask_of(name), cluster_tree(&w, flavor)),
                            cluster_find_host(w.engine, host));
}

static sl_verdict verdict(const char *name, const char *host)
{
    return verdict_in(name, "tas", host);
}

#define TAINT "\"taints\":[{\"key\":\"gpu\",\"value\":\"yes\",\"effect\":\"NoSchedule\"}]"

static void start(void)
{
    cluster_add_basics(&w, "{\"topologyName\":\"topo\"}", "10");
    cluster_put_node(&w, "n1", "b1", "r1", "4", "");
    cluster_put_node(&w, "n2", "b1", "r2", "4", TAINT);
}

static void test_masks_in_equal_constraints_share_a_mask(void **state)
{
    (void)state;
    start();
    add("a", "\"nodeSelector\":{\"rack\":\"r1\"},");
    add("b", "\"nodeSelector\":{\"rack\":\"r1\"},");
    add("c", "");
    assert_int_equal(mask_of("a"), mask_of("b"));
    assert_int_not_equal(mask_of("a"), mask_of("c"));
}

static void test_masks_in_say_why_not(void **state)
{
    (void)state;
    start();
    add("plain", "");
    add("picky", "\"nodeSelector\":{\"rack\":\"r9\"},");
    add("far",
        "\"affinity\":{\"nodeAffinity\":{\"requiredDuringSchedulingIgnoredDuringExecution\":{"
        "\"nodeSelectorTerms\":[{\"matchExpressions\":[{\"key\":\"rack\",\"operator\":\"NotIn\","
        "\"values\":[\"r1\"]}]}]}}},");
    assert_int_equal(verdict("plain", "n1"), SL_VERDICT_MAY);
    assert_int_equal(verdict("picky", "n1"), SL_VERDICT_SELECTOR);
    assert_int_equal(verdict("far", "n1"), SL_VERDICT_AFFINITY);
    sl_verdict tainted = verdict("plain", "n2");
    assert_true(tainted >= SL_VERDICT_TAINT);
    assert_string_equal(sl_names_taint(w.engine, tainted - SL_VERDICT_TAINT), "gpu=yes:NoSchedule");
    add("tough", "\"tolerations\":[{\"key\":\"gpu\",\"operator\":\"Exists\"}],");
    assert_int_equal(verdict("tough", "n2"), SL_VERDICT_MAY);
}

static void test_masks_in_follow_labels_and_taints_of_nodes(void **state)
{
    (void)state;
    start();
    add("plain", "");
    add("picky", "\"nodeSelector\":{\"zone\":\"z\"},");
    world_settle(&w);
    cluster_put_node(&w, "n1", "b1", "r1", "4", TAINT);
    assert_true(verdict("plain", "n1") >= SL_VERDICT_TAINT);
    assert_true(sl_world_woken(w.engine));
    cluster_put_node(&w, "n1", "b1", "r1", "4", "");
    assert_int_equal(verdict("plain", "n1"), SL_VERDICT_MAY);
    assert_int_equal(verdict("picky", "n1"), SL_VERDICT_SELECTOR);
    world_patch(&w, SL_KIND_NODE, "", "n1", "{\"metadata\":{\"labels\":{\"zone\":\"z\"}}}");
    assert_int_equal(verdict("picky", "n1"), SL_VERDICT_MAY);
    cluster_put_node(&w, "n3", "b1", "r1", "4", "");
    assert_int_equal(verdict("picky", "n3"), SL_VERDICT_SELECTOR);
}

static void taint_node(const char *node, unsigned value)
{
    char more[96];
    (void)snprintf(more, sizeof more,
                   "\"taints\":[{\"key\":\"k\",\"value\":\"v%u\",\"effect\":\"NoSchedule\"}]",
                   value);
    cluster_put_node(&w, node, "b1", "r1", "4", more);
}

static void expect_taint(const char *workload, const char *node, const char *text)
{
    sl_verdict v = verdict(workload, node);
    assert_true(v >= SL_VERDICT_TAINT);
    assert_string_equal(sl_names_taint(w.engine, v - SL_VERDICT_TAINT), text);
}

static void test_masks_in_more_taints_than_can_be_told_apart_keep_pods_off(void **state)
{
    (void)state;
    char node[16];
    start();
    for (unsigned i = 0; i < SL_TAINTS_MAX + 5; i++) {
        (void)snprintf(node, sizeof node, "t%u", i);
        taint_node(node, i);
    }
    add("plain", "");
    add("tough", "\"tolerations\":[{\"key\":\"k\",\"value\":\"v254\"}],");
    expect_taint("plain", "n2", "gpu=yes:NoSchedule");
    expect_taint("plain", "t0", "k=v0:NoSchedule");
    expect_taint("plain", "t253", "(another taint)");
    expect_taint("plain", "t254", "(another taint)");
    expect_taint("tough", "t253", "(another taint)");
    assert_int_equal(verdict("tough", "t254"), SL_VERDICT_MAY);
    taint_node("t254", 7);
    expect_taint("plain", "t254", "k=v7:NoSchedule");
    expect_taint("tough", "t254", "k=v7:NoSchedule");
    assert_int_equal(verdict("plain", "n1"), SL_VERDICT_MAY);
    assert_int_equal(w.engine->world->tolerance_count, 1);
}

static void test_masks_in_taints_that_no_node_has_any_more_are_forgotten(void **state)
{
    (void)state;
    char text[32];
    start();
    add("plain", "");
    for (unsigned i = 0; i < 3 * SL_TAINTS_MAX; i++) {
        taint_node("n1", i);
        (void)snprintf(text, sizeof text, "k=v%u:NoSchedule", i);
        expect_taint("plain", "n1", text);
        expect_taint("plain", "n2", "gpu=yes:NoSchedule");
    }
}

static void test_masks_in_second_node_of_a_host_counts_when_the_first_leaves(void **state)
{
    (void)state;
    start();
    struct sl_json *twin = cluster_new_node("n1", "b1", "r1", "4", TAINT);
    sl_json_set_text(sl_json_get(twin, "metadata"), "name", "twin");
    assert_int_equal(world_put(&w, SL_KIND_NODE, twin, NULL), SL_CODE_OK);
    add("plain", "");
    assert_int_equal(verdict("plain", "n1"), SL_VERDICT_MAY);
    world_delete(&w, SL_KIND_NODE, "", "n1");
    assert_true(verdict("plain", "n1") >= SL_VERDICT_TAINT);
    world_delete(&w, SL_KIND_NODE, "", "twin");
    assert_int_equal(cluster_find_host(w.engine, "n1"), SL_NO_ID);
}

static void test_masks_in_tolerations_that_no_flavor_has_any_more_are_given_back(void **state)
{
    (void)state;
    start();
    add("plain", "");
    for (unsigned i = 0; i < 2 * SL_TOLERANCES_MAX; i++) {
        char spec[160];
        (void)snprintf(spec, sizeof spec,
                       "{\"topologyName\":\"topo\",\"tolerations\":[{\"key\":\"k%u\",\"operator\":"
                       "\"Exists\"}]}",
                       i);
        world_add_flavor(&w, "gpu", spec);
    }
    assert_true(w.engine->world->tolerance_count <= 3);
    world_add_flavor(&w, "gpu",
                     "{\"topologyName\":\"topo\",\"tolerations\":[{\"key\":\"gpu\",\"operator\":"
                     "\"Exists\"}]}");
    assert_int_equal(verdict_in("plain", "gpu", "n2"), SL_VERDICT_MAY);
    assert_true(verdict_in("plain", "tas", "n2") >= SL_VERDICT_TAINT);
}

static void test_masks_in_flavors_tolerate_for_their_pods(void **state)
{
    (void)state;
    start();
    add("before", "");
    world_add_flavor(&w, "gpu",
                     "{\"topologyName\":\"topo\",\"tolerations\":[{\"key\":\"gpu\",\"operator\":"
                     "\"Exists\"}]}");
    add("after", "\"nodeSelector\":{\"rack\":\"r2\"},");
    assert_true(verdict_in("before", "tas", "n2") >= SL_VERDICT_TAINT);
    assert_int_equal(verdict_in("before", "gpu", "n2"), SL_VERDICT_MAY);
    assert_int_equal(verdict_in("after", "gpu", "n2"), SL_VERDICT_MAY);
    assert_true(verdict_in("after", "tas", "n2") >= SL_VERDICT_TAINT);
    assert_int_equal(verdict_in("after", "gpu", "n1"), SL_VERDICT_SELECTOR);
    world_add_flavor(&w, "gpu", "{\"topologyName\":\"topo\"}");
    assert_true(verdict_in("before", "gpu", "n2") >= SL_VERDICT_TAINT);
}

static void test_masks_in_preferred_affinity_counts_where_it_is_asked_for(void **state)
{
    (void)state;
    static const char preferred[] =
        "\"affinity\":{\"nodeAffinity\":{\"preferredDuringSchedulingIgnoredDuringExecution\":[{"
        "\"weight\":7,\"preference\":{\"matchExpressions\":[{\"key\":\"rack\",\"operator\":\"In\","
        "\"values\":[\"r1\"]}]}}]}},";
    start();
    add("a", preferred);
    assert_int_equal(sl_masks_score(mask_of("a"), cluster_find_host(w.engine, "n1")), 0);
    struct sl_engine_settings settings = sl_engine_settings_default();
    settings.policy.prefer_affinity = true;
    world_close(&w);
    world_open_with(&w, NULL, &settings);
    start();
    add("a", preferred);
    assert_int_equal(sl_masks_score(mask_of("a"), cluster_find_host(w.engine, "n1")), 7);
    assert_int_equal(sl_masks_score(mask_of("a"), cluster_find_host(w.engine, "n2")), 0);
}

static void add_preferring(unsigned weight)
{
    char name[16];
    char spec[512];
    (void)snprintf(name, sizeof name, "p%u", weight);
    (void)snprintf(
        spec, sizeof spec,
        "\"nodeSelector\":{\"rack\":\"r1\"},\"affinity\":{\"nodeAffinity\":{"
        "\"preferredDuringSchedulingIgnoredDuringExecution\":[{\"weight\":%u,"
        "\"preference\":{\"matchExpressions\":[{\"key\":\"rack\",\"operator\":\"Exists\"}]"
        "}}]}},",
        weight);
    add(name, spec);
}

/* More have preferences than can be told apart: those of the last do not count, its selector does. */
static void test_masks_in_too_many_preferences_leave_verdicts_alone(void **state)
{
    (void)state;
    struct sl_engine_settings settings = sl_engine_settings_default();
    settings.policy.prefer_affinity = true;
    world_close(&w);
    world_open_with(&w, NULL, &settings);
    start();
    cluster_put_node(&w, "n2", "b1", "r2", "4", "");
    for (unsigned i = 1; i <= SL_SCORED_MASKS_MAX; i++) {
        add_preferring(i);
    }
    add_preferring(99);
    assert_int_equal(sl_masks_score(mask_of("p64"), cluster_find_host(w.engine, "n1")), 64);
    assert_int_equal(sl_masks_score(mask_of("p99"), cluster_find_host(w.engine, "n1")), 0);
    assert_int_equal(verdict("p99", "n1"), SL_VERDICT_MAY);
    assert_int_equal(verdict("p99", "n2"), SL_VERDICT_SELECTOR);
    sl_mask_id gone = mask_of("p1");
    world_delete(&w, SL_KIND_WORKLOAD, "team", "p1");
    assert_false(sl_masks_prefers(gone)); /* there is room again */
}

/* Its number may be given to another site next, one of several nodes among them. */
static void test_masks_in_site_given_back_keeps_no_verdict(void **state)
{
    (void)state;
    start();
    add("a", "");
    cluster_put_node(&w, "gpu", "b1", "r1", "4", TAINT);
    sl_site_id site = cluster_find_host(w.engine, "gpu");
    assert_int_equal(sl_masks_verdict(mask_of("a"), site), SL_VERDICT_TAINT);
    world_delete(&w, SL_KIND_NODE, "", "gpu");
    assert_int_equal(sl_masks_verdict(mask_of("a"), site), SL_VERDICT_MAY);
}

static void test_masks_in_are_given_back_with_the_last_who_asks(void **state)
{
    (void)state;
    start();
    add("keeper", "");
    for (int i = 0; i < 3 * (int)SL_MASKS_MAX; i++) { /* more than can be held at once */
        char spec[64];
        (void)snprintf(spec, sizeof spec, "\"nodeSelector\":{\"rack\":\"x%d\"},", i);
        add("passer", spec);
        assert_int_not_equal(mask_of("passer"), SL_NO_ID);
        world_delete(&w, SL_KIND_WORKLOAD, "team", "passer");
    }
    assert_int_equal(verdict("keeper", "n1"), SL_VERDICT_MAY);
}

static void test_masks_in_too_many_constraints_keep_the_workload_out(void **state)
{
    (void)state;
    char name[32];
    char spec[64];
    enum sl_code code = SL_CODE_OK;
    start();
    for (unsigned i = 0; i <= SL_MASKS_MAX && code == SL_CODE_OK; i++) {
        (void)snprintf(name, sizeof name, "w%u", i);
        (void)snprintf(spec, sizeof spec, "\"nodeSelector\":{\"rack\":\"x%u\"},", i);
        struct sl_json *o = world_new_workload("team", name, "lq", 1, "100");
        struct sl_json *set = sl_json_path(o, "spec.podSets.0");
        sl_json_set_text(sl_json_path_make(set, "topologyRequest"), "required", "rack");
        sl_json_set_text(sl_json_path_make(set, "template.spec.nodeSelector"), "rack", name);
        struct sl_error e = {0};
        code = world_put(&w, SL_KIND_WORKLOAD, o, &e);
        if (code != SL_CODE_OK) {
            assert_string_equal(e.causes[0].field, "spec.podSets");
            assert_true(i >= SL_MASKS_MAX - 1);
        }
    }
    assert_int_equal(code, SL_CODE_INVALID);
    world_check(&w);
}

static void test_masks_in_ready_checks_refine_where_pods_may_run(void **state)
{
    (void)state;
    start();
    add("a", "");
    world_add_check(&w, "prov");
    world_add_cluster_queue(
        &w, "cq", "tas", "10",
        ",\"admissionChecksStrategy\":{\"admissionChecks\":[{\"name\":\"prov\"}]}");
    world_patch(&w, SL_KIND_WORKLOAD, "team", "a",
                "{\"status\":{\"admissionChecks\":[{\"name\":\"prov\",\"state\":\"Pending\","
                "\"podSetUpdates\":[{\"name\":\"main\",\"nodeSelector\":{\"new\":\"1\"}}]}]}}");
    assert_int_equal(verdict("a", "n1"), SL_VERDICT_MAY);
    world_patch(&w, SL_KIND_WORKLOAD, "team", "a",
                "{\"status\":{\"admissionChecks\":[{\"name\":\"prov\",\"state\":\"Ready\","
                "\"podSetUpdates\":[{\"name\":\"main\",\"nodeSelector\":{\"new\":\"1\"},"
                "\"tolerations\":[{\"key\":\"gpu\",\"operator\":\"Exists\"}]},{\"name\":\"other\","
                "\"nodeSelector\":{\"rack\":\"r9\"}}]}]}}");
    assert_int_equal(verdict("a", "n1"), SL_VERDICT_SELECTOR);
    assert_int_equal(verdict("a", "n2"), SL_VERDICT_SELECTOR); /* its taint is tolerated now */
    world_patch(&w, SL_KIND_NODE, "", "n2", "{\"metadata\":{\"labels\":{\"new\":\"1\"}}}");
    assert_int_equal(verdict("a", "n2"), SL_VERDICT_MAY);
    world_patch(&w, SL_KIND_WORKLOAD, "team", "a", "{\"status\":{\"admissionChecks\":null}}");
    assert_int_equal(verdict("a", "n1"), SL_VERDICT_MAY);
}

static void refine(const char *name, const char *value)
{
    char text[320];
    (void)snprintf(text, sizeof text,
                   "{\"status\":{\"admissionChecks\":[{\"name\":\"prov\",\"state\":\"Ready\","
                   "\"podSetUpdates\":[{\"name\":\"main\",\"nodeSelector\":{\"new\":\"%s\"}}]}]}}",
                   value);
    world_patch(&w, SL_KIND_WORKLOAD, "team", name, text);
}

/* One mask is free for what a check has added first, none for what it adds instead. */
static void test_masks_in_refined_without_a_mask_to_spare_keeps_its_own(void **state)
{
    (void)state;
    char name[32];
    char spec[64];
    start();
    for (unsigned i = 0; i + 1 < SL_MASKS_MAX; i++) {
        (void)snprintf(name, sizeof name, "w%u", i);
        (void)snprintf(spec, sizeof spec, "\"nodeSelector\":{\"x\":\"%u\"},", i);
        add(name, spec);
    }
    refine("w0", "1");
    sl_mask_id mask = mask_of("w0");
    assert_int_equal(mask, SL_MASKS_MAX - 1);
    refine("w0", "2");
    assert_int_equal(mask_of("w0"), mask);
    assert_true(w.engine->world->masks[mask].used);
    world_check(&w);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test_setup_teardown(test_masks_in_equal_constraints_share_a_mask, setup,
                                        teardown),
        cmocka_unit_test_setup_teardown(test_masks_in_say_why_not, setup, teardown),
        cmocka_unit_test_setup_teardown(test_masks_in_follow_labels_and_taints_of_nodes, setup,
                                        teardown),
        cmocka_unit_test_setup_teardown(test_masks_in_flavors_tolerate_for_their_pods, setup,
                                        teardown),
        cmocka_unit_test_setup_teardown(
            test_masks_in_more_taints_than_can_be_told_apart_keep_pods_off, setup, teardown),
        cmocka_unit_test_setup_teardown(
            test_masks_in_taints_that_no_node_has_any_more_are_forgotten, setup, teardown),
        cmocka_unit_test_setup_teardown(
            test_masks_in_second_node_of_a_host_counts_when_the_first_leaves, setup, teardown),
        cmocka_unit_test_setup_teardown(
            test_masks_in_tolerations_that_no_flavor_has_any_more_are_given_back, setup, teardown),
        cmocka_unit_test_setup_teardown(
            test_masks_in_preferred_affinity_counts_where_it_is_asked_for, setup, teardown),
        cmocka_unit_test_setup_teardown(test_masks_in_too_many_preferences_leave_verdicts_alone,
                                        setup, teardown),
        cmocka_unit_test_setup_teardown(test_masks_in_site_given_back_keeps_no_verdict, setup,
                                        teardown),
        cmocka_unit_test_setup_teardown(test_masks_in_are_given_back_with_the_last_who_asks, setup,
                                        teardown),
        cmocka_unit_test_setup_teardown(test_masks_in_too_many_constraints_keep_the_workload_out,
                                        setup, teardown),
        cmocka_unit_test_setup_teardown(test_masks_in_refined_without_a_mask_to_spare_keeps_its_own,
                                        setup, teardown),
        cmocka_unit_test_setup_teardown(test_masks_in_ready_checks_refine_where_pods_may_run, setup,
                                        teardown),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
