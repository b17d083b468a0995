/* SPDX-License-Identifier: Apache-2.0
 * SPDX-FileCopyrightText: The Sluice authors */

/* A group of pods as one job. Which of its pods count: those that it had first, and that have progressed furthest. */
#include "base/check.h"
#include "base/mem.h"
#include "controllers/jobs/podjob.h"
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

static int by_finalizer(const struct sl_json *a, const struct sl_json *b)
{
    return (int)sl_podjob_has_finalizer(b) - (int)sl_podjob_has_finalizer(a);
}

/* Those to keep come first: of those that count with a finalizer, not gated any more, older; of the others with a
 * finalizer, those that stopped last, older. */
static int keep_order(const void *left, const void *right)
{
    const struct sl_json *a = ((const struct sl_member *)left)->object;
    const struct sl_json *b = ((const struct sl_member *)right)->object;
    bool counts = sl_podjob_counts(a);
    if (counts != sl_podjob_counts(b)) {
        return counts ? -1 : 1;
    }
    int held = by_finalizer(a, b);
    int late = counts ? (int)sl_podjob_gated(a) - (int)sl_podjob_gated(b)
                      : strcmp(sl_json_path_text(b, "metadata.deletionTimestamp", "~"),
                               sl_json_path_text(a, "metadata.deletionTimestamp", "~"));
    return held != 0 ? held : late != 0 ? late : by_age(a, b);
}

static void sort(struct sl_members *m)
{
    qsort(m->at, m->count, sizeof *m->at, keep_order);
}

/* --- what it says ----------------------------------------------------------------------------- */

static bool is_fast(const struct sl_members *m)
{
    return sl_podjob_says(m->at[0].object, SL_POD_GROUP_FAST, "true");
}

static bool serves(const struct sl_members *m)
{
    return sl_podjob_says(m->at[0].object, SL_POD_GROUP_SERVING, "true");
}

static bool has_finished(const struct sl_members *m, bool *success, struct sl_buf *message)
{
    int64_t total = sl_podjob_total(m->at[0].object);
    int64_t succeeded = 0;
    bool open = false;
    bool gives_up = false;
    for (size_t i = 0; i < m->count; i++) {
        const struct sl_json *pod = m->at[i].object;
        succeeded += sl_podjob_succeeded(pod);
        open = open || !sl_podjob_ended(pod);
        gives_up = gives_up || sl_podjob_says(pod, SL_POD_RETRIABLE, "false");
    }
    *success = true;
    sl_buf_print(message, "Pods succeeded: %" PRId64 "/%" PRId64 ".", succeeded, total);
    return !serves(m) && ((total > 0 && succeeded == total) || (!open && gives_up));
}

static bool are_ready(const struct sl_members *m)
{
    bool ready = (int64_t)m->count >= sl_podjob_total(m->at[0].object);
    for (size_t i = 0; i < m->count && ready; i++) {
        ready = sl_podjob_ready(m->at[i].object) || sl_podjob_succeeded(m->at[i].object);
    }
    return ready;
}

static bool is_of(const struct sl_json *pod, const char *role)
{
    char own[SL_ROLE_SIZE];
    sl_podjob_role(pod, own);
    return strcmp(own, role) == 0;
}

/* Pods that have succeeded need their quota no more. */
static int64_t reclaimable(const struct sl_members *m, const char *role)
{
    int64_t count = 0;
    for (size_t i = 0; i < m->count && !serves(m); i++) {
        count += sl_podjob_succeeded(m->at[i].object) && is_of(m->at[i].object, role);
    }
    return count;
}

/* --- its pod sets ----------------------------------------------------------------------------- */

static int by_name(const void *a, const void *b)
{
    return strcmp(((const struct sl_pod_set *)a)->name, ((const struct sl_pod_set *)b)->name);
}

/* Of the pods that count; where it is admitted fast, the first of them counts for all. */
static enum sl_code read_pod_sets(const struct sl_members *m, struct sl_pod_sets *out,
                                  struct sl_error *e)
{
    enum sl_code code = SL_CODE_OK;
    int64_t total = is_fast(m) ? sl_podjob_total(m->at[0].object) : 0;
    *out = (struct sl_pod_sets){.count = 0};
    for (size_t i = 0; i < m->count && code == SL_CODE_OK && (total == 0 || out->count == 0); i++) {
        char role[SL_ROLE_SIZE];
        if (sl_podjob_counts(m->at[i].object)) {
            sl_podjob_role(m->at[i].object, role);
            code = sl_podjob_add(out, role, m->at[i].object, total > 0 ? total : 1, e);
        }
    }
    if (code == SL_CODE_OK && out->count == 0) {
        return sl_error_set(e, SL_CODE_INVALID, "the group has no pod that can run");
    }
    qsort(out->at, out->count, sizeof out->at[0], by_name);
    return code;
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

static enum sl_code agrees(const struct sl_json *first, const struct sl_json *pod, int64_t total,
                           struct sl_error *e)
{
    const char *queue = sl_job_queue(first);
    const char *own = sl_job_queue(pod);
    queue = queue == NULL ? "" : queue;
    own = own == NULL ? "" : own;
    if (strcmp(queue, own) != 0) {
        return sl_error_set(e, SL_CODE_INVALID,
                            "pods '%.80s' and '%.80s' have different queue names: %s, %s",
                            sl_object_name(first), sl_object_name(pod), queue, own);
    }
    if (sl_podjob_total(pod) != total) {
        return sl_error_set(e, SL_CODE_INVALID,
                            "pods '%.80s' and '%.80s' have different values of %s",
                            sl_object_name(first), sl_object_name(pod), SL_POD_GROUP_COUNT);
    }
    if (!index_fits(pod, total)) {
        return sl_error_set(e, SL_CODE_INVALID,
                            "label %s of pod '%.80s' has to be a whole number below %" PRId64,
                            SL_POD_GROUP_INDEX, sl_object_name(pod), total);
    }
    return SL_CODE_OK;
}

static enum sl_code makes_sense(const struct sl_members *m, const struct sl_json *first,
                                size_t active, struct sl_error *e)
{
    int64_t total = sl_podjob_total(first);
    enum sl_code code = SL_CODE_OK;
    if (total == 0) {
        return sl_error_set(e, SL_CODE_INVALID, "annotation %s has to be a whole number from 1 on",
                            SL_POD_GROUP_COUNT);
    }
    for (size_t i = 0; i < active && code == SL_CODE_OK; i++) {
        code = agrees(first, m->at[i].object, total, e);
    }
    if (code == SL_CODE_OK && (int64_t)active < total &&
        !sl_podjob_says(first, SL_POD_GROUP_FAST, "true")) {
        return sl_error_set(e, SL_CODE_INVALID,
                            "'%.200s' group has fewer runnable pods than expected", m->group);
    }
    return code == SL_CODE_OK && active == 0 ? SL_CODE_GONE : code;
}

/* Pods that can run no more are not waited for. With pods beyond its count the group gets no Workload yet: one of
 * other roles would not know them any more. */
static enum sl_code gather(struct sl_members *m, struct sl_error *e)
{
    const struct sl_json *first = m->at[0].object;
    size_t active = 0;
    sort(m);
    for (size_t i = 0; i < m->count; i++) {
        bool counts = sl_podjob_counts(m->at[i].object);
        active += counts;
        m->at[i].fate = counts ? SL_FATE_KEPT : SL_FATE_LET_GO;
    }
    enum sl_code code = makes_sense(m, first, active, e);
    for (size_t i = (size_t)sl_podjob_total(first); i < active && code != SL_CODE_INVALID; i++) {
        m->at[i].fate = SL_FATE_EXCESS;
        code = SL_CODE_GONE;
    }
    return code;
}

/* --- against the Workload --------------------------------------------------------------------- */

static int64_t missing_of(const struct sl_members *m, size_t want, size_t active)
{
    if (is_fast(m)) {
        return want > 0 && active == 0;
    }
    return want > active ? (int64_t)(want - active) : 0;
}

/* Those that count come first in the list: as many stay as are wanted, and the others are excess. Of those that have
 * stopped as many stay as are not replaced. How many stay in all. */
static size_t match_role(struct sl_members *m, const struct sl_json *pod_set)
{
    const char *role = sl_json_path_text(pod_set, "name", "");
    int64_t count = sl_json_path_int(pod_set, "count", 0);
    size_t want = count > 0 ? (size_t)count : 0;
    size_t active = 0;
    size_t seen = 0;
    for (size_t i = 0; i < m->count; i++) {
        if (!is_of(m->at[i].object, role)) {
            continue;
        }
        bool counts = sl_podjob_counts(m->at[i].object);
        enum sl_fate over = counts ? SL_FATE_EXCESS : SL_FATE_LET_GO;
        m->at[i].fate = seen++ < want ? SL_FATE_KEPT : over;
        active += counts;
    }
    m->missing += missing_of(m, want, active);
    return seen < want ? seen : want;
}

/* Is one that counts not in it? A prebuilt one was made for others then. */
static bool lacks_some(const struct sl_members *m)
{
    bool lacks = false;
    for (size_t i = 0; i < m->count && !lacks; i++) {
        lacks = m->at[i].fate != SL_FATE_KEPT && sl_podjob_counts(m->at[i].object);
    }
    return lacks && sl_job_prebuilt(m->at[0].object) != NULL && !serves(m);
}

static bool match(struct sl_members *m, const struct sl_json *wl)
{
    const struct sl_json *sets = sl_json_path(wl, "spec.podSets");
    size_t kept = 0;
    m->missing = 0;
    for (size_t i = 0; i < m->count; i++) {
        m->at[i].fate = SL_FATE_UNKNOWN;
    }
    sort(m);
    for (size_t i = 0; i < sl_json_len(sets); i++) {
        kept += match_role(m, sl_json_at(sets, i));
    }
    return kept > 0 && !lacks_some(m);
}

const struct sl_composition sl_pod_composition = {.mark = SL_GROUP_WORKLOAD,
                                                  .group = sl_podjob_group,
                                                  .prepare = sl_podjob_keep_role,
                                                  .gather = gather,
                                                  .match = match,
                                                  .pod_sets = read_pod_sets,
                                                  .pod_set = sl_podjob_role,
                                                  .serves = serves,
                                                  .finished = has_finished,
                                                  .pods_ready = are_ready,
                                                  .reclaimable = reclaimable};
