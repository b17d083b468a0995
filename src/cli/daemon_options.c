/* SPDX-License-Identifier: Apache-2.0
 * SPDX-FileCopyrightText: The Sluice authors */

/* The options of sluiced. */
#include "cli/daemon_options.h"
#include "cli/flags.h"
#include <stdlib.h>
#include <string.h>

const char sl_daemon_usage[] =
    "usage: sluiced --standalone [options]\n"
    "\n"
    "Queues jobs and gives them quota. Standalone mode brings its own API server, store and job "
    "runner.\n"
    "\n"
    "  --standalone          run without a Kubernetes cluster\n"
    "  --data DIR            where everything is kept (default: sluice-data)\n"
    "  --listen ADDR:PORT    where the API listens (default: 127.0.0.1:8088; port 0: any free "
    "one)\n"
    "  --allow-remote        listen on other addresses than loopback too; there is no "
    "authentication\n"
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
static enum sl_code check_listen(const char *text, struct sl_error *e)
{
    const char *colon = strrchr(text, ':');
    if (colon == NULL || colon == text) {
        return sl_error_set(e, SL_CODE_BAD_REQUEST, "--listen: \"%.64s\" is not ADDR:PORT", text);
    }
    bool brackets = text[0] == '[' && colon[-1] == ']';
    if (!brackets && memchr(text, ':', (size_t)(colon - text)) != NULL) {
        return sl_error_set(e, SL_CODE_BAD_REQUEST,
                            "--listen: an IPv6 address needs brackets, as in [::1]:8088");
    }
    char *end;
    unsigned long port = strtoul(colon + 1, &end, 10);
    if (colon[1] < '0' || colon[1] > '9' || *end != '\0' || port > 65535) {
        return sl_error_set(e, SL_CODE_BAD_REQUEST,
                            "--listen: \"%.64s\" is not a port from 0 to 65535", colon + 1);
    }
    return SL_CODE_OK;
}

enum sl_code sl_daemon_options_parse(int argc, char *const argv[], struct sl_daemon_options *out,
                                     struct sl_error *e)
{
    const char *level = "info";
    const char *format = "text";
    *out = (struct sl_daemon_options){.data_dir = "sluice-data", .listen = "127.0.0.1:8088"};
    const struct sl_flag table[] = {{"--standalone", NULL, SL_FLAG_SWITCH, &out->standalone},
                                    {"--data", NULL, SL_FLAG_TEXT, &out->data_dir},
                                    {"--listen", NULL, SL_FLAG_TEXT, &out->listen},
                                    {"--allow-remote", NULL, SL_FLAG_SWITCH, &out->allow_remote},
                                    {"--config", NULL, SL_FLAG_TEXT, &out->config},
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
    if (out->data_dir[0] == '\0') {
        return sl_error_set(e, SL_CODE_BAD_REQUEST, "--data: the directory's name is empty");
    }
    if (out->config != NULL && out->config[0] == '\0') {
        return sl_error_set(e, SL_CODE_BAD_REQUEST, "--config: the file's name is empty");
    }
    if ((code = parse_level(level, &out->log_level, e)) != SL_CODE_OK ||
        (code = parse_format(format, &out->log_json, e)) != SL_CODE_OK ||
        (code = check_listen(out->listen, e)) != SL_CODE_OK) {
        return code;
    }
    if (!out->standalone) {
        return sl_error_set(e, SL_CODE_BAD_REQUEST,
                            "only standalone mode exists so far: start it with --standalone");
    }
    return SL_CODE_OK;
}
