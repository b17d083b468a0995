/* SPDX-License-Identifier: Apache-2.0
 * SPDX-FileCopyrightText: The Sluice authors */

/* By descriptors, never by paths. What lies very deep is moved up first: descriptors are few, and the depth is the choice of who
 * made it. */
#include "runner/remove.h"
#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#define DEPTH_MAX 32
#define ROUNDS_MAX 10000 /* each makes what is left less deep */

struct removing {
    int top;
    dev_t device;
    unsigned moved;
    bool more; /* something was moved up */
};

/* A directory without rights for its owner. Root needs none, and must not change what it is shown by others. */
static int open_dir(int at, const char *name)
{
    const int how = O_RDONLY | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC | O_NONBLOCK;
    int fd = openat(at, name, how);
    if (fd < 0 && errno == EACCES && geteuid() != 0 && fchmodat(at, name, 0700, 0) == 0) {
        fd = openat(at, name, how);
    }
    return fd;
}

static void move_up(struct removing *r, int at, const char *name)
{
    char fresh[32];
    (void)snprintf(fresh, sizeof fresh, ".moved-%u", r->moved++);
    (void)renameat(at, name, r->top, fresh);
    r->more = true;
}

static void empty(struct removing *r, int dir, int depth);

static void remove_entry(struct removing *r, int dir, const char *name, int depth)
{
    if (unlinkat(dir, name, 0) == 0 || (errno != EISDIR && errno != EPERM)) {
        return;
    }
    int fd = open_dir(dir, name);
    struct stat what;
    if (fd >= 0 && fstat(fd, &what) == 0 && what.st_dev == r->device) {
        if (geteuid() != 0) {
            (void)fchmod(fd, 0700);
        }
        if (depth < DEPTH_MAX) {
            empty(r, dup(fd), depth + 1);
        }
        if (unlinkat(dir, name, AT_REMOVEDIR) != 0 && depth >= DEPTH_MAX) {
            move_up(r, dir, name);
        }
    }
    if (fd >= 0) {
        (void)close(fd);
    }
}

/* Takes the descriptor. */
static void empty(struct removing *r, int dir, int depth)
{
    DIR *list = dir < 0 ? NULL : fdopendir(dir);
    for (const struct dirent *d; list != NULL && (d = readdir(list)) != NULL;) {
        if (strcmp(d->d_name, ".") != 0 && strcmp(d->d_name, "..") != 0) {
            remove_entry(r, dir, d->d_name, depth);
        }
    }
    if (list != NULL) {
        (void)closedir(list);
    } else if (dir >= 0) {
        (void)close(dir);
    }
}

bool sl_dir_remove(const char *path)
{
    struct stat what;
    struct removing r = {.top = open_dir(AT_FDCWD, path)};
    if (r.top < 0 || fstat(r.top, &what) != 0) {
        return errno == ENOENT;
    }
    r.device = what.st_dev;
    if (geteuid() != 0) {
        (void)fchmod(r.top, 0700);
    }
    for (int i = 0; i < ROUNDS_MAX && (i == 0 || r.more); i++) {
        r.more = false;
        (void)lseek(r.top, 0, SEEK_SET);
        empty(&r, dup(r.top), 0);
    }
    (void)close(r.top);
    return unlinkat(AT_FDCWD, path, AT_REMOVEDIR) == 0;
}
