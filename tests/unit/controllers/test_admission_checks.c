/* SPDX-License-Identifier: Apache-2.0
 * SPDX-FileCopyrightText: The Sluice authors */

/* The condition Active of AdmissionChecks. */
#include "t.h"
#include "base/clock.h"
#include "controllers/checks/admission_checks.h"
#include "fake_client.h"

#define T0 1700000000000

struct fixture {
    struct fake fake;
    struct sl_recorder *recorder;
    struct sl_admission_checks a;
};

static int setup(void **state)
{
    struct fixture *f = sl_mem_new(1, sizeof *f);
    sl_clock_set_virtual(T0);
    fake_init(&f->fake);
    f->recorder = sl_recorder_new(&f->fake.client);
    sl_admission_checks_init(&f->a, &f->fake.client, f->recorder);
    *state = f;
    return 0;
}

static int teardown(void **state)
{
    struct fixture *f = *state;
    fake_fini(&f->fake);
    sl_admission_checks_fini(&f->a);
    sl_recorder_free(f->recorder);
    sl_mem_free(f);
    return 0;
}

/* A check of `controller` with that reference, looked at once. */
static const struct sl_json *look(struct fixture *f, const char *controller, const char *reference)
{
    char text[512];
    snprintf(text, sizeof text,
             "{\"metadata\":{\"name\":\"c\",\"uid\":\"u\",\"resourceVersion\":\"7\"},\"spec\":{"
             "\"controllerName\":\"%s\"%s}}",
             controller, reference);
    fake_put(&f->fake, SL_KIND_ADMISSION_CHECK, parse(text));
    sl_admission_checks_observe(&f->a, SL_KIND_ADMISSION_CHECK,
                                fake_find(&f->fake, SL_KIND_ADMISSION_CHECK, "", "c"), false);
    sl_reconciler_step(&f->a.checks, T0, 8);
    fake_flush(&f->fake);
    return sl_condition_find(fake_find(&f->fake, SL_KIND_ADMISSION_CHECK, "", "c"), "Active");
}

#define OURS "kueue.x-k8s.io/provisioning-request"
#define REFERENCE(group, kind)                                                                     \
    ",\"parameters\":{\"apiGroup\":\"" group "\",\"kind\":\"" kind "\",\"name\":\"conf\"}"
static const char good[] = REFERENCE("kueue.x-k8s.io", "ProvisioningRequestConfig");

static void test_admission_checks_bad_reference_is_not_active_and_says_why(void **state)
{
    static const struct {
        const char *reference, *message;
    } cases[] = {
        {"", "missing parameters reference"},
        {REFERENCE("other", "ProvisioningRequestConfig"), "wrong group \"other\""},
        {REFERENCE("kueue.x-k8s.io", "Thing"), "wrong kind \"Thing\""},
        {REFERENCE("kueue.x-k8s.io", "ProvisioningRequestConfig"), "\"conf\" not found"},
    };
    for (size_t i = 0; i < sizeof cases / sizeof cases[0]; i++) {
        const struct sl_json *active = look(*state, OURS, cases[i].reference);
        assert_string_equal(sl_json_path_text(active, "status", ""), "False");
        assert_string_equal(sl_json_path_text(active, "reason", ""), "BadParametersRef");
        assert_non_null(strstr(sl_json_path_text(active, "message", ""), cases[i].message));
    }
}

static void test_admission_checks_follow_their_config(void **state)
{
    struct fixture *f = *state;
    struct sl_json *config = parse("{\"metadata\":{\"name\":\"conf\"},\"spec\":{}}");
    assert_string_equal(sl_json_path_text(look(f, OURS, good), "status", ""), "False");
    fake_put(&f->fake, SL_KIND_PROVISIONING_REQUEST_CONFIG, config);
    sl_admission_checks_observe(&f->a, SL_KIND_PROVISIONING_REQUEST_CONFIG, config, false);
    sl_reconciler_step(&f->a.checks, T0, 8);
    fake_flush(&f->fake);
    const struct sl_json *check = fake_find(&f->fake, SL_KIND_ADMISSION_CHECK, "", "c");
    assert_true(sl_condition_true(check, "Active"));
    unsigned writes = f->fake.write_count;
    sl_admission_checks_observe(&f->a, SL_KIND_ADMISSION_CHECK, check, false);
    sl_reconciler_step(&f->a.checks, T0, 8);
    assert_int_equal(f->fake.write_count, writes); /* nothing new to say */
}

/* Others may have conditions in the list, too. */
static void test_admission_checks_write_over_what_they_have_read(void **state)
{
    struct fixture *f = *state;
    assert_non_null(look(f, OURS, good));
    assert_string_equal(f->fake.last_version, "7");
}

static void test_admission_checks_of_others_are_left_alone(void **state)
{
    struct fixture *f = *state;
    assert_null(look(f, "example.com/mine", good));
    assert_int_equal(f->fake.write_count, 0);
}

/* Whatever another controller has left there. */
static void test_admission_checks_of_multikueue_are_not_active(void **state)
{
    struct fixture *f = *state;
    const struct sl_json *active =
        look(f, "kueue.x-k8s.io/multikueue",
             "},\"status\":{\"conditions\":[{\"type\":\"Active\",\"status\":\"True\",\"reason\":"
             "\"Active\",\"message\":\"The admission check is active\"}]");
    assert_string_equal(sl_json_path_text(active, "status", ""), "False");
    assert_string_equal(sl_json_path_text(active, "reason", ""), "NoUsableClusters");
    unsigned writes = f->fake.write_count;
    sl_admission_checks_observe(&f->a, SL_KIND_ADMISSION_CHECK,
                                fake_find(&f->fake, SL_KIND_ADMISSION_CHECK, "", "c"), false);
    sl_reconciler_step(&f->a.checks, T0, 8);
    assert_int_equal(f->fake.write_count, writes); /* nothing new to say */
}

static void test_admission_checks_read_failure_comes_again(void **state)
{
    struct fixture *f = *state;
    f->fake.read_code = SL_CODE_INTERNAL;
    assert_null(look(f, OURS, good));
    assert_int_equal(sl_work_due_ms(f->a.checks.work), T0 + SL_RETRY_MS);
    f->fake.read_code = SL_CODE_OK;
}

#define T(name) cmocka_unit_test_setup_teardown(test_admission_checks_##name, setup, teardown)
int main(void)
{
    const struct CMUnitTest tests[] = {
        T(bad_reference_is_not_active_and_says_why),
        T(follow_their_config),
        T(write_over_what_they_have_read),
        T(of_others_are_left_alone),
        T(of_multikueue_are_not_active),
        T(read_failure_comes_again),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
