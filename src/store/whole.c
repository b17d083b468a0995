/* SPDX-License-Identifier: Apache-2.0
 * SPDX-FileCopyrightText: The Sluice authors */

/* Checksums against a disk that gives back other bytes than it was given. Each object's row has one, of its key and its
 * version, too, so that neither a changed row nor one in another's place is taken for it. All rows of all tables together
 * have one more, kept by triggers (schema.sql), so that a row that is missing, or as it was before, is noticed at the next
 * start. And the commit seals that one and the revision. */
#include "store/internal.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/check.h"
#include "base/fnv1a.h"

#define LATE                                                                                       \
    "SELECT count(*) FROM objects WHERE rv > (SELECT value FROM meta WHERE key = 'revision')"

/* --- the functions of the statements and triggers --------------------------------------------- */

static uint64_t add_value(uint64_t sum, sqlite3_value *v)
{
    unsigned char type = (unsigned char)sqlite3_value_type(v);
    sum = sl_fnv1a(sum, &type, 1);
    if (type == SQLITE_INTEGER) {
        int64_t n = sqlite3_value_int64(v);
        return sl_fnv1a(sum, &n, sizeof n);
    }
    const void *bytes = sqlite3_value_blob(v);
    size_t len = (size_t)sqlite3_value_bytes(v);
    sum = len > 0 && bytes != NULL ? sl_fnv1a(sum, bytes, len) : sum;
    return sl_fnv1a(sum, &len, sizeof len);
}

/* The last step spreads a change of few bits, or those of two rows could cancel each other out. */
static void on_sum(sqlite3_context *c, int count, sqlite3_value **values)
{
    uint64_t sum = SL_FNV1A_BASIS;
    for (int i = 0; i < count; i++) {
        sum = add_value(sum, values[i]);
    }
    sum ^= sum >> 32;
    sum *= 0xd6e8feb86659fd93u;
    sqlite3_result_int64(c, (int64_t)(sum ^ (sum >> 32)));
}

static void on_xor(sqlite3_context *c, int count, sqlite3_value **values)
{
    uint64_t sum = 0;
    for (int i = 0; i < count; i++) {
        sum ^= (uint64_t)sqlite3_value_int64(values[i]);
    }
    sqlite3_result_int64(c, (int64_t)sum);
}

enum sl_code sl_whole_functions(struct sl_store *s, struct sl_error *e)
{
    SL_PRE(s != NULL);
    const int flags = SQLITE_UTF8 | SQLITE_DETERMINISTIC | SQLITE_INNOCUOUS;
    int rc =
        sqlite3_create_function_v2(s->db, "sluice_sum", -1, flags, NULL, on_sum, NULL, NULL, NULL);
    if (rc == SQLITE_OK) {
        rc = sqlite3_create_function_v2(s->db, "sluice_xor", -1, flags, NULL, on_xor, NULL, NULL,
                                        NULL);
    }
    return rc == SQLITE_OK ? SL_CODE_OK : sl_db_fail(s, "open the database", e);
}

/* --- a row ------------------------------------------------------------------------------------- */

enum sl_code sl_whole_fail(struct sl_store *s, enum sl_kind kind, const char *ns, const char *name,
                           struct sl_error *e)
{
    char resource[128], what[600];
    bool in_ns = ns != NULL && ns[0] != '\0';
    (void)snprintf(what, sizeof what,
                   "table objects, row of %s %.60s%s%.100s: not what was written",
                   kind < SL_KIND_COUNT ? sl_rows_resource(kind, resource) : "an unknown kind",
                   in_ns ? ns : "", in_ns ? "/" : "", name == NULL ? "?" : name);
    return sl_db_damaged(s, what, e);
}

/* --- all of them, at the start ------------------------------------------------------------------ */

/* SQLite's check says in words what it found, and among them which pages it could not read for now. */
static enum sl_code judge_structure(struct sl_store *s, const char *found, struct sl_error *e)
{
    static const char mark[] = "error code=";
    const char *number = strstr(found, mark);
    if (strcmp(found, "ok") == 0) {
        return SL_CODE_OK;
    }
    if (number != NULL &&
        sl_fault_of((int)strtol(number + sizeof mark - 1, NULL, 10)) != SL_FAULT_DAMAGE) {
        return sl_error_set(e, SL_CODE_INTERNAL, "cannot read the database: %.200s", found);
    }
    return sl_db_damaged(s, found, e);
}

static enum sl_code check_structure(struct sl_store *s, struct sl_error *e)
{
    sqlite3_stmt *q = NULL;
    enum sl_code code;
    if (sqlite3_prepare_v2(s->db, "PRAGMA integrity_check(1)", -1, &q, NULL) != SQLITE_OK ||
        sqlite3_step(q) != SQLITE_ROW || sqlite3_column_text(q, 0) == NULL) {
        code = sl_db_fail(s, "check the database", e);
    } else {
        code = judge_structure(s, (const char *)sqlite3_column_text(q, 0), e);
    }
    sqlite3_finalize(q);
    return code;
}

/* Xors the first column of all rows to *sum; the second one says whether a row is whole. */
static enum sl_code add_rows(struct sl_store *s, const char *sql, uint64_t *sum, struct sl_error *e)
{
    sqlite3_stmt *q = NULL;
    enum sl_code code = SL_CODE_OK;
    int rc = sqlite3_prepare_v2(s->db, sql, -1, &q, NULL);
    rc = rc == SQLITE_OK ? sqlite3_step(q) : rc;
    while (rc == SQLITE_ROW && sqlite3_column_int(q, 1) != 0) {
        *sum ^= (uint64_t)sqlite3_column_int64(q, 0);
        rc = sqlite3_step(q);
    }
    if (rc == SQLITE_ROW) {
        code = sl_whole_fail(s, SL_KIND_COUNT, (const char *)sqlite3_column_text(q, 2),
                             (const char *)sqlite3_column_text(q, 3), e);
    } else if (rc != SQLITE_DONE) {
        code = sl_db_fail_with(s, rc, "read the database", e);
    }
    sqlite3_finalize(q);
    return code;
}

static enum sl_code add_tables(struct sl_store *s, uint64_t *sum, struct sl_error *e)
{
    static const char *const tables[] = {
        "SELECT sum, sum IS sluice_sum(kind, ns, name, uid, rv, body), ns, name FROM objects",
        "SELECT sluice_sum('kinds', id, name), 1 FROM kinds",
        "SELECT sluice_sum('owners', uid, kind, ns, name), 1 FROM owners",
        "SELECT sluice_sum('collect', uid, kind, ns, name), 1 FROM collect",
        "SELECT sluice_sum('ending', name, kind, after), 1 FROM ending",
    };
    enum sl_code code = SL_CODE_OK;
    *sum = 0;
    for (size_t i = 0; i < sizeof tables / sizeof tables[0] && code == SL_CODE_OK; i++) {
        code = add_rows(s, tables[i], sum, e);
    }
    return code;
}

enum sl_code sl_whole_check_old(struct sl_store *s, struct sl_error *e)
{
    int64_t late = 0;
    enum sl_code code = check_structure(s, e);
    code = code == SL_CODE_OK ? sl_db_read_int(s, LATE, &late, e) : code;
    return code == SL_CODE_OK && late > 0
               ? sl_db_damaged(s, "objects are newer than the last revision", e)
               : code;
}

enum sl_code sl_whole_check(struct sl_store *s, struct sl_error *e)
{
    uint64_t sum = 0;
    int64_t sealed = 0, kept = 0;
    enum sl_code code = sl_whole_check_old(s, e);
    code = code == SL_CODE_OK ? add_tables(s, &sum, e) : code;
    code = code == SL_CODE_OK
               ? sl_db_read_int(s, "SELECT value FROM meta WHERE key = 'sum'", &kept, e)
               : code;
    code = code == SL_CODE_OK
               ? sl_db_read_int(s, "SELECT value = " SL_STORE_SEAL " FROM meta WHERE key = 'seal'",
                                &sealed, e)
               : code;
    if (code == SL_CODE_OK && (sum != (uint64_t)kept || sealed == 0)) {
        code = sl_db_damaged(s, "rows are missing, or are as they were before", e);
    }
    return code;
}

enum sl_code sl_whole_begin(struct sl_store *s, struct sl_error *e)
{
    uint64_t sum = 0;
    char sql[128];
    enum sl_code code = add_tables(s, &sum, e);
    (void)snprintf(sql, sizeof sql, "UPDATE meta SET value = %lld WHERE key = 'sum'",
                   (long long)sum);
    return code == SL_CODE_OK ? sl_db_run_text(s, sql, "write to the database", e) : code;
}
