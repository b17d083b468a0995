/* SPDX-License-Identifier: Apache-2.0
 * SPDX-FileCopyrightText: The Sluice authors */

/* What the sites of the little cluster (world.h) give, summed up over bookings as they are listed: the reference for
 * plans that stand somewhere. One plan at a time. */
#ifndef SL_FUZZ_SITES_H
#define SL_FUZZ_SITES_H
#include "fuzz/lib/world.h"

/* Count what every workload has booked; nothing is promised. */
void sites_hold(void);
/* With sign -1 what it has booked is free, with 1 it is taken again. */
void sites_shift(sl_workload_id id, int sign);
/* A new plan: it stands nowhere, and nothing is promised. */
void sites_begin(sl_workload_id id);
/* The plan at hand stands nowhere; or somewhere on up to two hosts, with some CPU each; `all`: with about as much as they
 * have left. */
void sites_ask_nothing(sl_workload_id id);
void sites_ask(struct producer *p, sl_workload_id id, bool all);
/* What the plan at hand asks for is promised to somebody, in the core; sites_take_promises: and taken here. */
void sites_promise(void);
void sites_take_promises(void);
/* Is there what it asks for? */
bool sites_suffice(void);
#endif
