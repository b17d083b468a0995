/* SPDX-License-Identifier: Apache-2.0
 * SPDX-FileCopyrightText: The Sluice authors */

/* Objects in SQLite (WAL, full synchronisation) and the log of what changed. One thread. Writes are
 * staged in an open transaction and become durable together at sl_store_commit (group commit); an
 * answer to a client must wait for that. Implements Kubernetes' registry semantics: uid,
 * resourceVersion, generation, creationTimestamp, finalizers, owner-reference garbage collection,
 * status subresource, dry run. */
#ifndef SL_STORE_STORE_H
#define SL_STORE_STORE_H
#include "api/objects/client.h"

struct sl_store;

/* Opens or creates DIR, and checks all that is there. Clear errors for: not a directory, read-only, locked by another
 * process, written by a newer version. UNAVAILABLE: there is no room for what has to be written, or no memory; it can be
 * tried again. DAMAGED: the database is not what was written to it. */
enum sl_code sl_store_open(const char *dir, struct sl_store **out, struct sl_error *e);
void sl_store_close(struct sl_store *s);
/* Copies what DIR holds into FILE, which must not be there yet, also while a daemon has it: all that was acknowledged
 * before, as of one commit. The copy is checked. UNAVAILABLE: the disk is full. */
enum sl_code sl_store_backup(const char *dir, const char *file, struct sl_error *e);
/* Makes DIR hold what FILE does, once that was checked; what it held before stays as DIR/sluice.db.replaced. Refuses while
 * another process has DIR. */
enum sl_code sl_store_restore(const char *dir, const char *file, struct sl_error *e);
/* Shall plain Pods that name a queue be marked and gated when they are created? Off at first. */
void sl_store_gate_pods(struct sl_store *s, bool on);
/* Shall ClusterQueues and ResourceFlavors have the finalizer that keeps what is in use when they are created? Off at first: a
 * controller has to take it off again. */
void sl_store_guard_queues(struct sl_store *s, bool on);
/* Shall Jobs have the selector of their pods when they are created, as from an API server? Off at first: without pods it would
 * be waited for in vain what it selects. */
void sl_store_select_pods(struct sl_store *s, bool on);
/* From now on jobs and pods are those of who has submitted them: that is noted, and other users cannot change them. What was
 * stored while this was not so (by an older version, too) says no longer whose it is. Before the first write. UNAVAILABLE: the
 * disk is full. */
enum sl_code sl_store_guard_submitters(struct sl_store *s, struct sl_error *e);
/* Does another program delete what has no owner any more, and foreground deletion wait for that? Off at first. What it has left
 * is collected once this is off again. Owners are still cut off at once by the policy Orphan, and namespaces emptied. */
void sl_store_leave_owners(struct sl_store *s, bool on);

/* Stage one write. On OK *result (caller frees) is the object as it will be, which push watches will be
 * given, too: not to be changed. Defaults and validation included. */
enum sl_code sl_store_apply(struct sl_store *s, const struct sl_write *w, struct sl_json **result,
                            struct sl_error *e);
bool sl_store_dirty(const struct sl_store *s); /* is there anything for sl_store_commit to do? */
/* Make all staged writes durable, then publish their watch events. On failure nothing of the batch
 * exists. Each commit also carries a bounded piece of background work (garbage collection by owner,
 * emptying of deleted namespaces, expiry of Events): call it as long as sl_store_dirty says so. */
enum sl_code sl_store_commit(struct sl_store *s, struct sl_error *e);

enum sl_code sl_store_get(struct sl_store *s, enum sl_kind kind, const char *ns, const char *name,
                          struct sl_json **out, struct sl_error *e);
struct sl_store_list {
    enum sl_kind kind;
    const char *ns;                            /* "" = all namespaces */
    const struct sl_selector *labels, *fields; /* NULL = all */
    uint32_t limit;                            /* 0 = no limit */
    const char *continue_token;                /* NULL or "" = from the start */
    const char *name; /* NULL or "" = all; else only objects of this name */
    /* 0 = no bound; else the list ends, with a token, after looking at so many objects, selected or
     * not: a list that selects few objects does not delay other requests. */
    uint32_t scan_max;
    uint64_t work_max; /* the same of steps of work (base/effort.h), with one object at least */
    /* All pages are of the revision that the first one was read at, which is kept for five minutes, and less where so
     * much is changed meanwhile that it comes to more than memory has for it. Else a page is of what there is then. */
    bool consistent;
    uint64_t revision; /* of the first page; 0: now */
};
/* In (namespace, name) order. *resource_version: the revision the list is of; *next (caller frees):
 * the continue token, or NULL at the end. Refused with 410: the revision is kept no longer. */
enum sl_code sl_store_list(struct sl_store *s, const struct sl_store_list *q, sl_visit_fn *visit,
                           void *context, uint64_t *resource_version, char **next,
                           struct sl_error *e);
/* The same, but the objects as stored JSON texts: nothing is parsed unless a selector asks for it.
 */
typedef void sl_store_text_fn(void *context, const char *text, size_t text_size); /* lent */
enum sl_code sl_store_list_text(struct sl_store *s, const struct sl_store_list *q,
                                sl_store_text_fn *visit, void *context, uint64_t *resource_version,
                                char **next, struct sl_error *e);
/* The same, but only which objects there are. */
enum sl_code sl_store_list_keys(struct sl_store *s, const struct sl_store_list *q, sl_key_fn *visit,
                                void *context, char **next, struct sl_error *e);
/* How many objects come after the page that this token was given for; -1: that is not known, as where there is a selector. */
int64_t sl_store_list_remaining(const char *token);
/* One that goes on after the same object with what there is now (caller frees). */
char *sl_store_list_token_now_new(const char *token);
/* The last revision, staged writes included. Wait for the commit before sending it to a client. */
uint64_t sl_store_revision(const struct sl_store *s);

/* Watch events after `since` that are still in the log, then live ones, published from
 * sl_store_commit. GONE when `since` is older than the log reaches, or still to come. Returns an id
 * > 0 through *watch. Objects whose staged writes were lost are passed on again as they are, for
 * those that have read the staged state (DELETED for objects that were never stored). */
enum sl_code sl_store_watch(struct sl_store *s, enum sl_kind kind, uint64_t since, sl_watch_fn *fn,
                            void *context, uint64_t *watch, struct sl_error *e);
void sl_store_unwatch(struct sl_store *s, uint64_t watch);

/* The watch log read at the reader's own pace, for readers that may be slow: *since moves forward
 * over what was looked at; OK with *found false when there is no later durable event of this kind;
 * GONE when the log has moved past *since. The texts are lent until the next call on the store.
 * `old` is the object before a modification, when a selector could distinguish the two, else
 * NULL. */
struct sl_store_event {
    enum sl_watch_type type;
    enum sl_kind kind;
    uint64_t revision;
    const char *text, *old;
    size_t text_size, old_size;
};
enum sl_code sl_store_next(struct sl_store *s, enum sl_kind kind, uint64_t *since,
                           struct sl_store_event *event, bool *found, struct sl_error *e);
uint64_t sl_store_durable(const struct sl_store *s); /* the last durable revision */

/* Called once, when something is read that is not what was written. From then on nothing is written
 * any more: the callback has to end the process, after the call that found it has returned. */
typedef void sl_store_damage_fn(void *context, const struct sl_error *e);
void sl_store_on_damage(struct sl_store *s, sl_store_damage_fn *fn, void *context);

/* Called after every attempt to commit, its watch events and client replies delivered: OK, or the
 * error by which everything staged was lost. At most 4 listeners. */
typedef void sl_store_commit_fn(void *context, enum sl_code code, const struct sl_error *e);
void sl_store_listen(struct sl_store *s, sl_store_commit_fn *fn, void *context);
void sl_store_unlisten(struct sl_store *s, sl_store_commit_fn *fn, void *context);

/* Delivers what is staged to those who use the client interface: watch events, then answers, as a commit does. True when there
 * was something. What they do about it is staged, too, in the same batch: it becomes durable, or is lost, together
 * with what it rests on. So whatever leaves the process has to wait for the commit: sl_store_is_durable. When the batch is
 * lost, `again` is called from sl_store_commit: everything that was derived from the store is thrown away, the watches with
 * sl_store_forget_watches, and read again, as at a start. For a while nothing is delivered ahead then. Not called from a
 * callback of the store's; without sl_store_deliver_ahead it does nothing. */
typedef void sl_store_again_fn(void *context);
void sl_store_deliver_ahead(struct sl_store *s, sl_store_again_fn *again, void *context);
bool sl_store_deliver(struct sl_store *s);
/* Is this version of the object, or its deletion, durable? */
bool sl_store_is_durable(const struct sl_store *s, const struct sl_json *object);
/* Ends all push watches and lists that are still to be read. */
void sl_store_forget_watches(struct sl_store *s);

/* Refuse to grow past this size, just as if the disk were full. 0 = no limit. */
void sl_store_set_size_max(struct sl_store *s, uint64_t bytes);
/* How much memory states that lists still go through may take. */
void sl_store_set_past_max(struct sl_store *s, uint64_t bytes);
/* Makes uids and generated names a function of the seed and of how many writes there were (simulation, tests). */
void sl_store_seed(struct sl_store *s, uint64_t seed);

/* The client interface over this store (see api/objects/client.h). `wake` is called when a write was
 * staged, so that the loop knows to deliver it and to commit. Replies are delivered after the commit, or by sl_store_deliver. */
void sl_store_client(struct sl_store *s, void (*wake)(void *context), void *context,
                     struct sl_client *out);
#endif
