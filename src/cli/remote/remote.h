/* SPDX-License-Identifier: Apache-2.0
 * SPDX-FileCopyrightText: The Sluice authors */

/* The API server as sluicectl sees it: HTTP calls with JSON in and out. A call that fails gives the server's own
 * Status message and causes; one that does not get there says so and names the server. */
#ifndef SL_CLI_REMOTE_H
#define SL_CLI_REMOTE_H
#include "api/objects/object.h"
#include "kube/credentials.h"

struct sl_remote;
#define SL_REMOTE_SOCKET "unix:"
/* `server` is a URL such as http://127.0.0.1:8088, or unix:PATH */
struct sl_remote *sl_remote_open(const char *server);
/* From now on as this user, to servers that its certificate authority vouches for (none: one that the system trusts). Each
 * call asks the credentials again: what a file or a plugin gives may be good for minutes only. They live as long as `r`, and
 * were asked once. */
void sl_remote_identify(struct sl_remote *r, struct sl_credentials *credentials);
void sl_remote_close(struct sl_remote *r);
const char *sl_remote_server(const struct sl_remote *r);

/* One call. body may be NULL; *out (caller frees) may be NULL when the answer is of no interest. */
struct sl_call {
    const char *method, *path, *content_type;
    const struct sl_json *body;
};
enum sl_code sl_remote_call(struct sl_remote *r, const struct sl_call *call, struct sl_json **out,
                            struct sl_error *e);
/* What is no JSON, as it comes; path NULL: of this URL instead, without credentials. */
enum sl_code sl_remote_text(struct sl_remote *r, const char *path, const char *url,
                            struct sl_buf *out, struct sl_error *e);
enum sl_code sl_remote_get(struct sl_remote *r, const char *path, struct sl_json **out,
                           struct sl_error *e);

/* Read a response line by line as it comes, until the server ends it or `line` returns false. */
typedef bool sl_line_fn(void *context, const char *line, size_t len);
enum sl_code sl_remote_stream(struct sl_remote *r, const char *path, sl_line_fn *line,
                              void *context, struct sl_error *e);
#endif
