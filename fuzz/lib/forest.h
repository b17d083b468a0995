/* SPDX-License-Identifier: Apache-2.0
 * SPDX-FileCopyrightText: The Sluice authors */

/* The quota forest once more, written to be read: quotas and holdings as they were said, everything else worked out
 * anew at each question, from Kueue's definitions. Small numbers only; nothing saturates. */
#ifndef SL_FUZZ_FOREST_H
#define SL_FUZZ_FOREST_H
#include <stdbool.h>
#include <stdint.h>

enum { FOREST_QNODES = 10, FOREST_NAMES = 4 }; /* a name is a (flavor, resource) */
#define FOREST_NONE UINT32_MAX
#define FOREST_UNLIMITED INT64_MAX

struct forest_quota {
    int64_t nominal, lending, borrowing; /* FOREST_UNLIMITED = no limit */
};
struct forest {
    uint32_t parent[FOREST_QNODES]; /* FOREST_NONE: a root */
    struct forest_quota quota[FOREST_QNODES][FOREST_NAMES];
    int64_t held[FOREST_QNODES][FOREST_NAMES]; /* by workloads of this very node */
};

/* Every node a root without quota and limits, nobody holds anything. */
void forest_clear(struct forest *f);
/* Its own quota and what its children lend it. */
int64_t forest_subtree(const struct forest *f, uint32_t node, uint32_t name);
int64_t forest_usage(const struct forest *f, uint32_t node, uint32_t name);
int64_t forest_available(const struct forest *f, uint32_t node, uint32_t name);
/* What could be available if nobody held anything. */
int64_t forest_potential(const struct forest *f, uint32_t node, uint32_t name);
#endif
