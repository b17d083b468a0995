/* SPDX-License-Identifier: Apache-2.0
 * SPDX-FileCopyrightText: The Sluice authors */

/* Whose entry is next under fair sharing (FEATURES 3.4): in each cohort of the tree, from the
 * leaves upwards, the one whose branch would borrow nothing, or else have the lowest share, with
 * the entry served. All entries of one tree take part, several of one queue too. */
#ifndef SL_POLICY_TOURNAMENT_H
#define SL_POLICY_TOURNAMENT_H
#include "kernel/types.h"

/* All entries of entries.h, by tree. */
void sl_tournament_begin(void);
/* The next entry, SL_NO_ID when all have been given: tree by tree. */
uint32_t sl_tournament_next(void);
/* Something was charged or promised to somebody of this queue; to be told before the next. */
void sl_tournament_changed(sl_node_id queue);
#endif
