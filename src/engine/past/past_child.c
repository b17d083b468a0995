/* SPDX-License-Identifier: Apache-2.0
 * SPDX-FileCopyrightText: The Sluice authors */

#include "engine/past/past_child.h"
#include "base/check.h"
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
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
            _exit(1); /* nobody listens */
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

/* False: there is no more, or *e. */
static bool take_lines(FILE *in, void (*take)(void *taker, struct sl_json *line), void *taker,
                       struct sl_error *e)
{
    char *line = NULL;
    size_t room = 0;
    ssize_t len;
    while ((len = getline(&line, &room, in)) > 0 && e->code == SL_CODE_OK) {
        struct sl_json *value = sl_json_parse(line, (size_t)len - (line[len - 1] == '\n'), e);
        if (value != NULL) {
            take(taker, value);
        }
    }
    free(line); /* of getline */
    return e->code == SL_CODE_OK;
}

enum sl_code sl_past_in_child(void (*run)(void *context, struct sl_past_pipe *pipe), void *context,
                              void (*take)(void *taker, struct sl_json *line), void *taker,
                              struct sl_error *e)
{
    SL_PRE(run != NULL && take != NULL && e != NULL);
    int ends[2], status = 0;
    FILE *in;
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
    in = child < 0 ? NULL : fdopen(ends[0], "r");
    if (in == NULL) {
        (void)close(ends[0]);
        return sl_error_set(e, SL_CODE_INTERNAL, "cannot start a process: %s", strerror(errno));
    }
    (void)take_lines(in, take, taker, e);
    (void)fclose(in); /* where it was not read to its end, the child ends by that */
    while (waitpid(child, &status, 0) < 0 && errno == EINTR) {
    }
    if (e->code == SL_CODE_OK && (!WIFEXITED(status) || WEXITSTATUS(status) != 0)) {
        (void)sl_error_set(e, SL_CODE_INTERNAL, "the process that plays broke down (signal %d)",
                           WIFSIGNALED(status) ? WTERMSIG(status) : 0);
    }
    return e->code;
}
