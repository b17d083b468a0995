/* SPDX-License-Identifier: Apache-2.0
 * SPDX-FileCopyrightText: The Sluice authors */

/* Drives: the journal's writer and reader, sl_call_unpack and sl_image_put.
 * Oracle: what was noted is read back, record by record; after damage to one byte, or a cut, the records before it
 * are read as they were and none that was not written; a journal that is continued after a cut keeps what was good.
 * Whatever stands where the newest file should, the journal is gone on with, in it or without it.
 * Any bytes at all can be read as a file, as a change, and as a part of an image.
 * Input: a byte for what is done, two for where; then payloads, each a length and its bytes. */
#include <fcntl.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>
#include "base/log.h"
#include "engine/calls/call.h"
#include "engine/journal/journal.h"
#include "engine/journal/journal_image.h"
#include "fuzz/lib/check.h"
#include "fuzz/lib/producer.h"

enum { RECORDS_MAX = 32 };

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

static char directory[] = "/dev/shm/sluice-fuzz-XXXXXX";
static char path[sizeof directory + 32];
static struct {
    const uint8_t *payload;
    size_t len;
} records[RECORDS_MAX];
static size_t record_count;

static void remove_files(void)
{
    static const char *const names[] = {"journal-1.log", "journal-2.log", "journal-1.log.aside"};
    char file[sizeof path];
    for (size_t i = 0; i < sizeof names / sizeof names[0]; i++) {
        (void)snprintf(file, sizeof file, "%s/%s", directory, names[i]);
        (void)unlink(file);
    }
}

static void remove_directory(void)
{
    remove_files();
    (void)rmdir(directory);
}

static void make_directory(void)
{
    static bool made;
    if (!made) {
        sl_log_setup(SL_LOG_ERROR, false);
        CHECK(mkdtemp(directory) != NULL);
        (void)snprintf(path, sizeof path, "%s/journal-1.log", directory);
        (void)atexit(remove_directory);
        made = true;
    }
    remove_files();
}

static void write_journal(struct producer *p)
{
    struct sl_journal *j = NULL;
    struct sl_error e = {0};
    CHECK(sl_journal_open(directory, &j, &e) == SL_CODE_OK);
    for (record_count = 0; p->left > 0 && record_count < RECORDS_MAX; record_count++) {
        size_t len = producer_byte(p) % 64;
        len = len > p->left ? p->left : len;
        struct sl_buf payload = {0};
        sl_buf_add(&payload, (const char *)p->data, len);
        records[record_count].payload = p->data;
        records[record_count].len = len;
        p->data += len;
        p->left -= len;
        CHECK(sl_journal_append(j, SL_JOURNAL_CALL, 5, &payload) == record_count + 1);
        sl_buf_fini(&payload);
    }
    CHECK(sl_journal_flush(j) && sl_journal_lost(j) == 0);
    sl_journal_close(j);
}

/* How many records are there before the end, each as it was written; `end` says which. */
static size_t read_journal(enum sl_journal_end *end)
{
    struct sl_journal_reader *r = NULL;
    struct sl_journal_record record;
    struct sl_error e = {0};
    size_t count = 0;
    *end = SL_JOURNAL_DAMAGED;
    if (sl_journal_reader_open(path, &r, &e) != SL_CODE_OK) {
        CHECK(e.text[0] != '\0');
        return 0;
    }
    while ((*end = sl_journal_reader_next(r, &record)) == SL_JOURNAL_RECORD) {
        CHECK(count < record_count && record.sequence == count + 1 && record.time_ms == 5);
        CHECK(record.len == records[count].len);
        CHECK(record.len == 0 || memcmp(record.payload, records[count].payload, record.len) == 0);
        count++;
    }
    sl_journal_reader_close(r);
    return count;
}

static void check_goes_on(void)
{
    struct sl_journal *j = NULL;
    struct sl_error e = {0};
    CHECK(sl_journal_open(directory, &j, &e) == SL_CODE_OK);
    (void)sl_journal_append(j, SL_JOURNAL_START, 5, NULL);
    CHECK(sl_journal_flush(j) && sl_journal_lost(j) == 0);
    sl_journal_close(j);
}

/* Flip bits of a byte; behind what place in the file. */
static size_t damage(size_t where, uint8_t bits)
{
    int fd = open(path, O_RDWR);
    struct stat s;
    uint8_t byte;
    CHECK(fd >= 0 && fstat(fd, &s) == 0 && s.st_size > 0);
    off_t at = (off_t)(where % (size_t)s.st_size);
    CHECK(pread(fd, &byte, 1, at) == 1);
    byte ^= bits;
    CHECK(pwrite(fd, &byte, 1, at) == 1);
    (void)close(fd);
    return (size_t)at;
}

static size_t whole_before(size_t at)
{
    size_t count = 0;
    size_t offset = SL_JOURNAL_HEADER_SIZE;
    while (count < record_count && offset + SL_JOURNAL_FRAME_SIZE + records[count].len <= at) {
        offset += SL_JOURNAL_FRAME_SIZE + records[count++].len;
    }
    return count;
}

static void check_damaged(size_t where, uint8_t bits)
{
    enum sl_journal_end end;
    size_t at = damage(where, bits == 0 ? 1 : bits);
    size_t count = read_journal(&end);
    if (at >= SL_JOURNAL_HEADER_SIZE) {
        CHECK(count == whole_before(at) && end != SL_JOURNAL_END);
    }
    check_goes_on();
}

static void check_cut(size_t where)
{
    struct stat s;
    struct sl_journal *j = NULL;
    struct sl_error e = {0};
    enum sl_journal_end end;
    CHECK(stat(path, &s) == 0);
    size_t at = where % ((size_t)s.st_size + 1);
    CHECK(truncate(path, (off_t)at) == 0);
    size_t count = read_journal(&end);
    CHECK(at < SL_JOURNAL_HEADER_SIZE || count == whole_before(at));
    if (at >= SL_JOURNAL_HEADER_SIZE) {
        CHECK(sl_journal_open(directory, &j, &e) == SL_CODE_OK);
        CHECK(sl_journal_sequence(j) == count);
        sl_journal_close(j);
        CHECK(read_journal(&end) == count && end == SL_JOURNAL_END);
    }
}

/* Whatever it is, it is read to an end. */
static void read_anything(const struct producer *p)
{
    struct sl_journal_reader *r = NULL;
    struct sl_journal_record record;
    struct sl_error e = {0};
    int fd = open(path, O_CREAT | O_TRUNC | O_WRONLY, 0600);
    CHECK(fd >= 0 && write(fd, p->data, p->left) == (ssize_t)p->left);
    (void)close(fd);
    if (sl_journal_reader_open(path, &r, &e) == SL_CODE_OK) {
        while (sl_journal_reader_next(r, &record) == SL_JOURNAL_RECORD) {
        }
        CHECK(sl_journal_reader_offset(r) <= p->left);
        sl_journal_reader_close(r);
    }
    check_goes_on();
}

static void unpack_anything(const struct producer *p)
{
    struct sl_call call;
    struct sl_buf list = {0};
    enum sl_status answer;
    if (sl_call_unpack(p->data, p->left, &call, &list, &answer)) {
        CHECK(call.kind < SL_CALL_KIND_COUNT);
    }
    sl_buf_fini(&list);
    struct sl_image_part part;
    bool image = sl_image_look(p->data, p->left, &part);
    CHECK(sl_image_put(p->data, p->left) <= image);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    struct producer p = {data, size};
    enum sl_journal_end end;
    uint32_t what = producer_byte(&p);
    uint32_t where = producer_below(&p, 65536);
    make_directory();
    if (what % 8 == 0) {
        read_anything(&p);
        return 0;
    }
    unpack_anything(&p);
    write_journal(&p);
    CHECK(read_journal(&end) == record_count && end == SL_JOURNAL_END);
    if (what % 8 < 5) {
        check_damaged(where, (uint8_t)(what / 8));
    } else {
        check_cut(where);
    }
    return 0;
}
