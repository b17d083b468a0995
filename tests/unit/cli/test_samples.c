/* SPDX-License-Identifier: Apache-2.0
 * SPDX-FileCopyrightText: The Sluice authors */

/* Pages of metrics. */
#include "t.h"
#include "cli/screen/samples.h"

static const char page[] = "# HELP a_total is not a_total 9\n"
                           "a_total{x=\"1\"} 2\n"
                           "a_total{x=\"b c\"} 3.5\n"
                           "a_total_more 100\n"
                           "b 7\n"
                           "w_bucket{role=\"x\",le=\"1\"} 0\n"
                           "w_bucket{role=\"x\",le=\"2\"} 4\n"
                           "w_bucket{role=\"x\",le=\"+Inf\"} 5\n"
                           "w_bucket{le=\"2\",role=\"y\"} 4\n"
                           "w_bucket{le=\"1\",role=\"y\"} 2\n"
                           "w_bucket{le=\"+Inf\",role=\"y\"} 5\n"
                           "none_bucket{le=\"1\"} 0\nnone_bucket{le=\"+Inf\"} 0";

/* cmocka compares floats, not doubles. */
static void assert_near(double value, double wanted)
{
    if (value - wanted > 1e-9 || wanted - value > 1e-9) {
        fail_msg("%g, wanted %g", value, wanted);
    }
}

static void test_samples_are_summed_by_their_whole_name(void **state)
{
    (void)state;
    double sum;
    assert_true(sl_samples_sum(page, "a_total", &sum));
    assert_near(sum, 5.5);
    assert_true(sl_samples_sum(page, "b", &sum));
    assert_near(sum, 7);
    assert_false(sl_samples_sum(page, "c", &sum));
    assert_near(sum, 0);
    assert_false(sl_samples_sum("", "a", &sum));
}

/* Of both series: 2 up to 1, 8 up to 2, 10 in all. */
static void test_samples_quantiles_are_of_all_series(void **state)
{
    (void)state;
    double q;
    bool beyond;
    assert_true(sl_samples_quantile(page, "w", 0.1, &q, &beyond));
    assert_near(q, 0.5);
    assert_false(beyond);
    assert_true(sl_samples_quantile(page, "w", 0.5, &q, &beyond));
    assert_near(q, 1.5);
    assert_true(sl_samples_quantile(page, "w", 0.99, &q, &beyond));
    assert_near(q, 2);
    assert_true(beyond);
    assert_false(sl_samples_quantile(page, "none", 0.5, &q, &beyond));
    assert_false(sl_samples_quantile(page, "nosuch", 0.5, &q, &beyond));
    assert_false(sl_samples_quantile("x_bucket{role=\"2\"} 4\n", "x", 0.5, &q, &beyond));
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_samples_are_summed_by_their_whole_name),
        cmocka_unit_test(test_samples_quantiles_are_of_all_series)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
