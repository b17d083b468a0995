/* SPDX-License-Identifier: Apache-2.0
 * SPDX-FileCopyrightText: The Sluice authors */

/* The options of Kueue's manager, so that a Deployment of it keeps its arguments, and of the scheduler that its load
 * generator starts. */
#ifndef SL_CLI_DAEMON_ZAP_H
#define SL_CLI_DAEMON_ZAP_H
#include "cli/common/flags.h"
#include "base/log.h"

struct sl_zap {
    const char *level, *encoder;       /* NULL: not given */
    const char *stacktrace, *encoding; /* without a meaning here */
    enum sl_flag_choice devel;
    const char *cpu_profile, *memory_profile; /* the same */
    enum sl_flag_choice topology;             /* which is always there */
};

/* What they mean for the log; what was not given stays as it is. BAD_REQUEST names the option. */
enum sl_code sl_zap_apply(const struct sl_zap *zap, enum sl_log_level *level, bool *json,
                          struct sl_error *e);
/* Those that were given without an effect, and how many. */
#define SL_ZAP_IDLE_MAX 6
size_t sl_zap_idle(const struct sl_zap *zap, const char *names[static SL_ZAP_IDLE_MAX]);
/* Says so in the log. */
void sl_zap_warn(const struct sl_zap *zap);
#endif
