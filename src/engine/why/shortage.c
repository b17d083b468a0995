/* SPDX-License-Identifier: Apache-2.0
 * SPDX-FileCopyrightText: The Sluice authors */

/* From the details of sl_assignment, one flavor and resource at a time. */
#include "engine/why/shortage.h"
#include "api/objects/quantity.h"
#include "base/check.h"
#include "kernel/ledger/ledger.h"

const char *sl_why_flavor(const struct sl_engine *g, sl_flavor_id flavor)
{
    const char *name = sl_intern_name(g->names, SL_INTERN_FLAVOR, flavor);
    return name == NULL ? "?" : name;
}

const char *sl_why_resource(const struct sl_engine *g, sl_resource_id resource)
{
    const char *name = sl_intern_name(g->names, SL_INTERN_RESOURCE, resource);
    return name == NULL ? "?" : name;
}

void sl_why_print_amount(const struct sl_engine *g, int64_t amount, sl_resource_id resource,
                         struct sl_buf *out)
{
    char text[64];
    sl_quantity_print_amount(amount, sl_why_resource(g, resource), text);
    sl_buf_print(out, "%s %s", text, sl_why_resource(g, resource));
}

void sl_why_set_amount(const struct sl_engine *g, struct sl_json *map, const char *key,
                       int64_t amount, sl_resource_id resource)
{
    char text[64];
    if (amount < SL_AMOUNT_UNLIMITED) {
        sl_quantity_print_amount(amount, sl_why_resource(g, resource), text);
        sl_json_set_text(map, key, text);
    }
}

struct sl_json *sl_why_qnode_new(const struct sl_engine *g, sl_qnode_id qnode)
{
    SL_PRE(g != NULL);
    struct sl_json *out = sl_json_new_map();
    const struct sl_qnode_entry *n = g->qnodes[qnode];
    sl_json_set_text(out, "kind", n->is_cluster_queue ? "ClusterQueue" : "Cohort");
    sl_json_set_text(out, "name", n->name);
    return out;
}

/* --- what is short --------------------------------------------------------------------------------------- */

static bool is_quota(const struct sl_detail *d)
{
    return d->miss == SL_MISS_MAX_QUOTA || d->miss == SL_MISS_UNUSED_QUOTA;
}

static bool is_among(const struct sl_why_shortage *list, uint32_t count, const struct sl_detail *d)
{
    for (uint32_t i = 0; i < count; i++) {
        if (list[i].detail->flavor == d->flavor && list[i].detail->resource == d->resource) {
            return true;
        }
    }
    return false;
}

static struct sl_why_shortage shortage_of(const struct sl_engine *g, sl_qnode_id queue,
                                          const struct sl_detail *d)
{
    struct sl_why_shortage s = {.detail = d, .never = d->miss == SL_MISS_MAX_QUOTA};
    s.cell = sl_ledger_find_cell(queue, d->flavor, d->resource);
    if (s.cell != SL_NO_ID) {
        s.available = s.never ? sl_ledger_potential(s.cell) : sl_ledger_available(s.cell);
        s.limit = s.never ? sl_why_limit_ever(g, s.cell) : sl_why_limit_now(g, s.cell);
    }
    s.requested = s.available + d->amount;
    return s;
}

uint32_t sl_why_shortages(const struct sl_engine *g, sl_qnode_id queue,
                          struct sl_why_shortage out[static SL_WHY_SHORTAGES_MAX])
{
    SL_PRE(g != NULL);
    uint32_t count = 0;
    for (uint32_t i = 0; i < sl_assignment.detail_count && count < SL_WHY_SHORTAGES_MAX; i++) {
        const struct sl_detail *d = &sl_assignment.details[i];
        if (is_quota(d) && !is_among(out, count, d)) {
            out[count++] = shortage_of(g, queue, d);
        }
    }
    return count;
}

/* --- in words -------------------------------------------------------------------------------------------- */

static void say_limit(const struct sl_engine *g, const struct sl_why_shortage *s,
                      struct sl_buf *out)
{
    static const char *const before[] = {[SL_WHY_NOMINAL] = " has a nominal quota of ",
                                         [SL_WHY_BORROWING] = " may use, with what it borrows, ",
                                         [SL_WHY_COHORT] = " has a quota of "};
    sl_resource_id resource = s->detail->resource;
    bool shared = s->limit.kept > 0 && s->limit.quota + s->limit.kept < SL_AMOUNT_UNLIMITED;
    sl_why_print_qnode(g, sl_ledger_qnode_of(s->limit.cell), out);
    sl_buf_text(out, shared ? " shares " : before[s->limit.kind]);
    if (shared) { /* `sluicectl shares` and the objects have the whole of it */
        char quota[64];
        sl_quantity_print_amount(s->limit.quota, sl_why_resource(g, resource), quota);
        sl_buf_print(out, "%s of its ", quota);
    }
    sl_why_print_amount(g, s->limit.quota + (shared ? s->limit.kept : 0), resource, out);
    sl_buf_print(out, " in flavor %s", sl_why_flavor(g, s->detail->flavor));
    if (shared) {
        sl_buf_text(out, " (a lendingLimit keeps the rest)");
    }
    if (!s->never) {
        char used[64];
        sl_quantity_print_amount(s->limit.used, sl_why_resource(g, resource), used);
        sl_buf_print(out, " and uses %s", used);
    }
}

void sl_why_say_shortage(const struct sl_engine *g, const struct sl_why_shortage *s,
                         struct sl_buf *out)
{
    SL_PRE(g != NULL && s != NULL);
    sl_resource_id resource = s->detail->resource;
    if (s->cell == SL_NO_ID) {
        sl_buf_print(out, "the ClusterQueue has no quota for %s in flavor %s",
                     sl_why_resource(g, resource), sl_why_flavor(g, s->detail->flavor));
        return;
    }
    say_limit(g, s, out);
    if (s->never) {
        sl_buf_text(out, ", and ");
        sl_why_print_amount(g, s->requested, resource, out);
        sl_buf_text(out, " is asked for: it can never start with these quotas");
        return;
    }
    sl_buf_text(out, ": ");
    sl_why_print_amount(g, s->detail->amount, resource, out);
    sl_buf_text(out, " more needed");
    if (s->limit.withheld > 0) {
        sl_buf_text(out, "; ");
        sl_why_print_amount(g, s->limit.withheld, resource, out);
        sl_buf_text(out, " is unused in other ClusterQueues, which do not lend it");
    }
}

/* --- as values ------------------------------------------------------------------------------------------- */

static struct sl_json *pod_sets_new(const struct sl_engine *g, const struct sl_detail *like)
{
    const struct sl_workload_entry *e = &g->workloads[sl_assignment.workload];
    struct sl_json *out = sl_json_new_list();
    for (uint32_t i = 0; i < sl_assignment.detail_count; i++) {
        const struct sl_detail *d = &sl_assignment.details[i];
        if (is_quota(d) && d->flavor == like->flavor && d->resource == like->resource &&
            d->pod_set < e->pod_set_count && !sl_json_has_text(out, e->pod_sets[d->pod_set].name)) {
            sl_json_append(out, sl_json_new_text(e->pod_sets[d->pod_set].name));
        }
    }
    return out;
}

struct sl_json *sl_why_shortage_new(const struct sl_engine *g, const struct sl_why_shortage *s)
{
    SL_PRE(g != NULL && s != NULL);
    sl_resource_id resource = s->detail->resource;
    struct sl_json *out = sl_json_new_map();
    struct sl_buf message = {0};
    sl_json_set(out, "podSets", pod_sets_new(g, s->detail));
    sl_json_set_text(out, "flavor", sl_why_flavor(g, s->detail->flavor));
    sl_json_set_text(out, "resource", sl_why_resource(g, resource));
    sl_why_set_amount(g, out, "requested", s->requested, resource);
    sl_why_set_amount(g, out, "available", s->available, resource);
    sl_why_set_amount(g, out, "short", s->detail->amount, resource);
    sl_json_set_bool(out, "never", s->never);
    if (s->cell != SL_NO_ID) {
        sl_json_set_text(out, "limit", sl_why_limit_name(s->limit.kind));
        sl_json_set(out, "of", sl_why_qnode_new(g, sl_ledger_qnode_of(s->limit.cell)));
        sl_why_set_amount(g, out, "quota", s->limit.quota, resource);
        sl_why_set_amount(g, out, "inUse", s->limit.used, resource);
        if (s->limit.kept > 0) {
            sl_why_set_amount(g, out, "kept", s->limit.kept, resource);
        }
        if (s->limit.withheld > 0) {
            sl_why_set_amount(g, out, "notLent", s->limit.withheld, resource);
        }
    }
    sl_why_say_shortage(g, s, &message);
    sl_json_set_text(out, "message", message.data);
    sl_buf_fini(&message);
    return out;
}

/* --- flavors that will not do ---------------------------------------------------------------------------- */

static const char *const mismatches[] = {
    [SL_MISS_NOT_OFFERED] = "the ClusterQueue does not offer this resource",
    [SL_MISS_TAINT] = "it has a taint that the pods do not tolerate",
    [SL_MISS_AFFINITY] = "its node labels do not match the pods' node selector or affinity",
    [SL_MISS_NO_FLAVOR] = "the ResourceFlavor does not exist",
    [SL_MISS_NO_TOPOLOGY] = "it has no topology, which the pods ask for",
    [SL_MISS_ONLY_TOPOLOGY] = "it is only for pods that ask for a topology",
    [SL_MISS_NO_LEVEL] = "its topology lacks the level that the pods ask for",
    [SL_MISS_NO_TREE] = "its Topology does not exist",
    [SL_MISS_SLICE] = "the pods that the job has run in another flavor",
    [SL_MISS_UNNAMED] = "it is not among the flavors that the Workload's annotation allows"};

struct sl_json *sl_why_mismatches_new(const struct sl_engine *g)
{
    SL_PRE(g != NULL);
    const struct sl_workload_entry *e = &g->workloads[sl_assignment.workload];
    struct sl_json *out = sl_json_new_list();
    for (uint32_t i = 0; i < sl_assignment.detail_count; i++) {
        const struct sl_detail *d = &sl_assignment.details[i];
        if (is_quota(d) || sl_json_len(out) >= SL_WHY_SHORTAGES_MAX) {
            continue;
        }
        struct sl_json *one = sl_json_new_map();
        if (d->pod_set < e->pod_set_count) {
            sl_json_set_text(one, "podSet", e->pod_sets[d->pod_set].name);
        }
        if (d->flavor != SL_NO_ID) {
            sl_json_set_text(one, "flavor", sl_why_flavor(g, d->flavor));
        }
        if (d->resource != SL_NO_ID) {
            sl_json_set_text(one, "resource", sl_why_resource(g, d->resource));
        }
        sl_json_set_text(one, "message", mismatches[d->miss]);
        sl_json_append(out, one);
    }
    return out;
}
