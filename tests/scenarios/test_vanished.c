/* SPDX-License-Identifier: Apache-2.0
 * SPDX-FileCopyrightText: The Sluice authors */

/* Scenarios S34 to S41: what happens around workloads and queues that vanish, and that the same
 * events give the same decisions. */
#include "../unit/engine/history.h"
#include "kernel/lifecycle/second_pass.h"
#include "policy/queues/queues.h"
#include <sys/wait.h>
#include <unistd.h>

static struct world w;

static int setup(void **state)
{
    (void)state;
    world_open(&w, NULL);
    world_add_flavor(&w, "spot", "{}");
    return 0;
}

static int teardown(void **state)
{
    (void)state;
    world_check(&w);
    world_close(&w);
    return 0;
}

static void add_queue(const char *cpu, const char *more)
{
    world_add_cluster_queue(&w, "cq", "spot", cpu, more);
    world_add_local_queue(&w, "team", "lq", "cq");
    sl_engine_synced(w.engine, w.now_ms);
}

static void add(const char *name, const char *cpu, int priority)
{
    struct sl_json *o = world_new_workload("team", name, "lq", 1, cpu);
    sl_json_set_int(sl_json_get(o, "spec"), "priority", priority);
    (void)world_put(&w, SL_KIND_WORKLOAD, o, NULL);
}

#define LOWER ",\"preemption\":{\"withinClusterQueue\":\"LowerPriority\"}"

/* --- S34: a victim that is deleted while its eviction is written ------------------------------ */

static void test_S34_victim_deleted_meanwhile_counts_as_gone_within_one_cycle(void **state)
{
    (void)state;
    struct sl_decision d;
    bool evicting = false;
    add_queue("10", LOWER);
    add("victim", "8", 1);
    world_settle(&w);
    add("preemptor", "8", 5);
    (void)sl_engine_cycle(w.engine, w.now_ms);
    while (sl_engine_next_decision(w.engine, &d)) {
        if (d.kind == SL_DECIDE_EVICT) { /* it is deleted before this can be written */
            evicting = true;
            (void)world_answer(&w, &d, SL_CODE_NOT_FOUND);
        } else {
            (void)world_write(&w, &d, world_get(&w, SL_KIND_WORKLOAD, d.ns, d.name));
            (void)world_answer(&w, &d, SL_CODE_OK);
        }
    }
    assert_true(evicting);
    assert_int_equal(world_count_cq(&w, "reservingWorkloads"), 0);
    (void)sl_engine_cycle(w.engine, w.now_ms);
    assert_int_equal(world_count_cq(&w, "reservingWorkloads"), 1);
    world_delete(&w, SL_KIND_WORKLOAD, "team", "victim"); /* told late: it was known by then */
    world_settle(&w);
    world_expect(&w, "preemptor", "Admitted", "True", "Admitted");
}

/* --- S36, S37: a ClusterQueue that is deleted ------------------------------------------------- */

static void test_S36_queue_deleted_while_one_waits_keeps_it_under_its_local_queue(void **state)
{
    (void)state;
    add_queue("10", "");
    add("first", "8", 0);
    world_settle(&w);
    add("second", "8", 0);
    world_delete(&w, SL_KIND_CLUSTER_QUEUE, "", "cq");
    add("third", "1", 0);
    world_settle(&w);
    assert_int_equal(sl_place_of(1), SL_PLACE_ORPHANED);
    assert_int_equal(sl_place_of(2), SL_PLACE_ORPHANED);
    assert_int_equal(world_count(&w, SL_KIND_LOCAL_QUEUE, "team", "lq", "pendingWorkloads"), 2);
    world_delete(&w, SL_KIND_WORKLOAD, "team", "first");
    add_queue("10", "");
    world_settle(&w);
    world_expect(&w, "second", "Admitted", "True", "Admitted");
    world_expect(&w, "third", "Admitted", "True", "Admitted");
}

/* Decided, and not written yet. */
static void test_S37_queue_deleted_with_a_reservation_in_flight_leaves_nothing(void **state)
{
    (void)state;
    struct sl_decision d;
    add_queue("10", "");
    add("a", "8", 0);
    (void)sl_engine_cycle(w.engine, w.now_ms);
    assert_true(sl_engine_next_decision(w.engine, &d));
    assert_int_equal(d.kind, SL_DECIDE_RESERVE);
    world_delete(&w, SL_KIND_CLUSTER_QUEUE, "", "cq");
    (void)world_answer(&w, &d, SL_CODE_NOT_FOUND);
    world_delete(&w, SL_KIND_WORKLOAD, "team", "a");
    world_delete(&w, SL_KIND_LOCAL_QUEUE, "team", "lq");
    world_settle(&w);
    assert_null(sl_engine_queue_status(w.engine, SL_KIND_CLUSTER_QUEUE, "", "cq"));
    assert_int_equal(sl_ledger_qnode_of(0), SL_NO_ID);
    assert_int_equal(sl_place_of(0), SL_PLACE_NONE);
}

/* --- S39: deletions that nobody saw ----------------------------------------------------------- */

/* While the engine is away a holder is deleted: nothing of it is left, neither its quota nor itself
 * as a candidate for preemption. */
static void test_S39_what_was_deleted_while_away_is_no_ghost(void **state)
{
    (void)state;
    static const enum sl_kind order[] = {SL_KIND_RESOURCE_FLAVOR, SL_KIND_CLUSTER_QUEUE,
                                         SL_KIND_LOCAL_QUEUE, SL_KIND_WORKLOAD};
    char key[300];
    union sl_map_value gone;
    add_queue("10", LOWER);
    add("ghost", "8", 1);
    add("small", "2", 1);
    world_settle(&w);
    world_key(SL_KIND_WORKLOAD, "team", "ghost", key);
    assert_true(sl_map_remove(w.objects, key, &gone));
    sl_json_free(gone.pointer);
    world_restart(&w, order, 4);
    assert_int_equal(world_count_cq(&w, "reservingWorkloads"), 1);
    add("high", "8", 5);
    world_settle(&w);
    world_expect(&w, "high", "Admitted", "True", "Admitted");
    assert_null(sl_condition_find(world_workload(&w, "small"), "Evicted"));
}

/* --- S41: same events, same decisions --------------------------------------------------------- */

/* Everything that is decided in a random history, as text. */
static void write_decisions(int to, uint64_t seed)
{
    struct world own;
    struct history h;
    struct sl_decision d;
    struct sl_engine_settings settings = sl_engine_settings_default();
    struct sl_buf text = {0};
    settings.policy.fair_sharing = seed % 2 == 1;
    world_open_with(&own, NULL, &settings);
    history_begin(&h, &own, seed);
    for (unsigned i = 0; i < 400; i++) {
        history_step(&h);
        (void)sl_engine_cycle(own.engine, own.now_ms);
        while (sl_engine_next_decision(own.engine, &d)) {
            sl_buf_print(&text, "%llu %llu %d %s/%s %s: %s\n", (unsigned long long)d.sequence,
                         (unsigned long long)d.cycle, (int)d.kind, d.ns, d.name, d.reason,
                         d.message);
            struct sl_json *live = world_get(&own, SL_KIND_WORKLOAD, d.ns, d.name);
            (void)world_answer(&own, &d,
                               live == NULL ? SL_CODE_NOT_FOUND : world_write(&own, &d, live));
        }
    }
    for (size_t at = 0; at < text.len;) {
        ssize_t n = write(to, text.data + at, text.len - at);
        if (n <= 0) {
            _exit(1);
        }
        at += (size_t)n;
    }
    _exit(0);
}

static struct sl_buf decisions_of(uint64_t seed)
{
    struct sl_buf out = {0};
    char chunk[4096];
    ssize_t n;
    int ends[2];
    int status;
    assert_int_equal(pipe(ends), 0);
    pid_t child = fork();
    assert_true(child >= 0);
    if (child == 0) {
        close(ends[0]);
        write_decisions(ends[1], seed);
    }
    close(ends[1]);
    while ((n = read(ends[0], chunk, sizeof chunk)) > 0) {
        sl_buf_add(&out, chunk, (size_t)n);
    }
    close(ends[0]);
    assert_int_equal(waitpid(child, &status, 0), child);
    assert_true(WIFEXITED(status) && WEXITSTATUS(status) == 0);
    return out;
}

static void test_S41_same_events_give_the_same_decisions_byte_by_byte(void **state)
{
    (void)state;
    for (uint64_t seed = 1; seed <= 4; seed++) {
        struct sl_buf a = decisions_of(seed);
        struct sl_buf b = decisions_of(seed);
        assert_true(a.len > 5000);
        assert_int_equal(a.len, b.len);
        assert_memory_equal(a.data, b.data, a.len);
        sl_buf_fini(&a);
        sl_buf_fini(&b);
    }
}

#define TEST(f) cmocka_unit_test_setup_teardown(f, setup, teardown)
int main(void)
{
    const struct CMUnitTest tests[] = {
        TEST(test_S34_victim_deleted_meanwhile_counts_as_gone_within_one_cycle),
        TEST(test_S36_queue_deleted_while_one_waits_keeps_it_under_its_local_queue),
        TEST(test_S37_queue_deleted_with_a_reservation_in_flight_leaves_nothing),
        TEST(test_S39_what_was_deleted_while_away_is_no_ghost),
        cmocka_unit_test(test_S41_same_events_give_the_same_decisions_byte_by_byte),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
