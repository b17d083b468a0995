/* SPDX-License-Identifier: Apache-2.0
 * SPDX-FileCopyrightText: The Sluice authors */

/* CRDs that have v1beta1 converted by the webhook: which they are, and what is written into them. */
#include "t.h"

#include "cli/webhook/conversions.h"
#include "fake_transport.h"

#define CRD(client)                                                                                \
    "{\"spec\":{\"conversion\":{\"strategy\":\"Webhook\",\"webhook\":{\"clientConfig\":" client    \
    "}}}}"
#define SERVICE(name)                                                                              \
    "{\"service\":{\"name\":\"" name "\",\"namespace\":\"ns\",\"path\":\"/convert\"}}"
#define NONE "{\"spec\":{\"conversion\":{\"strategy\":\"None\"}}}"

static void patched(const char *crd, const char *url, const char *authorities, const char *expected)
{
    struct sl_json *c = parse(crd);
    struct sl_json *patch = sl_webhook_conversion_patch_new(c, "ns", "svc", url, authorities);
    struct sl_buf text = {0};
    if (patch != NULL) {
        sl_json_print(sl_json_path(patch, "spec.conversion.webhook.clientConfig"), &text);
    }
    assert_string_equal(text.data == NULL ? "" : text.data, expected);
    sl_buf_fini(&text);
    sl_json_free(patch);
    sl_json_free(c);
}

static void test_conversions_write_where_the_webhook_is(void **state)
{
    (void)state;
    patched(CRD(SERVICE("svc")), NULL, "PEM", "{\"caBundle\":\"UEVN\"}");
    patched(CRD("{\"caBundle\":\"UEVN\",\"service\":{\"name\":\"svc\",\"namespace\":\"ns\","
                "\"path\":\"/convert\",\"port\":443}}"),
            NULL, "PEM", "");
    patched(CRD(SERVICE("svc")), NULL, NULL, "");
    patched(CRD(SERVICE("svc")), "https://h:1", "PEM",
            "{\"url\":\"https://h:1/convert\",\"caBundle\":\"UEVN\",\"service\":null}");
    patched(CRD("{\"url\":\"https://old:1/convert\",\"caBundle\":\"x\"}"), NULL, "PEM",
            "{\"caBundle\":\"UEVN\",\"service\":{\"name\":\"svc\",\"namespace\":\"ns\","
            "\"path\":\"/convert\"},\"url\":null}");
}

static void test_conversions_leave_others_alone(void **state)
{
    (void)state;
    patched(CRD(SERVICE("kueue-webhook-service")), NULL, "PEM", "");
    patched(CRD("{\"url\":\"https://h:1/other\"}"), NULL, "PEM", "");
    patched(NONE, NULL, "PEM", "");
    patched("{}", NULL, "PEM", "");
    patched("{\"spec\":{\"conversion\":{\"strategy\":\"Webhook\"}}}", NULL, "PEM", "");
    assert_false(sl_webhook_conversion_asks(NULL, "ns", "svc"));
}

/* --- with an API server ------------------------------------------------------------------------ */

struct world {
    uv_loop_t loop;
    struct sl_webhook_conversions *conversions;
    unsigned asked;
};

static void on_asked(void *context)
{
    struct world *w = context;
    w->asked++;
}

static int setup(void **state)
{
    struct world *w = sl_mem_new(1, sizeof *w);
    assert_int_equal(uv_loop_init(&w->loop), 0);
    const struct sl_webhook_conversions_options o = {
        .loop = &w->loop, .ns = "ns", .service = "svc", .asked = on_asked, .context = w};
    w->conversions = sl_webhook_conversions_new(&o);
    assert_string_equal(fake_last()->path,
                        "/apis/apiextensions.k8s.io/v1/customresourcedefinitions/"
                        "clusterqueues.kueue.x-k8s.io");
    *state = w;
    return 0;
}

static int teardown(void **state)
{
    struct world *w = *state;
    sl_webhook_conversions_free(w->conversions);
    uv_run(&w->loop, UV_RUN_DEFAULT);
    assert_int_equal(uv_loop_close(&w->loop), 0);
    assert_int_equal(fake_open_count(), 0);
    sl_mem_free(w);
    fake_forget();
    return 0;
}

static void until(struct world *w, size_t exchanges)
{
    while (fake_count < exchanges) {
        uv_run(&w->loop, UV_RUN_ONCE);
    }
    assert_int_equal(fake_count, exchanges);
}

static void test_conversions_that_nobody_asks_for_are_looked_for_seldom(void **state)
{
    struct world *w = *state;
    fake_answer(fake_last(), 200, NONE);
    uv_run(&w->loop, UV_RUN_NOWAIT);
    assert_int_equal(fake_count, 1);
    assert_int_equal(w->asked, 0);
    sl_webhook_conversions_write(w->conversions, NULL, "PEM"); /* who leads looks again */
    until(w, 2);
    fake_answer(fake_last(), 403, "{}");
    assert_int_equal(fake_count, 2);
}

static void test_conversions_are_written_into_each_crd(void **state)
{
    struct world *w = *state;
    fake_answer(fake_last(), 200, CRD(SERVICE("svc")));
    assert_int_equal(w->asked, 1);
    sl_webhook_conversions_write(w->conversions, NULL, "PEM"); /* while others are looked at */
    fake_answer(fake_last(), 200, CRD(SERVICE("svc")));
    assert_string_equal(fake_last()->method, "PATCH");
    assert_has(fake_last()->body, "\"caBundle\":\"UEVN\"");
    fake_answer(fake_last(), 200, "{}");
    until(w, 4); /* from the first again, as something else is wanted */
    for (size_t i = 0; i < 9; i++) {
        assert_string_equal(fake_last()->method, "GET");
        fake_answer(fake_last(), i == 3 ? 404 : 200, CRD(SERVICE("svc")));
        if (i != 3) {
            assert_string_equal(fake_last()->method, "PATCH");
            fake_answer(fake_last(), i == 5 ? 403 : 200, "{}");
        }
    }
    assert_int_equal(fake_open_count(), 0);
    assert_int_equal(w->asked, 1);
}

static void test_conversions_without_an_answer_are_asked_for_again(void **state)
{
    struct world *w = *state;
    fake_answer(fake_last(), 0, "connection refused");
    until(w, 2);
    fake_answer(fake_last(), 200, CRD(SERVICE("svc")));
    assert_int_equal(w->asked, 1);
    assert_has(fake_last()->path, "admissionchecks.kueue.x-k8s.io");
}

int main(void)
{
    const struct CMUnitTest tests[] = {
#define TEST(name) cmocka_unit_test_setup_teardown(name, setup, teardown)
        cmocka_unit_test(test_conversions_write_where_the_webhook_is),
        cmocka_unit_test(test_conversions_leave_others_alone),
        TEST(test_conversions_that_nobody_asks_for_are_looked_for_seldom),
        TEST(test_conversions_are_written_into_each_crd),
        TEST(test_conversions_without_an_answer_are_asked_for_again),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
