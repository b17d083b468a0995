/* SPDX-License-Identifier: Apache-2.0
 * SPDX-FileCopyrightText: The Sluice authors */

/* Topology assignments: their compressed form, there and back, and what is said of a broken one. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <string.h>
#include <cmocka.h>

#include "api/objects/topology_assignment.h"
#include "base/mem.h"
#include "fixture.h"

static const char *const hostname[] = {"kubernetes.io/hostname"};
static const char *const block_rack[] = {"cloud/block", "cloud/rack"};

static struct sl_json *nodes(uint32_t count, const char *const *names, const uint32_t *counts)
{
    struct sl_assignment_rows rows = {1, hostname, count, names, counts};
    return sl_topology_assignment_new(&rows);
}

/* What the reader gives back is what was written. */
static void assert_reads(const struct sl_json *a, const struct sl_assignment_rows *rows)
{
    struct sl_assignment_reader r;
    struct sl_error e = {0};
    if (sl_topology_assignment_check(a, "", &e) != SL_CODE_OK) {
        fail_msg("%s", e.text);
    }
    sl_assignment_reader_start(&r, a);
    assert_int_equal(r.level_count, rows->level_count);
    for (uint32_t i = 0; i < rows->row_count; i++) {
        assert_true(sl_assignment_reader_next(&r));
        for (uint32_t k = 0; k < rows->level_count; k++) {
            assert_string_equal(r.values[k], rows->values[i * rows->level_count + k]);
        }
        assert_int_equal(r.count, rows->counts[i]);
    }
    assert_false(sl_assignment_reader_next(&r));
}

/* --- writing ---------------------------------------------------------------------------------- */

static void test_assignment_of_one_node_uses_universal_values(void **state)
{
    (void)state;
    const char *names[] = {"n1"};
    struct sl_json *a = nodes(1, names, (uint32_t[]){3});
    assert_json(a,
                "{\"levels\":[\"kubernetes.io/hostname\"],\"slices\":[{\"domainCount\":1,"
                "\"valuesPerLevel\":[{\"universal\":\"n1\"}],\"podCounts\":{\"universal\":3}}]}");
    sl_json_free(a);
}

static void test_assignment_of_like_names_takes_prefix_and_suffix_out(void **state)
{
    (void)state;
    const char *names[] = {"ip-10-24-34-0.internal", "ip-10-24-34-1.internal"};
    struct sl_json *a = nodes(2, names, (uint32_t[]){1, 2});
    assert_json(a,
                "{\"levels\":[\"kubernetes.io/hostname\"],\"slices\":[{\"domainCount\":2,"
                "\"valuesPerLevel\":[{\"individual\":{\"prefix\":\"ip-10-24-34-\",\"suffix\":"
                "\".internal\",\"roots\":[\"0\",\"1\"]}}],\"podCounts\":{\"individual\":[1,2]}}]}");
    sl_json_free(a);
}

static void test_assignment_prefix_and_suffix_that_would_overlap_do_not(void **state)
{
    (void)state;
    const char *names[] = {"aba", "ababa"};
    const uint32_t counts[] = {1, 1};
    struct sl_assignment_rows rows = {1, hostname, 2, names, counts};
    struct sl_json *a = sl_topology_assignment_new(&rows);
    assert_json(sl_json_path(a, "slices.0.valuesPerLevel.0"),
                "{\"individual\":{\"suffix\":\"aba\",\"roots\":[\"\",\"ab\"]}}");
    assert_reads(a, &rows);
    sl_json_free(a);
}

static void test_assignment_levels_are_compressed_each_for_itself(void **state)
{
    (void)state;
    const char *values[] = {"b1", "r1", "b1", "r2"};
    const uint32_t counts[] = {2, 2};
    struct sl_assignment_rows rows = {2, block_rack, 2, values, counts};
    struct sl_json *a = sl_topology_assignment_new(&rows);
    assert_json(sl_json_path(a, "slices"),
                "[{\"domainCount\":2,\"valuesPerLevel\":[{\"universal\":\"b1\"},{\"individual\":"
                "{\"prefix\":\"r\",\"roots\":[\"1\",\"2\"]}}],\"podCounts\":{\"universal\":2}}]");
    assert_reads(a, &rows);
    sl_json_free(a);
}

/* Half of `count` nodes in pool a, half in pool b. */
static struct sl_json *two_pools(uint32_t count)
{
    static char names[64][32];
    const char *values[64];
    uint32_t counts[64];
    for (uint32_t i = 0; i < count; i++) {
        bool second = i >= count / 2;
        (void)snprintf(names[i], sizeof names[i], "pool-%s-node-%05u", second ? "b" : "a",
                       second ? i - count / 2 : i);
        values[i] = names[i];
        counts[i] = 1;
    }
    struct sl_assignment_rows rows = {1, hostname, count, values, counts};
    struct sl_json *a = sl_topology_assignment_new(&rows);
    assert_reads(a, &rows);
    return a;
}

static void test_assignment_of_two_short_pools_is_one_slice_as_that_is_shorter(void **state)
{
    (void)state;
    struct sl_json *a = two_pools(4);
    assert_int_equal(sl_json_len(sl_json_get(a, "slices")), 1);
    sl_json_free(a);
}

static void test_assignment_of_two_long_pools_is_two_slices(void **state)
{
    (void)state;
    struct sl_json *a = two_pools(20);
    assert_int_equal(sl_json_len(sl_json_get(a, "slices")), 2);
    assert_string_equal(sl_json_path_text(a, "slices.1.valuesPerLevel.0.individual.prefix", ""),
                        "pool-b-node-0000");
    sl_json_free(a);
}

static void test_assignment_of_racks_is_never_split_by_prefix(void **state)
{
    (void)state;
    static char names[40][48];
    const char *values[80];
    uint32_t counts[40];
    for (uint32_t i = 0; i < 40; i++) {
        (void)snprintf(names[i], sizeof names[i], "%s-%05u", i < 20 ? "x-long-name" : "y-other-one",
                       i);
        values[2 * i] = "b";
        values[2 * i + 1] = names[i];
        counts[i] = 1;
    }
    struct sl_assignment_rows rows = {2, block_rack, 40, values, counts};
    struct sl_json *a = sl_topology_assignment_new(&rows);
    assert_int_equal(sl_json_len(sl_json_get(a, "slices")), 1);
    assert_reads(a, &rows);
    sl_json_free(a);
}

static void test_assignment_with_too_many_runs_takes_shorter_prefixes(void **state)
{
    (void)state;
    enum { COUNT = 1001 };
    static char names[COUNT][16];
    static const char *values[COUNT];
    static uint32_t counts[COUNT];
    for (uint32_t i = 0; i < COUNT; i++) {
        (void)snprintf(names[i], sizeof names[i], "%s-%04u", i % 2 == 0 ? "a-x" : "b-y", i);
        values[i] = names[i];
        counts[i] = 1;
    }
    struct sl_assignment_rows rows = {1, hostname, COUNT, values, counts};
    struct sl_json *a = sl_topology_assignment_new(&rows);
    assert_int_equal(sl_json_len(sl_json_get(a, "slices")), 1);
    assert_reads(a, &rows);
    sl_json_free(a);
}

static void test_assignment_of_very_many_nodes_is_cut_at_the_limit_of_a_slice(void **state)
{
    (void)state;
    enum { COUNT = 100001 };
    char(*names)[16] = sl_mem_new(COUNT, sizeof *names);
    const char **values = sl_mem_new(COUNT, sizeof *values);
    uint32_t *counts = sl_mem_new(COUNT, sizeof *counts);
    for (uint32_t i = 0; i < COUNT; i++) {
        (void)snprintf(names[i], sizeof names[i], "n%06u", i);
        values[i] = names[i];
        counts[i] = 1 + i % 3;
    }
    struct sl_assignment_rows rows = {1, hostname, COUNT, values, counts};
    struct sl_json *a = sl_topology_assignment_new(&rows);
    assert_int_equal(sl_json_len(sl_json_get(a, "slices")), 2);
    assert_int_equal(sl_json_path_int(a, "slices.0.domainCount", 0), 100000);
    assert_reads(a, &rows);
    sl_json_free(a);
    sl_mem_free(counts);
    sl_mem_free(values);
    sl_mem_free(names);
}

/* --- there and back, of everything --------------------------------------------------------------- */

static uint32_t rolls = 12345;
static uint32_t roll(uint32_t sides)
{
    rolls = rolls * 1664525u + 1013904223u;
    return (rolls >> 8) % sides;
}

static void random_name(char out[static 24])
{
    static const char *const parts[] = {"a", "b", "-", "aa", "-x-", "0", "-", "ab"};
    out[0] = '\0';
    for (uint32_t n = 1 + roll(6); n > 0; n--) {
        strcat(out, parts[roll(8)]);
    }
}

static void test_assignment_random_rows_come_back_as_they_were(void **state)
{
    (void)state;
    for (uint32_t round = 0; round < 3000; round++) {
        char names[60][24];
        const char *values[60];
        uint32_t counts[60];
        uint32_t levels = 1 + roll(2);
        uint32_t count = roll(2) == 0 ? roll(30) : roll(4);
        for (uint32_t i = 0; i < count * levels; i++) {
            random_name(names[i]);
            values[i] = names[i];
        }
        uint32_t kinds = 1 + roll(2);
        for (uint32_t i = 0; i < count; i++) {
            counts[i] = 1 + roll(kinds);
        }
        static const char *const rack_host[] = {"cloud/rack", "kubernetes.io/hostname"};
        struct sl_assignment_rows rows = {levels, levels == 1 ? hostname : rack_host, count, values,
                                          counts};
        struct sl_json *a = sl_topology_assignment_new(&rows);
        assert_reads(a, &rows);
        sl_json_free(a);
    }
}

/* --- broken ones ------------------------------------------------------------------------------ */

static const char good[] =
    "{levels: [cloud/block, kubernetes.io/hostname], slices: [{domainCount: 2, valuesPerLevel: "
    "[{universal: b}, {individual: {prefix: node-, roots: ['1', '2']}}], podCounts: {individual: "
    "[1, "
    "2]}}]}";

static void assert_refused(const char *patch, const char *field, const char *text)
{
    struct sl_error e = {0};
    struct sl_json *base = yaml(good);
    struct sl_json *a = patched(base, patch);
    assert_int_equal(sl_topology_assignment_check(a, "at", &e), SL_CODE_INVALID);
    if (strcmp(e.causes[0].field, field) != 0 || strstr(e.causes[0].text, text) == NULL) {
        fail_msg("%s: got '%s' '%s'", patch, e.causes[0].field, e.causes[0].text);
    }
    sl_json_free(a);
    sl_json_free(base);
}

static void test_assignment_check_names_the_field_that_is_wrong(void **state)
{
    (void)state;
    assert_refused("[{op: remove, path: /levels}]", "at.levels", "must be a list");
    assert_refused("[{op: replace, path: /levels, value: []}]", "at.levels", "at least 1");
    assert_refused("[{op: replace, path: /levels/0, value: 7}]", "at.levels[0]", "must be a text");
    assert_refused("[{op: remove, path: /slices}]", "at.slices", "must be a list");
    assert_refused("[{op: replace, path: /slices/0, value: 3}]", "at.slices[0].domainCount",
                   "1 to");
    assert_refused("[{op: replace, path: /slices/0/domainCount, value: 0}]",
                   "at.slices[0].domainCount", "must be a number from 1 to 100000");
    assert_refused("[{op: replace, path: /slices/0/domainCount, value: 3}]",
                   "at.slices[0].valuesPerLevel[1].individual.roots",
                   "must have 3 items, and has 2");
    assert_refused("[{op: remove, path: /slices/0/valuesPerLevel/0}]",
                   "at.slices[0].valuesPerLevel", "and has 1");
    assert_refused("[{op: replace, path: /slices/0/valuesPerLevel/0, value: {}}]",
                   "at.slices[0].valuesPerLevel[0]", "exactly one");
    assert_refused("[{op: add, path: /slices/0/valuesPerLevel/1/universal, value: x}]",
                   "at.slices[0].valuesPerLevel[1]", "exactly one");
    assert_refused("[{op: replace, path: /slices/0/valuesPerLevel/0/universal, value: 4}]",
                   "at.slices[0].valuesPerLevel[0].universal", "must be a text");
    assert_refused("[{op: replace, path: /slices/0/valuesPerLevel/1/individual/prefix, value: 4}]",
                   "at.slices[0].valuesPerLevel[1].individual.prefix", "must be a text");
    assert_refused("[{op: replace, path: /slices/0/valuesPerLevel/1/individual/roots/1, value: "
                   "n123456789012345678901234567890123456789012345678901234567890123}]",
                   "at.slices[0].valuesPerLevel[1].individual.roots[1]", "at most 63 bytes");
    assert_refused("[{op: remove, path: /slices/0/podCounts}]", "at.slices[0].podCounts",
                   "exactly one");
    assert_refused("[{op: replace, path: /slices/0/podCounts/individual/1, value: 0}]",
                   "at.slices[0].podCounts.individual[1]", "1 to 2147483647");
    assert_refused("[{op: replace, path: /slices/0/podCounts, value: {universal: -1}}]",
                   "at.slices[0].podCounts.universal", "1 to 2147483647");
    assert_refused("[{op: replace, path: /slices/0/podCounts/individual, value: [1]}]",
                   "at.slices[0].podCounts.individual", "must have 2 items");
}

static void test_assignment_check_of_what_is_no_map_is_refused(void **state)
{
    (void)state;
    struct sl_error e = {0};
    struct sl_json *text = sl_json_new_text("rack");
    assert_int_equal(sl_topology_assignment_check(text, "", &e), SL_CODE_INVALID);
    assert_string_equal(e.causes[0].field, "levels");
    sl_error_clear(&e);
    assert_int_equal(sl_topology_assignment_check(NULL, "", &e), SL_CODE_INVALID);
    sl_json_free(text);
}

/* Whatever is taken out of a good one, it is refused or can be read to its end. */
static void test_assignment_with_any_value_replaced_is_refused_or_readable(void **state)
{
    (void)state;
    static const char *const values[] = {"null", "1", "-1", "x", "[]", "{}", "[1]", "['a', 'b']"};
    static const char *const paths[] = {
        "/levels",
        "/levels/0",
        "/slices",
        "/slices/0",
        "/slices/0/domainCount",
        "/slices/0/valuesPerLevel",
        "/slices/0/valuesPerLevel/0",
        "/slices/0/valuesPerLevel/1",
        "/slices/0/valuesPerLevel/1/individual",
        "/slices/0/valuesPerLevel/1/individual/prefix",
        "/slices/0/valuesPerLevel/1/individual/roots",
        "/slices/0/valuesPerLevel/1/individual/roots/0",
        "/slices/0/podCounts",
        "/slices/0/podCounts/individual",
        "/slices/0/podCounts/individual/0",
    };
    for (size_t p = 0; p < sizeof paths / sizeof paths[0]; p++) {
        for (size_t v = 0; v < sizeof values / sizeof values[0]; v++) {
            char patch[160];
            struct sl_error e = {0};
            struct sl_assignment_reader r;
            (void)snprintf(patch, sizeof patch, "[{op: replace, path: %s, value: %s}]", paths[p],
                           values[v]);
            struct sl_json *base = yaml(good);
            struct sl_json *a = patched(base, patch);
            if (sl_topology_assignment_check(a, "", &e) == SL_CODE_OK) {
                sl_assignment_reader_start(&r, a);
                while (sl_assignment_reader_next(&r)) {
                    assert_int_not_equal(r.count, 0);
                }
            } else {
                assert_int_not_equal(e.causes[0].field[0], '\0');
            }
            sl_json_free(a);
            sl_json_free(base);
        }
    }
}

static void test_assignment_levels_are_lent_in_order(void **state)
{
    (void)state;
    const char *levels[SL_ASSIGNMENT_LEVELS_MAX];
    struct sl_json *a = yaml(good);
    assert_int_equal(sl_topology_assignment_levels(a, levels), 2);
    assert_string_equal(levels[0], "cloud/block");
    assert_string_equal(levels[1], "kubernetes.io/hostname");
    sl_json_free(a);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_assignment_of_one_node_uses_universal_values),
        cmocka_unit_test(test_assignment_of_like_names_takes_prefix_and_suffix_out),
        cmocka_unit_test(test_assignment_prefix_and_suffix_that_would_overlap_do_not),
        cmocka_unit_test(test_assignment_levels_are_compressed_each_for_itself),
        cmocka_unit_test(test_assignment_of_two_short_pools_is_one_slice_as_that_is_shorter),
        cmocka_unit_test(test_assignment_of_two_long_pools_is_two_slices),
        cmocka_unit_test(test_assignment_of_racks_is_never_split_by_prefix),
        cmocka_unit_test(test_assignment_with_too_many_runs_takes_shorter_prefixes),
        cmocka_unit_test(test_assignment_of_very_many_nodes_is_cut_at_the_limit_of_a_slice),
        cmocka_unit_test(test_assignment_random_rows_come_back_as_they_were),
        cmocka_unit_test(test_assignment_check_names_the_field_that_is_wrong),
        cmocka_unit_test(test_assignment_check_of_what_is_no_map_is_refused),
        cmocka_unit_test(test_assignment_with_any_value_replaced_is_refused_or_readable),
        cmocka_unit_test(test_assignment_levels_are_lent_in_order),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
