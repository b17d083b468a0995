/* SPDX-License-Identifier: Apache-2.0
 * SPDX-FileCopyrightText: The Sluice authors */

/* From a Pod to what is run for it on this machine: programs, arguments, environment and directories, as plain values. What
 * cannot be had is refused, by the name of its field: volumes, and images without a command where containers are processes. Values
 * of ConfigMaps and Secrets are in the pod by then (values.h). Pure functions. */
#ifndef SL_RUNNER_PLAN_H
#define SL_RUNNER_PLAN_H
#include "api/json/json.h"
#include "runner/account.h"
#include "runner/runtime.h"

/* Of all variables and arguments of a pod together. The file of a plan has six bytes for some of theirs. */
#define SL_PLAN_BYTES_MAX (512u << 10)
#define SL_PLAN_BYTES_EACH 64u /* each one, and each $(NAME) in them, counts so much besides */

struct sl_plan_facts {
    const char *node;
    char *const *environment; /* of this process: some of it is passed on; NULL = none */
    const struct sl_json
        *devices; /* resource -> list of numbers, that are given to the pod; NULL = none */
    const struct sl_account *account; /* the user it runs as; NULL: as this process */
    const struct sl_runtime *runtime; /* what runs its containers; NULL: they are processes */
};
/* {uid, namespace, name, restartPolicy, graceSeconds, cpuMilli, memoryBytes, user, containers: [{name, init, argv, env: ["A=b"], dir, end, pod}]}
 * (caller frees); cpuMilli and memoryBytes where all containers have such a limit, user (account.h) where it is not this process's.
 * With a runtime argv is its command line, there is `end` with the one that ends and removes the container, and there are no env,
 * limits and user: argv says them. NULL and INVALID: it cannot be run here, and *e names the field below `spec`, which is
 * called `path`. */
struct sl_json *sl_plan_new(const struct sl_json *pod, const char *path,
                            const struct sl_plan_facts *facts, struct sl_error *e);
/* Appends to `list` a sentence for each field that has no effect here; `containers`: there is a runtime. */
void sl_plan_ignored(const struct sl_json *pod_spec, bool containers, struct sl_json *list);
/* The environment variable by which programs learn of devices of that resource. The caller frees it. */
char *sl_device_variable_new(const char *resource);
#endif
