/* SPDX-License-Identifier: Apache-2.0
 * SPDX-FileCopyrightText: The Sluice authors */

/* Kueue's configuration file: every field and gate, every complaint, and what becomes of it. */
#include "api/objects/quantity.h"
#include "t.h"
#include "config_world.h"
#include "server/curves.h"

static void assert_policy_equal(const struct sl_settings *a, const struct sl_settings *b)
{
#define SAME(member) assert_int_equal(a->member, b->member)
    SAME(fair_sharing);
    SAME(share_rule_count);
    SAME(share_rules[0]);
    SAME(share_rules[1]);
    SAME(admission_fair_sharing);
    SAME(block_until_ready);
    SAME(requeue_at_eviction);
    SAME(ignore_undeclared);
    SAME(partial_admission);
    SAME(flavor_fungibility);
    SAME(priority_sorting_within_cohort);
    SAME(preempt_within_nominal);
    SAME(prioritize_non_borrowing);
    SAME(equivalence_hashing);
    SAME(preserve_scan_progress);
    SAME(recompute_on_overlap);
    SAME(reclaimable_pods);
}

static void assert_facts(const struct sl_config *c, const char *const lines[])
{
    struct sl_buf text = {0};
    sl_config_print(c, &text);
    for (; *lines != NULL; lines++) {
        assert_has(text.data, *lines);
    }
    sl_buf_fini(&text);
}

static void test_config_says_what_is_in_force(void **state)
{
    (void)state;
    struct sl_config *c = sl_config_load(NULL, NULL, false);
    assert_facts(c,
                 (const char *const[]){"Kueue by default: PrioritizePreemptorWorkloads=true\n",
                                       "  fair sharing: off\n", "  admission fair sharing: off\n",
                                       "  waitForPodsReady: on, timeout 1800 s\n",
                                       "  jobs: with a queue name\n", NULL});
    sl_config_free(c);
    c = load_with_gates(
        HEAD "fairSharing: {preemptionStrategies: [LessThanInitialShare]}\n"
             "admissionFairSharing: {usageHalfLifeTime: 10m, usageSamplingInterval: 1m}\n"
             "waitForPodsReady: {timeout: 5m, blockAdmission: true}\n"
             "manageJobsWithoutQueueName: true\nintegrations: {frameworks: [batch/job, pod]}\n",
        "PartialAdmission=false,PrioritizePreemptorWorkloads=false,TopologyAwareScheduling=true");
    assert_none(c->errors);
    assert_facts(
        c, (const char *const[]){
               "Kueue by default: PartialAdmission=false\n",
               "  fair sharing: on, preemption by LessThanInitialShare\n",
               "  admission fair sharing: on, usageHalfLifeTime 10m, usageSamplingInterval 60 s\n",
               "  waitForPodsReady: on, timeout 300 s, admission is blocked meanwhile\n",
               "  jobs: also those without a queue name, of batch/job pod\n", NULL});
    sl_config_free(c);
    c = sl_config_load(NULL, "PrioritizePreemptorWorkloads=false,DisableWaitForPodsReady=true",
                       false);
    assert_facts(c, (const char *const[]){"Kueue by default: DisableWaitForPodsReady=true\n",
                                          "  waitForPodsReady: off\n", NULL});
    sl_config_free(c);
}

static void test_config_no_file_takes_kueues_defaults(void **state)
{
    (void)state;
    struct sl_config *c = sl_config_load(NULL, NULL, false);
    assert_none(c->errors);
    assert_none(c->warnings);
    struct sl_engine_settings preset = sl_engine_settings_default();
    assert_int_equal(c->settings.wait_for_pods_ready, preset.wait_for_pods_ready);
    assert_int_equal(c->settings.ready_ms_max, preset.ready_ms_max);
    assert_int_equal(c->settings.recovery_ms_max, preset.recovery_ms_max);
    assert_int_equal(c->settings.backoff_base_ms, preset.backoff_base_ms);
    assert_int_equal(c->settings.backoff_ms_max, preset.backoff_ms_max);
    assert_int_equal(c->settings.retain_finished_ms, -1);
    assert_policy_equal(&c->settings.policy, &preset.policy);
    assert_true(c->settings.policy.prioritize_preemptors); /* Sluice's own default */
    sl_config_free(c);
    c = sl_config_load(NULL, "PrioritizePreemptorWorkloads=false", false);
    assert_false(c->settings.policy.prioritize_preemptors);
    sl_config_free(c);
}

static void test_config_empty_configuration_changes_nothing(void **state)
{
    (void)state;
    struct sl_config *c = load_good("");
    struct sl_engine_settings preset = sl_engine_settings_default();
    assert_none(c->warnings);
    assert_policy_equal(&c->settings.policy, &preset.policy);
    assert_int_equal(c->settings.ready_ms_max, preset.ready_ms_max);
    assert_int_equal(c->settings.transformation_count, 0);
    sl_config_free(c);
}

static void test_config_json_is_read_as_well(void **state)
{
    (void)state;
    struct sl_config *c = load("{\"apiVersion\": \"config.kueue.x-k8s.io/v1beta2\", \"kind\": "
                               "\"Configuration\", \"waitForPodsReady\": {\"timeout\": \"5m\"}}");
    assert_none(c->errors);
    assert_int_equal(c->settings.ready_ms_max, 300000);
    sl_config_free(c);
}

static void test_config_readiness_is_taken_over(void **state)
{
    (void)state;
    struct sl_config *c = load_good("waitForPodsReady:\n  timeout: 90s\n  blockAdmission: true\n"
                                    "  recoveryTimeout: 1m30.5s\n  requeuingStrategy:\n"
                                    "    timestamp: Creation\n    backoffLimitCount: 0\n"
                                    "    backoffBaseSeconds: 5\n    backoffMaxSeconds: 600");
    const struct sl_engine_settings *s = &c->settings;
    assert_none(c->warnings);
    assert_true(s->wait_for_pods_ready && s->policy.block_until_ready && s->limit_requeues);
    assert_int_equal(s->ready_ms_max, 90000);
    assert_int_equal(s->recovery_ms_max, 90500);
    assert_false(s->policy.requeue_at_eviction);
    assert_int_equal(s->requeues_max, 0);
    assert_int_equal(s->backoff_base_ms, 5000);
    assert_int_equal(s->backoff_ms_max, 600000);
    sl_config_free(c);
}

static void test_config_metrics_of_local_queues_are_on_unless_it_says_otherwise(void **state)
{
    (void)state;
    static const struct {
        const char *text, *gates;
        bool on;
    } cases[] = {
        {HEAD "namespace: a", NULL, true},
        {HEAD "namespace: a", "LocalQueueMetrics=false", false},
        {HEAD "metrics: {localQueueMetrics: {enable: true}}", NULL, true},
        {HEAD "metrics: {localQueueMetrics: {enable: true}}", "LocalQueueMetrics=false", false},
        {HEAD "metrics: {localQueueMetrics: {enable: false}}", NULL, false},
        {HEAD "metrics: {localQueueMetrics: {localQueueSelector: {}}}", NULL, false}};
    for (size_t i = 0; i < sizeof cases / sizeof cases[0]; i++) {
        struct sl_config *c = load_with_gates(cases[i].text, cases[i].gates);
        assert_none(c->errors);
        assert_none(c->warnings);
        assert_int_equal(c->metered.on, cases[i].on);
        sl_config_free(c);
    }
}

static void test_config_metrics_of_local_queues_may_be_for_some(void **state)
{
    (void)state;
    struct sl_config *c = load_good("metrics: {localQueueMetrics: {enable: true, "
                                    "localQueueSelector: {matchLabels: {tier: gold}}}}");
    struct sl_json *gold = sl_json_new_map();
    assert_none(c->warnings);
    assert_non_null(c->metered.selector);
    assert_false(sl_selector_matches_labels(c->metered.selector, gold));
    sl_json_set_text(gold, "tier", "gold");
    assert_true(sl_selector_matches_labels(c->metered.selector, gold));
    sl_json_free(gold);
    sl_config_free(c);
}

static void test_config_recovery_timeout_absent_follows_the_timeout_zero_is_none(void **state)
{
    (void)state;
    struct sl_config *c = load_good("waitForPodsReady: {timeout: 2m}");
    assert_int_equal(c->settings.recovery_ms_max, 120000);
    assert_false(c->settings.limit_requeues);
    sl_config_free(c);
    c = load_good("waitForPodsReady: {timeout: 0s, recoveryTimeout: 0s}");
    assert_int_equal(c->settings.ready_ms_max, 1800000);
    assert_int_equal(c->settings.recovery_ms_max, 0);
    sl_config_free(c);
}

static void test_config_fair_sharing_takes_its_strategies_in_order(void **state)
{
    (void)state;
    struct sl_config *c = load_good("fairSharing: {preemptionStrategies: [LessThanInitialShare]}");
    assert_true(c->settings.policy.fair_sharing);
    assert_int_equal(c->settings.policy.share_rule_count, 1);
    assert_int_equal(c->settings.policy.share_rules[0], SL_SHARE_INITIAL);
    sl_config_free(c);
    c = load_good("fairSharing:\n  preemptionStrategies:\n  - LessThanOrEqualToFinalShare\n"
                  "  - LessThanInitialShare");
    assert_int_equal(c->settings.policy.share_rule_count, 2);
    assert_int_equal(c->settings.policy.share_rules[0], SL_SHARE_FINAL);
    assert_int_equal(c->settings.policy.share_rules[1], SL_SHARE_INITIAL);
    sl_config_free(c);
}

static void test_config_admission_fair_sharing_takes_weights_exactly(void **state)
{
    (void)state;
    struct sl_config *c = load_good("admissionFairSharing:\n  usageHalfLifeTime: 168h\n"
                                    "  resourceWeights: {cpu: 2, nvidia.com/gpu: 0.25}");
    const struct sl_engine_settings *s = &c->settings;
    assert_none(c->warnings);
    assert_true(s->policy.admission_fair_sharing);
    assert_int_equal(s->usage_half_life_ms, 604800000);
    assert_int_equal(s->usage_sampling_ms, 300000);
    assert_int_equal(s->usage_weight_count, 2);
    assert_string_equal(s->usage_weight_resources[1], "nvidia.com/gpu");
    assert_int_equal(s->usage_weights_nano[0], 2000000000);
    assert_int_equal(s->usage_weights_nano[1], 250000000);
    sl_config_free(c);
}

static void test_config_resources_are_taken_over(void **state)
{
    (void)state;
    struct sl_config *c =
        load_good("resources:\n  excludeResourcePrefixes: [example.com/, hugepages-]\n"
                  "  transformations:\n  - input: nvidia.com/mig-1g.5gb\n    strategy: Replace\n"
                  "    outputs: {example.com/memory: 5Gi, example.com/credits: 500m}\n"
                  "  - input: example.com/seat\n    multiplyBy: cpu\n    outputs: {seats: 2}");
    const struct sl_engine_settings *s = &c->settings;
    assert_none(c->warnings);
    assert_int_equal(s->excluded_prefix_count, 2);
    assert_string_equal(s->excluded_prefixes[1], "hugepages-");
    assert_int_equal(s->transformation_count, 2);
    const struct sl_transformation *t = s->transformations;
    assert_string_equal(t[0].input, "nvidia.com/mig-1g.5gb");
    assert_false(t[0].retain);
    assert_null(t[0].multiply_by);
    assert_int_equal(t[0].output_count, 2);
    assert_int_equal(t[0].outputs[0].value_milli, 5LL * 1024 * 1024 * 1024 * 1000);
    assert_string_equal(t[0].outputs[1].resource, "example.com/credits");
    assert_int_equal(t[0].outputs[1].value_milli, 500);
    assert_true(t[1].retain);
    assert_string_equal(t[1].multiply_by, "cpu");
    assert_string_equal(t[1].outputs[0].resource, "seats");
    assert_int_equal(t[1].outputs[0].value_milli, 2000);
    sl_config_free(c);
}

static void test_config_quota_strategy_needs_its_gate(void **state)
{
    (void)state;
    struct sl_config *c = load_good("resources: {quotaCheckStrategy: IgnoreUndeclared}");
    assert_true(c->settings.policy.ignore_undeclared);
    sl_config_free(c);
    c = load_good("resources: {quotaCheckStrategy: IgnoreUndeclared, "
                  "excludeResourcePrefixes: [a]}\nfeatureGates: {QuotaCheckStrategy: false}");
    assert_false(c->settings.policy.ignore_undeclared);
    sl_config_free(c);
}

static void test_config_retention_is_taken_over(void **state)
{
    (void)state;
    struct sl_config *c = load_good("objectRetentionPolicies: {workloads: {afterFinished: 0s, "
                                    "afterDeactivatedByKueue: 10m}}");
    assert_int_equal(c->settings.retain_finished_ms, 0);
    assert_int_equal(c->settings.retain_deactivated_ms, 600000);
    sl_config_free(c);
}

struct bad {
    const char *body, *complaint;
};

static void assert_refused(const struct bad *cases, size_t count)
{
    for (size_t i = 0; i < count; i++) {
        struct sl_config *c = load_body(cases[i].body);
        assert_items(c->errors, cases[i].complaint);
        if (sl_json_len(c->errors) != 1) {
            struct sl_buf lines = {0};
            print_items(c->errors, &lines);
            fail_msg("%s: more than one complaint: %s", cases[i].body, lines.data);
        }
        sl_config_free(c);
    }
}
#define ASSERT_REFUSED(cases) assert_refused(cases, sizeof(cases) / sizeof(cases)[0])

static void test_config_unknown_fields_are_refused_with_their_path(void **state)
{
    (void)state;
    static const struct bad cases[] = {
        {"waitForPodsReady: {timout: 5m}", "waitForPodsReady.timout: unknown field"},
        {"metadata: {name: x}", "metadata: unknown field"},
        {"fairSharing.preemptionStrategies: []", "fairSharing.preemptionStrategies: unknown"},
        {"resources: {transformations: [{input: a}, {input: b, output: {}}]}",
         "resources.transformations[1].output: unknown field"},
        {"\"\": 1", ": unknown field"},
        {"multiKueue: {clusterProfile: {accessProviders: [{name: a, execConfig: {command: b, "
         "apiVersion: c, interactiveMode: Never, shell: d}}]}}",
         "multiKueue.clusterProfile.accessProviders[0].execConfig.shell: unknown field"}};
    ASSERT_REFUSED(cases);
}

static void test_config_values_that_do_not_fit_are_refused(void **state)
{
    (void)state;
    static const struct bad cases[] = {
        {"waitForPodsReady: []", "waitForPodsReady: must be a map, not a list"},
        {"waitForPodsReady: {blockAdmission: \"yes\"}",
         "waitForPodsReady.blockAdmission: must be true or false, not \"yes\""},
        {"waitForPodsReady: {timeout: 300}", "waitForPodsReady.timeout: must be a duration"},
        {"waitForPodsReady: {timeout: 5 minutes}", "\"5 minutes\" is not a duration"},
        {"waitForPodsReady: {timeout: -5m}", "must not be negative"},
        {"waitForPodsReady: {recoveryTimeout: -1s}", "waitForPodsReady.recoveryTimeout: "},
        {"waitForPodsReady: {requeuingStrategy: {timestamp: Now}}",
         "waitForPodsReady.requeuingStrategy.timestamp: \"Now\" is not one of Creation, Eviction"},
        {"waitForPodsReady: {requeuingStrategy: {backoffLimitCount: -1}}",
         "backoffLimitCount: must not be negative"},
        {"waitForPodsReady: {requeuingStrategy: {backoffBaseSeconds: 1.5}}",
         "backoffBaseSeconds: must be a whole number, not 1.5"},
        {"waitForPodsReady: {requeuingStrategy: {backoffMaxSeconds: 2147483648}}",
         "backoffMaxSeconds: 2147483648 does not fit into 32 bits"},
        {"visibilityServer: {bindPort: 0}", "visibilityServer.bindPort: must be at least 1"},
        {"visibilityServer: {bindPort: 65536}", "visibilityServer.bindPort: must be at most 65535"},
        {"visibilityServer: {bindAddress: here}", "\"here\" is not an IP address"},
        {"clientConnection: {qps: fast}", "clientConnection.qps: must be a number, not \"fast\""},
        {"namespace: Kueue", "namespace: \"Kueue\": "},
        {"integrations: {frameworks: [batch/jobs]}",
         "integrations.frameworks[0]: \"batch/jobs\" is not one of batch/job, "},
        {"integrations: {frameworks: [pod, pod]}",
         "integrations.frameworks[1]: \"pod\" is there twice"},
        {"integrations: {externalFrameworks: [Job.batch]}",
         "integrations.externalFrameworks[0]: \"Job.batch\" is not Kind.version.group"},
        {"integrations: {externalFrameworks: [A.v1.b, A.v1.b]}",
         "integrations.externalFrameworks[1]: \"A.v1.b\" is there twice"},
        {"integrations: {externalFrameworks: [A.v1.b, Job.v1.batch]}",
         "integrations.externalFrameworks[1]: \"Job.v1.batch\" is managed here, as batch/job"},
        {"internalCertManagement: {webhookServiceName: 1st}",
         "internalCertManagement.webhookServiceName: must start with a letter"},
        {"internalCertManagement: {webhookSecretName: a_b}",
         "internalCertManagement.webhookSecretName: "},
        {"tls: {minVersion: VersionTLS11}",
         "tls.minVersion: \"VersionTLS11\" is not one of VersionTLS12, VersionTLS13"},
        {"tls: {cipherSuites: [NULL_MD5]}", "tls.cipherSuites[0]: \"NULL_MD5\" is not one of"},
        {"tls: {minVersion: VersionTLS13, cipherSuites: [TLS_AES_128_GCM_SHA256]}",
         "tls.cipherSuites: must not be given when minVersion is VersionTLS13"},
        {"tls: {curvePreferences: [0]}", "tls.curvePreferences[0]: must be at least 1"},
        {"tls: {curvePreferences: [29, 30]}", "tls.curvePreferences[1]: 30 is not a curve"},
        {"tls: {curvePreferences: [23, 29, 23]}",
         "tls.curvePreferences[2]: 23 (CurveP256) is there"},
        {"objectRetentionPolicies: {workloads: {afterFinished: -1h}}",
         "objectRetentionPolicies.workloads.afterFinished: "},
        {"objectRetentionPolicies: {workloads: {afterDeactivatedByKueue: soon}}",
         "objectRetentionPolicies.workloads.afterDeactivatedByKueue: "}};
    ASSERT_REFUSED(cases);
}

static void test_config_sharing_and_resources_that_do_not_fit_are_refused(void **state)
{
    (void)state;
    static const struct bad cases[] = {
        {"fairSharing: {}", "fairSharing.preemptionStrategies: required"},
        {"fairSharing: {preemptionStrategies: []}",
         "fairSharing.preemptionStrategies: must not be empty"},
        {"fairSharing: {preemptionStrategies: [Any]}",
         "fairSharing.preemptionStrategies[0]: \"Any\" is not one of"},
        {"fairSharing: {preemptionStrategies: [LessThanInitialShare, LessThanInitialShare]}",
         "fairSharing.preemptionStrategies: must be one of"},
        {"fairSharing: {preemptionStrategies: [LessThanInitialShare, LessThanOrEqualToFinalShare]}",
         "fairSharing.preemptionStrategies: must be one of"},
        {"admissionFairSharing: {usageHalfLifeTime: -1h}", "admissionFairSharing.usageHalfLife"},
        {"admissionFairSharing: {usageSamplingInterval: x}", "admissionFairSharing.usageSampling"},
        {"admissionFairSharing: {resourceWeights: {cpu: -0.1}}",
         "admissionFairSharing.resourceWeights[cpu]: must not be negative"},
        {"admissionFairSharing: {resourceWeights: {cpu: 2000000000}}",
         "admissionFairSharing.resourceWeights[cpu]: must be at most 1000000000"},
        {"resources: {quotaCheckStrategy: Guess}",
         "resources.quotaCheckStrategy: \"Guess\" is not one of BlockUndeclared, IgnoreUndeclared"},
        {"resources: {quotaCheckStrategy: IgnoreUndeclared, excludeResourcePrefixes: [a]}",
         "resources.quotaCheckStrategy: IgnoreUndeclared cannot be combined"},
        {"resources: {transformations: [{strategy: Retain}]}",
         "resources.transformations[0].input: required"},
        {"resources: {transformations: [{input: \"\"}]}",
         "resources.transformations[0].input: required"},
        {"resources: {transformations: [{input: a, strategy: Keep}]}",
         "resources.transformations[0].strategy: \"Keep\" is not one of Retain, Replace"},
        {"resources: {transformations: [{input: a}, {input: a}]}",
         "resources.transformations[1].input: \"a\" is there twice"},
        {"resources: {transformations: [{input: a, outputs: {b: many}}]}",
         "resources.transformations[0].outputs[b]: "},
        {"resources: {transformations: [{input: a, outputs: {b: -1}}]}",
         "resources.transformations[0].outputs[b]: must not be negative"}};
    ASSERT_REFUSED(cases);
}

static void test_config_selectors_that_do_not_fit_are_refused(void **state)
{
    (void)state;
    static const struct bad cases[] = {
        {"managedJobsNamespaceSelector: {matchExpressions: [{operator: Exists}]}",
         "managedJobsNamespaceSelector.matchExpressions[0].key: required"},
        {"managedJobsNamespaceSelector: {matchExpressions: [{key: a, operator: Near}]}",
         "managedJobsNamespaceSelector.matchExpressions[0].operator: \"Near\" is not one of"},
        {"managedJobsNamespaceSelector: {matchExpressions: [{key: a, operator: In}]}",
         "managedJobsNamespaceSelector: "},
        {"managedJobsNamespaceSelector: {matchLabels: {kubernetes.io/metadata.name: kube-system}}",
         "managedJobsNamespaceSelector: must not match the namespace \"kube-system\""},
        {"managedJobsNamespaceSelector: {matchLabels: {kubernetes.io/metadata.name: kueue-system}}",
         "managedJobsNamespaceSelector: must not match the namespace \"kueue-system\""},
        {"namespace: own\n"
         "managedJobsNamespaceSelector: {matchLabels: {kubernetes.io/metadata.name: own}}",
         "managedJobsNamespaceSelector: must not match the namespace \"own\""},
        {"metrics: {localQueueMetrics: {localQueueSelector: {matchExpressions: [{key: a, "
         "operator: Exists, values: [b]}]}}}",
         "metrics.localQueueMetrics.localQueueSelector: "}};
    ASSERT_REFUSED(cases);
}

static void test_config_multikueue_that_does_not_fit_is_refused(void **state)
{
    (void)state;
#define PROVIDER "{name: a, execConfig: {command: b, apiVersion: c, interactiveMode: Never}}"
    static const struct bad cases[] = {
        {"multiKueue: {gcInterval: -1s}", "multiKueue.gcInterval: "},
        {"multiKueue: {workerLostTimeout: -1s}", "multiKueue.workerLostTimeout: "},
        {"multiKueue: {origin: a/b}", "multiKueue.origin: "},
        {"multiKueue: {externalFrameworks: [{name: Job}]}",
         "multiKueue.externalFrameworks[0].name: \"Job\" is not Kind.version.group"},
        {"multiKueue: {externalFrameworks: [{name: A.b.c}, {name: A.b.c}]}",
         "multiKueue.externalFrameworks[1].name: \"A.b.c\" is there twice"},
        {"multiKueue: {incrementalDispatcherConfig: {stepSize: 2}}",
         "multiKueue.incrementalDispatcherConfig: is only for dispatcherName"},
        {"multiKueue: {dispatcherName: kueue.x-k8s.io/multikueue-dispatcher-incremental, "
         "incrementalDispatcherConfig: {stepSize: 0}}",
         "multiKueue.incrementalDispatcherConfig.stepSize: must be at least 1"},
        {"multiKueue: {clusterProfile: {accessProviders: [" PROVIDER "], credentialsProviders: "
         "[" PROVIDER "]}}",
         "multiKueue.clusterProfile.credentialsProviders: must not be given together"},
        {"multiKueue: {clusterProfile: {accessProviders: [{name: a}]}}",
         "multiKueue.clusterProfile.accessProviders[0].execConfig: required"},
        {"multiKueue: {clusterProfile: {credentialsProviders: [{name: a, execConfig: {command: b, "
         "apiVersion: c, interactiveMode: Often}}]}}",
         "execConfig.interactiveMode: \"Often\" is not one of Never, IfAvailable, Always"}};
    ASSERT_REFUSED(cases);
}

static void test_config_tls_is_for_a_cluster(void **state)
{
    (void)state;
    struct sl_config *c = load_good("tls: {minVersion: VersionTLS13}");
    assert_true(c->cluster.tls.only_13);
    sl_config_free(c);
    c = load_good("tls: {minVersion: VersionTLS12}");
    assert_false(c->cluster.tls.only_13);
    assert_int_equal(c->cluster.tls.suite_count, 0);
    sl_config_free(c);
    c = load_good("tls: {cipherSuites: [TLS_AES_128_GCM_SHA256, TLS_RSA_WITH_RC4_128_SHA, "
                  "TLS_ECDHE_RSA_WITH_AES_128_GCM_SHA256]}");
    assert_int_equal(c->cluster.tls.suite_count, 3);
    assert_string_equal(c->cluster.tls.suites[2], "TLS_ECDHE_RSA_WITH_AES_128_GCM_SHA256");
    struct sl_buf warnings = {0};
    sl_json_print(c->warnings, &warnings);
    assert_non_null(strstr(warnings.data, "TLS_RSA_WITH_RC4_128_SHA is weak"));
    assert_null(strstr(warnings.data, "tls.cipherSuites[0]"));
    assert_null(strstr(warnings.data, "tls.cipherSuites[2]"));
    sl_buf_fini(&warnings);
    sl_config_free(c);
    c = load_good("tls: {curvePreferences: [23, 29]}");
    assert_int_equal(c->cluster.tls.curve_count, 2);
    assert_int_equal(c->cluster.tls.curves[1], 29);
    sl_config_free(c);
}

/* What becomes of them depends on the GnuTLS that is here. */
static void test_config_curves_that_cannot_be_spoken(void **state)
{
    (void)state;
    struct sl_config *c = load_good("tls: {curvePreferences: [4588, 29]}");
    assert_int_equal(sl_json_len(c->warnings) == 0, sl_curves_can_speak(4588));
    sl_config_free(c);
    c = load(HEAD "tls: {curvePreferences: [4588]}");
    assert_int_equal(sl_json_len(c->errors) == 0, sl_curves_can_speak(4588));
    sl_config_free(c);
}

static void test_config_metric_labels_are_taken_where_their_gate_is_on(void **state)
{
    (void)state;
    static const char text[] = HEAD
        "metrics: {customLabels: [{name: team}, {name: b, sourceLabelKey: x/y, sourceKind: "
        "Cohort, trackedValues: [u]}, {name: c, sourceAnnotationKey: z, sourceKind: LocalQueue}]}";
    struct sl_config *c = load_with_gates(text, "CustomMetricLabels=true");
    assert_none(c->errors);
    assert_none(c->warnings);
    const struct sl_custom_labels *l = c->metered.custom;
    assert_int_equal(l->count, 3);
    assert_int_equal(l->all[0].source, SL_KIND_CLUSTER_QUEUE);
    assert_string_equal(l->all[0].label, "team");
    assert_int_equal(l->all[1].source, SL_KIND_COHORT);
    assert_string_equal(l->all[1].label, "x/y");
    assert_int_equal(sl_json_len(l->all[1].tracked), 1);
    assert_int_equal(l->all[2].source, SL_KIND_LOCAL_QUEUE);
    assert_null(l->all[2].label);
    assert_string_equal(l->all[2].annotation, "z");
    sl_config_free(c);
    c = load_with_gates(text, NULL);
    assert_int_equal(c->metered.custom->count, 0);
    assert_int_equal(sl_json_len(c->warnings), 1);
    sl_config_free(c);
    c = load_with_gates(HEAD "metrics: {customLabels: [{name: w, sourceKind: Workload, "
                             "trackedValues: [u]}]}",
                        "CustomMetricLabels=true");
    assert_int_equal(c->metered.custom->count, 1);
    assert_none(c->warnings);
    sl_config_free(c);
    c = load_with_gates(HEAD "integrations: {labelKeysToCopy: [x]}\n"
                             "metrics: {customLabels: [{name: w, sourceKind: Workload, "
                             "trackedValues: [u]}, {name: v, sourceKind: Workload, "
                             "sourceAnnotationKey: a/b, trackedValues: [u]}, {name: q}]}",
                        "CustomMetricLabels=true");
    assert_int_equal(c->jobs.copied.label_count, 2);
    assert_string_equal(c->jobs.copied.labels[0], "x");
    assert_string_equal(c->jobs.copied.labels[1], "w");
    assert_int_equal(c->jobs.copied.annotation_count, 1);
    assert_string_equal(c->jobs.copied.annotations[0], "a/b");
    sl_config_free(c);
}

static void test_config_metric_labels_that_do_not_fit_are_refused(void **state)
{
    (void)state;
    static const struct bad cases[] = {
        {"metrics: {customLabels: [{sourceKind: Cohort}]}",
         "metrics.customLabels[0].name: required"},
        {"metrics: {customLabels: [{name: 1a}]}", "metrics.customLabels[0].name: \"1a\" must be"},
        {"metrics: {customLabels: [{name: a-b, sourceLabelKey: c}]}",
         "metrics.customLabels[0].name: \"a-b\" must be"},
        {"metrics: {customLabels: [{name: a_}]}", "metrics.customLabels[0].name: the name part"},
        {"metrics: {customLabels: [{name: a}, {name: a}]}",
         "metrics.customLabels[1].name: \"a\" is there twice"},
        {"metrics: {customLabels: [{name: a, sourceLabelKey: b, sourceAnnotationKey: c}]}",
         "metrics.customLabels[0]: sourceLabelKey and sourceAnnotationKey exclude each other"},
        {"metrics: {customLabels: [{name: a, sourceKind: Job}]}",
         "metrics.customLabels[0].sourceKind: \"Job\" is not one of"},
        {"metrics: {customLabels: [{name: a, sourceKind: Workload}]}",
         "metrics.customLabels[0].trackedValues: must be 1 to 12"},
        {"metrics: {customLabels: [{name: a, trackedValues: [x, x]}]}",
         "metrics.customLabels[0].trackedValues[1]: \"x\" is there twice"},
        {"metrics: {customLabels: [{name: a, trackedValues: ['0', '1', '2', '3', '4', '5', '6', "
         "'7', '8', '9', a, b, c, d, e, f, g]}]}",
         "metrics.customLabels[0].trackedValues: must be at most 16 items"},
        {"metrics: {customLabels: [{name: a}, {name: b}, {name: c}, {name: d}, {name: e}, "
         "{name: f}, {name: g}]}",
         "metrics.customLabels: 7 with sourceKind ClusterQueue, at most 6"},
        {"metrics: {customLabels: [{name: a, sourceKind: Workload, trackedValues: [x]}, {name: b, "
         "sourceKind: Workload, trackedValues: [x]}, {name: c, sourceKind: Workload, "
         "trackedValues: [x]}]}",
         "metrics.customLabels: 3 with sourceKind Workload, at most 2"}};
    ASSERT_REFUSED(cases);
}

static void test_config_devices_that_do_not_fit_are_refused(void **state)
{
    (void)state;
#define MAPPINGS(list) "resources: {deviceClassMappings: [" list "]}"
#define SOURCE "driver: d, deviceSelector: {cel: {expression: x}}"
    static const struct bad cases[] = {
        {MAPPINGS("{name: a}"), "resources.deviceClassMappings[0].deviceClassNames: required"},
        {MAPPINGS("{name: a, deviceClassNames: []}"),
         "resources.deviceClassMappings[0].deviceClassNames: must not be empty"},
        {MAPPINGS("{name: a/b/c, deviceClassNames: [d]}"),
         "resources.deviceClassMappings[0].name: "},
        {MAPPINGS("{name: a, deviceClassNames: [d, d]}"),
         "resources.deviceClassMappings[0].deviceClassNames[1]: \"d\" is there twice"},
        {MAPPINGS("{name: a, deviceClassNames: [d]}, {name: b, deviceClassNames: [d]}"),
         "resources.deviceClassMappings[1].deviceClassNames[0]: \"d\" is mapped to a already"},
        {MAPPINGS("{name: a, deviceClassNames: [d], sources: [{}]}"),
         "resources.deviceClassMappings[0].sources[0]: must have either counter or capacity"},
        {MAPPINGS("{name: a, deviceClassNames: [d], sources: [{capacity: {name: m, " SOURCE "}}]}"),
         "sources[0]: needs the feature gate KueueDRAIntegrationConsumableCapacity"},
        {MAPPINGS("{name: a, deviceClassNames: [d], sources: [{counter: {name: m, driver: d}}]}"),
         "deviceClassMappings[0].sources[0].counter.deviceSelector: required"},
        {MAPPINGS("{name: a, deviceClassNames: [d], sources: [{capacity: {name: m-n, " SOURCE
                  "}}]}") "\nfeatureGates: {KueueDRAIntegrationConsumableCapacity: true}",
         "sources[0]: capacity.name \"m-n\" is not [domain/]C_IDENTIFIER"},
        {MAPPINGS("{name: a, deviceClassNames: [d], sources: [{capacity: {name: m, " SOURCE
                  "}}, {counter: {name: m, " SOURCE
                  "}}]}") "\nfeatureGates: {KueueDRAIntegrationConsumableCapacity: true}",
         "resources.deviceClassMappings[0].sources: must not mix counter and capacity"},
        {MAPPINGS("{name: a, deviceClassNames: [d], sources: [{counter: {name: m, driver: d, "
                  "deviceSelector: {cel: {expression: device.driver =}}}}]}"),
         "sources[0]: deviceSelector: at character 15: a character that CEL does not have"}};
    ASSERT_REFUSED(cases);
}

static void test_config_sources_of_devices_are_taken_over(void **state)
{
    (void)state;
    struct sl_config *c = load_good(
        MAPPINGS("{name: a, deviceClassNames: [d, e], sources: [{counter: {name: m, " SOURCE
                 "}}, {counter: {name: k, driver: other, deviceSelector: {cel: {expression: "
                 "device.driver.matches('x')}}}}]}, {name: b, deviceClassNames: [f]}, "
                 "{name: c, deviceClassNames: [g], sources: [{capacity: {name: g/m, " SOURCE
                 "}}]}") "\nfeatureGates: {KueueDRAIntegrationConsumableCapacity: true}");
    const struct sl_device_mapping *m = c->settings.device_mappings;
    assert_int_equal(c->settings.device_mapping_count, 4);
    assert_string_equal(m[1].device_class, "e");
    assert_int_equal(m[1].source_count, 2);
    assert_string_equal(m[1].sources[1].name, "k");
    assert_string_equal(m[1].sources[1].driver, "other");
    assert_string_equal(m[1].sources[1].resource, "a");
    assert_string_equal(m[1].sources[1].selector, "device.driver.matches('x')");
    assert_false(m[1].sources[1].capacity);
    assert_int_equal(m[2].source_count, 0);
    assert_int_equal(m[3].source_count, 1);
    assert_string_equal(m[3].sources[0].name, "g/m");
    assert_true(m[3].sources[0].capacity);
    assert_items(c->warnings, "deviceClassMappings[0].sources[1]: deviceSelector: the function "
                              "matches is not supported");
    assert_true(sl_quantity_is_bytes("a") && sl_quantity_is_bytes("c"));
    assert_false(sl_quantity_is_bytes("b"));
    sl_config_free(c);
}

static void test_config_all_complaints_come_together(void **state)
{
    (void)state;
    struct sl_config *c = load("kind: Config\nwaitForPodsReady: {timeout: x, z: 1}\n"
                               "featureGates: {Nonsense: true}\nfairSharing: {}\n");
    assert_int_equal(sl_json_len(c->errors), 6);
    assert_items(c->errors, "apiVersion: required");
    assert_items(c->errors, "kind: \"Config\" is not Configuration");
    assert_items(c->errors, "waitForPodsReady.timeout: ");
    assert_items(c->errors, "waitForPodsReady.z: unknown field");
    assert_items(c->errors, "featureGates[Nonsense]: unknown feature gate");
    assert_items(c->errors, "fairSharing.preemptionStrategies: required");
    sl_config_free(c);
}

static void test_config_other_versions_are_refused(void **state)
{
    (void)state;
    struct sl_config *c = load("apiVersion: config.kueue.x-k8s.io/v1alpha1\nkind: Configuration\n");
    assert_items(c->errors, "apiVersion: \"config.kueue.x-k8s.io/v1alpha1\" is not one of "
                            "config.kueue.x-k8s.io/v1beta2, config.kueue.x-k8s.io/v1beta1");
    sl_config_free(c);
}

static void test_config_files_that_are_no_configuration_are_refused(void **state)
{
    (void)state;
    static const struct bad cases[] = {{"", "the file is empty"},
                                       {"# nothing\n", "the file is empty"},
                                       {"- a\n", "not a map"},
                                       {HEAD "a: [\n", "line 4"},
                                       {HEAD "kind: Configuration\n", "duplicate key"},
                                       {HEAD "---\n" HEAD, "line 4: a second document"}};
    for (size_t i = 0; i < sizeof cases / sizeof cases[0]; i++) {
        struct sl_config *c = load(cases[i].body);
        assert_items(c->errors, cases[i].complaint);
        sl_config_free(c);
    }
    struct sl_config *c = sl_config_load("/nowhere/kueue.yaml", NULL, false);
    assert_items(c->errors, "No such file");
    sl_config_free(c);
    c = sl_config_load("/", NULL, false);
    assert_items(c->errors, "Is a directory");
    sl_config_free(c);
}

static void test_config_of_a_cluster_has_kueues_defaults(void **state)
{
    (void)state;
    struct sl_config *c = sl_config_load(NULL, NULL, true);
    const struct sl_config_cluster *k = &c->cluster;
    assert_none(c->errors);
    assert_false(k->elect_given);
    assert_string_equal(k->lease_name, "c1f6bfd2.kueue.x-k8s.io");
    assert_null(k->lease_namespace);
    assert_int_equal(k->lease_ms, 15000);
    assert_int_equal(k->renew_ms, 10000);
    assert_int_equal(k->retry_ms, 2000);
    assert_true(k->qps <= 0);
    assert_null(k->metrics_address);
    assert_string_equal(k->readiness_name, "readyz");
    sl_config_free(c);
}

static void test_config_of_a_cluster_is_taken_over_without_warnings(void **state)
{
    (void)state;
    struct sl_config *c = load_as(
        HEAD "namespace: sluice-system\n"
             "leaderElection: {leaderElect: true, leaseDuration: 30s, renewDeadline: 20s, "
             "retryPeriod: 4s, resourceLock: leases, resourceName: l, resourceNamespace: ns}\n"
             "metrics: {bindAddress: ':1'}\nclientConnection: {qps: 12.5, burst: 30}\n"
             "health: {healthProbeBindAddress: ':2', readinessEndpointName: r, "
             "livenessEndpointName: l}\n"
             "visibilityServer: {bindAddress: '::1', bindPort: 9443}\n",
        NULL, true);
    const struct sl_config_cluster *k = &c->cluster;
    assert_none(c->errors);
    assert_none(c->warnings);
    assert_string_equal(k->visibility_address, "::1");
    assert_int_equal(k->visibility_port, 9443);
    assert_true(k->elect_given && k->elect);
    assert_int_equal(k->lease_ms, 30000);
    assert_int_equal(k->renew_ms, 20000);
    assert_int_equal(k->retry_ms, 4000);
    assert_string_equal(k->lease_name, "l");
    assert_string_equal(k->lease_namespace, "ns");
    assert_true(k->qps > 12.4 && k->qps < 12.6);
    assert_int_equal(k->burst, 30);
    assert_string_equal(k->metrics_address, ":1");
    assert_string_equal(k->health_address, ":2");
    assert_string_equal(k->readiness_name, "r");
    assert_string_equal(k->liveness_name, "l");
    sl_config_free(c);
    c = load_as(HEAD "namespace: sluice-system\n", NULL, true);
    assert_string_equal(c->cluster.lease_namespace, "sluice-system");
    sl_config_free(c);
}

static void test_config_elections_that_cannot_work_are_refused(void **state)
{
    (void)state;
    static const struct {
        const char *fields, *complaint;
    } rows[] = {{"{resourceLock: configmaps}", "leaderElection.resourceLock: only leases"},
                {"{leaseDuration: 500ms}", "leaderElection.leaseDuration: must be a second"},
                {"{renewDeadline: 15s}", "leaderElection.renewDeadline: must be less than"},
                {"{retryPeriod: 9s}", "leaderElection.retryPeriod: must be less than"},
                {"{resourceName: A_b}", "leaderElection.resourceName: "},
                {"{resourceNamespace: a.b}", "leaderElection.resourceNamespace: "}};
    for (size_t i = 0; i < sizeof rows / sizeof rows[0]; i++) {
        struct sl_buf text = {0};
        sl_buf_print(&text, HEAD "leaderElection: %s\n", rows[i].fields);
        struct sl_config *c = load_as(text.data, NULL, true);
        assert_items(c->errors, rows[i].complaint);
        sl_config_free(c);
        sl_buf_fini(&text);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_config_says_what_is_in_force),
        cmocka_unit_test(test_config_no_file_takes_kueues_defaults),
        cmocka_unit_test(test_config_empty_configuration_changes_nothing),
        cmocka_unit_test(test_config_json_is_read_as_well),
        cmocka_unit_test(test_config_readiness_is_taken_over),
        cmocka_unit_test(test_config_metrics_of_local_queues_are_on_unless_it_says_otherwise),
        cmocka_unit_test(test_config_metrics_of_local_queues_may_be_for_some),
        cmocka_unit_test(test_config_recovery_timeout_absent_follows_the_timeout_zero_is_none),
        cmocka_unit_test(test_config_fair_sharing_takes_its_strategies_in_order),
        cmocka_unit_test(test_config_admission_fair_sharing_takes_weights_exactly),
        cmocka_unit_test(test_config_resources_are_taken_over),
        cmocka_unit_test(test_config_quota_strategy_needs_its_gate),
        cmocka_unit_test(test_config_retention_is_taken_over),
        cmocka_unit_test(test_config_unknown_fields_are_refused_with_their_path),
        cmocka_unit_test(test_config_values_that_do_not_fit_are_refused),
        cmocka_unit_test(test_config_sharing_and_resources_that_do_not_fit_are_refused),
        cmocka_unit_test(test_config_selectors_that_do_not_fit_are_refused),
        cmocka_unit_test(test_config_multikueue_that_does_not_fit_is_refused),
        cmocka_unit_test(test_config_tls_is_for_a_cluster),
        cmocka_unit_test(test_config_curves_that_cannot_be_spoken),
        cmocka_unit_test(test_config_metric_labels_are_taken_where_their_gate_is_on),
        cmocka_unit_test(test_config_metric_labels_that_do_not_fit_are_refused),
        cmocka_unit_test(test_config_devices_that_do_not_fit_are_refused),
        cmocka_unit_test(test_config_sources_of_devices_are_taken_over),
        cmocka_unit_test(test_config_all_complaints_come_together),
        cmocka_unit_test(test_config_other_versions_are_refused),
        cmocka_unit_test(test_config_files_that_are_no_configuration_are_refused),
        cmocka_unit_test(test_config_of_a_cluster_has_kueues_defaults),
        cmocka_unit_test(test_config_of_a_cluster_is_taken_over_without_warnings),
        cmocka_unit_test(test_config_elections_that_cannot_work_are_refused),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
