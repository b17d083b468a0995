/* SPDX-License-Identifier: Apache-2.0
 * SPDX-FileCopyrightText: The Sluice authors */

/* The server over real loopback sockets: deferred answers, watches, limits, callers, start and
 * stop. The server runs on a thread of its own; the test is its client. */
#include <arpa/inet.h>
#include <errno.h>
#include <netinet/in.h>
#include <pthread.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <unistd.h>

#include <cmocka.h>

#include "base/mem.h"
#include "server/server.h"

#define QUEUES "/apis/kueue.x-k8s.io/v1beta2/namespaces/default/localqueues"

struct fixture {
    char dir[64];
    uv_loop_t loop;
    uv_async_t stop;
    struct sl_store *store;
    struct sl_server *server, *pages; /* pages: without a store */
    pthread_t thread;
    unsigned port, pages_port;
    bool running;
    uv_prepare_t turn;
    unsigned turns;
};

static void on_turn(uv_prepare_t *turn)
{
    struct fixture *f = turn->data;
    f->turns++;
}

static void on_stop(uv_async_t *async)
{
    struct fixture *f = async->data;
    sl_server_stop(f->server);
    sl_server_stop(f->pages);
    uv_close((uv_handle_t *)&f->turn, NULL);
    uv_close((uv_handle_t *)async, NULL);
}

static void *run_loop(void *context)
{
    struct fixture *f = context;
    (void)uv_run(&f->loop, UV_RUN_DEFAULT);
    return NULL;
}

/* A question whose answer takes a while, in which the page is asleep. */
static struct {
    struct sl_server_rest rest;
    struct sl_server *server;
    uv_timer_t timer;
    bool done;
    unsigned looks, freed;
} sleeper;

static bool look_at_sleeper(struct sl_server_rest *rest, struct sl_server_page *page)
{
    (void)rest;
    sleeper.looks++;
    page->asleep = !sleeper.done;
    if (sleeper.done) {
        sl_buf_text(&page->body, "{\"answer\":42}");
    }
    return !sleeper.done;
}

static void free_sleeper(struct sl_server_rest *rest)
{
    (void)rest;
    sleeper.freed++;
}

static void on_answer(uv_timer_t *timer)
{
    sleeper.done = true;
    if (sleeper.freed == 0) {
        sl_server_wake(sleeper.server);
    }
    uv_close((uv_handle_t *)timer, NULL);
}

/* In which turn of the loop they were answered. */
static struct {
    unsigned large[2], large_count, small;
    _Atomic bool busy;
} answered;

static void answer_question(void *context, const struct sl_json *body, struct sl_server_page *page)
{
    struct fixture *f = *(struct fixture **)context;
    if (sl_json_path_bool(body, "busy", false)) {
        answered.busy = true;
        usleep(300000);
    } else if (sl_json_has(body, "large")) {
        answered.large[answered.large_count++ % 2] = f->turns;
    } else if (sl_json_has(body, "small")) {
        answered.small = f->turns;
    }
    if (!sl_json_path_bool(body, "hard", false)) {
        sl_buf_text(&page->body, "{\"answer\":1}");
        return;
    }
    sleeper.rest = (struct sl_server_rest){look_at_sleeper, free_sleeper};
    sleeper.done = false;
    sleeper.looks = sleeper.freed = 0;
    page->rest = &sleeper.rest;
    sleeper.server = f->server;
    (void)uv_timer_init(&f->loop, &sleeper.timer);
    (void)uv_timer_start(&sleeper.timer, on_answer, 200, 0);
}

static struct fixture *current;

static int setup(void **state)
{
    struct fixture *f = sl_mem_new(1, sizeof *f);
    struct sl_error e;
    const struct sl_server_question question = {"/question", answer_question, &current};
    current = f;
    struct sl_server_options o = {.listen = "127.0.0.1:0",
                                  .watches_max = 2,
                                  .questions = &question,
                                  .question_count = 1,
                                  .header_ms_max = 2000,
                                  .bodies_bytes_max = 5u << 20};
    (void)snprintf(f->dir, sizeof f->dir, "/tmp/sluice-test-XXXXXX");
    assert_non_null(mkdtemp(f->dir));
    assert_int_equal(uv_loop_init(&f->loop), 0);
    assert_int_equal(sl_store_open(f->dir, &f->store, &e), SL_CODE_OK);
    assert_int_equal(sl_server_start(&f->loop, f->store, &o, &f->server, &e), SL_CODE_OK);
    f->port = sl_server_port(f->server);
    const struct sl_server_options pages = {
        .listen = "127.0.0.1:0", .connections_max = 4, .questions = &question, .question_count = 1};
    assert_int_equal(sl_server_start(&f->loop, NULL, &pages, &f->pages, &e), SL_CODE_OK);
    f->pages_port = sl_server_port(f->pages);
    assert_int_equal(uv_async_init(&f->loop, &f->stop, on_stop), 0);
    assert_int_equal(uv_prepare_init(&f->loop, &f->turn), 0);
    assert_int_equal(uv_prepare_start(&f->turn, on_turn), 0);
    f->stop.data = f->turn.data = f;
    assert_int_equal(pthread_create(&f->thread, NULL, run_loop, f), 0);
    f->running = true;
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
    static const char *const files[] = {"sluice.db", "sluice.db-wal", "sluice.db-shm", "lock",
                                        "revision"};
    struct fixture *f = *state;
    char path[128];
    stop(f);
    assert_int_equal(uv_loop_close(&f->loop), 0); /* the server left no handle behind */
    sl_store_close(f->store);
    for (size_t i = 0; i < 4; i++) {
        (void)snprintf(path, sizeof path, "%s/%s", f->dir, files[i]);
        (void)unlink(path);
    }
    (void)rmdir(f->dir);
    sl_mem_free(f);
    return 0;
}

/* --- a client -------------------------------------------------------------------------------- */

static int dial_port(unsigned port)
{
    struct sockaddr_in a = {.sin_family = AF_INET, .sin_port = htons((uint16_t)port)};
    struct timeval patience = {.tv_sec = 20};
    a.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
    int fd = socket(AF_INET, SOCK_STREAM, 0);
    assert_int_equal(setsockopt(fd, SOL_SOCKET, SO_RCVTIMEO, &patience, sizeof patience), 0);
    assert_int_equal(connect(fd, (struct sockaddr *)&a, sizeof a), 0);
    return fd;
}

static int dial(const struct fixture *f)
{
    return dial_port(f->port);
}

static void say(int fd, const char *text, size_t len)
{
    while (len > 0) {
        ssize_t n = send(fd, text, len, MSG_NOSIGNAL);
        if (n <= 0) {
            return; /* the server has heard enough */
        }
        text += n;
        len -= (size_t)n;
    }
}

static void request(int fd, const char *method, const char *uri, const char *headers,
                    const char *body)
{
    struct sl_buf out = {0};
    sl_buf_print(&out, "%s %s HTTP/1.1\r\nHost: localhost\r\n%s", method, uri, headers);
    if (body != NULL) {
        sl_buf_print(&out, "Content-Type: application/json\r\nContent-Length: %zu\r\n",
                     strlen(body));
    }
    sl_buf_print(&out, "\r\n%s", body != NULL ? body : "");
    say(fd, out.data, out.len);
    sl_buf_fini(&out);
}

/* Reads until `mark` has come, or the connection ends. */
static void hear(int fd, struct sl_buf *in, const char *mark)
{
    char piece[4096];
    ssize_t n = 1;
    while (n > 0 && (in->data == NULL || mark == NULL || strstr(in->data, mark) == NULL)) {
        n = recv(fd, piece, sizeof piece, 0);
        if (n > 0) {
            sl_buf_add(in, piece, (size_t)n);
        }
    }
    if (mark != NULL && (in->data == NULL || strstr(in->data, mark) == NULL)) {
        fail_msg("\"%s\" did not come, but: %s", mark, in->data != NULL ? in->data : "nothing");
    }
}

/* The server ends it without a word; waiting for ever is none. */
static void hear_the_end(int fd)
{
    char byte;
    ssize_t n = recv(fd, &byte, 1, 0);
    assert_true(n == 0 || (n < 0 && errno == ECONNRESET));
}

/* One request on a connection of its own; its whole answer. Returns the status. */
static int ask_port(unsigned port, const char *method, const char *uri, const char *body,
                    struct sl_buf *in)
{
    int fd = dial_port(port), status = 0;
    request(fd, method, uri, "Connection: close\r\n", body);
    sl_buf_reset(in);
    hear(fd, in, NULL);
    (void)close(fd);
    assert_true(in->len > 12);
    status = atoi(in->data + 9);
    return status;
}

static int ask(const struct fixture *f, const char *method, const char *uri, const char *body,
               struct sl_buf *in)
{
    return ask_port(f->port, method, uri, body, in);
}

static const char *queue_body(const char *name)
{
    static char body[128];
    (void)snprintf(body, sizeof body,
                   "{\"metadata\":{\"name\":\"%s\"},\"spec\":{\"clusterQueue\":\"cq\"}}", name);
    return body;
}

/* --- tests ----------------------------------------------------------------------------------- */

static void test_http_question_is_answered(void **state)
{
    struct fixture *f = *state;
    struct sl_buf in = {0};
    assert_int_equal(ask(f, "POST", "/question", "{}", &in), 200);
    assert_non_null(strstr(in.data, "{\"answer\":1}"));
    assert_int_equal(ask(f, "POST", "/question", "{", &in), 400);
    assert_int_equal(ask(f, "GET", "/question", NULL, &in), 405);
    assert_non_null(strstr(in.data, "Allow: POST"));
    assert_int_equal(ask(f, "POST", "/question/more", "{}", &in), 404);
    sl_buf_fini(&in);
}

/* Of a server without a store, too, which takes no other bodies. */
static void test_http_server_of_pages_answers_questions(void **state)
{
    struct fixture *f = *state;
    struct sl_buf in = {0};
    assert_int_equal(ask_port(f->pages_port, "POST", "/question", "{}", &in), 200);
    assert_non_null(strstr(in.data, "{\"answer\":1}"));
    assert_int_equal(ask_port(f->pages_port, "POST", "/question/more", "{}", &in), 413);
    assert_int_equal(ask_port(f->pages_port, "GET", "/question", "{}", &in), 405);
    sl_buf_fini(&in);
}

/* The loop does not spin meanwhile, and serves others. */
static void test_http_question_may_take_a_while(void **state)
{
    struct fixture *f = *state;
    struct sl_buf in = {0}, other = {0};
    int fd = dial(f);
    request(fd, "POST", "/question", "Connection: close\r\n", "{\"hard\":true}");
    assert_int_equal(ask(f, "GET", "/healthz", NULL, &other), 200);
    hear(fd, &in, NULL);
    assert_non_null(strstr(in.data, "{\"answer\":42}"));
    assert_true(sleeper.looks < 20);
    assert_int_equal(sleeper.freed, 1);
    (void)close(fd);
    sl_buf_fini(&in);
    sl_buf_fini(&other);
}

static void test_http_server_stops_while_a_question_is_open(void **state)
{
    struct fixture *f = *state;
    struct sl_buf other = {0};
    int fd = dial(f);
    request(fd, "POST", "/question", "", "{\"hard\":true}");
    while (sleeper.looks == 0) {
        assert_int_equal(ask(f, "GET", "/healthz", NULL, &other), 200);
    }
    stop(f);
    assert_int_equal(sleeper.freed, 1);
    (void)close(fd);
    sl_buf_fini(&other);
}

static void test_http_write_and_read_back(void **state)
{
    struct fixture *f = *state;
    struct sl_buf in = {0};
    assert_int_equal(ask(f, "POST", QUEUES, queue_body("q"), &in), 201);
    assert_non_null(strstr(in.data, "Content-Type: application/json"));
    assert_int_equal(ask(f, "GET", QUEUES "/q", NULL, &in), 200);
    assert_int_equal(ask(f, "HEAD", QUEUES "/q", NULL, &in), 200);
    assert_int_equal(ask(f, "POST", QUEUES, queue_body("q"), &in), 409);
    assert_int_equal(ask(f, "DELETE", QUEUES "/q", NULL, &in), 200);
    assert_int_equal(ask(f, "GET", QUEUES "/q", NULL, &in), 404);
    assert_int_equal(ask(f, "PUT", QUEUES, NULL, &in), 405);
    assert_non_null(strstr(in.data, "Allow: GET, POST, DELETE"));
    sl_buf_fini(&in);
}

static void test_http_requests_share_a_connection(void **state)
{
    struct fixture *f = *state;
    struct sl_buf in = {0};
    int fd = dial(f);
    for (int i = 0; i < 50; i++) {
        char name[16], mark[32];
        (void)snprintf(name, sizeof name, "q%d", i);
        (void)snprintf(mark, sizeof mark, "\"name\":\"q%d\"", i);
        request(fd, "POST", QUEUES, "", queue_body(name));
        sl_buf_reset(&in);
        hear(fd, &in, mark);
    }
    (void)close(fd);
    sl_buf_fini(&in);
}

static void test_http_many_writers_at_once(void **state)
{
    struct fixture *f = *state;
    struct sl_buf in = {0};
    int fds[40];
    for (int i = 0; i < 40; i++) {
        char name[16];
        (void)snprintf(name, sizeof name, "q%d", i);
        fds[i] = dial(f);
        request(fds[i], "POST", QUEUES, "Connection: close\r\n", queue_body(name));
    }
    for (int i = 0; i < 40; i++) {
        sl_buf_reset(&in);
        hear(fds[i], &in, "201 Created");
        (void)close(fds[i]);
    }
    sl_buf_fini(&in);
}

static void test_http_watch_gets_what_others_write(void **state)
{
    struct fixture *f = *state;
    struct sl_buf watch = {0}, in = {0};
    int fd = dial(f);
    request(fd, "GET", QUEUES "?watch=true", "", NULL);
    hear(fd, &watch, "\r\n\r\n");
    assert_int_equal(ask(f, "POST", QUEUES, queue_body("q"), &in), 201);
    hear(fd, &watch, "\"type\":\"ADDED\"");
    assert_int_equal(ask(f, "DELETE", QUEUES "/q", NULL, &in), 200);
    hear(fd, &watch, "\"type\":\"DELETED\"");
    (void)close(fd);
    sl_buf_fini(&watch);
    sl_buf_fini(&in);
}

static void test_http_watch_ends_at_its_timeout(void **state)
{
    struct fixture *f = *state;
    struct sl_buf in = {0};
    assert_int_equal(ask(f, "GET", QUEUES "?watch=true&timeoutSeconds=1", NULL, &in), 200);
    sl_buf_fini(&in);
}

static void test_http_watchers_that_hang_up_are_noticed(void **state)
{
    struct fixture *f = *state;
    struct sl_buf in = {0};
    for (int i = 0; i < 2; i++) {
        int fd = dial(f);
        request(fd, "GET", QUEUES "?watch=true", "", NULL);
        sl_buf_reset(&in);
        hear(fd, &in, "200 OK");
        (void)close(fd);
    }
    int status = 429;
    for (int tries = 0; tries < 100 && status == 429; tries++) {
        status = ask(f, "GET", QUEUES "?watch=true&timeoutSeconds=1", NULL, &in);
        (void)usleep(status == 429 ? 100000 : 0);
    }
    assert_int_equal(status, 200);
    sl_buf_fini(&in);
}

static void test_http_body_over_the_limit_is_413(void **state)
{
    struct fixture *f = *state;
    struct sl_buf in = {0};
    size_t size = (3u << 19) + 1000;
    char *body = sl_mem_new(1, size + 1);
    memset(body, ' ', size);
    assert_int_equal(ask(f, "POST", QUEUES, body, &in), 413);
    assert_non_null(strstr(in.data, "RequestEntityTooLarge"));
    memcpy(body, queue_body("big"), strlen(queue_body("big")));
    body[(3u << 19) - 10] = '\0'; /* white space up to the limit is fine */
    assert_int_equal(ask(f, "POST", QUEUES, body, &in), 201);
    sl_mem_free(body);
    sl_buf_fini(&in);
}

static void test_http_unfinished_header_is_ended(void **state)
{
    struct fixture *f = *state;
    struct sl_buf in = {0};
    int fd = dial(f);
    say(fd, "GET /api HTTP/1.1\r\nX: ", 22);
    hear_the_end(fd);
    (void)close(fd);
    assert_int_equal(ask(f, "GET", "/api", NULL, &in), 200);
    sl_buf_fini(&in);
}

static void test_http_bodies_together_have_a_limit(void **state)
{
    struct fixture *f = *state;
    struct sl_buf in = {0};
    size_t size = (3u << 19) - 10;
    char *body = sl_mem_new(1, size + 1);
    int fds[4];
    memset(body, ' ', size);
    for (int i = 0; i < 4; i++) { /* each keeps its last bytes back */
        fds[i] = dial(f);
        static const char head[] =
            "POST " QUEUES " HTTP/1.1\r\nHost: localhost\r\n"
            "Content-Type: application/json\r\nContent-Length: 1572854\r\n\r\n";
        say(fds[i], head, strlen(head));
        say(fds[i], body, size - 100);
    }
    assert_int_equal(ask(f, "POST", QUEUES, queue_body("small"), &in), 201);
    hear_the_end(fds[0]); /* the oldest went */
    for (int i = 0; i < 4; i++) {
        (void)close(fds[i]);
    }
    sl_mem_free(body);
    sl_buf_fini(&in);
}

/* However many have come at once: in between others have their turn. */
static void test_http_large_bodies_are_read_one_in_a_turn(void **state)
{
    struct fixture *f = *state;
    static const char begin[] = "{\"large\":\"", end[] = "\"}";
    size_t size = (1u << 20) + 100;
    struct sl_buf in = {0}, small = {0};
    char *body = sl_mem_new(1, size + 1);
    int fds[3], busy = dial(f);
    memset(body, 'x', size);
    memcpy(body, begin, strlen(begin));
    memcpy(body + size - strlen(end), end, strlen(end));
    answered.large_count = answered.small = 0;
    answered.busy = false;
    for (int i = 0; i < 3; i++) {
        fds[i] = dial(f);
        if (i < 2) { /* each keeps its last bytes back */
            static const char head[] = "POST /question HTTP/1.1\r\nHost: localhost\r\nConnection: "
                                       "close\r\nContent-Type: application/json\r\n"
                                       "Content-Length: 1048676\r\n\r\n";
            say(fds[i], head, strlen(head));
            say(fds[i], body, size - 10);
        }
    }
    assert_int_equal(ask(f, "GET", "/api", NULL, &in), 200); /* all that is read by now */
    request(busy, "POST", "/question", "Connection: close\r\n", "{\"busy\":true}");
    while (!answered.busy) {
        usleep(1000);
    }
    say(fds[0], body + size - 10, 10);
    say(fds[1], body + size - 10, 10);
    request(fds[2], "POST", "/question", "Connection: close\r\n", "{\"small\":1}");
    for (int i = 0; i < 3; i++) {
        sl_buf_reset(i < 2 ? &in : &small);
        hear(fds[i], i < 2 ? &in : &small, "{\"answer\":1}");
        (void)close(fds[i]);
    }
    assert_int_equal(answered.large_count, 2);
    assert_true(answered.large[0] < answered.large[1]);
    assert_true(answered.small < answered.large[1]);
    (void)close(busy);
    sl_mem_free(body);
    sl_buf_fini(&in);
    sl_buf_fini(&small);
}

static void test_http_two_lengths_are_refused(void **state)
{
    struct fixture *f = *state;
    struct sl_buf in = {0};
    static const char two[] = "POST " QUEUES " HTTP/1.1\r\nHost: localhost\r\nContent-Length: 3\r\n"
                              "Content-Length: 5\r\n\r\n{}   ";
    int fd = dial(f);
    say(fd, two, strlen(two));
    hear(fd, &in, "400 Bad Request");
    (void)close(fd);
    sl_buf_fini(&in);
}

static void test_http_pages_take_no_body(void **state)
{
    const struct fixture *f = *state;
    static const char *const heads[] = {"Content-Length: 3000000\r\n",
                                        "Transfer-Encoding: chunked\r\n"};
    struct sl_buf in = {0};
    for (size_t i = 0; i < 2; i++) {
        int fd = dial_port(f->pages_port);
        request(fd, "POST", "/healthz", heads[i], NULL);
        sl_buf_reset(&in);
        hear(fd, &in, "413 "); /* before there is any body */
        (void)close(fd);
    }
    sl_buf_fini(&in);
}

static void test_http_newcomers_are_served_beside_idlers(void **state)
{
    const struct fixture *f = *state;
    struct sl_buf in = {0};
    int fds[20];
    for (int i = 0; i < 20; i++) { /* five times as many as there are places */
        fds[i] = dial_port(f->pages_port);
    }
    int fd = dial_port(f->pages_port);
    request(fd, "GET", "/healthz", "Connection: close\r\n", NULL);
    hear(fd, &in, "200 OK");
    (void)close(fd);
    for (int i = 0; i < 20; i++) {
        (void)close(fds[i]);
    }
    sl_buf_fini(&in);
}

/* What comes before the body says that it is refused; the client does not have to send it. */
static void test_http_refused_without_the_body(void **state)
{
    struct fixture *f = *state;
    struct sl_buf in = {0};
    static const char foreign[] = "POST " QUEUES " HTTP/1.1\r\nHost: localhost\r\n"
                                  "Origin: https://example.com\r\nContent-Length: 3000000\r\n\r\n";
    int fd = dial(f);
    say(fd, foreign, strlen(foreign));
    hear(fd, &in, "403 Forbidden");
    (void)close(fd);
    sl_buf_fini(&in);
}

static void test_http_foreign_pages_are_refused(void **state)
{
    struct fixture *f = *state;
    static const char *const foreign[] = {"Origin: https://example.com\r\nConnection: close\r\n",
                                          "Origin: null\r\nConnection: close\r\n"};
    struct sl_buf in = {0};
    for (size_t i = 0; i < 2; i++) {
        int fd = dial(f);
        request(fd, "GET", QUEUES, foreign[i], NULL);
        sl_buf_reset(&in);
        hear(fd, &in, "403 Forbidden");
        (void)close(fd);
    }
    static const char *const others[] = {"Origin: http://localhost:3000\r\n",
                                         "Sec-Fetch-Site: same-site\r\n"};
    for (size_t i = 0; i < 2; i++) { /* a page of another port of this machine */
        int other = dial(f);
        request(other, "POST", QUEUES, others[i], queue_body("q"));
        sl_buf_reset(&in);
        hear(other, &in, "403 Forbidden");
        (void)close(other);
    }
    int own = dial(f);
    request(own, "POST", QUEUES, "Origin: http://localhost\r\nSec-Fetch-Site: same-origin\r\n",
            queue_body("q"));
    sl_buf_reset(&in);
    hear(own, &in, "201 Created");
    (void)close(own);
    static const char disguised[] =
        "GET /api HTTP/1.1\r\nHost: localhost:80@evil.example.com\r\nConnection: close\r\n\r\n";
    int hidden = dial(f);
    say(hidden, disguised, strlen(disguised));
    sl_buf_reset(&in);
    hear(hidden, &in, "403 Forbidden");
    (void)close(hidden);
    static const char rebound[] =
        "GET /api HTTP/1.1\r\nHost: evil.example.com\r\nConnection: close\r\n\r\n";
    int fd = dial(f);
    say(fd, rebound, strlen(rebound));
    sl_buf_reset(&in);
    hear(fd, &in, "403 Forbidden");
    (void)close(fd);
    fd = dial(f);
    request(fd, "GET", QUEUES, "Origin: http://127.0.0.1:8088\r\nConnection: close\r\n", NULL);
    sl_buf_reset(&in);
    hear(fd, &in, "200 OK");
    (void)close(fd);
    sl_buf_fini(&in);
}

/* By way of the API server a page has another name than the server that is asked: its browser has to vouch for it. */
static void test_http_page_of_a_proxy_may_ask(void **state)
{
    struct fixture *f = *state;
    static const struct {
        const char *headers, *answer;
    } cases[] = {
        {"Origin: http://127.0.0.1:8001\r\nSec-Fetch-Site: same-origin\r\n", "200 OK"},
        {"Origin: http://127.0.0.1:8001\r\nSec-Fetch-Site: cross-site\r\n", "403 Forbidden"},
        {"Origin: http://127.0.0.1:8001\r\n", "403 Forbidden"}};
    struct sl_buf in = {0};
    for (size_t i = 0; i < sizeof cases / sizeof cases[0]; i++) {
        int fd = dial_port(f->pages_port);
        request(fd, "POST", "/question", cases[i].headers, "{}");
        sl_buf_reset(&in);
        hear(fd, &in, cases[i].answer);
        (void)close(fd);
    }
    int fd = dial(f); /* which has a store, and no proxy before it */
    request(fd, "POST", "/question", cases[0].headers, "{}");
    sl_buf_reset(&in);
    hear(fd, &in, "403 Forbidden");
    (void)close(fd);
    sl_buf_fini(&in);
}

static void test_http_long_list_arrives_whole(void **state)
{
    struct fixture *f = *state;
    struct sl_buf in = {0};
    int fd = dial(f);
    for (int i = 0; i < 520; i++) {
        char name[16];
        (void)snprintf(name, sizeof name, "q%d", i);
        request(fd, "POST", QUEUES, "", queue_body(name));
        sl_buf_reset(&in);
        hear(fd, &in, "201 Created");
        hear(fd, &in, "}\n");
    }
    (void)close(fd);
    static const char old[] = "GET " QUEUES " HTTP/1.0\r\nHost: localhost\r\n\r\n"; /* no chunks */
    fd = dial(f);
    say(fd, old, strlen(old));
    sl_buf_reset(&in);
    hear(fd, &in, NULL);
    (void)close(fd);
    size_t found = 0;
    for (const char *at = in.data; (at = strstr(at, "\"clusterQueue\":\"cq\"")) != NULL; at++) {
        found++;
    }
    assert_int_equal(found, 520);
    fd = dial(f);
    request(fd, "HEAD", QUEUES, "", NULL);
    request(fd, "GET", QUEUES "/q1", "", NULL);
    sl_buf_reset(&in);
    hear(fd, &in, "\"name\":\"q1\"");
    (void)close(fd);
    assert_null(strstr(in.data, "\r\n0\r\n")); /* no end of what did not come */
    sl_buf_fini(&in);
}

/* More objects than one step looks at, none of them selected: list, watch and deletion give way and go on. */
static void test_http_needle_in_a_haystack_is_found(void **state)
{
    struct fixture *f = *state;
    struct sl_buf in = {0};
    int fds[50];
    for (int i = 0; i < 50; i++) {
        fds[i] = dial(f);
    }
    for (int i = 0; i < 2100; i++) { /* 50 at a time share a synchronisation to disk */
        char name[16];
        (void)snprintf(name, sizeof name, "q%d", i);
        request(fds[i % 50], "POST", QUEUES, "", queue_body(name));
        if (i % 50 == 49) {
            for (int j = 0; j < 50; j++) {
                sl_buf_reset(&in);
                hear(fds[j], &in, "}\n");
            }
        }
    }
    for (int i = 0; i < 50; i++) {
        (void)close(fds[i]);
    }
    static const char needle[] = "{\"metadata\":{\"name\":\"zz\",\"labels\":{\"needle\":\"yes\"}},"
                                 "\"spec\":{\"clusterQueue\":\"cq\"}}";
    assert_int_equal(ask(f, "POST", QUEUES, needle, &in), 201);
    assert_int_equal(ask(f, "GET", QUEUES "?labelSelector=needle", NULL, &in), 200);
    assert_non_null(strstr(in.data, "\"name\":\"zz\""));
    assert_null(strstr(in.data, "\"name\":\"q1\""));
    int fd = dial(f);
    request(fd, "GET", QUEUES "?watch=true&labelSelector=needle", "", NULL);
    sl_buf_reset(&in);
    hear(fd, &in, "\"name\":\"zz\"");
    (void)close(fd);
    assert_int_equal(ask(f, "DELETE", QUEUES "?labelSelector=needle", NULL, &in), 200);
    assert_int_equal(ask(f, "GET", QUEUES "/zz", NULL, &in), 404);
    assert_int_equal(ask(f, "GET", QUEUES "/q1", NULL, &in), 200);
    sl_buf_fini(&in);
}

static void test_http_stop_ends_open_watches(void **state)
{
    struct fixture *f = *state;
    struct sl_buf in = {0};
    int fd = dial(f);
    request(fd, "GET", QUEUES "?watch=true", "", NULL);
    hear(fd, &in, "\r\n\r\n");
    stop(f);
    hear(fd, &in, NULL); /* returns: the connection is closed */
    (void)close(fd);
    sl_buf_fini(&in);
}

static void test_http_start_refuses_bad_addresses(void **state)
{
    struct fixture *f = *state;
    static const struct {
        const char *listen, *says;
    } bad[] = {{"8088", "is not ADDR:PORT"},
               {"127.0.0.1:", "is not ADDR:PORT"},
               {"127.0.0.1:99999", "is not ADDR:PORT"},
               {"example.com:80", "is not ADDR:PORT"},
               {"[::1:80", "is not ADDR:PORT"},
               {"0.0.0.0:0", "has to be allowed (--allow-remote)"},
               {"[::]:0", "not a loopback address"}};
    uv_loop_t loop;
    struct sl_error e;
    struct sl_server *server = NULL;
    char taken[32];
    assert_int_equal(uv_loop_init(&loop), 0);
    for (size_t i = 0; i < sizeof bad / sizeof bad[0]; i++) {
        struct sl_server_options o = {.listen = bad[i].listen};
        assert_int_not_equal(sl_server_start(&loop, NULL, &o, &server, &e), SL_CODE_OK);
        assert_non_null(strstr(e.text, bad[i].says));
        assert_null(server);
    }
    (void)snprintf(taken, sizeof taken, "127.0.0.1:%u", f->port);
    struct sl_server_options o = {.listen = taken};
    assert_int_equal(sl_server_start(&loop, NULL, &o, &server, &e), SL_CODE_INTERNAL);
    assert_non_null(strstr(e.text, "Address already in use"));
    assert_int_equal(uv_loop_close(&loop), 0);
}

#define CASE(name) cmocka_unit_test_setup_teardown(name, setup, teardown)
int main(void)
{
    const struct CMUnitTest tests[] = {
        CASE(test_http_question_is_answered),
        CASE(test_http_question_may_take_a_while),
        CASE(test_http_server_stops_while_a_question_is_open),
        CASE(test_http_write_and_read_back),
        CASE(test_http_requests_share_a_connection),
        CASE(test_http_many_writers_at_once),
        CASE(test_http_watch_gets_what_others_write),
        CASE(test_http_watch_ends_at_its_timeout),
        CASE(test_http_watchers_that_hang_up_are_noticed),
        CASE(test_http_server_of_pages_answers_questions),
        CASE(test_http_page_of_a_proxy_may_ask),
        CASE(test_http_body_over_the_limit_is_413),
        CASE(test_http_unfinished_header_is_ended),
        CASE(test_http_bodies_together_have_a_limit),
        CASE(test_http_large_bodies_are_read_one_in_a_turn),
        CASE(test_http_two_lengths_are_refused),
        CASE(test_http_pages_take_no_body),
        CASE(test_http_newcomers_are_served_beside_idlers),
        CASE(test_http_refused_without_the_body),
        CASE(test_http_foreign_pages_are_refused),
        CASE(test_http_long_list_arrives_whole),
        CASE(test_http_needle_in_a_haystack_is_found),
        CASE(test_http_stop_ends_open_watches),
        CASE(test_http_start_refuses_bad_addresses),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
