/* SPDX-License-Identifier: Apache-2.0
 * SPDX-FileCopyrightText: The Sluice authors */

/* The one client interface: controllers do not know whether a SQLite store in this process or a
 * real API server is behind it. Everything runs on the loop's thread; replies and watch events
 * arrive there. */
#ifndef SL_API_CLIENT_H
#define SL_API_CLIENT_H
#include "api/objects/object.h"

enum sl_verb {
    SL_VERB_CREATE,
    SL_VERB_UPDATE,
    SL_VERB_UPDATE_STATUS,
    SL_VERB_PATCH_MERGE,
    SL_VERB_PATCH_STATUS_MERGE,
    SL_VERB_DELETE,
    /* Writes nothing: reads the object at its source, after the writes to it that were asked for before. NOT_FOUND: it
     * does not exist, whatever a cache says. Only where `cached` is set. */
    SL_VERB_READ
};

/* What follows the uid is for requests of others that are passed on to a store; who writes itself leaves it zeroed. */
struct sl_write {
    enum sl_verb verb;
    enum sl_kind kind;
    const char *ns;   /* "" for cluster-scoped kinds */
    const char *name; /* "" on create with generateName */
    struct sl_json
        *body; /* lent; object or patch. A resourceVersion in its metadata is a precondition */
    const char *uid; /* precondition, or NULL */
    enum {
        SL_PATCH_IS_MERGE,
        SL_PATCH_IS_JSON,
        SL_PATCH_IS_STRATEGIC
    } patch_type; /* for patch verbs */
    bool dry_run;
    size_t
        weight_max; /* the object must not weigh more than that (json.h), or what it weighs already; 0 = no limit */
    bool at_once;            /* deletes: gracePeriodSeconds 0, what runs is not waited for */
    const char *propagation; /* deletes: "Background" (default), "Foreground", "Orphan" */
    const char *manager;     /* of metadata.managedFields; NULL: this program itself */
    bool scale;              /* a patch comes by that subresource: so managedFields say */
    bool applied;            /* the body comes with its managedFields, which are to be kept */
    const char
        *submitter;  /* who asks for it, "" when that is not known; NULL: this program itself */
    bool for_others; /* that user may change others' as well */
};

/* Called once, after the write is durable (code OK, `result` lent) or refused. Where `durable` is set, it may come before:
 * then everything in this process begins again should the write be lost. */
typedef void sl_reply_fn(void *context, enum sl_code code, const struct sl_error *e,
                         struct sl_json *result);

/* UNREADABLE: the object has a state that cannot be read. Its last known state is kept; it has not
 * been deleted. What is lent then has its metadata's name, namespace, uid and resourceVersion, and
 * nothing else. */
enum sl_watch_type {
    SL_WATCH_ADDED,
    SL_WATCH_MODIFIED,
    SL_WATCH_DELETED,
    SL_WATCH_SYNCED,
    SL_WATCH_UNREADABLE
};
/* First one ADDED per existing object, then one SYNCED (object NULL), then what happens. Objects
 * are lent. */
typedef void sl_watch_fn(void *context, enum sl_watch_type type, enum sl_kind kind,
                         struct sl_json *object);
typedef void sl_visit_fn(void *context, struct sl_json *object); /* lent */
typedef void sl_key_fn(void *context, const char *ns, const char *name);

struct sl_client {
    void *self;
    /* Caller frees *out. UNAVAILABLE: not known yet, or there and unreadable. */
    enum sl_code (*get)(void *self, enum sl_kind kind, const char *ns, const char *name,
                        struct sl_json **out, struct sl_error *e);
    enum sl_code (*list)(void *self, enum sl_kind kind, const char *ns /* "" = all */,
                         sl_visit_fn *visit, void *context, struct sl_error *e);
    void (*watch)(void *self, enum sl_kind kind, sl_watch_fn *fn, void *context);
    void (*write)(void *self, const struct sl_write *w, sl_reply_fn *reply,
                  void *context); /* reply may be NULL */
    /* Reads come from a cache: what is absent there may exist. What cannot be taken back follows from absence only after
     * an SL_VERB_READ. */
    bool cached;
    /* Which objects there are, in all namespaces, some of them at a time, for those who have no time to read all at once:
     * `from` is what the call before has left in *next (caller frees), NULL at first; *next NULL: these were the last.
     * NULL: a client without it. */
    enum sl_code (*keys)(void *self, enum sl_kind kind, const char *from, sl_key_fn *visit,
                         void *context, char **next, struct sl_error *e);
    /* Is this version of the object, or its deletion, there to stay, whatever happens to this process? What has an effect
     * outside waits for that. NULL: whatever is delivered is. */
    bool (*durable)(void *self, const struct sl_json *object);
};
#endif
