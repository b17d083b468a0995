/* SPDX-License-Identifier: Apache-2.0
 * SPDX-FileCopyrightText: The Sluice authors */

/* Statuses of pods, as a kubelet would write them. */
#include "runner/pod_status.h"
#include "api/objects/object.h"
#include "base/clock.h"
#include <string.h>

#define KILLED 137 /* 128 + SIGKILL */

static struct sl_json *status_of(struct sl_json *pod)
{
    return sl_json_path_make(pod, "status");
}

static bool set(struct sl_json *pod, const char *type, bool value, const char *reason,
                int64_t now_ms)
{
    return sl_condition_set(status_of(pod), type, value, reason, "", 0, now_ms);
}

static bool set_text(struct sl_json *to, const char *key, const char *text)
{
    if (strcmp(sl_json_path_text(to, key, ""), text) == 0) {
        return false;
    }
    sl_json_set_text(to, key, text);
    return true;
}

static void copy(struct sl_json *to, const struct sl_json *from, const char *key)
{
    const struct sl_json *value = sl_json_get(from, key);
    if (value != NULL) {
        sl_json_set(to, key, sl_json_clone(value));
    }
}

/* --- containers ----------------------------------------------------------------------------------------- */

static struct sl_json *terminated_new(const struct sl_json *said)
{
    static const char *const keys[] = {"exitCode", "signal",    "reason",
                                       "message",  "startedAt", "finishedAt"};
    struct sl_json *out = sl_json_new_map();
    for (size_t i = 0; i < sizeof keys / sizeof keys[0]; i++) {
        copy(out, said, keys[i]);
    }
    return out;
}

static struct sl_json *state_new(const struct sl_json *said, const char *state, bool ended)
{
    struct sl_json *out = sl_json_new_map(), *part = NULL;
    if (strcmp(state, "terminated") == 0) {
        sl_json_set(out, "terminated", terminated_new(said));
        return out;
    }
    part = sl_json_new_map();
    if (strcmp(state, "running") == 0) {
        copy(part, said, "startedAt");
    } else {
        sl_json_set_text(part, "reason",
                         sl_json_get(said, "last") != NULL && !ended ? "CrashLoopBackOff"
                                                                     : "PodInitializing");
    }
    sl_json_set(out, state, part);
    return out;
}

static struct sl_json *one_new(const struct sl_json *container, const struct sl_json *said,
                               bool ended)
{
    struct sl_json *out = sl_json_new_map();
    const char *state = sl_json_path_text(said, "state", "waiting");
    bool running = strcmp(state, "running") == 0;
    bool init = sl_json_path_bool(said, "init", false);
    bool done = strcmp(state, "terminated") == 0 && sl_json_path_int(said, "exitCode", 1) == 0;
    sl_json_set_text(out, "name", sl_json_path_text(container, "name", ""));
    sl_json_set_text(out, "image", sl_json_path_text(container, "image", ""));
    sl_json_set_text(out, "imageID", "");
    sl_json_set_bool(out, "ready", init ? done : running);
    sl_json_set_bool(out, "started", running);
    sl_json_set_int(out, "restartCount", sl_json_path_int(said, "restarts", 0));
    sl_json_set(out, "state", state_new(said, state, ended));
    const struct sl_json *last = sl_json_get(said, "last");
    struct sl_json *before = sl_json_new_map();
    if (last != NULL) {
        sl_json_set(before, "terminated", terminated_new(last));
    }
    sl_json_set(out, "lastState", before);
    return out;
}

static bool set_list(struct sl_json *pod, const char *from, const char *to,
                     const struct sl_json *state, bool ended)
{
    const struct sl_json *containers = sl_json_get(sl_json_get(pod, "spec"), from);
    const struct sl_json *said = sl_json_get(state, "containers");
    struct sl_json *list = sl_json_new_list();
    for (size_t i = 0; i < sl_json_len(containers); i++) {
        const struct sl_json *c = sl_json_at(containers, i);
        const struct sl_json *one = sl_json_find_by(said, "name", sl_json_path_text(c, "name", ""));
        sl_json_append(list, one_new(c, one, ended));
    }
    bool same = sl_json_equal(list, sl_json_get(status_of(pod), to)) || sl_json_len(list) == 0;
    if (same) {
        sl_json_free(list);
    } else {
        sl_json_set(status_of(pod), to, list);
    }
    return !same;
}

static bool set_containers(struct sl_json *pod, const struct sl_json *state, bool ended)
{
    bool changed = set_list(pod, "initContainers", "initContainerStatuses", state, ended);
    return set_list(pod, "containers", "containerStatuses", state, ended) || changed;
}

/* Are those of the list in that state; with `exit` also with exit code 0? */
static bool all_are(const struct sl_json *state, bool init, const char *wanted, bool success)
{
    const struct sl_json *said = sl_json_get(state, "containers");
    for (size_t i = 0; i < sl_json_len(said); i++) {
        const struct sl_json *c = sl_json_at(said, i);
        if (sl_json_path_bool(c, "init", false) == init &&
            (strcmp(sl_json_path_text(c, "state", ""), wanted) != 0 ||
             (success && sl_json_path_int(c, "exitCode", 1) != 0))) {
            return false;
        }
    }
    return true;
}

/* --- the pod -------------------------------------------------------------------------------------------- */

static bool begin(struct sl_json *pod, int64_t now_ms)
{
    char time[32];
    struct sl_json *status = status_of(pod);
    bool changed = set(pod, "PodScheduled", true, "Scheduled", now_ms);
    if (sl_json_get(status, "startTime") == NULL) {
        sl_clock_format(now_ms, time);
        sl_json_set_text(status, "startTime", time);
        sl_json_set_text(status, "hostIP", "127.0.0.1");
        sl_json_set_text(status, "podIP", "127.0.0.1");
        changed = true;
    }
    return changed;
}

static bool set_ready(struct sl_json *pod, bool ready, const char *reason, int64_t now_ms)
{
    bool changed = set(pod, "ContainersReady", ready, reason, now_ms);
    return set(pod, "Ready", ready, reason, now_ms) || changed;
}

bool sl_pod_say_running(struct sl_json *pod, const struct sl_json *state, int64_t now_ms)
{
    bool changed = begin(pod, now_ms);
    bool initialized = state != NULL && all_are(state, true, "terminated", true);
    bool ready = initialized && all_are(state, false, "running", false);
    changed = set(pod, "Initialized", initialized,
                  initialized ? "Initialized" : "ContainersNotInitialized", now_ms) ||
              changed;
    changed = set_ready(pod, ready, ready ? "Started" : "ContainersNotReady", now_ms) || changed;
    changed = set_containers(pod, state, false) || changed;
    return set_text(status_of(pod), "phase", initialized ? "Running" : "Pending") || changed;
}

static bool end(struct sl_json *pod, const struct sl_json *state, bool success, int64_t now_ms)
{
    (void)begin(pod, now_ms);
    (void)set(pod, "Initialized", all_are(state, true, "terminated", true),
              success ? "PodCompleted" : "PodFailed", now_ms);
    (void)set_ready(pod, false, success ? "PodCompleted" : "PodFailed", now_ms);
    (void)set_containers(pod, state, true);
    sl_json_set_text(status_of(pod), "phase", success ? "Succeeded" : "Failed");
    return true;
}

bool sl_pod_say_ended(struct sl_json *pod, const struct sl_json *state, bool deadline,
                      int64_t now_ms)
{
    bool success = !deadline && all_are(state, true, "terminated", true) &&
                   all_are(state, false, "terminated", true);
    if (deadline) {
        sl_json_set_text(status_of(pod), "reason", "DeadlineExceeded");
        sl_json_set_text(status_of(pod), "message",
                         "Pod was active on the node longer than the specified deadline");
    }
    return end(pod, state, success, now_ms);
}

bool sl_pod_say_lost(struct sl_json *pod, const struct sl_json *state, int64_t now_ms)
{
    char time[32];
    struct sl_json *known = state == NULL ? sl_json_new_map() : sl_json_clone(state);
    struct sl_json *said = sl_json_get(known, "containers");
    sl_clock_format(now_ms, time);
    for (size_t i = 0; i < sl_json_len(said); i++) {
        struct sl_json *c = sl_json_at(said, i);
        if (strcmp(sl_json_path_text(c, "state", ""), "running") == 0) {
            sl_json_set_text(c, "state", "terminated");
            sl_json_set_int(c, "exitCode", KILLED);
            sl_json_set_text(c, "reason", "ContainerStatusUnknown");
            sl_json_set_text(c, "finishedAt", time);
        }
    }
    sl_json_set_text(status_of(pod), "reason", "Lost");
    sl_json_set_text(status_of(pod), "message",
                     "Its supervisor was killed, or the machine was started again: how it would "
                     "have ended is not known");
    bool changed = end(pod, known, false, now_ms);
    sl_json_free(known);
    return changed;
}

bool sl_pod_say_refused(struct sl_json *pod, const char *reason, const char *message,
                        int64_t now_ms)
{
    sl_json_set_text(status_of(pod), "reason", reason);
    sl_json_set_text(status_of(pod), "message", message);
    return end(pod, NULL, false, now_ms);
}

bool sl_pod_say_waiting(struct sl_json *pod, const char *message, int64_t now_ms)
{
    return sl_condition_set(status_of(pod), "PodScheduled", false, "Unschedulable", message, 0,
                            now_ms);
}
