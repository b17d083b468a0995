/* SPDX-License-Identifier: Apache-2.0
 * SPDX-FileCopyrightText: The Sluice authors */

/* Which jobs belong to which. */
#include "t.h"
#include "controllers/work/job_children.h"

static unsigned count(const struct sl_job_children *c, const char *owner)
{
    size_t cursor = 0;
    unsigned n = 0;
    const char *uid;
    const char *child;
    while (sl_job_children_next(c, owner, &cursor, &uid, &child)) {
        n++;
    }
    return n;
}

static void test_job_children_are_listed_with_their_owner(void **state)
{
    struct sl_job_children *c = sl_job_children_new();
    size_t cursor = 0;
    const char *uid;
    const char *child;
    (void)state;
    sl_job_children_put(c, "o", "1", "0/ns/a", true);
    sl_job_children_put(c, "o", "2", "1/ns/b", true);
    sl_job_children_put(c, "other", "3", "0/ns/c", true);
    assert_true(sl_job_children_next(c, "o", &cursor, &uid, &child));
    assert_string_equal(uid, "1");
    assert_string_equal(child, "0/ns/a");
    assert_true(sl_job_children_next(c, "o", &cursor, &uid, &child));
    assert_string_equal(child, "1/ns/b");
    assert_false(sl_job_children_next(c, "o", &cursor, &uid, &child));
    assert_int_equal(count(c, "nobody"), 0);
    assert_int_equal(sl_job_children_count(c, "o"), 2);
    assert_int_equal(sl_job_children_count(c, "nobody"), 0);
    sl_job_children_free(c);
}

static void test_job_children_told_twice_are_there_once(void **state)
{
    struct sl_job_children *c = sl_job_children_new();
    (void)state;
    sl_job_children_put(c, "o", "1", "0/ns/a", true);
    sl_job_children_put(c, "o", "1", "0/ns/a", true);
    assert_int_equal(count(c, "o"), 1);
    sl_job_children_free(c);
}

static void test_job_children_that_are_gone_are_forgotten(void **state)
{
    struct sl_job_children *c = sl_job_children_new();
    (void)state;
    sl_job_children_put(c, "o", "1", "0/ns/a", true);
    sl_job_children_put(c, "o", "2", "0/ns/b", true);
    sl_job_children_put(c, "o", "1", "0/ns/a", false);
    assert_int_equal(count(c, "o"), 1);
    sl_job_children_put(c, "o", "never", "0/ns/x", false);
    sl_job_children_put(c, "o", "2", "0/ns/b", false);
    sl_job_children_put(c, "o", "2", "0/ns/b", false);
    assert_int_equal(count(c, "o"), 0);
    sl_job_children_free(c);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_job_children_are_listed_with_their_owner),
        cmocka_unit_test(test_job_children_told_twice_are_there_once),
        cmocka_unit_test(test_job_children_that_are_gone_are_forgotten),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
