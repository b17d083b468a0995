/* SPDX-License-Identifier: Apache-2.0
 * SPDX-FileCopyrightText: The Sluice authors */

#include "fuzz/lib/slicelaw.h"
#include "base/map.h"
#include "controllers/jobs/job.h"
#include "controllers/jobs/podjob.h"
#include "controllers/work/slices.h"
#include "fuzz/lib/shelf.h"
#include <stdio.h>
#include <string.h>

/* --- slices ------------------------------------------------------------------------------------- */

bool slicelaw_is_of(const struct sl_json *job)
{
    return sl_is_elastic(job) && sl_job_prebuilt(job) == NULL;
}

static bool has_owner(const struct sl_json *o, const char *uid)
{
    return uid[0] != '\0' &&
           strcmp(sl_json_path_text(sl_object_controller_ref(o), "uid", ""), uid) == 0;
}

static const char *owner_of(const struct sl_json *o)
{
    return sl_json_path_text(sl_object_controller_ref(o), "uid", "");
}

static bool has_quota(const struct sl_json *wl)
{
    return sl_condition_true(wl, "QuotaReserved");
}

static bool goes(const struct sl_json *wl)
{
    return sl_condition_true(wl, "Evicted");
}

static bool is_over(const struct sl_json *wl)
{
    return sl_condition_true(wl, "Finished");
}

/* Has another one of the same job quota in its place? */
static bool is_replaced(const struct sl_json *wl)
{
    size_t cursor = 0;
    bool found = false;
    for (const struct sl_json *o; (o = shelf_next_known(SL_KIND_WORKLOAD, &cursor)) != NULL;) {
        found = found || (!is_over(o) && !goes(o) && has_quota(o) && sl_slice_replaces(o, wl) &&
                          has_owner(o, owner_of(wl)));
    }
    return found;
}

/* How much it is the one by which its job runs. */
static int rank(const struct sl_json *wl)
{
    if (is_over(wl)) {
        return 1;
    }
    if (has_quota(wl) && goes(wl)) {
        return 4;
    }
    if (has_quota(wl)) {
        return is_replaced(wl) ? 2 : 5;
    }
    return goes(wl) ? 2 : 3;
}

/* Of that owner. */
static const struct sl_json *slice_of(const char *uid)
{
    size_t cursor = 0;
    const struct sl_json *best = NULL;
    for (const struct sl_json *o; (o = shelf_next_known(SL_KIND_WORKLOAD, &cursor)) != NULL;) {
        if (has_owner(o, uid) && (best == NULL || rank(o) > rank(best))) {
            best = o;
        }
    }
    return best;
}

const struct sl_json *slicelaw_slice(const struct sl_json *job)
{
    return slice_of(sl_object_uid(job));
}

const struct sl_json *slicelaw_next(const struct sl_json *job)
{
    size_t cursor = 0;
    const struct sl_json *holder = slicelaw_slice(job), *next = NULL;
    for (const struct sl_json *o; (o = shelf_next_known(SL_KIND_WORKLOAD, &cursor)) != NULL;) {
        bool waits =
            has_owner(o, sl_object_uid(job)) && !is_over(o) && !has_quota(o) && o != holder;
        next = waits && sl_slice_replaces(o, holder) ? o : next;
    }
    return next;
}

bool slicelaw_goes_on(const struct sl_json *wl)
{
    return has_quota(wl) && !goes(wl) && !is_over(wl) && !sl_object_deleting(wl) &&
           sl_object_annotation(wl, SL_ANNOTATION_REPLACES) != NULL;
}

/* How many pods it has quota for. */
static int64_t held_by(const struct sl_json *wl)
{
    int64_t asked = sl_json_path_int(wl, "spec.podSets.0.count", 0);
    int64_t got = sl_json_path_int(wl, "status.admission.podSetAssignments.0.count", asked);
    return !has_quota(wl) ? 0 : got < asked ? got : asked;
}

/* --- with each write ---------------------------------------------------------------------------- */

static struct sl_map *heirs; /* "namespace/name" of slices in whose place another had quota */

void slicelaw_forget(void)
{
    sl_map_free(heirs);
    heirs = NULL;
}

/* Whoever has no quota and goes on is the one that waits: there is none beside the new one. */
const char *slicelaw_made(const struct sl_json *wl)
{
    size_t cursor = 0;
    bool names_one = sl_object_annotation(wl, SL_ANNOTATION_REPLACES) == NULL;
    for (const struct sl_json *o; (o = shelf_next_known(SL_KIND_WORKLOAD, &cursor)) != NULL;) {
        bool other = has_owner(o, owner_of(wl)) &&
                     strcmp(sl_object_uid(o), sl_object_uid(wl)) != 0 && !is_over(o) &&
                     !sl_object_deleting(o);
        names_one = names_one || (other && sl_slice_replaces(wl, o));
        if (other && !has_quota(o)) {
            return "a second slice that waits";
        }
        if (other && !sl_slice_replaces(wl, o) && !is_replaced(o)) {
            return "a slice beside one that it does not replace";
        }
    }
    return names_one ? NULL : "a slice that is to replace none of its job";
}

const char *slicelaw_changed(const struct sl_json *before, const struct sl_json *after)
{
    char key[600];
    union sl_map_value unused;
    const char *names = sl_object_annotation(after, SL_ANNOTATION_REPLACES);
    if (!sl_is_elastic(after)) {
        return NULL;
    }
    if (has_quota(after) && names != NULL) {
        heirs = heirs == NULL ? sl_map_new() : heirs;
        sl_map_put(heirs, names, (union sl_map_value){.number = 1});
    }
    (void)snprintf(key, sizeof key, "%s/%s", sl_object_namespace(after), sl_object_name(after));
    const char *reason = sl_json_path_text(sl_condition_find(after, "Finished"), "reason", "");
    bool replaced = !is_over(before) && is_over(after) && has_quota(before) && !goes(before) &&
                    strcmp(reason, SL_REASON_REPLACED) == 0;
    return replaced && (heirs == NULL || !sl_map_get(heirs, key, &unused))
               ? "replaced by a slice that never had quota"
               : NULL;
}

static bool is_live(const struct sl_json *pod)
{
    return !sl_podjob_ended(pod);
}

static bool is_open(const struct sl_json *pod)
{
    return !sl_template_has_gate(pod, SL_GATE_ELASTIC);
}

struct pods {
    int64_t open, gated;
};

static struct pods pods_of(const char *uid)
{
    size_t cursor = 0;
    struct pods n = {0};
    for (const struct sl_json *o; (o = shelf_next(SL_KIND_POD, &cursor)) != NULL;) {
        bool counts = has_owner(o, uid) && is_live(o);
        n.open += counts && is_open(o);
        n.gated += counts && !is_open(o);
    }
    return n;
}

const char *slicelaw_let_in(const struct sl_json *before, const struct sl_json *after)
{
    if (is_open(before) || !is_open(after)) {
        return NULL;
    }
    const struct sl_json *wl = slice_of(owner_of(after));
    if (wl == NULL || !sl_condition_true(wl, "Admitted") || goes(wl) || is_over(wl)) {
        return "let in, and no slice lets it run";
    }
    return pods_of(owner_of(after)).open > held_by(wl) ? "more pods let in than have quota" : NULL;
}

/* --- at rest ------------------------------------------------------------------------------------ */

static const char *check_pods(const struct sl_json *job, const struct sl_json *holder)
{
    struct pods n = pods_of(sl_object_uid(job));
    int64_t held = holder == NULL ? 0 : held_by(holder);
    if (n.open > held) {
        return "more pods have passed their gate than have quota";
    }
    return n.gated > 0 && n.open < held && sl_condition_true(holder, "Admitted")
               ? "pods are at their gate that have quota"
               : NULL;
}

/* For so many it needs no other: those that have ended were given back before it got its quota, or are given back now. */
static int64_t does_for(const struct sl_json *wl)
{
    int64_t asked = sl_json_path_int(wl, "spec.podSets.0.count", 0);
    int64_t most = held_by(wl) + sl_json_path_int(wl, "status.reclaimablePods.0.count", 0);
    return most < asked ? most : asked;
}

/* It has what it asks for, or one slice waits for that. */
static const char *check_size(const struct sl_json *job, const struct sl_json *holder,
                              const struct sl_json *waits)
{
    int64_t has = does_for(holder), wants = sl_job_pods(job);
    if (waits != NULL && !sl_slice_replaces(waits, holder)) {
        return "a slice waits for the place of one that does not hold it";
    }
    if (has > wants) {
        return "holds quota for more pods than its job has";
    }
    if (has == wants) {
        return waits == NULL ? NULL : "a slice waits that its job does not need";
    }
    return waits != NULL ? NULL : "its job has grown, and no slice asks for that";
}

const char *slicelaw_at_rest(const struct sl_json *job)
{
    size_t cursor = 0;
    unsigned holders = 0, waiters = 0;
    const struct sl_json *holder = NULL, *waits = NULL;
    for (const struct sl_json *o; (o = shelf_next(SL_KIND_WORKLOAD, &cursor)) != NULL;) {
        if (!has_owner(o, sl_object_uid(job)) || is_over(o) || sl_object_deleting(o)) {
            continue;
        }
        holder = has_quota(o) ? o : holder;
        waits = has_quota(o) ? waits : o;
        holders += has_quota(o);
        waiters += !has_quota(o);
    }
    if (holders > 1 || waiters > 1) {
        return holders > 1 ? "two slices of one job hold quota" : "two slices of one job wait";
    }
    const char *rule = holder == NULL ? NULL : check_size(job, holder, waits);
    return rule != NULL ? rule : check_pods(job, holder);
}

const char *slicelaw_at_end(const struct sl_json *job)
{
    size_t cursor = 0;
    for (const struct sl_json *o; (o = shelf_next(SL_KIND_WORKLOAD, &cursor)) != NULL;) {
        if (has_owner(o, sl_object_uid(job)) && (!is_over(o) || sl_workload_has_finalizer(o))) {
            return "its job has finished, and a slice is left";
        }
    }
    return pods_of(sl_object_uid(job)).open + pods_of(sl_object_uid(job)).gated > 0
               ? "its job has finished, and pods are left"
               : NULL;
}
