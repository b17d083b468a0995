/* SPDX-License-Identifier: Apache-2.0
 * SPDX-FileCopyrightText: The Sluice authors */

#include "api/admit/admit.h"
#include "base/check.h"

#include <string.h>

#define QUEUE "kueue.x-k8s.io/queue-name"
#define MANAGED "kueue.x-k8s.io/managed"
#define PRIORITY_CLASS "kueue.x-k8s.io/priority-class"
#define PARENT "kueue.x-k8s.io/pod-suspending-parent"
#define SERVING "kueue.x-k8s.io/pod-group-serving"
#define TOGETHER "kueue.x-k8s.io/podset-group-name"
#define OFFSET "kueue.x-k8s.io/pod-index-offset"
#define INDEX "kueue.x-k8s.io/pod-group-pod-index"
#define IN_USE "kueue.x-k8s.io/resource-in-use"
#define DEFAULT_NAME "default" /* of either */

static const char *label_of(const struct sl_json *object, const char *key)
{
    const char *value = sl_object_label(object, key);
    return value == NULL ? "" : value;
}

static bool has_label(const struct sl_json *object, const char *key)
{
    return label_of(object, key)[0] != '\0';
}

static void set_label(struct sl_json *object, const char *key, const char *value)
{
    sl_json_set_text(sl_json_path_make(object, "metadata.labels"), key, value);
}

static void append_missing(struct sl_json *parent, const char *key, const char *field,
                           const char *text)
{
    struct sl_json *list = sl_json_get(parent, key);
    if (list == NULL) {
        list = sl_json_new_list();
        sl_json_set(parent, key, list);
    }
    if (sl_json_type(list) != SL_JSON_LIST) {
        return; /* validation says what is wrong with it */
    }
    for (size_t i = 0; i < sl_json_len(list); i++) {
        const struct sl_json *item = sl_json_at(list, i);
        const char *old =
            field == NULL ? sl_json_text(item, "") : sl_json_path_text(item, field, "");
        if (strcmp(old, text) == 0) {
            return;
        }
    }
    struct sl_json *item = field == NULL ? sl_json_new_text(text) : sl_json_new_map();
    if (field != NULL) {
        sl_json_set_text(item, field, text);
    }
    sl_json_append(list, item);
}

/* Pods of a parent that is suspended itself are only gated: it marks them. */
static void gate(struct sl_json *pod, bool unnamed)
{
    bool parent = sl_object_annotation(pod, PARENT) != NULL;
    if (!unnamed && !parent && !has_label(pod, QUEUE)) {
        return;
    }
    struct sl_json *spec = sl_json_path_make(pod, "spec");
    const char *index = sl_object_annotation(pod, INDEX "-label");
    if (!parent) {
        set_label(pod, MANAGED, "true");
        append_missing(sl_json_path_make(pod, "metadata"), "finalizers", NULL, MANAGED);
    }
    append_missing(spec, "schedulingGates", "name", "kueue.x-k8s.io/admission");
    append_missing(spec, "schedulingGates", "name", "kueue.x-k8s.io/topology");
    const char *value = index == NULL || index[0] == '\0' ? NULL : sl_object_label(pod, index);
    if (value != NULL) {
        struct sl_json *copy = sl_json_new_text(value); /* `value` is lent by what is changed */
        sl_json_set(sl_json_path_make(pod, "metadata.labels"), INDEX, copy);
    }
}

/* What is no map is left to validation. */
static void suspend(struct sl_json *job, const char *where)
{
    const struct sl_json *spec = sl_json_get(job, "spec"), *holder = sl_json_path(job, where);
    if (sl_json_type(spec) == SL_JSON_MAP &&
        (holder == NULL || sl_json_type(holder) == SL_JSON_MAP)) {
        sl_json_set_bool(sl_json_path_make(job, where), "suspend", true);
    }
}

/* What is no map is left to validation. */
static void mark_template(struct sl_json *object, struct sl_json *template)
{
    static const char *const marks[] = {QUEUE, PRIORITY_CLASS};
    for (size_t i = 0; i < 2 && has_label(object, QUEUE) && sl_json_type(template) == SL_JSON_MAP;
         i++) {
        const char *value = label_of(object, marks[i]);
        if (value[0] != '\0' && strcmp(value, label_of(template, marks[i])) != 0) {
            struct sl_json *copy = sl_json_new_text(value); /* `value` is lent by what is changed */
            sl_json_set(sl_json_path_make(template, "metadata.labels"), marks[i], copy);
        }
    }
}

/* --- parents, whose pods are groups ----------------------------------------------------------- */

/* The kinds whose groups have Workloads, by their own names for it, and where their pod templates are. */
static const struct parent {
    const char *group, *kind, *framework;
    const char *templates[2]; /* "" = one only */
    bool led; /* the second are the workers of what the first leads, if it is there */
} parents[] = {
    {"apps", "StatefulSet", "statefulset", {"spec.template", ""}, false},
    {"leaderworkerset.x-k8s.io",
     "LeaderWorkerSet",
     "leaderworkerset.x-k8s.io/leaderworkerset",
     {"spec.leaderWorkerTemplate.leaderTemplate", "spec.leaderWorkerTemplate.workerTemplate"},
     true},
};

static const struct parent *parent_of(const struct sl_json *object)
{
    const char *version = sl_json_path_text(object, "apiVersion", "");
    const char *kind = sl_json_path_text(object, "kind", "");
    for (size_t i = 0; i < sizeof parents / sizeof parents[0]; i++) {
        size_t len = strlen(parents[i].group);
        if (strncmp(version, parents[i].group, len) == 0 && version[len] == '/' &&
            strcmp(kind, parents[i].kind) == 0) {
            return &parents[i];
        }
    }
    return NULL;
}

static void note(struct sl_json *template, const char *key, const char *value)
{
    sl_json_set_text(sl_json_path_make(template, "metadata.annotations"), key, value);
}

/* Does its first template belong to another parent, which has made this one? */
static bool is_anothers(const struct parent *p, const struct sl_json *object)
{
    const struct sl_json *template = sl_json_path(object, p->templates[0]);
    if (template == NULL && p->templates[1][0] != '\0') {
        template = sl_json_path(object, p->templates[1]);
    }
    const char *named = sl_object_annotation(template, PARENT);
    return named != NULL && strcmp(named, p->framework) != 0;
}

/* Ranks of workers begin after their leader, unless both are placed as one. */
static void mark_parent(struct sl_json *object, bool unnamed)
{
    const struct parent *p = parent_of(object);
    if (p == NULL || is_anothers(p, object) || (!unnamed && !has_label(object, QUEUE))) {
        return;
    }
    bool leads = p->led && sl_json_type(sl_json_path(object, p->templates[0])) == SL_JSON_MAP;
    for (size_t i = 0; i < 2 && p->templates[i][0] != '\0'; i++) {
        struct sl_json *template = sl_json_path(object, p->templates[i]);
        if (sl_json_type(template) != SL_JSON_MAP) {
            continue; /* what is no map is left to validation */
        }
        mark_template(object, template);
        note(template, PARENT, p->framework);
        if (p->led) {
            note(template, SERVING, "true");
        }
        if (leads && i == 1 && sl_object_annotation(template, TOGETHER) == NULL) {
            note(template, OFFSET, "1");
        }
    }
}

void sl_admit_new(const struct sl_admit_world *w, unsigned acts, bool unnamed, const char *ns,
                  struct sl_json *object)
{
    SL_PRE(w != NULL && object != NULL);
    if ((acts & SL_ADMIT_QUEUE) != 0 && !has_label(object, QUEUE) && w->has_queue(w->context, ns)) {
        set_label(object, QUEUE, DEFAULT_NAME);
    }
    if ((acts & SL_ADMIT_CLASS) != 0 && has_label(object, QUEUE) &&
        !has_label(object, PRIORITY_CLASS) && w->has_class(w->context)) {
        set_label(object, PRIORITY_CLASS, DEFAULT_NAME);
    }
    bool held = unnamed || has_label(object, QUEUE);
    if ((acts & SL_ADMIT_SUSPEND) != 0 && held) {
        suspend(object, "spec");
    }
    if ((acts & SL_ADMIT_RUN_POLICY) != 0 && held) {
        suspend(object, "spec.runPolicy");
    }
    if ((acts & SL_ADMIT_RAY_SERVICE) != 0 && held) {
        suspend(object, "spec.rayClusterConfig");
    }
    if ((acts & SL_ADMIT_GATE) != 0) {
        gate(object, unnamed);
    }
    if ((acts & SL_ADMIT_TEMPLATE) != 0) {
        mark_template(object, sl_json_path(object, "spec.template"));
    }
    if ((acts & SL_ADMIT_PARENT) != 0) {
        mark_parent(object, unnamed);
    }
    if ((acts & SL_ADMIT_GUARD) != 0) {
        append_missing(sl_json_path_make(object, "metadata"), "finalizers", NULL, IN_USE);
    }
}

enum sl_code sl_admit_change(const struct sl_admit_world *w, const char *ns,
                             const struct sl_json *job, const struct sl_json *old,
                             struct sl_error *causes)
{
    SL_PRE(w != NULL && causes != NULL);
    sl_error_clear(causes);
    if (has_label(job, QUEUE) || !has_label(old, QUEUE) || !w->has_queue(w->context, ns)) {
        return SL_CODE_OK;
    }
    sl_error_cause(causes, "FieldValueForbidden", "metadata.labels[" QUEUE "]",
                   "Forbidden: must not be emptied in a namespace with a default queue");
    return SL_CODE_INVALID;
}
