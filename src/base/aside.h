/* SPDX-License-Identifier: Apache-2.0
 * SPDX-FileCopyrightText: The Sluice authors */

/* Work on a copy of this process: it is forked, so that the work sees all memory as it is now and may change what it likes,
 * and its result comes back as bytes. The copy has no file of ours but its result's, and an end: by time, by memory, and
 * with this process. It must not use what other threads may be in the middle of; allocators are safe. */
#ifndef SL_BASE_ASIDE_H
#define SL_BASE_ASIDE_H
#include <stdbool.h>
#include <sys/types.h>

#include "base/buf.h"
#include "base/error.h"

struct sl_aside {
    pid_t pid;
    int fd; /* readable when there is more of the result, or its end; -1: there is no copy */
};
struct sl_aside_work {
    void (*run)(void *context, struct sl_buf *result);
    void *context;
    unsigned seconds_max; /* of CPU, and twice that in all */
    size_t bytes_max;     /* of memory, beyond what there is now; 0 = no limit */
};
/* UNAVAILABLE: there can be no further process now. */
enum sl_code sl_aside_begin(const struct sl_aside_work *work, struct sl_aside *out,
                            struct sl_error *e);
enum sl_aside_step { SL_ASIDE_MORE, SL_ASIDE_DONE, SL_ASIDE_FAILED };
/* Appends what has come; waits for it where `wait`. After DONE, and FAILED (then *e), there is no copy any more. */
enum sl_aside_step sl_aside_read(struct sl_aside *a, bool wait, struct sl_buf *result,
                                 struct sl_error *e);
/* Ends it in any case; may be called again. */
void sl_aside_end(struct sl_aside *a);
/* All at once. */
enum sl_code sl_aside_run(const struct sl_aside_work *work, struct sl_buf *result,
                          struct sl_error *e);
#endif
