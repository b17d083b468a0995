/* SPDX-License-Identifier: Apache-2.0
 * SPDX-FileCopyrightText: The Sluice authors */

/* Which webhooks are registered for a configuration, what the webhook does for it, and how an API server that is played by hand comes
 * to know. */
#include "t.h"

#include "base/base64.h"
#include "cli/webhook/discovery.h"
#include "cli/webhook/register.h"
#include "cli/webhook/registration.h"
#include "controllers/adapters/adapter.h"
#include "fake_transport.h"

static const struct sl_job_rules all_kinds = {0};
static const struct sl_webhook_place service = {.ns = "kueue-system", .service = "svc"};
static const struct sl_webhook_place local = {.url = "https://127.0.0.1:1"};

static const struct sl_json *hook(const struct sl_json *o, const char *name)
{
    return sl_json_find_by(sl_json_get(o, "webhooks"), "name", name);
}

static struct sl_json *made(const struct sl_job_rules *jobs, enum sl_webhook_way way,
                            const struct sl_webhook_place *place, const char *authorities)
{
    struct sl_json *namespaces = parse("{\"matchLabels\":{\"team\":\"a\"}}");
    struct sl_webhook_rules *r = sl_webhook_rules_new(jobs, namespaces);
    struct sl_json *o = sl_webhook_registration_new(r, way, place, authorities);
    sl_webhook_rules_free(r);
    sl_json_free(namespaces);
    return o;
}

static void test_registration_names_the_service_and_its_authorities(void **state)
{
    (void)state;
    struct sl_json *o = made(&all_kinds, SL_WEBHOOK_MUTATES, &service, "PEM");
    const struct sl_json *jobs = hook(o, "mjobs.sluice.dev"), *pods = hook(o, "mpods.sluice.dev");
    assert_string_equal(sl_json_path_text(o, "kind", ""), "MutatingWebhookConfiguration");
    assert_string_equal(sl_json_path_text(o, "metadata.name", ""),
                        "sluice-mutating-webhook-configuration");
    assert_string_equal(sl_json_path_text(jobs, "clientConfig.service.name", ""), "svc");
    assert_string_equal(sl_json_path_text(jobs, "clientConfig.service.namespace", ""),
                        "kueue-system");
    assert_string_equal(sl_json_path_text(jobs, "clientConfig.service.path", ""), "/mutate");
    assert_string_equal(sl_json_path_text(jobs, "clientConfig.caBundle", ""), "UEVN");
    assert_string_equal(sl_json_path_text(jobs, "failurePolicy", ""), "Fail");
    assert_string_equal(sl_json_path_text(jobs, "reinvocationPolicy", ""), "IfNeeded");
    assert_string_equal(sl_json_path_text(jobs, "namespaceSelector.matchLabels.team", ""), "a");
    assert_string_equal(sl_json_path_text(pods, "rules.0.resources.0", ""), "pods");
    assert_int_equal(sl_json_len(sl_json_get(pods, "rules")), 1);
    assert_int_equal(sl_json_len(sl_json_get(pods, "matchConditions")), 1);
    /* A Deployment without a queue does not depend on us. */
    const struct sl_json *templates = hook(o, "mtemplates.sluice.dev");
    assert_string_equal(sl_json_path_text(templates, "rules.0.operations.1", ""), "UPDATE");
    assert_non_null(
        sl_json_find_by(sl_json_get(templates, "matchConditions"), "name", "has-a-queue"));
    sl_json_free(o);
    o = made(&all_kinds, SL_WEBHOOK_VALIDATES, &local, NULL);
    jobs = hook(o, "vjobs.sluice.dev");
    assert_string_equal(sl_json_path_text(jobs, "clientConfig.url", ""),
                        "https://127.0.0.1:1/validate");
    assert_false(sl_json_has(sl_json_get(jobs, "clientConfig"), "caBundle"));
    assert_string_equal(sl_json_path_text(jobs, "rules.0.operations.1", ""), "UPDATE");
    assert_non_null(hook(o, "vqueues.sluice.dev"));
    assert_false(sl_json_has(jobs, "reinvocationPolicy"));
    sl_json_free(o);
}

static void test_registration_is_for_the_kinds_that_are_managed(void **state)
{
    (void)state;
    static const char *const only[] = {"batch/job"};
    const struct sl_job_rules jobs = {.framework_count = 1, .frameworks = only};
    struct sl_json *o = made(&jobs, SL_WEBHOOK_MUTATES, &service, NULL);
    const struct sl_json *rules = sl_json_get(hook(o, "mjobs.sluice.dev"), "rules");
    assert_null(hook(o, "mpods.sluice.dev"));
    assert_null(hook(o, "mtemplates.sluice.dev"));
    const struct sl_json *queues = sl_json_get(hook(o, "mqueues.sluice.dev"), "rules");
    assert_string_equal(sl_json_path_text(queues, "0.resources.0", ""), "clusterqueues");
    assert_null(sl_json_get(hook(o, "mqueues.sluice.dev"), "namespaceSelector"));
    assert_int_equal(sl_json_len(rules), 1); /* the policies' rules are the same then */
    assert_int_equal(sl_json_len(sl_json_path(rules, "0.resources")), 1);
    assert_string_equal(sl_json_path_text(rules, "0.resources.0", ""), "jobs");
    sl_json_free(o);
    o = made(&jobs, SL_WEBHOOK_MUTATES, NULL, NULL);
    assert_int_equal(sl_json_len(sl_json_get(o, "webhooks")), 0);
    sl_json_free(o);
}

/* Every mutating policy is one that the webhook knows, so that none can be added to the files alone. */
static void test_registration_knows_every_mutating_policy(void **state)
{
    (void)state;
    static const char *const known[] = {"sluice-default-queue", "sluice-default-priority",
                                        "sluice-suspend-jobs",  "sluice-suspend-kubeflow-jobs",
                                        "sluice-gate-pods",     "sluice-pod-templates",
                                        "sluice-guard-queues"};
    struct sl_json *unsuspended, *names = sl_json_new_list();
    const struct sl_policies_wish wish = {.jobs = &all_kinds, .minor = SL_POLICIES_ALL};
    struct sl_json *all = sl_policies_make(&wish, &unsuspended);
    for (size_t i = 0; i < sizeof known / sizeof known[0]; i++) {
        sl_json_append(names, sl_json_new_text(known[i]));
    }
    for (size_t i = 0; i < sl_json_len(all); i++) {
        const struct sl_json *o = sl_json_at(all, i);
        if (strcmp(sl_json_path_text(o, "kind", ""), "MutatingAdmissionPolicy") == 0 &&
            !sl_json_has_text(names, sl_json_path_text(o, "metadata.name", ""))) {
            fail_msg("the webhook does not do what %s does",
                     sl_json_path_text(o, "metadata.name", ""));
        }
    }
    sl_json_free(all);
    sl_json_free(unsuspended);
    sl_json_free(names);
}

static void test_registration_rules_come_from_the_policies(void **state)
{
    (void)state;
    struct sl_webhook_rules *r = sl_webhook_rules_new(&all_kinds, NULL);
    struct sl_webhook w = {0};
    sl_webhook_rules_fill(r, &w);
    assert_int_equal(w.policy_count, 6); /* without adapters there is no runPolicy */
    for (size_t i = 0; i < w.policy_count; i++) {
        if (w.policies[i].act == SL_ADMIT_GUARD) {
            assert_true(sl_json_has_text(sl_json_path(w.policies[i].rules, "0.resources"),
                                         "resourceflavors"));
            continue; /* no job makes such objects */
        }
        assert_true(sl_json_has_text(w.policies[i].owners, "batch/Job"));
        assert_false(sl_json_has_text(w.policies[i].owners, "Job"));
    }
    sl_webhook_rules_free(r);
    sl_webhook_rules_free(NULL);
}

static void test_registration_differs_by_what_counts(void **state)
{
    (void)state;
    struct sl_json *wanted = made(&all_kinds, SL_WEBHOOK_MUTATES, &service, "PEM");
    struct sl_json *live = sl_json_clone(wanted);
    struct sl_json *first = sl_json_at(sl_json_get(live, "webhooks"), 0);
    assert_false(sl_webhook_registration_differs(live, wanted));
    sl_json_set_text(first, "matchPolicy", "Equivalent"); /* a default */
    assert_false(sl_webhook_registration_differs(live, wanted));
    sl_json_set_text(first, "failurePolicy", "Ignore");
    assert_true(sl_webhook_registration_differs(live, wanted));
    sl_json_free(live);
    live = parse("{\"metadata\":{\"name\":\"n\",\"resourceVersion\":\"7\"}}");
    assert_true(sl_webhook_registration_differs(live, wanted));
    struct sl_json *none = made(&all_kinds, SL_WEBHOOK_MUTATES, NULL, NULL);
    assert_false(sl_webhook_registration_differs(live, none));
    assert_true(sl_webhook_registration_differs(wanted, none));
    sl_json_free(none);
    sl_json_free(live);
    sl_json_free(wanted);
}

static void test_registration_leaves_the_authorities_of_others(void **state)
{
    (void)state;
    struct sl_json *live = made(&all_kinds, SL_WEBHOOK_MUTATES, &service, "theirs");
    struct sl_json *wanted = made(&all_kinds, SL_WEBHOOK_MUTATES, &local, NULL);
    sl_json_set_text(sl_json_path_make(live, "metadata"), "resourceVersion", "7");
    struct sl_json *merged = sl_webhook_registration_merged_new(live, wanted);
    assert_string_equal(sl_json_path_text(merged, "metadata.resourceVersion", ""), "7");
    assert_string_equal(
        sl_json_path_text(hook(merged, "mjobs.sluice.dev"), "clientConfig.caBundle", ""),
        sl_json_path_text(hook(live, "mjobs.sluice.dev"), "clientConfig.caBundle", ""));
    assert_null(sl_json_path(hook(merged, "mjobs.sluice.dev"), "clientConfig.service"));
    sl_json_free(merged);
    sl_json_free(live);
    sl_json_free(wanted);
}

/* --- with an API server ------------------------------------------------------------------------ */

struct world {
    uv_loop_t loop;
    struct sl_webhook_register *registered;
    struct sl_webhook_discovery *discovery;
    const char *version;
    unsigned found;
};

static int setup(void **state)
{
    struct world *w = sl_mem_new(1, sizeof *w);
    assert_int_equal(uv_loop_init(&w->loop), 0);
    w->registered = sl_webhook_register_new(&w->loop, NULL, 1);
    *state = w;
    return 0;
}

static int teardown(void **state)
{
    struct world *w = *state;
    sl_webhook_register_free(w->registered);
    sl_webhook_discovery_free(w->discovery);
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

static void want(struct world *w, const struct sl_webhook_place *place)
{
    sl_webhook_register_want(w->registered, made(&all_kinds, SL_WEBHOOK_MUTATES, place, "PEM"),
                             made(&all_kinds, SL_WEBHOOK_VALIDATES, place, "PEM"));
}

#define API "/apis/admissionregistration.k8s.io/v1/"
#define EMPTY "{\"metadata\":{\"name\":\"n\",\"resourceVersion\":\"7\"}}"

static void test_register_fills_what_is_there_and_makes_what_is_not(void **state)
{
    struct world *w = *state;
    want(w, &service);
    assert_string_equal(fake_last()->path, API "mutatingwebhookconfigurations/"
                                               "sluice-mutating-webhook-configuration");
    fake_answer(fake_last(), 200, EMPTY);
    assert_string_equal(fake_last()->method, "PUT");
    assert_has(fake_last()->body, "\"resourceVersion\":\"7\"");
    fake_answer(fake_last(), 200, "{}");
    assert_string_equal(fake_last()->path, API "validatingwebhookconfigurations/"
                                               "sluice-validating-webhook-configuration");
    fake_answer(fake_last(), 404, "{}");
    assert_string_equal(fake_last()->method, "POST");
    assert_string_equal(fake_last()->path, API "validatingwebhookconfigurations");
    fake_answer(fake_last(), 201, "{}");
    assert_int_equal(fake_count, 4);
}

static void test_register_where_none_is_wanted_makes_none(void **state)
{
    struct world *w = *state;
    want(w, NULL);
    fake_answer(fake_last(), 404, "{}");
    struct sl_json *live = made(&all_kinds, SL_WEBHOOK_VALIDATES, &service, "PEM");
    struct sl_buf text = {0};
    sl_json_print(live, &text);
    fake_answer(fake_last(), 200, text.data);
    assert_string_equal(fake_last()->method, "PUT");
    assert_has(fake_last()->body, "\"webhooks\":[]");
    fake_answer(fake_last(), 409, "{}"); /* read again */
    assert_string_equal(fake_last()->method, "GET");
    fake_answer(fake_last(), 200, EMPTY);
    assert_int_equal(fake_count, 4);
    sl_json_free(live);
    sl_buf_fini(&text);
}

static void test_register_tries_again_what_failed(void **state)
{
    struct world *w = *state;
    want(w, &service);
    fake_answer(fake_last(), 403, "{}");
    until(w, 2);
    fake_answer(fake_last(), 200, EMPTY);
    fake_answer(fake_last(), 0, "connection refused"); /* the write */
    until(w, 4);
    assert_string_equal(fake_last()->method, "GET");
}

static void test_register_what_is_wanted_later_counts(void **state)
{
    struct world *w = *state;
    want(w, &service);
    fake_answer(fake_last(), 200, EMPTY);
    want(w, &local); /* while the first is written */
    fake_answer(fake_last(), 200, "{}");
    assert_string_equal(fake_last()->method, "GET");
    fake_answer(fake_last(), 200, EMPTY);
    assert_has(fake_last()->body, "https://127.0.0.1:1/mutate");
    fake_answer(fake_last(), 200, "{}");
    assert_has(fake_last()->path, "validating");
}

/* --- discovery --------------------------------------------------------------------------------- */

static void on_found(void *context, const char *version)
{
    struct world *w = context;
    w->found++;
    w->version = version;
}

#define SERVED "{\"resources\":[{\"name\":\"x\"},{\"name\":\"mutatingadmissionpolicies\"}]}"

static void test_discovery_takes_the_newest_version(void **state)
{
    struct world *w = *state;
    w->discovery = sl_webhook_discovery_new(&w->loop, NULL, 1, on_found, w);
    assert_string_equal(fake_last()->path, "/apis/admissionregistration.k8s.io/v1");
    fake_answer(fake_last(), 200, "{\"resources\":[{\"name\":\"x\"}]}");
    assert_string_equal(fake_last()->path, "/apis/admissionregistration.k8s.io/v1beta1");
    fake_answer(fake_last(), 200, SERVED);
    assert_int_equal(w->found, 1);
    assert_string_equal(w->version, "v1beta1");
}

static void test_discovery_of_none_asks_for_all(void **state)
{
    struct world *w = *state;
    w->discovery = sl_webhook_discovery_new(&w->loop, NULL, 1, on_found, w);
    fake_answer(fake_last(), 200, "{}");
    fake_answer(fake_last(), 404, "404 page not found");
    assert_int_equal(w->found, 0);
    fake_answer(fake_last(), 404, "404 page not found");
    assert_int_equal(w->found, 1);
    assert_null(w->version);
}

static void test_discovery_is_tried_until_there_is_an_answer(void **state)
{
    struct world *w = *state;
    w->discovery = sl_webhook_discovery_new(&w->loop, NULL, 1, on_found, w);
    fake_answer(fake_last(), 0, "connection refused");
    until(w, 2);
    fake_answer(fake_last(), 503, "{}");
    until(w, 3);
    fake_answer(fake_last(), 200, "no JSON");
    until(w, 4);
    assert_int_equal(w->found, 0);
    fake_answer(fake_last(), 200, SERVED);
    assert_string_equal(w->version, "v1");
}

int main(void)
{
    const struct CMUnitTest tests[] = {
#define TEST(name) cmocka_unit_test_setup_teardown(name, setup, teardown)
        cmocka_unit_test(test_registration_names_the_service_and_its_authorities),
        cmocka_unit_test(test_registration_is_for_the_kinds_that_are_managed),
        cmocka_unit_test(test_registration_knows_every_mutating_policy),
        cmocka_unit_test(test_registration_rules_come_from_the_policies),
        cmocka_unit_test(test_registration_differs_by_what_counts),
        cmocka_unit_test(test_registration_leaves_the_authorities_of_others),
        TEST(test_register_fills_what_is_there_and_makes_what_is_not),
        TEST(test_register_where_none_is_wanted_makes_none),
        TEST(test_register_tries_again_what_failed),
        TEST(test_register_what_is_wanted_later_counts),
        TEST(test_discovery_takes_the_newest_version),
        TEST(test_discovery_of_none_asks_for_all),
        TEST(test_discovery_is_tried_until_there_is_an_answer),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
