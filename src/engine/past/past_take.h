/* SPDX-License-Identifier: Apache-2.0
 * SPDX-FileCopyrightText: The Sluice authors */

/* One run of a daemon, from a start or an image on, as lines for past_read.c. It is done in a copy of the process: the
 * calls are made in its core. */
#ifndef SL_ENGINE_PAST_TAKE_H
#define SL_ENGINE_PAST_TAKE_H
#include "engine/journal/journal.h"
#include "engine/past/past_child.h"

struct sl_past_take {
    struct sl_journal_reader *reader;
    struct sl_journal_record *record; /* the first one */
};
/* From the record on to the next start, or to where nothing can be read. Each line is an entry as JSON; the last one is
 * {"do":"end","sequence":N,...}. The context is a struct sl_past_take. */
void sl_past_take(void *context, struct sl_past_pipe *pipe);
#endif
