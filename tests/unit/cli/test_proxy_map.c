/* SPDX-License-Identifier: Apache-2.0
 * SPDX-FileCopyrightText: The Sluice authors */

/* src/cli/pages/proxy_map.c: the ConfigMap is followed, whatever becomes of the watch. Time passes on a real loop. */
#include "t.h"
#include "../server/pki.h"
#include "cli/pages/proxy_map.h"
#include "fake_transport.h"

struct world {
    uv_loop_t loop;
    struct sl_front_proxy *proxy;
    struct sl_proxy_map *map;
    struct pki *ca;
};

static int setup(void **state)
{
    struct world *w = sl_mem_new(1, sizeof *w);
    assert_int_equal(uv_loop_init(&w->loop), 0);
    w->ca = pki_new((struct pki_wish){.name = "front-proxy-ca", .authority = true}, NULL);
    w->proxy = sl_front_proxy_new();
    w->map = sl_proxy_map_new(&w->loop, NULL, w->proxy, 1);
    *state = w;
    return 0;
}

static int teardown(void **state)
{
    struct world *w = *state;
    sl_proxy_map_free(w->map);
    uv_run(&w->loop, UV_RUN_DEFAULT);
    assert_int_equal(uv_loop_close(&w->loop), 0);
    assert_int_equal(fake_open_count(), 0);
    sl_front_proxy_free(w->proxy);
    pki_free(w->ca);
    sl_mem_free(w);
    fake_forget();
    return 0;
}

static void bring(const char *text)
{
    fake_last()->data(fake_last()->context, text, strlen(text));
}

/* A line of the watch; `names` NULL: an object without data. */
static char *line(const struct world *w, const char *type, const char *names)
{
    struct sl_json *event = sl_json_new_map();
    struct sl_buf text = {0};
    sl_json_set_text(event, "type", type);
    struct sl_json *object = sl_json_path_make(event, "object");
    if (names != NULL) {
        struct sl_json *data = sl_json_path_make(object, "data");
        sl_json_set_text(data, "requestheader-client-ca-file", w->ca->certificate_pem);
        sl_json_set_text(data, "requestheader-allowed-names", names);
    }
    sl_json_print(event, &text);
    sl_buf_text(&text, "\n");
    sl_json_free(event);
    return sl_buf_take(&text);
}

static void tell(const struct world *w, const char *type, const char *names)
{
    char *text = line(w, type, names);
    bring(text);
    sl_mem_free(text);
}

static void no_more(uv_timer_t *timer)
{
    *(bool *)timer->data = true;
}

/* Until so many watches have been begun; half a minute is more than it can take. */
static void wait_for_watches(struct world *w, size_t count)
{
    uv_timer_t timer;
    bool late = false;
    uv_timer_init(&w->loop, &timer);
    timer.data = &late;
    uv_timer_start(&timer, no_more, 30000, 0);
    while (fake_count < count && !late) {
        uv_run(&w->loop, UV_RUN_ONCE);
    }
    uv_close((uv_handle_t *)&timer, NULL);
    uv_run(&w->loop, UV_RUN_NOWAIT);
    assert_int_equal(fake_count, count);
    assert_int_equal(fake_open_count(), 1);
}

/* --- tests ----------------------------------------------------------------------------------- */

static void test_proxy_map_watches_the_one_object(void **state)
{
    (void)state;
    assert_int_equal(fake_count, 1);
    assert_string_equal(fake_last()->method, "GET");
    assert_has(fake_last()->path, "/api/v1/namespaces/kube-system/configmaps?watch=true");
    assert_has(fake_last()->path,
               "fieldSelector=metadata.name%3Dextension-apiserver-authentication");
}

static void test_proxy_map_learns_what_comes_in_pieces(void **state)
{
    struct world *w = *state;
    char *text = line(w, "ADDED", "[]");
    size_t half = strlen(text) / 2;
    fake_last()->data(fake_last()->context, text, half);
    assert_false(sl_front_proxy_knows(w->proxy));
    bring(text + half);
    assert_true(sl_front_proxy_knows(w->proxy));
    sl_mem_free(text);
}

static void test_proxy_map_change_and_deletion_are_followed(void **state)
{
    struct world *w = *state;
    tell(w, "ADDED", "[]");
    tell(w, "BOOKMARK", NULL);
    assert_true(sl_front_proxy_knows(w->proxy));
    tell(w, "MODIFIED", "nonsense"); /* keeps what was known */
    assert_true(sl_front_proxy_knows(w->proxy));
    tell(w, "MODIFIED", NULL); /* without a certificate: nobody */
    assert_false(sl_front_proxy_knows(w->proxy));
    tell(w, "MODIFIED", "[]");
    assert_true(sl_front_proxy_knows(w->proxy));
    tell(w, "DELETED", "[]");
    assert_false(sl_front_proxy_knows(w->proxy));
}

static void test_proxy_map_watch_that_ends_or_is_refused_is_begun_again(void **state)
{
    struct world *w = *state;
    tell(w, "ADDED", "[]");
    fake_answer(fake_last(), 200, "");
    wait_for_watches(w, 2);
    assert_true(sl_front_proxy_knows(w->proxy));
    fake_answer(fake_last(), 403, "{\"message\":\"may not\"}");
    wait_for_watches(w, 3);
    fake_answer(fake_last(), 0, "connection refused");
    wait_for_watches(w, 4);
    assert_true(sl_front_proxy_knows(w->proxy));
}

static void test_proxy_map_nonsense_ends_the_watch(void **state)
{
    struct world *w = *state;
    bring("no JSON\n");
    tell(w, "ADDED", "[]"); /* is not listened to any more */
    assert_false(sl_front_proxy_knows(w->proxy));
    assert_int_equal(fake_open_count(), 1); /* not ended from within its own callback */
    wait_for_watches(w, 2);
    tell(w, "ERROR", NULL);
    wait_for_watches(w, 3);
    tell(w, "ADDED", "[]");
    assert_true(sl_front_proxy_knows(w->proxy));
}

static void test_proxy_map_endless_line_ends_the_watch(void **state)
{
    struct world *w = *state;
    size_t len = 1u << 20;
    char *piece = sl_mem_new(len, 1);
    memset(piece, 'x', len);
    for (int i = 0; i < 3; i++) {
        fake_last()->data(fake_last()->context, piece, len);
    }
    sl_mem_free(piece);
    wait_for_watches(w, 2);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
#define TEST(name) cmocka_unit_test_setup_teardown(name, setup, teardown)
        TEST(test_proxy_map_watches_the_one_object),
        TEST(test_proxy_map_learns_what_comes_in_pieces),
        TEST(test_proxy_map_change_and_deletion_are_followed),
        TEST(test_proxy_map_watch_that_ends_or_is_refused_is_begun_again),
        TEST(test_proxy_map_nonsense_ends_the_watch),
        TEST(test_proxy_map_endless_line_ends_the_watch),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
