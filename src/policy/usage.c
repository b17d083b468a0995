/* SPDX-License-Identifier: Apache-2.0
 * SPDX-FileCopyrightText: The Sluice authors */

/* Accounts. An account has a row of resources it ever used; its score is the weighted sum over the
 * row, and two scores are compared after each was multiplied by the other's weight. Millionths of a
 * thousandth are carried beside, so that 192 bits are enough and nothing is rounded. */
#include "policy/usage.h"

#include "policy/half_life.h"
#include "policy/offers.h"
#include "policy/wide.h"

#define NANO 1000000000LL

/* Of an account and one resource. */
struct entry {
    uint32_t resource; /* id plus one; 0 = not used */
    struct sl_usage_amount consumed;
    struct sl_usage_amount pending;
};

static struct entry entries[SL_ACCOUNTS_MAX][SL_USAGE_RESOURCES_MAX];
static int64_t sampled_at_ms[SL_ACCOUNTS_MAX]; /* 0 = never yet */
static int64_t lighter[SL_ACCOUNTS_MAX];       /* the weight is 1e9 minus this: see heft_of */

static int64_t resource_lighter[SL_RESOURCES_MAX];  /* in the same way */
static bool resource_thousandths[SL_RESOURCES_MAX]; /* counted in thousandths by the ledger */

static int64_t half_life_ms;
static int64_t sampling_ms;

/* Penalties not yet settled: a list per workload in a pool. */
struct penalty {
    uint32_t next; /* link */
    sl_account_id account;
    sl_resource_id resource;
    struct sl_usage_amount amount;
};
static struct penalty penalties[SL_PENALTIES_MAX];
static uint32_t penalty_limit;
static uint32_t penalty_spare; /* link to the first that was given back */
static uint32_t penalty_first[SL_WORKLOADS_MAX];

static uint32_t account_link[SL_WORKLOADS_MAX];

static struct {
    sl_account_id account;
    uint64_t left; /* of the past */
} sample;

#include "specs/usage.acsl"

/* Memory that was never touched means a weight of one, and so it is kept as its distance to it. */
/*@ requires distance: HEAVIEST <= distance <= NANO; terminates \true; exits \false;
    assigns \nothing; ensures heft: \result <= INT64_MAX; */
static uint64_t heft_of(int64_t distance)
{
    return (uint64_t)(NANO - distance);
}

static const struct sl_usage_amount nothing = {0, 0};

struct sl_usage_amount sl_usage_add(struct sl_usage_amount a, struct sl_usage_amount b)
{
    struct sl_usage_amount sum = {SL_USAGE_MAX, 0};
    uint32_t parts = a.parts + b.parts;
    uint32_t carry = parts >= SL_USAGE_PARTS ? 1 : 0;
    if (a.milli + b.milli + carry < SL_USAGE_MAX) {
        sum.milli = a.milli + b.milli + carry;
        sum.parts = carry != 0 ? parts - SL_USAGE_PARTS : parts;
    }
    return sum;
}

/* `a` without `b`; nothing where that is more. */
/*@ requires left: UsageAmount(a); requires right: UsageAmount(b); terminates \true; exits \false;
    assigns \nothing; ensures amount: UsageAmount(\result); */
static struct sl_usage_amount without(struct sl_usage_amount a, struct sl_usage_amount b)
{
    uint32_t borrowed = a.parts < b.parts ? 1 : 0;
    if (a.milli < b.milli + borrowed) {
        return nothing;
    }
    a.milli -= b.milli + borrowed;
    a.parts = a.parts + borrowed * SL_USAGE_PARTS - b.parts;
    return a;
}

/* amount times fraction (0 .. SL_FRACTION_ONE, else nothing), rounded down to a whole part. */
/*@ requires amount: UsageAmount(amount); terminates \true; exits \false; assigns \nothing;
    ensures amount: UsageAmount(\result); */
static struct sl_usage_amount part_of(struct sl_usage_amount amount, uint64_t fraction)
{
    struct sl_usage_amount out = {sl_half_life_part(amount.milli, fraction), 0};
    if (fraction > SL_FRACTION_ONE) {
        return nothing;
    }
    uint64_t rest = sl_wide_multiply((uint64_t)amount.milli, fraction).low % SL_FRACTION_ONE;
    struct sl_wide parts = sl_wide_add(sl_wide_multiply(rest, SL_USAGE_PARTS),
                                       sl_wide_multiply(amount.parts, fraction));
    uint64_t whole = parts.high % SL_FRACTION_ONE * 4 + parts.low / SL_FRACTION_ONE;
    if (whole >= SL_USAGE_PARTS && out.milli < SL_USAGE_MAX) {
        out.milli++;
        whole -= SL_USAGE_PARTS;
    }
    out.parts = whole < SL_USAGE_PARTS ? (uint32_t)whole : SL_USAGE_PARTS - 1;
    return out;
}

/*@ terminates \true; exits \false; assigns \nothing;
    ensures amount: UsageAmount(\result); */
static struct sl_usage_amount amount_of(sl_resource_id resource, int64_t amount)
{
    struct sl_usage_amount out = nothing;
    if (amount <= 0) {
        return out;
    }
    if (resource < SL_RESOURCES_MAX && resource_thousandths[resource]) {
        out.milli = amount > SL_USAGE_MAX ? SL_USAGE_MAX : amount;
    } else {
        out.milli = amount > SL_USAGE_MAX / 1000 ? SL_USAGE_MAX : amount * 1000;
    }
    return out;
}

/* --- settings -------------------------------------------------------------------------------- */

/*@ terminates \true; exits \false; assigns half_life_ms, sampling_ms; */
void sl_usage_configure(int64_t half_life, int64_t sampling)
{
    half_life_ms = half_life > 0 ? half_life : 0;
    sampling_ms = sampling > 0 ? sampling : 0;
}

/*@ requires rows: UsageRows; terminates \true; exits \false;
    assigns resource_lighter[0 .. SL_RESOURCES_MAX - 1],
      resource_thousandths[0 .. SL_RESOURCES_MAX - 1]; ensures rows: UsageRows; */
enum sl_status sl_usage_set_resource(sl_resource_id resource, int64_t weight_nano, bool thousandths)
{
    if (resource >= SL_RESOURCES_MAX || weight_nano < 0) {
        return SL_REFUSED_BAD_ARGUMENT;
    }
    resource_lighter[resource] = NANO - weight_nano;
    resource_thousandths[resource] = thousandths;
    return SL_OK;
}

/*@ requires rows: UsageRows; terminates \true; exits \false;
    assigns lighter[0 .. SL_ACCOUNTS_MAX - 1]; ensures rows: UsageRows; */
void sl_usage_set_weight(sl_account_id account, int64_t weight_nano)
{
    if (account < SL_ACCOUNTS_MAX) {
        lighter[account] = NANO - (weight_nano > 0 ? weight_nano : 0);
    }
}

/*@ requires rows: UsageRows; terminates \true; exits \false;
    assigns account_link[0 .. SL_WORKLOADS_MAX - 1]; ensures rows: UsageRows; */
void sl_usage_set_account(sl_workload_id id, sl_account_id account)
{
    if (id < SL_WORKLOADS_MAX) {
        account_link[id] = account < SL_ACCOUNTS_MAX ? account + 1 : 0;
    }
}

/*@ requires rows: UsageRows; terminates \true; exits \false; assigns \nothing; */
sl_account_id sl_usage_account_of(sl_workload_id id)
{
    return id < SL_WORKLOADS_MAX && account_link[id] != 0 ? account_link[id] - 1 : SL_NO_ID;
}

/*@ requires rows: UsageRows; terminates \true; exits \false;
    assigns ENTRIES, sampled_at_ms[account], lighter[account]; ensures rows: UsageRows; */
void sl_usage_close(sl_account_id account)
{
    if (account >= SL_ACCOUNTS_MAX) {
        return;
    }
    struct entry none = {0, {0, 0}, {0, 0}};
    /*@
      loop invariant rows: UsageRows;
      loop assigns i, ENTRIES;
      loop variant SL_USAGE_RESOURCES_MAX - i;
    */
    for (uint32_t i = 0; i < SL_USAGE_RESOURCES_MAX; i++) {
        entries[account][i] = none;
    }
    sampled_at_ms[account] = 0;
    lighter[account] = 0;
}

/* --- accounts -------------------------------------------------------------------------------- */

/* The row's place for a resource, taken when `take`; SL_USAGE_RESOURCES_MAX = none. */
/*@ requires rows: UsageRows && account < SL_ACCOUNTS_MAX; terminates \true; exits \false;
    assigns ENTRIES; ensures rows: UsageRows; ensures place: \result <= SL_USAGE_RESOURCES_MAX; */
static uint32_t place_of(sl_account_id account, sl_resource_id resource, bool take)
{
    uint32_t i = 0;
    /*@
      loop invariant place: i <= SL_USAGE_RESOURCES_MAX;
      loop assigns i;
      loop variant SL_USAGE_RESOURCES_MAX - i;
    */
    while (i < SL_USAGE_RESOURCES_MAX && entries[account][i].resource != 0 &&
           entries[account][i].resource != resource + 1) {
        i++;
    }
    if (i < SL_USAGE_RESOURCES_MAX && entries[account][i].resource == 0) {
        if (!take || resource == SL_NO_ID) {
            return SL_USAGE_RESOURCES_MAX;
        }
        entries[account][i].resource = resource + 1;
    }
    return i;
}

/*@ requires rows: UsageRows && account < SL_ACCOUNTS_MAX;
    requires amount: UsageAmount(amount); terminates \true; exits \false;
    assigns ENTRIES; ensures rows: UsageRows; */
static void add_consumed(sl_account_id account, sl_resource_id resource,
                         struct sl_usage_amount amount)
{
    uint32_t i = place_of(account, resource, true);
    if (i < SL_USAGE_RESOURCES_MAX) {
        entries[account][i].consumed = sl_usage_add(entries[account][i].consumed, amount);
    }
}

/*@ requires rows: UsageRows; terminates \true; exits \false;
    assigns sample, ENTRIES, sampled_at_ms[account]; ensures rows: UsageRows; */
void sl_usage_sample_begin(sl_account_id account, int64_t now_ms)
{
    sample.account = account;
    if (account >= SL_ACCOUNTS_MAX) {
        return;
    }
    int64_t since_ms = sampled_at_ms[account] != 0 && now_ms > sampled_at_ms[account]
                           ? now_ms - sampled_at_ms[account]
                           : 0;
    sample.left = sl_half_life_left(since_ms, half_life_ms);
    if (sampled_at_ms[account] < now_ms) {
        sampled_at_ms[account] = now_ms;
    }
    /*@
      loop invariant rows: UsageRows;
      loop assigns i, ENTRIES;
      loop variant SL_USAGE_RESOURCES_MAX - i;
    */
    for (uint32_t i = 0; i < SL_USAGE_RESOURCES_MAX; i++) {
        entries[account][i].consumed = part_of(entries[account][i].consumed, sample.left);
    }
}

/*@ requires rows: UsageRows; terminates \true; exits \false; assigns ENTRIES;
    ensures rows: UsageRows; */
void sl_usage_sample_running(sl_resource_id resource, int64_t amount)
{
    if (sample.account < SL_ACCOUNTS_MAX && half_life_ms != 0) {
        add_consumed(sample.account, resource,
                     part_of(amount_of(resource, amount), SL_FRACTION_ONE - sample.left));
    }
}

/*@ terminates \true; exits \false; assigns sample; */
void sl_usage_sample_end(void)
{
    sample.account = SL_NO_ID;
}

/*@ requires rows: UsageRows; terminates \true; exits \false;
    assigns ENTRIES, sampled_at_ms[account]; ensures rows: UsageRows; */
void sl_usage_restore(sl_account_id account, sl_resource_id resource, struct sl_usage_amount amount,
                      int64_t sampled_ms)
{
    if (account < SL_ACCOUNTS_MAX && amount.milli >= 0 && amount.parts < SL_USAGE_PARTS) {
        struct sl_usage_amount largest = {SL_USAGE_MAX, 0};
        add_consumed(account, resource, amount.milli < SL_USAGE_MAX ? amount : largest);
        sampled_at_ms[account] = sampled_ms > 0 ? sampled_ms : 0;
    }
}

/* --- penalties ------------------------------------------------------------------------------- */

/*@ requires rows: UsageRows; terminates \true; exits \false;
    assigns penalty_spare, penalty_limit; ensures rows: UsageRows;
    ensures link: \result <= SL_PENALTIES_MAX; */
static uint32_t new_penalty(void)
{
    uint32_t link = penalty_spare;
    if (link != 0) {
        penalty_spare = penalties[link - 1].next;
        return link;
    }
    if (penalty_limit >= SL_PENALTIES_MAX) {
        return 0;
    }
    penalty_limit++;
    return penalty_limit;
}

/*@ requires rows: UsageRows; terminates \true; exits \false; assigns ENTRIES, PENALTIES;
    ensures rows: UsageRows; */
void sl_usage_charge(sl_workload_id id, sl_account_id account, sl_resource_id resource,
                     int64_t amount)
{
    if (id >= SL_WORKLOADS_MAX || account >= SL_ACCOUNTS_MAX) {
        return;
    }
    uint64_t part = SL_FRACTION_ONE - sl_half_life_left(sampling_ms, half_life_ms);
    struct sl_usage_amount penalty = part_of(amount_of(resource, amount), part);
    uint32_t i = place_of(account, resource, true);
    if (i >= SL_USAGE_RESOURCES_MAX ||
        penalty.milli >= SL_USAGE_MAX - entries[account][i].pending.milli) {
        return;
    }
    uint32_t link = new_penalty();
    if (link == 0) {
        return;
    }
    struct penalty noted = {penalty_first[id], account, resource, penalty};
    penalties[link - 1] = noted;
    penalty_first[id] = link;
    entries[account][i].pending = sl_usage_add(entries[account][i].pending, penalty);
}

/* Take the workload's first penalty off its account. */
/*@ requires rows: UsageRows; requires some: id < SL_WORKLOADS_MAX && penalty_first[id] != 0;
    terminates \true; exits \false; assigns ENTRIES, PENALTIES; ensures rows: UsageRows;
    ensures taken: \result.account < SL_ACCOUNTS_MAX && UsageAmount(\result.amount); */
static struct penalty take_penalty(sl_workload_id id)
{
    uint32_t link = penalty_first[id];
    struct penalty taken = penalties[link - 1];
    uint32_t i = place_of(taken.account, taken.resource, false);
    if (i < SL_USAGE_RESOURCES_MAX) {
        entries[taken.account][i].pending =
            without(entries[taken.account][i].pending, taken.amount);
    }
    penalty_first[id] = taken.next;
    penalties[link - 1].next = penalty_spare;
    penalty_spare = link;
    return taken;
}

/*@ requires rows: UsageRows; terminates \true; exits \false; assigns ENTRIES, PENALTIES;
    ensures rows: UsageRows; */
void sl_usage_drop(sl_workload_id id)
{
    /*@
      loop invariant rows: UsageRows;
      loop assigns steps, ENTRIES, PENALTIES;
      loop variant SL_PENALTIES_MAX - steps;
    */
    for (uint32_t steps = 0;
         id < SL_WORKLOADS_MAX && penalty_first[id] != 0 && steps < SL_PENALTIES_MAX; steps++) {
        (void)take_penalty(id);
    }
}

/*@ requires rows: UsageRows; terminates \true; exits \false; assigns ENTRIES, PENALTIES;
    ensures rows: UsageRows; */
void sl_usage_settle(sl_workload_id id)
{
    /*@
      loop invariant rows: UsageRows;
      loop assigns steps, ENTRIES, PENALTIES;
      loop variant SL_PENALTIES_MAX - steps;
    */
    for (uint32_t steps = 0;
         id < SL_WORKLOADS_MAX && penalty_first[id] != 0 && steps < SL_PENALTIES_MAX; steps++) {
        struct penalty taken = take_penalty(id);
        add_consumed(taken.account, taken.resource, taken.amount);
    }
}

/* --- questions ------------------------------------------------------------------------------- */

/*@ requires rows: UsageRows; terminates \true; exits \false; assigns ENTRIES; */
struct sl_usage_amount sl_usage_consumed(sl_account_id account, sl_resource_id resource)
{
    uint32_t i =
        account < SL_ACCOUNTS_MAX ? place_of(account, resource, false) : SL_USAGE_RESOURCES_MAX;
    return i < SL_USAGE_RESOURCES_MAX ? entries[account][i].consumed : nothing;
}

/*@ requires rows: UsageRows; terminates \true; exits \false; assigns ENTRIES; */
struct sl_usage_amount sl_usage_pending(sl_account_id account, sl_resource_id resource)
{
    uint32_t i =
        account < SL_ACCOUNTS_MAX ? place_of(account, resource, false) : SL_USAGE_RESOURCES_MAX;
    return i < SL_USAGE_RESOURCES_MAX ? entries[account][i].pending : nothing;
}

/* Of an account: thousandths, weighed, and parts of one of these beside (below SL_USAGE_PARTS). */
struct score {
    struct sl_wide milli;
    uint64_t parts;
};

/* `parts` (below SL_USAGE_PARTS) times weight: thousandths, and the parts that are left. */
/*@ requires parts: parts < SL_USAGE_PARTS; requires weight: weight <= INT64_MAX;
    requires valid: \valid(left); terminates \true; exits \false; assigns *left;
    ensures left: *left < SL_USAGE_PARTS;
    ensures exact: \result * SL_USAGE_PARTS + *left == parts * weight; */
static uint64_t weigh_parts(uint64_t parts, uint64_t weight, uint64_t *left)
{
    uint64_t high = parts * (weight / SL_USAGE_PARTS);
    uint64_t low = parts * (weight % SL_USAGE_PARTS);
    *left = low % SL_USAGE_PARTS;
    return high + low / SL_USAGE_PARTS;
}

/*@ requires parts: score->parts < SL_USAGE_PARTS; requires valid: \valid(score);
    requires amount: UsageAmount(amount); requires weight: weight <= INT64_MAX;
    terminates \true; exits \false; assigns *score;
    ensures parts: score->parts < SL_USAGE_PARTS; */
static void add_weighed(struct score *score, struct sl_usage_amount amount, uint64_t weight)
{
    uint64_t left;
    struct sl_wide more = {0, weigh_parts(amount.parts, weight, &left)};
    score->parts += left;
    if (score->parts >= SL_USAGE_PARTS) {
        struct sl_wide one = {0, 1};
        score->parts -= SL_USAGE_PARTS;
        score->milli = sl_wide_add(score->milli, one);
    }
    score->milli = sl_wide_add(score->milli, more);
    score->milli = sl_wide_add(score->milli, sl_wide_multiply((uint64_t)amount.milli, weight));
}

/*@ requires rows: UsageRows && account < SL_ACCOUNTS_MAX; terminates \true; exits \false;
    assigns \nothing; ensures parts: \result.parts < SL_USAGE_PARTS; */
static struct score score_of(sl_account_id account)
{
    struct score score = {{0, 0}, 0};
    /*@
      loop invariant parts: score.parts < SL_USAGE_PARTS;
      loop assigns i, score;
      loop variant SL_USAGE_RESOURCES_MAX - i;
    */
    for (uint32_t i = 0; i < SL_USAGE_RESOURCES_MAX && entries[account][i].resource != 0; i++) {
        uint32_t resource = entries[account][i].resource - 1;
        uint64_t weight =
            resource < SL_RESOURCES_MAX ? heft_of(resource_lighter[resource]) : heft_of(0);
        add_weighed(&score, sl_usage_add(entries[account][i].consumed, entries[account][i].pending),
                    weight);
    }
    return score;
}

/*@ requires rows: UsageRows; terminates \true; exits \false; assigns \nothing; */
int sl_usage_compare(sl_account_id a, sl_account_id b)
{
    if (a >= SL_ACCOUNTS_MAX || b >= SL_ACCOUNTS_MAX || a == b) {
        return 0;
    }
    uint64_t weight_a = heft_of(lighter[a]);
    uint64_t weight_b = heft_of(lighter[b]);
    if (weight_a == 0 || weight_b == 0) {
        return (weight_a == 0 ? 1 : 0) - (weight_b == 0 ? 1 : 0);
    }
    struct score score_a = score_of(a);
    struct score score_b = score_of(b);
    uint64_t left_a, left_b;
    uint64_t more_a = weigh_parts(score_a.parts, weight_b, &left_a);
    uint64_t more_b = weigh_parts(score_b.parts, weight_a, &left_b);
    int sign = sl_wide_compare(sl_wide_carry(sl_wide_scale(score_a.milli, weight_b), more_a),
                               sl_wide_carry(sl_wide_scale(score_b.milli, weight_a), more_b));
    return sign != 0 ? sign : (left_a > left_b ? 1 : 0) - (left_a < left_b ? 1 : 0);
}
