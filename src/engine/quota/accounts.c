/* SPDX-License-Identifier: Apache-2.0
 * SPDX-FileCopyrightText: The Sluice authors */

/* All that touches the policy's accounts is a change of its own, so that a replay weighs alike. */
#include "engine/quota/accounts.h"
#include "base/check.h"
#include "api/objects/quantity.h"
#include "base/clock.h"
#include "engine/calls/call.h"
#include "engine/quota/tallies.h"
#include "engine/records/rules.h"
#include "policy/fair/shares.h"
#include "policy/fair/usage.h"
#include <string.h>

/* cpu is counted in thousandths by the core, all else in units. */
static bool counted_in_thousandths(const char *resource)
{
    return strcmp(resource, "cpu") == 0;
}

static void weigh(struct sl_engine *g, const char *resource, int64_t weight_nano)
{
    sl_expect(g, 0, usage_resource, .resource = sl_name_take(g, SL_INTERN_RESOURCE, resource, 0),
              .weight_nano = weight_nano, .thousandths = counted_in_thousandths(resource));
}

void sl_accounts_configure(struct sl_engine *g)
{
    SL_PRE(g != NULL);
    const struct sl_engine_settings *s = &g->settings;
    if (!s->policy.admission_fair_sharing) {
        return;
    }
    sl_tell(g, 0, usage, .half_life_ms = s->usage_half_life_ms,
            .sampling_ms = s->usage_sampling_ms);
    weigh(g, "cpu", SL_WEIGHT_ONE);
    for (size_t i = 0; i < s->usage_weight_count; i++) {
        weigh(g, s->usage_weight_resources[i], s->usage_weights_nano[i]);
    }
}

void sl_accounts_fini(struct sl_engine *g)
{
    SL_PRE(g != NULL);
    for (size_t i = 0; i < g->settings.usage_weight_count; i++) {
        weigh(g, g->settings.usage_weight_resources[i], SL_WEIGHT_ONE);
    }
}

/* --- one account ------------------------------------------------------------------------------ */

static struct sl_usage_amount from_nano(__int128 nano)
{
    bool over = nano / SL_USAGE_PARTS >= SL_USAGE_MAX;
    return (struct sl_usage_amount){over ? SL_USAGE_MAX : (int64_t)(nano / SL_USAGE_PARTS),
                                    over ? 0 : (uint32_t)(nano % SL_USAGE_PARTS)};
}

static __int128 to_nano(struct sl_usage_amount amount)
{
    return (__int128)amount.milli * SL_USAGE_PARTS + amount.parts;
}

static bool restore_one(struct sl_engine *g, const struct sl_local_queue *q,
                        sl_resource_id resource, struct sl_usage_amount amount, int64_t now_ms)
{
    return sl_call(g, now_ms, usage_restore, .account = q->account, .resource = resource,
                   .milli = amount.milli, .parts = amount.parts,
                   .sampled_ms = q->sampled_ms) == SL_OK;
}

/* False when there is nothing that an earlier run has kept. */
static bool restore(struct sl_engine *g, struct sl_local_queue *q, const struct sl_json *object,
                    int64_t now_ms)
{
    const struct sl_json *kept =
        sl_json_path(object, "status.fairSharing.admissionFairSharingStatus");
    int64_t at_ms = sl_clock_parse(sl_json_path_text(kept, "lastUpdate", ""));
    void *it = NULL;
    const char *resource;
    struct sl_json *value;
    q->sampled_ms = at_ms <= 0 || at_ms > now_ms ? now_ms : at_ms;
    bool any = false;
    while (sl_json_next(sl_json_get(kept, "consumedResources"), &it, &resource, &value)) {
        struct sl_quantity used = {0};
        if (sl_quantity_read(value, &used, NULL) == SL_CODE_OK && used.nano > 0) {
            sl_resource_id id = sl_name_take(g, SL_INTERN_RESOURCE, resource, now_ms);
            any = restore_one(g, q, id, from_nano(used.nano), now_ms) || any;
        }
    }
    return any;
}

/* What runs of a resource, in all flavors, where this is its first; 0 where it is not. */
static int64_t running_first_at(const struct sl_tally *t, uint32_t index)
{
    int64_t total = 0;
    for (uint32_t i = 0; i < t->usage_count; i++) {
        if (t->usages[i].resource != t->usages[index].resource) {
            continue;
        }
        if (i < index) {
            return 0;
        }
        int64_t more = t->usages[i].usage;
        total = more < SL_AMOUNT_MAX - total ? total + more : SL_AMOUNT_MAX;
    }
    return total;
}

/* Each amount is rounded, so that of a resource has to be one. */
static void sample(struct sl_engine *g, struct sl_local_queue *q, int64_t now_ms)
{
    struct sl_buf list = {0};
    for (uint32_t i = 0; i < q->tally.usage_count; i++) {
        int64_t running = running_first_at(&q->tally, i);
        if (running != 0) {
            sl_item_add(&list, request, .resource = q->tally.usages[i].resource, .amount = running);
        }
    }
    sl_expect(g, now_ms, usage_sample, .account = q->account, .cluster_queue = q->cluster_queue,
              .now_ms = now_ms, .list = &list);
    sl_buf_fini(&list);
    q->sampled_ms = now_ms;
    sl_touch_queue(g, q);
}

enum sl_code sl_accounts_take(struct sl_engine *g, struct sl_local_queue *q,
                              const struct sl_json *object, int64_t now_ms, struct sl_error *e)
{
    int64_t weight_nano;
    if (!g->settings.policy.admission_fair_sharing) {
        return SL_CODE_OK;
    }
    if (q->account == SL_NO_ID) {
        q->account = sl_name_take(g, SL_INTERN_ACCOUNT, q->key, now_ms);
        q->weight_nano = SL_WEIGHT_ONE;
        if (q->account == SL_NO_ID) {
            return SL_CODE_OK; /* more than can be held: its workloads are nobody's */
        }
        if (!restore(g, q, object, now_ms)) {
            sample(g, q, now_ms); /* from here on time counts */
        }
    }
    enum sl_code code = sl_rules_read_weight(object, &weight_nano, e);
    if (weight_nano != q->weight_nano) {
        q->weight_nano = weight_nano;
        sl_tell(g, now_ms, usage_weight, .account = q->account, .cluster_queue = q->cluster_queue,
                .nano = weight_nano);
    }
    return code;
}

void sl_accounts_drop(struct sl_engine *g, struct sl_local_queue *q, int64_t now_ms)
{
    SL_PRE(q != NULL);
    if (q->account != SL_NO_ID) {
        sl_tell(g, now_ms, usage_close, .account = q->account);
        sl_intern_drop(g->names, SL_INTERN_ACCOUNT, q->account);
        q->account = SL_NO_ID;
    }
}

void sl_accounts_assign(struct sl_engine *g, sl_workload_id id, int64_t now_ms)
{
    SL_PRE(g != NULL);
    sl_account_id account = g->workloads[id].queue->account;
    if (sl_usage_account_of(id) != account) {
        sl_tell(g, now_ms, usage_account, .workload = id, .account = account);
    }
}

/* --- all of them ------------------------------------------------------------------------------ */

void sl_accounts_sample(struct sl_engine *g, int64_t now_ms)
{
    size_t cursor = 0;
    const char *key;
    union sl_map_value value;
    if (!g->settings.policy.admission_fair_sharing || g->settings.usage_sampling_ms <= 0) {
        return;
    }
    while (sl_map_next(g->local_queues, &cursor, &key, &value)) {
        struct sl_local_queue *q = value.pointer;
        if (q->account != SL_NO_ID) {
            sample(g, q, now_ms);
        }
    }
    sl_timers_arm(&g->timers, now_ms + g->settings.usage_sampling_ms, SL_TIMER_SAMPLE, 0, 0);
}

/* Nothing of each resource of its ClusterQueue: one that has used nothing yet says so. */
static struct sl_json *no_use_new(const struct sl_engine *g, const struct sl_local_queue *q)
{
    struct sl_json *none = sl_json_new_map();
    const struct sl_quotas *quotas =
        q->cluster_queue == SL_NO_ID ? NULL : &g->qnodes[q->cluster_queue]->quotas;
    for (uint32_t i = 0; quotas != NULL && i < quotas->quota_count; i++) {
        sl_json_set_text(
            none, sl_intern_name(g->names, SL_INTERN_RESOURCE, quotas->quotas[i].resource), "0");
    }
    return none;
}

struct sl_json *sl_accounts_status_new(const struct sl_engine *g, const struct sl_local_queue *q)
{
    SL_PRE(q != NULL);
    char text[64];
    if (q->account == SL_NO_ID) {
        return NULL;
    }
    struct sl_json *status = sl_json_new_map();
    struct sl_json *kept = sl_json_path_make(status, "admissionFairSharingStatus");
    struct sl_json *consumed = no_use_new(g, q);
    uint32_t resources = sl_intern_count(g->names, SL_INTERN_RESOURCE);
    for (sl_resource_id r = 0; r < resources; r++) {
        struct sl_quantity used = {to_nano(sl_usage_consumed(q->account, r)),
                                   SL_QUANTITY_DECIMAL_SI};
        if (used.nano > 0) {
            sl_quantity_print(used, text);
            sl_json_set_text(consumed, sl_intern_name(g->names, SL_INTERN_RESOURCE, r), text);
        }
    }
    sl_json_set_int(status, "weightedShare", 0);
    sl_json_set(kept, "consumedResources", consumed);
    sl_clock_format(q->sampled_ms, text);
    sl_json_set_text(kept, "lastUpdate", text);
    return status;
}
