/* SPDX-License-Identifier: Apache-2.0
 * SPDX-FileCopyrightText: The Sluice authors */

/* What is foreseen of an elastic job that grows: its new slice waits for what it needs beyond the old one, and the job goes on and
 * ends as one. */
#include "base/aside.h"
#include "engine/decisions/slices.h"
#include "engine/foresight.h"
#include "engine/quota/run_times.h"
#include "engine/state.h"
#include "scene.h"

#define SECOND ((int64_t)1000)
#define JOB_UID "1b4c7d36-0000-4000-8000-000000000001"

/* --- questions ---------------------------------------------------------------------------------- */

static struct sl_json *ask(const struct sl_json *changes)
{
    struct sl_question q = {.engine = w.engine,
                            .changes = changes,
                            .now_ms = w.now_ms,
                            .until_ms = w.now_ms + 100000 * SECOND,
                            .rows_max = 100};
    struct sl_buf text = {0};
    struct sl_error e = {0};
    const struct sl_aside_work work = sl_question_work(&q, sl_question_answer);
    if (sl_aside_run(&work, &text, &e) != SL_CODE_OK) {
        fail_msg("%s", e.text);
    }
    size_t at = sl_question_body(&text);
    struct sl_json *answer = sl_json_parse(text.data + at, text.len - at, &e);
    if (answer == NULL) {
        fail_msg("%s in %s", e.text, text.data);
    }
    sl_buf_fini(&text);
    return answer;
}

static const struct sl_json *row(const struct sl_json *answer, const char *list, const char *name)
{
    return sl_json_find_by(sl_json_get(answer, list), "name", name);
}

static int64_t wait_of(const struct sl_json *answer, const char *name)
{
    return sl_json_path_int(row(answer, "workloads", name), "waitMilliseconds", -1);
}

/* --- the world ---------------------------------------------------------------------------------- */

static struct sl_json *workload_new(const char *name, int count, const char *job,
                                    const char *replaces)
{
    struct sl_json *o = world_new_workload("team", name, "lq", count, "1");
    if (job != NULL) {
        sl_json_set_text(sl_json_path_make(o, "metadata.labels"), "kueue.x-k8s.io/job-uid", job);
    }
    if (replaces != NULL) {
        sl_json_set_text(sl_json_path_make(o, "metadata.annotations"), SL_SLICE_ANNOTATION,
                         replaces);
    }
    return o;
}

static void add(const char *name, int count, int64_t ms)
{
    struct sl_json *o = workload_new(name, count, name, NULL);
    sl_engine_say_run_time(w.engine, name, SL_RUN_FOR, ms);
    (void)world_put(&w, SL_KIND_WORKLOAD, o, NULL);
    world_settle(&w);
}

/* Of the one job that is elastic. */
static void add_slice(const char *name, int count, const char *replaces)
{
    (void)world_put(&w, SL_KIND_WORKLOAD, workload_new(name, count, JOB_UID, replaces), NULL);
    world_settle(&w);
}

static void pass(int64_t ms)
{
    w.now_ms += ms;
    sl_clock_set_virtual(w.now_ms);
}

/* "old" runs with 6 of 10 CPUs, "other" with the rest. */
static void begin(int64_t job_ms, int64_t other_ms)
{
    world_add_basics(&w);
    sl_engine_say_run_time(w.engine, JOB_UID, SL_RUN_FOR, job_ms);
    add_slice("old", 6, NULL);
    add("other", 4, other_ms);
    world_expect(&w, "old", "Admitted", "True", "Admitted");
    world_expect(&w, "other", "Admitted", "True", "Admitted");
}

/* --- tests -------------------------------------------------------------------------------------- */

/* 8 instead of 6 are 2 more: with the 4 that come free 2 others can start as well. The job ends when it would have ended. */
static void test_foresight_slices_wait_for_the_difference(void **state)
{
    (void)state;
    begin(100 * SECOND, 10 * SECOND);
    pass(5 * SECOND);
    add_slice("new", 8, "team/old");
    add("beside", 2, 1000 * SECOND);
    add("after", 8, SECOND);
    struct sl_json *answer = ask(NULL);
    assert_int_equal(wait_of(answer, "new"), 5 * SECOND);
    assert_int_equal(wait_of(answer, "beside"), 5 * SECOND);
    assert_int_equal(wait_of(answer, "after"), 95 * SECOND);
    assert_string_equal(sl_json_path_text(row(answer, "workloads", "after"), "certainty", ""),
                        "Exact");
    assert_null(row(answer, "workloads", "old"));
    assert_null(row(answer, "evicted", "old"));
    sl_json_free(answer);
}

/* A slice that waits is not a second job. */
static void test_foresight_slices_that_wait_end_with_their_job(void **state)
{
    (void)state;
    begin(10 * SECOND, 20 * SECOND);
    add_slice("new", 10, "team/old");
    add("small", 6, 100 * SECOND);
    add("after", 10, SECOND);
    struct sl_json *answer = ask(NULL);
    assert_int_equal(wait_of(answer, "new"), -1);
    assert_string_equal(sl_json_path_text(row(answer, "workloads", "new"), "certainty", ""),
                        "Unknown");
    assert_string_equal(sl_json_path_text(row(answer, "workloads", "new"), "reason", ""),
                        "JobEnds");
    assert_int_equal(wait_of(answer, "small"), 10 * SECOND);
    assert_int_equal(wait_of(answer, "after"), 110 * SECOND);
    assert_string_equal(sl_json_path_text(answer, "ended", ""), "NothingWaits");
    sl_json_free(answer);
}

/* It has grown already: what it ran before counts, also after a second time. */
static void test_foresight_slices_run_as_long_as_their_job(void **state)
{
    (void)state;
    begin(100 * SECOND, SECOND);
    pass(SECOND);
    (void)world_patch(&w, SL_KIND_WORKLOAD, "team", "other",
                      "{\"status\":{\"conditions\":[{\"type\":\"Finished\",\"status\":\"True\","
                      "\"reason\":\"Succeeded\"}]}}");
    world_settle(&w);
    pass(30 * SECOND);
    add_slice("new", 8, "team/old");
    pass(30 * SECOND);
    add_slice("newer", 9, "team/new");
    world_expect(&w, "newer", "Admitted", "True", "Admitted");
    add("after", 10, SECOND);
    struct sl_json *answer = ask(NULL);
    assert_int_equal(wait_of(answer, "after"), 39 * SECOND);
    sl_json_free(answer);
}

/* What would be if the job grew now. */
static void test_foresight_slices_can_be_asked_about(void **state)
{
    (void)state;
    begin(100 * SECOND, 10 * SECOND);
    struct sl_json *changes = sl_json_new_list();
    struct sl_json *item = sl_json_new_map();
    struct sl_json *o = workload_new("new", 8, JOB_UID, "team/old");
    sl_json_set_text(o, "apiVersion", sl_kind_info(SL_KIND_WORKLOAD)->api_version);
    sl_json_set_text(o, "kind", "Workload");
    sl_json_set_text(sl_json_get(o, "metadata"), "uid", "1b4c7d36-0000-4000-8000-000000000009");
    sl_json_set_text(sl_json_get(o, "metadata"), "resourceVersion", "900000");
    sl_json_set(item, "apply", o);
    sl_json_append(changes, item);
    struct sl_json *answer = ask(changes);
    const struct sl_json *asked = row(answer, "asked", "new");
    assert_int_equal(sl_json_path_int(asked, "waitMilliseconds", -1), 10 * SECOND);
    assert_string_equal(sl_json_path_text(asked, "admitted", ""), "Later");
    assert_null(sl_json_get(asked, "preempts"));
    assert_int_equal(sl_json_len(sl_json_get(answer, "evicted")), 0);
    sl_json_free(answer);
    sl_json_free(changes);
}

/* What is learnt of a queue is how long jobs run, not slices. */
static void test_foresight_slices_are_one_run_time(void **state)
{
    (void)state;
    world_add_basics(&w);
    add_slice("old", 6, NULL);
    pass(30 * SECOND);
    add_slice("new", 8, "team/old");
    pass(10 * SECOND);
    (void)world_patch(&w, SL_KIND_WORKLOAD, "team", "new",
                      "{\"status\":{\"conditions\":[{\"type\":\"Finished\",\"status\":\"True\","
                      "\"reason\":\"Succeeded\"}]}}");
    world_settle(&w);
    sl_workload_id id = sl_intern_find(w.engine->names, SL_INTERN_WORKLOAD, "team/new");
    assert_int_equal(w.engine->workloads[id].queue->tally.run_mean.count, 1);
    assert_int_equal(w.engine->workloads[id].queue->tally.run_mean.mean_ms, 40 * SECOND);
}

/* After an eviction it begins again. */
static void test_foresight_slices_begin_anew_after_an_eviction(void **state)
{
    (void)state;
    begin(100 * SECOND, 1000 * SECOND);
    pass(10 * SECOND);
    add_slice("new", 5, "team/old");
    world_expect(&w, "new", "Admitted", "True", "Admitted");
    pass(20 * SECOND);
    (void)world_patch(&w, SL_KIND_WORKLOAD, "team", "new", "{\"spec\":{\"active\":false}}");
    world_settle(&w);
    sl_engine_job_stopped(w.engine, world_workload(&w, "new"), w.now_ms);
    world_settle(&w);
    (void)world_patch(&w, SL_KIND_WORKLOAD, "team", "new", "{\"spec\":{\"active\":true}}");
    world_settle(&w);
    world_expect(&w, "new", "Admitted", "True", "Admitted");
    add("after", 6, SECOND);
    struct sl_json *answer = ask(NULL);
    assert_int_equal(wait_of(answer, "after"), 100 * SECOND);
    sl_json_free(answer);
}

#define CASE(name) cmocka_unit_test_setup_teardown(test_foresight_slices_##name, setup, teardown)

int main(void)
{
    const struct CMUnitTest tests[] = {
        CASE(wait_for_the_difference),  CASE(that_wait_end_with_their_job),
        CASE(run_as_long_as_their_job), CASE(can_be_asked_about),
        CASE(are_one_run_time),         CASE(begin_anew_after_an_eviction),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
