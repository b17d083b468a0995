/* SPDX-License-Identifier: Apache-2.0
 * SPDX-FileCopyrightText: The Sluice authors */

/* What a copy asks about a contract's promises, and how it learns what was before the call: the process that waits for
 * it still has that. */
#include "specs/prove/refute/board.h"
#include <stdio.h>
#include <unistd.h>

enum {
    PAGE = 4096,
    PAGES_MAX = 1024,
    COSTLY_MAX = 3,
    WORK_MAX = 1000000,
    LOOP_MAX = 200,
    DEPTH_MAX = 10000
};

static struct refute_board *board;
static int server;
static unsigned work, depth; /* of one promise */
static bool unknown;         /* whether it is kept */

void refute_promises_open(struct refute_board *shared, int from)
{
    board = shared;
    server = from;
}

void refute_promises_serve(int copy)
{
    uintptr_t page;
    while (read(copy, &page, sizeof page) == sizeof page) {
        if (write(copy, (const void *)page, PAGE) != PAGE) { /* it has no such page */
            break;
        }
    }
    (void)close(copy);
}

bool refute_ask(unsigned number)
{
    work = depth = 0;
    unknown = number >= REFUTE_PROMISES_MAX || board->costly[number] >= COSTLY_MAX;
    return !unknown;
}

void refute_told(unsigned number, const char *name, bool kept)
{
    if (unknown) {
        board->costly[number]++;
    } else if (!kept) {
        char why[sizeof board->why];
        (void)snprintf(why, sizeof why, "not kept: ensures %s", name);
        refute_found(why);
    }
}

static bool fetch(uintptr_t page, unsigned char *bytes)
{
    size_t have = 0;
    if (write(server, &page, sizeof page) != sizeof page) {
        return false;
    }
    while (have < PAGE) {
        ssize_t more = read(server, bytes + have, PAGE - have);
        if (more <= 0) {
            return false;
        }
        have += (size_t)more;
    }
    return true;
}

const void *refute_old(const void *at, size_t size)
{
    static struct {
        uintptr_t page;
        unsigned char bytes[PAGE];
    } known[PAGES_MAX];
    static const unsigned char nothing[REFUTE_ANSWER_MAX];
    uintptr_t page = (uintptr_t)at / PAGE, within = (uintptr_t)at % PAGE;
    size_t slot = page * UINT64_C(0x9E3779B97F4A7C15) >> 32 &
                  (PAGES_MAX - 1); /* arrays lie at even distances */
    if (unknown || size > sizeof nothing || within + size > PAGE) {
        unknown = true;
        return nothing;
    }
    if (known[slot].page != page) {
        if (!fetch(page * PAGE, known[slot].bytes)) {
            unknown = true;
            return nothing;
        }
        known[slot].page = page;
    }
    return known[slot].bytes + within;
}

__int128 refute_bound(__int128 from, __int128 end, bool exact)
{
    unknown |= exact && end - from > WORK_MAX;
    __int128 early = exact || end - from < LOOP_MAX ? end : from + LOOP_MAX;
    return unknown ? from : early;
}

bool refute_step(bool exact)
{
    work++;
    unknown |= exact && work > WORK_MAX;
    return !unknown && (exact || work <= WORK_MAX / 2);
}

bool refute_enter(void)
{
    depth++;
    work++;
    unknown |= work > WORK_MAX || depth > DEPTH_MAX;
    return !unknown;
}

void refute_leave(void)
{
    depth--;
}
