/* SPDX-License-Identifier: Apache-2.0
 * SPDX-FileCopyrightText: The Sluice authors */

/* Which workloads wait in no queue. */
#include "t.h"
#include "cli/stray.h"

#define WAITS(name)                                                                                \
    "{\"metadata\":{\"namespace\":\"lab\",\"name\":\"" name "\"},\"spec\":{\"priority\":7},"       \
    "\"status\":{\"conditions\":[{\"type\":\"QuotaReserved\",\"status\":\"False\","                \
    "\"reason\":\"Misconfigured\",\"message\":\"LocalQueue x does not exist\"}]}}"
#define HAS(name, type)                                                                            \
    "{\"metadata\":{\"namespace\":\"lab\",\"name\":\"" name "\"},"                                 \
    "\"status\":{\"conditions\":[{\"type\":\"QuotaReserved\",\"status\":\"False\"},"               \
    "{\"type\":\"" type "\",\"status\":\"True\"}]}}"

static void test_stray_workload_that_no_queue_lists_is_told_with_its_reason(void **state)
{
    (void)state;
    struct sl_map *seen = sl_map_new();
    struct sl_json *listed = parse("[{\"metadata\":{\"namespace\":\"lab\",\"name\":\"a\"}}]");
    struct sl_json *all = parse("[" WAITS("a") "," WAITS("b") "]");
    sl_stray_see(seen, listed);
    struct sl_json *strays = sl_stray_new(all, seen);
    assert_int_equal(sl_json_len(strays), 1);
    const struct sl_json *b = sl_json_at(strays, 0);
    assert_string_equal(sl_object_name(b), "b");
    assert_string_equal(sl_object_namespace(b), "lab");
    assert_int_equal(sl_json_path_int(b, "priority", 0), 7);
    assert_string_equal(sl_json_path_text(b, "reason", ""), "Misconfigured");
    assert_string_equal(sl_json_path_text(b, "message", ""), "LocalQueue x does not exist");
    sl_json_free(strays);
    sl_json_free(all);
    sl_json_free(listed);
    sl_map_free(seen);
}

static void test_stray_finished_holding_and_new_workloads_are_left_out(void **state)
{
    (void)state;
    struct sl_map *seen = sl_map_new();
    struct sl_json *all = parse("[" HAS(
        "done", "Finished") ",{\"metadata\":{\"name\":\"new\"}},"
                            "{\"metadata\":{\"name\":\"holds\"},\"status\":{\"conditions\":["
                            "{\"type\":\"QuotaReserved\",\"status\":\"True\"}]}}]");
    struct sl_json *strays = sl_stray_new(all, seen);
    assert_int_equal(sl_json_len(strays), 0);
    sl_json_free(strays);
    sl_json_free(all);
    sl_map_free(seen);
}

static void test_stray_deactivated_workload_says_what_deactivated_it(void **state)
{
    (void)state;
    struct sl_map *seen = sl_map_new();
    struct sl_json *all = parse("[{\"metadata\":{\"name\":\"a\"},\"status\":{\"conditions\":["
                                "{\"type\":\"QuotaReserved\",\"status\":\"False\",\"reason\":"
                                "\"Deactivated\",\"message\":\"m\"},"
                                "{\"type\":\"Evicted\",\"status\":\"True\",\"reason\":"
                                "\"DeactivatedDueToX\",\"message\":\"x\"}]}}]");
    struct sl_json *strays = sl_stray_new(all, seen);
    assert_string_equal(sl_json_path_text(sl_json_at(strays, 0), "message", ""), "x");
    sl_json_free(strays);
    sl_json_free(all);
    sl_map_free(seen);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_stray_workload_that_no_queue_lists_is_told_with_its_reason),
        cmocka_unit_test(test_stray_deactivated_workload_says_what_deactivated_it),
        cmocka_unit_test(test_stray_finished_holding_and_new_workloads_are_left_out),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
