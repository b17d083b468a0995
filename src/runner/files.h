/* SPDX-License-Identifier: Apache-2.0
 * SPDX-FileCopyrightText: The Sluice authors */

/* What is kept of pods that run as processes: a directory for each, DATA/pods/UID, with
 *   plan       what is to be run (plan.h), written by the daemon before anything is started
 *   lock       held by the pod's supervisor (shim.h) as long as it lives, whatever becomes of the daemon
 *   state      what has become of it, written by the supervisor
 *   stop       the seconds of grace that it has to end in, written by the daemon; it is to end since it is there
 *   work       the directory that its containers start in
 *   NAME.log   what a container has written; NAME.log.1 before that, NAME.old.log in the run before a restart
 * When the lock is free, nothing writes there any more. */
#ifndef SL_RUNNER_FILES_H
#define SL_RUNNER_FILES_H
#include "api/json/json.h"

#define SL_PODS_DIR "pods"
#define SL_PLAN_FILE "plan"
#define SL_LOCK_FILE "lock"
#define SL_STATE_FILE "state"
#define SL_STOP_FILE "stop"
#define SL_WORK_DIR "work"
#define SL_POD_UID_SIZE 64u /* longer ones are refused */

/* A uid that is safe as the name of a directory: hexadecimal digits and hyphens. */
bool sl_pod_uid_good(const char *uid);
/* The path of one of its files; of its directory where `file` is "". The caller frees it. */
char *sl_pod_path_new(const char *data, const char *uid, const char *file);
/* Makes the directory with all above it; `entered`: by the user whose pod it is. False with errno. */
bool sl_pod_dir_make(const char *data, const char *uid, bool entered);
/* The value in a file, or NULL: it is not there, or is no JSON. */
struct sl_json *sl_file_read_new(const char *path);
/* Replaces the file in one step. False with errno. */
bool sl_file_write(const char *path, const struct sl_json *value);
bool sl_file_there(const char *path);
/* A lock that lasts until the process ends that has it. -1 with errno: another process has it, or it cannot be. */
int sl_file_lock(const char *path);
/* Has another process the lock? */
bool sl_file_locked(const char *path);
#endif
