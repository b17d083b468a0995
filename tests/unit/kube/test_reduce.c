/* SPDX-License-Identifier: Apache-2.0
 * SPDX-FileCopyrightText: The Sluice authors */

/* Unit tests of what is kept of the objects that a server sends. */
#include "api/objects/form.h"
#include "kube/reduce.h"

#include "base/mem.h"
#include "kube/flow.h"
#include <setjmp.h>
#include <stdarg.h>
#include <string.h>

#include <cmocka.h>

static struct sl_item item;

static const char *reduce(enum sl_kind kind, const char *text)
{
    struct sl_error e = {0};
    assert_int_equal(sl_item_reduce(&item, kind, (struct sl_span){text, strlen(text)}, &e),
                     SL_CODE_OK);
    return item.text.data;
}

static void refuses(const char *text)
{
    struct sl_error e = {0};
    assert_int_equal(sl_item_reduce(&item, SL_KIND_POD, (struct sl_span){text, strlen(text)}, &e),
                     SL_CODE_BAD_REQUEST);
    assert_non_null(strstr(e.text, "cannot be read"));
}

static int teardown(void **state)
{
    (void)state;
    sl_item_fini(&item);
    return 0;
}

static void test_reduce_every_kind_loses_bookkeeping(void **state)
{
    (void)state;
    assert_string_equal(
        reduce(
            SL_KIND_WORKLOAD,
            "{\"metadata\":{\"managedFields\":[{\"a\":\"}\"}],\"name\":\"w\",\"namespace\":\"n\","
            "\"uid\":\"u-1\",\"resourceVersion\":\"42\",\"annotations\":{\"kubectl.kubernetes.io/"
            "last-applied-configuration\":\"{\\\"a\\\\\\\"\\\":1}\",\"b\":\"c\"}},\"spec\":{\"x\":["
            "1, 2]}}"),
        "{\"apiVersion\":\"kueue.x-k8s.io/"
        "v1beta2\",\"kind\":\"Workload\",\"metadata\":{\"name\":\"w\","
        "\"namespace\":\"n\",\"uid\":\"u-1\",\"resourceVersion\":\"42\",\"annotations\":{\"b\":"
        "\"c\"}},"
        "\"spec\":{\"x\":[1, 2]}}");
    assert_string_equal(item.key, "n/w");
    assert_string_equal(item.uid, "u-1");
    assert_int_equal(item.version, 42);
}

#define HEAVY                                                                                      \
    "\"annotations\":{\"x\":\"HEAVY\"},\"name\":\"j\",\"namespace\":\"n\",\"uid\":\"u\","          \
    "\"resourceVersion\":\"4\""
#define HEAVY_SPEC                                                                                 \
    "{\"suspend\":true,\"template\":{\"metadata\":{\"annotations\":{\"x\":\"HEAVY\"}},\"spec\":{"  \
    "\"containers\":[{\"name\":\"c\",\"args\":[\"HEAVY\"],\"env\":[\"HEAVY\"],\"resources\":{"     \
    "\"requests\":{\"cpu\":\"1\"}}}],\"volumes\":[\"HEAVY\"]}}}"

/* A user without any queue must not fill the memory of the controller. */
static void test_reduce_job_without_a_mark_keeps_what_matters(void **state)
{
    (void)state;
    const char *text = reduce(SL_KIND_JOB, "{\"metadata\":{" HEAVY "},\"spec\":" HEAVY_SPEC "}");
    assert_null(strstr(text, "HEAVY"));
    assert_non_null(strstr(text, "\"suspend\":true"));
    assert_non_null(strstr(text, "{\"requests\":{\"cpu\":\"1\"}}"));
    text = reduce(SL_KIND_POD, "{\"metadata\":{" HEAVY "},\"spec\":{}}");
    assert_null(strstr(text, "HEAVY"));
}

static void test_reduce_job_with_a_mark_is_kept_whole(void **state)
{
    (void)state;
    static const char marked[] =
        "{\"metadata\":{" HEAVY ",\"labels\":{\"kueue.x-k8s.io/queue-name\":"
        "\"q\"}},\"spec\":" HEAVY_SPEC "}";
    const char *text = reduce(SL_KIND_JOB, marked);
    assert_non_null(strstr(text, HEAVY_SPEC));
    assert_non_null(strstr(text, "\"annotations\":{\"x\":\"HEAVY\"},\"name\""));
    item.all_jobs = true;
    text = reduce(SL_KIND_JOB, "{\"metadata\":{" HEAVY "},\"spec\":" HEAVY_SPEC "}");
    assert_non_null(strstr(text, HEAVY_SPEC));
    item.all_jobs = false;
}

static void test_reduce_type_of_item_is_written_once(void **state)
{
    (void)state;
    assert_string_equal(
        reduce(SL_KIND_NAMESPACE, " { \"kind\" : \"Other\" , \"apiVersion\":\"v9\", \"metadata\" : "
                                  "{ \"name\" : \"n\" , \"resourceVersion\" : \"7\" } } "),
        "{\"apiVersion\":\"v1\",\"kind\":\"Namespace\",\"metadata\":{\"name\":\"n\","
        "\"resourceVersion\":\"7\"}}");
    assert_string_equal(item.key, "/n");
}

static void test_reduce_pod_keeps_requests_and_loses_the_rest_of_containers(void **state)
{
    (void)state;
    assert_string_equal(
        reduce(
            SL_KIND_POD,
            "{\"metadata\":{\"name\":\"p\",\"resourceVersion\":\"1\"},\"spec\":{\"volumes\":[{}],"
            "\"containers\":[{\"name\":\"a\",\"env\":[{\"name\":\"]\"}],\"resources\":{"
            "\"requests\":"
            "{\"cpu\":\"1\"}}},{\"image\":\"i\",\"args\":[]}],\"initContainers\":[]},"
            "\"status\":{\"phase\":\"Running\",\"podIP\":\"10.0.0.1\"}}"),
        "{\"apiVersion\":\"v1\",\"kind\":\"Pod\",\"metadata\":{\"name\":\"p\",\"resourceVersion\":"
        "\"1\"},"
        "\"spec\":{\"containers\":[{\"name\":\"a\",\"resources\":{\"requests\":{\"cpu\":\"1\"}}},"
        "{\"image\":\"i\"}],\"initContainers\":[]},\"status\":{\"phase\":\"Running\"}}");
}

static void test_reduce_pod_of_a_queue_keeps_its_spec_whole(void **state)
{
    (void)state;
    assert_string_equal(
        reduce(
            SL_KIND_POD,
            "{\"metadata\":{\"name\":\"p\",\"resourceVersion\":\"1\",\"labels\":{\"kueue.x-k8s.io/"
            "queue-name\":\"q\"}},\"spec\":{\"containers\":[{\"env\":[]}]},\"status\":{\"podIP\":"
            "\"\"}}"),
        "{\"apiVersion\":\"v1\",\"kind\":\"Pod\",\"metadata\":{\"name\":\"p\",\"resourceVersion\":"
        "\"1\","
        "\"labels\":{\"kueue.x-k8s.io/"
        "queue-name\":\"q\"}},\"spec\":{\"containers\":[{\"env\":[]}]},"
        "\"status\":{}}");
}

static void test_reduce_node_keeps_what_scheduling_needs(void **state)
{
    (void)state;
    assert_string_equal(
        reduce(SL_KIND_NODE,
               "{\"metadata\":{\"name\":\"n\",\"resourceVersion\":\"1\",\"annotations\":"
               "{\"a\":\"b\"}},\"status\":{\"images\":[{\"names\":[\"x\"]}],\"allocatable\":"
               "{\"cpu\":\"4\"},\"nodeInfo\":{}}}"),
        "{\"apiVersion\":\"v1\",\"kind\":\"Node\",\"metadata\":{\"name\":\"n\",\"resourceVersion\":"
        "\"1\"},"
        "\"status\":{\"allocatable\":{\"cpu\":\"4\"}}}");
}

/* It is looked at for its labels, and for who owns it. */
static void test_reduce_owner_that_is_managed_elsewhere_is_its_metadata(void **state)
{
    (void)state;
    enum sl_kind kind;
    struct sl_error e = {0};
    assert_int_equal(sl_kind_name("example.com/v1", "Flow", &kind, &e), SL_CODE_OK);
    assert_string_equal(
        reduce(kind, "{\"metadata\":{\"name\":\"f\",\"namespace\":\"n\",\"uid\":\"u\","
                     "\"resourceVersion\":\"4\",\"labels\":{\"a\":\"b\"}},\"spec\":{\"x\":1},"
                     "\"status\":{\"y\":2}}"),
        "{\"apiVersion\":\"example.com/v1\",\"kind\":\"Flow\",\"metadata\":{\"name\":\"f\","
        "\"namespace\":\"n\",\"uid\":\"u\",\"resourceVersion\":\"4\",\"labels\":{\"a\":\"b\"}}}");
    sl_kind_forget_custom();
}

static void test_reduce_malformed_text_is_refused(void **state)
{
    (void)state;
    static const char *const bad[] = {
        "",
        "null",
        "[]",
        "{",
        "{\"metadata\":{\"name\":\"p\",\"resourceVersion\":\"1\"}",
        "{\"metadata\":{\"name\":\"p\",\"resourceVersion\":\"1\"",
        "{\"metadata\":{\"name\":\"p\"}}",
        "{\"metadata\":{\"name\":\"p\",\"resourceVersion\":\"x\"}}",
        "{\"metadata\":{\"name\":\"p\",\"resourceVersion\":1}}",
        "{\"metadata\":{\"name\":\"\",\"resourceVersion\":\"1\"}}",
        "{\"metadata\":{\"resourceVersion\":\"1\"}}",
        "{\"metadata\" {\"name\":\"p\",\"resourceVersion\":\"1\"}}",
        "{\"metadata\":{\"name\":\"p\",\"resourceVersion\":\"99999999999999999999\"}}",
        "{\"a\":}",
        "{\"a",
    };
    for (size_t i = 0; i < sizeof bad / sizeof bad[0]; i++) {
        refuses(bad[i]);
    }
}

static void test_reduce_lists_in_lists_end_somewhere(void **state)
{
    (void)state;
    char text[400] = "{\"spec\":{\"containers\":";
    size_t at = strlen(text);
    memset(text + at, '[', 100);
    memset(text + at + 100, ']', 100);
    strcpy(text + at + 200, "},\"metadata\":{\"name\":\"p\",\"resourceVersion\":\"1\"}}");
    refuses(text);
}

static void test_reduce_object_is_read_from_what_is_kept(void **state)
{
    (void)state;
    reduce(SL_KIND_NODE,
           "{\"metadata\":{\"name\":\"n\",\"resourceVersion\":\"1\"},\"status\":{\"images\":1}}");
    struct sl_json *o = sl_item_object(&item);
    assert_string_equal(sl_json_path_text(o, "kind", ""), "Node");
    assert_false(sl_json_has(sl_json_get(o, "status"), "images"));
    assert_ptr_equal(sl_item_object(&item), o);
    reduce(SL_KIND_NODE, "{\"metadata\":{\"name\":\"n\",\"resourceVersion\":\"1\"},\"x\":[tru]}");
    assert_null(sl_item_object(&item));
}

static const char pod_text[] =
    "{\"kind\":\"Pod\",\"metadata\":{\"name\":\"p\",\"namespace\":\"n\",\"uid\":\"u\","
    "\"resourceVersion\":\"12\",\"managedFields\":[{\"f:a\":{\".\":{}}}],\"labels\":{\"a\":\"\\\"}"
    "\"}},"
    "\"spec\":{\"containers\":[{\"name\":\"c\",\"env\":[{\"name\":\"]\",\"value\":\"\\\\\"}],"
    "\"resources\":{\"requests\":{\"cpu\":1.5e3}}}, {\"ports\":null}],\"volumes\":[{},[[]]]},"
    "\"status\":{\"phase\":\"Running\",\"conditions\":[{\"status\":true}],\"podIP\":\"x\"}}";

/* A few bytes of the text are changed, moved or lost. */
static size_t mutate(char *text, size_t len, uint64_t *seed)
{
    static const char bytes[] = "{}[],:\"\\ 0atnu-.";
    size_t changes = 1 + (size_t)(sl_backoff_random(seed) % 3);
    for (size_t i = 0; i < changes; i++) {
        size_t at = (size_t)(sl_backoff_random(seed) % len);
        uint64_t how = sl_backoff_random(seed);
        if (how % 3 == 0) {
            memmove(text + at, text + at + 1, len - at - 1);
            len--;
        } else {
            text[at] =
                how % 3 == 1 ? bytes[(how >> 8) % (sizeof bytes - 1)] : text[(how >> 8) % len];
        }
    }
    return len;
}

static void test_reduce_what_the_parser_takes_is_reduced_to_what_it_takes(void **state)
{
    (void)state;
    uint64_t seed = 1;
    unsigned taken = 0;
    char text[sizeof pod_text];
    for (int i = 0; i < 20000; i++) {
        struct sl_error e = {0};
        memcpy(text, pod_text, sizeof text);
        size_t len = mutate(text, sizeof text - 1, &seed);
        /* In memory of just its size, so that a step beyond the end is seen. */
        char *copy = sl_mem_new(len, 1);
        memcpy(copy, text, len);
        struct sl_json *whole = sl_json_parse(copy, len, &e);
        bool reduced =
            sl_item_reduce(&item, SL_KIND_POD, (struct sl_span){copy, len}, &e) == SL_CODE_OK;
        if (whole != NULL && reduced) {
            taken++;
            struct sl_json *part = sl_json_parse_received(item.text.data, item.text.len, &e);
            assert_non_null(part);
            sl_json_free(part);
            assert_true(sl_object_misformed(SL_KIND_POD, whole) != NULL ||
                        sl_item_object(&item) != NULL);
            char *once = sl_mem_text_n(item.text.data, item.text.len);
            assert_string_equal(reduce(SL_KIND_POD, once), once);
            sl_mem_free(once);
        }
        sl_json_free(whole);
        sl_mem_free(copy);
    }
    assert_true(taken > 1000);
}

static void test_scan_members_and_items_are_found(void **state)
{
    (void)state;
    static const char text[] =
        " {\"a\" : [ 1 , \"x]\\\\\" ,{} ] , \"b\":{\"c\":\"d\\\"\"}, \"n\":null }";
    struct sl_span map = {text, sizeof text - 1}, item_found;
    size_t cursor = 0;
    struct sl_span list = sl_scan_find(map, "a");
    assert_true(sl_scan_item(list, &cursor, &item_found) && sl_span_is(item_found, "1"));
    assert_true(sl_scan_item(list, &cursor, &item_found) && sl_span_is(item_found, "\"x]\\\\\""));
    assert_true(sl_scan_item(list, &cursor, &item_found) && sl_span_is(item_found, "{}"));
    assert_false(sl_scan_item(list, &cursor, &item_found));
    assert_true(sl_span_is(sl_span_text(sl_scan_find(sl_scan_find(map, "b"), "c")), "d\\\""));
    assert_true(sl_span_is(sl_scan_find(map, "n"), "null"));
    assert_null(sl_scan_find(map, "z").at);
    assert_null(sl_scan_find(sl_scan_find(map, "n"), "z").at);
    assert_null(sl_span_text(sl_scan_find(map, "n")).at);
    assert_int_equal(sl_span_number((struct sl_span){"123", 3}), 123);
    assert_int_equal(sl_span_number((struct sl_span){"-1", 2}), 0);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_reduce_every_kind_loses_bookkeeping),
        cmocka_unit_test(test_reduce_job_without_a_mark_keeps_what_matters),
        cmocka_unit_test(test_reduce_job_with_a_mark_is_kept_whole),
        cmocka_unit_test(test_reduce_type_of_item_is_written_once),
        cmocka_unit_test(test_reduce_pod_keeps_requests_and_loses_the_rest_of_containers),
        cmocka_unit_test(test_reduce_pod_of_a_queue_keeps_its_spec_whole),
        cmocka_unit_test(test_reduce_node_keeps_what_scheduling_needs),
        cmocka_unit_test(test_reduce_owner_that_is_managed_elsewhere_is_its_metadata),
        cmocka_unit_test(test_reduce_malformed_text_is_refused),
        cmocka_unit_test(test_reduce_lists_in_lists_end_somewhere),
        cmocka_unit_test(test_reduce_object_is_read_from_what_is_kept),
        cmocka_unit_test(test_reduce_what_the_parser_takes_is_reduced_to_what_it_takes),
        cmocka_unit_test(test_scan_members_and_items_are_found),
    };
    return cmocka_run_group_tests(tests, NULL, teardown);
}
