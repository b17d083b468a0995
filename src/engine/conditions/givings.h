/* SPDX-License-Identifier: Apache-2.0
 * SPDX-FileCopyrightText: The Sluice authors */

/* Who has taken what, and who has given it back, by the sequence of decisions: engine/conditions/given_back.h. */
#ifndef SL_ENGINE_GIVINGS_H
#define SL_ENGINE_GIVINGS_H
#include "kernel/base/types.h"

/* Of one workload; 0 = none. */
struct sl_given {
    uint64_t decided; /* the newest decision */
    uint64_t taken;   /* the newest by which it takes quota or nodes */
    uint64_t first;   /* the oldest by which it gives some back and that is not written, */
    uint64_t last;    /* the newest by which it ever did, */
    uint64_t asked;   /* and the same when its object was last looked at */
};

/* One of those, the oldest first. */
struct sl_giving {
    uint64_t sequence;
    sl_workload_id workload;
    uint32_t generation;
    int64_t since_ms;
};
struct sl_givings {
    struct sl_giving *ring;
    uint32_t first, count, cap;
};
#endif
