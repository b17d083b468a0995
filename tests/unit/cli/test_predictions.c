/* SPDX-License-Identifier: Apache-2.0
 * SPDX-FileCopyrightText: The Sluice authors */

/* What was predicted and what became of it. The engine is a stub. */
#include "t.h"
#include "base/map.h"
#include "cli/pages/predictions.h"
#include <stdio.h>

#define T0 1700000000000

static struct sl_map *admitted;

bool sl_engine_admitted(const struct sl_engine *g, const char *key, int64_t *admitted_ms)
{
    union sl_map_value value;
    (void)g;
    if (!sl_map_get(admitted, key, &value)) {
        return false;
    }
    *admitted_ms = value.number == 0 ? INT64_MIN : (int64_t)value.number;
    return true;
}

static void set(const char *key, int64_t ms)
{
    sl_map_put(admitted, key, (union sl_map_value){.number = (uint64_t)ms});
}

static void expect(const struct sl_predictions *p, const char *text, bool there)
{
    struct sl_buf out = {0};
    sl_predictions_print(p, "standalone", &out);
    if ((strstr(out.data, text) != NULL) != there) {
        fail_msg("%s in %s", text, out.data);
    }
    sl_buf_fini(&out);
}

static void test_predictions_are_compared_with_what_happened(void **state)
{
    (void)state;
    static const char lines[] = "ns/a 1700000010000 Exact\nns/b 1700000010000 Estimate\n"
                                "ns/c 1700000010000 Exact\nns/old 1700000010000 Exact\nnonsense\n";
    struct sl_predictions p;
    const struct sl_engine *engine = (const struct sl_engine *)&p; /* nobody looks */
    admitted = sl_map_new();
    sl_predictions_init(&p);
    sl_predictions_take(&p, lines, sizeof lines - 1, T0);
    assert_int_equal(sl_map_count(p.open), 4);
    set("ns/a", T0 + 10500);
    set("ns/b", 0);
    set("ns/old", T0 - 1); /* it was evicted, and has not started again */
    sl_predictions_settle(&p, engine);
    assert_int_equal(sl_map_count(p.open), 2); /* c is no more */
    expect(&p, "_bucket{certainty=\"Exact\",replica_role=\"standalone\",le=\"1\"} 1\n", true);
    expect(&p, "Estimate", false);
    sl_predictions_take(&p, "ns/b 1700000050000 Estimate\n", 28, T0 + 1000);
    set("ns/b", T0 + 10000);
    sl_predictions_settle(&p, engine);
    expect(&p, "_sum{certainty=\"Estimate\",replica_role=\"standalone\"} 40.000000\n", true);
    sl_predictions_fini(&p);
    sl_map_free(admitted);
}

static void test_predictions_are_bounded(void **state)
{
    (void)state;
    struct sl_predictions p;
    sl_predictions_init(&p);
    for (unsigned i = 0; i < SL_PREDICTIONS_MAX + 10; i++) {
        char line[64];
        int n = snprintf(line, sizeof line, "ns/w%u 1700000010000 Exact", i);
        sl_predictions_take(&p, line, (size_t)n, T0);
    }
    assert_int_equal(sl_map_count(p.open), SL_PREDICTIONS_MAX);
    sl_predictions_fini(&p);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_predictions_are_compared_with_what_happened),
        cmocka_unit_test(test_predictions_are_bounded)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
