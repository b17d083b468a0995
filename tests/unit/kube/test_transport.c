/* SPDX-License-Identifier: Apache-2.0
 * SPDX-FileCopyrightText: The Sluice authors */

/* src/kube/transport*.c: requests, answers, and everything that can go wrong on the way. */
#include "web.h"

struct asked {
    bool done;
    unsigned count, data_count;
    int status;
    enum sl_code code;
    int64_t retry_ms;
    struct sl_buf body, data;
    char reason[256];
};

struct world {
    struct web web;
    struct web_files files;
    struct sl_credentials *credentials;
    struct sl_transport *transport;
    struct web_answer answer; /* to everything */
    struct web_request last;
    char last_body[64];
    struct asked second;
};

static struct web_answer answer(void *context, const struct web_request *r)
{
    struct world *w = context;
    w->last = *r;
    (void)snprintf(w->last_body, sizeof w->last_body, "%s", r->body);
    return w->answer;
}

static int setup(void **state)
{
    struct world *w = sl_mem_new(1, sizeof *w);
    web_make_dir(&w->files);
    web_open(&w->web);
    w->web.answer = answer;
    w->web.context = w;
    w->answer = (struct web_answer){.status = 200, .body = "{}"};
    w->credentials = web_credentials(&w->web, &w->files, "{token: secret}");
    w->transport = sl_transport_new(&w->web.loop, w->credentials, "test");
    *state = w;
    return 0;
}

static int teardown(void **state)
{
    struct world *w = *state;
    sl_transport_free(w->transport);
    web_close(&w->web);
    sl_credentials_free(w->credentials);
    web_remove_dir(&w->files);
    sl_mem_free(w);
    return 0;
}

static void on_data(void *context, const char *data, size_t len)
{
    struct asked *a = context;
    a->data_count++;
    sl_buf_add(&a->data, data, len);
}

static void on_done(void *context, const struct sl_response *r)
{
    struct asked *a = context;
    a->done = true;
    a->count++;
    a->status = r->status;
    a->code = r->code;
    a->retry_ms = r->retry_ms;
    sl_buf_add(&a->body, r->body, r->body_len);
    (void)snprintf(a->reason, sizeof a->reason, "%s", r->reason == NULL ? "" : r->reason);
}

static void forget(struct asked *a)
{
    sl_buf_fini(&a->body);
    sl_buf_fini(&a->data);
    *a = (struct asked){0};
}

static const struct sl_request get = {.method = "GET", .path = "/api/v1/x", .timeout_ms = 5000};

static void ask(struct world *w, struct asked *a)
{
    forget(a);
    (void)sl_transport_send(w->transport, &get, NULL, on_done, a);
    assert_false(a->done); /* never from within */
    assert_true(web_run_until(&w->web, &a->done, 4000));
    assert_int_equal(a->count, 1);
}

static void test_transport_get_carries_token_and_brings_body(void **state)
{
    struct world *w = *state;
    struct asked a = {0};
    w->answer.body = "{\"kind\":\"X\"}";
    ask(w, &a);
    assert_int_equal(a.code, SL_CODE_OK);
    assert_int_equal(a.status, 200);
    assert_string_equal(a.body.data, "{\"kind\":\"X\"}");
    assert_string_equal(w->last.token, "secret");
    assert_string_equal(w->last.path, "/api/v1/x");
    assert_string_equal(w->last.method, "GET");
    forget(&a);
}

static void test_transport_patch_carries_body_and_type(void **state)
{
    struct world *w = *state;
    struct asked a = {0};
    struct sl_request r = {.method = "PATCH",
                           .path = "/apis/g/v1/x?fieldManager=s",
                           .content_type = "application/merge-patch+json",
                           .body = "{\"a\":1}",
                           .body_len = 7,
                           .timeout_ms = 5000};
    (void)sl_transport_send(w->transport, &r, NULL, on_done, &a);
    assert_true(web_run_until(&w->web, &a.done, 4000));
    assert_string_equal(w->last.method, "PATCH");
    assert_string_equal(w->last.path, "/apis/g/v1/x?fieldManager=s");
    assert_string_equal(w->last.content_type, "application/merge-patch+json");
    assert_string_equal(w->last_body, "{\"a\":1}");
    forget(&a);
}

static void test_transport_many_requests_reuse_a_connection(void **state)
{
    struct world *w = *state;
    struct asked a = {0};
    for (int i = 0; i < 5; i++) {
        ask(w, &a);
    }
    assert_int_equal(w->web.requests, 5);
    assert_int_equal(w->web.connections, 1);
    assert_int_equal(sl_transport_count(w->transport)->connections, 1);
    assert_int_equal(sl_transport_count(w->transport)->requests, 5);
    forget(&a);
}

static void test_transport_refusals_have_their_codes(void **state)
{
    static const struct {
        int status;
        const char *body;
        enum sl_code code;
    } rows[] = {{409, "{\"reason\":\"AlreadyExists\"}", SL_CODE_ALREADY_EXISTS},
                {409, "{\"reason\":\"Conflict\"}", SL_CODE_CONFLICT},
                {409, "no JSON", SL_CODE_CONFLICT},
                {404, "404 page not found", SL_CODE_NOT_FOUND},
                {403, "{}", SL_CODE_FORBIDDEN},
                {410, "{}", SL_CODE_GONE},
                {422, "{}", SL_CODE_INVALID},
                {500, "", SL_CODE_INTERNAL},
                {418, "", SL_CODE_BAD_REQUEST},
                {302, "", SL_CODE_INTERNAL}};
    struct world *w = *state;
    struct asked a = {0};
    for (size_t i = 0; i < sizeof rows / sizeof rows[0]; i++) {
        w->answer = (struct web_answer){.status = rows[i].status, .body = rows[i].body};
        ask(w, &a);
        assert_int_equal(a.status, rows[i].status);
        assert_int_equal(a.code, rows[i].code);
        assert_string_equal(a.body.data == NULL ? "" : a.body.data, rows[i].body);
    }
    forget(&a);
}

static void test_transport_too_many_says_when_to_come_back(void **state)
{
    struct world *w = *state;
    struct asked a = {0};
    w->answer = (struct web_answer){.status = 429, .headers = "Retry-After: 2\r\n"};
    ask(w, &a);
    assert_int_equal(a.code, SL_CODE_TOO_MANY);
    assert_int_equal(a.retry_ms, 2000);
    w->answer = (struct web_answer){.status = 503, .headers = "Retry-After: 3600\r\n"};
    ask(w, &a);
    assert_int_equal(a.retry_ms, SL_RETRY_AFTER_MS_MAX);
    forget(&a);
}

static void test_transport_answer_larger_than_wanted_is_none(void **state)
{
    struct world *w = *state;
    struct asked a = {0};
    struct sl_request small = get;
    small.answer_max = 4;
    w->answer = (struct web_answer){.status = 200, .body = "0123456789"};
    (void)sl_transport_send(w->transport, &small, NULL, on_done, &a);
    assert_true(web_run_until(&w->web, &a.done, 4000));
    assert_int_equal(a.code, SL_CODE_TOO_LARGE);
    assert_int_equal(a.status, 0);
    assert_non_null(strstr(a.reason, "larger than 4 bytes"));
    forget(&a);
}

static void test_transport_half_an_answer_is_none(void **state)
{
    struct world *w = *state;
    struct asked a = {0};
    w->answer = (struct web_answer){.status = 200, .body = "0123456789", .cut = true};
    ask(w, &a);
    assert_int_equal(a.code, SL_CODE_UNAVAILABLE);
    assert_int_equal(a.status, 0);
    assert_non_null(strstr(a.reason, "broke"));
    assert_int_equal(sl_transport_count(w->transport)->failures, 1);
    forget(&a);
}

static void test_transport_silent_server_times_out(void **state)
{
    struct world *w = *state;
    struct asked a = {0};
    struct sl_request r = get;
    r.timeout_ms = 200;
    w->answer.status = 0;
    (void)sl_transport_send(w->transport, &r, NULL, on_done, &a);
    assert_true(web_run_until(&w->web, &a.done, 4000));
    assert_int_equal(a.status, 0);
    assert_non_null(strstr(a.reason, "no answer within 200 ms"));
    forget(&a);
}

static void test_transport_nobody_listens_is_said(void **state)
{
    struct world *w = *state;
    struct asked a = {0};
    uv_close((uv_handle_t *)&w->web.listener, NULL);
    ask(w, &a);
    assert_int_equal(a.code, SL_CODE_UNAVAILABLE);
    assert_int_equal(a.status, 0);
    assert_non_null(strstr(a.reason, "cannot reach http://127.0.0.1:"));
    forget(&a);
}

static void test_transport_stream_comes_as_it_arrives_and_can_be_cancelled(void **state)
{
    struct world *w = *state;
    struct asked a = {0};
    struct sl_request r = get;
    bool never = false;
    r.timeout_ms = 0;
    w->answer =
        (struct web_answer){.status = 200, .body = "{\"type\":\"ADDED\"}\n", .chunks = true};
    struct sl_exchange *x = sl_transport_send(w->transport, &r, on_data, on_done, &a);
    (void)web_run_until(&w->web, &never, 200);
    assert_string_equal(a.data.data, "{\"type\":\"ADDED\"}\n");
    assert_false(a.done);
    sl_transport_cancel(x);
    (void)web_run_until(&w->web, &never, 50);
    assert_false(a.done);
    forget(&a);
}

static void test_transport_refused_stream_is_collected(void **state)
{
    struct world *w = *state;
    struct asked a = {0};
    w->answer = (struct web_answer){.status = 410, .body = "{\"reason\":\"Expired\"}"};
    (void)sl_transport_send(w->transport, &get, on_data, on_done, &a);
    assert_true(web_run_until(&w->web, &a.done, 4000));
    assert_int_equal(a.data_count, 0);
    assert_string_equal(a.body.data, "{\"reason\":\"Expired\"}");
    forget(&a);
}

static void test_transport_idle_stream_is_given_up_and_its_connection_with_it(void **state)
{
    struct world *w = *state;
    struct asked a = {0};
    struct sl_request r = get;
    r.timeout_ms = 0;
    r.idle_ms = 1000;
    w->answer = (struct web_answer){.status = 200, .body = "x", .chunks = true};
    (void)sl_transport_send(w->transport, &r, on_data, on_done, &a);
    assert_true(web_run_until(&w->web, &a.done, 5000));
    assert_int_equal(a.status, 0);
    assert_non_null(strstr(a.reason, "nothing came for 1 s"));
    w->answer = (struct web_answer){.status = 200, .body = "{}"};
    ask(w, &a);
    assert_int_equal(w->web.connections, 2);
    forget(&a);
}

struct canceller {
    struct asked asked;
    struct sl_exchange *other;
};

static void cancel_on_data(void *context, const char *data, size_t len)
{
    struct canceller *c = context;
    on_data(&c->asked, data, len);
    if (c->other != NULL) {
        sl_transport_cancel(c->other);
        c->other = NULL;
    }
}

static void test_transport_stream_cancelled_by_its_own_data_says_no_more(void **state)
{
    struct world *w = *state;
    struct canceller c = {0};
    bool never = false;
    w->answer = (struct web_answer){.status = 200, .body = "x", .chunks = true};
    c.other = sl_transport_send(w->transport, &get, cancel_on_data, on_done, &c.asked);
    (void)web_run_until(&w->web, &never, 200);
    assert_int_equal(c.asked.data_count, 1);
    assert_false(c.asked.done);
    struct asked a = {0};
    w->answer = (struct web_answer){.status = 200, .body = "{}"};
    ask(w, &a);
    assert_int_equal(a.status, 200);
    forget(&a);
    forget(&c.asked);
}

static void send_again(void *context, const struct sl_response *r)
{
    struct world *w = context;
    assert_int_equal(r->status, 200);
    w->answer.body = "second";
    (void)sl_transport_send(w->transport, &get, NULL, on_done, &w->second);
    assert_false(w->second.done);
}

static void test_transport_sending_from_an_answer_is_fine(void **state)
{
    struct world *w = *state;
    (void)sl_transport_send(w->transport, &get, NULL, send_again, w);
    assert_true(web_run_until(&w->web, &w->second.done, 4000));
    assert_string_equal(w->second.body.data, "second");
    forget(&w->second);
}

static void free_it(void *context, const struct sl_response *r)
{
    struct world *w = context;
    (void)r;
    sl_transport_free(w->transport);
    w->transport = NULL;
}

static void test_transport_freed_by_an_answer_tells_nobody_else(void **state)
{
    struct world *w = *state;
    struct asked a = {0};
    bool never = false;
    (void)sl_transport_send(w->transport, &get, NULL, free_it, w);
    w->answer.status = 200;
    (void)sl_transport_send(w->transport, &get, NULL, on_done, &a);
    (void)web_run_until(&w->web, &never, 300);
    assert_null(w->transport);
    assert_true(a.count <= 1);
    forget(&a);
}

static void test_transport_unreadable_token_refuses_without_asking(void **state)
{
    struct world *w = *state;
    struct asked a = {0};
    sl_transport_free(w->transport);
    sl_credentials_free(w->credentials);
    web_put(&w->files, "token", "one\n");
    w->credentials = web_credentials(&w->web, &w->files, "{tokenFile: token}");
    w->transport = sl_transport_new(&w->web.loop, w->credentials, "test");
    ask(w, &a);
    assert_string_equal(w->last.token, "one");
    web_put(&w->files, "token", "");
    ask(w, &a);
    assert_int_equal(a.code, SL_CODE_UNAVAILABLE);
    assert_non_null(strstr(a.reason, "users[u].user.tokenFile"));
    assert_non_null(strstr(a.reason, "it is empty"));
    assert_int_equal(w->web.requests, 1);
    forget(&a);
}

static void test_transport_refused_plugin_is_not_run_at_once_again(void **state)
{
    struct world *w = *state;
    struct asked a = {0};
    sl_transport_free(w->transport);
    sl_credentials_free(w->credentials);
    web_put(&w->files, "plugin",
            "#!/bin/sh\necho x >> \"$(dirname \"$0\")\"/runs\n"
            "echo '{\"apiVersion\":\"client.authentication.k8s.io/v1\",\"kind\":\"ExecCredential\","
            "\"status\":{\"token\":\"'$(wc -l < \"$(dirname \"$0\")\"/runs)'\"}}'\n");
    char command[128];
    (void)snprintf(command, sizeof command, "chmod +x %s", w->files.path);
    assert_int_equal(system(command), 0);
    w->credentials =
        web_credentials(&w->web, &w->files,
                        "{exec: {apiVersion: client.authentication.k8s.io/v1, command: ./plugin}}");
    w->transport = sl_transport_new(&w->web.loop, w->credentials, "test");
    w->answer = (struct web_answer){.status = 401, .body = "{}"};
    ask(w, &a);
    assert_string_equal(w->last.token, "1");
    assert_int_equal(a.code, SL_CODE_UNAUTHORIZED);
    ask(w, &a); /* the plugin is not run again so soon */
    assert_string_equal(w->last.token, "1");
    forget(&a);
}

int main(void)
{
#define T(name) cmocka_unit_test_setup_teardown(name, setup, teardown)
    const struct CMUnitTest tests[] = {
        T(test_transport_get_carries_token_and_brings_body),
        T(test_transport_patch_carries_body_and_type),
        T(test_transport_many_requests_reuse_a_connection),
        T(test_transport_refusals_have_their_codes),
        T(test_transport_too_many_says_when_to_come_back),
        T(test_transport_answer_larger_than_wanted_is_none),
        T(test_transport_half_an_answer_is_none),
        T(test_transport_silent_server_times_out),
        T(test_transport_nobody_listens_is_said),
        T(test_transport_stream_comes_as_it_arrives_and_can_be_cancelled),
        T(test_transport_refused_stream_is_collected),
        T(test_transport_idle_stream_is_given_up_and_its_connection_with_it),
        T(test_transport_stream_cancelled_by_its_own_data_says_no_more),
        T(test_transport_sending_from_an_answer_is_fine),
        T(test_transport_freed_by_an_answer_tells_nobody_else),
        T(test_transport_unreadable_token_refuses_without_asking),
        T(test_transport_refused_plugin_is_not_run_at_once_again)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
