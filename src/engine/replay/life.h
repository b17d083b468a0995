/* SPDX-License-Identifier: Apache-2.0
 * SPDX-FileCopyrightText: The Sluice authors */

/* One life of a journal in this process's core, record by record, for replay.c; and its story
 * (story.c). */
#ifndef SL_ENGINE_LIFE_H
#define SL_ENGINE_LIFE_H
#include "base/buf.h"
#include "engine/calls/call.h"
#include "engine/journal/journal.h"
#include "engine/replay/replay.h"
#include "engine/journal/roll.h"

struct sl_life {
    const struct sl_replay_options *options;
    struct sl_replay_result *result;
    struct sl_roll names;
    uint64_t sequence; /* of the last record */
    uint64_t cycle;    /* how many there were */
    bool in_cycle;     /* begun, and its outcomes are being compared */
    bool restoring;    /* it begins with an image, of which `part` is the next one; no change yet */
    uint32_t part;
    struct sl_buf list;
    struct sl_buf observed; /* what was seen last */
    struct sl_buf call;     /* the one that was made last, in words */
    bool is_cycle;          /* that one is */
    struct sl_buf outcome;  /* the newest of the last cycle, as bytes */
    struct sl_buf why;      /* the decision that was reported last was made, in words */
    sl_workload_id decided; /* its workload; SL_NO_ID = nothing was reported yet */
};
struct sl_told_decision {
    uint8_t kind;
    sl_workload_id workload;
    uint32_t generation;
    const char *reason; /* not terminated */
    size_t reason_len;
};

/* False: it ends here, and the result says why. */
bool sl_life_play(struct sl_life *life, const struct sl_journal_record *record);
/* Nothing follows. */
void sl_life_end(struct sl_life *life);
void sl_life_fini(struct sl_life *life);

/* --- story.c ---------------------------------------------------------------------------------- */
/* A line for a decision: time, record, cycle, kind, workload, queue, flavors, reason. */
void sl_story_decision(struct sl_life *life, const struct sl_journal_record *record,
                       const struct sl_told_decision *d);
/* Of the workload in the last line: why, and its state in the core now. */
void sl_story_stop(const struct sl_life *life);
void sl_story_note_observed(struct sl_life *life, const struct sl_journal_record *record);
void sl_story_note_call(struct sl_life *life, const struct sl_call *c);
const char *sl_story_kind(uint8_t decision_kind); /* "?" when there is none */
#endif
