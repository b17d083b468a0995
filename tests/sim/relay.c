/* SPDX-License-Identifier: Apache-2.0
 * SPDX-FileCopyrightText: The Sluice authors */

/* Between the controllers and the store's client: writes that are refused or whose answer is lost, watches and
 * answers that come late. What one watch tells stays in order, as at an API server; watches among each other do not. */
#include "sim.h"
#include "base/mem.h"
#include <string.h>

#define ANSWERS SL_KIND_COUNT /* the lane of answers; the others are watches by kind */
#define LANES (SL_KIND_COUNT + 1)

struct item {
    struct item *next;
    int64_t due_ms;
    enum sl_watch_type type;
    struct sl_json *object; /* of a watch event, or an answer's result */
    sl_reply_fn *reply;
    void *context;
    struct sl_error error;
};
struct lane {
    struct sim_relay *relay;
    enum sl_kind kind;
    sl_watch_fn *fn;
    void *context;
    struct item *first, *last;
};
struct sim_relay {
    struct sim *sim;
    struct sl_client behind;
    struct lane lanes[LANES];
    struct sim_chance fail, delay, blind;
    unsigned fail_count, fail_percent;
    unsigned blind_count, blind_percent;
    int64_t delay_until_ms, delay_ms;
};
/* A write under way. */
struct asked {
    struct sim_relay *relay;
    sl_reply_fn *fn;
    void *context;
};

static struct item *push(struct sim_relay *r, struct lane *lane)
{
    struct item *i = sl_mem_new(1, sizeof *i);
    i->due_ms = r->sim->now_ms;
    if (i->due_ms < r->delay_until_ms) {
        i->due_ms += sim_chance_below(&r->delay, (uint32_t)r->delay_ms + 1);
    }
    if (lane->last != NULL) {
        i->due_ms = i->due_ms < lane->last->due_ms ? lane->last->due_ms : i->due_ms;
        lane->last->next = i;
    } else {
        lane->first = i;
    }
    lane->last = i;
    return i;
}

static bool is_straight(const struct sim_relay *r, const struct lane *lane)
{
    return lane->first == NULL && r->sim->now_ms >= r->delay_until_ms;
}

static void on_watch(void *context, enum sl_watch_type type, enum sl_kind kind,
                     struct sl_json *object)
{
    struct lane *lane = context;
    if (is_straight(lane->relay, lane)) {
        lane->fn(lane->context, type, kind, object);
        return;
    }
    struct item *i = push(lane->relay, lane);
    i->type = type;
    i->object = sl_json_clone(object);
}

static void on_reply(void *context, enum sl_code code, const struct sl_error *e,
                     struct sl_json *result)
{
    struct asked *a = context;
    struct sim_relay *r = a->relay;
    struct lane *lane = &r->lanes[ANSWERS];
    if (is_straight(r, lane)) {
        a->fn(a->context, code, e, result);
    } else {
        struct item *i = push(r, lane);
        i->reply = a->fn;
        i->context = a->context;
        i->object = sl_json_clone(result);
        if (e != NULL) {
            i->error = *e;
        }
        i->error.code = code;
    }
    sl_mem_free(a);
}

static void send(struct sim_relay *r, const struct sl_write *w, sl_reply_fn *reply, void *context)
{
    struct asked *a = sl_mem_new(1, sizeof *a);
    *a = (struct asked){r, reply, context};
    r->behind.write(r->behind.self, w, reply == NULL ? NULL : on_reply, reply == NULL ? NULL : a);
    if (reply == NULL) {
        sl_mem_free(a);
    }
}

static void relay_write(void *self, const struct sl_write *w, sl_reply_fn *reply, void *context)
{
    static const enum sl_code codes[] = {SL_CODE_CONFLICT, SL_CODE_CONFLICT, SL_CODE_UNAVAILABLE,
                                         SL_CODE_TIMEOUT,  SL_CODE_INTERNAL, SL_CODE_TOO_MANY};
    struct sim_relay *r = self;
    if (r->fail_count == 0 || w->kind == SL_KIND_EVENT || r->fail_count-- == 0 ||
        !sim_chance_of(&r->fail, r->fail_percent)) {
        send(r, w, reply, context);
        return;
    }
    bool applied = sim_chance_of(&r->fail, 30);
    enum sl_code code = codes[sim_chance_below(&r->fail, sizeof codes / sizeof codes[0])];
    if (applied) {
        code = SL_CODE_TIMEOUT; /* it was carried out, and nobody knows */
        send(r, w, NULL, NULL);
    }
    sim_tally(applied ? SIM_TALLY_ANSWERS_LOST : SIM_TALLY_WRITES_REFUSED);
    sim_story_tell("fault", "write of %s %s/%s: %s%s", sl_kind_info(w->kind)->kind, w->ns, w->name,
                   sl_code_reason(code), applied ? ", carried out" : "");
    if (reply != NULL) {
        struct item *i = push(r, &r->lanes[ANSWERS]);
        i->reply = reply;
        i->context = context;
        (void)sl_error_set(&i->error, code, "the simulator refuses this write");
    }
    r->sim->kicked = true;
}

static void relay_watch(void *self, enum sl_kind kind, sl_watch_fn *fn, void *context)
{
    struct sim_relay *r = self;
    r->lanes[kind] = (struct lane){.relay = r, .kind = kind, .fn = fn, .context = context};
    r->behind.watch(r->behind.self, kind, on_watch, &r->lanes[kind]);
}

/* Nothing is known then of what was asked for, least of all that it is not there. */
static bool is_blind(struct sim_relay *r, enum sl_kind kind, const char *name, struct sl_error *e)
{
    if (r->blind_count == 0 || !sim_chance_of(&r->blind, r->blind_percent)) {
        return false;
    }
    r->blind_count--;
    sim_tally(SIM_TALLY_READS_REFUSED);
    sim_story_tell("fault", "read of %s %s", sl_kind_info(kind)->kind, name);
    (void)sl_error_set(e, SL_CODE_INTERNAL, "the simulator refuses this read");
    return true;
}

static enum sl_code relay_get(void *self, enum sl_kind kind, const char *ns, const char *name,
                              struct sl_json **out, struct sl_error *e)
{
    struct sim_relay *r = self;
    return is_blind(r, kind, name, e) ? SL_CODE_INTERNAL
                                      : r->behind.get(r->behind.self, kind, ns, name, out, e);
}

static enum sl_code relay_list(void *self, enum sl_kind kind, const char *ns, sl_visit_fn *visit,
                               void *context, struct sl_error *e)
{
    struct sim_relay *r = self;
    return is_blind(r, kind, "list", e)
               ? SL_CODE_INTERNAL
               : r->behind.list(r->behind.self, kind, ns, visit, context, e);
}

static struct item *pop(struct lane *lane)
{
    struct item *i = lane->first;
    lane->first = i->next;
    if (lane->first == NULL) {
        lane->last = NULL;
    }
    return i;
}

static void hand_out(struct lane *lane, struct item *i)
{
    if (i->reply != NULL) {
        i->reply(i->context, i->error.code, i->error.code == SL_CODE_OK ? NULL : &i->error,
                 i->object);
    } else {
        lane->fn(lane->context, i->type, lane->kind, i->object);
    }
    sl_json_free(i->object);
    sl_mem_free(i);
}

bool sim_relay_deliver(struct sim_relay *r)
{
    bool any = false;
    for (size_t l = 0; l < LANES; l++) {
        struct lane *lane = &r->lanes[l];
        while (lane->first != NULL && lane->first->due_ms <= r->sim->now_ms) {
            hand_out(lane, pop(lane));
            any = true;
        }
    }
    return any;
}

int64_t sim_relay_due_ms(const struct sim_relay *r)
{
    int64_t due = INT64_MAX;
    for (size_t l = 0; l < LANES; l++) {
        if (r->lanes[l].first != NULL && r->lanes[l].first->due_ms < due) {
            due = r->lanes[l].first->due_ms;
        }
    }
    return due;
}

void sim_relay_fail(struct sim_relay *r, uint64_t seed, unsigned count, unsigned percent)
{
    r->fail.state = seed;
    r->fail_count = count;
    r->fail_percent = percent;
}

void sim_relay_blind(struct sim_relay *r, uint64_t seed, unsigned count, unsigned percent)
{
    r->blind.state = seed;
    r->blind_count = count;
    r->blind_percent = percent;
}

void sim_relay_delay(struct sim_relay *r, uint64_t seed, int64_t until_ms, int64_t delay_ms)
{
    r->delay.state = seed;
    r->delay_until_ms = until_ms;
    r->delay_ms = delay_ms;
}

void sim_relay_calm(struct sim_relay *r)
{
    r->fail_count = 0;
    r->blind_count = 0;
    r->delay_until_ms = 0;
}

struct sim_relay *sim_relay_new(struct sim *s, const struct sl_client *behind)
{
    struct sim_relay *r = sl_mem_new(1, sizeof *r);
    r->sim = s;
    r->behind = *behind;
    return r;
}

void sim_relay_free(struct sim_relay *r)
{
    for (size_t l = 0; l < LANES; l++) {
        while (r->lanes[l].first != NULL) {
            struct item *i = pop(&r->lanes[l]);
            sl_json_free(i->object);
            sl_mem_free(i);
        }
    }
    sl_mem_free(r);
}

struct sl_client sim_relay_client(struct sim_relay *r)
{
    return (struct sl_client){.self = r,
                              .get = relay_get,
                              .list = relay_list,
                              .watch = relay_watch,
                              .write = relay_write};
}
