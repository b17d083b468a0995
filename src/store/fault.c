/* SPDX-License-Identifier: Apache-2.0
 * SPDX-FileCopyrightText: The Sluice authors */

/* What SQLite's results mean: one table says of each whether it passes, whether nothing can be written, or whether the
 * database is damaged, and in which words. */
#include "store/internal.h"

#include <string.h>

#include "base/check.h"

#define REMEDY "restore a backup, or move the directory away to start empty"

struct fault {
    int result; /* SQLite's, primary or extended */
    enum sl_fault means;
    const char *why; /* NULL: in SQLite's own words */
};

/* An extended result before its primary one. A result that is not here is a defect of this program, or a database that
 * is not what the program made of it: no write after it can be trusted. */
static const struct fault faults[] = {
    {SQLITE_FULL, SL_FAULT_ROOM, "the disk is full"},
    {SQLITE_IOERR_NOMEM, SL_FAULT_ROOM, "not enough memory"},
    {SQLITE_IOERR_SHMSIZE, SL_FAULT_ROOM, "the disk is full, there is no room for the log's index"},
    {SQLITE_NOMEM, SL_FAULT_ROOM, "not enough memory"},
    {SQLITE_BUSY, SL_FAULT_ROOM, "the database is in use by another process"},
    {SQLITE_LOCKED, SL_FAULT_ROOM, "the database is in use by another process"},
    {SQLITE_PROTOCOL, SL_FAULT_ROOM, "the database is in use by another process"},
    {SQLITE_IOERR_CORRUPTFS, SL_FAULT_DAMAGE, "its file system is damaged"},
    {SQLITE_IOERR_DATA, SL_FAULT_DAMAGE, "a page has another checksum"},
    {SQLITE_IOERR, SL_FAULT_PASSES, NULL},
    {SQLITE_INTERRUPT, SL_FAULT_PASSES, NULL},
    {SQLITE_ABORT, SL_FAULT_PASSES, NULL},
    {SQLITE_SCHEMA, SL_FAULT_PASSES, NULL},
    {SQLITE_TOOBIG, SL_FAULT_PASSES, "an object is too large"},
    {SQLITE_READONLY, SL_FAULT_PASSES, "the data directory, or a file in it, is read-only"},
    {SQLITE_PERM, SL_FAULT_PASSES, "the data directory, or a file in it, is read-only"},
    {SQLITE_AUTH, SL_FAULT_PASSES, "the data directory, or a file in it, is read-only"},
    {SQLITE_CANTOPEN, SL_FAULT_PASSES, NULL},
    {SQLITE_NOLFS, SL_FAULT_PASSES, "a file is larger than this system allows"},
    {SQLITE_CORRUPT, SL_FAULT_DAMAGE, NULL},
    {SQLITE_NOTADB, SL_FAULT_DAMAGE, NULL},
    {SQLITE_FORMAT, SL_FAULT_DAMAGE, NULL},
    {SQLITE_CONSTRAINT, SL_FAULT_DAMAGE, NULL},
    {SQLITE_MISMATCH, SL_FAULT_DAMAGE, NULL},
};

static const struct fault *find(int result)
{
    for (size_t i = 0; i < sizeof faults / sizeof faults[0]; i++) {
        if (faults[i].result == result || faults[i].result == (result & 0xff)) {
            return &faults[i];
        }
    }
    return NULL;
}

enum sl_fault sl_fault_of(int result)
{
    const struct fault *f = find(result);
    return f == NULL ? SL_FAULT_DAMAGE : f->means;
}

enum sl_code sl_db_damaged(struct sl_store *s, const char *what, struct sl_error *e)
{
    SL_PRE(s != NULL);
    const char *file = s->db == NULL ? NULL : sqlite3_db_filename(s->db, "main");
    struct sl_error found;
    (void)sl_error_set(&found, SL_CODE_DAMAGED, "the database %s is damaged (%.200s): " REMEDY,
                       file == NULL ? "sluice.db" : file, what);
    found.cause_count = 0;
    if (s->damage.code == SL_CODE_OK) {
        s->damage = found;
        if (s->on_damage != NULL) {
            s->on_damage(s->damage_context, &s->damage);
        }
    }
    return sl_error_set(e, found.code, "%s", found.text);
}

enum sl_code sl_db_fail_with(struct sl_store *s, int result, const char *doing, struct sl_error *e)
{
    SL_PRE(s != NULL);
    const struct fault *f = find(result);
    const char *own = s->db == NULL ? sqlite3_errstr(result) : sqlite3_errmsg(s->db);
    const char *why = f == NULL || f->why == NULL ? own : f->why;
    switch (sl_fault_of(result)) {
    case SL_FAULT_ROOM:
        return sl_error_set(e, SL_CODE_UNAVAILABLE, "cannot %s: %s", doing, why);
    case SL_FAULT_DAMAGE:
        return sl_db_damaged(s, why, e);
    case SL_FAULT_PASSES:
        break;
    }
    return sl_error_set(e, SL_CODE_INTERNAL, "cannot %s: %s", doing, why);
}

enum sl_code sl_db_fail(struct sl_store *s, const char *doing, struct sl_error *e)
{
    SL_PRE(doing != NULL);
    int result = s->db == NULL ? SQLITE_NOMEM : sqlite3_extended_errcode(s->db);
    return sl_db_fail_with(s, result, doing, e);
}

void sl_store_on_damage(struct sl_store *s, sl_store_damage_fn *fn, void *context)
{
    SL_PRE(s != NULL);
    s->on_damage = fn;
    s->damage_context = context;
}
