/* SPDX-License-Identifier: Apache-2.0
 * SPDX-FileCopyrightText: The Sluice authors */

/* Opening the gate of elastic jobs. */
#include "controllers/cluster/elastic_ungater.h"
#include "base/check.h"
#include "base/mem.h"
#include "controllers/cluster/ungater.h"
#include "controllers/work/slices.h"
#include <stdlib.h>
#include <string.h>

#define WRITES_PER_LOOK 64u

struct sl_json *sl_elastic_ungater_holder_new(const struct sl_elastic_ungater *u, const char *key)
{
    SL_PRE(u != NULL);
    size_t cursor = 0;
    const char *uid, *name;
    struct sl_slices s = {0};
    const struct sl_client *client = u->slices.client;
    while (sl_job_children_next(u->chains, key, &cursor, &uid, &name)) {
        struct sl_key at;
        struct sl_json *wl = NULL;
        if (sl_key_parse(name, &at) &&
            client->get(client->self, SL_KIND_WORKLOAD, at.ns, at.name, &wl, NULL) == SL_CODE_OK) {
            sl_slices_add(&s, wl);
        }
    }
    sl_slices_settle(&s);
    struct sl_json *holder = s.holder == NULL ? NULL : sl_json_ref(s.holder);
    sl_slices_fini(&s);
    return holder;
}

int64_t sl_elastic_ungater_granted(const struct sl_elastic_ungater *u, const char *key,
                                   const char *pod_set)
{
    SL_PRE(u != NULL);
    struct sl_json *holder = sl_elastic_ungater_holder_new(u, key);
    int64_t pods = holder == NULL ? 0 : sl_slice_granted(holder, pod_set);
    sl_json_free(holder);
    return pods;
}

/* --- one pod ------------------------------------------------------------------------------------------- */

static void open_gate(struct sl_json *pod)
{
    struct sl_json *spec = sl_json_path_make(pod, "spec");
    struct sl_json *gates = sl_json_get(spec, "schedulingGates");
    for (size_t i = sl_json_len(gates); i > 0; i--) {
        if (strcmp(sl_json_path_text(sl_json_at(gates, i - 1), "name", ""), SL_GATE_ELASTIC) == 0) {
            sl_json_remove_at(gates, i - 1);
        }
    }
    if (sl_json_len(gates) == 0) {
        sl_json_remove(spec, "schedulingGates");
    }
}

/* What the checks of this slice add to its pods; the template has what was added with the one that the job started by. A pod
 * that says something else belongs to nodes that were made for another slice. */
static enum sl_code add_updates(const struct sl_json *wl, const char *pod_set, struct sl_json *pod)
{
    struct sl_error e = {0};
    struct sl_json *injection = sl_json_new_map();
    enum sl_code code = SL_CODE_OK;
    const struct sl_json *checks = sl_json_path(wl, "status.admissionChecks");
    for (size_t i = 0; i < sl_json_len(checks) && code == SL_CODE_OK; i++) {
        const struct sl_json *update =
            sl_json_find_by(sl_json_get(sl_json_at(checks, i), "podSetUpdates"), "name", pod_set);
        code = update == NULL ? SL_CODE_OK : sl_injection_add_update(injection, update, &e);
    }
    code = code == SL_CODE_OK ? sl_template_inject(pod, injection, &e) : code;
    sl_json_free(injection);
    return code;
}

/* True when it was written. */
static bool let_in(struct sl_elastic_ungater *u, const struct sl_json *wl,
                   const struct sl_pod_row *row)
{
    struct sl_key key;
    bool absent, written = false;
    struct sl_reconciler *r = &u->slices;
    struct sl_json *pod = sl_key_parse(row->key, &key)
                              ? sl_reconciler_get(r, SL_KIND_POD, key.ns, key.name, &absent)
                              : NULL;
    if (pod != NULL && sl_template_has_gate(pod, SL_GATE_ELASTIC) &&
        add_updates(wl, row->pod_set, pod) == SL_CODE_OK) {
        open_gate(pod);
        struct sl_write w = sl_reconciler_write_of(SL_VERB_UPDATE, SL_KIND_POD, pod, pod);
        struct sl_note note = {
            .kind = SL_KIND_POD,
            .timing = sl_workload_meters_begin_ungating(u->meters, wl, SL_GATE_ELASTIC, false)};
        sl_reconciler_write(r, &w, &note);
        written = true;
    }
    sl_json_free(pod);
    return written;
}

/* --- all of a job -------------------------------------------------------------------------------------- */

static const struct sl_pod_row *first_of(const struct sl_elastic_ungater *u)
{
    return sl_podbook_first(u->pods, SL_PODS_OF_SLICES, u->slices.current);
}

static bool has_ended(const struct sl_pod_row *row)
{
    return row->phase == SL_POD_SUCCEEDED || row->phase == SL_POD_FAILED;
}

static int compare(const void *a, const void *b)
{
    const struct sl_pod_row *x = *(const struct sl_pod_row *const *)a;
    const struct sl_pod_row *y = *(const struct sl_pod_row *const *)b;
    int order = strcmp(x->pod_set, y->pod_set);
    return order != 0 ? order : strcmp(x->key, y->key);
}

/* Those that wait, by pod set and name (the caller frees them); NULL: none does. */
static const struct sl_pod_row **waiting_new(const struct sl_elastic_ungater *u, size_t *count)
{
    size_t n = 0;
    *count = 0;
    for (const struct sl_pod_row *row = first_of(u); row != NULL;
         row = row->next[SL_PODS_OF_SLICES]) {
        n += row->elastic_gated && !has_ended(row);
    }
    if (n == 0) {
        return NULL;
    }
    const struct sl_pod_row **list = sl_mem_new(n, sizeof *list);
    for (const struct sl_pod_row *row = first_of(u); row != NULL;
         row = row->next[SL_PODS_OF_SLICES]) {
        if (row->elastic_gated && !has_ended(row)) {
            list[(*count)++] = row;
        }
    }
    qsort(list, n, sizeof list[0], compare);
    return list;
}

/* How many more may pass. */
static int64_t vacant(const struct sl_elastic_ungater *u, const struct sl_json *wl,
                      const char *pod_set)
{
    int64_t left = sl_slice_granted(wl, pod_set);
    for (const struct sl_pod_row *row = first_of(u); row != NULL;
         row = row->next[SL_PODS_OF_SLICES]) {
        left -= !row->elastic_gated && !has_ended(row) && strcmp(row->pod_set, pod_set) == 0;
    }
    return left;
}

static void reconcile(void *self, struct sl_reconciler *r, const struct sl_key *key, int64_t now_ms)
{
    struct sl_elastic_ungater *u = self;
    (void)key;
    (void)now_ms;
    size_t count;
    unsigned writes = 0;
    const struct sl_pod_row **list = waiting_new(u, &count);
    struct sl_json *wl = count == 0 ? NULL : sl_elastic_ungater_holder_new(u, r->current);
    int64_t left = 0;
    for (size_t i = 0; i < count && wl != NULL && writes < WRITES_PER_LOOK; i++) {
        if (i == 0 || strcmp(list[i]->pod_set, list[i - 1]->pod_set) != 0) {
            left = vacant(u, wl, list[i]->pod_set);
        }
        if (left > 0 && let_in(u, wl, list[i])) {
            left--;
            writes++;
        }
    }
    if (writes == WRITES_PER_LOOK) {
        sl_work_add(r->work, r->current, SL_WORK_NOW);
    }
    sl_json_free(wl);
    sl_mem_free(list);
}

/* --- wiring -------------------------------------------------------------------------------------------- */

void sl_elastic_ungater_init(struct sl_elastic_ungater *u, const struct sl_client *client,
                             struct sl_recorder *events, const struct sl_podbook *pods)
{
    SL_PRE(u != NULL);
    *u = (struct sl_elastic_ungater){.pods = pods, .chains = sl_job_children_new()};
    sl_reconciler_init(&u->slices, "elastic ungater", client, events);
    u->slices.self = u;
    u->slices.reconcile = reconcile;
}

void sl_elastic_ungater_fini(struct sl_elastic_ungater *u)
{
    SL_PRE(u != NULL);
    sl_reconciler_fini(&u->slices);
    sl_job_children_free(u->chains);
}

void sl_elastic_ungater_observe_workload(struct sl_elastic_ungater *u, const struct sl_json *wl,
                                         bool deleted)
{
    char chain[SL_KEY_SIZE];
    char key[SL_KEY_SIZE];
    SL_PRE(u != NULL);
    if (sl_is_elastic(wl)) {
        sl_key_print(sl_object_namespace(wl), sl_slice_name(wl), chain);
        sl_key_print(sl_object_namespace(wl), sl_object_name(wl), key);
        sl_job_children_put(u->chains, chain, sl_object_uid(wl), key, !deleted);
        if (sl_podbook_first(u->pods, SL_PODS_OF_SLICES, chain) != NULL) {
            sl_work_add(u->slices.work, chain, SL_WORK_NOW);
        }
    }
}

void sl_elastic_ungater_observe_pod(struct sl_elastic_ungater *u, const struct sl_json *pod,
                                    int64_t now_ms)
{
    char key[SL_KEY_SIZE];
    const char *slice = sl_object_annotation(pod, SL_ANNOTATION_SLICE);
    if (slice != NULL && slice[0] != '\0') {
        sl_key_print(sl_object_namespace(pod), slice, key);
        sl_work_add(u->slices.work, key, now_ms + SL_UNGATE_BATCH_MS);
    }
}
