/* SPDX-License-Identifier: Apache-2.0
 * SPDX-FileCopyrightText: The Sluice authors */

/* src/kube/transport*.c with a server (or a proxy before it) that speaks TLS but only HTTP/1.1, with and without
 * telling so while the connection is made: requests wait for no other's answer, and not for a watch that goes on. */
#include "web.h"
#include <signal.h>
#include <sys/wait.h>
#include <unistd.h>

#define WATCHES 4
#define CALLS 6
#define SLOW_MS 400 /* what the server takes for a call */

/* Each connection has a thread; /watch says one thing and goes on. */
static const char script[] =
    "import socketserver, ssl, sys, threading, time\n"
    "class H(socketserver.StreamRequestHandler):\n"
    "    def handle(self):\n"
    "        while True:\n"
    "            line = self.rfile.readline()\n"
    "            if not line: return\n"
    "            while self.rfile.readline() not in (b'\\r\\n', b''): pass\n"
    "            if b'/watch' in line:\n"
    "                self.wfile.write(b'HTTP/1.1 200 OK\\r\\nTransfer-Encoding: chunked\\r\\n\\r\\n"
    "2\\r\\nhi\\r\\n')\n"
    "                time.sleep(30)\n"
    "            else:\n"
    "                time.sleep(0.4)\n"
    "                self.wfile.write(b'HTTP/1.1 200 OK\\r\\nContent-Length: 2\\r\\n\\r\\nok')\n"
    "class S(socketserver.ThreadingTCPServer):\n"
    "    daemon_threads = True\n"
    "    request_queue_size = 64\n"
    "    def finish_request(self, sock, at):\n"
    "        try: super().finish_request(c.wrap_socket(sock, server_side=True), at)\n"
    "        except (OSError, ssl.SSLError): pass\n"
    "c = ssl.SSLContext(ssl.PROTOCOL_TLS_SERVER)\n"
    "c.load_cert_chain('server.crt', 'server.key')\n"
    "if sys.argv[1] == 'alpn': c.set_alpn_protocols(['http/1.1'])\n"
    "s = S(('127.0.0.1', 0), H)\n"
    "print(s.server_address[1], flush=True)\n"
    "s.serve_forever()\n";

struct server {
    struct web_files files;
    pid_t pid;
    int port;
};

static void begin(struct server *s, const char *mode)
{
    int ends[2];
    char text[512] = "";
    web_make_dir(&s->files);
    (void)snprintf(text, sizeof text,
                   "cd %s && openssl req -x509 -newkey ec -pkeyopt ec_paramgen_curve:prime256v1"
                   " -nodes -days 2 -subj /CN=x -addext subjectAltName=IP:127.0.0.1"
                   " -keyout server.key -out server.crt 2>/dev/null",
                   s->files.dir);
    assert_int_equal(system(text), 0);
    assert_int_equal(pipe(ends), 0);
    s->pid = fork();
    if (s->pid == 0) {
        (void)dup2(ends[1], 1);
        if (chdir(s->files.dir) == 0) {
            execlp("python3", "python3", "-c", script, mode, (char *)NULL);
        }
        _exit(1);
    }
    close(ends[1]);
    assert_true(read(ends[0], text, sizeof text - 1) > 0);
    close(ends[0]);
    s->port = atoi(text);
    assert_true(s->port > 0);
}

static void end(struct server *s)
{
    (void)kill(s->pid, SIGKILL);
    (void)waitpid(s->pid, NULL, 0);
    web_remove_dir(&s->files);
}

struct seen {
    unsigned heard, answered, failed;
    bool all;
};

static void look(struct seen *s)
{
    s->all = s->heard >= WATCHES && s->answered >= CALLS;
}

static void on_data(void *context, const char *bytes, size_t n)
{
    struct seen *s = context;
    s->heard += n == 2 && memcmp(bytes, "hi", 2) == 0;
    look(s);
}

static void on_done(void *context, const struct sl_response *r)
{
    struct seen *s = context;
    s->answered += r->status == 200;
    s->failed += r->status != 200;
    look(s);
}

/* Watches and calls at once, then calls again while the watches go on. */
static void play(const char *mode)
{
    struct server s = {.pid = 0};
    struct web w = {0};
    struct seen seen = {0};
    struct sl_credentials *c = NULL;
    struct sl_error e = {0};
    char text[512];
    begin(&s, mode);
    (void)snprintf(text, sizeof text,
                   "clusters: [{name: c, cluster: {server: 'https://127.0.0.1:%d',"
                   " certificate-authority: server.crt}}]\n"
                   "contexts: [{name: x, context: {cluster: c}}]\ncurrent-context: x\n",
                   s.port);
    web_put(&s.files, "config", text);
    assert_int_equal(sl_credentials_from_file(s.files.path, NULL, &c, &e), SL_CODE_OK);
    web_open(&w);
    struct sl_transport *t = sl_transport_new(&w.loop, c, "test");
    const struct sl_request watch = {.method = "GET", .path = "/watch", .idle_ms = 60000};
    const struct sl_request call = {.method = "GET", .path = "/call", .timeout_ms = 20000};
    for (unsigned i = 0; i < WATCHES; i++) {
        (void)sl_transport_send(t, &watch, on_data, on_done, &seen);
    }
    for (unsigned i = 0; i < CALLS; i++) {
        (void)sl_transport_send(t, &call, NULL, on_done, &seen);
    }
    assert_true(web_run_until(&w, &seen.all, 20000));
    assert_int_equal(seen.failed, 0);
    seen = (struct seen){.heard = WATCHES};
    uint64_t from_ms = uv_now(&w.loop);
    for (unsigned i = 0; i < CALLS; i++) {
        (void)sl_transport_send(t, &call, NULL, on_done, &seen);
    }
    assert_true(web_run_until(&w, &seen.all, 20000));
    assert_true(uv_now(&w.loop) - from_ms < CALLS * SLOW_MS - SLOW_MS / 2); /* not one by one */
    sl_transport_free(t);
    web_close(&w);
    sl_credentials_free(c);
    end(&s);
}

static void test_transport_http1_server_that_says_so_serves_watches_and_calls_at_once(void **state)
{
    (void)state;
    play("alpn");
}

static void test_transport_http1_server_that_says_nothing_serves_them_at_once_too(void **state)
{
    (void)state;
    play("none");
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_transport_http1_server_that_says_so_serves_watches_and_calls_at_once),
        cmocka_unit_test(test_transport_http1_server_that_says_nothing_serves_them_at_once_too),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
