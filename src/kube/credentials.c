/* SPDX-License-Identifier: Apache-2.0
 * SPDX-FileCopyrightText: The Sluice authors */

/* The identity that requests carry: texts from files that may change, and what an exec plugin said last; and the
 * service account of a pod. */
#include "base/check.h"
#include "base/clock.h"
#include "base/mem.h"
#include "kube/credentials_parts.h"
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>

#define FILE_BYTES_MAX (1u << 20)
#define TOKEN_AGE_MS_MAX 60000
#define RUN_AGAIN_MS 5000
#define FIRST_MS_MAX 10000
#define EARLY_MS_MIN 15000 /* unless that is more than half of the time */
#define EARLY_MS_MAX 60000
#define EXPIRY_MARGIN_MS 10000 /* a request must not arrive with what has just expired */
#define ACCOUNT_DIR "/var/run/secrets/kubernetes.io/serviceaccount"

char *sl_secret_file(const char *path, size_t *len)
{
    FILE *file = fopen(path, "re");
    if (file == NULL) {
        return NULL;
    }
    char *text = sl_mem_new(FILE_BYTES_MAX + 1, 1);
    errno = 0;
    *len = fread(text, 1, FILE_BYTES_MAX + 1, file);
    int failure = ferror(file) ? (errno == 0 ? EIO : errno) : 0;
    fclose(file);
    if (failure == 0 && *len > FILE_BYTES_MAX) {
        failure = EFBIG;
    }
    if (failure != 0) {
        sl_mem_free(text);
        errno = failure;
        return NULL;
    }
    char *exact = sl_mem_text_n(text, *len);
    sl_mem_free(text);
    return exact;
}

static void trim_end(char *text)
{
    size_t len = strlen(text);
    while (len > 0 && strchr(" \t\r\n", text[len - 1]) != NULL) {
        text[--len] = '\0';
    }
}

static enum sl_code unreadable(const struct sl_secret *s, const char *why, struct sl_error *e)
{
    return sl_error_set(e, SL_CODE_UNAVAILABLE, "%s: cannot read %s: %s", s->field, s->path, why);
}

enum sl_code sl_secret_read(struct sl_secret *s, int64_t now_ms, int64_t age_ms_max,
                            struct sl_error *e)
{
    SL_PRE(s != NULL);
    struct stat st;
    if (s->path == NULL) {
        return SL_CODE_OK;
    }
    if (stat(s->path, &st) != 0) {
        return unreadable(s, strerror(errno), e);
    }
    bool same = s->text != NULL && st.st_ino == s->inode &&
                st.st_mtim.tv_sec == s->changed.tv_sec && st.st_mtim.tv_nsec == s->changed.tv_nsec;
    if (same && (age_ms_max == 0 || now_ms - s->read_ms < age_ms_max)) {
        return SL_CODE_OK;
    }
    size_t len;
    char *text = sl_secret_file(s->path, &len);
    if (text == NULL) {
        return unreadable(s, strerror(errno), e);
    }
    trim_end(text);
    if (text[0] == '\0') {
        sl_mem_free(text);
        return unreadable(s, "it is empty", e);
    }
    sl_mem_free(s->text);
    s->text = text;
    s->changed = st.st_mtim;
    s->inode = st.st_ino;
    s->read_ms = now_ms;
    return SL_CODE_OK;
}

static void secret_fini(struct sl_secret *s)
{
    SL_PRE(s != NULL);
    sl_mem_free(s->field);
    sl_mem_free(s->path);
    sl_mem_free(s->text);
}

void sl_credentials_free(struct sl_credentials *c)
{
    if (c == NULL) {
        return;
    }
    char *texts[] = {c->server, c->ns, c->server_name, c->proxy, c->username, c->password};
    for (size_t i = 0; i < sizeof texts / sizeof texts[0]; i++) {
        sl_mem_free(texts[i]);
    }
    secret_fini(&c->ca);
    secret_fini(&c->certificate);
    secret_fini(&c->key);
    secret_fini(&c->token);
    sl_exec_fini(&c->exec);
    sl_mem_free(c);
}

const char *sl_credentials_server(const struct sl_credentials *c)
{
    SL_PRE(c != NULL);
    return c->server;
}

const char *sl_credentials_namespace(const struct sl_credentials *c)
{
    SL_PRE(c != NULL);
    return c->ns == NULL ? "" : c->ns;
}

/* A certificate and its key are exchanged together: a half-written pair is read again by the next request. */
static enum sl_code read_files(struct sl_credentials *c, int64_t now_ms, bool rejected,
                               struct sl_error *e)
{
    enum sl_code code = sl_secret_read(&c->ca, now_ms, 0, e);
    if (code == SL_CODE_OK) {
        code = sl_secret_read(&c->certificate, now_ms, 0, e);
    }
    if (code == SL_CODE_OK) {
        code = sl_secret_read(&c->key, now_ms, 0, e);
    }
    if (code == SL_CODE_OK) {
        code = sl_secret_read(&c->token, now_ms, rejected ? 1 : TOKEN_AGE_MS_MAX, e);
    }
    return code;
}

/* Asked again a while before what it said expires, so that nothing waits for it. */
static int64_t ask_again_ms(const struct sl_exec *x)
{
    int64_t life_ms = x->expires_ms > x->run_ms ? x->expires_ms - x->run_ms : 0;
    int64_t early_ms = life_ms / 4;
    if (early_ms < EARLY_MS_MIN) {
        early_ms = life_ms / 2 < EARLY_MS_MIN ? life_ms / 2 : EARLY_MS_MIN;
    }
    return x->expires_ms - (early_ms < EARLY_MS_MAX ? early_ms : EARLY_MS_MAX);
}

static void note_failure(struct sl_exec *x, enum sl_code code, const struct sl_error *e)
{
    sl_mem_free(x->failure);
    x->failure = code == SL_CODE_OK ? NULL : sl_mem_text(e->text);
}

/* Start it when it is time to. Not again and again: after a refusal the caller asks for each
 * request. */
static void start_plugin(struct sl_exec *x, int64_t now_ms)
{
    struct sl_error e = {0};
    bool due = !x->known || x->refused || now_ms >= ask_again_ms(x);
    bool soon = x->run_ms != 0 && now_ms - x->run_ms < RUN_AGAIN_MS && now_ms >= x->run_ms;
    if (x->pid == 0 && due && !soon) {
        x->run_ms = now_ms;
        note_failure(x, sl_exec_begin(x, &e), &e);
    }
}

/* The loop waits for it only when it is run for the first time, when nothing else could be done anyway. */
static enum sl_code ask_plugin(struct sl_exec *x, int64_t now_ms, bool rejected, struct sl_error *e)
{
    if (x->command == NULL) {
        return SL_CODE_OK;
    }
    bool first = x->run_ms == 0;
    bool soon = !first && now_ms - x->run_ms < RUN_AGAIN_MS && now_ms >= x->run_ms;
    x->refused = x->refused || (rejected && !soon);
    start_plugin(x, now_ms);
    if (x->pid != 0) {
        struct sl_error ran = {0};
        note_failure(x, sl_exec_look(x, first ? FIRST_MS_MAX : 0, &ran), &ran);
    }
    if (x->known && !x->refused && now_ms < x->expires_ms - EXPIRY_MARGIN_MS) {
        return SL_CODE_OK;
    }
    if (x->failure != NULL) {
        return sl_error_set(e, SL_CODE_UNAVAILABLE, "%s", x->failure);
    }
    return x->pid == 0 && x->known
               ? SL_CODE_OK
               : sl_error_set(e, SL_CODE_UNAVAILABLE,
                              "the credential plugin %s has not answered yet", x->command);
}

enum sl_code sl_credentials_identity(struct sl_credentials *c, int64_t now_ms, bool rejected,
                                     struct sl_identity *out, struct sl_error *e)
{
    SL_PRE(c != NULL && out != NULL);
    enum sl_code code = read_files(c, now_ms, rejected, e);
    if (code == SL_CODE_OK) {
        code = ask_plugin(&c->exec, now_ms, rejected, e);
    }
    if (code != SL_CODE_OK) {
        return code;
    }
    bool plugged = c->exec.certificate != NULL;
    *out = (struct sl_identity){.ca = c->ca.text,
                                .client_certificate =
                                    plugged ? c->exec.certificate : c->certificate.text,
                                .client_key = plugged ? c->exec.key : c->key.text,
                                .server_name = c->server_name,
                                .proxy = c->proxy,
                                .token = c->exec.token != NULL ? c->exec.token : c->token.text,
                                .username = c->username,
                                .password = c->password,
                                .insecure = c->insecure};
    return SL_CODE_OK;
}

bool sl_credentials_is_local(const char *host, size_t len)
{
    static const char *const names[] = {"localhost", "127.0.0.1", "[::1]"};
    for (size_t i = 0; i < sizeof names / sizeof names[0]; i++) {
        if (strlen(names[i]) == len && strncasecmp(names[i], host, len) == 0) {
            return true;
        }
    }
    return false;
}

size_t sl_credentials_host_length(const char *host)
{
    const char *bracket = host[0] == '[' ? strchr(host, ']') : NULL;
    return bracket != NULL ? (size_t)(bracket - host) + 1 : strcspn(host, ":/");
}

enum sl_code sl_credentials_check_server(const char *server, const char *field, struct sl_error *e)
{
    bool plain = strncmp(server, "http://", 7) == 0;
    if (!plain && strncmp(server, "https://", 8) != 0) {
        return sl_error_set(e, SL_CODE_BAD_REQUEST, "%s: \"%.128s\" is not a URL of https", field,
                            server);
    }
    const char *host = server + (plain ? 7 : 8);
    size_t len = sl_credentials_host_length(host);
    if (len == 0 || strpbrk(server, " \t\r\n@?#") != NULL) {
        return sl_error_set(e, SL_CODE_BAD_REQUEST, "%s: \"%.128s\" is not https://HOST[:PORT]",
                            field, server);
    }
    if (plain && !sl_credentials_is_local(host, len)) {
        return sl_error_set(e, SL_CODE_BAD_REQUEST,
                            "%s: \"%.128s\" is not encrypted; http is for this machine only", field,
                            server);
    }
    return SL_CODE_OK;
}

static void account_file(struct sl_secret *s, const char *dir, const char *name)
{
    struct sl_buf path = {0};
    sl_buf_print(&path, "%s/%s", dir, name);
    s->path = sl_buf_take(&path);
    s->field = sl_mem_text("service account");
}

enum sl_code sl_credentials_from_account(const char *dir, const char *host, const char *port,
                                         struct sl_credentials **out, struct sl_error *e)
{
    if (host == NULL || host[0] == '\0' || port == NULL || port[0] == '\0') {
        return sl_error_set(e, SL_CODE_BAD_REQUEST,
                            "not running in a pod: KUBERNETES_SERVICE_HOST and "
                            "KUBERNETES_SERVICE_PORT are not set");
    }
    struct sl_credentials *c = sl_mem_new(1, sizeof *c);
    struct sl_buf server = {0};
    bool v6 = strchr(host, ':') != NULL;
    sl_buf_print(&server, "https://%s%s%s:%s", v6 ? "[" : "", host, v6 ? "]" : "", port);
    c->server = sl_buf_take(&server);
    account_file(&c->ca, dir, "ca.crt");
    account_file(&c->token, dir, "token");
    struct sl_secret ns = {0};
    account_file(&ns, dir, "namespace");
    enum sl_code code = read_files(c, sl_clock_wall_ms(), false, e);
    if (code == SL_CODE_OK && sl_secret_read(&ns, 0, 0, NULL) == SL_CODE_OK) {
        c->ns = sl_mem_text(ns.text);
    }
    secret_fini(&ns);
    if (code != SL_CODE_OK) {
        sl_credentials_free(c);
        e->code = SL_CODE_BAD_REQUEST;
        return SL_CODE_BAD_REQUEST;
    }
    *out = c;
    return SL_CODE_OK;
}

enum sl_code sl_credentials_in_cluster(struct sl_credentials **out, struct sl_error *e)
{
    SL_PRE(out != NULL && e != NULL);
    return sl_credentials_from_account(ACCOUNT_DIR, getenv("KUBERNETES_SERVICE_HOST"),
                                       getenv("KUBERNETES_SERVICE_PORT"), out, e);
}

void sl_credentials_aim(const char *server, const char *server_name, struct sl_buf *base,
                        struct sl_buf *connect_to)
{
    SL_PRE(server != NULL);
    const char *scheme_end = strstr(server, "://");
    if (server_name == NULL || scheme_end == NULL) {
        sl_buf_text(base, server);
        return;
    }
    const char *address = scheme_end + 3;
    size_t name_len = sl_credentials_host_length(address);
    sl_buf_print(base, "https://%s%s", server_name, address + name_len);
    sl_buf_print(connect_to, "::%.*s%s", (int)strcspn(address, "/"), address,
                 address[name_len] == ':' ? "" : ":");
}
