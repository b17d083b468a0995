/* SPDX-License-Identifier: Apache-2.0
 * SPDX-FileCopyrightText: The Sluice authors */

/* A journal played again (G11): its calls are made in a fresh core, and every answer, every outcome
 * of a cycle and every decision that the journal holds is compared with what the core comes to now.
 * On the way each decision is printed in a line. Each run of a daemon (from one start record to
 * the next, or from an image of the core when its start is missing) is played in a process of its own, since a
 * core can be fresh only once. */
#ifndef SL_ENGINE_REPLAY_H
#define SL_ENGINE_REPLAY_H
#include "base/error.h"
#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>

struct sl_replay;
/* One who looks on while it is played. With `context` it is called in the
 * process that plays, which has a copy of all that was there before. */
struct sl_replay_watch {
    void (*before)(void *context, struct sl_replay *r); /* a record is played, */
    void (*after)(void *context, struct sl_replay *r);  /* and was, and came out the same */
    void (*ended)(void *context, struct sl_replay *r);  /* the run; also where it differs */
    void *context;
    void (*played)(void *player); /* in the caller's process: a run was */
    void *player;
};

struct sl_replay_options {
    const char *path;        /* a file of a journal, or its directory */
    uint64_t until_sequence; /* stop behind this record; 0 = at the end */
    uint64_t until_cycle;    /* stop behind this cycle, counted from a start; 0 = at the end */
    uint64_t until_start;    /* behind this start, from 1; 0 = the first that has so many */
    const char *workload;    /* print only NAMESPACE/NAME, and why; NULL = all */
    FILE *out;               /* where this is printed; NULL = nowhere */
    const struct sl_replay_watch *watch; /* NULL = none */
};

enum sl_replay_end {
    SL_REPLAY_SAME,    /* everything there is was played, and came out the same */
    SL_REPLAY_STOPPED, /* where the options say; the same up to there */
    SL_REPLAY_DIFFERS, /* `why` says where, what was recorded and what came out */
    SL_REPLAY_PARTIAL  /* the same as far as it could be played; `why` says what is missing */
};
struct sl_replay_result {
    enum sl_replay_end end;
    uint64_t sequence; /* of the last record that was played */
    uint64_t records;
    uint64_t starts, images; /* runs that were played, and those of them from an image on */
    uint64_t torn;           /* files with a torn end */
    uint64_t calls, refused, cycles, outcomes, decisions;
    uint64_t told; /* decisions that have a line */
    char why[4096];
};

/* OK when it was played, whatever came of it. Else it cannot be read at all. */
enum sl_code sl_replay_run(const struct sl_replay_options *options, struct sl_replay_result *result,
                           struct sl_error *e);
#endif
