/* SPDX-License-Identifier: Apache-2.0
 * SPDX-FileCopyrightText: The Sluice authors
 *
 * Planted defects, by which canary.sh sees that the smoke tests find any: a precondition that contradicts itself, and
 * a branch that no state reaches. Nothing links this file. */
#include <stdint.h>

/*@ requires x > 10 && x < 10;
    terminates \true;
    exits \false;
    assigns \nothing;
    ensures \result == 1; */
int32_t contradictory(int32_t x)
{
    return x;
}

/*@ requires 0 <= x < 10;
    terminates \true;
    exits \false;
    assigns \nothing;
    ensures \result == 0; */
int32_t unreachable(int32_t x)
{
    if (x > 20) {
        return 1;
    }
    return 0;
}
