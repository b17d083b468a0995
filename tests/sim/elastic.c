/* SPDX-License-Identifier: Apache-2.0
 * SPDX-FileCopyrightText: The Sluice authors */

/* Users of elastic Jobs, and what every version of a slice has to say. */
#include "elastic.h"
#include "api/objects/quantity.h"
#include "controllers/cluster/pods.h"
#include "controllers/jobs/job.h"
#include "controllers/work/slices.h"
#include <stdio.h>
#include <string.h>

#define PODS_MAX 10u
#define FOR_EVER "1000000s"

/* --- making --------------------------------------------------------------------------------------- */

static bool has_fixed_places(const struct sl_json *job)
{
    const struct sl_json *notes = sl_json_path(job, "spec.template.metadata.annotations");
    return sl_json_has(notes, "kueue.x-k8s.io/podset-required-topology") ||
           sl_json_has(notes, "kueue.x-k8s.io/podset-preferred-topology") ||
           sl_json_has(notes, "kueue.x-k8s.io/podset-slice-required-topology");
}

/* So that there is room to grow. */
static void ask_for_little(struct sl_json *job, struct sim_chance *c)
{
    char text[32];
    (void)snprintf(text, sizeof text, "%um", 100 * (1 + sim_chance_below(c, 8)));
    struct sl_json *requests =
        sl_json_path(job, "spec.template.spec.containers.0.resources.requests");
    sl_json_set_text(requests, "cpu", text);
    if (sim_chance_of(c, 90)) { /* few queues have any */
        sl_json_remove(requests, "memory");
    }
}

void sim_elastic_make(const struct sim *s, struct sl_json *job, struct sim_chance *c, unsigned pods)
{
    struct sl_json *notes = sl_json_path_make(job, "metadata.annotations");
    bool takes = s->has_elastic && !has_fixed_places(job) &&
                 !sl_json_has(notes, "kueue.x-k8s.io/job-min-parallelism");
    if (!takes || !sim_chance_of(c, 60)) {
        return;
    }
    sl_json_set_text(notes, SL_ANNOTATION_ELASTIC, "true");
    ask_for_little(job, c);
    if (!sl_job_indexed(job)) { /* it may grow without having more to do */
        sl_json_set_int(sl_json_path(job, "spec"), "completions",
                        pods + sim_chance_below(c, PODS_MAX));
    }
    if (s->has_topology && sim_chance_of(c, 30)) { /* then it has pods */
        sl_json_set_text(sl_json_path_make(job, "spec.template.metadata.annotations"),
                         "kueue.x-k8s.io/podset-unconstrained-topology", "true");
    }
    if (sim_chance_of(c, 25)) {
        sl_json_set_text(notes, "sluice.dev/run-for", FOR_EVER);
        sl_json_remove(sl_json_path(job, "metadata.labels"),
                       "kueue.x-k8s.io/max-exec-time-seconds");
    }
    sim_tally(SIM_TALLY_ELASTIC_JOBS);
}

/* --- changing ------------------------------------------------------------------------------------- */

static bool has_ended(const struct sl_json *job)
{
    bool success;
    const char *message;
    return sl_job_finished(job, &success, &message) || sl_object_deleting(job);
}

/* An elastic Job that has not ended, the caller's; NULL = there is none. Those that run are what most is done to. */
static struct sl_json *pick(struct sim *s, struct sim_chance *c)
{
    uint32_t count = 0;
    bool any = sim_chance_of(c, 30);
    struct sl_json *found = NULL;
    struct sl_json *list = sim_list(s, SL_KIND_JOB);
    for (size_t i = 0; i < sl_json_len(list); i++) {
        struct sl_json *job = sl_json_at(list, i);
        if (sl_is_elastic(job) && !has_ended(job) && (any || !sl_job_suspended(job)) &&
            sim_chance_below(c, ++count) == 0) {
            sl_json_free(found);
            found = sl_json_ref(job);
        }
    }
    sl_json_free(list);
    return found;
}

/* By a few pods or by many; rarely to none at all. */
static void scale(struct sim *s, const struct sl_json *job, struct sim_chance *c)
{
    int64_t now = sl_json_path_int(job, "spec.parallelism", 1);
    int64_t few = 1 + sim_chance_below(c, 2);
    int64_t pods = sim_chance_of(c, 70)  ? now + (sim_chance_of(c, 65) ? few : -few)
                   : sim_chance_of(c, 4) ? 0
                                         : 1 + (int64_t)sim_chance_below(c, PODS_MAX);
    pods = pods < 0 ? 0 : pods;
    struct sl_json *patch = sl_json_new_map();
    struct sl_json *spec = sl_json_path_make(patch, "spec");
    sl_json_set_int(spec, "parallelism", pods);
    if (sl_job_indexed(job)) {
        sl_json_set_int(spec, "completions", pods);
    }
    if (sl_job_has_pods(job)) { /* those that are made from now on */
        sl_json_set_text(sl_json_path_make(patch, "metadata.annotations"), "sluice.dev/run-for",
                         sim_chance_of(c, 50) ? "20s" : FOR_EVER);
    }
    sim_tally(pods > now ? SIM_TALLY_JOBS_GROWN : SIM_TALLY_JOBS_SHRUNK);
    (void)sim_patch(s, SL_KIND_JOB, job, false, patch);
}

static void suspend(struct sim *s, const struct sl_json *job)
{
    struct sl_json *patch = sl_json_new_map();
    sl_json_set(sl_json_path_make(patch, "spec"), "suspend", sl_json_new_bool(true));
    (void)sim_patch(s, SL_KIND_JOB, job, false, patch);
}

bool sim_elastic_act(struct sim *s, enum sim_event_kind kind, struct sim_chance *c)
{
    bool ours = kind == SIM_JOB || kind == SIM_JOB_PRIORITY;
    if (!s->has_elastic || !ours || !sim_chance_of(c, 50)) {
        return false;
    }
    struct sl_json *job = pick(s, c);
    if (job == NULL) {
        return false;
    }
    if (sim_chance_of(c, 4)) {
        suspend(s, job);
    } else {
        scale(s, job, c);
    }
    sl_json_free(job);
    return true;
}

/* --- every version -------------------------------------------------------------------------------- */

static struct sl_map *reserved; /* slices that have been seen with quota, as "namespace/name" */
static struct sl_map *heirs;    /* slice -> the one that has been seen with quota in its place */

void sim_elastic_forget(void)
{
    sl_map_free(reserved);
    sl_map_free(heirs);
    reserved = NULL;
    heirs = NULL;
}

static int64_t milli(const struct sl_json *v)
{
    struct sl_quantity q;
    return v != NULL && sl_quantity_read(v, &q, NULL) == SL_CODE_OK ? sl_quantity_milli(q) : 0;
}

/* A slice uses what so many of its pods ask for. */
static void check_amounts(const struct sl_json *w)
{
    const struct sl_json *set = sl_json_at(sl_json_path(w, "spec.podSets"), 0);
    const struct sl_json *got =
        sl_json_at(sl_json_path(w, "status.admission.podSetAssignments"), 0);
    const struct sl_json *one = sl_json_path(set, "template.spec.containers.0.resources.requests");
    void *it = NULL;
    const char *resource;
    struct sl_json *usage;
    while (sl_json_next(sl_json_get(got, "resourceUsage"), &it, &resource, &usage)) {
        int64_t most = milli(sl_json_get(one, resource)) * sl_json_path_int(got, "count", 0);
        if (milli(usage) != most && strcmp(resource, "pods") != 0) {
            sim_story_violation("slice %s/%s holds %lldm of %s, its pods ask for %lldm",
                                sl_object_namespace(w), sl_object_name(w), (long long)milli(usage),
                                resource, (long long)most);
        }
    }
}

/* The daemon may have been started anew since. */
static bool is_there(struct sim *s, const char *old)
{
    bool found = false;
    struct sl_json *list = sim_list(s, SL_KIND_WORKLOAD);
    for (size_t i = 0; i < sl_json_len(list) && !found; i++) {
        const struct sl_json *w = sl_json_at(list, i);
        const char *names = sl_object_annotation(w, SL_ANNOTATION_REPLACES);
        found = names != NULL && strcmp(names, old) == 0 && sl_condition_true(w, "QuotaReserved");
    }
    sl_json_free(list);
    return found;
}

/* Its place is taken by one that has been seen with quota: its Job was never without in between. */
static void check_replaced(struct sim *s, const char *key, const struct sl_json *w)
{
    union sl_map_value unused;
    const struct sl_json *c = sl_condition_find(w, "Finished");
    bool replaced = sl_condition_true(w, "Finished") &&
                    strcmp(sl_json_path_text(c, "reason", ""), SL_REASON_REPLACED) == 0;
    bool held = reserved != NULL && sl_map_get(reserved, key, &unused);
    bool seen = heirs != NULL && sl_map_get(heirs, key, &unused);
    if (replaced && held && !seen && !is_there(s, key)) {
        sim_story_violation("slice %s held quota and was replaced by none that has any", key);
    }
    if (replaced && held) {
        sim_tally(SIM_TALLY_SLICES_REPLACED);
    }
}

static void note(struct sl_map **map, const char *key, bool on)
{
    *map = *map == NULL ? sl_map_new() : *map;
    if (on) {
        sl_map_put(*map, key, (union sl_map_value){.number = 1});
    } else {
        (void)sl_map_remove(*map, key, NULL);
    }
}

void sim_elastic_told(struct sim *s, const struct sl_json *w)
{
    char key[600];
    if (!s->has_elastic || !sl_is_elastic(w)) {
        return;
    }
    bool holds = sl_condition_true(w, "QuotaReserved");
    const char *old = sl_object_annotation(w, SL_ANNOTATION_REPLACES);
    (void)snprintf(key, sizeof key, "%s/%s", sl_object_namespace(w), sl_object_name(w));
    if (holds && old != NULL) {
        note(&heirs, old, true);
    }
    if (sl_condition_true(w, "Finished")) {
        check_replaced(s, key, w);
        note(&reserved, key, false);
    } else {
        note(&reserved, key, holds && !sl_condition_true(w, "Evicted"));
        check_amounts(w);
    }
}
