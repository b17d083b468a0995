/* SPDX-License-Identifier: Apache-2.0
 * SPDX-FileCopyrightText: The Sluice authors */

#include "cli/policies/policy_kinds.h"

#include "base/check.h"
#include <string.h>

/* How many of the kinds that the files name are there? */
static size_t count_jobs(const struct sl_json *resources)
{
    size_t count = 0;
    for (size_t i = 0; i < sl_json_len(resources); i++) {
        count += sl_policy_job_of(sl_json_text(sl_json_at(resources, i), "")) != NULL;
    }
    return count;
}

static void add_once(struct sl_json *list, const char *text)
{
    if (!sl_json_has_text(list, text)) {
        sl_json_append(list, sl_json_new_text(text));
    }
}

/* What is no job stays; a job goes where it is not managed. */
static struct sl_json *resources_left(const struct sl_json *all,
                                      const struct sl_policy_kinds *kinds,
                                      bool pods_only_if_managed)
{
    struct sl_json *left = sl_json_new_list();
    for (size_t i = 0; i < sl_json_len(all); i++) {
        const char *plural = sl_json_text(sl_json_at(all, i), "");
        const struct sl_policy_job *job = sl_policy_job_of(plural);
        bool pods = strcmp(plural, "pods") == 0;
        if (job == NULL ? !pods || !pods_only_if_managed || kinds->pods
                        : sl_policy_kinds_have(kinds, job)) {
            add_once(left, plural);
        }
    }
    return left;
}

static bool any_of_group(const struct sl_json *resources, const char *group)
{
    for (size_t i = 0; i < sl_json_len(resources); i++) {
        const struct sl_policy_job *job =
            sl_policy_job_of(sl_json_text(sl_json_at(resources, i), ""));
        if (job != NULL && strcmp(job->group, group) == 0) {
            return true;
        }
    }
    return false;
}

/* The groups of what is left. */
static struct sl_json *groups_left(const struct sl_json *all, const struct sl_json *resources)
{
    struct sl_json *left = sl_json_new_list();
    for (size_t i = 0; i < sl_json_len(all); i++) {
        const char *group = sl_json_text(sl_json_at(all, i), "");
        if (!sl_policy_group_of_jobs(group) || any_of_group(resources, group)) {
            add_once(left, group);
        }
    }
    return left;
}

bool sl_policy_rule_fit(struct sl_json *rule, const struct sl_policy_kinds *kinds, const char *path,
                        bool pods_only_if_managed)
{
    SL_PRE(rule != NULL && kinds != NULL);
    struct sl_json *resources =
        resources_left(sl_json_get(rule, "resources"), kinds, pods_only_if_managed);
    size_t jobs = count_jobs(sl_json_get(rule, "resources"));
    struct sl_json *groups = jobs > 0 ? groups_left(sl_json_get(rule, "apiGroups"), resources)
                                      : sl_json_clone(sl_json_get(rule, "apiGroups"));
    bool lists = jobs > 1;
    for (size_t i = 0; i < kinds->count && lists; i++) {
        const struct sl_policy_kind *k = &kinds->at[i];
        if (!k->named && (path == NULL || (k->suspend != NULL && strcmp(k->suspend, path) == 0))) {
            add_once(groups, k->group);
            add_once(resources, k->plural);
        }
    }
    bool left = sl_json_len(resources) > 0;
    sl_json_set(rule, "apiGroups", groups);
    sl_json_set(rule, "resources", resources);
    return left;
}
