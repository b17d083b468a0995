/* SPDX-License-Identifier: Apache-2.0
 * SPDX-FileCopyrightText: The Sluice authors */

/* An exec plugin of a kubeconfig (client.authentication.k8s.io): it is run with the request in
 * KUBERNETES_EXEC_INFO, and prints an ExecCredential. It may take half a minute. The caller does
 * not wait but polls. */
#include "base/check.h"
#include "base/clock.h"
#include "base/mem.h"
#include "kube/credentials_parts.h"
#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <string.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#define RUN_MS_MAX 30000
#define OUTPUT_BYTES_MAX (1u << 20)

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
    int result = sl_plugin_ended(x, status);
    if (result < 0) {
        *why = "cannot be waited for";
    }
    return result > 0;
}

static void pause_until(const struct sl_exec *x, bool over, int64_t until_ms)
{
    struct pollfd watched = {.fd = x->output, .events = POLLIN};
    int64_t left_ms = until_ms - steady_ms();
    left_ms = over && left_ms > 5 ? 5 : left_ms; /* its end is not signalled */
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
        return failed(x, e, "gave an expirationTimestamp that is not a time");
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
    int failure = sl_plugin_spawn(x, ends[1], &pid);
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
            sl_plugin_stop(x);
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
    SL_PRE(x != NULL);
    if (x->pid != 0) {
        sl_plugin_stop(x);
        close(x->output);
        sl_buf_fini(&x->text);
    }
    if (x->runner != 0) {
        close(x->runner); /* at which it ends */
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
