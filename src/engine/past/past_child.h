/* SPDX-License-Identifier: Apache-2.0
 * SPDX-FileCopyrightText: The Sluice authors */

/* Work in a copy of the process that has a core of its own, and says what comes of it in lines, as they come: unlike
 * base/aside.h of any length, and for programs that have nothing else to do meanwhile. */
#ifndef SL_ENGINE_PAST_CHILD_H
#define SL_ENGINE_PAST_CHILD_H
#include "api/json/json.h"
#include "base/buf.h"
#include "base/error.h"
#include <stdbool.h>

struct sl_past_pipe {
    struct sl_buf text; /* whole lines, each a JSON value */
    int fd;
};
/* What was written so far goes on its way, where it is much, or `all`. */
void sl_past_pipe_push(struct sl_past_pipe *p, bool all);

/* `run` in a copy; `take` gets each line, and takes the value. INTERNAL: it broke down, or there can be no copy. */
enum sl_code sl_past_in_child(void (*run)(void *context, struct sl_past_pipe *pipe), void *context,
                              void (*take)(void *taker, struct sl_json *line), void *taker,
                              struct sl_error *e);
#endif
