/* SPDX-License-Identifier: Apache-2.0
 * SPDX-FileCopyrightText: The Sluice authors */

/* A data directory and its database, for those that copy it and do not open it as a store. */
#ifndef SL_STORE_DB_H
#define SL_STORE_DB_H
#include "store/internal.h"

/* Makes DIR where it is not there, and keeps other processes from it until lock_fd is closed. */
enum sl_code sl_db_lock(struct sl_store *s, const char *dir, struct sl_error *e);
/* Which version the open database at this path is of; 0: there is nothing in it. Refuses those of others, and newer ones. */
enum sl_code sl_db_version(struct sl_store *s, const char *path, int64_t *version,
                           struct sl_error *e);
#endif
