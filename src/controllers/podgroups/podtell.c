/* SPDX-License-Identifier: Apache-2.0
 * SPDX-FileCopyrightText: The Sluice authors */

/* What a Workload says of its pods: its owners, which pods have ended for good or need a
 * replacement, whether all are ready. */
#include "controllers/jobs/job_run.h"
#include "base/check.h"
#include "controllers/podgroups/podjob.h"
#include "controllers/podgroups/podlook.h"
#include <stdio.h>
#include <string.h>

static void write_status(struct sl_pod_look *l, struct sl_json *wl)
{
    sl_job_write(l->r, SL_VERB_UPDATE_STATUS, SL_KIND_WORKLOAD, wl, NULL);
    sl_json_free(wl);
}

bool sl_pod_look_serves(const struct sl_pod_look *l)
{
    SL_PRE(l != NULL);
    return l->group != NULL && sl_podjob_says(l->pods[0], SL_POD_GROUP_SERVING, "true");
}

bool sl_pod_look_owned_by(const struct sl_json *wl, const struct sl_json *pod)
{
    const struct sl_json *owners = sl_json_path(wl, "metadata.ownerReferences");
    for (size_t i = 0; i < sl_json_len(owners); i++) {
        if (strcmp(sl_json_path_text(sl_json_at(owners, i), "uid", ""), sl_object_uid(pod)) == 0) {
            return true;
        }
    }
    return false;
}

/* Owned by every pod, controlled by none; how many owners are new. */
size_t sl_pod_look_own_all(const struct sl_pod_look *l, struct sl_json *wl)
{
    size_t added = 0;
    struct sl_json *metadata = sl_json_path_make(wl, "metadata");
    if (sl_json_get(metadata, "ownerReferences") == NULL) {
        sl_json_set(metadata, "ownerReferences", sl_json_new_list());
    }
    for (size_t i = 0; i < l->count; i++) {
        if (sl_pod_look_owned_by(wl, l->pods[i])) {
            continue;
        }
        struct sl_json *owner = sl_json_new_map();
        sl_json_set_text(owner, "apiVersion", "v1");
        sl_json_set_text(owner, "kind", "Pod");
        sl_json_set_text(owner, "name", sl_object_name(l->pods[i]));
        sl_json_set_text(owner, "uid", sl_object_uid(l->pods[i]));
        sl_json_append(sl_json_get(metadata, "ownerReferences"), owner);
        added++;
    }
    return added;
}

static int64_t reclaimed_before(const struct sl_json *wl, const char *role)
{
    const struct sl_json *list = sl_json_path(wl, "status.reclaimablePods");
    for (size_t i = 0; i < sl_json_len(list); i++) {
        if (strcmp(sl_json_path_text(sl_json_at(list, i), "name", ""), role) == 0) {
            return sl_json_path_int(sl_json_at(list, i), "count", 0);
        }
    }
    return 0;
}

static int64_t succeeded_of(const struct sl_pod_look *l, const char *role)
{
    int64_t count = 0;
    for (size_t i = 0; i < l->count; i++) {
        char own[SL_ROLE_SIZE];
        sl_podjob_role(l->pods[i], own);
        count += sl_podjob_succeeded(l->pods[i]) && strcmp(own, role) == 0;
    }
    return count;
}

/* Pods that have succeeded need their quota no more; what was given back stays so. */
static bool set_reclaimable(const struct sl_pod_look *l, struct sl_json *status)
{
    const struct sl_json *sets = sl_json_path(l->wl, "spec.podSets");
    struct sl_json *list = sl_json_new_list();
    bool differs = false;
    for (size_t i = 0; i < sl_json_len(sets); i++) {
        const char *role = sl_json_path_text(sl_json_at(sets, i), "name", "");
        int64_t before = reclaimed_before(l->wl, role);
        int64_t now = succeeded_of(l, role);
        now = now < before ? before : now;
        differs = differs || now != before;
        if (now > 0) {
            struct sl_json *item = sl_json_new_map();
            sl_json_set_text(item, "name", role);
            sl_json_set_int(item, "count", now);
            sl_json_append(list, item);
        }
    }
    if (differs) {
        sl_json_set(status, "reclaimablePods", sl_json_ref(list));
    }
    sl_json_free(list);
    return differs;
}

static bool set_replacements(const struct sl_pod_look *l, struct sl_json *status)
{
    static const char type[] = "WaitingForReplacementPods";
    const struct sl_json *evicted = sl_condition_find(l->wl, "Evicted");
    bool waits = l->absent > 0;
    if (waits == sl_condition_true(l->wl, type) &&
        !(waits && sl_condition_true(l->wl, "Evicted"))) {
        return false;
    }
    if (!waits) {
        return sl_condition_set(status, type, false, "PodsReady", "No pods need replacement",
                                sl_object_generation(l->wl), l->now_ms);
    }
    bool by_eviction = sl_condition_true(l->wl, "Evicted");
    return sl_condition_set(status, type, true,
                            by_eviction ? sl_json_path_text(evicted, "reason", "Evicted")
                                        : "PodsFailed",
                            by_eviction ? sl_json_path_text(evicted, "message", "")
                                        : "Some Failed pods need replacement",
                            sl_object_generation(l->wl), l->now_ms);
}

/* True when something had to be written. */
bool sl_pod_look_tell_pods(struct sl_pod_look *l)
{
    SL_PRE(l != NULL);
    struct sl_json *o = sl_json_clone(l->wl);
    struct sl_json *status = sl_json_path_make(o, "status");
    bool differs = set_replacements(l, status);
    if (!sl_pod_look_serves(l) && sl_engine_reclaims(l->p->engine)) {
        differs = set_reclaimable(l, status) || differs;
    }
    if (!differs) {
        sl_json_free(o);
        return false;
    }
    write_status(l, o);
    return true;
}

static bool all_ready(const struct sl_pod_look *l)
{
    bool ready = l->group == NULL || (int64_t)l->count >= sl_podjob_total(l->pods[0]);
    for (size_t i = 0; i < l->count && ready; i++) {
        ready = sl_podjob_ready(l->pods[i]) || sl_podjob_succeeded(l->pods[i]);
    }
    return ready;
}

void sl_pod_look_tell_ready(struct sl_pod_look *l)
{
    SL_PRE(l != NULL);
    if (!sl_engine_waits_for_pods(l->p->engine)) {
        return;
    }
    struct sl_json *o = sl_job_readiness_new(l->wl, all_ready(l), l->now_ms);
    if (o != NULL) {
        write_status(l, o);
    }
}

/* The pods become owners of a prebuilt Workload. */
static bool own(const struct sl_pod_look *l, struct sl_json *wl)
{
    if (l->prebuilt == NULL || l->group != NULL || sl_object_controller_ref(wl) != NULL) {
        return false;
    }
    sl_framework_own(&sl_pod_framework, wl, l->pods[0]);
    sl_json_set_text(sl_json_path_make(wl, "metadata.labels"), SL_LABEL_JOB_UID,
                     sl_object_uid(l->pods[0]));
    return true;
}

static struct sl_note note_of_gates(const struct sl_pod_look *l)
{
    struct sl_note note = {.kind = SL_KIND_POD, .about = l->pods[0], .reason = "UpdatedWorkload"};
    const char *value = sl_object_annotation(l->pods[0], SL_ANNOTATION_GATED_BY);
    (void)snprintf(note.message, sizeof note.message, "Updated workload AdmissionGatedBy to \"%s\"",
                   value == NULL ? "" : value);
    return note;
}

static struct sl_note note_of_owners(const struct sl_pod_look *l, size_t owners)
{
    struct sl_note note = {
        .kind = SL_KIND_WORKLOAD, .about = l->wl, .reason = "OwnerReferencesAdded"};
    (void)snprintf(note.message, sizeof note.message, "Added %zu owner reference(s)", owners);
    return note;
}

/* Members that came later own it too, and the queue may change while nothing is reserved; true when that had to be
 * written. */
bool sl_pod_look_tell_spec(struct sl_pod_look *l)
{
    SL_PRE(l != NULL);
    const char *queue = sl_job_queue(l->pods[0]);
    struct sl_json *o = l->prebuilt == NULL ? sl_workload_with_gates_new(l->wl, l->pods[0]) : NULL;
    bool gates = o != NULL;
    o = gates ? o : sl_json_clone(l->wl);
    size_t owners = l->group != NULL ? sl_pod_look_own_all(l, o) : 0;
    bool differs = own(l, o) || gates || owners > 0;
    if (queue != NULL && !sl_condition_true(l->wl, "QuotaReserved") && !sl_pod_look_serves(l) &&
        l->prebuilt == NULL && strcmp(queue, sl_json_path_text(l->wl, "spec.queueName", "")) != 0) {
        sl_json_set_text(sl_json_path_make(o, "spec"), "queueName", queue);
        differs = true;
    }
    if (differs) {
        struct sl_note note = gates ? note_of_gates(l) : note_of_owners(l, owners);
        sl_job_write(l->r, SL_VERB_UPDATE, SL_KIND_WORKLOAD, o, gates || owners > 0 ? &note : NULL);
    }
    sl_json_free(o);
    return differs;
}
