/* SPDX-License-Identifier: Apache-2.0
 * SPDX-FileCopyrightText: The Sluice authors */

/* Changes: carried out on the core, packed for the journal, unpacked again. A journal's payload is
 * the kind (u8), the answer (u16), the words and longs that changes.def says, and the list to the
 * end. */
#include "engine/change.h"
#include "base/check.h"
#include "engine/change_topology.h"
#include "engine/follow.h"
#include "engine/outcome.h"
#include "engine/pack.h"
#include "engine/restrain.h"
#include "engine/state.h"
#include "kernel/placement.h"
#include "kernel/preempt.h"
#include "policy/branches.h"
#include "policy/cycle.h"
#include "policy/demand.h"
#include "policy/open_cell.h"
#include "policy/outsiders.h"
#include "policy/passes.h"
#include "policy/queues.h"
#include "policy/restraint.h"
#include "policy/shares.h"
#include "policy/turns.h"
#include "policy/usage.h"
#include <string.h>

static const struct {
    uint8_t words;
    uint8_t longs;
} shapes[] = {
#define SL_CHANGE(constant, name, word_count, long_count, text)                                    \
    [constant] = {word_count, long_count},
#include "engine/changes.def"
#undef SL_CHANGE
};

/* --- lists ------------------------------------------------------------------------------------ */

void sl_change_list_claim(struct sl_buf *list, struct sl_claim claim)
{
    pack_u8(list, SL_TAG_CLAIM);
    pack_u32(list, claim.cell);
    pack_i64(list, claim.amount);
}

void sl_change_list_pod_set(struct sl_buf *list, uint32_t count)
{
    pack_u8(list, SL_TAG_POD_SET);
    pack_u32(list, count);
}

void sl_change_list_request(struct sl_buf *list, sl_resource_id resource, int64_t per_pod)
{
    pack_u8(list, SL_TAG_REQUEST);
    pack_u32(list, resource);
    pack_i64(list, per_pod);
}

void sl_change_list_exclusion(struct sl_buf *list, sl_flavor_id flavor, uint32_t why)
{
    pack_u8(list, SL_TAG_EXCLUSION);
    pack_u32(list, flavor);
    pack_u8(list, (uint8_t)why);
}

void sl_change_list_min_count(struct sl_buf *list, uint32_t min_count)
{
    pack_u8(list, SL_TAG_MIN_COUNT);
    pack_u32(list, min_count);
}

void sl_change_list_group(struct sl_buf *list, uint32_t group)
{
    pack_u8(list, SL_TAG_GROUP);
    pack_u32(list, group);
}

void sl_change_list_fingerprint(struct sl_buf *list, uint64_t fingerprint)
{
    pack_u8(list, SL_TAG_FINGERPRINT);
    pack_u64(list, fingerprint);
}

static struct unpack open_list(const struct sl_buf *list)
{
    const unsigned char *data = list == NULL ? NULL : (const unsigned char *)list->data;
    return (struct unpack){data, data == NULL ? NULL : data + list->len, false};
}

static enum sl_status add_demand(sl_workload_id id, struct unpack *u)
{
    uint8_t tag = unpack_u8(u);
    if (tag == SL_TAG_TOPOLOGY) {
        return sl_change_add_topology(id, u);
    }
    if (tag == SL_TAG_FINGERPRINT) {
        return sl_demand_set_fingerprint(id, unpack_u64(u));
    }
    uint32_t first = unpack_u32(u);
    switch (tag) {
    case SL_TAG_POD_SET:
        return sl_demand_add_pod_set(id, first);
    case SL_TAG_REQUEST:
        return sl_demand_add_request(id, first, unpack_i64(u));
    case SL_TAG_EXCLUSION:
        return sl_demand_add_exclusion(id, first, (enum sl_exclusion)unpack_u8(u));
    case SL_TAG_MIN_COUNT:
        return sl_demand_set_min_count(id, first);
    case SL_TAG_GROUP:
        return sl_demand_set_group(id, first);
    default:
        return SL_REFUSED_BAD_ARGUMENT;
    }
}

static enum sl_status set_demand(const struct sl_change *c)
{
    enum sl_status status = SL_OK;
    struct unpack u = open_list(c->list);
    sl_demand_clear(c->word[0]);
    while (status == SL_OK && u.at < u.end && !u.failed) {
        status = add_demand(c->word[0], &u);
    }
    if (status != SL_OK || u.failed) {
        sl_demand_clear(c->word[0]);
    }
    return u.failed ? SL_REFUSED_BAD_ARGUMENT : status;
}

/* Claims first, then where its pods stand. */
static enum sl_status read_plan(const struct sl_change *c)
{
    struct unpack u = open_list(c->list);
    enum sl_status status = SL_OK;
    while (status == SL_OK && u.at < u.end && !u.failed) {
        uint8_t tag = unpack_u8(&u);
        if (tag != SL_TAG_CLAIM) {
            status = sl_change_add_stand(tag, &u);
        } else if (sl_plan.claim_count == SL_CLAIMS_MAX) {
            status = SL_FULL_CLAIMS;
        } else {
            sl_plan.claims[sl_plan.claim_count].cell = unpack_u32(&u);
            sl_plan.claims[sl_plan.claim_count].amount = unpack_i64(&u);
            sl_plan.claim_count++;
        }
    }
    return u.failed ? SL_REFUSED_BAD_ARGUMENT : status;
}

static enum sl_status restore(const struct sl_change *c)
{
    sl_plan.workload = c->word[0];
    sl_plan.generation = c->word[1];
    sl_plan.cluster_queue = c->word[2];
    sl_plan.topology_pending = c->word[3] != 0;
    sl_plan.now_ms = c->number[0];
    sl_plan.claim_count = 0;
    sl_change_begin_stands(c->word[0]);
    enum sl_status status = read_plan(c);
    if (status == SL_OK) {
        status = sl_placement_restore();
    }
    sl_change_end_stands(status == SL_OK);
    sl_queues_settle(c->word[0], c->number[0]);
    sl_passes_settle(c->word[0], c->number[0]);
    return status;
}

/* --- carrying out ----------------------------------------------------------------------------- */

static struct sl_event event_of(const struct sl_change *c)
{
    return (struct sl_event){.kind = (enum sl_event_kind)c->word[0],
                             .workload = c->word[1],
                             .generation = c->word[2],
                             .index = c->word[3],
                             .reason = c->word[4],
                             .value = c->number[0],
                             .now_ms = c->number[1]};
}

/* Indexes follow the record. What belongs to no queue and may be queued again is an orphan, not
 * parked. */
static void settle(sl_workload_id id, int64_t now_ms)
{
    sl_queues_settle(id, now_ms);
    sl_passes_settle(id, now_ms);
    if (sl_queues_queue_of(id) == SL_NO_ID && sl_place_of(id) == SL_PLACE_INADMISSIBLE) {
        enum sl_status moved = sl_place_move(id, SL_PLACE_INADMISSIBLE, SL_PLACE_ORPHANED);
        SL_ASSERT(moved == SL_OK);
    }
}

static enum sl_status perform_event(const struct sl_change *c)
{
    struct sl_event ev = event_of(c);
    enum sl_status status = sl_placement_event(ev);
    if (status == SL_OK) {
        settle(ev.workload, ev.now_ms);
    }
    return status;
}

/* What a holder gives back wakes those who wait for it, as its end would. */
static enum sl_status perform_reduce(const struct sl_change *c)
{
    sl_node_id node = sl_ledger_node_of(sl_commit_claim(c->word[0], c->word[2]).cell);
    enum sl_status status = sl_commit_reduce(c->word[0], c->word[1], c->word[2], c->number[0]);
    if (status == SL_OK && node != SL_NO_ID) {
        sl_flavors_touch_queue(node);
        sl_turns_mark_tree(node);
    }
    return status;
}

static struct sl_order_key key_of(const struct sl_change *c)
{
    return (struct sl_order_key){.priority = (int32_t)c->word[2],
                                 .queued_at_ms = c->number[0],
                                 .uid_high = (uint64_t)c->number[1],
                                 .uid_low = (uint64_t)c->number[2]};
}

static enum sl_status perform_attach(const struct sl_change *c)
{
    enum sl_status status = sl_queues_attach(c->word[0], c->word[1], key_of(c));
    if (status == SL_OK) {
        sl_queues_settle(c->word[0], c->number[3]);
    }
    return status;
}

void sl_change_begin_cycle(const struct sl_change *c)
{
    if (c->word[0] != 0) {
        (void)sl_cycle_begin_all(c->number[0]);
    } else {
        (void)sl_cycle_begin(c->number[0]);
    }
}

static enum sl_status perform_cycle(const struct sl_change *c)
{
    sl_change_begin_cycle(c);
    while (sl_cycle_next()) {
    }
    (void)sl_cycle_end();
    return SL_OK;
}

/* What an account has used, or weighs, decides which head its queue has. */
static enum sl_status perform_sample(const struct sl_change *c)
{
    struct unpack u = open_list(c->list);
    sl_usage_sample_begin(c->word[0], c->number[0]);
    while (u.at < u.end && !u.failed) {
        uint8_t tag = unpack_u8(&u);
        sl_resource_id resource = unpack_u32(&u);
        int64_t amount = unpack_i64(&u);
        u.failed = u.failed || tag != SL_TAG_REQUEST;
        if (!u.failed) {
            sl_usage_sample_running(resource, amount);
        }
    }
    sl_usage_sample_end();
    sl_turns_refresh(c->word[1]);
    return u.failed ? SL_REFUSED_BAD_ARGUMENT : SL_OK;
}

static enum sl_status restore_parts(const struct sl_change *c)
{
    if (c->number[0] < 0 || c->number[0] >= SL_USAGE_PARTS) {
        return SL_REFUSED_BAD_ARGUMENT;
    }
    struct sl_usage_amount parts = {0, (uint32_t)c->number[0]};
    sl_usage_restore(c->word[0], c->word[1], parts, c->number[1]);
    return SL_OK;
}

static enum sl_status perform_usage(const struct sl_change *c)
{
    switch (c->kind) {
    case SL_CHANGE_USAGE:
        sl_usage_configure(c->number[0], c->number[1]);
        return SL_OK;
    case SL_CHANGE_USAGE_RESOURCE:
        return sl_usage_set_resource(c->word[0], c->number[0], c->word[1] != 0);
    case SL_CHANGE_USAGE_WEIGHT:
        sl_usage_set_weight(c->word[0], c->number[0]);
        sl_turns_refresh(c->word[1]);
        return SL_OK;
    case SL_CHANGE_USAGE_ACCOUNT:
        sl_usage_set_account(c->word[0], c->word[1]);
        return SL_OK;
    case SL_CHANGE_USAGE_CLOSE:
        sl_usage_close(c->word[0]);
        return SL_OK;
    case SL_CHANGE_USAGE_RESTORE:
        sl_usage_restore(c->word[0], c->word[1], (struct sl_usage_amount){c->number[0], 0},
                         c->number[1]);
        return SL_OK;
    case SL_CHANGE_USAGE_PARTS:
        return restore_parts(c);
    case SL_CHANGE_USAGE_SAMPLE:
        return perform_sample(c);
    default:
        return sl_change_perform_topology(c);
    }
}

/* Whoever may preempt again is tried again. */
static enum sl_status perform_restrain(const struct sl_change *c)
{
    sl_node_id queue = sl_queues_queue_of(c->word[0]);
    sl_restraint_set(c->word[0], c->word[1] != 0);
    if (c->word[1] == 0 && queue != SL_NO_ID) {
        sl_queues_wake_queue(queue);
    }
    return SL_OK;
}

static enum sl_status perform_workload(struct sl_change *c)
{
    switch (c->kind) {
    case SL_CHANGE_EVENT:
        return perform_event(c);
    case SL_CHANGE_RESTORE:
        return restore(c);
    case SL_CHANGE_REDUCE:
        return perform_reduce(c);
    case SL_CHANGE_DEMAND:
        return set_demand(c);
    case SL_CHANGE_ATTACH:
        return perform_attach(c);
    case SL_CHANGE_DETACH:
        sl_queues_detach(c->word[0]);
        return SL_OK;
    case SL_CHANGE_SET_KEY:
        sl_queues_set_key(c->word[0], key_of(c));
        return SL_OK;
    case SL_CHANGE_RETRY:
        sl_queues_retry(c->word[0], c->number[0]);
        return SL_OK;
    case SL_CHANGE_RESTRAIN:
        return perform_restrain(c);
    case SL_CHANGE_OUTSIDER:
        sl_outsiders_set(c->word[0], c->word[1] != 0);
        sl_queues_retry(c->word[0], c->number[0]);
        return SL_OK;
    default:
        return perform_usage(c);
    }
}

static enum sl_status perform_configure(const struct sl_change *c)
{
    struct sl_rules rules = {.strategy = (enum sl_strategy)c->word[1],
                             .when_can_borrow = (enum sl_fungibility)c->word[2],
                             .when_can_preempt = (enum sl_fungibility)c->word[3],
                             .preference = (enum sl_preference)c->word[4],
                             .by_usage = c->word[5] != 0};
    return sl_queues_configure(c->word[0], rules, c->word[6] != 0);
}

static enum sl_status perform_preemption(const struct sl_change *c)
{
    struct sl_preempt_policy policy = {.within = (enum sl_preempt_within)c->word[1],
                                       .reclaim = (enum sl_preempt_reclaim)c->word[2],
                                       .borrow_within = (c->word[3] & 1u) != 0,
                                       .has_threshold = (c->word[3] & 2u) != 0,
                                       .threshold = (int32_t)c->word[4]};
    return sl_preempt_set_policy(c->word[0], policy);
}

static enum sl_status perform_queue(struct sl_change *c)
{
    switch (c->kind) {
    case SL_CHANGE_NO_OFFERS:
        sl_offers_clear(c->word[0]);
        return SL_OK;
    case SL_CHANGE_OFFER:
        return sl_offers_add(c->word[0], c->word[1], c->word[2]);
    case SL_CHANGE_PODS:
        sl_offers_set_pods_resource(c->word[0]);
        return SL_OK;
    case SL_CHANGE_RESOURCE_ORDER:
        sl_offers_set_order(c->word[0], (uint64_t)c->number[0]);
        return SL_OK;
    case SL_CHANGE_CONFIGURE:
        return perform_configure(c);
    case SL_CHANGE_PREEMPTION:
        return perform_preemption(c);
    case SL_CHANGE_WAKE_TREE:
        sl_queues_wake_tree(c->word[0]);
        return SL_OK;
    case SL_CHANGE_ROUSE_TREE:
        sl_turns_rouse(sl_ledger_root_node(c->word[0]));
        return SL_OK;
    case SL_CHANGE_CYCLE:
        return perform_cycle(c);
    default:
        return perform_workload(c);
    }
}

/* Who waits in a tree is listed with its root: let everybody go before that can change. */
static enum sl_status move_node(sl_node_id node, sl_node_id parent)
{
    sl_queues_wake_tree(node);
    sl_queues_flush();
    return sl_ledger_move_node(node, parent);
}

static enum sl_status perform_node(const struct sl_change *c)
{
    sl_node_id node = c->word[0];
    enum sl_status status = c->kind == SL_CHANGE_OPEN_NODE    ? sl_ledger_open_node(node)
                            : c->kind == SL_CHANGE_CLOSE_NODE ? sl_ledger_close_node(node)
                                                              : move_node(node, c->word[1]);
    sl_branches_follow(node);
    return status;
}

enum sl_status sl_change_perform(struct sl_change *c)
{
    switch (c->kind) {
    case SL_CHANGE_OPEN_NODE:
    case SL_CHANGE_CLOSE_NODE:
    case SL_CHANGE_MOVE_NODE:
        return perform_node(c);
    case SL_CHANGE_OPEN_CELL:
        return sl_ledger_open_cell(c->word[0], c->word[1], c->word[2], &c->word[3]);
    case SL_CHANGE_SET_QUOTA:
        return sl_ledger_set_quota(c->word[0], c->number[0], c->number[1], c->number[2]);
    case SL_CHANGE_WEIGHT:
        return sl_shares_set_weight(c->word[0], c->number[0]);
    case SL_CHANGE_SETTINGS:
        return sl_change_perform_settings(c);
    default:
        return perform_queue(c);
    }
}

/* --- noting ----------------------------------------------------------------------------------- */

static void note(struct sl_engine *g, const struct sl_change *c, enum sl_status answer,
                 int64_t now_ms)
{
    struct sl_buf payload = {0};
    pack_u8(&payload, (uint8_t)c->kind);
    pack_u16(&payload, (uint16_t)answer);
    for (unsigned i = 0; i < shapes[c->kind].words; i++) {
        pack_u32(&payload, c->word[i]);
    }
    for (unsigned i = 0; i < shapes[c->kind].longs; i++) {
        pack_i64(&payload, c->number[i]);
    }
    if (c->list != NULL && c->list->len > 0) {
        sl_buf_add(&payload, c->list->data, c->list->len);
    }
    (void)sl_journal_append(g->journal, SL_JOURNAL_CHANGE, now_ms, &payload);
    sl_buf_fini(&payload);
}

bool sl_change_unpack(const unsigned char *payload, size_t len, struct sl_change *out,
                      struct sl_buf *list, enum sl_status *answer)
{
    struct unpack u = {payload, payload + len, false};
    struct sl_change c = {0};
    uint8_t kind = unpack_u8(&u);
    *answer = (enum sl_status)unpack_u16(&u);
    if (u.failed || kind >= SL_CHANGE_KIND_COUNT) {
        return false;
    }
    c.kind = (enum sl_change_kind)kind;
    for (unsigned i = 0; i < shapes[kind].words; i++) {
        c.word[i] = unpack_u32(&u);
    }
    for (unsigned i = 0; i < shapes[kind].longs; i++) {
        c.number[i] = unpack_i64(&u);
    }
    sl_buf_reset(list);
    if (u.at < u.end) {
        sl_buf_add(list, (const char *)u.at, (size_t)(u.end - u.at));
    }
    c.list = list;
    *out = c;
    return !u.failed;
}

/* The workload that a change is about; SL_NO_ID = none in particular. */
static sl_workload_id subject(const struct sl_change *c)
{
    switch (c->kind) {
    case SL_CHANGE_EVENT:
        return c->word[1];
    case SL_CHANGE_RESTORE:
    case SL_CHANGE_ATTACH:
    case SL_CHANGE_DETACH:
        return c->word[0];
    default:
        return SL_NO_ID;
    }
}

static void note_outcome(struct sl_engine *g, int64_t now_ms)
{
    struct sl_buf payload = {0};
    sl_outcome_pack(&payload);
    (void)sl_journal_append(g->journal, SL_JOURNAL_OUTCOME, now_ms, &payload);
    sl_buf_fini(&payload);
}

static bool decides_nothing(void)
{
    return sl_cycle_outcome.result == SL_CYCLE_PENDING && sl_cycle_evicted.count == 0;
}

/* A cycle's outcomes are noted and followed one by one, while policy still says what it found. */
static enum sl_status run_cycle(struct sl_engine *g, const struct sl_change *c, int64_t now_ms)
{
    bool idle = true;
    sl_change_begin_cycle(c);
    while (sl_cycle_next()) {
        idle = idle && decides_nothing();
        note_outcome(g, now_ms);
        sl_follow_outcome(g, now_ms);
    }
    (void)sl_cycle_end();
    sl_follow_granted(g, now_ms);
    sl_restrain_settle(g, now_ms);
    g->cycle_ms = now_ms;
    g->idle_cycles = idle ? g->idle_cycles + 1 : 0;
    return SL_OK;
}

enum sl_status sl_change_apply(struct sl_engine *g, struct sl_change *c, int64_t now_ms)
{
    SL_PRE(g != NULL && c->kind < SL_CHANGE_KIND_COUNT);
    if (c->kind == SL_CHANGE_CYCLE) {
        note(g, c, SL_OK, now_ms);
        return run_cycle(g, c, now_ms);
    }
    g->idle_cycles = 0;
    sl_workload_id id = subject(c);
    struct sl_look before = {0};
    if (id != SL_NO_ID) {
        before = sl_follow_look(id);
    }
    enum sl_status status = sl_change_perform(c);
    note(g, c, status, now_ms);
    g->counters.events += c->kind == SL_CHANGE_EVENT;
    g->counters.refused += status != SL_OK;
    if (id != SL_NO_ID && status == SL_OK) {
        sl_follow(g, id, &before, now_ms);
    }
    return status;
}

enum sl_status sl_change_event(struct sl_engine *g, struct sl_event ev)
{
    struct sl_change c = {.kind = SL_CHANGE_EVENT,
                          .word = {ev.kind, ev.workload, ev.generation, ev.index, ev.reason},
                          .number = {ev.value, ev.now_ms}};
    return sl_change_apply(g, &c, ev.now_ms);
}

enum sl_status sl_change_words(struct sl_engine *g, enum sl_change_kind kind, uint32_t a,
                               uint32_t b, int64_t now_ms)
{
    struct sl_change c = {.kind = kind, .word = {a, b}, .number = {now_ms}};
    return sl_change_apply(g, &c, now_ms);
}

enum sl_status sl_change_key(struct sl_engine *g, enum sl_change_kind kind, sl_workload_id id,
                             sl_node_id node, struct sl_order_key key, int64_t now_ms)
{
    struct sl_change c = {
        .kind = kind,
        .word = {id, node, (uint32_t)key.priority},
        .number = {key.queued_at_ms, (int64_t)key.uid_high, (int64_t)key.uid_low, now_ms}};
    return sl_change_apply(g, &c, now_ms);
}
