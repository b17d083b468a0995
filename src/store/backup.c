/* SPDX-License-Identifier: Apache-2.0
 * SPDX-FileCopyrightText: The Sluice authors */

/* Copies of a data directory's database: made while a daemon has it, and put back while none has. Either way the copy is checked
 * as a start checks it, before it gets its name. */
#include "store/db.h"

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/check.h"

#define PATH_SIZE 4096
#define BUSY_MS 10000

static enum sl_code fail_file(const char *doing, const char *path, struct sl_error *e)
{
    return sl_error_set(e, errno == ENOSPC ? SL_CODE_UNAVAILABLE : SL_CODE_INTERNAL,
                        "cannot %s %.300s: %s", doing, path, strerror(errno));
}

static enum sl_code join(const char *dir, const char *name, char out[static PATH_SIZE],
                         struct sl_error *e)
{
    if (snprintf(out, PATH_SIZE, "%s%s", dir, name) < PATH_SIZE) {
        return SL_CODE_OK;
    }
    errno = ENAMETOOLONG;
    return fail_file("open", dir, e);
}

/* So that it is there after the power fails, with what is in it. */
static enum sl_code sync_path(const char *path, struct sl_error *e)
{
    int fd = open(path, O_RDONLY | O_CLOEXEC);
    bool well = fd >= 0 && fsync(fd) == 0;
    enum sl_code code = well ? SL_CODE_OK : fail_file("write", path, e);
    if (fd >= 0) {
        (void)close(fd);
    }
    return code;
}

static enum sl_code sync_parent(const char *path, struct sl_error *e)
{
    char parent[PATH_SIZE];
    const char *slash = strrchr(path, '/');
    (void)snprintf(parent, sizeof parent, "%.*s", (int)(slash == NULL ? 0 : slash - path), path);
    return sync_path(slash == NULL ? "." : parent[0] == '\0' ? "/" : parent, e);
}

/* --- one database into another ----------------------------------------------------------------- */

/* The last one to close a database takes its log away: the next start of a daemon that was killed has to find it. */
static enum sl_code open_source(const char *path, sqlite3 **db, struct sl_error *e)
{
    char log[PATH_SIZE];
    struct stat st;
    enum sl_code code = join(path, "-wal", log, e);
    if (code != SL_CODE_OK) {
        return code;
    }
    if (stat(path, &st) != 0) {
        return fail_file("open", path, e);
    }
    bool has_log = stat(log, &st) == 0;
    int rc = sqlite3_open_v2(path, db, SQLITE_OPEN_READWRITE | SQLITE_OPEN_NOMUTEX, NULL);
    if (rc != SQLITE_OK) {
        return sl_error_set(e, SL_CODE_INTERNAL, "cannot open %.300s: %s", path,
                            sqlite3_errstr(rc));
    }
    (void)sqlite3_db_config(*db, SQLITE_DBCONFIG_NO_CKPT_ON_CLOSE, has_log, NULL);
    (void)sqlite3_busy_timeout(*db, BUSY_MS);
    return SL_CODE_OK;
}

/* All of it in one read, which sees one commit and lets others write. */
static enum sl_code copy_pages(sqlite3 *from, sqlite3 *to, const char *path, struct sl_error *e)
{
    sqlite3_backup *copy = sqlite3_backup_init(to, "main", from, "main");
    int rc = copy == NULL ? sqlite3_errcode(to) : sqlite3_backup_step(copy, -1);
    int end = copy == NULL ? rc : sqlite3_backup_finish(copy);
    rc = rc == SQLITE_DONE ? end : rc;
    /* A copy is one file, without a log beside it. */
    rc = rc == SQLITE_OK ? sqlite3_exec(to, "PRAGMA journal_mode = DELETE", NULL, NULL, NULL) : rc;
    if (rc == SQLITE_OK) {
        return SL_CODE_OK;
    }
    bool full = (rc & 0xff) == SQLITE_FULL;
    return sl_error_set(e, full ? SL_CODE_UNAVAILABLE : SL_CODE_INTERNAL, "cannot write %.300s: %s",
                        path, full ? "the disk is full" : sqlite3_errstr(rc));
}

/* `path` must not be there; on failure it is not. `owner` (NULL: who copies): whose it becomes, where root copies. */
static enum sl_code copy_database(const char *source, const char *path, const struct stat *owner,
                                  struct sl_error *e)
{
    sqlite3 *from = NULL, *to = NULL;
    enum sl_code code = open_source(source, &from, e);
    int fd = code != SL_CODE_OK ? -1 : open(path, O_CREAT | O_EXCL | O_WRONLY | O_CLOEXEC, 0600);
    if (code == SL_CODE_OK && (fd < 0 || (owner != NULL && geteuid() == 0 &&
                                          fchown(fd, owner->st_uid, owner->st_gid) != 0))) {
        code = fail_file("create", path, e);
    }
    if (fd >= 0) {
        (void)close(fd);
    }
    if (code == SL_CODE_OK) {
        int rc = sqlite3_open_v2(path, &to, SQLITE_OPEN_READWRITE | SQLITE_OPEN_NOMUTEX, NULL);
        code = rc == SQLITE_OK ? copy_pages(from, to, path, e)
                               : sl_error_set(e, SL_CODE_INTERNAL, "cannot open %.300s: %s", path,
                                              sqlite3_errstr(rc));
    }
    (void)sqlite3_close(from);
    (void)sqlite3_close(to);
    code = code == SL_CODE_OK ? sync_path(path, e) : code;
    if (code != SL_CODE_OK && fd >= 0) {
        (void)unlink(path);
    }
    return code;
}

/* As a start does it; DAMAGED names what is wrong. */
static enum sl_code check(const char *path, struct sl_error *e)
{
    struct sl_store s = {.lock_fd = -1, .note = {.fd = -1}};
    int64_t version = 0;
    int rc = sqlite3_open_v2(path, &s.db, SQLITE_OPEN_READONLY | SQLITE_OPEN_NOMUTEX, NULL);
    enum sl_code code =
        rc == SQLITE_OK
            ? sl_whole_functions(&s, e)
            : sl_error_set(e, SL_CODE_INTERNAL, "cannot open %.300s: %s", path, sqlite3_errstr(rc));
    code = code == SL_CODE_OK ? sl_db_version(&s, path, &version, e) : code;
    if (code == SL_CODE_OK && version == 0) {
        code = sl_error_set(e, SL_CODE_INTERNAL, "%.300s: there is nothing in it", path);
    }
    if (code == SL_CODE_OK) {
        code = version == SL_STORE_SCHEMA ? sl_whole_check(&s, e) : sl_whole_check_old(&s, e);
    }
    (void)sqlite3_close(s.db);
    return code;
}

/* --- what the commands do ---------------------------------------------------------------------- */

enum sl_code sl_store_backup(const char *dir, const char *file, struct sl_error *e)
{
    SL_PRE(dir != NULL && file != NULL);
    char source[PATH_SIZE], part[PATH_SIZE];
    struct stat st;
    sl_error_clear(e);
    enum sl_code code = join(dir, "/sluice.db", source, e);
    code = code == SL_CODE_OK ? join(file, ".part", part, e) : code;
    if (code == SL_CODE_OK && lstat(file, &st) == 0) {
        errno = EEXIST;
        code = fail_file("create", file, e);
    }
    code = code == SL_CODE_OK ? copy_database(source, part, NULL, e) : code;
    if (code != SL_CODE_OK) {
        return code;
    }
    code = check(part, e);
    if (code == SL_CODE_OK && link(part, file) != 0) { /* never over a file that came meanwhile */
        code = fail_file("create", file, e);
    }
    (void)unlink(part);
    return code == SL_CODE_OK ? sync_parent(file, e) : code;
}

static enum sl_code move_aside(const char *from, const char *to, struct sl_error *e)
{
    return rename(from, to) == 0 || errno == ENOENT ? SL_CODE_OK : fail_file("move", from, e);
}

/* The database that is replaced stays as sluice.db.replaced, with its log. It goes first: from then on there is none, and
 * the next start refuses (open_file of db.c), should this one be killed; the database without its log would be started, without
 * what was acknowledged last, and the log would be read into the new one. One that is not there has gone before. */
static enum sl_code set_aside(const char *live, struct sl_error *e)
{
    char log[PATH_SIZE], index[PATH_SIZE], kept[PATH_SIZE], kept_log[PATH_SIZE];
    enum sl_code code = join(live, "-wal", log, e);
    code = code == SL_CODE_OK ? join(live, "-shm", index, e) : code;
    code = code == SL_CODE_OK ? join(live, ".replaced", kept, e) : code;
    code = code == SL_CODE_OK ? join(live, ".replaced-wal", kept_log, e) : code;
    if (code != SL_CODE_OK) {
        return code;
    }
    if (access(live, F_OK) == 0) {
        (void)unlink(kept);
        (void)unlink(kept_log);
        code = move_aside(live, kept, e);
        code = code == SL_CODE_OK ? sync_parent(live, e) : code;
    }
    if (code == SL_CODE_OK && unlink(index) != 0 && errno != ENOENT) {
        return fail_file("remove", index, e);
    }
    code = code == SL_CODE_OK ? move_aside(log, kept_log, e) : code;
    return code == SL_CODE_OK ? sync_parent(live, e) : code;
}

/* Root puts back what another user's daemon opens. */
static enum sl_code find_owner(const char *dir, const char *live, struct stat *owner,
                               struct sl_error *e)
{
    bool known = stat(live, owner) == 0 && owner->st_uid != 0;
    return known || stat(dir, owner) == 0 ? SL_CODE_OK : fail_file("open", dir, e);
}

/* The same of the lock, which may have been made just now; not of what was put in its place. */
static enum sl_code give_lock(const char *dir, int fd, const struct stat *owner, struct sl_error *e)
{
    char path[PATH_SIZE];
    struct stat named, open;
    enum sl_code code = join(dir, "/lock", path, e);
    if (code != SL_CODE_OK || geteuid() != 0 || lstat(path, &named) != 0 || fstat(fd, &open) != 0 ||
        named.st_ino != open.st_ino || named.st_dev != open.st_dev || !S_ISREG(open.st_mode) ||
        open.st_nlink != 1 || open.st_size != 0 || open.st_uid != 0) {
        return code;
    }
    return fchown(fd, owner->st_uid, owner->st_gid) == 0 ? code : fail_file("give away", path, e);
}

/* Once it is the only one it stays until it has its name: what is left of a restore that did not end says so. */
static enum sl_code put_in_place(const char *part, const char *live, struct sl_error *e)
{
    enum sl_code code = set_aside(live, e);
    if (code == SL_CODE_OK && rename(part, live) != 0) {
        code = fail_file("replace", live, e);
    }
    if (code != SL_CODE_OK && access(live, F_OK) == 0) {
        (void)unlink(part);
    }
    return code == SL_CODE_OK ? sync_parent(live, e) : code;
}

enum sl_code sl_store_restore(const char *dir, const char *file, struct sl_error *e)
{
    SL_PRE(dir != NULL && file != NULL);
    struct sl_store s = {.lock_fd = -1};
    struct stat owner;
    char live[PATH_SIZE], part[PATH_SIZE];
    sl_error_clear(e);
    enum sl_code code = join(dir, "/sluice.db", live, e);
    code = code == SL_CODE_OK ? join(dir, "/sluice.db.part", part, e) : code;
    code = code == SL_CODE_OK ? sl_db_lock(&s, dir, e) : code; /* a daemon that runs has it */
    code = code == SL_CODE_OK ? find_owner(dir, live, &owner, e) : code;
    code = code == SL_CODE_OK ? give_lock(dir, s.lock_fd, &owner, e) : code;
    if (code == SL_CODE_OK) {
        (void)unlink(part); /* of a restore that was killed */
        code = copy_database(file, part, &owner, e);
    }
    if (code == SL_CODE_OK) {
        code = check(part, e);
        if (code == SL_CODE_OK) {
            code = put_in_place(part, live, e);
        } else {
            (void)unlink(part);
        }
    }
    if (s.lock_fd >= 0) {
        (void)close(s.lock_fd);
    }
    return code;
}
