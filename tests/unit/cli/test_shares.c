/* SPDX-License-Identifier: Apache-2.0
 * SPDX-FileCopyrightText: The Sluice authors */

/* The tree of cohorts. */
#include "t.h"
#include "cli/screen/shares.h"

#define QUEUE(name, cohort, quota, used)                                                           \
    "{\"metadata\":{\"name\":\"" name "\"},\"spec\":{\"cohortName\":\"" cohort                     \
    "\",\"resourceGroups\":[{\"flavors\":[{\"name\":\"f\",\"resources\":[{\"name\":\"cpu\"," quota \
    "}]}]}]},\"status\":{\"flavorsReservation\":[{\"name\":\"f\",\"resources\":[{\"name\":"        \
    "\"cpu\","                                                                                     \
    "\"total\":\"" used "\"}]}]}}"

static void assert_table(const char *cohorts, const char *queues, const char *wanted)
{
    struct sl_shares shares;
    struct sl_buf text = {0};
    struct sl_json *c = parse(cohorts), *q = parse(queues);
    sl_shares_fill(&shares, c, q);
    sl_shares_print(&shares, &text);
    assert_string_equal(text.data, wanted);
    sl_shares_fini(&shares);
    sl_buf_fini(&text);
    sl_json_free(c);
    sl_json_free(q);
}

/* Who borrows is known; who lends it is only where no other could have. */
static void test_shares_of_a_tree(void **state)
{
    (void)state;
    assert_table(
        "[{\"metadata\":{\"name\":\"all\"}},{\"metadata\":{\"name\":\"lab\"},\"spec\":"
        "{\"parentName\":\"all\",\"fairSharing\":{\"weight\":\"2\"}},\"status\":{\"fairSharing\":"
        "{\"weightedShare\":150}}}]",
        "[" QUEUE("a", "lab", "\"nominalQuota\":4", "6") "," QUEUE("b", "lab",
                                                                   "\"nominalQuota\":\"4\","
                                                                   "\"lendingLimit\":3",
                                                                   "500m") "," QUEUE("c", "all",
                                                                                     "\"nominal"
                                                                                     "Quota\":3",
                                                                                     "1") "]",
        "QUEUE          WEIGHT   SHARE   FLAVOR   RESOURCE   ENTITLED   USED    BORROWED   LENT\n"
        "cohort all     -        -       f        cpu        11         7500m   0          0\n"
        "  c            -        -       f        cpu        3          1       0          <=2\n"
        "  cohort lab   2        150     f        cpu        8          6500m   0          2\n"
        "    a          -        -       f        cpu        4          6       2          0\n"
        "    b          -        -       f        cpu        4          500m    0          <=2\n");
}

static void test_shares_name_the_only_lender(void **state)
{
    (void)state;
    assert_table(
        "[]",
        "[" QUEUE("a", "x", "\"nominalQuota\":4",
                  "6") "," QUEUE("b", "x", "\"nominalQuota\":4",
                                 "2") "," QUEUE("alone", "", "\"nominalQuota\":9", "12") "]",
        "QUEUE      WEIGHT   SHARE   FLAVOR   RESOURCE   ENTITLED   USED   BORROWED   LENT\n"
        "alone      -        -       f        cpu        9          12     3          0\n"
        "cohort x   -        -       f        cpu        8          8      0          2\n"
        "  a        -        -       f        cpu        4          6      2          0\n"
        "  b        -        -       f        cpu        4          2      0          2\n");
}

/* A cohort's own quota may be what was lent. */
static void test_shares_of_a_cohort_with_a_quota_of_its_own(void **state)
{
    (void)state;
    assert_table(
        "[{\"metadata\":{\"name\":\"x\"},\"spec\":{\"resourceGroups\":[{\"flavors\":[{\"name\":"
        "\"f\",\"resources\":[{\"name\":\"cpu\",\"nominalQuota\":2}]}]}]}}]",
        "[" QUEUE("a", "x", "\"nominalQuota\":4", "6") "," QUEUE("b", "x", "\"nominalQuota\":4",
                                                                 "2") "]",
        "QUEUE      WEIGHT   SHARE   FLAVOR   RESOURCE   ENTITLED   USED   BORROWED   LENT\n"
        "cohort x   -        -       f        cpu        10         8      0          2\n"
        "  a        -        -       f        cpu        4          6      2          0\n"
        "  b        -        -       f        cpu        4          2      0          <=2\n");
}

static void test_shares_without_an_end_or_a_quota(void **state)
{
    (void)state;
    assert_table("[{\"metadata\":{\"name\":\"a\"},\"spec\":{\"parentName\":\"b\"}},"
                 "{\"metadata\":{\"name\":\"b\"},\"spec\":{\"parentName\":\"a\"}}]",
                 "[{\"metadata\":{\"name\":\"q\"},\"spec\":{\"cohortName\":\"b\"}},"
                 "{\"metadata\":{\"name\":\"r\"}}]",
                 "QUEUE                   WEIGHT   SHARE   FLAVOR   RESOURCE   ENTITLED   USED   "
                 "BORROWED   LENT\n"
                 "q (in a cycle)          -        -       -        -          -          -      "
                 "-          -\n"
                 "r                       -        -       -        -          -          -      "
                 "-          -\n"
                 "cohort a (in a cycle)   -        -       -        -          -          -      "
                 "-          -\n"
                 "cohort b (in a cycle)   -        -       -        -          -          -      "
                 "-          -\n");
    assert_table(
        "[]", "[]",
        "QUEUE   WEIGHT   SHARE   FLAVOR   RESOURCE   ENTITLED   USED   BORROWED   LENT\n");
}

static void test_shares_as_data(void **state)
{
    (void)state;
    struct sl_shares shares;
    struct sl_json *queues = parse("[" QUEUE("a", "x", "\"nominalQuota\":\"1Gi\"", "1Gi") "]");
    sl_shares_fill(&shares, NULL, queues);
    struct sl_json *data = sl_shares_json_new(&shares);
    struct sl_json *wanted = parse(
        "[{\"kind\":\"Cohort\",\"name\":\"x\",\"shares\":[{\"flavor\":\"f\",\"resource\":\"cpu\","
        "\"entitled\":\"1Gi\",\"used\":\"1Gi\",\"borrowed\":\"0\",\"lent\":\"0\"}]},"
        "{\"kind\":\"ClusterQueue\",\"name\":\"a\",\"parent\":\"x\",\"shares\":[{\"flavor\":\"f\","
        "\"resource\":\"cpu\",\"entitled\":\"1Gi\",\"used\":\"1Gi\",\"borrowed\":\"0\",\"lent\":"
        "\"0\"}]}]");
    assert_true(sl_json_equal(data, wanted));
    sl_json_free(wanted);
    sl_json_free(data);
    sl_json_free(queues);
    sl_shares_fini(&shares);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_shares_of_a_tree),
        cmocka_unit_test(test_shares_name_the_only_lender),
        cmocka_unit_test(test_shares_of_a_cohort_with_a_quota_of_its_own),
        cmocka_unit_test(test_shares_without_an_end_or_a_quota),
        cmocka_unit_test(test_shares_as_data),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
