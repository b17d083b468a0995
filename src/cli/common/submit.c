/* SPDX-License-Identifier: Apache-2.0
 * SPDX-FileCopyrightText: The Sluice authors */

/* Building a quick Job. */
#include "cli/ctl/submit.h"
#include "base/check.h"
#include "api/objects/quantity.h"
#include "controllers/work/duration.h"
#include "controllers/jobs/job.h"
#include "controllers/cluster/runner.h"

static enum sl_code check_quantity(const char *flag, const char *text, struct sl_error *e)
{
    struct sl_quantity q;
    struct sl_error why = {0};
    if (sl_quantity_parse(text, &q, &why) != SL_CODE_OK) {
        return sl_error_set(e, SL_CODE_BAD_REQUEST,
                            "%s: \"%.64s\" is not a quantity such as 500m or 2Gi", flag, text);
    }
    if (q.nano < 0) {
        return sl_error_set(e, SL_CODE_BAD_REQUEST, "%s must not be negative", flag);
    }
    return SL_CODE_OK;
}

enum sl_code sl_submit_check(const struct sl_submit *s, struct sl_error *e)
{
    SL_PRE(s != NULL);
    struct sl_error why = {0};
    int64_t ms;
    if (s->queue == NULL || s->queue[0] == '\0') {
        return sl_error_set(e, SL_CODE_BAD_REQUEST, "submit needs --queue NAME, a LocalQueue");
    }
    if (check_quantity("--cpu", s->cpu, e) != SL_CODE_OK ||
        (s->memory != NULL && check_quantity("--memory", s->memory, e) != SL_CODE_OK)) {
        return SL_CODE_BAD_REQUEST;
    }
    if (s->parallelism < 1 || s->parallelism > INT32_MAX) {
        return sl_error_set(e, SL_CODE_BAD_REQUEST, "--parallelism must be from 1 to 2147483647");
    }
    if (s->run_for != NULL && sl_duration_parse(s->run_for, &ms, &why) != SL_CODE_OK) {
        return sl_error_set(e, SL_CODE_BAD_REQUEST, "--run-for: %s", why.text);
    }
    return SL_CODE_OK;
}

static struct sl_json *container_new(const struct sl_submit *s)
{
    struct sl_json *container = sl_json_new_map();
    sl_json_set_text(container, "name", "main");
    sl_json_set_text(container, "image", "busybox");
    struct sl_json *requests = sl_json_path_make(container, "resources.requests");
    sl_json_set_text(requests, "cpu", s->cpu);
    if (s->memory != NULL) {
        sl_json_set_text(requests, "memory", s->memory);
    }
    return container;
}

struct sl_json *sl_submit_job_new(const struct sl_submit *s)
{
    SL_PRE(s != NULL);
    struct sl_json *job = sl_object_new(SL_KIND_JOB, s->ns, s->name == NULL ? "" : s->name);
    struct sl_json *metadata = sl_json_path_make(job, "metadata");
    if (s->name == NULL) {
        sl_json_remove(metadata, "name");
        sl_json_set_text(metadata, "generateName", "run-");
    }
    sl_json_set_text(sl_json_path_make(metadata, "labels"), SL_LABEL_QUEUE, s->queue);
    if (s->priority_class != NULL) {
        sl_json_set_text(sl_json_get(metadata, "labels"), SL_LABEL_PRIORITY_CLASS,
                         s->priority_class);
    }
    if (s->run_for != NULL) {
        sl_json_set_text(sl_json_path_make(metadata, "annotations"), SL_ANNOTATION_RUN_FOR,
                         s->run_for);
    }
    if (s->fail) {
        sl_json_set_text(sl_json_path_make(metadata, "annotations"), SL_ANNOTATION_FAIL, "true");
    }
    struct sl_json *spec = sl_json_path_make(job, "spec");
    sl_json_set_bool(spec, "suspend", true);
    sl_json_set_int(spec, "parallelism", s->parallelism);
    sl_json_set_int(spec, "completions", s->parallelism);
    struct sl_json *pod = sl_json_path_make(spec, "template.spec");
    sl_json_set_text(pod, "restartPolicy", "Never");
    struct sl_json *containers = sl_json_new_list();
    sl_json_append(containers, container_new(s));
    sl_json_set(pod, "containers", containers);
    return job;
}
