/* SPDX-License-Identifier: Apache-2.0
 * SPDX-FileCopyrightText: The Sluice authors */

/* The journal's file: what was flushed is read back; a torn tail is cut off, damage is kept apart.
 */
#include "engine/journal/journal.h"
#include "base/log.h"
#include "engine/journal/pack.h"
#include <fcntl.h>
#include <setjmp.h>
#include <signal.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <unistd.h>
#include <cmocka.h>

static char dir[64];

static int setup(void **state)
{
    (void)state;
    sl_log_setup(SL_LOG_ERROR, false);
    (void)snprintf(dir, sizeof dir, "/tmp/sluice-journal-XXXXXX");
    return mkdtemp(dir) == NULL;
}

static int teardown(void **state)
{
    (void)state;
    char command[128];
    (void)snprintf(command, sizeof command, "rm -rf %s", dir);
    return system(command);
}

static const char *path_of(unsigned number)
{
    static char path[128];
    (void)snprintf(path, sizeof path, "%s/journal-%u.log", dir, number);
    return path;
}

static struct sl_journal *open_journal(void)
{
    struct sl_journal *j = NULL;
    struct sl_error e = {0};
    if (sl_journal_open(dir, &j, &e) != SL_CODE_OK) {
        fail_msg("%s", e.text);
    }
    return j;
}

static void append_text(struct sl_journal *j, const char *text)
{
    struct sl_buf payload = {0};
    pack_text(&payload, text);
    (void)sl_journal_append(j, SL_JOURNAL_NAME, 1000, &payload);
    sl_buf_fini(&payload);
}

/* Two records and a close: the file that the fault tests start from. */
static void write_two(void)
{
    struct sl_journal *j = open_journal();
    append_text(j, "first");
    append_text(j, "second");
    sl_journal_close(j);
}

static off_t size_of(const char *path)
{
    struct stat st;
    assert_int_equal(stat(path, &st), 0);
    return st.st_size;
}

static void change_byte(const char *path, off_t at, unsigned char mask)
{
    unsigned char byte;
    int fd = open(path, O_RDWR);
    assert_true(fd >= 0);
    assert_int_equal(pread(fd, &byte, 1, at), 1);
    byte = (unsigned char)(byte ^ mask);
    assert_int_equal(pwrite(fd, &byte, 1, at), 1);
    close(fd);
}

static unsigned count_records(const char *path, enum sl_journal_end *end)
{
    struct sl_journal_reader *r = NULL;
    struct sl_journal_record record;
    struct sl_error e = {0};
    unsigned n = 0;
    assert_int_equal(sl_journal_reader_open(path, &r, &e), SL_CODE_OK);
    while ((*end = sl_journal_reader_next(r, &record)) == SL_JOURNAL_RECORD) {
        n++;
    }
    sl_journal_reader_close(r);
    return n;
}

static void test_journal_written_reads_back(void **state)
{
    (void)state;
    write_two();
    struct sl_journal_reader *r = NULL;
    struct sl_journal_record record;
    struct sl_error e = {0};
    assert_int_equal(sl_journal_reader_open(path_of(1), &r, &e), SL_CODE_OK);
    assert_int_equal(sl_journal_reader_next(r, &record), SL_JOURNAL_RECORD);
    assert_int_equal(record.sequence, 1);
    assert_int_equal(record.time_ms, 1000);
    assert_int_equal(record.type, SL_JOURNAL_NAME);
    struct unpack u = {record.payload, record.payload + record.len, false};
    size_t len;
    const char *text = unpack_text(&u, &len);
    assert_int_equal(len, 5);
    assert_memory_equal(text, "first", 5);
    assert_int_equal(sl_journal_reader_next(r, &record), SL_JOURNAL_RECORD);
    assert_int_equal(record.sequence, 2);
    assert_int_equal(sl_journal_reader_next(r, &record), SL_JOURNAL_END);
    sl_journal_reader_close(r);
}

static void test_journal_reopened_continues_the_numbers(void **state)
{
    (void)state;
    write_two();
    struct sl_journal *j = open_journal();
    assert_int_equal(sl_journal_sequence(j), 2);
    append_text(j, "third");
    assert_int_equal(sl_journal_sequence(j), 3);
    sl_journal_close(j);
    enum sl_journal_end end;
    assert_int_equal(count_records(path_of(1), &end), 3);
    assert_int_equal(end, SL_JOURNAL_END);
}

static void test_journal_torn_tail_is_cut_off(void **state)
{
    (void)state;
    write_two();
    off_t whole = size_of(path_of(1));
    for (off_t cut = 1; cut <= 36;
         cut++) { /* all of the last record: frame 26, length 4, "second" 6 */
        assert_int_equal(truncate(path_of(1), whole - cut), 0);
        struct sl_journal *j = open_journal();
        assert_int_equal(sl_journal_sequence(j), 1);
        append_text(j, "second");
        sl_journal_close(j);
        enum sl_journal_end end;
        assert_int_equal(count_records(path_of(1), &end), 2);
        assert_int_equal(size_of(path_of(1)), whole);
    }
}

static void test_journal_zero_filled_tail_is_cut_off(void **state)
{
    (void)state;
    write_two();
    off_t whole = size_of(path_of(1));
    assert_int_equal(truncate(path_of(1), whole + 4096), 0);
    struct sl_journal *j = open_journal();
    assert_int_equal(sl_journal_sequence(j), 2);
    sl_journal_close(j);
    assert_int_equal(size_of(path_of(1)), whole);
}

static void test_journal_torn_header_begins_anew(void **state)
{
    (void)state;
    write_two();
    assert_int_equal(truncate(path_of(1), 31), 0);
    write_two();
    enum sl_journal_end end;
    assert_int_equal(count_records(path_of(1), &end), 2);
}

static void clear(const char *path, size_t n)
{
    const char zeros[4096] = {0};
    int fd = open(path, O_WRONLY);
    assert_int_equal(pwrite(fd, zeros, n, 0), n);
    close(fd);
}

/* The power failed before anything but the file's size had reached the disk. */
static void test_journal_of_zeros_begins_anew(void **state)
{
    (void)state;
    write_two();
    clear(path_of(1), (size_t)size_of(path_of(1)));
    write_two();
    enum sl_journal_end end;
    assert_int_equal(count_records(path_of(1), &end), 2);
    assert_int_equal(end, SL_JOURNAL_END);
}

/* Or anything but a beginning of what it begins with. */
static void test_journal_of_a_beginning_and_zeros_is_no_reason_not_to_start(void **state)
{
    (void)state;
    for (off_t begun = 1; begun < SL_JOURNAL_HEADER_SIZE; begun++) {
        write_two();
        off_t whole = size_of(path_of(1));
        assert_int_equal(truncate(path_of(1), begun), 0);
        assert_int_equal(truncate(path_of(1), whole), 0);
        write_two();
        enum sl_journal_end end;
        bool anew = access(path_of(2), F_OK) == 0;
        assert_int_equal(count_records(path_of(anew ? 2 : 1), &end), 2);
        assert_int_equal(end, SL_JOURNAL_END);
        (void)unlink(path_of(2));
        (void)unlink(path_of(1));
    }
}

/* Or when its first block had not, and a later one had. */
static void test_journal_without_its_first_block_is_left_alone(void **state)
{
    (void)state;
    write_two();
    off_t whole = size_of(path_of(1));
    clear(path_of(1), SL_JOURNAL_HEADER_SIZE);
    struct sl_journal *j = open_journal();
    assert_true(sl_journal_sequence(j) >= 2);
    sl_journal_close(j);
    enum sl_journal_end end;
    assert_int_equal(size_of(path_of(1)), whole);
    assert_int_equal(count_records(path_of(1), &end), 0);
    assert_int_equal(end, SL_JOURNAL_DAMAGED);
    assert_int_equal(count_records(path_of(2), &end), 0);
    assert_int_equal(end, SL_JOURNAL_END);
}

static void test_journal_bad_checksum_in_the_last_record_is_a_torn_tail(void **state)
{
    (void)state;
    write_two();
    off_t whole = size_of(path_of(1));
    change_byte(path_of(1), whole - 1, 0x40);
    struct sl_journal *j = open_journal();
    assert_int_equal(sl_journal_sequence(j), 1);
    sl_journal_close(j);
}

static void test_journal_damaged_middle_is_left_alone(void **state)
{
    (void)state;
    write_two();
    off_t whole = size_of(path_of(1));
    change_byte(path_of(1), SL_JOURNAL_HEADER_SIZE + SL_JOURNAL_FRAME_SIZE, 0x01);
    struct sl_journal *j = open_journal();
    assert_true(sl_journal_sequence(j) >= 2); /* no lost number is given out again */
    append_text(j, "third");
    sl_journal_close(j);
    enum sl_journal_end end;
    assert_int_equal(size_of(path_of(1)), whole);
    assert_int_equal(count_records(path_of(1), &end), 0);
    assert_int_equal(end, SL_JOURNAL_DAMAGED);
    assert_int_equal(count_records(path_of(2), &end), 1);
    assert_int_equal(end, SL_JOURNAL_END);
}

static bool put_image(struct sl_journal *j, size_t len)
{
    struct sl_error e = {0};
    struct sl_buf payload = {0};
    static char block[8192];
    assert_int_equal(sl_journal_begin_image(j, 0, &e), SL_CODE_OK);
    sl_buf_add(&payload, block, len);
    (void)sl_journal_append(j, SL_JOURNAL_IMAGE, 0, &payload);
    sl_buf_fini(&payload);
    return sl_journal_end_image(j);
}

static bool exists(const char *path)
{
    struct stat st;
    return lstat(path, &st) == 0;
}

static const char *aside_of(unsigned number)
{
    static char path[160];
    (void)snprintf(path, sizeof path, "%s.aside", path_of(number));
    return path;
}

/* Whatever stands where journal-1.log should: the next life is written all the same, and can be read. */
static void check_goes_on_without_it(void)
{
    enum sl_journal_end end;
    struct sl_journal *j = open_journal();
    append_text(j, "third");
    assert_true(sl_journal_flush(j));
    sl_journal_close(j);
    assert_true(exists(aside_of(1)));
    assert_int_equal(count_records(path_of(1), &end), 1);
    assert_int_equal(end, SL_JOURNAL_END);
}

static void test_journal_newer_version_is_set_aside(void **state)
{
    (void)state;
    write_two();
    change_byte(path_of(1), 8, SL_JOURNAL_VERSION ^ (SL_JOURNAL_VERSION + 1));
    check_goes_on_without_it();
    struct sl_journal_reader *r = NULL;
    struct sl_error e = {0};
    assert_int_equal(sl_journal_reader_open(aside_of(1), &r, &e), SL_CODE_INTERNAL);
    char wanted[128];
    (void)snprintf(wanted, sizeof wanted,
                   "journal version %u, this program reads versions up to %u",
                   SL_JOURNAL_VERSION + 1, SL_JOURNAL_VERSION);
    assert_non_null(strstr(e.text, wanted));
}

static void test_journal_of_flipped_bytes_is_no_reason_not_to_start(void **state)
{
    (void)state;
    for (off_t at = 0; at < SL_JOURNAL_HEADER_SIZE + 10; at++) {
        write_two();
        change_byte(path_of(1), at, 0x11);
        struct sl_journal *j = open_journal();
        append_text(j, "third");
        assert_true(sl_journal_flush(j));
        sl_journal_close(j);
        (void)unlink(aside_of(1));
        (void)unlink(path_of(2));
        (void)unlink(path_of(1));
    }
}

static void test_journal_that_is_a_directory_is_set_aside(void **state)
{
    (void)state;
    assert_int_equal(mkdir(path_of(1), 0700), 0);
    check_goes_on_without_it();
}

/* A pipe would be waited for, and what a link leads to is not ours. */
static void test_journal_that_is_a_pipe_is_set_aside(void **state)
{
    (void)state;
    assert_int_equal(mkfifo(path_of(1), 0600), 0);
    check_goes_on_without_it();
}

static void test_journal_that_is_a_link_is_set_aside_and_what_it_leads_to_stays(void **state)
{
    (void)state;
    char other[128];
    (void)snprintf(other, sizeof other, "%s/empty", dir);
    FILE *f = fopen(other, "w");
    assert_non_null(f);
    (void)fclose(f);
    assert_int_equal(symlink(other, path_of(1)), 0);
    check_goes_on_without_it();
    assert_int_equal(size_of(other), 0);
}

static void test_journal_that_is_set_aside_leaves_the_file_before(void **state)
{
    (void)state;
    enum sl_journal_end end;
    write_two();
    assert_int_equal(mkdir(path_of(2), 0700), 0);
    struct sl_journal *j = open_journal();
    append_text(j, "third");
    sl_journal_close(j);
    assert_int_equal(count_records(path_of(1), &end), 3);
    assert_true(exists(aside_of(2)));
}

/* Nothing can be renamed or made there: decisions are made all the same, and later it is written again. */
static void test_journal_that_cannot_be_begun_is_begun_later(void **state)
{
    (void)state;
    struct rlimit old;
    assert_int_equal(getrlimit(RLIMIT_NOFILE, &old), 0);
    struct rlimit none = {3, old.rlim_max}; /* as good as a disk on which nothing can be made */
    assert_int_equal(setrlimit(RLIMIT_NOFILE, &none), 0);
    struct sl_journal *j = NULL;
    enum sl_code code = sl_journal_open(dir, &j, NULL);
    assert_int_equal(setrlimit(RLIMIT_NOFILE, &old), 0);
    assert_int_equal(code, SL_CODE_OK);
    append_text(j, "lost");
    assert_true(sl_journal_flush(j));
    assert_int_equal(sl_journal_lost(j), 1);
    assert_true(sl_journal_wants_image(j, 0));
    assert_int_equal(setrlimit(RLIMIT_NOFILE, &none), 0);
    code = sl_journal_begin_image(j, 0, NULL);
    assert_int_equal(setrlimit(RLIMIT_NOFILE, &old), 0);
    assert_int_not_equal(code, SL_CODE_OK);
    assert_false(sl_journal_wants_image(j, 59999));
    assert_true(sl_journal_wants_image(j, 60000));
    assert_true(put_image(j, 10));
    append_text(j, "kept");
    sl_journal_close(j);
    enum sl_journal_end end;
    assert_int_equal(count_records(path_of(1), &end), 2);
}

static void test_journal_of_others_eyes_is_closed_to_them(void **state)
{
    (void)state;
    struct stat st;
    mode_t mask = umask(0);
    write_two();
    assert_int_equal(stat(path_of(1), &st), 0);
    assert_int_equal(st.st_mode & 0777, 0600);
    assert_int_equal(chmod(path_of(1), 0644), 0);
    write_two();
    (void)umask(mask);
    assert_int_equal(stat(path_of(1), &st), 0);
    assert_int_equal(st.st_mode & 0777, 0600);
}

static void test_journal_older_version_is_left_alone_and_a_new_file_begun(void **state)
{
    (void)state;
    struct sl_journal *j = NULL;
    struct sl_error e = {0};
    enum sl_journal_end end;
    write_two();
    change_byte(path_of(1), 8, SL_JOURNAL_VERSION ^ (SL_JOURNAL_VERSION - 1));
    off_t whole = size_of(path_of(1));
    assert_int_equal(sl_journal_open(dir, &j, &e), SL_CODE_OK);
    assert_int_equal(sl_journal_append(j, SL_JOURNAL_NAME, 0, NULL), 3);
    sl_journal_close(j);
    assert_int_equal(size_of(path_of(1)), whole);
    assert_int_equal(count_records(path_of(2), &end), 1);
}

static void test_journal_foreign_file_is_set_aside(void **state)
{
    (void)state;
    for (unsigned i = 0; i < 2; i++) { /* also where one was set aside before */
        FILE *f = fopen(path_of(1), "w");
        assert_non_null(f);
        (void)fputs("this is somebody else's file, and long enough\n", f);
        (void)fclose(f);
        check_goes_on_without_it();
    }
}

static void test_journal_directory_that_is_a_file_is_refused(void **state)
{
    (void)state;
    FILE *f = fopen(path_of(7), "w");
    assert_non_null(f);
    (void)fclose(f);
    struct sl_journal *j = NULL;
    struct sl_error e = {0};
    char path[128];
    (void)snprintf(path, sizeof path, "%s", path_of(7));
    assert_int_equal(sl_journal_open(path, &j, &e), SL_CODE_BAD_REQUEST);
    assert_non_null(strstr(e.text, path));
}

/* A file size limit stands in for the full disk: half a record arrives, the rest is refused. */
static void test_journal_full_disk_drops_records_and_goes_on(void **state)
{
    (void)state;
    struct sl_journal *j = open_journal();
    append_text(j, "kept");
    assert_true(sl_journal_flush(j));
    off_t good = size_of(path_of(1));
    struct rlimit old;
    assert_int_equal(getrlimit(RLIMIT_FSIZE, &old), 0);
    struct rlimit tight = {(rlim_t)good + 10, old.rlim_max};
    (void)signal(SIGXFSZ, SIG_IGN);
    assert_int_equal(setrlimit(RLIMIT_FSIZE, &tight), 0);
    append_text(j, "lost");
    append_text(j, "lost as well");
    bool flushed = sl_journal_flush(j);
    assert_int_equal(setrlimit(RLIMIT_FSIZE, &old), 0);
    assert_false(flushed);
    assert_int_equal(sl_journal_lost(j), 2);
    assert_int_equal(size_of(path_of(1)), good);
    append_text(j, "room again");
    assert_true(sl_journal_flush(j));
    sl_journal_close(j);
    enum sl_journal_end end;
    assert_int_equal(count_records(path_of(1), &end), 2);
    assert_int_equal(end, SL_JOURNAL_END);
}

static void test_journal_large_is_rotated_and_old_files_go(void **state)
{
    (void)state;
    struct sl_journal *j = open_journal();
    struct sl_buf payload = {0};
    static char block[SL_JOURNAL_RECORD_MAX];
    sl_buf_add(&payload, block, sizeof block);
    for (unsigned i = 0; i < 16 * 5; i++) {
        (void)sl_journal_append(j, SL_JOURNAL_OBSERVE, 0, &payload);
        assert_true(sl_journal_flush(j));
        assert_int_equal(sl_journal_wants_image(j, 0), i % 16 == 15);
        if (i % 16 == 15) {
            assert_true(put_image(j, 10));
        }
    }
    sl_buf_fini(&payload);
    append_text(j, "last");
    sl_journal_close(j);
    assert_int_equal(access(path_of(1), F_OK), -1);
    assert_int_equal(access(path_of(2), F_OK), -1);
    assert_int_equal(access(path_of(3), F_OK), 0);
    enum sl_journal_end end;
    assert_int_equal(count_records(path_of(6), &end), 2);
}

/* Or it would begin one file after the other, each with nothing but an image. */
static void test_journal_image_larger_than_the_limit_has_as_many_records_behind_it(void **state)
{
    (void)state;
    struct sl_journal *j = open_journal();
    sl_journal_limit(j, 1);
    append_text(j, "one");
    assert_true(sl_journal_flush(j));
    assert_true(sl_journal_wants_image(j, 0));
    assert_true(put_image(j, 5000));
    assert_int_equal(sl_journal_image_bytes(j), 5000 + SL_JOURNAL_FRAME_SIZE);
    unsigned count = 0;
    while (!sl_journal_wants_image(j, 0)) {
        append_text(j, "0123456789");
        assert_true(sl_journal_flush(j));
        count++;
        if (count == 60) { /* what a file of a process before this one has, counts as well */
            sl_journal_close(j);
            j = open_journal();
            sl_journal_limit(j, 1);
        }
    }
    assert_int_equal(count, 5026 / 40 + 1);
    assert_int_equal(access(path_of(3), F_OK), -1);
    sl_journal_close(j);
}

static void test_journal_image_that_cannot_be_written_leaves_all_as_it_was(void **state)
{
    (void)state;
    struct rlimit old;
    struct sl_journal *j = open_journal();
    append_text(j, "one");
    sl_journal_limit(j, 1);
    assert_true(sl_journal_flush(j));
    off_t good = size_of(path_of(1));
    assert_int_equal(getrlimit(RLIMIT_FSIZE, &old), 0);
    struct rlimit tight = {(rlim_t)good + 10, old.rlim_max};
    (void)signal(SIGXFSZ, SIG_IGN);
    assert_int_equal(setrlimit(RLIMIT_FSIZE, &tight), 0);
    bool put = put_image(j, 5000);
    assert_int_equal(setrlimit(RLIMIT_FSIZE, &old), 0);
    assert_false(put);
    assert_int_equal(access(path_of(2), F_OK), -1);
    assert_int_equal(sl_journal_sequence(j), 1);
    assert_int_equal(sl_journal_lost(j), 0);
    assert_false(sl_journal_wants_image(j, 59999)); /* begun at 0 */
    append_text(j, "two");
    assert_true(sl_journal_flush(j));
    assert_true(sl_journal_wants_image(j, 60000));
    assert_true(put_image(j, 5000));
    assert_false(sl_journal_wants_image(j, 60001));
    sl_journal_close(j);
    enum sl_journal_end end;
    assert_int_equal(count_records(path_of(1), &end), 2);
    assert_int_equal(count_records(path_of(2), &end), 1);
    assert_int_equal(end, SL_JOURNAL_END);
}

static void test_journal_next_file_that_cannot_be_begun_is_told(void **state)
{
    (void)state;
    struct sl_error e = {0};
    struct sl_journal *j = open_journal();
    append_text(j, "one");
    sl_journal_limit(j, 1);
    assert_true(sl_journal_flush(j));
    assert_int_equal(mkdir(path_of(2), 0700), 0);
    assert_int_equal(sl_journal_begin_image(j, 0, &e), SL_CODE_INTERNAL);
    assert_non_null(strstr(e.text, path_of(2)));
    assert_false(sl_journal_wants_image(j, 59999));
    assert_int_equal(rmdir(path_of(2)), 0);
    append_text(j, "two");
    assert_true(sl_journal_flush(j));
    assert_true(put_image(j, 10));
    sl_journal_close(j);
    enum sl_journal_end end;
    assert_int_equal(count_records(path_of(1), &end), 2);
}

/* Behind lost records, where they would have been: the next file would cost an older one. */
static void test_journal_image_after_a_loss_stays_in_its_file(void **state)
{
    (void)state;
    struct rlimit old;
    struct sl_journal *j = open_journal();
    append_text(j, "kept");
    assert_true(sl_journal_flush(j));
    off_t good = size_of(path_of(1));
    assert_int_equal(getrlimit(RLIMIT_FSIZE, &old), 0);
    struct rlimit tight = {(rlim_t)good + 10, old.rlim_max};
    (void)signal(SIGXFSZ, SIG_IGN);
    assert_int_equal(setrlimit(RLIMIT_FSIZE, &tight), 0);
    append_text(j, "lost");
    bool flushed = sl_journal_flush(j);
    bool wants = sl_journal_wants_image(j, 0);
    bool put = put_image(j, 5000);
    assert_int_equal(setrlimit(RLIMIT_FSIZE, &old), 0);
    assert_false(flushed);
    assert_true(wants);
    assert_false(put);
    assert_int_equal(size_of(path_of(1)), good);
    assert_true(put_image(j, 5000));
    assert_false(sl_journal_wants_image(j, 60000));
    sl_journal_close(j);
    enum sl_journal_end end;
    assert_int_equal(count_records(path_of(1), &end), 2);
    assert_int_equal(access(path_of(2), F_OK), -1);
}

static void test_journal_without_directory_counts_only(void **state)
{
    (void)state;
    struct sl_journal *j = NULL;
    struct sl_error e = {0};
    assert_int_equal(sl_journal_open(NULL, &j, &e), SL_CODE_OK);
    append_text(j, "nowhere");
    assert_true(sl_journal_flush(j));
    assert_int_equal(sl_journal_sequence(j), 1);
    sl_journal_close(j);
}

static void test_journal_crc32c_known_value(void **state)
{
    (void)state;
    assert_int_equal(sl_journal_crc32c(0, "123456789", 9), 0xe3069283u); /* RFC 3720, B.4 */
}

/* Taken in at once or byte by byte, from any address and of any length. */
static void test_journal_crc32c_does_not_depend_on_portions(void **state)
{
    (void)state;
    unsigned char bytes[64];
    for (size_t i = 0; i < sizeof bytes; i++) {
        bytes[i] = (unsigned char)(i * 37u + 200u);
    }
    for (size_t start = 0; start < 9; start++) {
        uint32_t crc = 0;
        for (size_t len = 0; start + len < sizeof bytes; len++) {
            assert_int_equal(sl_journal_crc32c(0, bytes + start, len), crc);
            crc = sl_journal_crc32c(crc, bytes + start + len, 1);
        }
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test_setup_teardown(test_journal_written_reads_back, setup, teardown),
        cmocka_unit_test_setup_teardown(test_journal_reopened_continues_the_numbers, setup,
                                        teardown),
        cmocka_unit_test_setup_teardown(test_journal_torn_tail_is_cut_off, setup, teardown),
        cmocka_unit_test_setup_teardown(test_journal_zero_filled_tail_is_cut_off, setup, teardown),
        cmocka_unit_test_setup_teardown(test_journal_torn_header_begins_anew, setup, teardown),
        cmocka_unit_test_setup_teardown(test_journal_of_zeros_begins_anew, setup, teardown),
        cmocka_unit_test_setup_teardown(
            test_journal_of_a_beginning_and_zeros_is_no_reason_not_to_start, setup, teardown),
        cmocka_unit_test_setup_teardown(test_journal_without_its_first_block_is_left_alone, setup,
                                        teardown),
        cmocka_unit_test_setup_teardown(test_journal_bad_checksum_in_the_last_record_is_a_torn_tail,
                                        setup, teardown),
        cmocka_unit_test_setup_teardown(test_journal_damaged_middle_is_left_alone, setup, teardown),
        cmocka_unit_test_setup_teardown(test_journal_newer_version_is_set_aside, setup, teardown),
        cmocka_unit_test_setup_teardown(test_journal_of_flipped_bytes_is_no_reason_not_to_start,
                                        setup, teardown),
        cmocka_unit_test_setup_teardown(test_journal_that_is_a_directory_is_set_aside, setup,
                                        teardown),
        cmocka_unit_test_setup_teardown(test_journal_that_is_a_pipe_is_set_aside, setup, teardown),
        cmocka_unit_test_setup_teardown(
            test_journal_that_is_a_link_is_set_aside_and_what_it_leads_to_stays, setup, teardown),
        cmocka_unit_test_setup_teardown(test_journal_that_is_set_aside_leaves_the_file_before,
                                        setup, teardown),
        cmocka_unit_test_setup_teardown(test_journal_that_cannot_be_begun_is_begun_later, setup,
                                        teardown),
        cmocka_unit_test_setup_teardown(test_journal_of_others_eyes_is_closed_to_them, setup,
                                        teardown),
        cmocka_unit_test_setup_teardown(
            test_journal_older_version_is_left_alone_and_a_new_file_begun, setup, teardown),
        cmocka_unit_test_setup_teardown(test_journal_foreign_file_is_set_aside, setup, teardown),
        cmocka_unit_test_setup_teardown(test_journal_directory_that_is_a_file_is_refused, setup,
                                        teardown),
        cmocka_unit_test_setup_teardown(test_journal_full_disk_drops_records_and_goes_on, setup,
                                        teardown),
        cmocka_unit_test_setup_teardown(test_journal_large_is_rotated_and_old_files_go, setup,
                                        teardown),
        cmocka_unit_test_setup_teardown(
            test_journal_image_larger_than_the_limit_has_as_many_records_behind_it, setup,
            teardown),
        cmocka_unit_test_setup_teardown(
            test_journal_image_that_cannot_be_written_leaves_all_as_it_was, setup, teardown),
        cmocka_unit_test_setup_teardown(test_journal_next_file_that_cannot_be_begun_is_told, setup,
                                        teardown),
        cmocka_unit_test_setup_teardown(test_journal_image_after_a_loss_stays_in_its_file, setup,
                                        teardown),
        cmocka_unit_test_setup_teardown(test_journal_without_directory_counts_only, setup,
                                        teardown),
        cmocka_unit_test(test_journal_crc32c_known_value),
        cmocka_unit_test(test_journal_crc32c_does_not_depend_on_portions),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
