/* SPDX-License-Identifier: Apache-2.0
 * SPDX-FileCopyrightText: The Sluice authors */

/* The token of a server: its file, and who shows it. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cmocka.h>

#include "base/mem.h"
#include "server/bearer.h"

#define TOKEN "0123456789abcdef"

struct files {
    char dir[64], path[80];
};

static int setup(void **state)
{
    struct files *f = sl_mem_new(1, sizeof *f);
    (void)snprintf(f->dir, sizeof f->dir, "/tmp/sluice-test-XXXXXX");
    assert_non_null(mkdtemp(f->dir));
    (void)snprintf(f->path, sizeof f->path, "%s/token", f->dir);
    *state = f;
    return 0;
}

static int teardown(void **state)
{
    struct files *f = *state;
    (void)unlink(f->path);
    (void)rmdir(f->path);
    assert_int_equal(rmdir(f->dir), 0); /* nothing else was left */
    sl_mem_free(f);
    return 0;
}

static void put(const struct files *f, const char *text, mode_t mode)
{
    FILE *out = fopen(f->path, "w");
    assert_non_null(out);
    assert_true(fputs(text, out) >= 0);
    assert_int_equal(fclose(out), 0);
    assert_int_equal(chmod(f->path, mode), 0);
}

static void refused(const struct files *f, const char *why)
{
    char *token = NULL;
    struct sl_error e = {0};
    assert_int_equal(sl_bearer_open(f->path, &token, &e), SL_CODE_BAD_REQUEST);
    assert_null(token);
    assert_non_null(strstr(e.text, why));
    assert_non_null(strstr(e.text, f->path));
}

static void test_bearer_is_made_once(void **state)
{
    const struct files *f = *state;
    char *first = NULL, *again = NULL;
    struct stat s;
    struct sl_error e = {0};
    assert_int_equal(sl_bearer_open(f->path, &first, &e), SL_CODE_OK);
    assert_int_equal(strlen(first), 64);
    assert_int_equal(stat(f->path, &s), 0);
    assert_int_equal(s.st_mode & 07777u, 0600);
    assert_int_equal(sl_bearer_open(f->path, &again, &e), SL_CODE_OK);
    assert_string_equal(first, again);
    sl_mem_free(again);
    assert_int_equal(unlink(f->path), 0);
    assert_int_equal(sl_bearer_open(f->path, &again, &e), SL_CODE_OK);
    assert_string_not_equal(first, again);
    sl_mem_free(first);
    sl_mem_free(again);
}

static void test_bearer_files_that_are_none_are_refused(void **state)
{
    const struct files *f = *state;
    static const char *const none[] = {
        "", "\n", "short\n", TOKEN " " TOKEN "\n", TOKEN "\n" TOKEN "\n", "\303\244" TOKEN "\n"};
    for (size_t i = 0; i < sizeof none / sizeof none[0]; i++) {
        put(f, none[i], 0600);
        refused(f, "holds no token");
    }
    put(f, TOKEN "\n", 0640);
    refused(f, "can be read by others (mode 0640)");
    put(f, TOKEN "\n", 0602);
    refused(f, "can be read by others (mode 0602)");
    assert_int_equal(unlink(f->path), 0);
    assert_int_equal(mkdir(f->path, 0700), 0);
    refused(f, "is not a file");
    assert_int_equal(rmdir(f->path), 0);
    assert_int_equal(symlink("/dev/null", f->path), 0);
    refused(f, "cannot be read");
}

static void test_bearer_that_cannot_be_made_says_why(void **state)
{
    (void)state;
    char *token = NULL;
    struct sl_error e = {0};
    assert_int_equal(sl_bearer_open("/proc/none/token", &token, &e), SL_CODE_BAD_REQUEST);
    assert_non_null(strstr(e.text, "/proc/none/token cannot be written"));
    sl_mem_free(token);
}

static void one_header(const struct sl_call *call, sl_header_fn *visit, void *context)
{
    visit(context, "Host", "x");
    if (call->self != NULL) {
        visit(context, "authorization", call->self);
    }
}

static bool shows(const char *header)
{
    struct sl_call call = {.each_header = one_header, .self = (void *)(uintptr_t)header};
    return sl_bearer_is(&call, TOKEN);
}

static void test_bearer_is_the_whole_token_and_no_more(void **state)
{
    (void)state;
    assert_true(shows("Bearer " TOKEN));
    assert_true(shows("bearer   " TOKEN));
    static const char *const others[] = {"",
                                         "Bearer",
                                         "Bearer ",
                                         TOKEN,
                                         "Basic " TOKEN,
                                         "Bearer " TOKEN "0",
                                         "Bearer 0123456789abcde",
                                         "Bearer 0123456789abcdeF",
                                         "Bearer " TOKEN " "};
    for (size_t i = 0; i < sizeof others / sizeof others[0]; i++) {
        assert_false(shows(others[i]));
    }
    assert_false(shows(NULL));
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test_setup_teardown(test_bearer_is_made_once, setup, teardown),
        cmocka_unit_test_setup_teardown(test_bearer_files_that_are_none_are_refused, setup,
                                        teardown),
        cmocka_unit_test(test_bearer_that_cannot_be_made_says_why),
        cmocka_unit_test(test_bearer_is_the_whole_token_and_no_more),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
