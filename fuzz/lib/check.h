/* SPDX-License-Identifier: Apache-2.0
 * SPDX-FileCopyrightText: The Sluice authors */

/* What a target demands: a condition of its own, and the guarantees after every step. */
#ifndef SL_FUZZ_CHECK_H
#define SL_FUZZ_CHECK_H
#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>

#define CHECK(condition) fuzz_check(condition, #condition, __FILE__, __LINE__)

static inline void fuzz_check(bool holds, const char *what, const char *file, int line)
{
    if (!holds) {
        fprintf(stderr, "%s:%d: does not hold: %s\n", file, line, what);
        abort();
    }
}

/* Names the guarantee and the object and aborts when one is broken (policy/guarantees/guarantees.h). */
void fuzz_guarantees_kernel(uint32_t limit);
void fuzz_guarantees_policy(uint32_t limit);
void fuzz_guarantees_step(uint32_t limit, bool decided);
#endif
