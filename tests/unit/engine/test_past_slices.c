/* SPDX-License-Identifier: Apache-2.0
 * SPDX-FileCopyrightText: The Sluice authors */

/* A past in which an elastic job has grown: played forward, its slices are one job. */
#include "engine/decisions/slices.h"
#include "engine/past/past_play.h"
#include "engine/past/past_report.h"
#include "world.h"
#include <sys/wait.h>
#include <unistd.h>

static char dir[64];

/* --- what happened -------------------------------------------------------------------------------- */

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

static void add_slice(struct world *w, const char *name, int count, const char *replaces)
{
    struct sl_json *o = world_new_workload("team", name, "lq", count, "1");
    if (replaces != NULL) {
        sl_json_set_text(sl_json_path_make(o, "metadata.annotations"), SL_SLICE_ANNOTATION,
                         replaces);
    }
    (void)world_put(w, SL_KIND_WORKLOAD, o, NULL);
    world_settle(w);
}

/* The job has 6 of 10 CPUs; it grows to 8 as soon as it wants to, while "big" waits, and ends after 60 s. */
static void live(void)
{
    struct world w;
    struct sl_engine_settings settings = sl_engine_settings_default();
    world_open_with(&w, dir, &settings);
    world_add_flavor(&w, "spot", "{}");
    world_add_cluster_queue(&w, "cq", "spot", "10", "");
    world_add_local_queue(&w, "team", "lq", "cq");
    sl_engine_synced(w.engine, w.now_ms);
    world_settle(&w);
    add_slice(&w, "old", 6, NULL);
    pass(&w, 20000);
    add_slice(&w, "new", 8, "team/old");
    pass(&w, 10000);
    add_slice(&w, "big", 10, NULL);
    pass(&w, 30000);
    end(&w, "new");
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

/* The new slice is admitted for the difference, and the old one ends by that. */
static void test_past_slices_are_played_as_they_were(void **state)
{
    (void)state;
    struct sl_past past;
    read_past(&past);
    struct sl_json *out = play(&past, &(struct sl_past_policy){0});
    const struct sl_json *decisions = sl_json_get(out, "decisions");
    assert_int_equal(at_of(past.decisions, "admitted", "team/new"), 20000);
    assert_int_equal(at_of(decisions, "admitted", "team/new"), 20000);
    assert_int_equal(at_of(decisions, "finished", "team/new"), 60000);
    assert_int_equal(at_of(decisions, "finished", "team/old"), -1);
    assert_int_equal(at_of(decisions, "admitted", "team/big"), 60000);
    sl_json_free(out);
    sl_past_fini(&past);
}

static struct sl_json *quota_new(const char *cpu)
{
    char text[400];
    struct sl_json *objects = sl_json_new_list();
    (void)snprintf(
        text, sizeof text,
        "{\"apiVersion\":\"kueue.x-k8s.io/v1beta2\",\"kind\":\"ClusterQueue\",\"metadata\":{"
        "\"name\":\"cq\"},\"spec\":{\"resourceGroups\":[{\"coveredResources\":[\"cpu\"],"
        "\"flavors\":[{\"name\":\"spot\",\"resources\":[{\"name\":\"cpu\",\"nominalQuota\":"
        "\"%s\"}]}]}]}}",
        cpu);
    sl_json_append(objects, world_parse(text));
    return objects;
}

/* With 7 CPUs it never grows: it ends when it did, and what waited to be its next slice with it. */
static void test_past_slices_that_wait_end_with_their_job(void **state)
{
    (void)state;
    struct sl_past past;
    read_past(&past);
    struct sl_json *objects = quota_new("7");
    struct sl_json *out = play(&past, &(struct sl_past_policy){.objects = objects});
    const struct sl_json *decisions = sl_json_get(out, "decisions");
    assert_int_equal(at_of(decisions, "admitted", "team/old"), 0);
    assert_int_equal(at_of(decisions, "admitted", "team/new"), -1);
    assert_int_equal(at_of(decisions, "finished", "team/old"), 60000);
    assert_int_equal(at_of(decisions, "finished", "team/new"), 60000);
    sl_json_free(out);
    sl_json_free(objects);
    sl_past_fini(&past);
}

/* With 18 CPUs all of them run side by side, the job once. */
static void test_past_slices_are_not_counted_twice(void **state)
{
    (void)state;
    struct sl_past past;
    read_past(&past);
    struct sl_json *objects = quota_new("18");
    struct sl_json *out = play(&past, &(struct sl_past_policy){.objects = objects});
    const struct sl_json *decisions = sl_json_get(out, "decisions");
    assert_int_equal(at_of(decisions, "admitted", "team/new"), 20000);
    assert_int_equal(at_of(decisions, "admitted", "team/big"), 30000);
    assert_int_equal(at_of(decisions, "finished", "team/new"), 60000);
    sl_json_free(out);
    sl_json_free(objects);
    sl_past_fini(&past);
}

#define CASE(name) cmocka_unit_test_setup_teardown(test_past_slices_##name, setup, teardown)

int main(void)
{
    const struct CMUnitTest tests[] = {
        CASE(are_played_as_they_were),
        CASE(that_wait_end_with_their_job),
        CASE(are_not_counted_twice),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
