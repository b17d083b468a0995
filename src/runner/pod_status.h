/* SPDX-License-Identifier: Apache-2.0
 * SPDX-FileCopyrightText: The Sluice authors */

/* The status of a Pod, from what its supervisor has written down. Pure functions; the pod is changed in place, and whether
 * it changed is returned. */
#ifndef SL_RUNNER_POD_STATUS_H
#define SL_RUNNER_POD_STATUS_H
#include "api/json/json.h"

/* It runs, or is about to (`state` NULL). */
bool sl_pod_say_running(struct sl_json *pod, const struct sl_json *state, int64_t now_ms);
/* Its supervisor has ended it. `deadline`: for running too long. */
bool sl_pod_say_ended(struct sl_json *pod, const struct sl_json *state, bool deadline,
                      int64_t now_ms);
/* Its supervisor has ended before it. */
bool sl_pod_say_lost(struct sl_json *pod, const struct sl_json *state, int64_t now_ms);
/* It cannot be run at all. */
bool sl_pod_say_refused(struct sl_json *pod, const char *reason, const char *message,
                        int64_t now_ms);
/* It waits for something to become free. */
bool sl_pod_say_waiting(struct sl_json *pod, const char *message, int64_t now_ms);
#endif
