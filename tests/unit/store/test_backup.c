/* SPDX-License-Identifier: Apache-2.0
 * SPDX-FileCopyrightText: The Sluice authors */

/* A copy of the database that is made while it is used, and put back. */
#include "disk_between.h"

#include <fcntl.h>
#include <pwd.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <sys/wait.h>

/* Before which of them this process is killed; -1: none. */
static int die_before = -1;

int rename(const char *from, const char *to)
{
    if (die_before == 0) {
        _exit(9);
    }
    die_before -= die_before > 0;
    return (int)syscall(SYS_renameat, AT_FDCWD, from, AT_FDCWD, to);
}

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

/* As a killed daemon leaves it: what it acknowledged last is in the log alone. */
static void copy_killed(const struct fixture *f, const struct paths *p)
{
    char command[512];
    (void)snprintf(command, sizeof command,
                   "rm -rf %s && mkdir %s && cp %s/sluice.db %s/sluice.db-wal %s", p->other,
                   p->other, f->dir, f->dir, p->other);
    assert_int_equal(system(command), 0);
}

static int restore_and_die(const struct paths *p, int before)
{
    int status = 0;
    pid_t pid = fork();
    if (pid == 0) {
        struct sl_error e;
        die_before = before;
        _exit(sl_store_restore(p->other, p->file, &e) == SL_CODE_OK ? 0 : 1);
    }
    assert_int_equal(waitpid(pid, &status, 0), pid);
    return WEXITSTATUS(status);
}

/* Whenever it is killed, the next start has the old database with its log, or the new one, or refuses. */
static void test_backup_put_back_and_killed_loses_nothing(void **state)
{
    struct fixture *f = *state;
    struct paths p = paths_of();
    char replaced[112];
    int refused = 0, ended = 9;
    (void)snprintf(replaced, sizeof replaced, "%s/sluice.db.replaced", p.other);
    make_queue(f, "backed", "");
    commit(f);
    assert_int_equal(sl_store_backup(f->dir, p.file, &f->e), SL_CODE_OK);
    must(f, on(SL_VERB_DELETE, SL_KIND_LOCAL_QUEUE, "default", "backed"), NULL);
    commit(f);
    reopen(f); /* all of that is in the database's file */
    make_queue(f, "kept", "");
    commit(f);
    for (int i = 0; ended == 9; i++) {
        struct fixture next = {.store = NULL};
        copy_killed(f, &p);
        ended = restore_and_die(&p, i);
        if (sl_store_open(p.other, &next.store, &next.e) != SL_CODE_OK) {
            refused++;
            assert_non_null(strstr(next.e.text, "a restore has not ended"));
            assert_int_equal(restore_and_die(&p, -1), 0);
            assert_int_equal(sl_store_open(p.other, &next.store, &next.e), SL_CODE_OK);
            assert_true(has(&next, "backed") && !has(&next, "kept"));
            sl_store_close(next.store);
            assert_int_equal(sl_store_restore(p.other, replaced, &f->e), SL_CODE_OK);
            assert_int_equal(sl_store_open(p.other, &next.store, &next.e), SL_CODE_OK);
            assert_true(has(&next, "kept"));
        } else if (ended == 0) {
            assert_true(has(&next, "backed") && !has(&next, "kept"));
        } else {
            assert_true(!has(&next, "backed") && has(&next, "kept"));
        }
        sl_store_close(next.store);
    }
    assert_int_equal(ended, 0);
    assert_true(refused > 0);
    remove_file(p.other, "sluice.db.part");
    leave(&p);
}

/* Root puts back what another user's daemon opens; anybody else, his own. */
static void test_backup_put_back_is_its_directorys(void **state)
{
    struct fixture *f = *state;
    struct paths p = paths_of();
    struct stat dir, db, lock;
    char path[112];
    assert_int_equal(sl_store_backup(f->dir, p.file, &f->e), SL_CODE_OK);
    assert_int_equal(mkdir(p.other, 0700), 0);
    if (geteuid() == 0) {
        const struct passwd *nobody = getpwnam("nobody");
        assert_int_equal(chown(p.other, nobody->pw_uid, nobody->pw_gid), 0);
    }
    assert_int_equal(stat(p.other, &dir), 0);
    for (int i = 0; i < 2; i++) { /* where there is none, and over another one */
        assert_int_equal(sl_store_restore(p.other, p.file, &f->e), SL_CODE_OK);
        (void)snprintf(path, sizeof path, "%s/sluice.db", p.other);
        assert_int_equal(stat(path, &db), 0);
        (void)snprintf(path, sizeof path, "%s/lock", p.other);
        assert_int_equal(stat(path, &lock), 0);
        assert_true(db.st_uid == dir.st_uid && db.st_gid == dir.st_gid);
        assert_int_equal(db.st_mode & 0777, 0600);
        assert_true(lock.st_uid == dir.st_uid && lock.st_gid == dir.st_gid);
    }
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
        CASE(test_backup_put_back_and_killed_loses_nothing),
        CASE(test_backup_put_back_is_its_directorys),
        cmocka_unit_test_setup_teardown(test_backup_on_a_full_disk_leaves_nothing, watch_disk,
                                        leave_disk),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
