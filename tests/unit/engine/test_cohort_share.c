/* SPDX-License-Identifier: Apache-2.0
 * SPDX-FileCopyrightText: The Sluice authors */

/* The weighted share that a Cohort's status shows under fair sharing: written anew with what its queues use. */
#include "scene.h"
#include <math.h>

static void add_cohort(const char *name, const char *spec)
{
    char text[512];
    (void)snprintf(text, sizeof text, "{\"metadata\":{\"name\":\"%s\"},\"spec\":{%s}}", name, spec);
    world_add(&w, SL_KIND_COHORT, text);
}

static int setup_cohort_share(void **state)
{
    (void)state;
    struct sl_engine_settings settings = sl_engine_settings_default();
    settings.policy.fair_sharing = true;
    world_open_with(&w, NULL, &settings);
    world_add_flavor(&w, "spot", "{}");
    add_cohort("root", "\"resourceGroups\":[{\"coveredResources\":[\"cpu\"],\"flavors\":[{\"name\":"
                       "\"spot\",\"resources\":[{\"name\":\"cpu\",\"nominalQuota\":12}]}]}]");
    add_cohort("middle", "\"parentName\":\"root\"");
    add_cohort("best-effort", "\"parentName\":\"middle\",\"fairSharing\":{\"weight\":\"500m\"}");
    add_cohort("idle", "\"parentName\":\"root\"");
    world_add_cluster_queue(&w, "cq", "spot", "0", ",\"cohortName\":\"best-effort\"");
    world_add_local_queue(&w, "team", "lq", "cq");
    sl_engine_synced(w.engine, w.now_ms);
    return 0;
}

/* Of those whose status is to be written: the Cohorts, in any order. */
static unsigned touched_cohorts(const char *name)
{
    enum sl_kind kind;
    const char *ns;
    const char *touched;
    unsigned count = 0;
    while (sl_engine_next_touched(w.engine, &kind, &ns, &touched)) {
        count += kind == SL_KIND_COHORT && strcmp(touched, name) == 0;
    }
    return count;
}

static void expect_share(const char *cohort, int64_t share)
{
    struct sl_json *status = sl_engine_queue_status(w.engine, SL_KIND_COHORT, "", cohort);
    assert_int_equal(sl_json_path_int(status, "fairSharing.weightedShare", -1), share);
    sl_json_free(status);
}

static void test_cohort_share_follows_what_its_queues_use(void **state)
{
    (void)state;
    world_settle(&w);
    (void)touched_cohorts("");
    expect_share("best-effort", 0);
    world_add_workload(&w, "a", "lq", 1, "6");
    world_settle(&w);
    expect_share("best-effort", 1000); /* 6 of 12, for half a weight */
    expect_share("middle", 500);
    assert_int_equal(touched_cohorts("best-effort"), 1);
    world_delete(&w, SL_KIND_WORKLOAD, "team", "a");
    world_settle(&w);
    expect_share("middle", 0);
    assert_int_equal(touched_cohorts("middle"), 1);
}

static void test_cohort_share_of_others_is_not_written_for_it(void **state)
{
    (void)state;
    world_settle(&w);
    (void)touched_cohorts("");
    world_add_workload(&w, "a", "lq", 1, "6");
    world_settle(&w);
    assert_int_equal(touched_cohorts("idle"), 0);
}

static double share_of(enum sl_kind kind, const char *name)
{
    double share = -1;
    assert_true(sl_engine_weighted_share(w.engine, kind, name, &share));
    return share;
}

/* As Kueue's metric shows it: a third is no whole number of thousandths. */
static void test_cohort_share_is_not_rounded_for_metrics(void **state)
{
    (void)state;
    world_settle(&w);
    assert_true(share_of(SL_KIND_COHORT, "middle") == 0);
    world_add_workload(&w, "a", "lq", 1, "4");
    world_settle(&w);
    assert_true(share_of(SL_KIND_COHORT, "best-effort") == 4 * 1000.0 / 12 / 0.5);
    assert_true(share_of(SL_KIND_CLUSTER_QUEUE, "cq") == 4 * 1000.0 / 12);
    expect_share("best-effort", 667);
    double unknown;
    assert_false(sl_engine_weighted_share(w.engine, SL_KIND_COHORT, "nobody", &unknown));
}

static void test_cohort_share_of_no_weight_is_no_number_once_it_borrows(void **state)
{
    (void)state;
    add_cohort("best-effort", "\"parentName\":\"middle\",\"fairSharing\":{\"weight\":\"0\"}");
    world_settle(&w);
    assert_true(share_of(SL_KIND_COHORT, "best-effort") == 0);
    world_add_workload(&w, "a", "lq", 1, "4");
    world_settle(&w);
    assert_true(isnan(share_of(SL_KIND_COHORT, "best-effort")));
}

#define TEST(name) cmocka_unit_test_setup_teardown(name, setup_cohort_share, teardown)

int main(void)
{
    const struct CMUnitTest tests[] = {
        TEST(test_cohort_share_follows_what_its_queues_use),
        TEST(test_cohort_share_of_others_is_not_written_for_it),
        TEST(test_cohort_share_is_not_rounded_for_metrics),
        TEST(test_cohort_share_of_no_weight_is_no_number_once_it_borrows),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
