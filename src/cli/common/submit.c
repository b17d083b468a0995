/* SPDX-License-Identifier: Apache-2.0
 * SPDX-FileCopyrightText: The Sluice authors */

/* Building a quick Job. */
#include "cli/common/submit.h"
#include "base/check.h"
#include "api/objects/quantity.h"
#include "api/validate/topology_request.h"
#include "controllers/work/duration.h"
#include "controllers/jobs/job.h"
#include "controllers/cluster/runner.h"
#include <string.h>

#define GPU "nvidia.com/gpu"

/* --- what was asked for -------------------------------------------------------------------------------- */

static enum sl_code check_quantity(const char *flag, const char *text, struct sl_error *e)
{
    struct sl_quantity q;
    struct sl_error why = {0};
    if (text == NULL) {
        return SL_CODE_OK;
    }
    if (sl_quantity_parse(text, &q, &why) != SL_CODE_OK) {
        return sl_error_set(e, SL_CODE_BAD_REQUEST,
                            "%s: \"%.64s\" is not a quantity such as 500m or 2Gi", flag, text);
    }
    if (q.nano < 0) {
        return sl_error_set(e, SL_CODE_BAD_REQUEST, "%s must not be negative", flag);
    }
    return SL_CODE_OK;
}

static enum sl_code check_duration(const char *flag, const char *text, int64_t least_ms,
                                   struct sl_error *e)
{
    struct sl_error why = {0};
    int64_t ms = 0;
    if (text != NULL && sl_duration_parse(text, &ms, &why) != SL_CODE_OK) {
        return sl_error_set(e, SL_CODE_BAD_REQUEST, "%s: %s", flag, why.text);
    }
    if (text != NULL && ms < least_ms) {
        return sl_error_set(e, SL_CODE_BAD_REQUEST, "%s: %.64s is less than a second", flag, text);
    }
    return SL_CODE_OK;
}

static enum sl_code check_pairs(const char *flag, const struct sl_flag_list *pairs, bool quantities,
                                struct sl_error *e)
{
    for (unsigned i = 0; i < pairs->count; i++) {
        const char *equals = strchr(pairs->items[i], '=');
        if (equals == NULL || equals == pairs->items[i]) {
            return sl_error_set(e, SL_CODE_BAD_REQUEST, "%s: \"%.64s\" is not NAME=%s", flag,
                                pairs->items[i], quantities ? "QUANTITY" : "VALUE");
        }
        if (quantities && check_quantity(flag, equals + 1, e) != SL_CODE_OK) {
            return SL_CODE_BAD_REQUEST;
        }
    }
    return SL_CODE_OK;
}

static enum sl_code check_pods(const struct sl_submit *s, struct sl_error *e)
{
    if (s->parallelism < 1 || s->parallelism > INT32_MAX) {
        return sl_error_set(e, SL_CODE_BAD_REQUEST, "--parallelism must be from 1 to 2147483647");
    }
    if (s->min_parallelism < 0 ||
        (s->min_parallelism > 0 && s->min_parallelism >= s->parallelism)) {
        return sl_error_set(e, SL_CODE_BAD_REQUEST,
                            "--min-parallelism must be at least 1 and less than --parallelism");
    }
    if (s->topology_required != NULL && s->topology_preferred != NULL) {
        return sl_error_set(e, SL_CODE_BAD_REQUEST,
                            "--topology-required and --topology-preferred do not go together");
    }
    return SL_CODE_OK;
}

enum sl_code sl_submit_check(const struct sl_submit *s, struct sl_error *e)
{
    SL_PRE(s != NULL);
    enum sl_code code;
    if (s->queue == NULL || s->queue[0] == '\0') {
        return sl_error_set(e, SL_CODE_BAD_REQUEST, "submit needs --queue NAME, a LocalQueue");
    }
    if ((code = check_quantity("--cpu", s->cpu, e)) != SL_CODE_OK ||
        (code = check_quantity("--memory", s->memory, e)) != SL_CODE_OK ||
        (code = check_quantity("--gpu", s->gpu, e)) != SL_CODE_OK ||
        (code = check_pairs("--request", &s->requests, true, e)) != SL_CODE_OK ||
        (code = check_pairs("--label", &s->labels, false, e)) != SL_CODE_OK ||
        (code = check_pairs("--annotation", &s->annotations, false, e)) != SL_CODE_OK ||
        (code = check_pods(s, e)) != SL_CODE_OK ||
        (code = check_duration("--run-for", s->run_for, 0, e)) != SL_CODE_OK) {
        return code;
    }
    return check_duration("--time-limit", s->time_limit, 1000, e);
}

/* --- the Job ------------------------------------------------------------------------------------------- */

static void set(struct sl_json *map, const char *name, const char *value)
{
    if (value != NULL) {
        sl_json_set_text(map, name, value);
    }
}

static void set_int(struct sl_json *map, const char *name, int64_t value)
{
    struct sl_buf text = {0};
    sl_buf_print(&text, "%lld", (long long)value);
    sl_json_set_text(map, name, text.data);
    sl_buf_fini(&text);
}

/* An extended resource cannot be overcommitted: Kubernetes wants its limit, too. */
static void request(struct sl_json *resources, const char *name, const char *amount)
{
    if (amount != NULL) {
        sl_json_set_text(sl_json_path_make(resources, "requests"), name, amount);
        if (strchr(name, '/') != NULL) {
            sl_json_set_text(sl_json_path_make(resources, "limits"), name, amount);
        }
    }
}

typedef void pair_fn(struct sl_json *map, const char *name, const char *value);

static void each_pair(const struct sl_flag_list *pairs, struct sl_json *map, pair_fn *fn)
{
    for (unsigned i = 0; i < pairs->count; i++) {
        struct sl_buf name = {0};
        size_t len = strcspn(pairs->items[i], "=");
        sl_buf_add(&name, pairs->items[i], len);
        fn(map, name.data, pairs->items[i] + len + 1);
        sl_buf_fini(&name);
    }
}

static struct sl_json *container_new(const struct sl_submit *s)
{
    struct sl_json *container = sl_json_new_map();
    sl_json_set_text(container, "name", "main");
    sl_json_set_text(container, "image", "busybox");
    struct sl_json *resources = sl_json_path_make(container, "resources");
    request(resources, "cpu", s->cpu);
    request(resources, "memory", s->memory);
    request(resources, GPU, s->gpu);
    each_pair(&s->requests, resources, request);
    return container;
}

static void mark(const struct sl_submit *s, struct sl_json *metadata)
{
    struct sl_json *labels = sl_json_path_make(metadata, "labels");
    struct sl_json *annotations = sl_json_new_map();
    int64_t limit_ms = 0;
    set(labels, SL_LABEL_QUEUE, s->queue);
    set(labels, SL_LABEL_PRIORITY_CLASS, s->priority_class);
    if (s->time_limit != NULL && sl_duration_parse(s->time_limit, &limit_ms, NULL) == SL_CODE_OK) {
        set_int(labels, SL_LABEL_MAX_EXEC_S, limit_ms / 1000);
    }
    each_pair(&s->labels, labels, set);
    set(annotations, SL_ANNOTATION_RUN_FOR, s->run_for);
    set(annotations, SL_ANNOTATION_FAIL, s->fail ? "true" : NULL);
    if (s->min_parallelism > 0) {
        set_int(annotations, SL_ANNOTATION_MIN_PODS, s->min_parallelism);
    }
    each_pair(&s->annotations, annotations, set);
    sl_json_set_filled(metadata, "annotations", annotations);
}

static void add_pods(const struct sl_submit *s, struct sl_json *spec)
{
    struct sl_json *pod = sl_json_path_make(spec, "template.spec");
    struct sl_json *containers = sl_json_new_list();
    sl_json_set_text(pod, "restartPolicy", "Never");
    sl_json_append(containers, container_new(s));
    sl_json_set(pod, "containers", containers);
    if (s->topology_required != NULL || s->topology_preferred != NULL) {
        struct sl_json *marks = sl_json_path_make(spec, "template.metadata.annotations");
        set(marks, SL_TOPOLOGY_REQUIRED, s->topology_required);
        set(marks, SL_TOPOLOGY_PREFERRED, s->topology_preferred);
    }
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
    mark(s, metadata);
    struct sl_json *spec = sl_json_path_make(job, "spec");
    sl_json_set_bool(spec, "suspend", true);
    sl_json_set_int(spec, "parallelism", s->parallelism);
    sl_json_set_int(spec, "completions", s->parallelism);
    add_pods(s, spec);
    return job;
}
