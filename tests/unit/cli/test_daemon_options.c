/* SPDX-License-Identifier: Apache-2.0
 * SPDX-FileCopyrightText: The Sluice authors */

/* The options of sluiced, and with them the flag parser. */
#include "t.h"
#include <stdlib.h>
#include <unistd.h>
#include "cli/daemon/daemon_options.h"
#include <stdio.h>

#define PARSE(...) sl_daemon_options_parse(ARGC(__VA_ARGS__), ARGV(__VA_ARGS__), &o, &e)

static void test_daemon_options_standalone_alone_takes_the_defaults(void **state)
{
    (void)state;
    struct sl_daemon_options o;
    struct sl_error e = {0};
    assert_int_equal(PARSE("--standalone"), SL_CODE_OK);
    assert_string_equal(o.listen, "127.0.0.1:8088");
    assert_string_equal(o.data_dir, "sluice-data");
    assert_int_equal(o.journal_bytes, 67108864);
    assert_int_equal(o.log_level, SL_LOG_INFO);
    assert_false(o.log_json);
    assert_false(o.allow_remote);
    assert_false(o.unconfined);
    assert_false(o.paranoid);
    assert_null(o.config);
    assert_null(o.feature_gates);
}

static void test_daemon_options_all_given_are_taken(void **state)
{
    (void)state;
    struct sl_daemon_options o;
    struct sl_error e = {0};
    assert_int_equal(PARSE("--standalone", "--data", "/d", "--listen=[::1]:0", "--log-level",
                           "warn", "--log-format=json", "--allow-remote", "--config", "k.yaml",
                           "--feature-gates=A=true,B=false", "--no-confinement", "--paranoid",
                           "--journal-file=1.5Gi"),
                     SL_CODE_OK);
    assert_string_equal(o.data_dir, "/d");
    assert_int_equal(o.journal_bytes, 1610612736);
    assert_string_equal(o.listen, "[::1]:0");
    assert_int_equal(o.log_level, SL_LOG_WARN);
    assert_true(o.log_json);
    assert_true(o.allow_remote);
    assert_true(o.unconfined);
    assert_true(o.paranoid);
    assert_string_equal(o.config, "k.yaml");
    assert_string_equal(o.feature_gates, "A=true,B=false");
}

static void test_daemon_options_a_token_and_its_tls(void **state)
{
    (void)state;
    struct sl_daemon_options o;
    struct sl_error e = {0};
    assert_int_equal(PARSE("--standalone", "--token-file=f", "--tls-dir", "d"), SL_CODE_OK);
    assert_string_equal(o.token_file, "f");
    assert_string_equal(o.tls_dir, "d");
    assert_null(o.users);
    assert_int_equal(PARSE("--standalone", "--users", "u.yaml", "--tls-dir", "d"), SL_CODE_OK);
    assert_string_equal(o.users, "u.yaml");
    assert_int_equal(PARSE("--standalone", "--users="), SL_CODE_BAD_REQUEST);
    assert_has(e.text, "--users: the file's name is empty");
    assert_int_equal(PARSE("--standalone", "--allow-remote", "--tls-dir=d"), SL_CODE_OK);
    assert_null(o.token_file);
    assert_int_equal(PARSE("--standalone", "--tls-dir=d"), SL_CODE_BAD_REQUEST);
    assert_has(e.text, "only beside --allow-remote, --users, --socket or --token-file");
    assert_int_equal(PARSE("--standalone", "--token-file="), SL_CODE_BAD_REQUEST);
    assert_has(e.text, "--token-file: the file's name is empty");
}

static void test_daemon_options_say_how_jobs_run(void **state)
{
    (void)state;
    struct sl_daemon_options o;
    struct sl_error e = {0};
    assert_int_equal(PARSE("--standalone"), SL_CODE_OK);
    assert_false(o.run_processes);
    assert_int_equal(PARSE("--standalone", "--run", "simulated"), SL_CODE_OK);
    assert_false(o.run_processes);
    assert_int_equal(PARSE("--standalone", "--run=processes", "--devices=a/b=1"), SL_CODE_OK);
    assert_true(o.run_processes);
    assert_false(o.run_external);
    assert_string_equal(o.devices, "a/b=1");
    assert_false(o.run_containers);
    assert_int_equal(PARSE("--standalone", "--run=containers", "--container-runtime=docker"),
                     SL_CODE_OK);
    assert_true(o.run_processes && o.run_containers);
    assert_string_equal(o.container_runtime, "docker");
    assert_int_equal(PARSE("--standalone", "--run=processes", "--container-runtime=docker"),
                     SL_CODE_BAD_REQUEST);
    assert_int_equal(PARSE("--standalone", "--run-as-submitter"), SL_CODE_BAD_REQUEST);
    assert_has(e.text, "--run-as-submitter: only with --run processes");
    bool root = geteuid() == 0;
    assert_int_equal(PARSE("--standalone", "--run=processes", "--run-as-submitter"),
                     root ? SL_CODE_OK : SL_CODE_BAD_REQUEST);
    assert_int_equal(o.run_as_submitter, root);
    assert_int_equal(PARSE("--standalone", "--socket=/run/s", "--tls-dir=/t"), SL_CODE_OK);
    assert_string_equal(o.socket, "/run/s");
    assert_int_equal(PARSE("--standalone", "--socket="), SL_CODE_BAD_REQUEST);
    assert_has(e.text, "--socket: the socket's name is empty");
    assert_int_equal(PARSE("--standalone", "--run=external"), SL_CODE_OK);
    assert_true(o.run_external);
    assert_false(o.run_processes);
    assert_int_equal(PARSE("--standalone", "--devices=a/b=1"), SL_CODE_BAD_REQUEST);
    assert_has(e.text, "--devices: only with --run processes");
}

static void test_daemon_options_bad_values_are_refused_and_named(void **state)
{
    (void)state;
    static const struct {
        const char *word, *part;
    } cases[] = {
        {"--nonsense", "--nonsense"},
        {"--data=", "--data"},
        {"--journal-file=much", "\"much\" is not a size"},
        {"--journal-file=65535", "65535 is not from 64Ki to 16Gi"},
        {"--journal-file=17Gi", "17Gi is not from 64Ki to 16Gi"},
        {"--listen=localhost", "ADDR:PORT"},
        {"--listen=:80", "ADDR:PORT"},
        {"--listen=1.2.3.4:http", "port"},
        {"--listen=1.2.3.4:65536", "port"},
        {"--listen=1.2.3.4:-1", "port"},
        {"--listen=1.2.3.4:", "port"},
        {"--listen=::1:80", "brackets"},
        {"--log-level=loud", "loud"},
        {"--log-format=xml", "xml"},
        {"--config=", "--config"},
        {"--run=pods", "\"pods\" is not one of simulated, processes, containers, external"},
        {"--container-runtime=podman", "--container-runtime: only with --run containers"},
        {"--standalone=yes", "takes no value"},
        {"--data", "needs a value"},
        {"extra", "extra"}};
    for (size_t i = 0; i < sizeof cases / sizeof cases[0]; i++) {
        struct sl_daemon_options o;
        struct sl_error e = {0};
        assert_int_equal(PARSE("--standalone", cases[i].word), SL_CODE_BAD_REQUEST);
        assert_has(e.text, cases[i].part);
    }
}

static void test_daemon_options_without_a_mode_are_refused_outside_a_pod(void **state)
{
    (void)state;
    struct sl_daemon_options o;
    struct sl_error e = {0};
    unsetenv("KUBERNETES_SERVICE_HOST");
    assert_int_equal(PARSE("--data", "d"), SL_CODE_BAD_REQUEST);
    assert_has(e.text, "give --kubeconfig FILE or --standalone");
    setenv("KUBERNETES_SERVICE_HOST", "10.0.0.1", 1);
    assert_int_equal(PARSE("--config", "c"), SL_CODE_OK);
    assert_null(o.kubeconfig);
    assert_null(o.listen);
    assert_null(o.data_dir);
    unsetenv("KUBERNETES_SERVICE_HOST");
}

static void test_daemon_options_cluster_takes_those_of_kueues_load_generator(void **state)
{
    (void)state;
    struct sl_daemon_options o;
    struct sl_error e = {0};
    assert_int_equal(PARSE("--kubeconfig", "k", "--metricsPort", "8091", "--enableTAS"),
                     SL_CODE_OK);
    assert_string_equal(o.kubeconfig, "k");
    assert_int_equal(o.metrics_port, 8091);
    assert_int_equal(o.elect_leader, SL_FLAG_UNSAID);
    assert_int_equal(PARSE("--kubeconfig=k", "--metricsPort=1", "--leader-elect",
                           "--enableTAS=true", "--context=c"),
                     SL_CODE_OK);
    assert_int_equal(o.elect_leader, SL_FLAG_YES);
    assert_string_equal(o.context, "c");
    assert_null(o.visibility_listen);
    assert_int_equal(PARSE("--kubeconfig=k", "--visibility-listen=0", "--tls-dir=d"), SL_CODE_OK);
    assert_string_equal(o.visibility_listen, "0");
    assert_string_equal(o.tls_dir, "d");
    assert_int_equal(PARSE("--kubeconfig=k", "--leader-elect=false"), SL_CODE_OK);
    assert_int_equal(o.elect_leader, SL_FLAG_NO);
}

static void test_daemon_options_webhook_is_chosen(void **state)
{
    (void)state;
    struct sl_daemon_options o;
    struct sl_error e = {0};
    assert_int_equal(PARSE("--kubeconfig=k"), SL_CODE_OK);
    assert_int_equal(o.webhook, SL_WEBHOOK_AUTO);
    assert_int_equal(PARSE("--kubeconfig=k", "--webhook=off"), SL_CODE_OK);
    assert_int_equal(o.webhook, SL_WEBHOOK_OFF);
    assert_int_equal(PARSE("--kubeconfig=k", "--webhook=on", "--webhook-listen=127.0.0.1:1"),
                     SL_CODE_OK);
    assert_int_equal(o.webhook, SL_WEBHOOK_ON);
    assert_string_equal(o.webhook_listen, "127.0.0.1:1");
    assert_int_equal(PARSE("--print-policies=1.33", "--webhook=on"), SL_CODE_OK);
    assert_int_equal(o.webhook, SL_WEBHOOK_ON);
}

static void test_daemon_options_bad_values_for_a_cluster_are_refused_and_named(void **state)
{
    (void)state;
    static const struct {
        const char *word, *other, *part;
    } cases[] = {{"--metricsPort=x", NULL, "whole number"},
                 {"--metricsPort=65536", NULL, "--metricsPort: 65536"},
                 {"--metricsPort=-1", NULL, "--metricsPort: -1"},
                 {"--metricsPort=1", "--listen=127.0.0.1:2", "not with --listen"},
                 {"--leader-elect=maybe", NULL, "neither true nor false"},
                 {"--enableTAS=perhaps", NULL, "--enableTAS"},
                 {"--visibility-listen=8082", NULL, "--visibility-listen: \"8082\" is not ADDR"},
                 {"--webhook=maybe", NULL, "--webhook: \"maybe\" is not one of auto, on, off"},
                 {"--webhook=on", NULL, "--webhook on: with --kubeconfig say by --webhook-listen"},
                 {"--webhook-listen=1", NULL, "--webhook-listen: \"1\" is not ADDR"},
                 {"--tls-dir=", NULL, "--tls-dir: the directory's name is empty"},
                 {"--context=", NULL, "--context: the context's name is empty"},
                 {"--kubeconfig=", NULL, "--kubeconfig: the file's name is empty"},
                 {"--token-file=f", NULL, "--token-file: only with --standalone"},
                 {"--standalone", NULL, "--kubeconfig: not with --standalone"}};
    for (size_t i = 0; i < sizeof cases / sizeof cases[0]; i++) {
        struct sl_daemon_options o;
        struct sl_error e = {0};
        const char *other = cases[i].other == NULL ? "--log-level=info" : cases[i].other;
        assert_int_equal(PARSE("--kubeconfig=k", cases[i].word, other), SL_CODE_BAD_REQUEST);
        assert_has(e.text, cases[i].part);
    }
}

static void test_daemon_options_of_a_cluster_are_refused_in_standalone_mode(void **state)
{
    (void)state;
    static const char *const words[] = {"--context=c",
                                        "--leader-elect=false",
                                        "--metricsPort=1",
                                        "--enableTAS",
                                        "--visibility-listen=127.0.0.1:1",
                                        "--webhook=on",
                                        "--webhook-listen=127.0.0.1:1"};
    for (size_t i = 0; i < sizeof words / sizeof words[0]; i++) {
        struct sl_daemon_options o;
        struct sl_error e = {0};
        assert_int_equal(PARSE("--standalone", words[i]), SL_CODE_BAD_REQUEST);
        assert_has(e.text, "not with --standalone");
    }
}

static void test_daemon_options_help_and_version_need_nothing_else(void **state)
{
    (void)state;
    struct sl_daemon_options o;
    struct sl_error e = {0};
    assert_int_equal(PARSE("--help"), SL_CODE_OK);
    assert_true(o.show_help);
    assert_int_equal(PARSE("--version"), SL_CODE_OK);
    assert_true(o.show_version);
}

static void test_daemon_options_check_config_needs_no_mode(void **state)
{
    (void)state;
    struct sl_daemon_options o;
    struct sl_error e = {0};
    unsetenv("KUBERNETES_SERVICE_HOST");
    assert_int_equal(PARSE("--check-config", "k.yaml"), SL_CODE_OK);
    assert_string_equal(o.check_config, "k.yaml");
    assert_false(o.standalone);
    assert_int_equal(PARSE("--check-config=k.yaml", "--standalone"), SL_CODE_OK);
    assert_true(o.standalone);
    assert_int_equal(PARSE("--check-config="), SL_CODE_BAD_REQUEST);
    assert_has(e.text, "--check-config: the file's name is empty");
}

static void test_daemon_options_print_policies_takes_a_version(void **state)
{
    (void)state;
    struct sl_daemon_options o;
    struct sl_error e = {0};
    unsetenv("KUBERNETES_SERVICE_HOST");
    assert_int_equal(PARSE("--print-policies", "1.36", "--adapters", "d"), SL_CODE_OK);
    assert_int_equal(o.policies_minor, 36);
    const char *const bad[] = {"1.29", "1.", "2.0", "36", "1.3x", "1.-3", "1.99999", ""};
    for (size_t i = 0; i < sizeof bad / sizeof bad[0]; i++) {
        assert_int_equal(PARSE("--print-policies", bad[i]), SL_CODE_BAD_REQUEST);
        assert_has(e.text, "--print-policies: ");
    }
    assert_int_equal(PARSE("--print-policies", "1.29"), SL_CODE_BAD_REQUEST);
    assert_has(e.text, "they came with 1.30");
    assert_int_equal(PARSE("--print-policies", "1.36", "--standalone"), SL_CODE_BAD_REQUEST);
    assert_has(e.text, "--print-policies: not with --standalone");
}

static void test_daemon_options_those_of_kueues_manager_mean_the_same(void **state)
{
    (void)state;
    static const struct {
        const char *given;
        enum sl_log_level level;
    } levels[] = {{"2", SL_LOG_INFO},      {"0", SL_LOG_INFO},      {"3", SL_LOG_DEBUG},
                  {"127", SL_LOG_DEBUG},   {"debug", SL_LOG_DEBUG}, {"info", SL_LOG_INFO},
                  {"error", SL_LOG_ERROR}, {"panic", SL_LOG_ERROR}};
    struct sl_daemon_options o;
    struct sl_error e = {0};
    for (size_t i = 0; i < sizeof levels / sizeof levels[0]; i++) {
        assert_int_equal(PARSE("--kubeconfig=k", "--zap-log-level", levels[i].given), SL_CODE_OK);
        assert_int_equal(o.log_level, levels[i].level);
    }
    assert_int_equal(PARSE("--kubeconfig=k", "--zap-encoder=json", "--zap-devel",
                           "--zap-time-encoding=iso8601", "--zap-stacktrace-level=error"),
                     SL_CODE_OK);
    assert_true(o.log_json && o.zap.devel == SL_FLAG_YES);
    assert_int_equal(PARSE("--kubeconfig=k", "--zap-encoder=console", "--log-format=json"),
                     SL_CODE_OK);
    assert_false(o.log_json);
    const char *const bad[] = {"--zap-log-level=loud", "--zap-log-level=-1", "--zap-log-level=128",
                               "--zap-log-level=", "--zap-encoder=xml"};
    for (size_t i = 0; i < sizeof bad / sizeof bad[0]; i++) {
        assert_int_equal(PARSE("--kubeconfig=k", bad[i]), SL_CODE_BAD_REQUEST);
        assert_has(e.text, "--zap-");
    }
    assert_int_equal(PARSE("--standalone", "--zap-devel"), SL_CODE_BAD_REQUEST);
}

/* Each as Go's programs take it: after one dash or two, with "=" or without; kubeconfig, config and feature-gates are
 * ours as well. */
static void test_daemon_options_of_kueues_programs_are_all_taken(void **state)
{
    (void)state;
    static const struct {
        const char *name, *value, *idle; /* idle: as it is warned about; NULL: it has an effect */
    } cases[] = {{"config", "c.yaml", NULL},
                 {"feature-gates", "PartialAdmission=true", NULL},
                 {"zap-devel", "true", "--zap-devel"},
                 {"zap-devel", "False", NULL},
                 {"zap-encoder", "json", NULL},
                 {"zap-log-level", "INFO", NULL},
                 {"zap-stacktrace-level", "panic", "--zap-stacktrace-level"},
                 {"zap-time-encoding", "rfc3339nano", "--zap-time-encoding"},
                 {"cpuprofile", "cpu.prof", "--cpuprofile"},
                 {"memprofile", "mem.prof", "--memprofile"},
                 {"metricsPort", "8091", NULL},
                 {"enableTAS", "true", NULL},
                 {"enableTAS", "0", "--enableTAS=false"}};
    for (size_t i = 0; i < 2 * sizeof cases / sizeof cases[0]; i++) {
        struct sl_daemon_options o;
        struct sl_error e = {0};
        const char *idle[SL_ZAP_IDLE_MAX];
        char word[80];
        (void)snprintf(word, sizeof word, "%s%s=%s", i % 2 == 0 ? "-" : "--", cases[i / 2].name,
                       cases[i / 2].value);
        if (PARSE("-kubeconfig", "k", word) != SL_CODE_OK) {
            fail_msg("%s: %s", word, e.text);
        }
        assert_string_equal(o.kubeconfig, "k");
        assert_int_equal(sl_zap_idle(&o.zap, idle), cases[i / 2].idle == NULL ? 0 : 1);
        if (cases[i / 2].idle != NULL) {
            assert_string_equal(idle[0], cases[i / 2].idle);
        }
    }
    struct sl_daemon_options o;
    struct sl_error e = {0};
    assert_int_equal(PARSE("-kubeconfig=k", "-profile=p"), SL_CODE_BAD_REQUEST);
    assert_string_equal(e.text, "unknown option -profile");
}

/* Every option is in it, in the section of each mode that has it. */
static void test_daemon_options_help_is_made_of_the_table(void **state)
{
    (void)state;
    struct sl_buf text = {0};
    sl_daemon_options_help(&text);
    assert_has(text.data, "  --check-config FILE ");
    assert_has(text.data, "  --leader-elect[=BOOL] ");
    assert_has(text.data, "  -h, --help ");
    const char *cluster = strstr(text.data, "\nCluster mode:\n");
    const char *standalone = strstr(text.data, "\nStandalone mode:\n");
    assert_non_null(cluster);
    assert_non_null(standalone);
    assert_true(strstr(cluster, "--data DIR") < standalone);
    assert_has(standalone, "--data DIR");
    sl_buf_fini(&text);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_daemon_options_standalone_alone_takes_the_defaults),
        cmocka_unit_test(test_daemon_options_all_given_are_taken),
        cmocka_unit_test(test_daemon_options_a_token_and_its_tls),
        cmocka_unit_test(test_daemon_options_say_how_jobs_run),
        cmocka_unit_test(test_daemon_options_bad_values_are_refused_and_named),
        cmocka_unit_test(test_daemon_options_without_a_mode_are_refused_outside_a_pod),
        cmocka_unit_test(test_daemon_options_cluster_takes_those_of_kueues_load_generator),
        cmocka_unit_test(test_daemon_options_webhook_is_chosen),
        cmocka_unit_test(test_daemon_options_bad_values_for_a_cluster_are_refused_and_named),
        cmocka_unit_test(test_daemon_options_of_a_cluster_are_refused_in_standalone_mode),
        cmocka_unit_test(test_daemon_options_check_config_needs_no_mode),
        cmocka_unit_test(test_daemon_options_print_policies_takes_a_version),
        cmocka_unit_test(test_daemon_options_those_of_kueues_manager_mean_the_same),
        cmocka_unit_test(test_daemon_options_of_kueues_programs_are_all_taken),
        cmocka_unit_test(test_daemon_options_help_is_made_of_the_table),
        cmocka_unit_test(test_daemon_options_help_and_version_need_nothing_else),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
