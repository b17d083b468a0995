/* SPDX-License-Identifier: Apache-2.0
 * SPDX-FileCopyrightText: The Sluice authors
 *
 * False, and not asked while a committed answer says that it was proved. canary.sh forges that answer, and sees that
 * a sample, which asks anew, rejects it. */
#include <stdint.h>

/*@ requires few: x < 1000;
    terminates \true;
    exits \false;
    assigns \nothing;
    ensures odd: \result % 2 == 1; */
uint32_t forged(uint32_t x)
{
    return x * x + x;
}
