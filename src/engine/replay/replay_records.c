/* SPDX-License-Identifier: Apache-2.0
 * SPDX-FileCopyrightText: The Sluice authors */

/* The records of one run, made again and compared. */
#include "engine/replay/replay_records.h"
#include "base/check.h"
#include "engine/conditions/conditions.h"
#include "engine/engine.h"
#include "engine/journal/journal_image.h"
#include "engine/journal/outcome.h"
#include "engine/journal/pack.h"
#include "engine/journal/status_text.h"
#include "kernel/lifecycle/lifecycle.h"
#include "policy/cycle/cycle.h"
#include <inttypes.h>
#include <stdarg.h>
#include <string.h>

bool sl_replay_ends(struct sl_replay_result *r, enum sl_replay_end how, const char *format, ...)
{
    va_list args;
    va_start(args, format);
    (void)vsnprintf(r->why, sizeof r->why, format, args);
    va_end(args);
    r->end = how;
    return false;
}

static bool unreadable(struct sl_replay *r, const char *what)
{
    return sl_replay_ends(
        r->result, SL_REPLAY_DIFFERS,
        "record %" PRIu64
        ": its checksum is right, but there is no %s in it that this program knows",
        r->record->sequence, what);
}

/* --- outcomes --------------------------------------------------------------------------------- */

/* What the core comes to for the next head of the cycle; false: there is none. */
static bool next_outcome(struct sl_replay *r)
{
    if (!sl_cycle_next()) {
        return false;
    }
    sl_buf_reset(&r->outcome);
    sl_outcome_pack(&r->outcome);
    return true;
}

/* Is one recorded, and does the core come to one now? */
static bool outcome_differs(struct sl_replay *r, bool recorded, bool now)
{
    static const char none[] = "no further outcome";
    struct sl_buf was_text = {0};
    struct sl_buf now_text = {0};
    bool readable = sl_outcome_print(r->record->payload, r->record->len, &r->names, &was_text);
    (void)sl_outcome_print(r->outcome.data, r->outcome.len, &r->names, &now_text);
    (void)sl_replay_ends(r->result, SL_REPLAY_DIFFERS,
                         "%srecord %" PRIu64 ", %sin cycle %" PRIu64
                         ":\n  recorded: %s%s\n  now:      %s",
                         recorded ? "" : "before ", r->record->sequence, recorded ? "outcome " : "",
                         r->cycle, recorded ? was_text.data : none,
                         readable || !recorded ? "" : " (unreadable)", now ? now_text.data : none);
    sl_buf_fini(&was_text);
    sl_buf_fini(&now_text);
    return false;
}

static bool play_outcome(struct sl_replay *r)
{
    if (!r->in_cycle || !next_outcome(r)) {
        r->in_cycle = false;
        return outcome_differs(r, true, false);
    }
    r->result->outcomes++;
    return (r->outcome.len == r->record->len &&
            memcmp(r->outcome.data, r->record->payload, r->record->len) == 0) ||
           outcome_differs(r, true, true);
}

/* --- calls ------------------------------------------------------------------------------------ */

/* The cycle before is over: the core must have nothing to add to it. */
static bool end_cycle(struct sl_replay *r)
{
    if (r->in_cycle) {
        r->in_cycle = false;
        if (next_outcome(r)) {
            return outcome_differs(r, false, true);
        }
        (void)sl_cycle_end();
    }
    return true;
}

static bool begin_cycle(struct sl_replay *r, const struct sl_call_cycle *v)
{
    const struct sl_replay_options *o = r->options;
    uint64_t number = r->result->starts;
    if (o->until_cycle > 0 && r->cycle == o->until_cycle &&
        (o->until_start == 0 || number == o->until_start)) {
        return sl_replay_ends(r->result, SL_REPLAY_STOPPED,
                              "behind cycle %" PRIu64 " of start %" PRIu64, r->cycle, number);
    }
    r->cycle++;
    r->result->cycles++;
    sl_buf_reset(&r->outcome);
    sl_call_begin_cycle(v);
    r->in_cycle = true;
    return true;
}

/* Also where nothing is printed, and it was not put into words as it came. */
static const char *call_text(struct sl_replay *r, const struct sl_call *c)
{
    sl_buf_reset(&r->call);
    sl_call_print(&r->call, c, &r->names);
    return r->call.data;
}

static bool play_call(struct sl_replay *r)
{
    struct sl_call c;
    enum sl_status recorded;
    if (!sl_call_unpack(r->record->payload, r->record->len, &c, &r->list, &recorded)) {
        return unreadable(r, "call");
    }
    if (!end_cycle(r)) {
        return false;
    }
    r->result->calls++;
    sl_replay_note_call(r, &c);
    r->did = (struct sl_transition){.status = SL_OK};
    r->made = c;
    if (c.kind == SL_CALL_cycle) {
        return begin_cycle(r, &c.cycle);
    }
    sl_cell_id cell = c.open_cell.cell; /* that an opened one became */
    r->did = sl_call_carry_out(&c);
    enum sl_status now = r->did.status;
    r->result->refused += now != SL_OK;
    if (c.kind == SL_CALL_open_cell && now == SL_OK && now == recorded &&
        c.open_cell.cell != cell) {
        return sl_replay_ends(r->result, SL_REPLAY_DIFFERS,
                              "record %" PRIu64
                              ", call %s:\n  recorded: cell %u\n  now:      cell %u",
                              r->record->sequence, call_text(r, &r->made), cell, c.open_cell.cell);
    }
    return now == recorded ||
           sl_replay_ends(r->result, SL_REPLAY_DIFFERS,
                          "record %" PRIu64 ", call %s:\n  recorded: %s\n  now:      %s",
                          r->record->sequence, call_text(r, &r->made), sl_status_name(recorded),
                          sl_status_name(now));
}

/* --- decisions -------------------------------------------------------------------------------- */

static bool is(const struct sl_replay_decision *d, const char *reason)
{
    return strlen(reason) == d->reason_len && memcmp(reason, d->reason, d->reason_len) == 0;
}

/* The reason that follows from the record; NULL: the recorded one. Which of the two vocabularies the
 * daemon spoke is its configuration's business, and who is to blame in the older one is known to the
 * engine only. */
static const char *reason_now(const struct sl_replay_decision *d, const struct sl_workload *w)
{
    const char *reason = sl_condition_decision_reason(w, (enum sl_decision_kind)d->kind);
    if (reason != NULL) {
        return reason;
    }
    reason = sl_condition_pending_reason(w);
    return is(d, reason) || is(d, sl_condition_legacy_reason(w, false)) ||
                   is(d, sl_condition_legacy_reason(w, true))
               ? NULL
               : reason;
}

static bool compare_decision(struct sl_replay *r, const struct sl_replay_decision *d)
{
    const struct sl_workload *w = &sl_workloads[d->workload];
    const char *now = reason_now(d, w);
    return ((now == NULL || is(d, now)) && w->generation == d->generation) ||
           sl_replay_ends(
               r->result, SL_REPLAY_DIFFERS,
               "record %" PRIu64 ", decision %s about %s (id %u):\n"
               "  recorded: generation %u, reason %.*s\n  now:      generation %u, reason %s",
               r->record->sequence, sl_replay_decision_name(d->kind),
               sl_journal_name(&r->names, SL_INTERN_WORKLOAD, d->workload), d->workload,
               d->generation, (int)d->reason_len, d->reason, w->generation,
               now == NULL ? "the same" : now);
}

static bool play_decision(struct sl_replay *r)
{
    struct unpack u = {r->record->payload, r->record->payload + r->record->len, false};
    struct sl_replay_decision d = {.kind = unpack_u8(&u)};
    d.workload = unpack_u32(&u);
    d.generation = unpack_u32(&u);
    d.reason = unpack_text(&u, &d.reason_len);
    if (u.failed || u.at != u.end || sl_replay_decision_name(d.kind) == NULL ||
        d.workload >= SL_WORKLOADS_MAX) {
        return unreadable(r, "decision");
    }
    r->result->decisions++;
    sl_replay_print_decision(r, &d);
    return compare_decision(r, &d);
}

/* --- images ----------------------------------------------------------------------------------- */

static bool not_whole(struct sl_replay *r)
{
    return sl_replay_ends(r->result, SL_REPLAY_PARTIAL,
                          "the image before record %" PRIu64
                          " is not whole: what follows cannot be played",
                          r->sequence + 1);
}

/* One that the replay only comes by says nothing new: what it would be compared with has holes
 * between fields, in which anything may stand. */
static bool play_image(struct sl_replay *r)
{
    struct sl_image_part part;
    if (!sl_image_look(r->record->payload, r->record->len, &part) ||
        (r->restoring &&
         (part.number != r->part++ || !sl_image_put(r->record->payload, r->record->len)))) {
        return unreadable(r, "image");
    }
    if (r->restoring) {
        r->restoring = !part.last;
        r->cycle = part.cycle;
    }
    return true;
}

/* --- all of them ------------------------------------------------------------------------------ */

static bool play(struct sl_replay *r)
{
    if (r->restoring && r->record->type != SL_JOURNAL_IMAGE) {
        return not_whole(r);
    }
    switch (r->record->type) {
    case SL_JOURNAL_START:
        return true;
    case SL_JOURNAL_NAME:
        return sl_journal_name_add(&r->names, r->record->payload, r->record->len) ||
               unreadable(r, "name");
    case SL_JOURNAL_OBSERVE:
        sl_replay_note_observed(r);
        return true;
    case SL_JOURNAL_CALL:
        return play_call(r);
    case SL_JOURNAL_OUTCOME:
        return play_outcome(r);
    case SL_JOURNAL_DECISION:
        return play_decision(r);
    case SL_JOURNAL_IMAGE:
        return play_image(r);
    default:
        return unreadable(r, "record");
    }
}

static bool play_watched(struct sl_replay *r)
{
    const struct sl_replay_watch *watch = r->options->watch;
    if (watch == NULL) {
        return play(r);
    }
    watch->before(watch->context, r);
    if (!play(r)) {
        return false;
    }
    watch->after(watch->context, r);
    return true;
}

bool sl_replay_record(struct sl_replay *r)
{
    SL_PRE(r != NULL);
    const struct sl_replay_options *o = r->options;
    if (r->sequence != 0 && r->record->sequence != r->sequence + 1) {
        return sl_replay_ends(r->result, SL_REPLAY_PARTIAL,
                              "records %" PRIu64 " to %" PRIu64
                              " are not in the journal: what follows cannot be played",
                              r->sequence + 1, r->record->sequence - 1);
    }
    r->sequence = r->record->sequence;
    r->result->sequence = r->record->sequence;
    r->result->records++;
    if (!play_watched(r)) {
        return false;
    }
    return o->until_sequence == 0 || r->record->sequence < o->until_sequence ||
           sl_replay_ends(r->result, SL_REPLAY_STOPPED, "behind record %" PRIu64,
                          r->record->sequence);
}

void sl_replay_finish(struct sl_replay *r)
{
    SL_PRE(r != NULL);
    if (r->restoring) {
        (void)not_whole(r);
    }
}

void sl_replay_fini(struct sl_replay *r)
{
    SL_PRE(r != NULL);
    sl_journal_names_fini(&r->names);
    sl_buf_fini(&r->list);
    sl_buf_fini(&r->observed);
    sl_buf_fini(&r->call);
    sl_buf_fini(&r->outcome);
    sl_buf_fini(&r->why);
}
