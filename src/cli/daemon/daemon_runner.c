/* SPDX-License-Identifier: Apache-2.0
 * SPDX-FileCopyrightText: The Sluice authors */

/* Processes on the daemon's loop. */
#include "cli/daemon/daemon_runner.h"
#include <signal.h>
#include <unistd.h>

enum sl_code sl_daemon_runner_begin(struct sl_daemon_runner *r,
                                    const struct sl_daemon_options *options, struct sl_error *e)
{
    r->on = options->run_processes;
    const struct sl_running_options running = {.data = options->data_dir,
                                               .devices = options->devices,
                                               .containers = options->run_containers,
                                               .runtime = options->container_runtime,
                                               .as_submitter = options->run_as_submitter};
    return r->on ? sl_running_begin(&r->running, &running, e) : SL_CODE_OK;
}

void sl_daemon_runner_open(struct sl_daemon_runner *r, struct sl_controllers *controllers,
                           const struct sl_client *client, struct sl_turns *turns)
{
    if (r->on) {
        sl_running_open(&r->running, client, sl_controllers_events(controllers), sl_turns_kick,
                        turns);
        sl_controllers_run_by(controllers, r->running.parts, SL_RUNNING_PARTS);
        sl_running_watch(&r->running);
    }
}

void sl_daemon_runner_serve(struct sl_daemon_runner *r, struct sl_server_options *o)
{
    if (r->on) {
        o->logs = (struct sl_server_logs){sl_logs_open, &r->running.logs};
    }
}

void sl_daemon_runner_committed(struct sl_daemon_runner *r)
{
    if (r->on) {
        (void)sl_running_committed(&r->running);
    }
}

void sl_daemon_runner_close(struct sl_daemon_runner *r)
{
    if (r->on) {
        sl_running_close(&r->running);
    }
}

static void on_news(uv_poll_t *poll, int status, int events)
{
    (void)status;
    (void)events;
    sl_running_hear(poll->data);
}

/* It cannot be started again by a process that has given up its rights: a supervisor of the daemon starts both. */
static void on_end(uv_poll_t *poll, int status, int events)
{
    (void)status;
    (void)events;
    sl_log(SL_LOG_ERROR, "stopping: the launcher of processes has ended", NULL);
    (void)uv_poll_stop(poll);
    (void)raise(SIGTERM);
}

void sl_daemon_runner_start(struct sl_daemon_runner *r, uv_loop_t *loop)
{
    if (r->on) {
        uv_poll_init(loop, &r->news, r->running.launcher.news);
        uv_poll_init(loop, &r->orders, r->running.launcher.orders);
        r->news.data = r->orders.data = &r->running;
        uv_poll_start(&r->news, UV_READABLE, on_news);
        uv_poll_start(&r->orders, UV_READABLE | UV_DISCONNECT, on_end);
    }
}

void sl_daemon_runner_stop(struct sl_daemon_runner *r)
{
    if (r->on) {
        uv_close((uv_handle_t *)&r->news, NULL);
        uv_close((uv_handle_t *)&r->orders, NULL);
    }
}

void sl_daemon_runner_end(struct sl_daemon_runner *r)
{
    if (r->on) {
        sl_running_end(&r->running);
    }
}
