/* SPDX-License-Identifier: Apache-2.0
 * SPDX-FileCopyrightText: The Sluice authors */

/* A container as its supervisor has it: started, read, ended, reported. */
#ifndef SL_RUNNER_CONTAINER_H
#define SL_RUNNER_CONTAINER_H
#include "api/json/json.h"
#include "runner/account.h"
#include "runner/output.h"
#include <sys/types.h>

enum sl_container_phase { SL_CONTAINER_WAITING, SL_CONTAINER_RUNNING, SL_CONTAINER_ENDED };
struct sl_container {
    const struct sl_json *plan; /* lent: its part of the pod's plan */
    const char *name;
    bool init;
    enum sl_container_phase phase;
    pid_t pid;
    int from; /* what it writes comes from here; -1 = nothing more */
    struct sl_output output;
    int exit_code, signal;
    int64_t started_ms, ended_ms;
    int64_t again_ms; /* WAITING after a run: when it is started again */
    int64_t restarts;
    char reason[24];
    char message[200];
    struct sl_json *last; /* how its last run ended; NULL = there was none */
};
struct sl_container_place {
    const char *dir;                  /* the pod's */
    const char *group;                /* limits.h, or NULL */
    const struct sl_account *account; /* the user it runs as; NULL: as this process */
    int no_account; /* it was to run as another user, who could not be had: the errno; 0: it was not so */
};
/* Starts it. When that fails it has ended with 128 and the reason StartError. */
void sl_container_start(struct sl_container *c, const struct sl_container_place *at,
                        int64_t now_ms);
/* Its program has ended, as waitpid says. */
void sl_container_end(struct sl_container *c, int status, bool oom, int64_t now_ms);
/* Reads what it has written so far. */
void sl_container_read(struct sl_container *c);
/* It waits to be started again at that time. */
void sl_container_again(struct sl_container *c, int64_t at_ms);
/* As it is in the state of its pod: {name, init, state, exitCode, signal, reason, message, startedAt, finishedAt,
 * restarts, last}. The caller frees it. */
struct sl_json *sl_container_say_new(const struct sl_container *c);
void sl_container_fini(struct sl_container *c);
#endif
