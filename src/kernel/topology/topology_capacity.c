/* SPDX-License-Identifier: Apache-2.0
 * SPDX-FileCopyrightText: The Sluice authors */

/* Capacities: capacity is what policy's eyes have seen, used and promised are kept by bookings and promises. */
#include "kernel/topology/topology_capacity.h"

int64_t sl_site_capacity[SL_CAPACITIES_MAX];
int64_t sl_site_used[SL_CAPACITIES_MAX];
int64_t sl_site_promised[SL_CAPACITIES_MAX];

enum sl_status sl_site_set_capacity(sl_site_id site, sl_measure_id measure, int64_t amount)
{
    if (site >= SL_SITES_MAX || measure >= SL_MEASURES_MAX) {
        return SL_REFUSED_BAD_ARGUMENT;
    }
    if (amount < 0 || amount > SL_AMOUNT_MAX) {
        return SL_REFUSED_AMOUNT;
    }
    sl_site_capacity[measure * SL_SITES_MAX + site] = amount;
    return SL_OK;
}

int64_t sl_site_capacity_of(sl_site_id site, sl_measure_id measure)
{
    return site < SL_SITES_MAX && measure < SL_MEASURES_MAX
               ? sl_site_capacity[measure * SL_SITES_MAX + site]
               : 0;
}

int64_t sl_site_used_of(sl_site_id site, sl_measure_id measure)
{
    return site < SL_SITES_MAX && measure < SL_MEASURES_MAX
               ? sl_site_used[measure * SL_SITES_MAX + site]
               : 0;
}

int64_t sl_site_promised_of(sl_site_id site, sl_measure_id measure)
{
    return site < SL_SITES_MAX && measure < SL_MEASURES_MAX
               ? sl_site_promised[measure * SL_SITES_MAX + site]
               : 0;
}
