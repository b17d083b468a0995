/* SPDX-License-Identifier: Apache-2.0
 * SPDX-FileCopyrightText: The Sluice authors */

/* A number per queue: its limit plus one, so that zero is no limit. */
#include "policy/requests/migration_limit.h"

static uint32_t limits[SL_QNODES_MAX];

/*@ terminates \true; exits \false; assigns limits[0 .. SL_QNODES_MAX - 1]; */
void sl_migration_limit_set(sl_qnode_id queue, uint32_t limit)
{
    if (queue < SL_QNODES_MAX) {
        limits[queue] = limit == SL_NO_ID ? 0 : limit + 1;
    }
}

uint32_t sl_migration_limit(sl_qnode_id queue)
{
    return queue < SL_QNODES_MAX && limits[queue] != 0 ? limits[queue] - 1 : SL_NO_ID;
}
