/* SPDX-License-Identifier: Apache-2.0
 * SPDX-FileCopyrightText: The Sluice authors */

/* The end of a turn, for the journal: what was noted is written, and where the journal wants one,
 * an image of the core with the names of what its ids stand for. */
#ifndef SL_ENGINE_JOURNAL_TURN_H
#define SL_ENGINE_JOURNAL_TURN_H
#include <stdint.h>

struct sl_engine;
/* The core is between two changes. */
void sl_journal_end_turn(struct sl_engine *g, int64_t now_ms);
#endif
