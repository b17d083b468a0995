/* SPDX-License-Identifier: Apache-2.0
 * SPDX-FileCopyrightText: The Sluice authors */

/* Counting pods. */
#include "runner/tally.h"
#include "base/clock.h"
#include "base/mem.h"
#include "controllers/jobs/job.h"
#include <string.h>

#define INDEXES_MAX 100000 /* as Kubernetes */

static int64_t completions_of(const struct sl_json *job)
{
    return sl_json_path_int(job, "spec.completions", sl_json_path_int(job, "spec.parallelism", 1));
}

static bool is_of(const struct sl_pod_row *row, const struct sl_json *job)
{
    return strcmp(row->job_uid, sl_object_uid(job)) == 0;
}

static void count_index(struct sl_tally *t, const struct sl_pod_row *row, bool live)
{
    if (row->index < 0 || row->index >= t->index_count) {
        return;
    }
    struct sl_index *i = &t->indexes[row->index];
    i->live = i->live || live;
    i->done = i->done || row->phase == SL_POD_SUCCEEDED;
    if (row->phase == SL_POD_FAILED) {
        i->failures++;
        i->last_ms = row->ended_ms > i->last_ms ? row->ended_ms : i->last_ms;
    }
}

static void count(struct sl_tally *t, const struct sl_pod_row *row, int64_t *success_ms)
{
    bool ended = row->phase == SL_POD_SUCCEEDED || row->phase == SL_POD_FAILED;
    bool live = !ended && !row->deleting;
    t->live += live;
    t->ending += !ended && row->deleting;
    t->ready += live && row->ready;
    t->restarts += live ? row->restarts : 0;
    t->succeeded += row->phase == SL_POD_SUCCEEDED;
    t->failed += row->phase == SL_POD_FAILED;
    if (row->phase == SL_POD_FAILED && row->ended_ms > t->last_ms) {
        t->last_ms = row->ended_ms;
    }
    if (row->phase == SL_POD_SUCCEEDED && row->ended_ms > *success_ms) {
        *success_ms = row->ended_ms;
    }
    count_index(t, row, !ended);
}

void sl_tally_init(struct sl_tally *t, const struct sl_podbook *book, const struct sl_json *job,
                   const char *key)
{
    int64_t n = sl_job_indexed(job) ? completions_of(job) : 0;
    int64_t success_ms = INT64_MIN;
    *t = (struct sl_tally){.last_ms = INT64_MIN, .index_count = n < INDEXES_MAX ? n : INDEXES_MAX};
    t->indexes = sl_mem_new((size_t)t->index_count + 1, sizeof *t->indexes);
    const struct sl_pod_row *row = sl_podbook_first(book, SL_PODS_OF_JOB, key);
    for (; row != NULL; row = row->next[SL_PODS_OF_JOB]) {
        if (is_of(row, job)) {
            count(t, row, &success_ms);
        }
    }
    row = sl_podbook_first(book, SL_PODS_OF_JOB, key);
    for (; row != NULL; row = row->next[SL_PODS_OF_JOB]) {
        t->failures +=
            is_of(row, job) && row->phase == SL_POD_FAILED && row->ended_ms >= success_ms;
    }
    for (int64_t i = 0; i < t->index_count; i++) {
        t->done += t->indexes[i].done;
        t->failed_indexes += sl_tally_given_up(t, job, i);
    }
}

void sl_tally_fini(struct sl_tally *t)
{
    sl_mem_free(t->indexes);
    t->indexes = NULL;
}

/* --- what is to be done --------------------------------------------------------------------------------------- */

static bool has_limit_per_index(const struct sl_tally *t, const struct sl_json *job)
{
    return t->index_count > 0 && sl_json_path(job, "spec.backoffLimitPerIndex") != NULL;
}

bool sl_tally_given_up(const struct sl_tally *t, const struct sl_json *job, int64_t index)
{
    return has_limit_per_index(t, job) && !t->indexes[index].done &&
           t->indexes[index].failures > sl_json_path_int(job, "spec.backoffLimitPerIndex", 0);
}

int64_t sl_job_deadline_ms(const struct sl_json *job)
{
    int64_t seconds = sl_json_path_int(job, "spec.activeDeadlineSeconds", -1);
    int64_t start_ms = sl_clock_parse(sl_json_path_text(job, "status.startTime", ""));
    bool limited = seconds >= 0 && seconds < INT32_MAX && start_ms != INT64_MIN;
    return limited ? start_ms + seconds * 1000 : INT64_MAX;
}

static bool backoff_is_used_up(const struct sl_tally *t, const struct sl_json *job)
{
    int64_t limit = sl_json_path_int(job, "spec.backoffLimit", 6);
    const char *policy = sl_json_path_text(job, "spec.template.spec.restartPolicy", "Never");
    bool in_place = strcmp(policy, "OnFailure") == 0;
    if (has_limit_per_index(t, job)) {
        return false;
    }
    return t->failed > limit ||
           (in_place && t->restarts > 0 && t->restarts >= (limit > 0 ? limit : 1));
}

const char *sl_tally_failure(const struct sl_tally *t, const struct sl_json *job, int64_t now_ms,
                             const char **message)
{
    int64_t most = sl_json_path_int(job, "spec.maxFailedIndexes", INT64_MAX);
    if (backoff_is_used_up(t, job)) {
        *message = "Job has reached the specified backoff limit";
        return "BackoffLimitExceeded";
    }
    if (now_ms >= sl_job_deadline_ms(job)) {
        *message = "Job was active longer than specified deadline";
        return "DeadlineExceeded";
    }
    if (has_limit_per_index(t, job) && t->failed_indexes > most) {
        *message = "Job has exceeded the specified maximal number of failed indexes";
        return "MaxFailedIndexesExceeded";
    }
    if (t->failed_indexes > 0 && t->done + t->failed_indexes >= t->index_count) {
        *message = "Job has failed indexes";
        return "FailedIndexes";
    }
    return NULL;
}

bool sl_tally_complete(const struct sl_tally *t, const struct sl_json *job)
{
    if (sl_json_path(job, "spec.completions") == NULL) {
        return t->succeeded > 0 && t->live + t->ending == 0;
    }
    return (t->index_count > 0 ? t->done : t->succeeded) >= completions_of(job);
}

int64_t sl_tally_wanted(const struct sl_tally *t, const struct sl_json *job)
{
    int64_t parallelism = sl_json_path_int(job, "spec.parallelism", 1);
    if (sl_json_path(job, "spec.completions") == NULL) {
        int64_t live = t->live < parallelism ? t->live : parallelism;
        return t->succeeded > 0 ? live : parallelism;
    }
    int64_t over = t->index_count > 0 ? t->done + t->failed_indexes : t->succeeded;
    int64_t left = completions_of(job) - over;
    left = left < 0 ? 0 : left;
    return left < parallelism ? left : parallelism;
}

static int64_t due_after(int64_t failures, int64_t last_ms)
{
    int64_t pause_ms = SL_RETRY_FIRST_MS;
    if (failures == 0 || last_ms == INT64_MIN) {
        return INT64_MIN;
    }
    for (int64_t i = 1; i < failures && pause_ms < SL_RETRY_MS_MAX; i++) {
        pause_ms *= 2;
    }
    return last_ms + (pause_ms < SL_RETRY_MS_MAX ? pause_ms : SL_RETRY_MS_MAX);
}

bool sl_tally_next(const struct sl_tally *t, const struct sl_json *job, int64_t *index,
                   int64_t *due_ms)
{
    *due_ms = due_after(t->failures, t->last_ms);
    if (t->index_count == 0) {
        *index = -1;
        return true;
    }
    for (int64_t i = *index; i < t->index_count; i++) {
        const struct sl_index *at = &t->indexes[i];
        if (!at->done && !at->live && !sl_tally_given_up(t, job, i)) {
            *index = i;
            if (has_limit_per_index(t, job)) {
                *due_ms = due_after(at->failures, at->failures > 0 ? at->last_ms : INT64_MIN);
            }
            return true;
        }
    }
    return false;
}

/* --- the status ----------------------------------------------------------------------------------------- */

/* `key` is absent rather than 0, unless it is `ready`. */
static bool set_count(struct sl_json *status, const char *key, int64_t n)
{
    bool zero = strcmp(key, "ready") == 0;
    if (sl_json_path_int(status, key, zero ? -1 : 0) == n) {
        return false;
    }
    if (n == 0 && !zero) {
        sl_json_remove(status, key);
    } else {
        sl_json_set_int(status, key, n);
    }
    return true;
}

static bool set_indexes(const struct sl_tally *t, const struct sl_json *job, struct sl_json *status,
                        const char *key, bool failed)
{
    struct sl_buf list = {0};
    for (int64_t first = 0; first < t->index_count; first++) {
        int64_t end = first;
        while (end < t->index_count &&
               (failed ? sl_tally_given_up(t, job, end) : t->indexes[end].done)) {
            end++;
        }
        if (end > first) {
            sl_job_print_indexes(&list, first, end - 1);
            first = end;
        }
    }
    bool differs = list.len > 0 && strcmp(sl_json_path_text(status, key, ""), list.data) != 0;
    if (differs) {
        sl_json_set_text(status, key, list.data);
    }
    sl_buf_fini(&list);
    return differs;
}

bool sl_tally_write(const struct sl_tally *t, struct sl_json *job)
{
    struct sl_json *status = sl_json_path_make(job, "status");
    bool changed = set_count(status, "active", t->live + t->ending);
    changed = set_count(status, "terminating", t->ending) || changed;
    changed = set_count(status, "ready", t->ready) || changed;
    changed =
        set_count(status, "succeeded", t->index_count > 0 ? t->done : t->succeeded) || changed;
    changed = set_count(status, "failed", t->failed) || changed;
    changed = set_indexes(t, job, status, "completedIndexes", false) || changed;
    if (has_limit_per_index(t, job)) {
        changed = set_indexes(t, job, status, "failedIndexes", true) || changed;
    }
    return changed;
}
