/* SPDX-License-Identifier: Apache-2.0
 * SPDX-FileCopyrightText: The Sluice authors */

/* Conditions of a Workload as its record wants them. */
#include "engine/conditions/conditions.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

#include <cmocka.h>

#include "base/clock.h"
#include "engine/conditions/words.h"

#define OLD "2026-01-15T12:00:00Z"
#define NEW "2026-01-15T12:05:00Z"

static const struct sl_words no_words;

static struct sl_workload admitted_at(const char *reserved, const char *admitted)
{
    return (struct sl_workload){.phase = SL_PHASE_ADMITTED,
                                .has_admission = true,
                                .was_admitted = true,
                                .reserved_at_ms = sl_clock_parse(reserved),
                                .admitted_at_ms = sl_clock_parse(admitted)};
}

static void write(struct sl_json *status, const struct sl_workload *record, const char *now)
{
    struct sl_condition_view view = {.record = record,
                                     .cluster_queue = "team",
                                     .words = &no_words,
                                     .generation = 1,
                                     .granular = true,
                                     .now_ms = sl_clock_parse(now)};
    sl_condition_write(status, &view);
}

static const char *time_of(const struct sl_json *status, const char *type)
{
    const struct sl_json *list = sl_json_get(status, "conditions");
    for (size_t i = 0; i < sl_json_len(list); i++) {
        const struct sl_json *c = sl_json_at(list, i);
        if (strcmp(sl_json_path_text(c, "type", ""), type) == 0) {
            return sl_json_path_text(c, "lastTransitionTime", "");
        }
    }
    return "none";
}

static void test_conditions_still_true_keep_their_time(void **state)
{
    (void)state;
    struct sl_json *status = sl_json_new_map();
    struct sl_workload record = admitted_at(OLD, OLD);
    write(status, &record, OLD);
    write(status, &record, NEW);
    assert_string_equal(time_of(status, "QuotaReserved"), OLD);
    assert_string_equal(time_of(status, "Admitted"), OLD);
    sl_json_free(status);
}

static void test_conditions_true_again_after_an_unwritten_eviction_tell_the_new_time(void **state)
{
    (void)state;
    struct sl_json *status = sl_json_new_map();
    struct sl_workload record = admitted_at(OLD, OLD);
    write(status, &record, OLD);
    record = admitted_at(NEW, NEW);
    write(status, &record, NEW);
    assert_string_equal(time_of(status, "QuotaReserved"), NEW);
    assert_string_equal(time_of(status, "Admitted"), NEW);
    sl_json_free(status);
}

static struct sl_workload evicted_at(enum sl_evict_reason reason, const char *time)
{
    return (struct sl_workload){.phase = SL_PHASE_PENDING,
                                .evicted = reason,
                                .pods_ready = SL_PODS_UNKNOWN,
                                .evicted_at_ms = sl_clock_parse(time)};
}

/* Else a restart, which reads the order in line from that time, would put it before others. */
static void
test_conditions_evicted_again_after_an_unwritten_admission_tell_the_new_time(void **state)
{
    (void)state;
    struct sl_json *status = sl_json_new_map();
    struct sl_workload record = evicted_at(SL_EVICT_PODS_READY_TIMEOUT, OLD);
    write(status, &record, OLD);
    write(status, &record, NEW);
    assert_string_equal(time_of(status, "Evicted"), OLD);
    record = evicted_at(SL_EVICT_PODS_READY_TIMEOUT, NEW);
    write(status, &record, NEW);
    assert_string_equal(time_of(status, "Evicted"), NEW);
    sl_json_free(status);
}

/* It was not admitted in between: as in Kueue, the condition has been true since the eviction. */
static void test_conditions_deactivated_after_an_eviction_keep_their_time(void **state)
{
    (void)state;
    struct sl_json *status = sl_json_new_map();
    struct sl_workload record = evicted_at(SL_EVICT_PREEMPTED, OLD);
    write(status, &record, OLD);
    record = evicted_at(SL_EVICT_DEACTIVATED, NEW);
    write(status, &record, NEW);
    assert_string_equal(time_of(status, "Evicted"), OLD);
    sl_json_free(status);
}

/* The record knows no such reason, and says that it was preempted. */
static void test_conditions_evicted_by_others_keep_their_reason(void **state)
{
    (void)state;
    struct sl_json *status = sl_json_new_map();
    struct sl_workload record = evicted_at(SL_EVICT_PREEMPTED, OLD);
    (void)sl_condition_set(status, "Evicted", true, "Maintenance", "the rack is moved", 1,
                           sl_clock_parse(OLD));
    assert_true(sl_condition_evicted_by_others(status));
    write(status, &record, NEW);
    const struct sl_json *c = sl_json_find_by(sl_json_get(status, "conditions"), "type", "Evicted");
    assert_string_equal(sl_json_path_text(c, "reason", ""), "Maintenance");
    assert_string_equal(sl_json_path_text(c, "message", ""), "the rack is moved");
    assert_string_equal(time_of(status, "Evicted"), OLD);
    record = evicted_at(SL_EVICT_PREEMPTED, NEW);
    write(status, &record, NEW);
    c = sl_json_find_by(sl_json_get(status, "conditions"), "type", "Evicted");
    assert_string_equal(sl_json_path_text(c, "reason", ""), "Preempted");
    assert_false(sl_condition_evicted_by_others(status));
    sl_json_free(status);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_conditions_still_true_keep_their_time),
        cmocka_unit_test(test_conditions_true_again_after_an_unwritten_eviction_tell_the_new_time),
        cmocka_unit_test(
            test_conditions_evicted_again_after_an_unwritten_admission_tell_the_new_time),
        cmocka_unit_test(test_conditions_deactivated_after_an_eviction_keep_their_time),
        cmocka_unit_test(test_conditions_evicted_by_others_keep_their_reason),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
