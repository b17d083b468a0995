/* SPDX-License-Identifier: Apache-2.0
 * SPDX-FileCopyrightText: The Sluice authors */

#include "engine/past/past_life.h"
#include "api/objects/object.h"
#include "base/buf.h"
#include "base/check.h"
#include "base/clock.h"
#include "base/mem.h"
#include <stdlib.h>
#include <string.h>

static void add_anchor(struct sl_json *life, const char *name, int64_t ms)
{
    struct sl_json *anchors = sl_json_path_make(life, "anchors");
    if (sl_json_get(anchors, name) == NULL) {
        sl_json_set(anchors, name, sl_json_new_list());
    }
    sl_json_append(sl_json_get(anchors, name), sl_json_new_int(ms));
}

static void add_condition(struct sl_json *life, const struct sl_json *object, const char *type,
                          const char *name)
{
    const struct sl_json *c = sl_condition_find(object, type);
    if (c != NULL) {
        add_anchor(life, name, sl_clock_parse(sl_json_path_text(c, "lastTransitionTime", "")));
    }
}

struct sl_json *sl_past_life_new(const char *key, const struct sl_json *object, int64_t arrived_ms)
{
    SL_PRE(key != NULL && object != NULL);
    struct sl_json *life = sl_json_new_map();
    struct sl_buf id = {0};
    sl_buf_print(&id, "%s %s", key, sl_object_uid(object));
    sl_json_set_text(life, "id", id.data);
    sl_json_set_text(life, "workload", key);
    sl_json_set_text(life, "uid", sl_object_uid(object));
    sl_json_set_int(life, "priority", sl_json_path_int(object, "spec.priority", 0));
    sl_json_set_int(life, "arrived", arrived_ms);
    if (sl_json_path(object, "status.admission") != NULL) { /* before the past begins */
        sl_json_set_bool(life, "holds", true);
        add_condition(life, object, "QuotaReserved", "reserved");
        add_condition(life, object, "Admitted", "admitted");
        add_condition(life, object, "Evicted", "evicted");
    }
    sl_buf_fini(&id);
    return life;
}

static bool same(int64_t a_ms, int64_t b_ms)
{
    return a_ms - b_ms < SL_PAST_SAME_MS && b_ms - a_ms < SL_PAST_SAME_MS;
}

void sl_past_life_note(struct sl_json *life, const struct sl_json *event)
{
    SL_PRE(life != NULL && event != NULL);
    const char *name = sl_json_path_text(event, "event", "");
    int64_t since_ms = sl_json_path_int(event, "since", -1);
    int64_t at_ms = sl_json_path_int(event, "at", 0);
    if (strcmp(name, "finish") == 0) {
        sl_json_set_int(life, "finished", at_ms);
    }
    if (since_ms >= 0) {
        add_anchor(life, name, since_ms);
        sl_json_set_int(sl_json_path_make(life, "after"), name, at_ms - since_ms);
    }
}

bool sl_past_life_decide(struct sl_json *life, const struct sl_json *decision)
{
    SL_PRE(life != NULL && decision != NULL);
    const char *what = sl_json_path_text(decision, "do", "");
    int64_t at_ms = sl_json_path_int(decision, "at", 0);
    struct sl_json *last = sl_json_path_make(life, "decided");
    bool known = same(sl_json_path_int(last, what, INT64_MIN / 2), at_ms) &&
                 strcmp(sl_json_path_text(last, "last", ""), what) == 0;
    sl_json_set_int(last, what, at_ms);
    sl_json_set_text(last, "last", what);
    add_anchor(life, what, at_ms);
    return !known;
}

bool sl_past_life_follows(const struct sl_json *life, const char *event, int64_t since_ms)
{
    SL_PRE(life != NULL && event != NULL);
    const struct sl_json *anchors = sl_json_get(sl_json_get(life, "anchors"), event);
    for (size_t i = 0; i < sl_json_len(anchors); i++) {
        if (same(sl_json_int(sl_json_at(anchors, i), 0), since_ms)) {
            return true;
        }
    }
    return false;
}

int64_t sl_past_life_after_ms(const struct sl_json *life, const char *event)
{
    SL_PRE(life != NULL && event != NULL);
    return sl_json_path_int(sl_json_get(life, "after"), event, -1);
}

static int by_size(const void *a, const void *b)
{
    int64_t x = *(const int64_t *)a, y = *(const int64_t *)b;
    return x < y ? -1 : x > y;
}

int64_t sl_past_life_median_ms(const struct sl_json *lives, const char *event)
{
    SL_PRE(event != NULL);
    int64_t *all = sl_mem_new(sl_json_len(lives) + 1, sizeof *all);
    size_t count = 0;
    for (size_t i = 0; i < sl_json_len(lives); i++) {
        int64_t ms = sl_past_life_after_ms(sl_json_at(lives, i), event);
        if (ms >= 0) {
            all[count++] = ms;
        }
    }
    qsort(all, count, sizeof *all, by_size);
    int64_t median = all[count / 2 - (count > 0 && count % 2 == 0)];
    sl_mem_free(all);
    return median;
}
