/* SPDX-License-Identifier: Apache-2.0
 * SPDX-FileCopyrightText: The Sluice authors */

/* metav1.Condition: one entry a type in status.conditions; lastTransitionTime moves only with
 * status. */
#include "api/objects/object.h"

#include <string.h>

#include "base/check.h"
#include "base/clock.h"
#include "base/mem.h"
#include "base/utf8.h"

#define MESSAGE_MAX 32768u

/* The index of the condition of this type; the list's length when there is none. */
static size_t index_of(const struct sl_json *conditions, const char *type)
{
    size_t count = sl_json_len(conditions);
    for (size_t i = 0; i < count; i++) {
        if (strcmp(sl_json_text(sl_json_get(sl_json_at(conditions, i), "type"), ""), type) == 0) {
            return i;
        }
    }
    return count;
}

const struct sl_json *sl_condition_find(const struct sl_json *o, const char *type)
{
    const struct sl_json *conditions = sl_json_get(sl_json_get(o, "status"), "conditions");
    return sl_json_at(conditions, index_of(conditions, type));
}

bool sl_condition_true(const struct sl_json *o, const char *type)
{
    const struct sl_json *condition = sl_condition_find(o, type);
    return strcmp(sl_json_text(sl_json_get(condition, "status"), ""), "True") == 0;
}

/* Sets a text member; whether that changed anything. */
static bool set_text(struct sl_json *condition, const char *key, const char *text)
{
    const char *old = sl_json_text(sl_json_get(condition, key), NULL);
    if (old != NULL && strcmp(old, text) == 0) {
        return false;
    }
    sl_json_set_text(condition, key, text);
    return true;
}

/* As it will be stored, or the next comparison would find a change again. */
static bool set_message(struct sl_json *condition, const char *message)
{
    size_t len = strlen(message);
    if (len <= MESSAGE_MAX && sl_utf8_valid(message, len)) {
        return set_text(condition, "message", message);
    }
    char *kept = sl_utf8_repair(message);
    kept[sl_utf8_cut(kept, MESSAGE_MAX)] = '\0';
    bool changed = set_text(condition, "message", kept);
    sl_mem_free(kept);
    return changed;
}

static bool set_generation(struct sl_json *condition, int64_t generation)
{
    if (generation == sl_json_int(sl_json_get(condition, "observedGeneration"), 0)) {
        return false;
    }
    if (generation == 0) {
        sl_json_remove(condition, "observedGeneration");
    } else {
        sl_json_set_int(condition, "observedGeneration", generation);
    }
    return true;
}

bool sl_condition_set(struct sl_json *status, const char *type, bool value, const char *reason,
                      const char *message, int64_t observed_generation, int64_t now_ms)
{
    SL_PRE(type[0] != '\0' && reason[0] != '\0');
    struct sl_json *conditions = sl_json_get(status, "conditions");
    if (sl_json_type(conditions) != SL_JSON_LIST) {
        conditions = sl_json_new_list();
        sl_json_set(status, "conditions", conditions);
    }
    size_t index = index_of(conditions, type);
    if (index == sl_json_len(conditions)) {
        sl_json_append(conditions, sl_json_new_map());
    }
    struct sl_json *condition = sl_json_at(conditions, index);
    bool changed = set_text(condition, "type", type);
    if (set_text(condition, "status", value ? "True" : "False")) {
        char now[32];
        sl_clock_format(now_ms, now);
        sl_json_set_text(condition, "lastTransitionTime", now);
        changed = true;
    }
    changed = set_text(condition, "reason", reason) || changed;
    changed = set_message(condition, message) || changed;
    return set_generation(condition, observed_generation) || changed;
}

bool sl_condition_remove(struct sl_json *status, const char *type)
{
    struct sl_json *conditions = sl_json_get(status, "conditions");
    size_t index = index_of(conditions, type);
    if (index == sl_json_len(conditions)) {
        return false;
    }
    sl_json_remove_at(conditions, index);
    return true;
}
