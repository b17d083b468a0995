/* SPDX-License-Identifier: Apache-2.0
 * SPDX-FileCopyrightText: The Sluice authors */

/* sluiced: options and configuration in, daemon on. Exit codes: 0 stopped cleanly, 1 could not start or lost its lease, 2 wrong
 * usage, 3 the database is damaged, 4 a guarantee was found broken (--paranoid). */
#include "api/objects/schema.h"
#include "cli/config/config.h"
#include "cli/daemon/daemon.h"
#include "cli/daemon/daemon_cluster.h"
#include "cli/policies/policies.h"
#include "cli/common/version.h"
#include "controllers/adapters/adapter.h"
#include <stdio.h>
#include <sys/stat.h>

#define STATUS_DAMAGED 3

/* The field with its file, where it is in one. */
static void print_complaint(FILE *to, const char *start, const char *file,
                            const struct sl_json *item)
{
    const char *field = sl_json_path_text(item, "field", "");
    bool in_file = file != NULL && field[0] != '-';
    fprintf(to, "%s%s%s%s%s%s\n", start, in_file ? file : "", in_file ? ": " : "", field,
            field[0] == '\0' ? "" : ": ", sl_json_path_text(item, "why", ""));
}

/* Errors go to the terminal where the command was typed, warnings to the log. */
static bool report(const struct sl_config *config, const char *file)
{
    for (size_t i = 0; i < sl_json_len(config->errors); i++) {
        print_complaint(stderr, "sluiced: ", file, sl_json_at(config->errors, i));
    }
    return sl_json_len(config->errors) == 0;
}

static void log_configuration(const struct sl_config *config, const char *file)
{
    sl_config_log(config, file);
    for (size_t i = 0; i < sl_json_len(config->warnings); i++) {
        const struct sl_json *item = sl_json_at(config->warnings, i);
        sl_log(SL_LOG_WARN, "configured without effect", "field",
               sl_json_path_text(item, "field", ""), "why", sl_json_path_text(item, "why", ""),
               NULL);
    }
}

/* --check-config: everything that a start would say, and no start. */
static int check(const struct sl_config *config, const char *file)
{
    struct sl_buf facts = {0};
    if (!report(config, file)) {
        return 1;
    }
    for (size_t i = 0; i < sl_json_len(config->warnings); i++) {
        print_complaint(stdout, "without effect: ", file, sl_json_at(config->warnings, i));
    }
    sl_config_print(config, &facts);
    printf("%s: valid in %s mode. In force:\n%s", file,
           config->cluster.on ? "cluster" : "standalone", facts.data);
    sl_buf_fini(&facts);
    return 0;
}

/* --print-policies: what to apply on the way out, what to know beside it. */
static int print_policies(const struct sl_config *config, const struct sl_daemon_options *options)
{
    const struct sl_policies_wish wish = {.jobs = &config->jobs,
                                          .namespaces = config->managed,
                                          .minor = options->policies_minor,
                                          .webhook = options->webhook == SL_WEBHOOK_ON};
    struct sl_json *unsuspended, *all = sl_policies_make(&wish, &unsuspended);
    struct sl_buf text = {0};
    for (size_t i = 0; i < sl_json_len(all); i++) {
        sl_buf_text(&text, "---\n");
        sl_json_print_yaml(sl_json_at(all, i), &text);
    }
    fputs(text.data, stdout);
    for (size_t i = 0; i < sl_json_len(unsuspended); i++) {
        fprintf(stderr,
                "sluiced: %s: no policy suspends it when it is created, so the daemon does a "
                "moment later, and a pod "
                "of it may start and be stopped\n",
                sl_json_text(sl_json_at(unsuspended, i), ""));
    }
    sl_buf_fini(&text);
    sl_json_free(unsuspended);
    sl_json_free(all);
    return 0;
}

static int serve(const struct sl_daemon_options *options, struct sl_config *config)
{
    struct sl_error e = {0};
    struct sl_daemon_options configured = *options;
    struct sl_buf facts = {0};
    sl_config_print(config, &facts);
    configured.facts = facts.data;
    configured.keep_requests = !config->cleanup_requests;
    configured.force_lost_pods = config->force_lost_pods;
    configured.metered = config->metered;
    configured.jobs = &config->jobs;
    config->settings.paranoid = options->paranoid;
    log_configuration(config, options->config);
    sl_zap_warn(&options->zap);
    enum sl_code code = options->standalone ? sl_daemon_run(&configured, &config->settings, &e)
                                            : sl_daemon_cluster_run(&configured, config, &e);
    sl_buf_fini(&facts);
    if (code != SL_CODE_OK) {
        bool says_all = !options->standalone || code == SL_CODE_DAMAGED;
        fprintf(stderr, "sluiced: %s%s\n", says_all ? "" : "cannot start: ", e.text);
    }
    return code == SL_CODE_OK ? 0 : code == SL_CODE_DAMAGED ? STATUS_DAMAGED : 1;
}

/* What programs that run jobs ask an API server for, besides what they run: leader election, and how many volumes fit. */
static enum sl_code serve_more_kinds(struct sl_error *e)
{
    static const struct {
        const char *version, *kind, *plural;
        bool namespaced;
    } kinds[] = {{"coordination.k8s.io/v1", "Lease", "leases", true},
                 {"storage.k8s.io/v1", "CSINode", "csinodes", false}};
    enum sl_code code = SL_CODE_OK;
    for (size_t i = 0; i < sizeof kinds / sizeof kinds[0] && code == SL_CODE_OK; i++) {
        enum sl_kind kind;
        code = sl_kind_refer(kinds[i].version, kinds[i].kind, kinds[i].plural, kinds[i].namespaced,
                             &kind, e);
    }
    return code;
}

static int run(const struct sl_daemon_options *options)
{
    struct sl_error e = {0};
    int status = 1;
    if (options->run_external && serve_more_kinds(&e) != SL_CODE_OK) {
        fprintf(stderr, "sluiced: --run external: %s\n", e.text);
        return status;
    }
    if (options->adapters != NULL && sl_adapters_load(options->adapters, &e) != SL_CODE_OK) {
        fprintf(stderr, "sluiced: --adapters: %s\n", e.text);
        return status;
    }
    const char *file = options->check_config != NULL ? options->check_config : options->config;
    struct sl_config *config = sl_config_load(file, options->feature_gates, !options->standalone);
    if (options->check_config != NULL) {
        status = check(config, file);
    } else if (report(config, file)) {
        status =
            options->policies_minor != 0 ? print_policies(config, options) : serve(options, config);
    }
    sl_config_free(config);
    sl_adapters_forget();
    return status;
}

static void print_version(struct sl_buf *out)
{
    sl_buf_text(out, "sluiced " SL_VERSION "\n");
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
        struct sl_buf text = {0};
        (options.show_help ? sl_daemon_options_help : print_version)(&text);
        fputs(text.data, stdout);
        sl_buf_fini(&text);
        return 0;
    }
    sl_log_setup(options.log_level, options.log_json);
    return run(&options);
}
