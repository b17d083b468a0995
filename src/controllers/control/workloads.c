/* SPDX-License-Identifier: Apache-2.0
 * SPDX-FileCopyrightText: The Sluice authors */

/* Decision -> patch -> write -> answer: what happens and what is done then, by the table of write_steps.def. */
#include "controllers/control/workloads.h"
#include "base/check.h"
#include "base/clock.h"
#include "base/log.h"
#include "controllers/control/carried.h"
#include <string.h>

/* What an event comes with. */
struct what {
    enum sl_code code;
    const struct sl_error *error;
    struct sl_json *workload; /* as it is, or as the write has made it; lent */
    struct sl_json *patch;
    enum sl_verb verb;
};

void sl_workloads_init(struct sl_workloads *c, const struct sl_client *client,
                       struct sl_recorder *events, struct sl_engine *engine)
{
    SL_PRE(c != NULL);
    *c = (struct sl_workloads){.client = client, .events = events, .engine = engine};
    sl_workload_meters_init(&c->meters, (struct sl_metered){0});
    c->last = sl_map_new();
    c->untold = sl_work_new();
    c->untold_why = sl_map_new();
}

/* It, and what waits for it. */
static void free_chain(struct sl_carried *k, struct sl_carried **after)
{
    *after = k->next_aside;
    while (k != NULL) {
        struct sl_carried *next = k->next;
        sl_carried_free(k);
        k = next;
    }
}

void sl_workloads_fini(struct sl_workloads *c)
{
    SL_PRE(c != NULL);
    while (c->aside != NULL) {
        free_chain(c->aside, &c->aside);
    }
    sl_map_free_with(c->untold_why, sl_carried_free);
    sl_work_free(c->untold);
    sl_map_free(c->last);
    sl_workload_meters_fini(&c->meters);
    *c = (struct sl_workloads){0};
}

/* --- what was read for the first time --------------------------------------------------------- */

/* Somebody else has ended it: that is no decision, and has a line of its own. */
static void log_end(const char *what, const struct sl_json *wl)
{
    char key[SL_KEY_SIZE];
    sl_key_print(sl_object_namespace(wl), sl_object_name(wl), key);
    const struct sl_json *c = sl_condition_find(wl, "Finished");
    sl_log(SL_LOG_INFO, what, "workload", key, "uid", sl_object_uid(wl), "queue",
           sl_json_path_text(wl, "spec.queueName", ""), "cluster_queue",
           sl_json_path_text(wl, "status.admission.clusterQueue", ""), "reason",
           sl_json_path_text(c, "reason", ""), NULL);
}

void sl_workloads_log_gone(const struct sl_json *wl)
{
    log_end("gone", wl);
}

void sl_workloads_count_news(struct sl_workloads *c, const struct sl_json *wl)
{
    SL_PRE(c != NULL);
    unsigned news = sl_engine_news(c->engine);
    if ((news & SL_NEWS_FINISHED) != 0) {
        log_end("finished", wl);
        sl_workload_meters_finished(&c->meters, wl);
    }
    if ((news & SL_NEWS_STARTED) != 0) {
        sl_workload_meters_ready(&c->meters, wl, sl_clock_now_ms());
    }
}

/* --- the steps -------------------------------------------------------------------------------- */

typedef void action_fn(struct sl_carried *k, struct what *w);
static action_fn look, look_again, look_on, set_aside, send, tell, tell_said, complain, end;
static action_fn *const actions[SL_WRITE_ACTION_COUNT] = {[SL_WRITE_LOOK] = look,
                                                          [SL_WRITE_LOOK_AGAIN] = look_again,
                                                          [SL_WRITE_LOOK_ON] = look_on,
                                                          [SL_WRITE_SET_ASIDE] = set_aside,
                                                          [SL_WRITE_SEND] = send,
                                                          [SL_WRITE_TELL] = tell,
                                                          [SL_WRITE_TELL_SAID] = tell_said,
                                                          [SL_WRITE_COMPLAIN] = complain,
                                                          [SL_WRITE_END] = end};

/* It may have ended, and be gone, afterwards. */
static void happen(struct sl_carried *k, enum sl_write_event event, struct what *w)
{
    const struct sl_write_step *step = sl_write_step(k->state, event);
    SL_ASSERT(step != NULL);
    k->state = step->next;
    actions[step->action](k, w);
}

/* After the decisions about its Workload that are still to be written. */
static void carry_out_in_turn(struct sl_carried *k)
{
    char key[SL_KEY_SIZE];
    sl_key_print(k->ns, k->name, key);
    struct sl_carried *last = sl_map_find(k->c->last, key);
    k->c->in_flight++;
    sl_map_put(k->c->last, key, (union sl_map_value){.pointer = k});
    if (last != NULL) {
        last->next = k;
        k->c->aside_is_old = true;
    } else {
        happen(k, SL_WRITE_TURN, &(struct what){0});
    }
}

/* --- the look --------------------------------------------------------------------------------- */

static enum sl_write_event ask(struct sl_carried *k, struct what *w)
{
    const struct sl_json *ready = sl_condition_find(w->workload, "PodsReady");
    k->recovers = strcmp(sl_json_path_text(ready, "reason", ""), "WaitForRecovery") == 0;
    const struct sl_json *reserved = sl_condition_find(w->workload, "QuotaReserved");
    k->first = reserved == NULL;
    k->gated = sl_carried_gated(w->workload);
    switch (sl_engine_write(k->c->engine, &k->d, w->workload, &w->patch)) {
    case SL_TO_WRITE_STATUS:
        w->verb = SL_VERB_PATCH_STATUS_MERGE;
        return SL_WRITE_PATCH;
    case SL_TO_WRITE_SPEC:
        w->verb = SL_VERB_PATCH_MERGE;
        return SL_WRITE_PATCH;
    case SL_TO_WRITE_DELETE:
        w->verb = SL_VERB_DELETE;
        return SL_WRITE_DELETE;
    case SL_TO_WRITE_LATER:
        w->code = SL_CODE_UNAVAILABLE;
        return SL_WRITE_LATER;
    case SL_TO_WRITE_STALE:
        w->code = SL_CODE_CONFLICT;
        return SL_WRITE_LATER;
    case SL_TO_WRITE_AFTER:
        return SL_WRITE_AFTER;
    case SL_TO_WRITE_NOTHING:
        break;
    }
    return SL_WRITE_NOTHING;
}

static void look(struct sl_carried *k, struct what *before)
{
    const struct sl_client *client = k->c->client;
    struct sl_error e = {0};
    struct what w = {.error = &e};
    (void)before;
    w.code = client->get(client->self, SL_KIND_WORKLOAD, k->ns, k->name, &w.workload, &e);
    if (w.code == SL_CODE_OK && strcmp(sl_object_uid(w.workload), k->uid) != 0) {
        w.code = SL_CODE_NOT_FOUND; /* another one of that name */
    }
    if (w.code == SL_CODE_OK) {
        sl_carried_look(k, w.workload);
    }
    enum sl_write_event event = w.code == SL_CODE_OK ? ask(k, &w) : SL_WRITE_UNSEEN;
    happen(k, event, &w);
    sl_json_free(w.patch);
    sl_json_free(w.workload);
}

static void look_again(struct sl_carried *k, struct what *w)
{
    k->c->counters.conflicts++;
    look(k, w);
}

static void look_on(struct sl_carried *k, struct what *w)
{
    sl_carried_log(k, w->workload, "written in part");
    look(k, w);
}

/* --- what waits for others ---------------------------------------------------------------------- */

/* In the order in which they were decided: none waits for a later one. They come to be set aside in any order, since the writes of
 * one Workload wait for each other. */
static void append_aside(struct sl_workloads *c, struct sl_carried *k)
{
    struct sl_carried **at = &c->aside;
    if (c->aside != NULL && c->aside_last->d.sequence <= k->d.sequence) {
        at = &c->aside_last->next_aside;
    }
    while (*at != NULL && (*at)->d.sequence <= k->d.sequence) {
        at = &(*at)->next_aside;
    }
    k->next_aside = *at;
    *at = k;
    if (k->next_aside == NULL) {
        c->aside_last = k;
    }
}

/* It is not under way until then: what it waits for may be behind it. */
static void set_aside(struct sl_carried *k, struct what *w)
{
    sl_carried_log(k, w->workload, "after others");
    k->c->in_flight--;
    append_aside(k->c, k);
}

static bool has_turn(struct sl_workloads *c, const struct sl_carried *k)
{
    return c->in_flight < SL_DECISIONS_IN_FLIGHT && !sl_engine_waits(c->engine, &k->d);
}

/* What the first one waits for is what most of them wait for, and is itself not waiting here; one that is to give back by now what it was to take waits
 * no longer, and others may wait for that. */
static void take_up_again(struct sl_workloads *c)
{
    struct sl_carried *k = c->aside;
    if (k == NULL || (!c->aside_is_old && !has_turn(c, k))) {
        return;
    }
    c->aside = c->aside_last = NULL;
    c->aside_is_old = false;
    while (k != NULL) {
        struct sl_carried *next = k->next_aside;
        k->next_aside = NULL;
        if (has_turn(c, k)) {
            c->in_flight++;
            happen(k, SL_WRITE_TURN, &(struct what){0});
        } else {
            append_aside(c, k);
        }
        k = next;
    }
}

/* --- the write -------------------------------------------------------------------------------- */

/* What the answer comes to. Of a deletion it is no answer about the Workload, which is forgotten when it is seen to be
 * gone. */
static enum sl_write_event outcome_of(struct sl_carried *k, const struct what *w)
{
    bool deletes = k->d.kind == SL_DECIDE_DELETE;
    bool absent = deletes && w->code == SL_CODE_NOT_FOUND;
    if (w->code == SL_CODE_CONFLICT && ++k->tries < SL_CONFLICT_TRIES) {
        return SL_WRITE_CONFLICT;
    }
    enum sl_then then = sl_engine_written(k->c->engine, &k->d, absent ? SL_CODE_OK : w->code,
                                          deletes ? NULL : w->workload, sl_clock_now_ms());
    if (then == SL_THEN_ASK) {
        return SL_WRITE_PART;
    }
    k->answered = true;
    k->shown = then == SL_THEN_SHOW;
    return absent ? SL_WRITE_ABSENT : w->code == SL_CODE_OK ? SL_WRITE_WRITTEN : SL_WRITE_FAILED;
}

static void written(void *context, enum sl_code code, const struct sl_error *e,
                    struct sl_json *result)
{
    struct what w = {.code = code, .error = e, .workload = result};
    happen(context, outcome_of(context, &w), &w);
}

/* What has ended goes: the Workload, or the Job of one that was deactivated, which takes it along. */
static void aim_deletion(struct sl_carried *k, const struct sl_json *live, struct sl_write *w)
{
    const struct sl_json *owner = sl_object_controller_ref(live);
    enum sl_kind kind = owner == NULL
                            ? SL_KIND_COUNT
                            : sl_kind_find_object(sl_json_path_text(owner, "apiVersion", ""),
                                                  sl_json_path_text(owner, "kind", ""));
    bool whole_job = !sl_condition_true(live, "Finished") && sl_kind_is_job(kind);
    if (whole_job) {
        w->kind = kind;
        w->name = sl_json_path_text(owner, "name", "");
        w->uid = sl_json_path_text(owner, "uid", "");
    }
    sl_carried_tell_deleted(k, live, whole_job);
}

static void send(struct sl_carried *k, struct what *w)
{
    const struct sl_client *client = k->c->client;
    struct sl_write write = {.verb = w->verb,
                             .kind = SL_KIND_WORKLOAD,
                             .ns = k->ns,
                             .name = k->name,
                             .body = w->patch,
                             .uid = k->uid};
    if (w->verb == SL_VERB_DELETE) {
        aim_deletion(k, w->workload, &write);
    }
    if (k->d.kind == SL_DECIDE_PENDING) {
        sl_budget_spend(&k->c->budget, sl_clock_now_ms());
    }
    client->write(client->self, &write, written, k);
}

/* --- the end ---------------------------------------------------------------------------------- */

/* What its object said meanwhile was not read, and no watch event will say it again. */
static void show(struct sl_carried *k)
{
    const struct sl_client *client = k->c->client;
    struct sl_json *live = NULL;
    struct sl_error e = {0};
    if (client->get(client->self, SL_KIND_WORKLOAD, k->ns, k->name, &live, &e) == SL_CODE_OK) {
        sl_engine_show(k->c->engine, live, sl_clock_now_ms());
        sl_workloads_count_news(k->c, live);
    }
    sl_json_free(live);
}

static void answer(struct sl_carried *k, enum sl_code code)
{
    k->answered = true;
    k->shown =
        sl_engine_written(k->c->engine, &k->d, code, NULL, sl_clock_now_ms()) == SL_THEN_SHOW;
}

static void end(struct sl_carried *k, struct what *w)
{
    char key[SL_KEY_SIZE];
    struct sl_carried *next = k->next;
    SL_PRE(k->c->in_flight > 0);
    k->c->in_flight--;
    if (!k->answered) {
        answer(k, w->code);
    }
    if (k->shown) {
        show(k);
    }
    if (next == NULL) {
        sl_key_print(k->ns, k->name, key);
        sl_map_remove(k->c->last, key, NULL);
    }
    sl_carried_free(k);
    if (next != NULL) {
        happen(next, SL_WRITE_TURN, &(struct what){0});
    }
}

static void tell(struct sl_carried *k, struct what *w)
{
    if (k->d.kind == SL_DECIDE_DELETE) {
        sl_carried_log(k, NULL, "deleted");
    } else {
        sl_carried_log(k, w->workload, "written");
        sl_carried_tell(k, w->workload);
    }
    end(k, w);
}

static void tell_said(struct sl_carried *k, struct what *w)
{
    struct sl_workloads *c = k->c;
    bool evicted = k->d.kind == SL_DECIDE_EVICT && c->evicted_already != NULL;
    sl_carried_tell_said(k, w->workload);
    end(k, w);
    if (evicted) {
        c->evicted_already(c->context, w->workload);
    }
}

static void complain(struct sl_carried *k, struct what *w)
{
    k->c->counters.failed++;
    sl_carried_complain(k, w->error);
    end(k, w);
}

/* --- turns ------------------------------------------------------------------------------------ */

/* Only the last reason counts. The engine takes it for written: nothing depends on it. */
static void put_off(struct sl_workloads *c, const struct sl_decision *d, int64_t now_ms)
{
    char key[SL_KEY_SIZE];
    struct sl_carried *k = sl_carried_new(c, d);
    sl_key_print(d->ns, d->name, key);
    struct sl_carried *before = sl_map_find(c->untold_why, key);
    if (before != NULL) {
        sl_carried_free(before);
    }
    sl_map_put(c->untold_why, key, (union sl_map_value){.pointer = k});
    sl_work_add(c->untold, key, SL_WORK_NOW);
    if (sl_engine_written(c->engine, &k->d, SL_CODE_OK, NULL, now_ms) == SL_THEN_SHOW) {
        show(k);
    }
    k->d.put_off = true;
}

static bool can_tell(struct sl_workloads *c, int64_t now_ms)
{
    return c->in_flight < SL_DECISIONS_IN_FLIGHT && sl_budget_has(&c->budget, now_ms) &&
           sl_work_due_ms(c->untold) <= now_ms;
}

static void tell_untold(struct sl_workloads *c, int64_t now_ms)
{
    const char *key = sl_work_take(c->untold, now_ms);
    union sl_map_value why = {0};
    bool known = key != NULL && sl_map_remove(c->untold_why, key, &why);
    if (key != NULL) {
        sl_work_done(c->untold, key);
    }
    if (known) {
        carry_out_in_turn(why.pointer);
    }
}

bool sl_workloads_step(struct sl_workloads *c, int64_t now_ms, unsigned limit)
{
    struct sl_decision d;
    take_up_again(c);
    for (unsigned i = 0; i < limit; i++) {
        if (c->in_flight >= SL_DECISIONS_IN_FLIGHT) {
            return false;
        }
        if (!sl_engine_next_decision(c->engine, &d)) {
            if (can_tell(c, now_ms)) {
                tell_untold(c, now_ms);
            }
            return can_tell(c, now_ms);
        }
        if (d.kind == SL_DECIDE_PENDING && !sl_budget_has(&c->budget, now_ms)) {
            put_off(c, &d, now_ms);
        } else {
            carry_out_in_turn(sl_carried_new(c, &d));
        }
    }
    return true;
}

int64_t sl_workloads_due_ms(const struct sl_workloads *c)
{
    SL_PRE(c != NULL);
    return sl_work_due_ms(c->untold) == SL_WORK_NEVER ? INT64_MAX : sl_budget_due_ms(&c->budget);
}
