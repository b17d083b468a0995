/* SPDX-License-Identifier: Apache-2.0
 * SPDX-FileCopyrightText: The Sluice authors */

/* Reads that fail: what cannot be read is not taken for absent. */
#include "fixture.h"
#include "store/internal.h"

#define QUEUE SL_KIND_LOCAL_QUEUE

struct failing {
    struct sl_store *store;
    enum sl_sql id, also;
    int times;
};

static int on_progress(void *context)
{
    struct failing *f = context;
    bool meant = sqlite3_stmt_busy(f->store->sql[f->id]) != 0 ||
                 sqlite3_stmt_busy(f->store->sql[f->also]) != 0;
    return f->times > 0 && meant && f->times-- > 0;
}

/* The next so many runs of that statement are broken off by SQLite, as by a disk that fails. */
static void break_off(struct fixture *f, struct failing *how, enum sl_sql id, int times)
{
    *how = (struct failing){f->store, id, id, times};
    sqlite3_progress_handler(f->store->db, 1, times > 0 ? on_progress : NULL, how);
}

static void mend(struct fixture *f)
{
    sqlite3_progress_handler(f->store->db, 0, NULL, NULL);
}

static void make_owned(struct fixture *f, const char *name, const char *owner)
{
    char more[512];
    struct sl_json *o = get_queue(f, owner);
    assert_non_null(o);
    (void)snprintf(more, sizeof more,
                   ",\"ownerReferences\":[{\"apiVersion\":\"%s\",\"kind\":\"LocalQueue\",\"name\":"
                   "\"%s\",\"uid\":\"%s\"}]",
                   sl_kind_info(QUEUE)->api_version, owner, sl_object_uid(o));
    make_queue(f, name, more);
    sl_json_free(o);
}

static bool is_there(struct fixture *f, const char *name)
{
    struct sl_json *o = get_queue(f, name);
    bool there = o != NULL;
    sl_json_free(o);
    return there;
}

static void commit_some(struct fixture *f)
{
    for (int i = 0; i < 4; i++) {
        (void)sl_store_commit(f->store, &f->e);
    }
}

static void delete_queue(struct fixture *f, const char *name, const char *propagation)
{
    struct sl_write w = on(SL_VERB_DELETE, QUEUE, "default", name);
    w.propagation = propagation;
    must(f, w, NULL);
}

static void test_create_with_an_owner_that_cannot_be_read_is_refused(void **state)
{
    struct fixture *f = *state;
    struct failing how;
    char body[512];
    make_queue(f, "owner", "");
    commit(f);
    struct sl_json *owner = get_queue(f, "owner");
    (void)snprintf(body, sizeof body,
                   "{\"metadata\":{\"name\":\"child\",\"ownerReferences\":[{\"apiVersion\":\"%s\","
                   "\"kind\":\"LocalQueue\",\"name\":\"owner\",\"uid\":\"%s\"}]},\"spec\":{"
                   "\"clusterQueue\":\"cq\"}}",
                   sl_kind_info(QUEUE)->api_version, sl_object_uid(owner));
    break_off(f, &how, SL_SQL_HAS, 9);
    assert_int_equal(code_of(f, create(QUEUE, "default"), body), SL_CODE_INTERNAL);
    assert_non_null(strstr(f->e.text, "cannot read the database"));
    mend(f);
    must(f, create(QUEUE, "default"), body);
    commit(f);
    assert_true(is_there(f, "child"));
    sl_json_free(owner);
}

static void test_collect_owner_that_cannot_be_read_keeps_its_dependents(void **state)
{
    struct fixture *f = *state;
    struct failing how;
    char body[640];
    make_queue(f, "first", "");
    make_queue(f, "second", "");
    struct sl_json *first = get_queue(f, "first"), *second = get_queue(f, "second");
    (void)snprintf(
        body, sizeof body,
        "{\"metadata\":{\"name\":\"child\",\"ownerReferences\":[{\"apiVersion\":\"%s\","
        "\"kind\":\"LocalQueue\",\"name\":\"first\",\"uid\":\"%s\"},{\"apiVersion\":\"%s\","
        "\"kind\":\"LocalQueue\",\"name\":\"second\",\"uid\":\"%s\"}]},\"spec\":{"
        "\"clusterQueue\":\"cq\"}}",
        sl_kind_info(QUEUE)->api_version, sl_object_uid(first), sl_kind_info(QUEUE)->api_version,
        sl_object_uid(second));
    must(f, create(QUEUE, "default"), body);
    commit(f);
    delete_queue(f, "first", NULL);
    break_off(f, &how, SL_SQL_HAS, 9); /* is the second one there? */
    commit_some(f);
    mend(f);
    commit_some(f);
    assert_false(is_there(f, "first"));
    assert_true(is_there(f, "child"));
    sl_json_free(first);
    sl_json_free(second);
}

static void test_collect_dependents_that_cannot_be_read_go_later(void **state)
{
    struct fixture *f = *state;
    struct failing how;
    make_queue(f, "owner", "");
    make_owned(f, "child", "owner");
    commit(f);
    delete_queue(f, "owner", NULL);
    break_off(f, &how, SL_SQL_OWNED, 9);
    commit_some(f);
    assert_true(is_there(f, "child"));
    mend(f);
    make_queue(f, "other", ""); /* a good commit takes background work up again */
    commit_some(f);
    assert_false(is_there(f, "child"));
}

static void test_collect_foreground_owner_waits_for_what_cannot_be_read(void **state)
{
    struct fixture *f = *state;
    struct failing how;
    make_queue(f, "owner", "");
    make_owned(f, "child", "owner");
    commit(f);
    delete_queue(f, "owner", "Foreground");
    break_off(f, &how, SL_SQL_OWNED, 9);
    commit_some(f);
    assert_true(is_there(f, "owner"));
    mend(f);
    make_queue(f, "other", "");
    commit_some(f);
    assert_false(is_there(f, "child"));
    assert_false(is_there(f, "owner"));
}

static void test_orphan_dependents_that_cannot_be_read_refuse_the_deletion(void **state)
{
    struct fixture *f = *state;
    struct failing how;
    make_queue(f, "owner", "");
    make_owned(f, "child", "owner");
    commit(f);
    struct sl_write w = on(SL_VERB_DELETE, QUEUE, "default", "owner");
    w.propagation = "Orphan";
    break_off(f, &how, SL_SQL_OWNED, 1);
    assert_int_equal(code_of(f, w, NULL), SL_CODE_INTERNAL);
    mend(f);
    assert_true(is_there(f, "owner"));
    must(f, w, NULL);
    commit_some(f);
    assert_false(is_there(f, "owner"));
    assert_true(is_there(f, "child"));
}

static void count_watch(void *context, enum sl_watch_type type, enum sl_kind kind,
                        struct sl_json *object)
{
    int *counts = context;
    (void)kind;
    (void)object;
    counts[type]++;
}

static void test_watch_whose_list_cannot_be_read_synchronises_later(void **state)
{
    struct fixture *f = *state;
    struct failing how;
    struct sl_client client;
    int counts[4] = {0};
    make_queue(f, "one", "");
    commit(f);
    sl_store_client(f->store, NULL, NULL, &client);
    break_off(f, &how, SL_SQL_LIST, 2);
    client.watch(client.self, QUEUE, count_watch, counts);
    assert_int_equal(counts[SL_WATCH_SYNCED], 0);
    assert_false(sl_store_dirty(f->store)); /* or the loop would spin */
    sl_clock_set_virtual(NOW_MS + 2000);
    assert_true(sl_store_dirty(f->store));
    (void)sl_store_commit(f->store, &f->e); /* fails a second time */
    assert_int_equal(counts[SL_WATCH_SYNCED], 0);
    make_queue(f, "two", "");
    commit(f);
    assert_int_equal(counts[SL_WATCH_ADDED], 1); /* of the new one: the watch is there */
    sl_clock_set_virtual(NOW_MS + 4000);
    (void)sl_store_commit(f->store, &f->e);
    mend(f);
    assert_int_equal(counts[SL_WATCH_SYNCED], 1);
    assert_int_equal(counts[SL_WATCH_ADDED], 3);
    assert_false(sl_store_dirty(f->store));
}

struct told {
    int modified, deleted;
};

static void on_told(void *context, enum sl_watch_type type, enum sl_kind kind,
                    struct sl_json *object)
{
    struct told *t = context;
    assert_int_equal(kind, QUEUE);
    if (type == SL_WATCH_MODIFIED) {
        assert_string_equal(sl_object_name(object), "kept");
        t->modified++;
    } else if (type == SL_WATCH_DELETED) {
        assert_string_equal(sl_object_name(object), "never");
        t->deleted++;
    }
}

/* A durable queue is watched, and its deletion staged but not yet committed. */
static void watch_and_delete_kept(struct fixture *f, struct told *told)
{
    uint64_t id = 0;
    make_queue(f, "kept", "");
    commit(f);
    assert_int_equal(
        sl_store_watch(f->store, QUEUE, sl_store_durable(f->store), on_told, told, &id, &f->e),
        SL_CODE_OK);
    delete_queue(f, "kept", NULL);
}

/* Whoever read what was staged believes it; no other event would say that it is not so. */
static void test_lost_writes_are_told_as_it_is_without_them(void **state)
{
    struct fixture *f = *state;
    struct failing how;
    struct told told = {0};
    watch_and_delete_kept(f, &told);
    make_queue(f, "never", "");
    assert_false(is_there(f, "kept"));
    assert_true(is_there(f, "never"));
    break_off(f, &how, SL_SQL_SET_REVISION, 1);
    assert_int_equal(sl_store_commit(f->store, &f->e), SL_CODE_INTERNAL);
    mend(f);
    assert_true(is_there(f, "kept"));
    assert_false(is_there(f, "never"));
    assert_int_equal(told.modified, 1);
    assert_int_equal(told.deleted, 1);
}

/* When that cannot be read either, it is tried again. */
static void test_lost_writes_that_cannot_be_read_are_told_later(void **state)
{
    struct fixture *f = *state;
    struct failing how;
    struct told told = {0};
    watch_and_delete_kept(f, &told);
    break_off(f, &how, SL_SQL_SET_REVISION, 1);
    how.also = SL_SQL_GET;
    how.times = 2;
    assert_int_equal(sl_store_commit(f->store, &f->e), SL_CODE_INTERNAL);
    mend(f);
    assert_int_equal(told.modified, 0);
    sl_clock_set_virtual(NOW_MS + 2000);
    commit(f);
    assert_int_equal(told.modified, 1);
}

/* It was there to be done before the batch that is lost. A dependent that stays for its finalizer makes no more of it. */
static void test_collect_is_taken_up_again_when_its_batch_is_lost_at_its_end(void **state)
{
    struct fixture *f = *state;
    struct failing how;
    make_queue(f, "owner", "");
    make_owned(f, "child", "owner");
    must(f, on(SL_VERB_PATCH_MERGE, QUEUE, "default", "child"),
         "{\"metadata\":{\"finalizers\":[\"example.com/held\"]}}");
    commit(f);
    delete_queue(f, "owner", NULL);
    break_off(f, &how, SL_SQL_OWNED, 9);
    assert_int_equal(sl_store_commit(f->store, &f->e), SL_CODE_OK); /* without it */
    mend(f);
    make_queue(f, "good", "");
    assert_int_equal(sl_store_commit(f->store, &f->e), SL_CODE_OK);
    assert_true(is_there(f, "child"));
    break_off(f, &how, SL_SQL_KEEP, 1);
    assert_int_not_equal(sl_store_commit(f->store, &f->e), SL_CODE_OK);
    assert_int_equal(how.times, 0);
    mend(f);
    make_queue(f, "better", "");
    commit(f);
    struct sl_json *child = get_queue(f, "child");
    assert_true(sl_object_deleting(child));
    sl_json_free(child);
}

#define CASE(name) cmocka_unit_test_setup_teardown(name, setup, teardown)
int main(void)
{
    const struct CMUnitTest tests[] = {
        CASE(test_create_with_an_owner_that_cannot_be_read_is_refused),
        CASE(test_collect_is_taken_up_again_when_its_batch_is_lost_at_its_end),
        CASE(test_collect_owner_that_cannot_be_read_keeps_its_dependents),
        CASE(test_collect_dependents_that_cannot_be_read_go_later),
        CASE(test_collect_foreground_owner_waits_for_what_cannot_be_read),
        CASE(test_orphan_dependents_that_cannot_be_read_refuse_the_deletion),
        CASE(test_lost_writes_are_told_as_it_is_without_them),
        CASE(test_lost_writes_that_cannot_be_read_are_told_later),
        CASE(test_watch_whose_list_cannot_be_read_synchronises_later),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
