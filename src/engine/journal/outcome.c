/* SPDX-License-Identifier: Apache-2.0
 * SPDX-FileCopyrightText: The Sluice authors */

/* Outcomes of cycles: packed from the core as it shows them, and told from the bytes alone. */
#include "engine/journal/outcome.h"
#include "api/objects/quantity.h"
#include "engine/journal/pack.h"
#include "engine/journal/status_text.h"
#include "kernel/topology/topology.h"
#include "policy/cycle/cycle.h"

#define DETAILS_NOTED 8u /* of what is in the way; the rest is counted nowhere */

enum flag { CHANGED = 1, OUTSIDER = 2, OVERTAKEN = 4, OVERLAPS = 8, SKIPPED = 16 };

#define SL_REASON(constant, text) [constant] = text,
static const char *const pending_reasons[] = {
#include "model/pending_reasons.def"
};
static const char *const preempt_reasons[] = {
#include "model/preempt_reasons.def"
};
#undef SL_REASON
static const char *const results[] = {[SL_CYCLE_RESERVED] = "reserved",
                                      [SL_CYCLE_PENDING] = "pending",
                                      [SL_CYCLE_PLACED] = "placed",
                                      [SL_CYCLE_UNPLACED] = "unplaced",
                                      [SL_CYCLE_EVICTED] = "evicted"};
static const char *const misses[] = {[SL_MISS_NOT_OFFERED] = "not offered",
                                     [SL_MISS_TAINT] = "taint not tolerated",
                                     [SL_MISS_AFFINITY] = "node selector or affinity",
                                     [SL_MISS_NO_FLAVOR] = "no such flavor",
                                     [SL_MISS_MAX_QUOTA] = "exceeds the maximum quota by",
                                     [SL_MISS_UNUSED_QUOTA] = "more needed:",
                                     [SL_MISS_NO_TOPOLOGY] = "flavor has no topology",
                                     [SL_MISS_ONLY_TOPOLOGY] = "flavor is for topology only",
                                     [SL_MISS_NO_LEVEL] = "topology lacks the level",
                                     [SL_MISS_NO_TREE] = "no such Topology",
                                     [SL_MISS_SLICE] = "its job has another flavor",
                                     [SL_MISS_UNNAMED] = "other flavors are allowed"};
#define NAME_OF(names, i) ((i) < sizeof(names) / sizeof(names)[0] ? (names)[i] : "?")

/* --- packing ---------------------------------------------------------------------------------- */

static void pack_evicted(struct sl_buf *out)
{
    pack_u32(out, sl_cycle_evicted.count);
    for (uint32_t i = 0; i < sl_cycle_evicted.count; i++) {
        pack_u32(out, sl_cycle_evicted.workloads[i]);
        pack_u8(out, (uint8_t)sl_cycle_evicted.reasons[i]);
    }
}

static void pack_choices(struct sl_buf *out, bool reserved)
{
    uint32_t count = reserved ? sl_assignment.choice_count : 0;
    pack_u32(out, reserved ? sl_assignment.borrow_height : 0);
    pack_u32(out, count);
    for (uint32_t i = 0; i < count; i++) {
        const struct sl_choice *c = &sl_assignment.choices[i];
        pack_u32(out, c->pod_set);
        pack_u32(out, c->flavor);
        pack_u32(out, c->resource);
        pack_i64(out, c->amount);
    }
}

static void pack_assignments(struct sl_buf *out, sl_workload_id id, bool assignments)
{
    uint32_t count = assignments ? sl_topology_assignment_count(id) : 0;
    pack_u32(out, count);
    for (uint32_t i = 0; i < count; i++) {
        struct sl_domain_assignment s = sl_topology_assignment_at(id, i);
        pack_u32(out, s.pod_set);
        pack_u32(out, s.domain);
        pack_u32(out, s.count);
    }
}

static void pack_details(struct sl_buf *out, bool news)
{
    uint32_t count = news ? sl_assignment.detail_count : 0;
    count = count < DETAILS_NOTED ? count : DETAILS_NOTED;
    pack_u32(out, count);
    for (uint32_t i = 0; i < count; i++) {
        const struct sl_detail *d = &sl_assignment.details[i];
        pack_u32(out, d->pod_set);
        pack_u8(out, (uint8_t)d->miss);
        pack_u32(out, d->flavor);
        pack_u32(out, d->resource);
        pack_i64(out, d->amount);
    }
}

void sl_outcome_pack(struct sl_buf *out)
{
    const struct sl_cycle_outcome *o = &sl_cycle_outcome;
    bool reserved = o->result == SL_CYCLE_RESERVED;
    bool news = o->did.news[SL_CHANGED_REASON];
    bool own = sl_assignment.workload == o->workload && !o->outsider && !o->overtaken;
    pack_u32(out, o->workload);
    pack_u32(out, o->generation);
    pack_u32(out, o->cluster_queue);
    pack_u8(out, (uint8_t)o->result);
    pack_u16(out, (uint16_t)o->status);
    pack_u8(out, o->result == SL_CYCLE_PENDING ? (uint8_t)o->reason : 0);
    pack_u8(out, (uint8_t)((news ? CHANGED : 0) | (o->outsider ? OUTSIDER : 0) |
                           (o->overtaken ? OVERTAKEN : 0) | (o->overlaps ? OVERLAPS : 0) |
                           (o->skipped_preemption ? SKIPPED : 0)));
    pack_u8(out, (uint8_t)o->place);
    pack_u32(out, o->victim_count);
    pack_evicted(out);
    pack_choices(out, reserved);
    pack_assignments(out, o->workload, reserved || o->result == SL_CYCLE_PLACED);
    pack_details(out, own && o->result == SL_CYCLE_PENDING && news);
    pack_u32(out, reserved ? o->replaced : SL_NO_ID);
}

/* --- telling ---------------------------------------------------------------------------------- */

static void print_amount(struct sl_buf *out, int64_t amount, const char *resource)
{
    char text[64];
    sl_quantity_print_amount(amount, resource, text);
    sl_buf_text(out, text);
}

static void print_evicted(struct unpack *u, const struct sl_journal_names *names,
                          struct sl_buf *out)
{
    uint32_t count = unpack_u32(u);
    for (uint32_t i = 0; i < count && !u->failed; i++) {
        uint32_t id = unpack_u32(u);
        uint8_t reason = unpack_u8(u);
        sl_buf_print(out, "%s%s (%s)", i == 0 ? "; preempts " : ", ",
                     sl_journal_name(names, SL_INTERN_WORKLOAD, id),
                     NAME_OF(preempt_reasons, reason));
    }
}

static void print_choices(struct unpack *u, const struct sl_journal_names *names,
                          struct sl_buf *out)
{
    uint32_t height = unpack_u32(u);
    uint32_t count = unpack_u32(u);
    for (uint32_t i = 0; i < count && !u->failed; i++) {
        uint32_t pod_set = unpack_u32(u);
        const char *flavor = sl_journal_name(names, SL_INTERN_FLAVOR, unpack_u32(u));
        const char *resource = sl_journal_name(names, SL_INTERN_RESOURCE, unpack_u32(u));
        sl_buf_print(out, "%spod set %u: %s ", i == 0 ? "; " : ", ", pod_set, resource);
        print_amount(out, unpack_i64(u), resource);
        sl_buf_print(out, " of %s", flavor);
    }
    if (height > 0) {
        sl_buf_print(out, "; borrows at height %u", height);
    }
}

static void print_assignments(struct unpack *u, struct sl_buf *out)
{
    uint32_t count = unpack_u32(u);
    for (uint32_t i = 0; i < count && !u->failed; i++) {
        uint32_t pod_set = unpack_u32(u);
        uint32_t domain = unpack_u32(u);
        sl_buf_print(out, "%s%u of pod set %u in domain %u", i == 0 ? "; " : ", ", unpack_u32(u),
                     pod_set, domain);
    }
}

static void print_details(struct unpack *u, const struct sl_journal_names *names,
                          struct sl_buf *out)
{
    uint32_t count = unpack_u32(u);
    for (uint32_t i = 0; i < count && !u->failed; i++) {
        uint32_t pod_set = unpack_u32(u);
        uint8_t miss = unpack_u8(u);
        uint32_t flavor = unpack_u32(u);
        uint32_t resource = unpack_u32(u);
        int64_t amount = unpack_i64(u);
        const char *of = sl_journal_name(names, SL_INTERN_RESOURCE, resource);
        sl_buf_print(out, "%spod set %u, flavor %s%s%s: %s", i == 0 ? "; " : ", ", pod_set,
                     flavor == SL_NO_ID ? "-" : sl_journal_name(names, SL_INTERN_FLAVOR, flavor),
                     resource == SL_NO_ID ? "" : ", ", resource == SL_NO_ID ? "" : of,
                     NAME_OF(misses, miss));
        if (miss == SL_MISS_MAX_QUOTA || miss == SL_MISS_UNUSED_QUOTA) {
            sl_buf_text(out, " ");
            print_amount(out, amount, of);
        }
    }
}

static void print_replaced(uint32_t id, const struct sl_journal_names *names, struct sl_buf *out)
{
    if (id != SL_NO_ID) {
        sl_buf_print(out, "; replaces %s", sl_journal_name(names, SL_INTERN_WORKLOAD, id));
    }
}

static void print_why(struct unpack *u, uint8_t result, struct sl_buf *out)
{
    uint16_t status = unpack_u16(u);
    uint8_t reason = unpack_u8(u);
    uint8_t flags = unpack_u8(u);
    uint8_t place = unpack_u8(u);
    uint32_t victims = unpack_u32(u);
    if (result == SL_CYCLE_PENDING) {
        sl_buf_print(out, ", %s, place %u", NAME_OF(pending_reasons, reason), place);
    }
    sl_buf_print(
        out, "%s%s%s%s%s%s", (flags & CHANGED) != 0 ? "; news" : "",
        (flags & OUTSIDER) != 0 ? "; its namespace is not selected by the ClusterQueue" : "",
        (flags & OVERTAKEN) != 0 ? "; other workloads of the cycle took the quota" : "",
        (flags & OVERLAPS) != 0 ? "; other workloads of the cycle have the same victims" : "",
        (flags & SKIPPED) != 0 ? "; its preemption was put off" : "", status == SL_OK ? "" : "; ");
    if (status != SL_OK) {
        sl_buf_text(out, sl_status_text((enum sl_status)status));
    }
    if (victims > 0) {
        sl_buf_print(out, "; waits for %u to stop", victims);
    }
}

bool sl_outcome_print(const void *payload, size_t len, const struct sl_journal_names *names,
                      struct sl_buf *out)
{
    const unsigned char *start = payload;
    struct unpack u = {start, start + len, false};
    uint32_t id = unpack_u32(&u);
    uint32_t generation = unpack_u32(&u);
    uint32_t queue = unpack_u32(&u);
    uint8_t result = unpack_u8(&u);
    sl_buf_print(out, "%s (id %u, generation %u) in %s: %s",
                 sl_journal_name(names, SL_INTERN_WORKLOAD, id), id, generation,
                 sl_journal_name(names, SL_INTERN_QNODE, queue), NAME_OF(results, result));
    print_why(&u, result, out);
    print_evicted(&u, names, out);
    print_choices(&u, names, out);
    print_assignments(&u, out);
    print_details(&u, names, out);
    print_replaced(unpack_u32(&u), names, out);
    return !u.failed && u.at == u.end;
}
