/* SPDX-License-Identifier: Apache-2.0
 * SPDX-FileCopyrightText: The Sluice authors */

/* Lists that stay at the revision of their first page, whatever is written meanwhile. */
#include "disk_between.h"

#include "base/effort.h"

#define QUEUE SL_KIND_LOCAL_QUEUE

struct seen {
    char text[4096];
};

static void on_object(void *context, struct sl_json *object)
{
    struct seen *seen = context;
    size_t len = strlen(seen->text);
    (void)snprintf(seen->text + len, sizeof seen->text - len, "%s=%s ", sl_object_name(object),
                   sl_json_path_text(object, "metadata.labels.v", ""));
}

static struct sl_store_list pages(uint32_t limit)
{
    return (struct sl_store_list){.kind = QUEUE, .ns = "", .limit = limit, .consistent = true};
}

/* One page; *token goes on. */
static enum sl_code page(struct fixture *f, struct sl_store_list q, char **token, struct seen *seen,
                         uint64_t *revision)
{
    char *next = NULL;
    q.continue_token = *token;
    enum sl_code code = sl_store_list(f->store, &q, on_object, seen, revision, &next, &f->e);
    sl_mem_free(*token);
    *token = next;
    return code;
}

static void label(struct fixture *f, const char *name, const char *value)
{
    char body[128];
    (void)snprintf(body, sizeof body, "{\"metadata\":{\"labels\":{\"v\":\"%s\"}}}", value);
    must(f, on(SL_VERB_PATCH_MERGE, QUEUE, "default", name), body);
}

static void make_queues(struct fixture *f, const char *names)
{
    for (; *names != '\0'; names++) {
        make_queue(f, (char[]){*names, '\0'}, "");
    }
    commit(f);
}

static void test_snapshot_pages_are_of_one_revision(void **state)
{
    struct fixture *f = *state;
    struct seen seen = {.text = ""};
    char *token = NULL;
    uint64_t first = 0, next = 0;
    make_queues(f, "bcdefg");
    assert_int_equal(page(f, pages(2), &token, &seen, &first), SL_CODE_OK);
    assert_string_equal(seen.text, "b= c= ");
    assert_int_equal(sl_store_list_remaining(token), 4);
    make_queue(f, "a", "");
    make_queue(f, "dd", "");
    label(f, "b", "1");
    label(f, "e", "1");
    label(f, "e", "2");
    must(f, on(SL_VERB_DELETE, QUEUE, "default", "d"), NULL);
    make_queue(f, "d", ",\"labels\":{\"v\":\"again\"}");
    must(f, on(SL_VERB_DELETE, QUEUE, "default", "g"), NULL);
    assert_int_equal(page(f, pages(2), &token, &seen, &next), SL_CODE_OK); /* staged is enough */
    assert_int_equal(next, first);
    assert_int_equal(sl_store_list_remaining(token), 2);
    commit(f);
    assert_int_equal(page(f, pages(1), &token, &seen, &next), SL_CODE_OK);
    assert_int_equal(page(f, pages(9), &token, &seen, &next), SL_CODE_OK);
    assert_int_equal(next, first);
    assert_string_equal(seen.text, "b= c= d= e= f= g= ");
    assert_null(token);
    seen.text[0] = '\0';
    assert_int_equal(page(f, pages(0), &token, &seen, &next), SL_CODE_OK);
    assert_string_equal(seen.text, "a= b=1 c= d=again dd= e=2 f= ");
    assert_int_equal(next, sl_store_revision(f->store));
}

static void test_snapshot_lists_of_two_revisions(void **state)
{
    struct fixture *f = *state;
    struct seen one = {.text = ""}, two = {.text = ""};
    char *first = NULL, *second = NULL;
    uint64_t revision = 0;
    make_queues(f, "abc");
    assert_int_equal(page(f, pages(1), &first, &one, &revision), SL_CODE_OK);
    label(f, "b", "1");
    commit(f);
    assert_int_equal(page(f, pages(1), &second, &two, &revision), SL_CODE_OK);
    label(f, "b", "2");
    must(f, on(SL_VERB_DELETE, QUEUE, "default", "c"), NULL);
    commit(f);
    assert_int_equal(page(f, pages(0), &first, &one, &revision), SL_CODE_OK);
    assert_int_equal(page(f, pages(0), &second, &two, &revision), SL_CODE_OK);
    assert_string_equal(one.text, "a= b= c= ");
    assert_string_equal(two.text, "a= b=1 c= ");
}

/* A revision between two that are kept was not, so that it cannot be listed. */
static void test_snapshot_of_another_revision_is_gone(void **state)
{
    struct fixture *f = *state;
    struct seen seen = {.text = ""};
    char *token = NULL;
    uint64_t revision = 0, kept = 0;
    make_queues(f, "abc");
    assert_int_equal(page(f, pages(1), &token, &seen, &kept), SL_CODE_OK);
    sl_mem_free(token);
    label(f, "b", "1");
    label(f, "b", "2");
    commit(f);
    struct sl_store_list q = pages(0);
    q.revision = kept + 1;
    token = NULL;
    assert_int_equal(page(f, q, &token, &seen, &revision), SL_CODE_GONE);
    assert_string_equal(f->e.text, "The provided resource version 5 is no longer kept");
    seen.text[0] = '\0';
    q.revision = kept;
    assert_int_equal(page(f, q, &token, &seen, &revision), SL_CODE_OK);
    assert_string_equal(seen.text, "a= b= c= ");
    assert_int_equal(revision, kept);
}

static void test_snapshot_in_a_namespace_and_by_name(void **state)
{
    struct fixture *f = *state;
    struct seen seen = {.text = ""};
    char *token = NULL;
    uint64_t kept = 0, revision;
    must(f, create(SL_KIND_NAMESPACE, ""), "{\"metadata\":{\"name\":\"other\"}}");
    must(f, create(QUEUE, "other"),
         "{\"metadata\":{\"name\":\"b\"},\"spec\":{\"clusterQueue\":\"cq\"}}");
    make_queues(f, "abc");
    struct sl_store_list q = pages(1);
    q.ns = "default";
    assert_int_equal(page(f, q, &token, &seen, &kept), SL_CODE_OK);
    assert_int_equal(sl_store_list_remaining(token), 2);
    label(f, "b", "1");
    must(f, on(SL_VERB_DELETE, QUEUE, "default", "c"), NULL);
    must(f, create(QUEUE, "other"),
         "{\"metadata\":{\"name\":\"a\"},\"spec\":{\"clusterQueue\":\"cq\"}}");
    commit(f);
    q.limit = 0;
    assert_int_equal(page(f, q, &token, &seen, &revision), SL_CODE_OK);
    assert_string_equal(seen.text, "a= b= c= ");
    seen.text[0] = '\0';
    q.revision = kept;
    q.ns = "";
    q.name = "b";
    assert_int_equal(page(f, q, &token, &seen, &revision), SL_CODE_OK);
    assert_string_equal(seen.text, "b= b= ");
}

static void test_snapshot_ends_after_five_minutes(void **state)
{
    struct fixture *f = *state;
    struct seen seen = {.text = ""};
    char *token = NULL;
    uint64_t revision;
    make_queues(f, "abcd");
    assert_int_equal(page(f, pages(1), &token, &seen, &revision), SL_CODE_OK);
    label(f, "d", "1");
    commit(f);
    sl_clock_set_virtual(NOW_MS + 299999);
    assert_int_equal(page(f, pages(1), &token, &seen, &revision), SL_CODE_OK);
    sl_clock_set_virtual(NOW_MS + 300000);
    char *kept = sl_mem_text(token);
    assert_int_equal(page(f, pages(1), &token, &seen, &revision), SL_CODE_GONE);
    assert_non_null(strstr(f->e.text, "The provided continue parameter is too old"));
    assert_null(token);
    token = sl_store_list_token_now_new(kept);
    assert_string_equal(token, "v1:default/b");
    seen.text[0] = '\0';
    assert_int_equal(page(f, pages(1), &token, &seen, &revision), SL_CODE_OK);
    assert_int_equal(revision, sl_store_revision(f->store));
    label(f, "d", "2"); /* consistent again from here on */
    assert_int_equal(page(f, pages(1), &token, &seen, &revision), SL_CODE_OK);
    assert_string_equal(seen.text, "c= d=1 ");
    sl_mem_free(kept);
}

static void test_snapshot_does_not_survive_a_restart(void **state)
{
    struct fixture *f = *state;
    struct seen seen = {.text = ""};
    char *token = NULL;
    uint64_t revision;
    make_queues(f, "abc");
    assert_int_equal(page(f, pages(1), &token, &seen, &revision), SL_CODE_OK);
    label(f, "c", "1");
    commit(f);
    sl_store_close(f->store);
    assert_int_equal(sl_store_open(f->dir, &f->store, &f->e), SL_CODE_OK);
    assert_int_equal(page(f, pages(1), &token, &seen, &revision), SL_CODE_GONE);
    seen.text[0] = '\0';
    assert_int_equal(page(f, pages(2), &token, &seen, &revision), SL_CODE_OK);
    assert_int_equal(sl_store_list_remaining(token), 1); /* counted when it was opened */
    sl_mem_free(token);
}

static void test_snapshot_memory_is_bounded(void **state)
{
    struct fixture *f = *state;
    struct seen seen = {.text = ""};
    char *old = NULL, *young = NULL, value[32];
    uint64_t revision;
    make_queues(f, "abc");
    sl_store_set_past_max(f->store, 200000);
    assert_int_equal(page(f, pages(1), &old, &seen, &revision), SL_CODE_OK);
    for (int i = 0; i < 400; i++) { /* copies are kept of pinned revisions only */
        (void)snprintf(value, sizeof value, "%d", i);
        label(f, "b", value);
    }
    commit(f);
    char *again = sl_mem_text(old);
    assert_int_equal(page(f, pages(1), &again, &seen, &revision), SL_CODE_OK);
    sl_mem_free(again);
    for (int i = 0; i < 600; i++) {
        char *token = NULL;
        assert_int_equal(page(f, pages(1), &token, &seen, &revision), SL_CODE_OK);
        sl_mem_free(token);
        (void)snprintf(value, sizeof value, "n%d", i);
        label(f, "b", value);
        commit(f);
        seen.text[0] = '\0';
    }
    assert_int_equal(page(f, pages(1), &old, &seen, &revision), SL_CODE_GONE);
    assert_int_equal(page(f, pages(1), &young, &seen, &revision), SL_CODE_OK);
    label(f, "b", "last");
    assert_int_equal(page(f, pages(1), &young, &seen, &revision), SL_CODE_OK);
    assert_string_equal(seen.text, "a= b=n599 ");
    sl_mem_free(young);
}

static void test_snapshot_number_of_lists_is_bounded(void **state)
{
    struct fixture *f = *state;
    struct seen seen = {.text = ""};
    char *tokens[1026] = {NULL};
    char value[32];
    uint64_t revision;
    make_queues(f, "abc");
    for (int i = 0; i < 1026; i++) {
        seen.text[0] = '\0';
        assert_int_equal(page(f, pages(1), &tokens[i], &seen, &revision), SL_CODE_OK);
        (void)snprintf(value, sizeof value, "%d", i);
        label(f, "b", value);
        commit(f);
    }
    assert_int_equal(page(f, pages(1), &tokens[0], &seen, &revision), SL_CODE_GONE);
    assert_int_equal(page(f, pages(1), &tokens[1], &seen, &revision), SL_CODE_GONE);
    seen.text[0] = '\0';
    assert_int_equal(page(f, pages(1), &tokens[2], &seen, &revision), SL_CODE_OK);
    assert_string_equal(seen.text, "b=1 ");
    for (int i = 0; i < 1026; i++) {
        sl_mem_free(tokens[i]);
    }
}

/* A batch that is lost takes its copies along, and what was counted. */
static void test_snapshot_after_a_lost_batch(void **state)
{
    struct fixture *f = *state;
    struct seen seen = {.text = ""};
    char *token = NULL;
    uint64_t revision;
    make_queues(f, "abc");
    assert_int_equal(page(f, pages(1), &token, &seen, &revision), SL_CODE_OK);
    must(f, on(SL_VERB_DELETE, QUEUE, "default", "c"), NULL);
    label(f, "b", "1");
    make_queue(f, "d", "");
    disk.fail_syncs = 1;
    assert_int_equal(sl_store_commit(f->store, &f->e), SL_CODE_INTERNAL);
    assert_int_equal(page(f, pages(0), &token, &seen, &revision), SL_CODE_OK);
    assert_string_equal(seen.text, "a= b= c= ");
    assert_int_equal(page(f, pages(1), &token, &seen, &revision), SL_CODE_OK);
    assert_int_equal(sl_store_list_remaining(token), 2);
    sl_mem_free(token);
}

/* A list of what was staged and is lost ends: its revision will be another one's. */
static void test_snapshot_of_a_lost_batch_is_gone(void **state)
{
    struct fixture *f = *state;
    struct seen seen = {.text = ""};
    char *token = NULL;
    uint64_t lost, now;
    make_queues(f, "abc");
    label(f, "b", "1");
    label(f, "b", "2");
    assert_int_equal(page(f, pages(1), &token, &seen, &lost), SL_CODE_OK);
    char *early = sl_mem_text(token), *late = sl_mem_text(token);
    disk.fail_syncs = 1;
    assert_int_equal(sl_store_commit(f->store, &f->e), SL_CODE_INTERNAL);
    assert_int_equal(page(f, pages(1), &early, &seen, &now), SL_CODE_GONE);
    label(f, "c", "other");
    label(f, "c", "others");
    assert_int_equal(sl_store_revision(f->store), lost);
    label(f, "c", "later");
    commit(f);
    assert_int_equal(page(f, pages(1), &late, &seen, &now), SL_CODE_GONE);
    sl_mem_free(token);
}

/* Whatever number a client makes up. */
static void test_snapshot_of_a_revision_to_come_is_gone(void **state)
{
    struct fixture *f = *state;
    struct seen seen = {.text = ""};
    uint64_t revision;
    make_queues(f, "abc");
    char *token = sl_mem_text("v2:1000000:2:default/a");
    assert_int_equal(page(f, pages(1), &token, &seen, &revision), SL_CODE_GONE);
}

static void test_snapshot_cost_follows_the_page(void **state)
{
    struct fixture *f = *state;
    struct seen seen = {.text = ""};
    char *token = NULL, name[16];
    uint64_t revision;
    for (int i = 0; i < 2000; i++) {
        (void)snprintf(name, sizeof name, "q%04d", i);
        make_queue(f, name, "");
    }
    commit(f);
    uint64_t before = sl_effort_steps;
    assert_int_equal(page(f, pages(3), &token, &seen, &revision), SL_CODE_OK);
    uint64_t one = sl_effort_steps - before;
    assert_int_equal(sl_store_list_remaining(token), 1997);
    label(f, "q0004", "1");
    before = sl_effort_steps;
    assert_int_equal(page(f, pages(3), &token, &seen, &revision), SL_CODE_OK);
    assert_true(sl_effort_steps - before < 2 * one);
    assert_string_equal(seen.text, "q0000= q0001= q0002= q0003= q0004= q0005= ");
    sl_mem_free(token);
}

/* Many that came later are looked at in parts, too. */
static void test_snapshot_scan_of_later_objects_is_bounded(void **state)
{
    struct fixture *f = *state;
    struct seen seen = {.text = ""};
    char *token = NULL, name[16];
    uint64_t revision;
    make_queues(f, "az");
    assert_int_equal(page(f, pages(1), &token, &seen, &revision), SL_CODE_OK);
    for (int i = 0; i < 100; i++) {
        (void)snprintf(name, sizeof name, "m%04d", i);
        make_queue(f, name, "");
    }
    struct sl_store_list q = pages(0);
    q.scan_max = 70;
    assert_int_equal(page(f, q, &token, &seen, &revision), SL_CODE_OK);
    assert_string_equal(seen.text, "a= ");
    assert_int_equal(sl_store_list_remaining(token), 1);
    assert_int_equal(page(f, q, &token, &seen, &revision), SL_CODE_OK);
    assert_string_equal(seen.text, "a= z= ");
    assert_null(token);
}

static void test_snapshot_bad_tokens_are_refused(void **state)
{
    struct fixture *f = *state;
    struct seen seen = {.text = ""};
    static const char *const tokens[] = {"v2:",
                                         "v2:default/a",
                                         "v2:0:-:default/a",
                                         "v2:7:default/a",
                                         "v2:7:x:default/a",
                                         "v2:7:-default",
                                         "v2:99999999999999999999:-:default/a",
                                         "v2:7:-1:a/b",
                                         "v2:7:1:a",
                                         "v3:7:1:a/b"};
    for (size_t i = 0; i < sizeof tokens / sizeof tokens[0]; i++) {
        char *token = sl_mem_text(tokens[i]);
        uint64_t revision;
        assert_int_equal(page(f, pages(1), &token, &seen, &revision), SL_CODE_BAD_REQUEST);
        assert_int_equal(sl_store_list_remaining(tokens[i]), -1);
    }
}

#define CASE(name) cmocka_unit_test_setup_teardown(name, setup, teardown)
int main(void)
{
    const struct CMUnitTest tests[] = {
        CASE(test_snapshot_pages_are_of_one_revision),
        CASE(test_snapshot_lists_of_two_revisions),
        CASE(test_snapshot_of_another_revision_is_gone),
        CASE(test_snapshot_in_a_namespace_and_by_name),
        CASE(test_snapshot_ends_after_five_minutes),
        CASE(test_snapshot_does_not_survive_a_restart),
        CASE(test_snapshot_memory_is_bounded),
        CASE(test_snapshot_number_of_lists_is_bounded),
        cmocka_unit_test_setup_teardown(test_snapshot_after_a_lost_batch, watch_disk, leave_disk),
        cmocka_unit_test_setup_teardown(test_snapshot_of_a_lost_batch_is_gone, watch_disk,
                                        leave_disk),
        CASE(test_snapshot_of_a_revision_to_come_is_gone),
        CASE(test_snapshot_cost_follows_the_page),
        CASE(test_snapshot_scan_of_later_objects_is_bounded),
        CASE(test_snapshot_bad_tokens_are_refused),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
