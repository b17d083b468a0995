/* SPDX-License-Identifier: Apache-2.0
 * SPDX-FileCopyrightText: The Sluice authors */

/* Pods of elastic jobs pass their gate in as many as have quota. */
#include "t.h"
#include "controllers/work/slices.h"
#include "pod_world.h"

#define CHECKED(node)                                                                              \
    "[{\"name\":\"c\",\"state\":\"Ready\",\"podSetUpdates\":[{\"name\":\"main\","                  \
    "\"nodeSelector\":{\"pool\":\"" node "\"}}]}]"

static int setup(void **state)
{
    struct world *w = sl_mem_new(1, sizeof *w);
    world_init(w, false);
    *state = w;
    return 0;
}

static int teardown(void **state)
{
    world_fini(*state);
    sl_mem_free(*state);
    return 0;
}

/* The slice of that name, which belongs to those that began with "s1"; its conditions that are true. */
static struct sl_json *put_slice(struct world *w, const char *name, int pods, const char *more,
                                 const char *const *conditions)
{
    char text[900];
    snprintf(
        text, sizeof text,
        "{\"metadata\":{\"name\":\"%s\",\"namespace\":\"n\",\"uid\":\"%s\","
        "\"creationTimestamp\":\"2023-11-14T22:13:2%cZ\",\"annotations\":{"
        "\"kueue.x-k8s.io/elastic-job\":\"true\",\"kueue.x-k8s.io/workload-slice-name\":\"s1\"%s}},"
        "\"spec\":{\"podSets\":[{\"name\":\"main\",\"count\":%d}]},"
        "\"status\":{\"admission\":{\"podSetAssignments\":[{\"name\":\"main\",\"count\":%d}]}}}",
        name, name, name[1], more, pods, pods);
    struct sl_json *wl = parse(text);
    for (size_t i = 0; conditions[i] != NULL; i++) {
        sl_condition_set(sl_json_get(wl, "status"), conditions[i], true, "Test", "", 0, T0);
    }
    fake_put(&w->fake, SL_KIND_WORKLOAD, wl);
    return wl;
}

static const char *const held[] = {"QuotaReserved", "Admitted", NULL};
static const char *const waiting[] = {NULL};

static void put_pod(struct world *w, const char *name, const char *phase)
{
    char text[600];
    snprintf(text, sizeof text,
             "{\"metadata\":{\"name\":\"%s\",\"namespace\":\"n\",\"uid\":\"%s\","
             "\"labels\":{\"kueue.x-k8s.io/podset\":\"main\"},"
             "\"annotations\":{\"kueue.x-k8s.io/workload-slice-name\":\"s1\"}},"
             "\"spec\":{\"schedulingGates\":[{\"name\":\"a/b\"},{\"name\":\"" SL_GATE_ELASTIC
             "\"}]},\"status\":{\"phase\":\"%s\"}}",
             name, name, phase);
    fake_put(&w->fake, SL_KIND_POD, parse(text));
}

static bool passed(struct world *w, const char *name)
{
    return !sl_template_has_gate(world_get(w, SL_KIND_POD, name), SL_GATE_ELASTIC);
}

static void turn(struct world *w)
{
    world_turn(w, w->now_ms + 100);
    world_turn(w, w->now_ms + 100);
}

static void test_elastic_pods_pass_up_to_what_is_granted_by_name(void **state)
{
    struct world *w = *state;
    put_pod(w, "c", "Pending");
    put_pod(w, "b", "Pending");
    put_pod(w, "a", "Pending");
    put_slice(w, "s1", 2, "", held);
    turn(w);
    assert_true(passed(w, "a") && passed(w, "b"));
    assert_false(passed(w, "c"));
    assert_true(sl_template_has_gate(world_get(w, SL_KIND_POD, "a"), "a/b"));
}

static void test_elastic_pods_that_ended_make_room_and_others_do_not(void **state)
{
    struct world *w = *state;
    put_slice(w, "s1", 1, "", held);
    put_pod(w, "a", "Pending");
    turn(w);
    put_pod(w, "b", "Pending");
    turn(w);
    assert_false(passed(w, "b"));
    sl_json_set_text(sl_json_get(world_get(w, SL_KIND_POD, "a"), "status"), "phase", "Succeeded");
    turn(w);
    assert_true(passed(w, "b"));
}

static void test_elastic_pods_wait_without_an_admitted_slice(void **state)
{
    struct world *w = *state;
    static const char *const others[][4] = {
        {NULL},
        {"QuotaReserved", NULL},
        {"QuotaReserved", "Admitted", "Evicted", NULL},
        {"QuotaReserved", "Admitted", "Finished", NULL},
    };
    put_pod(w, "a", "Pending");
    turn(w);
    for (size_t i = 0; i < 4; i++) {
        put_slice(w, "s1", 1, "", others[i]);
        turn(w);
        assert_false(passed(w, "a"));
    }
    put_slice(w, "s1", 1, "", held);
    turn(w);
    assert_true(passed(w, "a"));
}

/* The one that took its place counts, also for pods that name the first; a newer one that waits does not. */
static void test_elastic_pods_go_by_the_slice_that_has_the_quota(void **state)
{
    struct world *w = *state;
    static const char *const ended[] = {"QuotaReserved", "Admitted", "Finished", NULL};
    const char *second = ",\"kueue.x-k8s.io/workload-slice-replacement-for\":\"n/s1\"";
    const char *third = ",\"kueue.x-k8s.io/workload-slice-replacement-for\":\"n/s2\"";
    put_slice(w, "s1", 1, "", held);
    put_pod(w, "a", "Pending");
    put_pod(w, "b", "Pending");
    put_pod(w, "c", "Pending");
    put_slice(w, "s2", 2, second, waiting);
    turn(w);
    assert_true(passed(w, "a"));
    assert_false(passed(w, "b"));
    put_slice(w, "s1", 1, "", ended);
    put_slice(w, "s2", 2, second, held);
    put_slice(w, "s3", 3, third, waiting);
    turn(w);
    assert_true(passed(w, "b"));
    assert_false(passed(w, "c"));
    assert_int_equal(sl_elastic_ungater_granted(&w->cluster.slices, "n/s1", "main"), 2);
    assert_int_equal(sl_elastic_ungater_granted(&w->cluster.slices, "n/s1", "other"), 0);
    fake_remove(&w->fake, SL_KIND_WORKLOAD, "n", "s1");
    put_slice(w, "s3", 3, third, held);
    put_slice(w, "s2", 2, second, ended);
    turn(w);
    assert_true(passed(w, "c"));
    fake_remove(&w->fake, SL_KIND_WORKLOAD, "n", "s2");
    fake_remove(&w->fake, SL_KIND_WORKLOAD, "n", "s3");
    turn(w);
    assert_int_equal(sl_elastic_ungater_granted(&w->cluster.slices, "n/s1", "main"), 0);
}

/* It was made smaller after it was admitted, or larger before that was seen: the smaller number counts. */
static void test_elastic_pods_are_as_few_as_the_slice_says(void **state)
{
    struct world *w = *state;
    struct sl_json *wl = put_slice(w, "s1", 3, "", held);
    sl_json_set_int(sl_workload_pod_set(wl, 0), "count", 1);
    put_pod(w, "a", "Pending");
    put_pod(w, "b", "Pending");
    turn(w);
    assert_true(passed(w, "a"));
    assert_false(passed(w, "b"));
    sl_json_set_int(sl_workload_pod_set(world_get(w, SL_KIND_WORKLOAD, "s1"), 0), "count", 9);
    assert_int_equal(sl_elastic_ungater_granted(&w->cluster.slices, "n/s1", "main"), 3);
}

static void test_elastic_pods_get_what_checks_add_or_wait(void **state)
{
    struct world *w = *state;
    put_pod(w, "a", "Pending");
    put_pod(w, "b", "Pending");
    sl_json_set_text(sl_json_path_make(world_get(w, SL_KIND_POD, "a"), "spec.nodeSelector"), "pool",
                     "of the slice before");
    struct sl_json *wl = put_slice(w, "s1", 2, "", held);
    sl_json_set(sl_json_get(wl, "status"), "admissionChecks", parse(CHECKED("new")));
    turn(w);
    assert_false(passed(w, "a"));
    assert_true(passed(w, "b"));
    assert_string_equal(
        sl_json_path_text(world_get(w, SL_KIND_POD, "b"), "spec.nodeSelector.pool", ""), "new");
}

static void test_elastic_pods_that_cannot_be_written_are_tried_again(void **state)
{
    struct world *w = *state;
    put_slice(w, "s1", 1, "", held);
    put_pod(w, "a", "Pending");
    w->fake.next_code = SL_CODE_CONFLICT;
    turn(w);
    assert_true(passed(w, "a"));
}

static void test_elastic_pods_are_many(void **state)
{
    struct world *w = *state;
    char name[16];
    put_slice(w, "s1", 60, "", held);
    for (int i = 0; i < 60; i++) {
        snprintf(name, sizeof name, "p%02d", i);
        put_pod(w, name, "Pending");
    }
    turn(w);
    for (int i = 0; i < 60; i++) {
        snprintf(name, sizeof name, "p%02d", i);
        assert_true(passed(w, name));
    }
}

int main(void)
{
#define TEST(name) cmocka_unit_test_setup_teardown(name, setup, teardown)
    static const struct CMUnitTest tests[] = {
        TEST(test_elastic_pods_pass_up_to_what_is_granted_by_name),
        TEST(test_elastic_pods_that_ended_make_room_and_others_do_not),
        TEST(test_elastic_pods_wait_without_an_admitted_slice),
        TEST(test_elastic_pods_go_by_the_slice_that_has_the_quota),
        TEST(test_elastic_pods_are_as_few_as_the_slice_says),
        TEST(test_elastic_pods_get_what_checks_add_or_wait),
        TEST(test_elastic_pods_that_cannot_be_written_are_tried_again),
        TEST(test_elastic_pods_are_many),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
