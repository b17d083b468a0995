/* SPDX-License-Identifier: Apache-2.0
 * SPDX-FileCopyrightText: The Sluice authors */

/* Names of local users by their numbers, kept for some seconds: where the directory of users is on the network, it is not asked for every
 * request, while all others wait. */
#ifndef SL_CLI_DAEMON_NAMES_H
#define SL_CLI_DAEMON_NAMES_H
#include <stdint.h>
#include <sys/types.h>

#define SL_DAEMON_NAMES_MAX 64u
#define SL_DAEMON_NAMES_MS 5000       /* how long a name is kept, and that there is none */
#define SL_DAEMON_NAMES_RETRY_MS 1000 /* and that the look-up failed */

struct sl_daemon_name {
    uid_t uid;
    char *name; /* NULL: there is none, or the look-up failed */
    int64_t since_ms, kept_ms;
};
struct sl_daemon_names { /* all zero: none is known */
    struct sl_daemon_name at[SL_DAEMON_NAMES_MAX];
    unsigned next; /* where the next one goes */
};
/* NULL: it has no name, or the look-up failed. Lent until the next call. */
const char *sl_daemon_names_find(struct sl_daemon_names *names, uid_t uid, int64_t now_ms);
void sl_daemon_names_fini(struct sl_daemon_names *names);
#endif
