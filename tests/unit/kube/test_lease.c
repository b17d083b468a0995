/* SPDX-License-Identifier: Apache-2.0
 * SPDX-FileCopyrightText: The Sluice authors */

/* src/kube/lease.c against a server that keeps one Lease and checks resourceVersions. */
#include "web.h"
#include "kube/lease.h"

#define RECORD(holder, renewed)                                                                    \
    "{\"apiVersion\":\"coordination.k8s.io/v1\",\"kind\":\"Lease\",\"metadata\":{\"name\":\"l\","  \
    "\"labels\":{\"kept\":\"yes\"}},\"spec\":{\"holderIdentity\":\"" holder                        \
    "\",\"leaseDurationSeconds\":1,\"renewTime\":\"" renewed "\",\"leaseTransitions\":4}}"

struct world {
    struct web web;
    struct web_files files;
    struct sl_credentials *credentials;
    struct sl_transport *transport;
    struct sl_json *object; /* NULL: there is none */
    int version;
    bool down;             /* answers nothing */
    bool swallow_answer;   /* carries the next write out, without an answer */
    const char *senseless; /* what it says when it is asked; NULL: the truth */
    unsigned writes, hesitates_ms;
    char text[2048];
    struct sl_lease *lease;
    bool leading, lost, released;
    bool frozen; /* its clock is clock_ms */
    int64_t clock_ms;
};

static struct web_answer refuse(int status, const char *reason)
{
    return (struct web_answer){.status = status, .body = reason};
}

static struct web_answer tell(struct world *w)
{
    struct sl_buf out = {0};
    char version[16];
    (void)snprintf(version, sizeof version, "%d", w->version);
    sl_json_set_text(sl_json_path_make(w->object, "metadata"), "resourceVersion", version);
    sl_json_print(w->object, &out);
    (void)snprintf(w->text, sizeof w->text, "%s", out.data);
    sl_buf_fini(&out);
    return (struct web_answer){.status = 200, .body = w->text};
}

static void store(struct world *w, const char *text)
{
    sl_json_free(w->object);
    w->object = sl_json_parse(text, strlen(text), NULL);
    assert_non_null(w->object);
    w->version++;
}

static struct web_answer answer(void *context, const struct web_request *r)
{
    struct world *w = context;
    bool create = strcmp(r->method, "POST") == 0;
    assert_string_equal(r->path,
                        create ? "/apis/coordination.k8s.io/v1/namespaces/kueue-system/leases"
                               : "/apis/coordination.k8s.io/v1/namespaces/kueue-system/leases/l");
    if (w->down) {
        return (struct web_answer){0};
    }
    if (create && w->object != NULL) {
        return refuse(409, "{\"reason\":\"AlreadyExists\"}");
    }
    if (!create && w->object == NULL) {
        return refuse(404, "{\"reason\":\"NotFound\"}");
    }
    if (strcmp(r->method, "GET") == 0) {
        return w->senseless == NULL ? tell(w) : refuse(200, w->senseless);
    }
    struct sl_json *body = sl_json_parse(r->body, strlen(r->body), NULL);
    bool stale =
        !create && atoi(sl_json_path_text(body, "metadata.resourceVersion", "0")) != w->version;
    sl_json_free(body);
    if (stale) {
        return refuse(409, "{\"reason\":\"Conflict\"}");
    }
    store(w, r->body);
    w->writes++;
    usleep(w->hesitates_ms * 1000); /* in which the lease's own timers do not run either */
    struct web_answer a = tell(w);
    a.status = w->swallow_answer ? 0 : 200;
    w->swallow_answer = false;
    return a;
}

static void on_leading(void *context)
{
    struct world *w = context;
    assert_false(w->leading);
    w->leading = true;
}

static void on_lost(void *context)
{
    struct world *w = context;
    assert_true(w->leading && !w->lost);
    w->lost = true;
}

static void on_released(void *context)
{
    struct world *w = context;
    assert_false(w->released);
    w->released = true;
}

static int setup(void **state)
{
    struct world *w = sl_mem_new(1, sizeof *w);
    web_make_dir(&w->files);
    web_open(&w->web);
    w->web.answer = answer;
    w->web.context = w;
    w->credentials = web_credentials(&w->web, &w->files, "{token: t}");
    w->transport = sl_transport_new(&w->web.loop, w->credentials, "test");
    *state = w;
    return 0;
}

static int64_t clock_of(void *context)
{
    return ((struct world *)context)->clock_ms;
}

static void begin(struct world *w)
{
    const struct sl_lease_options o = {.loop = &w->web.loop,
                                       .transport = w->transport,
                                       .ns = "kueue-system",
                                       .name = "l",
                                       .identity = "me",
                                       .duration_ms = 1000,
                                       .renew_ms = 600,
                                       .retry_ms = 100,
                                       .seed = 7,
                                       .steady_ms = w->frozen ? clock_of : NULL,
                                       .leading = on_leading,
                                       .lost = on_lost,
                                       .context = w};
    w->lease = sl_lease_new(&o);
}

static int teardown(void **state)
{
    struct world *w = *state;
    sl_lease_free(w->lease);
    sl_transport_free(w->transport);
    web_close(&w->web);
    sl_credentials_free(w->credentials);
    web_remove_dir(&w->files);
    sl_json_free(w->object);
    sl_mem_free(w);
    return 0;
}

static void pass(struct world *w, uint64_t ms)
{
    const bool never = false;
    (void)web_run_until(&w->web, &never, ms);
}

static const char *holder(const struct world *w)
{
    return sl_json_path_text(w->object, "spec.holderIdentity", "?");
}

static int64_t transitions(const struct world *w)
{
    return sl_json_path_int(w->object, "spec.leaseTransitions", -1);
}

static void test_lease_absent_is_made_and_renewed(void **state)
{
    struct world *w = *state;
    begin(w);
    assert_false(sl_lease_held(w->lease));
    assert_true(web_run_until(&w->web, &w->leading, 2000));
    assert_true(sl_lease_held(w->lease));
    assert_string_equal(sl_lease_holder(w->lease), "me");
    assert_string_equal(holder(w), "me");
    assert_int_equal(transitions(w), 0);
    assert_int_equal(sl_json_path_int(w->object, "spec.leaseDurationSeconds", 0), 1);
    assert_string_equal(sl_json_path_text(w->object, "metadata.namespace", ""), "kueue-system");
    const char *acquired = sl_json_path_text(w->object, "spec.acquireTime", "");
    assert_int_equal(strlen(acquired), strlen("2026-08-22T10:00:00.000000Z"));
    char first[40];
    (void)snprintf(first, sizeof first, "%s", acquired);
    pass(w, 1000);
    assert_true(w->writes >= 5);
    assert_false(w->lost);
    assert_string_equal(sl_json_path_text(w->object, "spec.acquireTime", ""), first);
    assert_string_not_equal(sl_json_path_text(w->object, "spec.renewTime", ""), first);
}

static void test_lease_of_another_is_taken_when_it_stands_still(void **state)
{
    struct world *w = *state;
    store(w, RECORD("other", "2020-01-01T00:00:00.000000Z"));
    begin(w);
    pass(w, 700);
    assert_false(w->leading); /* however old its times: what counts is how long we have seen it */
    assert_string_equal(sl_lease_holder(w->lease), "other");
    store(w, RECORD("other", "2020-01-01T00:00:01.000000Z"));
    pass(w, 700);
    assert_false(w->leading);
    assert_true(web_run_until(&w->web, &w->leading, 2000));
    assert_int_equal(transitions(w), 5);
    assert_string_equal(sl_json_path_text(w->object, "metadata.labels.kept", ""), "yes");
}

static void test_lease_that_cannot_be_read_is_not_taken(void **state)
{
    struct world *w = *state;
    static const char *const senseless[] = {
        "[]", "\"none\"", "{\"metadata\":[\"none\"]}",
        "{\"metadata\":{\"resourceVersion\":\"1\"},\"spec\":\"none\"}",
        "{\"metadata\":{\"resourceVersion\":\"1\"},\"spec\":{\"holderIdentity\":7}}"};
    store(w, RECORD("other", "2020-01-01T00:00:00.000000Z"));
    w->senseless = senseless[0];
    begin(w);
    for (size_t i = 0; i < sizeof senseless / sizeof senseless[0]; i++) {
        w->senseless = senseless[i];
        pass(w, 250);
        assert_false(w->leading);
        assert_int_equal(w->writes, 0);
    }
    w->senseless = NULL;
    assert_true(web_run_until(&w->web, &w->leading, 3000));
}

static void test_lease_given_back_is_taken_at_once(void **state)
{
    struct world *w = *state;
    store(w, RECORD("", "2020-01-01T00:00:00.000000Z"));
    begin(w);
    assert_true(web_run_until(&w->web, &w->leading, 500));
    assert_int_equal(transitions(w), 5);
}

static void test_lease_not_renewable_is_lost_in_time(void **state)
{
    struct world *w = *state;
    w->frozen = true;
    w->clock_ms = 5000;
    begin(w);
    assert_true(web_run_until(&w->web, &w->leading, 2000));
    w->down = true;
    w->clock_ms += 599;
    pass(w, 700); /* of the loop's clock, which does not count */
    assert_false(w->lost);
    assert_true(sl_lease_held(w->lease));
    w->clock_ms += 1; /* renew_ms */
    assert_false(sl_lease_held(w->lease));
    assert_true(web_run_until(&w->web, &w->lost, 2000));
    w->down = false;
    unsigned writes = w->writes;
    pass(w, 500);
    assert_int_equal(w->writes, writes); /* it does not come back */
}

/* The first renewal has no answer within half of renew_ms; the second is answered when the time is up. */
static void test_lease_lost_while_a_renewal_is_under_way_does_not_come_back(void **state)
{
    struct world *w = *state;
    begin(w);
    assert_true(web_run_until(&w->web, &w->leading, 2000));
    unsigned writes = w->writes;
    w->down = true;
    pass(w, 350);
    w->down = false;
    w->hesitates_ms = 250;
    assert_true(web_run_until(&w->web, &w->lost, 1000));
    assert_int_equal(w->writes, writes + 1);
    pass(w, 300);
    assert_false(sl_lease_held(w->lease));
    assert_int_equal(w->writes, writes + 1);
}

static void test_lease_taken_by_another_is_lost(void **state)
{
    struct world *w = *state;
    begin(w);
    assert_true(web_run_until(&w->web, &w->leading, 2000));
    store(w, RECORD("other", "2020-01-01T00:00:00.000000Z"));
    assert_true(web_run_until(&w->web, &w->lost, 500));
    assert_string_equal(holder(w), "other");
}

static void test_lease_deleted_is_made_again_by_its_holder(void **state)
{
    struct world *w = *state;
    w->frozen = true; /* however long it takes, it is not lost by that */
    begin(w);
    assert_true(web_run_until(&w->web, &w->leading, 2000));
    sl_json_free(w->object);
    w->object = NULL;
    pass(w, 1000);
    assert_false(w->lost);
    assert_non_null(w->object);
    assert_string_equal(holder(w), "me");
    assert_int_equal(strlen(sl_json_path_text(w->object, "spec.acquireTime", "")), 27);
}

static void test_lease_touched_by_a_third_is_renewed_after_reading(void **state)
{
    struct world *w = *state;
    w->frozen = true; /* however long it takes, it is not lost by that */
    begin(w);
    assert_true(web_run_until(&w->web, &w->leading, 2000));
    w->version++; /* a label, say */
    pass(w, 1000);
    assert_false(w->lost);
    assert_true(sl_lease_held(w->lease));
}

static void test_lease_renewal_without_answer_is_resolved_by_reading(void **state)
{
    struct world *w = *state;
    w->frozen = true; /* however long it takes, it is not lost by that */
    begin(w);
    assert_true(web_run_until(&w->web, &w->leading, 2000));
    w->swallow_answer = true;
    pass(w, 1200);
    assert_false(w->swallow_answer);
    assert_false(w->lost);
}

static void test_lease_released_is_nobodys_and_client_gos_record(void **state)
{
    struct world *w = *state;
    begin(w);
    assert_true(web_run_until(&w->web, &w->leading, 2000));
    sl_lease_release(w->lease, on_released, w);
    assert_false(w->released);
    assert_true(web_run_until(&w->web, &w->released, 800));
    assert_string_equal(holder(w), "");
    assert_int_equal(sl_json_path_int(w->object, "spec.leaseDurationSeconds", 0), 1);
    assert_int_equal(transitions(w), 0);
    assert_false(w->lost);
    assert_false(sl_lease_held(w->lease));
}

static void test_lease_released_while_a_renewal_is_under_way_is_given_back(void **state)
{
    struct world *w = *state;
    begin(w);
    assert_true(web_run_until(&w->web, &w->leading, 2000));
    w->swallow_answer = true;
    while (w->swallow_answer) {
        uv_run(&w->web.loop, UV_RUN_ONCE);
    }
    sl_lease_release(w->lease, on_released, w);
    assert_true(web_run_until(&w->web, &w->released, 1500));
    assert_string_equal(holder(w), "");
}

static void test_lease_release_gives_up_after_a_second(void **state)
{
    struct world *w = *state;
    begin(w);
    assert_true(web_run_until(&w->web, &w->leading, 2000));
    w->down = true;
    sl_lease_release(w->lease, on_released, w);
    pass(w, 700);
    assert_false(w->released);
    assert_true(web_run_until(&w->web, &w->released, 1000));
    assert_false(w->lost);
}

static void test_lease_released_by_a_candidate_is_done_soon(void **state)
{
    struct world *w = *state;
    store(w, RECORD("other", "2020-01-01T00:00:00.000000Z"));
    begin(w);
    pass(w, 200);
    sl_lease_release(w->lease, on_released, w);
    assert_false(w->released);
    assert_true(web_run_until(&w->web, &w->released, 200));
    assert_string_equal(holder(w), "other");
}

int main(void)
{
#define T(name) cmocka_unit_test_setup_teardown(name, setup, teardown)
    const struct CMUnitTest tests[] = {
        T(test_lease_absent_is_made_and_renewed),
        T(test_lease_of_another_is_taken_when_it_stands_still),
        T(test_lease_that_cannot_be_read_is_not_taken),
        T(test_lease_given_back_is_taken_at_once),
        T(test_lease_not_renewable_is_lost_in_time),
        T(test_lease_lost_while_a_renewal_is_under_way_does_not_come_back),
        T(test_lease_taken_by_another_is_lost),
        T(test_lease_deleted_is_made_again_by_its_holder),
        T(test_lease_touched_by_a_third_is_renewed_after_reading),
        T(test_lease_renewal_without_answer_is_resolved_by_reading),
        T(test_lease_released_is_nobodys_and_client_gos_record),
        T(test_lease_released_while_a_renewal_is_under_way_is_given_back),
        T(test_lease_release_gives_up_after_a_second),
        T(test_lease_released_by_a_candidate_is_done_soon)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
