/* SPDX-License-Identifier: Apache-2.0
 * SPDX-FileCopyrightText: The Sluice authors */

/* From the conditions of a request to the state of its check. */
#include "controllers/checks/provisioning_state.h"
#include "base/check.h"
#include "base/clock.h"
#include <string.h>

#define RETRY "spec.retryStrategy."

static const char *message_of(const struct sl_json *request, const char *condition)
{
    return sl_json_path_text(sl_condition_find(request, condition), "message", "");
}

static int64_t attempt_of(const struct sl_provreq_view *v)
{
    return sl_provreq_attempt(sl_object_name(v->request), sl_object_name(v->workload),
                              sl_json_path_text(v->state, "name", ""));
}

static bool is(const struct sl_json *state, const char *value)
{
    return strcmp(sl_json_path_text(state, "state", ""), value) == 0;
}

int64_t sl_provreq_backoff_s(const struct sl_json *config, int64_t failed_attempts)
{
    int64_t delay_s = sl_json_path_int(config, RETRY "backoffBaseSeconds", 60);
    int64_t max_s = sl_json_path_int(config, RETRY "backoffMaxSeconds", 1800);
    for (int64_t i = 1; i < failed_attempts && delay_s > 0 && delay_s < max_s; i++) {
        delay_s = delay_s * 2 < max_s ? delay_s * 2 : max_s;
    }
    return delay_s;
}

/* Failed or expired: again after a while, or never. An attempt that was answered with Retry before,
 * as its count shows, waits for the next one. */
static void retry(const struct sl_provreq_view *v, const char *condition, const char *what,
                  struct sl_json *out)
{
    int64_t attempt = attempt_of(v);
    struct sl_buf message = {0};
    if (attempt > sl_json_path_int(v->config, RETRY "backoffLimitCount", 3)) {
        sl_json_set_text(out, "state", "Rejected");
        sl_json_set_text(out, "message", message_of(v->request, condition));
        return;
    }
    sl_buf_print(&message, "Retrying after %s: %s", what, message_of(v->request, condition));
    sl_json_set_text(out, "message", message.data);
    sl_buf_fini(&message);
    if (attempt > sl_json_path_int(v->state, "retryCount", 0)) {
        int64_t failed = sl_json_path_int(v->state, "retryCount", 0) + 1;
        sl_json_set_text(out, "state", "Retry");
        sl_json_set_int(out, "requeueAfterSeconds", sl_provreq_backoff_s(v->config, failed));
    }
}

static struct sl_json *selector_new(const struct sl_provreq_view *v)
{
    const struct sl_json *updates = sl_json_path(v->config, "spec.podSetUpdates.nodeSelector");
    const struct sl_json *details = sl_json_path(v->request, "status.provisioningClassDetails");
    struct sl_json *selector = sl_json_new_map();
    for (size_t i = 0; i < sl_json_len(updates); i++) {
        const struct sl_json *update = sl_json_at(updates, i);
        const struct sl_json *value =
            sl_json_get(details, sl_json_path_text(update, "valueFromProvisioningClassDetail", ""));
        if (value != NULL) {
            sl_json_set(selector, sl_json_path_text(update, "key", ""), sl_json_clone(value));
        }
    }
    return selector;
}

static struct sl_json *update_new(const struct sl_provreq_view *v, const char *pod_set)
{
    struct sl_json *update = sl_json_new_map();
    sl_json_set_text(update, "name", pod_set);
    struct sl_json *annotations = sl_json_path_make(update, "annotations");
    sl_json_set_text(annotations, SL_ANNOTATION_CONSUME, sl_object_name(v->request));
    sl_json_set_text(annotations, SL_ANNOTATION_CLASS,
                     sl_json_path_text(v->request, "spec.provisioningClassName", ""));
    struct sl_json *selector = selector_new(v);
    sl_json_set_filled(update, "nodeSelector", selector);
    return update;
}

/* One update for each pod set that was asked for, also for those that were merged into another. */
static struct sl_json *updates_new(const struct sl_provreq_view *v)
{
    struct sl_json *asked = sl_provreq_pod_sets_new(v->workload, v->config);
    struct sl_json *list = sl_json_new_list();
    for (size_t i = 0; i < sl_json_len(asked); i++) {
        const struct sl_json *members = sl_json_get(sl_json_at(asked, i), "members");
        for (size_t k = 0; k < sl_json_len(members); k++) {
            sl_json_append(list, update_new(v, sl_json_text(sl_json_at(members, k), "")));
        }
    }
    sl_json_free(asked);
    return list;
}

static void set(struct sl_json *out, const char *state, const char *message)
{
    sl_json_set_text(out, "state", state);
    sl_json_set_text(out, "message", message);
}

static void judge_request(const struct sl_provreq_view *v, struct sl_json *out)
{
    const struct sl_json *request = v->request;
    if (sl_condition_true(request, "Failed")) {
        retry(v, "Failed", "failure", out);
    } else if (sl_condition_true(request, "CapacityRevoked")) {
        /* its nodes are removed: pods that are replaced would wait for ever */
        if (sl_json_path_bool(v->workload, "spec.active", true)) {
            set(out, "Rejected", message_of(request, "CapacityRevoked"));
        }
    } else if (sl_condition_true(request, "BookingExpired")) {
        if (!sl_condition_true(v->workload, "Admitted")) {
            retry(v, "BookingExpired", "booking expired", out);
        }
    } else if (sl_condition_true(request, "Provisioned")) {
        if (!is(out, "Ready")) {
            set(out, "Ready", message_of(request, "Provisioned"));
            sl_json_set(out, "podSetUpdates", updates_new(v));
        }
    } else if (sl_condition_true(request, "Accepted")) {
        if (sl_condition_find(request, "Provisioned") != NULL) {
            set(out, "Pending", message_of(request, "Provisioned"));
        }
    } else {
        set(out, "Pending", "");
    }
}

struct sl_json *sl_provreq_state_new(const struct sl_provreq_view *v, int64_t now_ms)
{
    SL_PRE(v != NULL);
    struct sl_json *out = sl_json_clone(v->state);
    if (v->config == NULL) {
        set(out, "Pending", "the check is not active");
    } else if (!sl_provreq_needed(v->workload, v->config)) {
        if (!is(out, "Ready")) {
            set(out, "Ready", "the provisioning request is not needed");
            sl_json_remove(out, "podSetUpdates");
        }
    } else if (v->request != NULL) {
        judge_request(v, out);
    }
    if (!is(v->state, sl_json_path_text(out, "state", ""))) {
        char time[32];
        sl_clock_format(now_ms, time);
        sl_json_set_text(out, "lastTransitionTime", time);
    }
    return out;
}

int64_t sl_provreq_next_attempt(const struct sl_provreq_view *v)
{
    SL_PRE(v != NULL);
    if (v->config == NULL || !is(v->state, "Pending") ||
        !sl_provreq_needed(v->workload, v->config)) {
        return 0;
    }
    if (v->request == NULL) {
        return sl_json_path_int(v->state, "retryCount", 0) + 1;
    }
    bool over = sl_condition_true(v->request, "Failed") ||
                (sl_condition_true(v->request, "BookingExpired") &&
                 !sl_condition_true(v->workload, "Admitted"));
    return over ? attempt_of(v) + 1 : 0;
}
