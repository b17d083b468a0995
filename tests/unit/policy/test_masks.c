/* SPDX-License-Identifier: Apache-2.0
 * SPDX-FileCopyrightText: The Sluice authors */

/* Masks: verdicts, scores, and what is out of bounds. */
#include "place_world.h"

static void test_masks_new_mask_allows_every_site(void **state)
{
    (void)state;
    assert_int_equal(sl_masks_verdict(5, 0), SL_VERDICT_MAY);
    assert_int_equal(sl_masks_verdict(SL_NO_ID, 0), SL_VERDICT_MAY);
    assert_int_equal(sl_masks_score(5, SL_SITES_MAX - 1), 0);
    assert_int_equal(sl_masks_score(SL_NO_ID, 0), 0);
    assert_false(sl_masks_prefers(5));
    assert_false(sl_masks_prefers(SL_NO_ID));
}

static void test_masks_clear_forgets_verdicts_and_scores(void **state)
{
    (void)state;
    assert_int_equal(sl_masks_set(5, 9, SL_VERDICT_SELECTOR), SL_OK);
    assert_int_equal(sl_masks_prefer(5, 8, 30), SL_OK);
    assert_int_equal(sl_masks_verdict(5, 9), SL_VERDICT_SELECTOR);
    assert_int_equal(sl_masks_verdict(6, 9), SL_VERDICT_MAY);
    assert_int_equal(sl_masks_score(5, 8), 30);
    assert_true(sl_masks_prefers(5));
    assert_int_equal(sl_masks_clear(5), SL_OK);
    assert_int_equal(sl_masks_verdict(5, 9), SL_VERDICT_MAY);
    assert_int_equal(sl_masks_score(5, 8), 0);
    assert_false(sl_masks_prefers(5));
    /* its scores are another mask's now */
    assert_int_equal(sl_masks_prefer(7, 1, 2), SL_OK);
    assert_int_equal(sl_masks_score(7, 8), 0);
    assert_int_equal(sl_masks_clear(7), SL_OK);
}

static void test_masks_out_of_bounds_is_refused(void **state)
{
    (void)state;
    assert_int_equal(sl_masks_clear(SL_MASKS_MAX), SL_REFUSED_BAD_ARGUMENT);
    assert_int_equal(sl_masks_set(SL_MASKS_MAX, 0, 0), SL_REFUSED_BAD_ARGUMENT);
    assert_int_equal(sl_masks_set(0, SL_SITES_MAX, 0), SL_REFUSED_BAD_ARGUMENT);
    assert_int_equal(sl_masks_prefer(0, SL_SITES_MAX, 1), SL_REFUSED_BAD_ARGUMENT);
    assert_int_equal(sl_masks_prefer(0, 0, (int64_t)INT32_MAX + 1), SL_REFUSED_BAD_ARGUMENT);
    assert_int_equal(sl_masks_prefer(0, 0, (int64_t)INT32_MIN - 1), SL_REFUSED_BAD_ARGUMENT);
}

static void test_masks_with_preferences_are_limited(void **state)
{
    (void)state;
    for (sl_mask_id mask = 0; mask < SL_SCORED_MASKS_MAX; mask++) {
        assert_int_equal(sl_masks_prefer(mask, 0, 1), SL_OK);
    }
    assert_int_equal(sl_masks_prefer(SL_SCORED_MASKS_MAX, 0, 0), SL_OK); /* none at all */
    assert_int_equal(sl_masks_prefer(SL_SCORED_MASKS_MAX, 0, 1), SL_FULL_WORKLOADS);
    assert_int_equal(sl_masks_clear(3), SL_OK);
    assert_int_equal(sl_masks_prefer(SL_SCORED_MASKS_MAX, 0, 1), SL_OK);
    for (sl_mask_id mask = 0; mask <= SL_SCORED_MASKS_MAX; mask++) {
        assert_int_equal(sl_masks_clear(mask), SL_OK);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_masks_new_mask_allows_every_site),
        cmocka_unit_test(test_masks_clear_forgets_verdicts_and_scores),
        cmocka_unit_test(test_masks_out_of_bounds_is_refused),
        cmocka_unit_test(test_masks_with_preferences_are_limited),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
