/* SPDX-License-Identifier: Apache-2.0
 * SPDX-FileCopyrightText: The Sluice authors */

/* In place of the C library's allocator: sizes are rounded to powers of two, and what is given back is kept in lists by
 * size. All of its state lies at the beginning of the region. */
#include "tests/explore/memory.h"
#include <errno.h>
#include <stdbool.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

enum { CLASSES = 24, SMALLEST = 16, ARENA_MAX = 64 << 20, PAGE = 4096, PIECES = 256 };

union block {
    struct {
        uint32_t class;
        union block *next;
    };
    _Alignas(16) unsigned char head[16];
};
struct arena {
    size_t used;
    union block *spare[CLASSES];
};
static struct arena *arena;

extern char __data_start[], _end[]; /* the linker's: all variables of the program lie between */

static void *map(size_t size)
{
    void *at = mmap(NULL, size, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
    if (at == MAP_FAILED) {
        static const char why[] = "explore: out of memory\n";
        (void)!write(2, why, sizeof why - 1);
        _exit(1);
    }
    return at;
}

void *memory_new(size_t size)
{
    return map((size + PAGE - 1) / PAGE * PAGE);
}

/* --- the allocator ------------------------------------------------------------------------------ */

static union block *carve(uint32_t class)
{
    size_t size = sizeof(union block) + ((size_t)SMALLEST << class);
    if (arena == NULL) {
        arena = map(ARENA_MAX);
        arena->used = (sizeof *arena + 15) / 16 * 16;
    }
    if (size > ARENA_MAX - arena->used) {
        return NULL;
    }
    union block *b = (union block *)((unsigned char *)arena + arena->used);
    arena->used += size;
    b->class = class;
    return b;
}

static void *take(size_t size)
{
    uint32_t class = 0;
    while (class < CLASSES && ((size_t)SMALLEST << class) < size) {
        class ++;
    }
    if (class == CLASSES) {
        errno = ENOMEM;
        return NULL;
    }
    union block *b = arena == NULL ? NULL : arena->spare[class];
    if (b != NULL) {
        arena->spare[class] = b->next;
    } else {
        b = carve(class);
    }
    return b == NULL ? NULL : b + 1;
}

void *malloc(size_t size)
{
    return take(size);
}

void free(void *at)
{
    if (at != NULL) {
        union block *b = (union block *)at - 1;
        b->next = arena->spare[b->class];
        arena->spare[b->class] = b;
    }
}

void *calloc(size_t count, size_t size)
{
    size_t bytes;
    if (__builtin_mul_overflow(count, size, &bytes)) {
        return NULL;
    }
    void *at = take(bytes);
    return at == NULL ? NULL : memset(at, 0, bytes);
}

void *realloc(void *at, size_t size)
{
    size_t had = at == NULL ? 0 : (size_t)SMALLEST << ((union block *)at - 1)->class;
    if (at != NULL && size <= had) {
        return at;
    }
    void *grown = take(size);
    if (grown != NULL && at != NULL) {
        memcpy(grown, at, had);
        free(at);
    }
    return grown;
}

/* --- snapshots ---------------------------------------------------------------------------------- */

/* The variables that are kept, piece by piece. */
static struct piece {
    unsigned char *at;
    size_t size;
} pieces[PIECES];
static uint32_t piece_count;
static size_t kept;

static struct piece *last_piece(void)
{
    if (piece_count == 0) {
        kept = (size_t)((uintptr_t)_end - (uintptr_t)__data_start);
        pieces[piece_count++] = (struct piece){(unsigned char *)__data_start, kept};
    }
    return &pieces[piece_count - 1];
}

void snapshot_leave_out(void *at, size_t size)
{
    struct piece *last = last_piece();
    size_t before = (size_t)((uintptr_t)at - (uintptr_t)last->at);
    size_t behind = last->size - before - size;
    if (size < PAGE / 8 || (uintptr_t)at < (uintptr_t)last->at || piece_count == PIECES) {
        return;
    }
    last->size = before;
    pieces[piece_count++] = (struct piece){(unsigned char *)at + size, behind};
    kept -= size;
}

void snapshot_take(struct snapshot *s)
{
    (void)last_piece();
    size_t size = kept + arena->used;
    if (size > s->room) {
        if (s->bytes != NULL) {
            (void)munmap(s->bytes, s->room);
        }
        s->room = (size + size / 4 + PAGE - 1) / PAGE * PAGE;
        s->bytes = map(s->room);
    }
    unsigned char *to = s->bytes;
    for (uint32_t i = 0; i < piece_count; i++) {
        memcpy(to, pieces[i].at, pieces[i].size);
        to += pieces[i].size;
    }
    s->arena = arena->used;
    memcpy(to, arena, arena->used);
}

void snapshot_restore(const struct snapshot *s)
{
    const unsigned char *from = s->bytes;
    for (uint32_t i = 0; i < piece_count; i++) {
        memcpy(pieces[i].at, from, pieces[i].size);
        from += pieces[i].size;
    }
    memcpy(arena, from, s->arena);
}

/* Hashes of maps have the same key in each run, so that a history can be played again. */
ssize_t __wrap_getrandom(void *to, size_t size, unsigned flags);
ssize_t __wrap_getrandom(void *to, size_t size, unsigned flags)
{
    (void)flags;
    memset(to, 7, size);
    return (ssize_t)size;
}

/* Tables begin small, as the core's capacities are. */
void *__real_sl_mem_reach(void *p, uint32_t *cap, uint32_t first, uint32_t index, size_t size);
void *__wrap_sl_mem_reach(void *p, uint32_t *cap, uint32_t first, uint32_t index, size_t size);
void *__wrap_sl_mem_reach(void *p, uint32_t *cap, uint32_t first, uint32_t index, size_t size)
{
    return __real_sl_mem_reach(p, cap, first < 8 ? first : 8, index, size);
}
