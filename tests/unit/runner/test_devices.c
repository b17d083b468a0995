/* SPDX-License-Identifier: Apache-2.0
 * SPDX-FileCopyrightText: The Sluice authors */

/* Devices: read from a list, given out by number, never twice. */
#include "t.h"
#include "runner/devices.h"

static struct sl_json *spec_of(const char *resource, const char *count)
{
    char text[256];
    snprintf(text, sizeof text,
             "{\"containers\":[{\"resources\":{\"limits\":{\"cpu\":\"1\",\"%s\":\"%s\"}}}]}",
             resource, count);
    return json_of(text);
}

static void assert_numbers(const struct sl_json *got, const char *resource, const char *wanted)
{
    struct sl_json *list = json_of(wanted);
    assert_true(sl_json_equal(sl_json_get(got, resource), list));
    sl_json_free(list);
}

static void test_devices_are_given_to_one_at_a_time(void **state)
{
    (void)state;
    struct sl_devices d;
    struct sl_error e = {0};
    assert_int_equal(sl_devices_init(&d, "nvidia.com/gpu=3,example.com/x=1", &e), SL_CODE_OK);
    struct sl_json *two = spec_of("nvidia.com/gpu", "2"), *none = json_of("{\"containers\":[{}]}");
    assert_numbers(sl_devices_take(&d, "a", two, &e), "nvidia.com/gpu", "[0,1]");
    assert_numbers(sl_devices_take(&d, "a", two, &e), "nvidia.com/gpu", "[0,1]");
    assert_numbers(sl_devices_take(&d, "n", none, &e), "nvidia.com/gpu", "[]");
    assert_null(sl_devices_take(&d, "b", two, &e));
    assert_string_equal(e.text, "it asks for 2 nvidia.com/gpu, and 1 are free");
    sl_devices_give_back(&d, "a");
    sl_devices_give_back(&d, "a");
    struct sl_json *kept = json_of("{\"nvidia.com/gpu\":[0]}");
    sl_devices_keep(&d, "old", kept);
    assert_numbers(sl_devices_take(&d, "b", two, &e), "nvidia.com/gpu", "[1,2]");
    sl_json_free(kept);
    sl_json_free(two);
    sl_json_free(none);
    sl_devices_fini(&d);
}

static void test_device_that_is_not_listed_is_not_there(void **state)
{
    (void)state;
    struct sl_devices d;
    struct sl_error e = {0};
    assert_int_equal(sl_devices_init(&d, NULL, &e), SL_CODE_OK);
    struct sl_json *one = spec_of("nvidia.com/gpu", "1");
    assert_null(sl_devices_take(&d, "a", one, &e));
    assert_string_equal(e.text, "this machine has no nvidia.com/gpu: see --devices");
    sl_json_free(one);
    sl_devices_fini(&d);
}

static void test_malformed_lists_are_refused(void **state)
{
    (void)state;
    static const char *const bad[] = {
        "",         "gpu=1",  "a/b",      "a/b=",   "a/b=0",   "a/b=65",
        "a/b=1000", "a/b=-1", "a/b=1,,c", "A/B=1x", "a b/c=1", "a/b=1,"};
    for (size_t i = 0; i < sizeof bad / sizeof bad[0]; i++) {
        struct sl_devices d;
        struct sl_error e = {0};
        assert_int_equal(sl_devices_init(&d, bad[i], &e), SL_CODE_BAD_REQUEST);
        assert_int_equal(strncmp(e.text, "--devices: ", 11), 0);
        sl_devices_fini(&d);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_devices_are_given_to_one_at_a_time),
        cmocka_unit_test(test_device_that_is_not_listed_is_not_there),
        cmocka_unit_test(test_malformed_lists_are_refused)};
    return RUN(tests);
}
