/* SPDX-License-Identifier: Apache-2.0
 * SPDX-FileCopyrightText: The Sluice authors */

/* Pods at rest. A group that waits for pods holds its quota for as long as its user lets it, so users mend theirs or
 * give them up; then no pod runs, none is on its way out, and each that waits has a Workload to wait for. */
#include "controllers/jobs/podjob.h"
#include "pods.h"
#include <stdio.h>
#include <string.h>

static void complain(const struct sl_json *pod, const char *what)
{
    struct sl_buf text = {0};
    sl_json_print(pod, &text);
    sim_story_tell("rest", "%s", text.data);
    sim_story_violation("pod %s/%s %s at rest", sl_object_namespace(pod), sl_object_name(pod),
                        what);
}

/* --- what users do -------------------------------------------------------------------------------- */

static struct sl_json *get_workload(struct sim *s, const char *ns, const char *name)
{
    struct sl_json *w = NULL;
    (void)sl_store_get(s->store, SL_KIND_WORKLOAD, ns, name, &w, NULL);
    return w;
}

static void key_of_group(const char *ns, const char *group, char key[static 600])
{
    (void)snprintf(key, 600, "%s/%s", ns, group);
}

/* Retention takes the Workload away, and users some of the pods, and still the group was over. Until it gets another
 * Workload, the one it had last is what counts. */
void sim_pods_told(struct sim *s, const struct sl_json *w)
{
    char key[600];
    s->ended = s->ended == NULL ? sl_map_new() : s->ended;
    key_of_group(sl_object_namespace(w), sl_object_name(w), key);
    if (sl_condition_true(w, "Finished")) {
        sl_map_put(s->ended, key, (union sl_map_value){.number = 1});
    } else {
        (void)sl_map_remove(s->ended, key, NULL);
    }
}

static bool has_ended(const struct sim *s, const char *ns, const char *group)
{
    char key[600];
    union sl_map_value unused;
    key_of_group(ns, group, key);
    return s->ended != NULL && sl_map_get(s->ended, key, &unused);
}

static int64_t succeeded_of(const struct sl_json *pods, const char *group)
{
    int64_t succeeded = 0;
    for (size_t i = 0; i < sl_json_len(pods); i++) {
        const char *own = sl_podjob_group(sl_json_at(pods, i));
        succeeded +=
            own != NULL && strcmp(own, group) == 0 && sl_podjob_succeeded(sl_json_at(pods, i));
    }
    return succeeded;
}

/* Its group was over when it came, and its user has to see to it. */
static bool is_late(struct sim *s, const struct sl_json *pod, const struct sl_json *pods)
{
    const char *ns = sl_object_namespace(pod);
    const char *group = sl_podjob_group(pod);
    if (group == NULL) {
        return false;
    }
    struct sl_json *w = get_workload(s, ns, group);
    bool over = w == NULL
                    ? has_ended(s, ns, group) || succeeded_of(pods, group) == sl_podjob_total(pod)
                    : sl_condition_true(w, "Finished");
    sl_json_free(w);
    return over;
}

static bool is_first(const struct sl_json *pods, size_t at)
{
    const struct sl_json *pod = sl_json_at(pods, at);
    for (size_t i = 0; i < at; i++) {
        const char *group = sl_podjob_group(sl_json_at(pods, i));
        if (group != NULL && strcmp(group, sl_podjob_group(pod)) == 0) {
            return false; /* names of groups are used once */
        }
    }
    return true;
}

/* How many pods of that one's role the Workload is for. */
static unsigned count_of(const struct sl_json *w, const struct sl_json *pod)
{
    char role[SL_ROLE_SIZE];
    const struct sl_json *sets = sl_json_path(w, "spec.podSets");
    sl_podjob_role(pod, role);
    for (size_t i = 0; i < sl_json_len(sets); i++) {
        if (strcmp(sl_json_path_text(sl_json_at(sets, i), "name", ""), role) == 0) {
            return (unsigned)sl_json_path_int(sl_json_at(sets, i), "count", 0);
        }
    }
    return 0;
}

/* With one too many of a role and too few of another the Workload is for what came first. */
static bool is_odd(const struct sl_json *w, const struct sl_json *pods, const struct sim_group *g)
{
    bool odd = false;
    for (size_t i = 0; i < sl_json_len(pods) && w != NULL; i++) {
        const struct sl_json *pod = sl_json_at(pods, i);
        odd = odd || (sim_group_has(g, pod) && count_of(w, pod) != g->want[sim_pod_role(pod)]);
    }
    return odd;
}

static bool calm_group(struct sim *s, const struct sl_json *pods, const struct sim_group *g)
{
    struct sl_json *w = get_workload(s, g->ns, g->name);
    bool finished = w != NULL && sl_condition_true(w, "Finished");
    bool odd = g->serves || is_odd(w, pods, g);
    bool whole = g->have[0] >= g->want[0] && g->have[1] >= g->want[1];
    sl_json_free(w);
    if (finished || (!odd && whole)) {
        return false;
    }
    if (!odd && g->seed % 2 == 0) {
        return sim_group_mend(s, g, true);
    }
    sim_group_give_up(s, pods, g);
    return true;
}

static bool owns(const struct sl_json *workload, const struct sl_json *pod)
{
    const struct sl_json *owners = sl_json_path(workload, "metadata.ownerReferences");
    for (size_t i = 0; i < sl_json_len(owners); i++) {
        if (strcmp(sl_json_path_text(sl_json_at(owners, i), "uid", ""), sl_object_uid(pod)) == 0) {
            return true;
        }
    }
    return false;
}

static const struct sl_json *workload_of(const struct sl_json *workloads, const struct sl_json *pod)
{
    for (size_t i = 0; i < sl_json_len(workloads); i++) {
        const struct sl_json *w = sl_json_at(workloads, i);
        if (strcmp(sl_object_namespace(w), sl_object_namespace(pod)) == 0 && owns(w, pod)) {
            return w;
        }
    }
    return NULL;
}

/* Nobody would miss a pod that was one too many: whoever lets it go deletes it. */
static void check_kept(struct sim *s, const struct sl_json *pod, const struct sl_json *pods,
                       const struct sl_json *workloads)
{
    if (workload_of(workloads, pod) == NULL && sl_podjob_managed(pod) && sl_podjob_gated(pod) &&
        !sl_podjob_has_finalizer(pod) && !is_late(s, pod, pods)) {
        complain(pod, "waits and was let go");
    }
}

bool sim_pods_calm(struct sim *s)
{
    bool any = false;
    if (!s->has_pods) {
        return false;
    }
    sim_pods_nodes(s);
    struct sl_json *pods = sim_list(s, SL_KIND_POD);
    struct sl_json *workloads = sim_list(s, SL_KIND_WORKLOAD);
    for (size_t i = 0; i < sl_json_len(pods); i++) {
        check_kept(s, sl_json_at(pods, i), pods, workloads);
    }
    sl_json_free(workloads);
    for (size_t i = 0; i < sl_json_len(pods); i++) {
        struct sim_group g;
        if (sl_podjob_group(sl_json_at(pods, i)) != NULL && is_first(pods, i)) {
            sim_group_read(s, pods, sl_json_at(pods, i), &g);
            any = calm_group(s, pods, &g) || any;
        }
    }
    sl_json_free(pods);
    return any;
}

/* --- what is so then ------------------------------------------------------------------------------ */

/* Those that ended are held for as long as the others of their group are not over. */
static void check_ended(const struct sl_json *pod, const struct sl_json *workload)
{
    bool over = workload == NULL || sl_condition_true(workload, "Finished");
    if (sl_podjob_has_finalizer(pod) && (over || sl_podjob_group(pod) == NULL)) {
        complain(pod, "has ended and is held");
    }
}

static bool follows_class(const struct sl_json *workload, const struct sl_json *pod)
{
    const char *class = sl_object_label(pod, "kueue.x-k8s.io/priority-class");
    return class == NULL ||
           strcmp(class, sl_json_path_text(workload, "spec.priorityClassRef.name", "")) == 0;
}

static void check_waiting(const struct sl_json *pod, const struct sl_json *workload)
{
    if (workload == NULL) {
        complain(pod, "has no Workload");
    }
    if (sl_condition_true(workload, "Finished")) {
        complain(pod, "waits for a Workload that has finished");
    }
    if (sl_podjob_group(pod) == NULL && !follows_class(workload, pod)) {
        complain(pod, "has another priority class than its Workload");
    }
    if (sl_condition_true(workload, "Admitted")) {
        complain(pod, "waits though it is admitted");
    }
}

static void check_pod(struct sim *s, const struct sl_json *pod, const struct sl_json *pods,
                      const struct sl_json *workloads)
{
    const struct sl_json *workload = workload_of(workloads, pod);
    if (sl_object_deleting(pod) && !sl_podjob_succeeded(pod)) {
        complain(pod, "is being deleted");
    }
    if (sl_podjob_ended(pod)) {
        check_ended(pod, workload);
    } else if (!sl_podjob_gated(pod)) {
        complain(pod, "runs, or could");
    } else if (!is_late(s, pod, pods)) {
        check_waiting(pod, workload);
    }
}

/* One that has not finished has a pod left. */
static void check_owner(const struct sl_json *w, const struct sl_json *pods)
{
    const struct sl_json *owner = sl_json_at(sl_json_path(w, "metadata.ownerReferences"), 0);
    bool found = strcmp(sl_json_path_text(owner, "kind", ""), "Pod") != 0;
    for (size_t i = 0; i < sl_json_len(pods) && !found; i++) {
        found = owns(w, sl_json_at(pods, i));
    }
    if (!found && !sl_condition_true(w, "Finished")) {
        sim_story_violation("%s/%s has no pod left at rest", sl_object_namespace(w),
                            sl_object_name(w));
    }
}

void sim_pods_check(struct sim *s)
{
    struct sl_json *pods = sim_list(s, SL_KIND_POD);
    struct sl_json *workloads = sim_list(s, SL_KIND_WORKLOAD);
    for (size_t i = 0; i < sl_json_len(pods) && s->has_pods; i++) {
        if (sl_podjob_managed(sl_json_at(pods, i))) {
            check_pod(s, sl_json_at(pods, i), pods, workloads);
        }
    }
    for (size_t i = 0; i < sl_json_len(workloads) && s->has_pods; i++) {
        check_owner(sl_json_at(workloads, i), pods);
    }
    sl_json_free(workloads);
    sl_json_free(pods);
}
