/* SPDX-License-Identifier: Apache-2.0
 * SPDX-FileCopyrightText: The Sluice authors */

/* src/cli/ui/ui.c: which files there are, and which requests need no user. tests/e2e/test_ui.py has the page itself. */
#include "t.h"
#include "cli/ui/ui.h"

struct header {
    const char *name, *value;
};

static void each_header(const struct sl_call *call, sl_header_fn *fn, void *context)
{
    for (const struct header *h = call->self; h != NULL && h->name != NULL; h++) {
        fn(context, h->name, h->value);
    }
}

static bool asked(const char *path, struct header *headers)
{
    const struct sl_call call = {
        .method = "GET", .path = path, .each_header = each_header, .self = headers};
    return sl_ui_asked(&call);
}

static void test_ui_only_its_own_files_need_no_user(void **state)
{
    (void)state;
    static const char *const others[] = {"/ui2",
                                         "//ui/",
                                         "/metrics",
                                         "/apis/../ui/",
                                         "/uI/",
                                         "",
                                         "/apis/visibility.kueue.x-k8s.io/"};
    struct header browser[] = {{"accept", "text/html,*/*"}, {"Accept", "x"}, {NULL, NULL}};
    struct header client[] = {{"Accept", "*/*"}, {"Accept", "text/html"}, {NULL, NULL}};
    for (size_t i = 0; i < sizeof others / sizeof others[0]; i++) {
        assert_false(asked(others[i], browser));
    }
    assert_true(asked("/ui", NULL));
    assert_true(asked("/ui/", NULL));
    assert_true(asked("/ui/app.js", client));
    assert_true(asked("/", browser));
    assert_false(asked("/", client));
    assert_false(asked("/", NULL));
}

static struct sl_server_page serve(void (*hook)(void *, const char *, const char *,
                                                struct sl_server_page *),
                                   const char *path, const char *accept)
{
    struct sl_server_page page = {
        .accept = accept, .status = 200, .content_type = "application/json"};
    hook(NULL, path, "", &page);
    return page;
}

static void test_ui_serves_what_it_has(void **state)
{
    (void)state;
    size_t count = 0;
    for (const struct sl_embedded *f = sl_ui_files; f->name != NULL; f++, count++) {
        char path[64];
        (void)snprintf(path, sizeof path, "/ui/%s", f->name);
        struct sl_server_page page = serve(sl_ui_serve, path, "");
        assert_int_equal(page.status, 200);
        assert_string_equal(page.content_type, f->content_type);
        assert_int_equal(page.etag[0], '"');
        assert_int_equal(page.body.len, f->size);
        assert_string_equal(page.headers[0].name, "Content-Security-Policy");
        sl_buf_fini(&page.body);
    }
    assert_true(count > 5);
    struct sl_server_page page = serve(sl_ui_serve, "/ui/nosuch", "");
    assert_int_equal(page.status, 404);
    assert_null(page.etag);
    sl_buf_fini(&page.body);
    page = serve(sl_ui_serve, "/ui/", "");
    assert_memory_equal(page.body.data, "<!doctype html>", 15);
    sl_buf_fini(&page.body);
}

static void test_ui_is_found(void **state)
{
    (void)state;
    assert_int_equal(serve(sl_ui_find, "/ui", "").status, 302);
    assert_int_equal(serve(sl_ui_find, "/", "").status, 0);
    struct sl_server_page page = serve(sl_ui_find, "/", "text/html");
    assert_int_equal(page.status, 302);
    assert_string_equal(page.headers[0].value, "ui/");
}

int main(void)
{
    const struct CMUnitTest tests[] = {cmocka_unit_test(test_ui_only_its_own_files_need_no_user),
                                       cmocka_unit_test(test_ui_serves_what_it_has),
                                       cmocka_unit_test(test_ui_is_found)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
