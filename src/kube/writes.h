/* SPDX-License-Identifier: Apache-2.0
 * SPDX-FileCopyrightText: The Sluice authors */

/* Writes on their way to the server. Those to one object go one after the other, in the order in which they were
 * asked for; what an UPDATE differs in is found out when it is its turn, so that one that has become a certain
 * conflict, or means nothing any more, costs no request. */
#ifndef SL_KUBE_WRITES_H
#define SL_KUBE_WRITES_H
#include "kube/cache.h"
#include "kube/kube.h"

struct sl_writes;
struct sl_writes_options {
    const struct sl_kube_options *kube; /* its limits, loop and transport */
    struct sl_kube_counters *counters;
    /* NULL when the kind is not followed. */
    struct sl_cache *(*cache_of)(void *context, enum sl_kind kind);
    /* There is an object that the kind's cache lacks and that no watch will show. */
    void (*doubt)(void *context, enum sl_kind kind);
    void (*wake)(void *context); /* due_ms has changed */
    void *context;
};
struct sl_writes *sl_writes_new(const struct sl_writes_options *options);
void sl_writes_free(struct sl_writes *w); /* no reply arrives afterwards */
void sl_writes_add(struct sl_writes *w, const struct sl_write *write, sl_reply_fn *reply,
                   void *context);
void sl_writes_step(struct sl_writes *w);
int64_t sl_writes_due_ms(const struct sl_writes *w);
void sl_writes_stop(struct sl_writes *w); /* nothing is begun from now on */
#endif
