/* SPDX-License-Identifier: Apache-2.0
 * SPDX-FileCopyrightText: The Sluice authors */

/* Drives: the ledger, in the smallest way. Oracle: a lie, "usage never reaches 7 on a node that borrows".
 * It must crash: a campaign that does not find this in its time has a broken set-up, not a correct program. */
#include "fuzz/lib/check.h"
#include "fuzz/lib/producer.h"
#include "fuzz/lib/state.h"
#include "kernel/ledger/ledger.h"
#include "policy/flavors/open_cell.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    struct producer program = {data, size}, p;
    sl_cell_id cell = SL_NO_ID;
    fuzz_state_reset();
    CHECK(sl_ledger_open_qnode(0) == SL_OK && sl_ledger_open_qnode(1) == SL_OK &&
          sl_ledger_move_qnode(1, 0) == SL_OK && sl_ledger_open_cell(1, 0, 0, &cell) == SL_OK &&
          sl_ledger_set_quota(cell, 1000, SL_AMOUNT_UNLIMITED, SL_AMOUNT_UNLIMITED) == SL_OK);
    int64_t held = 0;
    while (producer_event(&program, &p)) {
        int64_t amount = producer_below(&p, 4);
        if (sl_ledger_reserve(cell, amount) == SL_OK) {
            held += amount;
        }
        CHECK(sl_ledger_usage(cell) != 7);
    }
    CHECK(sl_ledger_release(cell, held) == SL_OK);
    return 0;
}
