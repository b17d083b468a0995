/* SPDX-License-Identifier: Apache-2.0
 * SPDX-FileCopyrightText: The Sluice authors */

/* What can go wrong with a data directory, at the start and under way. */
#include <fcntl.h>
#include <sys/stat.h>
#include <sys/wait.h>

#include "fixture.h"
#include "store/internal.h"

#define QUEUE SL_KIND_LOCAL_QUEUE

/* Opens in a child without root's powers, for which no directory is read-only. */
static int open_as_nobody(const char *dir, const char *expected)
{
    pid_t child = fork();
    assert_true(child >= 0);
    if (child == 0) {
        struct sl_store *s = NULL;
        struct sl_error e;
        if (geteuid() == 0 && (setgid(65534) != 0 || setuid(65534) != 0)) {
            _exit(3);
        }
        bool refused = sl_store_open(dir, &s, &e) != SL_CODE_OK && s == NULL;
        _exit(refused && strstr(e.text, expected) != NULL ? 0 : 1);
    }
    int status = -1;
    assert_int_equal(waitpid(child, &status, 0), child);
    return WIFEXITED(status) ? WEXITSTATUS(status) : -1;
}

static void reopen_refused(struct fixture *f, const char *dir, const char *expected)
{
    struct sl_store *s = NULL;
    enum sl_code code = sl_store_open(dir, &s, &f->e);
    assert_null(s);
    assert_int_equal(code,
                     strstr(f->e.text, "damaged") == NULL ? SL_CODE_INTERNAL : SL_CODE_DAMAGED);
    if (strstr(f->e.text, expected) == NULL) {
        fail_msg("\"%s\" does not say \"%s\"", f->e.text, expected);
    }
}

static void close_store(struct fixture *f)
{
    sl_store_close(f->store);
    f->store = NULL;
}

static void change_file(struct fixture *f, const char *sql)
{
    char path[128];
    sqlite3 *db = NULL;
    (void)snprintf(path, sizeof path, "%s/sluice.db", f->dir);
    assert_int_equal(sqlite3_open(path, &db), SQLITE_OK);
    assert_int_equal(sqlite3_exec(db, sql, NULL, NULL, NULL), SQLITE_OK);
    assert_int_equal(sqlite3_close(db), SQLITE_OK);
}

static void test_open_objects_and_revision_survive(void **state)
{
    struct fixture *f = *state;
    make_queue(f, "a", "");
    commit(f);
    uint64_t revision = sl_store_durable(f->store);
    make_queue(f, "lost", ""); /* never committed */
    sl_store_close(f->store);
    assert_int_equal(sl_store_open(f->dir, &f->store, &f->e), SL_CODE_OK);
    assert_int_equal(sl_store_revision(f->store), revision);
    struct sl_json *a = get_queue(f, "a");
    assert_non_null(a);
    assert_null(get_queue(f, "lost"));
    sl_json_free(a);
}

static void test_open_twice_names_the_lock(void **state)
{
    struct fixture *f = *state;
    reopen_refused(f, f->dir, "in use by another process");
}

static void test_open_file_is_not_a_directory(void **state)
{
    struct fixture *f = *state;
    char path[128];
    (void)snprintf(path, sizeof path, "%s/lock", f->dir);
    reopen_refused(f, path, "Not a directory");
}

static void test_open_without_parent_is_refused(void **state)
{
    struct fixture *f = *state;
    reopen_refused(f, "/nonexistent-parent/data", "cannot create data directory");
}

static void test_open_read_only_directory_is_refused(void **state)
{
    struct fixture *f = *state;
    close_store(f);
    assert_int_equal(chmod(f->dir, 0555), 0);
    assert_int_equal(open_as_nobody(f->dir, "cannot write to data directory"), 0);
    assert_int_equal(chmod(f->dir, 0700), 0);
}

static void test_open_read_only_file_is_refused(void **state)
{
    struct fixture *f = *state;
    char path[128];
    close_store(f);
    assert_int_equal(chmod(f->dir, 0777), 0);
    (void)snprintf(path, sizeof path, "%s/lock", f->dir);
    assert_int_equal(chmod(path, 0666), 0);
    (void)snprintf(path, sizeof path, "%s/sluice.db", f->dir);
    assert_int_equal(chmod(path, 0444), 0);
    assert_int_equal(open_as_nobody(f->dir, "read-only"), 0);
}

static void test_open_newer_schema_is_refused(void **state)
{
    struct fixture *f = *state;
    close_store(f);
    change_file(f, "PRAGMA user_version = 3");
    reopen_refused(f, f->dir, "written by a newer version (schema 3, this program reads 2)");
}

static void test_open_database_of_another_program_is_refused(void **state)
{
    struct fixture *f = *state;
    close_store(f);
    change_file(f, "PRAGMA application_id = 7");
    reopen_refused(f, f->dir, "database of another program");
}

static void test_open_damaged_file_is_refused(void **state)
{
    struct fixture *f = *state;
    char path[128], junk[8192];
    close_store(f);
    memset(junk, 'j', sizeof junk);
    (void)snprintf(path, sizeof path, "%s/sluice.db", f->dir);
    int fd = open(path, O_WRONLY | O_TRUNC);
    assert_int_equal(write(fd, junk, sizeof junk), sizeof junk);
    (void)close(fd);
    reopen_refused(f, f->dir, "sluice.db is damaged (file is not a database): restore a backup");
}

/* --- a full disk ----------------------------------------------------------------------------- */

struct outcome {
    int replies, listened;
    enum sl_code code, listened_code;
};

static void on_reply(void *context, enum sl_code code, const struct sl_error *e,
                     struct sl_json *result)
{
    struct outcome *o = context;
    assert_true(code == SL_CODE_OK || (e != NULL && result == NULL));
    o->replies++;
    o->code = code;
}

static void on_commit(void *context, enum sl_code code, const struct sl_error *e)
{
    struct outcome *o = context;
    assert_non_null(e);
    o->listened++;
    o->listened_code = code;
}

static void on_event(void *context, enum sl_watch_type type, enum sl_kind kind,
                     struct sl_json *object)
{
    assert_non_null(object);
    assert_int_equal(kind, QUEUE);
    /* What was staged and lost is told as deleted: somebody may have read it. */
    assert_true(type == SL_WATCH_ADDED || type == SL_WATCH_DELETED);
    *(int *)context += type == SL_WATCH_ADDED;
}

/* A queue with a quarter of a megabyte of annotations. */
static struct sl_json *big_queue(const char *name)
{
    struct sl_json *o = sl_object_new(QUEUE, "default", name);
    char *text = sl_mem_new(1, 250001);
    memset(text, 'x', 250000);
    sl_json_set_text(sl_json_path_make(o, "metadata.annotations"), "a", text);
    sl_json_set_text(sl_json_path_make(o, "spec"), "clusterQueue", "cq");
    sl_mem_free(text);
    return o;
}

static void write_big(struct sl_client *client, const char *name, struct outcome *o)
{
    struct sl_json *object = big_queue(name);
    struct sl_write w = {
        .verb = SL_VERB_CREATE, .kind = QUEUE, .ns = "default", .name = name, .body = object};
    client->write(client->self, &w, on_reply, o);
    sl_json_free(object);
}

static void test_full_disk_loses_the_batch_whole(void **state)
{
    struct fixture *f = *state;
    struct sl_client client;
    struct outcome small = {.code = SL_CODE_OK}, big = {.code = SL_CODE_OK};
    int events = 0;
    uint64_t id = 0, before;
    sl_store_client(f->store, NULL, NULL, &client);
    sl_store_listen(f->store, on_commit, &big);
    make_queue(f, "kept", "");
    commit(f);
    before = sl_store_durable(f->store);
    assert_int_equal(sl_store_watch(f->store, QUEUE, before, on_event, &events, &id, &f->e),
                     SL_CODE_OK);
    sl_store_set_size_max(f->store, 1 << 20);

    struct sl_json *object =
        json("{\"metadata\":{\"name\":\"small\"},\"spec\":{\"clusterQueue\":\"cq\"}}");
    struct sl_write w = {
        .verb = SL_VERB_CREATE, .kind = QUEUE, .ns = "default", .name = "small", .body = object};
    client.write(client.self, &w, on_reply, &small);
    sl_json_free(object);
    for (int i = 0; i < 8; i++) {
        char name[16];
        (void)snprintf(name, sizeof name, "b%d", i);
        write_big(&client, name, &big);
    }
    big.listened = 0;
    struct sl_error e;
    enum sl_code code = sl_store_commit(f->store, &e);

    /* What did not fit was refused; a batch is there whole or not at all. */
    assert_int_equal(big.replies, 8);
    assert_int_equal(small.replies, 1);
    assert_int_equal(big.code, SL_CODE_UNAVAILABLE);
    assert_int_equal(big.listened, 1);
    assert_int_equal(big.listened_code, code);
    struct sl_json *kept = get_queue(f, "kept"), *first = get_queue(f, "small");
    assert_non_null(kept); /* reads go on */
    assert_true((first != NULL) == (small.code == SL_CODE_OK));
    assert_true((events > 0) == (first != NULL));
    if (code != SL_CODE_OK) {
        assert_int_equal(sl_store_revision(f->store), before);
        assert_non_null(strstr(e.text, "the disk is full"));
    }
    sl_json_free(kept);
    sl_json_free(first);
}

static void test_full_disk_writes_go_on_with_room_again(void **state)
{
    struct fixture *f = *state;
    struct sl_client client;
    struct outcome o = {.code = SL_CODE_OK};
    sl_store_client(f->store, NULL, NULL, &client);
    sl_store_set_size_max(f->store, 1 << 17);
    write_big(&client, "big", &o);
    (void)sl_store_commit(f->store, &f->e);
    assert_int_equal(o.code, SL_CODE_UNAVAILABLE);
    assert_null(get_queue(f, "big"));
    sl_store_set_size_max(f->store, 0);
    write_big(&client, "big", &o);
    commit(f);
    assert_int_equal(o.code, SL_CODE_OK);
    sl_store_close(f->store);
    assert_int_equal(sl_store_open(f->dir, &f->store, &f->e), SL_CODE_OK);
    struct sl_json *big = get_queue(f, "big");
    assert_non_null(big);
    sl_json_free(big);
}

/* --- an end that was none ----------------------------------------------------------------------- */

/* In a child: writes, has everything moved from the log into the database, and dies. */
static void die_with_queues(struct fixture *f, const char *sql)
{
    close_store(f);
    pid_t child = fork();
    assert_true(child >= 0);
    if (child == 0) {
        char name[32];
        if (sl_store_open(f->dir, &f->store, &f->e) != SL_CODE_OK) {
            _exit(1);
        }
        for (int i = 0; i < 100; i++) {
            (void)snprintf(name, sizeof name, "queue-%d", i);
            make_queue(f, name, "");
        }
        bool done = sl_store_commit(f->store, &f->e) == SL_CODE_OK &&
                    sqlite3_exec(f->store->db, sql, NULL, NULL, NULL) == SQLITE_OK &&
                    sqlite3_wal_checkpoint_v2(f->store->db, NULL, SQLITE_CHECKPOINT_FULL, NULL,
                                              NULL) == SQLITE_OK;
        make_queue(f, "in-the-log", ""); /* which begins anew with it */
        done = done && sl_store_commit(f->store, &f->e) == SL_CODE_OK;
        _exit(done ? 0 : 2);
    }
    int status = -1;
    assert_int_equal(waitpid(child, &status, 0), child);
    assert_int_equal(status, 0);
}

/* Where the page with the text is in the database's file; -1 = nowhere. */
static off_t find_page_with(struct fixture *f, const char *text)
{
    char path[128], page[4096];
    off_t at = 0, found = -1;
    (void)snprintf(path, sizeof path, "%s/sluice.db", f->dir);
    int fd = open(path, O_RDONLY);
    for (; found < 0 && pread(fd, page, sizeof page, at) == sizeof page; at += 4096) {
        found = memmem(page, sizeof page, text, strlen(text)) != NULL ? at : -1;
    }
    (void)close(fd);
    return found;
}

/* As if that page had never been written. */
static void lose_page_with(struct fixture *f, const char *text)
{
    char path[128];
    const char zeros[4096] = {0};
    off_t at = find_page_with(f, text);
    (void)snprintf(path, sizeof path, "%s/sluice.db", f->dir);
    int fd = open(path, O_WRONLY);
    assert_true(at >= 0);
    assert_int_equal(pwrite(fd, zeros, sizeof zeros, at), sizeof zeros);
    (void)close(fd);
}

static void test_open_after_a_crash_finds_what_was_committed(void **state)
{
    struct fixture *f = *state;
    die_with_queues(f, "SELECT 1");
    assert_int_equal(sl_store_open(f->dir, &f->store, &f->e), SL_CODE_OK);
    struct sl_json *last = get_queue(f, "queue-99");
    assert_non_null(last);
    /* What that process told nobody can tell any more: its revisions are not given out again. */
    uint64_t told = strtoull(sl_object_resource_version(last), NULL, 10), id = 0;
    assert_true(sl_store_revision(f->store) >= told + 100000);
    assert_int_equal(sl_store_watch(f->store, QUEUE, told, on_event, NULL, &id, &f->e),
                     SL_CODE_GONE);
    make_queue(f, "next", "");
    commit(f);
    struct sl_json *next = get_queue(f, "next");
    assert_true(strtoull(sl_object_resource_version(next), NULL, 10) >= told + 100000);
    sl_json_free(next);
    sl_json_free(last);
}

static void test_open_after_a_crash_that_lost_a_page_is_refused(void **state)
{
    struct fixture *f = *state;
    die_with_queues(f, "SELECT 1");
    lose_page_with(f, "\"name\":\"queue-50\"");
    reopen_refused(f, f->dir, "is damaged");
    reopen_refused(f, f->dir, "restore a backup");
}

/* The system may hold the log's pages for written although their sync has failed: they are written once more. */
static void test_open_after_a_crash_moves_the_log_into_the_database(void **state)
{
    struct fixture *f = *state;
    die_with_queues(f, "SELECT 1");
    assert_int_equal(find_page_with(f, "\"name\":\"in-the-log\""), -1);
    assert_int_equal(sl_store_open(f->dir, &f->store, &f->e), SL_CODE_OK);
    assert_true(find_page_with(f, "\"name\":\"in-the-log\"") > 0);
}

static void test_open_after_a_crash_that_lost_the_revision_is_refused(void **state)
{
    struct fixture *f = *state;
    die_with_queues(f, "UPDATE objects SET rv = 7000 WHERE name = 'queue-7'");
    reopen_refused(f, f->dir, "objects are newer than the last revision");
}

static void test_open_without_its_own_rows_is_refused(void **state)
{
    struct fixture *f = *state;
    die_with_queues(f, "SELECT 1");
    change_file(f, "DELETE FROM meta");
    reopen_refused(f, f->dir, "is damaged (table meta: a row is missing)");
}

#define CASE(name) cmocka_unit_test_setup_teardown(name, setup, teardown)
int main(void)
{
    const struct CMUnitTest tests[] = {
        CASE(test_open_objects_and_revision_survive),
        CASE(test_open_twice_names_the_lock),
        CASE(test_open_file_is_not_a_directory),
        CASE(test_open_without_parent_is_refused),
        CASE(test_open_read_only_directory_is_refused),
        CASE(test_open_read_only_file_is_refused),
        CASE(test_open_newer_schema_is_refused),
        CASE(test_open_database_of_another_program_is_refused),
        CASE(test_open_damaged_file_is_refused),
        CASE(test_open_after_a_crash_finds_what_was_committed),
        CASE(test_open_after_a_crash_that_lost_a_page_is_refused),
        CASE(test_open_after_a_crash_moves_the_log_into_the_database),
        CASE(test_open_without_its_own_rows_is_refused),
        CASE(test_open_after_a_crash_that_lost_the_revision_is_refused),
        CASE(test_full_disk_loses_the_batch_whole),
        CASE(test_full_disk_writes_go_on_with_room_again),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
