/* SPDX-License-Identifier: Apache-2.0
 * SPDX-FileCopyrightText: The Sluice authors */

#include "server/mhd.h"

#include <errno.h>
#include <stdio.h>
#include <string.h>
#include <sys/resource.h>

#include "base/log.h"

#define IDLE_SECONDS_MAX 120u
#define FILES_BESIDES 64u   /* open files that are no connections */
#define CONNECTIONS_MIN 16u /* with fewer there is no use in starting */

static void on_log(void *context, const char *format, va_list args)
{
    char text[256];
    (void)context;
    (void)vsnprintf(text, sizeof text, format, args);
    text[strcspn(text, "\n")] = '\0';
    sl_log(SL_LOG_DEBUG, "http", "text", text, NULL);
}

/* The limit of open files, raised to `files` if that may be. */
static rlim_t allow_files(rlim_t files)
{
    struct rlimit limit;
    if (getrlimit(RLIMIT_NOFILE, &limit) != 0 || limit.rlim_cur >= files) {
        return files;
    }
    limit.rlim_cur = limit.rlim_max < files ? limit.rlim_max : files;
    if (setrlimit(RLIMIT_NOFILE, &limit) != 0) {
        sl_log(SL_LOG_WARN, "the limit of open files stays low", "reason", strerror(errno), NULL);
        (void)getrlimit(RLIMIT_NOFILE, &limit);
    }
    return limit.rlim_cur;
}

static unsigned files_taken; /* by the connections of all servers */

unsigned sl_mhd_take_files(unsigned wanted, struct sl_error *e)
{
    rlim_t others = (rlim_t)files_taken + FILES_BESIDES;
    rlim_t limit = allow_files(others + wanted);
    unsigned taken = limit >= others + wanted ? wanted
                     : limit > others         ? (unsigned)(limit - others)
                                              : 0;
    if (taken < wanted && taken < CONNECTIONS_MIN) {
        (void)sl_error_set(e, SL_CODE_INTERNAL,
                           "only %llu files may be open at a time, and %llu are needed at least "
                           "(ulimit -n, or LimitNOFILE of the unit)",
                           (unsigned long long)limit, (unsigned long long)others + CONNECTIONS_MIN);
        return 0;
    }
    if (taken < wanted) {
        sl_log(SL_LOG_WARN,
               "fewer connections than usual are served: the limit of open files is low",
               "connections", sl_log_number(taken), "files", sl_log_number((long long)limit), NULL);
    }
    files_taken += taken;
    return taken;
}

void sl_mhd_return_files(unsigned taken)
{
    files_taken -= taken;
}

static void prepare_tls(struct MHD_OptionItem out[static 4], struct sl_tls *tls)
{
    /* The certificate is only what the daemon insists on: each connection gets one of its own. */
    const struct MHD_OptionItem items[4] = {
        {MHD_OPTION_HTTPS_MEM_CERT, 0, (void *)(uintptr_t)sl_tls_certificate(tls)},
        {MHD_OPTION_HTTPS_MEM_KEY, 0, (void *)(uintptr_t)sl_tls_key(tls)},
        {MHD_OPTION_HTTPS_PRIORITIES, 0, (void *)(uintptr_t)sl_tls_priorities(tls)},
        {MHD_OPTION_END, 0, NULL}};
    memcpy(out, items, sizeof items);
}

enum sl_code sl_mhd_new(const struct sl_mhd_calls *calls, struct sl_tls *tls,
                        unsigned connections_max, struct MHD_Daemon **out, struct sl_error *e)
{
    struct MHD_OptionItem items[4] = {{MHD_OPTION_END, 0, NULL}};
    if (tls != NULL) {
        prepare_tls(items, tls);
    }
    *out = MHD_start_daemon(
        MHD_USE_EPOLL | MHD_USE_NO_LISTEN_SOCKET | MHD_ALLOW_SUSPEND_RESUME | MHD_USE_ERROR_LOG |
            (tls != NULL ? (unsigned)MHD_USE_TLS : 0u),
        0, NULL, NULL, calls->request, calls->context, MHD_OPTION_EXTERNAL_LOGGER, on_log, NULL,
        MHD_OPTION_ARRAY, items, MHD_OPTION_CONNECTION_LIMIT, connections_max,
        MHD_OPTION_CONNECTION_TIMEOUT, IDLE_SECONDS_MAX, MHD_OPTION_NOTIFY_CONNECTION,
        calls->connection, calls->context, MHD_OPTION_URI_LOG_CALLBACK, calls->uri, calls->context,
        MHD_OPTION_NOTIFY_COMPLETED, calls->completed, calls->context, MHD_OPTION_END);
    if (*out == NULL) {
        return sl_error_set(e, SL_CODE_INTERNAL, "cannot start the HTTP daemon: %s",
                            strerror(errno));
    }
    return SL_CODE_OK;
}
