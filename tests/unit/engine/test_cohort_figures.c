/* SPDX-License-Identifier: Apache-2.0
 * SPDX-FileCopyrightText: The Sluice authors */

/* Where queues and cohorts stand, and what lies below them. */
#include "world.h"

static struct world w;
static struct sl_buf told;

static int setup(void **state)
{
    (void)state;
    world_open(&w, NULL);
    told = (struct sl_buf){0};
    return 0;
}

static int teardown(void **state)
{
    (void)state;
    world_close(&w);
    sl_buf_fini(&told);
    return 0;
}

/* "lender" has 6, of which it lends 4, and "taker" 3, in "team", which has no object; that "org" stands above it is
 * said by nobody, so it is a root; "alone" has no cohort. One workload takes 5 of lender, another 4 of taker. */
static void start(void)
{
    world_add_flavor(&w, "spot", "{}");
    world_add(&w, SL_KIND_CLUSTER_QUEUE,
              "{\"metadata\":{\"name\":\"lender\"},\"spec\":{\"cohortName\":\"team\","
              "\"namespaceSelector\":{},"
              "\"resourceGroups\":[{\"coveredResources\":[\"cpu\"],\"flavors\":[{\"name\":\"spot\","
              "\"resources\":[{\"name\":\"cpu\",\"nominalQuota\":6,\"lendingLimit\":4}]}]}]}}");
    world_add_cluster_queue(&w, "taker", "spot", "3", ",\"cohortName\":\"team\"");
    world_add_cluster_queue(&w, "alone", "spot", "1", "");
    world_add_local_queue(&w, "team", "lender", "lender");
    world_add_local_queue(&w, "team", "taker", "taker");
    sl_engine_synced(w.engine, w.now_ms);
    world_add_workload(&w, "one", "lender", 1, "5");
    world_add_workload(&w, "two", "taker", 1, "4");
    world_settle(&w);
}

static void note_node(void *context, const struct sl_tree_qnode *n)
{
    (void)context;
    sl_buf_print(&told, "%s %s<%s<%s %u;", n->kind == SL_KIND_COHORT ? "cohort" : "queue", n->name,
                 n->parent, n->root, n->admitted);
}

static void note_quota(void *context, const struct sl_cohort_quota *q)
{
    (void)context;
    sl_buf_print(&told, "%s %s %s %lld of %lld;", q->cohort, q->flavor, q->resource,
                 (long long)q->reserved, (long long)q->quota);
}

static void expect_tree(const char *text)
{
    sl_buf_reset(&told);
    sl_engine_tree(w.engine, note_node, NULL);
    assert_string_equal(told.data, text);
}

static void expect_quotas(const char *text)
{
    sl_buf_reset(&told);
    sl_engine_cohort_quotas(w.engine, note_quota, NULL);
    assert_string_equal(told.data, text);
}

static void test_cohort_figures_cohort_without_object_has_what_is_lent_to_it(void **state)
{
    (void)state;
    start();
    expect_tree("queue lender<team<team 1;cohort team<<team 2;queue taker<team<team 1;"
                "queue alone<< 0;");
    expect_quotas("team spot cpu 9000 of 7000;");
}

static void test_cohort_figures_follow_the_tree(void **state)
{
    (void)state;
    start();
    world_add(
        &w, SL_KIND_COHORT,
        "{\"metadata\":{\"name\":\"team\"},\"spec\":{\"parentName\":\"org\",\"resourceGroups\":[{"
        "\"coveredResources\":[\"cpu\"],\"flavors\":[{\"name\":\"spot\",\"resources\":[{"
        "\"name\":\"cpu\",\"nominalQuota\":10}]}]}]}}");
    world_settle(&w);
    expect_tree("queue lender<team<org 1;cohort team<org<org 2;queue taker<team<org 1;"
                "queue alone<< 0;cohort org<<org 2;");
    expect_quotas("team spot cpu 9000 of 17000;org spot cpu 9000 of 17000;");
    world_delete(&w, SL_KIND_WORKLOAD, "team", "one");
    world_settle(&w);
    expect_quotas("team spot cpu 4000 of 17000;org spot cpu 4000 of 17000;");
}

static void test_cohort_figures_end_with_the_queues(void **state)
{
    (void)state;
    start();
    world_delete(&w, SL_KIND_WORKLOAD, "team", "one");
    world_delete(&w, SL_KIND_WORKLOAD, "team", "two");
    world_delete(&w, SL_KIND_CLUSTER_QUEUE, "", "lender");
    world_delete(&w, SL_KIND_CLUSTER_QUEUE, "", "taker");
    world_settle(&w);
    expect_tree("queue alone<< 0;");
    sl_buf_reset(&told);
    sl_engine_cohort_quotas(w.engine, note_quota, NULL);
    assert_int_equal(told.len, 0);
}

#define TEST(name) cmocka_unit_test_setup_teardown(test_cohort_figures_##name, setup, teardown)

int main(void)
{
    const struct CMUnitTest tests[] = {
        TEST(cohort_without_object_has_what_is_lent_to_it),
        TEST(follow_the_tree),
        TEST(end_with_the_queues),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
