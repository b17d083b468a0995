/* SPDX-License-Identifier: Apache-2.0
 * SPDX-FileCopyrightText: The Sluice authors */

/* Answers that are spoiled on their way to a replica. */
#ifndef SL_TESTS_SIM_REPLICA_LIES_H
#define SL_TESTS_SIM_REPLICA_LIES_H
#include "base/buf.h"
#include "sim.h"

/* A list: it comes empty, without some of its objects, or with objects that cannot be read. Other answers stay as they are. */
void sim_lie_in_list(struct sim_chance *c, struct sl_buf *body);
/* Watch events, a line each: objects that cannot be read. */
void sim_lie_in_events(struct sim_chance *c, struct sl_buf *lines);
#endif
