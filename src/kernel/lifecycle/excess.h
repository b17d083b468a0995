/* SPDX-License-Identifier: Apache-2.0
 * SPDX-FileCopyrightText: The Sluice authors */

/* Who holds more than it may: after a quota was lowered nothing is evicted, and what was charged stays charged. */
#ifndef SL_KERNEL_EXCESS_H
#define SL_KERNEL_EXCESS_H
#include "kernel/ledger/ledger_ask.h"

/* What is charged to this very cell beyond its nominal quota, as far as no limit of its own and no quota of its cohorts
 * allows it. 0 = nothing, or no cell. */
/*@
  requires inv:        CellsLinked && LimitsInRange && UsageInRange;
  terminates           \true;
  exits                \false;
  assigns              \nothing;
  ensures  range:      0 <= \result <= SL_AMOUNT_MAX;
  ensures  none:       cell >= SL_CELLS_MAX ==> \result == 0;
  ensures  result:     cell < SL_CELLS_MAX ==> \result ==
                       larger(0, smaller(sl_cell_own[cell] - sl_cell_nominal[cell], -available(cell)));
*/
int64_t sl_excess_of(sl_cell_id cell);
#endif
