/* SPDX-License-Identifier: Apache-2.0
 * SPDX-FileCopyrightText: The Sluice authors */

/* /readyz and /metrics; engine, controllers and client are stubs. */
#include "t.h"
#include "base/effort.h"
#include "cli/pages/pages.h"
#include "engine/figures.h"
#include <math.h>
#include <stdio.h>

static struct {
    bool ready;
    size_t copies; /* of the ClusterQueue */
    struct sl_workload_meters meters;
} stub;

bool sl_controllers_ready(const struct sl_controllers *c)
{
    (void)c;
    return stub.ready;
}

void sl_controllers_count(const struct sl_controllers *c, struct sl_controller_counters *out)
{
    (void)c;
    *out = (struct sl_controller_counters){.meters = &stub.meters, .events_dropped = 1};
}

void sl_engine_count(const struct sl_engine *g, struct sl_engine_counters *out)
{
    (void)g;
    *out = (struct sl_engine_counters){
        .finished = 3, .admitted = 4, .journal_lost = 2, .core_bytes = 999};
}

bool sl_engine_queue_figures(const struct sl_engine *g, enum sl_kind kind, const char *ns,
                             const char *name, struct sl_queue_figures *out)
{
    (void)g;
    assert_string_equal(ns, kind == SL_KIND_LOCAL_QUEUE ? "n" : "");
    *out = (struct sl_queue_figures){.active = 5,
                                     .inadmissible = 2,
                                     .reserving = 4,
                                     .admitted = 3,
                                     .finished = 6,
                                     .open = true,
                                     .preemption_skips = 2,
                                     .deferred_fits = 7,
                                     .skipped_targets = 1};
    return strcmp(name, "gone") != 0;
}

bool sl_engine_queue_fair_usage(const struct sl_engine *g, const char *ns, const char *name,
                                const char **cluster_queue, double *usage)
{
    (void)g;
    (void)ns;
    *cluster_queue = "team";
    *usage = 1.5;
    return strcmp(name, "lq") == 0;
}

void sl_engine_queue_usages(const struct sl_engine *g, const char *ns, const char *name,
                            sl_usage_fn *visit, void *context)
{
    (void)g;
    assert_string_equal(ns, "n");
    assert_int_equal(strncmp(name, "lq", 2), 0);
    visit(context, &(struct sl_queue_usage){"f", "cpu", 2500, 1000});
}

void sl_engine_each_qnode(const struct sl_engine *g, sl_qnode_fn *visit, void *context)
{
    (void)g;
    visit(context, SL_KIND_CLUSTER_QUEUE, "gone");
    for (size_t i = 0; i < stub.copies + 1; i++) {
        visit(context, SL_KIND_CLUSTER_QUEUE, "team");
    }
    visit(context, SL_KIND_COHORT, "team");
}

void sl_engine_tree(const struct sl_engine *g, sl_tree_fn *visit, void *context)
{
    (void)g;
    visit(context, &(struct sl_tree_qnode){SL_KIND_CLUSTER_QUEUE, "team", "all", "org", 2});
    visit(context, &(struct sl_tree_qnode){SL_KIND_COHORT, "all", "org", "org", 3});
}

void sl_engine_cohort_quotas(const struct sl_engine *g, sl_cohort_quota_fn *visit, void *context)
{
    (void)g;
    visit(context, &(struct sl_cohort_quota){"all", "f", "cpu", 4000, 2500});
    visit(context, &(struct sl_cohort_quota){"all", "g", "cpu", SL_AMOUNT_UNLIMITED, 0});
}

void sl_engine_pending_requests(const struct sl_engine *g, const char *cluster_queue,
                                sl_amount_fn *visit, void *context)
{
    (void)g;
    assert_string_equal(cluster_queue, "team");
    visit(context, "cpu", 1500);
    visit(context, "pods", 3);
}

void sl_engine_unadmitted(const struct sl_engine *g, enum sl_kind kind, const char *ns,
                          const char *name, sl_unadmitted_fn *visit, void *context)
{
    (void)g;
    assert_string_equal(ns, kind == SL_KIND_LOCAL_QUEUE ? "n" : "");
    assert_true(strcmp(name, "team") == 0 || strncmp(name, "lq", 2) == 0);
    visit(context, &(struct sl_unadmitted){"team", "NoReservation", "WaitingForQuota", 5});
}

bool sl_engine_pending_shapes(const struct sl_engine *g, const char *cluster_queue,
                              struct sl_pending_shapes *out)
{
    (void)g;
    *out = (struct sl_pending_shapes){.active = 2, .inadmissible = 1};
    return strcmp(cluster_queue, "team") == 0;
}

struct sl_marks {
    size_t steps;
};

struct sl_marks *sl_marks_new(const struct sl_engine *g, uint32_t mark_count)
{
    (void)g;
    static struct sl_marks marks;
    assert_int_equal(mark_count, 2);
    marks.steps = 3;
    return &marks;
}

void sl_marks_free(struct sl_marks *m)
{
    assert_true(m == NULL || m->steps == 0);
}

bool sl_marks_go_on(struct sl_marks *m)
{
    return --m->steps > 0;
}

const struct sl_marked *sl_marks_of(const struct sl_marks *m, enum sl_kind kind, const char *ns,
                                    const char *name)
{
    static const struct sl_marked marked[] = {{1, 2, 3}, {0, 5, 0}};
    assert_int_equal(m->steps, 0);
    assert_string_equal(ns, kind == SL_KIND_LOCAL_QUEUE ? "n" : "");
    return strcmp(name, "team") == 0 || strcmp(name, "lq") == 0 ? marked : NULL;
}

bool sl_engine_weighted_share(const struct sl_engine *g, enum sl_kind kind, const char *name,
                              double *out)
{
    (void)g;
    (void)name;
    *out = kind == SL_KIND_COHORT ? NAN : 1000.0 / 3;
    return true;
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
                                 "\"nominalQuota\":4,\"lendingLimit\":1.5}]}]}]}}";

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

/* The stubs never look at the engine that they are given. */
static char engine;
static struct sl_pages pages = {.client = {.get = get},
                                .engine = (struct sl_engine *)(void *)&engine};

/* The whole of /metrics; no slice of it is much more than it may be. How many there were. */
static size_t scrape(struct sl_pages *p, struct sl_server_page *page)
{
    size_t slices = 1;
    sl_pages_metrics(p, "/metrics", "", page);
    uint64_t before = sl_effort_steps;
    while (page->rest->go_on(page->rest, page)) {
        assert_in_range(sl_effort_steps - before, SL_PAGE_SLICE_STEPS, SL_PAGE_SLICE_STEPS * 2);
        before = sl_effort_steps;
        slices++;
    }
    page->rest->free(page->rest);
    page->rest = NULL;
    return slices;
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

static void test_pages_of_a_standby_are_its_own_metrics(void **state)
{
    (void)state;
    bool ready = true;
    const struct sl_pages standby = {
        .client = {.get = get}, .ready = say_ready, .metrics = print_more, .context = &ready};
    struct sl_pages p = standby;
    struct sl_server_page page = {0};
    stub.ready = false;
    sl_pages_ready(&p, "/readyz", "", &page);
    assert_int_equal(page.status, 200);
    ready = false;
    sl_pages_ready(&p, "/readyz", "", &page);
    assert_int_equal(page.status, 503);
    sl_buf_reset(&page.body);
    (void)scrape(&p, &page);
    assert_has(page.body.data, "kueue_build_info{");
    assert_has(page.body.data, "sluice_leader 0\n");
    assert_null(strstr(page.body.data, "kueue_pending_workloads"));
    sl_buf_fini(&page.body);
}

static void test_pages_metrics_have_kueues_names_and_labels(void **state)
{
    (void)state;
    struct sl_server_page page = {0};
    static const char *const lines[] = {
        "kueue_pending_workloads{cluster_queue=\"team\",status=\"active\",replica_role="
        "\"standalone\"} 5\n",
        "kueue_pending_workloads{cluster_queue=\"team\",status=\"inadmissible\",replica_role="
        "\"standalone\"} 2\n",
        "kueue_reserving_active_workloads{cluster_queue=\"team\",replica_role=\"standalone\"} 2\n",
        "kueue_admitted_active_workloads{cluster_queue=\"team\",replica_role=\"standalone\"} 1\n",
        "kueue_cluster_queue_status{cluster_queue=\"team\",status=\"active\",replica_role="
        "\"standalone\"} 1\n",
        "kueue_cluster_queue_resource_reservation{cohort=\"all\",cluster_queue=\"team\",flavor="
        "\"f\","
        "resource=\"cpu\",replica_role=\"standalone\"} 1.500\n",
        "kueue_cluster_queue_nominal_quota{cohort=\"all\",cluster_queue=\"team\",flavor=\"f\","
        "resource=\"cpu\",replica_role=\"standalone\"} 4\n",
        "kueue_cluster_queue_lending_limit{cohort=\"all\",cluster_queue=\"team\",flavor=\"f\","
        "resource=\"cpu\",replica_role=\"standalone\"} 1.500\n",
        "kueue_cluster_queue_weighted_share{cluster_queue=\"team\",cohort=\"all\",replica_role="
        "\"standalone\"} 333.3333333333333\n",
        "kueue_evicted_workloads_total{cluster_queue=\"team\",reason=\"Preempted\",replica_role="
        "\"standalone\"} 1\n",
        "kueue_admission_wait_time_seconds_bucket{cluster_queue=\"team\",replica_role="
        "\"standalone\",le=\"5\"} 1\n",
        "kueue_cohort_weighted_share{cohort=\"team\",replica_role=\"standalone\"} NaN\n",
        "kueue_admission_attempts_total{result=\"success\",replica_role=\"standalone\"} 1\n",
        "kueue_finished_workloads{cluster_queue=\"team\",replica_role=\"standalone\"} 6\n",
        "kueue_cluster_queue_borrowing_limit{cohort=\"all\",cluster_queue=\"team\",flavor=\"f\","
        "resource=\"cpu\",replica_role=\"standalone\"} +Inf\n",
        "kueue_cluster_queue_info{cluster_queue=\"team\",parent_cohort=\"all\",root_cohort=\"org\","
        "replica_role=\"standalone\"} 1\n",
        "kueue_cluster_queue_status{cluster_queue=\"team\",status=\"terminating\",replica_role="
        "\"standalone\"} 0\n",
        "kueue_cluster_queue_resource_pending{cluster_queue=\"team\",resource=\"cpu\",replica_role="
        "\"standalone\"} 1.500\n",
        "kueue_cluster_queue_resource_pending{cluster_queue=\"team\",resource=\"pods\",replica_"
        "role="
        "\"standalone\"} 3\n",
        "kueue_unadmitted_workloads{cluster_queue=\"team\",reason=\"NoReservation\","
        "underlying_cause=\"WaitingForQuota\",replica_role=\"standalone\"} 5\n",
        "kueue_pending_scheduling_hashes{cluster_queue=\"team\",status=\"active\",replica_role="
        "\"standalone\"} 2\n",
        "kueue_admission_cycle_preemption_skips{cluster_queue=\"team\",replica_role="
        "\"standalone\"} 2\n",
        "# TYPE kueue_preemption_target_recomputations_total counter\n"
        "kueue_preemption_target_recomputations_total{cluster_queue=\"team\",result="
        "\"deferred_fit\",replica_role=\"standalone\"} 7\n"
        "kueue_preemption_target_recomputations_total{cluster_queue=\"team\",result=\"skipped\","
        "replica_role=\"standalone\"} 1\n",
        "kueue_cohort_info{cohort=\"all\",parent_cohort=\"org\",root_cohort=\"org\","
        "replica_role=\"standalone\"} 1\n",
        "kueue_cohort_subtree_admitted_active_workloads{cohort=\"all\",replica_role="
        "\"standalone\"} 3\n",
        "kueue_cohort_subtree_quota{cohort=\"all\",flavor=\"f\",resource=\"cpu\",replica_role="
        "\"standalone\"} 4\n",
        "kueue_cohort_subtree_quota{cohort=\"all\",flavor=\"g\",resource=\"cpu\",replica_role="
        "\"standalone\"} +Inf\n",
        "kueue_cohort_subtree_resource_reservations{cohort=\"all\",flavor=\"f\",resource=\"cpu\","
        "replica_role=\"standalone\"} 2.500\n",
        "sluice_metrics_dropped_total 0\n",
        "sluice_core_bytes 999\n",
        "sluice_journal_lost_total 2\n",
        "sluice_events_dropped_total 1\n"};
    sl_workload_meters_init(&stub.meters, (struct sl_metered){.cohorts = true, .unadmitted = true});
    sl_meters_count(&stub.meters.meters,
                    &(struct sl_series){"kueue_evicted_workloads_total", "team",
                                        "cluster_queue=\"team\",reason="
                                        "\"Preempted\""});
    sl_workload_meters_attempt(&stub.meters, true, 1);
    sl_meters_time(
        &stub.meters.meters,
        &(struct sl_series){"kueue_admission_wait_time_seconds", "team", "cluster_queue=\"team\""},
        SL_METER_WAITS, 3000000);
    (void)scrape(&pages, &page);
    sl_workload_meters_fini(&stub.meters);
    for (size_t i = 0; i < sizeof lines / sizeof lines[0]; i++) {
        assert_has(page.body.data, lines[i]);
    }
    assert_null(strstr(page.body.data, "reservations{cohort=\"all\",flavor=\"g\""));
    assert_null(strstr(page.body.data, "local_queue")); /* they are off */
    assert_null(strstr(page.body.data, "new_targets")); /* there were none */
    sl_buf_fini(&page.body);
}

static void test_pages_metrics_of_local_queues_are_those_that_have_some(void **state)
{
    (void)state;
#define OF "name=\"lq\",namespace=\"n\""
#define ROLE ",replica_role=\"standalone\",custom_team=\"\"} "
    static const char *const lines[] = {
        "kueue_local_queue_pending_workloads{" OF ",status=\"active\"" ROLE "5\n",
        "kueue_local_queue_pending_workloads{" OF ",status=\"inadmissible\"" ROLE "2\n",
        "kueue_local_queue_reserving_active_workloads{" OF ROLE "4\n",
        "kueue_local_queue_admitted_active_workloads{" OF ROLE "3\n",
        "kueue_local_queue_finished_workloads{" OF ROLE "6\n",
        "kueue_local_queue_status{" OF ",active=\"True\"" ROLE "1\n",
        "kueue_local_queue_status{" OF ",active=\"False\"" ROLE "0\n",
        "kueue_local_queue_resource_reservation{" OF ",flavor=\"f\",resource=\"cpu\"" ROLE
        "2.500\n",
        "kueue_local_queue_resource_usage{" OF ",flavor=\"f\",resource=\"cpu\"" ROLE "1\n",
        "kueue_local_queue_admission_fair_sharing_usage{" OF ",cluster_queue=\"team\"" ROLE "1.5\n",
        "kueue_local_queue_unadmitted_workloads{" OF ",cluster_queue=\"team\",reason="
        "\"NoReservation\",underlying_cause=\"WaitingForQuota\"" ROLE "5\n",
        "kueue_local_queue_finished_workloads_total{" OF
        ",priority_class=\"\",custom_team=\"\",replica_role=\"standalone\"} 1\n"};
    static const char *const names[] = {"lq", "gone"};
    struct sl_server_page page = {0};
    static const struct sl_custom_label label = {SL_KIND_LOCAL_QUEUE, "team", "team", NULL, NULL};
    const struct sl_custom_labels custom = {1, &label};
    sl_workload_meters_init(&stub.meters,
                            (struct sl_metered){.on = true, .unadmitted = true, .custom = &custom});
    for (size_t i = 0; i < 2; i++) {
        struct sl_json *queue = sl_object_new(SL_KIND_LOCAL_QUEUE, "n", names[i]);
        sl_workload_meters_observe(&stub.meters, SL_KIND_LOCAL_QUEUE, queue, false);
        sl_json_free(queue);
    }
    struct sl_json *wl =
        parse("{\"metadata\":{\"namespace\":\"n\"},\"spec\":{\"queueName\":\"lq\"}}");
    sl_workload_meters_finished(&stub.meters, wl);
    (void)scrape(&pages, &page);
    for (size_t i = 0; i < sizeof lines / sizeof lines[0]; i++) {
        assert_has(page.body.data, lines[i]);
    }
    assert_null(strstr(page.body.data, "gone"));
    assert_null(strstr(page.body.data, "kueue_cohort_info")); /* they are off */
    sl_json_free(wl);
    sl_workload_meters_fini(&stub.meters);
    sl_buf_fini(&page.body);
}

static void test_pages_metrics_count_workloads_by_their_labels(void **state)
{
    (void)state;
    static const char lines[] =
        "kueue_pending_workloads{cluster_queue=\"team\",status=\"active\",replica_role="
        "\"standalone\",custom_sort=\"batch\"} 1\n"
        "kueue_pending_workloads{cluster_queue=\"team\",status=\"inadmissible\",replica_role="
        "\"standalone\",custom_sort=\"batch\"} 2\n"
        "kueue_pending_workloads{cluster_queue=\"team\",status=\"inadmissible\",replica_role="
        "\"standalone\",custom_sort=\"kueue.x-k8s.io/_UNTRACKED_VALUE_\"} 5\n#";
    struct sl_server_page page = {0};
    struct sl_json *tracked = parse("[\"batch\"]");
    const struct sl_custom_label label = {SL_KIND_WORKLOAD, "sort", "sort", NULL, tracked};
    const struct sl_custom_labels custom = {1, &label};
    sl_workload_meters_init(&stub.meters, (struct sl_metered){.on = true, .custom = &custom});
    struct sl_json *queue = sl_object_new(SL_KIND_LOCAL_QUEUE, "n", "lq");
    sl_workload_meters_observe(&stub.meters, SL_KIND_LOCAL_QUEUE, queue, false);
    (void)scrape(&pages, &page);
    assert_has(page.body.data, lines);
    assert_has(page.body.data, "kueue_admitted_active_workloads{cluster_queue=\"team\","
                               "replica_role=\"standalone\",custom_sort=\"batch\"} 3\n#");
    assert_has(page.body.data, "kueue_local_queue_admitted_active_workloads{name=\"lq\","
                               "namespace=\"n\",replica_role=\"standalone\",custom_sort="
                               "\"batch\"} 3\n#");
    sl_json_free(queue);
    sl_json_free(tracked);
    sl_workload_meters_fini(&stub.meters);
    sl_buf_fini(&page.body);
}

static size_t count_of(const char *text, const char *part)
{
    size_t count = 0;
    for (const char *at = text; (at = strstr(at, part)) != NULL; at++) {
        count++;
    }
    return count;
}

/* As many turns as it takes, each family in one piece all the same. */
static void test_pages_metrics_of_many_queues_are_written_in_slices(void **state)
{
    (void)state;
    struct sl_server_page page = {0};
    stub.copies = 1999;
    sl_workload_meters_init(&stub.meters, (struct sl_metered){.on = true});
    for (size_t i = 0; i < 2000; i++) {
        char name[20];
        (void)snprintf(name, sizeof name, "lq%zu", i);
        struct sl_json *queue = sl_object_new(SL_KIND_LOCAL_QUEUE, "n", name);
        sl_workload_meters_observe(&stub.meters, SL_KIND_LOCAL_QUEUE, queue, false);
        sl_json_free(queue);
    }
    assert_true(scrape(&pages, &page) > 5);
    static const char *const once[] = {
        "# TYPE kueue_pending_workloads ", "# TYPE kueue_cluster_queue_status ",
        "# TYPE kueue_local_queue_resource_usage ", "kueue_build_info{"};
    for (size_t i = 0; i < sizeof once / sizeof once[0]; i++) {
        assert_int_equal(count_of(page.body.data, once[i]), 1);
    }
    assert_int_equal(count_of(page.body.data, "\nkueue_cluster_queue_nominal_quota{"), 2000);
    assert_int_equal(count_of(page.body.data, "\nkueue_local_queue_resource_usage{"), 2000);
    assert_null(strstr(page.body.data, "gone"));
    sl_buf_reset(&page.body);
    sl_pages_metrics(&pages, "/metrics", "", &page);
    assert_true(page.rest->go_on(page.rest, &page)); /* the client has left */
    page.rest->free(page.rest);
    stub.copies = 0;
    sl_workload_meters_fini(&stub.meters);
    sl_buf_fini(&page.body);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_pages_ready_only_when_decisions_are_made),
        cmocka_unit_test(test_pages_of_a_standby_are_its_own_metrics),
        cmocka_unit_test(test_pages_metrics_have_kueues_names_and_labels),
        cmocka_unit_test(test_pages_metrics_of_local_queues_are_those_that_have_some),
        cmocka_unit_test(test_pages_metrics_count_workloads_by_their_labels),
        cmocka_unit_test(test_pages_metrics_of_many_queues_are_written_in_slices),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
