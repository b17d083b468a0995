/* SPDX-License-Identifier: Apache-2.0
 * SPDX-FileCopyrightText: The Sluice authors */

/* One write and what has become of it so far; for the files writes*.c only. */
#ifndef SL_KUBE_WRITES_CHANGE_H
#define SL_KUBE_WRITES_CHANGE_H
#include "kube/flow.h"
#include "kube/writes.h"

enum sl_change_state {
    SL_CHANGE_QUEUED,
    SL_CHANGE_SENT,     /* its request is under way */
    SL_CHANGE_CHECKING, /* the live object is being read */
    SL_CHANGE_RESTING,  /* until due_ms; then it is sent again, or checked first */
    SL_CHANGE_ANSWERED  /* without a request; its reply is called at the next step */
};

struct sl_write_target;
struct sl_change {
    struct sl_writes *owner;
    struct sl_write_target *target;
    struct sl_change *next;          /* in its target */
    struct sl_change *after, *prior; /* among those under way */
    enum sl_change_state state;

    enum sl_verb verb;
    enum sl_kind kind;
    char *ns, *name, *uid; /* uid "": no precondition */
    bool at_once;
    struct sl_json *body;
    sl_reply_fn *reply;
    void *context;

    struct sl_json *patch; /* what is sent, NULL = nothing is */
    uint64_t guard;        /* the version that it is for; 0 = any */
    struct sl_exchange *exchange;
    struct sl_backoff backoff;
    int64_t due_ms;
    unsigned tries;
    bool unsure;            /* was there a try whose outcome is unknown? */
    bool check_first;       /* after resting */
    enum sl_code verdict;   /* why it is checked; OK: its outcome is unknown */
    struct sl_error *error; /* that goes with the verdict or the answer; NULL = none yet */
    struct sl_json *result; /* of an answer without a request */
};

struct sl_writes {
    struct sl_writes_options options;
    struct sl_kube_options kube;
    struct sl_map
        *targets; /* "kind/namespace/name" -> struct sl_write_target *, those that have a change */
    struct sl_write_target *ready_first, *ready_last; /* whose first change may begin */
    struct sl_change *active, *active_last; /* under way, in the order in which they began */
    struct sl_flow flow;
    struct sl_item item;
    uint64_t unnamed; /* creations without a name so far */
    uint64_t seed;
    bool stopped;
};

bool sl_writes_may(const struct sl_writes *w); /* be begun or sent again */
static inline int64_t sl_writes_now_ms(const struct sl_writes *w)
{
    return (int64_t)uv_now(w->kube.loop);
}
/* Makes the patch. OK: it is to be sent. *answered: that code is the answer already. Else it has to be checked;
 * then, and when it is refused, its error says why. */
enum sl_code sl_change_prepare(struct sl_change *c, bool *answered);
void sl_change_send(struct sl_change *c);
void sl_change_answered(void *context, const struct sl_response *r); /* of what was sent */
/* Reads the live object; `verdict` is its answer unless that says otherwise. */
void sl_change_check(struct sl_change *c, enum sl_code verdict, const struct sl_error *e);
void sl_change_drop(struct sl_change *c); /* without a reply */
/* Ends it: the reply is called, it is freed, and the next one of its target may begin. */
void sl_change_finish(struct sl_change *c, enum sl_code code, const struct sl_error *e,
                      struct sl_json *result);
/* Remembers `e`, which may be its own already, with `code`. */
void sl_change_keep(struct sl_change *c, enum sl_code code, const struct sl_error *e);
/* Its object in the cache; NULL when there is none. Caller frees. *followed: is there a cache? */
struct sl_json *sl_change_live(const struct sl_change *c, uint64_t *version, bool *followed);
#endif
