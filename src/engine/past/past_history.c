/* SPDX-License-Identifier: Apache-2.0
 * SPDX-FileCopyrightText: The Sluice authors */

#include "engine/past/past_history.h"
#include "api/objects/object.h"
#include "base/buf.h"
#include "base/check.h"
#include "base/clock.h"
#include "base/mem.h"
#include <stdlib.h>
#include <string.h>

static void add_anchor(struct sl_json *history, const char *name, int64_t ms)
{
    struct sl_json *anchors = sl_json_path_make(history, "anchors");
    if (sl_json_get(anchors, name) == NULL) {
        sl_json_set(anchors, name, sl_json_new_list());
    }
    sl_json_append(sl_json_get(anchors, name), sl_json_new_int(ms));
}

static void add_condition(struct sl_json *history, const struct sl_json *object, const char *type,
                          const char *name)
{
    const struct sl_json *c = sl_condition_find(object, type);
    if (c != NULL) {
        add_anchor(history, name, sl_clock_parse(sl_json_path_text(c, "lastTransitionTime", "")));
    }
}

struct sl_json *sl_past_history_new(const char *key, const struct sl_json *object,
                                    int64_t arrived_ms)
{
    SL_PRE(key != NULL && object != NULL);
    struct sl_json *history = sl_json_new_map();
    struct sl_buf id = {0};
    sl_buf_print(&id, "%s %s", key, sl_object_uid(object));
    sl_json_set_text(history, "id", id.data);
    sl_json_set_text(history, "workload", key);
    sl_json_set_text(history, "uid", sl_object_uid(object));
    sl_json_set_int(history, "priority", sl_json_path_int(object, "spec.priority", 0));
    sl_json_set_int(history, "arrived", arrived_ms);
    if (sl_json_path(object, "status.admission") != NULL) { /* before the past begins */
        sl_json_set_bool(history, "holds", true);
        add_condition(history, object, "QuotaReserved", "reserved");
        add_condition(history, object, "Admitted", "admitted");
        add_condition(history, object, "Evicted", "evicted");
    }
    sl_buf_fini(&id);
    return history;
}

static bool same(int64_t a_ms, int64_t b_ms)
{
    return a_ms - b_ms < SL_PAST_SAME_MS && b_ms - a_ms < SL_PAST_SAME_MS;
}

void sl_past_history_note(struct sl_json *history, const struct sl_json *event)
{
    SL_PRE(history != NULL && event != NULL);
    const char *name = sl_json_path_text(event, "event", "");
    int64_t since_ms = sl_json_path_int(event, "since", -1);
    int64_t at_ms = sl_json_path_int(event, "at", 0);
    if (strcmp(name, "finish") == 0) {
        sl_json_set_int(history, "finished", at_ms);
    }
    if (since_ms >= 0) {
        add_anchor(history, name, since_ms);
        sl_json_set_int(sl_json_path_make(history, "after"), name, at_ms - since_ms);
    }
}

void sl_past_history_one_run(struct sl_json *history, struct sl_json *first)
{
    SL_PRE(history != NULL && first != NULL);
    const struct sl_json *admitted = sl_json_path(first, "anchors.admitted");
    size_t count = sl_json_len(admitted);
    if (count > 0 && sl_json_has(history, "finished")) {
        int64_t ran_ms = sl_json_path_int(history, "finished", 0) -
                         sl_json_int(sl_json_at(admitted, count - 1), 0);
        sl_json_set_int(sl_json_path_make(history, "after"), "finish", ran_ms);
        sl_json_set_int(sl_json_path_make(first, "after"), "finish", ran_ms);
    }
}

bool sl_past_history_decide(struct sl_json *history, const struct sl_json *decision)
{
    SL_PRE(history != NULL && decision != NULL);
    const char *what = sl_json_path_text(decision, "do", "");
    int64_t at_ms = sl_json_path_int(decision, "at", 0);
    struct sl_json *last = sl_json_path_make(history, "decided");
    bool known = same(sl_json_path_int(last, what, INT64_MIN / 2), at_ms) &&
                 strcmp(sl_json_path_text(last, "last", ""), what) == 0;
    sl_json_set_int(last, what, at_ms);
    sl_json_set_text(last, "last", what);
    add_anchor(history, what, at_ms);
    return !known;
}

bool sl_past_history_had(const struct sl_json *history, const char *event, int64_t since_ms)
{
    SL_PRE(history != NULL && event != NULL);
    const struct sl_json *anchors = sl_json_get(sl_json_get(history, "anchors"), event);
    for (size_t i = 0; i < sl_json_len(anchors); i++) {
        if (same(sl_json_int(sl_json_at(anchors, i), 0), since_ms)) {
            return true;
        }
    }
    return false;
}

int64_t sl_past_history_after_ms(const struct sl_json *history, const char *event)
{
    SL_PRE(history != NULL && event != NULL);
    return sl_json_path_int(sl_json_get(history, "after"), event, -1);
}

static int by_size(const void *a, const void *b)
{
    int64_t x = *(const int64_t *)a, y = *(const int64_t *)b;
    return x < y ? -1 : x > y;
}

int64_t sl_past_history_median_ms(const struct sl_json *histories, const char *event)
{
    SL_PRE(event != NULL);
    int64_t *all = sl_mem_new(sl_json_len(histories) + 1, sizeof *all);
    size_t count = 0;
    for (size_t i = 0; i < sl_json_len(histories); i++) {
        int64_t ms = sl_past_history_after_ms(sl_json_at(histories, i), event);
        if (ms >= 0) {
            all[count++] = ms;
        }
    }
    qsort(all, count, sizeof *all, by_size);
    int64_t median = all[count / 2 - (count > 0 && count % 2 == 0)];
    sl_mem_free(all);
    return median;
}
