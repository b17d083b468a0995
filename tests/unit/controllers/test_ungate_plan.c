/* SPDX-License-Identifier: Apache-2.0
 * SPDX-FileCopyrightText: The Sluice authors */

/* Which gated pod goes where: by rank, in order, and when ranks cannot be used. */
#include "t.h"
#include "controllers/jobs/job.h"
#include "controllers/cluster/ungate_plan.h"
#include <stdio.h>

#define PODS_MAX 8

struct scene {
    struct sl_assignment_list assignments;
    struct sl_json *assignment, *request;
    struct sl_pod_row pods[PODS_MAX];
    const struct sl_pod_row *list[PODS_MAX];
    uint32_t rows[PODS_MAX];
    size_t len;
    int64_t pod_count, rank_first;
};

/* Two racks: two pods on a/h1, one on b/h2, one on b/h3. */
static int setup(void **state)
{
    struct scene *s = sl_mem_new(1, sizeof *s);
    s->assignment = parse(
        "{\"levels\":[\"rack\",\"kubernetes.io/hostname\"],\"slices\":[{\"domainCount\":3,"
        "\"podCounts\":{\"individual\":[2,1,1]},\"valuesPerLevel\":[{\"individual\":{\"roots\":["
        "\"a\",\"b\",\"b\"]}},{\"individual\":{\"prefix\":\"h\",\"roots\":[\"1\",\"2\",\"3\"]}}]}]"
        "}");
    s->request = parse("{\"podIndexLabel\":\"" SL_LABEL_INDEX "\"}");
    s->pod_count = 4;
    assert_true(sl_assignment_list_read(&s->assignments, s->assignment));
    *state = s;
    return 0;
}

static int teardown(void **state)
{
    struct scene *s = *state;
    for (size_t i = 0; i < s->len; i++) {
        sl_json_free(s->pods[i].labels);
        sl_json_free(s->pods[i].node_selector);
    }
    sl_assignment_list_fini(&s->assignments);
    sl_json_free(s->assignment);
    sl_json_free(s->request);
    sl_mem_free(s);
    return 0;
}

/* A pod with that index (-1: none); host NULL: it is gated. */
static void add(struct scene *s, int index, const char *rack, const char *host)
{
    struct sl_pod_row *pod = &s->pods[s->len];
    pod->gated = host == NULL;
    pod->labels = sl_json_new_map();
    if (index >= 0) {
        char text[16];
        snprintf(text, sizeof text, "%d", index);
        sl_json_set_text(pod->labels, SL_LABEL_INDEX, text);
    }
    if (host != NULL) {
        pod->node_selector = sl_json_new_map();
        sl_json_set_text(pod->node_selector, "rack", rack);
        sl_json_set_text(pod->node_selector, "kubernetes.io/hostname", host);
    }
    s->list[s->len++] = pod;
}

static void assert_plan(struct scene *s, const uint32_t *expected)
{
    struct sl_ungate_question q = {&s->assignments, s->request, s->pod_count,
                                   s->rank_first,   s->list,    s->len};
    sl_ungate_plan(&q, s->rows);
    for (size_t i = 0; i < s->len; i++) {
        if (s->rows[i] != expected[i]) {
            fail_msg("pod %zu goes to row %u, expected %u", i, s->rows[i], expected[i]);
        }
    }
}

#define NONE SL_UNGATE_NONE
#define PLAN(s, ...) assert_plan(s, (const uint32_t[]){__VA_ARGS__})

static void test_ungate_plan_reads_the_nodes_of_the_assignment(void **state)
{
    struct scene *s = *state;
    assert_int_equal(s->assignments.row_count, 3);
    assert_int_equal(s->assignments.pod_count, 4);
    assert_string_equal(sl_assignment_node(&s->assignments, 2), "h3");
    assert_string_equal(s->assignments.rows[2].values[0], "b");
}

static void test_ungate_plan_lowest_level_above_nodes_names_no_node(void **state)
{
    (void)state;
    struct sl_assignment_list list;
    struct sl_json *assignment =
        parse("{\"levels\":[\"rack\"],\"slices\":[{\"domainCount\":1,\"podCounts\":{"
              "\"universal\":2},\"valuesPerLevel\":[{\"universal\":\"a\"}]}]}");
    assert_true(sl_assignment_list_read(&list, assignment));
    assert_null(sl_assignment_node(&list, 0));
    sl_assignment_list_fini(&list);
    sl_json_free(assignment);
}

static void test_ungate_plan_malformed_assignment_is_refused(void **state)
{
    (void)state;
    struct sl_assignment_list list;
    struct sl_json *assignment = parse("{\"levels\":[\"rack\"],\"slices\":[{\"domainCount\":1}]}");
    assert_false(sl_assignment_list_read(&list, assignment));
    assert_false(sl_assignment_list_read(&list, NULL));
    sl_assignment_list_fini(&list);
    sl_json_free(assignment);
}

static void test_ungate_plan_assignment_of_too_many_pods_is_refused(void **state)
{
    (void)state;
    struct sl_assignment_list assignments;
    struct sl_json *o =
        parse("{\"levels\":[\"rack\"],\"slices\":[{\"domainCount\":3,\"podCounts\":{\"universal\":"
              "2147483647},\"valuesPerLevel\":[{\"individual\":{\"roots\":[\"a\",\"b\",\"c\"]}}]}]"
              "}");
    assert_false(sl_assignment_list_read(&assignments, o));
    sl_assignment_list_fini(&assignments);
    sl_json_free(o);
}

static void test_ungate_plan_by_rank_follows_the_assignments_order(void **state)
{
    struct scene *s = *state;
    add(s, 3, NULL, NULL);
    add(s, 0, NULL, NULL);
    add(s, 2, NULL, NULL);
    add(s, 1, "a", "h1");
    PLAN(s, 2, 0, 1, NONE);
}

static void test_ungate_plan_by_rank_counts_behind_leaders_and_offsets(void **state)
{
    struct scene *s = *state;
    s->rank_first = 1;
    add(s, 4, NULL, NULL);
    add(s, 1, NULL, NULL);
    PLAN(s, 2, 0);
    s->rank_first = 0;
    s->pods[0].index_offset = s->pods[1].index_offset = 1;
    PLAN(s, 2, 0);
}

static void test_ungate_plan_by_rank_of_sub_groups_lines_them_up(void **state)
{
    struct scene *s = *state;
    sl_json_set_text(s->request, "subGroupIndexLabel", "group");
    sl_json_set_int(s->request, "subGroupCount", 2);
    for (int i = 0; i < 4; i++) {
        add(s, i % 2, NULL, NULL);
        sl_json_set_text(s->pods[i].labels, "group", i < 2 ? "1" : "0");
    }
    PLAN(s, 1, 2, 0, 0);
    sl_json_set_int(s->request, "subGroupCount", 0); /* nonsense: in order then */
    PLAN(s, 0, 0, 1, 2);
}

static void test_ungate_plan_without_ranks_fills_domains_in_order(void **state)
{
    struct scene *s = *state;
    add(s, -1, NULL, NULL);
    add(s, -1, "a", "h1");
    add(s, -1, NULL, NULL);
    add(s, -1, NULL, NULL);
    PLAN(s, 0, NONE, 1, 2);
}

static void test_ungate_plan_more_pods_than_places_leaves_the_rest_gated(void **state)
{
    struct scene *s = *state;
    for (int i = 0; i < 5; i++) {
        add(s, -1, NULL, NULL);
    }
    PLAN(s, 0, 0, 1, 2, NONE);
}

static void test_ungate_plan_same_rank_twice_is_done_in_order(void **state)
{
    struct scene *s = *state;
    add(s, 3, NULL, NULL);
    add(s, 3, NULL, NULL);
    PLAN(s, 0, 0);
}

static void test_ungate_plan_rank_without_place_is_done_in_order(void **state)
{
    struct scene *s = *state;
    s->pod_count = 5; /* the assignment has four */
    add(s, 4, NULL, NULL);
    PLAN(s, 0);
}

/* After a replacement the order of domains is another: who runs stays, who is new takes what is free. */
static void test_ungate_plan_runner_off_its_rank_is_done_in_order(void **state)
{
    struct scene *s = *state;
    add(s, 0, "b", "h3");
    add(s, 1, "a", "h1");
    add(s, 2, "a", "h1");
    add(s, 3, NULL, NULL);
    PLAN(s, NONE, NONE, NONE, 1);
}

static void test_ungate_plan_pod_on_a_domain_that_was_left_holds_no_place(void **state)
{
    struct scene *s = *state;
    add(s, -1, "a", "gone");
    add(s, -1, NULL, NULL);
    PLAN(s, NONE, 0);
}

#define TEST(name) cmocka_unit_test_setup_teardown(name, setup, teardown)
int main(void)
{
    const struct CMUnitTest tests[] = {
        TEST(test_ungate_plan_reads_the_nodes_of_the_assignment),
        TEST(test_ungate_plan_lowest_level_above_nodes_names_no_node),
        TEST(test_ungate_plan_malformed_assignment_is_refused),
        TEST(test_ungate_plan_assignment_of_too_many_pods_is_refused),
        TEST(test_ungate_plan_by_rank_follows_the_assignments_order),
        TEST(test_ungate_plan_by_rank_counts_behind_leaders_and_offsets),
        TEST(test_ungate_plan_by_rank_of_sub_groups_lines_them_up),
        TEST(test_ungate_plan_without_ranks_fills_domains_in_order),
        TEST(test_ungate_plan_more_pods_than_places_leaves_the_rest_gated),
        TEST(test_ungate_plan_same_rank_twice_is_done_in_order),
        TEST(test_ungate_plan_rank_without_place_is_done_in_order),
        TEST(test_ungate_plan_runner_off_its_rank_is_done_in_order),
        TEST(test_ungate_plan_pod_on_a_domain_that_was_left_holds_no_place),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
