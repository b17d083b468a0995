/* SPDX-License-Identifier: Apache-2.0
 * SPDX-FileCopyrightText: The Sluice authors */

#include "engine/past/past_child.h"
#include "base/check.h"
#include <errno.h>
#include <stdio.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

#define MUCH ((size_t)1 << 16)

void sl_past_pipe_push(struct sl_past_pipe *p, bool all)
{
    SL_PRE(p != NULL);
    size_t at = 0;
    if (p->text.len < MUCH && !all) {
        return;
    }
    while (at < p->text.len) {
        ssize_t n = write(p->fd, p->text.data + at, p->text.len - at);
        if (n < 0 && errno != EINTR) {
            _exit(1); /* unknown listens */
        }
        at += n < 0 ? 0 : (size_t)n;
    }
    sl_buf_reset(&p->text);
}

static void work(void (*run)(void *context, struct sl_past_pipe *pipe), void *context, int fd)
{
    struct sl_past_pipe pipe = {.fd = fd};
    run(context, &pipe);
    sl_past_pipe_push(&pipe, true);
    _exit(0);
}

struct taker {
    void (*take)(void *taker, struct sl_json *line);
    void *context;
    struct sl_buf part; /* of a line */
};

static void take_line(struct taker *t, const char *text, size_t len, struct sl_error *e)
{
    sl_buf_add(&t->part, text, len);
    struct sl_json *value = sl_json_parse(t->part.data, t->part.len, e);
    sl_buf_reset(&t->part);
    if (value != NULL) {
        t->take(t->context, value);
    }
}

/* To the end, or to a line that is none. */
static void take_lines(int fd, struct taker *t, struct sl_error *e)
{
    char piece[4096];
    ssize_t n;
    while (e->code == SL_CODE_OK && (n = read(fd, piece, sizeof piece)) != 0) {
        size_t at = 0;
        if (n < 0 && errno != EINTR) {
            (void)sl_error_set(e, SL_CODE_INTERNAL, "cannot read a pipe: %s", strerror(errno));
        }
        for (char *end; n > 0 && e->code == SL_CODE_OK &&
                        (end = memchr(piece + at, '\n', (size_t)n - at)) != NULL;) {
            take_line(t, piece + at, (size_t)(end - piece) - at, e);
            at = (size_t)(end - piece) + 1;
        }
        if (n > 0) {
            sl_buf_add(&t->part, piece + at, (size_t)n - at);
        }
    }
}

enum sl_code sl_past_in_child(void (*run)(void *context, struct sl_past_pipe *pipe), void *context,
                              void (*take)(void *taker, struct sl_json *line), void *taker,
                              struct sl_error *e)
{
    SL_PRE(run != NULL && take != NULL && e != NULL);
    int ends[2], status = 0;
    struct taker t = {.take = take, .context = taker};
    (void)fflush(NULL); /* or the child would write it again */
    if (pipe(ends) != 0) {
        return sl_error_set(e, SL_CODE_INTERNAL, "cannot make a pipe: %s", strerror(errno));
    }
    pid_t child = fork();
    if (child == 0) {
        (void)close(ends[0]);
        work(run, context, ends[1]);
    }
    (void)close(ends[1]);
    if (child < 0) {
        (void)close(ends[0]);
        return sl_error_set(e, SL_CODE_INTERNAL, "cannot start a process: %s", strerror(errno));
    }
    take_lines(ends[0], &t, e);
    sl_buf_fini(&t.part);
    (void)close(ends[0]); /* where it was not read to its end, the child ends by that */
    while (waitpid(child, &status, 0) < 0 && errno == EINTR) {
    }
    if (e->code == SL_CODE_OK && (!WIFEXITED(status) || WEXITSTATUS(status) != 0)) {
        (void)sl_error_set(e, SL_CODE_INTERNAL, "the process that plays broke down (signal %d)",
                           WIFSIGNALED(status) ? WTERMSIG(status) : 0);
    }
    return e->code;
}
