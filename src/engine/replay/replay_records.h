/* SPDX-License-Identifier: Apache-2.0
 * SPDX-FileCopyrightText: The Sluice authors */

/* One run of a daemon, played again in this process's core, record by record, for replay.c; and
 * what is printed about it (replay_text.c). */
#ifndef SL_ENGINE_REPLAY_RECORDS_H
#define SL_ENGINE_REPLAY_RECORDS_H
#include "base/buf.h"
#include "engine/calls/call.h"
#include "engine/journal/journal.h"
#include "engine/journal/journal_names.h"
#include "engine/replay/replay.h"

struct sl_replay {
    const struct sl_replay_options *options;
    struct sl_replay_result *result;
    struct sl_journal_names names;
    const struct sl_journal_record *record; /* that is being played */
    uint64_t sequence;                      /* of the last record */
    uint64_t cycle;                         /* how many there were */
    bool in_cycle;                          /* begun, and its outcomes are being compared */
    bool restoring; /* it begins with an image, of which `part` is the next one; no change yet */
    uint32_t part;
    struct sl_buf list;
    struct sl_buf observed; /* what was seen last */
    struct sl_buf call;     /* the one that was made last, in words */
    bool is_cycle;          /* that one is */
    struct sl_buf outcome;  /* the newest of the last cycle, as bytes */
    struct sl_buf why;      /* the decision that was printed last was made, in words */
    sl_workload_id decided; /* its workload; SL_NO_ID = nothing was printed yet */
    struct sl_call made;    /* the last call but for its list, and what became of it */
    struct sl_transition did;
};
struct sl_replay_decision {
    uint8_t kind;
    sl_workload_id workload;
    uint32_t generation;
    const char *reason; /* not terminated */
    size_t reason_len;
};

/* The next record, in `record`. False: it ends here, and the result says why. */
bool sl_replay_record(struct sl_replay *r);
/* Nothing follows. */
void sl_replay_finish(struct sl_replay *r);
void sl_replay_fini(struct sl_replay *r);
/* Always false: that is what sl_replay_record answers then. */
bool sl_replay_ends(struct sl_replay_result *r, enum sl_replay_end how, const char *format, ...)
    __attribute__((format(printf, 3, 4)));

/* --- replay_text.c ---------------------------------------------------------------------------- */
/* A line for a decision: time, record, cycle, kind, workload, queue, flavors, reason. */
void sl_replay_print_decision(struct sl_replay *r, const struct sl_replay_decision *d);
/* Of the workload in the last line: why, and its state in the core now. */
void sl_replay_print_stop(const struct sl_replay *r);
void sl_replay_note_observed(struct sl_replay *r);
void sl_replay_note_call(struct sl_replay *r, const struct sl_call *c);
const char *sl_replay_decision_name(uint8_t kind); /* NULL when there is none */
#endif
