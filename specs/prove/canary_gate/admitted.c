/* SPDX-License-Identifier: Apache-2.0
 * SPDX-FileCopyrightText: The Sluice authors
 *
 * False, and believed: `admit` before a clause. canary.sh sees that the gate rejects it. */
#include <stdint.h>

/*@ terminates \true;
    exits \false;
    assigns \nothing;
    admit ensures seven: \result == 7; */
uint32_t admitted(void)
{
    return 8;
}
