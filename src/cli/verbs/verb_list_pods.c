/* SPDX-License-Identifier: Apache-2.0
 * SPDX-FileCopyrightText: The Sluice authors */

/* sluicectl list pods: those that an object controls, itself or by Jobs of its own; or those of a pod's group. */
#include "base/check.h"
#include "cli/verbs/verb_list.h"
#include <string.h>

#define GROUP "kueue.x-k8s.io/pod-group-name"

struct wanted {
    const struct sl_json *owner;
    const char *group;          /* of an owner that is a pod; NULL: none */
    const struct sl_json *jobs; /* items */
};

static bool is_owned_by(const struct sl_json *object, const char *uid)
{
    return sl_json_find_by(sl_json_path(object, "metadata.ownerReferences"), "uid", uid) != NULL;
}

static bool is_owned_by_jobs(const struct wanted *w, const struct sl_json *pod)
{
    for (size_t i = 0; i < sl_json_len(w->jobs); i++) {
        const struct sl_json *job = sl_json_at(w->jobs, i);
        if (is_owned_by(job, sl_object_uid(w->owner)) && is_owned_by(pod, sl_object_uid(job))) {
            return true;
        }
    }
    return false;
}

static bool is_wanted(const void *context, const struct sl_json *pod)
{
    const struct wanted *w = context;
    const char *group = sl_object_label(pod, GROUP);
    return strcmp(sl_object_uid(pod), sl_object_uid(w->owner)) == 0 ||
           (w->group != NULL && group != NULL && strcmp(group, w->group) == 0) ||
           is_owned_by(pod, sl_object_uid(w->owner)) || is_owned_by_jobs(w, pod);
}

static enum sl_code fetch_jobs(struct sl_ctl *c, struct sl_json **out, struct sl_error *e)
{
    struct sl_buf path = {0};
    sl_ctl_path(SL_KIND_JOB, c->ns, "", &path);
    enum sl_code code = sl_remote_get(c->remote, path.data, out, e);
    sl_buf_fini(&path);
    return code;
}

static enum sl_code list(struct sl_ctl *c, const struct sl_ctl_target *target, struct sl_error *e)
{
    static const struct sl_ctl_list l = {.kind = SL_KIND_POD};
    struct sl_json *owner = NULL, *jobs = NULL, *pods = NULL;
    enum sl_code code = sl_ctl_list_fetch_owner(c, target, &owner, e);
    code = code == SL_CODE_OK ? fetch_jobs(c, &jobs, e) : code;
    code = code == SL_CODE_OK ? sl_ctl_list_fetch(c, SL_KIND_POD, &pods, e) : code;
    if (code == SL_CODE_OK) {
        const struct wanted w = {owner,
                                 target->kind == SL_KIND_POD ? sl_object_label(owner, GROUP) : NULL,
                                 sl_json_get(jobs, "items")};
        sl_ctl_list_keep(sl_json_get(pods, "items"), is_wanted, &w);
        sl_ctl_list_print(c, &l, pods, NULL);
    }
    sl_json_free(owner);
    sl_json_free(jobs);
    sl_json_free(pods);
    return code;
}

int sl_ctl_list_pods(struct sl_ctl *c)
{
    SL_PRE(c != NULL);
    struct sl_ctl_targets owners = {0};
    struct sl_error e = {0};
    int status = 2;
    if (c->arguments.count > 0) {
        return sl_ctl_misused("%s takes only options", c->command);
    }
    if (c->filter.owner == NULL) {
        return sl_ctl_misused("list pods needs --for KIND/NAME");
    }
    if (sl_ctl_list_read_owner(c, &owners)) {
        status = list(c, &owners.items[0], &e) == SL_CODE_OK ? 0 : sl_ctl_failed("", &e);
    }
    sl_ctl_targets_fini(&owners);
    return status;
}
