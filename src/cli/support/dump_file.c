/* SPDX-License-Identifier: Apache-2.0
 * SPDX-FileCopyrightText: The Sluice authors */

/* The dump as a file. */
#include "base/check.h"
#include "base/log.h"
#include "cli/support/dump.h"
#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

#define PIECE ((size_t)256 << 10)

static void forget(struct sl_dump_file *f)
{
    if (f->page.rest != NULL) {
        f->page.rest->free(f->page.rest);
    }
    if (f->fd >= 0) {
        (void)close(f->fd);
        (void)unlink(f->fresh.data);
    }
    f->fd = -1;
    sl_buf_fini(&f->page.body);
    sl_buf_fini(&f->path);
    sl_buf_fini(&f->fresh);
    f->page = (struct sl_server_page){0};
    f->under_way = false;
}

static void end(struct sl_dump_file *f, int error)
{
    (void)uv_idle_stop(&f->idle);
    if (error == 0) {
        sl_log(SL_LOG_INFO, "a dump was written", "file", f->path.data, "bytes",
               sl_log_number((long long)f->page.body.len), NULL);
    } else {
        sl_log(SL_LOG_ERROR, "the dump could not be written", "file", f->path.data, "reason",
               strerror(error), NULL);
    }
    forget(f);
}

/* For its owner's eyes, as all that is in the directory. */
static void begin_file(struct sl_dump_file *f)
{
    sl_buf_print(&f->path, "%s/dump.json", f->dir);
    sl_buf_print(&f->fresh, "%s.new", f->path.data);
    f->at = 0;
    (void)unlink(f->fresh.data);
    f->fd = open(f->fresh.data, O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC | O_NOFOLLOW, 0600);
    if (f->fd < 0) {
        end(f, errno);
    }
}

/* Not synchronised: that would hold decisions up, and who loses power asks again. */
static void end_file(struct sl_dump_file *f)
{
    bool written = close(f->fd) == 0;
    f->fd = -1;
    end(f, written && rename(f->fresh.data, f->path.data) == 0 ? 0 : errno);
}

static void write_piece(struct sl_dump_file *f)
{
    size_t left = f->page.body.len - f->at;
    ssize_t n = write(f->fd, f->page.body.data + f->at, left < PIECE ? left : PIECE);
    if (n <= 0 && errno != EINTR) {
        end(f, errno);
        return;
    }
    f->at += n > 0 ? (size_t)n : 0;
    if (f->at == f->page.body.len) {
        end_file(f);
    }
}

static void on_idle(uv_idle_t *idle)
{
    struct sl_dump_file *f = idle->data;
    if (f->fd >= 0) {
        write_piece(f);
    } else if (!f->page.rest->go_on(f->page.rest, &f->page)) {
        begin_file(f);
    }
}

void sl_dump_file_begin(struct sl_dump_file *f, uv_loop_t *loop, struct sl_pages *pages,
                        const char *dir)
{
    SL_PRE(f != NULL && pages != NULL);
    if (dir == NULL) {
        return;
    }
    if (f->under_way) {
        sl_log(SL_LOG_WARN, "a dump is being written already", NULL);
        return;
    }
    if (!f->open) {
        (void)uv_idle_init(loop, &f->idle);
        f->idle.data = f;
        f->fd = -1;
        f->open = true;
    }
    f->dir = dir;
    f->page = (struct sl_server_page){.accept = "", .status = 200};
    f->under_way = true;
    sl_dump_serve(pages, SL_DUMP_PATH, "", &f->page);
    (void)uv_idle_start(&f->idle, on_idle);
}

void sl_dump_file_end(struct sl_dump_file *f)
{
    SL_PRE(f != NULL);
    if (f->open) {
        forget(f);
        uv_close((uv_handle_t *)&f->idle, NULL);
        f->open = false;
    }
}
