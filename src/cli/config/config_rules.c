/* SPDX-License-Identifier: Apache-2.0
 * SPDX-FileCopyrightText: The Sluice authors */

/* Rules of the configuration between fields, and those of values that no row can say: queues, jobs,
 * servers. MultiKueue, metrics and devices have theirs in config_parts.c. */
#include "api/objects/object.h"
#include "cli/config/config_table.h"
#include "controllers/adapters/adapter.h"
#include "controllers/jobs/job.h"
#include "controllers/jobs/job_owners.h"
#include "controllers/jobs/podjob.h"
#include "server/curves.h"
#include "server/suites.h"
#include <arpa/inet.h>
#include <inttypes.h>
#include <stdio.h>
#include <string.h>

#define SYSTEM_NAMESPACE "kube-system"
#define DEFAULT_NAMESPACE "kueue-system"

/* Other than a set, the order says which rule is tried first. */
static void check_fair_sharing(struct sl_config *c)
{
    const struct sl_json *list = sl_json_path(c->document, "fairSharing.preemptionStrategies");
    const char *first = sl_json_text(sl_json_at(list, 0), "");
    size_t len = sl_json_len(list);
    if (len > 2 || (len == 2 &&
                    (strcmp(first, "LessThanOrEqualToFinalShare") != 0 ||
                     strcmp(sl_json_text(sl_json_at(list, 1), ""), "LessThanInitialShare") != 0))) {
        sl_config_refuse(c, "fairSharing.preemptionStrategies",
                         "must be one of [LessThanOrEqualToFinalShare], [LessThanInitialShare], "
                         "[LessThanOrEqualToFinalShare, LessThanInitialShare]");
    }
}

static void check_quota_strategy(struct sl_config *c)
{
    const char *strategy = sl_json_path_text(c->document, "resources.quotaCheckStrategy", "");
    if (c->quota_check_strategy && strcmp(strategy, "IgnoreUndeclared") == 0 &&
        sl_json_len(sl_json_path(c->document, "resources.excludeResourcePrefixes")) > 0) {
        sl_config_refuse(c, "resources.quotaCheckStrategy",
                         "IgnoreUndeclared cannot be combined with excludeResourcePrefixes");
    }
}

static bool is_refused(const struct sl_config *c, const char *path)
{
    for (size_t i = 0; i < sl_json_len(c->errors); i++) {
        const char *field = sl_json_path_text(sl_json_at(c->errors, i), "field", "");
        if (strncmp(field, path, strlen(path)) == 0) {
            return true;
        }
    }
    return false;
}

/* NULL when there is none, or none that can be used. */
static struct sl_selector *selector_at(struct sl_config *c, const char *path)
{
    const struct sl_json *v = is_refused(c, path) ? NULL : sl_json_path(c->document, path);
    struct sl_error e = {0};
    struct sl_selector *s = sl_json_type(v) == SL_JSON_MAP ? sl_selector_from_json(v, &e) : NULL;
    if (s == NULL && e.text[0] != '\0') {
        sl_config_refuse(c, path, "%s", e.text);
    }
    return s;
}

static void check_exempt(struct sl_config *c, const struct sl_selector *s, const char *ns)
{
    struct sl_json *labels = sl_json_new_map();
    sl_json_set_text(labels, "kubernetes.io/metadata.name", ns);
    if (sl_selector_matches_labels(s, labels)) {
        sl_config_refuse(c, "managedJobsNamespaceSelector",
                         "must not match the namespace \"%.64s\"", ns);
    }
    sl_json_free(labels);
}

static void check_selectors(struct sl_config *c)
{
    struct sl_selector *s = selector_at(c, "managedJobsNamespaceSelector");
    if (s != NULL) {
        check_exempt(c, s, SYSTEM_NAMESPACE);
        check_exempt(c, s, sl_json_path_text(c->document, "namespace", DEFAULT_NAMESPACE));
        sl_selector_free(s);
    }
    c->metered_queues = selector_at(c, "metrics.localQueueMetrics.localQueueSelector");
}

bool sl_config_is_adapter(const char *framework)
{
    bool yes = false;
    for (size_t i = 0; i < sl_adapters_count() && !yes; i++) {
        yes = strcmp(framework, sl_adapters_at(i)->name) == 0;
    }
    return yes;
}

static bool is_driven(const char *framework)
{
    return strcmp(framework, sl_job_framework.name) == 0 ||
           strcmp(framework, sl_pod_framework.name) == 0 ||
           strcmp(framework, SL_FRAMEWORK_DEPLOYMENT) == 0 || sl_config_is_adapter(framework);
}

static void check_frameworks(struct sl_config *c)
{
    const struct sl_json *list = sl_json_path(c->document, "integrations.frameworks");
    for (size_t i = 0; i < sl_json_len(list); i++) {
        const char *name = sl_json_text(sl_json_at(list, i), "");
        if (name[0] != '\0' && !is_driven(name)) {
            char field[64];
            (void)snprintf(field, sizeof field, "integrations.frameworks[%zu]", i);
            sl_config_warn(c, field,
                           "\"%.64s\" is neither built in nor described by a file in --adapters",
                           name);
        }
    }
}

/* Who makes the Workloads of a kind is one or the other. */
static void check_externals(struct sl_config *c)
{
    const struct sl_framework *f;
    for (size_t i = 0; i < c->jobs.external_count; i++) {
        for (size_t k = 0; (f = sl_jobs_framework(k)) != NULL; k++) {
            char field[64], name[SL_EXTERNAL_NAME_SIZE];
            const struct sl_kind_info *info = sl_kind_info(f->kind);
            (void)snprintf(name, sizeof name, "%s.%s.%s", info->kind, info->version, info->group);
            if (f->composition == NULL && sl_jobs_enabled(&c->jobs, f) &&
                strcmp(name, c->jobs.externals[i]) == 0) {
                (void)snprintf(field, sizeof field, "integrations.externalFrameworks[%zu]", i);
                sl_config_refuse(c, field, "\"%s\" is managed here, as %s", name, f->name);
            }
        }
    }
}

static void check_certificates(struct sl_config *c)
{
    static const char at[] = "internalCertManagement";
    const struct sl_json *v = sl_json_get(c->document, at);
    if (!sl_json_path_bool(v, "enable", true)) {
        return;
    }
    const char *service = sl_json_path_text(v, "webhookServiceName", "a");
    const char *why = *service >= '0' && *service <= '9'
                          ? "must start with a letter"
                          : sl_format_check(SL_PATTERN_DNS_LABEL, service);
    if (why != NULL) {
        sl_config_refuse(c, "internalCertManagement.webhookServiceName", "%s", why);
    }
    why = sl_format_check(SL_PATTERN_DNS_SUBDOMAIN, sl_json_path_text(v, "webhookSecretName", "a"));
    if (why != NULL) {
        sl_config_refuse(c, "internalCertManagement.webhookSecretName", "%s", why);
    }
}

/* Those of TLS 1.3 are spoken whether or not they are named. */
static void check_suites(struct sl_config *c)
{
    const struct sl_tls_choice *tls = &c->cluster.tls;
    for (size_t i = 0; i < tls->suite_count; i++) {
        char field[64];
        if (strstr(tls->suites[i], "_WITH_") != NULL && !sl_suites_can_speak(tls->suites[i])) {
            (void)snprintf(field, sizeof field, "tls.cipherSuites[%zu]", i);
            sl_config_warn(c, field, "%s is weak, and not spoken", tls->suites[i]);
        }
    }
}

static bool comes_before(const struct sl_json *list, size_t i)
{
    for (size_t k = 0; k < i; k++) {
        if (sl_json_int(sl_json_at(list, k), 0) == sl_json_int(sl_json_at(list, i), 0)) {
            return true;
        }
    }
    return false;
}

/* Those that Go knows, each once. Can it be spoken? */
static bool check_curve(struct sl_config *c, const struct sl_json *list, size_t i)
{
    char field[64];
    int64_t number = sl_json_int(sl_json_at(list, i), 0);
    const char *name = sl_curves_name(number);
    (void)snprintf(field, sizeof field, "tls.curvePreferences[%zu]", i);
    if (is_refused(c, field)) {
        return false;
    }
    if (name == NULL) {
        sl_config_refuse(c, field, "%" PRId64 " is not a curve that is known", number);
    } else if (comes_before(list, i)) {
        sl_config_refuse(c, field, "%" PRId64 " (%s) is there twice", number, name);
    } else if (!sl_curves_can_speak(number)) {
        sl_config_warn(c, field, "%s is not spoken by the GnuTLS that is used", name);
    }
    return sl_curves_can_speak(number);
}

static void check_curves(struct sl_config *c)
{
    const struct sl_json *list = sl_json_path(c->document, "tls.curvePreferences");
    size_t spoken = 0;
    for (size_t i = 0; i < sl_json_len(list); i++) {
        spoken += check_curve(c, list, i);
    }
    if (spoken == 0 && sl_json_len(list) > 0 && !is_refused(c, "tls.curvePreferences")) {
        sl_config_refuse(c, "tls.curvePreferences",
                         "none of them is spoken by the GnuTLS that is used");
    }
}

static void check_servers(struct sl_config *c)
{
    check_suites(c);
    check_curves(c);
    const char *version = sl_json_path_text(c->document, "tls.minVersion", "");
    if (strcmp(version, "VersionTLS13") == 0 &&
        sl_json_len(sl_json_path(c->document, "tls.cipherSuites")) > 0) {
        sl_config_refuse(c, "tls.cipherSuites",
                         "must not be given when minVersion is VersionTLS13");
    }
}

/* One holder stops before the next begins, and each has more than one try before that. */
static void check_election(struct sl_config *c)
{
    const char *lock = sl_json_path_text(c->document, "leaderElection.resourceLock", "");
    const struct sl_config_cluster *k = &c->cluster;
    if (!k->on) {
        return;
    }
    if (lock[0] != '\0' && strcmp(lock, "leases") != 0) {
        sl_config_refuse(c, "leaderElection.resourceLock", "only leases can be used");
    }
    if (k->lease_ms < 1000) {
        sl_config_refuse(c, "leaderElection.leaseDuration", "must be a second at least");
    }
    if (k->renew_ms >= k->lease_ms) {
        sl_config_refuse(c, "leaderElection.renewDeadline", "must be less than leaseDuration");
    }
    if (k->retry_ms * 6 >= k->renew_ms * 5) {
        sl_config_refuse(c, "leaderElection.retryPeriod",
                         "must be less than five sixths of renewDeadline");
    }
}

const char *sl_config_fits_kind(const char *text)
{
    struct sl_external x;
    return sl_external_read(text, &x) ? NULL : "is not Kind.version.group, as in Job.v1.batch";
}

const char *sl_config_fits_ip(const char *text)
{
    unsigned char ip[sizeof(struct in6_addr)];
    return inet_pton(AF_INET, text, ip) != 1 && inet_pton(AF_INET6, text, ip) != 1
               ? "is not an IP address"
               : NULL;
}

void sl_config_check_rules(struct sl_config *c)
{
    check_fair_sharing(c);
    check_quota_strategy(c);
    check_selectors(c);
    check_frameworks(c);
    check_externals(c);
    check_certificates(c);
    check_servers(c);
    check_election(c);
}
