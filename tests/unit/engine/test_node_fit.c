/* SPDX-License-Identifier: Apache-2.0
 * SPDX-FileCopyrightText: The Sluice authors */

#include "base/error.h"
#include "engine/records/node_fit.h"
#include "engine/records/pod.h"
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>
#include <cmocka.h>

static struct sl_json *parse(const char *text)
{
    struct sl_error e = {0};
    struct sl_json *v = sl_json_parse(text, strlen(text), &e);
    assert_non_null(v);
    return v;
}

static bool matches(const char *terms)
{
    struct sl_json *labels = parse("{\"zone\":\"a\",\"cores\":\"8\"}");
    struct sl_json *list = parse(terms);
    struct sl_node_view node = {"n1", labels};
    bool holds = sl_node_fit_affinity(&node, list);
    sl_json_free(list);
    sl_json_free(labels);
    return holds;
}

#define TERM(key, op, values)                                                                      \
    "[{\"matchExpressions\":[{\"key\":\"" key "\",\"operator\":\"" op "\",\"values\":" values "}]" \
    "}]"

static void test_node_fit_every_operator_of_an_expression(void **state)
{
    (void)state;
    assert_true(matches(TERM("zone", "In", "[\"b\",\"a\"]")));
    assert_false(matches(TERM("zone", "In", "[\"b\"]")));
    assert_false(matches(TERM("none", "In", "[\"a\"]")));
    assert_true(matches(TERM("zone", "NotIn", "[\"b\"]")));
    assert_true(matches(TERM("none", "NotIn", "[\"a\"]")));
    assert_false(matches(TERM("zone", "NotIn", "[\"a\"]")));
    assert_true(matches(TERM("zone", "Exists", "[]")));
    assert_false(matches(TERM("none", "Exists", "[]")));
    assert_true(matches(TERM("none", "DoesNotExist", "[]")));
    assert_false(matches(TERM("zone", "DoesNotExist", "[]")));
    assert_true(matches(TERM("cores", "Gt", "[\"7\"]")));
    assert_false(matches(TERM("cores", "Gt", "[\"8\"]")));
    assert_true(matches(TERM("cores", "Lt", "[\"9\"]")));
    assert_false(matches(TERM("zone", "Lt", "[\"9\"]")));
    assert_false(matches(TERM("cores", "Gt", "[\"1\",\"2\"]")));
    assert_false(matches(TERM("zone", "Alike", "[\"a\"]")));
}

static void test_node_fit_terms_are_alternatives_and_an_empty_one_matches_nothing(void **state)
{
    (void)state;
    assert_true(matches("[]"));
    assert_false(matches("[{}]"));
    assert_true(matches("[{},{\"matchFields\":[{\"key\":\"metadata.name\",\"operator\":\"In\","
                        "\"values\":[\"n1\"]}]}]"));
    assert_false(matches("[{\"matchExpressions\":[{\"key\":\"zone\",\"operator\":\"Exists\"}],"
                         "\"matchFields\":[{\"key\":\"metadata.name\",\"operator\":\"In\","
                         "\"values\":[\"n2\"]}]}]"));
    assert_false(matches("[{\"matchFields\":[{\"key\":\"other\",\"operator\":\"In\",\"values\":["
                         "\"n1\"]}]}]"));
}

static void test_node_fit_selector_wants_every_label(void **state)
{
    (void)state;
    struct sl_json *labels = parse("{\"zone\":\"a\"}");
    struct sl_json *good = parse("{\"zone\":\"a\"}");
    struct sl_json *more = parse("{\"zone\":\"a\",\"disk\":\"\"}");
    assert_true(sl_pod_selector_holds(good, labels, false));
    assert_true(sl_pod_selector_holds(NULL, labels, false));
    assert_false(sl_pod_selector_holds(more, labels, false));
    assert_true(sl_pod_selector_holds(more, labels, true));
    sl_json_free(labels);
    sl_json_free(good);
    sl_json_free(more);
}

static void test_node_fit_taints_that_keep_pods_off_must_be_tolerated(void **state)
{
    (void)state;
    struct sl_json *taints =
        parse("[{\"key\":\"a\",\"effect\":\"PreferNoSchedule\"},{\"key\":\"b\","
              "\"effect\":\"NoSchedule\"},{\"key\":\"c\",\"effect\":"
              "\"NoExecute\"}]");
    struct sl_json *one = parse("[{\"key\":\"b\",\"operator\":\"Exists\"}]");
    struct sl_json *other = parse("[{\"key\":\"c\",\"operator\":\"Exists\"}]");
    assert_ptr_equal(sl_pod_untolerated(taints, NULL, NULL), sl_json_at(taints, 1));
    assert_ptr_equal(sl_pod_untolerated(taints, one, NULL), sl_json_at(taints, 2));
    assert_null(sl_pod_untolerated(taints, one, other));
    sl_json_free(taints);
    sl_json_free(one);
    sl_json_free(other);
}

static void test_node_fit_score_adds_the_weights_of_what_matches(void **state)
{
    (void)state;
    struct sl_json *labels = parse("{\"zone\":\"a\"}");
    struct sl_json *preferred = parse(
        "[{\"weight\":5,\"preference\":{\"matchExpressions\":[{\"key\":\"zone\",\"operator\":"
        "\"Exists\"}]}},{\"weight\":7,\"preference\":{\"matchExpressions\":[{\"key\":\"zone\","
        "\"operator\":\"In\",\"values\":[\"a\"]}]}},{\"weight\":9,\"preference\":{"
        "\"matchExpressions\":[{\"key\":\"disk\",\"operator\":\"Exists\"}]}},{\"weight\":3,"
        "\"preference\":{}}]");
    struct sl_node_view node = {"n1", labels};
    assert_int_equal(sl_node_fit_score(&node, preferred), 12);
    assert_int_equal(sl_node_fit_score(&node, NULL), 0);
    sl_json_free(labels);
    sl_json_free(preferred);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_node_fit_every_operator_of_an_expression),
        cmocka_unit_test(test_node_fit_terms_are_alternatives_and_an_empty_one_matches_nothing),
        cmocka_unit_test(test_node_fit_selector_wants_every_label),
        cmocka_unit_test(test_node_fit_taints_that_keep_pods_off_must_be_tolerated),
        cmocka_unit_test(test_node_fit_score_adds_the_weights_of_what_matches),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
