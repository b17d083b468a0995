/* SPDX-License-Identifier: Apache-2.0
 * SPDX-FileCopyrightText: The Sluice authors */

/* Whom pods run as, and the way to their directories. */
#include "t.h"
#include "api/objects/object.h"
#include "runner/account.h"
#include <errno.h>
#include <fcntl.h>
#include <pwd.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

#define SOMEBODY "nobody" /* of every machine */

static enum sl_code of(const char *submitter, const char *chosen, struct sl_account *out,
                       struct sl_error *e)
{
    struct sl_json *job = sl_object_new(SL_KIND_JOB, "default", "j");
    struct sl_json *annotations = sl_json_path_make(job, "metadata.annotations");
    if (submitter != NULL) {
        sl_json_set_text(annotations, SL_ANNOTATION_SUBMITTER, submitter);
    }
    if (chosen != NULL) {
        sl_json_set_text(annotations, SL_ANNOTATION_RUN_AS, chosen);
    }
    enum sl_code code = sl_account_of(job, out, e);
    sl_json_free(job);
    return code;
}

static void test_account_is_the_submitters_or_the_chosen_one(void **state)
{
    struct sl_account a;
    struct sl_error e = {0};
    (void)state;
    assert_int_equal(of(SOMEBODY, NULL, &a, &e), SL_CODE_OK);
    assert_string_equal(a.name, SOMEBODY);
    assert_int_equal(a.uid, getpwnam(SOMEBODY)->pw_uid);
    sl_account_fini(&a);
    assert_int_equal(of("no-such-user", SOMEBODY, &a, &e), SL_CODE_OK);
    sl_account_fini(&a);
    assert_int_equal(of(SOMEBODY, "root", &a, &e), SL_CODE_OK);
    assert_int_equal(a.uid, 0);
    sl_account_fini(&a);
}

static void test_account_that_is_none_is_refused(void **state)
{
    struct sl_account a;
    struct sl_error e = {0};
    (void)state;
    assert_int_equal(of(NULL, NULL, &a, &e), SL_CODE_INVALID);
    assert_non_null(strstr(e.text, "not known who has submitted it"));
    assert_int_equal(of(SOMEBODY, "", &a, &e), SL_CODE_INVALID);
    assert_int_equal(of("no-such-user", NULL, &a, &e), SL_CODE_INVALID);
    assert_non_null(strstr(e.text, "there is no local user \"no-such-user\""));
    assert_int_equal(of("root", NULL, &a, &e), SL_CODE_INVALID);
    assert_non_null(strstr(e.text, "only an administrator may say so"));
    assert_null(a.name);
}

static void test_account_is_looked_up_again_from_the_plan(void **state)
{
    struct sl_account a, again;
    struct sl_error e = {0};
    (void)state;
    assert_int_equal(of(SOMEBODY, "root", &a, &e), SL_CODE_OK);
    struct sl_json *said = sl_account_say_new(&a);
    assert_true(sl_account_read(said, &again));
    sl_account_fini(&again);
    sl_json_set_bool(said, "root", false);
    assert_false(sl_account_read(said, &again));
    assert_int_equal(errno, EPERM);
    sl_json_set_text(said, "name", "no-such-user");
    assert_false(sl_account_read(said, &again));
    assert_int_equal(errno, ENOENT);
    assert_false(sl_account_read(NULL, &again));
    sl_json_free(said);
    sl_account_fini(&a);
}

/* In a process of its own. Whoever is not root cannot become another one, and has to be told so. */
static void test_account_is_become_for_good_or_not_at_all(void **state)
{
    struct sl_account a;
    struct sl_error e = {0};
    int status;
    (void)state;
    assert_int_equal(of(SOMEBODY, NULL, &a, &e), SL_CODE_OK);
    pid_t pid = fork();
    if (pid == 0) {
        bool root = geteuid() == 0, became = sl_account_become(&a);
        bool is = getuid() == a.uid && geteuid() == a.uid && getegid() == a.gid;
        _exit(became == root && (!root || (is && setuid(0) != 0 && seteuid(0) != 0)) ? 0 : 1);
    }
    assert_int_equal(waitpid(pid, &status, 0), pid);
    assert_int_equal(status, 0);
    sl_account_fini(&a);
}

static void test_account_data_is_passed_through_and_not_read(void **state)
{
    char home[] = "/tmp/sluice-test-XXXXXX", data[64], path[96];
    struct sl_error e = {0};
    struct stat what;
    (void)state;
    assert_non_null(mkdtemp(home));
    (void)snprintf(data, sizeof data, "%s/data", home);
    assert_int_equal(sl_account_open_data(data, &e), SL_CODE_BAD_REQUEST); /* but made */
    assert_non_null(strstr(e.text, "users cannot enter /tmp/sluice-test-"));
    assert_int_equal(chmod(home, 0711), 0);
    (void)snprintf(path, sizeof path, "%s/token", data);
    assert_int_equal(fclose(fopen(path, "w")), 0);
    assert_int_equal(chmod(path, 0644), 0);
    assert_int_equal(sl_account_open_data(data, &e), SL_CODE_OK);
    assert_int_equal(stat(path, &what), 0);
    assert_int_equal(what.st_mode & 07777, 0600);
    assert_int_equal(stat(data, &what), 0);
    assert_int_equal(what.st_mode & 07777, 0711);
    assert_int_equal(unlink(path), 0);
    (void)snprintf(path, sizeof path, "%s/pods", data);
    assert_int_equal(stat(path, &what), 0);
    assert_int_equal(what.st_mode & 07777, 0711);
    assert_int_equal(sl_account_open_data("/proc/none", &e), SL_CODE_BAD_REQUEST);
    assert_int_equal(rmdir(path) + rmdir(data) + rmdir(home), 0);
}

static void test_account_owns_directories_and_nothing_that_leads_elsewhere(void **state)
{
    char home[] = "/tmp/sluice-test-XXXXXX", link[64];
    struct sl_account self = {.uid = geteuid(), .gid = getegid()};
    (void)state;
    assert_non_null(mkdtemp(home));
    (void)snprintf(link, sizeof link, "%s/link", home);
    assert_int_equal(symlink(home, link), 0);
    assert_true(sl_account_own(&self, home));
    assert_false(sl_account_own(&self, link));
    assert_false(sl_account_own(&self, "/proc/none"));
    assert_int_equal(unlink(link) + rmdir(home), 0);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_account_is_the_submitters_or_the_chosen_one),
        cmocka_unit_test(test_account_that_is_none_is_refused),
        cmocka_unit_test(test_account_is_looked_up_again_from_the_plan),
        cmocka_unit_test(test_account_is_become_for_good_or_not_at_all),
        cmocka_unit_test(test_account_data_is_passed_through_and_not_read),
        cmocka_unit_test(test_account_owns_directories_and_nothing_that_leads_elsewhere)};
    return cmocka_run_group_tests_name("account", tests, NULL, NULL);
}
