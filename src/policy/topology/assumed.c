/* SPDX-License-Identifier: Apache-2.0
 * SPDX-FileCopyrightText: The Sluice authors */

/* One list of what was added, undone from its end. */
#include "policy/topology/assumed.h"

int64_t sl_assumed[SL_CAPACITIES_MAX];

static uint32_t capacities[SL_ASSUMED_MAX];
static int64_t before[SL_ASSUMED_MAX]; /* what was assumed of that capacity until then */
static uint32_t count;

#define SUM_MAX SL_AMOUNT_UNLIMITED /* of what is assumed of a capacity, either way */

/* clang-format off */
#define NOTED capacities[0 .. SL_ASSUMED_MAX - 1], before[0 .. SL_ASSUMED_MAX - 1], count
/* clang-format on */

/*@
  // What is noted names capacities, and can be brought back.
  predicate Noted{L} = count <= SL_ASSUMED_MAX &&
    \forall integer i; 0 <= i < count ==>
      capacities[i] < SL_CAPACITIES_MAX && -SUM_MAX <= before[i] <= SUM_MAX;
*/

uint32_t sl_assumed_mark(void)
{
    return count;
}

/*@ requires noted: Noted; terminates \true; exits \false; assigns SL_ASSUMED, count;
    ensures noted: Noted; */
void sl_assumed_back(uint32_t mark)
{
    /*@
      loop invariant noted: Noted && AssumedInRange;
      loop assigns count, SL_ASSUMED;
      loop variant count;
    */
    while (count > mark) {
        count--;
        sl_assumed[capacities[count]] = before[count];
    }
}

/*@ requires noted: Noted; terminates \true; exits \false; assigns SL_ASSUMED, NOTED;
    ensures noted: Noted; */
bool sl_assumed_add(sl_site_id site, sl_measure_id measure, int64_t amount)
{
    if (site >= SL_SITES_MAX || measure >= SL_MEASURES_MAX || count >= SL_ASSUMED_MAX ||
        amount > SL_AMOUNT_MAX || amount < -SL_AMOUNT_MAX) {
        return false;
    }
    uint32_t capacity = measure * SL_SITES_MAX + site;
    int64_t sum = sl_assumed[capacity] + amount;
    if (sum > SUM_MAX || sum < -SUM_MAX) {
        return false;
    }
    capacities[count] = capacity;
    before[count] = sl_assumed[capacity];
    count++;
    sl_assumed[capacity] = sum;
    return true;
}

/*@ requires noted: Noted; terminates \true; exits \false; assigns SL_ASSUMED, NOTED;
    ensures noted: Noted; */
bool sl_assumed_free(sl_workload_id id)
{
    uint32_t bookings = sl_booking_count(id);
    /*@
      loop invariant noted: Noted && AssumedInRange;
      loop assigns i, sl_hidden, SL_ASSUMED, NOTED;
      loop variant bookings - i;
    */
    for (uint32_t i = 0; i < bookings; i++) {
        struct sl_booking booking = sl_booking_at(id, i);
        if (!sl_assumed_add(booking.site, booking.measure, -booking.amount)) {
            return false;
        }
    }
    return true;
}

int64_t sl_assumed_capacity(sl_site_id site, sl_measure_id measure)
{
    if (site >= SL_SITES_MAX || measure >= SL_MEASURES_MAX) {
        return 0;
    }
    uint32_t capacity = measure * SL_SITES_MAX + site;
    return sl_site_capacity[capacity] - sl_site_used[capacity] - sl_site_promised[capacity] -
           sl_assumed[capacity];
}
