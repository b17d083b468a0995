/* SPDX-License-Identifier: Apache-2.0
 * SPDX-FileCopyrightText: The Sluice authors */

/* Reading and changing batch/v1 Jobs. */
#include "controllers/jobs/job.h"
#include "api/validate/topology_request.h"
#include "base/check.h"
#include "base/mem.h"
#include "controllers/work/template.h"
#include <ctype.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* --- what a Job says ----------------------------------------------------------------------------------- */

bool sl_job_suspended(const struct sl_json *job)
{
    return sl_json_path_bool(job, "spec.suspend", false);
}

int64_t sl_job_active(const struct sl_json *job)
{
    return sl_json_path_int(job, "status.active", 0);
}

int64_t sl_job_pods(const struct sl_json *job)
{
    int64_t parallelism = sl_json_path_int(job, "spec.parallelism", 1);
    int64_t completions = sl_json_path_int(job, "spec.completions", parallelism);
    return completions < parallelism ? completions : parallelism;
}

bool sl_job_pods_ready(const struct sl_json *job)
{
    int64_t ready = sl_json_path_int(job, "status.ready", 0);
    const struct sl_json *uncounted = sl_json_path(job, "status.uncountedTerminatedPods.succeeded");
    return sl_json_path_int(job, "status.succeeded", 0) + ready + (int64_t)sl_json_len(uncounted) >=
           sl_job_pods(job);
}

bool sl_job_indexed(const struct sl_json *job)
{
    return strcmp(sl_json_path_text(job, "spec.completionMode", ""), "Indexed") == 0;
}

bool sl_job_finished(const struct sl_json *job, bool *success, const char **message)
{
    bool failed = sl_condition_true(job, "Failed");
    if (!failed && !sl_condition_true(job, "Complete")) {
        return false;
    }
    const struct sl_json *condition = sl_condition_find(job, failed ? "Failed" : "Complete");
    *success = !failed;
    *message = sl_json_text(sl_json_get(condition, "message"), "");
    return true;
}

int64_t sl_job_min_pods(const struct sl_json *job)
{
    int64_t value = sl_number_in(sl_object_annotation(job, SL_ANNOTATION_MIN_PODS));
    bool fewer = value < sl_json_path_int(job, "spec.parallelism", 1) && value < sl_job_pods(job);
    return fewer ? value : 0;
}

void sl_job_set_pods(struct sl_json *job, int64_t pods)
{
    const char *equal = sl_object_annotation(job, SL_ANNOTATION_COMPLETIONS);
    struct sl_json *spec = sl_json_path_make(job, "spec");
    sl_json_set_int(spec, "parallelism", pods);
    if (equal != NULL && strcmp(equal, "true") == 0) {
        sl_json_set_int(spec, "completions", pods);
    }
}

/* --- pods that have ended for good --------------------------------------------------------------------- */

struct interval {
    int64_t first, last;
};

/* Reads "3" or "3-5" and the comma behind it; false when it is neither, descends, or goes beyond what indexes there
 * are. */
static bool read_interval(const char **text, struct interval *out)
{
    char *end;
    const char *begin = *text;
    out->first = out->last = strtoll(begin, &end, 10);
    bool good = isdigit((unsigned char)begin[0]);
    if (good && *end == '-') {
        good = isdigit((unsigned char)end[1]);
        out->last = strtoll(end + 1, &end, 10);
    }
    good =
        good && (*end == ',' || *end == '\0') && out->first <= out->last && out->last <= INT32_MAX;
    *text = begin + strcspn(begin, ",");
    *text += **text == ',';
    return good;
}

static size_t read_intervals(const char *list, struct interval *out)
{
    size_t count = 0;
    while (*list != '\0') {
        count += read_interval(&list, &out[count]);
    }
    return count;
}

static int compare_intervals(const void *a, const void *b)
{
    const struct interval *x = a;
    const struct interval *y = b;
    return x->first < y->first ? -1 : x->first > y->first;
}

/* Both lists may name the same, and either of them in any order. */
int64_t sl_job_count_indexes(const char *completed, const char *failed, int64_t end)
{
    size_t room = strlen(completed) / 2 + strlen(failed) / 2 + 2; /* a digit and a comma each */
    struct interval *all = sl_mem_new(room, sizeof *all);
    size_t total = read_intervals(completed, all);
    total += read_intervals(failed, all + total);
    qsort(all, total, sizeof *all, compare_intervals);
    int64_t count = 0;
    int64_t at = 0;
    for (size_t i = 0; i < total; i++) {
        int64_t from = all[i].first > at ? all[i].first : at;
        int64_t to = all[i].last < end ? all[i].last + 1 : end;
        count += to > from ? to - from : 0;
        at = to > at ? to : at;
    }
    sl_mem_free(all);
    return count;
}

void sl_job_print_indexes(struct sl_buf *list, int64_t first, int64_t last)
{
    SL_PRE(list != NULL);
    sl_buf_print(list, "%s%" PRId64, list->len > 0 ? "," : "", first);
    if (last > first) {
        sl_buf_print(list, "%c%" PRId64, last == first + 1 ? ',' : '-', last);
    }
}

int64_t sl_job_reclaimable_pods(const struct sl_json *job)
{
    int64_t parallelism = sl_json_path_int(job, "spec.parallelism", 1);
    int64_t completions = sl_json_path_int(job, "spec.completions", parallelism);
    int64_t ended =
        sl_job_indexed(job)
            ? sl_job_count_indexes(sl_json_path_text(job, "status.completedIndexes", ""),
                                   sl_json_path_text(job, "status.failedIndexes", ""), completions)
            : sl_json_path_int(job, "status.succeeded", 0);
    if (parallelism <= 1 || ended <= 0) {
        return 0;
    }
    int64_t remaining = completions > ended ? completions - ended : 0;
    int64_t pods = sl_job_pods(job);
    return remaining < pods ? pods - remaining : 0;
}

/* --- the framework ------------------------------------------------------------------------------------- */

void sl_job_own(struct sl_json *object, const struct sl_json *job)
{
    sl_framework_own(&sl_job_framework, object, job);
}

static bool is_suspended(const struct sl_framework *f, const struct sl_json *job)
{
    (void)f;
    return sl_job_suspended(job);
}

static void suspend(const struct sl_framework *f, struct sl_json *job, bool on)
{
    (void)f;
    sl_json_set_bool(sl_json_path_make(job, "spec"), "suspend", on);
}

static bool is_active(const struct sl_framework *f, const struct sl_json *job)
{
    (void)f;
    return sl_job_active(job) > 0;
}

static bool are_ready(const struct sl_framework *f, const struct sl_json *job)
{
    (void)f;
    return sl_job_pods_ready(job);
}

static bool has_finished(const struct sl_framework *f, const struct sl_json *job, bool *success,
                         const char **message)
{
    (void)f;
    return sl_job_finished(job, success, message);
}

/* Named where the pods have it and, as Kueue does, wherever they ask for a topology: without it they have no rank. */
static const char *index_label(const struct sl_json *job)
{
    struct sl_json *asked =
        sl_topology_request_new(sl_json_path(job, "spec.template.metadata.annotations"), NULL);
    bool named = sl_job_indexed(job) || asked != NULL;
    sl_json_free(asked);
    return named ? SL_LABEL_INDEX : NULL;
}

static enum sl_code read_pod_sets(const struct sl_framework *f, const struct sl_json *job,
                                  struct sl_pod_sets *out, struct sl_error *e)
{
    (void)f;
    (void)e;
    *out = (struct sl_pod_sets){.count = 1};
    out->at[0] = (struct sl_pod_set){.name = SL_POD_SET_MAIN,
                                     .count = sl_job_pods(job),
                                     .min_count = sl_job_min_pods(job),
                                     .template = sl_json_path(job, "spec.template"),
                                     .where = "spec.template",
                                     .index_label = index_label(job)};
    return SL_CODE_OK;
}

static enum sl_code inject(const struct sl_framework *f, struct sl_json *job, size_t index,
                           const struct sl_json *injection, struct sl_error *e)
{
    (void)f;
    (void)index;
    return sl_template_inject(sl_json_path_make(job, "spec.template"), injection, e);
}

static void restore(const struct sl_framework *f, struct sl_json *job, size_t index,
                    const struct sl_json *pod_set)
{
    (void)f;
    (void)index;
    if (sl_json_get(pod_set, "minCount") != NULL) {
        sl_job_set_pods(job, sl_json_path_int(pod_set, "count", sl_job_pods(job)));
    }
    sl_template_restore(sl_json_path_make(job, "spec.template"), sl_json_get(pod_set, "template"));
}

static void set_count(const struct sl_framework *f, struct sl_json *job, int64_t pods)
{
    (void)f;
    sl_job_set_pods(job, pods);
}

static int64_t reclaimable(const struct sl_framework *f, const struct sl_json *job, size_t index)
{
    (void)f;
    (void)index;
    return sl_job_reclaimable_pods(job);
}

static const char *priority_class(const struct sl_framework *f, const struct sl_json *job)
{
    (void)f;
    return sl_json_path_text(job, "spec.template.spec.priorityClassName", "");
}

const struct sl_framework sl_job_framework = {.kind = SL_KIND_JOB,
                                              .name = "batch/job",
                                              .forgets_start = true,
                                              .elastic = true,
                                              .suspended = is_suspended,
                                              .suspend = suspend,
                                              .active = is_active,
                                              .pods_ready = are_ready,
                                              .finished = has_finished,
                                              .pod_sets = read_pod_sets,
                                              .inject = inject,
                                              .restore = restore,
                                              .set_count = set_count,
                                              .reclaimable = reclaimable,
                                              .priority_class = priority_class};
