/* SPDX-License-Identifier: Apache-2.0
 * SPDX-FileCopyrightText: The Sluice authors */

/* src/cli/pages/access.c over src/cli/pages/reviews.c: what the API server is asked, how often, and what its answers mean. */
#include "t.h"
#include "cli/pages/access.h"
#include "fake_transport.h"

#define CQ "/apis/visibility.kueue.x-k8s.io/v1beta2/clusterqueues/team/pendingworkloads"
#define LQ "/apis/visibility.kueue.x-k8s.io/v1beta2/namespaces/n/localqueues/mine/pendingworkloads"
#define ALLOWED "{\"status\":{\"allowed\":true}}"

static uint64_t fake_now_ms = 1000;

uint64_t uv_hrtime(void)
{
    return fake_now_ms * 1000000;
}

struct world {
    struct sl_reviews *reviews;
    unsigned told;
    struct sl_json *jane;
    struct sl_error e;
};

static void on_known(void *context)
{
    struct world *w = context;
    w->told++;
}

static int setup(void **state)
{
    struct world *w = sl_mem_new(1, sizeof *w);
    w->reviews = sl_reviews_new(
        &(const struct sl_reviews_options){NULL, SL_REVIEWS_MAX, SL_REVIEWS_MAX, on_known, w});
    w->jane = parse("{\"user\":\"jane\",\"groups\":[\"team\",\"system:authenticated\"],"
                    "\"extra\":{\"k\":[\"v\"]},\"uid\":\"u\"}");
    *state = w;
    return 0;
}

static int teardown(void **state)
{
    struct world *w = *state;
    sl_reviews_free(w->reviews); /* ends what is under way */
    assert_int_equal(fake_open_count(), 0);
    sl_json_free(w->jane);
    sl_mem_free(w);
    fake_forget();
    return 0;
}

static enum sl_verdict ask(struct world *w, const char *method, const char *path)
{
    return sl_access_ask(w->reviews, w->jane, method, path, &w->e);
}

static void assert_asked(const char *spec)
{
    struct sl_json *body = parse(fake_last()->body);
    struct sl_buf text = {0};
    assert_string_equal(fake_last()->method, "POST");
    assert_string_equal(fake_last()->path, "/apis/authorization.k8s.io/v1/subjectaccessreviews");
    assert_string_equal(sl_json_path_text(body, "kind", ""), "SubjectAccessReview");
    sl_json_print(sl_json_get(body, "spec"), &text);
    assert_string_equal(text.data, spec);
    sl_buf_fini(&text);
    sl_json_free(body);
}

#define JANE                                                                                       \
    "{\"user\":\"jane\",\"groups\":[\"team\",\"system:authenticated\"],\"extra\":{\"k\":[\"v\"]}," \
    "\"uid\":\"u\","

static void test_access_waits_then_passes(void **state)
{
    struct world *w = *state;
    assert_int_equal(ask(w, "GET", CQ), SL_VERDICT_WAIT);
    assert_asked(JANE "\"resourceAttributes\":{\"verb\":\"get\",\"group\":"
                      "\"visibility.kueue.x-k8s.io\",\"version\":\"v1beta2\",\"resource\":"
                      "\"clusterqueues\",\"subresource\":\"pendingworkloads\",\"name\":\"team\"}}");
    assert_int_equal(ask(w, "GET", CQ), SL_VERDICT_WAIT); /* asked once only */
    assert_int_equal(fake_count, 1);
    fake_answer(fake_last(), 201, ALLOWED);
    assert_int_equal(w->told, 1);
    assert_int_equal(ask(w, "GET", CQ), SL_VERDICT_PASS);
    assert_int_equal(fake_count, 1);
}

static void test_access_in_a_namespace_and_refused_in_kubernetes_words(void **state)
{
    struct world *w = *state;
    assert_int_equal(ask(w, "GET", LQ), SL_VERDICT_WAIT);
    assert_asked(JANE "\"resourceAttributes\":{\"namespace\":\"n\",\"verb\":\"get\",\"group\":"
                      "\"visibility.kueue.x-k8s.io\",\"version\":\"v1beta2\",\"resource\":"
                      "\"localqueues\",\"subresource\":\"pendingworkloads\",\"name\":\"mine\"}}");
    fake_answer(fake_last(), 201, "{\"status\":{\"allowed\":false,\"reason\":\"no\"}}");
    assert_int_equal(ask(w, "GET", LQ), SL_VERDICT_REFUSE);
    assert_int_equal(w->e.code, SL_CODE_FORBIDDEN);
    assert_string_equal(
        w->e.text,
        "localqueues.visibility.kueue.x-k8s.io \"mine\" is forbidden: User \"jane\" cannot get "
        "resource \"localqueues/pendingworkloads\" in API group \"visibility.kueue.x-k8s.io\" in "
        "the namespace \"n\": no");
}

static void test_access_to_a_path_that_is_no_resource(void **state)
{
    struct world *w = *state;
    assert_int_equal(ask(w, "GET", "/apis/visibility.kueue.x-k8s.io/v1beta2"), SL_VERDICT_WAIT);
    assert_asked(JANE "\"nonResourceAttributes\":{\"path\":"
                      "\"/apis/visibility.kueue.x-k8s.io/v1beta2\",\"verb\":\"get\"}}");
    fake_answer(fake_last(), 201, "{\"status\":{}}");
    assert_int_equal(ask(w, "GET", "/apis/visibility.kueue.x-k8s.io/v1beta2"), SL_VERDICT_REFUSE);
    assert_string_equal(w->e.text, "forbidden: User \"jane\" cannot get path "
                                   "\"/apis/visibility.kueue.x-k8s.io/v1beta2\"");
}

static void test_access_verbs_follow_methods_and_names(void **state)
{
    struct world *w = *state;
    static const struct {
        const char *method, *path, *verb;
    } cases[] = {{"GET", "/apis/g/v/things", "\"verb\":\"list\""},
                 {"HEAD", "/apis/g/v/things/a", "\"verb\":\"get\""},
                 {"POST", "/apis/g/v/things", "\"verb\":\"create\""},
                 {"PUT", "/apis/g/v/things/a", "\"verb\":\"update\""},
                 {"PATCH", "/apis/g/v/things/a", "\"verb\":\"patch\""},
                 {"DELETE", "/apis/g/v/things/a", "\"verb\":\"delete\""},
                 {"DELETE", "/apis/g/v/things", "\"verb\":\"deletecollection\""},
                 {"GET", "/apis/g/v/namespaces/n", "\"resource\":\"namespaces\",\"name\":\"n\""},
                 {"GET", "/apis/g/v/", "\"path\":\"/apis/g/v/\""},
                 {"POST", "/a/b/c/d/e/f/g/h/i/j/k/l", "\"verb\":\"post\""},
                 {"GET", "/apis/g/v/a/b/c/d/e/f/g/h/i/j", "\"subresource\":\"c\""}};
    for (size_t i = 0; i < sizeof cases / sizeof cases[0]; i++) {
        assert_int_equal(ask(w, cases[i].method, cases[i].path), SL_VERDICT_WAIT);
        assert_has(fake_last()->body, cases[i].verb);
    }
}

static void test_access_of_masters_asks_nobody(void **state)
{
    struct world *w = *state;
    sl_json_append(sl_json_get(w->jane, "groups"), sl_json_new_text("system:masters"));
    assert_int_equal(ask(w, "GET", CQ), SL_VERDICT_PASS);
    assert_int_equal(fake_count, 0);
}

static void test_access_of_another_user_or_queue_is_another_question(void **state)
{
    struct world *w = *state;
    assert_int_equal(ask(w, "GET", CQ), SL_VERDICT_WAIT);
    fake_answer(fake_last(), 201, ALLOWED);
    assert_int_equal(ask(w, "GET", LQ), SL_VERDICT_WAIT);
    sl_json_set_text(w->jane, "user", "joe");
    assert_int_equal(ask(w, "GET", CQ), SL_VERDICT_WAIT);
    assert_int_equal(fake_count, 3);
}

static void test_access_answers_are_forgotten_after_a_while(void **state)
{
    struct world *w = *state;
    assert_int_equal(ask(w, "GET", CQ), SL_VERDICT_WAIT);
    fake_answer(fake_last(), 201, ALLOWED);
    fake_now_ms += SL_REVIEW_KEEP_MS - 1;
    assert_int_equal(ask(w, "GET", CQ), SL_VERDICT_PASS);
    fake_now_ms += 1;
    assert_int_equal(ask(w, "GET", CQ), SL_VERDICT_WAIT);
    assert_int_equal(fake_count, 2);
}

static void test_access_without_an_answer_is_refused_for_now(void **state)
{
    struct world *w = *state;
    static const struct {
        int status;
        const char *body, *why;
    } cases[] = {{0, "connection refused", "connection refused"},
                 {403, "{\"message\":\"you may not ask\"}", "403 you may not ask"},
                 {201, "{\"kind\":\"x\"}", "201 without a status"},
                 {201, "no JSON", "201 without a status"}};
    for (size_t i = 0; i < sizeof cases / sizeof cases[0]; i++) {
        assert_int_equal(ask(w, "GET", CQ), SL_VERDICT_WAIT);
        fake_answer(fake_last(), cases[i].status, cases[i].body);
        assert_int_equal(ask(w, "GET", CQ), SL_VERDICT_REFUSE);
        assert_int_equal(w->e.code, SL_CODE_UNAVAILABLE);
        assert_has(w->e.text, cases[i].why);
        fake_now_ms += SL_REVIEW_KEEP_FAILED_MS;
    }
    struct sl_review_counters n;
    sl_reviews_count(w->reviews, &n);
    assert_int_equal(n.failed, 4);
    assert_int_equal(n.asked, 4);
}

static void test_access_questions_at_a_time_are_limited(void **state)
{
    struct world *w = *state;
    struct sl_review_counters n;
    sl_reviews_free(w->reviews);
    w->reviews = sl_reviews_new(&(const struct sl_reviews_options){NULL, 2, 2, on_known, w});
    assert_int_equal(ask(w, "GET", "/a"), SL_VERDICT_WAIT);
    assert_int_equal(ask(w, "GET", "/b"), SL_VERDICT_WAIT);
    assert_int_equal(ask(w, "GET", "/b"), SL_VERDICT_WAIT); /* the same question */
    assert_int_equal(ask(w, "GET", "/c"), SL_VERDICT_REFUSE);
    assert_int_equal(w->e.code, SL_CODE_TOO_MANY);
    fake_answer(fake_last(), 201, ALLOWED);
    assert_int_equal(ask(w, "GET", "/c"), SL_VERDICT_WAIT);
    sl_reviews_count(w->reviews, &n);
    assert_int_equal(n.under_way, 2);
}

/* Whoever asks for many things is not in the way of others. */
static void test_access_questions_of_one_user_leave_places_for_others(void **state)
{
    struct world *w = *state;
    char path[64];
    struct sl_json *joe = parse("{\"user\":\"joe\"}");
    sl_reviews_free(w->reviews);
    w->reviews = sl_reviews_new(&(const struct sl_reviews_options){NULL, 4, 2, on_known, w});
    for (int i = 0; i < 100; i++) {
        (void)snprintf(path, sizeof path, "/p%d", i);
        assert_int_equal(ask(w, "GET", path), i < 2 ? SL_VERDICT_WAIT : SL_VERDICT_REFUSE);
    }
    assert_int_equal(sl_access_ask(w->reviews, joe, "GET", "/a", &w->e), SL_VERDICT_WAIT);
    assert_has(fake_last()->body, "\"user\":\"joe\"");
    sl_json_free(joe);
}

static void test_access_questions_are_bounded(void **state)
{
    struct world *w = *state;
    char path[64];
    struct sl_review_counters n;
    for (unsigned i = 0; i < SL_REVIEWS_MAX; i++) {
        (void)snprintf(path, sizeof path, "/p%u", i);
        assert_int_equal(ask(w, "GET", path), SL_VERDICT_WAIT);
    }
    assert_int_equal(ask(w, "GET", "/more"), SL_VERDICT_REFUSE); /* all of them wait */
    assert_int_equal(w->e.code, SL_CODE_TOO_MANY);
    fake_answer(&fake_exchanges[3], 201, ALLOWED);
    assert_int_equal(ask(w, "GET", "/more"),
                     SL_VERDICT_WAIT); /* in the place of the one answered */
    sl_reviews_count(w->reviews, &n);
    assert_int_equal(n.kept, SL_REVIEWS_MAX);
    for (unsigned i = 0; i < SL_REVIEWS_MAX + 1; i++) {
        if (fake_exchanges[i].open) {
            fake_answer(&fake_exchanges[i], 201, ALLOWED);
        }
    }
    fake_now_ms += SL_REVIEW_KEEP_MS;
    assert_int_equal(ask(w, "GET", "/again"),
                     SL_VERDICT_WAIT); /* in the place of one of those who were let in */
    sl_reviews_count(w->reviews, &n);
    assert_int_equal(n.kept, SL_REVIEWS_MAX);
    fake_now_ms += 300000;
    assert_int_equal(ask(w, "GET", "/later"), SL_VERDICT_WAIT); /* what is too old is dropped */
    sl_reviews_count(w->reviews, &n);
    assert_int_equal(n.kept, 2);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
#define TEST(name) cmocka_unit_test_setup_teardown(name, setup, teardown)
        TEST(test_access_waits_then_passes),
        TEST(test_access_in_a_namespace_and_refused_in_kubernetes_words),
        TEST(test_access_to_a_path_that_is_no_resource),
        TEST(test_access_verbs_follow_methods_and_names),
        TEST(test_access_of_masters_asks_nobody),
        TEST(test_access_of_another_user_or_queue_is_another_question),
        TEST(test_access_answers_are_forgotten_after_a_while),
        TEST(test_access_without_an_answer_is_refused_for_now),
        TEST(test_access_questions_at_a_time_are_limited),
        TEST(test_access_questions_of_one_user_leave_places_for_others),
        TEST(test_access_questions_are_bounded),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
