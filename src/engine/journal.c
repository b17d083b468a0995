/* SPDX-License-Identifier: Apache-2.0
 * SPDX-FileCopyrightText: The Sluice authors */

/* Writing the journal: one open file, records gathered in memory and written once a cycle. */
#include "engine/journal.h"
#include "base/check.h"
#include "base/clock.h"
#include "base/log.h"
#include "base/mem.h"
#include "engine/pack.h"
#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

struct sl_journal {
    char *dir; /* NULL = count only */
    int fd;
    uint64_t file_number;
    size_t file_size; /* what is known to be good in the open file */
    uint64_t sequence;
    struct sl_buf pending;
    uint64_t pending_count;
    uint64_t lost;
};

static void path_of(const struct sl_journal *j, uint64_t number, struct sl_buf *out)
{
    sl_buf_reset(out);
    sl_buf_print(out, "%s/journal-%" PRIu64 ".log", j->dir, number);
}

static bool parse_name(const char *name, uint64_t *number)
{
    char *end;
    if (strncmp(name, "journal-", 8) != 0 || name[8] < '0' || name[8] > '9') {
        return false;
    }
    errno = 0;
    unsigned long long n = strtoull(name + 8, &end, 10);
    if (errno != 0 || strcmp(end, ".log") != 0) {
        return false;
    }
    *number = n;
    return true;
}

/* The highest number in the directory (0 = no journal yet); files older than the newest KEEP are
 * removed. */
static enum sl_code find_newest(struct sl_journal *j, uint64_t *newest, struct sl_error *e)
{
    DIR *dir = opendir(j->dir);
    if (dir == NULL) {
        return sl_error_set(e, SL_CODE_INTERNAL, "cannot read the journal directory %s: %s", j->dir,
                            strerror(errno));
    }
    uint64_t number;
    *newest = 0;
    for (struct dirent *entry = readdir(dir); entry != NULL; entry = readdir(dir)) {
        if (parse_name(entry->d_name, &number) && number > *newest) {
            *newest = number;
        }
    }
    closedir(dir);
    return SL_CODE_OK;
}

static void remove_old(struct sl_journal *j)
{
    DIR *dir = opendir(j->dir);
    if (dir == NULL) {
        return;
    }
    struct sl_buf path = {0};
    uint64_t number;
    for (struct dirent *entry = readdir(dir); entry != NULL; entry = readdir(dir)) {
        if (parse_name(entry->d_name, &number) && number + SL_JOURNAL_KEEP <= j->file_number) {
            path_of(j, number, &path);
            (void)unlink(path.data); /* tried again at the next rotation */
        }
    }
    sl_buf_fini(&path);
    closedir(dir);
}

static bool write_all(int fd, const char *data, size_t len)
{
    while (len > 0) {
        ssize_t n = write(fd, data, len);
        if (n < 0 && errno == EINTR) {
            continue;
        }
        if (n <= 0) {
            return false;
        }
        data += n;
        len -= (size_t)n;
    }
    return true;
}

static bool write_header(struct sl_journal *j)
{
    struct sl_buf header = {0};
    sl_buf_add(&header, "SLUICEJ\n", 8);
    pack_u32(&header, SL_JOURNAL_VERSION);
    pack_u32(&header, 0);
    pack_u64(&header, j->sequence + 1);
    pack_i64(&header, sl_clock_now_ms());
    SL_ASSERT(header.len == SL_JOURNAL_HEADER_SIZE);
    bool ok = write_all(j->fd, header.data, header.len);
    j->file_size = SL_JOURNAL_HEADER_SIZE;
    sl_buf_fini(&header);
    return ok;
}

/* Begin file `number`; on failure the journal keeps what it had. */
static enum sl_code begin_file(struct sl_journal *j, uint64_t number, struct sl_error *e)
{
    struct sl_buf path = {0};
    path_of(j, number, &path);
    int old = j->fd;
    size_t old_size = j->file_size;
    j->fd = open(path.data, O_WRONLY | O_CREAT | O_TRUNC | O_APPEND | O_CLOEXEC, 0640);
    enum sl_code code = SL_CODE_OK;
    if (j->fd < 0 || !write_header(j)) {
        code = sl_error_set(e, SL_CODE_INTERNAL, "cannot write %s: %s", path.data, strerror(errno));
        if (j->fd >= 0) {
            close(j->fd);
            (void)unlink(path.data);
        }
        j->fd = old;
        j->file_size = old_size;
    } else {
        if (old >= 0) {
            close(old);
        }
        j->file_number = number;
        remove_old(j);
    }
    sl_buf_fini(&path);
    return code;
}

/* Find the end of the good part; *damaged says what follows it. */
static enum sl_code scan_file(struct sl_journal *j, const char *path, bool *damaged, bool *older,
                              struct sl_error *e)
{
    struct sl_journal_reader *reader = NULL;
    enum sl_code code = sl_journal_reader_open(path, &reader, e);
    if (code != SL_CODE_OK) {
        return code;
    }
    struct sl_journal_record record;
    enum sl_journal_end end;
    while ((end = sl_journal_reader_next(reader, &record)) == SL_JOURNAL_RECORD) {
        j->sequence = record.sequence;
    }
    j->file_size = sl_journal_reader_offset(reader);
    *damaged = end == SL_JOURNAL_DAMAGED;
    *older = j->file_size >= SL_JOURNAL_HEADER_SIZE &&
             sl_journal_reader_version(reader) < SL_JOURNAL_VERSION;
    sl_journal_reader_close(reader);
    return SL_CODE_OK;
}

/* Take up file `number` where its good part ends. */
static enum sl_code continue_file(struct sl_journal *j, uint64_t number, struct sl_error *e)
{
    struct sl_buf path = {0};
    struct stat st;
    bool damaged = false;
    bool older = false;
    path_of(j, number, &path);
    j->file_number = number;
    enum sl_code code = scan_file(j, path.data, &damaged, &older, e);
    if (code == SL_CODE_OK && stat(path.data, &st) != 0) {
        code = sl_error_set(e, SL_CODE_INTERNAL, "cannot read %s: %s", path.data, strerror(errno));
    }
    if (code == SL_CODE_OK) {
        size_t bad = (size_t)st.st_size - j->file_size;
        if (bad > 0 || damaged) {
            sl_log(SL_LOG_WARN,
                   damaged ? "journal damaged, a new file is begun" : "journal tail torn, cut off",
                   "file", path.data, "offset", sl_log_number((long long)j->file_size), "bytes",
                   sl_log_number((long long)bad), NULL);
        }
        if (damaged) {
            j->sequence +=
                bad / SL_JOURNAL_FRAME_SIZE; /* no number of a lost record is given out again */
        }
        if (damaged || older || j->file_size < SL_JOURNAL_HEADER_SIZE) {
            code = begin_file(j, damaged || older ? number + 1 : number, e);
        } else {
            j->fd = open(path.data, O_WRONLY | O_APPEND | O_CLOEXEC);
            if (j->fd < 0 || ftruncate(j->fd, (off_t)j->file_size) != 0) {
                code = sl_error_set(e, SL_CODE_INTERNAL, "cannot write %s: %s", path.data,
                                    strerror(errno));
            }
        }
    }
    sl_buf_fini(&path);
    return code;
}

enum sl_code sl_journal_open(const char *dir, struct sl_journal **out, struct sl_error *e)
{
    SL_PRE(out != NULL);
    struct sl_journal *j = sl_mem_new(1, sizeof *j);
    j->fd = -1;
    enum sl_code code = SL_CODE_OK;
    if (dir != NULL) {
        uint64_t newest = 0;
        j->dir = sl_mem_text(dir);
        if (mkdir(dir, 0750) != 0 && errno != EEXIST) {
            code = sl_error_set(e, SL_CODE_INTERNAL, "cannot make the journal directory %s: %s",
                                dir, strerror(errno));
        }
        if (code == SL_CODE_OK) {
            code = find_newest(j, &newest, e);
        }
        if (code == SL_CODE_OK) {
            code = newest == 0 ? begin_file(j, 1, e) : continue_file(j, newest, e);
        }
    }
    if (code != SL_CODE_OK) {
        sl_journal_close(j);
        return code;
    }
    *out = j;
    return SL_CODE_OK;
}

void sl_journal_close(struct sl_journal *j)
{
    if (j == NULL) {
        return;
    }
    if (j->fd >= 0) {
        (void)sl_journal_flush(j);
        close(j->fd);
    }
    sl_buf_fini(&j->pending);
    sl_mem_free(j->dir);
    sl_mem_free(j);
}

uint64_t sl_journal_append(struct sl_journal *j, enum sl_journal_type type, int64_t now_ms,
                           const struct sl_buf *payload)
{
    size_t len = payload == NULL ? 0 : payload->len;
    SL_PRE(len <= SL_JOURNAL_RECORD_MAX);
    j->sequence++;
    if (j->fd < 0) {
        return j->sequence;
    }
    size_t start = j->pending.len;
    pack_u32(&j->pending, (uint32_t)len);
    pack_u32(&j->pending, 0); /* the checksum, once the rest is there */
    pack_u64(&j->pending, j->sequence);
    pack_i64(&j->pending, now_ms);
    pack_u16(&j->pending, (uint16_t)type);
    if (len > 0) {
        sl_buf_add(&j->pending, payload->data, len);
    }
    uint32_t crc = sl_journal_crc32c(0, j->pending.data + start + 8, j->pending.len - start - 8);
    for (unsigned i = 0; i < 4; i++) {
        j->pending.data[start + 4 + i] = (char)(unsigned char)(crc >> (8u * i));
    }
    j->pending_count++;
    return j->sequence;
}

/* Nothing of a refused write may stay: half a record would make all that follows unreadable. */
static void drop_pending(struct sl_journal *j, int why)
{
    if (j->lost == 0) {
        sl_log(SL_LOG_ERROR, "journal cannot be written, records are dropped", "directory", j->dir,
               "error", strerror(why), NULL);
    }
    j->lost += j->pending_count;
    if (ftruncate(j->fd, (off_t)j->file_size) != 0) {
        sl_log(SL_LOG_ERROR, "journal cannot be cut back and is given up", "directory", j->dir,
               NULL);
        close(j->fd);
        j->fd = -1;
    }
}

bool sl_journal_flush(struct sl_journal *j)
{
    if (j->fd < 0 || j->pending.len == 0) {
        return j->fd >= 0 || j->dir == NULL;
    }
    bool ok = write_all(j->fd, j->pending.data, j->pending.len);
    if (ok) {
        j->file_size += j->pending.len;
    } else {
        drop_pending(j, errno);
    }
    sl_buf_reset(&j->pending);
    j->pending_count = 0;
    if (ok && j->file_size >= SL_JOURNAL_FILE_MAX) {
        struct sl_error e = {0};
        if (begin_file(j, j->file_number + 1, &e) != SL_CODE_OK) {
            sl_log(SL_LOG_WARN, "journal not rotated, tried again later", "error", e.text, NULL);
        }
    }
    return ok;
}

uint64_t sl_journal_sequence(const struct sl_journal *j)
{
    return j->sequence;
}

uint64_t sl_journal_lost(const struct sl_journal *j)
{
    return j->lost;
}
