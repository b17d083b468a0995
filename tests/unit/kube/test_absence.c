/* SPDX-License-Identifier: Apache-2.0
 * SPDX-FileCopyrightText: The Sluice authors */

/* Unit tests of what is believed to be gone, and of what cannot be read: quota is given back for what is gone. */
#include "fake_server.h"

#define GROUPS "{\"kind\":\"APIGroupList\",\"groups\":[{\"name\":\"apps\"}%s]}"
#define GROUP ",{\"name\":\"autoscaling.x-k8s.io\",\"versions\":[{\"version\":\"v1\"}]}"
#define RESOURCES "{\"kind\":\"APIResourceList\",\"resources\":[{\"name\":\"%s\"}]}"

static const char broken[] =
    "\"spec\":[1 2]"; /* brackets fit, so that it is found, and is no JSON */

static const char *print(const char *format, const char *part)
{
    static char text[600];
    (void)snprintf(text, sizeof text, format, part);
    return text;
}

static enum sl_code code_of(enum sl_kind kind, const char *name)
{
    struct sl_json *o = NULL;
    struct sl_error e = {0};
    enum sl_code code = client.get(client.self, kind, "n", name, &o, &e);
    sl_json_free(o);
    return code;
}

/* --- kinds ------------------------------------------------------------------------------------ */

static void test_absence_kind_that_every_cluster_has_is_waited_for(void **state)
{
    (void)state;
    kube_open(&(struct sl_kube_options){0});
    client.watch(client.self, SL_KIND_WORKLOAD, on_told, NULL);
    for (int i = 0; i < 3; i++) {
        answer(expect("GET", "?limit=500"), 404, "404 page not found");
        assert_false(sl_kube_synced(kube));
        assert_int_equal(counters().kinds_unserved, 1);
        assert_int_equal(open_count(), 0);
        pass_ms(10000);
    }
    expect_told("");
    answer(expect("GET", "?limit=500"), 200, list(10, "", workload("a", "u1", 5, "")));
    expect_told("+a@5 . ");
    assert_int_equal(counters().kinds_unserved, 0);
}

static void test_absence_kind_that_is_gone_keeps_what_is_known(void **state)
{
    (void)state;
    struct sl_exchange *w = open_workloads(10, workload("a", "u1", 5, ""));
    refuse(w, 404, "NotFound");
    for (int i = 0; i < 4; i++) {
        answer(expect("GET", "?limit=500"), 404, "404 page not found");
        assert_int_equal(code_of(SL_KIND_WORKLOAD, "a"), SL_CODE_OK);
        assert_int_equal(counters().kinds_unserved, 1);
        pass_ms(10000);
    }
    expect_told("");
    answer(expect("GET", "?limit=500"), 200, list(30, "", workload("a", "u1", 5, "")));
    expect_told("");
    expect("GET", "resourceVersion=30&");
}

static void open_optional(void)
{
    kube_open(&(struct sl_kube_options){0});
    client.watch(client.self, SL_KIND_PROVISIONING_REQUEST, on_told, NULL);
    answer(expect("GET", "?limit=500"), 404, "404 page not found");
    expect_told("");
}

static void test_absence_optional_kind_that_discovery_does_not_list_counts_as_empty(void **state)
{
    (void)state;
    open_optional();
    answer(expect("GET", "/apis"), 200, print(GROUPS, ""));
    expect_told(". ");
    assert_true(sl_kube_synced(kube));
    pass_ms(29999);
    assert_int_equal(open_count(), 0);
    pass_ms(1);
    answer(expect("GET", "?limit=500"), 404, "404 page not found");
    answer(expect("GET", "/apis"), 200, print(GROUPS, GROUP));
    answer(expect("GET", "/apis/autoscaling.x-k8s.io/v1"), 200, print(RESOURCES, "others"));
    expect_told("");
    pass_ms(30000);
    answer(expect("GET", "?limit=500"), 200, list(10, "", workload("a", "u1", 5, "")));
    expect_told("+a@5 ");
    refuse(expect("GET", "watch=true"), 404, "NotFound");
    answer(expect("GET", "?limit=500"), 404, "404 page not found");
    assert_null(find("GET", "/apis")); /* now there is something to lose */
    expect_told("");
}

/* A cluster whose API server knows no devices, or only in older versions, has none. */
static void assert_absent(enum sl_kind kind)
{
    kube_open(&(struct sl_kube_options){0});
    client.watch(client.self, kind, on_told, NULL);
    answer(expect("GET", "?limit=500"), 404, "404 page not found");
    answer(expect("GET", "/apis"), 200,
           "{\"kind\":\"APIGroupList\",\"groups\":[{\"name\":\"resource.k8s.io\",\"versions\":["
           "{\"groupVersion\":\"resource.k8s.io/v1beta1\",\"version\":\"v1beta1\"}]}]}");
    expect_told(". ");
    assert_true(sl_kube_synced(kube));
    pass_ms(30000);
    answer(expect("GET", "?limit=500"), 200, list(10, "", ""));
    expect_told("");
}

static void test_absence_device_classes_are_optional(void **state)
{
    (void)state;
    assert_absent(SL_KIND_DEVICE_CLASS);
}

static void test_absence_resource_claim_templates_are_optional(void **state)
{
    (void)state;
    assert_absent(SL_KIND_RESOURCE_CLAIM_TEMPLATE);
}

static void test_absence_resource_slices_are_optional(void **state)
{
    (void)state;
    assert_absent(SL_KIND_RESOURCE_SLICE);
}

/* --- kinds of which only the name is known ---------------------------------------------------- */

#define FLOWS                                                                                      \
    "{\"kind\":\"APIResourceList\",\"resources\":[{\"name\":\"flows/status\",\"kind\":\"Flow\"},"  \
    "{\"name\":\"%s\",\"kind\":\"Flow\",\"namespaced\":true},{\"name\":\"tasks\",\"kind\":"        \
    "\"Task\"}]}"
#define FLOW_GROUP ",{\"name\":\"example.com\",\"versions\":[{\"version\":\"v1\"}]}"

static enum sl_kind open_named(void)
{
    struct sl_error e = {0};
    enum sl_kind kind = SL_KIND_COUNT;
    assert_int_equal(sl_kind_name("example.com/v1", "Flow", &kind, &e), SL_CODE_OK);
    kube_open(&(struct sl_kube_options){0});
    client.watch(client.self, kind, on_told, NULL);
    return kind;
}

static void test_absence_kind_known_by_its_name_is_found_by_discovery(void **state)
{
    (void)state;
    enum sl_kind kind = open_named();
    answer(expect("GET", "/apis"), 200, print(GROUPS, FLOW_GROUP));
    assert_false(sl_kube_synced(kube));
    answer(expect("GET", "/apis/example.com/v1"), 200, print(FLOWS, "flowz"));
    struct sl_exchange *x = expect("GET", "/apis/example.com/v1/flowz?limit=500");
    answer(x, 200, list(10, "", workload("a", "u1", 5, "")));
    expect_told("+a@5 . ");
    assert_int_equal(code_of(kind, "a"), SL_CODE_OK);
    expect("GET", "/apis/example.com/v1/flowz?watch=true");
}

/* Its CustomResourceDefinition may come later. */
static void test_absence_kind_known_by_its_name_that_nobody_serves_is_looked_for(void **state)
{
    (void)state;
    enum sl_kind kind = open_named();
    answer(expect("GET", "/apis"), 200, print(GROUPS, ""));
    expect_told(". ");
    assert_true(sl_kube_synced(kube));
    assert_int_equal(code_of(kind, "a"), SL_CODE_NOT_FOUND);
    pass_ms(30000);
    answer(expect("GET", "/apis"), 200, print(GROUPS, FLOW_GROUP));
    answer(expect("GET", "/apis/example.com/v1"), 200, print(RESOURCES, "others"));
    assert_int_equal(open_count(), 0);
    pass_ms(30000);
    answer(expect("GET", "/apis"), 500, "");
    pass_ms(10000);
    answer(expect("GET", "/apis"), 200, print(GROUPS, FLOW_GROUP));
    answer(expect("GET", "/apis/example.com/v1"), 200, print(FLOWS, "flows"));
    answer(expect("GET", "/apis/example.com/v1/flows?limit=500"), 200,
           list(10, "", workload("a", "u1", 5, "")));
    expect_told("+a@5 ");
}

/* A definition that was deleted and made again with another plural; and one that makes no sense changes nothing. */
static void test_absence_kind_known_by_its_name_may_get_another_plural(void **state)
{
    (void)state;
    open_named();
    answer(expect("GET", "/apis"), 200, print(GROUPS, FLOW_GROUP));
    answer(expect("GET", "/apis/example.com/v1"), 200, print(FLOWS, "flows"));
    answer(expect("GET", "/flows?limit=500"), 404, "404 page not found");
    answer(expect("GET", "/apis"), 200, print(GROUPS, FLOW_GROUP));
    answer(expect("GET", "/apis/example.com/v1"), 200, print(FLOWS, "No Name"));
    expect_told(". ");
    pass_ms(30000);
    answer(expect("GET", "/flows?limit=500"), 404, "404 page not found");
    answer(expect("GET", "/apis"), 200, print(GROUPS, FLOW_GROUP));
    answer(expect("GET", "/apis/example.com/v1"), 200, print(FLOWS, "streams"));
    expect("GET", "/apis/example.com/v1/streams?limit=500");
}

static void test_absence_optional_kind_that_discovery_lists_is_waited_for(void **state)
{
    (void)state;
    open_optional();
    answer(expect("GET", "/apis"), 200, print(GROUPS, GROUP));
    answer(expect("GET", "/apis/autoscaling.x-k8s.io/v1"), 200,
           print(RESOURCES, "provisioningrequests"));
    assert_false(sl_kube_synced(kube));
    pass_ms(1200);
    expect("GET", "?limit=500");
}

static void test_absence_server_that_answers_all_with_404_is_not_believed(void **state)
{
    (void)state;
    static const char *const bad[] = {"", "{\"kind\":\"APIGroupList\",\"groups\":[]}",
                                      "{\"kind\":\"Status\",\"groups\":[{\"name\":\"apps\"}]}"};
    open_optional();
    answer(expect("GET", "/apis"), 404, "404 page not found");
    for (size_t i = 0; i < sizeof bad / sizeof bad[0]; i++) {
        assert_false(sl_kube_synced(kube));
        assert_int_equal(open_count(), 0);
        pass_ms(10000);
        answer(expect("GET", "?limit=500"), 404, "");
        answer(expect("GET", "/apis"), 200, bad[i]);
    }
    assert_false(sl_kube_synced(kube));
    pass_ms(10000);
    answer(expect("GET", "?limit=500"), 404, "");
    answer(expect("GET", "/apis"), 200, print(GROUPS, GROUP));
    lose(expect("GET", "/apis/autoscaling.x-k8s.io/v1"));
    assert_false(sl_kube_synced(kube));
}

/* --- lists that lie --------------------------------------------------------------------------- */

static void test_absence_list_that_lacks_what_exists_is_not_believed(void **state)
{
    (void)state;
    char items[900];
    (void)snprintf(items, sizeof items, "%s,%s", workload("a", "u1", 5, ""),
                   workload("b", "u2", 6, ""));
    refuse(open_workloads(10, items), 410, "Expired");
    for (int i = 0; i < 3; i++) {
        answer(expect("GET", "?limit=500"), 200, list(30, "", workload("b", "u2", 6, "")));
        answer(expect("GET", "/workloads/a"), 200, workload("a", "u1", 5, ""));
        assert_int_equal(open_count(), 0);
        pass_ms(10000);
    }
    expect_told("");
    answer(expect("GET", "?limit=500"), 200, list(40, "", items));
    expect_told("");
    expect("GET", "resourceVersion=40&");
}

static void test_absence_object_of_which_nobody_can_tell_stays(void **state)
{
    (void)state;
    static const int statuses[] = {401, 403, 404, 410, 429, 500, 504};
    refuse(open_workloads(10, workload("a", "u1", 5, "")), 410, "Expired");
    for (size_t i = 0; i < sizeof statuses / sizeof statuses[0]; i++) {
        answer(expect("GET", "?limit=500"), 200, list(30, "", ""));
        answer(expect("GET", "/workloads/a"), statuses[i], "404 page not found");
        pass_ms(10000);
    }
    answer(expect("GET", "?limit=500"), 200, list(30, "", ""));
    answer(expect("GET", "/workloads/a"), 200, workload("b", "u1", 5, ""));
    pass_ms(10000);
    expect_told("");
    assert_int_equal(counters().objects, 1);
}

static void test_absence_object_made_again_since_the_list_is_no_lie(void **state)
{
    (void)state;
    refuse(open_workloads(10, workload("a", "u1", 5, "")), 410, "Expired");
    answer(expect("GET", "?limit=500"), 200, list(30, "", ""));
    answer(expect("GET", "/workloads/a"), 200, workload("a", "u2", 31, ""));
    expect_told("-a@5 +a@31 ");
    expect("GET", "resourceVersion=30&");
}

/* It was on its way when the object was deleted; the list has not come to its end. */
static void test_absence_late_answer_does_not_bring_back_what_has_vanished(void **state)
{
    (void)state;
    char items[900];
    (void)snprintf(items, sizeof items, "%s,%s", workload("a", "u1", 5, ""),
                   workload("b", "u2", 6, ""));
    refuse(open_workloads(10, items), 410, "Expired");
    struct sl_json *o = sl_object_new(SL_KIND_WORKLOAD, "n", "a");
    struct sl_write write = {
        .verb = SL_VERB_PATCH_MERGE, .kind = SL_KIND_WORKLOAD, .ns = "n", .name = "a", .body = o};
    client.write(client.self, &write, NULL, NULL);
    struct sl_exchange *late = expect("PATCH", "/workloads/a");
    struct sl_exchange *list_of = expect("GET", "?limit=500");
    answer(list_of, 200, list(30, "", ""));
    for (int i = 0; i < 2; i++) {
        struct sl_exchange *x = find("GET", "/workloads/a");
        deny(x != NULL ? x : expect("GET", "/workloads/b"));
        if (i == 0 && x != NULL) {
            answer(late, 200, workload("a", "u1", 20, ""));
            late = NULL;
        }
    }
    if (late != NULL) {
        answer(late, 200, workload("a", "u1", 20, ""));
    }
    sl_json_free(o);
    assert_int_equal(counters().objects, 0);
}

/* The list of version 30 lacks all; while the API server is asked for "a", an answer to a write of version 20 comes. */
static void answer_late(const char *name, const char *uid)
{
    char path[64];
    refuse(open_workloads(10, workload("a", "u1", 5, "")), 410, "Expired");
    struct sl_json *o = sl_object_new(SL_KIND_WORKLOAD, "n", name);
    struct sl_write write = {
        .verb = SL_VERB_PATCH_MERGE, .kind = SL_KIND_WORKLOAD, .ns = "n", .name = name, .body = o};
    client.write(client.self, &write, NULL, NULL);
    (void)snprintf(path, sizeof path, "/workloads/%s", name);
    struct sl_exchange *late = expect("PATCH", path);
    answer(expect("GET", "?limit=500"), 200, list(30, "", ""));
    struct sl_exchange *asked = expect("GET", "/workloads/a");
    answer(late, 200, workload(name, uid, 20, ""));
    deny(asked);
    sl_json_free(o);
}

/* An answer to a write is no word of a list. */
static void test_absence_answer_on_its_way_does_not_keep_what_the_list_lacks(void **state)
{
    (void)state;
    answer_late("a", "u1");
    assert_int_equal(counters().objects, 0);
}

/* Made and deleted while nobody watched: the list is newer than the answer that tells of it. */
static void test_absence_late_answer_does_not_make_what_the_list_lacks(void **state)
{
    (void)state;
    answer_late("b", "u2");
    assert_int_equal(counters().objects, 0);
}

static void test_absence_lists_of_something_else_are_no_lists(void **state)
{
    (void)state;
    static const char *const bad[] = {
        "{\"kind\":\"Status\",\"items\":[],\"metadata\":{\"resourceVersion\":\"90\"}}",
        "{\"kind\":\"JobList\",\"items\":[],\"metadata\":{\"resourceVersion\":\"90\"}}",
        "{\"kind\":\"WorkloadList\",\"apiVersion\":\"batch/v1\",\"items\":[],"
        "\"metadata\":{\"resourceVersion\":\"90\"}}",
        "{\"kind\":\"WorkloadList\",\"items\":[],\"metadata\":{}}",
        "{\"kind\":\"WorkloadList\",\"metadata\":{\"resourceVersion\":\"90\"}}",
        "{\"kind\":\"WorkloadList\",\"items\":{},\"metadata\":{\"resourceVersion\":\"90\"}}",
        "{\"items\":[],\"metadata\":{\"resourceVersion\":\"90\",\"continue\":\"x\"}}"};
    refuse(open_workloads(10, workload("a", "u1", 5, "")), 410, "Expired");
    for (size_t i = 0; i < sizeof bad / sizeof bad[0]; i++) {
        answer(expect("GET", "?limit=500"), 200, bad[i]);
        assert_int_equal(open_count(), 0);
        pass_ms(10000);
    }
    expect_told("");
}

static void test_absence_list_too_large_is_asked_for_in_smaller_pages(void **state)
{
    (void)state;
    struct sl_response r = {.code = SL_CODE_TOO_LARGE, .reason = "the answer is larger"};
    kube_open(&(struct sl_kube_options){0});
    sl_kube_follow(kube, SL_KIND_WORKLOAD);
    end_with(expect("GET", "?limit=500"), &r);
    pass_ms(10000);
    end_with(expect("GET", "?limit=250"), &r);
    pass_ms(10000);
    answer(expect("GET", "?limit=125"), 200, list(30, "", ""));
    assert_true(sl_kube_synced(kube));
}

/* Every page has an object, and a token that nobody has seen. */
static void test_absence_list_without_an_end_is_given_up(void **state)
{
    (void)state;
    char token[32];
    unsigned pages = 0;
    kube_open(&(struct sl_kube_options){0});
    sl_kube_follow(kube, SL_KIND_WORKLOAD);
    turn();
    struct sl_exchange *x = find("GET", "limit=500");
    for (; x != NULL && pages < 5000; pages++) {
        (void)snprintf(token, sizeof token, "t%u", pages);
        forget_exchanges();
        struct sl_exchange asked = *x;
        answer(&asked, 200, list(30, token, workload("a", "u1", 5, "")));
        x = find("GET", "limit=500");
    }
    assert_in_range(pages, 1000, 2100);
    assert_int_equal(open_count(), 0);
}

/* --- what cannot be read ---------------------------------------------------------------------- */

static void test_absence_unreadable_object_keeps_its_last_state(void **state)
{
    (void)state;
    struct sl_exchange *w = open_workloads(10, workload("a", "u1", 5, ""));
    bring(w, event("MODIFIED", workload("a", "u1", 11, broken)));
    bring(w, event("MODIFIED", workload("a", "u1", 12, broken)));
    expect_told("?a@11 ");
    assert_int_equal(code_of(SL_KIND_WORKLOAD, "a"), SL_CODE_OK);
    assert_int_equal(counters().unreadable, 1);
    refuse(w, 410, "Expired");
    answer(expect("GET", "?limit=500"), 200, list(30, "", workload("a", "u1", 12, broken)));
    w = expect("GET", "resourceVersion=30&");
    expect_told("");
    bring(w, event("MODIFIED", workload("a", "u1", 31, "")));
    expect_told("~a@31 ");
    assert_int_equal(counters().unreadable, 0);
    bring(w, event("MODIFIED", workload("a", "u1", 32, broken)));
    bring(w, event("DELETED", workload("a", "u1", 33, broken)));
    expect_told("?a@32 -a@31 ");
    assert_int_equal(counters().unreadable, 0);
    assert_int_equal(code_of(SL_KIND_WORKLOAD, "a"), SL_CODE_NOT_FOUND);
}

static void test_absence_object_that_never_could_be_read_is_there(void **state)
{
    (void)state;
    char items[900];
    (void)snprintf(items, sizeof items, "%s,%s", workload("a", "u1", 5, broken),
                   workload("b", "u2", 6, ""));
    kube_open(&(struct sl_kube_options){0});
    client.watch(client.self, SL_KIND_WORKLOAD, on_told, NULL);
    answer(expect("GET", "?limit=500"), 200, list(10, "", items));
    struct sl_exchange *w = expect("GET", "watch=true");
    expect_told("?a@5 +b@6 . ");
    assert_int_equal(code_of(SL_KIND_WORKLOAD, "a"), SL_CODE_UNAVAILABLE);
    assert_int_equal(code_of(SL_KIND_WORKLOAD, "c"), SL_CODE_NOT_FOUND);
    assert_int_equal(counters().objects, 1);
    bring(w, event("MODIFIED", workload("a", "u1", 11, "")));
    expect_told("+a@11 ");
    assert_int_equal(counters().objects, 2);
}

/* A standby reads nothing; the first who watches is told. */
static void test_absence_unreadable_object_is_told_to_who_comes_later(void **state)
{
    (void)state;
    kube_open(&(struct sl_kube_options){0});
    sl_kube_follow(kube, SL_KIND_WORKLOAD);
    answer(expect("GET", "?limit=500"), 200, list(10, "", workload("a", "u1", 5, broken)));
    struct sl_exchange *w = expect("GET", "watch=true");
    client.watch(client.self, SL_KIND_WORKLOAD, on_told, NULL);
    expect_told("?a@5 . ");
    assert_int_equal(code_of(SL_KIND_WORKLOAD, "a"), SL_CODE_UNAVAILABLE);
    bring(w, event("DELETED", workload("a", "u1", 11, broken)));
    assert_int_equal(code_of(SL_KIND_WORKLOAD, "a"), SL_CODE_NOT_FOUND);
    assert_int_equal(counters().unreadable, 0);
    expect_told("");
}

static void test_absence_unreadable_object_in_the_place_of_another(void **state)
{
    (void)state;
    struct sl_exchange *w = open_workloads(10, workload("a", "u1", 5, ""));
    bring(w, event("MODIFIED", workload("a", "u2", 11, broken)));
    expect_told("-a@5 ?a@11 ");
    assert_int_equal(code_of(SL_KIND_WORKLOAD, "a"), SL_CODE_UNAVAILABLE);
}

/* --- asking the source ------------------------------------------------------------------------ */

static enum sl_code replied;

static void on_reply(void *context, enum sl_code code, const struct sl_error *e,
                     struct sl_json *result)
{
    (void)context;
    (void)e;
    (void)result;
    replied = code;
}

static struct sl_exchange *ask(const char *name)
{
    struct sl_write w = {.verb = SL_VERB_READ, .kind = SL_KIND_WORKLOAD, .ns = "n", .name = name};
    replied = SL_CODE_INTERNAL;
    client.write(client.self, &w, on_reply, NULL);
    char path[100];
    (void)snprintf(path, sizeof path, "/workloads/%s", name);
    return expect("GET", path);
}

static void test_absence_source_says_what_exists(void **state)
{
    (void)state;
    (void)open_workloads(10, "");
    assert_true(client.cached);
    deny(ask("a"));
    assert_int_equal(replied, SL_CODE_NOT_FOUND);
    answer(ask("b"), 200, workload("b", "u1", 12, ""));
    assert_int_equal(replied, SL_CODE_OK);
    expect_told("+b@12 ");
    answer(ask("c"), 404, "404 page not found");
    for (int i = 0; i < 4; i++) {
        assert_int_equal(replied, SL_CODE_INTERNAL);
        pass_ms(10000);
        answer(expect("GET", "/workloads/c"), 404, "404 page not found");
    }
    assert_int_equal(replied, SL_CODE_UNAVAILABLE);
}

#define TEST(name) cmocka_unit_test_teardown(test_absence_##name, kube_close)

static int forget(void **state)
{
    int failure = kube_close(state);
    sl_kind_forget_custom();
    return failure;
}
#define TEST_NAMED(name) cmocka_unit_test_teardown(test_absence_##name, forget)

int main(void)
{
    const struct CMUnitTest tests[] = {
        TEST(kind_that_every_cluster_has_is_waited_for),
        TEST(kind_that_is_gone_keeps_what_is_known),
        TEST(optional_kind_that_discovery_does_not_list_counts_as_empty),
        TEST(device_classes_are_optional),
        TEST(resource_claim_templates_are_optional),
        TEST(resource_slices_are_optional),
        TEST_NAMED(kind_known_by_its_name_is_found_by_discovery),
        TEST_NAMED(kind_known_by_its_name_that_nobody_serves_is_looked_for),
        TEST_NAMED(kind_known_by_its_name_may_get_another_plural),
        TEST(optional_kind_that_discovery_lists_is_waited_for),
        TEST(server_that_answers_all_with_404_is_not_believed),
        TEST(list_that_lacks_what_exists_is_not_believed),
        TEST(object_of_which_nobody_can_tell_stays),
        TEST(object_made_again_since_the_list_is_no_lie),
        TEST(late_answer_does_not_bring_back_what_has_vanished),
        TEST(answer_on_its_way_does_not_keep_what_the_list_lacks),
        TEST(late_answer_does_not_make_what_the_list_lacks),
        TEST(lists_of_something_else_are_no_lists),
        TEST(list_too_large_is_asked_for_in_smaller_pages),
        TEST(list_without_an_end_is_given_up),
        TEST(unreadable_object_keeps_its_last_state),
        TEST(object_that_never_could_be_read_is_there),
        TEST(unreadable_object_is_told_to_who_comes_later),
        TEST(unreadable_object_in_the_place_of_another),
        TEST(source_says_what_exists),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
