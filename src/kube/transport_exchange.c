/* SPDX-License-Identifier: Apache-2.0
 * SPDX-FileCopyrightText: The Sluice authors */

/* One exchange: the options for libcurl, and the answer to the caller. */
#include "base/check.h"
#include "base/mem.h"
#include "kube/credentials_parts.h"
#include "kube/transport_parts.h"
#include <netinet/in.h>
#include <netinet/tcp.h>
#include <string.h>
#include <strings.h>
#include <sys/socket.h>

#define CONNECT_MS_MAX 10000L
/* A server that has vanished is noticed after half a minute, whether we wait or write. */
#define KEEPALIVE_AFTER_S 15L
#define KEEPALIVE_EVERY_S 5L
#define KEEPALIVE_COUNT 3
#define UNACKNOWLEDGED_MS_MAX 30000

static size_t take_data(char *data, size_t size, size_t count, void *context)
{
    struct sl_exchange *x = context;
    size_t len = size * count;
    long status = 0;
    x->heard_ms = uv_now(x->transport->loop);
    x->transport->counters.bytes_in += len;
    if (x->cancelled) {
        return 0;
    }
    curl_easy_getinfo(x->easy, CURLINFO_RESPONSE_CODE, &status);
    if (x->data != NULL && status >= 200 && status < 300) {
        x->data(x->context, data, len);
        return x->cancelled ? 0 : len;
    }
    if (x->answer.len + len > x->answer_max) {
        x->too_large = true;
        return 0;
    }
    sl_buf_add(&x->answer, data, len);
    return len;
}

static size_t take_header(char *data, size_t size, size_t count, void *context)
{
    struct sl_exchange *x = context;
    (void)data;
    x->heard_ms = uv_now(x->transport->loop);
    return size * count;
}

/* Exchanges share connections; the port identifies the connection. */
static int note_connection(void *context, char *remote_ip, char *local_ip, int remote_port,
                           int local_port)
{
    struct sl_exchange *x = context;
    (void)remote_ip;
    (void)local_ip;
    (void)remote_port;
    x->local_port = local_port;
    x->heard_ms = uv_now(x->transport->loop);
    return CURL_PREREQFUNC_OK;
}

static int tune_socket(void *context, curl_socket_t socket, curlsocktype purpose)
{
    const int count = KEEPALIVE_COUNT;
    const unsigned unacknowledged_ms = UNACKNOWLEDGED_MS_MAX;
    struct sl_exchange *x = context;
    (void)purpose;
    x->transport->counters.connections++;
    /* Where the system knows no such thing, a lost server is noticed later. */
    (void)setsockopt(socket, IPPROTO_TCP, TCP_KEEPCNT, &count, sizeof count);
    (void)setsockopt(socket, IPPROTO_TCP, TCP_USER_TIMEOUT, &unacknowledged_ms,
                     sizeof unacknowledged_ms);
    return CURL_SOCKOPT_OK;
}

static void add_header(struct sl_exchange *x, const char *name, const char *value)
{
    struct sl_buf line = {0};
    sl_buf_print(&line, "%s: %s", name, value);
    struct curl_slist *longer = curl_slist_append(x->headers, line.data);
    SL_ASSERT(longer != NULL);
    x->headers = longer;
    sl_buf_fini(&line);
}

static void set_body(struct sl_exchange *x)
{
    if (x->content_type != NULL) {
        add_header(x, "Content-Type", x->content_type);
        curl_easy_setopt(x->easy, CURLOPT_POSTFIELDSIZE_LARGE, (curl_off_t)x->body_len);
        curl_easy_setopt(x->easy, CURLOPT_POSTFIELDS, x->body);
    }
    if (strcmp(x->method, "GET") != 0) {
        curl_easy_setopt(x->easy, CURLOPT_CUSTOMREQUEST, x->method);
    }
}

static void set_connection(struct sl_exchange *x)
{
    CURL *h = x->easy;
    curl_easy_setopt(h, CURLOPT_NOSIGNAL, 1L);
    curl_easy_setopt(h, CURLOPT_PROTOCOLS_STR, "http,https");
    curl_easy_setopt(h, CURLOPT_HTTP_VERSION, (long)CURL_HTTP_VERSION_2TLS);
    /* Where there is HTTP/2: wait for the first connection rather than open many. Without it a request that waits
     * could do so for as long as a watch lasts. */
    bool shares = strncmp(x->transport->base, "https:", 6) == 0;
    curl_easy_setopt(h, CURLOPT_PIPEWAIT, shares ? 1L : 0L);
    curl_easy_setopt(h, CURLOPT_SSLVERSION, (long)CURL_SSLVERSION_TLSv1_2);
    curl_easy_setopt(h, CURLOPT_SSL_VERIFYPEER, 1L);
    curl_easy_setopt(h, CURLOPT_SSL_VERIFYHOST, 2L);
    curl_easy_setopt(h, CURLOPT_CONNECTTIMEOUT_MS, CONNECT_MS_MAX);
    curl_easy_setopt(h, CURLOPT_TCP_KEEPALIVE, 1L);
    curl_easy_setopt(h, CURLOPT_TCP_KEEPIDLE, KEEPALIVE_AFTER_S);
    curl_easy_setopt(h, CURLOPT_TCP_KEEPINTVL, KEEPALIVE_EVERY_S);
    curl_easy_setopt(h, CURLOPT_SOCKOPTFUNCTION, tune_socket);
    curl_easy_setopt(h, CURLOPT_SOCKOPTDATA, x);
    curl_easy_setopt(h, CURLOPT_PREREQFUNCTION, note_connection);
    curl_easy_setopt(h, CURLOPT_PREREQDATA, x);
    if (x->timeout_ms > 0) {
        curl_easy_setopt(h, CURLOPT_TIMEOUT_MS, (long)x->timeout_ms);
    }
    if (x->transport->connect_list != NULL) {
        curl_easy_setopt(h, CURLOPT_CONNECT_TO, x->transport->connect_list);
    }
}

void sl_transport_aim(struct sl_transport *t, const char *server, const char *server_name)
{
    SL_PRE(t != NULL);
    const char *host = strstr(server, "://") + 3;
    struct sl_buf base = {0}, to = {0};
    t->local = sl_credentials_is_local(host, sl_credentials_host_length(host));
    sl_credentials_aim(server, server_name, &base, &to);
    t->base = sl_buf_take(&base);
    if (to.len > 0) {
        t->host = sl_mem_text_n(host, strcspn(host, "/"));
        t->connect_list = curl_slist_append(NULL, to.data);
        SL_ASSERT(t->connect_list != NULL);
    }
    sl_buf_fini(&to);
}

void sl_exchange_setup(struct sl_exchange *x)
{
    SL_PRE(x != NULL);
    struct sl_buf url = {0};
    sl_buf_print(&url, "%s%s", x->transport->base, x->path);
    curl_easy_setopt(x->easy, CURLOPT_URL, url.data);
    sl_buf_fini(&url);
    curl_easy_setopt(x->easy, CURLOPT_PRIVATE, x);
    curl_easy_setopt(x->easy, CURLOPT_ERRORBUFFER, x->why);
    curl_easy_setopt(x->easy, CURLOPT_USERAGENT, x->transport->user_agent);
    curl_easy_setopt(x->easy, CURLOPT_WRITEFUNCTION, take_data);
    curl_easy_setopt(x->easy, CURLOPT_WRITEDATA, x);
    curl_easy_setopt(x->easy, CURLOPT_HEADERFUNCTION, take_header);
    curl_easy_setopt(x->easy, CURLOPT_HEADERDATA, x);
    add_header(x, "Accept", "application/json");
    add_header(x, "Expect", ""); /* no round trip before a body */
    if (x->transport->host != NULL) {
        add_header(x, "Host", x->transport->host);
    }
    set_connection(x);
    set_body(x);
}

/* Copied: the credentials may change theirs before the connection has been made. */
static CURLcode set_blob(CURL *easy, CURLoption option, const char *pem)
{
    struct curl_blob blob = {
        .data = (void *)(uintptr_t)pem, .len = strlen(pem), .flags = CURL_BLOB_COPY};
    return curl_easy_setopt(easy, option, &blob);
}

enum sl_code sl_exchange_sign(struct sl_exchange *x, const struct sl_identity *identity)
{
    SL_PRE(identity != NULL);
    CURLcode result = CURLE_OK;
    if (identity->ca != NULL) {
        result = set_blob(x->easy, CURLOPT_CAINFO_BLOB, identity->ca);
    }
    if (result == CURLE_OK && identity->client_certificate != NULL) {
        result = set_blob(x->easy, CURLOPT_SSLCERT_BLOB, identity->client_certificate);
    }
    if (result == CURLE_OK && identity->client_key != NULL) {
        result = set_blob(x->easy, CURLOPT_SSLKEY_BLOB, identity->client_key);
    }
    if (identity->token != NULL) {
        struct sl_buf bearer = {0};
        sl_buf_print(&bearer, "Bearer %s", identity->token);
        add_header(x, "Authorization", bearer.data);
        sl_buf_fini(&bearer);
    } else if (identity->username != NULL) {
        curl_easy_setopt(x->easy, CURLOPT_HTTPAUTH, (long)CURLAUTH_BASIC);
        curl_easy_setopt(x->easy, CURLOPT_USERNAME, identity->username);
        curl_easy_setopt(x->easy, CURLOPT_PASSWORD,
                         identity->password == NULL ? "" : identity->password);
    }
    if (identity->proxy != NULL || x->transport->local) {
        curl_easy_setopt(x->easy, CURLOPT_PROXY, identity->proxy == NULL ? "" : identity->proxy);
    }
    curl_easy_setopt(x->easy, CURLOPT_HTTPHEADER, x->headers);
    return result == CURLE_OK ? SL_CODE_OK : SL_CODE_UNAVAILABLE;
}

static enum sl_code code_of(int status, const struct sl_buf *answer)
{
    struct sl_json *v = status != 409 || answer->len == 0
                            ? NULL
                            : sl_json_parse_received(answer->data, answer->len, NULL);
    enum sl_code code = sl_code_of_http(status, sl_json_path_text(v, "reason", ""));
    sl_json_free(v);
    return code;
}

static bool is_about_certificates(CURLcode result)
{
    return result == CURLE_PEER_FAILED_VERIFICATION || result == CURLE_SSL_CACERT_BADFILE ||
           result == CURLE_SSL_ISSUER_ERROR;
}

static void say_why(const struct sl_exchange *x, CURLcode result, struct sl_buf *out)
{
    const char *server = sl_credentials_server(x->transport->credentials);
    const char *words = x->why[0] != '\0' ? x->why : curl_easy_strerror(result);
    if (x->refusal != NULL) {
        sl_buf_text(out, x->refusal);
    } else if (x->too_large) {
        sl_buf_print(out, "%s: the answer is larger than %zu bytes", server, x->answer_max);
    } else if (x->idle) {
        sl_buf_print(out, "%s: nothing came for %lld s", server, (long long)x->idle_ms / 1000);
    } else if (result == CURLE_OPERATION_TIMEDOUT && x->local_port != 0) {
        sl_buf_print(out, "%s: no answer within %lld ms", server, (long long)x->timeout_ms);
    } else if (is_about_certificates(result)) {
        sl_buf_print(out, "the certificate of %s is not trusted: %s", server, words);
    } else if (x->local_port == 0) {
        sl_buf_print(out, "cannot reach %s: %s", server, words);
    } else {
        sl_buf_print(out, "the connection to %s broke: %s", server, words);
    }
}

static void note_answer(const struct sl_exchange *x, const struct sl_response *r)
{
    struct sl_transport *t = x->transport;
    t->counters.failures += r->status == 0;
    if (r->status == 401 && x->generation == t->generation) {
        t->rejected = true;
    }
}

/* An hour would be an hour without knowing what happens, long after the server is well again. */
static int64_t retry_ms_of(curl_off_t retry_s)
{
    return retry_s < 0                              ? 0
           : retry_s > SL_RETRY_AFTER_MS_MAX / 1000 ? SL_RETRY_AFTER_MS_MAX
                                                    : (int64_t)retry_s * 1000;
}

void sl_exchange_finish(struct sl_exchange *x, CURLcode result)
{
    struct sl_response r = {.code = SL_CODE_UNAVAILABLE};
    struct sl_buf why = {0};
    long status = 0;
    if (result == CURLE_OK && !x->idle && x->refusal == NULL) {
        curl_off_t retry_s = 0;
        curl_easy_getinfo(x->easy, CURLINFO_RESPONSE_CODE, &status);
        curl_easy_getinfo(x->easy, CURLINFO_RETRY_AFTER, &retry_s);
        r.status = (int)status;
        r.retry_ms = retry_ms_of(retry_s);
        bool ok = status >= 200 && status < 300;
        r.code = ok ? SL_CODE_OK : code_of((int)status, &x->answer);
    } else {
        say_why(x, result, &why);
        r.reason = why.data;
        r.code = x->too_large ? SL_CODE_TOO_LARGE : SL_CODE_UNAVAILABLE;
    }
    r.body = x->answer.data == NULL ? "" : x->answer.data;
    r.body_len = x->answer.len;
    note_answer(x, &r);
    x->done(x->context, &r);
    sl_buf_fini(&why);
    sl_exchange_free(x);
}

void sl_exchange_free(struct sl_exchange *x)
{
    SL_PRE(x != NULL);
    curl_slist_free_all(x->headers);
    if (x->easy != NULL) {
        curl_easy_cleanup(x->easy);
    }
    sl_buf_fini(&x->answer);
    sl_mem_free(x->path);
    sl_mem_free(x->body);
    sl_mem_free(x->content_type);
    sl_mem_free(x->refusal);
    sl_mem_free(x);
}
