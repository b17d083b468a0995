/* SPDX-License-Identifier: Apache-2.0
 * SPDX-FileCopyrightText: The Sluice authors */

#include "fuzz/lib/state.h"
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include "fuzz/lib/state_bounds.h"
#include "kernel/ledger/cells.h"
#include "kernel/lifecycle/lifecycle.h"
#include "policy/common/settings.h"

#define DATA_MAX 1048576u /* sanitizers keep their notes there, too */

static uint64_t
    initial[DATA_MAX / sizeof(uint64_t)]; /* what the core's initialised state was at the start */
static bool taken;

static bool between(const void *begin, const void *at, const void *end)
{
    return (uintptr_t)begin < (uintptr_t)at && (uintptr_t)at < (uintptr_t)end;
}

/* The bounds of a linked image: no objects of C, so no sanitizer looks on. */
__attribute__((no_sanitize("address", "undefined"))) static void copy(void *to, const void *from,
                                                                      size_t size)
{
    for (size_t i = 0; i < size / sizeof(uint64_t); i++) {
        ((volatile uint64_t *)to)[i] = ((const uint64_t *)from)[i];
    }
}

/* --- what begins as zeros -------------------------------------------------------------------------- */

enum { PAGE = 4096, PAGES_MAX = 262144, KEPT_RESETS = 32 };

/* Not memset: sanitizers would ask whether each byte may be written. */
__attribute__((no_sanitize("address", "undefined"))) static void clear_page(void *page)
{
    uint64_t *words = page;
    for (size_t i = 0; i < PAGE / sizeof(uint64_t); i += 8) {
        typedef uint64_t line __attribute__((vector_size(64)));
        *(line *)(words + i) = (line){0};
        __asm__ volatile("" : : "r"(words) : "memory"); /* nor may this become one */
    }
}

static void drop_pages(void *begin, size_t size)
{
    if (madvise(begin, size, MADV_DONTNEED) != 0) {
        perror("madvise");
        abort();
    }
}

/* A page that is dropped costs a fault when it is touched again, which takes longer than to clear it; but pages that few
 * inputs touch become many. */
static void clear_pages(void *begin, size_t size)
{
    static unsigned char resident[PAGES_MAX];
    static unsigned resets;
    if (size / PAGE > PAGES_MAX || resets++ % KEPT_RESETS == 0 ||
        mincore(begin, size, resident) != 0) {
        drop_pages(begin, size);
        return;
    }
    for (size_t i = 0; i < size / PAGE; i += sizeof(uint64_t)) {
        uint64_t eight;
        memcpy(&eight, &resident[i], sizeof eight);
        for (size_t k = i; eight != 0 && k < i + sizeof eight && k < size / PAGE; k++) {
            if ((resident[k] & 1u) != 0) {
                clear_page((char *)begin + k * PAGE);
            }
        }
    }
}

void fuzz_state_reset(void)
{
    size_t zeroed = (size_t)((uintptr_t)fuzz_zeroed_end - (uintptr_t)fuzz_zeroed_begin);
    size_t data = (size_t)((uintptr_t)fuzz_data_end - (uintptr_t)fuzz_data_begin);
    if (!taken) {
        if (!between(fuzz_zeroed_begin, sl_workloads, fuzz_zeroed_end) ||
            !between(fuzz_zeroed_begin, sl_cell_own, fuzz_zeroed_end) ||
            !between(fuzz_data_begin, &sl_settings, fuzz_data_end) || data > DATA_MAX) {
            fputs("fuzz: the core was not linked between its bounds\n", stderr);
            abort();
        }
        copy(initial, fuzz_data_begin, data);
        taken = true;
        return; /* nobody has used it yet */
    }
    clear_pages(fuzz_zeroed_begin, zeroed);
    copy(fuzz_data_begin, initial, data);
}
