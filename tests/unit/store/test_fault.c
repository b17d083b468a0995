/* SPDX-License-Identifier: Apache-2.0
 * SPDX-FileCopyrightText: The Sluice authors */

/* What each of SQLite's results means, at each statement: refused and tried again, waited for, or the end. A disk without
 * room at the start is no reason not to serve what is there. */
#include <sys/stat.h>
#include <sys/wait.h>

#include "base/log.h"
#include "disk_between.h"

#define QUEUE SL_KIND_LOCAL_QUEUE

static void test_fault_every_result_has_a_meaning(void **state)
{
    (void)state;
    static const struct {
        int result;
        enum sl_fault means;
        enum sl_code code;
        const char *says;
    } cases[] = {
        {SQLITE_FULL, SL_FAULT_ROOM, SL_CODE_UNAVAILABLE, "the disk is full"},
        {SQLITE_NOMEM, SL_FAULT_ROOM, SL_CODE_UNAVAILABLE, "not enough memory"},
        {SQLITE_IOERR_NOMEM, SL_FAULT_ROOM, SL_CODE_UNAVAILABLE, "not enough memory"},
        {SQLITE_IOERR_SHMSIZE, SL_FAULT_ROOM, SL_CODE_UNAVAILABLE, "the disk is full"},
        {SQLITE_BUSY, SL_FAULT_ROOM, SL_CODE_UNAVAILABLE, "in use by another process"},
        {SQLITE_LOCKED, SL_FAULT_ROOM, SL_CODE_UNAVAILABLE, "in use by another process"},
        {SQLITE_IOERR, SL_FAULT_PASSES, SL_CODE_INTERNAL, "cannot test: "},
        {SQLITE_IOERR_READ, SL_FAULT_PASSES, SL_CODE_INTERNAL, "cannot test: "},
        {SQLITE_IOERR_FSYNC, SL_FAULT_PASSES, SL_CODE_INTERNAL, "cannot test: "},
        {SQLITE_INTERRUPT, SL_FAULT_PASSES, SL_CODE_INTERNAL, "cannot test: "},
        {SQLITE_TOOBIG, SL_FAULT_PASSES, SL_CODE_INTERNAL, "too large"},
        {SQLITE_READONLY, SL_FAULT_PASSES, SL_CODE_INTERNAL, "read-only"},
        {SQLITE_CANTOPEN, SL_FAULT_PASSES, SL_CODE_INTERNAL, "cannot test: "},
        {SQLITE_CORRUPT, SL_FAULT_DAMAGE, SL_CODE_DAMAGED, "is damaged"},
        {SQLITE_CORRUPT_INDEX, SL_FAULT_DAMAGE, SL_CODE_DAMAGED, "is damaged"},
        {SQLITE_NOTADB, SL_FAULT_DAMAGE, SL_CODE_DAMAGED, "is damaged"},
        {SQLITE_IOERR_CORRUPTFS, SL_FAULT_DAMAGE, SL_CODE_DAMAGED, "is damaged"},
        {SQLITE_CONSTRAINT_UNIQUE, SL_FAULT_DAMAGE, SL_CODE_DAMAGED, "is damaged"},
        {SQLITE_ERROR, SL_FAULT_DAMAGE, SL_CODE_DAMAGED, "is damaged"},
        {SQLITE_MISUSE, SL_FAULT_DAMAGE, SL_CODE_DAMAGED, "is damaged"},
    };
    for (size_t i = 0; i < sizeof cases / sizeof cases[0]; i++) {
        struct sl_store s = {.lock_fd = -1};
        struct sl_error e = {0};
        assert_int_equal(sl_fault_of(cases[i].result), cases[i].means);
        assert_int_equal(sl_db_fail_with(&s, cases[i].result, "test", &e), cases[i].code);
        assert_int_equal(e.code, cases[i].code);
        if (strstr(e.text, cases[i].says) == NULL) {
            fail_msg("%s: %s", e.text, cases[i].says);
        }
        assert_true((s.damage.code == SL_CODE_DAMAGED) == (cases[i].means == SL_FAULT_DAMAGE));
    }
}

/* --- no room ------------------------------------------------------------------------------------ */

static void die_with_a_log(struct fixture *f)
{
    sl_store_close(f->store);
    f->store = NULL;
    pid_t child = fork();
    assert_true(child >= 0);
    if (child == 0) {
        char name[32];
        bool done = sl_store_open(f->dir, &f->store, &f->e) == SL_CODE_OK;
        for (int i = 0; done && i < 50; i++) {
            (void)snprintf(name, sizeof name, "queue-%d", i);
            make_queue(f, name, "");
        }
        _exit(done && sl_store_commit(f->store, &f->e) == SL_CODE_OK ? 0 : 2);
    }
    int status = -1;
    assert_int_equal(waitpid(child, &status, 0), child);
    assert_int_equal(status, 0);
}

static enum sl_code try_to_make(struct fixture *f, const char *name)
{
    char body[128];
    (void)snprintf(body, sizeof body,
                   "{\"metadata\":{\"name\":\"%s\"},\"spec\":{\"clusterQueue\":\"cq\"}}", name);
    enum sl_code code = code_of(f, create(QUEUE, "default"), body);
    return code == SL_CODE_OK ? sl_store_commit(f->store, &f->e) : code;
}

static void test_fault_full_disk_after_a_crash_serves_what_is_there(void **state)
{
    struct fixture *f = *state;
    die_with_a_log(f);
    for (int lives = 0; lives < 3; lives++) {
        disk.full = true;
        if (sl_store_open(f->dir, &f->store, &f->e) != SL_CODE_OK) {
            fail_msg("%s", f->e.text);
        }
        struct sl_json *o = get_queue(f, "queue-49");
        assert_non_null(o);
        sl_json_free(o);
        assert_int_equal(try_to_make(f, "refused"), SL_CODE_UNAVAILABLE);
        assert_non_null(strstr(f->e.text, "the disk is full"));
        if (lives < 2) {
            sl_store_close(f->store);
            f->store = NULL;
        }
    }
    disk.full = false;
    assert_int_equal(try_to_make(f, "room-again"), SL_CODE_OK);
    sl_store_close(f->store);
    assert_int_equal(sl_store_open(f->dir, &f->store, &f->e), SL_CODE_OK);
    struct sl_json *o = get_queue(f, "room-again");
    assert_non_null(o);
    sl_json_free(o);
    assert_null(get_queue(f, "refused"));
}

/* Where it has to write before it can serve anything it says so, and whoever asks again is served. */
static void test_fault_no_room_for_a_beginning_can_be_waited_for(void **state)
{
    struct fixture *f = *state;
    sl_store_close(f->store);
    f->store = NULL;
    remove_dir(f->dir);
    assert_int_equal(mkdir(f->dir, 0700), 0);
    disk.full = true;
    assert_int_equal(sl_store_open(f->dir, &f->store, &f->e), SL_CODE_UNAVAILABLE);
    assert_null(f->store);
    disk.full = false;
    assert_int_equal(sl_store_open(f->dir, &f->store, &f->e), SL_CODE_OK);
}

/* --- who may read it ---------------------------------------------------------------------------- */

static void test_fault_files_are_for_their_owner_alone(void **state)
{
    struct fixture *f = *state;
    static const char *const files[] = {"sluice.db", "sluice.db-wal", "sluice.db-shm", "lock",
                                        "revision"};
    char path[160];
    struct stat st;
    mode_t mask = umask(0);
    make_queue(f, "a", "");
    commit(f);
    for (int life = 0; life < 2; life++) {
        sl_store_close(f->store);
        f->store = NULL;
        (void)snprintf(path, sizeof path, "%s/sluice.db", f->dir);
        assert_int_equal(chmod(path, 0644), 0); /* as older versions left it */
        assert_int_equal(chmod(f->dir, 0755), 0);
        assert_int_equal(sl_store_open(f->dir, &f->store, &f->e), SL_CODE_OK);
        make_queue(f, "", ",\"generateName\":\"q-\"");
        commit(f);
        for (size_t i = 0; i < sizeof files / sizeof files[0]; i++) {
            (void)snprintf(path, sizeof path, "%s/%s", f->dir, files[i]);
            assert_int_equal(stat(path, &st), 0);
            assert_int_equal(st.st_mode & 0777, 0600);
        }
        sl_store_close(f->store);
        remove_dir(f->dir); /* and where there was none */
        assert_int_equal(mkdir(f->dir, 0755), 0);
        assert_int_equal(sl_store_open(f->dir, &f->store, &f->e), SL_CODE_OK);
    }
    (void)umask(mask);
}

int main(void)
{
#define CASE(test) cmocka_unit_test_setup_teardown(test, watch_disk, leave_disk)
    sl_log_setup(SL_LOG_ERROR, false);
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_fault_every_result_has_a_meaning),
        CASE(test_fault_full_disk_after_a_crash_serves_what_is_there),
        CASE(test_fault_no_room_for_a_beginning_can_be_waited_for),
        CASE(test_fault_files_are_for_their_owner_alone),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
