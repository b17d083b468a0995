/* SPDX-License-Identifier: Apache-2.0
 * SPDX-FileCopyrightText: The Sluice authors */

/* The search for reduced counts: the smallest reduction in low .. high that fits, where `high`
 * fits or is one more than there can be. */
#include "policy/flavors/reducer.h"

#include "policy/requests/requests.h"
#include "policy/flavors/flavors.h"

static uint32_t set_count;
static uint64_t full[SL_POD_SETS_MAX];
static uint64_t spare[SL_POD_SETS_MAX]; /* pods that it could do without */
static uint64_t spare_total;
static uint64_t low;
static uint64_t high;

/* clang-format off */
#define SEARCH                                                                                     \
    set_count, full[0 .. SL_POD_SETS_MAX - 1], spare[0 .. SL_POD_SETS_MAX - 1],                    \
        spare_total, low, high
/* clang-format on */

/*@
  // No more pod sets than there is room for, and no interval where nothing can be spared.
  predicate SearchSets{L} = set_count <= SL_POD_SETS_MAX &&
    (spare_total == 0 ==> low <= 1 && high == 0);
*/

/*@ terminates \true; exits \false; assigns SEARCH; ensures sets: SearchSets; */
void sl_reducer_begin(sl_workload_id id)
{
    set_count = 0;
    spare_total = 0;
    /*@
      loop invariant sets: set_count <= SL_POD_SETS_MAX;
      loop assigns set_count, pod_set, spare_total, full[0 .. SL_POD_SETS_MAX - 1],
                   spare[0 .. SL_POD_SETS_MAX - 1];
      loop variant SL_POD_SETS_MAX - set_count;
    */
    for (uint32_t pod_set = sl_requests_first_pod_set(id);
         pod_set != SL_NO_ID && set_count < SL_POD_SETS_MAX;
         pod_set = sl_requests_next_pod_set(pod_set)) {
        full[set_count] = sl_requests_pod_count(pod_set);
        spare[set_count] = full[set_count] - sl_requests_min_count(pod_set);
        spare_total += spare[set_count];
        set_count++;
    }
    low = 0;
    high = spare_total == 0 ? 0 : spare_total + 1;
}

/* pods * reduction / spare_total, rounded down. The product may have 67 bits, so the division is
 * done in two steps: of all but the lowest eight bits of the reduction, then of the rest. */
/*@ requires spare: spare_total != 0; terminates \true; exits \false; assigns \nothing; */
static uint64_t part_of(uint64_t pods, uint64_t reduction)
{
    uint64_t upper = pods * (reduction >> 8);
    uint64_t rest = ((upper % spare_total) << 8) + pods * (reduction & 255u);
    return ((upper / spare_total) << 8) + rest / spare_total;
}

/*@
  requires sets: SearchSets && spare_total != 0;
  terminates \true; exits \false;
  assigns sl_flavors_counts[0 .. SL_POD_SETS_MAX - 1];
*/
static void write_counts(uint64_t reduction)
{
    /*@
      loop assigns i, sl_flavors_counts[0 .. SL_POD_SETS_MAX - 1];
      loop variant set_count - i;
    */
    for (uint32_t i = 0; i < set_count; i++) {
        sl_flavors_counts[i] = (uint32_t)(full[i] - part_of(spare[i], reduction));
    }
}

/*@
  requires sets: SearchSets;
  terminates \true; exits \false;
  assigns sl_flavors_counts[0 .. SL_POD_SETS_MAX - 1];
*/
bool sl_reducer_next(void)
{
    if (low >= high) {
        return false;
    }
    write_counts((low + high) / 2);
    return true;
}

/*@ requires sets: SearchSets; terminates \true; exits \false; assigns low, high;
    ensures sets: SearchSets; */
void sl_reducer_report(bool fits)
{
    uint64_t tried = (low + high) / 2;
    if (fits) {
        high = tried;
    } else {
        low = tried + 1;
    }
}

/*@
  requires sets: SearchSets;
  terminates \true; exits \false;
  assigns sl_flavors_counts[0 .. SL_POD_SETS_MAX - 1];
*/
bool sl_reducer_found(void)
{
    if (spare_total == 0 || high > spare_total) {
        return false;
    }
    write_counts(high);
    return true;
}
