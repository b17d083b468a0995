/* SPDX-License-Identifier: Apache-2.0
 * SPDX-FileCopyrightText: The Sluice authors */

/* kube/transport.h over the socket to the simulator; the linker then does not take the real one. Before the loop
 * would wait, the turn goes to the simulator, who says how late it is and what has arrived: no time passes but that. */
#include "base/check.h"
#include "base/mem.h"
#include "kube/transport.h"
#include "replica_process.h"
#include "replica_wire.h"
#include <signal.h>
#include <stdlib.h>

struct sl_exchange {
    uint64_t id;
    struct sl_transport *owner;
    struct sl_exchange *next;
    sl_data_fn *data;
    sl_response_fn *done;
    void *context;
};
struct sl_transport {
    uv_loop_t *loop;
    uv_prepare_t *turn;
    uv_idle_t *awake; /* while the loop polls */
    struct sl_exchange *first;
    uint64_t last_id;
    struct sl_transport_counters counters;
};

static struct {
    int fd;
    void (*look)(int fd);
    struct sim_frame frame;
    struct sl_transport *transport; /* NULL: freed, which any answer may lead to */
    bool signalled;
} link_of;

void sim_link_open(int fd, void (*look)(int fd))
{
    link_of.fd = fd;
    link_of.look = look;
}

/* --- exchanges ---------------------------------------------------------------------------------- */

static struct sl_exchange *take_out(struct sl_transport *t, uint64_t id)
{
    for (struct sl_exchange **at = &t->first; *at != NULL; at = &(*at)->next) {
        if ((*at)->id == id) {
            struct sl_exchange *x = *at;
            *at = x->next;
            return x;
        }
    }
    return NULL;
}

static const struct sl_exchange *find(const struct sl_transport *t, uint64_t id)
{
    const struct sl_exchange *x = t->first;
    while (x != NULL && x->id != id) {
        x = x->next;
    }
    return x;
}

static enum sl_code code_of(int status)
{
    for (int code = SL_CODE_BAD_REQUEST; code <= SL_CODE_TIMEOUT; code++) {
        if (sl_code_http((enum sl_code)code) == status) {
            return (enum sl_code)code;
        }
    }
    return status >= 200 && status < 300 ? SL_CODE_OK : SL_CODE_UNAVAILABLE;
}

static void take_answer(const struct sim_frame *f)
{
    struct sl_exchange *x = link_of.transport == NULL ? NULL : take_out(link_of.transport, f->id);
    if (x == NULL) {
        return; /* cancelled */
    }
    struct sl_response r = {.code = code_of(f->status), .status = f->status};
    if (f->status == 0) {
        r.reason = f->a.data;
        x->owner->counters.failures++;
    } else {
        r.body = f->a.data;
        r.body_len = f->a.len;
    }
    x->done(x->context, &r);
    sl_mem_free(x);
}

static void take_data(const struct sim_frame *f)
{
    const struct sl_exchange *x = link_of.transport == NULL ? NULL : find(link_of.transport, f->id);
    if (x != NULL) {
        SL_PRE(x->data != NULL);
        x->data(x->context, f->a.data, f->a.len);
    }
}

/* --- turns -------------------------------------------------------------------------------------- */

static void take_frame(const struct sim_frame *f, uv_loop_t *loop)
{
    switch (f->type) {
    case SIM_CLOCK:
        sim_process_clock(f->ms);
        uv_update_time(loop);
        break;
    case SIM_ANSWER:
        take_answer(f);
        break;
    case SIM_DATA:
        take_data(f);
        break;
    case SIM_TERMINATE:
        link_of.signalled = true;
        (void)raise(SIGTERM);
        break;
    case SIM_LOOK:
        link_of.look(link_of.fd);
        break;
    default:
        break;
    }
}

static void wait_for_turn(uv_loop_t *loop)
{
    struct sim_frame *f = &link_of.frame;
    int wait_ms = uv_backend_timeout(loop);
    int64_t due_ms = wait_ms < 0 ? INT64_MAX : wait_ms;
    sim_frame_send(link_of.fd, &(struct sim_frame){.type = SIM_IDLE, .ms = due_ms});
    do {
        if (!sim_frame_receive(link_of.fd, f)) {
            _Exit(0); /* the simulator has ended */
        }
        take_frame(f, loop);
    } while (f->type != SIM_GO);
}

static void on_awake(uv_idle_t *awake)
{
    (void)awake;
}

/* The loop polls after this, and must never wait itself; a signal is something that it finds. */
static void on_turn(uv_prepare_t *turn)
{
    uv_loop_t *loop = turn->loop;
    uv_idle_stop(link_of.transport->awake);
    uv_update_time(loop);
    while (link_of.transport != NULL && !link_of.signalled && uv_backend_timeout(loop) != 0) {
        wait_for_turn(loop);
    }
    link_of.signalled = false;
    if (link_of.transport != NULL) {
        uv_idle_start(link_of.transport->awake, on_awake);
    }
}

/* --- transport.h -------------------------------------------------------------------------------- */

struct sl_transport *sl_transport_new(uv_loop_t *loop, struct sl_credentials *credentials,
                                      const char *user_agent)
{
    (void)credentials;
    (void)user_agent;
    struct sl_transport *t = sl_mem_new(1, sizeof *t);
    t->loop = loop;
    t->turn = sl_mem_new(1, sizeof *t->turn);
    t->turn->data = t;
    uv_prepare_init(loop, t->turn);
    uv_prepare_start(t->turn, on_turn);
    t->awake = sl_mem_new(1, sizeof *t->awake);
    uv_idle_init(loop, t->awake);
    link_of.transport = t;
    return t;
}

static void on_closed(uv_handle_t *handle)
{
    sl_mem_free(handle);
}

void sl_transport_free(struct sl_transport *t)
{
    if (t == NULL) {
        return;
    }
    while (t->first != NULL) {
        sl_transport_cancel(t->first);
    }
    uv_close((uv_handle_t *)t->turn, on_closed);
    uv_close((uv_handle_t *)t->awake, on_closed);
    link_of.transport = NULL;
    sl_mem_free(t);
}

struct sl_exchange *sl_transport_send(struct sl_transport *t, const struct sl_request *r,
                                      sl_data_fn *data, sl_response_fn *done, void *context)
{
    struct sl_exchange *x = sl_mem_new(1, sizeof *x);
    *x = (struct sl_exchange){++t->last_id, t, t->first, data, done, context};
    t->first = x;
    t->counters.requests++;
    const struct sim_frame f = {.type = SIM_REQUEST,
                                .id = x->id,
                                .ms = r->timeout_ms,
                                .idle_ms = r->idle_ms,
                                .a = sim_frame_text(r->method),
                                .b = sim_frame_text(r->path),
                                .c = {.data = (char *)(uintptr_t)r->body, .len = r->body_len}};
    sim_frame_send(link_of.fd, &f);
    return x;
}

void sl_transport_cancel(struct sl_exchange *x)
{
    sim_frame_send(link_of.fd, &(struct sim_frame){.type = SIM_CANCEL, .id = x->id});
    (void)take_out(x->owner, x->id);
    sl_mem_free(x);
}

const struct sl_transport_counters *sl_transport_count(const struct sl_transport *t)
{
    return &t->counters;
}
