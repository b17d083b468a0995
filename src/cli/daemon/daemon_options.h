/* SPDX-License-Identifier: Apache-2.0
 * SPDX-FileCopyrightText: The Sluice authors */

/* The options of sluiced. */
#ifndef SL_CLI_DAEMON_OPTIONS_H
#define SL_CLI_DAEMON_OPTIONS_H
#include "cli/daemon/daemon_zap.h"
#include "base/error.h"
#include "base/log.h"
#include "cli/common/flags.h"
#include "controllers/work/workload_meters.h"

struct sl_job_rules;
enum sl_webhook_choice { SL_WEBHOOK_AUTO, SL_WEBHOOK_ON, SL_WEBHOOK_OFF };
struct sl_daemon_options {
    const char *data_dir;  /* cluster mode: of the journal; NULL = none */
    int64_t journal_bytes; /* of a file of the journal */
    const char *
        listen; /* ADDR:PORT; port 0 = let the system choose. NULL in cluster mode: see metrics_port */
    bool allow_remote;
    const char
        *token_file;   /* standalone: only requests with the token in it are served, over TLS; NULL:
                     * see allow_remote */
    const char *users; /* standalone: a file of users, beside the one with the token; NULL: none */
    const char
        *socket; /* standalone: a path; the local users, as the kernel names them; NULL: none */
    const char *config;        /* NULL: Kueue's defaults */
    const char *check_config;  /* only look at this one, whatever else is given */
    struct sl_zap zap;         /* as Kueue's manager takes them */
    unsigned policies_minor;   /* only print the policies for Kubernetes 1.N; 0: do not */
    const char *feature_gates; /* NULL: those of the configuration */
    enum sl_log_level log_level;
    bool log_json;
    bool keep_requests; /* of evicted workloads; the configuration says so, not the command line */
    bool force_lost_pods;            /* the same */
    const struct sl_job_rules *jobs; /* the same; NULL: the defaults */
    struct sl_metered metered;       /* the same */
    const char *facts;               /* what of the configuration is in force, as lines */
    /* Without --standalone: a cluster. */
    const char *kubeconfig; /* NULL: we run in one of its pods */
    const char *context;    /* NULL: the kubeconfig's own */
    enum sl_flag_choice elect_leader;
    int64_t
        metrics_port; /* on 127.0.0.1; 0 = where the configuration says, and nowhere outside the cluster */
    const char
        *visibility_listen; /* ADDR:PORT with TLS; "0" = nowhere; NULL: as the configuration says in
                                      a pod, else nowhere */
    enum sl_webhook_choice webhook; /* auto: where there are no mutating policies */
    const char *
        webhook_listen; /* ADDR:PORT, by which it is registered; NULL: in a pod as the configuration says, by the Service */
    const char *tls_dir;           /* tls.crt and tls.key; NULL: they are made at start */
    const char *adapters;          /* a directory of adapter files; NULL: none */
    bool unconfined;               /* with all rights of the user that started it */
    bool paranoid;                 /* all guarantees are checked around each cycle */
    bool run_processes;            /* standalone: pods are run on this machine */
    bool run_containers;           /* with run_processes: as containers of podman or docker */
    const char *container_runtime; /* which one; NULL: what is found in PATH */
    bool run_external; /* standalone: pods are made and run by other programs. Neither: simulated */
    bool run_as_submitter; /* they have the rights of the local user who made them */
    const char *devices;   /* of this machine, as RESOURCE=COUNT,...; NULL: none */
    bool standalone, show_version, show_help;
};
/* BAD_REQUEST with a sentence for the user; the options then are not to be used. */
enum sl_code sl_daemon_options_parse(int argc, char *const argv[], struct sl_daemon_options *out,
                                     struct sl_error *e);
void sl_daemon_options_help(struct sl_buf *out);
#endif
