/* SPDX-License-Identifier: Apache-2.0
 * SPDX-FileCopyrightText: The Sluice authors */

/* sluiced: options in, daemon on. Exit codes: 0 stopped cleanly, 1 could not start, 2 wrong usage. */
#include "cli/daemon.h"
#include "cli/version.h"
#include <stdio.h>

int main(int argc, char *argv[])
{
    struct sl_daemon_options options;
    struct sl_error e = {0};
    if (sl_daemon_options_parse(argc, argv, &options, &e) != SL_CODE_OK) {
        fprintf(stderr, "sluiced: %s (see sluiced --help)\n", e.text);
        return 2;
    }
    if (options.show_help || options.show_version) {
        fputs(options.show_help ? sl_daemon_usage : "sluiced " SL_VERSION "\n", stdout);
        return 0;
    }
    sl_log_setup(options.log_level, options.log_json);
    if (sl_daemon_run(&options, &e) != SL_CODE_OK) {
        fprintf(stderr, "sluiced: cannot start: %s\n", e.text);
        return 1;
    }
    return 0;
}
