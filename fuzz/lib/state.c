/* SPDX-License-Identifier: Apache-2.0
 * SPDX-FileCopyrightText: The Sluice authors */

#include "fuzz/lib/state.h"
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
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
    if (madvise(fuzz_zeroed_begin, zeroed, MADV_DONTNEED) != 0) {
        perror("madvise");
        abort();
    }
    copy(fuzz_data_begin, initial, data);
}
