/* SPDX-License-Identifier: Apache-2.0
 * SPDX-FileCopyrightText: The Sluice authors */

/* What the daemon serves besides the API: /readyz, /metrics with Kueue's names, and more (visibility.h). Each is a
 * hook of the server; context is a struct sl_pages. */
#ifndef SL_CLI_PAGES_H
#define SL_CLI_PAGES_H
#include "controllers/control/controllers.h"
#include "server/server.h"

struct sl_foresight;
struct sl_pages {
    struct sl_client client;
    struct sl_foresight *foresight; /* of starts; NULL: they are not known */
    struct sl_engine *engine;       /* NULL, as controllers: another instance leads */
    struct sl_controllers *controllers;
    bool (*ready)(void *context);                       /* NULL: decisions are being made */
    void (*metrics)(void *context, struct sl_buf *out); /* more of them; NULL = none */
    void *context;
    const char *facts; /* the configuration in force, as lines; NULL: unknown */
    const char *role; /* of this process, as Kueue's label replica_role says it; NULL: standalone */
};
/* 200 when it is ready, 503 before. */
void sl_pages_ready(void *context, const char *path, const char *query,
                    struct sl_server_page *page);
void sl_pages_metrics(void *context, const char *path, const char *query,
                      struct sl_server_page *page);
#endif
