/* SPDX-License-Identifier: Apache-2.0
 * SPDX-FileCopyrightText: The Sluice authors */

/* The event recorder over a fake client. */
#include "t.h"
#include "base/clock.h"
#include "base/utf8.h"
#include "controllers/work/recorder.h"
#include "fake_client.h"

#define T0 1700000000000

struct fixture {
    struct fake fake;
    struct sl_recorder *recorder;
    struct sl_json *about;
};

static int setup(void **state)
{
    struct fixture *f = sl_mem_new(1, sizeof *f);
    sl_clock_set_virtual(T0);
    fake_init(&f->fake);
    f->recorder = sl_recorder_new(&f->fake.client);
    f->about = parse("{\"metadata\":{\"name\":\"wl\",\"namespace\":\"n\",\"uid\":\"u\"}}");
    *state = f;
    return 0;
}

static int teardown(void **state)
{
    struct fixture *f = *state;
    fake_fini(&f->fake);
    sl_recorder_free(f->recorder);
    sl_json_free(f->about);
    sl_mem_free(f);
    return 0;
}

static void record(struct fixture *f, const char *message)
{
    sl_recorder_record(f->recorder, SL_KIND_WORKLOAD, f->about, true, "Pending", message, T0);
    fake_flush(&f->fake);
}

static void test_recorder_event_names_its_object_reason_and_message(void **state)
{
    struct fixture *f = *state;
    char name[254];
    record(f, "no quota");
    sl_recorder_name(f->about, "Pending", "no quota", name);
    struct sl_json *event = fake_find(&f->fake, SL_KIND_EVENT, "n", name);

    assert_non_null(event);
    assert_memory_equal(name, "wl.", 3);
    assert_int_equal(strlen(name), 3 + 16);
    assert_string_equal(sl_json_path_text(event, "reason", ""), "Pending");
    assert_string_equal(sl_json_path_text(event, "type", ""), "Warning");
    assert_string_equal(sl_json_path_text(event, "message", ""), "no quota");
    assert_string_equal(sl_json_path_text(event, "involvedObject.kind", ""), "Workload");
    assert_string_equal(sl_json_path_text(event, "involvedObject.uid", ""), "u");
}

static void test_recorder_same_event_again_counts_up(void **state)
{
    struct fixture *f = *state;
    char name[254];
    record(f, "no quota");
    record(f, "no quota");
    record(f, "no quota");
    sl_recorder_name(f->about, "Pending", "no quota", name);

    assert_int_equal(fake_count(&f->fake, SL_KIND_EVENT), 1);
    struct sl_json *event = fake_find(&f->fake, SL_KIND_EVENT, "n", name);
    assert_true(sl_json_path_int(event, "count", 0) == 3);
}

static void test_recorder_what_happens_many_times_at_once_is_one_event(void **state)
{
    struct fixture *f = *state;
    char name[254];
    for (int i = 0; i < 8; i++) {
        char message[32];
        (void)snprintf(message, sizeof message, "victim %d", i);
        sl_recorder_record_once(f->recorder, SL_KIND_WORKLOAD, f->about, "PreemptedWorkload",
                                message, T0);
        fake_flush(&f->fake);
    }
    sl_recorder_name(f->about, "PreemptedWorkload", "", name);
    assert_int_equal(fake_count(&f->fake, SL_KIND_EVENT), 1);
    struct sl_json *event = fake_find(&f->fake, SL_KIND_EVENT, "n", name);
    assert_int_equal(sl_json_path_int(event, "count", 0), 8);
    assert_string_equal(sl_json_path_text(event, "message", ""), "victim 0");
    assert_string_equal(sl_json_path_text(event, "type", ""), "Normal");
}

static void test_recorder_over_budget_drops_and_counts(void **state)
{
    struct fixture *f = *state;
    char message[32];
    for (unsigned i = 0; i < SL_EVENTS_BURST + 5; i++) {
        snprintf(message, sizeof message, "m%u", i);
        record(f, message);
    }
    assert_int_equal(fake_count(&f->fake, SL_KIND_EVENT), SL_EVENTS_BURST);
    assert_int_equal(sl_recorder_dropped(f->recorder), 5);

    sl_recorder_record(f->recorder, SL_KIND_WORKLOAD, f->about, true, "Pending", "later",
                       T0 + 1000);
    assert_int_equal(sl_recorder_dropped(f->recorder), 5);
}

static void test_recorder_refused_event_is_counted_as_dropped(void **state)
{
    struct fixture *f = *state;
    f->fake.next_code = SL_CODE_INTERNAL;
    record(f, "lost");
    assert_int_equal(sl_recorder_dropped(f->recorder), 1);
}

static void test_recorder_past_its_limit_the_oldest_go(void **state)
{
    struct fixture *f = *state;
    char name[32];
    for (unsigned i = 0; i < SL_EVENTS_KEPT_MAX + 3; i++) {
        struct sl_json *event = sl_json_new_map();
        snprintf(name, sizeof name, "e%u", i);
        sl_json_set_text(sl_json_path_make(event, "metadata"), "name", name);
        sl_json_set_text(sl_json_path_make(event, "metadata"), "namespace", "n");
        char time[32];
        sl_clock_format(T0 + (int64_t)i * 1000, time);
        sl_json_set_text(event, "lastTimestamp", time);
        fake_put(&f->fake, SL_KIND_EVENT, event);
    }

    sl_recorder_load(f->recorder, T0);
    assert_false(sl_recorder_trim(f->recorder));

    assert_int_equal(fake_count(&f->fake, SL_KIND_EVENT), SL_EVENTS_KEPT_MAX);
    assert_null(fake_find(&f->fake, SL_KIND_EVENT, "n", "e0"));
    assert_null(fake_find(&f->fake, SL_KIND_EVENT, "n", "e2"));
    assert_non_null(fake_find(&f->fake, SL_KIND_EVENT, "n", "e3"));
}

static void test_recorder_name_of_long_object_is_cut(void **state)
{
    (void)state;
    char long_name[254];
    char name[254];
    memset(long_name, 'x', 253);
    long_name[253] = '\0';
    struct sl_json *about = sl_json_new_map();
    sl_json_set_text(sl_json_path_make(about, "metadata"), "name", long_name);
    sl_recorder_name(about, "R", "m", name);
    assert_int_equal(strlen(name), 253);
    sl_json_free(about);
}

static void test_recorder_limited_neither_counts_up_nor_keeps(void **state)
{
    struct fixture *f = *state;
    char name[254];
    sl_recorder_limit(f->recorder, 10, 3);
    record(f, "no quota");
    record(f, "no quota");
    record(f, "other");
    record(f, "too many");
    sl_recorder_name(f->about, "Pending", "no quota", name);
    struct sl_json *event = fake_find(&f->fake, SL_KIND_EVENT, "n", name);
    assert_true(sl_json_path_int(event, "count", 0) == 1);
    assert_int_equal(fake_count(&f->fake, SL_KIND_EVENT), 2);
    assert_int_equal(sl_recorder_dropped(f->recorder), 1);
    sl_recorder_record(f->recorder, SL_KIND_WORKLOAD, f->about, true, "Pending", "later", T0 + 100);
    assert_int_equal(sl_recorder_dropped(f->recorder), 1); /* ten a second: one in a tenth */
    assert_false(sl_recorder_trim(f->recorder));
}

static void test_recorder_long_message_is_cut_at_a_character(void **state)
{
    struct fixture *f = *state;
    char message[2001], name[254];
    for (size_t i = 0; i < 2000; i += 2) {
        memcpy(message + i, "\xc3\xa9", 3);
    }
    record(f, message);
    sl_recorder_name(f->about, "Pending", message, name);
    const char *kept =
        sl_json_path_text(fake_find(&f->fake, SL_KIND_EVENT, "n", name), "message", "");
    assert_in_range(strlen(kept), 1020, 1023);
    assert_true(sl_utf8_valid(kept, strlen(kept)));
    assert_string_equal(kept + strlen(kept) - 5, "\xc3\xa9...");
}

#define TEST(name) cmocka_unit_test_setup_teardown(name, setup, teardown)
int main(void)
{
    const struct CMUnitTest tests[] = {
        TEST(test_recorder_event_names_its_object_reason_and_message),
        TEST(test_recorder_same_event_again_counts_up),
        TEST(test_recorder_what_happens_many_times_at_once_is_one_event),
        TEST(test_recorder_over_budget_drops_and_counts),
        TEST(test_recorder_refused_event_is_counted_as_dropped),
        TEST(test_recorder_past_its_limit_the_oldest_go),
        TEST(test_recorder_name_of_long_object_is_cut),
        TEST(test_recorder_long_message_is_cut_at_a_character),
        TEST(test_recorder_limited_neither_counts_up_nor_keeps),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
