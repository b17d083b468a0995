/* SPDX-License-Identifier: Apache-2.0
 * SPDX-FileCopyrightText: The Sluice authors */

/* What the labels and annotations of jobs and plain Pods may say of their queue, and what may change when: the rules that
 * deploy/kubernetes/policies/{jobs,pods}.yaml are where there is an API server. A value that does not change is not
 * looked at again, so that what was stored before a rule came can still be updated. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "api/kinds/elastic.h"
#include "api/objects/format.h"
#include "base/check.h"
#include "api/validate/topology_request.h"
#include "api/validate/validate.h"

#define PREFIX "kueue.x-k8s.io/"
#define QUEUE PREFIX "queue-name"
#define LIMIT PREFIX "max-exec-time-seconds"
#define CLASS PREFIX "priority-class"
#define PREBUILT PREFIX "prebuilt-workload-name"
#define LEAST PREFIX "job-min-parallelism"
#define FOLLOW PREFIX "job-completions-equal-parallelism"
#define MANAGED PREFIX "managed"
#define GROUP PREFIX "pod-group-name"
#define TOTAL PREFIX "pod-group-total-count"
#define RETRIABLE PREFIX "retriable-in-group"
#define PARENT PREFIX "pod-suspending-parent"
#define GATE PREFIX "admission"

static const char job_runs[] = "field is immutable while the job is not suspended";
static const char pod_runs[] = "field is immutable once the pod is not gated";

/* A label or an annotation; "" where there is none. */
struct mark {
    const char *place; /* its path */
    const char *key;
    const char *now, *before;
};

static struct mark label_of(const struct sl_check *c, const char *key)
{
    const char *now = sl_object_label(c->object, key), *before = sl_object_label(c->old, key);
    return (struct mark){.place = "metadata.labels",
                         .key = key,
                         .now = now == NULL ? "" : now,
                         .before = before == NULL ? "" : before};
}

static struct mark note_of(const struct sl_check *c, const char *key)
{
    const char *now = sl_object_annotation(c->object, key);
    const char *before = sl_object_annotation(c->old, key);
    return (struct mark){.place = "metadata.annotations",
                         .key = key,
                         .now = now == NULL ? "" : now,
                         .before = before == NULL ? "" : before};
}

/* Names may be longer than labels can be: then an annotation has them, which goes before the label. */
static struct mark either_of(const struct sl_check *c, const char *key)
{
    struct mark label = label_of(c, key), note = note_of(c, key);
    struct mark m = note.now[0] != '\0' ? note : label;
    m.before = note.before[0] != '\0' ? note.before : label.before;
    return m;
}

static bool changed(const struct mark *m)
{
    return strcmp(m->now, m->before) != 0;
}

static void refuse(struct sl_check *c, const struct mark *m, const char *why)
{
    size_t up = sl_check_down(c, "%s[%s]", m->place, m->key);
    sl_check_invalid(c, sl_json_get(sl_json_path(c->object, m->place), m->key), "%s", why);
    sl_check_up(c, up);
}

static void forbid(struct sl_check *c, const struct mark *m, const char *why)
{
    size_t up = sl_check_down(c, "%s[%s]", m->place, m->key);
    sl_check_forbidden(c, why);
    sl_check_up(c, up);
}

/* --- values ------------------------------------------------------------------------------------ */

static void check_name(struct sl_check *c, const struct mark *m, const char *what)
{
    const char *problem = sl_format_check(SL_PATTERN_DNS_SUBDOMAIN, m->now);
    if (m->now[0] != '\0' && changed(m) && problem != NULL) {
        char why[256];
        (void)snprintf(why, sizeof why, "must be %s: %s", what, problem);
        refuse(c, m, why);
    }
}

/* Of at most nine digits, leading zeros aside; 0: it is none. */
static long count_of(const char *text)
{
    size_t zeros = strspn(text, "0"), digits = strspn(text + zeros, "0123456789");
    return digits >= 1 && digits <= 9 && text[zeros + digits] == '\0'
               ? strtol(text + zeros, NULL, 10)
               : 0;
}

static void check_count(struct sl_check *c, const struct mark *m)
{
    if (m->now[0] != '\0' && changed(m) && count_of(m->now) == 0) {
        refuse(c, m, "must be a whole number greater than 0");
    }
}

/* When they are settled, they stay. */
static void check_settled(struct sl_check *c, const struct mark *m, bool settled, const char *why)
{
    if (c->old != NULL && settled && changed(m)) {
        refuse(c, m, why);
    }
}

/* --- jobs of any kind -------------------------------------------------------------------------- */

static bool suspended(const struct sl_json *job)
{
    return sl_json_path_bool(job, "spec.suspend", false) ||
           sl_json_path_bool(job, "spec.runPolicy.suspend", false) ||
           sl_json_path_bool(job, "spec.rayClusterConfig.suspend", false);
}

void sl_check_class_mark(struct sl_check *c, bool runs)
{
    SL_PRE(c != NULL);
    struct mark class = label_of(c, CLASS);
    if (class.before[0] != '\0' && class.now[0] == '\0') {
        refuse(c, &class, "WorkloadPriorityClass cannot be removed from a workload");
    } else if (c->old != NULL && runs && class.before[0] == '\0' && class.now[0] != '\0') {
        refuse(c, &class, "WorkloadPriorityClass cannot be added to a non-suspended workload");
    }
}

static void check_job_values(struct sl_check *c)
{
    struct mark queue = label_of(c, QUEUE), limit = label_of(c, LIMIT);
    struct mark prebuilt = either_of(c, PREBUILT);
    check_name(c, &queue, "the name of a LocalQueue");
    check_count(c, &limit);
    check_name(c, &prebuilt, "the name of a Workload");
}

void sl_check_job_marks(struct sl_check *c)
{
    SL_PRE(c != NULL);
    struct mark queue = label_of(c, QUEUE), limit = label_of(c, LIMIT);
    struct mark prebuilt = either_of(c, PREBUILT);
    bool runs = !suspended(c->object);
    check_job_values(c);
    check_settled(c, &queue, runs, job_runs);
    check_settled(c, &limit, runs || !suspended(c->old), job_runs);
    sl_check_class_mark(c, runs);
    check_settled(c, &prebuilt, runs, job_runs);
}

/* What may change when is said of those of which it is known where their flag is. */
void sl_check_custom_marks(struct sl_check *c, const struct sl_kind_info *kind)
{
    SL_PRE(c != NULL && kind != NULL);
    if (sl_job_kind_suspends(kind)) {
        sl_check_job_marks(c);
    } else {
        check_job_values(c);
    }
}

/* --- batch/v1 Jobs ----------------------------------------------------------------------------- */

static int64_t parallelism(const struct sl_json *job)
{
    return sl_json_path_int(job, "spec.parallelism", 1);
}

/* It was counted as one or the other from the first. */
static void check_elastic(struct sl_check *c)
{
    struct mark elastic = note_of(c, SL_ANNOTATION_ELASTIC);
    if (c->old != NULL && sl_is_elastic(c->object) != sl_is_elastic(c->old)) {
        refuse(c, &elastic, "field is immutable");
    }
}

/* How few pods would do (partial admission): fewer than run at a time. */
static void check_least(struct sl_check *c)
{
    struct mark least = note_of(c, LEAST);
    const struct sl_json *value =
        sl_json_get(sl_json_path(c->object, "metadata.annotations"), LEAST);
    int64_t pods = parallelism(c->object);
    int64_t completions = sl_json_path_int(c->object, "spec.completions", pods);
    pods = completions < pods ? completions : pods;
    bool same = c->old != NULL && !changed(&least);
    if (value != NULL && !same && (count_of(least.now) == 0 || count_of(least.now) >= pods)) {
        char why[128];
        (void)snprintf(why, sizeof why,
                       "must be a number from 1 to %lld, less than pods run at a time",
                       (long long)pods - 1);
        refuse(c, &least, why);
    }
    if (value != NULL && !same && sl_is_elastic(c->object)) {
        refuse(c, &least, "partial admission and elastic job cannot be used together");
    }
}

/* Completions that follow parallelism do so from the first, and then always. */
static void check_follow(struct sl_check *c)
{
    struct mark follow = note_of(c, FOLLOW);
    bool on = strcmp(follow.now, "true") == 0;
    bool same = c->old != NULL && !changed(&follow);
    const struct sl_json *completions = sl_json_path(c->object, "spec.completions");
    bool same_pods = same && parallelism(c->object) == parallelism(c->old) &&
                     sl_json_equal(completions, sl_json_path(c->old, "spec.completions"));
    if (!same && follow.now[0] != '\0' && !on && strcmp(follow.now, "false") != 0) {
        refuse(c, &follow, "must be true or false");
    } else if (!same && on &&
               strcmp(sl_json_path_text(c->object, "spec.completionMode", ""), "Indexed") != 0) {
        refuse(c, &follow, "only for Indexed jobs");
    } else if (on && !same_pods && sl_json_int(completions, 1) != parallelism(c->object)) {
        size_t up = sl_check_down(c, "spec.completions");
        sl_check_invalid(c, completions, "must be equal to parallelism with " FOLLOW);
        sl_check_up(c, up);
    }
}

static void forbid_change(struct sl_check *c, const struct mark *m)
{
    if (changed(m)) {
        forbid(c, m, job_runs);
    }
}

void sl_check_batch_job_marks(struct sl_check *c)
{
    SL_PRE(c != NULL);
    bool ran = c->old != NULL && !suspended(c->old) && !suspended(c->object);
    struct mark follow = note_of(c, FOLLOW), least = note_of(c, LEAST);
    check_least(c);
    if (label_of(c, QUEUE).now[0] == '\0') {
        return; /* the others are not read */
    }
    check_elastic(c);
    check_follow(c);
    if (ran) {
        forbid_change(c, &follow);
    }
    if (ran && least.before[0] != '\0' && parallelism(c->object) != parallelism(c->old)) {
        size_t up = sl_check_down(c, "spec.parallelism");
        sl_check_forbidden(
            c, "cannot change when partial admission is enabled and the job is not suspended");
        sl_check_up(c, up);
    }
}

/* --- plain Pods -------------------------------------------------------------------------------- */

static bool is_queued(const struct sl_json *pod)
{
    return sl_object_label(pod, QUEUE) != NULL || sl_object_label(pod, MANAGED) != NULL ||
           sl_object_label(pod, GROUP) != NULL;
}

static bool is_gated(const struct sl_json *pod)
{
    const struct sl_json *gates = sl_json_path(pod, "spec.schedulingGates");
    for (size_t i = 0; i < sl_json_len(gates); i++) {
        if (strcmp(sl_json_path_text(sl_json_at(gates, i), "name", ""), GATE) == 0) {
            return true;
        }
    }
    return false;
}

/* A group has a name and a count, or neither. */
static void check_group(struct sl_check *c)
{
    static const char both[] = "must be set together with ";
    struct mark group = either_of(c, GROUP), total = note_of(c, TOTAL);
    struct mark prebuilt = either_of(c, PREBUILT);
    bool counted = sl_object_annotation(c->object, TOTAL) != NULL;
    bool same = c->old != NULL && !changed(&group) && !changed(&total);
    const struct mark *missing = counted ? &group : &total;
    if (!same && (group.now[0] != '\0') != counted) {
        char why[128];
        (void)snprintf(why, sizeof why, "%s%s", both, counted ? TOTAL : GROUP);
        size_t up = sl_check_down(c, "%s[%s]", missing->place, missing->key);
        sl_check_required(c, why);
        sl_check_up(c, up);
    }
    check_name(c, &group, "a DNS subdomain");
    check_count(c, &total);
    if (group.before[0] != '\0' && changed(&group)) {
        refuse(c, &group, "field is immutable");
    }
    if (group.now[0] != '\0' && prebuilt.now[0] != '\0' && strcmp(prebuilt.now, group.now) != 0 &&
        (changed(&group) || changed(&prebuilt))) {
        refuse(c, &prebuilt, "prebuilt workload and pod group should be equal");
    }
}

static void check_pod_notes(struct sl_check *c)
{
    static const char where[] = "metadata.annotations";
    struct mark retriable = note_of(c, RETRIABLE);
    struct sl_error before = {0};
    if (either_of(c, GROUP).now[0] != '\0' && strcmp(retriable.before, "false") == 0 &&
        strcmp(retriable.now, "false") != 0) {
        forbid(c, &retriable, "a group that is not retriable stays so");
    }
    if (c->old == NULL || sl_topology_request_check(sl_json_path(c->old, where), where, INT32_MAX,
                                                    &before) == SL_CODE_OK) {
        (void)sl_topology_request_check(sl_json_path(c->object, where), where, INT32_MAX, c->e);
    }
}

static bool of_a_job(const struct sl_json *pod)
{
    if (sl_object_annotation(pod, PARENT) != NULL) {
        return false; /* its parent queues it as a pod */
    }
    const struct sl_json *owner = sl_object_controller_ref(pod);
    enum sl_kind kind = sl_kind_find_object(sl_json_path_text(owner, "apiVersion", ""),
                                            sl_json_path_text(owner, "kind", ""));
    return sl_kind_is_job(kind);
}

void sl_check_pod_marks(struct sl_check *c)
{
    SL_PRE(c != NULL);
    struct mark queue = label_of(c, QUEUE), limit = label_of(c, LIMIT);
    struct mark managed = label_of(c, MANAGED), prebuilt = either_of(c, PREBUILT);
    if (of_a_job(c->object) || (!is_queued(c->object) && !is_queued(c->old))) {
        return; /* admission leaves it alone, whatever it says */
    }
    bool settled = !is_gated(c->object);
    sl_check_gates(c);
    check_name(c, &queue, "the name of a LocalQueue");
    check_settled(c, &queue, settled, pod_runs);
    check_count(c, &limit);
    check_settled(c, &limit, settled, pod_runs);
    if (managed.now[0] != '\0' && changed(&managed) && strcmp(managed.now, "true") != 0) {
        forbid(c, &managed, "managed label value can only be 'true'");
    }
    check_name(c, &prebuilt, "the name of a Workload");
    check_group(c);
    check_pod_notes(c);
}
