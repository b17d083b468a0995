/* SPDX-License-Identifier: Apache-2.0
 * SPDX-FileCopyrightText: The Sluice authors */

/* sluicectl stop and resume: the stop policy of a queue, and whether a workload is active. */
#include "base/check.h"
#include "cli/ctl/ctl.h"

static struct sl_json *patch_new(const struct sl_ctl *c, enum sl_kind kind, bool stop)
{
    struct sl_json *patch = sl_json_new_map(), *spec = sl_json_path_make(patch, "spec");
    if (kind == SL_KIND_WORKLOAD) {
        sl_json_set_bool(spec, "active", !stop);
    } else {
        sl_json_set_text(spec, "stopPolicy",
                         !stop             ? "None"
                         : c->keep_running ? "Hold"
                                           : "HoldAndDrain");
    }
    return patch;
}

static int change(struct sl_ctl *c, const struct sl_ctl_target *target, bool stop,
                  struct sl_json *made)
{
    struct sl_json *patch = patch_new(c, target->kind, stop), *result = NULL;
    struct sl_error e = {0};
    enum sl_code code = sl_ctl_patch(c, target->kind, target->name, patch, &result, &e);
    if (code == SL_CODE_OK) {
        sl_ctl_did(c, target->kind, result, stop ? "stopped" : "resumed", made);
    }
    sl_json_free(patch);
    sl_json_free(result);
    return code == SL_CODE_OK ? 0 : sl_ctl_failed("", &e);
}

/* 0, or what is wrong was said. */
static int check(const struct sl_ctl *c, const struct sl_ctl_target *target)
{
    bool queue = target->kind == SL_KIND_CLUSTER_QUEUE || target->kind == SL_KIND_LOCAL_QUEUE;
    if (!queue && target->kind != SL_KIND_WORKLOAD) {
        return sl_ctl_misused("%s takes clusterqueue, localqueue or workload, not %s", c->command,
                              sl_kind_info(target->kind)->singular);
    }
    if (target->name[0] == '\0') {
        return sl_ctl_misused("%s which %s?", c->command, sl_kind_info(target->kind)->singular);
    }
    if (c->keep_running && !queue) {
        return sl_ctl_misused("--keep-already-running is of queues: a workload that is stopped is "
                              "evicted");
    }
    return 0;
}

static int change_all(struct sl_ctl *c, bool stop)
{
    struct sl_ctl_targets targets;
    struct sl_json *made = sl_json_new_list();
    int status = sl_ctl_targets(c, &targets) ? 0 : 2;
    for (size_t i = 0; i < targets.count && status == 0; i++) {
        status = check(c, &targets.items[i]);
    }
    if (status == 0) {
        for (size_t i = 0; i < targets.count; i++) {
            int one = change(c, &targets.items[i], stop, made);
            status = one > status ? one : status;
        }
        sl_ctl_print_made(c, made);
    }
    sl_ctl_targets_fini(&targets);
    sl_json_free(made);
    return status;
}

int sl_ctl_stop(struct sl_ctl *c)
{
    SL_PRE(c != NULL);
    return change_all(c, true);
}

int sl_ctl_resume(struct sl_ctl *c)
{
    SL_PRE(c != NULL);
    return change_all(c, false);
}
