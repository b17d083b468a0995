/* SPDX-License-Identifier: Apache-2.0
 * SPDX-FileCopyrightText: The Sluice authors */

/* A few resources and how much of each; what is not listed is zero. Sums may be negative, and are
 * exact, so that what was added can be taken away again; only values for the core saturate. */
#ifndef SL_ENGINE_AMOUNTS_H
#define SL_ENGINE_AMOUNTS_H
#include "kernel/base/types.h"

struct sl_amounts {
    uint32_t count;
    uint32_t cap;
    struct sl_amount {
        sl_resource_id resource;
        __int128 amount; /* a sum of 64-bit numbers, never of 2^64 of them */
    } * items;
};

/* Within the range of int64. */
int64_t sl_amounts_get(const struct sl_amounts *a, sl_resource_id resource);
void sl_amounts_add(struct sl_amounts *a, sl_resource_id resource, int64_t amount);
/* a += sign * b */
void sl_amounts_add_all(struct sl_amounts *a, const struct sl_amounts *b, int sign);
bool sl_amounts_equal(const struct sl_amounts *a, const struct sl_amounts *b);
void sl_amounts_fini(struct sl_amounts *a); /* all zero afterwards */
#endif
