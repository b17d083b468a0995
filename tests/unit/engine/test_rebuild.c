/* SPDX-License-Identifier: Apache-2.0
 * SPDX-FileCopyrightText: The Sluice authors */

/* G10: an engine rebuilt from the objects is where living through the events has brought the old
 * one. */
#include "engine/calls/call.h"
#include "engine/journal/intern.h"
#include "engine/state.h"
#include "history.h"
#include "scene.h"
#include "kernel/commit/commit.h"

static const enum sl_kind orders[][7] = {
    {SL_KIND_NAMESPACE, SL_KIND_RESOURCE_FLAVOR, SL_KIND_COHORT, SL_KIND_CLUSTER_QUEUE,
     SL_KIND_LOCAL_QUEUE, SL_KIND_WORKLOAD, SL_KIND_ADMISSION_CHECK},
    {SL_KIND_WORKLOAD, SL_KIND_LOCAL_QUEUE, SL_KIND_CLUSTER_QUEUE, SL_KIND_COHORT,
     SL_KIND_ADMISSION_CHECK, SL_KIND_RESOURCE_FLAVOR, SL_KIND_NAMESPACE},
    {SL_KIND_LOCAL_QUEUE, SL_KIND_WORKLOAD, SL_KIND_COHORT, SL_KIND_RESOURCE_FLAVOR,
     SL_KIND_ADMISSION_CHECK, SL_KIND_CLUSTER_QUEUE, SL_KIND_NAMESPACE}};

/* Whoever stands somewhere needs the trees first: so do the controllers list kinds. */
static const enum sl_kind with_nodes[] = {
    SL_KIND_NAMESPACE, SL_KIND_TOPOLOGY,       SL_KIND_NODE,        SL_KIND_RESOURCE_FLAVOR,
    SL_KIND_COHORT,    SL_KIND_CLUSTER_QUEUE,  SL_KIND_LOCAL_QUEUE, SL_KIND_POD,
    SL_KIND_WORKLOAD,  SL_KIND_ADMISSION_CHECK};

/* Waiting in line is one place here: which of the two depends on when it was last looked at. */
static const char *place_name(sl_workload_id id)
{
    switch (sl_place_of(id)) {
    case SL_PLACE_HEAP:
    case SL_PLACE_INADMISSIBLE:
        return "line";
    case SL_PLACE_HOLDING:
        return "holding";
    case SL_PLACE_ORPHANED:
        return "orphaned";
    case SL_PLACE_DORMANT:
        return "dormant";
    case SL_PLACE_DONE:
        return "done";
    default:
        return "?";
    }
}

/* Of those that wait behind their like only one is asked again, so which reason the others show is
 * history; and so is which of two preemptors of the same victim stays at the head. */
static int reason_class(const struct sl_workload *r)
{
    if (r->phase != SL_PHASE_PENDING || r->pending_reason <= SL_PENDING_TOPOLOGY_FAILED ||
        r->pending_reason == SL_PENDING_PREEMPTED_WORKLOADS) {
        return -1;
    }
    return (int)r->pending_reason;
}

/* By name: numbers are another engine's. */
static void describe_stands(struct world *world, sl_workload_id id, struct sl_buf *out)
{
    for (uint32_t i = 0; i < sl_topology_assignment_count(id); i++) {
        struct sl_domain_assignment s = sl_topology_assignment_at(id, i);
        sl_buf_print(out, " %u@%s*%u", s.pod_set,
                     sl_names_host(world->engine, sl_domain_site(s.domain)), s.count);
    }
}

/* What the two must agree on, as text: per queue its status, per workload its record. */
static void describe(struct world *world, struct sl_buf *out)
{
    size_t cursor = 0;
    const char *key;
    union sl_map_value value;
    while (sl_map_next(world->objects, &cursor, &key, &value)) {
        enum sl_kind kind = (enum sl_kind)atoi(key);
        const struct sl_json *o = value.pointer;
        if (kind == SL_KIND_CLUSTER_QUEUE || kind == SL_KIND_LOCAL_QUEUE) {
            struct sl_json *status = sl_engine_queue_status(
                world->engine, kind, sl_object_namespace(o), sl_object_name(o));
            sl_buf_print(out, "%s ", key);
            sl_json_print(status, out);
            sl_buf_text(out, "\n");
            sl_json_free(status);
        } else if (kind == SL_KIND_WORKLOAD) {
            sl_workload_id id =
                sl_intern_find(world->engine->names, SL_INTERN_WORKLOAD, strchr(key, '/') + 1);
            assert_int_not_equal(id, SL_NO_ID);
            const struct sl_workload *r = &sl_workloads[id];
            if (r->phase == SL_PHASE_FINISHED) { /* its past matters to nobody any more */
                sl_buf_print(out, "%s finished, place %s\n", key, place_name(id));
                continue;
            }
            sl_buf_print(
                out,
                "%s phase %d place %s active %d gated %d pending %d evicted %d requeued %d "
                "admitted %d accumulated %lld checks %u",
                key, r->phase, place_name(id), r->active, r->gated, reason_class(r), r->evicted,
                r->requeued, r->was_admitted, (long long)r->accumulated_ms,
                r->has_admission ? r->check_count : 0);
            for (uint32_t i = 0; i < sl_commit_usage_count(id); i++) {
                sl_buf_print(out, " %lld", (long long)sl_commit_usage(id, i).amount);
            }
            describe_stands(world, id, out);
            sl_buf_text(out, "\n");
        }
    }
}

static void expect_same(const struct sl_buf *a, const struct sl_buf *b)
{
    const char *x = a->data;
    const char *y = b->data;
    if (strcmp(x, y) == 0) {
        return;
    }
    while (*x != '\0') {
        const char *end_x = strchr(x, '\n');
        const char *end_y = strchr(y, '\n');
        if (end_x - x != end_y - y || strncmp(x, y, (size_t)(end_x - x)) != 0) {
            fail_msg("lived:   %.*s\nrebuilt: %.*s", (int)(end_x - x), x, (int)(end_y - y), y);
        }
        x = end_x + 1;
        y = end_y + 1;
    }
}

static void restart_in_order(const enum sl_kind *order, size_t count)
{
    struct sl_buf lived = {0};
    struct sl_buf rebuilt = {0};
    world_settle(&w);
    describe(&w, &lived);
    world_restart(&w, order, count);
    world_check(&w);
    world_settle(&w);
    describe(&w, &rebuilt);
    expect_same(&lived, &rebuilt);
    sl_buf_fini(&lived);
    sl_buf_fini(&rebuilt);
}

static void restart_and_compare(unsigned order)
{
    restart_in_order(orders[order], 7);
}

/* G13: whoever could be served, or preempt, has been looked at: waking all changes nothing. */
static void wake_and_compare(void)
{
    struct sl_buf rested = {0};
    struct sl_buf woken = {0};
    world_settle(&w);
    describe(&w, &rested);
    for (sl_qnode_id node = 0; node < w.engine->qnode_cap; node++) {
        if (w.engine->qnodes[node] != NULL) {
            sl_tell(w.engine, w.now_ms, wake_tree, .qnode = node);
        }
    }
    world_settle(&w);
    describe(&w, &woken);
    expect_same(&rested, &woken);
    sl_buf_fini(&rested);
    sl_buf_fini(&woken);
}

static void test_rebuild_random_histories_lose_no_wake_up(void **state)
{
    (void)state;
    struct sl_engine_settings fair = sl_engine_settings_default();
    fair.policy.fair_sharing = true;
    for (uint64_t seed = 101; seed <= 115; seed++) {
        struct history h;
        world_close(&w);
        world_open_with(&w, NULL, seed % 3 == 0 ? &fair : NULL);
        history_begin(&h, &w, seed);
        for (unsigned i = 0; i < 150; i++) {
            history_step(&h);
            if (history_draw(&h, 8) == 0) {
                wake_and_compare();
            }
        }
        w.settings = NULL;
    }
}

static void test_rebuild_random_histories_end_where_living_did(void **state)
{
    (void)state;
    struct sl_engine_settings fair = sl_engine_settings_default();
    fair.policy.fair_sharing = true;
    for (uint64_t seed = 1; seed <= 15; seed++) {
        struct history h;
        world_close(&w);
        world_open_with(&w, NULL, seed % 3 == 0 ? &fair : NULL);
        history_begin(&h, &w, seed);
        print_message("seed %u\n", (unsigned)seed);
        for (unsigned i = 0; i < 150; i++) {
            history_step(&h);
            if (history_draw(&h, 3) != 0) {
                world_settle(&w);
            }
            if (history_draw(&h, 10) == 0) {
                restart_and_compare(history_draw(&h, 3));
            }
        }
        restart_and_compare((unsigned)(seed % 3));
        w.settings = NULL; /* they end with this function */
    }
}

static void test_rebuild_random_histories_with_nodes_lose_no_wake_up(void **state)
{
    (void)state;
    for (uint64_t seed = 201; seed <= 215; seed++) {
        struct history h;
        world_close(&w);
        world_open(&w, NULL);
        history_begin(&h, &w, seed);
        history_add_topology(&h);
        print_message("seed %u\n", (unsigned)seed);
        for (unsigned i = 0; i < 150; i++) {
            history_step(&h);
            if (history_draw(&h, 8) == 0) {
                wake_and_compare();
            }
        }
    }
}

/* Who stays at the head of its queue until its victims have stopped is history: without preemption. */
static void test_rebuild_random_histories_with_nodes_end_where_living_did(void **state)
{
    (void)state;
    for (uint64_t seed = 301; seed <= 315; seed++) {
        struct history h;
        world_close(&w);
        world_open(&w, NULL);
        history_begin(&h, &w, seed);
        history_add_topology(&h);
        (void)world_patch(&w, SL_KIND_CLUSTER_QUEUE, "", "cq4", "{\"spec\":{\"preemption\":null}}");
        print_message("seed %u\n", (unsigned)seed);
        for (unsigned i = 0; i < 150; i++) {
            history_step(&h);
            if (history_draw(&h, 3) != 0) {
                world_settle(&w);
            }
            if (history_draw(&h, 10) == 0) {
                restart_in_order(with_nodes, sizeof with_nodes / sizeof with_nodes[0]);
            }
        }
    }
}

static void test_rebuild_charges_what_runs_even_over_quota(void **state)
{
    (void)state;
    world_add_basics(&w);
    world_add_workload(&w, "a", "lq", 1, "8");
    world_settle(&w);
    struct sl_json *o = sl_json_clone(world_get(&w, SL_KIND_CLUSTER_QUEUE, "", "cq"));
    sl_json_set_int(sl_json_path(o, "spec.resourceGroups.0.flavors.0.resources.0"), "nominalQuota",
                    3);
    (void)world_put(&w, SL_KIND_CLUSTER_QUEUE, o, NULL);
    world_add_workload(&w, "b", "lq", 1, "1");
    world_settle(&w);
    unsigned before = w.writes;
    restart_and_compare(0);
    assert_int_equal(w.writes, before); /* it was at rest, so nothing is left to be written */
    world_expect(&w, "a", "Admitted", "True", "Admitted");
    world_expect(&w, "b", "QuotaReserved", "False", "WaitingForQuota");
}

static void test_rebuild_reservation_of_a_missing_queue_is_kept_while_it_runs(void **state)
{
    (void)state;
    world_add_basics(&w);
    world_add_workload(&w, "a", "lq", 1, "8");
    world_settle(&w);
    world_delete(&w, SL_KIND_CLUSTER_QUEUE, "", "cq");
    restart_and_compare(1);
    assert_true(sl_condition_true(world_workload(&w, "a"), "Admitted"));
}

static void test_rebuild_reserved_without_admission_is_given_back(void **state)
{
    (void)state;
    world_add_basics(&w);
    world_add_workload(&w, "a", "lq", 1, "8");
    world_settle(&w);
    struct sl_json *copy = sl_json_clone(world_workload(&w, "a"));
    sl_json_set_text(sl_json_path(copy, "status.admission.podSetAssignments.0.resourceUsage"),
                     "cpu", "much");
    char key[300];
    world_key(SL_KIND_WORKLOAD, "team", "a", key);
    union sl_map_value old;
    assert_true(sl_map_get(w.objects, key, &old));
    sl_map_put(w.objects, key, (union sl_map_value){.pointer = copy});
    sl_json_free(old.pointer);
    world_restart(&w, orders[0], 7);
    world_settle(&w);
    world_expect(&w, "a", "Admitted", "True", "Admitted"); /* from the start */
    assert_string_equal(sl_json_path_text(world_workload(&w, "a"),
                                          "status.admission.podSetAssignments.0.resourceUsage.cpu",
                                          ""),
                        "8");
}

static void test_rebuild_unwritten_admission_is_written(void **state)
{
    (void)state;
    world_add_basics(&w);
    world_add_workload(&w, "a", "lq", 1, "8");
    world_settle(&w);
    struct sl_json *o = world_workload(&w, "a");
    (void)sl_condition_remove(sl_json_get(o, "status"), "Admitted");
    world_restart(&w, orders[0], 7);
    world_settle(&w);
    world_expect(&w, "a", "Admitted", "True", "Admitted");
}

static void add_checked(void)
{
    world_add_check(&w, "check");
    world_add_flavor(&w, "spot", "{}");
    world_add_cluster_queue(
        &w, "cq", "spot", "10",
        ",\"admissionChecksStrategy\":{\"admissionChecks\":[{\"name\":\"check\"}]}");
    world_add_local_queue(&w, "team", "lq", "cq");
    sl_engine_synced(w.engine, w.now_ms);
    world_add_workload(&w, "a", "lq", 1, "8");
    world_settle(&w);
    world_expect(&w, "a", "QuotaReserved", "True", "QuotaReserved");
}

/* The last run ended between the write that deactivated "a" and the one that evicts it. */
static void deactivated_halfway(const char *cause, const char *message)
{
    struct sl_json *o = world_workload(&w, "a");
    sl_json_set_bool(sl_json_get(o, "spec"), "active", false);
    (void)sl_condition_set(sl_json_get(o, "status"), "DeactivationTarget", true, cause, message, 1,
                           w.now_ms);
    world_restart(&w, orders[0], 7);
    world_settle(&w);
}

/* Its check is open again by then: only the condition still knows. */
static void test_rebuild_eviction_says_which_answer_deactivated_it(void **state)
{
    (void)state;
    add_checked();
    deactivated_halfway("AdmissionCheck", "check said no");
    world_expect(&w, "a", "Evicted", "True", "DeactivatedDueToAdmissionCheck");
    const struct sl_json *c = sl_condition_find(world_workload(&w, "a"), "Evicted");
    assert_string_equal(sl_json_path_text(c, "message", ""),
                        "The workload is deactivated due to check said no");
    assert_null(sl_condition_find(world_workload(&w, "a"), "DeactivationTarget"));
    assert_int_equal(sl_workloads[0].check_count, 1); /* its own, and nothing in its place */
}

static void test_rebuild_eviction_says_that_its_time_was_over(void **state)
{
    (void)state;
    world_add_basics(&w);
    world_add_limited(&w, "a", 60);
    world_settle(&w);
    w.now_ms += 60000;
    deactivated_halfway("MaximumExecutionTimeExceeded", "");
    world_expect(&w, "a", "Evicted", "True", "DeactivatedDueToMaximumExecutionTimeExceeded");
}

static void test_rebuild_eviction_says_that_it_was_requeued_too_often(void **state)
{
    (void)state;
    world_add_basics(&w);
    world_add_workload(&w, "a", "lq", 1, "1");
    world_settle(&w);
    deactivated_halfway("RequeuingLimitExceeded", "");
    world_expect(&w, "a", "Evicted", "True", "DeactivatedDueToRequeuingLimitExceeded");
}

static void test_rebuild_eviction_says_no_more_than_the_object_did(void **state)
{
    (void)state;
    world_add_basics(&w);
    world_add_workload(&w, "a", "lq", 1, "1");
    world_settle(&w);
    deactivated_halfway("SomethingElse", "");
    world_expect(&w, "a", "Evicted", "True", "Deactivated");
}

/* The last run ended between the answer of a check and what follows from it, while its queue was being deleted. */
static void test_rebuild_rejected_by_a_check_is_deactivated(void **state)
{
    (void)state;
    add_checked();
    struct sl_json *o = world_workload(&w, "a");
    sl_json_set_text(sl_json_path(o, "status.admissionChecks.0"), "state", "Rejected");
    sl_json_set_text(sl_json_get(world_get(&w, SL_KIND_CLUSTER_QUEUE, "", "cq"), "metadata"),
                     "deletionTimestamp", "2027-01-15T08:00:00Z");
    world_restart(&w, orders[0], 7);
    world_settle(&w);
    assert_false(sl_json_path_bool(world_workload(&w, "a"), "spec.active", true));
}

/* It was preempted, queued again, reserved, and has lost that reservation without an eviction. */
static void test_rebuild_keeps_why_it_was_queued_again(void **state)
{
    (void)state;
    world_add_basics(&w);
    struct sl_json *o = world_new_workload("team", "a", "lq", 1, "99");
    struct sl_json *status = sl_json_path_make(o, "status");
    (void)sl_condition_set(status, "Evicted", false, "QuotaReserved", "Previously: x", 1, w.now_ms);
    (void)sl_condition_set(status, "Requeued", true, "Preempted", "again", 1, w.now_ms);
    (void)sl_condition_set(status, "QuotaReserved", false, "Misconfigured", "lost", 1, w.now_ms);
    (void)world_put(&w, SL_KIND_WORKLOAD, o, NULL);
    world_settle(&w);
    world_expect(&w, "a", "QuotaReserved", "False", "ExceedsMaxQuota");
    world_expect(&w, "a", "Requeued", "True", "Preempted");
}

static void test_rebuild_requeue_state_keeps_count_and_time(void **state)
{
    (void)state;
    world_add_basics(&w);
    char at[32];
    sl_clock_format(w.now_ms + 60000, at);
    struct sl_json *o = world_new_workload("team", "a", "lq", 1, "1");
    struct sl_json *status = sl_json_path_make(o, "status");
    sl_json_set_int(sl_json_path_make(status, "requeueState"), "count", 3);
    sl_json_set_text(sl_json_path_make(status, "requeueState"), "requeueAt", at);
    (void)sl_condition_set(status, "Evicted", true, "PodsReadyTimeout", "late", 1, w.now_ms);
    (void)sl_condition_set(status, "Requeued", false, "PodsReadyTimeout", "late", 1, w.now_ms);
    (void)world_put(&w, SL_KIND_WORKLOAD, o, NULL);
    world_settle(&w);
    assert_false(sl_condition_true(world_workload(&w, "a"), "QuotaReserved"));
    restart_and_compare(2);
    world_pass(&w, 59000);
    assert_false(sl_condition_true(world_workload(&w, "a"), "QuotaReserved"));
    world_pass(&w, 1000);
    world_expect(&w, "a", "Requeued", "True", "BackoffFinished");
    world_expect(&w, "a", "Admitted", "True", "Admitted");
    assert_int_equal(sl_json_path_int(world_workload(&w, "a"), "status.requeueState.count", 0), 3);
    assert_null(sl_json_path(world_workload(&w, "a"), "status.requeueState.requeueAt"));
}

/* When it was evicted decides where it stands; its object says that to the second. */
static void test_rebuild_leaves_the_evicted_where_they_stood_in_line(void **state)
{
    (void)state;
    w.now_ms += 676;
    world_add_check(&w, "check");
    world_add_flavor(&w, "spot", "{}");
    world_add_cluster_queue(&w, "cq", "spot", "10",
                            ",\"queueingStrategy\":\"StrictFIFO\",\"admissionChecksStrategy\":{"
                            "\"admissionChecks\":[{\"name\":\"check\"}]}");
    world_add_local_queue(&w, "team", "lq", "cq");
    sl_engine_synced(w.engine, w.now_ms);
    world_add_workload(&w, "a", "lq", 1, "8");
    world_settle(&w);
    (void)world_patch(&w, SL_KIND_WORKLOAD, "team", "a",
                      "{\"status\":{\"admissionChecks\":[{\"name\":\"check\",\"state\":\"Retry\","
                      "\"message\":\"\"}]}}");
    world_settle(&w);
    world_expect(&w, "a", "Evicted", "True", "AdmissionCheck");
    world_add_workload(&w, "too-large", "lq", 1, "20"); /* later in the same second */
    sl_engine_job_stopped(w.engine, world_workload(&w, "a"), w.now_ms);
    world_settle(&w);
    world_expect(&w, "a", "QuotaReserved", "True", "QuotaReserved");
    restart_and_compare(0);
}

#define TEST(name) cmocka_unit_test_setup_teardown(name, setup, teardown)

int main(void)
{
    const struct CMUnitTest tests[] = {
        TEST(test_rebuild_charges_what_runs_even_over_quota),
        TEST(test_rebuild_reservation_of_a_missing_queue_is_kept_while_it_runs),
        TEST(test_rebuild_reserved_without_admission_is_given_back),
        TEST(test_rebuild_unwritten_admission_is_written),
        TEST(test_rebuild_requeue_state_keeps_count_and_time),
        TEST(test_rebuild_eviction_says_which_answer_deactivated_it),
        TEST(test_rebuild_eviction_says_that_its_time_was_over),
        TEST(test_rebuild_eviction_says_that_it_was_requeued_too_often),
        TEST(test_rebuild_eviction_says_no_more_than_the_object_did),
        TEST(test_rebuild_rejected_by_a_check_is_deactivated),
        TEST(test_rebuild_leaves_the_evicted_where_they_stood_in_line),
        TEST(test_rebuild_keeps_why_it_was_queued_again),
        TEST(test_rebuild_random_histories_end_where_living_did),
        TEST(test_rebuild_random_histories_lose_no_wake_up),
        TEST(test_rebuild_random_histories_with_nodes_lose_no_wake_up),
        TEST(test_rebuild_random_histories_with_nodes_end_where_living_did),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
