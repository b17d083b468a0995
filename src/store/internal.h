/* SPDX-License-Identifier: Apache-2.0
 * SPDX-FileCopyrightText: The Sluice authors */

/* What the modules of the store share: the record behind struct sl_store and the layers below
 * store.h. db (files, SQL, the open transaction) <- rows (objects as rows, each change one revision
 * and one event)
 * <- registry (Kubernetes' semantics of a write) <- collect (what happens in the background) <-
 * commit; client and ahead (who gets what, and when). */
#ifndef SL_STORE_INTERNAL_H
#define SL_STORE_INTERNAL_H
#include <sqlite3.h>

#include "store/ahead.h"
#include "store/definitions.h"
#include "store/snapshot.h"

#define SL_STORE_SCHEMA 2 /* PRAGMA user_version of the files that this program writes */
#define SL_STORE_LOG_EVENTS_MAX 16384u
#define SL_STORE_LOG_BYTES_MAX (32u << 20)
#define SL_STORE_LISTENERS_MAX 4u
#define SL_STORE_BACKGROUND_MAX 256u /* objects that one commit removes in the background */
#define SL_STORE_EVENT_TTL_MS 3600000
#define SL_STORE_LATE_RETRY_MS 1000
/* Nesting of an object: a list or a table holds it some levels deeper, and has to be read again (api/json/json.h: 64). */
#define SL_STORE_DEPTH_MAX 60u
/* What the commit seals. */
#define SL_STORE_SEAL                                                                              \
    "sluice_sum((SELECT value FROM meta WHERE key = 'revision'),"                                  \
    " (SELECT value FROM meta WHERE key = 'sum'),"                                                 \
    " (SELECT value FROM meta WHERE key = 'identity'))"
#define SL_FINALIZER_FOREGROUND "foregroundDeletion"

/* SL_SQL(name, text): every statement, prepared once when the store opens. */
enum sl_sql {
#define SL_SQL(name, text) SL_SQL_##name,
#include "store/statements.def"
#undef SL_SQL
    SL_SQL_COUNT
};

/* The watch log: a ring of events with consecutive revisions. [first, first + durable_count) is
 * published or being published; what follows is staged. */
struct sl_store_entry {
    enum sl_watch_type type;
    enum sl_kind kind;
    uint64_t revision;
    char *text, *old; /* owned; old may be NULL */
    size_t text_size, old_size;
    struct sl_json *object; /* what text says, until it is published; owned */
};
struct sl_store_log {
    struct sl_store_entry *ring;
    size_t cap, head, count; /* cap is a power of two */
    size_t bytes;
    uint64_t floor; /* revision before the first entry: older watches are refused */
    uint64_t
        published; /* every push watch has got everything up to here, staged events too (ahead.c) */
    bool publishing;
};

struct sl_store_watcher {
    uint64_t id, since;
    enum sl_kind kind;
    sl_watch_fn *fn;
    void *context;
};
/* A watch whose list could not be read to its end: the list is tried again. */
struct sl_store_late {
    enum sl_kind kind;
    sl_watch_fn *fn;
    void *context;
};
struct sl_store_reply {
    sl_reply_fn *fn;
    void *context;
    struct sl_json *result; /* NULL when refused */
    struct sl_error error;
    bool unsure; /* something was staged before: a refusal may rest on it, and goes with it */
};

struct sl_store_note { /* of the directory's last user */
    int fd;            /* -1: there is none */
    char path[4096];
    bool open, valid, closed;
    uint64_t identity, told, stored;
};

struct sl_store {
    sqlite3 *db;
    sqlite3_stmt *sql[SL_SQL_COUNT];
    int lock_fd;
    uint64_t identity;
    uint64_t reserved, stored;       /* up to there revisions may be used; as in the files */
    struct sl_store_note note;       /* as it was found */
    int64_t kind_ids[SL_KIND_COUNT]; /* how the files number the kinds */
    uint64_t revision, durable;      /* with and without what is staged */
    bool in_batch;                   /* a transaction is open */
    bool in_commit;
    bool bookkeeping;       /* rows other than objects are staged */
    struct sl_error broken; /* the open batch was lost for this reason; code OK when it was not */
    struct sl_error damage; /* what was read is not what was written; code OK: all is well */
    sl_store_damage_fn *on_damage;
    void *damage_context;
    struct sl_error unread; /* the write under way could not read what it depends on */
    bool work_pending,
        work_blocked; /* background work: there may be some; it waits for a good commit */
    int64_t expiry_next_ms;
    uint64_t random;
    bool gate_pods, guard_queues, select_pods, leave_owners, guards; /* guards: guard.c */
    struct sl_buf text; /* of the object being written; kept, so that it need not grow again */
    struct sl_store_log log;
    struct sl_store_snapshots snapshots;
    struct sl_store_definition definitions[SL_KIND_DEFINED_MAX];
    struct sl_store_watcher *watchers; /* id 0: free */
    size_t watcher_count;
    uint64_t watch_id_last;
    struct sl_store_reply *replies;
    uint32_t reply_count, reply_cap;
    struct sl_store_entry *lost; /* staged, perhaps read, and lost: sl_events_tell_lost */
    size_t lost_count;
    struct sl_store_late *late;
    size_t late_count;
    int64_t late_next_ms;
    struct {
        sl_store_commit_fn *fn;
        void *context;
    } listeners[SL_STORE_LISTENERS_MAX];
    void (*wake)(void *context);
    void *wake_context;
    struct sl_store_ahead ahead;
};

/* --- db.c: the files and the open transaction ------------------------------------------------ */
/* Opens DIR/sluice.db, creating or checking it. Fills db, sql, kind_ids, lock_fd; on failure frees
 * nothing. */
enum sl_code sl_db_open(struct sl_store *s, const char *dir, struct sl_error *e);
void sl_db_close(struct sl_store *s);
enum sl_code sl_db_run_text(struct sl_store *s, const char *sql, const char *doing,
                            struct sl_error *e);
/* The first column of the only row. */
enum sl_code sl_db_read_int(struct sl_store *s, const char *sql, int64_t *out, struct sl_error *e);
/* The error of the last SQLite call, in words that help an operator. */
enum sl_code sl_db_fail(struct sl_store *s, const char *doing, struct sl_error *e);
/* Runs a statement that gives no rows, and resets it. */
enum sl_code sl_db_run(struct sl_store *s, enum sl_sql id, struct sl_error *e);
/* Is there a (next) row? When that cannot be read: false, and `unread` says so, which undoes the write
 * that asked: nothing may be taken for absent because the disk failed. */
bool sl_db_row(struct sl_store *s, enum sl_sql id);
void sl_db_bind_text(struct sl_store *s, enum sl_sql id, int at, const char *text);
void sl_db_bind_int(struct sl_store *s, enum sl_sql id, int at, int64_t n);
enum sl_code sl_db_begin(struct sl_store *s,
                         struct sl_error *e); /* opens the batch unless it is open */
void sl_db_rollback(struct sl_store *s);
bool sl_db_staged(const struct sl_store *s); /* is there anything in the batch? */
/* Did SQLite itself give up the open transaction (disk full and the like)? */
bool sl_db_lost(const struct sl_store *s);

/* --- fault.c: what SQLite's results mean ------------------------------------------------------ */
enum sl_fault {
    SL_FAULT_PASSES, /* perhaps: what it was needed for is refused, and the next one is tried */
    SL_FAULT_ROOM, /* the same, for want of room or memory, or because another process is in the way */
    SL_FAULT_DAMAGE /* the end */
};
enum sl_fault sl_fault_of(int result);
enum sl_code sl_db_fail_with(struct sl_store *s, int result, const char *doing, struct sl_error *e);
enum sl_code sl_db_damaged(struct sl_store *s, const char *what, struct sl_error *e); /* DAMAGED */

/* --- whole.c: checksums ------------------------------------------------------------------------ */
enum sl_code sl_whole_functions(struct sl_store *s, struct sl_error *e); /* of the statements */
enum sl_code sl_whole_check(struct sl_store *s, struct sl_error *e);     /* is it as written? */
/* As far as that can be said of a file without checksums. */
enum sl_code sl_whole_check_old(struct sl_store *s, struct sl_error *e);
enum sl_code sl_whole_begin(struct sl_store *s, struct sl_error *e); /* the sum of all rows */
/* That row's checksum is wrong. */
enum sl_code sl_whole_fail(struct sl_store *s, enum sl_kind kind, const char *ns, const char *name,
                           struct sl_error *e);

/* --- note.c: the last revision that was used --------------------------------------------------- */
void sl_note_read(struct sl_store *s, const char *dir); /* sets note.fd, also when there is none */
/* Sets the revision from which this store goes on, whatever happened to the database's file since the directory was last
 * used; `stored` is what it says itself. Notes that it is in use. made: it is a new one. */
void sl_note_open(struct sl_store *s, const char *dir, uint64_t stored, bool made, bool left_open);
void sl_note_reserve(struct sl_store *s);          /* before a revision is sent to a client */
void sl_note_close(struct sl_store *s, bool well); /* after the database was closed */

/* --- events.c -------------------------------------------------------------------------------- */
void sl_events_open(struct sl_store_log *l, uint64_t revision);
void sl_events_close(struct sl_store_log *l);
void sl_events_add(struct sl_store_log *l,
                   struct sl_store_entry entry); /* takes the texts and the object */
void sl_events_truncate(struct sl_store_log *l, uint64_t revision); /* forget what is later */
/* Forgets what is later than `revision` and was staged in a batch that is lost: a reader of the
 * staged state has seen what was never stored. */
void sl_events_lose(struct sl_store *s, uint64_t revision);
/* Tells push watches of such objects again, as they are; one that never came to be is DELETED. */
void sl_events_tell_lost(struct sl_store *s);
void sl_store_publish(struct sl_store *s); /* deliver up to s->durable to the push watches */

/* --- rows.c ---------------------------------------------------------------------------------- */
enum sl_code sl_rows_get(struct sl_store *s, enum sl_kind kind, const char *ns, const char *name,
                         struct sl_json **out,
                         struct sl_error *e); /* NOT_FOUND with Kubernetes' words */
bool sl_rows_has(struct sl_store *s, enum sl_kind kind, const char *ns, const char *name,
                 const char *uid);
/* One change: a revision of its own, put into the object, and its event. `old` is NULL for a new
 * object. */
enum sl_code sl_rows_put(struct sl_store *s, enum sl_kind kind, struct sl_json *object,
                         const struct sl_json *old, struct sl_error *e);
enum sl_code sl_rows_remove(struct sl_store *s, enum sl_kind kind, struct sl_json *object,
                            struct sl_error *e);
const char *sl_rows_resource(enum sl_kind kind,
                             char out[static 128]); /* "workloads.kueue.x-k8s.io" */
/* The kind behind a kind number of the files; SL_KIND_COUNT when this program does not know it. */
enum sl_kind sl_rows_kind(const struct sl_store *s, int64_t id);

/* --- registry.c, remove.c -------------------------------------------------------------------- */
struct sl_registry_call {
    struct sl_store *s;
    const struct sl_write *w;
    struct sl_json *result; /* the object as it will be; owned */
};
enum sl_code sl_registry_create(struct sl_registry_call *c, struct sl_error *e);
enum sl_code sl_registry_change(struct sl_registry_call *c,
                                struct sl_error *e); /* update and patch */
enum sl_code sl_registry_delete(struct sl_registry_call *c, struct sl_error *e);
/* Preconditions of a write on the stored object: uid and resourceVersion ("" or NULL = none). */
enum sl_code sl_registry_check(const struct sl_registry_call *c, const struct sl_json *old,
                               const char *uid, const char *resource_version, struct sl_error *e);
/* Fresh identity and status on create; on update what of `old` no client may change. */
void sl_prepare_create(struct sl_store *s, enum sl_kind kind, struct sl_json *object);
/* admit.c: what is done to jobs and pods that are new; others stay as they are. */
void sl_admit_object(struct sl_store *s, enum sl_kind kind, struct sl_json *object);
/* What is done to those that change: their pod templates keep the marks by which their pods are gated. */
void sl_admit_update(struct sl_store *s, enum sl_kind kind, struct sl_json *object);
/* INVALID, with causes: a job leaves its queue where there is a default one; a new one (old: NULL) labels its pods as another's. */
enum sl_code sl_admit_job_change(struct sl_store *s, enum sl_kind kind, const struct sl_json *job,
                                 const struct sl_json *old, struct sl_error *causes);
void sl_prepare_update(enum sl_kind kind, struct sl_json *object, const struct sl_json *old);
void sl_prepare_name(struct sl_store *s, struct sl_json *object); /* generateName */
/* Marks an object as being deleted; false when it was already. */
bool sl_prepare_deletion(enum sl_kind kind, struct sl_json *object);
void sl_prepare_drop_owner(struct sl_json *object, const char *uid);
/* With the list, when it was the last one. */
void sl_prepare_drop_finalizer(struct sl_json *object, const char *name);

/* --- collect.c ------------------------------------------------------------------------------- */
/* Stages up to SL_STORE_BACKGROUND_MAX removals. */
enum sl_code sl_collect_step(struct sl_store *s, struct sl_error *e);
#endif
