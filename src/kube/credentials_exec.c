/* SPDX-License-Identifier: Apache-2.0
 * SPDX-FileCopyrightText: The Sluice authors */

/* An exec plugin of a kubeconfig (client.authentication.k8s.io): it is run, told what is wanted in
 * KUBERNETES_EXEC_INFO, and prints an ExecCredential. It may take half a minute; nobody has to wait for it: whoever
 * asks looks how far it is. */
#include "base/check.h"
#include "base/clock.h"
#include "base/mem.h"
#include "kube/credentials_parts.h"
#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <signal.h>
#include <spawn.h>
#include <string.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#define RUN_MS_MAX 30000
#define OUTPUT_BYTES_MAX (1u << 20)
#define ENV_MAX 4096u

static int64_t steady_ms(void)
{
    struct timespec t;
    clock_gettime(CLOCK_MONOTONIC, &t);
    return (int64_t)t.tv_sec * 1000 + t.tv_nsec / 1000000;
}

static enum sl_code failed(const struct sl_exec *x, struct sl_error *e, const char *why)
{
    return sl_error_set(e, SL_CODE_UNAVAILABLE, "the credential plugin %s %s%s%s", x->command, why,
                        x->hint == NULL ? "" : "; ", x->hint == NULL ? "" : x->hint);
}

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

/* Ours, without what is set anew; the plugin's; what it is told. The first `*lent` texts are not to be freed. */
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

/* What it has printed by now. *over: it prints no more. NULL, or what went wrong. */
static const char *collect(struct sl_exec *x, bool *over)
{
    char piece[4096];
    for (;;) {
        ssize_t got = read(x->output, piece, sizeof piece);
        if (got > 0) {
            sl_buf_add(&x->text, piece, (size_t)got);
        } else if (got == 0 || errno != EINTR) {
            *over = got == 0;
            return got == 0 || errno == EAGAIN ? NULL : "cannot be read from";
        }
        if (x->text.len > OUTPUT_BYTES_MAX) {
            return "prints more than a mebibyte";
        }
    }
}

/* Has it ended by itself? Then *status is how. */
static bool ended(struct sl_exec *x, int *status, const char **why)
{
    pid_t who = waitpid(x->pid, status, WNOHANG);
    if (who < 0 && errno != EINTR) {
        *why = "cannot be waited for";
    }
    return who == x->pid;
}

static void stop(struct sl_exec *x)
{
    int status;
    (void)kill(-x->pid, SIGKILL);
    (void)waitpid(x->pid, &status, 0);
}

static void pause_until(const struct sl_exec *x, bool over, int64_t until_ms)
{
    struct pollfd watched = {.fd = x->output, .events = POLLIN};
    int64_t left_ms = until_ms - steady_ms();
    left_ms = over && left_ms > 5 ? 5 : left_ms; /* nothing tells when it ends */
    (void)poll(&watched, over ? 0 : 1, left_ms > 0 ? (int)left_ms : 0);
}

static char *copy_field(const struct sl_json *status, const char *field)
{
    const char *text = sl_json_path_text(status, field, "");
    return text[0] == '\0' ? NULL : sl_mem_text(text);
}

static void forget(struct sl_exec *x)
{
    sl_mem_free(x->token);
    sl_mem_free(x->certificate);
    sl_mem_free(x->key);
    x->token = x->certificate = x->key = NULL;
    x->known = false;
}

static enum sl_code take_answer(struct sl_exec *x, const struct sl_json *answer, struct sl_error *e)
{
    const struct sl_json *status = sl_json_get(answer, "status");
    const char *expiry = sl_json_path_text(status, "expirationTimestamp", "");
    if (strcmp(sl_json_path_text(answer, "kind", ""), "ExecCredential") != 0 ||
        strcmp(sl_json_path_text(answer, "apiVersion", ""), x->api_version) != 0) {
        return failed(x, e, "printed no ExecCredential of the version that was asked for");
    }
    forget(x);
    x->refused = false;
    x->token = copy_field(status, "token");
    x->certificate = copy_field(status, "clientCertificateData");
    x->key = copy_field(status, "clientKeyData");
    if ((x->certificate == NULL) != (x->key == NULL)) {
        forget(x);
        return failed(x, e, "gave a certificate without a key, or a key without a certificate");
    }
    if (x->token == NULL && x->key == NULL) {
        return failed(x, e, "gave neither a token nor a certificate");
    }
    x->expires_ms = expiry[0] == '\0' ? INT64_MAX : sl_clock_parse(expiry);
    if (x->expires_ms == INT64_MIN) {
        forget(x);
        return failed(x, e, "gave an expirationTimestamp that is no time");
    }
    x->known = true;
    return SL_CODE_OK;
}

enum sl_code sl_exec_begin(struct sl_exec *x, struct sl_error *e)
{
    SL_PRE(x->command != NULL && x->pid == 0);
    int ends[2];
    pid_t pid = 0;
    if (pipe2(ends, O_CLOEXEC) != 0) {
        return failed(x, e, strerror(errno));
    }
    int failure = spawn(x, ends[1], &pid);
    close(ends[1]);
    if (failure != 0) {
        close(ends[0]);
        struct sl_buf why = {0};
        sl_buf_print(&why, "could not be started: %s", strerror(failure));
        enum sl_code code = failed(x, e, why.data);
        sl_buf_fini(&why);
        return code;
    }
    (void)fcntl(ends[0], F_SETFL, O_NONBLOCK);
    x->pid = pid;
    x->output = ends[0];
    x->end_ms = steady_ms() + (x->run_ms_max > 0 ? x->run_ms_max : RUN_MS_MAX);
    return SL_CODE_OK;
}

/* It is over: `why` it went wrong, or what it said is taken. */
static enum sl_code finish(struct sl_exec *x, const char *why, struct sl_error *e)
{
    struct sl_buf text = x->text;
    close(x->output);
    x->pid = 0;
    x->text = (struct sl_buf){0};
    struct sl_json *answer =
        why == NULL && text.len > 0 ? sl_json_parse(text.data, text.len, NULL) : NULL;
    enum sl_code code = why != NULL ? failed(x, e, why) : take_answer(x, answer, e);
    sl_json_free(answer);
    sl_buf_fini(&text);
    return code;
}

enum sl_code sl_exec_look(struct sl_exec *x, int64_t wait_ms, struct sl_error *e)
{
    SL_PRE(x->pid != 0);
    const int64_t until_ms = steady_ms() + wait_ms;
    const char *why = NULL;
    bool over = false;
    for (;;) {
        int status = 0;
        why = collect(x, &over);
        if (why == NULL && over && ended(x, &status, &why)) {
            bool well = WIFEXITED(status) && WEXITSTATUS(status) == 0;
            return finish(x, well ? NULL : "ended with a failure", e);
        }
        if (why == NULL && steady_ms() >= x->end_ms) {
            why = "did not end in time";
        }
        if (why != NULL) {
            stop(x);
            return finish(x, why, e);
        }
        if (steady_ms() >= until_ms) {
            return SL_CODE_OK;
        }
        pause_until(x, over, until_ms < x->end_ms ? until_ms : x->end_ms);
    }
}

void sl_exec_fini(struct sl_exec *x)
{
    if (x->pid != 0) {
        stop(x);
        close(x->output);
        sl_buf_fini(&x->text);
    }
    forget(x);
    sl_mem_free(x->failure);
    for (size_t i = 0; i < x->arg_count; i++) {
        sl_mem_free(x->args[i]);
    }
    sl_mem_free(x->args);
    sl_mem_free(x->command);
    sl_mem_free(x->api_version);
    sl_mem_free(x->hint);
    sl_json_free(x->env);
    sl_json_free(x->cluster);
}
