/* SPDX-License-Identifier: Apache-2.0
 * SPDX-FileCopyrightText: The Sluice authors */

/* Logs of containers. */
#include "runner/output.h"
#include "base/buf.h"
#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <unistd.h>

static void move(const struct sl_output *o, const char *from, const char *to)
{
    struct sl_buf a = {0}, b = {0};
    sl_buf_print(&a, "%s/%s%s", o->dir, o->name, from);
    sl_buf_print(&b, "%s/%s%s", o->dir, o->name, to);
    (void)rename(a.data, b.data);
    sl_buf_fini(&a);
    sl_buf_fini(&b);
}

static bool begin(struct sl_output *o)
{
    struct sl_buf path = {0};
    sl_buf_print(&path, "%s/%s.log", o->dir, o->name);
    o->fd = open(path.data, O_WRONLY | O_CREAT | O_TRUNC | O_APPEND | O_CLOEXEC, 0600);
    o->size = 0;
    sl_buf_fini(&path);
    return o->fd >= 0;
}

bool sl_output_open(struct sl_output *o, const char *dir, const char *name, uint64_t size_max)
{
    *o = (struct sl_output){.dir = dir, .name = name, .fd = -1, .size_max = size_max};
    struct sl_buf rest = {0};
    move(o, ".log", ".old.log");
    sl_buf_print(&rest, "%s/%s.log.1", dir, name);
    (void)unlink(rest.data);
    sl_buf_fini(&rest);
    return begin(o);
}

static void turn_over(struct sl_output *o)
{
    (void)close(o->fd);
    move(o, ".log", ".log.1");
    (void)begin(o);
}

void sl_output_add(struct sl_output *o, const char *data, size_t size)
{
    if (o->fd >= 0 && o->size > 0 && o->size + size > o->size_max) {
        turn_over(o);
    }
    while (o->fd >= 0 && size > 0) {
        ssize_t n = write(o->fd, data, size);
        if (n < 0 && errno == EINTR) {
            continue;
        }
        if (n <= 0) {
            return;
        }
        o->size += (uint64_t)n;
        data += n;
        size -= (size_t)n;
    }
}

void sl_output_close(struct sl_output *o)
{
    if (o->fd >= 0) {
        (void)close(o->fd);
    }
    o->fd = -1;
}
