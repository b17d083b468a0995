/* SPDX-License-Identifier: Apache-2.0
 * SPDX-FileCopyrightText: The Sluice authors */

/* What goes from variants to their parent, and back. Whose turn it is policy says (verdicts/variants.h). */
#include "api/kinds/variant.h"
#include "base/clock.h"
#include "controllers/variants/family.h"
#include "policy/verdicts/variants.h"
#include <stdio.h>
#include <string.h>

static bool is(const struct sl_json *wl, const char *condition)
{
    return sl_condition_true(wl, condition);
}

static const char *reason_of(const struct sl_json *wl, const char *condition)
{
    return sl_json_path_text(sl_condition_find(wl, condition), "reason", "");
}

static bool is_active(const struct sl_json *wl)
{
    return sl_json_path_bool(wl, "spec.active", true);
}

/* What may be written: a copy of it, with a status. */
static struct sl_json *copy_new(const struct sl_json *wl, struct sl_json **status)
{
    struct sl_json *o = sl_json_clone(wl);
    *status = sl_json_path_make(o, "status");
    return o;
}

static void write_status(struct sl_family *f, struct sl_json *o)
{
    sl_reconciler_write_status(f->r, SL_KIND_WORKLOAD, o);
    sl_json_free(o);
}

static void set(struct sl_family *f, struct sl_json *o, const char *type, bool value,
                const char *reason, const char *message)
{
    (void)sl_condition_set(sl_json_get(o, "status"), type, value, reason, message,
                           sl_object_generation(o), f->now_ms);
}

static void write_active(struct sl_family *f, struct sl_json *wl, bool active, const char *why)
{
    struct sl_json *patch = sl_json_new_map();
    sl_json_set_bool(sl_json_path_make(patch, "spec"), "active", active);
    struct sl_note note = {.kind = SL_KIND_WORKLOAD,
                           .about = wl,
                           .reason = active ? "ActivatedVariant" : "DeactivatedVariant"};
    (void)snprintf(note.message, sizeof note.message, "Variant Workload %s due to %.300s",
                   active ? "activated" : "deactivated", why);
    struct sl_write w = sl_reconciler_write_of(SL_VERB_PATCH_MERGE, SL_KIND_WORKLOAD, wl, patch);
    sl_reconciler_write(f->r, &w, &note);
    sl_json_free(patch);
}

/* --- what policy is asked about --------------------------------------------------------------- */

static const struct sl_json *gate_of(const struct sl_json *wl)
{
    return sl_json_find_by(sl_json_path(wl, "status.preemptionGates"), "name", SL_VARIANT_GATE);
}

static struct sl_variant_sight sight_of(const struct sl_json *wl)
{
    const struct sl_json *gate = gate_of(wl);
    bool rejected = strcmp(reason_of(wl, "Evicted"), "DeactivatedDueToAdmissionCheck") == 0;
    return (struct sl_variant_sight){
        .active = is_active(wl),
        .given_up = rejected && is(wl, "Evicted") && !is_active(wl),
        .admitted = is(wl, "Admitted"),
        .waits = is_active(wl) && !is(wl, "QuotaReserved") && !is(wl, "Finished"),
        .tried = sl_condition_find(wl, "QuotaReserved") != NULL,
        .gated = is(wl, "BlockedOnPreemptionGates"),
        .open = strcmp(sl_json_path_text(gate, "position", "Closed"), "Open") == 0,
        .opened_ms = sl_clock_parse(sl_json_path_text(gate, "lastTransitionTime", ""))};
}

/* Of all flavors; all have a variant by now. */
static void see(const struct sl_family *f)
{
    sl_variant_sight_count = 0;
    for (size_t i = 0; i < f->flavor_count && i < SL_VARIANT_SIGHTS_MAX; i++) {
        sl_variant_sights[sl_variant_sight_count++] =
            f->variants[i] == NULL ? (struct sl_variant_sight){0} : sight_of(f->variants[i]);
    }
}

static struct sl_json *admitted_of(const struct sl_family *f)
{
    see(f);
    uint32_t index = sl_variants_admitted();
    return index == SL_NO_ID ? NULL : f->variants[index];
}

/* Variants of earlier flavors than this one may take the place of the one that is admitted. */
static uint32_t limit_of(const struct sl_family *f)
{
    static const char migration[] = "spec.concurrentAdmissionPolicy.migration";
    const struct sl_json *m = sl_json_path(f->cluster_queue, migration);
    const char *last = sl_json_path_text(m, "constraints.lastAcceptableFlavorName", "");
    if (strcmp(sl_json_path_text(m, "mode", ""), "RetainFirstAdmission") == 0) {
        return 0;
    }
    for (size_t i = 0; i < f->flavor_count; i++) {
        if (strcmp(f->flavors[i], last) == 0) {
            return (uint32_t)i + 1;
        }
    }
    return SL_NO_ID;
}

/* --- evictions -------------------------------------------------------------------------------- */

static bool evict_parent(struct sl_family *f, const char *reason, const char *message)
{
    struct sl_json *status;
    struct sl_json *o = copy_new(f->parent, &status);
    set(f, o, "Evicted", true, reason, message);
    if (is(f->parent, "PodsReady")) {
        set(f, o, "PodsReady", false, "WaitForStart", "Not all pods are ready or succeeded");
    }
    write_status(f, o);
    return true;
}

/* The job stops first: then its parent has no quota any more, and the variant gives back its own. */
bool sl_family_pass_eviction(struct sl_family *f)
{
    for (size_t i = 0; i < f->flavor_count; i++) {
        struct sl_json *v = f->variants[i];
        if (v == NULL || !is(v, "Evicted") || !is(v, "QuotaReserved")) {
            continue;
        }
        if (!is(f->parent, "QuotaReserved")) {
            sl_engine_job_stopped(f->engine, v, f->now_ms);
            return false;
        }
        return is(f->parent, "Evicted") ||
               evict_parent(f, "VariantEvicted", "Admitted variant was evicted");
    }
    return false;
}

/* --- on and off ------------------------------------------------------------------------------- */

/* Ended by a rule that is about the job, and not about one flavor: so is the whole. */
static bool give_up(struct sl_family *f)
{
    for (size_t i = 0; i < f->flavor_count && is_active(f->parent); i++) {
        const char *reason = reason_of(f->variants[i], "Evicted");
        bool ended = strcmp(reason, "DeactivatedDueToRequeuingLimitExceeded") == 0 ||
                     strcmp(reason, "DeactivatedDueToMaximumExecutionTimeExceeded") == 0;
        if (ended && is(f->variants[i], "Evicted") && !is_active(f->variants[i])) {
            write_active(f, f->parent, false, "the end of its variant");
            return true;
        }
    }
    return false;
}

bool sl_family_switch(struct sl_family *f)
{
    bool written = false;
    bool parent_active = is_active(f->parent);
    if (is(f->parent, "Finished")) {
        return false;
    }
    if (give_up(f)) {
        return true;
    }
    const struct sl_json *admitted = admitted_of(f);
    const char *why = !parent_active     ? "its parent Workload not being active"
                      : admitted == NULL ? "no other variant being admitted"
                                         : sl_object_name(admitted);
    for (uint32_t i = 0; i < sl_variant_sight_count; i++) {
        bool wanted = sl_variants_is_wanted(i, parent_active, limit_of(f));
        if (f->variants[i] != NULL && wanted != sl_variant_sights[i].active &&
            !(wanted == false && sl_variant_sights[i].given_up)) {
            write_active(f, f->variants[i], wanted, why);
            written = true;
        }
    }
    return written;
}

/* --- the parent's status ---------------------------------------------------------------------- */

static bool finish_variants(struct sl_family *f)
{
    const struct sl_json *c = sl_condition_find(f->parent, "Finished");
    bool written = false;
    for (size_t i = 0; i < f->flavor_count; i++) {
        if (f->variants[i] == NULL || is(f->variants[i], "Finished")) {
            continue;
        }
        struct sl_json *status;
        struct sl_json *o = copy_new(f->variants[i], &status);
        set(f, o, "Finished", true, sl_json_path_text(c, "reason", "Succeeded"),
            sl_json_path_text(c, "message", ""));
        write_status(f, o);
        written = true;
    }
    return written;
}

/* What the job says of its pods. */
static bool pass_pods_ready(struct sl_family *f, const struct sl_json *variant)
{
    const struct sl_json *says = sl_condition_find(f->parent, "PodsReady");
    const struct sl_json *has = sl_condition_find(variant, "PodsReady");
    const char *value = sl_json_path_text(says, "status", "");
    if (says == NULL || (strcmp(value, sl_json_path_text(has, "status", "")) == 0 &&
                         strcmp(sl_json_path_text(says, "reason", ""),
                                sl_json_path_text(has, "reason", "")) == 0)) {
        return false;
    }
    struct sl_json *status;
    struct sl_json *o = copy_new(variant, &status);
    set(f, o, "PodsReady", strcmp(value, "True") == 0, sl_json_path_text(says, "reason", ""),
        sl_json_path_text(says, "message", ""));
    write_status(f, o);
    return true;
}

/* Pods that have ended and are not needed again. */
static bool pass_reclaimable(struct sl_family *f, const struct sl_json *variant)
{
    static const char path[] = "status.reclaimablePods";
    const struct sl_json *says = sl_json_path(f->parent, path);
    if (says == NULL || sl_json_equal(says, sl_json_path(variant, path))) {
        return false;
    }
    struct sl_json *status;
    struct sl_json *o = copy_new(variant, &status);
    sl_json_set(status, "reclaimablePods", sl_json_clone(says));
    write_status(f, o);
    return true;
}

/* What the job is started with: flavors, nodes, and what the checks add to its pods. False: the status has it already. */
static bool copy_admission(struct sl_json *status, const struct sl_json *variant)
{
    static const char *const fields[] = {"admission", "admissionChecks"};
    bool changed = false;
    for (size_t i = 0; i < sizeof fields / sizeof fields[0]; i++) {
        const struct sl_json *now = sl_json_get(sl_json_get(variant, "status"), fields[i]);
        if (now != NULL && !sl_json_equal(now, sl_json_get(status, fields[i]))) {
            sl_json_set(status, fields[i], sl_json_clone(now));
            changed = true;
        }
    }
    return changed;
}

/* Nodes that have failed were replaced, as the variant says. */
static bool renew_admission(struct sl_family *f, const struct sl_json *variant)
{
    struct sl_json *status;
    struct sl_json *o = copy_new(f->parent, &status);
    if (!copy_admission(status, variant)) {
        sl_json_free(o);
        return false;
    }
    write_status(f, o);
    return true;
}

static bool admit_parent(struct sl_family *f, const struct sl_json *variant)
{
    struct sl_json *status;
    struct sl_json *o = copy_new(f->parent, &status);
    char text[400];
    (void)copy_admission(status, variant);
    (void)snprintf(text, sizeof text, "Quota reserved in ClusterQueue %.253s",
                   sl_json_path_text(variant, "status.admission.clusterQueue", ""));
    set(f, o, "QuotaReserved", true, "QuotaReserved", text);
    (void)snprintf(text, sizeof text, "The variant %.253s is admitted", sl_object_name(variant));
    set(f, o, "Admitted", true, "Admitted", text);
    if (sl_condition_find(f->parent, "Evicted") != NULL) {
        (void)snprintf(text, sizeof text, "Previously: %.300s",
                       sl_json_path_text(sl_condition_find(f->parent, "Evicted"), "message", ""));
        set(f, o, "Evicted", false, "QuotaReserved", text);
    }
    write_status(f, o);
    return true;
}

bool sl_family_pass_status(struct sl_family *f)
{
    const struct sl_json *variant = admitted_of(f);
    if (is(f->parent, "Finished")) {
        return finish_variants(f);
    }
    if (variant == NULL) {
        return is(f->parent, "Admitted") && !is(f->parent, "Evicted") &&
               evict_parent(f, "ConcurrentAdmission", "No variant is running");
    }
    if (is(variant, "Evicted")) {
        return false;
    }
    if (is(f->parent, "QuotaReserved")) {
        return !is(f->parent, "Evicted") &&
               (renew_admission(f, variant) || pass_reclaimable(f, variant) ||
                pass_pods_ready(f, variant));
    }
    return admit_parent(f, variant);
}

/* --- gates ------------------------------------------------------------------------------------ */

bool sl_family_open_gate(struct sl_family *f)
{
    see(f);
    int64_t wait_ms = sl_variants_gate_wait_ms(f->now_ms);
    uint32_t index = sl_variants_to_open(f->now_ms);
    if (wait_ms > 0) {
        sl_work_add(f->r->work, f->r->current, f->now_ms + wait_ms);
    }
    if (index == SL_NO_ID) {
        return false;
    }
    char time[32];
    struct sl_json *status;
    struct sl_json *o = copy_new(f->variants[index], &status);
    if (sl_json_get(status, "preemptionGates") == NULL) {
        sl_json_set(status, "preemptionGates", sl_json_new_list());
    }
    struct sl_json *gate = sl_json_new_map();
    struct sl_json *gates = sl_json_get(status, "preemptionGates");
    sl_clock_format(f->now_ms, time);
    sl_json_set_text(gate, "name", SL_VARIANT_GATE);
    sl_json_set_text(gate, "position", "Open");
    sl_json_set_text(gate, "lastTransitionTime", time);
    struct sl_json *rest = sl_json_new_list();
    for (size_t i = 0; i < sl_json_len(gates); i++) {
        if (strcmp(sl_json_path_text(sl_json_at(gates, i), "name", ""), SL_VARIANT_GATE) != 0) {
            sl_json_append(rest, sl_json_clone(sl_json_at(gates, i)));
        }
    }
    sl_json_append(rest, gate);
    sl_json_set(status, "preemptionGates", rest);
    struct sl_note note = {.kind = SL_KIND_WORKLOAD,
                           .about = f->variants[index],
                           .reason = "PreemptionUngatedVariant"};
    (void)snprintf(note.message, sizeof note.message,
                   "Opened preemption gate for variant workload \"%.300s\"", sl_object_name(o));
    struct sl_write w = sl_reconciler_write_of(SL_VERB_UPDATE_STATUS, SL_KIND_WORKLOAD, o, o);
    sl_reconciler_write(f->r, &w, &note);
    sl_json_free(o);
    sl_work_add(f->r->work, f->r->current, f->now_ms + SL_VARIANT_GATE_MS);
    return true;
}
