/* SPDX-License-Identifier: Apache-2.0
 * SPDX-FileCopyrightText: The Sluice authors */

/* src/cli/pages/tokens.c: what is asked about a token, and who it says that asks. */
#include "t.h"
#include "cli/pages/tokens.h"
#include "fake_transport.h"

struct world {
    struct sl_reviews *reviews;
    const char *authorization; /* the header; NULL: none */
    struct sl_call call;
    struct sl_json *caller;
    struct sl_error e;
};

static void each_header(const struct sl_call *call, sl_header_fn *visit, void *context)
{
    const struct world *w = call->self;
    visit(context, "Accept", "Bearer of news");
    if (w->authorization != NULL) {
        visit(context, "authorization", w->authorization);
    }
}

static uint64_t fake_now_ms = 1000;

uint64_t uv_hrtime(void)
{
    return fake_now_ms * 1000000;
}

static void on_known(void *context)
{
    assert_non_null(context);
}

static int setup(void **state)
{
    struct world *w = sl_mem_new(1, sizeof *w);
    w->reviews = sl_reviews_new(&(const struct sl_reviews_options){NULL, 8, 2, on_known, w});
    w->call = (struct sl_call){
        .method = "GET", .path = "/metrics", .peer = "here", .each_header = each_header, .self = w};
    w->authorization = "Bearer abc";
    *state = w;
    return 0;
}

static int teardown(void **state)
{
    struct world *w = *state;
    sl_reviews_free(w->reviews);
    sl_json_free(w->caller);
    sl_mem_free(w);
    fake_forget();
    return 0;
}

static enum sl_verdict ask(struct world *w)
{
    sl_json_free(w->caller);
    w->caller = NULL;
    return sl_token_ask(w->reviews, &w->call, &w->caller, &w->e);
}

/* A guess that is not answered. */
static enum sl_verdict guess_from(struct world *w, const char *peer, int number)
{
    char guess[64];
    (void)snprintf(guess, sizeof guess, "Bearer %s%d", peer, number);
    w->authorization = guess;
    w->call.peer = peer;
    return ask(w);
}

static enum sl_verdict ask_as(struct world *w, const char *peer, const char *authorization)
{
    w->authorization = authorization;
    w->call.peer = peer;
    return ask(w);
}

static void test_tokens_are_shown_in_one_header_of_one_scheme(void **state)
{
    struct world *w = *state;
    static const struct {
        const char *value;
        bool shown;
    } cases[] = {{"Bearer abc", true}, {"bearer  abc", true}, {"Basic abc", false},
                 {"Bearer", false},    {"Bearer  ", false},   {NULL, false}};
    for (size_t i = 0; i < sizeof cases / sizeof cases[0]; i++) {
        w->authorization = cases[i].value;
        assert_int_equal(sl_token_shown(&w->call), cases[i].shown);
    }
}

static void test_tokens_that_are_known_name_their_user(void **state)
{
    struct world *w = *state;
    struct sl_buf text = {0};
    assert_int_equal(ask(w), SL_VERDICT_WAIT);
    assert_string_equal(fake_last()->path, "/apis/authentication.k8s.io/v1/tokenreviews");
    assert_has(fake_last()->body, "\"spec\":{\"token\":\"abc\"}");
    fake_answer(fake_last(), 201,
                "{\"status\":{\"authenticated\":true,\"user\":{\"username\":\"jane\",\"uid\":\"u\","
                "\"groups\":[\"team\"],\"extra\":{\"k\":[\"v\"]},\"more\":1}}}");
    assert_int_equal(ask(w), SL_VERDICT_PASS);
    sl_json_print(w->caller, &text);
    assert_string_equal(text.data, "{\"user\":\"jane\",\"uid\":\"u\",\"groups\":[\"team\"],"
                                   "\"extra\":{\"k\":[\"v\"]}}");
    sl_buf_fini(&text);
}

static void test_tokens_that_are_unknown_are_unauthorized(void **state)
{
    struct world *w = *state;
    static const char *const answers[] = {
        "{\"status\":{\"authenticated\":false}}", "{\"status\":{}}",
        "{\"status\":{\"user\":{\"username\":\"jane\"}}}",
        "{\"status\":{\"authenticated\":true,\"user\":{\"username\":\"\"}}}"};
    static const char *const tokens[] = {"Bearer a", "Bearer b", "Bearer c", "Bearer d"};
    for (size_t i = 0; i < sizeof answers / sizeof answers[0]; i++) {
        w->authorization = tokens[i];
        assert_int_equal(ask(w), SL_VERDICT_WAIT);
        fake_answer(fake_last(), 201, answers[i]);
        assert_int_equal(ask(w), SL_VERDICT_REFUSE);
        assert_int_equal(w->e.code, SL_CODE_UNAUTHORIZED);
        assert_null(w->caller);
    }
}

static void test_tokens_that_nobody_could_be_asked_about_are_refused_for_now(void **state)
{
    struct world *w = *state;
    assert_int_equal(ask(w), SL_VERDICT_WAIT);
    fake_answer(fake_last(), 0, "connection refused");
    assert_int_equal(ask(w), SL_VERDICT_REFUSE);
    assert_int_equal(w->e.code, SL_CODE_UNAVAILABLE);
}

/* Whoever was let in is asked about anew beside all who guess. */
static void test_tokens_that_were_known_do_not_wait_behind_guesses(void **state)
{
    struct world *w = *state;
    char guess[32];
    assert_int_equal(ask(w), SL_VERDICT_WAIT);
    fake_answer(fake_last(), 201,
                "{\"status\":{\"authenticated\":true,\"user\":{\"username\":\"jane\"}}}");
    assert_int_equal(ask(w), SL_VERDICT_PASS);
    fake_now_ms += SL_REVIEW_KEEP_MS;
    w->authorization = guess;
    for (int i = 0; i < 1100; i++) { /* more than answers are kept of */
        (void)snprintf(guess, sizeof guess, "Bearer answered%d", i);
        assert_int_equal(ask(w), SL_VERDICT_WAIT);
        fake_answer(fake_last(), 201, "{\"status\":{}}");
        assert_int_equal(ask(w), SL_VERDICT_REFUSE);
    }
    for (int i = 0; i < 20; i++) { /* two from each of ten clients: all places are taken */
        char peer[32];
        (void)snprintf(peer, sizeof peer, "guesser%d", i / 2);
        assert_int_equal(guess_from(w, peer, i), SL_VERDICT_WAIT);
    }
    assert_int_equal(guess_from(w, "guesser0", 20), SL_VERDICT_REFUSE);
    assert_int_equal(w->e.code, SL_CODE_TOO_MANY);
    assert_int_equal(ask_as(w, "guesser0", "Bearer abc"), SL_VERDICT_WAIT);
    assert_has(fake_last()->body, "\"spec\":{\"token\":\"abc\"}");
    fake_answer(fake_last(), 201, "{\"status\":{\"authenticated\":false}}");
    assert_int_equal(ask(w), SL_VERDICT_REFUSE); /* he is not let in any more */
    fake_now_ms += SL_REVIEW_KEEP_MS;
    assert_int_equal(ask(w), SL_VERDICT_REFUSE);
    assert_int_equal(w->e.code, SL_CODE_TOO_MANY);
}

static void test_tokens_that_are_new_do_not_wait_behind_guesses_of_another_client(void **state)
{
    struct world *w = *state;
    for (int i = 0; i < 100; i++) {
        (void)guess_from(w, "guesser", i);
    }
    assert_int_equal(ask_as(w, "newcomer", "Bearer new"), SL_VERDICT_WAIT);
    assert_has(fake_last()->body, "\"spec\":{\"token\":\"new\"}");
    fake_answer(fake_last(), 201,
                "{\"status\":{\"authenticated\":true,\"user\":{\"username\":\"jane\"}}}");
    assert_int_equal(ask(w), SL_VERDICT_PASS);
}

/* More clients guess than questions may be under way: whoever has none there waits for a turn. */
static void test_tokens_that_are_new_wait_for_their_turn_behind_many_clients(void **state)
{
    struct world *w = *state;
    struct sl_review_counters n;
    char peer[32];
    for (int i = 0; i < 16; i++) {
        (void)snprintf(peer, sizeof peer, "guesser%d", i / 2);
        (void)guess_from(w, peer, i);
    }
    size_t asked = fake_count;
    assert_int_equal(asked, 8);
    assert_int_equal(ask_as(w, "newcomer", "Bearer new"), SL_VERDICT_WAIT);
    assert_int_equal(fake_count, asked); /* not yet */
    assert_int_equal(guess_from(w, "guesser0", 100), SL_VERDICT_REFUSE);
    assert_int_equal(w->e.code, SL_CODE_TOO_MANY);
    fake_answer(&fake_exchanges[3], 201, "{\"status\":{}}");
    assert_int_equal(ask_as(w, "newcomer", "Bearer new"), SL_VERDICT_WAIT);
    assert_int_equal(fake_count, asked + 1);
    sl_reviews_count(w->reviews, &n);
    assert_int_equal(n.under_way, 8);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
#define TEST(name) cmocka_unit_test_setup_teardown(name, setup, teardown)
        TEST(test_tokens_are_shown_in_one_header_of_one_scheme),
        TEST(test_tokens_that_are_known_name_their_user),
        TEST(test_tokens_that_are_unknown_are_unauthorized),
        TEST(test_tokens_that_were_known_do_not_wait_behind_guesses),
        TEST(test_tokens_that_are_new_do_not_wait_behind_guesses_of_another_client),
        TEST(test_tokens_that_are_new_wait_for_their_turn_behind_many_clients),
        TEST(test_tokens_that_nobody_could_be_asked_about_are_refused_for_now),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
