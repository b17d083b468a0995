/* SPDX-License-Identifier: Apache-2.0
 * SPDX-FileCopyrightText: The Sluice authors */

/* Pods as processes, in place of a kubelet: a pod without gates is started on this machine, reported while it runs and when
 * it ends, and stopped when it is deleted. A deleted pod stays, by a finalizer, until its processes have ended. What is known
 * of a pod is its object and its directory (files.h), and nothing else: after a restart of the daemon the next look goes on
 * from there. Directories whose pods were deleted are stopped and removed. */
#ifndef SL_RUNNER_PROCESSES_H
#define SL_RUNNER_PROCESSES_H
#include "controllers/cluster/podbook.h"
#include "controllers/work/reconciler.h"
#include "runner/devices.h"
#include "runner/launcher.h"
#include "runner/runtime.h"

#define SL_FINALIZER_PROCESSES "sluice.dev/processes"
#define SL_LOOK_MS 1000         /* how often something is looked at that may end without a word */
#define SL_LOOK_SELDOM_MS 30000 /* and what ends with one */

struct sl_processes {
    struct sl_reconciler pods, leftovers; /* keys of the second: "/UID" */
    const struct sl_podbook *book;        /* lent */
    const struct sl_launcher *launcher;
    const struct sl_runtime *runtime; /* lent; of containers; NULL: they are processes */
    const char *data, *node;
    bool as_submitter; /* each as the user who has submitted it */
    struct sl_devices *devices;
    struct sl_map *keys;    /* uid -> "namespace/name", of all pods that are known */
    struct sl_map *ordered; /* uids whose start was ordered by this process; NULL at first: none */
    struct sl_map *unsure;  /* "namespace/name" of pods that wait for a commit */
    struct sl_map *leaving; /* uids of pods whose deletion does */
};
void sl_processes_init(struct sl_processes *p, const struct sl_client *client,
                       struct sl_recorder *events);
void sl_processes_fini(struct sl_processes *p);
/* After the book has observed it, or forgotten it. */
void sl_processes_observe(struct sl_processes *p, const struct sl_json *pod, bool deleted);
/* Something has happened to the pod with this uid. */
/* A commit is over: what waited for it is to be looked at. False: nothing did. */
bool sl_processes_committed(struct sl_processes *p);
void sl_processes_look(struct sl_processes *p, const char *uid);
/* All pods are known: what runs is taken over or ended, which the log says. Before that nothing may be started. */
void sl_processes_adopt(struct sl_processes *p);
#endif
