/* SPDX-License-Identifier: Apache-2.0
 * SPDX-FileCopyrightText: The Sluice authors */

/* Frames: a head of fixed size, then the texts. Both sides are the same program. */
#include "replica_wire.h"
#include <errno.h>
#include <stdio.h>
#include <string.h>
#include <sys/socket.h>
#include <unistd.h>

struct head {
    int64_t type, status, ms, idle_ms;
    uint64_t id;
    size_t lens[3];
};

/* A side that is gone is noticed when it is listened to. */
static void send_all(int fd, const void *data, size_t len)
{
    const char *at = data;
    while (len > 0) {
        ssize_t n = send(fd, at, len, MSG_NOSIGNAL);
        if (n < 0 && errno == EINTR) {
            continue;
        }
        if (n <= 0) {
            return;
        }
        at += n;
        len -= (size_t)n;
    }
}

static bool receive_all(int fd, void *data, size_t len)
{
    char *at = data;
    while (len > 0) {
        ssize_t n = recv(fd, at, len, 0);
        if (n < 0 && errno == EINTR) {
            continue;
        }
        if (n <= 0) {
            return false;
        }
        at += n;
        len -= (size_t)n;
    }
    return true;
}

void sim_frame_send(int fd, const struct sim_frame *f)
{
    const struct head h = {(int64_t)f->type, f->status, f->ms,
                           f->idle_ms,       f->id,     {f->a.len, f->b.len, f->c.len}};
    struct sl_buf all = {0};
    const struct sl_buf *texts[] = {&f->a, &f->b, &f->c};
    sl_buf_add(&all, (const char *)&h, sizeof h);
    for (size_t i = 0; i < 3; i++) {
        if (texts[i]->len > 0) {
            sl_buf_add(&all, texts[i]->data, texts[i]->len);
        }
    }
    send_all(fd, all.data, all.len);
    sl_buf_fini(&all);
}

static bool receive_text(int fd, struct sl_buf *out, size_t len)
{
    char block[65536];
    sl_buf_reset(out);
    sl_buf_add(out, "", 0);
    while (len > 0) {
        size_t n = len < sizeof block ? len : sizeof block;
        if (!receive_all(fd, block, n)) {
            return false;
        }
        sl_buf_add(out, block, n);
        len -= n;
    }
    return true;
}

bool sim_frame_receive(int fd, struct sim_frame *f)
{
    struct head h;
    if (!receive_all(fd, &h, sizeof h)) {
        return false;
    }
    f->type = (enum sim_frame_type)h.type;
    f->status = (int)h.status;
    f->id = h.id;
    f->ms = h.ms;
    f->idle_ms = h.idle_ms;
    return receive_text(fd, &f->a, h.lens[0]) && receive_text(fd, &f->b, h.lens[1]) &&
           receive_text(fd, &f->c, h.lens[2]);
}

void sim_frame_fini(struct sim_frame *f)
{
    sl_buf_fini(&f->a);
    sl_buf_fini(&f->b);
    sl_buf_fini(&f->c);
}

struct sl_buf sim_frame_text(const char *text)
{
    return (struct sl_buf){.data = (char *)(uintptr_t)text, .len = strlen(text)};
}
