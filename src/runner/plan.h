/* SPDX-License-Identifier: Apache-2.0
 * SPDX-FileCopyrightText: The Sluice authors */

/* From a Pod to what is run for it on this machine: programs, arguments, environment and directories, as plain values. What
 * cannot be had without containers is refused, by the name of its field: volumes, images without a command, values from
 * ConfigMaps and Secrets. Pure functions. */
#ifndef SL_RUNNER_PLAN_H
#define SL_RUNNER_PLAN_H
#include "api/json/json.h"
#include "runner/account.h"

struct sl_plan_facts {
    const char *node;
    char *const *environment; /* of this process: some of it is passed on; NULL = none */
    const struct sl_json
        *devices; /* resource -> list of numbers, that are given to the pod; NULL = none */
    const struct sl_account *account; /* the user it runs as; NULL: as this process */
};
/* {uid, namespace, name, restartPolicy, graceSeconds, cpuMilli, memoryBytes, user, containers: [{name, init, argv, env: ["A=b"], dir}]}
 * (caller frees); cpuMilli and memoryBytes where all containers have such a limit, user (account.h) where it is not this process's. NULL and INVALID: it cannot be run
 * here, and *e names the field below `spec`, which is called `path`. */
struct sl_json *sl_plan_new(const struct sl_json *pod, const char *path,
                            const struct sl_plan_facts *facts, struct sl_error *e);
/* Appends to `list` a sentence for each field that has no effect here. */
void sl_plan_ignored(const struct sl_json *pod_spec, struct sl_json *list);
/* The environment variable by which programs learn of devices of that resource. The caller frees it. */
char *sl_device_variable_new(const char *resource);
#endif
