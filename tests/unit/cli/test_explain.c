/* SPDX-License-Identifier: Apache-2.0
 * SPDX-FileCopyrightText: The Sluice authors */

/* Explanations as text. */
#include "t.h"
#include "cli/screen/explain.h"

#define NOW_MS 1767225600000LL /* 2026-01-01T00:00:00Z */

/* The answer's text has each of these in this order, and nothing of `never`. */
static void expect(const char *answer, const char *const *parts, const char *never)
{
    struct sl_buf out = {0};
    struct sl_json *v = parse(answer);
    sl_explain_print(v, NOW_MS, &out);
    const char *at = out.data;
    for (; *parts != NULL; parts++) {
        const char *found = strstr(at, *parts);
        if (found == NULL) {
            fail_msg("no \"%s\" in its place in:\n%s", *parts, out.data);
        }
        at = found + strlen(*parts);
    }
    assert_null(strstr(out.data, never));
    sl_buf_fini(&out);
    sl_json_free(v);
}

#define ABOUT "\"about\":{\"kind\":\"Job\",\"namespace\":\"n\",\"name\":\"j\"},"

static void test_explain_of_what_waits_for_quota(void **state)
{
    (void)state;
    static const char *const parts[] = {
        "Job j in namespace n: Pending since 2025-12-31T23:59:00Z (60s)\n",
        "Reason:        WaitingForQuota\n",
        "Position:      3 of 7 in the ClusterQueue, priority 5\n",
        "Backoff until: 2026-01-01T00:01:00Z\n",
        "What is short:\n  cpu in flavor f: asks for 4, 1 is available, 3 short\n    so it is\n",
        "used in: a 5 of 4, b 2 of 4\n",
        "5  job/k -n n, ClusterQueue a, priority 1 since 2025-12-31T22:00:00Z (2h), may not be "
        "preempted: no\n",
        "2  another namespace's workload, ClusterQueue b, priority 0, may be preempted\n",
        "1  workload/w -n n, ClusterQueue b, priority 0 since 2025-12-01T00:00:00Z (31d), is being "
        "evicted\n",
        "and at least 4 more\n",
        "Flavors that will not do:\n  g: tainted\n  gpu: not offered\n",
        "Last eviction: Preempted: so\n",
        "Preemption:\n  Impossible: no\n",
        "What would let it in:\n  - this\n  - that\n",
        NULL};
    expect("{" ABOUT "\"state\":\"Pending\",\"since\":\"2025-12-31T23:59:00Z\",\"reason\":"
           "\"WaitingForQuota\",\"message\":\"m\",\"priority\":5,\"positionInClusterQueue\":2,"
           "\"pendingInClusterQueue\":7,\"backoffUntil\":\"2026-01-01T00:01:00Z\",\"limits\":[{"
           "\"resource\":\"cpu\",\"flavor\":\"f\",\"requested\":\"4\",\"available\":\"1\","
           "\"short\":\"3\",\"message\":\"so it is\",\"holdersInAll\":7,\"holdersCut\":true,"
           "\"queues\":[{\"clusterQueue\":\"a\",\"inUse\":\"5\",\"nominalQuota\":\"4\"},{"
           "\"clusterQueue\":\"b\",\"inUse\":\"2\",\"nominalQuota\":\"4\"}],\"holders\":[{"
           "\"name\":\"w\",\"namespace\":\"n\",\"job\":{\"kind\":\"Job\",\"name\":\"k\"},"
           "\"clusterQueue\":\"a\",\"amount\":\"5\",\"priority\":1,\"since\":\"2025-12-31T22:00:"
           "00Z\",\"mayBePreempted\":false,\"because\":\"no\"},{\"clusterQueue\":\"b\","
           "\"amount\":\"2\",\"mayBePreempted\":true},{\"name\":\"w\",\"namespace\":\"n\","
           "\"clusterQueue\":\"b\",\"amount\":\"1\",\"evicted\":true,\"since\":\"2025-12-01T00:00:"
           "00Z\"}]}],\"flavors\":[{\"flavor\":\"g\",\"message\":\"tainted\"},{\"resource\":"
           "\"gpu\",\"message\":\"not offered\"}],\"lastEviction\":{\"reason\":\"Preempted\","
           "\"message\":\"so\"},\"preemption\":{\"result\":\"Impossible\",\"message\":\"no\"},"
           "\"remedies\":[\"this\",\"that\"]}",
           parts, "Quotas");
}

static void test_explain_of_variants(void **state)
{
    (void)state;
    static const char *const parts[] = {
        "Message:       It waits\n",
        "Variants:\n  reserved: Pending since 2025-12-31T23:59:00Z (60s), workload/w-1\n"
        "    2 cpu short\n    - raise it\n  spot: Pending, workload/w-2\n    switched off\n",
        NULL};
    expect("{" ABOUT "\"state\":\"Pending\",\"message\":\"It waits\",\"variants\":[{\"name\":"
           "\"w-1\",\"flavor\":\"reserved\",\"state\":\"Pending\",\"since\":\"2025-12-31T23:59:"
           "00Z\",\"summary\":\"2 cpu short\",\"remedies\":[\"raise it\"]},{\"name\":\"w-2\","
           "\"flavor\":\"spot\",\"state\":\"Pending\",\"summary\":\"switched off\"}]}",
           parts, "What would let it in");
}

static void test_explain_of_nodes_checks_and_quota_that_is_held(void **state)
{
    (void)state;
    static const char *const nodes[] = {"Nodes:\n  room for 1 of 3\n", "held by:\n",
                                        "3  workload/w -n n", NULL};
    expect("{" ABOUT "\"state\":\"Pending\",\"nodes\":{\"message\":\"room for 1 of 3\","
           "\"holders\":[{\"name\":\"w\",\"namespace\":\"n\",\"amount\":\"3\"}]}}",
           nodes, "more\n");
    static const char *const checks[] = {"Admission checks:\n  c: Pending, set by e: soon\n"
                                         "  d: Ready, set by f\n",
                                         "It holds:\n  2 cpu in flavor f\n", NULL};
    expect("{" ABOUT "\"state\":\"QuotaReserved\",\"reason\":\"QuotaReserved\",\"checks\":[{"
           "\"name\":\"c\",\"state\":\"Pending\",\"controller\":\"e\",\"message\":\"soon\"},{"
           "\"name\":\"d\",\"state\":\"Ready\",\"controller\":\"f\"}],\"holds\":[{\"amount\":\"2\","
           "\"resource\":\"cpu\",\"flavor\":\"f\"}]}",
           checks, "Reason:");
    static const char *const ready[] = {"Ready until:   2026-01-01T00:05:00Z\n", NULL};
    expect("{" ABOUT "\"state\":\"Admitted\",\"podsReadyDeadline\":\"2026-01-01T00:05:00Z\"}",
           ready, "since");
}

static void test_explain_of_a_queue(void **state)
{
    (void)state;
    static const char *const parts[] = {
        "ClusterQueue q: Inactive\n", "Workloads:     2 pending, 1 with quota, 0 admitted\n",
        "Quotas:\n  cpu in flavor f: 3 of 8 cohort in use (all), 5 available\n",
        "First in line: another namespace's workload: WaitingForQuota: m\n", NULL};
    expect("{\"about\":{\"kind\":\"ClusterQueue\",\"name\":\"q\"},\"state\":\"Inactive\","
           "\"since\":\"soon\",\"pendingWorkloads\":2,\"reservingWorkloads\":1,\"first\":{"
           "\"reason\":\"WaitingForQuota\",\"message\":\"m\"},\"limits\":[{\"resource\":\"cpu\","
           "\"flavor\":\"f\",\"inUse\":\"3\",\"quota\":\"8\",\"limit\":\"cohort\",\"of\":{\"name\":"
           "\"all\"},\"available\":\"5\"}]}",
           parts, "since");
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_explain_of_what_waits_for_quota),
        cmocka_unit_test(test_explain_of_variants),
        cmocka_unit_test(test_explain_of_nodes_checks_and_quota_that_is_held),
        cmocka_unit_test(test_explain_of_a_queue),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
