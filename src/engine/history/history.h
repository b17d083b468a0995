/* SPDX-License-Identifier: Apache-2.0
 * SPDX-FileCopyrightText: The Sluice authors */

/* What happened to workloads, as a journal has it: the journal is played again (replay.h), and each time a workload is
 * otherwise than before one is reported: what it holds, where it waits, and why. Says nothing that the core did not come to. */
#ifndef SL_ENGINE_HISTORY_H
#define SL_ENGINE_HISTORY_H
#include "base/error.h"
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

enum sl_history_kind {
    SL_HISTORY_FOUND,    /* it was there when the journal, or a run of the daemon, began */
    SL_HISTORY_QUEUED,   /* it came to wait in a ClusterQueue */
    SL_HISTORY_PENDING,  /* why it waits is new */
    SL_HISTORY_RESERVED, /* it got its quota */
    SL_HISTORY_ADMITTED,
    SL_HISTORY_RESIZED,  /* it holds otherwise than before */
    SL_HISTORY_EVICTED,  /* it has to stop, and holds its quota until it has */
    SL_HISTORY_RELEASED, /* it holds no quota any more, and is not over */
    SL_HISTORY_REQUEUED, /* it may be admitted again */
    SL_HISTORY_FINISHED,
    SL_HISTORY_DELETED, /* and had not finished */
    SL_HISTORY_KIND_COUNT
};
const char *sl_history_name(enum sl_history_kind kind); /* "QuotaReserved" */

struct sl_history_row { /* of what it holds; milli for cpu, one for everything else */
    const char *flavor, *resource;
    int64_t amount;
};
struct sl_history_news {
    enum sl_history_kind kind;
    const char *reason; /* as the API has it; "" = there is none */
    const char *rule;   /* of a preemption; "" = it was none */
    const char *by;     /* who preempted it, NAMESPACE/NAME; "" = none, or it is not known */
};
#define SL_HISTORY_NEWS_MAX 8u
#define SL_HISTORY_ROWS_MAX 32u

/* A workload, and how it is from now on. Texts are lent. */
struct sl_history_move {
    int64_t time_ms;      /* never before that of the move before */
    uint64_t record;      /* of the journal */
    const char *workload; /* NAMESPACE/NAME */
    const char *queue;    /* ClusterQueue, the last one when it has left it; "" = none yet */
    bool found;           /* it was so before; else it came to be so now */
    bool waits;           /* in its queue, for quota */
    bool over;            /* finished, or deleted */
    uint32_t row_count;   /* 0 = it holds no quota */
    struct sl_history_row rows[SL_HISTORY_ROWS_MAX];
    uint32_t news_count; /* 0: it only waits no more, or again */
    struct sl_history_news news[SL_HISTORY_NEWS_MAX];
};

/* Reported in the journal's order. NULL for what is not wanted. */
struct sl_history_taker {
    void *context;
    void (*queue)(void *context, const char *name); /* there is, or was, this ClusterQueue */
    void (*begin)(void *context,
                  int64_t time_ms); /* a run of the daemon begins, as far as it can be reported */
    void (*move)(void *context, const struct sl_history_move *move);
    void (*end)(void *context, int64_t time_ms); /* the run ends: what follows may be much later */
};
struct sl_history_result {
    int64_t begin_ms, end_ms; /* of what is reported; SL_NEVER: nothing is */
    uint64_t runs, torn;      /* reported; and files with a torn end, as a crash leaves it */
    bool partial;             /* something is missing, or comes out otherwise: */
    char why[4096];
};

/* Of a file of a journal, or a directory with one. OK when it was read, whatever is missing. */
enum sl_code sl_history_read(const char *path, const struct sl_history_taker *taker,
                             struct sl_history_result *out, struct sl_error *e);
#endif
