/* SPDX-License-Identifier: Apache-2.0
 * SPDX-FileCopyrightText: The Sluice authors */

/* Which entry is next under fair sharing (Kueue's runTournament): in each cohort of the tree, from
 * the leaves upwards, the one whose branch would borrow nothing, or else have the lowest share,
 * with the entry admitted. All entries of one tree take part, several of one queue too. */
#ifndef SL_POLICY_TOURNAMENT_H
#define SL_POLICY_TOURNAMENT_H
#include "kernel/commit/commit.h"
#include "kernel/base/types.h"
#include "policy/entries/entries.h"
#include "specs/trial.acsl"

/* All entries of entries.h, by tree. */
/*@ requires sound: EntriesSound; terminates \true; exits \false;
    assigns sl_hidden, sl_entries[0 .. SL_ENTRIES_MAX - 1]; ensures sound: EntriesSound; */
void sl_tournament_begin(void);
/* The next entry, SL_NO_ID when all have been given: tree by tree. */
/*@ requires sound: EntriesSound; requires trial: TrialReady && sl_trail_depth < INT32_MAX;
    terminates \true; exits \false; assigns sl_hidden, SL_TRIED, sl_trail_depth;
    ensures trial: TrialReady && TakenBack{Pre, Post};
    ensures known: \result < SL_ENTRIES_MAX || \result == SL_NO_ID; */
uint32_t sl_tournament_next(void);
/* Something was charged or promised to a workload of this queue; call it before the next. */
/*@ terminates \true; exits \false; assigns sl_hidden; */
void sl_tournament_changed(sl_qnode_id queue);
#endif
