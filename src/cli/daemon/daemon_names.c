/* SPDX-License-Identifier: Apache-2.0
 * SPDX-FileCopyrightText: The Sluice authors */

/* Names of local users. */
#include "cli/daemon/daemon_names.h"

#include "base/check.h"
#include "base/mem.h"
#include <pwd.h>
#include <stdbool.h>
#include <stddef.h>

#define ROW_BYTES 16384u /* of a user in the list of all */

static void look_up(struct sl_daemon_name *n, uid_t uid, int64_t now_ms)
{
    char text[ROW_BYTES];
    struct passwd row, *found = NULL;
    int rc = getpwuid_r(uid, &row, text, sizeof text, &found);
    sl_mem_free(n->name);
    *n =
        (struct sl_daemon_name){.uid = uid,
                                .name = found != NULL ? sl_mem_text(row.pw_name) : NULL,
                                .since_ms = now_ms,
                                .kept_ms = rc == 0 ? SL_DAEMON_NAMES_MS : SL_DAEMON_NAMES_RETRY_MS};
}

/* A clock that was set back makes it old, too. */
static bool is_fresh(const struct sl_daemon_name *n, int64_t now_ms)
{
    return n->kept_ms > 0 && now_ms >= n->since_ms && now_ms - n->since_ms < n->kept_ms;
}

const char *sl_daemon_names_find(struct sl_daemon_names *names, uid_t uid, int64_t now_ms)
{
    SL_PRE(names != NULL);
    struct sl_daemon_name *n = NULL;
    for (size_t i = 0; n == NULL && i < SL_DAEMON_NAMES_MAX; i++) {
        n = names->at[i].kept_ms > 0 && names->at[i].uid == uid ? &names->at[i] : NULL;
    }
    if (n == NULL) {
        n = &names->at[names->next++ % SL_DAEMON_NAMES_MAX];
        n->kept_ms = 0;
    }
    if (!is_fresh(n, now_ms)) {
        look_up(n, uid, now_ms);
    }
    return n->name;
}

void sl_daemon_names_fini(struct sl_daemon_names *names)
{
    SL_PRE(names != NULL);
    for (size_t i = 0; i < SL_DAEMON_NAMES_MAX; i++) {
        sl_mem_free(names->at[i].name);
    }
    *names = (struct sl_daemon_names){.next = 0};
}
