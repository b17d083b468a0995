/* SPDX-License-Identifier: Apache-2.0
 * SPDX-FileCopyrightText: The Sluice authors */

/* The only place of the shell that calls malloc. Out of memory ends the process with a message and exit code 70:
 * the journal and the store are durable, so a restart loses nothing. Libraries that say that they got none
 * end it as well, or are refused what they were to do (SQLite). */
#ifndef SL_BASE_MEM_H
#define SL_BASE_MEM_H
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

void *sl_mem_new(size_t count, size_t size);           /* zeroed; never NULL */
void *sl_mem_grow(void *p, size_t count, size_t size); /* never NULL; new room is not zeroed */
/* An array of `*cap` members, with room for the one at `index` from now on: `*cap` is doubled as often
 * as that takes, beginning with `first` where there are none. New members are zeroed. */
void *sl_mem_reach(void *p, uint32_t *cap, uint32_t first, uint32_t index, size_t size);
char *sl_mem_text(const char *text); /* a copy; NULL stays NULL */
char *sl_mem_text_n(const char *text, size_t n);
void sl_mem_free(void *p);
/* Could so much be had now? For sizes that a client chooses: the request can be refused before it
 * is tried. */
bool sl_mem_available(size_t bytes);
/* Of what a library has allocated: p, never NULL. */
void *sl_mem_got(void *p);
/* Of a library that could not do something, and for want of memory alone. */
void sl_mem_done(bool done);
#endif
