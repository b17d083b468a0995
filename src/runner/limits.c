/* SPDX-License-Identifier: Apache-2.0
 * SPDX-FileCopyrightText: The Sluice authors */

/* Control groups. */
#include "runner/limits.h"
#include "base/mem.h"
#include <errno.h>
#include <fcntl.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#define PERIOD_US 100000
#define CONTROLLERS "+cpu +memory +pids"

static bool put(const char *group, const char *file, const char *text)
{
    struct sl_buf path = {0};
    sl_buf_print(&path, "%s/%s", group, file);
    int fd = open(path.data, O_WRONLY | O_CLOEXEC);
    bool ok = fd >= 0 && write(fd, text, strlen(text)) == (ssize_t)strlen(text);
    int why = errno;
    if (fd >= 0) {
        (void)close(fd);
    }
    sl_buf_fini(&path);
    errno = why;
    return ok;
}

static void get(const char *path, struct sl_buf *out)
{
    char piece[4096];
    ssize_t n;
    int fd = open(path, O_RDONLY | O_CLOEXEC);
    sl_buf_text(out, "");
    while (fd >= 0 && (n = read(fd, piece, sizeof piece)) > 0) {
        sl_buf_add(out, piece, (size_t)n);
    }
    if (fd >= 0) {
        (void)close(fd);
    }
}

/* "ID PARENT MAJOR:MINOR ROOT MOUNTPOINT OPTIONS ... - TYPE ..." */
static bool mount_point(const char *mounts, struct sl_buf *out)
{
    struct sl_buf text = {0};
    bool found = false;
    get(mounts, &text);
    for (char *rest = text.data, *line; !found && (line = strsep(&rest, "\n")) != NULL;) {
        char point[1024] = "";
        const char *type = strstr(line, " - ");
        if (type != NULL && strncmp(type + 3, "cgroup2 ", 8) == 0 &&
            sscanf(line, "%*s %*s %*s %*s %1023s", point) == 1) {
            sl_buf_text(out, point);
            found = true;
        }
    }
    sl_buf_fini(&text);
    return found;
}

static bool own_group(const char *own, struct sl_buf *out)
{
    struct sl_buf text = {0};
    bool found = false;
    get(own, &text);
    for (char *rest = text.data, *line; !found && (line = strsep(&rest, "\n")) != NULL;) {
        if (strncmp(line, "0::/", 4) == 0) {
            sl_buf_text(out, strcmp(line + 3, "/") == 0 ? "" : line + 3);
            found = true;
        }
    }
    sl_buf_fini(&text);
    return found;
}

static bool lists(const char *group, const char *file)
{
    static const char *const needed[] = {"cpu", "memory", "pids"};
    struct sl_buf path = {0}, text = {0}, padded = {0};
    bool all = true;
    sl_buf_print(&path, "%s/%s", group, file);
    get(path.data, &text);
    sl_buf_print(&padded, " %.*s ", (int)strcspn(text.data, "\n"), text.data);
    for (size_t i = 0; i < sizeof needed / sizeof needed[0]; i++) {
        char word[16];
        snprintf(word, sizeof word, " %s ", needed[i]);
        all = all && strstr(padded.data, word) != NULL;
    }
    sl_buf_fini(&path);
    sl_buf_fini(&text);
    sl_buf_fini(&padded);
    return all;
}

/* A group that has processes cannot hand controllers on: so this process goes one down. */
static bool step_aside(const char *base)
{
    char pid[32];
    struct sl_buf own = {0};
    sl_buf_print(&own, "%s/daemon", base);
    snprintf(pid, sizeof pid, "%d", (int)getpid());
    bool ok = (mkdir(own.data, 0755) == 0 || errno == EEXIST) && put(own.data, "cgroup.procs", pid);
    int why = errno;
    sl_buf_fini(&own);
    errno = why;
    return ok;
}

char *sl_limits_base_new(const char *mounts, const char *own, char *why, size_t why_size)
{
    struct sl_buf base = {0};
    if (!mount_point(mounts, &base)) {
        snprintf(why, why_size, "no file system of control groups, version 2, is mounted");
    } else if (!own_group(own, &base)) {
        snprintf(why, why_size, "this process is in no control group of version 2");
    } else if (!lists(base.data, "cgroup.controllers")) {
        snprintf(why, why_size, "%.200s does not have the controllers cpu, memory and pids",
                 base.data);
    } else if (!lists(base.data, "cgroup.subtree_control") &&
               !put(base.data, "cgroup.subtree_control", CONTROLLERS) &&
               (!step_aside(base.data) || !put(base.data, "cgroup.subtree_control", CONTROLLERS))) {
        snprintf(why, why_size, "%.200s is not ours to divide: %s", base.data, strerror(errno));
    } else {
        return sl_buf_take(&base);
    }
    sl_buf_fini(&base);
    return NULL;
}

static bool put_limits(const char *group, const struct sl_json *plan)
{
    char text[64];
    int64_t cpu = sl_json_path_int(plan, "cpuMilli", 0);
    int64_t memory = sl_json_path_int(plan, "memoryBytes", 0);
    snprintf(text, sizeof text, "%d", SL_PIDS_MAX);
    bool ok = put(group, "pids.max", text);
    if (cpu > 0) {
        snprintf(text, sizeof text, "%" PRId64 " %d", cpu * (PERIOD_US / 1000), PERIOD_US);
        ok = put(group, "cpu.max", text) && ok;
    }
    if (memory > 0) {
        snprintf(text, sizeof text, "%" PRId64, memory);
        ok = put(group, "memory.max", text) && ok;
        (void)put(group, "memory.swap.max", "0"); /* not every kernel has it */
    }
    return ok;
}

char *sl_limits_group_new(const char *base, const char *uid, const struct sl_json *plan)
{
    struct sl_buf group = {0};
    sl_buf_print(&group, "%s/pod-%s", base, uid);
    if ((mkdir(group.data, 0755) != 0 && errno != EEXIST) || !put_limits(group.data, plan)) {
        int why = errno;
        (void)rmdir(group.data);
        sl_buf_fini(&group);
        errno = why;
        return NULL;
    }
    return sl_buf_take(&group);
}

bool sl_limits_enter(const char *group, pid_t pid)
{
    char text[32];
    snprintf(text, sizeof text, "%d", (int)pid);
    return put(group, "cgroup.procs", text);
}

void sl_limits_end(const char *group)
{
    (void)put(group, "cgroup.kill", "1");
    for (int i = 0; i < 100 && rmdir(group) != 0 && errno == EBUSY; i++) {
        (void)usleep(2000);
    }
}

bool sl_limits_oom(const char *group)
{
    struct sl_buf path = {0}, text = {0};
    sl_buf_print(&path, "%s/memory.events", group);
    get(path.data, &text);
    const char *at = strstr(text.data, "oom_kill ");
    bool killed = at != NULL && strtol(at + strlen("oom_kill "), NULL, 10) > 0;
    sl_buf_fini(&path);
    sl_buf_fini(&text);
    return killed;
}
