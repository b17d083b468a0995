/* SPDX-License-Identifier: Apache-2.0
 * SPDX-FileCopyrightText: The Sluice authors */

/* What the pod sets placed so far take counts as taken for later ones of the question. Owns the
 * list of the capacities that it is taken of. */
#include "policy/search/placement_state.h"

#define OWN_MAX SL_BOOKINGS_MAX /* capacities that one workload takes */

static struct {
    uint32_t count;
    uint32_t capacities[OWN_MAX];
} own;

/*@
  predicate OwnListed{L} = own.count <= OWN_MAX &&
    \forall integer i; 0 <= i < own.count ==> own.capacities[i] < SL_CAPACITIES_MAX;
*/

/* More pods take more of a capacity; an amount that no node has counts as unlimited. */
/*@ requires range: -SL_AMOUNT_UNLIMITED <= before <= SL_AMOUNT_UNLIMITED;
    requires pods: 0 < per_pod <= SL_AMOUNT_MAX && 0 < count;
    terminates \true; exits \false; assigns \nothing;
    ensures range: before <= \result <= SL_AMOUNT_UNLIMITED; */
static int64_t plus(int64_t before, int64_t per_pod, int64_t count)
{
    int64_t most = (SL_AMOUNT_UNLIMITED - before) / count; /* of each pod */
    if (per_pod > most) {
        return SL_AMOUNT_UNLIMITED;
    }
    //@ assert less: per_pod * count <= most * count;
    return before + per_pod * count;
}

/*@ requires own: OwnInRange && OwnListed;
    requires pods: 0 < per_pod <= SL_AMOUNT_MAX && 0 < count && site < SL_SITES_MAX;
    terminates \true; exits \false; assigns SL_OWN, own; ensures own: OwnInRange && OwnListed; */
static void take(sl_site_id site, sl_measure_id measure, int64_t per_pod, int64_t count)
{
    if (measure >= SL_MEASURES_MAX || own.count >= OWN_MAX) {
        return; /* capacities beyond OWN_MAX are left to the kernel to refuse */
    }
    uint32_t capacity = measure * SL_SITES_MAX + site;
    sl_placement_own[capacity] = plus(sl_placement_own[capacity], per_pod, count);
    sl_placement_has_own = true;
    own.capacities[own.count] = capacity;
    own.count++;
}

/* Nobody asks what the last set takes. */
/*@ terminates \true; exits \false; assigns \nothing; */
static bool is_asked(void)
{
    return sl_placement_question.set_count >= 2 || sl_placement_question.replaces;
}

/* As if so much were free, which others cannot have. */
/*@ requires own: OwnInRange && OwnListed; terminates \true; exits \false; assigns SL_OWN, own;
    ensures own: OwnInRange && OwnListed; */
static void give(struct sl_booking booking)
{
    if (booking.site >= SL_SITES_MAX || booking.measure >= SL_MEASURES_MAX || booking.amount <= 0 ||
        booking.amount > SL_AMOUNT_MAX || own.count >= OWN_MAX) {
        return;
    }
    uint32_t capacity = booking.measure * SL_SITES_MAX + booking.site;
    int64_t least = booking.amount - SL_AMOUNT_UNLIMITED;
    sl_placement_own[capacity] = sl_placement_own[capacity] > least
                                     ? sl_placement_own[capacity] - booking.amount
                                     : -SL_AMOUNT_UNLIMITED;
    sl_placement_has_own = true;
    own.capacities[own.count] = capacity;
    own.count++;
}

/*@ requires ready: OwnInRange && OwnListed && BlocksSound; terminates \true; exits \false;
    assigns SL_OWN, own; ensures own: OwnInRange && OwnListed; */
void sl_placement_free_booked(sl_workload_id id)
{
    uint32_t count = sl_booking_count(id);
    /*@
      loop invariant own: OwnInRange && OwnListed;
      loop assigns i, SL_OWN, own;
      loop variant count - i;
    */
    for (uint32_t i = 0; i < count; i++) {
        give(sl_booking_at(id, i));
    }
}

/*@ requires ready: TakesSound && OwnInRange && OwnListed; terminates \true; exits \false;
    assigns SL_OWN, own; ensures own: OwnInRange && OwnListed; */
void sl_placement_take_pods(sl_site_id site, uint32_t pods)
{
    if (site >= SL_SITES_MAX || pods == 0) {
        return;
    }
    /*@
      loop invariant own: OwnInRange && OwnListed;
      loop assigns i, SL_OWN, own;
      loop variant SL_TAKES_MAX - i;
    */
    for (uint32_t i = 0; i < sl_placing.takes.count && i < SL_TAKES_MAX; i++) {
        take(site, sl_placing.takes.of[i].measure, sl_placing.takes.of[i].per_pod, pods);
    }
}

/*@ requires ready: spot < SL_SPOTS_MAX && FitsInRange && TakesSound && OwnInRange;
    requires own: OwnListed;
    terminates \true; exits \false; assigns SL_OWN, own; ensures own: OwnInRange && OwnListed; */
void sl_placement_take_own(uint32_t spot, bool leader)
{
    sl_site_id site = sl_spot_site[spot];
    int64_t pods = leader ? 1 : sl_fit_pods[spot];
    uint32_t count = leader ? sl_placing.leader_takes.count : sl_placing.takes.count;
    if (site >= SL_SITES_MAX || pods <= 0 || !is_asked()) {
        return;
    }
    /*@
      loop invariant own: OwnInRange && OwnListed;
      loop assigns i, SL_OWN, own;
      loop variant SL_TAKES_MAX - i;
    */
    for (uint32_t i = 0; i < count && i < SL_TAKES_MAX; i++) {
        if (leader) {
            take(site, sl_placing.leader_takes.of[i].measure, sl_placing.leader_takes.of[i].per_pod,
                 pods);
        } else {
            take(site, sl_placing.takes.of[i].measure, sl_placing.takes.of[i].per_pod, pods);
        }
    }
}

/*@ requires own: OwnInRange && OwnListed; terminates \true; exits \false; assigns SL_OWN, own;
    ensures own: OwnInRange && OwnListed; */
void sl_placement_clear_own(void)
{
    /*@
      loop invariant own: OwnInRange;
      loop assigns i, sl_placement_own[0 .. SL_CAPACITIES_MAX - 1];
      loop variant own.count - i;
    */
    for (uint32_t i = 0; i < own.count; i++) {
        sl_placement_own[own.capacities[i]] = 0;
    }
    own.count = 0;
    sl_placement_has_own = false;
}
