/* SPDX-License-Identifier: Apache-2.0
 * SPDX-FileCopyrightText: The Sluice authors */

/* Running bound pods, and clearing nodes that failed. */
#include "controllers/cluster/kubelet.h"
#include "base/check.h"
#include "base/clock.h"
#include "controllers/work/duration.h"
#include "controllers/cluster/runner.h"
#include <string.h>

/* --- a pod's status ------------------------------------------------------------------------------------ */

static void set_containers(struct sl_json *pod, bool ready)
{
    const struct sl_json *containers = sl_json_path(pod, "spec.containers");
    struct sl_json *list = sl_json_new_list();
    for (size_t i = 0; i < sl_json_len(containers); i++) {
        struct sl_json *item = sl_json_new_map();
        sl_json_set_text(item, "name", sl_json_path_text(sl_json_at(containers, i), "name", ""));
        sl_json_set_bool(item, "ready", ready);
        sl_json_set_int(item, "restartCount", 0);
        sl_json_append(list, item);
    }
    sl_json_set(sl_json_path_make(pod, "status"), "containerStatuses", list);
}

static void set_ready(struct sl_json *pod, bool ready, const char *reason, int64_t now_ms)
{
    sl_condition_set(sl_json_path_make(pod, "status"), "Ready", ready, reason, "", 0, now_ms);
    set_containers(pod, ready);
}

static void start_pod(struct sl_json *pod, bool ready, int64_t now_ms)
{
    char time[32];
    struct sl_json *status = sl_json_path_make(pod, "status");
    sl_clock_format(now_ms, time);
    sl_json_set_text(status, "phase", "Running");
    sl_json_set_text(status, "startTime", time);
    sl_condition_set(status, "PodScheduled", true, "Scheduled", "", 0, now_ms);
    set_ready(pod, ready, ready ? "Started" : "ContainersNotReady", now_ms);
}

static void make_ready(struct sl_json *pod, int64_t now_ms)
{
    set_ready(pod, true, "Started", now_ms);
}

static void end_pod(struct sl_json *pod, int64_t now_ms)
{
    const char *fail = sl_object_annotation(pod, SL_ANNOTATION_FAIL);
    bool failed = fail != NULL && strcmp(fail, "true") == 0;
    sl_json_set_text(sl_json_path_make(pod, "status"), "phase", failed ? "Failed" : "Succeeded");
    set_ready(pod, false, "PodCompleted", now_ms);
}

/* It was deleted and a finalizer keeps it: its containers are stopped all the same. */
static void terminate(struct sl_json *pod, int64_t now_ms)
{
    sl_json_set_text(sl_json_path_make(pod, "status"), "phase", "Failed");
    set_ready(pod, false, "PodFailed", now_ms);
}

/* --- what is due --------------------------------------------------------------------------------------- */

/* When it ends; never without an annotation. A bad one was reported on its Job, or means the default. */
static int64_t end_ms(const struct sl_pod_row *row, const struct sl_json *pod)
{
    struct sl_error e = {0};
    int64_t run_for_ms;
    if (sl_object_annotation(pod, SL_ANNOTATION_RUN_FOR) == NULL) {
        return SL_WORK_NEVER;
    }
    (void)sl_runner_run_for(pod, &run_for_ms, &e);
    return row->started_ms == INT64_MIN ? SL_WORK_NOW : row->started_ms + run_for_ms;
}

static int64_t ready_ms(const struct sl_pod_row *row, const struct sl_json *pod)
{
    struct sl_error e = {0};
    int64_t after_ms;
    (void)sl_runner_ready_after(pod, &after_ms, &e);
    return row->started_ms == INT64_MIN ? SL_WORK_NOW : row->started_ms + after_ms;
}

/* When it must leave its node; never while that is well. */
static int64_t leave_ms(const struct sl_node_row *node, const struct sl_json *pod)
{
    if (node == NULL || !sl_node_tolerated(node, sl_json_path(pod, "spec.tolerations"), true)) {
        bool silent = node != NULL && !node->ready; /* its taint comes with that */
        return silent ? node->since_ms + SL_NODE_GRACE_MS : SL_WORK_NOW;
    }
    return node->ready ? SL_WORK_NEVER : node->since_ms + SL_NODE_GRACE_MS;
}

/* --- one look ------------------------------------------------------------------------------------------ */

static void write_pod(struct sl_reconciler *r, enum sl_verb verb, struct sl_json *pod)
{
    struct sl_write w =
        sl_reconciler_write_of(verb, SL_KIND_POD, pod, verb == SL_VERB_DELETE ? NULL : pod);
    sl_reconciler_write(r, &w, NULL);
}

static void start(struct sl_kubelet *k, struct sl_json *pod, int64_t now_ms)
{
    struct sl_error e = {0};
    int64_t ready_after_ms;
    (void)sl_runner_ready_after(pod, &ready_after_ms, &e);
    start_pod(pod, ready_after_ms == 0, now_ms);
    sl_podbook_set_start(k->book, k->pods.current, now_ms);
    write_pod(&k->pods, SL_VERB_UPDATE_STATUS, pod);
}

static void run(struct sl_kubelet *k, const struct sl_pod_row *row, struct sl_json *pod,
                int64_t now_ms)
{
    int64_t end = end_ms(row, pod);
    int64_t ready = row->ready ? SL_WORK_NEVER : ready_ms(row, pod);
    int64_t next = end < ready ? end : ready;
    if (next > now_ms) {
        if (next != SL_WORK_NEVER) {
            sl_work_add(k->pods.work, k->pods.current, next);
        }
        return;
    }
    (end <= now_ms ? end_pod : make_ready)(pod, now_ms);
    write_pod(&k->pods, SL_VERB_UPDATE_STATUS, pod);
}

/* Is it on a node, and not over? */
static bool concerns(const struct sl_pod_row *row)
{
    return row->node[0] != '\0' && (row->phase == SL_POD_PENDING || row->phase == SL_POD_RUNNING);
}

static void look(struct sl_kubelet *k, const struct sl_pod_row *row, struct sl_json *pod,
                 int64_t now_ms)
{
    const struct sl_node_row *node = sl_nodebook_find(k->nodes, row->node);
    int64_t leave = leave_ms(node, pod);
    if (row->deleting) {
        terminate(pod, now_ms);
        write_pod(&k->pods, SL_VERB_UPDATE_STATUS, pod);
    } else if (leave <= now_ms) {
        write_pod(&k->pods, SL_VERB_DELETE, pod);
    } else if (leave != SL_WORK_NEVER) {
        sl_work_add(k->pods.work, k->pods.current, leave);
    } else if (row->phase == SL_POD_PENDING) {
        start(k, pod, now_ms);
    } else {
        run(k, row, pod, now_ms);
    }
}

static void reconcile(void *self, struct sl_reconciler *r, const struct sl_key *key, int64_t now_ms)
{
    struct sl_kubelet *k = self;
    bool absent;
    const struct sl_pod_row *row = sl_podbook_find(k->book, r->current);
    if (row == NULL || !concerns(row)) {
        return;
    }
    struct sl_json *pod = sl_reconciler_get(r, SL_KIND_POD, key->ns, key->name, &absent);
    if (pod != NULL && strcmp(sl_object_uid(pod), row->uid) == 0) {
        look(k, row, pod, now_ms);
    }
    sl_json_free(pod);
}

/* --- wiring -------------------------------------------------------------------------------------------- */

void sl_kubelet_init(struct sl_kubelet *k, const struct sl_client *client,
                     struct sl_recorder *events, struct sl_podbook *book,
                     const struct sl_nodebook *nodes)
{
    SL_PRE(k != NULL);
    *k = (struct sl_kubelet){.book = book, .nodes = nodes};
    sl_reconciler_init(&k->pods, "kubelet", client, events);
    k->pods.self = k;
    k->pods.reconcile = reconcile;
}

void sl_kubelet_fini(struct sl_kubelet *k)
{
    SL_PRE(k != NULL);
    sl_reconciler_fini(&k->pods);
}

void sl_kubelet_observe_pod(struct sl_kubelet *k, const struct sl_json *pod)
{
    SL_PRE(k != NULL);
    char key[SL_KEY_SIZE];
    sl_key_print(sl_object_namespace(pod), sl_object_name(pod), key);
    const struct sl_pod_row *row = sl_podbook_find(k->book, key);
    if (row != NULL && concerns(row)) {
        sl_work_add(k->pods.work, key, SL_WORK_NOW);
    }
}

void sl_kubelet_observe_node(struct sl_kubelet *k, const char *node)
{
    SL_PRE(k != NULL);
    const struct sl_pod_row *row = sl_podbook_first(k->book, SL_PODS_OF_NODE, node);
    for (; row != NULL; row = row->next[SL_PODS_OF_NODE]) {
        if (sl_pod_row_live(row) && row->node[0] != '\0') {
            sl_work_add(k->pods.work, row->key, SL_WORK_NOW);
        }
    }
}
