/* SPDX-License-Identifier: Apache-2.0
 * SPDX-FileCopyrightText: The Sluice authors */

/* src/server/front_proxy.c: whose word is taken for who asks. */
#include <setjmp.h>
#include <stdarg.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "pki.h"
#include "server/front_proxy.h"

struct header {
    const char *name, *value;
};
struct world {
    struct pki *ca, *other_ca, *client;
    struct sl_front_proxy *proxy;
    const struct header *headers; /* up to one without a name */
    gnutls_datum_t chain[2];
    struct sl_call call;
    struct sl_error e;
};

static const struct header jane[] = {{"X-Remote-User", "jane"},
                                     {"X-Remote-Group", "team"},
                                     {"x-remote-group", "dev"},
                                     {"X-Remote-Extra-Acme%2FScope", "a"},
                                     {"X-Remote-Extra-acme%2fscope", "b"},
                                     {"X-Remote-Uid", "u1"},
                                     {"Accept", "*/*"},
                                     {NULL, NULL}};

static void each_header(const struct sl_call *call, sl_header_fn *visit, void *context)
{
    const struct world *w = call->self;
    for (const struct header *h = w->headers; h->name != NULL; h++) {
        visit(context, h->name, h->value);
    }
}

static struct sl_json *config_map(const struct pki *ca, const char *names)
{
    struct sl_json *data = sl_json_new_map();
    sl_json_set_text(data, "requestheader-client-ca-file", ca->certificate_pem);
    sl_json_set_text(data, "requestheader-allowed-names", names);
    sl_json_set_text(data, "requestheader-username-headers", "[\"X-Remote-User\"]");
    sl_json_set_text(data, "requestheader-uid-headers", "[\"X-Remote-Uid\"]");
    sl_json_set_text(data, "requestheader-group-headers", "[\"X-Remote-Group\"]");
    sl_json_set_text(data, "requestheader-extra-headers-prefix", "[\"X-Remote-Extra-\"]");
    return data;
}

static enum sl_code learn(struct world *w, struct sl_json *data)
{
    w->e = (struct sl_error){.code = SL_CODE_OK};
    enum sl_code code = sl_front_proxy_learn(w->proxy, data, &w->e);
    sl_json_free(data);
    return code;
}

static void show(struct world *w, const struct pki *certificate)
{
    w->chain[0] = certificate->der;
    w->call.chain = w->chain;
    w->call.chain_len = 1;
}

static int setup(void **state)
{
    struct world *w = sl_mem_new(1, sizeof *w);
    w->ca = pki_new((struct pki_wish){.name = "front-proxy-ca", .authority = true}, NULL);
    w->other_ca = pki_new((struct pki_wish){.name = "front-proxy-ca", .authority = true}, NULL);
    w->client = pki_new(
        (struct pki_wish){.name = "front-proxy-client", .purpose = GNUTLS_KP_TLS_WWW_CLIENT},
        w->ca);
    w->proxy = sl_front_proxy_new();
    w->headers = jane;
    w->call =
        (struct sl_call){.method = "GET", .path = "/apis", .each_header = each_header, .self = w};
    show(w, w->client);
    *state = w;
    return 0;
}

static int teardown(void **state)
{
    struct world *w = *state;
    sl_front_proxy_free(w->proxy);
    pki_free(w->ca);
    pki_free(w->other_ca);
    pki_free(w->client);
    sl_mem_free(w);
    return 0;
}

static void assert_refused(struct world *w, const char *why)
{
    w->e = (struct sl_error){.code = SL_CODE_OK};
    assert_null(sl_front_proxy_caller_new(w->proxy, &w->call, &w->e));
    assert_int_equal(w->e.code, SL_CODE_UNAUTHORIZED);
    if (strstr(w->e.text, why) == NULL) {
        fail_msg("\"%s\" is not in \"%s\"", why, w->e.text);
    }
}

static void assert_caller(struct world *w, const char *expected)
{
    struct sl_buf text = {0};
    struct sl_json *caller = sl_front_proxy_caller_new(w->proxy, &w->call, &w->e);
    if (caller == NULL) {
        fail_msg("refused: %s", w->e.text);
    }
    sl_json_print(caller, &text);
    assert_string_equal(text.data, expected);
    sl_buf_fini(&text);
    sl_json_free(caller);
}

/* --- tests ----------------------------------------------------------------------------------- */

static void test_front_proxy_names_user_groups_uid_and_extra(void **state)
{
    struct world *w = *state;
    assert_int_equal(learn(w, config_map(w->ca, "[\"front-proxy-client\"]")), SL_CODE_OK);
    assert_caller(w, "{\"groups\":[\"team\",\"dev\",\"system:authenticated\"],\"user\":\"jane\","
                     "\"extra\":{\"acme/scope\":[\"a\",\"b\"]},\"uid\":\"u1\"}");
}

static void test_front_proxy_without_a_certificate_is_refused(void **state)
{
    struct world *w = *state;
    assert_int_equal(learn(w, config_map(w->ca, "[]")), SL_CODE_OK);
    w->call.chain_len = 0;
    assert_refused(w, "0 certificates");
}

static void test_front_proxy_certificate_of_another_authority_is_refused(void **state)
{
    struct world *w = *state;
    assert_int_equal(learn(w, config_map(w->other_ca, "[]")), SL_CODE_OK);
    assert_refused(w, "is not signed by a known authority");
    assert_int_equal(learn(w, config_map(w->ca, "[]")), SL_CODE_OK); /* the ConfigMap changes */
    struct sl_json *caller = sl_front_proxy_caller_new(w->proxy, &w->call, &w->e);
    assert_non_null(caller);
    sl_json_free(caller);
}

static void test_front_proxy_certificate_with_another_name_is_refused(void **state)
{
    struct world *w = *state;
    assert_int_equal(learn(w, config_map(w->ca, "[\"aggregator\",\"front\"]")), SL_CODE_OK);
    assert_refused(w, "\"front-proxy-client\"");
    assert_int_equal(learn(w, config_map(w->ca, "[]")), SL_CODE_OK); /* any name */
    struct sl_json *caller = sl_front_proxy_caller_new(w->proxy, &w->call, &w->e);
    assert_non_null(caller);
    sl_json_free(caller);
}

static void test_front_proxy_expired_or_server_certificate_is_refused(void **state)
{
    struct world *w = *state;
    struct pki *old = pki_new((struct pki_wish){.name = "a", .expired = true}, w->ca);
    struct pki *server =
        pki_new((struct pki_wish){.name = "a", .purpose = GNUTLS_KP_TLS_WWW_SERVER}, w->ca);
    assert_int_equal(learn(w, config_map(w->ca, "[]")), SL_CODE_OK);
    show(w, old);
    assert_refused(w, "is not signed by a known authority");
    show(w, server);
    assert_refused(w, "is not signed by a known authority");
    pki_free(old);
    pki_free(server);
}

static void test_front_proxy_certificate_that_is_garbage_is_refused(void **state)
{
    struct world *w = *state;
    unsigned char garbage[] = "garbage";
    assert_int_equal(learn(w, config_map(w->ca, "[]")), SL_CODE_OK);
    w->chain[0] = (gnutls_datum_t){garbage, sizeof garbage};
    assert_refused(w, "cannot be read");
    w->call.chain_len = 9;
    assert_refused(w, "9 certificates");
}

static void test_front_proxy_without_a_user_is_refused(void **state)
{
    struct world *w = *state;
    static const struct header nobody[] = {
        {"X-Remote-User", ""}, {"X-Remote-Group", "system:masters"}, {NULL, NULL}};
    assert_int_equal(learn(w, config_map(w->ca, "[]")), SL_CODE_OK);
    w->headers = nobody;
    assert_refused(w, "named no user");
}

static void test_front_proxy_before_the_map_is_known_believes_nobody(void **state)
{
    struct world *w = *state;
    assert_false(sl_front_proxy_knows(w->proxy));
    assert_refused(w, "is not known");
    assert_int_equal(learn(w, config_map(w->ca, "[]")), SL_CODE_OK);
    assert_true(sl_front_proxy_knows(w->proxy));
    assert_int_equal(learn(w, sl_json_new_map()), SL_CODE_OK); /* it was switched off */
    assert_refused(w, "is not known");
}

static void test_front_proxy_map_that_makes_no_sense_changes_nothing(void **state)
{
    struct world *w = *state;
    assert_int_equal(learn(w, config_map(w->ca, "[]")), SL_CODE_OK);
    assert_int_equal(learn(w, config_map(w->ca, "front-proxy-client")), SL_CODE_BAD_REQUEST);
    assert_string_equal(w->e.text, "requestheader-allowed-names is not a list of texts");
    assert_int_equal(learn(w, config_map(w->ca, "[1]")), SL_CODE_BAD_REQUEST);
    struct sl_json *data = config_map(w->ca, "[]");
    sl_json_set_text(data, "requestheader-client-ca-file", "no PEM");
    assert_int_equal(learn(w, data), SL_CODE_BAD_REQUEST);
    assert_non_null(strstr(w->e.text, "requestheader-client-ca-file holds no certificate"));
    struct sl_json *caller = sl_front_proxy_caller_new(w->proxy, &w->call, &w->e);
    assert_non_null(caller);
    sl_json_free(caller);
}

static void test_front_proxy_headers_that_the_map_does_not_name_are_nothing(void **state)
{
    struct world *w = *state;
    struct sl_json *data = config_map(w->ca, "[]");
    static const struct header odd[] = {{"X-User", "jane"},
                                        {"X-Remote-User", "system:admin"},
                                        {"X-Remote-Group", "system:masters"},
                                        {"X-Remote-Extra-", "x"},
                                        {NULL, NULL}};
    sl_json_set_text(data, "requestheader-username-headers", "[\"X-User\"]");
    sl_json_remove(data, "requestheader-group-headers");
    assert_int_equal(learn(w, data), SL_CODE_OK);
    w->headers = odd;
    assert_caller(w, "{\"groups\":[\"system:authenticated\"],\"user\":\"jane\"}");
}

/* --- who comes by himself -------------------------------------------------------------------- */

/* The ConfigMap with an authority of users beside that of the API server. */
static void learn_users(struct world *w)
{
    struct sl_json *data = config_map(w->ca, "[]");
    sl_json_set_text(data, "client-ca-file", w->other_ca->certificate_pem);
    assert_int_equal(learn(w, data), SL_CODE_OK);
}

static void show_signed(struct world *w, struct pki_wish wish, const struct pki *by)
{
    pki_free(w->client);
    wish.purpose = wish.purpose == NULL ? GNUTLS_KP_TLS_WWW_CLIENT : wish.purpose;
    w->client = pki_new(wish, by);
    show(w, w->client);
}

static void assert_user(struct world *w, const char *expected)
{
    struct sl_buf text = {0};
    struct sl_json *caller = sl_front_proxy_user_new(w->proxy, &w->call, &w->e);
    if (caller == NULL) {
        fail_msg("refused: %s", w->e.text);
    }
    sl_json_print(caller, &text);
    assert_string_equal(text.data, expected);
    sl_buf_fini(&text);
    sl_json_free(caller);
}

static void assert_no_user(struct world *w, const char *why)
{
    w->e = (struct sl_error){.code = SL_CODE_OK};
    assert_null(sl_front_proxy_user_new(w->proxy, &w->call, &w->e));
    assert_int_equal(w->e.code, SL_CODE_UNAUTHORIZED);
    assert_non_null(strstr(w->e.text, why));
}

static void test_front_proxy_users_certificate_has_his_name_and_groups(void **state)
{
    struct world *w = *state;
    learn_users(w);
    show_signed(w, (struct pki_wish){.name = "joe", .groups = {"dev, ops", "system:x"}},
                w->other_ca);
    assert_refused(w, "is not signed by a known authority"); /* he may not speak for others */
    assert_user(
        w, "{\"groups\":[\"dev, ops\",\"system:x\",\"system:authenticated\"],\"user\":\"joe\"}");
    show_signed(w, (struct pki_wish){.name = "joe", .more_name = "j\xc3\xb8"}, w->other_ca);
    assert_user(w, "{\"groups\":[\"system:authenticated\"],\"user\":\"j\xc3\xb8\"}");
}

static void test_front_proxy_certificate_of_the_api_server_is_no_users(void **state)
{
    struct world *w = *state;
    learn_users(w);
    assert_no_user(w, "is not signed by a known authority");
    w->call.chain_len = 0;
    assert_no_user(w, "showed 0 certificates");
}

static void test_front_proxy_expired_or_server_certificate_is_no_users(void **state)
{
    struct world *w = *state;
    learn_users(w);
    show_signed(w, (struct pki_wish){.name = "joe", .expired = true}, w->other_ca);
    assert_no_user(w, "is not signed by a known authority");
    show_signed(w, (struct pki_wish){.name = "joe", .purpose = GNUTLS_KP_TLS_WWW_SERVER},
                w->other_ca);
    assert_no_user(w, "is not signed by a known authority");
}

static void test_front_proxy_certificate_without_a_name_is_no_users(void **state)
{
    struct world *w = *state;
    learn_users(w);
    show_signed(w, (struct pki_wish){.groups = {"dev"}}, w->other_ca);
    assert_no_user(w, "names no user");
}

static void test_front_proxy_authority_of_users_is_forgotten_and_checked(void **state)
{
    struct world *w = *state;
    assert_no_user(w, "CA of users is not known");
    learn_users(w);
    struct sl_json *data = config_map(w->ca, "[]");
    sl_json_set_text(data, "client-ca-file", "no PEM");
    assert_int_equal(learn(w, data), SL_CODE_BAD_REQUEST);
    assert_non_null(strstr(w->e.text, "client-ca-file holds no certificate"));
    show_signed(w, (struct pki_wish){.name = "joe"}, w->other_ca);
    assert_user(w, "{\"groups\":[\"system:authenticated\"],\"user\":\"joe\"}");
    assert_int_equal(learn(w, config_map(w->ca, "[]")), SL_CODE_OK);
    assert_no_user(w, "CA of users is not known");
}

int main(void)
{
    const struct CMUnitTest tests[] = {
#define TEST(name) cmocka_unit_test_setup_teardown(name, setup, teardown)
        TEST(test_front_proxy_names_user_groups_uid_and_extra),
        TEST(test_front_proxy_without_a_certificate_is_refused),
        TEST(test_front_proxy_certificate_of_another_authority_is_refused),
        TEST(test_front_proxy_certificate_with_another_name_is_refused),
        TEST(test_front_proxy_expired_or_server_certificate_is_refused),
        TEST(test_front_proxy_certificate_that_is_garbage_is_refused),
        TEST(test_front_proxy_without_a_user_is_refused),
        TEST(test_front_proxy_before_the_map_is_known_believes_nobody),
        TEST(test_front_proxy_map_that_makes_no_sense_changes_nothing),
        TEST(test_front_proxy_headers_that_the_map_does_not_name_are_nothing),
        TEST(test_front_proxy_users_certificate_has_his_name_and_groups),
        TEST(test_front_proxy_certificate_of_the_api_server_is_no_users),
        TEST(test_front_proxy_expired_or_server_certificate_is_no_users),
        TEST(test_front_proxy_certificate_without_a_name_is_no_users),
        TEST(test_front_proxy_authority_of_users_is_forgotten_and_checked),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
