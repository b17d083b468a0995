/* SPDX-License-Identifier: Apache-2.0
 * SPDX-FileCopyrightText: The Sluice authors */

/* Watches: what comes first, what follows, for whom it is selected, and how they end. */
#include "fixture.h"

/* A watch of its own, beside the fixture's requests. */
struct watcher {
    struct sl_request r;
    struct sl_buf out;
};

static int start(struct fixture *f, struct watcher *w, const char *uri, const char *accept)
{
    *w = (struct watcher){.out = {0}};
    assert_true(sl_request_init(&w->r, &f->rest, "GET", uri));
    w->r.accept_text = sl_mem_text(accept);
    sl_rest_serve(&w->r);
    return w->r.answer.status;
}

static enum sl_stream_step run(struct watcher *w)
{
    enum sl_stream_step step;
    struct sl_stream *stream = w->r.answer.stream;
    assert_non_null(stream);
    do {
        step = stream->fill(stream, &w->out);
    } while (step == SL_STREAM_MORE);
    return step;
}

static void end(struct watcher *w)
{
    sl_request_fini(&w->r);
    sl_buf_fini(&w->out);
}

/* "TYPE name" of each event since the last call. */
static const char *events(struct watcher *w)
{
    static char text[2048];
    text[0] = '\0';
    char *rest = NULL;
    for (char *line = w->out.len > 0 ? strtok_r(w->out.data, "\n", &rest) : NULL; line != NULL;
         line = strtok_r(NULL, "\n", &rest)) {
        struct sl_json *event = sl_json_parse(line, strlen(line), NULL);
        assert_non_null(event);
        size_t len = strlen(text);
        const char *row = sl_json_path_text(event, "object.rows.0.cells.0", "");
        (void)snprintf(text + len, sizeof text - len, "%s %s;",
                       sl_json_path_text(event, "type", "?"),
                       sl_json_path_text(event, "object.metadata.name", row));
        sl_json_free(event);
    }
    sl_buf_reset(&w->out);
    return text;
}

static void test_watch_without_version_begins_with_what_exists(void **state)
{
    struct fixture *f = *state;
    struct watcher w;
    make_queue(f, "a", "");
    make_queue(f, "b", "");
    assert_int_equal(start(f, &w, QUEUES "?watch=true", NULL), 200);
    assert_int_equal(run(&w), SL_STREAM_WAIT);
    assert_string_equal(events(&w), "ADDED a;ADDED b;");
    make_queue(f, "c", "");
    assert_int_equal(run(&w), SL_STREAM_WAIT);
    assert_string_equal(events(&w), "ADDED c;");
    end(&w);
}

static void test_watch_since_a_version(void **state)
{
    struct fixture *f = *state;
    struct watcher w;
    char uri[256];
    make_queue(f, "a", "");
    (void)snprintf(uri, sizeof uri, "%s?watch=1&resourceVersion=%s", QUEUES,
                   text(f, "metadata.resourceVersion"));
    assert_int_equal(start(f, &w, uri, NULL), 200);
    assert_int_equal(run(&w), SL_STREAM_WAIT);
    assert_string_equal(events(&w), "");
    assert_int_equal(patch(f, QUEUES "/a", "application/merge-patch+json",
                           "{\"spec\":{\"stopPolicy\":\"Hold\"}}"),
                     200);
    assert_int_equal(call(f, (struct call){.method = "DELETE", .uri = QUEUES "/a"}), 200);
    assert_int_equal(run(&w), SL_STREAM_WAIT);
    assert_string_equal(events(&w), "MODIFIED a;DELETED a;");
    end(&w);
}

static void test_watch_with_labels_sees_objects_come_and_go(void **state)
{
    struct fixture *f = *state;
    struct watcher w;
    make_queue(f, "a", "");
    assert_int_equal(start(f, &w, QUEUES "?watch=true&labelSelector=x%3D1", NULL), 200);
    assert_int_equal(run(&w), SL_STREAM_WAIT);
    assert_string_equal(events(&w), "");
    const char *type = "application/merge-patch+json";
    assert_int_equal(patch(f, QUEUES "/a", type, "{\"metadata\":{\"labels\":{\"x\":\"1\"}}}"), 200);
    assert_int_equal(patch(f, QUEUES "/a", type, "{\"spec\":{\"stopPolicy\":\"Hold\"}}"), 200);
    assert_int_equal(patch(f, QUEUES "/a", type, "{\"metadata\":{\"labels\":null}}"), 200);
    assert_int_equal(patch(f, QUEUES "/a", type, "{\"spec\":{\"stopPolicy\":\"None\"}}"), 200);
    assert_int_equal(run(&w), SL_STREAM_WAIT);
    assert_string_equal(events(&w), "ADDED a;MODIFIED a;DELETED a;");
    end(&w);
}

static void test_watch_of_one_name_and_other_namespaces(void **state)
{
    struct fixture *f = *state;
    struct watcher one, elsewhere, path;
    assert_int_equal(start(f, &one, QUEUES "?watch=true&fieldSelector=metadata.name%3Db", NULL),
                     200);
    assert_int_equal(start(f, &path, QUEUES "/b?watch=true", NULL), 200);
    assert_int_equal(start(f, &elsewhere,
                           "/apis/kueue.x-k8s.io/v1beta2/namespaces/other/localqueues?watch=true",
                           NULL),
                     200);
    assert_int_equal(run(&one), SL_STREAM_WAIT);
    assert_int_equal(run(&path), SL_STREAM_WAIT);
    assert_int_equal(run(&elsewhere), SL_STREAM_WAIT);
    make_queue(f, "a", "");
    make_queue(f, "b", "");
    assert_int_equal(run(&one), SL_STREAM_WAIT);
    assert_string_equal(events(&one), "ADDED b;");
    assert_int_equal(run(&path), SL_STREAM_WAIT);
    assert_string_equal(events(&path), "ADDED b;");
    assert_int_equal(run(&elsewhere), SL_STREAM_WAIT);
    assert_string_equal(events(&elsewhere), "");
    end(&one);
    end(&path);
    end(&elsewhere);
}

static void test_watch_as_table_sends_rows(void **state)
{
    struct fixture *f = *state;
    struct watcher w;
    make_queue(f, "a", "");
    assert_int_equal(start(f, &w, QUEUES "?watch=true", TABLE_TYPE), 200);
    assert_int_equal(run(&w), SL_STREAM_WAIT);
    assert_non_null(strstr(w.out.data, "\"columnDefinitions\":[{"));
    assert_string_equal(events(&w), "ADDED a;");
    make_queue(f, "b", "");
    assert_int_equal(run(&w), SL_STREAM_WAIT);
    assert_non_null(strstr(w.out.data, "\"columnDefinitions\":[]"));
    assert_string_equal(events(&w), "ADDED b;");
    end(&w);
}

static void test_watch_too_old_ends_with_410(void **state)
{
    struct fixture *f = *state;
    struct watcher w;
    make_queue(f, "a", "");
    sl_store_close(f->rest.store);
    assert_int_equal(sl_store_open(f->dir, &f->rest.store, &f->e), SL_CODE_OK);
    assert_int_equal(start(f, &w, QUEUES "?watch=true&resourceVersion=1", NULL), 200);
    assert_int_equal(run(&w), SL_STREAM_END);
    assert_non_null(strstr(w.out.data, "\"type\":\"ERROR\""));
    assert_non_null(strstr(w.out.data, "\"code\":410"));
    assert_non_null(strstr(w.out.data, "\"reason\":\"Expired\""));
    end(&w);
}

static void test_watch_bookmarks_and_deadline(void **state)
{
    struct fixture *f = *state;
    struct watcher w;
    make_queue(f, "a", "");
    assert_int_equal(
        start(f, &w, QUEUES "?watch=true&allowWatchBookmarks=true&timeoutSeconds=60", NULL), 200);
    assert_int_equal(run(&w), SL_STREAM_WAIT);
    assert_string_equal(events(&w), "ADDED a;");
    struct sl_stream *stream = w.r.answer.stream;
    assert_false(stream->ready(stream, NOW_MS));
    sl_clock_set_virtual(NOW_MS + 31000);
    assert_true(stream->ready(stream, NOW_MS + 31000));
    assert_int_equal(run(&w), SL_STREAM_WAIT);
    assert_string_equal(events(&w), "BOOKMARK ;");
    sl_clock_set_virtual(NOW_MS + 61000);
    assert_true(stream->ready(stream, NOW_MS + 61000));
    assert_int_equal(run(&w), SL_STREAM_END);
    end(&w);
}

static void test_watch_list_marks_the_end_of_the_initial_events(void **state)
{
    struct fixture *f = *state;
    struct watcher w;
    make_queue(f, "a", "");
    assert_int_equal(start(f, &w,
                           QUEUES
                           "?watch=true&sendInitialEvents=true&resourceVersionMatch=NotOlderThan"
                           "&allowWatchBookmarks=true",
                           NULL),
                     200);
    assert_int_equal(run(&w), SL_STREAM_WAIT);
    assert_non_null(strstr(w.out.data, "\"k8s.io/initial-events-end\":\"true\""));
    assert_string_equal(events(&w), "ADDED a;BOOKMARK ;");
    end(&w);
    assert_int_equal(start(f, &w, QUEUES "?watch=true&sendInitialEvents=true", NULL), 422);
    end(&w);
}

static void test_watch_does_not_show_what_is_only_staged(void **state)
{
    struct fixture *f = *state;
    struct watcher w;
    (void)serve(f,
                (struct call){
                    .method = "POST",
                    .uri = QUEUES,
                    .type = "application/json",
                    .body = "{\"metadata\":{\"name\":\"a\"},\"spec\":{\"clusterQueue\":\"cq\"}}"});
    assert_int_equal(start(f, &w, QUEUES "?watch=true", NULL), 200);
    assert_int_equal(run(&w), SL_STREAM_WAIT);
    assert_string_equal(events(&w), "");
    assert_false(w.r.answer.stream->ready(w.r.answer.stream, NOW_MS));
    commit(f);
    assert_true(w.r.answer.stream->ready(w.r.answer.stream, NOW_MS));
    assert_int_equal(run(&w), SL_STREAM_WAIT);
    assert_string_equal(events(&w), "ADDED a;");
    end(&w);
}

static void test_watch_of_quiet_kind_keeps_up_with_the_log(void **state)
{
    struct fixture *f = *state;
    struct watcher w;
    char body[64];
    assert_int_equal(start(f, &w, "/apis/kueue.x-k8s.io/v1beta2/cohorts?watch=true", NULL), 200);
    assert_int_equal(run(&w), SL_STREAM_WAIT);
    make_queue(f, "a", "");
    for (int i = 0; i < 17000; i++) { /* more than the log holds */
        struct sl_json *result = NULL;
        (void)snprintf(body, sizeof body, "{\"metadata\":{\"labels\":{\"n\":\"%d\"}}}", i);
        struct sl_json *patch_body = sl_json_parse(body, strlen(body), NULL);
        struct sl_write write = {.verb = SL_VERB_PATCH_MERGE,
                                 .kind = SL_KIND_LOCAL_QUEUE,
                                 .ns = "default",
                                 .name = "a",
                                 .body = patch_body};
        assert_int_equal(sl_store_apply(f->rest.store, &write, &result, &f->e), SL_CODE_OK);
        sl_json_free(result);
        sl_json_free(patch_body);
        if (i % 1000 == 999) {
            commit(f);
            assert_false(w.r.answer.stream->ready(w.r.answer.stream, NOW_MS));
        }
    }
    assert_int_equal(run(&w), SL_STREAM_WAIT);
    assert_string_equal(events(&w), "");
    end(&w);
}

static void test_watch_limit_is_429(void **state)
{
    struct fixture *f = *state;
    struct watcher w[4];
    for (int i = 0; i < 3; i++) {
        assert_int_equal(start(f, &w[i], QUEUES "?watch=true", NULL), 200);
    }
    assert_int_equal(start(f, &w[3], QUEUES "?watch=true", NULL), 429);
    for (int i = 0; i < 4; i++) {
        end(&w[i]);
    }
}

static void test_watch_bad_arguments_are_refused(void **state)
{
    struct fixture *f = *state;
    struct watcher w;
    static const struct {
        int status;
        const char *uri;
    } bad[] = {{400, QUEUES "?watch=true&resourceVersion=abc"},
               {400, QUEUES "?watch=true&timeoutSeconds=0.5"},
               {400, QUEUES "?watch=true&timeoutSeconds=1m"},
               {504, QUEUES "?watch=true&resourceVersion=99999"},
               {400, QUEUES "?watch=true&fieldSelector=spec.x%3D1"},
               {422, QUEUES "?watch=true&resourceVersionMatch=Exact"}};
    for (size_t i = 0; i < sizeof bad / sizeof bad[0]; i++) {
        assert_int_equal(start(f, &w, bad[i].uri, NULL), bad[i].status);
        end(&w);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        CASE(test_watch_without_version_begins_with_what_exists),
        CASE(test_watch_since_a_version),
        CASE(test_watch_with_labels_sees_objects_come_and_go),
        CASE(test_watch_of_one_name_and_other_namespaces),
        CASE(test_watch_as_table_sends_rows),
        CASE(test_watch_too_old_ends_with_410),
        CASE(test_watch_bookmarks_and_deadline),
        CASE(test_watch_list_marks_the_end_of_the_initial_events),
        CASE(test_watch_does_not_show_what_is_only_staged),
        CASE(test_watch_of_quiet_kind_keeps_up_with_the_log),
        CASE(test_watch_limit_is_429),
        CASE(test_watch_bad_arguments_are_refused),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
