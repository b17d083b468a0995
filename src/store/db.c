/* SPDX-License-Identifier: Apache-2.0
 * SPDX-FileCopyrightText: The Sluice authors */

/* The data directory: the lock file, the SQLite file and its schema, the open transaction, and
 * SQLite's errors in words that say what to do. */
#include "store/db.h"

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <string.h>
#include <sys/file.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/check.h"
#include "base/log.h"
#include "base/mem.h"

#define APPLICATION_ID 0x534c5543 /* "SLUC" */
#define PAGE_CACHE_KIB 8192
#define REWRITE_PIECE 65536

static const char *const statements[SL_SQL_COUNT] = {
#define SL_SQL(name, text) text,
#include "store/statements.def"
#undef SL_SQL
};

/* kinds: numbers of the kinds in these files, so that the program may reorder its own. owners:
 * which objects name this uid as owner. collect: owners that were deleted (kind NULL) or wait for
 * their dependents (foreground deletion). ending: namespaces being emptied, and how far. */
static const char *const schema =
    "CREATE TABLE meta(key TEXT PRIMARY KEY, value INTEGER NOT NULL) WITHOUT ROWID;"
    "CREATE TABLE kinds(id INTEGER PRIMARY KEY, name TEXT NOT NULL UNIQUE);"
    "CREATE TABLE objects(id INTEGER PRIMARY KEY, kind INTEGER NOT NULL, ns TEXT NOT NULL,"
    " name TEXT NOT NULL, uid TEXT NOT NULL, rv INTEGER NOT NULL, body TEXT NOT NULL,"
    " sum INTEGER NOT NULL DEFAULT 0);"
    "CREATE UNIQUE INDEX objects_key ON objects(kind, ns, name);"
    "CREATE TABLE owners(uid TEXT NOT NULL, kind INTEGER NOT NULL, ns TEXT NOT NULL, name TEXT NOT "
    "NULL,"
    " PRIMARY KEY(uid, kind, ns, name)) WITHOUT ROWID;"
    "CREATE TABLE collect(uid TEXT PRIMARY KEY, kind INTEGER, ns TEXT, name TEXT) WITHOUT ROWID;"
    "CREATE TABLE ending(name TEXT PRIMARY KEY, kind INTEGER NOT NULL, after TEXT NOT NULL) "
    "WITHOUT ROWID;"
    "INSERT INTO meta VALUES ('revision', 0);";

/* What version 2 added. sum: of all rows, by triggers, which also keep a program from writing that
 * does not know of checksums. seal: of the sum and the revision. identity: which database the notes
 * belong to (note.c). */
#define TRIGGER(name, event, table, change)                                                        \
    "CREATE TRIGGER " name " AFTER " event " ON " table " BEGIN"                                   \
    " UPDATE meta SET value = sluice_xor(value, " change ") WHERE key = 'sum'; END;"
#define OWNERS_SUM(row) "sluice_sum('owners', " row ".uid, " row ".kind, " row ".ns, " row ".name)"
#define COLLECT_SUM(row)                                                                           \
    "sluice_sum('collect', " row ".uid, " row ".kind, " row ".ns, " row ".name)"
#define ENDING_SUM(row) "sluice_sum('ending', " row ".name, " row ".kind, " row ".after)"
#define KINDS_SUM(row) "sluice_sum('kinds', " row ".id, " row ".name)"
static const char *const checksums =
    "INSERT INTO meta VALUES ('sum', 0), ('seal', 0), ('identity', random());" TRIGGER(
        "objects_in", "INSERT", "objects", "new.sum") TRIGGER("objects_on", "UPDATE", "objects",
                                                              "old.sum, new.sum")
        TRIGGER("objects_out", "DELETE", "objects", "old.sum") TRIGGER("owners_in", "INSERT",
                                                                       "owners", OWNERS_SUM("new"))
            TRIGGER("owners_on", "UPDATE", "owners", OWNERS_SUM("old") ", " OWNERS_SUM("new"))
                TRIGGER("owners_out", "DELETE", "owners", OWNERS_SUM("old"))
                    TRIGGER("collect_in", "INSERT", "collect", COLLECT_SUM("new"))
                        TRIGGER("collect_on", "UPDATE", "collect",
                                COLLECT_SUM("old") ", " COLLECT_SUM("new"))
                            TRIGGER("collect_out", "DELETE", "collect", COLLECT_SUM("old"))
                                TRIGGER("ending_in", "INSERT", "ending", ENDING_SUM("new"))
                                    TRIGGER("ending_on", "UPDATE", "ending",
                                            ENDING_SUM("old") ", " ENDING_SUM("new"))
                                        TRIGGER("ending_out", "DELETE", "ending", ENDING_SUM("old"))
                                            TRIGGER("kinds_in", "INSERT", "kinds", KINDS_SUM("new"))
                                                TRIGGER("kinds_on", "UPDATE", "kinds",
                                                        KINDS_SUM("old") ", " KINDS_SUM("new"))
                                                    TRIGGER("kinds_out", "DELETE", "kinds",
                                                            KINDS_SUM("old"));
static const char *const seal = "UPDATE meta SET value = " SL_STORE_SEAL " WHERE key = 'seal'";

static enum sl_code fail_io(const char *doing, const char *dir, int error, struct sl_error *e)
{
    return sl_error_set(e, SL_CODE_INTERNAL, "cannot %s data directory %s: %s", doing, dir,
                        strerror(error));
}

/* --- statements ------------------------------------------------------------------------------ */

void sl_db_bind_text(struct sl_store *s, enum sl_sql id, int at, const char *text)
{
    SL_PRE(text != NULL);
    /* Lent: every statement is reset before its caller returns. */
    int rc = sqlite3_bind_text(s->sql[id], at, text, -1, SQLITE_STATIC);
    SL_ASSERT(rc == SQLITE_OK);
}

void sl_db_bind_int(struct sl_store *s, enum sl_sql id, int at, int64_t n)
{
    int rc = sqlite3_bind_int64(s->sql[id], at, n);
    SL_ASSERT(rc == SQLITE_OK);
}

/* A read that fails in the middle of a batch ends its transaction, too. What came after would be made durable at once,
 * each write by itself, and the revision not with it. */
enum sl_code sl_db_run(struct sl_store *s, enum sl_sql id, struct sl_error *e)
{
    if (sl_db_lost(s)) {
        sqlite3_clear_bindings(s->sql[id]);
        return sl_error_set(e, SL_CODE_INTERNAL,
                            "cannot write to the database: the disk failed before");
    }
    int rc = sqlite3_step(s->sql[id]);
    SL_ASSERT(rc != SQLITE_ROW);
    enum sl_code code = rc == SQLITE_DONE ? SL_CODE_OK : sl_db_fail(s, "write to the database", e);
    sqlite3_reset(s->sql[id]);
    sqlite3_clear_bindings(s->sql[id]);
    return code;
}

bool sl_db_row(struct sl_store *s, enum sl_sql id)
{
    SL_PRE(s != NULL);
    int rc = sqlite3_step(s->sql[id]);
    if (rc != SQLITE_ROW && rc != SQLITE_DONE) {
        (void)sl_db_fail(s, "read the database", &s->unread);
    }
    return rc == SQLITE_ROW;
}

enum sl_code sl_db_begin(struct sl_store *s, struct sl_error *e)
{
    SL_PRE(s != NULL);
    if (s->in_batch) {
        return SL_CODE_OK;
    }
    enum sl_code code = sl_db_run(s, SL_SQL_BEGIN, e);
    s->in_batch = code == SL_CODE_OK;
    return code;
}

void sl_db_rollback(struct sl_store *s)
{
    SL_PRE(s != NULL);
    if (!sqlite3_get_autocommit(s->db)) { /* also before any statement was prepared */
        int rc = sqlite3_exec(s->db, "ROLLBACK", NULL, NULL, NULL);
        sl_mem_done(rc != SQLITE_NOMEM); /* nothing of the batch was acknowledged */
    }
    s->in_batch = false;
    SL_POST(sqlite3_get_autocommit(s->db));
}

bool sl_db_staged(const struct sl_store *s)
{
    SL_PRE(s != NULL);
    return s->revision != s->durable || s->bookkeeping;
}

bool sl_db_lost(const struct sl_store *s)
{
    SL_PRE(s != NULL);
    return s->in_batch && sqlite3_get_autocommit(s->db);
}

/* --- opening --------------------------------------------------------------------------------- */

static enum sl_code check_dir(const char *dir, struct sl_error *e)
{
    struct stat st;
    if (mkdir(dir, 0700) != 0 && errno != EEXIST) {
        return fail_io("create", dir, errno, e);
    }
    if (stat(dir, &st) != 0) {
        return fail_io("open", dir, errno, e);
    }
    if (!S_ISDIR(st.st_mode)) {
        return fail_io("open", dir, ENOTDIR, e);
    }
    if (access(dir, R_OK | W_OK | X_OK) != 0) {
        return fail_io("write to", dir, errno, e);
    }
    if ((st.st_mode & (S_IWGRP | S_IWOTH)) != 0) {
        char remedy[4200];
        (void)snprintf(remedy, sizeof remedy, "chmod 0700 %s", dir);
        sl_log(SL_LOG_WARN,
               "other users can write to the data directory and replace what is stored", "remedy",
               remedy, NULL);
    }
    return SL_CODE_OK;
}

/* Jobs have secrets in their environment, and older versions let others read them. A process
 * without the right to change that has not made the files. */
static void hide_files(const char *path)
{
    static const char *const suffixes[] = {"", "-wal", "-shm"};
    char file[4096 + 8];
    struct stat st;
    for (size_t i = 0; i < sizeof suffixes / sizeof suffixes[0]; i++) {
        (void)snprintf(file, sizeof file, "%s%s", path, suffixes[i]);
        if (lstat(file, &st) == 0 && S_ISREG(st.st_mode) && (st.st_mode & 077) != 0) {
            (void)chmod(file, 0600);
        }
    }
}

static enum sl_code lock_dir(struct sl_store *s, const char *dir, struct sl_error *e)
{
    char path[4096];
    if (snprintf(path, sizeof path, "%s/lock", dir) >= (int)sizeof path) {
        return fail_io("open", dir, ENAMETOOLONG, e);
    }
    s->lock_fd = open(path, O_RDWR | O_CREAT | O_CLOEXEC, 0600);
    if (s->lock_fd < 0) {
        return fail_io("lock", dir, errno, e);
    }
    if (flock(s->lock_fd, LOCK_EX | LOCK_NB) != 0) {
        if (errno != EWOULDBLOCK) {
            return fail_io("lock", dir, errno, e);
        }
        return sl_error_set(e, SL_CODE_INTERNAL,
                            "data directory %s is in use by another process (it holds %s/lock)",
                            dir, dir);
    }
    return SL_CODE_OK;
}

enum sl_code sl_db_lock(struct sl_store *s, const char *dir, struct sl_error *e)
{
    SL_PRE(s->lock_fd < 0);
    enum sl_code code = check_dir(dir, e);
    return code == SL_CODE_OK ? lock_dir(s, dir, e) : code;
}

enum sl_code sl_db_run_text(struct sl_store *s, const char *sql, const char *doing,
                            struct sl_error *e)
{
    SL_PRE(s != NULL);
    return sqlite3_exec(s->db, sql, NULL, NULL, NULL) == SQLITE_OK ? SL_CODE_OK
                                                                   : sl_db_fail(s, doing, e);
}

enum sl_code sl_db_read_int(struct sl_store *s, const char *sql, int64_t *out, struct sl_error *e)
{
    SL_PRE(s != NULL);
    sqlite3_stmt *q = NULL;
    int rc = sqlite3_prepare_v2(s->db, sql, -1, &q, NULL);
    rc = rc == SQLITE_OK ? sqlite3_step(q) : rc;
    if (rc != SQLITE_ROW) {
        enum sl_code code = rc == SQLITE_DONE ? sl_db_damaged(s, "table meta: a row is missing", e)
                                              : sl_db_fail(s, "read the database", e);
        sqlite3_finalize(q);
        return code;
    }
    *out = sqlite3_column_int64(q, 0);
    sqlite3_finalize(q);
    return SL_CODE_OK;
}

static enum sl_code set_version(struct sl_store *s, struct sl_error *e)
{
    char sql[256];
    (void)snprintf(sql, sizeof sql, "PRAGMA application_id = %d; PRAGMA user_version = %d; COMMIT;",
                   APPLICATION_ID, SL_STORE_SCHEMA);
    enum sl_code code = sl_db_run_text(s, seal, "write to the database", e);
    return code == SL_CODE_OK ? sl_db_run_text(s, sql, "write to the database", e) : code;
}

static enum sl_code make_schema(struct sl_store *s, struct sl_error *e)
{
    enum sl_code code = sl_db_run_text(s, "BEGIN IMMEDIATE", "create the database", e);
    code = code == SL_CODE_OK ? sl_db_run_text(s, schema, "create the database", e) : code;
    code = code == SL_CODE_OK ? sl_db_run_text(s, checksums, "create the database", e) : code;
    return code == SL_CODE_OK ? set_version(s, e) : code;
}

/* Of version 1, whose rows have no checksums: all or nothing. */
static enum sl_code upgrade(struct sl_store *s, struct sl_error *e)
{
    static const char *const steps[] = {
        "BEGIN IMMEDIATE", "ALTER TABLE objects ADD COLUMN sum INTEGER NOT NULL DEFAULT 0",
        "UPDATE objects SET sum = sluice_sum(kind, ns, name, uid, rv, body)"};
    enum sl_code code = SL_CODE_OK;
    for (size_t i = 0; i < sizeof steps / sizeof steps[0] && code == SL_CODE_OK; i++) {
        code = sl_db_run_text(s, steps[i], "write to the database", e);
    }
    code = code == SL_CODE_OK ? sl_db_run_text(s, checksums, "write to the database", e) : code;
    code = code == SL_CODE_OK ? sl_whole_begin(s, e) : code;
    code = code == SL_CODE_OK ? set_version(s, e) : code;
    if (code == SL_CODE_OK) {
        sl_log(SL_LOG_INFO, "the database has checksums from now on", NULL);
    }
    return code;
}

enum sl_code sl_db_version(struct sl_store *s, const char *path, int64_t *version,
                           struct sl_error *e)
{
    SL_PRE(s->db != NULL);
    int64_t application = 0, tables = 0;
    enum sl_code code = sl_db_read_int(s, "PRAGMA user_version", version, e);
    code = code == SL_CODE_OK ? sl_db_read_int(s, "PRAGMA application_id", &application, e) : code;
    code = code == SL_CODE_OK ? sl_db_read_int(s, "SELECT count(*) FROM sqlite_master", &tables, e)
                              : code;
    if (code != SL_CODE_OK) {
        return code;
    }
    if (tables == 0) {
        *version = 0;
        return SL_CODE_OK;
    }
    if (application != APPLICATION_ID) {
        return sl_error_set(e, SL_CODE_INTERNAL, "%s is a database of another program", path);
    }
    if (*version < 1 || *version > SL_STORE_SCHEMA) {
        return sl_error_set(e, SL_CODE_INTERNAL,
                            "%s was written by a %s version (schema %lld, this program reads %d)",
                            path, *version > SL_STORE_SCHEMA ? "newer" : "different",
                            (long long)*version, SL_STORE_SCHEMA);
    }
    return SL_CODE_OK;
}

/* Each kind has a number in these files for ever, whatever its place in kinds.def is. */
static enum sl_code number_kinds(struct sl_store *s, struct sl_error *e)
{
    char resource[128], sql[256];
    int changes = sqlite3_total_changes(s->db);
    enum sl_code code = sl_db_run_text(s, "BEGIN IMMEDIATE", "write to the database", e);
    for (int kind = 0; kind < (int)sl_kind_end() && code == SL_CODE_OK; kind++) {
        sl_rows_resource((enum sl_kind)kind, resource);
        (void)snprintf(sql, sizeof sql, "INSERT OR IGNORE INTO kinds(name) VALUES ('%s')",
                       resource);
        code = sl_db_run_text(s, sql, "write to the database", e);
        (void)snprintf(sql, sizeof sql, "SELECT id FROM kinds WHERE name = '%s'", resource);
        code = code == SL_CODE_OK ? sl_db_read_int(s, sql, &s->kind_ids[kind], e) : code;
    }
    if (code == SL_CODE_OK) { /* partial: only this kind pays for it */
        (void)snprintf(sql, sizeof sql,
                       "CREATE INDEX IF NOT EXISTS events_by_age ON objects(id) WHERE kind = %lld",
                       (long long)s->kind_ids[SL_KIND_EVENT]);
        code = sl_db_run_text(s, sql, "write to the database", e);
    }
    if (code == SL_CODE_OK && sqlite3_total_changes(s->db) != changes) {
        code = sl_db_run_text(s, seal, "write to the database", e); /* a full disk needs none */
    }
    return code == SL_CODE_OK ? sl_db_run_text(s, "COMMIT", "write to the database", e) : code;
}

static enum sl_code prepare_all(struct sl_store *s, struct sl_error *e)
{
    for (int i = 0; i < (int)SL_SQL_COUNT; i++) {
        /* The one %lld is the Events' number, a literal so that the partial index applies. */
        char *text = sqlite3_mprintf(statements[i], (long long)s->kind_ids[SL_KIND_EVENT]);
        int rc = sqlite3_prepare_v3(s->db, text, -1, SQLITE_PREPARE_PERSISTENT, &s->sql[i], NULL);
        sqlite3_free(text);
        if (rc != SQLITE_OK) {
            return sl_db_fail(s, "read the database", e);
        }
    }
    return SL_CODE_OK;
}

/* --- after an end that was none --------------------------------------------------------------- */

/* Whoever closes the database takes its log away. */
static bool was_left_open(const char *path)
{
    char log[4096 + 8];
    int there = 0;
    sqlite3_vfs *vfs = sqlite3_vfs_find(NULL);
    (void)snprintf(log, sizeof log, "%s-wal", path);
    return vfs != NULL && vfs->xAccess(vfs, log, SQLITE_ACCESS_EXISTS, &there) == SQLITE_OK &&
           there != 0;
}

/* The log that SQLite has open, over itself. */
static int rewrite(sqlite3_file *log)
{
    static char piece[REWRITE_PIECE];
    sqlite3_int64 size = 0;
    int rc = log->pMethods->xFileSize(log, &size);
    for (sqlite3_int64 at = 0; rc == SQLITE_OK && at < size; at += REWRITE_PIECE) {
        int n = size - at < REWRITE_PIECE ? (int)(size - at) : REWRITE_PIECE;
        rc = log->pMethods->xRead(log, piece, n, at);
        rc = rc == SQLITE_OK ? log->pMethods->xWrite(log, piece, n, at) : rc;
    }
    return rc == SQLITE_OK ? log->pMethods->xSync(log, SQLITE_SYNC_NORMAL) : rc;
}

/* A sync that failed may have left pages of the log that this system holds for written and no disk has, and would not
 * write at the next sync. They would be missing when the power fails after what they say has come into the database
 * and before the log's new beginning is on the disk: its old beginning would then be carried out over what is newer. */
static enum sl_code secure_log(struct sl_store *s, struct sl_error *e)
{
    sqlite3_file *log = NULL;
    int rc = sqlite3_file_control(s->db, "main", SQLITE_FCNTL_JOURNAL_POINTER, &log);
    SL_ASSERT(rc == SQLITE_OK && log != NULL);
    rc = log->pMethods == NULL ? SQLITE_OK : rewrite(log);
    return rc == SQLITE_OK
               ? SL_CODE_OK
               : sl_error_set(e, SL_CODE_INTERNAL, "cannot write the database's log once more: %s",
                              sqlite3_errstr(rc));
}

/* What this process finds in the log it writes once more, and syncs, before it builds on it. That it comes into the
 * database's file as well can wait for a disk with room. */
static enum sl_code take_over(struct sl_store *s, struct sl_error *e)
{
    enum sl_code code = secure_log(s, e);
    if (code != SL_CODE_OK) {
        return code;
    }
    int rc = sqlite3_wal_checkpoint_v2(s->db, NULL, SQLITE_CHECKPOINT_TRUNCATE, NULL, NULL);
    if (rc != SQLITE_OK && (rc & 0xff) != SQLITE_FULL) {
        return sl_db_fail(s, "write to the database", e);
    }
    (void)sqlite3_db_config(s->db, SQLITE_DBCONFIG_NO_CKPT_ON_CLOSE, 0, NULL);
    return SL_CODE_OK;
}

/* Between the one that was put aside and the one that takes its place (backup.c). */
static enum sl_code check_restored(const char *path, struct sl_error *e)
{
    char part[4096 + 8];
    (void)snprintf(part, sizeof part, "%s.part", path);
    return access(path, F_OK) == 0 || access(part, F_OK) != 0
               ? SL_CODE_OK
               : sl_error_set(e, SL_CODE_INTERNAL,
                              "%s is missing: a restore has not ended. Run sluicectl restore again",
                              path);
}

static enum sl_code open_file(struct sl_store *s, const char *dir, bool *left_open,
                              struct sl_error *e)
{
    char path[4096], pragmas[512];
    struct stat st;
    if (snprintf(path, sizeof path, "%s/sluice.db", dir) >= (int)sizeof path) {
        return fail_io("open", dir, ENAMETOOLONG, e);
    }
    enum sl_code code = check_restored(path, e);
    if (code != SL_CODE_OK) {
        return code;
    }
    *left_open = was_left_open(path);
    sl_note_read(s, dir);
    bool emptied = s->note.valid && !*left_open && stat(path, &st) == 0 && st.st_size == 0;
    hide_files(path);
    int flags = SQLITE_OPEN_READWRITE | SQLITE_OPEN_CREATE | SQLITE_OPEN_NOMUTEX;
    if (sqlite3_open_v2(path, &s->db, flags, NULL) != SQLITE_OK) {
        return sl_db_fail(s, "open the database", e);
    }
    if (emptied) { /* to start empty, remove it */
        return sl_db_damaged(s, "the file is empty", e);
    }
    /* The log stays until all is known to be well, or the next start would not look. */
    (void)sqlite3_db_config(s->db, SQLITE_DBCONFIG_NO_CKPT_ON_CLOSE, *left_open, NULL);
    (void)snprintf(pragmas, sizeof pragmas,
                   "PRAGMA journal_mode = WAL; PRAGMA synchronous = FULL; PRAGMA cache_size = -%d;"
                   "PRAGMA temp_store = MEMORY; PRAGMA journal_size_limit = 67108864;"
                   "PRAGMA busy_timeout = 2000; PRAGMA recursive_triggers = ON;",
                   PAGE_CACHE_KIB);
    code = sl_db_run_text(s, pragmas, "open the database", e);
    hide_files(path);
    return code;
}

/* The database as this program has it, and whole. */
static enum sl_code open_whole(struct sl_store *s, bool left_open, bool *made, struct sl_error *e)
{
    int64_t version = 0;
    enum sl_code code = sl_whole_functions(s, e);
    code = code == SL_CODE_OK ? sl_db_version(s, sqlite3_db_filename(s->db, "main"), &version, e)
                              : code;
    if (code == SL_CODE_OK && version == SL_STORE_SCHEMA) {
        code = sl_whole_check(s, e);
    } else if (code == SL_CODE_OK && version > 0) {
        code = sl_whole_check_old(s, e);
    }
    *made = version == 0;
    code = code == SL_CODE_OK && left_open ? take_over(s, e) : code;
    if (code == SL_CODE_OK && version != SL_STORE_SCHEMA) {
        code = *made ? make_schema(s, e) : upgrade(s, e);
    }
    code = code == SL_CODE_OK ? number_kinds(s, e) : code;
    code = code == SL_CODE_OK ? sl_snapshot_open(s, e) : code;
    return code == SL_CODE_OK ? prepare_all(s, e) : code;
}

enum sl_code sl_db_open(struct sl_store *s, const char *dir, struct sl_error *e)
{
    SL_PRE(s != NULL);
    int64_t revision = 0, identity = 0, work = 0;
    bool left_open = false, made = false;
    s->lock_fd = s->note.fd = -1;
    enum sl_code code = sl_db_lock(s, dir, e);
    code = code == SL_CODE_OK ? open_file(s, dir, &left_open, e) : code;
    code = code == SL_CODE_OK ? open_whole(s, left_open, &made, e) : code;
    code = code == SL_CODE_OK
               ? sl_db_read_int(s, "SELECT value FROM meta WHERE key = 'revision'", &revision, e)
               : code;
    code = code == SL_CODE_OK
               ? sl_db_read_int(s, "SELECT value FROM meta WHERE key = 'identity'", &identity, e)
               : code;
    code = code == SL_CODE_OK
               ? sl_db_read_int(
                     s, "SELECT (SELECT count(*) FROM collect) + (SELECT count(*) FROM ending)",
                     &work, e)
               : code;
    if (code == SL_CODE_OK) {
        s->identity = (uint64_t)identity;
        s->work_pending = work > 0;
        sl_note_open(s, dir, (uint64_t)revision, made, left_open);
    }
    return code;
}

void sl_db_close(struct sl_store *s)
{
    for (int i = 0; i < (int)SL_SQL_COUNT; i++) {
        sqlite3_finalize(s->sql[i]);
    }
    if (s->db != NULL) {
        int rc = sqlite3_close(s->db);
        SL_ASSERT(rc == SQLITE_OK);
    }
    if (s->lock_fd >= 0) {
        (void)close(s->lock_fd);
    }
}
