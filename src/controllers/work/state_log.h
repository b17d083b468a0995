/* SPDX-License-Identifier: Apache-2.0
 * SPDX-FileCopyrightText: The Sluice authors */

/* What is going on, into the log: for SIGUSR2, as Kueue dumps its caches. */
#ifndef SL_CONTROLLERS_STATE_LOG_H
#define SL_CONTROLLERS_STATE_LOG_H
#include "api/objects/client.h"
#include "engine/engine.h"

/* One line about all, and one about each ClusterQueue; at level info. Linear in the ClusterQueues. */
void sl_state_log(const struct sl_engine *engine, const struct sl_client *client);
#endif
