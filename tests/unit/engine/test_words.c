/* SPDX-License-Identifier: Apache-2.0
 * SPDX-FileCopyrightText: The Sluice authors */

/* A reason and its message come from one look at the workload, however late a decision is taken or
 * written. Every other test of the engine asks the same of what it sees (world_told_once). */
#include "cluster.h"
#include "scene.h"

#define TAKEN_MAX 64

static struct sl_decision taken[TAKEN_MAX];
static size_t taken_count;

static int setup_words(void **state)
{
    (void)setup(state);
    taken_count = 0;
    return 0;
}

static void cycle(void)
{
    while (sl_engine_cycle(w.engine, w.now_ms)) {
    }
}

/* What has been decided by now is taken, and each has words of its own reason; nothing is written. */
static void take(void)
{
    while (sl_engine_next_decision(w.engine, &taken[taken_count])) {
        world_told_once(taken[taken_count].reason, taken[taken_count].message);
        taken_count++;
        assert_true(taken_count < TAKEN_MAX);
    }
}

/* In the order in which they were made: each object that comes of it has words of its own reasons. */
static void write_taken(void)
{
    for (size_t i = 0; i < taken_count; i++) {
        struct sl_json *live = world_get(&w, SL_KIND_WORKLOAD, taken[i].ns, taken[i].name);
        (void)world_answer(&w, &taken[i], world_write(&w, &taken[i], live));
    }
    taken_count = 0;
    world_settle(&w);
}

static void stop_queue(const char *policy)
{
    char patch[80];
    (void)snprintf(patch, sizeof patch, "{\"spec\":{\"stopPolicy\":\"%s\"}}", policy);
    (void)world_patch(&w, SL_KIND_CLUSTER_QUEUE, "", "cq", patch);
}

static const char *message_of(const char *workload, const char *type)
{
    return sl_json_path_text(sl_condition_find(world_workload(&w, workload), type), "message", "");
}

static size_t taken_with(const char *reason)
{
    size_t count = 0;
    for (size_t i = 0; i < taken_count; i++) {
        count += strcmp(taken[i].reason, reason) == 0;
    }
    return count;
}

/* A queue that is stopped and goes on at once: three reasons in a row, of which none is taken in
 * between. */
static void test_words_of_decisions_that_are_taken_late(void **state)
{
    (void)state;
    world_add_basics(&w);
    world_add_workload(&w, "big", "lq", 1, "11");
    world_settle(&w);
    world_expect(&w, "big", "QuotaReserved", "False", "ExceedsMaxQuota");
    stop_queue("Hold");
    cycle();
    stop_queue("None");
    cycle();
    take();
    assert_int_equal(taken_with("Suspended"), 1);
    assert_int_equal(taken_with("PendingEvaluation"), 1);
    assert_int_equal(taken_with("ExceedsMaxQuota"), 1);
    write_taken();
    world_expect(&w, "big", "QuotaReserved", "False", "ExceedsMaxQuota");
    assert_non_null(strstr(message_of("big", "QuotaReserved"), "insufficient quota for cpu"));
}

/* The write is of the record as it is now: so are its words, also the ones that nothing corrects. */
static void test_words_of_conditions_that_are_written_late(void **state)
{
    (void)state;
    world_add_basics(&w);
    world_add_workload(&w, "big", "lq", 1, "11");
    cycle();
    take();
    stop_queue("Hold");
    cycle();
    write_taken();
    world_expect(&w, "big", "QuotaReserved", "False", "Suspended");
    assert_string_equal(message_of("big", "QuotaReserved"), "ClusterQueue cq is inactive");
}

/* Nothing of an eviction is written before its workload waits for quota again. */
static void test_words_of_an_eviction_that_is_written_late(void **state)
{
    (void)state;
    world_add_flavor(&w, "spot", "{}");
    world_add_cluster_queue(&w, "cq", "spot", "10",
                            ",\"preemption\":{\"withinClusterQueue\":\"LowerPriority\"}");
    world_add_local_queue(&w, "team", "lq", "cq");
    sl_engine_synced(w.engine, w.now_ms);
    world_add_workload(&w, "low", "lq", 1, "10");
    world_settle(&w);
    struct sl_json *high = world_new_workload("team", "high", "lq", 1, "10");
    sl_json_set_int(sl_json_get(high, "spec"), "priority", 5);
    (void)world_put(&w, SL_KIND_WORKLOAD, high, NULL);
    cycle();
    sl_engine_job_stopped(w.engine, world_workload(&w, "low"), w.now_ms);
    cycle();
    take();
    write_taken();
    world_expect(&w, "low", "Evicted", "True", "Preempted");
    world_expect(&w, "low", "QuotaReserved", "False", "WaitingForQuota");
    assert_non_null(strstr(message_of("low", "Evicted"), "(UID: "));
    assert_non_null(strstr(message_of("low", "Preempted"), "(UID: "));
    assert_non_null(strstr(message_of("low", "QuotaReserved"), "insufficient unused quota"));
}

/* Marked, and moved before the mark was told. */
static void test_words_of_failed_nodes_that_are_taken_late(void **state)
{
    (void)state;
    cluster_add_basics(&w, "{\"topologyName\":\"topo\"}", "20");
    cluster_put_node(&w, "n1", "b1", "r1", "2", "");
    cluster_put_node(&w, "n2", "b1", "r1", "2", "");
    struct sl_json *o = world_new_workload("team", "a", "lq", 2, "1");
    sl_json_set(sl_json_path(o, "spec.podSets.0"), "topologyRequest",
                world_parse("{\"required\":\"rack\"}"));
    (void)world_put(&w, SL_KIND_WORKLOAD, o, NULL);
    world_settle(&w);
    world_expect(&w, "a", "Admitted", "True", "Admitted");
    world_delete(&w, SL_KIND_NODE, "", "n1");
    cycle();
    w.now_ms += 1000;
    cycle();
    take();
    assert_int_equal(taken_with("NodeFailures"), 1);
    assert_int_equal(taken_with("TopologyAssigned"), 1);
    write_taken();
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test_setup_teardown(test_words_of_decisions_that_are_taken_late, setup_words,
                                        teardown),
        cmocka_unit_test_setup_teardown(test_words_of_conditions_that_are_written_late, setup_words,
                                        teardown),
        cmocka_unit_test_setup_teardown(test_words_of_an_eviction_that_is_written_late, setup_words,
                                        teardown),
        cmocka_unit_test_setup_teardown(test_words_of_failed_nodes_that_are_taken_late, setup_words,
                                        teardown)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
