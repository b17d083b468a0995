/* SPDX-License-Identifier: Apache-2.0
 * SPDX-FileCopyrightText: The Sluice authors */

/* What the files that print /metrics share. */
#ifndef SL_CLI_METRICS_H
#define SL_CLI_METRICS_H
#include "cli/pages/pages.h"
#include "engine/figures.h"

void sl_metrics_help(struct sl_buf *out, const char *name, const char *type, const char *text);
/* A family of one value: a counter when its name ends in _total, else a gauge. */
void sl_metrics_value(struct sl_buf *out, const char *name, const char *text, uint64_t value);
/* An amount in whole units with three decimals, as Kueue's metrics have cores and bytes; the line ends. */
void sl_metrics_amount(struct sl_buf *out, int64_t amount, const char *resource);
/* Workloads by their own custom labels; counts NULL: there are no such labels. */
struct sl_metrics_marks {
    const struct sl_marks *counts;
    const struct sl_custom_labels *labels;
};
/* One ClusterQueue of the page. */
struct sl_metrics_queue {
    const struct sl_engine *engine;
    const char *name, *cohort,
        *tail; /* the labels that its series end with: the role of this process, and custom ones */
    const struct sl_json *groups; /* of its spec; NULL: none */
    const struct sl_json *seen;   /* its status, and more counts */
    const struct sl_queue_figures *figures;
    bool shows_reasons;
    const struct sl_metrics_marks *marks;
};
/* Families of which each ClusterQueue has lines. They are written queue by queue and shown family by family, since a
 * scraper wants each in one piece. */
struct sl_metrics_family {
    const char *metric, *text;
    void (*print)(struct sl_buf *out, const struct sl_metrics_family *f,
                  const struct sl_metrics_queue *q);
    const char *member; /* of what the queue has */
};
/* A line for each mark of which there are any: `start` and `tail` are its labels, `member` one of struct sl_marked. */
struct sl_metrics_marked {
    const char *metric, *start, *tail;
    size_t member;
};
void sl_metrics_marked(struct sl_buf *out, const struct sl_metrics_marks *m,
                       const struct sl_marked *counts, const struct sl_metrics_marked *lines);
/* metrics_waiting.c: of what waits, and of cycles in which workloads were in each other's way. */
void sl_metrics_pending(struct sl_buf *out, const struct sl_metrics_family *f,
                        const struct sl_metrics_queue *q);
void sl_metrics_unadmitted(struct sl_buf *out, const struct sl_metrics_family *f,
                           const struct sl_metrics_queue *q);
void sl_metrics_shapes(struct sl_buf *out, const struct sl_metrics_family *f,
                       const struct sl_metrics_queue *q);
void sl_metrics_skips(struct sl_buf *out, const struct sl_metrics_family *f,
                      const struct sl_metrics_queue *q);
void sl_metrics_recomputations(struct sl_buf *out, const struct sl_metrics_family *f,
                               const struct sl_metrics_queue *q);
/* One of the families that the controllers count, of ClusterQueues or of LocalQueues. False: it was the last. */
bool sl_metrics_meter(size_t i, bool local, const struct sl_meters *counted, const char *role,
                      struct sl_buf *out);
/* The families kueue_cohort_info, kueue_cohort_subtree_* and kueue_cluster_queue_info. */
void sl_metrics_tree(const struct sl_engine *engine, const struct sl_workload_meters *meters,
                     const char *role, struct sl_buf *out);
/* The families kueue_local_queue_*, of the LocalQueues that have metrics of their own now. go_on writes some lines of
 * them; false: that was all. */
struct sl_metrics_locals;
struct sl_metrics_locals *sl_metrics_locals_new(const struct sl_pages *p,
                                                const struct sl_workload_meters *meters,
                                                const struct sl_metrics_marks *marks,
                                                const char *role);
bool sl_metrics_locals_go_on(struct sl_metrics_locals *l, const struct sl_workload_meters *meters,
                             struct sl_buf *out);
void sl_metrics_locals_free(struct sl_metrics_locals *l);
#endif
