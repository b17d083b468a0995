/* SPDX-License-Identifier: Apache-2.0
 * SPDX-FileCopyrightText: The Sluice authors */

/* HTTP by libcurl, one connection that is kept. */
#include "cli/remote/remote_parts.h"
#include "base/check.h"
#include "base/clock.h"
#include "base/mem.h"
#include <stdio.h>
#include <string.h>
#include <strings.h>

#define CONNECT_MS_MAX 10000L
#define CALL_MS_MAX 60000L

struct sl_remote *sl_remote_open(const char *server)
{
    SL_PRE(server != NULL);
    struct sl_remote *r = sl_mem_new(1, sizeof *r);
    curl_global_init(CURL_GLOBAL_DEFAULT);
    r->curl = curl_easy_init();
    SL_ASSERT(r->curl != NULL);
    r->server = sl_mem_text(server);
    size_t len = strlen(r->server);
    while (len > 0 && r->server[len - 1] == '/') {
        r->server[--len] = '\0';
    }
    bool local = strncmp(r->server, SL_REMOTE_SOCKET, strlen(SL_REMOTE_SOCKET)) == 0;
    r->socket = local ? r->server + strlen(SL_REMOTE_SOCKET) : NULL;
    r->base = sl_mem_text(local ? "http://localhost" : r->server);
    return r;
}

static void aim(struct sl_remote *r, const char *server_name)
{
    struct sl_buf base = {0}, address = {0};
    if (r->socket != NULL) {
        return;
    }
    sl_credentials_aim(r->server, server_name, &base, &address);
    sl_mem_free(r->base);
    r->base = sl_buf_take(&base);
    r->address = address.len > 0 ? curl_slist_append(NULL, address.data) : NULL;
    sl_buf_fini(&address);
}

void sl_remote_identify(struct sl_remote *r, struct sl_credentials *credentials)
{
    SL_PRE(r != NULL && r->credentials == NULL);
    struct sl_identity who = {0};
    r->credentials = credentials;
    (void)sl_credentials_identity(credentials, sl_clock_wall_ms(), false, &who, NULL);
    aim(r, who.server_name);
}

void sl_remote_close(struct sl_remote *r)
{
    SL_PRE(r != NULL);
    curl_easy_cleanup(r->curl);
    curl_slist_free_all(r->address);
    curl_global_cleanup();
    sl_mem_free(r->server);
    sl_mem_free(r->base);
    sl_mem_free(r);
}

const char *sl_remote_server(const struct sl_remote *r)
{
    SL_PRE(r != NULL);
    return r->server;
}

static size_t take_body(char *data, size_t size, size_t count, void *context)
{
    sl_buf_add(context, data, size * count);
    return size * count;
}

/* Copied: the text may be another one before the transfer ends. */
static void set_blob(CURL *curl, CURLoption option, const char *pem)
{
    if (pem != NULL) {
        struct curl_blob blob = {(void *)(uintptr_t)pem, strlen(pem), CURL_BLOB_COPY};
        curl_easy_setopt(curl, option, &blob);
    }
}

static void sign(const struct sl_identity *who, CURL *curl)
{
    set_blob(curl, CURLOPT_CAINFO_BLOB, who->ca);
    set_blob(curl, CURLOPT_SSLCERT_BLOB, who->client_certificate);
    set_blob(curl, CURLOPT_SSLKEY_BLOB, who->client_key);
    if (who->ca != NULL) {
        curl_easy_setopt(curl, CURLOPT_CAPATH, NULL);
    }
    if (who->insecure) {
        curl_easy_setopt(curl, CURLOPT_SSL_VERIFYPEER, 0L);
        curl_easy_setopt(curl, CURLOPT_SSL_VERIFYHOST, 0L);
    }
    if (who->proxy != NULL) {
        curl_easy_setopt(curl, CURLOPT_PROXY, who->proxy);
    }
    if (who->token != NULL) {
        curl_easy_setopt(curl, CURLOPT_HTTPAUTH, CURLAUTH_BEARER);
        curl_easy_setopt(curl, CURLOPT_XOAUTH2_BEARER, who->token);
    } else if (who->username != NULL) {
        curl_easy_setopt(curl, CURLOPT_HTTPAUTH, CURLAUTH_BASIC);
        curl_easy_setopt(curl, CURLOPT_USERNAME, who->username);
        curl_easy_setopt(curl, CURLOPT_PASSWORD, who->password == NULL ? "" : who->password);
    }
}

/* What cannot be had is left out: the server says 401, and the next call tries again. */
static void identify(struct sl_remote *r, CURL *curl)
{
    struct sl_identity who = {0};
    struct sl_error e = {0};
    enum sl_code code =
        sl_credentials_identity(r->credentials, sl_clock_wall_ms(), false, &who, &e);
    if (code != SL_CODE_OK) {
        fprintf(stderr, "Warning: %s\n", e.text);
        return;
    }
    sign(&who, curl);
}

void sl_remote_prepare(struct sl_remote *r, CURL *curl, const char *path, struct sl_buf *url)
{
    curl_easy_reset(curl);
    sl_buf_print(url, "%s%s", r->base, path);
    curl_easy_setopt(curl, CURLOPT_URL, url->data);
    curl_easy_setopt(curl, CURLOPT_NOSIGNAL, 1L);
    curl_easy_setopt(curl, CURLOPT_NOPROXY, "127.0.0.1,localhost,::1");
    curl_easy_setopt(curl, CURLOPT_CONNECTTIMEOUT_MS, CONNECT_MS_MAX);
    curl_easy_setopt(curl, CURLOPT_USERAGENT, "sluicectl");
    if (r->socket != NULL) {
        curl_easy_setopt(curl, CURLOPT_UNIX_SOCKET_PATH, r->socket);
    }
    if (r->address != NULL) {
        curl_easy_setopt(curl, CURLOPT_CONNECT_TO, r->address);
    }
    if (r->credentials != NULL) {
        identify(r, curl);
    }
}

enum sl_code sl_remote_unreachable(const struct sl_remote *r, CURLcode failure, struct sl_error *e)
{
    return sl_error_set(e, SL_CODE_UNAVAILABLE, "cannot talk to %s: %s", r->server,
                        curl_easy_strerror(failure));
}

enum sl_code sl_remote_refused(long http, const struct sl_buf *body, struct sl_error *e)
{
    struct sl_json *status =
        body->len == 0 ? NULL : sl_json_parse_received(body->data, body->len, NULL);
    const char *message = sl_json_path_text(status, "message", "");
    enum sl_code code = sl_code_of_http((int)http, sl_json_path_text(status, "reason", ""));
    if (message[0] != '\0') {
        sl_error_set(e, code, "%s", message);
    } else {
        sl_error_set(e, code, "the server answered %ld without saying why", http);
    }
    const struct sl_json *causes = sl_json_path(status, "details.causes");
    for (size_t i = 0; i < sl_json_len(causes); i++) {
        const struct sl_json *cause = sl_json_at(causes, i);
        sl_error_cause(e, sl_json_path_text(cause, "reason", ""),
                       sl_json_path_text(cause, "field", ""), "%s",
                       sl_json_path_text(cause, "message", ""));
    }
    if (e != NULL) {
        e->code = code;
    }
    sl_json_free(status);
    return code;
}

/* Of an API that no server serves, or whose server is not there, an API server gives no Status. */
static bool is_unserved(const char *path, long http, const struct sl_buf *body)
{
    static const char api[] = "/apis/visibility.kueue.x-k8s.io/";
    return (http == 404 || http == 503) && strncmp(path, api, sizeof api - 1) == 0 &&
           (body->len == 0 || body->data[0] != '{');
}

static enum sl_code finish(struct sl_remote *r, const char *path, const struct sl_buf *body,
                           struct sl_json **out, struct sl_error *e)
{
    long http = 0;
    curl_easy_getinfo(r->curl, CURLINFO_RESPONSE_CODE, &http);
    if (is_unserved(path, http, body)) {
        return sl_error_set(
            e, SL_CODE_UNAVAILABLE,
            "Sluice cannot be asked at %s: its APIServices are missing (kubectl apply "
            "-k deploy/kubernetes/visibility), or no instance leads",
            r->server);
    }
    if (http < 200 || http > 299) {
        return sl_remote_refused(http, body, e);
    }
    if (out == NULL) {
        return SL_CODE_OK;
    }
    struct sl_error parse = {0};
    struct sl_json *value =
        sl_json_parse_received(body->data == NULL ? "" : body->data, body->len, &parse);
    if (value == NULL) {
        return sl_error_set(e, SL_CODE_INTERNAL, "%s did not answer with JSON: %s", r->server,
                            parse.text);
    }
    *out = value;
    return SL_CODE_OK;
}

/* What the server warns of goes to stderr, as kubectl does it. */
static size_t take_header(char *data, size_t size, size_t count, void *context)
{
    static const char start[] = "Warning: 299 - \"";
    const size_t skip = sizeof start - 1, len = size * count;
    (void)context;
    if (len > skip && strncasecmp(data, start, skip) == 0) {
        const char *end = memchr(data + skip, '"', len - skip);
        int text_len = (int)(end == NULL ? len - skip : (size_t)(end - data) - skip);
        fprintf(stderr, "Warning: %.*s\n", text_len, data + skip);
    }
    return len;
}

enum sl_code sl_remote_call(struct sl_remote *r, const struct sl_call *call, struct sl_json **out,
                            struct sl_error *e)
{
    SL_PRE(call != NULL);
    struct sl_buf url = {0};
    struct sl_buf request = {0};
    struct sl_buf response = {0};
    struct sl_buf type = {0};
    sl_remote_prepare(r, r->curl, call->path, &url);
    sl_buf_print(&type, "Content-Type: %s",
                 call->content_type == NULL ? "application/json" : call->content_type);
    struct curl_slist *headers = curl_slist_append(NULL, type.data);
    curl_easy_setopt(r->curl, CURLOPT_CUSTOMREQUEST, call->method);
    curl_easy_setopt(r->curl, CURLOPT_TIMEOUT_MS, CALL_MS_MAX);
    curl_easy_setopt(r->curl, CURLOPT_WRITEFUNCTION, take_body);
    curl_easy_setopt(r->curl, CURLOPT_WRITEDATA, &response);
    curl_easy_setopt(r->curl, CURLOPT_HEADERFUNCTION, take_header);
    if (call->body != NULL) {
        sl_json_print(call->body, &request);
        curl_easy_setopt(r->curl, CURLOPT_HTTPHEADER, headers);
        curl_easy_setopt(r->curl, CURLOPT_POSTFIELDS, request.data);
        curl_easy_setopt(r->curl, CURLOPT_POSTFIELDSIZE_LARGE, (curl_off_t)request.len);
    }
    CURLcode failure = curl_easy_perform(r->curl);
    enum sl_code code = failure == CURLE_OK ? finish(r, call->path, &response, out, e)
                                            : sl_remote_unreachable(r, failure, e);
    curl_slist_free_all(headers);
    sl_buf_fini(&type);
    sl_buf_fini(&url);
    sl_buf_fini(&request);
    sl_buf_fini(&response);
    return code;
}

enum sl_code sl_remote_text(struct sl_remote *r, const char *path, const char *url,
                            struct sl_buf *out, struct sl_error *e)
{
    SL_PRE(r != NULL && (path != NULL || url != NULL));
    struct sl_buf full = {0};
    struct sl_remote *at = path != NULL ? r : sl_remote_open(url);
    sl_remote_prepare(at, at->curl, path != NULL ? path : "", &full);
    curl_easy_setopt(at->curl, CURLOPT_TIMEOUT_MS, CALL_MS_MAX);
    curl_easy_setopt(at->curl, CURLOPT_WRITEFUNCTION, take_body);
    curl_easy_setopt(at->curl, CURLOPT_WRITEDATA, out);
    CURLcode failure = curl_easy_perform(at->curl);
    enum sl_code code =
        failure == CURLE_OK ? finish(at, "", out, NULL, e) : sl_remote_unreachable(at, failure, e);
    if (at != r) {
        sl_remote_close(at);
    }
    sl_buf_fini(&full);
    return code;
}

enum sl_code sl_remote_get(struct sl_remote *r, const char *path, struct sl_json **out,
                           struct sl_error *e)
{
    struct sl_call call = {.method = "GET", .path = path};
    return sl_remote_call(r, &call, out, e);
}

struct stream {
    CURL *curl;
    sl_line_fn *line;
    void *context;
    struct sl_buf rest;
    bool stopped;
};

static bool pass_lines(struct stream *s)
{
    size_t start = 0;
    const char *end;
    while (start < s->rest.len &&
           (end = memchr(s->rest.data + start, '\n', s->rest.len - start)) != NULL) {
        size_t len = (size_t)(end - s->rest.data) - start;
        if (!s->line(s->context, s->rest.data + start, len)) {
            return false;
        }
        start += len + 1;
    }
    struct sl_buf left = {0};
    sl_buf_add(&left, s->rest.len == 0 ? "" : s->rest.data + start, s->rest.len - start);
    sl_buf_fini(&s->rest);
    s->rest = left;
    return true;
}

static size_t take_stream(char *data, size_t size, size_t count, void *context)
{
    struct stream *s = context;
    long http = 0;
    curl_easy_getinfo(s->curl, CURLINFO_RESPONSE_CODE, &http);
    sl_buf_add(&s->rest, data, size * count);
    if (http == 200 && !pass_lines(s)) {
        s->stopped = true;
        return 0;
    }
    return size * count;
}

enum sl_code sl_remote_stream(struct sl_remote *r, const char *path, sl_line_fn *line,
                              void *context, struct sl_error *e)
{
    SL_PRE(r != NULL);
    struct sl_buf url = {0};
    struct stream s = {.curl = r->curl, .line = line, .context = context};
    sl_remote_prepare(r, r->curl, path, &url);
    curl_easy_setopt(r->curl, CURLOPT_WRITEFUNCTION, take_stream);
    curl_easy_setopt(r->curl, CURLOPT_WRITEDATA, &s);
    CURLcode failure = curl_easy_perform(r->curl);
    enum sl_code code = SL_CODE_OK;
    if (!s.stopped) {
        code = failure == CURLE_OK ? finish(r, path, &s.rest, NULL, e)
                                   : sl_remote_unreachable(r, failure, e);
    }
    sl_buf_fini(&url);
    sl_buf_fini(&s.rest);
    return code;
}
