/* SPDX-License-Identifier: Apache-2.0
 * SPDX-FileCopyrightText: The Sluice authors */

/* Events (v1): what happened to an object, for `kubectl describe`. Names are deterministic,
 * <object>.<16 hex of uid, reason and message>, so that a repeated event counts up instead of piling up.
 * Events are best effort and bounded three ways: a budget for writing (SL_EVENTS_PER_S, burst
 * SL_EVENTS_BURST; what is over it is dropped and counted), a number kept and an age. */
#ifndef SL_CONTROLLERS_EVENTS_H
#define SL_CONTROLLERS_EVENTS_H
#include "api/client.h"

#define SL_EVENTS_KEPT_MAX 20000u
#define SL_EVENTS_AGE_MS_MAX 3600000LL
#define SL_EVENTS_PER_S 200
#define SL_EVENTS_BURST 2000

struct sl_events;
struct sl_events *sl_events_new(const struct sl_client *client); /* the client is lent */
void sl_events_free(struct sl_events *ev);
/* Take over the events that earlier runs left behind, so that they expire too. */
void sl_events_load(struct sl_events *ev, int64_t now_ms);

/* Record that something happened to `about`. `warning`: type Warning instead of Normal. */
void sl_events_record(struct sl_events *ev, enum sl_kind kind, const struct sl_json *about,
                      bool warning, const char *reason, const char *message, int64_t now_ms);
/* Delete what is too old or too many, a bounded number at a time; true when more is left to delete. */
bool sl_events_expire(struct sl_events *ev, int64_t now_ms);
int64_t
sl_events_due_ms(const struct sl_events *ev); /* when the oldest expires; INT64_MAX = never */
uint64_t sl_events_dropped(const struct sl_events *ev);
/* The name of the event; ends the object's name early when both together would be too long. */
void sl_events_name(const struct sl_json *about, const char *reason, const char *message,
                    char out[static 254]);
#endif
