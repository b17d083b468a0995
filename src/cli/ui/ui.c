/* SPDX-License-Identifier: Apache-2.0
 * SPDX-FileCopyrightText: The Sluice authors */

/* The web page's files as pages of the server. */
#include "cli/ui/ui.h"
#include "base/check.h"
#include <string.h>
#include <strings.h>

/* Scripts, styles and data of this server alone, and no text becomes markup: the names of other people's jobs are shown
 * here. */
static const struct sl_server_header headers[] = {
    {"Content-Security-Policy",
     "default-src 'none'; script-src 'self'; style-src 'self'; img-src 'self'; connect-src 'self'; "
     "base-uri 'none'; form-action 'none'; frame-ancestors 'none'; "
     "require-trusted-types-for 'script'; trusted-types 'none'"},
    {"Referrer-Policy", "no-referrer"},
    {"Cross-Origin-Opener-Policy", "same-origin"},
    {"Cross-Origin-Resource-Policy", "same-origin"},
    {NULL, NULL}};
/* Relative: a proxy may have put something before it. */
static const struct sl_server_header to_page[] = {{"Location", "ui/"}, {NULL, NULL}};

static void refuse(struct sl_server_page *page)
{
    page->status = 404;
    page->content_type = "text/plain; charset=utf-8";
    sl_buf_text(&page->body, "there is no such file\n");
}

void sl_ui_serve(void *context, const char *path, const char *query, struct sl_server_page *page)
{
    (void)context;
    (void)query;
    SL_PRE(page != NULL);
    const char *name = path + strlen("/ui/");
    page->headers = headers;
    for (const struct sl_embedded *f = sl_ui_files; f->name != NULL; f++) {
        if (strcmp(f->name, name[0] == '\0' ? "index.html" : name) == 0) {
            page->content_type = f->content_type;
            page->etag = f->etag;
            sl_buf_add(&page->body, (const char *)f->data, f->size);
            return;
        }
    }
    refuse(page);
}

static bool is_browser(const char *accept)
{
    return strstr(accept, "text/html") != NULL;
}

void sl_ui_find(void *context, const char *path, const char *query, struct sl_server_page *page)
{
    (void)context;
    (void)query;
    SL_PRE(page != NULL);
    if (strcmp(path, "/") == 0 && !is_browser(page->accept)) {
        page->status = 0;
        return;
    }
    page->status = 302;
    page->headers = to_page;
}

/* The first one, as the server takes it. */
static void note_accept(void *context, const char *name, const char *value)
{
    const char **accept = context;
    if (*accept == NULL && strcasecmp(name, "Accept") == 0) {
        *accept = value;
    }
}

bool sl_ui_asked(const struct sl_call *call)
{
    const char *accept = NULL;
    SL_PRE(call != NULL);
    if (strcmp(call->path, "/") != 0) {
        return strcmp(call->path, "/ui") == 0 || strncmp(call->path, "/ui/", 4) == 0;
    }
    call->each_header(call, note_accept, &accept);
    return accept != NULL && is_browser(accept);
}
