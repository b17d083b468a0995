/* SPDX-License-Identifier: Apache-2.0
 * SPDX-FileCopyrightText: The Sluice authors */

/* Drives: all controllers and the engine by whole objects on a little API server (fuzz/lib/shelf.h): Jobs, some elastic,
 * plain Pods and groups of them, made, changed by their users, by Kubernetes and by whoever may, deleted and made again;
 * Workloads that are answered, deactivated, prebuilt, deleted; administrators; news that come late, writes that fail or
 * whose answer is lost, restarts.
 * Oracle: no job runs that no Workload lets run, one Workload a job, what is stopped is restored, nothing is asked for that
 * the API refuses or that is so already, everything comes to rest, and a restart then writes nothing (fuzz/lib/joblaw.h);
 * slices and pods of elastic Jobs (fuzz/lib/slicelaw.h); each Workload against its record (engine/conditions/mirror.h).
 * Input: events of an operation, a number, two bytes of arguments, how far things go on afterwards, and which change. */
#include "api/kinds/elastic.h"
#include "base/clock.h"
#include "controllers/jobs/job.h"
#include "controllers/jobs/podjob.h"
#include "fuzz/lib/check.h"
#include "fuzz/lib/form.h"
#include "fuzz/lib/cluster.h"
#include "fuzz/lib/joblaw.h"
#include "fuzz/lib/producer.h"
#include <stdio.h>
#include <string.h>

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

enum { EVENTS_MAX = 48, JOBS = 4, PODS = 6 };
#define ALL UINT32_MAX

struct change {
    uint32_t what, number, a, b;
};

/* --- Jobs --------------------------------------------------------------------------------------- */

static const char *const queues[] = {"lq", "lq", "other", "missing"};
static const char *const topologies[] = {"", "kueue.x-k8s.io/podset-required-topology",
                                         "kueue.x-k8s.io/podset-preferred-topology",
                                         "kueue.x-k8s.io/podset-unconstrained-topology"};

static void job_name(uint32_t number, char out[static 8])
{
    (void)snprintf(out, 8, "j%u", number % JOBS);
}

static const struct sl_json *job_of(uint32_t number)
{
    char name[8];
    job_name(number, name);
    return shelf_find(SL_KIND_JOB, "ns", name);
}

static void mark(struct sl_json *o, const char *where, const char *key, const char *value)
{
    if (value == NULL) {
        sl_json_remove(sl_json_path(o, where), key);
    } else {
        sl_json_set_text(sl_json_path_make(o, where), key, value);
    }
}

static void ask_topology(struct sl_json *template, uint32_t a)
{
    for (size_t i = 1; i < 4; i++) {
        mark(template, "metadata.annotations", topologies[i], NULL);
    }
    if (a % 4 != 0) {
        mark(template, "metadata.annotations", topologies[a % 4], a % 4 == 3 ? "true" : "rack");
    }
    if (sl_json_len(sl_json_path(template, "metadata.annotations")) == 0) {
        sl_json_remove(sl_json_get(template, "metadata"), "annotations");
    }
}

static void want_template(const struct sl_json *job)
{
    joblaw_want(sl_object_uid(job), sl_json_clone(sl_json_path(job, "spec.template")));
}

static void make_job(const struct change *c)
{
    char name[8];
    job_name(c->number, name);
    if (job_of(c->number) != NULL) {
        return;
    }
    struct sl_json *o = form_json(
        "{\"metadata\":{\"namespace\":\"ns\",\"name\":\"%s\",\"labels\":{\"x\":\"y\"}},\"spec\":{"
        "\"suspend\":%s,\"parallelism\":%u,\"completions\":%u,\"completionMode\":\"%s\","
        "\"template\":{\"metadata\":{\"labels\":{\"app\":\"x\"}},\"spec\":{\"restartPolicy\":"
        "\"Never\","
        "\"containers\":[{\"name\":\"c\",\"resources\":{\"requests\":{\"cpu\":\"1\"}}}]}}}}",
        name, c->b % 4 == 3 ? "false" : "true", 1 + c->a % 4, 1 + c->a % 4 + c->a / 4 % 4,
        c->a / 16 % 2 != 0 ? "Indexed" : "NonIndexed");
    if (c->b / 4 % 8 != 7) {
        mark(o, "metadata.labels", SL_LABEL_QUEUE, queues[c->b / 4 % 4]);
    }
    bool elastic = c->b / 128 != 0;
    if (elastic) {
        mark(o, "metadata.annotations", SL_ANNOTATION_ELASTIC, "true");
    } else if (c->a / 32 % 2 != 0) {
        mark(o, "metadata.annotations", SL_ANNOTATION_MIN_PODS, "1");
    }
    if (c->a / 64 == 3) {
        mark(o, "metadata.labels", SL_LABEL_PREBUILT, "prebuilt");
    }
    ask_topology(sl_json_path(o, "spec.template"), elastic ? c->b / 32 % 2 * 3 : c->b / 32 % 4);
    if (shelf_put(SL_KIND_JOB, o) == SL_CODE_OK) {
        want_template(job_of(c->number));
    }
}

/* Of a template as the user sees it. */
static void choose_place(struct sl_json *template, uint32_t a)
{
    static const char *const pools[] = {NULL, "a", "b", "c"};
    mark(template, "spec.nodeSelector", "pool", pools[a % 4]);
    if (a / 4 % 2 != 0) {
        sl_json_set(sl_json_get(template, "spec"), "tolerations",
                    form_json("[{\"key\":\"k\",\"operator\":\"Exists\"}]"));
    } else {
        sl_json_remove(sl_json_get(template, "spec"), "tolerations");
    }
    mark(template, "metadata.labels", "more", a / 8 % 2 != 0 ? "so" : NULL);
}

/* A user changes the template of a job that is as the user knows it. */
static void change_template(const struct sl_json *job, const struct change *c)
{
    const struct sl_json *known = joblaw_wanted(sl_object_uid(job));
    if (known == NULL || !sl_json_equal(known, sl_json_path(job, "spec.template"))) {
        return;
    }
    struct sl_json *o = sl_json_clone(job);
    if (c->b % 2 == 0) {
        choose_place(sl_json_path(o, "spec.template"), c->a);
    } else {
        ask_topology(sl_json_path(o, "spec.template"), c->a);
    }
    if (shelf_put(SL_KIND_JOB, o) == SL_CODE_OK) {
        char name[8];
        job_name(c->number, name);
        want_template(shelf_find(SL_KIND_JOB, "ns", name));
    }
}

static void change_marks(struct sl_json *o, const struct change *c)
{
    static const char *const classes[] = {NULL, "high", "low", "missing"};
    static const char *const limits[] = {NULL, "60", "4000", "x"};
    switch (c->a % 4) {
    case 0:
        mark(o, "metadata.labels", SL_LABEL_QUEUE, c->b % 8 == 7 ? NULL : queues[c->b % 4]);
        break;
    case 1:
        mark(o, "metadata.labels", SL_LABEL_PRIORITY_CLASS, classes[c->b % 4]);
        break;
    case 2:
        mark(o, "metadata.labels", SL_LABEL_MAX_EXEC_S, limits[c->b % 4]);
        break;
    default:
        mark(o, "metadata.annotations",
             c->b % 2 == 0 ? SL_ANNOTATION_GATED_BY : SL_ANNOTATION_MIN_PODS,
             c->b / 2 % 2 == 0 ? NULL
             : c->b % 2 == 0   ? "x/y"
                               : "1");
        break;
    }
}

static void end_job(struct sl_json *o, uint32_t a)
{
    struct sl_json *status = sl_json_path_make(o, "status");
    sl_json_set_int(status, "active", 0);
    sl_json_set_int(status, "ready", 0);
    (void)sl_condition_set(status, a % 2 == 0 ? "Complete" : "Failed", true, "Ended", "it ended", 0,
                           cluster_now_ms());
}

/* Pods of it come, get ready, end; more have succeeded than before, or as many. */
static void run_job(struct sl_json *o, uint32_t a, uint32_t b)
{
    char text[32];
    struct sl_json *status = sl_json_path_make(o, "status");
    int64_t before = sl_json_path_int(status, "succeeded", 0);
    bool suspended = sl_json_path_bool(o, "spec.suspend", false);
    sl_json_set_int(status, "active", suspended && b % 2 == 0 ? 0 : a % 4);
    sl_json_set_int(status, "ready", b % (a % 4 + 1));
    if (a / 4 % 8 > before) {
        sl_json_set_int(status, "succeeded", a / 4 % 8);
        (void)snprintf(text, sizeof text, b % 2 == 0 ? "0-%u" : "0,%u", a / 4 % 8 - 1);
        sl_json_set_text(status, "completedIndexes", text);
    }
    if (!suspended && sl_json_get(status, "startTime") == NULL) {
        sl_clock_format(cluster_now_ms(), text);
        sl_json_set_text(status, "startTime", text);
    }
}

static void hold_object(struct sl_json *o, bool on)
{
    struct sl_json *meta = sl_json_get(o, "metadata");
    bool held = sl_object_has_finalizer(o, "example.com/x");
    if (on && !held && !sl_object_deleting(o)) {
        if (sl_json_get(meta, "finalizers") == NULL) {
            sl_json_set(meta, "finalizers", sl_json_new_list());
        }
        sl_json_append(sl_json_get(meta, "finalizers"), sl_json_new_text("example.com/x"));
    } else if (!on && held) {
        (void)sl_object_drop_finalizer(o, "example.com/x");
    }
}

static void scale_job(struct sl_json *o, uint32_t pods)
{
    struct sl_json *spec = sl_json_get(o, "spec");
    sl_json_set_int(spec, "parallelism", pods);
    if (sl_is_elastic(o) && sl_job_indexed(o)) {
        sl_json_set_int(spec, "completions", pods);
    }
}

static void change_job(const struct change *c)
{
    const struct sl_json *job = job_of(c->number);
    if (job == NULL) {
        return;
    }
    if (c->what % 8 == 3) {
        change_template(job, c);
        return;
    }
    struct sl_json *o = sl_json_clone(job);
    switch (c->what % 8) {
    case 0:
        sl_json_set_bool(sl_json_get(o, "spec"), "suspend", c->a % 2 == 0);
        break;
    case 1:
        scale_job(o, c->a % 5);
        break;
    case 2:
    case 4:
        change_marks(o, c);
        break;
    case 5:
        hold_object(o, c->a % 2 == 0);
        break;
    case 6:
        run_job(o, c->a, c->b);
        break;
    default:
        if (c->b % 2 == 0) {
            end_job(o, c->a);
        } else {
            run_job(o, c->a, c->b);
        }
        break;
    }
    (void)shelf_put(SL_KIND_JOB, o);
    /* Pods go before their user changes the number again: what runs without quota then cannot be held back. */
    while (c->what % 8 == 1 && sl_is_elastic(job_of(c->number)) && cluster_run_jobs()) {
        (void)cluster_run_pods();
    }
}

/* --- Pods --------------------------------------------------------------------------------------- */

/* As admission lets them in: marked, held and gated. */
static void make_pod(const struct change *c)
{
    struct sl_json *o = form_json(
        "{\"metadata\":{\"namespace\":\"ns\",\"name\":\"p%u\",\"labels\":{\"kueue.x-k8s.io/"
        "queue-name\":\"%s\",\"kueue.x-k8s.io/managed\":\"true\"},\"finalizers\":[\"kueue.x-k8s.io/"
        "managed\"]},\"spec\":{\"schedulingGates\":[{\"name\":\"kueue.x-k8s.io/admission\"},{"
        "\"name\":\"kueue.x-k8s.io/topology\"}],\"containers\":[{\"name\":\"c\",\"image\":\"i\","
        "\"resources\":{\"requests\":{\"cpu\":\"%u\"}}}]}}",
        c->number % PODS, queues[c->b % 4], 1 + c->a / 4 % 2);
    if (c->a % 4 != 0) {
        char count[8];
        (void)snprintf(count, sizeof count, "%u", 1 + c->a / 8 % 3);
        mark(o, "metadata.labels", SL_POD_GROUP, c->a % 4 == 3 ? "g1" : "g0");
        mark(o, "metadata.annotations", SL_POD_GROUP_COUNT, count);
        mark(o, "metadata.annotations", SL_POD_GROUP_FAST, c->a / 32 % 4 == 1 ? "true" : NULL);
        mark(o, "metadata.annotations", SL_POD_GROUP_SERVING, c->a / 32 % 4 == 2 ? "true" : NULL);
        mark(o, "metadata.annotations", SL_POD_RETRIABLE, c->a / 32 % 4 == 3 ? "false" : NULL);
    }
    ask_topology(o, c->b / 8 % 4);
    (void)shelf_put(SL_KIND_POD, o);
}

/* Of the pods that Jobs have; NULL: they have none. */
static const struct sl_json *pod_of_job(uint32_t number)
{
    uint32_t count = 0;
    for (int round = 0; round < 2; round++) {
        size_t cursor = 0;
        uint32_t at = count == 0 ? 0 : number % count, i = 0;
        for (const struct sl_json *o; (o = shelf_next(SL_KIND_POD, &cursor)) != NULL;) {
            bool counts = sl_object_controller_ref(o) != NULL;
            if (counts && round == 1 && i++ == at) {
                return o;
            }
            count += counts && round == 0;
        }
    }
    return NULL;
}

static const struct sl_json *pod_of(uint32_t number)
{
    char name[8];
    if (number >= 128 && pod_of_job(number) != NULL) {
        return pod_of_job(number);
    }
    (void)snprintf(name, sizeof name, "p%u", number % PODS);
    return shelf_find(SL_KIND_POD, "ns", name);
}

/* What ended stays so. */
static void run_pod(struct sl_json *o, uint32_t a)
{
    static const char *const phases[] = {"Running", "Running", "Succeeded", "Failed"};
    bool waits = sl_object_controller_ref(o) != NULL
                     ? sl_json_len(sl_json_path(o, "spec.schedulingGates")) > 0
                     : a % 4 != 3 && sl_podjob_gated(o);
    if (sl_podjob_ended(o) || waits) {
        return;
    }
    sl_json_set_text(sl_json_path_make(o, "status"), "phase", phases[a % 4]);
    (void)sl_condition_set(sl_json_path_make(o, "status"), "Ready", a % 4 == 1, "Seen", "", 0,
                           cluster_now_ms());
}

static void change_pod(const struct change *c)
{
    if (pod_of(c->number) == NULL) {
        make_pod(c);
        return;
    }
    struct sl_json *o = sl_json_clone(pod_of(c->number));
    switch (sl_object_controller_ref(o) != NULL ? 3 : c->what % 4) {
    case 0:
        hold_object(o, c->a % 2 == 0);
        break;
    case 1:
        change_marks(o, c);
        break;
    default:
        run_pod(o, c->a);
        break;
    }
    (void)shelf_put(SL_KIND_POD, o);
}

static void delete_object(const struct change *c)
{
    char name[8];
    if (c->a % 2 == 0) {
        job_name(c->number, name);
        shelf_delete(SL_KIND_JOB, "ns", name);
    } else {
        (void)snprintf(name, sizeof name, "p%u", c->number % PODS);
        shelf_delete(SL_KIND_POD, "ns", name);
    }
    if (c->b % 2 != 0) {
        (void)shelf_collect();
    }
}

/* --- Workloads ---------------------------------------------------------------------------------- */

static const struct sl_json *workload_of(uint32_t number)
{
    size_t cursor = 0;
    const struct sl_json *found = NULL;
    for (const struct sl_json *o; (o = shelf_next(SL_KIND_WORKLOAD, &cursor)) != NULL;) {
        found = o;
        if (number-- == 0) {
            break;
        }
    }
    return found;
}

static void answer_checks(struct sl_json *o, uint32_t a, uint32_t b)
{
    static const char *const states[] = {"Pending", "Ready", "Retry", "Rejected"};
    char text[32];
    struct sl_json *list = sl_json_path(o, "status.admissionChecks");
    for (size_t i = 0; i < sl_json_len(list); i++) {
        struct sl_json *item = sl_json_at(list, i);
        sl_clock_format(cluster_now_ms(), text);
        sl_json_set_text(item, "state", states[a >> (2 * i) & 3u]);
        sl_json_set_text(item, "message", "an answer");
        sl_json_set_text(item, "lastTransitionTime", text);
        if (b >> i & 1u) {
            sl_json_set(item, "podSetUpdates",
                        form_json("[{\"name\":\"main\",\"nodeSelector\":{\"zone\":\"%c\"},"
                                  "\"labels\":{\"l\":\"%c\"}}]",
                                  b / 4 % 4 == 3 ? 'b' : 'a', 'a' + (int)i));
        }
    }
}

static void make_prebuilt(const struct change *c)
{
    (void)shelf_put(
        SL_KIND_WORKLOAD,
        form_json(
            "{\"metadata\":{\"namespace\":\"ns\",\"name\":\"prebuilt\"},\"spec\":{"
            "\"queueName\":\"lq\",\"podSets\":[{\"name\":\"main\",\"count\":%u,\"template\":{"
            "\"metadata\":{\"labels\":{\"app\":\"x\"}},\"spec\":{\"restartPolicy\":\"Never\","
            "\"containers\":[{\"name\":\"c\",\"resources\":{\"requests\":{\"cpu\":\"1\"}}}]}}}]}}",
            1 + c->a % 4));
}

static void change_workload(const struct change *c)
{
    const struct sl_json *wl = workload_of(c->number);
    if (c->what % 8 == 7) {
        if (shelf_find(SL_KIND_WORKLOAD, "ns", "prebuilt") == NULL) {
            make_prebuilt(c);
        }
        return;
    }
    if (wl == NULL) {
        return;
    }
    struct sl_json *o = sl_json_clone(wl);
    switch (c->what % 8) {
    case 0:
    case 1:
    case 2:
        answer_checks(o, c->a, c->b);
        break;
    case 3:
    case 4:
        sl_json_set_bool(sl_json_get(o, "spec"), "active", c->a % 2 == 0);
        break;
    case 5:
        hold_object(o, c->a % 2 == 0);
        break;
    default:
        sl_json_free(o);
        shelf_delete(SL_KIND_WORKLOAD, "ns", sl_object_name(wl));
        return;
    }
    (void)shelf_put(SL_KIND_WORKLOAD, o);
}

/* --- administrators, time, the daemon ------------------------------------------------------------ */

static void administer(const struct change *c)
{
    static const char *const stops[] = {"None", "None", "Hold", "HoldAndDrain"};
    static const char *const pools[] = {"a", "b", "c", "d"};
    switch (c->what % 6) {
    case 0:
        cluster_put_queue(stops[c->a % 4], stops[c->b % 4]);
        break;
    case 1:
        cluster_set_quota(c->a % 10);
        cluster_put_queue("None", "None");
        break;
    case 2:
        cluster_set_checks(c->a % (CLUSTER_CHECKS + 1));
        cluster_put_queue("None", "None");
        break;
    case 3:
        cluster_put_flavor(c->a % 2, pools[c->b % 4]);
        break;
    case 4:
        cluster_put_class(SL_KIND_WORKLOAD_PRIORITY_CLASS, c->a % 2 == 0 ? "high" : "low",
                          (int)(c->b % 8) * 30);
        break;
    default:
        shelf_delete(SL_KIND_WORKLOAD_PRIORITY_CLASS, "", c->a % 2 == 0 ? "high" : "low");
        break;
    }
}

static void fail(uint32_t a, uint32_t b)
{
    static const enum sl_code codes[] = {SL_CODE_OK, SL_CODE_CONFLICT, SL_CODE_TIMEOUT,
                                         SL_CODE_UNAVAILABLE};
    shelf_fail(codes[a % 4], 1 + b % 4, a % 4 >= 2 && a / 4 % 2 != 0);
}

static void pass(uint32_t a)
{
    static const int64_t steps_s[] = {1, 2, 5, 30, 61, 130, 700, 7200};
    cluster_pass(steps_s[a % 8] * 1000);
}

/* How far things go on: a set of kinds is told, answers come, the controllers look. */
static void go_on(uint32_t how)
{
    switch (how % 8) {
    case 0:
        break;
    case 1:
        (void)shelf_tell(ALL, how / 8 % 4 + 1);
        break;
    case 2:
        (void)shelf_tell(1u << (unsigned)SL_KIND_WORKLOAD, ALL);
        break;
    case 3:
        (void)shelf_tell(~(1u << (unsigned)SL_KIND_WORKLOAD), ALL);
        cluster_step();
        break;
    case 4:
        (void)shelf_answer(how / 8 % 4 + 1);
        cluster_step();
        break;
    case 5:
        (void)shelf_tell(ALL, ALL);
        (void)shelf_answer(ALL);
        cluster_step();
        break;
    case 6:
        (void)shelf_tell(ALL, ALL);
        cluster_step();
        (void)cluster_run_jobs();
        (void)cluster_run_pods();
        break;
    default:
        cluster_settle();
        break;
    }
}

static void play(struct producer *p)
{
    uint32_t operation = producer_byte(p);
    struct change c = {.number = producer_byte(p), .a = producer_byte(p), .b = producer_byte(p)};
    uint32_t then = producer_byte(p);
    c.what = producer_byte(p);
    switch (operation % 16) {
    case 0:
    case 1:
        make_job(&c);
        break;
    case 2:
    case 3:
    case 4:
    case 5:
        change_job(&c);
        break;
    case 6:
    case 7:
        change_pod(&c);
        break;
    case 8:
        delete_object(&c);
        break;
    case 9:
    case 10:
    case 11:
        change_workload(&c);
        break;
    case 12:
        administer(&c);
        break;
    case 13:
        fail(c.a, c.b);
        break;
    case 14:
        pass(c.a);
        break;
    default:
        cluster_restart();
        break;
    }
    go_on(then);
}

/* At rest, a daemon that begins has nothing to write. */
static void restart_at_rest(void)
{
    cluster_settle();
    unsigned long before = joblaw_changes();
    cluster_restart();
    cluster_settle();
    CHECK(joblaw_changes() == before);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    struct producer program = {data, size}, p;
    if (!producer_event(&program, &p)) {
        return 0;
    }
    uint32_t flags = producer_byte(&p);
    struct cluster_setup setup = {.cached = (flags & 1u) != 0,
                                  .wait_ready = (flags & 2u) != 0,
                                  .topology = (flags & 4u) != 0,
                                  .checks = producer_byte(&p) % (CLUSTER_CHECKS + 1)};
    cluster_open(&setup);
    for (unsigned i = 0; i < EVENTS_MAX && producer_event(&program, &p); i++) {
        play(&p);
    }
    shelf_fail(SL_CODE_OK, 0, false);
    cluster_settle();
    cluster_pass(7200000);
    cluster_settle();
    restart_at_rest();
    cluster_close();
    joblaw_forget();
    return 0;
}
