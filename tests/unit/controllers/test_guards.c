/* SPDX-License-Identifier: Apache-2.0
 * SPDX-FileCopyrightText: The Sluice authors */

/* Finalizers: set at first sight, gone with the last user of what is being deleted. */
#include "t.h"
#include "base/clock.h"
#include "controllers/jobs/guards.h"
#include "fake_client.h"

#define T0 1700000000000
#define GUARD "kueue.x-k8s.io/resource-in-use"

static uint32_t holders;

uint32_t sl_engine_holders(const struct sl_engine *g, const char *cluster_queue)
{
    (void)g;
    return strcmp(cluster_queue, "cq") == 0 ? holders : 0;
}

struct fixture {
    struct fake fake;
    struct sl_recorder *recorder;
    struct sl_guards guards;
};

static int setup(void **state)
{
    struct fixture *f = sl_mem_new(1, sizeof *f);
    sl_clock_set_virtual(T0);
    holders = 0;
    fake_init(&f->fake);
    f->recorder = sl_recorder_new(&f->fake.client);
    sl_guards_init(&f->guards, &f->fake.client, f->recorder, NULL);
    *state = f;
    return 0;
}

static int teardown(void **state)
{
    struct fixture *f = *state;
    fake_flush(&f->fake);
    sl_guards_fini(&f->guards);
    fake_fini(&f->fake);
    sl_recorder_free(f->recorder);
    sl_mem_free(f);
    return 0;
}

static void step(struct fixture *f)
{
    for (unsigned i = 0; i < 4; i++) {
        (void)sl_guards_step(&f->guards, T0, 16);
        fake_flush(&f->fake);
    }
}

static void put(struct fixture *f, enum sl_kind kind, const char *text)
{
    fake_put(&f->fake, kind, parse(text));
    struct sl_json *o = parse(text);
    sl_guards_observe(&f->guards, kind, o, false);
    sl_json_free(o);
    step(f);
}

static void lose(struct fixture *f, enum sl_kind kind, const char *text)
{
    struct sl_json *o = parse(text);
    fake_remove(&f->fake, kind, "", sl_object_name(o));
    sl_guards_observe(&f->guards, kind, o, true);
    sl_json_free(o);
    step(f);
}

static bool guarded(struct fixture *f, enum sl_kind kind, const char *name)
{
    const struct sl_json *list =
        sl_json_path(fake_find(&f->fake, kind, "", name), "metadata.finalizers");
    for (size_t i = 0; i < sl_json_len(list); i++) {
        if (strcmp(sl_json_text(sl_json_at(list, i), ""), GUARD) == 0) {
            return true;
        }
    }
    return false;
}

#define DELETED                                                                                    \
    ",\"deletionTimestamp\":\"2024-01-01T00:00:00Z\",\"finalizers\":[\"x/y\",\"" GUARD "\"]"
#define FLAVOR "{\"metadata\":{\"name\":\"f\",\"uid\":\"1\"},\"spec\":{\"topologyName\":\"t\"}}"
#define QUEUE                                                                                      \
    "{\"metadata\":{\"name\":\"cq\",\"uid\":\"2\"},\"spec\":{\"resourceGroups\":[{\"flavors\":"    \
    "[{\"name\":\"f\"}]}],\"admissionChecksStrategy\":{\"admissionChecks\":[{\"name\":\"a\"}]}}}"

static void test_guards_first_sight_sets_the_finalizer_beside_others(void **state)
{
    struct fixture *f = *state;
    put(f, SL_KIND_TOPOLOGY,
        "{\"metadata\":{\"name\":\"t\",\"uid\":\"0\",\"resourceVersion\":\"7\",\"finalizers\":[\"x/"
        "y\"]}}");
    assert_true(guarded(f, SL_KIND_TOPOLOGY, "t"));
    assert_int_equal(sl_json_len(sl_json_path(fake_find(&f->fake, SL_KIND_TOPOLOGY, "", "t"),
                                              "metadata.finalizers")),
                     2);
    assert_string_equal(f->fake.last_version, "7");
    put(f, SL_KIND_RESOURCE_FLAVOR, FLAVOR);
    put(f, SL_KIND_CLUSTER_QUEUE, QUEUE);
    put(f, SL_KIND_ADMISSION_CHECK, "{\"metadata\":{\"name\":\"a\",\"uid\":\"4\"}}");
    assert_true(guarded(f, SL_KIND_RESOURCE_FLAVOR, "f"));
    assert_true(guarded(f, SL_KIND_CLUSTER_QUEUE, "cq"));
    assert_true(guarded(f, SL_KIND_ADMISSION_CHECK, "a"));
}

static void test_guards_guarded_object_is_not_written_again(void **state)
{
    struct fixture *f = *state;
    put(f, SL_KIND_TOPOLOGY,
        "{\"metadata\":{\"name\":\"t\",\"uid\":\"0\",\"finalizers\":[\"" GUARD "\"]}}");
    assert_int_equal(f->fake.write_count, 0);
}

static void test_guards_deleted_topology_stays_until_no_flavor_names_it(void **state)
{
    struct fixture *f = *state;
    put(f, SL_KIND_RESOURCE_FLAVOR, FLAVOR);
    put(f, SL_KIND_TOPOLOGY, "{\"metadata\":{\"name\":\"t\",\"uid\":\"0\"" DELETED "}}");
    assert_true(guarded(f, SL_KIND_TOPOLOGY, "t"));
    lose(f, SL_KIND_RESOURCE_FLAVOR, FLAVOR);
    assert_false(guarded(f, SL_KIND_TOPOLOGY, "t"));
    assert_int_equal(sl_json_len(sl_json_path(fake_find(&f->fake, SL_KIND_TOPOLOGY, "", "t"),
                                              "metadata.finalizers")),
                     1); /* the other's stays */
}

static void test_guards_deleted_flavor_and_check_stay_until_no_queue_names_them(void **state)
{
    struct fixture *f = *state;
    put(f, SL_KIND_CLUSTER_QUEUE, QUEUE);
    put(f, SL_KIND_RESOURCE_FLAVOR, "{\"metadata\":{\"name\":\"f\",\"uid\":\"1\"" DELETED "}}");
    put(f, SL_KIND_ADMISSION_CHECK, "{\"metadata\":{\"name\":\"a\",\"uid\":\"4\"" DELETED "}}");
    assert_true(guarded(f, SL_KIND_RESOURCE_FLAVOR, "f"));
    assert_true(guarded(f, SL_KIND_ADMISSION_CHECK, "a"));
    put(f, SL_KIND_CLUSTER_QUEUE, "{\"metadata\":{\"name\":\"cq\",\"uid\":\"2\"},\"spec\":{}}");
    assert_false(guarded(f, SL_KIND_RESOURCE_FLAVOR, "f"));
    assert_false(guarded(f, SL_KIND_ADMISSION_CHECK, "a"));
}

static void test_guards_second_user_keeps_the_flavor(void **state)
{
    struct fixture *f = *state;
    put(f, SL_KIND_CLUSTER_QUEUE, QUEUE);
    put(f, SL_KIND_CLUSTER_QUEUE,
        "{\"metadata\":{\"name\":\"other\",\"uid\":\"3\"},\"spec\":{\"resourceGroups\":[{"
        "\"flavors\":[{\"name\":\"f\"}]}]}}");
    put(f, SL_KIND_RESOURCE_FLAVOR, "{\"metadata\":{\"name\":\"f\",\"uid\":\"1\"" DELETED "}}");
    lose(f, SL_KIND_CLUSTER_QUEUE, QUEUE);
    assert_true(guarded(f, SL_KIND_RESOURCE_FLAVOR, "f"));
}

static void test_guards_deleted_queue_stays_until_nobody_holds_its_quota(void **state)
{
    struct fixture *f = *state;
    holders = 2;
    put(f, SL_KIND_CLUSTER_QUEUE, "{\"metadata\":{\"name\":\"cq\",\"uid\":\"2\"" DELETED "}}");
    assert_true(guarded(f, SL_KIND_CLUSTER_QUEUE, "cq"));
    holders = 1;
    sl_guards_touch(&f->guards, "cq");
    step(f);
    assert_true(guarded(f, SL_KIND_CLUSTER_QUEUE, "cq"));
    holders = 0;
    sl_guards_touch(&f->guards, "cq");
    step(f);
    assert_false(guarded(f, SL_KIND_CLUSTER_QUEUE, "cq"));
}

static void test_guards_finalizer_that_is_taken_off_a_flavor_stays_off(void **state)
{
    struct fixture *f = *state;
    put(f, SL_KIND_RESOURCE_FLAVOR, FLAVOR);
    assert_true(guarded(f, SL_KIND_RESOURCE_FLAVOR, "f"));
    put(f, SL_KIND_RESOURCE_FLAVOR,
        "{\"metadata\":{\"name\":\"f\",\"finalizers\":[\"" GUARD "\"]}}"); /* as it was written */
    put(f, SL_KIND_RESOURCE_FLAVOR, FLAVOR);
    assert_false(guarded(f, SL_KIND_RESOURCE_FLAVOR, "f"));
    lose(f, SL_KIND_RESOURCE_FLAVOR, FLAVOR);
    put(f, SL_KIND_RESOURCE_FLAVOR, FLAVOR); /* another one of that name */
    assert_true(guarded(f, SL_KIND_RESOURCE_FLAVOR, "f"));
}

static void test_guards_conflict_is_tried_again(void **state)
{
    struct fixture *f = *state;
    f->fake.next_code = SL_CODE_CONFLICT;
    put(f, SL_KIND_TOPOLOGY, "{\"metadata\":{\"name\":\"t\",\"uid\":\"0\"}}");
    assert_true(guarded(f, SL_KIND_TOPOLOGY, "t"));
}

#define TEST(name) cmocka_unit_test_setup_teardown(name, setup, teardown)
int main(void)
{
    const struct CMUnitTest tests[] = {
        TEST(test_guards_first_sight_sets_the_finalizer_beside_others),
        TEST(test_guards_guarded_object_is_not_written_again),
        TEST(test_guards_deleted_topology_stays_until_no_flavor_names_it),
        TEST(test_guards_deleted_flavor_and_check_stay_until_no_queue_names_them),
        TEST(test_guards_second_user_keeps_the_flavor),
        TEST(test_guards_deleted_queue_stays_until_nobody_holds_its_quota),
        TEST(test_guards_finalizer_that_is_taken_off_a_flavor_stays_off),
        TEST(test_guards_conflict_is_tried_again),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
