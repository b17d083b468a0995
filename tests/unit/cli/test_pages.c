/* SPDX-License-Identifier: Apache-2.0
 * SPDX-FileCopyrightText: The Sluice authors */

/* /readyz, /metrics and the pending workloads; engine, controllers and client are stubs. */
#include "t.h"
#include "cli/pages.h"

static struct {
    bool ready;
    const char *pending;
    struct sl_map *series;
} stub;

bool sl_controllers_ready(const struct sl_controllers *c)
{
    (void)c;
    return stub.ready;
}

void sl_controllers_count(const struct sl_controllers *c, struct sl_controller_counters *out)
{
    (void)c;
    *out = (struct sl_controller_counters){
        .workloads = {.reserved = 5, .pending = 2, .series = stub.series}, .events_dropped = 1};
}

void sl_engine_count(const struct sl_engine *g, struct sl_engine_counters *out)
{
    (void)g;
    *out = (struct sl_engine_counters){.finished = 3, .admitted = 4, .core_bytes = 999};
}

struct sl_json *sl_engine_pending(struct sl_engine *g, const char *cluster_queue)
{
    (void)g;
    assert_string_equal(cluster_queue, "team");
    return parse(stub.pending);
}

struct sl_json *sl_engine_queue_status(struct sl_engine *g, enum sl_kind kind, const char *ns,
                                       const char *name)
{
    (void)g;
    (void)kind;
    (void)ns;
    (void)name;
    return parse("{\"pendingWorkloads\":7,\"reservingWorkloads\":2,\"admittedWorkloads\":1,"
                 "\"active\":{\"status\":\"True\"},\"fairSharing\":{\"weightedShare\":333},"
                 "\"flavorsReservation\":[{\"name\":\"f\",\"resources\":["
                 "{\"name\":\"cpu\",\"total\":\"1500m\",\"borrowed\":\"0\"}]}]}");
}

static const char queue_text[] = "{\"metadata\":{\"name\":\"team\"},\"spec\":{\"cohortName\":"
                                 "\"all\",\"resourceGroups\":[{\"flavors\":["
                                 "{\"name\":\"f\",\"resources\":[{\"name\":\"cpu\","
                                 "\"nominalQuota\":4,\"lendingLimit\":\"1\"}]}]}]}}";

static enum sl_code get(void *self, enum sl_kind kind, const char *ns, const char *name,
                        struct sl_json **out, struct sl_error *e)
{
    (void)self;
    (void)kind;
    (void)ns;
    if (strcmp(name, "team") != 0) {
        return sl_error_set(e, SL_CODE_NOT_FOUND, "clusterqueues \"%s\" not found", name);
    }
    *out = parse(queue_text);
    return SL_CODE_OK;
}

static enum sl_code list(void *self, enum sl_kind kind, const char *ns, sl_visit_fn *visit,
                         void *context, struct sl_error *e)
{
    (void)self;
    (void)kind;
    (void)ns;
    (void)e;
    struct sl_json *queue = parse(queue_text);
    visit(context, queue);
    sl_json_free(queue);
    return SL_CODE_OK;
}

/* The stubs never look at the engine that they are given. */
static char engine;
static struct sl_pages pages = {.client = {.get = get, .list = list},
                                .engine = (struct sl_engine *)(void *)&engine};
#define BASE SL_PAGES_VISIBILITY

static struct sl_server_page visit_pending(const char *path, const char *query)
{
    struct sl_server_page page = {0};
    sl_pages_visibility(&pages, path, query, &page);
    return page;
}

static void test_pages_ready_only_when_decisions_are_made(void **state)
{
    (void)state;
    struct sl_server_page page = {0};
    stub.ready = false;
    sl_pages_ready(&pages, "/readyz", "", &page);
    assert_int_equal(page.status, 503);
    stub.ready = true;
    sl_pages_ready(&pages, "/readyz", "", &page);
    assert_int_equal(page.status, 200);
    sl_buf_fini(&page.body);
}

static bool say_ready(void *context)
{
    return *(bool *)context;
}

static void print_more(void *context, struct sl_buf *out)
{
    (void)context;
    sl_buf_text(out, "sluice_leader 0\n");
}

static void test_pages_of_a_standby_are_its_own_metrics_and_no_decisions(void **state)
{
    (void)state;
    bool ready = true;
    const struct sl_pages standby = {.client = {.get = get, .list = list},
                                     .ready = say_ready,
                                     .metrics = print_more,
                                     .context = &ready};
    struct sl_pages p = standby;
    struct sl_server_page page = {0};
    stub.ready = false;
    sl_pages_ready(&p, "/readyz", "", &page);
    assert_int_equal(page.status, 200);
    ready = false;
    sl_pages_ready(&p, "/readyz", "", &page);
    assert_int_equal(page.status, 503);
    sl_buf_reset(&page.body);
    sl_pages_metrics(&p, "/metrics", "", &page);
    assert_has(page.body.data, "kueue_build_info{");
    assert_has(page.body.data, "sluice_leader 0\n");
    assert_null(strstr(page.body.data, "kueue_pending_workloads"));
    sl_buf_reset(&page.body);
    sl_pages_visibility(&p, SL_PAGES_VISIBILITY "team/pendingworkloads", "", &page);
    assert_int_equal(page.status, 503);
    assert_has(page.body.data, "another instance makes the decisions");
    sl_buf_fini(&page.body);
}

static void test_pages_metrics_have_kueues_names_and_labels(void **state)
{
    (void)state;
    struct sl_server_page page = {0};
    static const char *const lines[] = {
        "kueue_pending_workloads{cluster_queue=\"team\",status=\"active\"} 7\n",
        "kueue_reserving_active_workloads{cluster_queue=\"team\"} 2\n",
        "kueue_admitted_active_workloads{cluster_queue=\"team\"} 1\n",
        "kueue_cluster_queue_status{cluster_queue=\"team\",status=\"active\"} 1\n",
        "kueue_cluster_queue_resource_reservation{cohort=\"all\",cluster_queue=\"team\",flavor="
        "\"f\","
        "resource=\"cpu\"} 1.500\n",
        "kueue_cluster_queue_nominal_quota{cohort=\"all\",cluster_queue=\"team\",flavor=\"f\","
        "resource=\"cpu\"} 4\n",
        "kueue_cluster_queue_lending_limit{cohort=\"all\",cluster_queue=\"team\",flavor=\"f\","
        "resource=\"cpu\"} 1\n",
        "kueue_cluster_queue_weighted_share{cluster_queue=\"team\",cohort=\"all\"} 333\n",
        "kueue_evicted_workloads_total{cluster_queue=\"team\",reason=\"Preempted\"} 6\n",
        "kueue_admission_attempts_total{result=\"success\"} 5\n",
        "kueue_finished_workloads 3\n",
        "sluice_core_bytes 999\n",
        "sluice_events_dropped_total 1\n"};
    stub.series = sl_map_new();
    sl_map_put(stub.series,
               "kueue_evicted_workloads_total{cluster_queue=\"team\",reason=\"Preempted\"}",
               (union sl_map_value){.number = 6});
    sl_pages_metrics(&pages, "/metrics", "", &page);
    sl_map_free(stub.series);
    for (size_t i = 0; i < sizeof lines / sizeof lines[0]; i++) {
        assert_has(page.body.data, lines[i]);
    }
    assert_null(strstr(page.body.data, "borrowing_limit{"));
    sl_buf_fini(&page.body);
}

static void test_pages_pending_of_a_queue_in_order(void **state)
{
    (void)state;
    stub.pending =
        "[{\"namespace\":\"n\",\"name\":\"a\",\"priority\":9,\"reason\":\"WaitingForQuota\"},"
        "{\"namespace\":\"n\",\"name\":\"b\"}]";
    struct sl_server_page page = visit_pending(BASE "team/pendingworkloads", "");
    assert_int_equal(page.status, 200);
    struct sl_json *summary = parse(page.body.data);
    assert_string_equal(sl_json_path_text(summary, "kind", ""), "PendingWorkloadsSummary");
    assert_string_equal(sl_json_path_text(summary, "items.0.metadata.name", ""), "a");
    assert_string_equal(sl_json_path_text(summary, "items.0.reason", ""), "WaitingForQuota");
    assert_int_equal(sl_json_len(sl_json_get(summary, "items")), 2);
    sl_json_free(summary);
    sl_buf_fini(&page.body);
}

static void test_pages_pending_offset_and_limit_cut_the_list(void **state)
{
    (void)state;
    stub.pending = "[{\"name\":\"a\"},{\"name\":\"b\"},{\"name\":\"c\"}]";
    static const struct {
        const char *query, *first;
        size_t count;
    } cases[] = {{"offset=1&limit=1", "b", 1}, {"limit=2", "a", 2},        {"x=1&offset=2", "c", 1},
                 {"offset=9", "", 0},          {"limit=nonsense", "a", 3}, {"limit=0", "", 0}};
    for (size_t i = 0; i < sizeof cases / sizeof cases[0]; i++) {
        struct sl_server_page page = visit_pending(BASE "team/pendingworkloads", cases[i].query);
        struct sl_json *summary = parse(page.body.data);
        assert_int_equal(sl_json_len(sl_json_get(summary, "items")), cases[i].count);
        assert_string_equal(sl_json_path_text(summary, "items.0.metadata.name", ""),
                            cases[i].first);
        sl_json_free(summary);
        sl_buf_fini(&page.body);
    }
}

static void test_pages_pending_of_unknown_queue_or_path_is_not_found(void **state)
{
    (void)state;
    static const char *const paths[] = {BASE "nobody/pendingworkloads",
                                        BASE "team",
                                        BASE,
                                        BASE "team/other",
                                        BASE "a/b/pendingworkloads",
                                        BASE "/pendingworkloads"};
    for (size_t i = 0; i < sizeof paths / sizeof paths[0]; i++) {
        struct sl_server_page page = visit_pending(paths[i], "");
        assert_int_equal(page.status, 404);
        struct sl_json *status = parse(page.body.data);
        assert_string_equal(sl_json_path_text(status, "kind", ""), "Status");
        sl_json_free(status);
        sl_buf_fini(&page.body);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_pages_ready_only_when_decisions_are_made),
        cmocka_unit_test(test_pages_of_a_standby_are_its_own_metrics_and_no_decisions),
        cmocka_unit_test(test_pages_metrics_have_kueues_names_and_labels),
        cmocka_unit_test(test_pages_pending_of_a_queue_in_order),
        cmocka_unit_test(test_pages_pending_offset_and_limit_cut_the_list),
        cmocka_unit_test(test_pages_pending_of_unknown_queue_or_path_is_not_found),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
