/* SPDX-License-Identifier: Apache-2.0
 * SPDX-FileCopyrightText: The Sluice authors */

/* A past in which preemption gates were closed and opened: played forward, they are closed as long. */
#include "engine/past/past_play.h"
#include "engine/past/past_report.h"
#include "world.h"
#include <sys/wait.h>
#include <unistd.h>

static char dir[64];

/* --- what happened -------------------------------------------------------------------------------- */

static void add(struct world *w, const char *name, int64_t priority, const char *gates)
{
    struct sl_json *o = world_new_workload("team", name, "lq", 10, "1");
    sl_json_set_int(sl_json_get(o, "spec"), "priority", priority);
    if (gates != NULL) {
        sl_json_set(sl_json_get(o, "spec"), "preemptionGates", world_parse(gates));
    }
    (void)world_put(w, SL_KIND_WORKLOAD, o, NULL);
    world_settle(w);
}

static void pass(struct world *w, int64_t ms)
{
    w->now_ms += ms;
    sl_clock_set_virtual(w->now_ms);
    world_settle(w);
}

static void end(struct world *w, const char *name)
{
    (void)world_patch(w, SL_KIND_WORKLOAD, "team", name,
                      "{\"status\":{\"conditions\":[{\"type\":\"Finished\",\"status\":\"True\","
                      "\"reason\":\"Succeeded\"}]}}");
    world_settle(w);
}

/* "high" would preempt "low" at once, and may after 30 s; another gate of its is open all the time. */
static void live(void)
{
    struct world w;
    struct sl_engine_settings settings = sl_engine_settings_default();
    settings.preemption_gates = true;
    world_open_with(&w, dir, &settings);
    world_add_flavor(&w, "spot", "{}");
    world_add_cluster_queue(&w, "cq", "spot", "10",
                            ",\"preemption\":{\"withinClusterQueue\":\"LowerPriority\"}");
    world_add_local_queue(&w, "team", "lq", "cq");
    sl_engine_synced(w.engine, w.now_ms);
    world_settle(&w);
    add(&w, "low", 0, NULL);
    pass(&w, 10000);
    add(&w, "high", 5, "[{\"name\":\"a\"},{\"name\":\"b\"}]");
    pass(&w, 30000);
    (void)world_patch(&w, SL_KIND_WORKLOAD, "team", "high",
                      "{\"status\":{\"preemptionGates\":[{\"name\":\"a\",\"position\":\"Open\"},"
                      "{\"name\":\"b\",\"position\":\"Open\"}]}}");
    world_settle(&w);
    sl_engine_job_stopped(w.engine, world_get(&w, SL_KIND_WORKLOAD, "team", "low"), w.now_ms);
    world_settle(&w);
    pass(&w, 20000);
    end(&w, "high");
    pass(&w, 5000);
}

static int setup(void **state)
{
    int status;
    (void)state;
    (void)snprintf(dir, sizeof dir, "/tmp/sluice-past-XXXXXX");
    assert_non_null(mkdtemp(dir));
    (void)fflush(NULL);
    pid_t child = fork();
    assert_true(child >= 0);
    if (child == 0) {
        live();
        _exit(0);
    }
    assert_int_equal(waitpid(child, &status, 0), child);
    assert_true(WIFEXITED(status) && WEXITSTATUS(status) == 0);
    return 0;
}

static int teardown(void **state)
{
    char command[128];
    (void)state;
    (void)snprintf(command, sizeof command, "rm -rf %s", dir);
    return system(command);
}

/* --- what is played ------------------------------------------------------------------------------- */

static int64_t at_of(const struct sl_json *decisions, const char *what, const char *workload)
{
    for (size_t i = 0; i < sl_json_len(decisions); i++) {
        const struct sl_json *d = sl_json_at(decisions, i);
        if (strcmp(sl_json_path_text(d, "do", ""), what) == 0 &&
            strcmp(sl_json_path_text(d, "workload", ""), workload) == 0) {
            return sl_json_path_int(d, "at", -1) - WORLD_START_MS;
        }
    }
    return -1;
}

static struct sl_json *play(const struct sl_past *past, const struct sl_past_policy *policy)
{
    struct sl_error e = {0};
    struct sl_json *out = NULL;
    if (sl_past_play(past, policy, &out, &e) != SL_CODE_OK) {
        fail_msg("%s", e.text);
    }
    return out;
}

static void read_past(struct sl_past *past)
{
    struct sl_error e = {0};
    if (sl_past_read(dir, past, &e) != SL_CODE_OK) {
        fail_msg("%s", e.text);
    }
}

static void test_past_gates_are_closed_as_long_as_they_were(void **state)
{
    (void)state;
    struct sl_past past;
    read_past(&past);
    assert_true(past.settings.preemption_gates);
    struct sl_json *out = play(&past, &(struct sl_past_policy){0});
    const struct sl_json *decisions = sl_json_get(out, "decisions");
    assert_int_equal(at_of(past.decisions, "admitted", "team/high"), 40000);
    assert_int_equal(at_of(decisions, "evicted", "team/low"), 40000);
    assert_int_equal(at_of(decisions, "admitted", "team/high"), 40000);
    sl_json_free(out);
    sl_past_fini(&past);
}

/* They hold back preemption, not what is free. */
static void test_past_gates_let_in_where_there_is_more_quota(void **state)
{
    (void)state;
    struct sl_past past;
    read_past(&past);
    struct sl_json *objects = sl_json_new_list();
    sl_json_append(
        objects, world_parse("{\"apiVersion\":\"kueue.x-k8s.io/v1beta2\",\"kind\":\"ClusterQueue\","
                             "\"metadata\":{\"name\":\"cq\"},\"spec\":{\"resourceGroups\":[{"
                             "\"coveredResources\":[\"cpu\"],\"flavors\":[{\"name\":\"spot\","
                             "\"resources\":[{\"name\":\"cpu\",\"nominalQuota\":\"20\"}]}]}]}}"));
    struct sl_json *out = play(&past, &(struct sl_past_policy){.objects = objects});
    const struct sl_json *decisions = sl_json_get(out, "decisions");
    assert_int_equal(at_of(decisions, "admitted", "team/high"), 10000);
    assert_int_equal(at_of(decisions, "evicted", "team/low"), -1);
    sl_json_free(out);
    sl_json_free(objects);
    sl_past_fini(&past);
}

/* A configuration that does not have the feature gate knows none of them. */
static void test_past_gates_do_not_count_with_settings_without_them(void **state)
{
    (void)state;
    struct sl_past past;
    read_past(&past);
    struct sl_engine_settings settings = sl_engine_settings_default();
    struct sl_json *out = play(&past, &(struct sl_past_policy){.settings = &settings});
    assert_int_equal(at_of(sl_json_get(out, "decisions"), "evicted", "team/low"), 10000);
    sl_json_free(out);
    sl_past_fini(&past);
}

#define CASE(name) cmocka_unit_test_setup_teardown(test_past_gates_##name, setup, teardown)

int main(void)
{
    const struct CMUnitTest tests[] = {
        CASE(are_closed_as_long_as_they_were),
        CASE(let_in_where_there_is_more_quota),
        CASE(do_not_count_with_settings_without_them),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
