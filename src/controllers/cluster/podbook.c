/* SPDX-License-Identifier: Apache-2.0
 * SPDX-FileCopyrightText: The Sluice authors */

/* The book of pods: rows by name, and a linked list for each Job, Workload and node. */
#include "controllers/cluster/podbook.h"
#include "base/check.h"
#include "base/clock.h"
#include "base/map.h"
#include "base/mem.h"
#include "controllers/jobs/job.h"
#include "controllers/work/slices.h"
#include "controllers/work/work.h"
#include "engine/records/pod.h"
#include <stdlib.h>
#include <string.h>

#define HOSTNAME "kubernetes.io/hostname"

struct list {
    struct sl_pod_row *first, *last;
};
struct sl_podbook {
    struct sl_map *rows;                /* key -> struct sl_pod_row * */
    struct sl_map *lists[SL_POD_LISTS]; /* key -> struct list * */
};

struct sl_podbook *sl_podbook_new(void)
{
    struct sl_podbook *b = sl_mem_new(1, sizeof *b);
    b->rows = sl_map_new();
    for (int i = 0; i < SL_POD_LISTS; i++) {
        b->lists[i] = sl_map_new();
    }
    return b;
}

static struct list *list_of(const struct sl_podbook *b, enum sl_pod_list which, const char *key)
{
    return sl_map_find(b->lists[which], key);
}

static void link_row(struct sl_podbook *b, enum sl_pod_list which, struct sl_pod_row *row)
{
    if (row->at[which][0] == '\0') {
        return;
    }
    struct list *list = list_of(b, which, row->at[which]);
    if (list == NULL) {
        list = sl_mem_new(1, sizeof *list);
        sl_map_put(b->lists[which], row->at[which], (union sl_map_value){.pointer = list});
    }
    row->prev[which] = list->last;
    row->next[which] = NULL;
    if (list->last != NULL) {
        list->last->next[which] = row;
    } else {
        list->first = row;
    }
    list->last = row;
}

static void unlink_row(struct sl_podbook *b, enum sl_pod_list which, struct sl_pod_row *row)
{
    if (row->at[which][0] == '\0') {
        return;
    }
    struct list *list = list_of(b, which, row->at[which]);
    SL_PRE(list != NULL);
    *(row->prev[which] != NULL ? &row->prev[which]->next[which] : &list->first) = row->next[which];
    *(row->next[which] != NULL ? &row->next[which]->prev[which] : &list->last) = row->prev[which];
    if (list->first == NULL) {
        sl_map_remove(b->lists[which], row->at[which], NULL);
        sl_mem_free(list);
    }
}

/* Everything that comes from the object. */
static void clear_row(struct sl_pod_row *row)
{
    sl_mem_free(row->uid);
    sl_mem_free(row->job_uid);
    sl_mem_free(row->pod_set);
    sl_mem_free(row->node);
    for (int i = 0; i < SL_POD_LISTS; i++) {
        sl_mem_free(row->at[i]);
    }
    sl_json_free(row->labels);
    sl_json_free(row->node_selector);
    for (uint32_t i = 0; i < row->request_count; i++) {
        sl_mem_free(row->requests[i].resource);
    }
    sl_mem_free(row->requests);
}

static void free_row(void *value)
{
    struct sl_pod_row *row = value;
    clear_row(row);
    sl_mem_free(row->key);
    sl_mem_free(row);
}

void sl_podbook_free(struct sl_podbook *b)
{
    if (b == NULL) {
        return;
    }
    sl_map_free_with(b->rows, free_row);
    for (int i = 0; i < SL_POD_LISTS; i++) {
        sl_map_free_with(b->lists[i], sl_mem_free);
    }
    sl_mem_free(b);
}

static enum sl_pod_phase phase_of(const struct sl_json *pod)
{
    const char *phase = sl_json_path_text(pod, "status.phase", "");
    return strcmp(phase, "Running") == 0     ? SL_POD_RUNNING
           : strcmp(phase, "Succeeded") == 0 ? SL_POD_SUCCEEDED
           : strcmp(phase, "Failed") == 0    ? SL_POD_FAILED
                                             : SL_POD_PENDING;
}

/* A whole number that is not negative, or the fallback. */
static int64_t number_of(const char *text, int64_t fallback)
{
    if (text == NULL || text[0] == '\0' || strlen(text) > 9 ||
        text[strspn(text, "0123456789")] != '\0') {
        return fallback;
    }
    return strtol(text, NULL, 10);
}

static char *key_text(const char *ns, const char *name)
{
    char key[SL_KEY_SIZE] = "";
    if (name != NULL && name[0] != '\0') {
        sl_key_print(ns, name, key);
    }
    return sl_mem_text(key);
}

static void read_lists(struct sl_pod_row *row, const struct sl_json *pod)
{
    const char *ns = sl_object_namespace(pod);
    const struct sl_json *owner = sl_object_controller_ref(pod);
    bool of_job = sl_object_ref_is(owner, SL_KIND_JOB);
    const char *must = sl_json_text(sl_json_get(row->node_selector, HOSTNAME), "");
    row->job_uid = sl_mem_text(of_job ? sl_json_path_text(owner, "uid", "") : "");
    row->at[SL_PODS_OF_JOB] = key_text(ns, of_job ? sl_json_path_text(owner, "name", "") : NULL);
    row->at[SL_PODS_OF_WORKLOAD] = key_text(ns, sl_object_annotation(pod, SL_ANNOTATION_WORKLOAD));
    row->at[SL_PODS_OF_SLICES] = key_text(ns, sl_object_annotation(pod, SL_ANNOTATION_SLICE));
    row->at[SL_PODS_OF_NODE] = sl_mem_text(row->node[0] != '\0' ? row->node : must);
}

static void read_requests(struct sl_pod_row *row, const struct sl_json *pod)
{
    struct sl_error e = {0};
    struct sl_pod_requests sum;
    row->request_count = 0;
    if (sl_pod_sum_requests(sl_json_get(pod, "spec"), "spec", &sum, &e) != SL_CODE_OK ||
        sum.count == 0) {
        return;
    }
    row->requests = sl_mem_new(sum.count, sizeof *row->requests);
    row->request_count = sum.count;
    for (uint32_t i = 0; i < sum.count; i++) {
        row->requests[i] = (struct sl_pod_amount){.resource = sl_mem_text(sum.items[i].resource),
                                                  .nano = sum.items[i].nano};
    }
}

static void read_containers(struct sl_pod_row *row, const struct sl_json *pod)
{
    const struct sl_json *list = sl_json_path(pod, "status.containerStatuses");
    row->restarts = 0;
    row->ended_ms = INT64_MIN;
    for (size_t i = 0; i < sl_json_len(list); i++) {
        const struct sl_json *c = sl_json_at(list, i);
        int64_t ended_ms = sl_clock_parse(sl_json_path_text(c, "state.terminated.finishedAt", ""));
        row->restarts += sl_json_path_int(c, "restartCount", 0);
        row->ended_ms = ended_ms > row->ended_ms ? ended_ms : row->ended_ms;
    }
}

static void read_row(struct sl_pod_row *row, const struct sl_json *pod)
{
    const char *pod_set = sl_object_label(pod, SL_LABEL_POD_SET);
    row->uid = sl_mem_text(sl_object_uid(pod));
    row->pod_set = sl_mem_text(pod_set == NULL ? "" : pod_set);
    row->node = sl_mem_text(sl_json_path_text(pod, "spec.nodeName", ""));
    row->labels = sl_json_clone(sl_json_path(pod, "metadata.labels"));
    row->node_selector = sl_json_clone(sl_json_path(pod, "spec.nodeSelector"));
    row->phase = phase_of(pod);
    row->gated = sl_template_gated(pod);
    row->elastic_gated = sl_template_has_gate(pod, SL_GATE_ELASTIC);
    row->deleting = sl_object_deleting(pod);
    row->ready = sl_condition_true(pod, "Ready");
    row->tracked = sl_object_has_finalizer(pod, SL_FINALIZER_JOB_TRACKING);
    read_containers(row, pod);
    row->index = number_of(sl_object_annotation(pod, SL_LABEL_INDEX), -1);
    row->index_offset = number_of(sl_object_annotation(pod, SL_ANNOTATION_INDEX_OFFSET), 0);
    int64_t started_ms = sl_clock_parse(sl_json_path_text(pod, "status.startTime", ""));
    if (started_ms == INT64_MIN || row->started_ms == INT64_MIN ||
        row->started_ms / 1000 != started_ms / 1000) {
        row->started_ms = started_ms;
    }
    read_lists(row, pod);
    read_requests(row, pod);
}

static struct sl_pod_row *row_of(const struct sl_podbook *b, const char *key)
{
    return sl_map_find(b->rows, key);
}

/* Its place in a list that it stays in does not change. */
const struct sl_pod_row *sl_podbook_observe(struct sl_podbook *b, const struct sl_json *pod)
{
    char key[SL_KEY_SIZE];
    sl_key_print(sl_object_namespace(pod), sl_object_name(pod), key);
    struct sl_pod_row *row = row_of(b, key);
    if (row == NULL) {
        row = sl_mem_new(1, sizeof *row);
        row->key = sl_mem_text(key);
        row->started_ms = INT64_MIN;
        read_row(row, pod);
        sl_map_put(b->rows, key, (union sl_map_value){.pointer = row});
        for (int i = 0; i < SL_POD_LISTS; i++) {
            link_row(b, (enum sl_pod_list)i, row);
        }
        return row;
    }
    struct sl_pod_row fresh = {.started_ms = row->started_ms};
    read_row(&fresh, pod);
    for (int i = 0; i < SL_POD_LISTS; i++) {
        enum sl_pod_list which = (enum sl_pod_list)i;
        if (strcmp(fresh.at[i], row->at[i]) != 0) {
            unlink_row(b, which, row);
            char *old = row->at[i];
            row->at[i] = sl_mem_text(fresh.at[i]);
            sl_mem_free(old);
            link_row(b, which, row);
        }
        fresh.next[i] = row->next[i];
        fresh.prev[i] = row->prev[i];
    }
    fresh.key = row->key;
    clear_row(row);
    *row = fresh;
    return row;
}

void sl_podbook_forget(struct sl_podbook *b, const struct sl_json *pod)
{
    char key[SL_KEY_SIZE];
    sl_key_print(sl_object_namespace(pod), sl_object_name(pod), key);
    struct sl_pod_row *row = row_of(b, key);
    if (row == NULL) {
        return;
    }
    for (int i = 0; i < SL_POD_LISTS; i++) {
        unlink_row(b, (enum sl_pod_list)i, row);
    }
    sl_map_remove(b->rows, key, NULL);
    free_row(row);
}

void sl_podbook_set_start(struct sl_podbook *b, const char *key, int64_t now_ms)
{
    struct sl_pod_row *row = row_of(b, key);
    if (row != NULL) {
        row->started_ms = now_ms;
    }
}

const struct sl_pod_row *sl_podbook_find(const struct sl_podbook *b, const char *key)
{
    return row_of(b, key);
}

const struct sl_pod_row *sl_podbook_first(const struct sl_podbook *b, enum sl_pod_list list,
                                          const char *key)
{
    const struct list *found = list_of(b, list, key);
    return found == NULL ? NULL : found->first;
}

bool sl_pod_row_live(const struct sl_pod_row *row)
{
    return !row->deleting && row->phase != SL_POD_SUCCEEDED && row->phase != SL_POD_FAILED;
}
