/* SPDX-License-Identifier: Apache-2.0
 * SPDX-FileCopyrightText: The Sluice authors */

/* The queue of writes. A target is an object with its writes, in order; a target whose first write
 * is not under way is ready, and the ready targets take turns. */
#include "kube/writes.h"

#include <stdio.h>

#include "base/check.h"
#include "base/map.h"
#include "base/mem.h"
#include "kube/reflector.h"
#include "kube/writes_change.h"

#define IN_FLIGHT 64u
#define BACKOFF_FIRST_MS 200
#define BACKOFF_MOST_MS 5000
#define TARGET_KEY_SIZE (SL_ITEM_KEY_SIZE + 16u)

struct sl_write_target {
    char key[TARGET_KEY_SIZE];
    struct sl_change *first, *last;
    struct sl_write_target *next; /* among the ready ones */
};

struct sl_writes *sl_writes_new(const struct sl_writes_options *options)
{
    SL_PRE(options != NULL);
    struct sl_writes *w = sl_mem_new(1, sizeof *w);
    w->options = *options;
    w->kube = *options->kube;
    w->kube.in_flight = w->kube.in_flight == 0 ? IN_FLIGHT : w->kube.in_flight;
    w->seed = w->kube.seed;
    w->item.all_jobs = w->kube.all_jobs;
    w->targets = sl_map_new();
    sl_flow_init(&w->flow, w->kube.qps, w->kube.burst, sl_writes_now_ms(w));
    return w;
}

static void change_free(struct sl_change *c)
{
    sl_mem_free(c->ns);
    sl_mem_free(c->name);
    sl_mem_free(c->uid);
    sl_json_free(c->body);
    sl_json_free(c->patch);
    sl_json_free(c->result);
    sl_mem_free(c->error);
    sl_mem_free(c);
}

void sl_change_keep(struct sl_change *c, enum sl_code code, const struct sl_error *e)
{
    SL_PRE(c != NULL);
    if (c->error == NULL) {
        c->error = sl_mem_new(1, sizeof *c->error);
    }
    if (e != NULL && e != c->error) {
        *c->error = *e;
    }
    c->error->code = code;
}

/* --- targets ----------------------------------------------------------------------------------- */

static void set_ready(struct sl_writes *w, struct sl_write_target *target)
{
    target->next = NULL;
    if (w->ready_first == NULL) {
        w->ready_first = target;
    } else {
        w->ready_last->next = target;
    }
    w->ready_last = target;
}

static struct sl_write_target *target_of(struct sl_writes *w, const struct sl_write *write)
{
    char key[TARGET_KEY_SIZE];
    union sl_map_value value;
    if (write->name[0] == '\0') {
        (void)snprintf(key, sizeof key, "%d/ %llu", (int)write->kind,
                       (unsigned long long)w->unnamed++);
    } else {
        (void)snprintf(key, sizeof key, "%d/%s/%s", (int)write->kind, write->ns, write->name);
    }
    if (sl_map_get(w->targets, key, &value)) {
        return value.pointer;
    }
    struct sl_write_target *target = sl_mem_new(1, sizeof *target);
    (void)snprintf(target->key, sizeof target->key, "%s", key);
    sl_map_put(w->targets, key, (union sl_map_value){.pointer = target});
    return target;
}

static void leave_target(struct sl_change *c)
{
    struct sl_writes *w = c->owner;
    struct sl_write_target *target = c->target;
    SL_PRE(target->first == c);
    target->first = c->next;
    if (target->first == NULL) {
        sl_map_remove(w->targets, target->key, NULL);
        sl_mem_free(target);
    } else {
        set_ready(w, target);
    }
}

/* --- under way ------------------------------------------------------------------------------- */

static void enter_active(struct sl_change *c)
{
    struct sl_writes *w = c->owner;
    c->prior = w->active_last;
    if (c->prior == NULL) {
        w->active = c;
    } else {
        c->prior->after = c;
    }
    w->active_last = c;
    w->options.counters->under_way++;
    w->options.counters->waiting--;
}

static void leave_active(struct sl_change *c)
{
    struct sl_writes *w = c->owner;
    if (c->prior == NULL) {
        w->active = c->after;
    } else {
        c->prior->after = c->after;
    }
    if (c->after == NULL) {
        w->active_last = c->prior;
    } else {
        c->after->prior = c->prior;
    }
    w->options.counters->under_way--;
}

static void begin(struct sl_change *c)
{
    bool answered = false;
    enum sl_code code = sl_change_prepare(c, &answered);
    enter_active(c);
    if (answered) {
        c->state = SL_CHANGE_ANSWERED;
        c->verdict = code;
        c->due_ms = sl_writes_now_ms(c->owner);
    } else if (code == SL_CODE_OK) {
        bool allowed = sl_flow_take(&c->owner->flow, sl_writes_now_ms(c->owner));
        SL_ASSERT(allowed);
        if (c->verb == SL_VERB_READ) {
            sl_change_check(c, SL_CODE_OK, c->error);
        } else {
            sl_change_send(c);
        }
    } else {
        sl_change_check(c, code, c->error);
    }
}

bool sl_writes_may(const struct sl_writes *w)
{
    return !w->stopped && (w->kube.may_write == NULL || w->kube.may_write(w->kube.context));
}

static bool has_room(const struct sl_writes *w)
{
    return w->ready_first != NULL && w->options.counters->under_way < w->kube.in_flight &&
           sl_writes_may(w);
}

static void begin_ready(struct sl_writes *w)
{
    while (has_room(w) && sl_flow_wait_ms(&w->flow, sl_writes_now_ms(w)) == 0) {
        struct sl_write_target *target = w->ready_first;
        w->ready_first = target->next;
        begin(target->first);
    }
    w->options.wake(w->options.context);
}

/* Until now the body was the caller's: what does not wait has made its difference, and needs no copy. */
static void own_body(struct sl_change *c)
{
    struct sl_json *lent = c->body;
    bool whole = c->patch != NULL && c->patch == lent;
    c->body = whole || c->state == SL_CHANGE_QUEUED ? sl_json_clone(lent) : NULL;
    if (whole) {
        sl_json_free(c->patch);
        c->patch = sl_json_ref(c->body);
    }
    sl_json_free(lent);
}

void sl_writes_add(struct sl_writes *w, const struct sl_write *write, sl_reply_fn *reply,
                   void *context)
{
    SL_PRE(write->ns != NULL && write->name != NULL && write->kind < sl_kind_end());
    SL_PRE(write->name[0] != '\0' || write->verb == SL_VERB_CREATE);
    if (w->stopped) {
        return;
    }
    bool is_update = write->verb == SL_VERB_UPDATE || write->verb == SL_VERB_UPDATE_STATUS;
    struct sl_change *c = sl_mem_new(1, sizeof *c);
    *c = (struct sl_change){.owner = w,
                            .target = target_of(w, write),
                            .verb = write->verb,
                            .kind = write->kind,
                            .ns = sl_mem_text(write->ns),
                            .name = sl_mem_text(write->name),
                            .uid = sl_mem_text(write->uid == NULL ? "" : write->uid),
                            .at_once = write->at_once,
                            .body =
                                is_update ? sl_json_ref(write->body) : sl_json_clone(write->body),
                            .reply = reply,
                            .context = context};
    sl_backoff_init(&c->backoff, BACKOFF_FIRST_MS, BACKOFF_MOST_MS, sl_backoff_random(&w->seed));
    w->options.counters->waiting++;
    if (c->target->first == NULL) {
        c->target->first = c;
        set_ready(w, c->target);
    } else {
        c->target->last->next = c;
    }
    c->target->last = c;
    begin_ready(w);
    if (is_update) {
        own_body(c);
    }
}

void sl_change_finish(struct sl_change *c, enum sl_code code, const struct sl_error *e,
                      struct sl_json *result)
{
    SL_PRE(c != NULL);
    struct sl_writes *w = c->owner;
    leave_active(c);
    leave_target(c);
    sl_change_keep(c, code, e);
    if (c->reply != NULL) {
        c->reply(c->context, code, c->error, result);
    }
    if (w->kube.replied != NULL) {
        w->kube.replied(w->kube.context);
    }
    change_free(c);
    begin_ready(w);
}

void sl_change_drop(struct sl_change *c)
{
    SL_PRE(c != NULL);
    if (c->exchange != NULL) {
        sl_transport_cancel(c->exchange);
    }
    leave_active(c);
    leave_target(c);
    change_free(c);
}

/* --- steps ----------------------------------------------------------------------------------- */

static struct sl_change *find_due(const struct sl_writes *w)
{
    int64_t now_ms = sl_writes_now_ms(w);
    for (struct sl_change *c = w->active; c != NULL; c = c->after) {
        if ((c->state == SL_CHANGE_RESTING || c->state == SL_CHANGE_ANSWERED) &&
            c->due_ms <= now_ms) {
            return c;
        }
    }
    return NULL;
}

void sl_writes_step(struct sl_writes *w)
{
    SL_PRE(w != NULL);
    /* One that is answered may bring the next: only as many as there were get their turn now. */
    size_t turns = w->options.counters->under_way;
    for (struct sl_change *c = find_due(w); c != NULL && turns > 0; c = find_due(w)) {
        turns--;
        if (c->state == SL_CHANGE_ANSWERED) {
            sl_change_finish(c, c->verdict, c->error, c->result);
        } else if (c->check_first) {
            sl_change_check(c, c->verdict, c->error);
        } else {
            sl_change_send(c);
        }
    }
    begin_ready(w);
}

int64_t sl_writes_due_ms(const struct sl_writes *w)
{
    int64_t now_ms = sl_writes_now_ms(w);
    int64_t due_ms = has_room(w) ? now_ms + sl_flow_wait_ms(&w->flow, now_ms) : SL_NEVER_MS;
    for (const struct sl_change *c = w->active; c != NULL; c = c->after) {
        bool timed = c->state == SL_CHANGE_RESTING || c->state == SL_CHANGE_ANSWERED;
        due_ms = timed && c->due_ms < due_ms ? c->due_ms : due_ms;
    }
    return due_ms;
}

/* Frees what is not under way, in all targets. */
static void drop_queued(struct sl_writes *w)
{
    for (struct sl_map_item e = {0}; sl_map_each(w->targets, &e);) {
        struct sl_write_target *target = e.value.pointer;
        bool is_ready = target->first->state == SL_CHANGE_QUEUED;
        struct sl_change *c = is_ready ? target->first : target->first->next;
        while (c != NULL) {
            struct sl_change *next = c->next;
            w->options.counters->waiting--;
            change_free(c);
            c = next;
        }
        if (is_ready) {
            sl_map_remove(w->targets, e.key, NULL);
            sl_mem_free(target);
        } else {
            target->first->next = NULL;
            target->last = target->first;
        }
    }
    w->ready_first = w->ready_last = NULL;
}

void sl_writes_stop(struct sl_writes *w)
{
    SL_PRE(w != NULL);
    w->stopped = true;
    drop_queued(w);
    for (struct sl_change *c = w->active, *after; c != NULL; c = after) {
        after = c->after;
        if (c->state == SL_CHANGE_RESTING) {
            sl_change_drop(c);
        }
    }
}

void sl_writes_free(struct sl_writes *w)
{
    if (w == NULL) {
        return;
    }
    sl_writes_stop(w);
    while (w->active != NULL) {
        sl_change_drop(w->active);
    }
    sl_map_free(w->targets);
    sl_item_fini(&w->item);
    sl_mem_free(w);
}
