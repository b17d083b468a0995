/* SPDX-License-Identifier: Apache-2.0
 * SPDX-FileCopyrightText: The Sluice authors */

/* The books of pods and nodes: rows follow the objects, and lists their keys. */
#include "t.h"
#include "pod_world.h"

static int setup(void **state)
{
    struct world *w = sl_mem_new(1, sizeof *w);
    world_init(w, true);
    *state = w;
    return 0;
}

static int teardown(void **state)
{
    world_fini(*state);
    sl_mem_free(*state);
    return 0;
}

static struct sl_json *pod_on(const char *name, const char *workload, const char *node)
{
    char text[500];
    snprintf(text, sizeof text,
             "{\"metadata\":{\"name\":\"%s\",\"namespace\":\"n\",\"annotations\":{"
             "\"kueue.x-k8s.io/workload\":\"%s\"}},\"spec\":{\"nodeName\":\"%s\"}}",
             name, workload, node);
    return parse(text);
}

static void show(struct sl_podbook *b, const char *name, const char *workload, const char *node)
{
    struct sl_json *pod = pod_on(name, workload, node);
    sl_podbook_observe(b, pod);
    sl_json_free(pod);
}

static void drop(struct sl_podbook *b, const char *name)
{
    struct sl_json *pod = pod_on(name, "", "");
    sl_podbook_forget(b, pod);
    sl_json_free(pod);
}

static void assert_list(struct sl_podbook *b, enum sl_pod_list list, const char *key,
                        const char *expected)
{
    char got[200] = "";
    for (const struct sl_pod_row *row = sl_podbook_first(b, list, key); row != NULL;
         row = row->next[list]) {
        strncat(got, row->key + 2, sizeof got - strlen(got) - 1);
    }
    assert_string_equal(got, expected);
}

static void test_podbook_lists_pods_in_order_and_follows_their_moves(void **state)
{
    struct world *w = *state;
    struct sl_podbook *b = w->cluster.pods;
    show(b, "a", "w", "");
    show(b, "b", "w", "h1");
    show(b, "c", "w", "h1");
    assert_list(b, SL_PODS_OF_WORKLOAD, "n/w", "abc");
    assert_list(b, SL_PODS_OF_NODE, "h1", "bc");
    show(b, "b", "w", "h2");
    show(b, "a", "w", "h1");
    assert_list(b, SL_PODS_OF_WORKLOAD, "n/w", "abc");
    assert_list(b, SL_PODS_OF_NODE, "h1", "ca");
    assert_list(b, SL_PODS_OF_NODE, "h2", "b");
    drop(b, "b");
    drop(b, "b");
    assert_list(b, SL_PODS_OF_WORKLOAD, "n/w", "ac");
    assert_list(b, SL_PODS_OF_NODE, "h2", "");
    drop(b, "a");
    drop(b, "c");
    assert_null(sl_podbook_first(b, SL_PODS_OF_WORKLOAD, "n/w"));
    assert_null(sl_podbook_find(b, "n/a"));
}

static void test_podbook_row_says_what_the_pod_is(void **state)
{
    struct world *w = *state;
    struct sl_json *pod = parse(
        "{\"metadata\":{\"name\":\"p\",\"namespace\":\"n\",\"uid\":\"u\",\"annotations\":{"
        "\"kueue.x-k8s.io/pod-index-offset\":\"1\",\"" SL_LABEL_INDEX "\":\"7\"},"
        "\"ownerReferences\":[{\"apiVersion\":\"batch/"
        "v1\",\"kind\":\"Job\",\"name\":\"j\",\"uid\":\"ju\","
        "\"controller\":true}]},\"spec\":{\"nodeSelector\":{\"kubernetes.io/hostname\":\"h9\"},"
        "\"containers\":[{\"name\":\"a\",\"resources\":{\"requests\":{\"cpu\":\"250m\"}}}]},"
        "\"status\":{\"phase\":\"Running\",\"startTime\":\"2023-11-14T22:13:20Z\","
        "\"conditions\":[{\"type\":\"Ready\",\"status\":\"True\"}]}}");
    const struct sl_pod_row *row = sl_podbook_observe(w->cluster.pods, pod);
    assert_int_equal(row->phase, SL_POD_RUNNING);
    assert_int_equal(row->index, 7);
    assert_int_equal(row->index_offset, 1);
    assert_true(row->ready && !row->gated && !row->deleting && sl_pod_row_live(row));
    assert_string_equal(row->job_uid, "ju");
    assert_string_equal(row->at[SL_PODS_OF_JOB], "n/j");
    assert_string_equal(row->at[SL_PODS_OF_NODE], "h9");
    assert_int_equal(row->request_count, 1);
    assert_true(row->requests[0].nano == 250000000);
    assert_true(row->started_ms == T0);
    sl_podbook_set_start(w->cluster.pods, "n/p", T0 + 345);
    row = sl_podbook_observe(w->cluster.pods, pod);
    assert_true(row->started_ms == T0 + 345); /* kept: the object says the same second */
    sl_json_free(pod);
}

static const struct sl_node_row *node_of(struct world *w, const char *text, int64_t now_ms)
{
    struct sl_json *node = parse(text);
    const struct sl_node_row *row = sl_nodebook_observe(w->cluster.nodes, node, now_ms);
    sl_json_free(node);
    return row;
}

#define READY(word) "\"status\":{\"conditions\":[{\"type\":\"Ready\",\"status\":\"" word "\"}]}}"

static void test_nodebook_remembers_since_when_a_node_is_not_ready(void **state)
{
    struct world *w = *state;
    const struct sl_node_row *row = node_of(w, "{\"metadata\":{\"name\":\"h\"}," READY("True"), 5);
    assert_true(sl_node_takes(row, NULL));
    row = node_of(w, "{\"metadata\":{\"name\":\"h\"}," READY("Unknown"), 9);
    row = node_of(w, "{\"metadata\":{\"name\":\"h\"}," READY("False"), 12);
    assert_false(sl_node_takes(row, NULL));
    assert_true(row->since_ms == 9);
    row = node_of(w, "{\"metadata\":{\"name\":\"g\"}}", 12);
    assert_false(sl_node_takes(row, NULL)); /* nobody says that it is ready */
    assert_false(sl_node_takes(NULL, NULL));
    sl_nodebook_forget(w->cluster.nodes, "h");
    assert_null(sl_nodebook_find(w->cluster.nodes, "h"));
}

static void assert_tolerated(const struct sl_node_row *row, const char *tolerations, bool expected)
{
    struct sl_json *list = parse(tolerations);
    if (sl_node_tolerated(row, list, false) != expected) {
        fail_msg("%s", tolerations);
    }
    sl_json_free(list);
}

static void test_nodebook_taints_keep_away_who_does_not_tolerate_them(void **state)
{
    struct world *w = *state;
    const struct sl_node_row *row = node_of(
        w,
        "{\"metadata\":{\"name\":\"h\"},\"spec\":{\"taints\":[{\"key\":\"k\",\"value\":\"v\","
        "\"effect\":\"NoSchedule\"},{\"key\":\"soft\",\"effect\":\"PreferNoSchedule\"}]}," READY(
            "True"),
        1);
    assert_tolerated(row, "[]", false);
    assert_tolerated(row, "[{\"key\":\"k\",\"value\":\"v\"}]", true);
    assert_tolerated(row, "[{\"key\":\"k\",\"value\":\"x\"}]", false);
    assert_tolerated(row, "[{\"key\":\"other\",\"operator\":\"Exists\"}]", false);
    assert_tolerated(row, "[{\"key\":\"k\",\"operator\":\"Exists\"}]", true);
    assert_tolerated(row, "[{\"operator\":\"Exists\"}]", true);
    assert_tolerated(row, "[{\"operator\":\"Exists\",\"effect\":\"NoExecute\"}]", false);
    assert_true(sl_node_tolerated(row, NULL, true)); /* it drives nobody away */
}

#define TEST(name) cmocka_unit_test_setup_teardown(name, setup, teardown)
int main(void)
{
    const struct CMUnitTest tests[] = {
        TEST(test_podbook_lists_pods_in_order_and_follows_their_moves),
        TEST(test_podbook_row_says_what_the_pod_is),
        TEST(test_nodebook_remembers_since_when_a_node_is_not_ready),
        TEST(test_nodebook_taints_keep_away_who_does_not_tolerate_them),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
