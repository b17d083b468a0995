/* SPDX-License-Identifier: Apache-2.0
 * SPDX-FileCopyrightText: The Sluice authors */

/* sluicectl drain: stops ClusterQueues, and with --wait says how many workloads still hold their quota until none does. Workloads
 * are counted only when the scheduler has said that the queue is stopped: before that it may admit one more. */
#include "base/check.h"
#include "base/clock.h"
#include "cli/ctl/ctl.h"
#include "controllers/work/duration.h"
#include <string.h>
#include <unistd.h>

#define LOOK_US 500000
#define NAMES_MAX 3 /* of workloads that are left */

struct draining {
    struct sl_ctl *c;
    struct sl_json *queues; /* map: name to how many were left when that was said last */
    struct sl_json *made;   /* where data is asked for: the queues as they are in the end */
    int64_t until_ms;       /* INT64_MAX: for ever */
    bool deleted;           /* one of them, meanwhile */
};

static bool is_stopped(const struct sl_json *queue)
{
    const struct sl_json *active = sl_condition_find(queue, "Active");
    return strcmp(sl_json_path_text(active, "status", ""), "False") == 0 &&
           sl_json_path_int(active, "observedGeneration", 0) >= sl_object_generation(queue);
}

static bool holds_quota(const struct sl_json *workload, const char *queue)
{
    return strcmp(sl_json_path_text(workload, "status.admission.clusterQueue", ""), queue) == 0 &&
           !sl_condition_true(workload, "Finished");
}

/* How many are left, and the names of some. */
static int64_t count(const struct sl_json *workloads, const char *queue, struct sl_buf *names)
{
    int64_t left = 0;
    for (size_t i = 0; i < sl_json_len(workloads); i++) {
        const struct sl_json *workload = sl_json_at(workloads, i);
        if (holds_quota(workload, queue) && left++ < NAMES_MAX) {
            sl_buf_print(names, "%s%s/%s", left > 1 ? ", " : "", sl_object_namespace(workload),
                         sl_object_name(workload));
        }
    }
    sl_buf_text(names, left > NAMES_MAX ? ", ..." : "");
    return left;
}

static bool says_it(const struct draining *d)
{
    return d->c->output == SL_OUTPUT_TABLE;
}

/* Says what has changed; where data is asked for that is no part of it. */
static void look_at(struct draining *d, struct sl_json *queue, const struct sl_json *workloads)
{
    FILE *out = says_it(d) ? stdout : stderr;
    const char *name = sl_object_name(queue);
    struct sl_buf names = {0};
    if (!is_stopped(queue)) {
        return;
    }
    int64_t left = count(workloads, name, &names);
    if (left == 0) {
        fprintf(out, "clusterqueue.kueue.x-k8s.io/%s drained\n", name);
        sl_json_append(d->made, sl_json_ref(queue));
        sl_json_remove(d->queues, name);
    } else if (left != sl_json_path_int(d->queues, name, -1)) {
        fprintf(out, "clusterqueue.kueue.x-k8s.io/%s: %lld workload%s left: %s\n", name,
                (long long)left, left == 1 ? "" : "s", names.data);
        sl_json_set_int(d->queues, name, left);
    }
    fflush(out);
    sl_buf_fini(&names);
}

static void look_for_deleted(struct draining *d, const struct sl_json *queues)
{
    struct sl_json *names = sl_json_clone(d->queues);
    for (struct sl_json_member m = {0}; sl_json_each(names, &m);) {
        bool there = false;
        for (size_t i = 0; i < sl_json_len(queues); i++) {
            there = there || strcmp(sl_object_name(sl_json_at(queues, i)), m.key) == 0;
        }
        if (!there) {
            fprintf(stderr, "sluicectl: clusterqueue.kueue.x-k8s.io/%s was deleted\n", m.key);
            sl_json_remove(d->queues, m.key);
            d->deleted = true;
        }
    }
    sl_json_free(names);
}

static enum sl_code look(struct draining *d, struct sl_error *e)
{
    struct sl_json *queues = NULL, *workloads = NULL;
    enum sl_code code = sl_ctl_fetch_list(d->c, SL_KIND_CLUSTER_QUEUE, &queues, e);
    /* After the queues: what one that is stopped has is in the list. */
    code = code == SL_CODE_OK ? sl_ctl_fetch_list(d->c, SL_KIND_WORKLOAD, &workloads, e) : code;
    const struct sl_json *items = sl_json_get(queues, "items");
    for (size_t i = 0; code == SL_CODE_OK && i < sl_json_len(items); i++) {
        if (sl_json_has(d->queues, sl_object_name(sl_json_at(items, i)))) {
            look_at(d, sl_json_at(items, i), sl_json_get(workloads, "items"));
        }
    }
    if (code == SL_CODE_OK) {
        look_for_deleted(d, items);
    }
    sl_json_free(queues);
    sl_json_free(workloads);
    return code;
}

static int wait_for_all(struct draining *d)
{
    struct sl_error e = {0};
    while (sl_json_len(d->queues) > 0) {
        if (look(d, &e) != SL_CODE_OK) {
            return sl_ctl_failed("drain", &e);
        }
        if (sl_json_len(d->queues) > 0 && sl_clock_now_ms() >= d->until_ms) {
            (void)sl_error_set(&e, SL_CODE_TIMEOUT, "not empty after %s", d->c->timeout);
            return sl_ctl_failed("drain", &e);
        }
        usleep(sl_json_len(d->queues) > 0 ? LOOK_US : 0);
    }
    return d->deleted ? 1 : 0;
}

static int stop(struct draining *d, const char *name)
{
    struct sl_json *patch = sl_json_new_map(), *result = NULL;
    struct sl_error e = {0};
    sl_json_set_text(sl_json_path_make(patch, "spec"), "stopPolicy",
                     d->c->keep_running ? "Hold" : "HoldAndDrain");
    enum sl_code code = sl_ctl_patch(d->c, SL_KIND_CLUSTER_QUEUE, name, patch, &result, &e);
    if (code == SL_CODE_OK) {
        sl_ctl_did(d->c, SL_KIND_CLUSTER_QUEUE, result, "draining", d->c->wait ? NULL : d->made);
        fflush(stdout);
        sl_json_set_int(d->queues, name, -1);
    }
    sl_json_free(patch);
    sl_json_free(result);
    return code == SL_CODE_OK ? 0 : sl_ctl_failed("", &e);
}

int sl_ctl_drain(struct sl_ctl *c)
{
    SL_PRE(c != NULL);
    struct sl_error e = {0};
    int64_t timeout_ms = 0;
    if (c->arguments.count == 0) {
        return sl_ctl_misused("drain which ClusterQueue?");
    }
    if (c->timeout != NULL && sl_duration_parse(c->timeout, &timeout_ms, &e) != SL_CODE_OK) {
        return sl_ctl_misused("--timeout: %s", e.text);
    }
    if (c->timeout != NULL && !c->wait) {
        return sl_ctl_misused("--timeout: only with --wait");
    }
    struct draining d = {.c = c,
                         .queues = sl_json_new_map(),
                         .made = sl_json_new_list(),
                         .until_ms =
                             c->timeout == NULL ? INT64_MAX : sl_clock_now_ms() + timeout_ms};
    int status = 0;
    for (unsigned i = 0; i < c->arguments.count; i++) {
        int one = stop(&d, c->arguments.items[i]);
        status = one > status ? one : status;
    }
    if (c->wait) {
        int waited = wait_for_all(&d);
        status = waited > status ? waited : status;
    }
    sl_ctl_print_made(c, d.made);
    sl_json_free(d.queues);
    sl_json_free(d.made);
    return status;
}
