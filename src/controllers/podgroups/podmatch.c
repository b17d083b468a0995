/* SPDX-License-Identifier: Apache-2.0
 * SPDX-FileCopyrightText: The Sluice authors */

/* Which pods of a group count: those that it had first, and that have progressed furthest. */
#include "base/mem.h"
#include "base/check.h"
#include "controllers/podgroups/podjob.h"
#include "controllers/podgroups/podlook.h"
#include <ctype.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* --- order ------------------------------------------------------------------------------------ */

static int by_age(const struct sl_json *a, const struct sl_json *b)
{
    int64_t x = sl_object_created_ms(a);
    int64_t y = sl_object_created_ms(b);
    return x != y ? (x < y ? -1 : 1) : strcmp(sl_object_name(a), sl_object_name(b));
}

/* Those to keep come first: with a finalizer, not gated any more, older. */
static int keep_order(const void *left, const void *right)
{
    const struct sl_json *a = *(struct sl_json *const *)left;
    const struct sl_json *b = *(struct sl_json *const *)right;
    int held = (int)sl_podjob_has_finalizer(b) - (int)sl_podjob_has_finalizer(a);
    int gated = (int)sl_podjob_gated(a) - (int)sl_podjob_gated(b);
    return held != 0 ? held : gated != 0 ? gated : by_age(a, b);
}

/* Those to keep come first: with a finalizer, those that stopped last, older. */
static int stopped_order(const void *left, const void *right)
{
    const struct sl_json *a = *(struct sl_json *const *)left;
    const struct sl_json *b = *(struct sl_json *const *)right;
    int held = (int)sl_podjob_has_finalizer(b) - (int)sl_podjob_has_finalizer(a);
    int later = strcmp(sl_json_path_text(b, "metadata.deletionTimestamp", "~"),
                       sl_json_path_text(a, "metadata.deletionTimestamp", "~"));
    return held != 0 ? held : later != 0 ? later : by_age(a, b);
}

/* --- letting pods go -------------------------------------------------------------------------- */

/* One write for each pod and look: the finalizer first, then the deletion. */
static void remove_excess(struct sl_pod_look *l, struct sl_json *pod)
{
    if (sl_podjob_has_finalizer(pod)) {
        sl_pod_look_let_go(l, pod);
    } else if (!sl_object_deleting(pod)) {
        sl_pod_look_delete(l, pod, "ExcessPodDeleted", "Excess pod deleted");
    }
}

/* The pods of that role (NULL: of any) that count, or that do not; into `out`. */
static size_t pick(const struct sl_pod_look *l, const char *role, bool counts, struct sl_json **out)
{
    size_t count = 0;
    for (size_t i = 0; i < l->count; i++) {
        char own[SL_ROLE_SIZE];
        if (role != NULL) {
            sl_podjob_role(l->pods[i], own);
        }
        if ((role == NULL || strcmp(own, role) == 0) && sl_podjob_counts(l->pods[i]) == counts) {
            out[count++] = l->pods[i];
        }
    }
    return count;
}

/* The list is these from now on; the others stay behind its end, where its owner finds them. */
static void put_first(struct sl_pod_look *l, struct sl_json *const *pods, size_t count)
{
    for (size_t i = 0; i < count; i++) {
        size_t k = i;
        while (l->pods[k] != pods[i]) {
            k++;
        }
        l->pods[k] = l->pods[i];
        l->pods[i] = pods[i];
    }
    l->count = count;
}

/* --- before there is a Workload --------------------------------------------------------------- */

/* The index by which the pods of a group are placed in order, if it has one: a whole number below the group's count. */
static bool index_fits(const struct sl_json *pod, int64_t total)
{
    const char *text = sl_object_label(pod, SL_POD_GROUP_INDEX);
    char *end;
    if (text == NULL) {
        return true;
    }
    long long index = strtoll(text, &end, 10);
    return isdigit((unsigned char)text[0]) && *end == '\0' && index < total;
}

static bool agrees(struct sl_pod_look *l, const struct sl_json *pod, int64_t total)
{
    char text[400];
    const struct sl_json *first = l->pods[0];
    const char *queue = sl_job_queue(first);
    const char *own = sl_job_queue(pod);
    queue = queue == NULL ? "" : queue;
    own = own == NULL ? "" : own;
    if (strcmp(queue, own) != 0) {
        (void)snprintf(text, sizeof text,
                       "pods '%.80s' and '%.80s' have different queue names: %s, %s",
                       sl_object_name(first), sl_object_name(pod), queue, own);
    } else if (sl_podjob_total(pod) != total) {
        (void)snprintf(text, sizeof text, "pods '%.80s' and '%.80s' have different values of %s",
                       sl_object_name(first), sl_object_name(pod), SL_POD_GROUP_COUNT);
    } else if (!index_fits(pod, total)) {
        (void)snprintf(text, sizeof text,
                       "label %s of pod '%.80s' has to be a whole number below %" PRId64,
                       SL_POD_GROUP_INDEX, sl_object_name(pod), total);
    } else {
        return true;
    }
    sl_pod_look_report(l, "ErrWorkloadCompose", text);
    return false;
}

static bool makes_sense(struct sl_pod_look *l, size_t active, int64_t total)
{
    char text[400];
    if (total == 0) {
        (void)snprintf(text, sizeof text, "annotation %s has to be a whole number from 1 on",
                       SL_POD_GROUP_COUNT);
        sl_pod_look_report(l, "ErrWorkloadCompose", text);
        return false;
    }
    for (size_t i = 0; i < l->count; i++) {
        if (sl_podjob_counts(l->pods[i]) && !agrees(l, l->pods[i], total)) {
            return false;
        }
    }
    if ((int64_t)active < total && !sl_podjob_says(l->pods[0], SL_POD_GROUP_FAST, "true")) {
        (void)snprintf(text, sizeof text, "'%.200s' group has fewer runnable pods than expected",
                       l->group);
        sl_pod_look_report(l, "ErrWorkloadCompose", text);
        return false;
    }
    return active > 0;
}

bool sl_pod_look_gather(struct sl_pod_look *l)
{
    SL_PRE(l != NULL);
    int64_t total = sl_podjob_total(l->pods[0]);
    struct sl_json **active = sl_mem_new(l->count, sizeof *active);
    for (size_t i = 0; i < l->count; i++) {
        if (!sl_podjob_counts(l->pods[i]) && sl_podjob_has_finalizer(l->pods[i])) {
            sl_pod_look_let_go(l, l->pods[i]);
        }
    }
    size_t count = pick(l, NULL, true, active);
    bool ok = makes_sense(l, count, total);
    if (ok) {
        qsort(active, count, sizeof *active, keep_order);
        for (size_t i = (size_t)total; i < count; i++) {
            remove_excess(l, active[i]);
        }
        ok = count <= (size_t)total; /* a Workload of other roles would not know them any more */
        put_first(l, active, ok ? count : (size_t)total);
    }
    sl_mem_free(active);
    return ok;
}

/* --- against the Workload --------------------------------------------------------------------- */

static size_t keep(struct sl_json **kept, size_t count, struct sl_json *const *pods, size_t more)
{
    for (size_t i = 0; i < more; i++) {
        kept[count++] = pods[i];
    }
    return count;
}

/* The pods of one role, and how many of them are kept; these are appended to `kept`. */
static size_t match_role(struct sl_pod_look *l, const struct sl_json *pod_set,
                         struct sl_json **scratch, struct sl_json **kept, size_t kept_count)
{
    const char *role = sl_json_path_text(pod_set, "name", "");
    int64_t wanted = sl_json_path_int(pod_set, "count", 0);
    bool fast = sl_podjob_says(l->pods[0], SL_POD_GROUP_FAST, "true");
    size_t want = wanted > 0 ? (size_t)wanted : 0;
    size_t active = pick(l, role, true, scratch);
    size_t stay = active < want ? active : want;
    l->absent += fast ? want > 0 && active == 0 : (int64_t)(want - stay);
    qsort(scratch, active, sizeof *scratch, keep_order);
    for (size_t i = stay; i < active; i++) {
        remove_excess(l, scratch[i]);
    }
    kept_count = keep(kept, kept_count, scratch, stay);
    size_t stopped = pick(l, role, false, scratch);
    size_t replaced = active + stopped > want ? active + stopped - want : 0;
    replaced = replaced < stopped ? replaced : stopped;
    qsort(scratch, stopped, sizeof *scratch, stopped_order);
    for (size_t i = stopped - replaced; i < stopped; i++) {
        if (sl_podjob_has_finalizer(scratch[i])) {
            sl_pod_look_let_go(l, scratch[i]);
        }
    }
    return keep(kept, kept_count, scratch, stopped - replaced);
}

bool sl_pod_look_match(struct sl_pod_look *l)
{
    SL_PRE(l != NULL);
    const struct sl_json *sets = sl_json_path(l->wl, "spec.podSets");
    struct sl_json **scratch = sl_mem_new(2 * l->count, sizeof *scratch);
    struct sl_json **kept = scratch + l->count;
    size_t count = 0;
    l->absent = 0;
    for (size_t i = 0; i < sl_json_len(sets); i++) {
        count = match_role(l, sl_json_at(sets, i), scratch, kept, count);
    }
    put_first(l, kept, count);
    sl_mem_free(scratch);
    return count > 0;
}
