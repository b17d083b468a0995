/* SPDX-License-Identifier: Apache-2.0
 * SPDX-FileCopyrightText: The Sluice authors */

/* Carrying decisions out: the engine is a stub with a list of decisions, the client a fake. */
#include "t.h"
#include "base/clock.h"
#include "base/log.h"
#include "controllers/workloads.h"
#include "fake_client.h"

#define T0 1700000000000

static struct {
    struct sl_decision list[8];
    unsigned count, at, answers;
    enum sl_code last_code;
    bool nothing_to_write;
} stub;

bool sl_engine_next_decision(struct sl_engine *g, struct sl_decision *out)
{
    (void)g;
    if (stub.at == stub.count) {
        return false;
    }
    *out = stub.list[stub.at++];
    return true;
}

struct sl_json *sl_patch_from_decision(struct sl_engine *g, const struct sl_decision *d,
                                       const struct sl_json *workload, bool *status)
{
    (void)g;
    (void)d;
    (void)workload;
    *status = true;
    return stub.nothing_to_write
               ? NULL
               : parse("{\"status\":{\"admission\":{\"clusterQueue\":\"cq\"},\"conditions\":["
                       "{\"type\":\"Admitted\",\"status\":\"True\"}]}}");
}

void sl_engine_answer(struct sl_engine *g, const struct sl_decision *d, enum sl_code code,
                      int64_t now_ms)
{
    (void)g;
    (void)now_ms;
    assert_string_equal(d->name, "w");
    stub.answers++;
    stub.last_code = code;
}

struct fixture {
    struct fake fake;
    struct sl_recorder *recorder;
    struct sl_workloads workloads;
};

static int setup(void **state)
{
    struct fixture *f = sl_mem_new(1, sizeof *f);
    sl_clock_set_virtual(T0);
    sl_log_setup(SL_LOG_ERROR, false);
    memset(&stub, 0, sizeof stub);
    fake_init(&f->fake);
    fake_put(
        &f->fake, SL_KIND_WORKLOAD,
        parse("{\"metadata\":{\"name\":\"w\",\"namespace\":\"n\",\"uid\":\"u\"},\"spec\":{}}"));
    f->recorder = sl_recorder_new(&f->fake.client);
    sl_workloads_init(&f->workloads, &f->fake.client, f->recorder, NULL);
    *state = f;
    return 0;
}

static int teardown(void **state)
{
    struct fixture *f = *state;
    fake_fini(&f->fake);
    sl_recorder_free(f->recorder);
    sl_mem_free(f);
    return 0;
}

static void decide(enum sl_decision_kind kind, const char *uid)
{
    stub.list[stub.count++] = (struct sl_decision){.kind = kind,
                                                   .ns = "n",
                                                   .name = "w",
                                                   .uid = uid,
                                                   .reason = "Preempted",
                                                   .message = "because"};
}

static void step(struct fixture *f)
{
    sl_workloads_step(&f->workloads, 16);
    fake_flush(&f->fake);
}

static bool has_event(struct fixture *f, const char *reason)
{
    size_t cursor = 0;
    const char *key;
    union sl_map_value value;
    while (sl_map_next(f->fake.objects, &cursor, &key, &value)) {
        if (strcmp(sl_json_path_text(value.pointer, "reason", ""), reason) == 0) {
            return true;
        }
    }
    return false;
}

static void test_workloads_reservation_is_written_answered_and_told(void **state)
{
    struct fixture *f = *state;
    decide(SL_DECIDE_RESERVE, "u");
    step(f);
    assert_int_equal(stub.answers, 1);
    assert_int_equal(stub.last_code, SL_CODE_OK);
    assert_true(has_event(f, "QuotaReserved"));
    assert_true(has_event(f, "Admitted"));
    assert_int_equal(f->workloads.in_flight, 0);
}

static void test_workloads_eviction_event_names_the_reason(void **state)
{
    struct fixture *f = *state;
    decide(SL_DECIDE_EVICT, "u");
    step(f);
    assert_true(has_event(f, "EvictedDueToPreempted"));
}

static void test_workloads_conflict_is_looked_at_again(void **state)
{
    struct fixture *f = *state;
    decide(SL_DECIDE_RESERVE, "u");
    f->fake.next_code = SL_CODE_CONFLICT;
    step(f);
    assert_int_equal(stub.answers, 1);
    assert_int_equal(stub.last_code, SL_CODE_OK);
    assert_int_equal(f->workloads.counters.conflicts, 1);
}

static void test_workloads_failed_write_is_answered_with_its_code(void **state)
{
    struct fixture *f = *state;
    decide(SL_DECIDE_RESERVE, "u");
    f->fake.next_code = SL_CODE_INTERNAL;
    step(f);
    assert_int_equal(stub.last_code, SL_CODE_INTERNAL);
    assert_false(has_event(f, "QuotaReserved"));
}

static void test_workloads_other_uid_of_that_name_is_not_found(void **state)
{
    struct fixture *f = *state;
    decide(SL_DECIDE_RESERVE, "older");
    step(f);
    assert_int_equal(stub.last_code, SL_CODE_NOT_FOUND);
    assert_int_equal(f->fake.write_count, 0);
}

static void test_workloads_nothing_to_write_is_answered_ok(void **state)
{
    struct fixture *f = *state;
    stub.nothing_to_write = true;
    decide(SL_DECIDE_ADMIT, "u");
    step(f);
    assert_int_equal(stub.last_code, SL_CODE_OK);
    assert_int_equal(f->fake.write_count, 0);
}

static void test_workloads_step_is_bounded(void **state)
{
    struct fixture *f = *state;
    for (int i = 0; i < 5; i++) {
        decide(SL_DECIDE_PENDING, "u");
    }
    assert_true(sl_workloads_step(&f->workloads, 2));
    assert_int_equal(stub.at, 2);
    fake_flush(&f->fake);
    assert_false(sl_workloads_step(&f->workloads, 16));
    fake_flush(&f->fake);
    assert_int_equal(stub.answers, 5);
}

#define TEST(name) cmocka_unit_test_setup_teardown(name, setup, teardown)
int main(void)
{
    const struct CMUnitTest tests[] = {
        TEST(test_workloads_reservation_is_written_answered_and_told),
        TEST(test_workloads_eviction_event_names_the_reason),
        TEST(test_workloads_conflict_is_looked_at_again),
        TEST(test_workloads_failed_write_is_answered_with_its_code),
        TEST(test_workloads_other_uid_of_that_name_is_not_found),
        TEST(test_workloads_nothing_to_write_is_answered_ok),
        TEST(test_workloads_step_is_bounded),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
