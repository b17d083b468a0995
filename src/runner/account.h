/* SPDX-License-Identifier: Apache-2.0
 * SPDX-FileCopyrightText: The Sluice authors */

/* The local user that a pod runs as, where the daemon is root and runs pods as their submitters. */
#ifndef SL_RUNNER_ACCOUNT_H
#define SL_RUNNER_ACCOUNT_H
#include "api/json/json.h"
#include <sys/types.h>

struct sl_account {
    char *name, *home, *shell;
    uid_t uid;
    gid_t gid;
};
/* By the annotations of a Job or Pod: the administrator's choice, else its submitter. INVALID and a sentence: it is not known who submitted
 * it, there is no such user, or it is root without an administrator's word. UNAVAILABLE: the look-up failed, and is to be tried
 * again. Free with sl_account_fini. */
enum sl_code sl_account_of(const struct sl_json *object, struct sl_account *out,
                           struct sl_error *e);
/* For the plan of a pod: {name, root: may it be root}; the caller frees it. */
struct sl_json *sl_account_say_new(const struct sl_account *a);
/* What such an entry says; looked up again, by who trusts no other process. False with errno: there is no such user, or it may not
 * be. */
bool sl_account_read(const struct sl_json *said, struct sl_account *out);
void sl_account_fini(struct sl_account *a);
/* The directory becomes that user's alone. False with errno. */
bool sl_account_own(const struct sl_account *a, const char *dir);
/* This process becomes that user, for good: groups, no way back by set-user-ID programs, no keys of the former user. False with
 * errno: it must not go on. */
bool sl_account_become(const struct sl_account *a);

/* Lets users reach the directories of their own pods below `data`, and nothing else there. BAD_REQUEST names the directory above it
 * that they cannot enter. */
enum sl_code sl_account_open_data(const char *data, struct sl_error *e);
#endif
