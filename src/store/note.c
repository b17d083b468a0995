/* SPDX-License-Identifier: Apache-2.0
 * SPDX-FileCopyrightText: The Sluice authors */

/* A note beside the database, DIR/revision: which database it belongs to, and up to where revisions
 * may have been sent to clients. A database that was restored from a backup does not know the
 * revisions it has used since. A revision that is used twice would mean two states, and a client
 * that has seen the first would never learn of the second. So where note and database differ,
 * revisions continue above both. */
#include "store/internal.h"
#include "base/check.h"

#include <fcntl.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

#include "base/clock.h"
#include "base/fnv1a.h"
#include "base/log.h"

#define NOTE_SIZE 96
#define LEAP (1u << 20)
/* Without a note: more than all writes since 1970 could have used. */
#define WRITES_PER_MS 16

static void path_of(const char *dir, char out[static 4096])
{
    (void)snprintf(out, 4096, "%s/revision", dir);
}

static void print(char out[static NOTE_SIZE + 1], uint64_t identity, uint64_t told, uint64_t stored,
                  bool closed)
{
    int n = snprintf(out, NOTE_SIZE + 1, "sluice 1 %016llx %020llu %020llu %s ",
                     (unsigned long long)identity, (unsigned long long)told,
                     (unsigned long long)stored, closed ? "closed" : "opened");
    uint64_t sum = sl_fnv1a(SL_FNV1A_BASIS, out, (size_t)n);
    n += snprintf(out + n, (size_t)(NOTE_SIZE + 1 - n), "%016llx", (unsigned long long)sum);
    memset(out + n, ' ', (size_t)(NOTE_SIZE - n));
    out[NOTE_SIZE - 1] = '\n';
}

void sl_note_read(struct sl_store *s, const char *dir)
{
    SL_PRE(s != NULL);
    char path[4096], text[NOTE_SIZE + 1] = "", again[NOTE_SIZE + 1], how[8];
    unsigned long long identity, told, stored;
    struct sl_store_note *note = &s->note;
    path_of(dir, path);
    note->fd = open(path, O_RDWR | O_NOFOLLOW | O_NONBLOCK | O_CLOEXEC);
    if (note->fd < 0 || read(note->fd, text, NOTE_SIZE) != NOTE_SIZE ||
        sscanf(text, "sluice 1 %16llx %20llu %20llu %7s", &identity, &told, &stored, how) != 4) {
        return;
    }
    note->identity = identity;
    note->told = told;
    note->stored = stored;
    note->closed = strcmp(how, "closed") == 0;
    print(again, identity, told, stored, note->closed);
    note->valid = memcmp(text, again, NOTE_SIZE) == 0;
}

/* In its place, as far as it has one: that needs no room. A note that cannot be written goes, and so says nothing wrong. */
static void write_note(struct sl_store *s, uint64_t told, bool closed)
{
    char text[NOTE_SIZE + 1];
    int fd = s->note.fd;
    print(text, s->identity, told, s->stored, closed);
    if (fd < 0 || lseek(fd, 0, SEEK_SET) != 0 || write(fd, text, NOTE_SIZE) != NOTE_SIZE ||
        fsync(fd) != 0) {
        sl_log(SL_LOG_WARN, "the last revision cannot be noted, the next start leaps", "file",
               s->note.path, NULL);
        (void)unlink(s->note.path);
    }
}

static void make_note(struct sl_store *s, const char *dir)
{
    path_of(dir, s->note.path);
    if (!s->note.valid) { /* whatever it is */
        if (s->note.fd >= 0) {
            (void)close(s->note.fd);
        }
        (void)unlink(s->note.path);
        s->note.fd = open(s->note.path, O_RDWR | O_CREAT | O_EXCL | O_CLOEXEC, 0600);
    }
}

static uint64_t later(uint64_t a, uint64_t b)
{
    return a > b ? a : b;
}

/* From where revisions go on. */
static uint64_t first_of(const struct sl_store *s, uint64_t stored, bool made, bool left_open)
{
    const struct sl_store_note *note = &s->note;
    bool ours = note->valid && note->identity == s->identity;
    if (ours && note->closed && note->stored == stored && !left_open) {
        return note->told;
    }
    if (made && !note->valid) {
        return stored;
    }
    uint64_t first = later(stored, note->valid ? note->told : 0) + LEAP;
    int64_t now_ms = sl_clock_now_ms();
    return ours || now_ms < 0 ? first : later(first, (uint64_t)now_ms * WRITES_PER_MS);
}

void sl_note_open(struct sl_store *s, const char *dir, uint64_t stored, bool made, bool left_open)
{
    uint64_t first = first_of(s, stored, made, left_open);
    if (first >= stored + LEAP && !left_open && first != s->note.told) {
        sl_log(SL_LOG_WARN,
               "the database is not known to be as this directory had it last, revisions leap",
               "from", sl_log_number((long long)stored), "to", sl_log_number((long long)first),
               NULL);
    }
    s->revision = s->durable = first;
    s->reserved = first + LEAP;
    s->stored = stored;
    make_note(s, dir);
    write_note(s, s->reserved, false);
    s->note.open = true;
}

void sl_note_reserve(struct sl_store *s)
{
    SL_PRE(s != NULL);
    if (s->revision >= s->reserved) {
        s->reserved = s->revision + LEAP;
        write_note(s, s->reserved, false);
    }
}

void sl_note_close(struct sl_store *s, bool well)
{
    SL_PRE(s != NULL);
    if (s->note.open && well) {
        write_note(s, s->durable, true);
    }
    if (s->note.fd >= 0) {
        (void)close(s->note.fd);
    }
}
