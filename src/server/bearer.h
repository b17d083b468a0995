/* SPDX-License-Identifier: Apache-2.0
 * SPDX-FileCopyrightText: The Sluice authors */

/* Bearer tokens: which one a request shows, and the one of a server that knows only one, kept in a file. */
#ifndef SL_SERVER_BEARER_H
#define SL_SERVER_BEARER_H
#include "server/front_proxy.h"

/* Lent by the request; NULL: it shows none. */
const char *sl_bearer_of(const struct sl_call *call);
/* Whether it is that one; how long that takes does not reveal how much of it is right. */
bool sl_bearer_is(const struct sl_call *call, const char *token);
/* The token in the file, which is made with a new one when it is not there, for its owner alone. The caller frees it.
 * Refused with the file and the reason: others may read it, it is no file, it holds no token (16 to 1024 characters without
 * blanks in one line). */
enum sl_code sl_bearer_open(const char *path, char **token, struct sl_error *e);
/* Writes a file for its owner alone, whole or not at all. */
enum sl_code sl_bearer_write(const char *path, const char *text, size_t len, struct sl_error *e);
#endif
