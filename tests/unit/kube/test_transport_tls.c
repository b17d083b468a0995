/* SPDX-License-Identifier: Apache-2.0
 * SPDX-FileCopyrightText: The Sluice authors */

/* src/kube/transport*.c over TLS: whom it trusts, and whom it does not. The server is openssl's, with a certificate
 * for the name api.test that it has signed itself. */
#include "web.h"
#include <signal.h>
#include <sys/wait.h>
#include <unistd.h>

static struct web_files files;
static pid_t server;
static int port;

static void run(const char *format, const char *name)
{
    char command[512], script[400];
    (void)snprintf(script, sizeof script, format, name, name);
    (void)snprintf(command, sizeof command, "cd %s && %s 2>/dev/null", files.dir, script);
    assert_int_equal(system(command), 0);
}

static void make_certificate(const char *name)
{
    run("openssl req -x509 -newkey ec -pkeyopt ec_paramgen_curve:prime256v1 -nodes -days 2 -subj "
        "/CN=x "
        "-addext subjectAltName=DNS:api.test -keyout %s.key -out %s.crt",
        name);
}

/* openssl says where it listens: "ACCEPT 127.0.0.1:PORT". */
static int read_port(int fd)
{
    char text[512] = "";
    size_t len = 0;
    const char *at = NULL;
    while (at == NULL || strchr(at, '\n') == NULL) {
        ssize_t got = read(fd, text + len, sizeof text - 1 - len);
        assert_true(got > 0);
        len += (size_t)got;
        text[len] = '\0';
        at = strstr(text, "ACCEPT ");
    }
    const char *colon = strrchr(at, ':');
    assert_non_null(colon);
    return atoi(colon + 1);
}

static int start_server(void **state)
{
    int ends[2];
    (void)state;
    web_make_dir(&files);
    make_certificate("server");
    make_certificate("other");
    assert_int_equal(pipe(ends), 0);
    server = fork();
    if (server == 0) {
        (void)dup2(ends[1], 1);
        if (chdir(files.dir) == 0) {
            execlp("openssl", "openssl", "s_server", "-accept", "127.0.0.1:0", "-cert",
                   "server.crt", "-key", "server.key", "-www", (char *)NULL);
        }
        _exit(1);
    }
    close(ends[1]);
    port = read_port(ends[0]);
    return 0; /* the pipe stays open: what openssl prints must not end it */
}

static int stop_server(void **state)
{
    (void)state;
    (void)kill(server, SIGKILL);
    (void)waitpid(server, NULL, 0);
    web_remove_dir(&files);
    return 0;
}

struct asked {
    bool done;
    int status;
    char reason[256];
};

static void on_done(void *context, const struct sl_response *r)
{
    struct asked *a = context;
    a->done = true;
    a->status = r->status;
    (void)snprintf(a->reason, sizeof a->reason, "%s", r->reason == NULL ? "" : r->reason);
}

/* One request with this cluster's fields. */
static struct asked ask(const char *cluster)
{
    char text[512];
    struct asked a = {0};
    struct web w = {0};
    struct sl_credentials *c = NULL;
    struct sl_error e = {0};
    const struct sl_request r = {.method = "GET", .path = "/api", .timeout_ms = 5000};
    (void)snprintf(text, sizeof text,
                   "clusters: [{name: c, cluster: {server: 'https://127.0.0.1:%d', %s}}]\n"
                   "contexts: [{name: x, context: {cluster: c}}]\ncurrent-context: x\n",
                   port, cluster);
    web_put(&files, "config", text);
    if (sl_credentials_from_file(files.path, NULL, &c, &e) != SL_CODE_OK) {
        fail_msg("%s", e.text);
    }
    web_open(&w);
    struct sl_transport *t = sl_transport_new(&w.loop, c, "test");
    (void)sl_transport_send(t, &r, NULL, on_done, &a);
    assert_true(web_run_until(&w, &a.done, 8000));
    sl_transport_free(t);
    web_close(&w);
    sl_credentials_free(c);
    return a;
}

static void test_transport_trusts_its_authority_under_the_name_it_expects(void **state)
{
    (void)state;
    struct asked a = ask("certificate-authority: server.crt, tls-server-name: api.test");
    assert_string_equal(a.reason, "");
    assert_int_equal(a.status, 200);
}

static void assert_refused(struct asked a)
{
    assert_int_equal(a.status, 0);
    if (strstr(a.reason, "the certificate of https://127.0.0.1:") == NULL ||
        strstr(a.reason, " is not trusted: ") == NULL) {
        fail_msg("%s", a.reason);
    }
}

static void test_transport_refuses_a_certificate_for_another_name(void **state)
{
    (void)state;
    assert_refused(ask("certificate-authority: server.crt"));
    assert_refused(ask("certificate-authority: server.crt, tls-server-name: other.test"));
}

static void test_transport_refuses_an_unknown_authority(void **state)
{
    (void)state;
    assert_refused(ask("certificate-authority: other.crt, tls-server-name: api.test"));
    assert_refused(ask("tls-server-name: api.test")); /* the system's */
}

static void test_transport_unusable_authority_refuses_the_request(void **state)
{
    (void)state;
    web_put(&files, "broken.crt", "-----BEGIN CERTIFICATE-----\nMA==\n-----END CERTIFICATE-----\n");
    struct asked a = ask("certificate-authority: broken.crt, tls-server-name: api.test");
    assert_int_equal(a.status, 0);
    assert_string_not_equal(a.reason, "");
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_transport_trusts_its_authority_under_the_name_it_expects),
        cmocka_unit_test(test_transport_refuses_a_certificate_for_another_name),
        cmocka_unit_test(test_transport_refuses_an_unknown_authority),
        cmocka_unit_test(test_transport_unusable_authority_refuses_the_request)};
    return cmocka_run_group_tests(tests, start_server, stop_server);
}
