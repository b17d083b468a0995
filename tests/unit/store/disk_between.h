/* SPDX-License-Identifier: Apache-2.0
 * SPDX-FileCopyrightText: The Sluice authors */

/* A disk between SQLite and the files: it sees in what order the log and the database are written, and fails when it is
 * told to. */
#ifndef SL_TEST_STORE_DISK_BETWEEN_H
#define SL_TEST_STORE_DISK_BETWEEN_H
#include "fixture.h"
#include "store/internal.h"

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
    bool full; /* no file grows */
    /* So many fail: */
    unsigned fail_syncs;     /* of the log */
    unsigned fail_log_reads; /* of more than SQLite itself reads at once */
    unsigned fail_database_reads, after_database_reads;
} disk;

static inline struct shim *shim_of(sqlite3_file *f)
{
    return (struct shim *)(void *)f;
}

static inline int on_close(sqlite3_file *f)
{
    return shim_of(f)->below->pMethods->xClose(shim_of(f)->below);
}

static inline bool counts(unsigned *count)
{
    bool so = *count > 0;
    *count -= so;
    return so;
}

static inline int on_read(sqlite3_file *f, void *to, int n, sqlite3_int64 at)
{
    struct shim *s = shim_of(f);
    bool whole_piece = n > 4096 + 24; /* a frame of the log is as large */
    bool wait = !s->is_log && counts(&disk.after_database_reads);
    bool fail = s->is_log ? whole_piece && counts(&disk.fail_log_reads)
                          : !wait && counts(&disk.fail_database_reads);
    return fail ? SQLITE_IOERR_READ : s->below->pMethods->xRead(s->below, to, n, at);
}

static inline int on_write(sqlite3_file *f, const void *data, int n, sqlite3_int64 at)
{
    struct shim *s = shim_of(f);
    sqlite3_int64 size = 0;
    (void)s->below->pMethods->xFileSize(s->below, &size);
    if (disk.full && at + n > size) {
        return SQLITE_FULL;
    }
    disk.database_written = disk.database_written || !s->is_log;
    if (s->is_log && !disk.database_written && at == disk.log_rewritten) {
        disk.log_rewritten += n;
    }
    return s->below->pMethods->xWrite(s->below, data, n, at);
}

static inline int on_truncate(sqlite3_file *f, sqlite3_int64 size)
{
    return shim_of(f)->below->pMethods->xTruncate(shim_of(f)->below, size);
}

static inline int on_sync(sqlite3_file *f, int flags)
{
    struct shim *s = shim_of(f);
    bool whole = disk.log_size > 0 && disk.log_rewritten == disk.log_size;
    if (s->is_log && counts(&disk.fail_syncs)) {
        return SQLITE_IOERR_FSYNC;
    }
    disk.log_synced = disk.log_synced || (s->is_log && whole && !disk.database_written);
    return s->below->pMethods->xSync(s->below, flags);
}

static inline int on_size(sqlite3_file *f, sqlite3_int64 *size)
{
    int rc = shim_of(f)->below->pMethods->xFileSize(shim_of(f)->below, size);
    if (shim_of(f)->is_log && *size > disk.log_size) {
        disk.log_size = *size;
    }
    return rc;
}

static inline int on_lock(sqlite3_file *f, int level)
{
    return shim_of(f)->below->pMethods->xLock(shim_of(f)->below, level);
}

static inline int on_unlock(sqlite3_file *f, int level)
{
    return shim_of(f)->below->pMethods->xUnlock(shim_of(f)->below, level);
}

static inline int on_reserved(sqlite3_file *f, int *out)
{
    return shim_of(f)->below->pMethods->xCheckReservedLock(shim_of(f)->below, out);
}

static inline int on_control(sqlite3_file *f, int op, void *arg)
{
    return shim_of(f)->below->pMethods->xFileControl(shim_of(f)->below, op, arg);
}

static inline int on_sector_size(sqlite3_file *f)
{
    return shim_of(f)->below->pMethods->xSectorSize(shim_of(f)->below);
}

static inline int on_characteristics(sqlite3_file *f)
{
    return shim_of(f)->below->pMethods->xDeviceCharacteristics(shim_of(f)->below);
}

static inline int on_shm_map(sqlite3_file *f, int region, int size, int extend, void volatile **out)
{
    return shim_of(f)->below->pMethods->xShmMap(shim_of(f)->below, region, size, extend, out);
}

static inline int on_shm_lock(sqlite3_file *f, int offset, int n, int flags)
{
    return shim_of(f)->below->pMethods->xShmLock(shim_of(f)->below, offset, n, flags);
}

static inline void on_shm_barrier(sqlite3_file *f)
{
    shim_of(f)->below->pMethods->xShmBarrier(shim_of(f)->below);
}

static inline int on_shm_unmap(sqlite3_file *f, int gone)
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

static inline int on_open(sqlite3_vfs *vfs, const char *name, sqlite3_file *f, int flags, int *out)
{
    struct shim *s = shim_of(f);
    (void)vfs;
    s->is_log = (flags & SQLITE_OPEN_WAL) != 0;
    s->below = (sqlite3_file *)(void *)(s + 1);
    int rc = disk.below->xOpen(disk.below, name, s->below, flags, out);
    s->base.pMethods = rc == SQLITE_OK ? &methods : NULL;
    return rc;
}

static inline int watch_disk(void **state)
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

static inline int leave_disk(void **state)
{
    int rc = teardown(state);
    assert_int_equal(sqlite3_vfs_unregister(&disk.vfs), SQLITE_OK);
    return rc;
}
#endif
