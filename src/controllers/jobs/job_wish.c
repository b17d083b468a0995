/* SPDX-License-Identifier: Apache-2.0
 * SPDX-FileCopyrightText: The Sluice authors */

#include "controllers/jobs/job_wish.h"
#include "base/check.h"
#include "base/clock.h"
#include "controllers/jobs/job_refs.h"
#include "controllers/jobs/job_steps.h"
#include "controllers/work/job_children.h"
#include "controllers/work/slices.h"
#include <stdio.h>
#include <string.h>

#define QUEUE_DEFAULT "default"

/* Jobs of that kind that are one object each. */
static const struct sl_jobs_of *find_kind(const struct sl_jobs *j, enum sl_kind kind,
                                          const struct sl_json *job)
{
    for (size_t i = 0; i < j->kind_count; i++) {
        const struct sl_framework *f = j->kinds[i].f;
        if (f->kind == kind && f->composition == NULL && (f->claims == NULL || f->claims(job))) {
            return &j->kinds[i];
        }
    }
    return NULL;
}

/* Some number that no object has: the last in its line, as what is submitted next is. */
static void set_uid(struct sl_json *object, int64_t now_ms)
{
    static unsigned count;
    char text[64];
    (void)snprintf(text, sizeof text, "ffffffff-ffff-4fff-bfff-%04x%08llx", ++count & 0xffffu,
                   (unsigned long long)now_ms & 0xffffffffu);
    if (sl_object_uid(object)[0] == '\0') {
        sl_json_set_text(sl_json_path_make(object, "metadata"), "uid", text);
    }
}

void sl_job_wish_complete(struct sl_json *workload, int64_t now_ms)
{
    char time[32];
    struct sl_json *metadata = sl_json_path_make(workload, "metadata");
    set_uid(workload, now_ms);
    sl_clock_format(now_ms, time);
    sl_json_set_text(metadata, "creationTimestamp", time);
    sl_json_set_text(metadata, "resourceVersion", "1");
    sl_json_set_int(metadata, "generation", 1);
    sl_json_remove(workload, "status");
    sl_object_default_new(SL_KIND_WORKLOAD, workload);
}

static enum sl_code find_priority(const struct sl_jobs_of *of, const struct sl_framework *f,
                                  const struct sl_json *job, struct sl_priority *out,
                                  struct sl_error *e)
{
    enum sl_kind kind;
    struct sl_json *class = NULL;
    const struct sl_client *client = of->work.client;
    const char *name = sl_job_class(of->all, f, job, &kind);
    const struct sl_kind_info *info = sl_kind_info(kind);
    *out = (struct sl_priority){.group = info->group, .kind = info->kind, .name = name};
    if (name[0] == '\0') {
        return SL_CODE_OK;
    }
    if (client->get(client->self, kind, "", name, &class, NULL) != SL_CODE_OK) {
        return sl_error_set(e, SL_CODE_INVALID, "%s \"%.253s\" not found", info->kind, name);
    }
    out->value = sl_json_path_int(class, "value", 0);
    sl_json_free(class);
    return SL_CODE_OK;
}

/* As for a job that is submitted: the queue "default" where there is one and none is named. */
static enum sl_code find_queue(const struct sl_jobs_of *of, const struct sl_json *job,
                               const char **queue, struct sl_error *e)
{
    struct sl_json *o = NULL;
    const struct sl_client *client = of->work.client;
    *queue = sl_job_queue(job);
    if (*queue != NULL) {
        return SL_CODE_OK;
    }
    *queue = QUEUE_DEFAULT;
    if (client->get(client->self, SL_KIND_LOCAL_QUEUE, sl_object_namespace(job), QUEUE_DEFAULT, &o,
                    NULL) != SL_CODE_OK) {
        return sl_error_set(e, SL_CODE_INVALID,
                            "it names no queue (label " SL_LABEL_QUEUE
                            "), and its namespace has no LocalQueue \"" QUEUE_DEFAULT "\"");
    }
    sl_json_free(o);
    return SL_CODE_OK;
}

/* --- of an elastic job that is there ---------------------------------------------------------------- */

static void read_slices(const struct sl_jobs_of *of, const struct sl_json *job, struct sl_slices *s)
{
    size_t cursor = 0;
    const char *uid, *key;
    const struct sl_client *client = of->work.client;
    while (sl_is_elastic(job) &&
           sl_job_children_next(of->all->slices, sl_object_uid(job), &cursor, &uid, &key)) {
        struct sl_key at;
        struct sl_json *wl = NULL;
        if (sl_key_parse(key, &at) &&
            client->get(client->self, SL_KIND_WORKLOAD, at.ns, at.name, &wl, NULL) == SL_CODE_OK) {
            sl_slices_add(s, wl);
        }
    }
    sl_slices_settle(s);
}

static void count_generation(struct sl_json *object)
{
    sl_json_set_int(sl_json_path_make(object, "metadata"), "generation",
                    sl_object_generation(object) + 1);
}

/* What the job's controller would do to its slices: one of them gets other numbers of pods, or the new Workload waits to take the
 * place of the one that the job runs by. */
static void make_slice(const struct sl_framework *f, struct sl_json *job,
                       const struct sl_pod_sets *sets, const struct sl_slices *s,
                       struct sl_json **workload)
{
    enum sl_scale scale = sl_scale_of(sets, s->holder);
    bool grows = scale == SL_SCALE_UP && sl_condition_true(s->holder, "QuotaReserved");
    const struct sl_json *known = grows ? s->next : s->holder;
    if (scale == SL_SCALE_OTHER) {
        return; /* as of any job */
    }
    if (known != NULL) {
        sl_json_free(*workload);
        *workload = sl_workload_scaled_new(known, sets);
        count_generation(*workload);
        return;
    }
    count_generation(job);
    sl_slice_make(f, *workload, job, s->holder);
    sl_slice_take_templates(*workload, s->holder);
}

static void make(const struct sl_jobs_of *of, const struct sl_framework *f, struct sl_json *job,
                 const struct sl_workload_plan *plan, int64_t now_ms, struct sl_json **workload)
{
    struct sl_slices slices = {0};
    *workload = sl_framework_workload_new(of->f, job, plan);
    read_slices(of, job, &slices);
    if (slices.holder != NULL) {
        make_slice(f, job, plan->sets, &slices, workload);
    }
    if (sl_object_uid(*workload)[0] == '\0') {
        sl_job_wish_complete(*workload, now_ms);
    }
    sl_slices_fini(&slices);
}

enum sl_code sl_job_wish_new(struct sl_jobs *j, enum sl_kind kind, struct sl_json *job,
                             int64_t now_ms, struct sl_json **workload, struct sl_error *e)
{
    SL_PRE(j != NULL && job != NULL && workload != NULL && e != NULL);
    struct sl_pod_sets sets = {0};
    struct sl_workload_plan plan = {.sets = &sets, .copied = j->rules.copied};
    const struct sl_jobs_of *of = find_kind(j, kind, job);
    if (of == NULL) {
        return sl_error_set(e, SL_CODE_BAD_REQUEST,
                            "a %.80s is no job of a kind that is managed, or is a part of one",
                            sl_json_path_text(job, "kind", "object"));
    }
    set_uid(job, now_ms);
    sl_object_default_new(kind, job);
    struct sl_bound bound;
    (void)sl_job_refs_bind(&bound, of->f, of->work.client, job, false);
    enum sl_code code = of->f->pod_sets(&bound.f, job, &sets, e);
    code = code == SL_CODE_OK ? sl_pod_sets_check(&sets, e) : code;
    code = code == SL_CODE_OK ? find_queue(of, job, &plan.queue, e) : code;
    code = code == SL_CODE_OK ? find_priority(of, &bound.f, job, &plan.priority, e) : code;
    if (code == SL_CODE_OK) {
        make(of, &bound.f, job, &plan, now_ms, workload);
    }
    sl_pod_sets_fini(&sets);
    sl_job_refs_end(&bound);
    return code;
}
