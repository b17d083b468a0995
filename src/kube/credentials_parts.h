/* SPDX-License-Identifier: Apache-2.0
 * SPDX-FileCopyrightText: The Sluice authors */

/* What credentials are made of, shared by the files that read a kubeconfig, a service account and what an exec
 * plugin prints. */
#ifndef SL_KUBE_CREDENTIALS_PARTS_H
#define SL_KUBE_CREDENTIALS_PARTS_H
#include "base/buf.h"
#include "kube/credentials.h"
#include <sys/stat.h>
#include <sys/types.h>

/* Text that was given inline, or is in a file that another program may replace. */
struct sl_secret {
    char *field; /* for errors: "kubeconfig: users[a].user.tokenFile" */
    char *path;  /* NULL: inline */
    char *text;  /* NULL: there is none */
    struct timespec changed;
    ino_t inode;
    int64_t read_ms;
};
/* Look whether the file is another one, and read it then; `age_ms_max`: read it when the text is older, however it
 * looks (0 = never). What was read stays when the file cannot be read. */
enum sl_code sl_secret_read(struct sl_secret *s, int64_t now_ms, int64_t age_ms_max,
                            struct sl_error *e);
/* The whole file; NULL and errno when it cannot be read or is larger than a mebibyte. */
char *sl_secret_file(const char *path, size_t *len);

struct sl_exec {
    char *command; /* NULL: no plugin */
    char *api_version;
    char *hint; /* installHint; NULL = none */
    char **args;
    size_t arg_count;
    int64_t run_ms_max;      /* 0: half a minute */
    struct sl_json *env;     /* [{name, value}] */
    struct sl_json *cluster; /* what the plugin gets to know about the cluster; NULL: it did not
                              * ask */
    /* what it said */
    char *token, *certificate, *key;
    bool known;
    bool refused;       /* by the server, so that it has to be asked again */
    int64_t expires_ms; /* INT64_MAX: it did not say */
    int64_t run_ms;     /* when it was run last */
    char *failure;      /* NULL: that went well */
    int runner;         /* the socket of the process that runs it for us; 0: we do */
    /* while it runs */
    pid_t pid; /* 0: it does not; -1: the runner's */
    int output;
    int64_t end_ms; /* of the steady clock: when it is ended */
    struct sl_buf text;
};
/* Start it. UNAVAILABLE names the command and the reason. */
enum sl_code sl_exec_begin(struct sl_exec *x, struct sl_error *e);
/* Look how it goes, and wait for at most so long. OK: it runs still (pid), or has ended, and what it said is kept.
 * UNAVAILABLE: it has ended with that failure; what it said before is kept. */
enum sl_code sl_exec_look(struct sl_exec *x, int64_t wait_ms, struct sl_error *e);
void sl_exec_fini(struct sl_exec *x);

/* plugin.c: run it, with its standard output there; 0 or an errno. */
int sl_plugin_spawn(struct sl_exec *x, int output, pid_t *pid);
/* Has it ended? 1 with *status as of waitpid, 0 not yet, -1 when unknown. */
int sl_plugin_ended(struct sl_exec *x, int *status);
void sl_plugin_stop(struct sl_exec *x); /* with all that it has started */

struct sl_credentials {
    char *server, *ns, *server_name, *proxy, *username, *password;
    struct sl_secret ca, certificate, key, token;
    struct sl_exec exec;
    bool insecure;
};
/* Nothing but http and https; http for this machine's own addresses only. */
enum sl_code sl_credentials_check_server(const char *server, const char *field, struct sl_error *e);
size_t sl_credentials_host_length(const char *host); /* of HOST or [V6] at the start */
bool sl_credentials_is_local(const char *host, size_t len);
/* The service account in `dir`, the server at host and port. */
enum sl_code sl_credentials_from_account(const char *dir, const char *host, const char *port,
                                         struct sl_credentials **out, struct sl_error *e);
#endif
