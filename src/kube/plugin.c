/* SPDX-License-Identifier: Apache-2.0
 * SPDX-FileCopyrightText: The Sluice authors */

/* Running an exec plugin: by this process itself, or by a runner, which was forked before this
 * process gave up its right to run programs. The runner knows the plugin from the fork on and takes
 * no names of programs from us, so that an attacker who controls this process can have it run the
 * plugin and nothing else. One short question and its answer at a time. */
#include "base/mem.h"
#include "base/check.h"
#include "kube/credentials_parts.h"
#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <spawn.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/wait.h>
#include <unistd.h>

#define ENV_MAX 4096u

enum order { RUN, LOOK, STOP };
struct question {
    enum order order;
};
struct answer {
    int result; /* of RUN: 0 or an errno; of LOOK: as sl_plugin_ended */
    int status; /* how it has ended */
};

/* --- in this process ----------------------------------------------------------------------------------- */

static char *info_text(const struct sl_exec *x)
{
    struct sl_json *info = sl_json_new_map();
    sl_json_set_text(info, "apiVersion", x->api_version);
    sl_json_set_text(info, "kind", "ExecCredential");
    sl_json_set_bool(sl_json_path_make(info, "spec"), "interactive", false);
    if (x->cluster != NULL) {
        sl_json_set(sl_json_path_make(info, "spec"), "cluster", sl_json_ref(x->cluster));
    }
    struct sl_buf out = {0};
    sl_buf_text(&out, "KUBERNETES_EXEC_INFO=");
    sl_json_print(info, &out);
    sl_json_free(info);
    return sl_buf_take(&out);
}

/* Ours, without what is replaced; the plugin's; the request to it. The first `*lent` texts are not
 * to be freed. */
static char **make_environment(const struct sl_exec *x, size_t *lent)
{
    char **out = sl_mem_new(ENV_MAX + sl_json_len(x->env) + 2, sizeof *out);
    size_t n = 0;
    for (char **at = environ; *at != NULL && n < ENV_MAX; at++) {
        bool anew = strncmp(*at, "KUBERNETES_EXEC_INFO=", 21) == 0;
        for (size_t i = 0; i < sl_json_len(x->env) && !anew; i++) {
            const char *name = sl_json_path_text(sl_json_at(x->env, i), "name", "");
            anew = strncmp(*at, name, strlen(name)) == 0 && (*at)[strlen(name)] == '=';
        }
        if (!anew) {
            out[n++] = *at;
        }
    }
    *lent = n;
    for (size_t i = 0; i < sl_json_len(x->env); i++) {
        const struct sl_json *entry = sl_json_at(x->env, i);
        struct sl_buf line = {0};
        sl_buf_print(&line, "%s=%s", sl_json_path_text(entry, "name", ""),
                     sl_json_path_text(entry, "value", ""));
        out[n++] = sl_buf_take(&line);
    }
    out[n] = info_text(x);
    return out;
}

static void free_environment(char **environment, size_t lent)
{
    for (size_t i = lent; environment[i] != NULL; i++) {
        sl_mem_free(environment[i]);
    }
    sl_mem_free(environment);
}

/* In a process group of its own, so that what it started itself can be ended with it. */
static int spawn(const struct sl_exec *x, int output, pid_t *pid)
{
    posix_spawn_file_actions_t files;
    posix_spawnattr_t attributes;
    sigset_t none, usual; /* what is blocked; what this process ignores, and a plugin should not */
    sigemptyset(&none);
    sigemptyset(&usual);
    sigaddset(&usual, SIGPIPE);
    sigaddset(&usual, SIGXFSZ);
    posix_spawn_file_actions_init(&files);
    posix_spawnattr_init(&attributes);
    posix_spawn_file_actions_addopen(&files, 0, "/dev/null", O_RDONLY, 0);
    posix_spawn_file_actions_adddup2(&files, output, 1);
    posix_spawnattr_setsigmask(&attributes, &none);
    posix_spawnattr_setsigdefault(&attributes, &usual);
    posix_spawnattr_setpgroup(&attributes, 0);
    posix_spawnattr_setflags(&attributes, POSIX_SPAWN_SETPGROUP | POSIX_SPAWN_SETSIGMASK |
                                              POSIX_SPAWN_SETSIGDEF);
    size_t lent;
    char **environment = make_environment(x, &lent);
    char **argv = sl_mem_new(x->arg_count + 2, sizeof *argv);
    argv[0] = x->command;
    memcpy(argv + 1, x->args, x->arg_count * sizeof *argv);
    int failure = posix_spawnp(pid, x->command, &files, &attributes, argv, environment);
    sl_mem_free(argv);
    free_environment(environment, lent);
    posix_spawn_file_actions_destroy(&files);
    posix_spawnattr_destroy(&attributes);
    return failure;
}

static int look(pid_t pid, int *status)
{
    pid_t who = waitpid(pid, status, WNOHANG);
    return who == pid ? 1 : who < 0 && errno != EINTR ? -1 : 0;
}

static void stop(pid_t pid)
{
    int status;
    (void)kill(-pid, SIGKILL);
    (void)waitpid(pid, &status, 0);
}

/* --- the runner ---------------------------------------------------------------------------------------- */

union control { /* room for one descriptor, aligned as the kernel wants it */
    char room[CMSG_SPACE(sizeof(int))];
    struct cmsghdr align;
};

/* False: the process that it runs for has ended. *output is -1 when none came along. */
static bool hear(int socket, struct question *q, int *output)
{
    union control control;
    struct iovec data = {.iov_base = q, .iov_len = sizeof *q};
    struct msghdr message = {.msg_iov = &data,
                             .msg_iovlen = 1,
                             .msg_control = control.room,
                             .msg_controllen = sizeof control.room};
    ssize_t got;
    do {
        got = recvmsg(socket, &message, MSG_CMSG_CLOEXEC);
    } while (got < 0 && errno == EINTR);
    const struct cmsghdr *c = got > 0 ? CMSG_FIRSTHDR(&message) : NULL;
    *output = -1;
    if (c != NULL && c->cmsg_type == SCM_RIGHTS) {
        memcpy(output, CMSG_DATA(c), sizeof *output);
    }
    return got == (ssize_t)sizeof *q;
}

static struct answer obey(const struct sl_exec *x, enum order order, int output, pid_t *running)
{
    struct answer a = {0};
    if (order == RUN) {
        a.result = *running != 0 || output < 0 ? EBUSY : spawn(x, output, running);
    } else if (order == LOOK) {
        a.result = *running == 0 ? -1 : look(*running, &a.status);
        *running = a.result == 0 ? *running : 0;
    } else if (*running != 0) {
        stop(*running);
        *running = 0;
    }
    return a;
}

static _Noreturn void serve(const struct sl_exec *x, int socket)
{
    pid_t running = 0;
    struct question q;
    int output;
    while (hear(socket, &q, &output)) {
        struct answer a = obey(x, q.order, output, &running);
        if (output >= 0) {
            close(output);
        }
        if (send(socket, &a, sizeof a, MSG_NOSIGNAL) != (ssize_t)sizeof a) {
            break;
        }
    }
    if (running != 0) {
        stop(running);
    }
    _exit(0);
}

/* Nothing of ours but the socket and the standard streams. */
static void keep_only(int *socket)
{
    if (*socket != 3) {
        (void)dup3(*socket, 3, O_CLOEXEC);
        *socket = 3;
    }
    (void)close_range(4, ~0U, 0);
    for (int s = 1; s < NSIG; s++) {
        (void)signal(s, SIG_DFL);
    }
}

enum sl_code sl_credentials_start_runner(struct sl_credentials *c, struct sl_error *e)
{
    SL_PRE(c != NULL);
    int ends[2];
    if (c->exec.command == NULL) {
        return SL_CODE_OK;
    }
    if (socketpair(AF_UNIX, SOCK_SEQPACKET | SOCK_CLOEXEC, 0, ends) != 0) {
        return sl_error_set(e, SL_CODE_INTERNAL, "socketpair: %s", strerror(errno));
    }
    pid_t pid = fork();
    if (pid == 0) {
        keep_only(&ends[1]);
        serve(&c->exec, ends[1]);
    }
    close(ends[1]);
    if (pid < 0) {
        close(ends[0]);
        return sl_error_set(e, SL_CODE_INTERNAL, "fork: %s", strerror(errno));
    }
    c->exec.runner = ends[0];
    return SL_CODE_OK;
}

/* --- asking it ----------------------------------------------------------------------------------------- */

/* `output` -1: none goes along. False: it has ended. */
static bool ask(const struct sl_exec *x, enum order order, int output, struct answer *a)
{
    struct question q = {order};
    union control control = {0};
    struct iovec data = {.iov_base = &q, .iov_len = sizeof q};
    struct msghdr message = {.msg_iov = &data, .msg_iovlen = 1};
    if (output >= 0) {
        message.msg_control = control.room;
        message.msg_controllen = sizeof control.room;
        struct cmsghdr *c = CMSG_FIRSTHDR(&message);
        c->cmsg_level = SOL_SOCKET;
        c->cmsg_type = SCM_RIGHTS;
        c->cmsg_len = CMSG_LEN(sizeof output);
        memcpy(CMSG_DATA(c), &output, sizeof output);
    }
    if (sendmsg(x->runner, &message, MSG_NOSIGNAL) < 0) {
        return false;
    }
    ssize_t got;
    do {
        got = recv(x->runner, a, sizeof *a, 0);
    } while (got < 0 && errno == EINTR);
    return got == (ssize_t)sizeof *a;
}

int sl_plugin_spawn(struct sl_exec *x, int output, pid_t *pid)
{
    SL_PRE(x != NULL);
    struct answer a;
    if (x->runner == 0) {
        return spawn(x, output, pid);
    }
    *pid = -1; /* of a process that is not ours */
    return ask(x, RUN, output, &a) ? a.result : ESRCH;
}

int sl_plugin_ended(struct sl_exec *x, int *status)
{
    SL_PRE(x != NULL);
    struct answer a;
    if (x->runner == 0) {
        return look(x->pid, status);
    }
    if (!ask(x, LOOK, -1, &a)) {
        return -1;
    }
    *status = a.status;
    return a.result;
}

void sl_plugin_stop(struct sl_exec *x)
{
    SL_PRE(x != NULL);
    struct answer ignored;
    if (x->runner == 0) {
        stop(x->pid);
    } else {
        (void)ask(x, STOP, -1, &ignored);
    }
}
