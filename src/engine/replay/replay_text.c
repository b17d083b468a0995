/* SPDX-License-Identifier: Apache-2.0
 * SPDX-FileCopyrightText: The Sluice authors */

/* What a replay says to people: a line a decision, and on demand why. */
#include "api/objects/kinds.h"
#include "base/check.h"
#include "api/objects/quantity.h"
#include "base/clock.h"
#include "engine/engine.h"
#include "engine/replay/replay_records.h"
#include "engine/journal/outcome.h"
#include "engine/journal/pack.h"
#include "kernel/commit/commit.h"
#include "kernel/lifecycle/lifecycle.h"
#include "policy/queues/queues.h"
#include <inttypes.h>
#include <string.h>

static const char *const decision_names[] = {
#define SL_DECISION(kind, printed, logged) [kind] = printed,
#include "engine/decision_names.def"
#undef SL_DECISION
};
static const char *const phases[] = {[SL_PHASE_ABSENT] = "absent",
                                     [SL_PHASE_PENDING] = "pending",
                                     [SL_PHASE_QUOTA_RESERVED] = "quota reserved",
                                     [SL_PHASE_ADMITTED] = "admitted",
                                     [SL_PHASE_EVICTED] = "evicted",
                                     [SL_PHASE_FINISHED] = "finished"};

const char *sl_replay_decision_name(uint8_t kind)
{
    return kind < sizeof decision_names / sizeof decision_names[0] ? decision_names[kind] : NULL;
}

void sl_replay_note_observed(struct sl_replay *r)
{
    SL_PRE(r != NULL);
    if (r->options->out == NULL) {
        return;
    }
    struct unpack u = {r->record->payload, r->record->payload + r->record->len, false};
    uint8_t kind = unpack_u8(&u);
    bool gone = unpack_u8(&u) != 0;
    size_t version_len;
    size_t ns_len;
    size_t name_len;
    const char *version = unpack_text(&u, &version_len);
    const char *ns = unpack_text(&u, &ns_len);
    const char *name = unpack_text(&u, &name_len);
    sl_buf_reset(&r->observed);
    sl_buf_print(&r->observed, "%s %.*s%s%.*s %s (resourceVersion %.*s)",
                 kind < SL_KIND_COUNT ? sl_kind_info((enum sl_kind)kind)->kind : "?", (int)ns_len,
                 ns, ns_len > 0 ? "/" : "", (int)name_len, name, gone ? "deleted" : "seen",
                 (int)version_len, version);
}

void sl_replay_note_call(struct sl_replay *r, const struct sl_call *c)
{
    SL_PRE(r != NULL && c != NULL);
    if (r->options->out == NULL) {
        return;
    }
    sl_buf_reset(&r->call);
    sl_call_print(&r->call, c, &r->names);
    r->is_cycle = c->kind == SL_CALL_cycle;
    if (r->is_cycle) {
        sl_buf_reset(&r->observed); /* what was seen before it did not set it off alone */
    }
}

/* --- a decision ------------------------------------------------------------------------------- */

static sl_qnode_id queue_of(sl_workload_id id)
{
    return sl_commit_usage_count(id) > 0 ? sl_ledger_qnode_of(sl_commit_usage(id, 0).cell)
                                         : sl_queues_queue_of(id);
}

static void print_usage(const struct sl_replay *r, sl_workload_id id)
{
    uint32_t count = sl_commit_usage_count(id);
    for (uint32_t i = 0; i < count; i++) {
        char amount[64];
        struct sl_cell_amount usage = sl_commit_usage(id, i);
        const char *resource =
            sl_journal_name(&r->names, SL_INTERN_RESOURCE, sl_ledger_resource_of(usage.cell));
        sl_quantity_print_amount(usage.amount, resource, amount);
        fprintf(r->options->out, "%s%s:%s=%s", i == 0 ? "" : ",",
                sl_journal_name(&r->names, SL_INTERN_FLAVOR, sl_ledger_flavor_of(usage.cell)),
                resource, amount);
    }
    fputs(count == 0 ? "-" : "", r->options->out);
}

static const char *queue_name(const struct sl_replay *r, sl_workload_id id)
{
    sl_qnode_id qnode = queue_of(id);
    return qnode == SL_NO_ID ? "-" : sl_journal_name(&r->names, SL_INTERN_QNODE, qnode);
}

static void note_why(struct sl_replay *r)
{
    struct sl_buf *why = &r->why;
    sl_buf_reset(why);
    if (r->outcome.len > 0 && r->is_cycle) {
        (void)sl_outcome_print(r->outcome.data, r->outcome.len, &r->names, why);
    } else {
        sl_buf_print(why, "call %s", r->call.len > 0 ? r->call.data : "none");
        if (r->observed.len > 0) {
            sl_buf_print(why, " after %s", r->observed.data);
        }
    }
}

static void print_why(const struct sl_replay *r)
{
    fprintf(r->options->out, "    why: %s\n", r->why.data);
}

void sl_replay_print_decision(struct sl_replay *r, const struct sl_replay_decision *d)
{
    SL_PRE(r != NULL && d != NULL);
    char time[32];
    const char *name = sl_journal_name(&r->names, SL_INTERN_WORKLOAD, d->workload);
    const char *only = r->options->workload;
    if (r->options->out == NULL || (only != NULL && strcmp(only, name) != 0)) {
        return;
    }
    sl_clock_format(r->record->time_ms, time);
    fprintf(r->options->out, "%s #%" PRIu64 " c%" PRIu64 " %-10s %s %s ", time, r->record->sequence,
            r->cycle, sl_replay_decision_name(d->kind), name, queue_name(r, d->workload));
    print_usage(r, d->workload);
    fprintf(r->options->out, " %.*s\n", (int)d->reason_len, d->reason);
    r->decided = d->workload;
    r->result->told++;
    note_why(r);
    if (only != NULL) {
        print_why(r);
    }
}

void sl_replay_print_stop(const struct sl_replay *r)
{
    SL_PRE(r != NULL);
    sl_workload_id id = r->decided;
    if (id == SL_NO_ID || r->options->out == NULL) {
        return;
    }
    if (r->options->workload == NULL) {
        print_why(r);
    }
    const struct sl_workload *w = &sl_workloads[id];
    fprintf(r->options->out, "    now: %s is %s in queue %s, holds ",
            sl_journal_name(&r->names, SL_INTERN_WORKLOAD, id), phases[w->phase],
            queue_name(r, id));
    print_usage(r, id);
    fprintf(r->options->out, ", evicted %u times\n", w->eviction_count);
}
