/* SPDX-License-Identifier: Apache-2.0
 * SPDX-FileCopyrightText: The Sluice authors */

/* Configuration v1beta1 means what Kueue makes of it. */
#include "config_world.h"

#define OLD "apiVersion: config.kueue.x-k8s.io/v1beta1\nkind: Configuration\n"

static void test_config_old_what_may_be_off_is_off(void **state)
{
    (void)state;
    static const char *const files[] = {
        OLD,
        OLD "waitForPodsReady: {timeout: 7m, blockAdmission: true}\nfairSharing: "
            "{preemptionStrategies: "
            "[LessThanInitialShare]}\n",
        OLD "waitForPodsReady: {enable: false}\nfairSharing: {enable: false}\n"};
    for (size_t i = 0; i < sizeof files / sizeof files[0]; i++) {
        struct sl_config *c = load(files[i]);
        assert_none(c->errors);
        assert_none(c->warnings);
        assert_false(c->settings.wait_for_pods_ready);
        assert_false(c->settings.policy.block_until_ready);
        assert_false(c->settings.policy.fair_sharing);
        sl_config_free(c);
    }
}

static void test_config_old_what_is_on_has_the_defaults_of_its_version(void **state)
{
    (void)state;
    struct sl_config *c =
        load(OLD "waitForPodsReady: {enable: true}\nfairSharing: {enable: true}\n");
    assert_none(c->errors);
    assert_true(c->settings.wait_for_pods_ready);
    assert_int_equal(c->settings.ready_ms_max, 5 * 60 * 1000);
    assert_int_equal(c->settings.recovery_ms_max, 5 * 60 * 1000);
    assert_true(c->settings.policy.block_until_ready);
    assert_true(c->settings.policy.fair_sharing);
    assert_int_equal(c->settings.policy.share_rule_count, 2);
    assert_int_equal(c->settings.policy.share_rules[0], SL_SHARE_FINAL);
    assert_int_equal(c->settings.policy.share_rules[1], SL_SHARE_INITIAL);
    sl_config_free(c);
}

static void test_config_old_what_it_says_counts(void **state)
{
    (void)state;
    struct sl_config *c =
        load(OLD "waitForPodsReady: {enable: true, timeout: 7m, recoveryTimeout: 1m, "
                 "blockAdmission: false}\n"
                 "fairSharing: {enable: true, preemptionStrategies: [LessThanInitialShare]}\n"
                 "manageJobsWithoutQueueName: true\nintegrations: {frameworks: [batch/job]}\n");
    assert_none(c->errors);
    assert_int_equal(c->settings.ready_ms_max, 7 * 60 * 1000);
    assert_int_equal(c->settings.recovery_ms_max, 60 * 1000);
    assert_false(c->settings.policy.block_until_ready);
    assert_int_equal(c->settings.policy.share_rule_count, 1);
    assert_int_equal(c->settings.policy.share_rules[0], SL_SHARE_INITIAL);
    assert_true(c->jobs.manage_all);
    sl_config_free(c);
}

static void test_config_old_without_effect_is_warned_about(void **state)
{
    (void)state;
    struct sl_config *c =
        load(OLD "queueVisibility: {updateIntervalSeconds: 5, clusterQueues: {maxCount: 10}}\n"
                 "integrations: {podOptions: {namespaceSelector: {matchLabels: {a: b}}}}\n");
    assert_none(c->errors);
    assert_items(
        c->warnings,
        "queueVisibility.updateIntervalSeconds: the Visibility API says which workloads wait\n");
    assert_items(c->warnings, "queueVisibility.clusterQueues.maxCount: the Visibility API");
    assert_items(
        c->warnings,
        "integrations.podOptions.namespaceSelector: Kueue takes managedJobsNamespaceSelector");
    sl_config_free(c);
    c = load(OLD "queueVisibility: {clusterQueues: {maxCount: 0}}\n");
    assert_none(c->warnings);
    sl_config_free(c);
}

static void test_config_old_complaints_have_its_paths(void **state)
{
    (void)state;
    struct sl_config *c =
        load(OLD "waitForPodsReady: {enable: 5}\nqueueVisibility: {clusterQueues: {maxCount: -1}}\n"
                 "fairSharing: {enable: true, preemptionStrategies: [Never]}\nvisibilityServer: "
                 "{bindPort: 5}\n"
                 "resources: {quotaCheckStrategy: BlockUndeclared}\n"
                 "metrics: {customLabels: [{name: a, sourceKind: Cohort, trackedValues: [b]}]}\n");
    assert_items(c->errors, "waitForPodsReady.enable: ");
    assert_items(c->errors, "queueVisibility.clusterQueues.maxCount: ");
    assert_items(c->errors, "fairSharing.preemptionStrategies[0]: ");
    assert_items(c->errors, "visibilityServer: unknown field: only v1beta2 has it\n");
    assert_items(c->errors, "resources.quotaCheckStrategy: unknown field: only v1beta2 has it\n");
    assert_items(c->errors,
                 "metrics.customLabels[0].sourceKind: unknown field: only v1beta2 has it\n");
    assert_items(c->errors,
                 "metrics.customLabels[0].trackedValues: unknown field: only v1beta2 has it\n");
    sl_config_free(c);
    c = load(OLD "fairSharing: {enable: true, preemptionStrategies: [LessThanInitialShare, "
                 "LessThanOrEqualToFinalShare]}\n");
    assert_items(c->errors, "fairSharing.preemptionStrategies: must be one of ");
    sl_config_free(c);
}

static void test_config_new_has_no_fields_of_the_old(void **state)
{
    (void)state;
    struct sl_config *c =
        load_body("waitForPodsReady: {enable: true}\nqueueVisibility: {updateIntervalSeconds: 5}\n"
                  "integrations: {podOptions: {}}\nfairSharing: {enable: true}\n");
    assert_items(c->errors, "waitForPodsReady.enable: unknown field: only v1beta1 has it\n");
    assert_items(c->errors, "queueVisibility: unknown field: only v1beta1 has it\n");
    assert_items(c->errors, "integrations.podOptions: unknown field: only v1beta1 has it\n");
    assert_items(c->errors, "fairSharing.enable: unknown field: only v1beta1 has it\n");
    assert_items(c->errors, "fairSharing.preemptionStrategies: required\n");
    sl_config_free(c);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_config_old_what_may_be_off_is_off),
        cmocka_unit_test(test_config_old_what_is_on_has_the_defaults_of_its_version),
        cmocka_unit_test(test_config_old_what_it_says_counts),
        cmocka_unit_test(test_config_old_without_effect_is_warned_about),
        cmocka_unit_test(test_config_old_complaints_have_its_paths),
        cmocka_unit_test(test_config_new_has_no_fields_of_the_old),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
