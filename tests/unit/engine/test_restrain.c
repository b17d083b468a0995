/* SPDX-License-Identifier: Apache-2.0
 * SPDX-FileCopyrightText: The Sluice authors */

/* Workloads that take turns. "elastic" takes back its queue's quota with fewer pods, then takes all
 * that is free with more of them, and so borrows; then "guest" may preempt it, and borrows in turn. */
#include "scene.h"

#include <sys/wait.h>
#include <unistd.h>

#include "engine/replay/replay.h"
#include "engine/state.h"

static void open_world(const char *journal_dir)
{
    struct sl_engine_settings settings = sl_engine_settings_default();
    settings.wait_for_pods_ready = false;
    world_open_with(&w, journal_dir, &settings);
    world_add_flavor(&w, "spot", "{}");
    world_add_cluster_queue(&w, "home", "spot", "4",
                            ",\"cohortName\":\"c\",\"preemption\":{\"reclaimWithinCohort\":"
                            "\"Any\"}");
    world_add_cluster_queue(&w, "away", "spot", "4",
                            ",\"cohortName\":\"c\",\"preemption\":{\"reclaimWithinCohort\":"
                            "\"LowerPriority\",\"borrowWithinCohort\":{\"policy\":"
                            "\"LowerPriority\",\"maxPriorityThreshold\":50}}");
    world_add_local_queue(&w, "team", "home", "home");
    world_add_local_queue(&w, "team", "away", "away");
    sl_engine_synced(w.engine, w.now_ms);
}

static int setup_restrain(void **state)
{
    (void)state;
    open_world(NULL);
    return 0;
}

static void add(const char *name, const char *queue, int count, int min_count, int priority)
{
    struct sl_json *o = world_new_workload("team", name, queue, count, "2");
    struct sl_json *spec = sl_json_get(o, "spec");
    sl_json_set_int(spec, "priority", priority);
    if (min_count < count) {
        sl_json_set_int(sl_json_at(sl_json_get(spec, "podSets"), 0), "minCount", min_count);
    }
    (void)world_put(&w, SL_KIND_WORKLOAD, o, NULL);
}

static bool stop_if_evicted(const char *name)
{
    const struct sl_json *o = world_get(&w, SL_KIND_WORKLOAD, "team", name);
    bool stops =
        o != NULL && sl_condition_true(o, "QuotaReserved") && sl_condition_true(o, "Evicted");
    if (stops) {
        sl_engine_job_stopped(w.engine, o, w.now_ms);
        world_settle(&w);
    }
    return stops;
}

/* Whoever is evicted stops at once, until nothing moves; how often that was. */
static unsigned trade(void)
{
    unsigned stops = 0;
    world_settle(&w);
    while (stop_if_evicted("elastic") || stop_if_evicted("guest")) {
        stops++;
        assert_true(stops < 1000); /* else it never comes to rest */
    }
    return stops;
}

static bool runs(const char *name)
{
    const struct sl_json *o = world_workload(&w, name);
    return sl_condition_true(o, "QuotaReserved") && !sl_condition_true(o, "Evicted");
}

/* Both trade until one of them may preempt nobody. */
static void begin_trade(void)
{
    add("elastic", "home", 3, 2, 0);
    add("guest", "away", 3, 3, 100);
    unsigned stops = trade();
    assert_true(stops > 16);
    assert_int_equal(w.engine->counters.restrained, 1);
    assert_true(runs("elastic") != runs("guest"));
}

static struct sl_workload_entry *entry_of(const char *name)
{
    for (sl_workload_id id = 0; id < w.engine->workload_cap; id++) {
        struct sl_workload_entry *e = &w.engine->workloads[id];
        if (e->uid != NULL && strcmp(e->uid, sl_object_uid(world_workload(&w, name))) == 0) {
            return e;
        }
    }
    fail_msg("%s is not known", name);
    return NULL;
}

static const char *waiting(void)
{
    return runs("elastic") ? "guest" : "elastic";
}

static void test_restrain_trade_ends_for_the_moment(void **state)
{
    (void)state;
    begin_trade();
    assert_int_equal(entry_of(waiting())->vain_preemptions, 17);
    assert_int_equal(entry_of(waiting())->restrained_ms, w.now_ms + 100);
    assert_int_equal(sl_engine_due_ms(w.engine), w.now_ms + 100);
}

static void test_restrain_times_double_up_to_an_hour(void **state)
{
    (void)state;
    begin_trade();
    int64_t evicted_ms = w.now_ms;
    int64_t longest_ms = 0; /* in which nobody was evicted */
    while (w.now_ms < WORLD_START_MS + 24 * 3600000LL) {
        w.now_ms = sl_engine_due_ms(w.engine);
        if (trade() > 0) {
            longest_ms = w.now_ms - evicted_ms > longest_ms ? w.now_ms - evicted_ms : longest_ms;
            evicted_ms = w.now_ms;
        }
    }
    assert_int_equal(longest_ms, 3600000);
    assert_true(w.engine->counters.restrained > 15 && w.engine->counters.restrained < 48);
}

static void test_restrain_who_waits_is_served_as_soon_as_it_fits(void **state)
{
    (void)state;
    begin_trade();
    const char *name = waiting();
    world_delete(&w, SL_KIND_WORKLOAD, "team", runs("elastic") ? "elastic" : "guest");
    world_settle(&w);
    assert_true(runs(name));
    assert_int_not_equal(entry_of(name)->restrained_ms, SL_NEVER);
    w.now_ms += 100;
    world_settle(&w);
    assert_int_equal(entry_of(name)->restrained_ms, SL_NEVER);
}

static void test_restrain_service_for_a_while_makes_up_for_it(void **state)
{
    (void)state;
    begin_trade();
    const char *name = waiting();
    world_delete(&w, SL_KIND_WORKLOAD, "team", runs("elastic") ? "elastic" : "guest");
    world_settle(&w);
    w.now_ms += 1000;
    assert_int_equal(entry_of(name)->vain_preemptions, 17);
    add("other", strcmp(name, "guest") == 0 ? "home" : "away", 2, 2, 100);
    world_settle(&w);
    world_expect(&w, name, "Evicted", "True", "Preempted");
    assert_int_equal(entry_of(name)->vain_preemptions, 0);
}

static void test_restrain_says_so(void **state)
{
    (void)state;
    begin_trade();
    const char *name = waiting();
    w.now_ms += 50;
    (void)world_patch(&w, SL_KIND_WORKLOAD, "team", name, "{\"spec\":{\"active\":false}}");
    world_settle(&w);
    (void)world_patch(&w, SL_KIND_WORKLOAD, "team", name, "{\"spec\":{\"active\":true}}");
    world_settle(&w);
    world_expect(&w, name, "QuotaReserved", "False", "WaitingForQuota");
    const char *text = sl_json_path_text(
        sl_condition_find(world_workload(&w, name), "QuotaReserved"), "message", "");
    assert_non_null(strstr(text, "it may not preempt until 2027-01-15T08:00:00"));
    assert_non_null(strstr(text, "17 times"));
}

/* The first of all, and lived through in a child: what is played again needs a core that nothing was done with. */
static void test_restrain_is_played_again_from_the_journal(void **state)
{
    (void)state;
    char dir[] = "/tmp/sluice-restrain-XXXXXX", path[64];
    int status = 0;
    assert_non_null(mkdtemp(dir));
    (void)snprintf(path, sizeof path, "%s/journal-1.log", dir);
    pid_t child = fork();
    assert_true(child >= 0);
    if (child == 0) {
        open_world(dir);
        begin_trade();
        w.now_ms += 100;
        (void)trade();
        _exit(w.engine->counters.restrained > 1 ? 0 : 1);
    }
    assert_int_equal(waitpid(child, &status, 0), child);
    assert_true(WIFEXITED(status) && WEXITSTATUS(status) == 0);
    struct sl_replay_options options = {.path = dir, .out = tmpfile()};
    struct sl_replay_result r = {0};
    struct sl_error e = {0};
    assert_int_equal(sl_replay_run(&options, &r, &e), SL_CODE_OK);
    (void)fclose(options.out);
    assert_int_equal(r.end, SL_REPLAY_SAME);
    assert_true(r.cycles > 16);
    assert_int_equal(unlink(path), 0);
    assert_int_equal(rmdir(dir), 0);
}

#define CASE(name) cmocka_unit_test_setup_teardown(name, setup_restrain, teardown)
int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_restrain_is_played_again_from_the_journal),
        CASE(test_restrain_trade_ends_for_the_moment),
        CASE(test_restrain_times_double_up_to_an_hour),
        CASE(test_restrain_who_waits_is_served_as_soon_as_it_fits),
        CASE(test_restrain_service_for_a_while_makes_up_for_it),
        CASE(test_restrain_says_so),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
