/* SPDX-License-Identifier: Apache-2.0
 * SPDX-FileCopyrightText: The Sluice authors */

/* A database that is not the one that its directory had last: no revision is given out that somebody may have seen
 * with another state. */
#include <fcntl.h>
#include <sys/stat.h>

#include "base/log.h"
#include "fixture.h"
#include "store/internal.h"

#define QUEUE SL_KIND_LOCAL_QUEUE

static const char *path_in(const char *dir, const char *file)
{
    static char paths[2][160];
    static unsigned turn;
    char *path = paths[turn++ % 2];
    (void)snprintf(path, sizeof paths[0], "%s/%s", dir, file);
    return path;
}

static void copy(const char *from, const char *to)
{
    char data[65536];
    int in = open(from, O_RDONLY), out = open(to, O_WRONLY | O_CREAT | O_TRUNC, 0600);
    assert_true(in >= 0 && out >= 0);
    for (ssize_t n = read(in, data, sizeof data); n > 0; n = read(in, data, sizeof data)) {
        assert_int_equal(write(out, data, (size_t)n), n);
    }
    (void)close(in);
    (void)close(out);
}

static void close_store(struct fixture *f)
{
    sl_store_close(f->store);
    f->store = NULL;
}

static void reopen(struct fixture *f)
{
    if (f->store != NULL) {
        close_store(f);
    }
    if (sl_store_open(f->dir, &f->store, &f->e) != SL_CODE_OK) {
        fail_msg("%s", f->e.text);
    }
}

static void ignore(void *context, enum sl_watch_type type, enum sl_kind kind,
                   struct sl_json *object)
{
    (void)context;
    (void)type;
    (void)kind;
    (void)object;
}

/* Whoever has seen `told` has to list again, and nothing is given a revision that it has seen. */
static void check_leapt(struct fixture *f, uint64_t told)
{
    uint64_t id = 0;
    assert_true(sl_store_revision(f->store) > told);
    assert_int_equal(sl_store_watch(f->store, QUEUE, told, ignore, NULL, &id, &f->e), SL_CODE_GONE);
    make_queue(f, "next", "");
    commit(f);
    assert_true(sl_store_revision(f->store) > told + 1);
}

/* A copy of the database with one queue; then there are `more` others. */
static uint64_t back_up_and_go_on(struct fixture *f, unsigned more)
{
    char name[32];
    make_queue(f, "first", "");
    commit(f);
    close_store(f);
    copy(path_in(f->dir, "sluice.db"), path_in(f->dir, "backup"));
    reopen(f);
    for (unsigned i = 0; i < more; i++) {
        (void)snprintf(name, sizeof name, "queue-%u", i);
        make_queue(f, name, "");
    }
    commit(f);
    return sl_store_durable(f->store);
}

static void put_back(struct fixture *f)
{
    if (f->store != NULL) {
        close_store(f);
    }
    assert_int_equal(rename(path_in(f->dir, "backup"), path_in(f->dir, "sluice.db")), 0);
}

static void test_note_backup_put_back_leaps(void **state)
{
    struct fixture *f = *state;
    uint64_t told = back_up_and_go_on(f, 12);
    put_back(f);
    reopen(f);
    check_leapt(f, told);
}

static void test_note_backup_put_back_twice_leaps_twice(void **state)
{
    struct fixture *f = *state;
    (void)back_up_and_go_on(f, 1);
    close_store(f);
    copy(path_in(f->dir, "backup"), path_in(f->dir, "sluice.db"));
    reopen(f);
    make_queue(f, "after-the-first", "");
    commit(f);
    uint64_t told = sl_store_durable(f->store);
    put_back(f);
    reopen(f);
    check_leapt(f, told);
}

/* On another machine: nothing is known of what was told since, but that it was less often than all the time. */
static void test_note_backup_in_another_directory_leaps(void **state)
{
    struct fixture *f = *state;
    uint64_t told = back_up_and_go_on(f, 12);
    close_store(f);
    assert_int_equal(unlink(path_in(f->dir, "revision")), 0);
    put_back(f);
    reopen(f);
    check_leapt(f, told + 50000000);
}

static void test_note_of_another_database_leaps(void **state)
{
    struct fixture *f = *state;
    uint64_t told = back_up_and_go_on(f, 12);
    close_store(f);
    assert_int_equal(unlink(path_in(f->dir, "sluice.db")), 0);
    reopen(f); /* a new one */
    check_leapt(f, told);
    told = sl_store_durable(f->store);
    put_back(f);
    reopen(f);
    check_leapt(f, told);
}

static void test_note_that_is_damaged_leaps(void **state)
{
    struct fixture *f = *state;
    for (off_t at = 0; at < 60; at += 3) {
        make_queue(f, "", ",\"generateName\":\"q-\"");
        commit(f);
        uint64_t told = sl_store_durable(f->store);
        char byte = 0;
        close_store(f);
        int fd = open(path_in(f->dir, "revision"), O_RDWR);
        assert_int_equal(pread(fd, &byte, 1, at), 1);
        byte ^= 1;
        assert_int_equal(pwrite(fd, &byte, 1, at), 1);
        (void)close(fd);
        reopen(f);
        assert_true(sl_store_revision(f->store) > told + 100000);
    }
}

/* Whatever stands there in its place. */
static void test_note_that_is_no_file_is_replaced(void **state)
{
    struct fixture *f = *state;
    struct stat st;
    char victim[160];
    close_store(f);
    (void)snprintf(victim, sizeof victim, "%s/backup", f->dir);
    copy(path_in(f->dir, "lock"), victim);
    assert_int_equal(unlink(path_in(f->dir, "revision")), 0);
    assert_int_equal(symlink(victim, path_in(f->dir, "revision")), 0);
    reopen(f);
    assert_int_equal(stat(victim, &st), 0);
    assert_int_equal(st.st_size, 0);
    assert_int_equal(lstat(path_in(f->dir, "revision"), &st), 0);
    assert_true(S_ISREG(st.st_mode) && (st.st_mode & 077) == 0);
    (void)unlink(victim);
}

static void test_note_clean_restart_does_not_leap(void **state)
{
    struct fixture *f = *state;
    make_queue(f, "a", "");
    commit(f);
    uint64_t told = sl_store_durable(f->store);
    for (int i = 0; i < 3; i++) {
        reopen(f);
        assert_int_equal(sl_store_durable(f->store), told);
    }
}

/* A leap is no reason for the next one. */
static void test_note_leap_is_remembered_without_a_write(void **state)
{
    struct fixture *f = *state;
    uint64_t told = back_up_and_go_on(f, 12);
    put_back(f);
    reopen(f);
    assert_true(sl_store_revision(f->store) > told);
    told = sl_store_revision(f->store);
    reopen(f);
    assert_int_equal(sl_store_revision(f->store), told);
}

static void test_note_empty_file_is_damage_and_a_missing_one_is_none(void **state)
{
    struct fixture *f = *state;
    close_store(f);
    assert_int_equal(truncate(path_in(f->dir, "sluice.db"), 0), 0);
    assert_int_equal(sl_store_open(f->dir, &f->store, &f->e), SL_CODE_DAMAGED);
    assert_non_null(strstr(f->e.text, "the file is empty"));
    assert_int_equal(unlink(path_in(f->dir, "sluice.db")), 0);
    reopen(f);
}

#define CASE(name) cmocka_unit_test_setup_teardown(name, setup, teardown)
int main(void)
{
    sl_log_setup(SL_LOG_ERROR, false);
    const struct CMUnitTest tests[] = {
        CASE(test_note_backup_put_back_leaps),
        CASE(test_note_backup_put_back_twice_leaps_twice),
        CASE(test_note_backup_in_another_directory_leaps),
        CASE(test_note_of_another_database_leaps),
        CASE(test_note_that_is_damaged_leaps),
        CASE(test_note_that_is_no_file_is_replaced),
        CASE(test_note_clean_restart_does_not_leap),
        CASE(test_note_leap_is_remembered_without_a_write),
        CASE(test_note_empty_file_is_damage_and_a_missing_one_is_none),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
