/* SPDX-License-Identifier: Apache-2.0
 * SPDX-FileCopyrightText: The Sluice authors */

/* The launcher and the daemon's side of it. */
#include "runner/launcher.h"
#include "base/mem.h"
#include "runner/command.h"
#include "runner/files.h"
#include "runner/limits.h"
#include "runner/remove.h"
#include "runner/shim.h"
#include "runner/tree.h"
#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/signalfd.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

#define ORDERS_FD 3
#define NEWS_FD 4
#define CLEAN_ROUNDS 1000
#define CLEAN_PAUSE_US 2000

static const char *const words[SL_ORDERS] = {"start", "stop", "clean", "remove"};

/* --- the launcher itself -------------------------------------------------------------------------------- */

struct child {
    pid_t pid;
    char uid[SL_POD_UID_SIZE];
};
struct launching {
    const char *data;
    char *limits;
    int signals;
    struct child *children; /* supervisors, and those that clean up */
    uint32_t count, cap;
    pid_t *pids; /* the same, alone */
};

static void report(const char *uid)
{
    char line[SL_POD_UID_SIZE + 2];
    int n = snprintf(line, sizeof line, "%s\n", uid);
    ssize_t ignored = write(NEWS_FD, line, (size_t)n);
    (void)ignored;
}

static void remove_all(const struct launching *h, const char *uid)
{
    char *dir = sl_pod_path_new(h->data, uid, "");
    (void)sl_dir_remove(dir);
    sl_mem_free(dir);
}

/* After the programs of the runtime were killed, which could still start them. */
static void end_containers(const struct launching *h, const char *uid)
{
    char *path = sl_pod_path_new(h->data, uid, SL_PLAN_FILE);
    struct sl_json *plan = sl_file_read_new(path);
    const struct sl_json *list = sl_json_get(plan, "containers");
    for (size_t i = 0; i < sl_json_len(list); i++) {
        (void)sl_command_run(sl_json_get(sl_json_at(list, i), "end"), NULL, NULL);
    }
    sl_json_free(plan);
    sl_mem_free(path);
}

static void clean(const struct launching *h, const char *uid)
{
    char *path = sl_pod_path_new(h->data, uid, SL_CLEANED_FILE);
    struct sl_json *nothing = sl_json_new_map();
    for (int i = 0; i < CLEAN_ROUNDS && sl_marked_kill(uid) > 0; i++) {
        (void)usleep(CLEAN_PAUSE_US);
    }
    end_containers(h, uid);
    (void)sl_file_write(path, nothing);
    sl_json_free(nothing);
    sl_mem_free(path);
}

static void be_child(const struct launching *h, enum sl_order order, const char *uid)
{
    const struct sl_shim shim = {.data = h->data, .uid = uid, .limits = h->limits, .news = NEWS_FD};
    int null = open("/dev/null", O_RDWR);
    (void)close(ORDERS_FD);
    (void)close(h->signals);
    for (int fd = 0; fd < 3; fd++) {
        (void)dup2(null, fd);
    }
    if (null > 2) {
        (void)close(null);
    }
    (void)fcntl(NEWS_FD, F_SETFD, FD_CLOEXEC);
    if (order == SL_ORDER_START) {
        _exit(sl_shim_run(&shim));
    } else if (order == SL_ORDER_CLEAN) {
        clean(h, uid);
    } else {
        remove_all(h, uid);
    }
    _exit(0);
}

static void add_child(struct launching *h, pid_t pid, const char *uid)
{
    uint32_t cap = h->cap;
    h->pids = sl_mem_reach(h->pids, &cap, 64, h->count, sizeof *h->pids);
    h->children = sl_mem_reach(h->children, &h->cap, 64, h->count, sizeof *h->children);
    h->pids[h->count] = pid;
    h->children[h->count].pid = pid;
    snprintf(h->children[h->count].uid, sizeof h->children[h->count].uid, "%s", uid);
    h->count++;
}

static void fork_child(struct launching *h, enum sl_order order, const char *uid)
{
    pid_t pid = fork();
    if (pid == 0) {
        be_child(h, order, uid);
    }
    if (pid > 0) {
        add_child(h, pid, uid);
    } else {
        report(uid); /* it is looked at again */
    }
}

/* Its supervisor, which may be older than this process, and whose number may be another's by now. */
static void stop(const struct launching *h, const char *uid)
{
    char text[64] = "";
    int pid = 0;
    unsigned long long start = 0;
    char *path = sl_pod_path_new(h->data, uid, SL_LOCK_FILE);
    int fd = open(path, O_RDONLY | O_CLOEXEC);
    bool got = fd >= 0 && read(fd, text, sizeof text - 1) > 0 &&
               sscanf(text, "%d %llu", &pid, &start) == 2 && pid > 1;
    if (fd >= 0) {
        (void)close(fd);
    }
    int handle = got && sl_file_locked(path) ? (int)syscall(SYS_pidfd_open, pid, 0) : -1;
    if (handle >= 0) {
        if (sl_process_start(pid) == start) {
            (void)syscall(SYS_pidfd_send_signal, handle, SIGTERM, NULL, 0);
        }
        (void)close(handle);
    }
    sl_mem_free(path);
}

static void obey(struct launching *h, const char *text)
{
    char word[16], uid[SL_POD_UID_SIZE];
    if (sscanf(text, "%15s %63s", word, uid) != 2 || !sl_pod_uid_good(uid)) {
        return;
    }
    for (int i = 0; i < SL_ORDERS; i++) {
        if (strcmp(word, words[i]) == 0) {
            if (i == SL_ORDER_STOP) {
                stop(h, uid);
            } else {
                fork_child(h, (enum sl_order)i, uid);
            }
        }
    }
}

/* A supervisor that was killed leaves its processes to us. */
static void end_orphans(const struct launching *h)
{
    (void)sl_tree_kill(getpid(), h->pids, h->count);
}

static void forget_child(struct launching *h, pid_t pid, int status)
{
    for (uint32_t i = 0; i < h->count; i++) {
        if (h->children[i].pid == pid) {
            struct child ended = h->children[i];
            h->count--;
            h->children[i] = h->children[h->count];
            h->pids[i] = h->pids[h->count];
            if (status != 0) {
                end_orphans(h);
            }
            report(ended.uid);
            return;
        }
    }
}

static void reap(struct launching *h)
{
    struct signalfd_siginfo info;
    int status;
    pid_t pid;
    while (read(h->signals, &info, sizeof info) == (ssize_t)sizeof info) {
    }
    while ((pid = waitpid(-1, &status, WNOHANG)) > 0) {
        forget_child(h, pid, status);
    }
}

static void serve(struct launching *h)
{
    char text[128];
    for (;;) {
        struct pollfd fds[] = {{.fd = ORDERS_FD, .events = POLLIN},
                               {.fd = h->signals, .events = POLLIN}};
        (void)poll(fds, 2, -1);
        reap(h);
        if (fds[0].revents != 0) {
            ssize_t n = recv(ORDERS_FD, text, sizeof text - 1, MSG_DONTWAIT);
            if (n > 0) {
                text[n] = '\0';
                obey(h, text);
            } else if (n == 0 || (errno != EAGAIN && errno != EINTR)) {
                return;
            }
        }
    }
}

static void be_launcher(const char *data, char *limits, int orders, int news)
{
    sigset_t heard;
    struct launching h = {.data = data, .limits = limits};
    (void)prctl(PR_SET_NAME, "sluice-launcher");
    (void)prctl(PR_SET_PDEATHSIG, SIGKILL);
    (void)prctl(PR_SET_CHILD_SUBREAPER, 1);
    int a = fcntl(orders, F_DUPFD, 64), b = fcntl(news, F_DUPFD, 64); /* not in each other's way */
    if (dup2(a, ORDERS_FD) < 0 || dup2(b, NEWS_FD) < 0) {
        _exit(1);
    }
    (void)syscall(SYS_close_range, NEWS_FD + 1, ~0u, 0);
    (void)setpgid(0, 0); /* Ctrl-C is for the daemon */
    sigemptyset(&heard);
    sigaddset(&heard, SIGCHLD);
    (void)sigprocmask(SIG_SETMASK, &heard, NULL);
    (void)signal(SIGPIPE, SIG_IGN);
    (void)signal(SIGTERM, SIG_DFL);
    h.signals = signalfd(-1, &heard, SFD_NONBLOCK | SFD_CLOEXEC);
    if (h.signals >= 0) {
        serve(&h);
    }
    _exit(0);
}

/* --- the daemon's side ---------------------------------------------------------------------------------- */

enum sl_code sl_launcher_begin(const char *data, struct sl_launcher *l, struct sl_error *e)
{
    int orders[2], news[2] = {-1, -1};
    *l = (struct sl_launcher){.orders = -1, .news = -1};
    if (socketpair(AF_UNIX, SOCK_SEQPACKET | SOCK_CLOEXEC, 0, orders) != 0) {
        return sl_error_set(e, SL_CODE_INTERNAL, "the launcher: %s", strerror(errno));
    }
    char *limits = sl_limits_base_new("/proc/self/mountinfo", "/proc/self/cgroup", l->why_unlimited,
                                      sizeof l->why_unlimited);
    bool ok = pipe2(news, O_CLOEXEC | O_NONBLOCK) == 0 && (l->pid = fork()) >= 0;
    if (ok && l->pid == 0) {
        be_launcher(data, limits, orders[1], news[1]);
    }
    int why = errno;
    (void)close(orders[1]);
    if (news[1] >= 0) {
        (void)close(news[1]);
    }
    sl_mem_free(limits);
    l->orders = orders[0];
    l->news = news[0];
    if (!ok) {
        sl_launcher_end(l);
        return sl_error_set(e, SL_CODE_INTERNAL, "the launcher: %s", strerror(why));
    }
    return SL_CODE_OK;
}

bool sl_launcher_order(const struct sl_launcher *l, enum sl_order order, const char *uid)
{
    char text[128];
    int n = snprintf(text, sizeof text, "%s %s", words[order], uid);
    return send(l->orders, text, (size_t)n, MSG_DONTWAIT | MSG_NOSIGNAL) == n;
}

void sl_launcher_end(struct sl_launcher *l)
{
    int status;
    if (l->orders >= 0) {
        (void)close(l->orders);
    }
    if (l->news >= 0) {
        (void)close(l->news);
    }
    if (l->pid > 0) {
        (void)waitpid(l->pid, &status, 0);
    }
    *l = (struct sl_launcher){.orders = -1, .news = -1};
}
