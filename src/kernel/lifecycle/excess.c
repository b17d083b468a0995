/* SPDX-License-Identifier: Apache-2.0
 * SPDX-FileCopyrightText: The Sluice authors */

/* What is available below zero is what is held too much, here or elsewhere in the cohort; of that, what this cell has
 * beyond its own quota. */
#include "kernel/lifecycle/excess.h"

int64_t sl_excess_of(sl_cell_id cell)
{
    int64_t missing = -sl_ledger_available(cell);
    int64_t beyond = sl_ledger_own(cell) - sl_ledger_nominal(cell);
    int64_t least = missing < beyond ? missing : beyond;
    return least > 0 ? least : 0;
}
