/* SPDX-License-Identifier: Apache-2.0
 * SPDX-FileCopyrightText: The Sluice authors */

/* What the store has told must be there when it comes back: the state after the last commit that went well, or after
 * one that failed or was under way when the process died. While syncs lie a power cut may lose commits from the end,
 * and what comes back is a state that once was, to the letter. */
#include "base/fnv1a.h"
#include "disk.h"
#include "store/internal.h"
#include <string.h>

#define CHECKPOINT_PAGES 1000 /* as SQLite has it */
#define STATES_MAX 250u       /* lies that go on for longer end: the disk has written everything */

static struct {
    struct {
        uint64_t revision, sum; /* 0 = not known */
    } states[STATES_MAX];       /* what may come back, oldest first; the last is what was told */
    unsigned count;
    bool near;   /* it dies soon: look well at every commit */
    bool unsure; /* a commit failed since: its state may come back as well */
} recall;

static void add_row(void *context, const char *text, size_t n)
{
    uint64_t *sum = context;
    *sum = sl_fnv1a(*sum, text, n);
}

/* Of every object that there is. */
static uint64_t sum_of(struct sim *s)
{
    struct sl_error e = {0};
    uint64_t sum = SL_FNV1A_BASIS;
    bool spared = sim_disk_spare(true);
    for (int kind = 0; kind < (int)sl_kind_end(); kind++) {
        struct sl_store_list q = {.kind = (enum sl_kind)kind, .ns = ""};
        if (sl_store_list_text(s->store, &q, add_row, &sum, NULL, NULL, &e) != SL_CODE_OK) {
            sim_story_violation("objects cannot be listed: %s", e.text);
        }
    }
    (void)sim_disk_spare(spared);
    return sum;
}

/* As it is in the files: the store goes on later after a crash. */
static uint64_t stored_revision(struct sim *s)
{
    sqlite3_stmt *q = NULL;
    uint64_t revision = 0;
    bool spared = sim_disk_spare(true);
    if (sqlite3_prepare_v2(s->store->db, "SELECT value FROM meta WHERE key = 'revision'", -1, &q,
                           NULL) != SQLITE_OK ||
        sqlite3_step(q) != SQLITE_ROW) {
        sim_story_violation("there is no revision");
    }
    revision = (uint64_t)sqlite3_column_int64(q, 0);
    (void)sqlite3_finalize(q);
    (void)sim_disk_spare(spared);
    return revision;
}

void sim_recall_begin(struct sim *s)
{
    recall.states[0].revision = stored_revision(s);
    recall.states[0].sum = sl_db_staged(s->store) ? 0 : sum_of(s);
    recall.count = 1;
    recall.near = true;
}

/* Right after a commit: nobody has been told, so nothing is staged yet. */
static int on_log(void *context, sqlite3 *db, const char *name, int pages)
{
    struct sim *s = context;
    bool lies = sim_disk_lies() != SIM_LIE_NONE;
    if (lies && recall.count == STATES_MAX) {
        sim_disk_lie(SIM_LIE_NONE);
        lies = false;
    }
    recall.unsure = recall.unsure && lies;
    recall.count = lies ? recall.count + 1 : 1;
    recall.states[recall.count - 1].revision = stored_revision(s);
    recall.states[recall.count - 1].sum = lies || recall.near ? sum_of(s) : 0;
    if (pages >= CHECKPOINT_PAGES) { /* this hook stands where SQLite's own does that */
        (void)sqlite3_wal_checkpoint_v2(db, name, SQLITE_CHECKPOINT_PASSIVE, NULL, NULL);
    }
    return SQLITE_OK;
}

void sim_recall_watch(struct sim *s)
{
    (void)sqlite3_wal_hook(s->store->db, on_log, s);
}

void sim_recall_failed(void)
{
    recall.unsure = true;
}

static bool answers(struct sim *s, const char *question, const char *answer)
{
    sqlite3_stmt *q = NULL;
    bool spared = sim_disk_spare(true);
    bool so = sqlite3_prepare_v2(s->store->db, question, -1, &q, NULL) == SQLITE_OK &&
              sqlite3_step(q) == SQLITE_ROW &&
              strcmp((const char *)sqlite3_column_text(q, 0), answer) == 0;
    (void)sqlite3_finalize(q);
    (void)sim_disk_spare(spared);
    return so;
}

/* Is the database itself whole? What the store asks where it has a reason to (src/store/db.c). */
bool sim_recall_sound(struct sim *s)
{
    return answers(s, "PRAGMA integrity_check(1)", "ok") &&
           answers(s,
                   "SELECT count(*) FROM objects WHERE rv > (SELECT value FROM meta WHERE key = "
                   "'revision')",
                   "0");
}

/* To the letter what was told last, where that is known. */
void sim_recall_compare(struct sim *s)
{
    unsigned last = recall.count - 1;
    if (!recall.unsure && recall.states[last].sum != 0 &&
        (recall.states[last].revision != stored_revision(s) ||
         recall.states[last].sum != sum_of(s))) {
        sim_story_violation("a database that is not what was written is served");
    }
}

static void check_state(struct sim *s, unsigned i)
{
    if (!recall.unsure && recall.states[i].sum != 0 && sum_of(s) != recall.states[i].sum) {
        sim_story_violation("revision %llu came back with other objects than it had",
                            (unsigned long long)recall.states[i].revision);
    }
    sim_tally_add(SIM_TALLY_COMMITS_LOST, recall.count - 1 - i);
}

void sim_recall_check(struct sim *s, bool lost)
{
    uint64_t revision = stored_revision(s);
    unsigned first = lost ? 0 : recall.count - 1;
    recall.near = false;
    for (unsigned i = recall.count; i-- > first;) {
        if (recall.states[i].revision == revision) {
            check_state(s, i);
            return;
        }
    }
    if (revision < recall.states[first].revision || !recall.unsure) {
        sim_story_violation("revision %llu came back; %llu was told, no less than %llu is safe",
                            (unsigned long long)revision,
                            (unsigned long long)recall.states[recall.count - 1].revision,
                            (unsigned long long)recall.states[first].revision);
    }
}
