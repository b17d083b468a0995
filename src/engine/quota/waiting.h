/* SPDX-License-Identifier: Apache-2.0
 * SPDX-FileCopyrightText: The Sluice authors */

/* Of what is not admitted: what it asks for and why it is not, by queue, kept up to date change by change, for
 * figures. */
#ifndef SL_ENGINE_WAITING_H
#define SL_ENGINE_WAITING_H
#include "engine/engine.h"
#include "kernel/base/types.h"

struct sl_tally;
/* What a workload that waits asks for, in no flavor yet; sign is 1 or -1. Its requests stay as they are in between. */
void sl_waiting_count(struct sl_tally *t, sl_workload_id id, int sign);
/* Why the workload is not admitted is counted where it now belongs, and no longer where it was. */
void sl_waiting_update(struct sl_engine *g, sl_workload_id id);
/* It is counted nowhere any more. */
void sl_waiting_leave(struct sl_engine *g, sl_workload_id id);
#endif
