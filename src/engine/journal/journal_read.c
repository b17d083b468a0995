/* SPDX-License-Identifier: Apache-2.0
 * SPDX-FileCopyrightText: The Sluice authors */

/* Reading a journal file: header, frames, checksums, and telling a torn tail (the process died
 * while writing) from damage (bytes changed later). Records are lent without a copy. */
#include "engine/journal/journal.h"
#include "base/check.h"
#include "base/mem.h"
#include "engine/journal/pack.h"
#include <errno.h>
#include <fcntl.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>

struct sl_journal_reader {
    unsigned char *data;
    size_t size, capacity;
    size_t offset;
    uint64_t last_sequence;
    uint32_t version; /* 0: there is no whole header */
};

#define CRC_STRIDE 8u

/* tables[k][b]: what the byte b does to the checksum when k more bytes follow it. */
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

static enum sl_code check_header(struct sl_journal_reader *r, const char *path, struct sl_error *e)
{
    if (r->size < SL_JOURNAL_HEADER_SIZE) {
        return SL_CODE_OK; /* the process died while beginning the file: all of it is a torn tail */
    }
    size_t begun = 0;
    while (begun < 8 && r->data[begun] == (unsigned char)"SLUICEJ\n"[begun]) {
        begun++;
    }
    if (memcmp(r->data + begun, "\0\0\0\0\0\0\0\0", 8 - begun) != 0) {
        return sl_error_set(e, SL_CODE_INTERNAL, "%s is not a Sluice journal", path);
    }
    struct unpack u = {r->data + 8, r->data + SL_JOURNAL_HEADER_SIZE, false};
    r->version =
        begun < 8 ? 0 : unpack_u32(&u); /* 0: its room was reserved, the rest not written */
    if (r->version > SL_JOURNAL_VERSION) {
        return sl_error_set(e, SL_CODE_INTERNAL,
                            "%s has journal version %u, this program reads versions up to %u", path,
                            r->version, SL_JOURNAL_VERSION);
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
static enum sl_code load(struct sl_journal_reader *r, int fd, const char *path, struct sl_error *e)
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
    r->capacity = (size_t)st.st_size;
    void *data =
        mmap(NULL, r->capacity, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
    if (data == MAP_FAILED) {
        return sl_error_set(e, SL_CODE_INTERNAL, "no memory for %s: %s", path, strerror(errno));
    }
    r->data = data;
    return read_all(fd, r->data, r->capacity, &r->size)
               ? SL_CODE_OK
               : sl_error_set(e, SL_CODE_INTERNAL, "cannot read %s: %s", path, strerror(errno));
}

static enum sl_code load_file(struct sl_journal_reader *r, const char *path, struct sl_error *e)
{
    int fd = open(path, O_RDONLY | O_NONBLOCK | O_CLOEXEC);
    if (fd < 0) {
        return sl_error_set(e, SL_CODE_INTERNAL, "cannot read %s: %s", path, strerror(errno));
    }
    enum sl_code code = load(r, fd, path, e);
    close(fd);
    return code;
}

enum sl_code sl_journal_reader_open(const char *path, struct sl_journal_reader **out,
                                    struct sl_error *e)
{
    SL_PRE(path != NULL && out != NULL);
    struct sl_journal_reader *r = sl_mem_new(1, sizeof *r);
    enum sl_code code = load_file(r, path, e);
    if (code == SL_CODE_OK) {
        code = check_header(r, path, e);
    }
    if (code != SL_CODE_OK) {
        sl_journal_reader_close(r);
        return code;
    }
    r->offset = r->version == 0 ? 0 : SL_JOURNAL_HEADER_SIZE;
    *out = r;
    return SL_CODE_OK;
}

/* A bad record that reaches the end of the file, or is followed by nothing but zeros (a file system
 * that had reserved the room), is what a crash leaves. Anything else behind it means that the
 * record was good once. */
static enum sl_journal_end judge_bad(const struct sl_journal_reader *r, size_t claimed_end)
{
    if (claimed_end >= r->size) {
        return SL_JOURNAL_TORN;
    }
    for (size_t i = r->offset; i < r->size; i++) {
        if (r->data[i] != 0) {
            return SL_JOURNAL_DAMAGED;
        }
    }
    return SL_JOURNAL_TORN;
}

enum sl_journal_end sl_journal_reader_next(struct sl_journal_reader *r,
                                           struct sl_journal_record *out)
{
    SL_PRE(r != NULL);
    size_t left = r->size - r->offset;
    if (left == 0 && r->version != 0) {
        return SL_JOURNAL_END;
    }
    if (left < SL_JOURNAL_FRAME_SIZE || r->size < SL_JOURNAL_HEADER_SIZE) {
        return SL_JOURNAL_TORN;
    }
    if (r->version == 0) {
        return judge_bad(r, r->offset);
    }
    const unsigned char *start = r->data + r->offset;
    struct unpack u = {start, r->data + r->size, false};
    uint32_t len = unpack_u32(&u);
    uint32_t crc = unpack_u32(&u);
    struct sl_journal_record record;
    record.sequence = unpack_u64(&u);
    record.time_ms = unpack_i64(&u);
    record.type = unpack_u16(&u);
    record.payload = u.at;
    record.len = len;
    size_t end = r->offset + SL_JOURNAL_FRAME_SIZE + len;
    if (len > SL_JOURNAL_RECORD_MAX || end > r->size) {
        return judge_bad(r, len > SL_JOURNAL_RECORD_MAX ? r->offset : end);
    }
    if (sl_journal_crc32c(0, start + 8, SL_JOURNAL_FRAME_SIZE - 8 + len) != crc ||
        record.sequence <= r->last_sequence) {
        return judge_bad(r, end);
    }
    r->last_sequence = record.sequence;
    r->offset = end;
    *out = record;
    return SL_JOURNAL_RECORD;
}

uint32_t sl_journal_reader_version(const struct sl_journal_reader *r)
{
    SL_PRE(r != NULL);
    return r->version;
}

size_t sl_journal_reader_offset(const struct sl_journal_reader *r)
{
    SL_PRE(r != NULL);
    return r->offset;
}

void sl_journal_reader_close(struct sl_journal_reader *r)
{
    if (r == NULL) {
        return;
    }
    if (r->data != NULL) {
        munmap(r->data, r->capacity);
    }
    sl_mem_free(r);
}
