/* SPDX-License-Identifier: Apache-2.0
 * SPDX-FileCopyrightText: The Sluice authors */

/* The watch log, lists, and the client interface: who sees what, and when. */
#include "fixture.h"

#define QUEUE SL_KIND_LOCAL_QUEUE

/* What a watch or list saw, as text: "+a" added, "~a" modified, "-a" deleted, "!" synced. */
struct seen {
    char text[4096];
    struct sl_store *store;
};

static void note(struct seen *seen, const char *mark, const char *name)
{
    size_t len = strlen(seen->text);
    (void)snprintf(seen->text + len, sizeof seen->text - len, "%s%s ", mark, name);
}

static void on_event(void *context, enum sl_watch_type type, enum sl_kind kind,
                     struct sl_json *object)
{
    static const char *const marks[] = {"+", "~", "-", "!"};
    assert_int_equal(kind, QUEUE);
    note(context, marks[type], object != NULL ? sl_object_name(object) : "");
}

static void on_object(void *context, struct sl_json *object)
{
    note(context, "", sl_object_name(object));
}

static uint64_t watch(struct fixture *f, uint64_t since, struct seen *seen)
{
    uint64_t id = 0;
    assert_int_equal(sl_store_watch(f->store, QUEUE, since, on_event, seen, &id, &f->e),
                     SL_CODE_OK);
    assert_true(id > 0);
    return id;
}

static void test_events_appear_after_commit_only(void **state)
{
    struct fixture *f = *state;
    struct seen seen = {.text = ""};
    (void)watch(f, sl_store_durable(f->store), &seen);
    make_queue(f, "a", "");
    assert_string_equal(seen.text, "");
    commit(f);
    assert_string_equal(seen.text, "+a ");
    must(f, on(SL_VERB_PATCH_MERGE, QUEUE, "default", "a"),
         "{\"metadata\":{\"labels\":{\"x\":\"y\"}}}");
    must(f, on(SL_VERB_DELETE, QUEUE, "default", "a"), NULL);
    commit(f);
    assert_string_equal(seen.text, "+a ~a -a ");
}

static void test_events_watch_since_replays_the_log(void **state)
{
    struct fixture *f = *state;
    struct seen seen = {.text = ""};
    uint64_t since = sl_store_durable(f->store);
    make_queue(f, "a", "");
    make_queue(f, "b", "");
    commit(f);
    (void)watch(f, since + 1, &seen);
    assert_string_equal(seen.text, "+b ");
}

static void test_events_unwatch_ends_delivery(void **state)
{
    struct fixture *f = *state;
    struct seen seen = {.text = ""};
    uint64_t id = watch(f, sl_store_durable(f->store), &seen);
    sl_store_unwatch(f->store, id);
    make_queue(f, "a", "");
    commit(f);
    assert_string_equal(seen.text, "");
}

static void test_events_before_the_start_are_gone(void **state)
{
    struct fixture *f = *state;
    uint64_t id = 0;
    struct seen seen = {.text = ""};
    make_queue(f, "a", "");
    commit(f);
    sl_store_close(f->store);
    assert_int_equal(sl_store_open(f->dir, &f->store, &f->e), SL_CODE_OK);
    assert_int_equal(sl_store_watch(f->store, QUEUE, 1, on_event, &seen, &id, &f->e), SL_CODE_GONE);
    struct sl_store_event event;
    bool found;
    uint64_t since = 1;
    assert_int_equal(sl_store_next(f->store, QUEUE, &since, &event, &found, &f->e), SL_CODE_GONE);
    since = sl_store_revision(f->store) + 1; /* of a database that was put back to an older state */
    assert_int_equal(sl_store_next(f->store, QUEUE, &since, &event, &found, &f->e), SL_CODE_GONE);
    assert_non_null(strstr(f->e.text, "too large resource version"));
}

static void test_events_log_is_bounded_in_bytes(void **state)
{
    struct fixture *f = *state;
    struct sl_store_event event;
    bool found;
    static char body[250000];
    uint64_t since = sl_store_durable(f->store);
    make_queue(f, "a", "");
    memset(body, 'x', sizeof body - 1);
    for (int i = 0; i < 160; i++) { /* 40 MB of events */
        char *end = body + sizeof body - 20;
        memcpy(body, "{\"metadata\":{\"annotations\":{\"a\":\"", 33);
        (void)snprintf(end, 20, "%03d\"}}}", i);
        must(f, on(SL_VERB_PATCH_MERGE, QUEUE, "default", "a"), body);
        commit(f);
        memset(body, 'x', sizeof body - 1);
    }
    assert_int_equal(sl_store_next(f->store, QUEUE, &since, &event, &found, &f->e), SL_CODE_GONE);
    since = sl_store_durable(f->store) - 1;
    assert_int_equal(sl_store_next(f->store, QUEUE, &since, &event, &found, &f->e), SL_CODE_OK);
    assert_true(found);
}

static void test_events_next_reads_at_its_own_pace(void **state)
{
    struct fixture *f = *state;
    struct sl_store_event event;
    bool found = true;
    uint64_t since = sl_store_durable(f->store);
    make_queue(f, "a", "");
    assert_int_equal(sl_store_next(f->store, QUEUE, &since, &event, &found, &f->e), SL_CODE_OK);
    assert_false(found); /* staged only */
    must(f, create(SL_KIND_NODE, ""), "{\"metadata\":{\"name\":\"n\"}}");
    must(f, on(SL_VERB_PATCH_MERGE, QUEUE, "default", "a"),
         "{\"metadata\":{\"labels\":{\"x\":\"y\"}}}");
    commit(f);
    assert_int_equal(sl_store_next(f->store, QUEUE, &since, &event, &found, &f->e), SL_CODE_OK);
    assert_true(found && event.type == SL_WATCH_ADDED && event.old == NULL);
    assert_int_equal(sl_store_next(f->store, QUEUE, &since, &event, &found, &f->e), SL_CODE_OK);
    assert_true(found && event.type == SL_WATCH_MODIFIED);
    assert_non_null(event.old); /* labels changed, so selectors need both */
    assert_int_equal(event.revision, since);
    assert_int_equal(sl_store_next(f->store, QUEUE, &since, &event, &found, &f->e), SL_CODE_OK);
    assert_false(found);
    assert_int_equal(since, sl_store_durable(f->store));
}

static void write_in_callback(void *context, enum sl_watch_type type, enum sl_kind kind,
                              struct sl_json *object)
{
    struct seen *seen = context;
    on_event(context, type, kind, object);
    if (type == SL_WATCH_ADDED && strcmp(sl_object_name(object), "a") == 0) {
        struct sl_json *result = NULL,
                       *body = json("{\"metadata\":{\"labels\":{\"seen\":\"yes\"}}}");
        struct sl_write w = on(SL_VERB_PATCH_MERGE, QUEUE, "default", "a");
        w.body = body;
        assert_int_equal(sl_store_apply(seen->store, &w, &result, NULL), SL_CODE_OK);
        assert_int_equal(sl_store_commit(seen->store, NULL), SL_CODE_OK);
        sl_json_free(result);
        sl_json_free(body);
    }
}

static void test_events_callback_may_write_and_commit(void **state)
{
    struct fixture *f = *state;
    struct seen first = {.text = "", .store = f->store}, second = {.text = ""};
    uint64_t id = 0, since = sl_store_durable(f->store);
    assert_int_equal(sl_store_watch(f->store, QUEUE, since, write_in_callback, &first, &id, &f->e),
                     SL_CODE_OK);
    (void)watch(f, since, &second);
    make_queue(f, "a", "");
    make_queue(f, "b", "");
    commit(f);
    assert_string_equal(first.text, "+a +b ~a ");
    assert_string_equal(second.text, "+a +b ~a ");
}

/* --- lists ----------------------------------------------------------------------------------- */

static void test_list_pages_follow_on(void **state)
{
    struct fixture *f = *state;
    must(f, create(SL_KIND_NAMESPACE, ""), "{\"metadata\":{\"name\":\"aaa\"}}");
    must(f, create(QUEUE, "aaa"),
         "{\"metadata\":{\"name\":\"z\"},\"spec\":{\"clusterQueue\":\"cq\"}}");
    make_queue(f, "c", "");
    make_queue(f, "a", "");
    make_queue(f, "b", "");
    struct seen seen = {.text = ""};
    char *next = NULL, *after = NULL;
    uint64_t revision = 0;
    struct sl_store_list q = {.kind = QUEUE, .ns = "", .limit = 3};
    assert_int_equal(sl_store_list(f->store, &q, on_object, &seen, &revision, &next, &f->e),
                     SL_CODE_OK);
    assert_string_equal(seen.text, "z a b ");
    assert_int_equal(revision, sl_store_revision(f->store));
    assert_non_null(next);
    q.continue_token = next;
    assert_int_equal(sl_store_list(f->store, &q, on_object, &seen, &revision, &after, &f->e),
                     SL_CODE_OK);
    assert_string_equal(seen.text, "z a b c ");
    assert_null(after);
    sl_mem_free(next);
}

static void test_list_of_exactly_the_limit_has_no_next(void **state)
{
    struct fixture *f = *state;
    struct seen seen = {.text = ""};
    char *next = NULL;
    make_queue(f, "a", "");
    make_queue(f, "b", "");
    struct sl_store_list q = {.kind = QUEUE, .ns = "default", .limit = 2};
    assert_int_equal(sl_store_list(f->store, &q, on_object, &seen, NULL, &next, &f->e), SL_CODE_OK);
    assert_null(next);
}

static void test_list_selects_by_label_and_name(void **state)
{
    struct fixture *f = *state;
    struct seen seen = {.text = ""};
    make_queue(f, "a", ",\"labels\":{\"team\":\"red\"}");
    make_queue(f, "b", ",\"labels\":{\"team\":\"blue\"}");
    struct sl_selector *labels = sl_selector_parse_labels("team=blue", &f->e);
    struct sl_store_list q = {.kind = QUEUE, .ns = "default", .labels = labels};
    assert_int_equal(sl_store_list(f->store, &q, on_object, &seen, NULL, NULL, &f->e), SL_CODE_OK);
    q = (struct sl_store_list){.kind = QUEUE, .ns = "default", .name = "a"};
    assert_int_equal(sl_store_list(f->store, &q, on_object, &seen, NULL, NULL, &f->e), SL_CODE_OK);
    q.ns = "elsewhere";
    assert_int_equal(sl_store_list(f->store, &q, on_object, &seen, NULL, NULL, &f->e), SL_CODE_OK);
    assert_string_equal(seen.text, "b a ");
    sl_selector_free(labels);
}

static void test_list_scan_is_bounded(void **state)
{
    struct fixture *f = *state;
    struct seen seen = {.text = ""};
    char *next = NULL, *after = NULL;
    make_queue(f, "a", "");
    make_queue(f, "b", "");
    make_queue(f, "c", ",\"labels\":{\"team\":\"blue\"}");
    struct sl_selector *labels = sl_selector_parse_labels("team=blue", &f->e);
    struct sl_store_list q = {.kind = QUEUE, .ns = "", .labels = labels, .scan_max = 2};
    assert_int_equal(sl_store_list(f->store, &q, on_object, &seen, NULL, &next, &f->e), SL_CODE_OK);
    assert_string_equal(seen.text, "");
    assert_string_equal(next, "v1:default/b");
    q.continue_token = next;
    assert_int_equal(sl_store_list(f->store, &q, on_object, &seen, NULL, &after, &f->e),
                     SL_CODE_OK);
    assert_string_equal(seen.text, "c ");
    assert_null(after);
    sl_selector_free(labels);
    sl_mem_free(next);
}

static void test_list_with_bad_token_is_refused(void **state)
{
    struct fixture *f = *state;
    struct seen seen = {.text = ""};
    static const char *const tokens[] = {"x", "v1:", "v1:noslash", "v1:ns/", "v2:default/a"};
    for (size_t i = 0; i < sizeof tokens / sizeof tokens[0]; i++) {
        struct sl_store_list q = {.kind = QUEUE, .ns = "", .continue_token = tokens[i]};
        assert_int_equal(sl_store_list(f->store, &q, on_object, &seen, NULL, NULL, &f->e),
                         SL_CODE_BAD_REQUEST);
    }
}

static void delete_visited(void *context, struct sl_json *object)
{
    struct fixture *f = context;
    must(f, on(SL_VERB_DELETE, QUEUE, "default", sl_object_name(object)), NULL);
}

static void test_list_visitor_may_delete(void **state)
{
    struct fixture *f = *state;
    char name[16];
    struct seen seen = {.text = ""};
    for (int i = 0; i < 200; i++) {
        (void)snprintf(name, sizeof name, "q%d", i);
        make_queue(f, name, "");
    }
    struct sl_store_list q = {.kind = QUEUE, .ns = "default"};
    assert_int_equal(sl_store_list(f->store, &q, delete_visited, f, NULL, NULL, &f->e), SL_CODE_OK);
    assert_int_equal(sl_store_list(f->store, &q, on_object, &seen, NULL, NULL, &f->e), SL_CODE_OK);
    assert_string_equal(seen.text, "");
}

/* --- the client interface -------------------------------------------------------------------- */

static int wakes;

static void on_wake(void *context)
{
    assert_null(context);
    wakes++;
}

static void on_reply(void *context, enum sl_code code, const struct sl_error *e,
                     struct sl_json *result)
{
    assert_true((code == SL_CODE_OK) == (result != NULL) && (code == SL_CODE_OK) == (e == NULL));
    note(context, sl_code_reason(code), result != NULL ? sl_object_name(result) : "");
}

static void client_create(struct sl_client *client, const char *name, struct seen *seen)
{
    char body[256];
    (void)snprintf(body, sizeof body,
                   "{\"metadata\":{\"name\":\"%s\"},\"spec\":{\"clusterQueue\":\"cq\"}}", name);
    struct sl_json *object = json(body);
    struct sl_write w = {
        .verb = SL_VERB_CREATE, .kind = QUEUE, .ns = "default", .name = "", .body = object};
    client->write(client->self, &w, on_reply, seen);
    sl_json_free(object);
}

static void test_client_replies_come_after_the_commit(void **state)
{
    struct fixture *f = *state;
    struct sl_client client;
    struct seen seen = {.text = ""};
    wakes = 0;
    sl_store_client(f->store, on_wake, NULL, &client);
    client_create(&client, "a", &seen);
    client_create(&client, "a", &seen);
    assert_string_equal(seen.text, "");
    assert_int_equal(wakes, 2);
    commit(f);
    assert_string_equal(seen.text, "a AlreadyExists ");
}

static void test_client_refusal_alone_is_answered(void **state)
{
    struct fixture *f = *state;
    struct sl_client client;
    struct seen seen = {.text = ""};
    sl_store_client(f->store, NULL, NULL, &client);
    struct sl_write w = {.verb = SL_VERB_DELETE, .kind = QUEUE, .ns = "default", .name = "none"};
    client.write(client.self, &w, on_reply, &seen);
    assert_true(sl_store_dirty(f->store));
    commit(f);
    assert_string_equal(seen.text, "NotFound ");
}

static void test_client_watch_lists_syncs_and_goes_on(void **state)
{
    struct fixture *f = *state;
    struct sl_client client;
    struct seen seen = {.text = ""};
    sl_store_client(f->store, NULL, NULL, &client);
    make_queue(f, "a", "");
    make_queue(f, "b", ""); /* staged: the watch makes it durable first */
    client.watch(client.self, QUEUE, on_event, &seen);
    assert_string_equal(seen.text, "+a +b ! ");
    make_queue(f, "c", "");
    commit(f);
    assert_string_equal(seen.text, "+a +b ! +c ");
}

static void test_client_get_and_list_see_the_object(void **state)
{
    struct fixture *f = *state;
    struct sl_client client;
    struct seen seen = {.text = ""};
    struct sl_json *o = NULL;
    sl_store_client(f->store, NULL, NULL, &client);
    make_queue(f, "a", "");
    assert_int_equal(client.get(client.self, QUEUE, "default", "a", &o, &f->e), SL_CODE_OK);
    sl_json_free(o);
    assert_int_equal(client.list(client.self, QUEUE, "default", on_object, &seen, &f->e),
                     SL_CODE_OK);
    assert_string_equal(seen.text, "a ");
}

static void count_key(void *context, const char *ns, const char *name)
{
    assert_string_equal(ns, "default");
    assert_int_equal(name[0], 'q');
    (*(int *)context)++;
}

/* Some hundreds at a time, each of them once. */
static void test_client_keys_come_in_parts(void **state)
{
    struct fixture *f = *state;
    struct sl_client client;
    int seen = 0, parts = 0;
    char *from = NULL;
    sl_store_client(f->store, NULL, NULL, &client);
    for (int i = 0; i < 600; i++) {
        char name[16];
        (void)snprintf(name, sizeof name, "q%d", i);
        make_queue(f, name, "");
    }
    do {
        char *next = NULL;
        assert_int_equal(client.keys(client.self, QUEUE, from, count_key, &seen, &next, &f->e),
                         SL_CODE_OK);
        free(from);
        from = next;
        parts++;
    } while (from != NULL);
    assert_int_equal(seen, 600);
    assert_int_equal(parts, 3);
    char *next = NULL;
    assert_int_equal(client.keys(client.self, QUEUE, "nonsense", count_key, &seen, &next, &f->e),
                     SL_CODE_BAD_REQUEST);
    assert_null(next);
}

#define CASE(name) cmocka_unit_test_setup_teardown(name, setup, teardown)
int main(void)
{
    const struct CMUnitTest tests[] = {
        CASE(test_events_appear_after_commit_only),
        CASE(test_events_watch_since_replays_the_log),
        CASE(test_events_unwatch_ends_delivery),
        CASE(test_events_before_the_start_are_gone),
        CASE(test_events_log_is_bounded_in_bytes),
        CASE(test_events_next_reads_at_its_own_pace),
        CASE(test_events_callback_may_write_and_commit),
        CASE(test_list_pages_follow_on),
        CASE(test_list_of_exactly_the_limit_has_no_next),
        CASE(test_list_selects_by_label_and_name),
        CASE(test_list_scan_is_bounded),
        CASE(test_list_with_bad_token_is_refused),
        CASE(test_list_visitor_may_delete),
        CASE(test_client_replies_come_after_the_commit),
        CASE(test_client_refusal_alone_is_answered),
        CASE(test_client_watch_lists_syncs_and_goes_on),
        CASE(test_client_get_and_list_see_the_object),
        CASE(test_client_keys_come_in_parts),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
