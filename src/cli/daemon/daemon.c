/* SPDX-License-Identifier: Apache-2.0
 * SPDX-FileCopyrightText: The Sluice authors */

/* The standalone daemon. */
#include "cli/daemon/daemon.h"
#include "cli/daemon/confine.h"
#include "cli/daemon/daemon_auth.h"
#include "cli/daemon/daemon_runner.h"
#include "cli/daemon/daemon_turns.h"
#include "cli/pages/foresight.h"
#include "cli/pages/metrics.h"
#include "cli/common/version.h"
#include "cli/pages/visibility.h"
#include "cli/support/dump.h"
#include "cli/ui/ui.h"
#include "base/check.h"
#include "controllers/jobs/podjob.h"
#include "server/listen.h"
#include "server/server.h"
#include <signal.h>
#include <string.h>
#include <time.h>

#define COMMITS_AT_END_MAX 8 /* writes that answers of the last batch led to */

struct daemon {
    uv_loop_t loop;
    const struct sl_daemon_options *options;
    const struct sl_engine_settings *settings;
    struct sl_turns turns;
    struct sl_store *store;
    struct sl_engine *engine;
    struct sl_controllers *controllers;
    struct sl_server *server, *local; /* the second: on a socket of the file system, or NULL */
    struct sl_daemon_auth auth;
    struct sl_daemon_runner runner; /* with --run processes */
    struct sl_pages pages;
    struct sl_foresight *foresight;
    struct sl_dump_file dump;
    uint64_t refused; /* batches of writes, by the store */
    bool refusing;    /* the last one */
    uint64_t again;   /* how often all objects were read again */
    uv_timer_t ending;
    struct sl_error damage;
};

/* Answers may have led to new decisions, or more may be staged. */
static void on_commit(void *context, enum sl_code code, const struct sl_error *e)
{
    struct daemon *d = context;
    (void)e;
    d->refusing = code != SL_CODE_OK;
    d->refused += d->refusing;
    sl_daemon_runner_committed(&d->runner);
    sl_turns_kick(&d->turns);
}

static void print_metrics(void *context, struct sl_buf *out)
{
    const struct daemon *d = context;
    sl_turns_print(&d->turns, out);
    sl_foresight_print(d->foresight, out);
    sl_metrics_value(out, "sluice_store_refusals_total",
                     "Batches of writes that could not be made durable", d->refused);
    sl_metrics_value(out, "sluice_store_rereads_total",
                     "How often all objects were read again because such a batch was decided on",
                     d->again);
    sl_metrics_value(out, "sluice_store_refusing", "1 when the last batch was not made durable",
                     d->refusing);
}

static void stop(struct daemon *d)
{
    sl_turns_stop(&d->turns);
    sl_server_stop(d->server);
    if (d->local != NULL) {
        sl_server_stop(d->local);
    }
    for (int i = 0; i < COMMITS_AT_END_MAX && sl_store_dirty(d->store); i++) {
        (void)sl_store_commit(d->store, NULL);
    }
    sl_turns_close(&d->turns);
    sl_dump_file_end(&d->dump);
    sl_daemon_runner_stop(&d->runner);
    uv_close((uv_handle_t *)&d->ending, NULL);
}

static void on_signal(void *context, const char *name)
{
    struct daemon *d = context;
    if (d->turns.stopped) {
        return;
    }
    sl_log(SL_LOG_INFO, "stopping", "signal", name, NULL);
    stop(d);
}

static void write_dump(void *context)
{
    struct daemon *d = context;
    sl_dump_file_begin(&d->dump, &d->loop, &d->pages, d->options->data_dir);
}

static void on_ending(uv_timer_t *handle)
{
    struct daemon *d = handle->data;
    if (!d->turns.stopped) {
        stop(d);
    }
}

/* Whoever found it is in the middle of something: the loop ends when it is at its beginning again. */
static void on_damage(void *context, const struct sl_error *e)
{
    struct daemon *d = context;
    d->damage = *e;
    sl_log(SL_LOG_ERROR, "stopping: the stored data cannot be trusted", "reason", e->text, NULL);
    if (d->ending.data != NULL) {
        uv_timer_start(&d->ending, on_ending, 0, 0);
    }
}

/* The same for local users, by the names that the kernel knows. It needs no TLS. */
static enum sl_code start_local(struct daemon *d, const struct sl_daemon_options *options,
                                struct sl_server_options *o, struct sl_error *e)
{
    struct sl_buf listen = {0};
    sl_buf_print(&listen, SL_LISTEN_UNIX "%s", options->socket);
    o->listen = listen.data;
    o->tls = NULL;
    o->allow_remote = false;
    enum sl_code code = sl_server_start(&d->loop, d->store, o, &d->local, e);
    sl_buf_fini(&listen);
    if (code == SL_CODE_OK) {
        sl_foresight_serve(d->foresight, d->local);
        sl_log(SL_LOG_INFO, "local users are served", "socket", options->socket, NULL);
    }
    return code;
}

static enum sl_code start_server(struct daemon *d, const struct sl_daemon_options *options,
                                 struct sl_error *e)
{
    const struct sl_server_hook hooks[] = {
        {"/", sl_ui_find, NULL},
        {"/ui", sl_ui_find, NULL},
        {"/ui/", sl_ui_serve, NULL},
        {"/metrics", sl_pages_metrics, &d->pages},
        {"/readyz", sl_pages_ready, &d->pages},
        {SL_DUMP_PATH, sl_dump_serve, &d->pages},
        {SL_METRICS_RESOURCE_PATH, sl_pages_metrics, &d->pages},
        {SL_VISIBILITY_GROUP_PATH "/", sl_visibility_serve, &d->pages}};
    const struct sl_server_question questions[] = {
        {SL_FORESIGHT_PATH, sl_foresight_answer, d->foresight},
        {SL_FORESIGHT_RESOURCE_PATH, sl_foresight_answer, d->foresight}};
    struct sl_server_options o = {.listen = options->listen,
                                  .allow_remote = options->allow_remote,
                                  .hooks = hooks,
                                  .hook_count = sizeof hooks / sizeof hooks[0],
                                  .questions = questions,
                                  .question_count = sizeof questions / sizeof questions[0],
                                  .version = SL_VERSION};
    if (options->jobs != NULL) {
        o.heeded = options->jobs->heeded;
    }
    enum sl_code code = sl_daemon_auth_open(&d->auth, options, e);
    if (code != SL_CODE_OK) {
        return code;
    }
    sl_daemon_auth_guard(&d->auth, &o);
    sl_daemon_runner_serve(&d->runner, &o);
    code = sl_server_start(&d->loop, d->store, &o, &d->server, e);
    sl_foresight_serve(d->foresight, d->server);
    code = code == SL_CODE_OK && options->socket != NULL ? start_local(d, options, &o, e) : code;
    return code == SL_CODE_OK
               ? sl_daemon_auth_write(&d->auth, options, sl_server_port(d->server), e)
               : code;
}

static void log_start(const struct daemon *d, const struct sl_daemon_options *options)
{
    sl_log(SL_LOG_INFO, "limits", "workloads", sl_log_number(SL_WORKLOADS_MAX), "quota_nodes",
           sl_log_number(SL_QNODES_MAX), "quota_cells", sl_log_number(SL_CELLS_MAX), "cohort_depth",
           sl_log_number(SL_LEVELS_MAX), "claims_per_workload", sl_log_number(SL_USAGE_CELLS_MAX),
           "checks_per_workload", sl_log_number(SL_CHECKS_MAX), "events_kept",
           sl_log_number(SL_EVENTS_KEPT_MAX), "events_per_s", sl_log_number(SL_EVENTS_PER_S), NULL);
    sl_log(SL_LOG_INFO, "listening", "listen", options->listen, "port",
           sl_log_number(sl_server_port(d->server)), "data", options->data_dir, "version",
           SL_VERSION, NULL);
}

static void open_controllers(struct daemon *d)
{
    const struct sl_daemon_options *given = d->options;
    struct sl_controllers_options options = {.engine = d->engine,
                                             .run_jobs = !given->run_external,
                                             .processes = given->run_processes,
                                             .keep_requests = given->keep_requests,
                                             .force_lost_pods = given->force_lost_pods,
                                             .metered = given->metered,
                                             .kick = sl_turns_kick,
                                             .kick_context = &d->turns};
    if (given->jobs != NULL) {
        options.job_rules = *given->jobs;
    }
    sl_store_gate_pods(d->store, sl_jobs_enabled(&options.job_rules, &sl_pod_framework));
    sl_store_guard_queues(d->store, true);
    sl_store_select_pods(d->store, given->run_processes || given->run_external);
    sl_store_leave_owners(d->store, given->run_external);
    sl_store_client(d->store, sl_turns_kick, &d->turns, &options.client);
    d->controllers = sl_controllers_new(&options);
    d->turns.controllers = d->controllers;
    sl_daemon_runner_open(&d->runner, d->controllers, &options.client, &d->turns);
    d->pages = (struct sl_pages){.client = options.client,
                                 .engine = d->engine,
                                 .controllers = d->controllers,
                                 .metrics = print_metrics,
                                 .context = d,
                                 .facts = given->facts,
                                 .foresight = d->foresight};
}

static enum sl_code open_engine(struct daemon *d, struct sl_error *e)
{
    const struct sl_engine_options options = {.journal_dir = d->options->data_dir,
                                              .journal_file_bytes =
                                                  (size_t)d->options->journal_bytes,
                                              .settings = d->settings};
    return sl_engine_open(&options, &d->engine, e);
}

/* --- ahead of the store ----------------------------------------------------------------------- */

static bool deliver(void *context)
{
    const struct daemon *d = context;
    return sl_store_deliver(d->store);
}

/* What was decided on is lost: everything but the store and its clients begins again, as at a start. */
static void begin_again(void *context)
{
    struct daemon *d = context;
    struct sl_error e;
    if (d->turns.stopped) {
        return;
    }
    d->again++;
    sl_server_drop_pages(d->server);
    if (d->local != NULL) {
        sl_server_drop_pages(d->local);
    }
    sl_store_forget_watches(d->store);
    sl_daemon_runner_close(&d->runner);
    sl_controllers_free(d->controllers);
    sl_engine_close(d->engine);
    enum sl_code code = open_engine(d, &e);
    SL_ASSERT(code == SL_CODE_OK); /* the directory is one: it has been opened before */
    open_controllers(d);
    sl_controllers_start(d->controllers);
}

/* Waits a second; false when a signal asks to end. Signal handlers would not run yet, and as a
 * container's first process the daemon would ignore the signal. */
static bool wait_a_second(void)
{
    static const struct timespec second = {.tv_sec = 1};
    sigset_t ends, before;
    sigemptyset(&ends);
    sigaddset(&ends, SIGTERM);
    sigaddset(&ends, SIGINT);
    sigaddset(&ends, SIGHUP);
    (void)sigprocmask(SIG_BLOCK, &ends, &before);
    bool asked = sigtimedwait(&ends, NULL, &second) > 0;
    (void)sigprocmask(SIG_SETMASK, &before, NULL);
    return !asked;
}

static enum sl_code try_store(struct daemon *d, const struct sl_daemon_options *options,
                              struct sl_error *e)
{
    enum sl_code code = sl_store_open(options->data_dir, &d->store, e);
    if (code == SL_CODE_OK && options->run_as_submitter) {
        code = sl_store_guard_submitters(d->store, e);
    }
    if (code != SL_CODE_OK && d->store != NULL) {
        sl_store_close(d->store);
        d->store = NULL;
    }
    return code;
}

/* A full disk is waited for: a supervisor that restarts the daemon would give up some time. */
static enum sl_code open_store(struct daemon *d, const struct sl_daemon_options *options,
                               struct sl_error *e)
{
    enum sl_code code = try_store(d, options, e);
    if (code == SL_CODE_UNAVAILABLE) {
        sl_log(SL_LOG_ERROR, "waiting for the disk, tried again each second", "reason", e->text,
               NULL);
    }
    while (code == SL_CODE_UNAVAILABLE && wait_a_second()) {
        code = try_store(d, options, e);
    }
    return code;
}

static enum sl_code open_all(struct daemon *d, const struct sl_daemon_options *options,
                             struct sl_error *e)
{
    enum sl_code code = open_store(d, options, e);
    if (code != SL_CODE_OK) {
        return code;
    }
    code = open_engine(d, e);
    if (code != SL_CODE_OK) {
        return code;
    }
    d->foresight = sl_foresight_new(&d->loop, &d->pages);
    open_controllers(d);
    sl_store_deliver_ahead(d->store, begin_again, d);
    code = start_server(d, options, e);
    if (code != SL_CODE_OK || options->unconfined) {
        return code;
    }
    struct sl_buf users = {0}; /* the directory: the file may be replaced by another one */
    sl_daemon_auth_print_dir(options, &users);
    const struct sl_confine_options confine = {
        .writable = options->data_dir, .readable = options->tls_dir, .readable_too = users.data};
    code = sl_confine(&confine, e);
    sl_buf_fini(&users);
    return code;
}

static void close_all(struct daemon *d)
{
    if (d->store != NULL) {
        sl_store_close(d->store); /* first: nothing arrives at the controllers any more */
    }
    sl_foresight_free(d->foresight);
    sl_daemon_runner_end(&d->runner);
    sl_controllers_free(d->controllers);
    if (d->engine != NULL) {
        sl_engine_close(d->engine);
    }
}

enum sl_code sl_daemon_run(const struct sl_daemon_options *options,
                           const struct sl_engine_settings *settings, struct sl_error *e)
{
    static struct daemon d;
    d.options = options;
    d.settings = settings;
    d.turns = (struct sl_turns){.loop = &d.loop,
                                .deliver = deliver,
                                .signalled = on_signal,
                                .dump = write_dump,
                                .context = &d};
    signal(SIGPIPE, SIG_IGN);
    signal(SIGXFSZ, SIG_IGN); /* a file at its size limit is a failed write, as a full disk is */
    /* Before the loop: libuv closes descriptors of its own by their numbers in whatever is forked later. */
    enum sl_code code = sl_daemon_runner_begin(&d.runner, options, e);
    if (code != SL_CODE_OK) {
        return code;
    }
    if (uv_loop_init(&d.loop) != 0) {
        return sl_error_set(e, SL_CODE_INTERNAL, "the event loop could not be created");
    }
    code = open_all(&d, options, e);
    if (code == SL_CODE_OK) {
        sl_turns_start(&d.turns);
        sl_daemon_runner_start(&d.runner, &d.loop);
        uv_timer_init(&d.loop, &d.ending);
        d.ending.data = &d;
        sl_store_on_damage(d.store, on_damage, &d);
        sl_store_listen(d.store, on_commit, &d);
        log_start(&d, options);
        sl_controllers_start(d.controllers);
        sl_turns_kick(&d.turns);
        uv_run(&d.loop, UV_RUN_DEFAULT);
        sl_store_unlisten(d.store, on_commit, &d);
        sl_log(SL_LOG_INFO, "stopped", NULL);
        *e = d.damage;
        code = e->code;
    }
    close_all(&d);
    sl_daemon_auth_close(&d.auth);
    (void)uv_loop_close(&d.loop);
    return code;
}
