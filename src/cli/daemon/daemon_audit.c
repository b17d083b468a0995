/* SPDX-License-Identifier: Apache-2.0
 * SPDX-FileCopyrightText: The Sluice authors */

#include "cli/daemon/daemon_audit.h"
#include "api/json/json.h"
#include "base/check.h"
#include "base/clock.h"
#include "base/log.h"
#include "base/mem.h"
#include "base/utf8.h"
#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#define COMPLAIN_MS 60000
#define PATH_LEN_MAX 1024u

static void complain(struct sl_daemon_audit *a, const char *what)
{
    int reason = errno;
    int64_t now_ms = sl_clock_now_ms();
    if (a->complained_ms == 0 || now_ms - a->complained_ms >= COMPLAIN_MS) {
        a->complained_ms = now_ms;
        sl_log(SL_LOG_ERROR, what, "file", a->path, "reason", strerror(reason), NULL);
    }
}

static void open_file(struct sl_daemon_audit *a)
{
    struct stat now;
    a->fd = open(a->path, O_WRONLY | O_APPEND | O_CREAT | O_CLOEXEC | O_NOFOLLOW, 0600);
    if (a->fd < 0) {
        complain(a, "the audit log cannot be opened");
        return;
    }
    a->bytes = fstat(a->fd, &now) == 0 ? now.st_size : 0;
}

void sl_daemon_audit_open(struct sl_daemon_audit *a, const char *dir)
{
    SL_PRE(a != NULL && dir != NULL);
    struct sl_buf path = {0};
    sl_buf_print(&path, "%s/audit.log", dir);
    *a = (struct sl_daemon_audit){
        .path = sl_buf_take(&path), .fd = -1, .bytes_max = SL_AUDIT_BYTES_MAX};
    open_file(a);
}

/* audit.log.3 becomes audit.log.4, and so on up to audit.log. */
static void begin_next(struct sl_daemon_audit *a)
{
    struct sl_buf from = {0}, to = {0};
    (void)close(a->fd);
    for (int i = SL_AUDIT_FILES; i > 0; i--) {
        sl_buf_reset(&from);
        sl_buf_reset(&to);
        sl_buf_text(&from, a->path);
        if (i > 1) {
            sl_buf_print(&from, ".%d", i - 1);
        }
        sl_buf_print(&to, "%s.%d", a->path, i);
        if (rename(from.data, to.data) != 0 && errno != ENOENT) {
            complain(a, "the audit log cannot begin its next file");
        }
    }
    sl_buf_fini(&from);
    sl_buf_fini(&to);
    open_file(a);
}

static void print_line(const struct sl_server_act *act, struct sl_buf *out)
{
    char time[32], path[PATH_LEN_MAX];
    struct sl_json *line = sl_json_new_map();
    sl_clock_format(sl_clock_now_ms(), time);
    sl_utf8_print(path, sizeof path, "%s", act->path);
    sl_json_set_text(line, "time", time);
    sl_json_set_text(line, "user", act->user);
    sl_json_set_text(line, "verb", act->verb);
    sl_json_set_text(line, "path", path);
    sl_json_set_int(line, "code", act->code);
    if (act->dry_run) {
        sl_json_set_bool(line, "dryRun", true);
    }
    sl_json_print(line, out);
    sl_buf_text(out, "\n");
    sl_json_free(line);
}

void sl_daemon_audit_note(void *audit, const struct sl_server_act *act)
{
    SL_PRE(audit != NULL && act != NULL);
    struct sl_daemon_audit *a = audit;
    struct sl_buf line = {0};
    print_line(act, &line);
    if (a->fd >= 0 && a->bytes > 0 && a->bytes + (off_t)line.len > a->bytes_max) {
        begin_next(a);
    } else if (a->fd < 0) {
        open_file(a);
    }
    ssize_t written = a->fd < 0 ? 0 : write(a->fd, line.data, line.len);
    if (a->fd >= 0 && written != (ssize_t)line.len) {
        errno = written >= 0 ? ENOSPC : errno;
        complain(a, "the audit log cannot be written");
        if (written > 0 && ftruncate(a->fd, a->bytes) == 0) {
            written = 0; /* no half a line */
        }
    }
    a->bytes += written > 0 ? written : 0;
    sl_buf_fini(&line);
}

void sl_daemon_audit_close(struct sl_daemon_audit *a)
{
    SL_PRE(a != NULL);
    if (a->path != NULL && a->fd >= 0) {
        (void)close(a->fd);
    }
    sl_mem_free(a->path);
    *a = (struct sl_daemon_audit){.path = NULL, .fd = -1};
}
