/* SPDX-License-Identifier: Apache-2.0
 * SPDX-FileCopyrightText: The Sluice authors */

/* Processes of pods, as /proc shows them: all that descend from a process, and all that carry a pod's mark in their
 * environment, wherever they are. */
#ifndef SL_RUNNER_TREE_H
#define SL_RUNNER_TREE_H
#include <stdbool.h>
#include <stddef.h>
#include <sys/types.h>

#define SL_POD_MARK "SLUICE_POD_UID" /* the variable of the environment */

/* When the process was started, in ticks since the machine was; 0: there is no such process. With the number it names a
 * process for ever, since numbers are given out again. */
unsigned long long sl_process_start(pid_t pid);
/* SIGKILL to all that descend from `root` and not from `spared` (sorted or not); how many there were, zombies not
 * among them. */
size_t sl_tree_kill(pid_t root, const pid_t *spared, size_t spared_count);
/* SIGKILL to all with this mark, this process aside; how many there were. */
size_t sl_marked_kill(const char *uid);
#endif
