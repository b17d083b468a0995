/* SPDX-License-Identifier: Apache-2.0
 * SPDX-FileCopyrightText: The Sluice authors */

/* A copy of the database that is made while it is used, and put back. */
#include "disk_between.h"

#include <fcntl.h>
#include <sys/stat.h>

struct paths {
    char dir[64], file[80], part[96], other[80];
};

static struct paths paths_of(void)
{
    struct paths p;
    (void)snprintf(p.dir, sizeof p.dir, "/tmp/sluice-backup-XXXXXX");
    assert_non_null(mkdtemp(p.dir));
    (void)snprintf(p.file, sizeof p.file, "%s/backup.db", p.dir);
    (void)snprintf(p.part, sizeof p.part, "%s/backup.db.part", p.dir);
    (void)snprintf(p.other, sizeof p.other, "%s/data", p.dir);
    return p;
}

static void remove_file(const char *dir, const char *name)
{
    char path[160];
    (void)snprintf(path, sizeof path, "%s/%s", dir, name);
    (void)unlink(path);
}

static void leave(const struct paths *p)
{
    remove_file(p->other, "sluice.db.replaced");
    remove_file(p->other, "sluice.db.replaced-wal");
    remove_dir(p->other);
    (void)unlink(p->file);
    assert_int_equal(rmdir(p->dir), 0); /* nothing else is left */
}

static void reopen(struct fixture *f)
{
    sl_store_close(f->store);
    f->store = NULL;
    assert_int_equal(sl_store_open(f->dir, &f->store, &f->e), SL_CODE_OK);
}

static bool has(struct fixture *f, const char *name)
{
    struct sl_json *o = get_queue(f, name);
    sl_json_free(o);
    return o != NULL;
}

static void test_backup_has_what_was_committed(void **state)
{
    struct fixture *f = *state;
    struct paths p = paths_of();
    struct stat st;
    make_queue(f, "kept", "");
    commit(f);
    make_queue(f, "staged", "");
    assert_int_equal(sl_store_backup(f->dir, p.file, &f->e), SL_CODE_OK);
    assert_int_equal(stat(p.file, &st), 0);
    assert_int_equal(st.st_mode & 0777, 0600); /* there are secrets in it */
    commit(f);                                 /* the daemon goes on */
    assert_int_equal(sl_store_restore(p.other, p.file, &f->e), SL_CODE_OK);
    struct fixture copy = {.store = NULL};
    assert_int_equal(sl_store_open(p.other, &copy.store, &copy.e), SL_CODE_OK);
    assert_true(has(&copy, "kept"));
    assert_false(has(&copy, "staged"));
    sl_store_close(copy.store);
    leave(&p);
}

static void test_backup_put_back_replaces_all_and_goes_on_above(void **state)
{
    struct fixture *f = *state;
    struct paths p = paths_of();
    make_queue(f, "kept", "");
    commit(f);
    assert_int_equal(sl_store_backup(f->dir, p.file, &f->e), SL_CODE_OK);
    make_queue(f, "later", "");
    commit(f);
    uint64_t told = sl_store_durable(f->store);
    sl_store_close(f->store);
    f->store = NULL;
    assert_int_equal(sl_store_restore(f->dir, p.file, &f->e), SL_CODE_OK);
    assert_int_equal(sl_store_open(f->dir, &f->store, &f->e), SL_CODE_OK);
    assert_true(has(f, "kept"));
    assert_false(has(f, "later"));
    assert_true(sl_store_durable(f->store) > told);
    char replaced[96];
    (void)snprintf(replaced, sizeof replaced, "%s/sluice.db.replaced", f->dir);
    assert_int_equal(sl_store_restore(p.other, replaced, &f->e), SL_CODE_OK);
    struct fixture before = {.store = NULL};
    assert_int_equal(sl_store_open(p.other, &before.store, &before.e), SL_CODE_OK);
    assert_true(has(&before, "later"));
    sl_store_close(before.store);
    (void)unlink(replaced);
    leave(&p);
}

static void test_backup_is_not_put_back_while_a_daemon_runs(void **state)
{
    struct fixture *f = *state;
    struct paths p = paths_of();
    assert_int_equal(sl_store_backup(f->dir, p.file, &f->e), SL_CODE_OK);
    assert_int_equal(sl_store_restore(f->dir, p.file, &f->e), SL_CODE_INTERNAL);
    assert_non_null(strstr(f->e.text, "is in use by another process"));
    make_queue(f, "goes-on", "");
    commit(f);
    leave(&p);
}

static void test_backup_overwrites_nothing(void **state)
{
    struct fixture *f = *state;
    struct paths p = paths_of();
    assert_int_equal(sl_store_backup(f->dir, p.file, &f->e), SL_CODE_OK);
    assert_int_equal(sl_store_backup(f->dir, p.file, &f->e), SL_CODE_INTERNAL);
    assert_non_null(strstr(f->e.text, "File exists"));
    leave(&p);
}

static void test_backup_of_nothing_is_refused(void **state)
{
    struct fixture *f = *state;
    struct paths p = paths_of();
    assert_int_equal(sl_store_backup("/nonexistent", p.file, &f->e), SL_CODE_INTERNAL);
    assert_non_null(strstr(f->e.text, "/nonexistent/sluice.db: No such file"));
    assert_int_equal(sl_store_backup(f->dir, "/nonexistent/file", &f->e), SL_CODE_INTERNAL);
    assert_non_null(strstr(f->e.text, "cannot create /nonexistent/file.part: No such file"));
    assert_int_equal(sl_store_restore(p.other, p.file, &f->e), SL_CODE_INTERNAL);
    assert_non_null(strstr(f->e.text, "backup.db: No such file"));
    assert_int_equal(sl_store_restore("/proc/none", p.file, &f->e), SL_CODE_INTERNAL);
    leave(&p);
}

static void flip(const char *path, const char *word)
{
    char text[1 << 16];
    int fd = open(path, O_RDWR);
    ssize_t n = read(fd, text, sizeof text);
    size_t len = strlen(word);
    size_t found = 0;
    for (ssize_t i = 0; i + (ssize_t)len < n; i++) {
        if (memcmp(text + i, word, len) == 0) {
            assert_int_equal(pwrite(fd, "#", 1, i), 1);
            found++;
        }
    }
    assert_int_equal(close(fd), 0);
    assert_true(found > 0);
}

static void test_backup_that_is_damaged_is_not_put_back(void **state)
{
    struct fixture *f = *state;
    struct paths p = paths_of();
    make_queue(f, "kept", ",\"labels\":{\"x\":\"wwwwwwww\"}");
    commit(f);
    assert_int_equal(sl_store_backup(f->dir, p.file, &f->e), SL_CODE_OK);
    flip(p.file, "wwwwwwww");
    sl_store_close(f->store);
    f->store = NULL;
    assert_int_equal(sl_store_restore(f->dir, p.file, &f->e), SL_CODE_DAMAGED);
    assert_int_equal(sl_store_open(f->dir, &f->store, &f->e), SL_CODE_OK);
    assert_true(has(f, "kept"));
    leave(&p);
}

static void write_text(const char *path, const char *text)
{
    FILE *file = fopen(path, "w");
    assert_non_null(file);
    assert_true(fputs(text, file) >= 0);
    assert_int_equal(fclose(file), 0);
}

static void test_backup_of_another_kind_is_not_put_back(void **state)
{
    struct fixture *f = *state;
    struct paths p = paths_of();
    write_text(p.file, "");
    assert_int_equal(sl_store_restore(p.other, p.file, &f->e), SL_CODE_INTERNAL);
    assert_non_null(strstr(f->e.text, "there is nothing in it"));
    write_text(p.file, "this is no database, though it is long enough to be looked at as if it "
                       "were one, since a header has a hundred bytes");
    assert_int_not_equal(sl_store_restore(p.other, p.file, &f->e), SL_CODE_OK);
    leave(&p);
}

/* It has no copy that a daemon would find the log of, and leaves the log to the next start. */
static void test_backup_after_a_kill_leaves_the_log(void **state)
{
    struct fixture *f = *state;
    struct paths p = paths_of();
    char log[96], copy[96], log_copy[112], command[512];
    make_queue(f, "kept", "");
    commit(f);
    (void)snprintf(log, sizeof log, "%s/sluice.db-wal", f->dir);
    (void)snprintf(copy, sizeof copy, "%s/sluice.db", p.other);
    (void)snprintf(log_copy, sizeof log_copy, "%s-wal", copy);
    (void)snprintf(command, sizeof command, "mkdir %s && cp %s/sluice.db %s && cp %s %s", p.other,
                   f->dir, p.other, log, p.other);
    assert_int_equal(system(command), 0); /* as a killed daemon leaves it */
    struct stat before, after;
    assert_int_equal(stat(log_copy, &before), 0);
    assert_true(before.st_size > 0);
    assert_int_equal(sl_store_backup(p.other, p.file, &f->e), SL_CODE_OK);
    assert_int_equal(stat(log_copy, &after), 0);
    assert_int_equal(before.st_size, after.st_size);
    sl_store_close(f->store);
    f->store = NULL;
    assert_int_equal(sl_store_restore(p.other, p.file, &f->e), SL_CODE_OK);
    assert_int_equal(stat(log_copy, &after), -1); /* it is the replaced one's */
    assert_int_equal(sl_store_open(p.other, &f->store, &f->e), SL_CODE_OK);
    assert_true(has(f, "kept"));
    reopen(f);
    sl_store_close(f->store);
    f->store = NULL;
    leave(&p);
}

static void test_backup_on_a_full_disk_leaves_nothing(void **state)
{
    struct fixture *f = *state;
    struct paths p = paths_of();
    disk.full = true;
    assert_int_equal(sl_store_backup(f->dir, p.file, &f->e), SL_CODE_UNAVAILABLE);
    assert_non_null(strstr(f->e.text, "the disk is full"));
    disk.full = false;
    assert_int_equal(access(p.part, F_OK), -1);
    assert_int_equal(access(p.file, F_OK), -1);
    leave(&p);
}

#define CASE(name) cmocka_unit_test_setup_teardown(name, setup, teardown)
int main(void)
{
    const struct CMUnitTest tests[] = {
        CASE(test_backup_has_what_was_committed),
        CASE(test_backup_put_back_replaces_all_and_goes_on_above),
        CASE(test_backup_is_not_put_back_while_a_daemon_runs),
        CASE(test_backup_overwrites_nothing),
        CASE(test_backup_of_nothing_is_refused),
        CASE(test_backup_that_is_damaged_is_not_put_back),
        CASE(test_backup_of_another_kind_is_not_put_back),
        CASE(test_backup_after_a_kill_leaves_the_log),
        cmocka_unit_test_setup_teardown(test_backup_on_a_full_disk_leaves_nothing, watch_disk,
                                        leave_disk),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
