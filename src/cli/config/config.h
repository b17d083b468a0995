/* SPDX-License-Identifier: Apache-2.0
 * SPDX-FileCopyrightText: The Sluice authors */

/* Kueue's configuration file, config.kueue.x-k8s.io/v1beta2 (or v1beta1) Configuration: YAML or JSON in, the
 * engine's settings out. Every field and feature gate of Kueue is known; what is unknown or does
 * not fit is refused with its path, all complaints at once; what is known but changes nothing here
 * yet is named in a warning. docs/configuration.md lists which is which. */
#ifndef SL_CLI_CONFIG_H
#define SL_CLI_CONFIG_H
#include "api/json/json.h"
#include "controllers/jobs/jobs.h"
#include "controllers/work/workload_meters.h"
#include "engine/quota/settings.h"
#include "server/tls.h"

/* What only cluster mode wants to know. Texts are lent by the document; NULL or 0: it does not say. */
struct sl_config_cluster {
    bool on; /* this is cluster mode */
    bool elect_given, elect;
    int64_t lease_ms, renew_ms, retry_ms; /* Kueue's defaults, if it does not say */
    const char *lease_name, *lease_namespace;
    double qps;
    unsigned burst;
    const char *metrics_address, *health_address;
    const char *readiness_name, *liveness_name;
    const char *visibility_address; /* an IP */
    unsigned visibility_port;
    const char *webhook_address; /* NULL or "": all */
    unsigned webhook_port;
    const char *webhook_service, *webhook_secret;
    const char *webhook_cert_dir;
    bool webhook_files; /* certificates are those of webhook_cert_dir, not of the Secret */
    struct sl_tls_choice tls;
};

struct sl_config {
    struct sl_engine_settings settings; /* its strings live as long as this object */
    struct sl_json *errors;             /* a list of {field, why}; not empty: use nothing else */
    struct sl_json *warnings;           /* the same, one a field */

    struct sl_config_cluster cluster;
    struct sl_job_rules
        jobs; /* which jobs are managed; what it lends lives as long as this object */
    /* Read, and kept for what the settings lend. */
    struct sl_json *document; /* NULL without a file */
    bool old;                 /* it is in v1beta1 */
    struct sl_json *gates;    /* as given */
    bool wait_for_pods_ready_off;
    bool quota_check_strategy;
    bool admission_fair_sharing;
    bool cleanup_requests;              /* of evicted workloads; for the daemon */
    bool force_lost_pods;               /* of nodes that cannot be reached; for the daemon */
    struct sl_metered metered;          /* which queues have metrics; for the daemon */
    struct sl_selector *metered_queues; /* NULL: all */
    bool custom_labels;                 /* the gate; and what it lets in: */
    struct sl_custom_labels custom;
    struct sl_json *managed; /* managedJobsNamespaceSelector, or Kueue's default; NULL: all */
    struct sl_selector *managed_namespaces; /* the same */
    void **kept;                            /* memory that ends with this */
    size_t kept_count;
};

/* `file` NULL: Kueue's defaults. `cluster`: for cluster mode, else for standalone mode. `gates` NULL or as Kueue's --feature-gates takes them: "A=true,B=false".
 * Never NULL; the caller ends it with sl_config_free. */
struct sl_config *sl_config_load(const char *file, const char *gates, bool cluster);
void sl_config_free(struct sl_config *c);
/* What is in force, of a configuration without errors: in one line of the log, or in lines for people. */
void sl_config_log(const struct sl_config *c, const char *file);
void sl_config_print(const struct sl_config *c, struct sl_buf *out);
#endif
