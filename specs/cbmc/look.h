/* SPDX-License-Identifier: Apache-2.0
 * SPDX-FileCopyrightText: The Sluice authors */

/* What CBMC's harnesses assume and claim. A function without a body whose name begins so returns any value. */
#ifndef SL_SPECS_CBMC_LOOK_H
#define SL_SPECS_CBMC_LOOK_H
#include <stdbool.h>
#include <stdint.h>

void __CPROVER_assume(_Bool condition);
void __CPROVER_assert(_Bool condition, const char *what);
#define ASSUME(condition) __CPROVER_assume(condition)
#define USAGE(condition, what) __CPROVER_assert(condition, what)

bool nondet_bool(void);
uint8_t nondet_uint8(void);
uint16_t nondet_uint16(void);
uint32_t nondet_uint32(void);
int32_t nondet_int32(void);
uint64_t nondet_uint64(void);
int64_t nondet_int64(void);
#endif
