/* SPDX-License-Identifier: Apache-2.0
 * SPDX-FileCopyrightText: The Sluice authors */

/* Unit tests of caches that follow a server by lists and watches. */
#include "fake_server.h"

static void test_reflector_pages_of_a_list_are_told_then_synced(void **state)
{
    (void)state;
    char items[900];
    kube_open(&(struct sl_kube_options){0});
    client.watch(client.self, SL_KIND_WORKLOAD, on_told, NULL);
    struct sl_exchange *x = expect("GET", "/workloads");
    assert_string_equal(x->path, "/apis/kueue.x-k8s.io/v1beta2/workloads?limit=500");
    (void)snprintf(items, sizeof items, "%s , %s", workload("a", "u1", 5, ""),
                   workload("b", "u2", 9, ""));
    answer(x, 200, list(10, "to/ken=", items));
    expect_told("+a@5 +b@9 ");
    assert_false(sl_kube_synced(kube));
    answer(expect("GET", "&continue=to%2Fken%3D"), 200, list(10, "", workload("c", "u3", 7, "")));
    expect_told("+c@7 . ");
    assert_true(sl_kube_synced(kube));
    expect("GET", "watch=true&allowWatchBookmarks=true&resourceVersion=10&timeoutSeconds=");
    assert_int_equal(open_count(), 1);
    assert_int_equal(counters().objects, 3);
    assert_int_equal(counters().lists, 1);
}

static void test_reflector_events_are_told_once_and_in_order(void **state)
{
    (void)state;
    struct sl_exchange *w = open_workloads(10, workload("a", "u1", 5, ""));
    bring(w, event("MODIFIED", workload("a", "u1", 11, "")));
    bring(w, event("ADDED", workload("b", "u2", 12, "")));
    bring(w, event("MODIFIED", workload("a", "u1", 11, ""))); /* the same again */
    bring(w, event("DELETED", workload("a", "u1", 13, "")));
    expect_told("~a@11 +b@12 -a@13 ");
    struct sl_json *o = NULL;
    struct sl_error e;
    assert_int_equal(client.get(client.self, SL_KIND_WORKLOAD, "n", "a", &o, &e),
                     SL_CODE_NOT_FOUND);
    assert_int_equal(client.get(client.self, SL_KIND_WORKLOAD, "n", "b", &o, &e), SL_CODE_OK);
    assert_string_equal(sl_object_uid(o), "u2");
    sl_json_free(o);
    assert_int_equal(counters().events, 4);
}

static void test_reflector_events_in_pieces_are_put_together(void **state)
{
    (void)state;
    struct sl_exchange *w = open_workloads(10, "");
    const char *first = event("ADDED", workload("a", "u1", 11, ""));
    const char *second = event("ADDED", workload("b", "u2", 12, ""));
    char both[1400];
    (void)snprintf(both, sizeof both, "%s\n%s", first, second);
    const size_t len = strlen(both);
    for (size_t i = 0; i < len; i += 7) {
        char piece[8];
        (void)snprintf(piece, sizeof piece, "%.7s", both + i);
        bring(w, piece);
    }
    expect_told("+a@11 +b@12 ");
}

static void test_reflector_bookmark_moves_where_the_next_watch_begins(void **state)
{
    (void)state;
    struct sl_exchange *w = open_workloads(10, "");
    bring(w, event("BOOKMARK", "{\"metadata\":{\"resourceVersion\":\"77\"}}"));
    pass_ms(1000);
    answer(w, 200, "");
    expect("GET", "resourceVersion=77&");
    assert_int_equal(counters().watches, 2);
    assert_int_equal(counters().relists, 0);
}

static void test_reflector_watch_that_is_too_old_lists_anew_and_tells_what_vanished(void **state)
{
    (void)state;
    char items[900];
    (void)snprintf(items, sizeof items, "%s,%s,%s", workload("a", "u1", 5, ""),
                   workload("b", "u2", 6, ""), workload("c", "u3", 7, ""));
    struct sl_exchange *w = open_workloads(10, items);
    bring(w, event("ERROR", "{\"kind\":\"Status\",\"code\":410,\"message\":\"too old\"}"));
    assert_int_equal(open_count(), 1); /* the old watch was cancelled */
    (void)snprintf(items, sizeof items, "%s,%s,%s", workload("a", "u1", 5, ""),
                   workload("c", "u9", 21, ""), workload("d", "u4", 20, ""));
    answer(expect("GET", "?limit=500"), 200, list(30, "", items));
    expect_told("-c@7 +c@21 +d@20 ");
    deny(expect("GET", "/namespaces/n/workloads/b"));
    expect_told("-b@6 ");
    expect("GET", "resourceVersion=30&");
    assert_int_equal(counters().relists, 1);
}

static void test_reflector_watch_refused_as_too_old_lists_anew(void **state)
{
    (void)state;
    refuse(open_workloads(10, ""), 410, "Expired");
    answer(expect("GET", "?limit=500"), 200, list(30, "", ""));
    expect("GET", "resourceVersion=30&");
    expect_told("");
}

static void test_reflector_older_state_of_the_server_is_believed_in_a_list(void **state)
{
    (void)state;
    char items[900];
    (void)snprintf(items, sizeof items, "%s,%s", workload("a", "u1", 90, ""),
                   workload("b", "u2", 80, ""));
    refuse(open_workloads(100, items), 410, "Expired");
    answer(expect("GET", "?limit=500"), 200, list(50, "", workload("a", "u1", 40, "")));
    deny(expect("GET", "/workloads/b"));
    expect_told("~a@40 -b@80 ");
    expect("GET", "resourceVersion=50&");
}

static void test_reflector_failures_wait_longer_and_longer(void **state)
{
    (void)state;
    kube_open(&(struct sl_kube_options){0});
    sl_kube_follow(kube, SL_KIND_WORKLOAD);
    lose(expect("GET", "?limit=500"));
    assert_int_equal(open_count(), 0);
    pass_ms(799);
    assert_int_equal(open_count(), 0);
    pass_ms(401);
    refuse(expect("GET", "?limit=500"), 500, "InternalError");
    pass_ms(1599);
    assert_int_equal(open_count(), 0);
    pass_ms(801);
    for (int i = 0; i < 8; i++) {
        refuse(expect("GET", "?limit=500"), 403, "Forbidden");
        pass_ms(10000);
    }
    assert_false(sl_kube_synced(kube));
    answer(expect("GET", "?limit=500"), 200, list(3, "", ""));
    assert_true(sl_kube_synced(kube));
}

static void test_reflector_server_says_how_long_to_wait(void **state)
{
    (void)state;
    kube_open(&(struct sl_kube_options){0});
    sl_kube_follow(kube, SL_KIND_WORKLOAD);
    struct sl_response r = {.code = SL_CODE_TOO_MANY, .status = 429, .retry_ms = 5000};
    end_with(expect("GET", "?limit=500"), &r);
    pass_ms(4999);
    assert_int_equal(open_count(), 0);
    pass_ms(1);
    expect("GET", "?limit=500");
}

static void test_reflector_watch_that_ends_at_once_is_a_failure(void **state)
{
    (void)state;
    answer(open_workloads(10, ""), 200, "");
    assert_int_equal(open_count(), 0);
    pass_ms(1200);
    struct sl_exchange *w = expect("GET", "resourceVersion=10&");
    pass_ms(1000);
    answer(w, 200, "");
    expect("GET", "resourceVersion=10&"); /* one that lasted is followed by the next at once */
}

static void test_reflector_cut_watch_is_resumed_from_where_it_was(void **state)
{
    (void)state;
    struct sl_exchange *w = open_workloads(10, "");
    bring(w, event("ADDED", workload("a", "u1", 11, "")));
    bring(w, "{\"type\":\"ADDED\",\"obj");
    lose(w);
    assert_int_equal(open_count(), 0);
    pass_ms(1200);
    w = expect("GET", "resourceVersion=11&");
    bring(w, event("ADDED", workload("b", "u2", 12, "")));
    expect_told("+a@11 +b@12 ");
}

static void test_reflector_watch_that_is_refused_again_and_again_lists_anew(void **state)
{
    (void)state;
    refuse(open_workloads(10, ""), 504, "Timeout");
    for (int i = 0; i < 2; i++) {
        pass_ms(10000);
        refuse(expect("GET", "watch=true"), 504, "Timeout");
    }
    pass_ms(10000);
    refuse(expect("GET", "watch=true"), 504, "Timeout");
    pass_ms(10000);
    expect("GET", "?limit=500");
}

static void test_reflector_malformed_event_lists_anew(void **state)
{
    (void)state;
    static const char *const bad[] = {"nonsense\n", "{\"type\":\"OTHER\",\"object\":{}}\n",
                                      "{\"type\":\"ADDED\",\"object\":{}}\n",
                                      "{\"type\":\"BOOKMARK\",\"object\":{}}\n"};
    for (size_t i = 0; i < sizeof bad / sizeof bad[0]; i++) {
        struct sl_exchange *w = open_workloads(10, "");
        bring(w, bad[i]);
        assert_non_null(find("GET", "?limit=500"));
        assert_int_equal(open_count(), 1);
        assert_int_equal(counters().objects, 0);
        expect_told("");
        if (i + 1 < sizeof bad / sizeof bad[0]) {
            (void)kube_close(NULL);
        }
    }
}

static void test_reflector_error_event_ends_the_watch_only(void **state)
{
    (void)state;
    struct sl_exchange *w = open_workloads(10, "");
    bring(w, event("ERROR", "{\"kind\":\"Status\",\"code\":500,\"message\":\"etcd\"}"));
    pass_ms(1200);
    expect("GET", "watch=true&allowWatchBookmarks=true&resourceVersion=10&");
    assert_int_equal(open_count(), 1);
    assert_int_equal(counters().relists, 0);
}

static void test_reflector_watch_that_ends_after_an_error_is_not_ended_twice(void **state)
{
    (void)state;
    struct sl_exchange *w = open_workloads(10, "");
    const char *text = event("ERROR", "{\"code\":410}");
    w->data(w->context, text, strlen(text));
    w->data(w->context, text, strlen(text));
    answer(w, 200, "");
    expect("GET", "?limit=500");
    assert_int_equal(open_count(), 1);
    assert_int_equal(counters().relists, 1);
}

static void test_reflector_endless_line_lists_anew(void **state)
{
    (void)state;
    struct sl_exchange *w = open_workloads(10, "");
    static char piece[(1 << 20) + 1];
    memset(piece, 'x', sizeof piece - 1);
    for (int i = 0; i < 8; i++) {
        bring(w, piece);
        assert_true(w->open);
    }
    bring(w, piece);
    assert_non_null(find("GET", "?limit=500"));
    assert_false(w->open);
}

static void test_reflector_malformed_list_is_tried_again(void **state)
{
    (void)state;
    static const char *const bad[] = {"", "{}", "{\"items\":[]}",
                                      "{\"items\":[{}],\"metadata\":{\"resourceVersion\":\"1\"}}"};
    kube_open(&(struct sl_kube_options){0});
    sl_kube_follow(kube, SL_KIND_WORKLOAD);
    for (size_t i = 0; i < sizeof bad / sizeof bad[0]; i++) {
        answer(expect("GET", "?limit=500"), 200, bad[i]);
        assert_false(sl_kube_synced(kube));
        assert_int_equal(open_count(), 0);
        pass_ms(10000);
    }
    answer(expect("GET", "?limit=500"), 200, list(1, "", ""));
    assert_true(sl_kube_synced(kube));
}

static void test_reflector_list_whose_pages_expire_begins_anew(void **state)
{
    (void)state;
    kube_open(&(struct sl_kube_options){0});
    client.watch(client.self, SL_KIND_WORKLOAD, on_told, NULL);
    answer(expect("GET", "?limit=500"), 200, list(10, "more", workload("a", "u1", 5, "")));
    refuse(expect("GET", "continue=more"), 410, "Expired");
    assert_null(find("GET", "continue"));
    answer(expect("GET", "?limit=500"), 200, list(20, "", ""));
    deny(expect("GET", "/workloads/a"));
    expect_told("+a@5 -a@5 . ");
}

static void count_one(void *context, struct sl_json *object)
{
    (void)object;
    (*(int *)context)++;
}

static void note_key(void *context, const char *ns, const char *name)
{
    char *keys = context;
    size_t len = strlen(keys);
    (void)snprintf(keys + len, 64 - len, "%s/%s ", ns, name);
}

static void test_reflector_reads_before_the_list_are_refused(void **state)
{
    (void)state;
    struct sl_json *o = NULL;
    struct sl_error e;
    int visited = 0;
    kube_open(&(struct sl_kube_options){0});
    sl_kube_follow(kube, SL_KIND_WORKLOAD);
    sl_kube_follow(kube, SL_KIND_WORKLOAD);
    assert_int_equal(client.get(client.self, SL_KIND_WORKLOAD, "n", "a", &o, &e),
                     SL_CODE_UNAVAILABLE);
    assert_int_equal(client.list(client.self, SL_KIND_WORKLOAD, "", count_one, &visited, &e),
                     SL_CODE_UNAVAILABLE);
    /* Of a kind that nobody follows there is nothing to see. */
    assert_int_equal(client.get(client.self, SL_KIND_EVENT, "n", "a", &o, &e), SL_CODE_NOT_FOUND);
    assert_int_equal(client.list(client.self, SL_KIND_EVENT, "", count_one, &visited, &e),
                     SL_CODE_OK);
    assert_int_equal(visited, 0);
    char keys[64] = "";
    char *next = keys;
    assert_int_equal(client.keys(client.self, SL_KIND_WORKLOAD, NULL, note_key, keys, &next, &e),
                     SL_CODE_UNAVAILABLE);
    assert_null(next);
    assert_int_equal(client.keys(client.self, SL_KIND_EVENT, NULL, note_key, keys, &next, &e),
                     SL_CODE_OK);
    assert_string_equal(keys, "");
    expect("GET", "?limit=500");
    assert_int_equal(open_count(), 1);
}

static void test_reflector_list_is_of_one_namespace_or_all(void **state)
{
    (void)state;
    char items[900];
    struct sl_error e;
    int inside = 0, all = 0;
    (void)snprintf(
        items, sizeof items,
        "%s,{\"metadata\":{\"name\":\"a\",\"namespace\":\"nn\",\"resourceVersion\":\"4\"}}",
        workload("a", "u1", 5, ""));
    (void)open_workloads(10, items);
    assert_int_equal(client.list(client.self, SL_KIND_WORKLOAD, "n", count_one, &inside, &e), 0);
    assert_int_equal(client.list(client.self, SL_KIND_WORKLOAD, "", count_one, &all, &e), 0);
    assert_int_equal(inside, 1);
    assert_int_equal(all, 2);
    char keys[64] = "";
    char *next = keys;
    assert_int_equal(client.keys(client.self, SL_KIND_WORKLOAD, NULL, note_key, keys, &next, &e),
                     SL_CODE_OK);
    assert_null(next);
    assert_non_null(strstr(keys, "n/a "));
    assert_non_null(strstr(keys, "nn/a "));
}

static void test_reflector_late_watcher_is_told_what_there_is(void **state)
{
    (void)state;
    (void)open_workloads(10, workload("a", "u1", 5, ""));
    client.watch(client.self, SL_KIND_WORKLOAD, on_told, NULL);
    expect_told("+a@5 . ");
}

static void test_reflector_refresh_tells_what_the_watch_has_not_told(void **state)
{
    (void)state;
    struct sl_exchange *w = open_workloads(10, workload("a", "u1", 5, ""));
    assert_true(sl_kube_fresh(kube));
    sl_kube_refresh(kube, SL_KIND_WORKLOAD);
    assert_false(w->open);
    assert_false(sl_kube_fresh(kube));
    assert_true(sl_kube_synced(kube)); /* what is there can be read meanwhile */
    answer(expect("GET", "?limit=500"), 200, list(30, "next", workload("b", "u2", 20, "")));
    assert_false(sl_kube_fresh(kube));
    answer(expect("GET", "&continue=next"), 200, list(30, "", workload("c", "u3", 21, "")));
    assert_false(sl_kube_fresh(kube));
    deny(expect("GET", "/workloads/a"));
    assert_true(sl_kube_fresh(kube));
    expect_told("+b@20 +c@21 -a@5 ");
    expect("GET", "resourceVersion=30&");
    assert_int_equal(open_count(), 1);
}

static void test_reflector_refresh_does_not_take_a_list_that_began_before(void **state)
{
    (void)state;
    kube_open(&(struct sl_kube_options){0});
    sl_kube_follow(kube, SL_KIND_WORKLOAD);
    answer(expect("GET", "?limit=500"), 200, list(10, "next", workload("a", "u1", 5, "")));
    struct sl_exchange *second = expect("GET", "&continue=next");
    sl_kube_refresh(kube, SL_KIND_WORKLOAD);
    assert_false(second->open);
    answer(expect("GET", "?limit=500"), 200, list(30, "", workload("a", "u1", 25, "")));
    assert_true(sl_kube_fresh(kube));
    assert_true(sl_kube_synced(kube));
}

static void test_reflector_refresh_that_fails_is_tried_again(void **state)
{
    (void)state;
    (void)open_workloads(10, workload("a", "u1", 5, ""));
    sl_kube_refresh(kube, SL_KIND_WORKLOAD);
    lose(expect("GET", "?limit=500"));
    assert_false(sl_kube_fresh(kube));
    pass_ms(1200);
    refuse(expect("GET", "?limit=500"), 503, "ServiceUnavailable");
    assert_false(sl_kube_fresh(kube));
    pass_ms(2400);
    answer(expect("GET", "?limit=500"), 404, "404 page not found"); /* not served any more */
    assert_false(sl_kube_fresh(kube));
    expect_told("");
}

#define TEST(name) cmocka_unit_test_teardown(test_reflector_##name, kube_close)

int main(void)
{
    const struct CMUnitTest tests[] = {
        TEST(pages_of_a_list_are_told_then_synced),
        TEST(events_are_told_once_and_in_order),
        TEST(events_in_pieces_are_put_together),
        TEST(bookmark_moves_where_the_next_watch_begins),
        TEST(watch_that_is_too_old_lists_anew_and_tells_what_vanished),
        TEST(watch_refused_as_too_old_lists_anew),
        TEST(older_state_of_the_server_is_believed_in_a_list),
        TEST(failures_wait_longer_and_longer),
        TEST(server_says_how_long_to_wait),
        TEST(watch_that_ends_at_once_is_a_failure),
        TEST(cut_watch_is_resumed_from_where_it_was),
        TEST(watch_that_is_refused_again_and_again_lists_anew),
        TEST(malformed_event_lists_anew),
        TEST(error_event_ends_the_watch_only),
        TEST(watch_that_ends_after_an_error_is_not_ended_twice),
        TEST(endless_line_lists_anew),
        TEST(malformed_list_is_tried_again),
        TEST(list_whose_pages_expire_begins_anew),
        TEST(reads_before_the_list_are_refused),
        TEST(list_is_of_one_namespace_or_all),
        TEST(late_watcher_is_told_what_there_is),
        TEST(refresh_tells_what_the_watch_has_not_told),
        TEST(refresh_does_not_take_a_list_that_began_before),
        TEST(refresh_that_fails_is_tried_again),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
