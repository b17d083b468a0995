/* SPDX-License-Identifier: Apache-2.0
 * SPDX-FileCopyrightText: The Sluice authors */

/* What may happen in a state of the cluster, in a fixed order, and that it happens. */
#ifndef SL_EXPLORE_EVENTS_H
#define SL_EXPLORE_EVENTS_H
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct event {
    uint8_t kind, a;
};
/* Those that can happen now, from `first` on in the order of all: the next one, or false. */
bool event_next(struct event *e);
#define EVENT_FIRST ((struct event){UINT8_MAX, 0})
bool event_can(struct event e);
void event_happen(struct event e);
/* "name" or "name:a" */
void event_name(struct event e, char *out, size_t size);
bool event_read(const char *text, struct event *out);
bool event_is_cycle(struct event e);
#endif
