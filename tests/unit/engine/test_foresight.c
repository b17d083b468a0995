/* SPDX-License-Identifier: Apache-2.0
 * SPDX-FileCopyrightText: The Sluice authors */

/* What is foreseen is what happens: on random worlds a question is asked, then the same is done, with jobs that end, stop
 * and start as the answer takes them to. FORESIGHT_WORLDS says on how many (default 60), FORESIGHT_SEED where they begin. */
#include "core_hash.h"
#include "world.h"
#include "base/aside.h"
#include "engine/foresight.h"
#include "engine/state.h"

#define WORKLOADS 24
#define QUEUES 4
#define SECOND 1000
#define LONG (100000 * (int64_t)SECOND)

static struct world w;
static uint64_t chance_state;
static unsigned
    uid_next; /* of equals the one with the lower uid goes first: in their order. 0: by chance */

static uint32_t chance(uint32_t below)
{
    chance_state = chance_state * 6364136223846793005u + 1442695040888963407u;
    return (uint32_t)(chance_state >> 33) % below;
}

static int setup(void **state)
{
    (void)state;
    uid_next = 1;
    world_open(&w, NULL);
    return 0;
}

static int teardown(void **state)
{
    (void)state;
    world_check(&w);
    world_close(&w);
    return 0;
}

/* --- questions -------------------------------------------------------------------------------- */

/* The answer, from a copy of this process; asking changes nothing here. */
static struct sl_json *ask(const struct sl_json *changes, int64_t ms)
{
    struct sl_question q = {.engine = w.engine,
                            .changes = changes,
                            .now_ms = w.now_ms,
                            .until_ms = w.now_ms + ms,
                            .rows_max = 1000};
    struct sl_buf text = {0};
    struct sl_error e = {0};
    uint64_t before = hash_core();
    const struct sl_aside_work work = sl_question_work(&q, sl_question_answer);
    if (sl_aside_run(&work, &text, &e) != SL_CODE_OK) {
        fail_msg("%s", e.text);
    }
    assert_true(before == hash_core());
    size_t at = sl_question_body(&text);
    assert_int_equal(text.data[at - 1], '\n');
    struct sl_json *answer = sl_json_parse(text.data + at, text.len - at, &e);
    if (answer == NULL) {
        fail_msg("%s in %s", e.text, text.data);
    }
    sl_buf_fini(&text);
    return answer;
}

static struct sl_json *changes_new(const char *verb, enum sl_kind kind, struct sl_json *object)
{
    struct sl_json *list = sl_json_new_list();
    struct sl_json *item = sl_json_new_map();
    sl_json_set_text(object, "apiVersion", sl_kind_info(kind)->api_version);
    sl_json_set_text(object, "kind", sl_kind_info(kind)->kind);
    sl_json_set(item, verb, object);
    sl_json_append(list, item);
    return list;
}

static struct sl_json *ask_about(enum sl_kind kind, struct sl_json *object)
{
    struct sl_json *changes = changes_new("apply", kind, object);
    struct sl_json *answer = ask(changes, LONG);
    sl_json_free(changes);
    return answer;
}

static const struct sl_json *row(const struct sl_json *answer, const char *list, const char *name)
{
    return sl_json_find_by(sl_json_get(answer, list), "name", name);
}

static const char *word(const struct sl_json *answer, const char *list, const char *name,
                        const char *member)
{
    return sl_json_path_text(row(answer, list, name), member, "");
}

static int64_t wait_of(const struct sl_json *answer, const char *list, const char *name)
{
    return sl_json_path_int(row(answer, list, name), "waitMilliseconds", -1);
}

/* A Workload as somebody would submit it now. */
static struct sl_json *workload_new(const char *name, const char *queue, const char *cpu,
                                    int64_t priority)
{
    struct sl_json *o = world_new_workload("team", name, queue, 1, cpu);
    struct sl_json *meta = sl_json_get(o, "metadata");
    char text[64];
    sl_json_set_int(sl_json_get(o, "spec"), "priority", priority);
    (void)snprintf(text, sizeof text, "%08x-0000-4000-9000-%012u", uid_next, chance(1000000000));
    uid_next += uid_next > 0;
    sl_json_set_text(meta, "uid", text);
    sl_clock_format(w.now_ms, text);
    sl_json_set_text(meta, "creationTimestamp", text);
    sl_json_set_text(meta, "resourceVersion", "900000");
    sl_json_set_int(meta, "generation", 1);
    return o;
}

/* --- a cluster that does what is assumed ------------------------------------------------------ */

/* How long the Workload runs, by its annotation; -1: for ever. */
static int64_t run_ms(const struct sl_json *o)
{
    const char *text = sl_object_annotation(o, "run-ms");
    return text == NULL ? -1 : atoll(text);
}

static void submit(struct sl_json *o, int64_t ms)
{
    char text[32];
    if (ms >= 0) {
        (void)snprintf(text, sizeof text, "%lld", (long long)ms);
        sl_json_set_text(sl_json_path_make(o, "metadata.annotations"), "run-ms", text);
        sl_engine_say_run_time(w.engine, sl_object_uid(o), SL_RUN_FOR, ms);
    }
    (void)world_put(&w, SL_KIND_WORKLOAD, o, NULL);
}

static sl_workload_id id_of(const char *key)
{
    const char *name = strchr(key, '/') + 1;
    return sl_intern_find(w.engine->names, SL_INTERN_WORKLOAD, name);
}

static int64_t end_ms(const char *key, const struct sl_json *o)
{
    sl_workload_id id = id_of(key);
    bool runs = id != SL_NO_ID && sl_workloads[id].phase == SL_PHASE_ADMITTED && run_ms(o) >= 0;
    return runs ? sl_workloads[id].admitted_at_ms + run_ms(o) : INT64_MAX;
}

/* Calls `fn` for each Workload; whether any call was true. */
static bool each_workload(bool (*fn)(const char *key, struct sl_json *o))
{
    char prefix[16];
    bool any = false;
    struct sl_json *keys = sl_json_new_list();
    (void)snprintf(prefix, sizeof prefix, "%d/", (int)SL_KIND_WORKLOAD);
    for (struct sl_map_item e = {0}; sl_map_each(w.objects, &e);) {
        if (strncmp(e.key, prefix, strlen(prefix)) == 0) {
            sl_json_append(keys, sl_json_new_text(e.key));
        }
    }
    for (size_t i = 0; i < sl_json_len(keys); i++) {
        const char *key = sl_json_text(sl_json_at(keys, i), "");
        any = fn(key, sl_map_find(w.objects, key)) || any;
    }
    sl_json_free(keys);
    return any;
}

static bool stop_evicted(const char *key, struct sl_json *o)
{
    sl_workload_id id = id_of(key);
    if (id == SL_NO_ID || sl_workloads[id].phase != SL_PHASE_EVICTED) {
        return false;
    }
    sl_engine_job_stopped(w.engine, o, w.now_ms);
    return true;
}

static bool end_due(const char *key, struct sl_json *o)
{
    if (end_ms(key, o) > w.now_ms) {
        return false;
    }
    (void)world_patch(&w, SL_KIND_WORKLOAD, "team", sl_object_name(o),
                      "{\"status\":{\"conditions\":[{\"type\":\"Finished\",\"status\":\"True\","
                      "\"reason\":\"Succeeded\"}]}}");
    return true;
}

static int64_t next_end_ms;
static bool note_end(const char *key, struct sl_json *o)
{
    int64_t at = end_ms(key, o);
    next_end_ms = at < next_end_ms ? at : next_end_ms;
    return false;
}

static void settle(void)
{
    do {
        world_settle(&w);
    } while (each_workload(stop_evicted));
}

/* Until nothing ends any more, or `until_ms`; `seen` is told all the time. */
static void play(int64_t until_ms, void (*seen)(void))
{
    settle();
    for (;;) {
        if (seen != NULL) {
            seen();
        }
        next_end_ms = INT64_MAX;
        (void)each_workload(note_end);
        int64_t due_ms = sl_engine_due_ms(w.engine);
        int64_t next = due_ms < next_end_ms ? due_ms : next_end_ms;
        if (next > until_ms || next_end_ms == INT64_MAX) {
            return;
        }
        w.now_ms = next > w.now_ms ? next : w.now_ms;
        sl_clock_set_virtual(w.now_ms);
        (void)each_workload(end_due);
        settle();
    }
}

/* --- one after the other ---------------------------------------------------------------------- */

static void test_foresight_says_when_those_that_wait_start(void **state)
{
    (void)state;
    world_add_basics(&w);
    submit(workload_new("a", "lq", "8", 0), 10 * SECOND);
    settle();
    w.now_ms += 4 * SECOND;
    submit(workload_new("b", "lq", "6", 0), 5 * SECOND);
    submit(workload_new("c", "lq", "6", 0), 5 * SECOND);
    submit(workload_new("huge", "lq", "60", 0), 5 * SECOND);
    settle();
    struct sl_json *answer = ask(NULL, LONG);
    assert_int_equal(wait_of(answer, "workloads", "b"), 6 * SECOND);
    assert_int_equal(wait_of(answer, "workloads", "c"), 11 * SECOND);
    assert_string_equal(word(answer, "workloads", "c", "certainty"), "Exact");
    assert_string_equal(word(answer, "workloads", "c", "basis.0"), "runFor");
    assert_string_equal(word(answer, "workloads", "c", "localQueue"), "lq");
    assert_string_equal(word(answer, "workloads", "c", "clusterQueue"), "cq");
    assert_string_equal(word(answer, "workloads", "huge", "certainty"), "Unknown");
    assert_string_equal(word(answer, "workloads", "huge", "reason"), "DoesNotFit");
    assert_null(row(answer, "workloads", "a"));
    assert_string_equal(sl_json_path_text(answer, "ended", ""), "NothingChanges");
    assert_int_equal(sl_json_path_int(answer, "counts.workloads", 0), 3);
    sl_json_free(answer);
}

/* One line of a queue's pending workloads; the caller frees it. */
static struct sl_json *line_new(const struct sl_buf *text, size_t at, size_t number)
{
    struct sl_error e = {0};
    const char *line = text->data + at;
    for (size_t i = 0; i < number; i++) {
        line = strchr(line, '\n') + 1;
    }
    return sl_json_parse(line, strcspn(line, "\n"), &e);
}

static void test_foresight_says_when_those_of_a_queue_start(void **state)
{
    (void)state;
    const struct sl_pending_range range = {"team", "lq", 1, 2};
    struct sl_question q = {.engine = w.engine, .cluster_queue = "cq", .range = &range};
    const struct sl_aside_work work = sl_question_work(&q, sl_question_pending);
    struct sl_buf text = {0};
    struct sl_error e = {0};
    assert_int_equal(sl_aside_run(&work, &text, &e), SL_CODE_OK);
    assert_string_equal(
        text.data + sl_question_body(&text),
        "{\"kind\":\"Status\",\"apiVersion\":"
        "\"v1\",\"metadata\":{},\"status\":\"Failure\",\"message\":\"the objects are still "
        "being read\",\"reason\":\"ServiceUnavailable\",\"code\":503}");
    world_add_basics(&w);
    submit(workload_new("a", "lq", "8", 0), 10 * SECOND);
    settle();
    submit(workload_new("b", "lq", "6", 3), 5 * SECOND);
    submit(workload_new("c", "lq", "6", 2), 5 * SECOND);
    submit(workload_new("huge", "lq", "60", 1), 5 * SECOND);
    submit(workload_new("last", "lq", "1", 0), 5 * SECOND);
    settle();
    q.now_ms = w.now_ms;
    q.until_ms = w.now_ms + LONG;
    sl_buf_reset(&text);
    uint64_t before = hash_core();
    assert_int_equal(sl_aside_run(&work, &text, &e), SL_CODE_OK);
    assert_true(before == hash_core());
    assert_non_null(strstr(text.data, "team/b ")); /* of the sample */
    size_t at = sl_question_body(&text);
    struct sl_json *c = line_new(&text, at, 0), *huge = line_new(&text, at, 1);
    assert_null(line_new(&text, at, 2));
    assert_string_equal(sl_json_path_text(c, "name", ""), "c");
    assert_int_equal(sl_json_path_int(c, "positionInClusterQueue", 0), 1);
    assert_int_equal(sl_json_path_int(c, "foreseen.waitMilliseconds", 0), 15 * SECOND);
    assert_string_equal(sl_json_path_text(c, "foreseen.certainty", ""), "Exact");
    assert_string_equal(sl_json_path_text(c, "foreseen.basis.0", ""), "runFor");
    assert_string_equal(sl_json_path_text(huge, "foreseen.reason", ""), "DoesNotFit");
    assert_false(sl_json_has(sl_json_get(huge, "foreseen"), "start"));
    sl_json_free(c);
    sl_json_free(huge);
    sl_buf_fini(&text);
}

static void test_foresight_says_on_what_a_time_rests(void **state)
{
    (void)state;
    world_add_basics(&w);
    world_add_cluster_queue(&w, "cq2", "spot", "1", "");
    world_add_local_queue(&w, "team", "lq2", "cq2");
    world_add_limited(&w, "limited", 60);
    submit(workload_new("open", "lq2", "1", 0), -1);
    submit(workload_new("deadline", "lq", "9", 0), -1);
    sl_engine_say_run_time(w.engine, sl_object_uid(world_workload(&w, "deadline")), SL_RUN_DEADLINE,
                           90 * SECOND);
    settle();
    submit(workload_new("b", "lq", "1", 0), -1);
    submit(workload_new("c", "lq2", "1", 0), -1);
    submit(workload_new("d", "lq", "9", -1), -1);
    settle();
    struct sl_json *answer = ask(NULL, LONG);
    assert_int_equal(wait_of(answer, "workloads", "b"), 60 * SECOND);
    assert_string_equal(word(answer, "workloads", "b", "certainty"), "Latest");
    assert_string_equal(word(answer, "workloads", "b", "basis.0"), "maximumExecutionTime");
    assert_int_equal(wait_of(answer, "workloads", "d"), 90 * SECOND);
    assert_string_equal(word(answer, "workloads", "d", "basis.1"), "activeDeadline");
    assert_string_equal(word(answer, "workloads", "c", "reason"), "RunTimesUnknown");
    sl_json_free(answer);
}

static void test_foresight_learns_how_long_a_queue_runs(void **state)
{
    (void)state;
    world_add_basics(&w);
    for (int i = 0; i < 3; i++) {
        char name[8];
        (void)snprintf(name, sizeof name, "past%d", i);
        submit(workload_new(name, "lq", "10", 0), 20 * SECOND);
        settle();
        w.now_ms += 20 * SECOND;
        (void)each_workload(end_due);
        settle();
    }
    submit(workload_new("a", "lq", "10", 0), -1);
    submit(workload_new("b", "lq", "10", 0), -1);
    settle();
    w.now_ms += 5 * SECOND;
    struct sl_json *answer = ask(NULL, LONG);
    assert_int_equal(wait_of(answer, "workloads", "b"), 15 * SECOND);
    assert_string_equal(word(answer, "workloads", "b", "certainty"), "Estimate");
    assert_string_equal(word(answer, "workloads", "b", "basis.0"), "observed");
    sl_json_free(answer);
    w.now_ms += 25 * SECOND; /* 10 s over: it is taken to need as long again */
    answer = ask(NULL, LONG);
    assert_int_equal(wait_of(answer, "workloads", "b"), 10 * SECOND);
    sl_json_free(answer);
}

static void test_foresight_forgets_what_a_job_said(void **state)
{
    (void)state;
    world_add_basics(&w);
    submit(workload_new("a", "lq", "10", 0), 20 * SECOND);
    settle();
    submit(workload_new("b", "lq", "10", 0), -1);
    sl_engine_say_run_time(w.engine, sl_object_uid(world_workload(&w, "a")), SL_RUN_UNKNOWN, 0);
    settle();
    struct sl_json *answer = ask(NULL, LONG);
    assert_string_equal(word(answer, "workloads", "b", "reason"), "RunTimesUnknown");
    sl_json_free(answer);
}

/* Else what is foreseen would rest on what was foreseen. */
static void test_foresight_does_not_learn_from_itself(void **state)
{
    (void)state;
    world_add_basics(&w);
    for (int i = 0; i < 4; i++) {
        char name[8];
        struct sl_json *o;
        (void)snprintf(name, sizeof name, "l%d", i);
        o = workload_new(name, "lq", "10", 0);
        sl_json_set_int(sl_json_get(o, "spec"), "maximumExecutionTimeSeconds", 60);
        submit(o, -1);
        w.now_ms += SECOND;
    }
    submit(workload_new("open", "lq", "10", -1), -1);
    submit(workload_new("last", "lq", "10", -2), -1);
    settle();
    struct sl_json *answer = ask(NULL, LONG);
    assert_true(wait_of(answer, "workloads", "open") > 200 * SECOND);
    assert_string_equal(word(answer, "workloads", "last", "reason"), "RunTimesUnknown");
    sl_json_free(answer);
}

static void test_foresight_stops_at_its_horizon(void **state)
{
    (void)state;
    world_add_basics(&w);
    submit(workload_new("a", "lq", "8", 0), 100 * SECOND);
    settle();
    submit(workload_new("b", "lq", "8", 0), 100 * SECOND);
    settle();
    struct sl_json *answer = ask(NULL, 50 * SECOND);
    assert_string_equal(word(answer, "workloads", "b", "reason"), "Horizon");
    assert_true(word(answer, "workloads", "b", "notBefore")[0] != '\0');
    sl_json_free(answer);
}

static void test_foresight_takes_checks_to_be_ready(void **state)
{
    (void)state;
    world_add_basics(&w);
    world_add_check(&w, "check");
    world_add_cluster_queue(
        &w, "cq", "spot", "10",
        ",\"admissionChecksStrategy\":{\"admissionChecks\":[{\"name\":\"check\"}]}");
    submit(workload_new("a", "lq", "10", 0), 10 * SECOND);
    submit(workload_new("b", "lq", "10", 0), 10 * SECOND);
    settle();
    struct sl_json *answer = ask(NULL, LONG);
    assert_int_equal(wait_of(answer, "workloads", "a"), 0);
    assert_string_equal(word(answer, "workloads", "a", "certainty"), "Estimate");
    assert_string_equal(word(answer, "workloads", "a", "basis.0"), "admissionChecksReady");
    assert_int_equal(wait_of(answer, "workloads", "b"), 10 * SECOND);
    sl_json_free(answer);
}

static void test_foresight_ends_what_runs_too_long(void **state)
{
    (void)state;
    world_add_basics(&w);
    struct sl_json *o = workload_new("a", "lq", "10", 0);
    sl_json_set_int(sl_json_get(o, "spec"), "maximumExecutionTimeSeconds", 30);
    submit(o, 100 * SECOND); /* the daemon deactivates it before it ends */
    settle();
    submit(workload_new("b", "lq", "10", 0), 10 * SECOND);
    settle();
    struct sl_json *answer = ask(NULL, LONG);
    assert_int_equal(wait_of(answer, "workloads", "b"), 30 * SECOND);
    assert_string_equal(word(answer, "evicted", "a", "evictedFor"),
                        "DeactivatedDueToMaximumExecutionTimeExceeded");
    sl_json_free(answer);
}

static void add_preempting_queue(void)
{
    world_add_flavor(&w, "spot", "{}");
    world_add_cluster_queue(&w, "cq", "spot", "10",
                            ",\"preemption\":{\"withinClusterQueue\":\"LowerPriority\"}");
    world_add_local_queue(&w, "team", "lq", "cq");
    sl_engine_synced(w.engine, w.now_ms);
}

static void test_what_if_of_a_workload_says_whom_it_preempts(void **state)
{
    (void)state;
    add_preempting_queue();
    submit(workload_new("low", "lq", "6", 0), 60 * SECOND);
    submit(workload_new("mid", "lq", "4", 5), 60 * SECOND);
    settle();
    struct sl_json *answer = ask_about(SL_KIND_WORKLOAD, workload_new("new", "lq", "5", 9));
    assert_string_equal(word(answer, "asked", "new", "admitted"), "AfterPreemption");
    assert_int_equal(wait_of(answer, "asked", "new"), 0);
    const struct sl_json *asked = row(answer, "asked", "new");
    assert_string_equal(sl_json_path_text(asked, "preempts.0.name", ""), "low");
    assert_string_equal(sl_json_path_text(asked, "podSets.0.flavors.cpu", ""), "spot");
    assert_string_equal(sl_json_path_text(asked, "podSets.0.name", ""), "main");
    assert_int_equal(sl_json_path_int(asked, "podSets.0.count", 0), 1);
    assert_string_equal(word(answer, "evicted", "low", "preemptedBy.name"), "new");
    assert_string_equal(word(answer, "evicted", "low", "evictedFor"), "Preempted");
    assert_null(row(answer, "workloads", "new"));
    sl_json_free(answer);
}

static void test_what_if_of_a_workload_that_fits(void **state)
{
    (void)state;
    add_preempting_queue();
    struct sl_json *answer = ask_about(SL_KIND_WORKLOAD, workload_new("new", "lq", "5", 9));
    assert_string_equal(word(answer, "asked", "new", "admitted"), "Now");
    sl_json_free(answer);
    answer = ask_about(SL_KIND_WORKLOAD, workload_new("new", "lq", "50", 9));
    assert_string_equal(word(answer, "asked", "new", "admitted"), "Unknown");
    assert_string_equal(word(answer, "asked", "new", "reason"), "DoesNotFit");
    sl_json_free(answer);
    answer = ask_about(SL_KIND_WORKLOAD, workload_new("new", "nowhere", "5", 9));
    assert_string_equal(word(answer, "asked", "new", "reason"), "NotQueued");
    sl_json_free(answer);
}

static struct sl_json *changed(enum sl_kind kind, const char *ns, const char *name,
                               const char *patch)
{
    struct sl_error e = {0};
    struct sl_json *o = sl_json_clone(world_get(&w, kind, ns, name));
    struct sl_json *p = world_parse(patch);
    assert_int_equal(sl_patch_merge(&o, p, &e), SL_CODE_OK);
    sl_json_free(p);
    return o;
}

static void test_what_if_of_an_administrator_compares(void **state)
{
    (void)state;
    add_preempting_queue();
    submit(workload_new("a", "lq", "10", 0), 60 * SECOND);
    settle();
    submit(workload_new("b", "lq", "6", 0), 60 * SECOND);
    submit(workload_new("c", "lq", "6", -1), 60 * SECOND);
    submit(workload_new("huge", "lq", "12", -2), 60 * SECOND);
    settle();
    struct sl_json *answer = ask_about(
        SL_KIND_CLUSTER_QUEUE,
        changed(SL_KIND_CLUSTER_QUEUE, "", "cq",
                "{\"spec\":{\"resourceGroups\":[{\"coveredResources\":[\"cpu\"],\"flavors\":[{"
                "\"name\":\"spot\",\"resources\":[{\"name\":\"cpu\",\"nominalQuota\":\"16\"}]}]}]"
                "}}"));
    assert_int_equal(wait_of(answer, "sooner", "b"), 0);
    assert_int_equal(sl_json_path_int(row(answer, "sooner", "b"), "waitMillisecondsBefore", -1),
                     60 * SECOND);
    assert_int_equal(wait_of(answer, "sooner", "c"), 60 * SECOND);
    assert_int_equal(wait_of(answer, "started", "huge"), 120 * SECOND);
    sl_json_free(answer);
    answer =
        ask_about(SL_KIND_CLUSTER_QUEUE, changed(SL_KIND_CLUSTER_QUEUE, "", "cq",
                                                 "{\"spec\":{\"stopPolicy\":\"HoldAndDrain\"}}"));
    assert_string_equal(word(answer, "evicted", "a", "evictedFor"), "ClusterQueueStopped");
    assert_string_equal(word(answer, "unstarted", "b", "reason"), "NotQueued");
    sl_json_free(answer);
    answer = ask_about(SL_KIND_WORKLOAD,
                       changed(SL_KIND_WORKLOAD, "team", "c", "{\"spec\":{\"priority\":7}}"));
    assert_string_equal(word(answer, "asked", "c", "admitted"), "AfterPreemption");
    assert_string_equal(word(answer, "evicted", "a", "preemptedBy.name"), "c");
    assert_int_equal(wait_of(answer, "later", "b"), 120 * SECOND);
    sl_json_free(answer);
}

static void test_what_if_refuses_what_it_cannot_use(void **state)
{
    (void)state;
    struct sl_json *answer = ask(NULL, SECOND);
    assert_string_equal(sl_json_path_text(answer, "reason", ""), "ServiceUnavailable");
    sl_json_free(answer);
    world_add_basics(&w);
    answer = ask_about(SL_KIND_EVENT, sl_object_new(SL_KIND_EVENT, "team", "e"));
    assert_string_equal(sl_json_path_text(answer, "message", ""),
                        "what if there were another Event cannot be asked");
    sl_json_free(answer);
}

static void test_what_if_of_something_deleted(void **state)
{
    (void)state;
    world_add_basics(&w);
    submit(workload_new("a", "lq", "10", 0), 60 * SECOND);
    settle();
    submit(workload_new("b", "lq", "6", 0), 60 * SECOND);
    settle();
    struct sl_json *changes =
        changes_new("delete", SL_KIND_WORKLOAD, sl_json_clone(world_workload(&w, "a")));
    struct sl_json *answer = ask(changes, LONG);
    assert_int_equal(wait_of(answer, "sooner", "b"), 0);
    sl_json_free(answer);
    sl_json_free(changes);
}

/* --- random worlds ---------------------------------------------------------------------------- */

static void open_random_world(uint64_t seed)
{
    static struct sl_engine_settings settings;
    static const char *const within[] = {"Never", "LowerPriority", "LowerOrNewerEqualPriority"};
    static const char *const reclaim[] = {"Never", "LowerPriority", "Any"};
    uid_next = 0;
    chance_state = seed * 2654435761u + 1;
    (void)chance(2);
    settings = sl_engine_settings_default();
    settings.policy.fair_sharing = chance(3) == 0;
    world_open_with(&w, NULL, &settings);
    world_add_flavor(&w, "spot", "{}");
    world_add_flavor(&w, "steady", "{}");
    for (int i = 0; i < QUEUES; i++) {
        char name[16], text[1200], local[16];
        (void)snprintf(name, sizeof name, "cq%d", i);
        (void)snprintf(local, sizeof local, "lq%d", i);
        (void)snprintf(
            text, sizeof text,
            "{\"metadata\":{\"name\":\"%s\"},\"spec\":{\"namespaceSelector\":{},%s"
            "\"queueingStrategy\":\"%s\",\"preemption\":{\"withinClusterQueue\":\"%s\","
            "\"reclaimWithinCohort\":\"%s\"},\"resourceGroups\":[{\"coveredResources\":[\"cpu\"],"
            "\"flavors\":[{\"name\":\"spot\",\"resources\":[{\"name\":\"cpu\",\"nominalQuota\":"
            "\"%u\"}]},{\"name\":\"steady\",\"resources\":[{\"name\":\"cpu\",\"nominalQuota\":"
            "\"%u\"}]}]}]}}",
            name, chance(4) == 0 ? "" : "\"cohortName\":\"all\",",
            chance(2) == 0 ? "StrictFIFO" : "BestEffortFIFO", within[chance(3)], reclaim[chance(3)],
            chance(8), 2 + chance(8));
        world_add(&w, SL_KIND_CLUSTER_QUEUE, text);
        world_add_local_queue(&w, "team", local, name);
    }
    sl_engine_synced(w.engine, w.now_ms);
}

static struct sl_json *random_workload(int number)
{
    char name[16], queue[16], cpu[16];
    (void)snprintf(name, sizeof name, "w%02d", number);
    (void)snprintf(queue, sizeof queue, "lq%u", chance(QUEUES));
    (void)snprintf(cpu, sizeof cpu, "%u", 1 + chance(6));
    return workload_new(name, queue, cpu, chance(3));
}

static void fill_random_world(void)
{
    int count = 6 + (int)chance(WORKLOADS - 6);
    for (int i = 0; i < count; i++) {
        submit(random_workload(i), (int64_t)(1 + chance(60)) * SECOND + (int64_t)chance(1000));
        if (chance(2) == 0) {
            play(w.now_ms + (int64_t)chance(8) * SECOND, NULL);
            w.now_ms += (int64_t)chance(2000);
            sl_clock_set_virtual(w.now_ms);
        }
    }
    settle();
    play(w.now_ms, NULL);
}

/* When each Workload was first seen to run, in milliseconds from `asked_ms`. */
static int64_t asked_ms;
static int64_t started[WORKLOADS + 2];
static bool was_evicted[WORKLOADS + 2];
static uint32_t evictions_before[WORKLOADS + 2];
static char flavor_of[WORKLOADS + 2][16];

static bool note_one(const char *key, struct sl_json *o)
{
    sl_workload_id id = id_of(key);
    int number = atoi(sl_object_name(o) + 1);
    if (id == SL_NO_ID) {
        return false;
    }
    if (sl_workloads[id].phase == SL_PHASE_ADMITTED && started[number] < 0 &&
        sl_workloads[id].admitted_at_ms >= asked_ms) {
        started[number] = sl_workloads[id].admitted_at_ms - asked_ms;
        (void)snprintf(
            flavor_of[number], sizeof flavor_of[number], "%s",
            sl_json_path_text(o, "status.admission.podSetAssignments.0.flavors.cpu", ""));
    }
    was_evicted[number] = sl_workloads[id].eviction_count > evictions_before[number];
    return false;
}

static bool note_evictions(const char *key, struct sl_json *o)
{
    sl_workload_id id = id_of(key);
    evictions_before[atoi(sl_object_name(o) + 1)] =
        id == SL_NO_ID ? 0 : sl_workloads[id].eviction_count;
    return false;
}

static void note_all(void)
{
    (void)each_workload(note_one);
}

static void begin_noting(void)
{
    asked_ms = w.now_ms;
    for (int i = 0; i < WORKLOADS + 2; i++) {
        started[i] = -1;
        was_evicted[i] = false;
        evictions_before[i] = 0;
    }
    (void)each_workload(note_evictions);
}

static unsigned worlds(void)
{
    const char *text = getenv("FORESIGHT_WORLDS");
    return text == NULL ? 60 : (unsigned)atoi(text);
}

static uint64_t first_seed(void)
{
    const char *text = getenv("FORESIGHT_SEED");
    return text == NULL ? 1 : (uint64_t)atoll(text);
}

static unsigned compare_starts(const struct sl_json *rows, uint64_t seed)
{
    unsigned compared = 0;
    for (size_t i = 0; i < sl_json_len(rows); i++) {
        const struct sl_json *r = sl_json_at(rows, i);
        int number = atoi(sl_json_path_text(r, "name", "") + 1);
        int64_t said = sl_json_path_int(r, "waitMilliseconds", -1);
        if (said != started[number]) {
            fail_msg("seed %llu: w%02d was to start after %lld ms and did after %lld",
                     (unsigned long long)seed, number, (long long)said, (long long)started[number]);
        }
        compared++;
    }
    return compared;
}

/* Worlds in which somebody is admitted and evicted at one instant, first, then the others. */
static uint64_t seed_of(unsigned i)
{
    static const uint64_t known[] = {94, 434, 934};
    return i < 3 ? known[i] : first_seed() + i - 3;
}

static void test_foresight_is_right_on_random_worlds(void **state)
{
    (void)state;
    unsigned compared = 0;
    for (unsigned i = 0; i < worlds() + 3; i++) {
        uint64_t seed = seed_of(i);
        open_random_world(seed);
        fill_random_world();
        struct sl_json *answer = ask(NULL, LONG);
        begin_noting();
        play(w.now_ms + LONG, note_all);
        compared += compare_starts(sl_json_get(answer, "workloads"), seed);
        sl_json_free(answer);
        world_close(&w);
    }
    assert_true(compared > worlds()); /* else nobody waits in these worlds */
}

static void compare_asked(const struct sl_json *answer, int number, uint64_t seed)
{
    const struct sl_json *r = sl_json_at(sl_json_get(answer, "asked"), 0);
    assert_non_null(r);
    const char *flavor = sl_json_path_text(r, "podSets.0.flavors.cpu", "");
    if (sl_json_path_int(r, "waitMilliseconds", -1) != started[number] ||
        (started[number] >= 0 && strcmp(flavor, flavor_of[number]) != 0)) {
        fail_msg("seed %llu: what was asked about was to start after %lld ms with %s and did after "
                 "%lld with %s",
                 (unsigned long long)seed, (long long)sl_json_path_int(r, "waitMilliseconds", -1),
                 flavor, (long long)started[number], flavor_of[number]);
    }
    const struct sl_json *evicted = sl_json_get(answer, "evicted");
    for (size_t i = 0; i < sl_json_len(evicted); i++) {
        const char *name = sl_json_path_text(sl_json_at(evicted, i), "name", "");
        if (!was_evicted[atoi(name + 1)]) {
            fail_msg("seed %llu: %s was to be evicted", (unsigned long long)seed, name);
        }
    }
}

static void test_what_if_is_what_happens_next_on_random_worlds(void **state)
{
    (void)state;
    unsigned later = 0, evictions = 0;
    for (unsigned i = 0; i < worlds() + 3; i++) {
        uint64_t seed = seed_of(i);
        open_random_world(seed);
        fill_random_world();
        struct sl_json *o = random_workload(WORKLOADS);
        int64_t ms = (int64_t)(1 + chance(60)) * SECOND;
        sl_engine_say_run_time(w.engine, sl_object_uid(o), SL_RUN_FOR, ms);
        struct sl_json *changes = changes_new("apply", SL_KIND_WORKLOAD, sl_json_clone(o));
        struct sl_json *answer = ask(changes, LONG);
        begin_noting();
        submit(o, ms);
        play(w.now_ms + LONG, note_all);
        compare_asked(answer, WORKLOADS, seed);
        later += started[WORKLOADS] > 0;
        evictions += (unsigned)sl_json_len(sl_json_get(answer, "evicted"));
        sl_json_free(answer);
        sl_json_free(changes);
        world_close(&w);
    }
    assert_true(later > worlds() / 10 && evictions > worlds() / 10);
}

int main(void)
{
#define TEST(name) cmocka_unit_test_setup_teardown(name, setup, teardown)
    const struct CMUnitTest tests[] = {
        TEST(test_foresight_says_when_those_that_wait_start),
        TEST(test_foresight_says_when_those_of_a_queue_start),
        TEST(test_foresight_says_on_what_a_time_rests),
        TEST(test_foresight_learns_how_long_a_queue_runs),
        TEST(test_foresight_forgets_what_a_job_said),
        TEST(test_foresight_does_not_learn_from_itself),
        TEST(test_foresight_stops_at_its_horizon),
        TEST(test_foresight_takes_checks_to_be_ready),
        TEST(test_foresight_ends_what_runs_too_long),
        TEST(test_what_if_of_a_workload_says_whom_it_preempts),
        TEST(test_what_if_of_a_workload_that_fits),
        TEST(test_what_if_of_an_administrator_compares),
        TEST(test_what_if_refuses_what_it_cannot_use),
        TEST(test_what_if_of_something_deleted),
        cmocka_unit_test(test_foresight_is_right_on_random_worlds),
        cmocka_unit_test(test_what_if_is_what_happens_next_on_random_worlds)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
