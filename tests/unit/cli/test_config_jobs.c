/* SPDX-License-Identifier: Apache-2.0
 * SPDX-FileCopyrightText: The Sluice authors */

/* Which jobs are managed, as the configuration says it. */
#include "config_world.h"
#include "controllers/adapters/adapter.h"

static bool manages(const struct sl_config *c, const char *ns)
{
    struct sl_json *labels = sl_json_new_map();
    sl_json_set_text(labels, "kubernetes.io/metadata.name", ns);
    bool yes = c->jobs.namespaces == NULL || sl_selector_matches_labels(c->jobs.namespaces, labels);
    sl_json_free(labels);
    return yes;
}

static void test_config_jobs_standalone_manages_every_namespace(void **state)
{
    (void)state;
    struct sl_config *c = sl_config_load(NULL, NULL, false);
    assert_false(c->jobs.manage_all);
    assert_true(manages(c, "kube-system"));
    assert_int_equal(c->jobs.framework_count, 0);
    assert_int_equal(c->jobs.copied.label_count, 0);
    sl_config_free(c);
}

static void test_config_jobs_cluster_leaves_the_systems_namespaces_alone(void **state)
{
    (void)state;
    struct sl_config *c = sl_config_load(NULL, NULL, true);
    assert_false(manages(c, "kube-system"));
    assert_false(manages(c, "kueue-system"));
    assert_true(manages(c, "default"));
    sl_config_free(c);
}

static void test_config_jobs_are_as_the_file_says(void **state)
{
    (void)state;
    struct sl_config *c =
        load_body("manageJobsWithoutQueueName: true\n"
                  "managedJobsNamespaceSelector: {matchLabels: {team: a}}\n"
                  "integrations: {frameworks: [batch/job], labelKeysToCopy: [x, z]}\n");
    assert_none(c->errors);
    assert_none(c->warnings);
    assert_true(c->jobs.manage_all);
    assert_false(manages(c, "default"));
    assert_int_equal(c->jobs.framework_count, 1);
    assert_string_equal(c->jobs.frameworks[0], "batch/job");
    assert_int_equal(c->jobs.copied.label_count, 2);
    assert_string_equal(c->jobs.copied.labels[1], "z");
    sl_config_free(c);
}

static void test_config_jobs_framework_with_an_adapter_needs_no_warning(void **state)
{
    (void)state;
    struct sl_error e = {0};
    assert_int_equal(sl_adapters_load("deploy/adapters", &e), SL_CODE_OK);
    static const char body[] = "integrations: {frameworks: [pod, jobset.x-k8s.io/jobset]}\n";
    struct sl_config *c = load_body(body);
    assert_int_equal(sl_json_len(c->warnings), 0);
    sl_config_free(c);
    sl_adapters_forget();
    c = load_body(body);
    assert_int_equal(sl_json_len(c->warnings), 1);
    assert_items(c->warnings, "integrations.frameworks[1]: ");
    sl_config_free(c);
}

static void test_config_jobs_framework_of_an_adapters_own_name_is_known(void **state)
{
    (void)state;
    struct sl_error e = {0};
    const char *body = "integrations: {frameworks: [pod, example.com/sim]}\n";
    char dir[] = "/tmp/sluice-adapters-XXXXXX", file[64];
    assert_non_null(mkdtemp(dir));
    (void)snprintf(file, sizeof file, "%s/sim.yaml", dir);
    FILE *f = fopen(file, "w");
    assert_non_null(f);
    fputs("apiVersion: example.com/v1\nkind: Simulation\nplural: simulations\n"
          "framework: example.com/sim\nsuspend: spec.suspend\n"
          "podSets: [{name: main, template: spec.template}]\n"
          "ready: [{condition: Ready}]\nactive: [{path: status.running, in: [true]}]\n"
          "finished: [{when: [{condition: Done}]}]\n",
          f);
    assert_int_equal(fclose(f), 0);
    struct sl_config *c = load_body(body);
    assert_items(c->errors, "\"example.com/sim\" is not one of batch/job, ");
    sl_config_free(c);
    assert_int_equal(sl_adapters_load(dir, &e), SL_CODE_OK);
    c = load_body(body);
    assert_none(c->errors);
    assert_none(c->warnings);
    sl_config_free(c);
    sl_adapters_forget();
    assert_int_equal(remove(file) + rmdir(dir), 0);
}

static void test_config_jobs_owners_that_are_managed_elsewhere(void **state)
{
    (void)state;
    struct sl_error e = {0};
    assert_int_equal(sl_adapters_load("deploy/adapters", &e), SL_CODE_OK);
    static const char body[] =
        "integrations: {frameworks: [batch/job], externalFrameworks: [Flow.v1.example.com,"
        " AppWrapper.v1beta2.workload.codeflare.dev]}\n";
    struct sl_config *c = load_body(body);
    assert_none(c->errors); /* the adapter of AppWrappers is not enabled */
    assert_int_equal(c->jobs.external_count, 2);
    assert_string_equal(c->jobs.externals[0], "Flow.v1.example.com");
    assert_items(c->warnings, "integrations.externalFrameworks: standalone mode has only");
    sl_config_free(c);
    c = load_body("integrations: {externalFrameworks: "
                  "[AppWrapper.v1beta2.workload.codeflare.dev]}\n");
    assert_items(c->errors, "is managed here, as workload.codeflare.dev/appwrapper");
    sl_config_free(c);
    sl_adapters_forget();
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_config_jobs_standalone_manages_every_namespace),
        cmocka_unit_test(test_config_jobs_cluster_leaves_the_systems_namespaces_alone),
        cmocka_unit_test(test_config_jobs_are_as_the_file_says),
        cmocka_unit_test(test_config_jobs_framework_with_an_adapter_needs_no_warning),
        cmocka_unit_test(test_config_jobs_framework_of_an_adapters_own_name_is_known),
        cmocka_unit_test(test_config_jobs_owners_that_are_managed_elsewhere),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
