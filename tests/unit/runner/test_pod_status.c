/* SPDX-License-Identifier: Apache-2.0
 * SPDX-FileCopyrightText: The Sluice authors */

/* Statuses of pods from what supervisors have written. */
#include "t.h"
#include "api/objects/object.h"
#include "runner/machine.h"
#include "runner/pod_status.h"

#define T0 1700000000000
#define POD                                                                                        \
    "{\"metadata\":{\"name\":\"p\"},\"spec\":{\"containers\":[{\"name\":\"c\",\"image\":\"i\"}]}}"

static const char *text(const struct sl_json *pod, const char *path)
{
    return sl_json_path_text(pod, path, "");
}

static void test_status_of_a_pod_that_runs(void **state)
{
    (void)state;
    struct sl_json *pod = json_of(POD);
    struct sl_json *said =
        json_of("{\"containers\":[{\"name\":\"c\",\"state\":\"running\",\"startedAt\":"
                "\"2023-11-14T22:13:20Z\",\"restarts\":1,\"last\":{\"exitCode\":3}}]}");
    assert_true(sl_pod_say_running(pod, NULL, T0));
    assert_string_equal(text(pod, "status.phase"), "Pending");
    assert_true(sl_pod_say_running(pod, said, T0));
    assert_false(sl_pod_say_running(pod, said, T0 + 5000));
    assert_string_equal(text(pod, "status.phase"), "Running");
    assert_string_equal(text(pod, "status.startTime"), "2023-11-14T22:13:20Z");
    assert_true(sl_condition_true(pod, "Ready"));
    assert_int_equal(sl_json_path_int(pod, "status.containerStatuses.0.restartCount", 0), 1);
    assert_int_equal(
        sl_json_path_int(pod, "status.containerStatuses.0.lastState.terminated.exitCode", 0), 3);
    sl_json_free(said);
    sl_json_free(pod);
}

static void test_status_of_a_pod_that_ended(void **state)
{
    (void)state;
    static const struct {
        const char *code;
        bool deadline;
        const char *phase;
    } all[] = {{"0", false, "Succeeded"}, {"2", false, "Failed"}, {"0", true, "Failed"}};
    for (size_t i = 0; i < 3; i++) {
        char said_text[160];
        snprintf(said_text, sizeof said_text,
                 "{\"containers\":[{\"name\":\"c\",\"state\":\"terminated\",\"exitCode\":%s}]}",
                 all[i].code);
        struct sl_json *pod = json_of(POD), *said = json_of(said_text);
        assert_true(sl_pod_say_ended(pod, said, all[i].deadline, T0));
        assert_string_equal(text(pod, "status.phase"), all[i].phase);
        assert_string_equal(text(pod, "status.reason"), all[i].deadline ? "DeadlineExceeded" : "");
        assert_false(sl_condition_true(pod, "Ready"));
        sl_json_free(said);
        sl_json_free(pod);
    }
}

static void test_status_of_a_pod_whose_container_was_never_started(void **state)
{
    (void)state;
    struct sl_json *pod = json_of(POD);
    struct sl_json *said = json_of("{\"containers\":[{\"name\":\"c\",\"state\":\"waiting\"}]}");
    assert_true(sl_pod_say_ended(pod, said, false, T0));
    assert_string_equal(text(pod, "status.phase"), "Failed");
    sl_json_free(said);
    sl_json_free(pod);
}

static void test_status_of_a_pod_that_was_lost_or_refused_or_waits(void **state)
{
    (void)state;
    struct sl_json *said = json_of("{\"containers\":[{\"name\":\"c\",\"state\":\"running\"}]}");
    struct sl_json *pod = json_of(POD);
    assert_true(sl_pod_say_lost(pod, said, T0));
    assert_string_equal(text(pod, "status.reason"), "Lost");
    assert_int_equal(
        sl_json_path_int(pod, "status.containerStatuses.0.state.terminated.exitCode", 0), 137);
    sl_json_free(pod);
    pod = json_of(POD);
    assert_true(sl_pod_say_lost(pod, NULL, T0));
    assert_string_equal(text(pod, "status.phase"), "Failed");
    sl_json_free(pod);
    pod = json_of(POD);
    assert_true(sl_pod_say_refused(pod, "UnsupportedSpec", "spec.x: no", T0));
    assert_string_equal(text(pod, "status.message"), "spec.x: no");
    assert_string_equal(text(pod, "status.phase"), "Failed");
    sl_json_free(pod);
    pod = json_of(POD);
    assert_true(sl_pod_say_waiting(pod, "2 of 4", T0));
    assert_false(sl_pod_say_waiting(pod, "2 of 4", T0 + 1));
    assert_string_equal(sl_json_path_text(sl_condition_find(pod, "PodScheduled"), "message", ""),
                        "2 of 4");
    sl_json_free(pod);
    sl_json_free(said);
}

static void test_machine_is_a_node(void **state)
{
    (void)state;
    char name[SL_NODE_NAME_SIZE];
    static const char *const names[][2] = {
        {"Box-1.example.com", "box-1"}, {"-a_b-", "ab"}, {"", "localhost"}};
    for (size_t i = 0; i < 3; i++) {
        sl_machine_name(names[i][0], name);
        assert_string_equal(name, names[i][1]);
    }
    struct sl_json *devices = json_of("{\"nvidia.com/gpu\":4}");
    struct sl_json *node = sl_machine_node_new("box-1", devices, T0);
    struct sl_error e = {0};
    assert_int_equal(sl_object_validate(SL_KIND_NODE, node, NULL, &e), SL_CODE_OK);
    assert_string_equal(text(node, "metadata.labels[kubernetes.io/hostname]"), "box-1");
    assert_string_equal(text(node, "status.allocatable[nvidia.com/gpu]"), "4");
    assert_true(atoi(text(node, "status.capacity.cpu")) > 0);
    assert_true(sl_condition_true(node, "Ready"));
    sl_json_free(node);
    sl_json_free(devices);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_status_of_a_pod_that_runs),
        cmocka_unit_test(test_status_of_a_pod_that_ended),
        cmocka_unit_test(test_status_of_a_pod_whose_container_was_never_started),
        cmocka_unit_test(test_status_of_a_pod_that_was_lost_or_refused_or_waits),
        cmocka_unit_test(test_machine_is_a_node)};
    return RUN(tests);
}
