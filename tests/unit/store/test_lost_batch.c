/* SPDX-License-Identifier: Apache-2.0
 * SPDX-FileCopyrightText: The Sluice authors */

/* A disk that cannot be read in the middle of a batch: SQLite gives up the transaction then, and the batch is lost as a
 * whole, with all that comes after the read. */
#include "disk_between.h"

#define QUEUES 300 /* more than fits into the pages that one write looks at */

/* A store that remembers nothing of what it has read. */
static void reopen_full(struct fixture *f)
{
    char name[32];
    for (int i = 0; i < QUEUES; i++) {
        (void)snprintf(name, sizeof name, "queue-%d", i);
        make_queue(f, name, "");
    }
    commit(f);
    sl_store_close(f->store);
    f->store = NULL;
    assert_int_equal(sl_store_open(f->dir, &f->store, &f->e), SL_CODE_OK);
    (void)sqlite3_db_release_memory(f->store->db); /* the check has read all of it */
}

static bool is_there(struct fixture *f, const char *name)
{
    struct sl_json *o = get_queue(f, name);
    bool there = o != NULL;
    sl_json_free(o);
    return there;
}

static enum sl_code try_to_make(struct fixture *f, const char *name)
{
    char body[128];
    (void)snprintf(body, sizeof body,
                   "{\"metadata\":{\"name\":\"%s\"},\"spec\":{\"clusterQueue\":\"cq\"}}", name);
    return code_of(f, create(SL_KIND_LOCAL_QUEUE, "default"), body);
}

/* Neither of these is there, now and after a restart, and the revision is what it was. */
static void expect_lost(struct fixture *f, uint64_t revision)
{
    for (int i = 0; i < 2; i++) {
        assert_false(is_there(f, "before"));
        assert_false(is_there(f, "after"));
        assert_int_equal(sl_store_durable(f->store), revision);
        sl_store_close(f->store);
        f->store = NULL;
        assert_int_equal(sl_store_open(f->dir, &f->store, &f->e), SL_CODE_OK);
    }
    assert_int_equal(try_to_make(f, "after"), SL_CODE_OK);
    commit(f);
    assert_true(is_there(f, "after"));
}

static void test_lost_batch_read_between_writes_takes_both_with_it(void **state)
{
    struct fixture *f = *state;
    struct sl_json *o = NULL;
    reopen_full(f);
    uint64_t revision = sl_store_durable(f->store);
    assert_int_equal(try_to_make(f, "before"), SL_CODE_OK);
    disk.fail_database_reads = 1;
    assert_int_equal(sl_store_get(f->store, SL_KIND_LOCAL_QUEUE, "default", "queue-150", &o, &f->e),
                     SL_CODE_INTERNAL);
    assert_int_equal(disk.fail_database_reads, 0);
    assert_int_equal(try_to_make(f, "after"), SL_CODE_INTERNAL);
    assert_int_equal(sl_store_commit(f->store, &f->e), SL_CODE_INTERNAL);
    expect_lost(f, revision);
}

static void test_lost_batch_read_before_the_commit_is_told(void **state)
{
    struct fixture *f = *state;
    struct sl_json *o = NULL;
    reopen_full(f);
    uint64_t revision = sl_store_durable(f->store);
    assert_int_equal(try_to_make(f, "before"), SL_CODE_OK);
    disk.fail_database_reads = 1;
    assert_int_equal(sl_store_get(f->store, SL_KIND_LOCAL_QUEUE, "default", "queue-150", &o, &f->e),
                     SL_CODE_INTERNAL);
    assert_int_equal(sl_store_commit(f->store, &f->e), SL_CODE_INTERNAL);
    expect_lost(f, revision);
}

/* Whatever of its reads it is that fails: of a write nothing is there, or all of it. */
static void test_lost_batch_read_within_a_write_leaves_nothing_of_it(void **state)
{
    struct fixture *f = *state;
    reopen_full(f);
    uint64_t revision = sl_store_durable(f->store);
    disk.fail_database_reads = 1;
    assert_int_equal(try_to_make(f, "after"), SL_CODE_INTERNAL);
    assert_int_equal(disk.fail_database_reads, 0);
    (void)sl_store_commit(f->store, &f->e);
    expect_lost(f, revision);
}

/* --- refusals ------------------------------------------------------------------------------------- */

static void on_reply(void *context, enum sl_code code, const struct sl_error *e,
                     struct sl_json *result)
{
    assert_true((code == SL_CODE_OK) == (result != NULL) && (result != NULL || e != NULL));
    *(enum sl_code *)context = code;
}

static void delete_as_client(struct fixture *f, const char *name, enum sl_code *code)
{
    struct sl_client client;
    struct sl_write w = on(SL_VERB_DELETE, SL_KIND_LOCAL_QUEUE, "default", name);
    sl_store_client(f->store, NULL, NULL, &client);
    client.write(client.self, &w, on_reply, code);
}

/* What there was nothing left to delete of is there: whoever was to delete it has to try again. */
static void test_lost_batch_takes_back_what_was_refused_on_its_word(void **state)
{
    struct fixture *f = *state;
    enum sl_code code = SL_CODE_OK;
    make_queue(f, "q", "");
    commit(f);
    must(f, on(SL_VERB_DELETE, SL_KIND_LOCAL_QUEUE, "default", "q"), NULL);
    delete_as_client(f, "q", &code);
    disk.full = true;
    assert_int_equal(sl_store_commit(f->store, &f->e), SL_CODE_UNAVAILABLE);
    assert_int_equal(code, SL_CODE_UNAVAILABLE);
    assert_true(is_there(f, "q"));
    disk.full = false;
    delete_as_client(f, "q", &code);
    commit(f);
    assert_int_equal(code, SL_CODE_OK);
    assert_false(is_there(f, "q"));
}

static void test_lost_batch_leaves_a_refusal_that_came_before_it(void **state)
{
    struct fixture *f = *state;
    enum sl_code code = SL_CODE_OK;
    delete_as_client(f, "q", &code);
    make_queue(f, "q", "");
    disk.full = true;
    assert_int_equal(sl_store_commit(f->store, &f->e), SL_CODE_UNAVAILABLE);
    assert_int_equal(code, SL_CODE_NOT_FOUND);
}

int main(void)
{
#define CASE(test) cmocka_unit_test_setup_teardown(test, watch_disk, leave_disk)
    const struct CMUnitTest tests[] = {
        CASE(test_lost_batch_read_between_writes_takes_both_with_it),
        CASE(test_lost_batch_read_before_the_commit_is_told),
        CASE(test_lost_batch_read_within_a_write_leaves_nothing_of_it),
        CASE(test_lost_batch_takes_back_what_was_refused_on_its_word),
        CASE(test_lost_batch_leaves_a_refusal_that_came_before_it),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
