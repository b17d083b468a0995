/* SPDX-License-Identifier: Apache-2.0
 * SPDX-FileCopyrightText: The Sluice authors */

/* Admission fair sharing from settings and LocalQueues to the order of admission. */
#include "engine/calls/call.h"
#include "engine/state.h"
#include "policy/fair/usage.h"
#include "scene.h"

#define MINUTE 60000

static struct sl_engine_settings settings;

static int setup_accounts(void **state)
{
    (void)state;
    settings = sl_engine_settings_default();
    settings.policy.admission_fair_sharing = true;
    settings.usage_half_life_ms = 10 * MINUTE;
    settings.usage_sampling_ms = MINUTE;
    return 0;
}

static void add_queue(const char *name, const char *more)
{
    char text[512];
    (void)snprintf(text, sizeof text,
                   "{\"metadata\":{\"namespace\":\"team\",\"name\":\"%s\"},\"spec\":{"
                   "\"clusterQueue\":\"cq\"}%s}",
                   name, more);
    struct sl_error e = {0};
    assert_int_equal(world_put(&w, SL_KIND_LOCAL_QUEUE, world_parse(text), &e), SL_CODE_OK);
}

#define BY_USAGE ",\"admissionScope\":{\"admissionMode\":\"UsageBasedAdmissionFairSharing\"}"

/* "cq" with 10 cpu, for "greedy" and "modest". */
static void open_world_of(const char *more)
{
    world_open_with(&w, NULL, &settings);
    world_add_flavor(&w, "spot", "{}");
    world_add_cluster_queue(&w, "cq", "spot", "10", more);
    add_queue("greedy", "");
    add_queue("modest", "");
    sl_engine_synced(w.engine, w.now_ms);
}

static void open_world(void)
{
    open_world_of(BY_USAGE);
}

static int64_t consumed(const char *queue)
{
    const struct sl_local_queue *q = sl_local_queue_find(w.engine, "team", queue);
    sl_resource_id cpu = sl_intern_find(w.engine->names, SL_INTERN_RESOURCE, "cpu");
    assert_non_null(q);
    return sl_usage_consumed(q->account, cpu).milli;
}

static void finish(const char *name)
{
    struct sl_json *copy = sl_json_clone(world_workload(&w, name));
    (void)sl_condition_set(sl_json_path_make(copy, "status"), "Finished", true, "Succeeded", "done",
                           1, w.now_ms);
    (void)world_put(&w, SL_KIND_WORKLOAD, copy, NULL);
    world_settle(&w);
}

static double shown(const char *queue)
{
    const char *cluster_queue = "";
    double usage = -1;
    assert_true(sl_engine_queue_fair_usage(w.engine, "team", queue, &cluster_queue, &usage));
    assert_string_equal(cluster_queue, "cq");
    return usage;
}

/* As metrics show it: over the weight of the queue, and by that of the resource. */
static void test_accounts_usage_is_shown_by_weight(void **state)
{
    (void)state;
    static const char *const resources[] = {"cpu"};
    static const int64_t weights[] = {3000000000};
    settings.usage_weight_count = 1;
    settings.usage_weight_resources = resources;
    settings.usage_weights_nano = weights;
    open_world();
    world_add_workload(&w, "a", "greedy", 1, "4");
    world_settle(&w);
    world_pass(&w, 10 * MINUTE);
    double cpu = (double)consumed("greedy") / 1000;
    assert_true(cpu > 0);
    assert_true(shown("greedy") > 3 * cpu - 0.01 && shown("greedy") < 3 * cpu + 0.01);
    assert_true(shown("modest") == 0);
    (void)world_patch(&w, SL_KIND_LOCAL_QUEUE, "team", "greedy",
                      "{\"spec\":{\"fairSharing\":{\"weight\":\"2\"}}}");
    assert_true(shown("greedy") > 1.5 * cpu - 0.01 && shown("greedy") < 1.5 * cpu + 0.01);
    (void)world_patch(&w, SL_KIND_LOCAL_QUEUE, "team", "greedy",
                      "{\"spec\":{\"fairSharing\":{\"weight\":\"0\"}}}");
    assert_true(shown("greedy") > 1e300);
}

static void expect_status(const char *queue, const char *consumed)
{
    struct sl_json *status = sl_engine_queue_status(w.engine, SL_KIND_LOCAL_QUEUE, "team", queue);
    assert_string_equal(
        sl_json_path_text(status, "fairSharing.admissionFairSharingStatus.consumedResources.cpu",
                          "none"),
        consumed);
    sl_json_free(status);
}

static void test_accounts_queue_that_has_used_nothing_says_so(void **state)
{
    (void)state;
    open_world();
    world_settle(&w);
    expect_status("modest", "0");
}

static void test_accounts_without_fair_sharing_show_nothing(void **state)
{
    (void)state;
    const char *cluster_queue;
    double usage;
    settings.policy.admission_fair_sharing = false;
    open_world();
    assert_false(sl_engine_queue_fair_usage(w.engine, "team", "greedy", &cluster_queue, &usage));
    assert_false(sl_engine_queue_fair_usage(w.engine, "team", "none", &cluster_queue, &usage));
}

static void test_accounts_usage_is_sampled_and_forgotten(void **state)
{
    (void)state;
    open_world();
    world_add_workload(&w, "a", "greedy", 1, "8");
    world_settle(&w);
    world_pass(&w, 10 * MINUTE);
    assert_in_range(consumed("greedy"), 3900, 8000); /* half of 8000, and the entry penalty */
    assert_int_equal(consumed("modest"), 0);
    finish("a");
    int64_t then = consumed("greedy");
    world_pass(&w, 10 * MINUTE);
    assert_in_range(consumed("greedy"), then * 9 / 20, then * 11 / 20);
}

static void test_accounts_who_used_less_goes_first(void **state)
{
    (void)state;
    open_world();
    world_add_workload(&w, "a", "greedy", 1, "8");
    world_settle(&w);
    world_pass(&w, 10 * MINUTE);
    world_add_workload(&w, "b", "greedy", 1, "8");
    world_pass(&w, 1000);
    world_add_workload(&w, "c", "modest", 1, "8");
    world_settle(&w);
    finish("a");
    world_expect(&w, "c", "Admitted", "True", "Admitted");
    world_expect(&w, "b", "QuotaReserved", "False", "WaitingForQuota");
}

/* Whoever waits behind the head is tried when a sample puts it in front, though nothing ended. */
static void test_accounts_sample_that_changes_the_head_has_it_tried(void **state)
{
    (void)state;
    open_world_of(BY_USAGE ",\"queueingStrategy\":\"StrictFIFO\"");
    world_add_workload(&w, "a", "greedy", 1, "8");
    world_settle(&w);
    world_pass(&w, 10 * MINUTE);
    finish("a");
    world_add_workload(&w, "b", "modest", 1, "9");
    world_settle(&w);
    world_add_workload(&w, "large", "modest", 1, "8");
    world_settle(&w);
    world_add_workload(&w, "small", "greedy", 1, "1");
    world_settle(&w);
    assert_null(sl_condition_find(world_workload(&w, "small"), "QuotaReserved")); /* not tried */
    for (int minute = 0; minute < 10; minute++) {
        world_pass(&w, MINUTE);
    }
    assert_true(consumed("modest") > consumed("greedy"));
    world_expect(&w, "small", "Admitted", "True", "Admitted");
    world_expect(&w, "large", "QuotaReserved", "False", "WaitingForQuota");
}

static void test_accounts_weight_that_changes_the_head_has_it_tried(void **state)
{
    (void)state;
    open_world_of(BY_USAGE ",\"queueingStrategy\":\"StrictFIFO\"");
    world_add_workload(&w, "a", "greedy", 1, "9");
    world_settle(&w);
    world_pass(&w, 10 * MINUTE);
    world_add_workload(&w, "large", "modest", 1, "8");
    world_settle(&w);
    world_add_workload(&w, "small", "greedy", 1, "1");
    world_settle(&w);
    assert_null(sl_condition_find(world_workload(&w, "small"), "QuotaReserved")); /* not tried */
    (void)world_patch(&w, SL_KIND_LOCAL_QUEUE, "team", "modest",
                      "{\"spec\":{\"fairSharing\":{\"weight\":\"0\"}}}");
    world_settle(&w);
    world_expect(&w, "small", "Admitted", "True", "Admitted");
}

static void test_accounts_without_a_configuration_age_decides(void **state)
{
    (void)state;
    settings.policy.admission_fair_sharing = false;
    open_world();
    world_add_workload(&w, "a", "greedy", 1, "8");
    world_settle(&w);
    world_pass(&w, 10 * MINUTE);
    world_add_workload(&w, "b", "greedy", 1, "8");
    world_pass(&w, 1000);
    world_add_workload(&w, "c", "modest", 1, "8");
    world_settle(&w);
    finish("a");
    world_expect(&w, "b", "Admitted", "True", "Admitted");
    struct sl_json *status =
        sl_engine_queue_status(w.engine, SL_KIND_LOCAL_QUEUE, "team", "greedy");
    assert_null(sl_json_get(status, "fairSharing"));
    sl_json_free(status);
}

/* Only what the queue's status says is left. */
static void open_again(void)
{
    struct sl_engine_options options = {.settings = &settings};
    struct sl_error e = {0};
    sl_engine_close(w.engine);
    assert_int_equal(sl_engine_open(&options, &w.engine, &e), SL_CODE_OK);
    (void)world_observe(&w, SL_KIND_LOCAL_QUEUE,
                        world_get(&w, SL_KIND_LOCAL_QUEUE, "team", "greedy"), &e);
}

static void test_accounts_status_keeps_usage_over_a_restart(void **state)
{
    (void)state;
    open_world();
    world_add_workload(&w, "a", "greedy", 1, "8");
    world_settle(&w);
    world_pass(&w, 10 * MINUTE);
    struct sl_json *status =
        sl_engine_queue_status(w.engine, SL_KIND_LOCAL_QUEUE, "team", "greedy");
    struct sl_json *copy = sl_json_clone(world_get(&w, SL_KIND_LOCAL_QUEUE, "team", "greedy"));
    sl_json_set(sl_json_path_make(copy, "status"), "fairSharing",
                sl_json_clone(sl_json_get(status, "fairSharing")));
    sl_json_free(status);
    (void)world_put(&w, SL_KIND_LOCAL_QUEUE, copy, NULL);
    int64_t then = consumed("greedy");
    assert_true(then > 0);
    open_again();
    assert_in_range(consumed("greedy"), then - 1, then + 1);
}

/* A week's half-life, and one cpu: what it has used is less than a thousandth. */
static void test_accounts_little_usage_counts_and_is_kept_over_a_restart(void **state)
{
    (void)state;
    settings.usage_half_life_ms = 168 * 60 * MINUTE;
    settings.usage_sampling_ms = 5 * MINUTE;
    open_world();
    world_add_workload(&w, "a", "greedy", 1, "1");
    world_settle(&w);
    world_pass(&w, 1000);
    world_add_workload(&w, "all", "modest", 1, "9");
    world_settle(&w);
    finish("a");
    finish("all");
    const struct sl_local_queue *greedy = sl_local_queue_find(w.engine, "team", "greedy");
    sl_resource_id cpu = sl_intern_find(w.engine->names, SL_INTERN_RESOURCE, "cpu");
    struct sl_usage_amount used = sl_usage_consumed(greedy->account, cpu);
    assert_true(used.milli == 0 && used.parts > 0);
    struct sl_json *status =
        sl_engine_queue_status(w.engine, SL_KIND_LOCAL_QUEUE, "team", "greedy");
    assert_string_equal(
        sl_json_path_text(status, "fairSharing.admissionFairSharingStatus.consumedResources.cpu",
                          ""),
        "343763n");
    struct sl_json *copy = sl_json_clone(world_get(&w, SL_KIND_LOCAL_QUEUE, "team", "greedy"));
    sl_json_set(sl_json_path_make(copy, "status"), "fairSharing",
                sl_json_clone(sl_json_get(status, "fairSharing")));
    sl_json_free(status);
    (void)world_put(&w, SL_KIND_LOCAL_QUEUE, copy, NULL);
    open_again();
    greedy = sl_local_queue_find(w.engine, "team", "greedy");
    cpu = sl_intern_find(w.engine->names, SL_INTERN_RESOURCE, "cpu");
    assert_true(sl_usage_consumed(greedy->account, cpu).parts == used.parts);
}

static void add_pods(struct sl_json *workload, const char *name, const char *cpu)
{
    struct sl_json *other = world_new_workload("team", "other", "", 1, cpu);
    struct sl_json *set = sl_json_clone(sl_json_at(sl_json_path(other, "spec.podSets"), 0));
    sl_json_set_text(set, "name", name);
    sl_json_append(sl_json_get(sl_json_get(workload, "spec"), "podSets"), set);
    sl_json_free(other);
}

static int compared(void)
{
    return sl_usage_compare(sl_local_queue_find(w.engine, "team", "greedy")->account,
                            sl_local_queue_find(w.engine, "team", "modest")->account);
}

/* A billionth would be lost with each part of an amount that is rounded. */
static void test_accounts_usage_of_two_flavors_is_one_amount(void **state)
{
    (void)state;
    settings.usage_half_life_ms = 60 * MINUTE;
    settings.usage_sampling_ms = 5 * MINUTE;
    world_open_with(&w, NULL, &settings);
    world_add_flavor(&w, "spot", "{}");
    world_add_flavor(&w, "reserved", "{}");
    world_add(&w, SL_KIND_CLUSTER_QUEUE,
              "{\"metadata\":{\"name\":\"cq\"},\"spec\":{\"namespaceSelector\":{},"
              "\"resourceGroups\":[{\"coveredResources\":[\"cpu\"],\"flavors\":["
              "{\"name\":\"spot\",\"resources\":[{\"name\":\"cpu\",\"nominalQuota\":\"6\"}]},"
              "{\"name\":\"reserved\",\"resources\":[{\"name\":\"cpu\",\"nominalQuota\":\"18\"}]}"
              "]}]" BY_USAGE "}}");
    add_queue("greedy", "");
    add_queue("modest", "");
    sl_engine_synced(w.engine, w.now_ms);
    struct sl_json *halves = world_new_workload("team", "halves", "greedy", 1, "6");
    add_pods(halves, "more", "6");
    (void)world_put(&w, SL_KIND_WORKLOAD, halves, NULL);
    world_settle(&w);
    world_add_workload(&w, "whole", "modest", 1, "12");
    world_settle(&w);
    world_expect(&w, "halves", "Admitted", "True", "Admitted");
    world_expect(&w, "whole", "Admitted", "True", "Admitted");
    assert_true(consumed("greedy") > 0);
    assert_int_equal(compared(), 0); /* by their penalties */
    world_pass(&w, 5 * MINUTE);
    assert_int_equal(compared(), 0); /* and by a sample */
}

static void test_accounts_weight_is_read_and_negative_ones_refused(void **state)
{
    (void)state;
    open_world();
    struct sl_error e = {0};
    assert_int_equal(world_put(&w, SL_KIND_LOCAL_QUEUE,
                               world_parse("{\"metadata\":{\"namespace\":\"team\",\"name\":\"x\"},"
                                           "\"spec\":{\"clusterQueue\":\"cq\",\"fairSharing\":{"
                                           "\"weight\":\"-1\"}}}"),
                               &e),
                     SL_CODE_INVALID);
    assert_string_equal(e.causes[0].field, "spec.fairSharing.weight");
    (void)world_patch(&w, SL_KIND_LOCAL_QUEUE, "team", "greedy",
                      "{\"spec\":{\"fairSharing\":{\"weight\":\"0\"}}}");
    const struct sl_local_queue *greedy = sl_local_queue_find(w.engine, "team", "greedy");
    const struct sl_local_queue *modest = sl_local_queue_find(w.engine, "team", "modest");
    assert_int_equal(sl_usage_compare(greedy->account, modest->account), 1); /* always last */
}

static void test_accounts_weighed_resource_counts_for_more(void **state)
{
    (void)state;
    static const char *const resources[] = {"cpu"};
    static const int64_t weights[] = {0};
    settings.usage_weight_count = 1;
    settings.usage_weight_resources = resources;
    settings.usage_weights_nano = weights;
    open_world();
    world_add_workload(&w, "a", "greedy", 1, "8");
    world_settle(&w);
    world_pass(&w, 10 * MINUTE);
    const struct sl_local_queue *greedy = sl_local_queue_find(w.engine, "team", "greedy");
    const struct sl_local_queue *modest = sl_local_queue_find(w.engine, "team", "modest");
    assert_true(consumed("greedy") > 0);
    assert_int_equal(sl_usage_compare(greedy->account, modest->account), 0);
}

static void test_accounts_go_with_their_queue(void **state)
{
    (void)state;
    open_world();
    uint32_t before = sl_intern_count(w.engine->names, SL_INTERN_ACCOUNT);
    world_delete(&w, SL_KIND_LOCAL_QUEUE, "team", "modest");
    assert_int_equal(sl_intern_count(w.engine->names, SL_INTERN_ACCOUNT), before - 1);
}

static void test_accounts_sample_that_is_none_is_refused(void **state)
{
    (void)state;
    open_world();
    struct sl_buf list = {0};
    sl_item_add(&list, group, .group = 1);
    struct sl_call c = {.kind = SL_CALL_usage_sample,
                        .usage_sample = {.now_ms = w.now_ms, .list = &list}};
    assert_int_equal(sl_call_carry_out(&c).status, SL_REFUSED_BAD_ARGUMENT);
    sl_buf_fini(&list);
    struct sl_call past = {.kind = SL_CALL_usage_restore, .usage_restore.parts = SL_USAGE_PARTS};
    assert_int_equal(sl_call_carry_out(&past).status, SL_REFUSED_BAD_ARGUMENT);
}

#define TEST(name) cmocka_unit_test_setup_teardown(name, setup_accounts, teardown)

int main(void)
{
    const struct CMUnitTest tests[] = {
        TEST(test_accounts_usage_is_sampled_and_forgotten),
        TEST(test_accounts_usage_is_shown_by_weight),
        TEST(test_accounts_queue_that_has_used_nothing_says_so),
        TEST(test_accounts_without_fair_sharing_show_nothing),
        TEST(test_accounts_who_used_less_goes_first),
        TEST(test_accounts_sample_that_changes_the_head_has_it_tried),
        TEST(test_accounts_weight_that_changes_the_head_has_it_tried),
        TEST(test_accounts_without_a_configuration_age_decides),
        TEST(test_accounts_status_keeps_usage_over_a_restart),
        TEST(test_accounts_little_usage_counts_and_is_kept_over_a_restart),
        TEST(test_accounts_usage_of_two_flavors_is_one_amount),
        TEST(test_accounts_weight_is_read_and_negative_ones_refused),
        TEST(test_accounts_weighed_resource_counts_for_more),
        TEST(test_accounts_go_with_their_queue),
        TEST(test_accounts_sample_that_is_none_is_refused),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
