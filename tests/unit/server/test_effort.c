/* SPDX-License-Identifier: Apache-2.0
 * SPDX-FileCopyrightText: The Sluice authors */

/* Requests that are as much work as they may be, and how much that is, in steps (base/effort.h): while one is served nobody
 * else is. */
#include "base/buf.h"
#include "base/effort.h"
#include "fixture.h"

#define JOBS "/apis/batch/v1/namespaces/default/jobs"
#define HEAD "{\"apiVersion\":\"batch/v1\",\"kind\":\"Job\",\"metadata\":{\"name\":\"m\""
#define SPEC                                                                                       \
    "\"spec\":{\"suspend\":true,\"template\":{\"spec\":{\"restartPolicy\":\"Never\","              \
    "\"containers\":[{"                                                                            \
    "\"name\":\"c\",\"image\":\"i\"}]}}}"
#define STRATEGIC "application/strategic-merge-patch+json"
#define BY_PATH "application/json-patch+json"

/* `count` times `format`, which takes a number, with commas between. */
static void repeat(struct sl_buf *out, size_t count, const char *format)
{
    char item[200];
    for (size_t i = 0; i < count; i++) {
        const char *number = strchr(format, '#');
        size_t before = number == NULL ? strlen(format) : (size_t)(number - format);
        (void)snprintf(item, sizeof item, "%.*s", (int)before, format);
        sl_buf_print(out, "%s%s", i > 0 ? "," : "", item);
        if (number != NULL) {
            sl_buf_print(out, "%zu%s", i, number + 1);
        }
    }
}

/* The turn that began at `before` has cost no more than it may. */
static void expect_within(const struct call *c, uint64_t before)
{
    uint64_t steps = sl_effort_steps - before;
    if (steps > SL_TURN_STEPS_MAX) {
        print_message("%s %.80s %.60s: %llu steps\n", c->method, c->uri,
                      c->body == NULL ? "" : c->body, (unsigned long long)steps);
    }
    assert_in_range(steps, 0, SL_TURN_STEPS_MAX);
}

/* The status of one request, each turn of which was looked at. */
static int within(struct fixture *f, struct call c)
{
    uint64_t before = sl_effort_steps;
    (void)serve(f, c);
    expect_within(&c, before);
    while (f->r.wait || f->r.again) {
        before = sl_effort_steps;
        if (f->r.wait) {
            enum sl_code code = sl_store_commit(f->rest.store, &f->e);
            sl_rest_committed(&f->r, code, &f->e);
        } else {
            sl_rest_serve(&f->r);
        }
        expect_within(&c, before);
    }
    commit(f);
    struct sl_stream *stream = f->r.answer.stream;
    enum sl_stream_step step = stream == NULL ? SL_STREAM_END : SL_STREAM_MORE;
    while (step == SL_STREAM_MORE) {
        before = sl_effort_steps;
        struct sl_buf piece = {0};
        step = stream->fill(stream, &piece);
        sl_buf_fini(&piece);
        expect_within(&c, before);
    }
    return f->r.answer.status;
}

static void create_job(struct fixture *f)
{
    assert_int_equal(call(f, (struct call){"POST", JOBS, HEAD "}," SPEC "}", NULL, NULL}), 201);
}

/* As many items as there may be in a body. */
struct filling {
    const char *method, *type, *before, *item, *after, *query;
    size_t weight; /* of an item, with its comma */
    int status;
};
static const struct filling fillings[] = {
    {"POST", NULL, HEAD ",\"labels\":{", "\"x#\":\"y\"", "}}," SPEC "}", "", 2, 201},
    {"POST", NULL, HEAD ",\"annotations\":{", "\"x#\":\"y\"", "}}," SPEC "}", "", 2, 201},
    {"POST", NULL, HEAD ",\"finalizers\":[", "\"x.io/#\"", "]}," SPEC "}", "", 1, 422},
    {"POST", NULL, HEAD ",\"ownerReferences\":[",
     "{\"apiVersion\":\"v1\",\"kind\":\"Node\",\"name\":\"n\",\"uid\":\"u#\"}", "]}," SPEC "}", "",
     12, 422},
    {"POST", NULL, HEAD "}," SPEC ",\"w\":[", "{}", "]}", "", 5, 201},
    {"POST", NULL, HEAD "}," SPEC ",\"x\":[", "0", "]}", "", 1, 201},
    {"POST", NULL, HEAD "}," SPEC ",", "\"x#\":0", "}", "?fieldValidation=Strict", 2, 400},
    {"PATCH", STRATEGIC, "{\"metadata\":{\"finalizers\":[", "\"x.io/#\"", "]}}", "", 1, 422},
    {"PATCH", STRATEGIC, "{\"spec\":{\"template\":{\"spec\":{\"containers\":[",
     "{\"name\":\"c#\",\"image\":\"i\",\"env\":[{\"name\":\"e\"}]}", "]}}}}", "", 18, 422},
    {"PATCH", STRATEGIC,
     "{\"spec\":{\"template\":{\"spec\":{\"containers\":[{\"name\":\"c\",\"env\":[",
     "{\"name\":\"e#\",\"value\":\"v\"}", "]}]}}}}", "?dryRun=All", 8, 422},
    {"PATCH", BY_PATH, "[{\"op\":\"add\",\"path\":\"/x\",\"value\":[]},",
     "{\"op\":\"add\",\"path\":\"/x/0\",\"value\":[0,0,0,0,0,0,0]}", "]", "", 18, 413},
    {"PATCH", BY_PATH, "[{\"op\":\"add\",\"path\":\"/x\",\"value\":[0]},",
     "{\"op\":\"copy\",\"from\":\"/x\",\"path\":\"/x/-\"}", "]", "", 10, 413},
    {"PATCH", BY_PATH, "[", "{\"op\":\"test\",\"path\":\"/spec/suspend\",\"value\":true}", "]", "",
     10, 200},
};

static void test_effort_of_writes_is_bounded(void **state)
{
    for (size_t i = 0; i < sizeof fillings / sizeof fillings[0]; i++) {
        const struct filling *fill = &fillings[i];
        struct fixture *f = *state;
        bool patch = strcmp(fill->method, "PATCH") == 0;
        char uri[120];
        struct sl_buf body = {0};
        sl_buf_text(&body, fill->before);
        repeat(&body, (SL_BODY_WEIGHT_MAX - 100) / fill->weight, fill->item);
        sl_buf_text(&body, fill->after);
        if (patch) {
            create_job(f);
        }
        (void)snprintf(uri, sizeof uri, JOBS "%s%s", patch ? "/m" : "", fill->query);
        int status = within(f, (struct call){fill->method, uri, body.data, fill->type, NULL});
        if (status != fill->status) {
            print_message("%s%.60s...: %d\n", fill->before, fill->item, status);
        }
        assert_int_equal(status, fill->status);
        (void)call(f, (struct call){"DELETE", JOBS "/m", NULL, NULL, NULL});
        sl_buf_fini(&body);
    }
}

static void create_large_jobs(struct fixture *f, int count)
{
    struct sl_buf labels = {0}, body = {0};
    repeat(&labels, (SL_BODY_WEIGHT_MAX - 100) / 2, "\"x#\":\"y\"");
    for (int i = 0; i < count; i++) {
        sl_buf_reset(&body);
        sl_buf_print(&body, "{\"metadata\":{\"name\":\"m%d\",\"labels\":{%s}}," SPEC "}", i,
                     labels.data);
        assert_int_equal(call(f, (struct call){"POST", JOBS, body.data, NULL, NULL}), 201);
    }
    sl_buf_fini(&labels);
    sl_buf_fini(&body);
}

static void test_effort_of_reads_is_bounded(void **state)
{
    struct fixture *f = *state;
    static const struct {
        struct call c;
        int status;
    } reads[] = {
        {{"GET", JOBS "/m1", NULL, NULL, NULL}, 200},
        {{"GET", JOBS "/m1?pretty=true", NULL, NULL, NULL}, 200},
        {{"GET", JOBS "/m1", NULL, NULL, "application/yaml"}, 200},
        {{"GET", JOBS, NULL, NULL, NULL}, 200},
        {{"GET", JOBS, NULL, NULL, TABLE_TYPE}, 200},
        {{"GET", JOBS "?labelSelector=none", NULL, NULL, NULL}, 200},
        {{"GET", JOBS "?pretty=true", NULL, NULL, NULL}, 200},
        {{"GET", JOBS, NULL, NULL, "application/yaml"}, 413},
        {{"GET", JOBS "?limit=1", NULL, NULL, "application/yaml"}, 200},
        {{"HEAD", JOBS, NULL, NULL, NULL}, 200},
        {{"GET", JOBS "?watch=true", NULL, NULL, NULL}, 200},
        {{"GET", JOBS "?watch=true&labelSelector=none&resourceVersion=1", NULL, NULL, NULL}, 200},
        {{"GET", JOBS "?watch=true&resourceVersion=1", NULL, NULL, TABLE_TYPE}, 200},
        {{"DELETE", JOBS, NULL, NULL, NULL}, 200},
    };
    create_large_jobs(f, 12);
    for (size_t i = 0; i < sizeof reads / sizeof reads[0]; i++) {
        assert_int_equal(within(f, reads[i].c), reads[i].status);
    }
    assert_int_equal(call(f, (struct call){"GET", JOBS, NULL, NULL, NULL}), 200);
    assert_int_equal(sl_json_len(sl_json_get(f->reply, "items")), 0);
}

/* Patch upon patch makes no object that is more work than a body may be; what is larger already may stay so. */
static void test_effort_of_what_is_stored_is_bounded(void **state)
{
    struct fixture *f = *state;
    struct sl_buf patch = {0};
    struct sl_json *big = NULL;
    int status = 200;
    create_job(f);
    for (int i = 0; i < 4 && status == 200; i++) {
        sl_buf_reset(&patch);
        sl_buf_print(&patch, "{\"x%d\":[", i);
        repeat(&patch, SL_BODY_WEIGHT_MAX / 2, "0");
        sl_buf_text(&patch, "]}");
        status = call(
            f, (struct call){"PATCH", JOBS "/m", patch.data, "application/merge-patch+json", NULL});
    }
    assert_int_equal(status, 413);
    assert_non_null(strstr(f->r.answer.body.data, "the object would have too many values"));
    sl_buf_reset(&patch);
    sl_buf_print(&patch, "{\"metadata\":{\"name\":\"own\"}," SPEC ",\"x\":[");
    repeat(&patch, SL_BODY_WEIGHT_MAX, "0");
    sl_buf_text(&patch, "]}");
    struct sl_write w = {.verb = SL_VERB_CREATE,
                         .kind = SL_KIND_JOB,
                         .ns = "default",
                         .body = sl_json_parse(patch.data, patch.len, &f->e)};
    assert_int_equal(sl_store_apply(f->rest.store, &w, &big, &f->e), SL_CODE_OK);
    sl_json_free(w.body);
    sl_json_free(big);
    commit(f);
    assert_int_equal(call(f, (struct call){"PATCH", JOBS "/own", "{\"spec\":{\"parallelism\":2}}",
                                           "application/merge-patch+json", NULL}),
                     200);
    assert_int_equal(call(f, (struct call){"PATCH", JOBS "/own", "{\"y\":[1,2,3,4,5,6,7]}",
                                           "application/merge-patch+json", NULL}),
                     413);
    sl_buf_fini(&patch);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test_setup_teardown(test_effort_of_writes_is_bounded, setup, teardown),
        cmocka_unit_test_setup_teardown(test_effort_of_reads_is_bounded, setup, teardown),
        cmocka_unit_test_setup_teardown(test_effort_of_what_is_stored_is_bounded, setup, teardown),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
