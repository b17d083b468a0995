/* SPDX-License-Identifier: Apache-2.0
 * SPDX-FileCopyrightText: The Sluice authors */

/* What requests are about, what roles may, and the file of users. Which verbs of which resources each role has is tried by
 * tests/e2e/test_users.py. */
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

#include "base/digest.h"
#include "base/mem.h"
#include "server/rest.h"

/* --- attributes ------------------------------------------------------------------------------ */

static void test_attributes_say_verb_resource_and_namespace(void **state)
{
    (void)state;
    static const struct {
        const char *method, *uri, *verb, *group, *kind, *ns, *name, *subresource;
    } rows[] = {
        {"GET", "/apis/batch/v1/jobs", "list", "batch", "jobs", "", "", ""},
        {"GET", "/apis/batch/v1/jobs?watch=true", "watch", "batch", "jobs", "", "", ""},
        {"GET", "/apis/batch/v1/jobs?watch=0", "list", "batch", "jobs", "", "", ""},
        {"HEAD", "/apis/batch/v1/namespaces/a/jobs/b", "get", "batch", "jobs", "a", "b", ""},
        {"POST", "/api/v1/namespaces/a/pods", "create", "", "pods", "a", "", ""},
        {"PUT", "/api/v1/namespaces/a/pods/b", "update", "", "pods", "a", "b", ""},
        {"PATCH", "/api/v1/namespaces/a/pods/b/status", "patch", "", "pods", "a", "b", "status"},
        {"DELETE", "/api/v1/namespaces/a/pods", "deletecollection", "", "pods", "a", "", ""},
        {"DELETE", "/api/v1/namespaces/a/pods/b", "delete", "", "pods", "a", "b", ""},
        {"GET", "/api/v1/namespaces", "list", "", "namespaces", "", "", ""},
        {"GET", "/api/v1/namespaces/a", "get", "", "namespaces", "a", "a", ""},
        {"PUT", "/api/v1/namespaces/a/status", "update", "", "namespaces", "a", "a", "status"},
        {"TRACE", "/api/v1/namespaces/a/pods", "", "", "pods", "a", "", ""}};
    for (size_t i = 0; i < sizeof rows / sizeof rows[0]; i++) {
        struct sl_rest rest = {0};
        struct sl_request r;
        struct sl_attributes a;
        assert_true(sl_request_init(&r, &rest, rows[i].method, rows[i].uri));
        sl_request_attributes(&r, &a);
        assert_true(a.resource);
        assert_false(a.odd);
        assert_string_equal(a.verb, rows[i].verb);
        assert_string_equal(a.group, rows[i].group);
        assert_string_equal(a.kind, rows[i].kind);
        assert_string_equal(a.ns, rows[i].ns);
        assert_string_equal(a.name, rows[i].name);
        assert_string_equal(a.subresource, rows[i].subresource);
        sl_request_fini(&r);
    }
}

static void test_attributes_of_paths_and_of_odd_ones(void **state)
{
    (void)state;
    static const struct {
        const char *uri;
        bool odd;
    } rows[] = {{"/metrics", false},          {"/apis/batch/v1", false}, {"/", false},
                {"/apis%2fbatch/v1", true},   {"//metrics", true},       {"/apis/batch//v1", true},
                {"/apis/batch%2Fv1/x", true}, {"/apis/batch/", false}};
    for (size_t i = 0; i < sizeof rows / sizeof rows[0]; i++) {
        struct sl_rest rest = {0};
        struct sl_request r;
        struct sl_attributes a;
        assert_true(sl_request_init(&r, &rest, "GET", rows[i].uri));
        sl_request_attributes(&r, &a);
        assert_false(a.resource);
        assert_int_equal(a.odd, rows[i].odd);
        assert_string_equal(a.verb, "get");
        sl_request_fini(&r);
    }
}

/* --- roles ----------------------------------------------------------------------------------- */

static bool may(const struct sl_user *user, const char *verb, const char *group, const char *kind,
                const char *ns, const char *subresource)
{
    struct sl_attributes a = {.resource = true,
                              .path = "",
                              .group = group,
                              .version = "v1",
                              .ns = ns,
                              .kind = kind,
                              .name = "",
                              .subresource = subresource};
    (void)snprintf(a.verb, sizeof a.verb, "%s", verb);
    return sl_user_may(user, &a);
}

static void test_roles_give_what_they_name_and_nothing_else(void **state)
{
    (void)state;
    struct sl_json *lab = sl_json_new_list();
    sl_json_append(lab, sl_json_new_text("lab"));
    struct sl_user admin = {.name = "a", .role = SL_ROLE_ADMIN};
    struct sl_user user = {.name = "u", .role = SL_ROLE_USER, .namespaces = lab};
    struct sl_user viewer = {.name = "v", .role = SL_ROLE_VIEWER};
    static const char *const verbs[] = {"get",    "list",  "watch",  "create",
                                        "update", "patch", "delete", "deletecollection",
                                        "bind",   ""};
    for (size_t i = 0; i < sizeof verbs / sizeof verbs[0]; i++) {
        bool reads = i < 3, known = i < 8;
        assert_true(may(&admin, verbs[i], "batch", "jobs", "lab", ""));
        assert_int_equal(may(&user, verbs[i], "batch", "jobs", "lab", ""), known);
        assert_int_equal(may(&user, verbs[i], "batch", "jobs", "lab", "status"), reads);
        assert_int_equal(may(&user, verbs[i], "batch", "jobs", "lab", "scale"), known);
        assert_int_equal(may(&user, verbs[i], "", "pods", "lab", "scale"), reads);
        assert_int_equal(may(&user, verbs[i], "kueue.x-k8s.io", "workloads", "lab", ""), reads);
        assert_int_equal(may(&user, verbs[i], "kueue.x-k8s.io", "clusterqueues", "", ""), reads);
        assert_false(may(&user, verbs[i], "batch", "jobs", "dev", ""));
        assert_false(may(&user, verbs[i], "batch", "jobs", "", ""));
        assert_false(may(&user, verbs[i], "unknown.example", "things", "", ""));
        assert_int_equal(may(&user, verbs[i], "unknown.example", "things", "lab", ""), reads);
        assert_int_equal(may(&viewer, verbs[i], "batch", "jobs", "lab", ""), reads);
        assert_int_equal(may(&viewer, verbs[i], "batch", "jobs", "", ""), reads);
        assert_false(may(&viewer, verbs[i], "", "secrets", "lab", ""));
    }
    struct sl_attributes odd = {.path = "/version", .verb = "get", .odd = true};
    assert_false(sl_user_may(&viewer, &odd));
    assert_true(sl_user_may(&admin, &odd));
    sl_json_free(lab);
}

/* --- the file -------------------------------------------------------------------------------- */

struct file {
    char dir[64], path[96];
    struct sl_users *users;
};

static int setup(void **state)
{
    struct file *f = sl_mem_new(1, sizeof *f);
    (void)snprintf(f->dir, sizeof f->dir, "/tmp/sluice-test-XXXXXX");
    assert_non_null(mkdtemp(f->dir));
    (void)snprintf(f->path, sizeof f->path, "%s/users", f->dir);
    *state = f;
    return 0;
}

static int teardown(void **state)
{
    struct file *f = *state;
    sl_users_free(f->users);
    (void)unlink(f->path);
    (void)rmdir(f->dir);
    sl_mem_free(f);
    return 0;
}

/* Users with these names, whose tokens are the names. */
static void write_users(const struct file *f, const char *a, const char *b)
{
    char digest_a[65], digest_b[65];
    sl_sha256_hex(a, strlen(a), digest_a);
    sl_sha256_hex(b, strlen(b), digest_b);
    FILE *out = fopen(f->path, "w");
    assert_non_null(out);
    (void)fprintf(out,
                  "users:\n- {name: %s, role: viewer, token: 'sha256:%s'}\n"
                  "- {name: %s, role: user, namespaces: [lab], token: 'sha256:%s'}\n",
                  a, digest_a, b, digest_b);
    assert_int_equal(fclose(out), 0);
    assert_int_equal(chmod(f->path, 0600), 0);
}

static void test_users_are_found_by_their_tokens(void **state)
{
    struct file *f = *state;
    struct sl_error e = {0};
    write_users(f, "ann", "ben");
    assert_int_equal(sl_users_open(f->path, &f->users, &e), SL_CODE_OK);
    const struct sl_user *ben = sl_users_find(f->users, "ben", 0);
    assert_string_equal(sl_users_find(f->users, "ann", 0)->name, "ann");
    assert_string_equal(ben->name, "ben");
    assert_int_equal(ben->role, SL_ROLE_USER);
    assert_null(sl_users_find(f->users, "", 0));
    assert_null(sl_users_find(f->users, "Ann", 0));
    assert_null(sl_users_find(f->users, ben->digest, 0)); /* who has seen the file has no token */
    struct sl_json *info = sl_user_info_new(ben);
    assert_string_equal(sl_json_path_text(info, "username", ""), "ben");
    assert_string_equal(sl_json_path_text(info, "groups.1", ""), "system:authenticated");
    sl_json_free(info);
}

/* On a socket of the machine somebody else vouches for the name. */
static void test_users_are_found_by_their_names(void **state)
{
    struct file *f = *state;
    struct sl_error e = {0};
    FILE *out = fopen(f->path, "w");
    assert_non_null(out);
    (void)fprintf(out, "users:\n- {name: ann, role: viewer}\n");
    assert_int_equal(fclose(out), 0);
    assert_int_equal(chmod(f->path, 0600), 0);
    assert_int_equal(sl_users_open(f->path, &f->users, &e), SL_CODE_OK);
    assert_int_equal(sl_users_named(f->users, "ann", 0)->role, SL_ROLE_VIEWER);
    assert_null(sl_users_named(f->users, "an", 0));
    assert_null(sl_users_named(f->users, "", 0));
    assert_null(sl_users_find(f->users, "", 0)); /* no token is none of hers */
    write_users(f, "carol", "ben");
    assert_string_equal(sl_users_named(f->users, "carol", 1000)->name, "carol");
    assert_null(sl_users_named(f->users, "ann", 1000));
}

static void test_users_a_changed_file_holds_from_then_on(void **state)
{
    struct file *f = *state;
    struct sl_error e = {0};
    write_users(f, "ann", "ben");
    assert_int_equal(sl_users_open(f->path, &f->users, &e), SL_CODE_OK);
    const struct sl_user *ann = sl_users_find(f->users, "ann", 0);
    write_users(f, "carol", "ben");
    assert_null(sl_users_find(f->users, "carol", 999)); /* not looked at again yet */
    assert_string_equal(sl_users_find(f->users, "carol", 1000)->name, "carol");
    assert_null(sl_users_find(f->users, "ann", 1000));
    assert_string_equal(ann->name, "ann"); /* requests under way still have their user */

    assert_int_equal(chmod(f->path, 0622), 0);
    assert_non_null(sl_users_find(f->users, "carol", 2000));
    assert_int_equal(unlink(f->path), 0);
    assert_non_null(sl_users_find(f->users, "carol", 3000));
}

static void test_users_a_file_that_is_none_is_refused(void **state)
{
    struct file *f = *state;
    struct sl_error e = {0};
    assert_int_equal(sl_users_open(f->dir, &f->users, &e), SL_CODE_BAD_REQUEST);
    assert_non_null(strstr(e.text, "is not a file"));
    assert_int_equal(sl_users_open(f->path, &f->users, &e), SL_CODE_BAD_REQUEST);
    assert_non_null(strstr(e.text, "cannot be read"));
    FILE *out = fopen(f->path, "w");
    for (int i = 0; i < (1 << 20) + 10; i++) {
        (void)fputc('#', out);
    }
    assert_int_equal(fclose(out), 0);
    assert_int_equal(chmod(f->path, 0600), 0);
    assert_int_equal(sl_users_open(f->path, &f->users, &e), SL_CODE_BAD_REQUEST);
    assert_non_null(strstr(e.text, "larger than 1 MiB"));
    assert_null(f->users);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_attributes_say_verb_resource_and_namespace),
        cmocka_unit_test(test_attributes_of_paths_and_of_odd_ones),
        cmocka_unit_test(test_roles_give_what_they_name_and_nothing_else),
        cmocka_unit_test_setup_teardown(test_users_are_found_by_their_tokens, setup, teardown),
        cmocka_unit_test_setup_teardown(test_users_are_found_by_their_names, setup, teardown),
        cmocka_unit_test_setup_teardown(test_users_a_changed_file_holds_from_then_on, setup,
                                        teardown),
        cmocka_unit_test_setup_teardown(test_users_a_file_that_is_none_is_refused, setup, teardown),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
