/* SPDX-License-Identifier: Apache-2.0
 * SPDX-FileCopyrightText: The Sluice authors */

/* Containers, which are processes. */
#include "runner/container.h"
#include "base/clock.h"
#include "base/mem.h"
#include "runner/command.h"
#include "runner/files.h"
#include "runner/limits.h"
#include "runner/tree.h"
#include <errno.h>
#include <fcntl.h>
#include <linux/close_range.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

#define START_ERROR 128
#define RUNTIME_ERROR 125 /* as podman and docker say it; a program may, too */
#define READS_AT_ONCE 16

/* --- the start ------------------------------------------------------------------------------------------ */

enum step { AT_DIRECTORY, AT_LIMITS, AT_USER, AT_PROGRAM };
struct failure {
    enum step step;
    int why;
};

static void fail(int to, enum step step)
{
    const struct failure f = {step, errno};
    ssize_t ignored = write(to, &f, sizeof f);
    (void)ignored;
    _exit(START_ERROR);
}

static void forget_signals(void)
{
    sigset_t none;
    for (int i = 1; i < NSIG; i++) {
        (void)signal(i, SIG_DFL);
    }
    sigemptyset(&none);
    (void)sigprocmask(SIG_SETMASK, &none, NULL);
}

/* From here on it is that user's: what comes before must not depend on anything that the pod says. */
static void change_user(const struct sl_container_place *at, int failures)
{
    const struct sl_account *a = at->account;
    errno = at->no_account;
    /* /dev/stdout is opened once more, with the rights of the pipe's owner. */
    if (at->no_account != 0 ||
        (a != NULL && (fchown(STDOUT_FILENO, a->uid, a->gid) != 0 || !sl_account_become(a)))) {
        fail(failures, AT_USER);
    }
}

/* In the child: in a session of its own, that ends with its supervisor. */
static void become(const struct sl_container *c, const struct sl_container_place *at,
                   const char *dir, int output, int failures, pid_t parent)
{
    (void)setsid();
    forget_signals();
    (void)umask(022);
    if (at->group != NULL && !sl_limits_enter(at->group, getpid())) {
        fail(failures, AT_LIMITS);
    }
    int input = open("/dev/null", O_RDONLY | O_CLOEXEC);
    (void)dup2(input, 0);
    (void)dup2(output, 1);
    (void)dup2(output, 2);
    (void)syscall(SYS_close_range, 3, ~0u, CLOSE_RANGE_CLOEXEC);
    change_user(at, failures);
    (void)prctl(PR_SET_PDEATHSIG, SIGKILL); /* a change of user would forget it */
    if (getppid() != parent) {
        _exit(START_ERROR);
    }
    char **argv = sl_command_words_new(sl_json_get(c->plan, "argv"));
    const struct sl_json *env = sl_json_get(c->plan, "env");
    environ = env == NULL ? environ : sl_command_words_new(env); /* a runtime needs ours */
    (void)setenv(SL_POD_MARK, sl_json_path_text(c->plan, "pod", ""), env == NULL);
    if (chdir(dir) != 0) {
        fail(failures, AT_DIRECTORY);
    }
    (void)execvp(argv[0], argv);
    fail(failures, AT_PROGRAM);
}

static void not_started(struct sl_container *c, const struct failure *f, const char *dir,
                        int64_t now_ms)
{
    const char *program = sl_json_text(sl_json_at(sl_json_get(c->plan, "argv"), 0), "");
    c->phase = SL_CONTAINER_ENDED;
    c->exit_code = START_ERROR;
    c->ended_ms = now_ms;
    snprintf(c->reason, sizeof c->reason, "StartError");
    snprintf(c->message, sizeof c->message, "%s%.120s: %s",
             f->step == AT_DIRECTORY ? "workingDir "
             : f->step == AT_LIMITS  ? "control group for "
             : f->step == AT_USER    ? "the user for "
                                     : "command ",
             f->step == AT_DIRECTORY ? dir : program, strerror(f->why));
    sl_output_add(&c->output, c->message, strlen(c->message));
    sl_output_add(&c->output, "\n", 1);
}

static void open_output(struct sl_container *c, const char *dir)
{
    sl_output_close(&c->output);
    (void)sl_output_open(&c->output, dir, c->name, SL_OUTPUT_BYTES_MAX);
}

static bool open_pipes(int output[2], int failures[2])
{
    if (pipe2(output, O_CLOEXEC) != 0) {
        return false;
    }
    if (pipe2(failures, O_CLOEXEC) != 0) {
        (void)close(output[0]);
        (void)close(output[1]);
        return false;
    }
    (void)fcntl(output[0], F_SETFL, O_NONBLOCK);
    return true;
}

void sl_container_start(struct sl_container *c, const struct sl_container_place *at, int64_t now_ms)
{
    int output[2], failures[2];
    struct failure f = {AT_PROGRAM, 0};
    struct sl_buf start = {0};
    const char *wanted = sl_json_path_text(c->plan, "dir", "");
    sl_buf_print(&start, wanted[0] == '\0' ? "%s/" SL_WORK_DIR : "%s",
                 wanted[0] == '\0' ? at->dir : wanted);
    open_output(c, at->dir);
    c->from = -1;
    c->exit_code = c->signal = 0;
    c->reason[0] = c->message[0] = '\0';
    c->started_ms = now_ms;
    pid_t self = getpid();
    bool ok = open_pipes(output, failures);
    c->pid = ok ? fork() : -1;
    if (c->pid == 0) {
        become(c, at, start.data, output[1], failures[1], self);
    }
    f.why = errno;
    if (ok) {
        (void)close(output[1]);
        (void)close(failures[1]);
        ssize_t n = 0;
        while (c->pid > 0 && (n = read(failures[0], &f, sizeof f)) < 0 && errno == EINTR) {
        }
        ok = c->pid > 0 && n == 0;
        (void)close(failures[0]);
        c->from = output[0];
    }
    if (ok) {
        c->phase = SL_CONTAINER_RUNNING;
    } else {
        if (c->pid > 0) {
            (void)waitpid(c->pid, NULL, 0);
        }
        c->pid = 0;
        not_started(c, &f, start.data, now_ms);
    }
    sl_buf_fini(&start);
}

/* --- afterwards ----------------------------------------------------------------------------------------- */

void sl_container_read(struct sl_container *c)
{
    char piece[16384];
    for (int i = 0; c->from >= 0 && i < READS_AT_ONCE; i++) {
        ssize_t n = read(c->from, piece, sizeof piece);
        if (n > 0) {
            sl_output_add(&c->output, piece, (size_t)n);
        } else if (n == 0 || (errno != EAGAIN && errno != EINTR)) {
            (void)close(c->from);
            c->from = -1;
        } else {
            return;
        }
    }
}

void sl_container_end(struct sl_container *c, int status, bool oom, int64_t now_ms)
{
    c->phase = SL_CONTAINER_ENDED;
    c->pid = 0;
    c->ended_ms = now_ms;
    c->signal = WIFSIGNALED(status) ? WTERMSIG(status) : 0;
    c->exit_code = WIFEXITED(status) ? WEXITSTATUS(status) : 128 + c->signal;
    snprintf(c->reason, sizeof c->reason, "%s",
             c->exit_code == 0 ? "Completed"
             : oom             ? "OOMKilled"
                               : "Error");
    if (c->exit_code == RUNTIME_ERROR && sl_json_get(c->plan, "end") != NULL) {
        snprintf(c->message, sizeof c->message,
                 "the container runtime may not have started it: its log says more");
    }
}

void sl_container_again(struct sl_container *c, int64_t at_ms)
{
    struct sl_json *said = sl_container_say_new(c);
    sl_json_remove(said, "last");
    sl_json_free(c->last);
    c->last = said;
    c->phase = SL_CONTAINER_WAITING;
    c->again_ms = at_ms;
    c->restarts++;
}

static void set_time(struct sl_json *to, const char *key, int64_t ms)
{
    char time[32];
    sl_clock_format(ms, time);
    sl_json_set_text(to, key, time);
}

struct sl_json *sl_container_say_new(const struct sl_container *c)
{
    static const char *const phases[] = {"waiting", "running", "terminated"};
    struct sl_json *said = sl_json_new_map();
    sl_json_set_text(said, "name", c->name);
    sl_json_set_bool(said, "init", c->init);
    sl_json_set_text(said, "state", phases[c->phase]);
    sl_json_set_int(said, "restarts", c->restarts);
    if (c->phase != SL_CONTAINER_WAITING) {
        set_time(said, "startedAt", c->started_ms);
    }
    if (c->phase == SL_CONTAINER_ENDED) {
        set_time(said, "finishedAt", c->ended_ms);
        sl_json_set_int(said, "exitCode", c->exit_code);
        sl_json_set_text(said, "reason", c->reason);
        if (c->signal != 0) {
            sl_json_set_int(said, "signal", c->signal);
        }
        if (c->message[0] != '\0') {
            sl_json_set_text(said, "message", c->message);
        }
    }
    if (c->last != NULL) {
        sl_json_set(said, "last", sl_json_ref(c->last));
    }
    return said;
}

void sl_container_fini(struct sl_container *c)
{
    if (c->from >= 0) {
        (void)close(c->from);
    }
    sl_output_close(&c->output);
    sl_json_free(c->last);
}
