/* SPDX-License-Identifier: Apache-2.0
 * SPDX-FileCopyrightText: The Sluice authors */

/* Settings, rules, preemption policies, weights and admission checks on their way to the core. */
#include "engine/change.h"
#include "engine/rules.h"
#include "policy/settings.h"
#include "policy/shares.h"
#include "world.h"

static struct world w;

static int setup(void **state)
{
    (void)state;
    world_open(&w, NULL);
    return 0;
}

static int teardown(void **state)
{
    (void)state;
    world_close(&w);
    return 0;
}

static sl_node_id node_of(const char *queue)
{
    return sl_node_find(w.engine, true, queue);
}

/* --- settings --------------------------------------------------------------------------------- */

static void test_rules_settings_reach_the_policy(void **state)
{
    (void)state;
    struct sl_engine_settings s = sl_engine_settings_default();
    s.policy.fair_sharing = true;
    s.policy.partial_admission = false;
    s.policy.reclaimable_pods = false;
    s.policy.share_rule_count = 1;
    s.policy.share_rules[0] = SL_SHARE_INITIAL;
    world_close(&w);
    world_open_with(&w, NULL, &s);
    assert_true(sl_settings.fair_sharing);
    assert_false(sl_settings.partial_admission);
    assert_false(sl_settings.reclaimable_pods);
    assert_true(sl_settings.equivalence_hashing);
    assert_int_equal(sl_settings.share_rule_count, 1);
    assert_int_equal(sl_settings.share_rules[0], SL_SHARE_INITIAL);
    world_close(&w);
    world_open(&w, NULL);
    assert_false(sl_settings.fair_sharing);
    assert_true(sl_settings.partial_admission);
}

static void test_rules_settings_that_are_none_are_refused(void **state)
{
    (void)state;
    struct sl_change c = {.kind = SL_CHANGE_SETTINGS, .word = {0, 3, 0, 0}};
    assert_int_equal(sl_change_perform(&c), SL_REFUSED_BAD_ARGUMENT);
    c = (struct sl_change){.kind = SL_CHANGE_SETTINGS, .word = {1u << 31, 1, 0, 0}};
    assert_int_equal(sl_change_perform(&c), SL_REFUSED_BAD_ARGUMENT);
    c = (struct sl_change){.kind = SL_CHANGE_SETTINGS, .word = {0, 1, 9, 0}};
    assert_int_equal(sl_change_perform(&c), SL_REFUSED_BAD_ARGUMENT);
}

/* --- rules ------------------------------------------------------------------------------------ */

static void test_rules_queue_that_says_nothing_has_the_defaults(void **state)
{
    (void)state;
    world_add_basics(&w);
    struct sl_rules r = sl_offers_rules(node_of("cq"));
    struct sl_preempt_policy p = sl_preempt_policy_of(node_of("cq"));
    assert_int_equal(r.when_can_borrow, SL_MAY_STOP_SEARCH);
    assert_int_equal(r.when_can_preempt, SL_TRY_NEXT_FLAVOR);
    assert_int_equal(r.preference, SL_BORROWING_OVER_PREEMPTION);
    assert_int_equal(p.within, SL_WITHIN_NEVER);
    assert_int_equal(p.reclaim, SL_RECLAIM_NEVER);
    assert_false(p.borrow_within);
    assert_true(sl_shares_weight(node_of("cq")) == SL_WEIGHT_ONE);
}

static void test_rules_of_the_spec_reach_the_core_and_go_with_it(void **state)
{
    (void)state;
    world_add_basics(&w);
    assert_int_equal(
        world_patch(
            &w, SL_KIND_CLUSTER_QUEUE, "", "cq",
            "{\"spec\":{\"cohortName\":\"c\",\"flavorFungibility\":{\"whenCanBorrow\":"
            "\"TryNextFlavor\",\"whenCanPreempt\":\"TryNextFlavor\",\"preference\":"
            "\"PreemptionOverBorrowing\"},\"preemption\":{\"withinClusterQueue\":"
            "\"LowerOrNewerEqualPriority\",\"reclaimWithinCohort\":\"Any\",\"borrowWithinCohort\":{"
            "\"policy\":\"LowerPriority\",\"maxPriorityThreshold\":-7}},\"fairSharing\":{"
            "\"weight\":\"2500m\"}}}"),
        SL_CODE_OK);
    struct sl_rules r = sl_offers_rules(node_of("cq"));
    struct sl_preempt_policy p = sl_preempt_policy_of(node_of("cq"));
    assert_int_equal(r.when_can_borrow, SL_TRY_NEXT_FLAVOR);
    assert_int_equal(r.preference, SL_PREEMPTION_OVER_BORROWING);
    assert_int_equal(p.within, SL_WITHIN_LOWER_OR_NEWER_EQUAL);
    assert_int_equal(p.reclaim, SL_RECLAIM_ANY);
    assert_true(p.borrow_within);
    assert_true(p.has_threshold);
    assert_int_equal(p.threshold, -7);
    assert_true(sl_shares_weight(node_of("cq")) == 2500000000);

    sl_node_id node = node_of("cq");
    world_delete(&w, SL_KIND_CLUSTER_QUEUE, "", "cq");
    p = sl_preempt_policy_of(node);
    assert_int_equal(p.reclaim, SL_RECLAIM_NEVER);
    assert_true(sl_shares_weight(node) == SL_WEIGHT_ONE);
}

static void test_rules_lower_priority_and_stop_at_preemption_are_read(void **state)
{
    (void)state;
    world_add_cluster_queue(
        &w, "cq", "spot", "1",
        ",\"flavorFungibility\":{\"whenCanPreempt\":\"MayStopSearch\"},\"preemption\":{"
        "\"withinClusterQueue\":\"LowerPriority\",\"reclaimWithinCohort\":\"LowerPriority\"}");
    struct sl_preempt_policy p = sl_preempt_policy_of(node_of("cq"));
    assert_int_equal(sl_offers_rules(node_of("cq")).when_can_preempt, SL_MAY_STOP_SEARCH);
    assert_int_equal(p.within, SL_WITHIN_LOWER_PRIORITY);
    assert_int_equal(p.reclaim, SL_RECLAIM_LOWER_PRIORITY);
    assert_false(p.has_threshold);
}

static void test_rules_cohort_has_a_weight(void **state)
{
    (void)state;
    world_add(&w, SL_KIND_COHORT,
              "{\"metadata\":{\"name\":\"c\"},\"spec\":{\"fairSharing\":{\"weight\":\"0\"}}}");
    sl_node_id node = sl_node_find(w.engine, false, "c");
    assert_true(sl_shares_weight(node) == 0);
    world_delete(&w, SL_KIND_COHORT, "", "c");
    assert_true(sl_shares_weight(node) == SL_WEIGHT_ONE);
}

static void test_rules_negative_weight_makes_the_queue_inactive(void **state)
{
    (void)state;
    struct sl_error e = {0};
    world_add_flavor(&w, "spot", "{}");
    struct sl_json *o = world_parse(
        "{\"metadata\":{\"name\":\"cq\"},\"spec\":{\"fairSharing\":{\"weight\":\"-1\"}}}");
    assert_int_equal(world_put(&w, SL_KIND_CLUSTER_QUEUE, o, &e), SL_CODE_INVALID);
    assert_string_equal(e.causes[0].field, "spec.fairSharing.weight");
}

static void test_rules_nine_checks_are_too_many(void **state)
{
    (void)state;
    struct sl_error e = {0};
    struct sl_buf text = {0};
    sl_buf_text(&text, "{\"metadata\":{\"name\":\"cq\"},\"spec\":{\"admissionChecksStrategy\":{"
                       "\"admissionChecks\":[");
    for (int i = 0; i < 9; i++) {
        sl_buf_print(&text, "%s{\"name\":\"c%d\"}", i == 0 ? "" : ",", i);
    }
    sl_buf_text(&text, "]}}}");
    assert_int_equal(world_put(&w, SL_KIND_CLUSTER_QUEUE, world_parse(text.data), &e),
                     SL_CODE_INVALID);
    assert_string_equal(e.causes[0].field, "spec.admissionChecksStrategy.admissionChecks");
    sl_buf_fini(&text);
}

/* --- checks by flavor ------------------------------------------------------------------------- */

/* "spot" (1 cpu) asks for "paid"; "big" (10 cpu) for nothing. */
static void add_two_flavors(void)
{
    world_add_flavor(&w, "spot", "{}");
    world_add_flavor(&w, "big", "{}");
    world_add_check(&w, "paid");
    world_add(&w, SL_KIND_CLUSTER_QUEUE,
              "{\"metadata\":{\"name\":\"cq\"},\"spec\":{\"namespaceSelector\":{},"
              "\"resourceGroups\":[{\"coveredResources\":[\"cpu\"],\"flavors\":[{\"name\":\"spot\","
              "\"resources\":[{\"name\":\"cpu\",\"nominalQuota\":\"1\"}]},{\"name\":\"big\","
              "\"resources\":[{\"name\":\"cpu\",\"nominalQuota\":\"10\"}]}]}],"
              "\"admissionChecksStrategy\":{\"admissionChecks\":[{\"name\":\"paid\",\"onFlavors\":["
              "\"spot\"]}]}}}");
    world_add_local_queue(&w, "team", "lq", "cq");
    sl_engine_synced(w.engine, w.now_ms);
}

static void test_rules_check_of_the_assigned_flavor_is_waited_for(void **state)
{
    (void)state;
    add_two_flavors();
    world_add_workload(&w, "a", "lq", 1, "1");
    world_settle(&w);
    world_expect(&w, "a", "QuotaReserved", "True", "QuotaReserved");
    world_expect(&w, "a", "Admitted", "False", "UnsatisfiedAdmissionChecks");
    assert_string_equal(
        sl_json_path_text(world_workload(&w, "a"), "status.admissionChecks.0.name", ""), "paid");
}

static void test_rules_check_of_another_flavor_is_not_asked_for(void **state)
{
    (void)state;
    add_two_flavors();
    world_add_workload(&w, "a", "lq", 1, "5");
    world_settle(&w);
    world_expect(&w, "a", "Admitted", "True", "Admitted");
    assert_null(sl_json_path(world_workload(&w, "a"), "status.admissionChecks.0"));
}

static void test_rules_check_is_not_shown_before_the_flavor_is_known(void **state)
{
    (void)state;
    add_two_flavors();
    world_add_workload(&w, "a", "lq", 1, "50");
    world_settle(&w);
    world_expect(&w, "a", "QuotaReserved", "False", "ExceedsMaxQuota");
    assert_null(sl_json_path(world_workload(&w, "a"), "status.admissionChecks.0"));
}

static void test_rules_check_of_a_flavor_comes_and_goes_with_the_spec(void **state)
{
    (void)state;
    add_two_flavors();
    world_add_workload(&w, "a", "lq", 1, "1");
    world_settle(&w);
    world_expect(&w, "a", "Admitted", "False", "UnsatisfiedAdmissionChecks");
    (void)world_patch(&w, SL_KIND_CLUSTER_QUEUE, "", "cq",
                      "{\"spec\":{\"admissionChecksStrategy\":{\"admissionChecks\":[{\"name\":"
                      "\"paid\",\"onFlavors\":[\"big\"]}]}}}");
    world_settle(&w);
    world_expect(&w, "a", "Admitted", "True", "Admitted");
}

/* --- reasons ---------------------------------------------------------------------------------- */

static void test_rules_without_granular_reasons_kueues_old_ones_are_said(void **state)
{
    (void)state;
    struct sl_engine_settings s = sl_engine_settings_default();
    s.granular_reasons = false;
    world_close(&w);
    world_open_with(&w, NULL, &s);
    world_add_basics(&w);
    world_add_workload(&w, "big", "lq", 1, "50");
    world_add_workload(&w, "lost", "nowhere", 1, "1");
    world_settle(&w);
    world_expect(&w, "big", "QuotaReserved", "False", "Pending");
    world_expect(&w, "lost", "QuotaReserved", "False", "Inadmissible");
    assert_null(sl_condition_find(world_workload(&w, "big"), "Admitted"));
    struct sl_json *list = sl_engine_pending(w.engine, "cq", NULL);
    assert_string_equal(sl_json_path_text(list, "0.reason", ""), "Pending");
    sl_json_free(list);
}

static void test_rules_workload_with_claims_is_inadmissible_as_kueue_says(void **state)
{
    (void)state;
    static const char sentence[] =
        "Workload uses DRA resources but the KueueDRAIntegration feature gate is not enabled";
    struct sl_engine_settings s = sl_engine_settings_default();
    s.granular_reasons = false;
    world_close(&w);
    world_open_with(&w, NULL, &s);
    world_add_basics(&w);
    struct sl_json *o = world_new_workload("team", "a", "lq", 1, "1");
    sl_json_set(sl_json_path(sl_json_at(sl_json_path(o, "spec.podSets"), 0), "template.spec"),
                "resourceClaims",
                world_parse("[{\"name\":\"gpu\",\"resourceClaimTemplateName\":\"gpus\"}]"));
    (void)world_put(&w, SL_KIND_WORKLOAD, o, NULL);
    world_add_workload(&w, "b", "lq", 1, "1");
    world_settle(&w);
    world_expect(&w, "a", "QuotaReserved", "False", "Inadmissible");
    assert_string_equal(
        sl_json_path_text(sl_condition_find(world_workload(&w, "a"), "QuotaReserved"), "message",
                          ""),
        sentence);
    assert_null(sl_json_path(world_workload(&w, "a"), "status.resourceRequests"));
    world_expect(&w, "b", "Admitted", "True", "Admitted");
}

static void test_rules_refused_workload_shows_what_it_asked_for(void **state)
{
    (void)state;
    world_add_basics(&w);
    world_add_workload(&w, "a", "lq", 3, "1500m");
    world_add_workload(&w, "b", "lq", 3, "2500m");
    world_settle(&w);
    world_expect(&w, "b", "QuotaReserved", "False", "WaitingForQuota");
    world_expect(&w, "b", "Admitted", "False", "NoReservation");
    assert_string_equal(
        sl_json_path_text(world_workload(&w, "b"), "status.resourceRequests.0.resources.cpu", ""),
        "7500m");
    world_delete(&w, SL_KIND_WORKLOAD, "team", "a");
    world_settle(&w);
    world_expect(&w, "b", "Admitted", "True", "Admitted");
    assert_null(sl_json_path(world_workload(&w, "b"), "status.resourceRequests"));
}

#define TEST(name) cmocka_unit_test_setup_teardown(name, setup, teardown)

int main(void)
{
    const struct CMUnitTest tests[] = {
        TEST(test_rules_settings_reach_the_policy),
        TEST(test_rules_settings_that_are_none_are_refused),
        TEST(test_rules_queue_that_says_nothing_has_the_defaults),
        TEST(test_rules_of_the_spec_reach_the_core_and_go_with_it),
        TEST(test_rules_lower_priority_and_stop_at_preemption_are_read),
        TEST(test_rules_cohort_has_a_weight),
        TEST(test_rules_negative_weight_makes_the_queue_inactive),
        TEST(test_rules_nine_checks_are_too_many),
        TEST(test_rules_check_of_the_assigned_flavor_is_waited_for),
        TEST(test_rules_check_of_another_flavor_is_not_asked_for),
        TEST(test_rules_check_is_not_shown_before_the_flavor_is_known),
        TEST(test_rules_check_of_a_flavor_comes_and_goes_with_the_spec),
        TEST(test_rules_without_granular_reasons_kueues_old_ones_are_said),
        TEST(test_rules_workload_with_claims_is_inadmissible_as_kueue_says),
        TEST(test_rules_refused_workload_shows_what_it_asked_for),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
