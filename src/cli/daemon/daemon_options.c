/* SPDX-License-Identifier: Apache-2.0
 * SPDX-FileCopyrightText: The Sluice authors */

/* The options of sluiced. */
#include "cli/daemon/daemon_options.h"
#include "base/check.h"
#include "api/objects/quantity.h"
#include "cli/common/flags.h"
#include <stdlib.h>
#include <string.h>

#define JOURNAL_FILE_MIN 65536LL
#define JOURNAL_FILE_MAX 17179869184LL

const char sl_daemon_usage[] =
    "usage: sluiced --standalone [options]\n"
    "       sluiced --kubeconfig FILE [options]\n"
    "       sluiced [options]    in a pod\n"
    "\n"
    "Queues jobs and admits them when there is quota: the jobs of a Kubernetes cluster or, in "
    "standalone mode,\nthose of its own API server, where jobs are simulated and no container is "
    "started.\n"
    "\n"
    "Cluster mode:\n"
    "  --kubeconfig FILE     the cluster and its credentials (default: the service account of the "
    "pod)\n"
    "  --context NAME        the kubeconfig's context (default: its current one)\n"
    "  --leader-elect[=BOOL] make decisions only while holding a Lease (default: as configured, "
    "else true in a\n"
    "                        pod and false with --kubeconfig)\n"
    "  --metricsPort PORT    serve metrics, health and pending workloads on 127.0.0.1:PORT\n"
    "  --visibility-listen ADDR:PORT\n"
    "                        serve the Visibility API with TLS to the API server (default: in a "
    "pod as\n"
    "                        configured, else [::]:8082; 0: off)\n"
    "  --tls-dir DIR         its tls.crt and tls.key, read again when they change (default: made "
    "at start)\n"
    "  --enableTAS[=BOOL]    accepted for Kueue's load generator; has no effect and can only be "
    "true\n"
    "  --data DIR            directory for the journal of all decisions (default: none)\n"
    "\n"
    "Standalone mode:\n"
    "  --standalone          run without a Kubernetes cluster\n"
    "  --data DIR            directory for all data (default: sluice-data)\n"
    "  --token-file FILE     serve with TLS, and only requests with the token in FILE, which is "
    "made if missing;\n"
    "                        always so with --allow-remote (default then: token in the data "
    "directory)\n"
    "  --tls-dir DIR         tls.crt and tls.key, read again when they change (default: made in "
    "the "
    "data\n"
    "                        directory)\n"
    "\n"
    "Both:\n"
    "  --listen ADDR:PORT    address of the API (default: 127.0.0.1:8088; port 0: any free one); "
    "in "
    "cluster mode\n"
    "                        of metrics, health and pending workloads\n"
    "  --allow-remote        listen on other addresses than loopback, too; in cluster mode without "
    "authentication\n"
    "  --journal-file SIZE   size after which the journal begins its next file (default: 64Mi); "
    "the "
    "newest four\n"
    "                        are kept\n"
    "  --no-confinement      do not give up capabilities, access to files, and system calls\n"
    "  --paranoid            check all guarantees before and after each cycle, and end when one is "
    "broken\n"
    "  --adapters DIR        files that describe more kinds of jobs (docs/adapters.md)\n"
    "  --config FILE         Kueue's Configuration (config.kueue.x-k8s.io/v1beta2), YAML or JSON\n"
    "  --feature-gates LIST  Kueue's feature gates, as in A=true,B=false; not with featureGates in "
    "FILE\n"
    "  --log-level LEVEL     debug, info, warn or error (default: info)\n"
    "  --log-format FORMAT   text or json (default: text)\n"
    "  --version             print the version and exit\n"
    "  --help                print this and exit\n";

static enum sl_code parse_level(const char *text, enum sl_log_level *out, struct sl_error *e)
{
    static const char *const names[] = {"debug", "info", "warn", "error"};
    static const enum sl_log_level levels[] = {SL_LOG_DEBUG, SL_LOG_INFO, SL_LOG_WARN,
                                               SL_LOG_ERROR};
    for (size_t i = 0; i < sizeof names / sizeof names[0]; i++) {
        if (strcmp(text, names[i]) == 0) {
            *out = levels[i];
            return SL_CODE_OK;
        }
    }
    return sl_error_set(e, SL_CODE_BAD_REQUEST,
                        "--log-level: \"%.64s\" is not one of debug, info, warn, error", text);
}

static enum sl_code parse_format(const char *text, bool *json, struct sl_error *e)
{
    *json = strcmp(text, "json") == 0;
    if (!*json && strcmp(text, "text") != 0) {
        return sl_error_set(e, SL_CODE_BAD_REQUEST,
                            "--log-format: \"%.64s\" is not one of json, text", text);
    }
    return SL_CODE_OK;
}

/* ADDR:PORT or [V6]:PORT. Whether the address exists is found out when listening on it. */
static enum sl_code check_listen(const char *flag, const char *text, struct sl_error *e)
{
    const char *colon = strrchr(text, ':');
    if (colon == NULL || colon == text) {
        return sl_error_set(e, SL_CODE_BAD_REQUEST, "%s: \"%.64s\" is not ADDR:PORT", flag, text);
    }
    bool brackets = text[0] == '[' && colon[-1] == ']';
    if (!brackets && memchr(text, ':', (size_t)(colon - text)) != NULL) {
        return sl_error_set(e, SL_CODE_BAD_REQUEST,
                            "%s: an IPv6 address needs brackets, as in [::1]:8088", flag);
    }
    char *end;
    unsigned long port = strtoul(colon + 1, &end, 10);
    if (colon[1] < '0' || colon[1] > '9' || *end != '\0' || port > 65535) {
        return sl_error_set(e, SL_CODE_BAD_REQUEST, "%s: \"%.64s\" is not a port from 0 to 65535",
                            flag, colon + 1);
    }
    return SL_CODE_OK;
}

static enum sl_code parse_journal(const char *text, int64_t *out, struct sl_error *e)
{
    struct sl_quantity q;
    if (sl_quantity_parse(text, &q, NULL) != SL_CODE_OK) {
        return sl_error_set(e, SL_CODE_BAD_REQUEST,
                            "--journal-file: \"%.64s\" is not a size, as in 64Mi", text);
    }
    *out = sl_quantity_value(q);
    if (*out < JOURNAL_FILE_MIN || *out > JOURNAL_FILE_MAX) {
        return sl_error_set(e, SL_CODE_BAD_REQUEST,
                            "--journal-file: %.64s is not from 64Ki to 16Gi", text);
    }
    return SL_CODE_OK;
}

/* What makes no sense in this mode is refused: it would be waited for in vain. */
static enum sl_code check_standalone(struct sl_daemon_options *o, struct sl_error *e)
{
    const struct {
        bool given;
        const char *flag;
    } strange[] = {{o->kubeconfig != NULL, "--kubeconfig"},
                   {o->context != NULL, "--context"},
                   {o->elect_leader != SL_FLAG_UNSAID, "--leader-elect"},
                   {o->metrics_port != 0, "--metricsPort"},
                   {o->visibility_listen != NULL, "--visibility-listen"},
                   {o->topology != SL_FLAG_UNSAID, "--enableTAS"}};
    for (size_t i = 0; i < sizeof strange / sizeof strange[0]; i++) {
        if (strange[i].given) {
            return sl_error_set(e, SL_CODE_BAD_REQUEST, "%s: not with --standalone",
                                strange[i].flag);
        }
    }
    if (o->tls_dir != NULL && !o->allow_remote && o->token_file == NULL) {
        return sl_error_set(e, SL_CODE_BAD_REQUEST,
                            "--tls-dir: with --standalone only beside --allow-remote or "
                            "--token-file");
    }
    o->data_dir = o->data_dir == NULL ? "sluice-data" : o->data_dir;
    o->listen = o->listen == NULL ? "127.0.0.1:8088" : o->listen;
    return SL_CODE_OK;
}

static enum sl_code check_cluster(const struct sl_daemon_options *o, struct sl_error *e)
{
    if (o->kubeconfig == NULL && getenv("KUBERNETES_SERVICE_HOST") == NULL) {
        return sl_error_set(e, SL_CODE_BAD_REQUEST,
                            "not running in a pod: give --kubeconfig FILE or --standalone");
    }
    if (o->token_file != NULL) {
        return sl_error_set(e, SL_CODE_BAD_REQUEST, "--token-file: only with --standalone");
    }
    if (o->context != NULL && o->kubeconfig == NULL) {
        return sl_error_set(e, SL_CODE_BAD_REQUEST, "--context: only with --kubeconfig");
    }
    if (o->metrics_port < 0 || o->metrics_port > 65535) {
        return sl_error_set(e, SL_CODE_BAD_REQUEST,
                            "--metricsPort: %lld is not a port from 0 to 65535",
                            (long long)o->metrics_port);
    }
    if (o->metrics_port != 0 && o->listen != NULL) {
        return sl_error_set(e, SL_CODE_BAD_REQUEST, "--metricsPort: not with --listen");
    }
    if (o->topology == SL_FLAG_NO) {
        return sl_error_set(
            e, SL_CODE_BAD_REQUEST,
            "--enableTAS: topology cannot be switched off; workloads that request none "
            "get no assignment");
    }
    return SL_CODE_OK;
}

static enum sl_code check_names(const struct sl_daemon_options *o, struct sl_error *e)
{
    const struct {
        const char *flag, *value, *what;
    } names[] = {{"--data", o->data_dir, "directory"},     {"--config", o->config, "file"},
                 {"--adapters", o->adapters, "directory"}, {"--kubeconfig", o->kubeconfig, "file"},
                 {"--tls-dir", o->tls_dir, "directory"},   {"--context", o->context, "context"},
                 {"--token-file", o->token_file, "file"}};
    for (size_t i = 0; i < sizeof names / sizeof names[0]; i++) {
        if (names[i].value != NULL && names[i].value[0] == '\0') {
            return sl_error_set(e, SL_CODE_BAD_REQUEST, "%s: the %s's name is empty", names[i].flag,
                                names[i].what);
        }
    }
    return SL_CODE_OK;
}

enum sl_code sl_daemon_options_parse(int argc, char *const argv[], struct sl_daemon_options *out,
                                     struct sl_error *e)
{
    SL_PRE(out != NULL);
    const char *level = "info";
    const char *format = "text";
    const char *journal = "64Mi";
    *out = (struct sl_daemon_options){0};
    const struct sl_flag table[] = {
        {"--standalone", NULL, SL_FLAG_SWITCH, &out->standalone},
        {"--data", NULL, SL_FLAG_TEXT, &out->data_dir},
        {"--journal-file", NULL, SL_FLAG_TEXT, &journal},
        {"--listen", NULL, SL_FLAG_TEXT, &out->listen},
        {"--allow-remote", NULL, SL_FLAG_SWITCH, &out->allow_remote},
        {"--token-file", NULL, SL_FLAG_TEXT, &out->token_file},
        {"--no-confinement", NULL, SL_FLAG_SWITCH, &out->unconfined},
        {"--paranoid", NULL, SL_FLAG_SWITCH, &out->paranoid},
        {"--config", NULL, SL_FLAG_TEXT, &out->config},
        {"--adapters", NULL, SL_FLAG_TEXT, &out->adapters},
        {"--kubeconfig", NULL, SL_FLAG_TEXT, &out->kubeconfig},
        {"--context", NULL, SL_FLAG_TEXT, &out->context},
        {"--leader-elect", NULL, SL_FLAG_CHOICE, &out->elect_leader},
        {"--metricsPort", NULL, SL_FLAG_NUMBER, &out->metrics_port},
        {"--visibility-listen", NULL, SL_FLAG_TEXT, &out->visibility_listen},
        {"--tls-dir", NULL, SL_FLAG_TEXT, &out->tls_dir},
        {"--enableTAS", NULL, SL_FLAG_CHOICE, &out->topology},
        {"--feature-gates", NULL, SL_FLAG_TEXT, &out->feature_gates},
        {"--log-level", NULL, SL_FLAG_TEXT, &level},
        {"--log-format", NULL, SL_FLAG_TEXT, &format},
        {"--version", NULL, SL_FLAG_SWITCH, &out->show_version},
        {"--help", "-h", SL_FLAG_SWITCH, &out->show_help}};
    struct sl_flags flags = {.table = table, .table_count = sizeof table / sizeof table[0]};
    enum sl_code code = sl_flags_parse(&flags, argc, argv, e);
    if (code != SL_CODE_OK || out->show_version || out->show_help) {
        return code;
    }
    if (flags.arguments.count > 0) {
        return sl_error_set(e, SL_CODE_BAD_REQUEST, "unexpected argument \"%.64s\"",
                            flags.arguments.items[0]);
    }
    if ((code = out->standalone ? check_standalone(out, e) : check_cluster(out, e)) != SL_CODE_OK ||
        (code = check_names(out, e)) != SL_CODE_OK ||
        (code = parse_journal(journal, &out->journal_bytes, e)) != SL_CODE_OK ||
        (code = parse_level(level, &out->log_level, e)) != SL_CODE_OK ||
        (code = parse_format(format, &out->log_json, e)) != SL_CODE_OK) {
        return code;
    }
    code = out->listen == NULL ? SL_CODE_OK : check_listen("--listen", out->listen, e);
    const char *visibility = out->visibility_listen;
    return code != SL_CODE_OK || visibility == NULL || strcmp(visibility, "0") == 0
               ? code
               : check_listen("--visibility-listen", visibility, e);
}
