/* SPDX-License-Identifier: Apache-2.0
 * SPDX-FileCopyrightText: The Sluice authors */

/* Allocation for the shell: checked sizes, zeroed memory, and an end with a message when there
 * is none. */
#include "base/mem.h"

#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

/* Without a buffer, and without what runs at a usual exit: that may want memory, too. */
static _Noreturn void end(const char *why)
{
    (void)dprintf(STDERR_FILENO, "out of memory: %s\n", why);
    _exit(70); /* EX_SOFTWARE: a supervisor starts us again and nothing durable is lost */
}

static _Noreturn void out_of_memory(size_t count, size_t size)
{
    char why[64];
    (void)snprintf(why, sizeof why, "%zu times %zu bytes", count, size);
    end(why);
}

void *sl_mem_new(size_t count, size_t size)
{
    void *p = calloc(count > 0 ? count : 1, size > 0 ? size : 1);
    if (p == NULL) {
        out_of_memory(count, size);
    }
    return p;
}

void *sl_mem_grow(void *p, size_t count, size_t size)
{
    if (size != 0 && count > SIZE_MAX / size) {
        out_of_memory(count, size);
    }
    size_t bytes = count * size;
    void *grown = realloc(p, bytes > 0 ? bytes : 1);
    if (grown == NULL) {
        out_of_memory(count, size);
    }
    return grown;
}

void *sl_mem_reach(void *p, uint32_t *cap, uint32_t first, uint32_t index, size_t size)
{
    if (index < *cap) {
        return p;
    }
    size_t grown = *cap == 0 ? first : *cap;
    while (grown <= index) {
        grown *= 2;
    }
    if (grown > UINT32_MAX) {
        out_of_memory(grown, size);
    }
    p = sl_mem_grow(p, grown, size);
    memset((char *)p + *cap * size, 0, (grown - *cap) * size);
    *cap = (uint32_t)grown;
    return p;
}

char *sl_mem_text(const char *text)
{
    return text == NULL ? NULL : sl_mem_text_n(text, strlen(text));
}

char *sl_mem_text_n(const char *text, size_t n)
{
    char *copy = sl_mem_new(n + 1, 1);
    if (n > 0) {
        memcpy(copy, text, n);
    }
    return copy;
}

void sl_mem_free(void *p)
{
    free(p);
}

bool sl_mem_available(size_t bytes)
{
    void *volatile p = malloc(bytes); /* or the compiler would leave the attempt out */
    bool available = p != NULL;
    free(p);
    return available;
}

void *sl_mem_got(void *p)
{
    if (p == NULL) {
        end("a library got none");
    }
    return p;
}

void sl_mem_done(bool done)
{
    if (!done) {
        end("a library got none");
    }
}
