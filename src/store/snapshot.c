/* SPDX-License-Identifier: Apache-2.0
 * SPDX-FileCopyrightText: The Sluice authors */

/* Lists of the past. Once the first page of a list was read at a revision, that is pinned for a while: whatever is changed
 * or deleted then leaves its state of the pinned revision in a table in memory, from which the next pages are read. It is
 * part of the open transaction, so that a lost batch takes its copies along. Nothing is copied while nothing is pinned. */
#include "store/internal.h"

#include "base/check.h"
#include "base/clock.h"
#include "base/mem.h"

#define KEPT_MS 300000 /* as etcd's revisions live under an API server */
#define PINS_MAX 1024u
#define BYTES_MAX (64u << 20)
#define PAGE_BYTES 4096
#define CHECK_EVERY 64u

enum sl_code sl_snapshot_open(struct sl_store *s, struct sl_error *e)
{
    SL_PRE(s != NULL);
    s->snapshots.bytes_max = BYTES_MAX;
    return sl_db_run_text(
        s,
        "CREATE TEMP TABLE past(kind INTEGER NOT NULL, ns TEXT NOT NULL, name TEXT NOT NULL,"
        " rv INTEGER NOT NULL, until INTEGER NOT NULL, body TEXT NOT NULL);"
        "CREATE UNIQUE INDEX temp.past_key ON past(kind, ns, name, until);"
        "CREATE INDEX temp.past_until ON past(until);"
        "CREATE TEMP TABLE counts(kind INTEGER NOT NULL, ns TEXT NOT NULL, n INTEGER NOT NULL,"
        " PRIMARY KEY(kind, ns)) WITHOUT ROWID;"
        "INSERT INTO counts SELECT kind, ns, count(*) FROM objects GROUP BY kind, ns;"
        "CREATE TEMP TRIGGER counts_in AFTER INSERT ON main.objects BEGIN"
        " INSERT INTO counts VALUES (new.kind, new.ns, 1)"
        " ON CONFLICT(kind, ns) DO UPDATE SET n = n + 1; END;"
        "CREATE TEMP TRIGGER counts_out AFTER DELETE ON main.objects BEGIN"
        " UPDATE counts SET n = n - 1 WHERE kind = old.kind AND ns = old.ns;"
        " DELETE FROM counts WHERE kind = old.kind AND ns = old.ns AND n = 0; END;",
        "count the objects", e);
}

void sl_snapshot_close(struct sl_store *s)
{
    SL_PRE(s != NULL);
    sl_mem_free(s->snapshots.pins);
}

void sl_store_set_past_max(struct sl_store *s, uint64_t bytes)
{
    SL_PRE(s != NULL);
    s->snapshots.bytes_max = bytes;
}

static struct sl_store_pin *find(const struct sl_store *s, uint64_t revision)
{
    for (size_t i = 0; i < s->snapshots.count; i++) {
        if (s->snapshots.pins[i].revision == revision) {
            return &s->snapshots.pins[i];
        }
    }
    return NULL;
}

static uint64_t oldest(const struct sl_store *s)
{
    uint64_t found = INT64_MAX;
    for (size_t i = 0; i < s->snapshots.count; i++) {
        uint64_t revision = s->snapshots.pins[i].revision;
        found = revision < found ? revision : found;
    }
    return found;
}

static uint64_t newest(const struct sl_store *s)
{
    uint64_t found = 0;
    for (size_t i = 0; i < s->snapshots.count; i++) {
        uint64_t revision = s->snapshots.pins[i].revision;
        found = revision > found ? revision : found;
    }
    return found;
}

static void unpin(struct sl_store *s, struct sl_store_pin *pin)
{
    *pin = s->snapshots.pins[--s->snapshots.count];
}

/* What no list can ask for any more. That a batch which is lost brings it back does no harm. */
static enum sl_code drop_unseen(struct sl_store *s, struct sl_error *e)
{
    sl_db_bind_int(s, SL_SQL_DROP_PAST, 1, (int64_t)oldest(s));
    return sl_db_run(s, SL_SQL_DROP_PAST, e);
}

static enum sl_code expire(struct sl_store *s, struct sl_error *e)
{
    int64_t now_ms = sl_clock_now_ms();
    size_t before = s->snapshots.count;
    for (size_t i = before; i > 0; i--) {
        if (s->snapshots.pins[i - 1].until_ms <= now_ms) {
            unpin(s, &s->snapshots.pins[i - 1]);
        }
    }
    return s->snapshots.count == before ? SL_CODE_OK : drop_unseen(s, e);
}

static uint64_t read_number(struct sl_store *s, enum sl_sql id)
{
    int64_t n = sl_db_row(s, id) ? sqlite3_column_int64(s->sql[id], 0) : 0;
    sqlite3_reset(s->sql[id]);
    return (uint64_t)n;
}

static bool is_too_large(struct sl_store *s)
{
    uint64_t pages = read_number(s, SL_SQL_PAST_PAGES), unused = read_number(s, SL_SQL_PAST_FREE);
    return pages > unused && (pages - unused) * PAGE_BYTES > s->snapshots.bytes_max;
}

/* Memory has a limit: then the oldest lists end. */
static enum sl_code free_memory(struct sl_store *s, struct sl_error *e)
{
    enum sl_code code = SL_CODE_OK;
    while (code == SL_CODE_OK && s->snapshots.count > 0 && is_too_large(s)) {
        unpin(s, find(s, oldest(s)));
        code = drop_unseen(s, e);
    }
    return code;
}

enum sl_code sl_snapshot_keep(struct sl_store *s, enum sl_kind kind, const char *ns,
                              const char *name, struct sl_error *e)
{
    SL_PRE(s->in_batch);
    if (s->snapshots.count == 0) {
        return SL_CODE_OK;
    }
    enum sl_code code = expire(s, e);
    if (code == SL_CODE_OK && s->snapshots.kept++ % CHECK_EVERY == 0) {
        code = free_memory(s, e);
    }
    if (code != SL_CODE_OK || s->snapshots.count == 0) {
        return code;
    }
    sl_db_bind_int(s, SL_SQL_KEEP_PAST, 1, s->kind_ids[kind]);
    sl_db_bind_text(s, SL_SQL_KEEP_PAST, 2, ns);
    sl_db_bind_text(s, SL_SQL_KEEP_PAST, 3, name);
    sl_db_bind_int(s, SL_SQL_KEEP_PAST, 4, (int64_t)s->revision + 1);
    sl_db_bind_int(s, SL_SQL_KEEP_PAST, 5, (int64_t)newest(s));
    return sl_db_run(s, SL_SQL_KEEP_PAST, e);
}

enum sl_code sl_snapshot_pin(struct sl_store *s, uint64_t revision, struct sl_error *e)
{
    SL_PRE(s != NULL);
    enum sl_code code = expire(s, e);
    struct sl_store_pin *pin = find(s, revision);
    if (pin == NULL && revision != s->revision) {
        return SL_CODE_OK; /* it has ended: the next page will say so */
    }
    if (pin == NULL && s->snapshots.count == PINS_MAX) {
        unpin(s, find(s, oldest(s)));
    }
    if (pin == NULL) {
        s->snapshots.pins = sl_mem_grow(s->snapshots.pins, PINS_MAX, sizeof *s->snapshots.pins);
        pin = &s->snapshots.pins[s->snapshots.count++];
    }
    if (revision == s->revision) {
        *pin = (struct sl_store_pin){revision, sl_clock_now_ms() + KEPT_MS};
    }
    return code;
}

void sl_snapshot_lose(struct sl_store *s, uint64_t revision)
{
    SL_PRE(s != NULL);
    for (size_t i = s->snapshots.count; i > 0; i--) {
        if (s->snapshots.pins[i - 1].revision > revision) {
            unpin(s, &s->snapshots.pins[i - 1]);
        }
    }
}

bool sl_snapshot_has(const struct sl_store *s, uint64_t revision)
{
    const struct sl_store_pin *pin = find(s, revision);
    return pin != NULL && pin->until_ms > sl_clock_now_ms();
}

int64_t sl_snapshot_count(struct sl_store *s, enum sl_kind kind, const char *ns)
{
    SL_PRE(kind < SL_KIND_COUNT);
    enum sl_sql id = ns[0] == '\0' ? SL_SQL_COUNT_ALL : SL_SQL_COUNT_NS;
    sl_db_bind_int(s, id, 1, s->kind_ids[kind]);
    if (ns[0] != '\0') {
        sl_db_bind_text(s, id, 2, ns);
    }
    int64_t count = sl_db_row(s, id) ? sqlite3_column_int64(s->sql[id], 0) : -1;
    sqlite3_reset(s->sql[id]);
    sqlite3_clear_bindings(s->sql[id]);
    return count;
}
