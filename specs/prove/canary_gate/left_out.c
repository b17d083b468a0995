/* SPDX-License-Identifier: Apache-2.0
 * SPDX-FileCopyrightText: The Sluice authors
 *
 * False, and not asked: WP makes no goal of a clause with this name. canary.sh sees that the gate rejects it. */
#include <stdint.h>

/*@ terminates \true;
    exits \false;
    assigns \nothing;
    ensures no_wp: \result == 7; */
uint32_t left_out(void)
{
    return 8;
}
