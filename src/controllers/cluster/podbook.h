/* SPDX-License-Identifier: Apache-2.0
 * SPDX-FileCopyrightText: The Sluice authors */

/* The pods that are known, found by their Job, their Workload and their node: what the controllers of pods need to
 * know of each, kept from the watch. The objects themselves stay in the store. */
#ifndef SL_CONTROLLERS_PODBOOK_H
#define SL_CONTROLLERS_PODBOOK_H
#include "api/objects/object.h"

#define SL_FINALIZER_JOB_TRACKING "batch.kubernetes.io/job-tracking"

enum sl_pod_phase { SL_POD_PENDING, SL_POD_RUNNING, SL_POD_SUCCEEDED, SL_POD_FAILED };
enum sl_pod_list {
    SL_PODS_OF_JOB,      /* "namespace/name" of the Job that owns them */
    SL_PODS_OF_WORKLOAD, /* "namespace/name", from the annotation */
    SL_PODS_OF_SLICES, /* "namespace/name" of the first slice of an elastic job, from the annotation */
    SL_PODS_OF_NODE, /* where they are bound or, before that, must be bound */
    SL_POD_LISTS
};

struct sl_pod_amount {
    char *resource;
    __int128 nano;
};
struct sl_pod_row {
    char *key; /* "namespace/name" */
    char *uid;
    char *job_uid;          /* of the Job that owns it; "" without */
    char *pod_set;          /* from the label; "" without */
    char *node;             /* where it is bound; "" before */
    char *at[SL_POD_LISTS]; /* the keys of its lists; "" = in none */
    struct sl_json *labels, *node_selector;
    struct sl_pod_amount *requests; /* of the whole pod; none when they cannot be read */
    uint32_t request_count;
    enum sl_pod_phase phase;
    bool gated, deleting, ready;
    bool elastic_gated;   /* by the gate of elastic jobs; `gated`: by that of topologies */
    bool tracked;         /* kept by a finalizer until its Job has counted it */
    int64_t restarts;     /* of its containers */
    int64_t ended_ms;     /* when the last of its containers ended; INT64_MIN: none has */
    int64_t index;        /* completion index; -1 without */
    int64_t index_offset; /* what its index label counts from; 0 without */
    int64_t started_ms;   /* since when it runs; INT64_MIN before */
    struct sl_pod_row *next[SL_POD_LISTS], *prev[SL_POD_LISTS];
};

struct sl_podbook;
struct sl_podbook *sl_podbook_new(void);
void sl_podbook_free(struct sl_podbook *b);
/* A Pod was added or changed; lent until it is observed or forgotten again. */
const struct sl_pod_row *sl_podbook_observe(struct sl_podbook *b, const struct sl_json *pod);
void sl_podbook_forget(struct sl_podbook *b, const struct sl_json *pod);
/* The exact time of a start, of which the object keeps whole seconds. */
void sl_podbook_set_start(struct sl_podbook *b, const char *key, int64_t now_ms);

const struct sl_pod_row *sl_podbook_find(const struct sl_podbook *b, const char *key);
/* The first pod of a list, oldest first; go on with row->next[list]. */
const struct sl_pod_row *sl_podbook_first(const struct sl_podbook *b, enum sl_pod_list list,
                                          const char *key);
/* Does it still run, or wait to? */
bool sl_pod_row_live(const struct sl_pod_row *row);
#endif
