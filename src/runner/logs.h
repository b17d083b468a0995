/* SPDX-License-Identifier: Apache-2.0
 * SPDX-FileCopyrightText: The Sluice authors */

/* What containers have written, as clients read it: the end of it first, then what follows as it comes. */
#ifndef SL_RUNNER_LOGS_H
#define SL_RUNNER_LOGS_H
#include "server/server.h"

struct sl_logs {
    const struct sl_client *client; /* lent, as all of it */
    const char *data;
};
/* For struct sl_server_logs; the context is a struct sl_logs. NOT_FOUND: there is no such pod. BAD_REQUEST: it has no such
 * container, or has not written anything yet. */
enum sl_code sl_logs_open(void *context, const struct sl_log_wish *wish, struct sl_stream **stream,
                          struct sl_error *e);
#endif
