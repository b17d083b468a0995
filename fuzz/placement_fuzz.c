/* SPDX-License-Identifier: Apache-2.0
 * SPDX-FileCopyrightText: The Sluice authors */

/* Drives: sl_placement_find in trees of one to three levels and up to 90 hosts, which differ in what they have room
 * for: pods together, preferred together or anywhere, in slices and slices of slices, leaders beside workers, masks
 * and preferences, hosts that fail and go, rooms that are promised.
 * Oracle: one pod set is placed exactly when it can be by a plain reference over the tree; the kernel finds room for
 * what is found, and takes it; a replacement moves only what it must, which the kernel judges; the same question has
 * the same answer. The checkers after each step.
 * Input: events; the first says tree and settings. */
#include <string.h>
#include "fuzz/lib/check.h"
#include "fuzz/lib/producer.h"
#include "fuzz/lib/state.h"
#include "kernel/commit/placement.h"
#include "kernel/lifecycle/second_pass.h"
#include "policy/topology/masks.h"
#include "policy/flavors/open_cell.h"
#include "policy/placement/placement.h"
#include "policy/common/settings.h"
#include "policy/topology/tolerances.h"
#include "policy/topology/trees.h"

enum { SLOTS = 6, HOSTS = 90, MASKS = 2, CPU = 1, MEMORY = 2, SETS = 4, ANY = 77 };
enum { TREE = 1, FLAT = 2, NO_TREE = 9 };
enum { HOST = 100, RACK = 200, BLOCK = 300, FLAT_HOST = 400 };
enum { LEVEL_HOST = 1, LEVEL_RACK = 2, LEVEL_BLOCK = 3, NOW_MS = 1000 };

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

static uint32_t levels, host_count, hosts_per_rack, racks_per_block;
static sl_cell_id cell;
static uint32_t stood_sets[SLOTS];

/* --- the tree ----------------------------------------------------------------------------------- */

static uint32_t rack_of(uint32_t host)
{
    return host / hosts_per_rack;
}

static uint32_t block_of(uint32_t host)
{
    return rack_of(host) / racks_per_block;
}

static void open_host(uint32_t h)
{
    sl_domain_id up = levels > 1 ? RACK + rack_of(h) : SL_NO_ID;
    (void)!sl_trees_open(HOST + h, TREE, up, SL_NO_ID, h);
}

static void open_tree(bool ends_at_nodes)
{
    static const struct sl_tree_levels shapes[] = {{1, {LEVEL_HOST}},
                                                   {2, {LEVEL_RACK, LEVEL_HOST}},
                                                   {3, {LEVEL_BLOCK, LEVEL_RACK, LEVEL_HOST}}};
    uint32_t last = host_count - 1;
    CHECK(sl_trees_configure(TREE, shapes[levels - 1], ends_at_nodes) == SL_OK);
    for (uint32_t b = 0; levels > 2 && b <= block_of(last); b++) {
        CHECK(sl_trees_open(BLOCK + b, TREE, SL_NO_ID, SL_NO_ID, SL_NO_ID) == SL_OK);
    }
    for (uint32_t r = 0; levels > 1 && r <= rack_of(last); r++) {
        sl_domain_id up = levels > 2 ? BLOCK + r / racks_per_block : SL_NO_ID;
        CHECK(sl_trees_open(RACK + r, TREE, up, SL_NO_ID, SL_NO_ID) == SL_OK);
    }
    CHECK(sl_trees_configure(FLAT, shapes[0], true) == SL_OK);
    for (uint32_t h = 0; h < host_count; h++) {
        CHECK(sl_trees_open(FLAT_HOST + h, FLAT, SL_NO_ID, SL_NO_ID, h) == SL_OK);
        open_host(h);
    }
}

/* What all have room for, and some have more or less of. */
static void open_world(struct producer *p)
{
    uint32_t bits = producer_byte(p);
    fuzz_state_reset();
    sl_settings = sl_settings_default();
    sl_settings.balanced_placement = bits & 4;
    sl_settings.profile_mixed = bits & 8;
    sl_settings.prefer_affinity = bits & 16;
    sl_settings.overlapping_flavors = bits & 64;
    sl_settings.multi_layer = true;
    levels = 1 + bits % 4 % 3;
    host_count = 1 + producer_below(p, HOSTS);
    hosts_per_rack = 1 + producer_below(p, 24);
    racks_per_block = 1 + producer_below(p, 5);
    open_tree((bits & 32) == 0);
    uint32_t pods = producer_below(p, 16), cpu = producer_below(p, 32), spread = producer_byte(p);
    for (uint32_t h = 0; h < host_count; h++) {
        uint32_t more = spread == 0 ? 0 : h * spread / 8 % 7;
        CHECK(sl_site_set_capacity(h, SL_MEASURE_PODS, pods + more) == SL_OK);
        CHECK(sl_site_set_capacity(h, CPU, cpu + more * 2) == SL_OK);
        CHECK(sl_site_set_capacity(h, MEMORY, 64) == SL_OK);
    }
    CHECK(sl_ledger_open_qnode(0) == SL_OK && sl_ledger_open_cell(0, 1, CPU, &cell) == SL_OK);
    CHECK(sl_ledger_set_quota(cell, 1000, 0, 0) == SL_OK);
    memset(stood_sets, 0, sizeof stood_sets);
}

static void change_rooms(struct producer *p)
{
    uint32_t first = producer_byte(p), step = 1 + producer_below(p, 9);
    sl_measure_id measure = producer_below(p, 3);
    for (uint32_t i = 1 + producer_below(p, 8); i > 0; i--) {
        CHECK(sl_site_set_capacity(first % host_count, measure, producer_below(p, 24)) == SL_OK);
        first += step;
    }
}

static void change_mask(struct producer *p)
{
    sl_mask_id mask = producer_below(p, MASKS);
    uint32_t first = producer_byte(p), what = producer_byte(p);
    if (what % 8 == 0) {
        CHECK(sl_masks_clear(mask) == SL_OK);
    }
    for (uint32_t i = 1 + producer_below(p, 6); i > 0; i--) {
        sl_site_id site = first % host_count;
        uint32_t verdict = producer_byte(p);
        if (what % 2 == 0) {
            /* beyond SL_VERDICT_TAINT the number of a taint, which may be beyond those counted */
            verdict = verdict == 255 ? verdict : verdict % 6;
            CHECK(sl_masks_set(mask, site, (sl_verdict)verdict) == SL_OK);
        } else {
            CHECK(sl_masks_prefer(mask, site, (int64_t)(verdict % 8) - 2) == SL_OK);
        }
        first += 1 + what / 32;
    }
}

/* --- the reference ------------------------------------------------------------------------------ */

static const struct sl_topology_request *wanted;
static uint32_t
    size_of_level[LEVEL_BLOCK + 1]; /* of inner slices: whole ones of each domain count */

static bool host_may(uint32_t h)
{
    bool counts = sl_trees_ends_at_nodes(TREE);
    sl_mask_id mask = counts ? sl_tolerances_mask(wanted->mask, TREE) : SL_NO_ID;
    return sl_trees_shows(HOST + h) && sl_masks_verdict(mask, h) == SL_VERDICT_MAY;
}

static int64_t free_of(uint32_t h, sl_measure_id m)
{
    return sl_site_capacity_of(h, m) - sl_site_used_of(h, m) - sl_site_promised_of(h, m);
}

static int64_t room_on(uint32_t h)
{
    int64_t most = host_may(h) ? free_of(h, SL_MEASURE_PODS) : 0;
    for (uint32_t i = 0; i < wanted->request_count; i++) {
        int64_t each = wanted->requests[i].per_pod;
        int64_t fit = each == 0 ? most : free_of(h, wanted->requests[i].measure) / each;
        most = fit < most ? fit : most;
    }
    return most > 0 ? most : 0;
}

static bool inside(uint32_t h, sl_level_id level, uint32_t index)
{
    return index == (level == LEVEL_HOST    ? h
                     : level == LEVEL_RACK  ? rack_of(h)
                     : level == LEVEL_BLOCK ? block_of(h)
                                            : 0);
}

/* Pods that a domain has room for, in whole slices of the inner layers. */
static int64_t pods_in(sl_level_id level, uint32_t index)
{
    int64_t pods = 0;
    if (level == LEVEL_HOST) {
        return room_on(index);
    }
    uint32_t first = level == LEVEL_RACK ? index * hosts_per_rack : index * racks_per_block;
    uint32_t size = size_of_level[level - 1];
    for (uint32_t i = 0; i < (level == LEVEL_RACK ? hosts_per_rack : racks_per_block); i++) {
        if (level == LEVEL_RACK ? first + i < host_count : first + i <= rack_of(host_count - 1)) {
            int64_t below = pods_in(level - 1, first + i);
            pods += size > 1 ? below - below % size : below;
        }
    }
    return pods;
}

/* Whole slices that fit in that domain of a level not below theirs; of level 4 there is one. */
static int64_t slices_in(sl_level_id level, uint32_t index, sl_level_id slice_level, uint32_t size)
{
    uint32_t count = slice_level == LEVEL_HOST   ? host_count
                     : slice_level == LEVEL_RACK ? rack_of(host_count - 1) + 1
                                                 : block_of(host_count - 1) + 1;
    uint32_t hosts = slice_level == LEVEL_HOST   ? 1
                     : slice_level == LEVEL_RACK ? hosts_per_rack
                                                 : hosts_per_rack * racks_per_block;
    int64_t slices = 0;
    for (uint32_t i = 0; i < count; i++) {
        slices += inside(i * hosts, level, index) ? pods_in(slice_level, i) / size : 0;
    }
    return slices;
}

/* Can so many pods be placed as asked? -1: it is no question for the reference. */
static int reference_fits(uint32_t count)
{
    const struct sl_topology_request *d = wanted;
    sl_level_id slice_level = d->layer_count > 0 ? d->layers[0].level : LEVEL_HOST;
    uint32_t size = d->layer_count > 0 ? d->layers[0].size : 1, most = 0;
    sl_level_id level = d->together == SL_TOGETHER_REQUIRED ? d->level : LEVEL_BLOCK + 1;
    memset(size_of_level, 0, sizeof size_of_level);
    for (uint32_t i = 1; i < d->layer_count; i++) {
        for (sl_level_id l = d->layers[i].level; l < d->layers[i - 1].level; l++) {
            size_of_level[l] = d->layers[i].size;
        }
    }
    uint32_t slices = (count + size - 1) / size;
    for (uint32_t index = 0; index < host_count; index++) {
        if (slices_in(level, index, slice_level, size) >= slices) {
            most = 1;
        }
    }
    return (int)most;
}

/* Are levels and sizes such that there is a question at all? */
static bool well_asked(const struct sl_topology_request *d)
{
    bool leveled = d->together == SL_TOGETHER_REQUIRED || d->together == SL_TOGETHER_PREFERRED;
    sl_level_id above = leveled ? d->level : levels;
    bool good = above <= levels;
    uint32_t size = 0;
    for (uint32_t i = 0; i < d->layer_count; i++) {
        sl_level_id level = d->layers[i].level;
        uint32_t its = d->layers[i].size;
        good = good && its != 0 && level != 0 &&
               (i == 0 ? level <= above : level < above && size % its == 0);
        above = level;
        size = its;
    }
    return good;
}

/* --- questions ---------------------------------------------------------------------------------- */

static void read_layers(struct producer *p, struct sl_topology_request *d)
{
    uint32_t bits = producer_byte(p), inner = producer_byte(p);
    d->layer_count = bits % 4;
    if (bits >= 128) { /* as it should be: inwards, each a part of the one before */
        for (uint32_t i = 0; i < d->layer_count; i++) {
            d->layers[i].level = levels > i ? levels - i : LEVEL_HOST;
            d->layers[i].size = i == 0 ? 2 * (1 + bits / 4 % 8) : i == 1 ? 2 : 1;
        }
        return;
    }
    for (uint32_t i = 0; i < d->layer_count; i++) {
        d->layers[i].level = (inner >> 2 * i) % 4;
        d->layers[i].size = (i == 0 ? bits / 4 % 16 : bits / 4 % 8);
    }
}

static struct sl_topology_request read_request(struct producer *p)
{
    static const enum sl_together kinds[] = {SL_TOGETHER_REQUIRED, SL_TOGETHER_PREFERRED,
                                             SL_TOGETHER_UNCONSTRAINED, SL_TOGETHER_UNASKED};
    uint32_t bits = producer_byte(p), more = producer_byte(p);
    struct sl_topology_request d = {.together = kinds[bits % 4],
                                    .asked = true,
                                    .level = SL_NO_ID,
                                    .mask = bits & 128 ? (bits >> 6 & 1) : SL_NO_ID,
                                    .rank_group = SL_NO_ID,
                                    .request_count = more >> 6};
    if (bits % 4 < 2) {
        d.level = 1 + (bits >> 2 & 3) % (levels + (more % 16 == 15));
    }
    for (uint32_t i = 0; i < d.request_count; i++) {
        sl_measure_id measure = i == 2 ? ANY % SL_MEASURES_MAX : CPU + i;
        d.requests[i] = (struct sl_measure_amount){measure, more >> 2 * i & 3};
    }
    if (bits & 16) {
        read_layers(p, &d);
    }
    return d;
}

/* True when it is as the reference knows it: one pod set. */
static bool describe(struct producer *p, sl_workload_id id, struct sl_topology_request *first)
{
    struct sl_placement_question *q = &sl_placement_question;
    uint32_t how = producer_byte(p);
    sl_requests_clear(id);
    memset(q, 0, sizeof *q);
    q->workload = id;
    q->empty = how % 16 == 15;
    uint32_t set_count = how / 16 < 8    ? 1
                         : how / 16 < 15 ? how / 16 % SETS + 1
                                         : SL_TOPOLOGY_SETS_MAX;
    sl_tree_id other = how % 8 == 3 ? FLAT : TREE; /* of every second one */
    bool led = set_count == 2 && how % 2 == 0;
    for (uint32_t s = 0; s < set_count; s++) {
        bool same = s != 0 && set_count > SETS; /* as the one before */
        struct sl_topology_request d = same ? *first : read_request(p);
        uint32_t count = led && s == 1 ? 1
                         : same        ? q->sets[s - 1].count
                                       : 1 + producer_below(p, 200);
        d.rank_group = led ? 7 : SL_NO_ID;
        CHECK(sl_requests_add_pod_set(id, count) == SL_OK);
        CHECK(sl_topology_request_set(id, d) == SL_OK);
        *first = s == 0 ? d : *first;
        q->sets[s] =
            (struct sl_placement_set){s, SL_NO_ID, count, s % 2 == 0 ? TREE : other, how % 4 == 1};
    }
    for (uint32_t s = 0, r = sl_requests_first_pod_set(id); r != SL_NO_ID; s++) {
        q->sets[s].record = r;
        r = sl_requests_next_pod_set(r);
    }
    q->set_count = set_count;
    q->sets[0].tree = how == 14 ? NO_TREE : TREE;
    return set_count == 1 && how != 14 && !q->empty && well_asked(first) &&
           (first->together != SL_TOGETHER_UNASKED || first->layer_count > 0);
}

/* It stands there from now on, with quota for nothing. */
static void assignment(sl_workload_id id)
{
    struct sl_event ev = {.kind = SL_EV_CREATE, .workload = id, .now_ms = NOW_MS};
    ev.generation = sl_workloads[id].generation;
    if (sl_lifecycle_holds_quota(id)) {
        return;
    }
    (void)!sl_placement_event(ev);
    memset(&sl_plan, 0, sizeof sl_plan);
    sl_plan.workload = id;
    sl_plan.generation = sl_workloads[id].generation;
    sl_plan.usage_count = 1;
    sl_plan.usage[0] = (struct sl_cell_amount){cell, 0};
    sl_plan.now_ms = NOW_MS;
    CHECK(sl_placement_restore() == SL_OK);
    stood_sets[id] = sl_placement_question.set_count;
}

/* Are there sets of both trees, which do not know of each other? */
static bool takes_apart(void)
{
    return !sl_settings.overlapping_flavors && sl_placement_question.set_count > 1 &&
           sl_placement_question.sets[1].tree != TREE;
}

static void ask(struct producer *p, sl_workload_id id, uint32_t after)
{
    static struct sl_topology_plan plan;
    struct sl_topology_request first;
    if (sl_lifecycle_holds_quota(id)) {
        return;
    }
    bool known = describe(p, id, &first);
    bool found = sl_placement_find();
    CHECK(found == (sl_placement_failure.miss == SL_PLACEMENT_OK));
    wanted = &first;
    CHECK(!known || found == reference_fits(sl_placement_question.sets[0].count));
    plan = sl_topology_plan;
    CHECK(sl_placement_find() == found && memcmp(&plan, &sl_topology_plan, sizeof plan) == 0);
    if (!found || sl_placement_question.empty) {
        return;
    }
    if (takes_apart()) { /* each set as if the others took nothing */
        return;
    }
    CHECK(sl_topology_check() == SL_OK);
    if (after % 2 == 0) {
        assignment(id);
    } else if (after % 16 == 1) {
        CHECK(sl_topology_promise() == SL_OK);
    } else if (after % 16 == 3) {
        sl_topology_promise_clear();
    }
}

/* --- hosts that fail ---------------------------------------------------------------------------- */

static enum sl_status tell(sl_workload_id id, enum sl_event_kind kind, uint32_t index)
{
    struct sl_event ev = {kind, id, sl_workloads[id].generation, index, 0, 0, NOW_MS};
    return sl_placement_event(ev);
}

/* One of those it stands on, which may be gone at once. */
static void fail_host(struct producer *p, sl_workload_id id)
{
    uint32_t count = sl_topology_assignment_count(id), which = producer_byte(p),
             what = producer_byte(p);
    if (count == 0) {
        return;
    }
    sl_site_id site = sl_domain_site(sl_topology_assignment_at(id, which % count).domain);
    if (what % 4 != 3) {
        (void)!tell(id, SL_EV_NODE_FAILED, site);
    }
    if (what % 4 != 0) {
        (void)!sl_trees_close(HOST + site);
    }
}

/* Its spec asks for another place by now, with which its pods may not be in line; but for as many, which take as much. */
static void change_spec(struct producer *p, sl_workload_id id)
{
    static struct sl_topology_request old[SL_POD_SETS_MAX];
    uint32_t counts[SL_POD_SETS_MAX], sets = 0;
    for (uint32_t r = sl_requests_first_pod_set(id); r != SL_NO_ID;
         r = sl_requests_next_pod_set(r)) {
        old[sets] = sl_topology_request_of(r);
        counts[sets++] = sl_requests_pod_count(r);
    }
    sl_requests_clear(id);
    for (uint32_t s = 0; s < sets; s++) {
        struct sl_topology_request d = read_request(p);
        d.request_count = old[s].request_count;
        memcpy(d.requests, old[s].requests, sizeof d.requests);
        CHECK(sl_requests_add_pod_set(id, counts[s]) == SL_OK);
        CHECK(sl_topology_request_set(id, d) == SL_OK);
    }
}

/* Where its pod set stands; the other tree's domains have other numbers. */
static sl_tree_id tree_of(sl_workload_id id, uint32_t pod_set)
{
    for (uint32_t i = 0; i < sl_topology_assignment_count(id); i++) {
        struct sl_domain_assignment row = sl_topology_assignment_at(id, i);
        if (row.pod_set == pod_set) {
            return sl_domain_tree(row.domain);
        }
    }
    return TREE;
}

/* What is found the kernel takes. */
static void replace(sl_workload_id id)
{
    struct sl_placement_question *q = &sl_placement_question;
    uint32_t r = sl_requests_first_pod_set(id);
    if (!sl_second_pass_needed(id) || stood_sets[id] == 0) {
        return;
    }
    memset(q, 0, sizeof *q);
    q->workload = id;
    q->replaces = true;
    for (; r != SL_NO_ID; r = sl_requests_next_pod_set(r)) {
        sl_tree_id tree = tree_of(id, q->set_count);
        q->sets[q->set_count] =
            (struct sl_placement_set){q->set_count, r, sl_requests_pod_count(r), tree, true};
        q->set_count++;
    }
    sl_placement_failed_count = sl_workloads[id].unhealthy_count;
    memcpy(sl_placement_failed, sl_workloads[id].unhealthy, sizeof sl_placement_failed);
    bool found = sl_placement_find();
    if (found && !takes_apart()) {
        CHECK(sl_placement_second_pass(sl_workloads[id].generation, NOW_MS) == SL_OK);
    }
    CHECK(found == (sl_placement_failure.miss == SL_PLACEMENT_OK));
}

static void change_hosts(struct producer *p)
{
    uint32_t h = producer_below(p, host_count), what = producer_byte(p);
    if (what % 2 == 0) {
        (void)!sl_trees_close(HOST + h);
        (void)!sl_trees_close(what % 8 == 6 ? FLAT_HOST + h : NO_TREE);
    } else {
        (void)!sl_trees_open(FLAT_HOST + h, FLAT, SL_NO_ID, SL_NO_ID, h);
        open_host(h);
    }
    (void)!sl_tolerances_set(TREE, what / 64);
    (void)!sl_tolerances_link(what >> 2 & 1, 1, what >> 3 & 1);
}

static void step(struct producer *p)
{
    uint32_t operation = producer_byte(p);
    sl_workload_id id = operation / 8 % SLOTS;
    switch (operation % 8) {
    case 0:
        change_rooms(p);
        break;
    case 1:
        change_mask(p);
        break;
    case 2:
        change_hosts(p);
        break;
    case 3:
        fail_host(p, id);
        if (operation >= 192) {
            change_spec(p, id);
        }
        replace(id);
        break;
    case 4:
        (void)!tell(id, SL_EV_DELETE, 0);
        break;
    default:
        ask(p, id, operation / 48);
        break;
    }
    fuzz_guarantees_kernel(SLOTS);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    struct producer program = {data, size}, p;
    if (!producer_event(&program, &p)) {
        return 0;
    }
    open_world(&p);
    while (producer_event(&program, &p)) {
        step(&p);
    }
    return 0;
}
