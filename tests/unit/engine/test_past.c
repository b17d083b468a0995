/* SPDX-License-Identifier: Apache-2.0
 * SPDX-FileCopyrightText: The Sluice authors */

/* A past is read from the journal of a random history and played forward: with the same settings and quotas nothing is
 * decided otherwise. */
#include "engine/past/past_play.h"
#include "engine/past/past_report.h"
#include "engine/past/past_child.h"
#include "history.h"
#include <sys/wait.h>
#include <unistd.h>

static char dir[64];
static unsigned number;
static size_t file_bytes;
static unsigned steps;

static struct sl_engine_settings variant(void)
{
    struct sl_engine_settings s = sl_engine_settings_default();
    s.ready_ms_max = 30000;
    s.recovery_ms_max = 10000;
    s.backoff_base_ms = 5000;
    s.policy.fair_sharing = number % 4 == 1;
    s.policy.prioritize_preemptors = number % 4 == 1;
    s.policy.block_until_ready = number % 4 == 2;
    s.policy.admission_fair_sharing = number % 4 == 3;
    s.usage_half_life_ms = 20000;
    s.usage_sampling_ms = 4000;
    return s;
}

/* A daemon does not sleep over what is due. */
static void keep_time(struct world *w, int64_t before_ms)
{
    int64_t now_ms = w->now_ms, due_ms;
    while ((due_ms = sl_engine_due_ms(w->engine)) < now_ms && before_ms < now_ms) {
        before_ms = due_ms > before_ms ? due_ms : before_ms;
        w->now_ms = before_ms;
        sl_clock_set_virtual(before_ms);
        world_settle(w);
    }
    w->now_ms = now_ms;
    sl_clock_set_virtual(now_ms);
}

static void live(void)
{
    struct world w;
    struct history h;
    struct sl_engine_settings settings = variant();
    world_journal_bytes = file_bytes;
    world_open_with(&w, dir, &settings);
    history_begin(&h, &w, 4711 + number);
    for (unsigned i = 0; i < steps; i++) {
        int64_t before_ms = w.now_ms;
        history_step(&h);
        keep_time(&w, before_ms);
        if (history_draw(&h, 3) != 0) {
            world_settle(&w);
        }
    }
    world_settle(&w);
}

static void in_child(void (*body)(void))
{
    int status;
    (void)fflush(NULL);
    pid_t child = fork();
    assert_true(child >= 0);
    if (child == 0) {
        body();
        _exit(0);
    }
    assert_int_equal(waitpid(child, &status, 0), child);
    assert_true(WIFEXITED(status));
    assert_int_equal(WEXITSTATUS(status), 0);
}

static void remove_files(void)
{
    char command[128];
    (void)snprintf(command, sizeof command, "rm -f %s/*", dir);
    assert_int_equal(system(command), 0);
}

/* --- a day of jobs -------------------------------------------------------------------------------- */

#define JOBS 100
#define QUEUES 3

struct day {
    bool fair;
    const char *quota; /* of cq0 */
    int64_t stops_ms;  /* how long an evicted job takes to stop */
    bool
        cancels; /* some jobs are deleted by their users: how long they would have run cannot be known */
};
static struct day day;
static struct job {
    int64_t arrives_ms, runs_ms, ends_ms, stops_ms, cancelled_ms;
    int pods, priority, queue;
} jobs[JOBS];

static void make_jobs(unsigned seed)
{
    struct history h = {.state = seed * 0x9e3779b97f4a7c15u + 1};
    int64_t at_ms = WORLD_START_MS + 1000;
    for (unsigned i = 0; i < JOBS; i++) {
        at_ms += 1000 * (int64_t)history_draw(&h, 20);
        jobs[i] = (struct job){.arrives_ms = at_ms,
                               .runs_ms = 1000 * (int64_t)(5 + history_draw(&h, 90)),
                               .ends_ms = INT64_MAX,
                               .stops_ms = INT64_MAX,
                               .pods = 1 + (int)history_draw(&h, 4),
                               .priority = (int)history_draw(&h, 3),
                               .queue = (int)history_draw(&h, QUEUES)};
        jobs[i].cancelled_ms = history_draw(&h, 12) == 0 && day.cancels
                                   ? at_ms + 1000 * (int64_t)history_draw(&h, 200)
                                   : INT64_MAX;
    }
}

static struct sl_engine_settings settings_of_day(void)
{
    struct sl_engine_settings s = sl_engine_settings_default();
    s.policy.fair_sharing = day.fair;
    return s;
}

static void open_day(struct world *w)
{
    static const char *const more[QUEUES] = {
        ",\"cohortName\":\"c\",\"preemption\":{\"withinClusterQueue\":\"LowerPriority\","
        "\"reclaimWithinCohort\":\"Any\"}",
        ",\"cohortName\":\"c\",\"queueingStrategy\":\"StrictFIFO\"",
        ",\"cohortName\":\"c\",\"preemption\":{\"reclaimWithinCohort\":\"LowerPriority\"}"};
    struct sl_engine_settings settings = settings_of_day();
    world_journal_bytes = file_bytes;
    world_open_with(w, dir, &settings);
    world_add_flavor(w, "spot", "{}");
    world_add(w, SL_KIND_NAMESPACE, "{\"metadata\":{\"name\":\"team\"}}");
    for (int i = 0; i < QUEUES; i++) {
        char cq[8], lq[8];
        (void)snprintf(cq, sizeof cq, "cq%d", i);
        (void)snprintf(lq, sizeof lq, "lq%d", i);
        world_add_cluster_queue(w, cq, "spot", i == 0 ? day.quota : "6", more[i]);
        world_add_local_queue(w, "team", lq, cq);
    }
    sl_engine_synced(w->engine, w->now_ms);
    world_settle(w);
}

static struct sl_json *object_of(struct world *w, unsigned i)
{
    char name[16];
    (void)snprintf(name, sizeof name, "j%u", i);
    return world_get(w, SL_KIND_WORKLOAD, "team", name);
}

static void condition(struct world *w, struct sl_json *o, const char *type, const char *reason)
{
    struct sl_json *copy = sl_json_clone(o);
    (void)sl_condition_set(sl_json_path_make(copy, "status"), type, true, reason, "", 1, w->now_ms);
    (void)world_put(w, SL_KIND_WORKLOAD, copy, NULL);
}

/* What the job does now. */
static bool act(struct world *w, unsigned i)
{
    struct job *j = &jobs[i];
    struct sl_json *o = object_of(w, i);
    char name[16], queue[8];
    if (j->arrives_ms == w->now_ms && o == NULL) {
        (void)snprintf(name, sizeof name, "j%u", i);
        (void)snprintf(queue, sizeof queue, "lq%d", j->queue);
        j->arrives_ms = INT64_MAX;
        o = world_new_workload("team", name, queue, j->pods, "1");
        sl_json_set_int(sl_json_get(o, "spec"), "priority", j->priority);
        (void)world_put(w, SL_KIND_WORKLOAD, o, NULL);
        return true;
    }
    if (o == NULL || sl_condition_true(o, "Finished")) {
        return false;
    }
    bool evicted = sl_condition_true(o, "Evicted") && sl_condition_true(o, "QuotaReserved");
    bool runs = sl_condition_true(o, "Admitted") && !evicted;
    if (j->cancelled_ms <= w->now_ms) {
        (void)snprintf(name, sizeof name, "j%u", i);
        world_delete(w, SL_KIND_WORKLOAD, "team", name);
        return true;
    }
    if (runs && j->ends_ms == INT64_MAX) {
        j->ends_ms = w->now_ms + j->runs_ms;
        condition(w, o, "PodsReady", "Started");
        return true;
    }
    if (runs && j->ends_ms <= w->now_ms) {
        condition(w, o, "Finished", "Succeeded");
        return true;
    }
    if (evicted && j->stops_ms == INT64_MAX) {
        j->ends_ms = INT64_MAX;
        j->stops_ms = w->now_ms + day.stops_ms;
    }
    if (evicted && j->stops_ms <= w->now_ms) {
        j->stops_ms = INT64_MAX;
        sl_engine_job_stopped(w->engine, o, w->now_ms);
        return true;
    }
    return false;
}

static int64_t least(int64_t a, int64_t b)
{
    return a < b ? a : b;
}

static int64_t next_ms(struct world *w)
{
    int64_t ms = INT64_MAX;
    for (unsigned i = 0; i < JOBS; i++) {
        struct sl_json *o = object_of(w, i);
        ms = least(ms, jobs[i].arrives_ms);
        if (o != NULL && !sl_condition_true(o, "Finished")) {
            ms = least(ms, least(jobs[i].cancelled_ms, least(jobs[i].ends_ms, jobs[i].stops_ms)));
        }
    }
    return least(ms, sl_engine_due_ms(w->engine));
}

static void live_a_day(void)
{
    struct world w;
    open_day(&w);
    for (int64_t ms = next_ms(&w); ms < WORLD_START_MS + 3600 * 1000; ms = next_ms(&w)) {
        w.now_ms = ms > w.now_ms ? ms : w.now_ms;
        sl_clock_set_virtual(w.now_ms);
        for (bool more = true; more;) {
            more = false;
            for (unsigned i = 0; i < JOBS; i++) {
                more = act(&w, i) || more;
            }
            world_settle(&w);
        }
    }
}

/* --- comparing ------------------------------------------------------------------------------------- */

static bool counts(const struct sl_json *d)
{
    const char *what = sl_json_path_text(d, "do", "");
    return strcmp(what, "admitted") == 0 || strcmp(what, "evicted") == 0;
}

static void print_decision(const struct sl_json *d, struct sl_buf *out)
{
    sl_buf_print(out, "%lld %s %s %d ", (long long)sl_json_path_int(d, "at", 0),
                 sl_json_path_text(d, "do", ""), sl_json_path_text(d, "workload", ""),
                 (int)sl_json_path_int(d, "reason", 0));
    if (sl_json_get(d, "uses") != NULL) {
        sl_json_print(sl_json_get(d, "uses"), out);
    }
}

static int by_text(const void *a, const void *b)
{
    return strcmp(*(char *const *)a, *(char *const *)b);
}

/* All decisions, in the order of their times and names, a line each. */
static char *lines_new(const struct sl_json *decisions, size_t *count)
{
    char **lines = sl_mem_new(sl_json_len(decisions) + 1, sizeof *lines);
    struct sl_buf all = {0};
    *count = 0;
    for (size_t i = 0; i < sl_json_len(decisions); i++) {
        struct sl_buf line = {0};
        if (counts(sl_json_at(decisions, i))) {
            print_decision(sl_json_at(decisions, i), &line);
            lines[(*count)++] = sl_buf_take(&line);
        }
    }
    qsort(lines, *count, sizeof *lines, by_text);
    for (size_t i = 0; i < *count; i++) {
        sl_buf_print(&all, "%s\n", lines[i]);
        sl_mem_free(lines[i]);
    }
    sl_mem_free(lines);
    sl_buf_text(&all, "");
    return sl_buf_take(&all);
}

static void assert_same(const struct sl_json *was, const struct sl_json *is, size_t decisions_min)
{
    size_t was_count, is_count;
    char *was_lines = lines_new(was, &was_count);
    char *is_lines = lines_new(is, &is_count);
    assert_string_equal(is_lines, was_lines);
    assert_true(was_count >= decisions_min);
    sl_mem_free(was_lines);
    sl_mem_free(is_lines);
}

static void read_past(struct sl_past *past)
{
    struct sl_error e = {0};
    if (sl_past_read(dir, past, &e) != SL_CODE_OK) {
        fail_msg("%s", e.text);
    }
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

/* --- tests ------------------------------------------------------------------------------------------ */

static void test_random_history_is_decided_as_it_was(void **state)
{
    (void)state;
    steps = 400;
    for (number = 0; number < 8; number++) {
        struct sl_past past;
        in_child(live);
        read_past(&past);
        struct sl_engine_settings settings = variant();
        struct sl_json *out =
            play(&past, &(struct sl_past_policy){.settings = &settings, .objects = NULL});
        assert_same(past.decisions, sl_json_get(out, "decisions"), 0);
        sl_json_free(out);
        sl_past_fini(&past);
        remove_files();
    }
}

static void test_day_is_decided_as_it_was(void **state)
{
    (void)state;
    for (unsigned seed = 0; seed < 4; seed++) {
        struct sl_past past;
        day = (struct day){
            .fair = seed % 2 == 1, .quota = "6", .stops_ms = 1000 * seed, .cancels = true};
        make_jobs(seed);
        in_child(live_a_day);
        read_past(&past);
        struct sl_json *out = play(&past, &(struct sl_past_policy){0});
        assert_same(past.decisions, sl_json_get(out, "decisions"), JOBS);
        sl_json_free(out);
        sl_past_fini(&past);
        remove_files();
    }
}

/* The day is played with another policy, and lived with it: both come to the same. */
static void test_other_policy_decides_as_it_would_have(void **state)
{
    (void)state;
    for (unsigned seed = 0; seed < 4; seed++) {
        struct sl_past past, other;
        bool fair = seed % 2 == 1;
        day = (struct day){.fair = false, .quota = "6", .stops_ms = 2000};
        make_jobs(seed);
        in_child(live_a_day);
        read_past(&past);
        remove_files();
        day.fair = fair;
        day.quota = fair ? "6" : "9";
        in_child(live_a_day);
        read_past(&other);
        remove_files();
        struct sl_engine_settings settings = settings_of_day();
        struct sl_json *objects = world_parse(
            "[{\"apiVersion\":\"kueue.x-k8s.io/v1beta2\",\"kind\":\"ClusterQueue\",\"metadata\":{"
            "\"name\":\"cq0\"},\"spec\":{\"resourceGroups\":[{\"coveredResources\":[\"cpu\"],"
            "\"flavors\":[{\"name\":\"spot\",\"resources\":[{\"name\":\"cpu\",\"nominalQuota\":"
            "\"9\"}]}]}]}}]");
        struct sl_json *out =
            play(&past,
                 &(struct sl_past_policy){.settings = &settings, .objects = fair ? NULL : objects});
        assert_same(other.decisions, sl_json_get(out, "decisions"), JOBS);
        sl_json_free(out);
        sl_json_free(objects);
        sl_past_fini(&past);
        sl_past_fini(&other);
    }
}

/* --- journals that are not whole ----------------------------------------------------------------------- */

static bool noted(const struct sl_past *past, const char *part)
{
    for (size_t i = 0; i < sl_json_len(past->notes); i++) {
        if (strstr(sl_json_path_text(sl_json_at(past->notes, i), "note", ""), part) != NULL) {
            return true;
        }
    }
    return false;
}

static void make_a_day(void)
{
    day = (struct day){.quota = "6"};
    make_jobs(1);
    in_child(live_a_day);
}

/* Rotated away: what is left begins with an image of the core, and goes as it went from there on. */
static void test_from_an_image_on_it_is_decided_as_it_was(void **state)
{
    (void)state;
    struct sl_past past;
    char first[128];
    file_bytes = 16384;
    make_a_day();
    file_bytes = 0;
    (void)snprintf(first, sizeof first, "%s/journal-1.log", dir);
    (void)unlink(first); /* as rotation does it, or has done it */
    read_past(&past);
    assert_true(past.starts >= 1 && past.begin_ms > WORLD_START_MS + 1000);
    struct sl_json *out = play(&past, &(struct sl_past_policy){0});
    assert_same(past.decisions, sl_json_get(out, "decisions"), 20);
    sl_json_free(out);
    sl_past_fini(&past);
}

static void change_file(const char *name, long at, const char *bytes, size_t count)
{
    char path[128];
    (void)snprintf(path, sizeof path, "%s/%s", dir, name);
    FILE *f = fopen(path, "r+b");
    assert_non_null(f);
    assert_int_equal(fseek(f, at, at < 0 ? SEEK_END : SEEK_SET), 0);
    assert_int_equal(fwrite(bytes, 1, count, f), count);
    assert_int_equal(fclose(f), 0);
}

static void test_damage_is_noted(void **state)
{
    (void)state;
    struct sl_past past;
    make_a_day();
    change_file("journal-1.log", 60000, "xxxxxxxx", 8);
    read_past(&past);
    assert_true(noted(&past, "damaged"));
    assert_true(sl_json_len(past.decisions) > 10);
    sl_past_fini(&past);
}

static void test_what_cannot_be_read_is_refused(void **state)
{
    (void)state;
    struct sl_past past;
    struct sl_error e = {0};
    assert_int_not_equal(sl_past_read("/nonexistent", &past, &e), SL_CODE_OK);
    sl_past_fini(&past);
    make_a_day();
    e = (struct sl_error){0};
    change_file("journal-1.log", 8, "\x63", 1); /* another version */
    assert_int_not_equal(sl_past_read(dir, &past, &e), SL_CODE_OK);
    assert_non_null(strstr(e.text, "version"));
    sl_past_fini(&past);
    e = (struct sl_error){0};
    change_file("journal-1.log", 8, (const char[]){SL_JOURNAL_VERSION}, 1);
    change_file("journal-1.log", 40, "xxxxxxxx", 8); /* nothing of it can be read */
    assert_int_equal(sl_past_read(dir, &past, &e), SL_CODE_BAD_REQUEST);
    assert_non_null(strstr(e.text, "nothing in this journal that can be played"));
    sl_past_fini(&past);
}

/* --- the copy ------------------------------------------------------------------------------------------- */

static void break_down(void *context, struct sl_past_pipe *pipe)
{
    (void)context;
    sl_buf_text(&pipe->text, "{}\n");
    sl_past_pipe_push(pipe, true);
    _exit(3);
}

static void write_nonsense(void *context, struct sl_past_pipe *pipe)
{
    (void)context;
    for (unsigned i = 0; i < 100000; i++) {
        sl_buf_text(&pipe->text, "nonsense\n");
        sl_past_pipe_push(pipe, false);
    }
}

static void count_line(void *taker, struct sl_json *line)
{
    (*(unsigned *)taker)++;
    sl_json_free(line);
}

static void test_copy_that_breaks_down_is_told(void **state)
{
    (void)state;
    struct sl_error e = {0};
    unsigned lines = 0;
    assert_int_equal(sl_past_in_child(break_down, NULL, count_line, &lines, &e), SL_CODE_INTERNAL);
    assert_int_equal(lines, 1);
    e = (struct sl_error){0};
    assert_int_not_equal(sl_past_in_child(write_nonsense, NULL, count_line, &lines, &e),
                         SL_CODE_OK);
    assert_int_equal(lines, 1);
}

/* --- the report ------------------------------------------------------------------------------------------ */

static void test_report_says_who_fares_otherwise(void **state)
{
    (void)state;
    struct sl_past past;
    make_a_day();
    read_past(&past);
    struct sl_json *objects = world_parse(
        "[{\"apiVersion\":\"kueue.x-k8s.io/v1beta2\",\"kind\":\"ClusterQueue\",\"metadata\":{"
        "\"name\":\"cq0\"},\"spec\":{\"stopPolicy\":\"Hold\"}},{\"apiVersion\":"
        "\"kueue.x-k8s.io/v1beta2\",\"kind\":\"ClusterQueue\",\"metadata\":{\"name\":\"added\"},"
        "\"spec\":{}}]");
    struct sl_json *before = play(&past, &(struct sl_past_policy){0});
    struct sl_json *after = play(&past, &(struct sl_past_policy){.objects = objects});
    assert_int_equal(sl_past_differs(&past, before), 0);
    assert_true(sl_past_differs(&past, after) > 20);
    struct sl_json *report = sl_past_report_new(&past, before, after, 3);
    assert_int_equal(sl_json_path_int(report, "before.workloads", 0), JOBS);
    assert_true(sl_json_path_int(report, "counts.unstarted", 0) > 20);
    assert_int_equal(sl_json_len(sl_json_get(report, "unstarted")), 3);
    const struct sl_json *held =
        sl_json_find_by(sl_json_get(report, "clusterQueues"), "clusterQueue", "cq0");
    assert_int_equal(sl_json_path_int(held, "after.started", -1), 0);
    assert_true(sl_json_path_int(held, "after.waitP95Seconds", 0) >
                sl_json_path_int(held, "before.waitP95Seconds", 0));
    const struct sl_json *use = sl_json_find_by(sl_json_get(report, "utilization"), "queue", "cq0");
    assert_int_equal(sl_json_path_int(use, "after.usedPermille", -1), 0);
    assert_true(sl_json_path_int(use, "before.usedPermille", -1) > 100);
    sl_json_free(report);
    report = sl_past_report_new(&past, before, before, 3);
    assert_int_equal(sl_json_len(sl_json_get(report, "counts")), 0);
    sl_json_free(report);
    sl_json_free(before);
    sl_json_free(after);
    sl_json_free(objects);
    sl_past_fini(&past);
}

static int setup(void **state)
{
    (void)state;
    (void)snprintf(dir, sizeof dir, "/tmp/sluice-past-XXXXXX");
    return mkdtemp(dir) == NULL;
}

static int teardown(void **state)
{
    (void)state;
    remove_files();
    return rmdir(dir);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test_setup_teardown(test_random_history_is_decided_as_it_was, setup, teardown),
        cmocka_unit_test_setup_teardown(test_day_is_decided_as_it_was, setup, teardown),
        cmocka_unit_test_setup_teardown(test_other_policy_decides_as_it_would_have, setup,
                                        teardown),
        cmocka_unit_test_setup_teardown(test_from_an_image_on_it_is_decided_as_it_was, setup,
                                        teardown),
        cmocka_unit_test_setup_teardown(test_damage_is_noted, setup, teardown),
        cmocka_unit_test_setup_teardown(test_what_cannot_be_read_is_refused, setup, teardown),
        cmocka_unit_test(test_copy_that_breaks_down_is_told),
        cmocka_unit_test_setup_teardown(test_report_says_who_fares_otherwise, setup, teardown),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
