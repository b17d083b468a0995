/* SPDX-License-Identifier: Apache-2.0
 * SPDX-FileCopyrightText: The Sluice authors */

/* An API server that a test plays by hand, and a clock that it sets: the transport and the loop's timer are defined
 * here, so that the linker takes neither the real transport nor libuv's. */
#ifndef SL_TESTS_FAKE_SERVER_H
#define SL_TESTS_FAKE_SERVER_H
#include "base/mem.h"
#include "kube/kube.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stdio.h>
#include <string.h>

#include <cmocka.h>

#define EXCHANGES_MAX 2100

struct sl_transport {
    int unused;
};
struct sl_exchange {
    char method[8], path[400];
    char *body;
    char type[64];
    sl_data_fn *data;
    sl_response_fn *done;
    void *context;
    bool open;
};

static struct sl_transport fake_transport;
static struct sl_exchange fake_exchanges[EXCHANGES_MAX];
static size_t fake_count;
static uint64_t fake_now_ms;
static uv_timer_t *fake_timer;
static uv_timer_cb fake_callback;
static uint64_t fake_due_ms;

uint64_t uv_now(const uv_loop_t *loop)
{
    (void)loop;
    return fake_now_ms;
}

int uv_timer_init(uv_loop_t *loop, uv_timer_t *timer)
{
    (void)loop;
    fake_timer = timer;
    fake_callback = NULL;
    return 0;
}

int uv_timer_start(uv_timer_t *timer, uv_timer_cb callback, uint64_t wait_ms, uint64_t repeat_ms)
{
    assert_ptr_equal(timer, fake_timer);
    assert_int_equal(repeat_ms, 0);
    fake_callback = callback;
    fake_due_ms = fake_now_ms + wait_ms;
    return 0;
}

int uv_timer_stop(uv_timer_t *timer)
{
    assert_ptr_equal(timer, fake_timer);
    fake_callback = NULL;
    return 0;
}

void uv_close(uv_handle_t *handle, uv_close_cb callback)
{
    fake_callback = NULL;
    callback(handle);
}

struct sl_exchange *sl_transport_send(struct sl_transport *t, const struct sl_request *r,
                                      sl_data_fn *data, sl_response_fn *done, void *context)
{
    assert_ptr_equal(t, &fake_transport);
    assert_true(fake_count < EXCHANGES_MAX);
    struct sl_exchange *x = &fake_exchanges[fake_count++];
    *x = (struct sl_exchange){.data = data, .done = done, .context = context, .open = true};
    (void)snprintf(x->method, sizeof x->method, "%s", r->method);
    (void)snprintf(x->path, sizeof x->path, "%s", r->path);
    (void)snprintf(x->type, sizeof x->type, "%s", r->content_type == NULL ? "" : r->content_type);
    x->body = r->body == NULL ? NULL : sl_mem_text_n(r->body, r->body_len);
    return x;
}

void sl_transport_cancel(struct sl_exchange *x)
{
    assert_true(x->open);
    x->open = false;
}

/* Lets everything happen that is due. */
static void turn(void)
{
    for (int i = 0; i < 50 && fake_callback != NULL && fake_due_ms <= fake_now_ms; i++) {
        uv_timer_cb callback = fake_callback;
        fake_callback = NULL;
        callback(fake_timer);
    }
}

static void pass_ms(uint64_t ms)
{
    fake_now_ms += ms;
    turn();
}

/* The oldest open exchange whose method is this and whose path holds `part`; NULL when there is none. */
static struct sl_exchange *find(const char *method, const char *part)
{
    for (size_t i = 0; i < fake_count; i++) {
        struct sl_exchange *x = &fake_exchanges[i];
        if (x->open && strcmp(x->method, method) == 0 && strstr(x->path, part) != NULL) {
            return x;
        }
    }
    return NULL;
}

static struct sl_exchange *expect(const char *method, const char *part)
{
    turn();
    struct sl_exchange *x = find(method, part);
    if (x == NULL) {
        fail_msg("no %s of %s is under way", method, part);
    }
    return x;
}

static size_t open_count(void)
{
    size_t n = 0;
    for (size_t i = 0; i < fake_count; i++) {
        n += fake_exchanges[i].open ? 1 : 0;
    }
    return n;
}

static void end_with(struct sl_exchange *x, const struct sl_response *r)
{
    assert_true(x->open);
    x->open = false;
    x->done(x->context, r);
    turn();
}

static void answer(struct sl_exchange *x, int status, const char *body)
{
    struct sl_response r = {.code = status < 300 ? SL_CODE_OK : SL_CODE_BAD_REQUEST,
                            .status = status,
                            .body = body,
                            .body_len = strlen(body)};
    end_with(x, &r);
}

/* One that says NotFound means the object. */
static void refuse(struct sl_exchange *x, int status, const char *reason)
{
    char body[300];
    (void)snprintf(
        body, sizeof body,
        "{\"kind\":\"Status\",\"reason\":\"%s\",\"message\":\"it said %s\",\"code\":%d%s}", reason,
        reason, status, strcmp(reason, "NotFound") == 0 ? ",\"details\":{\"name\":\"x\"}" : "");
    answer(x, status, body);
}

static inline void deny(struct sl_exchange *x)
{
    refuse(x, 404, "NotFound");
}

static void lose(struct sl_exchange *x)
{
    struct sl_response r = {.code = SL_CODE_UNAVAILABLE, .status = 0, .reason = "cut off"};
    end_with(x, &r);
}

/* A piece of the body of a watch. */
static void bring(struct sl_exchange *x, const char *text)
{
    assert_true(x->open && x->data != NULL);
    x->data(x->context, text, strlen(text));
    turn();
}

static void forget_exchanges(void)
{
    for (size_t i = 0; i < fake_count; i++) {
        sl_mem_free(fake_exchanges[i].body);
    }
    fake_count = 0;
}

/* --- objects --------------------------------------------------------------------------------- */

/* A Workload in namespace n; good for the next 8 calls. */
static const char *workload(const char *name, const char *uid, unsigned version, const char *rest)
{
    static char texts[8][600];
    static unsigned next;
    char *text = texts[next++ % 8];
    (void)snprintf(text, sizeof texts[0],
                   "{\"metadata\":{\"name\":\"%s\",\"namespace\":\"n\",\"uid\":\"%s\","
                   "\"resourceVersion\":\"%u\"}%s%s}",
                   name, uid, version, rest[0] == '\0' ? "" : ",", rest);
    return text;
}

static const char *event(const char *type, const char *object)
{
    static char texts[8][700];
    static unsigned next;
    char *text = texts[next++ % 8];
    (void)snprintf(text, sizeof texts[0], "{\"type\":\"%s\",\"object\":%s}\n", type, object);
    return text;
}

static const char *list(unsigned version, const char *page, const char *items)
{
    static char texts[8][2000];
    static unsigned next;
    char *text = texts[next++ % 8];
    (void)snprintf(text, sizeof texts[0],
                   "{\"items\":[%s],\"metadata\":{\"resourceVersion\":\"%u\",\"continue\":\"%s\"}}",
                   items, version, page);
    return text;
}

/* --- what watchers are told ------------------------------------------------------------------- */

static char told[2000];

static void on_told(void *context, enum sl_watch_type type, enum sl_kind kind,
                    struct sl_json *object)
{
    (void)context;
    static const char letters[] = {'+', '~', '-', '.', '?'};
    size_t at = strlen(told);
    assert_true(kind < sl_kind_end());
    if (object == NULL) {
        (void)snprintf(told + at, sizeof told - at, "%c ", letters[type]);
    } else {
        assert_string_equal(sl_json_path_text(object, "kind", ""), sl_kind_info(kind)->kind);
        (void)snprintf(told + at, sizeof told - at, "%c%s@%s ", letters[type],
                       sl_object_name(object), sl_object_resource_version(object));
    }
}

static void expect_told(const char *text)
{
    assert_string_equal(told, text);
    told[0] = '\0';
}

/* --- one kube, one kind ----------------------------------------------------------------------- */

static struct sl_kube *kube;
static struct sl_client client;

static void kube_open(const struct sl_kube_options *more)
{
    static uv_loop_t loop;
    struct sl_kube_options options = *more;
    options.loop = &loop;
    options.transport = &fake_transport;
    options.seed = 7;
    forget_exchanges();
    told[0] = '\0';
    fake_now_ms = 1000000;
    kube = sl_kube_new(&options);
    sl_kube_client(kube, &client);
}

static int kube_close(void **state)
{
    (void)state;
    sl_kube_free(kube);
    assert_int_equal(open_count(), 0);
    forget_exchanges();
    return 0;
}

/* Workloads are watched, and `items` is what there is of them at `version`. */
static struct sl_exchange *open_workloads(unsigned version, const char *items)
{
    kube_open(&(struct sl_kube_options){0});
    client.watch(client.self, SL_KIND_WORKLOAD, on_told, NULL);
    answer(expect("GET", "/workloads?limit=500"), 200, list(version, "", items));
    told[0] = '\0';
    return expect("GET", "/workloads?watch=true");
}

static struct sl_kube_counters counters(void)
{
    struct sl_kube_counters c;
    sl_kube_count(kube, &c);
    return c;
}
#endif
