/* SPDX-License-Identifier: Apache-2.0
 * SPDX-FileCopyrightText: The Sluice authors */

/* The priority of pods: the class that they name, for their Workload when it is made and while it is there. */
#include "controllers/jobs/job_run.h"
#include "base/check.h"
#include "controllers/podgroups/podjob.h"
#include "controllers/podgroups/podlook.h"
#include <stdio.h>
#include <string.h>

static const char *class_label(const struct sl_json *pod)
{
    const char *name = sl_object_label(pod, SL_LABEL_PRIORITY_CLASS);
    return name == NULL ? "" : name;
}

bool sl_pod_look_priority(struct sl_pod_look *l, struct sl_priority *out)
{
    SL_PRE(l != NULL);
    const char *ours = class_label(l->pods[0]);
    bool named = ours[0] != '\0';
    enum sl_kind kind = named ? SL_KIND_WORKLOAD_PRIORITY_CLASS : SL_KIND_PRIORITY_CLASS;
    const char *name = named ? ours : sl_json_path_text(l->pods[0], "spec.priorityClassName", "");
    bool found = sl_priority_find(l->r, kind, name, out);
    if (!found) {
        char message[400];
        (void)snprintf(message, sizeof message, "%s \"%.253s\" not found", out->kind, name);
        sl_pod_look_report(l, named ? "WorkloadPriorityClassNotFound" : "PriorityClassNotFound",
                           message);
        sl_work_add(l->r->work, l->key, l->now_ms + SL_RETRY_MS);
    }
    return found;
}

/* Do all pods that have not ended name the same class as the first? */
static bool pods_agree(const struct sl_pod_look *l)
{
    const char *class = class_label(l->pods[0]);
    bool agree = class[0] != '\0';
    for (size_t i = 0; i < l->count && agree; i++) {
        agree = sl_podjob_ended(l->pods[i]) || strcmp(class_label(l->pods[i]), class) == 0;
    }
    return agree;
}

/* Only a class of ours is changed, and what has reserved quota without any is not given one. */
static bool may_follow(const struct sl_json *wl)
{
    const char *kind = sl_json_path_text(wl, "spec.priorityClassRef.kind", "");
    return kind[0] == '\0' ? !sl_condition_true(wl, "QuotaReserved")
                           : strcmp(kind, "WorkloadPriorityClass") == 0;
}

bool sl_pod_look_reprioritize(struct sl_pod_look *l)
{
    SL_PRE(l != NULL);
    struct sl_priority priority;
    const char *name = class_label(l->pods[0]);
    if (l->prebuilt != NULL || !pods_agree(l) || !may_follow(l->wl) ||
        strcmp(sl_json_path_text(l->wl, "spec.priorityClassRef.name", ""), name) == 0 ||
        !sl_pod_look_priority(l, &priority)) {
        return false;
    }
    struct sl_json *o = sl_json_clone(l->wl);
    struct sl_json *class = sl_json_path_make(o, "spec.priorityClassRef");
    struct sl_note note = {.kind = SL_KIND_POD, .about = l->pods[0], .reason = "UpdatedWorkload"};
    sl_json_set_text(class, "group", priority.group);
    sl_json_set_text(class, "kind", priority.kind);
    sl_json_set_text(class, "name", priority.name);
    sl_json_set_int(sl_json_path(o, "spec"), "priority", priority.value);
    (void)snprintf(note.message, sizeof note.message, "Updated workload priority class: %s/%s",
                   sl_object_namespace(o), sl_object_name(o));
    sl_job_write(l->r, SL_VERB_UPDATE, SL_KIND_WORKLOAD, o, &note);
    sl_json_free(o);
    return true;
}
