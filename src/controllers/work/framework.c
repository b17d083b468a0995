/* SPDX-License-Identifier: Apache-2.0
 * SPDX-FileCopyrightText: The Sluice authors */

/* What is the same for all kinds of jobs: its Workload, and whether both still match. */
#include "controllers/work/framework.h"
#include "api/validate/topology_request.h"
#include "base/buf.h"
#include "base/check.h"
#include "controllers/work/provisioning_request.h"
#include "base/digest.h"
#include "controllers/work/template.h"
#include <ctype.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define NAME_LENGTH_MAX 253
#define HASH_LENGTH 5

void sl_pod_sets_fini(struct sl_pod_sets *sets)
{
    SL_PRE(sets != NULL);
    sl_json_free(sets->made);
    *sets = (struct sl_pod_sets){.count = 0};
}

/* --- what labels say ----------------------------------------------------------------------------------- */

const char *sl_job_queue(const struct sl_json *job)
{
    const char *queue = sl_object_label(job, SL_LABEL_QUEUE);
    return queue != NULL && queue[0] != '\0' ? queue : NULL;
}

int64_t sl_number_in(const char *text)
{
    char *end;
    long value = text != NULL && isdigit((unsigned char)text[0]) ? strtol(text, &end, 10) : 0;
    return value > 0 && *end == '\0' ? value : 0;
}

int64_t sl_job_execution_s_max(const struct sl_json *job)
{
    int64_t value = sl_number_in(sl_object_label(job, SL_LABEL_MAX_EXEC_S));
    return value <= INT32_MAX ? value : 0;
}

bool sl_job_owns(const struct sl_json *job, const struct sl_json *wl)
{
    const char *uid = sl_json_text(sl_json_get(sl_object_controller_ref(wl), "uid"), "");
    return uid[0] != '\0' && strcmp(uid, sl_object_uid(job)) == 0;
}

/* --- the Workload -------------------------------------------------------------------------------------- */

void sl_framework_workload_name(const struct sl_framework *f, const char *job_name,
                                const char *job_uid, char out[static 254])
{
    SL_PRE(f != NULL);
    const struct sl_kind_info *info = sl_kind_info(f->kind);
    struct sl_buf text = {0};
    char hex[41];
    char prefix[NAME_LENGTH_MAX + 80];
    sl_buf_print(&text, "%s\n%s\n%s\n%s", info->kind, info->group, job_name, job_uid);
    sl_sha1_hex(text.data, text.len, hex);
    sl_buf_fini(&text);
    snprintf(prefix, sizeof prefix, "%s-%s", info->kind, job_name);
    for (size_t i = 0; info->kind[i] != '\0'; i++) {
        prefix[i] = (char)tolower((unsigned char)prefix[i]);
    }
    snprintf(out, NAME_LENGTH_MAX + 1, "%.*s-%.*s", NAME_LENGTH_MAX - 1 - HASH_LENGTH, prefix,
             HASH_LENGTH, hex);
}

static struct sl_json *owner_new(const struct sl_framework *f, const struct sl_json *object)
{
    struct sl_json *owner = sl_json_new_map();
    sl_json_set_text(owner, "apiVersion", sl_kind_info(f->kind)->api_version);
    sl_json_set_text(owner, "kind", sl_kind_info(f->kind)->kind);
    sl_json_set_text(owner, "name", sl_object_name(object));
    sl_json_set_text(owner, "uid", sl_object_uid(object));
    return owner;
}

void sl_framework_own(const struct sl_framework *f, struct sl_json *object,
                      const struct sl_json *job)
{
    SL_PRE(f != NULL);
    struct sl_json *owner = owner_new(f, job);
    sl_json_set_bool(owner, "controller", true);
    sl_json_set_bool(owner, "blockOwnerDeletion", true);
    struct sl_json *owners = sl_json_new_list();
    sl_json_append(owners, owner);
    sl_json_set(sl_json_path_make(object, "metadata"), "ownerReferences", owners);
}

static bool is_marked(const struct sl_framework *f, const struct sl_json *wl)
{
    const char *mark = sl_object_annotation(wl, f->composition->mark);
    return mark != NULL && strcmp(mark, "true") == 0;
}

bool sl_framework_has(const struct sl_framework *f, const struct sl_json *job,
                      const struct sl_json *wl)
{
    SL_PRE(f != NULL);
    return f->composition == NULL ? sl_job_owns(job, wl) : is_marked(f, wl);
}

bool sl_framework_composes(const struct sl_framework *f, const struct sl_json *wl)
{
    SL_PRE(f != NULL);
    if (f->composition == NULL) {
        return false;
    }
    const struct sl_json *first = sl_json_at(sl_json_path(wl, "metadata.ownerReferences"), 0);
    return is_marked(f, wl) ||
           (sl_object_controller_ref(wl) == NULL && sl_object_ref_is(first, f->kind));
}

static bool has_owner(const struct sl_json *owners, const struct sl_json *object)
{
    bool found = false;
    for (size_t i = 0; i < sl_json_len(owners) && !found; i++) {
        found =
            strcmp(sl_json_path_text(sl_json_at(owners, i), "uid", ""), sl_object_uid(object)) == 0;
    }
    return found;
}

size_t sl_framework_own_all(const struct sl_framework *f, struct sl_json *wl,
                            const struct sl_members *m)
{
    SL_PRE(m != NULL);
    size_t added = 0;
    struct sl_json *metadata = sl_json_path_make(wl, "metadata");
    if (sl_json_get(metadata, "ownerReferences") == NULL) {
        sl_json_set(metadata, "ownerReferences", sl_json_new_list());
    }
    struct sl_json *owners = sl_json_get(metadata, "ownerReferences");
    for (size_t i = 0; i < m->count; i++) {
        if (!has_owner(owners, m->at[i].object)) {
            sl_json_append(owners, owner_new(f, m->at[i].object));
            added++;
        }
    }
    return added;
}

/* sl_object_label or sl_object_annotation. */
typedef const char *read_fn(const struct sl_json *object, const char *key);

static const char *first_of(const struct sl_members *m, read_fn *read, const char *key)
{
    const char *value = NULL;
    for (size_t i = 0; i < m->count && value == NULL; i++) {
        value = read(m->at[i].object, key);
    }
    return value;
}

static bool agree(const struct sl_members *m, read_fn *read, const char *const *keys, size_t count)
{
    for (size_t k = 0; k < count; k++) {
        const char *value = first_of(m, read, keys[k]);
        for (size_t i = 0; i < m->count; i++) {
            const char *own = read(m->at[i].object, keys[k]);
            if (own != NULL && strcmp(own, value) != 0) {
                return false;
            }
        }
    }
    return true;
}

const char *sl_members_disagree(const struct sl_members *m, const struct sl_copied_keys *keys)
{
    SL_PRE(m != NULL && keys != NULL);
    return !agree(m, sl_object_label, keys->labels, keys->label_count) ? "label"
           : !agree(m, sl_object_annotation, keys->annotations, keys->annotation_count)
               ? "annotation"
               : NULL;
}

const char *sl_job_prebuilt(const struct sl_json *job)
{
    const char *name = sl_object_annotation(job, SL_LABEL_PREBUILT);
    if (name == NULL || name[0] == '\0') {
        name = sl_object_label(job, SL_LABEL_PREBUILT);
    }
    return name != NULL && name[0] != '\0' && strlen(name) <= NAME_LENGTH_MAX ? name : NULL;
}

static const char *gates_of(const struct sl_json *object)
{
    const char *gates = sl_object_annotation(object, SL_ANNOTATION_GATED_BY);
    return gates == NULL ? "" : gates;
}

static void copy_gates(struct sl_json *wl, const struct sl_json *job)
{
    if (gates_of(job)[0] != '\0') {
        sl_json_set_text(sl_json_path_make(wl, "metadata.annotations"), SL_ANNOTATION_GATED_BY,
                         gates_of(job));
    } else {
        sl_json_remove(sl_json_path(wl, "metadata.annotations"), SL_ANNOTATION_GATED_BY);
    }
}

struct sl_json *sl_workload_with_gates_new(const struct sl_json *wl, const struct sl_json *job)
{
    if (strcmp(gates_of(wl), gates_of(job)) == 0) {
        return NULL;
    }
    struct sl_json *o = sl_json_clone(wl);
    copy_gates(o, job);
    return o;
}

/* What the job says to a provisioner goes with its Workload. */
static void copy_parameters(struct sl_json *wl, const struct sl_json *job)
{
    void *it = NULL;
    const char *key;
    struct sl_json *value;
    while (sl_json_next(sl_json_path(job, "metadata.annotations"), &it, &key, &value)) {
        if (strncmp(key, SL_PREFIX_PROVISIONING, sizeof SL_PREFIX_PROVISIONING - 1) == 0) {
            sl_json_set(sl_json_path_make(wl, "metadata.annotations"), key, sl_json_clone(value));
        }
    }
}

static void add_owners(const struct sl_framework *f, struct sl_json *wl, const struct sl_json *job,
                       const struct sl_workload_plan *plan)
{
    if (f->composition == NULL) {
        sl_json_set_text(sl_json_path(wl, "metadata.labels"), SL_LABEL_JOB_UID, sl_object_uid(job));
        sl_framework_own(f, wl, job);
    } else {
        sl_json_set_text(sl_json_path_make(wl, "metadata.annotations"), f->composition->mark,
                         "true");
        (void)sl_framework_own_all(f, wl, plan->members);
    }
}

/* From the members, or where there are none from the job. */
static void copy_keys(struct sl_json *metadata, const char *member,
                      const struct sl_workload_plan *plan, const struct sl_json *job,
                      bool annotations)
{
    const struct sl_copied_keys *c = &plan->copied;
    read_fn *read = annotations ? sl_object_annotation : sl_object_label;
    const char *const *keys = annotations ? c->annotations : c->labels;
    for (size_t i = 0; i < (annotations ? c->annotation_count : c->label_count); i++) {
        const char *value =
            plan->members == NULL ? read(job, keys[i]) : first_of(plan->members, read, keys[i]);
        if (value != NULL) {
            sl_json_set_text(sl_json_path_make(metadata, member), keys[i], value);
        }
    }
}

static void add_metadata(const struct sl_framework *f, struct sl_json *wl,
                         const struct sl_json *job, const struct sl_workload_plan *plan)
{
    struct sl_json *finalizers = sl_json_new_list();
    sl_json_append(finalizers, sl_json_new_text(SL_FINALIZER));
    struct sl_json *metadata = sl_json_path_make(wl, "metadata");
    (void)sl_json_path_make(metadata, "labels");
    copy_keys(metadata, "labels", plan, job, false);
    copy_keys(metadata, "annotations", plan, job, true);
    sl_json_set(metadata, "finalizers", finalizers);
    add_owners(f, wl, job, plan);
    copy_parameters(wl, job);
    copy_gates(wl, job);
}

void sl_workload_set_priority(struct sl_json *spec, const struct sl_priority *priority)
{
    SL_PRE(priority != NULL);
    sl_json_set_int(spec, "priority", priority->value);
    sl_json_remove(spec, "priorityClassRef");
    if (priority->name[0] == '\0') {
        return;
    }
    struct sl_json *ref = sl_json_path_make(spec, "priorityClassRef");
    sl_json_set_text(ref, "group", priority->group);
    sl_json_set_text(ref, "kind", priority->kind);
    sl_json_set_text(ref, "name", priority->name);
}

/* What the pod set asks of a topology (a new map); NULL: nothing. */
static struct sl_json *topology_new(const struct sl_pod_set *set)
{
    struct sl_json *request = sl_topology_request_new(
        sl_json_path(set->template, "metadata.annotations"), set->index_label);
    if (set->sub_group_label != NULL) {
        request = request == NULL ? sl_json_new_map() : request;
        sl_json_set_text(request, "subGroupIndexLabel", set->sub_group_label);
        sl_json_set_int(request, "subGroupCount", set->sub_group_count);
    }
    return request;
}

static struct sl_json *pod_set_new(const struct sl_pod_set *set)
{
    struct sl_json *o = sl_json_new_map();
    struct sl_json *template =
        set->template == NULL ? sl_json_new_map() : sl_json_clone(set->template);
    sl_template_clean(template);
    sl_json_set_text(o, "name", set->name);
    sl_json_set_int(o, "count", set->count);
    if (set->min_count > 0) {
        sl_json_set_int(o, "minCount", set->min_count);
    }
    sl_json_set(o, "template", template);
    struct sl_json *topology = topology_new(set);
    if (topology != NULL) {
        sl_json_set(o, "topologyRequest", topology);
    }
    return o;
}

struct sl_json *sl_framework_workload_new(const struct sl_framework *f, const struct sl_json *job,
                                          const struct sl_workload_plan *plan)
{
    SL_PRE(plan != NULL);
    char name[254];
    sl_framework_workload_name(f, sl_object_name(job), sl_object_uid(job), name);
    struct sl_json *wl = sl_object_new(SL_KIND_WORKLOAD, sl_object_namespace(job),
                                       f->composition == NULL ? name : f->composition->group(job));
    add_metadata(f, wl, job, plan);
    struct sl_json *spec = sl_json_path_make(wl, "spec");
    if (plan->queue[0] != '\0') {
        sl_json_set_text(spec, "queueName", plan->queue);
    }
    sl_workload_set_priority(spec, &plan->priority);
    if (sl_job_execution_s_max(job) > 0) {
        sl_json_set_int(spec, "maximumExecutionTimeSeconds", sl_job_execution_s_max(job));
    }
    struct sl_json *list = sl_json_new_list();
    for (size_t i = 0; i < plan->sets->count; i++) {
        sl_json_append(list, pod_set_new(&plan->sets->at[i]));
    }
    sl_json_set(spec, "podSets", list);
    return wl;
}

/* --- do both match? ------------------------------------------------------------------------------------ */

static const struct sl_json *assignment(const struct sl_json *wl, size_t index)
{
    return sl_json_at(sl_json_path(wl, "status.admission.podSetAssignments"), index);
}

int64_t sl_workload_reduced_pods(const struct sl_json *wl, size_t index)
{
    const struct sl_json *pod_set = sl_workload_pod_set(wl, index);
    int64_t admitted = sl_json_int(sl_json_get(assignment(wl, index), "count"), -1);
    bool fewer = sl_json_get(pod_set, "minCount") != NULL && admitted > 0 &&
                 admitted < sl_json_path_int(pod_set, "count", -1);
    return fewer ? admitted : -1;
}

static bool matches(const struct sl_pod_set *set, const struct sl_json *wl, size_t index,
                    bool suspended)
{
    const struct sl_json *pod_set = sl_workload_pod_set(wl, index);
    const struct sl_json *original = sl_json_get(pod_set, "template");
    int64_t reduced = suspended ? -1 : sl_workload_reduced_pods(wl, index);
    int64_t count = reduced > 0 ? reduced : sl_json_path_int(pod_set, "count", -1);
    return strcmp(sl_json_path_text(pod_set, "name", ""), set->name) == 0 && set->count == count &&
           sl_template_same_containers(set->template, original) &&
           (!suspended || sl_template_same_placement(set->template, original));
}

bool sl_pod_sets_match(const struct sl_pod_sets *sets, const struct sl_json *wl, bool suspended)
{
    SL_PRE(sets != NULL);
    bool same = sl_json_len(sl_json_path(wl, "spec.podSets")) == sets->count;
    for (size_t i = 0; i < sets->count && same; i++) {
        same = matches(&sets->at[i], wl, i, suspended);
    }
    return same;
}

bool sl_pod_sets_wish_the_same(const struct sl_pod_sets *sets, const struct sl_json *wl)
{
    SL_PRE(sets != NULL);
    for (size_t i = 0; i < sets->count; i++) {
        const struct sl_json *pod_set = sl_workload_pod_set(wl, i);
        struct sl_json *wanted = topology_new(&sets->at[i]);
        bool same = sl_json_equal(wanted, sl_json_get(pod_set, "topologyRequest")) &&
                    sl_json_path_int(pod_set, "minCount", 0) == sets->at[i].min_count;
        sl_json_free(wanted);
        if (!same) {
            return false;
        }
    }
    return true;
}

bool sl_workload_limit_matches(const struct sl_json *wl, const struct sl_json *job)
{
    return sl_json_path_int(wl, "spec.maximumExecutionTimeSeconds", 0) ==
           sl_job_execution_s_max(job);
}

struct sl_json *sl_workload_respecified_new(const struct sl_json *wl, const struct sl_json *wanted)
{
    static const char *const members[] = {"queueName", "podSets", "priority", "priorityClassRef",
                                          "maximumExecutionTimeSeconds"};
    struct sl_json *o = sl_json_clone(wl);
    struct sl_json *spec = sl_json_path_make(o, "spec");
    for (size_t i = 0; i < sizeof members / sizeof members[0]; i++) {
        const struct sl_json *value = sl_json_get(sl_json_get(wanted, "spec"), members[i]);
        if (value == NULL) {
            sl_json_remove(spec, members[i]);
        } else {
            sl_json_set(spec, members[i], sl_json_clone(value));
        }
    }
    return o;
}

enum sl_code sl_pod_sets_check(const struct sl_pod_sets *sets, struct sl_error *e)
{
    SL_PRE(sets != NULL);
    for (size_t i = 0; i < sets->count; i++) {
        char where[160];
        const struct sl_pod_set *set = &sets->at[i];
        snprintf(where, sizeof where, "%s%smetadata.annotations", set->where,
                 set->where[0] == '\0' ? "" : "."); /* a Pod is its own template */
        enum sl_code code = sl_topology_request_check(
            sl_json_path(set->template, "metadata.annotations"), where, set->count, e);
        if (code != SL_CODE_OK) {
            return code;
        }
    }
    return SL_CODE_OK;
}

/* --- parts of Workloads -------------------------------------------------------------------------------- */

struct sl_json *sl_workload_pod_set(const struct sl_json *wl, size_t index)
{
    return sl_json_at(sl_json_path(wl, "spec.podSets"), index);
}

bool sl_workload_has_finalizer(const struct sl_json *wl)
{
    return sl_object_has_finalizer(wl, SL_FINALIZER);
}

void sl_workload_drop_finalizer(struct sl_json *wl)
{
    (void)sl_object_drop_finalizer(wl, SL_FINALIZER);
}
