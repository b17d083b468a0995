/* SPDX-License-Identifier: Apache-2.0
 * SPDX-FileCopyrightText: The Sluice authors */

/* A disk that gives back other bytes than it was given: flipped ones, pages of zeros, pages in each other's place, pages
 * as they were before, an end that is missing. It is noticed, or nothing is different for it: what is told is to the
 * letter what was written. */
#include <fcntl.h>
#include <sys/stat.h>

#include "base/fnv1a.h"
#include "base/log.h"
#include "fixture.h"
#include "store/internal.h"

#define QUEUE SL_KIND_LOCAL_QUEUE
#define PAGE 4096u
#define OBJECTS 60

struct image {
    char *data;
    size_t size;
};

static uint64_t chance_state;

static uint64_t chance_below(uint64_t n)
{
    chance_state = chance_state * 6364136223846793005u + 1442695040888963407u;
    return (chance_state >> 33) % n;
}

static const char *db_path(const struct fixture *f)
{
    static char path[128];
    (void)snprintf(path, sizeof path, "%s/sluice.db", f->dir);
    return path;
}

static void close_store(struct fixture *f)
{
    sl_store_close(f->store);
    f->store = NULL;
}

static struct image read_image(const struct fixture *f)
{
    struct stat st;
    int fd = open(db_path(f), O_RDONLY);
    assert_int_equal(fstat(fd, &st), 0);
    struct image i = {sl_mem_new((size_t)st.st_size, 1), (size_t)st.st_size};
    assert_int_equal(read(fd, i.data, i.size), i.size);
    (void)close(fd);
    return i;
}

static void write_image(const struct fixture *f, const struct image *i)
{
    char path[160];
    static const char *const others[] = {"-wal", "-shm"};
    for (size_t o = 0; o < 2; o++) {
        (void)snprintf(path, sizeof path, "%s%s", db_path(f), others[o]);
        (void)unlink(path);
    }
    int fd = open(db_path(f), O_WRONLY | O_CREAT | O_TRUNC, 0600);
    assert_int_equal(write(fd, i->data, i->size), i->size);
    (void)close(fd);
}

static void add_text(void *context, const char *text, size_t n)
{
    *(uint64_t *)context = sl_fnv1a(*(uint64_t *)context, text, n);
}

/* Of all that is told; an error when it is not told to its end. */
static enum sl_code sum_of(struct fixture *f, uint64_t *sum)
{
    *sum = SL_FNV1A_BASIS;
    for (int kind = 0; kind < (int)sl_kind_end(); kind++) {
        struct sl_store_list q = {.kind = (enum sl_kind)kind, .ns = ""};
        enum sl_code code = sl_store_list_text(f->store, &q, add_text, sum, NULL, NULL, &f->e);
        if (code != SL_CODE_OK) {
            return code;
        }
    }
    return SL_CODE_OK;
}

static void fill(struct fixture *f, struct image *before)
{
    char name[32], more[600];
    for (int i = 0; i < OBJECTS; i++) {
        (void)snprintf(name, sizeof name, "queue-%d", i);
        (void)snprintf(more, sizeof more,
                       ",\"annotations\":{\"text\":\"%0*d\"},\"ownerReferences\":[{\"apiVersion\":"
                       "\"%s\",\"kind\":\"LocalQueue\",\"name\":\"o\",\"uid\":\"u-%d\"}]",
                       (int)chance_below(300) + 1, i, "other.example/v1", i);
        make_queue(f, name, more);
    }
    commit(f);
    close_store(f);
    *before = read_image(f);
    assert_int_equal(sl_store_open(f->dir, &f->store, &f->e), SL_CODE_OK);
    for (int i = 0; i < OBJECTS; i += 3) {
        (void)snprintf(name, sizeof name, "queue-%d", i);
        must(f, on(SL_VERB_PATCH_MERGE, QUEUE, "default", name),
             "{\"metadata\":{\"labels\":{\"changed\":\"yes\"}}}");
    }
    commit(f);
    (void)snprintf(more, sizeof more, "queue-%d", OBJECTS / 2 + 1);
    must(f, on(SL_VERB_DELETE, QUEUE, "default", more), NULL);
    commit(f);
}

enum damage {
    DAMAGE_BYTES,
    DAMAGE_CUT,
    DAMAGE_ZEROS,
    DAMAGE_SWAPPED,
    DAMAGE_HEADER,
    DAMAGE_OLD_PAGE,
    DAMAGE_BIT,
    DAMAGE_COUNT
};

static void damage(struct image *i, const struct image *before, enum damage how)
{
    size_t pages = i->size / PAGE;
    char *page = i->data + chance_below(pages) * PAGE;
    char *other = i->data + chance_below(pages) * PAGE, kept[PAGE];
    static const unsigned counts[] = {1, 10, 200};
    switch (how) {
    case DAMAGE_BYTES:
        for (unsigned n = counts[chance_below(3)]; n > 0; n--) {
            i->data[100 + chance_below(i->size - 100)] = (char)chance_below(256);
        }
        break;
    case DAMAGE_CUT:
        i->size = chance_below(i->size);
        break;
    case DAMAGE_ZEROS:
        memset(page, 0, PAGE);
        break;
    case DAMAGE_SWAPPED:
        memcpy(kept, page, PAGE);
        memcpy(page, other, PAGE);
        memcpy(other, kept, PAGE);
        break;
    case DAMAGE_HEADER:
        i->data[chance_below(100)] ^= (char)(1 + chance_below(255));
        break;
    case DAMAGE_OLD_PAGE:
        pages = before->size / PAGE < pages ? before->size / PAGE : pages;
        page = i->data + chance_below(pages) * PAGE;
        memcpy(page, before->data + (page - i->data), PAGE);
        break;
    case DAMAGE_BIT:
    case DAMAGE_COUNT:
        i->data[chance_below(i->size)] ^= (char)(1 << chance_below(8));
        break;
    }
}

static bool is_told_as_damage(const struct sl_error *e)
{
    return strstr(e->text, "damaged") != NULL || strstr(e->text, "another program") != NULL ||
           strstr(e->text, "version") != NULL;
}

/* False: it was noticed. */
static bool starts(struct fixture *f, enum damage how, uint64_t good)
{
    uint64_t sum;
    if (sl_store_open(f->dir, &f->store, &f->e) != SL_CODE_OK) {
        assert_null(f->store);
        if (!is_told_as_damage(&f->e)) {
            fail_msg("damage %d is told as \"%s\"", (int)how, f->e.text);
        }
        return false;
    }
    if (sum_of(f, &sum) != SL_CODE_OK) {
        fail_msg("damage %d is found when it runs: %s", (int)how, f->e.text);
    }
    if (sum != good) {
        fail_msg("damage %d is served", (int)how);
    }
    close_store(f);
    return true;
}

static void test_damage_is_noticed_or_harmless(void **state)
{
    struct fixture *f = *state;
    struct image before, good;
    uint64_t sum;
    unsigned noticed = 0;
    chance_state = 1;
    fill(f, &before);
    assert_int_equal(sum_of(f, &sum), SL_CODE_OK);
    close_store(f);
    good = read_image(f);
    for (unsigned round = 0; round < 60 * DAMAGE_COUNT; round++) {
        enum damage how = (enum damage)(round % DAMAGE_COUNT);
        struct image i = {sl_mem_new(good.size, 1), good.size};
        memcpy(i.data, good.data, good.size);
        damage(&i, &before, how);
        bool same = i.size == good.size && memcmp(i.data, good.data, good.size) == 0;
        write_image(f, &i);
        noticed += !starts(f, how, sum) && !same;
        sl_mem_free(i.data);
    }
    assert_true(noticed > 100);
    write_image(f, &good);
    assert_int_equal(sl_store_open(f->dir, &f->store, &f->e), SL_CODE_OK);
    sl_mem_free(before.data);
    sl_mem_free(good.data);
}

/* --- while it runs ------------------------------------------------------------------------------ */

static void on_damage(void *context, const struct sl_error *e)
{
    assert_int_equal(e->code, SL_CODE_DAMAGED);
    assert_non_null(strstr(e->text, "sluice.db is damaged"));
    assert_non_null(strstr(e->text, "restore a backup"));
    ++*(unsigned *)context;
}

/* As on a disk that changes under it: behind the back of the triggers. */
static void rot(struct fixture *f, const char *sql)
{
    assert_int_equal(sqlite3_exec(f->store->db, "DROP TRIGGER objects_on", NULL, NULL, NULL),
                     SQLITE_OK);
    assert_int_equal(sqlite3_exec(f->store->db, sql, NULL, NULL, NULL), SQLITE_OK);
}

static void test_damage_under_way_is_told_once_and_ends_writing(void **state)
{
    static const char *const sqls[] = {
        "UPDATE objects SET body = replace(body, 'cq', 'cp') WHERE name = 'a'",
        "UPDATE objects SET rv = rv - 1 WHERE name = 'a'",
        "UPDATE objects SET uid = 'other' WHERE name = 'a'",
        "UPDATE objects SET body = CAST(body AS BLOB) WHERE name = 'a'",
        "UPDATE objects SET body = (SELECT body FROM objects WHERE name = 'b') WHERE name = 'a'",
    };
    for (size_t i = 0; i < sizeof sqls / sizeof sqls[0]; i++) {
        struct fixture *f = *state;
        unsigned told = 0;
        uint64_t sum;
        make_queue(f, "a", "");
        make_queue(f, "b", "");
        commit(f);
        rot(f, sqls[i]);
        sl_store_on_damage(f->store, on_damage, &told);
        make_queue(f, "staged", "");
        assert_null(get_queue(f, "a"));
        assert_int_equal(f->e.code, SL_CODE_DAMAGED);
        assert_non_null(strstr(f->e.text, "row of localqueues.kueue.x-k8s.io default/a"));
        assert_int_equal(sum_of(f, &sum), SL_CODE_DAMAGED);
        assert_int_equal(
            code_of(f, create(QUEUE, "default"),
                    "{\"metadata\":{\"name\":\"c\"},\"spec\":{\"clusterQueue\":\"cq\"}}"),
            SL_CODE_DAMAGED);
        assert_int_equal(sl_store_commit(f->store, &f->e), SL_CODE_DAMAGED);
        assert_int_equal(told, 1);
        close_store(f);
        assert_int_equal(sl_store_open(f->dir, &f->store, &f->e), SL_CODE_DAMAGED);
        remove_dir(f->dir);
        assert_int_equal(mkdir(f->dir, 0700), 0);
        assert_int_equal(sl_store_open(f->dir, &f->store, &f->e), SL_CODE_OK);
    }
}

/* What the index of owners says is believed of no object that does not say so itself. */
static void test_damage_of_the_index_of_owners_deletes_nothing(void **state)
{
    struct fixture *f = *state;
    make_queue(f, "owner", "");
    make_queue(f, "innocent", "");
    make_queue(f, "child", "");
    commit(f);
    assert_int_equal(sqlite3_exec(f->store->db,
                                  "INSERT INTO owners SELECT o.uid, c.kind, c.ns, c.name FROM "
                                  "objects o, objects c WHERE o.name = 'owner' AND c.name = "
                                  "'innocent'",
                                  NULL, NULL, NULL),
                     SQLITE_OK);
    must(f, on(SL_VERB_DELETE, QUEUE, "default", "owner"), NULL);
    commit(f);
    struct sl_json *o = get_queue(f, "innocent");
    assert_non_null(o);
    sl_json_free(o);
}

/* --- files of version 1 ------------------------------------------------------------------------- */

static void make_old(struct fixture *f, const char *also)
{
    static const char *const names[] = {"objects", "owners", "collect", "ending", "kinds"};
    static const char *const events[] = {"in", "on", "out"};
    char sql[128];
    sqlite3 *db = NULL;
    close_store(f);
    assert_int_equal(sqlite3_open(db_path(f), &db), SQLITE_OK);
    for (size_t i = 0; i < 15; i++) {
        (void)snprintf(sql, sizeof sql, "DROP TRIGGER %s_%s", names[i / 3], events[i % 3]);
        assert_int_equal(sqlite3_exec(db, sql, NULL, NULL, NULL), SQLITE_OK);
    }
    assert_int_equal(sqlite3_exec(db,
                                  "ALTER TABLE objects DROP COLUMN sum; DELETE FROM meta WHERE key "
                                  "<> 'revision'; PRAGMA user_version = 1",
                                  NULL, NULL, NULL),
                     SQLITE_OK);
    assert_int_equal(sqlite3_exec(db, also, NULL, NULL, NULL), SQLITE_OK);
    assert_int_equal(sqlite3_close(db), SQLITE_OK);
    (void)snprintf(sql, sizeof sql, "%s/revision", f->dir);
    assert_int_equal(unlink(sql), 0);
}

static void test_damage_files_of_version_1_get_checksums(void **state)
{
    struct fixture *f = *state;
    struct image before;
    uint64_t sum, again;
    fill(f, &before);
    assert_int_equal(sum_of(f, &sum), SL_CODE_OK);
    make_old(f, "SELECT 1");
    for (int i = 0; i < 2; i++) {
        if (sl_store_open(f->dir, &f->store, &f->e) != SL_CODE_OK) {
            fail_msg("%s", f->e.text);
        }
        assert_int_equal(sum_of(f, &again), SL_CODE_OK);
        assert_true(sum == again);
        must(f, on(SL_VERB_PATCH_MERGE, QUEUE, "default", "queue-1"),
             "{\"metadata\":{\"labels\":{\"of\":\"now\"}}}");
        commit(f);
        assert_int_equal(sum_of(f, &sum), SL_CODE_OK);
        close_store(f);
    }
    assert_int_equal(sl_store_open(f->dir, &f->store, &f->e), SL_CODE_OK);
    rot(f, "UPDATE objects SET rv = rv - 1 WHERE name = 'queue-2'");
    assert_null(get_queue(f, "queue-2"));
    sl_mem_free(before.data);
}

static void test_damage_files_of_version_1_are_checked_as_far_as_that_goes(void **state)
{
    struct fixture *f = *state;
    make_queue(f, "a", "");
    commit(f);
    make_old(f, "UPDATE objects SET rv = 9000 WHERE name = 'a'");
    assert_int_equal(sl_store_open(f->dir, &f->store, &f->e), SL_CODE_DAMAGED);
    assert_non_null(strstr(f->e.text, "objects are newer than the last revision"));
}

int main(void)
{
    sl_log_setup(SL_LOG_ERROR, false);
    const struct CMUnitTest tests[] = {
        cmocka_unit_test_setup_teardown(test_damage_is_noticed_or_harmless, setup, teardown),
        cmocka_unit_test_setup_teardown(test_damage_under_way_is_told_once_and_ends_writing, setup,
                                        teardown),
        cmocka_unit_test_setup_teardown(test_damage_of_the_index_of_owners_deletes_nothing, setup,
                                        teardown),
        cmocka_unit_test_setup_teardown(test_damage_files_of_version_1_get_checksums, setup,
                                        teardown),
        cmocka_unit_test_setup_teardown(
            test_damage_files_of_version_1_are_checked_as_far_as_that_goes, setup, teardown),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
