/* SPDX-License-Identifier: Apache-2.0
 * SPDX-FileCopyrightText: The Sluice authors */

/* Counting pods of a Job, and what follows. */
#include "t.h"
#include "runner/tally.h"

#define KEY "n/j"
#define T0 1700000000000

struct scene {
    struct sl_podbook *book;
    struct sl_json *job;
    struct sl_tally tally;
    int pods;
};

static void begin(struct scene *s, const char *spec)
{
    char text[1024];
    *s = (struct scene){.book = sl_podbook_new()};
    snprintf(text, sizeof text,
             "{\"metadata\":{\"name\":\"j\",\"namespace\":\"n\",\"uid\":\"u\"},\"spec\":%s,"
             "\"status\":{\"startTime\":\"2023-11-14T22:13:20Z\"}}",
             spec);
    s->job = json_of(text);
}

/* A pod in that phase; `index` -1: none; it ended so many seconds after T0. */
static void add(struct scene *s, const char *phase, int index, int ended_s, const char *more)
{
    char text[1024], at[64] = "";
    if (index >= 0) {
        snprintf(at, sizeof at, "\"batch.kubernetes.io/job-completion-index\":\"%d\"", index);
    }
    snprintf(
        text, sizeof text,
        "{\"metadata\":{\"name\":\"p%d\",\"namespace\":\"n\",\"uid\":\"p%d\",\"annotations\":{%s},"
        "%s\"ownerReferences\":[{\"controller\":true,\"apiVersion\":\"batch/v1\",\"kind\":\"Job\","
        "\"name\":\"j\",\"uid\":\"u\"}]},\"spec\":{},\"status\":{\"phase\":\"%s\","
        "\"containerStatuses\":[{\"restartCount\":2,\"state\":{\"terminated\":{\"finishedAt\":"
        "\"2023-11-14T22:13:%02dZ\"}}}]}}",
        s->pods, s->pods, at, more, phase, 20 + ended_s);
    s->pods++;
    struct sl_json *pod = json_of(text);
    sl_podbook_observe(s->book, pod);
    sl_json_free(pod);
}

static void tally(struct scene *s)
{
    sl_tally_fini(&s->tally);
    sl_tally_init(&s->tally, s->book, s->job, KEY);
}

static void end(struct scene *s)
{
    sl_tally_fini(&s->tally);
    sl_json_free(s->job);
    sl_podbook_free(s->book);
}

static void test_tally_counts_and_wants(void **state)
{
    (void)state;
    struct scene s;
    begin(&s, "{\"parallelism\":3,\"completions\":4}");
    tally(&s);
    assert_int_equal(sl_tally_wanted(&s.tally, s.job), 3);
    add(&s, "Running", -1, 0, "");
    add(&s, "Running", -1, 0, "\"deletionTimestamp\":\"2023-11-14T22:13:20Z\",");
    add(&s, "Succeeded", -1, 1, "");
    add(&s, "Succeeded", -1, 1, "\"deletionTimestamp\":\"2023-11-14T22:13:20Z\",");
    add(&s, "Failed", -1, 2, "");
    tally(&s);
    assert_int_equal(s.tally.live, 1);
    assert_int_equal(s.tally.ending, 1);
    assert_int_equal(s.tally.succeeded, 2);
    assert_int_equal(s.tally.failed, 1);
    assert_int_equal(sl_tally_wanted(&s.tally, s.job), 2);
    assert_false(sl_tally_complete(&s.tally, s.job));
    assert_true(sl_tally_write(&s.tally, s.job));
    assert_false(sl_tally_write(&s.tally, s.job));
    assert_int_equal(sl_json_path_int(s.job, "status.active", 0), 2);
    assert_int_equal(sl_json_path_int(s.job, "status.terminating", 0), 1);
    end(&s);
}

static void test_work_queue_is_complete_when_one_succeeded_and_all_ended(void **state)
{
    (void)state;
    struct scene s;
    begin(&s, "{\"parallelism\":2}");
    add(&s, "Running", -1, 0, "");
    add(&s, "Succeeded", -1, 1, "");
    tally(&s);
    assert_int_equal(sl_tally_wanted(&s.tally, s.job), 1);
    assert_false(sl_tally_complete(&s.tally, s.job));
    end(&s);
    begin(&s, "{\"parallelism\":2}");
    add(&s, "Succeeded", -1, 1, "");
    add(&s, "Failed", -1, 1, "");
    tally(&s);
    assert_true(sl_tally_complete(&s.tally, s.job));
    end(&s);
}

static void test_retries_wait_longer_each_time_and_end_at_the_limit(void **state)
{
    (void)state;
    struct scene s;
    const char *message;
    int64_t index = 0, due_ms;
    begin(&s, "{\"parallelism\":1,\"completions\":1,\"backoffLimit\":2}");
    tally(&s);
    assert_true(sl_tally_next(&s.tally, s.job, &index, &due_ms));
    assert_int_equal(index, -1);
    assert_true(due_ms == INT64_MIN);
    add(&s, "Failed", -1, 1, "");
    tally(&s);
    (void)sl_tally_next(&s.tally, s.job, &index, &due_ms);
    assert_int_equal(due_ms, T0 + 1000 + SL_RETRY_FIRST_MS);
    add(&s, "Failed", -1, 5, "");
    tally(&s);
    (void)sl_tally_next(&s.tally, s.job, &index, &due_ms);
    assert_int_equal(due_ms, T0 + 5000 + 2 * SL_RETRY_FIRST_MS);
    assert_null(sl_tally_failure(&s.tally, s.job, T0, &message));
    add(&s, "Failed", -1, 9, "");
    tally(&s);
    assert_string_equal(sl_tally_failure(&s.tally, s.job, T0, &message), "BackoffLimitExceeded");
    end(&s);
}

static void test_restarts_in_place_count_against_the_limit(void **state)
{
    (void)state;
    struct scene s;
    const char *message;
    begin(&s, "{\"completions\":1,\"backoffLimit\":2,\"template\":{\"spec\":{\"restartPolicy\":"
              "\"OnFailure\"}}}");
    add(&s, "Running", -1, 1, "");
    tally(&s);
    assert_string_equal(sl_tally_failure(&s.tally, s.job, T0, &message), "BackoffLimitExceeded");
    end(&s);
}

static void test_deadline_counts_from_the_start(void **state)
{
    (void)state;
    struct scene s;
    const char *message;
    begin(&s, "{\"completions\":1,\"activeDeadlineSeconds\":10}");
    tally(&s);
    assert_int_equal(sl_job_deadline_ms(s.job), T0 + 10000);
    assert_null(sl_tally_failure(&s.tally, s.job, T0 + 9999, &message));
    assert_string_equal(sl_tally_failure(&s.tally, s.job, T0 + 10000, &message),
                        "DeadlineExceeded");
    end(&s);
}

static void test_indexes_fail_each_for_itself(void **state)
{
    (void)state;
    struct scene s;
    const char *message;
    int64_t index = 0, due_ms;
    begin(&s, "{\"parallelism\":4,\"completions\":4,\"completionMode\":\"Indexed\","
              "\"backoffLimitPerIndex\":1}");
    add(&s, "Succeeded", 0, 1, "");
    add(&s, "Failed", 1, 1, "");
    add(&s, "Failed", 1, 2, "");
    add(&s, "Running", 2, 0, "");
    tally(&s);
    assert_int_equal(s.tally.done, 1);
    assert_int_equal(s.tally.failed_indexes, 1);
    assert_int_equal(sl_tally_wanted(&s.tally, s.job), 2);
    assert_true(sl_tally_next(&s.tally, s.job, &index, &due_ms));
    assert_int_equal(index, 3);
    index++;
    assert_false(sl_tally_next(&s.tally, s.job, &index, &due_ms));
    assert_null(sl_tally_failure(&s.tally, s.job, T0, &message));
    assert_true(sl_tally_write(&s.tally, s.job));
    assert_string_equal(sl_json_path_text(s.job, "status.completedIndexes", ""), "0");
    assert_string_equal(sl_json_path_text(s.job, "status.failedIndexes", ""), "1");
    end(&s);
    begin(&s, "{\"parallelism\":2,\"completions\":2,\"completionMode\":\"Indexed\","
              "\"backoffLimitPerIndex\":0,"
              "\"maxFailedIndexes\":0}");
    add(&s, "Failed", 1, 1, "");
    tally(&s);
    assert_string_equal(sl_tally_failure(&s.tally, s.job, T0, &message),
                        "MaxFailedIndexesExceeded");
    end(&s);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_tally_counts_and_wants),
        cmocka_unit_test(test_work_queue_is_complete_when_one_succeeded_and_all_ended),
        cmocka_unit_test(test_retries_wait_longer_each_time_and_end_at_the_limit),
        cmocka_unit_test(test_restarts_in_place_count_against_the_limit),
        cmocka_unit_test(test_deadline_counts_from_the_start),
        cmocka_unit_test(test_indexes_fail_each_for_itself)};
    return RUN(tests);
}
