/* SPDX-License-Identifier: Apache-2.0
 * SPDX-FileCopyrightText: The Sluice authors */

/* The disk as SQLite sees it: a VFS like the one for Unix, for the one connection that the store has. */
#include "disk.h"
#include "base/mem.h"
#include <sqlite3.h>
#include <stdio.h>
#include <string.h>

#define SECTOR_SIZE 4096 /* as SQLite takes it on Unix */

struct handle {
    sqlite3_file base;
    struct sim_file *file;
    bool temporary;
};

static struct sim_file *file_of(sqlite3_file *h)
{
    return ((struct handle *)(void *)h)->file;
}

/* --- files -------------------------------------------------------------------------------------- */

static int on_close(sqlite3_file *h)
{
    struct handle *handle = (struct handle *)(void *)h;
    if (handle->temporary) {
        (void)sim_disk_unlink(handle->file, true);
    }
    sim_disk_close(handle->file);
    return SQLITE_OK;
}

static int on_read(sqlite3_file *h, void *out, int n, sqlite3_int64 offset)
{
    return sim_disk_read(file_of(h), out, (size_t)n, (size_t)offset);
}

static int on_write(sqlite3_file *h, const void *data, int n, sqlite3_int64 offset)
{
    return sim_disk_write(file_of(h), data, (size_t)n, (size_t)offset);
}

static int on_truncate(sqlite3_file *h, sqlite3_int64 size)
{
    return sim_disk_truncate(file_of(h), (size_t)size);
}

static int on_sync(sqlite3_file *h, int flags)
{
    (void)flags;
    return sim_disk_sync(file_of(h));
}

static int on_size(sqlite3_file *h, sqlite3_int64 *out)
{
    *out = (sqlite3_int64)file_of(h)->now.size;
    return SQLITE_OK;
}

static int on_lock(sqlite3_file *h, int level)
{
    (void)h;
    (void)level;
    return SQLITE_OK;
}

static int on_reserved(sqlite3_file *h, int *out)
{
    (void)h;
    *out = 0;
    return SQLITE_OK;
}

static int on_control(sqlite3_file *h, int op, void *arg)
{
    (void)h;
    (void)op;
    (void)arg;
    return SQLITE_NOTFOUND;
}

static int on_sector_size(sqlite3_file *h)
{
    (void)h;
    return SECTOR_SIZE;
}

/* A write leaves the rest of its sector alone, as SQLite takes it on Unix. */
static int on_characteristics(sqlite3_file *h)
{
    (void)h;
    return SQLITE_IOCAP_POWERSAFE_OVERWRITE;
}

/* --- the index of the write-ahead log ------------------------------------------------------------ */

static int on_shm_map(sqlite3_file *h, int region, int size, int extend, void volatile **out)
{
    struct sim_file *f = file_of(h);
    *out = NULL;
    while (extend != 0 && f->shared_count <= (size_t)region) {
        f->shared = sl_mem_grow(f->shared, f->shared_count + 1, sizeof *f->shared);
        f->shared[f->shared_count++] = sl_mem_new((size_t)size, 1);
    }
    if ((size_t)region < f->shared_count) {
        *out = f->shared[region];
    }
    return SQLITE_OK;
}

static int on_shm_lock(sqlite3_file *h, int offset, int n, int flags)
{
    (void)h;
    (void)offset;
    (void)n;
    (void)flags;
    return SQLITE_OK;
}

static void on_shm_barrier(sqlite3_file *h)
{
    (void)h;
}

/* Whoever opens it next builds it anew from the log. */
static int on_shm_unmap(sqlite3_file *h, int gone)
{
    struct sim_file *f = file_of(h);
    (void)gone;
    for (size_t i = 0; i < f->shared_count; i++) {
        sl_mem_free(f->shared[i]);
    }
    f->shared_count = 0;
    return SQLITE_OK;
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
    .xUnlock = on_lock,
    .xCheckReservedLock = on_reserved,
    .xFileControl = on_control,
    .xSectorSize = on_sector_size,
    .xDeviceCharacteristics = on_characteristics,
    .xShmMap = on_shm_map,
    .xShmLock = on_shm_lock,
    .xShmBarrier = on_shm_barrier,
    .xShmUnmap = on_shm_unmap,
};

/* --- names -------------------------------------------------------------------------------------- */

static int on_open(sqlite3_vfs *vfs, const char *name, sqlite3_file *h, int flags, int *out)
{
    static unsigned temporaries;
    char temporary[64];
    (void)vfs;
    struct handle *handle = (struct handle *)(void *)h;
    *handle =
        (struct handle){.temporary = name == NULL || (flags & SQLITE_OPEN_DELETEONCLOSE) != 0};
    if (name == NULL) {
        (void)snprintf(temporary, sizeof temporary, "temporary-%u", temporaries++);
        name = temporary;
    }
    struct sim_file *f = sim_disk_find(name);
    if (f == NULL && ((flags & SQLITE_OPEN_CREATE) == 0 || sim_disk_is_dead())) {
        return SQLITE_CANTOPEN;
    }
    handle->file = f != NULL ? f : sim_disk_make(name);
    handle->file->opens++;
    handle->base.pMethods = &methods;
    if (out != NULL) {
        *out = flags;
    }
    return SQLITE_OK;
}

static int on_delete(sqlite3_vfs *vfs, const char *name, int sync)
{
    (void)vfs;
    struct sim_file *f = sim_disk_find(name);
    return f == NULL ? SQLITE_IOERR_DELETE_NOENT : sim_disk_unlink(f, sync != 0);
}

static int on_access(sqlite3_vfs *vfs, const char *name, int flags, int *out)
{
    (void)vfs;
    const struct sim_file *f = sim_disk_find(name);
    *out = f != NULL && (flags != SQLITE_ACCESS_EXISTS || f->now.size > 0); /* as on Unix */
    return SQLITE_OK;
}

static int on_full_name(sqlite3_vfs *vfs, const char *name, int n, char *out)
{
    (void)vfs;
    return snprintf(out, (size_t)n, "%s", name) < n ? SQLITE_OK : SQLITE_CANTOPEN;
}

static int on_random(sqlite3_vfs *vfs, int n, char *out)
{
    (void)vfs;
    for (int i = 0; i < n; i++) {
        out[i] = (char)(sim_disk_random() >> 56);
    }
    return n;
}

/* Nobody else holds a lock that were worth waiting for. */
static int on_sleep(sqlite3_vfs *vfs, int us)
{
    (void)vfs;
    return us;
}

static int on_time(sqlite3_vfs *vfs, double *out)
{
    (void)vfs;
    *out = 2460000.5;
    return SQLITE_OK;
}

static int on_last_error(sqlite3_vfs *vfs, int n, char *out)
{
    (void)vfs;
    (void)n;
    (void)out;
    return 0;
}

void sim_disk_register(void)
{
    static sqlite3_vfs vfs = {
        .iVersion = 1,
        .szOsFile = sizeof(struct handle),
        .mxPathname = 512,
        .zName = "simulated",
        .xOpen = on_open,
        .xDelete = on_delete,
        .xAccess = on_access,
        .xFullPathname = on_full_name,
        .xRandomness = on_random,
        .xSleep = on_sleep,
        .xCurrentTime = on_time,
        .xGetLastError = on_last_error,
    };
    if (sqlite3_vfs_register(&vfs, 1) != SQLITE_OK) {
        sim_story_violation("SQLite takes no other disk");
    }
}
