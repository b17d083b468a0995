/* SPDX-License-Identifier: Apache-2.0
 * SPDX-FileCopyrightText: The Sluice authors */

/* Unit tests of caches that follow a server which makes no sense, or means harm. */
#include "fake_server.h"

static void test_hostile_pages_that_repeat_are_a_failure(void **state)
{
    (void)state;
    static const char *const tokens[] = {"a", "b", "c"};
    kube_open(&(struct sl_kube_options){0});
    sl_kube_follow(kube, SL_KIND_WORKLOAD);
    answer(expect("GET", "?limit=500"), 200, list(10, "a", workload("x", "u1", 5, "")));
    int pages = 0;
    for (; pages < 20 && find("GET", "continue") != NULL; pages++) {
        answer(expect("GET", "continue"), 200,
               list(10, tokens[pages % 3], workload("x", "u1", 5, "")));
    }
    assert_in_range(pages, 1, 12);
    assert_int_equal(open_count(), 0);
    assert_false(sl_kube_synced(kube));
    pass_ms(1200);
    lose(expect("GET", "?limit=500"));
    pass_ms(2400); /* each failure is one more */
    answer(expect("GET", "?limit=500"), 200, list(10, "", workload("x", "u1", 5, "")));
    assert_true(sl_kube_synced(kube));
}

static void test_hostile_pages_without_an_end_are_a_failure(void **state)
{
    (void)state;
    char token[24] = "t";
    kube_open(&(struct sl_kube_options){0});
    sl_kube_follow(kube, SL_KIND_WORKLOAD);
    answer(expect("GET", "?limit=500"), 200, list(10, token, workload("x", "u1", 5, "")));
    int pages = 0;
    for (; pages < 10000 && find("GET", "continue") != NULL; pages++) {
        (void)snprintf(token, sizeof token, "t%d", pages);
        answer(expect("GET", "continue"), 200, list(10, token, workload("x", "u1", 5, "")));
    }
    assert_in_range(pages, 1999, 2001); /* as many as a million objects need */
    assert_int_equal(open_count(), 0);
    assert_false(sl_kube_synced(kube));
    pass_ms(1200);
    lose(expect("GET", "?limit=500"));
    pass_ms(1200);
    assert_int_equal(open_count(), 0); /* later and later */
}

static void test_hostile_items_with_something_between_them_are_no_list(void **state)
{
    (void)state;
    char items[900];
    (void)snprintf(items, sizeof items, "%s,%s", workload("a", "u1", 5, ""),
                   workload("b", "u2", 6, ""));
    refuse(open_workloads(10, items), 410, "Expired");
    (void)snprintf(items, sizeof items, "%s 7 %s", workload("a", "u1", 5, ""),
                   workload("b", "u2", 6, ""));
    answer(expect("GET", "?limit=500"), 200, list(11, "", items));
    expect_told("");
    assert_int_equal(counters().objects, 2);
    assert_int_equal(open_count(), 0);
}

static void test_hostile_object_newer_than_its_list_does_not_stay(void **state)
{
    (void)state;
    refuse(open_workloads(10, workload("a", "u1", 900, "")), 410, "Expired");
    answer(expect("GET", "?limit=500"), 200, list(30, "", ""));
    deny(expect("GET", "/workloads/a"));
    expect_told("-a@900 ");
}

static void test_hostile_object_whose_name_reads_differently_is_not_believed(void **state)
{
    (void)state;
    struct sl_exchange *w = open_workloads(10, workload("a", "u1", 5, ""));
    bring(w, event("ADDED", workload("\\u0061", "u2", 11, "")));
    bring(w, event("ADDED", workload("b", "u3", 12, "\"metadata\":null")));
    bring(w, event("ADDED", workload("c", "u4", 13, "")));
    expect_told("?\\u0061@11 ?b@12 +c@13 ");
    assert_int_equal(counters().objects, 2);
    assert_int_equal(counters().unreadable, 2);
}

/* To believe it would be to give away what the Workload holds: it says nothing of a reservation any more. */
static void test_hostile_object_of_another_form_is_not_believed(void **state)
{
    (void)state;
    static const char *const bad[] = {"\"status\":\"none\"",
                                      "\"status\":{\"admission\":[]}",
                                      "\"status\":{\"conditions\":{\"type\":\"QuotaReserved\"}}",
                                      "\"status\":{\"conditions\":[{\"type\":true}]}",
                                      "\"spec\":7",
                                      "\"spec\":{\"active\":\"false\"}"};
    struct sl_exchange *w = open_workloads(10, workload("a", "u1", 5, ""));
    for (unsigned i = 0; i < sizeof bad / sizeof bad[0]; i++) {
        bring(w, event("MODIFIED", workload("a", "u1", 20 + i, bad[i])));
    }
    expect_told("?a@20 ");
    assert_int_equal(counters().unreadable, 1);
    bring(w, event("MODIFIED", workload("a", "u1", 30, "\"spec\":{\"active\":false}")));
    expect_told("~a@30 ");
}

/* As a standby does, which reads nothing before it leads. */
static void test_hostile_object_of_another_form_is_not_believed_later(void **state)
{
    (void)state;
    kube_open(&(struct sl_kube_options){0});
    sl_kube_follow(kube, SL_KIND_WORKLOAD);
    answer(expect("GET", "?limit=500"), 200, list(10, "", workload("a", "u1", 5, "\"status\":[]")));
    client.watch(client.self, SL_KIND_WORKLOAD, on_told, NULL);
    expect_told("?a@5 . ");
}

static void test_hostile_watch_refused_again_and_again_waits_as_long_as_it_was_told(void **state)
{
    (void)state;
    struct sl_response r = {.code = SL_CODE_TOO_MANY, .status = 429, .retry_ms = 50000};
    struct sl_exchange *w = open_workloads(10, "");
    for (int i = 0; i < 4; i++) {
        end_with(w, &r);
        pass_ms(49999);
        assert_int_equal(open_count(), 0);
        pass_ms(1);
        /* The second list is due then. */
        w = i == 0 ? expect("GET", "watch=true") : expect("GET", "?limit=500");
    }
}

/* The watch has gone on until now, and a list comes. */
static void list_comes_after(uint64_t ms, const char *body)
{
    pass_ms(ms - 1);
    assert_null(find("GET", "?limit=500"));
    (void)expect("GET", "watch=true");
    pass_ms(1);
    assert_null(find("GET", "watch=true"));
    answer(expect("GET", "?limit=500"), 200, body);
}

/* What it lacked nobody misses, and no watch tells of it. */
static void test_hostile_first_list_is_compared_with_two_more(void **state)
{
    (void)state;
    (void)open_workloads(10, "");
    list_comes_after(60000, list(10, "", workload("a", "u1", 5, "")));
    expect_told("+a@5 ");
    list_comes_after(900000, list(20, "", workload("b", "u2", 15, "")));
    deny(expect("GET", "/workloads/a"));
    expect_told("+b@15 -a@5 ");
    pass_ms(10000000);
    assert_null(find("GET", "?limit=500"));
}

/* It may have been spoiled on its way. */
static void test_hostile_what_cannot_be_read_is_asked_for_again(void **state)
{
    (void)state;
    struct sl_exchange *w = open_workloads(10, workload("a", "u1", 5, ""));
    bring(w, event("MODIFIED", workload("a", "u1", 11, "\"spec\":[1 2]")));
    expect_told("?a@11 ");
    pass_ms(1500);
    answer(expect("GET", "?limit=500"), 200, list(12, "", workload("a", "u1", 11, "")));
    expect_told("~a@11 ");
    assert_int_equal(counters().unreadable, 0);
}

static void test_hostile_what_stays_unreadable_is_asked_for_less_and_less(void **state)
{
    (void)state;
    static const char *const spoiled = "\"spec\":[1 2]";
    struct sl_exchange *w = open_workloads(10, "");
    bring(w, event("ADDED", workload("a", "u1", 11, spoiled)));
    uint64_t lists = counters().lists;
    for (int s = 0; s < 3600; s++) {
        pass_ms(1000);
        struct sl_exchange *x = find("GET", "?limit=500");
        if (x != NULL) {
            answer(x, 200, list(11, "", workload("a", "u1", 11, spoiled)));
        }
    }
    assert_in_range(counters().lists - lists, 12, 24); /* nine until they are five minutes apart */
}

/* As a standby does, which reads nothing before it leads. */
static void test_hostile_what_the_first_watcher_cannot_read_is_asked_for_again(void **state)
{
    (void)state;
    kube_open(&(struct sl_kube_options){0});
    sl_kube_follow(kube, SL_KIND_WORKLOAD);
    answer(expect("GET", "?limit=500"), 200, list(10, "", workload("a", "u1", 5, "\"status\":[]")));
    assert_int_equal(sl_kube_unknown(kube, SL_KIND_WORKLOAD), 0);
    client.watch(client.self, SL_KIND_WORKLOAD, on_told, NULL);
    assert_int_equal(sl_kube_unknown(kube, SL_KIND_WORKLOAD), 1);
    pass_ms(1500);
    answer(expect("GET", "?limit=500"), 200, list(10, "", workload("a", "u1", 5, "")));
    expect_told("?a@5 . +a@5 ");
    assert_int_equal(sl_kube_unknown(kube, SL_KIND_WORKLOAD), 0);
}

static void test_hostile_watch_that_ends_soon_is_not_followed_at_once(void **state)
{
    (void)state;
    struct sl_exchange *w = open_workloads(10, "");
    bring(w, event("BOOKMARK", "{\"metadata\":{\"resourceVersion\":\"12\"}}"));
    pass_ms(300);
    answer(w, 200, "");
    assert_int_equal(open_count(), 0);
    pass_ms(699);
    assert_int_equal(open_count(), 0);
    pass_ms(1);
    expect("GET", "resourceVersion=12&");
}

static void test_hostile_lists_anew_at_once_but_once_a_second(void **state)
{
    (void)state;
    struct sl_exchange *w = open_workloads(10, "");
    for (int i = 0; i < 2; i++) {
        pass_ms(1000);
        bring(w, event("BOOKMARK", "{\"metadata\":{\"resourceVersion\":\"12\"}}"));
        bring(w, event("ERROR", "{\"code\":410}"));
        answer(expect("GET", "?limit=500"), 200, list(30, "", ""));
        w = expect("GET", "watch=true");
    }
    bring(w, event("BOOKMARK", "{\"metadata\":{\"resourceVersion\":\"32\"}}"));
    bring(w, event("ERROR", "{\"code\":410}"));
    assert_null(find("GET", "?limit=500"));
    pass_ms(1200);
    expect("GET", "?limit=500");
}

/* A backup came back that knows nothing of what we wrote last. */
static void test_hostile_list_asked_for_after_a_write_is_believed(void **state)
{
    (void)state;
    struct sl_exchange *w = open_workloads(10, "");
    struct sl_json *o = sl_object_new(SL_KIND_WORKLOAD, "n", "a");
    struct sl_write write = {
        .verb = SL_VERB_CREATE, .kind = SL_KIND_WORKLOAD, .ns = "n", .name = "a", .body = o};
    client.write(client.self, &write, NULL, NULL);
    answer(expect("POST", "/workloads"), 201, workload("a", "u1", 50, ""));
    sl_json_free(o);
    expect_told("+a@50 ");
    refuse(w, 410, "Expired");
    answer(expect("GET", "?limit=500"), 200, list(30, "", ""));
    deny(expect("GET", "/workloads/a"));
    expect_told("-a@50 ");
}

/* The same, but others have written a lot since. */
static void test_hostile_older_state_of_one_object_is_believed_in_a_list(void **state)
{
    (void)state;
    refuse(open_workloads(50, workload("a", "u1", 40, "")), 410, "Expired");
    answer(expect("GET", "?limit=500"), 200, list(900, "", workload("a", "u1", 30, "")));
    expect_told("~a@30 ");
}

/* A version that is used again does not say the same. */
static void test_hostile_other_object_of_the_same_version_is_believed_in_a_list(void **state)
{
    (void)state;
    refuse(open_workloads(50, workload("a", "u1", 40, "")), 410, "Expired");
    answer(expect("GET", "?limit=500"), 200, list(900, "", workload("a", "u2", 40, "")));
    expect_told("-a@40 +a@40 ");
}

/* ... but one that was asked for before may not know it yet. */
static void test_hostile_list_asked_for_before_a_write_is_not_believed(void **state)
{
    (void)state;
    struct sl_exchange *w = open_workloads(10, "");
    struct sl_json *o = sl_object_new(SL_KIND_WORKLOAD, "n", "a");
    struct sl_write write = {
        .verb = SL_VERB_CREATE, .kind = SL_KIND_WORKLOAD, .ns = "n", .name = "a", .body = o};
    refuse(w, 410, "Expired");
    struct sl_exchange *l = expect("GET", "?limit=500");
    client.write(client.self, &write, NULL, NULL);
    answer(expect("POST", "/workloads"), 201, workload("a", "u1", 50, ""));
    sl_json_free(o);
    answer(l, 200, list(30, "", ""));
    expect_told("+a@50 ");
}

#define TEST(name) cmocka_unit_test_teardown(test_hostile_##name, kube_close)

int main(void)
{
    const struct CMUnitTest tests[] = {
        TEST(pages_that_repeat_are_a_failure),
        TEST(pages_without_an_end_are_a_failure),
        TEST(items_with_something_between_them_are_no_list),
        TEST(object_newer_than_its_list_does_not_stay),
        TEST(list_asked_for_after_a_write_is_believed),
        TEST(older_state_of_one_object_is_believed_in_a_list),
        TEST(other_object_of_the_same_version_is_believed_in_a_list),
        TEST(list_asked_for_before_a_write_is_not_believed),
        TEST(object_whose_name_reads_differently_is_not_believed),
        TEST(object_of_another_form_is_not_believed),
        TEST(object_of_another_form_is_not_believed_later),
        TEST(first_list_is_compared_with_two_more),
        TEST(what_cannot_be_read_is_asked_for_again),
        TEST(what_stays_unreadable_is_asked_for_less_and_less),
        TEST(what_the_first_watcher_cannot_read_is_asked_for_again),
        TEST(watch_refused_again_and_again_waits_as_long_as_it_was_told),
        TEST(watch_that_ends_soon_is_not_followed_at_once),
        TEST(lists_anew_at_once_but_once_a_second),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
