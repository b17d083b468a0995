/* SPDX-License-Identifier: Apache-2.0
 * SPDX-FileCopyrightText: The Sluice authors */

/* All answers of one version of the object are gathered first, and then given one by one, the one that counts before
 * the others. */
#include "engine/conditions/answers.h"
#include "base/check.h"
#include "base/clock.h"
#include "engine/calls/call.h"
#include "engine/conditions/message.h"
#include "engine/conditions/released.h"
#include "kernel/commit/reports.h"
#include <stdio.h>
#include <string.h>

struct answers {
    uint32_t count;
    struct sl_report reports[SL_CHECKS_MAX];
};

static const char *const states[] = {"Pending", "Ready", "Retry", "Rejected"};

const char *sl_answers_state_text(enum sl_check_state state)
{
    SL_PRE(state < sizeof states / sizeof states[0]);
    return states[state];
}

enum sl_check_state sl_answers_state(const struct sl_json *check)
{
    const char *text = sl_json_path_text(check, "state", "");
    for (uint32_t i = 0; i < sizeof states / sizeof states[0]; i++) {
        if (strcmp(states[i], text) == 0) {
            return (enum sl_check_state)i;
        }
    }
    return SL_CHECK_PENDING;
}

/* --- what is told ----------------------------------------------------------------------------- */

void sl_answers_say_rejection(struct sl_engine *g, sl_workload_id id, const struct sl_json *object)
{
    SL_PRE(g != NULL);
    struct sl_words *words = &g->workloads[id].words;
    char text[SL_MESSAGE_SIZE];
    sl_message_from_checks(object, "Rejected", text);
    if (text[0] == '\0') { /* it was taken back; the last run may have said it */
        const struct sl_json *c = sl_condition_find(object, "DeactivationTarget");
        sl_words_say_stopping(words, SL_EVICT_DEACTIVATED, sl_json_path_text(c, "message", ""));
        return;
    }
    sl_words_say_stopping(words, SL_EVICT_DEACTIVATED, text);
}

static void say_retry(struct sl_engine *g, sl_workload_id id, const struct sl_json *object)
{
    char checks[SL_MESSAGE_SIZE];
    char text[SL_MESSAGE_SIZE + 32];
    sl_message_from_checks(object, "Retry", checks);
    (void)snprintf(text, sizeof text, "Evicted due to %s", checks);
    sl_words_say_stopping(&g->workloads[id].words, SL_EVICT_ADMISSION_CHECK,
                          checks[0] == '\0' ? "" : text);
}

/* --- what is gathered ------------------------------------------------------------------------- */

/* How long a check that asks to retry wants it to wait from now on: it counts from its answer, whenever that is read. */
static int64_t retry_after_ms(const struct sl_json *item, int64_t now_ms)
{
    int64_t after_s = sl_json_path_int(item, "requeueAfterSeconds", 0);
    int64_t at_ms = sl_clock_parse(sl_json_path_text(item, "lastTransitionTime", ""));
    int64_t from_ms = at_ms < 0 || at_ms > now_ms ? now_ms : at_ms;
    int64_t due_ms = after_s > 0 && after_s < INT32_MAX ? from_ms + after_s * 1000 : 0;
    return due_ms > now_ms ? due_ms - now_ms : 0;
}

/* It goes on asking to retry, and by now for later than its workload waits already. The core takes an equal wait for the
 * same answer. */
static bool asks_for_later(sl_workload_id id, const struct sl_check *check, int64_t after_ms,
                           int64_t now_ms)
{
    return after_ms > 0 && after_ms != check->retry_after_ms && sl_workloads[id].active &&
           sl_workloads[id].requeue_at_ms < now_ms + after_ms;
}

/* Does the record have the check, in another state, or with an earlier time? */
static bool is_news(sl_workload_id id, const struct sl_report *r, int64_t now_ms)
{
    for (uint32_t i = 0; i < sl_workloads[id].check_count; i++) {
        const struct sl_check *check = &sl_workloads[id].checks[i];
        if (check->check == r->check) {
            return check->state != r->state || asks_for_later(id, check, r->after_ms, now_ms);
        }
    }
    return false;
}

static bool is_gathered(const struct answers *a, sl_check_id check)
{
    for (uint32_t i = 0; i < a->count; i++) {
        if (a->reports[i].check == check) {
            return true;
        }
    }
    return false;
}

static void gather(const struct sl_engine *g, sl_workload_id id, const struct sl_json *object,
                   int64_t now_ms, struct answers *out)
{
    const struct sl_json *list = sl_json_path(object, "status.admissionChecks");
    for (size_t i = 0; i < sl_json_len(list) && out->count < SL_CHECKS_MAX; i++) {
        const struct sl_json *item = sl_json_at(list, i);
        sl_check_id check =
            sl_intern_find(g->names, SL_INTERN_CHECK, sl_json_path_text(item, "name", ""));
        struct sl_report r = {check, sl_answers_state(item), 0};
        r.after_ms = r.state == SL_CHECK_RETRY ? retry_after_ms(item, now_ms) : 0;
        if (check != SL_NO_ID && is_news(id, &r, now_ms) && !is_gathered(out, check)) {
            out->reports[out->count++] = r;
        }
    }
}

/* --- what is given to the record -------------------------------------------------------------- */

/* The object does not say that it was evicted, the record does: whoever answered did not know. */
static bool is_of_before(sl_workload_id id, const struct sl_json *object)
{
    return sl_workloads[id].evicted != SL_EVICT_NONE && !sl_condition_true(object, "Evicted");
}

bool sl_answers_unread(const struct sl_engine *g, sl_workload_id id, const struct sl_json *object)
{
    SL_PRE(g != NULL);
    return sl_released_version(object) > g->workloads[id].answers_version &&
           !is_of_before(id, object);
}

static void say(struct sl_engine *g, sl_workload_id id, const struct sl_json *object,
                enum sl_check_state state)
{
    const struct sl_workload *w = &sl_workloads[id];
    bool running = w->phase == SL_PHASE_QUOTA_RESERVED || w->phase == SL_PHASE_ADMITTED;
    g->workloads[id].news_version = sl_released_version(object);
    if (state == SL_CHECK_REJECTED) {
        sl_answers_say_rejection(g, id, object);
    } else if (state == SL_CHECK_RETRY && running && w->deactivation == SL_CAUSE_NONE) {
        say_retry(g, id, object);
    }
}

void sl_answers_take(struct sl_engine *g, sl_workload_id id, const struct sl_json *object,
                     int64_t now_ms)
{
    struct answers a = {0};
    uint32_t evictions = sl_workloads[id].eviction_count;
    if (is_of_before(id, object)) {
        return;
    }
    gather(g, id, object, now_ms, &a);
    while (a.count > 0 && sl_workloads[id].eviction_count == evictions) {
        uint32_t first = sl_reports_first(a.reports, a.count);
        struct sl_report r = a.reports[first];
        say(g, id, object, r.state);
        sl_send(g, id, now_ms, .kind = SL_EV_CHECK_STATE, .index = r.check, .reason = r.state,
                .value = r.state == SL_CHECK_RETRY ? sl_reports_wait_ms(a.reports, a.count) : 0);
        a.reports[first] = a.reports[--a.count];
    }
}
