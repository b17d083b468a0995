/* SPDX-License-Identifier: Apache-2.0
 * SPDX-FileCopyrightText: The Sluice authors */

/* Carrying decisions out: the engine is a stub with a list of decisions, the client a fake. */
#include "t.h"
#include "base/clock.h"
#include "base/log.h"
#include "controllers/control/workloads.h"
#include "engine/figures.h"
#include "engine/why/why.h"
#include <stdlib.h>
#include "fake_client.h"

#define T0 1700000000000

static struct {
    struct sl_decision list[8];
    unsigned count, at, patches, answers, shown;
    enum sl_code last_code;
    bool nothing_to_write;
    bool end_untold, stale;
    bool release_first;
    bool unread;
    uint64_t waits_from;    /* decisions after that wait for those before */
    bool after_others;      /* what is to be taken was given back by others, and */
    const char *given_back; /* the uid of one that is to give it back itself by now */
    unsigned news, news_by_showing;
    const char *why; /* what is said of why it waits; NULL: it is not known */
} stub;

unsigned sl_engine_news(const struct sl_engine *g)
{
    (void)g;
    return stub.news;
}

void sl_engine_cohorts_above(const struct sl_engine *g, const char *cluster_queue,
                             sl_qnode_fn *visit, void *context)
{
    (void)g;
    (void)cluster_queue;
    visit(context, SL_KIND_COHORT, "org");
}

bool sl_engine_next_decision(struct sl_engine *g, struct sl_decision *out)
{
    (void)g;
    if (stub.at == stub.count) {
        return false;
    }
    *out = stub.list[stub.at++];
    return true;
}

bool sl_engine_waits(struct sl_engine *g, const struct sl_decision *d)
{
    (void)g;
    if (d->sequence > stub.waits_from) {
        return true;
    }
    return stub.after_others && d->kind == SL_DECIDE_RESERVE &&
           (stub.given_back == NULL || strcmp(d->uid, stub.given_back) != 0);
}

enum sl_to_write sl_engine_write(struct sl_engine *g, const struct sl_decision *d,
                                 const struct sl_json *live, struct sl_json **patch)
{
    (void)g;
    assert_string_equal(sl_object_name(live), "w");
    *patch = NULL;
    if (d->kind == SL_DECIDE_DELETE) {
        return SL_TO_WRITE_DELETE;
    }
    stub.patches++;
    if (sl_engine_waits(g, d)) {
        return SL_TO_WRITE_AFTER;
    }
    if (stub.nothing_to_write) {
        return stub.end_untold ? SL_TO_WRITE_LATER
               : stub.stale    ? SL_TO_WRITE_STALE
                               : SL_TO_WRITE_NOTHING;
    }
    *patch = parse("{\"status\":{\"admission\":{\"clusterQueue\":\"cq\"},\"conditions\":["
                   "{\"type\":\"Admitted\",\"status\":\"True\"},"
                   "{\"type\":\"Preempted\",\"reason\":\"InClusterQueue\"}]}}");
    return SL_TO_WRITE_STATUS;
}

enum sl_then sl_engine_written(struct sl_engine *g, const struct sl_decision *d, enum sl_code code,
                               const struct sl_json *written, int64_t now_ms)
{
    (void)g;
    (void)now_ms;
    assert_string_equal(d->name, "w");
    if (stub.release_first) {
        assert_non_null(written);
        stub.release_first = false;
        return SL_THEN_ASK;
    }
    if (d->put_off) {
        return SL_THEN_NOTHING;
    }
    stub.answers++;
    stub.last_code = code;
    return stub.unread ? SL_THEN_SHOW : SL_THEN_NOTHING;
}

struct sl_json *sl_why_workload_new(struct sl_engine *g, const struct sl_why_ask *ask)
{
    (void)g;
    assert_string_equal(ask->ns, "n");
    assert_string_equal(ask->name, "w");
    assert_string_equal(ask->names_of, "n");
    return stub.why == NULL ? NULL : parse(stub.why);
}

void sl_engine_show(struct sl_engine *g, const struct sl_json *workload, int64_t now_ms)
{
    (void)g;
    (void)now_ms;
    assert_string_equal(sl_object_name(workload), "w");
    stub.shown++;
    stub.news = stub.news_by_showing;
}

struct fixture {
    struct fake fake;
    struct sl_recorder *recorder;
    struct sl_workloads workloads;
};

static int setup(void **state)
{
    struct fixture *f = sl_mem_new(1, sizeof *f);
    sl_clock_set_virtual(T0);
    sl_log_setup(SL_LOG_ERROR, false);
    memset(&stub, 0, sizeof stub);
    stub.waits_from = UINT64_MAX;
    fake_init(&f->fake);
    fake_put(
        &f->fake, SL_KIND_WORKLOAD,
        parse("{\"metadata\":{\"name\":\"w\",\"namespace\":\"n\",\"uid\":\"u\"},\"spec\":{}}"));
    f->recorder = sl_recorder_new(&f->fake.client);
    sl_workloads_init(&f->workloads, &f->fake.client, f->recorder, NULL);
    *state = f;
    return 0;
}

static int teardown(void **state)
{
    struct fixture *f = *state;
    fake_fini(&f->fake);
    sl_workloads_fini(&f->workloads);
    sl_recorder_free(f->recorder);
    sl_mem_free(f);
    return 0;
}

static void decide(enum sl_decision_kind kind, const char *uid)
{
    stub.list[stub.count++] = (struct sl_decision){.kind = kind,
                                                   .ns = "n",
                                                   .name = "w",
                                                   .uid = uid,
                                                   .reason = "Preempted",
                                                   .message = "because"};
}

static void step(struct fixture *f)
{
    sl_workloads_step(&f->workloads, T0, 16);
    fake_flush(&f->fake);
}

static bool has_event(struct fixture *f, const char *reason)
{
    size_t cursor = 0;
    const char *key;
    union sl_map_value value;
    while (sl_map_next(f->fake.objects, &cursor, &key, &value)) {
        if (strcmp(sl_json_path_text(value.pointer, "reason", ""), reason) == 0) {
            return true;
        }
    }
    return false;
}

static void test_workloads_reservation_is_written_answered_and_told(void **state)
{
    struct fixture *f = *state;
    decide(SL_DECIDE_RESERVE, "u");
    step(f);
    assert_int_equal(stub.answers, 1);
    assert_int_equal(stub.last_code, SL_CODE_OK);
    assert_true(has_event(f, "QuotaReserved"));
    assert_true(has_event(f, "Admitted"));
    assert_int_equal(f->workloads.in_flight, 0);
}

static void test_workloads_unread_object_is_shown_after_the_answer(void **state)
{
    struct fixture *f = *state;
    decide(SL_DECIDE_RESERVE, "u");
    step(f);
    assert_int_equal(stub.shown, 0);
    stub.unread = true;
    decide(SL_DECIDE_RESERVE, "u");
    step(f);
    assert_int_equal(stub.answers, 2);
    assert_int_equal(stub.shown, 1);
}

static void test_workloads_eviction_event_names_the_reason(void **state)
{
    struct fixture *f = *state;
    decide(SL_DECIDE_EVICT, "u");
    step(f);
    assert_true(has_event(f, "EvictedDueToPreempted"));
}

static void test_workloads_preemption_is_told_to_both(void **state)
{
    struct fixture *f = *state;
    decide(SL_DECIDE_EVICT, "u");
    stub.list[0].by_ns = "n";
    stub.list[0].by_name = "winner";
    stub.list[0].by_uid = "v";
    step(f);
    assert_true(has_event(f, "EvictedDueToPreempted"));
    assert_true(has_event(f, "PreemptedWorkload"));
}

static void test_workloads_refusal_is_told_with_its_reason(void **state)
{
    struct fixture *f = *state;
    decide(SL_DECIDE_PENDING, "u");
    stub.list[0].reason = "WaitingForQuota";
    step(f);
    assert_true(has_event(f, "WaitingForQuota"));
}

/* The Job of "w", and that it has a condition QuotaReserved already. */
static void own(struct fixture *f, bool said_before)
{
    char text[500];
    (void)snprintf(text, sizeof text,
                   "{\"metadata\":{\"name\":\"w\",\"namespace\":\"n\",\"uid\":\"u\","
                   "\"ownerReferences\":[{\"apiVersion\":\"batch/v1\",\"kind\":\"Job\",\"name\":"
                   "\"j\",\"uid\":\"uj\",\"controller\":true}]},\"spec\":{},\"status\":{"
                   "\"conditions\":[%s]}}",
                   said_before ? "{\"type\":\"QuotaReserved\",\"status\":\"False\"}" : "");
    fake_put(&f->fake, SL_KIND_WORKLOAD, parse(text));
}

/* How many events its Job has; the last one's message is left in `message`. */
static unsigned count_job_events(struct fixture *f, char message[static 200])
{
    size_t cursor = 0;
    const char *key;
    union sl_map_value value;
    unsigned count = 0;
    while (sl_map_next(f->fake.objects, &cursor, &key, &value)) {
        if (strcmp(sl_json_path_text(value.pointer, "involvedObject.kind", ""), "Job") == 0) {
            assert_string_equal(sl_json_path_text(value.pointer, "involvedObject.uid", ""), "uj");
            assert_string_equal(sl_json_path_text(value.pointer, "involvedObject.name", ""), "j");
            (void)snprintf(message, 200, "%s", sl_json_path_text(value.pointer, "message", ""));
            count++;
        }
    }
    return count;
}

static void test_workloads_first_refusal_is_an_event_of_the_job_once(void **state)
{
    struct fixture *f = *state;
    char message[200] = "";
    stub.why = "{\"state\":\"Pending\",\"summary\":\"2 cpu more needed\"}";
    own(f, false);
    decide(SL_DECIDE_PENDING, "u");
    step(f);
    assert_int_equal(count_job_events(f, message), 1);
    assert_string_equal(message, "2 cpu more needed");
    own(f, true);
    stub.why = "{\"state\":\"Pending\",\"summary\":\"1 cpu more needed\"}";
    decide(SL_DECIDE_PENDING, "u");
    step(f);
    assert_int_equal(count_job_events(f, message), 1);
}

static void test_workloads_refusal_that_is_over_is_no_event_of_the_job(void **state)
{
    struct fixture *f = *state;
    char message[200];
    own(f, false);
    stub.why = "{\"state\":\"Admitted\",\"summary\":\"it runs\"}";
    decide(SL_DECIDE_PENDING, "u");
    step(f);
    assert_int_equal(count_job_events(f, message), 0);
    own(f, false);
    stub.why = NULL;
    decide(SL_DECIDE_PENDING, "u");
    step(f);
    assert_int_equal(count_job_events(f, message), 0);
}

static void test_workloads_second_pass_without_a_place_is_told_and_not_written(void **state)
{
    struct fixture *f = *state;
    decide(SL_DECIDE_UNPLACED, "u");
    stub.list[0].reason = "SecondPassFailed";
    stub.nothing_to_write = true;
    step(f);
    assert_true(has_event(f, "SecondPassFailed"));
    assert_int_equal(stub.last_code, SL_CODE_OK);
    assert_int_equal(stub.answers, 1);
}

static void test_workloads_new_place_is_written_and_told_to_nobody(void **state)
{
    struct fixture *f = *state;
    decide(SL_DECIDE_PLACE, "u");
    step(f);
    assert_false(has_event(f, "Admitted"));
    assert_false(has_event(f, "QuotaReserved"));
    assert_string_equal(sl_json_path_text(fake_find(&f->fake, SL_KIND_WORKLOAD, "n", "w"),
                                          "status.admission.clusterQueue", ""),
                        "cq");
}

static void own_by_job(struct fixture *f)
{
    struct sl_json *live = fake_find(&f->fake, SL_KIND_WORKLOAD, "n", "w");
    sl_json_set(sl_json_path_make(live, "metadata"), "ownerReferences",
                parse("[{\"apiVersion\":\"batch/"
                      "v1\",\"kind\":\"Job\",\"name\":\"j\",\"uid\":\"ju\",\"controller\":true}]"));
    fake_put(&f->fake, SL_KIND_JOB,
             parse("{\"metadata\":{\"name\":\"j\",\"namespace\":\"n\",\"uid\":\"ju\"}}"));
}

static void test_workloads_finished_long_ago_is_deleted_without_its_job(void **state)
{
    struct fixture *f = *state;
    own_by_job(f);
    sl_condition_set(sl_json_path_make(fake_find(&f->fake, SL_KIND_WORKLOAD, "n", "w"), "status"),
                     "Finished", true, "Succeeded", "done", 1, T0);
    decide(SL_DECIDE_DELETE, "u");
    step(f);
    assert_int_equal(stub.last_code, SL_CODE_OK);
    assert_null(fake_find(&f->fake, SL_KIND_WORKLOAD, "n", "w"));
    assert_non_null(fake_find(&f->fake, SL_KIND_JOB, "n", "j"));
    assert_true(has_event(f, "Deleted"));
}

static void test_workloads_deactivated_long_ago_is_deleted_with_its_job(void **state)
{
    struct fixture *f = *state;
    own_by_job(f);
    decide(SL_DECIDE_DELETE, "u");
    step(f);
    assert_int_equal(stub.last_code, SL_CODE_OK);
    assert_null(fake_find(&f->fake, SL_KIND_JOB, "n", "j"));
}

static void test_workloads_deactivated_long_ago_is_deleted_with_its_job_of_any_kind(void **state)
{
    struct fixture *f = *state;
    enum sl_kind kind;
    assert_int_equal(sl_kind_register("ray.io/v1", "RayJob", "rayjobs", &kind, NULL), SL_CODE_OK);
    own_by_job(f);
    struct sl_json *owner =
        sl_json_path(fake_find(&f->fake, SL_KIND_WORKLOAD, "n", "w"), "metadata.ownerReferences.0");
    sl_json_set_text(owner, "apiVersion", "ray.io/v1");
    sl_json_set_text(owner, "kind", "RayJob");
    fake_put(&f->fake, kind,
             parse("{\"metadata\":{\"name\":\"j\",\"namespace\":\"n\",\"uid\":\"ju\"}}"));
    decide(SL_DECIDE_DELETE, "u");
    step(f);
    assert_null(fake_find(&f->fake, kind, "n", "j"));
    assert_non_null(fake_find(&f->fake, SL_KIND_JOB, "n", "j"));
    sl_kind_forget_custom();
}

static void test_workloads_deleting_what_is_gone_is_answered_ok(void **state)
{
    struct fixture *f = *state;
    decide(SL_DECIDE_DELETE, "u");
    f->fake.next_code = SL_CODE_NOT_FOUND;
    step(f);
    assert_int_equal(stub.answers, 1);
    assert_int_equal(stub.last_code, SL_CODE_OK);
}

static void test_workloads_conflict_is_looked_at_again(void **state)
{
    struct fixture *f = *state;
    decide(SL_DECIDE_RESERVE, "u");
    f->fake.next_code = SL_CODE_CONFLICT;
    step(f);
    assert_int_equal(stub.answers, 1);
    assert_int_equal(stub.last_code, SL_CODE_OK);
    assert_int_equal(f->workloads.counters.conflicts, 1);
}

static void test_workloads_conflict_without_end_is_handed_to_the_engine(void **state)
{
    struct fixture *f = *state;
    decide(SL_DECIDE_RESERVE, "u");
    f->fake.next_code = SL_CODE_CONFLICT;
    f->fake.next_code_stays = true;
    step(f);
    assert_int_equal(stub.patches, SL_CONFLICT_TRIES);
    assert_int_equal(stub.answers, 1);
    assert_int_equal(stub.last_code, SL_CODE_CONFLICT);
    assert_int_equal(f->workloads.counters.conflicts, SL_CONFLICT_TRIES - 1);
    assert_int_equal(f->workloads.counters.failed, 1);
    assert_int_equal(f->workloads.in_flight, 0);
}

static void test_workloads_release_that_came_first_is_followed_by_the_reservation(void **state)
{
    struct fixture *f = *state;
    decide(SL_DECIDE_RESERVE, "u");
    stub.release_first = true;
    step(f);
    assert_int_equal(stub.patches, 2);
    assert_int_equal(stub.answers, 1);
    assert_int_equal(f->workloads.counters.failed, 0);
}

static void test_workloads_failed_write_is_answered_with_its_code(void **state)
{
    struct fixture *f = *state;
    decide(SL_DECIDE_RESERVE, "u");
    f->fake.next_code = SL_CODE_INTERNAL;
    step(f);
    assert_int_equal(stub.last_code, SL_CODE_INTERNAL);
    assert_false(has_event(f, "QuotaReserved"));
}

static void test_workloads_other_uid_of_that_name_is_not_found(void **state)
{
    struct fixture *f = *state;
    decide(SL_DECIDE_RESERVE, "older");
    step(f);
    assert_int_equal(stub.last_code, SL_CODE_NOT_FOUND);
    assert_int_equal(f->fake.write_count, 0);
}

static void test_workloads_nothing_to_write_is_answered_ok(void **state)
{
    struct fixture *f = *state;
    stub.nothing_to_write = true;
    decide(SL_DECIDE_ADMIT, "u");
    step(f);
    assert_int_equal(stub.last_code, SL_CODE_OK);
    assert_int_equal(f->fake.write_count, 0);
}

/* The end that its object says is not committed: what was to be written is, should that be lost. */
static void test_workloads_end_that_may_be_lost_is_no_answer(void **state)
{
    struct fixture *f = *state;
    stub.nothing_to_write = stub.end_untold = true;
    decide(SL_DECIDE_EVICT, "u");
    step(f);
    assert_int_equal(stub.answers, 1);
    assert_int_equal(stub.last_code, SL_CODE_UNAVAILABLE);
    assert_false(has_event(f, "EvictedDueToPreempted"));
}

static void test_workloads_what_was_not_asked_for_any_more_is_a_conflict(void **state)
{
    struct fixture *f = *state;
    stub.nothing_to_write = stub.stale = true;
    decide(SL_DECIDE_RESERVE, "u");
    step(f);
    assert_int_equal(stub.answers, 1);
    assert_int_equal(stub.last_code, SL_CODE_CONFLICT);
    assert_false(has_event(f, "QuotaReserved"));
}

static void hold(struct fixture *f, const char *type)
{
    sl_condition_set(sl_json_path_make(fake_find(&f->fake, SL_KIND_WORKLOAD, "n", "w"), "status"),
                     type, true, type, "so", 1, T0);
}

static void test_workloads_written_along_with_the_one_before_is_told(void **state)
{
    struct fixture *f = *state;
    stub.nothing_to_write = true;
    hold(f, "QuotaReserved");
    hold(f, "Admitted");
    decide(SL_DECIDE_RESERVE, "u");
    step(f);
    assert_true(has_event(f, "QuotaReserved"));
    assert_true(has_event(f, "Admitted"));
    assert_int_equal(f->workloads.counters.failed, 0);
}

static void test_workloads_overtaken_before_it_was_written_is_not_told(void **state)
{
    struct fixture *f = *state;
    stub.nothing_to_write = true;
    decide(SL_DECIDE_RESERVE, "u");
    decide(SL_DECIDE_EVICT, "u");
    step(f);
    assert_false(has_event(f, "QuotaReserved"));
    assert_false(has_event(f, "EvictedDueToPreempted"));
    assert_int_equal(f->workloads.meters.meters.series, 0);
}

static void count_call(void *context, struct sl_json *workload)
{
    assert_string_equal(sl_object_name(workload), "w");
    ++*(unsigned *)context;
}

/* Evicted, released, admitted and evicted again between two writes: its Workload does not change. */
static void test_workloads_eviction_that_shows_already_has_its_job_looked_at(void **state)
{
    struct fixture *f = *state;
    unsigned calls = 0;
    f->workloads.evicted_already = count_call;
    f->workloads.context = &calls;
    stub.nothing_to_write = true;
    decide(SL_DECIDE_RESERVE, "u");
    decide(SL_DECIDE_EVICT, "u");
    step(f);
    assert_int_equal(calls, 1);
}

/* The figure behind the name and labels of a series, up to the role. */
static uint64_t counted(struct fixture *f, const char *series)
{
    struct sl_buf text = {0};
    char family[100];
    size_t len = strcspn(series, "{");
    snprintf(family, sizeof family, "%.*s", (int)len, series);
    char *suffix = strstr(family, "_seconds_count");
    if (suffix != NULL) {
        suffix[strlen("_seconds")] = '\0';
    }
    sl_meters_print(&f->workloads.meters.meters, family, "leader", &text);
    const char *found = text.data == NULL ? NULL : strstr(text.data, series);
    uint64_t n = found == NULL ? 0 : strtoull(strchr(found, '}') + 1, NULL, 10);
    sl_buf_fini(&text);
    return n;
}

static void test_workloads_counts_have_kueues_labels(void **state)
{
    struct fixture *f = *state;
    fake_put(&f->fake, SL_KIND_WORKLOAD,
             parse("{\"metadata\":{\"name\":\"winner\",\"namespace\":\"n\",\"uid\":\"v\"},"
                   "\"spec\":{\"queueName\":\"lq\"}}"));
    fake_put(&f->fake, SL_KIND_LOCAL_QUEUE,
             parse("{\"metadata\":{\"name\":\"lq\",\"namespace\":\"n\",\"uid\":\"q\"},"
                   "\"spec\":{\"clusterQueue\":\"high\"}}"));
    decide(SL_DECIDE_RESERVE, "u");
    decide(SL_DECIDE_EVICT, "u");
    decide(SL_DECIDE_EVICT, "u");
    stub.list[1].by_ns = "n";
    stub.list[1].by_name = "winner";
    stub.list[1].by_uid = "v";
    stub.list[2].reason = "DeactivatedDueToRequeuingLimitExceeded";
    step(f);
    assert_int_equal(counted(f, "kueue_quota_reserved_workloads_total{cluster_queue=\"cq\","
                                "priority_class=\"\","),
                     1);
    assert_int_equal(counted(f, "kueue_evicted_workloads_total{cluster_queue=\"cq\",reason="
                                "\"Preempted\",underlying_cause=\"\",priority_class=\"\","),
                     1);
    assert_int_equal(counted(f, "kueue_evicted_workloads_total{cluster_queue=\"cq\",reason="
                                "\"Deactivated\",underlying_cause=\"RequeuingLimitExceeded\","
                                "priority_class=\"\","),
                     1);
    assert_int_equal(counted(f, "kueue_preempted_workloads_total{preempting_cluster_queue=\"high\","
                                "reason=\"InClusterQueue\","),
                     1);
}

static uint64_t timed(struct fixture *f, const char *name)
{
    char series[200];
    snprintf(series, sizeof series, "%s_count{cluster_queue=\"cq\",priority_class=\"\",", name);
    return counted(f, series);
}

static void test_workloads_waits_are_timed_where_their_start_is_known(void **state)
{
    struct fixture *f = *state;
    decide(SL_DECIDE_RESERVE, "u");
    step(f);
    assert_int_equal(timed(f, "kueue_quota_reserved_wait_time_seconds"), 0);
    sl_json_set_text(sl_json_path_make(fake_find(&f->fake, SL_KIND_WORKLOAD, "n", "w"), "metadata"),
                     "creationTimestamp", "2023-11-14T22:13:00Z");
    decide(SL_DECIDE_RESERVE, "u");
    step(f);
    assert_int_equal(timed(f, "kueue_quota_reserved_wait_time_seconds"), 1);
    assert_int_equal(timed(f, "kueue_admission_wait_time_seconds"), 1); /* admitted at once */
    assert_int_equal(timed(f, "kueue_admission_checks_wait_time_seconds"), 0);
}

static void test_workloads_news_of_the_engine_are_counted(void **state)
{
    struct fixture *f = *state;
    struct sl_json *wl = parse("{\"metadata\":{\"creationTimestamp\":\"2023-11-14T22:13:00Z\"},"
                               "\"status\":{\"admission\":{\"clusterQueue\":\"cq\"}}}");
    sl_workloads_count_news(&f->workloads, wl);
    assert_int_equal(f->workloads.meters.meters.series, 0);
    stub.news = SL_NEWS_FINISHED;
    sl_workloads_count_news(&f->workloads, wl);
    assert_int_equal(counted(f, "kueue_finished_workloads_total{cluster_queue=\"cq\","), 1);
    assert_int_equal(timed(f, "kueue_ready_wait_time_seconds"), 0);
    stub.news = SL_NEWS_STARTED;
    sl_workloads_count_news(&f->workloads, wl);
    assert_int_equal(counted(f, "kueue_finished_workloads_total{cluster_queue=\"cq\","), 1);
    assert_int_equal(timed(f, "kueue_ready_wait_time_seconds"), 1);
    sl_json_free(wl);
}

/* The controller of its job, which waits two seconds for that, has ended it before. */
static void test_workloads_slice_that_another_has_ended_is_counted(void **state)
{
    struct fixture *f = *state;
    struct sl_json *status =
        sl_json_path_make(fake_find(&f->fake, SL_KIND_WORKLOAD, "n", "w"), "status");
    stub.nothing_to_write = true;
    sl_json_set(status, "admission", parse("{\"clusterQueue\":\"cq\"}"));
    decide(SL_DECIDE_FINISH, "u");
    step(f);
    assert_int_equal(f->workloads.meters.meters.series, 0); /* it has not ended */
    sl_condition_set(status, "Finished", true, "WorkloadSliceReplaced", "so", 1, T0);
    decide(SL_DECIDE_FINISH, "u");
    step(f);
    assert_int_equal(counted(f, "kueue_replaced_workload_slices_total{cluster_queue=\"cq\","), 1);
    assert_int_equal(counted(f, "kueue_finished_workloads_total{cluster_queue=\"cq\","), 1);
}

/* Its pods were ready while a decision about it was being written. */
static void test_workloads_news_that_were_not_read_at_once_are_counted(void **state)
{
    struct fixture *f = *state;
    sl_json_set_text(sl_json_path_make(fake_find(&f->fake, SL_KIND_WORKLOAD, "n", "w"), "metadata"),
                     "creationTimestamp", "2023-11-14T22:13:00Z");
    stub.unread = true;
    stub.news_by_showing = SL_NEWS_STARTED;
    decide(SL_DECIDE_ADMIT, "u");
    step(f);
    assert_int_equal(stub.shown, 1);
    assert_int_equal(timed(f, "kueue_ready_wait_time_seconds"), 1);
}

static void test_workloads_late_pods_are_counted_by_what_they_were_to_do(void **state)
{
    struct fixture *f = *state;
    decide(SL_DECIDE_EVICT, "u");
    stub.list[0].reason = "PodsReadyTimeout";
    step(f);
    sl_condition_set(sl_json_path_make(fake_find(&f->fake, SL_KIND_WORKLOAD, "n", "w"), "status"),
                     "PodsReady", false, "WaitForRecovery", "so", 1, T0);
    decide(SL_DECIDE_EVICT, "u");
    stub.list[1].reason = "PodsReadyTimeout";
    step(f);
    static const char *const causes[] = {"WaitForStart", "WaitForRecovery"};
    for (size_t i = 0; i < 2; i++) {
        char series[200];
        snprintf(series, sizeof series,
                 "kueue_evicted_workloads_total{cluster_queue=\"cq\",reason=\"PodsReadyTimeout\","
                 "underlying_cause=\"%s\",priority_class=\"\",",
                 causes[i]);
        assert_int_equal(counted(f, series), 1);
    }
}

static void test_workloads_step_is_bounded(void **state)
{
    struct fixture *f = *state;
    for (int i = 0; i < 5; i++) {
        decide(SL_DECIDE_PENDING, "u");
    }
    assert_true(sl_workloads_step(&f->workloads, T0, 2));
    assert_int_equal(stub.at, 2);
    fake_flush(&f->fake);
    assert_false(sl_workloads_step(&f->workloads, T0, 16));
    fake_flush(&f->fake);
    assert_int_equal(stub.answers, 5);
}

static void test_workloads_next_write_of_a_workload_waits_for_the_one_before(void **state)
{
    struct fixture *f = *state;
    decide(SL_DECIDE_RESERVE, "u");
    decide(SL_DECIDE_EVICT, "u");
    sl_workloads_step(&f->workloads, T0, 16);
    assert_int_equal(f->fake.change_count, 1);
    assert_int_equal(f->workloads.in_flight, 2);
    fake_flush(&f->fake);
    assert_int_equal(f->fake.change_count, 2);
    assert_int_equal(f->workloads.in_flight, 0);
    assert_int_equal(stub.answers, 2);
}

static void test_workloads_reservation_waits_for_what_others_give_back(void **state)
{
    struct fixture *f = *state;
    stub.after_others = true;
    decide(SL_DECIDE_RESERVE, "u");
    decide(SL_DECIDE_EVICT, "u");
    step(f);
    step(f);
    assert_int_equal(f->fake.change_count, 0);
    assert_int_equal(stub.answers, 0);
    assert_int_equal(stub.patches, 1); /* and not looked at in each step */
    assert_int_equal(f->workloads.in_flight, 1);
    stub.after_others = false;
    step(f);
    assert_int_equal(f->fake.change_count, 2);
    assert_true(has_event(f, "QuotaReserved"));
    assert_true(has_event(f, "EvictedDueToPreempted"));
    assert_int_equal(f->workloads.in_flight, 0);
    assert_null(f->workloads.aside);
}

static void put(struct fixture *f, const char *name)
{
    char text[200];
    snprintf(text, sizeof text,
             "{\"metadata\":{\"name\":\"w\",\"namespace\":\"%s\",\"uid\":\"%s\"},\"spec\":{}}",
             name, name);
    fake_put(&f->fake, SL_KIND_WORKLOAD, parse(text));
}

static void decide_of(enum sl_decision_kind kind, const char *name)
{
    decide(kind, name);
    stub.list[stub.count - 1].ns = name;
}

/* It stands behind another that still waits, and that may wait for it. */
static void test_workloads_what_is_given_back_by_now_waits_no_longer(void **state)
{
    struct fixture *f = *state;
    put(f, "a");
    put(f, "b");
    put(f, "c");
    stub.after_others = true;
    decide_of(SL_DECIDE_RESERVE, "a");
    decide_of(SL_DECIDE_RESERVE, "b");
    decide_of(SL_DECIDE_RESERVE, "c");
    step(f);
    assert_int_equal(f->fake.change_count, 0);
    stub.given_back = "b";
    decide_of(SL_DECIDE_RELEASE, "b");
    step(f);
    step(f);
    assert_int_equal(f->fake.change_count, 2);
    assert_int_equal(stub.answers, 2);
    stub.after_others = false;
    step(f);
    assert_int_equal(f->fake.change_count, 4);
    assert_int_equal(f->workloads.in_flight, 0);
}

/* The end of a slice waits for the reservation of the one that has its place; that came later here, since another write of
 * its Workload was under way. */
static void test_workloads_what_was_decided_first_goes_on_first(void **state)
{
    struct fixture *f = *state;
    static const struct {
        const char *name;
        uint64_t sequence;
    } rows[] = {{"b", 12}, {"d", 14}, {"a", 11}, {"c", 13}};
    stub.waits_from = 10;
    for (size_t i = 0; i < 4; i++) {
        put(f, rows[i].name);
        decide_of(SL_DECIDE_RESERVE, rows[i].name);
        stub.list[i].sequence = rows[i].sequence;
        step(f);
    }
    assert_int_equal(f->fake.change_count, 0);
    for (unsigned i = 1; i <= 4; i++) {
        stub.waits_from = 10 + i;
        step(f);
        assert_int_equal(f->fake.change_count, i);
    }
    assert_null(f->workloads.aside);
    assert_int_equal(f->workloads.in_flight, 0);
}

/* The end of the daemon comes first. */
static void test_workloads_what_still_waits_for_others_is_let_go_at_the_end(void **state)
{
    struct fixture *f = *state;
    put(f, "a");
    stub.after_others = true;
    decide_of(SL_DECIDE_RESERVE, "a");
    decide_of(SL_DECIDE_RELEASE, "a");
    decide(SL_DECIDE_RESERVE, "u");
    step(f);
    assert_int_equal(f->fake.change_count, 0);
    assert_non_null(f->workloads.aside);
}

static void test_workloads_reasons_wait_for_their_budget_and_reservations_do_not(void **state)
{
    struct fixture *f = *state;
    f->workloads.budget = sl_budget_new(1, 1);
    decide(SL_DECIDE_PENDING, "u");
    step(f);
    decide(SL_DECIDE_PENDING, "u");
    decide(SL_DECIDE_PENDING, "u");
    decide(SL_DECIDE_RESERVE, "u");
    step(f);
    assert_int_equal(f->fake.change_count, 2);
    assert_int_equal(stub.answers, 4); /* nobody waits for a reason */
    assert_int_equal(sl_workloads_due_ms(&f->workloads), T0 + 1000);
    sl_clock_set_virtual(T0 + 1000);
    assert_false(sl_workloads_step(&f->workloads, T0 + 1000, 16));
    fake_flush(&f->fake);
    assert_int_equal(f->fake.change_count, 3); /* the last one of them */
    assert_int_equal(stub.answers, 4);
    assert_int_equal(sl_workloads_due_ms(&f->workloads), INT64_MAX);
}

#define TEST(name) cmocka_unit_test_setup_teardown(name, setup, teardown)
int main(void)
{
    const struct CMUnitTest tests[] = {
        TEST(test_workloads_reservation_is_written_answered_and_told),
        TEST(test_workloads_unread_object_is_shown_after_the_answer),
        TEST(test_workloads_eviction_event_names_the_reason),
        TEST(test_workloads_preemption_is_told_to_both),
        TEST(test_workloads_refusal_is_told_with_its_reason),
        TEST(test_workloads_first_refusal_is_an_event_of_the_job_once),
        TEST(test_workloads_refusal_that_is_over_is_no_event_of_the_job),
        TEST(test_workloads_second_pass_without_a_place_is_told_and_not_written),
        TEST(test_workloads_new_place_is_written_and_told_to_nobody),
        TEST(test_workloads_written_along_with_the_one_before_is_told),
        TEST(test_workloads_eviction_that_shows_already_has_its_job_looked_at),
        TEST(test_workloads_overtaken_before_it_was_written_is_not_told),
        TEST(test_workloads_counts_have_kueues_labels),
        TEST(test_workloads_late_pods_are_counted_by_what_they_were_to_do),
        TEST(test_workloads_waits_are_timed_where_their_start_is_known),
        TEST(test_workloads_news_of_the_engine_are_counted),
        TEST(test_workloads_slice_that_another_has_ended_is_counted),
        TEST(test_workloads_news_that_were_not_read_at_once_are_counted),
        TEST(test_workloads_finished_long_ago_is_deleted_without_its_job),
        TEST(test_workloads_deactivated_long_ago_is_deleted_with_its_job),
        TEST(test_workloads_deactivated_long_ago_is_deleted_with_its_job_of_any_kind),
        TEST(test_workloads_deleting_what_is_gone_is_answered_ok),
        TEST(test_workloads_conflict_is_looked_at_again),
        TEST(test_workloads_conflict_without_end_is_handed_to_the_engine),
        TEST(test_workloads_release_that_came_first_is_followed_by_the_reservation),
        TEST(test_workloads_failed_write_is_answered_with_its_code),
        TEST(test_workloads_other_uid_of_that_name_is_not_found),
        TEST(test_workloads_nothing_to_write_is_answered_ok),
        TEST(test_workloads_end_that_may_be_lost_is_no_answer),
        TEST(test_workloads_what_was_not_asked_for_any_more_is_a_conflict),
        TEST(test_workloads_step_is_bounded),
        TEST(test_workloads_reservation_waits_for_what_others_give_back),
        TEST(test_workloads_what_is_given_back_by_now_waits_no_longer),
        TEST(test_workloads_what_was_decided_first_goes_on_first),
        TEST(test_workloads_what_still_waits_for_others_is_let_go_at_the_end),
        TEST(test_workloads_next_write_of_a_workload_waits_for_the_one_before),
        TEST(test_workloads_reasons_wait_for_their_budget_and_reservations_do_not),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
