/* SPDX-License-Identifier: Apache-2.0
 * SPDX-FileCopyrightText: The Sluice authors */

/* The audit log: who has written what, a line of JSON each, in audit.log of the data directory. When that is full it becomes
 * audit.log.1, and so on; the oldest goes. */
#ifndef SL_CLI_DAEMON_AUDIT_H
#define SL_CLI_DAEMON_AUDIT_H
#include <sys/types.h>

#include "server/server.h"

#define SL_AUDIT_BYTES_MAX (16 << 20) /* of a file */
#define SL_AUDIT_FILES 4              /* that are full */

struct sl_daemon_audit {
    char *path; /* NULL: there is none */
    int fd;     /* -1: it cannot be written now */
    off_t bytes, bytes_max;
    int64_t complained_ms;
};
/* What cannot be written is complained of in the log, once a minute, and tried again; nothing is refused for it. */
void sl_daemon_audit_open(struct sl_daemon_audit *a, const char *dir);
void sl_daemon_audit_note(void *audit, const struct sl_server_act *act);
void sl_daemon_audit_close(struct sl_daemon_audit *a);
#endif
