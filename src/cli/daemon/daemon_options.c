/* SPDX-License-Identifier: Apache-2.0
 * SPDX-FileCopyrightText: The Sluice authors */

/* The options of sluiced. */
#include "cli/daemon/daemon_options.h"
#include "base/check.h"
#include "api/objects/quantity.h"
#include "cli/common/flags.h"
#include "cli/policies/policies.h"
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#define JOURNAL_FILE_MIN 65536LL
#define JOURNAL_FILE_MAX 17179869184LL

/* What is parsed: the options, and texts that are judged afterwards. */
struct given {
    struct sl_daemon_options options;
    const char *level, *format, *journal, *policies, *webhook, *run;
};

/* The one table of options; its scopes are the sections of the help. */
#define AT(member) offsetof(struct given, member)
#define CLUSTER "cluster"
#define STANDALONE "standalone"
#define BOTH NULL
static const struct sl_flag table[] = {
    {"--kubeconfig", NULL, SL_FLAG_TEXT, AT(options.kubeconfig), "FILE", CLUSTER,
     "the cluster and its credentials (default: the service account of the pod)"},
    {"--context", NULL, SL_FLAG_TEXT, AT(options.context), "NAME", CLUSTER,
     "the kubeconfig's context (default: its current one)"},
    {"--leader-elect", NULL, SL_FLAG_CHOICE, AT(options.elect_leader), "BOOL", CLUSTER,
     "make decisions only while holding a Lease (default: as configured, else true in a pod and "
     "false with --kubeconfig)"},
    {"--metricsPort", NULL, SL_FLAG_NUMBER, AT(options.metrics_port), "PORT", CLUSTER,
     "serve metrics, health and pending workloads on 127.0.0.1:PORT"},
    {"--visibility-listen", NULL, SL_FLAG_TEXT, AT(options.visibility_listen), "ADDR:PORT", CLUSTER,
     "serve the Visibility API with TLS to the API server (default: in a pod as configured, else "
     "[::]:8082; 0: off)"},
    {"--webhook", NULL, SL_FLAG_TEXT, AT(webhook), "CHOICE", CLUSTER,
     "suspend jobs and gate pods by a webhook: on, off, or auto: where the cluster has no "
     "MutatingAdmissionPolicy (default: auto)"},
    {"--webhook-listen", NULL, SL_FLAG_TEXT, AT(options.webhook_listen), "ADDR:PORT", CLUSTER,
     "serve the webhook there, and have the API server ask it there (default: in a pod as "
     "configured, by its Service; else nowhere)"},
    {"--tls-dir", NULL, SL_FLAG_TEXT, AT(options.tls_dir), "DIR", CLUSTER,
     "its tls.crt and tls.key, read again when they change (default: made at start)"},
    {"--enableTAS", NULL, SL_FLAG_CHOICE, AT(options.zap.topology), "BOOL", CLUSTER,
     "accepted for Kueue's load generator; has no effect: topology is always there"},
    {"--cpuprofile", NULL, SL_FLAG_TEXT, AT(options.zap.cpu_profile), "FILE", CLUSTER,
     "accepted for Kueue's load generator; has no effect"},
    {"--memprofile", NULL, SL_FLAG_TEXT, AT(options.zap.memory_profile), "FILE", CLUSTER,
     "the same"},
    {"--zap-log-level", NULL, SL_FLAG_TEXT, AT(options.zap.level), "LEVEL", CLUSTER,
     "what Kueue's manager logs: debug, info, error, panic or a number; in place of --log-level"},
    {"--zap-encoder", NULL, SL_FLAG_TEXT, AT(options.zap.encoder), "FORMAT", CLUSTER,
     "console or json; in place of --log-format"},
    {"--zap-devel", NULL, SL_FLAG_CHOICE, AT(options.zap.devel), "BOOL", CLUSTER,
     "accepted for Kueue's Deployments; has no effect"},
    {"--zap-stacktrace-level", NULL, SL_FLAG_TEXT, AT(options.zap.stacktrace), "LEVEL", CLUSTER,
     "the same"},
    {"--zap-time-encoding", NULL, SL_FLAG_TEXT, AT(options.zap.encoding), "FORMAT", CLUSTER,
     "the same"},
    {"--data", NULL, SL_FLAG_TEXT, AT(options.data_dir), "DIR", CLUSTER,
     "directory for the journal of all decisions (default: none)"},
    {"--standalone", NULL, SL_FLAG_SWITCH, AT(options.standalone), NULL, STANDALONE,
     "run without a Kubernetes cluster"},
    {"--data", NULL, SL_FLAG_TEXT, AT(options.data_dir), "DIR", STANDALONE,
     "directory for all data (default: sluice-data)"},
    {"--run", NULL, SL_FLAG_TEXT, AT(run), "HOW", STANDALONE,
     "simulated: jobs last as long as they say, and nothing is run; processes: the commands of "
     "containers are run on this machine, as the user of the daemon; containers: they are run "
     "in their images by podman or docker; external: other programs run "
     "them, such as kube-controller-manager with kwok. But for simulated only requests with the "
     "token are served (default: simulated)"},
    {"--container-runtime", NULL, SL_FLAG_TEXT, AT(options.container_runtime), "PROGRAM",
     STANDALONE,
     "with --run containers: a name in PATH or a path, of podman, docker, or what is called as "
     "they "
     "are (default: podman, else docker)"},
    {"--devices", NULL, SL_FLAG_TEXT, AT(options.devices), "LIST", STANDALONE,
     "with --run processes or containers: devices of this machine, as in nvidia.com/gpu=4; each is "
     "given to one "
     "pod "
     "at a time"},
    {"--run-as-submitter", NULL, SL_FLAG_SWITCH, AT(options.run_as_submitter), NULL, STANDALONE,
     "with --run processes or containers, as root: each pod runs as the local user who made its "
     "job, "
     "and never as root unless an administrator says so (docs: Standalone)"},
    {"--token-file", NULL, SL_FLAG_TEXT, AT(options.token_file), "FILE", STANDALONE,
     "serve with TLS, and only requests with the token in FILE, which is made if missing; always "
     "so with --allow-remote (default then: token in the data directory)"},
    {"--users", NULL, SL_FLAG_TEXT, AT(options.users), "FILE", STANDALONE,
     "serve with TLS, and only the users in FILE, by their roles, and the token (docs: Users)"},
    {"--socket", NULL, SL_FLAG_TEXT, AT(options.socket), "PATH", STANDALONE,
     "serve on this Unix socket, too: local users without a token, as the kernel names "
     "them, by their roles in the file of --users; as --users for all others (docs: Users)"},
    {"--tls-dir", NULL, SL_FLAG_TEXT, AT(options.tls_dir), "DIR", STANDALONE,
     "tls.crt and tls.key, read again when they change (default: made in the data directory)"},
    {"--listen", NULL, SL_FLAG_TEXT, AT(options.listen), "ADDR:PORT", BOTH,
     "address of the API (default: 127.0.0.1:8088; port 0: any free one); in cluster mode of "
     "metrics, health and pending workloads"},
    {"--allow-remote", NULL, SL_FLAG_SWITCH, AT(options.allow_remote), NULL, BOTH,
     "listen on other addresses than loopback, too; in cluster mode without authentication"},
    {"--journal-file", NULL, SL_FLAG_TEXT, AT(journal), "SIZE", BOTH,
     "size after which the journal begins its next file (default: 64Mi); the newest four are kept"},
    {"--no-confinement", NULL, SL_FLAG_SWITCH, AT(options.unconfined), NULL, BOTH,
     "do not give up capabilities, access to files, and system calls"},
    {"--paranoid", NULL, SL_FLAG_SWITCH, AT(options.paranoid), NULL, BOTH,
     "check all guarantees before and after each cycle, and end when one is broken"},
    {"--adapters", NULL, SL_FLAG_TEXT, AT(options.adapters), "DIR", BOTH,
     "files that describe more kinds of jobs (docs/adapters.md)"},
    {"--config", NULL, SL_FLAG_TEXT, AT(options.config), "FILE", BOTH,
     "Kueue's Configuration (config.kueue.x-k8s.io/v1beta2 or v1beta1), YAML or JSON"},
    {"--check-config", NULL, SL_FLAG_TEXT, AT(options.check_config), "FILE", BOTH,
     "say what is wrong with FILE and what of it has no effect, and exit; with --standalone: in "
     "standalone mode"},
    {"--print-policies", NULL, SL_FLAG_TEXT, AT(policies), "VERSION", CLUSTER,
     "print the admission policies that a cluster of this version of Kubernetes needs for the "
     "configuration and the adapters, and exit, as in --print-policies 1.36"},
    {"--feature-gates", NULL, SL_FLAG_TEXT, AT(options.feature_gates), "LIST", BOTH,
     "Kueue's feature gates, as in A=true,B=false; not with featureGates in FILE"},
    {"--log-level", NULL, SL_FLAG_TEXT, AT(level), "LEVEL", BOTH,
     "debug, info, warn or error (default: info)"},
    {"--log-format", NULL, SL_FLAG_TEXT, AT(format), "FORMAT", BOTH,
     "text or json (default: text)"},
    {"--version", NULL, SL_FLAG_SWITCH, AT(options.show_version), NULL, BOTH,
     "print the version and exit"},
    {"--help", "-h", SL_FLAG_SWITCH, AT(options.show_help), NULL, BOTH, "print this and exit"}};
#define TABLE_COUNT (sizeof table / sizeof table[0])

void sl_daemon_options_help(struct sl_buf *out)
{
    const struct sl_flags flags = {.table = table, .table_count = TABLE_COUNT};
    sl_buf_text(
        out,
        "usage: sluiced --standalone [options]\n"
        "       sluiced --kubeconfig FILE [options]\n"
        "       sluiced [options]    in a pod\n"
        "       sluiced --check-config FILE [--standalone] [--adapters DIR]\n"
        "       sluiced --print-policies VERSION [--config FILE] [--adapters DIR]\n"
        "\n"
        "Queues jobs and admits them when there is quota: the jobs of a Kubernetes cluster or, "
        "in standalone mode,\nthose of its own API server, where jobs are simulated, or run as "
        "processes or containers of this\nmachine, or by other programs.\n\nCluster mode:\n");
    sl_flags_help(&flags, CLUSTER, out);
    sl_buf_text(out, "\nStandalone mode:\n");
    sl_flags_help(&flags, STANDALONE, out);
    sl_buf_text(out, "\nBoth:\n");
    sl_flags_help(&flags, BOTH, out);
}

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

static enum sl_code parse_webhook(const char *text, enum sl_webhook_choice *out, struct sl_error *e)
{
    static const char *const names[] = {"auto", "on", "off"};
    static const enum sl_webhook_choice choices[] = {SL_WEBHOOK_AUTO, SL_WEBHOOK_ON,
                                                     SL_WEBHOOK_OFF};
    for (size_t i = 0; i < sizeof names / sizeof names[0]; i++) {
        if (strcmp(text, names[i]) == 0) {
            *out = choices[i];
            return SL_CODE_OK;
        }
    }
    return sl_error_set(e, SL_CODE_BAD_REQUEST, "--webhook: \"%.64s\" is not one of auto, on, off",
                        text);
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

static enum sl_code parse_version(const char *text, unsigned *minor, struct sl_error *e)
{
    char *end;
    const char *number = strncmp(text, "1.", 2) == 0 ? text + 2 : "";
    unsigned long n = strtoul(number, &end, 10);
    if (number[0] < '0' || number[0] > '9' || *end != '\0' || n > 999) {
        return sl_error_set(
            e, SL_CODE_BAD_REQUEST,
            "--print-policies: \"%.64s\" is not a version of Kubernetes, as in 1.36", text);
    }
    if (n < SL_POLICIES_MINOR_MIN) {
        return sl_error_set(
            e, SL_CODE_BAD_REQUEST,
            "--print-policies: Kubernetes %s has no admission policies: they came with 1.%u", text,
            SL_POLICIES_MINOR_MIN);
    }
    *minor = (unsigned)n;
    return SL_CODE_OK;
}

/* What makes no sense in this mode is refused: it would be waited for in vain. */
static enum sl_code check_mode(const struct sl_flags *flags, bool standalone, struct sl_error *e)
{
    const char *misplaced = sl_flags_misplaced(flags, standalone ? STANDALONE : CLUSTER);
    return misplaced == NULL ? SL_CODE_OK
                             : sl_error_set(e, SL_CODE_BAD_REQUEST, "%s: %s with --standalone",
                                            misplaced, standalone ? "not" : "only");
}

static enum sl_code parse_run(const char *text, struct sl_daemon_options *o, struct sl_error *e)
{
    o->run_containers = strcmp(text, "containers") == 0;
    o->run_processes = o->run_containers || strcmp(text, "processes") == 0;
    o->run_external = strcmp(text, "external") == 0;
    if (!o->run_processes && !o->run_external && strcmp(text, "simulated") != 0) {
        return sl_error_set(e, SL_CODE_BAD_REQUEST,
                            "--run: \"%.64s\" is not one of simulated, processes, containers, "
                            "external",
                            text);
    }
    if (o->container_runtime != NULL && !o->run_containers) {
        return sl_error_set(e, SL_CODE_BAD_REQUEST,
                            "--container-runtime: only with --run containers");
    }
    if (o->devices != NULL && !o->run_processes) {
        return sl_error_set(e, SL_CODE_BAD_REQUEST,
                            "--devices: only with --run processes or containers");
    }
    if (o->run_as_submitter && !o->run_processes) {
        return sl_error_set(e, SL_CODE_BAD_REQUEST,
                            "--run-as-submitter: only with --run processes or containers");
    }
    if (o->run_as_submitter && geteuid() != 0) {
        return sl_error_set(e, SL_CODE_BAD_REQUEST,
                            "--run-as-submitter: only root can run programs as other users");
    }
    return SL_CODE_OK;
}

static enum sl_code check_standalone(struct sl_daemon_options *o, struct sl_error *e)
{
    if (o->tls_dir != NULL && !o->allow_remote && o->token_file == NULL && o->users == NULL &&
        o->socket == NULL) {
        return sl_error_set(e, SL_CODE_BAD_REQUEST,
                            "--tls-dir: with --standalone only beside --allow-remote, --users, "
                            "--socket or --token-file");
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
    if (o->webhook == SL_WEBHOOK_ON && o->kubeconfig != NULL && o->webhook_listen == NULL) {
        return sl_error_set(e, SL_CODE_BAD_REQUEST,
                            "--webhook on: with --kubeconfig say by --webhook-listen where the API "
                            "server reaches it");
    }
    return SL_CODE_OK;
}

static enum sl_code check_names(const struct sl_daemon_options *o, struct sl_error *e)
{
    const struct {
        const char *flag, *value, *what;
    } names[] = {{"--data", o->data_dir, "directory"},
                 {"--config", o->config, "file"},
                 {"--adapters", o->adapters, "directory"},
                 {"--kubeconfig", o->kubeconfig, "file"},
                 {"--tls-dir", o->tls_dir, "directory"},
                 {"--context", o->context, "context"},
                 {"--users", o->users, "file"},
                 {"--socket", o->socket, "socket"},
                 {"--token-file", o->token_file, "file"},
                 {"--container-runtime", o->container_runtime, "program"},
                 {"--check-config", o->check_config, "file"}};
    for (size_t i = 0; i < sizeof names / sizeof names[0]; i++) {
        if (names[i].value != NULL && names[i].value[0] == '\0') {
            return sl_error_set(e, SL_CODE_BAD_REQUEST, "%s: the %s's name is empty", names[i].flag,
                                names[i].what);
        }
    }
    return SL_CODE_OK;
}

/* Together: what each option says was judged before. */
static enum sl_code check_all(struct sl_daemon_options *o, const struct sl_flags *flags,
                              struct sl_error *e)
{
    const char *visibility = o->visibility_listen;
    enum sl_code code = check_names(o, e);
    if (code != SL_CODE_OK || o->check_config != NULL) {
        return code;
    }
    code = check_mode(flags, o->standalone, e);
    if (code != SL_CODE_OK || o->policies_minor != 0) {
        return code;
    }
    if ((code = o->standalone ? check_standalone(o, e) : check_cluster(o, e)) != SL_CODE_OK ||
        (o->listen != NULL && (code = check_listen("--listen", o->listen, e)) != SL_CODE_OK) ||
        (o->webhook_listen != NULL &&
         (code = check_listen("--webhook-listen", o->webhook_listen, e)) != SL_CODE_OK)) {
        return code;
    }
    return visibility == NULL || strcmp(visibility, "0") == 0
               ? SL_CODE_OK
               : check_listen("--visibility-listen", visibility, e);
}

enum sl_code sl_daemon_options_parse(int argc, char *const argv[], struct sl_daemon_options *out,
                                     struct sl_error *e)
{
    SL_PRE(out != NULL);
    struct given given = {.level = "info",
                          .format = "text",
                          .journal = "64Mi",
                          .webhook = "auto",
                          .run = "simulated"};
    struct sl_daemon_options *o = &given.options;
    struct sl_flags flags = {
        .table = table, .table_count = TABLE_COUNT, .options = &given, .one_dash = true};
    enum sl_code code = sl_flags_parse(&flags, argc, argv, e);
    if (code == SL_CODE_OK && !o->show_version && !o->show_help) {
        if (flags.arguments.count > 0) {
            code = sl_error_set(e, SL_CODE_BAD_REQUEST, "unexpected argument \"%.64s\"",
                                flags.arguments.items[0]);
        } else if ((code = parse_webhook(given.webhook, &o->webhook, e)) == SL_CODE_OK &&
                   (given.policies == NULL ||
                    (code = parse_version(given.policies, &o->policies_minor, e)) == SL_CODE_OK) &&
                   (code = check_all(o, &flags, e)) == SL_CODE_OK &&
                   (code = parse_run(given.run, o, e)) == SL_CODE_OK &&
                   (code = parse_journal(given.journal, &o->journal_bytes, e)) == SL_CODE_OK &&
                   (code = parse_level(given.level, &o->log_level, e)) == SL_CODE_OK) {
            code = parse_format(given.format, &o->log_json, e);
            code =
                code == SL_CODE_OK ? sl_zap_apply(&o->zap, &o->log_level, &o->log_json, e) : code;
        }
    }
    *out = *o;
    return code;
}
