/* SPDX-License-Identifier: Apache-2.0
 * SPDX-FileCopyrightText: The Sluice authors */

/* The launcher: a process that the daemon forks before it gives up its right to run programs, and that starts, stops and
 * cleans up what the daemon names by the uid of a pod. It takes no names of programs: what is run is in the pod's plan.
 * The supervisors that it starts (shim.h) do not end with it. */
#ifndef SL_RUNNER_LAUNCHER_H
#define SL_RUNNER_LAUNCHER_H
#include "base/error.h"
#include <stdbool.h>
#include <sys/types.h>

#define SL_CLEANED_FILE "cleaned" /* of files.h: what a dead supervisor has left behind was ended */

struct sl_launcher {
    pid_t pid;
    int orders; /* readable when it has ended */
    int news;   /* lines with the uids of pods that something has happened to; does not block */
    char why_unlimited[320]; /* "": limits are kept; else why they are not */
};
enum sl_order {
    SL_ORDER_START,  /* what the plan says, unless it runs or has run */
    SL_ORDER_STOP,   /* as the file `stop` says */
    SL_ORDER_CLEAN,  /* end what carries the pod's mark; then there is a file `cleaned` */
    SL_ORDER_REMOVE, /* its directory */
    SL_ORDERS
};
/* Before the process has other threads, or connections and files that must not be copied. `data` need not exist yet. */
enum sl_code sl_launcher_begin(const char *data, struct sl_launcher *l, struct sl_error *e);
/* False: it takes no more at the moment. */
bool sl_launcher_order(const struct sl_launcher *l, enum sl_order order, const char *uid);
void sl_launcher_end(struct sl_launcher *l); /* what it has started goes on */
#endif
