/* SPDX-License-Identifier: Apache-2.0
 * SPDX-FileCopyrightText: The Sluice authors */

/* Questions with names of nothing: every public function whose contract takes any argument is asked about ids that
 * are out of range, amounts that are none and things that are not there. Nothing of it may change anything, which
 * the caller checks (doors_fuzz.c). */
#ifndef SL_FUZZ_DOORS_H
#define SL_FUZZ_DOORS_H
#include <stdbool.h>
#include <stdint.h>
#include "fuzz/lib/producer.h"

struct door {
    uint32_t how;   /* out of range: by how much */
    uint32_t fit;   /* an id that may be one */
    uint32_t other; /* and another */
    int64_t amount; /* any */
};

/* An id beyond the last one. */
static inline uint32_t door_beyond(const struct door *d, uint32_t max)
{
    return d->how == 0 ? UINT32_MAX : max + d->how - 1;
}

/* doors_kernel.c */
void door_ledger(const struct door *d);
void door_trial(const struct door *d);
void door_records(const struct door *d);
void door_topology(const struct door *d);
/* doors_policy.c */
void door_demands(const struct door *d);
void door_lists(const struct door *d);
void door_queues(const struct door *d);
void door_trees(const struct door *d);
void door_usage(const struct door *d);
void door_search(const struct door *d);
/* doors_more.c, for the others */
void door_bad_demands(const struct door *d);
void door_bad_questions(const struct door *d);
void door_entries(const struct door *d);
void door_again(const struct door *d);
void door_offers(const struct door *d);
void door_events(const struct door *d);
void door_numbers(const struct door *d);
/* doors_wide.c */
void door_wide(struct producer *p);
void door_deep(struct producer *p);
/* doors_full.c */
void door_full(const struct door *d);
void door_full_cycle(struct producer *p);
#endif
