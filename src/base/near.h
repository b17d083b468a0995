/* SPDX-License-Identifier: Apache-2.0
 * SPDX-FileCopyrightText: The Sluice authors */

/* Which of the names that there are was meant by one that there is not: the nearest by letters that were left out, added,
 * changed or exchanged with their neighbour, if it is near enough for its length. Upper and lower case are the same. */
#ifndef SL_BASE_NEAR_H
#define SL_BASE_NEAR_H
#include "base/buf.h"

struct sl_near {
    const char *word; /* what was said; lent */
    const char
        *best; /* what was meant, the first of those that are equally near; lent. NULL: nothing */
    unsigned distance; /* of `best` */
};
void sl_near_start(struct sl_near *n, const char *word);
void sl_near_try(struct sl_near *n, const char *candidate);
/* "; did you mean BEST?", or nothing. */
void sl_near_print(const struct sl_near *n, struct sl_buf *out);
#endif
