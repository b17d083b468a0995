/* SPDX-License-Identifier: Apache-2.0
 * SPDX-FileCopyrightText: The Sluice authors */

/* What remote.c and watches.c share: how a request begins. Inside src/cli/remote only. */
#ifndef SL_CLI_REMOTE_PARTS_H
#define SL_CLI_REMOTE_PARTS_H
#include "cli/remote/remote.h"
#include <curl/curl.h>

struct sl_remote {
    CURL *curl;
    char *server;
    const char *socket;                 /* of a server on one of the file system; NULL: on none */
    struct sl_credentials *credentials; /* NULL: none */
    char *base;                 /* what URLs begin with: of the name in the server's certificate */
    struct curl_slist *address; /* where that name is; NULL: where it says */
};
/* Sets the options of `curl` again, for the server, the path and our credentials. `url` has to live as long. */
void sl_remote_prepare(struct sl_remote *r, CURL *curl, const char *path, struct sl_buf *url);
/* What an answer that is not 2xx says. */
enum sl_code sl_remote_refused(long http, const struct sl_buf *body, struct sl_error *e);
enum sl_code sl_remote_unreachable(const struct sl_remote *r, CURLcode failure, struct sl_error *e);
#endif
