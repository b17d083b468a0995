/* SPDX-License-Identifier: Apache-2.0
 * SPDX-FileCopyrightText: The Sluice authors */

/* By the kernel's arithmetic (kernel/lifecycle/requeue.h). */
#include "policy/verdicts/backoff.h"

uint32_t sl_backoff_jitter_ppm(uint64_t uid_high, uint64_t uid_low, uint32_t count)
{
    uint64_t mixed = uid_low ^ uid_high * 31u ^ count * 2654435761u;
    return (uint32_t)(mixed % (SL_JITTER_PPM_MAX + 1u));
}

int64_t sl_backoff_of_write_ms(uint32_t refusals)
{
    return sl_requeue_delay_ms(SL_BACKOFF_WRITE_MS, SL_BACKOFF_WRITE_MS_MAX,
                               refusals > 1 ? refusals : 1, 0);
}
