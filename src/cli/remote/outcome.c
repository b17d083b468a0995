/* SPDX-License-Identifier: Apache-2.0
 * SPDX-FileCopyrightText: The Sluice authors */

/* Until a Job has ended: what its pods print, and with which code its program ends. */
#include "cli/remote/outcome.h"
#include "base/check.h"
#include "base/clock.h"
#include "base/map.h"
#include "cli/remote/tails.h"
#include "cli/remote/watches.h"
#include "controllers/jobs/job.h"
#include <stdio.h>
#include <string.h>
#include <unistd.h>

#define GOES_ON "follow"
#define QUIET_MS 1000 /* with nothing to print */
#define PRINT_MS 50   /* between two looks at the objects while something is printed */
#define REST_MS 10000 /* for what is left to print after the end */
#define RETRY_MS 500
#define RETRIES_MAX 120u

struct waiting {
    const struct sl_outcome_wish *wish;
    struct sl_watches *watches;
    struct sl_tails *tails;
    struct sl_map *tailed; /* UIDs of pods */
    bool ended, ran;
    int status;
};

static void pods_path(const struct waiting *f, struct sl_buf *path)
{
    sl_buf_print(path,
                 "/api/v1/namespaces/%s/pods?labelSelector=batch.kubernetes.io/job-name%%3D%s",
                 sl_object_namespace(f->wish->job), sl_object_name(f->wish->job));
}

/* --- how it has ended ---------------------------------------------------------------------------------- */

/* Of the first container of the pod that did not end well; 0: none. */
static int code_of_pod(const struct sl_json *pod)
{
    const struct sl_json *list = sl_json_path(pod, "status.containerStatuses");
    for (size_t i = 0; i < sl_json_len(list); i++) {
        int64_t code = sl_json_path_int(sl_json_at(list, i), "state.terminated.exitCode", 0);
        if (code != 0) {
            return code > 0 && code < 256 ? (int)code : 1;
        }
    }
    return 0;
}

/* A list of them, or NULL. */
static struct sl_json *pods_now_new(const struct waiting *f)
{
    struct sl_buf path = {0};
    struct sl_json *list = NULL;
    pods_path(f, &path);
    (void)sl_remote_get(f->wish->remote, path.data, &list, NULL);
    sl_buf_fini(&path);
    return list;
}

/* Of a failed Job; 1 where no pod says it. */
static int code_of_job(const struct waiting *f)
{
    int code = 0;
    struct sl_json *list = pods_now_new(f);
    const struct sl_json *items = sl_json_get(list, "items");
    for (size_t i = 0; i < sl_json_len(items) && code == 0; i++) {
        code = code_of_pod(sl_json_at(items, i));
    }
    sl_json_free(list);
    return code == 0 ? 1 : code;
}

static void end(struct waiting *f, int status, const char *how, const char *message)
{
    f->ended = true;
    f->status = status;
    if (!f->wish->quiet && status != 0) {
        fprintf(stderr, "job/%s %s%s%s\n", sl_object_name(f->wish->job), how,
                message[0] == '\0' ? "" : ": ", message);
    }
}

static void look_at_job(struct waiting *f, const struct sl_json *jobs)
{
    bool success = false;
    const char *message = "";
    const struct sl_json *job = sl_json_len(jobs) == 0 ? NULL : sl_json_at(jobs, 0);
    if (job == NULL || strcmp(sl_object_uid(job), sl_object_uid(f->wish->job)) != 0) {
        end(f, 1, "was deleted", "");
    } else if (sl_job_finished(job, &success, &message)) {
        end(f, success ? 0 : code_of_job(f), "failed", success ? "" : message);
    }
    f->ran = f->ended && sl_json_path(job, "status.startTime") != NULL;
}

/* --- what it prints ------------------------------------------------------------------------------------ */

static bool has_begun(const struct sl_json *pod)
{
    const char *phase = sl_json_path_text(pod, "status.phase", "Pending");
    return strcmp(phase, "Pending") != 0;
}

static void tail(struct waiting *f, const struct sl_json *pod)
{
    struct sl_buf path = {0}, prefix = {0};
    const char *index = sl_object_annotation(pod, SL_LABEL_INDEX);
    sl_buf_print(&path, "/api/v1/namespaces/%s/pods/%s/log?" GOES_ON "=true",
                 sl_object_namespace(pod), sl_object_name(pod));
    sl_buf_text(&prefix, "");
    if (f->wish->several && index != NULL) {
        sl_buf_print(&prefix, "[%s] ", index);
    }
    if (sl_tails_add(f->tails, path.data, prefix.data)) {
        sl_map_put(f->tailed, sl_object_uid(pod), (union sl_map_value){.number = 1});
    }
    sl_buf_fini(&path);
    sl_buf_fini(&prefix);
}

static void look_at_pods(struct waiting *f, const struct sl_json *pods)
{
    union sl_map_value known;
    for (size_t i = 0; i < sl_json_len(pods); i++) {
        const struct sl_json *pod = sl_json_at(pods, i);
        if (has_begun(pod) && !sl_map_get(f->tailed, sl_object_uid(pod), &known)) {
            tail(f, pod);
        }
    }
}

/* Once its Job has ended; asks again, since of pods one may be told later than of their Job. */
static void look_at_last_pods(struct waiting *f)
{
    struct sl_json *list = pods_now_new(f);
    look_at_pods(f, sl_json_get(list, "items"));
    if (f->ran && list != NULL && sl_json_len(sl_json_get(list, "items")) == 0) {
        fprintf(stderr,
                "sluicectl: job/%s has run without pods, and printed nothing: standalone mode "
                "simulates it\n",
                sl_object_name(f->wish->job));
    }
    sl_json_free(list);
}

static void look(struct waiting *f)
{
    struct sl_json *jobs = sl_watches_items_new(f->watches, 0);
    struct sl_json *pods = f->wish->logs ? sl_watches_items_new(f->watches, 1) : NULL;
    if (!f->ended) {
        look_at_job(f, jobs);
    }
    if (f->wish->logs) {
        look_at_pods(f, pods);
    }
    sl_json_free(jobs);
    sl_json_free(pods);
}

/* --- all of it ----------------------------------------------------------------------------------------- */

static void print_rest(struct waiting *f)
{
    look_at_last_pods(f);
    int64_t until_ms = sl_clock_now_ms() + REST_MS;
    while (sl_tails_count(f->tails) > 0 && sl_clock_now_ms() <= until_ms) {
        sl_tails_wait(f->tails, PRINT_MS);
    }
}

static enum sl_code wait_for_end(struct waiting *f, struct sl_error *e)
{
    unsigned tries = 0;
    while (!f->ended) {
        bool prints = sl_tails_count(f->tails) > 0;
        sl_error_clear(e);
        enum sl_code code = sl_watches_wait(f->watches, -1, prints ? PRINT_MS : QUIET_MS, e);
        if (code == SL_CODE_OK) {
            tries = 0;
            look(f);
        } else if (code != SL_CODE_UNAVAILABLE || ++tries == RETRIES_MAX) {
            return code;
        } else {
            usleep(RETRY_MS * 1000);
        }
        sl_tails_wait(f->tails, prints ? PRINT_MS : 0);
    }
    if (f->wish->logs) {
        print_rest(f);
    }
    return SL_CODE_OK;
}

enum sl_code sl_outcome_wait(const struct sl_outcome_wish *wish, int *status, struct sl_error *e)
{
    SL_PRE(wish != NULL && status != NULL && e != NULL);
    struct sl_buf jobs = {0}, pods = {0};
    struct waiting f = {.wish = wish,
                        .watches = sl_watches_new(wish->remote),
                        .tails = sl_tails_new(wish->remote),
                        .tailed = sl_map_new()};
    sl_buf_print(&jobs, "/apis/batch/v1/namespaces/%s/jobs?fieldSelector=metadata.name%%3D%s",
                 sl_object_namespace(wish->job), sl_object_name(wish->job));
    sl_watches_add(f.watches, jobs.data);
    if (wish->logs) {
        pods_path(&f, &pods);
        sl_watches_add(f.watches, pods.data);
    }
    enum sl_code code = wait_for_end(&f, e);
    *status = f.status;
    sl_tails_free(f.tails);
    sl_watches_free(f.watches);
    sl_map_free(f.tailed);
    sl_buf_fini(&jobs);
    sl_buf_fini(&pods);
    return code;
}
