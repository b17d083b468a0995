/* SPDX-License-Identifier: Apache-2.0
 * SPDX-FileCopyrightText: The Sluice authors */

/* Arguments that are refused: which type of options they belong to, and why. */
#include "fixture.h"

static void refused(struct fixture *f, const char *method, const char *more, const char *message)
{
    char uri[512];
    bool list = strcmp(method, "GET") == 0 || strcmp(method, "POST") == 0;
    const char *type =
        strcmp(method, "PATCH") == 0 ? "application/merge-patch+json" : "application/json";
    snprintf(uri, sizeof uri, "%s%s?%s", QUEUES, list ? "" : "/q", more);
    const struct call c = {
        .method = method,
        .uri = uri,
        .type = type,
        .body = strcmp(method, "GET") == 0 ? NULL : "{\"metadata\":{\"name\":\"q\"},\"spec\":{}}"};
    assert_int_equal(call(f, c), 422);
    assert_string_equal(text(f, "message"), message);
    assert_string_equal(text(f, "reason"), "Invalid");
    assert_string_equal(text(f, "details.group"), "meta.k8s.io");
    assert_non_null(strstr(message, text(f, "details.kind")));
    assert_non_null(strstr(message, text(f, "details.causes[0].field")));
    assert_non_null(strstr(message, text(f, "details.causes[0].message")));
}

static void test_options_of_writes(void **state)
{
    struct fixture *f = *state;
    make_queue(f, "q", "");
    refused(f, "POST", "dryRun=Some",
            "CreateOptions.meta.k8s.io \"\" is invalid: dryRun: Unsupported value: "
            "[]string{\"Some\"}: supported values: \"All\"");
    refused(f, "PATCH", "fieldValidation=Maybe",
            "PatchOptions.meta.k8s.io \"\" is invalid: fieldValidation: Unsupported value: "
            "\"Maybe\": supported values: \"\", \"Ignore\", \"Strict\", \"Warn\"");
    refused(f, "PATCH", "force=false",
            "PatchOptions.meta.k8s.io \"\" is invalid: force: Forbidden: may not be specified for "
            "non-apply patch");
    refused(f, "PATCH", "fieldManager=a%0Ab",
            "PatchOptions.meta.k8s.io \"\" is invalid: fieldManager: Invalid value: invalid "
            "character U+000A (at position 1)");
    refused(f, "DELETE", "dryRun=x",
            "DeleteOptions.meta.k8s.io \"\" is invalid: dryRun: Unsupported value: "
            "[]string{\"x\"}: supported values: \"All\"");
}

static void test_options_of_lists(void **state)
{
    struct fixture *f = *state;
    refused(f, "GET", "resourceVersionMatch=Exact",
            "ListOptions.meta.k8s.io \"\" is invalid: resourceVersionMatch: Forbidden: "
            "resourceVersionMatch is forbidden unless resourceVersion is provided");
    refused(f, "GET", "resourceVersionMatch=Exact&resourceVersion=1&continue=x",
            "ListOptions.meta.k8s.io \"\" is invalid: resourceVersionMatch: Forbidden: "
            "resourceVersionMatch is forbidden when continue is provided");
    refused(f, "GET", "resourceVersionMatch=Maybe&resourceVersion=1",
            "ListOptions.meta.k8s.io \"\" is invalid: resourceVersionMatch: Unsupported value: "
            "\"Maybe\": supported values: \"Exact\", \"NotOlderThan\", \"\"");
    refused(f, "GET", "resourceVersionMatch=Exact&resourceVersion=0",
            "ListOptions.meta.k8s.io \"\" is invalid: resourceVersionMatch: Forbidden: "
            "resourceVersionMatch \"exact\" is forbidden for resourceVersion \"0\"");
    refused(f, "GET", "sendInitialEvents=true",
            "ListOptions.meta.k8s.io \"\" is invalid: sendInitialEvents: Forbidden: "
            "sendInitialEvents is forbidden for list");
    refused(f, "GET", "watch=true&sendInitialEvents=true",
            "ListOptions.meta.k8s.io \"\" is invalid: resourceVersionMatch: Forbidden: "
            "sendInitialEvents requires setting resourceVersionMatch to NotOlderThan");
    assert_int_equal(get(f, QUEUES "?resourceVersionMatch=NotOlderThan&resourceVersion=0"), 200);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        CASE(test_options_of_writes),
        CASE(test_options_of_lists),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
