/* SPDX-License-Identifier: Apache-2.0
 * SPDX-FileCopyrightText: The Sluice authors */

/* The command lines by which a container runtime, podman or docker, runs the containers of pods. What a pod says never becomes
 * an option of it: it follows the = of one, or "--". */
#ifndef SL_RUNNER_RUNTIME_H
#define SL_RUNNER_RUNTIME_H
#include "api/json/json.h"
#include "runner/account.h"

struct sl_runtime {
    char *path;  /* of its program */
    bool podman; /* by its name; else what docker and podman both know is all that is used */
};
/* `wanted`: a path, or a name that is looked up in `path`, the variable of the environment (NULL: the system's directories);
 * NULL: podman, else docker. BAD_REQUEST with a sentence for the user. Free with sl_runtime_fini. */
enum sl_code sl_runtime_find(const char *wanted, const char *path, struct sl_runtime *out,
                             struct sl_error *e);
void sl_runtime_fini(struct sl_runtime *r);

/* What is wrong with the name of an image, or NULL: it names an image of a registry or a local one, and nothing else. */
const char *sl_image_objection(const char *image);
/* As Kubernetes pulls it where imagePullPolicy says nothing. */
const char *sl_image_pull_policy(const char *image);

/* All of it was checked before. */
struct sl_runtime_wish {
    const char *uid, *name;    /* of the pod and the container */
    const char *image, *pull;  /* `pull`: imagePullPolicy */
    const char *dir;           /* where it starts; "": as the image says */
    const struct sl_json *env; /* ["A=b"] */
    const struct sl_json *command, *args;
    const struct sl_json *devices;    /* {resource: [numbers]}; NULL = none */
    const struct sl_account *account; /* NULL: the image's user */
    int64_t cpu_milli, memory_bytes;  /* 0: no limit */
};
/* The caller frees what these return: the words that run it, until it ends, and those that end and remove it. */
struct sl_json *sl_runtime_run_new(const struct sl_runtime *r, const struct sl_runtime_wish *w);
struct sl_json *sl_runtime_end_new(const struct sl_runtime *r, const char *uid, const char *name);
#endif
