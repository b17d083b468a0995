/* SPDX-License-Identifier: Apache-2.0
 * SPDX-FileCopyrightText: The Sluice authors */

/* Settings, rules, preemption policies, weights and admission checks on their way to the core. */
#include "engine/calls/call.h"
#include "engine/records/rules.h"
#include "policy/common/settings.h"
#include "policy/fair/shares.h"
#include "scene.h"

static sl_qnode_id node_of(const char *queue)
{
    return sl_qnode_find(w.engine, true, queue);
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
    struct sl_call c = {.kind = SL_CALL_settings, .settings.settings = sl_settings_default()};
    c.settings.settings.share_rule_count = 3;
    assert_int_equal(sl_call_carry_out(&c).status, SL_REFUSED_BAD_ARGUMENT);
    c.settings.settings.share_rule_count = 0;
    assert_int_equal(sl_call_carry_out(&c).status, SL_REFUSED_BAD_ARGUMENT);
    c.settings.settings.share_rule_count = 1;
    c.settings.settings.share_rules[0] = (enum sl_share_rule)9;
    assert_int_equal(sl_call_carry_out(&c).status, SL_REFUSED_BAD_ARGUMENT);
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

    sl_qnode_id node = node_of("cq");
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
    sl_qnode_id node = sl_qnode_find(w.engine, false, "c");
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

/* --- priority boost --------------------------------------------------------------------------- */

static void open_with_boost(bool on)
{
    struct sl_engine_settings s = sl_engine_settings_default();
    s.priority_boost = on;
    world_close(&w);
    world_open_with(&w, NULL, &s);
    world_add_flavor(&w, "spot", "{}");
    world_add_cluster_queue(&w, "cq", "spot", "1",
                            ",\"preemption\":{\"withinClusterQueue\":\"LowerPriority\"}");
    world_add_local_queue(&w, "team", "lq", "cq");
    sl_engine_synced(w.engine, w.now_ms);
}

static void add_with_priority(const char *name, int64_t priority, const char *boost)
{
    struct sl_json *o = world_new_workload("team", name, "lq", 1, "1");
    sl_json_set_int(sl_json_get(o, "spec"), "priority", priority);
    if (boost != NULL) {
        struct sl_json *annotations = sl_json_path_make(o, "metadata.annotations");
        sl_json_set_text(annotations, "kueue.x-k8s.io/priority-boost", boost);
    }
    (void)world_put(&w, SL_KIND_WORKLOAD, o, NULL);
}

static void boost(const char *name, const char *by)
{
    char patch[200];
    (void)snprintf(patch, sizeof patch,
                   "{\"metadata\":{\"annotations\":{\"kueue.x-k8s.io/priority-boost\":\"%s\"}}}",
                   by);
    (void)world_patch(&w, SL_KIND_WORKLOAD, "team", name, patch);
    world_settle(&w);
}

static void test_rules_boost_counts_on_top_of_the_priority(void **state)
{
    (void)state;
    open_with_boost(true);
    add_with_priority("mid", 10, NULL);
    world_settle(&w);
    add_with_priority("low", 0, "+9");
    world_settle(&w);
    assert_false(sl_condition_true(world_workload(&w, "mid"), "Evicted"));
    boost("low", "much"); /* no number: as if it were not there */
    assert_false(sl_condition_true(world_workload(&w, "mid"), "Evicted"));
    boost("low", "2147483648"); /* too large a one, too */
    assert_false(sl_condition_true(world_workload(&w, "mid"), "Evicted"));
    boost("low", "11");
    world_expect(&w, "mid", "Evicted", "True", "Preempted");
}

static void test_rules_boost_of_an_admitted_workload_protects_it(void **state)
{
    (void)state;
    open_with_boost(true);
    add_with_priority("low", 0, "11");
    world_settle(&w);
    add_with_priority("mid", 10, NULL);
    world_settle(&w);
    assert_false(sl_condition_true(world_workload(&w, "low"), "Evicted"));
    boost("low", "-5");
    world_expect(&w, "low", "Evicted", "True", "Preempted");
}

/* So does a class of priorities that is lowered. */
static void test_rules_holder_that_falls_in_priority_is_preempted(void **state)
{
    (void)state;
    open_with_boost(false);
    add_with_priority("low", 20, NULL);
    world_settle(&w);
    add_with_priority("mid", 10, NULL);
    world_settle(&w);
    assert_false(sl_condition_true(world_workload(&w, "low"), "Evicted"));
    (void)world_patch(&w, SL_KIND_WORKLOAD, "team", "low", "{\"spec\":{\"priority\":5}}");
    world_settle(&w);
    world_expect(&w, "low", "Evicted", "True", "Preempted");
}

static void test_rules_boost_without_its_gate_is_nothing(void **state)
{
    (void)state;
    open_with_boost(false);
    add_with_priority("mid", 10, NULL);
    world_settle(&w);
    add_with_priority("low", 0, "100");
    world_settle(&w);
    assert_false(sl_condition_true(world_workload(&w, "mid"), "Evicted"));
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
    struct sl_json *list = world_pending(&w, "cq", NULL);
    assert_string_equal(sl_json_path_text(list, "0.reason", ""), "Pending");
    sl_json_free(list);
}

static void test_rules_workload_with_claims_is_inadmissible_as_kueue_says(void **state)
{
    (void)state;
    static const char sentence[] =
        "Workload uses DRA resources but the KueueDRAIntegration feature gate is not enabled";
    struct sl_engine_settings s = sl_engine_settings_default();
    s.granular_reasons = s.devices = false;
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
        TEST(test_rules_boost_counts_on_top_of_the_priority),
        TEST(test_rules_boost_of_an_admitted_workload_protects_it),
        TEST(test_rules_holder_that_falls_in_priority_is_preempted),
        TEST(test_rules_boost_without_its_gate_is_nothing),
        TEST(test_rules_without_granular_reasons_kueues_old_ones_are_said),
        TEST(test_rules_workload_with_claims_is_inadmissible_as_kueue_says),
        TEST(test_rules_refused_workload_shows_what_it_asked_for),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
