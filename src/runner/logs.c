/* SPDX-License-Identifier: Apache-2.0
 * SPDX-FileCopyrightText: The Sluice authors */

/* Reading logs. */
#include "runner/logs.h"
#include "base/mem.h"
#include "runner/files.h"
#include <errno.h>
#include <fcntl.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#define PIECE_BYTES 32768

struct log_stream {
    struct sl_stream stream;
    char *data, *uid, *file; /* the log that is written to */
    int fds[2];              /* the older part of the log, then the newer one; -1 = none, or read */
    bool follow;
    int64_t left; /* bytes that may still be sent */
};

static void free_stream(struct sl_stream *stream)
{
    struct log_stream *s = (struct log_stream *)stream;
    for (int i = 0; i < 2; i++) {
        if (s->fds[i] >= 0) {
            (void)close(s->fds[i]);
        }
    }
    sl_mem_free(s->data);
    sl_mem_free(s->uid);
    sl_mem_free(s->file);
    sl_mem_free(s);
}

static int open_file(const char *path)
{
    return open(path, O_RDONLY | O_CLOEXEC | O_NOFOLLOW);
}

/* --- the last lines ------------------------------------------------------------------------------------- */

/* Where the last `*lines` lines of the file begin; the lines that it has are taken off. */
static off_t find_tail(int fd, int64_t *lines)
{
    char piece[PIECE_BYTES];
    struct stat what = {0};
    off_t at = fstat(fd, &what) == 0 ? what.st_size : 0;
    bool last = true; /* the file's last character: it ends a line, and begins none */
    while (at > 0) {
        size_t n = at < (off_t)sizeof piece ? (size_t)at : sizeof piece;
        ssize_t got = pread(fd, piece, n, at - (off_t)n);
        if (got != (ssize_t)n) {
            return 0;
        }
        for (size_t i = n; i > 0; i--) {
            if (piece[i - 1] == '\n' && !last && --*lines == 0) {
                return at - (off_t)(n - i);
            }
            last = false;
        }
        at -= (off_t)n;
    }
    *lines -= what.st_size > 0;
    return 0;
}

static void skip_to_tail(struct log_stream *s, int64_t lines)
{
    for (int i = 1; i >= 0; i--) {
        if (s->fds[i] < 0) {
            continue;
        }
        off_t at = lines > 0 ? find_tail(s->fds[i], &lines) : lseek(s->fds[i], 0, SEEK_END);
        (void)lseek(s->fds[i], at, SEEK_SET);
    }
}

/* --- reading -------------------------------------------------------------------------------------------- */

static bool is_over(const struct log_stream *s)
{
    char *lock = sl_pod_path_new(s->data, s->uid, SL_LOCK_FILE);
    bool over = !sl_file_locked(lock);
    sl_mem_free(lock);
    return over;
}

/* Has a new file been begun since it was opened? Then the new one is read on from its beginning. */
static bool take_next(struct log_stream *s)
{
    struct stat mine, now;
    if (fstat(s->fds[1], &mine) != 0 || stat(s->file, &now) != 0 || mine.st_ino == now.st_ino) {
        return false;
    }
    int fd = open_file(s->file);
    if (fd >= 0) {
        (void)close(s->fds[1]);
        s->fds[1] = fd;
    }
    return fd >= 0;
}

static bool read_some(struct log_stream *s, struct sl_buf *out)
{
    char piece[PIECE_BYTES];
    for (int i = 0; i < 2 && s->left > 0; i++) {
        size_t most = s->left < (int64_t)sizeof piece ? (size_t)s->left : sizeof piece;
        ssize_t n = s->fds[i] < 0 ? 0 : read(s->fds[i], piece, most);
        if (n > 0) {
            sl_buf_add(out, piece, (size_t)n);
            s->left -= n;
            return true;
        }
        if (i == 0 && s->fds[0] >= 0) {
            (void)close(s->fds[0]);
            s->fds[0] = -1;
        }
    }
    return false;
}

/* Whether it is over is asked before it is read: what is read then is all. */
static enum sl_stream_step fill(struct sl_stream *stream, struct sl_buf *out)
{
    struct log_stream *s = (struct log_stream *)stream;
    bool over = !s->follow || is_over(s);
    if (read_some(s, out) || take_next(s)) {
        return SL_STREAM_MORE;
    }
    return over || s->left <= 0 ? SL_STREAM_END : SL_STREAM_WAIT;
}

static bool ready(struct sl_stream *stream, int64_t now_ms)
{
    const struct log_stream *s = (const struct log_stream *)stream;
    struct stat mine, now;
    (void)now_ms;
    if (s->fds[1] < 0 || fstat(s->fds[1], &mine) != 0 || stat(s->file, &now) != 0) {
        return true;
    }
    return mine.st_ino != now.st_ino || lseek(s->fds[1], 0, SEEK_CUR) < mine.st_size || is_over(s);
}

/* --- opening -------------------------------------------------------------------------------------------- */

static const struct sl_json *find_container(const struct sl_json *pod, const char *name)
{
    const struct sl_json *spec = sl_json_get(pod, "spec");
    const struct sl_json *found = sl_json_find_by(sl_json_get(spec, "containers"), "name", name);
    return found != NULL ? found
                         : sl_json_find_by(sl_json_get(spec, "initContainers"), "name", name);
}

/* The container that is meant; NULL and an error: it is not clear which, or there is none. */
static const char *choose(const struct sl_json *pod, const struct sl_log_wish *wish,
                          struct sl_error *e)
{
    const struct sl_json *all = sl_json_path(pod, "spec.containers");
    if (wish->container[0] == '\0' && sl_json_len(all) == 1) {
        return sl_json_path_text(sl_json_at(all, 0), "name", "");
    }
    if (wish->container[0] == '\0') {
        struct sl_buf names = {0};
        for (size_t i = 0; i < sl_json_len(all); i++) {
            sl_buf_print(&names, "%s%s", i > 0 ? " " : "",
                         sl_json_path_text(sl_json_at(all, i), "name", ""));
        }
        (void)sl_error_set(
            e, SL_CODE_BAD_REQUEST,
            "a container name must be specified for pod %.100s, choose one of: [%.200s]", wish->pod,
            names.data == NULL ? "" : names.data);
        sl_buf_fini(&names);
        return NULL;
    }
    const struct sl_json *found = find_container(pod, wish->container);
    if (found == NULL) {
        (void)sl_error_set(e, SL_CODE_BAD_REQUEST, "container %.63s is not valid for pod %.253s",
                           wish->container, wish->pod);
    }
    return found == NULL ? NULL : sl_json_path_text(found, "name", "");
}

static char *file_new(const struct sl_logs *l, const char *uid, const char *container,
                      const char *end)
{
    struct sl_buf name = {0};
    sl_buf_print(&name, "%s%s", container, end);
    char *path = sl_pod_path_new(l->data, uid, name.data);
    sl_buf_fini(&name);
    return path;
}

static enum sl_code open_stream(const struct sl_logs *l, const struct sl_json *pod,
                                const char *container, const struct sl_log_wish *wish,
                                struct log_stream *s, struct sl_error *e)
{
    const char *uid = sl_object_uid(pod);
    s->data = sl_mem_text(l->data);
    s->uid = sl_mem_text(uid);
    s->file = file_new(l, uid, container, wish->previous ? ".old.log" : ".log");
    s->fds[1] = open_file(s->file);
    if (s->fds[1] < 0) {
        const char *why = sl_json_path_text(pod, "status.message", "");
        return wish->previous
                   ? sl_error_set(
                         e, SL_CODE_BAD_REQUEST,
                         "previous terminated container \"%.63s\" in pod \"%.253s\" not found",
                         container, wish->pod)
                   : sl_error_set(
                         e, SL_CODE_BAD_REQUEST,
                         "container \"%.63s\" in pod \"%.100s\" is waiting to start: %.200s",
                         container, wish->pod, why[0] == '\0' ? "ContainerCreating" : why);
    }
    if (!wish->previous) {
        char *before = file_new(l, uid, container, ".log.1");
        s->fds[0] = open_file(before);
        sl_mem_free(before);
    }
    if (wish->tail_lines >= 0) {
        skip_to_tail(s, wish->tail_lines);
    }
    return SL_CODE_OK;
}

enum sl_code sl_logs_open(void *context, const struct sl_log_wish *wish, struct sl_stream **stream,
                          struct sl_error *e)
{
    const struct sl_logs *l = context;
    struct sl_json *pod = NULL;
    enum sl_code code = l->client->get(l->client->self, SL_KIND_POD, wish->ns, wish->pod, &pod, e);
    if (code != SL_CODE_OK) {
        return code == SL_CODE_NOT_FOUND
                   ? sl_error_set(e, code, "pods \"%.253s\" not found", wish->pod)
                   : code;
    }
    const char *container = choose(pod, wish, e);
    if (container == NULL || !sl_pod_uid_good(sl_object_uid(pod))) {
        sl_json_free(pod);
        return SL_CODE_BAD_REQUEST;
    }
    struct log_stream *s = sl_mem_new(1, sizeof *s);
    *s = (struct log_stream){.stream = {fill, ready, free_stream},
                             .fds = {-1, -1},
                             .follow = wish->follow && !wish->previous,
                             .left = wish->limit_bytes >= 0 ? wish->limit_bytes : INT64_MAX};
    code = open_stream(l, pod, container, wish, s, e);
    sl_json_free(pod);
    if (code != SL_CODE_OK) {
        free_stream(&s->stream);
        return code;
    }
    *stream = &s->stream;
    return SL_CODE_OK;
}
