/* SPDX-License-Identifier: Apache-2.0
 * SPDX-FileCopyrightText: The Sluice authors */

/* Texts of the API become enumerations here; where one is missing or not known, Kueue's default
 * stands (the API's validation has refused what is not known). */
#include "engine/records/rules.h"
#include "base/check.h"
#include "api/objects/quantity.h"
#include "base/mem.h"
#include "engine/calls/call.h"
#include "policy/fair/shares.h"
#include <string.h>

static bool says(const struct sl_json *object, const char *path, const char *text)
{
    return strcmp(sl_json_path_text(object, path, ""), text) == 0;
}

/* --- the order of tries ----------------------------------------------------------------------- */

static struct sl_rules read_rules(const struct sl_json *object)
{
    bool stop_at_preempt = says(object, "spec.flavorFungibility.whenCanPreempt", "MayStopSearch");
    return (struct sl_rules){
        .strategy = says(object, "spec.queueingStrategy", "StrictFIFO") ? SL_STRICT_FIFO
                                                                        : SL_BEST_EFFORT_FIFO,
        .when_can_borrow = says(object, "spec.flavorFungibility.whenCanBorrow", "TryNextFlavor")
                               ? SL_TRY_NEXT_FLAVOR
                               : SL_MAY_STOP_SEARCH,
        .when_can_preempt = stop_at_preempt ? SL_MAY_STOP_SEARCH : SL_TRY_NEXT_FLAVOR,
        .preference = says(object, "spec.flavorFungibility.preference", "PreemptionOverBorrowing")
                          ? SL_PREEMPTION_OVER_BORROWING
                          : SL_BORROWING_OVER_PREEMPTION};
}

bool sl_rules_read(const struct sl_engine *g, struct sl_qnode_entry *n,
                   const struct sl_json *object)
{
    SL_PRE(g != NULL && n != NULL);
    struct sl_rules fresh = read_rules(object);
    fresh.by_usage =
        g->settings.policy.admission_fair_sharing &&
        says(object, "spec.admissionScope.admissionMode", "UsageBasedAdmissionFairSharing");
    bool same = fresh.strategy == n->rules.strategy &&
                fresh.when_can_borrow == n->rules.when_can_borrow &&
                fresh.when_can_preempt == n->rules.when_can_preempt &&
                fresh.preference == n->rules.preference && fresh.by_usage == n->rules.by_usage;
    n->rules = fresh;
    return !same;
}

void sl_rules_default(struct sl_qnode_entry *n)
{
    SL_PRE(n != NULL);
    n->rules = read_rules(NULL);
    n->preemption = (struct sl_preempt_policy){0};
    n->weight_nano = SL_WEIGHT_ONE;
}

/* --- shares and preemption -------------------------------------------------------------------- */

static struct sl_preempt_policy read_preemption(const struct sl_json *object)
{
    static const char within[] = "spec.preemption.withinClusterQueue";
    static const char reclaim[] = "spec.preemption.reclaimWithinCohort";
    const struct sl_json *threshold =
        sl_json_path(object, "spec.preemption.borrowWithinCohort.maxPriorityThreshold");
    struct sl_preempt_policy p = {0};
    if (says(object, within, "LowerPriority")) {
        p.within = SL_WITHIN_LOWER_PRIORITY;
    } else if (says(object, within, "LowerOrNewerEqualPriority")) {
        p.within = SL_WITHIN_LOWER_OR_NEWER_EQUAL;
    }
    if (says(object, reclaim, "LowerPriority")) {
        p.reclaim = SL_RECLAIM_LOWER_PRIORITY;
    } else if (says(object, reclaim, "Any")) {
        p.reclaim = SL_RECLAIM_ANY;
    }
    p.borrow_within = says(object, "spec.preemption.borrowWithinCohort.policy", "LowerPriority");
    p.has_threshold = p.borrow_within && sl_json_type(threshold) == SL_JSON_INT;
    p.threshold = p.has_threshold ? (int32_t)sl_json_int(threshold, 0) : 0;
    return p;
}

static bool preemption_equal(const struct sl_preempt_policy *a, const struct sl_preempt_policy *b)
{
    return a->within == b->within && a->reclaim == b->reclaim &&
           a->borrow_within == b->borrow_within && a->has_threshold == b->has_threshold &&
           a->threshold == b->threshold;
}

enum sl_code sl_rules_read_weight(const struct sl_json *object, int64_t *out, struct sl_error *e)
{
    struct sl_quantity weight = {0};
    struct sl_error why = {0};
    const struct sl_json *v = sl_json_path(object, "spec.fairSharing.weight");
    *out = SL_WEIGHT_ONE;
    if (v == NULL || sl_json_type(v) == SL_JSON_NULL) {
        return SL_CODE_OK;
    }
    if (sl_quantity_read(v, &weight, &why) != SL_CODE_OK || weight.nano < 0) {
        sl_error_cause(e, "FieldValueInvalid", "spec.fairSharing.weight",
                       "must be a quantity of zero or more");
        return SL_CODE_INVALID;
    }
    *out = weight.nano > SL_AMOUNT_MAX ? SL_AMOUNT_MAX : (int64_t)weight.nano;
    return SL_CODE_OK;
}

static bool set_preemption(struct sl_engine *g, sl_qnode_id qnode, struct sl_preempt_policy p,
                           int64_t now_ms)
{
    struct sl_qnode_entry *n = g->qnodes[qnode];
    if (preemption_equal(&p, &n->preemption)) {
        return false;
    }
    n->preemption = p;
    return sl_call(g, now_ms, preemption, .cluster_queue = qnode, .policy = p) == SL_OK;
}

static bool set_weight(struct sl_engine *g, sl_qnode_id qnode, int64_t weight_nano, int64_t now_ms)
{
    struct sl_qnode_entry *n = g->qnodes[qnode];
    if (weight_nano == n->weight_nano) {
        return false;
    }
    n->weight_nano = weight_nano;
    return sl_call(g, now_ms, weight, .qnode = qnode, .nano = weight_nano) == SL_OK;
}

enum sl_code sl_rules_share(struct sl_engine *g, sl_qnode_id qnode, const struct sl_json *object,
                            int64_t now_ms, struct sl_error *e)
{
    SL_PRE(g != NULL);
    int64_t weight_nano;
    enum sl_code code = sl_rules_read_weight(object, &weight_nano, e);
    bool changed = g->qnodes[qnode]->is_cluster_queue &&
                   set_preemption(g, qnode, read_preemption(object), now_ms);
    changed = set_weight(g, qnode, weight_nano, now_ms) || changed;
    if (changed) {
        sl_tell(g, now_ms, wake_tree, .qnode = qnode);
    }
    return code;
}

/* --- admission checks ------------------------------------------------------------------------- */

void sl_rules_free_checks(struct sl_qnode_entry *n)
{
    SL_PRE(n != NULL);
    for (uint32_t i = 0; i < n->check_count; i++) {
        sl_mem_free(n->checks[i].flavors);
    }
    n->check_count = 0;
}

static bool rule_equal(const struct sl_check_rule *a, const struct sl_check_rule *b)
{
    return a->check == b->check && a->flavor_count == b->flavor_count &&
           (a->flavor_count == 0 ||
            memcmp(a->flavors, b->flavors, a->flavor_count * sizeof *a->flavors) == 0);
}

static struct sl_check_rule read_rule(struct sl_engine *g, const struct sl_json *item,
                                      int64_t now_ms)
{
    const struct sl_json *on = sl_json_get(item, "onFlavors");
    struct sl_check_rule rule = {
        .check = sl_name_take(g, SL_INTERN_CHECK, sl_json_path_text(item, "name", ""), now_ms)};
    rule.flavors = sl_mem_new(sl_json_len(on) + 1, sizeof *rule.flavors);
    for (size_t i = 0; i < sl_json_len(on); i++) {
        rule.flavors[rule.flavor_count++] =
            sl_name_take(g, SL_INTERN_FLAVOR, sl_json_text(sl_json_at(on, i), ""), now_ms);
    }
    return rule;
}

static bool rules_equal(const struct sl_qnode_entry *a, const struct sl_qnode_entry *b)
{
    bool same = a->check_count == b->check_count;
    for (uint32_t i = 0; same && i < a->check_count; i++) {
        same = rule_equal(&a->checks[i], &b->checks[i]);
    }
    return same;
}

enum sl_code sl_rules_read_checks(struct sl_engine *g, struct sl_qnode_entry *n,
                                  const struct sl_json *object, bool *changed, int64_t now_ms,
                                  struct sl_error *e)
{
    static const char field[] = "spec.admissionChecksStrategy.admissionChecks";
    const struct sl_json *list = sl_json_path(object, field);
    struct sl_qnode_entry fresh = {0};
    enum sl_code code = SL_CODE_OK;
    if (sl_json_len(list) > SL_CHECKS_MAX) {
        sl_error_cause(e, "FieldValueInvalid", field, "more than %u admission checks",
                       SL_CHECKS_MAX);
        code = SL_CODE_INVALID;
    }
    for (size_t i = 0; i < sl_json_len(list) && i < SL_CHECKS_MAX; i++) {
        fresh.checks[fresh.check_count++] = read_rule(g, sl_json_at(list, i), now_ms);
    }
    *changed = *changed || !rules_equal(n, &fresh);
    sl_rules_free_checks(n);
    memcpy(n->checks, fresh.checks, sizeof n->checks);
    n->check_count = fresh.check_count;
    return code;
}

static bool admits_any(const struct sl_admission *admission, const struct sl_check_rule *rule)
{
    for (uint32_t i = 0; i < admission->choice_count; i++) {
        for (uint32_t f = 0; f < rule->flavor_count; f++) {
            if (admission->choices[i].flavor == rule->flavors[f]) {
                return true;
            }
        }
    }
    return false;
}

bool sl_rules_ask(const struct sl_qnode_entry *n, sl_check_id check,
                  const struct sl_admission *admission)
{
    SL_PRE(n != NULL);
    for (uint32_t i = 0; i < n->check_count; i++) {
        const struct sl_check_rule *rule = &n->checks[i];
        if (rule->check == check) {
            return admission == NULL || rule->flavor_count == 0 || admits_any(admission, rule);
        }
    }
    return false;
}

bool sl_rules_by_flavor(const struct sl_qnode_entry *n, sl_check_id check)
{
    SL_PRE(n != NULL);
    for (uint32_t i = 0; i < n->check_count; i++) {
        if (n->checks[i].flavor_count > 0 && (check == SL_NO_ID || n->checks[i].check == check)) {
            return true;
        }
    }
    return false;
}
