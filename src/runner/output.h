/* SPDX-License-Identifier: Apache-2.0
 * SPDX-FileCopyrightText: The Sluice authors */

/* What a container writes, into a file that is begun again at a size: DIR/NAME.log, and NAME.log.1 with what was before. */
#ifndef SL_RUNNER_OUTPUT_H
#define SL_RUNNER_OUTPUT_H
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#define SL_OUTPUT_BYTES_MAX (10u << 20) /* of each of the two files */

struct sl_output {
    const char *dir, *name; /* lent */
    int fd;                 /* -1: closed */
    uint64_t size, size_max;
};
/* Begins a new log; what the container has written in its last run becomes NAME.old.log. False with errno. */
bool sl_output_open(struct sl_output *o, const char *dir, const char *name, uint64_t size_max);
void sl_output_add(struct sl_output *o, const char *data,
                   size_t size); /* what the disk refuses is lost */
void sl_output_close(struct sl_output *o);
#endif
