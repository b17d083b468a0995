/* SPDX-License-Identifier: Apache-2.0
 * SPDX-FileCopyrightText: The Sluice authors */

/* One kind's cache kept like the server's: listed by pages, then watched from there, again and again. */
#ifndef SL_KUBE_REFLECTOR_H
#define SL_KUBE_REFLECTOR_H
#include "kube/cache.h"
#include "kube/flow.h"
#include "kube/kube.h"

#define SL_NEVER_MS INT64_MAX

enum sl_reflector_next {
    SL_NEXT_LIST,
    SL_NEXT_PAGE,
    SL_NEXT_CONFIRM, /* ask for an object that the list lacks */
    SL_NEXT_WATCH,
    SL_NEXT_GROUPS,   /* ask which groups are served */
    SL_NEXT_RESOURCES /* ask which resources the kind's group has */
};
struct sl_reflector {
    struct sl_cache cache;
    struct sl_transport *transport; /* lent, as is what follows */
    struct sl_kube_counters *counters;
    unsigned *away_count; /* reflectors of this server that got no answer last time */
    uv_loop_t *loop;
    void (*wake)(void *context); /* due_ms has changed */
    void *wake_context;

    int64_t due_ms; /* when to do `next`; SL_NEVER_MS while an exchange is under way */
    enum sl_reflector_next next;
    struct sl_exchange *exchange;
    bool broken;     /* what the exchange brings is not listened to any more */
    char *page;      /* where the list goes on; NULL at its beginning */
    char *page_kept; /* an earlier one of these, to notice that they come again */
    unsigned pages;  /* that have come */
    unsigned limit;  /* objects of a page that are asked for */
    char **missing;  /* keys of what the list lacks, and how many have been asked for */
    size_t missing_count, missing_next;
    bool lacks;            /* one of them exists: the list is not believed */
    uint64_t list_version; /* of the list under way */
    bool stale;            /* a list that was asked for has not ended yet */
    unsigned lists;        /* that have ended */
    bool watching;         /* the exchange is a watch */
    bool doubtful;         /* there is something to be listed again for, at doubt_ms */
    int64_t doubt_ms;      /* when a watch is ended for another list; SL_NEVER_MS */
    int64_t doubted_ms;    /* when that became so last */
    struct sl_backoff doubts;
    struct sl_buf line; /* the watch event that has begun to arrive */
    struct sl_item item;
    int64_t watch_began_ms, relisted_ms;
    bool heard;        /* has this watch had any event? */
    bool away;         /* is it one of *away_count? */
    bool unserved;     /* the last list was answered with 404 */
    unsigned failures; /* in a row */
    struct sl_backoff backoff;
};
/* The caller fills in what is lent, then this; listing begins at the next step. */
void sl_reflector_init(struct sl_reflector *r, enum sl_kind kind, uint64_t seed);
void sl_reflector_fini(struct sl_reflector *r);
void sl_reflector_step(struct sl_reflector *r);
/* List again at once: `stale` until a list that begins after this call has ended. Not from within a
 * callback of this reflector's exchange or its cache. */
void sl_reflector_refresh(struct sl_reflector *r);
/* As sl_cache_watch. What cannot be read is noticed with the first watcher. */
void sl_reflector_watch(struct sl_reflector *r, sl_watch_fn *fn, void *context);
/* The cache lacks what is there: list again soon, or later when that is known and has not helped. */
void sl_reflector_doubt(struct sl_reflector *r);

/* A page of a list into the cache. BAD_REQUEST when it is malformed or another kind's; then some of it may be in the
 * cache.
 * *page: where the next one begins, caller frees; NULL when this was the last. `first`: the list begins. */
enum sl_code sl_reflector_page(struct sl_cache *c, struct sl_item *item, struct sl_span body,
                               char **page, uint64_t *version, struct sl_error *e);
/* One watch event, a line. GONE: list again. */
enum sl_code sl_reflector_event(struct sl_cache *c, struct sl_item *item, struct sl_span line,
                                struct sl_error *e);
#endif
