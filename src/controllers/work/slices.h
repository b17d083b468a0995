/* SPDX-License-Identifier: Apache-2.0
 * SPDX-FileCopyrightText: The Sluice authors */

/* Elastic jobs, which may change their number of pods while they run. Each of the Workloads that such a job has is a slice:
 * one holds the quota that its pods run with; when it grows, another waits to take that one's place, and says so in an
 * annotation. All slices in such a row, and their pods, name the first of them. Pure functions over objects. */
#ifndef SL_CONTROLLERS_SLICES_H
#define SL_CONTROLLERS_SLICES_H
#include "api/kinds/elastic.h"
#include "controllers/work/framework.h"
#include "controllers/work/template.h"

#define SL_ANNOTATION_REPLACES "kueue.x-k8s.io/workload-slice-replacement-for"
#define SL_GATE_ELASTIC "kueue.x-k8s.io/elastic-job" /* of pods, until they have quota */
#define SL_REASON_REPLACED "WorkloadSliceReplaced"

/* The name of the first slice in a row: its own where it says no other; lent. */
const char *sl_slice_name(const struct sl_json *wl);
/* Does the first replace the second? */
bool sl_slice_replaces(const struct sl_json *wl, const struct sl_json *other);
/* <kind>-<name>-<5 hex>, where the generation of the job counts, too: Kueue's name. What has the pods of the job (`with`)
 * counts as well, for its generation grows without that of the job. */
void sl_slice_print_name(const struct sl_framework *f, const struct sl_json *job,
                         char out[static 254]);
/* Make the new Workload of the job a slice: the first one, or with `before` the one that is to replace that one. */
void sl_slice_make(const struct sl_framework *f, struct sl_json *wl, const struct sl_json *job,
                   const struct sl_json *before);
/* Its pod sets get the templates of the slice before: those of a job that runs are as admission has changed them. */
void sl_slice_take_templates(struct sl_json *wl, const struct sl_json *before);
/* Add to an injection (template.h) what the pods of a slice carry: its name, and the gate. */
void sl_injection_add_slice(struct sl_json *injection, const struct sl_json *wl);
/* How many pods of that set may run by the slice: 0 when it is not admitted, or not any more. */
int64_t sl_slice_granted(const struct sl_json *wl, const char *pod_set);

/* How many pods of the set with that number it asks for, or has what it needs for. That can be fewer than it says: it asked for more
 * after its reservation was decided, and before that was written. It needs no quota for pods that were given back. */
int64_t sl_slice_holds(const struct sl_json *wl, size_t index);

/* The slices of one job. */
struct sl_slices {
    size_t count;
    struct sl_json **at; /* those that are not finished, oldest first */
    size_t ended_count;
    struct sl_json **ended;
    /* What they are, of those at `at`: by which the job runs, or is stopped; and which waits to replace that one. */
    struct sl_json *holder, *next;
};
void sl_slices_add(struct sl_slices *s, struct sl_json *wl); /* takes it */
void sl_slices_settle(struct sl_slices *s);
void sl_slices_fini(struct sl_slices *s);
/* Is it one of these, that neither holds nor waits, and in whose place is another? */
bool sl_slices_has_successor(const struct sl_slices *s, const struct sl_json *wl);

/* How the numbers of pods of a job compare to those of a Workload of its. */
enum sl_scale {
    SL_SCALE_SAME,
    SL_SCALE_DOWN, /* fewer of some, more of none */
    SL_SCALE_UP,
    SL_SCALE_OTHER /* it has other pod sets */
};
enum sl_scale sl_scale_of(const struct sl_pod_sets *sets, const struct sl_json *wl);
/* A copy of the Workload with the numbers of pods that the job has. */
struct sl_json *sl_workload_scaled_new(const struct sl_json *wl, const struct sl_pod_sets *sets);
#endif
