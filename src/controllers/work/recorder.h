/* SPDX-License-Identifier: Apache-2.0
 * SPDX-FileCopyrightText: The Sluice authors */

/* Events (v1): what happened to an object, for `kubectl describe`. Names are deterministic,
 * <object>.<16 hex of uid, reason and message>, so that a repeated event counts up instead of piling up.
 * Events are best effort and bounded: a budget for writing (SL_EVENTS_PER_S, burst SL_EVENTS_BURST; what
 * is over it is dropped and counted) and SL_EVENTS_KEPT_MAX, past which the oldest are deleted. By age they
 * expire in the API server. */
#ifndef SL_CONTROLLERS_RECORDER_H
#define SL_CONTROLLERS_RECORDER_H
#include "api/objects/client.h"

#define SL_EVENTS_KEPT_MAX 20000u
#define SL_EVENTS_PER_S 200
#define SL_EVENTS_BURST 2000

struct sl_recorder;
struct sl_recorder *sl_recorder_new(const struct sl_client *client); /* the client is lent */
/* For an API server that others use too: another budget, and events are neither counted up nor deleted, since they
 * expire there. */
void sl_recorder_limit(struct sl_recorder *ev, unsigned per_s, unsigned burst);
void sl_recorder_free(struct sl_recorder *ev);
/* Take over the events that earlier runs left behind, so that they are counted too. */
void sl_recorder_load(struct sl_recorder *ev, int64_t now_ms);

/* Record that something happened to `about`. `warning`: type Warning instead of Normal. */
void sl_recorder_record(struct sl_recorder *ev, enum sl_kind kind, const struct sl_json *about,
                        bool warning, const char *reason, const char *message, int64_t now_ms);
/* For what happens to it many times at once: one Normal event, with the first of the messages. */
void sl_recorder_record_once(struct sl_recorder *ev, enum sl_kind kind, const struct sl_json *about,
                             const char *reason, const char *message, int64_t now_ms);
/* Delete what is too many, oldest first, a bounded number at a time; true when more is left to delete. */
bool sl_recorder_trim(struct sl_recorder *ev);
uint64_t sl_recorder_dropped(const struct sl_recorder *ev);
/* The name of the event; ends the object's name early when both together would be too long. */
void sl_recorder_name(const struct sl_json *about, const char *reason, const char *message,
                      char out[static 254]);
#endif
