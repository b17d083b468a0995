/* SPDX-License-Identifier: Apache-2.0
 * SPDX-FileCopyrightText: The Sluice authors */

/* Unit tests of the pace of writes and of delays, of differences, and of what refusals say. */
#include "kube/flow.h"

#include "kube/diff.h"
#include "kube/status.h"
#include <setjmp.h>
#include <stdarg.h>
#include <stdio.h>
#include <string.h>

#include <cmocka.h>

static void test_flow_without_a_limit_never_waits(void **state)
{
    (void)state;
    struct sl_flow f;
    sl_flow_init(&f, 0, 0, 5);
    for (int i = 0; i < 1000; i++) {
        assert_int_equal(sl_flow_wait_ms(&f, 5), 0);
        assert_true(sl_flow_take(&f, 5));
    }
}

static void test_flow_burst_then_one_after_the_other(void **state)
{
    (void)state;
    struct sl_flow f;
    sl_flow_init(&f, 4, 2, 1000);
    assert_true(sl_flow_take(&f, 1000));
    assert_true(sl_flow_take(&f, 1000));
    assert_false(sl_flow_take(&f, 1000));
    assert_int_equal(sl_flow_wait_ms(&f, 1000), 250);
    assert_false(sl_flow_take(&f, 1249));
    assert_true(sl_flow_take(&f, 1250));
    assert_false(sl_flow_take(&f, 1200)); /* a clock that goes back gives nothing */
    assert_true(sl_flow_take(&f, 99000));
    assert_true(sl_flow_take(&f, 99000));
    assert_false(sl_flow_take(&f, 99000));
}

static void test_backoff_doubles_with_jitter_up_to_its_most(void **state)
{
    (void)state;
    struct sl_backoff b;
    sl_backoff_init(&b, 100, 1000, 3);
    for (int64_t least = 100; least <= 400; least *= 2) {
        int64_t wait_ms = sl_backoff_next_ms(&b);
        assert_in_range(wait_ms, least, least + least / 2);
    }
    for (int i = 0; i < 20; i++) {
        assert_in_range(sl_backoff_next_ms(&b), 800, 1000);
    }
    sl_backoff_reset(&b);
    assert_in_range(sl_backoff_next_ms(&b), 100, 150);
}

static struct sl_json *parse(const char *text)
{
    struct sl_error e;
    struct sl_json *v = sl_json_parse(text, strlen(text), &e);
    assert_non_null(v);
    return v;
}

static void expect_diff(const char *before, const char *after, const char *patch)
{
    struct sl_json *a = parse(before);
    struct sl_json *b = parse(after);
    struct sl_json *d = sl_patch_between_new(a, b);
    struct sl_buf text = {0};
    if (d != NULL) {
        struct sl_error e;
        sl_json_print(d, &text);
        assert_int_equal(sl_patch_merge(&a, d, &e), SL_CODE_OK);
    }
    assert_string_equal(d == NULL ? "" : text.data, patch);
    assert_null(sl_patch_between_new(a, b)); /* the patch makes one of the other */
    sl_buf_fini(&text);
    sl_json_free(a);
    sl_json_free(b);
    sl_json_free(d);
}

static void test_diff_names_what_is_new_other_and_gone(void **state)
{
    (void)state;
    expect_diff("{\"a\":1,\"b\":{\"c\":[1]}}", "{\"b\":{\"c\":[1]},\"a\":1}", "");
    expect_diff("{\"a\":1,\"b\":2,\"c\":3}", "{\"a\":1,\"b\":\"2\",\"d\":true}",
                "{\"b\":\"2\",\"d\":true,\"c\":null}");
    expect_diff("{\"m\":{\"x\":{\"y\":1,\"z\":2}}}", "{\"m\":{\"x\":{\"y\":1,\"z\":3}}}",
                "{\"m\":{\"x\":{\"z\":3}}}");
    expect_diff("{\"l\":[1,2]}", "{\"l\":[2]}", "{\"l\":[2]}");
    expect_diff("{\"m\":{\"x\":1}}", "{\"m\":[1]}", "{\"m\":[1]}");
    expect_diff("{\"m\":1}", "{\"m\":{\"x\":1}}", "{\"m\":{\"x\":1}}");
    expect_diff("{\"m\":{\"x\":1}}", "{\"m\":{}}", "{\"m\":{\"x\":null}}");
    expect_diff("{\"a\":null}", "{\"b\":null}", "");
}

static void test_diff_of_an_update_leaves_what_is_the_servers(void **state)
{
    (void)state;
    struct sl_json *live = parse("{\"metadata\":{\"name\":\"a\",\"uid\":\"1\",\"generation\":3,"
                                 "\"finalizers\":[\"f\"]},\"spec\":{},\"status\":{\"s\":1}}");
    struct sl_json *body =
        parse("{\"apiVersion\":\"v1\",\"metadata\":{\"name\":\"b\",\"labels\":{\"l\":"
              "\"m\"}},\"spec\":{},\"status\":{\"s\":2}}");
    struct sl_json *patch = sl_diff_update(SL_VERB_UPDATE, SL_KIND_JOB, live, body);
    struct sl_buf text = {0};
    sl_json_print(patch, &text);
    assert_string_equal(text.data, "{\"metadata\":{\"labels\":{\"l\":\"m\"},\"finalizers\":null}}");
    sl_json_free(patch);
    sl_buf_reset(&text);
    patch = sl_diff_update(SL_VERB_UPDATE, SL_KIND_EVENT, live, body); /* no subresource */
    sl_json_print(sl_json_get(patch, "status"), &text);
    assert_string_equal(text.data, "{\"s\":2}");
    sl_json_free(patch);
    sl_buf_fini(&text);
    sl_json_free(live);
    sl_json_free(body);
}

static void expect_holds(const char *live, const char *patch, bool holds)
{
    struct sl_json *a = parse(live);
    struct sl_json *b = parse(patch);
    assert_int_equal(sl_diff_holds(a, b), holds);
    sl_json_free(a);
    sl_json_free(b);
}

static void test_diff_patch_is_there_or_not(void **state)
{
    (void)state;
    static const char live[] =
        "{\"metadata\":{\"uid\":\"1\",\"labels\":{\"a\":\"b\"}},\"spec\":[1]}";
    expect_holds(live, "{\"metadata\":{\"uid\":\"2\",\"resourceVersion\":\"3\"},\"spec\":[1]}",
                 true);
    expect_holds(live, "{\"metadata\":{\"labels\":{\"a\":\"b\",\"c\":null}}}", true);
    expect_holds(live, "{\"metadata\":{\"labels\":{\"a\":null}}}", false);
    expect_holds(live, "{\"spec\":[1,2]}", false);
    expect_holds(live, "{\"spec\":{\"x\":1}}", false);
    expect_holds(live, "{\"other\":{}}", true);
    expect_holds("[]", "{}", false);
}

static void expect_path(const char *expected, enum sl_kind kind, const char *ns, const char *name)
{
    struct sl_buf path = {0};
    sl_status_path(&path, kind, ns, name, "");
    assert_string_equal(path.data, expected);
    sl_buf_fini(&path);
}

static void test_status_paths_are_those_of_kubernetes(void **state)
{
    (void)state;
    expect_path("/api/v1/nodes/a", SL_KIND_NODE, "", "a");
    expect_path("/api/v1/pods", SL_KIND_POD, "", "");
    expect_path("/apis/batch/v1/namespaces/n/jobs/..%2Fj%20%3F", SL_KIND_JOB, "n", "../j ?");
}

static void test_status_without_an_answer_says_why(void **state)
{
    (void)state;
    struct sl_error e;
    struct sl_response r = {.code = SL_CODE_UNAVAILABLE, .reason = "no route"};
    assert_int_equal(sl_status_read(&r, &e), SL_CODE_UNAVAILABLE);
    assert_string_equal(e.text, "no answer from the API server: no route");
    r = (struct sl_response){.code = SL_CODE_UNAVAILABLE, .status = 200};
    assert_int_equal(sl_status_read(&r, &e), SL_CODE_UNAVAILABLE);
    assert_string_equal(e.text, "no answer from the API server: it ended too early");
    r = (struct sl_response){.status = 502, .body = "<html>", .body_len = 6};
    assert_int_equal(sl_status_read(&r, &e), SL_CODE_UNAVAILABLE);
    assert_string_equal(e.text, "the API server answered 502");
    r = (struct sl_response){.status = 410};
    assert_int_equal(sl_status_read(&r, &e), SL_CODE_GONE);
    r = (struct sl_response){.status = 500};
    assert_int_equal(sl_status_read(&r, &e), SL_CODE_INTERNAL);
    r = (struct sl_response){.status = 504};
    assert_int_equal(sl_status_read(&r, &e), SL_CODE_TIMEOUT);
    r = (struct sl_response){.status = 401};
    assert_int_equal(sl_status_read(&r, &e), SL_CODE_UNAUTHORIZED);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_flow_without_a_limit_never_waits),
        cmocka_unit_test(test_flow_burst_then_one_after_the_other),
        cmocka_unit_test(test_backoff_doubles_with_jitter_up_to_its_most),
        cmocka_unit_test(test_diff_names_what_is_new_other_and_gone),
        cmocka_unit_test(test_diff_of_an_update_leaves_what_is_the_servers),
        cmocka_unit_test(test_diff_patch_is_there_or_not),
        cmocka_unit_test(test_status_paths_are_those_of_kubernetes),
        cmocka_unit_test(test_status_without_an_answer_says_why),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
