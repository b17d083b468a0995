/* SPDX-License-Identifier: Apache-2.0
 * SPDX-FileCopyrightText: The Sluice authors */

#include "cli/daemon/daemon_zap.h"

#include "base/check.h"
#include <stdlib.h>
#include <string.h>
#include <strings.h>

/* Kueue logs what is for operators at 2, which is the level of its own Deployment, and more than that from 3 on. */
#define VERBOSE_FROM 3

static bool number_of(const char *text, long *out)
{
    char *end;
    *out = strtol(text, &end, 10);
    return text[0] >= '0' && text[0] <= '9' && *end == '\0' && *out <= 127;
}

static enum sl_code apply_level(const char *text, enum sl_log_level *out, struct sl_error *e)
{
    static const struct {
        const char *name;
        enum sl_log_level level;
    } names[] = {{"debug", SL_LOG_DEBUG},
                 {"info", SL_LOG_INFO},
                 {"error", SL_LOG_ERROR},
                 {"panic", SL_LOG_ERROR}};
    long number;
    if (number_of(text, &number)) {
        *out = number >= VERBOSE_FROM ? SL_LOG_DEBUG : SL_LOG_INFO;
        return SL_CODE_OK;
    }
    for (size_t i = 0; i < sizeof names / sizeof names[0]; i++) {
        if (strcasecmp(text, names[i].name) == 0) {
            *out = names[i].level;
            return SL_CODE_OK;
        }
    }
    return sl_error_set(e, SL_CODE_BAD_REQUEST,
                        "--zap-log-level: \"%.64s\" is not one of debug, info, error, panic, nor a "
                        "number up to 127",
                        text);
}

enum sl_code sl_zap_apply(const struct sl_zap *zap, enum sl_log_level *level, bool *json,
                          struct sl_error *e)
{
    SL_PRE(zap != NULL && level != NULL && json != NULL);
    if (zap->encoder != NULL) {
        *json = strcmp(zap->encoder, "json") == 0;
        if (!*json && strcmp(zap->encoder, "console") != 0) {
            return sl_error_set(e, SL_CODE_BAD_REQUEST,
                                "--zap-encoder: \"%.64s\" is not one of json, console",
                                zap->encoder);
        }
    }
    return zap->level == NULL ? SL_CODE_OK : apply_level(zap->level, level, e);
}

size_t sl_zap_idle(const struct sl_zap *zap, const char *names[static SL_ZAP_IDLE_MAX])
{
    SL_PRE(zap != NULL);
    const struct {
        const char *name;
        bool given;
    } idle[SL_ZAP_IDLE_MAX] = {{"--zap-devel", zap->devel == SL_FLAG_YES},
                               {"--zap-stacktrace-level", zap->stacktrace != NULL},
                               {"--zap-time-encoding", zap->encoding != NULL},
                               {"--cpuprofile", zap->cpu_profile != NULL},
                               {"--memprofile", zap->memory_profile != NULL},
                               {"--enableTAS=false", zap->topology == SL_FLAG_NO}};
    size_t count = 0;
    for (size_t i = 0; i < SL_ZAP_IDLE_MAX; i++) {
        if (idle[i].given) {
            names[count++] = idle[i].name;
        }
    }
    return count;
}

void sl_zap_warn(const struct sl_zap *zap)
{
    const char *names[SL_ZAP_IDLE_MAX];
    size_t count = sl_zap_idle(zap, names);
    for (size_t i = 0; i < count; i++) {
        sl_log(SL_LOG_WARN, "option without effect", "option", names[i], NULL);
    }
}
