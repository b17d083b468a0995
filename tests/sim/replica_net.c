/* SPDX-License-Identifier: Apache-2.0
 * SPDX-FileCopyrightText: The Sluice authors */

/* Exchanges from when they are begun until nobody waits for them and they have arrived, or never will. */
#include "replica_net.h"
#include "base/mem.h"
#include "replica_lies.h"
#include <string.h>

struct piece {
    struct piece *next;
    int64_t due_ms;
    struct sl_buf text;
};
struct exchange {
    struct exchange *next;
    unsigned replica, life;
    struct sim_frame request;
    int64_t arrives_ms; /* INT64_MAX: it has, or never will */
    int64_t ends_ms;    /* its answer is delivered then; INT64_MAX: there is none yet */
    int64_t gives_up_ms, idle_ms;
    int status; /* of the answer; 0 = none gets through */
    struct sl_buf answer;
    struct sim_watch *watch; /* NULL: it is none, or has ended */
    struct piece *first, *last;
    int64_t told_ms; /* when the last piece arrives */
    bool awaited;
    enum { FAIR, ANSWER_LOST, REFUSED } fate;
};
struct line {
    unsigned life; /* 0: none */
    struct sim_chance chance;
    struct sim_net_delay requests, watches;
    unsigned lose_count, lose_percent, refuse_count, refuse_percent;
    int64_t cut_until_ms, lies_until_ms;
    bool spoiled; /* something that this life has read */
};
struct sim_net {
    struct sim *sim;
    struct sim_api *api;
    struct sim_net_told told;
    struct exchange *first, *last;
    struct line lines[SIM_REPLICAS];
    int64_t latency_ms; /* up to so much, always */
};

struct sim_net *sim_net_new(struct sim *s, struct sim_api *api, const struct sim_net_told *told)
{
    struct sim_net *n = sl_mem_new(1, sizeof *n);
    struct sim_chance c = {s->options->seed ^ 0x4e7};
    n->sim = s;
    n->api = api;
    n->told = *told;
    n->latency_ms = sim_chance_of(&c, 50) ? 0 : 1 + sim_chance_below(&c, 30);
    for (size_t i = 0; i < SIM_REPLICAS; i++) {
        n->lines[i].chance.state = sim_chance_next(&c);
    }
    return n;
}

/* --- exchanges ---------------------------------------------------------------------------------- */

static void drop_piece(struct exchange *x)
{
    struct piece *p = x->first;
    x->first = p->next;
    x->last = x->first == NULL ? NULL : x->last;
    sl_buf_fini(&p->text);
    sl_mem_free(p);
}

static void end_watch(struct exchange *x)
{
    if (x->watch != NULL) {
        sim_watch_end(x->watch);
        x->watch = NULL;
    }
}

/* Nobody waits for its answer any more. */
static void forsake(struct exchange *x)
{
    x->awaited = false;
    end_watch(x);
}

static void exchange_free(struct exchange *x)
{
    while (x->first != NULL) {
        drop_piece(x);
    }
    end_watch(x);
    sim_frame_fini(&x->request);
    sl_buf_fini(&x->answer);
    sl_mem_free(x);
}

/* Those that are over go. */
static void sweep(struct sim_net *n)
{
    n->last = NULL;
    for (struct exchange **at = &n->first; *at != NULL;) {
        struct exchange *x = *at;
        if (!x->awaited && x->arrives_ms == INT64_MAX) {
            *at = x->next;
            exchange_free(x);
        } else {
            n->last = x;
            at = &x->next;
        }
    }
}

static void append(struct sim_net *n, struct exchange *x)
{
    if (n->last == NULL) {
        n->first = x;
    } else {
        n->last->next = x;
    }
    n->last = x;
}

static void copy(struct sl_buf *to, const struct sl_buf *from)
{
    sl_buf_add(to, from->len == 0 ? "" : from->data, from->len);
}

static void give_up(struct exchange *x, int64_t at_ms)
{
    x->gives_up_ms = at_ms < x->gives_up_ms ? at_ms : x->gives_up_ms;
}

/* --- ways --------------------------------------------------------------------------------------- */

static int64_t draw(struct line *l, const struct sim_net_delay *d, int64_t now_ms)
{
    return now_ms < d->until_ms ? sim_chance_below(&l->chance, (uint32_t)d->most_ms + 1) : 0;
}

static int64_t way_ms(struct sim_net *n, struct line *l)
{
    int64_t usual =
        n->latency_ms == 0 ? 0 : sim_chance_below(&l->chance, (uint32_t)n->latency_ms + 1);
    return usual + draw(l, &l->requests, n->sim->now_ms);
}

static bool is_hit(struct line *l, unsigned *count, unsigned percent)
{
    if (*count == 0) {
        return false;
    }
    --*count;
    return sim_chance_of(&l->chance, percent);
}

static void decide_fate(struct sim_net *n, struct line *l, struct exchange *x)
{
    int64_t now_ms = n->sim->now_ms;
    x->arrives_ms = now_ms + way_ms(n, l);
    if (now_ms < l->cut_until_ms) {
        x->arrives_ms = INT64_MAX;
        give_up(x, l->cut_until_ms);
    } else if (is_hit(l, &l->lose_count, l->lose_percent)) {
        bool carried_out = sim_chance_of(&l->chance, 50);
        x->fate = ANSWER_LOST;
        if (!carried_out) {
            x->arrives_ms = INT64_MAX;
            give_up(x, now_ms + sim_chance_below(&l->chance, 5000));
        }
    } else if (is_hit(l, &l->refuse_count, l->refuse_percent)) {
        x->fate = REFUSED;
    }
}

void sim_net_request(struct sim_net *n, unsigned replica, const struct sim_frame *f)
{
    struct line *l = &n->lines[replica];
    struct exchange *x = sl_mem_new(1, sizeof *x);
    int64_t now_ms = n->sim->now_ms;
    x->replica = replica;
    x->life = l->life;
    x->request =
        (struct sim_frame){.type = f->type, .id = f->id, .ms = f->ms, .idle_ms = f->idle_ms};
    copy(&x->request.a, &f->a);
    copy(&x->request.b, &f->b);
    copy(&x->request.c, &f->c);
    x->gives_up_ms = f->ms > 0 ? now_ms + f->ms : INT64_MAX;
    x->idle_ms = f->idle_ms;
    x->ends_ms = INT64_MAX;
    x->awaited = true;
    decide_fate(n, l, x);
    append(n, x);
    n->told.sent(n->told.context, x->life, &x->request);
}

void sim_net_cancel(struct sim_net *n, unsigned replica, uint64_t id)
{
    for (struct exchange *x = n->first; x != NULL; x = x->next) {
        if (x->awaited && x->life == n->lines[replica].life && x->request.id == id) {
            forsake(x);
        }
    }
}

void sim_net_begin(struct sim_net *n, unsigned replica, unsigned life)
{
    n->lines[replica].life = life;
    n->lines[replica].spoiled = false;
}

void sim_net_end(struct sim_net *n, unsigned replica, uint32_t lost)
{
    struct line *l = &n->lines[replica];
    for (struct exchange *x = n->first; x != NULL; x = x->next) {
        if (x->life == l->life) {
            forsake(x);
            bool arrives = x->arrives_ms != INT64_MAX && !sim_chance_of(&l->chance, lost);
            x->arrives_ms = arrives ? x->arrives_ms : INT64_MAX;
        }
    }
    l->life = 0;
    sweep(n);
}

/* --- at the API server -------------------------------------------------------------------------- */

/* A 404 that names no object says nothing about any: it comes from somebody who does not know the kind. */
static void refuse(struct line *l, struct sim_reply *reply)
{
    static const int codes[] = {429, 500, 503, 404};
    int code = codes[sim_chance_below(&l->chance, 4)];
    *reply = (struct sim_reply){.status = code};
    sl_buf_print(&reply->body,
                 "{\"kind\":\"Status\",\"apiVersion\":\"v1\",\"status\":\"Failure\",\"message\":"
                 "\"the simulator refuses this request\",\"code\":%d}",
                 code);
}

static void spoil(struct sim_net *n, struct line *l, const struct sim_frame *f, struct sl_buf *body)
{
    bool reads = strcmp(f->a.data, "GET") == 0 && !sim_api_is_lease(f->b.data);
    if (reads && n->sim->now_ms < l->lies_until_ms && sim_chance_of(&l->chance, 70)) {
        l->spoiled = true;
        sim_lie_in_list(&l->chance, body);
    }
}

static void serve(struct sim_net *n, struct exchange *x)
{
    struct sim_reply reply;
    struct line *l = &n->lines[x->replica];
    const struct sim_frame *f = &x->request;
    x->arrives_ms = INT64_MAX;
    if (x->fate == REFUSED) {
        refuse(l, &reply);
    } else {
        sim_api_serve(n->api, f->a.data, f->b.data, &f->c, &reply);
        n->told.arrived(n->told.context, x->life, f, reply.status);
        spoil(n, l, f, &reply.body);
    }
    int64_t back_ms = n->sim->now_ms + way_ms(n, l);
    x->status = x->fate == ANSWER_LOST ? 0 : reply.status;
    x->answer = reply.body;
    x->watch = reply.watch;
    x->told_ms = back_ms;
    if (x->fate == ANSWER_LOST) {
        give_up(x, back_ms);
    } else if (x->watch == NULL) {
        x->ends_ms = back_ms;
    }
    if (!x->awaited || x->fate == ANSWER_LOST) {
        sl_buf_fini(&x->answer);
        end_watch(x);
    }
}

/* In order, and late. */
static bool read_watch(struct sim_net *n, struct exchange *x)
{
    struct line *l = &n->lines[x->replica];
    struct sl_buf text = {0};
    bool goes_on = sim_watch_read(x->watch, &text);
    int64_t due_ms = n->sim->now_ms + draw(l, &l->watches, n->sim->now_ms);
    if (n->sim->now_ms < l->lies_until_ms) {
        l->spoiled = true;
        sim_lie_in_events(&l->chance, &text);
    }
    x->told_ms = due_ms > x->told_ms ? due_ms : x->told_ms;
    if (text.len > 0) {
        struct piece *p = sl_mem_new(1, sizeof *p);
        *p = (struct piece){.due_ms = x->told_ms, .text = text};
        if (x->last == NULL) {
            x->first = p;
        } else {
            x->last->next = p;
        }
        x->last = p;
    }
    if (!goes_on) {
        x->ends_ms = x->told_ms;
        end_watch(x);
    }
    return text.len > 0 || !goes_on;
}

bool sim_net_arrive(struct sim_net *n)
{
    bool any = false;
    int64_t now_ms = n->sim->now_ms;
    for (struct exchange *x = n->first; x != NULL; x = x->next) {
        if (x->arrives_ms <= now_ms) {
            serve(n, x);
            any = true;
        }
    }
    for (struct exchange *x = n->first; x != NULL; x = x->next) {
        any =
            (x->watch != NULL && now_ms >= n->lines[x->replica].cut_until_ms && read_watch(n, x)) ||
            any;
    }
    sweep(n);
    return any;
}

/* --- to the replica ----------------------------------------------------------------------------- */

static int64_t next_ms(const struct exchange *x)
{
    int64_t ms = x->first != NULL ? x->first->due_ms : x->ends_ms;
    return x->gives_up_ms < ms ? x->gives_up_ms : ms;
}

static void deliver_pieces(struct exchange *x, int fd, int64_t now_ms)
{
    while (x->first != NULL && x->first->due_ms <= now_ms) {
        const struct sim_frame f = {.type = SIM_DATA, .id = x->request.id, .a = x->first->text};
        sim_frame_send(fd, &f);
        drop_piece(x);
    }
}

static void deliver(struct exchange *x, int fd, int64_t now_ms)
{
    struct sim_frame f = {.type = SIM_ANSWER, .id = x->request.id};
    deliver_pieces(x, fd, now_ms);
    if (x->first == NULL && x->ends_ms <= now_ms) {
        f.status = x->status;
        f.a = x->answer;
    } else if (x->gives_up_ms <= now_ms) {
        f.a = sim_frame_text("the simulator let no answer through");
    } else {
        return;
    }
    sim_frame_send(fd, &f);
    forsake(x);
}

void sim_net_deliver(struct sim_net *n, unsigned replica, int fd)
{
    unsigned life = n->lines[replica].life;
    for (struct exchange *x = n->first; x != NULL; x = x->next) {
        if (x->awaited && x->life == life && next_ms(x) <= n->sim->now_ms) {
            deliver(x, fd, n->sim->now_ms);
        }
    }
    sweep(n);
}

int64_t sim_net_arrives_ms(const struct sim_net *n)
{
    int64_t due = INT64_MAX;
    for (const struct exchange *x = n->first; x != NULL; x = x->next) {
        due = x->arrives_ms < due ? x->arrives_ms : due;
    }
    return due;
}

int64_t sim_net_due_ms(const struct sim_net *n, unsigned replica)
{
    int64_t due = INT64_MAX;
    unsigned life = n->lines[replica].life;
    for (const struct exchange *x = n->first; x != NULL; x = x->next) {
        if (x->awaited && x->life == life && next_ms(x) < due) {
            due = next_ms(x);
        }
    }
    return due;
}

/* --- faults ------------------------------------------------------------------------------------- */

void sim_net_delay(struct sim_net *n, unsigned replica, struct sim_net_delay d)
{
    n->lines[replica].requests = d;
}

void sim_net_delay_watches(struct sim_net *n, unsigned replica, struct sim_net_delay d)
{
    n->lines[replica].watches = d;
}

void sim_net_lose(struct sim_net *n, unsigned replica, unsigned count, unsigned percent)
{
    n->lines[replica].lose_count = count;
    n->lines[replica].lose_percent = percent;
}

void sim_net_refuse(struct sim_net *n, unsigned replica, unsigned count, unsigned percent)
{
    n->lines[replica].refuse_count = count;
    n->lines[replica].refuse_percent = percent;
}

void sim_net_lie(struct sim_net *n, unsigned replica, int64_t until_ms)
{
    n->lines[replica].lies_until_ms = until_ms;
}

bool sim_net_spoiled(const struct sim_net *n, unsigned replica)
{
    return n->lines[replica].spoiled;
}

/* What is under way gets lost, or is sent again by the network when it can be. */
void sim_net_cut(struct sim_net *n, unsigned replica, int64_t until_ms)
{
    struct line *l = &n->lines[replica];
    l->cut_until_ms = until_ms;
    for (struct exchange *x = n->first; x != NULL; x = x->next) {
        if (x->life != l->life || !x->awaited) {
            continue;
        }
        if (x->arrives_ms != INT64_MAX) {
            x->arrives_ms = sim_chance_of(&l->chance, 50) ? until_ms : INT64_MAX;
        }
        x->fate = ANSWER_LOST;
        x->ends_ms = INT64_MAX;
        while (x->first != NULL) {
            drop_piece(x);
        }
        if (x->watch != NULL) {
            end_watch(x);
            give_up(x, n->sim->now_ms + x->idle_ms);
        }
        give_up(x, until_ms);
    }
}

void sim_net_calm(struct sim_net *n)
{
    for (unsigned i = 0; i < SIM_REPLICAS; i++) {
        struct line *l = &n->lines[i];
        *l = (struct line){.life = l->life, .chance = l->chance, .spoiled = l->spoiled};
    }
}

static int64_t later(int64_t a, int64_t b)
{
    return a > b ? a : b;
}

int64_t sim_net_sound_ms(const struct sim_net *n, unsigned replica)
{
    const struct line *l = &n->lines[replica];
    bool hits = l->lose_count > 0 || l->refuse_count > 0;
    int64_t late_ms = later(l->requests.until_ms, l->watches.until_ms);
    late_ms = later(late_ms, later(l->cut_until_ms, l->lies_until_ms));
    return later(late_ms, hits ? n->sim->now_ms : 0);
}

void sim_net_free(struct sim_net *n)
{
    while (n->first != NULL) {
        struct exchange *x = n->first;
        n->first = x->next;
        exchange_free(x);
    }
    sl_mem_free(n);
}
