/* SPDX-License-Identifier: Apache-2.0
 * SPDX-FileCopyrightText: The Sluice authors */

/* How evenly pods are spread over the children of a domain: the entropy of their shares, in bits,
 * with 26 binary digits after the point and no floating point. Equal spreads are equal numbers. */
#include "policy/search/placement_balance.h"

#define POINT 67108864 /* 2^26: one bit */
#define PODS_MAX INT32_MAX

static int64_t evenness[SL_SPOTS_MAX];

#define BITS_MAX 33LL /* more than the logarithm of any number of pods */

/* clang-format off */
#define DOMAINS sl_balance_domains.spots[0 .. SL_DOMAINS_MAX - 1]
/* clang-format on */

/* log2(n) for 1 <= n <= PODS_MAX. */
/*@ terminates \true; exits \false; assigns \nothing;
    ensures range: 0 <= \result <= BITS_MAX * POINT; */
static int64_t log2_of(int64_t n)
{
    int64_t whole = 0;
    int64_t fraction = 0;
    uint64_t x = (uint64_t)n << 32; /* n / 2^whole with 32 digits, in the end within [1, 2) */
    /*@ loop invariant whole: 0 <= whole <= 32; loop assigns x, whole; loop variant 32 - whole; */
    for (; x >= (2ULL << 32) && whole < 32; whole++) {
        x >>= 1;
    }
    x >>= 1; /* 31 digits, so that a square fits in */
    /*@
      loop invariant digit: 0 <= digit <= POINT / 2 && 0 <= fraction <= POINT - 2 * digit;
      loop assigns x, fraction, digit;
      loop variant digit;
    */
    for (int64_t digit = POINT / 2; digit > 0; digit /= 2) {
        x = (x * x) >> 31;
        if (x >= (2ULL << 31)) {
            x >>= 1;
            fraction += digit;
        }
    }
    return whole * POINT + fraction;
}

/* pods * log2(pods) */
/*@ requires pods: 0 < pods <= PODS_MAX; terminates \true; exits \false; assigns \nothing;
    ensures range: 0 <= \result <= pods * (BITS_MAX * POINT); */
static int64_t weighted(int64_t pods)
{
    int64_t bits = log2_of(pods);
    //@ assert most: 0 <= pods * bits <= pods * (BITS_MAX * POINT);
    return pods * bits;
}

/* All pods of the spots; sums are far below the bound. */
/*@ requires fits: FitsInRange; terminates \true; exits \false; assigns \nothing;
    ensures sum: 0 <= \result <= SL_AMOUNT_MAX; */
static int64_t sum_pods(uint32_t first, uint32_t end)
{
    int64_t total = 0;
    /*@
      loop invariant total: 0 <= total <= SL_AMOUNT_MAX;
      loop assigns child, total;
      loop variant SL_SPOTS_MAX - child;
    */
    for (uint32_t child = first; child < end && child < SL_SPOTS_MAX; child++) {
        if (sl_fit_pods[child] > 0 && sl_fit_pods[child] <= SL_AMOUNT_MAX - total) {
            total += sl_fit_pods[child];
        }
    }
    return total;
}

/* Numbers are scaled down so that all together are PODS_MAX or fewer. */
/*@ requires ready: FitsInRange && parent < SL_SPOTS_MAX; terminates \true; exits \false;
    assigns \nothing; */
static int64_t entropy_of(uint32_t parent)
{
    uint32_t end = sl_spot_child[parent] + sl_spot_children[parent];
    int64_t unit = 1 + sum_pods(sl_spot_child[parent], end) / PODS_MAX;
    int64_t sum = 0;
    int64_t scaled = 0;
    /*@
      loop invariant scaled: 0 <= scaled <= PODS_MAX;
      loop invariant sum: 0 <= sum <= scaled * (BITS_MAX * POINT);
      loop assigns child, sum, scaled;
      loop variant SL_SPOTS_MAX - child;
    */
    for (uint32_t child = sl_spot_child[parent]; child < end && child < SL_SPOTS_MAX; child++) {
        int64_t pods = sl_fit_pods[child] / unit;
        if (pods > 0 && pods <= PODS_MAX - scaled) {
            sum += weighted(pods);
            scaled += pods;
        }
    }
    return scaled > 0 ? log2_of(scaled) - sum / scaled : 0;
}

/*@ requires spots: a < SL_SPOTS_MAX && b < SL_SPOTS_MAX; terminates \true; exits \false;
    assigns \nothing; */
static bool before(uint32_t a, uint32_t b)
{
    bool led = sl_placing.leaders > 0;
    int64_t slices_a = led ? sl_fit_slices_led[a] : sl_fit_slices[a];
    int64_t slices_b = led ? sl_fit_slices_led[b] : sl_fit_slices[b];
    if (sl_pick_leaders(a) != sl_pick_leaders(b)) {
        return sl_pick_leaders(a) > sl_pick_leaders(b);
    }
    if (slices_a != slices_b) {
        return slices_a > slices_b;
    }
    return evenness[a] != evenness[b] ? evenness[a] > evenness[b] : a < b;
}

/*@ requires listed: BalanceListed && at < count <= sl_balance_domains.count; terminates \true;
    exits \false; assigns DOMAINS; ensures listed: BalanceListed; */
static void sift_down(uint32_t at, uint32_t count)
{
    uint32_t moving = sl_balance_domains.spots[at];
    /*@
      loop invariant listed: BalanceListed && at < count;
      loop assigns at, DOMAINS;
      loop variant count - at;
    */
    while (at < count / 2) {
        uint32_t child = 2 * at + 1;
        if (child + 1 < count &&
            before(sl_balance_domains.spots[child], sl_balance_domains.spots[child + 1])) {
            child++;
        }
        if (!before(moving, sl_balance_domains.spots[child])) {
            break;
        }
        sl_balance_domains.spots[at] = sl_balance_domains.spots[child];
        at = child;
    }
    sl_balance_domains.spots[at] = moving;
}

/*@ requires ready: FitsInRange && BalanceListed; terminates \true; exits \false;
    assigns evenness[0 .. SL_SPOTS_MAX - 1], DOMAINS; ensures listed: BalanceListed; */
void sl_balance_sort_even(void)
{
    uint32_t count = sl_balance_domains.count;
    /*@
      loop assigns i, evenness[0 .. SL_SPOTS_MAX - 1];
      loop variant count - i;
    */
    for (uint32_t i = 0; i < count; i++) {
        evenness[sl_balance_domains.spots[i]] = entropy_of(sl_balance_domains.spots[i]);
    }
    /*@
      loop invariant listed: BalanceListed && i <= count / 2;
      loop assigns i, DOMAINS;
      loop variant i;
    */
    for (uint32_t i = count / 2; i > 0; i--) {
        sift_down(i - 1, count);
    }
    /*@
      loop invariant listed: BalanceListed && end <= count;
      loop assigns end, DOMAINS;
      loop variant end;
    */
    for (uint32_t end = count; end > 1; end--) {
        uint32_t last = sl_balance_domains.spots[0];
        sl_balance_domains.spots[0] = sl_balance_domains.spots[end - 1];
        sl_balance_domains.spots[end - 1] = last;
        sift_down(0, end - 1);
    }
}
