/* SPDX-License-Identifier: Apache-2.0
 * SPDX-FileCopyrightText: The Sluice authors */

/* What the process that plays reports the one that asked (history_watch.c to history.c), as bytes in a file that lies in memory. */
#ifndef SL_ENGINE_HISTORY_PACK_H
#define SL_ENGINE_HISTORY_PACK_H
#include "engine/history/history.h"
#include "engine/replay/replay.h"

enum sl_history_word {
    SL_HISTORY_WORD_BEGIN = 1,
    SL_HISTORY_WORD_QUEUE,
    SL_HISTORY_WORD_MOVE,
    SL_HISTORY_WORD_END
};
enum sl_history_flag { SL_HISTORY_IS_FOUND = 1, SL_HISTORY_WAITS = 2, SL_HISTORY_OVER = 4 };

/* BEGIN, END: time (i64). QUEUE: text. MOVE: time (i64), record (u64), workload, queue (texts), flags (u8), how many rows
 * (u8), each: flavor, resource (texts), amount (i64); how many news (u8), each: kind (u8), reason, rule, by (texts). */

/* Looks on for one run, in its process, and writes to the file. */
struct sl_history_watch;
struct sl_history_watch *sl_history_watch_new(int fd);
void sl_history_watch_free(struct sl_history_watch *w);
void sl_history_watch_before(void *watch, struct sl_replay *r);
void sl_history_watch_after(void *watch, struct sl_replay *r);
void sl_history_watch_ended(void *watch, struct sl_replay *r);
#endif
