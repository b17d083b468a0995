/* SPDX-License-Identifier: Apache-2.0
 * SPDX-FileCopyrightText: The Sluice authors */

/* The server with TLS and a guard, over real sockets: its certificates, what the guard is told of a client, and
 * requests that wait for it. The server runs on a thread of its own. */
#include <arpa/inet.h>
#include <pthread.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <unistd.h>

#include <cmocka.h>

#include "base/clock.h"
#include "pki.h"
#include "server/front_proxy.h"
#include "server/server.h"
#include "server/suites.h"
#include "server/tls.h"

struct fixture {
    char dir[64];
    uv_loop_t loop;
    uv_async_t stop;
    uv_timer_t timer;
    struct sl_server *server;
    struct sl_tls *tls;
    pthread_t thread;
    bool running;
    _Atomic unsigned asked; /* by the server, of its guard */
    unsigned chain_len;     /* of the last one asked about */
    char seen[64];          /* the header X-Remote-User */
    struct sl_error e;
    struct sl_buf answer;
    char shown[4096]; /* the server's certificate as the client got it, PEM */
};

static void serve_page(void *context, const char *path, const char *query,
                       struct sl_server_page *page)
{
    (void)context;
    (void)query;
    sl_buf_print(&page->body, "page %s", path);
}

static void see_header(void *context, const char *name, const char *value)
{
    struct fixture *f = context;
    if (strcasecmp(name, "X-Remote-User") == 0) {
        (void)snprintf(f->seen, sizeof f->seen, "%s", value);
    }
}

static void ask_again(uv_timer_t *timer)
{
    struct fixture *f = timer->data;
    sl_server_ask_again(f->server);
}

/* wait has to ask twice, never gets no answer, no is refused. */
static enum sl_verdict ask(void *context, const struct sl_call *call, struct sl_error *e)
{
    struct fixture *f = context;
    f->asked++;
    f->chain_len = call->chain_len;
    call->each_header(call, see_header, f);
    if (strcmp(call->path, "/page/no") == 0) {
        (void)sl_error_set(e, SL_CODE_FORBIDDEN, "%s of %s is forbidden", call->method, call->path);
        return SL_VERDICT_REFUSE;
    }
    if (strcmp(call->path, "/page/never") == 0) {
        return SL_VERDICT_WAIT;
    }
    if (strcmp(call->path, "/page/wait") == 0 && f->asked == 1) {
        uv_timer_start(&f->timer, ask_again, 20, 0);
        return SL_VERDICT_WAIT;
    }
    return SL_VERDICT_PASS;
}

static void on_stop(uv_async_t *async)
{
    struct fixture *f = async->data;
    sl_server_stop(f->server);
    uv_close((uv_handle_t *)&f->timer, NULL);
    uv_close((uv_handle_t *)async, NULL);
}

static void *run_loop(void *context)
{
    struct fixture *f = context;
    (void)uv_run(&f->loop, UV_RUN_DEFAULT);
    return NULL;
}

static void start(struct fixture *f)
{
    const struct sl_server_hook hook = {"/page/", serve_page, NULL};
    const struct sl_server_options o = {
        .listen = "127.0.0.1:0", .hooks = &hook, .hook_count = 1, .tls = f->tls, .guard = {ask, f}};
    assert_int_equal(sl_server_start(&f->loop, NULL, &o, &f->server, &f->e), SL_CODE_OK);
    assert_int_equal(uv_async_init(&f->loop, &f->stop, on_stop), 0);
    uv_timer_init(&f->loop, &f->timer);
    f->stop.data = f->timer.data = f;
    assert_int_equal(pthread_create(&f->thread, NULL, run_loop, f), 0);
    f->running = true;
}

static int setup(void **state)
{
    struct fixture *f = sl_mem_new(1, sizeof *f);
    (void)snprintf(f->dir, sizeof f->dir, "/tmp/sluice-test-XXXXXX");
    assert_non_null(mkdtemp(f->dir));
    assert_int_equal(uv_loop_init(&f->loop), 0);
    *state = f;
    return 0;
}

static void stop(struct fixture *f)
{
    if (f->running) {
        f->running = false;
        assert_int_equal(uv_async_send(&f->stop), 0);
        assert_int_equal(pthread_join(f->thread, NULL), 0);
    }
}

static int teardown(void **state)
{
    struct fixture *f = *state;
    char path[128];
    stop(f);
    assert_int_equal(uv_loop_close(&f->loop), 0);
    sl_tls_free(f->tls);
    sl_buf_fini(&f->answer);
    (void)snprintf(path, sizeof path, "%s/tls.crt", f->dir);
    (void)unlink(path);
    (void)snprintf(path, sizeof path, "%s/tls.key", f->dir);
    (void)unlink(path);
    (void)rmdir(f->dir);
    sl_mem_free(f);
    return 0;
}

/* --- a client -------------------------------------------------------------------------------- */

struct client {
    gnutls_session_t session;
    gnutls_certificate_credentials_t credentials;
    int fd;
};

static int connect_plain(const struct fixture *f)
{
    const struct timeval patience = {.tv_sec = 20};
    const struct sockaddr_in a = {.sin_family = AF_INET,
                                  .sin_port = htons((uint16_t)sl_server_port(f->server)),
                                  .sin_addr.s_addr = htonl(INADDR_LOOPBACK)};
    int fd = socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0);
    assert_int_equal(setsockopt(fd, SOL_SOCKET, SO_RCVTIMEO, &patience, sizeof patience), 0);
    assert_int_equal(connect(fd, (const struct sockaddr *)(const void *)&a, sizeof a), 0);
    return fd;
}

static void keep_shown(struct fixture *f, gnutls_session_t session)
{
    unsigned len = 0;
    size_t size = sizeof f->shown - 1;
    gnutls_x509_crt_t crt;
    const gnutls_datum_t *chain = gnutls_certificate_get_peers(session, &len);
    assert_true(len > 0);
    assert_true(gnutls_x509_crt_init(&crt) >= 0);
    assert_true(gnutls_x509_crt_import(crt, &chain[0], GNUTLS_X509_FMT_DER) >= 0);
    assert_true(gnutls_x509_crt_export(crt, GNUTLS_X509_FMT_PEM, f->shown, &size) >= 0);
    f->shown[size] = '\0';
    assert_true(gnutls_x509_crt_check_hostname(crt, "localhost"));
    gnutls_x509_crt_deinit(crt);
}

/* A failed handshake: what it failed with. */
static int dial(struct fixture *f, struct client *c, const struct pki *certificate,
                const char *priorities)
{
    int rc;
    c->fd = connect_plain(f);
    assert_true(gnutls_init(&c->session, GNUTLS_CLIENT) >= 0);
    assert_true(gnutls_certificate_allocate_credentials(&c->credentials) >= 0);
    if (certificate != NULL) {
        const gnutls_datum_t crt = {(unsigned char *)(uintptr_t)certificate->certificate_pem,
                                    (unsigned)strlen(certificate->certificate_pem)};
        const gnutls_datum_t key = {(unsigned char *)(uintptr_t)certificate->key_pem,
                                    (unsigned)strlen(certificate->key_pem)};
        assert_true(gnutls_certificate_set_x509_key_mem(c->credentials, &crt, &key,
                                                        GNUTLS_X509_FMT_PEM) >= 0);
    }
    assert_true(gnutls_priority_set_direct(c->session, priorities, NULL) >= 0);
    assert_true(gnutls_credentials_set(c->session, GNUTLS_CRD_CERTIFICATE, c->credentials) >= 0);
    gnutls_transport_set_int(c->session, c->fd);
    do {
        rc = gnutls_handshake(c->session);
    } while (rc < 0 && gnutls_error_is_fatal(rc) == 0);
    if (rc >= 0) {
        keep_shown(f, c->session);
    }
    return rc;
}

static void hang_up(struct client *c)
{
    gnutls_deinit(c->session);
    gnutls_certificate_free_credentials(c->credentials);
    close(c->fd);
}

/* Reads until `mark` has come. */
static void request(struct fixture *f, struct client *c, const char *text, const char *mark)
{
    char piece[4096];
    assert_int_equal(gnutls_record_send(c->session, text, strlen(text)), (int)strlen(text));
    sl_buf_reset(&f->answer);
    do {
        ssize_t n = gnutls_record_recv(c->session, piece, sizeof piece);
        if (n <= 0 && n != GNUTLS_E_INTERRUPTED && n != GNUTLS_E_AGAIN) {
            fail_msg("\"%s\" did not come, but \"%s\" (%d)", mark,
                     f->answer.data != NULL ? f->answer.data : "", (int)n);
        }
        if (n > 0) {
            sl_buf_add(&f->answer, piece, (size_t)n);
        }
    } while (f->answer.data == NULL || strstr(f->answer.data, mark) == NULL);
}

#define GET(path) "GET " path " HTTP/1.1\r\nHost: localhost\r\nX-Remote-User: jane\r\n\r\n"

static void open_own(struct fixture *f)
{
    assert_int_equal(sl_tls_open(NULL, "visibility.svc", &f->tls, &f->e), SL_CODE_OK);
    start(f);
}

/* --- tests ----------------------------------------------------------------------------------- */

static void test_tls_serves_with_a_certificate_of_its_own(void **state)
{
    struct fixture *f = *state;
    struct client c;
    open_own(f);
    assert_true(dial(f, &c, NULL, "NORMAL") >= 0);
    request(f, &c, GET("/page/one"), "page /page/one");
    request(f, &c, GET("/page/two"), "page /page/two"); /* on the same connection */
    assert_string_equal(f->shown, sl_tls_certificate(f->tls));
    assert_int_equal(f->chain_len, 0);
    assert_string_equal(f->seen, "jane");
    hang_up(&c);
}

static void test_tls_client_certificate_reaches_the_guard_whoever_signed_it(void **state)
{
    struct fixture *f = *state;
    struct client c;
    struct pki *client = pki_new((struct pki_wish){.name = "somebody"}, NULL);
    open_own(f);
    assert_true(dial(f, &c, client, "NORMAL") >= 0);
    request(f, &c, GET("/page/one"), "page /page/one");
    assert_int_equal(f->chain_len, 1);
    hang_up(&c);
    assert_true(dial(f, &c, client, "NORMAL:-VERS-ALL:+VERS-TLS1.2") >= 0);
    request(f, &c, GET("/page/one"), "page /page/one");
    assert_int_equal(f->chain_len, 1);
    hang_up(&c);
    pki_free(client);
}

static void test_tls_old_versions_and_plain_http_are_not_spoken(void **state)
{
    struct fixture *f = *state;
    struct client c;
    char byte;
    open_own(f);
    assert_true(dial(f, &c, NULL, "NORMAL:-VERS-ALL:+VERS-TLS1.1:+VERS-TLS1.0:%COMPAT") < 0);
    hang_up(&c);
    int fd = connect_plain(f);
    assert_true(write(fd, GET("/healthz"), strlen(GET("/healthz"))) > 0);
    ssize_t n = recv(fd, &byte, 1, 0);
    assert_true(n <= 0 || byte != 'H');
    close(fd);
}

static void test_tls_12_is_not_spoken_where_13_is_required(void **state)
{
    struct fixture *f = *state;
    struct client c;
    assert_int_equal(sl_tls_open(NULL, "visibility.svc", &f->tls, &f->e), SL_CODE_OK);
    sl_tls_choose(f->tls, &(struct sl_tls_choice){.only_13 = true});
    start(f);
    assert_true(dial(f, &c, NULL, "NORMAL:-VERS-ALL:+VERS-TLS1.2") < 0);
    hang_up(&c);
    assert_true(dial(f, &c, NULL, "NORMAL") >= 0);
    request(f, &c, GET("/page/one"), "page /page/one");
    hang_up(&c);
}

/* Of what the client offers with TLS 1.2 only a suite that was chosen is spoken; with TLS 1.3 any. */
static void test_tls_12_is_spoken_with_the_suites_that_are_chosen(void **state)
{
    struct fixture *f = *state;
    struct client c;
    static const char *const chosen[] = {"TLS_ECDHE_ECDSA_WITH_AES_256_GCM_SHA384",
                                         "TLS_ECDHE_ECDSA_WITH_AES_128_CBC_SHA256",
                                         "TLS_ECDHE_RSA_WITH_CHACHA20_POLY1305_SHA256"};
#define OLD "NORMAL:-VERS-ALL:+VERS-TLS1.2:-CIPHER-ALL:-MAC-ALL"
    static const struct {
        const char *offer;
        bool spoken;
    } rows[] = {{OLD ":+AES-256-GCM:+AEAD", true},
                {OLD ":+AES-128-GCM:+AEAD", false},
                {OLD ":+AES-128-GCM:+AES-256-GCM:+AEAD", true},
                {OLD ":+AES-128-CBC:+SHA256", true},
                {OLD ":+AES-128-CBC:+SHA1", false},
                {OLD ":+AES-256-CBC:+SHA256:+SHA384:+SHA1", false},
                {OLD ":+CHACHA20-POLY1305:+AEAD", false}, /* GnuTLS alone would combine it */
                {"NORMAL:-VERS-ALL:+VERS-TLS1.3:-CIPHER-ALL:+AES-128-GCM", true},
                {"NORMAL", true}};
    assert_int_equal(sl_tls_open(NULL, "visibility.svc", &f->tls, &f->e), SL_CODE_OK);
    sl_tls_choose(f->tls, &(struct sl_tls_choice){.suites = chosen,
                                                  .suite_count = sizeof chosen / sizeof chosen[0]});
    start(f);
    for (size_t i = 0; i < sizeof rows / sizeof rows[0]; i++) {
        bool spoken = dial(f, &c, NULL, rows[i].offer) >= 0;
        if (spoken != rows[i].spoken) {
            fail_msg("%s: %d", rows[i].offer, spoken);
        }
        if (spoken) {
            request(f, &c, GET("/page/one"), "page /page/one");
        }
        hang_up(&c);
    }
}

static void test_tls_12_is_not_spoken_where_no_chosen_suite_can_be(void **state)
{
    struct fixture *f = *state;
    struct client c;
    static const char *const weak[] = {"TLS_RSA_WITH_RC4_128_SHA"};
    assert_false(sl_suites_can_speak(weak[0]));
    assert_true(sl_suites_can_speak("TLS_RSA_WITH_AES_128_CBC_SHA"));
    assert_int_equal(sl_tls_open(NULL, "visibility.svc", &f->tls, &f->e), SL_CODE_OK);
    sl_tls_choose(f->tls, &(struct sl_tls_choice){.suites = weak, .suite_count = 1});
    start(f);
    assert_true(dial(f, &c, NULL, "NORMAL:-VERS-ALL:+VERS-TLS1.2") < 0);
    hang_up(&c);
    assert_true(dial(f, &c, NULL, "NORMAL") >= 0);
    hang_up(&c);
}

static void assert_curves(struct fixture *f, size_t suite_count)
{
    static const uint16_t chosen[] = {24, 29};
    static const char *const suites[] = {"TLS_ECDHE_ECDSA_WITH_AES_128_GCM_SHA256"};
    static const struct {
        const char *offer;
        bool spoken;
    } rows[] = {{"NORMAL:-GROUP-ALL:+GROUP-X25519", true},
                {"NORMAL:-GROUP-ALL:+GROUP-SECP256R1", false},
                {"NORMAL:-VERS-ALL:+VERS-TLS1.2:-GROUP-ALL:+GROUP-SECP384R1", true},
                {"NORMAL:-VERS-ALL:+VERS-TLS1.2:-GROUP-ALL:+GROUP-SECP521R1", false},
                {"NORMAL", true}};
    struct client c;
    assert_int_equal(sl_tls_open(NULL, "visibility.svc", &f->tls, &f->e), SL_CODE_OK);
    sl_tls_choose(f->tls, &(struct sl_tls_choice){.suites = suites,
                                                  .suite_count = suite_count,
                                                  .curves = chosen,
                                                  .curve_count = 2});
    start(f);
    for (size_t i = 0; i < sizeof rows / sizeof rows[0]; i++) {
        bool spoken = dial(f, &c, NULL, rows[i].offer) >= 0;
        if (spoken != rows[i].spoken) {
            fail_msg("%s: %d", rows[i].offer, spoken);
        }
        hang_up(&c);
    }
}

static void test_tls_keys_are_agreed_on_with_the_curves_that_are_chosen(void **state)
{
    assert_curves(*state, 0);
}

static void test_tls_curves_are_chosen_beside_suites(void **state)
{
    assert_curves(*state, 1);
}

static void test_tls_guard_refuses_with_a_status(void **state)
{
    struct fixture *f = *state;
    struct client c;
    open_own(f);
    assert_true(dial(f, &c, NULL, "NORMAL") >= 0);
    request(f, &c, GET("/page/no"), "\"code\":403");
    assert_non_null(strstr(f->answer.data, "HTTP/1.1 403"));
    assert_non_null(strstr(f->answer.data, "GET of /page/no is forbidden"));
    request(f, &c, GET("/page/yes"), "page /page/yes");
    hang_up(&c);
}

static void test_tls_request_waits_until_the_guard_knows(void **state)
{
    struct fixture *f = *state;
    struct client c;
    open_own(f);
    assert_true(dial(f, &c, NULL, "NORMAL") >= 0);
    request(f, &c, GET("/page/wait"), "page /page/wait");
    assert_int_equal(f->asked, 2);
    hang_up(&c);
}

static void test_tls_server_stops_while_a_request_waits(void **state)
{
    struct fixture *f = *state;
    struct client c;
    open_own(f);
    assert_true(dial(f, &c, NULL, "NORMAL") >= 0);
    assert_true(gnutls_record_send(c.session, GET("/page/never"), strlen(GET("/page/never"))) > 0);
    while (f->asked == 0) {
        usleep(1000);
    }
    stop(f);
    hang_up(&c);
}

static void test_tls_health_needs_no_guard(void **state)
{
    struct fixture *f = *state;
    struct client c;
    open_own(f);
    assert_true(dial(f, &c, NULL, "NORMAL") >= 0);
    request(f, &c, GET("/healthz"), "ok");
    request(f, &c, GET("/readyz"), "ok");
    assert_int_equal(f->asked, 0);
    request(f, &c, GET("/page/x"), "page /page/x");
    assert_int_equal(f->asked, 1);
    hang_up(&c);
}

static void test_tls_files_that_change_are_read_again(void **state)
{
    struct fixture *f = *state;
    struct client old, c;
    struct pki *first = pki_new((struct pki_wish){.name = "first"}, NULL);
    struct pki *second = pki_new((struct pki_wish){.name = "second"}, NULL);
    int64_t now_ms = sl_clock_now_ms();
    sl_clock_set_virtual(now_ms);
    pki_write(f->dir, "tls.crt", first->certificate_pem);
    pki_write(f->dir, "tls.key", first->key_pem);
    assert_int_equal(sl_tls_open(f->dir, "x", &f->tls, &f->e), SL_CODE_OK);
    start(f);
    assert_true(dial(f, &old, NULL, "NORMAL") >= 0);
    assert_string_equal(f->shown, first->certificate_pem);
    pki_write(f->dir, "tls.crt", second->certificate_pem); /* the key is still the other one's */
    sl_clock_set_virtual(now_ms += 1000);
    assert_true(dial(f, &c, NULL, "NORMAL") >= 0);
    assert_string_equal(f->shown, first->certificate_pem);
    hang_up(&c);
    pki_write(f->dir, "tls.key", second->key_pem);
    assert_true(dial(f, &c, NULL, "NORMAL") >= 0);
    assert_string_equal(f->shown, first->certificate_pem); /* not looked at that often */
    hang_up(&c);
    sl_clock_set_virtual(now_ms + 1000);
    assert_true(dial(f, &c, NULL, "NORMAL") >= 0);
    assert_string_equal(f->shown, second->certificate_pem);
    request(f, &old, GET("/page/old"), "page /page/old"); /* goes on as it began */
    hang_up(&old);
    hang_up(&c);
    stop(f);
    pki_free(first);
    pki_free(second);
}

static void test_tls_files_that_make_no_sense_are_named(void **state)
{
    struct fixture *f = *state;
    struct pki *one = pki_new((struct pki_wish){.name = "one"}, NULL);
    struct pki *two = pki_new((struct pki_wish){.name = "two"}, NULL);
    assert_int_equal(sl_tls_open(f->dir, "x", &f->tls, &f->e), SL_CODE_BAD_REQUEST);
    assert_non_null(strstr(f->e.text, "/tls.crt cannot be read: No such file"));
    pki_write(f->dir, "tls.crt", one->certificate_pem);
    pki_write(f->dir, "tls.key", "");
    assert_int_equal(sl_tls_open(f->dir, "x", &f->tls, &f->e), SL_CODE_BAD_REQUEST);
    assert_non_null(strstr(f->e.text, "/tls.key is empty"));
    pki_write(f->dir, "tls.key", two->key_pem);
    assert_int_equal(sl_tls_open(f->dir, "x", &f->tls, &f->e), SL_CODE_BAD_REQUEST);
    assert_non_null(strstr(f->e.text, "the certificate and its key"));
    assert_null(f->tls);
    pki_free(one);
    pki_free(two);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
#define TEST(name) cmocka_unit_test_setup_teardown(name, setup, teardown)
        TEST(test_tls_serves_with_a_certificate_of_its_own),
        TEST(test_tls_client_certificate_reaches_the_guard_whoever_signed_it),
        TEST(test_tls_old_versions_and_plain_http_are_not_spoken),
        TEST(test_tls_12_is_not_spoken_where_13_is_required),
        TEST(test_tls_12_is_spoken_with_the_suites_that_are_chosen),
        TEST(test_tls_12_is_not_spoken_where_no_chosen_suite_can_be),
        TEST(test_tls_keys_are_agreed_on_with_the_curves_that_are_chosen),
        TEST(test_tls_curves_are_chosen_beside_suites),
        TEST(test_tls_guard_refuses_with_a_status),
        TEST(test_tls_request_waits_until_the_guard_knows),
        TEST(test_tls_server_stops_while_a_request_waits),
        TEST(test_tls_health_needs_no_guard),
        TEST(test_tls_files_that_change_are_read_again), /* the clock stands still from here on */
        TEST(test_tls_files_that_make_no_sense_are_named),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
