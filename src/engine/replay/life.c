/* SPDX-License-Identifier: Apache-2.0
 * SPDX-FileCopyrightText: The Sluice authors */

/* The records of one life, made again and compared. */
#include "engine/replay/life.h"
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

static bool ends(struct sl_life *life, enum sl_replay_end how, const char *format, ...)
    __attribute__((format(printf, 3, 4)));

/* Always false: that is what sl_life_play answers then. */
static bool ends(struct sl_life *life, enum sl_replay_end how, const char *format, ...)
{
    va_list args;
    va_start(args, format);
    (void)vsnprintf(life->result->why, sizeof life->result->why, format, args);
    va_end(args);
    life->result->end = how;
    return false;
}

static bool unreadable(struct sl_life *life, const struct sl_journal_record *record,
                       const char *what)
{
    return ends(life, SL_REPLAY_DIFFERS,
                "record %" PRIu64
                ": its checksum is right, but there is no %s in it that this program knows",
                record->sequence, what);
}

/* --- calls ------------------------------------------------------------------------------------ */

/* The cycle before is over: the core must have nothing to add to it. */
static bool end_cycle(struct sl_life *life, const struct sl_journal_record *record)
{
    if (!life->in_cycle) {
        return true;
    }
    life->in_cycle = false;
    if (sl_cycle_next()) {
        struct sl_buf now = {0};
        struct sl_buf text = {0};
        sl_outcome_pack(&now);
        (void)sl_outcome_print(now.data, now.len, &life->names, &text);
        (void)ends(life, SL_REPLAY_DIFFERS,
                   "before record %" PRIu64 ", in cycle %" PRIu64
                   ":\n  recorded: no further outcome\n  now:      %s",
                   record->sequence, life->cycle, text.data);
        sl_buf_fini(&now);
        sl_buf_fini(&text);
        return false;
    }
    (void)sl_cycle_end();
    return true;
}

static bool begin_cycle(struct sl_life *life, const struct sl_call_cycle *v)
{
    const struct sl_replay_options *o = life->options;
    uint64_t number = life->result->lives;
    if (o->until_cycle > 0 && life->cycle == o->until_cycle &&
        (o->until_life == 0 || number == o->until_life)) {
        return ends(life, SL_REPLAY_STOPPED, "behind cycle %" PRIu64 " of start %" PRIu64,
                    life->cycle, number);
    }
    life->cycle++;
    life->result->cycles++;
    sl_buf_reset(&life->outcome);
    sl_call_begin_cycle(v);
    life->in_cycle = true;
    return true;
}

static bool play_call(struct sl_life *life, const struct sl_journal_record *record)
{
    struct sl_call c;
    enum sl_status recorded;
    if (!sl_call_unpack(record->payload, record->len, &c, &life->list, &recorded)) {
        return unreadable(life, record, "call");
    }
    if (!end_cycle(life, record)) {
        return false;
    }
    life->result->calls++;
    sl_story_note_call(life, &c);
    if (c.kind == SL_CALL_cycle) {
        return begin_cycle(life, &c.cycle);
    }
    sl_cell_id cell = c.open_cell.cell; /* that an opened one became */
    enum sl_status now = sl_call_carry_out(&c).status;
    life->result->refused += now != SL_OK;
    if (c.kind == SL_CALL_open_cell && now == SL_OK && now == recorded &&
        c.open_cell.cell != cell) {
        return ends(life, SL_REPLAY_DIFFERS,
                    "record %" PRIu64 ", call %s:\n  recorded: cell %u\n  now:      cell %u",
                    record->sequence, life->call.data, cell, c.open_cell.cell);
    }
    return now == recorded ||
           ends(life, SL_REPLAY_DIFFERS,
                "record %" PRIu64 ", call %s:\n  recorded: %s\n  now:      %s", record->sequence,
                life->call.data, sl_status_name(recorded), sl_status_name(now));
}

/* --- outcomes --------------------------------------------------------------------------------- */

static bool outcome_differs(struct sl_life *life, const struct sl_journal_record *record,
                            const struct sl_buf *now)
{
    struct sl_buf was_text = {0};
    struct sl_buf now_text = {0};
    bool readable = sl_outcome_print(record->payload, record->len, &life->names, &was_text);
    if (now == NULL) {
        sl_buf_text(&now_text, "no further outcome");
    } else {
        (void)sl_outcome_print(now->data, now->len, &life->names, &now_text);
    }
    (void)ends(life, SL_REPLAY_DIFFERS,
               "record %" PRIu64 ", outcome in cycle %" PRIu64
               ":\n  recorded: %s%s\n  now:      %s",
               record->sequence, life->cycle, was_text.data, readable ? "" : " (unreadable)",
               now_text.data);
    sl_buf_fini(&was_text);
    sl_buf_fini(&now_text);
    return false;
}

static bool play_outcome(struct sl_life *life, const struct sl_journal_record *record)
{
    if (!life->in_cycle || !sl_cycle_next()) {
        life->in_cycle = false;
        return outcome_differs(life, record, NULL);
    }
    life->result->outcomes++;
    sl_buf_reset(&life->outcome);
    sl_outcome_pack(&life->outcome);
    return (life->outcome.len == record->len &&
            memcmp(life->outcome.data, record->payload, record->len) == 0) ||
           outcome_differs(life, record, &life->outcome);
}

/* --- decisions -------------------------------------------------------------------------------- */

static bool is(const struct sl_told_decision *d, const char *reason)
{
    return strlen(reason) == d->reason_len && memcmp(reason, d->reason, d->reason_len) == 0;
}

/* Which of the two vocabularies the daemon spoke is its configuration's business, and who is to blame
 * in the older one is known to the engine only. */
static bool is_pending_reason(const struct sl_told_decision *d, const struct sl_workload *w)
{
    return is(d, sl_condition_pending_reason(w)) ||
           is(d, sl_condition_legacy_reason(w->pending_reason, false)) ||
           is(d, sl_condition_legacy_reason(w->pending_reason, true));
}

static const char *reason_now(const struct sl_told_decision *d, const struct sl_workload *w)
{
    const char *reason = sl_condition_decision_reason(w, (enum sl_decision_kind)d->kind);
    if (reason != NULL) {
        return reason;
    }
    return is_pending_reason(d, w) ? "" : sl_condition_pending_reason(w);
}

static bool decision_differs(struct sl_life *life, const struct sl_journal_record *record,
                             const struct sl_told_decision *d, const char *now)
{
    return ends(life, SL_REPLAY_DIFFERS,
                "record %" PRIu64 ", decision %s about %s (id %u):\n"
                "  recorded: generation %u, reason %.*s\n  now:      generation %u, reason %s",
                record->sequence, sl_story_kind(d->kind),
                sl_roll_name(&life->names, SL_INTERN_WORKLOAD, d->workload), d->workload,
                d->generation, (int)d->reason_len, d->reason, sl_workloads[d->workload].generation,
                now);
}

static bool compare_decision(struct sl_life *life, const struct sl_journal_record *record,
                             const struct sl_told_decision *d)
{
    const struct sl_workload *w = &sl_workloads[d->workload];
    const char *now = reason_now(d, w);
    bool same = (now[0] == '\0' || is(d, now)) && w->generation == d->generation;
    return same || decision_differs(life, record, d, now[0] == '\0' ? "the same" : now);
}

static bool play_decision(struct sl_life *life, const struct sl_journal_record *record)
{
    struct unpack u = {record->payload, record->payload + record->len, false};
    struct sl_told_decision d = {.kind = unpack_u8(&u)};
    d.workload = unpack_u32(&u);
    d.generation = unpack_u32(&u);
    d.reason = unpack_text(&u, &d.reason_len);
    if (u.failed || u.at != u.end || strcmp(sl_story_kind(d.kind), "?") == 0 ||
        d.workload >= SL_WORKLOADS_MAX) {
        return unreadable(life, record, "decision");
    }
    life->result->decisions++;
    sl_story_decision(life, record, &d);
    return compare_decision(life, record, &d);
}

/* --- images ----------------------------------------------------------------------------------- */

static bool not_whole(struct sl_life *life)
{
    return ends(life, SL_REPLAY_PARTIAL,
                "the image before record %" PRIu64 " is not whole: what follows cannot be played",
                life->sequence + 1);
}

/* That the life begins with. */
static bool put_part(struct sl_life *life, const struct sl_journal_record *record,
                     const struct sl_image_part *part)
{
    if (part->number != life->part++ || !sl_image_put(record->payload, record->len)) {
        return unreadable(life, record, "image");
    }
    life->restoring = !part->last;
    life->cycle = part->cycle;
    return true;
}

/* One that the life only comes by says nothing new: what it would be compared with has holes between
 * fields, in which anything may stand. */
static bool play_image(struct sl_life *life, const struct sl_journal_record *record)
{
    struct sl_image_part part;
    if (!sl_image_look(record->payload, record->len, &part)) {
        return unreadable(life, record, "image");
    }
    return !life->restoring || put_part(life, record, &part);
}

/* --- all of them ------------------------------------------------------------------------------ */

static bool play(struct sl_life *life, const struct sl_journal_record *record)
{
    if (life->restoring && record->type != SL_JOURNAL_IMAGE) {
        return not_whole(life);
    }
    switch (record->type) {
    case SL_JOURNAL_START:
        return true;
    case SL_JOURNAL_NAME:
        return sl_roll_add(&life->names, record->payload, record->len) ||
               unreadable(life, record, "name");
    case SL_JOURNAL_OBSERVE:
        sl_story_note_observed(life, record);
        return true;
    case SL_JOURNAL_CALL:
        return play_call(life, record);
    case SL_JOURNAL_OUTCOME:
        return play_outcome(life, record);
    case SL_JOURNAL_DECISION:
        return play_decision(life, record);
    case SL_JOURNAL_IMAGE:
        return play_image(life, record);
    default:
        return unreadable(life, record, "record");
    }
}

bool sl_life_play(struct sl_life *life, const struct sl_journal_record *record)
{
    SL_PRE(life != NULL);
    const struct sl_replay_options *o = life->options;
    if (life->sequence != 0 && record->sequence != life->sequence + 1) {
        return ends(life, SL_REPLAY_PARTIAL,
                    "records %" PRIu64 " to %" PRIu64
                    " are not in the journal: what follows cannot be played",
                    life->sequence + 1, record->sequence - 1);
    }
    life->sequence = record->sequence;
    life->result->sequence = record->sequence;
    life->result->records++;
    if (!play(life, record)) {
        return false;
    }
    return o->until_sequence == 0 || record->sequence < o->until_sequence ||
           ends(life, SL_REPLAY_STOPPED, "behind record %" PRIu64, record->sequence);
}

void sl_life_end(struct sl_life *life)
{
    SL_PRE(life != NULL);
    if (life->restoring) {
        (void)not_whole(life);
    }
}

void sl_life_fini(struct sl_life *life)
{
    SL_PRE(life != NULL);
    sl_roll_fini(&life->names);
    sl_buf_fini(&life->list);
    sl_buf_fini(&life->observed);
    sl_buf_fini(&life->call);
    sl_buf_fini(&life->outcome);
    sl_buf_fini(&life->why);
}
