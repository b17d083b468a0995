/* SPDX-License-Identifier: Apache-2.0
 * SPDX-FileCopyrightText: The Sluice authors */

/* What became of each workload of a past in one play, and figures of that. */
#ifndef SL_ENGINE_PAST_FATES_H
#define SL_ENGINE_PAST_FATES_H
#include "base/map.h"
#include "engine/past/past.h"

struct sl_past_fate {
    const struct sl_json *history;
    int64_t start_ms, deleted_ms; /* first admission, and deletion before an end; -1: none */
    uint32_t evictions;
    bool finished;
    struct sl_buf trace; /* all of its decisions in words, to be compared */
};
struct sl_past_fates {
    struct sl_past_fate *of; /* in the order of past->workloads */
    size_t count;
    int64_t end_ms;
};
void sl_past_fates_read(struct sl_past_fates *f, const struct sl_past *past,
                        const struct sl_json *decisions);
void sl_past_fates_fini(struct sl_past_fates *f);
/* How long it waited for its first admission: as far as is known, where it had none. */
int64_t sl_past_wait_ms(const struct sl_past_fates *f, size_t i);
/* Of one ClusterQueue's workloads, or of all where `queue` is NULL: {"workloads", "started", "waiting", "finished",
 * "evictions", "waitMeanSeconds", "waitP50Seconds", "waitP95Seconds", "waitMaxSeconds"}. */
struct sl_json *sl_past_figures_new(const struct sl_past_fates *f, const char *queue);
#endif
