/* SPDX-License-Identifier: Apache-2.0
 * SPDX-FileCopyrightText: The Sluice authors */

/* Files in memory. Reads see `now`; what a power cut cannot take is `synced`; what lies between the two is the list
 * of writes, so that any part of it can be lost. One disk a process, as SQLite's files have one home. */
#include "disk.h"
#include "base/mem.h"
#include <sqlite3.h>
#include <stdio.h>
#include <string.h>

#define FILES_MAX 16u
#define SECTOR 512u

static struct {
    struct sim_file *files[FILES_MAX];
    struct sim_file *backup[FILES_MAX]; /* `now` only */
    uint64_t clock;                     /* counts operations */
    struct sim_chance chance;
    enum sim_trouble trouble;
    unsigned percent, count;
    enum sim_lie lie;
    uint64_t lies_since;
    bool failed, spare, dead, mortal;
    unsigned life; /* operations until it dies */
} disk;

/* --- images ------------------------------------------------------------------------------------- */

static void image_resize(struct sim_image *i, size_t size)
{
    if (size > i->cap) {
        i->cap = size < 65536 ? 65536 : size * 2;
        i->data = sl_mem_grow(i->data, i->cap, 1);
    }
    if (size > i->size) {
        memset(i->data + i->size, 0, size - i->size);
    }
    i->size = size;
}

static void image_put(struct sim_image *i, size_t offset, const char *data, size_t n)
{
    if (n == 0) {
        return;
    }
    if (offset + n > i->size) {
        image_resize(i, offset + n);
    }
    memcpy(i->data + offset, data, n);
}

static void image_copy(struct sim_image *to, const struct sim_image *from)
{
    image_resize(to, from->size);
    if (from->size > 0) {
        memcpy(to->data, from->data, from->size);
    }
}

/* --- what is written and not synced ------------------------------------------------------------- */

static void note(struct sim_file *f, size_t offset, const void *data, size_t n)
{
    if (f->written_count == f->written_cap) {
        f->written_cap = f->written_cap == 0 ? 64 : f->written_cap * 2;
        f->written = sl_mem_grow(f->written, f->written_cap, sizeof *f->written);
    }
    struct sim_written *w = &f->written[f->written_count++];
    *w = (struct sim_written){.at = ++disk.clock, .offset = offset, .len = n};
    if (data != NULL) {
        w->data = sl_mem_new(n + 1, 1);
        memcpy(w->data, data, n);
    }
}

static void forget_written(struct sim_file *f)
{
    for (size_t i = 0; i < f->written_count; i++) {
        sl_mem_free(f->written[i].data);
    }
    f->written_count = 0;
}

static void apply(struct sim_file *f, const struct sim_written *w, size_t from, size_t n)
{
    if (w->data == NULL) {
        image_resize(&f->synced, w->offset);
    } else {
        image_put(&f->synced, w->offset + from, w->data + from, n);
    }
}

static void apply_all(struct sim_file *f)
{
    for (size_t i = 0; i < f->written_count; i++) {
        apply(f, &f->written[i], 0, f->written[i].len);
    }
    forget_written(f);
}

/* --- files -------------------------------------------------------------------------------------- */

struct sim_file *sim_disk_find(const char *name)
{
    for (size_t i = 0; i < FILES_MAX; i++) {
        if (disk.files[i] != NULL && disk.files[i]->linked &&
            strcmp(disk.files[i]->name, name) == 0) {
            return disk.files[i];
        }
    }
    return NULL;
}

void sim_disk_reset(struct sim_file *f, const char *data, size_t size)
{
    forget_written(f);
    image_resize(&f->now, 0);
    image_put(&f->now, 0, data, size);
    image_copy(&f->synced, &f->now);
}

struct sim_file *sim_disk_make(const char *name)
{
    for (size_t i = 0; i < FILES_MAX; i++) {
        if (disk.files[i] == NULL) {
            struct sim_file *f = sl_mem_new(1, sizeof *f);
            (void)snprintf(f->name, sizeof f->name, "%s", name);
            f->linked = true;
            f->made_at = ++disk.clock;
            disk.files[i] = f;
            return f;
        }
    }
    sim_story_violation("the store has more than %u files", FILES_MAX);
}

static void file_free(struct sim_file *f)
{
    forget_written(f);
    for (size_t i = 0; i < f->shared_count; i++) {
        sl_mem_free(f->shared[i]);
    }
    sl_mem_free(f->shared);
    sl_mem_free(f->written);
    sl_mem_free(f->now.data);
    sl_mem_free(f->synced.data);
    sl_mem_free(f);
}

/* The names are as they are for good; what nobody can get at any more goes. */
static void keep_names(void)
{
    for (size_t i = 0; i < FILES_MAX; i++) {
        struct sim_file *f = disk.files[i];
        if (f == NULL) {
            continue;
        }
        f->made_at = 0;
        if (!f->linked && f->opens == 0) {
            file_free(f);
            disk.files[i] = NULL;
        }
    }
}

static void sync_all(void)
{
    for (size_t i = 0; i < FILES_MAX; i++) {
        if (disk.files[i] != NULL) {
            apply_all(disk.files[i]);
            image_copy(&disk.files[i]->synced, &disk.files[i]->now);
        }
    }
    keep_names();
}

void sim_disk_close(struct sim_file *f)
{
    f->opens--;
    for (size_t i = 0; i < f->shared_count; i++) {
        sl_mem_free(f->shared[i]);
        f->shared[i] = NULL;
    }
    f->shared_count = 0;
}

/* --- operations --------------------------------------------------------------------------------- */

static bool meets_trouble(enum sim_trouble sort, bool grows)
{
    bool meant = disk.trouble == sort ||
                 (disk.trouble == SIM_TROUBLE_FULL && sort == SIM_TROUBLE_WRITE && grows);
    return meant && disk.count > 0 && !disk.spare && sim_chance_of(&disk.chance, disk.percent);
}

bool sim_disk_admits(enum sim_trouble sort, bool grows, size_t *n)
{
    bool dies = false;
    if (sort != SIM_TROUBLE_READ) {
        dies = !disk.dead && disk.mortal && disk.life-- == 0;
        disk.dead = disk.dead || dies;
        if (disk.dead && !dies) {
            *n = 0;
            return false;
        }
    }
    if (!dies && !meets_trouble(sort, grows)) {
        return true;
    }
    if (!dies) {
        disk.count--;
        sim_tally(SIM_TALLY_DISK_ERRORS);
    }
    disk.failed = true;
    *n = sim_chance_below(&disk.chance, (uint32_t)*n + 1);
    return false;
}

int sim_disk_read(struct sim_file *f, void *out, size_t n, size_t offset)
{
    size_t any = 0;
    if (!sim_disk_admits(SIM_TROUBLE_READ, false, &any)) {
        return SQLITE_IOERR_READ;
    }
    size_t there = offset >= f->now.size ? 0 : f->now.size - offset;
    there = there < n ? there : n;
    if (there > 0) {
        memcpy(out, f->now.data + offset, there);
    }
    memset((char *)out + there, 0, n - there);
    return there == n ? SQLITE_OK : SQLITE_IOERR_SHORT_READ;
}

int sim_disk_write(struct sim_file *f, const void *data, size_t n, size_t offset)
{
    size_t part = n;
    bool whole = sim_disk_admits(SIM_TROUBLE_WRITE, offset + n > f->now.size, &part);
    if (part > 0) {
        image_put(&f->now, offset, data, part);
        note(f, offset, data, part);
    }
    return whole ? SQLITE_OK : disk.trouble == SIM_TROUBLE_FULL ? SQLITE_FULL : SQLITE_IOERR_WRITE;
}

int sim_disk_truncate(struct sim_file *f, size_t size)
{
    size_t any = 0;
    if (!sim_disk_admits(SIM_TROUBLE_WRITE, false, &any)) {
        return SQLITE_IOERR_TRUNCATE;
    }
    image_resize(&f->now, size);
    note(f, size, NULL, 0);
    return SQLITE_OK;
}

int sim_disk_sync(struct sim_file *f)
{
    size_t any = 0;
    if (!sim_disk_admits(SIM_TROUBLE_SYNC, false, &any)) {
        if (!disk.dead && disk.lie == SIM_LIE_NONE && sim_chance_of(&disk.chance, 50)) {
            forget_written(
                f); /* the system takes these pages for clean: no later sync writes them */
        }
        return SQLITE_IOERR_FSYNC;
    }
    if (disk.lie == SIM_LIE_NONE) {
        apply_all(f);
        keep_names();
    } else {
        sim_tally(SIM_TALLY_SYNCS_LIED);
    }
    return SQLITE_OK;
}

int sim_disk_unlink(struct sim_file *f, bool sync)
{
    size_t any = 0;
    if (!sim_disk_admits(SIM_TROUBLE_WRITE, false, &any)) {
        return SQLITE_IOERR_DELETE;
    }
    f->linked = false;
    f->gone_at = ++disk.clock;
    if (sync && disk.lie == SIM_LIE_NONE) {
        keep_names();
    }
    return SQLITE_OK;
}

/* --- power cuts --------------------------------------------------------------------------------- */

struct cut {
    struct sim_chance *chance;
    uint64_t until;   /* ordered: the operation that is torn; all later ones are lost */
    unsigned percent; /* else: how many stay */
};

/* Of a torn write some sectors are there: the first ones, or any. */
static void tear(struct sim_file *f, const struct sim_written *w, struct sim_chance *c)
{
    bool any = sim_chance_of(c, 50);
    size_t prefix = sim_chance_below(c, (uint32_t)w->len + 1);
    for (size_t from = 0; from < w->len;) {
        size_t end = (w->offset + from) / SECTOR * SECTOR + SECTOR - w->offset;
        end = end < w->len ? end : w->len;
        if (any ? sim_chance_of(c, 50) : end <= prefix) {
            apply(f, w, from, end - from);
        }
        from = end;
    }
}

static void cut_file(struct sim_file *f, const struct cut *cut)
{
    for (size_t i = 0; i < f->written_count; i++) {
        const struct sim_written *w = &f->written[i];
        bool kept = disk.lie == SIM_LIE_ORDERED ? w->at < cut->until
                                                : sim_chance_of(cut->chance, cut->percent);
        bool torn =
            disk.lie == SIM_LIE_ORDERED ? w->at == cut->until : sim_chance_of(cut->chance, 10);
        if (torn && w->data != NULL) {
            tear(f, w, cut->chance);
        } else if (kept) {
            apply(f, w, 0, w->len);
        }
    }
    forget_written(f);
    image_copy(&f->now, &f->synced);
}

/* A name that was made or taken away since may be as it was. */
static void cut_name(struct sim_file *f, const struct cut *cut)
{
    if (disk.lie == SIM_LIE_ORDERED) {
        f->linked = f->made_at < cut->until && (f->linked || f->gone_at > cut->until);
    } else if (f->linked && f->made_at > 0 && f->synced.size == 0) {
        f->linked = sim_chance_of(cut->chance, 50);
    } else if (!f->linked && sim_disk_find(f->name) == NULL) {
        f->linked = sim_chance_of(cut->chance, 50);
    }
}

void sim_disk_power_cut(struct sim_chance *c)
{
    static const unsigned percents[] = {0, 20, 50, 80, 100};
    struct cut cut = {.chance = c, .percent = percents[sim_chance_below(c, 5)]};
    cut.until = disk.lies_since + sim_chance_below(c, (uint32_t)(disk.clock - disk.lies_since) + 1);
    for (size_t i = 0; i < FILES_MAX; i++) {
        if (disk.files[i] != NULL) {
            cut_name(disk.files[i], &cut);
            cut_file(disk.files[i], &cut);
        }
    }
    keep_names();
    disk.lies_since = disk.clock;
    sim_story_tell("disk", "the power fails: %s",
                   disk.lie == SIM_LIE_NONE      ? "what was not synced is lost"
                   : disk.lie == SIM_LIE_ORDERED ? "syncs had lied, the end is lost"
                                                 : "syncs had lied, anything is lost");
}

/* --- the backup --------------------------------------------------------------------------------- */

static void backup(void)
{
    for (size_t i = 0; i < FILES_MAX; i++) {
        if (disk.backup[i] != NULL) {
            file_free(disk.backup[i]);
            disk.backup[i] = NULL;
        }
        if (disk.files[i] != NULL && disk.files[i]->linked) {
            disk.backup[i] = sl_mem_new(1, sizeof *disk.backup[i]);
            memcpy(disk.backup[i]->name, disk.files[i]->name, sizeof disk.files[i]->name);
            image_copy(&disk.backup[i]->now, &disk.files[i]->now);
        }
    }
}

void sim_disk_restore_backup(void)
{
    for (size_t i = 0; i < FILES_MAX; i++) {
        if (disk.files[i] != NULL) {
            file_free(disk.files[i]);
            disk.files[i] = NULL;
        }
    }
    for (size_t i = 0; i < FILES_MAX; i++) {
        if (disk.backup[i] != NULL) {
            image_copy(&sim_disk_make(disk.backup[i]->name)->now, &disk.backup[i]->now);
        }
    }
    sync_all();
    sim_tally(SIM_TALLY_BACKUPS_RESTORED);
    sim_story_tell("disk", "a backup of the database is put back");
}

/* --- what the simulator asks for ---------------------------------------------------------------- */

void sim_disk_trouble(enum sim_trouble trouble, unsigned percent, unsigned count)
{
    disk.trouble = trouble;
    disk.percent = percent;
    disk.count = count;
}

bool sim_disk_troubled(void)
{
    bool failed = disk.failed || disk.dead;
    disk.failed = false;
    return failed;
}

bool sim_disk_spare(bool spare)
{
    bool was = disk.spare;
    disk.spare = spare;
    return was;
}

void sim_disk_lie(enum sim_lie lie)
{
    sync_all();
    disk.lie = lie;
    disk.lies_since = disk.clock;
    if (lie != SIM_LIE_NONE) {
        backup();
    }
}

enum sim_lie sim_disk_lies(void)
{
    return disk.lie;
}

void sim_disk_die_after(unsigned operations)
{
    disk.mortal = true;
    disk.life = operations;
    disk.dead = operations == 0;
}

bool sim_disk_is_dead(void)
{
    return disk.dead;
}

void sim_disk_revive(void)
{
    disk.mortal = disk.dead = disk.failed = false;
}

void sim_disk_calm(void)
{
    sim_disk_trouble(SIM_TROUBLE_NONE, 0, 0);
    sim_disk_lie(SIM_LIE_NONE);
}

uint64_t sim_disk_random(void)
{
    return sim_chance_next(&disk.chance);
}

void sim_disk_mount(uint64_t seed)
{
    disk.chance.state = seed;
    sim_disk_register();
}
