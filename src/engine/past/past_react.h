/* SPDX-License-Identifier: Apache-2.0
 * SPDX-FileCopyrightText: The Sluice authors */

/* What stands in for controllers, the cluster and the users in a play: what they do when something was decided. */
#ifndef SL_ENGINE_PAST_REACT_H
#define SL_ENGINE_PAST_REACT_H
#include "base/map.h"
#include "engine/past/past_play.h"
#include "engine/past/past_sums.h"
#include "engine/records/timers.h"

struct sl_actor {
    const struct sl_json *history;
    uint32_t generation;
    int64_t reserved_ms, admitted_ms, evicted_ms; /* what was answered to */
};

struct sl_play {
    const struct sl_past *past;
    const struct sl_past_policy *policy;
    struct sl_engine *g;
    struct sl_past_pipe *pipe;
    int64_t now_ms;
    size_t next, look;        /* entries: the next one, and the next cycle from there on */
    struct sl_map *histories; /* by id, lent */
    struct sl_actor *actors;  /* by workload */
    uint32_t actor_cap;
    struct sl_timers timers;
    sl_workload_id *decided;
    uint32_t decided_count, decided_cap;
    struct sl_past_sums sums;
    int64_t answers_ms, ready_ms, stops_ms; /* how long it takes where a workload has no example */
    uint64_t ignored;
};

/* A line about a workload, without its end. */
void sl_play_line(struct sl_play *p, const char *verb, const struct sl_actor *a);
/* NULL: it is none of the past. */
struct sl_actor *sl_play_actor(struct sl_play *p, sl_workload_id id);
/* What comes after what was decided about it is armed. */
void sl_play_respond(struct sl_play *p, sl_workload_id id);
/* What was armed for what is no longer so does nothing. */
void sl_play_fire(struct sl_play *p, const struct sl_timer *t);
/* An entry with an event of a workload. */
void sl_play_event(struct sl_play *p, const struct sl_json *entry);
#endif
