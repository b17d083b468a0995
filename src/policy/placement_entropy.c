/* SPDX-License-Identifier: Apache-2.0
 * SPDX-FileCopyrightText: The Sluice authors */

/* How evenly pods are spread over the children of a domain: the entropy of their shares, in bits,
 * with 26 binary digits after the point and no floating point. Equal spreads are equal numbers. */
#include "policy/placement_balance.h"

#define POINT 67108864 /* 2^26: one bit */
#define PODS_MAX INT32_MAX

static int64_t evenness[SL_SPOTS_MAX];

/* log2(n) for 1 <= n <= PODS_MAX. */
static int64_t log2_of(int64_t n)
{
    int64_t whole = 0;
    int64_t fraction = 0;
    uint64_t x = (uint64_t)n << 32; /* n / 2^whole with 32 digits, in the end within [1, 2) */
    for (; x >= (2ULL << 32) && whole < 32; whole++) {
        x >>= 1;
    }
    x >>= 1; /* 31 digits, so that a square fits in */
    for (int64_t digit = POINT / 2; digit > 0; digit /= 2) {
        x = (x * x) >> 31;
        if (x >= (2ULL << 31)) {
            x >>= 1;
            fraction += digit;
        }
    }
    return whole * POINT + fraction;
}

static int64_t entropy_of(uint32_t parent)
{
    uint32_t end = sl_spot_child[parent] + sl_spot_children[parent];
    int64_t total = 0;
    int64_t unit = 1;
    int64_t sum = 0;
    int64_t scaled = 0;
    for (uint32_t child = sl_spot_child[parent]; child < end; child++) {
        total += sl_fit_pods[child];
    }
    unit += total / PODS_MAX;
    for (uint32_t child = sl_spot_child[parent]; child < end; child++) {
        int64_t pods = sl_fit_pods[child] / unit;
        if (pods > 0) {
            sum += pods * log2_of(pods);
            scaled += pods;
        }
    }
    return scaled > 0 ? log2_of(scaled) - sum / scaled : 0;
}

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

static void sift_down(struct sl_spot_list *list, uint32_t at, uint32_t count)
{
    uint32_t moving = list->spots[at];
    while (at < count / 2) {
        uint32_t child = 2 * at + 1;
        if (child + 1 < count && before(list->spots[child], list->spots[child + 1])) {
            child++;
        }
        if (!before(moving, list->spots[child])) {
            break;
        }
        list->spots[at] = list->spots[child];
        at = child;
    }
    list->spots[at] = moving;
}

void sl_balance_sort_even(struct sl_spot_list *domains)
{
    for (uint32_t i = 0; i < domains->count; i++) {
        evenness[domains->spots[i]] = entropy_of(domains->spots[i]);
    }
    for (uint32_t i = domains->count / 2; i > 0; i--) {
        sift_down(domains, i - 1, domains->count);
    }
    for (uint32_t end = domains->count; end > 1; end--) {
        uint32_t last = domains->spots[0];
        domains->spots[0] = domains->spots[end - 1];
        domains->spots[end - 1] = last;
        sift_down(domains, 0, end - 1);
    }
}
