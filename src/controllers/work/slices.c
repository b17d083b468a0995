/* SPDX-License-Identifier: Apache-2.0
 * SPDX-FileCopyrightText: The Sluice authors */

/* What the Workloads of an elastic job are to each other. */
#include "controllers/work/slices.h"
#include "base/check.h"
#include "base/mem.h"
#include "controllers/work/template.h"
#include "controllers/work/work.h"
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* --- one slice ----------------------------------------------------------------------------------------- */

const char *sl_slice_name(const struct sl_json *wl)
{
    const char *name = sl_object_annotation(wl, SL_ANNOTATION_SLICE);
    return name != NULL && name[0] != '\0' ? name : sl_object_name(wl);
}

bool sl_slice_replaces(const struct sl_json *wl, const struct sl_json *other)
{
    char key[SL_KEY_SIZE];
    const char *named = sl_object_annotation(wl, SL_ANNOTATION_REPLACES);
    sl_key_print(sl_object_namespace(other), sl_object_name(other), key);
    return named != NULL && strcmp(named, key) == 0;
}

void sl_slice_print_name(const struct sl_framework *f, const struct sl_json *job,
                         char out[static 254])
{
    struct sl_buf uid = {0};
    SL_PRE(f != NULL);
    sl_buf_print(&uid, "%.64s\n%" PRId64, sl_object_uid(job), sl_object_generation(job));
    for (struct sl_json_member m = {0};
         sl_json_type(f->with) == SL_JSON_MAP && sl_json_each(f->with, &m);) {
        sl_buf_print(&uid, "_%.64s_%" PRId64, sl_object_uid(m.value),
                     sl_object_generation(m.value));
    }
    sl_framework_workload_name(f, sl_object_name(job), uid.data, out);
    sl_buf_fini(&uid);
}

void sl_slice_take_templates(struct sl_json *wl, const struct sl_json *before)
{
    SL_PRE(before != NULL);
    struct sl_json *list = sl_json_path(wl, "spec.podSets");
    for (size_t i = 0; i < sl_json_len(list); i++) {
        struct sl_json *set = sl_json_at(list, i);
        const struct sl_json *template = sl_json_get(sl_workload_pod_set(before, i), "template");
        sl_json_set(set, "template", sl_json_clone(template));
        sl_json_set_text(sl_json_path_make(set, "template.metadata.annotations"),
                         SL_ANNOTATION_SLICE, sl_slice_name(before));
    }
}

void sl_slice_make(const struct sl_framework *f, struct sl_json *wl, const struct sl_json *job,
                   const struct sl_json *before)
{
    SL_PRE(wl != NULL);
    char name[254];
    char key[SL_KEY_SIZE];
    struct sl_json *notes = sl_json_path_make(wl, "metadata.annotations");
    sl_slice_print_name(f, job, name);
    sl_json_set_text(sl_json_get(wl, "metadata"), "name", name);
    sl_json_set_text(notes, SL_ANNOTATION_ELASTIC, "true");
    sl_json_set_text(notes, SL_ANNOTATION_SLICE, before == NULL ? name : sl_slice_name(before));
    if (before != NULL) {
        sl_key_print(sl_object_namespace(before), sl_object_name(before), key);
        sl_json_set_text(notes, SL_ANNOTATION_REPLACES, key);
    }
}

void sl_injection_add_slice(struct sl_json *injection, const struct sl_json *wl)
{
    SL_PRE(injection != NULL);
    struct sl_json *gate = sl_json_new_map();
    sl_json_set_text(gate, "name", SL_GATE_ELASTIC);
    if (sl_json_get(injection, "schedulingGates") == NULL) {
        sl_json_set(injection, "schedulingGates", sl_json_new_list());
    }
    sl_json_append(sl_json_get(injection, "schedulingGates"), gate);
    sl_json_set_text(sl_json_path_make(injection, "annotations"), SL_ANNOTATION_SLICE,
                     sl_slice_name(wl));
}

static bool reserves(const struct sl_json *wl)
{
    return sl_condition_true(wl, "QuotaReserved");
}

static bool is_evicted(const struct sl_json *wl)
{
    return sl_condition_true(wl, "Evicted");
}

int64_t sl_slice_granted(const struct sl_json *wl, const char *pod_set)
{
    const struct sl_json *set = sl_json_find_by(sl_json_path(wl, "spec.podSets"), "name", pod_set);
    const struct sl_json *assignment =
        sl_json_find_by(sl_json_path(wl, "status.admission.podSetAssignments"), "name", pod_set);
    int64_t count = sl_json_path_int(set, "count", 1);
    int64_t admitted = sl_json_path_int(assignment, "count", count);
    bool live = reserves(wl) && sl_condition_true(wl, "Admitted") && !is_evicted(wl) &&
                !sl_condition_true(wl, "Finished");
    return !live || set == NULL ? 0 : count < admitted ? count : admitted;
}

/* --- those of one job ---------------------------------------------------------------------------------- */

void sl_slices_add(struct sl_slices *s, struct sl_json *wl)
{
    SL_PRE(s != NULL && wl != NULL);
    bool ended = sl_condition_true(wl, "Finished");
    struct sl_json ***list = ended ? &s->ended : &s->at;
    size_t *count = ended ? &s->ended_count : &s->count;
    *list = sl_mem_grow(*list, *count + 1, sizeof **list);
    (*list)[(*count)++] = wl;
}

static int compare(const void *a, const void *b)
{
    const struct sl_json *x = *(struct sl_json *const *)a;
    const struct sl_json *y = *(struct sl_json *const *)b;
    int order = strcmp(sl_json_path_text(x, "metadata.creationTimestamp", ""),
                       sl_json_path_text(y, "metadata.creationTimestamp", ""));
    return order != 0 ? order : strcmp(sl_object_uid(x), sl_object_uid(y));
}

/* One that is to replace it and goes on; of several the one that has quota, or the oldest. */
static struct sl_json *successor(const struct sl_slices *s, const struct sl_json *wl)
{
    struct sl_json *found = NULL;
    for (size_t i = 0; i < s->count; i++) {
        struct sl_json *o = s->at[i];
        if (!is_evicted(o) && sl_slice_replaces(o, wl) &&
            (found == NULL || (!reserves(found) && reserves(o)))) {
            found = o;
        }
    }
    return found;
}

bool sl_slices_has_successor(const struct sl_slices *s, const struct sl_json *wl)
{
    SL_PRE(s != NULL);
    return successor(s, wl) != NULL;
}

/* The newest that holds quota and stays, but for those that another one has replaced already. One that holds quota and is
 * evicted comes next: the job has to stop before anything else. */
static struct sl_json *find_holder(const struct sl_slices *s)
{
    struct sl_json *going = NULL, *waiting = NULL, *holder = NULL;
    for (size_t i = 0; i < s->count; i++) {
        struct sl_json *o = s->at[i];
        const struct sl_json *after = successor(s, o);
        bool replaced = after != NULL && reserves(after);
        if (reserves(o) && !is_evicted(o) && !replaced) {
            holder = o;
        } else if (reserves(o) && is_evicted(o)) {
            going = o;
        } else if (!is_evicted(o) && !reserves(o)) {
            waiting = o;
        }
    }
    struct sl_json *last = s->count == 0 ? NULL : s->at[s->count - 1];
    return holder != NULL ? holder : going != NULL ? going : waiting != NULL ? waiting : last;
}

void sl_slices_settle(struct sl_slices *s)
{
    SL_PRE(s != NULL);
    if (s->count > 1) {
        qsort(s->at, s->count, sizeof s->at[0], compare);
    }
    s->holder = find_holder(s);
    struct sl_json *next = s->holder == NULL ? NULL : successor(s, s->holder);
    s->next = next == NULL || reserves(next) ? NULL : next;
}

void sl_slices_fini(struct sl_slices *s)
{
    SL_PRE(s != NULL);
    for (size_t i = 0; i < s->count; i++) {
        sl_json_free(s->at[i]);
    }
    for (size_t i = 0; i < s->ended_count; i++) {
        sl_json_free(s->ended[i]);
    }
    sl_mem_free(s->at);
    sl_mem_free(s->ended);
    *s = (struct sl_slices){.count = 0};
}

/* --- numbers of pods ----------------------------------------------------------------------------------- */

int64_t sl_slice_holds(const struct sl_json *wl, size_t index)
{
    const struct sl_json *set = sl_workload_pod_set(wl, index);
    int64_t count = sl_json_path_int(set, "count", 1);
    const char *name = sl_json_path_text(set, "name", "");
    const struct sl_json *all = sl_json_path(wl, "status.admission.podSetAssignments");
    const struct sl_json *back =
        sl_json_find_by(sl_json_path(wl, "status.reclaimablePods"), "name", name);
    int64_t has = sl_json_path_int(sl_json_at(all, index), "count", count) +
                  sl_json_path_int(back, "count", 0);
    return reserves(wl) && has < count ? has : count;
}

enum sl_scale sl_scale_of(const struct sl_pod_sets *sets, const struct sl_json *wl)
{
    SL_PRE(sets != NULL);
    bool more = false, fewer = false;
    bool other = sl_json_len(sl_json_path(wl, "spec.podSets")) != sets->count;
    for (size_t i = 0; i < sets->count && !other; i++) {
        const struct sl_json *set = sl_workload_pod_set(wl, i);
        int64_t count = sl_slice_holds(wl, i);
        other = strcmp(sl_json_path_text(set, "name", ""), sets->at[i].name) != 0;
        more = more || sets->at[i].count > count;
        fewer = fewer || sets->at[i].count < count;
    }
    return other ? SL_SCALE_OTHER : more ? SL_SCALE_UP : fewer ? SL_SCALE_DOWN : SL_SCALE_SAME;
}

struct sl_json *sl_workload_scaled_new(const struct sl_json *wl, const struct sl_pod_sets *sets)
{
    SL_PRE(sets != NULL);
    struct sl_json *o = sl_json_clone(wl);
    for (size_t i = 0; i < sets->count; i++) {
        sl_json_set_int(sl_workload_pod_set(o, i), "count", sets->at[i].count);
    }
    return o;
}
