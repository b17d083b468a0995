/* SPDX-License-Identifier: Apache-2.0
 * SPDX-FileCopyrightText: The Sluice authors */

/* What every controller does alike: take a key from its work queue, look at the live objects, write what follows
 * from them (most write one thing at most), and wait for all answers before it looks at that key again. A conflict is looked at again at once,
 * one after the other and other failures a little later; nothing is given up in silence. */
#ifndef SL_CONTROLLERS_RECONCILER_H
#define SL_CONTROLLERS_RECONCILER_H
#include "controllers/work/recorder.h"
#include "controllers/work/work.h"
#include "controllers/work/workload_meters.h"

#define SL_RETRY_MS 2000 /* after a write or read that failed for another reason than a conflict */
#define SL_FORBIDDEN_RETRY_MS 30000

struct sl_map;
struct sl_reconciler;
struct sl_turn; /* the writes of one look that are under way */
/* Look at one key: nothing is to be done, or sl_reconciler_write is called, for one object at most once. */
typedef void sl_reconcile_fn(void *self, struct sl_reconciler *r, const struct sl_key *key,
                             int64_t now_ms);

struct sl_reconciler {
    const char *title; /* in logs */
    const struct sl_client *client;
    struct sl_recorder *events;
    struct sl_work *work;
    sl_reconcile_fn *reconcile;
    void *self;
    struct sl_map *gone;      /* objects that the source has said to be deleted; a uid does not come
                          * back */
    struct sl_map *conflicts; /* keys, and how many writes in a row were refused as stale */
    /* while a key is looked at: */
    const char *current;
    struct sl_turn *turn; /* NULL until something is written */
};

void sl_reconciler_init(struct sl_reconciler *r, const char *title, const struct sl_client *client,
                        struct sl_recorder *events);
void sl_reconciler_fini(struct sl_reconciler *r);
/* Look at up to `limit` keys that are due; true when more are. */
bool sl_reconciler_step(struct sl_reconciler *r, int64_t now_ms, unsigned limit);
/* The same of several, one after the other, and when the first of them is due. */
bool sl_reconcilers_step(struct sl_reconciler *const *all, size_t count, int64_t now_ms,
                         unsigned limit);
int64_t sl_reconcilers_due_ms(struct sl_reconciler *const *all, size_t count);

/* An Event to record when the write has succeeded: none without a reason. */
struct sl_note {
    enum sl_kind kind;
    struct sl_json *about; /* lent; a reference is kept until then */
    bool warning;
    const char *reason; /* a literal */
    char message[512];
    struct sl_timing *timing; /* ends with the write, and is taken; NULL: nothing is measured */
};
/* A write for the current key. `note` may be NULL; a write that is refused as INVALID is reported on
 * its object and not tried again before something changes. */
void sl_reconciler_write(struct sl_reconciler *r, const struct sl_write *w,
                         const struct sl_note *note);

/* A write to `object`, whose texts it borrows, guarded by its uid. `body` is an object or a patch, as the
 * verb wants it; NULL to delete. */
struct sl_write sl_reconciler_write_of(enum sl_verb verb, enum sl_kind kind,
                                       const struct sl_json *object, struct sl_json *body);
/* The object's status as it is in `object`, guarded by its uid. */
void sl_reconciler_write_status(struct sl_reconciler *r, enum sl_kind kind, struct sl_json *object);

/* The live object, or NULL: *absent says whether it does not exist; otherwise the key is retried
 * later. */
struct sl_json *sl_reconciler_get(struct sl_reconciler *r, enum sl_kind kind, const char *ns,
                                  const char *name, bool *absent);

/* For an object that sl_reconciler_get has found absent, or another one in its place, and whose
 * absence has consequences that cannot be undone: is the one with this uid certain to be deleted?
 * Where reads come from a cache it is read at its source first. The current key is reconciled again
 * when the source has confirmed the deletion, or some time later when it has not. */
bool sl_reconciler_confirm_gone(struct sl_reconciler *r, enum sl_kind kind, const char *ns,
                                const struct sl_json *owner);
#endif
