/* SPDX-License-Identifier: Apache-2.0
 * SPDX-FileCopyrightText: The Sluice authors */

/* The dump for support and what it leaves out; the client is a stub, and there is no engine, as on a standby. */
#include "t.h"
#include "base/effort.h"
#include "base/mem.h"
#include "cli/support/dump.h"
#include "cli/support/redact.h"
#include <stdio.h>
#include <stdlib.h>

static size_t jobs; /* how many there are */

static enum sl_code get(void *self, enum sl_kind kind, const char *ns, const char *name,
                        struct sl_json **out, struct sl_error *e)
{
    (void)self;
    assert_int_equal(kind, SL_KIND_JOB);
    assert_string_equal(ns, "n");
    if (strcmp(name, "j1") == 0) {
        return sl_error_set(e, SL_CODE_NOT_FOUND, "deleted meanwhile");
    }
    *out =
        parse("{\"metadata\":{\"namespace\":\"n\",\"name\":\"j\"},\"spec\":{\"template\":{"
              "\"spec\":{\"containers\":[{\"name\":\"c\",\"env\":[{\"value\":\"hunter2\"}]}]}}}}");
    return SL_CODE_OK;
}

/* A hundred at a time; the first part says where the next begins. */
static enum sl_code keys(void *self, enum sl_kind kind, const char *from, sl_key_fn *visit,
                         void *context, char **next, struct sl_error *e)
{
    size_t at = from == NULL ? 0 : (size_t)atol(from);
    size_t end = at + 100 < jobs ? at + 100 : jobs;
    char text[32];
    (void)self;
    if (kind == SL_KIND_NODE) {
        return sl_error_set(e, SL_CODE_UNAVAILABLE, "not \"known\" yet");
    }
    for (; kind == SL_KIND_JOB && at < end; at++) {
        (void)snprintf(text, sizeof text, "j%zu", at);
        visit(context, "n", text);
    }
    (void)snprintf(text, sizeof text, "%zu", at);
    *next = kind == SL_KIND_JOB && at < jobs ? sl_mem_text(text) : NULL;
    return SL_CODE_OK;
}

static struct sl_pages pages = {
    .client = {.get = get, .keys = keys}, .role = "follower", .facts = "  gates: \"none\"\n"};

static struct sl_server_page begin(void)
{
    struct sl_server_page page = {.accept = "", .status = 200};
    sl_dump_serve(&pages, SL_DUMP_PATH, "", &page);
    return page;
}

static struct sl_json *dump_new(size_t *slices)
{
    struct sl_server_page page = begin();
    uint64_t before = sl_effort_steps;
    *slices = 1;
    while (page.rest->go_on(page.rest, &page)) {
        assert_in_range(sl_effort_steps - before, SL_PAGE_SLICE_STEPS, SL_PAGE_SLICE_STEPS * 2);
        before = sl_effort_steps;
        ++*slices;
    }
    page.rest->free(page.rest);
    assert_null(strstr(page.body.data, "hunter2"));
    struct sl_json *dump = parse(page.body.data);
    sl_buf_fini(&page.body);
    return dump;
}

static void test_dump_of_a_standby(void **state)
{
    (void)state;
    size_t slices;
    jobs = 3;
    struct sl_json *dump = dump_new(&slices);
    assert_string_equal(sl_json_path_text(dump, "kind", ""), "Dump");
    assert_string_equal(sl_json_path_text(dump, "role", ""), "follower");
    assert_string_equal(sl_json_path_text(dump, "configuration", ""), "  gates: \"none\"\n");
    assert_string_equal(sl_json_path_text(dump, "objects.Node.0.unknown", ""), "not \"known\" yet");
    assert_int_equal(sl_json_len(sl_json_path(dump, "objects.Job")), 3);
    assert_int_equal(sl_json_type(sl_json_at(sl_json_path(dump, "objects.Job"), 1)), SL_JSON_NULL);
    assert_int_equal(sl_json_len(sl_json_path(dump, "objects.Workload")), 0);
    assert_non_null(strstr(sl_json_path_text(dump, "metrics", ""), "kueue_build_info"));
    sl_json_free(dump);
}

static void test_dump_of_much_takes_turns(void **state)
{
    (void)state;
    size_t slices;
    jobs = 3000;
    struct sl_json *dump = dump_new(&slices);
    assert_true(slices > 3);
    assert_int_equal(sl_json_len(sl_json_path(dump, "objects.Job")), 3000);
    sl_json_free(dump);
}

static void test_dump_that_is_not_waited_for_leaves_nothing(void **state)
{
    (void)state;
    jobs = 3000;
    struct sl_server_page page = begin();
    page.rest->free(page.rest);
    sl_buf_fini(&page.body);
    page = begin();
    assert_true(page.rest->go_on(page.rest, &page));
    page.rest->free(page.rest);
    sl_buf_fini(&page.body);
}

static void assert_redacted(enum sl_kind kind, const char *from, const char *to)
{
    struct sl_json *object = parse(from), *wanted = parse(to);
    struct sl_json *found = sl_redact_new(kind, object);
    struct sl_buf text = {0};
    sl_json_print(found, &text);
    if (!sl_json_equal(found, wanted)) {
        fail_msg("%s becomes %s", from, text.data);
    }
    sl_buf_fini(&text);
    sl_json_free(found);
    sl_json_free(object);
    sl_json_free(wanted);
}

static void test_redact_takes_secrets_out_and_leaves_the_rest(void **state)
{
    (void)state;
    static const char *const cases[][2] = {
        {"{\"metadata\":{\"managedFields\":[{}],\"labels\":{\"a\":\"b\"}}}",
         "{\"metadata\":{\"labels\":{\"a\":\"b\"}}}"},
        {"{\"metadata\":{\"annotations\":{\"kueue.x-k8s.io/a\":\"1\",\"x.sluice.dev/b\":\"2\","
         "\"batch.kubernetes.io/c\":\"3\",\"notkueue.x-k8s.io/d\":\"4\",\"e\":\"5\","
         "\"kubectl.kubernetes.io/last-applied-configuration\":\"6\","
         "\"kubernetes.io/the-Token-x\":\"7\"}}}",
         "{\"metadata\":{\"annotations\":{\"kueue.x-k8s.io/a\":\"1\",\"x.sluice.dev/b\":\"2\","
         "\"batch.kubernetes.io/c\":\"3\",\"notkueue.x-k8s.io/d\":\"REDACTED\",\"e\":\"REDACTED\","
         "\"kubectl.kubernetes.io/last-applied-configuration\":\"REDACTED\","
         "\"kubernetes.io/the-Token-x\":\"REDACTED\"}}}"},
        {"{\"spec\":{\"initContainers\":[{\"name\":\"i\",\"args\":[\"x\"],\"image\":\"y\"}],"
         "\"containers\":[{\"name\":\"c\",\"envFrom\":[],\"resources\":{\"requests\":{\"cpu\":1}}}]"
         ","
         "\"volumes\":[{}],\"imagePullSecrets\":[{}],\"nodeSelector\":{\"a\":\"b\"}}}",
         "{\"spec\":{\"initContainers\":[{\"name\":\"i\",\"args\":\"REDACTED\",\"image\":\"y\"}],"
         "\"containers\":[{\"name\":\"c\",\"envFrom\":\"REDACTED\","
         "\"resources\":{\"requests\":{\"cpu\":1}}}],\"nodeSelector\":{\"a\":\"b\"}}}"},
        {"{\"containers\":\"no list\",\"annotations\":\"no "
         "map\",\"list\":[[{\"dbPassword\":{\"x\":1}}]],"
         "\"bool\":true,\"none\":null}",
         "{\"containers\":\"no list\",\"annotations\":\"no map\",\"list\":[[{\"dbPassword\":"
         "\"REDACTED\"}]],\"bool\":true,\"none\":null}"},
        {"{\"averyveryveryveryveryveryveryveryveryveryveryveryveryveryverylongname\":1}",
         "{\"averyveryveryveryveryveryveryveryveryveryveryveryveryveryverylongname\":1}"}};
    for (size_t i = 0; i < sizeof cases / sizeof cases[0]; i++) {
        assert_redacted(SL_KIND_JOB, cases[i][0], cases[i][1]);
    }
}

static void test_redact_knows_nothing_of_other_kinds(void **state)
{
    (void)state;
    assert_redacted(
        SL_KIND_CUSTOM,
        "{\"kind\":\"X\",\"spec\":{\"a\":\"secret\",\"n\":3,\"l\":[\"s\"],\"name\":\"b\","
        "\"nodeSelector\":{\"c\":\"d\"}},\"status\":{\"message\":\"m\"}}",
        "{\"kind\":\"X\",\"spec\":{\"a\":\"REDACTED\",\"n\":3,\"l\":[\"REDACTED\"],"
        "\"name\":\"b\",\"nodeSelector\":{\"c\":\"d\"}},\"status\":{\"message\":\"m\"}}");
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_dump_of_a_standby), cmocka_unit_test(test_dump_of_much_takes_turns),
        cmocka_unit_test(test_dump_that_is_not_waited_for_leaves_nothing),
        cmocka_unit_test(test_redact_takes_secrets_out_and_leaves_the_rest),
        cmocka_unit_test(test_redact_knows_nothing_of_other_kinds)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
