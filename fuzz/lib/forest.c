/* SPDX-License-Identifier: Apache-2.0
 * SPDX-FileCopyrightText: The Sluice authors */

#include "fuzz/lib/forest.h"

static int64_t smaller(int64_t a, int64_t b)
{
    return a < b ? a : b;
}

static int64_t above_zero(int64_t v)
{
    return v > 0 ? v : 0;
}

void forest_clear(struct forest *f)
{
    for (uint32_t n = 0; n < FOREST_QNODES; n++) {
        f->parent[n] = FOREST_NONE;
        for (uint32_t k = 0; k < FOREST_NAMES; k++) {
            f->quota[n][k] = (struct forest_quota){0, FOREST_UNLIMITED, FOREST_UNLIMITED};
            f->held[n][k] = 0;
        }
    }
}

int64_t forest_subtree(const struct forest *f, uint32_t node, uint32_t name)
{
    int64_t sum = f->quota[node][name].nominal;
    for (uint32_t n = 0; n < FOREST_QNODES; n++) {
        if (f->parent[n] == node) {
            sum += smaller(forest_subtree(f, n, name), f->quota[n][name].lending);
        }
    }
    return sum;
}

/* What it keeps for itself. */
static int64_t guaranteed(const struct forest *f, uint32_t node, uint32_t name)
{
    int64_t lending = f->quota[node][name].lending;
    return lending == FOREST_UNLIMITED ? 0 : above_zero(forest_subtree(f, node, name) - lending);
}

/* Its own, and what its children cannot pay from what they keep. */
int64_t forest_usage(const struct forest *f, uint32_t node, uint32_t name)
{
    int64_t sum = f->held[node][name];
    for (uint32_t n = 0; n < FOREST_QNODES; n++) {
        if (f->parent[n] == node) {
            sum += above_zero(forest_usage(f, n, name) - guaranteed(f, n, name));
        }
    }
    return sum;
}

int64_t forest_available(const struct forest *f, uint32_t node, uint32_t name)
{
    int64_t usage = forest_usage(f, node, name);
    if (f->parent[node] == FOREST_NONE) {
        return forest_subtree(f, node, name) - usage;
    }
    int64_t kept = guaranteed(f, node, name);
    int64_t from_parent = forest_available(f, f->parent[node], name);
    if (f->quota[node][name].borrowing != FOREST_UNLIMITED) {
        int64_t lent = forest_subtree(f, node, name) - kept;
        from_parent =
            smaller(from_parent, lent - above_zero(usage - kept) + f->quota[node][name].borrowing);
    }
    return above_zero(kept - usage) + from_parent;
}

int64_t forest_potential(const struct forest *f, uint32_t node, uint32_t name)
{
    if (f->parent[node] == FOREST_NONE) {
        return forest_subtree(f, node, name);
    }
    int64_t most = guaranteed(f, node, name) + forest_potential(f, f->parent[node], name);
    if (f->quota[node][name].borrowing != FOREST_UNLIMITED) {
        most = smaller(most, forest_subtree(f, node, name) + f->quota[node][name].borrowing);
    }
    return most;
}
