/* SPDX-License-Identifier: Apache-2.0
 * SPDX-FileCopyrightText: The Sluice authors */

/* Rules of the kinds of jobs that Kueue knows, beside those of every job: which take what, and what Ray has to say of itself
 * to be counted. Only jobs with a queue are looked at; kinds of your own have no such rules. */
#include <string.h>

#include "api/validate/validate.h"
#include "base/check.h"

#define PREFIX "kueue.x-k8s.io/"
#define POD_SETS_MAX 18u /* of a Workload */

enum trait {
    TRAIT_SUSPENDS = 1, /* by a flag of its own */
    TRAIT_ELASTIC = 2,  /* Kueue can let it grow while it runs */
    TRAIT_PREBUILT = 4, /* may name the Workload that was made for it */
    TRAIT_REPLICAS = 8  /* has no flag: it waits while none of its replicas is ready */
};

static const struct known {
    const char *group, *version, *kind;
    unsigned traits;
} kinds[] = {
    {"jobset.x-k8s.io", "v1alpha2", "JobSet", TRAIT_SUSPENDS | TRAIT_PREBUILT},
    {"ray.io", "v1", "RayJob", TRAIT_SUSPENDS | TRAIT_PREBUILT | TRAIT_ELASTIC},
    {"ray.io", "v1", "RayCluster", TRAIT_SUSPENDS | TRAIT_PREBUILT | TRAIT_ELASTIC},
    {"ray.io", "v1", "RayService", TRAIT_SUSPENDS | TRAIT_PREBUILT | TRAIT_ELASTIC},
    {"trainer.kubeflow.org", "v1alpha1", "TrainJob", TRAIT_SUSPENDS | TRAIT_PREBUILT},
    {"workload.codeflare.dev", "v1beta2", "AppWrapper", TRAIT_SUSPENDS | TRAIT_PREBUILT},
    {"sparkoperator.k8s.io", "v1beta2", "SparkApplication", TRAIT_SUSPENDS},
    {"kubeflow.org", "v1", "PyTorchJob", TRAIT_SUSPENDS | TRAIT_PREBUILT},
    {"kubeflow.org", "v1", "TFJob", TRAIT_SUSPENDS | TRAIT_PREBUILT},
    {"kubeflow.org", "v1", "XGBoostJob", TRAIT_SUSPENDS | TRAIT_PREBUILT},
    {"kubeflow.org", "v1", "PaddleJob", TRAIT_SUSPENDS | TRAIT_PREBUILT},
    {"kubeflow.org", "v1", "JAXJob", TRAIT_SUSPENDS},
    {"kubeflow.org", "v2beta1", "MPIJob", TRAIT_SUSPENDS | TRAIT_PREBUILT},
    {"leaderworkerset.x-k8s.io", "v1", "LeaderWorkerSet", TRAIT_REPLICAS},
    {"apps", "v1", "StatefulSet", TRAIT_REPLICAS},
};

static const struct known *find(const struct sl_kind_info *kind)
{
    for (size_t i = 0; i < sizeof kinds / sizeof kinds[0]; i++) {
        if (strcmp(kind->group, kinds[i].group) == 0 && strcmp(kind->kind, kinds[i].kind) == 0) {
            return &kinds[i];
        }
    }
    return NULL;
}

bool sl_job_kind_suspends(const struct sl_kind_info *kind)
{
    SL_PRE(kind != NULL);
    const struct known *known = find(kind);
    return known != NULL && (known->traits & TRAIT_SUSPENDS) != 0;
}

static bool has_queue(const struct sl_json *job)
{
    const char *queue = sl_object_label(job, PREFIX "queue-name");
    return queue != NULL && queue[0] != '\0';
}

static void not_supported(struct sl_check *c, const struct known *k, const char *place,
                          const char *key, const char *what)
{
    struct sl_buf why = {0};
    sl_buf_print(&why, "%s not supported for \"%s/%s, Kind=%s\"", what, k->group, k->version,
                 k->kind);
    size_t up = sl_check_down(c, "%s[" PREFIX "%s]", place, key);
    sl_check_forbidden(c, why.data);
    sl_check_up(c, up);
    sl_buf_fini(&why);
}

static const char *note_of(const struct sl_json *job, const char *key)
{
    const char *text = sl_object_annotation(job, key);
    return text == NULL ? "" : text;
}

static void check_traits(struct sl_check *c, const struct known *k)
{
    static const char prebuilt[] = PREFIX "prebuilt-workload-name";
    static const char elastic[] = PREFIX "elastic-job";
    bool noted = note_of(c->object, prebuilt)[0] != '\0';
    const char *label = sl_object_label(c->object, prebuilt);
    bool was = note_of(c->old, prebuilt)[0] != '\0' || sl_object_label(c->old, prebuilt) != NULL;
    if ((k->traits & (TRAIT_PREBUILT | TRAIT_REPLICAS)) == 0 && !was &&
        (noted || (label != NULL && label[0] != '\0'))) {
        not_supported(c, k, noted ? "metadata.annotations" : "metadata.labels",
                      "prebuilt-workload-name", "Is");
    }
    if ((k->traits & TRAIT_ELASTIC) == 0 && strcmp(note_of(c->object, elastic), "true") == 0 &&
        strcmp(note_of(c->old, elastic), "true") != 0) {
        not_supported(c, k, "metadata.annotations", "elastic-job", "elastic job is");
    }
}

/* --- kinds whose replicas wait ---------------------------------------------------------------------------- */

/* Its queue stays while replicas are ready, and is never taken away: they would run on uncounted. */
static void check_replicas(struct sl_check *c)
{
    const char *now = sl_object_label(c->object, PREFIX "queue-name");
    const char *before = sl_object_label(c->old, PREFIX "queue-name");
    bool ready = sl_json_path_int(c->old, "status.readyReplicas", 0) > 0;
    now = now == NULL ? "" : now;
    before = before == NULL ? "" : before;
    if (c->old == NULL) {
        return;
    }
    if ((ready || now[0] == '\0') && strcmp(now, before) != 0) {
        size_t up = sl_check_down(c, "metadata.labels[" PREFIX "queue-name]");
        struct sl_json *shown = sl_json_new_text(now);
        sl_check_invalid(c, shown, "field is immutable");
        sl_json_free(shown);
        sl_check_up(c, up);
    }
    sl_check_class_mark(c, ready);
}

/* --- Ray -------------------------------------------------------------------------------------------------- */

/* Workers that come and go by themselves would not be counted. */
static void check_ray_cluster(struct sl_check *c, const struct sl_json *spec, bool elastic)
{
    const struct sl_json *groups = sl_json_get(spec, "workerGroupSpecs");
    const struct sl_json *scaling = sl_json_get(spec, "enableInTreeAutoscaling");
    size_t up = sl_check_down(c, ".enableInTreeAutoscaling");
    if (sl_json_bool(scaling, false) && !elastic) {
        sl_check_invalid(c, scaling,
                         "a kueue managed job should only use autoscaling when "
                         "workload slicing is enabled");
    }
    sl_check_up(c, up);
    up = sl_check_down(c, ".workerGroupSpecs");
    if (sl_json_len(groups) + 1 > POD_SETS_MAX) {
        sl_error_cause(c->e, "FieldValueTooMany", c->path,
                       "Too many: %zu: must have at most %u items", sl_json_len(groups) + 1,
                       POD_SETS_MAX);
    }
    for (size_t i = 0; i < sl_json_len(groups); i++) {
        if (strcmp(sl_json_path_text(sl_json_at(groups, i), "groupName", ""), "head") == 0) {
            size_t at = sl_check_down(c, "[%zu].groupName", i);
            sl_check_forbidden(c, "\"head\" is reserved for the head group");
            sl_check_up(c, at);
        }
    }
    sl_check_up(c, up);
}

/* A cluster that is there already is counted as its own; one that is made for the job ends with it. */
static void check_ray_job(struct sl_check *c, const struct sl_json *spec, bool elastic)
{
    const struct sl_json *selector = sl_json_get(spec, "clusterSelector");
    const struct sl_json *cluster = sl_json_get(spec, "rayClusterSpec");
    bool selects = sl_json_len(selector) > 0;
    size_t up = sl_check_down(c, selects ? ".clusterSelector" : ".rayClusterSpec");
    if (selects && cluster != NULL) {
        sl_check_invalid(c, selector, "a kueue managed job should not use an existing cluster");
    } else if (!selects && cluster == NULL) {
        sl_check_required(c, "rayClusterSpec is required for Kueue-managed jobs that don't use "
                             "clusterSelector");
    } else if (!selects) {
        check_ray_cluster(c, cluster, elastic);
    }
    sl_check_up(c, up);
    up = sl_check_down(c, ".shutdownAfterJobFinishes");
    if (!selects && cluster != NULL &&
        !sl_json_path_bool(spec, "shutdownAfterJobFinishes", false)) {
        struct sl_json *no = sl_json_new_bool(false);
        sl_check_invalid(c, no, "a kueue managed job should delete the cluster after finishing");
        sl_json_free(no);
    }
    sl_check_up(c, up);
}

static void check_ray(struct sl_check *c, const struct known *k)
{
    const struct sl_json *spec = sl_json_get(c->object, "spec");
    bool elastic = strcmp(note_of(c->object, PREFIX "elastic-job"), "true") == 0;
    size_t up = sl_check_down(c, "spec");
    if (strcmp(k->kind, "RayCluster") == 0) {
        check_ray_cluster(c, spec, elastic);
    } else if (strcmp(k->kind, "RayService") == 0) {
        size_t down = sl_check_down(c, ".rayClusterConfig");
        check_ray_cluster(c, sl_json_get(spec, "rayClusterConfig"), elastic);
        sl_check_up(c, down);
    } else {
        check_ray_job(c, spec, elastic);
    }
    sl_check_up(c, up);
}

/* What was stored before the rules were there can still be updated, and started and stopped. */
static bool was_wrong(const struct sl_check *c, const struct known *k)
{
    struct sl_error e = {0};
    struct sl_check before = {.e = &e, .object = c->old};
    check_ray(&before, k);
    return e.cause_count > 0;
}

void sl_check_job_kind(struct sl_check *c, const struct sl_kind_info *kind)
{
    SL_PRE(c != NULL && kind != NULL);
    const struct known *k = find(kind);
    bool was = has_queue(c->old);
    if (k == NULL || !(has_queue(c->object) || was)) {
        return;
    }
    check_traits(c, k);
    if ((k->traits & TRAIT_REPLICAS) != 0) {
        check_replicas(c);
    }
    if (strcmp(k->group, "ray.io") == 0 && !(was && was_wrong(c, k))) {
        check_ray(c, k);
    }
}
