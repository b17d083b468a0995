/* SPDX-License-Identifier: Apache-2.0
 * SPDX-FileCopyrightText: The Sluice authors
 *
 * False, and believed: what a ghost function without a body promises. canary.sh sees that the gate rejects it. */
#include <stdint.h>

/*@ ghost
  /@ terminates \true;
     exits \false;
     assigns \nothing;
     ensures lie: x == 7; @/
  void sl_lemma_lie(uint32_t x);
*/

/*@ terminates \true;
    exits \false;
    assigns \nothing;
    ensures seven: \result == 7; */
uint32_t without_body(void)
{
    uint32_t eight = 8;
    /*@ ghost sl_lemma_lie(eight); */
    return eight;
}
