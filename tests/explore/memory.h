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

/* Zeroed, kept through every restore, never given back. */
void *memory_new(size_t size);
#endif
