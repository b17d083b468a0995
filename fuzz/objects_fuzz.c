/* SPDX-License-Identifier: Apache-2.0
 * SPDX-FileCopyrightText: The Sluice authors */

/* Drives: the engine by whole Workload objects: made, changed by everybody who may, deleted; checks that answer in any
 * order, jobs that stop, nodes that fail, change and go, administrators, writes that fail, restarts with changes in
 * between.
 * Oracle: each object that is written says what its record says, an eviction leaves what row E of docs/lifecycle.md
 * says, whoever waits for a time has a timer (engine/conditions/mirror.h, sl_engine_valid), and after a restart of what
 * is settled the records are as before.
 * Input: events of an operation, a workload, two bytes of arguments, and how far things go on afterwards. */
#include "base/clock.h"
#include "fuzz/lib/check.h"
#include "fuzz/lib/objects.h"
#include "fuzz/lib/objects_more.h"
#include "fuzz/lib/producer.h"
#include <stdio.h>

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

enum { EVENTS_MAX = 64 };

static struct sl_json *parse(const char *text, size_t len)
{
    struct sl_error e = {0};
    struct sl_json *v = sl_json_parse(text, len, &e);
    CHECK(v != NULL);
    return v;
}

static void create(uint32_t w, uint32_t a, uint32_t b)
{
    static const char *const requests[] = {"null", "{\"unconstrained\":true}",
                                           "{\"required\":\"rack\"}", "{\"preferred\":\"rack\"}"};
    static const int limits_s[] = {0, 0, 60, 4000};
    char text[900];
    if (objects_workload(w) != NULL) {
        return;
    }
    int n = snprintf(
        text, sizeof text,
        "{\"metadata\":{\"namespace\":\"ns\",\"name\":\"w%u\"%s},\"spec\":{\"queueName\":\"lq\","
        "\"priority\":%u,\"maximumExecutionTimeSeconds\":%d,\"podSets\":[{\"name\":\"main\","
        "\"count\":%u,\"topologyRequest\":%s,\"template\":{\"spec\":{\"containers\":[{\"name\":"
        "\"c\",\"resources\":{\"requests\":{\"cpu\":\"1\"}}}]}}}]}}",
        w, b % 16 == 15 ? ",\"annotations\":{\"kueue.x-k8s.io/admission-gated-by\":\"x/y\"}" : "",
        a / 4 % 4, limits_s[b / 4 % 4], 1 + a % 4, requests[b % 4]);
    objects_put_workload(w, parse(text, (size_t)n));
}

static void set_time(struct sl_json *item)
{
    char text[32];
    sl_clock_format(objects_now_ms(), text);
    sl_json_set_text(item, "lastTransitionTime", text);
}

/* Two bits for each check that is there, by its place in the list. */
static void answer_checks(struct sl_json *o, uint32_t a, uint32_t b)
{
    static const char *const states[] = {"Pending", "Ready", "Retry", "Rejected"};
    struct sl_json *list = sl_json_path(o, "status.admissionChecks");
    for (size_t i = 0; i < sl_json_len(list); i++) {
        struct sl_json *item = sl_json_at(list, i);
        sl_json_set_text(item, "state", states[a >> (2 * i) & 3u]);
        sl_json_set_text(item, "message", "an answer");
        if (b >> i & 1u) {
            sl_json_set_int(item, "requeueAfterSeconds", 30 + (int64_t)b);
        }
        set_time(item);
    }
}

static void set_active(struct sl_json *o, bool active)
{
    if (sl_json_path_bool(o, "spec.active", true) != active) {
        sl_json_set_bool(sl_json_path_make(o, "spec"), "active", active);
        sl_json_set_int(sl_json_get(o, "metadata"), "generation", sl_object_generation(o) + 1);
    }
}

static void set_condition(struct sl_json *o, const char *type, bool value, const char *reason)
{
    (void)sl_condition_set(sl_json_path_make(o, "status"), type, value, reason, "by the target",
                           sl_object_generation(o), objects_now_ms());
}

static void mark_node(struct sl_json *o, uint32_t a)
{
    char text[64];
    struct sl_json *status = sl_json_path_make(o, "status");
    int n = snprintf(text, sizeof text, "[{\"name\":\"n%u\"}]", a % OBJECTS_NODES);
    sl_json_set(status, "unhealthyNodes", parse(text, (size_t)n));
}

/* What others do to a Workload, in one version. NULL = nothing. */
static struct sl_json *changed(uint32_t what, uint32_t w, uint32_t a, uint32_t b)
{
    if (objects_workload(w) == NULL) {
        return NULL;
    }
    struct sl_json *o = sl_json_clone(objects_workload(w));
    if (what >= 160) {
        objects_change_more(o, what, a, b);
        return o;
    }
    switch (what % 8) {
    case 0:
    case 1:
    case 2:
        answer_checks(o, a, b);
        break;
    case 3:
        answer_checks(o, a, b);
        set_active(o, b % 4 == 0);
        break;
    case 4:
        set_active(o, a % 2 == 0);
        break;
    case 5:
        set_condition(o, "PodsReady", a % 2 == 0, a % 4 == 3 ? "WaitForRecovery" : "WaitForStart");
        break;
    case 6:
        mark_node(o, a);
        break;
    default:
        if (b % 4 == 0) {
            set_condition(o, "Finished", true, "Succeeded");
        } else {
            sl_json_set_int(sl_json_path_make(o, "spec"), "priority", a % 4);
            sl_json_set_int(sl_json_get(o, "metadata"), "generation", sl_object_generation(o) + 1);
        }
        break;
    }
    return o;
}

static void fail(uint32_t a, uint32_t b)
{
    static const enum sl_code codes[] = {SL_CODE_OK, SL_CODE_CONFLICT, SL_CODE_TIMEOUT,
                                         SL_CODE_UNAVAILABLE};
    objects_fail(codes[a % 4], 1 + b % 4);
}

static void pass(uint32_t a)
{
    static const int64_t steps_s[] = {1, 2, 30, 61, 130, 301, 700, 7200};
    objects_pass(steps_s[a % 8] * 1000);
}

static void queue(uint32_t a, uint32_t b)
{
    static const char *const stops[] = {"None", "None", "Hold", "HoldAndDrain"};
    objects_put_queue(b % (OBJECTS_CHECKS + 1), stops[a % 4], stops[a / 4 % 4]);
}

static void node(uint32_t a, uint32_t b)
{
    if (b % 4 == 3) {
        objects_delete_node(a % OBJECTS_NODES);
    } else {
        objects_put_node(a % OBJECTS_NODES, b % 4 != 2);
    }
}

static void restart(uint32_t what, uint32_t w, uint32_t a, uint32_t b)
{
    struct sl_json *o = what % 2 == 0 ? NULL : changed(what / 2, w, a, b);
    if (o != NULL) {
        objects_put_unseen(w, o);
    }
    objects_restart();
}

static void play(struct producer *p)
{
    uint32_t operation = producer_byte(p);
    uint32_t w = producer_below(p, OBJECTS_WORKLOADS);
    uint32_t a = producer_byte(p), b = producer_byte(p), then = producer_byte(p);
    uint32_t what = producer_byte(p);
    struct sl_json *o = NULL;
    switch (operation % 16) {
    case 0:
    case 1:
        create(w, a, b);
        break;
    case 2:
        objects_delete_workload(w);
        break;
    case 3:
    case 4:
        objects_stop_job(w);
        break;
    case 5:
    case 6:
        pass(a);
        break;
    case 7:
        fail(a, b);
        break;
    case 8:
        queue(a, b);
        break;
    case 9:
        node(a, b);
        break;
    case 10:
        restart(what, w, a, b);
        break;
    case 11:
        objects_administer(what, a, b);
        break;
    default:
        o = changed(what, w, a, b);
        break;
    }
    if (o != NULL) {
        objects_put_workload(w, o);
    }
    if (then % 4 == 1) {
        objects_step(then / 4 % 4);
    } else if (then % 4 != 0) {
        objects_settle();
    }
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    struct producer program = {data, size}, p;
    if (!producer_event(&program, &p)) {
        return 0;
    }
    uint32_t flags = producer_byte(&p);
    struct objects_setup setup = {.topology = (flags & 1u) != 0,
                                  .wait_ready = (flags & 2u) != 0,
                                  .granular = (flags & 4u) != 0,
                                  .fail_fast = (flags & 8u) != 0,
                                  .checks = producer_below(&p, OBJECTS_CHECKS + 1)};
    objects_open(&setup);
    for (unsigned i = 0; i < EVENTS_MAX && producer_event(&program, &p); i++) {
        play(&p);
    }
    objects_fail(SL_CODE_OK, 0);
    objects_settle();
    objects_pass(7200000);
    objects_settle();
    objects_close();
    return 0;
}
