/* SPDX-License-Identifier: Apache-2.0
 * SPDX-FileCopyrightText: The Sluice authors */

/* A snapshot of the whole program, and back: all of its variables, and all that it has allocated, which lies in one
 * region of its own. What outlives that (the search's own memory) comes from memory_new. */
#ifndef SL_EXPLORE_MEMORY_H
#define SL_EXPLORE_MEMORY_H
#include <stddef.h>

struct snapshot {
    unsigned char *bytes; /* its own, used again */
    size_t room, arena;
};
void snapshot_take(struct snapshot *s);
void snapshot_restore(const struct snapshot *s);

/* What lies there is left out of snapshots, since it is always the same when one is taken. To be called before the first
 * one, in the order of addresses. */
void snapshot_leave_out(void *at, size_t size);

/* Zeroed, kept through every restore, never given back. */
void *memory_new(size_t size);
#endif
