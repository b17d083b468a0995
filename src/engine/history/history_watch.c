/* SPDX-License-Identifier: Apache-2.0
 * SPDX-FileCopyrightText: The Sluice authors */

/* Looks at the core while a run is played: behind each call and outcome, at the workloads that it may have moved. */
#include "api/objects/kinds.h"
#include "base/check.h"
#include "base/mem.h"
#include "engine/conditions/conditions.h"
#include "engine/journal/pack.h"
#include "engine/history/history_pack.h"
#include "engine/history/history_seen.h"
#include "engine/replay/replay_records.h"
#include "kernel/lifecycle/lifecycle.h"
#include "policy/cycle/cycle.h"
#include "policy/queues/queues.h"
#include <errno.h>
#include <string.h>
#include <unistd.h>

#define FLUSH_BYTES (1u << 20)
#define QUEUE_PREFIX "cq/"

struct sl_history_watch {
    int fd;
    struct sl_buf out;
    struct sl_history_seen **of; /* by id; NULL: nothing was reported of it */
    uint32_t cap;
    int64_t begin_ms; /* of the run; SL_NEVER = no record had a time yet */
    int64_t now_ms;
    bool restored;        /* an image was put in, and what it has is not reported yet */
    bool beginning;       /* the daemon reads what there is: there was no cycle yet */
    sl_workload_id fresh; /* a workload that is being read for the first time; SL_NO_ID = none is */
    int64_t fresh_ms;
    struct sl_buf deleted; /* the workload that was just observed to be deleted; "" = none */
    struct {               /* it was dropped without that: to be read again */
        bool is;
        struct sl_buf name;
        struct sl_history_seen was;
    } dropped;
};

#define SL_REASON(constant, text) [constant] = text,
static const char *const finish_reasons[] = {
#include "model/finish_reasons.def"
};
static const char *const preempt_reasons[] = {
#include "model/preempt_reasons.def"
};
#undef SL_REASON

struct sl_history_watch *sl_history_watch_new(int fd)
{
    struct sl_history_watch *w = sl_mem_new(1, sizeof *w);
    w->fd = fd;
    w->begin_ms = SL_NEVER;
    w->now_ms = SL_NEVER;
    w->fresh = SL_NO_ID;
    w->beginning = true;
    return w;
}

void sl_history_watch_free(struct sl_history_watch *w)
{
    for (uint32_t i = 0; i < w->cap; i++) {
        if (w->of[i] != NULL) {
            sl_history_forget(w->of[i]);
            sl_mem_free(w->of[i]);
        }
    }
    sl_mem_free(w->of);
    sl_buf_fini(&w->out);
    sl_buf_fini(&w->deleted);
    sl_history_forget(&w->dropped.was);
    sl_buf_fini(&w->dropped.name);
    sl_mem_free(w);
}

/* What cannot be written would be missing in silence: the process ends instead, which is seen. */
static void flush(struct sl_history_watch *w)
{
    for (size_t at = 0; at < w->out.len;) {
        ssize_t n = write(w->fd, w->out.data + at, w->out.len - at);
        if (n < 0 && errno != EINTR) {
            _exit(1);
        }
        at += n < 0 ? 0 : (size_t)n;
    }
    sl_buf_reset(&w->out);
}

/* --- reporting --------------------------------------------------------------------------------------------------------- */

static const char *name_of(const struct sl_replay *r, enum sl_intern_class class, uint32_t id)
{
    return sl_journal_name(&r->names, class, id);
}

static void pack_move(struct sl_history_watch *w, const struct sl_replay *r, const char *workload,
                      const struct sl_history_seen *s, bool found, int64_t time_ms,
                      const struct sl_history_news_list *n)
{
    sl_history_pack(&w->out, r, &(struct sl_history_change){workload, s, found, time_ms}, n);
    if (w->out.len >= FLUSH_BYTES) {
        flush(w);
    }
}

static struct sl_history_seen *seen_of(struct sl_history_watch *w, sl_workload_id id)
{
    w->of = sl_mem_reach(w->of, &w->cap, 64, id, sizeof *w->of);
    if (w->of[id] == NULL) {
        w->of[id] = sl_mem_new(1, sizeof **w->of);
        w->of[id]->queue = SL_NO_ID;
    }
    return w->of[id];
}

/* Takes what `now` has. */
static void keep(struct sl_history_seen *was, const struct sl_history_seen *now)
{
    sl_history_forget(was);
    *was = *now;
    if (now->phase == SL_PHASE_ABSENT) {
        sl_history_forget(was);
    }
}

/* In a word: how one is found that is not over. */
static const char *state_of(const struct sl_history_seen *now)
{
    switch (now->phase) {
    case SL_PHASE_QUOTA_RESERVED:
        return "QuotaReserved";
    case SL_PHASE_ADMITTED:
        return "Admitted";
    case SL_PHASE_EVICTED:
        return "Evicted";
    default:
        return now->waits ? "Pending" : "Inactive";
    }
}

/* It was so before anything is known of it. */
static void report_found(struct sl_history_watch *w, const struct sl_replay *r, sl_workload_id id,
                         int64_t time_ms)
{
    struct sl_history_seen now;
    struct sl_history_news_list n = {0};
    sl_history_look(id, &now);
    if (now.phase == SL_PHASE_FINISHED) {
        sl_history_add(&n, SL_HISTORY_FINISHED, finish_reasons[sl_workloads[id].finished]);
    } else if (now.phase == SL_PHASE_ABSENT) {
        sl_history_add(&n, SL_HISTORY_DELETED, "");
    } else if (sl_history_holds(now.phase) || now.queue != SL_NO_ID) {
        sl_history_add(&n, SL_HISTORY_FOUND, state_of(&now));
    }
    pack_move(w, r, name_of(r, SL_INTERN_WORKLOAD, id), &now, true, time_ms, &n);
    keep(seen_of(w, id), &now);
}

/* --- one that is read for the first time ------------------------------------------------------------------------------ */

/* It was made while the daemon ran: objects have their time in whole seconds. */
static bool is_new(const struct sl_history_watch *w, sl_workload_id id)
{
    const struct sl_workload *record = &sl_workloads[id];
    return record->phase == SL_PHASE_PENDING && record->evicted == SL_EVICT_NONE &&
           record->requeued == SL_REQUEUED_UNSET &&
           (!w->beginning ||
            (w->begin_ms != SL_NEVER && sl_order_of(id).queued_at_ms >= w->begin_ms / 1000 * 1000));
}

static void report_first(struct sl_history_watch *w, const struct sl_replay *r, sl_workload_id id,
                         int64_t time_ms)
{
    struct sl_history_seen now;
    struct sl_history_news_list n = {0};
    if (!is_new(w, id)) {
        report_found(w, r, id, time_ms);
        return;
    }
    sl_history_look(id, &now);
    if (now.queue != SL_NO_ID) {
        sl_history_add(&n, SL_HISTORY_QUEUED, "");
    }
    pack_move(w, r, name_of(r, SL_INTERN_WORKLOAD, id), &now, false, time_ms, &n);
    keep(seen_of(w, id), &now);
}

/* --- one that is read again ------------------------------------------------------------------------------------------- */

/* Without a change of its own, since nodes are known that it has pods on, say: dropped, and created at once. */
static bool comes_back(const struct sl_history_watch *w, const struct sl_replay *r,
                       sl_workload_id id)
{
    return w->dropped.is && strcmp(w->dropped.name.data, name_of(r, SL_INTERN_WORKLOAD, id)) == 0;
}

static void drop(struct sl_history_watch *w, const struct sl_replay *r, sl_workload_id id)
{
    struct sl_history_seen *was = seen_of(w, id);
    w->dropped.is = true;
    sl_history_forget(&w->dropped.was);
    w->dropped.was = *was;
    sl_buf_reset(&w->dropped.name);
    sl_buf_text(&w->dropped.name, name_of(r, SL_INTERN_WORKLOAD, id));
    *was = (struct sl_history_seen){.queue = SL_NO_ID};
}

/* It did not come back. */
static void report_dropped(struct sl_history_watch *w, const struct sl_replay *r)
{
    struct sl_history_news_list n = {0};
    if (!w->dropped.is) {
        return;
    }
    w->dropped.is = false;
    if (w->dropped.was.phase != SL_PHASE_FINISHED) {
        sl_history_add(&n, SL_HISTORY_DELETED, "");
    }
    struct sl_history_seen none = {.queue = w->dropped.was.queue};
    pack_move(w, r, w->dropped.name.data, &none, false, w->now_ms, &n);
}

/* As it was before it was dropped: no news. False: it is another object, or otherwise now. */
static bool resume(struct sl_history_watch *w, const struct sl_replay *r, sl_workload_id id)
{
    struct sl_history_seen now;
    const struct sl_history_seen *was = &w->dropped.was;
    sl_history_look(id, &now);
    bool same_object = w->beginning || (now.key.uid_high == was->key.uid_high &&
                                        now.key.uid_low == was->key.uid_low);
    if (!comes_back(w, r, id) || !same_object) {
        report_dropped(w, r);
        sl_history_forget(&now);
        return false;
    }
    w->dropped.is = false;
    if (was->put_off || was->phase != now.phase || was->waits != now.waits ||
        !sl_history_holds_same(was, &now)) {
        sl_history_forget(&now);
        return false;
    }
    keep(seen_of(w, id), &now);
    return true;
}

/* All calls were made that bring it to where its object has it; but where a daemon begins, those are attached to their
 * queues later that wait in them. */
static void settle_fresh(struct sl_history_watch *w, const struct sl_replay *r)
{
    sl_workload_id id = w->fresh;
    if (id == SL_NO_ID) {
        report_dropped(w, r);
        return;
    }
    w->fresh = SL_NO_ID;
    if (w->dropped.is && resume(w, r, id)) {
        return;
    }
    if (w->beginning && sl_workloads[id].phase == SL_PHASE_PENDING &&
        sl_queues_queue_of(id) == SL_NO_ID) {
        seen_of(w, id)->put_off = true;
    } else {
        report_first(w, r, id, w->fresh_ms);
    }
}

/* The first cycle: what has no queue by now waits in none. */
static void end_beginning(struct sl_history_watch *w, const struct sl_replay *r)
{
    for (sl_workload_id id = 0; w->beginning && id < w->cap; id++) {
        if (w->of[id] != NULL && w->of[id]->put_off) {
            report_first(w, r, id, w->now_ms);
        }
    }
    w->beginning = false;
}

/* --- one that moved -------------------------------------------------------------------------------------------------- */

static void add_phase(struct sl_history_news_list *n, sl_workload_id id,
                      const struct sl_transition *did)
{
    const struct sl_workload *record = &sl_workloads[id];
    if (did->from == did->to) {
        return;
    }
    if (did->from == SL_PHASE_PENDING && sl_history_holds(did->to)) {
        sl_history_add(n, SL_HISTORY_RESERVED, "");
    }
    if (did->to == SL_PHASE_ADMITTED) {
        sl_history_add(n, SL_HISTORY_ADMITTED, "");
    }
    if (sl_history_holds(did->from) && did->to == SL_PHASE_PENDING) {
        sl_history_add(n, SL_HISTORY_RELEASED, sl_condition_evict_reason(record));
    }
    if (did->to == SL_PHASE_FINISHED) {
        sl_history_add(n, SL_HISTORY_FINISHED, finish_reasons[record->finished]);
    }
    if (did->to == SL_PHASE_ABSENT && did->from != SL_PHASE_FINISHED) {
        sl_history_add(n, SL_HISTORY_DELETED, "");
    }
}

/* By an eviction that `by` says of, or by whatever else moved it. */
static void add_news(struct sl_history_news_list *n, sl_workload_id id,
                     const struct sl_transition *did, const struct sl_history_news *by)
{
    const struct sl_workload *record = &sl_workloads[id];
    if ((did->to == SL_PHASE_EVICTED && did->from != did->to) || did->news[SL_CHANGED_EVICTION]) {
        sl_history_add(n, SL_HISTORY_EVICTED, sl_condition_evict_reason(record));
        if (by != NULL) {
            n->items[n->count - 1].rule = by->rule;
            n->items[n->count - 1].by = by->by;
        }
    }
    add_phase(n, id, did);
    if (did->news[SL_CHANGED_REQUEUE] && did->to == SL_PHASE_PENDING) {
        sl_history_add(n, SL_HISTORY_REQUEUED, sl_condition_requeue_reason(record));
    }
    if (did->news[SL_CHANGED_REASON] && did->to == SL_PHASE_PENDING) {
        sl_history_add(n, SL_HISTORY_PENDING, sl_condition_pending_reason(record));
    }
}

static void report_move(struct sl_history_watch *w, const struct sl_replay *r, sl_workload_id id,
                        const struct sl_transition *did, const struct sl_history_news *by)
{
    struct sl_history_seen now;
    struct sl_history_news_list n = {0};
    struct sl_history_seen *was = seen_of(w, id);
    sl_history_look(id, &now);
    bool queued = now.queue != SL_NO_ID && now.queue != was->queue;
    now.queue = now.queue == SL_NO_ID ? was->queue : now.queue;
    add_news(&n, id, did, by);
    if (queued && now.phase == SL_PHASE_PENDING) {
        sl_history_add(&n, SL_HISTORY_QUEUED, "");
    }
    bool changes = !sl_history_holds_same(was, &now);
    if (changes && sl_history_holds(now.phase) && did->from == did->to) {
        sl_history_add(&n, SL_HISTORY_RESIZED, "");
    }
    if (n.count > 0 || was->waits != now.waits || changes) {
        pack_move(w, r, name_of(r, SL_INTERN_WORKLOAD, id), &now, false, w->now_ms, &n);
    }
    keep(was, &now);
}

/* --- records --------------------------------------------------------------------------------------------------------- */

/* The workload that the call may move. */
static sl_workload_id subject(const struct sl_call *c)
{
    return c->kind == SL_CALL_reduce  ? c->reduce.workload
           : c->kind == SL_CALL_retry ? c->retry.workload
                                      : sl_call_subject(c);
}

/* Never backwards. What is made up for a workload that is read for the first time has times of its past. */
static void note_time(struct sl_history_watch *w, const struct sl_replay *r, bool of_fresh)
{
    int64_t time_ms = r->record->time_ms;
    if (time_ms <= 0 || of_fresh) {
        return;
    }
    if (w->begin_ms == SL_NEVER) {
        w->begin_ms = time_ms;
        w->now_ms = time_ms;
        pack_u8(&w->out, SL_HISTORY_WORD_BEGIN);
        pack_i64(&w->out, time_ms);
    }
    w->now_ms = time_ms > w->now_ms ? time_ms : w->now_ms;
}

static bool deletion_observed(const struct sl_history_watch *w, const struct sl_replay *r,
                              sl_workload_id id)
{
    return w->deleted.len > 0 && strcmp(w->deleted.data, name_of(r, SL_INTERN_WORKLOAD, id)) == 0;
}

static void after_call(struct sl_history_watch *w, const struct sl_replay *r)
{
    const struct sl_call *c = &r->made;
    sl_workload_id id = subject(c);
    bool creates = c->kind == SL_CALL_event && c->event.event.kind == SL_EV_CREATE;
    bool again = creates && w->fresh == SL_NO_ID && comes_back(w, r, id);
    if (c->kind == SL_CALL_cycle || (id != SL_NO_ID && id != w->fresh && !again)) {
        settle_fresh(w, r);
    }
    note_time(w, r, id != SL_NO_ID && id == w->fresh);
    if (c->kind == SL_CALL_cycle) {
        end_beginning(w, r);
    }
    if (id == SL_NO_ID || id == w->fresh || r->did.status != SL_OK) {
        return;
    }
    if (creates) {
        w->fresh = id;
        w->fresh_ms = w->now_ms;
    } else if (c->kind == SL_CALL_event && c->event.event.kind == SL_EV_DELETE &&
               !deletion_observed(w, r, id)) {
        drop(w, r, id);
    } else if (!seen_of(w, id)->put_off) {
        report_move(w, r, id, &r->did, NULL);
    } else if (c->kind == SL_CALL_attach || sl_workloads[id].phase != SL_PHASE_PENDING) {
        report_first(w, r, id, w->now_ms);
    }
}

/* Its own, and those that it preempts. */
static void after_outcome(struct sl_history_watch *w, const struct sl_replay *r)
{
    sl_workload_id id = sl_cycle_outcome.workload;
    report_move(w, r, id, &sl_cycle_outcome.did, NULL);
    if (sl_cycle_outcome.replaced != SL_NO_ID) {
        report_move(w, r, sl_cycle_outcome.replaced, &sl_cycle_outcome.replaced_did, NULL);
    }
    for (uint32_t i = 0; i < sl_cycle_evicted.count; i++) {
        struct sl_transition did = {.from = sl_cycle_evicted.from[i], .to = SL_PHASE_EVICTED};
        struct sl_history_news by = {.rule = preempt_reasons[sl_cycle_evicted.reasons[i]],
                                     .by = name_of(r, SL_INTERN_WORKLOAD, id)};
        report_move(w, r, sl_cycle_evicted.workloads[i], &did, &by);
    }
}

static void after_observe(struct sl_history_watch *w, const struct sl_replay *r)
{
    struct unpack u = {r->record->payload, r->record->payload + r->record->len, false};
    uint8_t kind = unpack_u8(&u);
    bool deleted = unpack_u8(&u) != 0;
    size_t len;
    (void)unpack_text(&u, &len);
    sl_buf_reset(&w->deleted);
    if (deleted && kind == SL_KIND_WORKLOAD) {
        const char *ns = unpack_text(&u, &len);
        sl_buf_add(&w->deleted, ns, len);
        sl_buf_text(&w->deleted, "/");
        const char *name = unpack_text(&u, &len);
        sl_buf_add(&w->deleted, name, len);
    }
}

static void after_name(struct sl_history_watch *w, const struct sl_replay *r)
{
    struct unpack u = {r->record->payload, r->record->payload + r->record->len, false};
    uint8_t class = unpack_u8(&u);
    (void)unpack_u32(&u);
    size_t len;
    const char *name = unpack_text(&u, &len);
    size_t prefix = strlen(QUEUE_PREFIX);
    if (class == SL_INTERN_QNODE && len > prefix && memcmp(name, QUEUE_PREFIX, prefix) == 0) {
        pack_u8(&w->out, SL_HISTORY_WORD_QUEUE);
        pack_u32(&w->out, (uint32_t)(len - prefix));
        sl_buf_add(&w->out, name + prefix, len - prefix);
    }
}

/* The names of an image follow it; then all is known that is needed to report of it. */
void sl_history_watch_before(void *watch, struct sl_replay *r)
{
    SL_PRE(watch != NULL && r != NULL);
    struct sl_history_watch *w = watch;
    if (!w->restored || r->record->type == SL_JOURNAL_NAME || r->record->type == SL_JOURNAL_IMAGE) {
        return;
    }
    w->restored = false;
    w->beginning = false;
    for (sl_workload_id id = 0; id < r->names.of[SL_INTERN_WORKLOAD].cap; id++) {
        if (sl_workloads[id].phase != SL_PHASE_ABSENT) {
            report_found(w, r, id, w->now_ms);
        }
    }
}

void sl_history_watch_after(void *watch, struct sl_replay *r)
{
    SL_PRE(watch != NULL && r != NULL);
    struct sl_history_watch *w = watch;
    switch (r->record->type) {
    case SL_JOURNAL_CALL:
        after_call(w, r);
        break;
    case SL_JOURNAL_OUTCOME:
        note_time(w, r, false);
        after_outcome(w, r);
        break;
    case SL_JOURNAL_OBSERVE:
        settle_fresh(w, r);
        note_time(w, r, false);
        after_observe(w, r);
        break;
    case SL_JOURNAL_NAME:
        after_name(w, r);
        break;
    case SL_JOURNAL_IMAGE: /* one that is come by says nothing new */
        w->restored = w->restored || w->begin_ms == SL_NEVER;
        note_time(w, r, false);
        break;
    default:
        break;
    }
}

void sl_history_watch_ended(void *watch, struct sl_replay *r)
{
    SL_PRE(watch != NULL && r != NULL);
    struct sl_history_watch *w = watch;
    settle_fresh(w, r);
    report_dropped(w, r);
    end_beginning(w, r);
    if (w->begin_ms != SL_NEVER) {
        pack_u8(&w->out, SL_HISTORY_WORD_END);
        pack_i64(&w->out, w->now_ms);
    }
    flush(w);
}
