/* SPDX-License-Identifier: Apache-2.0
 * SPDX-FileCopyrightText: The Sluice authors */

/* Who waits without standing in a ClusterQueue's list. */
#include "t.h"
#include "cli/screen/waiting.h"

#define WAITS(name)                                                                                \
    "{\"metadata\":{\"namespace\":\"lab\",\"name\":\"" name "\"},\"spec\":{\"priority\":7},"       \
    "\"status\":{\"conditions\":[{\"type\":\"QuotaReserved\",\"status\":\"False\","                \
    "\"reason\":\"Misconfigured\",\"message\":\"LocalQueue x does not exist\"}]}}"
#define HAS(name, type)                                                                            \
    "{\"metadata\":{\"namespace\":\"lab\",\"name\":\"" name "\"},"                                 \
    "\"status\":{\"conditions\":[{\"type\":\"QuotaReserved\",\"status\":\"False\"},"               \
    "{\"type\":\"" type "\",\"status\":\"True\"}]}}"

static void test_waiting_workload_that_no_queue_lists_is_told_with_its_reason(void **state)
{
    (void)state;
    struct sl_map *seen = sl_map_new();
    struct sl_json *listed = parse("[{\"metadata\":{\"namespace\":\"lab\",\"name\":\"a\"}}]");
    struct sl_json *all = parse("[" WAITS("a") "," WAITS("b") "]");
    sl_waiting_see(seen, listed);
    struct sl_json *strays = sl_waiting_unlisted(all, seen, NULL, "");
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

static void test_waiting_finished_holding_and_new_workloads_are_left_out(void **state)
{
    (void)state;
    struct sl_map *seen = sl_map_new();
    struct sl_json *all = parse("[" HAS(
        "done", "Finished") ",{\"metadata\":{\"name\":\"new\"}},"
                            "{\"metadata\":{\"name\":\"holds\"},\"status\":{\"conditions\":["
                            "{\"type\":\"QuotaReserved\",\"status\":\"True\"}]}}]");
    struct sl_json *strays = sl_waiting_unlisted(all, seen, NULL, "");
    assert_int_equal(sl_json_len(strays), 0);
    sl_json_free(strays);
    sl_json_free(all);
    sl_map_free(seen);
}

static void test_waiting_deactivated_workload_says_what_deactivated_it(void **state)
{
    (void)state;
    struct sl_map *seen = sl_map_new();
    struct sl_json *all = parse("[{\"metadata\":{\"name\":\"a\"},\"status\":{\"conditions\":["
                                "{\"type\":\"QuotaReserved\",\"status\":\"False\",\"reason\":"
                                "\"Deactivated\",\"message\":\"m\"},"
                                "{\"type\":\"Evicted\",\"status\":\"True\",\"reason\":"
                                "\"DeactivatedDueToX\",\"message\":\"x\"}]}}]");
    struct sl_json *strays = sl_waiting_unlisted(all, seen, NULL, "");
    assert_string_equal(sl_json_path_text(sl_json_at(strays, 0), "message", ""), "x");
    sl_json_free(strays);
    sl_json_free(all);
    sl_map_free(seen);
}

/* A workload of the LocalQueue `queue`, stopped there. */
#define STOPPED(name, queue)                                                                       \
    "{\"metadata\":{\"namespace\":\"lab\",\"name\":\"" name "\"},\"spec\":{\"queueName\":\"" queue \
    "\"},\"status\":{\"conditions\":[{\"type\":\"QuotaReserved\",\"status\":\"False\","            \
    "\"reason\":\"Misconfigured\",\"message\":\"stopped\"}]}}"

static void test_waiting_of_a_queue_are_those_whose_local_queue_names_it(void **state)
{
    (void)state;
    struct sl_map *seen = sl_map_new();
    struct sl_json *all = parse("[" STOPPED("a", "one") "," STOPPED("b", "two") "]");
    struct sl_json *queues =
        parse("[{\"metadata\":{\"namespace\":\"lab\",\"name\":\"one\"},\"spec\":{\"clusterQueue\":"
              "\"team\"}},{\"metadata\":{\"namespace\":\"lab\",\"name\":\"two\"},\"spec\":"
              "{\"clusterQueue\":\"other\"}}]");
    struct sl_json *list = sl_waiting_unlisted(all, seen, queues, "team");
    assert_int_equal(sl_json_len(list), 1);
    assert_string_equal(sl_object_name(sl_json_at(list, 0)), "a");
    sl_json_free(list);
    sl_json_free(queues);
    sl_json_free(all);
    sl_map_free(seen);
}

#define RESERVED(name, checks)                                                                     \
    "{\"metadata\":{\"name\":\"" name "\"},\"status\":{\"admission\":{\"clusterQueue\":\"team\"}," \
    "\"conditions\":[{\"type\":\"QuotaReserved\",\"status\":\"True\"},{\"type\":\"Admitted\","     \
    "\"status\":\"False\",\"reason\":\"r\",\"message\":\"m\"}],\"admissionChecks\":[" checks "]}}"

static void test_waiting_for_admission_names_every_open_check(void **state)
{
    (void)state;
    struct sl_json *all = parse("[" RESERVED(
        "a",
        "{\"name\":\"x\",\"state\":\"Pending\",\"message\":\"not yet\"},{\"name\":\"y\",\"state\":"
        "\"Ready\"},{\"name\":\"z\",\"state\":\"Retry\"}") "," RESERVED("b",
                                                                        "") "," HAS("c",
                                                                                    "Admitted") "]");
    struct sl_json *list = sl_waiting_for_admission(all, "team");
    assert_int_equal(sl_json_len(list), 2);
    assert_string_equal(sl_json_path_text(list, "0.message", ""),
                        "admission check x is Pending: not yet; admission check z is Retry");
    assert_string_equal(sl_json_path_text(list, "1.message", ""), "m");
    sl_json_free(list);
    list = sl_waiting_for_admission(all, "other");
    assert_int_equal(sl_json_len(list), 0);
    sl_json_free(list);
    sl_json_free(all);
}

static void test_waiting_workloads_get_the_reason_of_their_list(void **state)
{
    (void)state;
    struct sl_json *all =
        parse("[" WAITS("a") "," WAITS("b") ",{\"metadata\":{\"namespace\":\"lab\","
                                            "\"name\":\"c\"}}]");
    struct sl_json *listed = parse(
        "[{\"metadata\":{\"namespace\":\"lab\",\"name\":\"c\"},\"reason\":\"s\",\"message\":\"n\"},"
        "{\"metadata\":{\"namespace\":\"lab\",\"name\":\"gone\"}},"
        "{\"metadata\":{\"namespace\":\"lab\",\"name\":\"a\"},\"reason\":\"r\",\"message\":\"m\"}"
        "]");
    sl_waiting_freshen(all, listed);
    const char *names[] = {"c", "a", "b"}; /* who goes first comes first */
    const char *reasons[] = {"s", "r", "Misconfigured"};
    assert_int_equal(sl_json_len(all), 3);
    for (size_t i = 0; i < 3; i++) {
        const struct sl_json *why = sl_condition_find(sl_json_at(all, i), "QuotaReserved");
        assert_string_equal(sl_object_name(sl_json_at(all, i)), names[i]);
        assert_string_equal(sl_json_path_text(why, "reason", ""), reasons[i]);
        assert_string_equal(sl_json_path_text(why, "status", ""), "False");
    }
    sl_json_free(listed);
    sl_json_free(all);
}

#define JOB(name, uid, more)                                                                       \
    "{\"metadata\":{\"namespace\":\"lab\",\"name\":\"" name "\",\"uid\":\"" uid                    \
    "\",\"labels\":{\"kueue.x-k8s.io/queue-name\":\"q\"}},\"spec\":{\"suspend\":true}" more "}"

static void test_waiting_jobs_without_a_workload_are_found_by_their_uid(void **state)
{
    (void)state;
    struct sl_json *jobs =
        parse("[" JOB("a", "1", "") "," JOB("b", "2", "") ",{\"metadata\":{\"name\":\"c\"}}]");
    struct sl_json *all = parse("[{\"metadata\":{\"ownerReferences\":[{\"uid\":\"1\"}]}}]");
    struct sl_json *list = sl_waiting_without_workload(jobs, all);
    assert_int_equal(sl_json_len(list), 1);
    assert_string_equal(sl_json_path_text(list, "0.metadata.name", ""), "b");
    assert_string_equal(sl_json_path_text(list, "0.reason", ""), "NoWorkload");
    sl_waiting_keep_namespace(list, "lab");
    assert_int_equal(sl_json_len(list), 1);
    sl_waiting_keep_namespace(list, "shop");
    assert_int_equal(sl_json_len(list), 0);
    sl_json_free(list);
    sl_json_free(all);
    sl_json_free(jobs);
}

static void test_waiting_a_queue_that_does_not_exist_is_guessed(void **state)
{
    (void)state;
    struct sl_json *queues = parse("[{\"metadata\":{\"namespace\":\"lab\",\"name\":\"research\"}},"
                                   "{\"metadata\":{\"namespace\":\"shop\",\"name\":\"reserch\"}}]");
    struct sl_json *items =
        parse("[{\"metadata\":{\"namespace\":\"lab\"},\"localQueueName\":\"reserch\","
              "\"reason\":\"Misconfigured\",\"message\":\"m\"},"
              "{\"metadata\":{\"namespace\":\"shop\"},\"localQueueName\":\"reserch\","
              "\"reason\":\"Misconfigured\",\"message\":\"m\"},"
              "{\"metadata\":{\"namespace\":\"lab\"},\"localQueueName\":\"reserch\","
              "\"reason\":\"Suspended\",\"message\":\"m\"}]");
    sl_waiting_hint(items, queues);
    assert_string_equal(sl_json_path_text(items, "0.message", ""), "m; did you mean research?");
    assert_string_equal(sl_json_path_text(items, "1.message", ""), "m"); /* it exists there */
    assert_string_equal(sl_json_path_text(items, "2.message", ""), "m");
    sl_json_free(items);
    sl_json_free(queues);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_waiting_workload_that_no_queue_lists_is_told_with_its_reason),
        cmocka_unit_test(test_waiting_deactivated_workload_says_what_deactivated_it),
        cmocka_unit_test(test_waiting_finished_holding_and_new_workloads_are_left_out),
        cmocka_unit_test(test_waiting_of_a_queue_are_those_whose_local_queue_names_it),
        cmocka_unit_test(test_waiting_for_admission_names_every_open_check),
        cmocka_unit_test(test_waiting_workloads_get_the_reason_of_their_list),
        cmocka_unit_test(test_waiting_jobs_without_a_workload_are_found_by_their_uid),
        cmocka_unit_test(test_waiting_a_queue_that_does_not_exist_is_guessed),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
