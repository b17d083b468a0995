/* SPDX-License-Identifier: Apache-2.0
 * SPDX-FileCopyrightText: The Sluice authors */

/* Reading a journal, file by file: header, frames, checksums, and telling a torn tail (the process
 * died while writing) from damage (bytes changed later). Records are lent without a copy. */
#include "engine/journal/journal.h"
#include "base/check.h"
#include "base/mem.h"
#include "engine/journal/journal_files.h"
#include "engine/journal/pack.h"
#include <errno.h>
#include <fcntl.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>

struct file {
    unsigned char *data;
    size_t size, capacity;
    size_t offset;
    uint64_t last_sequence;
    uint32_t version; /* 0: there is no whole header */
    bool loaded;
    bool ended; /* the rest of it cannot be read, and that was said */
};

struct sl_journal_reader {
    char **paths;
    size_t count, at;
    struct file file; /* the one at `at` */
};

#define CRC_STRIDE 8u

/* tables[k][b]: what the byte b does to the checksum when k more bytes come after it. */
static uint32_t tables[CRC_STRIDE][256];

static void make_tables(void)
{
    for (uint32_t i = 0; i < 256; i++) {
        uint32_t c = i;
        for (int bit = 0; bit < 8; bit++) {
            c = (c & 1u) != 0 ? (c >> 1) ^ 0x82f63b78u : c >> 1;
        }
        tables[0][i] = c;
    }
    for (uint32_t k = 1; k < CRC_STRIDE; k++) {
        for (uint32_t i = 0; i < 256; i++) {
            uint32_t c = tables[k - 1][i];
            tables[k][i] = (c >> 8) ^ tables[0][c & 0xffu];
        }
    }
}

/* Eight bytes at a time: a start checks a whole file, and restoring writes as much again. */
static uint32_t add_stride(uint32_t crc, const unsigned char *p)
{
    uint32_t sum = 0;
    for (unsigned i = 0; i < CRC_STRIDE; i++) {
        uint32_t of_crc = i < 4 ? (crc >> (8u * i)) & 0xffu : 0;
        sum ^= tables[CRC_STRIDE - 1 - i][p[i] ^ of_crc];
    }
    return sum;
}

uint32_t sl_journal_crc32c(uint32_t crc, const void *data, size_t len)
{
    const unsigned char *p = data;
    if (tables[0][1] == 0) {
        make_tables();
    }
    crc = ~crc;
    for (; len >= CRC_STRIDE; len -= CRC_STRIDE, p += CRC_STRIDE) {
        crc = add_stride(crc, p);
    }
    for (; len > 0; len--, p++) {
        crc = (crc >> 8) ^ tables[0][(crc ^ *p) & 0xffu];
    }
    return ~crc;
}

static enum sl_code check_header(struct file *f, const char *path, struct sl_error *e)
{
    if (f->size < SL_JOURNAL_HEADER_SIZE) {
        return SL_CODE_OK; /* the process died while beginning the file: all of it is a torn tail */
    }
    size_t begun = 0;
    while (begun < 8 && f->data[begun] == (unsigned char)"SLUICEJ\n"[begun]) {
        begun++;
    }
    if (memcmp(f->data + begun, "\0\0\0\0\0\0\0\0", 8 - begun) != 0) {
        return sl_error_set(e, SL_CODE_INTERNAL, "%s is not a Sluice journal", path);
    }
    struct unpack u = {f->data + 8, f->data + SL_JOURNAL_HEADER_SIZE, false};
    f->version =
        begun < 8 ? 0 : unpack_u32(&u); /* 0: its room was reserved, the rest not written */
    if (f->version > SL_JOURNAL_VERSION) {
        return sl_error_set(e, SL_CODE_INTERNAL,
                            "%s has journal version %u, this program reads versions up to %u", path,
                            f->version, SL_JOURNAL_VERSION);
    }
    return SL_CODE_OK;
}

static bool read_all(int fd, unsigned char *to, size_t size, size_t *read_bytes)
{
    *read_bytes = 0;
    while (*read_bytes < size) {
        ssize_t n = read(fd, to + *read_bytes, size - *read_bytes);
        if (n < 0 && errno == EINTR) {
            continue;
        }
        if (n <= 0) {
            return n == 0; /* it has become shorter */
        }
        *read_bytes += (size_t)n;
    }
    return true;
}

/* Into memory of its own, which goes back at once: were the file mapped, a block that the disk cannot read any more would
 * be the process's end. */
static enum sl_code load(struct file *f, int fd, const char *path, size_t most, struct sl_error *e)
{
    struct stat st;
    if (fstat(fd, &st) != 0) {
        return sl_error_set(e, SL_CODE_INTERNAL, "cannot read %s: %s", path, strerror(errno));
    }
    if (!S_ISREG(st.st_mode)) {
        return sl_error_set(e, SL_CODE_INTERNAL, "%s is not a file", path);
    }
    if (st.st_size == 0) {
        return SL_CODE_OK;
    }
    f->capacity = (size_t)st.st_size < most ? (size_t)st.st_size : most;
    void *data =
        mmap(NULL, f->capacity, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
    if (data == MAP_FAILED) {
        return sl_error_set(e, SL_CODE_INTERNAL, "no memory for %s: %s", path, strerror(errno));
    }
    f->data = data;
    return read_all(fd, f->data, f->capacity, &f->size)
               ? SL_CODE_OK
               : sl_error_set(e, SL_CODE_INTERNAL, "cannot read %s: %s", path, strerror(errno));
}

static void unload(struct sl_journal_reader *r)
{
    if (r->file.data != NULL) {
        munmap(r->file.data, r->file.capacity);
    }
    r->file = (struct file){0};
}

/* The next file, as many bytes of it; its header is checked. */
static enum sl_code load_file(struct sl_journal_reader *r, size_t most, struct sl_error *e)
{
    const char *path = r->paths[r->at];
    unload(r);
    r->file.loaded = true;
    int fd = open(path, O_RDONLY | O_NONBLOCK | O_CLOEXEC);
    if (fd < 0) {
        return sl_error_set(e, SL_CODE_INTERNAL, "cannot read %s: %s", path, strerror(errno));
    }
    enum sl_code code = load(&r->file, fd, path, most, e);
    close(fd);
    code = code == SL_CODE_OK ? check_header(&r->file, path, e) : code;
    r->file.offset = r->file.version == 0 ? 0 : SL_JOURNAL_HEADER_SIZE;
    return code;
}

static void add_path(struct sl_journal_reader *r, char *path)
{
    r->paths = sl_mem_grow(r->paths, r->count + 1, sizeof *r->paths);
    r->paths[r->count++] = path;
}

static enum sl_code list_paths(struct sl_journal_reader *r, const char *path, struct sl_error *e)
{
    struct stat st;
    if (stat(path, &st) != 0) {
        return sl_error_set(e, SL_CODE_NOT_FOUND, "cannot read %s: %s", path, strerror(errno));
    }
    if (!S_ISDIR(st.st_mode)) {
        add_path(r, sl_mem_text(path));
        return SL_CODE_OK;
    }
    struct sl_journal_file *files;
    size_t count;
    enum sl_code code = sl_journal_list(path, &files, &count, e);
    for (size_t i = 0; i < count; i++) {
        struct sl_buf name = {0};
        if (!files[i].aside) {
            sl_journal_path(path, files[i].number, &name);
            add_path(r, sl_buf_take(&name));
        }
    }
    sl_mem_free(files);
    return code == SL_CODE_OK && r->count == 0
               ? sl_error_set(e, SL_CODE_NOT_FOUND, "%s has no journal-<n>.log", path)
               : code;
}

/* Of the headers alone: each file is read when it has its turn. */
static enum sl_code check_versions(struct sl_journal_reader *r, struct sl_error *e)
{
    for (r->at = 0; r->at < r->count; r->at++) {
        enum sl_code code = load_file(r, SL_JOURNAL_HEADER_SIZE, e);
        if (code != SL_CODE_OK) {
            return code;
        }
        if (r->file.version > 0 && r->file.version < SL_JOURNAL_VERSION) {
            return sl_error_set(e, SL_CODE_INTERNAL,
                                "%s has journal version %u, this program plays version %u",
                                r->paths[r->at], r->file.version, SL_JOURNAL_VERSION);
        }
    }
    unload(r);
    r->at = 0;
    return SL_CODE_OK;
}

static enum sl_code opened(struct sl_journal_reader *r, enum sl_code code,
                           struct sl_journal_reader **out)
{
    if (code == SL_CODE_OK) {
        *out = r;
    } else {
        sl_journal_reader_close(r);
    }
    return code;
}

enum sl_code sl_journal_reader_open(const char *path, struct sl_journal_reader **out,
                                    struct sl_error *e)
{
    SL_PRE(path != NULL && out != NULL);
    struct sl_journal_reader *r = sl_mem_new(1, sizeof *r);
    add_path(r, sl_mem_text(path));
    return opened(r, load_file(r, SIZE_MAX, e), out);
}

enum sl_code sl_journal_reader_open_all(const char *path, struct sl_journal_reader **out,
                                        struct sl_error *e)
{
    SL_PRE(path != NULL && out != NULL);
    struct sl_journal_reader *r = sl_mem_new(1, sizeof *r);
    enum sl_code code = list_paths(r, path, e);
    return opened(r, code == SL_CODE_OK ? check_versions(r, e) : code, out);
}

/* A bad record that reaches the end of the file, or is followed by nothing but zeros (a file system
 * that had reserved the room), is what a crash leaves. Anything else behind it means that the
 * record was good once. */
static enum sl_journal_end judge_bad(const struct file *f, size_t claimed_end)
{
    if (claimed_end >= f->size) {
        return SL_JOURNAL_TORN;
    }
    for (size_t i = f->offset; i < f->size; i++) {
        if (f->data[i] != 0) {
            return SL_JOURNAL_DAMAGED;
        }
    }
    return SL_JOURNAL_TORN;
}

static enum sl_journal_end next_in_file(struct file *f, struct sl_journal_record *out)
{
    size_t left = f->size - f->offset;
    if (left == 0 && f->version != 0) {
        return SL_JOURNAL_END;
    }
    if (left < SL_JOURNAL_FRAME_SIZE || f->size < SL_JOURNAL_HEADER_SIZE) {
        return SL_JOURNAL_TORN;
    }
    if (f->version == 0) {
        return judge_bad(f, f->offset);
    }
    const unsigned char *start = f->data + f->offset;
    struct unpack u = {start, f->data + f->size, false};
    uint32_t len = unpack_u32(&u);
    uint32_t crc = unpack_u32(&u);
    struct sl_journal_record record;
    record.sequence = unpack_u64(&u);
    record.time_ms = unpack_i64(&u);
    record.type = unpack_u16(&u);
    record.payload = u.at;
    record.len = len;
    size_t end = f->offset + SL_JOURNAL_FRAME_SIZE + len;
    if (len > SL_JOURNAL_RECORD_MAX || end > f->size) {
        return judge_bad(f, len > SL_JOURNAL_RECORD_MAX ? f->offset : end);
    }
    if (sl_journal_crc32c(0, start + 8, SL_JOURNAL_FRAME_SIZE - 8 + len) != crc ||
        record.sequence <= f->last_sequence) {
        return judge_bad(f, end);
    }
    f->last_sequence = record.sequence;
    f->offset = end;
    *out = record;
    return SL_JOURNAL_RECORD;
}

enum sl_journal_end sl_journal_reader_next(struct sl_journal_reader *r,
                                           struct sl_journal_record *out)
{
    SL_PRE(r != NULL);
    while (true) {
        enum sl_journal_end end = SL_JOURNAL_END;
        if (!r->file.loaded && load_file(r, SIZE_MAX, NULL) != SL_CODE_OK) {
            end = SL_JOURNAL_DAMAGED; /* it was there a moment ago */
        } else if (!r->file.ended) {
            end = next_in_file(&r->file, out);
        }
        r->file.ended = end != SL_JOURNAL_RECORD;
        if (end != SL_JOURNAL_END || r->at + 1 == r->count) {
            return end;
        }
        unload(r);
        r->at++;
    }
}

uint32_t sl_journal_reader_version(const struct sl_journal_reader *r)
{
    SL_PRE(r != NULL);
    return r->file.version;
}

size_t sl_journal_reader_offset(const struct sl_journal_reader *r)
{
    SL_PRE(r != NULL);
    return r->file.offset;
}

const char *sl_journal_reader_path(const struct sl_journal_reader *r)
{
    SL_PRE(r != NULL);
    return r->paths[r->at];
}

void sl_journal_reader_close(struct sl_journal_reader *r)
{
    if (r == NULL) {
        return;
    }
    unload(r);
    for (size_t i = 0; i < r->count; i++) {
        sl_mem_free(r->paths[i]);
    }
    sl_mem_free(r->paths);
    sl_mem_free(r);
}
