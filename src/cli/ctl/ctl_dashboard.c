/* SPDX-License-Identifier: Apache-2.0
 * SPDX-FileCopyrightText: The Sluice authors */

/* sluicectl dashboard: fetches, counts and draws until interrupted, or until every workload has finished. */
#include "base/clock.h"
#include "cli/screen/screen.h"
#include "cli/screen/board.h"
#include "cli/ctl/ctl.h"
#include "controllers/jobs/job.h"
#include <string.h>
#include <unistd.h>

#define FRAME_MS 500
#define LINE_MS 1000
#define STILL_MS 5000 /* nothing runs and nothing changes: what waits will go on waiting */

struct lists {
    struct sl_json *workloads, *queues;
};

static enum sl_code fetch(struct sl_ctl *c, struct sl_board *board, struct sl_error *e)
{
    struct lists l = {0};
    enum sl_code code = sl_ctl_fetch_list(c, SL_KIND_WORKLOAD, &l.workloads, e);
    code = code == SL_CODE_OK ? sl_ctl_fetch_list(c, SL_KIND_CLUSTER_QUEUE, &l.queues, e) : code;
    if (code == SL_CODE_OK) {
        code = sl_ctl_freshen(c, sl_json_get(l.workloads, "items"), sl_json_get(l.queues, "items"),
                              SL_BOARD_WAITING_MAX, SL_BOARD_WAITING_MAX, e);
    }
    if (code == SL_CODE_OK) {
        sl_board_fill(board, sl_json_get(l.workloads, "items"), sl_json_get(l.queues, "items"));
    }
    sl_json_free(l.workloads);
    sl_json_free(l.queues);
    return code;
}

/* A Job whose Workload does not exist yet counts as well. */
static enum sl_code jobs_done(struct sl_ctl *c, bool *done, struct sl_error *e)
{
    struct sl_json *jobs = NULL;
    enum sl_code code = sl_ctl_fetch_list(c, SL_KIND_JOB, &jobs, e);
    const struct sl_json *items = sl_json_get(jobs, "items");
    *done = code == SL_CODE_OK;
    for (size_t i = 0; i < sl_json_len(items); i++) {
        bool success;
        const char *message;
        const struct sl_json *job = sl_json_at(items, i);
        *done = *done && (sl_job_queue(job) == NULL || sl_job_finished(job, &success, &message));
    }
    sl_json_free(jobs);
    return code;
}

static void show(const struct sl_ctl *c, const struct sl_board *board, bool terminal,
                 int64_t start_ms)
{
    struct sl_buf text = {0};
    double seconds = (double)(sl_clock_now_ms() - start_ms) / 1000;
    if (terminal) {
        sl_buf_print(&text, "\033[H\033[JSluice at %s, %.0f s\n\n", sl_remote_server(c->remote),
                     seconds);
        sl_board_draw(board, true, sl_ctl_width(), &text);
    } else {
        sl_buf_print(&text, "%5.1f s  ", seconds);
        sl_board_line(board, &text);
        sl_buf_text(&text, "\n");
    }
    sl_screen_paint(&text);
    fflush(stdout);
    sl_buf_fini(&text);
}

/* Whether what is left can only wait: for quota that does not exist, or for a queue. *since_ms is when the counts
 * last changed, or when something last ran. */
static bool is_still(const struct sl_board *now, const struct sl_board *before, int64_t *since_ms)
{
    bool runs = now->count[SL_BOARD_RESERVED] + now->count[SL_BOARD_ADMITTED] > 0;
    if (runs || memcmp(now->count, before->count, sizeof now->count) != 0) {
        *since_ms = sl_clock_now_ms();
    }
    return sl_clock_now_ms() - *since_ms >= STILL_MS;
}

static void summary(const struct sl_board *board, bool still, int64_t start_ms)
{
    if (still) {
        printf("%u of %u workloads have finished; the others cannot start at present: see "
               "sluicectl pending and the events of its Jobs.\n",
               board->count[SL_BOARD_FINISHED], board->total);
        return;
    }
    printf("All %u workloads have finished after %.0f s.\n", board->total,
           (double)(sl_clock_now_ms() - start_ms) / 1000);
}

int sl_ctl_dashboard(struct sl_ctl *c)
{
    struct sl_board board = {0}, before;
    struct sl_error e = {0};
    bool terminal = isatty(STDOUT_FILENO) && !c->plain;
    int64_t start_ms = sl_clock_now_ms(), still_ms = start_ms;
    if (c->arguments.count > 0) {
        return sl_ctl_misused("dashboard takes no arguments");
    }
    for (;;) {
        int64_t frame_ms = sl_clock_now_ms();
        before = board;
        if (fetch(c, &board, &e) != SL_CODE_OK) {
            return sl_ctl_failed("", &e);
        }
        show(c, &board, terminal, start_ms);
        bool done = c->until_done && board.count[SL_BOARD_FINISHED] == board.total;
        if (done && jobs_done(c, &done, &e) != SL_CODE_OK) {
            return sl_ctl_failed("", &e);
        }
        bool still = is_still(&board, &before, &still_ms) && c->until_done;
        if (done || still) {
            summary(&board, !done, start_ms);
            return 0;
        }
        /* Long lists take long to fetch: never spend more than a quarter of the time on it. */
        int64_t spent_ms = sl_clock_now_ms() - frame_ms;
        int64_t pause_ms = terminal ? FRAME_MS : LINE_MS;
        usleep((useconds_t)((pause_ms > 3 * spent_ms ? pause_ms : 3 * spent_ms) * 1000));
    }
}
