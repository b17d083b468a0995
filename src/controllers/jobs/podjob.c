/* SPDX-License-Identifier: Apache-2.0
 * SPDX-FileCopyrightText: The Sluice authors */

/* Reading pods; roles are named by a hash of what Kueue hashes, in the form that it hashes it in. */
#include "controllers/jobs/podjob.h"
#include "api/objects/pod_shape.h"
#include "base/check.h"
#include "base/clock.h"
#include "base/digest.h"
#include "controllers/work/template.h"
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define POD_SET_ANNOTATIONS "kueue.x-k8s.io/podset-"

/* --- what it says ----------------------------------------------------------------------------- */

static bool is(const char *text, const char *wanted)
{
    return text != NULL && strcmp(text, wanted) == 0;
}

bool sl_podjob_managed(const struct sl_json *pod)
{
    return is(sl_object_label(pod, SL_POD_MANAGED), "true") || sl_podjob_has_finalizer(pod);
}

const char *sl_podjob_group(const struct sl_json *pod)
{
    const char *name = sl_object_annotation(pod, SL_POD_GROUP); /* longer than labels may be */
    if (name == NULL || name[0] == '\0') {
        name = sl_object_label(pod, SL_POD_GROUP);
    }
    return name != NULL && name[0] != '\0' ? name : NULL;
}

bool sl_podjob_says(const struct sl_json *pod, const char *annotation, const char *value)
{
    return is(sl_object_annotation(pod, annotation), value);
}

int64_t sl_podjob_total(const struct sl_json *pod)
{
    const char *text = sl_object_annotation(pod, SL_POD_GROUP_COUNT);
    char *end;
    if (text == NULL || text[0] < '0' || text[0] > '9') {
        return 0;
    }
    errno = 0;
    long value = strtol(text, &end, 10);
    return *end == '\0' && errno == 0 && value <= INT32_MAX ? value : 0;
}

/* --- its role --------------------------------------------------------------------------------- */

void sl_podjob_role(const struct sl_json *pod, char out[static SL_ROLE_SIZE])
{
    const char *known = sl_object_annotation(pod, SL_POD_ROLE);
    char hex[65];
    if (known != NULL && known[0] != '\0' && strlen(known) < SL_ROLE_SIZE) {
        memcpy(out, known, strlen(known) + 1);
        return;
    }
    struct sl_json *whole = sl_json_new_map();
    struct sl_buf text = {0};
    sl_json_set(whole, "spec", sl_pod_shape_new(sl_json_get(pod, "spec")));
    sl_json_print(whole, &text);
    sl_sha256_hex(text.data, text.len, hex);
    (void)snprintf(out, SL_ROLE_SIZE, "%.8s", hex);
    sl_buf_fini(&text);
    sl_json_free(whole);
}

void sl_podjob_keep_role(struct sl_json *pod)
{
    char role[SL_ROLE_SIZE];
    sl_podjob_role(pod, role);
    sl_json_set_text(sl_json_path_make(pod, "metadata.annotations"), SL_POD_ROLE, role);
}

/* --- its state -------------------------------------------------------------------------------- */

static bool has_gate(const struct sl_json *pod, const char *gate, size_t *at)
{
    const struct sl_json *gates = sl_json_path(pod, "spec.schedulingGates");
    for (size_t i = 0; i < sl_json_len(gates); i++) {
        if (is(sl_json_path_text(sl_json_at(gates, i), "name", ""), gate)) {
            *at = i;
            return true;
        }
    }
    return false;
}

bool sl_podjob_gated(const struct sl_json *pod)
{
    size_t at;
    return has_gate(pod, SL_POD_GATE, &at);
}

static bool phase_is(const struct sl_json *pod, const char *phase)
{
    return is(sl_json_path_text(pod, "status.phase", ""), phase);
}

bool sl_podjob_succeeded(const struct sl_json *pod)
{
    return phase_is(pod, "Succeeded");
}

bool sl_podjob_ended(const struct sl_json *pod)
{
    return phase_is(pod, "Succeeded") || phase_is(pod, "Failed");
}

bool sl_podjob_counts(const struct sl_json *pod)
{
    bool never = sl_object_deleting(pod) && sl_json_path_text(pod, "spec.nodeName", "")[0] == '\0';
    return !never && !phase_is(pod, "Failed");
}

bool sl_podjob_active(const struct sl_json *pod, int64_t now_ms)
{
    int64_t grace_s = sl_json_path_int(pod, "metadata.deletionGracePeriodSeconds", 0);
    int64_t since = sl_clock_parse(sl_json_path_text(pod, "metadata.deletionTimestamp", ""));
    bool overdue = sl_object_deleting(pod) && since >= 0 && now_ms >= since + grace_s * 1000;
    return phase_is(pod, "Running") && !overdue;
}

bool sl_podjob_ready(const struct sl_json *pod)
{
    return sl_condition_true(pod, "Ready");
}

bool sl_podjob_has_finalizer(const struct sl_json *pod)
{
    return sl_object_has_finalizer(pod, SL_POD_MANAGED);
}

/* --- starting --------------------------------------------------------------------------------- */

static void drop_gate(struct sl_json *pod, const char *gate)
{
    size_t at;
    if (has_gate(pod, gate, &at)) {
        sl_json_remove_at(sl_json_path(pod, "spec.schedulingGates"), at);
    }
}

/* A pod gets no new gates: without the one for topologies it goes where its selector lets it. */
enum sl_code sl_podjob_start(struct sl_json *pod, const struct sl_json *injection,
                             struct sl_error *e)
{
    struct sl_json *without = sl_json_clone(injection);
    bool placed = sl_json_len(sl_json_get(without, "schedulingGates")) > 0;
    sl_json_remove(without, "schedulingGates");
    sl_podjob_keep_role(pod);
    enum sl_code code = sl_template_inject(pod, without, e);
    sl_json_free(without);
    if (code != SL_CODE_OK) {
        return code;
    }
    drop_gate(pod, SL_POD_GATE);
    if (!placed) {
        drop_gate(pod, SL_GATE_TOPOLOGY);
    }
    return SL_CODE_OK;
}

/* --- pod sets --------------------------------------------------------------------------------- */

/* Its spec, and what its annotations ask of a topology. */
static struct sl_json *template_new(const struct sl_json *pod)
{
    struct sl_json *template = sl_json_new_map();
    void *it = NULL;
    const char *key;
    struct sl_json *value;
    while (sl_json_next(sl_json_path(pod, "metadata.annotations"), &it, &key, &value)) {
        if (strncmp(key, POD_SET_ANNOTATIONS, sizeof POD_SET_ANNOTATIONS - 1) == 0) {
            sl_json_set(sl_json_path_make(template, "metadata.annotations"), key,
                        sl_json_clone(value));
        }
    }
    sl_json_set(template, "spec", sl_json_clone(sl_json_get(pod, "spec")));
    return template;
}

enum sl_code sl_podjob_add(struct sl_pod_sets *sets, const char *name, const struct sl_json *pod,
                           int64_t count, struct sl_error *e)
{
    SL_PRE(sets != NULL);
    size_t at = 0;
    while (at < sets->count && strcmp(sets->at[at].name, name) != 0) {
        at++;
    }
    if (at == SL_POD_SETS_MAX) {
        return sl_error_set(e, SL_CODE_INVALID, "the pods of the group have more than %u roles",
                            SL_POD_SETS_MAX);
    }
    if (at == sets->count) {
        struct sl_json *template = template_new(pod);
        sets->made = sets->made == NULL ? sl_json_new_list() : sets->made;
        sl_json_append(sets->made, template);
        sets->at[sets->count++] =
            (struct sl_pod_set){.template = template, .index_label = SL_POD_GROUP_INDEX};
        (void)snprintf(sets->at[at].name, sizeof sets->at[at].name, "%.63s", name);
    }
    sets->at[at].count += count;
    return SL_CODE_OK;
}

/* --- groups of a parent ----------------------------------------------------------------------- */

static bool set_label(struct sl_json *pod, const char *key, const char *value)
{
    if (value[0] == '\0' || is(sl_object_label(pod, key), value)) {
        return false;
    }
    sl_json_set_text(sl_json_path_make(pod, "metadata.labels"), key, value);
    return true;
}

bool sl_podjob_join(struct sl_json *pod, const struct sl_pod_membership *m)
{
    SL_PRE(pod != NULL && m != NULL);
    char total[24];
    const char *known = sl_podjob_group(pod);
    bool gated = sl_podjob_gated(pod);
    if (known != NULL) { /* to another it cannot go */
        return gated && strcmp(known, m->group) == 0 && set_label(pod, SL_LABEL_QUEUE, m->queue);
    }
    struct sl_json *notes = sl_json_path_make(pod, "metadata.annotations");
    (void)snprintf(total, sizeof total, "%lld", (long long)m->total);
    sl_json_set_text(notes, SL_POD_GROUP, m->group);
    sl_json_set_text(notes, SL_LABEL_PREBUILT, m->group);
    sl_json_set_text(notes, SL_POD_GROUP_COUNT, total);
    sl_json_set_text(notes, SL_POD_GROUP_SERVING, "true");
    sl_json_set_text(notes, SL_POD_ROLE, m->role);
    if (m->fast) {
        sl_json_set_text(notes, SL_POD_GROUP_FAST, "true");
    }
    (void)set_label(pod, SL_POD_MANAGED, "true");
    (void)set_label(pod, SL_LABEL_PRIORITY_CLASS, m->class);
    if (gated) {
        (void)set_label(pod, SL_LABEL_QUEUE, m->queue);
    }
    return true;
}

/* --- the frameworks --------------------------------------------------------------------------- */

static bool is_alone(const struct sl_json *pod)
{
    return sl_podjob_group(pod) == NULL;
}

static bool is_unmanaged(const struct sl_framework *f, const struct sl_json *pod)
{
    (void)f;
    return !sl_podjob_managed(pod);
}

static bool is_gated(const struct sl_framework *f, const struct sl_json *pod)
{
    (void)f;
    return sl_podjob_gated(pod);
}

static bool is_active(const struct sl_framework *f, const struct sl_json *pod)
{
    (void)f;
    return sl_podjob_active(pod, sl_clock_now_ms());
}

static bool is_ready(const struct sl_framework *f, const struct sl_json *pod)
{
    (void)f;
    return sl_podjob_ready(pod) || sl_podjob_succeeded(pod);
}

static bool has_ended(const struct sl_framework *f, const struct sl_json *pod, bool *success,
                      const char **message)
{
    (void)f;
    *success = sl_podjob_succeeded(pod);
    *message = sl_json_path_text(pod, "status.message", "");
    return sl_podjob_ended(pod);
}

static enum sl_code read_pod_sets(const struct sl_framework *f, const struct sl_json *pod,
                                  struct sl_pod_sets *out, struct sl_error *e)
{
    (void)f;
    *out = (struct sl_pod_sets){.count = 0};
    return sl_podjob_add(out, "main", pod, 1, e);
}

static enum sl_code start(const struct sl_framework *f, struct sl_json *pod, size_t index,
                          const struct sl_json *injection, struct sl_error *e)
{
    (void)f;
    (void)index;
    return sl_podjob_start(pod, injection, e);
}

static const char *priority_class(const struct sl_framework *f, const struct sl_json *pod)
{
    (void)f;
    return sl_json_path_text(pod, "spec.priorityClassName", "");
}

static const struct sl_gated gated = {.finalizer = SL_POD_MANAGED, .counts = sl_podjob_counts};

const struct sl_framework sl_pod_framework = {.kind = SL_KIND_POD,
                                              .name = "pod",
                                              .noun = "pod",
                                              .gated = &gated,
                                              .claims = is_alone,
                                              .skips = is_unmanaged,
                                              .suspended = is_gated,
                                              .active = is_active,
                                              .pods_ready = is_ready,
                                              .finished = has_ended,
                                              .pod_sets = read_pod_sets,
                                              .inject = start,
                                              .priority_class = priority_class};
const struct sl_framework sl_pod_group_framework = {.kind = SL_KIND_POD,
                                                    .name = "pod",
                                                    .noun = "pod group",
                                                    .gated = &gated,
                                                    .composition = &sl_pod_composition,
                                                    .skips = is_unmanaged,
                                                    .suspended = is_gated,
                                                    .active = is_active,
                                                    .finished = has_ended,
                                                    .inject = start,
                                                    .priority_class = priority_class};
