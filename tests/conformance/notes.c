/* SPDX-License-Identifier: Apache-2.0
 * SPDX-FileCopyrightText: The Sluice authors */

/* Events. Kueue warns again in every cycle in which a Workload finds no place; Sluice does when there
 * is something new to say. So a warning counts when it differs from the Workload's one before, or
 * something else happened to it in between. */
#include "conformance.h"
#include <stdio.h>
#include <string.h>

static struct sl_json *said_expected; /* key -> reason of the last warning */
static struct sl_json *said_got;
static size_t seen_events, seen_preempted, seen_evicted;

static bool is_warning(const struct sl_json *event)
{
    return strcmp(sl_json_path_text(event, "type", ""), "Warning") == 0;
}

/* Served or evicted: whatever is said next is new. */
static bool begins_anew(const struct sl_json *event)
{
    const char *reason = sl_json_path_text(event, "reason", "");
    return strcmp(reason, "QuotaReserved") == 0 || strncmp(reason, "EvictedDueTo", 12) == 0;
}

static bool is_repeat(struct sl_json *said, const struct sl_json *event)
{
    const char *key = sl_json_path_text(event, "key", "");
    const char *reason = sl_json_path_text(event, "reason", "");
    if (!is_warning(event)) {
        return false;
    }
    bool repeat = strcmp(sl_json_text(sl_json_get(said, key), ""), reason) == 0;
    sl_json_set_text(said, key, reason);
    return repeat;
}

/* A second pass that fails, of one that is drained and so has none. */
static bool is_void(const struct conf_store *s, const struct sl_json *event)
{
    return sl_json_has(s->drained, sl_json_path_text(event, "key", "")) &&
           strcmp(sl_json_path_text(event, "reason", ""), "SecondPassFailed") == 0;
}

static struct sl_json *new_valid(const struct conf_store *s, const struct sl_json *events)
{
    struct sl_json *out = sl_json_new_list();
    for (size_t i = 0; i < sl_json_len(events); i++) {
        if (!is_void(s, sl_json_at(events, i))) {
            sl_json_append(out, sl_json_ref(sl_json_at(events, i)));
        }
    }
    return out;
}

/* The events of one cycle that count; their order within it is not known. */
static struct sl_json *new_news(struct sl_json *said, const struct sl_json *events, size_t from)
{
    struct sl_json *out = sl_json_new_list();
    for (size_t i = from; i < sl_json_len(events); i++) {
        if (begins_anew(sl_json_at(events, i))) {
            sl_json_remove(said, sl_json_path_text(sl_json_at(events, i), "key", ""));
        }
    }
    for (size_t i = from; i < sl_json_len(events); i++) {
        struct sl_json *event = sl_json_at(events, i);
        if (!is_repeat(said, event)) {
            sl_json_append(out, sl_json_ref(event));
        }
    }
    return out;
}

static struct sl_json *new_tail(const struct sl_json *list, size_t from)
{
    struct sl_json *out = sl_json_new_list();
    for (size_t i = from; i < sl_json_len(list); i++) {
        sl_json_append(out, sl_json_ref(sl_json_at(list, i)));
    }
    return out;
}

static void expect_list(const char *prefix, const char *name, const struct sl_json *expect,
                        struct sl_json *got)
{
    char path[64];
    (void)snprintf(path, sizeof path, "%s%s", prefix, name);
    conf_expect_set(path, sl_json_get(expect, name), got);
    sl_json_free(got);
}

void conf_expect_cycle_notes(const char *prefix, const struct sl_json *expect,
                             const struct conf_store *s)
{
    char path[64];
    if (said_expected == NULL) {
        said_expected = sl_json_new_map();
        said_got = sl_json_new_map();
    }
    struct sl_json *valid = new_valid(s, sl_json_get(expect, "events"));
    struct sl_json *expected = new_news(said_expected, valid, 0);
    struct sl_json *got = new_news(said_got, s->events, seen_events);
    (void)snprintf(path, sizeof path, "%sevents", prefix);
    conf_expect_set(path, expected, got);
    expect_list(prefix, "preempted", expect, new_tail(s->preempted, seen_preempted));
    expect_list(prefix, "evicted", expect, new_tail(s->evicted, seen_evicted));
    seen_events = sl_json_len(s->events);
    seen_preempted = sl_json_len(s->preempted);
    seen_evicted = sl_json_len(s->evicted);
    sl_json_free(valid);
    sl_json_free(expected);
    sl_json_free(got);
}

/* Without the order of cycles, of equal warnings one counts. */
static struct sl_json *new_distinct(const struct sl_json *events)
{
    struct sl_json *out = sl_json_new_list();
    for (size_t i = 0; i < sl_json_len(events); i++) {
        struct sl_json *event = sl_json_at(events, i);
        bool repeat = false;
        for (size_t k = 0; k < sl_json_len(out) && is_warning(event); k++) {
            repeat = repeat || sl_json_equal(sl_json_at(out, k), event);
        }
        if (!repeat) {
            sl_json_append(out, sl_json_ref(event));
        }
    }
    return out;
}

void conf_expect_notes(const struct sl_json *expect, const struct conf_store *s)
{
    struct sl_json *valid = new_valid(s, sl_json_get(expect, "events"));
    struct sl_json *expected = new_distinct(valid);
    struct sl_json *got = new_distinct(s->events);
    conf_expect_set("events", expected, got);
    expect_list("", "preempted", expect, sl_json_clone(s->preempted));
    expect_list("", "evicted", expect, sl_json_clone(s->evicted));
    sl_json_free(valid);
    sl_json_free(expected);
    sl_json_free(got);
}
