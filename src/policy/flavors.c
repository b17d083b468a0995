/* SPDX-License-Identifier: Apache-2.0
 * SPDX-FileCopyrightText: The Sluice authors */

/* Flavor assignment. What earlier pod sets of the same workload were given counts as used for
 * the later ones: it is kept beside the ledger, per cell, and taken back at the end. All pod
 * sets and groups are looked at even when one has failed, so that the answer names everything
 * that is in the way. */
#include "policy/flavors.h"

#include "kernel/ledger.h"
#include "policy/offers.h"

struct sl_assignment sl_assignment;

static int64_t tentative[SL_CELLS_MAX]; /* chosen so far; zero between calls */

/* What the pod set at hand asks for, and in which resource group its queue offers it. */
static struct {
    uint32_t pod_set; /* record */
    uint32_t index;
    uint32_t count;
    sl_resource_id resource[SL_REQUESTS_MAX + 1u];
    int64_t amount[SL_REQUESTS_MAX + 1u];
    uint32_t group[SL_REQUESTS_MAX + 1u]; /* SL_NO_ID = none */
} want;

static struct sl_rules rules;

/* How a search ended; the worst of several counts. */
enum severity { FITS, WAITING, EXCEEDS, NO_MATCH };

struct verdict {
    enum severity severity;
    uint32_t height; /* when it fits */
};

static enum severity worse(enum severity a, enum severity b)
{
    return a > b ? a : b;
}

static enum sl_pending_reason reason_of(enum severity severity)
{
    switch (severity) {
    case NO_MATCH:
        return SL_PENDING_NO_MATCHING_FLAVOR;
    case EXCEEDS:
        return SL_PENDING_EXCEEDS_MAX_QUOTA;
    default:
        return SL_PENDING_WAITING_FOR_QUOTA;
    }
}

static void add_detail(enum sl_miss miss, sl_flavor_id flavor, sl_resource_id resource,
                       int64_t amount)
{
    if (sl_assignment.detail_count >= SL_DETAILS_MAX) {
        sl_assignment.details_left_out++;
        return;
    }
    struct sl_detail detail = {want.index, miss, flavor, resource, amount};
    sl_assignment.details[sl_assignment.detail_count] = detail;
    sl_assignment.detail_count++;
}

/* --- what is wanted -------------------------------------------------------------------------- */

static uint32_t group_offering(sl_node_id queue, sl_resource_id resource)
{
    for (sl_cell_id cell = sl_offers_first(queue); cell != SL_NO_ID; cell = sl_offers_next(cell)) {
        if (sl_ledger_resource_of(cell) == resource) {
            return sl_offers_group_of(cell);
        }
    }
    return SL_NO_ID;
}

static void add_want(sl_node_id queue, sl_resource_id resource, int64_t amount)
{
    if (want.count <= SL_REQUESTS_MAX) {
        want.resource[want.count] = resource;
        want.amount[want.count] = amount;
        want.group[want.count] = group_offering(queue, resource);
        want.count++;
    }
}

static void gather_wants(sl_node_id queue, uint32_t pod_set, uint32_t index)
{
    sl_resource_id pods = sl_offers_pods_resource();
    want.pod_set = pod_set;
    want.index = index;
    want.count = 0;
    for (uint32_t r = sl_demand_first_request(pod_set); r != SL_NO_ID;
         r = sl_demand_next_request(r)) {
        if (sl_demand_resource(r) != pods) {
            add_want(queue, sl_demand_resource(r), sl_demand_amount(r));
        }
    }
    if (pods != SL_NO_ID && group_offering(queue, pods) != SL_NO_ID) {
        add_want(queue, pods, (int64_t)sl_demand_pod_count(pod_set));
    }
}

/* --- one flavor ------------------------------------------------------------------------------ */

/* Among the cells of one flavor, which stand together, the one of the resource. */
static sl_cell_id cell_for(sl_cell_id flavor_first, sl_resource_id resource)
{
    sl_flavor_id flavor = sl_ledger_flavor_of(flavor_first);
    sl_cell_id cell = flavor_first;
    while (cell != SL_NO_ID && sl_ledger_flavor_of(cell) == flavor) {
        if (sl_ledger_resource_of(cell) == resource) {
            return cell;
        }
        cell = sl_offers_next(cell);
    }
    return SL_NO_ID;
}

/* The most that a workload could ever get of the cell. */
static int64_t potential_of(sl_cell_id cell)
{
    int64_t potential = cell != SL_NO_ID ? sl_ledger_potential(cell) : 0;
    return potential < SL_AMOUNT_MAX ? potential : SL_AMOUNT_MAX;
}

static struct verdict try_cell(sl_cell_id cell, sl_flavor_id flavor, uint32_t i)
{
    struct verdict verdict = {FITS, 0};
    int64_t need = want.amount[i] + (cell != SL_NO_ID ? tentative[cell] : 0);
    int64_t potential = potential_of(cell);
    if (need > potential) {
        add_detail(SL_MISS_MAX_QUOTA, flavor, want.resource[i], need - potential);
        verdict.severity = EXCEEDS;
        return verdict;
    }
    int64_t available = sl_ledger_available(cell);
    if (available < 0) {
        available = 0; /* after a quota cut: what asks for nothing still fits */
    }
    if (need > available) {
        add_detail(SL_MISS_UNUSED_QUOTA, flavor, want.resource[i], need - available);
        verdict.severity = WAITING;
        return verdict;
    }
    verdict.height = sl_ledger_borrow_height(cell, need);
    return verdict;
}

static struct verdict try_flavor(sl_cell_id flavor_first, uint32_t group)
{
    static const enum sl_miss misses[] = {
        [SL_EXCLUDED_TAINT] = SL_MISS_TAINT,
        [SL_EXCLUDED_AFFINITY] = SL_MISS_AFFINITY,
        [SL_EXCLUDED_MISSING] = SL_MISS_NO_FLAVOR,
    };
    struct verdict verdict = {FITS, 0};
    sl_flavor_id flavor = sl_ledger_flavor_of(flavor_first);
    enum sl_exclusion excluded = sl_demand_excludes(want.pod_set, flavor);
    if (excluded != SL_EXCLUDED_NOT) {
        add_detail(misses[excluded], flavor, SL_NO_ID, 0);
        verdict.severity = NO_MATCH;
        return verdict;
    }
    for (uint32_t i = 0; i < want.count; i++) {
        if (want.group[i] == group) {
            struct verdict cell = try_cell(cell_for(flavor_first, want.resource[i]), flavor, i);
            verdict.severity = worse(verdict.severity, cell.severity);
            verdict.height = cell.height > verdict.height ? cell.height : verdict.height;
        }
    }
    return verdict;
}

/* --- one group ------------------------------------------------------------------------------- */

/* The first cell of the group's first flavor that begins at or after `cell`. */
static sl_cell_id flavor_from(sl_cell_id cell, uint32_t group)
{
    while (cell != SL_NO_ID && sl_offers_group_of(cell) != group) {
        cell = sl_offers_next(cell);
    }
    return cell;
}

static sl_cell_id after_flavor(sl_cell_id flavor_first, uint32_t group)
{
    sl_flavor_id flavor = sl_ledger_flavor_of(flavor_first);
    sl_cell_id cell = flavor_first;
    while (cell != SL_NO_ID && sl_ledger_flavor_of(cell) == flavor) {
        cell = sl_offers_next(cell);
    }
    return flavor_from(cell, group);
}

static void choose(sl_cell_id flavor_first, uint32_t group)
{
    for (uint32_t i = 0; i < want.count && sl_assignment.choice_count < SL_CHOICES_MAX; i++) {
        sl_cell_id cell = cell_for(flavor_first, want.resource[i]);
        if (want.group[i] == group && cell != SL_NO_ID) {
            struct sl_choice choice = {want.index, want.resource[i],
                                       sl_ledger_flavor_of(flavor_first), cell, want.amount[i]};
            sl_assignment.choices[sl_assignment.choice_count] = choice;
            sl_assignment.choice_count++;
            tentative[cell] += want.amount[i];
        }
    }
}

/* Flavors in order: the first that fits is taken, unless it borrows and the queue would rather
 * look for one that borrows less. */
static enum severity assign_group(sl_node_id queue, uint32_t group)
{
    struct verdict best = {NO_MATCH, 0};
    sl_cell_id chosen = SL_NO_ID;
    bool done = false;
    for (sl_cell_id first = flavor_from(sl_offers_first(queue), group); first != SL_NO_ID && !done;
         first = after_flavor(first, group)) {
        struct verdict found = try_flavor(first, group);
        if (found.severity < best.severity ||
            (found.severity == FITS && found.height < best.height)) {
            best = found;
            chosen = first;
        }
        done = found.severity == FITS &&
               (found.height == 0 || rules.when_can_borrow == SL_MAY_STOP_SEARCH);
    }
    if (best.severity == FITS) {
        choose(chosen, group);
        if (best.height > sl_assignment.borrow_height) {
            sl_assignment.borrow_height = best.height;
        }
    }
    return best.severity;
}

/* --- one pod set, one workload --------------------------------------------------------------- */

/* Was the group of want i dealt with for an earlier want? */
static bool seen_before(uint32_t i)
{
    for (uint32_t k = 0; k < i; k++) {
        if (want.group[k] == want.group[i]) {
            return true;
        }
    }
    return false;
}

static enum severity assign_pod_set(sl_node_id queue)
{
    enum severity severity = FITS;
    for (uint32_t i = 0; i < want.count; i++) {
        if (want.group[i] == SL_NO_ID) {
            if (want.amount[i] != 0) {
                add_detail(SL_MISS_NOT_OFFERED, SL_NO_ID, want.resource[i], want.amount[i]);
                severity = NO_MATCH;
            }
        } else if (!seen_before(i)) {
            severity = worse(severity, assign_group(queue, want.group[i]));
        }
    }
    return severity;
}

static void begin(sl_workload_id id)
{
    sl_assignment.workload = id;
    sl_assignment.borrow_height = 0;
    sl_assignment.choice_count = 0;
    sl_assignment.detail_count = 0;
    sl_assignment.details_left_out = 0;
}

void sl_flavors_assign(sl_workload_id id, sl_node_id cluster_queue)
{
    enum severity severity = FITS;
    uint32_t index = 0;
    begin(id);
    rules = sl_offers_rules(cluster_queue);
    for (uint32_t set = sl_demand_first_pod_set(id); set != SL_NO_ID;
         set = sl_demand_next_pod_set(set)) {
        gather_wants(cluster_queue, set, index);
        severity = worse(severity, assign_pod_set(cluster_queue));
        index++;
    }
    for (uint32_t i = 0; i < sl_assignment.choice_count; i++) {
        tentative[sl_assignment.choices[i].cell] = 0;
    }
    sl_assignment.fits = severity == FITS && index != 0;
    sl_assignment.reason = index != 0 ? reason_of(severity) : SL_PENDING_MISCONFIGURED;
}
