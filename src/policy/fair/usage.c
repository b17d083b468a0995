/* SPDX-License-Identifier: Apache-2.0
 * SPDX-FileCopyrightText: The Sluice authors */

/* Accounts. An account has a row of resources it ever used; its score (usage_amount.h) is the
 * weighted sum over the row. */
#include "policy/fair/usage.h"

#include "policy/fair/half_life.h"
#include "policy/requests/offers.h"

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
    sample.left = since_ms == 0 ? SL_FRACTION_ONE : sl_half_life_left(since_ms, half_life_ms);
    if (sampled_at_ms[account] < now_ms) {
        sampled_at_ms[account] = now_ms;
    }
    /*@
      loop invariant rows: UsageRows;
      loop assigns i, ENTRIES;
      loop variant SL_USAGE_RESOURCES_MAX - i;
    */
    for (uint32_t i = 0; i < SL_USAGE_RESOURCES_MAX; i++) {
        entries[account][i].consumed = sl_usage_part(entries[account][i].consumed, sample.left);
    }
}

/*@ requires rows: UsageRows; terminates \true; exits \false; assigns ENTRIES;
    ensures rows: UsageRows; */
void sl_usage_sample_running(sl_resource_id resource, int64_t amount)
{
    if (sample.account < SL_ACCOUNTS_MAX && half_life_ms != 0) {
        add_consumed(sample.account, resource,
                     sl_usage_part(amount_of(resource, amount), SL_FRACTION_ONE - sample.left));
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
    if (id >= SL_WORKLOADS_MAX || account >= SL_ACCOUNTS_MAX || half_life_ms == 0) {
        return; /* without a half-life no sample will ever hold the usage that it represents */
    }
    uint64_t part = SL_FRACTION_ONE - sl_half_life_left(sampling_ms, half_life_ms);
    struct sl_usage_amount penalty = sl_usage_part(amount_of(resource, amount), part);
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
            sl_usage_without(entries[taken.account][i].pending, taken.amount);
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

/*@ requires rows: UsageRows; terminates \true; exits \false; assigns ENTRIES;
    ensures rows: UsageRows; */
struct sl_usage_amount sl_usage_consumed(sl_account_id account, sl_resource_id resource)
{
    uint32_t i =
        account < SL_ACCOUNTS_MAX ? place_of(account, resource, false) : SL_USAGE_RESOURCES_MAX;
    return i < SL_USAGE_RESOURCES_MAX ? entries[account][i].consumed : nothing;
}

/*@ requires rows: UsageRows; terminates \true; exits \false; assigns ENTRIES;
    ensures rows: UsageRows; */
struct sl_usage_amount sl_usage_pending(sl_account_id account, sl_resource_id resource)
{
    uint32_t i =
        account < SL_ACCOUNTS_MAX ? place_of(account, resource, false) : SL_USAGE_RESOURCES_MAX;
    return i < SL_USAGE_RESOURCES_MAX ? entries[account][i].pending : nothing;
}

/*@ requires rows: UsageRows && account < SL_ACCOUNTS_MAX; terminates \true; exits \false;
    assigns \nothing; ensures parts: \result.parts < SL_USAGE_PARTS; */
static struct sl_usage_score score_of(sl_account_id account)
{
    struct sl_usage_score score = {{0, 0}, 0};
    /*@
      loop invariant parts: score.parts < SL_USAGE_PARTS;
      loop assigns i, score;
      loop variant SL_USAGE_RESOURCES_MAX - i;
    */
    for (uint32_t i = 0; i < SL_USAGE_RESOURCES_MAX && entries[account][i].resource != 0; i++) {
        uint32_t resource = entries[account][i].resource - 1;
        uint64_t weight =
            resource < SL_RESOURCES_MAX ? heft_of(resource_lighter[resource]) : heft_of(0);
        struct sl_usage_amount used =
            sl_usage_add(entries[account][i].consumed, entries[account][i].pending);
        score = sl_usage_weigh(score, used, weight);
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
    return sl_usage_compare_scores(score_of(a), weight_b, score_of(b), weight_a);
}
