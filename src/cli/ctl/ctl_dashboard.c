/* SPDX-License-Identifier: Apache-2.0
 * SPDX-FileCopyrightText: The Sluice authors */

/* sluicectl dashboard: follows Workloads and ClusterQueues by watches and draws until q, a signal, or the end of all
 * workloads. A connection that is lost is looked for again. */
#include "base/check.h"
#include "base/clock.h"
#include "cli/remote/watches.h"
#include "cli/screen/board.h"
#include "cli/screen/keys.h"
#include "cli/screen/screen.h"
#include "cli/screen/view.h"
#include "cli/ctl/ctl.h"
#include "controllers/jobs/job.h"
#include <string.h>
#include <unistd.h>

#define FRAME_MS 500
#define LINE_MS 1000
#define FETCH_MS 500 /* reasons are not asked for more often */
#define RETRY_US 500000
#define STILL_MS 5000  /* nothing runs and nothing changes: what waits will go on waiting */
#define TITLE_LINES 3u /* with an empty one at the end */
#define FIXED_LINES                                                                                \
    11u /* of the first picture, those that scroll not: a page skips none of the others */

enum { WORKLOADS, QUEUES };

struct dashboard {
    struct sl_ctl *c;
    struct sl_watches *watches;
    struct sl_board board;
    struct sl_view view;
    bool terminal;
    bool known; /* the board has been filled */
    bool stale; /* something has changed since */
    bool lost;  /* the connection, which was there before */
    int64_t start_ms, shown_ms, fetched_ms;
    int64_t still_ms;    /* since when nothing runs or changes */
    struct sl_error why; /* it is lost */
};

/* --- what is shown ------------------------------------------------------------------------------------- */

static enum sl_code fill(struct dashboard *d, struct sl_error *e)
{
    struct sl_json *workloads = sl_watches_items_new(d->watches, WORKLOADS);
    struct sl_json *queues = sl_watches_items_new(d->watches, QUEUES);
    enum sl_code code =
        sl_ctl_freshen(d->c, workloads, queues, SL_BOARD_WAITING_MAX, SL_BOARD_WAITING_MAX, e);
    if (code == SL_CODE_OK) {
        sl_board_fill(&d->board, workloads, queues, d->view.filter);
        d->known = true;
        d->stale = false;
        d->fetched_ms = sl_clock_now_ms();
    }
    sl_json_free(workloads);
    sl_json_free(queues);
    return code;
}

static void show_title(const struct dashboard *d, double seconds, struct sl_buf *text)
{
    struct sl_buf title = {0};
    sl_buf_print(&title, "Sluice at %s, %.0f s; q ends, / filters, arrows scroll",
                 sl_remote_server(d->c->remote), seconds);
    if (d->view.typing) {
        sl_buf_reset(&title);
        sl_buf_print(&title, "/%s_", d->view.filter);
    } else if (d->view.filter[0] != '\0') {
        sl_buf_reset(&title);
        sl_buf_print(&title, "only what has \"%s\" (Escape: all again)", d->view.filter);
    }
    sl_buf_print(text, "\033[H\033[J%.*s\n", (int)sl_ctl_width(), title.data);
    sl_buf_fini(&title);
}

static void show_picture(struct dashboard *d, double seconds, struct sl_buf *text)
{
    unsigned height = sl_ctl_height();
    show_title(d, seconds, text);
    if (d->lost) {
        sl_buf_print(text, "\033[33m%.*s; trying again\033[0m", (int)sl_ctl_width() - 20,
                     d->why.text);
    }
    sl_buf_text(text, "\n");
    d->view.page = height > FIXED_LINES ? height - FIXED_LINES : 0;
    sl_board_draw_from(&d->board, &d->view.top, true, sl_ctl_width(),
                       height > TITLE_LINES ? height - TITLE_LINES : 0, text);
}

static void show(struct dashboard *d)
{
    struct sl_buf text = {0};
    double seconds = (double)(sl_clock_now_ms() - d->start_ms) / 1000;
    d->shown_ms = sl_clock_now_ms();
    if (d->terminal) {
        show_picture(d, seconds, &text);
    } else if (!d->lost) {
        sl_buf_print(&text, "%5.1f s  ", seconds);
        sl_board_line(&d->board, &text);
        sl_buf_text(&text, "\n");
    }
    sl_screen_paint(&text);
    fflush(stdout);
    sl_buf_fini(&text);
}

/* --- its end ------------------------------------------------------------------------------------------- */

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

/* Whether what is left can only wait: for quota that does not exist, or for a queue. */
static bool is_still(struct dashboard *d, const unsigned before[static SL_BOARD_PHASES])
{
    const struct sl_board *b = &d->board;
    bool runs = b->count[SL_BOARD_RESERVED] + b->count[SL_BOARD_ADMITTED] > 0;
    if (runs || memcmp(b->count, before, sizeof b->count) != 0) {
        d->still_ms = sl_clock_now_ms();
    }
    return sl_clock_now_ms() - d->still_ms >= STILL_MS;
}

static void summary(const struct dashboard *d, bool still)
{
    if (still) {
        printf("%u of %u workloads have finished; the others cannot start at present: see "
               "sluicectl pending and the events of its Jobs.\n",
               d->board.count[SL_BOARD_FINISHED], d->board.total);
        return;
    }
    printf("All %u workloads have finished after %.0f s.\n", d->board.total,
           (double)(sl_clock_now_ms() - d->start_ms) / 1000);
}

/* --- turns --------------------------------------------------------------------------------------------- */

/* Waits for changes, but not longer than for the next picture. */
static enum sl_code turn(struct dashboard *d, struct sl_error *e)
{
    int64_t every_ms = d->terminal ? FRAME_MS : LINE_MS;
    int64_t left_ms = d->shown_ms + every_ms - sl_clock_now_ms();
    enum sl_code code = sl_watches_wait(d->watches, sl_keys_fd(), left_ms < 0 ? 0 : left_ms, e);
    d->stale = sl_watches_changed(d->watches) || d->stale;
    bool due = !d->known || (d->stale && sl_clock_now_ms() - d->fetched_ms >= FETCH_MS);
    if (code == SL_CODE_OK && due) {
        code = fill(d, e);
    }
    return code;
}

/* Before the first picture it is the end: the server is not there, or does not serve this. */
static bool lose(struct dashboard *d, const struct sl_error *e)
{
    bool first = !d->lost;
    d->lost = true;
    d->why = *e;
    if (first && d->known && !d->terminal) {
        fprintf(stderr, "sluicectl: %s; trying again\n", e->text);
    }
    usleep(d->known ? RETRY_US : 0);
    return d->known;
}

/* False: the person wants it to end. */
static bool take_keys(struct dashboard *d)
{
    enum sl_view_change change = SL_VIEW_SAME;
    for (char key = sl_keys_take(); key != '\0' && change != SL_VIEW_QUIT; key = sl_keys_take()) {
        enum sl_view_change one = sl_view_key(&d->view, key);
        change = one > change ? one : change;
    }
    if (change == SL_VIEW_SAME) {
        change = sl_view_pause(&d->view);
    }
    struct sl_error e = {0};
    if (change == SL_VIEW_FILTERED && !d->lost) {
        (void)fill(d, &e); /* what fails now is said in the next turn */
    }
    if (change != SL_VIEW_SAME) {
        d->shown_ms = 0;
    }
    return change != SL_VIEW_QUIT;
}

/* The exit code. */
static int run(struct dashboard *d)
{
    for (;;) {
        struct sl_error e = {0};
        unsigned before[SL_BOARD_PHASES];
        memcpy(before, d->board.count, sizeof before);
        if (turn(d, &e) == SL_CODE_OK) {
            d->lost = false;
        } else if (!lose(d, &e)) {
            return sl_ctl_failed("", &e);
        }
        if (!take_keys(d) || sl_keys_ended()) {
            return 0;
        }
        if (sl_clock_now_ms() - d->shown_ms >= (d->terminal ? FRAME_MS : LINE_MS)) {
            show(d);
        }
        bool still = !d->lost && is_still(d, before);
        bool done = !d->lost && d->board.count[SL_BOARD_FINISHED] == d->board.total;
        if (!d->c->until_done || (!done && !still)) {
            continue;
        }
        if (!done || (jobs_done(d->c, &done, &e) == SL_CODE_OK && done)) {
            show(d);
            summary(d, !done);
            return 0;
        }
    }
}

static int print_once(struct dashboard *d)
{
    struct sl_error e = {0};
    if (turn(d, &e) != SL_CODE_OK) {
        return sl_ctl_failed("", &e);
    }
    struct sl_json *data = sl_board_json_new(&d->board);
    sl_ctl_print_value(d->c, data);
    sl_json_free(data);
    return 0;
}

static void watch_kind(struct dashboard *d, enum sl_kind kind)
{
    struct sl_buf path = {0};
    sl_ctl_path(kind, "", "", &path);
    sl_watches_add(d->watches, path.data);
    sl_buf_fini(&path);
}

int sl_ctl_dashboard(struct sl_ctl *c)
{
    SL_PRE(c != NULL);
    if (c->arguments.count > 0) {
        return sl_ctl_misused("dashboard takes no arguments");
    }
    int64_t now_ms = sl_clock_now_ms();
    struct dashboard d = {.c = c,
                          .watches = sl_watches_new(c->remote),
                          .terminal = isatty(STDOUT_FILENO) && !c->plain,
                          .start_ms = now_ms,
                          .still_ms = now_ms};
    watch_kind(&d, SL_KIND_WORKLOAD);
    watch_kind(&d, SL_KIND_CLUSTER_QUEUE);
    if (d.terminal && !sl_ctl_is_data(c)) {
        sl_keys_open();
    }
    int status = sl_ctl_is_data(c) ? print_once(&d) : run(&d);
    sl_keys_close();
    sl_watches_free(d.watches);
    return status;
}
