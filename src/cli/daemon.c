/* SPDX-License-Identifier: Apache-2.0
 * SPDX-FileCopyrightText: The Sluice authors */

/* The standalone daemon. */
#include "cli/daemon.h"
#include "base/buf.h"
#include "base/check.h"
#include "base/clock.h"
#include "cli/pages.h"
#include "cli/version.h"
#include "controllers/controllers.h"
#include "server/server.h"
#include <signal.h>
#include <string.h>
#include <uv.h>

#define TIMER_MS_MAX 60000   /* a clock that jumps is noticed within a minute */
#define TURN_MS 15           /* of controllers' work, then requests get their turn */
#define COMMITS_AT_END_MAX 8 /* writes that answers of the last batch led to */

/* A terminal that is closed ends the daemon like Ctrl-C does. */
static const struct {
    int number;
    const char *name;
} ending[] = {{SIGINT, "SIGINT"}, {SIGTERM, "SIGTERM"}, {SIGHUP, "SIGHUP"}};
#define SIGNAL_COUNT (sizeof ending / sizeof ending[0])

struct daemon {
    uv_loop_t loop;
    uv_idle_t busy; /* active while there is work: the loop then does not sleep */
    uv_timer_t timer;
    uv_signal_t signals[SIGNAL_COUNT];
    struct sl_store *store;
    struct sl_engine *engine;
    struct sl_controllers *controllers;
    struct sl_server *server;
    struct sl_pages pages;
    bool stopping;
};

static void on_busy(uv_idle_t *handle);

static void keep_turning(void *context)
{
    struct daemon *d = context;
    if (!d->stopping) {
        uv_idle_start(&d->busy, on_busy);
    }
}

static void on_timer(uv_timer_t *handle)
{
    keep_turning(handle->data);
}

static void set_timer(struct daemon *d)
{
    int64_t due_ms = sl_controllers_due_ms(d->controllers);
    int64_t now_ms = sl_clock_now_ms();
    int64_t wait_ms = due_ms <= now_ms ? 0 : due_ms - now_ms;
    if (wait_ms < 0 || wait_ms > TIMER_MS_MAX) {
        wait_ms = TIMER_MS_MAX;
    }
    uv_update_time(&d->loop);
    uv_timer_start(&d->timer, on_timer, (uint64_t)wait_ms, 0);
}

/* The controllers' share of a turn: what it stages is made durable together. */
static void on_busy(uv_idle_t *handle)
{
    struct daemon *d = handle->data;
    uint64_t start_ns = uv_hrtime();
    do {
        if (!sl_controllers_step(d->controllers, sl_clock_now_ms())) {
            uv_idle_stop(&d->busy);
            set_timer(d);
            return;
        }
    } while (uv_hrtime() - start_ns < (uint64_t)TURN_MS * 1000000u);
}

/* Answers may have led to new decisions, or more may be staged. */
static void on_commit(void *context, enum sl_code code, const struct sl_error *e)
{
    (void)code;
    (void)e;
    keep_turning(context);
}

static void close_handle(uv_handle_t *handle)
{
    if (!uv_is_closing(handle)) {
        uv_close(handle, NULL);
    }
}

static void on_signal(uv_signal_t *handle, int number)
{
    struct daemon *d = handle->data;
    if (d->stopping) {
        return;
    }
    d->stopping = true;
    for (size_t i = 0; i < SIGNAL_COUNT; i++) {
        if (ending[i].number == number) {
            sl_log(SL_LOG_INFO, "stopping", "signal", ending[i].name, NULL);
        }
    }
    sl_server_stop(d->server);
    for (int i = 0; i < COMMITS_AT_END_MAX && sl_store_dirty(d->store); i++) {
        (void)sl_store_commit(d->store, NULL);
    }
    close_handle((uv_handle_t *)&d->busy);
    close_handle((uv_handle_t *)&d->timer);
    for (size_t i = 0; i < SIGNAL_COUNT; i++) {
        close_handle((uv_handle_t *)&d->signals[i]);
    }
}

static void init_handles(struct daemon *d)
{
    uv_idle_init(&d->loop, &d->busy);
    uv_timer_init(&d->loop, &d->timer);
    d->busy.data = d->timer.data = d;
    for (size_t i = 0; i < SIGNAL_COUNT; i++) {
        uv_signal_init(&d->loop, &d->signals[i]);
        d->signals[i].data = d;
        uv_signal_start(&d->signals[i], on_signal, ending[i].number);
    }
}

static enum sl_code start_server(struct daemon *d, const struct sl_daemon_options *options,
                                 struct sl_error *e)
{
    const struct sl_server_hook hooks[] = {{"/metrics", sl_pages_metrics, &d->pages},
                                           {"/readyz", sl_pages_ready, &d->pages},
                                           {SL_PAGES_VISIBILITY, sl_pages_visibility, &d->pages}};
    const struct sl_server_options o = {.listen = options->listen,
                                        .allow_remote = options->allow_remote,
                                        .hooks = hooks,
                                        .hook_count = sizeof hooks / sizeof hooks[0],
                                        .version = SL_VERSION};
    return sl_server_start(&d->loop, d->store, &o, &d->server, e);
}

static void log_start(const struct daemon *d, const struct sl_daemon_options *options)
{
    sl_log(SL_LOG_INFO, "limits", "workloads", sl_log_number(SL_WORKLOADS_MAX), "quota_nodes",
           sl_log_number(SL_NODES_MAX), "quota_cells", sl_log_number(SL_CELLS_MAX), "cohort_depth",
           sl_log_number(SL_LEVELS_MAX), "claims_per_workload", sl_log_number(SL_CLAIMS_MAX),
           "checks_per_workload", sl_log_number(SL_CHECKS_MAX), "events_kept",
           sl_log_number(SL_EVENTS_KEPT_MAX), "events_per_s", sl_log_number(SL_EVENTS_PER_S), NULL);
    sl_log(SL_LOG_INFO, "listening", "listen", options->listen, "port",
           sl_log_number(sl_server_port(d->server)), "data", options->data_dir, "version",
           SL_VERSION, NULL);
}

static void start_controllers(struct daemon *d, bool keep_requests)
{
    struct sl_controllers_options options = {.engine = d->engine,
                                             .run_jobs = true,
                                             .keep_requests = keep_requests,
                                             .kick = keep_turning,
                                             .kick_context = d};
    sl_store_client(d->store, keep_turning, d, &options.client);
    d->controllers = sl_controllers_new(&options);
    d->pages = (struct sl_pages){
        .client = options.client, .engine = d->engine, .controllers = d->controllers};
}

static enum sl_code open_all(struct daemon *d, const struct sl_daemon_options *options,
                             const struct sl_engine_settings *settings, struct sl_error *e)
{
    struct sl_engine_options engine_options = {.journal_dir = options->data_dir,
                                               .settings = settings};
    enum sl_code code = sl_store_open(options->data_dir, &d->store, e);
    if (code != SL_CODE_OK) {
        return code;
    }
    code = sl_engine_open(&engine_options, &d->engine, e);
    if (code != SL_CODE_OK) {
        return code;
    }
    start_controllers(d, options->keep_requests);
    return start_server(d, options, e);
}

static void close_all(struct daemon *d)
{
    if (d->store != NULL) {
        sl_store_close(d->store); /* first: nothing arrives at the controllers any more */
    }
    sl_controllers_free(d->controllers);
    if (d->engine != NULL) {
        sl_engine_close(d->engine);
    }
}

enum sl_code sl_daemon_run(const struct sl_daemon_options *options,
                           const struct sl_engine_settings *settings, struct sl_error *e)
{
    static struct daemon d;
    signal(SIGPIPE, SIG_IGN);
    signal(SIGXFSZ, SIG_IGN); /* a file at its size limit is a failed write, as a full disk is */
    if (uv_loop_init(&d.loop) != 0) {
        return sl_error_set(e, SL_CODE_INTERNAL, "the event loop could not be created");
    }
    enum sl_code code = open_all(&d, options, settings, e);
    if (code == SL_CODE_OK) {
        init_handles(&d);
        sl_store_listen(d.store, on_commit, &d);
        log_start(&d, options);
        sl_controllers_start(d.controllers);
        keep_turning(&d);
        uv_run(&d.loop, UV_RUN_DEFAULT);
        sl_store_unlisten(d.store, on_commit, &d);
        sl_log(SL_LOG_INFO, "stopped", NULL);
    }
    close_all(&d);
    (void)uv_loop_close(&d.loop);
    return code;
}
