/* SPDX-License-Identifier: Apache-2.0
 * SPDX-FileCopyrightText: The Sluice authors */

/* /readyz. */
#include "cli/pages/pages.h"

void sl_pages_ready(void *context, const char *path, const char *query, struct sl_server_page *page)
{
    (void)path;
    (void)query;
    const struct sl_pages *p = context;
    bool ready = p->ready != NULL ? p->ready(p->context) : sl_controllers_ready(p->controllers);
    page->status = ready ? 200 : 503;
    page->content_type = "text/plain; charset=utf-8";
    sl_buf_text(&page->body, ready ? "ok\n" : "the objects are still being read\n");
}
