/* SPDX-License-Identifier: Apache-2.0
 * SPDX-FileCopyrightText: The Sluice authors */

/* How to reach an API server, and as which user: a kubeconfig's context, or the service account of
 * the pod that we run in. Pure reading of files, but for exec plugins, which are run when a token
 * is asked for. */
#ifndef SL_KUBE_CREDENTIALS_H
#define SL_KUBE_CREDENTIALS_H
#include "api/json/json.h"

struct sl_credentials;
/* From a kubeconfig (`context` NULL: its current one). BAD_REQUEST names the file, the field and the reason;
 * insecure-skip-tls-verify is refused, and so is what we do not know how to use (auth-provider). */
enum sl_code sl_credentials_from_file(const char *path, const char *context,
                                      struct sl_credentials **out, struct sl_error *e);
/* The same for a program that a person runs. */
struct sl_kubeconfig {
    const char *paths; /* a file */
    bool
        is_list; /* no: several, with colons between, as $KUBECONFIG has them: one that does not exist is left out, and
                          * of things of the same name the first counts */
    const char *context;  /* NULL: the current one */
    bool may_be_insecure; /* insecure-skip-tls-verify is allowed */
};
/* NOT_FOUND: a list of files of which none says anything. */
enum sl_code sl_credentials_from_files(const struct sl_kubeconfig *k, struct sl_credentials **out,
                                       struct sl_error *e);
/* From KUBERNETES_SERVICE_HOST/_PORT and /var/run/secrets/kubernetes.io/serviceaccount. */
enum sl_code sl_credentials_in_cluster(struct sl_credentials **out, struct sl_error *e);
void sl_credentials_free(struct sl_credentials *c);

const char *sl_credentials_server(const struct sl_credentials *c); /* https://host:port[/path] */
/* How to reach a server whose certificate is for another name (NULL: it is not): what URLs begin with, so that this name is
 * asked for, and where it is, as curl's CONNECT_TO wants it; nothing is added where the name says it. */
void sl_credentials_aim(const char *server, const char *server_name, struct sl_buf *base,
                        struct sl_buf *connect_to);
/* Where there is an exec plugin, fork a process that runs it from now on, so that this one may give up its right to run programs.
 * Before there are other threads. It ends with us. INTERNAL when it cannot be made. */
enum sl_code sl_credentials_start_runner(struct sl_credentials *c, struct sl_error *e);
const char *
sl_credentials_namespace(const struct sl_credentials *c); /* of the context; "" = none */

/* All lent until the next call; NULL where there is none. PEM text, whether it came from a file or inline. */
struct sl_identity {
    const char *ca, *client_certificate, *client_key;
    const char *server_name; /* expected in the server's certificate, where it is not the host's */
    const char *proxy;
    const char *token; /* bearer */
    const char *username, *password;
    bool insecure; /* the server's certificate is not verified */
};
/* The identity as of now: files are read again when they have changed, a token file at least once a minute, an
 * exec plugin some time before what it gave expires. Nobody waits for the plugin but the first time, 10 s at most; it
 * is ended after 30 s. `rejected`: the server refused the last one (401). UNAVAILABLE with a reason: try again later. */
enum sl_code sl_credentials_identity(struct sl_credentials *c, int64_t now_ms, bool rejected,
                                     struct sl_identity *out, struct sl_error *e);
#endif
