/* SPDX-License-Identifier: Apache-2.0
 * SPDX-FileCopyrightText: The Sluice authors */

/* The autoscaler of standalone mode: what its parameters make it answer, and when. */
#include "t.h"
#include "base/clock.h"
#include "base/log.h"
#include "controllers/checks/autoscaler.h"
#include "controllers/checks/autoscaler_plan.h"
#include "fake_client.h"

#define T0 1700000000000

struct fixture {
    struct fake fake;
    struct sl_recorder *recorder;
    struct sl_autoscaler a;
};

static int setup(void **state)
{
    struct fixture *f = sl_mem_new(1, sizeof *f);
    sl_clock_set_virtual(T0);
    sl_log_setup(SL_LOG_ERROR, false);
    fake_init(&f->fake);
    f->recorder = sl_recorder_new(&f->fake.client);
    sl_autoscaler_init(&f->a, &f->fake.client, f->recorder);
    *state = f;
    return 0;
}

static int teardown(void **state)
{
    struct fixture *f = *state;
    fake_fini(&f->fake);
    sl_autoscaler_fini(&f->a);
    sl_recorder_free(f->recorder);
    sl_mem_free(f);
    return 0;
}

static struct sl_json *request(const char *name, const char *class, const char *parameters)
{
    char text[1024];
    snprintf(text, sizeof text,
             "{\"metadata\":{\"name\":\"%s\",\"namespace\":\"n\",\"uid\":\"00000000-12345678\","
             "\"resourceVersion\":\"7\"},"
             "\"spec\":{\"provisioningClassName\":\"%s\",\"parameters\":{%s}}}",
             name, class, parameters);
    return parse(text);
}

static void show(struct fixture *f, enum sl_kind kind)
{
    char prefix[16];
    size_t cursor = 0;
    const char *key;
    union sl_map_value value;
    snprintf(prefix, sizeof prefix, "%d/", (int)kind);
    while (sl_map_next(f->fake.objects, &cursor, &key, &value)) {
        if (strncmp(key, prefix, strlen(prefix)) == 0) {
            sl_autoscaler_observe(&f->a, kind, value.pointer, false);
        }
    }
}

static void give(struct fixture *f, const char *name, const char *parameters)
{
    fake_put(&f->fake, SL_KIND_PROVISIONING_REQUEST, request(name, SL_FAKE_CLASS, parameters));
    show(f, SL_KIND_PROVISIONING_REQUEST);
}

/* Nodes of before that are not there any more are shown as deleted. */
static void show_removals(struct fixture *f, struct sl_json *before)
{
    for (size_t i = 0; i < sl_json_len(before); i++) {
        const struct sl_json *node = sl_json_at(before, i);
        if (fake_find(&f->fake, SL_KIND_NODE, "", sl_object_name(node)) == NULL) {
            sl_autoscaler_observe(&f->a, SL_KIND_NODE, node, true);
        }
    }
    sl_json_free(before);
}

static void keep(void *context, struct sl_json *node)
{
    sl_json_append(context, sl_json_clone(node));
}

/* Until it has nothing to write at `now_ms`. */
static void run(struct fixture *f, int64_t now_ms)
{
    unsigned before;
    sl_clock_set_virtual(now_ms);
    for (int i = 0; i < 100; i++) {
        struct sl_json *nodes = sl_json_new_list();
        before = f->fake.write_count;
        fake_list(&f->fake, SL_KIND_NODE, "", keep, nodes, NULL);
        sl_reconciler_step(&f->a.requests, now_ms, 1);
        fake_flush(&f->fake);
        show_removals(f, nodes);
        if (f->fake.write_count != before) {
            show(f, SL_KIND_PROVISIONING_REQUEST);
            show(f, SL_KIND_NODE);
        } else if (sl_work_due_ms(f->a.requests.work) > now_ms) {
            return;
        }
    }
    fail_msg("it never comes to rest");
}

static const struct sl_json *now(struct fixture *f, const char *name)
{
    return fake_find(&f->fake, SL_KIND_PROVISIONING_REQUEST, "n", name);
}

static void test_autoscaler_answer_is_written_over_what_was_read(void **state)
{
    struct fixture *f = *state;
    give(f, "r", "");
    sl_reconciler_step(&f->a.requests, T0, 1);
    assert_int_equal(f->fake.last_kind, SL_KIND_PROVISIONING_REQUEST);
    assert_string_equal(f->fake.last_version, "7");
    fake_flush(&f->fake);
}

static void test_autoscaler_request_is_accepted_then_provisioned_after_its_delay(void **state)
{
    struct fixture *f = *state;
    give(f, "w-c-1", "\"provision-after\":\"2s\"");
    run(f, T0);
    assert_true(sl_condition_true(now(f, "w-c-1"), "Accepted"));
    assert_non_null(sl_condition_find(now(f, "w-c-1"), "Provisioned"));
    run(f, T0 + 1999);
    assert_false(sl_condition_true(now(f, "w-c-1"), "Provisioned"));
    assert_int_equal(sl_work_due_ms(f->a.requests.work), T0 + 2000);
    run(f, T0 + 2000);
    assert_true(sl_condition_true(now(f, "w-c-1"), "Provisioned"));
    assert_json(sl_json_path(now(f, "w-c-1"), "status.provisioningClassDetails"),
                "{\"request\":\"00000000-12345678\"}");
}

static void test_autoscaler_other_class_is_left_alone(void **state)
{
    struct fixture *f = *state;
    fake_put(&f->fake, SL_KIND_PROVISIONING_REQUEST, request("r", "real", ""));
    show(f, SL_KIND_PROVISIONING_REQUEST);
    run(f, T0);
    assert_int_equal(f->fake.write_count, 0);
}

static void test_autoscaler_nodes_are_added_before_provisioned(void **state)
{
    struct fixture *f = *state;
    give(f, "w-c-1",
         "\"provision-after\":\"0\",\"provision-nodes\":\"2\",\"node-labels\":\"rack=r1,block=b\","
         "\"node-allocatable\":\"cpu=4,pods=8\"");
    run(f, T0);
    assert_int_equal(fake_count(&f->fake, SL_KIND_NODE), 2);
    const struct sl_json *node = fake_find(&f->fake, SL_KIND_NODE, "", "node-12345678-1");
    assert_json(sl_json_path(node, "metadata.labels"),
                "{\"rack\":\"r1\",\"block\":\"b\",\"kubernetes.io/hostname\":\"node-12345678-1\","
                "\"sluice.dev/request\":\"00000000-12345678\"}");
    assert_json(sl_json_path(node, "status.allocatable"), "{\"cpu\":\"4\",\"pods\":\"8\"}");
    assert_true(sl_condition_true(node, "Ready"));
    assert_true(sl_condition_true(now(f, "w-c-1"), "Provisioned"));
}

static void remove_object(struct fixture *f, enum sl_kind kind, const char *ns, const char *name)
{
    struct sl_json *o = sl_json_clone(fake_find(&f->fake, kind, ns, name));
    struct sl_write w = {.verb = SL_VERB_DELETE, .kind = kind, .ns = ns, .name = name};
    fake_apply(&f->fake, &w);
    sl_autoscaler_observe(&f->a, kind, o, true);
    sl_json_free(o);
}

static void test_autoscaler_nodes_go_with_their_request(void **state)
{
    struct fixture *f = *state;
    give(f, "w-c-1", "\"provision-after\":\"0\",\"provision-nodes\":\"2\"");
    run(f, T0);
    remove_object(f, SL_KIND_PROVISIONING_REQUEST, "n", "w-c-1");
    run(f, T0);
    assert_int_equal(fake_count(&f->fake, SL_KIND_NODE), 0);
    assert_int_equal(sl_map_count(f->a.nodes), 0);
}

static void test_autoscaler_node_of_an_earlier_request_goes(void **state)
{
    struct fixture *f = *state;
    fake_put(&f->fake, SL_KIND_NODE,
             parse("{\"metadata\":{\"name\":\"node-old\",\"annotations\":{"
                   "\"sluice.dev/request\":\"n/w-c-1\"}}}"));
    give(f, "w-c-1", "\"provision-nodes\":\"1\"");
    show(f, SL_KIND_NODE);
    run(f, T0);
    assert_null(fake_find(&f->fake, SL_KIND_NODE, "", "node-old"));
    run(f, T0 + 1000);
    assert_true(sl_condition_true(now(f, "w-c-1"), "Provisioned"));
}

static void test_autoscaler_first_attempts_fail_as_often_as_told(void **state)
{
    struct fixture *f = *state;
    give(f, "w-c-2", "\"provision-fail\":\"2\"");
    give(f, "w-c-3", "\"provision-fail\":\"2\"");
    run(f, T0);
    run(f, T0 + 1000);
    assert_true(sl_condition_true(now(f, "w-c-2"), "Failed"));
    assert_false(sl_condition_true(now(f, "w-c-2"), "Provisioned"));
    assert_true(sl_condition_true(now(f, "w-c-3"), "Provisioned"));
}

static void test_autoscaler_capacity_is_revoked_with_its_nodes(void **state)
{
    struct fixture *f = *state;
    give(f, "w-c-1", "\"provision-nodes\":\"1\",\"revoke-after\":\"5s\"");
    run(f, T0);
    run(f, T0 + 1000);
    run(f, T0 + 5999);
    assert_false(sl_condition_true(now(f, "w-c-1"), "CapacityRevoked"));
    run(f, T0 + 6000);
    assert_true(sl_condition_true(now(f, "w-c-1"), "CapacityRevoked"));
    assert_int_equal(fake_count(&f->fake, SL_KIND_NODE), 0);
}

static void test_autoscaler_booking_expires_when_told(void **state)
{
    struct fixture *f = *state;
    give(f, "w-c-1", "\"expire-after\":\"3s\"");
    run(f, T0);
    run(f, T0 + 1000);
    run(f, T0 + 4000);
    assert_true(sl_condition_true(now(f, "w-c-1"), "BookingExpired"));
}

static void test_autoscaler_bad_parameters_fail_and_say_which(void **state)
{
    static const char *const bad[][2] = {
        {"\"provision-after\":\"soon\"", "provision-after"},
        {"\"provision-nodes\":\"-1\"", "provision-nodes"},
        {"\"provision-nodes\":\"1001\"", "provision-nodes"},
        {"\"provision-fail\":\"x\"", "provision-fail"},
        {"\"node-labels\":\"a\"", "node-labels"},
        {"\"node-labels\":\"a=b c\"", "metadata.labels"},
        {"\"node-allocatable\":\"cpu=much\"", "status.allocatable"},
        {"\"revoke-after\":\"1\"", "revoke-after"},
        {"\"expire-after\":\"?\"", "expire-after"},
    };
    struct fixture *f = *state;
    for (size_t i = 0; i < sizeof bad / sizeof bad[0]; i++) {
        char name[32];
        snprintf(name, sizeof name, "w%zu-c-1", i);
        give(f, name, bad[i][0]);
        run(f, T0);
        assert_true(sl_condition_true(now(f, name), "Failed"));
        const char *text =
            sl_json_path_text(sl_condition_find(now(f, name), "Failed"), "message", "");
        if (strstr(text, bad[i][1]) == NULL) {
            fail_msg("\"%s\" does not name %s", text, bad[i][1]);
        }
    }
}

static void test_autoscaler_restart_counts_from_the_condition(void **state)
{
    struct fixture *f = *state;
    struct sl_json *o = request("w-c-1", SL_FAKE_CLASS, "\"provision-after\":\"10s\"");
    sl_condition_set(sl_json_path_make(o, "status"), "Accepted", true, "R", "", 1, T0);
    fake_put(&f->fake, SL_KIND_PROVISIONING_REQUEST, o);
    show(f, SL_KIND_PROVISIONING_REQUEST);
    run(f, T0 + 4000);
    assert_int_equal(sl_work_due_ms(f->a.requests.work), T0 + 10000);
    run(f, T0 + 10000);
    assert_true(sl_condition_true(now(f, "w-c-1"), "Provisioned"));
}

#define T(name) cmocka_unit_test_setup_teardown(test_autoscaler_##name, setup, teardown)
int main(void)
{
    const struct CMUnitTest tests[] = {
        T(answer_is_written_over_what_was_read),
        T(request_is_accepted_then_provisioned_after_its_delay),
        T(other_class_is_left_alone),
        T(nodes_are_added_before_provisioned),
        T(nodes_go_with_their_request),
        T(node_of_an_earlier_request_goes),
        T(first_attempts_fail_as_often_as_told),
        T(capacity_is_revoked_with_its_nodes),
        T(booking_expires_when_told),
        T(bad_parameters_fail_and_say_which),
        T(restart_counts_from_the_condition),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
