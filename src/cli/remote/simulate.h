/* SPDX-License-Identifier: Apache-2.0
 * SPDX-FileCopyrightText: The Sluice authors */

/* Asking the daemon what would happen: files and words of a command line become changes of objects. */
#ifndef SL_CLI_SIMULATE_H
#define SL_CLI_SIMULATE_H
#include "cli/common/flags.h"
#include "cli/remote/offline.h"
#include "cli/remote/remote.h"

/* As given; all lent. */
struct sl_simulate {
    struct sl_flag_list files;         /* as for apply: what exists is merged with it */
    struct sl_flag_list quotas;        /* "QUEUE:FLAVOR:RESOURCE=QUANTITY", "cohort/NAME:..." */
    struct sl_flag_list drained_nodes; /* names */
    struct sl_flag_list added_nodes;   /* "NODE=N": N copies */
    struct sl_flag_list held_queues, drained_queues; /* ClusterQueues */
    struct sl_flag_list priorities;                  /* "WORKLOAD=N", of the namespace */
    struct sl_offline *offline;                      /* asked in place of a server; NULL: none */
    const char *horizon; /* a duration; NULL: as long as the daemon sees fit */
};
/* The changes as a list, which the caller frees; empty when nothing is given. */
enum sl_code sl_simulate_changes_new(const struct sl_simulate *s, struct sl_remote *remote,
                                     const char *ns, struct sl_json **out, struct sl_error *e);
/* The answer to these changes (lent; NULL: none); the caller frees it. */
enum sl_code sl_simulate_ask(struct sl_remote *remote, struct sl_json *changes, const char *horizon,
                             struct sl_json **out, struct sl_error *e);
/* The same of s->offline. */
enum sl_code sl_simulate_ask_offline(const struct sl_simulate *s, const struct sl_json *changes,
                                     struct sl_json **out, struct sl_error *e);
#endif
