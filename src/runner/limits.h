/* SPDX-License-Identifier: Apache-2.0
 * SPDX-FileCopyrightText: The Sluice authors */

/* Limits of pods by control groups, version 2: a group for each pod, below the one that this process was started in. */
#ifndef SL_RUNNER_LIMITS_H
#define SL_RUNNER_LIMITS_H
#include "api/json/json.h"
#include <sys/types.h>

#define SL_PIDS_MAX 4096 /* processes and threads of a pod */

/* Where groups of pods can be made (caller frees), or NULL, and `why` says what is in the way. Moves this process into a
 * group of its own beside them where that is needed. `mounts` and `own` are /proc/self/mountinfo and /proc/self/cgroup. */
char *sl_limits_base_new(const char *mounts, const char *own, char *why, size_t why_size);
/* Makes the pod's group with the limits of its plan; its path (caller frees), or NULL with errno. */
char *sl_limits_group_new(const char *base, const char *uid, const struct sl_json *plan);
bool sl_limits_enter(const char *group, pid_t pid);
/* Ends what is left in it, and removes it. */
void sl_limits_end(const char *group);
bool sl_limits_oom(
    const char *group); /* has the kernel killed something in it for want of memory? */
#endif
