/* SPDX-License-Identifier: Apache-2.0
 * SPDX-FileCopyrightText: The Sluice authors */

/* The end of a turn, for the journal: pending records are written and, where the journal needs one,
 * an image of the core with the names of its ids. */
#ifndef SL_ENGINE_JOURNAL_TURN_H
#define SL_ENGINE_JOURNAL_TURN_H
#include <stdint.h>

struct sl_engine;
/* The core is between two changes. */
void sl_journal_end_turn(struct sl_engine *g, int64_t now_ms);
#endif
