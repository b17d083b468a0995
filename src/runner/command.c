/* SPDX-License-Identifier: Apache-2.0
 * SPDX-FileCopyrightText: The Sluice authors */

/* Short commands of a plan. */
#include "runner/command.h"
#include "base/clock.h"
#include "base/mem.h"
#include <errno.h>
#include <fcntl.h>
#include <linux/close_range.h>
#include <signal.h>
#include <sys/prctl.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

#define TRIES 3
#define TRY_MS_MAX 20000
#define PAUSE_US 2000
#define AGAIN_US 200000

static void become(char *const argv[])
{
    sigset_t none;
    int null = open("/dev/null", O_RDWR | O_CLOEXEC);
    for (int i = 1; i < NSIG; i++) {
        (void)signal(i, SIG_DFL);
    }
    sigemptyset(&none);
    (void)sigprocmask(SIG_SETMASK, &none, NULL);
    (void)setsid();
    for (int fd = 0; fd < 3; fd++) {
        (void)dup2(null, fd);
    }
    (void)syscall(SYS_close_range, 3, ~0u, CLOSE_RANGE_CLOEXEC);
    (void)prctl(PR_SET_PDEATHSIG, SIGKILL);
    (void)execv(argv[0], argv);
    _exit(127);
}

/* Its exit code, or -1: it had to be killed. */
static int wait_for(pid_t pid, void (*meanwhile)(void *), void *context)
{
    int status = 0;
    int64_t end_ms = sl_clock_monotonic_us() / 1000 + TRY_MS_MAX;
    for (pid_t got = 0; (got = waitpid(pid, &status, WNOHANG)) != pid;) {
        if (got < 0 && errno != EINTR) {
            return -1;
        }
        if (sl_clock_monotonic_us() / 1000 >= end_ms) {
            (void)kill(-pid, SIGKILL); /* with what it has started */
            (void)kill(pid, SIGKILL);
        }
        if (meanwhile != NULL) {
            meanwhile(context);
        }
        (void)usleep(PAUSE_US);
    }
    return WIFEXITED(status) ? WEXITSTATUS(status) : -1;
}

char **sl_command_words_new(const struct sl_json *list)
{
    size_t n = sl_json_len(list);
    char **out = sl_mem_new(n + 1, sizeof *out);
    for (size_t i = 0; i < n; i++) {
        out[i] = sl_mem_text(sl_json_text(sl_json_at(list, i), ""));
    }
    return out;
}

bool sl_command_run(const struct sl_json *argv, void (*meanwhile)(void *context), void *context)
{
    if (sl_json_len(argv) == 0) {
        return true;
    }
    char **words = sl_command_words_new(argv);
    bool ok = false;
    for (int i = 0; i < TRIES && !ok; i++) {
        if (i > 0) {
            (void)usleep(AGAIN_US);
        }
        pid_t pid = fork();
        if (pid == 0) {
            become(words);
        }
        ok = pid > 0 && wait_for(pid, meanwhile, context) == 0;
    }
    for (char **word = words; *word != NULL; word++) {
        sl_mem_free(*word);
    }
    sl_mem_free(words);
    return ok;
}
