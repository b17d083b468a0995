/* SPDX-License-Identifier: Apache-2.0
 * SPDX-FileCopyrightText: The Sluice authors */

/* The disk under the store: SQLite's files in memory, what was synced apart from what was only written. It can be
 * full, fail, lie about syncs, and lose at a power cut whatever was not synced. disk_vfs.c shows it to SQLite,
 * disk_journal.c lets the journal's files share its fate. */
#ifndef SL_TESTS_SIM_DISK_H
#define SL_TESTS_SIM_DISK_H
#include "sim.h"

struct sim_image {
    char *data;
    size_t size, cap;
};
/* Something that was written and not synced. */
struct sim_written {
    uint64_t at; /* which operation of the disk it was */
    size_t offset, len;
    char *data; /* NULL: the file was cut to `offset` */
};
struct sim_file {
    char name[512];
    bool linked; /* its name leads to it */
    uint64_t made_at,
        gone_at; /* its name, when no sync has made that last; 0 = long ago, or not at all */
    unsigned opens;
    struct sim_image now, synced;
    struct sim_written *written;
    size_t written_count, written_cap;
    void **shared; /* the write-ahead log's index */
    size_t shared_count;
};

/* --- for sim ------------------------------------------------------------------------------------ */
/* SQLite and the journal of this process use this disk from now on. */
void sim_disk_mount(uint64_t seed);

enum sim_trouble {
    SIM_TROUBLE_NONE,
    SIM_TROUBLE_FULL,  /* nothing grows */
    SIM_TROUBLE_WRITE, /* fails, with a part of it written */
    SIM_TROUBLE_SYNC,  /* fails, and what was written may never be synced any more */
    SIM_TROUBLE_READ
};
/* The next `count` operations of that sort fail with that chance; pages that SQLite keeps need no reads. */
void sim_disk_trouble(enum sim_trouble trouble, unsigned percent, unsigned count);
bool sim_disk_troubled(void); /* did something fail since it was last asked, or is it dead? */
/* What the simulator itself looks at does not fail; returns what it was before. */
bool sim_disk_spare(bool spare);

enum sim_lie {
    SIM_LIE_NONE,
    SIM_LIE_ORDERED, /* a power cut loses everything after some instant: the database is as it was */
    SIM_LIE_ANY      /* it loses whatever it likes: the database may be damaged */
};
/* Syncs do nothing any more. Back to NONE everything written is synced. */
void sim_disk_lie(enum sim_lie lie);
enum sim_lie sim_disk_lies(void);

/* The process dies with the operation of that number, 0 = now: nothing that it does has an effect any more. */
void sim_disk_die_after(unsigned operations);
bool sim_disk_is_dead(void);
/* The next process. What the dead one wrote is there. */
void sim_disk_revive(void);
/* While no process lives: what was not synced is lost, all of it or in part, down to sectors. */
void sim_disk_power_cut(struct sim_chance *c);
/* Put the files back as they were when the disk began to lie: what an operator does with a damaged database. */
void sim_disk_restore_backup(void);
/* While no process lives: the database's file is not what was written to it: bits, bytes, a page of zeros, two in each
 * other's place, or one as it was when this was called before. Back to what was written. */
bool sim_disk_rot(const char *database, struct sim_chance *c); /* false: there is none */
void sim_disk_unrot(const char *database);
void sim_disk_calm(void); /* no trouble, no lies; all is synced */

/* --- for disk_vfs.c and disk_journal.c: results are SQLite's ------------------------------------- */
struct sim_file *sim_disk_find(const char *name); /* NULL = there is none */
struct sim_file *sim_disk_make(const char *name);
void sim_disk_reset(struct sim_file *f, const char *data, size_t size); /* written and synced */
int sim_disk_read(struct sim_file *f, void *out, size_t n, size_t offset);
int sim_disk_write(struct sim_file *f, const void *data, size_t n, size_t offset);
int sim_disk_truncate(struct sim_file *f, size_t size);
int sim_disk_sync(struct sim_file *f);
int sim_disk_unlink(struct sim_file *f, bool sync);
void sim_disk_close(struct sim_file *f);
/* Does a write of that many bytes go well? *n becomes less when only a part is written. */
bool sim_disk_admits(enum sim_trouble sort, bool grows, size_t *n);
uint64_t sim_disk_random(void);
void sim_disk_register(void); /* disk_vfs.c: as SQLite's own */
/* disk_journal.c: what a power cut does to the newest journal in `dir`, which nobody syncs. */
void sim_disk_cut_journal(const char *dir, struct sim_chance *c);
#endif
