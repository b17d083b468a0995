/* SPDX-License-Identifier: Apache-2.0
 * SPDX-FileCopyrightText: The Sluice authors */

/* What mutants.py has to tell apart: a contract that says all, one that says too little, none, and a change that is
 * none. Nothing links this file. */
#include <stdint.h>

/*@ terminates \true; exits \false; assigns \nothing;
    ensures sum: \result == (a > UINT32_MAX - b ? UINT32_MAX : a + b); */
uint32_t strict(uint32_t a, uint32_t b)
{
    return a > UINT32_MAX - b ? UINT32_MAX : a + b; // a + b
}

/*@ terminates \true; exits \false; assigns \nothing; ensures bounded: \result <= 10; */
uint32_t loose(uint32_t a)
{
    return a > 8 ? 9 : a;
}

uint32_t same(uint32_t a)
{
    return a > 5 ? 5 : a;
}

/*@ terminates \true; exits \false; assigns \nothing; ensures wrong: \result == 1; */
int wrong(uint32_t a)
{
    return a < 3;
}

uint32_t bare(uint32_t a)
{
    return a * 2u;
}
