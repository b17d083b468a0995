/* SPDX-License-Identifier: Apache-2.0
 * SPDX-FileCopyrightText: The Sluice authors */

/* Metrics of what waits in a ClusterQueue, as the engine counts it. */
#include "cli/pages/metrics.h"
#include "base/check.h"
#include <inttypes.h>
#include <string.h>

struct lines {
    struct sl_buf *out;
    const struct sl_metrics_family *f;
    const struct sl_metrics_queue *q;
};

static void print_amount(void *context, const char *resource, int64_t amount)
{
    const struct lines *l = context;
    sl_buf_print(l->out, "%s{cluster_queue=\"%s\",resource=\"%s\",%s} ", l->f->metric, l->q->name,
                 resource, l->q->tail);
    sl_metrics_amount(l->out, amount, resource);
}

void sl_metrics_pending(struct sl_buf *out, const struct sl_metrics_family *f,
                        const struct sl_metrics_queue *q)
{
    struct lines l = {out, f, q};
    sl_engine_pending_requests(q->engine, q->name, print_amount, &l);
}

static void print_reason(void *context, const struct sl_unadmitted *u)
{
    const struct lines *l = context;
    sl_buf_print(l->out,
                 "%s{cluster_queue=\"%s\",reason=\"%s\",underlying_cause=\"%s\",%s} %" PRIu32 "\n",
                 l->f->metric, l->q->name, u->reason, u->cause, l->q->tail, u->count);
}

void sl_metrics_unadmitted(struct sl_buf *out, const struct sl_metrics_family *f,
                           const struct sl_metrics_queue *q)
{
    struct lines l = {out, f, q};
    if (q->shows_reasons) {
        sl_engine_unadmitted(q->engine, SL_KIND_CLUSTER_QUEUE, "", q->name, print_reason, &l);
    }
}

static void print_part(struct sl_buf *out, const struct sl_metrics_family *f,
                       const struct sl_metrics_queue *q, const char *label, uint64_t value)
{
    sl_buf_print(out, "%s{cluster_queue=\"%s\",%s,%s} %" PRIu64 "\n", f->metric, q->name, label,
                 q->tail, value);
}

void sl_metrics_shapes(struct sl_buf *out, const struct sl_metrics_family *f,
                       const struct sl_metrics_queue *q)
{
    struct sl_pending_shapes shapes;
    if (sl_engine_pending_shapes(q->engine, q->name, &shapes)) {
        print_part(out, f, q, "status=\"active\"", shapes.active);
        print_part(out, f, q, "status=\"inadmissible\"", shapes.inadmissible);
    }
}

/* As in Kueue a queue has this from when it first happened, and these by what came of it. */
void sl_metrics_skips(struct sl_buf *out, const struct sl_metrics_family *f,
                      const struct sl_metrics_queue *q)
{
    if (q->figures->preemption_skips > 0) {
        sl_buf_print(out, "%s{cluster_queue=\"%s\",%s} %" PRIu32 "\n", f->metric, q->name, q->tail,
                     q->figures->preemption_skips);
    }
}

void sl_metrics_recomputations(struct sl_buf *out, const struct sl_metrics_family *f,
                               const struct sl_metrics_queue *q)
{
    const struct {
        const char *label;
        uint64_t count;
    } results[] = {{"result=\"deferred_fit\"", q->figures->deferred_fits},
                   {"result=\"new_targets\"", q->figures->new_targets},
                   {"result=\"skipped\"", q->figures->skipped_targets}};
    for (size_t i = 0; i < sizeof results / sizeof results[0]; i++) {
        if (results[i].count > 0) {
            print_part(out, f, q, results[i].label, results[i].count);
        }
    }
}

void sl_metrics_marked(struct sl_buf *out, const struct sl_metrics_marks *m,
                       const struct sl_marked *counts, const struct sl_metrics_marked *lines)
{
    SL_PRE(m != NULL && lines != NULL);
    uint32_t all = counts == NULL ? 0 : sl_custom_labels_marks(m->labels);
    for (uint32_t mark = 0; mark < all; mark++) {
        uint32_t value;
        memcpy(&value, (const char *)&counts[mark] + lines->member, sizeof value);
        if (value > 0) {
            sl_buf_print(out, "%s{%s,%s", lines->metric, lines->start, lines->tail);
            sl_custom_labels_print_mark(m->labels, (uint8_t)mark, out);
            sl_buf_print(out, "} %" PRIu32 "\n", value);
        }
    }
}
