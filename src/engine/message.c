/* SPDX-License-Identifier: Apache-2.0
 * SPDX-FileCopyrightText: The Sluice authors */

/* One clause per flavor that would not do, joined by commas. */
#include "engine/message.h"
#include "api/quantity.h"
#include "base/check.h"
#include "engine/state.h"
#include "kernel/commit.h"
#include "policy/cycle.h"
#include <stdarg.h>
#include <stdio.h>
#include <string.h>

static const char *const sentences[] = {
#define SL_STATUS(constant, name, text) [constant] = text,
#include "kernel/status.def"
#undef SL_STATUS
};

static void add(char *out, const char *format, ...) __attribute__((format(printf, 2, 3)));

static void add(char *out, const char *format, ...)
{
    size_t len = strlen(out);
    va_list args;
    va_start(args, format);
    int n = vsnprintf(out + len, SL_MESSAGE_SIZE - len, format, args);
    va_end(args);
    if (n >= 0 && len + (size_t)n >= SL_MESSAGE_SIZE) {
        memcpy(out + SL_MESSAGE_SIZE - 4, "...", 4);
    }
}

static const char *name_of(const struct sl_engine *g, enum sl_intern_class c, uint32_t id)
{
    const char *name = sl_intern_name(g->names, c, id);
    return name == NULL ? "?" : name;
}

static void add_clause(const struct sl_engine *g, const struct sl_detail *d, char *out)
{
    const char *flavor = name_of(g, SL_INTERN_FLAVOR, d->flavor);
    const char *resource = name_of(g, SL_INTERN_RESOURCE, d->resource);
    char amount[64];
    switch (d->miss) {
    case SL_MISS_NOT_OFFERED:
        add(out, "the ClusterQueue offers no %s", resource);
        break;
    case SL_MISS_TAINT:
        add(out, "flavor %s has a taint that is not tolerated", flavor);
        break;
    case SL_MISS_AFFINITY:
        add(out, "flavor %s does not match the node selector or affinity", flavor);
        break;
    case SL_MISS_NO_FLAVOR:
        add(out, "flavor %s does not exist", flavor);
        break;
    case SL_MISS_MAX_QUOTA:
        sl_quantity_print_amount(d->amount, resource, amount);
        add(out, "request exceeds the maximum quota for %s in flavor %s by %s", resource, flavor,
            amount);
        break;
    case SL_MISS_UNUSED_QUOTA:
        sl_quantity_print_amount(d->amount, resource, amount);
        add(out, "insufficient unused quota for %s in flavor %s, %s more needed", resource, flavor,
            amount);
        break;
    }
}

void sl_message_from_assignment(struct sl_engine *g, char out[static SL_MESSAGE_SIZE])
{
    const struct sl_workload_entry *e = &g->workloads[sl_assignment.workload];
    uint32_t pod_set = SL_NO_ID;
    out[0] = '\0';
    for (uint32_t i = 0; i < sl_assignment.detail_count; i++) {
        const struct sl_detail *d = &sl_assignment.details[i];
        if (d->pod_set != pod_set) {
            pod_set = d->pod_set;
            const char *name = pod_set < e->pod_set_count ? e->pod_sets[pod_set].name : "?";
            add(out, "%scouldn't assign flavors to pod set %s: ", i == 0 ? "" : "; ", name);
        } else {
            add(out, ", ");
        }
        add_clause(g, d, out);
    }
    if (sl_assignment.details_left_out > 0) {
        add(out, ", and %u more reasons", sl_assignment.details_left_out);
    }
}

static const char *rule_of(enum sl_preempt_reason reason)
{
    switch (reason) {
    case SL_PREEMPT_IN_CLUSTER_QUEUE:
        return "a workload of the same ClusterQueue that goes before it";
    case SL_PREEMPT_RECLAMATION:
        return "a ClusterQueue of the cohort reclaims its nominal quota";
    case SL_PREEMPT_FAIR_SHARING:
        return "fair sharing within the cohort";
    case SL_PREEMPT_RECLAIM_WHILE_BORROWING:
        return "a workload of higher priority in the cohort, which borrows";
    case SL_PREEMPT_NONE:
        break;
    }
    return "no rule";
}

void sl_message_from_preemption(struct sl_engine *g, enum sl_preempt_reason reason,
                                char out[static SL_MESSAGE_SIZE])
{
    const struct sl_workload_entry *e = &g->workloads[sl_cycle_outcome.workload];
    out[0] = '\0';
    add(out, "Preempted to make room for workload %s (UID %s) in ClusterQueue %s: %s",
        name_of(g, SL_INTERN_WORKLOAD, sl_cycle_outcome.workload), e->uid,
        g->nodes[sl_cycle_outcome.cluster_queue]->name, rule_of(reason));
}

void sl_message_from_outcome(struct sl_engine *g, char out[static SL_MESSAGE_SIZE])
{
    out[0] = '\0';
    if (sl_cycle_outcome.overtaken) {
        add(out, "others of the same cycle took the quota that was free");
    } else if (sl_cycle_outcome.status != SL_OK) {
        SL_ASSERT(sl_cycle_outcome.status < SL_STATUS_COUNT);
        add(out, "%s", sentences[sl_cycle_outcome.status]);
    } else if (sl_cycle_outcome.overlaps) {
        add(out, "the workloads that it would preempt were chosen by another one in this cycle");
    } else if (sl_cycle_outcome.reason == SL_PENDING_PREEMPTED_WORKLOADS) {
        add(out, "waits for %u preempted workload%s to stop", sl_cycle_outcome.victim_count,
            sl_cycle_outcome.victim_count == 1 ? "" : "s");
    } else {
        sl_message_from_assignment(g, out);
    }
}
