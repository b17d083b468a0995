/* SPDX-License-Identifier: Apache-2.0
 * SPDX-FileCopyrightText: The Sluice authors */

/* How the core has a workload while a journal is played, and that as bytes (history_pack.h). Inside src/engine/history. */
#ifndef SL_ENGINE_HISTORY_SEEN_H
#define SL_ENGINE_HISTORY_SEEN_H
#include "base/buf.h"
#include "engine/history/history.h"
#include "kernel/base/order.h"
#include "kernel/base/types.h"

struct sl_replay;

/* How one was reported to be, or is. */
struct sl_history_seen {
    bool waits;
    bool put_off; /* not reported yet: its queue is not known while a daemon begins */
    enum sl_phase phase;
    sl_qnode_id queue;
    struct sl_order_key key; /* with its UID */
    uint32_t count;
    struct sl_cell_amount *held; /* so many, its own; NULL = none */
};

/* What is new of it. */
struct sl_history_news_list {
    uint32_t count;
    struct sl_history_news items[SL_HISTORY_NEWS_MAX];
};
struct sl_history_change {
    const char *workload; /* NAMESPACE/NAME */
    const struct sl_history_seen *now;
    bool found;
    int64_t time_ms;
};

void sl_history_look(sl_workload_id id, struct sl_history_seen *out);
void sl_history_forget(
    struct sl_history_seen *s); /* it is as if nothing was reported; gives its memory back */
bool sl_history_holds(enum sl_phase phase); /* quota */
bool sl_history_holds_same(const struct sl_history_seen *a, const struct sl_history_seen *b);
void sl_history_add(struct sl_history_news_list *n, enum sl_history_kind kind, const char *reason);
void sl_history_pack(struct sl_buf *out, const struct sl_replay *r,
                     const struct sl_history_change *c, const struct sl_history_news_list *n);
#endif
