/* SPDX-License-Identifier: Apache-2.0
 * SPDX-FileCopyrightText: The Sluice authors */

/* The journal's files are real ones, but their writes go through here (--wrap of the linker): they fail when the disk
 * does, have no effect when the process is dead, and a power cut takes from their end. */
#include "disk.h"
#include "base/mem.h"
#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <sys/stat.h>
#include <unistd.h>

#define TAIL_MAX 65536u
#define SECTOR 512u /* is written whole, or not at all */

ssize_t __real_write(int fd, const void *data, size_t n);
ssize_t __wrap_write(int fd, const void *data, size_t n);
int __real_ftruncate(int fd, off_t size);
int __wrap_ftruncate(int fd, off_t size);

ssize_t __wrap_write(int fd, const void *data, size_t n)
{
    if (fd <= STDERR_FILENO) {
        return __real_write(fd, data, n);
    }
    if (sim_disk_is_dead()) {
        return (ssize_t)n; /* nobody is there any more to see that it is not so */
    }
    size_t part = n;
    if (sim_disk_admits(SIM_TROUBLE_WRITE, true, &part)) {
        return __real_write(fd, data, n);
    }
    sim_tally(SIM_TALLY_JOURNAL_ERRORS);
    if (part > 0 && part < n) {
        return __real_write(fd, data, part);
    }
    errno = ENOSPC;
    return -1;
}

int __wrap_ftruncate(int fd, off_t size)
{
    size_t any = 0;
    if (sim_disk_is_dead()) {
        return 0;
    }
    if (!sim_disk_admits(SIM_TROUBLE_WRITE, false, &any)) {
        sim_tally(SIM_TALLY_JOURNAL_ERRORS);
        errno = EIO;
        return -1;
    }
    return __real_ftruncate(fd, size);
}

/* The newest one's path; false when there is none. */
static bool newest(const char *dir, char *path, size_t size)
{
    unsigned number = 0;
    do {
        (void)snprintf(path, size, "%s/journal-%u.log", dir, ++number);
    } while (access(path, F_OK) == 0);
    unsigned gone = number - 1;
    (void)snprintf(path, size, "%s/journal-%u.log", dir, gone);
    return gone > 0;
}

static void put_zeros(int fd, size_t from, size_t to)
{
    char *zeros = sl_mem_new(to - from + 1, 1);
    if (pwrite(fd, zeros, to - from, (off_t)from) < 0) {
        sim_story_violation("the journal's file cannot be changed");
    }
    sl_mem_free(zeros);
}

void sim_disk_cut_journal(const char *dir, struct sim_chance *c)
{
    char path[4096];
    struct stat st;
    if (!newest(dir, path, sizeof path) || stat(path, &st) != 0 || st.st_size == 0) {
        return;
    }
    size_t size = (size_t)st.st_size;
    size_t tail = sim_chance_of(c, 20) || size < TAIL_MAX ? size : TAIL_MAX;
    size_t from = size - sim_chance_below(c, (uint32_t)tail + 1);
    int fd = open(path, O_RDWR | O_CLOEXEC);
    switch (sim_chance_below(c, 5)) {
    case 0: /* all of it was written */
        break;
    case 1: /* the room was there, its contents were not */
        put_zeros(fd, from - from % SECTOR, size);
        break;
    case 2: /* some block in between was not */
        from -= from % SECTOR;
        size -= (size - from) / 2;
        put_zeros(fd, from, size - size % SECTOR);
        break;
    default:
        if (__real_ftruncate(fd, (off_t)from) != 0) {
            sim_story_violation("the journal's file cannot be cut");
        }
        break;
    }
    (void)close(fd);
}
