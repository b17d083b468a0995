/* SPDX-License-Identifier: Apache-2.0
 * SPDX-FileCopyrightText: The Sluice authors */

/* Options, paths and targets of sluicectl. */
#include "t.h"
#include <stdlib.h>
#include <sys/stat.h>
#include <unistd.h>
#include "cli/ctl/ctl.h"

#define PARSE(...) sl_ctl_parse(ARGC(__VA_ARGS__), ARGV(__VA_ARGS__), &c, &e)

static void test_ctl_flags_may_stand_anywhere(void **state)
{
    (void)state;
    struct sl_ctl c;
    struct sl_error e = {0};
    assert_int_equal(PARSE("-n", "lab", "get", "-o=json", "jobs", "--selector", "a=b", "x"),
                     SL_CODE_OK);
    assert_string_equal(c.command, "get");
    assert_int_equal(c.arguments.count, 2);
    assert_string_equal(c.arguments.items[1], "x");
    assert_string_equal(c.ns, "lab");
    assert_string_equal(c.selector, "a=b");
    assert_int_equal(c.output, SL_OUTPUT_JSON);
}

static void test_ctl_server_comes_from_flag_then_environment_then_default(void **state)
{
    (void)state;
    struct sl_ctl c;
    struct sl_error e = {0};
    unsetenv("SLUICE_SERVER");
    assert_int_equal(PARSE("version"), SL_CODE_OK);
    assert_string_equal(c.server, "http://127.0.0.1:8088");
    setenv("SLUICE_SERVER", "http://there:1", 1);
    assert_int_equal(PARSE("version"), SL_CODE_OK);
    assert_string_equal(c.server, "http://there:1");
    assert_int_equal(PARSE("version", "--server", "http://here:2"), SL_CODE_OK);
    assert_string_equal(c.server, "http://here:2");
    unsetenv("SLUICE_SERVER");
}

/* A server that is named is asked without one; else it is that of kubectl, if there is any. */
static void test_ctl_kubeconfig_comes_from_flag_then_environment_then_home(void **state)
{
    (void)state;
    struct sl_ctl c;
    struct sl_error e = {0};
    char home[] = "/tmp/sluice-ctl-XXXXXX", path[64];
    assert_non_null(mkdtemp(home));
    setenv("HOME", home, 1);
    assert_int_equal(PARSE("version"), SL_CODE_OK);
    assert_null(c.kubeconfig);
    (void)snprintf(path, sizeof path, "%s/.kube", home);
    assert_int_equal(mkdir(path, 0700), 0);
    (void)snprintf(path, sizeof path, "%s/.kube/config", home);
    fclose(fopen(path, "w"));
    assert_int_equal(PARSE("version", "--context", "x"), SL_CODE_OK);
    assert_string_equal(c.kubeconfig, path);
    assert_null(c.server);
    setenv("KUBECONFIG", "/a:/b", 1);
    assert_int_equal(PARSE("version"), SL_CODE_OK);
    assert_string_equal(c.kubeconfig, "/a:/b");
    assert_true(c.kubeconfig_is_list);
    assert_int_equal(PARSE("version", "--server", "http://here:1"), SL_CODE_OK);
    assert_null(c.kubeconfig);
    setenv("SLUICE_KUBECONFIG", "/c:d", 1);
    assert_int_equal(PARSE("version"), SL_CODE_OK);
    assert_string_equal(c.kubeconfig, "/c:d");
    assert_false(c.kubeconfig_is_list);
    assert_int_equal(PARSE("version", "--kubeconfig", "/e"), SL_CODE_OK);
    assert_string_equal(c.kubeconfig, "/e");
    unsetenv("KUBECONFIG");
    unsetenv("SLUICE_KUBECONFIG");
    assert_int_equal(unlink(path), 0);
    *strrchr(path, '/') = '\0';
    assert_int_equal(rmdir(path), 0);
    assert_int_equal(rmdir(home), 0);
}

static void test_ctl_wrong_usage_is_refused_and_named(void **state)
{
    (void)state;
    struct sl_ctl c;
    struct sl_error e = {0};
    assert_int_equal(PARSE("get", "--colour"), SL_CODE_BAD_REQUEST);
    assert_has(e.text, "--colour");
    assert_int_equal(PARSE("get", "-o", "xml"), SL_CODE_BAD_REQUEST);
    assert_has(e.text, "xml");
    assert_int_equal(PARSE("submit", "--count", "many"), SL_CODE_BAD_REQUEST);
    assert_has(e.text, "many");
    assert_int_equal(PARSE("get", "--context", "c"), SL_CODE_BAD_REQUEST);
    assert_has(e.text, "--context: only with --kubeconfig");
    assert_int_equal(PARSE("-A"), SL_CODE_BAD_REQUEST);
    assert_has(e.text, "command");
}

static void test_ctl_many_files_are_kept_and_too_many_refused(void **state)
{
    (void)state;
    struct sl_ctl c;
    struct sl_error e = {0};
    const char *words[140] = {"program", "apply"};
    for (int i = 2; i < 140; i++) {
        words[i] = i % 2 == 0 ? "-f" : "x.yaml";
    }
    assert_int_equal(sl_ctl_parse(130, (char *const *)(uintptr_t)words, &c, &e), SL_CODE_OK);
    assert_int_equal(c.files.count, 64);
    assert_int_equal(sl_ctl_parse(132, (char *const *)(uintptr_t)words, &c, &e),
                     SL_CODE_BAD_REQUEST);
}

static void test_ctl_path_of_kinds(void **state)
{
    (void)state;
    static const struct {
        enum sl_kind kind;
        const char *ns, *name, *path;
    } cases[] = {{SL_KIND_POD, "lab", "p", "/api/v1/namespaces/lab/pods/p"},
                 {SL_KIND_NAMESPACE, "", "lab", "/api/v1/namespaces/lab"},
                 {SL_KIND_JOB, "", "", "/apis/batch/v1/jobs"},
                 {SL_KIND_CLUSTER_QUEUE, "", "a b/c",
                  "/apis/kueue.x-k8s.io/v1beta2/clusterqueues/a%20b%2Fc"}};
    for (size_t i = 0; i < sizeof cases / sizeof cases[0]; i++) {
        struct sl_buf path = {0};
        sl_ctl_path(cases[i].kind, cases[i].ns, cases[i].name, &path);
        assert_string_equal(path.data, cases[i].path);
        sl_buf_fini(&path);
    }
}

static void assert_targets(struct sl_ctl *c, const char *wanted)
{
    struct sl_ctl_targets t;
    struct sl_buf text = {0};
    assert_true(sl_ctl_targets(c, &t));
    for (size_t i = 0; i < t.count; i++) {
        sl_buf_text(&text, i > 0 ? " " : "");
        sl_ctl_name(t.items[i].kind, t.items[i].name, &text);
    }
    assert_string_equal(text.data, wanted);
    sl_buf_fini(&text);
    sl_ctl_targets_fini(&t);
}

static void test_ctl_targets_are_kinds_and_names_or_both_with_a_slash(void **state)
{
    (void)state;
    struct sl_ctl c;
    struct sl_error e = {0};
    assert_int_equal(PARSE("get", "cq"), SL_CODE_OK);
    assert_targets(&c, "clusterqueue.kueue.x-k8s.io/");
    assert_int_equal(PARSE("get", "ns,job"), SL_CODE_OK);
    assert_targets(&c, "namespace/ job.batch/");
    assert_int_equal(PARSE("get", "job", "a", "b"), SL_CODE_OK);
    assert_targets(&c, "job.batch/a job.batch/b");
    assert_int_equal(PARSE("get", "job,pod", "a"), SL_CODE_OK);
    assert_targets(&c, "job.batch/a pod/a");
    assert_int_equal(PARSE("get", "job/pi", "pod/e"), SL_CODE_OK);
    assert_targets(&c, "job.batch/pi pod/e");
}

static void test_ctl_targets_unknown_or_mixed_are_refused(void **state)
{
    (void)state;
    struct sl_ctl c;
    struct sl_error e = {0};
    static const char *const bad[][3] = {{"unicorns"},   {"job,unicorns"}, {NULL},
                                         {"job/a", "b"}, {"job/"},         {"job/a", "pod/"},
                                         {"unicorn/a"}};
    for (size_t i = 0; i < sizeof bad / sizeof bad[0]; i++) {
        struct sl_ctl_targets t;
        assert_int_equal(PARSE("get"), SL_CODE_OK);
        while (c.arguments.count < 3 && bad[i][c.arguments.count] != NULL) {
            c.arguments.items[c.arguments.count] = bad[i][c.arguments.count];
            c.arguments.count++;
        }
        assert_false(sl_ctl_targets(&c, &t));
        sl_ctl_targets_fini(&t);
    }
    struct sl_ctl_targets t;
    assert_int_equal(PARSE("get", "po,po,po,po,po,po,po,po,po,po,po,po,po,po,po,po,po"),
                     SL_CODE_OK);
    assert_false(sl_ctl_targets(&c, &t));
    sl_ctl_targets_fini(&t);
}

static void test_ctl_short_options_may_be_one_word(void **state)
{
    (void)state;
    struct sl_ctl c;
    struct sl_error e = {0};
    assert_int_equal(PARSE("get", "cq", "-ojson", "-Aw"), SL_CODE_OK);
    assert_int_equal(c.output, SL_OUTPUT_JSON);
    assert_true(c.all_namespaces && c.watch);
    assert_int_equal(PARSE("get", "cq", "-Aoname"), SL_CODE_OK);
    assert_int_equal(c.output, SL_OUTPUT_NAME);
    assert_int_equal(PARSE("get", "cq", "-Ao", "wide"), SL_CODE_OK);
    assert_int_equal(c.output, SL_OUTPUT_WIDE);
    assert_int_equal(PARSE("get", "cq", "-Ax"), SL_CODE_BAD_REQUEST);
    assert_has(e.text, "unknown option -x");
    assert_int_equal(PARSE("get", "cq", "-A=true"), SL_CODE_BAD_REQUEST);
    assert_has(e.text, "--all-namespaces takes no value");
    assert_int_equal(PARSE("get", "cq", "-Ao"), SL_CODE_BAD_REQUEST);
    assert_has(e.text, "--output needs a value");
}

static void test_ctl_an_option_of_another_command_is_refused(void **state)
{
    (void)state;
    struct sl_ctl c;
    struct sl_error e = {0};
    assert_int_equal(PARSE("topology", "-n", "lab"), SL_CODE_BAD_REQUEST);
    assert_string_equal(e.text, "topology has no option --namespace");
    assert_int_equal(PARSE("pending", "-n", "lab", "--limit=3"), SL_CODE_OK);
    assert_int_equal(c.limit, 3);
    assert_int_equal(PARSE("get", "--limit", "3"), SL_CODE_BAD_REQUEST);
    assert_has(e.text, "get has no option --limit");
    assert_int_equal(PARSE("node", "list", "-ojson"), SL_CODE_OK);
    assert_int_equal(PARSE("delete", "cq", "a", "-ojson"), SL_CODE_BAD_REQUEST);
    assert_has(e.text, "delete has no option --output");
    assert_int_equal(PARSE("pending", "-oname"), SL_CODE_BAD_REQUEST);
    assert_string_equal(e.text, "pending: --output \"name\" is not one of table, json, yaml");
    assert_int_equal(PARSE("nosuch", "--cpu", "1"), SL_CODE_OK); /* that is said first */
}

static void test_ctl_a_misspelt_option_is_guessed(void **state)
{
    (void)state;
    struct sl_ctl c;
    struct sl_error e = {0};
    assert_int_equal(PARSE("submit", "--paralelism=2"), SL_CODE_BAD_REQUEST);
    assert_string_equal(e.text, "unknown option --paralelism; did you mean --parallelism?");
}

/* Each has a help of its own, with all that it can be given, and no line longer than the help is wide. */
static void test_ctl_help_of_each_command(void **state)
{
    (void)state;
    struct sl_buf all = {0};
    sl_ctl_print_help(NULL, &all);
    const struct sl_ctl_command *command;
    for (size_t i = 0; (command = sl_ctl_command_at(i)) != NULL; i++) {
        struct sl_buf text = {0}, start = {0};
        sl_ctl_print_help(command, &text);
        sl_buf_print(&start, "usage: sluicectl %s", command->name);
        assert_int_equal(strncmp(text.data, start.data, start.len), 0);
        assert_has(text.data, "\nExamples:\n  sluicectl ");
        assert_has(text.data, "--server URL");
        assert_has(all.data, command->name);
        for (const char *line = text.data; *line != '\0'; line += strcspn(line, "\n") + 1) {
            assert_true(strcspn(line, "\n") <= 100);
        }
        sl_buf_fini(&text);
        sl_buf_fini(&start);
    }
    sl_buf_fini(&all);
    struct sl_buf text = {0};
    sl_ctl_print_help(sl_ctl_command("pending"), &text);
    assert_has(text.data, "--limit N");
    assert_has(text.data, "Forms of --output: table, json, yaml\n");
    assert_null(strstr(text.data, "--cpu"));
    sl_buf_fini(&text);
}

static void test_ctl_help_and_version_need_no_command(void **state)
{
    (void)state;
    struct sl_ctl c;
    struct sl_error e = {0};
    assert_int_equal(PARSE("--version"), SL_CODE_OK);
    assert_true(c.version);
    assert_int_equal(PARSE("submit", "--help"), SL_CODE_OK);
    assert_true(c.help);
    assert_string_equal(c.command, "submit");
    assert_null(sl_ctl_command("nosuch"));
    struct sl_flag_list none = {0};
    assert_int_equal(sl_ctl_no_command("pnding", &none), 2);
}

/* The kind by any of its names; the command is known before the options are, so that a letter may mean another one. */
static void test_ctl_commands_of_two_words(void **state)
{
    (void)state;
    struct sl_ctl c;
    struct sl_error e = {0};
    static const char *const names[] = {"workload", "workloads", "wl", "kwl", "kueueworkload"};
    for (size_t i = 0; i < sizeof names / sizeof names[0]; i++) {
        assert_int_equal(PARSE("-n", "lab", "list", names[i], "-q", "main", "-c", "team"),
                         SL_CODE_OK);
        assert_string_equal(c.command, "list workload");
        assert_string_equal(c.filter.local_queue, "main");
        assert_string_equal(c.cluster_queue, "team");
        assert_false(c.quiet);
        assert_int_equal(c.arguments.count, 0);
    }
    assert_int_equal(PARSE("submit", "-q", "--queue", "main"), SL_CODE_OK);
    assert_true(c.quiet);
    assert_int_equal(PARSE("create", "cq", "a", "--cohort", "b", "--nominal-quota", "f:cpu=1"),
                     SL_CODE_OK);
    assert_string_equal(c.command, "create clusterqueue");
    assert_string_equal(c.arguments.items[0], "a");
    assert_string_equal(c.queue.cohort, "b");
    assert_int_equal(PARSE("create", "lq", "a", "--cohort", "b"), SL_CODE_BAD_REQUEST);
    assert_string_equal(e.text, "create localqueue has no option --cohort");
    assert_int_equal(PARSE("create", "pod", "a"), SL_CODE_OK);
    assert_string_equal(c.command, "create");
    assert_null(sl_ctl_command(c.command));
    assert_int_equal(sl_ctl_no_command(c.command, &c.arguments), 2);
    struct sl_buf text = {0};
    assert_true(sl_ctl_print_group("create", &text));
    assert_has(text.data, "create resourceflavor");
    assert_false(sl_ctl_print_group("creat", &text));
    assert_false(sl_ctl_print_group("submit", &text));
    assert_false(sl_ctl_print_group("", &text));
    sl_buf_fini(&text);
}

static void test_ctl_dry_run_with_and_without_a_value(void **state)
{
    (void)state;
    struct sl_ctl c;
    struct sl_error e = {0};
    assert_int_equal(PARSE("submit", "--dry-run", "--queue", "a"), SL_CODE_OK);
    assert_int_equal(c.dry_run, SL_DRY_RUN_SERVER);
    assert_int_equal(PARSE("create", "cq", "a", "--dry-run"), SL_CODE_OK);
    assert_int_equal(c.dry_run, SL_DRY_RUN_SERVER);
    assert_int_equal(PARSE("create", "cq", "--dry-run", "client", "a"), SL_CODE_OK);
    assert_int_equal(c.dry_run, SL_DRY_RUN_CLIENT);
    assert_int_equal(c.arguments.count, 1);
    assert_int_equal(PARSE("create", "cq", "--dry-run=none", "a"), SL_CODE_OK);
    assert_int_equal(c.dry_run, SL_DRY_RUN_NONE);
    assert_int_equal(PARSE("create", "cq", "a", "--dry-run=maybe"), SL_CODE_BAD_REQUEST);
    assert_string_equal(e.text, "--dry-run: \"maybe\" is not one of none|client|server");
    assert_int_equal(PARSE("get", "cq", "--dry-run"), SL_CODE_BAD_REQUEST);
    assert_int_equal(PARSE("list", "cq", "--active"), SL_CODE_OK);
    assert_int_equal(c.filter.active, SL_FLAG_YES);
    assert_int_equal(PARSE("list", "cq", "--active=false"), SL_CODE_OK);
    assert_int_equal(c.filter.active, SL_FLAG_NO);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_ctl_flags_may_stand_anywhere),
        cmocka_unit_test(test_ctl_server_comes_from_flag_then_environment_then_default),
        cmocka_unit_test(test_ctl_kubeconfig_comes_from_flag_then_environment_then_home),
        cmocka_unit_test(test_ctl_wrong_usage_is_refused_and_named),
        cmocka_unit_test(test_ctl_many_files_are_kept_and_too_many_refused),
        cmocka_unit_test(test_ctl_path_of_kinds),
        cmocka_unit_test(test_ctl_targets_are_kinds_and_names_or_both_with_a_slash),
        cmocka_unit_test(test_ctl_targets_unknown_or_mixed_are_refused),
        cmocka_unit_test(test_ctl_short_options_may_be_one_word),
        cmocka_unit_test(test_ctl_an_option_of_another_command_is_refused),
        cmocka_unit_test(test_ctl_a_misspelt_option_is_guessed),
        cmocka_unit_test(test_ctl_help_of_each_command),
        cmocka_unit_test(test_ctl_help_and_version_need_no_command),
        cmocka_unit_test(test_ctl_commands_of_two_words),
        cmocka_unit_test(test_ctl_dry_run_with_and_without_a_value),
    };
    unsetenv("KUBECONFIG");
    unsetenv("SLUICE_KUBECONFIG");
    setenv("HOME", "/nonexistent", 1);
    return cmocka_run_group_tests(tests, NULL, NULL);
}
