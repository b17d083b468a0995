/* SPDX-License-Identifier: Apache-2.0
 * SPDX-FileCopyrightText: The Sluice authors */

/* fork, a pipe, and limits. */
#include "base/aside.h"

#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <stdio.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/resource.h>
#include <sys/syscall.h>
#include <sys/time.h>
#include <sys/wait.h>
#include <unistd.h>

#include "base/check.h"
#include "base/log.h"
#include "base/write_all.h"

#define RESULT_MAX ((size_t)64 << 20)
#define PIECE 65536u

static bool is_copy;

/* --- in the copy ------------------------------------------------------------------------------ */

/* Handlers would do their part for a loop that is not here. */
static void forget_signals(const sigset_t *mask)
{
    for (int number = 1; number < NSIG; number++) {
        (void)signal(number, SIG_DFL);
    }
    (void)sigprocmask(SIG_SETMASK, mask, NULL);
}

/* Bytes of private memory that may be written; 0 when that is not known: a copy of a confined process may not ask, and has
 * its limit already. */
static size_t data_bytes(void)
{
    char text[256];
    unsigned long pages[6] = {0};
    int fd = open("/proc/self/statm", O_RDONLY | O_CLOEXEC);
    if (fd < 0) {
        return 0;
    }
    ssize_t n = read(fd, text, sizeof text - 1);
    (void)close(fd);
    if (n <= 0) {
        return 0;
    }
    text[n] = '\0';
    int found = sscanf(text, "%lu %lu %lu %lu %lu %lu", &pages[0], &pages[1], &pages[2], &pages[3],
                       &pages[4], &pages[5]);
    return found == 6 ? pages[5] * (size_t)sysconf(_SC_PAGESIZE) : 0;
}

static void limit(const struct sl_aside_work *work, size_t now)
{
    const struct rlimit cpu = {work->seconds_max, work->seconds_max + 1};
    const struct itimerval all = {.it_value = {.tv_sec = (time_t)work->seconds_max * 2}};
    (void)prctl(PR_SET_PDEATHSIG, SIGKILL, 0, 0, 0);
    (void)setrlimit(RLIMIT_CPU, &cpu);
    (void)setitimer(ITIMER_REAL, &all, NULL);
    if (now > 0) {
        const struct rlimit data = {now + work->bytes_max, now + work->bytes_max};
        (void)setrlimit(RLIMIT_DATA, &data);
    }
}

static void keep_only(int fd)
{
    if (fd > STDERR_FILENO + 1) {
        (void)close_range(STDERR_FILENO + 1, (unsigned)fd - 1, 0);
    }
    (void)close_range((unsigned)fd + 1, ~0u, 0);
}

void __gcov_dump(void) __attribute__((weak)); /* where coverage is measured, it is in a copy, too */

static _Noreturn void be_the_copy(const struct sl_aside_work *work, int fd, const sigset_t *mask,
                                  size_t bytes)
{
    struct sl_buf result = {0};
    is_copy = true;
    forget_signals(mask);
    keep_only(fd);
    limit(work, bytes);
    sl_log_setup((enum sl_log_level)(SL_LOG_ERROR + 1), false);
    work->run(work->context, &result);
    bool all = sl_write_all(fd, result.data, result.len);
    if (__gcov_dump != NULL) {
        __gcov_dump();
    }
    _exit(all ? 0 : 1); /* what others registered for an exit is not ours to do */
}

/* --- here ------------------------------------------------------------------------------------- */

/* A copy has no other threads, so that nothing has to be made ready for a fork; and what libraries registered to be done after
 * one would be done to descriptors that are closed, or by now ours. */
static pid_t fork_now(void)
{
    return is_copy ? _Fork() : fork();
}

enum sl_code sl_aside_begin(const struct sl_aside_work *work, struct sl_aside *out,
                            struct sl_error *e)
{
    SL_PRE(work != NULL && work->run != NULL && work->seconds_max > 0 && out != NULL);
    int ends[2];
    sigset_t all, before;
    size_t bytes = work->bytes_max == 0 ? 0 : data_bytes();
    *out = (struct sl_aside){.fd = -1};
    if (pipe2(ends, O_CLOEXEC) != 0) {
        return sl_error_set(e, SL_CODE_UNAVAILABLE, "no pipe: %s", strerror(errno));
    }
    (void)sigfillset(&all);
    (void)sigprocmask(SIG_SETMASK, &all, &before);
    pid_t pid = fork_now();
    if (pid == 0) {
        be_the_copy(work, ends[1], &before, bytes);
    }
    int why = errno;
    (void)sigprocmask(SIG_SETMASK, &before, NULL);
    (void)close(ends[1]);
    if (pid < 0) {
        (void)close(ends[0]);
        return sl_error_set(e, SL_CODE_UNAVAILABLE, "no further process: %s", strerror(why));
    }
    (void)fcntl(ends[0], F_SETFL, O_NONBLOCK);
    *out = (struct sl_aside){.pid = pid, .fd = ends[0]};
    return SL_CODE_OK;
}

/* Its result is whole when it says so: one that was ended may have written a part. */
static enum sl_aside_step finish(struct sl_aside *a, struct sl_error *e)
{
    int status = 0;
    pid_t pid = a->pid;
    (void)close(a->fd);
    *a = (struct sl_aside){.fd = -1};
    while (waitpid(pid, &status, 0) < 0 && errno == EINTR) {
    }
    if (WIFEXITED(status) && WEXITSTATUS(status) == 0) {
        return SL_ASIDE_DONE;
    }
    bool late = WIFSIGNALED(status) && (WTERMSIG(status) == SIGXCPU ||
                                        WTERMSIG(status) == SIGALRM || WTERMSIG(status) == SIGKILL);
    (void)sl_error_set(e, late ? SL_CODE_TIMEOUT : SL_CODE_INTERNAL,
                       late ? "it took too long" : "it ended without a result (%s %d)",
                       WIFSIGNALED(status) ? "signal" : "status",
                       WIFSIGNALED(status) ? WTERMSIG(status) : WEXITSTATUS(status));
    return SL_ASIDE_FAILED;
}

static void wait_for(int fd, bool wait)
{
    int flags = fcntl(fd, F_GETFL);
    (void)fcntl(fd, F_SETFL, wait ? flags & ~O_NONBLOCK : flags | O_NONBLOCK);
}

enum sl_aside_step sl_aside_read(struct sl_aside *a, bool wait, struct sl_buf *result,
                                 struct sl_error *e)
{
    SL_PRE(a != NULL && a->fd >= 0);
    char piece[PIECE];
    wait_for(a->fd, wait);
    for (;;) {
        ssize_t n = read(a->fd, piece, sizeof piece);
        if (n > 0) {
            sl_buf_add(result, piece, (size_t)n);
        } else if (n == 0) {
            return finish(a, e);
        } else if (errno != EINTR) {
            return SL_ASIDE_MORE;
        }
        if (result->len > RESULT_MAX) {
            sl_aside_end(a);
            (void)sl_error_set(e, SL_CODE_TOO_LARGE, "the result is too large");
            return SL_ASIDE_FAILED;
        }
    }
}

void sl_aside_end(struct sl_aside *a)
{
    SL_PRE(a != NULL);
    if (a->fd < 0) {
        return;
    }
    struct sl_error ignored = {0};
    (void)syscall(SYS_tgkill, a->pid, a->pid, SIGKILL);
    (void)finish(a, &ignored);
}

enum sl_code sl_aside_run(const struct sl_aside_work *work, struct sl_buf *result,
                          struct sl_error *e)
{
    struct sl_aside a;
    SL_PRE(result != NULL && e != NULL);
    if (sl_aside_begin(work, &a, e) != SL_CODE_OK) {
        return e->code;
    }
    while (sl_aside_read(&a, true, result, e) == SL_ASIDE_MORE) {
    }
    return e->code;
}
