/* SPDX-License-Identifier: Apache-2.0
 * SPDX-FileCopyrightText: The Sluice authors */

/* After an end that was none: in what order the log and the database reach the disk, and what happens when it refuses. */
#include <sys/wait.h>

#include "disk_between.h"

/* A process writes and dies: all of it is in the log alone. */
static void die_with_a_log(struct fixture *f)
{
    sl_store_close(f->store);
    f->store = NULL;
    pid_t child = fork();
    assert_true(child >= 0);
    if (child == 0) {
        if (sl_store_open(f->dir, &f->store, &f->e) != SL_CODE_OK) {
            _exit(1);
        }
        make_queue(f, "a", "");
        _exit(sl_store_commit(f->store, &f->e) == SL_CODE_OK ? 0 : 2);
    }
    int status = -1;
    assert_int_equal(waitpid(child, &status, 0), child);
    assert_int_equal(status, 0);
    disk.log_size = disk.log_rewritten = 0;
    disk.log_synced = disk.database_written = false;
}

/* Or what the log's disk has of it might end earlier than what the database says, and be carried out over it. */
static void test_take_over_log_is_written_once_more_before_the_database(void **state)
{
    struct fixture *f = *state;
    die_with_a_log(f);
    assert_int_equal(sl_store_open(f->dir, &f->store, &f->e), SL_CODE_OK);
    assert_true(disk.log_size > 0);
    assert_true(disk.log_synced);
    assert_true(disk.database_written);
    struct sl_json *a = get_queue(f, "a");
    assert_non_null(a);
    sl_json_free(a);
}

static void expect_refused(struct fixture *f)
{
    assert_int_equal(sl_store_open(f->dir, &f->store, &f->e), SL_CODE_INTERNAL);
    assert_null(f->store);
    assert_string_equal(f->e.text, "cannot write the database's log once more: disk I/O error");
    assert_false(disk.database_written);
}

static void test_take_over_log_that_cannot_be_secured_keeps_it_from_starting(void **state)
{
    struct fixture *f = *state;
    die_with_a_log(f);
    disk.fail_syncs = 1;
    expect_refused(f);
    disk.fail_log_reads = 1;
    expect_refused(f);
    disk.log_rewritten = 0;
    assert_int_equal(sl_store_open(f->dir, &f->store, &f->e), SL_CODE_OK);
    assert_true(disk.log_synced);
}

/* Who were told that it is damaged would put a backup back, and lose what is there. */
static void test_take_over_what_cannot_be_read_is_not_called_damaged(void **state)
{
    struct fixture *f = *state;
    unsigned refused = 0;
    die_with_a_log(f);
    for (unsigned i = 0; f->store == NULL; i++) {
        disk.after_database_reads = i;
        disk.fail_database_reads = 1;
        if (sl_store_open(f->dir, &f->store, &f->e) != SL_CODE_OK) {
            assert_null(strstr(f->e.text, "damaged"));
            refused++;
        }
    }
    disk.fail_database_reads = 0;
    assert_true(refused > 0);
    struct sl_json *a = get_queue(f, "a");
    assert_non_null(a);
    sl_json_free(a);
}

int main(void)
{
#define CASE(test) cmocka_unit_test_setup_teardown(test, watch_disk, leave_disk)
    const struct CMUnitTest tests[] = {
        CASE(test_take_over_log_is_written_once_more_before_the_database),
        CASE(test_take_over_what_cannot_be_read_is_not_called_damaged),
        CASE(test_take_over_log_that_cannot_be_secured_keeps_it_from_starting),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
