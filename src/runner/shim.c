/* SPDX-License-Identifier: Apache-2.0
 * SPDX-FileCopyrightText: The Sluice authors */

/* The supervisor's loop. */
#include "runner/shim.h"
#include "base/clock.h"
#include "base/mem.h"
#include "runner/command.h"
#include "runner/container.h"
#include "runner/files.h"
#include "runner/limits.h"
#include "runner/tree.h"
#include <errno.h>
#include <poll.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/signalfd.h>
#include <sys/wait.h>
#include <unistd.h>

#define AGAIN_MS 1000 /* before a second restart, then twice as long each time */
#define AGAIN_MS_MAX 60000
#define KILLS_PAUSE_US 1000
#define LOOKUPS 7              /* of a user, after the first */
#define LOOKUP_PAUSE_US 50000u /* before the second, then twice as long each time */
#define END_ROUNDS 2000        /* of that, for what ends by itself */

struct pod {
    const struct sl_shim *shim;
    char *dir, *group;
    struct sl_account account; /* the user it runs as; without a name: as this process */
    int no_account;            /* container.h */
    struct sl_json *plan;
    struct sl_container *containers;
    size_t count;
    bool stopping, killed, over;
    bool second;     /* another process has supervised it before */
    int64_t kill_ms; /* when its grace ends */
    int lock, signals;
};

/* --- reporting -------------------------------------------------------------------------------------------- */

static void report(struct pod *p, const char *phase)
{
    char line[SL_POD_UID_SIZE + 2];
    char *path = sl_pod_path_new(p->shim->data, p->shim->uid, SL_STATE_FILE);
    struct sl_json *state = sl_json_new_map(), *list = sl_json_new_list();
    sl_json_set_text(state, "phase", phase);
    sl_json_set_bool(state, "stopped", p->stopping);
    for (size_t i = 0; i < p->count; i++) {
        sl_json_append(list, sl_container_say_new(&p->containers[i]));
    }
    sl_json_set(state, "containers", list);
    for (int i = 0; !sl_file_write(path, state) && i < 100; i++) {
        (void)usleep(100000); /* a full disk: what ends well shall not count as lost at once */
    }
    if (p->shim->news >= 0) {
        int n = snprintf(line, sizeof line, "%s\n", p->shim->uid);
        ssize_t ignored = write(p->shim->news, line, (size_t)n);
        (void)ignored;
    }
    sl_json_free(state);
    sl_mem_free(path);
}

/* --- ending --------------------------------------------------------------------------------------------- */

static bool is_running(const struct sl_container *c)
{
    return c->phase == SL_CONTAINER_RUNNING;
}

static bool any_running(const struct pod *p)
{
    for (size_t i = 0; i < p->count; i++) {
        if (is_running(&p->containers[i])) {
            return true;
        }
    }
    return false;
}

static void read_all(struct pod *p)
{
    for (size_t i = 0; i < p->count; i++) {
        sl_container_read(&p->containers[i]);
    }
}

static void read_on(void *context)
{
    read_all(context);
}

/* Where a runtime has started it: there it ends, whatever became of the runtime's own program. */
static void end_elsewhere(struct pod *p, const struct sl_container *c)
{
    (void)sl_command_run(sl_json_get(c->plan, "end"), read_on, p);
}

static void note_end(struct pod *p, pid_t pid, int status)
{
    for (size_t i = 0; i < p->count; i++) {
        if (p->containers[i].pid == pid && pid > 0) {
            end_elsewhere(p, &p->containers[i]);
            bool oom = p->group != NULL && sl_limits_oom(p->group);
            sl_container_end(&p->containers[i], status, oom, sl_clock_wall_ms());
        }
    }
}

/* False: nothing is left to wait for. */
static bool reap(struct pod *p)
{
    int status;
    pid_t pid;
    while ((pid = waitpid(-1, &status, WNOHANG)) > 0) {
        note_end(p, pid, status);
    }
    return pid == 0;
}

/* A runtime's programs clean up when its containers have ended. */
static void end_containers(struct pod *p)
{
    bool any = false;
    for (size_t i = 0; i < p->count; i++) {
        struct sl_container *c = &p->containers[i];
        any = any || sl_json_get(c->plan, "end") != NULL;
        if (is_running(c)) {
            end_elsewhere(p, c);
        }
    }
    for (int i = 0; any && i < END_ROUNDS && reap(p); i++) {
        read_all(p);
        (void)usleep(KILLS_PAUSE_US);
    }
}

/* Whatever is left, until nothing is. */
static void kill_all(struct pod *p)
{
    end_containers(p);
    while (reap(p)) {
        (void)sl_tree_kill(getpid(), NULL, 0);
        (void)usleep(KILLS_PAUSE_US);
    }
}

static void begin_stop(struct pod *p)
{
    char *path = sl_pod_path_new(p->shim->data, p->shim->uid, SL_STOP_FILE);
    struct sl_json *said = sl_file_read_new(path);
    int64_t grace_s =
        sl_json_path_int(said, "graceSeconds", sl_json_path_int(p->plan, "graceSeconds", 30));
    int64_t kill_ms = sl_clock_monotonic_us() / 1000 + grace_s * 1000;
    p->kill_ms = p->stopping && p->kill_ms < kill_ms ? p->kill_ms : kill_ms;
    for (size_t i = 0; !p->stopping && i < p->count; i++) {
        if (is_running(&p->containers[i])) {
            (void)kill(-p->containers[i].pid, SIGTERM);
        }
    }
    p->stopping = true;
    sl_json_free(said);
    sl_mem_free(path);
}

/* --- what is next --------------------------------------------------------------------------------------- */

static bool is_to_run_again(const struct pod *p, const struct sl_container *c)
{
    const char *policy = sl_json_path_text(p->plan, "restartPolicy", "Never");
    bool failed = c->exit_code != 0;
    bool always = strcmp(policy, "Always") == 0 && !c->init;
    return !p->stopping && (always || (failed && strcmp(policy, "Never") != 0));
}

static int64_t pause_ms(int64_t restarts)
{
    int64_t ms = restarts == 0 ? 0 : AGAIN_MS;
    for (int64_t i = 1; i < restarts && ms < AGAIN_MS_MAX; i++) {
        ms *= 2;
    }
    return ms < AGAIN_MS_MAX ? ms : AGAIN_MS_MAX;
}

static void start(const struct pod *p, struct sl_container *c)
{
    const struct sl_container_place at = {.dir = p->dir,
                                          .group = p->group,
                                          .account = p->account.name == NULL ? NULL : &p->account,
                                          .no_account = p->no_account};
    sl_container_start(c, &at, sl_clock_wall_ms());
}

/* Init containers one after the other, then all others; false: nothing will run any more. */
static bool go_on(struct pod *p, int64_t now_ms, bool *changed)
{
    bool live = false;
    for (size_t i = 0; i < p->count; i++) {
        struct sl_container *c = &p->containers[i];
        if (c->phase == SL_CONTAINER_WAITING && !p->stopping && c->again_ms <= now_ms) {
            start(p, c);
            *changed = true;
        }
        if (c->phase == SL_CONTAINER_ENDED && is_to_run_again(p, c)) {
            sl_container_again(c, now_ms + pause_ms(c->restarts));
            *changed = true;
        }
        bool ended = c->phase == SL_CONTAINER_ENDED;
        live = live || is_running(c) || (c->phase == SL_CONTAINER_WAITING && !p->stopping);
        if (c->init && !(ended && c->exit_code == 0)) {
            return live;
        }
    }
    return live;
}

static int wait_ms(const struct pod *p, int64_t now_ms)
{
    int64_t due_ms = p->stopping && !p->killed ? p->kill_ms : INT64_MAX;
    for (size_t i = 0; i < p->count && !p->stopping; i++) {
        const struct sl_container *c = &p->containers[i];
        if (c->phase == SL_CONTAINER_WAITING && c->again_ms > 0 && c->again_ms < due_ms) {
            due_ms = c->again_ms;
        }
    }
    int64_t wait = due_ms - now_ms;
    return due_ms == INT64_MAX ? -1 : wait < 0 ? 0 : wait > 60000 ? 60000 : (int)wait;
}

static void hear_signals(struct pod *p)
{
    struct signalfd_siginfo info;
    while (read(p->signals, &info, sizeof info) == (ssize_t)sizeof info) {
        if (info.ssi_signo == SIGTERM) {
            begin_stop(p);
        }
    }
}

static void wait_for_news(struct pod *p, struct pollfd *fds)
{
    nfds_t n = 1;
    fds[0] = (struct pollfd){.fd = p->signals, .events = POLLIN};
    for (size_t i = 0; i < p->count; i++) {
        if (p->containers[i].from >= 0) {
            fds[n++] = (struct pollfd){.fd = p->containers[i].from, .events = POLLIN};
        }
    }
    (void)poll(fds, n, wait_ms(p, sl_clock_monotonic_us() / 1000));
    hear_signals(p);
    read_all(p);
}

static size_t count_running(const struct pod *p)
{
    size_t n = 0;
    for (size_t i = 0; i < p->count; i++) {
        n += is_running(&p->containers[i]);
    }
    return n;
}

static void run(struct pod *p)
{
    struct pollfd *fds = sl_mem_new(p->count + 1, sizeof *fds);
    for (;;) {
        bool changed = false;
        int64_t now_ms = sl_clock_monotonic_us() / 1000;
        if (!go_on(p, now_ms, &changed) && !any_running(p)) {
            break;
        }
        if (changed) {
            report(p, "running");
        }
        wait_for_news(p, fds);
        if (p->stopping && sl_clock_monotonic_us() / 1000 >= p->kill_ms) {
            p->killed = true;
            kill_all(p);
        }
        size_t before = count_running(p);
        (void)reap(p);
        if (count_running(p) == 0 && before > 0) {
            kill_all(p); /* what its containers have left behind */
            read_all(p);
        }
        if (count_running(p) != before && count_running(p) > 0) {
            report(p, "running");
        }
    }
    sl_mem_free(fds);
}

/* --- from start to end ---------------------------------------------------------------------------------- */

static void take_containers(struct pod *p)
{
    const struct sl_json *list = sl_json_get(p->plan, "containers");
    p->count = sl_json_len(list);
    p->containers = sl_mem_new(p->count + 1, sizeof *p->containers);
    for (size_t i = 0; i < p->count; i++) {
        const struct sl_json *one = sl_json_at(list, i);
        p->containers[i] = (struct sl_container){.plan = one,
                                                 .name = sl_json_path_text(one, "name", ""),
                                                 .init = sl_json_path_bool(one, "init", false),
                                                 .from = -1,
                                                 .output = {.fd = -1}};
    }
}

static void take_signals(struct pod *p)
{
    sigset_t heard;
    sigemptyset(&heard);
    sigaddset(&heard, SIGTERM);
    sigaddset(&heard, SIGCHLD);
    (void)sigprocmask(SIG_SETMASK, &heard, NULL);
    (void)signal(SIGPIPE, SIG_IGN);
    (void)signal(SIGINT, SIG_IGN);
    (void)signal(SIGHUP, SIG_IGN);
    (void)signal(SIGXFSZ, SIG_IGN);
    p->signals = signalfd(-1, &heard, SFD_NONBLOCK | SFD_CLOEXEC);
}

/* With the process that holds it, which signals are sent to. */
static bool take_lock(struct pod *p)
{
    char text[64];
    char *path = sl_pod_path_new(p->shim->data, p->shim->uid, SL_LOCK_FILE);
    p->lock = sl_file_lock(path);
    sl_mem_free(path);
    if (p->lock < 0) {
        return false;
    }
    p->second = lseek(p->lock, 0, SEEK_END) > 0;
    int n = snprintf(text, sizeof text, "%d %llu\n", (int)getpid(), sl_process_start(getpid()));
    return ftruncate(p->lock, 0) == 0 && pwrite(p->lock, text, (size_t)n, 0) == n;
}

/* Does a runtime keep its limits? */
static bool is_elsewhere(const struct pod *p)
{
    return p->count > 0 && sl_json_get(p->containers[0].plan, "end") != NULL;
}

/* What a supervisor has started that was killed before it could say so. */
static void end_earlier(struct pod *p)
{
    for (size_t i = 0; i < p->count; i++) {
        end_elsewhere(p, &p->containers[i]);
    }
}

static bool there(const struct pod *p, const char *file)
{
    char *path = sl_pod_path_new(p->shim->data, p->shim->uid, file);
    bool is = sl_file_there(path);
    sl_mem_free(path);
    return is;
}

static void take_plan(struct pod *p)
{
    char *path = sl_pod_path_new(p->shim->data, p->shim->uid, SL_PLAN_FILE);
    p->plan = sl_file_read_new(path);
    sl_mem_free(path);
}

/* The daemon has just found it: what fails now may be over in a moment. False with errno. */
static bool look_up(struct pod *p, const struct sl_json *user)
{
    bool ok = sl_account_read(user, &p->account);
    for (int i = 0; !ok && errno != ENOENT && errno != EPERM && i < LOOKUPS; i++) {
        if (there(p, SL_STOP_FILE)) {
            errno = EAGAIN;
            return false;
        }
        (void)usleep(LOOKUP_PAUSE_US << i);
        ok = sl_account_read(user, &p->account);
    }
    return ok;
}

/* Its directory is that user's from now on. */
static void take_account(struct pod *p)
{
    const struct sl_json *user = sl_json_get(p->plan, "user");
    char *work = sl_pod_path_new(p->shim->data, p->shim->uid, SL_WORK_DIR);
    if (user != NULL && (!look_up(p, user) || !sl_account_own(&p->account, work))) {
        p->no_account = errno == 0 ? EPERM : errno;
    }
    sl_mem_free(work);
}

int sl_shim_run(const struct sl_shim *s)
{
    struct pod p = {.shim = s, .dir = sl_pod_path_new(s->data, s->uid, ""), .lock = -1};
    (void)setsid();
    (void)prctl(PR_SET_NAME, "sluice-shim");
    (void)prctl(PR_SET_CHILD_SUBREAPER, 1);
    take_signals(&p);
    if (!take_lock(&p) || there(&p, SL_STATE_FILE)) {
        return 0;
    }
    take_plan(&p);
    if (p.plan == NULL || p.signals < 0) {
        return 1;
    }
    take_containers(&p);
    take_account(&p);
    p.group = s->limits == NULL || is_elsewhere(&p)
                  ? NULL
                  : sl_limits_group_new(s->limits, s->uid, p.plan);
    if (p.second) {
        end_earlier(&p);
    }
    if (there(&p, SL_STOP_FILE)) {
        begin_stop(&p);
    }
    run(&p);
    kill_all(&p);
    read_all(&p);
    if (p.group != NULL) {
        sl_limits_end(p.group);
    }
    for (size_t i = 0; i < p.count; i++) {
        sl_output_close(&p.containers[i].output);
    }
    report(&p, "ended");
    return 0;
}
