/* SPDX-License-Identifier: Apache-2.0
 * SPDX-FileCopyrightText: The Sluice authors */

/* After an end that was none: in what order the log and the database reach the disk, seen between SQLite and the
 * files, and what happens when a disk refuses. */
#include <sys/wait.h>

#include "fixture.h"
#include "store/internal.h"

/* --- what is written ------------------------------------------------------------------------------ */

/* The database's file or its log; the real one stands behind it. */
struct shim {
    sqlite3_file base;
    bool is_log;
    sqlite3_file *below;
};

static struct {
    sqlite3_vfs vfs;
    sqlite3_vfs *below;
    sqlite3_int64 log_size;      /* when it was opened */
    sqlite3_int64 log_rewritten; /* from its beginning, before the database was touched */
    bool log_synced;             /* after that, before the database was touched */
    bool database_written;
    unsigned fail_syncs; /* of the log: so many */
    unsigned fail_reads;
} disk;

static struct shim *shim_of(sqlite3_file *f)
{
    return (struct shim *)(void *)f;
}

static int on_close(sqlite3_file *f)
{
    return shim_of(f)->below->pMethods->xClose(shim_of(f)->below);
}

static int on_read(sqlite3_file *f, void *to, int n, sqlite3_int64 at)
{
    struct shim *s = shim_of(f);
    if (s->is_log && n > 4096 + 24 && disk.fail_reads > 0) { /* SQLite reads no more than a frame */
        disk.fail_reads--;
        return SQLITE_IOERR_READ;
    }
    return s->below->pMethods->xRead(s->below, to, n, at);
}

static int on_write(sqlite3_file *f, const void *data, int n, sqlite3_int64 at)
{
    struct shim *s = shim_of(f);
    disk.database_written = disk.database_written || !s->is_log;
    if (s->is_log && !disk.database_written && at == disk.log_rewritten) {
        disk.log_rewritten += n;
    }
    return s->below->pMethods->xWrite(s->below, data, n, at);
}

static int on_truncate(sqlite3_file *f, sqlite3_int64 size)
{
    return shim_of(f)->below->pMethods->xTruncate(shim_of(f)->below, size);
}

static int on_sync(sqlite3_file *f, int flags)
{
    struct shim *s = shim_of(f);
    bool whole = disk.log_size > 0 && disk.log_rewritten == disk.log_size;
    if (s->is_log && disk.fail_syncs > 0) {
        disk.fail_syncs--;
        return SQLITE_IOERR_FSYNC;
    }
    disk.log_synced = disk.log_synced || (s->is_log && whole && !disk.database_written);
    return s->below->pMethods->xSync(s->below, flags);
}

static int on_size(sqlite3_file *f, sqlite3_int64 *size)
{
    int rc = shim_of(f)->below->pMethods->xFileSize(shim_of(f)->below, size);
    if (shim_of(f)->is_log && *size > disk.log_size) {
        disk.log_size = *size;
    }
    return rc;
}

static int on_lock(sqlite3_file *f, int level)
{
    return shim_of(f)->below->pMethods->xLock(shim_of(f)->below, level);
}

static int on_unlock(sqlite3_file *f, int level)
{
    return shim_of(f)->below->pMethods->xUnlock(shim_of(f)->below, level);
}

static int on_reserved(sqlite3_file *f, int *out)
{
    return shim_of(f)->below->pMethods->xCheckReservedLock(shim_of(f)->below, out);
}

static int on_control(sqlite3_file *f, int op, void *arg)
{
    return shim_of(f)->below->pMethods->xFileControl(shim_of(f)->below, op, arg);
}

static int on_sector_size(sqlite3_file *f)
{
    return shim_of(f)->below->pMethods->xSectorSize(shim_of(f)->below);
}

static int on_characteristics(sqlite3_file *f)
{
    return shim_of(f)->below->pMethods->xDeviceCharacteristics(shim_of(f)->below);
}

static int on_shm_map(sqlite3_file *f, int region, int size, int extend, void volatile **out)
{
    return shim_of(f)->below->pMethods->xShmMap(shim_of(f)->below, region, size, extend, out);
}

static int on_shm_lock(sqlite3_file *f, int offset, int n, int flags)
{
    return shim_of(f)->below->pMethods->xShmLock(shim_of(f)->below, offset, n, flags);
}

static void on_shm_barrier(sqlite3_file *f)
{
    shim_of(f)->below->pMethods->xShmBarrier(shim_of(f)->below);
}

static int on_shm_unmap(sqlite3_file *f, int gone)
{
    return shim_of(f)->below->pMethods->xShmUnmap(shim_of(f)->below, gone);
}

static const sqlite3_io_methods methods = {
    .iVersion = 2,
    .xClose = on_close,
    .xRead = on_read,
    .xWrite = on_write,
    .xTruncate = on_truncate,
    .xSync = on_sync,
    .xFileSize = on_size,
    .xLock = on_lock,
    .xUnlock = on_unlock,
    .xCheckReservedLock = on_reserved,
    .xFileControl = on_control,
    .xSectorSize = on_sector_size,
    .xDeviceCharacteristics = on_characteristics,
    .xShmMap = on_shm_map,
    .xShmLock = on_shm_lock,
    .xShmBarrier = on_shm_barrier,
    .xShmUnmap = on_shm_unmap,
};

static int on_open(sqlite3_vfs *vfs, const char *name, sqlite3_file *f, int flags, int *out)
{
    struct shim *s = shim_of(f);
    (void)vfs;
    s->is_log = (flags & SQLITE_OPEN_WAL) != 0;
    s->below = (sqlite3_file *)(void *)(s + 1);
    int rc = disk.below->xOpen(disk.below, name, s->below, flags, out);
    s->base.pMethods = rc == SQLITE_OK ? &methods : NULL;
    return rc;
}

/* --- with it ------------------------------------------------------------------------------------- */

static int watch_disk(void **state)
{
    memset(&disk, 0, sizeof disk);
    disk.below = sqlite3_vfs_find(NULL);
    disk.vfs = *disk.below;
    disk.vfs.zName = "watched";
    disk.vfs.szOsFile = (int)sizeof(struct shim) + disk.below->szOsFile;
    disk.vfs.xOpen = on_open;
    assert_int_equal(sqlite3_vfs_register(&disk.vfs, 1), SQLITE_OK);
    return setup(state);
}

static int leave_disk(void **state)
{
    int rc = teardown(state);
    assert_int_equal(sqlite3_vfs_unregister(&disk.vfs), SQLITE_OK);
    return rc;
}

/* A process writes and dies: all of it is in the log alone. */
static void die_with_a_log(struct fixture *f)
{
    sl_store_close(f->store);
    f->store = NULL;
    pid_t child = fork();
    assert_true(child >= 0);
    if (child == 0) {
        if (sl_store_open(f->dir, &f->store, &f->e) != SL_CODE_OK) {
            _exit(1);
        }
        make_queue(f, "a", "");
        _exit(sl_store_commit(f->store, &f->e) == SL_CODE_OK ? 0 : 2);
    }
    int status = -1;
    assert_int_equal(waitpid(child, &status, 0), child);
    assert_int_equal(status, 0);
    disk.log_size = disk.log_rewritten = 0;
    disk.log_synced = disk.database_written = false;
}

/* Or what the log's disk has of it might end earlier than what the database says, and be carried out over it. */
static void test_take_over_log_is_written_once_more_before_the_database(void **state)
{
    struct fixture *f = *state;
    die_with_a_log(f);
    assert_int_equal(sl_store_open(f->dir, &f->store, &f->e), SL_CODE_OK);
    assert_true(disk.log_size > 0);
    assert_true(disk.log_synced);
    assert_true(disk.database_written);
    struct sl_json *a = get_queue(f, "a");
    assert_non_null(a);
    sl_json_free(a);
}

static void expect_refused(struct fixture *f)
{
    assert_int_equal(sl_store_open(f->dir, &f->store, &f->e), SL_CODE_INTERNAL);
    assert_null(f->store);
    assert_string_equal(f->e.text, "cannot write the database's log once more: disk I/O error");
    assert_false(disk.database_written);
}

static void test_take_over_log_that_cannot_be_secured_keeps_it_from_starting(void **state)
{
    struct fixture *f = *state;
    die_with_a_log(f);
    disk.fail_syncs = 1;
    expect_refused(f);
    disk.fail_reads = 1;
    expect_refused(f);
    disk.log_rewritten = 0;
    assert_int_equal(sl_store_open(f->dir, &f->store, &f->e), SL_CODE_OK);
    assert_true(disk.log_synced);
}

int main(void)
{
#define CASE(test) cmocka_unit_test_setup_teardown(test, watch_disk, leave_disk)
    const struct CMUnitTest tests[] = {
        CASE(test_take_over_log_is_written_once_more_before_the_database),
        CASE(test_take_over_log_that_cannot_be_secured_keeps_it_from_starting),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
