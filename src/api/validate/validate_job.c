/* SPDX-License-Identifier: Apache-2.0
 * SPDX-FileCopyrightText: The Sluice authors */

/* Rules of batch/v1 Jobs: what pods they may have, and which part of the template may change
 * when. */
#include <string.h>

#include "api/kinds/elastic.h"
#include "api/objects/quantity.h"
#include "base/check.h"
#include "api/validate/topology_request.h"
#include "api/validate/validate.h"

#define INDEXED_PARALLELISM_MAX 100000

static void check_restart_policy(struct sl_check *c, const struct sl_json *pod_spec)
{
    const struct sl_json *policy = sl_json_get(pod_spec, "restartPolicy");
    size_t up = sl_check_down(c, ".restartPolicy");
    if (policy == NULL) {
        sl_check_required(c, "valid values: \"OnFailure\", \"Never\"");
    } else if (strcmp(sl_json_text(policy, ""), "Always") == 0) {
        sl_error_cause(c->e, "FieldValueNotSupported", c->path,
                       "Unsupported value: \"Always\": supported values: \"OnFailure\", \"Never\"");
    }
    sl_check_up(c, up);
}

static void check_requests(struct sl_check *c, const struct sl_json *resources)
{
    const struct sl_json *limits = sl_json_get(resources, "limits");
    for (struct sl_json_member m = {0}; sl_json_each(sl_json_get(resources, "requests"), &m);) {
        struct sl_quantity request, limit;
        if (sl_json_get(limits, m.key) != NULL &&
            sl_quantity_read(m.value, &request, NULL) == SL_CODE_OK &&
            sl_quantity_read(sl_json_get(limits, m.key), &limit, NULL) == SL_CODE_OK &&
            request.nano > limit.nano) {
            char text[64];
            sl_quantity_print(limit, text);
            size_t up = sl_check_down(c, ".resources.requests[%s]", m.key);
            sl_check_invalid(c, m.value, "must be less than or equal to the %s limit of %s", m.key,
                             text);
            sl_check_up(c, up);
        }
    }
}

static void check_containers(struct sl_check *c, const struct sl_json *pod_spec, const char *list)
{
    const struct sl_json *containers = sl_json_get(pod_spec, list);
    for (size_t i = 0; i < sl_json_len(containers); i++) {
        size_t up = sl_check_down(c, ".%s[%zu]", list, i);
        check_requests(c, sl_json_get(sl_json_at(containers, i), "resources"));
        sl_check_up(c, up);
    }
}

static void check_indexed(struct sl_check *c, const struct sl_json *spec)
{
    if (strcmp(sl_json_path_text(spec, "completionMode", ""), "Indexed") != 0) {
        return;
    }
    if (sl_json_get(spec, "completions") == NULL) {
        size_t up = sl_check_down(c, "spec.completions");
        sl_check_required(c, "when completionMode is Indexed");
        sl_check_up(c, up);
    }
    const struct sl_json *parallelism = sl_json_get(spec, "parallelism");
    if (sl_json_int(parallelism, 0) > INDEXED_PARALLELISM_MAX) {
        size_t up = sl_check_down(c, "spec.parallelism");
        sl_check_invalid(c, parallelism,
                         "must be less than or equal to %d when completionMode is Indexed",
                         INDEXED_PARALLELISM_MAX);
        sl_check_up(c, up);
    }
}

/* What a queue may put into the template of a job that has not started: everything but this
 * stays. */
static struct sl_json *settled_template(const struct sl_json *template)
{
    static const char *const members[][2] = {
        {"metadata", "labels"}, {"metadata", "annotations"}, {"spec", "nodeSelector"},
        {"spec", "affinity"},   {"spec", "tolerations"},     {"spec", "schedulingGates"},
    };
    struct sl_json *rest = sl_json_clone(template);
    for (size_t i = 0; i < sizeof members / sizeof members[0]; i++) {
        sl_json_remove(sl_json_get(rest, members[i][0]), members[i][1]);
    }
    if (sl_json_len(sl_json_get(rest, "metadata")) == 0) {
        sl_json_remove(rest, "metadata"); /* there may be none on one of the two sides */
    }
    return rest;
}

/* A controller would make pods without end where it does not find its own again. What was stored so can still be changed. */
static void check_selector(struct sl_check *c, const struct sl_json *spec)
{
    const struct sl_json *selector = sl_json_get(spec, "selector");
    const struct sl_json *labels = sl_json_path(spec, "template.metadata.labels");
    bool fresh = c->old == NULL ||
                 !sl_json_equal(labels, sl_json_path(c->old, "spec.template.metadata.labels"));
    if (selector == NULL || !fresh) {
        return;
    }
    struct sl_selector *by = sl_selector_from_json(selector, NULL);
    if (by != NULL && !sl_selector_matches_labels(by, labels)) {
        size_t up = sl_check_down(c, "spec.template.metadata.labels");
        sl_check_invalid(c, labels, "`selector` does not match template `labels`");
        sl_check_up(c, up);
    }
    sl_selector_free(by);
}

static void check_update(struct sl_check *c, const struct sl_json *spec)
{
    const struct sl_json *template = sl_json_get(spec, "template");
    const struct sl_json *before = sl_json_path(c->old, "spec.template");
    bool indexed = strcmp(sl_json_path_text(spec, "completionMode", ""), "Indexed") == 0;
    const struct sl_json *completions = sl_json_get(spec, "completions");
    size_t up = sl_check_down(c, "spec.completions");
    if (!indexed || !sl_json_equal(completions, sl_json_get(spec, "parallelism"))) {
        sl_check_immutable(c, completions, sl_json_path(c->old, "spec.completions"));
    }
    sl_check_up(c, up);
    if (sl_json_equal(template, before)) {
        return;
    }
    up = sl_check_down(c, "spec.template");
    if (sl_json_path_bool(c->old, "spec.suspend", false) &&
        sl_json_path(c->old, "status.startTime") == NULL) {
        struct sl_json *now = settled_template(template);
        struct sl_json *then = settled_template(before);
        sl_check_immutable(c, now, then);
        sl_json_free(now);
        sl_json_free(then);
    } else {
        sl_check_immutable(c, template, before);
    }
    sl_check_up(c, up);
}

/* Domains that are chosen for all pods together cannot be kept when there are more. */
static void check_elastic_topology(struct sl_check *c, const struct sl_json *notes)
{
    static const struct {
        const char *key, *why;
    } forbidden[] = {
        {SL_TOPOLOGY_REQUIRED, "required topology is not supported with elastic jobs"},
        {SL_TOPOLOGY_PREFERRED, "preferred topology is not supported with elastic jobs"}};
    for (size_t i = 0; i < 2 && sl_is_elastic(c->object); i++) {
        size_t up = sl_check_down(c, "spec.template.metadata.annotations[%s]", forbidden[i].key);
        if (sl_json_has(notes, forbidden[i].key)) {
            sl_check_forbidden(c, forbidden[i].why);
        }
        sl_check_up(c, up);
    }
}

/* The annotations of a Job without a queue are not read; later it may have fewer pods, as it was
 * admitted. */
static void check_topology(struct sl_check *c, const struct sl_json *spec)
{
    int64_t parallelism = sl_json_path_int(spec, "parallelism", 1);
    int64_t completions = sl_json_path_int(spec, "completions", parallelism);
    int64_t pods = completions < parallelism ? completions : parallelism;
    if (sl_object_label(c->object, "kueue.x-k8s.io/queue-name") != NULL) {
        sl_topology_request_check(sl_json_path(spec, "template.metadata.annotations"),
                                  "spec.template.metadata.annotations",
                                  c->old == NULL ? pods : INT32_MAX, c->e);
        check_elastic_topology(c, sl_json_path(spec, "template.metadata.annotations"));
    }
}

void sl_check_job(struct sl_check *c)
{
    SL_PRE(c != NULL);
    const struct sl_json *spec = sl_json_get(c->object, "spec");
    const struct sl_json *pod_spec = sl_json_path(spec, "template.spec");
    if (sl_json_type(pod_spec) == SL_JSON_MAP) {
        size_t up = sl_check_down(c, "spec.template.spec");
        check_restart_policy(c, pod_spec);
        check_containers(c, pod_spec, "containers");
        check_containers(c, pod_spec, "initContainers");
        size_t at = sl_check_down(c, ".tolerations");
        sl_check_tolerations(c, sl_json_get(pod_spec, "tolerations"));
        sl_check_up(c, at);
        sl_check_up(c, up);
    }
    check_indexed(c, spec);
    check_selector(c, spec);
    check_topology(c, spec);
    sl_check_gates(c);
    sl_check_job_marks(c);
    sl_check_batch_job_marks(c);
    if (c->old != NULL) {
        check_update(c, spec);
    }
}
