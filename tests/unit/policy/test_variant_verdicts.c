/* SPDX-License-Identifier: Apache-2.0
 * SPDX-FileCopyrightText: The Sluice authors */

/* Which variants are to be tried, and whose gate is opened next. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

#include <cmocka.h>

#include "policy/verdicts/variants.h"

enum { NOW = 1000000 };

static void three(void)
{
    sl_variant_sight_count = 3;
    for (uint32_t i = 0; i < 3; i++) {
        sl_variant_sights[i] =
            (struct sl_variant_sight){.active = true, .waits = true, .tried = true};
    }
}

static void assert_wanted(bool a, bool b, bool c, bool parent_active, uint32_t limit)
{
    assert_int_equal(sl_variants_is_wanted(0, parent_active, limit), a);
    assert_int_equal(sl_variants_is_wanted(1, parent_active, limit), b);
    assert_int_equal(sl_variants_is_wanted(2, parent_active, limit), c);
}

static void all_until_one_is_admitted(void **state)
{
    (void)state;
    three();
    assert_int_equal(sl_variants_admitted(), SL_NO_ID);
    assert_wanted(true, true, true, true, SL_NO_ID);
    assert_wanted(true, true, true, true, 0);
    assert_wanted(false, false, false, false, SL_NO_ID);
    sl_variant_sights[1].admitted = true;
    assert_int_equal(sl_variants_admitted(), 1);
    assert_wanted(true, true, false, true, SL_NO_ID);
    assert_wanted(false, true, false, true, 0);
}

static void down_to_the_limit(void **state)
{
    (void)state;
    three();
    sl_variant_sights[2].admitted = true;
    assert_wanted(true, false, true, true, 1);
    assert_wanted(true, true, true, true, 2);
    sl_variant_sights[0].given_up = true;
    assert_wanted(false, true, true, true, 2);
}

static void gates_open_in_order(void **state)
{
    (void)state;
    three();
    assert_int_equal(sl_variants_to_open(NOW), SL_NO_ID); /* nobody needs it */
    assert_int_equal(sl_variants_gate_wait_ms(NOW), 0);
    sl_variant_sights[1].gated = sl_variant_sights[2].gated = true;
    assert_int_equal(sl_variants_to_open(NOW), 1);
    sl_variant_sights[0].tried = false; /* it comes first, and may need it */
    assert_int_equal(sl_variants_to_open(NOW), SL_NO_ID);
    sl_variant_sights[0].waits = false;
    assert_int_equal(sl_variants_to_open(NOW), 1);
}

static void one_gate_at_a_time(void **state)
{
    (void)state;
    three();
    sl_variant_sights[0].open = true;
    sl_variant_sights[0].opened_ms = NOW - 1000;
    sl_variant_sights[1].gated = true;
    assert_int_equal(sl_variants_to_open(NOW), SL_NO_ID);
    assert_int_equal(sl_variants_gate_wait_ms(NOW), SL_VARIANT_GATE_MS - 1000);
    assert_int_equal(sl_variants_to_open(NOW - 1000 + SL_VARIANT_GATE_MS), 1);
    assert_int_equal(sl_variants_gate_wait_ms(NOW - 2000), SL_VARIANT_GATE_MS);
    sl_variant_sights[0].waits = false; /* it is switched off: it preempts nobody */
    assert_int_equal(sl_variants_to_open(NOW), 1);
    sl_variant_sights[0].waits = true;
    sl_variant_sights[0].opened_ms = -1; /* at a time that cannot be read */
    assert_int_equal(sl_variants_to_open(NOW), 1);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(all_until_one_is_admitted),
        cmocka_unit_test(down_to_the_limit),
        cmocka_unit_test(gates_open_in_order),
        cmocka_unit_test(one_gate_at_a_time),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
