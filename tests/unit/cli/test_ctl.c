/* SPDX-License-Identifier: Apache-2.0
 * SPDX-FileCopyrightText: The Sluice authors */

/* Options, paths and targets of sluicectl. */
#include "t.h"
#include <stdlib.h>
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

static void test_ctl_target_takes_kind_and_name_or_both_with_a_slash(void **state)
{
    (void)state;
    struct sl_ctl c;
    struct sl_ctl_target target;
    struct sl_error e = {0};
    assert_int_equal(PARSE("get", "cq", "team"), SL_CODE_OK);
    assert_true(sl_ctl_target(&c, &target));
    assert_int_equal(target.kind, SL_KIND_CLUSTER_QUEUE);
    assert_string_equal(target.name, "team");
    assert_int_equal(PARSE("get", "job/pi"), SL_CODE_OK);
    assert_true(sl_ctl_target(&c, &target));
    assert_int_equal(target.kind, SL_KIND_JOB);
    assert_string_equal(target.name, "pi");
}

static void test_ctl_target_unknown_or_superfluous_is_refused(void **state)
{
    (void)state;
    struct sl_ctl c;
    struct sl_ctl_target target;
    struct sl_error e = {0};
    assert_int_equal(PARSE("get", "unicorns"), SL_CODE_OK);
    assert_false(sl_ctl_target(&c, &target));
    assert_int_equal(PARSE("get"), SL_CODE_OK);
    assert_false(sl_ctl_target(&c, &target));
    assert_int_equal(PARSE("get", "job/a", "b"), SL_CODE_OK);
    assert_false(sl_ctl_target(&c, &target));
    assert_int_equal(PARSE("get", "job", "a", "b"), SL_CODE_OK);
    assert_false(sl_ctl_target(&c, &target));
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_ctl_flags_may_stand_anywhere),
        cmocka_unit_test(test_ctl_server_comes_from_flag_then_environment_then_default),
        cmocka_unit_test(test_ctl_wrong_usage_is_refused_and_named),
        cmocka_unit_test(test_ctl_many_files_are_kept_and_too_many_refused),
        cmocka_unit_test(test_ctl_path_of_kinds),
        cmocka_unit_test(test_ctl_target_takes_kind_and_name_or_both_with_a_slash),
        cmocka_unit_test(test_ctl_target_unknown_or_superfluous_is_refused),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
