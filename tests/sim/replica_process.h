/* SPDX-License-Identifier: Apache-2.0
 * SPDX-FileCopyrightText: The Sluice authors */

/* The process of a replica: the daemon of a cluster itself (cli/daemon/daemon_cluster.h), with a virtual clock, and with a
 * socket to the simulator where its connections to the API server would be. */
#ifndef SL_TESTS_SIM_REPLICA_PROCESS_H
#define SL_TESTS_SIM_REPLICA_PROCESS_H
#include "engine/quota/settings.h"
#include <stdint.h>

struct sim_process {
    int fd;                 /* to the simulator */
    unsigned life;          /* no two have the same */
    int64_t now_ms;         /* when it is started */
    const char *kubeconfig; /* a path */
    const struct sl_engine_settings *settings;
};
/* Runs the daemon to its end; the exit status. */
int sim_process_run(const struct sim_process *p);

/* --- between replica_process.c and replica_link.c ------------------------------------------------ */
void sim_process_clock(int64_t now_ms);
/* Ask the simulator for turns on this socket from now on. */
void sim_link_open(int fd, void (*look)(int fd));
#endif
