/* SPDX-License-Identifier: Apache-2.0
 * SPDX-FileCopyrightText: The Sluice authors */

/* Programs compare what Kueue says of Workloads. Each situation of kueue_says.def is brought about with the engine and
 * the controller that carries its decisions out, and everything that the table has for it must have been said. */
#include "../../scenarios/scene.h"
#include "controllers/control/workloads.h"

#define EVENTS_MAX 64
#define REPLIES_MAX 64
#define DUE 60000 /* of pods that are to be ready */

static struct world w;
static struct sl_engine_settings settings;
static struct sl_recorder *recorder;
static struct sl_workloads workloads;
static struct sl_json *events[EVENTS_MAX];
static unsigned event_count;
static struct {
    sl_reply_fn *fn;
    void *context;
    enum sl_code code;
    struct sl_json *result;
} replies[REPLIES_MAX];
static unsigned reply_count;

/* --- the API server --------------------------------------------------------------------------- */

static enum sl_code get(void *self, enum sl_kind kind, const char *ns, const char *name,
                        struct sl_json **out, struct sl_error *e)
{
    struct sl_json *o = world_get(self, kind, ns, name);
    if (o == NULL) {
        return sl_error_set(e, SL_CODE_NOT_FOUND, "%s not found", name);
    }
    *out = sl_json_clone(o);
    return SL_CODE_OK;
}

static enum sl_code list(void *self, enum sl_kind kind, const char *ns, sl_visit_fn *visit,
                         void *context, struct sl_error *e)
{
    (void)self, (void)kind, (void)ns, (void)visit, (void)context, (void)e;
    return SL_CODE_OK;
}

static void apply(const struct sl_write *write)
{
    struct sl_json *copy = sl_json_clone(world_get(&w, write->kind, write->ns, write->name));
    assert_int_equal(sl_patch_merge(&copy, write->body, NULL), SL_CODE_OK);
    if (write->verb == SL_VERB_PATCH_MERGE) {
        sl_json_set_int(sl_json_get(copy, "metadata"), "generation",
                        sl_object_generation(copy) + 1);
    }
    (void)world_put(&w, write->kind, copy, NULL);
}

static void serve(void *self, const struct sl_write *write, sl_reply_fn *reply, void *context)
{
    (void)self;
    if (write->kind == SL_KIND_EVENT) {
        assert_true(event_count < EVENTS_MAX);
        events[event_count++] = sl_json_clone(write->body);
    } else if (write->verb == SL_VERB_DELETE) {
        world_delete(&w, write->kind, write->ns, write->name);
    } else {
        apply(write);
    }
    struct sl_json *live = world_get(&w, write->kind, write->ns, write->name);
    assert_true(reply_count < REPLIES_MAX);
    replies[reply_count].fn = reply;
    replies[reply_count].context = context;
    replies[reply_count].code = SL_CODE_OK;
    replies[reply_count++].result = live == NULL ? NULL : sl_json_clone(live);
}

static bool answer_all(void)
{
    bool some = reply_count > 0;
    for (unsigned i = 0; i < reply_count; i++) {
        if (replies[i].fn != NULL) {
            replies[i].fn(replies[i].context, replies[i].code, NULL, replies[i].result);
        }
        sl_json_free(replies[i].result);
    }
    reply_count = 0;
    return some;
}

static const struct sl_client client = {.self = &w, .get = get, .list = list, .write = serve};

/* --- the situations' means -------------------------------------------------------------------- */

static void settle(void)
{
    bool more = true;
    for (int rounds = 0; more; rounds++) {
        assert_true(rounds < 1000);
        more = sl_engine_cycle(w.engine, w.now_ms);
        more = sl_workloads_step(&workloads, w.now_ms, 16) || more;
        more = answer_all() || more;
    }
}

static void pass(int64_t ms)
{
    w.now_ms += ms;
    sl_clock_set_virtual(w.now_ms);
    settle();
}

static void open_with(const struct sl_engine_settings *s)
{
    world_open_with(&w, NULL, s);
    recorder = sl_recorder_new(&client);
    sl_workloads_init(&workloads, &client, recorder, w.engine);
}

static int setup(void **state)
{
    (void)state;
    settings = sl_engine_settings_default();
    open_with(&settings);
    return 0;
}

static void close_all(void)
{
    sl_workloads_fini(&workloads);
    sl_recorder_free(recorder);
    for (unsigned i = 0; i < event_count; i++) {
        sl_json_free(events[i]);
    }
    event_count = 0;
    world_close(&w);
}

static int teardown(void **state)
{
    (void)state;
    close_all();
    return 0;
}

static void reopen(void)
{
    close_all();
    open_with(&settings);
}

static void synced(void)
{
    sl_engine_synced(w.engine, w.now_ms);
}

static void basics(const char *more)
{
    world_add_flavor(&w, "spot", "{}");
    world_add_cluster_queue(&w, "cq", "spot", "10", more);
    world_add_local_queue(&w, "team", "lq", "cq");
    synced();
}

static void add(const char *name, const char *cpu)
{
    world_add_workload(&w, name, "lq", 1, cpu);
    settle();
}

static void patch(enum sl_kind kind, const char *name, const char *text)
{
    bool namespaced = kind == SL_KIND_WORKLOAD || kind == SL_KIND_LOCAL_QUEUE;
    (void)world_patch(&w, kind, namespaced ? "team" : "", name, text);
    settle();
}

static void stop(const char *name)
{
    sl_engine_job_stopped(w.engine, world_workload(&w, name), w.now_ms);
    settle();
}

/* A workload "a" of one pod whose spec has these members. */
static void add_pod(const char *pod_spec)
{
    struct sl_json *o = world_new_workload("team", "a", "lq", 1, "1");
    sl_json_set(sl_json_path(o, "spec.podSets.0.template"), "spec", world_parse(pod_spec));
    (void)world_put(&w, SL_KIND_WORKLOAD, o, NULL);
    settle();
}

static void answer_check(const char *state, const char *message)
{
    char text[200];
    (void)snprintf(text, sizeof text,
                   "{\"status\":{\"admissionChecks\":[{\"name\":\"check\",\"state\":\"%s\","
                   "\"message\":\"%s\"}]}}",
                   state, message);
    patch(SL_KIND_WORKLOAD, "a", text);
}

static void checked_queue(void)
{
    world_add_check(&w, "check");
    basics(",\"admissionChecksStrategy\":{\"admissionChecks\":[{\"name\":\"check\"}]}");
}

static void range(const char *limits)
{
    char text[300];
    (void)snprintf(text, sizeof text,
                   "{\"metadata\":{\"namespace\":\"team\",\"name\":\"r\"},\"spec\":{\"limits\":[%s]"
                   "}}",
                   limits);
    world_add(&w, SL_KIND_LIMIT_RANGE, text);
}

/* --- the situations --------------------------------------------------------------------------- */

static void in_admitted(void)
{
    basics("");
    add("a", "1");
}

static void in_admitted_late(void)
{
    in_admitted();
    add("b", "10");
    pass(90 * SECOND);
    world_delete(&w, SL_KIND_WORKLOAD, "team", "a");
    settle();
}

static void in_checked(void)
{
    checked_queue();
    add("a", "1");
}

static void in_checked_ready(void)
{
    in_checked();
    pass(30 * SECOND);
    answer_check("Ready", "");
}

static void in_above_quota(void)
{
    basics("");
    add("a", "11");
}

static void in_above_quota_together(void)
{
    basics("");
    struct sl_json *o = world_new_workload("team", "a", "lq", 1, "6");
    struct sl_json *second = sl_json_clone(sl_json_path(o, "spec.podSets.0"));
    sl_json_set_text(second, "name", "second");
    sl_json_append(sl_json_path(o, "spec.podSets"), second);
    (void)world_put(&w, SL_KIND_WORKLOAD, o, NULL);
    settle();
}

static void in_full(void)
{
    basics("");
    add("a", "6");
    add("b", "6");
}

static void in_tainted(void)
{
    world_add_flavor(&w, "spot",
                     "{\"nodeTaints\":[{\"key\":\"instance\",\"value\":\"spot\",\"effect\":"
                     "\"NoSchedule\"}]}");
    world_add_cluster_queue(&w, "cq", "spot", "10", "");
    world_add_local_queue(&w, "team", "lq", "cq");
    synced();
    add("a", "1");
}

#define ZONE_A "{\"nodeLabels\":{\"zone\":\"a\"}}"
#define WANTS_ZONE_B                                                                               \
    "{\"nodeSelector\":{\"zone\":\"b\"},\"containers\":[{\"name\":\"c\",\"resources\":{"           \
    "\"requests\":{\"cpu\":\"11\"}}}]}"

static void in_other_nodes(void)
{
    world_add_flavor(&w, "spot", ZONE_A);
    world_add_cluster_queue(&w, "cq", "spot", "10", "");
    world_add_local_queue(&w, "team", "lq", "cq");
    synced();
    add_pod(WANTS_ZONE_B);
}

static void in_not_covered(void)
{
    basics("");
    add_pod("{\"containers\":[{\"name\":\"c\",\"resources\":{\"requests\":{\"example.com/gpu\":"
            "\"1\"}}}]}");
}

static void in_in_order(void)
{
    world_add_flavor(&w, "spot", "{}");
    world_add_flavor(&w, "zone", ZONE_A);
    world_add(&w, SL_KIND_CLUSTER_QUEUE,
              "{\"metadata\":{\"name\":\"cq\"},\"spec\":{\"namespaceSelector\":{},"
              "\"resourceGroups\":[{\"coveredResources\":[\"cpu\"],\"flavors\":[{\"name\":\"spot\","
              "\"resources\":[{\"name\":\"cpu\",\"nominalQuota\":\"10\"}]},{\"name\":\"zone\","
              "\"resources\":[{\"name\":\"cpu\",\"nominalQuota\":\"10\"}]}]}]}}");
    world_add_local_queue(&w, "team", "lq", "cq");
    synced();
    add_pod(WANTS_ZONE_B);
}

static void in_queue_stopped(void)
{
    basics(",\"stopPolicy\":\"Hold\"");
    add("a", "1");
}

static void in_local_queue_stopped(void)
{
    basics("");
    patch(SL_KIND_LOCAL_QUEUE, "lq", "{\"spec\":{\"stopPolicy\":\"Hold\"}}");
    add("a", "1");
}

static void in_no_local_queue(void)
{
    basics("");
    world_add_workload(&w, "a", "nowhere", 1, "1");
    settle();
}

static void in_no_queue(void)
{
    basics("");
    world_add_local_queue(&w, "team", "astray", "nowhere");
    world_add_workload(&w, "a", "astray", 1, "1");
    settle();
}

static void in_other_namespace(void)
{
    basics("");
    patch(SL_KIND_CLUSTER_QUEUE, "cq",
          "{\"spec\":{\"namespaceSelector\":{\"matchLabels\":{\"team\":\"other\"}}}}");
    add("a", "1");
}

#define TOO_MUCH "\"resources\":{\"requests\":{\"cpu\":\"2\"},\"limits\":{\"cpu\":\"1\"}}"

static void in_above_limits(void)
{
    basics("");
    add_pod("{\"containers\":[{\"name\":\"c\"," TOO_MUCH "}]}");
}

static void in_above_limits_often(void)
{
    basics("");
    add_pod("{\"initContainers\":[{\"name\":\"i\"," TOO_MUCH "}],\"containers\":[{\"name\":\"c\","
            "\"resources\":{\"requests\":{\"memory\":\"2\",\"cpu\":\"2\"},\"limits\":{\"memory\":"
            "\"1\",\"cpu\":\"1\"}}}]}");
}

static void in_above_range(void)
{
    range("{\"type\":\"Container\",\"max\":{\"cpu\":\"1\"}}");
    basics("");
    add("a", "2");
}

static void in_below_range(void)
{
    range("{\"type\":\"Container\",\"min\":{\"cpu\":\"3\"}}");
    basics("");
    add("a", "2");
}

static void in_above_pod_range(void)
{
    range("{\"type\":\"Pod\",\"max\":{\"cpu\":\"1\"}}");
    basics("");
    add("a", "2");
}

static void in_claims_devices(void)
{
    basics("");
    add_pod("{\"resourceClaims\":[{\"name\":\"gpu\",\"resourceClaimTemplateName\":\"gpus\"}],"
            "\"containers\":[{\"name\":\"c\",\"resources\":{\"claims\":[{\"name\":\"gpu\"}]}}]}");
}

static void in_claims_by_name(void)
{
    basics("");
    add_pod("{\"resourceClaims\":[{\"name\":\"gpu\",\"resourceClaimName\":\"mine\"}],"
            "\"containers\":[{\"name\":\"c\"}]}");
}

/* KueueDRAIntegration */
static void in_claims_disabled(void)
{
    settings.devices = false;
    reopen();
    in_claims_devices();
}

static void map_gpus(void)
{
    static const struct sl_device_mapping mapping = {.device_class = "gpus", .resource = "gpu"};
    settings.device_mappings = &mapping;
    settings.device_mapping_count = 1;
    reopen();
}

static void in_claims_unknown(void)
{
    map_gpus();
    in_claims_devices();
}

static void in_claims_unmapped(void)
{
    map_gpus();
    world_add(&w, SL_KIND_RESOURCE_CLAIM_TEMPLATE,
              "{\"metadata\":{\"namespace\":\"team\",\"name\":\"gpus\"},\"spec\":{\"spec\":{"
              "\"devices\":{\"requests\":[{\"name\":\"r\",\"exactly\":{\"deviceClassName\":"
              "\"tpus\"}}]}}}}");
    in_claims_devices();
}

static void in_gated(void)
{
    basics("");
    struct sl_json *o = world_new_workload("team", "a", "lq", 1, "1");
    sl_json_set_text(sl_json_path_make(o, "metadata.annotations"),
                     "kueue.x-k8s.io/admission-gated-by", "example.com/first");
    (void)world_put(&w, SL_KIND_WORKLOAD, o, NULL);
    settle();
}

static void in_ungated(void)
{
    in_gated();
    patch(SL_KIND_WORKLOAD, "a",
          "{\"metadata\":{\"annotations\":{\"kueue.x-k8s.io/admission-gated-by\":null}}}");
}

/* AdmissionGatedBy and KueueDRARejectWorkloadsWhenDRADisabled. */
static void in_gates_turned_off(void)
{
    settings.heed_gates = false;
    reopen();
    in_gated();
}

static void in_claims_turned_off(void)
{
    settings.devices = settings.refuse_claims = false;
    reopen();
    in_claims_devices();
}

static void topology(int pods, const char *cpu, const char *request)
{
    scene_add_racks(&w);
    scene_add_queue(&w, "20", "");
    synced();
    struct sl_json *o = world_new_workload("team", "a", "lq", pods, cpu);
    sl_json_set(sl_json_path(o, "spec.podSets.0"), "topologyRequest", world_parse(request));
    (void)world_put(&w, SL_KIND_WORKLOAD, o, NULL);
    settle();
}

static void in_no_room(void)
{
    topology(1, "3", REQUIRED_RACK);
}

static void in_little_room(void)
{
    topology(5, "1", REQUIRED_RACK);
}

static void in_no_level(void)
{
    topology(1, "1", "{\"required\":\"example.com/row\"}");
}

static void in_no_replacement(void)
{
    settings.policy.fail_fast = false;
    reopen();
    topology(4, "1", REQUIRED_RACK);
    const char *node = scene_where(&w, "a")[1] == '1' ? "x1" : "x3";
    scene_delete_node(&w, node);
    pass(SETTLE_MS);
    pass(SECOND);
}

static void in_node_failed(void)
{
    topology(4, "1", REQUIRED_RACK);
    assert_string_equal(scene_where(&w, "a"), "x1=2 x2=2");
    scene_delete_node(&w, "x1");
    pass(SETTLE_MS);
    pass(SECOND);
}

static void preempt(int base, const char *boost)
{
    basics(",\"preemption\":{\"withinClusterQueue\":\"LowerPriority\"}");
    struct sl_json *low = world_new_workload("team", "low", "lq", 1, "10");
    sl_json_set_int(sl_json_get(low, "spec"), "priority", -1);
    (void)world_put(&w, SL_KIND_WORKLOAD, low, NULL);
    settle();
    struct sl_json *high = world_new_workload("team", "high", "lq", 1, "10");
    sl_json_set_int(sl_json_get(high, "spec"), "priority", base);
    sl_json_set_text(sl_json_path_make(high, "metadata.labels"), "kueue.x-k8s.io/job-uid",
                     "job-of-high");
    if (boost[0] != '\0') {
        sl_json_set_text(sl_json_path_make(high, "metadata.annotations"),
                         "kueue.x-k8s.io/priority-boost", boost);
    }
    (void)world_put(&w, SL_KIND_WORKLOAD, high, NULL);
    settle();
}

static void in_preempted(void)
{
    preempt(5, "");
}

static void in_preempted_boosted(void)
{
    settings.priority_boost = true;
    reopen();
    preempt(2, "3");
}

static void in_requeued(void)
{
    in_preempted();
    stop("low");
}

static void in_retried(void)
{
    in_checked();
    answer_check("Retry", "later");
}

static void in_retried_stopped(void)
{
    in_checked();
    patch(SL_KIND_WORKLOAD, "a",
          "{\"status\":{\"admissionChecks\":[{\"name\":\"check\",\"state\":\"Retry\",\"message\":"
          "\"later\",\"requeueAfterSeconds\":600}]}}");
    stop("a");
}

static void in_rejected(void)
{
    in_checked();
    answer_check("Rejected", "never");
}

static void in_deactivated(void)
{
    in_admitted();
    patch(SL_KIND_WORKLOAD, "a", "{\"spec\":{\"active\":false}}");
}

static void in_deactivated_stopped(void)
{
    in_deactivated();
    stop("a");
}

static void in_reactivated(void)
{
    in_deactivated_stopped();
    patch(SL_KIND_WORKLOAD, "a", "{\"spec\":{\"active\":true}}");
}

static void in_too_long(void)
{
    basics("");
    world_add_limited(&w, "a", 60);
    settle();
    pass(61 * SECOND);
}

static void as_before(void)
{
    settings.granular_reasons = false;
    reopen();
}

static void in_older_full(void)
{
    as_before();
    in_full();
}

static void in_older_queue_stopped(void)
{
    as_before();
    in_queue_stopped();
}

static void in_older_gated(void)
{
    as_before();
    in_gated();
}

static void in_older_retried_stopped(void)
{
    as_before();
    in_retried_stopped();
}

static void with_readiness(void)
{
    settings.wait_for_pods_ready = true;
    settings.ready_ms_max = DUE;
    settings.backoff_base_ms = 600 * SECOND;
    reopen();
    basics("");
}

static void in_not_ready(void)
{
    with_readiness();
    add("a", "1");
    pass(DUE + SECOND);
}

static void in_not_ready_stopped(void)
{
    in_not_ready();
    stop("a");
}

static void in_waits_with_readiness(void)
{
    with_readiness();
    add("b", "11");
}

static void in_starts_with_readiness(void)
{
    with_readiness();
    add("a", "1");
}

static void in_drained(void)
{
    in_admitted();
    patch(SL_KIND_CLUSTER_QUEUE, "cq", "{\"spec\":{\"stopPolicy\":\"HoldAndDrain\"}}");
}

static void in_drained_stopped(void)
{
    in_drained();
    stop("a");
}

static void in_restarted(void)
{
    in_drained_stopped();
    patch(SL_KIND_CLUSTER_QUEUE, "cq", "{\"spec\":{\"stopPolicy\":\"None\"}}");
}

static void in_local_queue_drained(void)
{
    in_admitted();
    patch(SL_KIND_LOCAL_QUEUE, "lq", "{\"spec\":{\"stopPolicy\":\"HoldAndDrain\"}}");
}

static void in_retained(void)
{
    settings.retain_finished_ms = 60 * SECOND;
    reopen();
    in_admitted();
    struct sl_json *copy = sl_json_clone(world_workload(&w, "a"));
    (void)sl_condition_set(sl_json_path_make(copy, "status"), "Finished", true, "Succeeded", "done",
                           1, w.now_ms);
    (void)world_put(&w, SL_KIND_WORKLOAD, copy, NULL);
    settle();
    pass(61 * SECOND);
}

/* --- the comparison --------------------------------------------------------------------------- */

static bool matches(const char *pattern, const char *text)
{
    while (*pattern != '\0' && *pattern != '*') {
        if (*pattern++ != *text++) {
            return false;
        }
    }
    if (*pattern == '\0') {
        return *text == '\0' || strncmp(text, "; ", 2) == 0;
    }
    for (pattern++;; text++) {
        if (matches(pattern, text) || *text == '\0') {
            return matches(pattern, text);
        }
    }
}

static bool told(const char *about, const char *type, const char *reason, const char *sentence)
{
    bool found = false;
    for (unsigned i = 0; i < event_count; i++) {
        const char *message = sl_json_path_text(events[i], "message", "");
        if (strcmp(sl_json_path_text(events[i], "involvedObject.name", ""), about) == 0 &&
            strcmp(sl_json_path_text(events[i], "reason", ""), reason) == 0) {
            found = found || (strcmp(sl_json_path_text(events[i], "type", ""), type) == 0 &&
                              matches(sentence, message));
            if (!found) {
                print_message("  an event says %s: %s\n", reason, message);
            }
        }
    }
    return found;
}

static bool stands(const char *workload, const char *type, const char *status, const char *reason,
                   const char *sentence)
{
    const struct sl_json *c = sl_condition_find(world_workload(&w, workload), type);
    bool same = strcmp(sl_json_path_text(c, "status", ""), status) == 0 &&
                strcmp(sl_json_path_text(c, "reason", ""), reason) == 0 &&
                matches(sentence, sl_json_path_text(c, "message", ""));
    if (!same) {
        print_message("  %s says %s %s: %s\n", type, sl_json_path_text(c, "status", "nothing"),
                      sl_json_path_text(c, "reason", ""), sl_json_path_text(c, "message", ""));
    }
    return same;
}

static const struct {
    const char *situation;
    void (*bring_about)(void);
    const char *workload, *where, *status, *reason, *sentence;
} rows[] = {
#define KUEUE_SAYS(situation, workload, where, status, reason, sentence)                           \
    {#situation, in_##situation, workload, where, status, reason, sentence},
#include "kueue_says.def"
#undef KUEUE_SAYS
};

static void test_kueue_says_what_it_says_of_workloads(void **state)
{
    unsigned wrong = 0;
    for (size_t i = 0; i < sizeof rows / sizeof rows[0]; i++) {
        if (i == 0 || strcmp(rows[i].situation, rows[i - 1].situation) != 0) {
            (void)teardown(state);
            (void)setup(state);
            rows[i].bring_about();
        }
        bool said = strcmp(rows[i].where, "event") == 0
                        ? told(rows[i].workload, rows[i].status, rows[i].reason, rows[i].sentence)
                        : stands(rows[i].workload, rows[i].where, rows[i].status, rows[i].reason,
                                 rows[i].sentence);
        if (!said) {
            print_message("%s: %s of %s is not %s %s: %s\n", rows[i].situation, rows[i].where,
                          rows[i].workload, rows[i].status, rows[i].reason, rows[i].sentence);
            wrong++;
        }
    }
    assert_int_equal(wrong, 0);
}

int main(void)
{
    const struct CMUnitTest tests[] = {cmocka_unit_test_setup_teardown(
        test_kueue_says_what_it_says_of_workloads, setup, teardown)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
