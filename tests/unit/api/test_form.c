/* SPDX-License-Identifier: Apache-2.0
 * SPDX-FileCopyrightText: The Sluice authors */

/* Unit tests of form.c. */
#include "api/objects/form.h"
#include <setjmp.h>
#include <stdarg.h>
#include <string.h>

#include <cmocka.h>

static const char *misformed(enum sl_kind kind, const char *text)
{
    struct sl_json *o = sl_json_parse(text, strlen(text), NULL);
    assert_non_null(o);
    const char *wrong = sl_object_misformed(kind, o);
    sl_json_free(o);
    return wrong;
}

static void test_form_takes_what_fits(void **state)
{
    (void)state;
    static const char *const fine[] = {
        "{}", "{\"metadata\":null,\"spec\":null}",
        "{\"metadata\":{\"labels\":{\"a\":\"b\"},\"finalizers\":[\"x\"],\"other\":[7]}}",
        "{\"spec\":{\"active\":true,\"podSets\":[{\"name\":\"main\",\"count\":\"1\"},null]}}",
        "{\"status\":{\"conditions\":[],\"admission\":{\"clusterQueue\":\"q\"}},\"more\":1}"};
    for (size_t i = 0; i < sizeof fine / sizeof fine[0]; i++) {
        assert_null(misformed(SL_KIND_WORKLOAD, fine[i]));
    }
}

static void test_form_names_what_does_not(void **state)
{
    (void)state;
    static const struct {
        enum sl_kind kind;
        const char *text, *wrong;
    } bad[] = {{SL_KIND_WORKLOAD, "[]", ""},
               {SL_KIND_WORKLOAD, "\"none\"", ""},
               {SL_KIND_WORKLOAD, "{\"metadata\":[]}", "metadata"},
               {SL_KIND_WORKLOAD, "{\"metadata\":{\"labels\":{\"a\":7}}}", "labels"},
               {SL_KIND_WORKLOAD, "{\"metadata\":{\"finalizers\":\"x\"}}", "finalizers"},
               {SL_KIND_WORKLOAD, "{\"spec\":{\"active\":\"true\"}}", "active"},
               {SL_KIND_WORKLOAD, "{\"spec\":{\"podSets\":[{\"name\":1}]}}", "podSets"},
               {SL_KIND_WORKLOAD, "{\"status\":{\"admission\":\"q\"}}", "admission"},
               {SL_KIND_JOB, "{\"spec\":{\"suspend\":0}}", "suspend"},
               {SL_KIND_JOB, "{\"spec\":{\"selector\":[]}}", "selector"},
               {SL_KIND_JOB, "{\"metadata\":{\"creationTimestamp\":7}}", "creationTimestamp"},
               {SL_KIND_NODE, "{\"metadata\":{\"annotations\":[]}}", "annotations"}};
    for (size_t i = 0; i < sizeof bad / sizeof bad[0]; i++) {
        const char *wrong = misformed(bad[i].kind, bad[i].text);
        assert_non_null(wrong);
        assert_string_equal(wrong, bad[i].wrong);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {cmocka_unit_test(test_form_takes_what_fits),
                                       cmocka_unit_test(test_form_names_what_does_not)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
