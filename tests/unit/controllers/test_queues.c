/* SPDX-License-Identifier: Apache-2.0
 * SPDX-FileCopyrightText: The Sluice authors */

/* Queue status: coalesced, and written only when something differs. */
#include "t.h"
#include "base/clock.h"
#include "controllers/control/queues.h"
#include "fake_client.h"

#define T0 1700000000000

static struct {
    bool touched;
    int pending;
    const char *excess; /* NULL = "0" */
} stub;

bool sl_engine_next_touched(struct sl_engine *g, enum sl_kind *kind, const char **ns,
                            const char **name)
{
    (void)g;
    bool was = stub.touched;
    stub.touched = false;
    *kind = SL_KIND_CLUSTER_QUEUE;
    *ns = "";
    *name = "cq";
    return was;
}

struct sl_json *sl_engine_queue_status(struct sl_engine *g, enum sl_kind kind, const char *ns,
                                       const char *name)
{
    (void)g;
    (void)kind;
    (void)ns;
    (void)name;
    char text[400];
    snprintf(
        text, sizeof text,
        "{\"pendingWorkloads\":%d,\"active\":{\"status\":\"True\",\"reason\":\"Ready\","
        "\"message\":\"m\"},\"quotaExcess\":[{\"name\":\"f\",\"resources\":[{\"name\":\"memory\","
        "\"total\":\"0\"},{\"name\":\"cpu\",\"total\":\"%s\"}]}]}",
        stub.pending, stub.excess == NULL ? "0" : stub.excess);
    return parse(text);
}

uint32_t sl_engine_holders(const struct sl_engine *g, const char *cluster_queue)
{
    (void)g;
    (void)cluster_queue;
    return 0;
}

struct fixture {
    struct fake fake;
    struct sl_recorder *recorder;
    struct sl_queues queues;
};

static int setup(void **state)
{
    struct fixture *f = sl_mem_new(1, sizeof *f);
    sl_clock_set_virtual(T0);
    memset(&stub, 0, sizeof stub);
    fake_init(&f->fake);
    fake_put(&f->fake, SL_KIND_CLUSTER_QUEUE,
             parse("{\"metadata\":{\"name\":\"cq\",\"uid\":\"u\"}}"));
    f->recorder = sl_recorder_new(&f->fake.client);
    sl_queues_init(&f->queues, &f->fake.client, f->recorder, NULL);
    *state = f;
    return 0;
}

static int teardown(void **state)
{
    struct fixture *f = *state;
    fake_flush(&f->fake);
    sl_queues_fini(&f->queues);
    fake_fini(&f->fake);
    sl_recorder_free(f->recorder);
    sl_mem_free(f);
    return 0;
}

static void touch(struct fixture *f, int pending, int64_t at_ms)
{
    stub.touched = true;
    stub.pending = pending;
    sl_queues_step(&f->queues, at_ms, 16);
    fake_flush(&f->fake);
}

static int64_t written(struct fixture *f)
{
    return sl_json_path_int(fake_find(&f->fake, SL_KIND_CLUSTER_QUEUE, "", "cq"),
                            "status.pendingWorkloads", -1);
}

static void test_queues_first_change_is_written_at_once_with_its_condition(void **state)
{
    struct fixture *f = *state;
    touch(f, 4, T0);
    assert_true(written(f) == 4);
    assert_true(sl_condition_true(fake_find(&f->fake, SL_KIND_CLUSTER_QUEUE, "", "cq"), "Active"));
    assert_null(
        sl_json_path(fake_find(&f->fake, SL_KIND_CLUSTER_QUEUE, "", "cq"), "status.active"));
}

static void test_queues_further_changes_wait_a_second_and_are_written_once(void **state)
{
    struct fixture *f = *state;
    touch(f, 1, T0);
    unsigned before = f->fake.write_count;
    touch(f, 2, T0 + 10);
    touch(f, 3, T0 + 20);
    assert_int_equal(f->fake.write_count, before);
    assert_true(sl_queues_due_ms(&f->queues) == T0 + SL_QUEUE_STATUS_MS);

    sl_queues_step(&f->queues, T0 + SL_QUEUE_STATUS_MS, 16);
    fake_flush(&f->fake);

    assert_int_equal(f->fake.write_count, before + 1);
    assert_true(written(f) == 3);
}

static void test_queues_unchanged_status_is_not_written(void **state)
{
    struct fixture *f = *state;
    touch(f, 1, T0);
    unsigned before = f->fake.write_count;
    touch(f, 1, T0 + 2000);
    assert_int_equal(f->fake.write_count, before);
}

static const struct sl_json *exceeded(struct fixture *f)
{
    return sl_condition_find(fake_find(&f->fake, SL_KIND_CLUSTER_QUEUE, "", "cq"),
                             SL_QUEUE_EXCEEDED);
}

static void test_queues_quota_below_what_is_held_is_said_and_told_once(void **state)
{
    struct fixture *f = *state;
    touch(f, 1, T0);
    assert_null(exceeded(f));
    assert_int_equal(fake_count(&f->fake, SL_KIND_EVENT), 0);
    stub.excess = "10";
    touch(f, 2, T0 + 2000);
    assert_string_equal(sl_json_path_text(exceeded(f), "status", ""), "True");
    assert_non_null(
        strstr(sl_json_path_text(exceeded(f), "message", ""), "10 cpu of flavor f used beyond"));
    assert_int_equal(fake_count(&f->fake, SL_KIND_EVENT), 1);
    stub.excess = "3";
    touch(f, 2, T0 + 4000);
    assert_non_null(strstr(sl_json_path_text(exceeded(f), "message", ""), "3 cpu"));
    assert_int_equal(fake_count(&f->fake, SL_KIND_EVENT), 1);
    stub.excess = NULL;
    touch(f, 2, T0 + 6000);
    assert_string_equal(sl_json_path_text(exceeded(f), "status", ""), "False");
    assert_string_equal(sl_json_path_text(exceeded(f), "reason", ""), "WithinQuota");
    assert_int_equal(fake_count(&f->fake, SL_KIND_EVENT), 1);
}

static void test_queues_deleted_queue_is_no_trouble(void **state)
{
    struct fixture *f = *state;
    struct sl_write w = {
        .verb = SL_VERB_DELETE, .kind = SL_KIND_CLUSTER_QUEUE, .ns = "", .name = "cq"};
    f->fake.client.write(&f->fake, &w, NULL, NULL);
    unsigned before = f->fake.write_count;
    touch(f, 1, T0);
    assert_int_equal(f->fake.write_count, before);
    assert_true(sl_queues_due_ms(&f->queues) == INT64_MAX);
}

static void test_queue_status_merge_keeps_what_others_wrote(void **state)
{
    (void)state;
    struct sl_json *live = parse("{\"status\":{\"other\":1,\"pendingWorkloads\":9}}");
    struct sl_json *seen = parse("{\"pendingWorkloads\":2}");
    struct sl_json *status = sl_queue_status_merge(live, seen, T0);
    assert_json(status, "{\"other\":1,\"pendingWorkloads\":2}");
    sl_json_free(status);
    sl_json_free(seen);
    sl_json_free(live);
}

static void test_queues_over_the_budget_wait_until_there_is_some(void **state)
{
    struct fixture *f = *state;
    f->queues.budget = sl_budget_new(1, 2);
    touch(f, 1, T0);
    touch(f, 2, T0 + SL_QUEUE_STATUS_MS / 2);
    touch(f, 2, T0 + SL_QUEUE_STATUS_MS);
    assert_true(written(f) == 2);
    f->queues.budget.tokens_milli = 0;
    touch(f, 3, T0 + 2 * SL_QUEUE_STATUS_MS - 100);
    f->queues.budget.tokens_milli = 0;
    assert_false(sl_queues_step(&f->queues, T0 + 2 * SL_QUEUE_STATUS_MS, 16)); /* not in a hurry */
    fake_flush(&f->fake);
    assert_true(written(f) == 2);
    int64_t due_ms = sl_queues_due_ms(&f->queues);
    assert_true(due_ms > T0 + 2 * SL_QUEUE_STATUS_MS && due_ms <= T0 + 3 * SL_QUEUE_STATUS_MS);
    sl_queues_step(&f->queues, due_ms, 16);
    sl_queues_step(&f->queues, due_ms, 16);
    fake_flush(&f->fake);
    assert_true(written(f) == 3);
}

#define TEST(name) cmocka_unit_test_setup_teardown(name, setup, teardown)
int main(void)
{
    const struct CMUnitTest tests[] = {
        TEST(test_queues_first_change_is_written_at_once_with_its_condition),
        TEST(test_queues_further_changes_wait_a_second_and_are_written_once),
        TEST(test_queues_unchanged_status_is_not_written),
        TEST(test_queues_over_the_budget_wait_until_there_is_some),
        TEST(test_queues_quota_below_what_is_held_is_said_and_told_once),
        TEST(test_queues_deleted_queue_is_no_trouble),
        TEST(test_queue_status_merge_keeps_what_others_wrote),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
