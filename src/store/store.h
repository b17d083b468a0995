/* SPDX-License-Identifier: Apache-2.0
 * SPDX-FileCopyrightText: The Sluice authors */

/* Objects in SQLite (WAL, full synchronisation) and the log of what changed. One thread. Writes are staged in an
 * open transaction and become durable together at sl_store_commit (group commit); whoever answers a client
 * must wait for that. Implements Kubernetes' registry semantics: uid, resourceVersion, generation,
 * creationTimestamp, finalizers, owner-reference garbage collection, status subresource, dry run. */
#ifndef SL_STORE_STORE_H
#define SL_STORE_STORE_H
#include "api/client.h"

struct sl_store;

/* Opens or creates DIR. Clear errors for: not a directory, read-only, full, locked by another process,
 * written by a newer version. */
enum sl_code sl_store_open(const char *dir, struct sl_store **out, struct sl_error *e);
void sl_store_close(struct sl_store *s);

struct sl_store_write {
    enum sl_verb verb;
    enum sl_kind kind;
    const char *ns, *name;
    struct sl_json *body;         /* lent */
    const char *uid;              /* precondition or NULL */
    enum { SL_PATCH_IS_MERGE, SL_PATCH_IS_JSON, SL_PATCH_IS_STRATEGIC } patch_type; /* for patch verbs */
    bool dry_run;
    const char *propagation;      /* deletes: "Background" (default), "Foreground", "Orphan" */
};
/* Stage one write. On OK *result (caller frees) is the object as it will be. Defaults and validation included. */
enum sl_code sl_store_apply(struct sl_store *s, const struct sl_store_write *w, struct sl_json **result,
                            struct sl_error *e);
bool sl_store_dirty(const struct sl_store *s);                 /* is anything staged? */
/* Make all staged writes durable, then publish their watch events. On failure nothing of the batch exists. */
enum sl_code sl_store_commit(struct sl_store *s, struct sl_error *e);

enum sl_code sl_store_get(struct sl_store *s, enum sl_kind kind, const char *ns, const char *name,
                          struct sl_json **out, struct sl_error *e);
struct sl_store_list {
    enum sl_kind kind;
    const char *ns;                       /* "" = all namespaces */
    const struct sl_selector *labels, *fields; /* NULL = all */
    uint32_t limit;                       /* 0 = no limit */
    const char *continue_token;           /* NULL or "" = from the start */
};
/* In (namespace, name) order. *resource_version: the revision the list is of; *next (caller frees): the
 * continue token, or NULL at the end. */
enum sl_code sl_store_list(struct sl_store *s, const struct sl_store_list *q, sl_visit_fn *visit, void *context,
                           uint64_t *resource_version, char **next, struct sl_error *e);
uint64_t sl_store_revision(const struct sl_store *s);

/* Watch events after `since` that are still in the log, then live ones, published from sl_store_commit.
 * GONE when `since` is older than the log reaches. Returns an id > 0 through *watch. */
enum sl_code sl_store_watch(struct sl_store *s, enum sl_kind kind, uint64_t since, sl_watch_fn *fn, void *context,
                            uint64_t *watch, struct sl_error *e);
void sl_store_unwatch(struct sl_store *s, uint64_t watch);

/* The client interface over this store (see api/client.h). `wake` is called when a write was staged, so that
 * the loop knows to commit. Replies are delivered after the commit. */
void sl_store_client(struct sl_store *s, void (*wake)(void *context), void *context, struct sl_client *out);
#endif
