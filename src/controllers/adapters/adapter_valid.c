/* SPDX-License-Identifier: Apache-2.0
 * SPDX-FileCopyrightText: The Sluice authors */

/* What a job says, looked at when it is written: what its file refuses, and what its pod templates ask of topologies. */
#include <stdio.h>
#include <string.h>

#include "api/validate/topology_request.h"
#include "base/check.h"
#include "controllers/adapters/adapter_doc.h"

#define WHERE_SIZE 192

/* As one replica of those that are suspended by their count, which is what Kueue counts by itself; else as it is. */
static struct sl_json *one_replica_new(const struct sl_adapter *a, const struct sl_json *job)
{
    const struct sl_json *suspend = sl_json_get(a->doc, "suspend");
    struct sl_json *copy = sl_json_clone(job);
    if (sl_json_type(suspend) == SL_JSON_MAP) {
        a->framework.suspend(&a->framework, copy, true);
        sl_json_set_text(sl_json_path_make(copy, "metadata.annotations"),
                         sl_json_path_text(suspend, "keep", ""), "1");
    }
    return copy;
}

static void check_sets(const struct sl_pod_sets *sets, struct sl_error *e)
{
    struct sl_topology_wish all[SL_POD_SETS_MAX];
    char where[SL_POD_SETS_MAX][WHERE_SIZE];
    for (size_t i = 0; i < sets->count; i++) {
        const struct sl_pod_set *set = &sets->at[i];
        bool own = set->notes_where == NULL;
        (void)snprintf(where[i], WHERE_SIZE, "%s%s", own ? set->where : set->notes_where,
                       own ? ".metadata.annotations" : "");
        all[i] = (struct sl_topology_wish){.annotations =
                                               sl_json_path(set->template, "metadata.annotations"),
                                           .where = where[i],
                                           .pods = set->count};
        (void)sl_topology_request_check(all[i].annotations, where[i], set->count, e);
    }
    (void)sl_topology_groups_check(all, sets->count, e);
}

/* A job whose pods cannot be counted is refused elsewhere, if at all: here only topologies are looked at. */
static void check_job(const struct sl_adapter *a, const struct sl_json *job, struct sl_error *e)
{
    struct sl_pod_sets sets;
    struct sl_error uncounted = {0};
    struct sl_json *one = one_replica_new(a, job);
    if (a->framework.pod_sets(&a->framework, one, &sets, &uncounted) == SL_CODE_OK) {
        check_sets(&sets, e);
    }
    sl_pod_sets_fini(&sets);
    sl_json_free(one);
}

/* What is not queued, and was not, is left alone. */
static void check_refusals(const struct sl_adapter *a, const struct sl_json *o,
                           const struct sl_json *old, struct sl_error *e)
{
    bool was = old != NULL && sl_job_queue(old) != NULL;
    if ((was || sl_job_queue(o) != NULL) && !a->framework.skips(&a->framework, o)) {
        sl_adapter_refuse(sl_json_get(a->doc, "refuse"), o, was ? old : NULL, e);
    }
}

/* Without a queue the annotations are not read; what has been stored so can still be updated. */
void sl_adapter_valid(const void *self, const struct sl_json *o, const struct sl_json *old,
                      struct sl_error *e)
{
    SL_PRE(self != NULL && e != NULL);
    const struct sl_adapter *a = self;
    struct sl_error before = {0};
    check_refusals(a, o, old, e);
    if (sl_job_queue(o) == NULL || a->framework.skips(&a->framework, o)) {
        return;
    }
    sl_adapter_fixed(a, o, old, e);
    if (old != NULL && sl_job_queue(old) != NULL) {
        check_job(a, old, &before);
    }
    if (before.cause_count == 0) {
        check_job(a, o, e);
    }
}
