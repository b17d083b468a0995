/* SPDX-License-Identifier: Apache-2.0
 * SPDX-FileCopyrightText: The Sluice authors */

/* The webhook's keys in a Secret: what is made, kept and renewed when. And the Secret itself, with an API server that is played by
 * hand. */
#include "t.h"

#include "base/base64.h"
#include "base/clock.h"
#include "cli/webhook/secret.h"
#include "fake_transport.h"

#define NOW_S 1800000000ll
#define DAY_S 86400ll
#define NAME "sluice-webhook-service.kueue-system.svc"

static const char *renewed(struct sl_webhook_keys *k, const char *name, int64_t now_s)
{
    struct sl_error e = {0};
    const char *why = NULL;
    if (sl_webhook_keys_renew(k, name, now_s, &why, &e) != SL_CODE_OK) {
        fail_msg("%s", e.text);
    }
    if (sl_issued_check(k->authority.certificate.data, &k->server, name, &e) != SL_CODE_OK) {
        fail_msg("%s", e.text);
    }
    return why;
}

static size_t count(const char *text, const char *part)
{
    size_t n = 0;
    for (const char *at = text; (at = strstr(at, part)) != NULL; at++) {
        n++;
    }
    return n;
}

static void test_webhook_keys_are_renewed_long_before_they_end(void **state)
{
    (void)state;
    struct sl_webhook_keys k = {0};
    assert_string_equal(renewed(&k, NAME, NOW_S), "none yet");
    assert_null(renewed(&k, NAME, NOW_S));
    assert_null(renewed(&k, NAME, NOW_S + 274 * DAY_S));
    char *first = sl_mem_text(k.authority.certificate.data);
    assert_string_equal(renewed(&k, NAME, NOW_S + 276 * DAY_S), "the certificate ends");
    assert_string_equal(k.authority.certificate.data, first);
    assert_string_equal(renewed(&k, "other.svc", NOW_S + 276 * DAY_S),
                        "the certificate does not fit");
    sl_mem_free(first);
    sl_webhook_keys_fini(&k);
}

/* Nobody who believes the old authority alone, or both, is shown a certificate that he does not believe. */
static void test_webhook_keys_of_a_new_authority_sign_later(void **state)
{
    (void)state;
    struct sl_webhook_keys k = {0};
    int64_t late_s = NOW_S + 8 * 365 * DAY_S + DAY_S;
    (void)renewed(&k, NAME, NOW_S);
    (void)renewed(&k, NAME, late_s - 2 * DAY_S);
    char *old = sl_mem_text(k.authority.certificate.data);
    char *server = sl_mem_text(k.server.certificate.data);
    assert_string_equal(renewed(&k, NAME, late_s), "the authority ends");
    assert_string_equal(k.server.certificate.data, server);
    assert_int_equal(count(k.authority.certificate.data, "BEGIN CERTIFICATE"), 2);
    struct sl_error e = {0};
    assert_int_equal(sl_issued_check(old, &k.server, NAME, &e), SL_CODE_OK);
    assert_string_equal(renewed(&k, NAME, late_s + 300 * DAY_S), "the certificate ends");
    assert_int_equal(sl_issued_check(old, &k.server, NAME, &e), SL_CODE_BAD_REQUEST);
    /* The next change forgets the oldest. */
    assert_string_equal(renewed(&k, NAME, late_s + 3000 * DAY_S), "the authority ends");
    assert_int_equal(count(k.authority.certificate.data, "BEGIN CERTIFICATE"), 2);
    sl_mem_free(old);
    sl_mem_free(server);
    sl_webhook_keys_fini(&k);
}

static void test_webhook_keys_that_all_ended_are_made_again(void **state)
{
    (void)state;
    struct sl_webhook_keys k = {0};
    (void)renewed(&k, NAME, NOW_S);
    assert_string_equal(renewed(&k, NAME, NOW_S + 20 * 365 * DAY_S), "the authority ends");
    assert_int_equal(count(k.authority.certificate.data, "BEGIN CERTIFICATE"), 1);
    sl_webhook_keys_fini(&k);
}

static struct sl_json *secret_new(const struct sl_webhook_keys *k)
{
    struct sl_json *secret = parse(
        "{\"metadata\":{\"name\":\"s\",\"resourceVersion\":\"7\"},\"data\":{\"x\":\"eA==\"}}");
    sl_webhook_keys_write(k, secret);
    return secret;
}

static void test_webhook_keys_come_back_from_a_secret(void **state)
{
    (void)state;
    struct sl_webhook_keys k = {0}, back = {0};
    (void)renewed(&k, NAME, NOW_S);
    struct sl_json *secret = secret_new(&k);
    assert_string_equal(sl_json_path_text(secret, "data.x", ""), "eA==");
    sl_webhook_keys_read(secret, &back);
    assert_null(renewed(&back, NAME, NOW_S));
    assert_string_equal(back.server.key.data, k.server.key.data);
    sl_webhook_keys_read(NULL, &back);
    assert_string_equal(renewed(&back, NAME, NOW_S), "none yet");
    static const char *const members[] = {"ca.crt", "ca.key", "tls.crt", "tls.key"};
    static const char *const whys[] = {"the authority ends", NULL, "the certificate does not fit",
                                       "the certificate does not fit"};
    for (size_t i = 0; i < 4; i++) {
        struct sl_json *spoiled = sl_json_clone(secret);
        sl_json_set_text(sl_json_get(spoiled, "data"), members[i], "AAAA");
        sl_webhook_keys_read(spoiled, &back);
        const char *why = renewed(&back, NAME, NOW_S);
        assert_string_equal(why == NULL ? "" : why, whys[i] == NULL ? "" : whys[i]);
        sl_json_free(spoiled);
    }
    sl_json_set_text(sl_json_get(secret, "data"), "ca.key",
                     "AAAA"); /* and then a certificate is needed */
    sl_json_set_text(sl_json_get(secret, "data"), "tls.crt", "AAAA");
    sl_webhook_keys_read(secret, &back);
    assert_string_equal(renewed(&back, NAME, NOW_S), "the authority does not fit");
    sl_json_free(secret);
    sl_webhook_keys_fini(&k);
    sl_webhook_keys_fini(&back);
}

/* --- the Secret -------------------------------------------------------------------------------- */

struct world {
    uv_loop_t loop;
    struct sl_webhook_secret *secret;
    unsigned taken;
    char *certificate;
};

static void on_taken(void *context, const struct sl_webhook_keys *keys)
{
    struct world *w = context;
    w->taken++;
    sl_mem_free(w->certificate);
    w->certificate = sl_mem_text(keys->server.certificate.data);
}

static void until(struct world *w, size_t exchanges)
{
    while (fake_count < exchanges) {
        uv_run(&w->loop, UV_RUN_ONCE);
    }
    assert_int_equal(fake_count, exchanges);
}

static int setup(void **state)
{
    struct world *w = sl_mem_new(1, sizeof *w);
    assert_int_equal(uv_loop_init(&w->loop), 0);
    const struct sl_webhook_secret_options o = {
        .loop = &w->loop, .ns = "ns", .name = "s", .server = NAME, .taken = on_taken, .context = w};
    w->secret = sl_webhook_secret_new(&o);
    until(w, 1);
    assert_string_equal(fake_last()->method, "GET");
    assert_string_equal(fake_last()->path, "/api/v1/namespaces/ns/secrets/s");
    *state = w;
    return 0;
}

static int teardown(void **state)
{
    struct world *w = *state;
    sl_webhook_secret_free(w->secret);
    uv_run(&w->loop, UV_RUN_DEFAULT);
    assert_int_equal(uv_loop_close(&w->loop), 0);
    assert_int_equal(fake_open_count(), 0);
    sl_mem_free(w->certificate);
    sl_mem_free(w);
    fake_forget();
    return 0;
}

static void test_webhook_secret_that_is_good_is_taken(void **state)
{
    struct world *w = *state;
    struct sl_webhook_keys k = {0};
    struct sl_buf text = {0};
    (void)renewed(&k, NAME, sl_clock_now_ms() / 1000);
    struct sl_json *secret = secret_new(&k);
    sl_json_print(secret, &text);
    fake_answer(fake_last(), 200, text.data);
    assert_int_equal(w->taken, 1);
    assert_string_equal(w->certificate, k.server.certificate.data);
    assert_int_equal(fake_count, 1);
    sl_json_free(secret);
    sl_buf_fini(&text);
    sl_webhook_keys_fini(&k);
}

static void test_webhook_secret_that_is_empty_is_filled_before_it_is_taken(void **state)
{
    struct world *w = *state;
    fake_answer(fake_last(), 200, "{\"metadata\":{\"name\":\"s\",\"resourceVersion\":\"7\"}}");
    assert_string_equal(fake_last()->method, "PUT");
    assert_has(fake_last()->body, "\"resourceVersion\":\"7\"");
    assert_has(fake_last()->body, "\"tls.key\":");
    char *written = sl_mem_text(fake_last()->body);
    assert_int_equal(w->taken, 0);
    fake_answer(fake_last(), 200, "{}");
    until(w, 3);
    fake_answer(fake_last(), 200, written);
    assert_int_equal(w->taken, 1);
    sl_mem_free(written);
}

static void test_webhook_secret_that_lacks_is_made(void **state)
{
    struct world *w = *state;
    fake_answer(fake_last(), 404, "{}");
    assert_string_equal(fake_last()->method, "POST");
    assert_string_equal(fake_last()->path, "/api/v1/namespaces/ns/secrets");
    fake_answer(fake_last(), 409, "{}"); /* another replica was first */
    until(w, 3);
    assert_string_equal(fake_last()->method, "GET");
    assert_int_equal(w->taken, 0);
}

static void test_webhook_secret_that_cannot_be_had_is_tried_again(void **state)
{
    struct world *w = *state;
    fake_answer(fake_last(), 403, "{}");
    until(w, 2);
    fake_answer(fake_last(), 200, "{}");
    assert_string_equal(fake_last()->method, "PUT");
    fake_answer(fake_last(), 403, "{}");
    until(w, 4);
    fake_answer(fake_last(), 0, "connection refused");
    until(w, 5);
    assert_int_equal(w->taken, 0);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
#define TEST(name) cmocka_unit_test_setup_teardown(name, setup, teardown)
        cmocka_unit_test(test_webhook_keys_are_renewed_long_before_they_end),
        cmocka_unit_test(test_webhook_keys_of_a_new_authority_sign_later),
        cmocka_unit_test(test_webhook_keys_that_all_ended_are_made_again),
        cmocka_unit_test(test_webhook_keys_come_back_from_a_secret),
        TEST(test_webhook_secret_that_is_good_is_taken),
        TEST(test_webhook_secret_that_is_empty_is_filled_before_it_is_taken),
        TEST(test_webhook_secret_that_lacks_is_made),
        TEST(test_webhook_secret_that_cannot_be_had_is_tried_again),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
