/* SPDX-License-Identifier: Apache-2.0
 * SPDX-FileCopyrightText: The Sluice authors */

/* Reading resource groups, and telling ledger and policy what changed. */
#include "engine/quota/quotas.h"
#include "api/objects/quantity.h"
#include "base/check.h"
#include "base/mem.h"
#include "engine/calls/call.h"
#include "kernel/ledger/ledger.h"
#include "policy/requests/offers.h"
#include <stdio.h>
#include <string.h>

struct reader {
    struct sl_engine *g;
    struct sl_quotas *out;
    uint32_t quota_cap;
    int64_t now_ms;
    struct sl_error *e;
    bool bad;
    char field[160]; /* of what is being read */
};

static void complain(struct reader *r, const char *member, const char *what)
{
    char field[200];
    (void)snprintf(field, sizeof field, "%s%s%s", r->field, member[0] == '\0' ? "" : ".", member);
    sl_error_cause(r->e, "FieldValueInvalid", field, "%s", what);
    r->bad = true;
}

/* The amount of a quota; `absent` when there is none. More than the core counts means no limit at
 * all. */
static int64_t read_amount(struct reader *r, const struct sl_json *item, const char *member,
                           int64_t absent, const char *resource)
{
    struct sl_error why = {0};
    struct sl_quantity q = {0};
    const struct sl_json *v = sl_json_get(item, member);
    if (v == NULL || sl_json_type(v) == SL_JSON_NULL) {
        return absent;
    }
    if (sl_quantity_read(v, &q, &why) != SL_CODE_OK) {
        complain(r, member, why.text);
        return 0;
    }
    if (q.nano < 0) {
        complain(r, member, "must not be negative");
        return 0;
    }
    int64_t amount = sl_quantity_amount(q, resource);
    return amount > SL_AMOUNT_MAX ? SL_AMOUNT_UNLIMITED : amount;
}

static void add_quota(struct reader *r, struct sl_quota quota)
{
    r->out->quotas =
        sl_mem_reach(r->out->quotas, &r->quota_cap, 8, r->out->quota_count, sizeof *r->out->quotas);
    r->out->quotas[r->out->quota_count++] = quota;
}

static uint32_t read_name(struct reader *r, enum sl_intern_class c, const char *name)
{
    if (name == NULL || name[0] == '\0') {
        complain(r, "name", "must not be empty");
        return SL_NO_ID;
    }
    uint32_t id = sl_name_take(r->g, c, name, r->now_ms);
    if (id == SL_NO_ID) {
        complain(r, "name", "there are as many different names as the daemon can hold");
    }
    return id;
}

static void read_flavor(struct reader *r, const struct sl_json *item, struct sl_group *group)
{
    char base[160];
    const struct sl_json *resources = sl_json_get(item, "resources");
    sl_flavor_id flavor = read_name(r, SL_INTERN_FLAVOR, sl_json_path_text(item, "name", NULL));
    group->flavors[group->flavor_count++] = flavor;
    (void)snprintf(base, sizeof base, "%s", r->field);
    for (size_t i = 0; i < sl_json_len(resources); i++) {
        const struct sl_json *one = sl_json_at(resources, i);
        const char *name = sl_json_path_text(one, "name", NULL);
        (void)snprintf(r->field, sizeof r->field, "%.100s.resources[%zu]", base, i);
        sl_resource_id resource = read_name(r, SL_INTERN_RESOURCE, name);
        struct sl_quota quota = {flavor, resource, 0, 0, 0};
        if (resource != SL_NO_ID) {
            quota.nominal = read_amount(r, one, "nominalQuota", 0, name);
            quota.lending = read_amount(r, one, "lendingLimit", SL_AMOUNT_UNLIMITED, name);
            quota.borrowing = read_amount(r, one, "borrowingLimit", SL_AMOUNT_UNLIMITED, name);
        }
        add_quota(r, quota);
    }
}

static void read_group(struct reader *r, const struct sl_json *item, size_t index,
                       struct sl_group *group)
{
    const struct sl_json *covered = sl_json_get(item, "coveredResources");
    const struct sl_json *flavors = sl_json_get(item, "flavors");
    group->resources = sl_mem_new(sl_json_len(covered) + 1, sizeof *group->resources);
    group->flavors = sl_mem_new(sl_json_len(flavors) + 1, sizeof *group->flavors);
    for (size_t i = 0; i < sl_json_len(covered); i++) {
        (void)snprintf(r->field, sizeof r->field, "spec.resourceGroups[%zu].coveredResources[%zu]",
                       index, i);
        group->resources[group->resource_count++] =
            read_name(r, SL_INTERN_RESOURCE, sl_json_text(sl_json_at(covered, i), NULL));
    }
    for (size_t i = 0; i < sl_json_len(flavors); i++) {
        (void)snprintf(r->field, sizeof r->field, "spec.resourceGroups[%zu].flavors[%zu]", index,
                       i);
        read_flavor(r, sl_json_at(flavors, i), group);
    }
}

enum sl_code sl_quotas_read(struct sl_engine *g, const struct sl_json *object,
                            struct sl_quotas *out, int64_t now_ms, struct sl_error *e)
{
    struct sl_quotas read = {0};
    struct reader r = {
        .g = g, .out = &read, .now_ms = now_ms, .e = e, .field = "spec.resourceGroups"};
    const struct sl_json *groups = sl_json_path(object, "spec.resourceGroups");
    size_t count = sl_json_len(groups);
    if (count > SL_GROUPS_MAX) {
        complain(&r, "", "more than 16 resource groups");
        count = 0;
    }
    read.groups = sl_mem_new(count + 1, sizeof *read.groups);
    for (size_t i = 0; i < count; i++) {
        read_group(&r, sl_json_at(groups, i), i, &read.groups[read.group_count++]);
    }
    if (r.bad) {
        sl_quotas_free(&read);
        return SL_CODE_INVALID;
    }
    *out = read;
    return SL_CODE_OK;
}

void sl_quotas_free(struct sl_quotas *q)
{
    SL_PRE(q != NULL);
    for (uint32_t i = 0; i < q->group_count; i++) {
        sl_mem_free(q->groups[i].resources);
        sl_mem_free(q->groups[i].flavors);
    }
    sl_mem_free(q->groups);
    sl_mem_free(q->quotas);
    *q = (struct sl_quotas){0};
}

static bool ids_equal(const uint32_t *a, const uint32_t *b, uint32_t count)
{
    return count == 0 || memcmp(a, b, count * sizeof *a) == 0;
}

static bool quota_equal(const struct sl_quota *a, const struct sl_quota *b)
{
    return a->flavor == b->flavor && a->resource == b->resource && a->nominal == b->nominal &&
           a->lending == b->lending && a->borrowing == b->borrowing;
}

bool sl_quotas_equal(const struct sl_quotas *a, const struct sl_quotas *b)
{
    SL_PRE(a != NULL);
    if (a->refused || b->refused || a->quota_count != b->quota_count ||
        a->group_count != b->group_count) {
        return false;
    }
    for (uint32_t i = 0; i < a->quota_count; i++) {
        if (!quota_equal(&a->quotas[i], &b->quotas[i])) {
            return false;
        }
    }
    for (uint32_t i = 0; i < a->group_count; i++) {
        const struct sl_group *x = &a->groups[i];
        const struct sl_group *y = &b->groups[i];
        if (x->resource_count != y->resource_count || x->flavor_count != y->flavor_count ||
            !ids_equal(x->resources, y->resources, x->resource_count) ||
            !ids_equal(x->flavors, y->flavors, x->flavor_count)) {
            return false;
        }
    }
    return true;
}

/* --- telling the core ------------------------------------------------------------------------- */

static const struct sl_quota *find(const struct sl_quotas *q, sl_flavor_id flavor,
                                   sl_resource_id resource)
{
    for (uint32_t i = 0; i < q->quota_count; i++) {
        if (q->quotas[i].flavor == flavor && q->quotas[i].resource == resource) {
            return &q->quotas[i];
        }
    }
    return NULL;
}

enum sl_status sl_quotas_open(struct sl_engine *g, sl_qnode_id qnode, sl_flavor_id flavor,
                              sl_resource_id resource, sl_cell_id *cell, int64_t now_ms)
{
    struct sl_call c = {.kind = SL_CALL_open_cell,
                        .open_cell = {qnode, flavor, resource, SL_NO_ID}};
    enum sl_status status = sl_call_make(g, &c, now_ms);
    *cell = c.open_cell.cell;
    return status;
}

static enum sl_status set_quota(struct sl_engine *g, sl_qnode_id qnode, const struct sl_quota *q,
                                int64_t now_ms)
{
    sl_cell_id cell;
    enum sl_status status = sl_quotas_open(g, qnode, q->flavor, q->resource, &cell, now_ms);
    if (status != SL_OK) {
        return status;
    }
    return sl_call(g, now_ms, set_quota, .cell = cell, .nominal = q->nominal, .lending = q->lending,
                   .borrowing = q->borrowing);
}

enum sl_status sl_quotas_apply(struct sl_engine *g, sl_qnode_id qnode, const struct sl_quotas *old,
                               const struct sl_quotas *new_quotas, int64_t now_ms)
{
    SL_PRE(old != NULL);
    enum sl_status status = SL_OK;
    for (uint32_t i = 0; i < old->quota_count && status == SL_OK; i++) {
        struct sl_quota none = {old->quotas[i].flavor, old->quotas[i].resource, 0,
                                SL_AMOUNT_UNLIMITED, SL_AMOUNT_UNLIMITED};
        if (find(new_quotas, none.flavor, none.resource) == NULL &&
            sl_ledger_find_cell(qnode, none.flavor, none.resource) != SL_NO_ID) {
            status = set_quota(g, qnode, &none, now_ms);
        }
    }
    for (uint32_t i = 0; i < new_quotas->quota_count && status == SL_OK; i++) {
        const struct sl_quota *q = &new_quotas->quotas[i];
        const struct sl_quota *before = find(old, q->flavor, q->resource);
        if (before == NULL || old->refused || !quota_equal(before, q)) {
            status = set_quota(g, qnode, q, now_ms);
        }
    }
    return status;
}

enum sl_status sl_quotas_offer(struct sl_engine *g, sl_qnode_id qnode, const struct sl_quotas *q,
                               int64_t now_ms)
{
    SL_PRE(q != NULL);
    enum sl_status status = SL_OK;
    sl_tell(g, now_ms, no_offers, .cluster_queue = qnode);
    for (uint32_t i = 0; i < q->group_count; i++) {
        const struct sl_group *group = &q->groups[i];
        uint32_t pairs = group->flavor_count * group->resource_count;
        for (uint32_t p = 0; p < pairs && status == SL_OK; p++) {
            sl_cell_id cell;
            status = sl_quotas_open(g, qnode, group->flavors[p / group->resource_count],
                                    group->resources[p % group->resource_count], &cell, now_ms);
            if (status == SL_OK) {
                status =
                    sl_call(g, now_ms, offer, .cluster_queue = qnode, .group = i, .cell = cell);
            }
        }
    }
    return status;
}
