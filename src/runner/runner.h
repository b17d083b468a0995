/* SPDX-License-Identifier: Apache-2.0
 * SPDX-FileCopyrightText: The Sluice authors */

/* Running pods as processes of this machine: all of it together. */
#ifndef SL_RUNNER_RUNNER_H
#define SL_RUNNER_RUNNER_H
#include "runner/batch.h"
#include "runner/logs.h"
#include "runner/machine.h"
#include "runner/processes.h"

#define SL_RUNNING_PARTS 4
struct sl_running {
    struct sl_client client;
    struct sl_podbook *book;
    struct sl_launcher launcher;
    struct sl_devices devices;
    struct sl_runtime runtime; /* without a path: pods are processes */
    struct sl_batch batch;
    struct sl_processes processes;
    struct sl_map *ordered; /* of its processes, while it is closed */
    struct sl_reconciler machine;
    struct sl_logs logs;
    char node[SL_NODE_NAME_SIZE];
    const char *data;
    bool as_submitter;
    void (*wake)(void *context); /* there is something to do */
    void *context;
    struct sl_reconciler *parts[SL_RUNNING_PARTS];
};
struct sl_running_options {
    const char *data;    /* lent */
    const char *devices; /* NULL: none */
    bool containers;     /* pods are containers of podman or docker */
    const char *runtime; /* which one; NULL: what is found in PATH */
    bool as_submitter;   /* each pod runs as the user who has submitted it; this process is root */
};
/* What has to be done before this process gives up its rights, and before it has files that must not be copied. */
enum sl_code sl_running_begin(struct sl_running *r, const struct sl_running_options *o,
                              struct sl_error *e);
/* With what the controllers have. Nothing is done before `parts` are stepped. */
void sl_running_open(struct sl_running *r, const struct sl_client *client,
                     struct sl_recorder *events, void (*wake)(void *context), void *context);
void sl_running_watch(struct sl_running *r); /* before the controllers are started */
/* r->launcher.news can be read. */
void sl_running_hear(struct sl_running *r);
/* A commit is over; true: something waited for it, and is there to be done. */
bool sl_running_committed(struct sl_running *r);
/* As before it was opened: what runs goes on, and what is known of it stays. */
void sl_running_close(struct sl_running *r);
void sl_running_end(struct sl_running *r); /* what runs goes on */
#endif
