/* SPDX-License-Identifier: Apache-2.0
 * SPDX-FileCopyrightText: The Sluice authors */

/* The web page: files of src/ui, which are in the program and the same for all. They hold no data, so every client may have
 * them; what they show they ask the API for, with the rights of the person in front of the browser. */
#ifndef SL_CLI_UI_H
#define SL_CLI_UI_H
#include "cli/common/embed.h"
#include "server/front_proxy.h"
#include "server/server.h"

/* "/ui/" and what is below it. */
void sl_ui_serve(void *context, const char *path, const char *query, struct sl_server_page *page);
/* "/ui", and "/" for a browser: to the page. Others get what "/" is without it. */
void sl_ui_find(void *context, const char *path, const char *query, struct sl_server_page *page);

/* Is it a request that one of these answers, as hooks of "/", "/ui" and "/ui/"? It needs no user. */
bool sl_ui_asked(const struct sl_call *call);
#endif
