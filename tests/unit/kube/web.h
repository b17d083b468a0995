/* SPDX-License-Identifier: Apache-2.0
 * SPDX-FileCopyrightText: The Sluice authors */

/* A small HTTP/1.1 server on the test's own loop that answers as the test says, or not at all. */
#ifndef SL_TESTS_UNIT_KUBE_WEB_H
#define SL_TESTS_UNIT_KUBE_WEB_H
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>
#include <cmocka.h>
#include <arpa/inet.h>
#include <stdio.h>
#include <stdlib.h>
#include <uv.h>
#include "base/buf.h"
#include "base/mem.h"
#include "kube/transport.h"

struct web_request {
    char method[8], path[256], token[64], content_type[64];
    const char *body;
};
struct web_answer {
    int status;          /* 0: none, ever */
    const char *headers; /* "Name: value\r\n"... */
    const char *body;
    bool cut;    /* close after half of the body */
    bool chunks; /* send it in chunks and leave it open */
};
struct web {
    uv_loop_t loop;
    uv_tcp_t listener;
    int port;
    unsigned requests, connections;
    struct web_answer (*answer)(void *context, const struct web_request *r);
    void *context;
};
struct web_peer {
    uv_tcp_t tcp;
    struct web *web;
    struct sl_buf in;
};

static inline void web_closed(uv_handle_t *h)
{
    struct web_peer *p = h->data;
    sl_buf_fini(&p->in);
    sl_mem_free(p);
}

static inline void web_written(uv_write_t *w, int status)
{
    (void)status;
    sl_mem_free(w->data);
    sl_mem_free(w);
}

static inline void web_write(struct web_peer *p, const char *text, size_t len)
{
    uv_write_t *w = sl_mem_new(1, sizeof *w);
    w->data = sl_mem_text_n(text, len);
    uv_buf_t b = uv_buf_init(w->data, (unsigned)len);
    uv_write(w, (uv_stream_t *)&p->tcp, &b, 1, web_written);
}

static inline void web_header(const char *head, const char *name, char *out, size_t cap)
{
    const char *at = strcasestr(head, name);
    out[0] = '\0';
    if (at != NULL) {
        at += strlen(name);
        (void)snprintf(out, cap, "%.*s", (int)strcspn(at, "\r\n"), at);
    }
}

static inline bool web_answer_one(struct web_peer *p, const struct web_request *r)
{
    struct web_answer a = p->web->answer(p->web->context, r);
    struct sl_buf out = {0};
    size_t len = a.body == NULL ? 0 : strlen(a.body);
    if (a.status == 0) {
        return true;
    }
    sl_buf_print(&out, "HTTP/1.1 %d X\r\n%s", a.status, a.headers == NULL ? "" : a.headers);
    if (a.chunks) {
        sl_buf_print(&out, "Transfer-Encoding: chunked\r\n\r\n%zx\r\n%s\r\n", len, a.body);
    } else {
        sl_buf_print(&out, "Content-Length: %zu\r\n\r\n", len);
        sl_buf_add(&out, len == 0 ? "" : a.body, a.cut ? len / 2 : len);
    }
    web_write(p, out.data, out.len);
    sl_buf_fini(&out);
    return !a.cut;
}

static inline void web_got(uv_stream_t *s, ssize_t got, const uv_buf_t *b)
{
    struct web_peer *p = s->data;
    if (got > 0) {
        sl_buf_add(&p->in, b->base, (size_t)got);
    }
    sl_mem_free(b->base);
    char *end = p->in.len == 0 ? NULL : strstr(p->in.data, "\r\n\r\n");
    char number[16], bearer[80];
    bool open = got >= 0;
    if (end != NULL) {
        struct web_request r = {.body = end + 4};
        web_header(p->in.data, "Content-Length: ", number, sizeof number);
        if (strlen(end + 4) >= (size_t)atoi(number)) {
            (void)sscanf(p->in.data, "%7s %255s", r.method, r.path);
            web_header(p->in.data, "Authorization: Bearer ", bearer, sizeof bearer);
            (void)snprintf(r.token, sizeof r.token, "%.63s", bearer);
            web_header(p->in.data, "Content-Type: ", r.content_type, sizeof r.content_type);
            p->web->requests++;
            open = web_answer_one(p, &r) && open;
            sl_buf_reset(&p->in);
        }
    }
    if (!open && !uv_is_closing((uv_handle_t *)s)) {
        uv_close((uv_handle_t *)s, web_closed);
    }
}

static inline void web_room(uv_handle_t *h, size_t wish, uv_buf_t *out)
{
    (void)h;
    *out = uv_buf_init(sl_mem_new(wish, 1), (unsigned)wish);
}

static inline void web_accept(uv_stream_t *listener, int status)
{
    struct web *w = listener->data;
    struct web_peer *p = sl_mem_new(1, sizeof *p);
    assert_int_equal(status, 0);
    uv_tcp_init(&w->loop, &p->tcp);
    p->tcp.data = p;
    p->web = w;
    w->connections++;
    assert_int_equal(uv_accept(listener, (uv_stream_t *)&p->tcp), 0);
    uv_read_start((uv_stream_t *)&p->tcp, web_room, web_got);
}

static inline void web_open(struct web *w)
{
    struct sockaddr_in a;
    int len = sizeof a;
    uv_loop_init(&w->loop);
    uv_tcp_init(&w->loop, &w->listener);
    w->listener.data = w;
    uv_ip4_addr("127.0.0.1", 0, &a);
    assert_int_equal(uv_tcp_bind(&w->listener, (struct sockaddr *)&a, 0), 0);
    assert_int_equal(uv_listen((uv_stream_t *)&w->listener, 64, web_accept), 0);
    uv_tcp_getsockname(&w->listener, (struct sockaddr *)&a, &len);
    w->port = ntohs(a.sin_port);
}

static inline void web_end_peer(uv_handle_t *h, void *context)
{
    struct web *w = context;
    if (uv_is_closing(h)) {
        return;
    }
    uv_close(h, h->type == UV_TCP && h != (uv_handle_t *)&w->listener ? web_closed : NULL);
}

/* What is to be tested has been freed before. */
static inline void web_close(struct web *w)
{
    uv_run(&w->loop, UV_RUN_NOWAIT);
    uv_walk(&w->loop, web_end_peer, w);
    uv_run(&w->loop, UV_RUN_DEFAULT);
    assert_int_equal(uv_loop_close(&w->loop), 0);
}

static inline void web_late(uv_timer_t *t)
{
    *(bool *)t->data = true;
}

/* Turns the loop until *what, or for so long; says whether it is so. */
static inline bool web_run_until(struct web *w, const bool *what, uint64_t ms)
{
    uv_timer_t timer;
    bool late = false;
    uv_timer_init(&w->loop, &timer);
    timer.data = &late;
    uv_timer_start(&timer, web_late, ms, 0);
    while (!*what && !late) {
        uv_run(&w->loop, UV_RUN_ONCE);
    }
    uv_close((uv_handle_t *)&timer, NULL);
    uv_run(&w->loop, UV_RUN_NOWAIT);
    return *what;
}

/* A file in a directory of the test's own, and a kubeconfig for the server in it. */
struct web_files {
    char dir[64], path[96];
};

static inline void web_put(struct web_files *f, const char *name, const char *text)
{
    (void)snprintf(f->path, sizeof f->path, "%.60s/%.30s", f->dir, name);
    FILE *file = fopen(f->path, "w");
    assert_non_null(file);
    assert_true(fputs(text, file) >= 0);
    assert_int_equal(fclose(file), 0);
}

static inline void web_make_dir(struct web_files *f)
{
    strcpy(f->dir, "/tmp/sluice-kube-XXXXXX");
    assert_non_null(mkdtemp(f->dir));
}

static inline void web_remove_dir(struct web_files *f)
{
    char command[96];
    (void)snprintf(command, sizeof command, "rm -r %s", f->dir);
    assert_int_equal(system(command), 0);
}

static inline struct sl_credentials *web_credentials(const struct web *w, struct web_files *f,
                                                     const char *user)
{
    char text[512];
    struct sl_credentials *c = NULL;
    struct sl_error e = {0};
    (void)snprintf(text, sizeof text,
                   "clusters: [{name: c, cluster: {server: 'http://127.0.0.1:%d'}}]\n"
                   "users: [{name: u, user: %s}]\n"
                   "contexts: [{name: x, context: {cluster: c, user: u}}]\ncurrent-context: x\n",
                   w->port, user);
    web_put(f, "config", text);
    if (sl_credentials_from_file(f->path, NULL, &c, &e) != SL_CODE_OK) {
        fail_msg("%s", e.text);
    }
    return c;
}
#endif
