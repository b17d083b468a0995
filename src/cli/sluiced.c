/* SPDX-License-Identifier: Apache-2.0
 * SPDX-FileCopyrightText: The Sluice authors */

/* sluiced: options and configuration in, daemon on. Exit codes: 0 stopped cleanly, 1 could not start or lost its lease, 2 wrong
 * usage, 3 the database is damaged, 4 a guarantee was found broken (--paranoid). */
#include "cli/config/config.h"
#include "cli/daemon/daemon.h"
#include "cli/daemon/daemon_cluster.h"
#include "cli/common/version.h"
#include "controllers/adapters/adapter.h"
#include <stdio.h>
#include <sys/stat.h>

#define STATUS_DAMAGED 3

/* Errors go to the terminal where the command was typed, warnings to the log. */
static bool report(const struct sl_config *config, const char *file)
{
    for (size_t i = 0; i < sl_json_len(config->errors); i++) {
        const struct sl_json *item = sl_json_at(config->errors, i);
        const char *field = sl_json_path_text(item, "field", "");
        bool in_file = file != NULL && field[0] != '-';
        fprintf(stderr, "sluiced: %s%s%s%s%s\n", in_file ? file : "", in_file ? ": " : "", field,
                field[0] == '\0' ? "" : ": ", sl_json_path_text(item, "why", ""));
    }
    if (sl_json_len(config->errors) > 0) {
        return false;
    }
    for (size_t i = 0; i < sl_json_len(config->warnings); i++) {
        const struct sl_json *item = sl_json_at(config->warnings, i);
        sl_log(SL_LOG_WARN, "configured without effect", "field",
               sl_json_path_text(item, "field", ""), "why", sl_json_path_text(item, "why", ""),
               NULL);
    }
    return true;
}

static int run(const struct sl_daemon_options *options)
{
    struct sl_error e = {0};
    int status = 1;
    if (options->adapters != NULL && sl_adapters_load(options->adapters, &e) != SL_CODE_OK) {
        fprintf(stderr, "sluiced: --adapters: %s\n", e.text);
        return status;
    }
    struct sl_config *config =
        sl_config_load(options->config, options->feature_gates, !options->standalone);
    if (report(config, options->config)) {
        struct sl_daemon_options configured = *options;
        configured.keep_requests = !config->cleanup_requests;
        configured.metered = config->metered;
        configured.jobs = &config->jobs;
        config->settings.paranoid = options->paranoid;
        enum sl_code code = options->standalone ? sl_daemon_run(&configured, &config->settings, &e)
                                                : sl_daemon_cluster_run(options, config, &e);
        status = code == SL_CODE_OK ? 0 : code == SL_CODE_DAMAGED ? STATUS_DAMAGED : 1;
        if (code != SL_CODE_OK) {
            bool says_all = !options->standalone || code == SL_CODE_DAMAGED;
            fprintf(stderr, "sluiced: %s%s\n", says_all ? "" : "cannot start: ", e.text);
        }
    }
    sl_config_free(config);
    sl_adapters_forget();
    return status;
}

int main(int argc, char *argv[])
{
    struct sl_daemon_options options;
    struct sl_error e = {0};
    (void)umask(077); /* its files are for their owner alone */
    if (sl_daemon_options_parse(argc, argv, &options, &e) != SL_CODE_OK) {
        fprintf(stderr, "sluiced: %s (see sluiced --help)\n", e.text);
        return 2;
    }
    if (options.show_help || options.show_version) {
        fputs(options.show_help ? sl_daemon_usage : "sluiced " SL_VERSION "\n", stdout);
        return 0;
    }
    sl_log_setup(options.log_level, options.log_json);
    return run(&options);
}
