/* SPDX-License-Identifier: Apache-2.0
 * SPDX-FileCopyrightText: The Sluice authors */

/* Walks over /proc. */
#include "runner/tree.h"
#include "base/mem.h"
#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/syscall.h>
#include <unistd.h>

#define ENVIRONMENT_BYTES_MAX (1u << 20)

struct process {
    pid_t pid, parent;
    unsigned long long start;
    bool dead, in;
};
struct processes {
    struct process *items;
    uint32_t count, cap;
};

static ssize_t read_file(const char *path, char *out, size_t cap)
{
    int fd = open(path, O_RDONLY | O_CLOEXEC);
    size_t len = 0;
    if (fd < 0) {
        return -1;
    }
    for (ssize_t n = 1; n > 0 && len + 1 < cap;) {
        n = read(fd, out + len, cap - 1 - len);
        len += n > 0 ? (size_t)n : 0;
    }
    (void)close(fd);
    out[len] = '\0';
    return (ssize_t)len;
}

/* What follows the name, which may have anything in it. */
static const char *read_stat(pid_t pid, char out[static 1024])
{
    char path[64];
    snprintf(path, sizeof path, "/proc/%d/stat", (int)pid);
    if (read_file(path, out, 1024) <= 0) {
        return NULL;
    }
    const char *end = strrchr(out, ')');
    return end == NULL || end[1] != ' ' ? NULL : end + 2;
}

static unsigned long long start_in(const char *at)
{
    for (int field = 3; at != NULL && field < 22; field++) {
        at = strchr(at, ' ');
        at = at == NULL ? NULL : at + 1;
    }
    return at == NULL ? 0 : strtoull(at, NULL, 10);
}

unsigned long long sl_process_start(pid_t pid)
{
    char text[1024];
    return start_in(read_stat(pid, text));
}

/* Its number may be another's by now. */
static bool kill_one(const struct process *p)
{
    int handle = (int)syscall(SYS_pidfd_open, p->pid, 0);
    if (handle < 0 && errno == ENOSYS) {
        return kill(p->pid, SIGKILL) == 0;
    }
    bool killed = handle >= 0 && sl_process_start(p->pid) == p->start &&
                  syscall(SYS_pidfd_send_signal, handle, SIGKILL, NULL, 0) == 0;
    if (handle >= 0) {
        (void)close(handle);
    }
    return killed;
}

static pid_t number_of(const char *name)
{
    size_t n = strlen(name);
    return n > 0 && n < 10 && strspn(name, "0123456789") == n ? (pid_t)strtol(name, NULL, 10) : 0;
}

static void add(struct processes *all, pid_t pid)
{
    char text[1024];
    const char *at = read_stat(pid, text);
    if (at == NULL) {
        return;
    }
    all->items = sl_mem_reach(all->items, &all->cap, 256, all->count, sizeof *all->items);
    all->items[all->count++] = (struct process){.pid = pid,
                                                .parent = (pid_t)strtol(at + 1, NULL, 10),
                                                .start = start_in(at),
                                                .dead = *at == 'Z' || *at == 'X'};
}

static struct processes list_new(void)
{
    struct processes all = {0};
    DIR *dir = opendir("/proc");
    for (const struct dirent *d; dir != NULL && (d = readdir(dir)) != NULL;) {
        pid_t pid = number_of(d->d_name);
        if (pid > 0) {
            add(&all, pid);
        }
    }
    if (dir != NULL) {
        (void)closedir(dir);
    }
    return all;
}

static bool has(const pid_t *list, size_t count, pid_t pid)
{
    for (size_t i = 0; i < count; i++) {
        if (list[i] == pid) {
            return true;
        }
    }
    return false;
}

static bool parent_in(const struct processes *all, pid_t root, pid_t parent)
{
    if (parent == root) {
        return true;
    }
    for (uint32_t i = 0; i < all->count; i++) {
        if (all->items[i].pid == parent) {
            return all->items[i].in;
        }
    }
    return false;
}

size_t sl_tree_kill(pid_t root, const pid_t *spared, size_t spared_count)
{
    struct processes all = list_new();
    size_t killed = 0;
    for (bool more = true; more;) {
        more = false;
        for (uint32_t i = 0; i < all.count; i++) {
            struct process *p = &all.items[i];
            if (!p->in && !has(spared, spared_count, p->pid) && parent_in(&all, root, p->parent)) {
                p->in = more = true;
            }
        }
    }
    for (uint32_t i = 0; i < all.count; i++) {
        if (all.items[i].in && !all.items[i].dead) {
            killed += kill_one(&all.items[i]);
        }
    }
    sl_mem_free(all.items);
    return killed;
}

static bool is_marked(pid_t pid, const char *mark, char *space)
{
    char path[64];
    size_t length = strlen(mark);
    snprintf(path, sizeof path, "/proc/%d/environ", (int)pid);
    ssize_t n = read_file(path, space, ENVIRONMENT_BYTES_MAX);
    for (ssize_t at = 0; at < n; at += (ssize_t)strlen(space + at) + 1) {
        if (strncmp(space + at, mark, length + 1) == 0) {
            return true;
        }
    }
    return false;
}

size_t sl_marked_kill(const char *uid)
{
    size_t killed = 0;
    char mark[128];
    char *space = sl_mem_new(ENVIRONMENT_BYTES_MAX, 1);
    struct processes all = list_new();
    snprintf(mark, sizeof mark, SL_POD_MARK "=%.64s", uid);
    for (uint32_t i = 0; i < all.count; i++) {
        const struct process *p = &all.items[i];
        if (!p->dead && p->pid != getpid() && is_marked(p->pid, mark, space)) {
            killed += kill_one(p);
        }
    }
    sl_mem_free(all.items);
    sl_mem_free(space);
    return killed;
}
