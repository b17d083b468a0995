/* SPDX-License-Identifier: Apache-2.0
 * SPDX-FileCopyrightText: The Sluice authors */

/* The variants that a Workload has or would have, for questions. */
#include "t.h"
#include "controllers/variants/variants.h"
#include "fake_client.h"

#define T0 1700000000000

static struct fake fake;
static struct sl_recorder *recorder;
static struct sl_variants variants;
static struct sl_engine *engine;

static void open_with(bool on)
{
    fake_init(&fake);
    recorder = sl_recorder_new(&fake.client);
    static struct sl_engine_settings settings;
    settings = sl_engine_settings_default();
    settings.concurrent_admission = on;
    struct sl_engine_options options = {.settings = &settings};
    struct sl_error e = {0};
    assert_int_equal(sl_engine_open(&options, &engine, &e), SL_CODE_OK);
    sl_variants_init(&variants, on, &fake.client, recorder, engine);
    fake_put(&fake, SL_KIND_LOCAL_QUEUE,
             parse("{\"metadata\":{\"namespace\":\"ns\",\"name\":\"lq\"},"
                   "\"spec\":{\"clusterQueue\":\"cq\"}}"));
    fake_put(&fake, SL_KIND_CLUSTER_QUEUE,
             parse("{\"metadata\":{\"name\":\"cq\"},\"spec\":{\"resourceGroups\":[{\"flavors\":["
                   "{\"name\":\"first\"},{\"name\":\"second\"}]}]}}"));
}

static int setup(void **state)
{
    (void)state;
    open_with(true);
    return 0;
}

static int teardown(void **state)
{
    (void)state;
    assert_int_equal(fake.write_count, 0); /* asking writes nothing */
    sl_variants_fini(&variants);
    sl_engine_close(engine);
    sl_recorder_free(recorder);
    fake_fini(&fake);
    return 0;
}

static struct sl_json *parent_new(const char *queue)
{
    char text[400];
    (void)snprintf(text, sizeof text,
                   "{\"metadata\":{\"namespace\":\"ns\",\"name\":\"p\",\"uid\":\"p\","
                   "\"labels\":{\"kueue.x-k8s.io/concurrent-admission-parent\":\"true\"}},"
                   "\"spec\":{\"queueName\":\"%s\",\"podSets\":[{\"name\":\"main\",\"count\":1}]}}",
                   queue);
    return parse(text);
}

static struct sl_json *variant_new(const char *name, const char *uid)
{
    char text[400];
    (void)snprintf(text, sizeof text,
                   "{\"metadata\":{\"namespace\":\"ns\",\"name\":\"%s\",\"uid\":\"%s\","
                   "\"ownerReferences\":[{\"apiVersion\":\"kueue.x-k8s.io/v1beta2\",\"kind\":"
                   "\"Workload\",\"name\":\"p\",\"uid\":\"p\",\"controller\":true}]},\"spec\":{}}",
                   name, uid);
    return parse(text);
}

/* The variants of a parent in this queue; NULL: it is none. */
static struct sl_json *wish_in(const char *queue)
{
    struct sl_json *parent = parent_new(queue);
    struct sl_json *before = sl_json_clone(parent);
    struct sl_json *list = sl_variants_wish_new(&variants, parent, T0);
    assert_true(sl_json_equal(parent, before));
    sl_json_free(before);
    sl_json_free(parent);
    return list;
}

static void assert_count(const char *queue, size_t count)
{
    struct sl_json *list = wish_in(queue);
    assert_non_null(list);
    assert_int_equal(sl_json_len(list), count);
    sl_json_free(list);
}

static void test_variants_wish_makes_one_for_each_flavor(void **state)
{
    (void)state;
    static const char flavor[] = "kueue.x-k8s.io/workload-allowed-resource-flavors";
    struct sl_json *list = wish_in("lq");
    assert_int_equal(sl_json_len(list), 2);
    for (size_t i = 0; i < 2; i++) {
        const struct sl_json *one = sl_json_at(list, i);
        assert_string_equal(sl_object_annotation(one, flavor), i == 0 ? "first" : "second");
        assert_string_equal(sl_json_path_text(one, "metadata.ownerReferences.0.uid", ""), "p");
        assert_string_equal(sl_json_path_text(one, "spec.podSets.0.name", ""), "main");
        assert_string_equal(sl_json_path_text(one, "spec.preemptionGates.0.name", ""),
                            "kueue.x-k8s.io/concurrent-admission");
        assert_string_not_equal(sl_object_uid(one), ""); /* as from an API server */
    }
    sl_json_free(list);
}

static void test_variants_wish_gives_those_that_there_are(void **state)
{
    (void)state;
    struct sl_json *known = variant_new("known", "1"), *gone = variant_new("gone", "2");
    sl_variants_observe(&variants, SL_KIND_WORKLOAD, known, false);
    sl_variants_observe(&variants, SL_KIND_WORKLOAD, gone, false); /* and cannot be read any more */
    fake_put(&fake, SL_KIND_WORKLOAD, known);
    struct sl_json *list = wish_in("lq");
    assert_int_equal(sl_json_len(list), 1);
    assert_string_equal(sl_object_name(sl_json_at(list, 0)), "known");
    sl_json_free(list);
    sl_json_free(gone);
}

static void test_variants_wish_has_none_where_queues_cannot_be_read(void **state)
{
    (void)state;
    assert_count("another", 0);
    fake.read_code = SL_CODE_UNAVAILABLE;
    assert_count("lq", 0);
    fake.unread_one = true;
    fake.unread = SL_KIND_CLUSTER_QUEUE;
    assert_count("lq", 0);
    fake.read_code = SL_CODE_OK;
    assert_count("lq", 2);
}

static void test_variants_wish_is_about_parents(void **state)
{
    (void)state;
    struct sl_json *variant = variant_new("v", "1");
    assert_null(sl_variants_wish_new(&variants, variant, T0));
    sl_json_free(variant);
}

static void test_variants_wish_is_nothing_without_the_gate(void **state)
{
    (void)state;
    (void)teardown(state);
    open_with(false);
    assert_null(wish_in("lq"));
}

#define TEST(name) cmocka_unit_test_setup_teardown(name, setup, teardown)

int main(void)
{
    const struct CMUnitTest tests[] = {
        TEST(test_variants_wish_makes_one_for_each_flavor),
        TEST(test_variants_wish_gives_those_that_there_are),
        TEST(test_variants_wish_has_none_where_queues_cannot_be_read),
        TEST(test_variants_wish_is_about_parents),
        TEST(test_variants_wish_is_nothing_without_the_gate),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
