/* SPDX-License-Identifier: Apache-2.0
 * SPDX-FileCopyrightText: The Sluice authors */

/* The core from within: its variables, by the table that images of it are made by (engine/journal/journal_image.h), and what
 * the engine keeps beside it. */
#ifndef SL_EXPLORE_CORE_H
#define SL_EXPLORE_CORE_H
#include "engine/engine.h"
#include "engine/state.h"
#include "tests/explore/state.h"

/* Before anything has happened. */
void core_begin(void);
/* As at the program's start. */
void core_forget(void);
/* What variables.txt says is one call's own is as at the start, so that a state is what is hashed. */
void core_wipe(void);
void core_add(struct sum *s);
/* Everything that is woken needlessly (G13). */
void core_wake_all(struct sl_engine *g);

/* Each workload in a few words, for who follows a history. */
void core_tell(void);
enum sl_phase core_phase_of(const struct sl_json *workload);
/* NULL = none is to be carried out. */
const struct sl_queued_decision *core_next_decision(const struct sl_engine *g);
/* Is anything about the workload of that number still to be written? */
bool core_is_decided(const struct sl_engine *g, uint32_t w);
const char *core_name_of(const struct sl_engine *g, const struct sl_queued_decision *q);
#endif
