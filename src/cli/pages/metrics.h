/* SPDX-License-Identifier: Apache-2.0
 * SPDX-FileCopyrightText: The Sluice authors */

/* What the files that print /metrics share. */
#ifndef SL_CLI_METRICS_H
#define SL_CLI_METRICS_H
#include "cli/pages/pages.h"

void sl_metrics_help(struct sl_buf *out, const char *name, const char *type, const char *text);
/* A family of one value: a counter when its name ends in _total, else a gauge. */
void sl_metrics_value(struct sl_buf *out, const char *name, const char *text, uint64_t value);
/* An amount in whole units with three decimals, as Kueue's metrics have cores and bytes; the line ends. */
void sl_metrics_amount(struct sl_buf *out, int64_t amount, const char *resource);
/* One of the families that the controllers count, of ClusterQueues or of LocalQueues. False: it was the last. */
bool sl_metrics_meter(size_t i, bool local, const struct sl_meters *counted, const char *role,
                      struct sl_buf *out);
/* The families kueue_cohort_info, kueue_cohort_subtree_* and kueue_cluster_queue_info. */
void sl_metrics_tree(const struct sl_engine *engine, const char *role, struct sl_buf *out);
/* The families kueue_local_queue_*, of the LocalQueues that have metrics of their own now. go_on writes some lines of
 * them; false: that was all. */
struct sl_metrics_locals;
struct sl_metrics_locals *sl_metrics_locals_new(const struct sl_pages *p,
                                                const struct sl_workload_meters *meters,
                                                const char *role);
bool sl_metrics_locals_go_on(struct sl_metrics_locals *l, const struct sl_workload_meters *meters,
                             struct sl_buf *out);
void sl_metrics_locals_free(struct sl_metrics_locals *l);
#endif
