/* SPDX-License-Identifier: Apache-2.0
 * SPDX-FileCopyrightText: The Sluice authors */

/* What is foreseen, in words. */
#include "t.h"
#include "cli/screen/foreseen.h"

static void expect_start(const char *row, const char *text)
{
    struct sl_buf out = {0};
    struct sl_json *value = parse(row);
    sl_foreseen_print_start(value, &out);
    assert_string_equal(out.data, text);
    sl_json_free(value);
    sl_buf_fini(&out);
}

static void test_foreseen_starts(void **state)
{
    (void)state;
    expect_start("{\"waitMilliseconds\":0,\"certainty\":\"Exact\"}", "now");
    expect_start("{\"waitMilliseconds\":1,\"certainty\":\"Exact\"}", "in 1s");
    expect_start("{\"waitMilliseconds\":600000,\"certainty\":\"Latest\"}", "in 10m at the latest");
    expect_start("{\"waitMilliseconds\":9000000,\"certainty\":\"Estimate\"}", "in about 2h30m");
    expect_start("{\"waitMilliseconds\":360000000,\"certainty\":\"Exact\"}", "in 4d4h");
    expect_start("{\"reason\":\"RunTimesUnknown\"}", "unknown: how long others run is not known");
    expect_start("{\"reason\":\"DoesNotFit\"}", "not unless something changes");
    expect_start("{\"reason\":\"NotQueued\"}", "not while it is in no active queue");
    expect_start("{\"reason\":\"Horizon\"}", "later than was looked ahead");
    expect_start("{\"reason\":\"CutShort\"}", "later than could be computed");
    expect_start("{}", "unknown");
}

static void expect(const char *answer, const char *text)
{
    struct sl_buf out = {0};
    struct sl_json *value = parse(answer);
    sl_foreseen_print(value, &out);
    assert_string_equal(out.data, text);
    sl_json_free(value);
    sl_buf_fini(&out);
}

#define W "\"namespace\":\"ns\",\"name\":\"w\",\"clusterQueue\":\"cq\""

static void test_foreseen_of_what_was_asked(void **state)
{
    (void)state;
    expect("{\"asked\":[{" W ",\"admitted\":\"AfterPreemption\",\"waitMilliseconds\":0,"
           "\"certainty\":\"Exact\",\"preempts\":[{\"namespace\":\"ns\",\"name\":\"v\"}],"
           "\"podSets\":[{\"name\":\"main\",\"count\":2,\"flavors\":{\"cpu\":\"f\"},"
           "\"topologyAssignment\":{\"levels\":[\"rack\"]}}]}],\"counts\":{\"asked\":1}}",
           "ns/w would be admitted to ClusterQueue cq now\n"
           "  pod set main: 2 pods, cpu in flavor f, placed as {\"levels\":[\"rack\"]}\n"
           "  it would preempt ns/v\n"
           "nothing would change for any other workload\n");
    expect("{\"asked\":[{" W ",\"admitted\":\"Unknown\",\"reason\":\"DoesNotFit\"}]}",
           "ns/w would not be admitted to ClusterQueue cq: it does not fit unless something "
           "changes\n"
           "nothing would change for any other workload\n");
    expect("{\"asked\":[{" W ",\"admitted\":\"Later\",\"waitMilliseconds\":5000,\"certainty\":"
           "\"Exact\",\"basis\":[\"runFor\",\"observed\"]},{" W ",\"admitted\":\"Already\"}]}",
           "ns/w would be admitted to ClusterQueue cq in 5s (based on runFor, observed)\n"
           "ns/w is admitted to ClusterQueue cq already\n"
           "nothing would change for any other workload\n");
}

static void test_foreseen_of_what_would_differ(void **state)
{
    (void)state;
    expect("{\"counts\":{\"evicted\":1,\"sooner\":3,\"unstarted\":1},\"evicted\":[{" W
           ",\"evictedFor\":\"Preempted\",\"waitMilliseconds\":1000,\"certainty\":\"Exact\"}],"
           "\"sooner\":[{" W ",\"waitMilliseconds\":1000,\"waitMillisecondsBefore\":5000,"
           "\"certainty\":\"Exact\"}],\"unstarted\":[{" W ",\"reason\":\"NotQueued\","
           "\"waitMillisecondsBefore\":0}],\"ended\":\"CutShort\",\"until\":\"T\"}",
           "1 would be evicted:\n"
           "  ns/w  Preempted; it would start again in 1s\n"
           "3 would start sooner:\n"
           "  ns/w  in 1s instead of in 5s\n"
           "  and 2 more\n"
           "1 would not start, as far as is known:\n"
           "  ns/w  it is in no active queue; otherwise it would start now\n"
           "the time for an answer was over: what happens after T is not known\n");
    expect("{\"counts\":{\"evicted\":2,\"started\":1,\"later\":1},\"evicted\":[{" W
           ",\"evictedFor\":\"ClusterQueueStopped\",\"reason\":\"NotQueued\"},{" W
           ",\"evictedFor\":\"Preempted\",\"reason\":\"RunTimesUnknown\"}],\"started\":[{" W
           ",\"waitMilliseconds\":1000,\"certainty\":\"Latest\"}],\"later\":[{" W
           ",\"waitMilliseconds\":5000,\"waitMillisecondsBefore\":0}]}",
           "2 would be evicted:\n"
           "  ns/w  ClusterQueueStopped; it would not start again: it is in no active queue\n"
           "  ns/w  Preempted; when it would start again is not known: how long others run is not "
           "known\n"
           "1 would start that otherwise do not:\n"
           "  ns/w  in 1s at the latest\n"
           "1 would start later:\n"
           "  ns/w  in 5s instead of now\n");
    expect("{\"asked\":[{" W ",\"admitted\":\"Unknown\",\"reason\":\"Horizon\"}]}",
           "ns/w would not be admitted to ClusterQueue cq now, and when is not known: it is later "
           "than "
           "was looked ahead\n"
           "nothing would change for any other workload\n");
    expect("{}", "nothing would change for any workload\n");
}

static void test_foreseen_beside_a_list(void **state)
{
    (void)state;
    struct sl_json *items = parse("[{\"metadata\":{\"namespace\":\"ns\",\"name\":\"w\"}},"
                                  "{\"metadata\":{\"namespace\":\"ns\",\"name\":\"x\"}}]");
    struct sl_json *answer = parse("{\"workloads\":[{" W ",\"start\":\"T\",\"certainty\":"
                                   "\"Exact\",\"waitMilliseconds\":7}]}");
    sl_foreseen_join(items, answer);
    assert_string_equal(sl_json_path_text(items, "0.foreseen.start", ""), "T");
    assert_int_equal(sl_json_path_int(items, "0.foreseen.waitMilliseconds", 0), 7);
    assert_int_equal(sl_json_len(sl_json_path(items, "1.foreseen")), 0);
    sl_json_free(items);
    sl_json_free(answer);
}

int main(void)
{
    const struct CMUnitTest tests[] = {cmocka_unit_test(test_foreseen_starts),
                                       cmocka_unit_test(test_foreseen_of_what_was_asked),
                                       cmocka_unit_test(test_foreseen_of_what_would_differ),
                                       cmocka_unit_test(test_foreseen_beside_a_list)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
