/* SPDX-License-Identifier: Apache-2.0
 * SPDX-FileCopyrightText: The Sluice authors */

/* The options of sluiced. */
#ifndef SL_CLI_DAEMON_OPTIONS_H
#define SL_CLI_DAEMON_OPTIONS_H
#include "base/error.h"
#include "base/log.h"

struct sl_daemon_options {
    const char *data_dir;
    const char *listen; /* ADDR:PORT; port 0 = let the system choose */
    bool allow_remote;
    const char *config;        /* NULL: Kueue's defaults */
    const char *feature_gates; /* NULL: those of the configuration */
    enum sl_log_level log_level;
    bool log_json;
    bool keep_requests; /* of evicted workloads; the configuration says so, not the command line */
    bool standalone, show_version, show_help;
};
/* BAD_REQUEST with a sentence for the user; the options then are not to be used. */
enum sl_code sl_daemon_options_parse(int argc, char *const argv[], struct sl_daemon_options *out,
                                     struct sl_error *e);
extern const char sl_daemon_usage[];
#endif
