/* SPDX-License-Identifier: Apache-2.0
 * SPDX-FileCopyrightText: The Sluice authors */

/* Who held how much quota for how long, summed up over what a journal reports (history.h). Exact: whole numbers, of the core's
 * units (thousandths of a cpu, ones of everything else) times milliseconds, so that the sum over any groups is the sum
 * over all. Quota counts from its reservation to its release, as the queue lacks it for so long. */
#ifndef SL_ENGINE_BILL_H
#define SL_ENGINE_BILL_H
#include "engine/history/history.h"

struct sl_bill;
/* Of what lies in since_ms .. until_ms; INT64_MIN and INT64_MAX: of all. */
struct sl_bill *sl_bill_new(int64_t since_ms, int64_t until_ms);
void sl_bill_free(struct sl_bill *b);

/* What it hears: of sl_history_read, with the bill as context. */
struct sl_history_taker sl_bill_taker(struct sl_bill *b);
/* All was heard; what is held still is counted up to the end of the journal. */
void sl_bill_close(struct sl_bill *b);
/* How many held quota at the end of a run, and not when the next one looked: counted up to that end. */
uint64_t sl_bill_lost(const struct sl_bill *b);

/* A workload in a ClusterQueue, as one object: of another with its name, after it was deleted, there is another one. Those
 * alone that waited, held quota or were evicted in that time. */
struct sl_bill_line {
    const char *workload, *queue;
    uint32_t number; /* of the object, from 0 */
    int64_t wait_ms; /* in line for quota */
    uint64_t reservations, evictions;
};
/* What it held of a flavor's resource; > 0. */
struct sl_bill_amount {
    uint32_t line; /* index of sl_bill_lines */
    const char *flavor, *resource;
    __int128 held; /* units times milliseconds */
};
const struct sl_bill_line *sl_bill_lines(const struct sl_bill *b, size_t *count);
const struct sl_bill_amount *sl_bill_amounts(const struct sl_bill *b, size_t *count);

/* In units times seconds, exact: "3600.5"; thousandths are of `resource` "cpu". */
#define SL_BILL_TEXT 64u
void sl_bill_print(__int128 held, const char *resource, char out[static SL_BILL_TEXT]);
#endif
