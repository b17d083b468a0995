/* SPDX-License-Identifier: Apache-2.0
 * SPDX-FileCopyrightText: The Sluice authors */

/* What a replay tells people: a line a decision, and on demand why. */
#include "api/objects/kinds.h"
#include "base/check.h"
#include "api/objects/quantity.h"
#include "base/clock.h"
#include "engine/engine.h"
#include "engine/replay/life.h"
#include "engine/journal/outcome.h"
#include "engine/journal/pack.h"
#include "kernel/commit/commit.h"
#include "kernel/ledger/ledger.h"
#include "kernel/lifecycle/lifecycle.h"
#include "policy/queues/queues.h"
#include <inttypes.h>
#include <string.h>

static const char *const kinds[] = {
    [SL_DECIDE_RESERVE] = "Reserve", [SL_DECIDE_ADMIT] = "Admit",
    [SL_DECIDE_PENDING] = "Pending", [SL_DECIDE_EVICT] = "Evict",
    [SL_DECIDE_RELEASE] = "Release", [SL_DECIDE_DEACTIVATE] = "Deactivate",
    [SL_DECIDE_REQUEUE] = "Requeue", [SL_DECIDE_DELETE] = "Delete",
    [SL_DECIDE_PLACE] = "Place",     [SL_DECIDE_UNPLACED] = "Unplaced",
    [SL_DECIDE_LATE] = "Late"};
static const char *const phases[] = {[SL_PHASE_ABSENT] = "absent",
                                     [SL_PHASE_PENDING] = "pending",
                                     [SL_PHASE_QUOTA_RESERVED] = "quota reserved",
                                     [SL_PHASE_ADMITTED] = "admitted",
                                     [SL_PHASE_EVICTED] = "evicted",
                                     [SL_PHASE_FINISHED] = "finished"};

const char *sl_story_kind(uint8_t decision_kind)
{
    return decision_kind < sizeof kinds / sizeof kinds[0] ? kinds[decision_kind] : "?";
}

void sl_story_note_observed(struct sl_life *life, const struct sl_journal_record *record)
{
    SL_PRE(life != NULL && record != NULL);
    struct unpack u = {record->payload, record->payload + record->len, false};
    uint8_t kind = unpack_u8(&u);
    bool gone = unpack_u8(&u) != 0;
    size_t version_len;
    size_t ns_len;
    size_t name_len;
    const char *version = unpack_text(&u, &version_len);
    const char *ns = unpack_text(&u, &ns_len);
    const char *name = unpack_text(&u, &name_len);
    sl_buf_reset(&life->observed);
    sl_buf_print(&life->observed, "%s %.*s%s%.*s %s (resourceVersion %.*s)",
                 kind < SL_KIND_COUNT ? sl_kind_info((enum sl_kind)kind)->kind : "?", (int)ns_len,
                 ns, ns_len > 0 ? "/" : "", (int)name_len, name, gone ? "deleted" : "seen",
                 (int)version_len, version);
}

void sl_story_note_call(struct sl_life *life, const struct sl_call *c)
{
    SL_PRE(life != NULL && c != NULL);
    sl_buf_reset(&life->call);
    sl_call_print(&life->call, c, &life->names);
    life->is_cycle = c->kind == SL_CALL_cycle;
    if (life->is_cycle) {
        sl_buf_reset(&life->observed); /* what was seen before it did not set it off alone */
    }
}

/* --- a decision ------------------------------------------------------------------------------- */

static sl_qnode_id queue_of(sl_workload_id id)
{
    return sl_commit_usage_count(id) > 0 ? sl_ledger_qnode_of(sl_commit_usage(id, 0).cell)
                                         : sl_queues_queue_of(id);
}

static void print_usage(const struct sl_life *life, sl_workload_id id)
{
    uint32_t count = sl_commit_usage_count(id);
    for (uint32_t i = 0; i < count; i++) {
        char amount[64];
        struct sl_cell_amount usage = sl_commit_usage(id, i);
        const char *resource =
            sl_roll_name(&life->names, SL_INTERN_RESOURCE, sl_ledger_resource_of(usage.cell));
        sl_quantity_print_amount(usage.amount, resource, amount);
        fprintf(life->options->out, "%s%s:%s=%s", i == 0 ? "" : ",",
                sl_roll_name(&life->names, SL_INTERN_FLAVOR, sl_ledger_flavor_of(usage.cell)),
                resource, amount);
    }
    fputs(count == 0 ? "-" : "", life->options->out);
}

static const char *queue_name(const struct sl_life *life, sl_workload_id id)
{
    sl_qnode_id qnode = queue_of(id);
    return qnode == SL_NO_ID ? "-" : sl_roll_name(&life->names, SL_INTERN_QNODE, qnode);
}

static void note_why(struct sl_life *life)
{
    struct sl_buf *why = &life->why;
    sl_buf_reset(why);
    if (life->outcome.len > 0 && life->is_cycle) {
        (void)sl_outcome_print(life->outcome.data, life->outcome.len, &life->names, why);
    } else {
        sl_buf_print(why, "call %s", life->call.len > 0 ? life->call.data : "none");
        if (life->observed.len > 0) {
            sl_buf_print(why, " after %s", life->observed.data);
        }
    }
}

static void print_why(const struct sl_life *life)
{
    fprintf(life->options->out, "    why: %s\n", life->why.data);
}

void sl_story_decision(struct sl_life *life, const struct sl_journal_record *record,
                       const struct sl_told_decision *d)
{
    SL_PRE(life != NULL && d != NULL);
    char time[32];
    const char *name = sl_roll_name(&life->names, SL_INTERN_WORKLOAD, d->workload);
    const char *only = life->options->workload;
    if (only != NULL && strcmp(only, name) != 0) {
        return;
    }
    sl_clock_format(record->time_ms, time);
    fprintf(life->options->out, "%s #%" PRIu64 " c%" PRIu64 " %-10s %s %s ", time, record->sequence,
            life->cycle, sl_story_kind(d->kind), name, queue_name(life, d->workload));
    print_usage(life, d->workload);
    fprintf(life->options->out, " %.*s\n", (int)d->reason_len, d->reason);
    life->decided = d->workload;
    life->result->told++;
    note_why(life);
    if (only != NULL) {
        print_why(life);
    }
}

void sl_story_stop(const struct sl_life *life)
{
    SL_PRE(life != NULL);
    sl_workload_id id = life->decided;
    if (id == SL_NO_ID) {
        return;
    }
    if (life->options->workload == NULL) {
        print_why(life);
    }
    const struct sl_workload *w = &sl_workloads[id];
    fprintf(life->options->out, "    now: %s is %s in queue %s, holds ",
            sl_roll_name(&life->names, SL_INTERN_WORKLOAD, id), phases[w->phase],
            queue_name(life, id));
    print_usage(life, id);
    fprintf(life->options->out, ", evicted %u times\n", w->eviction_count);
}
