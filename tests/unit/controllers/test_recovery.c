/* SPDX-License-Identifier: Apache-2.0
 * SPDX-FileCopyrightText: The Sluice authors */

/* Failure recovery: which pods are ended by force, when, and what is said. */
#include "t.h"
#include "pod_world.h"

#define FORCE "\"kueue.x-k8s.io/safe-to-forcefully-delete\":\"true\""
#define DUE (T0 + 60000)
#define DELETED_AT_T0                                                                              \
    ",\"deletionTimestamp\":\"2023-11-14T22:13:20Z\",\"deletionGracePeriodSeconds\":30"
#define TAINT "{\"key\":\"node.kubernetes.io/unreachable\",\"effect\":\"NoSchedule\"}"

static int setup(void **state)
{
    struct world *w = sl_mem_new(1, sizeof *w);
    world_init(w, false);
    w->cluster.recovery.on = true;
    *state = w;
    return 0;
}

static int teardown(void **state)
{
    world_fini(*state);
    sl_mem_free(*state);
    return 0;
}

static void put_node(struct world *w, const char *name, const char *taints)
{
    char text[300];
    snprintf(text, sizeof text, "{\"metadata\":{\"name\":\"%s\"},\"spec\":{\"taints\":[%s]}}", name,
             taints);
    fake_put(&w->fake, SL_KIND_NODE, parse(text));
}

static void put_pod(struct world *w, const char *node, const char *annotations, const char *more,
                    const char *phase)
{
    char text[700];
    snprintf(text, sizeof text,
             "{\"metadata\":{\"name\":\"p\",\"namespace\":\"n\",\"uid\":\"u\",\"annotations\":{%s}"
             "%s},\"spec\":{\"nodeName\":\"%s\"},\"status\":{\"phase\":\"%s\"}}",
             annotations, more, node, phase);
    fake_put(&w->fake, SL_KIND_POD, parse(text));
}

/* The lost node "lost", the well one "well", and a pod that was deleted at T0 on the first. */
static void lose(struct world *w)
{
    put_node(w, "lost", TAINT);
    put_node(w, "well", "");
    put_pod(w, "lost", FORCE, DELETED_AT_T0, "Running");
}

static unsigned turn(struct world *w, int64_t at_ms)
{
    unsigned before = w->fake.change_count;
    world_turn(w, at_ms);
    return w->fake.change_count - before;
}

static struct sl_json *event(struct world *w)
{
    for (struct sl_map_item e = {0}; sl_map_each(w->fake.objects, &e);) {
        if (world_kind(e.key) == SL_KIND_EVENT) {
            return e.value.pointer;
        }
    }
    return NULL;
}

#define MESSAGE                                                                                    \
    "Pod forcefully terminated after 1m30s grace period due to unreachable node `lost` "           \
    "(triggered by `kueue.x-k8s.io/safe-to-forcefully-delete` annotation)"

static void test_recovery_pod_of_a_lost_node_fails_and_is_deleted(void **state)
{
    struct world *w = *state;
    lose(w);
    assert_int_equal(turn(w, DUE - 1000), 0);
    assert_int_equal(turn(w, DUE), 2);
    assert_null(world_get(w, SL_KIND_POD, "p"));
    assert_int_equal(w->fake.last_verb, SL_VERB_DELETE);
    assert_true(w->fake.last_at_once);
    const struct sl_json *said = event(w);
    assert_string_equal(sl_json_path_text(said, "reason", ""), "KueueForcefullyDeleted");
    assert_string_equal(sl_json_path_text(said, "type", ""), "Warning");
    assert_string_equal(sl_json_path_text(said, "message", ""), MESSAGE);
}

/* A finalizer keeps it: who waits for that has to see a pod that failed, and once is enough. */
static void test_recovery_status_says_why(void **state)
{
    static const struct {
        const char *before, *after;
    } rows[] = {{"Running", "Failed"},
                {"Pending", "Failed"},
                {"Failed", "Failed"},
                {"Succeeded", "Succeeded"}};
    struct world *w = *state;
    for (int i = 0; i < 4; i++) {
        lose(w);
        put_pod(w, "lost", FORCE, ",\"deletionTimestamp\":\"2023-11-14T22:13:20Z\"",
                rows[i].before);
        assert_int_equal(turn(w, DUE + i * 1000), 1);
        const struct sl_json *pod = world_get(w, SL_KIND_POD, "p");
        assert_string_equal(sl_json_path_text(pod, "status.phase", ""), rows[i].after);
        const struct sl_json *said = sl_condition_find(pod, "KueueFailureRecovery");
        assert_string_equal(sl_json_path_text(said, "status", ""), "True");
        assert_string_equal(sl_json_path_text(said, "reason", ""), "KueueForcefullyDeleted");
        assert_int_equal(turn(w, DUE + i * 1000 + 500), 0);
    }
}

static void test_recovery_leaves_all_others_alone(void **state)
{
    static const struct {
        const char *node, *annotations, *more;
    } rows[] = {{"lost", "", DELETED_AT_T0},
                {"lost", "\"kueue.x-k8s.io/safe-to-forcefully-delete\":\"false\"", DELETED_AT_T0},
                {"lost", FORCE, ""},
                {"lost", FORCE, ",\"deletionTimestamp\":\"soon\""},
                {"well", FORCE, DELETED_AT_T0},
                {"gone", FORCE, DELETED_AT_T0},
                {"", FORCE, DELETED_AT_T0}};
    struct world *w = *state;
    for (size_t i = 0; i < sizeof rows / sizeof rows[0]; i++) {
        lose(w);
        put_pod(w, rows[i].node, rows[i].annotations, rows[i].more, "Running");
        assert_int_equal(turn(w, DUE), 0);
        assert_int_equal(turn(w, DUE + 600000), 0);
    }
}

static void test_recovery_node_that_is_lost_later_is_noticed(void **state)
{
    struct world *w = *state;
    lose(w);
    put_node(w, "lost", "{\"key\":\"node.kubernetes.io/not-ready\",\"effect\":\"NoSchedule\"}");
    assert_int_equal(turn(w, DUE), 0);
    assert_int_equal(turn(w, DUE + 1000), 0);
    put_node(w, "lost", TAINT);
    assert_int_equal(turn(w, DUE + 2000), 2);
    assert_null(world_get(w, SL_KIND_POD, "p"));
}

static void test_recovery_failed_writes_are_tried_again(void **state)
{
    struct world *w = *state;
    lose(w);
    w->fake.next_code = SL_CODE_UNAVAILABLE;
    assert_int_equal(turn(w, DUE), 1);
    assert_null(sl_condition_find(world_get(w, SL_KIND_POD, "p"), "KueueFailureRecovery"));
    assert_int_equal(turn(w, DUE + SL_RETRY_MS), 2);
    assert_null(world_get(w, SL_KIND_POD, "p"));
}

static void test_recovery_long_grace_is_told_in_hours(void **state)
{
    struct world *w = *state;
    lose(w);
    put_pod(w, "lost", FORCE,
            ",\"deletionTimestamp\":\"2023-11-14T22:13:20Z\",\"deletionGracePeriodSeconds\":7265",
            "Running");
    (void)turn(w, DUE);
    assert_non_null(strstr(sl_json_path_text(event(w), "message", ""), "after 2h2m5s grace"));
}

static void test_recovery_does_nothing_without_its_gate(void **state)
{
    struct world *w = *state;
    w->cluster.recovery.on = false;
    lose(w);
    assert_int_equal(turn(w, DUE), 0);
    put_node(w, "lost", TAINT "," TAINT);
    assert_int_equal(turn(w, DUE + 600000), 0);
}

#define TEST(name) cmocka_unit_test_setup_teardown(name, setup, teardown)
int main(void)
{
    const struct CMUnitTest tests[] = {
        TEST(test_recovery_pod_of_a_lost_node_fails_and_is_deleted),
        TEST(test_recovery_status_says_why),
        TEST(test_recovery_leaves_all_others_alone),
        TEST(test_recovery_node_that_is_lost_later_is_noticed),
        TEST(test_recovery_failed_writes_are_tried_again),
        TEST(test_recovery_long_grace_is_told_in_hours),
        TEST(test_recovery_does_nothing_without_its_gate),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
