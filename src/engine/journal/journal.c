/* SPDX-License-Identifier: Apache-2.0
 * SPDX-FileCopyrightText: The Sluice authors */

/* Writing the journal: one open file, records gathered in memory and written once a cycle; and the
 * change to the next file, which begins with an image or is not begun. */
#include "engine/journal/journal.h"
#include "base/check.h"
#include "base/clock.h"
#include "base/log.h"
#include "base/mem.h"
#include "base/write_all.h"
#include "engine/journal/journal_files.h"
#include "engine/journal/pack.h"
#include <errno.h>
#include <fcntl.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#define IMAGE_RETRY_MS 60000

/* The file that is written to. */
struct target {
    int fd;
    uint64_t number;
    size_t size;        /* what is known to be good */
    size_t image_bytes; /* of that: images */
};

struct sl_journal {
    char *dir; /* NULL = count only */
    struct target file;
    size_t limit;
    bool gap; /* records were lost since the last image */
    uint64_t sequence;
    struct sl_buf pending;
    uint64_t pending_count;
    uint64_t lost;
    bool in_image, image_failed, in_new_file;
    struct target before; /* the image, and its number */
    uint64_t sequence_before;
    int64_t image_not_before_ms;
};

static bool write_header(struct sl_journal *j)
{
    struct sl_buf header = {0};
    sl_buf_add(&header, "SLUICEJ\n", 8);
    pack_u32(&header, SL_JOURNAL_VERSION);
    pack_u32(&header, 0);
    pack_u64(&header, j->sequence + 1);
    pack_i64(&header, sl_clock_now_ms());
    SL_ASSERT(header.len == SL_JOURNAL_HEADER_SIZE);
    bool ok = sl_write_all(j->file.fd, header.data, header.len);
    sl_buf_fini(&header);
    return ok;
}

/* Begin file `number`, the one before stays open; on failure the journal keeps what it had. */
static enum sl_code open_file(struct sl_journal *j, uint64_t number, struct sl_error *e)
{
    struct sl_buf path = {0};
    struct target old = j->file;
    enum sl_code code = SL_CODE_OK;
    sl_journal_path(j->dir, number, &path);
    j->file = (struct target){.number = number, .size = SL_JOURNAL_HEADER_SIZE};
    j->file.fd =
        open(path.data, O_WRONLY | O_CREAT | O_TRUNC | O_APPEND | O_NOFOLLOW | O_CLOEXEC, 0600);
    if (j->file.fd < 0 || !write_header(j)) {
        code = sl_error_set(e, SL_CODE_INTERNAL, "cannot write %s: %s", path.data, strerror(errno));
        if (j->file.fd >= 0) {
            close(j->file.fd);
            (void)unlink(path.data);
        }
        j->file = old;
    }
    sl_buf_fini(&path);
    return code;
}

static enum sl_code begin_file(struct sl_journal *j, uint64_t number, struct sl_error *e)
{
    int old = j->file.fd;
    enum sl_code code = open_file(j, number, e);
    if (code == SL_CODE_OK) {
        if (old >= 0) {
            close(old);
        }
        sl_journal_remove_old(j->dir, j->file.number);
    }
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
        if (record.type == SL_JOURNAL_IMAGE) {
            j->file.image_bytes += SL_JOURNAL_FRAME_SIZE + record.len;
        }
    }
    j->file.size = sl_journal_reader_offset(reader);
    *damaged = end == SL_JOURNAL_DAMAGED;
    *older = j->file.size >= SL_JOURNAL_HEADER_SIZE &&
             sl_journal_reader_version(reader) < SL_JOURNAL_VERSION;
    sl_journal_reader_close(reader);
    return SL_CODE_OK;
}

/* Not the file's own fault, and another one would fare no better. */
static bool is_of_the_system(int why)
{
    return why == EMFILE || why == ENFILE || why == ENOMEM || why == ENOSPC || why == EDQUOT ||
           why == EROFS;
}

/* Whatever has a journal's name: nothing is waited for, and no link is followed. */
static enum sl_code open_found(struct sl_journal *j, const char *path, struct stat *st, bool *bad,
                               struct sl_error *e)
{
    j->file.fd = open(path, O_RDWR | O_APPEND | O_NOFOLLOW | O_NONBLOCK | O_CLOEXEC);
    int why = errno;
    *bad = j->file.fd >= 0 || !is_of_the_system(why);
    if (j->file.fd < 0) {
        return sl_error_set(e, SL_CODE_INTERNAL, "cannot open %s: %s", path, strerror(why));
    }
    if (fstat(j->file.fd, st) != 0 || !S_ISREG(st->st_mode)) {
        return sl_error_set(e, SL_CODE_INTERNAL, "%s is not a file", path);
    }
    (void)fchmod(j->file.fd, 0600); /* older versions let others read it */
    return SL_CODE_OK;
}

static void drop_file(struct sl_journal *j)
{
    if (j->file.fd >= 0) {
        close(j->file.fd);
    }
    j->file.fd = -1;
}

/* Behind the good part of file `number`, in it or in the next one. */
static enum sl_code go_on_behind(struct sl_journal *j, const char *path, size_t bad, bool damaged,
                                 bool older, struct sl_error *e)
{
    if (bad > 0 || damaged) {
        sl_log(SL_LOG_WARN,
               damaged ? "journal damaged, a new file is begun" : "journal tail torn, cut off",
               "file", path, "offset", sl_log_number((long long)j->file.size), "bytes",
               sl_log_number((long long)bad), NULL);
    }
    if (damaged) {
        j->sequence +=
            bad / SL_JOURNAL_FRAME_SIZE; /* no number of a lost record is given out again */
    }
    if (damaged || older || j->file.size < SL_JOURNAL_HEADER_SIZE) {
        return begin_file(j, damaged || older ? j->file.number + 1 : j->file.number, e);
    }
    return ftruncate(j->file.fd, (off_t)j->file.size) == 0
               ? SL_CODE_OK
               : sl_error_set(e, SL_CODE_INTERNAL, "cannot write %s: %s", path, strerror(errno));
}

/* Take up file `number` where its good part ends. *bad: that file cannot be gone on with, by nobody. */
static enum sl_code continue_file(struct sl_journal *j, uint64_t number, bool *bad,
                                  struct sl_error *e)
{
    struct sl_buf path = {0};
    struct stat st = {0};
    bool damaged = false;
    bool older = false;
    sl_journal_path(j->dir, number, &path);
    j->file = (struct target){.fd = -1, .number = number};
    enum sl_code code = open_found(j, path.data, &st, bad, e);
    code = code == SL_CODE_OK ? scan_file(j, path.data, &damaged, &older, e) : code;
    if (code == SL_CODE_OK) {
        *bad = false;
        code = go_on_behind(j, path.data, (size_t)st.st_size - j->file.size, damaged, older, e);
    } else {
        j->sequence += (size_t)st.st_size / SL_JOURNAL_FRAME_SIZE;
    }
    if (code != SL_CODE_OK) {
        drop_file(j);
    }
    sl_buf_fini(&path);
    return code;
}

/* On with the newest file that one can go on with, the others set aside; or with a new one. */
static enum sl_code find_file(struct sl_journal *j, struct sl_error *e)
{
    uint64_t newest = 0;
    uint64_t lost = 0; /* sequence numbers */
    enum sl_code code = sl_journal_newest(j->dir, &newest, e);
    while (code == SL_CODE_OK) {
        bool bad = false;
        bool aside = false;
        j->sequence = 0;
        code = newest == 0 ? begin_file(j, 1, e) : continue_file(j, newest, &bad, e);
        if (code == SL_CODE_OK || !bad) {
            break;
        }
        lost += j->sequence;
        aside = sl_journal_set_aside(j->dir, newest, e->text);
        code = aside ? sl_journal_newest(j->dir, &newest, e) : begin_file(j, newest + 1, e);
        if (!aside) {
            break;
        }
    }
    j->sequence += lost;
    return code;
}

static enum sl_code make_dir(const char *dir, struct sl_error *e)
{
    struct stat st;
    if (mkdir(dir, 0700) == 0 || (errno == EEXIST && stat(dir, &st) == 0 && S_ISDIR(st.st_mode))) {
        return SL_CODE_OK;
    }
    int why = errno == EEXIST ? ENOTDIR : errno;
    return sl_error_set(e, why == ENOTDIR || why == ENOENT ? SL_CODE_BAD_REQUEST : SL_CODE_INTERNAL,
                        "cannot make the journal directory %s: %s", dir, strerror(why));
}

enum sl_code sl_journal_open(const char *dir, struct sl_journal **out, struct sl_error *e)
{
    SL_PRE(out != NULL);
    struct sl_error why = {0};
    struct sl_journal *j = sl_mem_new(1, sizeof *j);
    j->file.fd = -1;
    j->limit = SL_JOURNAL_FILE_MAX;
    enum sl_code code = SL_CODE_OK;
    if (dir != NULL) {
        j->dir = sl_mem_text(dir);
        code = make_dir(dir, &why);
        if (code == SL_CODE_BAD_REQUEST) {
            sl_journal_close(j);
            return sl_error_set(e, code, "%s", why.text);
        }
        code = code == SL_CODE_OK ? find_file(j, &why) : code;
    }
    if (code != SL_CODE_OK) {
        sl_log(SL_LOG_ERROR, "no journal is kept for now, tried again later", "reason", why.text,
               NULL);
    }
    *out = j;
    return SL_CODE_OK;
}

void sl_journal_close(struct sl_journal *j)
{
    if (j == NULL) {
        return;
    }
    if (j->file.fd >= 0) {
        SL_PRE(!j->in_image);
        (void)sl_journal_flush(j);
        close(j->file.fd);
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
    if (j->file.fd < 0) {
        j->lost += j->dir != NULL;
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

void sl_journal_limit(struct sl_journal *j, size_t bytes)
{
    SL_PRE(bytes > 0);
    j->limit = bytes;
}

/* Nothing of a refused write may stay: half a record would make all that follows unreadable. */
static void cut_back(struct sl_journal *j)
{
    if (ftruncate(j->file.fd, (off_t)j->file.size) != 0) {
        sl_log(SL_LOG_ERROR, "journal cannot be cut back, another file is begun later", "directory",
               j->dir, NULL);
        drop_file(j);
    }
}

static void drop_pending(struct sl_journal *j, int why)
{
    if (j->lost == 0) {
        sl_log(SL_LOG_ERROR, "journal cannot be written, records are dropped", "directory", j->dir,
               "error", strerror(why), NULL);
    }
    j->lost += j->pending_count;
    j->gap = true;
    cut_back(j);
}

bool sl_journal_flush(struct sl_journal *j)
{
    if (j->file.fd < 0 || j->pending.len == 0) {
        return true;
    }
    bool ok = !j->image_failed && sl_write_all(j->file.fd, j->pending.data, j->pending.len);
    if (ok) {
        j->file.size += j->pending.len;
    } else if (j->in_image) {
        j->image_failed = true;
    } else {
        drop_pending(j, errno);
    }
    sl_buf_reset(&j->pending);
    j->pending_count = 0;
    return ok;
}

/* --- images ------------------------------------------------------------------------------------ */

/* As much again as its images at least, however small the limit is. */
static bool is_full(const struct sl_journal *j)
{
    size_t records = j->file.size - SL_JOURNAL_HEADER_SIZE - j->file.image_bytes;
    return records >= j->limit && records >= j->file.image_bytes;
}

static bool is_without_file(const struct sl_journal *j)
{
    return j->file.fd < 0 && j->dir != NULL;
}

bool sl_journal_wants_image(const struct sl_journal *j, int64_t now_ms)
{
    return (is_without_file(j) || (j->file.fd >= 0 && (j->gap || is_full(j)))) &&
           now_ms >= j->image_not_before_ms;
}

/* Behind all that are there. */
static enum sl_code begin_again(struct sl_journal *j, struct sl_error *e)
{
    uint64_t newest = 0;
    enum sl_code code = make_dir(j->dir, e);
    code = code == SL_CODE_OK ? sl_journal_newest(j->dir, &newest, e) : code;
    return code == SL_CODE_OK ? open_file(j, newest + 1, e) : code;
}

enum sl_code sl_journal_begin_image(struct sl_journal *j, int64_t now_ms, struct sl_error *e)
{
    SL_PRE((j->file.fd >= 0 || is_without_file(j)) && !j->in_image && j->pending.len == 0);
    enum sl_code code = SL_CODE_OK;
    j->before = j->file;
    j->sequence_before = j->sequence;
    j->image_not_before_ms = now_ms + IMAGE_RETRY_MS; /* unless it succeeds */
    j->in_new_file = is_without_file(j) || is_full(j);
    if (is_without_file(j)) {
        code = begin_again(j, e);
    } else if (j->in_new_file) {
        code = open_file(j, j->file.number + 1, e);
    }
    j->in_image = code == SL_CODE_OK;
    return code;
}

static void give_new_file_up(struct sl_journal *j)
{
    struct sl_buf path = {0};
    sl_journal_path(j->dir, j->file.number, &path);
    close(j->file.fd);
    (void)unlink(path.data);
    sl_buf_fini(&path);
}

/* The file before has a successor. */
static void leave_before(struct sl_journal *j)
{
    if (j->before.fd >= 0) {
        close(j->before.fd);
    }
    sl_journal_remove_old(j->dir, j->file.number);
}

bool sl_journal_end_image(struct sl_journal *j)
{
    SL_PRE(j->in_image);
    bool ok = sl_journal_flush(j) && !j->image_failed;
    j->in_image = false;
    j->image_failed = false;
    if (ok) {
        j->file.image_bytes +=
            j->file.size - (j->in_new_file ? SL_JOURNAL_HEADER_SIZE : j->before.size);
        j->gap = false;
        j->image_not_before_ms = INT64_MIN;
        if (j->in_new_file) {
            leave_before(j);
        }
        return true;
    }
    if (j->in_new_file) {
        give_new_file_up(j);
    }
    j->file = j->before;
    j->sequence = j->sequence_before;
    if (!j->in_new_file) {
        cut_back(j);
    }
    return false;
}

size_t sl_journal_image_bytes(const struct sl_journal *j)
{
    SL_PRE(j != NULL);
    return j->file.image_bytes;
}

uint64_t sl_journal_sequence(const struct sl_journal *j)
{
    SL_PRE(j != NULL);
    return j->sequence;
}

uint64_t sl_journal_lost(const struct sl_journal *j)
{
    SL_PRE(j != NULL);
    return j->lost;
}
