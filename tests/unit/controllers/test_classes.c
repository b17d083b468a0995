/* SPDX-License-Identifier: Apache-2.0
 * SPDX-FileCopyrightText: The Sluice authors */

/* A WorkloadPriorityClass with another value, and who follows it. */
#include "t.h"
#include "controllers/work/classes.h"
#include "fake_client.h"

struct fixture {
    struct fake fake;
    struct sl_classes classes;
};

static int setup(void **state)
{
    struct fixture *f = sl_mem_new(1, sizeof *f);
    fake_init(&f->fake);
    sl_classes_init(&f->classes, &f->fake.client);
    *state = f;
    return 0;
}

static int teardown(void **state)
{
    struct fixture *f = *state;
    fake_flush(&f->fake);
    sl_classes_fini(&f->classes);
    fake_fini(&f->fake);
    sl_mem_free(f);
    return 0;
}

static void see(struct fixture *f, int value, bool deleted)
{
    char text[160];
    (void)snprintf(text, sizeof text, "{\"metadata\":{\"name\":\"high\"},\"value\":%d}", value);
    struct sl_json *class = parse(text);
    sl_classes_observe(&f->classes, SL_KIND_WORKLOAD_PRIORITY_CLASS, class, deleted);
    fake_flush(&f->fake);
    sl_json_free(class);
}

static void put(struct fixture *f, const char *name, const char *kind, const char *status)
{
    char text[600];
    (void)snprintf(text, sizeof text,
                   "{\"metadata\":{\"name\":\"%s\",\"namespace\":\"n\",\"uid\":\"u-%s\"},\"spec\":{"
                   "\"priority\":200,\"priorityClassRef\":{\"kind\":\"%s\",\"name\":\"high\"}},"
                   "\"status\":%s}",
                   name, name, kind, status);
    fake_put(&f->fake, SL_KIND_WORKLOAD, parse(text));
}

static int64_t priority_of(struct fixture *f, const char *name)
{
    return sl_json_path_int(fake_find(&f->fake, SL_KIND_WORKLOAD, "n", name), "spec.priority", 0);
}

static void test_classes_new_value_goes_to_the_workloads_that_name_the_class(void **state)
{
    struct fixture *f = *state;
    put(f, "a", "WorkloadPriorityClass", "{}");
    put(f, "pods", "PriorityClass", "{}");
    put(f, "over", "WorkloadPriorityClass",
        "{\"conditions\":[{\"type\":\"Finished\",\"status\":\"True\"}]}");
    see(f, 100, false); /* first seen: perhaps somebody has chosen 200 */
    assert_int_equal(priority_of(f, "a"), 200);
    see(f, 150, false);
    assert_int_equal(priority_of(f, "a"), 150);
    assert_int_equal(priority_of(f, "pods"), 200);
    assert_int_equal(priority_of(f, "over"), 200);
}

static void test_classes_same_value_writes_nothing(void **state)
{
    struct fixture *f = *state;
    put(f, "a", "WorkloadPriorityClass", "{}");
    see(f, 100, false);
    see(f, 100, false);
    assert_int_equal(f->fake.write_count, 0);
    see(f, 200, false); /* which it has already */
    assert_int_equal(f->fake.write_count, 0);
}

static void test_classes_class_that_comes_back_with_another_value_is_followed(void **state)
{
    struct fixture *f = *state;
    put(f, "a", "WorkloadPriorityClass", "{}");
    see(f, 200, false);
    see(f, 200, true);
    assert_int_equal(priority_of(f, "a"), 200); /* while there is none */
    see(f, 300, false);
    assert_int_equal(priority_of(f, "a"), 300);
}

#define TEST(name) cmocka_unit_test_setup_teardown(name, setup, teardown)

int main(void)
{
    const struct CMUnitTest tests[] = {
        TEST(test_classes_new_value_goes_to_the_workloads_that_name_the_class),
        TEST(test_classes_same_value_writes_nothing),
        TEST(test_classes_class_that_comes_back_with_another_value_is_followed),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
