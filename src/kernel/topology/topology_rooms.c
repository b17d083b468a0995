/* SPDX-License-Identifier: Apache-2.0
 * SPDX-FileCopyrightText: The Sluice authors */

/* Rooms: capacity is what policy's eyes have seen, used and promised are kept by bookings and promises. */
#include "kernel/topology/topology_rooms.h"

int64_t sl_room_capacity[SL_ROOMS_MAX];
int64_t sl_room_used[SL_ROOMS_MAX];
int64_t sl_room_promised[SL_ROOMS_MAX];

enum sl_status sl_room_set_capacity(sl_site_id site, sl_measure_id measure, int64_t amount)
{
    if (site >= SL_SITES_MAX || measure >= SL_MEASURES_MAX) {
        return SL_REFUSED_BAD_ARGUMENT;
    }
    if (amount < 0 || amount > SL_AMOUNT_MAX) {
        return SL_REFUSED_AMOUNT;
    }
    sl_room_capacity[measure * SL_SITES_MAX + site] = amount;
    return SL_OK;
}

int64_t sl_room_capacity_of(sl_site_id site, sl_measure_id measure)
{
    return site < SL_SITES_MAX && measure < SL_MEASURES_MAX
               ? sl_room_capacity[measure * SL_SITES_MAX + site]
               : 0;
}

int64_t sl_room_used_of(sl_site_id site, sl_measure_id measure)
{
    return site < SL_SITES_MAX && measure < SL_MEASURES_MAX
               ? sl_room_used[measure * SL_SITES_MAX + site]
               : 0;
}

int64_t sl_room_promised_of(sl_site_id site, sl_measure_id measure)
{
    return site < SL_SITES_MAX && measure < SL_MEASURES_MAX
               ? sl_room_promised[measure * SL_SITES_MAX + site]
               : 0;
}
