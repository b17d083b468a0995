/* SPDX-License-Identifier: Apache-2.0
 * SPDX-FileCopyrightText: The Sluice authors */

/* What is staged is told inside of the process before it is durable, nobody else gets it, and when it is lost all who have
 * heard of it begin again. */
#include "disk_between.h"

#define QUEUE SL_KIND_LOCAL_QUEUE
#define CALM_MS 60000

/* "+a" added, "-a" deleted, "!" synced, "=a" written, "#" and the reason: refused. */
struct inside {
    struct fixture *f;
    struct sl_client client;
    char text[4096];
    unsigned wakes, again;
    bool writes_on; /* it answers events and refusals with a write */
};

static void note(struct inside *in, const char *mark, const char *name)
{
    size_t len = strlen(in->text);
    (void)snprintf(in->text + len, sizeof in->text - len, "%s%s ", mark, name);
}

static void on_reply(void *context, enum sl_code code, const struct sl_error *e,
                     struct sl_json *result);

static void write_queue(struct inside *in, const char *name)
{
    struct sl_json *object = json("{\"spec\":{\"clusterQueue\":\"cq\"}}");
    sl_json_set_text(sl_json_path_make(object, "metadata"), "name", name);
    struct sl_write w = {
        .verb = SL_VERB_CREATE, .kind = QUEUE, .ns = "default", .name = "", .body = object};
    in->client.write(in->client.self, &w, on_reply, in);
    sl_json_free(object);
}

static void on_reply(void *context, enum sl_code code, const struct sl_error *e,
                     struct sl_json *result)
{
    struct inside *in = context;
    assert_true((code == SL_CODE_OK) == (result != NULL) && (code == SL_CODE_OK) == (e == NULL));
    note(in, code == SL_CODE_OK ? "=" : "#",
         code == SL_CODE_OK ? sl_object_name(result) : sl_code_reason(code));
    if (code != SL_CODE_OK && in->writes_on) {
        in->writes_on = false;
        write_queue(in, "instead");
    }
}

static void on_event(void *context, enum sl_watch_type type, enum sl_kind kind,
                     struct sl_json *object)
{
    static const char *const marks[] = {"+", "~", "-", "!"};
    struct inside *in = context;
    assert_int_equal(kind, QUEUE);
    note(in, marks[type], object != NULL ? sl_object_name(object) : "");
    if (type == SL_WATCH_ADDED && in->writes_on && strcmp(sl_object_name(object), "first") == 0) {
        write_queue(in, "follows");
    }
}

static void on_wake(void *context)
{
    ((struct inside *)context)->wakes++;
}

static void begin_again(void *context)
{
    struct inside *in = context;
    in->again++;
    note(in, "again", "");
    sl_store_forget_watches(in->f->store);
    in->client.watch(in->client.self, QUEUE, on_event, in);
}

static void open_inside(struct fixture *f, struct inside *in)
{
    *in = (struct inside){.f = f};
    sl_store_client(f->store, on_wake, in, &in->client);
    sl_store_deliver_ahead(f->store, begin_again, in);
    in->client.watch(in->client.self, QUEUE, on_event, in);
    assert_string_equal(in->text, "! ");
    in->text[0] = '\0';
}

static bool is_durable(struct inside *in, const char *name)
{
    struct sl_json *o = get_queue(in->f, name);
    assert_non_null(o);
    bool is = in->client.durable(in->client.self, o);
    sl_json_free(o);
    return is;
}

static bool is_there(struct fixture *f, const char *name)
{
    struct sl_json *o = get_queue(f, name);
    sl_json_free(o);
    return o != NULL;
}

/* What a reader from outside gets. */
static unsigned read_outside(struct fixture *f, uint64_t *since)
{
    unsigned count = 0;
    bool found = true;
    struct sl_store_event event;
    while (found) {
        assert_int_equal(sl_store_next(f->store, QUEUE, since, &event, &found, &f->e), SL_CODE_OK);
        count += found;
    }
    return count;
}

static void test_ahead_all_that_follows_is_of_one_commit(void **state)
{
    struct fixture *f = *state;
    struct inside in;
    open_inside(f, &in);
    uint64_t since = sl_store_durable(f->store), before = since;
    in.writes_on = true;
    make_queue(f, "first", ""); /* somebody outside */
    assert_int_equal(in.wakes, 1);
    assert_string_equal(in.text, "");
    assert_true(sl_store_deliver(f->store));
    assert_string_equal(in.text, "+first ");
    assert_true(sl_store_deliver(f->store));
    assert_string_equal(in.text, "+first +follows =follows ");
    assert_false(sl_store_deliver(f->store));
    assert_int_equal(sl_store_durable(f->store), before);
    assert_false(is_durable(&in, "first"));
    assert_false(is_durable(&in, "follows"));
    assert_int_equal(read_outside(f, &since), 0);
    commit(f);
    assert_string_equal(in.text, "+first +follows =follows ");
    assert_true(is_durable(&in, "first"));
    assert_true(is_durable(&in, "follows"));
    assert_int_equal(read_outside(f, &since), 2);
    assert_false(sl_store_deliver(f->store));
    assert_int_equal(in.again, 0);
}

static void test_ahead_is_not_told_where_nobody_would_begin_again(void **state)
{
    struct fixture *f = *state;
    struct inside in = {.f = f};
    sl_store_client(f->store, on_wake, &in, &in.client);
    in.client.watch(in.client.self, QUEUE, on_event, &in);
    write_queue(&in, "a");
    assert_false(sl_store_deliver(f->store));
    assert_string_equal(in.text, "! ");
    commit(f);
    assert_string_equal(in.text, "! +a =a ");
}

static void lose(struct fixture *f)
{
    disk.full = true;
    assert_int_equal(sl_store_commit(f->store, &f->e), SL_CODE_UNAVAILABLE);
    disk.full = false;
}

static void test_ahead_of_a_lost_batch_everybody_begins_again(void **state)
{
    struct fixture *f = *state;
    struct inside in;
    open_inside(f, &in);
    uint64_t since = sl_store_durable(f->store);
    write_queue(&in, "a");
    commit(f);
    write_queue(&in, "lost");
    assert_true(sl_store_deliver(f->store));
    assert_string_equal(in.text, "+a =a +lost =lost ");
    in.text[0] = '\0';
    lose(f);
    assert_string_equal(in.text, "again +a ! "); /* as from a start: nothing of what was lost */
    assert_int_equal(in.again, 1);
    assert_false(is_there(f, "lost"));
    assert_false(sl_store_dirty(f->store));
    assert_int_equal(read_outside(f, &since), 1);
    in.text[0] = '\0';
    write_queue(&in, "b"); /* by a number that another event had */
    commit(f);
    assert_string_equal(in.text, "+b =b ");
    assert_int_equal(read_outside(f, &since), 1);
}

/* Who waits for an answer is refused, and whatever he asks for then: it would rest on what was lost. */
static void test_ahead_of_a_lost_batch_nothing_is_built_on_it(void **state)
{
    struct fixture *f = *state;
    struct inside in;
    open_inside(f, &in);
    write_queue(&in, "lost");
    assert_true(sl_store_deliver(f->store));
    write_queue(&in, "unanswered");
    in.text[0] = '\0';
    in.writes_on = true;
    lose(f);
    assert_string_equal(in.text, "#ServiceUnavailable #ServiceUnavailable again ! ");
    assert_false(sl_store_dirty(f->store));
    commit(f);
    assert_false(is_there(f, "lost"));
    assert_false(is_there(f, "unanswered"));
    assert_false(is_there(f, "instead"));
}

/* To begin again costs: once a minute at most. What is then lost is made good one by one. */
static void test_ahead_is_not_told_for_a_minute_after_a_loss(void **state)
{
    struct fixture *f = *state;
    struct inside in;
    open_inside(f, &in);
    write_queue(&in, "lost");
    assert_true(sl_store_deliver(f->store));
    lose(f);
    in.text[0] = '\0';
    in.wakes = 0;
    make_queue(f, "outside", "");
    assert_int_equal(in.wakes, 0);
    write_queue(&in, "lost");
    assert_false(sl_store_deliver(f->store));
    assert_string_equal(in.text, "");
    lose(f);
    assert_string_equal(in.text, "-lost -outside #ServiceUnavailable ");
    assert_int_equal(in.again, 1);
    sl_clock_set_virtual(NOW_MS + CALM_MS);
    in.text[0] = '\0';
    write_queue(&in, "told");
    assert_true(sl_store_deliver(f->store));
    assert_string_equal(in.text, "+told =told ");
    commit(f);
    assert_true(is_there(f, "told"));
}

/* The disk fails while it is read: SQLite gives up the batch then, and nothing more of it is told. */
static void test_ahead_of_a_batch_that_is_given_up_is_not_told_on(void **state)
{
    struct fixture *f = *state;
    struct inside in;
    struct sl_json *o = NULL;
    char name[32];
    for (int i = 0; i < 300; i++) { /* more than fits into the pages that one write looks at */
        (void)snprintf(name, sizeof name, "q%d", i);
        make_queue(f, name, "");
    }
    commit(f);
    sl_store_close(f->store);
    f->store = NULL;
    assert_int_equal(sl_store_open(f->dir, &f->store, &f->e), SL_CODE_OK);
    in = (struct inside){.f = f};
    sl_store_client(f->store, on_wake, &in, &in.client);
    sl_store_deliver_ahead(f->store, begin_again, &in);
    (void)sqlite3_db_release_memory(f->store->db);
    write_queue(&in, "a");
    assert_true(sl_store_deliver(f->store));
    assert_string_equal(in.text, "=a ");
    disk.fail_database_reads = 1;
    assert_int_equal(sl_store_get(f->store, QUEUE, "default", "q150", &o, &f->e), SL_CODE_INTERNAL);
    write_queue(&in, "b");
    assert_false(sl_store_deliver(f->store));
    assert_string_equal(in.text, "=a ");
    assert_int_equal(sl_store_commit(f->store, &f->e), SL_CODE_INTERNAL);
    assert_int_equal(in.again, 1);
    assert_int_equal(strncmp(in.text, "=a #InternalError again +q0 ", 28), 0);
    assert_false(is_there(f, "a"));
}

/* A commit that somebody asks for while it is told waits until all was told. */
static void on_event_commit(void *context, enum sl_watch_type type, enum sl_kind kind,
                            struct sl_json *object)
{
    struct inside *in = context;
    on_event(context, type, kind, object);
    assert_int_equal(sl_store_commit(in->f->store, &in->f->e), SL_CODE_OK);
}

static void test_ahead_is_told_whole_before_a_commit(void **state)
{
    struct fixture *f = *state;
    struct inside in;
    open_inside(f, &in);
    sl_store_forget_watches(f->store);
    in.client.watch(in.client.self, QUEUE, on_event_commit, &in);
    in.text[0] = '\0';
    uint64_t before = sl_store_durable(f->store);
    write_queue(&in, "a");
    write_queue(&in, "b");
    assert_true(sl_store_deliver(f->store));
    assert_string_equal(in.text, "+a +b =a =b ");
    assert_int_equal(sl_store_durable(f->store), before);
    commit(f);
    assert_true(is_durable(&in, "b"));
}

int main(void)
{
#define CASE(test) cmocka_unit_test_setup_teardown(test, watch_disk, leave_disk)
    const struct CMUnitTest tests[] = {
        CASE(test_ahead_all_that_follows_is_of_one_commit),
        CASE(test_ahead_is_not_told_where_nobody_would_begin_again),
        CASE(test_ahead_of_a_lost_batch_everybody_begins_again),
        CASE(test_ahead_of_a_lost_batch_nothing_is_built_on_it),
        CASE(test_ahead_is_not_told_for_a_minute_after_a_loss),
        CASE(test_ahead_of_a_batch_that_is_given_up_is_not_told_on),
        CASE(test_ahead_is_told_whole_before_a_commit),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
