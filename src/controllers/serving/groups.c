/* SPDX-License-Identifier: Apache-2.0
 * SPDX-FileCopyrightText: The Sluice authors */

/* The groups of a parent. All have the same pod sets; what was admitted is not changed, so a Workload of other pods is
 * replaced. */
#include "controllers/serving/groups.h"
#include "api/objects/pod_shape.h"
#include "base/check.h"
#include "controllers/jobs/job_hold.h"
#include "controllers/jobs/podjob.h"
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define MADE_MAX 16u  /* in one look */
#define LOOKED_MAX 64 /* groups in one look: the next one goes on */
#define NAME_SIZE 254u
#define INDEX_NOTE "kueue.x-k8s.io/component-workload-index"
#define OWNER_KIND_NOTE "kueue.x-k8s.io/job-owner-gvk"
#define OWNER_NAME_NOTE "kueue.x-k8s.io/job-owner-name"

/* One look. */
struct groups {
    struct sl_parents_of *p;
    struct sl_job_view *v;
    int64_t count, size;
    struct sl_json
        *wanted; /* the Workload of each, but for its name; NULL: it cannot be made now */
    bool tried;  /* to make that */
    unsigned made;
};

/* --- names ------------------------------------------------------------------------------------ */

static bool is_group(const struct sl_json *wl)
{
    const char *mark = sl_object_annotation(wl, SL_GROUP_WORKLOAD);
    return mark != NULL && strcmp(mark, "true") == 0;
}

static bool is_there(const struct groups *g, const char *name, bool whatever)
{
    bool absent;
    struct sl_json *wl =
        sl_reconciler_get(g->v->r, SL_KIND_WORKLOAD, sl_object_namespace(g->v->job), name, &absent);
    bool is = wl != NULL && (whatever || is_group(wl));
    sl_json_free(wl);
    return is;
}

/* Kueue's name for it; that of a single group was made without the parent's uid before 0.18, and one that is there is
 * kept where there is none of today's name. */
static void name_of(const struct groups *g, int64_t index, char out[static NAME_SIZE])
{
    struct sl_buf whole = {0};
    const struct sl_json *parent = g->v->job;
    sl_buf_text(&whole, sl_object_name(parent));
    if (g->v->f->grouping->indexed) {
        sl_buf_print(&whole, "-%lld", (long long)index);
    }
    sl_framework_workload_name(g->v->f, whole.data, sl_object_uid(parent), out);
    if (!g->v->f->grouping->indexed && !is_there(g, out, true)) {
        char old[NAME_SIZE];
        sl_framework_workload_name(g->v->f, whole.data, "", old);
        if (is_there(g, old, false)) {
            memcpy(out, old, NAME_SIZE);
        }
    }
    sl_buf_fini(&whole);
}

/* --- what it should be ------------------------------------------------------------------------ */

static void describe(const struct groups *g, struct sl_json *wl)
{
    struct sl_buf text = {0};
    const struct sl_kind_info *info = sl_kind_info(g->v->f->kind);
    struct sl_json *metadata = sl_json_path_make(wl, "metadata");
    struct sl_json *notes = sl_json_path_make(metadata, "annotations");
    sl_json_remove(metadata, "ownerReferences");
    (void)sl_framework_own_all(g->v->f, wl, &g->v->members);
    sl_buf_print(&text, "%s, Kind=%s", info->api_version, info->kind);
    sl_json_set_text(notes, SL_GROUP_WORKLOAD, "true");
    sl_json_set_text(notes, OWNER_KIND_NOTE, text.data);
    sl_json_set_text(notes, OWNER_NAME_NOTE, sl_object_name(g->v->job));
    sl_buf_fini(&text);
}

/* Made once in a look; lent. */
static struct sl_json *wanted(struct groups *g)
{
    if (!g->tried) {
        g->tried = true;
        g->wanted = sl_job_workload_new(g->v);
        if (g->wanted != NULL) {
            describe(g, g->wanted);
        }
    }
    return g->wanted;
}

static bool same_shape(const struct sl_json *a, const struct sl_json *b)
{
    struct sl_json *x = sl_pod_shape_with_limits_new(sl_json_path(a, "template.spec"));
    struct sl_json *y = sl_pod_shape_with_limits_new(sl_json_path(b, "template.spec"));
    bool same = sl_json_equal(x, y);
    sl_json_free(x);
    sl_json_free(y);
    return same;
}

/* As far as admission is concerned: a new image asks for no other quota. */
static bool asks_the_same(const struct sl_json *wl, const struct sl_json *wish)
{
    const struct sl_json *has = sl_json_path(wl, "spec.podSets");
    const struct sl_json *wants = sl_json_path(wish, "spec.podSets");
    bool same = sl_json_len(has) == sl_json_len(wants);
    for (size_t i = 0; i < sl_json_len(has) && same; i++) {
        const struct sl_json *a = sl_json_at(has, i);
        const struct sl_json *b = sl_json_at(wants, i);
        same = strcmp(sl_json_path_text(a, "name", ""), sl_json_path_text(b, "name", "")) == 0 &&
               sl_json_path_int(a, "count", 1) == sl_json_path_int(b, "count", 1) &&
               same_shape(a, b);
    }
    return same;
}

/* --- writing ---------------------------------------------------------------------------------- */

static void create(struct groups *g, int64_t index, const char *name)
{
    struct sl_job_view *v = g->v;
    const struct sl_json *pattern = wanted(g);
    if (pattern == NULL) {
        return;
    }
    char number[24];
    struct sl_json *wl = sl_json_clone(pattern);
    sl_json_set_text(sl_json_path(wl, "metadata"), "name", name);
    if (v->f->grouping->indexed) {
        (void)snprintf(number, sizeof number, "%lld", (long long)index);
        sl_json_set_text(sl_json_path(wl, "metadata.annotations"), INDEX_NOTE, number);
    }
    struct sl_note note =
        sl_job_note(v, "CreatedWorkload", "Created Workload: %s/%s", sl_object_namespace(wl), name);
    note.timing =
        sl_workload_meters_begin_creation(v->j->meters, v->job, sl_kind_info(v->f->kind)->kind, wl);
    sl_job_write(v->r, SL_VERB_CREATE, SL_KIND_WORKLOAD, wl, &note);
    g->made++;
}

/* Its quota goes with it, once no pod is left. */
static void hold(const struct groups *g)
{
    char text[96];
    struct sl_job_view *v = g->v;
    if (sl_job_children_count(g->p->of.members, v->key) > 0 || sl_job_is_held(v->wl)) {
        return;
    }
    (void)snprintf(text, sizeof text, "%.40s scaled to zero; workload on hold",
                   sl_kind_info(v->f->kind)->kind);
    sl_job_put_on_hold(v, text);
}

/* Before quota is reserved it may ask for something else; after that it goes, its pods with it, and comes again. */
static void rematch(struct groups *g)
{
    struct sl_job_view *v = g->v;
    if (sl_condition_true(v->wl, "QuotaReserved")) {
        sl_job_delete_workload(v->r, v->f->kind, v->job, v->wl);
        return;
    }
    struct sl_json *o = sl_workload_respecified_new(v->wl, wanted(g));
    struct sl_note note =
        sl_job_note(v, "UpdatedWorkload", "Updated not matching Workload for suspended job: %s/%s",
                    sl_object_namespace(o), sl_object_name(o));
    sl_job_write(v->r, SL_VERB_UPDATE, SL_KIND_WORKLOAD, o, &note);
}

/* --- one group -------------------------------------------------------------------------------- */

static bool is_owned(const struct sl_job_view *v)
{
    const struct sl_json *owners = sl_json_path(v->wl, "metadata.ownerReferences");
    return sl_json_find_by(owners, "uid", sl_object_uid(v->job)) != NULL;
}

static void adopt(const struct groups *g)
{
    struct sl_json *o = sl_json_clone(g->v->wl);
    struct sl_json *owners = sl_json_clone(sl_json_path(o, "metadata.ownerReferences"));
    describe(g, o);
    struct sl_json *all = sl_json_path(o, "metadata.ownerReferences");
    for (size_t i = 0; i < sl_json_len(owners); i++) {
        sl_json_append(all, sl_json_clone(sl_json_at(owners, i)));
    }
    sl_json_free(owners);
    sl_job_write(g->v->r, SL_VERB_UPDATE, SL_KIND_WORKLOAD, o, NULL);
}

/* Has the group pods that are members already? */
static bool has_members(const struct sl_job_view *v)
{
    size_t count = 0;
    char key[SL_KEY_SIZE];
    sl_key_print(sl_object_namespace(v->wl), sl_object_name(v->wl), key);
    for (size_t i = 0; i < v->j->kind_count; i++) {
        count += v->j->kinds[i].f->composition == NULL
                     ? 0
                     : sl_job_children_count(v->j->kinds[i].members, key);
    }
    return count > 0;
}

/* Its pods have been stopped, and nothing else will say so while there are none. */
static bool note_stopped(const struct groups *g)
{
    struct sl_job_view *v = g->v;
    if (!sl_condition_true(v->wl, "Evicted") || !sl_condition_true(v->wl, "QuotaReserved") ||
        has_members(v)) {
        return false;
    }
    sl_job_note_stopped(v);
    return true;
}

static void report_conflict(const struct sl_job_view *v)
{
    char text[400];
    (void)snprintf(text, sizeof text,
                   "A Workload named \"%s\" already exists but is not a pod group workload; its "
                   "pods cannot be admitted",
                   sl_object_name(v->wl));
    sl_job_report(v, "WorkloadNameConflict", text);
}

static void act(struct groups *g)
{
    struct sl_job_view *v = g->v;
    if (!is_group(v->wl)) {
        report_conflict(v);
    } else if (sl_object_deleting(v->wl) || sl_condition_true(v->wl, "Finished")) {
        return;
    } else if (!is_owned(v)) {
        adopt(g);
    } else if (g->size == 0) {
        hold(g);
    } else if (note_stopped(g)) {
        return;
    } else if (wanted(g) != NULL && !asks_the_same(v->wl, wanted(g))) {
        rematch(g);
    } else if (sl_job_is_held(v->wl)) {
        sl_job_end_hold(v, "Workload no longer on hold; waiting for quota reservation");
    } else {
        (void)sl_job_update_marks(v);
    }
}

static void look_at_group(struct groups *g, int64_t index, const char *name)
{
    bool absent;
    struct sl_job_view *v = g->v;
    v->wl = sl_reconciler_get(v->r, SL_KIND_WORKLOAD, sl_object_namespace(v->job), name, &absent);
    if (v->wl != NULL) {
        act(g);
    } else if (absent && g->size > 0) {
        create(g, index, name);
    }
    sl_json_free(v->wl);
    v->wl = NULL;
}

/* --- all of them ------------------------------------------------------------------------------ */

/* A copy: what is written may be seen at once. */
static struct sl_json *children_new(const struct sl_job_children *children, const char *parent)
{
    size_t cursor = 0;
    const char *name;
    const char *unused;
    struct sl_json *list = sl_json_new_list();
    while (sl_job_children_next(children, parent, &cursor, &name, &unused)) {
        sl_json_append(list, sl_json_new_text(name));
    }
    return list;
}

/* Its name says so, with the number that it was made with. */
static bool is_wanted(const struct groups *g, const struct sl_json *wl)
{
    char name[NAME_SIZE];
    const char *number = sl_object_annotation(wl, INDEX_NOTE);
    int64_t index = g->v->f->grouping->indexed && number != NULL ? strtoll(number, NULL, 10) : 0;
    name_of(g, index, name);
    return index >= 0 && index < g->count && strcmp(name, sl_object_name(wl)) == 0;
}

/* Of groups that are not wanted any more. Their pods go with them. */
static void drop_others(const struct groups *g)
{
    struct sl_job_view *v = g->v;
    struct sl_json *known = children_new(g->p->workloads, v->key);
    for (size_t i = 0; i < sl_json_len(known); i++) {
        bool absent;
        const char *name = sl_json_text(sl_json_at(known, i), "");
        v->wl =
            sl_reconciler_get(v->r, SL_KIND_WORKLOAD, sl_object_namespace(v->job), name, &absent);
        if (v->wl != NULL && !is_wanted(g, v->wl) && !sl_object_deleting(v->wl) && is_owned(v)) {
            sl_job_delete_workload(v->r, v->f->kind, v->job, v->wl);
        }
        sl_json_free(v->wl);
        v->wl = NULL;
    }
    sl_json_free(known);
}

static void join(const struct groups *g, const struct sl_json *pod)
{
    char group[NAME_SIZE];
    struct sl_group_place place;
    struct sl_job_view *v = g->v;
    const struct sl_grouping *grouping = v->f->grouping;
    const char *class = sl_object_label(v->job, SL_LABEL_PRIORITY_CLASS);
    if (sl_object_deleting(pod) || sl_podjob_ended(pod) || g->size == 0 ||
        !grouping->place(v->f, v->job, pod, &place)) {
        return;
    }
    name_of(g, place.index, group);
    const struct sl_pod_membership m = {.group = group,
                                        .role = place.pod_set,
                                        .queue = v->queue,
                                        .class = class == NULL ? "" : class,
                                        .total = g->size,
                                        .fast = grouping->fast};
    struct sl_json *o = sl_json_clone(pod);
    if (sl_podjob_join(o, &m)) {
        sl_job_write(v->r, SL_VERB_UPDATE, SL_KIND_POD, o, NULL);
    } else {
        sl_json_free(o);
    }
}

static void look_at_pods(const struct groups *g)
{
    struct sl_job_view *v = g->v;
    struct sl_json *known = children_new(g->p->of.members, v->key);
    for (size_t i = 0; i < sl_json_len(known); i++) {
        bool absent;
        struct sl_json *pod = sl_reconciler_get(v->r, SL_KIND_POD, sl_object_namespace(v->job),
                                                sl_json_text(sl_json_at(known, i), ""), &absent);
        if (pod != NULL) {
            join(g, pod);
        }
        sl_json_free(pod);
    }
    sl_json_free(known);
}

void sl_groups_look(struct sl_parents_of *p, struct sl_job_view *v)
{
    SL_PRE(p != NULL && v != NULL);
    const struct sl_grouping *grouping = v->f->grouping;
    int64_t count = grouping->count(v->f, v->job);
    struct groups g = {.p = p,
                       .v = v,
                       .count = count < SL_GROUPS_MAX ? count : SL_GROUPS_MAX,
                       .size = grouping->size(v->f, v->job)};
    int64_t first = sl_parents_round(p, v->key), i = first;
    for (; i < g.count && i < first + LOOKED_MAX && g.made < MADE_MAX; i++) {
        char name[NAME_SIZE];
        name_of(&g, i, name);
        look_at_group(&g, i, name);
    }
    if (first == 0) {
        drop_others(&g);
        look_at_pods(&g);
    }
    sl_parents_go_on(p, v->key, i < g.count ? i : 0);
    sl_json_free(g.wanted);
}
