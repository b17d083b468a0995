/* SPDX-License-Identifier: Apache-2.0
 * SPDX-FileCopyrightText: The Sluice authors */

/* The options by which Kueue's manager logs, so that a Deployment of it keeps its arguments. */
#ifndef SL_CLI_DAEMON_ZAP_H
#define SL_CLI_DAEMON_ZAP_H
#include "cli/common/flags.h"
#include "base/log.h"

struct sl_zap {
    const char *level, *encoder;       /* NULL: not given */
    const char *stacktrace, *encoding; /* without a meaning here */
    enum sl_flag_choice devel;
};

/* What they mean for the log; what was not given stays as it is. BAD_REQUEST names the option. */
enum sl_code sl_zap_apply(const struct sl_zap *zap, enum sl_log_level *level, bool *json,
                          struct sl_error *e);
/* Says in the log which of them were given without an effect. */
void sl_zap_warn(const struct sl_zap *zap);
#endif
