/* SPDX-License-Identifier: Apache-2.0
 * SPDX-FileCopyrightText: The Sluice authors */

/* The steps of a reflector, for the files reflector*.c only. Each step begins one exchange; what comes of it plans the
 * next step. */
#ifndef SL_KUBE_REFLECTOR_STEPS_H
#define SL_KUBE_REFLECTOR_STEPS_H
#include "kube/reflector.h"

void sl_reflector_plan(struct sl_reflector *r, enum sl_reflector_next next, int64_t wait_ms);
/* `next` again, later and later; `least_ms`: how long the server asks us to wait. A list begins
 * again. */
void sl_reflector_failed(struct sl_reflector *r, enum sl_reflector_next next, int64_t least_ms,
                         const struct sl_error *e);
void sl_reflector_reached(struct sl_reflector *r); /* the server has answered */
void sl_reflector_listed(struct sl_reflector *r);  /* the list has ended, and is believed */

/* Ask for the next object that the list lacks. */
void sl_reflector_confirm(struct sl_reflector *r);
/* The list was answered with 404. */
void sl_reflector_unserved(struct sl_reflector *r, const struct sl_error *e);
void sl_reflector_ask_groups(struct sl_reflector *r);
void sl_reflector_ask_resources(struct sl_reflector *r);
#endif
