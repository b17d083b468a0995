/* SPDX-License-Identifier: Apache-2.0
 * SPDX-FileCopyrightText: The Sluice authors */

/* The picture of a topology: which node is in which line, whose mark it has, and what the legend says. */
#include "t.h"
#include "cli/screen/picture.h"
#include <stdio.h>

struct scene {
    struct sl_json *flavor, *topology, *nodes, *workloads;
    struct sl_picture picture;
    struct sl_buf text;
};

static int setup(void **state)
{
    struct scene *s = sl_mem_new(1, sizeof *s);
    s->flavor =
        parse("{\"metadata\":{\"name\":\"tas\"},\"spec\":{\"nodeLabels\":{\"pool\":\"a\"}}}");
    s->topology = parse("{\"metadata\":{\"name\":\"hall\"},\"spec\":{\"levels\":["
                        "{\"nodeLabel\":\"x.io/rack\"},"
                        "{\"nodeLabel\":\"kubernetes.io/hostname\"}]}}");
    s->nodes = sl_json_new_list();
    s->workloads = sl_json_new_list();
    *state = s;
    return 0;
}

static int teardown(void **state)
{
    struct scene *s = *state;
    sl_picture_fini(&s->picture);
    sl_buf_fini(&s->text);
    sl_json_free(s->flavor);
    sl_json_free(s->topology);
    sl_json_free(s->nodes);
    sl_json_free(s->workloads);
    sl_mem_free(s);
    return 0;
}

static void add_node(struct scene *s, const char *pool, const char *rack, const char *host,
                     const char *ready)
{
    char text[500];
    snprintf(text, sizeof text,
             "{\"metadata\":{\"name\":\"%s\",\"labels\":{\"pool\":\"%s\",\"x.io/rack\":\"%s\","
             "\"kubernetes.io/hostname\":\"%s\"}},\"spec\":{},\"status\":{\"conditions\":["
             "{\"type\":\"Ready\",\"status\":\"%s\"}]}}",
             host, pool, rack, host, ready);
    sl_json_append(s->nodes, parse(text));
}

/* Two pods on one host of the flavor "tas". */
static void add_workload(struct scene *s, const char *name, const char *host, const char *request)
{
    char text[900];
    snprintf(text, sizeof text,
             "{\"metadata\":{\"name\":\"%s\",\"namespace\":\"n\"},\"spec\":{\"podSets\":[{"
             "\"topologyRequest\":%s}]},\"status\":{\"admission\":{\"podSetAssignments\":[{"
             "\"flavors\":{\"cpu\":\"tas\"},\"topologyAssignment\":{\"levels\":["
             "\"kubernetes.io/hostname\"],\"slices\":[{\"domainCount\":1,\"podCounts\":{"
             "\"universal\":2},\"valuesPerLevel\":[{\"universal\":\"%s\"}]}]}}]}}}",
             name, request, host);
    sl_json_append(s->workloads, parse(text));
}

static const char *drawn(struct scene *s, unsigned width)
{
    struct sl_picture_source source = {s->flavor, s->topology, s->nodes, s->workloads};
    sl_picture_fini(&s->picture);
    sl_buf_reset(&s->text);
    sl_picture_fill(&s->picture, &source);
    sl_picture_draw(&s->picture, false, width, &s->text);
    return s->text.data;
}

/* As the legend has it. */
static char mark_of(const char *text, const char *name)
{
    char line[100];
    (void)snprintf(line, sizeof line, "  n/%s:", name);
    const char *at = strstr(text, line);
    if (at == NULL) {
        fail_msg("no %s in: %s", name, text);
    }
    return at == NULL ? '\0' : at[-1];
}

/* Whatever else comes and goes. */
static void test_picture_keeps_marks_from_one_picture_to_the_next(void **state)
{
    struct scene *s = *state;
    static const char *const names[] = {"one", "two", "three", "four", "five", "six"};
    char marks[6];
    for (int i = 0; i < 6; i++) {
        char host[16];
        (void)snprintf(host, sizeof host, "h%d", i);
        add_node(s, "a", "r", host, "True");
        add_workload(s, names[i], host, "{}");
    }
    const char *text = drawn(s, 100);
    for (size_t i = 0; i < 6; i++) {
        marks[i] = mark_of(text, names[i]);
        for (size_t k = 0; k < i; k++) {
            assert_true(marks[k] != marks[i]);
        }
    }
    sl_json_remove_at(s->workloads, 3);
    sl_json_remove_at(s->workloads, 0);
    add_workload(s, "a-new-one", "h0", "{}");
    text = drawn(s, 100);
    for (size_t i = 0; i < 6; i++) {
        assert_true(i == 0 || i == 3 || mark_of(text, names[i]) == marks[i]);
    }
}

/* The older one has the mark that both would choose. */
static void test_picture_has_one_mark_for_each_workload(void **state)
{
    struct scene *s = *state;
    bool seen[128] = {false};
    for (int i = 0; i < 64; i++) {
        char host[16], time[40];
        (void)snprintf(host, sizeof host, "h%d", i);
        (void)snprintf(time, sizeof time, "2026-01-01T00:%02d:00Z", 59 - i % 60);
        add_node(s, "a", "r", host, "True");
        add_workload(s, host, host, "{}");
        sl_json_set_text(sl_json_path(sl_json_at(s->workloads, (size_t)i), "metadata"),
                         "creationTimestamp", time);
    }
    (void)drawn(s, 200);
    unsigned others = 0;
    for (size_t i = 0; i < s->picture.workload_count; i++) {
        char mark = s->picture.workloads[i].mark;
        others += mark == '#';
        assert_true(mark == '#' || !seen[(unsigned char)mark]);
        seen[(unsigned char)mark] = true;
    }
    assert_int_equal(others, 2);
}

static void test_picture_has_the_same_mark_for_a_workload_in_every_flavor(void **state)
{
    struct scene *s = *state;
    add_node(s, "a", "r1", "n1", "True");
    add_workload(s, "other", "n9", "{}"); /* of another flavor */
    struct sl_json *sets =
        sl_json_path(sl_json_at(s->workloads, 0), "status.admission.podSetAssignments.0.flavors");
    sl_json_set_text(sets, "cpu", "elsewhere");
    add_workload(s, "here", "n1", "{}");
    char mark = mark_of(drawn(s, 80), "here");
    sl_json_set_text(sl_json_path(s->flavor, "metadata"), "name", "elsewhere");
    assert_null(strstr(drawn(s, 80), "n/here"));
    sl_json_set_text(sets, "cpu", "tas");
    sl_json_set_text(sl_json_path(s->flavor, "metadata"), "name", "tas");
    assert_int_equal(mark_of(drawn(s, 80), "here"), mark);
}

static void test_picture_has_a_line_for_each_rack_in_order_of_people(void **state)
{
    struct scene *s = *state;
    add_node(s, "a", "r10", "h3", "True");
    add_node(s, "a", "r2", "h10", "True");
    add_node(s, "a", "r2", "h2", "True");
    add_node(s, "other", "r2", "h7", "True");
    add_workload(s, "w", "h2", "{\"required\":\"x.io/rack\"}");
    const char *text = drawn(s, 100);
    assert_has(text, "tas (topology hall): 3 nodes, 1 of 3 domains in use\n");
    char line[60], mark = mark_of(text, "w");
    (void)snprintf(line, sizeof line, "  r2   %c.  1/2\n  r10  .  0/1\n", mark);
    assert_has(text, line);
    assert_has(text, "  n/w: 2 pods on 1, required in one rack\n");
}

static void test_picture_marks_failed_closed_and_shared_nodes(void **state)
{
    struct scene *s = *state;
    add_node(s, "a", "r", "h1", "False");
    add_node(s, "a", "r", "h2", "True");
    add_node(s, "a", "r", "h3", "True");
    sl_json_set_bool(sl_json_path(sl_json_at(s->nodes, 1), "spec"), "unschedulable", true);
    add_workload(s, "v", "h3", "{\"preferred\":\"x.io/rack\"}");
    add_workload(s, "w", "h3", "{}");
    add_workload(s, "x", "h1",
                 "{\"required\":\"x.io/rack\",\"podSetSliceRequiredTopology\":\"x.io/rack\","
                 "\"podSetSliceSize\":2}");
    sl_json_set(sl_json_path(sl_json_at(s->workloads, 2), "status"), "unhealthyNodes",
                parse("[{\"name\":\"h1\"}]"));
    const char *text = drawn(s, 100);
    assert_has(text, ", 1 not ready, 1 closed\n");
    assert_has(text, "  r  !-*  2/3\n");
    assert_has(text, "n/v: 2 pods on 1, preferred in one rack\n");
    assert_has(text, "n/w: 2 pods on 1, unconstrained\n");
    assert_has(text, "required in one rack, slices of 2 in a rack; leaves h1\n");
    assert_null(strstr(text, "in use:"));
}

/* Its mark is that of the workload; that no new pods come there is said below. */
static void test_picture_names_nodes_that_are_closed_while_in_use(void **state)
{
    struct scene *s = *state;
    for (int i = 0; i < 10; i++) {
        char host[16];
        (void)snprintf(host, sizeof host, "h%d", i);
        add_node(s, "a", "r", host, "True");
        sl_json_set_bool(sl_json_path(sl_json_at(s->nodes, (size_t)i), "spec"), "unschedulable",
                         i != 3);
        add_workload(s, "w", host, "{}");
    }
    const char *text = drawn(s, 100);
    assert_has(text, "10 nodes, 10 of 10 domains in use, 9 closed\n");
    assert_has(text, "  closed and in use: h0, h1, h2, h4, h5, h6, h7, h8 and 1 more\n");
}

static void test_picture_as_data_says_what_is_drawn(void **state)
{
    struct scene *s = *state;
    add_node(s, "a", "r", "h1", "False");
    add_node(s, "a", "r", "h2", "True");
    sl_json_set_bool(sl_json_path(sl_json_at(s->nodes, 1), "spec"), "unschedulable", true);
    add_workload(s, "v", "h2", "{}");
    (void)drawn(s, 100);
    struct sl_json *data = sl_picture_json_new(&s->picture);
    struct sl_json *wanted = parse(
        "{\"flavor\":\"tas\",\"topology\":\"hall\",\"levels\":[\"x.io/rack\","
        "\"kubernetes.io/hostname\"],\"domains\":[{\"values\":[\"r\",\"h1\"],\"nodes\":1,"
        "\"notReady\":1,\"closed\":0,\"pods\":0,\"workloads\":0},{\"values\":[\"r\",\"h2\"],"
        "\"nodes\":1,\"notReady\":0,\"closed\":1,\"pods\":2,\"workloads\":1}],\"workloads\":[{"
        "\"namespace\":\"n\",\"name\":\"v\",\"pods\":2,\"domains\":1,\"unhealthyNodes\":[]}]}");
    assert_true(sl_json_equal(data, wanted));
    sl_json_free(wanted);
    sl_json_free(data);
}

static void test_picture_says_who_waits_and_why(void **state)
{
    struct scene *s = *state;
    add_node(s, "a", "r", "h1", "True");
    for (int i = 0; i < 10; i++) {
        sl_json_append(s->workloads,
                       parse("{\"metadata\":{\"name\":\"w\",\"namespace\":\"n\"},\"spec\":{"
                             "\"podSets\":[{\"topologyRequest\":{\"required\":\"x.io/rack\"}}]},"
                             "\"status\":{\"conditions\":[{\"type\":\"QuotaReserved\","
                             "\"status\":\"False\",\"message\":\"no rack has room\"}]}}"));
    }
    sl_json_append(s->workloads,
                   parse("{\"metadata\":{\"name\":\"plain\",\"namespace\":\"n\"},\"spec\":{"
                         "\"podSets\":[{\"topologyRequest\":{\"podIndexLabel\":\"i\"}}]}}"));
    sl_picture_draw_waiting(s->workloads, 100, &s->text);
    assert_has(s->text.data, "  ~  n/w waits: no rack has room\n");
    assert_has(s->text.data, "  ~  and 2 more\n");
    assert_null(strstr(s->text.data, "plain"));
}

static void test_picture_of_quota_without_a_place_names_the_open_check(void **state)
{
    struct scene *s = *state;
    sl_json_append(
        s->workloads,
        parse("{\"metadata\":{\"name\":\"w\",\"namespace\":\"n\",\"ownerReferences\":[{"
              "\"kind\":\"Job\",\"name\":\"j\",\"controller\":true}]},\"spec\":{\"podSets\":[{"
              "\"topologyRequest\":{\"unconstrained\":true}}]},\"status\":{\"admission\":{"
              "\"podSetAssignments\":[{\"name\":\"main\"}]},\"admissionChecks\":[{"
              "\"name\":\"c\",\"state\":\"Pending\",\"message\":\"soon\\nor later\"}]}}"));
    sl_picture_draw_waiting(s->workloads, 100, &s->text);
    assert_string_equal(s->text.data, "  ~  n/j has quota and waits for the check c: soon\n");
    sl_buf_reset(&s->text);
    sl_json_remove(sl_json_path(sl_json_at(s->workloads, 0), "status"), "admissionChecks");
    sl_picture_draw_waiting(s->workloads, 100, &s->text);
    assert_string_equal(s->text.data, "  ~  n/j has quota and waits for a topology assignment\n");
    sl_buf_reset(&s->text);
    sl_json_set_text(sl_json_path(sl_json_at(s->workloads, 0), "metadata"), "namespace",
                     "a-namespace-with-a-long-name");
    sl_picture_draw_waiting(s->workloads, 40, &s->text);
    assert_string_equal(s->text.data, "  ~  a-namespace-with-a-long-name/j has\n"
                                      "     quota and waits for a topology\n"
                                      "     assignment\n");
}

static void test_picture_breaks_lines_that_are_too_wide(void **state)
{
    struct scene *s = *state;
    char host[16];
    for (int i = 0; i < 60; i++) {
        snprintf(host, sizeof host, "h%d", i);
        add_node(s, "a", "r", host, "True");
    }
    const char *text = drawn(s, 50);
    assert_has(text,
               "  r  ...................................\n     .........................  0/60");
}

static void test_picture_finished_workloads_and_other_flavors_are_not_shown(void **state)
{
    struct scene *s = *state;
    add_node(s, "a", "r", "h1", "True");
    add_workload(s, "over", "h1", "{}");
    sl_json_set(sl_json_path(sl_json_at(s->workloads, 0), "status"), "conditions",
                parse("[{\"type\":\"Finished\",\"status\":\"True\"}]"));
    add_workload(s, "elsewhere", "h1", "{}");
    sl_json_set(sl_json_path(sl_json_at(s->workloads, 1), "status.admission.podSetAssignments.0"),
                "flavors", parse("{\"cpu\":\"another\"}"));
    assert_has(drawn(s, 100), "  r  .  0/1\n");
}

static void test_picture_of_racks_alone_has_one_line(void **state)
{
    struct scene *s = *state;
    add_node(s, "a", "r1", "h1", "True");
    add_node(s, "a", "r1", "h2", "False");
    add_node(s, "a", "r2", "h3", "False");
    sl_json_remove_at(sl_json_path(s->topology, "spec.levels"), 1);
    const char *text = drawn(s, 100);
    assert_has(text, "3 nodes, 0 of 2 domains in use, 2 not ready\n");
    assert_has(text, "  all  .!  0/2\n");
}

static void test_picture_colors_only_when_asked(void **state)
{
    struct scene *s = *state;
    add_node(s, "a", "r", "h1", "True");
    assert_null(strchr(drawn(s, 100), '\033'));
    sl_picture_draw(&s->picture, true, 100, &s->text);
    assert_non_null(strchr(s->text.data, '\033'));
}

#define TEST(name) cmocka_unit_test_setup_teardown(name, setup, teardown)
int main(void)
{
    const struct CMUnitTest tests[] = {
        TEST(test_picture_has_a_line_for_each_rack_in_order_of_people),
        TEST(test_picture_keeps_marks_from_one_picture_to_the_next),
        TEST(test_picture_has_one_mark_for_each_workload),
        TEST(test_picture_has_the_same_mark_for_a_workload_in_every_flavor),
        TEST(test_picture_marks_failed_closed_and_shared_nodes),
        TEST(test_picture_names_nodes_that_are_closed_while_in_use),
        TEST(test_picture_as_data_says_what_is_drawn),
        TEST(test_picture_says_who_waits_and_why),
        TEST(test_picture_of_quota_without_a_place_names_the_open_check),
        TEST(test_picture_breaks_lines_that_are_too_wide),
        TEST(test_picture_finished_workloads_and_other_flavors_are_not_shown),
        TEST(test_picture_of_racks_alone_has_one_line),
        TEST(test_picture_colors_only_when_asked),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
